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
    double behind;                  /* CFL: by how much the time is below the sum of its steps */
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

/* How many fixed steps there are, of which *equal says whether all have the same length; else the last
 * is shorter. */
static int64_t count_fixed(const eg_time_options *o, bool *equal)
{
    const double ratio = (o->end - o->start) / o->dt, whole = round(ratio);
    *equal = fabs(ratio - whole) <= STRETCH + rounding_of(o) / o->dt;
    if (!*equal) return (int64_t)ceil(ratio);
    return whole < 1.0 ? 1 : (int64_t)whole;
}

bool eg_time_count_steps(const eg_time_options *o, int64_t *steps)
{
    *steps = 0;
    if (!is_step(o->dt, rounding_of(o))) return false;
    *steps = count_fixed(o, &(bool){false});
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

/* The number and lengths of the fixed steps. */
static eg_status plan_fixed(loop *l)
{
    eg_status status = EG_OK;
    const eg_time_options *o = l->options;
    bool equal;
    EG_TRY(check_dt(l, o->dt));
    l->steps = count_fixed(o, &equal);
    if (equal) {
        l->dt = l->last_dt = (o->end - o->start) / (double)l->steps;
    } else {
        l->dt = o->dt;
        l->last_dt = o->end - (o->start + (double)(l->steps - 1) * l->dt);
    }
    if (o->steps_max > 0 && l->steps > o->steps_max) EG_TRY(fail_at_limit(l));
done:
    return status;
}

/* The length of the next step from the CFL number, and the time at its end. The last two steps are
 * equally long where the stable step stays as it is, so that no sliver is left for the last. */
static eg_status next_stable(loop *l, double *dt, double *next)
{
    eg_status status = EG_OK;
    const eg_time_options *o = l->options;
    const double time = l->result->time, rest = (o->end - time) - l->behind;
    double stable = NAN;
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
    if (rest <= *dt * (1.0 + STRETCH) + l->rounding) {
        *dt = rest;
        *next = o->end;
    } else {
        *dt = fmin(*dt, 0.5 * rest);
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
    *next = last ? l->options->end : l->options->start + (double)step * l->dt;
}

static eg_status take_step(const loop *l, double dt, double next)
{
    eg_status status = EG_OK;
    const eg_time_system *system = l->system;
    eg_time_result *r = l->result;
    eg_stage stages[EG_STAGES_MAX];
    const int count = eg_time_stages(l->options->scheme, r->time, dt, stages);
    for (int i = 0; i < count; i++)
        EG_TRY(system->stage(system->user, &stages[i]));
    r->steps++;
    r->time = next;
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
static eg_status fail_lost(const loop *l, const char *lost)
{
    const eg_time_options *o = l->options;
    const eg_time_result *r = l->result;
    double stable = NAN;
    char hint[160];
    if (r->steps == 0)
        return eg_fail(l->ctx, EG_ERROR_NUMERIC,
                       "at the start, at time %.9g, %s is not finite everywhere: " EXPRESSIONS,
                       r->time, lost);
    if (l->steps > 0 && l->system->stable_dt)
        (void)l->system->stable_dt(l->system->user, r->time, &stable);
    if (l->steps == 0)
        snprintf(hint, sizeof hint, "time.cfl = %g may be too large: try half of it", o->cfl);
    else if (isfinite(stable) && stable > 0.0)
        snprintf(hint, sizeof hint,
                 "time.dt = %g is %.3g times the step of CFL number 1: try a smaller one, or "
                 "time.cfl = 0.5",
                 o->dt, o->dt / stable);
    else
        snprintf(hint, sizeof hint, "time.dt = %g may be too large: try half of it", o->dt);
    return eg_fail(l->ctx, EG_ERROR_NUMERIC,
                   "at time %.9g, after %lld steps, %s is no longer finite. %s. If it is not the "
                   "steps, " EXPRESSIONS,
                   r->time, (long long)r->steps, lost, hint);
}

/* Looks for what is not finite: at the start, every so many steps, and behind the last. */
static eg_status watch(const loop *l)
{
    eg_status status = EG_OK;
    const eg_time_system *system = l->system;
    const eg_time_result *r = l->result;
    const char *lost = NULL;
    if (!system->find_lost) return EG_OK;
    if (r->steps % EG_TIME_WATCH != 0 && r->time < l->options->end) return EG_OK;
    EG_TRY(system->find_lost(system->user, &lost));
    if (lost) EG_TRY(fail_lost(l, lost));
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
    o->progress(o->progress_user,
                &(eg_progress){.step = r->steps,
                               .steps = l->steps > 0 ? l->steps : r->steps + (int64_t)more,
                               .time = r->time,
                               .end = o->end,
                               .dt = dt,
                               .wall_s = now - start_s});
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
    if (!fixed && !system->stable_dt)
        EG_TRY(eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "a CFL number was given, but the largest stable step of this model is not "
                       "known: give time.dt"));
    if (fixed) EG_TRY(plan_fixed(&l));
    EG_TRY(watch(&l));
    while (out->time < options->end) {
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
