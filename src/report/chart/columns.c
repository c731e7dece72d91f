/* Draws the columns of a CSV file: which share a plot, and what they are called. */
#include "report/chart/columns.h"

#include <math.h>
#include <string.h>

enum {
    PLOTS_MOST = 8,
    MARKED_MOST = 40 /* rows with markers */
};
#define ALIKE 10.0 /* how much larger than a column's range the plot's may be */

typedef struct range {
    double low, high;
} range;

/* One plot; its series are the columns that belong to it. */
typedef struct plot {
    const char *unit; /* not owned; NULL: none */
    range all;
    double least; /* of the extents of its columns that are not constant; infinite: all are */
    size_t count;
} plot;

typedef struct layout {
    eg_context *ctx;
    const eg_series_data *data;
    const eg_chart_columns *wanted;
    plot plots[PLOTS_MOST];
    size_t plot_count;
    size_t *plot_of;         /* [wanted->count] owned */
    char **names;            /* [data->count] with their units; owned */
    eg_chart_series *series; /* [wanted->count] sorted by plots; owned */
} layout;

static range range_of(const layout *l, int column)
{
    range r = {INFINITY, -INFINITY};
    for (size_t i = 0; i < l->data->rows; i++) {
        const double y = l->data->columns[column][i];
        if (!eg_scale_has(l->wanted->x_scale, l->data->columns[l->wanted->x][i]) ||
            !eg_scale_has(l->wanted->y_scale, y))
            continue;
        r.low = fmin(r.low, y);
        r.high = fmax(r.high, y);
    }
    return r;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* True if a column can be read in a plot, and what is there can still be. */
static bool fits(const layout *l, const plot *p, const char *unit, range r)
{
    if (l->wanted->together) return true;
    if (!same(p->unit, unit)) return false;
    if (l->wanted->y_scale == EG_SCALE_LOG || r.low > r.high || p->all.low > p->all.high)
        return true;
    const double low = fmin(p->all.low, r.low), high = fmax(p->all.high, r.high);
    const double least = r.high > r.low ? fmin(p->least, r.high - r.low) : p->least;
    if (isfinite(least)) return high - low <= ALIKE * least;
    /* Constants: their sizes count. */
    return fmax(fabs(low), fabs(high)) <= ALIKE * fmin(fabs(low), fabs(high)) || low == high;
}

static size_t find_plot(layout *l, int column)
{
    const range r = range_of(l, column);
    const char *unit = l->data->units[column];
    size_t n = 0;
    while (n < l->plot_count && !fits(l, &l->plots[n], unit, r))
        n++;
    if (n == PLOTS_MOST) n--;
    if (n == l->plot_count)
        l->plots[l->plot_count++] = (plot){unit, {INFINITY, -INFINITY}, INFINITY, 0};
    plot *p = &l->plots[n];
    p->all = (range){fmin(p->all.low, r.low), fmax(p->all.high, r.high)};
    if (r.high > r.low) p->least = fmin(p->least, r.high - r.low);
    if (!same(p->unit, unit)) p->unit = NULL;
    p->count++;
    return n;
}

/* "name [unit]". */
static eg_status name_column(layout *l, int column)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(l->ctx);
    EG_TRY(eg_text_puts(&text, l->data->names[column]));
    if (l->data->units[column]) EG_TRY(eg_text_printf(&text, " [%s]", l->data->units[column]));
    EG_TRY(eg_copy_string(l->ctx, eg_text_string(&text), &l->names[column]));
done:
    eg_text_free(&text);
    return status;
}

/* The columns of plot n as series, from `out` on. */
static void fill(const layout *l, size_t n, eg_chart_series *out)
{
    const eg_chart_columns *w = l->wanted;
    const size_t rows = l->data->rows;
    const bool marked = rows <= MARKED_MOST;
    for (size_t k = 0; k < w->count; k++)
        if (l->plot_of[k] == n)
            *out++ = (eg_chart_series){
                .name = l->plots[n].count == 1 ? NULL
                        : l->plots[n].unit     ? l->data->names[w->y[k]] /* the axis has the unit */
                                               : l->names[w->y[k]],
                .style = marked ? EG_CHART_MARKED : EG_CHART_LINE,
                .count = rows,
                .x = l->data->columns[w->x],
                .y = l->data->columns[w->y[k]],
                .slope = marked && rows > 1 ? rows - 1 : 0};
}

static eg_status write(layout *l, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_chart_columns *w = l->wanted;
    eg_chart charts[PLOTS_MOST];
    eg_text units[PLOTS_MOST];
    size_t first = 0;
    for (size_t n = 0; n < l->plot_count; n++)
        units[n] = eg_text_new(l->ctx);
    for (size_t n = 0; n < l->plot_count; n++) {
        const plot *p = &l->plots[n];
        fill(l, n, &l->series[first]);
        charts[n] = (eg_chart){.title = n == 0 ? w->title : NULL,
                               .x = {.label = l->names[w->x], .scale = w->x_scale},
                               .y = {.scale = w->y_scale},
                               .slope_name = "slope",
                               .series = &l->series[first],
                               .count = p->count,
                               .format = w->format,
                               .dark = w->dark,
                               .width = w->width};
        if (p->unit) EG_TRY(eg_text_printf(&units[n], "[%s]", p->unit));
        charts[n].y.label = eg_text_string(&units[n]);
        for (size_t k = 0; p->count == 1 && k < w->count; k++)
            if (l->plot_of[k] == n) charts[n].y.label = l->names[w->y[k]];
        first += p->count;
    }
    EG_TRY(eg_chart_write_stack(l->ctx, charts, l->plot_count, out));
done:
    for (size_t n = 0; n < l->plot_count; n++)
        eg_text_free(&units[n]);
    return status;
}

eg_status eg_chart_columns_write(eg_context *ctx, const eg_series_data *data,
                                 const eg_chart_columns *wanted, eg_text *out)
{
    eg_status status = EG_OK;
    layout l = {.ctx = ctx, .data = data, .wanted = wanted};
    EG_TRY(eg_new(ctx, wanted->count, &l.plot_of));
    EG_TRY(eg_new(ctx, wanted->count, &l.series));
    EG_TRY(eg_new(ctx, (size_t)data->count, &l.names));
    for (int i = 0; i < data->count; i++)
        EG_TRY(name_column(&l, i));
    for (size_t k = 0; k < wanted->count; k++)
        l.plot_of[k] = find_plot(&l, wanted->y[k]);
    EG_TRY(write(&l, out));
done:
    for (int i = 0; l.names && i < data->count; i++)
        eg_release(ctx, &l.names[i]);
    eg_release(ctx, &l.names);
    eg_release(ctx, &l.series);
    eg_release(ctx, &l.plot_of);
    return status;
}
