/* Draws the series of a chart: lines, markers, bars.
 *
 * A line of more points than the plot has columns of pixels is thinned: of points that follow each
 * other in one column the first, the lowest, the highest and the last stay, in their order. What is left
 * out lies on pixels that the others paint, so that no peak is lost [jugel2014]. */
#include "report/chart/drawing.h"

#include <math.h>
#include <stdio.h>

#define RADIUS 5.0      /* of markers, in pixels */
#define RADIUS_MANY 3.5 /* of those of lines with many points */
#define HALO 0.5        /* around markers, in the colour of the background */
#define LINE_WIDTH 1.8
#define LINE_WIDTH_MANY 1.3
#define BARS_PART 0.8 /* of the distance between names */

/* Colours and markers go round together with 32 pairs before the first comes back. */
enum { SHAPES = 4 };

/* So many points have smaller markers, and thinner lines. */
enum { MANY = 24, DENSE = 600 };

int eg_chart_ink(size_t k)
{
    return EG_CHART_INK_SERIES + (int)(k % EG_PALETTE_COUNT);
}

bool eg_chart_has_place(const eg_chart *c, const eg_chart_series *s, size_t i)
{
    const bool named =
        c->x.scale != EG_SCALE_NAMES || (s->x[i] >= 0 && s->x[i] < (double)c->x.name_count);
    return named && eg_scale_has(c->x.scale, s->x[i]) && eg_scale_has(c->y.scale, s->y[i]);
}

eg_spot eg_chart_place(const eg_chart_drawing *d, const eg_chart_series *s, size_t i)
{
    return (eg_spot){eg_axis_pixel(&d->x, s->x[i]), eg_axis_pixel(&d->y, s->y[i])};
}

/* --- thinning ----------------------------------------------------------------------------------- */

/* Points that follow each other in one column of pixels. */
typedef struct column {
    bool used;
    double at;                     /* the column's left edge */
    size_t first, low, high, last; /* numbers of points */
} column;

/* Adds what stays of a column to the list. */
static size_t flush(column *c, size_t *which, size_t count)
{
    const size_t kept[4] = {c->first, c->low < c->high ? c->low : c->high,
                            c->low < c->high ? c->high : c->low, c->last};
    for (int i = 0; c->used && i < 4; i++)
        if (i == 0 || kept[i] != kept[i - 1]) which[count++] = kept[i];
    c->used = false;
    return count;
}

size_t eg_chart_thin(const eg_chart_drawing *d, const eg_chart_series *s, size_t *which)
{
    size_t count = 0;
    column c = {0};
    for (size_t i = 0; i < s->count; i++) {
        if (!eg_chart_has_place(d->chart, s, i)) {
            count = flush(&c, which, count);
            if (count > 0 && which[count - 1] != EG_CHART_GAP) which[count++] = EG_CHART_GAP;
            continue;
        }
        const double at = floor(eg_axis_pixel(&d->x, s->x[i]));
        if (c.used && at == c.at) {
            if (s->y[i] < s->y[c.low]) c.low = i;
            if (s->y[i] > s->y[c.high]) c.high = i;
            c.last = i;
            continue;
        }
        count = flush(&c, which, count);
        c = (column){true, at, i, i, i, i};
    }
    return flush(&c, which, count);
}

/* --- lines and bars ----------------------------------------------------------------------------- */

/* Lines without markers that have the colour of another are dashed. */
static eg_pen line_pen(const eg_chart_series *s, size_t k)
{
    static const double dashes[] = {0, 7, 2.5};
    const bool marked = s->style == EG_CHART_MARKED;
    return (eg_pen){.class = "curve",
                    .ink = eg_chart_ink(k),
                    .width = s->count > DENSE ? LINE_WIDTH_MANY : LINE_WIDTH,
                    .dash = marked ? 0 : dashes[k / EG_PALETTE_COUNT % EG_COUNT(dashes)]};
}

static eg_status put_line(eg_chart_drawing *d, size_t k)
{
    eg_status status = EG_OK;
    const eg_chart_series *s = &d->chart->series[k];
    eg_pen pen = line_pen(s, k);
    size_t *which = NULL;
    EG_TRY(eg_new(d->canvas->ctx, s->count, &which));
    const size_t count = eg_chart_thin(d, s, which);
    pen.round = s->style == EG_CHART_LINE && pen.dash == 0;
    EG_TRY(eg_canvas_begin(d->canvas, &pen));
    for (size_t n = 0; n < count; n++) {
        if (which[n] == EG_CHART_GAP) continue;
        const bool starts = n == 0 || which[n - 1] == EG_CHART_GAP;
        const bool ends = n + 1 == count || which[n + 1] == EG_CHART_GAP;
        const eg_spot p = eg_chart_place(d, s, which[n]);
        EG_TRY(starts ? eg_canvas_move(d->canvas, p.x, p.y) : eg_canvas_line(d->canvas, p.x, p.y));
        /* A point between gaps becomes a dot. */
        if (starts && ends) EG_TRY(eg_canvas_line(d->canvas, p.x, p.y));
        eg_room_take_line(&d->room, starts ? p : eg_chart_place(d, s, which[n - 1]), p);
        if (s->style == EG_CHART_MARKED)
            eg_room_take_box(&d->room, (eg_spot){p.x - 6, p.y - 6}, (eg_spot){p.x + 6, p.y + 6});
    }
    EG_TRY(eg_canvas_end(d->canvas));
done:
    eg_release(d->canvas->ctx, &which);
    return status;
}

/* What a point says when the reader points at it. */
static eg_status tip_of(const eg_chart_drawing *d, const eg_chart_series *s, size_t i, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_chart_axis *x = &d->chart->x, *y = &d->chart->y;
    const char *name = s->name ? s->name : y->label ? y->label : "";
    eg_text_clear(out);
    EG_TRY(eg_text_printf(out, "%s%s", name, name[0] ? ": " : ""));
    EG_TRY(eg_text_printf(out,
                          y->scale == EG_SCALE_LOG ? "%.4e"
                          : d->y.base == 0         ? "%.6g"
                                                   : "%.16g",
                          s->y[i]));
    if (x->scale == EG_SCALE_NAMES)
        EG_TRY(eg_text_printf(out, " at %s", x->names[(size_t)s->x[i]]));
    else
        EG_TRY(eg_text_printf(out, x->scale == EG_SCALE_LOG ? " at %.4g" : " at %.6g", s->x[i]));
done:
    return status;
}

/* Bars of several series stand side by side, unless they are apart anyway. */
static eg_status put_bars(eg_chart_drawing *d, size_t k)
{
    eg_status status = EG_OK;
    const eg_chart *c = d->chart;
    const eg_chart_series *s = &c->series[k];
    size_t before = 0, all = 0;
    eg_text tip = eg_text_new(d->canvas->ctx);
    for (size_t n = 0; n < c->count; n++) {
        if (c->series[n].style != EG_CHART_BARS || (c->apart && n != k)) continue;
        before += n < k;
        all++;
    }
    const double width = BARS_PART * fabs(d->x.pixels) / (double)all;
    const double offset = ((double)before - 0.5 * (double)all) * width;
    const double from = c->y.scale == EG_SCALE_LOG ? d->bottom : eg_axis_pixel(&d->y, 0);
    for (size_t i = 0; i < s->count; i++) {
        if (!eg_chart_has_place(c, s, i)) continue;
        const eg_spot p = eg_chart_place(d, s, i);
        const eg_spot low = {p.x + offset + 0.5, fmin(p.y, from)};
        const double height = fmax(fabs(p.y - from), 1);
        EG_TRY(tip_of(d, s, i, &tip));
        const eg_pen pen = {.class = "bar", .ink = eg_chart_ink(k), .tip = eg_text_string(&tip)};
        EG_TRY(eg_canvas_rectangle(d->canvas, &pen, low.x, low.y, width - 1, height));
        eg_room_take_box(&d->room, low, (eg_spot){low.x + width, low.y + height});
    }
done:
    eg_text_free(&tip);
    return status;
}

eg_status eg_chart_put_series(eg_chart_drawing *d, size_t k)
{
    return d->chart->series[k].style == EG_CHART_BARS ? put_bars(d, k) : put_line(d, k);
}

/* --- markers ------------------------------------------------------------------------------------ */

/* A disc, as four curves. */
static eg_status put_disc(eg_canvas *canvas, eg_spot p, double r)
{
    static const double way[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    const double handle = 4.0 / 3.0 * (sqrt(2) - 1);
    eg_status status = EG_OK;
    EG_TRY(eg_canvas_move(canvas, p.x + r, p.y));
    for (int i = 0; i < 4; i++) {
        const double *a = way[i], *b = way[(i + 1) % 4];
        double to[3][2];
        for (int c = 0; c < 2; c++) {
            const double centre = c ? p.y : p.x;
            to[0][c] = centre + r * (a[c] + handle * b[c]);
            to[1][c] = centre + r * (b[c] + handle * a[c]);
            to[2][c] = centre + r * b[c];
        }
        EG_TRY(eg_canvas_curve(canvas, (const double(*)[2])to));
    }
done:
    return status;
}

/* Adds the shape of series k to a path: a disc, square, triangle or diamond. */
static eg_status put_shape(eg_canvas *canvas, size_t k, eg_spot p, double r)
{
    static const double square[][2] = {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}};
    static const double triangle[][2] = {{0, -1.2}, {1.2, 0.9}, {-1.2, 0.9}};
    static const double diamond[][2] = {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}};
    eg_status status = EG_OK;
    const size_t kind = (k + k / EG_PALETTE_COUNT) % SHAPES;
    if (kind == 0) return put_disc(canvas, p, r);
    const double(*corner)[2] = kind == 1 ? square : kind == 2 ? triangle : diamond;
    for (int i = 0; i < (kind == 2 ? 3 : 4); i++) {
        const double x = p.x + r * corner[i][0], y = p.y + r * corner[i][1];
        EG_TRY(i == 0 ? eg_canvas_move(canvas, x, y) : eg_canvas_line(canvas, x, y));
    }
done:
    return status;
}

static eg_status put_marker(eg_canvas *canvas, size_t k, eg_spot p, double r, const char *tip)
{
    eg_status status = EG_OK;
    const eg_pen pen = {.class = "mark", .ink = eg_chart_ink(k), .tip = tip};
    EG_TRY(eg_canvas_begin(canvas, &pen));
    EG_TRY(put_shape(canvas, k, p, r));
    EG_TRY(eg_canvas_end(canvas));
done:
    return status;
}

eg_status eg_chart_put_markers(eg_chart_drawing *d, size_t k)
{
    eg_status status = EG_OK;
    const eg_chart_series *s = &d->chart->series[k];
    const double r = s->count > MANY ? RADIUS_MANY : RADIUS;
    eg_text tip = eg_text_new(d->canvas->ctx);
    size_t *which = NULL;
    if (s->style != EG_CHART_MARKED) return EG_OK;
    EG_TRY(eg_new(d->canvas->ctx, s->count, &which));
    const size_t count = eg_chart_thin(d, s, which);
    EG_TRY(eg_canvas_begin(d->canvas, &(eg_pen){.class = "halo", .ink = EG_CHART_INK_BACK}));
    for (size_t n = 0; n < count; n++)
        if (which[n] != EG_CHART_GAP)
            EG_TRY(put_shape(d->canvas, k, eg_chart_place(d, s, which[n]), r + HALO));
    EG_TRY(eg_canvas_end(d->canvas));
    for (size_t n = 0; n < count; n++) {
        if (which[n] == EG_CHART_GAP) continue;
        EG_TRY(tip_of(d, s, which[n], &tip));
        EG_TRY(put_marker(d->canvas, k, eg_chart_place(d, s, which[n]), r - HALO,
                          eg_text_string(&tip)));
    }
done:
    eg_release(d->canvas->ctx, &which);
    eg_text_free(&tip);
    return status;
}

eg_status eg_chart_put_sample(eg_chart_drawing *d, size_t k, double x, double y)
{
    eg_status status = EG_OK;
    const eg_chart_series *s = &d->chart->series[k];
    if (s->style == EG_CHART_BARS) {
        const eg_pen pen = {.class = "bar", .ink = eg_chart_ink(k)};
        return eg_canvas_rectangle(d->canvas, &pen, x + EG_CHART_SAMPLE / 2 - 7, y - 6, 14, 12);
    }
    const eg_pen pen = line_pen(s, k);
    EG_TRY(eg_canvas_begin(d->canvas, &pen));
    EG_TRY(eg_canvas_move(d->canvas, x, y));
    EG_TRY(eg_canvas_line(d->canvas, x + EG_CHART_SAMPLE, y));
    EG_TRY(eg_canvas_end(d->canvas));
    if (s->style == EG_CHART_MARKED)
        EG_TRY(
            put_marker(d->canvas, k, (eg_spot){x + EG_CHART_SAMPLE / 2, y}, RADIUS - HALO, NULL));
done:
    return status;
}
