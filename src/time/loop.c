/* The loop over the steps of a run, of a fixed length or from a CFL number.
 *
 * Rounding does not add up over the steps: step n of a fixed length ends at start + n·dt, and what
 * rounding cuts off the sum of other steps is carried on to the next [kahan1965]. `end` is met
 * exactly, and the lengths of all steps add up to end - start. */
#include "time/time.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

/* The part of a step by which `end` may be missed and the step still be stretched to it. */
#define STRETCH 1e-9

/* Seconds between two calls for progress. */
#define PROGRESS_S 0.5

typedef struct loop {
    eg_context *ctx;                /* not owned */
    const eg_time_options *options; /* not owned */
    const eg_time_system *system;   /* not owned */
    eg_time_result *result;         /* not owned; how far the loop has come */
    double rounding;                /* of times */
    int64_t steps;                  /* fixed: all steps from start to end */
    double dt, last_dt;             /* fixed: all steps but the last, and the last */
    int64_t base_step;              /* fixed: steps are counted from here, … */
    double base_time;               /* … where the time was this */
    double behind;                  /* CFL: by how much the time is below the sum of its steps */
    double made_dt;                 /* of the step before */
    double shown_s;                 /* on the clock, when progress was last shown */
} loop;

/* Of times between start and end, and of their differences. */
static double rounding_of(const eg_time_options *o)
{
    return 4.0 * DBL_EPSILON * fmax(fabs(o->start), fabs(o->end));
}

/* Whether a step can be told from rounding. */
static bool is_step(double dt, double rounding)
{
    return dt > 4.0 * rounding;
}

/* How many fixed steps there are from `start`, of which *equal says whether all have the same length;
 * else the last is shorter. */
static int64_t count_fixed(const eg_time_options *o, double start, bool *equal)
{
    const double ratio = (o->end - start) / o->dt, whole = round(ratio);
    *equal = fabs(ratio - whole) <= STRETCH + rounding_of(o) / o->dt;
    if (!*equal) return (int64_t)ceil(ratio);
    return whole < 1.0 ? 1 : (int64_t)whole;
}

bool eg_time_count_steps(const eg_time_options *o, int64_t *steps)
{
    *steps = 0;
    if (!is_step(o->dt, rounding_of(o))) return false;
    *steps = count_fixed(o, o->start, &(bool){false});
    return true;
}

static eg_status check_dt(const loop *l, double dt)
{
    if (is_step(dt, l->rounding)) return EG_OK;
    return eg_fail(
        l->ctx, EG_ERROR_NUMERIC,
        "at time %.9g, after %lld steps, the step is dt = %.3g: too small to be told from "
        "rounding. If it comes from a CFL number, look for a solution that grows without "
        "bound or for elements of no size",
        l->result->time, (long long)l->result->steps, dt);
}

static eg_status fail_at_limit(const loop *l)
{
    const eg_time_options *o = l->options;
    if (l->steps > 0)
        return eg_fail(l->ctx, EG_ERROR_NUMERIC,
                       "from time %.9g to %.9g there are %lld steps of dt = %.9g, but no more than "
                       "%lld are allowed (time.max_steps)",
                       o->start, o->end, (long long)l->steps, l->dt, (long long)o->steps_max);
    return eg_fail(
        l->ctx, EG_ERROR_NUMERIC,
        "at time %.9g of %.9g the %lld steps that are allowed (time.max_steps) are used up; "
        "they were between %.3g and %.3g long",
        l->result->time, o->end, (long long)o->steps_max, l->result->dt_least, l->result->dt_most);
}

/* Steps of the lengths that are planned from this time on. */
static void plan_from(loop *l, int64_t step, double time)
{
    const eg_time_options *o = l->options;
    bool equal;
    const int64_t count = count_fixed(o, time, &equal);
    l->base_step = step;
    l->base_time = time;
    l->steps = step + count;
    l->dt = equal ? (o->end - time) / (double)count : o->dt;
    l->last_dt = equal ? l->dt : o->end - (time + (double)(count - 1) * l->dt);
}

/* The number and lengths of the fixed steps. A run that is resumed goes on with those it has begun
 * with, if they lead to where it is; else (dt or the end is another now) with new ones from there. */
static eg_status plan_fixed(loop *l)
{
    eg_status status = EG_OK;
    const eg_time_options *o = l->options;
    const eg_time_result *r = l->result;
    if (r->time >= o->end) return EG_OK; /* there is nothing left to do */
    EG_TRY(check_dt(l, o->dt));
    plan_from(l, 0, o->start);
    if (r->steps > 0 && (r->steps >= l->steps || r->time != o->start + (double)r->steps * l->dt))
        plan_from(l, r->steps, r->time);
    if (o->steps_max > 0 && l->steps > o->steps_max) EG_TRY(fail_at_limit(l));
done:
    return status;
}

/* The length of the next step from the CFL number, and the time at its end. The last two steps before
 * the end or another stop (or all, if the system wants them even) are equally long where the stable step
 * stays as it is, so that no sliver is left for the last. */
static eg_status next_stable(loop *l, double *dt, double *next)
{
    eg_status status = EG_OK;
    const eg_time_options *o = l->options;
    const double time = l->result->time;
    double target = o->end, stable = NAN;
    if (o->steps_max > 0 && l->result->steps >= o->steps_max) EG_TRY(fail_at_limit(l));
    EG_TRY(l->system->stable_dt(l->system->user, time, &stable));
    *dt = o->cfl * stable;
    if (!isfinite(*dt) || *dt <= 0.0)
        EG_TRY(eg_fail(l->ctx, EG_ERROR_NUMERIC,
                       "at time %.9g, after %lld steps, the largest stable step is %g, and a CFL "
                       "number of %g makes no step of it. %s",
                       time, (long long)l->result->steps, stable, o->cfl,
                       stable > 0.0
                           ? "If nothing moves, give time.dt"
                           : "The solution is no longer finite, or the mesh has elements of "
                             "no size"));
    EG_TRY(check_dt(l, *dt));
    if (l->system->next_stop) target = fmin(target, l->system->next_stop(l->system->user, time));
    /* A stop that rounding has put here is passed. */
    if (!is_step(target - time, l->rounding)) target = o->end;
    const double rest = (target - time) - l->behind;
    if (rest <= *dt * (1.0 + STRETCH) + l->rounding) {
        *dt = rest;
        *next = target;
        l->behind = 0.0;
    } else {
        *dt = l->system->even ? rest / ceil(rest / *dt - STRETCH) : fmin(*dt, 0.5 * rest);
        const double step = *dt + l->behind;
        *next = time + step;
        l->behind = step - (*next - time);
    }
done:
    return status;
}

static void next_fixed(const loop *l, double *dt, double *next)
{
    const int64_t step = l->result->steps + 1;
    const bool last = step == l->steps;
    *dt = last ? l->last_dt : l->dt;
    *next = last ? l->options->end : l->base_time + (double)(step - l->base_step) * l->dt;
}

static eg_status take_step(loop *l, double dt, double next)
{
    eg_status status = EG_OK;
    const eg_time_system *system = l->system;
    eg_time_result *r = l->result;
    eg_stage stages[EG_STAGES_MAX];
    const int count = eg_time_stages(l->options->scheme, r->time, dt, stages);
    if (system->step) EG_TRY(system->step(system->user, stages, count));
    for (int i = 0; !system->step && i < count; i++)
        EG_TRY(system->stage(system->user, &stages[i]));
    r->steps++;
    r->time = next;
    l->made_dt = dt;
    r->dt_least = r->steps == 1 ? dt : fmin(dt, r->dt_least);
    r->dt_most = fmax(dt, r->dt_most);
    if (system->step_done) EG_TRY(system->step_done(system->user, r->steps, next, dt));
done:
    return status;
}

#define EXPRESSIONS                                                                                \
    "look for divisions by zero, overflow, and roots and logarithms of negative numbers in the "   \
    "case's expressions"

/* Says what to do about a solution that is lost. */
static eg_status fail_lost(const loop *l, const eg_time_verdict *verdict)
{
    const eg_time_options *o = l->options;
    const eg_time_result *r = l->result;
    const char *advice = verdict->advice ? verdict->advice : "", *gap = verdict->advice ? ". " : "";
    double stable = NAN;
    char hint[160];
    if (r->steps == 0)
        return eg_fail(l->ctx, EG_ERROR_NUMERIC,
                       "at the start, at time %.9g, %s: " EXPRESSIONS "%s%s", r->time,
                       verdict->lost, gap, advice);
    if (o->dt > 0.0 && l->system->stable_dt)
        (void)l->system->stable_dt(l->system->user, r->time, &stable);
    if (o->dt == 0.0)
        snprintf(hint, sizeof hint, "time.cfl = %g may be too large: try half of it", o->cfl);
    else if (isfinite(stable) && stable > 0.0)
        snprintf(hint, sizeof hint,
                 "time.dt = %g is %.3g times the step of CFL number 1: try a smaller one, or "
                 "time.cfl = 0.5",
                 o->dt, o->dt / stable);
    else
        snprintf(hint, sizeof hint, "time.dt = %g may be too large: try half of it", o->dt);
    return eg_fail(l->ctx, EG_ERROR_NUMERIC,
                   "at time %.9g, after %lld steps, %s. %s. If it is not the steps, " EXPRESSIONS
                   "%s%s",
                   r->time, (long long)r->steps, verdict->lost, hint, gap, advice);
}

/* Has the solution looked at: at the start and after each step. */
static eg_status watch(loop *l)
{
    eg_status status = EG_OK;
    const eg_time_system *system = l->system;
    eg_time_result *r = l->result;
    const eg_time_point point = {.step = r->steps,
                                 .time = r->time,
                                 .behind = l->behind,
                                 .dt = l->made_dt,
                                 .dt_least = r->dt_least,
                                 .dt_most = r->dt_most};
    eg_time_verdict verdict = {0};
    if (!system->watch) return EG_OK;
    EG_TRY(system->watch(system->user, &point, &verdict));
    if (verdict.lost) EG_TRY(fail_lost(l, &verdict));
    r->stopped = verdict.stop && r->time < l->options->end;
done:
    return status;
}

static void show_progress(loop *l, double start_s, double dt)
{
    const eg_time_options *o = l->options;
    const eg_time_result *r = l->result;
    if (!o->progress) return;
    const double now = eg_wall_seconds();
    if (now - l->shown_s < PROGRESS_S) return;
    l->shown_s = now;
    /* The last step of a CFL number may be short, but then there are no more. */
    const double more = ceil((o->end - r->time) / dt - STRETCH);
    const double rate = (double)(r->steps - r->steps_before) / (now - start_s);
    o->progress(o->progress_user,
                &(eg_progress){.step = r->steps,
                               .steps = l->steps > 0 ? l->steps : r->steps + (int64_t)more,
                               .time = r->time,
                               .end = o->end,
                               .dt = dt,
                               .wall_s = now - start_s,
                               .rate = rate,
                               .left_s = more / rate});
}

static void resume(loop *l, const eg_time_point *point)
{
    eg_time_result *r = l->result;
    r->steps = r->steps_before = point->step;
    r->time = point->time;
    r->dt_least = point->dt_least;
    r->dt_most = point->dt_most;
    l->behind = point->behind;
    l->made_dt = point->dt;
}

eg_status eg_time_run(eg_context *ctx, const eg_time_options *options, const eg_time_system *system,
                      eg_time_result *out)
{
    eg_status status = EG_OK;
    const double start_s = eg_wall_seconds();
    const bool fixed = options->dt != 0.0;
    assert(isfinite(options->end - options->start) && options->end >= options->start);
    assert(fixed ? options->dt > 0.0 : options->cfl > 0.0);
    *out = (eg_time_result){.time = options->start};
    loop l = {.ctx = ctx,
              .options = options,
              .system = system,
              .result = out,
              .rounding = rounding_of(options),
              .shown_s = start_s};
    if (options->resume) resume(&l, options->resume);
    if (!fixed && !system->stable_dt)
        EG_TRY(eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "a CFL number was given, but the largest stable step of this model is not "
                       "known: give time.dt"));
    if (fixed) EG_TRY(plan_fixed(&l));
    EG_TRY(watch(&l));
    while (out->time < options->end && !out->stopped) {
        double dt, next;
        if (fixed)
            next_fixed(&l, &dt, &next);
        else
            EG_TRY(next_stable(&l, &dt, &next));
        EG_TRY(take_step(&l, dt, next));
        EG_TRY(watch(&l));
        show_progress(&l, start_s, dt);
    }
done:
    out->wall_s = eg_wall_seconds() - start_s;
    return status;
}
