/* The explosion of [zimmerman2018], section 4.2, by all schemes: the density along the centre line
 * against a solution with circular symmetry, the schemes against each other, symmetry, and that
 * density and pressure stay positive; and Sod's shock tube against the exact solution. Blending begins with
 * means, the paper's limiter with values, as the paper does: finite volumes that begin with values at the
 * points of `ndg` and `dg` differ by 0.8 % in the end.
 *
 * Where EAGRE_TEST_LONG is set: the paper's meshes and CFL numbers (its Table 4), and a reference on
 * 20,000 cells. Else some schemes of degree 1 on a mesh of half as many cells along each axis. */
#include "euler_runs.h"
#include "gas_references.h"

#include "field/probe.h"

enum { SCHEMES = 5, HIGH_ORDER = 4, SAMPLES = 2, MIRRORED = 200, IMAGES = 8, CELLS_MAX = 200 };

static const char *const methods[SCHEMES] = {"cpr", "ndg", "sd", "dg", "fv"};
/* Table 4, of degrees 1 and 2. */
static const double cfls[2][SCHEMES] = {{0.2, 0.2, 0.3, 0.22, 0.58}, {0.1, 0.1, 0.18, 0.08, 0.54}};

static const gas inside = {1, 0, 1}, outside = {0.125, 0, 0.1};

/* What is seen of a run's end, by `look`, which stands for the `details` of its model. */
static struct {
    const eg_model *model;
    int cells;
    double rho[CELLS_MAX * SAMPLES]; /* along the centre line, of both sides' traces the mean */
    double asymmetry;
} seen;

/* Point i of the centre line. */
static double place(int i)
{
    const double part = i % SAMPLES ? 0.7886751345948129 : 0.2113248654051871;
    return -1 + 2 * (i / SAMPLES + part) / seen.cells;
}

static void read_density(void *state, int count, const double *x, double *rho)
{
    eg_state shown = {0};
    eg_probe *probe = NULL;
    seen.model->show(state, &shown);
    const eg_field *field = shown.fields[0].field;
    eg_context *ctx = field->space->ctx;
    double *values = calloc((size_t)count * 4, sizeof *values);
    assert_non_null(values);
    TEST_OK(ctx, eg_probe_create(field->space, count, x, NULL, &probe));
    TEST_OK(ctx, eg_probe_read(probe, field, values));
    for (int i = 0; i < count; i++)
        rho[i] = values[4 * i];
    eg_probe_destroy(&probe);
    free(values);
}

static eg_status look(void *state, eg_facts *facts)
{
    static double x[2 * CELLS_MAX * SAMPLES][2], rho[2 * CELLS_MAX * SAMPLES];
    static double images[MIRRORED * IMAGES][2], values[MIRRORED * IMAGES];
    const int count = seen.cells * SAMPLES;
    for (int i = 0; i < 2 * count; i++) {
        x[i][0] = place(i / 2);
        x[i][1] = i % 2 ? 1e-9 : -1e-9; /* y = 0 is a face */
    }
    read_density(state, 2 * count, &x[0][0], rho);
    for (int i = 0; i < count; i++)
        seen.rho[i] = 0.5 * (rho[2 * i] + rho[2 * i + 1]);
    for (int i = 0; i < MIRRORED * IMAGES; i++) {
        const double a = fmod(0.6180339887 * (i / IMAGES + 1), 1);
        const double b = fmod(0.7548776662 * (i / IMAGES + 1), 1);
        images[i][0] = (i % 2 ? -1 : 1) * (i & 4 ? b : a);
        images[i][1] = (i & 2 ? -1 : 1) * (i & 4 ? a : b);
    }
    read_density(state, MIRRORED * IMAGES, &images[0][0], values);
    seen.asymmetry = 0;
    for (int i = 0; i < MIRRORED * IMAGES; i++)
        seen.asymmetry = fmax(seen.asymmetry, fabs(values[i] - values[i / IMAGES * IMAGES]));
    return seen.model->details(state, facts);
}

/* ∫ |a - b| over ∫ |b| along the centre line. */
static double differ(int count, const double *a, const double *b)
{
    double sum = 0, all = 0;
    for (int i = 0; i < count; i++) {
        sum += fabs(a[i] - b[i]);
        all += fabs(b[i]);
    }
    return sum / all;
}

/* A run that goes to its end under the eyes of the guard; what it shows is `seen`. */
static void explode(eg_device *device, int method, int degree, int cells, const char *limiter)
{
    eg_context *ctx = eg_device_context(device);
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    const bool blends = strcmp(limiter, "blend") == 0;
    char path[512], values[5][64];
    const char *overrides[] = {values[0],
                               values[1],
                               values[2],
                               values[3],
                               values[4],
                               blends ? "limiter.positivity=true" : "limiter.positivity=false",
                               blends ? "scheme.flux=hllc" : "scheme.flux=rusanov",
                               blends ? "initial.by=means" : "initial.by=values",
                               "guard.steps=1"};
    snprintf(path, sizeof path, "%s/cases/euler-explosion.toml", EG_TEST_SOURCE_DIR);
    snprintf(values[0], sizeof values[0], "scheme.method=%s", methods[method]);
    snprintf(values[1], sizeof values[1], "space.degree=%d", degree);
    snprintf(values[2], sizeof values[2], "mesh.cells=[%d,%d]", cells, cells);
    snprintf(values[3], sizeof values[3], "time.cfl=%g", cfls[degree - 1][method]);
    snprintf(values[4], sizeof values[4], "limiter.method=%s", limiter);
    TEST_OK(ctx, eg_model_open_case(ctx, path, overrides, EG_COUNT(overrides), &model, &cas));
    eg_model watched = *model;
    watched.details = look;
    seen.model = model;
    seen.cells = cells;
    euler_run(device, &watched, &cas);
}

/* All schemes that have it with one limiter: how far each may be from the reference and from the others. */
static void check_schemes(int degree, int cells, int reference_cells, const char *limiter, int from,
                          int to, double bound, double apart)
{
    static double rho[SCHEMES][CELLS_MAX * SAMPLES], expected[CELLS_MAX * SAMPLES];
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    int wrong = 0;
    radial r = radial_explode(reference_cells, inside, outside, 0.4, 0.25);
    TEST_OK(ctx, eg_device_open(ctx, "cpu", &device));
    for (int m = from; m < to; m++) {
        explode(device, m, degree, cells, limiter);
        for (int i = 0; i < cells * SAMPLES; i++)
            expected[i] = radial_density(&r, fabs(place(i)));
        memcpy(rho[m], seen.rho, sizeof seen.rho);
        const double off = differ(cells * SAMPLES, rho[m], expected);
        double most = 0;
        for (int n = from; n < m; n++)
            most = fmax(most, differ(cells * SAMPLES, rho[m], rho[n]));
        print_message(
            "  %-3s P%d %d² %-6s: %.2f %% off, %.2f %% from the others, symmetric to %.1e\n",
            methods[m], degree, cells, limiter, 100 * off, 100 * most, seen.asymmetry);
        if (!(off <= bound) || !(most <= apart) || !(seen.asymmetry <= 1e-10)) wrong++;
    }
    radial_free(&r);
    eg_device_close(&device);
    test_context_free(&ctx);
    assert_int_equal(wrong, 0);
}

static bool is_long(void)
{
    return getenv("EAGRE_TEST_LONG") != NULL;
}

static void test_explosion__the_papers_limiter(void **state)
{
    (void)state;
    if (is_long())
        for (int degree = 1; degree <= 2; degree++)
            check_schemes(degree, 200, 20000, "minmod", 0, HIGH_ORDER, 0.03, 0.006);
    else
        check_schemes(1, 100, 5000, "minmod", 1, 3, 0.06, 0.007);
}

static void test_explosion__blending(void **state)
{
    (void)state;
    if (is_long())
        for (int degree = 1; degree <= 2; degree++)
            check_schemes(degree, 200, 20000, "blend", 0, HIGH_ORDER, 0.015, 0.006);
    else
        check_schemes(1, 100, 5000, "blend", 0, 3, 0.03, 0.012);
}

static void test_explosion__finite_volumes(void **state)
{
    (void)state;
    if (is_long())
        for (int degree = 1; degree <= 2; degree++)
            check_schemes(degree, 200, 20000, "minmod", HIGH_ORDER, SCHEMES, 0.015, 0);
    else
        check_schemes(1, 100, 5000, "minmod", HIGH_ORDER, SCHEMES, 0.02, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_explosion__the_papers_limiter),
        cmocka_unit_test(test_explosion__blending),
        cmocka_unit_test(test_explosion__finite_volumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
