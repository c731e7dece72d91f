/* The way of modes from one space to another on the same mesh: elements of other degrees lie elsewhere. */
#include "model/advection/adapt.h"

#include "model/advection/parts.h"

eg_status eg_adapt_make_kernel(const eg_field *field, const eg_group *g, const char *entry,
                               eg_kernel **out)
{
    const int side = g->degree + 1, dim = field->space->mesh->dim;
    const eg_define defines[] = {{"DIM", dim},
                                 {"M", side},
                                 {"NP", dim == 3 ? side * side * side : side * side},
                                 {"COMPONENTS", field->components}};
    return eg_kernel_create(field->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "model/advection/adapt.k.c",
                                                 .entry = entry,
                                                 .real = EG_F64,
                                                 .lanes = g->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

/* The modes of one group of `to`. */
static eg_status move_group(const eg_field *from, eg_buffer *sides, eg_field *to, int group)
{
    const eg_group *g = &to->space->groups[group];
    const size_t slots = (size_t)(g->own_tiles * g->lanes);
    int32_t *slot = NULL;
    eg_buffer *slots_there = NULL;
    eg_kernel *kernel = NULL;
    eg_status status = EG_OK;
    if (slots == 0) return EG_OK;
    EG_TRY(eg_new(to->space->ctx, slots, &slot));
    for (size_t i = 0; i < slots; i++)
        slot[i] = from->space->slot_of_element[g->element_of_slot[i]];
    EG_TRY(eg_space_upload(to->space, EG_I32, slots, slot, &slots_there));
    EG_TRY(eg_adapt_make_kernel(to, g, "move", &kernel));
    EG_TRY(eg_launch(
        kernel, g->own_tiles, EG_BUFFER("u", from->data), EG_BUFFER("layout", from->layout),
        EG_BUFFER("block_groups", from->space->block_groups), EG_BUFFER("sides", sides),
        EG_BUFFER("slot", slots_there), EG_BUFFER_AT("out", to->data, to->offset[group])));
done:
    eg_kernel_destroy(&kernel);
    eg_buffer_destroy(&slots_there);
    eg_release(to->space->ctx, &slot);
    return status;
}

eg_status eg_adapt_move(const eg_field *from, eg_field *to)
{
    int32_t sides[UINT8_MAX + 1];
    eg_buffer *sides_there = NULL;
    eg_status status = EG_OK;
    const int groups = from->space->group_count;
    for (int g = 0; g < groups; g++)
        sides[g] = from->space->groups[g].degree + 1;
    EG_TRY(eg_space_upload(from->space, EG_I32, (size_t)groups, sides, &sides_there));
    for (int g = 0; g < to->space->group_count; g++)
        EG_TRY(move_group(from, sides_there, to, g));
done:
    eg_buffer_destroy(&sides_there);
    return status;
}
