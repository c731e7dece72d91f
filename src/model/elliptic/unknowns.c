/* Numbers of unknowns: elements in the order of a Hilbert curve through the whole mesh, and in them
 * nodes; or vertices, each where the first element that has it stands. */
#include "model/elliptic/unknowns.h"

#include "mesh/build.h"
#include "mesh/ghosts.h"

#include <math.h>

/* --- between ranks ---------------------------------------------------------------------------- */

/* A value of an element, and where it belongs. */
typedef struct record {
    int64_t place;
    uint64_t value;
} record;

/* This rank's records, filled up to `most`, and room for those of all ranks. */
static eg_status prepare_records(const eg_mesh *mesh, int ranks, size_t most, const int64_t *place,
                                 const uint64_t *value, record **mine, record **all)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(mesh->ctx, most, mine));
    EG_TRY(eg_new(mesh->ctx, most * (size_t)ranks, all));
    for (size_t e = 0; e < most; e++)
        (*mine)[e] =
            e < (size_t)mesh->element_count ? (record){place[e], value[e]} : (record){-1, 0};
done:
    return status;
}

/* out[place[e]] = value[e] of own elements of all ranks: out [global_count]. */
static eg_status collect(const eg_mesh *mesh, eg_comm *comm, const int64_t *place,
                         const uint64_t *value, uint64_t *out)
{
    const int ranks = eg_comm_size(comm);
    record *mine = NULL, *all = NULL;
    double most = mesh->element_count;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_max(comm, 1, &most));
    EG_TRY(
        eg_comm_agree(comm, prepare_records(mesh, ranks, (size_t)most, place, value, &mine, &all)));
    EG_TRY(eg_comm_allgather(comm, (size_t)most * sizeof *mine, mine, all));
    for (size_t i = 0; i < (size_t)most * (size_t)ranks; i++)
        if (all[i].place >= 0) out[all[i].place] = all[i].value;
done:
    eg_release(mesh->ctx, &all);
    eg_release(mesh->ctx, &mine);
    return status;
}

/* --- elements --------------------------------------------------------------------------------- */

/* The cube around the whole mesh. */
static eg_status find_cube(const eg_mesh *mesh, eg_comm *comm, double low[3], double *extent)
{
    double ends[6];
    eg_status status = EG_OK;
    for (int d = 0; d < 6; d++)
        ends[d] = -INFINITY;
    for (int64_t i = 0; i < mesh->vertex_count * mesh->dim; i++) {
        const int d = (int)(i % mesh->dim);
        ends[d] = fmax(ends[d], -mesh->x[i]);
        ends[3 + d] = fmax(ends[3 + d], mesh->x[i]);
    }
    EG_TRY(eg_comm_max(comm, 6, ends));
    *extent = 0;
    for (int d = 0; d < mesh->dim; d++) {
        low[d] = -ends[d];
        *extent = fmax(*extent, ends[d] + ends[3 + d]);
    }
done:
    return status;
}

/* Where elements stand on the curve; arrays of one for each element of the whole mesh. */
typedef struct places {
    uint64_t *mine, *keys; /* of own elements; of all, by their global numbers */
    int32_t *order;        /* global numbers along the curve */
} places;

static eg_status make_places(const eg_mesh *mesh, places *p)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->element_count, &p->mine));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->global_count, &p->keys));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->global_count, &p->order));
done:
    return status;
}

/* number [elements + ghosts] */
static eg_status number_elements(const eg_mesh *mesh, eg_comm *comm, int64_t *number)
{
    places p = {0};
    double low[3] = {0}, extent;
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(comm, make_places(mesh, &p)));
    EG_TRY(find_cube(mesh, comm, low, &extent));
    eg_mesh_curve_keys(mesh, low, extent, p.mine);
    EG_TRY(collect(mesh, comm, mesh->global, p.mine, p.keys));
    for (int32_t g = 0; g < mesh->global_count; g++)
        p.order[g] = g;
    EG_TRY(
        eg_comm_agree(comm, eg_sort_keys(mesh->ctx, (size_t)mesh->global_count, p.keys, p.order)));
    for (int32_t i = 0; i < mesh->global_count; i++)
        p.keys[p.order[i]] = (uint64_t)i;
    for (int32_t e = 0; e < mesh->element_count + mesh->ghost_count; e++)
        number[e] = (int64_t)p.keys[mesh->global[e]];
done:
    eg_release(mesh->ctx, &p.order);
    eg_release(mesh->ctx, &p.keys);
    eg_release(mesh->ctx, &p.mine);
    return status;
}

/* --- vertices --------------------------------------------------------------------------------- */

/* A corner is called by the first of the corners it is one with, that of the element with the least
 * number: element * CORNERS + corner. */
enum { CORNERS = EG_MAX_VERTICES };

typedef struct corner {
    int64_t name;
    int64_t first, last; /* of the bodies around it, by name; first > last: none */
    bool soft;           /* no body, but next to something that is far stiffer */
} corner;

/* What a corner learns from that behind a face, over which k jumps or not; whether that is new to it. */
typedef bool lesson(corner *mine, const corner *other, int8_t jump);

static bool learn_name(corner *mine, const corner *other, int8_t jump)
{
    if (jump != 0 || other->name >= mine->name) return false;
    mine->name = other->name;
    return true;
}

static bool learn_softness(corner *mine, const corner *other, int8_t jump)
{
    if (mine->soft || !(jump > 0 || (jump == 0 && other->soft))) return false;
    mine->soft = true;
    return true;
}

static bool learn_bodies(corner *mine, const corner *other, int8_t jump)
{
    const int64_t first = mine->first, last = mine->last;
    (void)jump;
    if (!mine->soft) return false;
    mine->first = other->first < first ? other->first : first;
    mine->last = other->last > last ? other->last : last;
    return mine->first != first || mine->last != last;
}

/* Each corner of own elements learns from those behind faces; returns how many learnt something, which
 * can be said of a corner but finitely often. */
static int64_t look_behind(const eg_mesh *mesh, const int8_t *jumps, lesson *learn, corner *corners)
{
    int64_t changes = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[e]);
        for (int f = 0; f < info->faces; f++) {
            const int64_t at = e * (int64_t)mesh->face_stride + f;
            const int32_t other = mesh->neighbour[at];
            if (other < 0) continue;
            const int8_t *there = info->face[EG_FACE(mesh->neighbour_face[at])];
            for (int i = 0; i < info->face_vertices; i++) {
                const int turned = eg_orientation_vertex(
                    info->face_vertices, EG_ORIENTATION(mesh->neighbour_face[at]), i);
                changes += learn(&corners[e * (int64_t)CORNERS + info->face[f][i]],
                                 &corners[other * (int64_t)CORNERS + there[turned]],
                                 jumps ? jumps[at] : 0);
            }
        }
    }
    return changes;
}

/* Until there is nothing more to learn on any rank. */
static eg_status look_around(const eg_mesh *mesh, eg_comm *comm, eg_mesh_ghosts *ghosts,
                             const int8_t *jumps, lesson *learn, corner *corners)
{
    double changes;
    eg_status status = EG_OK;
    do {
        changes = (double)look_behind(mesh, jumps, learn, corners);
        EG_TRY(eg_mesh_ghosts_fill(ghosts));
        EG_TRY(eg_comm_sum(comm, 1, &changes));
    } while (changes > 0);
done:
    return status;
}

/* corners [elements + ghosts][CORNERS], from the elements' numbers. */
static eg_status name_corners(const eg_mesh *mesh, eg_comm *comm, const int64_t *number,
                              const int8_t *jumps, corner *corners)
{
    const int64_t count = ((int64_t)mesh->element_count + mesh->ghost_count) * CORNERS;
    eg_mesh_ghosts *ghosts = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_mesh_ghosts_create(mesh, comm, CORNERS * sizeof *corners, corners, &ghosts));
    for (int64_t i = 0; i < count; i++)
        corners[i] = (corner){.name = number[i / CORNERS] * CORNERS + i % CORNERS};
    EG_TRY(look_around(mesh, comm, ghosts, jumps, learn_name, corners));
    if (!jumps) goto done;
    EG_TRY(look_around(mesh, comm, ghosts, jumps, learn_softness, corners));
    for (int64_t i = 0; i < count; i++) {
        corners[i].first = corners[i].soft ? INT64_MAX : corners[i].name;
        corners[i].last = corners[i].soft ? -1 : corners[i].name;
    }
    EG_TRY(look_around(mesh, comm, ghosts, jumps, learn_bodies, corners));
    for (int64_t i = 0; i < count; i++)
        if (corners[i].first == corners[i].last) corners[i].name = corners[i].first;
done:
    eg_mesh_ghosts_destroy(&ghosts);
    return status;
}

/* Which corners of own elements have their own names: bits of firsts [elements]. */
static void find_firsts(const eg_mesh *mesh, const int64_t *number, const corner *named,
                        uint64_t *firsts)
{
    for (int64_t e = 0; e < mesh->element_count; e++) {
        const int corners = eg_shape_get_info((eg_shape)mesh->shape[e])->vertices;
        firsts[e] = 0;
        for (int i = 0; i < corners; i++)
            if (named[e * CORNERS + i].name == number[e] * CORNERS + i)
                firsts[e] |= (uint64_t)1 << i;
    }
}

static int bits_below(uint64_t bits, int end)
{
    int count = 0;
    for (int i = 0; i < end; i++)
        count += (int)(bits >> i & 1);
    return count;
}

/* The nodes of degree 1 are the corners: corner [np] says which. */
static void match_corners(const eg_element *element, int *out)
{
    const eg_shape_info *info = eg_shape_get_info(element->shape);
    for (int i = 0; i < element->np; i++)
        for (int v = 0; v < info->vertices; v++) {
            double apart = 0;
            for (int d = 0; d < element->dim; d++)
                apart = fmax(apart, fabs(element->r[d * element->np + i] - info->r[v][d]));
            if (apart < 0.5) out[i] = v;
        }
}

/* What is needed to number vertices. */
typedef struct vertices {
    corner *named;          /* [elements + ghosts][CORNERS] */
    uint64_t *firsts, *all; /* [elements], [global_count] by number */
    int32_t *before;        /* [global_count + 1] vertices of elements before */
} vertices;

static eg_status make_vertices(const eg_mesh *mesh, vertices *v)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(mesh->ctx, ((size_t)mesh->element_count + (size_t)mesh->ghost_count) * CORNERS,
                  &v->named));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->element_count, &v->firsts));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->global_count, &v->all));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->global_count + 1, &v->before));
done:
    return status;
}

static eg_status number_vertices(const eg_space *space, const int64_t *number, const int8_t *jumps,
                                 eg_unknowns *u)
{
    const eg_mesh *mesh = space->mesh;
    vertices v = {0};
    int at[CORNERS] = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(space->comm, make_vertices(mesh, &v)));
    EG_TRY(name_corners(mesh, space->comm, number, jumps, v.named));
    find_firsts(mesh, number, v.named, v.firsts);
    EG_TRY(collect(mesh, space->comm, number, v.firsts, v.all));
    for (int64_t n = 0; n < mesh->global_count; n++)
        v.before[n + 1] = v.before[n] + bits_below(v.all[n], CORNERS);
    u->count = v.before[mesh->global_count];
    match_corners(space->groups[0].element, at);
    for (int64_t e = 0; e < mesh->element_count + mesh->ghost_count; e++)
        for (int i = 0; i < u->np; i++) {
            const int64_t name = v.named[e * CORNERS + at[i]].name, first = name / CORNERS;
            u->number[e * u->np + i] =
                v.before[first] + bits_below(v.all[first], (int)(name % CORNERS));
        }
done:
    eg_release(mesh->ctx, &v.before);
    eg_release(mesh->ctx, &v.all);
    eg_release(mesh->ctx, &v.firsts);
    eg_release(mesh->ctx, &v.named);
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

static eg_status check(const eg_space *space, bool continuous)
{
    const eg_element *e = space->groups[0].element;
    const double count = (double)space->mesh->global_count * (double)e->np;
    bool alike = !continuous || (e->degree == 1 && e->basis == EG_BASIS_LOBATTO);
    for (int i = 1; i < space->group_count; i++)
        alike = alike && space->groups[i].element == e;
    if (!alike)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                       "%sunknowns of elements of degree %d, in %d groups",
                       continuous ? "continuous " : "", e->degree, space->group_count);
    if (count > INT32_MAX)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                       "a matrix with %.0f rows; there may be %d: its degree must be lower", count,
                       INT32_MAX);
    return EG_OK;
}

static eg_status allocate(const eg_space *space, int64_t **number, eg_unknowns **out)
{
    const size_t elements = (size_t)space->mesh->element_count + (size_t)space->mesh->ghost_count;
    const int np = space->groups[0].element->np;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, elements, number));
    EG_TRY(eg_new(space->ctx, 1, out));
    **out = (eg_unknowns){.ctx = space->ctx, .np = np};
    EG_TRY(eg_new(space->ctx, elements * (size_t)np, &(*out)->number));
done:
    return status;
}

eg_status eg_unknowns_create(const eg_space *space, bool continuous, const int8_t *jumps,
                             eg_unknowns **out)
{
    const eg_mesh *mesh = space->mesh;
    int64_t *number = NULL;
    eg_unknowns *u = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_agree(space->comm, check(space, continuous)));
    EG_TRY(eg_comm_agree(space->comm, allocate(space, &number, &u)));
    EG_TRY(number_elements(mesh, space->comm, number));
    if (continuous) {
        EG_TRY(number_vertices(space, number, jumps, u));
    } else {
        u->count = (int32_t)(mesh->global_count * u->np);
        for (int64_t e = 0; e < mesh->element_count + mesh->ghost_count; e++)
            for (int i = 0; i < u->np; i++)
                u->number[e * u->np + i] = (int32_t)(number[e] * u->np + i);
    }
    *out = u;
    u = NULL;
done:
    eg_unknowns_destroy(&u);
    eg_release(mesh->ctx, &number);
    return status;
}

void eg_unknowns_destroy(eg_unknowns **unknowns)
{
    if (!unknowns || !*unknowns) return;
    eg_context *ctx = (*unknowns)->ctx;
    eg_release(ctx, &(*unknowns)->number);
    eg_release(ctx, unknowns);
}

size_t eg_node_place(const eg_field *like, int32_t element, int node)
{
    const eg_space *space = like->space;
    const int32_t slot = space->slot_of_element[element];
    const int group = space->group_of_block[slot / EG_SLOT_BLOCK];
    const eg_group *g = &space->groups[group];
    const int64_t in_group = slot - g->first_slot;
    return like->offset[group] +
           (size_t)((in_group / g->lanes * g->element->np + node) * g->lanes + in_group % g->lanes);
}
