/* What the files of room `field` share about spaces: where values lie, ghosts, geometry of
 * groups. */
#ifndef EG_FIELD_SPACE_H
#define EG_FIELD_SPACE_H

#include "field/field.h"

/* --- order ------------------------------------------------------------------------------------ */

/* The elements and ghosts of a mesh in the order of a space's slots: order [elements + ghosts].
 * Rows have at most row_most elements, of one kind [elements + ghosts]; a kind has one shape. */
eg_status eg_space_order(const eg_mesh *mesh, const uint16_t *kind, int row_most, int32_t *order);

/* --- where values lie ------------------------------------------------------------------------- */

/* The group of an element or ghost. */
static inline const eg_group *eg_space_group_of(const eg_space *space, int32_t element)
{
    return &space->groups[space->group_of_block[space->slot_of_element[element] / EG_SLOT_BLOCK]];
}

/* Values of a field of `components` components on one tile. */
static inline size_t eg_group_tile_values(const eg_group *group, int components)
{
    return (size_t)components * (size_t)group->element->np * (size_t)group->lanes;
}

/* Where value 0 of component 0 of a group's slot (counted from its first) stands behind the group's
 * offset; the following values of the element come `lanes` apart, component after component. */
static inline size_t eg_group_place(const eg_group *group, int components, int64_t slot)
{
    return (size_t)(slot / group->lanes) * eg_group_tile_values(group, components) +
           (size_t)(slot % group->lanes);
}

/* Fetches all values of the ghosts from their owners; makes and drops what that needs.
 * Collective; ranks agree on whether it has worked. */
eg_status eg_field_fill_ghosts(eg_field *field);

/* --- geometry --------------------------------------------------------------------------------- */

/* Creates volume_factors and face_factors of an affine group from its nodes. */
eg_status eg_group_fill_factors(eg_space *space, int group);
/* Sets space->volume. Collective; ranks agree on whether it has worked. */
eg_status eg_space_measure_volume(eg_space *space);

#endif
