/* Dense linear algebra against what defines each operation. */
#include "test.h"

#include <math.h>

#include "base/dense.h"

#define N 37

static void fill(double *a, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        a[i] = test_random(&seed);
}

/* max |a - b| */
static double distance(const double *a, const double *b, size_t count)
{
    double d = 0.0;
    for (size_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= d)) d = fabs(a[i] - b[i]);
    return d;
}

static void fill_positive_definite(double *a, int n)
{
    double r[N * N], rt[N * N];
    fill(r, (size_t)(n * n), 5);
    eg_dense_transpose(n, n, r, rt);
    eg_dense_multiply(n, n, n, r, rt, a);
    for (int i = 0; i < n; i++)
        a[i * n + i] += 1.0;
}

static void test_multiply__agrees_with_the_sum_that_defines_it(void **state)
{
    (void)state;
    enum { M = 5, K = 7, C = 3 };
    double a[M * K], b[K * C], c[M * C], expected[M * C];
    fill(a, M * K, 1);
    fill(b, K * C, 2);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < C; j++) {
            expected[i * C + j] = 0.0;
            for (int k = 0; k < K; k++)
                expected[i * C + j] += a[i * K + k] * b[k * C + j];
        }
    for (int i = 0; i < M * C; i++)
        c[i] = NAN;
    eg_dense_multiply(M, K, C, a, b, c);
    assert_true(distance(c, expected, M * C) < 1e-14);

    eg_dense_multiply(M, 0, C, a, b, c);
    for (int i = 0; i < M * C; i++)
        assert_true(c[i] == 0.0);
    eg_dense_multiply(0, K, C, a, b, c);
}

static void test_transpose__moves_rows_to_columns(void **state)
{
    (void)state;
    const double a[2 * 3] = {1, 2, 3, 4, 5, 6};
    double at[3 * 2];
    eg_dense_transpose(2, 3, a, at);
    const double expected[3 * 2] = {1, 4, 2, 5, 3, 6};
    assert_memory_equal(at, expected, sizeof at);
}

static void test_solve__residual_is_rounding_for_every_size(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double a[N * N], b[N * 4], x[N * 4], ax[N * 4];
    for (int n = 1; n <= N; n++) {
        fill(a, (size_t)(n * n), (uint64_t)n);
        fill(b, (size_t)(n * 4), 99);
        TEST_OK(ctx, eg_dense_solve(ctx, n, 4, a, b, x));
        eg_dense_multiply(n, n, 4, a, x, ax);
        assert_true(distance(ax, b, (size_t)(n * 4)) < 1e-10);
    }
    TEST_OK(ctx, eg_dense_solve(ctx, 0, 4, a, b, x));
    TEST_OK(ctx, eg_dense_solve(ctx, N, 0, a, b, x));
    test_context_free(&ctx);
}

static void test_solve__an_unsymmetric_system_is_not_solved_transposed(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double a[4] = {1, 2, 0, 1}, b[2] = {5, 2};
    double x[2];
    TEST_OK(ctx, eg_dense_solve(ctx, 2, 1, a, b, x));
    assert_true(fabs(x[0] - 1) < 1e-15 && fabs(x[1] - 2) < 1e-15);
    test_context_free(&ctx);
}

static void test_inverse__times_the_matrix_is_the_identity(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double a[N * N], kept[N * N], inverse[N * N], product[N * N], identity[N * N] = {0};
    fill(a, N * N, 3);
    memcpy(kept, a, sizeof a);
    for (int i = 0; i < N; i++)
        identity[i * N + i] = 1.0;
    TEST_OK(ctx, eg_dense_inverse(ctx, N, a, inverse));
    eg_dense_multiply(N, N, N, a, inverse, product);
    assert_true(distance(product, identity, N * N) < 1e-11);
    assert_memory_equal(a, kept, sizeof a);
    test_context_free(&ctx);
}

static void test_cholesky__agrees_with_lu_and_reads_the_lower_triangle_only(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double a[N * N], b[N * 2], x[N * 2], y[N * 2];
    fill_positive_definite(a, N);
    fill(b, N * 2, 8);
    TEST_OK(ctx, eg_dense_solve(ctx, N, 2, a, b, x));
    for (int i = 0; i < N; i++)
        for (int j = i + 1; j < N; j++)
            a[i * N + j] = NAN;
    TEST_OK(ctx, eg_dense_cholesky_solve(ctx, N, 2, a, b, y));
    assert_true(distance(x, y, N * 2) < 1e-11);
    test_context_free(&ctx);
}

static void test_singular__is_reported_and_not_divided_by(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double zero[4] = {0}, b[2] = {1, 1};
    /* Singular only up to rounding: no pivot is exactly 0. */
    const double nearly[9] = {0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9};
    const double with_nan[4] = {1, NAN, 0, 1}, with_infinity[4] = {1, 0, INFINITY, 1};
    const double indefinite[4] = {1, 2, 2, 1};
    double x[9], condition;
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "2 by 2", eg_dense_solve(ctx, 2, 1, zero, b, x));
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "singular", eg_dense_inverse(ctx, 2, zero, x));
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "3 by 3", eg_dense_inverse(ctx, 3, nearly, x));
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "nan", eg_dense_solve(ctx, 2, 1, with_nan, b, x));
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "nan", eg_dense_inverse(ctx, 2, with_infinity, x));
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "order 2",
               eg_dense_cholesky_solve(ctx, 2, 1, indefinite, b, x));
    const double lower_nan[4] = {1, 0, NAN, 1};
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "not positive definite",
               eg_dense_cholesky_solve(ctx, 2, 1, lower_nan, b, x));
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "(1, 0)",
               eg_dense_eigen_symmetric(ctx, 2, lower_nan, x, NULL));
    TEST_OK(ctx, eg_dense_condition(ctx, 2, zero, &condition));
    assert_true(isinf(condition));
    test_context_free(&ctx);
}

static void test_condition__is_exact_where_it_is_known(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double condition;
    const double diagonal[9] = {1, 0, 0, 0, 1e-3, 0, 0, 0, 10};
    TEST_OK(ctx, eg_dense_condition(ctx, 3, diagonal, &condition));
    assert_true(fabs(condition - 1e4) < 1e-8);
    /* 2 * 2 in the 1-norm; it would be 3 * 3 in the infinity norm. */
    const double arrow[9] = {1, 1, 1, 0, 1, 0, 0, 0, 1};
    TEST_OK(ctx, eg_dense_condition(ctx, 3, arrow, &condition));
    assert_true(fabs(condition - 4) < 1e-12);
    test_context_free(&ctx);
}

static void test_eigen__rows_are_orthonormal_eigenvectors_in_ascending_order(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double a[N * N], values[N], only_values[N], v[N * N], vt[N * N], product[N * N];
    double av[N * N];
    fill_positive_definite(a, N);
    TEST_OK(ctx, eg_dense_eigen_symmetric(ctx, N, a, only_values, NULL));
    TEST_OK(ctx, eg_dense_eigen_symmetric(ctx, N, a, values, v));
    assert_true(distance(values, only_values, N) < 1e-11);
    eg_dense_transpose(N, N, v, vt);
    eg_dense_multiply(N, N, N, v, vt, product);
    eg_dense_multiply(N, N, N, a, vt, av); /* column i is a times vector i */
    for (int i = 0; i < N; i++) {
        if (i > 0) assert_true(values[i] >= values[i - 1]);
        for (int j = 0; j < N; j++) {
            assert_true(fabs(product[i * N + j] - (i == j)) < 1e-12);
            assert_true(fabs(av[j * N + i] - values[i] * v[i * N + j]) < 1e-11);
        }
    }
    test_context_free(&ctx);
}

static eg_status everything(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    enum { n = 6 };
    double a[n * n], b[n], x[n * n], y[n];
    fill_positive_definite(a, n);
    fill(b, n, 2);
    EG_TRY(eg_dense_solve(ctx, n, 1, a, b, x));
    EG_TRY(eg_dense_cholesky_solve(ctx, n, 1, a, b, x));
    EG_TRY(eg_dense_inverse(ctx, n, a, x));
    EG_TRY(eg_dense_condition(ctx, n, a, x));
    EG_TRY(eg_dense_eigen_symmetric(ctx, n, a, y, x));
done:
    return status;
}

static void test_dense__survives_any_failed_allocation(void **state)
{
    (void)state;
    test_allocation_sweep(everything, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multiply__agrees_with_the_sum_that_defines_it),
        cmocka_unit_test(test_transpose__moves_rows_to_columns),
        cmocka_unit_test(test_solve__residual_is_rounding_for_every_size),
        cmocka_unit_test(test_solve__an_unsymmetric_system_is_not_solved_transposed),
        cmocka_unit_test(test_inverse__times_the_matrix_is_the_identity),
        cmocka_unit_test(test_cholesky__agrees_with_lu_and_reads_the_lower_triangle_only),
        cmocka_unit_test(test_singular__is_reported_and_not_divided_by),
        cmocka_unit_test(test_condition__is_exact_where_it_is_known),
        cmocka_unit_test(test_eigen__rows_are_orthonormal_eigenvectors_in_ascending_order),
        cmocka_unit_test(test_dense__survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
