/* The gradient of fields at their nodes, element by element ([karakus2018] algorithm 1). */
#ifndef EG_ELLIPTIC_GRADIENT_H
#define EG_ELLIPTIC_GRADIENT_H

#include "field/field.h"

typedef struct eg_gradient eg_gradient;

/* For fields of f64. */
eg_status eg_gradient_create(eg_space *space, eg_gradient **out);
void eg_gradient_destroy(eg_gradient **gradient);

/* out = ∇u at the nodes of own elements: u has one component, out one for each direction. Ghosts are
 * not filled. Allocates nothing. */
eg_status eg_gradient_apply(eg_gradient *gradient, const eg_field *u, eg_field *out);

#endif
