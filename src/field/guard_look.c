/* Looking at a field with a guard.
 *
 * A look is one launch that reads the field once and leaves a number for each element (where the
 * device would be idle otherwise: for parts of it), which says how bad it is: what is not finite
 * above what is not positive, above growth by its factor. The largest of them, by a reduction of
 * fixed order, is all that comes back, and nearly always says that all is well. Only else a
 * second kernel tells for each element what, how much and where, and the host picks the worst;
 * between what is equally bad the element with the lowest global number decides, so that ranks
 * and the order of elements do not.
 *
 * Values of modal bases are first computed at nodes, a batch of tiles at a time, and so are the
 * coordinates of nodes where a quantity depends on them. */
#include "field/guard_parts.h"

#include <math.h>
#include <string.h>

#include "field/space.h"

/* As in guard.k.c. */
#define SCORE_UNPHYSICAL 1e301
#define SCORE_NOT_FINITE 1e302
#define SCALE_MOST 1e300

/* --- values at the nodes of a batch ------------------------------------------------------------ */

/* Tiles [first, first + tiles) of a group, and the row at which their values begin. */
typedef struct batch {
    int group;
    int64_t first, tiles;
    eg_buffer *values;
    int64_t row;
} batch;

static eg_status bring(eg_guard *guard, const eg_field *field, batch *b)
{
    const eg_space *space = guard->space;
    eg_guard_group *m = &guard->groups[b->group];
    eg_status status = EG_OK;
    b->values = field->data;
    b->row = eg_field_row(field, b->group, b->first);
    if (guard->modal && guard->type == EG_F32) {
        if (!m->load)
            EG_TRY(eg_group_copy_kernel(space, &space->groups[b->group], "load", EG_F32, &m->load));
        EG_TRY(eg_field_copy(m->load, field, b->group, b->first, b->tiles, guard->u));
        b->values = guard->u;
        b->row = 0;
    }
    if (guard->modal) {
        EG_TRY(eg_points_multiply(m->nodes, &m->interpolation, b->tiles * guard->components,
                                  b->values, b->row, guard->scratch, guard->values));
        b->values = guard->values;
        b->row = 0;
    }
    if (guard->needs_x) EG_TRY(eg_points_coordinates(m->nodes, b->first, b->tiles, guard->x));
done:
    return status;
}

/* What is done with a batch. */
typedef eg_status batch_function(eg_guard *guard, const batch *b, void *user);

/* Goes through the own tiles of all groups, at most `most` at a time (0: as many as there is
 * room for). */
static eg_status go_through(eg_guard *guard, const eg_field *field, int64_t most,
                            batch_function *function, void *user)
{
    eg_status status = EG_OK;
    for (int group = 0; group < guard->space->group_count; group++) {
        const int64_t own = guard->space->groups[group].own_tiles;
        const int64_t room = guard->groups[group].batch;
        const int64_t step = most > 0 && most < room ? most : room;
        for (int64_t first = 0; first < own; first += step) {
            batch b = {group, first, first + step <= own ? step : own - first, NULL, 0};
            EG_TRY(bring(guard, field, &b));
            EG_TRY(function(guard, &b, user));
        }
    }
done:
    return status;
}

static eg_status check_field(const eg_guard *guard, const eg_field *field)
{
    eg_status status = eg_field_check(field, guard->space, guard->components);
    if (status == EG_OK && field->type != guard->type)
        return eg_fail(guard->space->ctx, EG_ERROR_ARGUMENT, "the field is of %s instead of %s",
                       eg_type_name(field->type), eg_type_name(guard->type));
    return status;
}

/* The largest score of this rank. */
static eg_status reduce(eg_guard *guard, double *most)
{
    const eg_reduction reduction = {.kind = EG_REDUCE_MAX, .x = guard->score};
    eg_status status = EG_OK;
    EG_TRY(eg_reduce(guard->reducer, guard->scores, &reduction, guard->result));
    EG_TRY(eg_buffer_download(guard->result, 0, 1, most));
done:
    return status;
}

/* --- looking ---------------------------------------------------------------------------------- */

static eg_status score_batch(eg_guard *guard, const batch *b, void *user)
{
    const eg_group *g = &guard->space->groups[b->group];
    const eg_guard_group *m = &guard->groups[b->group];
    const int64_t rows = b->tiles * m->parts;
    return eg_launch(
        m->look, eg_row_launches(rows), EG_INTEGER("rows", rows), EG_INTEGER("parts", m->parts),
        EG_INTEGER("own", b->first), EG_INTEGER("np", g->element->np),
        EG_REAL("time", *(const double *)user), EG_INTEGER("first", b->row),
        EG_BUFFER("values", b->values), EG_BUFFER("x", guard->x ? guard->x : guard->limit),
        EG_BUFFER("active", g->weight), EG_BUFFER("limit", guard->limit),
        EG_INTEGER("to", m->first_row + b->first * m->parts), EG_BUFFER("score", guard->score));
}

/* The largest score of this rank's elements. */
static eg_status score(eg_guard *guard, double t, const eg_field *field, const double *limit,
                       double *most)
{
    const size_t components = (size_t)guard->components;
    eg_status status = EG_OK;
    EG_TRY(check_field(guard, field));
    for (size_t c = 0; c < components; c++) {
        guard->limits[c] = limit[c];
        guard->limits[components + c] = fmin(1 / limit[c], SCALE_MOST);
    }
    EG_TRY(eg_buffer_upload(guard->limit, 0, 2 * components, guard->limits));
    EG_TRY(go_through(guard, field, 0, score_batch, &t));
    EG_TRY(reduce(guard, most));
done:
    return status;
}

/* --- the worst element ------------------------------------------------------------------------- */

/* True if a is worse than b, both of one kind. */
static bool is_worse(eg_guard_kind kind, const eg_guard_candidate *a, const eg_guard_candidate *b)
{
    if (a->which < 0 || b->which < 0) return a->which >= 0;
    if (kind == EG_GUARD_GROWTH && a->grown != b->grown) return a->grown > b->grown;
    if (kind == EG_GUARD_UNPHYSICAL) {
        if (a->which != b->which) return a->which < b->which;
        if (isnan(a->value) != isnan(b->value)) return isnan(a->value);
        if (a->value != b->value && !isnan(a->value)) return a->value < b->value;
    }
    return a->global < b->global;
}

/* The worst so far, and where it is. */
typedef struct search {
    eg_guard_kind kind;
    double t;
    eg_guard_candidate worst;
    int32_t element;
    int node;
} search;

static eg_status search_batch(eg_guard *guard, const batch *b, void *user)
{
    const eg_space *space = guard->space;
    const eg_group *g = &space->groups[b->group];
    const size_t lanes = (size_t)g->lanes;
    eg_guard_group *m = &guard->groups[b->group];
    search *s = user;
    eg_status status = EG_OK;

    EG_TRY(eg_guard_find_kernel(guard, b->group, "detail", &m->detail));
    EG_TRY(eg_launch(
        m->detail, eg_row_launches(b->tiles), EG_INTEGER("rows", b->tiles),
        EG_INTEGER("kind", s->kind), EG_INTEGER("own", b->first), EG_INTEGER("np", g->element->np),
        EG_REAL("time", s->t), EG_INTEGER("first", b->row), EG_BUFFER("values", b->values),
        EG_BUFFER("x", guard->x ? guard->x : guard->limit), EG_BUFFER("active", g->weight),
        EG_BUFFER("limit", guard->limit), EG_BUFFER("found", guard->found)));
    EG_TRY(eg_buffer_download(guard->found, 0, (size_t)b->tiles * 3 * lanes, guard->host));
    for (size_t i = 0; i < (size_t)b->tiles * lanes; i++) {
        const double *at = guard->host + i / lanes * 3 * lanes + i % lanes;
        const int32_t element = g->element_of_slot[(size_t)b->first * lanes + i];
        eg_guard_candidate found = {
            .which = at[0], .value = at[2 * lanes], .global = space->mesh->global[element]};
        if (found.which < 0) continue;
        if (s->kind == EG_GUARD_GROWTH)
            found.grown = fabs(found.value) * guard->limits[guard->components + (int)found.which];
        if (is_worse(s->kind, &found, &s->worst)) {
            s->worst = found;
            s->element = element;
            s->node = (int)at[lanes];
        }
    }
done:
    return status;
}

/* Coordinates of a node of an element. */
static eg_status find_place(const eg_guard *guard, int32_t element, int node, double x[3])
{
    const eg_space *space = guard->space;
    const eg_group *g = eg_space_group_of(space, element);
    const int dim = space->mesh->dim;
    double nodes[3 * EG_NP_MAX], value[EG_NP_MAX], gradient[3 * EG_NP_MAX], r[3];
    eg_element *nodal = NULL;
    eg_status status = EG_OK;
    if (guard->modal)
        EG_TRY(eg_element_create_bare(space->ctx, g->shape, g->degree, EG_BASIS_LOBATTO, &nodal));
    for (int d = 0; d < dim; d++)
        r[d] = (nodal ? nodal : g->element)->r[d * g->element->np + node];
    eg_mesh_element_nodes(space->mesh, element, nodes);
    eg_element_at(g->geometry, r, value, gradient);
    for (int i = 0; i < g->geometry->np; i++)
        for (int d = 0; d < dim; d++)
            x[d] += value[i] * nodes[i * dim + d];
done:
    eg_element_destroy(&nodal);
    return status;
}

/* The worst of one kind on this rank. */
static eg_status find_worst(eg_guard *guard, const eg_field *field, search *s)
{
    eg_status status = EG_OK;
    EG_TRY(go_through(guard, field, EG_GUARD_DETAIL_TILES, search_batch, s));
    if (s->worst.which >= 0) EG_TRY(find_place(guard, s->element, s->node, s->worst.x));
done:
    return status;
}

eg_status eg_guard_look(eg_guard *guard, double t, const eg_field *field, const double *limit,
                        eg_guard_finding *out)
{
    eg_comm *comm = guard->space->comm;
    double most = 0;
    eg_status status = EG_OK;

    *out = (eg_guard_finding){.kind = EG_GUARD_FINE};
    EG_TRY(eg_comm_agree(comm, score(guard, t, field, limit, &most)));
    EG_TRY(eg_comm_max(comm, 1, &most));
    if (most <= 0) return EG_OK;

    search s = {.kind = most >= SCORE_NOT_FINITE   ? EG_GUARD_NOT_FINITE
                        : most >= SCORE_UNPHYSICAL ? EG_GUARD_UNPHYSICAL
                                                   : EG_GUARD_GROWTH,
                .t = t,
                .worst = {.which = -1}};
    EG_TRY(eg_comm_agree(comm, find_worst(guard, field, &s)));
    EG_TRY(eg_comm_allgather(comm, sizeof s.worst, &s.worst, guard->ranks));
    eg_guard_candidate worst = guard->ranks[0];
    for (int rank = 1; rank < eg_comm_size(comm); rank++)
        if (is_worse(s.kind, &guard->ranks[rank], &worst)) worst = guard->ranks[rank];
    *out = (eg_guard_finding){
        .kind = s.kind, .which = (int)worst.which, .value = worst.value, .global = worst.global};
    memcpy(out->x, worst.x, sizeof out->x);
done:
    return status;
}

/* --- the largest values ------------------------------------------------------------------------ */

static eg_status largest_batch(eg_guard *guard, const batch *b, void *user)
{
    const eg_group *g = &guard->space->groups[b->group];
    eg_guard_group *m = &guard->groups[b->group];
    const int64_t rows = b->tiles * m->parts;
    eg_status status = EG_OK;
    EG_TRY(eg_guard_find_kernel(guard, b->group, "largest", &m->largest));
    EG_TRY(eg_launch(
        m->largest, eg_row_launches(rows), EG_INTEGER("rows", rows), EG_INTEGER("parts", m->parts),
        EG_INTEGER("own", b->first), EG_INTEGER("np", g->element->np), EG_INTEGER("first", b->row),
        EG_INTEGER("component", *(const int *)user), EG_BUFFER("values", b->values),
        EG_BUFFER("active", g->weight), EG_INTEGER("to", m->first_row + b->first * m->parts),
        EG_BUFFER("score", guard->score)));
done:
    return status;
}

static eg_status find_most(eg_guard *guard, const eg_field *field, double *most)
{
    eg_status status = EG_OK;
    EG_TRY(check_field(guard, field));
    for (int c = 0; c < guard->components; c++) {
        EG_TRY(go_through(guard, field, 0, largest_batch, &c));
        EG_TRY(reduce(guard, &most[c]));
    }
done:
    return status;
}

eg_status eg_guard_most(eg_guard *guard, const eg_field *field, double *most)
{
    eg_comm *comm = guard->space->comm;
    eg_status status = eg_comm_agree(comm, find_most(guard, field, most));
    return status == EG_OK ? eg_comm_max(comm, (size_t)guard->components, most) : status;
}
