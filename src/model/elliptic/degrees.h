/* The way between spaces of two degrees on the same mesh, element by element. */
#ifndef EG_ELLIPTIC_DEGREES_H
#define EG_ELLIPTIC_DEGREES_H

#include "solver/solver.h"

typedef struct eg_degrees eg_degrees;

/* Of vectors of type `real` with one component. The spaces have the same lanes and nodal bases;
 * neither is owned. Collective. */
eg_status eg_degrees_create(eg_space *higher, eg_space *lower, eg_type real, eg_degrees **out);
void eg_degrees_destroy(eg_degrees **degrees);

/* coarse = Pᵀ fine and fine += P coarse, where P interpolates: functions of the lower degree as
 * functions of the higher. On own elements. Allocates nothing. */
eg_transfer eg_degrees_transfer(eg_degrees *degrees);

#endif
