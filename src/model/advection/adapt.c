/* Degrees that follow the solution: indicator and decision.
 *
 * With orthonormal modes the energy E_n of an element's modes of degree n, times its J, is their part of
 * ∫u². An element of degree N is judged by its highest modes, and a tenth of those one degree below, so
 * that a solution that is odd or even about its centre deceives nobody:
 *
 *     η² = J (E_N + θ² E_{N-1}),  θ = 1/10
 *
 * (the mean, n = 0, tells nothing and is left out). The measure is the root mean square of η over all
 * elements of all ranks, the equal share of each in the whole: if all but a few elements stay below a
 * fifth of it, they add less than 4 % to the square of the error that the few make. So the error is that
 * of the highest degree everywhere, whatever that is, and no tolerance need be given. An element is
 *
 *     raised by 1    if η > raise · share
 *     lowered to n   if J (Σ_{m>n} E_m + θ² E_n) ≤ (lower · share)², the least such n
 *     raised to the highest degree, like its neighbour, if their means differ by more than all their
 *                    modes explain, those of a linear function with a factor of 2 to spare: a jump
 *                    between elements, which their own modes do not show
 *
 * With several tracers the one that needs most decides. What is carried along will be in the next
 * element before the next decision, so an element gets at least the degree of those from which it flows
 * into it, through faces and, in as many rounds as there are dimensions, corners; and the highest degree
 * where something comes in through a boundary. At last degrees are raised until those of neighbours
 * differ by at most one.
 *
 * Sums over elements are added in their order on each rank, and then over ranks: the share differs by
 * rounding with the number of ranks, and so could a decision, if an η were within rounding of a bound.
 * Nothing is decided by rounding alone: a share is at least FLOOR of the root mean square of u. */
#include "model/advection/adapt.h"

#include "model/advection/parts.h"

#include <math.h>
#include <string.h>

#define BELOW (0.1 * 0.1) /* θ² */
#define FLOOR 1e-11

/* Degrees are bytes, and there are not more. */
#define DEGREES (EG_DEGREE_MAX_QUAD + 1)

struct eg_adapt {
    eg_context *ctx;     /* not owned */
    eg_device *device;   /* not owned */
    eg_comm *comm;       /* not owned */
    const eg_mesh *mesh; /* not owned */
    eg_adapt_options options;
    int components;
    double *jacobian; /* [elements] at the centre; owned, like all below */
    uint8_t *inflow;  /* [elements] bit f: it flows in through face f, somewhere */
    double crossing;  /* the time to cross an element */
    bool knows_flow;  /* the two are known, and do not change */
    uint8_t *degree;  /* [elements] of the field at hand */
    uint8_t *wanted;  /* [elements + ghosts] */
    uint8_t *before;  /* the same, before a round */
    double *energy;   /* [elements][components][DEGREES] */
    double *means; /* [elements + ghosts][components][2] the mode of the mean, the size of others */
    double *staged; /* energies of a group, as they come from the device; grows */
    size_t staged_count;
    uint8_t *sent; /* degrees for other ranks, link after link */
    double *means_sent;
    eg_exchange *exchange, *means_exchange;
};

/* --- creation ----------------------------------------------------------------------------------------- */

static void find_jacobians(eg_adapt *a)
{
    for (int32_t e = 0; e < a->mesh->element_count; e++) {
        const double centre[3] = {0, 0, 0};
        double nodes[EG_MAX_VERTICES * 3], factors[3][3], x[3];
        eg_mesh_element_nodes(a->mesh, e, nodes);
        a->jacobian[e] = fabs(eg_advection_factors(a->mesh, nodes, centre, factors, x));
    }
}

/* An exchange of `bytes` bytes for each element: those of own elements go from `send`, link after link,
 * straight to where the other rank has its ghosts in `all`. */
static eg_status create_exchange(const eg_adapt *a, size_t bytes, const void *send, void *all,
                                 eg_exchange **out)
{
    eg_status status = EG_OK;
    eg_message *messages = NULL;
    size_t sent = 0;
    EG_TRY(eg_comm_agree(a->comm, eg_new(a->ctx, (size_t)a->mesh->link_count, &messages)));
    for (int l = 0; l < a->mesh->link_count; l++) {
        const eg_mesh_link *link = &a->mesh->links[l];
        messages[l] = (eg_message){.rank = link->rank,
                                   .send_bytes = (size_t)link->send_count * bytes,
                                   .send = (const char *)send + sent * bytes,
                                   .receive_bytes = (size_t)link->receive_count * bytes,
                                   .receive = (char *)all + (size_t)link->receive_first * bytes};
        sent += (size_t)link->send_count;
    }
    EG_TRY(eg_exchange_create(a->comm, messages, (size_t)a->mesh->link_count, out));
done:
    eg_release(a->ctx, &messages);
    return status;
}

/* All that needs no other rank. */
static eg_status create(eg_adapt *a)
{
    const size_t own = (size_t)a->mesh->element_count, all = own + (size_t)a->mesh->ghost_count;
    eg_status status = EG_OK;
    size_t sent = 0;
    EG_TRY(eg_new(a->ctx, own, &a->jacobian));
    EG_TRY(eg_new(a->ctx, own, &a->inflow));
    EG_TRY(eg_new(a->ctx, own, &a->degree));
    EG_TRY(eg_new(a->ctx, all, &a->wanted));
    EG_TRY(eg_new(a->ctx, all, &a->before));
    EG_TRY(eg_new(a->ctx, own * (size_t)(a->components * DEGREES), &a->energy));
    EG_TRY(eg_new(a->ctx, all * (size_t)(2 * a->components), &a->means));
    for (int l = 0; l < a->mesh->link_count; l++)
        sent += (size_t)a->mesh->links[l].send_count;
    EG_TRY(eg_new(a->ctx, sent, &a->sent));
    EG_TRY(eg_new(a->ctx, sent * (size_t)(2 * a->components), &a->means_sent));
    find_jacobians(a);
done:
    return status;
}

eg_status eg_adapt_create(eg_device *device, eg_comm *comm, const eg_mesh *mesh, int components,
                          const eg_adapt_options *options, eg_adapt **out)
{
    eg_context *ctx = eg_device_context(device);
    eg_adapt *a = NULL;
    *out = NULL;
    eg_status status = eg_new(ctx, 1, &a);
    if (status == EG_OK) {
        *a = (eg_adapt){.ctx = ctx,
                        .device = device,
                        .comm = comm,
                        .mesh = mesh,
                        .options = *options,
                        .components = components};
        status = create(a);
    }
    EG_TRY(eg_comm_agree(comm, status));
    EG_TRY(create_exchange(a, 1, a->sent, a->wanted, &a->exchange));
    EG_TRY(create_exchange(a, 2 * sizeof(double) * (size_t)components, a->means_sent, a->means,
                           &a->means_exchange));
    *out = a;
    a = NULL;
done:
    eg_adapt_destroy(&a);
    return status;
}

void eg_adapt_destroy(eg_adapt **handle)
{
    eg_adapt *a = *handle;
    if (!a) return;
    eg_context *ctx = a->ctx;
    eg_exchange_destroy(&a->means_exchange);
    eg_exchange_destroy(&a->exchange);
    eg_release(ctx, &a->means_sent);
    eg_release(ctx, &a->sent);
    eg_release(ctx, &a->staged);
    eg_release(ctx, &a->means);
    eg_release(ctx, &a->energy);
    eg_release(ctx, &a->before);
    eg_release(ctx, &a->wanted);
    eg_release(ctx, &a->degree);
    eg_release(ctx, &a->inflow);
    eg_release(ctx, &a->jacobian);
    eg_release(ctx, handle);
}

/* --- neighbours ----------------------------------------------------------------------------------------- */

/* Fetches what other ranks want for the ghosts. */
static eg_status fill_ghosts(eg_adapt *a)
{
    eg_status status = EG_OK;
    size_t sent = 0;
    for (int l = 0; l < a->mesh->link_count; l++)
        for (int32_t k = 0; k < a->mesh->links[l].send_count; k++)
            a->sent[sent++] = a->wanted[a->mesh->links[l].send[k]];
    EG_TRY(eg_exchange_start(a->exchange));
    EG_TRY(eg_exchange_wait(a->exchange));
done:
    return status;
}

/* The highest degree where something comes in through a boundary. */
static void raise_at_boundaries(eg_adapt *a)
{
    const eg_mesh *mesh = a->mesh;
    if (!a->options.brings || mesh->boundary_count == 0) return;
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int f = 0; f < eg_shape_get_info((eg_shape)mesh->shape[e])->faces; f++) {
            const int32_t other =
                mesh->neighbour[(size_t)e * (size_t)mesh->face_stride + (size_t)f];
            if (other < 0 && a->options.brings[-1 - other] && a->inflow[e] >> f & 1)
                a->wanted[e] = (uint8_t)a->options.most;
        }
}

/* One round: elements get at least what neighbours had before it, less `fall`; through faces where it
 * flows in alone, if so. *changed: some have got more. */
static eg_status raise_by_neighbours(eg_adapt *a, bool inflow_only, int fall, bool *changed)
{
    const eg_mesh *mesh = a->mesh;
    const size_t all = (size_t)mesh->element_count + (size_t)mesh->ghost_count;
    eg_status status = EG_OK;
    EG_TRY(fill_ghosts(a));
    memcpy(a->before, a->wanted, all);
    *changed = false;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        const int32_t *neighbour = mesh->neighbour + (size_t)e * (size_t)mesh->face_stride;
        for (int f = 0; f < faces; f++) {
            if (neighbour[f] < 0 || (inflow_only && !(a->inflow[e] >> f & 1))) continue;
            const int least = a->before[neighbour[f]] - fall;
            if (a->wanted[e] >= least) continue;
            a->wanted[e] = (uint8_t)least;
            *changed = true;
        }
    }
done:
    return status;
}

/* Whether something has happened on any rank. */
static eg_status any_rank(const eg_adapt *a, bool *happened)
{
    double most = *happened ? 1 : 0;
    eg_status status = eg_comm_max(a->comm, 1, &most);
    *happened = most > 0;
    return status;
}

/* Raises what is wanted until neighbours differ by at most one; fills the ghosts. */
static eg_status even_out(eg_adapt *a)
{
    eg_status status = EG_OK;
    bool changed;
    do {
        EG_TRY(raise_by_neighbours(a, false, 1, &changed));
        EG_TRY(any_rank(a, &changed));
    } while (changed);
done:
    return status;
}

eg_status eg_adapt_even_out(eg_adapt *a, uint8_t *degrees)
{
    const size_t all = (size_t)a->mesh->element_count + (size_t)a->mesh->ghost_count;
    eg_status status = EG_OK;
    for (size_t e = 0; e < all; e++) {
        const int degree = degrees[e] < a->options.least ? a->options.least : degrees[e];
        a->wanted[e] = (uint8_t)(degree > a->options.most ? a->options.most : degree);
    }
    EG_TRY(even_out(a));
    memcpy(degrees, a->wanted, all);
done:
    return status;
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

/* Finds the faces through which it flows in, at their centres or corners, and how fast it is. */
static eg_status find_flow(eg_adapt *a, const eg_advection *op, double t)
{
    const int dim = a->mesh->dim;
    if (a->knows_flow) return EG_OK;
    for (int32_t e = 0; e < a->mesh->element_count; e++) {
        const eg_shape shape = (eg_shape)a->mesh->shape[e];
        double nodes[EG_MAX_VERTICES * 3];
        eg_mesh_element_nodes(a->mesh, e, nodes);
        a->inflow[e] = 0;
        for (int f = 0; f < eg_shape_get_info(shape)->faces; f++) {
            bool high = false;
            const int d = eg_shape_face_direction(shape, f, &high);
            for (int i = -1; i < 1 << dim; i++) {
                double r[3] = {0, 0, 0};
                for (int o = 0; i >= 0 && o < dim; o++)
                    r[o] = i >> o & 1 ? 1 : -1;
                r[d] = high ? 1 : -1;
                if (outwards(op, nodes, r, d, high, t) < 0) a->inflow[e] |= (uint8_t)(1U << f);
            }
        }
    }
    a->knows_flow = !op->changes;
    return eg_advection_crossing_time(op, t, &a->crossing);
}

/* --- the indicator --------------------------------------------------------------------------------------- */

static eg_status make_kernel(const eg_adapt *a, const eg_group *g, eg_kernel **out)
{
    const int side = g->degree + 1;
    const eg_define defines[] = {{"DIM", a->mesh->dim},
                                 {"M", side},
                                 {"NP", a->mesh->dim == 3 ? side * side * side : side * side},
                                 {"COMPONENTS", a->components}};
    return eg_kernel_create(a->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "model/advection/adapt.k.c",
                                                 .entry = "energies",
                                                 .real = EG_F64,
                                                 .lanes = g->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

/* Computes the energies of a group on the device and stages them. */
static eg_status stage_energies(eg_adapt *a, const eg_field *field, int group)
{
    const eg_group *g = &field->space->groups[group];
    const size_t count = (size_t)(g->own_tiles * g->lanes * a->components * (g->degree + 1));
    eg_kernel *kernel = NULL;
    eg_buffer *energies = NULL;
    eg_status status = EG_OK;
    if (count > a->staged_count) {
        eg_release(a->ctx, &a->staged);
        a->staged_count = 0;
        EG_TRY(eg_new(a->ctx, count, &a->staged));
        a->staged_count = count;
    }
    EG_TRY(make_kernel(a, g, &kernel));
    EG_TRY(eg_buffer_create(a->device, EG_F64, count, &energies));
    EG_TRY(eg_launch(kernel, g->own_tiles, EG_BUFFER_AT("u", field->data, field->offset[group]),
                     EG_BUFFER("out", energies)));
    EG_TRY(eg_buffer_download(energies, 0, count, a->staged));
done:
    eg_buffer_destroy(&energies);
    eg_kernel_destroy(&kernel);
    return status;
}

/* Sets apart the means of own elements, of which the energies were not computed. */
static void find_means(eg_adapt *a)
{
    for (int32_t e = 0; e < a->mesh->element_count; e++)
        for (int c = 0; c < a->components; c++) {
            const size_t at = (size_t)e * (size_t)a->components + (size_t)c;
            double *energy = a->energy + at * DEGREES, sum = 0;
            for (int n = 1; n <= a->degree[e]; n++)
                sum += energy[n];
            a->means[2 * at] = energy[0];
            a->means[2 * at + 1] = sqrt(sum);
            energy[0] *= energy[0];
        }
}

/* Energies and degrees of all own elements. */
static eg_status find_energies(eg_adapt *a, const eg_field *field)
{
    eg_status status = EG_OK;
    for (int group = 0; group < field->space->group_count; group++) {
        const eg_group *g = &field->space->groups[group];
        const int rows = a->components * (g->degree + 1);
        if (g->own_tiles == 0) continue;
        EG_TRY(stage_energies(a, field, group));
        for (int64_t slot = 0; slot < g->own_tiles * g->lanes; slot++) {
            const size_t e = (size_t)g->element_of_slot[slot];
            const double *from = a->staged + slot / g->lanes * rows * g->lanes + slot % g->lanes;
            double *to = a->energy + e * (size_t)(a->components * DEGREES);
            for (int row = 0; row < rows; row++)
                to[row / (g->degree + 1) * DEGREES + row % (g->degree + 1)] = from[row * g->lanes];
            a->degree[e] = (uint8_t)g->degree;
        }
    }
    find_means(a);
done:
    return status;
}

/* η² of one tracer, `energy` being those of its modes. */
static double indicator(const double *energy, int degree, double jacobian)
{
    const double below = degree > 1 ? BELOW * energy[degree - 1] : 0;
    return degree > 0 ? jacobian * (energy[degree] + below) : 0;
}

/* The square of the share for each tracer: share [components]. */
static eg_status find_shares(const eg_adapt *a, double *share)
{
    double sums[2 * EG_ADAPT_COMPONENTS_MAX] = {0}; /* η² and ∫u² */
    eg_status status = EG_OK;
    for (int32_t e = 0; e < a->mesh->element_count; e++)
        for (int c = 0; c < a->components; c++) {
            const double *energy =
                a->energy + ((size_t)e * (size_t)a->components + (size_t)c) * DEGREES;
            sums[2 * c] += indicator(energy, a->degree[e], a->jacobian[e]);
            for (int n = 0; n <= a->degree[e]; n++)
                sums[2 * c + 1] += a->jacobian[e] * energy[n];
        }
    EG_TRY(eg_comm_sum(a->comm, 2 * (size_t)a->components, sums));
    for (int c = 0; c < a->components; c++)
        share[c] =
            fmax(sums[2 * c], FLOOR * FLOOR * sums[2 * c + 1]) / (double)a->mesh->global_count;
done:
    return status;
}

/* What an element wants for one tracer. */
static int wanted_degree(const eg_adapt *a, const double *energy, int degree, double jacobian,
                         double share)
{
    const eg_adapt_options *o = &a->options;
    const double bound = o->lower * o->lower * share;
    int lowest = degree;
    double lost = 0;
    if (degree < o->least) return o->least;
    if (degree < o->most && indicator(energy, degree, jacobian) > o->raise * o->raise * share)
        return degree + 1;
    for (int n = degree - 1; n >= o->least; n--) {
        lost += jacobian * energy[n + 1];
        if (!(lost + BELOW * jacobian * energy[n] <= bound)) break; /* also of NaN */
        lowest = n;
    }
    return lowest;
}

/* Fetches the means of the ghosts. */
static eg_status fill_ghost_means(eg_adapt *a)
{
    const size_t values = 2 * (size_t)a->components;
    double *to = a->means_sent;
    eg_status status = EG_OK;
    for (int l = 0; l < a->mesh->link_count; l++)
        for (int32_t k = 0; k < a->mesh->links[l].send_count; k++, to += values)
            memcpy(to, a->means + (size_t)a->mesh->links[l].send[k] * values,
                   values * sizeof(double));
    EG_TRY(eg_exchange_start(a->means_exchange));
    EG_TRY(eg_exchange_wait(a->means_exchange));
done:
    return status;
}

/* Whether the means of an element and a neighbour differ by more than their modes explain. Of a linear
 * function on two equal elements they differ by sqrt(12) times a mode of degree 1. */
static bool jumps(const eg_adapt *a, int32_t e, int32_t other, const double *share)
{
    const double raise = a->options.raise;
    for (int c = 0; c < a->components; c++) {
        const double *mine = a->means + 2 * ((size_t)e * (size_t)a->components + (size_t)c);
        const double *its = a->means + 2 * ((size_t)other * (size_t)a->components + (size_t)c);
        const double jump = fabs(mine[0] - its[0]) - sqrt(12.0) * (mine[1] + its[1]);
        if (jump > 0 && a->jacobian[e] * jump * jump > raise * raise * share[c]) return true;
    }
    return false;
}

static void raise_at_jumps(eg_adapt *a, const double *share)
{
    const eg_mesh *mesh = a->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int f = 0; f < eg_shape_get_info((eg_shape)mesh->shape[e])->faces; f++) {
            const int32_t other =
                mesh->neighbour[(size_t)e * (size_t)mesh->face_stride + (size_t)f];
            if (other >= 0 && jumps(a, e, other, share)) a->wanted[e] = (uint8_t)a->options.most;
        }
}

eg_status eg_adapt_decide(eg_adapt *a, const eg_advection *op, double t, const eg_field *field,
                          eg_adapt_decision *out)
{
    double share[EG_ADAPT_COMPONENTS_MAX] = {0};
    eg_status status = EG_OK;
    bool raised;
    EG_TRY(eg_comm_agree(a->comm, find_energies(a, field)));
    EG_TRY(find_shares(a, share));
    EG_TRY(fill_ghost_means(a));
    for (int32_t e = 0; e < a->mesh->element_count; e++) {
        int most = 0;
        for (int c = 0; c < a->components; c++) {
            const double *energy =
                a->energy + ((size_t)e * (size_t)a->components + (size_t)c) * DEGREES;
            const int one = wanted_degree(a, energy, a->degree[e], a->jacobian[e], share[c]);
            if (one > most) most = one;
        }
        a->wanted[e] = (uint8_t)most;
    }
    raise_at_jumps(a, share);
    EG_TRY(find_flow(a, op, t));
    raise_at_boundaries(a);
    for (int d = 0; d < a->mesh->dim; d++)
        EG_TRY(raise_by_neighbours(a, true, 0, &raised));
    EG_TRY(even_out(a));
    *out = (eg_adapt_decision){
        .degrees = a->wanted,
        .changed = memcmp(a->wanted, a->degree, (size_t)a->mesh->element_count) != 0,
        .lasts = a->crossing};
    EG_TRY(any_rank(a, &out->changed));
done:
    return status;
}
