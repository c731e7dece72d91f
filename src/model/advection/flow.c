/* The flow as adaptation sees it.
 *
 * A decision lasts until something may have crossed an element: the parts dt · rate(t) of steps are added,
 * since the velocity may change. Where it does, or where there are sources, the direction and what is new
 * change as well, so that a decision lasts for STEPS_MOST steps at most, even if nothing moves.
 *
 * A source acts in an element if somewhere on a lattice of its points it is more than SMALL of what it is
 * anywhere; what is less shows in the modes, a decision later. A source that is 0 everywhere at the moment
 * and changes in time may begin anywhere. One that is the same everywhere adds to means alone. */
#include "model/advection/flow.h"

#include "model/advection/parts.h"

#include <math.h>

#define STEPS_MOST 16
#define SMALL 1e-3
#define LATTICE 5 /* points a side */

eg_status eg_flow_create(eg_context *ctx, const eg_mesh *mesh, int components,
                         const eg_expression *const *source, eg_flow *out)
{
    const size_t own = (size_t)mesh->element_count;
    eg_status status = EG_OK;
    *out = (eg_flow){.mesh = mesh, .source = source, .components = components};
    EG_TRY(eg_new(ctx, own, &out->inflow));
    EG_TRY(eg_new(ctx, own, &out->sources));
    EG_TRY(eg_new(ctx, own, &out->size));
done:
    return status;
}

void eg_flow_destroy(eg_context *ctx, eg_flow *flow)
{
    eg_release(ctx, &flow->size);
    eg_release(ctx, &flow->sources);
    eg_release(ctx, &flow->inflow);
}

/* The velocity out of an element through a face, up to a positive factor, at a point of it. */
static double outwards(const eg_advection *op, const double *nodes, const double *r, int direction,
                       bool high, double t)
{
    double factors[3][3], x[3], b[3], sum = 0;
    eg_advection_factors(op->space->mesh, nodes, r, factors, x);
    eg_advection_velocity(op, x, t, b);
    for (int e = 0; e < op->dim; e++)
        sum += factors[direction][e] * b[e];
    return high ? sum : -sum;
}

/* Finds the faces through which it flows in, at their centres or corners. */
static void find_inflow(eg_flow *flow, const eg_advection *op, double t)
{
    const int dim = flow->mesh->dim;
    for (int32_t e = 0; e < flow->mesh->element_count; e++) {
        const eg_shape shape = (eg_shape)flow->mesh->shape[e];
        double nodes[EG_MAX_VERTICES * 3];
        eg_mesh_element_nodes(flow->mesh, e, nodes);
        flow->inflow[e] = 0;
        for (int f = 0; f < eg_shape_get_info(shape)->faces; f++) {
            bool high = false;
            const int d = eg_shape_face_direction(shape, f, &high);
            for (int i = -1; i < 1 << dim; i++) {
                double r[3] = {0, 0, 0};
                for (int o = 0; i >= 0 && o < dim; o++)
                    r[o] = i >> o & 1 ? 1 : -1;
                r[d] = high ? 1 : -1;
                if (outwards(op, nodes, r, d, high, t) < 0) flow->inflow[e] |= (uint8_t)(1U << f);
            }
        }
    }
}

static eg_status find_rate(eg_flow *flow, eg_advection *op, double t)
{
    eg_status status = EG_OK;
    double crossing;
    EG_TRY(eg_advection_crossing_time(op, t, &crossing));
    flow->rate = 1 / crossing;
done:
    return status;
}

/* The largest |source| on the lattice of an element. */
static double size_of_source(const eg_mesh *mesh, int32_t e, const eg_expression *source, double t)
{
    double nodes[EG_MAX_VERTICES * 3], most = 0;
    const int count = mesh->dim == 3 ? LATTICE * LATTICE * LATTICE : LATTICE * LATTICE;
    eg_mesh_element_nodes(mesh, e, nodes);
    for (int i = 0; i < count; i++) {
        const int at[3] = {i % LATTICE, i / LATTICE % LATTICE, i / (LATTICE * LATTICE)};
        double r[3], factors[3][3], x[3];
        for (int d = 0; d < 3; d++)
            r[d] = 2.0 * at[d] / (LATTICE - 1) - 1;
        eg_advection_factors(mesh, nodes, r, factors, x);
        const double variables[EG_VARIABLE_COUNT] = {x[0], x[1], x[2], t};
        most = fmax(most, fabs(eg_expression_evaluate(source, variables)));
    }
    return most;
}

/* Marks where the source of one tracer acts. */
static eg_status mark_source(eg_flow *flow, eg_comm *comm, const eg_expression *source, double t)
{
    const int32_t own = flow->mesh->element_count;
    eg_status status = EG_OK;
    double most = 0;
    for (int32_t e = 0; e < own; e++) {
        flow->size[e] = size_of_source(flow->mesh, e, source, t);
        most = fmax(most, flow->size[e]);
    }
    EG_TRY(eg_comm_max(comm, 1, &most));
    const bool anywhere = most == 0 && eg_expression_uses(source, EG_VARIABLE_T);
    for (int32_t e = 0; e < own; e++)
        if (anywhere || flow->size[e] > SMALL * most) flow->sources[e] = true;
done:
    return status;
}

static eg_status find_sources(eg_flow *flow, eg_comm *comm, double t)
{
    eg_status status = EG_OK;
    if (flow->sources_known) return EG_OK;
    flow->sources_known = true;
    for (int32_t e = 0; e < flow->mesh->element_count; e++)
        flow->sources[e] = false;
    for (int c = 0; flow->source && c < flow->components; c++) {
        if (!flow->source[c] || !eg_expression_varies(flow->source[c])) continue;
        if (eg_expression_uses(flow->source[c], EG_VARIABLE_T)) flow->sources_known = false;
        EG_TRY(mark_source(flow, comm, flow->source[c], t));
    }
done:
    return status;
}

eg_status eg_flow_look(eg_flow *flow, eg_advection *op, double t)
{
    eg_status status = EG_OK;
    flow->crossed = 0;
    flow->steps = 0;
    EG_TRY(find_sources(flow, op->space->comm, t));
    if (flow->known) return EG_OK;
    find_inflow(flow, op, t);
    EG_TRY(find_rate(flow, op, t));
    flow->known = !op->changes;
done:
    return status;
}

eg_status eg_flow_step(eg_flow *flow, eg_advection *op, double t, double dt, bool *due)
{
    const double before = flow->rate;
    eg_status status = EG_OK;
    if (op->changes) EG_TRY(find_rate(flow, op, t));
    flow->crossed += dt * fmax(before, flow->rate);
    flow->steps++;
    *due = flow->crossed + dt * flow->rate > 1 + 1e-9 ||
           ((op->changes || op->has_source) && flow->steps >= STEPS_MOST);
done:
    return status;
}
