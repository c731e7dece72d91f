/* When output is due. */
#include "test.h"

#include "report/schedule.h"

#include <float.h>
#include <math.h>

static void test_schedule__is_due_every_so_many_steps(void **state)
{
    (void)state;
    eg_schedule s = {.steps = 3};
    eg_schedule_begin(&s, 0);
    assert_true(eg_schedule_active(&s));
    for (int64_t step = 1; step < 20; step++)
        assert_int_equal(eg_schedule_due(&s, step, 0.1 * (double)step), step % 3 == 0);
    assert_true(isinf(eg_schedule_next(&s, 1.0)));
}

static void test_schedule__is_due_once_in_every_interval_of_time(void **state)
{
    (void)state;
    eg_schedule s = {.time = 0.05, .start = 1.0};
    int due = 0;
    eg_schedule_begin(&s, 1.0);
    for (int64_t step = 1; step <= 1000; step++)
        due += eg_schedule_due(&s, step, 1.0 + 0.003 * (double)step);
    assert_int_equal(due, 60);
    /* Steps that are longer than an interval. */
    eg_schedule_begin(&s, 1.0);
    assert_true(eg_schedule_due(&s, 1, 1.2));
    assert_true(eg_schedule_due(&s, 2, 1.4));
    /* A run that goes on does not have it again. */
    eg_schedule_begin(&s, 1.4);
    assert_false(eg_schedule_due(&s, 3, 1.4 + 1e-13));
    assert_true(eg_schedule_due(&s, 4, 1.45));
}

static void test_schedule__stops_are_the_nearest_numbers_to_the_decimal_ones(void **state)
{
    (void)state;
    eg_schedule s = {.time = 0.05};
    double t = 0;
    for (int k = 1; k <= 2000; k++) {
        char text[32];
        t = eg_schedule_next(&s, t);
        snprintf(text, sizeof text, "%d.%02d", k / 20, k % 20 * 5);
        assert_true(t == strtod(text, NULL));
    }
    /* From wherever a step has left the time. */
    assert_true(eg_schedule_next(&s, 0.15 - 1e-13) == 0.2);
    assert_true(eg_schedule_next(&s, 0.15 - 1e-6) == 0.15);
    s = (eg_schedule){.time = 0.3, .start = -1};
    assert_true(fabs(eg_schedule_next(&s, -0.2) + 0.1) < 1e-15);
    s = (eg_schedule){0};
    assert_false(eg_schedule_active(&s));
}

static void test_schedule__is_due_at_every_stop_however_large_the_times_are(void **state)
{
    (void)state;
    const struct {
        double start, interval;
    } rows[] = {{0, 0.1},         {1e7, 0.1},      {-1e7, 0.1},      {1e12, 0.05}, {1e7, 1e-5},
                {1e15 / 3, 10.7}, {-1e3, 1.0 / 7}, {-1e9 / 7, 1e-4}, {1e-9, 1e-12}};
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        eg_schedule s = {.start = rows[i].start, .time = rows[i].interval};
        double t = s.start;
        const double end = s.start + 1e5 * s.time;
        assert_true(eg_schedule_tells_apart(s.start, end, s.time));
        eg_schedule_begin(&s, t);
        for (int64_t k = 1; k <= 100000; k++) {
            const double stop = eg_schedule_next(&s, t), exact = s.start + (double)k * s.time;
            assert_true(fabs(stop - exact) <= 2 * DBL_EPSILON * fmax(fabs(stop), fabs(s.start)));
            /* Not before it, and once. */
            if (k % 1000 == 0) assert_false(eg_schedule_due(&s, 2 * k - 1, stop - 0.5 * s.time));
            assert_true(eg_schedule_due(&s, 2 * k, stop));
            assert_false(eg_schedule_due(&s, 2 * k, stop));
            t = stop;
        }
    }
}

static void test_schedule__intervals_within_rounding_are_told(void **state)
{
    (void)state;
    assert_true(eg_schedule_tells_apart(0, 1, 1e-12));
    assert_false(eg_schedule_tells_apart(0, 1, 1e-15));
    assert_false(eg_schedule_tells_apart(0, 1, 1e-300));
    assert_false(eg_schedule_tells_apart(1e7, 1e7 + 1, 1e-9));
    assert_false(eg_schedule_tells_apart(-1e7, 0, 1e-9));
    assert_true(eg_schedule_tells_apart(0, 1e-200, 1e-205));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedule__is_due_at_every_stop_however_large_the_times_are),
        cmocka_unit_test(test_schedule__intervals_within_rounding_are_told),
        cmocka_unit_test(test_schedule__is_due_every_so_many_steps),
        cmocka_unit_test(test_schedule__is_due_once_in_every_interval_of_time),
        cmocka_unit_test(test_schedule__stops_are_the_nearest_numbers_to_the_decimal_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
