/* The door of room `solver`: linear systems, on any device and for any model.
 *
 * Vectors are buffers, whose layout an eg_vectors describes; matrices and preconditioners are
 * eg_linear, functions from vector to vector. Creation is collective where vectors have a
 * communicator of several ranks, and so is everything that adds over vectors; ranks then take the
 * same decisions from the same sums. What solves allocates nothing; a rank may fail there alone, and
 * then the others must be ended. */
#ifndef EG_SOLVER_H
#define EG_SOLVER_H

#include "solver/amg.h"       /* algebraic multigrid */
#include "solver/chebyshev.h" /* smoothing, eigenvalues */
#include "solver/guess.h"     /* first guesses from earlier solutions */
#include "solver/krylov.h"    /* PCG and GMRES */
#include "solver/multigrid.h" /* V-cycles on levels of any kind */
#include "solver/sparse.h"    /* sparse matrices */
#include "solver/vectors.h"   /* vectors and their sums */

#endif
