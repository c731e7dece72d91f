/* Means over time and covariances on every device, against their definitions summed on the host,
 * and with memory that fails. */
#include "kernel/boxes.h"

#include "field/average.h"

enum { COUNT = 3, VARIED = 2, ALL = COUNT + 3, STATES = 6 };

/* Components of two fields, out of order. */
static const int of_field[COUNT] = {0, 1, 0}, of_component[COUNT] = {1, 0, 0};
static const double weights[STATES] = {0.25, 1, 0.5, 0.125, 3, 0.75};

typedef struct states {
    eg_field *field[2];
    size_t count[2]; /* values of each */
    double *values[STATES][2];
} states;

static states states_new(eg_space *space)
{
    states s = {0};
    uint64_t seed = 17;
    for (int f = 0; f < 2; f++) {
        TEST_OK(space->ctx, eg_field_create(space, f == 0 ? 2 : 1, EG_F64, &s.field[f]));
        s.count[f] = eg_field_host_count(s.field[f]);
        for (int k = 0; k < STATES; k++) {
            s.values[k][f] = malloc(s.count[f] * sizeof(double));
            assert_non_null(s.values[k][f]);
            for (size_t i = 0; i < s.count[f]; i++)
                s.values[k][f][i] = 5 * f + test_random(&seed);
        }
    }
    return s;
}

static void states_free(states *s)
{
    for (int f = 0; f < 2; f++) {
        eg_field_destroy(&s->field[f]);
        for (int k = 0; k < STATES; k++)
            free(s->values[k][f]);
    }
}

/* Value i of an element's np at state k of the component that is averaged as number c. */
static double at(const states *s, int k, int c, int32_t element, int np, int i)
{
    const int f = of_field[c], components = f == 0 ? 2 : 1;
    return s->values[k][f][(size_t)((element * components + of_component[c]) * np + i)];
}

/* Means and covariances of the first `known` states at a node: out [ALL]. */
static void define(const states *s, int known, int32_t element, int np, int i, double *out)
{
    double whole = 0;
    for (int c = 0; c < ALL; c++)
        out[c] = 0;
    for (int k = 0; k < known; k++)
        whole += weights[k];
    for (int k = 0; k < known; k++)
        for (int c = 0; c < COUNT; c++)
            out[c] += weights[k] / whole * at(s, k, c, element, np, i);
    for (int k = 0; k < known; k++)
        for (int a = 0, pair = COUNT; a < VARIED; a++)
            for (int b = a; b < VARIED; b++, pair++)
                out[pair] += weights[k] / whole * (at(s, k, a, element, np, i) - out[a]) *
                             (at(s, k, b, element, np, i) - out[b]);
}

static void expect(const states *s, const eg_field *found, int known)
{
    const size_t count = eg_field_host_count(found);
    const int np = found->space->groups[0].element->np;
    double *values = malloc(count * sizeof *values);
    assert_non_null(values);
    TEST_OK(found->space->ctx, eg_field_to_host(found, values));
    for (int32_t e = 0; e < found->space->mesh->element_count; e++)
        for (int i = 0; i < np; i++) {
            double out[ALL];
            define(s, known, e, np, i, out);
            for (int c = 0; c < ALL; c++) {
                const double value = values[(size_t)((e * ALL + c) * np + i)];
                if (!(fabs(value - out[c]) <= 1e-13))
                    fail_msg("component %d of element %d after %d states: %.17g, not %.17g", c, e,
                             known, value, out[c]);
            }
        }
    free(values);
}

static void check(eg_device *device, eg_type real)
{
    static const int cells[][2] = {{1, 1}, {7, 1}, {11, 3}};
    if (real == EG_F32) return;
    for (size_t m = 0; m < EG_COUNT(cells); m++) {
        const eg_box_options options =
            box_options(m == 1 ? EG_SHAPE_TRI : EG_SHAPE_QUAD, cells[m][0], cells[m][1], 1, 0);
        box b = box_new(device, &options, EG_BASIS_LOBATTO, 3);
        states s = states_new(b.space);
        eg_average *average = NULL;
        eg_average_source sources[COUNT];
        double whole = 0;
        now_at(device, real, "%d x %d elements", cells[m][0], cells[m][1]);
        TEST_OK(b.space->ctx, eg_average_create(b.space, COUNT, VARIED, &average));
        assert_int_equal(eg_average_components(COUNT, VARIED), ALL);
        /* What was kept before the first state does not matter. */
        eg_field *kept = eg_average_kept(average);
        TEST_OK(b.space->ctx,
                eg_buffer_fill(kept->data, 0, eg_buffer_count(kept->data), &(double){NAN}));
        for (int c = 0; c < COUNT; c++)
            sources[c] = (eg_average_source){s.field[of_field[c]], of_component[c]};
        for (int k = 0; k < STATES; k++) {
            for (int f = 0; f < 2; f++)
                TEST_OK(b.space->ctx, eg_field_from_host(s.field[f], s.values[k][f]));
            whole += weights[k];
            TEST_OK(b.space->ctx, eg_average_show(average, sources, weights[k] / whole));
            expect(&s, eg_average_shown(average), k + 1);
            if (k > 0) expect(&s, eg_average_kept(average), k); /* as it was */
            TEST_OK(b.space->ctx, eg_average_add(average, sources, weights[k] / whole));
            expect(&s, eg_average_kept(average), k + 1);
        }
        eg_average_destroy(&average);
        states_free(&s);
        box_free(&b);
    }
}

static void test_average__means_and_covariances_are_those_of_their_definition(void **state)
{
    (void)state;
    on_every_device(check);
}

static eg_status use(eg_space *space, void *user)
{
    eg_average *average = NULL;
    eg_field *field = NULL;
    eg_status status = EG_OK;
    (void)user;
    EG_TRY(eg_field_create(space, 2, EG_F64, &field));
    EG_TRY(eg_buffer_fill(field->data, 0, eg_buffer_count(field->data), &(double){1}));
    EG_TRY(eg_average_create(space, 2, 2, &average));
    const eg_average_source sources[] = {{field, 0}, {field, 1}};
    EG_TRY(eg_average_add(average, sources, 1));
    EG_TRY(eg_average_show(average, sources, 0.5));
done:
    eg_average_destroy(&average);
    eg_field_destroy(&field);
    return status;
}

static void test_average__memory_that_fails_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    const eg_box_options options = box_options(EG_SHAPE_TRI, 2, 2, 0, 0);
    box_allocation_sweep(&options, use, NULL);
}

static eg_status use_wrongly(eg_space *space, int count, int varied)
{
    eg_average *average = NULL;
    const eg_status status = eg_average_create(space, count, varied, &average);
    assert_null(average);
    return status;
}

static void test_average__what_cannot_be_averaged_is_refused(void **state)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_average *average = NULL;
    eg_field *single = NULL;
    (void)state;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    const eg_box_options options = box_options(EG_SHAPE_TRI, 1, 1, 0, 0);
    box b = box_new(device, &options, EG_BASIS_LOBATTO, 1);
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "components", use_wrongly(b.space, 0, 0));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "components", use_wrongly(b.space, 2, 3));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "components", use_wrongly(b.space, EG_AVERAGE_MOST + 1, 0));
    TEST_OK(ctx, eg_average_create(b.space, 1, 0, &average));
    TEST_OK(ctx, eg_field_create(b.space, 1, EG_F32, &single));
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "double precision",
               eg_average_add(average, &(eg_average_source){single, 0}, 1));
    eg_field_destroy(&single);
    eg_average_destroy(&average);
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_average__means_and_covariances_are_those_of_their_definition),
        KERNEL_TEST(test_average__memory_that_fails_is_an_error_and_leaks_nothing),
        KERNEL_TEST(test_average__what_cannot_be_averaged_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
