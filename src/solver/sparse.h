/* Sparse matrices: by rows on the host, where they are made, and in slices on a device, where they
 * are used.
 *
 *     eg_csr_from_entries(ctx, rows, columns, count, row, column, value, &host);
 *     eg_sparse_create(device, EG_F64, host, &a);
 *     eg_sparse_apply(a, x, y);                       // y = A x
 */
#ifndef EG_SOLVER_SPARSE_H
#define EG_SOLVER_SPARSE_H

#include "solver/krylov.h"

/* --- on the host ------------------------------------------------------------------------------ */

/* Row i has entries [offset[i], offset[i + 1]), in ascending columns, each column once. */
typedef struct eg_csr {
    eg_context *ctx; /* not owned */
    int32_t rows, columns;
    int64_t *offset; /* [rows + 1] owned, as all that follows */
    int32_t *column; /* [offset[rows]] */
    double *value;   /* [offset[rows]] */
} eg_csr;

/* With room for so many entries; offsets are 0. */
eg_status eg_csr_create(eg_context *ctx, int32_t rows, int32_t columns, int64_t entries,
                        eg_csr **out);
void eg_csr_destroy(eg_csr **csr);

/* From entries in any order; those at one place are added, in the order they come in. */
eg_status eg_csr_from_entries(eg_context *ctx, int32_t rows, int32_t columns, int64_t count,
                              const int32_t *row, const int32_t *column, const double *value,
                              eg_csr **out);
/* Sorts each row by columns and adds what is at one place, in the order it is found. */
eg_status eg_csr_sort(eg_csr *csr);
eg_status eg_csr_transpose(const eg_csr *a, eg_csr **out);
/* out = a b */
eg_status eg_csr_multiply(const eg_csr *a, const eg_csr *b, eg_csr **out);
/* out = pᵀ a p, symmetric where a is. pt: the transpose of p, if it is at hand; else NULL. */
eg_status eg_csr_galerkin(const eg_csr *a, const eg_csr *p, const eg_csr *pt, eg_csr **out);
void eg_csr_apply(const eg_csr *a, const double *x, double *y); /* y = a x */
/* The sum of the ranks' matrices, all of one shape, on every rank: the same bits on all of them. A
 * rank that assembles some elements of a mesh gives what these add to the rows of the whole.
 * Collective; ranks agree on whether it has worked. */
eg_status eg_csr_sum_over_ranks(eg_comm *comm, const eg_csr *mine, eg_csr **out);

/* --- on a device ------------------------------------------------------------------------------ */

/* Slices of `lanes` rows; within a slice column after column, filled up with zeros to its longest
 * row [monakov2010]. Vectors are plain ones (eg_vectors_create_plain) of its type. */
typedef struct eg_sparse {
    eg_device *device; /* not owned */
    eg_type type;
    int32_t rows, columns;
    int64_t entries; /* with filling */
    int64_t slices;
    eg_buffer *start;  /* i64 [slices + 1] first entry of a slice; owned, as all that follows */
    eg_buffer *column; /* i32 [entries] */
    eg_buffer *value;  /* [entries] of its type */
    bool borrows;      /* kernels are another's, not owned */
    eg_kernel *product, *residual, *add_product;
} eg_sparse;

eg_status eg_sparse_create(eg_device *device, eg_type type, const eg_csr *csr, eg_sparse **out);
/* Of the type of `like`, whose kernels it uses and which must outlive it. */
eg_status eg_sparse_create_like(const eg_sparse *like, const eg_csr *csr, eg_sparse **out);
void eg_sparse_destroy(eg_sparse **sparse);
size_t eg_sparse_bytes(const eg_sparse *sparse); /* on the device */

/* y = A x; y = b - A x; y += A x. Values of y behind the last row stay what they were, but for
 * those of its last slice, which become 0 (or stay 0). */
eg_status eg_sparse_apply(eg_sparse *sparse, eg_buffer *x, eg_buffer *y);
eg_status eg_sparse_residual(eg_sparse *sparse, eg_buffer *b, eg_buffer *x, eg_buffer *y);
eg_status eg_sparse_add(eg_sparse *sparse, eg_buffer *x, eg_buffer *y);
eg_linear eg_sparse_linear(eg_sparse *sparse);

#endif
