/* The operator as a sparse matrix. */
#ifndef EG_ELLIPTIC_MATRIX_H
#define EG_ELLIPTIC_MATRIX_H

#include "model/elliptic/operator.h"
#include "model/elliptic/unknowns.h"
#include "solver/sparse.h"

/* Pᵀ A P in double precision, all of it on every rank, where P gives each node of an element the
 * value of its unknown: A itself with an unknown for each node, and for continuous unknowns what
 * A is on continuous functions. Found from products of A with vectors of zeros and ones, exact to
 * rounding also where that needs quadrature. Entries that are rounding alone are left out.
 * Collective, as products are; ranks agree on whether it has worked, but for a device that fails
 * within one. */
eg_status eg_elliptic_matrix(eg_elliptic *elliptic, const eg_unknowns *unknowns, eg_csr **out);

#endif
