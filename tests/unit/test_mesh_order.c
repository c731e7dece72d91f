/* Hilbert curves, sorting, and meshes renumbered along the curve. */
#include "meshes.h"

#include "mesh/hilbert.h"

static void
test_hilbert__the_curve_visits_every_cell_once_and_each_step_crosses_one_side(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        eg_hilbert curve = eg_hilbert_new(dim);
        for (int bits = 1; bits <= (dim == 2 ? 7 : 5); bits++) {
            size_t side = (size_t)1 << bits, count = (size_t)1 << (bits * dim);
            uint32_t(*cells)[3] = calloc(count, sizeof *cells);
            unsigned char *seen = calloc(count, 1);
            for (size_t i = 0; i < count; i++) {
                uint32_t cell[3] = {(uint32_t)(i % side), (uint32_t)(i / side % side),
                                    (uint32_t)(i / side / side)};
                uint64_t key = eg_hilbert_key(&curve, bits, cell);
                assert_true(key < count);
                assert_false(seen[key]);
                seen[key] = 1;
                memcpy(cells[key], cell, sizeof cell);
            }
            for (size_t k = 1; k < count; k++) {
                int distance = 0;
                for (int d = 0; d < dim; d++)
                    distance += abs((int)cells[k][d] - (int)cells[k - 1][d]);
                assert_int_equal(distance, 1);
            }
            free(seen);
            free(cells);
        }
    }
}

static void test_hilbert__the_finest_curve_has_keys_of_all_its_bits(void **state)
{
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        eg_hilbert curve = eg_hilbert_new(dim);
        int bits = EG_HILBERT_BITS(dim);
        uint64_t largest = 0;
        for (unsigned corner = 0; corner < 1u << dim; corner++) {
            uint32_t cell[3];
            for (int d = 0; d < dim; d++)
                cell[d] = corner >> d & 1u ? (1u << bits) - 1u : 0;
            uint64_t key = eg_hilbert_key(&curve, bits, cell);
            if (key > largest) largest = key;
        }
        assert_true(largest == ((uint64_t)1 << (dim * bits)) - 1);
    }
}

static void test_sort__keys_ascend_and_equal_ones_keep_their_order(void **state)
{
    (void)state;
    static const size_t counts[] = {0, 1, 2, 1000, 30000};
    static const uint64_t masks[] = {~(uint64_t)0, 0xff, 0, 0xffff00000000ff00u, (uint64_t)1 << 63};
    eg_context *ctx = test_context();
    for (size_t c = 0; c < EG_COUNT(counts); c++) {
        for (size_t m = 0; m < EG_COUNT(masks); m++) {
            size_t n = counts[c];
            uint64_t *keys = calloc(n + 1, sizeof *keys), *before = calloc(n + 1, sizeof *before);
            int32_t *order = calloc(n + 1, sizeof *order);
            uint64_t random = 1 + c;
            for (size_t i = 0; i < n; i++) {
                uint64_t high = (uint64_t)((1.0 + test_random(&random)) * 0x1p31);
                uint64_t low = (uint64_t)((1.0 + test_random(&random)) * 0x1p31);
                before[i] = keys[i] = (high << 32 | low) & masks[m];
                order[i] = (int32_t)i;
            }
            TEST_OK(ctx, eg_sort_keys(ctx, n, keys, order));
            for (size_t i = 0; i < n; i++) {
                assert_true(keys[i] == before[order[i]]);
                if (i == 0) continue;
                assert_true(keys[i - 1] < keys[i] ||
                            (keys[i - 1] == keys[i] && order[i - 1] < order[i]));
            }
            free(order);
            free(before);
            free(keys);
        }
    }
    test_context_free(&ctx);
}

/* The mean distance from each element to the next, in units of the size of an element. */
static double mean_jump(const eg_mesh *mesh, double *largest)
{
    double sum = 0.0, size = pow(1.0 / mesh->element_count, 1.0 / mesh->dim);
    *largest = 0.0;
    for (int32_t e = 1; e < mesh->element_count; e++) {
        double a[3], b[3], square = 0.0;
        eg_mesh_element_centre(mesh, e - 1, a);
        eg_mesh_element_centre(mesh, e, b);
        for (int d = 0; d < mesh->dim; d++)
            square += (a[d] - b[d]) * (a[d] - b[d]);
        sum += sqrt(square) / size;
        *largest = fmax(*largest, sqrt(square) / size);
    }
    return sum / (mesh->element_count - 1);
}

static void test_order__elements_follow_each_other_in_space(void **state)
{
    (void)state;
    static const struct {
        eg_shape shape;
        int cells[3];
        double mean, largest; /* bounds */
    } cases[] = {
        {EG_SHAPE_QUAD, {32, 32}, 1.0, 1.0}, {EG_SHAPE_HEX, {8, 8, 8}, 1.0, 1.0},
        {EG_SHAPE_QUAD, {37, 29}, 1.3, 8.0}, {EG_SHAPE_HEX, {11, 9, 10}, 1.5, 8.0},
        {EG_SHAPE_TRI, {45, 51}, 1.3, 10.0}, {EG_SHAPE_TET, {7, 9, 8}, 1.5, 10.0},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        eg_box_options o = {.shape = cases[i].shape};
        memcpy(o.cells, cases[i].cells, sizeof o.cells);
        eg_mesh *mesh = test_box(ctx, &o);
        double largest, mean = mean_jump(mesh, &largest);
        if (!(mean <= cases[i].mean + 1e-12 && largest <= cases[i].largest + 1e-12))
            fail_msg("%s: mean %g, largest %g", eg_shape_get_info(o.shape)->name, mean, largest);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_order__numbers_of_elements_are_permuted_and_vertices_follow_their_use(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                        .cells = {5, 6, 3},
                                                        .periodic = {false, true},
                                                        .order = 2});
        test_check_connected(mesh, (double[]){1, 1, 1});
        char *seen = calloc((size_t)mesh->element_count, 1);
        int32_t used = 0;
        for (int32_t e = 0; e < mesh->element_count; e++) {
            assert_in_range(mesh->global[e], 0, mesh->element_count - 1);
            assert_false(seen[mesh->global[e]]);
            seen[mesh->global[e]] = 1;
            for (int i = 0; i < mesh->vertex_stride; i++) {
                int32_t v = mesh->vertices[e * mesh->vertex_stride + i];
                assert_true(v <= used);
                used += v == used;
            }
        }
        assert_int_equal(used, mesh->vertex_count);
        free(seen);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Ordering again, from another order, carries nodes and neighbours along. */
static void test_order__everything_that_belongs_to_an_element_moves_with_it(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI,
                                                    .cells = {6, 5},
                                                    .perturb = 0.2,
                                                    .periodic = {true},
                                                    .order = 3});
    eg_mesh *turned = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI,
                                                      .cells = {6, 5},
                                                      .perturb = 0.2,
                                                      .periodic = {true},
                                                      .order = 3});
    /* Mirrored at x = y, the curve takes another way. */
    for (int64_t v = 0; v < turned->vertex_count; v++) {
        double x = turned->x[2 * v];
        turned->x[2 * v] = turned->x[2 * v + 1];
        turned->x[2 * v + 1] = x;
    }
    TEST_OK(ctx, eg_mesh_order(turned));
    size_t node_bytes = (size_t)mesh->node_stride * 2 * sizeof *mesh->nodes;
    int moved = 0;
    for (int32_t a = 0; a < mesh->element_count; a++) {
        int32_t b = 0;
        while (turned->global[b] != mesh->global[a])
            b++;
        moved += a != b;
        assert_memory_equal(&mesh->nodes[a * mesh->node_stride * 2],
                            &turned->nodes[b * mesh->node_stride * 2], node_bytes);
        for (int f = 0; f < 3; f++) {
            int32_t n = mesh->neighbour[3 * a + f], m = turned->neighbour[3 * b + f];
            assert_int_equal(mesh->neighbour_face[3 * a + f], turned->neighbour_face[3 * b + f]);
            if (n < 0)
                assert_int_equal(n, m);
            else
                assert_int_equal(mesh->global[n], turned->global[m]);
            const double *x = test_face_vertex(mesh, a, f, 0);
            const double *y = test_face_vertex(turned, b, f, 0);
            assert_true(x[0] == y[1] && x[1] == y[0]);
        }
    }
    assert_true(moved > mesh->element_count / 2);
    eg_mesh_destroy(&turned);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_order__vertices_that_nobody_uses_are_dropped(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {3, 3}});
    int64_t count = mesh->vertex_count;
    void *x = mesh->x;
    TEST_OK(ctx, eg_reallocate(ctx, (size_t)(2 * count + 2) * sizeof *mesh->x, &x));
    mesh->x = x;
    memmove(&mesh->x[2], mesh->x, (size_t)(2 * count) * sizeof *mesh->x);
    mesh->vertex_count++;
    for (int32_t i = 0; i < mesh->element_count * 3; i++)
        mesh->vertices[i]++;
    TEST_OK(ctx, eg_mesh_order(mesh));
    assert_int_equal(mesh->vertex_count, count);
    test_check_connected(mesh, NULL);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_order__coordinates_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {3, 3}});
    mesh->x[5] = INFINITY;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "not finite", eg_mesh_order(mesh));
    mesh->x[5] = NAN;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "not finite", eg_mesh_order(mesh));
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_hilbert__the_curve_visits_every_cell_once_and_each_step_crosses_one_side),
        cmocka_unit_test(test_hilbert__the_finest_curve_has_keys_of_all_its_bits),
        cmocka_unit_test(test_sort__keys_ascend_and_equal_ones_keep_their_order),
        cmocka_unit_test(test_order__elements_follow_each_other_in_space),
        cmocka_unit_test(
            test_order__numbers_of_elements_are_permuted_and_vertices_follow_their_use),
        cmocka_unit_test(test_order__everything_that_belongs_to_an_element_moves_with_it),
        cmocka_unit_test(test_order__vertices_that_nobody_uses_are_dropped),
        cmocka_unit_test(test_order__coordinates_that_are_not_finite_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
