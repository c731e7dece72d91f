/* One-dimensional rules and Jacobi polynomials against closed forms and what defines them. */
#include "test.h"

#include <math.h>

#include "element/element.h"

#define MOST 100

/* All n to 24, then fewer. */
static int next_n(int n)
{
    return n < 24 ? n + 1 : n + 19;
}

typedef eg_status rule(eg_context *ctx, int n, double *x, double *w);

/* The largest error of the rule for x^k, k = 0 … degree. */
static double monomial_error(int n, const double *x, const double *w, int degree)
{
    double worst = 0.0;
    for (int k = 0; k <= degree; k++) {
        double sum = 0.0, exact = k % 2 ? 0.0 : 2.0 / (k + 1);
        for (int i = 0; i < n; i++)
            sum += w[i] * pow(x[i], k);
        worst = fmax(worst, fabs(sum - exact));
    }
    return worst;
}

static void check_exactness(rule *make, int least, int twice_n_minus)
{
    eg_context *ctx = test_context();
    double x[MOST], w[MOST];
    for (int n = least; n <= MOST; n = next_n(n)) {
        TEST_OK(ctx, make(ctx, n, x, w));
        for (int i = 0; i < n; i++) {
            assert_true(w[i] > 0.0 && x[i] >= -1.0 && x[i] <= 1.0);
            if (i > 0) assert_true(x[i] > x[i - 1]);
        }
        assert_true(monomial_error(n, x, w, 2 * n - twice_n_minus) < 5e-15);
        /* and not to the next even degree: a rule of its kind cannot be */
        if (n <= 10) {
            int next = (2 * n - twice_n_minus + 2) / 2 * 2;
            assert_true(monomial_error(n, x, w, next) > 1e-7);
        }
        TEST_OK(ctx, make(ctx, n, x, NULL));
    }
    test_context_free(&ctx);
}

static void test_gauss_legendre__n_points_are_exact_to_degree_2n_minus_1(void **state)
{
    (void)state;
    check_exactness(eg_gauss_legendre, 1, 1);
}

static void test_gauss_lobatto__n_points_are_exact_to_degree_2n_minus_3(void **state)
{
    (void)state;
    check_exactness(eg_gauss_lobatto, 2, 3);
}

static void test_gauss_radau__n_points_are_exact_to_degree_2n_minus_2(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double x[MOST], w[MOST];
    for (int n = 1; n <= MOST; n = next_n(n)) {
        TEST_OK(ctx, eg_gauss_radau(ctx, n, x, w));
        assert_true(x[0] == -1.0);
        for (int i = 0; i < n; i++) {
            assert_true(w[i] > 0.0 && x[i] < 1.0);
            if (i > 0) assert_true(x[i] > x[i - 1]);
        }
        assert_true(monomial_error(n, x, w, 2 * n - 2) < 5e-15);
        if (n <= 10) assert_true(monomial_error(n, x, w, 2 * n - 1) > 1e-7);
    }
    test_context_free(&ctx);
}

static void test_chebyshev_lobatto__n_points_are_exact_to_degree_n_minus_1(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double x[MOST], w[MOST];
    for (int n = 2; n <= MOST; n = next_n(n)) {
        TEST_OK(ctx, eg_chebyshev_lobatto(ctx, n, x, w));
        for (int i = 0; i < n; i++)
            assert_true(w[i] > 0.0 && fabsl(x[i] + cosl(acosl(-1) * i / (n - 1))) < 0.6e-16L);
        assert_true(monomial_error(n, x, w, n - 1) < 5e-15);
        assert_true(x[0] == -1.0 && x[n - 1] == 1.0);
    }
    test_context_free(&ctx);
}

static void expect(const double *values, const double *exact, int n)
{
    for (int i = 0; i < n; i++)
        if (!(fabs(values[i] - exact[i]) <= 1.5e-16))
            fail_msg("value %d is %.17g, expected %.17g", i, values[i], exact[i]);
}

static void test_gauss_rules__have_the_values_of_their_closed_forms(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double x[6], w[6];

    double a = sqrt(5.0 - 2.0 * sqrt(10.0 / 7.0)) / 3.0;
    double b = sqrt(5.0 + 2.0 * sqrt(10.0 / 7.0)) / 3.0;
    double wa = (322.0 + 13.0 * sqrt(70.0)) / 900.0, wb = (322.0 - 13.0 * sqrt(70.0)) / 900.0;
    TEST_OK(ctx, eg_gauss_legendre(ctx, 5, x, w));
    expect(x, (double[]){-b, -a, 0, a, b}, 5);
    expect(w, (double[]){wb, wa, 128.0 / 225.0, wa, wb}, 5);
    TEST_OK(ctx, eg_gauss_legendre(ctx, 1, x, w));
    expect(x, (double[]){0}, 1);
    expect(w, (double[]){2}, 1);

    double c = sqrt(3.0 / 7.0);
    TEST_OK(ctx, eg_gauss_lobatto(ctx, 5, x, w));
    expect(x, (double[]){-1, -c, 0, c, 1}, 5);
    expect(w, (double[]){0.1, 49.0 / 90.0, 32.0 / 45.0, 49.0 / 90.0, 0.1}, 5);
    TEST_OK(ctx, eg_gauss_lobatto(ctx, 2, x, w));
    expect(x, (double[]){-1, 1}, 2);
    expect(w, (double[]){1, 1}, 2);
    double d = sqrt(1.0 / 3.0 - 2.0 * sqrt(7.0) / 21.0);
    double e = sqrt(1.0 / 3.0 + 2.0 * sqrt(7.0) / 21.0);
    double wd = (14.0 + sqrt(7.0)) / 30.0, we = (14.0 - sqrt(7.0)) / 30.0;
    TEST_OK(ctx, eg_gauss_lobatto(ctx, 6, x, w));
    expect(x, (double[]){-1, -e, -d, d, e, 1}, 6);
    expect(w, (double[]){1.0 / 15.0, we, wd, wd, we, 1.0 / 15.0}, 6);

    double f = sqrt(6.0);
    TEST_OK(ctx, eg_gauss_radau(ctx, 3, x, w));
    expect(x, (double[]){-1, (1.0 - f) / 5.0, (1.0 + f) / 5.0}, 3);
    expect(w, (double[]){2.0 / 9.0, (16.0 + f) / 18.0, (16.0 - f) / 18.0}, 3);
    TEST_OK(ctx, eg_gauss_radau(ctx, 1, x, w));
    expect(x, (double[]){-1}, 1);
    expect(w, (double[]){2}, 1);

    TEST_OK(ctx, eg_chebyshev_lobatto(ctx, 4, x, w));
    expect(x, (double[]){-1, -0.5, 0.5, 1}, 4);
    expect(w, (double[]){1.0 / 9.0, 8.0 / 9.0, 8.0 / 9.0, 1.0 / 9.0}, 4);
    test_context_free(&ctx);
}

static void test_gauss_jacobi__has_chebyshevs_closed_forms_to_the_last_digits(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const long double pi = acosl(-1.0L);
    double x[MOST], w[MOST];
    for (int n = 1; n <= MOST; n = next_n(n)) {
        TEST_OK(ctx, eg_gauss_jacobi(ctx, n, -0.5, -0.5, x, w));
        for (int i = 0; i < n; i++) {
            assert_true(fabsl(x[i] + cosl((2 * i + 1) * pi / (2 * n))) < 0.6e-16L);
            assert_true(fabsl(w[i] / pi * n - 1) < 1.2e-16L);
        }
        TEST_OK(ctx, eg_gauss_jacobi(ctx, n, 0.5, 0.5, x, w));
        for (int i = 0; i < n; i++) {
            long double angle = (i + 1) * pi / (n + 1), s = sinl(angle);
            assert_true(fabsl(x[i] + cosl(angle)) < 0.6e-16L);
            assert_true(fabsl(w[i] / (pi / (n + 1) * s * s) - 1) < 1.2e-16L);
        }
    }
    test_context_free(&ctx);
}

static void test_gauss_jacobi__integrates_its_weight_function_times_polynomials(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double exponents[][2] = {{1, 0},    {2, 0},  {0, 1}, {3.5, 0.25},
                                   {-0.7, 2}, {21, 0}, {0, 12}};
    double x[MOST], w[MOST];
    for (size_t k = 0; k < EG_COUNT(exponents); k++)
        for (int n = 1; n <= MOST; n = next_n(n)) {
            double alpha = exponents[k][0], beta = exponents[k][1];
            TEST_OK(ctx, eg_gauss_jacobi(ctx, n, alpha, beta, x, w));
            /* ∫ (1-x)^α (1+x)^β ((1+x)/2)^m = 2^(α+β+1) B(α+1, β+m+1), by its ratio from m to m+1 */
            double exact = exp((alpha + beta + 1) * log(2.0) + lgamma(alpha + 1) +
                               lgamma(beta + 1) - lgamma(alpha + beta + 2));
            double scale = exact;
            for (int m = 0; m < 2 * n; m++) {
                double sum = 0.0;
                for (int i = 0; i < n; i++)
                    sum += w[i] * pow(0.5 * (1.0 + x[i]), m);
                assert_true(fabs(sum - exact) < 2e-13 * scale);
                exact *= (beta + m + 1) / (alpha + beta + m + 2);
            }
        }
    test_context_free(&ctx);
}

static void test_gauss_legendre__96_points_have_their_published_values(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double x[96], w[96];
    TEST_OK(ctx, eg_gauss_legendre(ctx, 96, x, w));
    /* [abramowitz1964] table 25.4 */
    expect(&x[48], (double[]){0.016276744849602969579}, 1);
    expect(&w[48], (double[]){0.032550614492363166242}, 1);
    expect(&x[95], (double[]){0.999689503883230766828}, 1);
    expect(&w[95], (double[]){0.000796792065552012429}, 1);
    test_context_free(&ctx);
}

static void test_symmetric_rules__are_antisymmetric_to_the_last_bit(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    rule *const rules[] = {eg_gauss_legendre, eg_gauss_lobatto, eg_chebyshev_lobatto};
    double x[MOST], w[MOST];
    for (size_t k = 0; k < EG_COUNT(rules); k++)
        for (int n = 2; n <= MOST; n = next_n(n)) {
            TEST_OK(ctx, rules[k](ctx, n, x, w));
            for (int i = 0; i < n; i++) {
                assert_true(x[i] == -x[n - 1 - i]);
                assert_true(fabs(w[i] - w[n - 1 - i]) <= 1e-16 * (k == 2));
            }
        }
    test_context_free(&ctx);
}

static void test_jacobi__is_orthonormal_and_differentiated_exactly(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double exponents[][2] = {{0, 0}, {1, 1}, {3, 0}, {0.5, -0.5}, {-0.5, -0.5}};
    enum { n = 24 };
    double x[n], w[n];
    for (size_t k = 0; k < EG_COUNT(exponents); k++) {
        double alpha = exponents[k][0], beta = exponents[k][1];
        TEST_OK(ctx, eg_gauss_jacobi(ctx, n, alpha, beta, x, w));
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                double sum = 0.0;
                for (int q = 0; q < n; q++)
                    sum += w[q] * eg_jacobi(i, alpha, beta, x[q]) * eg_jacobi(j, alpha, beta, x[q]);
                assert_true(fabs(sum - (i == j)) < 1e-14);
            }
        /* p_i' = sqrt(i (i + α + β + 1)) p_{i-1}^(α+1, β+1) */
        for (int i = 0; i < n; i++)
            for (int q = 0; q <= 8; q++) {
                double at = -1.0 + 0.25 * q;
                double exact = i == 0 ? 0.0
                                      : sqrt(i * (i + alpha + beta + 1)) *
                                            eg_jacobi(i - 1, alpha + 1, beta + 1, at);
                double value = eg_jacobi_derivative(i, alpha, beta, at);
                assert_true(fabs(value - exact) <= 1e-14 * (1.0 + fabs(exact)));
            }
    }
    /* Legendre polynomials: sqrt((2n+1)/2) at 1, and P_2 = (3x² - 1)/2. */
    for (int i = 0; i < 40; i++)
        assert_true(fabs(eg_jacobi(i, 0, 0, 1.0) - sqrt(i + 0.5)) < 1e-14);
    assert_true(fabs(eg_jacobi(2, 0, 0, 0.3) - sqrt(2.5) * (3 * 0.09 - 1) / 2) < 1e-15);
    test_context_free(&ctx);
}

static void test_rules__refuse_what_does_not_exist(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double x[2], w[2];
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "at least 1 point, not 0", eg_gauss_legendre(ctx, 0, x, w));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "Lobatto rule needs at least 2 points",
               eg_gauss_lobatto(ctx, 1, x, w));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "Radau", eg_gauss_radau(ctx, 0, x, w));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "Chebyshev", eg_chebyshev_lobatto(ctx, 1, x, w));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "greater than -1", eg_gauss_jacobi(ctx, 2, -1.0, 0.0, x, w));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "nan", eg_gauss_jacobi(ctx, 2, 0.0, NAN, x, w));
    test_context_free(&ctx);
}

static eg_status all_rules(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    double x[4], w[4];
    EG_TRY(eg_gauss_legendre(ctx, 4, x, w));
    EG_TRY(eg_gauss_lobatto(ctx, 4, x, w));
    EG_TRY(eg_gauss_radau(ctx, 4, x, w));
done:
    return status;
}

static void test_rules__survive_any_failed_allocation(void **state)
{
    (void)state;
    test_allocation_sweep(all_rules, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gauss_legendre__n_points_are_exact_to_degree_2n_minus_1),
        cmocka_unit_test(test_gauss_lobatto__n_points_are_exact_to_degree_2n_minus_3),
        cmocka_unit_test(test_gauss_radau__n_points_are_exact_to_degree_2n_minus_2),
        cmocka_unit_test(test_chebyshev_lobatto__n_points_are_exact_to_degree_n_minus_1),
        cmocka_unit_test(test_gauss_rules__have_the_values_of_their_closed_forms),
        cmocka_unit_test(test_gauss_jacobi__has_chebyshevs_closed_forms_to_the_last_digits),
        cmocka_unit_test(test_gauss_jacobi__integrates_its_weight_function_times_polynomials),
        cmocka_unit_test(test_gauss_legendre__96_points_have_their_published_values),
        cmocka_unit_test(test_symmetric_rules__are_antisymmetric_to_the_last_bit),
        cmocka_unit_test(test_jacobi__is_orthonormal_and_differentiated_exactly),
        cmocka_unit_test(test_rules__refuse_what_does_not_exist),
        cmocka_unit_test(test_rules__survive_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
