/* Gmsh's element types and the order of their nodes.
 *
 * An element's nodes are its vertices, then the nodes inside each edge, inside each face, and
 * inside the volume. Those inside an edge run from its first vertex to its second. Those inside
 * a face or a volume are numbered like a smaller element of the same shape, a layer of the
 * lattice further in, and so on to the centre. Types, edges and faces are those of Gmsh's manual
 * [geuzaine2009]. */
#include "mesh/gmsh/nodes.h"

#include <assert.h>
#include <string.h>

#define EDGES_MAX 12

typedef struct gmsh_shape {
    int type[EG_GMSH_ORDER_MAX]; /* of orders 1, 2, …; 0: none */
    int layer; /* how much lower the order of the element is that the nodes inside make up */
    int edge_count;
    uint8_t edge[EDGES_MAX][2];
    int face_count; /* of volumes */
    uint8_t face[EG_MAX_FACES][EG_MAX_FACE_VERTICES];
} gmsh_shape;

static const gmsh_shape shapes[EG_SHAPE_COUNT] = {
    [EG_SHAPE_LINE] = {.type = {1, 8, 26, 27, 28, 62, 63, 64, 65, 66},
                       .layer = EG_GMSH_ORDER_MAX + 1, /* its one edge is all of it */
                       .edge_count = 1,
                       .edge = {{0, 1}}},
    [EG_SHAPE_TRI] = {.type = {2, 9, 21, 23, 25, 42, 43, 44, 45, 46},
                      .layer = 3,
                      .edge_count = 3,
                      .edge = {{0, 1}, {1, 2}, {2, 0}}},
    [EG_SHAPE_QUAD] = {.type = {3, 10, 36, 37, 38, 47, 48, 49, 50, 51},
                       .layer = 2,
                       .edge_count = 4,
                       .edge = {{0, 1}, {1, 2}, {2, 3}, {3, 0}}},
    [EG_SHAPE_TET] = {.type = {4, 11, 29, 30, 31, 71, 72, 73, 74, 75},
                      .layer = 4,
                      .edge_count = 6,
                      .edge = {{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 2}, {3, 1}},
                      .face_count = 4,
                      .face = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {3, 1, 2}}},
    [EG_SHAPE_HEX] = {.type = {5, 12, 92, 93, 94, 95, 96, 97, 98},
                      .layer = 2,
                      .edge_count = 12,
                      .edge = {{0, 1},
                               {0, 3},
                               {0, 4},
                               {1, 2},
                               {1, 5},
                               {2, 3},
                               {2, 6},
                               {3, 7},
                               {4, 5},
                               {4, 7},
                               {5, 6},
                               {6, 7}},
                      .face_count = 6,
                      .face = {{0, 3, 2, 1},
                               {0, 1, 5, 4},
                               {0, 4, 7, 3},
                               {1, 2, 6, 5},
                               {2, 3, 7, 6},
                               {4, 5, 6, 7}}},
};

int eg_gmsh_type(eg_shape shape, int order)
{
    return order >= 1 && order <= EG_GMSH_ORDER_MAX ? shapes[shape].type[order - 1] : 0;
}

typedef struct node_list {
    int count;
    int8_t (*at)[3];
} node_list;

/* The node `steps` of the `order` steps on the way from a to b. */
static void put_between(node_list *list, const int8_t a[3], const int8_t b[3], int steps, int order)
{
    for (int d = 0; d < 3; d++)
        list->at[list->count][d] = (int8_t)(a[d] + steps * (b[d] - a[d]) / order);
    list->count++;
}

static void put_inside(node_list *list, eg_shape shape, int order,
                       int8_t corner[EG_MAX_VERTICES][3]);

/* All nodes of an element of that order with these corners. */
static void put_element(node_list *list, eg_shape shape, int order,
                        int8_t corner[EG_MAX_VERTICES][3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    const gmsh_shape *gmsh = &shapes[shape];
    if (order == 0) { /* the corners are one */
        put_between(list, corner[0], corner[0], 0, 1);
        return;
    }
    for (int v = 0; v < info->vertices; v++)
        put_between(list, corner[v], corner[v], 0, 1);
    for (int e = 0; e < gmsh->edge_count; e++)
        for (int i = 1; i < order; i++)
            put_between(list, corner[gmsh->edge[e][0]], corner[gmsh->edge[e][1]], i, order);
    for (int f = 0; f < gmsh->face_count; f++) {
        int8_t face_corner[EG_MAX_VERTICES][3] = {{0}};
        for (int v = 0; v < info->face_vertices; v++)
            memcpy(face_corner[v], corner[gmsh->face[f][v]], sizeof face_corner[v]);
        put_inside(list, info->face_shape, order, face_corner);
    }
    put_inside(list, shape, order, corner);
}

/* The nodes inside. Their corners lie one step along all edges that meet in a corner further in. */
static void put_inside(node_list *list, eg_shape shape, int order,
                       int8_t corner[EG_MAX_VERTICES][3])
{
    const gmsh_shape *gmsh = &shapes[shape];
    if (order < gmsh->layer) return;
    int8_t inner[EG_MAX_VERTICES][3];
    memcpy(inner, corner, sizeof inner);
    for (int e = 0; e < gmsh->edge_count; e++) {
        const int a = gmsh->edge[e][0], b = gmsh->edge[e][1];
        for (int d = 0; d < 3; d++) {
            const int step = (corner[b][d] - corner[a][d]) / order;
            inner[a][d] = (int8_t)(inner[a][d] + step);
            inner[b][d] = (int8_t)(inner[b][d] - step);
        }
    }
    put_element(list, shape, order - gmsh->layer, inner);
}

int eg_gmsh_nodes(eg_shape shape, int order, int8_t lattice[][3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    assert(eg_gmsh_type(shape, order) != 0);
    int8_t corner[EG_MAX_VERTICES][3] = {{0}};
    for (int v = 0; v < info->vertices; v++)
        for (int d = 0; d < info->dim; d++)
            corner[v][d] = (int8_t)(info->r[v][d] > 0.0 ? order : 0);
    node_list list = {.at = lattice};
    put_element(&list, shape, order, corner);
    return list.count;
}
