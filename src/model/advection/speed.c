/* How fast it goes through elements: the velocity along their own directions, and the largest stable
 * step, on the host, or on the device where the velocity varies in space. */
#include "model/advection/parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Factors that differ by less than this, relative to the largest, differ by rounding of coordinates. */
#define UNIFORM_TOLERANCE 1e-12

/* Rows of threads that look at points together on a GPU. */
enum { PARTS = 8 };

double eg_advection_factors(const eg_mesh *mesh, const double *nodes, const double *r,
                            double factors[3][3], double *x)
{
    const int dim = mesh->dim;
    double a[3][3] = {{0}}; /* [e][d] ∂x_e/∂r_d */
    assert(dim == 2 || dim == 3);
    x[0] = x[1] = x[2] = 0;
    for (int i = 0; i < 1 << dim; i++) {
        double share[3], all = 1;
        for (int d = 0; d < dim; d++) {
            share[d] = 0.5 * (i >> d & 1 ? 1 + r[d] : 1 - r[d]);
            all *= share[d];
        }
        for (int e = 0; e < dim; e++)
            x[e] += all * nodes[i * dim + e];
        for (int d = 0; d < dim; d++) {
            double slope = i >> d & 1 ? 0.5 : -0.5;
            for (int o = 0; o < dim; o++)
                if (o != d) slope *= share[o];
            for (int e = 0; e < dim; e++)
                a[e][d] += slope * nodes[i * dim + e];
        }
    }
    if (dim == 2) a[2][2] = 1;
    double det = 0;
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++) {
            const int d1 = (d + 1) % 3, d2 = (d + 2) % 3, e1 = (e + 1) % 3, e2 = (e + 2) % 3;
            factors[d][e] = a[e1][d1] * a[e2][d2] - a[e1][d2] * a[e2][d1];
            if (d == 0) det += a[e][0] * factors[0][e];
        }
    for (int d = 0; d < 3; d++)
        for (int e = 0; e < 3; e++)
            factors[d][e] /= det;
    return det;
}

static double length_of(const double *v)
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

void eg_advection_find_uniform(eg_advection *a, int group)
{
    const eg_group *g = &a->space->groups[group];
    eg_advection_part *p = &a->parts[group];
    double nodes[EG_MAX_VERTICES * 3], x[3];
    const double centre[3] = {0, 0, 0};
    p->uniform = p->parallel = !g->curved && g->own_tiles > 0;
    for (int64_t i = 0; i < g->own_tiles * g->lanes && p->parallel; i++) {
        double factors[3][3];
        eg_mesh_element_nodes(a->space->mesh, g->element_of_slot[i], nodes);
        eg_advection_factors(a->space->mesh, nodes, centre, factors, x);
        if (i == 0) memcpy(p->factors, factors, sizeof factors);
        for (int d = 0; d < 3; d++) {
            const double length = length_of(p->factors[d]), times = length_of(factors[d]) / length;
            for (int e = 0; e < 3; e++) {
                const double one = p->factors[d][e], here = factors[d][e];
                if (fabs(here - one) > UNIFORM_TOLERANCE * length) p->uniform = false;
                if (fabs(here - times * one) > UNIFORM_TOLERANCE * times * length)
                    p->parallel = false;
            }
        }
    }
    p->uniform = p->uniform && p->parallel;
}

void eg_advection_velocity(const eg_advection *a, const double *x, double t, double *b)
{
    const double variables[EG_VARIABLE_COUNT] = {x[0], x[1], x[2], t};
    for (int d = 0; d < 3; d++)
        b[d] = d < a->dim ? eg_expression_evaluate(a->velocity[d], variables) : 0.0;
}

/* Σ_d |b·∇r_d| / 2 at a point of an element, whose corners are `nodes`. */
static double rate_at(const eg_advection *a, const double *nodes, const double *r, double t)
{
    double factors[3][3], x[3], b[3], sum = 0;
    eg_advection_factors(a->space->mesh, nodes, r, factors, x);
    eg_advection_velocity(a, x, t, b);
    for (int d = 0; d < a->dim; d++)
        sum += fabs(factors[d][0] * b[0] + factors[d][1] * b[1] + factors[d][2] * b[2]);
    return sum / 2;
}

/* The larger of two, or NaN if one is NaN. */
static double larger(double a, double b)
{
    return a > b || isnan(a) ? a : b;
}

/* The largest of these rates over an element's corners and its centre: of a velocity that is the same
 * everywhere. */
static double rate_of(const eg_advection *a, int32_t element, double t)
{
    const double centre[3] = {0, 0, 0};
    double nodes[EG_MAX_VERTICES * 3];
    eg_mesh_element_nodes(a->space->mesh, element, nodes);
    double rate = rate_at(a, nodes, centre, t);
    for (int i = 0; i < 1 << a->dim; i++) {
        const double corner[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
        rate = larger(rate, rate_at(a, nodes, corner, t));
    }
    return rate;
}

/* What the largest rate of elements of degree N is multiplied by. */
static double factor_of(int degree, bool with_degree)
{
    return with_degree ? 2 * degree + 1 : 1;
}

/* The largest over all elements of this rank where the velocity is the same everywhere. Elements of a
 * uniform group are all alike. */
static double fastest_on_host(const eg_advection *a, double t, bool with_degree)
{
    double fastest = 0;
    for (int group = 0; group < a->space->group_count; group++) {
        const eg_group *g = &a->space->groups[group];
        const int64_t count = a->parts[group].uniform ? 1 : g->own_tiles * g->lanes;
        double rate = 0;
        for (int64_t i = 0; i < count; i++)
            rate = larger(rate, rate_of(a, g->element_of_slot[i], t));
        fastest = larger(fastest, factor_of(g->degree, with_degree) * rate);
    }
    return fastest;
}

/* Makes the kernel of a group, if it is not there yet. */
static eg_status need_speeds(eg_advection *a, int group)
{
    eg_advection_part *p = &a->parts[group];
    eg_text velocity = eg_text_new(a->space->ctx);
    eg_status status = EG_OK;
    const eg_define defines[] = {
        {"DIM", a->dim},
        {"CORNERS", 1 << a->dim},
        {"Q", p->points},
        {"PARTS", eg_device_get_info(a->space->device)->is_gpu ? PARTS : 1}};
    if (p->speeds) return EG_OK;
    EG_TRY(eg_advection_write_velocity(a, &velocity));
    EG_TRY(eg_advection_make_kernel(
        a, group, eg_text_string(&velocity), "speeds", "speeds",
        (eg_kernel_options){.defines = defines, .define_count = EG_COUNT(defines)}, &p->speeds));
done:
    eg_text_free(&velocity);
    return status;
}

/* The largest over all elements of this rank where the velocity varies: all groups use `points`. */
static eg_status fastest_on_device(eg_advection *a, double t, bool with_degree, double *fastest)
{
    const eg_space *space = a->space;
    eg_status status = EG_OK;
    if (!a->rates) EG_TRY(eg_rates_create(space, &a->rates));
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        const eg_advection_part *p = &a->parts[i];
        if (g->own_tiles == 0) continue;
        EG_TRY(need_speeds(a, i));
        EG_TRY(eg_launch(p->speeds, g->own_tiles, EG_BUFFER("nodes", g->nodes),
                         EG_BUFFER("points", p->points_of), EG_REAL("time", t),
                         EG_REAL("times", factor_of(g->degree, with_degree)),
                         EG_BUFFER_AT("rate", a->rates->of_slot, (size_t)g->first_slot)));
    }
    EG_TRY(eg_rates_find_largest(a->rates, fastest));
done:
    return status;
}

/* The largest rate over all elements of all ranks, times (2N + 1) for elements of degree N if
 * with_degree. */
static eg_status find_fastest(eg_advection *a, double t, bool with_degree, double *fastest)
{
    eg_comm *comm = a->space->comm;
    eg_status status = EG_OK;
    if (a->varies)
        EG_TRY(eg_comm_agree(comm, fastest_on_device(a, t, with_degree, fastest)));
    else
        *fastest = fastest_on_host(a, t, with_degree);
    EG_TRY(eg_comm_max(comm, 1, fastest));
    if (!isfinite(*fastest))
        EG_TRY(eg_fail(a->space->ctx, EG_ERROR_NUMERIC,
                       "at time %.9g advection.velocity is not finite everywhere: look for "
                       "divisions by zero, overflow, and roots and logarithms of negative numbers",
                       t));
done:
    return status;
}

eg_status eg_advection_stable_dt(eg_advection *a, double t, double *dt)
{
    eg_status status = EG_OK;
    double fastest;
    *dt = a->stable_dt;
    if (a->stable_dt > 0) return EG_OK;
    EG_TRY(find_fastest(a, t, true, &fastest));
    *dt = 1 / fastest;
    if (!a->changes) a->stable_dt = *dt;
done:
    return status;
}

eg_status eg_advection_crossing_time(eg_advection *a, double t, double *time)
{
    eg_status status = EG_OK;
    double fastest;
    EG_TRY(find_fastest(a, t, false, &fastest));
    *time = 1 / fastest;
done:
    return status;
}
