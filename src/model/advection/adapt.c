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
 *     lowered to n   if J (Σ_{m>n} E_m + θ² E_n) ≤ (lower · share)², the least such n of which it
 *                    would not be raised at once: J (E_n + θ² E_{n-1}) ≤ (raise · share)²
 *     raised to the highest degree, like its neighbour, if their means differ by more than all their
 *                    modes explain, those of a linear function with a factor of 2 to spare: a jump
 *                    between elements, which their own modes do not show
 *
 * With several tracers the one that needs most decides. What is carried along will be in the next
 * element before the next decision, so an element gets at least the degree of those from which it flows
 * into it, through faces and, in as many rounds as there are dimensions, corners; and the highest degree
 * where there is a source, and where something else comes in through a boundary than is there: a value that
 * is not the same everywhere and always, or one that differs from the element's. At last degrees are raised until those of neighbours
 * differ by at most one.
 *
 * Sums over elements are added in their order on each rank, and then over ranks: the share differs by
 * rounding with the number of ranks, and so could a decision, if an η were within rounding of a bound.
 * Nothing is decided by rounding alone: a share is at least FLOOR of the root mean square of u. All is
 * relative to the largest modes of a tracer anywhere, so that squares of any u are numbers. */
#include "model/advection/adapt.h"

#include "model/advection/flow.h"
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
    eg_flow flow;
    uint8_t *degree;                       /* [elements] of the field at hand */
    uint8_t *wanted;                       /* [elements + ghosts] */
    uint8_t *before;                       /* the same, before a round */
    double scale[EG_ADAPT_COMPONENTS_MAX]; /* the largest modes of each tracer; 1 if all are 0 */
    double *energy; /* [elements][components][DEGREES] of modes over their scale */
    double *means; /* [elements + ghosts][components][2] likewise, the mode of the mean, the size of
                     * others */
    double *staged; /* sizes of a group, as they come from the device; grows */
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
    EG_TRY(eg_comm_new(a->comm, a->ctx, (size_t)a->mesh->link_count, &messages));
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
    EG_TRY(eg_flow_create(a->ctx, a->mesh, a->components, a->options.source, &a->flow));
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
    if (components > EG_ADAPT_COMPONENTS_MAX)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "degrees are adapted to at most %d tracers, not %d",
                       EG_ADAPT_COMPONENTS_MAX, components);
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
    eg_flow_destroy(ctx, &a->flow);
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
            if (neighbour[f] < 0 || (inflow_only && !(a->flow.inflow[e] >> f & 1))) continue;
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

/* --- the indicator --------------------------------------------------------------------------------------- */

/* What there is of one tracer in an element: [DEGREES]. */
static double *energy_of(const eg_adapt *a, int32_t e, int c)
{
    return a->energy + ((size_t)e * (size_t)a->components + (size_t)c) * DEGREES;
}

/* Computes the sizes of a group's modes on the device and stages them. */
static eg_status stage_sizes(eg_adapt *a, const eg_field *field, int group)
{
    const eg_group *g = &field->space->groups[group];
    const size_t count = (size_t)(g->own_tiles * g->lanes * a->components * (g->degree + 1));
    eg_kernel *kernel = NULL;
    eg_buffer *sizes = NULL;
    eg_status status = EG_OK;
    if (count > a->staged_count) {
        eg_release(a->ctx, &a->staged);
        a->staged_count = 0;
        EG_TRY(eg_new(a->ctx, count, &a->staged));
        a->staged_count = count;
    }
    EG_TRY(eg_adapt_make_kernel(field, g, "sizes", &kernel));
    EG_TRY(eg_buffer_create(a->device, EG_F64, count, &sizes));
    EG_TRY(eg_launch(kernel, g->own_tiles, EG_BUFFER_AT("u", field->data, field->offset[group]),
                     EG_BUFFER("out", sizes)));
    EG_TRY(eg_buffer_download(sizes, 0, count, a->staged));
done:
    eg_buffer_destroy(&sizes);
    eg_kernel_destroy(&kernel);
    return status;
}

/* The sizes of modes, which become their energies later, and the degrees of all own elements. */
static eg_status find_sizes(eg_adapt *a, const eg_field *field)
{
    eg_status status = EG_OK;
    for (int group = 0; group < field->space->group_count; group++) {
        const eg_group *g = &field->space->groups[group];
        const int rows = a->components * (g->degree + 1);
        if (g->own_tiles == 0) continue;
        EG_TRY(stage_sizes(a, field, group));
        for (int64_t slot = 0; slot < g->own_tiles * g->lanes; slot++) {
            const size_t e = (size_t)g->element_of_slot[slot];
            const double *from = a->staged + slot / g->lanes * rows * g->lanes + slot % g->lanes;
            double *to = a->energy + e * (size_t)(a->components * DEGREES);
            for (int row = 0; row < rows; row++)
                to[row / (g->degree + 1) * DEGREES + row % (g->degree + 1)] = from[row * g->lanes];
            a->degree[e] = (uint8_t)g->degree;
        }
    }
done:
    return status;
}

/* Makes sizes energies, over their scale, and sets apart the means. */
static void find_energies(eg_adapt *a)
{
    for (int32_t e = 0; e < a->mesh->element_count; e++)
        for (int c = 0; c < a->components; c++) {
            const size_t at = (size_t)e * (size_t)a->components + (size_t)c;
            double *energy = energy_of(a, e, c), sum = 0;
            for (int n = 0; n <= a->degree[e]; n++) {
                const double size = energy[n] / a->scale[c];
                energy[n] = size * size;
                if (n == 0) a->means[2 * at] = size;
                if (n > 0) sum += energy[n];
            }
            a->means[2 * at + 1] = sqrt(sum);
        }
}

/* The largest modes of each tracer on all ranks. */
static eg_status find_scales(eg_adapt *a)
{
    eg_status status = EG_OK;
    for (int c = 0; c < a->components; c++) {
        a->scale[c] = 0;
        for (int32_t e = 0; e < a->mesh->element_count; e++)
            for (int n = 0; n <= a->degree[e]; n++)
                a->scale[c] = fmax(a->scale[c], fabs(energy_of(a, e, c)[n]));
    }
    EG_TRY(eg_comm_max(a->comm, (size_t)a->components, a->scale));
    for (int c = 0; c < a->components; c++)
        if (a->scale[c] == 0) a->scale[c] = 1;
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
            const double *energy = energy_of(a, e, c);
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
    const double bound = o->lower * o->lower * share, raise = o->raise * o->raise * share;
    int lowest = degree;
    double lost = 0;
    if (degree < o->least) return o->least;
    if (degree < o->most && indicator(energy, degree, jacobian) > raise) return degree + 1;
    for (int n = degree - 1; n >= o->least; n--) {
        lost += jacobian * energy[n + 1];
        if (!(lost + BELOW * jacobian * energy[n] <= bound)) break; /* also of NaN */
        if (indicator(energy, n, jacobian) > raise) break;
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

/* Whether through a boundary something else comes into an element than is there. Of a constant the mode of
 * the mean is 2^(dim/2) times its value. */
static bool brings(const eg_adapt *a, int32_t e, int boundary, const double *share)
{
    const double variables[EG_VARIABLE_COUNT] = {0}, raise = a->options.raise;
    for (int c = 0; c < a->components; c++) {
        const eg_expression *value =
            a->options.boundary ? a->options.boundary[boundary * a->components + c] : NULL;
        for (int v = 0; value && v < EG_VARIABLE_COUNT; v++)
            if (eg_expression_uses(value, v)) return true;
        const double *mine = a->means + 2 * ((size_t)e * (size_t)a->components + (size_t)c);
        const double mean = value ? eg_expression_evaluate(value, variables) / a->scale[c] *
                                        sqrt(a->mesh->dim == 3 ? 8.0 : 4.0)
                                  : 0;
        const double differs = fabs(mine[0] - mean) + mine[1];
        if (a->jacobian[e] * differs * differs > raise * raise * share[c]) return true;
    }
    return false;
}

/* The highest degree where there is a source, and where something comes in through a boundary. */
static void raise_where_it_comes_in(eg_adapt *a, const double *share)
{
    const eg_mesh *mesh = a->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        bool new = a->flow.sources[e];
        for (int f = 0; f < eg_shape_get_info((eg_shape)mesh->shape[e])->faces && !new; f++) {
            const int32_t other =
                mesh->neighbour[(size_t)e * (size_t)mesh->face_stride + (size_t)f];
            new = other < 0 && a->flow.inflow[e] >> f & 1 && brings(a, e, -1 - other, share);
        }
        if (new) a->wanted[e] = (uint8_t)a->options.most;
    }
}

eg_status eg_adapt_decide(eg_adapt *a, eg_advection *op, double t, const eg_field *field,
                          eg_adapt_decision *out)
{
    double share[EG_ADAPT_COMPONENTS_MAX] = {0};
    eg_status status = EG_OK;
    bool raised;
    EG_TRY(eg_comm_agree(a->comm, find_sizes(a, field)));
    EG_TRY(find_scales(a));
    find_energies(a);
    EG_TRY(find_shares(a, share));
    EG_TRY(fill_ghost_means(a));
    for (int32_t e = 0; e < a->mesh->element_count; e++) {
        int most = 0;
        for (int c = 0; c < a->components; c++) {
            const double *energy = energy_of(a, e, c);
            const int one = wanted_degree(a, energy, a->degree[e], a->jacobian[e], share[c]);
            if (one > most) most = one;
        }
        a->wanted[e] = (uint8_t)most;
    }
    raise_at_jumps(a, share);
    EG_TRY(eg_flow_look(&a->flow, op, t));
    raise_where_it_comes_in(a, share);
    for (int d = 0; d < a->mesh->dim; d++)
        EG_TRY(raise_by_neighbours(a, true, 0, &raised));
    EG_TRY(even_out(a));
    *out = (eg_adapt_decision){
        .degrees = a->wanted,
        .changed = memcmp(a->wanted, a->degree, (size_t)a->mesh->element_count) != 0};
    EG_TRY(any_rank(a, &out->changed));
done:
    return status;
}

void eg_adapt_show(eg_adapt *a, eg_state *out)
{
    const eg_state_number numbers[] = {{"adapt.rate", &a->flow.rate},
                                       {"adapt.crossed", &a->flow.crossed},
                                       {"adapt.steps", &a->flow.steps}};
    for (size_t i = 0; i < EG_COUNT(numbers); i++)
        out->numbers[out->number_count++] = numbers[i];
}

eg_status eg_adapt_step(eg_adapt *a, eg_advection *op, int64_t step, double t, double dt, bool *due)
{
    if (a->options.every == 0) return eg_flow_step(&a->flow, op, t, dt, due);
    *due = step % a->options.every == 0;
    return EG_OK;
}
