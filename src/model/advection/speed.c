/* How fast it goes through elements: the velocity along their own directions, and the largest stable
 * step, on the host. */
#include "model/advection/parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Factors that differ by less than this, relative to the largest, differ by rounding of coordinates. */
#define UNIFORM_TOLERANCE 1e-12

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

/* The largest of these rates over an element's corners and its centre. */
static double rate_of(const eg_advection *a, int32_t element, double t)
{
    const double centre[3] = {0, 0, 0};
    double nodes[EG_MAX_VERTICES * 3];
    eg_mesh_element_nodes(a->space->mesh, element, nodes);
    double rate = rate_at(a, nodes, centre, t);
    for (int i = 0; i < 1 << a->dim; i++) {
        const double corner[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
        rate = fmax(rate, rate_at(a, nodes, corner, t));
    }
    return rate;
}

/* The largest of these over all elements of all ranks, times (2N + 1) for elements of degree N if
 * with_degree. Elements of a uniform group are all alike. */
static eg_status find_fastest(const eg_advection *a, double t, bool with_degree, double *fastest)
{
    *fastest = 0;
    for (int group = 0; group < a->space->group_count; group++) {
        const eg_group *g = &a->space->groups[group];
        const bool alike = a->parts[group].uniform && !a->varies;
        double rate = 0;
        for (int64_t i = 0; i < (alike ? 1 : g->own_tiles * g->lanes); i++)
            rate = fmax(rate, rate_of(a, g->element_of_slot[i], t));
        *fastest = fmax(*fastest, with_degree ? (2 * g->degree + 1) * rate : rate);
    }
    return eg_comm_max(a->space->comm, 1, fastest);
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

eg_status eg_advection_crossing_time(const eg_advection *a, double t, double *time)
{
    eg_status status = EG_OK;
    double fastest;
    EG_TRY(find_fastest(a, t, false, &fastest));
    *time = 1 / fastest;
done:
    return status;
}
