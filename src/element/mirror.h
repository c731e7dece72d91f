/* The reference triangle is its own mirror image under the exchange of r and s. A function on it is the
 * sum of an even part, which the exchange leaves as it is, and an odd one, whose sign it changes; a matrix that
 * commutes with the exchange keeps the two apart, one that anticommutes turns each into the other. Either way it
 * is two blocks with a quarter of the entries each, and a product with it half the work.
 *
 * Nodes and points come in pairs {a, b} of mirror images. Sums and differences of pairs stand for values:
 *
 *     e = x_a + x_b,  o = x_a - x_b;   back again:  y_a = e' + o',  y_b = e' - o'
 *
 * A point on the mirror's axis is its own image, {a, a}: e = 2 x_a, o = 0. */
#ifndef EG_MIRROR_H
#define EG_MIRROR_H

#include "base/base.h"

typedef struct eg_mirror {
    int even;       /* pairs, and points that are their own images, which come last */
    int odd;        /* pairs of two points; the rest have no odd part */
    int (*pair)[2]; /* [even] owned; {-1, -1}: none, a place that is left free */
} eg_mirror;

/* The pairs of points r [2][count] of the reference triangle. EG_ERROR_ARGUMENT if they are not symmetric. */
eg_status eg_mirror_create(eg_context *ctx, int count, const double *r, eg_mirror *out);
/* Room for so many pairs, to be filled in by the caller. */
eg_status eg_mirror_new(eg_context *ctx, int even, int odd, eg_mirror *out);
void eg_mirror_free(eg_context *ctx, eg_mirror *mirror);

/* The block of a matrix A, row i column j at A[i * pitch + j], that takes even (or odd) parts of columns
 * to even (or odd) parts of rows: out [part of rows][out_pitch], a part of columns wide. */
typedef struct eg_mirror_block {
    const eg_mirror *rows, *columns;
    bool odd_rows, odd_columns;
} eg_mirror_block;
void eg_mirror_fold(const eg_mirror_block *block, const double *A, int pitch, int out_pitch,
                    double *out);

#endif
