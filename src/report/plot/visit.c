/* Visits the pixels around an element, and inverts its mapping there.
 *
 * An affine element knows which columns of a row it holds. Any other one visits all pixels of a
 * box, or, if it is large, of the boxes of cells that it is cut into; the inverse starts where that
 * of the pixel before points to.
 *
 * Distances to faces come from the coordinates that vanish there and their slopes. With them lines
 * between elements are drawn, curved as the elements are. */
#include "report/plot/visit.h"

#include "report/plot/cells.h"

#include <math.h>
#include <string.h>

enum { FACES_MOST = 6, CELL = 12 /* pixels, at least */ };
#define ROUNDING 1e-9 /* a face coordinate that may as well be 0 */
#define AIR 0.01      /* pixels around a box, for rounding */
#define FADES 6.0     /* pixels between lines below which they fade … */
#define FADED 2.0     /* … and are gone */

typedef eg_plot_visit visit;

/* --- where pixels are ------------------------------------------------------------------------- */

static int clamp(double value, int most)
{
    return value < 0 ? 0 : value > most ? most : (int)value;
}

bool eg_plot_find_pixels(const eg_plot_view *v, const double *low, const double *high,
                         eg_plot_reach *out)
{
    const int n = v->normal;
    if (n >= 0) {
        const double air = ROUNDING * (high[n] - low[n]);
        if (v->at < low[n] - air || v->at > high[n] + air) return false;
    }
    /* Pixel i has its centre at i + 1/2. */
    out->from[0] = clamp((low[v->across] - v->left) / v->pixel + 0.5 - AIR, v->width);
    out->to[0] = clamp((high[v->across] - v->left) / v->pixel + 0.5 + AIR, v->width);
    out->from[1] = clamp((v->top - high[v->up]) / v->pixel + 0.5 - AIR, v->height);
    out->to[1] = clamp((v->top - low[v->up]) / v->pixel + 0.5 + AIR, v->height);
    return out->from[0] < out->to[0] && out->from[1] < out->to[1];
}

static size_t pixel_index(const visit *v, int column, int row)
{
    return (size_t)row * (size_t)v->scene->image->width + (size_t)column;
}

/* --- faces ------------------------------------------------------------------------------------ */

/* The coordinates of a pixel that are 0 at a face of the element and 1 opposite of it. */
typedef struct faces {
    int count;
    double coordinate[FACES_MOST];
    double across[FACES_MOST], up[FACES_MOST]; /* its change from a pixel to the next */
    double steep[FACES_MOST];                  /* and along the steepest way */
} faces;

static void look_at_faces(const visit *v, faces *out)
{
    const eg_plot_view *view = v->scene->view;
    double slope[FACES_MOST][3];
    out->count = eg_face_coordinates(v->mapping.shape, v->r, out->coordinate, slope);
    for (int f = 0; f < out->count; f++) {
        double across = 0, up = 0;
        for (int k = 0; k < v->mapping.dim; k++) {
            across += view->pixel * slope[f][k] * v->inverse[k][view->across];
            up += view->pixel * slope[f][k] * v->inverse[k][view->up];
        }
        out->across[f] = across;
        out->up[f] = up;
        out->steep[f] = sqrt(across * across + up * up);
    }
}

/* The part of the pixel that is covered by lines along the faces. Where these are close together,
 * lines would hide the field, and fade. */
static double line_cover(const faces *at, double full)
{
    double most = 0;
    for (int f = 0; f < at->count; f++) {
        if (!(at->steep[f] > 1e-9)) continue; /* seen from above */
        const double gap = 1 / at->steep[f], from = fabs(at->coordinate[f]) * gap;
        const double part = fmin((gap - FADED) / (FADES - FADED), 1);
        if (part > 0)
            most = fmax(most, part * fmin(fmax(0.5 * full + 0.5 - from, 0), fmin(full, 1)));
    }
    return most;
}

/* --- pixels inside ---------------------------------------------------------------------------- */

void eg_plot_visit_open(const eg_plot_scene *scene, int32_t e, eg_mapping_kind kind, double *work,
                        eg_plot_visit *v)
{
    const eg_snapshot *s = scene->field->snapshot;
    v->scene = scene;
    v->element = e;
    v->work = work;
    memset(v->r, 0, sizeof v->r);
    eg_plot_mapping_open(kind, (eg_shape)s->shape[e], s->degree[e],
                         &s->x[s->first_node[e] * s->dim], &v->mapping);
}

/* Evaluates at r for the pixel whose centre is x. */
static void evaluate(const visit *v, size_t pixel, const double *x)
{
    const eg_plot_field *field = v->scene->field;
    eg_factors factors;
    eg_factors_fill(v->mapping.shape, field->snapshot->degree[v->element], v->r, false, &factors);
    v->scene->image->value[pixel] = eg_plot_field_evaluate(field, v->element, &factors, x, v->work);
}

static bool is_inside(const visit *v)
{
    const double *r = v->r, most = 1 + 2 * ROUNDING;
    double sum = v->mapping.dim - 2; /* of r: 0 opposite of vertex 0, in the plane */
    if (eg_shape_get_info(v->mapping.shape)->tensor)
        return fabs(r[0]) <= most && fabs(r[1]) <= most &&
               (v->mapping.dim < 3 || fabs(r[2]) <= most);
    for (int d = 0; d < v->mapping.dim; d++) {
        if (!(r[d] >= -most)) return false;
        sum += r[d];
    }
    return sum <= 2 * ROUNDING;
}

/* Claims a pixel if its centre is inside. */
static void claim(const visit *v, size_t pixel, const double *x)
{
    eg_plot_image *image = v->scene->image;
    if (!is_inside(v)) return;
    image->element[pixel] = v->element;
    image->beyond[pixel] = 0;
    evaluate(v, pixel, x);
    if (!image->line) return;
    faces at;
    look_at_faces(v, &at);
    image->line[pixel] = (float)line_cover(&at, v->scene->line);
}

/* The columns of a row that an affine element may hold, from what its faces are at the first
 * column. */
static void find_span(const faces *f, const eg_plot_reach *at, int *from, int *to)
{
    double low = at->from[0], high = at->to[0] - 1;
    for (int i = 0; i < f->count; i++) {
        const double spare = f->coordinate[i] + 2 * ROUNDING;
        if (f->across[i] > 0)
            low = fmax(low, at->from[0] - spare / f->across[i]);
        else if (f->across[i] < 0)
            high = fmin(high, at->from[0] - spare / f->across[i]);
        else if (spare < 0)
            high = low - 1;
    }
    *from = (int)ceil(fmin(low, at->to[0]));
    *to = low <= high ? (int)floor(high) + 1 : *from;
}

static void visit_affine(visit *v, const eg_plot_reach *at, int top, int bottom)
{
    const eg_plot_view *view = v->scene->view;
    for (int row = top; row < bottom; row++) {
        int from, to;
        double x[3];
        faces f;
        eg_plot_view_point(view, at->from[0], row, x);
        eg_plot_mapping_invert(&v->mapping, x, v->r, v->inverse);
        look_at_faces(v, &f);
        find_span(&f, at, &from, &to);
        for (int column = from; column < to; column++) {
            const size_t pixel = pixel_index(v, column, row);
            if (v->scene->image->element[pixel] >= 0) continue;
            eg_plot_view_point(view, column, row, x);
            eg_plot_mapping_invert(&v->mapping, x, v->r, v->inverse);
            claim(v, pixel, x);
        }
    }
}

/* Visits all pixels of a box. `centre` is where a cell has its centre; NULL: the element is not
 * cut. */
static void visit_box(visit *v, const eg_plot_reach *at, int top, int bottom, const double *centre)
{
    const int dim = v->mapping.dim;
    bool known = false;
    double last[3] = {0};
    for (int row = top; row < bottom; row++)
        for (int i = at->from[0]; i < at->to[0]; i++) {
            /* To and fro, so that the pixel before is beside this one. */
            const int column = (row - top) % 2 ? at->from[0] + at->to[0] - 1 - i : i;
            const size_t pixel = pixel_index(v, column, row);
            double x[3];
            if (v->scene->image->element[pixel] >= 0) continue;
            eg_plot_view_point(v->scene->view, column, row, x);
            for (int d = 0; known && d < dim; d++)
                for (int k = 0; k < dim; k++)
                    v->r[d] += v->inverse[d][k] * (x[k] - last[k]);
            known = known && eg_plot_mapping_invert(&v->mapping, x, v->r, v->inverse);
            if (!known) {
                if (centre)
                    memcpy(v->r, centre, sizeof v->r);
                else
                    eg_plot_mapping_guess(&v->mapping, x, v->r);
                known = eg_plot_mapping_invert(&v->mapping, x, v->r, v->inverse);
            }
            if (!known) continue;
            memcpy(last, x, sizeof last);
            claim(v, pixel, x);
        }
}

static void visit_cells(visit *v, int pieces, int top, int bottom)
{
    eg_plot_cell cells[EG_PLOT_CELLS_MOST];
    const int count = eg_plot_cells_fill(&v->mapping, pieces, cells);
    for (int i = 0; i < count; i++) {
        eg_plot_reach at;
        if (!eg_plot_find_pixels(v->scene->view, cells[i].low, cells[i].high, &at)) continue;
        visit_box(v, &at, at.from[1] > top ? at.from[1] : top,
                  at.to[1] < bottom ? at.to[1] : bottom, cells[i].r);
    }
}

void eg_plot_visit_rows(eg_plot_visit *v, const eg_plot_reach *at, int top, int bottom)
{
    const int width = at->to[0] - at->from[0], height = at->to[1] - at->from[1];
    const int size = width > height ? width : height;
    if (v->mapping.kind == EG_MAPPING_AFFINE)
        visit_affine(v, at, top, bottom);
    else if (v->mapping.kind != EG_MAPPING_NONE && size < 3 * CELL)
        visit_box(v, at, top, bottom, NULL);
    else if (v->mapping.kind != EG_MAPPING_NONE)
        visit_cells(v, size / CELL, top, bottom);
}

/* --- pixels outside --------------------------------------------------------------------------- */

/* How far it is, in pixels, to where both face coordinates are 0. */
static double corner_distance(const faces *f, int a, int b)
{
    const double det = f->across[a] * f->up[b] - f->across[b] * f->up[a];
    const double dx = f->coordinate[b] * f->up[a] - f->coordinate[a] * f->up[b];
    const double dy = f->coordinate[a] * f->across[b] - f->coordinate[b] * f->across[a];
    return sqrt(dx * dx + dy * dy) / fabs(det);
}

/* How far a pixel is outside, in pixels: as far as the face it is beyond, or as the corner if the
 * nearest point of this face is beyond another one. */
static double find_beyond(const faces *f)
{
    double most = 0;
    for (int a = 0; a < f->count; a++) {
        if (!(f->coordinate[a] < -ROUNDING)) continue;
        const double square = f->steep[a] * f->steep[a];
        most = fmax(most, -f->coordinate[a] / f->steep[a]);
        for (int b = 0; b < f->count; b++) {
            const double turn = f->across[a] * f->across[b] + f->up[a] * f->up[b];
            if (f->coordinate[b] - f->coordinate[a] * turn / square < -ROUNDING)
                most = fmax(most, corner_distance(f, a, b));
        }
    }
    return most;
}

/* Moves r to the edge of the element. */
static void move_inside(visit *v, const faces *f)
{
    double sum = 0;
    for (int i = 0; i < f->count; i++)
        sum += fmax(f->coordinate[i], 0);
    for (int d = 0; d < v->mapping.dim; d++)
        v->r[d] = eg_shape_get_info(v->mapping.shape)->tensor
                      ? fmin(fmax(v->r[d], -1), 1)
                      : -1 + 2 * fmax(f->coordinate[d], 0) / sum;
}

double eg_plot_visit_edge(eg_plot_visit *v, int column, int row, double least)
{
    eg_plot_image *image = v->scene->image;
    const size_t pixel = pixel_index(v, column, row);
    double x[3];
    faces f;
    eg_plot_view_point(v->scene->view, column, row, x);
    eg_plot_mapping_guess(&v->mapping, x, v->r);
    if (!eg_plot_mapping_invert(&v->mapping, x, v->r, v->inverse)) return least;
    look_at_faces(v, &f);
    const double beyond = find_beyond(&f);
    if (!(beyond < least)) return least;
    image->beyond[pixel] = (float)beyond;
    if (image->line) image->line[pixel] = (float)line_cover(&f, v->scene->line);
    move_inside(v, &f);
    evaluate(v, pixel, x);
    return beyond;
}
