/* The gradient of a solution, for its error. */
#ifndef EG_ELLIPTIC_GRADIENT_H
#define EG_ELLIPTIC_GRADIENT_H

#include "field/field.h"

/* out = ∇u at the nodes of own elements: u has one component, out one for each direction, both
 * f64. Makes and drops what it needs. Ghosts are not filled. */
eg_status eg_elliptic_gradient(const eg_field *u, eg_field *out);

#endif
