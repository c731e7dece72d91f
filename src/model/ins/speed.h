/* How fast a velocity goes through the triangles of a space. */
#ifndef EG_INS_SPEED_H
#define EG_INS_SPEED_H

#include "model/ins/faces.h"

typedef struct eg_ins_speed eg_ins_speed;

/* faces must outlive it. Collective, as eg_ins_speed_find. */
eg_status eg_ins_speed_create(eg_space *space, const eg_ins_faces *faces, eg_ins_speed **out);
void eg_ins_speed_destroy(eg_ins_speed **speed);

/* The largest rate at which an element is crossed by w, or by what is given at boundaries: of all ranks.
 * NaN if it is that anywhere. */
eg_status eg_ins_speed_find(eg_ins_speed *speed, eg_field *const w[2], const eg_ins_data *given,
                            double *rate);

/* The largest stable step of advection, as part of the time in which an element of this degree is crossed: of
 * the Runge-Kutta scheme of subcycles (order 0), or extrapolated with order 1 to 3. As measured. */
double eg_ins_stable_part(int degree, int order);

#endif
