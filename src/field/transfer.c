/* Transfer of a field to another space on the same mesh, element by element on the device.
 *
 * An element's values become matrix times values, one matrix for each pair of kinds of elements.
 * The two spaces number their slots differently, so the kernel gathers by a map from slot to
 * slot. */
#include "field/space.h"

typedef struct transfer {
    const eg_field *from;
    eg_field *to;
    eg_kernel *kernel; /* for the lanes of the group at hand */
    eg_buffer *slot;   /* i32 [tiles][lanes] of the group at hand: the slot in the other space */
    eg_buffer *matrix; /* f64 [np][np_from] of the pair at hand */
    eg_buffer *takes_part; /* i32 [groups of `from`] of the pair at hand */
    int32_t *host;         /* what is uploaded; owned */
    bool *used;            /* [groups of `from`] has elements of the group at hand; owned */
} transfer;

static eg_status check(const eg_field *from, const eg_field *to)
{
    eg_context *ctx = to->space->ctx;
    if (from == to || from->space->mesh != to->space->mesh ||
        from->space->device != to->space->device)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a transfer needs two fields on the same mesh and device");
    if (from->components != to->components || from->type != to->type)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a transfer from %d components of %s to %d of %s; both must agree",
                       from->components, eg_type_name(from->type), to->components,
                       eg_type_name(to->type));
    return EG_OK;
}

/* Finds where the elements of a group lie in the other space. */
static eg_status map_slots(transfer *x, const eg_group *group)
{
    const eg_space *from = x->from->space;
    const size_t slots = (size_t)(group->tiles * group->lanes);
    eg_status status = EG_OK;
    EG_TRY(eg_new(from->ctx, slots, &x->host));
    for (int i = 0; i < from->group_count; i++)
        x->used[i] = false;
    for (size_t s = 0; s < slots; s++) {
        x->host[s] = from->slot_of_element[group->element_of_slot[s]];
        x->used[from->group_of_block[x->host[s] / EG_SLOT_BLOCK]] = true;
    }
    EG_TRY(eg_buffer_create(from->device, EG_I32, slots, &x->slot));
    EG_TRY(eg_buffer_upload(x->slot, 0, slots, x->host));
done:
    eg_release(from->ctx, &x->host);
    return status;
}

/* Transfers those elements of a group that are of kind `element` in the other space. */
static eg_status transfer_pair(transfer *x, int g, const eg_element *element)
{
    const eg_space *from = x->from->space;
    const eg_group *group = &x->to->space->groups[g];
    const int np = group->element->np;
    const size_t groups = (size_t)from->group_count, values = (size_t)np * (size_t)element->np;
    eg_status status = EG_OK;
    double *matrix = NULL;
    EG_TRY(eg_new(from->ctx, values, &matrix));
    EG_TRY(eg_element_transfer(element, group->element, matrix));
    EG_TRY(eg_buffer_create(from->device, EG_F64, values, &x->matrix));
    EG_TRY(eg_buffer_upload(x->matrix, 0, values, matrix));
    EG_TRY(eg_new(from->ctx, groups, &x->host));
    for (size_t i = 0; i < groups; i++)
        x->host[i] = from->groups[i].element == element;
    EG_TRY(eg_buffer_create(from->device, EG_I32, groups, &x->takes_part));
    EG_TRY(eg_buffer_upload(x->takes_part, 0, groups, x->host));
    EG_TRY(eg_launch(
        x->kernel, group->tiles * np * x->to->components, EG_BUFFER("u", x->from->data),
        EG_BUFFER("layout", x->from->layout), EG_BUFFER("block_groups", from->block_groups),
        EG_BUFFER("takes_part", x->takes_part), EG_BUFFER("slot", x->slot),
        EG_BUFFER("matrix", x->matrix), EG_INTEGER("np", np), EG_INTEGER("np_from", element->np),
        EG_INTEGER("components", x->to->components),
        EG_BUFFER_AT("out", x->to->data, x->to->offset[g])));
done:
    eg_buffer_destroy(&x->takes_part);
    eg_buffer_destroy(&x->matrix);
    eg_release(from->ctx, &x->host);
    eg_release(from->ctx, &matrix);
    return status;
}

static eg_status transfer_group(transfer *x, int g)
{
    const eg_space *from = x->from->space;
    const eg_group *group = &x->to->space->groups[g];
    eg_status status = EG_OK;
    EG_TRY(map_slots(x, group));
    EG_TRY(eg_kernel_create(from->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "field/transfer.k.c",
                                                 .entry = "transfer",
                                                 .real = x->to->type,
                                                 .lanes = group->lanes},
                            &x->kernel));
    for (int i = 0; i < from->group_count; i++) {
        if (!x->used[i]) continue;
        const eg_element *element = from->groups[i].element;
        EG_TRY(transfer_pair(x, g, element));
        for (int j = i; j < from->group_count; j++)
            if (from->groups[j].element == element) x->used[j] = false;
    }
done:
    eg_kernel_destroy(&x->kernel);
    eg_buffer_destroy(&x->slot);
    return status;
}

eg_status eg_field_transfer(const eg_field *from, eg_field *to)
{
    eg_context *ctx = to->space->ctx;
    transfer x = {.from = from, .to = to};
    eg_status status = EG_OK;
    EG_TRY(check(from, to));
    if (from->space == to->space)
        return eg_buffer_copy(to->data, 0, from->data, 0, from->offset[from->space->group_count]);
    EG_TRY(eg_new(ctx, (size_t)from->space->group_count, &x.used));
    for (int g = 0; g < to->space->group_count; g++)
        EG_TRY(transfer_group(&x, g));
done:
    eg_release(ctx, &x.used);
    return status;
}
