/* The largest CFL number by the rule of [zimmerman2018], section 4: the one at which halving it
 * changes the error by less than a tolerance. */
#include "compare/compare.h"

#include <math.h>

/* So often a number is halved, or doubled, before the search is given up. */
enum { TRIES = 12 };

typedef struct search {
    eg_compare_error_function *error;
    void *user; /* not owned */
    double tolerance;
    bool stopped;
    double change; /* of the error, at the number that was judged last; infinite: unstable */
} search;

/* Whether the rule holds for a number. */
static eg_status judge(search *s, double cfl, bool *holds)
{
    eg_status status = EG_OK;
    double here = NAN, half = NAN;
    *holds = false;
    s->change = INFINITY;
    EG_TRY(s->error(s->user, cfl, &here, &s->stopped));
    if (s->stopped || !isfinite(here)) goto done;
    EG_TRY(s->error(s->user, cfl / 2, &half, &s->stopped));
    if (s->stopped || !isfinite(half)) goto done;
    const double difference = fabs(here - half), scale = fabs(half);
    s->change = difference > 0 ? difference / scale : 0;
    *holds = s->change < s->tolerance;
done:
    return status;
}

/* Finds *low, for which the rule holds, while it does not for twice as much. */
static eg_status bracket(eg_context *ctx, search *s, double start, double *low)
{
    eg_status status = EG_OK;
    bool holds = false, above = false;
    double cfl = start;
    for (int i = 0; i < TRIES; i++, cfl /= 2) {
        EG_TRY(judge(s, cfl, &holds));
        if (holds || s->stopped) break;
    }
    *low = cfl;
    if (s->stopped) goto done;
    if (!holds)
        EG_TRY(eg_fail(ctx, EG_ERROR_NUMERIC,
                       isfinite(s->change)
                           ? "between CFL numbers %.3g and %.3g there is none at which halving it "
                             "changes the error by less than %.3g %%; at the last it is %.3g %%"
                           : "runs are unstable at all CFL numbers between %.3g and %.3g",
                       start, 2 * cfl, 100 * s->tolerance, 100 * s->change));
    /* What was judged before is not judged again. */
    for (int i = 0; cfl == start && !above && i < TRIES && !s->stopped; i++) {
        EG_TRY(judge(s, 2 * *low, &holds));
        above = !holds;
        if (holds) *low *= 2;
    }
    if (cfl == start && !above && !s->stopped)
        EG_TRY(
            eg_fail(ctx, EG_ERROR_NUMERIC,
                    "every CFL number from %.3g to %.3g is small enough: nothing happens in this "
                    "time, or there are too few steps to tell",
                    start, *low));
done:
    return status;
}

/* Multiples of a power of ten between low and twice that, the power such that low has so many
 * digits. */
static eg_status refine(search *s, int digits, double *low)
{
    eg_status status = EG_OK;
    const int places = digits - 1 - (int)floor(log10(*low));
    const double scale = pow(10, places);
    int64_t holds_at = (int64_t)floor(*low * scale * (1 + 1e-12));
    int64_t fails_at = (int64_t)ceil(2 * *low * scale * (1 - 1e-12));
    while (fails_at - holds_at > 1 && !s->stopped) {
        const int64_t middle = holds_at + (fails_at - holds_at) / 2;
        const double cfl = (double)middle / scale;
        bool holds = false;
        EG_TRY(judge(s, cfl, &holds));
        if (holds) {
            holds_at = middle;
            *low = cfl;
        } else
            fails_at = middle;
    }
done:
    return status;
}

eg_status eg_compare_find_cfl(eg_context *ctx, const eg_compare_rule *rule,
                              eg_compare_error_function *error, void *user, double *cfl)
{
    eg_status status = EG_OK;
    search s = {.error = error, .user = user, .tolerance = rule->tolerance};
    double low = 0;
    *cfl = 0;
    EG_TRY(bracket(ctx, &s, rule->start, &low));
    if (rule->digits > 0 && !s.stopped) EG_TRY(refine(&s, rule->digits, &low));
    if (!s.stopped) *cfl = low;
done:
    return status;
}
