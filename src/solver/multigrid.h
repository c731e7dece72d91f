/* Multigrid on levels that the caller makes (other degrees, other meshes), with whatever solves the
 * last: a V-cycle as a preconditioner.
 *
 *     const eg_multigrid_level levels[] = {{fine, A, smoother, transfer}, …};
 *     eg_multigrid_create(levels, count, coarsest, eg_amg_linear(amg), &multigrid);
 *     … eg_multigrid_linear(multigrid) …
 */
#ifndef EG_SOLVER_MULTIGRID_H
#define EG_SOLVER_MULTIGRID_H

#include "solver/chebyshev.h"

/* To the next level and back. The two are each other's transposes, for a cycle to be symmetric. */
typedef struct eg_transfer {
    void *user; /* not owned */
    eg_status (*restrict_residual)(void *user, eg_buffer *fine,
                                   eg_buffer *coarse); /* coarse = Pᵀ fine */
    eg_status (*add_correction)(void *user, eg_buffer *coarse,
                                eg_buffer *fine); /* fine += P coarse */
} eg_transfer;

/* Nothing of it is owned; all must outlive the multigrid. */
typedef struct eg_multigrid_level {
    eg_vectors *vectors;
    eg_linear A;
    eg_chebyshev *smoother; /* before and after the coarse correction */
    eg_transfer transfer;   /* between this level and the next, or the coarsest */
} eg_multigrid_level;

typedef struct eg_multigrid eg_multigrid;

/* levels [count], the finest first, are copied. Vectors of the coarsest level are `coarsest`; `solve` is
 * x = B b there. Collective where vectors are. */
eg_status eg_multigrid_create(const eg_multigrid_level *levels, int count, eg_vectors *coarsest,
                              eg_linear solve, eg_multigrid **out);
void eg_multigrid_destroy(eg_multigrid **multigrid);
/* x = B b: one V-cycle from 0. Allocates nothing. */
eg_status eg_multigrid_apply(eg_multigrid *multigrid, eg_buffer *b, eg_buffer *x);
eg_linear eg_multigrid_linear(eg_multigrid *multigrid);

#endif
