/* Backward differentiation and extrapolation: exact for polynomials on steps of any lengths. */
#include "test.h"

#include "time/bdf.h"

#include <math.h>

/* p(t) = Σ (k + 1) t^k up to `degree`, and its slope. */
static double polynomial(int degree, double t, double *slope)
{
    double value = 0;
    *slope = 0;
    for (int k = degree; k >= 0; k--) {
        *slope = *slope * t + value;
        value = value * t + (k + 1);
    }
    return value;
}

static void test_bdf__is_exact_for_polynomials_on_any_steps(void **state)
{
    static const double steps[][EG_BDF_ORDER_MAX] = {
        {0.1, 0.1, 0.1}, {0.1, 0.25, 0.03}, {0.02, 0.3, 0.3}};
    (void)state;
    for (size_t s = 0; s < EG_COUNT(steps); s++)
        for (int order = 1; order <= EG_BDF_ORDER_MAX; order++) {
            const double t = 0.8, dt = steps[s][0];
            double times[EG_BDF_ORDER_MAX], slope, unused, rate, extrapolated = 0;
            double at = t;
            for (int i = 0; i < order; i++)
                times[i] = at -= steps[s][i];
            const eg_bdf bdf = eg_bdf_at(order, times, t);
            rate = bdf.gamma * polynomial(order, t, &slope);
            for (int i = 0; i < order; i++) {
                rate -= bdf.beta[i] * polynomial(order, times[i], &unused);
                extrapolated += bdf.alpha[i] * polynomial(order - 1, times[i], &unused);
            }
            assert_true(fabs(rate / dt - slope) < 1e-11);
            assert_true(fabs(extrapolated - polynomial(order - 1, t, &unused)) < 1e-12);
            /* One degree more is too much: the order is no higher either. */
            rate = bdf.gamma * polynomial(order + 1, t, &slope);
            for (int i = 0; i < order; i++)
                rate -= bdf.beta[i] * polynomial(order + 1, times[i], &unused);
            assert_true(fabs(rate / dt - slope) > 1e-5);
        }
}

static void test_bdf__has_the_known_coefficients_on_equal_steps(void **state)
{
    const eg_bdf bdf = eg_bdf_at(3, (double[]){2, 1, 0}, 3);
    static const double beta[] = {3, -1.5, 1. / 3}, alpha[] = {3, -3, 1};
    (void)state;
    assert_true(fabs(bdf.gamma - 11. / 6) < 1e-15);
    for (int i = 0; i < 3; i++)
        assert_true(fabs(bdf.beta[i] - beta[i]) < 1e-15 && fabs(bdf.alpha[i] - alpha[i]) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bdf__is_exact_for_polynomials_on_any_steps),
        cmocka_unit_test(test_bdf__has_the_known_coefficients_on_equal_steps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
