/* Whole steps of model `euler` on a CPU (wave.c) come to what single stages do, to the bit: on periodic and
 * bounded meshes, in rows of any length, in pieces of any size and with any number of threads. */
#include "kernel/devices.h"

#include "kernel/euler_gas.h"

enum { STEPS = 3, THREADS = 3 };

typedef struct setting {
    const char *name;
    int cells[2], degree, flux;
    eg_time_scheme scheme;
    eg_euler_method method;
    bool periodic;
} setting;

static const setting settings[] = {
    {"rows that fill tiles", {32, 40}, 1, RUSANOV, EG_TIME_SSP_RK3, EG_EULER_NDG, true},
    {"rows that do not", {21, 33}, 2, HLLC, EG_TIME_SSP_RK3, EG_EULER_CPR, true},
    {"bounded", {19, 30}, 3, ROE, EG_TIME_SSP_RK3, EG_EULER_NDG, false},
    {"Gauss points", {24, 31}, 2, RUSANOV, EG_TIME_SSP_RK3, EG_EULER_DG, true},
    {"two stages", {40, 17}, 2, RUSANOV, EG_TIME_SSP_RK2, EG_EULER_NDG, true},
    {"bounded, few rows", {50, 3}, 1, RUSANOV, EG_TIME_SSP_RK3, EG_EULER_DG, false},
    {"long rows", {300, 2}, 1, HLLC, EG_TIME_SSP_RK3, EG_EULER_NDG, true},
};
static const int64_t chunks[] = {1, 5, 17, 1000};

typedef struct bench {
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *given[4];
    eg_euler *op;
} bench;

/* chunk = 0: for single stages. */
static bench bench_new(eg_device *device, const setting *s, int64_t chunk)
{
    eg_context *ctx = eg_device_context(device);
    const eg_euler_scheme scheme = {.method = s->method, .chain = s->method == EG_EULER_CPR};
    const eg_expression *given[EG_COUNT(types) * 4];
    eg_stage stages[EG_STAGES_MAX];
    bench b = {0};
    TEST_OK(ctx, eg_comm_self(ctx, &b.comm));
    TEST_OK(ctx, eg_mesh_create_box(ctx,
                                    &(eg_box_options){.shape = EG_SHAPE_QUAD,
                                                      .cells = {s->cells[0], s->cells[1]},
                                                      .periodic = {s->periodic, s->periodic}},
                                    &b.mesh));
    for (int i = 0; i < 4; i++)
        b.given[i] = expression(ctx, given_texts[i]);
    for (size_t i = 0; i < EG_COUNT(given); i++)
        given[i] = types[i / 4] == EG_EULER_WALL ? NULL : b.given[i % 4];
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){.basis = eg_euler_basis(scheme),
                                                     .degree = s->degree,
                                                     .lanes = eg_euler_lanes(device, s->degree)},
                                 &b.space));
    TEST_OK(ctx,
            eg_euler_create(b.space,
                            &(eg_euler_options){.scheme = scheme,
                                                .flux = s->flux,
                                                .gamma = GAMMA,
                                                .stages = eg_time_stages(s->scheme, 0, 1, stages),
                                                .rates = true,
                                                .chunk = chunk,
                                                .types = types,
                                                .given = given},
                            &b.op));
    return b;
}

static void bench_free(bench *b)
{
    eg_euler_destroy(&b->op);
    for (int i = 0; i < 4; i++)
        eg_expression_destroy(&b->given[i]);
    eg_space_destroy(&b->space);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

/* A step by single stages. */
static void step_by_stages(const bench *b, const eg_stage *stages, int count, eg_field *u[3])
{
    for (int i = 0; i < count; i++) {
        /* current, next and the solution before the step */
        eg_field *const from = i == 0 ? u[0] : i % 2 ? u[1] : u[2];
        eg_field *const to = i % 2 ? u[2] : u[1];
        TEST_OK(b->space->ctx, eg_euler_stage(b->op, &stages[i], u[0], from, NULL, to));
    }
    eg_field **last = count % 2 ? &u[1] : &u[2], *solution = *last;
    *last = u[0];
    u[0] = solution;
}

/* Some steps, each of the length of the largest stable one: the values they lead to. */
static double *run(eg_device *device, const setting *s, int64_t chunk)
{
    eg_context *ctx = eg_device_context(device);
    bench b = bench_new(device, s, chunk);
    eg_field *u[3] = {NULL};
    eg_stage stages[EG_STAGES_MAX];
    double *values, time = TIME;
    assert_int_equal(eg_euler_has_steps(b.op), chunk > 0);
    u[0] = random_states(b.space, 3, &values);
    for (int i = 1; i < 3; i++)
        TEST_OK(ctx, eg_field_create(b.space, 4, EG_F64, &u[i]));
    TEST_OK(ctx, eg_euler_begin(b.op, u[0]));
    for (int i = 0; i < STEPS; i++) {
        double stable = 0;
        TEST_OK(ctx, eg_euler_stable_dt(b.op, u[0], &stable));
        assert_true(stable > 0 && isfinite(stable));
        const int count = eg_time_stages(s->scheme, time, 0.02 * stable, stages);
        if (chunk > 0)
            TEST_OK(ctx, eg_euler_step(b.op, stages, count, u[0]));
        else
            step_by_stages(&b, stages, count, u);
        time += 0.02 * stable;
    }
    TEST_OK(ctx, eg_field_to_host(u[0], values));
    for (int i = 0; i < 3; i++)
        eg_field_destroy(&u[i]);
    bench_free(&b);
    return values;
}

static void test_euler_wave__steps_are_stages_to_the_bit(void **state)
{
    eg_context *ctx = test_context();
    (void)state;
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        const setting *s = &settings[i];
        const int side = s->degree + 1;
        const size_t count = (size_t)s->cells[0] * (size_t)s->cells[1] * (size_t)(4 * side * side);
        double *want = NULL;
        for (int threads = 1; threads <= THREADS; threads++) {
            eg_device *device = NULL;
            char name[16];
            snprintf(name, sizeof name, "cpu:%d", threads);
            TEST_OK(ctx, eg_device_open(ctx, name, &device));
            if (!want) want = run(device, s, 0);
            for (size_t k = 0; k < EG_COUNT(chunks); k++) {
                now_at(device, EG_F64, "%s, %d tiles at a time", s->name, (int)chunks[k]);
                double *found = run(device, s, chunks[k]);
                assert_memory_equal(found, want, count * sizeof *found);
                free(found);
            }
            eg_device_close(&device);
        }
        free(want);
    }
    where[0] = '\0';
    test_context_free(&ctx);
}

/* Whoever makes whole steps makes no stages, and only steps of the scheme it was made for. */
static void test_euler_wave__other_steps_are_refused(void **state)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_stage stages[EG_STAGES_MAX];
    double *values;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:2", &device));
    bench b = bench_new(device, &settings[0], 5);
    eg_field *u = random_states(b.space, 1, &values);
    const int count = eg_time_stages(EG_TIME_SSP_RK2, 0, 1e-3, stages);
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "step of another kind",
               eg_euler_step(b.op, stages, count, u));
    (void)eg_time_stages(EG_TIME_SSP_RK3, 0, 1e-3, stages);
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "another kind",
               eg_euler_stage(b.op, &stages[0], u, u, NULL, u));
    free(values);
    eg_field_destroy(&u);
    bench_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_euler_wave__steps_are_stages_to_the_bit),
        cmocka_unit_test(test_euler_wave__other_steps_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
