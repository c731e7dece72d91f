/* The section [time] of a case: from when to when, by which scheme, in which steps. */
#include "time/time.h"

#include <assert.h>
#include <float.h>
#include <math.h>

/* In the order of eg_time_scheme. */
static const char *const schemes[] = {"euler", "ssp-rk2", "ssp-rk3", "rk4", NULL};
_Static_assert(EG_COUNT(schemes) == EG_TIME_LOW_RK4 + 2, "every scheme has a name");

const eg_key eg_time_keys[] = {
    {.section = "time",
     .name = "end",
     .type = EG_KEY_REAL,
     .required = true,
     .help = "The time at which the run ends; it is met exactly.",
     .example = "1.0"},
    {.section = "time",
     .name = "start",
     .type = EG_KEY_REAL,
     .fallback = "0.0",
     .help = "The time at which the run begins and [initial] holds."},
    {.section = "time",
     .name = "dt",
     .type = EG_KEY_REAL,
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The length of a step. The last is shorter if no whole number of them fits between "
             "start and end. Give this or `cfl`.",
     .example = "0.001"},
    {.section = "time",
     .name = "cfl",
     .type = EG_KEY_REAL,
     .least = DBL_MIN,
     .most = INFINITY,
     .help = "The length of each step, as a part of the longest that the model takes for stable at "
             "that time. Halve it if the solution grows without bound. Give this or `dt`.",
     .example = "0.5"},
    {.section = "time",
     .name = "scheme",
     .type = EG_KEY_CHOICE,
     .fallback = "\"rk4\"",
     .choices = schemes,
     .help = "The Runge-Kutta scheme. \"euler\" has order 1 and one stage, \"ssp-rk2\" order 2 and "
             "two, \"ssp-rk3\" order 3 and three, \"rk4\" order 4 and five in little memory. "
             "\"euler\" needs far shorter steps than the others, except with degree 0. All but "
             "\"rk4\" keep bounds that a limiter sets."},
    {.section = "time",
     .name = "max_steps",
     .type = EG_KEY_INTEGER,
     .least = 1,
     .most = 1e15,
     .help = "A run that would take more steps than this fails. Without it there is no limit.",
     .example = "100000"},
    {0}};

const char *eg_time_scheme_name(eg_time_scheme scheme)
{
    assert((size_t)scheme + 1 < EG_COUNT(schemes));
    return schemes[scheme];
}

static eg_status check_finite(const eg_case *cas, const char *key)
{
    if (!eg_case_has(cas, key) || isfinite(eg_case_real(cas, key))) return EG_OK;
    return eg_case_fail(cas, key, -1, "must be finite");
}

/* Whether fixed steps can be told from rounding, and are no more than allowed. */
static eg_status check_steps(const eg_case *cas, const eg_time_options *o)
{
    int64_t steps;
    if (!eg_time_count_steps(o, &steps))
        return eg_case_fail(cas, "time.dt", -1,
                            "steps of %.3g from time %.9g to %.9g are too small to be told from "
                            "rounding",
                            o->dt, o->start, o->end);
    if (o->steps_max > 0 && steps > o->steps_max)
        return eg_case_fail(cas, "time.dt", -1,
                            "from time %.9g to %.9g there are %lld steps of %.9g, but no more than "
                            "%lld are allowed (time.max_steps)",
                            o->start, o->end, (long long)steps, o->dt, (long long)o->steps_max);
    return EG_OK;
}

eg_status eg_time_options_from_case(const eg_case *cas, eg_time_options *out)
{
    eg_status status = EG_OK;
    static const char *const reals[] = {"time.start", "time.end", "time.dt", "time.cfl"};
    bool dt = eg_case_given(cas, "time.dt"), cfl = eg_case_given(cas, "time.cfl");
    /* A replacement of one goes before what the file has of the other. */
    if (dt && cfl && eg_case_replaced(cas, "time.dt") != eg_case_replaced(cas, "time.cfl")) {
        dt = eg_case_replaced(cas, "time.dt");
        cfl = !dt;
    }
    for (size_t i = 0; i < EG_COUNT(reals); i++)
        EG_TRY(check_finite(cas, reals[i]));
    *out = (eg_time_options){.scheme = (eg_time_scheme)eg_case_choice(cas, "time.scheme"),
                             .start = eg_case_real(cas, "time.start"),
                             .end = eg_case_real(cas, "time.end")};
    if (out->end <= out->start)
        EG_TRY(eg_case_fail(cas, "time.end", -1,
                            "the run must end after its start at %g, not at %g", out->start,
                            out->end));
    if (!isfinite(out->end - out->start))
        EG_TRY(eg_case_fail(cas, "time.end", -1, "the time from %g to %g is too long", out->start,
                            out->end));
    if (dt && cfl)
        EG_TRY(eg_case_fail(cas, "time.cfl", -1,
                            "steps are given twice: by time.cfl = %g and by time.dt = %g; give one "
                            "of them",
                            eg_case_real(cas, "time.cfl"), eg_case_real(cas, "time.dt")));
    if (!dt && !cfl)
        EG_TRY(eg_case_fail(cas, "time", -1,
                            "how long are the steps? Give time.dt, the length of a step, or "
                            "time.cfl, the part of the largest stable step"));
    if (dt) out->dt = eg_case_real(cas, "time.dt");
    if (cfl) out->cfl = eg_case_real(cas, "time.cfl");
    if (eg_case_given(cas, "time.max_steps"))
        out->steps_max = eg_case_integer(cas, "time.max_steps");
    if (dt) EG_TRY(check_steps(cas, out));
done:
    return status;
}
