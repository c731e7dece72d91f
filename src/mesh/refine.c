/* Uniform refinement: every triangle and quadrilateral into four, every tetrahedron and hexahedron
 * into eight.
 *
 * All new vertices are means of some of the parent's: of an edge, a face, the whole. Such a point
 * is named by the set of these vertices, as bits, and so are children and their faces: neighbours of
 * children follow from those of parents, periodic or not, by taking sets from one side of a face to
 * the other. Tetrahedra are cut by Bey's rule [bey1995]: whatever the number of refinements, their
 * descendants have at most three shapes. Of the three ways to apply it the one with the best of
 * these is taken, so that no further refinement can do worse. */
#include "mesh/build.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define MOST_CHILDREN 8
#define SETS (1 << EG_MAX_VERTICES)
#define MOST_EDGES 12

#define CUTS 3 /* ways to cut a tetrahedron */

/* How elements of a shape are cut. */
typedef struct pattern {
    const eg_shape_info *info;
    int children;
    uint8_t point[MOST_CHILDREN][EG_MAX_VERTICES]; /* children's vertices: sets of the parent's */
    int outer[MOST_CHILDREN][EG_MAX_FACES]; /* parent's face that a child's lies on; -1: none */
    int edges;
    uint8_t edge[MOST_EDGES]; /* sets of two */
} pattern;

/* The children of simplices that are not at corners. Those of a triangle are its middle; those of a
 * tetrahedron share the diagonal from the middle of edge 02 to that of 13, their first and third
 * vertex exchanged where that makes them positive, which does not change how they are cut. */
static const uint8_t middle_triangle[1][3] = {{3, 6, 5}};
static const uint8_t middle_tetrahedra[4][4] = {
    {3, 5, 9, 10}, {6, 5, 3, 10}, {5, 9, 10, 12}, {10, 6, 5, 12}};

/* The mean of vertices k and v, which is that of all vertices in the smallest face of the shape
 * that has both. */
static uint8_t set_between(const eg_shape_info *info, int k, int v)
{
    if (!info->tensor) return (uint8_t)(1u << k | 1u << v);
    unsigned set = 0;
    for (int w = 0; w < info->vertices; w++) {
        bool in = true;
        for (int d = 0; d < info->dim; d++)
            in = in && (info->r[k][d] != info->r[v][d] || info->r[w][d] == info->r[k][d]);
        if (in) set |= 1u << w;
    }
    return (uint8_t)set;
}

static int set_size(unsigned set)
{
    int size = 0;
    for (; set; set &= set - 1)
        size++;
    return size;
}

static unsigned face_set(const eg_shape_info *info, int face)
{
    unsigned set = 0;
    for (int i = 0; i < info->face_vertices; i++)
        set |= 1u << info->face[face][i];
    return set;
}

/* Tetrahedra: vertices are taken in another order of the same sense, so that each pair of opposite
 * edges becomes 02 and 13 once. */
static const int8_t turned_tetrahedron[CUTS][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}, {0, 2, 3, 1}};

static void turn_children(pattern *p, const int8_t *turned)
{
    const pattern old = *p;
    for (int k = 0; k < p->children; k++) {
        for (int v = 0; v < p->info->vertices; v++) {
            unsigned set = 0;
            for (int i = 0; i < p->info->vertices; i++)
                set |= (unsigned)(old.point[k][v] >> i & 1) << turned[i];
            p->point[k][v] = (uint8_t)set;
        }
    }
}

static pattern pattern_of(eg_shape shape, int cut)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    pattern p = {.info = info, .children = info->dim == 2 ? 4 : 8};
    for (int k = 0; k < info->vertices; k++) {
        for (int v = 0; v < info->vertices; v++) {
            p.point[k][v] = set_between(info, k, v);
            if (k < v && set_size(p.point[k][v]) == 2) p.edge[p.edges++] = p.point[k][v];
        }
    }
    for (int k = info->vertices; k < p.children; k++)
        memcpy(p.point[k],
               shape == EG_SHAPE_TRI ? middle_triangle[0] : middle_tetrahedra[k - info->vertices],
               (size_t)info->vertices);
    if (shape == EG_SHAPE_TET) turn_children(&p, turned_tetrahedron[cut]);
    for (int k = 0; k < p.children; k++) {
        for (int f = 0; f < info->faces; f++) {
            unsigned all = 0;
            for (int i = 0; i < info->face_vertices; i++)
                all |= p.point[k][info->face[f][i]];
            p.outer[k][f] = -1;
            for (int g = 0; g < info->faces; g++) {
                if ((all & ~face_set(info, g)) == 0) p.outer[k][f] = g;
            }
        }
    }
    return p;
}

/* A refinement while it is made. */
typedef struct refinement {
    const eg_mesh *whole;
    eg_mesh *mesh; /* owned until it is handed out */
    pattern pattern[EG_SHAPE_COUNT][CUTS];
    uint8_t *cut; /* [elements] which of them; owned */
    int children, edge_stride;
    int32_t *edge;   /* [elements][edge_stride] new vertices in the middle of edges; owned */
    int32_t *face;   /* [elements][face_stride] and of hexahedra's faces; owned */
    int32_t *centre; /* [elements] and of quadrilaterals and hexahedra; owned */
    int64_t vertex_count;
} refinement;

static const pattern *pattern_at(const refinement *r, int32_t element)
{
    return &r->pattern[r->whole->shape[element]][r->cut[element]];
}

static void place_vertex(const eg_mesh *whole, int32_t element, unsigned set, double *x)
{
    const int32_t *v = &whole->vertices[(int64_t)element * whole->vertex_stride];
    int size = set_size(set);
    for (int d = 0; d < whole->dim; d++) {
        double sum = 0.0;
        for (int k = 0; k < EG_MAX_VERTICES; k++)
            sum += set >> k & 1 ? whole->x[(int64_t)v[k] * whole->dim + d] : 0.0;
        x[d] = sum / size;
    }
}

/* The sum of squares of a tetrahedral child's edges. */
static double edge_squares(const eg_mesh *whole, int32_t element, const uint8_t *point)
{
    double x[4][3], sum = 0.0;
    for (int v = 0; v < 4; v++) {
        place_vertex(whole, element, point[v], x[v]);
        for (int w = 0; w < v; w++) {
            for (int d = 0; d < 3; d++)
                sum += (x[v][d] - x[w][d]) * (x[v][d] - x[w][d]);
        }
    }
    return sum;
}

/* The best cut of a tetrahedron: all children have one volume, so the longest edges are the worst
 * shape. Those at corners are like their parent. */
static uint8_t best_cut(const refinement *r, int32_t element)
{
    double least = INFINITY;
    int best = 0;
    for (int cut = 0; cut < CUTS; cut++) {
        const pattern *p = &r->pattern[EG_SHAPE_TET][cut];
        double worst = 0.0;
        for (int k = p->info->vertices; k < p->children; k++)
            worst = fmax(worst, edge_squares(r->whole, element, p->point[k]));
        if (!(worst < (1.0 - 1e-9) * least)) continue; /* nor by rounding alone */
        least = worst;
        best = cut;
    }
    return (uint8_t)best;
}

/* --- numbers of vertices ---------------------------------------------------------------------- */

/* Numbers the middles of edges, which elements share if they share both ends. */
static eg_status number_edges(refinement *r)
{
    eg_status status = EG_OK;
    const eg_mesh *whole = r->whole;
    uint64_t *key = NULL;
    int32_t *slot = NULL; /* sorted with them */
    size_t stride = (size_t)r->edge_stride, slots = (size_t)whole->element_count * stride;
    EG_TRY(eg_new(whole->ctx, slots, &r->edge));
    EG_TRY(eg_new(whole->ctx, slots, &key));
    EG_TRY(eg_new(whole->ctx, slots, &slot));
    size_t count = 0;
    for (int32_t e = 0; e < whole->element_count; e++) {
        const pattern *p = pattern_at(r, e);
        const int32_t *v = &whole->vertices[(int64_t)e * whole->vertex_stride];
        for (int i = 0; i < p->edges; i++) {
            uint64_t end[2] = {0};
            int ends = 0;
            for (int k = 0; k < p->info->vertices; k++) {
                if (p->edge[i] >> k & 1) end[ends++] = (uint64_t)v[k];
            }
            bool ascending = end[0] < end[1];
            key[count] = end[!ascending] * (uint64_t)whole->vertex_count + end[ascending];
            slot[count++] = (int32_t)((size_t)e * stride) + i;
        }
    }
    EG_TRY(eg_sort_keys(whole->ctx, count, key, slot));
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || key[i] != key[i - 1]) r->vertex_count++;
        r->edge[slot[i]] = (int32_t)(r->vertex_count - 1);
    }
done:
    eg_release(whole->ctx, &slot);
    eg_release(whole->ctx, &key);
    return status;
}

/* True if neighbours see one face at one place, not a period apart. */
static bool share_vertices(const eg_mesh *mesh, int32_t element, int face)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    int64_t slot = (int64_t)element * mesh->face_stride + face;
    int32_t n = mesh->neighbour[slot];
    const eg_shape_info *other = eg_shape_get_info((eg_shape)mesh->shape[n]);
    int other_face = EG_FACE(mesh->neighbour_face[slot]);
    for (int i = 0; i < info->face_vertices; i++) {
        int j = eg_orientation_vertex(info->face_vertices,
                                      EG_ORIENTATION(mesh->neighbour_face[slot]), i);
        if (mesh->vertices[(int64_t)element * mesh->vertex_stride + info->face[face][i]] !=
            mesh->vertices[(int64_t)n * mesh->vertex_stride + other->face[other_face][j]])
            return false;
    }
    return true;
}

/* Numbers the middles of hexahedra's faces, and of tensor shapes. */
static eg_status number_middles(refinement *r)
{
    eg_status status = EG_OK;
    const eg_mesh *whole = r->whole;
    EG_TRY(eg_new(whole->ctx, (size_t)whole->element_count, &r->centre));
    EG_TRY(eg_new(whole->ctx, (size_t)whole->element_count * (size_t)whole->face_stride, &r->face));
    for (int32_t e = 0; e < whole->element_count; e++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)whole->shape[e]);
        int faces = whole->shape[e] == EG_SHAPE_HEX ? info->faces : 0;
        for (int f = 0; f < faces; f++) {
            int64_t slot = (int64_t)e * whole->face_stride + f;
            int32_t n = whole->neighbour[slot];
            if (n >= 0 && n < e && share_vertices(whole, e, f))
                r->face[slot] =
                    r->face[(int64_t)n * whole->face_stride + EG_FACE(whole->neighbour_face[slot])];
            else
                r->face[slot] = (int32_t)r->vertex_count++;
        }
        if (info->tensor) r->centre[e] = (int32_t)r->vertex_count++;
    }
done:
    return status;
}

/* number [SETS]: the new mesh's vertex for each set of an element's vertices. */
static void number_points(const refinement *r, int32_t element, int32_t *number)
{
    const eg_mesh *whole = r->whole;
    const pattern *p = pattern_at(r, element);
    for (int v = 0; v < p->info->vertices; v++)
        number[1u << v] = whole->vertices[(int64_t)element * whole->vertex_stride + v];
    for (int i = 0; i < p->edges; i++)
        number[p->edge[i]] = r->edge[(int64_t)element * r->edge_stride + i];
    if (!p->info->tensor) return;
    for (int f = 0; p->info->dim == 3 && f < p->info->faces; f++)
        number[face_set(p->info, f)] = r->face[(int64_t)element * whole->face_stride + f];
    number[(1u << p->info->vertices) - 1] = r->centre[element];
}

/* --- children --------------------------------------------------------------------------------- */

/* The children of all elements, straight and not connected. */
static void make_children(refinement *r)
{
    const eg_mesh *whole = r->whole;
    eg_mesh *mesh = r->mesh;
    int32_t number[SETS] = {0};
    for (int32_t e = 0; e < whole->element_count; e++) {
        const pattern *p = pattern_at(r, e);
        number_points(r, e, number);
        for (int k = 0; k < p->children; k++) {
            int32_t child = e * r->children + k;
            mesh->shape[child] = whole->shape[e];
            mesh->global[child] = whole->global[e] * r->children + k;
            if (whole->group_of) mesh->group_of[child] = whole->group_of[e];
            for (int v = 0; v < p->info->vertices; v++) {
                uint8_t set = p->point[k][v];
                mesh->vertices[(int64_t)child * mesh->vertex_stride + v] = number[set];
                place_vertex(whole, e, set, &mesh->x[(int64_t)number[set] * mesh->dim]);
            }
        }
    }
}

/* Which vertex of a child's face each of the sets is, as match [n]; false if one is none. */
static bool match_sets(const pattern *p, int child, int face, int n, const uint8_t *sets,
                       int *match)
{
    for (int i = 0; i < n; i++) {
        match[i] = 0;
        while (match[i] < n && p->point[child][p->info->face[face][match[i]]] != sets[i])
            match[i]++;
        if (match[i] == n) return false;
    }
    return true;
}

/* Joins a child's face, whose vertices are these sets of the parent `element`, to the child of it
 * that has them, too, at the parent's face `outer` (-1: inside). */
static bool join_to(refinement *r, int32_t child, int face, int32_t element, int outer,
                    const uint8_t *sets)
{
    const pattern *p = pattern_at(r, element);
    int n = p->info->face_vertices, match[EG_MAX_FACE_VERTICES];
    for (int k = 0; k < p->children; k++) {
        int32_t other = element * r->children + k;
        for (int f = 0; f < p->info->faces; f++) {
            if (p->outer[k][f] != outer || (other == child && f == face)) continue;
            if (!match_sets(p, k, f, n, sets, match)) continue;
            return eg_mesh_join_faces(r->mesh, child, face, other, f, match);
        }
    }
    return false;
}

/* Takes sets of vertices of an element's face to those of its neighbour's. */
static void cross_face(const eg_mesh *mesh, int32_t element, int face, uint8_t *sets)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    int64_t slot = (int64_t)element * mesh->face_stride + face;
    const eg_shape_info *other = eg_shape_get_info((eg_shape)mesh->shape[mesh->neighbour[slot]]);
    const int8_t *to = other->face[EG_FACE(mesh->neighbour_face[slot])];
    int n = info->face_vertices, orientation = EG_ORIENTATION(mesh->neighbour_face[slot]);
    for (int k = 0; k < n; k++) {
        unsigned crossed = 0;
        for (int i = 0; i < n; i++) {
            if (sets[k] >> info->face[face][i] & 1)
                crossed |= 1u << to[eg_orientation_vertex(n, orientation, i)];
        }
        sets[k] = (uint8_t)crossed;
    }
}

static void connect_child(refinement *r, int32_t element, int k)
{
    const eg_mesh *whole = r->whole;
    const pattern *p = pattern_at(r, element);
    int32_t child = element * r->children + k, target = element;
    for (int f = 0; f < p->info->faces; f++, target = element) {
        uint8_t sets[EG_MAX_FACE_VERTICES] = {0};
        int outer = p->outer[k][f];
        for (int i = 0; i < p->info->face_vertices; i++)
            sets[i] = p->point[k][p->info->face[f][i]];
        if (outer >= 0) {
            int64_t slot = (int64_t)element * whole->face_stride + outer;
            target = whole->neighbour[slot];
            if (target < 0) {
                r->mesh->neighbour[(int64_t)child * r->mesh->face_stride + f] = target;
                continue;
            }
            cross_face(whole, element, outer, sets);
            outer = EG_FACE(whole->neighbour_face[slot]);
        }
        bool joined = join_to(r, child, f, target, outer, sets);
        assert(joined);
        (void)joined;
    }
}

/* --- curved geometry -------------------------------------------------------------------------- */

/* Where a child's nodes lie in its parent: points [dim][np]. */
static void place_nodes(const pattern *p, int child, const eg_straight *straight, double *points)
{
    for (int d = 0; d < p->info->dim; d++) {
        double corner[EG_MAX_VERTICES];
        for (int v = 0; v < p->info->vertices; v++) {
            double sum = 0.0;
            for (int k = 0; k < p->info->vertices; k++)
                sum += p->point[child][v] >> k & 1 ? p->info->r[k][d] : 0.0;
            corner[v] = sum / set_size(p->point[child][v]);
        }
        for (int i = 0; i < straight->np; i++) {
            double sum = 0.0;
            for (int v = 0; v < p->info->vertices; v++)
                sum += straight->weight[i * p->info->vertices + v] * corner[v];
            points[d * straight->np + i] = sum;
        }
    }
}

/* The nodes of all children of elements of a shape. */
static eg_status curve_children(refinement *r, eg_shape shape)
{
    eg_status status = EG_OK;
    eg_context *ctx = r->whole->ctx;
    eg_straight straight = {0};
    eg_element *element = NULL;
    double *points = NULL, *matrix = NULL;
    EG_TRY(eg_straight_create(ctx, shape, r->whole->order, &straight));
    EG_TRY(eg_element_create(ctx, shape, r->whole->order, EG_BASIS_LOBATTO, &element));
    size_t np = (size_t)straight.np;
    EG_TRY(eg_new(ctx, np * (size_t)element->dim, &points));
    EG_TRY(eg_new(ctx, np * np, &matrix));
    for (int i = 0; i < (shape == EG_SHAPE_TET ? CUTS : 1) * r->children; i++) {
        int cut = i / r->children, child = i % r->children;
        place_nodes(&r->pattern[shape][cut], child, &straight, points);
        EG_TRY(eg_element_evaluate(element, straight.np, points, matrix));
        EG_TRY(eg_mesh_interpolate_nodes(r->whole,
                                         &(eg_node_map){.shape = shape,
                                                        .kind = r->cut,
                                                        .which = cut,
                                                        .rows = straight.np,
                                                        .matrix = matrix,
                                                        .children = r->children,
                                                        .child = child},
                                         r->mesh));
    }
    r->mesh->reference[shape] = straight.r;
    straight.r = NULL;
done:
    eg_release(ctx, &matrix);
    eg_release(ctx, &points);
    eg_element_destroy(&element);
    eg_straight_destroy(&straight);
    return status;
}

/* Moves new vertices to where children's nodes are. */
static void move_vertices(refinement *r)
{
    eg_mesh *mesh = r->mesh;
    size_t dim = (size_t)mesh->dim;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        eg_shape shape = (eg_shape)mesh->shape[e];
        int vertices = eg_shape_get_info(shape)->vertices;
        for (int v = 0; v < vertices; v++) {
            size_t vertex = (size_t)mesh->vertices[(int64_t)e * mesh->vertex_stride + v];
            size_t node = (size_t)e * (size_t)mesh->node_stride +
                          (size_t)eg_mesh_vertex_node(shape, mesh->order, v);
            if (vertex < (size_t)r->whole->vertex_count) continue;
            memcpy(&mesh->x[vertex * dim], &mesh->nodes[node * dim], dim * sizeof *mesh->x);
        }
    }
}

/* --- all of it -------------------------------------------------------------------------------- */

static eg_status prepare(refinement *r, const bool present[EG_SHAPE_COUNT])
{
    eg_status status = EG_OK;
    const eg_mesh *whole = r->whole;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (!present[s]) continue;
        for (int cut = 0; cut < CUTS; cut++)
            r->pattern[s][cut] = pattern_of((eg_shape)s, cut);
        if (r->pattern[s][0].edges > r->edge_stride) r->edge_stride = r->pattern[s][0].edges;
    }
    EG_TRY(eg_new(whole->ctx, (size_t)whole->element_count, &r->cut));
    for (int32_t e = 0; present[EG_SHAPE_TET] && e < whole->element_count; e++)
        r->cut[e] = best_cut(r, e);
    /* All points of all elements have numbers, even if none were shared. */
    int32_t most = INT32_MAX / (whole->vertex_stride + r->edge_stride + whole->face_stride + 1);
    if (whole->element_count > most)
        EG_TRY(eg_fail(whole->ctx, EG_ERROR_UNSUPPORTED,
                       "a mesh of %d elements is too large to be refined by one process; it may "
                       "have %d",
                       whole->element_count, most));
    r->vertex_count = whole->vertex_count;
    EG_TRY(number_edges(r));
    EG_TRY(number_middles(r));
    eg_mesh sizes = *whole;
    sizes.element_count = sizes.interior_count = whole->element_count * r->children;
    sizes.global_count = whole->global_count * r->children;
    sizes.vertex_count = r->vertex_count;
    EG_TRY(eg_mesh_allocate(&sizes, &r->mesh));
    EG_TRY(eg_mesh_copy_names(whole, r->mesh));
done:
    return status;
}

eg_status eg_mesh_check_refine(const eg_mesh *whole, int times)
{
    const double factor = pow(whole->dim == 2 ? 4 : 8, times);
    const double elements = factor * whole->element_count;
    const double bytes = factor * (double)eg_mesh_bytes(whole);
    const double memory = eg_mesh_physical_memory();
    if (bytes > memory)
        return eg_fail(whole->ctx, EG_ERROR_INPUT,
                       "%d elements refined %d times are %.4g, which take about %.3g GB of memory, "
                       "and this machine has %.3g GB: refine less often",
                       whole->element_count, times, elements, 1e-9 * bytes, 1e-9 * memory);
    if (elements * whole->face_stride > INT32_MAX)
        return eg_fail(whole->ctx, EG_ERROR_INPUT,
                       "%d elements refined %d times are %.4g, more than one process can number: "
                       "refine less often",
                       whole->element_count, times, elements);
    return EG_OK;
}

eg_status eg_mesh_refine(const eg_mesh *whole, eg_mesh **out)
{
    eg_status status = EG_OK;
    refinement r = {.whole = whole, .children = whole->dim == 2 ? 4 : 8};
    bool present[EG_SHAPE_COUNT];
    assert(whole->ghost_count == 0);
    *out = NULL;
    eg_mesh_shapes_present(whole, present);
    EG_TRY(prepare(&r, present));
    make_children(&r);
    for (int32_t e = 0; e < whole->element_count; e++) {
        for (int k = 0; k < r.children; k++)
            connect_child(&r, e, k);
    }
    if (whole->nodes) {
        for (int s = 0; s < EG_SHAPE_COUNT; s++) {
            if (present[s]) EG_TRY(curve_children(&r, (eg_shape)s));
        }
        move_vertices(&r);
        eg_mesh_snap_nodes(r.mesh);
    }
    EG_TRY(eg_mesh_order(r.mesh));
    *out = r.mesh;
    r.mesh = NULL;
done:
    eg_release(whole->ctx, &r.centre);
    eg_release(whole->ctx, &r.face);
    eg_release(whole->ctx, &r.edge);
    eg_release(whole->ctx, &r.cut);
    eg_mesh_destroy(&r.mesh);
    return status;
}
