/* The reference shapes, their faces, and how two elements see a face between them.
 *
 * Faces are affine images of their own reference shape, and so are changes of orientation: a point
 * s goes to centre + s₁ e₁ + s₂ e₂. Vertices have coordinates ±1, hence all entries of e are 0 or
 * ±1 and points of tensor shapes move without rounding. */
#include "element/element.h"

#include <assert.h>

static const eg_shape_info shapes[EG_SHAPE_COUNT] = {
    [EG_SHAPE_LINE] = {.name = "line",
                       .dim = 1,
                       .vertices = 2,
                       .faces = 2,
                       .face_vertices = 1,
                       .face_shape = EG_SHAPE_LINE,
                       .tensor = true,
                       .volume = 2.0,
                       .r = {{-1}, {1}},
                       .face = {{0}, {1}}},
    [EG_SHAPE_TRI] = {.name = "triangle",
                      .dim = 2,
                      .vertices = 3,
                      .faces = 3,
                      .face_vertices = 2,
                      .face_shape = EG_SHAPE_LINE,
                      .tensor = false,
                      .volume = 2.0,
                      .r = {{-1, -1}, {1, -1}, {-1, 1}},
                      .face = {{0, 1}, {1, 2}, {2, 0}}},
    [EG_SHAPE_QUAD] = {.name = "quadrilateral",
                       .dim = 2,
                       .vertices = 4,
                       .faces = 4,
                       .face_vertices = 2,
                       .face_shape = EG_SHAPE_LINE,
                       .tensor = true,
                       .volume = 4.0,
                       .r = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}},
                       .face = {{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
    [EG_SHAPE_TET] = {.name = "tetrahedron",
                      .dim = 3,
                      .vertices = 4,
                      .faces = 4,
                      .face_vertices = 3,
                      .face_shape = EG_SHAPE_TRI,
                      .tensor = false,
                      .volume = 4.0 / 3.0,
                      .r = {{-1, -1, -1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}},
                      .face = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}},
    [EG_SHAPE_HEX] = {.name = "hexahedron",
                      .dim = 3,
                      .vertices = 8,
                      .faces = 6,
                      .face_vertices = 4,
                      .face_shape = EG_SHAPE_QUAD,
                      .tensor = true,
                      .volume = 8.0,
                      .r = {{-1, -1, -1},
                            {1, -1, -1},
                            {1, 1, -1},
                            {-1, 1, -1},
                            {-1, -1, 1},
                            {1, -1, 1},
                            {1, 1, 1},
                            {-1, 1, 1}},
                      .face = {{0, 3, 2, 1},
                               {0, 1, 5, 4},
                               {1, 2, 6, 5},
                               {2, 3, 7, 6},
                               {3, 0, 4, 7},
                               {4, 5, 6, 7}}},
};

const eg_shape_info *eg_shape_get_info(eg_shape shape)
{
    assert((unsigned)shape < EG_SHAPE_COUNT);
    return &shapes[shape];
}

int eg_shape_face_direction(eg_shape shape, int face, bool *high)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    int direction = 0;
    assert(shape == EG_SHAPE_LINE || shape == EG_SHAPE_QUAD || shape == EG_SHAPE_HEX);
    for (int d = 0; d < info->dim; d++) {
        const double end = info->r[info->face[face][0]][d];
        bool same = true;
        for (int i = 1; i < info->face_vertices; i++)
            same = same && info->r[info->face[face][i]][d] == end;
        if (!same) continue;
        direction = d;
        *high = end > 0.0;
    }
    return direction;
}

int eg_shape_face_at(eg_shape shape, int direction, bool high)
{
    bool is_high = false;
    for (int face = 0; face < eg_shape_get_info(shape)->faces; face++)
        if (eg_shape_face_direction(shape, face, &is_high) == direction && is_high == high)
            return face;
    assert(false); /* the shape has this direction */
    return -1;
}

/* Maps points s [source dim][count] of the line, triangle or quadrilateral whose n vertices are
 * `vertex` of those at `at` to r [dim][count]. One vertex alone is a face of a line. */
static void map_points(int n, const int *vertex, const double (*at)[3], int dim, int count,
                       const double *s, double *r)
{
    const double *first = at[vertex[0]], *next = at[vertex[n > 1]], *last = at[vertex[n - 1]];
    for (int d = 0; d < dim; d++) {
        double *to = r + (size_t)d * (size_t)count;
        double centre = 0.5 * ((n > 2 ? next[d] : first[d]) + last[d]);
        double e1 = 0.5 * (next[d] - first[d]), e2 = 0.5 * (last[d] - first[d]);
        for (int i = 0; i < count; i++) {
            to[i] = centre;
            if (n > 1) to[i] += e1 * s[i];
            if (n > 2) to[i] += e2 * s[count + i];
        }
    }
}

void eg_shape_face_points(eg_shape shape, int face, int count, const double *s, double *r)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    assert(face >= 0 && face < info->faces);
    int vertex[EG_MAX_FACE_VERTICES];
    for (int i = 0; i < EG_MAX_FACE_VERTICES; i++)
        vertex[i] = (uint8_t)info->face[face][i];
    map_points(info->face_vertices, vertex, info->r, info->dim, count, s, r);
}

int eg_orientation_count(eg_shape face_shape)
{
    const eg_shape_info *info = eg_shape_get_info(face_shape);
    assert(info->dim < 3);
    return face_shape == EG_SHAPE_LINE ? 2 : 2 * info->vertices;
}

int eg_orientation_vertex(int face_vertices, int orientation, int vertex)
{
    int n = face_vertices, o = orientation;
    assert(o >= 0 && o < 2 * n && vertex >= 0 && vertex < n);
    return (o < n ? o + vertex : o - vertex) % n; /* o - n - vertex, kept from being negative */
}

void eg_orientation_points(eg_shape face_shape, int orientation, int count, const double *s,
                           double *neighbour_s)
{
    const eg_shape_info *info = eg_shape_get_info(face_shape);
    assert(orientation >= 0 && orientation < eg_orientation_count(face_shape));
    int vertex[EG_MAX_FACE_VERTICES] = {0};
    for (int i = 0; i < info->vertices; i++)
        vertex[i] = eg_orientation_vertex(info->vertices, orientation, i);
    map_points(info->vertices, vertex, info->r, info->dim, count, s, neighbour_s);
}
