/* The section [limiter] of a case: which bounds tracers have, and what they ask of the rest of it. */
#include "model/advection/limiter.h"

#include "model/advection/parts.h"
#include "model/model.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

/* Room for a key with the names of a boundary and of a tracer. */
enum { KEY_BYTES = 192 };

/* The part of its range by which rounding may take a value out of its bounds. */
#define ROUNDING 1e-12

eg_limiter_kind eg_limiter_kind_of(const eg_case *cas)
{
    return (eg_limiter_kind)eg_case_choice(cas, "limiter.bounds");
}

/* A key has one value for all tracers, or one for each. */
static eg_status check_count(const eg_case *cas, const char *key, int fields)
{
    const size_t count = eg_case_count(cas, key);
    if (count <= 1 || count == (size_t)fields) return EG_OK;
    return eg_case_fail(cas, key, -1,
                        "%zu values for %d tracers: give one for all of them, or one for each",
                        count, fields);
}

/* What tracer i may be, as given. */
static eg_advection_range given(const eg_case *cas, int i)
{
    const size_t low = eg_case_count(cas, "limiter.low"), high = eg_case_count(cas, "limiter.high");
    return (eg_advection_range){
        low > 0 ? eg_case_real_at(cas, "limiter.low", low > 1 ? (size_t)i : 0) : -INFINITY,
        high > 0 ? eg_case_real_at(cas, "limiter.high", high > 1 ? (size_t)i : 0) : INFINITY};
}

static eg_status check_given(const eg_case *cas, int fields)
{
    const bool low = eg_case_count(cas, "limiter.low") > 0;
    const bool high = eg_case_count(cas, "limiter.high") > 0;
    eg_status status = EG_OK;
    if (eg_limiter_kind_of(cas) != EG_LIMITER_GIVEN) {
        if (!low && !high) return EG_OK;
        return eg_case_fail(cas, low ? "limiter.low" : "limiter.high", -1,
                            "bounds are given, but limiter.bounds is \"%s\"; did you mean "
                            "bounds = \"given\"?",
                            eg_case_string(cas, "limiter.bounds"));
    }
    if (!low && !high)
        return eg_case_fail(cas, "limiter.bounds", -1,
                            "which bounds? Give limiter.low, limiter.high or both");
    EG_TRY(check_count(cas, "limiter.low", fields));
    EG_TRY(check_count(cas, "limiter.high", fields));
    for (int i = 0; i < fields; i++) {
        const eg_advection_range range = given(cas, i);
        if (!(range.least < range.most))
            EG_TRY(eg_case_fail(cas, high ? "limiter.high" : "limiter.low", -1,
                                "nothing is between %g and %g", range.least, range.most));
    }
done:
    return status;
}

eg_status eg_limiter_check(const eg_case *cas, const eg_time_options *time, int fields)
{
    eg_status status = EG_OK;
    EG_TRY(check_given(cas, fields));
    if (eg_limiter_kind_of(cas) == EG_LIMITER_NONE) return EG_OK;
    if (time->scheme == EG_TIME_LOW_RK4)
        EG_TRY(eg_case_fail(cas, "time.scheme", -1,
                            "\"rk4\" does not keep the bounds of a limiter: choose \"euler\", "
                            "\"ssp-rk2\" or \"ssp-rk3\""));
    if (eg_case_name_at(cas, "source", 0))
        EG_TRY(
            eg_case_fail(cas, "source", -1,
                         "with a source tracers leave their bounds: leave it out, or the limiter"));
    if (time->cfl > 1)
        EG_TRY(eg_case_fail(cas, "time.cfl", -1,
                            "with a limiter it is 1 at most, not %g: beyond it bounds are not kept",
                            time->cfl));
done:
    return status;
}

/* Where the initial values of a tracer leave its bounds; 0: nowhere. */
static const char *left_at(const eg_advection_range *bounds, double least, double most)
{
    const double rounding = ROUNDING * fmax(most - least, DBL_MIN);
    if (!(least >= bounds->least - rounding)) return "limiter.low";
    if (!(most <= bounds->most + rounding)) return "limiter.high";
    return NULL;
}

eg_status eg_limiter_bounds(const eg_case *cas, eg_function *initial, double t, int fields,
                            const char *const *names, eg_advection_range *out)
{
    const eg_limiter_kind kind = eg_limiter_kind_of(cas);
    double least[EG_MODEL_FIELDS_MAX], most[EG_MODEL_FIELDS_MAX];
    eg_status status = EG_OK;
    for (int i = 0; i < fields; i++)
        out[i] = (eg_advection_range){-INFINITY, INFINITY};
    if (kind == EG_LIMITER_NONE) return EG_OK;
    EG_TRY(eg_function_range(initial, t, least, most));
    for (int i = 0; i < fields; i++) {
        char key[KEY_BYTES];
        snprintf(key, sizeof key, "initial.%s", names[i]);
        if (!isfinite(least[i]) || !isfinite(most[i]))
            EG_TRY(eg_case_fail(cas, key, -1, "it is not a finite number everywhere"));
        out[i] = kind == EG_LIMITER_GIVEN ? given(cas, i) : (eg_advection_range){least[i], most[i]};
        const char *left = left_at(&out[i], least[i], most[i]);
        if (left)
            EG_TRY(eg_case_fail(cas, left, -1, "%s begins with values from %.9g to %.9g", names[i],
                                least[i], most[i]));
    }
done:
    return status;
}

/* --- what comes in --------------------------------------------------------------------------------- */

/* What tells whether the values that come in are within bounds. */
typedef struct inflow {
    const eg_case *cas;
    const eg_advection *op;
    const eg_advection_options *options;
    double t;
    const char *const *names;
    const eg_advection_range *bounds;
} inflow;

/* At point r of an element, on a face across direction d at the boundary. */
static eg_status check_point(const inflow *in, const double *nodes, const double *r, int d,
                             int boundary)
{
    const eg_mesh *mesh = in->op->space->mesh;
    const int fields = in->options->components;
    double factors[3][3], x[3], b[3];
    eg_status status = EG_OK;
    eg_advection_factors(mesh, nodes, r, factors, x);
    eg_advection_velocity(in->op, x, in->t, b);
    const double along = factors[d][0] * b[0] + factors[d][1] * b[1] + factors[d][2] * b[2];
    if (r[d] * along >= 0) return EG_OK;
    for (int i = 0; i < fields; i++) {
        const eg_expression *given = in->options->boundary[boundary * fields + i];
        const double at[EG_VARIABLE_COUNT] = {x[0], x[1], x[2], in->t};
        const double value = given ? eg_expression_evaluate(given, at) : 0;
        const double least = in->bounds[i].least, most = in->bounds[i].most;
        const double rounding =
            ROUNDING * fmax(isfinite(least) ? fabs(least) : 0, isfinite(most) ? fabs(most) : 0);
        char key[KEY_BYTES];
        if (value >= least - rounding && value <= most + rounding) continue;
        snprintf(key, sizeof key, "boundary.%s.%s", mesh->boundary[boundary], in->names[i]);
        EG_TRY(eg_case_fail(in->cas, key, -1,
                            "%.9g comes in at (%g, %g, %g)%s, out of the bounds of %s, %.9g to "
                            "%.9g",
                            value, x[0], x[1], x[2], given ? "" : ", as nothing is given",
                            in->names[i], least, most));
    }
done:
    return status;
}

eg_status eg_limiter_check_inflow(const eg_case *cas, const eg_advection *op,
                                  const eg_advection_options *options, double t,
                                  const char *const *names, const eg_advection_range *bounds)
{
    const inflow in = {cas, op, options, t, names, bounds};
    const eg_space *space = op->space;
    const eg_mesh *mesh = space->mesh;
    eg_status status = EG_OK;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int group = space->group_of_block[space->slot_of_element[e] / EG_SLOT_BLOCK];
        const int side = space->groups[group].degree + 1;
        const int n = eg_advection_point_count(op, side);
        double points[2 * (EG_DEGREE_MAX_QUAD + 1 + EG_ADVECTION_EXTRA_MOST)];
        double nodes[EG_MAX_VERTICES * 3], r[3] = {0};
        bool known = false;
        for (int f = 0; f < 2 * mesh->dim; f++) {
            const int32_t next = mesh->neighbour[(size_t)e * (size_t)mesh->face_stride + (size_t)f];
            bool high = false;
            if (next >= 0) continue;
            if (!known) {
                EG_TRY(eg_advection_line_rule(op, side, points, points + n));
                eg_mesh_element_nodes(mesh, e, nodes);
                known = true;
            }
            const int d = eg_shape_face_direction((eg_shape)mesh->shape[e], f, &high);
            for (int i = 0; i < (mesh->dim == 3 ? n * n : n); i++) {
                r[d] = high ? 1 : -1;
                r[(d + 1) % mesh->dim] = points[i % n];
                if (mesh->dim == 3) r[(d + 2) % 3] = points[i / n];
                EG_TRY(check_point(&in, nodes, r, d, -1 - next));
            }
        }
    }
done:
    return status;
}
