/* Norms and integrals of fields, and of their difference from a function, by quadrature on the
 * device.
 *
 * Each element's integrals are computed on their own, in an order of points that never changes, and
 * added up by a reduction of fixed order, then over the ranks: the same bits on every run, and only
 * the order of that last sum depends on how elements are distributed. Values at points are f64 also
 * for fields of f32. A NaN anywhere makes all norms of its component NaN. */
#include "field/function.h"

#include <math.h>

/* The least that the cubature's degree is above that of the square of a field: e = f - u is no
 * polynomial. */
#define EXTRA_DEGREE 6

/* What is kept for each element of a component; reduced by `kinds`. */
enum { SUM_1, SUM_2, MOST, NODAL, QUANTITIES };
static const eg_reduction_kind kinds[QUANTITIES] = {EG_REDUCE_SUM, EG_REDUCE_SUM, EG_REDUCE_MAX,
                                                    EG_REDUCE_SUM};

/* Points with the way to them; `nodal` are the nodes, with what serves as their quadrature. */
typedef struct point_set {
    eg_points *points;
    eg_product interpolation;
} point_set;

typedef struct group_measure {
    point_set cubature, nodal;
    int64_t batch;     /* tiles */
    int64_t first_row; /* of its own tiles among those of all groups */
    eg_kernel *norms, *integral;
    eg_kernel *load; /* from f32, made when first needed */
} group_measure;

struct eg_measure {
    eg_space *space; /* not owned */
    int components;
    eg_function *function; /* not owned, or NULL */
    group_measure *groups; /* [group_count] */
    size_t slots;          /* own ones of all groups, padding included */
    eg_buffer **sums;      /* [components][QUANTITIES] of `slots` values */
    eg_buffer *spare;      /* the same, for a sum that nobody needs */
    eg_buffer *x, *exact, *values, *jacobian, *scratch[2]; /* of a batch, at points */
    eg_field *means; /* cells: the function's, to compare means with; NULL elsewhere */
    eg_buffer *u;    /* coefficients of a batch as f64, for fields of f32 */
    size_t u_count;
    eg_buffer *result; /* [QUANTITIES] of one component */
    eg_reducer *norm_reducer, *sum_reducer;
    double *reduced; /* [4 * components] on the host */
};

/* --- points ----------------------------------------------------------------------------------- */

/* The nodes with their own quadrature where that is one with positive weights: on tensor elements
 * with all but equidistant nodes. Else the nodes (if any) with weight 0, and a cubature of degree
 * 2N. */
static eg_status create_nodal_points(const eg_space *space, int group, eg_points **out)
{
    const eg_group *g = &space->groups[group];
    const eg_element *element = g->element;
    eg_cubature *rule = NULL;
    double *r = NULL, *w = NULL;
    eg_status status = EG_OK;

    if (element->basis == EG_BASIS_MODAL)
        return eg_points_create_for_fields(space, group, 2 * g->degree, out);
    if (element->line && element->basis != EG_BASIS_EQUIDISTANT)
        return eg_points_create_tensor(space, group, element->line->np, element->line->r,
                                       element->line->weights, out);
    EG_TRY(eg_cubature_create(space->ctx, g->shape, 2 * g->degree, EG_CUBATURE_BEST, &rule));
    const int count = element->np + rule->count;
    EG_TRY(eg_new(space->ctx, (size_t)(element->dim * count), &r));
    EG_TRY(eg_new(space->ctx, (size_t)count, &w));
    for (int i = 0; i < count; i++) {
        int q = i - element->np;
        w[i] = q < 0 ? 0 : rule->w[q];
        for (int d = 0; d < element->dim; d++)
            r[d * count + i] =
                q < 0 ? element->r[d * element->np + i] : rule->r[d * rule->count + q];
    }
    EG_TRY(eg_points_create(space, group, count, r, w, out));
done:
    eg_release(space->ctx, &w);
    eg_release(space->ctx, &r);
    eg_cubature_destroy(&rule);
    return status;
}

static void free_set(point_set *set)
{
    eg_product_free(&set->interpolation);
    eg_points_destroy(&set->points);
}

/* --- set-up ----------------------------------------------------------------------------------- */

static eg_status create_kernel(const eg_measure *measure, const eg_group *group, const char *entry,
                               eg_kernel **out)
{
    const eg_define defines[] = {{"EXACT", measure->function != NULL}, {"ROWS", EG_KERNEL_ROWS}};
    return eg_kernel_create(measure->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "field/measure.k.c",
                                                 .entry = entry,
                                                 .real = EG_F64,
                                                 .lanes = group->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

/* Values of one field at points, and of scratch, that the buffers of a batch must hold. */
typedef struct needs {
    size_t points, scratch;
} needs;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The degree that integrates a field, and its square, exactly with the mapping. */
static int cubature_degree(const eg_group *group)
{
    int more = eg_group_jacobian_degree(group);
    return 2 * group->degree + (more > EXTRA_DEGREE ? more : EXTRA_DEGREE);
}

static eg_status prepare_group(eg_measure *measure, int group, needs *most)
{
    const eg_space *space = measure->space;
    const eg_group *g = &space->groups[group];
    group_measure *m = &measure->groups[group];
    const size_t fields = (size_t)measure->components, dim = (size_t)space->mesh->dim;
    eg_status status = EG_OK;

    EG_TRY(eg_points_create_for_fields(space, group, cubature_degree(g), &m->cubature.points));
    EG_TRY(eg_points_interpolation(m->cubature.points, &m->cubature.interpolation));
    EG_TRY(create_nodal_points(space, group, &m->nodal.points));
    EG_TRY(eg_points_interpolation(m->nodal.points, &m->nodal.interpolation));
    EG_TRY(create_kernel(measure, g, "norms", &m->norms));
    EG_TRY(create_kernel(measure, g, "integral", &m->integral));
    size_t points = larger((size_t)m->cubature.points->count, (size_t)m->nodal.points->count);
    size_t scratch = fields * larger(eg_product_scratch(&m->cubature.interpolation),
                                     eg_product_scratch(&m->nodal.interpolation));
    m->batch = eg_batch_tiles(g, g->own_tiles,
                              (2 * fields + dim + 1) * points + 2 * scratch +
                                  fields * (size_t)g->element->np);
    const size_t lanes = (size_t)(m->batch * g->lanes);
    most->points = larger(most->points, points * lanes);
    most->scratch = larger(most->scratch, scratch * lanes);
    measure->u_count = larger(measure->u_count, fields * (size_t)g->element->np * lanes);
    /* Rows are of this group's lanes: a group may begin only at a multiple of them. */
    const size_t own = (size_t)(g->own_tiles * g->lanes);
    m->first_row = (int64_t)measure->slots / g->lanes;
    measure->slots += (own + EG_SLOT_BLOCK - 1) / EG_SLOT_BLOCK * EG_SLOT_BLOCK;
done:
    return status;
}

static eg_status create_zeros(const eg_measure *measure, size_t count, eg_buffer **out)
{
    const double zero = 0;
    eg_status status = eg_buffer_create(measure->space->device, EG_F64, count, out);
    return status == EG_OK ? eg_buffer_fill(*out, 0, count, &zero) : status;
}

static eg_status create_buffers(eg_measure *measure, const needs *most)
{
    eg_device *device = measure->space->device;
    const size_t components = (size_t)measure->components, dim = (size_t)measure->space->mesh->dim;
    eg_status status = EG_OK;
    EG_TRY(eg_new(measure->space->ctx, components * QUANTITIES, &measure->sums));
    /* Between groups some values are never written. */
    for (size_t i = 0; i < components * QUANTITIES; i++)
        EG_TRY(create_zeros(measure, measure->slots, &measure->sums[i]));
    EG_TRY(create_zeros(measure, measure->slots, &measure->spare));
    EG_TRY(eg_buffer_create(device, EG_F64, dim * most->points, &measure->x));
    EG_TRY(eg_buffer_create(device, EG_F64, components * most->points, &measure->exact));
    EG_TRY(eg_buffer_create(device, EG_F64, components * most->points, &measure->values));
    EG_TRY(eg_buffer_create(device, EG_F64, most->points, &measure->jacobian));
    for (int i = 0; i < 2; i++)
        EG_TRY(eg_buffer_create(device, EG_F64, most->scratch, &measure->scratch[i]));
    EG_TRY(eg_buffer_create(device, EG_F64, QUANTITIES, &measure->result));
    EG_TRY(eg_new(measure->space->ctx, components * QUANTITIES, &measure->reduced));
done:
    return status;
}

/* All that needs no other rank. */
static eg_status create(eg_space *space, int components, eg_function *function, eg_measure **out)
{
    eg_context *ctx = space->ctx;
    eg_measure *measure = NULL;
    needs most = {0};
    eg_status status = EG_OK;

    *out = NULL;
    if (components < 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "a measurement of %d components", components);
    if (function && (function->space != space || function->components != components))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "the function has %d components instead of %d, or lives on another space",
                       function->components, components);
    EG_TRY(eg_new(ctx, 1, &measure));
    measure->space = space;
    measure->components = components;
    measure->function = function;
    EG_TRY(eg_new(ctx, (size_t)space->group_count, &measure->groups));
    for (int group = 0; group < space->group_count; group++)
        EG_TRY(prepare_group(measure, group, &most));
    EG_TRY(create_buffers(measure, &most));
    EG_TRY(eg_reducer_create(space->device, EG_F64, kinds, QUANTITIES, &measure->norm_reducer));
    EG_TRY(eg_reducer_create(space->device, EG_F64, kinds, 1, &measure->sum_reducer));
    *out = measure;
    measure = NULL;
done:
    eg_measure_destroy(&measure);
    return status;
}

eg_status eg_measure_create(eg_space *space, int components, eg_function *function,
                            eg_measure **out)
{
    eg_status status = eg_comm_agree(space->comm, create(space, components, function, out));
    if (status == EG_OK && function && space->basis == EG_BASIS_CELLS)
        status = eg_field_create(space, components, EG_F64, &(*out)->means);
    if (status != EG_OK) eg_measure_destroy(out);
    return status;
}

void eg_measure_destroy(eg_measure **handle)
{
    eg_measure *measure = *handle;
    if (!measure) return;
    eg_context *ctx = measure->space->ctx;
    eg_reducer_destroy(&measure->sum_reducer);
    eg_reducer_destroy(&measure->norm_reducer);
    for (int group = 0; measure->groups && group < measure->space->group_count; group++) {
        group_measure *m = &measure->groups[group];
        eg_kernel_destroy(&m->load);
        eg_kernel_destroy(&m->integral);
        eg_kernel_destroy(&m->norms);
        free_set(&m->nodal);
        free_set(&m->cubature);
    }
    for (int i = 0; measure->sums && i < measure->components * QUANTITIES; i++)
        eg_buffer_destroy(&measure->sums[i]);
    eg_buffer *const buffers[] = {measure->spare,      measure->x,        measure->exact,
                                  measure->values,     measure->jacobian, measure->scratch[0],
                                  measure->scratch[1], measure->u,        measure->result};
    for (size_t i = 0; i < EG_COUNT(buffers); i++)
        eg_buffer_destroy(&(eg_buffer *){buffers[i]});
    eg_field_destroy(&measure->means);
    eg_release(ctx, &measure->reduced);
    eg_release(ctx, &measure->sums);
    eg_release(ctx, &measure->groups);
    eg_release(ctx, handle);
}

/* --- a batch ---------------------------------------------------------------------------------- */

/* Tiles [first, first + tiles) of a group. */
typedef struct batch {
    int group;
    int64_t first, tiles;
    eg_buffer *u;  /* coefficients … */
    int64_t u_row; /* … from this row on */
} batch;

/* Finds the coefficients of a batch as f64. */
static eg_status find_coefficients(eg_measure *measure, const eg_field *field, batch *b)
{
    const eg_space *space = measure->space;
    group_measure *m = &measure->groups[b->group];
    eg_status status = EG_OK;
    b->u = field->data;
    b->u_row = eg_field_row(field, b->group, b->first);
    if (field->type == EG_F64) return EG_OK;
    if (!measure->u) EG_TRY(eg_buffer_create(space->device, EG_F64, measure->u_count, &measure->u));
    if (!m->load)
        EG_TRY(eg_group_copy_kernel(space, &space->groups[b->group], "load", EG_F32, &m->load));
    EG_TRY(eg_field_copy(m->load, field, b->group, b->first, b->tiles, measure->u));
    b->u = measure->u;
    b->u_row = 0;
done:
    return status;
}

/* Where the J of a batch are: at the points, or one for each affine element. */
typedef struct jacobian_place {
    eg_buffer *buffer;
    int64_t first, stride; /* rows */
    int step;
} jacobian_place;

/* Interpolates to the points of a set and finds J there. */
static eg_status go_to_points(const eg_measure *measure, const point_set *set, const batch *b,
                              jacobian_place *j)
{
    const eg_group *g = &measure->space->groups[b->group];
    const int64_t factors = 1 + measure->space->mesh->dim * measure->space->mesh->dim;
    eg_status status = EG_OK;
    EG_TRY(eg_points_multiply(set->points, &set->interpolation, b->tiles * measure->components,
                              b->u, b->u_row, measure->scratch, measure->values));
    *j = (jacobian_place){g->volume_factors, b->first * factors, factors, 0};
    if (g->curved) {
        *j = (jacobian_place){measure->jacobian, 0, set->points->count, 1};
        EG_TRY(eg_points_jacobians(set->points, b->first, b->tiles, measure->jacobian));
    }
done:
    return status;
}

/* Adds the points of a set to what is kept of the elements of a batch. The cubature comes first. */
static eg_status add_norms(eg_measure *measure, double t, const point_set *set, const batch *b)
{
    const eg_group *g = &measure->space->groups[b->group];
    const group_measure *m = &measure->groups[b->group];
    const bool nodal = set == &m->nodal;
    jacobian_place j;
    eg_status status = EG_OK;

    EG_TRY(go_to_points(measure, set, b, &j));
    if (nodal && measure->means) {
        EG_TRY(eg_points_multiply(
            set->points, &set->interpolation, b->tiles * measure->components, measure->means->data,
            eg_field_row(measure->means, b->group, b->first), measure->scratch, measure->exact));
    } else if (measure->function) {
        EG_TRY(eg_points_coordinates(set->points, b->first, b->tiles, measure->x));
        EG_TRY(eg_function_evaluate(measure->function, b->group, t, b->tiles, set->points->count,
                                    measure->x, measure->exact));
    }
    for (int c = 0; c < measure->components; c++) {
        eg_buffer *const *sums = &measure->sums[c * QUANTITIES];
        EG_TRY(eg_launch(
            m->norms, eg_row_launches(b->tiles), EG_INTEGER("rows", b->tiles),
            EG_INTEGER("first", b->first), EG_INTEGER("components", measure->components),
            EG_INTEGER("component", c), EG_INTEGER("count", set->points->count),
            EG_BUFFER("weights", set->points->weights), EG_BUFFER("active", g->weight),
            EG_BUFFER("jacobian", j.buffer), EG_INTEGER("jacobian_first", j.first),
            EG_INTEGER("jacobian_stride", j.stride), EG_INTEGER("jacobian_step", j.step),
            EG_BUFFER("values", measure->values), EG_BUFFER("exact", measure->exact),
            EG_INTEGER("to", m->first_row + b->first), EG_INTEGER("more", nodal),
            EG_BUFFER("sum_1", nodal ? measure->spare : sums[SUM_1]),
            EG_BUFFER("sum_2", nodal ? sums[NODAL] : sums[SUM_2]), EG_BUFFER("most", sums[MOST])));
    }
done:
    return status;
}

static eg_status add_integrals(const eg_measure *measure, const batch *b)
{
    const eg_group *g = &measure->space->groups[b->group];
    const group_measure *m = &measure->groups[b->group];
    const eg_points *points = m->cubature.points;
    jacobian_place j;
    eg_status status = EG_OK;

    EG_TRY(go_to_points(measure, &m->cubature, b, &j));
    for (int c = 0; c < measure->components; c++)
        EG_TRY(eg_launch(
            m->integral, eg_row_launches(b->tiles), EG_INTEGER("rows", b->tiles),
            EG_INTEGER("first", b->first), EG_INTEGER("components", measure->components),
            EG_INTEGER("component", c), EG_INTEGER("count", points->count),
            EG_BUFFER("weights", points->weights), EG_BUFFER("active", g->weight),
            EG_BUFFER("jacobian", j.buffer), EG_INTEGER("jacobian_first", j.first),
            EG_INTEGER("jacobian_stride", j.stride), EG_INTEGER("jacobian_step", j.step),
            EG_BUFFER("values", measure->values), EG_INTEGER("to", m->first_row + b->first),
            EG_BUFFER("sum", measure->sums[c * QUANTITIES])));
done:
    return status;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Goes through the batches of own tiles of all groups: norms at time t, or integrals. */
static eg_status go_through(eg_measure *measure, const eg_field *field, bool norms, double t)
{
    eg_status status = EG_OK;
    EG_TRY(eg_field_check(field, measure->space, measure->components));
    for (int group = 0; group < measure->space->group_count; group++) {
        const group_measure *m = &measure->groups[group];
        int64_t own = measure->space->groups[group].own_tiles;
        for (int64_t first = 0; first < own; first += m->batch) {
            batch b = {.group = group,
                       .first = first,
                       .tiles = first + m->batch <= own ? m->batch : own - first};
            EG_TRY(find_coefficients(measure, field, &b));
            if (norms) {
                EG_TRY(add_norms(measure, t, &m->cubature, &b));
                EG_TRY(add_norms(measure, t, &m->nodal, &b));
            } else {
                EG_TRY(add_integrals(measure, &b));
            }
        }
    }
done:
    return status;
}

/* Reduces the first `count` quantities of each component to measure->reduced: one quantity of all
 * components after the other. */
static eg_status reduce(eg_measure *measure, eg_reducer *reducer, size_t count)
{
    const size_t components = (size_t)measure->components;
    eg_status status = EG_OK;
    for (size_t c = 0; c < components; c++) {
        eg_reduction list[QUANTITIES] = {{0}};
        double one[QUANTITIES];
        for (size_t i = 0; i < count; i++)
            list[i] = (eg_reduction){.kind = kinds[i], .x = measure->sums[c * QUANTITIES + i]};
        EG_TRY(eg_reduce(reducer, measure->slots, list, measure->result));
        EG_TRY(eg_buffer_download(measure->result, 0, count, one));
        for (size_t i = 0; i < count; i++)
            measure->reduced[i * components + c] = one[i];
    }
done:
    return status;
}

static eg_status measure_norms(eg_measure *measure, double t, const eg_field *field)
{
    eg_status status = go_through(measure, field, true, t);
    return status == EG_OK ? reduce(measure, measure->norm_reducer, QUANTITIES) : status;
}

eg_status eg_measure_norms(eg_measure *measure, double t, const eg_field *field, eg_norms *out)
{
    const eg_space *space = measure->space;
    const size_t n = (size_t)measure->components;
    double *sums = measure->reduced, *most = sums + MOST * n, *nodal = sums + NODAL * n;
    eg_status status = EG_OK;

    if (measure->means) EG_TRY(eg_function_interpolate(measure->function, t, measure->means));
    EG_TRY(eg_comm_agree(space->comm, measure_norms(measure, t, field)));
    EG_TRY(eg_comm_sum(space->comm, 2 * n, sums));
    EG_TRY(eg_comm_max(space->comm, n, most));
    EG_TRY(eg_comm_sum(space->comm, n, nodal));
    for (size_t c = 0; c < n; c++) {
        out[c] = (eg_norms){.l1 = sums[c],
                            .l2 = sqrt(sums[n + c]),
                            .linf = most[c],
                            .nodal_l2 = sqrt(nodal[c] / space->volume)};
        if (isnan(out[c].l1) || isnan(out[c].l2) || isnan(out[c].linf) || isnan(out[c].nodal_l2))
            out[c] = (eg_norms){NAN, NAN, NAN, NAN};
    }
done:
    return status;
}

static eg_status measure_integrals(eg_measure *measure, const eg_field *field)
{
    eg_status status = go_through(measure, field, false, 0);
    return status == EG_OK ? reduce(measure, measure->sum_reducer, 1) : status;
}

eg_status eg_measure_integrals(eg_measure *measure, const eg_field *field, double *out)
{
    eg_comm *comm = measure->space->comm;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(comm, measure_integrals(measure, field)));
    EG_TRY(eg_comm_sum(comm, (size_t)measure->components, measure->reduced));
    for (int c = 0; c < measure->components; c++)
        out[c] = measure->reduced[c];
done:
    return status;
}
