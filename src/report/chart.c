/* Draws line charts with two logarithmic axes as SVG.
 *
 * Text stays text, colours follow the reader's light or dark scheme, every marker carries its figures
 * as a tooltip. The picture grows with its texts and its legend, so that nothing is cut off: widths of
 * texts are estimated from the number of their characters, on the safe side. */
#include "report/chart.h"

#include "report/axis.h"
#include "report/palette.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In pixels. */
#define LEFT 92.0
#define TOP 84.0
#define BOTTOM 66.0
#define EDGE 26.0 /* between the plot and the legend, and around */
#define PLOT_WIDTH 620.0
#define PLOT_HEIGHT 440.0
#define ROW 23.0    /* of the legend */
#define SAMPLE 40.0 /* of a line in the legend */
#define SPACING 4.0 /* of the points by which lines and texts keep others away */

/* Widths of a character. */
#define TITLE_CHAR 11.5
#define AXIS_CHAR 8.4
#define TEXT_CHAR 7.7

/* Colours and markers go round together with 32 pairs before the first comes back. */
enum { COLOURS = EG_PALETTE_COUNT, SHAPES = 4 };
/* More than so many triangles are no help. */
enum { TRIANGLES_MOST = 24 };

typedef struct point {
    double x, y; /* pixels */
} point;

typedef struct drawing {
    eg_context *ctx;
    const eg_chart *chart;
    eg_text *svg;
    eg_axis x, y;
    double width, height, right, bottom; /* of the picture; edges of the plot */
    point *taken; /* [taken_count] owned: where lines, markers and labels are */
    size_t taken_count, taken_capacity;
} drawing;

static const char style[] =
    "<style>\n" EG_STYLE_LIGHT ".grid{stroke:#d5dae0}.minor{stroke:#eaedf0}\n"
    ".title{font-size:20px;font-weight:600}.sub{font-size:14px;fill:#59636e}\n"
    ".axis{font-size:15px}.tick{font-size:13px;fill:#424a53}.power{font-size:10px}\n"
    ".legend{font-size:14px}.floor{stroke:#59636e;stroke-dasharray:6 5}\n"
    ".line{fill:none;stroke-width:1.8;stroke-linejoin:round}.mark{stroke:#ffffff}\n"
    ".slope{fill:none;stroke-width:1.2}.label{font-size:12.5px}\n" EG_STYLE_SERIES_LIGHT
    "@media (prefers-color-scheme: dark){\n" EG_STYLE_DARK
    ".grid{stroke:#303842}.minor{stroke:#1d242c}.sub{fill:#9aa4af}\n"
    ".tick{fill:#c3ccd5}.floor{stroke:#9aa4af}.mark{stroke:#0d1117}\n" EG_STYLE_SERIES_DARK
    "}\n</style>\n";

/* --- texts and lines ----------------------------------------------------------------------------- */

static eg_status put_text(eg_text *svg, const char *class, double x, double y, const char *anchor,
                          const char *text)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(svg, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">",
                          class, x, y, anchor));
    EG_TRY(eg_svg_put_escaped(svg, text));
    EG_TRY(eg_text_puts(svg, "</text>\n"));
done:
    return status;
}

static eg_status put_line(eg_text *svg, const char *class, point a, point b)
{
    return eg_text_printf(svg,
                          "<line class=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
                          class, a.x, a.y, b.x, b.y);
}

/* --- points and ranges -------------------------------------------------------------------------- */

static bool has_place(const eg_chart_series *s, size_t i)
{
    return isfinite(s->x[i]) && isfinite(s->y[i]) && s->x[i] > 0 && s->y[i] > 0;
}

double eg_chart_slope(const eg_chart_series *s)
{
    const size_t i = s->slope;
    if (i == 0 || i >= s->count || !has_place(s, i - 1) || !has_place(s, i)) return NAN;
    const double slope = log(s->y[i] / s->y[i - 1]) / log(s->x[i] / s->x[i - 1]);
    return isfinite(slope) ? slope : NAN;
}

static point place_of(const drawing *d, const eg_chart_series *s, size_t i)
{
    return (point){eg_axis_pixel(&d->x, s->x[i]), eg_axis_pixel(&d->y, s->y[i])};
}

/* Chooses the ranges and the size of everything. */
static void lay_out(drawing *d)
{
    const eg_chart *c = d->chart;
    double x0 = INFINITY, x1 = -INFINITY, y0 = INFINITY, y1 = -INFINITY, name = 0, slope = 0;
    for (size_t k = 0; k < c->count; k++) {
        const eg_chart_series *s = &c->series[k];
        name = fmax(name, eg_svg_characters(s->name));
        if (isfinite(eg_chart_slope(s)))
            slope = eg_svg_characters(c->slope_name) + eg_svg_characters(" -10.00");
        for (size_t i = 0; i < s->count; i++) {
            if (!has_place(s, i)) continue;
            x0 = fmin(x0, log10(s->x[i]));
            x1 = fmax(x1, log10(s->x[i]));
            y0 = fmin(y0, log10(s->y[i]));
            y1 = fmax(y1, log10(s->y[i]));
        }
    }
    d->right = LEFT + fmax(PLOT_WIDTH, AXIS_CHAR * eg_svg_characters(c->x_label));
    d->bottom = TOP + fmax(fmax(PLOT_HEIGHT, AXIS_CHAR * eg_svg_characters(c->y_label)),
                           ROW * (double)c->count);
    d->width = d->right + EDGE + SAMPLE + TEXT_CHAR * (name + slope) + 2 * EDGE;
    d->width = fmax(d->width, LEFT + TITLE_CHAR * eg_svg_characters(c->title) + EDGE);
    d->width = fmax(d->width, LEFT + TEXT_CHAR * eg_svg_characters(c->subtitle) + EDGE);
    d->height = d->bottom + BOTTOM;
    d->x = eg_axis_new(x0, x1, LEFT, d->right, true);
    d->y = eg_axis_new(y0, y1, d->bottom, TOP, false);
}

/* --- the frame ---------------------------------------------------------------------------------- */

/* Grid lines and labels. */
static eg_status put_ticks(drawing *d, const eg_axis *a)
{
    eg_status status = EG_OK;
    const bool has_minor = fabs(a->scale) >= 60;
    eg_tick tick = eg_axis_first(a);
    while (eg_axis_next(a, &tick)) {
        const point from = a->horizontal ? (point){tick.at, TOP} : (point){LEFT, tick.at};
        const point to = a->horizontal ? (point){tick.at, d->bottom} : (point){d->right, tick.at};
        if (tick.digit == 1 || has_minor)
            EG_TRY(put_line(d->svg, tick.digit == 1 ? "grid" : "minor", from, to));
        if (tick.label[0])
            EG_TRY(eg_text_printf(
                d->svg, "<text class=\"tick\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n",
                a->horizontal ? tick.at : LEFT - 9, a->horizontal ? d->bottom + 21 : tick.at + 4.5,
                a->horizontal ? "middle" : "end", tick.label));
    }
done:
    return status;
}

static eg_status put_frame(drawing *d)
{
    eg_status status = EG_OK;
    const eg_chart *c = d->chart;
    EG_TRY(eg_text_printf(d->svg,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                          "width=\"%.0f\" height=\"%.0f\" role=\"img\">\n<title>",
                          d->width, d->height, d->width, d->height));
    EG_TRY(eg_svg_put_escaped(d->svg, c->title));
    EG_TRY(eg_text_puts(d->svg, "</title>\n"));
    EG_TRY(eg_text_puts(d->svg, style));
    EG_TRY(eg_text_puts(d->svg, "<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n"));
    EG_TRY(put_text(d->svg, "title", LEFT, 38, "start", c->title));
    EG_TRY(put_text(d->svg, "sub", LEFT, 62, "start", c->subtitle));
    EG_TRY(eg_text_printf(d->svg,
                          "<rect class=\"plot\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                          "height=\"%.1f\"/>\n",
                          LEFT, TOP, d->right - LEFT, d->bottom - TOP));
    EG_TRY(put_ticks(d, &d->x));
    EG_TRY(put_ticks(d, &d->y));
    EG_TRY(put_text(d->svg, "axis", (LEFT + d->right) / 2, d->bottom + 50, "middle", c->x_label));
    EG_TRY(eg_text_printf(d->svg,
                          "<text class=\"axis\" transform=\"translate(26 %.1f) rotate(-90)\" "
                          "text-anchor=\"middle\">",
                          (TOP + d->bottom) / 2));
    EG_TRY(eg_svg_put_escaped(d->svg, c->y_label));
    EG_TRY(eg_text_puts(d->svg, "</text>\n"));
done:
    return status;
}

/* --- what is taken ------------------------------------------------------------------------------ */

static eg_status take(drawing *d, point p)
{
    eg_status status = EG_OK;
    if (d->taken_count == d->taken_capacity) {
        const size_t capacity = 2 * d->taken_capacity + 256;
        EG_TRY(eg_reallocate(d->ctx, capacity * sizeof *d->taken, (void **)&d->taken));
        d->taken_capacity = capacity;
    }
    d->taken[d->taken_count++] = p;
done:
    return status;
}

static eg_status take_line(drawing *d, point a, point b)
{
    eg_status status = EG_OK;
    const int pieces = 1 + (int)(hypot(b.x - a.x, b.y - a.y) / SPACING);
    for (int i = 0; i <= pieces; i++) {
        const double t = (double)i / pieces;
        EG_TRY(take(d, (point){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)}));
    }
done:
    return status;
}

/* A box, as lines from its left to its right edge. */
static eg_status take_box(drawing *d, point low, point high)
{
    eg_status status = EG_OK;
    const int rows = 1 + (int)((high.y - low.y) / SPACING);
    for (int i = 0; i <= rows; i++) {
        const double y = low.y + (double)i / rows * (high.y - low.y);
        EG_TRY(take_line(d, (point){low.x, y}, (point){high.x, y}));
    }
done:
    return status;
}

static bool in_box(point p, point low, point high)
{
    return p.x > low.x && p.x < high.x && p.y > low.y && p.y < high.y;
}

static bool is_free(const drawing *d, point low, point high)
{
    for (size_t i = 0; i < d->taken_count; i++)
        if (in_box(d->taken[i], low, high)) return false;
    return true;
}

static double turn(point a, point b, point c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static bool in_triangle(point p, const point t[3])
{
    const double a = turn(t[0], t[1], p), b = turn(t[1], t[2], p), c = turn(t[2], t[0], p);
    return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

/* --- lines -------------------------------------------------------------------------------------- */

static eg_status put_curve(drawing *d, size_t k)
{
    eg_status status = EG_OK;
    const eg_chart_series *s = &d->chart->series[k];
    point last = {NAN, NAN};
    EG_TRY(eg_text_printf(d->svg, "<polyline class=\"line t%zu\" points=\"", k % COLOURS));
    for (size_t i = 0; i < s->count; i++) {
        if (!has_place(s, i)) continue;
        const point p = place_of(d, s, i);
        EG_TRY(eg_text_printf(d->svg, "%.1f,%.1f ", p.x, p.y));
        EG_TRY(take_box(d, (point){p.x - 6, p.y - 6}, (point){p.x + 6, p.y + 6}));
        if (isfinite(last.x)) EG_TRY(take_line(d, last, p));
        last = p;
    }
    EG_TRY(eg_text_puts(d->svg, "\"/>\n"));
done:
    return status;
}

/* Opens the element of a marker; the caller ends it with "/>" or with its content and end tag, whose
 * name is returned. */
static eg_status put_marker(eg_text *svg, size_t k, point p, double r, const char **tag)
{
    const size_t colour = k % COLOURS;
    switch ((k + k / COLOURS) % SHAPES) {
    case 0:
        *tag = "circle";
        return eg_text_printf(svg, "<circle class=\"mark f%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"",
                              colour, p.x, p.y, r);
    case 1:
        *tag = "rect";
        return eg_text_printf(svg,
                              "<rect class=\"mark f%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                              "height=\"%.1f\"",
                              colour, p.x - 0.9 * r, p.y - 0.9 * r, 1.8 * r, 1.8 * r);
    case 2:
        *tag = "path";
        return eg_text_printf(svg, "<path class=\"mark f%zu\" d=\"M%.1f %.1fl%.1f %.1fh%.1fz\"",
                              colour, p.x, p.y - 1.2 * r, 1.2 * r, 2.1 * r, -2.4 * r);
    default:
        *tag = "path";
        return eg_text_printf(svg,
                              "<path class=\"mark f%zu\" d=\"M%.1f %.1fl%.1f %.1fl%.1f %.1fl%.1f "
                              "%.1fz\"",
                              colour, p.x, p.y - 1.3 * r, 1.3 * r, 1.3 * r, -1.3 * r, 1.3 * r,
                              -1.3 * r, -1.3 * r);
    }
}

static eg_status put_markers(drawing *d, size_t k)
{
    eg_status status = EG_OK;
    const eg_chart_series *s = &d->chart->series[k];
    for (size_t i = 0; i < s->count; i++) {
        const char *tag = NULL;
        if (!has_place(s, i)) continue;
        EG_TRY(put_marker(d->svg, k, place_of(d, s, i), 5, &tag));
        EG_TRY(eg_text_puts(d->svg, "><title>"));
        EG_TRY(eg_svg_put_escaped(d->svg, s->name));
        EG_TRY(eg_text_printf(d->svg, ": %.4e at %.4g</title></%s>\n", s->y[i], s->x[i], tag));
    }
done:
    return status;
}

/* True if values reach down to the floor and it is on the chart. */
static bool has_floor(const drawing *d)
{
    const eg_chart *c = d->chart;
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < c->series[k].count; i++)
            if (has_place(&c->series[k], i) && c->series[k].y[i] <= c->floor)
                return log10(c->floor) < d->y.high;
    return false;
}

static eg_status put_floor(drawing *d)
{
    eg_status status = EG_OK;
    if (!has_floor(d)) return EG_OK;
    const double y = eg_axis_pixel(&d->y, d->chart->floor);
    const point left = {LEFT, y}, right = {d->right, y};
    EG_TRY(put_line(d->svg, "floor", left, right));
    EG_TRY(take_line(d, left, right));
done:
    return status;
}

/* Says what the floor is, where there is room: above or below it, as far right as may be. */
static eg_status put_floor_label(drawing *d)
{
    eg_status status = EG_OK;
    if (!has_floor(d)) return EG_OK;
    const double width = EG_TICK_CHAR * eg_svg_characters(d->chart->floor_label);
    const double y = eg_axis_pixel(&d->y, d->chart->floor);
    for (double right = d->right - 8; right - width > LEFT; right -= 2 * SPACING)
        for (int below = 0; below < 2; below++) {
            const double base = below ? y + 16 : y - 6;
            const point low = {right - width - 4, base - 13}, high = {right + 4, base + 4};
            if (high.y > d->bottom || low.y < TOP || !is_free(d, low, high)) continue;
            EG_TRY(put_text(d->svg, "tick", right, base, "end", d->chart->floor_label));
            EG_TRY(take_box(d, low, high));
            return EG_OK;
        }
done:
    return status;
}

/* --- slopes ------------------------------------------------------------------------------------- */

/* A right-angled triangle below or above the line from a to b (a to the left), around the part t of
 * it, with its slope beside the upright leg. *placed tells whether there was room. */
static eg_status try_triangle(drawing *d, size_t k, point a, point b, double t, bool below,
                              bool *placed)
{
    eg_status status = EG_OK;
    const double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy);
    const double part = fmin(0.18, fmin(45 / dx, 45 / fmax(fabs(dy), 1)));
    const double away = below ? 9 : -9, nx = -dy / length * away, ny = dx / length * away;
    const point p = {a.x + (t - part) * dx + nx, a.y + (t - part) * dy + ny};
    const point q = {a.x + (t + part) * dx + nx, a.y + (t + part) * dy + ny};
    const bool upright_right = (dy < 0) == below;
    const point corner = upright_right ? (point){q.x, p.y} : (point){p.x, q.y};
    const point triangle[3] = {p, q, corner};
    char text[32];
    snprintf(text, sizeof text, "%.2f", eg_chart_slope(&d->chart->series[k]));
    const double width = EG_TICK_CHAR * (double)strlen(text) + 2;
    const double x = corner.x + (upright_right ? 5 : -5), y = (p.y + q.y) / 2;
    const point low = {upright_right ? x - 2 : x - width, y - 9};
    const point high = {upright_right ? x + width : x + 2, y + 9};
    const point corners[] = {p, q, low, high};
    *placed = false;
    for (size_t i = 0; i < EG_COUNT(corners); i++)
        if (!in_box(corners[i], (point){LEFT, TOP}, (point){d->right, d->bottom})) return EG_OK;
    for (size_t i = 0; i < d->taken_count; i++)
        if (in_triangle(d->taken[i], triangle)) return EG_OK;
    if (!is_free(d, low, high)) return EG_OK;
    *placed = true;
    EG_TRY(eg_text_printf(d->svg,
                          "<path class=\"slope t%zu\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\"/>\n",
                          k % COLOURS, p.x, p.y, q.x, q.y, corner.x, corner.y));
    EG_TRY(put_text(d->svg, "label", x, y + 4.5, upright_right ? "start" : "end", text));
    EG_TRY(take_line(d, p, q));
    EG_TRY(take_line(d, q, corner));
    EG_TRY(take_line(d, corner, p));
    EG_TRY(take_box(d, low, high));
done:
    return status;
}

static eg_status put_slope(drawing *d, size_t k)
{
    static const double parts[] = {0.5, 0.35, 0.65};
    eg_status status = EG_OK;
    const eg_chart_series *s = &d->chart->series[k];
    bool placed = false;
    if (!isfinite(eg_chart_slope(s))) return EG_OK;
    point a = place_of(d, s, s->slope - 1), b = place_of(d, s, s->slope);
    if (a.x > b.x) {
        const point other = a;
        a = b;
        b = other;
    }
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < EG_COUNT(parts) && !placed; i++)
            EG_TRY(try_triangle(d, k, a, b, parts[i], side == 0, &placed));
done:
    return status;
}

static eg_status put_legend(drawing *d)
{
    eg_status status = EG_OK;
    const eg_chart *c = d->chart;
    const double x = d->right + EDGE;
    double name = 0;
    for (size_t k = 0; k < c->count; k++)
        name = fmax(name, eg_svg_characters(c->series[k].name));
    for (size_t k = 0; k < c->count; k++) {
        const double y = TOP + ROW * ((double)k + 0.5), slope = eg_chart_slope(&c->series[k]);
        const char *tag = NULL;
        char class[16], text[96];
        snprintf(class, sizeof class, "line t%zu", k % COLOURS);
        EG_TRY(put_line(d->svg, class, (point){x, y}, (point){x + SAMPLE - 12, y}));
        EG_TRY(put_marker(d->svg, k, (point){x + (SAMPLE - 12) / 2, y}, 5, &tag));
        EG_TRY(eg_text_puts(d->svg, "/>\n"));
        EG_TRY(put_text(d->svg, "legend", x + SAMPLE, y + 5, "start", c->series[k].name));
        if (!isfinite(slope)) continue;
        snprintf(text, sizeof text, "%s %.2f", c->slope_name, slope);
        EG_TRY(put_text(d->svg, "legend", x + SAMPLE + TEXT_CHAR * name + EDGE / 2, y + 5, "start",
                        text));
    }
done:
    return status;
}

eg_status eg_chart_write(eg_context *ctx, const eg_chart *chart, eg_text *svg)
{
    eg_status status = EG_OK;
    drawing d = {.ctx = ctx, .chart = chart, .svg = svg};
    lay_out(&d);
    EG_TRY(put_frame(&d));
    EG_TRY(put_floor(&d));
    for (size_t k = 0; k < chart->count; k++)
        EG_TRY(put_curve(&d, k));
    EG_TRY(put_floor_label(&d));
    for (size_t k = 0; k < chart->count && chart->count <= TRIANGLES_MOST; k++)
        EG_TRY(put_slope(&d, k));
    for (size_t k = 0; k < chart->count; k++)
        EG_TRY(put_markers(&d, k));
    EG_TRY(put_legend(&d));
    EG_TRY(eg_text_puts(svg, "</svg>\n"));
done:
    eg_release(ctx, &d.taken);
    return status;
}
