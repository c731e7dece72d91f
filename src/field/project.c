/* The L2 projection of a function onto a field: u such that Σ w J (f - u) φ = 0 for all φ of each
 * element, with the cubature of degree 2N + 4.
 *
 * Let I be interpolation to the points, W their weights and P = M⁻¹ Iᵀ W the projection on the
 * reference element, so that P I is the identity. Affine elements: u = P f. Elsewhere u solves T_J
 * u = P J f with T_J = P J I, preconditioned by the weight-adjusted inverse T_{1/J} [chan2017].
 * Both are symmetric in the inner product of M. Π = I P is an orthogonal projector in that of W,
 * hence
 *
 *     1 ≤ T_{1/J} T_J ≤ K = (κ + 1)²/(4 κ),    κ = max J / min J over the points,
 *
 * the lower bound by convexity of the inverse and the upper one by Kantorovich's inequality. With
 * both bounds known, Chebyshev's iteration [golub1961] needs no inner products and a number of
 * steps that is known beforehand: each computes z = T_{1/J} P J (f - I u) afresh, so that rounding
 * does not accumulate. κ is the largest of all elements of all ranks, so that the result of an
 * element depends neither on its rank nor on its batch. */
#include "field/function.h"

#include <float.h>
#include <math.h>

/* Elements that need more steps, with κ beyond about 3000, are next to useless. */
#define STEPS_MOST 500

typedef struct group_projection {
    eg_points *points;
    eg_product interpolation, projection;
    int64_t batch; /* tiles */
    eg_kernel *residual, *divide, *advance;
} group_projection;

struct eg_projection {
    const eg_space *space; /* not owned */
    int components;
    group_projection *groups; /* [group_count] */
    double bound;             /* K */
    int steps;                /* of the iteration on curved groups */
    eg_buffer *x, *f, *u;     /* coordinates and values at the points, coefficients: of a batch */
    eg_buffer *scratch[2];    /* of products */
    eg_buffer *jacobian;      /* curved groups: J at the points … */
    eg_buffer *v, *z, *d;     /* … values there, corrections */
};

/* Values that each buffer must hold, the most of all groups. */
typedef struct needs {
    size_t x, f, u, scratch, jacobian, v, z;
} needs;

static void raise_to(size_t *most, size_t value)
{
    if (value > *most) *most = value;
}

/* --- set-up ----------------------------------------------------------------------------------- */

static eg_status prepare_group(const eg_projection *projection, int group, needs *most)
{
    const eg_space *space = projection->space;
    const eg_group *g = &space->groups[group];
    group_projection *p = &projection->groups[group];
    const size_t dim = (size_t)space->mesh->dim, components = (size_t)projection->components;
    eg_status status = EG_OK;

    EG_TRY(eg_points_create_for_fields(space, group, 2 * g->degree + 4, &p->points));
    EG_TRY(eg_points_projection(p->points, &p->projection));
    const size_t count = (size_t)p->points->count, np = (size_t)g->element->np;
    const size_t scratch = components * eg_product_scratch(&p->projection);
    needs tile = {dim * count, components * count, components * np, scratch, 0, 0, 0};
    if (g->curved) {
        EG_TRY(eg_points_interpolation(p->points, &p->interpolation));
        EG_TRY(eg_group_kernel(space, g, "field/project.k.c", "residual", &p->residual));
        EG_TRY(eg_group_kernel(space, g, "field/project.k.c", "divide", &p->divide));
        EG_TRY(eg_group_kernel(space, g, "field/project.k.c", "advance", &p->advance));
        tile.jacobian = count;
        tile.v = components * count;
        tile.z = components * np;
    }
    p->batch = eg_batch_tiles(g, g->tiles,
                              tile.x + tile.f + tile.u + 2 * tile.scratch + tile.jacobian + tile.v +
                                  2 * tile.z);
    const size_t lanes = (size_t)(p->batch * g->lanes);
    raise_to(&most->x, tile.x * lanes);
    raise_to(&most->f, tile.f * lanes);
    raise_to(&most->u, tile.u * lanes);
    raise_to(&most->scratch, tile.scratch * lanes);
    raise_to(&most->jacobian, tile.jacobian * lanes);
    raise_to(&most->v, tile.v * lanes);
    raise_to(&most->z, tile.z * lanes);
done:
    return status;
}

static eg_status create_buffers(eg_projection *p, const needs *most)
{
    const struct {
        eg_buffer **buffer;
        size_t count;
    } list[] = {{&p->x, most->x},
                {&p->f, most->f},
                {&p->u, most->u},
                {&p->scratch[0], most->scratch},
                {&p->scratch[1], most->scratch},
                {&p->jacobian, most->jacobian},
                {&p->v, most->v},
                {&p->z, most->z},
                {&p->d, most->z}};
    eg_status status = EG_OK;
    for (size_t i = 0; i < EG_COUNT(list); i++)
        if (list[i].count)
            EG_TRY(eg_buffer_create(p->space->device, EG_F64, list[i].count, list[i].buffer));
done:
    return status;
}

/* Raises *ratio to the largest κ of a group. */
static eg_status find_ratio(const eg_projection *projection, int group, double *ratio)
{
    const eg_group *g = &projection->space->groups[group];
    const group_projection *p = &projection->groups[group];
    eg_mapping_summary summary = {0};
    eg_status status = EG_OK;
    for (int64_t first = 0; first < g->tiles; first += p->batch) {
        int64_t tiles = first + p->batch <= g->tiles ? p->batch : g->tiles - first;
        EG_TRY(eg_points_jacobians(p->points, first, tiles, projection->jacobian));
        EG_TRY(eg_points_summarise(p->points, first, tiles, p->points->count, projection->jacobian,
                                   &summary));
    }
    if (summary.ratio > *ratio) *ratio = summary.ratio;
done:
    return status;
}

/* How many steps take the error below rounding, from the bound on its decay, 2 q^steps. */
static eg_status plan(eg_projection *projection, double ratio)
{
    /* Bounds that are too close would make the iteration's coefficients 0/0. */
    projection->bound = fmax((ratio + 1) * (ratio + 1) / (4 * ratio), 1.0001);
    double root = sqrt(projection->bound), q = (root - 1) / (root + 1);
    double steps = ceil(log(DBL_EPSILON / 2) / log(q)) + 1;
    if (!(steps <= STEPS_MOST))
        return eg_fail(projection->space->ctx, EG_ERROR_NUMERIC,
                       "the Jacobian of an element's mapping varies by a factor of %.3g within it, "
                       "too much for the L2 projection: refine the mesh or straighten it",
                       ratio);
    projection->steps = (int)steps;
    return EG_OK;
}

/* All that needs no other rank; *ratio becomes the largest κ of this one. */
static eg_status create(const eg_space *space, int components, double *ratio, eg_projection **out)
{
    eg_projection *projection = NULL;
    needs most = {0};
    eg_status status = EG_OK;

    *out = NULL;
    *ratio = 1;
    EG_TRY(eg_new(space->ctx, 1, &projection));
    projection->space = space;
    projection->components = components;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &projection->groups));
    for (int group = 0; group < space->group_count; group++)
        EG_TRY(prepare_group(projection, group, &most));
    EG_TRY(create_buffers(projection, &most));
    for (int group = 0; group < space->group_count; group++)
        if (space->groups[group].curved) EG_TRY(find_ratio(projection, group, ratio));
    *out = projection;
    projection = NULL;
done:
    eg_projection_destroy(&projection);
    return status;
}

eg_status eg_projection_create(const eg_space *space, int components, eg_projection **out)
{
    double ratio;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(space->comm, create(space, components, &ratio, out)));
    EG_TRY(eg_comm_max(space->comm, 1, &ratio));
    EG_TRY(plan(*out, ratio)); /* the same on all ranks */
done:
    if (status != EG_OK) eg_projection_destroy(out);
    return status;
}

void eg_projection_destroy(eg_projection **handle)
{
    eg_projection *projection = *handle;
    if (!projection) return;
    eg_context *ctx = projection->space->ctx;
    for (int group = 0; projection->groups && group < projection->space->group_count; group++) {
        group_projection *p = &projection->groups[group];
        eg_kernel_destroy(&p->advance);
        eg_kernel_destroy(&p->divide);
        eg_kernel_destroy(&p->residual);
        eg_product_free(&p->projection);
        eg_product_free(&p->interpolation);
        eg_points_destroy(&p->points);
    }
    eg_buffer_destroy(&projection->d);
    eg_buffer_destroy(&projection->z);
    eg_buffer_destroy(&projection->v);
    eg_buffer_destroy(&projection->jacobian);
    eg_buffer_destroy(&projection->scratch[1]);
    eg_buffer_destroy(&projection->scratch[0]);
    eg_buffer_destroy(&projection->u);
    eg_buffer_destroy(&projection->f);
    eg_buffer_destroy(&projection->x);
    eg_release(ctx, &projection->groups);
    eg_release(ctx, handle);
}

/* --- projecting ------------------------------------------------------------------------------- */

/* z = T_{1/J} P v, with v overwritten. */
static eg_status precondition(const eg_projection *projection, const group_projection *p,
                              int64_t tiles)
{
    const int64_t fields = tiles * projection->components, rows = fields * p->points->count;
    eg_buffer *const *scratch = projection->scratch;
    eg_status status = EG_OK;
    EG_TRY(eg_points_multiply(p->points, &p->projection, fields, projection->v, 0, scratch,
                              projection->z));
    EG_TRY(eg_points_multiply(p->points, &p->interpolation, fields, projection->z, 0, scratch,
                              projection->v));
    EG_TRY(eg_launch(p->divide, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("components", projection->components),
                     EG_INTEGER("count", p->points->count),
                     EG_BUFFER("jacobian", projection->jacobian), EG_BUFFER("v", projection->v)));
    EG_TRY(eg_points_multiply(p->points, &p->projection, fields, projection->v, 0, scratch,
                              projection->z));
done:
    return status;
}

/* u from f on a batch of curved elements, whose J are there. */
static eg_status solve(const eg_projection *projection, const group_projection *p, int64_t tiles)
{
    const int64_t fields = tiles * projection->components, rows = fields * p->points->count;
    const int64_t coefficient_rows = fields * p->points->group->element->np;
    const double centre = (projection->bound + 1) / 2, half_width = (projection->bound - 1) / 2;
    const double zero = 0;
    double decay = half_width / centre;
    eg_status status = EG_OK;

    EG_TRY(eg_buffer_fill(projection->u, 0, eg_buffer_count(projection->u), &zero));
    EG_TRY(eg_buffer_fill(projection->d, 0, eg_buffer_count(projection->d), &zero));
    for (int step = 0; step < projection->steps; step++) {
        EG_TRY(eg_points_multiply(p->points, &p->interpolation, fields, projection->u, 0,
                                  projection->scratch, projection->v));
        EG_TRY(eg_launch(p->residual, eg_row_launches(rows), EG_INTEGER("rows", rows),
                         EG_INTEGER("components", projection->components),
                         EG_INTEGER("count", p->points->count),
                         EG_BUFFER("jacobian", projection->jacobian), EG_BUFFER("f", projection->f),
                         EG_BUFFER("v", projection->v)));
        EG_TRY(precondition(projection, p, tiles));
        double a = 0, b = 1 / centre;
        if (step > 0) {
            double next = 1 / (2 * centre / half_width - decay);
            a = next * decay;
            b = 2 * next / half_width;
            decay = next;
        }
        EG_TRY(eg_launch(p->advance, eg_row_launches(coefficient_rows),
                         EG_INTEGER("rows", coefficient_rows), EG_REAL("a", a), EG_REAL("b", b),
                         EG_BUFFER("z", projection->z), EG_BUFFER("d", projection->d),
                         EG_BUFFER("u", projection->u)));
    }
done:
    return status;
}

static eg_status run(const eg_projection *projection, eg_function *function, double t,
                     eg_field *field)
{
    eg_status status = EG_OK;
    EG_TRY(eg_field_check(field, projection->space, projection->components));
    for (int group = 0; group < projection->space->group_count; group++) {
        const eg_group *g = &projection->space->groups[group];
        const group_projection *p = &projection->groups[group];
        for (int64_t first = 0; first < g->tiles; first += p->batch) {
            int64_t tiles = first + p->batch <= g->tiles ? p->batch : g->tiles - first;
            EG_TRY(eg_points_coordinates(p->points, first, tiles, projection->x));
            EG_TRY(eg_function_evaluate(function, group, t, tiles, p->points->count, projection->x,
                                        projection->f));
            if (g->curved) {
                EG_TRY(eg_points_jacobians(p->points, first, tiles, projection->jacobian));
                EG_TRY(solve(projection, p, tiles));
            } else {
                EG_TRY(eg_points_multiply(p->points, &p->projection, tiles * projection->components,
                                          projection->f, 0, projection->scratch, projection->u));
            }
            EG_TRY(eg_function_store(function, field, group, first, tiles, projection->u));
        }
    }
done:
    return status;
}

eg_status eg_projection_run(eg_projection *projection, eg_function *function, double t,
                            eg_field *field)
{
    return eg_comm_agree(projection->space->comm, run(projection, function, t, field));
}
