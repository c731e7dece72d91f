/* Projection, norms and integrals do not depend on how many ranks share a mesh. Every rank also
 * does the whole of it alone and compares. Run it on one rank or several (mpirun). */
#include "kernel/boxes.h"
#include "ranks.h"

enum { COMPONENTS = 2 };

typedef struct result {
    eg_norms norms[COMPONENTS];
    double integrals[COMPONENTS];
    double volume;
} result;

static result measure(eg_device *device, eg_comm *comm, const eg_mesh *mesh, int degree)
{
    static const char *const texts[] = {"sin(7 * x - 2 * y + z)", "exp(x) * (y + t) * (1 - z)"};
    eg_context *ctx = eg_device_context(device);
    eg_space *space = NULL;
    eg_field *field = NULL;
    eg_measure *of_error = NULL;
    result r;
    TEST_OK(ctx,
            eg_space_create(device, comm, mesh, &(eg_space_options){.degree = degree}, &space));
    eg_function *function = function_new(space, COMPONENTS, texts);
    TEST_OK(ctx, eg_field_create(space, COMPONENTS, EG_F64, &field));
    TEST_OK(ctx, eg_function_project(function, 1, field));
    TEST_OK(ctx, eg_measure_create(space, COMPONENTS, function, &of_error));
    TEST_OK(ctx, eg_measure_norms(of_error, 1, field, r.norms));
    TEST_OK(ctx, eg_measure_integrals(of_error, field, r.integrals));
    r.volume = space->volume;
    eg_measure_destroy(&of_error);
    eg_field_destroy(&field);
    eg_function_destroy(&function);
    eg_space_destroy(&space);
    return r;
}

static void assert_same(double value, double alone, const char *what, size_t c)
{
    assert_near(value, alone, 1e-13 * fabs(alone), what, c);
}

static void check(eg_shape shape, int order, int degree)
{
    eg_box_options o = box_options(shape, 4, 3, 2, order);
    divided d = divided_new(&o);
    result together = measure(d.device, d.world, d.mine, degree);
    result alone = measure(d.device, d.self, d.whole, degree);
    assert_same(together.volume, alone.volume, "volume", 0);
    for (size_t c = 0; c < COMPONENTS; c++) {
        assert_same(together.norms[c].l1, alone.norms[c].l1, "l1", c);
        assert_same(together.norms[c].l2, alone.norms[c].l2, "l2", c);
        assert_same(together.norms[c].linf, alone.norms[c].linf, "linf", c);
        assert_same(together.norms[c].nodal_l2, alone.norms[c].nodal_l2, "nodal_l2", c);
        assert_same(together.integrals[c], alone.integrals[c], "integral", c);
    }
    divided_free(&d);
}

static void test_norms__are_the_same_on_any_number_of_ranks(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        check(all_shapes[s], 0, 3);
        check(all_shapes[s], 3, 4);
    }
}

/* --- what fails ------------------------------------------------------------------------------- */

/* What a rank makes and uses, and where it is short of memory: in allocation `fail_at` of step
 * `step`. */
typedef struct attempt {
    eg_device *device;
    eg_comm *comm;
    const eg_mesh *mesh;
    const eg_expression *expression;
    int step;
    long fail_at; /* 0: nowhere */
} attempt;

enum { STEPS = 11 };

/* Goes through all functions that ranks call together. */
static eg_status use_all(const attempt *a)
{
    eg_space *space = NULL;
    eg_field *field = NULL;
    eg_halo *halo = NULL;
    eg_function *function = NULL;
    eg_measure *measure = NULL, *other = NULL;
    eg_norms norms;
    double integral, values[64 * 8] = {0};
    int step = 0;
    eg_status status = EG_OK;
#define STEP(call)                                                                                 \
    test_allocator_arm(step++ == a->step ? a->fail_at : 0, false);                                 \
    EG_TRY(call)
    STEP(eg_space_create(a->device, a->comm, a->mesh, &(eg_space_options){.degree = 1}, &space));
    STEP(eg_field_create(space, 1, EG_F32, &field));
    assert_true(eg_field_host_count(field) <= EG_COUNT(values));
    STEP(eg_field_from_host(field, values));
    STEP(eg_halo_create(space, 1, EG_F32, EG_HALO_TRACES, &halo));
    STEP(eg_function_create(space, &a->expression, 1, &function));
    STEP(eg_function_interpolate(function, 0, field));
    STEP(eg_function_project(function, 0, field));
    STEP(eg_measure_create(space, 1, function, &measure));
    STEP(eg_measure_norms(measure, 0, field, &norms));
    STEP(eg_measure_create(space, 1, NULL, &other));
    STEP(eg_measure_integrals(other, field, &integral));
    assert_int_equal(step, STEPS);
done:
    test_allocator_arm(0, false);
    eg_measure_destroy(&other);
    eg_measure_destroy(&measure);
    eg_function_destroy(&function);
    eg_halo_destroy(&halo);
    eg_field_destroy(&field);
    eg_space_destroy(&space);
    return status;
}

/* The last rank runs out of memory, in each of the functions, at its first allocation and at later
 * ones: none of them leaves the others waiting, or in the belief that it has worked. */
static void test_field__what_fails_on_one_rank_fails_on_all(void **state)
{
    (void)state;
    eg_box_options o = box_options(EG_SHAPE_TRI, 4, 3, 1, 2);
    divided d = divided_new(&o);
    eg_expression *e = expression(d.ctx, "x + y * t");
    attempt a = {.device = d.device, .comm = d.world, .mesh = d.mine, .expression = e};
    const bool last = ranks_is_last(d.world);
    TEST_OK(d.ctx, use_all(&a)); /* the kernels are in the cache from now on */
    for (a.step = 0; a.step < STEPS; a.step++)
        for (long n = 1; n <= 9; n += 4) {
            const long live = test_memory.live;
            a.fail_at = last ? n : 0;
            const eg_status status = use_all(&a);
            assert_int_equal(test_memory.live, live);
            assert_failure_of_last(d.ctx, d.world, status, n > 1);
        }
    eg_expression_destroy(&e);
    divided_free(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_norms__are_the_same_on_any_number_of_ranks),
        cmocka_unit_test(test_field__what_fails_on_one_rank_fails_on_all),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
