/* The operator of model `elliptic` in parts: run alone, and with mpirun where MPI was built in. */
#include "elliptic.h"
#include "ranks.h"

static const elliptic_case cases[] = {
    {"straight", EG_SHAPE_TRI, .cells = {5, 4}, .height = 1, .perturb = 0.3, .lambda = 0.7,
     .periodic = true},
    {"k that varies", EG_SHAPE_TRI, .cells = {4, 4}, .height = 0.5, .perturb = 0.3, .k = "1 + x*y"},
    {"bent", EG_SHAPE_TRI, .cells = {4, 4}, .order = 3, .height = 1,
     .types = {EG_ELLIPTIC_NEUMANN}},
    {"bent in part", EG_SHAPE_TRI, .cells = {4, 4}, .order = 2, .height = 1, .in_part = true},
};

/* The same values on every number of ranks. */
static double *values_of(const elliptic_problem *p)
{
    const int np = p->space->groups[0].element->np;
    double *v = malloc((p->count + 1) * sizeof *v);
    assert_non_null(v);
    for (int32_t e = 0; e < p->mesh->element_count; e++) {
        uint64_t seed = (uint64_t)p->mesh->global[e] * 4099;
        for (int i = 0; i < np; i++)
            v[e * np + i] = test_random(&seed);
    }
    return v;
}

static void compare_with_whole(const elliptic_case *c, int degree)
{
    eg_context *ctx = test_context();
    eg_comm *world = ranks_world(ctx), *self = NULL;
    eg_device *device = NULL;
    TEST_OK(ctx, eg_comm_self(ctx, &self));
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    elliptic_problem all = elliptic_on(device, self, elliptic_mesh(ctx, c), c, degree, EG_F64);
    elliptic_problem part = elliptic_on(
        device, world, ranks_part(all.mesh, world, EG_PARTITION_DEFAULT), c, degree, EG_F64);
    const int np = all.space->groups[0].element->np;
    double *in = values_of(&all), *out = values_of(&all), most = 0;
    double *mine = values_of(&part), *got = values_of(&part);
    elliptic_multiply(&all, in, out);
    elliptic_multiply(&part, mine, got);
    for (size_t i = 0; i < all.count; i++)
        most = fmax(most, fabs(out[i]));
    for (int32_t e = 0; e < part.mesh->element_count; e++) {
        int32_t whole = 0;
        while (all.mesh->global[whole] != part.mesh->global[e])
            whole++;
        for (int i = 0; i < np; i++)
            TEST_NEAR(got[e * np + i], out[whole * np + i], 1e-12 * most);
    }
    free(got);
    free(mine);
    free(out);
    free(in);
    elliptic_free(&part);
    elliptic_free(&all);
    eg_device_close(&device);
    eg_comm_destroy(&self);
    eg_comm_destroy(&world);
    test_context_free(&ctx);
}

static void test_elliptic__operator_in_parts_is_that_of_the_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < EG_COUNT(cases); i++)
        compare_with_whole(&cases[i], 2 + (int)i);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elliptic__operator_in_parts_is_that_of_the_whole),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
