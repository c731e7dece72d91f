/* The communicator with any number of ranks: run alone, and with mpirun where MPI was built in. */
#include "ranks.h"

#include <math.h>

static void test_comm__ranks_are_numbered_without_gaps(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_comm *comm = ranks_world(ctx);
    int rank = eg_comm_rank(comm), size = eg_comm_size(comm);
    int *all = calloc((size_t)size, sizeof *all);
    TEST_OK(ctx, eg_comm_allgather(comm, sizeof rank, &rank, all));
    for (int r = 0; r < size; r++)
        assert_int_equal(all[r], r);
    TEST_OK(ctx, eg_comm_barrier(comm));
    free(all);
    eg_comm_destroy(&comm);
    assert_null(comm);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

static double part(int rank, int i)
{
    return sin(1.0 + rank) * pow(10.0, (rank * 7 + i * 5) % 17);
}

static void test_sum__adds_in_the_order_of_ranks_to_the_last_bit(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_comm *comm = ranks_world(ctx);
    for (int count = 0; count < 20; count += 3) {
        double values[20], expected[20];
        for (int i = 0; i < count; i++) {
            values[i] = part(eg_comm_rank(comm), i);
            expected[i] = part(0, i);
            for (int r = 1; r < eg_comm_size(comm); r++)
                expected[i] += part(r, i);
        }
        TEST_OK(ctx, eg_comm_sum(comm, (size_t)count, values));
        assert_memory_equal(values, expected, (size_t)count * sizeof *values);
    }
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

static void test_max__finds_the_maximum_and_keeps_nan(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_comm *comm = ranks_world(ctx);
    int rank = eg_comm_rank(comm), size = eg_comm_size(comm);
    double values[4] = {rank, -rank, rank == 0 ? NAN : 1.0, rank == size - 1 ? NAN : 1.0};
    TEST_OK(ctx, eg_comm_max(comm, 4, values));
    assert_true(values[0] == size - 1);
    assert_true(values[1] == 0.0);
    assert_true(isnan(values[2]));
    assert_true(isnan(values[3]));
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

static void test_broadcast__every_rank_gets_the_bytes_of_the_root(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_comm *comm = ranks_world(ctx);
    for (int root = 0; root < eg_comm_size(comm); root++) {
        int data[3] = {0};
        if (eg_comm_rank(comm) == root)
            for (int i = 0; i < 3; i++)
                data[i] = 10 * root + i;
        TEST_OK(ctx, eg_comm_broadcast(comm, root, sizeof data, data));
        for (int i = 0; i < 3; i++)
            assert_int_equal(data[i], 10 * root + i);
        TEST_OK(ctx, eg_comm_broadcast(comm, root, 0, NULL));
    }
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

/* Every rank sends to every rank, itself included, two messages; repeated, with two exchanges under
 * way at the same time. */
static void test_exchange__messages_arrive_whole_in_order_and_apart(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_comm *comm = ranks_world(ctx);
    int rank = eg_comm_rank(comm), size = eg_comm_size(comm);
    size_t count = 2 * (size_t)size;
    eg_message *messages[2];
    int(*sent)[4] = calloc(2 * count, sizeof *sent), (*got)[4] = calloc(2 * count, sizeof *got);
    eg_exchange *exchange[2] = {NULL, NULL};
    for (size_t x = 0; x < 2; x++) {
        messages[x] = calloc(count, sizeof **messages);
        for (size_t i = 0; i < count; i++)
            messages[x][i] = (eg_message){.rank = (int)(i / 2),
                                          .send = sent[x * count + i],
                                          .send_bytes = (1 + i % 2) * 2 * sizeof(int),
                                          .receive = got[x * count + i],
                                          .receive_bytes = (1 + i % 2) * 2 * sizeof(int)};
        TEST_OK(ctx, eg_exchange_create(comm, messages[x], count, &exchange[x]));
        free(messages[x]); /* the exchange has its own copy */
    }
    for (int step = 0; step < 3; step++) {
        for (size_t x = 0; x < 2; x++)
            for (size_t i = 0; i < count; i++)
                for (int k = 0; k < 4; k++) {
                    sent[x * count + i][k] =
                        ((((step * 2 + (int)x) * 10 + rank) * 10 + (int)i / 2) * 2 + (int)i % 2) *
                            4 +
                        k;
                    got[x * count + i][k] = -1;
                }
        long calls = test_memory.calls;
        TEST_OK(ctx, eg_exchange_start(exchange[0]));
        TEST_OK(ctx, eg_exchange_start(exchange[1]));
        TEST_OK(ctx, eg_exchange_wait(exchange[1]));
        TEST_OK(ctx, eg_exchange_wait(exchange[0]));
        assert_int_equal(test_memory.calls, calls);
        for (size_t x = 0; x < 2; x++)
            for (size_t i = 0; i < count; i++)
                for (int k = 0; k < 4; k++) {
                    int expected =
                        ((((step * 2 + (int)x) * 10 + (int)i / 2) * 10 + rank) * 2 + (int)i % 2) *
                            4 +
                        k;
                    if (i % 2 == 0 && k >= 2) expected = -1;
                    assert_int_equal(got[x * count + i][k], expected);
                }
    }
    for (size_t x = 0; x < 2; x++)
        eg_exchange_destroy(&exchange[x]);
    assert_null(exchange[0]);
    free(sent);
    free(got);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

static void test_exchange__a_message_of_another_size_than_expected_is_reported(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_comm *comm = ranks_world(ctx);
    int rank = eg_comm_rank(comm), size = eg_comm_size(comm);
    char sent[8] = "", got[8] = "";
    if (size == 1) {
        eg_exchange *exchange = NULL;
        eg_message own = {.send = sent, .send_bytes = 4, .receive = got, .receive_bytes = 8};
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "expects 8",
                   eg_exchange_create(comm, &own, 1, &exchange));
        eg_message nobody = {.rank = 1};
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "rank 1",
                   eg_exchange_create(comm, &nobody, 1, &exchange));
        assert_null(exchange);
    } else if (rank < 2) {
        /* Both send 4 bytes; rank 0 expects 8, rank 1 expects 2. */
        eg_exchange *exchange = NULL;
        eg_message other = {.rank = 1 - rank,
                            .send = sent,
                            .send_bytes = 4,
                            .receive = got,
                            .receive_bytes = rank == 0 ? 8 : 2};
        TEST_OK(ctx, eg_exchange_create(comm, &other, 1, &exchange));
        TEST_OK(ctx, eg_exchange_start(exchange));
        TEST_FAILS(ctx, EG_ERROR_COMM, rank == 0 ? "expected 8 bytes of rank 1" : "receive",
                   eg_exchange_wait(exchange));
        eg_exchange_destroy(&exchange);
    }
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

static eg_status use_all(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_comm *comm = NULL;
    eg_exchange *exchange = NULL;
    double value = 1.0, got = 0.0;
#ifdef EG_HAVE_MPI
    EG_TRY(eg_comm_from_mpi(ctx, MPI_COMM_SELF, &comm));
#else
    EG_TRY(eg_comm_self(ctx, &comm));
#endif
    EG_TRY(eg_comm_sum(comm, 1, &value));
    eg_message own = {.send = &value, .send_bytes = 8, .receive = &got, .receive_bytes = 8};
    EG_TRY(eg_exchange_create(comm, &own, 1, &exchange));
    EG_TRY(eg_exchange_start(exchange));
    EG_TRY(eg_exchange_wait(exchange));
    assert_true(got == 1.0);
done:
    eg_exchange_destroy(&exchange);
    eg_comm_destroy(&comm);
    return status;
}

static void test_comm__survives_any_failed_allocation(void **state)
{
    (void)state;
    test_allocation_sweep(use_all, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_comm__ranks_are_numbered_without_gaps),
        cmocka_unit_test(test_sum__adds_in_the_order_of_ranks_to_the_last_bit),
        cmocka_unit_test(test_max__finds_the_maximum_and_keeps_nan),
        cmocka_unit_test(test_broadcast__every_rank_gets_the_bytes_of_the_root),
        cmocka_unit_test(test_exchange__messages_arrive_whole_in_order_and_apart),
        cmocka_unit_test(test_exchange__a_message_of_another_size_than_expected_is_reported),
        cmocka_unit_test(test_comm__survives_any_failed_allocation),
    };
    ranks_start(&argc, &argv);
    return ranks_end(cmocka_run_group_tests(tests, NULL, NULL));
}
