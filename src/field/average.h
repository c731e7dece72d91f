/* Means over time of components of fields, and covariances of some of them, computed and kept on
 * the device.
 *
 * What is kept covers a weight of time W; a state that counts for w more gives
 *
 *     r = w/(W + w),   d = q - m,   m += r d,   C_ij = (1 - r) (C_ij + r d_i d_j)
 *
 * with d of before the step [west1979], which loses no digits where fluctuations are small beside
 * the mean. */
#ifndef EG_FIELD_AVERAGE_H
#define EG_FIELD_AVERAGE_H

#include "field/field.h"

enum { EG_AVERAGE_MOST = 16 }; /* components */

/* A component of a field of the average's space, in double precision. */
typedef struct eg_average_source {
    const eg_field *field;
    int component;
} eg_average_source;

typedef struct eg_average eg_average;

/* Of `count` components, and the covariances of the first `varied` of them. Collective. */
eg_status eg_average_create(eg_space *space, int count, int varied, eg_average **out);
void eg_average_destroy(eg_average **average);

/* count + varied (varied + 1)/2: means, then covariances of (0, 0), (0, 1), …, (1, 1), … */
int eg_average_components(int count, int varied);
/* Fields of so many components: what is kept, to be filled in by who goes on from a checkpoint, and
 * what eg_average_show has made, until a state is added; borrowed, and others after each state. */
eg_field *eg_average_kept(const eg_average *average);
eg_field *eg_average_shown(const eg_average *average);

/* Adds a state, sources [count], whose share of the time so far and its own is `share`, from 0 to
 * 1; with 1 it does not matter what was kept. */
eg_status eg_average_add(eg_average *average, const eg_average_source *sources, double share);
/* Shows what would be kept if it were added, and keeps what there is. */
eg_status eg_average_show(eg_average *average, const eg_average_source *sources, double share);

#endif
