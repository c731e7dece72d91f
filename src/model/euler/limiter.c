/* The limiters of model `euler` that work on the result of a stage, in place (limit.k.c).
 *
 * The slope limiter of [zimmerman2018] compares the traces q_l of an element with its mean q and with
 * the means of its neighbours. With q_a behind the face of the trace and q_o behind the opposite one,
 *
 *     q_e = q + minmod(q_l - q, q_a - q, q - q_o)
 *
 * and the element is troubled if |q_l - q_e| is more than the threshold for some component at some
 * point of a face. Differences of means are not halved, although the face is half as far away: a
 * linear solution is then never troubled by its slope across the face, and the scheme still does not
 * increase the variation of the means [cockburn1989]. In a troubled element
 *
 *     q = mean + (r_0 - r̄_0) σ_0 + (r_1 - r̄_1) σ_1
 *
 * with σ_d the minmod of the differences to both neighbours along d, divided by the distances of the
 * centres and multiplied by half the element's length along d; r̄ is where the mean is by the
 * quadrature of the nodes, so that the mean is kept. Behind a boundary is the state that the mean has
 * there; a given one stands on the face, others as far behind as the element is before it.
 *
 * Positivity [zhang2010]: first densities are scaled towards the mean, then all differences to it, by
 * as little as makes density and pressure of all nodes and traces at least a millionth of that of the
 * mean; pressure is concave, so that the part by which it falls short is enough to scale by. */
#include "model/euler/parts.h"

#include <math.h>

struct eg_euler_limiter {
    eg_euler_limits limits;
    eg_space *space; /* of degree 0, with the slots of the operator's */
    eg_field *means;
    eg_halo *halo;     /* of the means; NULL: neighbours are not looked at */
    eg_buffer *rule;   /* see limit.k.c */
    eg_buffer **reach; /* [group_count] f64 [own_tiles][4][lanes] */
};

/* --- the section [limiter] ------------------------------------------------------------------------ */

eg_euler_limits eg_euler_limits_of(const eg_case *cas)
{
    if (eg_case_choice(cas, "scheme.method") == EG_EULER_FV) return (eg_euler_limits){0};
    return (eg_euler_limits){.method = (eg_euler_limiting)eg_case_choice(cas, "limiter.method"),
                             .threshold = eg_case_real(cas, "limiter.threshold"),
                             .positivity = eg_case_boolean(cas, "limiter.positivity")};
}

bool eg_euler_limits_after(const eg_euler_limits *limits)
{
    return limits->method == EG_EULER_MINMOD || limits->positivity;
}

eg_status eg_euler_check_limits(const eg_case *cas, const eg_time_options *time)
{
    const eg_euler_limits limits = eg_euler_limits_of(cas);
    if (eg_case_given(cas, "limiter.threshold") && limits.method != EG_EULER_MINMOD)
        return eg_case_fail(cas, "limiter.threshold", -1,
                            "it is for method \"minmod\"; limiter.method is \"%s\"",
                            eg_case_string(cas, "limiter.method"));
    if (time->scheme == EG_TIME_LOW_RK4 && eg_euler_limits_after(&limits))
        return eg_case_fail(cas, "time.scheme", -1,
                            "stages of \"rk4\" are no mixture of steps, which a limiter needs: "
                            "choose \"euler\", \"ssp-rk2\" or \"ssp-rk3\"");
    return EG_OK;
}

/* --- creation --------------------------------------------------------------------------------- */

/* Nodes, halves of their weights, the basis at both ends, and the mean of r². */
static eg_status make_rule(const eg_euler *a, eg_buffer **out)
{
    const double ends[] = {-1, 1};
    double rule[4 * (EG_EULER_DEGREE_MAX + 1) + 1], moment = 0;
    const eg_element *line = a->line;
    eg_status status = EG_OK;
    const int n = line->np;
    for (int i = 0; i < n; i++) {
        rule[i] = line->r[i];
        rule[n + i] = line->weights[i] / 2;
        moment += rule[n + i] * line->r[i] * line->r[i];
    }
    EG_TRY(eg_element_evaluate(line, 2, ends, &rule[2 * n]));
    rule[4 * n] = moment;
    EG_TRY(eg_space_upload(a->space, EG_F64, (size_t)(4 * n + 1), rule, out));
done:
    return status;
}

/* From the centre of an element to the middle of a face. */
static double distance(const eg_mesh *mesh, int32_t element, int face)
{
    bool high = false;
    const int d = eg_shape_face_direction(EG_SHAPE_QUAD, face, &high);
    const int first = high ? 1 << d : 0, second = first + (d == 0 ? 2 : 1); /* its corners */
    double p[8], to[2];
    eg_mesh_element_nodes(mesh, element, p);
    for (int e = 0; e < 2; e++)
        to[e] = (p[2 * first + e] + p[2 * second + e]) / 2 -
                (p[e] + p[2 + e] + p[4 + e] + p[6 + e]) / 4;
    return hypot(to[0], to[1]);
}

/* The part of the distance to what is behind a face that lies inside. */
static double reach_of(const eg_euler *a, const eg_euler_options *options, int32_t element,
                       int face)
{
    const eg_mesh *mesh = a->space->mesh;
    const size_t at = (size_t)element * (size_t)mesh->face_stride + (size_t)face;
    const int32_t other = mesh->neighbour[at];
    const double inside = distance(mesh, element, face);
    if (other >= 0)
        return inside / (inside + distance(mesh, other, EG_FACE(mesh->neighbour_face[at])));
    const eg_euler_boundary type = options->types[-1 - other];
    return type == EG_EULER_INFLOW || type == EG_EULER_STATE ? 1 : 0.5;
}

/* `reach` of a group. */
static eg_status make_reach(eg_euler *a, const eg_euler_options *options, int group)
{
    const eg_group *g = &a->space->groups[group];
    const size_t lanes = (size_t)g->lanes, count = (size_t)g->own_tiles * 4 * lanes;
    double *reach = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->space->ctx, count + 1, &reach));
    for (size_t i = 0; i < count; i++) {
        const int end = (int)(i / lanes % 4);
        const int32_t element = g->element_of_slot[i / (4 * lanes) * lanes + i % lanes];
        reach[i] = reach_of(a, options, element, eg_shape_face_at(EG_SHAPE_QUAD, end / 2, end % 2));
    }
    EG_TRY(eg_space_upload(a->space, EG_F64, count + 1, reach, &a->limiter->reach[group]));
done:
    eg_release(a->space->ctx, &reach);
    return status;
}

static eg_status create_own(eg_euler *a, const eg_euler_options *options)
{
    eg_euler_limiter *l = a->limiter;
    eg_status status = EG_OK;
    EG_TRY(make_rule(a, &l->rule));
    EG_TRY(eg_new(a->space->ctx, (size_t)a->space->group_count + 1, &l->reach));
    for (int g = 0; g < a->space->group_count; g++)
        EG_TRY(make_reach(a, options, g));
done:
    return status;
}

eg_status eg_euler_limiter_create(eg_euler *a, const eg_euler_options *options)
{
    eg_space *space = a->space;
    eg_euler_limiter *l = NULL;
    eg_status status = EG_OK;
    if (!eg_euler_limits_after(&options->limits)) return EG_OK;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &a->limiter));
    l = a->limiter;
    l->limits = options->limits;
    EG_TRY(eg_comm_agree(space->comm, create_own(a, options)));
    const eg_space_options constants = {.basis = EG_BASIS_GAUSS,
                                        .lanes =
                                            space->group_count > 0 ? space->groups[0].lanes : 0,
                                        .like = space};
    EG_TRY(eg_space_create(space->device, space->comm, space->mesh, &constants, &l->space));
    EG_TRY(eg_field_create(l->space, EG_EULER_COMPONENTS, EG_F64, &l->means));
    if (l->limits.method == EG_EULER_MINMOD)
        EG_TRY(eg_halo_create(l->space, EG_EULER_COMPONENTS, EG_F64, EG_HALO_ELEMENTS, &l->halo));
done:
    return status;
}

void eg_euler_limiter_destroy(eg_euler *a)
{
    eg_euler_limiter *l = a->limiter;
    if (!l) return;
    eg_halo_destroy(&l->halo);
    eg_field_destroy(&l->means);
    eg_space_destroy(&l->space);
    for (int g = 0; l->reach && g < a->space->group_count; g++)
        eg_buffer_destroy(&l->reach[g]);
    eg_release(a->space->ctx, &l->reach);
    eg_buffer_destroy(&l->rule);
    eg_release(a->space->ctx, &a->limiter);
}

/* --- use -------------------------------------------------------------------------------------- */

static eg_status find_means(eg_euler *a, const eg_field *field)
{
    const eg_euler_limiter *l = a->limiter;
    eg_status status = EG_OK;
    for (int i = 0; i < a->space->group_count; i++) {
        const eg_group *g = &a->space->groups[i];
        if (g->own_tiles == 0) continue;
        EG_TRY(eg_launch(a->parts[i].means, g->own_tiles,
                         EG_BUFFER_AT("u", field->data, field->offset[i]),
                         EG_BUFFER("nodes", g->nodes), EG_BUFFER("rule", l->rule),
                         EG_BUFFER_AT("out", l->means->data, l->means->offset[i])));
    }
done:
    return status;
}

/* The interior tiles of all groups, or the others. */
static eg_status limit_all(eg_euler *a, bool interior, double time, eg_field *field)
{
    const eg_euler_limiter *l = a->limiter;
    eg_status status = EG_OK;
    for (int i = 0; i < a->space->group_count; i++) {
        const eg_group *g = &a->space->groups[i];
        const int64_t from = interior ? 0 : g->interior_tiles;
        const int64_t to = interior ? g->interior_tiles : g->own_tiles;
        const eg_argument arguments[] = {
            EG_BUFFER("means", l->means->data),
            EG_BUFFER("layout", l->means->layout),
            EG_BUFFER("block_groups", a->space->block_groups),
            EG_BUFFER("neighbour", g->neighbour),
            EG_BUFFER("kinds", a->parts[i].kinds),
            EG_BUFFER("faces", a->faces),
            EG_BUFFER("nodes", g->nodes),
            EG_BUFFER("reach", l->reach[i]),
            EG_BUFFER("rule", l->rule),
            EG_INTEGER("begin", (int64_t)l->means->offset[i]),
            EG_REAL("time", time),
            EG_REAL("threshold", l->limits.threshold),
            EG_BUFFER_AT("u", field->data, field->offset[i]),
            EG_BUFFER_AT("traces", a->traces, eg_euler_traces_before(a, g)),
        };
        if (from == to) continue;
        EG_TRY(eg_launch_tiles(a->parts[i].limit, from, to - from, arguments, EG_COUNT(arguments)));
    }
done:
    return status;
}

eg_status eg_euler_limit(eg_euler *a, double time, eg_field *field)
{
    eg_euler_limiter *l = a->limiter;
    eg_status status = EG_OK;
    if (!l) return EG_OK;
    EG_TRY(find_means(a, field));
    if (l->halo) EG_TRY(eg_halo_start(l->halo, l->means));
    EG_TRY(limit_all(a, true, time, field));
    if (l->halo) EG_TRY(eg_halo_wait(l->halo, l->means));
    EG_TRY(limit_all(a, false, time, field));
done:
    return status;
}
