/* What PCG and GMRES share: the system, its null space, and the norms along the way. */
#ifndef EG_SOLVER_KRYLOV_PARTS_H
#define EG_SOLVER_KRYLOV_PARTS_H

#include "solver/krylov.h"

typedef struct eg_krylov {
    eg_context *ctx;     /* not owned */
    eg_vectors *vectors; /* not owned */
    eg_linear A, B;
    bool preconditioned;
    eg_krylov_options options; /* with its defaults filled in */
    double null_product;       /* n·w */
    double *history;           /* [options.iterations + 1] owned */
} eg_krylov;

/* All that needs no other rank; `out` is to be freed in any case. */
eg_status eg_krylov_prepare(eg_vectors *vectors, eg_linear A, const eg_linear *B,
                            const eg_krylov_options *options, eg_krylov *out);
/* Finds n·w, where there is a null space. */
eg_status eg_krylov_measure_null(eg_krylov *krylov);
void eg_krylov_free(eg_krylov *krylov);

/* z = B r, without what is in the null space. */
eg_status eg_krylov_precondition(eg_krylov *krylov, eg_buffer *r, eg_buffer *z);
/* r -= w (n·r) / (n·w), where there is a null space: what A can reach. */
eg_status eg_krylov_project_residual(eg_krylov *krylov, eg_buffer *r);
/* x -= n (w·x) / (n·w), where there is a null space. */
eg_status eg_krylov_project_solution(eg_krylov *krylov, eg_buffer *x);
/* r = b - A x, what A can reach of it, and its norm. Takes x as 0 if `zero`. */
eg_status eg_krylov_residual(eg_krylov *krylov, bool zero, eg_buffer *b, eg_buffer *x, eg_buffer *r,
                             double *norm);
/* Tells what has become of a residual r that falls no further: EG_KRYLOV_ROUNDING or _STAGNATED. `spare`
 * is overwritten. */
eg_status eg_krylov_judge(eg_krylov *krylov, eg_buffer *x, eg_buffer *r, eg_buffer *spare,
                          eg_krylov_result *result);
/* Begins a solve: x = 0 where that is asked for, r and its norm, the target. */
eg_status eg_krylov_begin(eg_krylov *krylov, eg_buffer *b, eg_buffer *x, eg_buffer *r,
                          eg_krylov_result *result);

/* pcg.c: its matrix, and vectors that it does not need between solves. */
void eg_pcg_lend(const eg_pcg *pcg, eg_linear *A, eg_buffer *vectors[2]);

#endif
