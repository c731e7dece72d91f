/* Charts of `eagre compare`, after figures 3, 4, 6, 7 and 8 of [zimmerman2018]: of each degree
 * the error over the work, the work and that of a step over the number of points, and bars of
 * the work on the finest meshes. */
#include "cli/compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* So many meshes have bars, the finest ones. */
enum { BARS_MOST = 3 };

const char *const compare_chart_names[COMPARE_CHARTS] = {[COMPARE_ERROR_OVER_WORK] = "error-work",
                                                         [COMPARE_WORK_OVER_POINTS] = "work-points",
                                                         [COMPARE_STEP_OVER_POINTS] = "step-work",
                                                         [COMPARE_BARS] = "bars"};

static const char *const titles[COMPARE_CHARTS] = {
    [COMPARE_ERROR_OVER_WORK] = "Error over total work",
    [COMPARE_WORK_OVER_POINTS] = "Total work over degrees of freedom",
    [COMPARE_STEP_OVER_POINTS] = "Work of a step over degrees of freedom",
    [COMPARE_BARS] = "Total work"};

static const char points_label[] = "degrees of freedom per field";

static void put_subtitle(const compare_study *s, size_t degree, char text[512])
{
    const char *title = eg_case_string(s->cas, "title");
    snprintf(text, 512, "%s, degree %s, %s", title ? title : s->model->name,
             s->degrees.text[degree], s->identity.device);
}

static double x_of(compare_chart kind, const eg_compare_result *r)
{
    return kind == COMPARE_ERROR_OVER_WORK ? r->work : (double)r->points;
}

static double y_of(compare_chart kind, const eg_compare_result *r)
{
    return kind == COMPARE_ERROR_OVER_WORK    ? r->nodal_l2
           : kind == COMPARE_WORK_OVER_POINTS ? r->work
                                              : r->step_work;
}

/* The points of one scheme, from few to many. */
static void fill_series(const compare_study *s, compare_chart kind, size_t degree, size_t scheme,
                        double *x, double *y, eg_chart_series *out)
{
    *out = (eg_chart_series){.name = s->schemes.text[scheme], .x = x, .y = y};
    int64_t points[CLI_LIST_MOST];
    for (size_t m = 0; m < s->cells.count; m++) {
        const eg_compare_result *r = &s->results[compare_index(s, degree, m, scheme)];
        if (r->outcome != EG_COMPARE_DONE) continue;
        size_t i = out->count++;
        for (; i > 0 && points[i - 1] > r->points; i--) {
            points[i] = points[i - 1];
            x[i] = x[i - 1];
            y[i] = y[i - 1];
        }
        points[i] = r->points;
        x[i] = x_of(kind, r);
        y[i] = y_of(kind, r);
    }
}

static eg_status put_lines(const compare_study *s, compare_chart kind, size_t degree, bool *drawn,
                           eg_text *out)
{
    eg_status status = EG_OK;
    const size_t schemes = s->schemes.count, meshes = s->cells.count;
    eg_chart_series *series = NULL;
    double *values = NULL;
    char subtitle[512], y_label[128];
    EG_TRY(eg_new(s->ctx, schemes, &series));
    EG_TRY(eg_new(s->ctx, 2 * schemes * meshes, &values));
    for (size_t k = 0; k < schemes; k++) {
        double *x = values + 2 * k * meshes;
        fill_series(s, kind, degree, k, x, x + meshes, &series[k]);
        *drawn = *drawn || series[k].count > 0;
    }
    if (!*drawn) goto done;
    put_subtitle(s, degree, subtitle);
    if (kind == COMPARE_ERROR_OVER_WORK)
        snprintf(y_label, sizeof y_label, "nodal_l2 error of %s", s->field);
    else
        snprintf(y_label, sizeof y_label, "work units%s",
                 kind == COMPARE_STEP_OVER_POINTS ? " per step" : "");
    const eg_chart chart = {
        .title = titles[kind],
        .subtitle = subtitle,
        .x = {.label = kind == COMPARE_ERROR_OVER_WORK ? "work units" : points_label,
              .scale = EG_SCALE_LOG},
        .y = {.label = y_label, .scale = EG_SCALE_LOG},
        .series = series,
        .count = schemes};
    EG_TRY(eg_chart_write(s->ctx, &chart, out));
done:
    eg_release(s->ctx, &values);
    eg_release(s->ctx, &series);
    return status;
}

/* --- bars --------------------------------------------------------------------------------------- */

/* The bars of one mesh. */
typedef struct panel {
    int64_t points;
    double x[CLI_LIST_MOST], y[CLI_LIST_MOST]; /* [schemes] */
    eg_chart_series series[CLI_LIST_MOST];     /* each of one bar, for the colours of lines */
    char label[64];
} panel;

/* Fills a panel; false if there is nothing in it. */
static bool fill_panel(const compare_study *s, size_t degree, size_t mesh, panel *p)
{
    *p = (panel){.points = 0};
    for (size_t k = 0; k < s->schemes.count; k++) {
        const eg_compare_result *r = &s->results[compare_index(s, degree, mesh, k)];
        const bool done = r->outcome == EG_COMPARE_DONE;
        p->x[k] = (double)k;
        p->y[k] = done ? r->work : NAN;
        if (done) p->points = r->points;
    }
    snprintf(p->label, sizeof p->label, "%" PRId64 " points", p->points);
    return p->points > 0;
}

/* Panels of the finest meshes, from coarse to fine; returns their number. */
static size_t fill_panels(const compare_study *s, size_t degree, panel panels[BARS_MOST])
{
    size_t count = 0;
    for (size_t m = 0; m < s->cells.count; m++) {
        panel p;
        if (!fill_panel(s, degree, m, &p)) continue;
        if (count == BARS_MOST && p.points < panels[0].points) continue;
        if (count == BARS_MOST) { /* the coarsest goes */
            for (size_t i = 1; i < count; i++)
                panels[i - 1] = panels[i];
            count--;
        }
        size_t i = count++;
        for (; i > 0 && panels[i - 1].points > p.points; i--)
            panels[i] = panels[i - 1];
        panels[i] = p;
    }
    return count;
}

static eg_status put_bars(const compare_study *s, size_t degree, bool *drawn, eg_text *out)
{
    eg_status status = EG_OK;
    panel *panels = NULL;
    eg_chart charts[BARS_MOST];
    const char *names[CLI_LIST_MOST];
    char subtitle[512];
    EG_TRY(eg_new(s->ctx, BARS_MOST, &panels));
    const size_t count = fill_panels(s, degree, panels);
    *drawn = count > 0;
    put_subtitle(s, degree, subtitle);
    for (size_t k = 0; k < s->schemes.count; k++)
        names[k] = s->schemes.text[k];
    for (size_t i = 0; i < count; i++) {
        panel *p = &panels[i];
        for (size_t k = 0; k < s->schemes.count; k++)
            p->series[k] =
                (eg_chart_series){.style = EG_CHART_BARS, .count = 1, .x = &p->x[k], .y = &p->y[k]};
        charts[i] = (eg_chart){.title = "Total work, in work units",
                               .subtitle = subtitle,
                               .x = {.label = "scheme",
                                     .scale = EG_SCALE_NAMES,
                                     .names = names,
                                     .name_count = s->schemes.count},
                               .y = {.label = p->label},
                               .series = p->series,
                               .count = s->schemes.count,
                               .apart = true};
    }
    if (count > 0) EG_TRY(eg_chart_write_stack(s->ctx, charts, count, out));
done:
    eg_release(s->ctx, &panels);
    return status;
}

eg_status compare_put_chart(const compare_study *s, compare_chart kind, size_t degree, bool *drawn,
                            eg_text *out)
{
    *drawn = false;
    if (kind == COMPARE_ERROR_OVER_WORK && !s->has_exact) return EG_OK;
    if (kind == COMPARE_BARS) return put_bars(s, degree, drawn, out);
    return put_lines(s, kind, degree, drawn, out);
}
