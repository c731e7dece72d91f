/* The flow in a square cavity whose lid moves, along its two middle lines: at Reynolds number 100 against
 * the profiles of [ghia1982] (2 % of the lid's speed), on a coarse mesh; where EAGRE_TEST_LONG is set
 * cases/ins-lid.toml, at Reynolds number 1000, against these and against the spectral values of
 * [botella1998] at the same places (0.2 %). */
#include "test.h"

#include "device/device.h"
#include "model/model.h"

#include <math.h>

enum { ROWS = 15, POINTS = 2001 };

/* A place on a middle line, and the velocity there across it, at both Reynolds numbers. */
typedef struct row {
    double at, of_100, of_1000;
} row;

/* u at (1/2, y). */
static const row ghia_u[ROWS] = {
    {0.9766, 0.84123, 0.65928},   {0.9688, 0.78871, 0.57492},   {0.9609, 0.73722, 0.51117},
    {0.9531, 0.68717, 0.46604},   {0.8516, 0.23151, 0.33304},   {0.7344, 0.00332, 0.18719},
    {0.6172, -0.13641, 0.05702},  {0.5000, -0.20581, -0.06080}, {0.4531, -0.21090, -0.10648},
    {0.2813, -0.15662, -0.27805}, {0.1719, -0.10150, -0.38289}, {0.1016, -0.06434, -0.29730},
    {0.0703, -0.04775, -0.22220}, {0.0625, -0.04192, -0.20196}, {0.0547, -0.03717, -0.18109}};
/* v at (x, 1/2). */
static const row ghia_v[ROWS] = {
    {0.9688, -0.05906, -0.21388}, {0.9609, -0.07391, -0.27669}, {0.9531, -0.08864, -0.33714},
    {0.9453, -0.10313, -0.39188}, {0.9063, -0.16914, -0.51550}, {0.8594, -0.22445, -0.42665},
    {0.8047, -0.24533, -0.31966}, {0.5000, 0.05454, 0.02526},   {0.2344, 0.17527, 0.32235},
    {0.2266, 0.17507, 0.33075},   {0.1563, 0.16077, 0.37095},   {0.0938, 0.12317, 0.32627},
    {0.0781, 0.10890, 0.30353},   {0.0703, 0.10091, 0.29012},   {0.0625, 0.09233, 0.27485}};
/* The same of [botella1998], whose lid moves the other way: mirrored in x. */
static const row botella_u[ROWS] = {
    {0.9766, 0, 0.6644227},  {0.9688, 0, 0.5808359},  {0.9609, 0, 0.5169277},
    {0.9531, 0, 0.4723329},  {0.8516, 0, 0.3372212},  {0.7344, 0, 0.1886747},
    {0.6172, 0, 0.0570178},  {0.5000, 0, -0.0620561}, {0.4531, 0, -0.1081999},
    {0.2813, 0, -0.2803696}, {0.1719, 0, -0.3885691}, {0.1016, 0, -0.3004561},
    {0.0703, 0, -0.2228955}, {0.0625, 0, -0.2023300}, {0.0547, 0, -0.1812881}};
static const row botella_v[ROWS] = {
    {0.9688, 0, -0.2279225}, {0.9609, 0, -0.2936869}, {0.9531, 0, -0.3553213},
    {0.9453, 0, -0.4103754}, {0.9063, 0, -0.5264392}, {0.8594, 0, -0.4264545},
    {0.8047, 0, -0.3202137}, {0.5000, 0, 0.0257995},  {0.2344, 0, 0.3253592},
    {0.2266, 0, 0.3339924},  {0.1563, 0, 0.3769189},  {0.0938, 0, 0.3330442},
    {0.0781, 0, 0.3099097},  {0.0703, 0, 0.2962703},  {0.0625, 0, 0.2807056}};

/* --- a run ------------------------------------------------------------------------------------- */

/* What is along a middle line at the end: [POINTS] values at equal distances from 0 to 1. */
static void read_line(eg_context *ctx, const char *directory, const char *name, int step,
                      const char *column, double *values)
{
    char path[PATH_MAX + 64];
    eg_series_data data;
    int found = 0;
    snprintf(path, sizeof path, "%s/out/lines/%s-%08d.csv", directory, name, step);
    TEST_OK(ctx, eg_series_read(ctx, path, &data));
    assert_int_equal(data.rows, POINTS);
    while (found < data.count && strcmp(data.names[found], column) != 0)
        found++;
    assert_true(found < data.count);
    memcpy(values, data.columns[found], POINTS * sizeof *values);
    eg_series_data_free(&data);
}

typedef struct profiles {
    double u[POINTS], v[POINTS];
} profiles;

/* Of the case with these replacements, at its end. */
static void run(const char *const *overrides, size_t count, profiles *out)
{
    char directory[PATH_MAX], where[PATH_MAX + 32];
    const char *all[16] = {where,
                           "output.probe.across.from=[0, 0.5]",
                           "output.probe.across.to=[1, 0.5]",
                           "output.probe.across.points=2001",
                           "output.probe.up.from=[0.5, 0]",
                           "output.probe.up.to=[0.5, 1]",
                           "output.probe.up.points=2001",
                           "output.series.time=1000"};
    enum { OWN = 8 };
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    eg_comm *comm = NULL;
    eg_device *device = NULL;
    eg_run_result result;
    eg_context *ctx = NULL;
    assert_true(OWN + count <= EG_COUNT(all));
    assert_int_equal(eg_context_create(NULL, &ctx), EG_OK);
    test_directory_create(directory);
    snprintf(where, sizeof where, "output.directory=%s/out", directory);
    for (size_t i = 0; i < count; i++)
        all[OWN + i] = overrides[i];
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_model_open_case(ctx, EG_TEST_SOURCE_DIR "/cases/ins-lid.toml", all, OWN + count,
                                    &model, &cas));
    TEST_OK(ctx, eg_model_run(model, cas, device, comm, NULL, &result));
    const int step = (int)eg_facts_find(&result.facts, "loop", "steps");
    read_line(ctx, directory, "up", step, "u", out->u);
    read_line(ctx, directory, "across", step, "v", out->v);
    eg_run_result_free(ctx, &result);
    eg_case_close(&cas);
    eg_comm_destroy(&comm);
    eg_device_close(&device);
    eg_context_destroy(&ctx);
    test_directory_remove(directory);
}

/* --- against tables ------------------------------------------------------------------------------ */

static double difference(const double *line, const row *table, bool fast)
{
    double most = 0;
    for (int i = 0; i < ROWS; i++) {
        const double k = table[i].at * (POINTS - 1), part = k - floor(k);
        const int below = (int)k;
        const double found = line[below] + part * (line[below + 1] - line[below]);
        most = fmax(most, fabs(found - (fast ? table[i].of_1000 : table[i].of_100)));
    }
    return most;
}

static double difference_of_both(const profiles *p, const row *u, const row *v, bool fast,
                                 const char *name)
{
    const double of_u = difference(p->u, u, fast), of_v = difference(p->v, v, fast);
    print_message("  %s: differences of u %.4f, of v %.4f\n", name, of_u, of_v);
    return fmax(of_u, of_v);
}

static void test_lid__profiles_at_100_are_those_of_ghia(void **state)
{
    static const char *const overrides[] = {"ins.viscosity=0.01", "mesh.cells=[5, 5]",
                                            "space.degree=4", "time.dt=0.04", "time.end=12"};
    profiles *p = malloc(sizeof *p);
    (void)state;
    assert_non_null(p);
    run(overrides, EG_COUNT(overrides), p);
    assert_true(difference_of_both(p, ghia_u, ghia_v, false, "Ghia, Re = 100") < 0.02);
    free(p);
}

static void test_lid__profiles_at_1000_are_the_spectral_ones(void **state)
{
    (void)state;
    if (!getenv("EAGRE_TEST_LONG")) skip();
    profiles *p = malloc(sizeof *p);
    assert_non_null(p);
    run(NULL, 0, p);
    assert_true(difference_of_both(p, ghia_u, ghia_v, true, "Ghia, Re = 1000") < 0.02);
    assert_true(difference_of_both(p, botella_u, botella_v, true, "Botella and Peyret") < 0.002);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lid__profiles_at_100_are_those_of_ghia),
        cmocka_unit_test(test_lid__profiles_at_1000_are_the_spectral_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
