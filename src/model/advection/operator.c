/* The operator of model `advection`: which kernel serves a group, what it needs, its launches.
 *
 * Groups of affine elements with a velocity that does not vary in space, and no source, use `modal`
 * (modal.k.c), all others `points` (points.k.c). Interior tiles run while the halo of `current` is under way. */
#include "model/advection/limiter.h"
#include "model/advection/parts.h"

#include <math.h>
#include <string.h>

/* --- tables --------------------------------------------------------------------------------------- */

/* Elements with so many modes are swept by a CPU (sweep.k.c): their code is unrolled. */
#define SWEEP_MOST 36

/* --- sizes ---------------------------------------------------------------------------------------- */

static bool velocity_varies(const eg_advection_options *options, int dim)
{
    for (int d = 0; d < dim; d++)
        if (eg_expression_varies(options->velocity[d])) return true;
    return false;
}

static bool source_given(const eg_advection_options *options)
{
    for (int c = 0; options->source && c < options->components; c++)
        if (options->source[c]) return true;
    return false;
}

static eg_advection_quadrature quadrature_of(const eg_advection_options *options)
{
    return options->quadrature ? *options->quadrature : eg_advection_default_quadrature(false);
}

/* Rows of K_SHARED memory of the two kernels, of 8 bytes a value, for the highest degree: elements of lower
 * degrees need less, whatever their neighbours have. */
static int64_t shared_rows(int dim, int side, int extra, bool modal)
{
    const int64_t m = side, q = side + extra, lines = dim == 3 ? m * m : m;
    const int64_t face_places = dim == 3 ? q * q : q, places = face_places * q;
    if (modal) return dim * (6 + lines) + 2 * lines * m;
    const int64_t products = q * lines + (dim == 3 ? q * q * m : 1) + (dim + 2) * places;
    return 2 * dim * (5 + 2 * lines + face_places) + 2 * lines * m + products;
}

int eg_advection_lanes(const eg_device *device, const eg_mesh *mesh,
                       const eg_advection_options *options, int degree)
{
    const eg_device_info *info = eg_device_get_info(device);
    bool modal =
        !options->quadrature && !velocity_varies(options, mesh->dim) && !source_given(options);
    const int extra = quadrature_of(options).extra;
    if (!info->is_gpu) return info->lanes > 8 ? info->lanes / 2 : 4; /* of one register */
    for (int32_t e = 0; e < mesh->element_count && modal; e++)
        modal = eg_mesh_is_affine(mesh, e);
    const int64_t own = shared_rows(mesh->dim, degree + 1, extra, modal);
    const int64_t limiter = eg_advection_limiter_rows(mesh->dim, degree + 1, extra, modal);
    return eg_device_fit_lanes(device, own > limiter ? own : limiter);
}

/* --- creation --------------------------------------------------------------------------------------- */

/* Has the kernel of a group serve groups of the same degree in other spaces, where neighbours differ by
 * one. */
static void widen(eg_advection_part *p, const eg_space *space, int group, int degree_most)
{
    const int degree = space->groups[group].degree;
    const int side = (degree < degree_most ? degree + 1 : degree) + 1;
    if (p->most < side) p->most = side;
    p->kinds_present |= KIND_MIXED;
    if (space->mesh->boundary_count > 0) p->kinds_present |= KIND_OUTER;
}

eg_status eg_advection_create(eg_space *space, const eg_advection_options *options,
                              eg_advection **out)
{
    eg_context *ctx = space->ctx;
    eg_advection *a = NULL;
    eg_text functions = eg_text_new(ctx);
    int turns[EG_MAX_FACES * EG_FACE_BYTES];
    /* Whether threads take tiles one after another. */
    const bool in_order = !strcmp(eg_device_get_info(space->device)->backend, "cpu");
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &a));
    *a = (eg_advection){.space = space,
                        .dim = space->mesh->dim,
                        .components = options->components,
                        .quadrature = quadrature_of(options),
                        .low_storage = options->low_storage,
                        .one_stage = options->one_stage};
    memcpy(a->velocity, options->velocity, sizeof a->velocity);
    a->varies = velocity_varies(options, a->dim);
    for (int d = 0; d < a->dim; d++)
        a->changes = a->changes || eg_expression_uses(a->velocity[d], EG_VARIABLE_T);
    a->has_source = source_given(options);
    if (a->quadrature.extra < eg_advection_least_extra(a->quadrature.lobatto) ||
        a->quadrature.extra > EG_ADVECTION_EXTRA_MOST)
        EG_TRY(eg_fail(ctx, EG_ERROR_ARGUMENT, "a quadrature with N + 1 + %d points a side",
                       a->quadrature.extra));
    EG_TRY(eg_new(ctx, (size_t)space->group_count, &a->parts));
    EG_TRY(eg_advection_share_tables(a, turns));
    EG_TRY(eg_advection_write_functions(a, options, &functions));
    for (int g = 0; g < space->group_count; g++) {
        eg_advection_part *p = &a->parts[g];
        p->modal = !space->groups[g].curved && !a->varies && !a->has_source && !options->quadrature;
        if (p->modal) eg_advection_find_uniform(a, g);
        p->sweep =
            p->modal && p->parallel && in_order && space->groups[g].element->np <= SWEEP_MOST;
        EG_TRY(p->sweep ? eg_advection_find_runs(a, g, turns) : eg_advection_classify(a, g, turns));
        if (options->degree_most) widen(p, space, g, options->degree_most);
        EG_TRY(p->modal ? eg_advection_make_rule(a, g) : eg_advection_make_points(a, g));
        EG_TRY(eg_advection_compile(a, g, eg_text_string(&functions)));
    }
    EG_TRY(eg_halo_create(space, a->components, EG_F64, EG_HALO_ELEMENTS, &a->halo));
    *out = a;
    a = NULL;
done:
    eg_text_free(&functions);
    eg_advection_destroy(&a);
    return status;
}

void eg_advection_destroy(eg_advection **handle)
{
    eg_advection *a = *handle;
    if (!a) return;
    eg_context *ctx = a->space->ctx;
    eg_halo_destroy(&a->halo);
    for (int g = 0; a->parts && g < a->space->group_count; g++) {
        eg_advection_part *p = &a->parts[g];
        eg_kernel_destroy(&p->speeds);
        eg_operator_destroy(&p->slopes);
        eg_operator_destroy(&p->test);
        eg_operator_destroy(&p->interp);
        eg_buffer_destroy(&p->face_rules);
        eg_buffer_destroy(&p->points_of);
        eg_buffer_destroy(&p->rule);
        eg_buffer_destroy(&p->runs);
        eg_buffer_destroy(&p->kinds);
        eg_buffer_destroy(&p->mixed);
        eg_kernel_destroy(&p->gathers);
        eg_kernel_destroy(&p->kernel);
    }
    eg_rates_destroy(&a->rates);
    eg_buffer_destroy(&a->no_register);
    eg_buffer_destroy(&a->legendre);
    eg_buffer_destroy(&a->sides);
    eg_buffer_destroy(&a->turns);
    eg_buffer_destroy(&a->faces);
    eg_release(ctx, &a->parts);
    eg_release(ctx, handle);
}

/* --- stages ------------------------------------------------------------------------------------------- */

/* Tiles [from, to) of a group; with `gathers` of the list of mixed ones. */
static eg_status launch(eg_advection *a, int group, bool gathers, int64_t from, int64_t to,
                        const eg_stage *stage, const eg_field *first, const eg_field *current,
                        eg_field *k, eg_field *out)
{
    const eg_group *g = &a->space->groups[group];
    const eg_advection_part *p = &a->parts[group];
    const size_t begin = current->offset[group];
    const double origin[3] = {0, 0, 0};
    const double wl = stage->low_storage ? stage->dt : stage->c * stage->dt;
    eg_argument arguments[32];
    size_t count = 0;
    if (from == to) return EG_OK;
    /* In the order of the kernels, where they are found at once. */
    arguments[count++] = EG_BUFFER("u", current->data);
    arguments[count++] = EG_BUFFER("layout", current->layout);
    arguments[count++] = EG_BUFFER("block_groups", a->space->block_groups);
    arguments[count++] = EG_BUFFER("sides", a->sides);
    arguments[count++] = EG_BUFFER("neighbour", g->neighbour);
    arguments[count++] = EG_BUFFER("neighbour_face", g->neighbour_face);
    if (p->modal && !p->sweep) arguments[count++] = EG_BUFFER("kinds", p->kinds);
    if (p->modal) arguments[count++] = EG_BUFFER("runs", p->runs);
    if (p->modal && !p->sweep) arguments[count++] = EG_BUFFER("list", p->mixed);
    arguments[count++] = EG_BUFFER("faces", a->faces);
    arguments[count++] = EG_BUFFER("turns", a->turns);
    if (p->modal) arguments[count++] = EG_BUFFER("factors", g->volume_factors);
    arguments[count++] = EG_BUFFER("nodes", g->nodes);
    arguments[count++] = EG_BUFFER("legendre", a->legendre);
    if (p->modal) arguments[count++] = EG_BUFFER("rule", p->rule);
    arguments[count++] = EG_INTEGER("begin", (int64_t)begin);
    if (p->sweep) {
        arguments[count++] = EG_INTEGER("stride", g->own_tiles);
        arguments[count++] = EG_INTEGER("group", group);
        arguments[count++] = EG_INTEGER("ring", p->ring);
    }
    if (p->modal) {
        double b[3], speed[3] = {0};
        int backwards = 0;
        eg_advection_velocity(a, origin, stage->time, b);
        for (int d = 0; d < a->dim; d++) {
            for (int e = 0; e < a->dim; e++)
                speed[d] += p->factors[d][e] * b[e];
            if (speed[d] < 0) backwards |= 1 << d;
        }
        const double *v = p->uniform ? speed : b;
        arguments[count++] = EG_INTEGER("backwards", backwards);
        arguments[count++] = EG_REAL("v0", wl * v[0]);
        arguments[count++] = EG_REAL("v1", wl * v[1]);
        arguments[count++] = EG_REAL("v2", wl * v[2]);
    } else {
        arguments[count++] = EG_REAL("wl", wl);
        arguments[count++] = EG_BUFFER("points_of", p->points_of);
        arguments[count++] = EG_BUFFER("face_rules", p->face_rules);
        arguments[count++] = EG_OPERATOR("interp", p->interp);
        arguments[count++] = EG_OPERATOR("test", p->test);
        arguments[count++] = EG_OPERATOR("slopes", p->slopes);
    }
    arguments[count++] = EG_REAL("time", stage->time);
    arguments[count++] = EG_REAL("wf", stage->low_storage ? stage->A : stage->a);
    arguments[count++] = EG_REAL("wc", stage->low_storage ? stage->B : stage->b);
    arguments[count++] =
        EG_BUFFER_AT("first", stage->low_storage ? current->data : first->data, begin);
    arguments[count++] =
        stage->low_storage ? EG_BUFFER_AT("k", k->data, begin) : EG_BUFFER("k", a->no_register);
    arguments[count++] = EG_BUFFER_AT("out", out->data, begin);
    return eg_launch_tiles(gathers ? p->gathers : p->kernel, from, to - from, arguments, count);
}

/* The interior tiles of all groups, or the others. */
static eg_status launch_all(eg_advection *a, bool interior, const eg_stage *stage,
                            const eg_field *first, const eg_field *current, eg_field *k,
                            eg_field *out)
{
    eg_status status = EG_OK;
    for (int i = 0; i < a->space->group_count; i++) {
        const eg_group *g = &a->space->groups[i];
        const eg_advection_part *p = &a->parts[i];
        const int64_t from = interior ? 0 : g->interior_tiles;
        const int64_t to = interior ? g->interior_tiles : g->own_tiles;
        const int64_t mixed_from = interior ? 0 : p->mixed_interior;
        const int64_t mixed_to = interior ? p->mixed_interior : p->mixed_tiles;
        const bool apart = p->modal && !p->sweep;
        if (!apart || mixed_to - mixed_from < to - from)
            EG_TRY(launch(a, i, false, from, to, stage, first, current, k, out));
        if (apart) EG_TRY(launch(a, i, true, mixed_from, mixed_to, stage, first, current, k, out));
    }
done:
    return status;
}

eg_status eg_advection_stage(eg_advection *a, const eg_stage *stage, const eg_field *first,
                             eg_field *current, eg_field *k, eg_field *out)
{
    eg_status status = EG_OK;
    if (stage->low_storage != a->low_storage)
        return eg_fail(a->space->ctx, EG_ERROR_ARGUMENT,
                       "a stage of another kind of scheme than the operator was made for");
    EG_TRY(eg_halo_start(a->halo, current));
    EG_TRY(launch_all(a, true, stage, first, current, k, out));
    EG_TRY(eg_halo_wait(a->halo, current));
    EG_TRY(launch_all(a, false, stage, first, current, k, out));
done:
    return status;
}
