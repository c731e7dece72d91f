/* Draws the surface of a mesh in space as it is seen from far away, lit from beside whoever looks.
 *
 * In pixels its cells are drawn into a depth buffer with several samples a pixel; a sample near an
 * edge of its face has the colour of edges, so what hides a face hides its edges. In an SVG faces
 * are drawn from the farthest to the nearest, cells that are hidden altogether left out; where
 * there are too many of them the samples are drawn as small squares. */
#include "report/mesh/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELLS_MOST = 15000, /* that an SVG holds */
    SHADES = 10,        /* of squares, for each paint */
    SQUARE = 1          /* pixels */
};
#define SEAM 0.8 /* pixels by which cells overlap in an SVG */

typedef struct surface {
    eg_mesh_drawing *d;
    const eg_space_view *view;
    eg_cell *cells; /* [count] owned */
    size_t count;
} surface;

static const eg_rgb white = {255, 255, 255};
static const eg_rgb crease = {16, 20, 28}; /* of edges, and of shadows */

/* Paler than lines, stronger than tints below lines. */
eg_rgb eg_mesh_surface_colour(const eg_mesh_drawing *d, int paint)
{
    const eg_rgb ink = d->canvas.inks[eg_mesh_paint_ink(d, paint)].light;
    const bool tint = paint > eg_mesh_periodic_paint(d) && paint < eg_mesh_bad_paint(d);
    return tint ? eg_mesh_stronger(ink, white, 2.5) : eg_rgb_mix(ink, white, 0.3);
}

static eg_rgb lit(eg_rgb colour, double light)
{
    return eg_rgb_mix(crease, colour, 0.35 + 0.65 * light);
}

/* --- samples ---------------------------------------------------------------------------------- */

/* What is seen at points of the view. */
typedef struct samples {
    int columns, rows;
    double density; /* samples a pixel, along each axis */
    float *near;    /* [rows][columns] owned */
    int32_t *cell;  /* [rows][columns] -1: nothing; owned */
    eg_rgb *colour; /* [rows][columns] owned */
} samples;

static eg_status create_samples(const surface *s, double density, samples *out)
{
    eg_status status = EG_OK;
    eg_context *ctx = s->d->mesh->ctx;
    *out = (samples){.columns = (int)ceil(s->view->width * density),
                     .rows = (int)ceil(s->view->height * density),
                     .density = density};
    const size_t count = (size_t)out->columns * (size_t)out->rows;
    EG_TRY(eg_new(ctx, count, &out->near));
    EG_TRY(eg_new(ctx, count, &out->cell));
    EG_TRY(eg_new(ctx, count, &out->colour));
    memset(out->cell, -1, count * sizeof *out->cell);
done:
    return status;
}

static void free_samples(eg_context *ctx, samples *m)
{
    eg_release(ctx, &m->colour);
    eg_release(ctx, &m->cell);
    eg_release(ctx, &m->near);
}

/* A cell as samples see it. */
typedef struct look {
    eg_rgb colour;     /* in full light */
    double line[4][3]; /* a x + b y + c: the distance from a side that is an edge of the face */
    int lines;
    double half, depth; /* of edges: half the width, and how dark they are */
} look;

static look look_of(const surface *s, const eg_cell *c)
{
    const double width = eg_mesh_line_width(c->gap), drawn = fmax(width, 0.7);
    look out = {.colour = eg_mesh_surface_colour(s->d, c->paint),
                .half = 0.5 * drawn,
                .depth = 0.7 * width / drawn};
    for (int i = 0; i < c->corners; i++) {
        const double *a = c->p[i], *b = c->p[(i + 1) % c->corners];
        const double dx = b[0] - a[0], dy = b[1] - a[1], length = hypot(dx, dy);
        if (!(c->edges >> i & 1) || !(length > 0)) continue;
        double *line = out.line[out.lines++];
        line[0] = -dy / length;
        line[1] = dx / length;
        line[2] = -(line[0] * a[0] + line[1] * a[1]);
    }
    return out;
}

/* The colour at (x, y), where the light is known, `spacing` pixels from other samples. */
static eg_rgb colour_at(const look *p, double x, double y, double light, double spacing)
{
    double near = INFINITY;
    for (int i = 0; i < p->lines; i++)
        near = fmin(near, fabs(p->line[i][0] * x + p->line[i][1] * y + p->line[i][2]));
    const eg_rgb colour = lit(p->colour, light);
    const double part = (p->half - near) / spacing + 0.5;
    return part > 0 ? eg_rgb_mix(colour, crease, p->depth * fmin(part, 1)) : colour;
}

/* Draws the triangle of three corners of a cell. */
static void draw_triangle(const surface *s, samples *m, int32_t number, int k0, int k1, int k2)
{
    eg_cell *c = &s->cells[number];
    const look colours = look_of(s, c);
    const double *a = c->p[k0], *b = c->p[k1], *d = c->p[k2];
    const double left = s->view->left, top = s->view->top, h = 1 / m->density;
    const double area = (b[0] - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (b[1] - a[1]);
    if (!(fabs(area) > 0)) return;
    const double x0 = fmin(a[0], fmin(b[0], d[0])), x1 = fmax(a[0], fmax(b[0], d[0]));
    const double y0 = fmin(a[1], fmin(b[1], d[1])), y1 = fmax(a[1], fmax(b[1], d[1]));
    const int i0 = (int)fmax(ceil((x0 - left) / h - 0.5), 0);
    const int j0 = (int)fmax(ceil((y0 - top) / h - 0.5), 0);
    const int i1 = (int)fmin(floor((x1 - left) / h - 0.5), m->columns - 1);
    const int j1 = (int)fmin(floor((y1 - top) / h - 0.5), m->rows - 1);
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++) {
            const double x = left + (i + 0.5) * h, y = top + (j + 0.5) * h;
            const double u = ((x - a[0]) * (d[1] - a[1]) - (d[0] - a[0]) * (y - a[1])) / area;
            const double v = ((b[0] - a[0]) * (y - a[1]) - (x - a[0]) * (b[1] - a[1])) / area;
            if (u < -1e-9 || v < -1e-9 || u + v > 1 + 1e-9) continue;
            const size_t at = (size_t)j * (size_t)m->columns + (size_t)i;
            const float near = (float)((1 - u - v) * a[2] + u * b[2] + v * d[2]);
            c->sampled = true;
            if (m->cell[at] >= 0 && m->near[at] >= near) continue;
            const double light = (1 - u - v) * c->light[k0] + u * c->light[k1] + v * c->light[k2];
            m->near[at] = near;
            m->cell[at] = number;
            m->colour[at] = colour_at(&colours, x, y, light, h);
        }
}

/* Fills the samples, and tells cells and paints whether they are seen. */
static void sample(const surface *s, samples *m)
{
    for (size_t k = 0; k < s->count; k++) {
        draw_triangle(s, m, (int32_t)k, 0, 1, 2);
        if (s->cells[k].corners == 4) draw_triangle(s, m, (int32_t)k, 0, 2, 3);
    }
    for (size_t i = 0; i < (size_t)m->columns * (size_t)m->rows; i++) {
        if (m->cell[i] < 0) continue;
        eg_cell *c = &s->cells[m->cell[i]];
        c->seen = true;
        s->d->shown[c->paint] = true;
    }
}

/* --- what is drawn ---------------------------------------------------------------------------- */

static eg_status draw_pixels(const surface *s)
{
    eg_status status = EG_OK;
    eg_raster *raster = s->d->canvas.raster;
    const int n = raster->width <= 2000 ? 4 : 2; /* samples a pixel, along each axis */
    samples m = {0};
    EG_TRY(create_samples(s, n, &m));
    sample(s, &m);
    const int left = (int)s->view->left, top = (int)s->view->top;
    for (int y = 0; y < (int)s->view->height; y++)
        for (int x = 0; x < (int)s->view->width; x++) {
            uint8_t *pixel =
                &raster->rgb[3 * ((size_t)(top + y) * (size_t)raster->width + (size_t)(left + x))];
            int sum[3] = {0};
            for (int k = 0; k < n * n; k++) {
                const size_t at =
                    (size_t)(n * y + k / n) * (size_t)m.columns + (size_t)(n * x + k % n);
                const bool hit = m.cell[at] >= 0;
                const eg_rgb c = m.colour[at];
                sum[0] += hit ? c.r : pixel[0];
                sum[1] += hit ? c.g : pixel[1];
                sum[2] += hit ? c.b : pixel[2];
            }
            for (int i = 0; i < 3; i++)
                pixel[i] = (uint8_t)((sum[i] + n * n / 2) / (n * n));
        }
done:
    free_samples(s->d->mesh->ctx, &m);
    return status;
}

/* Faces from the farthest to the nearest, the cells of each together. */
static int by_distance(const void *a, const void *b)
{
    const eg_cell *p = a, *q = b;
    if (p->face_near != q->face_near) return p->face_near < q->face_near ? -1 : 1;
    if (p->face != q->face) return p->face < q->face ? -1 : 1;
    return p->near < q->near ? -1 : p->near > q->near;
}

/* A cell that no sample has met may be seen between samples. */
static bool is_drawn(const eg_cell *c)
{
    return c->seen || !c->sampled;
}

static bool is_whole(const eg_cell *c)
{
    return c->edges == (1 << c->corners) - 1;
}

static eg_status put_cell(const surface *s, const eg_cell *c)
{
    eg_status status = EG_OK;
    eg_canvas *canvas = &s->d->canvas;
    double light = 0;
    for (int i = 0; i < c->corners; i++)
        light += c->light[i] / c->corners;
    eg_pen pen = {.ink = EG_INK_NONE,
                  .colour = lit(eg_mesh_surface_colour(s->d, c->paint), light),
                  .border = SEAM,
                  .border_ink = EG_INK_NONE};
    if (is_whole(c)) {
        pen.border = eg_mesh_line_width(c->gap);
        pen.border_ink = EG_MESH_INK_CREASE;
        pen.class = "face";
    }
    EG_TRY(eg_canvas_begin(canvas, &pen));
    for (int i = 0; i < c->corners; i++)
        EG_TRY((i ? eg_canvas_line : eg_canvas_move)(canvas, c->p[i][0], c->p[i][1]));
    EG_TRY(eg_canvas_end(canvas));
done:
    return status;
}

/* The edges of a face that was cut into cells. */
static eg_status put_edges(const surface *s, size_t count, const eg_cell *cells)
{
    eg_status status = EG_OK;
    eg_canvas *canvas = &s->d->canvas;
    EG_TRY(eg_canvas_begin(canvas, &(eg_pen){.ink = EG_MESH_INK_CREASE,
                                             .width = eg_mesh_line_width(cells[0].gap),
                                             .round = true}));
    for (const eg_cell *c = cells; c < cells + count; c++)
        for (int i = 0; i < c->corners; i++) {
            const double *from = c->p[i], *to = c->p[(i + 1) % c->corners];
            if (!(c->edges >> i & 1) || !is_drawn(c)) continue;
            EG_TRY(eg_canvas_move(canvas, from[0], from[1]));
            EG_TRY(eg_canvas_line(canvas, to[0], to[1]));
        }
    EG_TRY(eg_canvas_end(canvas));
done:
    return status;
}

/* The samples as squares, the light in steps. */
static eg_status draw_squares(const surface *s, const samples *m)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = s->d->mesh;
    const size_t count = (size_t)m->columns * (size_t)m->rows;
    uint8_t *kind = NULL;
    EG_TRY(eg_new(mesh->ctx, count, &kind));
    for (int paint = 0; paint < s->d->paints; paint++) {
        eg_pen pens[SHADES];
        if (!s->d->shown[paint]) continue;
        for (int i = 0; i < SHADES; i++)
            pens[i] =
                (eg_pen){.ink = EG_INK_NONE,
                         .colour = lit(eg_mesh_surface_colour(s->d, paint), (i + 0.5) / SHADES),
                         .class = "squares"};
        for (size_t i = 0; i < count; i++) {
            const eg_cell *c = m->cell[i] >= 0 ? &s->cells[m->cell[i]] : NULL;
            kind[i] = 0;
            if (c && c->paint == paint)
                kind[i] = (uint8_t)(1 + (int)fmin(SHADES * c->light[0], SHADES - 1));
        }
        EG_TRY(eg_canvas_squares(&s->d->canvas, s->view->left, s->view->top, SQUARE, m->columns,
                                 m->rows, kind, SHADES, pens));
    }
    s->d->fine = true;
done:
    eg_release(mesh->ctx, &kind);
    return status;
}

static eg_status draw_svg(const surface *s)
{
    eg_status status = EG_OK;
    const bool many = s->count > CELLS_MOST;
    samples m = {0};
    EG_TRY(create_samples(s, many ? 1.0 / SQUARE : 1.0, &m));
    sample(s, &m);
    if (many) {
        EG_TRY(draw_squares(s, &m));
        goto done;
    }
    qsort(s->cells, s->count, sizeof *s->cells, by_distance);
    for (size_t k = 0, end = 0; k < s->count; k = end) {
        bool drawn = false;
        for (; end < s->count && s->cells[end].face == s->cells[k].face; end++) {
            if (!is_drawn(&s->cells[end])) continue;
            EG_TRY(put_cell(s, &s->cells[end]));
            drawn = true;
        }
        if (drawn && !is_whole(&s->cells[k])) EG_TRY(put_edges(s, end - k, &s->cells[k]));
    }
done:
    free_samples(s->d->mesh->ctx, &m);
    return status;
}

eg_status eg_mesh_draw_surface(eg_mesh_drawing *d, const eg_space_view *view, bool by_group)
{
    eg_status status = EG_OK;
    surface s = {.d = d, .view = view};
    EG_TRY(eg_mesh_find_cells(d, view, by_group, &s.cells, &s.count));
    EG_TRY(d->canvas.format == EG_PICTURE_SVG ? draw_svg(&s) : draw_pixels(&s));
done:
    eg_release(d->mesh->ctx, &s.cells);
    return status;
}
