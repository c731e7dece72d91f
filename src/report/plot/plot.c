/* Draws the picture of a field: title, plot, axes, colour bar.
 *
 * The numbers of the bar take room from the plot, whose pixels have the values that the numbers are
 * of: so the picture is laid out with room for usual numbers, and once more if that was not
 * enough. */
#include "report/plot/plot.h"

#include "report/draw/canvas.h"
#include "report/draw/linear.h"
#include "report/draw/palette.h"
#include "report/draw/png.h"
#include "report/plot/contour.h"
#include "report/plot/layout.h"
#include "report/plot/paint.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { COLOURS = 1024, TEXT_BYTES = 512 };

#define LINE 0.9 /* units, between elements */
#define CONTOUR 1.2
#define BEYOND 1e-3 /* part of the range by which values are beyond it before it shows */

enum { INK_BACK, INK_PLOT, INK_FRAME, INK_TEXT, INK_SUBTITLE, INK_TICK, INKS };

typedef struct picture {
    const eg_plot_field *field;
    const eg_plot_options *options;
    eg_plot_layout at;
    eg_canvas canvas;
    eg_plot_image *image; /* owned */
    eg_plot_extent extent;
    double range[2];
    double levels[EG_PLOT_CONTOURS_MOST];
    int level_count;
} picture;

static eg_status check(eg_context *ctx, const eg_plot_options *o)
{
    const int sizes[2] = {o->width, o->height};
    for (int i = 0; i < 2; i++)
        if (sizes[i] != 0 && (sizes[i] < EG_PLOT_SIZE_LEAST || sizes[i] > EG_PLOT_SIZE_MOST))
            return eg_fail(ctx, EG_ERROR_INPUT, "a picture is %d to %d pixels %s, not %d",
                           EG_PLOT_SIZE_LEAST, EG_PLOT_SIZE_MOST, i ? "high" : "wide", sizes[i]);
    if (o->has_range && !(o->range[0] < o->range[1]))
        return eg_fail(ctx, EG_ERROR_INPUT, "the range from %.9g to %.9g is empty", o->range[0],
                       o->range[1]);
    if (o->has_zoom && !(o->zoom[0] < o->zoom[1] && o->zoom[2] < o->zoom[3]))
        return eg_fail(ctx, EG_ERROR_INPUT, "the part from %.9g to %.9g and %.9g to %.9g is empty",
                       o->zoom[0], o->zoom[1], o->zoom[2], o->zoom[3]);
    if (o->contours < 0 || o->contours > EG_PLOT_CONTOURS_MOST || o->level_count < 0 ||
        o->level_count > EG_PLOT_CONTOURS_MOST)
        return eg_fail(ctx, EG_ERROR_INPUT, "a picture has at most %d contour lines",
                       EG_PLOT_CONTOURS_MOST);
    for (int i = 0; i + 1 < o->level_count; i++)
        if (!(o->levels[i] < o->levels[i + 1]))
            return eg_fail(ctx, EG_ERROR_INPUT, "contour lines ascend, but %.9g follows %.9g",
                           o->levels[i + 1], o->levels[i]);
    return EG_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

/* The range of the colours, never empty. */
static void choose_range(picture *p)
{
    const eg_plot_options *o = p->options;
    double low = p->extent.low, high = p->extent.high;
    if (o->has_range) {
        low = o->range[0];
        high = o->range[1];
    } else if (!(low <= high)) {
        low = 0;
        high = 1;
    } else if (o->map == EG_COLOURS_BALANCE) {
        high = fmax(fabs(low), fabs(high));
        low = -high;
    }
    const double size = fmax(fabs(low), fabs(high));
    if (high - low <= 16 * DBL_EPSILON * size || high - low < 1e-290) {
        const double half = size > 1e-290 ? 0.1 * size : 1; /* constant, but for rounding */
        low -= half;
        high += half;
    }
    p->range[0] = low;
    p->range[1] = high;
}

/* Makes the image, with room for the numbers of its bar. */
static eg_status make_image(picture *p)
{
    eg_status status = EG_OK;
    for (int again = 0; again < 2; again++) {
        EG_TRY(eg_plot_layout_place(p->canvas.ctx, p->options, &p->at));
        eg_plot_image_destroy(&p->image);
        EG_TRY(eg_plot_image_create(p->field, &p->at.view, p->options->mesh ? LINE * p->at.unit : 0,
                                    &p->image));
        p->extent = eg_plot_image_measure(p->image);
        choose_range(p);
        const eg_axis axis = eg_plot_layout_bar_axis(&p->at, p->range[0], p->range[1]);
        const double numbers = ceil(eg_plot_layout_widest(&p->at, &axis));
        if (numbers <= p->at.numbers) break;
        p->at.numbers = numbers;
    }
done:
    return status;
}

/* Contour lines as they were given, or at round numbers. */
static void choose_levels(picture *p)
{
    const eg_plot_options *o = p->options;
    p->level_count = o->level_count;
    for (int i = 0; i < o->level_count; i++)
        p->levels[i] = o->levels[i];
    if (o->level_count > 0 || o->contours == 0) return;
    const double step = eg_round_up((p->range[1] - p->range[0]) / (o->contours + 1));
    for (int64_t k = eg_first_tick(p->range[0], step);
         (double)k * step <= p->range[1] && p->level_count < EG_PLOT_CONTOURS_MOST; k++)
        p->levels[p->level_count++] = (double)k * step;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static eg_font font_of(const picture *p, int ink, double size)
{
    return (eg_font){.ink = ink, .size = p->at.unit * size};
}

/* The text where it is, or as much of it as fits. */
static eg_status put_text(picture *p, eg_font font, double x, double y, double most,
                          const char *text)
{
    char cut[TEXT_BYTES];
    return eg_canvas_text(&p->canvas, &font, x, y,
                          eg_canvas_fit(&p->canvas, &font, text, most, cut, sizeof cut));
}

/* Two numbers with as many digits as it takes to tell them apart. */
static void describe_values(double low, double high, char text[96])
{
    char a[32], b[32];
    int digits = 5;
    do {
        digits++;
        snprintf(a, sizeof a, "%.*g", digits, low);
        snprintf(b, sizeof b, "%.*g", digits, high);
    } while (strcmp(a, b) == 0 && digits < DBL_DECIMAL_DIG && low < high);
    snprintf(text, 96, low < high ? "values from %s to %s" : "the value is %s everywhere", a, b);
}

static eg_status put_titles(picture *p)
{
    eg_status status = EG_OK;
    const eg_snapshot *s = p->field->snapshot;
    const double u = p->at.unit, most = p->canvas.width - 2 * EG_PLOT_EDGE * u;
    eg_font font = font_of(p, INK_TEXT, 20);
    char text[TEXT_BYTES], values[96];
    int length = snprintf(text, sizeof text, "t = %.6g", s->time);
    if (p->at.view.normal >= 0)
        length += snprintf(text + length, sizeof text - (size_t)length, ", plane %s = %.6g",
                           eg_plot_coordinate(p->at.view.normal), p->at.view.at);
    if (p->extent.low <= p->extent.high) {
        describe_values(p->extent.low, p->extent.high, values);
        length += snprintf(text + length, sizeof text - (size_t)length, ", %s", values);
    }
    if (p->extent.undefined > 0)
        snprintf(text + length, sizeof text - (size_t)length, ", pink where they are not finite");
    font.bold = true;
    if (p->options->title)
        EG_TRY(put_text(p, font, EG_PLOT_EDGE * u, 34 * u, most, p->options->title));
    EG_TRY(put_text(p, font_of(p, INK_SUBTITLE, 14), EG_PLOT_EDGE * u, 58 * u, most, text));
done:
    return status;
}

/* The numbers of an axis along a line at `beside`. */
static eg_status put_numbers(picture *p, const eg_axis *axis, double beside, bool rightwards)
{
    eg_status status = EG_OK;
    const double u = p->at.unit, tick_length = EG_PLOT_TICK * u;
    eg_font font = font_of(p, INK_TICK, EG_PLOT_NUMBER);
    eg_tick tick = eg_axis_first(axis);
    font.anchor = axis->horizontal ? EG_ANCHOR_MIDDLE
                  : rightwards     ? EG_ANCHOR_START
                                   : EG_ANCHOR_END;
    while (eg_axis_next(axis, &tick)) {
        const double way = rightwards ? tick_length : -tick_length;
        EG_TRY(eg_canvas_begin(&p->canvas, &(eg_pen){.ink = INK_FRAME, .width = u}));
        EG_TRY(eg_canvas_move(&p->canvas, axis->horizontal ? tick.at : beside,
                              axis->horizontal ? beside : tick.at));
        EG_TRY(eg_canvas_line(&p->canvas, axis->horizontal ? tick.at : beside + way,
                              axis->horizontal ? beside + tick_length : tick.at));
        EG_TRY(eg_canvas_end(&p->canvas));
        EG_TRY(eg_canvas_text(
            &p->canvas, &font, axis->horizontal ? tick.at : beside + way + (way > 0 ? 4 : -4) * u,
            axis->horizontal ? beside + tick_length + 15 * u : tick.at + 5 * u, tick.label));
    }
done:
    return status;
}

/* A name of what an axis shows, with what its numbers are differences from. */
static void name_axis(const eg_axis *axis, const char *name, char text[TEXT_BYTES])
{
    char base[32];
    eg_axis_base_label(axis, base);
    snprintf(text, TEXT_BYTES, base[0] ? "%s, less %s" : "%s", name, base);
}

static eg_status put_axes(picture *p)
{
    eg_status status = EG_OK;
    const eg_plot_box *r = &p->at.plot;
    const double u = p->at.unit;
    char name[TEXT_BYTES];
    for (int horizontal = 0; horizontal < 2; horizontal++) {
        const eg_axis axis = eg_plot_layout_axis(&p->at, horizontal);
        eg_font font = font_of(p, INK_TICK, 14);
        name_axis(&axis, eg_plot_coordinate(horizontal ? p->at.view.across : p->at.view.up), name);
        if (horizontal) {
            font.anchor = EG_ANCHOR_MIDDLE;
            EG_TRY(put_numbers(p, &axis, r->top + r->height, true));
            EG_TRY(put_text(p, font, r->left + 0.5 * r->width, r->top + r->height + 40 * u,
                            r->width, name));
        } else {
            EG_TRY(put_numbers(p, &axis, r->left, false));
            font.anchor = strlen(name) == 1 ? EG_ANCHOR_END : EG_ANCHOR_START;
            EG_TRY(put_text(p, font, r->left - (strlen(name) == 1 ? (EG_PLOT_TICK + 4) * u : 0),
                            r->top - 15 * u, 0.5 * r->width + 20, name));
        }
    }
done:
    return status;
}

static eg_status put_frame(picture *p, const eg_plot_box *r, int ink)
{
    return eg_canvas_rectangle(&p->canvas, &(eg_pen){.ink = ink, .width = ink == INK_FRAME},
                               r->left - 0.5, r->top - 0.5, r->width + 1, r->height + 1);
}

/* A point at an end of the bar: there are values beyond it. */
static eg_status put_point(picture *p, bool high, eg_rgb colour)
{
    eg_status status = EG_OK;
    const eg_plot_box *r = &p->at.bar;
    const double x = p->at.bar_below ? (high ? r->left + r->width : r->left) : r->left;
    const double y = p->at.bar_below ? r->top : (high ? r->top : r->top + r->height);
    const double thick = p->at.bar_below ? r->height : r->width, way = (high ? 0.6 : -0.6) * thick;
    EG_TRY(eg_canvas_begin(&p->canvas, &(eg_pen){.ink = EG_INK_NONE, .colour = colour}));
    EG_TRY(eg_canvas_move(&p->canvas, x, y));
    EG_TRY(p->at.bar_below ? eg_canvas_line(&p->canvas, x + way, y + 0.5 * thick)
                           : eg_canvas_line(&p->canvas, x + 0.5 * thick, y - way));
    EG_TRY(p->at.bar_below ? eg_canvas_line(&p->canvas, x, y + thick)
                           : eg_canvas_line(&p->canvas, x + thick, y));
    EG_TRY(eg_canvas_end(&p->canvas));
done:
    return status;
}

/* Contour lines in the bar. */
static eg_status put_levels(picture *p, const eg_plot_paint *paint, const eg_axis *axis)
{
    eg_status status = EG_OK;
    const eg_plot_box *r = &p->at.bar;
    for (int i = 0; i < p->level_count; i++) {
        const double part = (p->levels[i] - p->range[0]) / (p->range[1] - p->range[0]);
        if (!(part >= 0 && part <= 1)) continue;
        const eg_rgb under = paint->colours[(int)(part * (paint->colour_count - 1) + 0.5)];
        const double at = eg_axis_pixel(axis, p->levels[i]);
        EG_TRY(eg_canvas_begin(&p->canvas, &(eg_pen){.ink = EG_INK_NONE,
                                                     .colour = eg_plot_line_on(under),
                                                     .width = paint->contour_width,
                                                     .opacity = 0.85}));
        EG_TRY(eg_canvas_move(&p->canvas, p->at.bar_below ? at : r->left,
                              p->at.bar_below ? r->top : at));
        EG_TRY(eg_canvas_line(&p->canvas, p->at.bar_below ? at : r->left + r->width,
                              p->at.bar_below ? r->top + r->height : at));
        EG_TRY(eg_canvas_end(&p->canvas));
    }
done:
    return status;
}

static eg_status put_bar(picture *p, const eg_plot_paint *paint)
{
    eg_status status = EG_OK;
    const eg_plot_box *r = &p->at.bar;
    const double u = p->at.unit, beyond = BEYOND * (p->range[1] - p->range[0]);
    const eg_axis axis = eg_plot_layout_bar_axis(&p->at, p->range[0], p->range[1]);
    eg_font font = font_of(p, INK_TEXT, 14);
    char name[TEXT_BYTES];
    name_axis(&axis, p->field->label, name);
    EG_TRY(put_frame(p, r, INK_FRAME));
    eg_plot_paint_bar(paint, p->canvas.raster, r->left, r->top, r->width, r->height,
                      !p->at.bar_below);
    if (p->extent.low < p->range[0] - beyond) EG_TRY(put_point(p, false, paint->colours[0]));
    if (p->extent.high > p->range[1] + beyond)
        EG_TRY(put_point(p, true, paint->colours[paint->colour_count - 1]));
    EG_TRY(put_levels(p, paint, &axis));
    EG_TRY(put_numbers(p, &axis, p->at.bar_below ? r->top + r->height : r->left + r->width, true));
    if (p->at.bar_below) {
        EG_TRY(put_text(p, font, r->left, r->top - 10 * u, r->width, name));
    } else { /* above the bar, and further to the left if it is long */
        const double right = p->canvas.width - EG_PLOT_EDGE * u;
        const bool fits = r->left + eg_canvas_text_width(&p->canvas, &font, name) <= right;
        font.anchor = fits ? EG_ANCHOR_START : EG_ANCHOR_END;
        EG_TRY(put_text(p, font, fits ? r->left : right, r->top - 16 * u,
                        right - p->at.plot.left - 40 * u, name));
    }
done:
    return status;
}

static eg_status draw(picture *p)
{
    eg_status status = EG_OK;
    eg_context *ctx = p->canvas.ctx;
    eg_rgb *colours = NULL;
    float *contour = NULL;
    eg_plot_paint paint = {.colour_count = COLOURS,
                           .low = p->range[0],
                           .high = p->range[1],
                           .outline = eg_canvas_colour(&p->canvas, INK_FRAME),
                           .contour_width = CONTOUR * p->at.unit};
    EG_TRY(eg_new(ctx, COLOURS, &colours));
    EG_TRY(eg_colour_map_fill(ctx, p->options->map, COLOURS, colours));
    paint.colours = colours;
    if (p->level_count > 0)
        EG_TRY(eg_plot_contour(p->image, p->level_count, p->levels, 0.5 * paint.contour_width + 0.5,
                               &contour));
    paint.contour = contour;
    EG_TRY(put_titles(p));
    EG_TRY(put_frame(p, &p->at.plot, INK_PLOT));
    EG_TRY(put_frame(p, &p->at.plot, INK_FRAME));
    eg_plot_paint_image(&paint, p->image, p->canvas.raster, p->at.plot.left, p->at.plot.top);
    EG_TRY(put_axes(p));
    EG_TRY(put_bar(p, &paint));
done:
    eg_release(ctx, &contour);
    eg_release(ctx, &colours);
    return status;
}

/* --- the picture ------------------------------------------------------------------------------ */

static void fill_inks(eg_ink inks[INKS])
{
    static const char *const digits[INKS][2] = {
        [INK_BACK] = {EG_LIGHT_BACK, EG_DARK_BACK},
        [INK_PLOT] = {EG_LIGHT_PLOT, EG_DARK_PLOT},
        [INK_FRAME] = {EG_LIGHT_FRAME, EG_DARK_FRAME},
        [INK_TEXT] = {EG_LIGHT_TEXT, EG_DARK_TEXT},
        [INK_SUBTITLE] = {EG_LIGHT_SUBTITLE, EG_DARK_SUBTITLE},
        [INK_TICK] = {EG_LIGHT_TICK, EG_DARK_TICK},
    };
    for (int i = 0; i < INKS; i++)
        inks[i] = (eg_ink){eg_rgb_parse(digits[i][0]), eg_rgb_parse(digits[i][1])};
}

/* The picture, or only what it would show: png is NULL. */
static eg_status make(const eg_plot_field *field, const eg_plot_options *options, eg_text *png,
                      eg_plot_result *result)
{
    eg_status status = EG_OK;
    eg_context *ctx = field->snapshot->ctx;
    eg_ink inks[INKS];
    picture p = {.field = field, .options = options};
    fill_inks(inks);
    p.canvas = (eg_canvas){.ctx = ctx,
                           .format = EG_PICTURE_PNG,
                           .dark = options->dark,
                           .inks = inks,
                           .ink_count = INKS};
    EG_TRY(check(ctx, options));
    EG_TRY(eg_plot_layout_look(field->snapshot, options, &p.at));
    EG_TRY(make_image(&p));
    choose_levels(&p);
    if (png) {
        p.canvas.width = p.at.width;
        p.canvas.height = p.at.height;
        EG_TRY(eg_canvas_open(&p.canvas, ""));
        EG_TRY(draw(&p));
        EG_TRY(eg_canvas_write(&p.canvas, png));
    }
    *result = (eg_plot_result){.width = p.at.width,
                               .height = p.at.height,
                               .range = {p.range[0], p.range[1]},
                               .low = p.extent.low,
                               .high = p.extent.high,
                               .inside = p.extent.inside,
                               .undefined = p.extent.undefined,
                               .elements = p.image->element_count,
                               .slice = p.at.view.normal + 1,
                               .slice_at = p.at.view.at};
done:
    eg_plot_image_destroy(&p.image);
    eg_canvas_close(&p.canvas);
    return status;
}

eg_status eg_plot_write(const eg_plot_field *field, const eg_plot_options *options, eg_text *png,
                        eg_plot_result *result)
{
    eg_status status = EG_OK;
    EG_TRY(eg_png_check(field->snapshot->ctx));
    EG_TRY(make(field, options, png, result));
done:
    return status;
}

eg_status eg_plot_measure(const eg_plot_field *field, const eg_plot_options *options,
                          eg_plot_result *result)
{
    return make(field, options, NULL, result);
}
