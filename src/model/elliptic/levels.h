/* p-multigrid: the operator at degrees N, … , 1 on the same mesh, Chebyshev smoothing on each, and
 * algebraic multigrid below. */
#ifndef EG_ELLIPTIC_LEVELS_H
#define EG_ELLIPTIC_LEVELS_H

#include "model/elliptic/linear.h"

/* What Chebyshev's method is applied with, in the order of the choices of solver.smoother. */
typedef enum eg_levels_smoother {
    EG_LEVELS_DIAGONAL, /* the inverse of the operator's diagonal */
    EG_LEVELS_BLOCKS    /* the inverse of each element's block of the operator */
} eg_levels_smoother;

/* In the order of the choices of solver.coarsening. */
typedef enum eg_levels_coarsening {
    EG_LEVELS_HALVE, /* 8 4 2 1 */
    EG_LEVELS_STEP   /* 8 7 6 5 4 3 2 1 */
} eg_levels_coarsening;

/* The penalty of lower degrees, in the order of the choices of solver.coarse_penalty. */
typedef enum eg_levels_penalty {
    EG_LEVELS_PENALTY_MEAN, /* the geometric mean of the other two */
    EG_LEVELS_PENALTY_FINE, /* that of the highest degree */
    EG_LEVELS_PENALTY_OWN   /* that of the degree itself */
} eg_levels_penalty;

typedef struct eg_levels_options {
    eg_type real; /* of all levels: EG_F64 or EG_F32 */
    eg_levels_smoother smoother;
    /* `largest` is found by eg_levels_create; degree 0: 3, more on stretched elements, where optimal
     * weights give way to none if there are none for so many. */
    eg_chebyshev_options chebyshev;
    eg_levels_coarsening coarsening;
    eg_levels_penalty penalty;
    bool continuous; /* from discontinuous to continuous functions of degree 1 before AMG */
    eg_amg_options amg;
} eg_levels_options;

typedef struct eg_levels eg_levels;

/* For an operator, which must outlive it, of either precision. Collective. */
eg_status eg_levels_create(eg_elliptic *op, const eg_levels_options *options, eg_levels **out);
void eg_levels_destroy(eg_levels **levels);

/* Vectors of the finest level, of the options' type; the levels'. */
eg_vectors *eg_levels_vectors(eg_levels *levels);
/* x = B b: one V-cycle on these vectors. Allocates nothing. */
eg_linear eg_levels_linear(eg_levels *levels);

#endif
