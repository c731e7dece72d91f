/* Finite volumes of model `euler`: the kernels cells.k.c and slopes.k.c, and their launches. */
#include "model/euler/parts.h"

/* Slopes of all components along both directions. */
enum { SLOPES = 2 * EG_EULER_COMPONENTS };

eg_status eg_euler_create_cells(eg_euler *a)
{
    eg_status status = EG_OK;
    if (a->scheme.face_points == 1) return EG_OK;
    EG_TRY(eg_field_create(a->space, SLOPES, EG_F64, &a->slopes));
    EG_TRY(eg_halo_create(a->space, SLOPES, EG_F64, EG_HALO_ELEMENTS, &a->slopes_halo));
done:
    return status;
}

eg_status eg_euler_compile_cells(eg_euler *a, int group, const char *boundaries)
{
    eg_euler_part *p = &a->parts[group];
    const bool is_gpu = eg_device_get_info(a->space->device)->is_gpu;
    const bool two = a->scheme.face_points == 2;
    const eg_define defines[] = {
        {"M", a->degree + 1},
        {"RECONSTRUCTION", a->scheme.order},
        {"FACE_POINTS", a->scheme.face_points},
        {"LIMITED", a->scheme.limited},
        {"CARTESIAN", p->cartesian},
        {"FLUX", a->flux},
        {"BOUNDARIES", p->outer},
        {"LOW_STORAGE", a->low_storage},
        {"PIECES", !is_gpu && !two}, /* slopes of neighbours are found one by one */
    };
    const eg_kernel_options options = {
        .rows_per_block = a->degree + 1, .defines = defines, .define_count = EG_COUNT(defines)};
    eg_status status = EG_OK;
    EG_TRY(eg_euler_make_kernel(a, group, boundaries, "cells", options, &p->stage));
    if (two) EG_TRY(eg_euler_make_kernel(a, group, boundaries, "slopes", options, &p->slopes));
done:
    return status;
}

eg_status eg_euler_launch_cells(eg_euler *a, int group, int64_t from, int64_t to,
                                const eg_euler_work *w)
{
    const eg_euler_part *p = &a->parts[group];
    const eg_field *slopes =
        a->slopes ? a->slopes : w->current; /* which is then not read as such */
    eg_argument list[EG_EULER_ARGUMENTS_MAX];
    size_t n = eg_euler_stage_arguments(a, group, w, list);
    list[n++] = EG_BUFFER("slopes", slopes->data);
    list[n++] = EG_BUFFER("slope_layout", slopes->layout);
    list[n++] = EG_BUFFER("kinds", p->kinds);
    list[n++] = EG_BUFFER("runs", p->runs);
    list[n++] = EG_INTEGER("slopes_begin", (int64_t)slopes->offset[group]);
    list[n++] = EG_REAL("wl", eg_euler_rate_weight(w->stage));
    return eg_launch_tiles(p->stage, from, to - from, list, n);
}

eg_status eg_euler_find_slopes(eg_euler *a, bool interior, double time, const eg_field *current)
{
    eg_status status = EG_OK;
    for (int i = 0; i < a->space->group_count; i++) {
        const eg_group *g = &a->space->groups[i];
        const eg_euler_part *p = &a->parts[i];
        const int64_t from = interior ? 0 : g->interior_tiles;
        const int64_t to = interior ? g->interior_tiles : g->own_tiles;
        const eg_argument arguments[] = {
            EG_BUFFER("u", current->data),
            EG_BUFFER("layout", current->layout),
            EG_BUFFER("block_groups", a->space->block_groups),
            EG_BUFFER("neighbour", g->neighbour),
            EG_BUFFER("neighbour_face", g->neighbour_face),
            EG_BUFFER("kinds", p->kinds),
            EG_BUFFER("runs", p->runs),
            EG_BUFFER("faces", a->faces),
            EG_BUFFER("starts", a->starts),
            EG_BUFFER("nodes", g->nodes),
            EG_INTEGER("begin", (int64_t)current->offset[i]),
            EG_REAL("time", time),
            EG_BUFFER_AT("out", a->slopes->data, a->slopes->offset[i]),
        };
        if (from == to) continue;
        EG_TRY(eg_launch_tiles(p->slopes, from, to - from, arguments, EG_COUNT(arguments)));
    }
done:
    return status;
}
