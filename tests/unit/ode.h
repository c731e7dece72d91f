/* Systems of ordinary differential equations for tests of the loop over steps. */
#ifndef EG_TEST_ODE_H
#define EG_TEST_ODE_H

#include "test.h"

#include "time/time.h"

#include <math.h>

static inline void assert_close(double value, double expected, double bound, const char *what)
{
    if (!(fabs(value - expected) <= bound))
        fail_msg("%s: %.17g is not %.17g to %.3g", what, value, expected, bound);
}

/* The rounding error of a + b. */
static inline double lost_in_sum(double a, double b)
{
    const double sum = a + b, part = sum - a;
    return (a - (sum - part)) + (b - part);
}

enum { SIZE_MOST = 64, STEPS_MOST = 4096 };

/* A system of ordinary differential equations in host memory, and what the loop did with it. */
typedef struct ode {
    eg_context *ctx; /* of failures */
    size_t size;
    void (*rate)(double t, const double *u, double *out); /* NULL: 0 */
    double (*stable)(double t);
    bool even;
    double stops; /* there is one at each multiple of this; 0: none */
    double first[SIZE_MOST], current[SIZE_MOST], low[SIZE_MOST];
    int64_t steps, stages, questions;
    double time[STEPS_MOST], dt[STEPS_MOST];      /* as step_done is told */
    double asked[STEPS_MOST];                     /* at which stable_dt is called */
    int64_t fail_stage, fail_question, fail_step; /* which call fails, from 1; 0: none */
    long nap_us;                                  /* of every step */
} ode;

static inline eg_status ode_stage(void *user, const eg_stage *s)
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

static inline eg_status ode_stable_dt(void *user, double t, double *dt)
{
    ode *o = user;
    assert_true(o->questions < STEPS_MOST);
    o->asked[o->questions] = t;
    if (++o->questions == o->fail_question)
        return eg_fail(o->ctx, EG_ERROR_COMM, "the question failed");
    *dt = o->stable(t);
    return EG_OK;
}

static inline eg_status ode_step_done(void *user, int64_t step, double t, double dt)
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

static inline double ode_next_stop(void *user, double t)
{
    const ode *o = user;
    return o->stops * (floor(t / o->stops + 1e-9) + 1);
}

static inline eg_time_system system_of(ode *o)
{
    return (eg_time_system){.user = o,
                            .stage = ode_stage,
                            .stable_dt = o->stable ? ode_stable_dt : NULL,
                            .even = o->even,
                            .next_stop = o->stops > 0 ? ode_next_stop : NULL,
                            .step_done = ode_step_done};
}

static inline eg_status run(eg_context *ctx, ode *o, const eg_time_options *options,
                            eg_time_result *out)
{
    const eg_time_system system = system_of(o);
    o->ctx = ctx;
    return eg_time_run(ctx, options, &system, out);
}

/* What must hold after every run: times rise to the end, the result sums them up. */
static inline void assert_run(const ode *o, const eg_time_options *options, const eg_time_result *r)
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

/* A stable step that varies. */
static inline double varied_stable(double t)
{
    return 1.0 + 0.5 * sin(5.0 * t);
}

#endif
