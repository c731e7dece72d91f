/* Draws charts of lines, markers and bars: sizes, axes, legend.
 *
 * Text stays text in an SVG, colours follow the reader's light or dark scheme (light on paper), every
 * marker carries its figures as a tooltip. The picture grows with its texts and its legend, so that
 * nothing is cut off: widths of texts are estimated, on the safe side. */
#include "report/chart/chart.h"

#include "report/chart/drawing.h"
#include "report/draw/png.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* In pixels. */
#define LEFT 92.0
#define BOTTOM 66.0
#define EDGE 26.0 /* between the plot and the legend, and around */
#define PLOT_WIDTH 620.0
#define PLOT_HEIGHT 440.0
#define PLOT_WIDEST 1400.0 /* with many names below */
#define PLOT_LOWEST 150.0  /* of a stack */
#define STACK_HEIGHT 680.0
#define ROW 23.0    /* of the legend */
#define SAMPLE 40.0 /* of a line in the legend, with its distance to the name */
#define DENSE 8.0   /* a grid line per decade is too much below this */
#define MINOR 60.0  /* so long a decade has lines between powers of ten */

/* What longer texts are cut down to. */
#define TITLE_MOST 1600.0
#define LABEL_MOST 900.0
#define NAME_MOST 420.0

/* More than so many triangles are no help. */
enum { TRIANGLES_MOST = 24, TEXT_BYTES = 512 };

static const eg_font title_font = {.ink = EG_CHART_INK_TEXT, .size = 20, .bold = true};
static const eg_font sub_font = {.ink = EG_CHART_INK_SUBTITLE, .size = 14};
static const eg_font axis_font = {.ink = EG_CHART_INK_TEXT, .size = 15, .anchor = EG_ANCHOR_MIDDLE};
static const eg_font tick_font = {.ink = EG_CHART_INK_TICK, .size = 13};
static const eg_font legend_font = {.ink = EG_CHART_INK_TEXT, .size = 14};

static void make_inks(eg_ink inks[EG_CHART_INKS])
{
    static const char *const fixed[EG_CHART_INK_SERIES][2] = {
        [EG_CHART_INK_BACK] = {EG_LIGHT_BACK, EG_DARK_BACK},
        [EG_CHART_INK_PLOT] = {EG_LIGHT_PLOT, EG_DARK_PLOT},
        [EG_CHART_INK_FRAME] = {EG_LIGHT_FRAME, EG_DARK_FRAME},
        [EG_CHART_INK_TEXT] = {EG_LIGHT_TEXT, EG_DARK_TEXT},
        [EG_CHART_INK_SUBTITLE] = {EG_LIGHT_SUBTITLE, EG_DARK_SUBTITLE},
        [EG_CHART_INK_TICK] = {EG_LIGHT_TICK, EG_DARK_TICK},
        [EG_CHART_INK_GRID] = {"d5dae0", "303842"},
        [EG_CHART_INK_MINOR] = {"eaedf0", "1d242c"},
    };
    static const char *const light[EG_PALETTE_COUNT] = {EG_LIGHT_SERIES};
    static const char *const dark[EG_PALETTE_COUNT] = {EG_DARK_SERIES};
    for (int i = 0; i < EG_CHART_INK_SERIES; i++)
        inks[i] = (eg_ink){eg_rgb_parse(fixed[i][0]), eg_rgb_parse(fixed[i][1])};
    for (int i = 0; i < EG_PALETTE_COUNT; i++)
        inks[EG_CHART_INK_SERIES + i] = (eg_ink){eg_rgb_parse(light[i]), eg_rgb_parse(dark[i])};
}

/* --- texts -------------------------------------------------------------------------------------- */

/* A text that may be NULL and is cut down to a width, in `out`. */
static void shorten(const eg_chart_drawing *d, const eg_font *font, const char *text, double most,
                    char out[TEXT_BYTES])
{
    char cut[TEXT_BYTES];
    snprintf(out, TEXT_BYTES, "%s",
             eg_canvas_fit(d->canvas, font, text ? text : "", most, cut, sizeof cut));
}

/* The label of an axis, with the base that its ticks are differences from. */
static void label_axis(const eg_chart_drawing *d, const eg_chart_axis *of, const eg_axis *axis,
                       char out[TEXT_BYTES])
{
    char base[32];
    shorten(d, &axis_font, of->label, LABEL_MOST, out);
    eg_axis_base_label(axis, base);
    if (!base[0]) return;
    const bool negative = base[0] == '-';
    snprintf(out + strlen(out), TEXT_BYTES - strlen(out), "%s %s %s", out[0] ? "" : "values",
             negative ? "+" : "\xe2\x88\x92", base + negative);
}

static eg_status put_line(eg_chart_drawing *d, const eg_pen *pen, eg_spot a, eg_spot b)
{
    eg_status status = EG_OK;
    EG_TRY(eg_canvas_begin(d->canvas, pen));
    EG_TRY(eg_canvas_move(d->canvas, a.x, a.y));
    EG_TRY(eg_canvas_line(d->canvas, b.x, b.y));
    EG_TRY(eg_canvas_end(d->canvas));
done:
    return status;
}

/* --- sizes -------------------------------------------------------------------------------------- */

/* Positions of all points: low x, high x, low y, high y. */
static void survey(const eg_chart *c, double range[4])
{
    for (int i = 0; i < 4; i++)
        range[i] = i % 2 ? -INFINITY : INFINITY;
    for (size_t k = 0; k < c->count; k++) {
        const eg_chart_series *s = &c->series[k];
        for (size_t i = 0; i < s->count; i++) {
            if (!eg_chart_has_place(c, s, i)) continue;
            const double x = eg_scale_position(c->x.scale, s->x[i]);
            const double y = eg_scale_position(c->y.scale, s->y[i]);
            const bool from_zero = s->style == EG_CHART_BARS && c->y.scale == EG_SCALE_LINEAR;
            range[0] = fmin(range[0], x);
            range[1] = fmax(range[1], x);
            range[2] = fmin(range[2], from_zero ? fmin(y, 0) : y);
            range[3] = fmax(range[3], from_zero ? fmax(y, 0) : y);
        }
    }
}

/* Widths of the names and of the slopes in the legend; how many rows it has. */
static size_t measure_legend(const eg_chart_drawing *d, double *names, double *slopes)
{
    const eg_chart *c = d->chart;
    size_t rows = 0;
    *names = *slopes = 0;
    for (size_t k = 0; k < c->count; k++) {
        char text[TEXT_BYTES];
        if (!c->series[k].name) continue;
        rows++;
        shorten(d, &legend_font, c->series[k].name, NAME_MOST, text);
        *names = fmax(*names, eg_canvas_text_width(d->canvas, &legend_font, text));
        if (!eg_chart_has_slope(c, &c->series[k])) continue;
        snprintf(text, sizeof text, "%s -10.00", c->slope_name);
        *slopes = EDGE / 2 + eg_canvas_text_width(d->canvas, &legend_font, text);
    }
    return rows;
}

/* The width of the widest label of an axis. */
static double widest_label(const eg_axis *axis)
{
    double width = 0;
    eg_tick tick = eg_axis_first(axis);
    while (eg_axis_next(axis, &tick))
        width = fmax(width, eg_axis_label_width(tick.label));
    return width;
}

static double plot_width(const eg_chart *c)
{
    double widest = 0;
    for (size_t i = 0; c->x.scale == EG_SCALE_NAMES && i < c->x.name_count; i++)
        widest = fmax(widest, eg_axis_label_width(c->x.names[i]) + 12);
    return fmin(PLOT_WIDEST, fmax(PLOT_WIDTH, widest * (double)c->x.name_count));
}

/* Room above the first plot, for its titles. */
static double top_of(const eg_chart *c)
{
    return EDGE + (c->title && c->title[0] ? 34 : 0) + (c->subtitle && c->subtitle[0] ? 24 : 0);
}

/* The height of a plot and its y axis; `top` is where it starts. */
static void lay_out_height(eg_chart_drawing *d, double top, double height, const double range[4])
{
    const eg_chart_axis *y = &d->chart->y;
    double names, slopes;
    char label[TEXT_BYTES];
    /* An axis of any length tells its base. */
    d->y = eg_axis_new(y->scale, range[2], range[3], height, 0, false);
    label_axis(d, y, &d->y, label);
    height = fmax(height, ROW * (double)measure_legend(d, &names, &slopes));
    height = fmax(height, eg_canvas_text_width(d->canvas, &axis_font, label));
    d->top = top;
    d->bottom = top + height;
    d->y = eg_axis_new(y->scale, range[2], range[3], d->bottom, d->top, false);
    d->left = fmax(LEFT, ceil(widest_label(&d->y)) + 52);
}

/* How wide the picture must be for a plot, its legend and its titles. */
static double width_of(const eg_chart_drawing *d)
{
    double names, slopes, width = d->right + 1.4 * EDGE; /* room for half of the last label */
    char text[TEXT_BYTES];
    if (measure_legend(d, &names, &slopes) > 0)
        width = d->right + EDGE + SAMPLE + names + slopes + EDGE;
    shorten(d, &title_font, d->chart->title, TITLE_MOST, text);
    width = fmax(width, d->left + eg_canvas_text_width(d->canvas, &title_font, text) + EDGE);
    shorten(d, &sub_font, d->chart->subtitle, TITLE_MOST, text);
    return fmax(width, d->left + eg_canvas_text_width(d->canvas, &sub_font, text) + EDGE);
}

/* Chooses the ranges and the size of everything. */
static void lay_out(eg_chart_drawing *stack, size_t count, eg_canvas *canvas)
{
    const eg_chart_axis *x = &stack[count - 1].chart->x;
    const double height =
        count == 1 ? PLOT_HEIGHT : fmax(PLOT_LOWEST, STACK_HEIGHT / (double)count);
    double low = INFINITY, high = -INFINITY, left = 0, width = 0, top = top_of(stack[0].chart);
    char label[TEXT_BYTES];
    for (size_t n = 0; n < count; n++) {
        double range[4];
        survey(stack[n].chart, range);
        low = fmin(low, range[0]);
        high = fmax(high, range[1]);
        lay_out_height(&stack[n], top, height, range);
        left = fmax(left, stack[n].left);
        top = stack[n].bottom + EDGE;
    }
    shorten(&stack[0], &axis_font, x->label, LABEL_MOST, label);
    const double right = left + fmax(plot_width(stack[count - 1].chart),
                                     eg_canvas_text_width(canvas, &axis_font, label));
    for (size_t n = 0; n < count; n++) {
        eg_chart_drawing *d = &stack[n];
        d->left = left;
        d->right = right;
        d->x = x->scale == EG_SCALE_NAMES ? eg_axis_of_names(x->names, x->name_count, left, right)
                                          : eg_axis_new(x->scale, low, high, left, right, true);
        width = fmax(width, width_of(d));
    }
    canvas->width = (int)ceil(width);
    canvas->height = (int)ceil(stack[count - 1].bottom + BOTTOM);
}

/* --- the frame ---------------------------------------------------------------------------------- */

/* Grid lines and labels. */
static eg_status put_ticks(eg_chart_drawing *d, const eg_axis *a)
{
    eg_status status = EG_OK;
    const bool is_log = a->scale == EG_SCALE_LOG;
    const bool has_minor = fabs(a->pixels) >= MINOR, has_all = !is_log || fabs(a->pixels) >= DENSE;
    eg_font font = tick_font;
    font.anchor = a->horizontal ? EG_ANCHOR_MIDDLE : EG_ANCHOR_END;
    eg_tick tick = eg_axis_first(a);
    while (eg_axis_next(a, &tick)) {
        const eg_spot from =
            a->horizontal ? (eg_spot){tick.at, d->top} : (eg_spot){d->left, tick.at};
        const eg_spot to =
            a->horizontal ? (eg_spot){tick.at, d->bottom} : (eg_spot){d->right, tick.at};
        const bool zero = !is_log && !a->horizontal && tick.value == 0;
        const bool faint = tick.minor || a->scale == EG_SCALE_NAMES;
        const int ink = faint ? EG_CHART_INK_MINOR : zero ? EG_CHART_INK_FRAME : EG_CHART_INK_GRID;
        const eg_pen pen = {.class = zero ? "zero" : "grid", .ink = ink, .width = 1};
        if (tick.minor ? has_minor : has_all || tick.label[0]) EG_TRY(put_line(d, &pen, from, to));
        if (tick.label[0] && (d->lowest || !a->horizontal))
            EG_TRY(eg_canvas_text(d->canvas, &font, a->horizontal ? tick.at : d->left - 9,
                                  a->horizontal ? d->bottom + 21 : tick.at + 4.5, tick.label));
    }
done:
    return status;
}

static eg_status put_titles(eg_chart_drawing *d)
{
    eg_status status = EG_OK;
    char text[TEXT_BYTES];
    double y = 38;
    shorten(d, &title_font, d->chart->title, TITLE_MOST, text);
    if (text[0]) {
        EG_TRY(eg_canvas_text(d->canvas, &title_font, d->left, y, text));
        y += 24;
    }
    shorten(d, &sub_font, d->chart->subtitle, TITLE_MOST, text);
    if (text[0]) EG_TRY(eg_canvas_text(d->canvas, &sub_font, d->left, y, text));
done:
    return status;
}

static eg_status put_frame(eg_chart_drawing *d)
{
    eg_status status = EG_OK;
    const eg_chart *c = d->chart;
    const double width = d->right - d->left, height = d->bottom - d->top;
    const eg_pen plot = {.class = "plot", .ink = EG_CHART_INK_PLOT};
    const eg_pen edge = {.class = "frame", .ink = EG_CHART_INK_FRAME, .width = 1};
    char text[TEXT_BYTES];
    eg_font font = axis_font;
    EG_TRY(eg_canvas_rectangle(d->canvas, &plot, d->left, d->top, width, height));
    EG_TRY(put_ticks(d, &d->x));
    EG_TRY(put_ticks(d, &d->y));
    EG_TRY(eg_canvas_rectangle(d->canvas, &edge, d->left, d->top, width, height));
    label_axis(d, &c->x, &d->x, text);
    if (d->lowest && text[0])
        EG_TRY(eg_canvas_text(d->canvas, &font, d->left + width / 2, d->bottom + 50, text));
    label_axis(d, &c->y, &d->y, text);
    font.upwards = true;
    if (text[0]) EG_TRY(eg_canvas_text(d->canvas, &font, 26, d->top + height / 2, text));
done:
    return status;
}

/* --- the floor ---------------------------------------------------------------------------------- */

/* True if values reach down to the floor and it is on the chart. */
static bool has_floor(const eg_chart_drawing *d)
{
    const eg_chart *c = d->chart;
    if (c->floor == 0 || !eg_scale_has(c->y.scale, c->floor)) return false;
    const double at = eg_axis_pixel(&d->y, c->floor);
    if (at < d->top || at > d->bottom) return false;
    for (size_t k = 0; k < c->count; k++)
        for (size_t i = 0; i < c->series[k].count; i++)
            if (eg_chart_has_place(c, &c->series[k], i) && c->series[k].y[i] <= c->floor)
                return true;
    return false;
}

static eg_status put_floor(eg_chart_drawing *d)
{
    if (!has_floor(d)) return EG_OK;
    const double y = eg_axis_pixel(&d->y, d->chart->floor);
    const eg_spot left = {d->left, y}, right = {d->right, y};
    const eg_pen pen = {.class = "floor", .ink = EG_CHART_INK_SUBTITLE, .width = 1, .dash = 5.5};
    eg_room_take_line(&d->room, left, right);
    return put_line(d, &pen, left, right);
}

/* Says what the floor is, where there is room: above or below it, as far right as may be. */
static eg_status put_floor_label(eg_chart_drawing *d)
{
    if (!has_floor(d)) return EG_OK;
    const char *label = d->chart->floor_label;
    const double width = eg_axis_label_width(label), y = eg_axis_pixel(&d->y, d->chart->floor);
    eg_font font = tick_font;
    font.anchor = EG_ANCHOR_END;
    for (double right = d->right - 8; right - width > d->left; right -= 8)
        for (int below = 0; below < 2; below++) {
            const double base = below ? y + 16 : y - 6;
            const eg_spot low = {right - width - 4, base - 13}, high = {right + 4, base + 4};
            if (!eg_room_has_box(&d->room, low, high)) continue;
            eg_room_take_box(&d->room, low, high);
            return eg_canvas_text(d->canvas, &font, right, base, label);
        }
    return EG_OK;
}

/* --- the chart ---------------------------------------------------------------------------------- */

static eg_status put_legend(eg_chart_drawing *d)
{
    eg_status status = EG_OK;
    const eg_chart *c = d->chart;
    const double x = d->right + EDGE;
    double names, slopes, y = d->top + ROW / 2;
    measure_legend(d, &names, &slopes);
    for (size_t k = 0; k < c->count; k++) {
        const eg_chart_series *s = &c->series[k];
        char text[TEXT_BYTES];
        if (!s->name) continue;
        EG_TRY(eg_chart_put_sample(d, k, x, y));
        shorten(d, &legend_font, s->name, NAME_MOST, text);
        EG_TRY(eg_canvas_text(d->canvas, &legend_font, x + SAMPLE, y + 5, text));
        if (eg_chart_has_slope(c, s)) {
            snprintf(text, sizeof text, "%s %.2f", c->slope_name, eg_chart_slope(s));
            EG_TRY(eg_canvas_text(d->canvas, &legend_font, x + SAMPLE + names + EDGE / 2, y + 5,
                                  text));
        }
        y += ROW;
    }
done:
    return status;
}

static eg_status draw(eg_chart_drawing *d)
{
    eg_status status = EG_OK;
    const size_t count = d->chart->count;
    EG_TRY(eg_room_open(d->canvas->ctx, (eg_spot){d->left, d->top}, (eg_spot){d->right, d->bottom},
                        &d->room));
    EG_TRY(put_frame(d));
    EG_TRY(put_floor(d));
    for (size_t k = 0; k < count; k++)
        EG_TRY(eg_chart_put_series(d, k));
    EG_TRY(put_floor_label(d));
    for (size_t k = 0; k < count && count <= TRIANGLES_MOST; k++)
        EG_TRY(eg_chart_put_slope(d, k));
    for (size_t k = 0; k < count; k++)
        EG_TRY(eg_chart_put_markers(d, k));
    EG_TRY(put_legend(d));
done:
    eg_room_close(&d->room);
    return status;
}

eg_status eg_chart_write_stack(eg_context *ctx, const eg_chart *charts, size_t count, eg_text *out)
{
    eg_status status = EG_OK;
    eg_ink inks[EG_CHART_INKS];
    eg_chart_drawing *stack = NULL;
    eg_canvas canvas = {.ctx = ctx,
                        .format = charts->format,
                        .dark = charts->dark,
                        .inks = inks,
                        .ink_count = EG_CHART_INKS,
                        .unit = 0.1};
    assert(count > 0);
    if (charts->format == EG_PICTURE_PNG) EG_TRY(eg_png_check(ctx));
    make_inks(inks);
    EG_TRY(eg_new(ctx, count, &stack));
    for (size_t n = 0; n < count; n++) {
        stack[n] = (eg_chart_drawing){.chart = &charts[n], .canvas = &canvas};
        stack[n].lowest = n + 1 == count;
    }
    lay_out(stack, count, &canvas);
    canvas.scale = charts->width > 0                  ? (double)charts->width / canvas.width
                   : charts->format == EG_PICTURE_PNG ? 2
                                                      : 1;
    EG_TRY(eg_canvas_open(&canvas, charts->title ? charts->title : ""));
    EG_TRY(put_titles(&stack[0]));
    for (size_t n = 0; n < count; n++)
        EG_TRY(draw(&stack[n]));
    EG_TRY(eg_canvas_write(&canvas, out));
done:
    eg_canvas_close(&canvas);
    eg_release(ctx, &stack);
    return status;
}

eg_status eg_chart_write(eg_context *ctx, const eg_chart *chart, eg_text *out)
{
    return eg_chart_write_stack(ctx, chart, 1, out);
}
