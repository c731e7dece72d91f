/* Schemes in time: they meet their order conditions, in their tableaus and as measured. */
#include "unit/ode.h"

static const eg_time_scheme all_schemes[] = {EG_TIME_EULER, EG_TIME_SSP_RK2, EG_TIME_SSP_RK3,
                                             EG_TIME_LOW_RK4};

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

/* The error at the end of a run over [0.25, 2.25]. */
static double coupled_error(eg_context *ctx, eg_time_scheme scheme, double dt, double cfl)
{
    const eg_time_options options = {
        .scheme = scheme, .start = 0.25, .end = 2.25, .dt = dt, .cfl = cfl};
    ode o = {.size = 2, .rate = coupled_rate, .stable = varied_stable, .low = {NAN, NAN}};
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
        cmocka_unit_test(test_run__allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
