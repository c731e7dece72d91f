/* Meshes whose mappings get another degree. */
#include "curved.h"

static eg_mesh *with_order(const eg_mesh *mesh, int order)
{
    eg_mesh *changed = NULL;
    TEST_OK(mesh->ctx, eg_mesh_set_order(mesh, order, &changed));
    return changed;
}

/* All but the nodes is the same, to the bit. */
static void check_same_topology(const eg_mesh *a, const eg_mesh *b)
{
    assert_int_equal(a->dim, b->dim);
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->element_count, b->element_count);
    assert_int_equal(a->interior_count, b->interior_count);
    assert_int_equal(a->global_count, b->global_count);
    assert_int_equal(a->face_stride, b->face_stride);
    assert_int_equal(a->vertex_stride, b->vertex_stride);
    size_t count = (size_t)a->element_count, faces = count * (size_t)a->face_stride;
    size_t vertices = count * (size_t)a->vertex_stride;
    assert_memory_equal(a->x, b->x, (size_t)(a->vertex_count * a->dim) * sizeof *a->x);
    assert_memory_equal(a->shape, b->shape, count * sizeof *a->shape);
    assert_memory_equal(a->global, b->global, count * sizeof *a->global);
    assert_memory_equal(a->vertices, b->vertices, vertices * sizeof *a->vertices);
    assert_memory_equal(a->neighbour, b->neighbour, faces * sizeof *a->neighbour);
    assert_memory_equal(a->neighbour_face, b->neighbour_face, faces * sizeof *a->neighbour_face);
    assert_int_equal(a->boundary_count, b->boundary_count);
    for (int i = 0; i < a->boundary_count; i++)
        assert_string_equal(a->boundary[i], b->boundary[i]);
}

/* Both meshes have the same mappings at random points. */
static void check_same_mappings(const eg_mesh *a, const eg_mesh *b)
{
    test_mapping first = test_mapping_new(a), second = test_mapping_new(b);
    uint64_t seed = 6;
    for (int32_t e = 0; e < a->element_count; e++) {
        for (int k = 0; k < 3; k++) {
            double r[3], x[2][3], J[3][3];
            for (int d = 0; d < a->dim; d++)
                r[d] = -1.0 + (1.0 + test_random(&seed)) / a->dim; /* inside all shapes */
            test_map(&first, e, r, x[0], J);
            test_map(&second, e, r, x[1], J);
            for (int d = 0; d < a->dim; d++)
                TEST_NEAR(x[0][d], x[1][d], 1e-14);
        }
    }
    test_mapping_free(&first);
    test_mapping_free(&second);
}

static void test_set_order__raised_mappings_are_the_same_and_come_back(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int order = 1; order <= 3; order++) {
            eg_mesh *mesh = test_bent_box(ctx, test_shapes[s], order, 3, s % 2 == 0);
            for (int higher = order; higher <= 4; higher++) {
                eg_mesh *raised = with_order(mesh, higher), *back = with_order(raised, order);
                assert_int_equal(raised->order, higher);
                assert_int_equal(raised->node_stride, eg_mode_count(test_shapes[s], higher));
                check_same_topology(mesh, raised);
                check_same_topology(mesh, back);
                check_same_mappings(mesh, raised);
                check_same_mappings(mesh, back);
                if (higher > 1) test_check_vertex_nodes(raised);
                for (int32_t e = 0; e < mesh->element_count; e++)
                    assert_int_equal(eg_mesh_is_affine(raised, e), eg_mesh_is_affine(mesh, e));
                eg_mesh_destroy(&back);
                eg_mesh_destroy(&raised);
            }
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

static void test_set_order__lowered_mappings_agree_at_their_nodes(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_bent_box(ctx, test_shapes[s], 4, 3, false);
        for (int order = 1; order <= 3; order++) {
            eg_mesh *lowered = with_order(mesh, order);
            check_same_topology(mesh, lowered);
            if (order > 1) test_check_vertex_nodes(lowered);
            assert_int_equal(!lowered->nodes, order == 1);
            test_mapping before = test_mapping_new(mesh), after = test_mapping_new(lowered);
            const eg_element *element = after.element[test_shapes[s]];
            double differ = 0.0;
            for (int32_t e = 0; e < mesh->element_count; e++) {
                for (int i = 0; i <= element->np; i++) { /* the last is no node */
                    double r[3] = {-0.41, -0.37, -0.61}, x[2][3], J[3][3];
                    for (int d = 0; i < element->np && d < mesh->dim; d++)
                        r[d] = element->r[d * element->np + i];
                    test_map(&before, e, r, x[0], J);
                    test_map(&after, e, r, x[1], J);
                    for (int d = 0; d < mesh->dim; d++) {
                        if (i < element->np) TEST_NEAR(x[0][d], x[1][d], 1e-14);
                        differ = fmax(differ, fabs(x[0][d] - x[1][d]));
                    }
                }
            }
            assert_true(differ > 1e-5); /* something was lost */
            test_mapping_free(&before);
            test_mapping_free(&after);
            eg_mesh_destroy(&lowered);
        }
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_set_order__triangles_beside_quadrilaterals(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int order = 1; order <= 3; order++) {
        eg_mesh *mesh = test_mixed_mesh(ctx, order), *raised = with_order(mesh, order + 2);
        assert_int_equal(raised->node_stride, (order + 3) * (order + 3));
        check_same_topology(mesh, raised);
        check_same_mappings(mesh, raised);
        TEST_OK(ctx, eg_mesh_check_mappings(raised));
        eg_mesh_destroy(&raised);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Half a ring: its ends are on one line with the vertices between them. */
static eg_status half_ring(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        x[2 * i] = -(1.0 + X[2 * i + 1]) * cos(M_PI * X[2 * i]);
        x[2 * i + 1] = (1.0 + X[2 * i + 1]) * sin(M_PI * X[2 * i]);
    }
    return EG_OK;
}

static void test_set_order__an_element_that_becomes_flat_is_named(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *changed = NULL;
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                    .cells = {1, 1},
                                                    .low = {0, 0},
                                                    .high = {1, 0.5},
                                                    .order = 4,
                                                    .map = half_ring});
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "element 0 (quadrilateral) of order 4 is inside out or flat with order 1",
               eg_mesh_set_order(mesh, 1, &changed));
    assert_null(changed);
    changed = with_order(mesh, 3);
    eg_mesh_destroy(&changed);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_set_order__orders_that_a_shape_cannot_have_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *changed = NULL;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh =
            test_box(ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {1, 1, 1}});
        bool quad = test_shapes[s] == EG_SHAPE_QUAD;
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, quad ? "1 to 15, not 0" : "1 to 10, not 0",
                   eg_mesh_set_order(mesh, 0, &changed));
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, quad ? "1 to 15, not 16" : "1 to 10, not 11",
                   eg_mesh_set_order(mesh, quad ? 16 : 11, &changed));
        eg_mesh_destroy(&mesh);
    }
    eg_mesh *mesh = test_mixed_mesh(ctx, 1);
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "1 to 10, not 11", eg_mesh_set_order(mesh, 11, &changed));
    eg_mesh_destroy(&mesh);
    assert_null(changed);
    test_context_free(&ctx);
}

/* --- quality ---------------------------------------------------------------------------------- */

static eg_mesh_summary summary_of(const eg_mesh *mesh)
{
    eg_mesh_summary summary;
    TEST_OK(mesh->ctx, eg_mesh_summarise(mesh, &summary));
    eg_mesh_summary_free(mesh->ctx, &summary);
    return summary;
}

static void test_summary__straight_elements_have_one_quality_in_all_orders(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                        .cells = {2, 3, 2},
                                                        .perturb = test_shapes[s] % 2 ? 0.2 : 0.0});
        eg_mesh_summary straight = summary_of(mesh);
        for (int order = 2; order <= 4; order++) {
            eg_mesh *raised = with_order(mesh, order);
            eg_mesh_summary same = summary_of(raised);
            TEST_NEAR(same.quality_least, straight.quality_least, 1e-14);
            TEST_NEAR(same.quality_mean, straight.quality_mean, 1e-14);
            assert_memory_equal(same.quality_histogram, straight.quality_histogram,
                                sizeof same.quality_histogram);
            eg_mesh_destroy(&raised);
        }
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Squares, whose inner nodes are shifted: the Jacobian falls to 1 - 0.9 of its mean. */
static eg_status squeeze(void *user, size_t count, const double *X, double *x)
{
    const int dim = *(const int *)user;
    for (size_t i = 0; i < count * (size_t)dim; i++)
        x[i] = X[i];
    for (size_t i = 0; i < count; i++) {
        double *at = &x[i * (size_t)dim];
        at[0] += 0.9 * at[0] * (at[0] - 1.0);
    }
    return EG_OK;
}

static void test_summary__quality_of_curved_elements_is_at_most_their_least_jacobian(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static const eg_shape shapes[] = {EG_SHAPE_QUAD, EG_SHAPE_HEX};
    for (size_t s = 0; s < EG_COUNT(shapes); s++) {
        int dim = eg_shape_get_info(shapes[s])->dim;
        eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = shapes[s],
                                                        .cells = {1, 1, 1},
                                                        .order = 2,
                                                        .map = squeeze,
                                                        .map_user = &dim});
        eg_mesh_summary curved = summary_of(mesh);
        TEST_NEAR(curved.quality_least, 0.1, 0.011);
        eg_mesh *straight = with_order(mesh, 1);
        TEST_NEAR(summary_of(straight).quality_least, 1.0, 1e-14);
        eg_mesh_destroy(&straight);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* --- memory ----------------------------------------------------------------------------------- */

static eg_status change_box(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL, *changed = NULL;
    eg_mesh_summary summary = {0};
    const eg_shape *shape = user;
    EG_TRY(eg_mesh_create_box(
        ctx, &(eg_box_options){.shape = *shape, .cells = {1, 1, 1}, .order = 3}, &mesh));
    EG_TRY(eg_mesh_set_order(mesh, 2, &changed));
    EG_TRY(eg_mesh_summarise(changed, &summary));
done:
    eg_mesh_summary_free(ctx, &summary);
    eg_mesh_destroy(&changed);
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_set_order__every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_shape shape = test_shapes[s];
        test_allocation_sweep(change_box, &shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_order__raised_mappings_are_the_same_and_come_back),
        cmocka_unit_test(test_set_order__lowered_mappings_agree_at_their_nodes),
        cmocka_unit_test(test_set_order__triangles_beside_quadrilaterals),
        cmocka_unit_test(test_set_order__an_element_that_becomes_flat_is_named),
        cmocka_unit_test(test_set_order__orders_that_a_shape_cannot_have_are_refused),
        cmocka_unit_test(test_summary__straight_elements_have_one_quality_in_all_orders),
        cmocka_unit_test(test_summary__quality_of_curved_elements_is_at_most_their_least_jacobian),
        cmocka_unit_test(test_set_order__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
