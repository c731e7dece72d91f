/* Vectors of a linear system: buffers whose values stand in parts, each like a group of a field, or
 * in one plain part.
 *
 *     eg_vectors *vectors = NULL;
 *     eg_vectors_create(space, components, EG_F64, &vectors);
 *     eg_vectors_new(vectors, &x);                            // zeros
 *     eg_vectors_dots(vectors, 1, &(eg_vector_pair){x, y}, &sum);
 *     eg_vectors_add(vectors, 1.0, y, 1, &(double){-sum}, &x);  // y -= sum x
 */
#ifndef EG_SOLVER_VECTORS_H
#define EG_SOLVER_VECTORS_H

#include "field/field.h"

/* Values at offset + (tile*rows + row)*lanes + lane; those whose weight is 0 (padding, ghosts) do
 * not count in sums, whatever they hold. */
typedef struct eg_vector_part {
    size_t offset;
    int64_t tiles; /* that count */
    int rows, lanes;
    eg_buffer *weight; /* f64 [tiles][lanes]: 0 or 1; NULL: all count; not owned */
    size_t values;     /* from offset on, that eg_vectors_fill sets */
    eg_kernel *dots, *advance;
} eg_vector_part;

#define EG_VECTOR_TERMS 4 /* sums, or vectors to add, at once */

typedef struct eg_vectors {
    eg_device *device; /* not owned */
    eg_comm *comm;     /* not owned; NULL: sums are this rank's alone */
    eg_type type;      /* EG_F64 or EG_F32; sums are f64 always */
    size_t count;      /* values of a buffer, with gaps, padding and ghosts */
    int part_count;
    eg_vector_part *parts; /* owned, as all that follows */
    int blocks;            /* into which each part is divided for sums */
    eg_kernel *finish, *multiply, *narrow, *widen, *scale, *smooth, *add[EG_VECTOR_TERMS];
    bool borrows;       /* kernels are another's, not owned */
    eg_buffer *partial; /* f64 [EG_VECTOR_TERMS][part_count][blocks] */
    eg_buffer *sums;    /* f64 [EG_VECTOR_TERMS] */
} eg_vectors;

/* Vectors that are the data of fields with so many components. Collective. The space must outlive
 * them. */
eg_status eg_vectors_create(const eg_space *space, int components, eg_type type, eg_vectors **out);
/* Vectors of `count` values in their order, followed by zeros up to a multiple of EG_OFFSET_BLOCK.
 * With several ranks in `comm` each has a part of the vector; NULL: a vector of this rank alone. */
eg_status eg_vectors_create_plain(eg_device *device, eg_comm *comm, eg_type type, size_t count,
                                  eg_vectors **out);
/* Plain vectors of another length, of this rank alone, that use the kernels of `like`, which
 * must be plain, too, and outlive them. */
eg_status eg_vectors_create_like(const eg_vectors *like, size_t count, eg_vectors **out);
void eg_vectors_destroy(eg_vectors **vectors);

/* A fresh vector of zeros. */
eg_status eg_vectors_new(const eg_vectors *vectors, eg_buffer **out);

typedef struct eg_vector_pair {
    eg_buffer *x, *y; /* may be the same */
} eg_vector_pair;

/* sums[k] = x·y of up to EG_VECTOR_TERMS pairs, over all ranks: the same bits on all of them,
 * and for any number of threads. NaN if a value that counts is. */
eg_status eg_vectors_dots(eg_vectors *vectors, int count, const eg_vector_pair *pairs,
                          double *sums);
/* The same of this rank alone, which stay on the device: result[first … first + count), f64. */
eg_status eg_vectors_dots_queued(eg_vectors *vectors, int count, const eg_vector_pair *pairs,
                                 eg_buffer *result, size_t first);
/* The Euclidean norm. */
eg_status eg_vectors_norm(eg_vectors *vectors, eg_buffer *x, double *norm);

/* y = b y + Σ a[k] x[k]; y is none of the x. With b = 0 it does not matter what y held. */
eg_status eg_vectors_add(const eg_vectors *vectors, double b, eg_buffer *y, int count,
                         const double *a, eg_buffer *const *x);
eg_status eg_vectors_scale(const eg_vectors *vectors, double b, eg_buffer *y); /* y = b y */
/* x += a p and r -= a q in one pass, and the square of r's norm. */
eg_status eg_vectors_advance(eg_vectors *vectors, double a, eg_buffer *p, eg_buffer *q,
                             eg_buffer *x, eg_buffer *r, double *square);
/* d = a d + c z and x = keep x + w d in one pass. Where a is 0 it does not matter what d held, nor
 * where keep is 0 what x did. */
eg_status eg_vectors_smooth(const eg_vectors *vectors, double a, double c, eg_buffer *z,
                            eg_buffer *d, double keep, double w, eg_buffer *x);
/* y[i] = a[i] x[i]; y is neither. */
eg_status eg_vectors_multiply(const eg_vectors *vectors, eg_buffer *a, eg_buffer *x, eg_buffer *y);
eg_status eg_vectors_copy(const eg_vectors *vectors, eg_buffer *x, eg_buffer *y); /* y = x */
/* Sets all values but those between parts and behind a plain one. */
eg_status eg_vectors_fill(const eg_vectors *vectors, double value, eg_buffer *x);
/* Random values in [-1, 1), the same on every run. Allocates on the host: for set-up. */
eg_status eg_vectors_fill_random(const eg_vectors *vectors, uint64_t seed, eg_buffer *x);
/* `to` = `from` in its own precision: vectors of this layout, one of f64 and the other of f32. */
eg_status eg_vectors_convert(const eg_vectors *vectors, eg_buffer *from, eg_buffer *to);

#endif
