/* Loops that are interrupted and go on, and steps that end where they are told to. */
#include "unit/ode.h"

/* An ode whose loop is stopped after some step, and where it was then. */
typedef struct stopped {
    ode o; /* the first member: what the other functions take for an ode */
    int64_t stop_at;
    double interval; /* of stops; 0: none */
    eg_time_point point;
} stopped;

static eg_status look(void *user, const eg_time_point *point, eg_time_verdict *verdict)
{
    stopped *s = user;
    s->point = *point;
    verdict->stop = point->step == s->stop_at;
    return EG_OK;
}

static double next_stop(void *user, double t)
{
    const stopped *s = user;
    return s->interval > 0 ? s->interval * (floor(t / s->interval * (1 + 1e-12)) + 1) : INFINITY;
}

static eg_status run_stopped(eg_context *ctx, stopped *s, const eg_time_options *options,
                             eg_time_result *out)
{
    eg_time_system system = system_of(&s->o);
    system.watch = look;
    system.next_stop = next_stop;
    return eg_time_run(ctx, options, &system, out);
}

static double uneven(double t)
{
    return 0.02 + 0.013 * sin(7 * t);
}

static void pendulum(double t, const double *u, double *out)
{
    out[0] = u[1];
    out[1] = -sin(u[0]) + 0.1 * cos(t);
}

static stopped pendulum_new(double interval)
{
    return (stopped){.o = {.size = 2, .rate = pendulum, .stable = uneven, .current = {1.0, 0.3}},
                     .stop_at = -1,
                     .interval = interval};
}

static void test_resume__makes_the_steps_of_a_loop_that_was_not_interrupted(void **state)
{
    (void)state;
    const eg_time_options rows[] = {
        {.scheme = EG_TIME_SSP_RK3, .start = 0.1, .end = 1.7, .cfl = 0.7},
        {.scheme = EG_TIME_LOW_RK4, .start = 0.1, .end = 1.7, .cfl = 0.7},
        {.scheme = EG_TIME_SSP_RK2, .start = 0.1, .end = 1.7, .dt = 0.017},
        {.scheme = EG_TIME_SSP_RK2, .start = 0.1, .end = 1.7, .dt = 0.01},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        for (int stops = 0; stops < 2; stops++) {
            stopped whole = pendulum_new(stops ? 0.1 : 0);
            eg_time_result all, r;
            TEST_OK(ctx, run_stopped(ctx, &whole, &rows[i], &all));
            assert_false(all.stopped);
            for (int64_t at = 0; at < all.steps; at += 1 + all.steps / 7) {
                stopped first = pendulum_new(whole.interval);
                eg_time_options again = rows[i];
                first.stop_at = at;
                TEST_OK(ctx, run_stopped(ctx, &first, &rows[i], &r));
                assert_true(r.stopped);
                assert_int_equal(r.steps, at);
                const eg_time_point point = first.point;
                again.resume = &point;
                first.stop_at = -1;
                TEST_OK(ctx, run_stopped(ctx, &first, &again, &r));
                assert_int_equal(r.steps_before, at);
                assert_int_equal(r.steps, all.steps);
                assert_true(r.time == all.time && !r.stopped);
                assert_true(r.dt_least == all.dt_least && r.dt_most == all.dt_most);
                assert_memory_equal(first.o.current, whole.o.current, 2 * sizeof(double));
                assert_memory_equal(first.o.time, whole.o.time, (size_t)all.steps * sizeof(double));
            }
        }
    }
    test_context_free(&ctx);
}

static void test_resume__with_another_step_or_end_goes_on_from_where_it_was(void **state)
{
    (void)state;
    const struct {
        double dt, end;
        int64_t steps;
    } rows[] = {{0.05, 2.0, 20}, {0.1, 3.0, 20}, {0.3, 2.0, 4}, {0.1, 1.05, 1}, {0.1, 1.0, 0}};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        stopped s = pendulum_new(0);
        eg_time_result r;
        TEST_OK(ctx, run_stopped(ctx, &s, &(eg_time_options){.end = 1.0, .dt = 0.1}, &r));
        const eg_time_point point = s.point;
        const eg_time_options again = {.end = rows[i].end, .dt = rows[i].dt, .resume = &point};
        TEST_OK(ctx, run_stopped(ctx, &s, &again, &r));
        assert_int_equal(r.steps, 10 + rows[i].steps);
        assert_true(r.time == rows[i].end);
        if (rows[i].steps > 0)
            assert_close(s.o.time[10] - s.o.time[9], s.o.dt[10], 1e-12,
                         "the first step from there");
    }
    test_context_free(&ctx);
}

static void test_resume__at_the_end_has_no_steps_to_plan(void **state)
{
    (void)state;
    const double lengths[] = {0.1, 0.3, 1e-20};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(lengths); i++) {
        stopped s = pendulum_new(0);
        eg_time_result r;
        eg_time_options options = {.end = 1.0, .dt = 0.1, .steps_max = 10};
        TEST_OK(ctx, run_stopped(ctx, &s, &options, &r));
        assert_int_equal(r.steps, 10);
        const eg_time_point point = s.point;
        options.resume = &point;
        options.dt = lengths[i];
        TEST_OK(ctx, run_stopped(ctx, &s, &options, &r));
        assert_int_equal(r.steps, 10);
        assert_true(r.time == 1.0 && !r.stopped);
    }
    test_context_free(&ctx);
}

static void test_stops__are_met_exactly_by_cfl_steps_that_are_no_slivers(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    stopped s = pendulum_new(0.25);
    eg_time_result r;
    TEST_OK(ctx, run_stopped(ctx, &s, &(eg_time_options){.end = 2.1, .cfl = 0.9}, &r));
    int met = 0;
    double sum = 0;
    for (int64_t i = 0; i < s.o.steps; i++) {
        sum += s.o.dt[i];
        for (int k = 1; k <= 8; k++)
            met += s.o.time[i] == 0.25 * k;
        assert_true(s.o.dt[i] > 0.3 * 0.9 * 0.007);
    }
    assert_int_equal(met, 8);
    assert_close(sum, 2.1, 1e-13, "the sum of all steps");
    /* Fixed steps are as long as they are. */
    s = pendulum_new(0.25);
    TEST_OK(ctx, run_stopped(ctx, &s, &(eg_time_options){.end = 2.1, .dt = 0.07}, &r));
    assert_int_equal(r.steps, 30);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resume__makes_the_steps_of_a_loop_that_was_not_interrupted),
        cmocka_unit_test(test_resume__with_another_step_or_end_goes_on_from_where_it_was),
        cmocka_unit_test(test_resume__at_the_end_has_no_steps_to_plan),
        cmocka_unit_test(test_stops__are_met_exactly_by_cfl_steps_that_are_no_slivers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
