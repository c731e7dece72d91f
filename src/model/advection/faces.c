/* Faces of tensor elements: which direction they cross, and how a neighbour is turned against mine. */
#include "model/advection/parts.h"

#include <assert.h>
#include <math.h>

/* The shape of all elements of a mesh. */
static eg_shape tensor_of(int dim)
{
    return dim == 3 ? EG_SHAPE_HEX : EG_SHAPE_QUAD;
}

/* Where vertex `to` of a face lies from vertex `from`, if that is along one direction: *back says
 * whether downwards. Else -1. */
static int edge_direction(const eg_shape_info *info, int face, int from, int to, bool *back)
{
    int direction = -1, count = 0;
    for (int d = 0; d < info->dim; d++) {
        const double step = info->r[info->face[face][to]][d] - info->r[info->face[face][from]][d];
        if (step == 0) continue;
        direction = d;
        *back = step < 0;
        count++;
    }
    return count == 1 ? direction : -1;
}

/* How the neighbour behind my face is turned: TURN_… of advection.k.h. */
static int find_turn(const eg_shape_info *info, int face, int other_face, int orientation)
{
    const int n = info->face_vertices;
    bool high = false, mine_high = false;
    int turn = eg_shape_face_direction(tensor_of(info->dim), other_face, &high), place = 0;
    if (!high) turn |= 1 << 6;
    const int across = eg_shape_face_direction(tensor_of(info->dim), face, &mine_high);
    for (int d = 0; d < info->dim; d++) {
        if (d == across) continue;
        for (int i = 0; i < n; i++) {
            bool back = false, other_back = false;
            if (edge_direction(info, face, i, (i + 1) % n, &back) != d || back) continue;
            const int from = eg_orientation_vertex(n, orientation, i);
            const int to = eg_orientation_vertex(n, orientation, (i + 1) % n);
            const int other = edge_direction(info, other_face, from, to, &other_back);
            assert(other >= 0); /* what is an edge for one is so for the other */
            turn |= other << (2 + 2 * place) | (int)other_back << (7 + place);
            break;
        }
        place++;
    }
    return turn;
}

/* The turn of a neighbour that is not turned at all. */
static int straight_turn(int dim, int face)
{
    bool high = false;
    const int across = eg_shape_face_direction(tensor_of(dim), face, &high);
    int turn = across | (int)high << 6, place = 0;
    for (int d = 0; d < dim; d++)
        if (d != across) turn |= d << (2 + 2 * place++);
    return turn;
}

eg_status eg_advection_share_tables(eg_advection *a, int *turns)
{
    const eg_space *space = a->space;
    const eg_shape_info *info = eg_shape_get_info(tensor_of(a->dim));
    int32_t faces[6] = {0}, sides[UINT8_MAX + 1];
    double legendre[EG_DEGREE_MAX_QUAD + 1];
    eg_status status = EG_OK;
    for (int f = 0; f < info->faces; f++) {
        faces[f] = eg_shape_face_at(tensor_of(a->dim), f / 2, f % 2);
        for (int byte = 0; byte < EG_FACE_BYTES; byte++) {
            const bool real = EG_FACE(byte) < info->faces &&
                              EG_ORIENTATION(byte) < eg_orientation_count(info->face_shape);
            turns[f * EG_FACE_BYTES + byte] =
                real ? find_turn(info, f, EG_FACE(byte), EG_ORIENTATION(byte)) : 0;
        }
    }
    for (int g = 0; g < space->group_count; g++)
        sides[g] = space->groups[g].degree + 1;
    for (int i = 0; i <= EG_DEGREE_MAX_QUAD; i++)
        legendre[i] = sqrt(2.0 * i + 1.0);
    EG_TRY(eg_space_upload(space, EG_I32, EG_COUNT(faces), faces, &a->faces));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)(info->faces * EG_FACE_BYTES), turns, &a->turns));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)space->group_count, sides, &a->sides));
    EG_TRY(eg_space_upload(space, EG_F64, EG_COUNT(legendre), legendre, &a->legendre));
    EG_TRY(eg_buffer_create(space->device, EG_F64, EG_SLOT_BLOCK, &a->no_register));
done:
    return status;
}

eg_neighbour eg_advection_neighbour(const eg_space *space, const eg_group *g, int64_t place,
                                    int end, const int *turns)
{
    const eg_mesh *mesh = space->mesh;
    const int face = eg_shape_face_at(g->shape, end / 2, end % 2);
    const size_t at = (size_t)g->element_of_slot[place] * (size_t)mesh->face_stride + (size_t)face;
    if (mesh->neighbour[at] < 0) return (eg_neighbour){EG_OUTSIDE, mesh->neighbour[at]};
    const int32_t slot = space->slot_of_element[mesh->neighbour[at]];
    const int group = space->group_of_block[slot / EG_SLOT_BLOCK];
    const int turn = turns[face * EG_FACE_BYTES + mesh->neighbour_face[at]];
    if (turn != straight_turn(mesh->dim, face) || space->groups[group].lanes != g->lanes)
        return (eg_neighbour){EG_TURNED, 0};
    return (eg_neighbour){group, slot - space->groups[group].first_slot};
}

/* Whether the neighbours of a tile's elements are of the same group and stand in few pieces, and which. */
static bool find_pieces(const eg_space *space, int group, int64_t tile, int end, const int *turns,
                        int32_t *run)
{
    const eg_group *g = &space->groups[group];
    int64_t place[EG_SLOT_BLOCK]; /* lanes are fewer */
    for (int lane = 0; lane < g->lanes; lane++) {
        const eg_neighbour other =
            eg_advection_neighbour(space, g, tile * g->lanes + lane, end, turns);
        place[lane] = other.group == group ? other.place : -1;
    }
    return eg_find_pieces(g->lanes, place, run);
}

/* The most modes a side among the neighbours of an element, and whether one is a boundary. */
static int side_around(const eg_space *space, int32_t element, bool *outer)
{
    const eg_mesh *mesh = space->mesh;
    int most = 0;
    for (int f = 0; f < eg_shape_get_info((eg_shape)mesh->shape[element])->faces; f++) {
        const size_t at = (size_t)element * (size_t)mesh->face_stride + (size_t)f;
        if (mesh->neighbour[at] < 0) {
            *outer = true;
            continue;
        }
        const int32_t slot = space->slot_of_element[mesh->neighbour[at]];
        const int side = space->groups[space->group_of_block[slot / EG_SLOT_BLOCK]].degree + 1;
        if (side > most) most = side;
    }
    return most;
}

/* Lists the tiles of KIND_MIXED. */
static eg_status list_mixed(const eg_space *space, const eg_group *g, const int32_t *kinds,
                            eg_advection_part *p)
{
    int32_t *list = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)g->own_tiles + 1, &list));
    for (int64_t tile = 0; tile < g->own_tiles; tile++) {
        if (tile == g->interior_tiles) p->mixed_interior = p->mixed_tiles;
        if (kinds[tile] & KIND_MIXED) list[p->mixed_tiles++] = (int32_t)tile;
    }
    if (g->interior_tiles == g->own_tiles) p->mixed_interior = p->mixed_tiles;
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)p->mixed_tiles + 1, list, &p->mixed));
done:
    eg_release(space->ctx, &list);
    return status;
}

eg_status eg_advection_classify(eg_advection *a, int group, const int *turns)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[group];
    const int ends = 2 * a->dim;
    eg_advection_part *p = &a->parts[group];
    int32_t *kinds = NULL, *runs = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)g->own_tiles + 1, &kinds));
    EG_TRY(eg_new(space->ctx, (size_t)(g->own_tiles * ends + 1) * EG_PIECE_VALUES, &runs));
    p->most = g->degree + 1;
    for (int64_t i = 0; i < g->own_tiles * g->lanes; i++) {
        bool outer = false;
        const int most = side_around(space, g->element_of_slot[i], &outer);
        if (outer) kinds[i / g->lanes] |= KIND_OUTER;
        if (most > p->most) p->most = most;
        p->kinds_present |= kinds[i / g->lanes];
    }
    if (!p->modal) goto done; /* `points` needs no more */
    for (int64_t tile = 0; tile < g->own_tiles; tile++) {
        for (int end = 0; end < ends; end++) {
            int32_t *run = &runs[EG_PIECE_VALUES * (tile * ends + end)];
            if (!p->parallel || !find_pieces(space, group, tile, end, turns, run))
                kinds[tile] |= KIND_MIXED;
            else if (end == 2 && run[0] == g->lanes && run[2] == (tile - 1) * g->lanes)
                kinds[tile] |= KIND_CLIMBS;
        }
        p->kinds_present |= kinds[tile];
    }
    EG_TRY(list_mixed(space, g, kinds, p));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->own_tiles, kinds, &p->kinds));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)(g->own_tiles * ends) * EG_PIECE_VALUES, runs,
                           &p->runs));
done:
    eg_release(space->ctx, &runs);
    eg_release(space->ctx, &kinds);
    return status;
}
