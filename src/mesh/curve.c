/* Curved elements: the nodes of a mapping of any degree, and its Jacobians at points. */
#include "mesh/build.h"

#include "base/dense.h"

#include <math.h>
#include <string.h>

/* Elements that are mapped or differentiated together. */
#define BATCH 64

/* --- nodes ------------------------------------------------------------------------------------ */

/* The (multi)linear function of vertex v at the point r of a shape. */
static double vertex_function(const eg_shape_info *info, int v, const double *r)
{
    if (info->tensor) {
        double value = 1.0;
        for (int d = 0; d < info->dim; d++)
            value *= 0.5 * (1.0 + info->r[v][d] * r[d]);
        return value;
    }
    if (v > 0) return 0.5 * (1.0 + r[v - 1]);
    double sum = 0.0;
    for (int d = 0; d < info->dim; d++)
        sum += r[d];
    return 0.5 * (2.0 - info->dim - sum);
}

eg_status eg_straight_create(eg_context *ctx, eg_shape shape, int order, eg_straight *straight)
{
    eg_status status = EG_OK;
    const eg_shape_info *info = eg_shape_get_info(shape);
    eg_element *element = NULL;
    *straight = (eg_straight){.ctx = ctx, .vertices = info->vertices};
    EG_TRY(eg_element_create_bare(ctx, shape, order, EG_BASIS_LOBATTO, &element));
    size_t np = (size_t)element->np;
    straight->np = element->np;
    EG_TRY(eg_new(ctx, np * (size_t)info->dim, &straight->r));
    EG_TRY(eg_new(ctx, np * (size_t)info->vertices, &straight->weight));
    memcpy(straight->r, element->r, np * (size_t)info->dim * sizeof *straight->r);
    for (size_t i = 0; i < np; i++) {
        double r[3] = {0};
        for (int d = 0; d < info->dim; d++)
            r[d] = element->r[(size_t)d * np + i];
        for (int v = 0; v < info->vertices; v++)
            straight->weight[i * (size_t)info->vertices + (size_t)v] = vertex_function(info, v, r);
    }
done:
    eg_element_destroy(&element);
    return status;
}

void eg_straight_destroy(eg_straight *straight)
{
    if (!straight->ctx) return;
    eg_release(straight->ctx, &straight->weight);
    eg_release(straight->ctx, &straight->r);
}

void eg_straight_nodes(const eg_straight *straight, const eg_mesh *mesh, int32_t element, double *x)
{
    int dim = mesh->dim;
    const int32_t *v = &mesh->vertices[(int64_t)element * mesh->vertex_stride];
    for (int i = 0; i < straight->np; i++) {
        const double *weight = &straight->weight[(size_t)i * (size_t)straight->vertices];
        for (int d = 0; d < dim; d++) {
            double sum = 0.0;
            for (int k = 0; k < straight->vertices; k++)
                sum += weight[k] * mesh->x[(int64_t)v[k] * dim + d];
            x[i * dim + d] = sum;
        }
    }
}

/* Maps points X [count][dim] to x and insists on finite values. */
static eg_status map_points(const eg_mesh *mesh, eg_mesh_map *map, void *user, size_t count,
                            const double *X, double *x)
{
    size_t dim = (size_t)mesh->dim;
    eg_status status = map(user, count, X, x);
    for (size_t i = 0; status == EG_OK && i < count * dim; i++) {
        if (isfinite(x[i])) continue;
        char place[EG_PLACE_BYTES];
        status = eg_fail(mesh->ctx, EG_ERROR_INPUT,
                         "component %d of the map is not finite at the point %s of the box",
                         (int)(i % dim), eg_mesh_place(mesh->dim, &X[i / dim * dim], place));
    }
    return status;
}

static eg_status map_vertices(eg_mesh *mesh, eg_mesh_map *map, void *user)
{
    eg_status status = EG_OK;
    double *x = NULL;
    size_t count = (size_t)mesh->vertex_count;
    EG_TRY(eg_new(mesh->ctx, count * (size_t)mesh->dim, &x));
    EG_TRY(map_points(mesh, map, user, count, mesh->x, x));
    memcpy(mesh->x, x, count * (size_t)mesh->dim * sizeof *x);
done:
    eg_release(mesh->ctx, &x);
    return status;
}

/* The nodes of all elements of one shape. */
static eg_status place_nodes(eg_mesh *mesh, eg_shape shape, const eg_straight *straight,
                             eg_mesh_map *map, void *user)
{
    eg_status status = EG_OK;
    double *X = NULL;
    size_t dim = (size_t)mesh->dim, stride = (size_t)mesh->node_stride;
    EG_TRY(eg_new(mesh->ctx, (size_t)straight->np * dim, &X));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        if (mesh->shape[e] != shape) continue;
        double *x = &mesh->nodes[(size_t)e * stride * dim];
        eg_straight_nodes(straight, mesh, e, map ? X : x);
        if (map) EG_TRY(map_points(mesh, map, user, (size_t)straight->np, X, x));
    }
done:
    eg_release(mesh->ctx, &X);
    return status;
}

eg_status eg_mesh_curve(eg_mesh *mesh, int order, eg_mesh_map *map, void *user)
{
    eg_status status = EG_OK;
    eg_straight straight[EG_SHAPE_COUNT] = {{0}};
    bool present[EG_SHAPE_COUNT];
    eg_mesh_shapes_present(mesh, present);
    if (order > 1) {
        int stride = 0;
        for (int s = 0; s < EG_SHAPE_COUNT; s++) {
            if (!present[s]) continue;
            EG_TRY(eg_straight_create(mesh->ctx, (eg_shape)s, order, &straight[s]));
            if (straight[s].np > stride) stride = straight[s].np;
        }
        size_t values = (size_t)mesh->element_count * (size_t)stride * (size_t)mesh->dim;
        EG_TRY(eg_new(mesh->ctx, values, &mesh->nodes));
        mesh->order = order;
        mesh->node_stride = stride;
        for (int s = 0; s < EG_SHAPE_COUNT; s++) {
            if (!present[s]) continue;
            EG_TRY(place_nodes(mesh, (eg_shape)s, &straight[s], map, user));
            mesh->reference[s] = straight[s].r;
            straight[s].r = NULL;
        }
    }
    if (map) EG_TRY(map_vertices(mesh, map, user));
done:
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        eg_straight_destroy(&straight[s]);
    return status;
}

/* --- from mesh to mesh ------------------------------------------------------------------------ */

static bool takes_part(const eg_mesh *mesh, const eg_node_map *map, int32_t element)
{
    if (mesh->shape[element] != map->shape) return false;
    return !map->kind || map->kind[element] == map->which;
}

eg_status eg_mesh_interpolate_nodes(const eg_mesh *from, const eg_node_map *map, eg_mesh *to)
{
    eg_status status = EG_OK;
    double *before = NULL, *after = NULL, *x = NULL; /* [nodes][BATCH][dim]; [nodes][dim] of one */
    int32_t element[BATCH];
    size_t dim = (size_t)from->dim, row = BATCH * dim, stride = (size_t)to->node_stride;
    int columns = eg_mode_count(map->shape, from->order), count = 0;
    EG_TRY(eg_new(from->ctx, (size_t)columns * row, &before));
    EG_TRY(eg_new(from->ctx, (size_t)map->rows * row, &after));
    EG_TRY(eg_new(from->ctx, (size_t)columns * dim, &x));
    for (int32_t e = 0; e < from->element_count; e++) {
        if (takes_part(from, map, e)) {
            eg_mesh_element_nodes(from, e, x);
            for (size_t i = 0; i < (size_t)columns; i++)
                memcpy(&before[i * row + (size_t)count * dim], &x[i * dim], dim * sizeof *x);
            element[count++] = e;
        }
        if (count == 0 || (count < BATCH && e + 1 < from->element_count)) continue;
        eg_dense_multiply(map->rows, columns, (int)row, map->matrix, before, after);
        for (size_t k = 0; k < (size_t)count; k++) {
            size_t child = (size_t)element[k] * (size_t)map->children + (size_t)map->child;
            for (size_t i = 0; i < (size_t)map->rows; i++)
                memcpy(&to->nodes[(child * stride + i) * dim], &after[i * row + k * dim],
                       dim * sizeof *to->nodes);
        }
        count = 0;
    }
done:
    eg_release(from->ctx, &x);
    eg_release(from->ctx, &after);
    eg_release(from->ctx, &before);
    return status;
}

int eg_mesh_vertex_node(eg_shape shape, int order, int vertex)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    static const eg_shape simplex[] = {EG_SHAPE_LINE, EG_SHAPE_LINE, EG_SHAPE_TRI, EG_SHAPE_TET};
    /* The nodes before vertex v of a simplex are all others of the simplex of vertices 0 to v. */
    if (!info->tensor) return vertex == 0 ? 0 : eg_mode_count(simplex[vertex], order) - 1;
    int node = 0;
    for (int d = 0, stride = 1; d < info->dim; d++, stride *= order + 1)
        node += info->r[vertex][d] > 0.0 ? order * stride : 0;
    return node;
}

void eg_mesh_snap_nodes(eg_mesh *mesh)
{
    size_t dim = (size_t)mesh->dim;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        eg_shape shape = (eg_shape)mesh->shape[e];
        int vertices = eg_shape_get_info(shape)->vertices;
        for (int v = 0; v < vertices; v++) {
            size_t vertex = (size_t)mesh->vertices[(int64_t)e * mesh->vertex_stride + v];
            size_t node = (size_t)e * (size_t)mesh->node_stride +
                          (size_t)eg_mesh_vertex_node(shape, mesh->order, v);
            memcpy(&mesh->nodes[node * dim], &mesh->x[vertex * dim], dim * sizeof *mesh->x);
        }
    }
}

/* --- Jacobians -------------------------------------------------------------------------------- */

/* A batch of elements of one shape and what their Jacobians need. */
typedef struct batch {
    const eg_mesh *mesh;
    int np, points;
    double *D;     /* [dim][points][np] owned */
    double *nodes; /* [np][BATCH][dim] owned */
    double *J;     /* [dim][points][BATCH][dim] ∂x/∂r, ∂x/∂s, …; owned */
    double *x;     /* [np][dim] of one element; owned */
    double *det;   /* [points] of one element; owned */
    int count;
    int32_t element[BATCH];
    double reach[BATCH]; /* the largest coordinate of each */
} batch;

static void batch_free(batch *b)
{
    eg_context *ctx = b->mesh->ctx;
    eg_release(ctx, &b->det);
    eg_release(ctx, &b->x);
    eg_release(ctx, &b->J);
    eg_release(ctx, &b->nodes);
    eg_release(ctx, &b->D);
}

static eg_status batch_create(const eg_mesh *mesh, eg_shape shape, int points, const double *r,
                              batch *b)
{
    eg_status status = EG_OK;
    eg_element *element = NULL;
    *b = (batch){.mesh = mesh, .points = points};
    EG_TRY(eg_element_create_bare(mesh->ctx, shape, mesh->order, EG_BASIS_LOBATTO, &element));
    size_t dim = (size_t)mesh->dim, np = (size_t)element->np, count = (size_t)points;
    b->np = element->np;
    EG_TRY(eg_new(mesh->ctx, dim * count * np, &b->D));
    EG_TRY(eg_new(mesh->ctx, np * BATCH * dim, &b->nodes));
    EG_TRY(eg_new(mesh->ctx, dim * count * BATCH * dim, &b->J));
    EG_TRY(eg_new(mesh->ctx, np * dim, &b->x));
    EG_TRY(eg_new(mesh->ctx, count, &b->det));
    EG_TRY(eg_element_differentiate(element, points, r, b->D));
done:
    eg_element_destroy(&element);
    return status;
}

static void batch_add(batch *b, int32_t element)
{
    size_t dim = (size_t)b->mesh->dim, row = BATCH * dim, column = (size_t)b->count * dim;
    double *reach = &b->reach[b->count];
    eg_mesh_element_nodes(b->mesh, element, b->x);
    for (size_t i = 0; i < (size_t)b->np; i++)
        memcpy(&b->nodes[i * row + column], &b->x[i * dim], dim * sizeof *b->x);
    *reach = 0.0;
    for (size_t i = 0; i < (size_t)b->np * dim; i++)
        *reach = fmax(*reach, fabs(b->x[i]));
    b->element[b->count++] = element;
}

static eg_status batch_visit(batch *b, eg_jacobian_visitor *visit, void *user)
{
    eg_status status = EG_OK;
    int dim = b->mesh->dim, columns = BATCH * dim;
    if (b->count == 0) return EG_OK;
    eg_dense_multiply(dim * b->points, b->np, columns, b->D, b->nodes, b->J);
    for (int k = 0; k < b->count; k++) {
        double most[3][3] = {{0}}; /* the largest entries of J */
        for (int p = 0; p < b->points; p++) {
            double J[3][3];
            for (int d = 0; d < dim; d++) {
                size_t row = (size_t)d * (size_t)b->points + (size_t)p;
                for (int c = 0; c < dim; c++) {
                    J[d][c] = b->J[row * (size_t)columns + (size_t)(k * dim + c)];
                    most[d][c] = fmax(most[d][c], fabs(J[d][c]));
                }
            }
            b->det[p] = eg_mesh_determinant(dim, (const double(*)[3])J);
        }
        double entry = eg_mesh_slope_rounding(b->mesh->order, b->reach[k]);
        double rounding = eg_mesh_determinant_rounding(dim, EG_ARITHMETIC, (const double(*)[3])most,
                                                       (double[]){entry, entry, entry});
        EG_TRY(visit(user, b->element[k], b->det, rounding));
    }
    b->count = 0;
done:
    return status;
}

eg_status eg_mesh_visit_jacobians(const eg_mesh *mesh, eg_shape shape, int points, const double *r,
                                  eg_jacobian_visitor *visit, void *user)
{
    eg_status status = EG_OK;
    batch b;
    EG_TRY(batch_create(mesh, shape, points, r, &b));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        if (mesh->shape[e] != shape) continue;
        batch_add(&b, e);
        if (b.count == BATCH) EG_TRY(batch_visit(&b, visit, user));
    }
    EG_TRY(batch_visit(&b, visit, user));
done:
    batch_free(&b);
    return status;
}

int eg_mesh_jacobian_degree(eg_shape shape, int order)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    return info->tensor ? info->dim * order - 1 : info->dim * (order - 1);
}
