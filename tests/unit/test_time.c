/* Time: the schemes meet their order conditions, in their tableaus and as measured; the loop meets
 * the end in the steps that are asked for. */
#include "test.h"

#include "time/time.h"

#include <math.h>

static const eg_time_scheme all_schemes[] = {EG_TIME_EULER, EG_TIME_SSP_RK2, EG_TIME_SSP_RK3,
                                             EG_TIME_LOW_RK4};

static void assert_close(double value, double expected, double bound, const char *what)
{
    if (!(fabs(value - expected) <= bound))
        fail_msg("%s: %.17g is not %.17g to %.3g", what, value, expected, bound);
}

/* --- tableaus --------------------------------------------------------------------------------- */

/* A scheme as k_i = f(u + dt·Σ_j a_ij k_j), u + dt·Σ_i b_i k_i. */
typedef struct tableau {
    int count;
    double a[EG_STAGES_MAX][EG_STAGES_MAX], b[EG_STAGES_MAX], c[EG_STAGES_MAX];
} tableau;

/* Multiplies out what the stages say: a register is the number of times it holds the first
 * solution, then its weights of dt·k_1, dt·k_2, … */
static tableau tableau_of(eg_time_scheme scheme)
{
    enum { WIDTH = EG_STAGES_MAX + 1 };
    tableau t = {0};
    eg_stage stages[EG_STAGES_MAX];
    double current[WIDTH] = {1.0}, low[WIDTH] = {0};
    t.count = eg_time_stages(scheme, 0.0, 1.0, stages);
    for (int i = 0; i < t.count; i++) {
        const eg_stage *s = &stages[i];
        memcpy(t.a[i], current + 1, sizeof t.a[i]);
        assert_close(current[0], 1.0, 1e-15, "weights of the first solution");
        for (int j = 0; j < WIDTH; j++) {
            const double first = j == 0 ? 1.0 : 0.0, rate = j == i + 1 ? 1.0 : 0.0;
            low[j] = s->A * low[j] + rate;
            current[j] = s->low_storage ? current[j] + s->B * low[j]
                                        : s->a * first + s->b * current[j] + s->c * rate;
        }
    }
    assert_close(current[0], 1.0, 1e-15, "weights of the first solution");
    memcpy(t.b, current + 1, sizeof t.b);
    for (int i = 0; i < t.count; i++)
        for (int j = 0; j < t.count; j++)
            t.c[i] += t.a[i][j];
    return t;
}

/* out_i = Σ_j a_ij x_j; may be x itself. */
static void apply(const tableau *t, const double *x, double *out)
{
    double y[EG_STAGES_MAX] = {0};
    for (int i = 0; i < t->count; i++)
        for (int j = 0; j < t->count; j++)
            y[i] += t->a[i][j] * x[j];
    memcpy(out, y, sizeof y);
}

/* Σ_i b_i x_i y_i z_i */
static double weigh(const tableau *t, const double *x, const double *y, const double *z)
{
    double sum = 0;
    for (int i = 0; i < t->count; i++)
        sum += t->b[i] * x[i] * y[i] * z[i];
    return sum;
}

static void test_schemes__meet_all_order_conditions_up_to_their_order(void **state)
{
    (void)state;
    for (size_t k = 0; k < EG_COUNT(all_schemes); k++) {
        const tableau t = tableau_of(all_schemes[k]);
        double one[EG_STAGES_MAX], ac[EG_STAGES_MAX], acc[EG_STAGES_MAX], aac[EG_STAGES_MAX];
        for (int i = 0; i < EG_STAGES_MAX; i++) {
            one[i] = 1.0;
            acc[i] = t.c[i] * t.c[i];
        }
        apply(&t, t.c, ac);
        apply(&t, acc, acc);
        apply(&t, ac, aac);
        /* One for each rooted tree of up to four vertices. */
        const struct {
            int order;
            const char *what;
            double value, exact;
        } conditions[] = {
            {1, "b", weigh(&t, one, one, one), 1.0},
            {2, "b c", weigh(&t, t.c, one, one), 1.0 / 2},
            {3, "b c c", weigh(&t, t.c, t.c, one), 1.0 / 3},
            {3, "b a c", weigh(&t, ac, one, one), 1.0 / 6},
            {4, "b c c c", weigh(&t, t.c, t.c, t.c), 1.0 / 4},
            {4, "b c a c", weigh(&t, t.c, ac, one), 1.0 / 8},
            {4, "b a c c", weigh(&t, acc, one, one), 1.0 / 12},
            {4, "b a a c", weigh(&t, aac, one, one), 1.0 / 24},
        };
        const int order = eg_time_order(all_schemes[k]);
        bool beyond = false;
        for (size_t i = 0; i < EG_COUNT(conditions); i++) {
            if (conditions[i].order <= order)
                assert_close(conditions[i].value, conditions[i].exact, 4e-16, conditions[i].what);
            else if (fabs(conditions[i].value - conditions[i].exact) > 1e-3)
                beyond = true;
        }
        /* The order is not higher than it says. */
        assert_int_equal(beyond, order < 4);
    }
}

static void test_schemes__stages_stand_at_the_times_of_their_tableaus(void **state)
{
    (void)state;
    const double start = 3.0, dt = 0.125;
    for (size_t k = 0; k < EG_COUNT(all_schemes); k++) {
        const tableau t = tableau_of(all_schemes[k]);
        eg_stage stages[EG_STAGES_MAX];
        assert_int_equal(eg_time_stages(all_schemes[k], start, dt, stages), t.count);
        for (int i = 0; i < t.count; i++) {
            assert_int_equal(stages[i].index, i);
            assert_int_equal(stages[i].count, t.count);
            assert_true(stages[i].dt == dt);
            assert_close(stages[i].time, start + t.c[i] * dt, 5e-16, "time of a stage");
        }
        assert_true(stages[0].time == start);
    }
}

/* The rounding error of a + b. */
static double lost_in_sum(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return (a - (sum - part)) + (b - part);
}

static void test_schemes__strong_stability_is_convex_combinations_of_euler_steps(void **state)
{
    (void)state;
    for (size_t k = 0; k < EG_COUNT(all_schemes); k++) {
        eg_stage stages[EG_STAGES_MAX];
        const int count = eg_time_stages(all_schemes[k], 0.0, 1.0, stages);
        for (int i = 0; i < count; i++) {
            const eg_stage *s = &stages[i];
            assert_int_equal(s->low_storage, all_schemes[k] == EG_TIME_LOW_RK4);
            if (s->low_storage) continue;
            assert_true(s->a >= 0.0 && s->b >= 0.0);
            assert_true(s->a + s->b == 1.0 && lost_in_sum(s->a, s->b) == 0.0);
            assert_true(s->c > 0.0 && s->c <= s->b);
        }
    }
}

static void test_schemes__the_first_stage_reads_one_register(void **state)
{
    (void)state;
    for (size_t k = 0; k < EG_COUNT(all_schemes); k++) {
        eg_stage stages[EG_STAGES_MAX];
        eg_time_stages(all_schemes[k], 0.0, 1.0, stages);
        assert_true(stages[0].a == 0.0 && stages[0].A == 0.0);
        assert_true(stages[0].b == (stages[0].low_storage ? 0.0 : 1.0));
    }
}

/* --- systems ---------------------------------------------------------------------------------- */

enum { SIZE_MOST = 64, STEPS_MOST = 4096 };

/* A system of ordinary differential equations in host memory, and what the loop did with it. */
typedef struct ode {
    eg_context *ctx; /* of failures */
    size_t size;
    void (*rate)(double t, const double *u, double *out); /* NULL: 0 */
    double (*stable)(double t);
    double first[SIZE_MOST], current[SIZE_MOST], low[SIZE_MOST];
    int64_t steps, stages, questions;
    double time[STEPS_MOST], dt[STEPS_MOST];      /* as step_done is told */
    double asked[STEPS_MOST];                     /* at which stable_dt is called */
    int64_t fail_stage, fail_question, fail_step; /* which call fails, from 1; 0: none */
    long nap_us;                                  /* of every step */
} ode;

static eg_status ode_stage(void *user, const eg_stage *s)
{
    ode *o = user;
    double rate[SIZE_MOST] = {0};
    if (++o->stages == o->fail_stage)
        return eg_fail(o->ctx, EG_ERROR_DEVICE_LOST, "the stage failed");
    if (s->index == 0) memcpy(o->first, o->current, sizeof o->first);
    if (o->rate) o->rate(s->time, o->current, rate);
    for (size_t i = 0; i < o->size; i++) {
        if (s->low_storage) {
            o->low[i] = (s->index > 0 ? s->A * o->low[i] : 0.0) + s->dt * rate[i];
            o->current[i] += s->B * o->low[i];
        } else {
            o->current[i] = s->a * o->first[i] + s->b * o->current[i] + s->c * s->dt * rate[i];
        }
    }
    return EG_OK;
}

static eg_status ode_stable_dt(void *user, double t, double *dt)
{
    ode *o = user;
    assert_true(o->questions < STEPS_MOST);
    o->asked[o->questions] = t;
    if (++o->questions == o->fail_question)
        return eg_fail(o->ctx, EG_ERROR_COMM, "the question failed");
    *dt = o->stable(t);
    return EG_OK;
}

static eg_status ode_step_done(void *user, int64_t step, double t, double dt)
{
    ode *o = user;
    assert_true(o->steps < STEPS_MOST);
    o->time[o->steps] = t;
    o->dt[o->steps] = dt;
    assert_int_equal(step, ++o->steps);
    if (o->nap_us) usleep((useconds_t)o->nap_us);
    if (step == o->fail_step) return eg_fail(o->ctx, EG_ERROR_IO, "the output failed");
    return EG_OK;
}

static eg_time_system system_of(ode *o)
{
    return (eg_time_system){.user = o,
                            .stage = ode_stage,
                            .stable_dt = o->stable ? ode_stable_dt : NULL,
                            .step_done = ode_step_done};
}

static eg_status run(eg_context *ctx, ode *o, const eg_time_options *options, eg_time_result *out)
{
    const eg_time_system system = system_of(o);
    o->ctx = ctx;
    return eg_time_run(ctx, options, &system, out);
}

/* What must hold after every run: times rise to the end, the result sums them up. */
static void assert_run(const ode *o, const eg_time_options *options, const eg_time_result *r)
{
    double time = options->start, least = INFINITY, most = 0, sum = 0, lost = 0;
    assert_int_equal(r->steps, o->steps);
    assert_true(r->time == options->end);
    assert_true(o->time[o->steps - 1] == options->end);
    for (int64_t i = 0; i < o->steps; i++) {
        const double ulp = 2.3e-16 * fmax(fabs(time), fabs(o->time[i]));
        assert_true(o->time[i] > time && o->dt[i] > 0.0);
        assert_close(o->dt[i], o->time[i] - time, 4.0 * ulp, "length of a step");
        time = o->time[i];
        lost += lost_in_sum(sum, o->dt[i]);
        sum += o->dt[i];
        least = fmin(least, o->dt[i]);
        most = fmax(most, o->dt[i]);
    }
    assert_true(r->dt_least == least && r->dt_most == most);
    assert_close(sum + lost, options->end - options->start,
                 3e-16 * fmax(fabs(options->start), fabs(options->end)), "sum of steps");
    assert_true(r->wall_s >= 0.0);
}

/* --- measured orders -------------------------------------------------------------------------- */

/* u = exp(sin t), v = 1/(1 + t) solve u' = u cos(t) (1 + t) v, v' = -v² u exp(-sin t). */
static void coupled_exact(double t, double *u)
{
    u[0] = exp(sin(t));
    u[1] = 1.0 / (1.0 + t);
}

static void coupled_rate(double t, const double *u, double *out)
{
    out[0] = u[0] * cos(t) * (1.0 + t) * u[1];
    out[1] = -u[1] * u[1] * u[0] * exp(-sin(t));
}

static double coupled_stable(double t)
{
    return 1.0 + 0.5 * sin(5.0 * t);
}

/* The error at the end of a run over [0.25, 2.25]. */
static double coupled_error(eg_context *ctx, eg_time_scheme scheme, double dt, double cfl)
{
    const eg_time_options options = {
        .scheme = scheme, .start = 0.25, .end = 2.25, .dt = dt, .cfl = cfl};
    ode o = {.size = 2, .rate = coupled_rate, .stable = coupled_stable, .low = {NAN, NAN}};
    double exact[2];
    eg_time_result result;
    coupled_exact(options.start, o.current);
    TEST_OK(ctx, run(ctx, &o, &options, &result));
    assert_run(&o, &options, &result);
    eg_stage stages[EG_STAGES_MAX];
    assert_int_equal(o.stages, o.steps * eg_time_stages(scheme, 0, 1, stages));
    coupled_exact(options.end, exact);
    return hypot(o.current[0] - exact[0], o.current[1] - exact[1]);
}

static void test_run__converges_at_the_order_of_the_scheme(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t k = 0; k < EG_COUNT(all_schemes); k++) {
        const eg_time_scheme scheme = all_schemes[k];
        const double fixed = log2(coupled_error(ctx, scheme, 2.0 / 64, 0) /
                                  coupled_error(ctx, scheme, 2.0 / 128, 0));
        const double varied = log2(coupled_error(ctx, scheme, 0, 2.0 / 64) /
                                   coupled_error(ctx, scheme, 0, 2.0 / 128));
        print_message("%-8s order %d: %.3f with fixed steps, %.3f with varied steps\n",
                      eg_time_scheme_name(scheme), eg_time_order(scheme), fixed, varied);
        assert_close(fixed, eg_time_order(scheme), 0.1, "order with fixed steps");
        assert_close(varied, eg_time_order(scheme), 0.1, "order with varied steps");
    }
    test_context_free(&ctx);
}

/* What the orders 1, 2, 3, 4 integrate exactly. */
static void powers_rate(double t, const double *u, double *out)
{
    (void)u;
    out[0] = 1.0;
    out[1] = 2.0 * t;
    out[2] = 3.0 * t * t;
    out[3] = 4.0 * t * t * t;
}

static void test_run__of_order_p_integrates_powers_of_time_below_p_exactly(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t k = 0; k < EG_COUNT(all_schemes); k++) {
        const eg_time_options options = {
            .scheme = all_schemes[k], .start = 1.0, .end = 3.0, .dt = 0.3};
        ode o = {.size = 4, .rate = powers_rate};
        eg_time_result result;
        TEST_OK(ctx, run(ctx, &o, &options, &result));
        for (int p = 1; p <= eg_time_order(options.scheme); p++)
            assert_close(o.current[p - 1], pow(3.0, p) - 1.0, 1e-13, "integral of a power");
    }
    test_context_free(&ctx);
}

/* Upwind differences on a ring of cells. */
static void upwind_rate(double t, const double *u, double *out)
{
    (void)t;
    for (size_t i = 0; i < SIZE_MOST; i++)
        out[i] = SIZE_MOST * (u[(i + SIZE_MOST - 1) % SIZE_MOST] - u[i]);
}

static double upwind_stable(double t)
{
    (void)t;
    return 1.0 / SIZE_MOST;
}

static void test_run__strong_stability_keeps_bounds_up_to_the_step_of_euler(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t k = 0; k < EG_COUNT(all_schemes); k++) {
        if (all_schemes[k] == EG_TIME_LOW_RK4) continue;
        const eg_time_options options = {.scheme = all_schemes[k], .end = 2.0, .cfl = 1.0};
        ode o = {.size = SIZE_MOST, .rate = upwind_rate, .stable = upwind_stable};
        eg_time_result result;
        double mass = 0;
        for (size_t i = 0; i < SIZE_MOST / 2; i++)
            o.current[i] = 1.0;
        TEST_OK(ctx, run(ctx, &o, &options, &result));
        assert_run(&o, &options, &result);
        assert_int_equal(result.steps, 2 * SIZE_MOST);
        for (size_t i = 0; i < SIZE_MOST; i++) {
            assert_true(o.current[i] >= -1e-15 && o.current[i] <= 1.0 + 1e-14);
            mass += o.current[i];
        }
        assert_close(mass, SIZE_MOST / 2, 1e-13 * SIZE_MOST, "mass");
    }
    test_context_free(&ctx);
}

/* --- the loop --------------------------------------------------------------------------------- */

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
        ode o = {.size = 1, .stable = coupled_stable};
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
    ode o = {.size = 1, .stable = coupled_stable};
    eg_time_result r;
    double time = options.start;
    TEST_OK(ctx, run(ctx, &o, &options, &r));
    assert_run(&o, &options, &r);
    assert_int_equal(o.questions, r.steps);
    for (int64_t i = 0; i < r.steps; i++) {
        const double dt = options.cfl * coupled_stable(time);
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

/* --- what is no longer finite ------------------------------------------------------------------ */

/* An ode that is lost from some step on. */
typedef struct watched {
    ode o; /* the first member: what the other functions take for an ode */
    int64_t lost_at;
    int looks;
    int64_t at[8]; /* steps done at each look */
} watched;

static eg_status find_lost(void *user, const char **lost)
{
    watched *w = user;
    assert_true((size_t)w->looks < EG_COUNT(w->at));
    w->at[w->looks++] = w->o.steps;
    *lost = w->o.steps >= w->lost_at ? "rho" : NULL;
    return EG_OK;
}

static eg_status run_watched(eg_context *ctx, watched *w, const eg_time_options *options,
                             eg_time_result *out)
{
    eg_time_system system = system_of(&w->o);
    system.find_lost = find_lost;
    return eg_time_run(ctx, options, &system, out);
}

static void test_run__looks_for_what_is_lost_at_the_start_now_and_then_and_at_the_end(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    watched w = {.o = {.size = 1}, .lost_at = INT64_MAX};
    eg_time_result r;
    const double steps = 2 * EG_TIME_WATCH + 10;
    TEST_OK(ctx, run_watched(ctx, &w, &(eg_time_options){.end = 1.0, .dt = 1 / steps}, &r));
    assert_int_equal(w.looks, 4);
    const int64_t at[] = {0, EG_TIME_WATCH, 2 * EG_TIME_WATCH, 2 * EG_TIME_WATCH + 10};
    for (int i = 0; i < 4; i++)
        assert_int_equal(w.at[i], at[i]);
    test_context_free(&ctx);
}

static void test_run__a_lost_solution_fails_with_time_steps_and_what_to_do(void **state)
{
    (void)state;
    const struct {
        int64_t lost_at;
        double dt, cfl;
        double (*stable)(double);
        int64_t steps;
        const char *parts[3];
    } rows[] = {
        {0, 0.25, 0, NULL, 0, {"at the start, at time 2, rho is not finite", "expressions", "rho"}},
        {1,
         0.25,
         0,
         NULL,
         8,
         {"at time 4, after 8 steps, rho is no longer", "time.dt = 0.25 may", "expressions"}},
        {1,
         0.25,
         0,
         tenth,
         8,
         {"at time 4, after 8 steps", "is 2.5 times the step of CFL number 1", "time.cfl"}},
        {1, 0, 2.5, tenth, 8, {"at time 4, after 8 steps", "time.cfl = 2.5 may", "half"}},
    };
    eg_context *ctx = test_context();
    for (size_t i = 0; i < EG_COUNT(rows); i++) {
        watched w = {.o = {.size = 1, .stable = rows[i].stable}, .lost_at = rows[i].lost_at};
        const eg_time_options options = {
            .start = 2.0, .end = 4.0, .dt = rows[i].dt, .cfl = rows[i].cfl};
        eg_time_result r;
        for (int k = 0; k < 3; k++) {
            watched again = w;
            TEST_FAILS(ctx, EG_ERROR_NUMERIC, rows[i].parts[k],
                       run_watched(ctx, &again, &options, &r));
            assert_int_equal(r.steps, rows[i].steps);
        }
    }
    /* A run that is long ends soon. */
    watched w = {.o = {.size = 1}, .lost_at = 3};
    eg_time_result r;
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "no longer finite",
               run_watched(ctx, &w, &(eg_time_options){.end = 1.0, .dt = 1e-4}, &r));
    assert_int_equal(r.steps, EG_TIME_WATCH);
    test_context_free(&ctx);
}

static void test_run__allocates_nothing(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t k = 0; k < EG_COUNT(all_schemes); k++) {
        test_allocator_arm(1, true);
        coupled_error(ctx, all_schemes[k], 0.01, 0);
        coupled_error(ctx, all_schemes[k], 0, 0.01);
        assert_int_equal(test_memory.calls, 0);
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
        }
    }
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schemes__meet_all_order_conditions_up_to_their_order),
        cmocka_unit_test(test_schemes__stages_stand_at_the_times_of_their_tableaus),
        cmocka_unit_test(test_schemes__strong_stability_is_convex_combinations_of_euler_steps),
        cmocka_unit_test(test_schemes__the_first_stage_reads_one_register),
        cmocka_unit_test(test_run__converges_at_the_order_of_the_scheme),
        cmocka_unit_test(test_run__of_order_p_integrates_powers_of_time_below_p_exactly),
        cmocka_unit_test(test_run__strong_stability_keeps_bounds_up_to_the_step_of_euler),
        cmocka_unit_test(test_run__fixed_steps_meet_the_end_without_drift),
        cmocka_unit_test(test_run__without_time_to_pass_takes_no_steps),
        cmocka_unit_test(test_run__cfl_asks_for_the_stable_step_before_every_step),
        cmocka_unit_test(test_run__cfl_steps_do_not_drift),
        cmocka_unit_test(test_run__cfl_leaves_no_sliver_of_a_step),
        cmocka_unit_test(test_run__a_stable_step_that_is_none_fails_with_time_and_step),
        cmocka_unit_test(test_run__fixed_steps_below_rounding_fail_at_once),
        cmocka_unit_test(test_run__a_cfl_number_needs_a_stable_step),
        cmocka_unit_test(test_run__no_more_steps_than_allowed_are_taken),
        cmocka_unit_test(test_run__failures_of_the_system_pass_through),
        cmocka_unit_test(test_run__a_system_may_do_without_step_done),
        cmocka_unit_test(test_run__looks_for_what_is_lost_at_the_start_now_and_then_and_at_the_end),
        cmocka_unit_test(test_run__a_lost_solution_fails_with_time_steps_and_what_to_do),
        cmocka_unit_test(test_run__allocates_nothing),
        cmocka_unit_test(test_run__progress_need_not_be_shown),
        cmocka_unit_test(test_run__progress_is_shown_at_most_twice_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
