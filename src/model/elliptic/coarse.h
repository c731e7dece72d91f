/* Algebraic multigrid for the operator: for all of it, or for its part on continuous functions.
 *
 *     eg_elliptic_coarse_create(A, &(eg_elliptic_coarse_options){.continuous = true}, &coarse);
 *     … eg_elliptic_coarse_linear(coarse) …                       // x = B b on A's vectors
 *
 * or, below the last level of a multigrid whose matrix is A,
 *
 *     levels[last].transfer = eg_elliptic_coarse_transfer(coarse);
 *     eg_multigrid_create(levels, count, eg_elliptic_coarse_vectors(coarse),
 *                         eg_elliptic_coarse_solve(coarse), &multigrid);
 */
#ifndef EG_ELLIPTIC_COARSE_H
#define EG_ELLIPTIC_COARSE_H

#include "model/elliptic/operator.h"
#include "solver/amg.h"
#include "solver/multigrid.h"

typedef struct eg_elliptic_coarse_options {
    /* A's degree is 1, and B = P (AMG of Pᵀ A P) Pᵀ, P giving each corner of an element the value at
     * the vertex there. It needs smoothing beside it, as it knows nothing of what is not continuous.
     * Else AMG is for the matrix of all degrees of freedom. */
    bool continuous;
    /* But for near_null, the constants here, and comm, that of the space. Where functions are
     * continuous strength is 0.25 and k_levels is 1 by default. For degree 1 and a k that jumps AMG is of
     * double precision whatever is asked for. */
    eg_amg_options amg;
} eg_elliptic_coarse_options;

typedef struct eg_elliptic_coarse eg_elliptic_coarse;

/* Collective; ranks agree on whether it has worked. The operator's space must outlive it. */
eg_status eg_elliptic_coarse_create(eg_elliptic *elliptic,
                                    const eg_elliptic_coarse_options *options,
                                    eg_elliptic_coarse **out);
void eg_elliptic_coarse_destroy(eg_elliptic_coarse **coarse);
const eg_amg_info *eg_elliptic_coarse_info(const eg_elliptic_coarse *coarse);

/* x = B b, on vectors of the operator's space and type; symmetric, but for K-cycles. Allocates
 * nothing. */
eg_linear eg_elliptic_coarse_linear(eg_elliptic_coarse *coarse);

/* The same in parts: Pᵀ and P between the operator's vectors and those of AMG, of its own type,
 * and AMG. On several ranks what Pᵀ gives is a rank's share, which the solution of AMG is not. */
eg_transfer eg_elliptic_coarse_transfer(eg_elliptic_coarse *coarse);
eg_vectors *eg_elliptic_coarse_vectors(eg_elliptic_coarse *coarse);
eg_linear eg_elliptic_coarse_solve(eg_elliptic_coarse *coarse);

#endif
