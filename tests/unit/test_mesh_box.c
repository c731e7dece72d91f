/* Boxes of straight elements: counts, boundaries, volumes, grading, perturbation, refusals. */
#include "meshes.h"

#include <string.h>

/* --- counts ----------------------------------------------------------------------------------- */

/* Faces of a box with n cells along each axis; 2D: n[2] = 0. */
static int64_t faces_of_box(eg_shape shape, const int *n)
{
    int64_t x = n[0], y = n[1], z = n[2];
    int64_t sides =
        x * y * (z + 1) + x * (y + 1) * z + (x + 1) * y * z; /* squares of the lattice */
    switch (shape) {
    case EG_SHAPE_TRI:
        return x * (y + 1) + y * (x + 1) + x * y;
    case EG_SHAPE_QUAD:
        return x * (y + 1) + y * (x + 1);
    case EG_SHAPE_TET:
        return 2 * sides + 6 * x * y * z; /* each cube has six triangles inside */
    default:
        return sides;
    }
}

static void test_box__vertices_elements_and_faces_are_as_many_as_closed_forms_say(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {7, 1, 4}, {4, 6, 3}};
    static const int per_cell[EG_SHAPE_COUNT] = {0, 2, 1, 6, 1};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(test_shapes[s]);
        for (size_t k = 0; k < EG_COUNT(sizes); k++) {
            int n[3] = {sizes[k][0], sizes[k][1], info->dim == 3 ? sizes[k][2] : 0};
            eg_mesh *mesh = test_box(
                ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {n[0], n[1], n[2]}});
            eg_mesh_summary summary = test_summarise(mesh);
            int cells = n[0] * n[1] * (info->dim == 3 ? n[2] : 1);
            assert_int_equal(mesh->element_count, per_cell[test_shapes[s]] * cells);
            assert_int_equal(mesh->interior_count, mesh->element_count);
            assert_int_equal(mesh->global_count, mesh->element_count);
            assert_int_equal(mesh->vertex_count, (n[0] + 1) * (n[1] + 1) * (n[2] + 1));
            assert_int_equal(summary.faces, faces_of_box(test_shapes[s], n));
            assert_int_equal(summary.cut_faces, 0);
            assert_int_equal(summary.elements[test_shapes[s]], mesh->element_count);
            test_check_connected(mesh, NULL);
            eg_mesh_summary_free(ctx, &summary);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

static void test_box__boundaries_are_named_and_lie_where_their_names_say(void **state)
{
    (void)state;
    static const char *const names[] = {"left", "right", "bottom", "top", "back", "front"};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                        .cells = {2, 3, 4},
                                                        .low = {-1, 2, 5},
                                                        .high = {1, 3, 7}});
        const double ends[] = {-1, 1, 2, 3, 5, 7};
        assert_int_equal(mesh->boundary_count, 2 * mesh->dim);
        for (int b = 0; b < mesh->boundary_count; b++)
            assert_int_equal(eg_mesh_find_boundary(mesh, names[b]), b);
        assert_int_equal(eg_mesh_find_boundary(mesh, "inlet"), -1);
        int found = 0;
        for (int32_t e = 0; e < mesh->element_count; e++) {
            const eg_shape_info *info = test_info(mesh, e);
            for (int f = 0; f < info->faces; f++) {
                int32_t n = mesh->neighbour[e * mesh->face_stride + f];
                if (n >= 0) continue;
                found++;
                for (int i = 0; i < info->face_vertices; i++) {
                    double x = test_face_vertex(mesh, e, f, i)[(-1 - n) / 2];
                    assert_true(x == ends[-1 - n]);
                }
            }
        }
        eg_mesh_summary summary = test_summarise(mesh);
        assert_int_equal(summary.boundary_faces, found);
        const int64_t squares[] = {12, 8, 6}; /* of the sides across x, y, z in 3D */
        for (int b = 0; b < mesh->boundary_count; b++) {
            int64_t expected = mesh->dim == 2                   ? (b < 2 ? 3 : 2)
                               : test_shapes[s] == EG_SHAPE_TET ? 2 * squares[b / 2]
                                                                : squares[b / 2];
            assert_int_equal(summary.boundary_face_count[b], expected);
        }
        eg_mesh_summary_free(ctx, &summary);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_box__periodic_axes_have_no_boundary_even_with_one_cell(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 1, 1}, {2, 1, 2}, {2, 2, 2}, {3, 4, 5}};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (size_t k = 0; k < EG_COUNT(sizes); k++) {
            for (unsigned axes = 1; axes < 8; axes++) {
                eg_box_options o = {.shape = test_shapes[s], .low = {-1, 0, 2}, .high = {1, 3, 3}};
                int dim = eg_shape_get_info(o.shape)->dim, open = 0;
                if (dim == 2 && axes > 3) break;
                for (int d = 0; d < 3; d++) {
                    o.cells[d] = sizes[k][d];
                    o.periodic[d] = axes >> d & 1u;
                    open += d < dim && !o.periodic[d];
                }
                eg_mesh *mesh = test_box(ctx, &o);
                eg_mesh_summary summary = test_summarise(mesh);
                assert_int_equal(mesh->boundary_count, 2 * open);
                test_check_connected(mesh, (double[]){2, 3, 1});
                if (open == 0) {
                    int faces = eg_shape_get_info(o.shape)->faces;
                    assert_int_equal(2 * summary.faces, faces * mesh->element_count);
                    assert_int_equal(summary.boundary_faces, 0);
                }
                eg_mesh_summary_free(ctx, &summary);
                eg_mesh_destroy(&mesh);
            }
        }
    }
    test_context_free(&ctx);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static void test_box__volume_is_exact_with_grading_perturbation_and_order(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int order = 1; order <= 3; order++) {
            eg_box_options o = {.shape = test_shapes[s],
                                .cells = {5, 4, 3},
                                .low = {-1, 0, 2},
                                .high = {2, 1, 2.5},
                                .grading = {4, 0.25, 1},
                                .perturb = 0.2,
                                .seed = 7,
                                .order = order};
            eg_mesh *mesh = test_box(ctx, &o);
            eg_mesh_summary summary = test_summarise(mesh);
            double exact = mesh->dim == 2 ? 3.0 : 1.5;
            TEST_NEAR(summary.volume, exact, 4e-15 * mesh->element_count);
            for (int d = 0; d < mesh->dim; d++) {
                TEST_NEAR(summary.low[d], o.low[d], 1e-15);
                TEST_NEAR(summary.high[d], o.high[d], 1e-15);
            }
            assert_true(summary.size_least > 0.0 && summary.size_least < summary.size_most);
            assert_true(summary.quality_least > 0.0);
            assert_true(summary.quality_least < summary.quality_mean && summary.quality_mean < 1.0);
            int64_t counted = 0;
            for (int i = 0; i < 10; i++)
                counted += summary.quality_histogram[i];
            assert_int_equal(counted, mesh->element_count);
            eg_mesh_summary_free(ctx, &summary);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

/* Rounding of the sum alone would add up to a few 1e-13. */
static void test_box__volume_of_many_elements_is_summed_without_loss(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {150, 150}});
    eg_mesh_summary summary = test_summarise(mesh);
    TEST_NEAR(summary.volume, 1.0, 2e-14);
    eg_mesh_summary_free(ctx, &summary);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_box__quality_is_one_for_ideal_shapes_and_known_for_halves_of_squares(void **state)
{
    (void)state;
    /* Right isosceles triangle: 4√3 (1/2) / 4; a Kuhn tetrahedron: 12 (1/2)^(2/3) / 10. */
    const double known[] = {sqrt(3.0) / 2.0, 1.0, 1.2 * cbrt(0.25), 1.0};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh =
            test_box(ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {2, 2, 2}});
        eg_mesh_summary summary = test_summarise(mesh);
        TEST_NEAR(summary.quality_least, known[s], 1e-14);
        TEST_NEAR(summary.quality_mean, known[s], 1e-14);
        double volume = 1.0 / mesh->element_count;
        TEST_NEAR(summary.size_most, pow(volume, 1.0 / mesh->dim), 1e-14);
        eg_mesh_summary_free(ctx, &summary);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_box__grading_is_the_last_cell_over_the_first_with_constant_growth(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                    .cells = {6, 1},
                                                    .low = {-2, 0},
                                                    .high = {3, 1},
                                                    .grading = {8, 1}});
    double x[7];
    int count = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        if (mesh->x[2 * v + 1] == 0.0) x[count++] = mesh->x[2 * v];
    }
    assert_int_equal(count, 7);
    qsort(x, 7, sizeof *x, compare_doubles);
    TEST_NEAR((x[6] - x[5]) / (x[1] - x[0]), 8.0, 1e-13);
    for (int i = 1; i < 6; i++)
        TEST_NEAR((x[i + 1] - x[i]) / (x[i] - x[i - 1]), pow(8.0, 0.2), 1e-13);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* --- perturbation ----------------------------------------------------------------------------- */

static void test_box__perturbation_moves_inner_vertices_alone_and_not_too_far(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_box_options o = {.shape = test_shapes[s], .cells = {6, 5, 4}};
        eg_mesh *straight = test_box(ctx, &o);
        o.perturb = 0.15;
        o.seed = 3;
        eg_mesh *moved = test_box(ctx, &o);
        eg_mesh *again = test_box(ctx, &o);
        o.seed = 4;
        eg_mesh *other = test_box(ctx, &o);
        size_t bytes = (size_t)(moved->vertex_count * moved->dim) * sizeof *moved->x;
        assert_memory_equal(moved->x, again->x, bytes);
        assert_memory_not_equal(moved->x, other->x, bytes);

        /* Elements by their numbers in the box, vertices by their place in them. */
        double largest = 0.0;
        for (int32_t a = 0; a < straight->element_count; a++) {
            int32_t b = 0;
            while (moved->global[b] != straight->global[a])
                b++;
            for (int i = 0; i < straight->vertex_stride; i++) {
                const double *x =
                    &straight
                         ->x[straight->vertices[a * straight->vertex_stride + i] * straight->dim];
                const double *y =
                    &moved->x[moved->vertices[b * moved->vertex_stride + i] * moved->dim];
                bool inner = true;
                for (int d = 0; d < straight->dim; d++)
                    inner = inner && x[d] > 1e-12 && x[d] < 1.0 - 1e-12;
                for (int d = 0; d < straight->dim; d++) {
                    double part = fabs(y[d] - x[d]) * o.cells[d];
                    if (!inner) assert_true(part == 0.0);
                    assert_true(part <= 0.15 + 1e-14);
                    largest = fmax(largest, part);
                }
            }
        }
        assert_true(largest > 0.1);
        eg_mesh_destroy(&other);
        eg_mesh_destroy(&again);
        eg_mesh_destroy(&moved);
        eg_mesh_destroy(&straight);
    }
    test_context_free(&ctx);
}

static void test_box__the_largest_perturbation_still_makes_valid_elements(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            eg_mesh *mesh = test_box(ctx, &(eg_box_options){.shape = test_shapes[s],
                                                            .cells = {14, 13, 8},
                                                            .grading = {1, 5, 1},
                                                            .perturb = 0.45,
                                                            .seed = seed,
                                                            .periodic = {true}});
            eg_mesh_summary summary = test_summarise(mesh);
            TEST_NEAR(summary.volume, 1.0, 1e-13);
            assert_true(summary.quality_least > 0.01);
            eg_mesh_summary_free(ctx, &summary);
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

/* Figures of this generator, so that a change of machine or code that moves vertices is noticed. */
static void test_box__perturbation_is_the_same_on_every_machine(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *mesh = test_box(
        ctx,
        &(eg_box_options){.shape = EG_SHAPE_QUAD, .cells = {2, 2}, .perturb = 0.25, .seed = 2024});
    bool found = false;
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = &mesh->x[2 * v];
        if (x[0] <= 0.0 || x[0] >= 1.0 || x[1] <= 0.0 || x[1] >= 1.0) continue;
        found = true;
        TEST_NEAR(x[0], 0.3798714778615267, 0.0);
        TEST_NEAR(x[1], 0.5027647800267832, 0.0);
    }
    assert_true(found);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* --- refusals --------------------------------------------------------------------------------- */

static void test_box__options_that_make_no_box_are_refused_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *part;
        eg_box_options options;
    } wrong[] = {
        {"shape of a box", {.shape = EG_SHAPE_LINE, .cells = {1, 1}}},
        {"shape of a box", {.shape = (eg_shape)17, .cells = {1, 1}}},
        {"cells of a box", {.shape = EG_SHAPE_TRI, .cells = {3, 0}}},
        {"cells of a box", {.shape = EG_SHAPE_HEX, .cells = {3, 3}}},
        {"cells of a box", {.shape = EG_SHAPE_TRI, .cells = {100000, 100000}}},
        {"high of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .low = {1}, .high = {1}}},
        {"high of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .high = {INFINITY}}},
        {"high of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .low = {NAN}}},
        {"cells of a box",
         {.shape = EG_SHAPE_TRI, .cells = {1000, 1}, .low = {1e15}, .high = {1e15 + 1}}},
        {"grading of a box", {.shape = EG_SHAPE_TRI, .cells = {4, 1}, .grading = {-2}}},
        {"grading of a box", {.shape = EG_SHAPE_TRI, .cells = {4, 1}, .grading = {1e300}}},
        {"perturb of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .perturb = 0.5}},
        {"perturb of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .perturb = NAN}},
        {"order of a box", {.shape = EG_SHAPE_TRI, .cells = {1, 1}, .order = 11}},
        {"order of a box", {.shape = EG_SHAPE_QUAD, .cells = {1, 1}, .order = 16}},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(wrong); i++) {
        eg_mesh *mesh = NULL;
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, wrong[i].part,
                   eg_mesh_create_box(ctx, &wrong[i].options, &mesh));
        assert_null(mesh);
    }
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_box__vertices_elements_and_faces_are_as_many_as_closed_forms_say),
        cmocka_unit_test(test_box__boundaries_are_named_and_lie_where_their_names_say),
        cmocka_unit_test(test_box__periodic_axes_have_no_boundary_even_with_one_cell),
        cmocka_unit_test(test_box__volume_is_exact_with_grading_perturbation_and_order),
        cmocka_unit_test(test_box__volume_of_many_elements_is_summed_without_loss),
        cmocka_unit_test(test_box__quality_is_one_for_ideal_shapes_and_known_for_halves_of_squares),
        cmocka_unit_test(test_box__grading_is_the_last_cell_over_the_first_with_constant_growth),
        cmocka_unit_test(test_box__perturbation_moves_inner_vertices_alone_and_not_too_far),
        cmocka_unit_test(test_box__the_largest_perturbation_still_makes_valid_elements),
        cmocka_unit_test(test_box__perturbation_is_the_same_on_every_machine),
        cmocka_unit_test(test_box__options_that_make_no_box_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
