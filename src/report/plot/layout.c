/* Lays out the picture of a field. The plot has one scale for both coordinates; the bar stands
 * beside it, or below one that is low. The numbers of the axes make room for themselves. */
#include "report/plot/layout.h"

#include "report/draw/font.h"

#include <float.h>
#include <math.h>

enum { WIDTH = 1000, NARROWEST = 420, PLOT_LEAST = 24 };

/* In units, each a pixel of a picture that is not wider than BASE. */
#define BASE 1100.0
#define TOP 94.0     /* of the plot */
#define AIR 10.0     /* between the domain and the edge of the plot */
#define NUMBERS 56.0 /* room for usual numbers of a bar */
#define AXIS 48.0    /* height of the numbers below the plot, and the coordinate's name */
#define BAR 18.0     /* width of the bar */
#define BESIDE 22.0  /* between the plot and the bar */
#define BELOW 30.0   /* between the axis and a bar below it, where its name stands */
#define BAR_AXIS 26.0
#define BOTTOM 14.0
#define TALLEST 1.1 /* height of a plot over the width of the picture, unless it is given */
#define FLAT 2.4    /* width over height from which on the bar is below */

const char *eg_plot_coordinate(int d)
{
    static const char *const names[] = {"x", "y", "z"};
    return names[d];
}

/* --- what is seen ----------------------------------------------------------------------------- */

/* The box around an element's nodes, added to a box; those that are not finite have no place. */
static void extend(const eg_snapshot *s, int32_t e, double low[3], double high[3])
{
    const int dim = s->dim == 2 ? 2 : 3;
    for (int64_t i = s->first_node[e]; i < s->first_node[e + 1]; i++)
        for (int d = 0; d < dim; d++) {
            const double x = s->x[i * dim + d];
            if (!isfinite(x)) continue;
            if (x < low[d]) low[d] = x;
            if (x > high[d]) high[d] = x;
        }
}

static void clear_box(double low[3], double high[3])
{
    for (int d = 0; d < 3; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
    }
}

/* The box around all elements, or around those that a plane cuts. */
static void find_box(const eg_snapshot *s, const eg_plot_view *plane, double low[3], double high[3])
{
    clear_box(low, high);
    for (int32_t e = 0; e < s->element_count; e++) {
        if (plane) {
            double from[3], to[3];
            clear_box(from, to);
            extend(s, e, from, to);
            if (!(from[plane->normal] <= plane->at && to[plane->normal] >= plane->at)) continue;
        }
        extend(s, e, low, high);
    }
}

/* Chooses the plane of a snapshot in space. */
static eg_status choose_slice(eg_context *ctx, const eg_plot_options *o, const double low[3],
                              const double high[3], eg_plot_view *view)
{
    int normal = o->slice - 1;
    if (normal < 0) { /* of extents that are equal to rounding, that of z */
        normal = 2;
        for (int d = 1; d >= 0; d--)
            if (high[d] - low[d] < (1 - 1e-9) * (high[normal] - low[normal])) normal = d;
    }
    const char *name = eg_plot_coordinate(normal);
    view->normal = normal;
    view->at = o->slice ? o->slice_at : 0.5 * (low[normal] + high[normal]);
    view->across = normal == 0 ? 1 : 0;
    view->up = normal == 2 ? 1 : 2;
    if (!(view->at >= low[normal] && view->at <= high[normal]))
        return eg_fail(ctx, EG_ERROR_INPUT,
                       "the plane %s = %.9g is outside of the domain, whose %s is %.9g to %.9g",
                       name, view->at, name, low[normal], high[normal]);
    return EG_OK;
}

eg_status eg_plot_layout_look(const eg_snapshot *s, const eg_plot_options *o,
                              eg_plot_layout *layout)
{
    eg_status status = EG_OK;
    double low[3], high[3];
    *layout = (eg_plot_layout){.view = {.across = 0, .up = 1, .normal = -1}};
    find_box(s, NULL, low, high);
    if (!(low[0] <= high[0]))
        return eg_fail(s->ctx, EG_ERROR_INPUT, "there is no element to draw in it");
    if (s->dim == 3) {
        EG_TRY(choose_slice(s->ctx, o, low, high, &layout->view));
        find_box(s, &layout->view, low, high);
        if (!(low[0] <= high[0]))
            return eg_fail(s->ctx, EG_ERROR_INPUT, "the plane %s = %.9g cuts no element",
                           eg_plot_coordinate(layout->view.normal), layout->view.at);
    } else if (o->slice) {
        return eg_fail(s->ctx, EG_ERROR_INPUT,
                       "the field is one of the plane, which has no slices");
    }
    const int axes[2] = {layout->view.across, layout->view.up};
    for (int i = 0; i < 2; i++) {
        layout->low[i] = o->has_zoom ? o->zoom[2 * i] : low[axes[i]];
        layout->high[i] = o->has_zoom ? o->zoom[2 * i + 1] : high[axes[i]];
        const double far = fmax(fabs(layout->low[i]), fabs(layout->high[i]));
        if (!(layout->high[i] - layout->low[i] > 64 * EG_PLOT_SIZE_MOST * DBL_EPSILON * far))
            return eg_fail(s->ctx, EG_ERROR_INPUT, "there is nothing between %s = %.17g and %.17g",
                           eg_plot_coordinate(axes[i]), layout->low[i], layout->high[i]);
    }
done:
    return status;
}

/* --- axes ------------------------------------------------------------------------------------- */

/* The axis from one pixel to another for exactly these values, with the numbers that fit. */
static eg_axis axis_of(const eg_plot_layout *l, double low, double high, double from, double to,
                       bool horizontal)
{
    eg_axis axis =
        eg_axis_new(EG_SCALE_LINEAR, low, high, from / l->unit, to / l->unit, horizontal);
    const double rounding = 1e-9 * (high - low);
    axis.low = low - axis.base - rounding;
    axis.high = high - axis.base + rounding;
    axis.at = from;
    axis.pixels = (to - from) / (axis.high - axis.low);
    return axis;
}

eg_axis eg_plot_layout_axis(const eg_plot_layout *l, bool horizontal)
{
    const eg_plot_box *b = &l->plot;
    const eg_plot_view *v = &l->view;
    if (horizontal)
        return axis_of(l, v->left, v->left + v->pixel * b->width, b->left, b->left + b->width,
                       true);
    return axis_of(l, v->top - v->pixel * b->height, v->top, b->top + b->height, b->top, false);
}

eg_axis eg_plot_layout_bar_axis(const eg_plot_layout *l, double low, double high)
{
    const eg_plot_box *b = &l->bar;
    if (l->bar_below) return axis_of(l, low, high, b->left, b->left + b->width, true);
    return axis_of(l, low, high, b->top + b->height, b->top, false);
}

double eg_plot_layout_widest(const eg_plot_layout *l, const eg_axis *axis)
{
    double most = 0;
    eg_tick tick = eg_axis_first(axis);
    while (eg_axis_next(axis, &tick))
        most = fmax(most, eg_font_width(tick.label, EG_PLOT_NUMBER * l->unit));
    return most;
}

/* --- places ----------------------------------------------------------------------------------- */

/* Pixels that the plot may have, and what is around them. */
typedef struct room {
    double left, right, below; /* around the plot */
    double width, height;      /* for it */
} room;

static room find_room(const eg_plot_options *o, const eg_plot_layout *l, double numbers_left)
{
    const double u = l->unit;
    room r = {.left = (EG_PLOT_EDGE + EG_PLOT_TICK + 4) * u + numbers_left,
              .right = EG_PLOT_EDGE * u + 0.5 * l->numbers,
              .below = (AXIS + BOTTOM) * u};
    if (l->bar_below)
        r.below += (BELOW + BAR + BAR_AXIS) * u;
    else
        r.right = (BESIDE + BAR + EG_PLOT_TICK + 6 + EG_PLOT_EDGE) * u + l->numbers;
    r.width = l->width - r.left - r.right;
    r.height = o->height ? o->height - TOP * u - r.below : TALLEST * l->width;
    return r;
}

static void place_bar(eg_plot_layout *l)
{
    const double u = l->unit;
    const eg_plot_box *p = &l->plot;
    if (l->bar_below)
        l->bar = (eg_plot_box){p->left, (int)(p->top + p->height + (AXIS + BELOW) * u), p->width,
                               (int)(BAR * u)};
    else
        l->bar = (eg_plot_box){(int)(p->left + p->width + BESIDE * u), p->top, (int)(BAR * u),
                               p->height};
}

/* Places plot and bar beside numbers of a given width. */
static eg_status place(eg_context *ctx, const eg_plot_options *o, double numbers_left,
                       eg_plot_layout *l)
{
    const double dx = l->high[0] - l->low[0], dy = l->high[1] - l->low[1];
    const double air = o->has_zoom ? 0 : AIR * l->unit;
    l->width = o->width ? o->width : WIDTH;
    const room r = find_room(o, l, numbers_left);
    if (fmin(r.width, r.height) < PLOT_LEAST + 2 * air)
        return eg_fail(ctx, EG_ERROR_INPUT,
                       "a picture of %d by %d pixels has no room beside its texts; make it larger",
                       l->width, o->height);
    const double scale = fmin((r.width - 2 * air) / dx, (r.height - 2 * air) / dy);
    eg_plot_box *p = &l->plot;
    p->width = (int)fmin(scale * dx + 2 * air + 1e-6, r.width);
    p->height = (int)fmin(scale * dy + 2 * air + 1e-6, r.height);
    if (fmin(scale * dx, scale * dy) < 1)
        return eg_fail(ctx, EG_ERROR_INPUT,
                       "%.3g by %.3g is too thin for a picture; zoom into a part of it", dx, dy);
    if (!o->width)
        l->width = (int)fmin(fmax(ceil(r.left + p->width + r.right), NARROWEST), l->width);
    const double spare = l->width - r.left - r.right - p->width;
    p->left = (int)(r.left + 0.5 * fmax(spare, 0));
    p->top = (int)(TOP * l->unit + (o->height ? 0.5 * (r.height - p->height) : 0));
    l->height = o->height ? o->height : (int)ceil(p->top + p->height + r.below);
    l->view.pixel = 1 / scale;
    l->view.width = p->width;
    l->view.height = p->height;
    l->view.left = 0.5 * (l->low[0] + l->high[0]) - 0.5 * p->width / scale;
    l->view.top = 0.5 * (l->low[1] + l->high[1]) + 0.5 * p->height / scale;
    place_bar(l);
    return EG_OK;
}

eg_status eg_plot_layout_place(eg_context *ctx, const eg_plot_options *o, eg_plot_layout *l)
{
    eg_status status = EG_OK;
    double numbers_left = 0;
    l->unit = fmax((o->width ? o->width : WIDTH) / BASE, 1);
    l->numbers = fmax(l->numbers, NUMBERS * l->unit);
    l->bar_below = l->high[0] - l->low[0] > FLAT * (l->high[1] - l->low[1]);
    for (int again = 0; again < 3; again++) {
        EG_TRY(place(ctx, o, numbers_left, l));
        const eg_axis axis = eg_plot_layout_axis(l, false);
        numbers_left = fmax(numbers_left, ceil(eg_plot_layout_widest(l, &axis)));
    }
done:
    return status;
}
