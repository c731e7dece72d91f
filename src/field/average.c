/* Means over time and covariances: the state is gathered into a field of its own, from which a
 * kernel advances what is kept, element by element; no rank needs another. */
#include "field/average.h"

#include "field/points.h"

struct eg_average {
    eg_space *space; /* not owned */
    int count, varied;
    eg_field *now;          /* the state; owned, as all that follows */
    eg_field *kept, *shown; /* change places when a state is added: kernels do not work in place */
    eg_kernel **take, **advance; /* [group_count] */
};

int eg_average_components(int count, int varied)
{
    return count + varied * (varied + 1) / 2;
}

static eg_status create_kernels(eg_average *a)
{
    const eg_space *space = a->space;
    const eg_define defines[] = {{"ROWS", EG_KERNEL_ROWS},
                                 {"COUNT", a->count},
                                 {"VARIED", a->varied},
                                 {"ALL", eg_average_components(a->count, a->varied)}};
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &a->take));
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &a->advance));
    for (int g = 0; g < space->group_count; g++) {
        EG_TRY(eg_group_kernel(space, &space->groups[g], "field/average.k.c", "take", &a->take[g]));
        EG_TRY(eg_space_kernel(space, &space->groups[g],
                               (eg_kernel_options){.source = "field/average.k.c",
                                                   .entry = "advance",
                                                   .no_contraction = true,
                                                   .defines = defines,
                                                   .define_count = EG_COUNT(defines)},
                               &a->advance[g]));
    }
done:
    return status;
}

/* Zeros, so that there is nothing that is not finite. */
static eg_status create_field(eg_space *space, int components, eg_field **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_field_create(space, components, EG_F64, out));
    EG_TRY(eg_buffer_fill((*out)->data, 0, eg_buffer_count((*out)->data), &(double){0}));
done:
    return status;
}

eg_status eg_average_create(eg_space *space, int count, int varied, eg_average **out)
{
    const int all = eg_average_components(count, varied);
    eg_average *a = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    if (count < 1 || count > EG_AVERAGE_MOST || varied < 0 || varied > count)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                       "averages of %d components, %d of them varied", count, varied);
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &a));
    *a = (eg_average){.space = space, .count = count, .varied = varied};
    EG_TRY(create_field(space, count, &a->now));
    EG_TRY(create_field(space, all, &a->kept));
    EG_TRY(create_field(space, all, &a->shown));
    EG_TRY(eg_comm_agree(space->comm, create_kernels(a)));
    *out = a;
    a = NULL;
done:
    eg_average_destroy(&a);
    return status;
}

void eg_average_destroy(eg_average **handle)
{
    eg_average *a = *handle;
    if (!a) return;
    eg_context *ctx = a->space->ctx;
    for (int g = 0; g < a->space->group_count; g++) {
        if (a->take) eg_kernel_destroy(&a->take[g]);
        if (a->advance) eg_kernel_destroy(&a->advance[g]);
    }
    eg_release(ctx, &a->take);
    eg_release(ctx, &a->advance);
    eg_field_destroy(&a->shown);
    eg_field_destroy(&a->kept);
    eg_field_destroy(&a->now);
    eg_release(ctx, handle);
}

eg_field *eg_average_kept(const eg_average *average)
{
    return average->kept;
}

eg_field *eg_average_shown(const eg_average *average)
{
    return average->shown;
}

static eg_status take_group(const eg_average *a, int group, const eg_average_source *sources)
{
    const eg_group *g = &a->space->groups[group];
    const int64_t rows = g->own_tiles * g->element->np;
    eg_status status = EG_OK;
    for (int c = 0; c < a->count; c++) {
        const eg_field *from = sources[c].field;
        EG_TRY(eg_launch(
            a->take[group], eg_row_launches(rows), EG_INTEGER("rows", rows),
            EG_INTEGER("np", g->element->np), EG_INTEGER("from_row", eg_field_row(from, group, 0)),
            EG_INTEGER("components", from->components),
            EG_INTEGER("component", sources[c].component), EG_BUFFER("from", from->data),
            EG_INTEGER("to_row", eg_field_row(a->now, group, 0)),
            EG_INTEGER("to_components", a->count), EG_INTEGER("to_component", c),
            EG_BUFFER("to", a->now->data)));
    }
done:
    return status;
}

eg_status eg_average_show(eg_average *a, const eg_average_source *sources, double share)
{
    eg_status status = EG_OK;
    for (int c = 0; c < a->count; c++)
        if (sources[c].field->space != a->space || sources[c].field->type != EG_F64)
            return eg_fail(a->space->ctx, EG_ERROR_UNSUPPORTED,
                           "averages are of fields in double precision on one space");
    for (int group = 0; group < a->space->group_count; group++) {
        const eg_group *g = &a->space->groups[group];
        const int64_t rows = g->own_tiles * g->element->np;
        EG_TRY(take_group(a, group, sources));
        EG_TRY(eg_launch(
            a->advance[group], eg_row_launches(rows), EG_INTEGER("rows", rows),
            EG_INTEGER("np", g->element->np), EG_REAL("share", share),
            EG_INTEGER("now_row", eg_field_row(a->now, group, 0)), EG_BUFFER("now", a->now->data),
            EG_INTEGER("old_row", eg_field_row(a->kept, group, 0)), EG_BUFFER("old", a->kept->data),
            EG_INTEGER("to_row", eg_field_row(a->shown, group, 0)),
            EG_BUFFER("to", a->shown->data)));
    }
done:
    return status;
}

eg_status eg_average_add(eg_average *a, const eg_average_source *sources, double share)
{
    eg_field *before = a->kept;
    eg_status status = EG_OK;
    EG_TRY(eg_average_show(a, sources, share));
    a->kept = a->shown;
    a->shown = before;
done:
    return status;
}
