/* The operator of model `euler`: what its kernels need, and their launches. Interior tiles run
 * while the halo of `current` is under way. */
#include "model/euler/parts.h"

#include <math.h>
#include <string.h>

int eg_euler_lanes(const eg_device *device, int degree)
{
    return eg_device_fit_lanes(device, EG_EULER_COMPONENTS * (degree + 1) * (degree + 1) + 10);
}

/* --- creation --------------------------------------------------------------------------------- */

/* Room for traces and rates. */
static eg_status make_buffers(eg_euler *a)
{
    const eg_space *space = a->space;
    const size_t slots = (size_t)space->slot_count;
    const size_t traces =
        a->traced ? slots * 4 * EG_EULER_COMPONENTS * (size_t)(a->degree + 1) : EG_SLOT_BLOCK;
    const double nothing = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(space->device, EG_F64, traces, &a->traces));
    EG_TRY(eg_buffer_create(space->device, EG_F64, traces, &a->next_traces));
    EG_TRY(eg_buffer_fill(a->traces, 0, traces, &nothing));
    EG_TRY(eg_buffer_fill(a->next_traces, 0, traces, &nothing));
    EG_TRY(eg_buffer_create(space->device, EG_F64, EG_SLOT_BLOCK, &a->no_register));
    EG_TRY(eg_rates_create(space, &a->rates));
    EG_TRY(eg_euler_create_totals(a));
done:
    return status;
}

/* The matrices of the scheme; finite volumes have none. */
static eg_status make_table(eg_euler *a)
{
    double table[EG_EULER_TABLE_MAX];
    int count = 0;
    eg_status status = EG_OK;
    if (a->scheme.method == EG_EULER_FV) return EG_OK;
    EG_TRY(eg_euler_make_table(a->scheme, a->line, table, &count));
    EG_TRY(eg_space_upload(a->space, EG_F64, (size_t)count, table, &a->table));
done:
    return status;
}

/* What is this rank's own affair. */
static eg_status create_own(eg_euler *a, const eg_euler_options *options)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->space->ctx, (size_t)a->space->group_count + 1, &a->parts));
    EG_TRY(eg_element_create(a->space->ctx, EG_SHAPE_LINE, a->degree, eg_euler_basis(a->scheme),
                             &a->line));
    EG_TRY(make_table(a));
    EG_TRY(eg_euler_share_tables(a));
    EG_TRY(eg_euler_blend_create(a, options));
    for (int g = 0; g < a->space->group_count; g++) {
        EG_TRY(eg_euler_classify(a, g));
        EG_TRY(eg_euler_find_rows(a, g, options));
    }
    EG_TRY(make_buffers(a));
    EG_TRY(eg_euler_plan_wave(a, options));
    for (int g = 0; g < a->space->group_count; g++)
        EG_TRY(eg_euler_compile(a, g, options));
done:
    return status;
}

eg_status eg_euler_create(eg_space *space, const eg_euler_options *options, eg_euler **out)
{
    eg_context *ctx = space->ctx;
    eg_euler *a = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, ctx, 1, &a));
    *a = (eg_euler){.space = space,
                    .scheme = options->scheme,
                    .flux = options->flux,
                    .degree = space->group_count > 0 ? space->groups[0].degree : 1,
                    .gamma = options->gamma,
                    .low_storage = options->low_storage,
                    .gauss = eg_euler_basis(options->scheme) == EG_BASIS_GAUSS};
    a->traced = a->gauss;
    EG_TRY(eg_comm_agree(space->comm, create_own(a, options)));
    EG_TRY(eg_halo_create(space, EG_EULER_COMPONENTS, EG_F64,
                          eg_euler_basis(a->scheme) == EG_BASIS_LOBATTO ? EG_HALO_TRACES
                                                                        : EG_HALO_ELEMENTS,
                          &a->halo));
    EG_TRY(eg_euler_limiter_create(a, options));
    if (a->scheme.method == EG_EULER_FV) EG_TRY(eg_euler_create_cells(a));
    *out = a;
    a = NULL;
done:
    eg_euler_destroy(&a);
    return status;
}

void eg_euler_destroy(eg_euler **handle)
{
    eg_euler *a = *handle;
    if (!a) return;
    eg_context *ctx = a->space->ctx;
    eg_euler_limiter_destroy(a);
    eg_halo_destroy(&a->slopes_halo);
    eg_field_destroy(&a->slopes);
    eg_euler_blend_destroy(a);
    eg_euler_wave_destroy(a);
    eg_halo_destroy(&a->halo);
    for (int g = 0; a->parts && g < a->space->group_count; g++) {
        eg_euler_part *p = &a->parts[g];
        eg_buffer_destroy(&p->metric);
        eg_buffer_destroy(&p->nearness);
        eg_buffer_destroy(&p->rows);
        eg_buffer_destroy(&p->runs);
        eg_buffer_destroy(&p->kinds);
        eg_kernel_destroy(&p->indicator);
        eg_kernel_destroy(&p->limit);
        eg_kernel_destroy(&p->means);
        eg_kernel_destroy(&p->slopes);
        eg_kernel_destroy(&p->traces);
        eg_kernel_destroy(&p->totals);
        eg_kernel_destroy(&p->speeds);
        eg_kernel_destroy(&p->stage);
    }
    eg_euler_destroy_totals(a);
    eg_rates_destroy(&a->rates);
    eg_buffer_destroy(&a->no_register);
    eg_buffer_destroy(&a->next_traces);
    eg_buffer_destroy(&a->traces);
    eg_buffer_destroy(&a->table);
    eg_buffer_destroy(&a->starts);
    eg_buffer_destroy(&a->faces);
    eg_element_destroy(&a->line);
    eg_release(ctx, &a->parts);
    eg_release(ctx, handle);
}

/* --- stages ----------------------------------------------------------------------------------- */

size_t eg_euler_traces_before(const eg_euler *a, const eg_group *g)
{
    return a->traced ? (size_t)g->first_slot * 4 * EG_EULER_COMPONENTS * (size_t)(a->degree + 1)
                     : 0;
}

double eg_euler_rate_weight(const eg_stage *s)
{
    return s->low_storage ? s->dt : s->c * s->dt;
}

size_t eg_euler_stage_arguments(const eg_euler *a, int group, const eg_euler_work *w,
                                eg_argument out[EG_EULER_ARGUMENTS_MAX])
{
    const eg_group *g = &a->space->groups[group];
    const eg_euler_part *p = &a->parts[group];
    const eg_stage *s = w->stage;
    const size_t begin = w->current->offset[group];
    const double wl = eg_euler_rate_weight(s);
    const eg_argument arguments[] = {
        EG_BUFFER("u", w->current->data),
        EG_BUFFER("layout", w->current->layout),
        EG_BUFFER("block_groups", a->space->block_groups),
        EG_BUFFER("neighbour", g->neighbour),
        EG_BUFFER("neighbour_face", g->neighbour_face),
        EG_BUFFER("faces", a->faces),
        EG_BUFFER("starts", a->starts),
        EG_BUFFER("nodes", g->nodes),
        EG_INTEGER("begin", (int64_t)begin),
        EG_REAL("scale_x", 2 * wl / p->sides[0]),
        EG_REAL("scale_y", 2 * wl / p->sides[1]),
        EG_REAL("time", s->time),
        EG_REAL("wf", s->low_storage ? s->A : s->a),
        EG_REAL("wc", s->low_storage ? s->B : s->b),
        EG_BUFFER_AT("first", s->low_storage ? w->current->data : w->first->data, begin),
        s->low_storage ? EG_BUFFER_AT("k", w->k->data, begin) : EG_BUFFER("k", a->no_register),
        EG_BUFFER_AT("out", w->out->data, begin),
    };
    memcpy(out, arguments, sizeof arguments);
    return EG_COUNT(arguments);
}

/* Tiles [from, to) of a group by stage.k.c. */
static eg_status launch_stage(eg_euler *a, int group, int64_t from, int64_t to,
                              const eg_euler_work *w)
{
    const eg_group *g = &a->space->groups[group];
    const eg_euler_part *p = &a->parts[group];
    eg_argument list[EG_EULER_ARGUMENTS_MAX];
    size_t n = eg_euler_stage_arguments(a, group, w, list);
    list[n++] = EG_BUFFER("traces", a->traces);
    list[n++] = EG_BUFFER("kinds", p->kinds);
    list[n++] = EG_BUFFER("runs", p->runs);
    list[n++] = EG_BUFFER("metric", p->curved ? p->metric : g->nodes);
    list[n++] = EG_BUFFER("table", a->table);
    list[n++] = eg_euler_shares(a, g);
    list[n++] = EG_INTEGER("traces_begin", (int64_t)eg_euler_traces_before(a, g));
    list[n++] = EG_REAL("wl", eg_euler_rate_weight(w->stage));
    list[n++] = EG_BUFFER_AT("next_traces", a->next_traces, eg_euler_traces_before(a, g));
    return eg_launch_tiles(p->stage, from, to - from, list, n);
}

size_t eg_euler_sweep_arguments(const eg_euler *a, int group, const eg_euler_work *w,
                                eg_argument out[EG_EULER_ARGUMENTS_MAX])
{
    const eg_euler_part *p = &a->parts[group];
    size_t n = eg_euler_stage_arguments(a, group, w, out);
    out[n++] = EG_BUFFER("rows", p->rows);
    out[n++] = EG_BUFFER("table", a->table);
    out[n++] = EG_INTEGER("ring", p->ring);
    out[n++] = EG_BUFFER("homes", p->rows); /* nobody reads them but wave.c, which has its own */
    out[n++] = EG_BUFFER("out_homes", p->rows);
    return n;
}

/* … by sweep.k.c. */
static eg_status launch_sweep(eg_euler *a, int group, int64_t from, int64_t to,
                              const eg_euler_work *w)
{
    eg_argument list[EG_EULER_ARGUMENTS_MAX];
    const size_t n = eg_euler_sweep_arguments(a, group, w, list);
    return eg_launch_tiles(a->parts[group].stage, from, to - from, list, n);
}

/* The interior tiles of all groups, or the others. */
static eg_status launch_all(eg_euler *a, bool interior, const eg_euler_work *w)
{
    eg_status status = EG_OK;
    for (int i = 0; i < a->space->group_count; i++) {
        const eg_group *g = &a->space->groups[i];
        const int64_t from = interior ? 0 : g->interior_tiles;
        const int64_t to = interior ? g->interior_tiles : g->own_tiles;
        if (from == to) continue;
        EG_TRY((a->scheme.method == EG_EULER_FV ? eg_euler_launch_cells
                : a->parts[i].sweeps            ? launch_sweep
                                                : launch_stage)(a, i, from, to, w));
    }
done:
    return status;
}

/* Computes the traces of own elements, or of ghosts; not where stages find them. */
static eg_status find_traces(eg_euler *a, bool ghosts, const eg_field *current)
{
    eg_status status = EG_OK;
    for (int i = 0; a->traced && i < a->space->group_count; i++) {
        const eg_group *g = &a->space->groups[i];
        const int64_t from = ghosts ? g->own_tiles : 0, to = ghosts ? g->tiles : g->own_tiles;
        const eg_argument arguments[] = {
            EG_BUFFER_AT("u", current->data, current->offset[i]),
            EG_BUFFER("table", a->table),
            EG_BUFFER_AT("out", a->traces, eg_euler_traces_before(a, g)),
        };
        if (from == to) continue;
        EG_TRY(
            eg_launch_tiles(a->parts[i].traces, from, to - from, arguments, EG_COUNT(arguments)));
    }
done:
    return status;
}

eg_status eg_euler_begin(eg_euler *a, const eg_field *current)
{
    a->rated = NULL;
    return find_traces(a, false, current);
}

eg_status eg_euler_stage(eg_euler *a, const eg_stage *s, const eg_field *first, eg_field *current,
                         eg_field *k, eg_field *out)
{
    const eg_euler_work work = {s, first, current, k, out};
    eg_status status = EG_OK;
    a->rated = NULL;
    if (s->low_storage != a->low_storage || a->wave)
        return eg_fail(a->space->ctx, EG_ERROR_ARGUMENT,
                       "a stage of another kind of scheme than the operator was made for");
    EG_TRY(eg_halo_start(a->halo, current));
    if (a->slopes) {
        EG_TRY(eg_euler_find_slopes(a, true, s->time, current));
        EG_TRY(eg_halo_wait(a->halo, current));
        EG_TRY(eg_euler_find_slopes(a, false, s->time, current));
        EG_TRY(eg_halo_start(a->slopes_halo, a->slopes));
    }
    EG_TRY(eg_euler_find_shares(a, false, current));
    EG_TRY(launch_all(a, true, &work));
    EG_TRY(a->slopes ? eg_halo_wait(a->slopes_halo, a->slopes) : eg_halo_wait(a->halo, current));
    EG_TRY(find_traces(a, true, current));
    if (a->gauss) EG_TRY(eg_euler_find_shares(a, true, current));
    EG_TRY(launch_all(a, false, &work));
    eg_buffer *old = a->traces;
    a->traces = a->next_traces;
    a->next_traces = old;
done:
    return status;
}

bool eg_euler_has_steps(const eg_euler *a)
{
    return a->wave;
}

eg_status eg_euler_step(eg_euler *a, const eg_stage *stages, int count, eg_field *current)
{
    if (!a->wave || count != a->wave->stages || stages[0].low_storage)
        return eg_fail(a->space->ctx, EG_ERROR_ARGUMENT,
                       "a step of another kind than the operator was made for");
    return eg_euler_run_wave(a, stages, current);
}

size_t eg_euler_speed_arguments(const eg_euler *a, int group, const eg_field *current,
                                eg_argument out[EG_EULER_ARGUMENTS_MAX])
{
    const eg_group *g = &a->space->groups[group];
    out[0] = EG_BUFFER_AT("u", current->data, current->offset[group]);
    out[1] = EG_BUFFER("nearness", a->parts[group].nearness);
    out[2] = EG_BUFFER_AT("rate", a->rates->of_slot, (size_t)g->first_slot);
    return 3;
}

/* The largest rate of this rank's elements. */
static eg_status find_fastest(eg_euler *a, const eg_field *current, double *fastest)
{
    const eg_space *space = a->space;
    eg_status status = EG_OK;
    for (int i = 0; a->rated != current && i < space->group_count; i++) {
        eg_argument list[EG_EULER_ARGUMENTS_MAX];
        const size_t n = eg_euler_speed_arguments(a, i, current, list);
        if (space->groups[i].own_tiles > 0)
            EG_TRY(eg_launch_tiles(a->parts[i].speeds, 0, space->groups[i].own_tiles, list, n));
    }
    EG_TRY(eg_rates_find_largest(a->rates, fastest));
done:
    return status;
}

eg_status eg_euler_stable_dt(eg_euler *a, const eg_field *current, double *dt)
{
    eg_status status = EG_OK;
    double fastest = 0;
    EG_TRY(find_fastest(a, current, &fastest));
    EG_TRY(eg_comm_max(a->space->comm, 1, &fastest));
    *dt = 1 / fastest;
done:
    return status;
}
