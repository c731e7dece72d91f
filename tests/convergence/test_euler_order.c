/* The isentropic vortex in [-10, 10]², where the periodic seam does not matter, converges at the
 * order of the scheme: degrees 3 to 6 with all methods. On the way there orders are not those of
 * theory: the bounds are what the methods have between these meshes.
 *
 * Degree 3 with all methods; all of them where EAGRE_TEST_LONG is set.
 *
 * On curved elements: the vortex, and flow between walls that are arcs, at half an order above the degree
 * at least.
 *
 * Finite volumes in [-5, 5]², by means of cells: second order, third order in lines with one flux point per
 * face, which is of second order in the end, and third order with two. */
#include "euler_runs.h"

#include <math.h>

static double vortex_error(eg_device *device, const char *method, int degree, int cells)
{
    char of_method[32], of_degree[32], count[64];
    /* Errors of time stepping are below those of space. */
    const char *const cfl = degree < 5 ? "time.cfl=0.03" : "time.cfl=0.008";
    const char *const overrides[] = {
        of_method,          of_degree, count, cfl, "constants.size=20.0", "mesh.low=[-10,-10]",
        "mesh.high=[10,10]"};
    snprintf(of_method, sizeof of_method, "scheme.method=%s", method);
    snprintf(of_degree, sizeof of_degree, "space.degree=%d", degree);
    snprintf(count, sizeof count, "mesh.cells=[%d,%d]", cells, cells);
    return euler_run_file(device, "euler-vortex.toml", overrides, EG_COUNT(overrides)).nodal_l2;
}

static void test_euler__vortex_converges(void **state)
{
    static const char *const methods[] = {"dg", "ndg", "cpr", "sd"};
    static const double least[] = {4.2, 4.2, 6.1, 5.8}; /* of degrees 3 to 6 */
    const bool all = getenv("EAGRE_TEST_LONG") != NULL;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, all ? "cpu" : "cpu:1", &device));
    for (int degree = 3; degree <= (all ? 6 : 3); degree++)
        for (size_t i = 0; i < EG_COUNT(methods); i++) {
            const bool lags = degree == 4 && strcmp(methods[i], "ndg") == 0;
            const double coarse = vortex_error(device, methods[i], degree, 40);
            const double fine = vortex_error(device, methods[i], degree, 80);
            const double order = log2(coarse / fine);
            print_message("  %-3s P%d: %.3e -> %.3e, order %.2f\n", methods[i], degree, coarse,
                          fine, order);
            if (!(order >= (lags ? 3.8 : least[degree - 3]))) wrong++;
        }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

/* The order between two meshes of a case in cases/. */
static double order_between(eg_device *device, const char *file, const char *const *given,
                            size_t count, const char *coarse, const char *fine)
{
    const char *overrides[8] = {coarse};
    assert_true(count < EG_COUNT(overrides));
    memcpy(&overrides[1], given, count * sizeof *given);
    const double first = euler_run_file(device, file, overrides, count + 1).nodal_l2;
    overrides[0] = fine;
    const double second = euler_run_file(device, file, overrides, count + 1).nodal_l2;
    print_message("  %s %s %s: %.3e -> %.3e, order %.2f\n", file, given[0], given[1], first, second,
                  log2(first / second));
    return log2(first / second);
}

static void test_euler__curved_elements_have_the_order_of_the_degree(void **state)
{
    static const char *const methods[] = {"scheme.method=dg", "scheme.method=ndg"};
    static const char *const degrees[] = {"space.degree=2", "space.degree=3"};
    static const char *const orders[] = {"mesh.order=2", "mesh.order=3"};
    static const char bent[] = "mesh.map=[\"x + 0.3*sin(pi*x/5)*sin(pi*y/5) + 0.3*sin(pi*y/5)\", "
                               "\"y + 0.3*sin(pi*x/5)\"]";
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int i = 0; i < 4; i++) {
        const char *const given[] = {methods[i % 2], degrees[i / 2], orders[i / 2], "time.cfl=0.05",
                                     bent};
        const double least = i / 2 + 2.5;
        if (!(order_between(device, "euler-annulus.toml", given, 3, "mesh.cells=[2,6]",
                            "mesh.cells=[4,12]") >= least))
            wrong++;
        /* Nodal DG of degree 2 has an order of 2.2 also on squares. */
        if (!(order_between(device, "euler-vortex.toml", given, 5, "mesh.cells=[20,20]",
                            "mesh.cells=[40,40]") >= (i == 1 ? 2.0 : least)))
            wrong++;
    }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

static void test_euler__volumes_converge(void **state)
{
    static const struct {
        const char *order, *points;
        double least;
    } variants[] = {{"scheme.order=2", "scheme.face_points=1", 1.9},
                    {"scheme.order=3", "scheme.face_points=1", 2.4},
                    {"scheme.order=3", "scheme.face_points=2", 2.8}};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(variants); i++) {
        double error[2];
        for (int k = 0; k < 2; k++) {
            const char *const overrides[] = {
                variants[i].order,  variants[i].points,
                "scheme.method=fv", "space.degree=3",
                "time.cfl=0.4",     k ? "mesh.cells=[40,40]" : "mesh.cells=[20,20]"};
            error[k] = euler_run_file(device, "euler-vortex.toml", overrides, EG_COUNT(overrides))
                           .nodal_l2;
        }
        const double order = log2(error[0] / error[1]);
        print_message("  fv %s %s: %.3e -> %.3e, order %.2f\n", variants[i].order,
                      variants[i].points, error[0], error[1], order);
        if (!(order >= variants[i].least)) wrong++;
    }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_euler__vortex_converges),
        cmocka_unit_test(test_euler__curved_elements_have_the_order_of_the_degree),
        cmocka_unit_test(test_euler__volumes_converge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
