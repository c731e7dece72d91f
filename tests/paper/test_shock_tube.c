/* Sod's shock tube, cases/euler-shock-tube.toml, by all schemes and limiters: its [exact] is the exact
 * solution of the Riemann problem, the error of density is below 1 %, and nothing over- or undershoots by
 * more than 1 %. Where EAGRE_TEST_LONG is set all of them are tried. */
#include "euler_runs.h"
#include "gas_references.h"
#include "meshes.h"

#include "field/probe.h"

enum { CELLS = 200, SAMPLES = 9, COUNT = CELLS * SAMPLES };
#define END 0.2
/* Fronts are smeared over a dozen cells to either side at most. */
#define NEAR (12.0 / CELLS)

static const gas left = {1, 0, 1}, right = {0.125, 0, 0.1};

/* What is seen of a run's end by `look`, which stands for the `details` of its model. */
static struct {
    const eg_model *model;
    double rho[COUNT];
} seen;

static double place(int i)
{
    return (i + 0.5) / COUNT;
}

static eg_status look(void *state, eg_facts *facts)
{
    static double x[COUNT][2], values[COUNT][4];
    eg_state shown = {0};
    eg_probe *probe = NULL;
    seen.model->show(state, &shown);
    const eg_field *field = shown.fields[0].field;
    for (int i = 0; i < COUNT; i++) {
        x[i][0] = place(i);
        x[i][1] = 0.0031;
    }
    TEST_OK(field->space->ctx, eg_probe_create(field->space, COUNT, &x[0][0], NULL, &probe));
    TEST_OK(field->space->ctx, eg_probe_read(probe, field, &values[0][0]));
    eg_probe_destroy(&probe);
    for (int i = 0; i < COUNT; i++)
        seen.rho[i] = values[i][0];
    return seen.model->details(state, facts);
}

static eg_case *open_tube(eg_context *ctx, const char *const *overrides, size_t count,
                          const eg_model **model)
{
    eg_case *cas = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/cases/euler-shock-tube.toml", EG_TEST_SOURCE_DIR);
    TEST_OK(ctx, eg_model_open_case(ctx, path, overrides, count, model, &cas));
    return cas;
}

static void test_shock_tube__the_cases_solution_is_that_of_the_riemann_problem(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_model *model = NULL;
    eg_case *cas = open_tube(ctx, NULL, 0, &model);
    for (int i = 0; i < 1000; i++) {
        const double x = (i + 0.37) / 1000;
        const double at[EG_VARIABLE_COUNT] = {[EG_VARIABLE_X] = x, [EG_VARIABLE_T] = END};
        const gas q = riemann(left, right, (x - 0.5) / END);
        TEST_NEAR(eg_expression_evaluate(eg_case_expression(cas, "exact.rho"), at), q.rho, 1e-13);
        TEST_NEAR(eg_expression_evaluate(eg_case_expression(cas, "exact.u"), at), q.u, 1e-13);
        TEST_NEAR(eg_expression_evaluate(eg_case_expression(cas, "exact.p"), at), q.p, 1e-13);
    }
    eg_case_close(&cas);
    test_context_free(&ctx);
}

/* By how much the density leaves the range of the exact solution nearby, as a part of the largest jump. */
static double overshoot(void)
{
    double most = 0;
    for (int i = 0; i < COUNT; i++) {
        double low = INFINITY, high = -INFINITY;
        for (int k = -16; k <= 16; k++) {
            const double x = place(i) + k * NEAR / 16;
            const double rho = riemann(left, right, (x - 0.5) / END).rho;
            low = fmin(low, rho);
            high = fmax(high, rho);
        }
        most = fmax(most, fmax(seen.rho[i] - high, low - seen.rho[i]));
    }
    return most / (left.rho - right.rho);
}

static int check_tube(eg_device *device, const char *method, const char *limiter, double cfl)
{
    eg_context *ctx = eg_device_context(device);
    const eg_model *model = NULL;
    char values[4][64];
    const char *overrides[] = {values[0], values[1], values[2], values[3], "guard.steps=1"};
    snprintf(values[0], sizeof values[0], "scheme.method=%s", method);
    snprintf(values[1], sizeof values[1], "limiter.method=%s", limiter);
    snprintf(values[2], sizeof values[2], "time.cfl=%g", cfl);
    snprintf(values[3], sizeof values[3], "limiter.positivity=%s",
             strcmp(limiter, "blend") == 0 ? "true" : "false");
    eg_case *cas = open_tube(ctx, overrides, EG_COUNT(overrides), &model);
    eg_model watched = *model;
    watched.details = look;
    seen.model = model;
    euler_run(device, &watched, &cas);
    double off = 0, all = 0;
    for (int i = 0; i < COUNT; i++) {
        const double rho = riemann(left, right, (place(i) - 0.5) / END).rho;
        off += fabs(seen.rho[i] - rho);
        all += rho;
    }
    const double over = overshoot();
    print_message("  %-3s %-6s: %.2f %% off, leaves its range by %.2f %%\n", method, limiter,
                  100 * off / all, 100 * over);
    return !(off <= 0.01 * all) || !(over <= 0.01);
}

static void test_shock_tube__one_per_cent(void **state)
{
    (void)state;
    static const struct {
        const char *method, *limiter;
        double cfl;
    } rows[] = {{"ndg", "minmod", 0.1}, {"dg", "blend", 0.08},  {"fv", "minmod", 0.54},
                {"cpr", "minmod", 0.1}, {"sd", "minmod", 0.18}, {"dg", "minmod", 0.08},
                {"cpr", "blend", 0.1},  {"ndg", "blend", 0.1},  {"sd", "blend", 0.18}};
    enum { ALWAYS = 3 };
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < (getenv("EAGRE_TEST_LONG") ? EG_COUNT(rows) : ALWAYS); i++)
        wrong += check_tube(device, rows[i].method, rows[i].limiter, rows[i].cfl);
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shock_tube__the_cases_solution_is_that_of_the_riemann_problem),
        cmocka_unit_test(test_shock_tube__one_per_cent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
