/* The L2 projection of a smooth function converges at order N + 1 ± 0.2, on all shapes, on straight and
 * on curved meshes (mapped with the field's own degree), between two levels whose errors are above 1e-9.
 *
 * Degrees 1, 2, 5 and 10; all from 1 to 8, too, where EAGRE_TEST_LONG is set. */
#include "kernel/boxes.h"

#define FLOOR 1e-9
#define TOLERANCE 0.2

/* Bends all faces of the box gently. */
static eg_status bend(void *user, size_t count, const double *X, double *x)
{
    const size_t dim = (size_t) * (const int *)user;
    for (size_t i = 0; i < count * dim; i++)
        x[i] = X[i] + 0.1 * sin(2 * X[i / dim * dim + (i + 1) % dim]);
    return EG_OK;
}

/* The error of a plane wave, both of its parts: how its phase falls into the elements does not matter. */
static double projection_error(eg_device *device, eg_shape shape, bool curved, int degree,
                               int cells, double wave_number)
{
    int dim = eg_shape_get_info(shape)->dim;
    eg_box_options o = {.shape = shape,
                        .cells = {cells, cells, dim == 3 ? cells : 0},
                        .order = curved ? degree : 0,
                        .map = curved ? bend : NULL,
                        .map_user = &dim};
    char real[120], imaginary[120];
    const char *texts[] = {real, imaginary};
    const double k = wave_number;
    eg_norms norms[2] = {{0}};
    eg_field *field = NULL;
    eg_measure *measure = NULL;
    snprintf(real, sizeof real, "100 * cos(%.17g * (x + 0.9 * y + 0.8 * z))", k);
    snprintf(imaginary, sizeof imaginary, "100 * sin(%.17g * (x + 0.9 * y + 0.8 * z))", k);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, degree);
    eg_function *function = function_new(b.space, 2, texts);
    TEST_OK(b.space->ctx, eg_field_create(b.space, 2, EG_F64, &field));
    TEST_OK(b.space->ctx, eg_measure_create(b.space, 2, function, &measure));
    TEST_OK(b.space->ctx, eg_function_project(function, 0, field));
    TEST_OK(b.space->ctx, eg_measure_norms(measure, 0, field, norms));
    eg_measure_destroy(&measure);
    eg_field_destroy(&field);
    eg_function_destroy(&function);
    box_free(&b);
    return hypot(norms[0].l2, norms[1].l2);
}

/* The order between meshes of `coarse` and `fine` cells in each direction. High degrees would be below
 * FLOOR at once, so waves are made shorter until the error on the fine mesh is 2.5 times that. Their
 * height is 100: errors near FLOOR are then small beside it, as an order needs it, and still far above
 * rounding. */
static void check_order(eg_device *device, eg_shape shape, bool curved, int degree, int coarse,
                        int fine)
{
    double k = 3, least = 0;
    now_at(device, EG_F64, "%s %s N = %d", curved ? "curved" : "straight",
           eg_shape_get_info(shape)->name, degree);
    for (int attempt = 0; attempt < 4; attempt++) {
        least = projection_error(device, shape, curved, degree, fine, k);
        if (least > 2 * FLOOR) break;
        k *= pow(2.5 * FLOOR / least, 1.0 / (degree + 1));
    }
    double most = projection_error(device, shape, curved, degree, coarse, k);
    double order = log(most / least) / log((double)fine / coarse);
    print_message("  %-8s %-13s N = %2d: %.2e -> %.2e, order %.2f\n",
                  curved ? "curved" : "straight", eg_shape_get_info(shape)->name, degree, most,
                  least, order);
    assert_true(least > FLOOR);
    if (fabs(order - (degree + 1)) > TOLERANCE) fail_msg("order %.2f", order);
}

static void check_shape(eg_shape shape)
{
    static const int degrees[] = {1, 2, 5, 10}, all_degrees[] = {1, 2, 3, 4, 5, 6, 7, 8, 10};
    const bool all = getenv("EAGRE_TEST_LONG") != NULL;
    const int *list = all ? all_degrees : degrees;
    const size_t count = all ? EG_COUNT(all_degrees) : EG_COUNT(degrees);
    const bool solid = eg_shape_get_info(shape)->dim == 3;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int curved = 0; curved < 2; curved++)
        for (size_t i = 0; i < count; i++) {
            int fine = solid && list[i] > 2 ? 4 : 8;
            check_order(device, shape, curved, list[i], fine * 3 / 4, fine);
        }
    eg_device_close(&device);
    test_context_free(&ctx);
    where[0] = '\0';
}

static void test_projection__converges_on_triangles(void **state)
{
    (void)state;
    check_shape(EG_SHAPE_TRI);
}

static void test_projection__converges_on_quadrilaterals(void **state)
{
    (void)state;
    check_shape(EG_SHAPE_QUAD);
}

static void test_projection__converges_on_tetrahedra(void **state)
{
    (void)state;
    check_shape(EG_SHAPE_TET);
}

static void test_projection__converges_on_hexahedra(void **state)
{
    (void)state;
    check_shape(EG_SHAPE_HEX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_projection__converges_on_triangles),
        KERNEL_TEST(test_projection__converges_on_quadrilaterals),
        KERNEL_TEST(test_projection__converges_on_tetrahedra),
        KERNEL_TEST(test_projection__converges_on_hexahedra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
