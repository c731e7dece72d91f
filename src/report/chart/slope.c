/* Slopes of lines between logarithmic axes: figures, and triangles beside the lines. */
#include "report/chart/drawing.h"

#include <math.h>
#include <stdio.h>

double eg_chart_slope(const eg_chart_series *s)
{
    const size_t i = s->slope;
    if (i == 0 || i >= s->count) return NAN;
    const double slope = log(s->y[i] / s->y[i - 1]) / log(s->x[i] / s->x[i - 1]);
    const bool positive = s->x[i] > 0 && s->y[i] > 0 && s->x[i - 1] > 0 && s->y[i - 1] > 0;
    return positive && isfinite(slope) ? slope : NAN;
}

bool eg_chart_has_slope(const eg_chart *chart, const eg_chart_series *series)
{
    return chart->x.scale == EG_SCALE_LOG && chart->y.scale == EG_SCALE_LOG &&
           isfinite(eg_chart_slope(series));
}

/* A right-angled triangle and its figure. */
typedef struct triangle {
    eg_spot corner[3]; /* from left to right along the line, then the right angle */
    eg_spot low, high; /* the box of the figure */
    eg_spot text;
    bool to_right; /* the figure is to the right of the upright leg */
    char figure[32];
} triangle;

/* Below or above the line from a to b (a to the left), around the part t of it. */
static void shape(triangle *tri, eg_spot a, eg_spot b, double t, bool below)
{
    const double dx = b.x - a.x, dy = b.y - a.y, length = hypot(dx, dy);
    const double part = fmin(0.18, fmin(45 / dx, 45 / fmax(fabs(dy), 1)));
    const double away = below ? 9 : -9, nx = -dy / length * away, ny = dx / length * away;
    const eg_spot p = {a.x + (t - part) * dx + nx, a.y + (t - part) * dy + ny};
    const eg_spot q = {a.x + (t + part) * dx + nx, a.y + (t + part) * dy + ny};
    tri->to_right = (dy < 0) == below;
    tri->corner[0] = p;
    tri->corner[1] = q;
    tri->corner[2] = tri->to_right ? (eg_spot){q.x, p.y} : (eg_spot){p.x, q.y};
    const double width = eg_axis_label_width(tri->figure) + 2;
    const double x = tri->corner[2].x + (tri->to_right ? 5 : -5), y = (p.y + q.y) / 2;
    tri->text = (eg_spot){x, y + 4.5};
    tri->low = (eg_spot){tri->to_right ? x - 2 : x - width, y - 9};
    tri->high = (eg_spot){tri->to_right ? x + width : x + 2, y + 9};
}

static eg_status draw(eg_chart_drawing *d, size_t k, const triangle *tri)
{
    eg_status status = EG_OK;
    const eg_spot *c = tri->corner;
    const eg_pen pen = {.class = "slope", .ink = eg_chart_ink(k), .width = 1.2};
    const eg_font font = {.ink = EG_CHART_INK_TEXT,
                          .size = 12.5,
                          .anchor = tri->to_right ? EG_ANCHOR_START : EG_ANCHOR_END};
    EG_TRY(eg_canvas_begin(d->canvas, &pen));
    EG_TRY(eg_canvas_move(d->canvas, c[0].x, c[0].y));
    for (int i = 1; i <= 3; i++) {
        EG_TRY(eg_canvas_line(d->canvas, c[i % 3].x, c[i % 3].y));
        eg_room_take_line(&d->room, c[i - 1], c[i % 3]);
    }
    EG_TRY(eg_canvas_end(d->canvas));
    EG_TRY(eg_canvas_text(d->canvas, &font, tri->text.x, tri->text.y, tri->figure));
    eg_room_take_box(&d->room, tri->low, tri->high);
done:
    return status;
}

eg_status eg_chart_put_slope(eg_chart_drawing *d, size_t k)
{
    static const double parts[] = {0.5, 0.35, 0.65};
    const eg_chart_series *s = &d->chart->series[k];
    if (!eg_chart_has_slope(d->chart, s)) return EG_OK;
    const eg_spot from = eg_chart_place(d, s, s->slope - 1), to = eg_chart_place(d, s, s->slope);
    const bool turned = from.x > to.x;
    triangle tri;
    snprintf(tri.figure, sizeof tri.figure, "%.2f", eg_chart_slope(s));
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < EG_COUNT(parts); i++) {
            shape(&tri, turned ? to : from, turned ? from : to, parts[i], side == 0);
            if (eg_room_has_triangle(&d->room, tri.corner) &&
                eg_room_has_box(&d->room, tri.low, tri.high))
                return draw(d, k, &tri);
        }
    return EG_OK;
}
