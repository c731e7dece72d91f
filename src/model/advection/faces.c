/* Faces of tensor elements: which direction they cross, and how a neighbour is turned against mine. */
#include "model/advection/parts.h"

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
            turn |= other << (2 + 2 * place) | (int)other_back << (7 + place);
            break;
        }
        place++;
    }
    return turn;
}

/* The turn of a neighbour that is not turned at all. */
static int straight_turn(const eg_shape_info *info, int face)
{
    bool high = false;
    const int across = eg_shape_face_direction(tensor_of(info->dim), face, &high);
    int turn = across | (int)high << 6, place = 0;
    for (int d = 0; d < info->dim; d++)
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
        bool high = false;
        const int d = eg_shape_face_direction(tensor_of(info->dim), f, &high);
        faces[2 * d + (int)high] = f;
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
    EG_TRY(eg_advection_upload(space, EG_I32, EG_COUNT(faces), faces, &a->faces));
    EG_TRY(eg_advection_upload(space, EG_I32, (size_t)(info->faces * EG_FACE_BYTES), turns,
                               &a->turns));
    EG_TRY(eg_advection_upload(space, EG_I32, (size_t)space->group_count, sides, &a->sides));
    EG_TRY(eg_advection_upload(space, EG_F64, EG_COUNT(legendre), legendre, &a->legendre));
    EG_TRY(eg_buffer_create(space->device, EG_F64, EG_SLOT_BLOCK, &a->no_register));
done:
    return status;
}

eg_status eg_advection_classify(eg_advection *a, int group, const int *turns)
{
    const eg_space *space = a->space;
    const eg_mesh *mesh = space->mesh;
    const eg_group *g = &space->groups[group];
    const eg_shape_info *info = eg_shape_get_info(g->shape);
    eg_advection_part *p = &a->parts[group];
    int32_t *kinds = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)g->own_tiles + 1, &kinds));
    p->most = g->degree + 1;
    for (int64_t i = 0; i < g->own_tiles * g->lanes; i++) {
        const size_t element = (size_t)g->element_of_slot[i];
        for (int f = 0; f < info->faces; f++) {
            const size_t at = element * (size_t)mesh->face_stride + (size_t)f;
            int32_t *kind = &kinds[i / g->lanes];
            if (mesh->neighbour[at] < 0) {
                *kind |= KIND_OUTER;
                continue;
            }
            const int32_t slot = space->slot_of_element[mesh->neighbour[at]];
            const int other = space->group_of_block[slot / EG_SLOT_BLOCK];
            const int side = space->groups[other].degree + 1;
            if (other != group ||
                turns[f * EG_FACE_BYTES + mesh->neighbour_face[at]] != straight_turn(info, f))
                *kind |= KIND_MIXED;
            if (side > p->most) p->most = side;
        }
        p->kinds_present |= kinds[i / g->lanes];
    }
    EG_TRY(eg_advection_upload(space, EG_I32, (size_t)g->own_tiles, kinds, &p->kinds));
done:
    eg_release(space->ctx, &kinds);
    return status;
}
