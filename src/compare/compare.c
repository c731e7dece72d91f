/* The comparison: for every setting its CFL number, the runs that are not there yet, and what
 * they tell. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A comparison while it runs. Nothing is owned. */
typedef struct comparison {
    eg_context *ctx;
    const eg_compare_plan *plan;
    const eg_compare_hooks *hooks;
    eg_compare_rows *rows;
    eg_compare_done *done;
    size_t index;  /* of the setting */
    size_t before; /* rows that were there at the beginning */
    double began;  /* when the first new run of the setting began; 0: there was none */
    double loop_s; /* of its new runs */
    /* Of the settings before that had new runs: how many, the seconds they have taken, those in
     * time loops, and what these were expected to cost, see cost_of. */
    size_t spent_count;
    double spent_s, spent_loop_s, spent_cost;
} comparison;

/* --- progress ----------------------------------------------------------------------------------- */

/* What a setting costs, up to a factor: points times steps, which grow as the number of points
 * along an axis. */
static double cost_of(const eg_compare_setting *of)
{
    double elements = 1;
    char *end = NULL;
    int axes = 0;
    for (const char *at = of->cells; *at; at = *end == 'x' ? end + 1 : end, axes++) {
        elements *= (double)strtoll(at, &end, 10);
        if (end == at) return 1;
    }
    if (axes == 1) elements *= elements;
    return pow(sqrt(elements) * (of->degree + 1), 3);
}

/* Loops take what they cost; the rest, set-up for the most part, is the same for all. */
static double time_left(const comparison *c)
{
    double cost = 0;
    if (c->spent_count == 0) return NAN;
    for (size_t i = c->index; i < c->plan->count; i++)
        cost += cost_of(&c->plan->settings[i]);
    const double rest = (c->spent_s - c->spent_loop_s) / (double)c->spent_count;
    const double all =
        rest * (double)(c->plan->count - c->index) + c->spent_loop_s / c->spent_cost * cost;
    return fmax(0, all - (eg_wall_seconds() - c->began));
}

static void tell(const comparison *c, double cfl, bool search, int repeat)
{
    if (!c->hooks->progress) return;
    const eg_compare_progress progress = {.index = c->index,
                                          .count = c->plan->count,
                                          .setting = &c->plan->settings[c->index],
                                          .cfl = cfl,
                                          .search = search,
                                          .repeat = repeat,
                                          .left_s = time_left(c)};
    c->hooks->progress(c->hooks->user, &progress);
}

/* --- runs --------------------------------------------------------------------------------------- */

/* The row of a run, which is made if it is not there; NULL: the comparison was stopped. */
static eg_status get_row(comparison *c, double cfl, bool search, int repeat,
                         const eg_compare_row **out)
{
    eg_status status = EG_OK;
    const eg_compare_hooks *hooks = c->hooks;
    const eg_compare_setting *of = &c->plan->settings[c->index];
    eg_compare_row row = {.of = *of, .cfl = cfl, .repeat = repeat};
    *out = eg_compare_rows_find(c->rows, of, cfl, repeat);
    if (*out) {
        c->done->taken += (size_t)(*out - c->rows->list) < c->before;
        return EG_OK;
    }
    if (hooks->asked && hooks->asked(hooks->user)) {
        c->done->stopped = true;
        return EG_OK;
    }
    if (c->done->runs == 0 && hooks->begin) EG_TRY(hooks->begin(hooks->user));
    if (c->began == 0) c->began = eg_wall_seconds();
    tell(c, cfl, search, repeat);
    EG_TRY(hooks->run(hooks->user, of, cfl, &row));
    EG_TRY(eg_compare_rows_add(c->rows, &row));
    c->done->runs++;
    if (row.stable) c->loop_s += row.loop_s;
    *out = &c->rows->list[c->rows->count - 1];
    if (hooks->keep) EG_TRY(hooks->keep(hooks->user));
done:
    return status;
}

static eg_status error_of(void *user, double cfl, double *error, bool *stop)
{
    eg_status status = EG_OK;
    comparison *c = user;
    const eg_compare_row *row = NULL;
    EG_TRY(get_row(c, cfl, true, 1, &row));
    *stop = row == NULL;
    *error = row && row->stable ? row->nodal_l2 : NAN;
done:
    return status;
}

static eg_status find_cfl(comparison *c, double *cfl)
{
    const eg_compare_rule rule = {.start = c->plan->start[c->index],
                                  .tolerance = c->plan->tolerance,
                                  .digits = c->plan->digits};
    return eg_compare_find_cfl(c->ctx, &rule, error_of, c, cfl);
}

/* The CFL number and all timed runs of a setting. */
static eg_status compare_setting(comparison *c, eg_compare_result *result)
{
    eg_status status = EG_OK;
    const eg_compare_row *row = NULL;
    result->cfl = c->plan->cfl[c->index];
    if (!(result->cfl > 0)) EG_TRY(find_cfl(c, &result->cfl));
    for (int repeat = 1; repeat <= c->plan->repeat && !c->done->stopped; repeat++) {
        EG_TRY(get_row(c, result->cfl, false, repeat, &row));
        if (row && !row->stable)
            EG_TRY(eg_fail(c->ctx, EG_ERROR_NUMERIC, "it is unstable at a CFL number of %.6g",
                           result->cfl));
    }
done:
    return status;
}

eg_status eg_compare(eg_context *ctx, const eg_compare_plan *plan, const eg_compare_hooks *hooks,
                     eg_compare_rows *rows, eg_compare_result *results, eg_compare_done *done)
{
    eg_status status = EG_OK;
    comparison c = {.ctx = ctx, .plan = plan, .hooks = hooks, .rows = rows, .done = done};
    *done = (eg_compare_done){0};
    c.before = rows->count;
    for (size_t i = 0; i < plan->count; i++)
        results[i] = (eg_compare_result){0};
    for (; c.index < plan->count && !done->stopped; c.index++) {
        const eg_compare_setting *of = &plan->settings[c.index];
        eg_compare_result *result = &results[c.index];
        c.began = c.loop_s = 0;
        status = compare_setting(&c, result);
        if (status == EG_OK && !done->stopped) result->outcome = EG_COMPARE_DONE;
        if (status == EG_ERROR_NUMERIC) {
            eg_log(ctx, EG_LOG_WARNING, "%s degree %d cells %s: %s", of->scheme, of->degree,
                   of->cells, eg_context_error(ctx));
            result->outcome = EG_COMPARE_FAILED;
            done->failed++;
            status = EG_OK;
        }
        if (status != EG_OK) goto done;
        if (c.began == 0) continue;
        c.spent_count++;
        c.spent_loop_s += c.loop_s;
        c.spent_s += eg_wall_seconds() - c.began;
        c.spent_cost += cost_of(of);
    }
    EG_TRY(eg_compare_summarise(plan, rows, results));
done:
    return status;
}

/* --- results ------------------------------------------------------------------------------------ */

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double eg_compare_median(double *values, size_t count)
{
    if (count == 0) return NAN;
    qsort(values, count, sizeof values[0], compare_doubles);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

enum { FIGURES = 3 }; /* times, work units, rates */

/* `figures`: [FIGURES][repeat] */
static void summarise(const eg_compare_plan *plan, const eg_compare_rows *rows, size_t i,
                      double *figures, eg_compare_result *out)
{
    const size_t most = (size_t)plan->repeat;
    double *const times = figures, *const works = times + most, *const rates = works + most;
    size_t count = 0;
    for (int repeat = 1; repeat <= plan->repeat; repeat++) {
        const eg_compare_row *row =
            eg_compare_rows_find(rows, &plan->settings[i], out->cfl, repeat);
        if (!row) continue;
        out->elements = row->elements;
        out->points = row->points;
        out->steps = row->steps;
        out->h = row->h;
        out->nodal_l2 = row->nodal_l2;
        out->l2 = row->l2;
        times[count] = row->loop_s;
        works[count] = row->loop_s / row->reference_s;
        rates[count++] = row->ns_per_point_stage;
    }
    out->loop_s = eg_compare_median(times, count);
    out->work = eg_compare_median(works, count);
    out->ns_per_point_stage = eg_compare_median(rates, count);
    out->step_s = out->loop_s / (double)out->steps;
    out->step_work = out->work / (double)out->steps;
}

eg_status eg_compare_summarise(const eg_compare_plan *plan, const eg_compare_rows *rows,
                               eg_compare_result *results)
{
    eg_status status = EG_OK;
    double *figures = NULL;
    EG_TRY(eg_new(rows->ctx, FIGURES * (size_t)plan->repeat, &figures));
    for (size_t i = 0; i < plan->count; i++)
        if (results[i].outcome == EG_COMPARE_DONE) summarise(plan, rows, i, figures, &results[i]);
done:
    eg_release(rows->ctx, &figures);
    return status;
}

double eg_compare_order(const eg_compare_plan *plan, const eg_compare_result *results, size_t i)
{
    const eg_compare_setting *of = &plan->settings[i];
    const eg_compare_result *fine = &results[i], *coarse = NULL;
    for (size_t k = 0; k < plan->count; k++) {
        const eg_compare_setting *other = &plan->settings[k];
        if (results[k].outcome != EG_COMPARE_DONE || other->degree != of->degree ||
            strcmp(other->scheme, of->scheme) != 0 || !(results[k].h > fine->h * (1 + 1e-9)))
            continue;
        if (!coarse || results[k].h < coarse->h) coarse = &results[k];
    }
    if (!coarse || fine->outcome != EG_COMPARE_DONE) return NAN;
    return log(coarse->nodal_l2 / fine->nodal_l2) / log(coarse->h / fine->h);
}
