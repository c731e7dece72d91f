/* The determinant of an element's Jacobian, bounded everywhere in it; private to room `mesh`. */
#ifndef EG_JACOBIAN_H
#define EG_JACOBIAN_H

#include "mesh/build.h"

/* The determinants of elements of one shape and order. */
typedef struct eg_jacobian eg_jacobian;

eg_status eg_jacobian_create(eg_context *ctx, eg_shape shape, int order, eg_jacobian **out);
void eg_jacobian_destroy(eg_jacobian **jacobian);

/* True if the determinant of the element with these nodes [np][dim] is positive in all of it,
 * beyond what rounding may have made of zero. If not, *det is one that is not, found at r [dim], and
 * 0 or below; or, of an element that comes too near to zero to be sure, the least one that was found,
 * which is above 0. */
bool eg_jacobian_is_positive(eg_jacobian *jacobian, const double *nodes, double r[3], double *det);

/* The least determinant over the mean of all, to a hundredth: 1 if the mapping is affine, 0 or
 * below if it is not valid. */
double eg_jacobian_least_over_mean(eg_jacobian *jacobian, const double *nodes);

#endif
