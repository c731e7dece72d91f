/* The preconditioner "mass": the inverse of each element's mass matrix, block Jacobi for
 * problems that λ dominates. */
#ifndef EG_ELLIPTIC_MASS_H
#define EG_ELLIPTIC_MASS_H

#include "solver/solver.h"

typedef struct eg_mass eg_mass;

/* For fields with one component of this precision. */
eg_status eg_mass_create(eg_space *space, eg_type real, eg_mass **out);
void eg_mass_destroy(eg_mass **mass);

/* z = M⁻¹ r on own elements, both the data of a field. Allocates nothing. */
eg_status eg_mass_apply(eg_mass *mass, eg_buffer *r, eg_buffer *z);

eg_linear eg_mass_linear(eg_mass *mass);

#endif
