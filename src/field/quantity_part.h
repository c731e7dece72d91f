/* Where a quantity is measured: parts of a space's groups, each the elements of a group, or those
 * of them that have a certain face on a boundary, with the points there. */
#ifndef EG_FIELD_QUANTITY_PART_H
#define EG_FIELD_QUANTITY_PART_H

#include "field/points.h"
#include "field/quantity.h"

/* Points and the way to them. */
typedef struct eg_part_points {
    eg_points *points;        /* NULL: none */
    eg_product interpolation; /* without a table: they are the nodes, whose values a field holds */
    eg_buffer *face_slopes;   /* as eg_group_face_slopes, on faces of curved elements; else NULL */
} eg_part_points;

typedef struct eg_part {
    int group;
    int face;      /* all elements have it on a boundary; -1: the part is the elements themselves */
    int64_t count; /* elements, all of this rank: neither ghosts nor padding; at least 1 */
    int64_t tiles; /* of the group's lanes */
    /* i32 [tiles][lanes]: slots, counted from the group's first; the last is repeated; owned */
    eg_buffer *places;
    eg_part_points cubature;
    eg_part_points nodes; /* of weight 0; none on faces */
} eg_part;

/* All parts that have an element, as the options ask for them. Nothing here is collective. */
eg_status eg_parts_create(const eg_quantity_options *options, eg_part **out, int *count);
void eg_parts_destroy(const eg_space *space, eg_part **parts, int count);

#endif
