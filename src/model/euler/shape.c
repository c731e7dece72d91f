/* What the elements of model `euler` are like: how their faces meet, their sizes, which are
 * rectangles. */
#include "model/euler/parts.h"

#include <math.h>
#include <string.h>

/* Sides that differ by less than this, relative to the size of an element, differ by rounding of
 * coordinates. */
#define SAME_TOLERANCE 1e-11

/* --- faces ------------------------------------------------------------------------------------ */

/* Whether coordinate d grows from the first of two vertices of a face to the other. */
static bool grows(const eg_shape_info *info, int face, int from, int to, int d)
{
    return info->r[info->face[face][from]][d] < info->r[info->face[face][to]][d];
}

/* The first point of the neighbour's trace behind my face, in rows, and the rows from one to the
 * next, when points are taken in the order of my coordinate along the face; and without traces of
 * their own the rows from a point to the one further inside. */
static void find_start(const eg_euler *a, int face, int other, int orientation, int32_t *start,
                       int32_t *step, int32_t *inward)
{
    const eg_shape_info *info = eg_shape_get_info(EG_SHAPE_QUAD);
    const int side = a->degree + 1, last = side - 1;
    bool high = false, other_high = false;
    const int across = eg_shape_face_direction(EG_SHAPE_QUAD, face, &high);
    const int other_across = eg_shape_face_direction(EG_SHAPE_QUAD, other, &other_high);
    const int from = eg_orientation_vertex(2, orientation, 0);
    const int to = eg_orientation_vertex(2, orientation, 1);
    const bool turned =
        grows(info, face, 0, 1, 1 - across) != grows(info, other, from, to, 1 - other_across);
    if (a->gauss) {
        *start = (2 * other_across + other_high) * EG_EULER_COMPONENTS * side + (turned ? last : 0);
        *step = turned ? -1 : 1;
        *inward = 0;
    } else {
        const int stride = other_across == 0 ? side : 1, depth = other_across == 0 ? 1 : side;
        *start = (other_high ? last * depth : 0) + (turned ? last * stride : 0);
        *step = turned ? -stride : stride;
        *inward = other_high ? -depth : depth;
    }
}

eg_status eg_euler_share_tables(eg_euler *a)
{
    const eg_shape_info *info = eg_shape_get_info(EG_SHAPE_QUAD);
    int32_t faces[4], starts[3][4][EG_FACE_BYTES] = {{{0}}};
    eg_status status = EG_OK;
    for (int f = 0; f < info->faces; f++) {
        faces[f] = eg_shape_face_at(EG_SHAPE_QUAD, f / 2, f % 2);
        for (int byte = 0; byte < EG_FACE_BYTES; byte++)
            if (EG_FACE(byte) < info->faces &&
                EG_ORIENTATION(byte) < eg_orientation_count(info->face_shape))
                find_start(a, f, EG_FACE(byte), EG_ORIENTATION(byte), &starts[0][f][byte],
                           &starts[1][f][byte], &starts[2][f][byte]);
    }
    EG_TRY(eg_space_upload(a->space, EG_I32, EG_COUNT(faces), faces, &a->faces));
    EG_TRY(eg_space_upload(a->space, EG_I32, sizeof starts / sizeof(int32_t), starts, &a->starts));
done:
    return status;
}

int64_t eg_euler_neighbour_place(const eg_euler *a, int group, int32_t element, int end)
{
    const eg_space *space = a->space;
    const eg_mesh *mesh = space->mesh;
    const int face = eg_shape_face_at(EG_SHAPE_QUAD, end / 2, end % 2);
    const size_t at = (size_t)element * (size_t)mesh->face_stride + (size_t)face;
    const int opposite = eg_shape_face_at(EG_SHAPE_QUAD, end / 2, end % 2 == 0);
    int32_t start, step, inward;
    if (mesh->neighbour[at] < 0 || EG_FACE(mesh->neighbour_face[at]) != opposite) return -1;
    find_start(a, face, opposite, EG_ORIENTATION(mesh->neighbour_face[at]), &start, &step, &inward);
    const int32_t slot = space->slot_of_element[mesh->neighbour[at]];
    if (step < 0 || space->group_of_block[slot / EG_SLOT_BLOCK] != group) return -1;
    return slot - space->groups[group].first_slot;
}

/* Whether the neighbours of a tile's elements behind an end stand in few pieces, and which. */
static bool find_pieces(const eg_euler *a, int group, int64_t tile, int end, int32_t *run)
{
    const eg_group *g = &a->space->groups[group];
    int64_t place[EG_SLOT_BLOCK]; /* lanes are fewer */
    for (int lane = 0; lane < g->lanes; lane++)
        place[lane] =
            eg_euler_neighbour_place(a, group, g->element_of_slot[tile * g->lanes + lane], end);
    return eg_find_pieces(g->lanes, place, run);
}

/* --- elements --------------------------------------------------------------------------------- */

/* Corners [4][2] of an element: (-, -), (+, -), (-, +), (+, +). */
static void find_corners(const eg_mesh *mesh, int32_t element, double *corners)
{
    const int last = mesh->order, side = last + 1;
    double nodes[(EG_DEGREE_MAX_QUAD + 1) * (EG_DEGREE_MAX_QUAD + 1) * 2];
    eg_mesh_element_nodes(mesh, element, nodes);
    for (int i = 0; i < 4; i++)
        memcpy(corners + 2 * i, nodes + 2 * (i % 2 * last + i / 2 * last * side),
               2 * sizeof *corners);
}

static double longest_side(const double *p)
{
    static const int ends[4][2] = {{0, 1}, {1, 3}, {3, 2}, {2, 0}};
    double longest = 0;
    for (int i = 0; i < 4; i++) {
        const double *a = p + 2 * ends[i][0], *b = p + 2 * ends[i][1];
        longest = fmax(longest, hypot(b[0] - a[0], b[1] - a[1]));
    }
    return longest;
}

/* Half the cross product of its diagonals. */
static double area_of(const double *p)
{
    return 0.5 * ((p[6] - p[0]) * (p[5] - p[3]) - (p[7] - p[1]) * (p[4] - p[2]));
}

/* Whether it is a rectangle along x and y with these sides. */
static bool is_rectangle(const double *p, const double *sides)
{
    const double slack = SAME_TOLERANCE * (sides[0] + sides[1]);
    const double found[4][2] = {{p[2] - p[0], p[3] - p[1]},
                                {p[6] - p[4], p[7] - p[5]},
                                {p[4] - p[0], p[5] - p[1]},
                                {p[6] - p[2], p[7] - p[3]}};
    for (int i = 0; i < 4; i++)
        for (int e = 0; e < 2; e++)
            if (!(fabs(found[i][e] - (i / 2 == e ? sides[e] : 0)) <= slack)) return false;
    return true;
}

static bool is_outer(const eg_mesh *mesh, int32_t element)
{
    for (int f = 0; f < 4; f++)
        if (mesh->neighbour[(size_t)element * (size_t)mesh->face_stride + (size_t)f] < 0)
            return true;
    return false;
}

eg_status eg_euler_classify(eg_euler *a, int group)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[group];
    const size_t count = (size_t)(g->own_tiles * g->lanes);
    eg_euler_part *p = &a->parts[group];
    int32_t *kinds = NULL, *runs = NULL;
    double *nearness = NULL, corners[8];
    const int cells = a->scheme.method == EG_EULER_FV ? a->degree + 1 : 1; /* along a side */
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)g->own_tiles + 1, &kinds));
    EG_TRY(eg_new(space->ctx, (size_t)(g->own_tiles + 1) * 4 * EG_PIECE_VALUES, &runs));
    EG_TRY(eg_new(space->ctx, count + 1, &nearness));
    p->curved = g->curved && space->mesh->order > 1;
    p->cartesian = count > 0 && !p->curved;
    for (size_t i = 0; i < count; i++) {
        const int32_t element = g->element_of_slot[i];
        find_corners(space->mesh, element, corners);
        if (i == 0) {
            p->sides[0] = corners[2] - corners[0];
            p->sides[1] = corners[5] - corners[1];
        }
        p->cartesian = p->cartesian && is_rectangle(corners, p->sides);
        nearness[i] = cells * longest_side(corners) / area_of(corners);
        if (!is_outer(space->mesh, element)) continue;
        kinds[i / (size_t)g->lanes] |= KIND_OUTER;
        p->outer = true;
    }
    for (int64_t i = 0; i < 4 * g->own_tiles; i++)
        if (!find_pieces(a, group, i / 4, (int)(i % 4), &runs[i * EG_PIECE_VALUES]))
            kinds[i / 4] |= KIND_MIXED;
    if (p->curved) EG_TRY(eg_euler_make_metric(a, group, nearness));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->own_tiles + 1, kinds, &p->kinds));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)(g->own_tiles + 1) * 4 * EG_PIECE_VALUES, runs,
                           &p->runs));
    EG_TRY(eg_space_upload(space, EG_F64, count + 1, nearness, &p->nearness));
done:
    eg_release(space->ctx, &nearness);
    eg_release(space->ctx, &runs);
    eg_release(space->ctx, &kinds);
    return status;
}
