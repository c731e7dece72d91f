/* Draws meshes in the plane: every edge once, inner ones in lines that are thin where elements are
 * small, boundaries in wide ones from end to end, groups of elements or their shapes as tinted
 * areas. Inner edges beyond counting are drawn into a raster of small squares, and the squares as
 * grey as they became. */
#include "report/mesh/edges.h"

#include <math.h>
#include <stdlib.h>

enum {
    LEVELS = 80,        /* of the width of lines */
    EDGES_MOST = 60000, /* that an SVG holds */
    SHADES = 24,        /* of squares */
    SQUARE = 3          /* pixels */
};
#define BOUNDARY_WIDTH 3.0
#define PERIODIC_WIDTH 2.4
#define BAD_WIDTH 2.2

typedef struct plane {
    eg_mesh_drawing *d;
    const eg_plane_view *view;
    eg_edges edges;
} plane;

/* --- widths ----------------------------------------------------------------------------------- */

/* The area of a straight element, in square pixels. */
static double element_area(const eg_mesh *mesh, int32_t element, double scale)
{
    const int count = eg_shape_get_info((eg_shape)mesh->shape[element])->vertices;
    double area = 0;
    for (int i = 0, j = count - 1; i < count; j = i++) {
        const double *a = eg_mesh_vertex(mesh, element, j), *b = eg_mesh_vertex(mesh, element, i);
        area += a[0] * b[1] - b[0] * a[1];
    }
    return 0.5 * fabs(area) * scale * scale;
}

/* The room beside an edge, on its narrower side, in pixels. */
static double gap_of(const eg_mesh *mesh, int32_t element, int face, double scale)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    const double *a = eg_mesh_vertex(mesh, element, info->face[face][0]);
    const double *b = eg_mesh_vertex(mesh, element, info->face[face][1]);
    const int32_t other = mesh->neighbour[(int64_t)element * mesh->face_stride + face];
    double area = element_area(mesh, element, scale);
    if (other >= 0) area = fmin(area, element_area(mesh, other, scale));
    return area / (scale * hypot(b[0] - a[0], b[1] - a[1]));
}

/* Gaps from level to level, eight in an octave. */
static double level_gap(int level)
{
    return EG_MESH_GAP * exp2(-level / 8.0);
}

static int level_of(double gap)
{
    if (!(gap < EG_MESH_GAP)) return 0;
    const double level = 8 * log2(EG_MESH_GAP / gap) + 0.5;
    return level < LEVELS - 1 ? (int)level : LEVELS - 1;
}

/* --- inner edges ------------------------------------------------------------------------------ */

/* The inner edges that are in view by the level of their width. */
typedef struct inner_edges {
    uint8_t *level; /* [elements][face_stride] 1 + the level of an inner edge, else 0; owned */
    int64_t *slots; /* [first[LEVELS]] element * face_stride + face, by level; owned */
    int64_t first[LEVELS + 1];
} inner_edges;

static eg_status sort_inner(const plane *pl, inner_edges *inner)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = pl->d->mesh;
    const int64_t slots = (int64_t)mesh->element_count * mesh->face_stride;
    int64_t count[LEVELS] = {0};
    EG_TRY(eg_new(mesh->ctx, (size_t)slots, &inner->level));
    for (int32_t e = 0; e < mesh->element_count; e++)
        for (int f = 0; f < eg_shape_get_info((eg_shape)mesh->shape[e])->faces; f++) {
            if (eg_mesh_face_group(mesh, e, f) != EG_FACE_INNER ||
                !eg_edges_in_view(&pl->edges, pl->view, e, f))
                continue;
            const int level = level_of(gap_of(mesh, e, f, pl->view->scale));
            inner->level[(int64_t)e * mesh->face_stride + f] = (uint8_t)(level + 1);
            count[level]++;
        }
    for (int level = 0; level < LEVELS; level++)
        inner->first[level + 1] = inner->first[level] + count[level];
    EG_TRY(eg_new(mesh->ctx, (size_t)inner->first[LEVELS], &inner->slots));
    for (int64_t slot = 0; slot < slots; slot++) {
        const int level = inner->level[slot] - 1;
        if (level >= 0) inner->slots[inner->first[level + 1] - count[level]--] = slot;
    }
done:
    return status;
}

/* Draws inner edges, one path for each width, the finest first; `shrink` is what a pixel of the
 * view is on the canvas. */
static eg_status draw_inner(const plane *pl, const inner_edges *inner, eg_canvas *canvas,
                            const eg_plane_view *view, double shrink, int ink)
{
    eg_status status = EG_OK;
    const int stride = pl->d->mesh->face_stride;
    for (int level = LEVELS - 1; level >= 0; level--) {
        const eg_pen pen = {
            .ink = ink, .width = shrink * eg_mesh_line_width(level_gap(level)), .class = "edges"};
        if (inner->first[level] == inner->first[level + 1]) continue;
        EG_TRY(eg_canvas_begin(canvas, &pen));
        for (int64_t i = inner->first[level]; i < inner->first[level + 1]; i++)
            EG_TRY(eg_edges_draw(&pl->edges, canvas, view, (int32_t)(inner->slots[i] / stride),
                                 (int)(inner->slots[i] % stride), true));
        EG_TRY(eg_canvas_end(canvas));
    }
    /* Where half of the edges have less than a pixel beside them. */
    if (2 * inner->first[level_of(1)] < inner->first[LEVELS]) pl->d->fine = true;
done:
    return status;
}

/* Evens out how lines and squares meet: every square that is not white becomes the mean of those
 * around it, kind [rows][columns] from the pixels' grey. */
static void blur(const eg_raster *raster, uint8_t *kind)
{
    const int columns = raster->width, rows = raster->height;
    for (int j = 0; j < rows; j++)
        for (int i = 0; i < columns; i++) {
            double sum = 0, weights = 0;
            for (int k = 0; k < 9; k++) {
                const int x = i + k % 3 - 1, y = j + k / 3 - 1;
                if (x < 0 || y < 0 || x >= columns || y >= rows) continue;
                const int grey = 255 - eg_raster_get(raster, x, y).r;
                const double weight = grey > 0 ? (2 - abs(x - i)) * (2 - abs(y - j)) : 0;
                sum += weight * grey;
                weights += weight;
            }
            if (eg_raster_get(raster, i, j).r < 255)
                kind[j * columns + i] = (uint8_t)(sum / weights * SHADES / 255 + 0.5);
        }
}

/* Inner edges as squares, each as grey as the lines in it are. */
static eg_status draw_squares(const plane *pl, const inner_edges *inner)
{
    static const eg_ink inks[2] = {{{255, 255, 255}, {255, 255, 255}}, {{0, 0, 0}, {0, 0, 0}}};
    eg_status status = EG_OK;
    eg_context *ctx = pl->d->mesh->ctx;
    const eg_plane_view *view = pl->view;
    const double shrink = 1.0 / SQUARE;
    eg_canvas small = {.ctx = ctx,
                       .format = EG_PICTURE_PNG,
                       .width = (int)ceil(view->width * shrink),
                       .height = (int)ceil(view->height * shrink),
                       .inks = inks,
                       .ink_count = 2};
    eg_plane_view on_small = {.x = shrink * (view->x - view->left),
                              .y = shrink * (view->y - view->top),
                              .scale = shrink * view->scale};
    uint8_t *kind = NULL;
    eg_pen pens[SHADES];
    EG_TRY(eg_canvas_open(&small, ""));
    EG_TRY(eg_new(ctx, (size_t)small.width * (size_t)small.height, &kind));
    EG_TRY(draw_inner(pl, inner, &small, &on_small, shrink, 1));
    blur(small.raster, kind);
    for (int i = 0; i < SHADES; i++)
        pens[i] =
            (eg_pen){.ink = EG_MESH_INK_EDGE, .opacity = (i + 1.0) / SHADES, .class = "squares"};
    EG_TRY(eg_canvas_squares(&pl->d->canvas, view->left, view->top, SQUARE, small.width,
                             small.height, kind, SHADES, pens));
    pl->d->fine = true;
done:
    eg_release(ctx, &kind);
    eg_canvas_close(&small);
    return status;
}

/* --- chains of edges -------------------------------------------------------------------------- */

/* An edge that is drawn as a part of a chain. */
typedef struct rim {
    int32_t element;
    int32_t next; /* the next edge that starts at the same vertex; -1: none */
    int8_t face;
    bool done;
} rim;

/* Which chains an edge belongs to, -1: none. */
typedef int rim_kind(const plane *pl, int32_t element, int face);

/* The edges of all kinds that there are. */
typedef struct outline {
    const plane *pl; /* not owned */
    int32_t *begin;  /* [kinds + 1] where the edges of each start; owned */
    rim *rims;       /* [begin[kinds]] owned */
    int32_t
        *first;  /* [vertex_count] an edge of the kind at hand that starts there; -1: none; owned */
    bool *ended; /* [vertex_count] one ends there; owned */
} outline;

static int32_t rim_vertex(const outline *o, const rim *r, int end)
{
    const eg_mesh *mesh = o->pl->d->mesh;
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[r->element]);
    return mesh->vertices[(int64_t)r->element * mesh->vertex_stride + info->face[r->face][end]];
}

/* The paint of a boundary or of periodic faces. Only what is in view. */
static int boundary_kind(const plane *pl, int32_t element, int face)
{
    const int group = eg_mesh_face_group(pl->d->mesh, element, face);
    if (group < 0 && group != EG_FACE_PERIODIC) return -1;
    if (!eg_edges_in_view(&pl->edges, pl->view, element, face)) return -1;
    return group < 0 ? eg_mesh_periodic_paint(pl->d) : group;
}

/* The element beside another at a face that both have at one place, -1: none. */
static int32_t element_beside(const plane *pl, int32_t element, int face)
{
    const eg_mesh *mesh = pl->d->mesh;
    const int group = eg_mesh_face_group(mesh, element, face);
    if (group != EG_FACE_INNER && group != EG_FACE_SEEN) return -1;
    return mesh->neighbour[(int64_t)element * mesh->face_stride + face];
}

/* What is around the elements of a tint. */
static int area_kind(const plane *pl, int32_t element, int face)
{
    const int tint = eg_mesh_tint_of(pl->d, element);
    const int32_t other = element_beside(pl, element, face);
    return other >= 0 && eg_mesh_tint_of(pl->d, other) == tint ? -1 : tint;
}

/* What is around elements that are bad. */
static int bad_kind(const plane *pl, int32_t element, int face)
{
    const int32_t other = element_beside(pl, element, face);
    if (!eg_mesh_is_bad(pl->d, element)) return -1;
    return other >= 0 && eg_mesh_is_bad(pl->d, other) ? -1 : 0;
}

static void outline_free(outline *o)
{
    eg_context *ctx = o->pl->d->mesh->ctx;
    eg_release(ctx, &o->ended);
    eg_release(ctx, &o->first);
    eg_release(ctx, &o->rims);
    eg_release(ctx, &o->begin);
}

/* Collects the edges by kind. Free it also after a failure. */
static eg_status outline_create(const plane *pl, int kinds, rim_kind *kind_of, outline *o)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = pl->d->mesh;
    *o = (outline){.pl = pl};
    EG_TRY(eg_new(mesh->ctx, (size_t)kinds + 2, &o->begin));
    for (int keep = 0; keep < 2; keep++) {
        /* Counted first, begin[k + 2] is the number of kind k; then begin[k + 1] moves on. */
        for (int32_t e = 0; e < mesh->element_count; e++)
            for (int f = 0; f < eg_shape_get_info((eg_shape)mesh->shape[e])->faces; f++) {
                const int kind = kind_of(pl, e, f);
                if (kind < 0) continue;
                if (keep)
                    o->rims[o->begin[kind + 1]++] = (rim){.element = e, .face = (int8_t)f};
                else
                    o->begin[kind + 2]++;
            }
        if (keep) break;
        for (int k = 0; k < kinds; k++)
            o->begin[k + 2] += o->begin[k + 1];
        EG_TRY(eg_new(mesh->ctx, (size_t)o->begin[kinds + 1], &o->rims));
    }
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->vertex_count, &o->first));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->vertex_count, &o->ended));
done:
    return status;
}

/* Draws a chain from one edge on, as far as it goes. */
static eg_status draw_chain(outline *o, int32_t start)
{
    eg_status status = EG_OK;
    for (int32_t i = start; i >= 0;) {
        rim *r = &o->rims[i];
        EG_TRY(eg_edges_draw(&o->pl->edges, &o->pl->d->canvas, o->pl->view, r->element, r->face,
                             i == start));
        r->done = true;
        i = o->first[rim_vertex(o, r, 1)];
        while (i >= 0 && o->rims[i].done)
            i = o->rims[i].next;
    }
done:
    return status;
}

/* Draws all edges of a kind in one path: first the chains that have a beginning, then loops. */
static eg_status draw_kind(outline *o, int kind, const eg_pen *pen)
{
    eg_status status = EG_OK;
    const int32_t from = o->begin[kind], to = o->begin[kind + 1];
    if (from == to) return EG_OK;
    for (int32_t i = from; i < to; i++)
        for (int end = 0; end < 2; end++) {
            o->first[rim_vertex(o, &o->rims[i], end)] = -1;
            o->ended[rim_vertex(o, &o->rims[i], end)] = false;
        }
    for (int32_t i = from; i < to; i++) {
        int32_t *first = &o->first[rim_vertex(o, &o->rims[i], 0)];
        o->rims[i].next = *first;
        *first = i;
        o->ended[rim_vertex(o, &o->rims[i], 1)] = true;
    }
    EG_TRY(eg_canvas_begin(&o->pl->d->canvas, pen));
    for (int loops = 0; loops < 2; loops++)
        for (int32_t i = from; i < to; i++)
            if (!o->rims[i].done && (loops || !o->ended[rim_vertex(o, &o->rims[i], 0)]))
                EG_TRY(draw_chain(o, i));
    EG_TRY(eg_canvas_end(&o->pl->d->canvas));
done:
    return status;
}

/* Fills what the elements of each tint cover, or all of them. */
static eg_status draw_areas(const plane *pl)
{
    eg_status status = EG_OK;
    eg_mesh_drawing *d = pl->d;
    const int kinds = d->tints ? d->tints : 1;
    outline o;
    EG_TRY(outline_create(pl, kinds, area_kind, &o));
    if (d->canvas.format == EG_PICTURE_SVG && o.begin[kinds] > EDGES_MOST) {
        d->untinted = d->tints > 0;
        goto done;
    }
    for (int k = 0; k < kinds; k++) {
        const int ink =
            d->tints ? eg_mesh_paint_ink(d, eg_mesh_tint_paint(d, k)) : EG_MESH_INK_BACK;
        EG_TRY(draw_kind(&o, k, &(eg_pen){.ink = ink, .class = "area"}));
    }
done:
    outline_free(&o);
    return status;
}

/* Marks elements that are bad: their areas, and what is around them, as some have no area. */
static eg_status draw_bad(const plane *pl)
{
    eg_status status = EG_OK;
    outline o;
    for (int line = 0; line < 2; line++) {
        EG_TRY(outline_create(pl, 1, bad_kind, &o));
        EG_TRY(draw_kind(&o, 0,
                         &(eg_pen){.ink = EG_MESH_INK_BAD,
                                   .width = line ? BAD_WIDTH : 0,
                                   .opacity = line ? 0 : 0.5,
                                   .round = true,
                                   .class = line ? "bad" : "bad-area"}));
        outline_free(&o);
    }
    return EG_OK;
done:
    outline_free(&o);
    return status;
}

static eg_status draw_boundaries(const plane *pl)
{
    eg_status status = EG_OK;
    const int periodic = eg_mesh_periodic_paint(pl->d), kinds = periodic + 1;
    outline o;
    EG_TRY(outline_create(pl, kinds, boundary_kind, &o));
    for (int i = 0; i < kinds; i++) {
        const int k = i == 0 ? periodic : i - 1; /* below the others */
        EG_TRY(draw_kind(&o, k,
                         &(eg_pen){.ink = eg_mesh_paint_ink(pl->d, k),
                                   .width = k == periodic ? PERIODIC_WIDTH : BOUNDARY_WIDTH,
                                   .round = true,
                                   .class = k == periodic ? "periodic" : "boundary"}));
    }
done:
    outline_free(&o);
    return status;
}

eg_status eg_mesh_draw_plane(eg_mesh_drawing *d, const eg_plane_view *view)
{
    eg_status status = EG_OK;
    plane pl = {.d = d, .view = view};
    inner_edges inner = {0};
    EG_TRY(eg_edges_create(d->mesh, &pl.edges));
    EG_TRY(draw_areas(&pl));
    EG_TRY(sort_inner(&pl, &inner));
    if (d->canvas.format == EG_PICTURE_SVG && inner.first[LEVELS] > EDGES_MOST)
        EG_TRY(draw_squares(&pl, &inner));
    else
        EG_TRY(draw_inner(&pl, &inner, &d->canvas, view, 1.0, EG_MESH_INK_EDGE));
    EG_TRY(draw_boundaries(&pl));
    if (d->bad) EG_TRY(draw_bad(&pl));
done:
    eg_release(d->mesh->ctx, &inner.slots);
    eg_release(d->mesh->ctx, &inner.level);
    eg_edges_free(&pl.edges);
    return status;
}
