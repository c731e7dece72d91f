/* Signals: frequency, mean and amplitude of what is known in closed form, what they are uncertain
 * by, and signals that are short, spoilt or none. */
#include "test.h"

#include <math.h>

#include "report/signal.h"

static const double pi = 3.14159265358979323846;

enum { ROWS = 4000 };

typedef struct series {
    double t[ROWS], y[ROWS];
    size_t count;
} series;

static const eg_signal_options all = {.from = -INFINITY, .spread = 0.01};

static eg_signal measure(const series *s, const eg_signal_options *options)
{
    eg_context *ctx = test_context();
    eg_signal out;
    TEST_OK(ctx, eg_signal_measure(ctx, s->count, s->t, s->y, options, &out));
    test_context_free(&ctx);
    return out;
}

/* mean + amplitude sin(2π f t + phase), every so often and not quite regularly. */
static series sine(double mean, double amplitude, double frequency, double end, size_t count)
{
    series s = {.count = count};
    uint64_t seed = 3;
    for (size_t i = 0; i < count; i++) {
        s.t[i] = end * ((double)i + 0.3 * test_random(&seed)) / (double)count;
        s.y[i] = mean + amplitude * sin(2 * pi * frequency * s.t[i] + 0.7);
    }
    return s;
}

static void expect_near(double found, double expected, double bound)
{
    if (!(fabs(found - expected) <= bound))
        fail_msg("%.9g instead of %.9g, by more than %.2g", found, expected, bound);
}

static void test_signal__figures_of_a_sine_are_those_of_its_formula(void **state)
{
    (void)state;
    const series s = sine(1.5, 0.25, 0.145, 100, 1500);
    const eg_signal found = measure(&s, &all);
    assert_int_equal(found.periods, 13); /* it passes its middle upwards 14 times */
    assert_int_equal(found.settled, 13);
    expect_near(found.frequency, 0.145, 1e-6);
    expect_near(found.mean, 1.5, 2e-5);
    expect_near(found.amplitude, 0.25, 1e-5);
    expect_near(found.rms, 0.25 / sqrt(2), 1e-4);
    assert_true(found.amplitude_spread < 1e-4);
    assert_true(found.frequency_error > 0 && found.frequency_error < 1e-4);
    expect_near((double)found.periods / (found.end - found.begin), 0.145, 1e-5);
    assert_true(found.settled_since == found.begin);
}

static void test_signal__the_last_periods_alone_count_if_so_many_are_asked_for(void **state)
{
    (void)state;
    series s = sine(0, 1, 0.2, 200, 3000);
    /* It begins slower, smaller, and somewhere else. */
    for (size_t i = 0; i < s.count && s.t[i] < 100; i++)
        s.y[i] = -0.2 + (0.3 + 0.007 * s.t[i]) * sin(2 * pi * 0.19 * s.t[i]);
    eg_signal_options last = all;
    last.periods = 10;
    const eg_signal tail = measure(&s, &last), whole = measure(&s, &all);
    assert_int_equal(tail.periods, 10);
    expect_near(tail.frequency, 0.2, 1e-6);
    expect_near(tail.mean, 0, 1e-4);
    expect_near(tail.amplitude, 1, 1e-4);
    assert_true(whole.periods > 30 && whole.amplitude_spread > 0.3);
    /* … but what has settled is looked for in all of it. */
    assert_true(tail.settled == whole.settled && tail.settled >= 18 && tail.settled <= 20);
    assert_true(tail.settled_since > 97 && tail.settled_since < 110);
    last = all;
    last.from = 101;
    const eg_signal behind = measure(&s, &last);
    assert_true(behind.begin > 101 && behind.periods == behind.settled);
    expect_near(behind.frequency, 0.2, 1e-6);
}

static void test_signal__overtones_and_noise_move_the_frequency_by_less_than_its_error(void **state)
{
    (void)state;
    series s = sine(0, 1, 0.145, 150, 3000);
    uint64_t seed = 11;
    for (size_t i = 0; i < s.count; i++)
        s.y[i] += 0.3 * sin(4 * pi * 0.145 * s.t[i]) + 0.05 * test_random(&seed);
    const eg_signal found = measure(&s, &all);
    assert_int_equal(found.periods, 20);
    assert_true(found.frequency_error < 1e-3);
    expect_near(found.frequency, 0.145, found.frequency_error);
    expect_near(found.mean, 0, 0.01);
}

static void test_signal__a_frequency_that_drifts_is_uncertain(void **state)
{
    (void)state;
    series s = {.count = 3000};
    for (size_t i = 0; i < s.count; i++) {
        s.t[i] = 0.05 * (double)i;
        s.y[i] = sin(2 * pi * (0.14 * s.t[i] + 0.5 * 0.0002 * s.t[i] * s.t[i])); /* 0.14 to 0.17 */
    }
    const eg_signal found = measure(&s, &all);
    assert_true(found.frequency > 0.15 && found.frequency < 0.16);
    assert_true(found.frequency_error > 0.004 && found.frequency_error < 0.015);
}

static void test_signal__false_passages_leave_the_frequency_as_it_is(void **state)
{
    (void)state;
    series s = sine(0, 1, 0.145, 150, 3000);
    for (size_t i = 1500; i < 1510; i++) /* down and up again */
        s.y[i] = i % 2 ? 1 : -1;
    const eg_signal found = measure(&s, &all);
    assert_int_equal(found.periods, 20);
    expect_near(found.frequency, 0.145, 1e-6);
    series dip = sine(0, 1, 0.145, 150, 3000);
    for (size_t i = 0; i < dip.count; i++) /* wiggles about the middle begin no period */
        dip.y[i] += 0.05 * sin(2 * pi * 3 * dip.t[i]);
    const eg_signal wiggled = measure(&dip, &all);
    assert_int_equal(wiggled.periods, 20);
    expect_near(wiggled.frequency, 0.145, 1e-3);
}

static void test_signal__rows_that_are_no_numbers_or_go_back_in_time_are_left_out(void **state)
{
    (void)state;
    series s = sine(2, 1, 0.5, 40, 2000), spoilt = {0};
    for (size_t i = 0; i < s.count; i++) {
        spoilt.t[spoilt.count] = s.t[i];
        spoilt.y[spoilt.count++] = s.y[i];
        if (i % 7) continue;
        spoilt.t[spoilt.count] = i % 2 ? s.t[i] : NAN;
        spoilt.y[spoilt.count++] = i % 2 ? 1e6 : 0;
        spoilt.t[spoilt.count] = s.t[i] + 1e-9;
        spoilt.y[spoilt.count++] = i % 3 ? NAN : INFINITY;
    }
    const eg_signal clean = measure(&s, &all), found = measure(&spoilt, &all);
    assert_true(spoilt.count > 2500);
    assert_memory_equal(&clean, &found, sizeof clean);
}

static void test_signal__without_a_period_there_is_no_frequency(void **state)
{
    (void)state;
    series none = {.count = 0}, one = {.t = {3}, .y = {7}, .count = 1};
    eg_signal found = measure(&none, &all);
    assert_true(found.periods == 0 && isnan(found.mean) && isnan(found.frequency));
    found = measure(&one, &all);
    assert_true(found.periods == 0 && found.mean == 7 && found.rms == 0 && found.amplitude == 0);
    const series half = sine(0, 1, 0.145, 5, 100);
    found = measure(&half, &all);
    assert_true(found.periods == 0 && found.settled == 0 && isnan(found.frequency));
    assert_true(found.amplitude > 0.5);
    series flat = {.count = 100};
    for (size_t i = 0; i < flat.count; i++)
        flat.t[i] = (double)i, flat.y[i] = 4;
    found = measure(&flat, &all);
    assert_true(found.periods == 0 && found.mean == 4 && found.rms == 0 && isnan(found.begin));
    const series single = sine(0, 1, 0.145, 14, 200); /* it passes upwards twice */
    found = measure(&single, &all);
    assert_int_equal(found.periods, 1);
    expect_near(found.frequency, 0.145, 1e-4);
    assert_true(isnan(found.frequency_error) && found.settled == 0);
}

static eg_status measure_once(eg_context *ctx, void *user)
{
    const series *s = user;
    eg_signal out;
    return eg_signal_measure(ctx, s->count, s->t, s->y, &all, &out);
}

static void test_signal__memory_that_fails_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    series s = sine(0, 1, 0.145, 100, 1500);
    test_allocation_sweep(measure_once, &s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_signal__figures_of_a_sine_are_those_of_its_formula),
        cmocka_unit_test(test_signal__the_last_periods_alone_count_if_so_many_are_asked_for),
        cmocka_unit_test(
            test_signal__overtones_and_noise_move_the_frequency_by_less_than_its_error),
        cmocka_unit_test(test_signal__a_frequency_that_drifts_is_uncertain),
        cmocka_unit_test(test_signal__false_passages_leave_the_frequency_as_it_is),
        cmocka_unit_test(test_signal__rows_that_are_no_numbers_or_go_back_in_time_are_left_out),
        cmocka_unit_test(test_signal__without_a_period_there_is_no_frequency),
        cmocka_unit_test(test_signal__memory_that_fails_is_an_error_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
