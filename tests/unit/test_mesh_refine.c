/* Uniform refinement: counts, geometry, neighbours, boundaries, periods and the shapes of
 * tetrahedra. */
#include "curved.h"

static eg_mesh *refine(const eg_mesh *mesh)
{
    eg_mesh *fine = NULL;
    TEST_OK(mesh->ctx, eg_mesh_refine(mesh, &fine));
    return fine;
}

/* --- counts, boundaries, volume --------------------------------------------------------------- */

/* Counts multiply, names and volume stay. */
static void check_sizes(const eg_mesh *coarse, const eg_mesh *fine)
{
    eg_context *ctx = coarse->ctx;
    int children = coarse->dim == 2 ? 4 : 8, parts = children / 2;
    eg_mesh_summary before = test_summarise(coarse), after = test_summarise(fine);
    assert_int_equal(fine->element_count, coarse->element_count * children);
    assert_int_equal(fine->interior_count, fine->element_count);
    assert_int_equal(fine->global_count, fine->element_count);
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        assert_int_equal(after.elements[s], before.elements[s] * children);
    assert_int_equal(fine->boundary_count, coarse->boundary_count);
    for (int b = 0; b < fine->boundary_count; b++) {
        assert_string_equal(fine->boundary[b], coarse->boundary[b]);
        assert_int_equal(after.boundary_face_count[b], before.boundary_face_count[b] * parts);
    }
    TEST_NEAR(after.volume, before.volume, 1e-13 * before.volume);
    assert_int_equal(fine->order, coarse->order);
    assert_int_equal(fine->node_stride, coarse->node_stride);
    eg_mesh_summary_free(ctx, &before);
    eg_mesh_summary_free(ctx, &after);
}

/* Every global number occurs once, and ordering the mesh again changes nothing. */
static void check_order(eg_mesh *fine)
{
    size_t count = (size_t)fine->element_count;
    int64_t *global = malloc(count * sizeof *global), *seen = calloc(count, sizeof *seen);
    memcpy(global, fine->global, count * sizeof *global);
    for (size_t e = 0; e < count; e++) {
        assert_in_range(global[e], 0, fine->element_count - 1);
        assert_int_equal(seen[global[e]]++, 0);
    }
    int64_t vertices = fine->vertex_count;
    TEST_OK(fine->ctx, eg_mesh_order(fine));
    assert_memory_equal(global, fine->global, count * sizeof *global);
    assert_int_equal(fine->vertex_count, vertices);
    free(seen);
    free(global);
}

/* All that is refined lies where it was: the nodes of a child are its parent's mapping of a
 * straight part of the reference element. */
static void check_geometry(const eg_mesh *coarse, const eg_mesh *fine)
{
    int children = coarse->dim == 2 ? 4 : 8, dim = coarse->dim;
    int32_t *parent = malloc((size_t)coarse->element_count * sizeof *parent); /* by global number */
    for (int32_t e = 0; e < coarse->element_count; e++)
        parent[coarse->global[e]] = e;
    test_mapping above = test_mapping_new(coarse), below = test_mapping_new(fine);
    for (int32_t e = 0; e < fine->element_count; e++) {
        const eg_shape_info *info = test_info(fine, e);
        const eg_element *element = below.element[fine->shape[e]];
        int32_t p = parent[fine->global[e] / children];
        double corner[EG_MAX_VERTICES][3] = {{0}}, A[3][3], nodes[3 * TEST_MOST_NODES];
        for (int v = 0; v < info->vertices; v++) {
            int32_t vertex = fine->vertices[(int64_t)e * fine->vertex_stride + v];
            test_invert(&above, p, &fine->x[(int64_t)vertex * dim], corner[v]);
        }
        eg_mesh_corner(info, 0, (const double(*)[3])corner, A);
        TEST_NEAR(eg_mesh_determinant(dim, (const double(*)[3])A), 1.0,
                  1e-12); /* 2^dim / children */
        int np = eg_mesh_element_nodes(fine, e, nodes);
        for (int i = 0; i < np; i++) {
            double r[3], x[3], J[3][3];
            for (int d = 0; d < dim; d++) {
                r[d] = corner[0][d];
                for (int c = 0; c < dim; c++)
                    r[d] += 0.5 * (1.0 + element->r[c * np + i]) * A[c][d];
            }
            test_map(&above, p, r, x, J);
            for (int d = 0; d < dim; d++) {
                assert_in_range((int)(10.0 * (r[d] + 1.0 + 1e-9)), 0, 20);
                TEST_NEAR(nodes[i * dim + d], x[d], 1e-13);
            }
        }
    }
    test_mapping_free(&above);
    test_mapping_free(&below);
    free(parent);
}

/* The vertices of a box of n cells a side, none of them at one place with another. */
static int64_t lattice(int dim, int n)
{
    int64_t count = 1;
    for (int d = 0; d < dim; d++)
        count *= n + 1;
    return count;
}

static void test_refine__twice_keeps_geometry_and_multiplies_counts(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim;
        for (int order = 1; order <= 3; order++) {
            eg_mesh *mesh = test_bent_box(ctx, test_shapes[s], order, 2, false);
            for (int level = 1; level <= 2; level++) {
                eg_mesh *fine = refine(mesh);
                check_sizes(mesh, fine);
                assert_int_equal(fine->vertex_count, lattice(dim, 2 << level));
                test_check_connected(fine, NULL);
                TEST_OK(ctx, eg_mesh_check_mappings(fine));
                if (level == 1) check_geometry(mesh, fine);
                check_order(fine);
                eg_mesh_destroy(&mesh);
                mesh = fine;
            }
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

/* Elements that are not parallelepipeds. */
static void test_refine__perturbed_straight_elements_stay_where_they_are(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_box(
            ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {3, 3, 3}, .perturb = 0.25});
        eg_mesh *fine = refine(mesh);
        assert_null(fine->nodes);
        check_sizes(mesh, fine);
        check_geometry(mesh, fine);
        test_check_connected(fine, NULL);
        eg_mesh_destroy(&fine);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Vertices that elements share are one, to the bit also as nodes, and old ones stay. */
static void test_refine__nodes_at_vertices_are_the_vertices(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_bent_box(ctx, test_shapes[s], 3, 2, false), *fine = refine(mesh);
        test_check_vertex_nodes(fine);
        size_t dim = (size_t)mesh->dim, found = 0;
        for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
            for (size_t w = 0; w < (size_t)fine->vertex_count; w++)
                found += memcmp(&mesh->x[v * dim], &fine->x[w * dim], dim * sizeof *fine->x) == 0;
        }
        assert_int_equal(found, mesh->vertex_count);
        eg_mesh_destroy(&fine);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* --- periods, mixed meshes -------------------------------------------------------------------- */

static void test_refine__periods_stay_with_one_two_and_three_cells(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int cells = 1; cells <= 3; cells++) {
            for (int order = 1; order <= 3; order += 2) {
                if (order > 1 && cells == 1) continue; /* too coarse for the map */
                eg_mesh *mesh = test_bent_box(ctx, test_shapes[s], order, cells, true);
                for (int level = 1; level <= 2; level++) {
                    eg_mesh *fine = refine(mesh);
                    check_sizes(mesh, fine);
                    assert_int_equal(fine->boundary_count, 0);
                    test_check_connected(fine, (double[]){1, 1, 1});
                    assert_int_equal(fine->vertex_count, lattice(fine->dim, cells << level));
                    eg_mesh_destroy(&mesh);
                    mesh = fine;
                }
                eg_mesh_destroy(&mesh);
            }
        }
    }
    test_context_free(&ctx);
}

static void test_refine__some_periods_and_some_boundaries(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                        .cells = {1, 2, 2},
                                                        .periodic = {true, false, false}});
        eg_mesh *fine = refine(mesh);
        check_sizes(mesh, fine);
        test_check_connected(fine, (double[]){1, 0, 0});
        assert_int_equal(eg_mesh_find_boundary(fine, "left"), -1);
        for (int32_t e = 0; e < fine->element_count; e++) {
            for (int f = 0; f < test_info(fine, e)->faces; f++) {
                int32_t n = fine->neighbour[(int64_t)e * fine->face_stride + f];
                if (n >= 0) continue;
                double centre[3];
                eg_mesh_face_centre(fine, e, f, centre);
                const char *name = fine->boundary[-1 - n];
                const char *expected = centre[1] == 0.0   ? "bottom"
                                       : centre[1] == 1.0 ? "top"
                                       : centre[2] == 0.0 ? "back"
                                                          : "front";
                assert_string_equal(name, expected);
            }
        }
        eg_mesh_destroy(&fine);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_refine__triangles_beside_quadrilaterals(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int order = 1; order <= 3; order++) {
        eg_mesh *mesh = test_mixed_mesh(ctx, order);
        for (int level = 1; level <= 2; level++) {
            eg_mesh *fine = refine(mesh);
            check_sizes(mesh, fine);
            check_geometry(mesh, fine);
            test_check_connected(fine, NULL);
            assert_int_equal(fine->vertex_count, level == 1 ? 15 : 45);
            check_order(fine);
            eg_mesh_destroy(&mesh);
            mesh = fine;
        }
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* --- tetrahedra ------------------------------------------------------------------------------- */

static double least_quality(const eg_mesh *mesh)
{
    eg_mesh_summary summary = test_summarise(mesh);
    eg_mesh_summary_free(mesh->ctx, &summary);
    return summary.quality_least;
}

static void test_refine__tetrahedra_of_a_box_keep_their_quality(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TET, .cells = {1, 1, 1}});
    double quality = least_quality(mesh);
    for (int level = 1; level <= 3; level++) {
        eg_mesh *fine = refine(mesh);
        TEST_NEAR(least_quality(fine), quality, 1e-12);
        eg_mesh_destroy(&mesh);
        mesh = fine;
    }
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* One tetrahedron. */
static eg_mesh *tetrahedron(eg_context *ctx, const double x[4][3])
{
    static const char *const names[] = {"wall"};
    eg_mesh *mesh = NULL;
    eg_mesh sizes = {.ctx = ctx,
                     .dim = 3,
                     .vertex_count = 4,
                     .element_count = 1,
                     .interior_count = 1,
                     .global_count = 1,
                     .vertex_stride = 4,
                     .face_stride = 4,
                     .order = 1,
                     .node_stride = 4};
    TEST_OK(ctx, eg_mesh_allocate(&sizes, &mesh));
    TEST_OK(ctx, eg_mesh_copy_boundaries(mesh, 1, names));
    memcpy(mesh->x, x, 12 * sizeof *mesh->x);
    mesh->shape[0] = EG_SHAPE_TET;
    for (int32_t v = 0; v < 4; v++)
        mesh->vertices[v] = v;
    TEST_OK(ctx, eg_mesh_connect(mesh, NULL));
    return mesh;
}

/* The first refinement may make worse shapes, none after it does; and the first cannot be better
 * with another of the three diagonals. */
static void test_refine__any_tetrahedron_becomes_worse_only_once(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_shape_info *info = eg_shape_get_info(EG_SHAPE_TET);
    uint64_t seed = 9;
    int tried = 0;
    while (tried < 30) {
        double x[4][3], A[3][3];
        for (int i = 0; i < 12; i++)
            x[i / 3][i % 3] = test_random(&seed);
        eg_mesh_corner(info, 0, (const double(*)[3])x, A);
        if (eg_mesh_determinant(3, (const double(*)[3])A) < 0.1) continue;
        tried++;
        eg_mesh *mesh = tetrahedron(ctx, (const double(*)[3])x), *fine = refine(mesh);
        double first = least_quality(fine);
        eg_mesh_destroy(&mesh);
        for (int level = 2; level <= 4; level++) {
            mesh = fine;
            fine = refine(mesh);
            eg_mesh_destroy(&mesh);
            assert_true(least_quality(fine) >= first * (1.0 - 1e-8));
        }
        eg_mesh_destroy(&fine);
        /* The same tetrahedron with its vertices in another order is cut alike. */
        static const int turned[2][4] = {{0, 2, 3, 1}, {1, 0, 3, 2}};
        for (int k = 0; k < 2; k++) {
            double y[4][3];
            for (int i = 0; i < 4; i++)
                memcpy(y[i], x[turned[k][i]], sizeof y[i]);
            mesh = tetrahedron(ctx, (const double(*)[3])y);
            fine = refine(mesh);
            TEST_NEAR(least_quality(fine), first, 1e-12);
            eg_mesh_destroy(&fine);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

/* --- memory ----------------------------------------------------------------------------------- */

static eg_status refine_box(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL, *fine = NULL;
    const eg_shape *shape = user;
    EG_TRY(eg_mesh_create_box(
        ctx, &(eg_box_options){.shape = *shape, .cells = {1, 1, 1}, .order = 2}, &mesh));
    EG_TRY(eg_mesh_refine(mesh, &fine));
done:
    eg_mesh_destroy(&fine);
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_refine__every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_shape shape = test_shapes[s];
        test_allocation_sweep(refine_box, &shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refine__twice_keeps_geometry_and_multiplies_counts),
        cmocka_unit_test(test_refine__perturbed_straight_elements_stay_where_they_are),
        cmocka_unit_test(test_refine__nodes_at_vertices_are_the_vertices),
        cmocka_unit_test(test_refine__periods_stay_with_one_two_and_three_cells),
        cmocka_unit_test(test_refine__some_periods_and_some_boundaries),
        cmocka_unit_test(test_refine__triangles_beside_quadrilaterals),
        cmocka_unit_test(test_refine__tetrahedra_of_a_box_keep_their_quality),
        cmocka_unit_test(test_refine__any_tetrahedron_becomes_worse_only_once),
        cmocka_unit_test(test_refine__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
