/* What functions, projections and measurements share: expressions compiled for the groups of a
 * space. */
#ifndef EG_FIELD_FUNCTION_H
#define EG_FIELD_FUNCTION_H

#include "field/points.h"

typedef struct eg_projection eg_projection;

struct eg_function {
    eg_space *space; /* not owned */
    int components;
    eg_kernel **evaluate; /* [group_count] owned */
    /* Made when first needed; owned. */
    eg_kernel **store;     /* [group_count][2] for fields of f64 and f32 */
    eg_points **nodes;     /* [group_count] */
    eg_buffer *x, *values; /* at the nodes of a batch */
    eg_projection *projection;
};

/* values [tiles][components][count][lanes] at time t and coordinates x
 * [tiles][dim][count][lanes]. */
eg_status eg_function_evaluate(const eg_function *function, int group, double t, int64_t tiles,
                               int count, eg_buffer *x, eg_buffer *values);

/* Writes values [tiles][components][np][lanes] to tiles of a field's group. */
eg_status eg_function_store(eg_function *function, eg_field *field, int group, int64_t first,
                            int64_t tiles, eg_buffer *values);

/* Fails unless the field is of this space and has as many components. */
eg_status eg_field_check(const eg_field *field, const eg_space *space, int components);

/* The L2 projection onto fields of a space. Collective; ranks agree on whether it has worked. */
eg_status eg_projection_create(const eg_space *space, int components, eg_projection **out);
void eg_projection_destroy(eg_projection **projection);
eg_status eg_projection_run(eg_projection *projection, eg_function *function, double t,
                            eg_field *field);

#endif
