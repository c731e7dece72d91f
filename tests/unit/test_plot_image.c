/* Images of fields: every pixel has the value of the polynomial in the element that holds it,
 * pixels on edges belong to one element, none is lost. */
#include "plots.h"

#include "report/plot/mapping.h"

#include <sched.h>

/* --- polynomials and mappings ----------------------------------------------------------------- */

static void random_point(eg_shape shape, uint64_t *seed, double r[3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    double sum;
    do {
        sum = info->dim - 2;
        for (int d = 0; d < info->dim; d++)
            sum += r[d] = test_random(seed);
    } while (!info->tensor && sum > 0);
}

static void test_factors__are_the_basis_of_equidistant_nodes(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 1;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const eg_shape shape = test_shapes[s];
        const int most = shape == EG_SHAPE_QUAD ? EG_DEGREE_MAX_QUAD : EG_DEGREE_MAX;
        for (int degree = 1; degree <= most; degree++) {
            eg_element *element = NULL;
            double *basis = NULL, *nodes = NULL;
            TEST_OK(ctx,
                    eg_element_create_bare(ctx, shape, degree, EG_BASIS_EQUIDISTANT, &element));
            const int np = element->np;
            TEST_OK(ctx, eg_new(ctx, (size_t)np, &basis));
            TEST_OK(ctx, eg_new(ctx, (size_t)np, &nodes));
            for (int i = 0; i < np; i++)
                nodes[i] = test_random(&seed);
            for (int k = 0; k < 20; k++) {
                eg_factors factors;
                double r[3], sum = 0, size = 0;
                random_point(shape, &seed, r);
                TEST_OK(ctx, eg_element_evaluate(element, 1, r, basis));
                for (int i = 0; i < np; i++) {
                    sum += basis[i] * nodes[i];
                    size += fabs(basis[i] * nodes[i]);
                }
                eg_factors_fill(shape, degree, r, false, &factors);
                TEST_NEAR(eg_factors_sum(&factors, nodes), sum, 1e-12 * fmax(size, 1));
            }
            eg_release(ctx, &nodes);
            eg_release(ctx, &basis);
            eg_element_destroy(&element);
        }
    }
    test_context_free(&ctx);
}

static void test_mapping__has_the_jacobian_of_differences_and_is_inverted(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 2;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++)
        for (test_kind what = TEST_STRAIGHT; what < TEST_KINDS; what++) {
            eg_mesh *mesh = test_plot_mesh(ctx, test_shapes[s], what, 4, 3);
            eg_snapshot *snapshot = test_plot_snapshot(mesh, 4, &seed);
            const bool tensor = eg_shape_get_info(test_shapes[s])->tensor;
            int kinds[EG_MAPPING_CURVED + 1] = {0};
            for (int32_t e = 0; e < snapshot->element_count; e++) {
                const double *nodes = &snapshot->x[snapshot->first_node[e] * snapshot->dim];
                eg_plot_mapping m;
                double low[3], high[3];
                const eg_mapping_kind judged =
                    eg_plot_mapping_judge(test_shapes[s], 4, nodes, low, high);
                kinds[judged]++;
                eg_plot_mapping_open(judged, test_shapes[s], 4, nodes, &m);
                for (int k = 0; k < 5; k++) {
                    double r[3] = {0}, x[3], back[3] = {0}, inverse[3][3], near[3] = {0}, y[3];
                    random_point(test_shapes[s], &seed, r);
                    eg_plot_mapping_at(&m, r, x);
                    eg_plot_mapping_guess(&m, x, back);
                    assert_true(eg_plot_mapping_invert(&m, x, back, inverse));
                    for (int d = 0; d < mesh->dim; d++) {
                        TEST_NEAR(back[d], r[d], 1e-12);
                        assert_true(x[d] >= low[d] - 1e-12 && x[d] <= high[d] + 1e-12);
                    }
                    for (int a = 0; a < mesh->dim; a++) { /* ∂x/∂r times ∂r/∂x is 1 */
                        const double step = 1e-5;
                        memcpy(near, r, sizeof near);
                        near[a] += step;
                        eg_plot_mapping_at(&m, near, y);
                        for (int b = 0; b < mesh->dim; b++) {
                            double sum = 0;
                            for (int d = 0; d < mesh->dim; d++)
                                sum += inverse[b][d] * (y[d] - x[d]) / step;
                            TEST_NEAR(sum, a == b, 1e-3);
                        }
                    }
                }
            }
            assert_true((kinds[EG_MAPPING_AFFINE] > 0) == (what == TEST_STRAIGHT || !tensor) ||
                        what >= TEST_BENT);
            assert_true((kinds[EG_MAPPING_CURVED] > 0) == (what >= TEST_BENT));
            assert_true(kinds[EG_MAPPING_MULTILINEAR] == 0 || (what == TEST_MOVED && tensor));
            assert_int_equal(kinds[EG_MAPPING_NONE], 0);
            eg_snapshot_destroy(&snapshot);
            eg_mesh_destroy(&mesh);
        }
    test_context_free(&ctx);
}

static void test_mapping__of_flat_or_infinite_elements_is_none(void **state)
{
    (void)state;
    const double flat[] = {0, 0, 1, 1, 2, 2}, infinite[] = {0, 0, 1, 0, 0, INFINITY};
    double low[3], high[3];
    eg_plot_mapping m;
    eg_plot_mapping_open(eg_plot_mapping_judge(EG_SHAPE_TRI, 1, flat, low, high), EG_SHAPE_TRI, 1,
                         flat, &m);
    assert_int_equal(m.kind, EG_MAPPING_NONE);
    assert_int_equal(eg_plot_mapping_judge(EG_SHAPE_TRI, 1, infinite, low, high), EG_MAPPING_NONE);
}

/* --- images ----------------------------------------------------------------------------------- */

static int32_t mesh_element(const eg_mesh *mesh, int64_t global)
{
    for (int32_t e = 0; e < mesh->element_count; e++)
        if (mesh->global[e] == global) return e;
    fail_msg("there is no element %lld", (long long)global);
    return -1;
}

static double outside_by(eg_shape shape, const double *r)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    double most = -INFINITY, sum = info->dim - 2;
    for (int d = 0; d < info->dim; d++) {
        most = fmax(most, info->tensor ? fabs(r[d]) - 1 : -1 - r[d]);
        sum += r[d];
    }
    return info->tensor ? most : fmax(most, sum);
}

/* The point inside of an element of the mesh that is mapped to x, by Newton's method from the
 * centre, or from a point near a vertex. */
static void find_inside(const test_mapping *mapping, int32_t element, const double *x, double r[3])
{
    const eg_shape_info *info = test_info(mapping->mesh, element);
    const eg_shape shape = (eg_shape)mapping->mesh->shape[element];
    for (int start = -1; start < info->vertices; start++) {
        double at[3] = {0}, J[3][3], A[3][3];
        for (int d = 0; d < info->dim; d++) {
            r[d] = 0;
            for (int v = 0; v < info->vertices; v++)
                r[d] += info->r[v][d] / info->vertices;
            if (start >= 0) r[d] = 0.3 * r[d] + 0.7 * info->r[start][d];
        }
        for (int step = 0; step < 8; step++) {
            test_map(mapping, element, r, at, J);
            const double det = eg_mesh_determinant(info->dim, (const double(*)[3])J);
            for (int d = 0; d < info->dim; d++) {
                memcpy(A, J, sizeof A);
                for (int c = 0; c < info->dim; c++)
                    A[d][c] = x[c] - at[c];
                r[d] += eg_mesh_determinant(info->dim, (const double(*)[3])A) / det;
            }
        }
        test_map(mapping, element, r, at, J);
        double miss = 0;
        for (int d = 0; d < info->dim; d++)
            miss = fmax(miss, fabs(at[d] - x[d]));
        if (miss < 1e-13 && outside_by(shape, r) < 1e-8) return;
    }
    fail_msg("(%g, %g, %g) is not in element %d", x[0], x[1], x[2], (int)element);
}

/* Checks a pixel against the mapping of the mesh itself and the basis of its element. */
static void check_pixel(const test_mapping *mapping, const eg_element *basis,
                        const eg_snapshot *snapshot, const eg_plot_image *image, size_t pixel,
                        const double *x)
{
    const int32_t e = image->element[pixel];
    double r[3], value[TEST_MOST_NODES], sum = 0;
    find_inside(mapping, mesh_element(mapping->mesh, snapshot->global[e]), x, r);
    TEST_OK(basis->ctx, eg_element_evaluate(basis, 1, r, value));
    for (int i = 0; i < basis->np; i++)
        sum += value[i] * snapshot->arrays[0].values[snapshot->first_node[e] + i];
    TEST_NEAR(image->value[pixel], sum, 1e-12);
}

static void test_image__has_the_polynomial_of_the_element_at_every_pixel(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 3;
    enum { DEGREE = 4, PIXELS = 31 };
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++)
        for (test_kind what = TEST_STRAIGHT; what < TEST_KINDS; what++) {
            eg_mesh *mesh = test_plot_mesh(ctx, test_shapes[s], what, 3, 3);
            eg_snapshot *snapshot = test_plot_snapshot(mesh, DEGREE, &seed);
            const eg_plot_view view = test_plot_view(mesh->dim, PIXELS);
            eg_plot_image *image = test_plot_image(snapshot, "u", &view, 1);
            test_mapping mapping = test_mapping_new(mesh);
            eg_element *basis = NULL;
            TEST_OK(ctx, eg_element_create_bare(ctx, test_shapes[s], DEGREE, EG_BASIS_EQUIDISTANT,
                                                &basis));
            int64_t inside = 0;
            for (int row = 0; row < PIXELS; row++)
                for (int column = 0; column < PIXELS; column++) {
                    const size_t pixel = (size_t)row * PIXELS + (size_t)column;
                    double x[3];
                    eg_plot_view_point(&view, column, row, x);
                    const bool is_inside = x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[1] <= 1;
                    const double over_x = fmax(-x[0], x[0] - 1), over_y = fmax(-x[1], x[1] - 1);
                    const double far = fmax(over_x, over_y);
                    const bool beside = fmin(over_x, over_y) < 0; /* not at a corner */
                    inside += is_inside;
                    if (is_inside) {
                        assert_true(image->element[pixel] >= 0 && image->beyond[pixel] == 0);
                        check_pixel(&mapping, basis, snapshot, image, pixel, x);
                        assert_true(image->line[pixel] >= 0 && image->line[pixel] <= 1);
                    } else if (beside && far < view.pixel) {
                        assert_true(image->element[pixel] >= 0);
                        TEST_NEAR(image->beyond[pixel], far / view.pixel,
                                  what == TEST_STRAIGHT ? 1e-6 : 0.1);
                    } else if (far > 2 * view.pixel) {
                        assert_int_equal(image->element[pixel], -1);
                    }
                }
            const eg_plot_extent extent = eg_plot_image_measure(image);
            assert_int_equal(extent.inside, inside);
            assert_int_equal(extent.undefined, 0);
            eg_element_destroy(&basis);
            test_mapping_free(&mapping);
            eg_plot_image_destroy(&image);
            eg_snapshot_destroy(&snapshot);
            eg_mesh_destroy(&mesh);
        }
    test_context_free(&ctx);
}

/* Large elements are cut into cells, which must not lose any pixel. */
static void test_image__of_few_large_curved_elements_is_complete(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 4;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_plot_mesh(ctx, test_shapes[s], TEST_BENT, 6, 2);
        eg_snapshot *snapshot = test_plot_snapshot(mesh, 6, &seed);
        const eg_plot_view view = test_plot_view(mesh->dim, 150);
        eg_plot_image *image = test_plot_image(snapshot, "x + 2*y", &view, 0);
        for (int row = 0; row < view.height; row++)
            for (int column = 0; column < view.width; column++) {
                const size_t pixel = (size_t)row * (size_t)view.width + (size_t)column;
                double x[3];
                eg_plot_view_point(&view, column, row, x);
                if (x[0] < 0 || x[0] > 1 || x[1] < 0 || x[1] > 1) continue;
                assert_true(image->element[pixel] >= 0);
                assert_true(image->beyond[pixel] == 0);
                TEST_NEAR(image->value[pixel], x[0] + 2 * x[1], 1e-14);
            }
        assert_null(image->line);
        eg_plot_image_destroy(&image);
        eg_snapshot_destroy(&snapshot);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Pixels whose centres lie on edges belong to the element with the lower number, all along the
 * edge. */
static void test_image__gives_pixels_on_edges_to_the_first_element(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 5;
    enum { CELLS = 3, PER_CELL = 7 };
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *mesh = test_plot_mesh(ctx, test_shapes[s], TEST_STRAIGHT, 1, CELLS);
        eg_snapshot *snapshot = test_plot_snapshot(mesh, 2, &seed);
        const double pixel = 1.0 / (CELLS * PER_CELL);
        const int count = CELLS * PER_CELL + 1;
        const eg_plot_view view = {.across = 0,
                                   .up = 1,
                                   .normal = mesh->dim == 3 ? 2 : -1,
                                   .at = 1.0 / CELLS,
                                   .left = -0.5 * pixel,
                                   .top = 1 + 0.5 * pixel,
                                   .pixel = pixel,
                                   .width = count,
                                   .height = count};
        eg_plot_image *image = test_plot_image(snapshot, "u", &view, 0);
        for (int i = 0; i < count * count; i++) {
            double x[3], low[3], high[3];
            int32_t first = -1;
            eg_plot_view_point(&view, i % count, i / count, x);
            for (int32_t e = 0; e < snapshot->element_count && first < 0; e++) {
                const double *nodes = &snapshot->x[snapshot->first_node[e] * mesh->dim];
                eg_plot_mapping m;
                double r[3], inverse[3][3];
                eg_plot_mapping_open(eg_plot_mapping_judge(test_shapes[s], 2, nodes, low, high),
                                     test_shapes[s], 2, nodes, &m);
                assert_true(eg_plot_mapping_invert(&m, x, r, inverse));
                if (outside_by(test_shapes[s], r) < 1e-10) first = e;
            }
            assert_true(first >= 0);
            assert_int_equal(image->element[i], first);
            assert_true(image->beyond[i] == 0);
        }
        eg_plot_image_destroy(&image);
        eg_snapshot_destroy(&snapshot);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

/* Coordinates of single precision leave gaps between elements; pixels in them have a value, too. */
static void test_image__has_no_gaps_where_elements_fit_badly(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 6;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_QUAD, TEST_STRAIGHT, 1, 4);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 1, &seed);
    for (int64_t i = 0; i < 2 * snapshot->first_node[snapshot->element_count]; i++)
        snapshot->x[i] += 1e-4 * test_random(&seed);
    const eg_plot_view view = {.across = 0,
                               .up = 1,
                               .normal = -1,
                               .left = 0.1 - 0.5 / 80,
                               .top = 0.9 + 0.5 / 80,
                               .pixel = 1.0 / 80,
                               .width = 65,
                               .height = 65};
    eg_plot_image *image = test_plot_image(snapshot, "x", &view, 0);
    int beyond = 0;
    for (int i = 0; i < 65 * 65; i++) {
        assert_true(image->element[i] >= 0);
        assert_true(image->beyond[i] < 0.02);
        beyond += image->beyond[i] > 0;
    }
    assert_true(beyond > 10); /* or the gaps were not seen */
    eg_plot_image_destroy(&image);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* At nodes alone the cube of a linear field would be linear, too. */
static void test_image__evaluates_expressions_at_pixels(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 7;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_TRI, TEST_STRAIGHT, 1, 1);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 1, &seed);
    test_fill_field(snapshot, test_first_coordinate);
    const eg_plot_view view = test_plot_view(2, 40);
    eg_plot_image *image = test_plot_image(snapshot, "u^3 + y*t + 0*p", &view, 0);
    for (int i = 0; i < 1600; i++) {
        double x[3];
        if (image->element[i] < 0 || image->beyond[i] > 0) continue;
        eg_plot_view_point(&view, i % 40, i / 40, x);
        TEST_NEAR(image->value[i], x[0] * x[0] * x[0] + 0.25 * x[1], 1e-14);
    }
    eg_plot_image_destroy(&image);
    image = test_plot_image(snapshot, "log(u - 0.5)", &view, 0);
    const eg_plot_extent extent = eg_plot_image_measure(image);
    TEST_NEAR((double)extent.undefined / (double)extent.inside, 0.5, 0.1);
    assert_true(isfinite(extent.low) && extent.high < log(0.5) && extent.high > log(0.45));
    eg_plot_image_destroy(&image);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* Lines between elements: along x = 1/2 and y = 1/2, as wide as asked for. */
static void test_image__draws_lines_between_elements(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 8;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_QUAD, TEST_STRAIGHT, 1, 2);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 2, &seed);
    const eg_plot_view view = {
        .up = 1, .normal = -1, .left = 0, .top = 1, .pixel = 0.01, .width = 100, .height = 100};
    eg_plot_image *image = test_plot_image(snapshot, "u", &view, 1.5);
    for (int i = 0; i < 100; i++) { /* row 25 */
        const double from = fmin(fabs(i + 0.5 - 50), fmin(i + 0.5, 99.5 - i));
        TEST_NEAR(image->line[2500 + i], fmin(fmax(1.25 - from, 0), 1), 1e-6);
    }
    double total = 0;
    for (int i = 40; i < 60; i++)
        total += image->line[2500 + i];
    TEST_NEAR(total, 1.5, 1e-6);
    eg_plot_image_destroy(&image);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

static void test_image__does_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 9;
    eg_mesh *mesh = test_plot_mesh(ctx, EG_SHAPE_TRI, TEST_BENT, 4, 5);
    eg_snapshot *snapshot = test_plot_snapshot(mesh, 4, &seed);
    const eg_plot_view view = test_plot_view(2, 300);
    eg_plot_image *all = test_plot_image(snapshot, "u", &view, 1);
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    eg_plot_image *alone = test_plot_image(snapshot, "u", &view, 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    for (int i = 0; i < 300 * 300; i++) {
        assert_int_equal(all->element[i], alone->element[i]);
        if (all->element[i] < 0) continue;
        assert_true(all->value[i] == alone->value[i]);
        assert_true(all->beyond[i] == alone->beyond[i] && all->line[i] == alone->line[i]);
    }
    eg_plot_image_destroy(&alone);
    eg_plot_image_destroy(&all);
    eg_snapshot_destroy(&snapshot);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors__are_the_basis_of_equidistant_nodes),
        cmocka_unit_test(test_mapping__has_the_jacobian_of_differences_and_is_inverted),
        cmocka_unit_test(test_mapping__of_flat_or_infinite_elements_is_none),
        cmocka_unit_test(test_image__has_the_polynomial_of_the_element_at_every_pixel),
        cmocka_unit_test(test_image__of_few_large_curved_elements_is_complete),
        cmocka_unit_test(test_image__gives_pixels_on_edges_to_the_first_element),
        cmocka_unit_test(test_image__has_no_gaps_where_elements_fit_badly),
        cmocka_unit_test(test_image__evaluates_expressions_at_pixels),
        cmocka_unit_test(test_image__draws_lines_between_elements),
        cmocka_unit_test(test_image__does_not_depend_on_the_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
