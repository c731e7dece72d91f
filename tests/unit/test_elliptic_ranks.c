/* The operator of model `elliptic` in parts: run alone, and with mpirun where MPI was built in. */
#include "elliptic.h"
#include "ranks.h"

#include "model/elliptic/precondition.h"

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

/* Of conjugate gradients to 1e-8. */
static int count_iterations(elliptic_problem *p, eg_precondition_kind kind)
{
    const eg_precondition_options options = eg_precondition_defaults(kind);
    eg_expression *f = expression(p->ctx, "1 + x*y");
    eg_vectors *vectors = NULL;
    eg_precondition *precondition = NULL;
    eg_pcg *pcg = NULL;
    eg_krylov_result result;
    TEST_OK(p->ctx, eg_vectors_create(p->space, 1, EG_F64, &vectors));
    TEST_OK(p->ctx, eg_precondition_create(p->A, vectors, &options, &precondition));
    TEST_OK(p->ctx,
            eg_pcg_create(vectors, eg_elliptic_linear(p->A), eg_precondition_linear(precondition),
                          &(eg_krylov_options){.relative = 1e-8, .zero_guess = true}, &pcg));
    TEST_OK(p->ctx, eg_elliptic_load(p->A, &(eg_elliptic_data){.source = f}, 0, p->y->data));
    TEST_OK(p->ctx, eg_pcg_solve(pcg, p->y->data, p->u->data, &result));
    assert_int_equal(result.outcome, EG_KRYLOV_CONVERGED);
    eg_pcg_destroy(&pcg);
    eg_precondition_destroy(&precondition);
    eg_vectors_destroy(&vectors);
    eg_expression_destroy(&f);
    return result.iterations;
}

static void compare_iterations(const elliptic_case *c, int degree, eg_precondition_kind kind)
{
    eg_context *ctx = test_context();
    eg_comm *world = ranks_world(ctx), *self = NULL;
    eg_device *device = NULL;
    TEST_OK(ctx, eg_comm_self(ctx, &self));
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    elliptic_problem all = elliptic_on(device, self, elliptic_mesh(ctx, c), c, degree, EG_F64);
    elliptic_problem part = elliptic_on(
        device, world, ranks_part(all.mesh, world, EG_PARTITION_DEFAULT), c, degree, EG_F64);
    const int alone = count_iterations(&all, kind), together = count_iterations(&part, kind);
    if (abs(together - alone) > 1)
        fail_msg("%s: %d iterations alone, %d in parts", c->name, alone, together);
    elliptic_free(&part);
    elliptic_free(&all);
    eg_device_close(&device);
    eg_comm_destroy(&self);
    eg_comm_destroy(&world);
    test_context_free(&ctx);
}

static void test_elliptic__iterations_do_not_depend_on_the_number_of_ranks(void **state)
{
    (void)state;
    compare_iterations(&cases[0], 3, EG_PRECONDITION_PMG_CG_AMG);
    compare_iterations(&cases[3], 2, EG_PRECONDITION_PMG_CG_AMG);
    compare_iterations(&cases[0], 2, EG_PRECONDITION_PMG_AMG);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elliptic__operator_in_parts_is_that_of_the_whole),
        cmocka_unit_test(test_elliptic__iterations_do_not_depend_on_the_number_of_ranks),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
