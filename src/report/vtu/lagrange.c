/* The order of nodes in VTK's Lagrange cells [vtkformats].
 *
 * Vertices come first, then what lies within edges, faces and the inside, in this order. Triangles
 * and tetrahedra begin anew within: the inside of degree n is a triangle of degree n - 3, or a
 * tetrahedron of degree n - 4, numbered alike. Within edges, faces and the inside of quadrilaterals
 * and hexahedra r grows fastest, then s, then t.
 *
 * Nodes are points of a lattice: i, j, k from 0 to the degree, as in element/element.h. */
#include "report/vtu/lagrange.h"

#include <assert.h>

#define CELL_TRIANGLE 5 /* VTK's numbers of cells */
#define CELL_QUAD 9
#define CELL_TETRA 10
#define CELL_HEXAHEDRON 12
#define CELL_LAGRANGE_TRIANGLE 69
#define CELL_LAGRANGE_QUADRILATERAL 70
#define CELL_LAGRANGE_TETRAHEDRON 71
#define CELL_LAGRANGE_HEXAHEDRON 72

static const struct cell {
    eg_shape shape;
    int linear, lagrange;
} cells[] = {{EG_SHAPE_TRI, CELL_TRIANGLE, CELL_LAGRANGE_TRIANGLE},
             {EG_SHAPE_QUAD, CELL_QUAD, CELL_LAGRANGE_QUADRILATERAL},
             {EG_SHAPE_TET, CELL_TETRA, CELL_LAGRANGE_TETRAHEDRON},
             {EG_SHAPE_HEX, CELL_HEXAHEDRON, CELL_LAGRANGE_HEXAHEDRON}};

int eg_lagrange_cell(eg_shape shape)
{
    size_t i = 0;
    while (cells[i].shape != shape)
        i++;
    return cells[i].lagrange;
}

bool eg_lagrange_shape(int64_t cell, bool *linear, eg_shape *shape)
{
    for (size_t i = 0; i < EG_COUNT(cells); i++) {
        if (cell != cells[i].linear && cell != cells[i].lagrange) continue;
        *linear = cell == cells[i].linear;
        *shape = cells[i].shape;
        return true;
    }
    return false;
}

int eg_lagrange_degree(eg_shape shape, int64_t nodes)
{
    const int most = shape == EG_SHAPE_QUAD ? EG_DEGREE_MAX_QUAD : EG_DEGREE_MAX;
    for (int degree = 1; degree <= most; degree++)
        if (eg_mode_count(shape, degree) == nodes) return degree;
    return 0;
}

/* Where nodes are put one after another. */
typedef struct list {
    eg_shape shape;
    int degree;
    int count;
    int *order;
} list;

typedef struct point {
    int at[3];
} point;

static void put(list *l, point p)
{
    const int N = l->degree, n = N + 1, i = p.at[0], j = p.at[1], k = p.at[2];
    int node = i + n * (j + n * k);
    if (l->shape == EG_SHAPE_TRI || l->shape == EG_SHAPE_TET) {
        const int m = N - k; /* degree of the triangle at this height */
        node = j * (m + 1) - j * (j - 1) / 2 + i;
        if (l->shape == EG_SHAPE_TET)
            node += eg_mode_count(EG_SHAPE_TET, N) - eg_mode_count(EG_SHAPE_TET, m);
    }
    l->order[l->count++] = node;
}

/* a + (step of the way from a to b, which has `parts` parts) */
static point along(point a, point b, int parts, int step)
{
    for (int d = 0; d < 3; d++)
        a.at[d] += (b.at[d] - a.at[d]) / parts * step;
    return a;
}

static void put_edge(list *l, int degree, point a, point b)
{
    for (int i = 1; i < degree; i++)
        put(l, along(a, b, degree, i));
}

/* One part of the way from a to each of the others: a corner of what lies within. */
static point inwards(int degree, point a, const point *others, int count)
{
    point p = a;
    for (int i = 0; i < count; i++)
        for (int d = 0; d < 3; d++)
            p.at[d] += (others[i].at[d] - a.at[d]) / degree;
    return p;
}

static void put_triangle(list *l, int degree, point a, point b, point c);

static void put_inside_triangle(list *l, int degree, point a, point b, point c)
{
    if (degree < 3) return;
    put_triangle(l, degree - 3, inwards(degree, a, (point[]){b, c}, 2),
                 inwards(degree, b, (point[]){a, c}, 2), inwards(degree, c, (point[]){a, b}, 2));
}

static void put_triangle(list *l, int degree, point a, point b, point c)
{
    put(l, a);
    if (degree == 0) return;
    put(l, b);
    put(l, c);
    put_edge(l, degree, a, b);
    put_edge(l, degree, b, c);
    put_edge(l, degree, c, a);
    put_inside_triangle(l, degree, a, b, c);
}

static void put_tetrahedron(list *l, int degree, point a, point b, point c, point d)
{
    static const int edges[6][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3}, {2, 3}};
    static const int faces[4][3] = {{0, 1, 3}, {2, 3, 1}, {0, 3, 2}, {0, 2, 1}};
    const point corner[4] = {a, b, c, d};
    put(l, a);
    if (degree == 0) return;
    for (int v = 1; v < 4; v++)
        put(l, corner[v]);
    for (int e = 0; e < 6; e++)
        put_edge(l, degree, corner[edges[e][0]], corner[edges[e][1]]);
    for (int f = 0; f < 4; f++)
        put_inside_triangle(l, degree, corner[faces[f][0]], corner[faces[f][1]],
                            corner[faces[f][2]]);
    if (degree < 4) return;
    put_tetrahedron(l, degree - 4, inwards(degree, a, (point[]){b, c, d}, 3),
                    inwards(degree, b, (point[]){a, c, d}, 3),
                    inwards(degree, c, (point[]){a, b, d}, 3),
                    inwards(degree, d, (point[]){a, b, c}, 3));
}

/* All nodes with low ≤ i, j, k ≤ high. */
static void put_block(list *l, point low, point high)
{
    for (int k = low.at[2]; k <= high.at[2]; k++)
        for (int j = low.at[1]; j <= high.at[1]; j++)
            for (int i = low.at[0]; i <= high.at[0]; i++)
                put(l, (point){{i, j, k}});
}

/* The quadrilateral at height k: its vertices, or what lies within its edges. */
static void put_square_vertices(list *l, int k)
{
    const int N = l->degree;
    put(l, (point){{0, 0, k}});
    put(l, (point){{N, 0, k}});
    put(l, (point){{N, N, k}});
    put(l, (point){{0, N, k}});
}

static void put_square_edges(list *l, int k)
{
    const int N = l->degree, m = N - 1;
    put_block(l, (point){{1, 0, k}}, (point){{m, 0, k}});
    put_block(l, (point){{N, 1, k}}, (point){{N, m, k}});
    put_block(l, (point){{1, N, k}}, (point){{m, N, k}});
    put_block(l, (point){{0, 1, k}}, (point){{0, m, k}});
}

static void put_hexahedron(list *l, eg_lagrange_version version)
{
    const int N = l->degree, m = N - 1;
    const int upright[2][4][2] = {[EG_LAGRANGE_OLD] = {{0, 0}, {N, 0}, {0, N}, {N, N}},
                                  [EG_LAGRANGE_21] = {{0, 0}, {N, 0}, {N, N}, {0, N}}};
    put_square_vertices(l, 0);
    put_square_vertices(l, N);
    put_square_edges(l, 0);
    put_square_edges(l, N);
    for (int e = 0; e < 4; e++) {
        const int i = upright[version][e][0], j = upright[version][e][1];
        put_block(l, (point){{i, j, 1}}, (point){{i, j, m}});
    }
    for (int d = 0; d < 3; d++)
        for (int end = 0; end <= N; end += N) {
            point low = {{1, 1, 1}}, high = {{m, m, m}};
            low.at[d] = high.at[d] = end;
            put_block(l, low, high);
        }
    put_block(l, (point){{1, 1, 1}}, (point){{m, m, m}});
}

void eg_lagrange_order(eg_shape shape, int degree, eg_lagrange_version version, int *order)
{
    list l = {.shape = shape, .degree = degree, .order = order};
    const int N = degree;
    const point a = {{0, 0, 0}}, b = {{N, 0, 0}}, c = {{0, N, 0}}, d = {{0, 0, N}};
    assert(degree >= 1);
    switch (shape) {
    case EG_SHAPE_TRI:
        put_triangle(&l, N, a, b, c);
        break;
    case EG_SHAPE_QUAD:
        put_square_vertices(&l, 0);
        put_square_edges(&l, 0);
        put_block(&l, (point){{1, 1, 0}}, (point){{N - 1, N - 1, 0}});
        break;
    case EG_SHAPE_TET:
        put_tetrahedron(&l, N, a, b, c, d);
        break;
    case EG_SHAPE_HEX:
        put_hexahedron(&l, version);
        break;
    case EG_SHAPE_LINE:
        break;
    }
    assert(l.count == eg_mode_count(shape, degree));
}

eg_status eg_lagrange_find(eg_lagrange_orders *orders, eg_shape shape, int degree, const int **out)
{
    int **order = &orders->at[shape][degree];
    if (!*order) {
        const eg_status status = eg_new(orders->ctx, (size_t)eg_mode_count(shape, degree), order);
        if (status != EG_OK) return status;
        eg_lagrange_order(shape, degree, orders->version, *order);
    }
    *out = *order;
    return EG_OK;
}

void eg_lagrange_free(eg_lagrange_orders *orders)
{
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        for (int degree = 0; degree <= EG_DEGREE_MAX_QUAD; degree++)
            eg_release(orders->ctx, &orders->at[s][degree]);
}
