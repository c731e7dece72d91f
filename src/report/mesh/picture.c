/* Pictures of meshes: where the mesh stands, and what is around it, titles and axes or a scale.
 *
 * A mesh in the plane stands between two axes with the same scale. A mesh in space is seen twice,
 * from the front and from behind, so that every part of a convex surface is seen once; and twice
 * more in the colours of its groups, if it has several. Widths of texts are known before anything
 * is drawn, and the height of the picture follows. */
#include "report/draw/linear.h"
#include "report/draw/png.h"
#include "report/mesh/legend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 900, VIEWS_MOST = 4 };

/* In pixels. */
#define TOP 74.0 /* of the plot */
#define AIR 22.0 /* between the mesh and the edge of the plot */
#define TICK 5.0
#define TICK_EVERY 80.0 /* along the horizontal axis */
#define TICK_EVERY_UP 45.0
#define TICK_LEAST 15.0 /* where numbers stand above each other and touch */
#define AXIS 30.0       /* height of the numbers below the plot */
#define ARROW 26.0      /* length of the axes of a view in space */
#define TALLEST 1.1     /* height of a plot over the width of the picture */
#define SMALL 0.12      /* extent over that of the mesh: boundaries of less are shown once more */
#define DETAIL 2.0      /* what is seen then, over their extent */
#define LARGER 5.0      /* they are only shown if they become so many times larger */
#define DASH 6.0        /* of the frame around them, which is not a line of the mesh */
#define GAP 4.0

static const eg_font title_font = {.ink = EG_MESH_INK_TEXT, .size = 20, .bold = true};
static const eg_font sub_font = {.ink = EG_MESH_INK_SUBTITLE, .size = 14};
static const eg_font tick_font = {.ink = EG_MESH_INK_TICK, .size = 13};

typedef struct picture {
    eg_mesh_drawing d;
    const eg_mesh_picture_options *options;
    double left, right, bottom; /* of the plot */
    bool has_detail;            /* of a plane */
    eg_legend legend;
} picture;

/* --- what the mesh is like -------------------------------------------------------------------- */

/* "24 triangles and 16 quadrilaterals of order 3, 20 faces on the boundary". */
static void describe(const picture *p, char *text, size_t size)
{
    const eg_mesh *mesh = p->d.mesh;
    int64_t boundary = 0;
    int length = 0;
    for (int b = 0; b < mesh->boundary_count; b++)
        boundary += p->d.count[b];
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        const int64_t count = p->d.shapes[s];
        if (count == 0) continue;
        length += snprintf(
            text + length, size - (size_t)length, "%s%" PRId64 " %s", length ? " and " : "", count,
            count == 1 ? eg_shape_get_info((eg_shape)s)->name : eg_mesh_plural((eg_shape)s));
    }
    snprintf(text + length, size - (size_t)length,
             " of order %d, %" PRId64 " face%s on the boundary", mesh->order, boundary,
             boundary == 1 ? "" : "s");
}

/* --- axes ------------------------------------------------------------------------------------- */

static double label_width(const picture *p, double from, double to, double step)
{
    double most = 0;
    char text[32];
    for (int64_t k = eg_first_tick(from, step); (double)k * step <= to; k++) {
        eg_tick_label((double)k * step, step, text);
        most = fmax(most, eg_canvas_text_width(&p->d.canvas, &tick_font, text));
    }
    return most;
}

static int64_t count_ticks(double from, double to, double step)
{
    int64_t count = 0;
    for (int64_t k = eg_first_tick(from, step); (double)k * step <= to; k++)
        count++;
    return count;
}

/* The step of numbers that an axis has room for: their widths along it must not touch. Beside a low
 * plot they stand closer, so that there are two, and two beside the mesh if they fit. */
static double step_of(const picture *p, double from, double to, double scale, bool horizontal)
{
    double step = eg_round_up((horizontal ? TICK_EVERY : TICK_EVERY_UP) / scale);
    while (horizontal && label_width(p, from, to, step) + 16 > step * scale)
        step = eg_round_up(1.5 * step);
    const double low = fmax(from, p->d.low[1]), high = fmin(to, p->d.high[1]);
    for (double finer; !horizontal && count_ticks(low, high, step) < 2; step = finer) {
        finer = eg_round_up(0.3 * step);
        if (finer * scale < TICK_LEAST && count_ticks(from, to, step) > 1) break;
    }
    return step;
}

static eg_status put_axis(picture *p, const eg_plane_view *v, bool horizontal)
{
    eg_status status = EG_OK;
    eg_canvas *canvas = &p->d.canvas;
    const double from =
        horizontal ? (v->left - v->x) / v->scale : (v->y - v->top - v->height) / v->scale;
    const double to = horizontal ? from + v->width / v->scale : from + v->height / v->scale;
    const double step = step_of(p, from, to, v->scale, horizontal), bottom = v->top + v->height;
    eg_font font = tick_font;
    font.anchor = horizontal ? EG_ANCHOR_MIDDLE : EG_ANCHOR_END;
    EG_TRY(eg_canvas_begin(canvas, &(eg_pen){.ink = EG_MESH_INK_FRAME, .width = 1}));
    for (int64_t k = eg_first_tick(from, step); (double)k * step <= to; k++) {
        const double x = v->x + v->scale * (double)k * step, y = v->y - v->scale * (double)k * step;
        EG_TRY(eg_canvas_move(canvas, horizontal ? x : v->left, horizontal ? bottom : y));
        EG_TRY(eg_canvas_line(canvas, horizontal ? x : v->left - TICK,
                              horizontal ? bottom + TICK : y));
    }
    EG_TRY(eg_canvas_end(canvas));
    for (int64_t k = eg_first_tick(from, step); (double)k * step <= to; k++) {
        const double x = v->x + v->scale * (double)k * step, y = v->y - v->scale * (double)k * step;
        char text[32];
        eg_tick_label((double)k * step, step, text);
        EG_TRY(eg_canvas_text(canvas, &font, horizontal ? x : v->left - TICK - 4,
                              horizontal ? bottom + TICK + 15 : y + 5, text));
    }
done:
    return status;
}

/* --- a mesh in the plane ---------------------------------------------------------------------- */

/* The box around all boundaries that are small beside the mesh, or around elements that are bad;
 * false: there are none, or they are spread over it. */
static bool find_small(const picture *p, double low[2], double high[2])
{
    const int bad = eg_mesh_bad_paint(&p->d);
    const bool any_bad = p->d.count[bad] > 0;
    const double most = fmax(p->d.high[0] - p->d.low[0], p->d.high[1] - p->d.low[1]);
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    for (int i = any_bad ? bad : 0; i < (any_bad ? bad + 1 : p->d.mesh->boundary_count); i++) {
        const double *box = p->d.box[i];
        if (p->d.count[i] == 0 || fmax(box[2] - box[0], box[3] - box[1]) > SMALL * most) continue;
        for (int d = 0; d < 2; d++) {
            low[d] = fmin(low[d], box[d]);
            high[d] = fmax(high[d], box[2 + d]);
        }
    }
    return low[0] <= high[0] && fmax(high[0] - low[0], high[1] - low[1]) < 2 * SMALL * most;
}

static void centre_view(eg_plane_view *v, const double *low, const double *high)
{
    v->x = v->left + 0.5 * v->width - 0.5 * v->scale * (low[0] + high[0]);
    v->y = v->top + 0.5 * v->height + 0.5 * v->scale * (low[1] + high[1]);
}

/* The width of the numbers at the left of a view. */
static double numbers_of(const picture *p, const eg_plane_view *v)
{
    const double from = (v->y - v->top - v->height) / v->scale, to = (v->y - v->top) / v->scale;
    return ceil(label_width(p, from, to, step_of(p, from, to, v->scale, false)));
}

/* Chooses the scale and place of the plot and, below it, of another that shows small boundaries.
 * The numbers of the vertical axes make room for themselves. */
static void lay_out_plane(picture *p, eg_plane_view *v, eg_plane_view *detail)
{
    const double dx = p->d.high[0] - p->d.low[0], dy = p->d.high[1] - p->d.low[1];
    double numbers = 32, low[2], high[2];
    p->has_detail = find_small(p, low, high);
    for (int again = 0; again < 3; again++) {
        p->left = EG_MESH_EDGE + numbers + TICK + 4;
        p->right = p->d.canvas.width - EG_MESH_EDGE;
        const double width = p->right - p->left, tallest = TALLEST * p->d.canvas.width;
        v->scale = fmin((width - 2 * AIR) / dx, (tallest - 2 * AIR) / dy);
        v->left = p->left;
        v->top = TOP;
        v->width = width;
        v->height = ceil(v->scale * dy + 2 * AIR);
        centre_view(v, p->d.low, p->d.high);
        numbers = fmax(numbers, numbers_of(p, v));
        p->bottom = v->top + v->height;
        if (!p->has_detail) continue;
        const double across = DETAIL * (high[0] - low[0]), tall = DETAIL * (high[1] - low[1]);
        *detail = *v;
        detail->top = p->bottom + AXIS + 34;
        detail->height = ceil(width * fmin(fmax(tall / fmax(across, 1e-9 * tall), 0.4), 0.62));
        detail->scale = fmin(width / across, detail->height / tall);
        p->has_detail = detail->scale >= LARGER * v->scale;
        if (!p->has_detail) continue;
        centre_view(detail, low, high);
        numbers = fmax(numbers, numbers_of(p, detail));
        p->bottom = detail->top + detail->height;
    }
}

static eg_status put_plot(picture *p, double x, double y, double width, double height, bool frame)
{
    const eg_pen pen = {.ink = frame ? EG_MESH_INK_FRAME : EG_MESH_INK_PLOT,
                        .width = frame ? 1 : 0};
    return eg_canvas_rectangle(&p->d.canvas, &pen, x + 0.5, y + 0.5, width - 1, height - 1);
}

static eg_status draw_view(picture *p, const eg_plane_view *v)
{
    eg_status status = EG_OK;
    EG_TRY(put_plot(p, v->left, v->top, v->width, v->height, false));
    EG_TRY(eg_canvas_clip(&p->d.canvas, v->left, v->top, v->width, v->height));
    EG_TRY(eg_mesh_draw_plane(&p->d, v));
    EG_TRY(eg_canvas_clip_end(&p->d.canvas));
    EG_TRY(put_plot(p, v->left, v->top, v->width, v->height, true));
    EG_TRY(put_axis(p, v, true));
    EG_TRY(put_axis(p, v, false));
done:
    return status;
}

/* A line in dashes, of which the first and the last are at its ends. */
static eg_status put_dashes(picture *p, double x, double y, double dx, double dy)
{
    eg_status status = EG_OK;
    const double length = hypot(dx, dy);
    const int gaps = (int)fmax(round((length - DASH) / (DASH + GAP)), 1);
    const double every = (length - DASH) / gaps;
    for (int i = 0; i <= gaps; i++) {
        const double from = i * every / length, to = fmin(from + DASH / length, 1);
        EG_TRY(eg_canvas_move(&p->d.canvas, x + from * dx, y + from * dy));
        EG_TRY(eg_canvas_line(&p->d.canvas, x + to * dx, y + to * dy));
    }
done:
    return status;
}

static eg_status put_frame(picture *p, double x, double y, double width, double height)
{
    eg_status status = EG_OK;
    EG_TRY(eg_canvas_begin(&p->d.canvas,
                           &(eg_pen){.ink = EG_MESH_INK_TEXT, .width = 1.5, .class = "detail"}));
    EG_TRY(put_dashes(p, x, y, width, 0));
    EG_TRY(put_dashes(p, x + width, y, 0, height));
    EG_TRY(put_dashes(p, x + width, y + height, -width, 0));
    EG_TRY(put_dashes(p, x, y + height, 0, -height));
    EG_TRY(eg_canvas_end(&p->d.canvas));
done:
    return status;
}

/* The mesh, and a part of it, which is marked by a frame. */
static eg_status draw_plane(picture *p, const eg_plane_view *v, const eg_plane_view *detail)
{
    eg_status status = EG_OK;
    char text[64];
    const double ratio = detail->scale / v->scale, half = 0.5 / ratio;
    EG_TRY(draw_view(p, v));
    if (!p->has_detail) goto done;
    const double x = v->x + (detail->left + 0.5 * detail->width - detail->x) / ratio;
    const double y = v->y + (detail->top + 0.5 * detail->height - detail->y) / ratio;
    EG_TRY(put_frame(p, x - half * detail->width, y - half * detail->height,
                     2 * half * detail->width, 2 * half * detail->height));
    snprintf(text, sizeof text, "the part in the frame, %.*f times larger", ratio < 9.5, ratio);
    EG_TRY(eg_canvas_text(&p->d.canvas, &sub_font, p->left, detail->top - 9, text));
    EG_TRY(draw_view(p, detail));
done:
    return status;
}

/* --- a mesh in space -------------------------------------------------------------------------- */

/* What a view at scale 1 must hold: low and high of x and y. */
typedef struct extent {
    double low[2], high[2];
} extent;

static void extend(extent *e, const eg_space_view *view, int64_t count, const double *x)
{
    for (int64_t i = 0; i < count; i++) {
        double at[3];
        eg_space_project(view, &x[3 * i], at);
        for (int d = 0; d < 2; d++) {
            e->low[d] = fmin(e->low[d], at[d]);
            e->high[d] = fmax(e->high[d], at[d]);
        }
    }
}

static extent extent_of(const eg_mesh *mesh, const eg_space_view *view)
{
    extent e = {{INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    extend(&e, view, mesh->vertex_count, mesh->x);
    for (int32_t i = 0; mesh->nodes && i < mesh->element_count; i++)
        extend(&e, view, eg_mode_count((eg_shape)mesh->shape[i], mesh->order),
               &mesh->nodes[(int64_t)i * mesh->node_stride * 3]);
    return e;
}

static int view_count(const picture *p)
{
    return p->d.by_group ? 4 : 2;
}

/* The two views side by side, in one scale; below them the same with groups, if there are any. */
static void lay_out_space(picture *p, eg_space_view views[VIEWS_MOST])
{
    extent of[2];
    double across = 0, tall = 0;
    for (int k = 0; k < 2; k++) {
        views[k] = eg_space_view_new(k == 1);
        of[k] = extent_of(p->d.mesh, &views[k]);
        across = fmax(across, of[k].high[0] - of[k].low[0]);
        tall = fmax(tall, of[k].high[1] - of[k].low[1]);
    }
    p->left = EG_MESH_EDGE;
    p->right = p->d.canvas.width - EG_MESH_EDGE;
    const double between = 0.6 * EG_MESH_EDGE, width = floor((p->right - p->left - between) / 2);
    const double room = TALLEST * p->d.canvas.width - 2 * AIR - 3 * ARROW;
    const double scale = fmin((width - 2 * AIR) / across, room / tall);
    p->bottom = TOP - between;
    for (int k = 0; k < view_count(p); k++) {
        const extent *e = &of[k % 2];
        eg_space_view *v = &views[k];
        *v = views[k % 2];
        v->scale = scale;
        v->left = k % 2 ? floor(p->right - width) : p->left;
        v->width = width;
        v->height = ceil(scale * tall + 2 * AIR + 3 * ARROW);
        v->top = k % 2 ? views[k - 1].top : floor(p->bottom + between);
        v->x = v->left + 0.5 * width - 0.5 * scale * (e->low[0] + e->high[0]);
        v->y = v->top + AIR + 0.6 * ARROW + 0.5 * scale * tall -
               0.5 * scale * (e->low[1] + e->high[1]);
        p->bottom = v->top + v->height;
    }
}

/* Where x, y and z go. */
static eg_status put_arrows(picture *p, const eg_space_view *v)
{
    static const char *const names[] = {"x", "y", "z"};
    eg_status status = EG_OK;
    eg_canvas *canvas = &p->d.canvas;
    const double x = v->left + 1.6 * ARROW, y = v->top + v->height - 1.3 * ARROW;
    eg_font font = tick_font;
    font.anchor = EG_ANCHOR_MIDDLE;
    for (int d = 0; d < 3; d++) {
        const double dx = ARROW * v->right[d], dy = -ARROW * v->up[d], length = hypot(dx, dy);
        EG_TRY(eg_canvas_begin(canvas,
                               &(eg_pen){.ink = EG_MESH_INK_TICK, .width = 1.3, .round = true}));
        EG_TRY(eg_canvas_move(canvas, x, y));
        EG_TRY(eg_canvas_line(canvas, x + dx, y + dy));
        EG_TRY(eg_canvas_end(canvas));
        EG_TRY(eg_canvas_text(canvas, &font, x + dx * (1 + 9 / length),
                              y + dy * (1 + 9 / length) + 4, names[d]));
    }
done:
    return status;
}

/* A length that is a round number. */
static eg_status put_scale(picture *p, const eg_space_view *v)
{
    eg_status status = EG_OK;
    eg_canvas *canvas = &p->d.canvas;
    const double length = eg_round_up(0.12 * v->width / v->scale), pixels = length * v->scale;
    const double x = v->left + v->width - AIR, y = v->top + v->height - 16;
    char text[32];
    eg_font font = tick_font;
    font.anchor = EG_ANCHOR_MIDDLE;
    eg_tick_label(length, length, text);
    EG_TRY(eg_canvas_begin(canvas, &(eg_pen){.ink = EG_MESH_INK_TICK, .width = 1.3}));
    EG_TRY(eg_canvas_move(canvas, x - pixels, y - 4));
    EG_TRY(eg_canvas_line(canvas, x - pixels, y));
    EG_TRY(eg_canvas_line(canvas, x, y));
    EG_TRY(eg_canvas_line(canvas, x, y - 4));
    EG_TRY(eg_canvas_end(canvas));
    EG_TRY(eg_canvas_text(canvas, &font, x - 0.5 * pixels, y - 7, text));
done:
    return status;
}

static eg_status draw_space(picture *p, const eg_space_view views[VIEWS_MOST])
{
    static const char *const captions[VIEWS_MOST] = {"from the front and above",
                                                     "from behind and below",
                                                     "from the front and above: groups of elements",
                                                     "from behind and below: groups of elements"};
    eg_status status = EG_OK;
    for (int k = 0; k < view_count(p); k++) {
        const eg_space_view *v = &views[k];
        char cut[EG_MESH_TEXT_BYTES];
        EG_TRY(put_plot(p, v->left, v->top, v->width, v->height, false));
        EG_TRY(eg_mesh_draw_surface(&p->d, v, k >= 2));
        EG_TRY(put_plot(p, v->left, v->top, v->width, v->height, true));
        EG_TRY(eg_canvas_text(
            &p->d.canvas, &sub_font, v->left + 12, v->top + 22,
            eg_canvas_fit(&p->d.canvas, &sub_font, captions[k], v->width - 24, cut, sizeof cut)));
        EG_TRY(put_arrows(p, v));
        EG_TRY(put_scale(p, v));
    }
done:
    return status;
}

/* --- the picture ------------------------------------------------------------------------------ */

static eg_status put_titles(picture *p)
{
    eg_status status = EG_OK;
    eg_canvas *canvas = &p->d.canvas;
    const double most = canvas->width - p->left - EG_MESH_EDGE;
    char text[EG_MESH_TEXT_BYTES], cut[EG_MESH_TEXT_BYTES];
    const char *title = p->options->title ? p->options->title : "mesh";
    EG_TRY(eg_canvas_text(canvas, &title_font, p->left, 34,
                          eg_canvas_fit(canvas, &title_font, title, most, cut, sizeof cut)));
    describe(p, text, sizeof text);
    EG_TRY(eg_canvas_text(canvas, &sub_font, p->left, 58,
                          eg_canvas_fit(canvas, &sub_font, text, most, cut, sizeof cut)));
done:
    return status;
}

/* What the picture does not show, below the legend. */
static eg_status put_remark(picture *p)
{
    const eg_mesh_drawing *d = &p->d;
    const bool plane = d->mesh->dim == 2;
    char text[EG_MESH_TEXT_BYTES] = "", cut[EG_MESH_TEXT_BYTES];
    if (d->fine)
        snprintf(text, sizeof text, "%s",
                 plane ? "Edges too close to be drawn one by one are shades: the darker, the finer."
                       : "Faces are too small to show their edges.");
    if (d->untinted)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sTints are too finely mixed.",
                 text[0] ? " " : "");
    if (p->legend.left_out > 0)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%sGroups that are not named: %d.", text[0] ? " " : "", p->legend.left_out);
    for (int paint = 0, hidden = 0; !plane && paint < d->paints; paint++) {
        if (d->count[paint] == 0 || d->shown[paint]) continue;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s",
                 hidden++  ? ", "
                 : text[0] ? " Hidden: "
                           : "Hidden: ",
                 eg_mesh_paint_name(d, paint));
    }
    return eg_canvas_text(&p->d.canvas, &sub_font, p->left, p->legend.bottom + 18,
                          eg_canvas_fit(&d->canvas, &sub_font, text,
                                        d->canvas.width - p->left - EG_MESH_EDGE, cut, sizeof cut));
}

static eg_status check(const eg_mesh *mesh, const eg_mesh_picture_options *options)
{
    if (options->width != 0 &&
        (options->width < EG_PICTURE_WIDTH_LEAST || options->width > EG_PICTURE_WIDTH_MOST))
        return eg_fail(mesh->ctx, EG_ERROR_INPUT, "a picture is %d to %d pixels wide, not %d",
                       EG_PICTURE_WIDTH_LEAST, EG_PICTURE_WIDTH_MOST, options->width);
    if (mesh->ghost_count > 0 || mesh->element_count != mesh->global_count)
        return eg_fail(mesh->ctx, EG_ERROR_ARGUMENT,
                       "only a whole mesh can be drawn, not a rank's part of one");
    return options->format == EG_PICTURE_PNG ? eg_png_check(mesh->ctx) : EG_OK;
}

eg_status eg_mesh_picture_write(const eg_mesh *mesh, const eg_mesh_picture_options *options,
                                eg_text *out)
{
    eg_status status = EG_OK;
    eg_ink inks[EG_MESH_INKS];
    eg_plane_view plane = {0}, detail = {0};
    eg_space_view views[VIEWS_MOST];
    picture p = {.d = {.mesh = mesh, .bad = options->bad}, .options = options};
    eg_canvas *canvas = &p.d.canvas;
    EG_TRY(check(mesh, options));
    eg_mesh_make_inks(inks);
    *canvas = (eg_canvas){.ctx = mesh->ctx,
                          .format = options->format,
                          .dark = options->dark && options->format == EG_PICTURE_PNG,
                          .width = options->width ? options->width : WIDTH,
                          .inks = inks,
                          .ink_count = EG_MESH_INKS,
                          .unit = mesh->element_count > 5000 ? 0.1 : 0.01};
    EG_TRY(eg_mesh_survey(&p.d));
    if (mesh->dim == 2)
        lay_out_plane(&p, &plane, &detail);
    else
        lay_out_space(&p, views);
    EG_TRY(eg_legend_create(&p.d, p.left, p.bottom + (mesh->dim == 2 ? AXIS + 8 : 10), &p.legend));
    canvas->height = (int)ceil(p.legend.bottom + 28);
    EG_TRY(eg_canvas_open(canvas, options->title ? options->title : "mesh"));
    EG_TRY(put_titles(&p));
    EG_TRY(mesh->dim == 2 ? draw_plane(&p, &plane, &detail) : draw_space(&p, views));
    EG_TRY(eg_legend_draw(&p.d, &p.legend));
    EG_TRY(put_remark(&p));
    EG_TRY(eg_canvas_write(canvas, out));
done:
    eg_canvas_close(canvas);
    eg_legend_free(mesh->ctx, &p.legend);
    eg_mesh_survey_free(&p.d);
    return status;
}
