/* The loop over steps: it meets the end in the steps that are asked for, and says why where it cannot. */
#include "unit/ode.h"

static void test_run__fixed_steps_meet_the_end_without_drift(void **state)
{
    (void)state;
    static const struct {
        double start, end, dt;
        int64_t steps;
        bool whole;
    } rows[] = {
        {0.0, 2.0, 0.001, 2000, true},
        {0.0, 0.3, 0.1, 3, true},
        {0.1, 0.7, 0.2, 3, true},
        {-1.0, 0.0, 0.1, 10, true},
        {-0.3, 0.4, 0.1, 7, true},
        {0.0, 1.0, 1.0, 1, true},
        /* Whole to 1e-9, and not quite. */
        {0.0, 1.0, (1.0 + 2e-10) / 3.0, 3, true},
        {0.0, 1.0, (1.0 - 2e-10) / 3.0, 3, true},
        {0.0, 1.0, (1.0 - 1e-6) / 3.0, 4, false},
        {0.0, 1.0, (1.0 + 1e-6) / 3.0, 3, false},
        /* The rounding of times counts, too: a step is one part in 1e9 of them. */
        {1e6, 1e6 + 0.1, 0.001, 100, true},
        {-1e6, -1e6 + 0.1, 0.001, 100, true},
        {0.0, 1.0, 0.3, 4, false},
        {1.0, 2.0, 0.6, 2, false},
        /* Steps that are longer than the run. */
        {1.0, 2.0, 5.0, 1, true},
        {1.0, 2.0, 1.5, 1, true},
        {1.0, 2.0, 1e300, 1, true},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        const eg_time_options options = {
            .start = rows[i].start, .end = rows[i].end, .dt = rows[i].dt};
        ode o = {.size = 1};
        eg_time_result r;
        TEST_OK(ctx, run(ctx, &o, &options, &r));
        assert_int_equal(r.steps, rows[i].steps);
        assert_run(&o, &options, &r);
        if (rows[i].whole) {
            assert_true(r.dt_least == r.dt_most);
            assert_close(r.dt_least * (double)r.steps, options.end - options.start,
                         3e-16 * (options.end - options.start), "all steps");
        } else {
            assert_true(r.dt_most == options.dt);
            assert_true(o.dt[r.steps - 1] == r.dt_least && r.dt_least < r.dt_most);
        }
        for (int64_t n = 1; n < r.steps; n++)
            assert_true(o.time[n - 1] == options.start + (double)n * r.dt_most);
        assert_int_equal(o.questions, 0);
    }
    test_context_free(&ctx);
}

static void test_run__without_time_to_pass_takes_no_steps(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int cfl = 0; cfl < 2; cfl++) {
        const eg_time_options options = {
            .start = 1.0, .end = 1.0, .dt = cfl ? 0.0 : 0.1, .cfl = cfl ? 0.5 : 0.0};
        ode o = {.size = 1, .stable = varied_stable};
        eg_time_result r;
        TEST_OK(ctx, run(ctx, &o, &options, &r));
        assert_int_equal(r.steps, 0);
        assert_int_equal(o.stages, 0);
        assert_true(r.time == 1.0 && r.dt_least == 0.0 && r.dt_most == 0.0);
    }
    test_context_free(&ctx);
}

static void test_run__cfl_asks_for_the_stable_step_before_every_step(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_time_options options = {.start = 1.0, .end = 4.0, .cfl = 0.125};
    ode o = {.size = 1, .stable = varied_stable};
    eg_time_result r;
    double time = options.start;
    TEST_OK(ctx, run(ctx, &o, &options, &r));
    assert_run(&o, &options, &r);
    assert_int_equal(o.questions, r.steps);
    for (int64_t i = 0; i < r.steps; i++) {
        const double dt = options.cfl * varied_stable(time);
        assert_true(o.asked[i] == time);
        /* The last two share what is left. */
        assert_true(i + 2 < r.steps ? o.dt[i] == dt : o.dt[i] <= dt);
        time = o.time[i];
    }
    test_context_free(&ctx);
}

static double tenth(double t)
{
    (void)t;
    return 0.1;
}

static void test_run__cfl_steps_do_not_drift(void **state)
{
    (void)state;
    static const double starts[] = {0.0, -0.7, 1e4, 4e4, 123456.7, 3e5, 1e6};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(starts); i++) {
        for (int64_t steps = 2; steps <= 2000; steps *= 10) {
            const eg_time_options options = {
                .start = starts[i], .end = starts[i] + 1e-3 * (double)steps, .cfl = 0.01};
            ode o = {.size = 1, .stable = tenth};
            eg_time_result r;
            TEST_OK(ctx, run(ctx, &o, &options, &r));
            assert_run(&o, &options, &r);
            assert_int_equal(r.steps, steps);
            for (int64_t n = 1; n <= steps; n++)
                assert_close(o.time[n - 1], options.start + 1e-3 * (double)n,
                             2.5e-16 * fmax(fabs(options.start), fabs(options.end)), "time");
        }
    }
    test_context_free(&ctx);
}

static void test_run__cfl_leaves_no_sliver_of_a_step(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int digits = 2; digits <= 8; digits++) {
        const eg_time_options options = {.end = 1.0 + pow(10.0, -digits), .cfl = 1.0};
        ode o = {.size = 1, .stable = tenth};
        eg_time_result r;
        TEST_OK(ctx, run(ctx, &o, &options, &r));
        assert_run(&o, &options, &r);
        assert_int_equal(r.steps, 11);
        assert_true(r.dt_least >= 0.05 && r.dt_most == 0.1);
    }
    test_context_free(&ctx);
}

/* Between stops, as few as the stable step allows. */
static void test_run__even_cfl_steps_are_equally_long_between_stops(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_time_options options = {.end = 1.0, .cfl = 1.0};
    ode o = {.size = 1, .stable = tenth, .even = true, .stops = 0.35};
    eg_time_result r;
    TEST_OK(ctx, run(ctx, &o, &options, &r));
    assert_run(&o, &options, &r);
    assert_int_equal(r.steps, 4 + 4 + 3);
    for (int i = 0; i < 11; i++)
        assert_close(o.dt[i], i < 8 ? 0.35 / 4 : 0.1, 1e-15, "a step");
    test_context_free(&ctx);
}

static double not_a_number(double t)
{
    return t < 0.25 ? 0.1 : NAN;
}

static double infinite(double t)
{
    return t < 0.25 ? 0.1 : INFINITY;
}

static double zero(double t)
{
    return t < 0.25 ? 0.1 : 0.0;
}

static double negative(double t)
{
    return t < 0.25 ? 0.1 : -1.0;
}

static double minute(double t)
{
    return t < 0.25 ? 0.1 : 1e-15;
}

static void test_run__a_stable_step_that_is_none_fails_with_time_and_step(void **state)
{
    (void)state;
    const struct {
        double (*stable)(double t);
        const char *what, *hint;
    } rows[] = {{not_a_number, "stable step is nan", "no longer finite"},
                {infinite, "stable step is inf", "If nothing moves"},
                {zero, "stable step is 0", "elements of no size"},
                {negative, "stable step is -1", "elements of no size"},
                {minute, "dt = 1e-15: too small to be told from rounding", "without bound"}};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        const eg_time_options options = {.end = 1.0, .cfl = 1.0};
        ode o = {.size = 1, .stable = rows[i].stable};
        eg_time_result r;
        TEST_FAILS(ctx, EG_ERROR_NUMERIC, rows[i].what, run(ctx, &o, &options, &r));
        assert_non_null(strstr(eg_context_error(ctx), "at time 0.3, after 3 steps"));
        assert_non_null(strstr(eg_context_error(ctx), rows[i].hint));
        assert_int_equal(r.steps, 3);
        assert_close(r.time, 0.3, 1e-15, "time of the failure");
    }
    test_context_free(&ctx);
}

static void test_run__fixed_steps_below_rounding_fail_at_once(void **state)
{
    (void)state;
    static const double dts[] = {1e-16, 1e-300, 5e-324};
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(dts); i++) {
        const eg_time_options options = {.end = 1.0, .dt = dts[i]};
        ode o = {.size = 1};
        eg_time_result r;
        TEST_FAILS(ctx, EG_ERROR_NUMERIC, "too small", run(ctx, &o, &options, &r));
        assert_int_equal(o.stages, 0);
    }
    /* Short ones above it are not taken for such. */
    const eg_time_options options = {.end = 1.0, .dt = 1e-14, .steps_max = 1};
    ode o = {.size = 1};
    eg_time_result r;
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "there are 100000000000000 steps",
               run(ctx, &o, &options, &r));
    test_context_free(&ctx);
}

static void test_run__a_cfl_number_needs_a_stable_step(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_time_options options = {.end = 1.0, .cfl = 0.5};
    ode o = {.size = 1};
    eg_time_result r;
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "give time.dt", run(ctx, &o, &options, &r));
    assert_int_equal(o.stages, 0);
    test_context_free(&ctx);
}

static void test_run__no_more_steps_than_allowed_are_taken(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int cfl = 0; cfl < 2; cfl++) {
        eg_time_options options = {.end = 1.0, .steps_max = 10};
        *(cfl ? &options.cfl : &options.dt) = cfl ? 1.0 : 0.1;
        ode enough = {.size = 1, .stable = tenth}, few = enough;
        eg_time_result r;
        TEST_OK(ctx, run(ctx, &enough, &options, &r));
        assert_int_equal(r.steps, 10);
        options.steps_max = 9;
        TEST_FAILS(ctx, EG_ERROR_NUMERIC, "max_steps", run(ctx, &few, &options, &r));
        /* Fixed steps are counted beforehand. */
        assert_non_null(strstr(eg_context_error(ctx), cfl ? "at time 0.9 of 1 the 9 steps"
                                                          : "there are 10 steps of dt = 0.1"));
        assert_int_equal(r.steps, cfl ? 9 : 0);
        assert_int_equal(few.steps, r.steps);
    }
    test_context_free(&ctx);
}

static void test_run__failures_of_the_system_pass_through(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_time_options options = {.scheme = EG_TIME_SSP_RK2, .end = 1.0, .cfl = 1.0};
    const struct {
        int64_t stage, question, step;
        eg_status status;
        const char *message;
        int64_t steps; /* done by then */
    } rows[] = {{6, 0, 0, EG_ERROR_DEVICE_LOST, "the stage failed", 2},
                {0, 3, 0, EG_ERROR_COMM, "the question failed", 2},
                {0, 0, 3, EG_ERROR_IO, "the output failed", 3}};
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        ode o = {.size = 1,
                 .stable = tenth,
                 .fail_stage = rows[i].stage,
                 .fail_question = rows[i].question,
                 .fail_step = rows[i].step};
        eg_time_result r;
        assert_int_equal(run(ctx, &o, &options, &r), rows[i].status);
        assert_string_equal(eg_context_error(ctx), rows[i].message);
        assert_int_equal(r.steps, rows[i].steps);
        assert_close(r.time, 0.1 * (double)r.steps, 1e-15, "time of the failure");
    }
    test_context_free(&ctx);
}

static void test_run__a_system_may_do_without_step_done(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    ode o = {.size = 1};
    eg_time_system system = system_of(&o);
    eg_time_result r;
    system.step_done = NULL;
    TEST_OK(ctx, eg_time_run(ctx, &(eg_time_options){.end = 1.0, .dt = 0.25}, &system, &r));
    assert_int_equal(r.steps, 4);
    assert_int_equal(o.stages, 4);
    test_context_free(&ctx);
}

/* --- what is lost ------------------------------------------------------------------------------ */

/* An ode that is lost from some step on. */
typedef struct watched {
    ode o; /* the first member: what the other functions take for an ode */
    int64_t lost_at;
    const char *advice;
    int64_t looks;
} watched;

static eg_status look(void *user, const eg_time_point *point, eg_time_verdict *verdict)
{
    watched *w = user;
    assert_int_equal(point->step, w->o.steps);
    assert_int_equal(point->step, w->looks++);
    assert_false(verdict->stop || verdict->lost || verdict->advice);
    if (w->o.steps >= w->lost_at) verdict->lost = "rho is not finite";
    verdict->advice = w->advice;
    return EG_OK;
}

static eg_status run_watched(eg_context *ctx, watched *w, const eg_time_options *options,
                             eg_time_result *out)
{
    eg_time_system system = system_of(&w->o);
    system.watch = look;
    return eg_time_run(ctx, options, &system, out);
}

static void test_run__is_looked_at_at_the_start_and_after_every_step(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    watched w = {.o = {.size = 1}, .lost_at = INT64_MAX};
    eg_time_result r;
    TEST_OK(ctx, run_watched(ctx, &w, &(eg_time_options){.end = 1.0, .dt = 0.01}, &r));
    assert_int_equal(w.looks, 101);
    test_context_free(&ctx);
}

static void test_run__a_lost_solution_fails_with_time_steps_and_what_to_do(void **state)
{
    (void)state;
    const struct {
        int64_t lost_at;
        double dt, cfl;
        double (*stable)(double);
        const char *parts[3];
    } rows[] = {
        {0, 0.25, 0, NULL, {"at the start, at time 2, rho is not finite", "expressions", "rho"}},
        {3,
         0.25,
         0,
         NULL,
         {"at time 2.75, after 3 steps, rho is not", "time.dt = 0.25 may", "expressions"}},
        {3,
         0.25,
         0,
         tenth,
         {"at time 2.75, after 3 steps", "is 2.5 times the step of CFL number 1", "time.cfl"}},
        {3, 0, 2.5, tenth, {"at time 2.75, after 3 steps", "time.cfl = 2.5 may", "half"}},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        watched w = {.o = {.size = 1, .stable = rows[i].stable}, .lost_at = rows[i].lost_at};
        const eg_time_options options = {
            .start = 2.0, .end = 4.0, .dt = rows[i].dt, .cfl = rows[i].cfl};
        eg_time_result r;
        for (int k = 0; k < 4; k++) {
            watched again = w;
            again.advice = k == 3 ? "The last step was good" : NULL;
            TEST_FAILS(ctx, EG_ERROR_NUMERIC,
                       k == 3 ? ". The last step was good" : rows[i].parts[k],
                       run_watched(ctx, &again, &options, &r));
            assert_int_equal(r.steps, rows[i].lost_at);
        }
    }
    test_context_free(&ctx);
}

/* --- progress --------------------------------------------------------------------------------- */

typedef struct shown {
    int count;
    eg_progress at[16];
} shown;

static void show(void *user, const eg_progress *progress)
{
    shown *s = user;
    assert_true((size_t)s->count < EG_COUNT(s->at));
    s->at[s->count++] = *progress;
}

static void test_run__progress_need_not_be_shown(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_time_options options = {.end = 1.0, .dt = 0.25};
    ode o = {.size = 1, .nap_us = 150000};
    eg_time_result r;
    TEST_OK(ctx, run(ctx, &o, &options, &r));
    assert_true(r.steps == 4 && r.wall_s >= 0.6 - 1e-9);
    test_context_free(&ctx);
}

static void test_run__progress_is_shown_at_most_twice_a_second(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int cfl = 0; cfl < 2; cfl++) {
        shown s = {0};
        eg_time_options options = {.start = 1.0, .end = 2.0, .progress = show, .progress_user = &s};
        *(cfl ? &options.cfl : &options.dt) = cfl ? 0.2 : 0.02;
        ode o = {.size = 1, .stable = tenth, .nap_us = 24000};
        eg_time_result r;
        TEST_OK(ctx, run(ctx, &o, &options, &r));
        assert_int_equal(r.steps, 50);
        assert_true(s.count >= 1 && 0.5 * s.count <= r.wall_s);
        for (int i = 0; i < s.count; i++) {
            const eg_progress *p = &s.at[i];
            assert_true(p->wall_s - (i > 0 ? s.at[i - 1].wall_s : 0.0) >= 0.5 - 1e-9);
            assert_true(p->step >= 1 && p->time == o.time[p->step - 1]);
            assert_int_equal(p->steps, 50);
            assert_true(p->end == 2.0 && p->dt == o.dt[p->step - 1]);
            assert_close(p->rate * p->wall_s, (double)p->step, 1e-9, "steps at this rate");
            assert_close(p->left_s * p->rate, (double)(50 - p->step), 1e-9, "steps left");
        }
    }
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_run__fixed_steps_meet_the_end_without_drift),
        cmocka_unit_test(test_run__without_time_to_pass_takes_no_steps),
        cmocka_unit_test(test_run__cfl_asks_for_the_stable_step_before_every_step),
        cmocka_unit_test(test_run__cfl_steps_do_not_drift),
        cmocka_unit_test(test_run__cfl_leaves_no_sliver_of_a_step),
        cmocka_unit_test(test_run__even_cfl_steps_are_equally_long_between_stops),
        cmocka_unit_test(test_run__a_stable_step_that_is_none_fails_with_time_and_step),
        cmocka_unit_test(test_run__fixed_steps_below_rounding_fail_at_once),
        cmocka_unit_test(test_run__a_cfl_number_needs_a_stable_step),
        cmocka_unit_test(test_run__no_more_steps_than_allowed_are_taken),
        cmocka_unit_test(test_run__failures_of_the_system_pass_through),
        cmocka_unit_test(test_run__a_system_may_do_without_step_done),
        cmocka_unit_test(test_run__is_looked_at_at_the_start_and_after_every_step),
        cmocka_unit_test(test_run__a_lost_solution_fails_with_time_steps_and_what_to_do),
        cmocka_unit_test(test_run__progress_need_not_be_shown),
        cmocka_unit_test(test_run__progress_is_shown_at_most_twice_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
