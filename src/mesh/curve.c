/* Curved elements: the nodes of a mapping of any degree, and whether mappings are valid.
 *
 * The determinant of a mapping's Jacobian is a polynomial. It is sampled at nodes of up to twice
 * the mapping's degree, which determine it in two dimensions: no proof that it is positive
 * everywhere, but little escapes. */
#include "mesh/build.h"

#include "base/dense.h"

#include <float.h>
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
    EG_TRY(eg_element_create(ctx, shape, order, EG_BASIS_LOBATTO, &element));
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
    EG_TRY(eg_element_create(mesh->ctx, shape, mesh->order, EG_BASIS_LOBATTO, &element));
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

/* What rounding may make of the determinant of a matrix whose entries are at most those of A. Each of
 * its terms is rounded in the arithmetic, by a part of itself however thin the element is; and each
 * entry is a difference of coordinates up to `reach`, which are rounded themselves. */
static double rounding_of(int dim, int order, double A[3][3], double reach)
{
    const double arithmetic = 1e-14, entry = 2.0 * DBL_EPSILON * order * order * reach;
    double size = eg_mesh_permanent(dim, (const double(*)[3])A);
    for (int d = 0; d < dim; d++) {
        for (int c = 0; c < dim; c++)
            A[d][c] += entry;
    }
    return arithmetic * size + (eg_mesh_permanent(dim, (const double(*)[3])A) - size);
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
        EG_TRY(visit(user, b->element[k], b->det,
                     rounding_of(dim, b->mesh->order, most, b->reach[k])));
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

/* --- validity --------------------------------------------------------------------------------- */

typedef struct validity {
    const eg_mesh *mesh;
    const eg_element *sample; /* its nodes are the points */
} validity;

static eg_status refuse(const validity *check, int32_t element, int point, double det)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = check->mesh;
    eg_context *ctx = mesh->ctx;
    eg_element *geometry = NULL;
    double *values = NULL, *nodes = NULL;
    int dim = mesh->dim;
    EG_TRY(eg_element_create(ctx, check->sample->shape, mesh->order, EG_BASIS_LOBATTO, &geometry));
    EG_TRY(eg_new(ctx, (size_t)geometry->np, &values));
    EG_TRY(eg_new(ctx, (size_t)(geometry->np * dim), &nodes));
    double r[3], x[3] = {0};
    for (int d = 0; d < dim; d++)
        r[d] = check->sample->r[d * check->sample->np + point];
    EG_TRY(eg_element_evaluate(geometry, 1, r, values));
    eg_mesh_element_nodes(mesh, element, nodes);
    for (int i = 0; i < geometry->np * dim; i++)
        x[i % dim] += values[i / dim] * nodes[i];
    char place[EG_PLACE_BYTES];
    status =
        eg_fail(ctx, EG_ERROR_INPUT,
                "element %lld (%s) is inside out or flat: the Jacobian of its mapping is %.3g at "
                "%s",
                (long long)mesh->global[element], eg_shape_get_info(check->sample->shape)->name,
                det, eg_mesh_place(dim, x, place));
done:
    eg_release(ctx, &nodes);
    eg_release(ctx, &values);
    eg_element_destroy(&geometry);
    return status;
}

static eg_status check_element(void *user, int32_t element, const double *det, double rounding)
{
    const validity *check = user;
    for (int p = 0; p < check->sample->np; p++) {
        if (!(det[p] > rounding)) return refuse(check, element, p, det[p]);
    }
    return EG_OK;
}

static int sample_degree(eg_shape shape, int order)
{
    int degree = eg_mesh_jacobian_degree(shape, order), most = eg_mesh_order_max(shape);
    if (2 * order < most) most = 2 * order;
    return degree < most ? degree : most;
}

eg_status eg_mesh_check_mappings(const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    validity check = {.mesh = mesh};
    eg_element *sample = NULL;
    bool present[EG_SHAPE_COUNT];
    eg_mesh_shapes_present(mesh, present);
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (!present[s]) continue;
        EG_TRY(eg_element_create(mesh->ctx, (eg_shape)s, sample_degree((eg_shape)s, mesh->order),
                                 EG_BASIS_LOBATTO, &sample));
        check.sample = sample;
        EG_TRY(eg_mesh_visit_jacobians(mesh, (eg_shape)s, sample->np, sample->r, check_element,
                                       &check));
        eg_element_destroy(&sample);
    }
done:
    eg_element_destroy(&sample);
    return status;
}
