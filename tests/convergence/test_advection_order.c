/* Smooth waves carried through a periodic box converge at order N + 1 ± 0.2, on straight and on
 * perturbed meshes of quadrilaterals and hexahedra.
 *
 * Runs are long enough for waves to cross elements of the coarse mesh: before that the error grows from
 * that of the projection, more so on the fine mesh.
 *
 * Degrees 1, 2 and 4, of hexahedra 2 and (straight) 3; all from 1 to 8, of hexahedra to 5 (but
 * 1 on perturbed ones, which the model refuses), where EAGRE_TEST_LONG is set. */
#include "test.h"

#include <math.h>

#include "device/device.h"
#include "model/advection/advection.h"

#define TOLERANCE 0.2

/* Both phases of a wave are taken, so that it does not matter how it falls into the elements. */
static const char case_text[] =
    "model = \"advection\"\n"
    "[mesh]\nshape = \"%s\"\ncells = [%s]\nperiodic = [%s]\nperturb = %g\nseed = 3\n"
    "[space]\ndegree = %d\n"
    "[advection]\nvelocity = [%s]\n"
    "[constants]\nk = %.17g\n"
    "[initial]\na = \"sin(k*%s)\"\nb = \"cos(k*%s)\"\n"
    "[exact]\na = \"sin(k*(%s - 2*t))\"\nb = \"cos(k*(%s - 2*t))\"\n"
    "[time]\nend = %g\ncfl = %g\n";

/* The error of `waves` waves along each axis. */
static double wave_error(eg_device *device, bool solid, double perturb, int degree, int cells,
                         int waves)
{
    eg_context *ctx = eg_device_context(device);
    eg_comm *comm = NULL;
    eg_case *cas = NULL;
    eg_run_result result;
    const eg_key *tables[EG_TABLES_MAX];
    eg_case_options options = {.tables = tables};
    const char *along = solid ? "(x + y + z)" : "(x + y)";
    char text[2048], count[64];
    snprintf(count, sizeof count, solid ? "%d, %d, %d" : "%d, %d", cells, cells, cells);
    snprintf(text, sizeof text, case_text, solid ? "hexahedron" : "quadrilateral", count,
             solid ? "\"x\", \"y\", \"z\"" : "\"x\", \"y\"", perturb, degree,
             solid ? "1, 0.4, 0.6" : "1.3, 0.7", 2 * acos(-1) * waves, along, along, along, along,
             solid ? 0.5 : 0.1, degree > 4 ? 0.05 : 0.3);
    options.table_count = eg_model_tables(&eg_model_advection, tables);
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_case_open_text(ctx, "wave", text, strlen(text), &options, &cas));
    TEST_OK(ctx, eg_model_run(&eg_model_advection, cas, device, comm,
                              &(eg_run_options){.quiet = true}, &result));
    assert_int_equal(result.error_count, 2);
    eg_case_close(&cas);
    eg_comm_destroy(&comm);
    return hypot(result.errors[0].norms.l2, result.errors[1].norms.l2);
}

static void check_order(eg_device *device, bool solid, double perturb, int degree, int coarse,
                        int fine, int waves)
{
    const double most = wave_error(device, solid, perturb, degree, coarse, waves);
    const double least = wave_error(device, solid, perturb, degree, fine, waves);
    const double order = log(most / least) / log((double)fine / coarse);
    print_message("  %-13s %-9s N = %d: %.2e -> %.2e, order %.2f\n",
                  solid ? "hexahedron" : "quadrilateral", perturb > 0 ? "perturbed" : "straight",
                  degree, most, least, order);
    if (!(fabs(order - (degree + 1)) <= TOLERANCE)) fail_msg("order %.2f", order);
}

static void check_shape(bool solid)
{
    const bool all = getenv("EAGRE_TEST_LONG") != NULL;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int perturbed = 0; perturbed < 2; perturbed++)
        for (int degree = 1; degree <= (solid ? 5 : 8); degree++) {
            const bool chosen =
                degree == 2 || (solid ? degree == 3 && !perturbed : degree == 1 || degree == 4);
            if (!all && !chosen) continue;
            if (solid && perturbed && degree == 1) continue; /* is refused */
            const int fine = solid ? (degree == 1 ? 16 : 6) : degree < 3 ? 24 : 12;
            const int coarse = solid && degree > 1 ? 4 : fine / 2;
            check_order(device, solid, perturbed ? 0.15 : 0, degree, coarse, fine,
                        !solid && degree > 4 ? 2 : 1);
        }
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void test_advection__converges_on_quadrilaterals(void **state)
{
    (void)state;
    check_shape(false);
}

static void test_advection__converges_on_hexahedra(void **state)
{
    (void)state;
    check_shape(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_advection__converges_on_quadrilaterals),
        cmocka_unit_test(test_advection__converges_on_hexahedra),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
