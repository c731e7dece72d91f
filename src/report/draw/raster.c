/* Draws shapes into pixels, each in proportion to the part of it that is covered.
 *
 * Contours are summed edge by edge, exactly and in any order: an edge that goes down through a row
 * by h covers what lies to its right h times (Green's theorem). Only the change from a pixel to the
 * next is stored, so that an edge touches the pixels it crosses and one more, and a running sum
 * along the row gives the winding number times the covered part in the end. */
#include "report/draw/raster.h"

#include <assert.h>
#include <math.h>
#include <string.h>

eg_rgb eg_rgb_parse(const char *digits)
{
    unsigned byte[3] = {0};
    for (int i = 0; i < 6; i++) {
        const char c = digits[i];
        const int value = c <= '9' ? c - '0' : c - 'a' + 10;
        assert(value >= 0 && value < 16);
        byte[i / 2] = 16 * byte[i / 2] + (unsigned)value;
    }
    return (eg_rgb){(uint8_t)byte[0], (uint8_t)byte[1], (uint8_t)byte[2]};
}

static uint8_t mix(uint8_t from, uint8_t to, double part)
{
    return (uint8_t)(from + part * (to - from) + 0.5);
}

eg_rgb eg_rgb_mix(eg_rgb from, eg_rgb to, double part)
{
    return (eg_rgb){mix(from.r, to.r, part), mix(from.g, to.g, part), mix(from.b, to.b, part)};
}

eg_status eg_raster_create(eg_context *ctx, int width, int height, eg_rgb back, eg_raster **out)
{
    eg_status status = EG_OK;
    eg_raster *raster = NULL;
    const size_t rows = (size_t)height, columns = (size_t)width;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &raster));
    raster->ctx = ctx;
    raster->width = width;
    raster->height = height;
    raster->top = height;
    eg_raster_clip(raster, NULL);
    EG_TRY(eg_new(ctx, rows * columns * 3, &raster->rgb));
    EG_TRY(eg_new(ctx, rows * (columns + 2), &raster->cover));
    for (size_t i = 0; i < rows * columns; i++)
        memcpy(&raster->rgb[3 * i], (uint8_t[]){back.r, back.g, back.b}, 3);
    *out = raster;
    raster = NULL;
done:
    eg_raster_destroy(&raster);
    return status;
}

void eg_raster_destroy(eg_raster **handle)
{
    eg_raster *raster = *handle;
    if (!raster) return;
    eg_context *ctx = raster->ctx;
    eg_release(ctx, &raster->cover);
    eg_release(ctx, &raster->rgb);
    eg_release(ctx, handle);
}

/* The integral of min(max(s, 0), 1) from s = 0 to t. */
static double ramp(double t)
{
    return t <= 0 ? 0 : t < 1 ? 0.5 * t * t : t - 0.5;
}

/* An edge within one row and 0 ≤ x ≤ width, that goes down by `height` (up: negative). */
static void add_to_row(float *row, double xa, double xb, double height)
{
    const double left = fmin(xa, xb), right = fmax(xa, xb), span = right - left;
    const int first = (int)left, last = (int)right;
    double before = 0; /* the part of the pixel to the left that is right of the edge */
    for (int i = first; i <= last; i++) {
        const double part = span > 1e-9 ? (ramp(i + 1 - left) - ramp(i + 1 - right)) / span
                                        : fmin(fmax(i + 1 - left, 0), 1);
        row[i] += (float)(height * (part - before));
        before = part;
    }
    row[last + 1] += (float)(height * (1 - before));
}

/* An edge with 0 ≤ x ≤ width and 0 ≤ y ≤ height, y0 < y1, taken with a sign. */
static void add_inside(eg_raster *raster, double x0, double y0, double x1, double y1, double sign)
{
    const int first = (int)y0, last = (int)ceil(y1);
    const double slope = (x1 - x0) / (y1 - y0), most = raster->width;
    double x = x0, y = y0;
    for (int j = first; j < last; j++) {
        const double y_next = fmin(y1, j + 1);
        double x_next = y_next < y1 ? x0 + slope * (y_next - y0) : x1;
        x_next = fmin(fmax(x_next, 0), most);
        add_to_row(&raster->cover[(size_t)j * ((size_t)raster->width + 2)], x, x_next,
                   sign * (y_next - y));
        x = x_next;
        y = y_next;
    }
    if (first < raster->top) raster->top = first;
    if (last > raster->bottom) raster->bottom = last;
}

/* An edge that goes down; what of it is left or right of the raster moves to its side. */
static void add_down(eg_raster *raster, double x0, double y0, double x1, double y1, double sign)
{
    const double most = raster->width, slope = (x1 - x0) / (y1 - y0);
    double at[4] = {y0, y1, y1, y1}; /* where the edge passes a side */
    int cuts = 1;
    const double sides[2] = {x0 < x1 ? 0 : most, x0 < x1 ? most : 0};
    for (int i = 0; i < 2; i++) {
        const double y = y0 + (sides[i] - x0) / slope;
        if (y > at[cuts - 1] && y < y1) at[cuts++] = y;
    }
    at[cuts] = y1;
    for (int i = 0; i < cuts; i++) {
        const double xa = fmin(fmax(x0 + slope * (at[i] - y0), 0), most);
        const double xb = at[i + 1] < y1 ? fmin(fmax(x0 + slope * (at[i + 1] - y0), 0), most)
                                         : fmin(fmax(x1, 0), most);
        if (at[i + 1] > at[i]) add_inside(raster, xa, at[i], xb, at[i + 1], sign);
    }
}

void eg_raster_edge(eg_raster *raster, double x0, double y0, double x1, double y1)
{
    const bool down = y0 < y1;
    const double top = down ? y0 : y1, bottom = down ? y1 : y0;
    const double x_top = down ? x0 : x1, x_bottom = down ? x1 : x0;
    const double from = fmax(top, 0), to = fmin(bottom, raster->height);
    if (!(from < to)) return; /* outside, or level */
    const double slope = (x_bottom - x_top) / (bottom - top);
    const double xa = from > top ? x_top + slope * (from - top) : x_top;
    const double xb = to < bottom ? x_top + slope * (to - top) : x_bottom;
    add_down(raster, xa, from, xb, to, down ? 1 : -1);
}

void eg_raster_polygon(eg_raster *raster, size_t count, const double (*points)[2])
{
    double area = 0;
    for (size_t i = 0, j = count - 1; i < count; j = i++)
        area += points[j][0] * points[i][1] - points[i][0] * points[j][1];
    for (size_t i = 0, j = count - 1; i < count; j = i++) {
        const double *a = points[area > 0 ? j : i], *b = points[area > 0 ? i : j];
        eg_raster_edge(raster, a[0], a[1], b[0], b[1]);
    }
}

void eg_raster_disc(eg_raster *raster, double x, double y, double radius)
{
    enum { SIDES = 24 };
    double points[SIDES][2];
    for (int i = 0; i < SIDES; i++) {
        const double angle = 2 * acos(-1) * i / SIDES;
        points[i][0] = x + radius * cos(angle);
        points[i][1] = y + radius * sin(angle);
    }
    eg_raster_polygon(raster, SIDES, (const double(*)[2])points);
}

void eg_raster_stroke(eg_raster *raster, size_t count, const double (*points)[2], double width,
                      bool round_ends)
{
    const double half = 0.5 * width;
    const bool round = width >= 0.75;
    double last[2] = {0}; /* direction of the last piece */
    bool started = false;
    for (size_t i = 0; i + 1 < count; i++) {
        const double *a = points[i], *b = points[i + 1];
        const double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy);
        if (!(length > 0)) continue;
        const double ux = dx / length, uy = dy / length, nx = -half * uy, ny = half * ux;
        const double box[4][2] = {{a[0] + nx, a[1] + ny},
                                  {a[0] - nx, a[1] - ny},
                                  {b[0] - nx, b[1] - ny},
                                  {b[0] + nx, b[1] + ny}};
        eg_raster_polygon(raster, 4, box);
        const bool bends = started && ux * last[0] + uy * last[1] < 0.97;
        if (round && bends) eg_raster_disc(raster, a[0], a[1], half);
        last[0] = ux;
        last[1] = uy;
        started = true;
    }
    if (round && round_ends && count > 0) {
        eg_raster_disc(raster, points[0][0], points[0][1], half);
        eg_raster_disc(raster, points[count - 1][0], points[count - 1][1], half);
    }
}

void eg_raster_clip(eg_raster *raster, const int clip[4])
{
    const int all[4] = {0, 0, raster->width, raster->height};
    for (int i = 0; i < 4; i++) {
        const int given = clip ? clip[i] : all[i];
        raster->clip[i] = given < 0 ? 0 : given < all[2 + i % 2] ? given : all[2 + i % 2];
    }
}

void eg_raster_paint(eg_raster *raster, eg_rgb colour, double opacity)
{
    const size_t columns = (size_t)raster->width;
    for (int j = raster->top; j < raster->bottom; j++) {
        float *cover = &raster->cover[(size_t)j * (columns + 2)];
        uint8_t *rgb = &raster->rgb[(size_t)j * columns * 3];
        const int *clip = raster->clip;
        double winding = 0;
        for (int i = 0; j >= clip[1] && j < clip[3] && i < clip[2]; i++, rgb += 3) {
            winding += cover[i];
            const double part = opacity * fmin(fabs(winding), 1);
            if (part < 1e-3 || i < clip[0]) continue;
            rgb[0] = mix(rgb[0], colour.r, part);
            rgb[1] = mix(rgb[1], colour.g, part);
            rgb[2] = mix(rgb[2], colour.b, part);
        }
        memset(cover, 0, (columns + 2) * sizeof *cover);
    }
    raster->top = raster->height;
    raster->bottom = 0;
}

eg_rgb eg_raster_get(const eg_raster *raster, int x, int y)
{
    const uint8_t *rgb = &raster->rgb[3 * ((size_t)y * (size_t)raster->width + (size_t)x)];
    return (eg_rgb){rgb[0], rgb[1], rgb[2]};
}
