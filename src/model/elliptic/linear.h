/* The operator as solvers see it: a linear map, and its null space. */
#ifndef EG_ELLIPTIC_LINEAR_H
#define EG_ELLIPTIC_LINEAR_H

#include "model/elliptic/operator.h"
#include "solver/solver.h"

eg_linear eg_elliptic_linear(eg_elliptic *op);

/* What a singular problem needs: constants, and the integrals of all functions with them, for
 * null_vector and null_weights of Krylov methods. Collective. */
eg_status eg_elliptic_constants(eg_elliptic *op, eg_vectors *vectors, eg_buffer **constants,
                                eg_buffer **weights);

#endif
