/* Measured orders of model `ins` with the Taylor vortex [karakus2018, section 4.1]: in space at least
 * N + 0.7 of the velocity and N - 0.3 of the pressure, in time those of backward differentiation, with
 * and without subcycles.
 *
 * Degrees 1 to 3 in space, 6 in time, 4 subcycles; where EAGRE_TEST_LONG is set degrees 1 to 8 and 6 to 8,
 * 4, 8 and 16 subcycles. */
#include "test.h"

#include "device/device.h"
#include "model/model.h"

#include <math.h>

/* L2 errors of u, v, p of the case with these replacements. */
static void run(eg_device *device, const char *const *overrides, size_t count, double error[3])
{
    eg_context *ctx = eg_device_context(device);
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    eg_comm *comm = NULL;
    eg_run_result result;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_model_open_case(ctx, EG_TEST_SOURCE_DIR "/cases/ins-taylor.toml", overrides,
                                    count, &model, &cas));
    TEST_OK(ctx, eg_model_run(model, cas, device, comm, &(eg_run_options){.quiet = true}, &result));
    assert_int_equal(result.error_count, 3);
    for (int c = 0; c < 3; c++)
        error[c] = result.errors[c].norms.l2;
    eg_run_result_free(ctx, &result);
    eg_case_close(&cas);
    eg_comm_destroy(&comm);
}

/* Orders between two runs that differ in one replacement. */
static void measure(eg_device *device, const char *const *overrides, size_t count,
                    const char *coarse, const char *fine, double order[3])
{
    const char *all[8] = {coarse};
    double first[3], second[3];
    assert_true(count < EG_COUNT(all));
    memcpy(&all[1], overrides, count * sizeof *overrides);
    run(device, all, count + 1, first);
    all[0] = fine;
    run(device, all, count + 1, second);
    for (int c = 0; c < 3; c++)
        order[c] = log2(first[c] / second[c]);
    print_message("  %s %s: u %.3e, order %.2f, %.2f; p %.3e, order %.2f\n", overrides[0],
                  overrides[1], second[0], order[0], order[1], second[2], order[2]);
}

static void test_ins__space_has_the_order_of_the_degree(void **state)
{
    const int most = getenv("EAGRE_TEST_LONG") ? 5 : 3;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int degree = 1; degree <= most; degree++) {
        char of_degree[32], dt[32];
        double order[3];
        /* Shorter steps for higher degrees, so that errors in space show. */
        snprintf(of_degree, sizeof of_degree, "space.degree=%d", degree);
        snprintf(dt, sizeof dt, "time.dt=%g", degree < 4 ? 0.002 : 0.002 * pow(0.4, degree - 3));
        const char *const overrides[] = {of_degree, dt, "time.end=0.1", "solver.tolerance=1e-12"};
        measure(device, overrides, EG_COUNT(overrides), "mesh.refine=0", "mesh.refine=1", order);
        if (!(order[0] >= degree + 0.7 && order[1] >= degree + 0.7 && order[2] >= degree - 0.3))
            wrong++;
    }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

/* From meshes so coarse that errors are above 1e-9 when they are refined, and at t = 3, as in the paper. */
static void test_ins__space_has_the_order_of_high_degrees(void **state)
{
    static const struct {
        int degree;
        const char *mesh, *dt;
    } runs[] = {{6, "16", "0.0015"}, {7, "16", "0.0012"}, {8, "10", "0.001"}};
    eg_context *ctx;
    eg_device *device = NULL;
    int wrong = 0;
    (void)state;
    if (!getenv("EAGRE_TEST_LONG")) skip();
    ctx = test_context();
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(runs); i++) {
        const int degree = runs[i].degree;
        char of_degree[32], dt[32], mesh[1024];
        double order[3];
        snprintf(of_degree, sizeof of_degree, "space.degree=%d", degree);
        snprintf(dt, sizeof dt, "time.dt=%s", runs[i].dt);
        snprintf(mesh, sizeof mesh, "mesh.file=%s/tests/data/gmsh/square-%s.msh",
                 EG_TEST_SOURCE_DIR, runs[i].mesh);
        const char *const overrides[] = {of_degree,      dt,           mesh,
                                         "time.order=3", "time.end=3", "solver.tolerance=1e-12"};
        measure(device, overrides, EG_COUNT(overrides), "mesh.refine=0", "mesh.refine=1", order);
        if (!(order[0] >= degree + 0.7 && order[1] >= degree + 0.7 && order[2] >= degree - 0.3))
            wrong++;
    }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

/* Numbers of subcycles, and degrees: the last two of both where EAGRE_TEST_LONG is set. */
static const char *const cycles[] = {"time.subcycles=0", "time.subcycles=4", "time.subcycles=8",
                                     "time.subcycles=16"};
static const char *const degrees[] = {"space.degree=6", "space.degree=7", "space.degree=8"};

static size_t how_many(size_t all)
{
    return getenv("EAGRE_TEST_LONG") ? all : all - 2;
}

static void test_ins__time_has_its_order_with_and_without_subcycles(void **state)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t d = 0; d < how_many(EG_COUNT(degrees)); d++)
        for (int order = 1; order <= 2; order++)
            for (size_t i = 0; i < how_many(EG_COUNT(cycles)); i++) {
                double found[3];
                const char *const overrides[] = {order == 1 ? "time.order=1" : "time.order=2",
                                                 cycles[i], degrees[d], "time.end=0.2"};
                /* Steps of high degrees must be shorter, or inflow is cut. */
                measure(device, overrides, EG_COUNT(overrides),
                        d == 0 ? "time.dt=0.01" : "time.dt=0.004",
                        d == 0 ? "time.dt=0.005" : "time.dt=0.002", found);
                if (!(fabs(found[0] - order) <= 0.15 && fabs(found[1] - order) <= 0.15)) wrong++;
            }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

/* With the pressure extrapolated from two; in so few steps that they need not be stable. */
static void test_ins__third_order_in_time_is_above_two_and_a_half(void **state)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t d = 0; d < how_many(EG_COUNT(degrees)); d++) {
        const char *const overrides[] = {"time.order=3", degrees[d], "mesh.refine=1",
                                         "time.end=0.08", "solver.tolerance=1e-11"};
        double found[3];
        measure(device, overrides, EG_COUNT(overrides), "time.dt=0.008", "time.dt=0.004", found);
        if (!(found[0] >= 2.5 && found[1] >= 2.5 && found[2] >= 2.5)) wrong++;
    }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

static void test_ins__third_order_in_time_stays_with_subcycles(void **state)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t d = 0; d < how_many(EG_COUNT(degrees)); d++)
        for (size_t i = 1; i < how_many(EG_COUNT(cycles)); i++) {
            const char *const overrides[] = {"time.order=3", cycles[i], degrees[d], "time.end=0.2",
                                             "solver.tolerance=1e-12"};
            double found[3];
            measure(device, overrides, EG_COUNT(overrides),
                    d == 0 ? "time.dt=0.005" : "time.dt=0.004",
                    d == 0 ? "time.dt=0.0025" : "time.dt=0.002", found);
            if (!(found[0] >= 2.5 && found[1] >= 2.5)) wrong++;
        }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

/* Where viscosity hardly helps: as good as with the pressure extrapolated from one. */
static void test_ins__third_order_in_time_is_stable_in_short_steps(void **state)
{
    static const char *const overrides[] = {
        "time.order=3",  "space.degree=3", "ins.viscosity=0.001", "constants.nu=0.001",
        "time.end=0.02", "time.dt=0.0002", "ins.pressure_order=1"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    double from_one[3], from_two[3];
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    run(device, overrides, EG_COUNT(overrides), from_one);
    run(device, overrides, EG_COUNT(overrides) - 1, from_two);
    eg_device_close(&device);
    test_context_free(&ctx);
    for (int c = 0; c < 3; c++) {
        print_message("  %.3e, %.3e\n", from_one[c], from_two[c]);
        assert_true(from_two[c] <= 1.05 * from_one[c]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ins__space_has_the_order_of_the_degree),
        cmocka_unit_test(test_ins__space_has_the_order_of_high_degrees),
        cmocka_unit_test(test_ins__time_has_its_order_with_and_without_subcycles),
        cmocka_unit_test(test_ins__third_order_in_time_is_above_two_and_a_half),
        cmocka_unit_test(test_ins__third_order_in_time_stays_with_subcycles),
        cmocka_unit_test(test_ins__third_order_in_time_is_stable_in_short_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
