/* The operator of model `advection`: which kernel serves a group, what it needs, its launches.
 *
 * Groups of affine elements with a velocity that does not vary in space, and no source, use `modal`
 * (modal.k.c), all others `points` (points.k.c). Interior tiles run while the halo of `current` is under way. */
#include "model/advection/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- tables --------------------------------------------------------------------------------------- */

eg_status eg_advection_upload(const eg_space *space, eg_type type, size_t count, const void *values,
                              eg_buffer **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(space->device, type, count, out));
    EG_TRY(eg_buffer_upload(*out, 0, count, values));
done:
    return status;
}

/* Points of a line, then weight * p_j at each of them, [points][side]. */
static eg_status make_rule(eg_advection *a, int group, int points)
{
    const int side = a->space->groups[group].degree + 1;
    double x[EG_DEGREE_MAX_QUAD + 4], w[EG_DEGREE_MAX_QUAD + 4];
    double table[(EG_DEGREE_MAX_QUAD + 4) * (EG_DEGREE_MAX_QUAD + 2)];
    eg_status status = EG_OK;
    EG_TRY(eg_gauss_legendre(a->space->ctx, points, x, w));
    for (int q = 0; q < points; q++) {
        table[q] = x[q];
        for (int j = 0; j < side; j++)
            table[points + q * side + j] = w[q] * eg_jacobi(j, 0, 0, x[q]);
    }
    EG_TRY(eg_advection_upload(a->space, EG_F64, (size_t)(points * (side + 1)), table,
                               &a->parts[group].rule));
done:
    return status;
}

/* Points a side for elements with so many modes: exact for b u on parallelograms, with a velocity
 * that is linear there; on other straight elements for a constant velocity. */
static int point_count(int side)
{
    return side + 1;
}

/* What `points` needs beside: the Gauss points, operators between them and the modes, and the rules of
 * faces, one for each degree from the own to the highest of a neighbour. */
static eg_status make_points(eg_advection *a, int group)
{
    eg_context *ctx = a->space->ctx;
    eg_device *device = a->space->device;
    eg_advection_part *p = &a->parts[group];
    const int m = a->space->groups[group].degree + 1, n = point_count(m);
    enum { MOST = EG_DEGREE_MAX_QUAD + 2 };
    double x[MOST], w[MOST], interp[MOST * MOST], test[MOST * MOST], slopes[MOST * MOST];
    double *rules = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_gauss_legendre(ctx, n, x, w));
    for (int q = 0; q < n; q++)
        for (int i = 0; i < m; i++) {
            interp[q * m + i] = eg_jacobi(i, 0, 0, x[q]);
            test[i * n + q] = w[q] * interp[q * m + i];
            slopes[i * n + q] = w[q] * eg_jacobi_derivative(i, 0, 0, x[q]);
        }
    EG_TRY(eg_advection_upload(a->space, EG_F64, (size_t)n, x, &p->points_of));
    EG_TRY(eg_operator_create(device, EG_F64, n, m, interp, &p->interp));
    EG_TRY(eg_operator_create(device, EG_F64, m, n, test, &p->test));
    EG_TRY(eg_operator_create(device, EG_F64, m, n, slopes, &p->slopes));
    p->points = n;
    p->face_points = point_count(p->most);
    const size_t row = (size_t)(2 + p->most), rule = (size_t)p->face_points * row;
    EG_TRY(eg_new(ctx, (size_t)(p->most - m + 1) * rule, &rules));
    for (int higher = m; higher <= p->most; higher++) {
        EG_TRY(eg_gauss_legendre(ctx, point_count(higher), x, w));
        for (int q = 0; q < point_count(higher); q++) {
            double *at = rules + (size_t)(higher - m) * rule + (size_t)q * row;
            at[0] = x[q];
            at[1] = w[q];
            for (int j = 0; j < p->most; j++)
                at[2 + j] = eg_jacobi(j, 0, 0, x[q]);
        }
    }
    EG_TRY(eg_advection_upload(a->space, EG_F64, (size_t)(p->most - m + 1) * rule, rules,
                               &p->face_rules));
done:
    eg_release(ctx, &rules);
    return status;
}

/* --- sizes ---------------------------------------------------------------------------------------- */

/* Whether the velocity depends on one of the variables [first, last]. */
static bool velocity_uses(const eg_advection_options *options, int dim, int first, int last)
{
    for (int d = 0; d < dim; d++)
        for (int i = first; i <= last; i++)
            if (eg_expression_uses(options->velocity[d], i)) return true;
    return false;
}

static bool source_given(const eg_advection_options *options)
{
    for (int c = 0; options->source && c < options->components; c++)
        if (options->source[c]) return true;
    return false;
}

/* Rows of K_SHARED memory of the two kernels, neighbours being of the same degree. */
static int64_t shared_rows(int dim, int side, bool modal)
{
    const int64_t m = side, q = point_count(side), lines = dim == 3 ? m * m : m;
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
        !velocity_uses(options, mesh->dim, EG_VARIABLE_X, EG_VARIABLE_Z) && !source_given(options);
    int lanes = info->lanes;
    if (!info->is_gpu) return 0;
    for (int32_t e = 0; e < mesh->element_count && modal; e++)
        modal = eg_mesh_is_affine(mesh, e);
    const uint64_t rows = (uint64_t)shared_rows(mesh->dim, degree + 1, modal);
    /* Rows have 4 values more on a GPU. */
    while (lanes > 4 && rows * (uint64_t)(lanes + 4) * sizeof(double) > info->shared_bytes)
        lanes /= 2;
    return lanes;
}

/* --- kernels ---------------------------------------------------------------------------------------- */

/* Adds a function NAME(x, y, z, t). */
static eg_status emit(const eg_expression *expression, const char *name, eg_text *source)
{
    static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    return eg_expression_emit(expression, name, arguments, EG_COUNT(arguments), source);
}

/* What flows in at boundary b, tracer c: a chain of choices, 0 where nothing is given. */
static eg_status write_boundary(const eg_advection *a, const eg_advection_options *options,
                                eg_text *source)
{
    const int count = a->space->mesh->boundary_count;
    eg_status status = EG_OK;
    for (int i = 0; i < count * a->components; i++) {
        char name[32];
        snprintf(name, sizeof name, "inflow_%d", i);
        if (options->boundary && options->boundary[i])
            EG_TRY(emit(options->boundary[i], name, source));
    }
    EG_TRY(eg_text_puts(source, "#define BOUNDARY_VALUE(b, c, x, y, z, t) ("));
    for (int i = 0; i < count * a->components; i++)
        if (options->boundary && options->boundary[i])
            EG_TRY(eg_text_printf(
                source, "(b) * %d + (c) == %d ? inflow_%d(x, y, z, t) : ", a->components, i, i));
    EG_TRY(eg_text_puts(source, "K_R(0))\n"));
done:
    return status;
}

/* The velocity's components and the tracers' sources. */
static eg_status write_volume(const eg_advection *a, const eg_advection_options *options,
                              eg_text *source)
{
    eg_status status = EG_OK;
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "velocity_%d", i);
        if (i < a->dim) EG_TRY(emit(options->velocity[i], name, source));
        EG_TRY(eg_text_printf(source, "#define VELOCITY_%d(x, y, z, t) ", i));
        EG_TRY(i < a->dim ? eg_text_printf(source, "%s(x, y, z, t)\n", name)
                          : eg_text_puts(source, "K_R(0)\n"));
    }
    for (int c = 0; a->has_source && c < a->components; c++) {
        char name[32];
        snprintf(name, sizeof name, "source_%d", c);
        if (options->source[c]) EG_TRY(emit(options->source[c], name, source));
    }
    EG_TRY(eg_text_puts(source, "#define SOURCE(c, x, y, z, t) ("));
    for (int c = 0; a->has_source && c < a->components; c++)
        if (options->source[c])
            EG_TRY(eg_text_printf(source, "(c) == %d ? source_%d(x, y, z, t) : ", c, c));
    EG_TRY(eg_text_puts(source, "K_R(0))\n"));
done:
    return status;
}

/* The kernel of a group, behind the functions of the case. */
static eg_status compile(eg_advection *a, int group, const char *functions)
{
    eg_status status = EG_OK;
    const eg_group *g = &a->space->groups[group];
    eg_advection_part *p = &a->parts[group];
    const int side = g->degree + 1, lines = a->dim == 3 ? side * side : side;
    const char *entry = p->modal ? "modal" : "points";
    eg_text source = eg_text_new(a->space->ctx);
    const eg_define defines[] = {{"DIM", a->dim},
                                 {"M", side},
                                 {"LINES", lines},
                                 {"NP", lines * side},
                                 {"FACES", 2 * a->dim},
                                 {"FACTORS", 1 + a->dim * a->dim},
                                 {"CORNERS", 1 << a->dim},
                                 {"COMPONENTS", a->components},
                                 {"POINTS", side + 1},
                                 {"MOST", p->most},
                                 {"UNIFORM", p->uniform},
                                 {"CURVED", g->curved},
                                 {"Q", p->points},
                                 {"FACE_Q", p->face_points},
                                 {"SOURCES", a->has_source},
                                 {"BOUNDARIES", (p->kinds_present & KIND_OUTER) != 0},
                                 {"LOW_STORAGE", a->low_storage}};
    EG_TRY(eg_text_printf(&source, "%s#include \"model/advection/%s.k.c\"\n", functions, entry));
    EG_TRY(eg_kernel_create(a->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "advection",
                                                 .text = eg_text_string(&source),
                                                 .entry = entry,
                                                 .real = EG_F64,
                                                 .lanes = g->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            &p->kernel));
done:
    eg_text_free(&source);
    return status;
}

eg_status eg_advection_create(eg_space *space, const eg_advection_options *options,
                              eg_advection **out)
{
    eg_context *ctx = space->ctx;
    eg_advection *a = NULL;
    eg_text functions = eg_text_new(ctx);
    int turns[EG_MAX_FACES * EG_FACE_BYTES];
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &a));
    *a = (eg_advection){.space = space,
                        .dim = space->mesh->dim,
                        .components = options->components,
                        .low_storage = options->low_storage};
    memcpy(a->velocity, options->velocity, sizeof a->velocity);
    a->varies = velocity_uses(options, a->dim, EG_VARIABLE_X, EG_VARIABLE_Z);
    a->changes = velocity_uses(options, a->dim, EG_VARIABLE_T, EG_VARIABLE_T);
    a->has_source = source_given(options);
    EG_TRY(eg_new(ctx, (size_t)space->group_count, &a->parts));
    EG_TRY(eg_advection_share_tables(a, turns));
    EG_TRY(write_boundary(a, options, &functions));
    EG_TRY(write_volume(a, options, &functions));
    for (int g = 0; g < space->group_count; g++) {
        EG_TRY(eg_advection_classify(a, g, turns));
        eg_advection_part *p = &a->parts[g];
        p->modal = !space->groups[g].curved && !a->varies && !a->has_source;
        if (p->modal) {
            EG_TRY(make_rule(a, g, space->groups[g].degree + 2));
            eg_advection_find_uniform(a, g);
        } else {
            EG_TRY(make_points(a, g));
        }
        EG_TRY(compile(a, g, eg_text_string(&functions)));
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
        eg_operator_destroy(&p->slopes);
        eg_operator_destroy(&p->test);
        eg_operator_destroy(&p->interp);
        eg_buffer_destroy(&p->face_rules);
        eg_buffer_destroy(&p->points_of);
        eg_buffer_destroy(&p->rule);
        eg_buffer_destroy(&p->kinds);
        eg_kernel_destroy(&p->kernel);
    }
    eg_buffer_destroy(&a->no_register);
    eg_buffer_destroy(&a->legendre);
    eg_buffer_destroy(&a->sides);
    eg_buffer_destroy(&a->turns);
    eg_buffer_destroy(&a->faces);
    eg_release(ctx, &a->parts);
    eg_release(ctx, handle);
}

/* --- stages ------------------------------------------------------------------------------------------- */

/* Tiles [from, to) of a group. */
static eg_status launch(eg_advection *a, int group, int64_t from, int64_t to, const eg_stage *stage,
                        const eg_field *first, const eg_field *current, eg_field *k, eg_field *out)
{
    const eg_group *g = &a->space->groups[group];
    const eg_advection_part *p = &a->parts[group];
    const size_t begin = current->offset[group];
    const double origin[3] = {0, 0, 0};
    eg_argument arguments[32];
    size_t count = 0;
    if (from == to) return EG_OK;
    arguments[count++] = EG_BUFFER("u", current->data);
    arguments[count++] = EG_BUFFER("layout", current->layout);
    arguments[count++] = EG_BUFFER("block_groups", a->space->block_groups);
    arguments[count++] = EG_BUFFER("sides", a->sides);
    arguments[count++] = EG_BUFFER("neighbour", g->neighbour);
    arguments[count++] = EG_BUFFER("neighbour_face", g->neighbour_face);
    arguments[count++] = EG_BUFFER("faces", a->faces);
    arguments[count++] = EG_BUFFER("turns", a->turns);
    arguments[count++] = EG_BUFFER("nodes", g->nodes);
    arguments[count++] = EG_BUFFER("legendre", a->legendre);
    arguments[count++] = EG_INTEGER("begin", (int64_t)begin);
    arguments[count++] = EG_REAL("time", stage->time);
    arguments[count++] = EG_REAL("wf", stage->low_storage ? stage->A : stage->a);
    arguments[count++] = EG_REAL("wc", stage->low_storage ? stage->B : stage->b);
    arguments[count++] = EG_REAL("wl", stage->low_storage ? stage->dt : stage->c * stage->dt);
    arguments[count++] =
        EG_BUFFER_AT("first", stage->low_storage ? current->data : first->data, begin);
    arguments[count++] =
        stage->low_storage ? EG_BUFFER_AT("k", k->data, begin) : EG_BUFFER("k", a->no_register);
    arguments[count++] = EG_BUFFER_AT("out", out->data, begin);
    if (p->modal) {
        double b[3], v[3] = {0};
        eg_advection_velocity(a, origin, stage->time, b);
        for (int d = 0; d < a->dim; d++)
            for (int e = 0; e < a->dim; e++)
                v[d] += p->uniform ? p->factors[d][e] * b[e] : d == e ? b[e] : 0;
        arguments[count++] = EG_BUFFER("kinds", p->kinds);
        arguments[count++] = EG_BUFFER("factors", g->volume_factors);
        arguments[count++] = EG_BUFFER("rule", p->rule);
        arguments[count++] = EG_INTEGER("first_slot", g->first_slot);
        arguments[count++] = EG_REAL("v0", v[0]);
        arguments[count++] = EG_REAL("v1", v[1]);
        arguments[count++] = EG_REAL("v2", v[2]);
    } else {
        arguments[count++] = EG_BUFFER("points_of", p->points_of);
        arguments[count++] = EG_BUFFER("face_rules", p->face_rules);
        arguments[count++] = EG_OPERATOR("interp", p->interp);
        arguments[count++] = EG_OPERATOR("test", p->test);
        arguments[count++] = EG_OPERATOR("slopes", p->slopes);
    }
    return eg_launch_tiles(p->kernel, from, to - from, arguments, count);
}

eg_status eg_advection_stage(eg_advection *a, const eg_stage *stage, const eg_field *first,
                             eg_field *current, eg_field *k, eg_field *out)
{
    const eg_group *groups = a->space->groups;
    eg_status status = EG_OK;
    if (stage->low_storage != a->low_storage)
        return eg_fail(a->space->ctx, EG_ERROR_ARGUMENT,
                       "a stage of another kind of scheme than the operator was made for");
    EG_TRY(eg_halo_start(a->halo, current));
    for (int g = 0; g < a->space->group_count; g++)
        EG_TRY(launch(a, g, 0, groups[g].interior_tiles, stage, first, current, k, out));
    EG_TRY(eg_halo_wait(a->halo, current));
    for (int g = 0; g < a->space->group_count; g++)
        EG_TRY(launch(a, g, groups[g].interior_tiles, groups[g].own_tiles, stage, first, current, k,
                      out));
done:
    return status;
}
