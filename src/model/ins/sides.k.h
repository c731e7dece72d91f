/* What lies beyond the faces of triangles: a neighbour, or a face of the boundary with values that
 * are given there. Shared by the kernels of model `ins`, which have among their arguments
 *
 *     begin       where the group's values begin in fields, which are given whole
 *     beyond      [tiles][3][lanes] the neighbour's slot, or -1 - the number of a boundary face
 *     neighbour_face, own_node [3][NFP], other_node [3][2][NFP] as those of affine.k.c of `elliptic`
 *     kinds       [1 + boundary faces] -1, then one of those below
 *     given       [boundary faces in tiles][components][NFP][lanes] values at the face's nodes
 *     geometry    [tiles][5][lanes] J, ∂r/∂x, ∂r/∂y, ∂s/∂x, ∂s/∂y
 *     faces       [tiles][3][3][lanes] outward unit normal, sJ
 *
 * and, shared, where [3], data [3] and kind [3] (i64: as wide as the values they choose), some also nodes
 * [3]. */
#include "field/trace.k.h"

#define POINTS (3 * NFP)

/* Rows of a tile of the fields: more than those of a component where they have several. */
#ifndef ROWS_OF_FIELD
#define ROWS_OF_FIELD NP
#endif

/* As eg_ins_kind; a neighbour is -1. */
#define GIVEN 0
#define OUTFLOW 1
#define SLIP 2

#define GEOMETRY(i) K_TILE(geometry, t, 5)[(i) * LANES + lane]
#define NORMAL_X(f) K_TILE(faces, t, 9)[(3 * (f)) * LANES + lane]
#define NORMAL_Y(f) K_TILE(faces, t, 9)[(3 * (f) + 1) * LANES + lane]
#define FACE_SIZE(f) K_TILE(faces, t, 9)[(3 * (f) + 2) * LANES + lane]

/* where: the neighbour's first value; data: the first given at a boundary face that has `rows` rows. Both are
 * valid places, whichever of them is meant. */
#define FIND_BEYOND(f, rows)                                                                    \
    K_LANE                                                                                      \
    {                                                                                           \
        const i32 slot = K_TILE(beyond, t, 3)[f * LANES + lane];                                \
        const i32 number = K_MAX(-1 - slot, 0);                                                 \
        where[f][lane] = first_value(K_MAX(slot, 0), begin, ROWS_OF_FIELD, LANES);              \
        data[f][lane] = first_value(number, 0, rows, LANES);                                    \
        kind[f][lane] = kinds[K_MAX(-slot, 0)];                                                 \
    }

/* … and nodes: a row of other_node. */
#define FIND_SIDES(rows)                                                                        \
    K_ROWS(f, 3)                                                                                \
    {                                                                                           \
        K_LANEVAR(i32, byte);                                                                   \
        K_LANE K_L(byte) = K_TILE(neighbour_face, t, 3)[f * LANES + lane];                      \
        FIND_BEYOND(f, rows)                                                                    \
        K_LANE nodes[f][lane] = ((K_L(byte) & 7) * 2 + (K_L(byte) >> 3)) * NFP;                 \
    }

#if K_CPU
/* On CPUs nodes of neighbours are counted, as tables are gathered slowly (model/elliptic/affine.k.h): there [POINTS] (i64), shared as are way [9]
 * (i32) and across [6] (real), n times sJ/J. Boundaries, which few tiles have, come after all else. */
#define FIND_WAY(f, turn) \
    K_LANE \
    { \
        const walk w = walk_along(K_L(turn) & 7, K_L(turn) >> 3); \
        way[3 * f][lane] = w.first; \
        way[3 * f + 1][lane] = w.slope; \
        way[3 * f + 2][lane] = w.bend; \
    }
#define FIND_ACROSS(f) \
    K_LANE \
    { \
        const real size = FACE_SIZE(f) / GEOMETRY(0); \
        across[2 * f][lane] = size * NORMAL_X(f); \
        across[2 * f + 1][lane] = size * NORMAL_Y(f); \
    }
#define FIND_THERE(i, f, p) \
    K_LANE there[i][lane] = where[f][lane] + LANES * NODE_OF_WALK(way[3 * f][lane], way[3 * f + 1][lane], \
                                                                  way[3 * f + 2][lane], p);

K_FUNC int has_boundary(const i64 *kind)
{
    i64 most = -1;
    for (int i = 0; i < 3 * LANES; i++) most = K_MAX(most, kind[i]);
    return most >= 0;
}
#endif
