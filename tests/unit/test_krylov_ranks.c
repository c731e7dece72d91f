/* Solves with vectors that several ranks share take the same iterations to the same solution as one
 * rank alone. Run it on one rank or several (mpirun). */
#include "field.h"
#include "ranks.h"
#include "solver.h"

typedef struct outcome {
    eg_krylov_result result;
    double sum; /* of the solution, over all ranks */
} outcome;

/* The condition number varies with the elements, by their global number. */
static double diagonal_of(const eg_mesh *mesh, int32_t element, int node)
{
    return 1.0 + (double)(mesh->global[element] * 7 % 40) + 0.1 * node;
}

static outcome solve(divided *d, eg_comm *comm, const eg_mesh *mesh, bool gmres)
{
    eg_space *space = NULL;
    eg_field *diagonal = NULL, *b = NULL, *x = NULL;
    eg_vectors *vectors = NULL;
    outcome o;
    TEST_OK(d->ctx,
            eg_space_create(d->device, comm, mesh, &(eg_space_options){.degree = 3}, &space));
    TEST_OK(d->ctx, eg_vectors_create(space, 1, EG_F64, &vectors));
    TEST_OK(d->ctx, eg_field_create(space, 1, EG_F64, &diagonal));
    TEST_OK(d->ctx, eg_field_create(space, 1, EG_F64, &b));
    TEST_OK(d->ctx, eg_field_create(space, 1, EG_F64, &x));
    const size_t n = eg_field_host_count(b);
    double *host = host_values(n), *values = host;
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int i = 0; i < eg_space_group_of(space, e)->element->np; i++)
            *values++ = diagonal_of(mesh, e, i);
    TEST_OK(d->ctx, eg_field_from_host(diagonal, host));
    TEST_OK(d->ctx, eg_vectors_fill(vectors, 1.0, b->data));
    TEST_OK(d->ctx, eg_vectors_fill(vectors, 0.0, x->data));
    diagonal_map map = {vectors, diagonal->data};
    eg_pcg *pcg = NULL;
    eg_gmres *restarted = NULL;
    const eg_krylov_options options = {.relative = 1e-9, .restart = 40};
    TEST_OK(d->ctx, eg_pcg_create(vectors, diagonal_linear(&map), NULL, &options, &pcg));
    TEST_OK(d->ctx, eg_gmres_create(vectors, diagonal_linear(&map), NULL, &options, &restarted));
    if (gmres)
        TEST_OK(d->ctx, eg_gmres_solve(restarted, b->data, x->data, &o.result));
    else
        TEST_OK(d->ctx, eg_pcg_solve(pcg, b->data, x->data, &o.result));
    assert_int_equal(o.result.outcome, EG_KRYLOV_CONVERGED);
    TEST_OK(d->ctx, eg_field_to_host(x, host));
    values = host;
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int i = 0; i < eg_space_group_of(space, e)->element->np; i++)
            assert_true(fabs(*values++ - 1.0 / diagonal_of(mesh, e, i)) < 1e-6);
    TEST_OK(d->ctx, eg_vectors_dots(vectors, 1, &(eg_vector_pair){x->data, b->data}, &o.sum));
    free(host);
    eg_gmres_destroy(&restarted);
    eg_pcg_destroy(&pcg);
    eg_field_destroy(&x);
    eg_field_destroy(&b);
    eg_field_destroy(&diagonal);
    eg_vectors_destroy(&vectors);
    eg_space_destroy(&space);
    return o;
}

static void test_krylov__ranks_together_do_what_one_does_alone(void **state)
{
    (void)state;
    divided d = divided_new(&(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {7, 5}});
    for (int gmres = 0; gmres < 2; gmres++) {
        const outcome all = solve(&d, d.world, d.mine, gmres != 0);
        const outcome alone = solve(&d, d.self, d.whole, gmres != 0);
        assert_int_equal(all.result.iterations, alone.result.iterations);
        assert_true(fabs(all.sum - alone.sum) < 1e-12 * alone.sum);
        assert_true(fabs(all.result.target - alone.result.target) < 1e-12 * alone.result.target);
    }
    divided_free(&d);
}

/* Right-hand sides that change smoothly: guesses are the same on any number of ranks, and so are iterations. */
static int solve_often(divided *d, eg_comm *comm, const eg_mesh *mesh, double *sum)
{
    enum { STEPS = 8 };
    eg_space *space = NULL;
    eg_field *diagonal = NULL, *b = NULL, *x = NULL;
    eg_vectors *vectors = NULL;
    eg_guess *guess = NULL;
    eg_pcg *pcg = NULL;
    int iterations = 0, first = 0;
    TEST_OK(d->ctx,
            eg_space_create(d->device, comm, mesh, &(eg_space_options){.degree = 2}, &space));
    TEST_OK(d->ctx, eg_vectors_create(space, 1, EG_F64, &vectors));
    TEST_OK(d->ctx, eg_field_create(space, 1, EG_F64, &diagonal));
    TEST_OK(d->ctx, eg_field_create(space, 1, EG_F64, &b));
    TEST_OK(d->ctx, eg_field_create(space, 1, EG_F64, &x));
    TEST_OK(d->ctx, eg_vectors_fill(vectors, 0.0, x->data));
    TEST_OK(d->ctx, eg_guess_create(vectors, 3, NULL, NULL, &guess));
    const size_t n = eg_field_host_count(b);
    double *host = host_values(n);
    diagonal_map map = {vectors, diagonal->data};
    const eg_krylov_options options = {.relative = 1e-9, .reference = EG_KRYLOV_TO_RHS};
    TEST_OK(d->ctx, eg_pcg_create(vectors, diagonal_linear(&map), NULL, &options, &pcg));
    for (int step = -1; step < STEPS; step++) { /* before the first: the matrix */
        double *value = host;
        for (int32_t e = 0; e < mesh->element_count; e++)
            for (int i = 0; i < eg_space_group_of(space, e)->element->np; i++)
                *value++ = step < 0 ? diagonal_of(mesh, e, i)
                                    : sin((double)mesh->global[e] + 0.3 * i + 0.1 * step);
        TEST_OK(d->ctx, eg_field_from_host(step < 0 ? diagonal : b, host));
        if (step < 0) continue;
        eg_krylov_result result;
        TEST_OK(d->ctx, eg_guess_make(guess, b->data, x->data));
        TEST_OK(d->ctx, eg_pcg_solve(pcg, b->data, x->data, &result));
        assert_int_equal(result.outcome, EG_KRYLOV_CONVERGED);
        TEST_OK(d->ctx, eg_guess_learn(guess, pcg, x->data));
        iterations += result.iterations;
        if (step == 0) first = result.iterations;
        /* The data are of a space of two dimensions. */
        if (step > 1) assert_true(result.iterations < first / 2);
    }
    TEST_OK(d->ctx, eg_vectors_dots(vectors, 1, &(eg_vector_pair){x->data, b->data}, sum));
    free(host);
    eg_pcg_destroy(&pcg);
    eg_guess_destroy(&guess);
    eg_field_destroy(&x);
    eg_field_destroy(&b);
    eg_field_destroy(&diagonal);
    eg_vectors_destroy(&vectors);
    eg_space_destroy(&space);
    return iterations;
}

static void test_guess__ranks_together_guess_what_one_does_alone(void **state)
{
    (void)state;
    divided d = divided_new(&(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {7, 5}});
    double together, alone;
    const int all = solve_often(&d, d.world, d.mine, &together);
    assert_int_equal(all, solve_often(&d, d.self, d.whole, &alone));
    assert_true(fabs(together - alone) < 1e-9 * alone);
    divided_free(&d);
}

/* Plain vectors in parts: one value on the first rank, many on the last. */
static void test_vectors__plain_parts_are_added_over_ranks(void **state)
{
    (void)state;
    divided d = divided_new(&(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {2, 2}});
    const size_t n = 1 + 400 * (size_t)eg_comm_rank(d.world);
    eg_vectors *vectors = NULL;
    eg_buffer *x = NULL;
    double sum, expected = 0.0;
    TEST_OK(d.ctx, eg_vectors_create_plain(d.device, d.world, EG_F64, n, &vectors));
    TEST_OK(d.ctx, eg_vectors_new(vectors, &x));
    TEST_OK(d.ctx, eg_vectors_fill(vectors, 0.5, x));
    TEST_OK(d.ctx, eg_vectors_dots(vectors, 1, &(eg_vector_pair){x, x}, &sum));
    for (int rank = 0; rank < eg_comm_size(d.world); rank++)
        expected += 0.25 * (1 + 400 * rank);
    assert_true(sum == expected);
    eg_buffer_destroy(&x);
    eg_vectors_destroy(&vectors);
    divided_free(&d);
}

/* What a chain of n springs has between i and i + 1, each the work of one rank. */
static eg_csr *springs(eg_context *ctx, eg_comm *comm, int n)
{
    int32_t row[4000], column[4000];
    double value[4000];
    int64_t count = 0;
    eg_csr *a = NULL;
    for (int i = 0; i <= n; i++) {
        if (i % eg_comm_size(comm) != eg_comm_rank(comm)) continue;
        for (int k = 0; k < 4; k++) {
            const int r = i - 1 + k / 2, c = i - 1 + k % 2;
            if (r < 0 || c < 0 || r >= n || c >= n) continue;
            row[count] = r, column[count] = c;
            value[count++] = (r == c ? 1.0 : -1.0) * (1.0 + i % 3);
        }
    }
    TEST_OK(ctx, eg_csr_from_entries(ctx, n, n, count, row, column, value, &a));
    return a;
}

/* Every rank has a share of the matrix and of the right-hand side; the solution is that of one
 * rank. */
static void test_amg__ranks_add_their_shares_and_solve_the_whole(void **state)
{
    (void)state;
    enum { LENGTH = 700 };
    divided d = divided_new(&(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {2, 2}});
    eg_csr *share = springs(d.ctx, d.world, LENGTH), *whole = springs(d.ctx, d.self, LENGTH);
    eg_csr *sum = NULL;
    TEST_OK(d.ctx, eg_csr_sum_over_ranks(d.world, share, &sum));
    assert_int_equal(sum->offset[LENGTH], whole->offset[LENGTH]);
    assert_memory_equal(sum->column, whole->column,
                        (size_t)sum->offset[LENGTH] * sizeof *sum->column);
    for (int64_t k = 0; k < sum->offset[LENGTH]; k++)
        assert_true(sum->value[k] == whole->value[k]); /* small integers add without rounding */
    for (int type = EG_F64; type <= EG_F32; type++) {
        eg_amg *together = NULL, *alone = NULL;
        eg_vectors *vectors = NULL;
        eg_buffer *b = NULL, *x = NULL;
        double part[LENGTH], all[LENGTH], found[2][LENGTH];
        for (int i = 0; i < LENGTH; i++) {
            all[i] = 0.5 + i % 3;
            part[i] = i % eg_comm_size(d.world) == eg_comm_rank(d.world) ? all[i] : 0.0;
        }
        TEST_OK(d.ctx, eg_amg_create(d.device, sum,
                                     &(eg_amg_options){.type = (eg_type)type, .comm = d.world},
                                     &together));
        TEST_OK(d.ctx,
                eg_amg_create(d.device, sum, &(eg_amg_options){.type = (eg_type)type}, &alone));
        TEST_OK(d.ctx, eg_vectors_create_plain(d.device, NULL, (eg_type)type, LENGTH, &vectors));
        TEST_OK(d.ctx, eg_vectors_new(vectors, &b));
        TEST_OK(d.ctx, eg_vectors_new(vectors, &x));
        for (int which = 0; which < 2; which++) {
            put_values(b, LENGTH, which ? all : part);
            TEST_OK(d.ctx, eg_amg_apply(which ? alone : together, b, x));
            get_values(x, LENGTH, found[which]);
        }
        assert_memory_equal(found[0], found[1], sizeof found[0]);
        assert_true(length_of(LENGTH, found[0]) > 1.0);
        eg_buffer_destroy(&x);
        eg_buffer_destroy(&b);
        eg_vectors_destroy(&vectors);
        eg_amg_destroy(&alone);
        eg_amg_destroy(&together);
    }
    eg_csr_destroy(&sum);
    eg_csr_destroy(&whole);
    eg_csr_destroy(&share);
    divided_free(&d);
}

/* Memory that runs out on one rank: all know. */
static void test_krylov__what_fails_on_one_rank_fails_on_all(void **state)
{
    (void)state;
    divided d = divided_new(&(eg_box_options){.shape = EG_SHAPE_TRI, .cells = {7, 5}});
    eg_space *space = NULL;
    eg_buffer *ones = NULL;
    TEST_OK(d.ctx,
            eg_space_create(d.device, d.world, d.mine, &(eg_space_options){.degree = 1}, &space));
    for (long fail_at = 1; fail_at < 40; fail_at += 3) {
        eg_vectors *vectors = NULL;
        eg_pcg *pcg = NULL;
        if (ranks_is_last(d.world)) test_allocator_arm(fail_at, false);
        eg_status status = eg_vectors_create(space, 1, EG_F64, &vectors);
        test_allocator_arm(0, false);
        assert_failure_of_last(d.ctx, d.world, status, true);
        eg_vectors_destroy(&vectors);
        if (fail_at > 12) continue;
        TEST_OK(d.ctx, eg_vectors_create(space, 1, EG_F64, &vectors));
        TEST_OK(d.ctx, eg_vectors_new(vectors, &ones));
        TEST_OK(d.ctx, eg_vectors_fill(vectors, 1.0, ones));
        diagonal_map map = {vectors, ones};
        if (ranks_is_last(d.world)) test_allocator_arm(fail_at, false);
        status = eg_pcg_create(vectors, diagonal_linear(&map), NULL,
                               &(eg_krylov_options){.null_vector = ones}, &pcg);
        test_allocator_arm(0, false);
        assert_failure_of_last(d.ctx, d.world, status, true);
        eg_pcg_destroy(&pcg);
        eg_buffer_destroy(&ones);
        eg_vectors_destroy(&vectors);
    }
    eg_space_destroy(&space);
    divided_free(&d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_krylov__ranks_together_do_what_one_does_alone),
        cmocka_unit_test(test_guess__ranks_together_guess_what_one_does_alone),
        cmocka_unit_test(test_vectors__plain_parts_are_added_over_ranks),
        cmocka_unit_test(test_amg__ranks_add_their_shares_and_solve_the_whole),
        cmocka_unit_test(test_krylov__what_fails_on_one_rank_fails_on_all),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
