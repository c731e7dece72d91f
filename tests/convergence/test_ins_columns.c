/* What model `ins` measures by name, against closed forms: forces on boundaries converge to those
 * of the fields that they are taken of, and of a flow; energy, enstrophy and dissipation of
 * vortices that decay. */
#include "test.h"

#include "device/device.h"
#include "model/model.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

/* Runs a case into a directory of its own and gives back series.csv. */
static eg_series_data run(const char *text, const char *const *overrides, size_t count)
{
    char directory[PATH_MAX], path[PATH_MAX + 32], where[PATH_MAX + 32];
    const char *all[8] = {where};
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    eg_comm *comm = NULL;
    eg_device *device = NULL;
    eg_run_result result;
    eg_series_data data;
    eg_context *ctx = NULL;
    assert_true(count < EG_COUNT(all));
    assert_int_equal(eg_context_create(NULL, &ctx), EG_OK);
    test_directory_create(directory);
    snprintf(where, sizeof where, "output.directory=%s/out", directory);
    snprintf(path, sizeof path, "%s/out/series.csv", directory);
    for (size_t i = 0; i < count; i++)
        all[1 + i] = overrides[i];
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_model_open_text(ctx, EG_TEST_SOURCE_DIR "/cases/text.toml", text, strlen(text),
                                    all, count + 1, &model, &cas));
    TEST_OK(ctx, eg_model_run(model, cas, device, comm, NULL, &result));
    TEST_OK(ctx, eg_series_read(ctx, path, &data));
    /* The summary tells the same. */
    assert_int_equal(result.outcome.column_count, data.count - 3);
    for (int i = 3; i < data.count; i++)
        assert_true(result.outcome.columns[i - 3].last == data.columns[i][data.rows - 1]);
    eg_run_result_free(ctx, &result);
    eg_case_close(&cas);
    eg_comm_destroy(&comm);
    eg_device_close(&device);
    test_directory_remove(directory);
    return data; /* which keeps the context */
}

static void forget(eg_series_data *data)
{
    eg_context *ctx = data->ctx;
    eg_series_data_free(data);
    eg_context_destroy(&ctx);
}

static double value(const eg_series_data *data, const char *name, size_t row)
{
    for (int i = 0; i < data->count; i++)
        if (strcmp(data->names[i], name) == 0) return data->columns[i][row];
    fail_msg("there is no column %s", name);
    return NAN;
}

/* --- forces ------------------------------------------------------------------------------------ */

enum { DRAG, LIFT, DRAG_PRESSURE, MOMENT, FORCES };
static const char *const force_names[FORCES] = {"body.drag", "body.lift", "body.drag_pressure",
                                                "body.moment"};

/* A flow at a point: u, v, p and the slopes of the velocity. */
typedef struct flow {
    double p, u_x, u_y, v_x, v_y;
} flow;

/* A straight side from a to b with the normal n, out of the flow. */
typedef struct side {
    double a[2], b[2], n[2];
} side;

/* Adds the forces on a side: -σ·n by Gauss' rule of three points on a thousand pieces. */
static void add_forces(flow (*at)(double x, double y), const side *s, double nu, const double *e,
                       const double *about, double *out)
{
    static const double r[] = {0.5 - 0.3872983346207417, 0.5, 0.5 + 0.3872983346207417};
    static const double w[] = {5. / 18, 8. / 18, 5. / 18};
    enum { PIECES = 1000 };
    const double length = hypot(s->b[0] - s->a[0], s->b[1] - s->a[1]);
    for (int i = 0; i < PIECES; i++)
        for (int q = 0; q < 3; q++) {
            const double part = (i + r[q]) / PIECES, size = length * w[q] / PIECES;
            const double x = s->a[0] + part * (s->b[0] - s->a[0]);
            const double y = s->a[1] + part * (s->b[1] - s->a[1]);
            const flow f = at(x, y);
            const double sxx = -f.p + 2 * nu * f.u_x, syy = -f.p + 2 * nu * f.v_y;
            const double sxy = nu * (f.u_y + f.v_x);
            const double fx = -(sxx * s->n[0] + sxy * s->n[1]);
            const double fy = -(sxy * s->n[0] + syy * s->n[1]);
            out[DRAG] += size * (fx * e[0] + fy * e[1]);
            out[LIFT] += size * (fy * e[0] - fx * e[1]);
            out[DRAG_PRESSURE] += size * f.p * (s->n[0] * e[0] + s->n[1] * e[1]);
            out[MOMENT] += size * ((x - about[0]) * fy - (y - about[1]) * fx);
        }
}

/* Fields that are no flow at all: every term counts. */
static flow any_flow(double x, double y)
{
    return (flow){.p = exp(x - y),
                  .u_x = 2 * cos(2 * x + 3 * y),
                  .u_y = 3 * cos(2 * x + 3 * y),
                  .v_x = -sin(x - 2 * y),
                  .v_y = 2 * sin(x - 2 * y)};
}

static const char any_text[] = "model = \"ins\"\n"
                               "[mesh]\nshape = \"triangle\"\nperturb = 0.2\n"
                               "low = [0.2, -0.3]\nhigh = [1.1, 0.5]\ncells = [4, 4]\n"
                               "[space]\ndegree = 2\n"
                               "[ins]\nviscosity = 0.3\n"
                               "[time]\ndt = 1e-4\nend = 1e-4\n"
                               "[initial]\nu = \"sin(2*x + 3*y)\"\nv = \"cos(x - 2*y)\"\n"
                               "p = \"exp(x - y)\"\n"
                               "[boundary.left]\ntype = \"outflow\"\n"
                               "[boundary.right]\ntype = \"wall\"\n"
                               "[boundary.bottom]\ntype = \"wall\"\n"
                               "[boundary.top]\ntype = \"wall\"\n"
                               "[output.series]\nsteps = 1\n"
                               "[output.force.body]\nover = [\"right\", \"top\"]\n"
                               "direction = [6, 8]\nabout = [0.1, -0.2]\n"
                               "speed = 2\nlength = 0.5\n";

static void test_ins_columns__forces_converge_to_those_of_the_fields(void **state)
{
    static const side sides[] = {{{1.1, -0.3}, {1.1, 0.5}, {1, 0}},
                                 {{0.2, 0.5}, {1.1, 0.5}, {0, 1}}};
    static const double e[2] = {0.6, 0.8}, about[2] = {0.1, -0.2};
    double exact[FORCES] = {0};
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < EG_COUNT(sides); i++)
        add_forces(any_flow, &sides[i], 0.3, e, about, exact);
    for (int degree = 2; degree <= 4; degree++) {
        char of_degree[32];
        double error[2][FORCES];
        snprintf(of_degree, sizeof of_degree, "space.degree=%d", degree);
        for (int fine = 0; fine < 2; fine++) {
            const char *const overrides[] = {of_degree,
                                             fine ? "mesh.cells=[8, 8]" : "mesh.cells=[4, 4]"};
            eg_series_data data = run(any_text, overrides, EG_COUNT(overrides));
            for (int i = 0; i < FORCES; i++)
                error[fine][i] = fabs(value(&data, force_names[i], 0) - exact[i]);
            /* Coefficients are forces over U² L/2 = 1, and the moment over that and L. */
            for (size_t row = 0; row < data.rows; row++) {
                assert_true(value(&data, "body.cd", row) == value(&data, "body.drag", row));
                assert_true(value(&data, "body.cl", row) == value(&data, "body.lift", row));
                assert_true(value(&data, "body.cd_pressure", row) ==
                            value(&data, "body.drag_pressure", row));
                assert_true(value(&data, "body.cm", row) == 2 * value(&data, "body.moment", row));
            }
            forget(&data);
        }
        for (int i = 0; i < FORCES; i++) {
            const double order = log2(error[0][i] / error[1][i]);
            print_message("  degree %d, %s: %.3e of %.3e, order %.2f\n", degree, force_names[i],
                          error[1][i], exact[i], order);
            if (error[1][i] < 1e-12) continue; /* rounding */
            if (!(order > degree - 0.3 && error[1][i] < 0.02)) wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static double kovasznay_k(void)
{
    return 20 - sqrt(400 + 4 * pi * pi);
}

static flow kovasznay(double x, double y)
{
    const double k = kovasznay_k(), e = exp(k * x);
    return (flow){.p = (1 - e * e) / 2,
                  .u_x = -k * e * cos(2 * pi * y),
                  .u_y = 2 * pi * e * sin(2 * pi * y),
                  .v_x = k * k / (2 * pi) * e * sin(2 * pi * y),
                  .v_y = k * e * cos(2 * pi * y)};
}

static void test_ins_columns__forces_of_a_computed_flow_converge(void **state)
{
    static const side sides[] = {{{-0.5, -0.5}, {-0.5, 0.5}, {-1, 0}},
                                 {{-0.5, -0.5}, {1, -0.5}, {0, -1}}};
    static const char path[] = EG_TEST_SOURCE_DIR "/cases/ins-kovasznay.toml";
    double exact[FORCES] = {0}, error[2][FORCES];
    char *text = NULL;
    size_t length = 0;
    int wrong = 0;
    eg_context *ctx = NULL;
    (void)state;
    for (size_t i = 0; i < EG_COUNT(sides); i++)
        add_forces(kovasznay, &sides[i], 0.025, (double[]){1, 0}, (double[]){0, 0}, exact);
    assert_int_equal(eg_context_create(NULL, &ctx), EG_OK);
    TEST_OK(ctx, eg_file_read(ctx, path, &text, &length));
    for (int fine = 0; fine < 2; fine++) {
        const char *const overrides[] = {fine ? "mesh.cells=[12, 12]" : "mesh.cells=[6, 6]",
                                         "time.end=0.1",
                                         "time.dt=0.002",
                                         "output.series.steps=1000",
                                         "output.force.body.over=[\"left\", \"bottom\"]",
                                         "output.force.body.about=[0.0, 0.0]"};
        eg_series_data data = run(text, overrides, EG_COUNT(overrides));
        for (int i = 0; i < FORCES; i++)
            error[fine][i] = fabs(value(&data, force_names[i], data.rows - 1) - exact[i]);
        forget(&data);
    }
    for (int i = 0; i < FORCES; i++) {
        const double order = log2(error[0][i] / error[1][i]);
        print_message("  %s: %.3e of %.3e, order %.2f\n", force_names[i], error[1][i], exact[i],
                      order);
        if (error[1][i] < 1e-5) continue; /* of the steps in time */
        if (!(order > 2.5 && error[1][i] < 3e-4)) wrong++;
    }
    eg_release(ctx, &text);
    eg_context_destroy(&ctx);
    assert_int_equal(wrong, 0);
}

/* --- of the whole flow ---------------------------------------------------------------------------- */

static const char vortices[] =
    "model = \"ins\"\n"
    "[mesh]\nshape = \"triangle\"\nperiodic = [\"x\", \"y\"]\ncells = [4, 4]\n"
    "[space]\ndegree = 7\n"
    "[ins]\nviscosity = 0.01\nstart = \"exact\"\n"
    "[time]\ndt = 0.005\nend = 0.1\n"
    "[initial]\nu = \"-cos(2*pi*x)*sin(2*pi*y)\"\nv = \"sin(2*pi*x)*cos(2*pi*y)\"\n"
    "[exact]\nu = \"-cos(2*pi*x)*sin(2*pi*y)*exp(-0.08*pi^2*t)\"\n"
    "v = \"sin(2*pi*x)*cos(2*pi*y)*exp(-0.08*pi^2*t)\"\n"
    "p = \"-(cos(4*pi*x) + cos(4*pi*y))/4*exp(-0.16*pi^2*t)\"\n"
    "[output.series]\ntime = 0.05\n"
    "columns = [\"speed\", \"energy\", \"enstrophy\", \"dissipation\", \"divergence\"]\n";

static void expect(const eg_series_data *data, const char *name, size_t row, double exact,
                   double bound)
{
    const double found = value(data, name, row);
    if (!(fabs(found - exact) <= bound * exact))
        fail_msg("%s is %.9g instead of %.9g", name, found, exact);
}

static void test_ins_columns__energy_and_its_like_are_those_of_vortices_that_decay(void **state)
{
    static const char *const order[] = {"speed", "energy", "enstrophy", "dissipation",
                                        "divergence"};
    eg_series_data data = run(vortices, NULL, 0);
    (void)state;
    assert_int_equal(data.rows, 3);
    for (size_t i = 0; i < EG_COUNT(order); i++) /* as the case has them */
        assert_string_equal(data.names[3 + i], order[i]);
    for (size_t row = 0; row < data.rows; row++) {
        const double decay = exp(-0.16 * pi * pi * data.columns[1][row]);
        expect(&data, "energy", row, decay / 4, 1e-4);
        expect(&data, "enstrophy", row, 2 * pi * pi * decay, 1e-4);
        expect(&data, "dissipation", row, 0.04 * pi * pi * decay, 1e-4);
        expect(&data, "speed", row, sqrt(decay), 1e-3);
        assert_true(value(&data, "divergence", row) < 1e-3);
    }
    forget(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ins_columns__forces_converge_to_those_of_the_fields),
        cmocka_unit_test(test_ins_columns__forces_of_a_computed_flow_converge),
        cmocka_unit_test(test_ins_columns__energy_and_its_like_are_those_of_vortices_that_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
