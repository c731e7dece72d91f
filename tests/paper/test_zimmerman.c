/* Tables 2 and 3 of [zimmerman2018]: the error of density of an isentropic vortex in [-5, 5]²,
 * carried for a time of 1 with the CFL numbers of its Table 1, by four schemes of degrees 1 and
 * 2. Each value is met within 1 %.
 *
 * Meshes of 20² and 30² cells, and 40² of degree 1; all of them where EAGRE_TEST_LONG is set. */
#include "euler_runs.h"

#include <math.h>

#define TOLERANCE 0.01

enum { MESHES = 5 };
static const int cells[MESHES] = {20, 30, 40, 50, 60};

typedef struct column {
    const char *method;
    int degree;
    double cfl[2]; /* of the coarsest mesh, and of the others */
    double printed[MESHES];
} column;

static const column columns[] = {
    {"cpr", 1, {0.24, 0.24}, {3.21e-3, 1.46e-3, 8.25e-4, 5.29e-4, 3.67e-4}},
    {"ndg", 1, {0.24, 0.24}, {2.70e-3, 1.10e-3, 6.04e-4, 3.83e-4, 2.65e-4}},
    {"sd", 1, {0.3, 0.3}, {3.07e-3, 1.38e-3, 7.78e-4, 4.96e-4, 3.44e-4}},
    {"dg", 1, {0.24, 0.24}, {1.65e-3, 6.63e-4, 3.59e-4, 2.26e-4, 1.55e-4}},
    {"cpr", 2, {0.14, 0.13}, {4.30e-4, 1.38e-4, 6.51e-5, 3.69e-5, 2.32e-5}},
    {"ndg", 2, {0.14, 0.13}, {5.63e-4, 2.30e-4, 1.26e-4, 7.81e-5, 5.23e-5}},
    {"sd", 2, {0.2, 0.2}, {4.00e-4, 1.36e-4, 6.40e-5, 3.57e-5, 2.21e-5}},
    {"dg", 2, {0.14, 0.13}, {2.24e-4, 7.95e-5, 3.90e-5, 2.24e-5, 1.42e-5}},
};

static double vortex_error(eg_device *device, const column *c, int mesh)
{
    char method[32], degree[32], count[64], cfl[32];
    const char *const overrides[] = {method, degree, count, cfl};
    snprintf(method, sizeof method, "scheme.method=%s", c->method);
    snprintf(degree, sizeof degree, "space.degree=%d", c->degree);
    snprintf(count, sizeof count, "mesh.cells=[%d,%d]", cells[mesh], cells[mesh]);
    snprintf(cfl, sizeof cfl, "time.cfl=%g", c->cfl[mesh > 0]);
    return euler_run_file(device, "euler-vortex.toml", overrides, EG_COUNT(overrides)).nodal_l2;
}

/* The columns of a degree. */
static void check_table(int degree)
{
    const bool all = getenv("EAGRE_TEST_LONG") != NULL;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(columns); i++) {
        const column *c = &columns[i];
        for (int mesh = 0; mesh < (all           ? MESHES
                                   : degree == 1 ? 3
                                                 : 2) &&
                           c->degree == degree;
             mesh++) {
            const double error = vortex_error(device, c, mesh), off = error / c->printed[mesh] - 1;
            print_message("  %-3s P%d %d²: %.3e, printed %.3e, %+.2f %%\n", c->method, degree,
                          cells[mesh], error, c->printed[mesh], 100 * off);
            if (!(fabs(off) <= TOLERANCE)) wrong++;
        }
    }
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

static void test_zimmerman__table_2_of_degree_1(void **state)
{
    (void)state;
    check_table(1);
}

static void test_zimmerman__table_3_of_degree_2(void **state)
{
    (void)state;
    check_table(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zimmerman__table_2_of_degree_1),
        cmocka_unit_test(test_zimmerman__table_3_of_degree_2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
