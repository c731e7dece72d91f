/* What tests of curved meshes share: maps that bend a box, a mesh of triangles and a quadrilateral,
 * and mappings of elements evaluated and inverted. */
#ifndef EG_TEST_CURVED_H
#define EG_TEST_CURVED_H

#include "meshes.h"

/* Bends the unit square or cube; periodic sides stay a shift apart. `user` is the dimension. */
static inline eg_status test_bend(void *user, size_t count, const double *X, double *x)
{
    size_t dim = (size_t) * (const int *)user;
    for (size_t i = 0; i < count; i++) {
        for (size_t d = 0; d < dim; d++) {
            double other = X[i * dim + (d + 1) % dim], third = X[i * dim + (d + 2) % dim];
            x[i * dim + d] =
                X[i * dim + d] + 0.02 * sin(2.0 * M_PI * other) * (1.0 + cos(2.0 * M_PI * third));
        }
    }
    return EG_OK;
}

/* A box of the shape, bent if its order is above 1. */
static inline eg_mesh *test_bent_box(eg_context *ctx, eg_shape shape, int order, int cells,
                                     bool periodic)
{
    int dim = eg_shape_get_info(shape)->dim;
    return test_box(ctx, &(eg_box_options){.shape = shape,
                                           .cells = {cells, cells, cells},
                                           .periodic = {periodic, periodic, periodic},
                                           .order = order,
                                           .map = order > 1 ? test_bend : NULL,
                                           .map_user = &dim});
}

/* A quadrilateral on [0, 1]² with a triangle to its right and one on top of that, of some order,
 * not bent; boundaries: "floor" (y = 0) and "rest". */
static inline eg_mesh *test_mixed_mesh(eg_context *ctx, int order)
{
    static const double x[] = {0, 0, 1, 0, 1, 1, 0, 1, 2, 0, 2, 1.5};
    static const int32_t v[3][4] = {{0, 1, 2, 3}, {1, 4, 2, 0}, {4, 5, 2, 0}};
    static const char *const names[] = {"floor", "rest"};
    eg_mesh *mesh = NULL;
    eg_mesh sizes = {.ctx = ctx,
                     .dim = 2,
                     .vertex_count = 6,
                     .element_count = 3,
                     .interior_count = 3,
                     .global_count = 3,
                     .vertex_stride = 4,
                     .face_stride = 4,
                     .order = 1,
                     .node_stride = 4};
    TEST_OK(ctx, eg_mesh_allocate(&sizes, &mesh));
    TEST_OK(ctx, eg_mesh_copy_boundaries(mesh, 2, names));
    memcpy(mesh->x, x, sizeof x);
    memcpy(mesh->vertices, v, sizeof v);
    int32_t boundary[12];
    for (int32_t e = 0; e < 3; e++) {
        mesh->shape[e] = e == 0 ? EG_SHAPE_QUAD : EG_SHAPE_TRI;
        mesh->global[e] = e;
        for (int f = 0; f < test_info(mesh, e)->faces; f++) {
            double centre[3];
            eg_mesh_face_centre(mesh, e, f, centre);
            boundary[4 * e + f] = centre[1] == 0.0 ? 0 : 1;
        }
    }
    TEST_OK(ctx, eg_mesh_connect(mesh, boundary));
    TEST_OK(ctx, eg_mesh_curve(mesh, order, NULL, NULL));
    return mesh;
}

/* Mappings of a mesh's elements. */
typedef struct test_mapping {
    const eg_mesh *mesh;
    eg_element *element[EG_SHAPE_COUNT];
} test_mapping;

static inline test_mapping test_mapping_new(const eg_mesh *mesh)
{
    test_mapping mapping = {.mesh = mesh};
    bool present[EG_SHAPE_COUNT];
    eg_mesh_shapes_present(mesh, present);
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (present[s])
            TEST_OK(mesh->ctx, eg_element_create(mesh->ctx, (eg_shape)s, mesh->order,
                                                 EG_BASIS_LOBATTO, &mapping.element[s]));
    }
    return mapping;
}

static inline void test_mapping_free(test_mapping *mapping)
{
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        eg_element_destroy(&mapping->element[s]);
}

/* Nodes at vertices are the vertices, to the bit. */
static inline void test_check_vertex_nodes(const eg_mesh *mesh)
{
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int v = 0; v < test_info(mesh, e)->vertices; v++) {
            int64_t vertex = mesh->vertices[(int64_t)e * mesh->vertex_stride + v];
            int64_t node = (int64_t)e * mesh->node_stride +
                           eg_mesh_vertex_node((eg_shape)mesh->shape[e], mesh->order, v);
            assert_memory_equal(&mesh->nodes[node * mesh->dim], &mesh->x[vertex * mesh->dim],
                                (size_t)mesh->dim * sizeof *mesh->x);
        }
    }
}

#define TEST_MOST_NODES 125

/* Where a mapping takes the point r, and its Jacobian J[d] = ∂x/∂r_d there. */
static inline void test_map(const test_mapping *mapping, int32_t element, const double *r,
                            double x[3], double J[3][3])
{
    const eg_element *e = mapping->element[mapping->mesh->shape[element]];
    double value[TEST_MOST_NODES], slope[3 * TEST_MOST_NODES], nodes[3 * TEST_MOST_NODES];
    int np = e->np, dim = e->dim;
    assert_true(np <= TEST_MOST_NODES);
    assert_int_equal(eg_mesh_element_nodes(mapping->mesh, element, nodes), np);
    TEST_OK(e->ctx, eg_element_evaluate(e, 1, r, value));
    TEST_OK(e->ctx, eg_element_differentiate(e, 1, r, slope));
    for (int c = 0; c < dim; c++) {
        x[c] = 0.0;
        for (int i = 0; i < np; i++)
            x[c] += value[i] * nodes[i * dim + c];
        for (int d = 0; d < dim; d++) {
            J[d][c] = 0.0;
            for (int i = 0; i < np; i++)
                J[d][c] += slope[d * np + i] * nodes[i * dim + c];
        }
    }
}

/* The point that a mapping takes to x, by Newton's method. */
static inline void test_invert(const test_mapping *mapping, int32_t element, const double *x,
                               double r[3])
{
    int dim = mapping->mesh->dim;
    double at[3], J[3][3], A[3][3];
    memset(r, 0, 3 * sizeof *r);
    double most = INFINITY;
    for (int step = 0; step < 30 && most > 1e-13; step++) {
        test_map(mapping, element, r, at, J);
        double det = eg_mesh_determinant(dim, (const double(*)[3])J);
        most = 0.0;
        for (int d = 0; d < dim; d++) { /* Cramer's rule */
            memcpy(A, J, sizeof A);
            for (int c = 0; c < dim; c++)
                A[d][c] = x[c] - at[c];
            double change = eg_mesh_determinant(dim, (const double(*)[3])A) / det;
            r[d] += change;
            most = fmax(most, fabs(change));
        }
    }
    assert_true(most <= 1e-13);
}

#endif
