/* Quadrature of model `advection`: Gauss and Gauss-Lobatto rules with any number of points give one answer
 * where all are exact, keep mass, and those with too few points are refused. */
#include "kernel/devices.h"

#include "field.h"
#include "model/advection/operator.h"

typedef struct setting {
    const char *name;
    eg_shape shape;
    double perturb;
    int degree_a, degree_b; /* of elements in turn */
    const char *velocity[3];
} setting;

/* The velocity is such that even the fewest points are exact. */
static const setting settings[] = {
    {"straight", EG_SHAPE_QUAD, 0, 3, 3, {"1", "-0.5"}},
    {"turning", EG_SHAPE_QUAD, 0, 1, 4, {"0.5 - y", "x - 0.5"}},
    {"turning", EG_SHAPE_HEX, 0, 1, 2, {"0.5 - y", "x - 0.5", "1"}},
};

typedef struct bench {
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *velocity[3];
} bench;

static bench bench_new(eg_device *device, const setting *s, int cells)
{
    eg_context *ctx = eg_device_context(device);
    bench b = {0};
    TEST_OK(ctx, eg_comm_self(ctx, &b.comm));
    b.mesh =
        box_with(ctx, &(eg_box_options){.shape = s->shape,
                                        .cells = {cells, cells, s->shape == EG_SHAPE_HEX ? 4 : 0},
                                        .perturb = s->perturb,
                                        .seed = 5,
                                        .periodic = {true, true, true}});
    uint8_t *degrees = mixed_degrees(b.mesh, s->degree_a, s->degree_b);
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){.basis = EG_BASIS_MODAL, .degrees = degrees},
                                 &b.space));
    free(degrees);
    for (int d = 0; d < b.mesh->dim; d++)
        b.velocity[d] = expression(ctx, s->velocity[d]);
    return b;
}

static void bench_free(bench *b)
{
    for (int d = 0; d < 3; d++)
        eg_expression_destroy(&b->velocity[d]);
    eg_space_destroy(&b->space);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

static eg_status operator_new(const bench *b, const eg_advection_quadrature *quadrature,
                              eg_advection **out)
{
    return eg_advection_create(
        b->space,
        &(eg_advection_options){.components = 1,
                                .velocity = {b->velocity[0], b->velocity[1], b->velocity[2]},
                                .quadrature = quadrature},
        out);
}

static eg_field *random_field(eg_space *space, uint64_t seed)
{
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, 1, EG_F64, &field));
    const size_t count = eg_field_host_count(field);
    double *values = new_values(count);
    for (size_t i = 0; i < count; i++)
        values[i] = test_random(&seed);
    TEST_OK(space->ctx, eg_field_from_host(field, values));
    free(values);
    return field;
}

/* The field after one step of explicit Euler. */
static double *stepped(const bench *b, const eg_advection_quadrature *quadrature)
{
    const eg_stage stage = {.count = 1, .dt = 0.01, .b = 1, .c = 1};
    eg_context *ctx = b->space->ctx;
    eg_advection *op = NULL;
    eg_field *u = random_field(b->space, 1), *next = random_field(b->space, 2);
    double *values = new_values(eg_field_host_count(u));
    TEST_OK(ctx, operator_new(b, quadrature, &op));
    TEST_OK(ctx, eg_advection_stage(op, &stage, u, u, NULL, next));
    TEST_OK(ctx, eg_field_to_host(next, values));
    eg_advection_destroy(&op);
    eg_field_destroy(&next);
    eg_field_destroy(&u);
    return values;
}

static void test_rules__agree_where_they_are_exact(void **state)
{
    (void)state;
    static const eg_advection_quadrature rules[] = {{false, 0}, {false, 1}, {false, 4},
                                                    {true, 1},  {true, 2},  {true, 4}};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (size_t i = 0; i < EG_COUNT(settings); i++) {
        bench b = bench_new(device, &settings[i], 4);
        double *expected = stepped(&b, NULL);
        size_t count = 0;
        for (int32_t e = 0; e < b.mesh->element_count; e++)
            count += (size_t)eg_space_group_of(b.space, e)->element->np;
        for (size_t k = 0; k < EG_COUNT(rules); k++) {
            if (settings[i].shape == EG_SHAPE_HEX && k % 2 == 0) continue;
            now_at(device, EG_F64, "%s, lobatto %d, extra %d", settings[i].name, rules[k].lobatto,
                   rules[k].extra);
            double *values = stepped(&b, &rules[k]);
            for (size_t j = 0; j < count; j++)
                assert_near(values[j], expected[j], 1e-12, "mode", j);
            free(values);
        }
        free(expected);
        bench_free(&b);
    }
    where[0] = '\0';
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* A thousand steps with the fewest points, and a velocity that none of them integrates exactly. */
static void test_rules__keep_mass_with_the_fewest_points(void **state)
{
    (void)state;
    static const setting s = {"shear", EG_SHAPE_QUAD, 0.2, 1, 3, {"1 + y^4", "0.3"}};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int lobatto = 0; lobatto < 2; lobatto++) {
        const eg_advection_quadrature rule = {lobatto, eg_advection_least_extra(lobatto)};
        bench b = bench_new(device, &s, 6);
        eg_field *u = random_field(b.space, 1), *next = random_field(b.space, 2), *last;
        eg_advection *op = NULL;
        eg_measure *measure = NULL;
        double before, after, dt;
        eg_norms norms;
        TEST_OK(ctx, operator_new(&b, &rule, &op));
        TEST_OK(ctx, eg_measure_create(b.space, 1, NULL, &measure));
        TEST_OK(ctx, eg_measure_integrals(measure, u, &before));
        TEST_OK(ctx, eg_measure_norms(measure, 0, u, &norms));
        TEST_OK(ctx, eg_advection_stable_dt(op, 0, &dt));
        for (int i = 0; i < 1000; i++) {
            const eg_stage stage = {.count = 1, .dt = 0.05 * dt, .b = 1, .c = 1};
            TEST_OK(ctx, eg_advection_stage(op, &stage, u, u, NULL, next));
            last = u;
            u = next;
            next = last;
        }
        TEST_OK(ctx, eg_measure_integrals(measure, u, &after));
        assert_near((after - before) / norms.l1, 0, 1e-13, "mass", (size_t)lobatto);
        eg_measure_destroy(&measure);
        eg_advection_destroy(&op);
        eg_field_destroy(&next);
        eg_field_destroy(&u);
        bench_free(&b);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

static void test_rules__with_too_few_or_too_many_points_are_refused(void **state)
{
    (void)state;
    static const eg_advection_quadrature rules[] = {
        {false, -1}, {true, 0}, {false, EG_ADVECTION_EXTRA_MOST + 1}};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    bench b = bench_new(device, &settings[0], 4);
    for (size_t k = 0; k < EG_COUNT(rules); k++) {
        eg_advection *op = NULL;
        assert_int_equal(operator_new(&b, &rules[k], &op), EG_ERROR_ARGUMENT);
        assert_null(op);
    }
    bench_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_rules__agree_where_they_are_exact),
        KERNEL_TEST(test_rules__keep_mass_with_the_fewest_points),
        KERNEL_TEST(test_rules__with_too_few_or_too_many_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
