/* The section [limiter] of a case: which bounds tracers have, and what they ask of the rest of it. */
#include "model/advection/limiter.h"

#include "model/model.h"

#include <float.h>
#include <math.h>

/* The part of its range by which rounding may take an initial value out of its bounds. */
#define ROUNDING 1e-12

eg_limiter_kind eg_limiter_kind_of(const eg_case *cas)
{
    return (eg_limiter_kind)eg_case_choice(cas, "limiter.bounds");
}

/* A key has one value for all tracers, or one for each. */
static eg_status check_count(const eg_case *cas, const char *key, int fields)
{
    const size_t count = eg_case_count(cas, key);
    if (count <= 1 || count == (size_t)fields) return EG_OK;
    return eg_case_fail(cas, key, -1,
                        "%zu values for %d tracers: give one for all of them, or one for each",
                        count, fields);
}

/* What tracer i may be, as given. */
static eg_advection_range given(const eg_case *cas, int i)
{
    const size_t low = eg_case_count(cas, "limiter.low"), high = eg_case_count(cas, "limiter.high");
    return (eg_advection_range){
        low > 0 ? eg_case_real_at(cas, "limiter.low", low > 1 ? (size_t)i : 0) : -INFINITY,
        high > 0 ? eg_case_real_at(cas, "limiter.high", high > 1 ? (size_t)i : 0) : INFINITY};
}

static eg_status check_given(const eg_case *cas, int fields)
{
    const bool low = eg_case_given(cas, "limiter.low"), high = eg_case_given(cas, "limiter.high");
    eg_status status = EG_OK;
    if (eg_limiter_kind_of(cas) != EG_LIMITER_GIVEN) {
        if (!low && !high) return EG_OK;
        return eg_case_fail(cas, low ? "limiter.low" : "limiter.high", -1,
                            "bounds are given, but limiter.bounds is \"%s\"; did you mean "
                            "bounds = \"given\"?",
                            eg_case_string(cas, "limiter.bounds"));
    }
    if (!low && !high)
        return eg_case_fail(cas, "limiter.bounds", -1,
                            "which bounds? Give limiter.low, limiter.high or both");
    EG_TRY(check_count(cas, "limiter.low", fields));
    EG_TRY(check_count(cas, "limiter.high", fields));
    for (int i = 0; i < fields; i++) {
        const eg_advection_range range = given(cas, i);
        if (!(range.least < range.most))
            EG_TRY(eg_case_fail(cas, high ? "limiter.high" : "limiter.low", -1,
                                "nothing is between %g and %g", range.least, range.most));
    }
done:
    return status;
}

eg_status eg_limiter_check(const eg_case *cas, const eg_time_options *time, int fields)
{
    eg_status status = EG_OK;
    EG_TRY(check_given(cas, fields));
    if (eg_limiter_kind_of(cas) == EG_LIMITER_NONE) return EG_OK;
    if (time->scheme == EG_TIME_LOW_RK4)
        EG_TRY(eg_case_fail(cas, "time.scheme", -1,
                            "\"rk4\" does not keep the bounds of a limiter: choose \"euler\", "
                            "\"ssp-rk2\" or \"ssp-rk3\""));
    if (eg_case_name_at(cas, "source", 0))
        EG_TRY(
            eg_case_fail(cas, "source", -1,
                         "with a source tracers leave their bounds: leave it out, or the limiter"));
    if (time->cfl > 1)
        EG_TRY(eg_case_fail(cas, "time.cfl", -1,
                            "with a limiter it is 1 at most, not %g: beyond it bounds are not kept",
                            time->cfl));
done:
    return status;
}

/* Where the initial values of a tracer leave its bounds; 0: nowhere. */
static const char *left_at(const eg_advection_range *bounds, double least, double most)
{
    const double rounding = ROUNDING * fmax(most - least, DBL_MIN);
    if (!(least >= bounds->least - rounding)) return "limiter.low";
    if (!(most <= bounds->most + rounding)) return "limiter.high";
    return NULL;
}

eg_status eg_limiter_bounds(const eg_case *cas, eg_function *initial, double t, int fields,
                            const char *const *names, eg_advection_range *out)
{
    const eg_limiter_kind kind = eg_limiter_kind_of(cas);
    double least[EG_MODEL_FIELDS_MAX], most[EG_MODEL_FIELDS_MAX];
    eg_status status = EG_OK;
    for (int i = 0; i < fields; i++)
        out[i] = (eg_advection_range){-INFINITY, INFINITY};
    if (kind == EG_LIMITER_NONE) return EG_OK;
    EG_TRY(eg_function_range(initial, t, least, most));
    for (int i = 0; i < fields; i++) {
        out[i] = kind == EG_LIMITER_GIVEN ? given(cas, i) : (eg_advection_range){least[i], most[i]};
        const char *left = left_at(&out[i], least[i], most[i]);
        if (left)
            EG_TRY(eg_case_fail(cas, left, -1, "%s begins with values from %.9g to %.9g", names[i],
                                least[i], most[i]));
    }
done:
    return status;
}
