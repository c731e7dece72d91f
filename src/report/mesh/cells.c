/* Cuts the surface of a mesh in space into cells, small ones where faces are curved, and finds the
 * light on them. Faces that look away are left out. */
#include "report/mesh/cells.h"

#include <math.h>
#include <string.h>

enum {
    CUTS_MOST = 16, /* of a face along each edge */
    CUT_LEVELS = 5  /* 1, 2, 4, 8, 16 */
};
#define CURVED_CELL 7.0 /* pixels, of cells of curved faces */
#define CURVED_CELL_SVG 16.0
#define STRAIGHT_CELL 200.0

/* The points into which a face is cut, by the nodes of the face. */
typedef struct cut {
    int points;
    double *value; /* [points][nodes] owned */
    double *slope; /* [2][points][nodes] owned */
} cut;

typedef struct cutter {
    const eg_mesh_drawing *d;
    const eg_space_view *view;
    eg_element *shape[EG_SHAPE_COUNT];    /* owned */
    cut cuts[EG_SHAPE_COUNT][CUT_LEVELS]; /* by the element's shape, made when first needed */
    double *nodes;                        /* [nodes of an element][3] owned */
    eg_cell *cells;                       /* [count] goes to the caller */
    size_t count, capacity;
    int32_t faces;
} cutter;

/* --- the view --------------------------------------------------------------------------------- */

eg_space_view eg_space_view_new(bool behind)
{
    const double side = -60 * acos(-1) / 180, height = 25 * acos(-1) / 180, sign = behind ? -1 : 1;
    eg_space_view v = {.scale = 1};
    v.eye[0] = sign * cos(height) * cos(side);
    v.eye[1] = sign * cos(height) * sin(side);
    v.eye[2] = sign * sin(height);
    const double length = hypot(v.eye[0], v.eye[1]);
    v.right[0] = -v.eye[1] / length;
    v.right[1] = v.eye[0] / length;
    v.up[0] = -v.eye[2] * v.right[1];
    v.up[1] = v.eye[2] * v.right[0];
    v.up[2] = v.eye[0] * v.right[1] - v.eye[1] * v.right[0];
    return v;
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void eg_space_project(const eg_space_view *view, const double *x, double out[3])
{
    out[0] = view->x + view->scale * dot(view->right, x);
    out[1] = view->y - view->scale * dot(view->up, x);
    out[2] = view->scale * dot(view->eye, x);
}

/* The light on a surface with that normal, of any length: 0 to 1. */
static double light_on(const eg_space_view *view, const double *normal)
{
    double to[3];
    for (int i = 0; i < 3; i++)
        to[i] = 0.84 * view->eye[i] + 0.42 * view->up[i] - 0.34 * view->right[i];
    const double length = sqrt(dot(normal, normal));
    return length > 0 ? 0.5 + 0.5 * dot(normal, to) / length : 0.5;
}

/* --- cells ------------------------------------------------------------------------------------ */

/* Point (i, j) of n cuts: its number and its coordinates in the face. */
static int point_of(bool triangle, int n, int i, int j)
{
    return triangle ? j * (n + 1) - j * (j - 1) / 2 + i : j * (n + 1) + i;
}

static eg_status get_cut(cutter *s, eg_shape shape, int level, const cut **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = s->d->mesh->ctx;
    cut *c = &s->cuts[shape][level];
    const eg_element *face = s->shape[shape]->face;
    const bool triangle = face->shape == EG_SHAPE_TRI;
    const int n = 1 << level;
    double *r = NULL; /* [2][points] */
    *out = c;
    if (c->slope) return EG_OK;
    c->points = triangle ? (n + 1) * (n + 2) / 2 : (n + 1) * (n + 1);
    EG_TRY(eg_new(ctx, (size_t)(2 * c->points), &r));
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= (triangle ? n - j : n); i++) {
            r[point_of(triangle, n, i, j)] = -1 + 2.0 * i / n;
            r[c->points + point_of(triangle, n, i, j)] = -1 + 2.0 * j / n;
        }
    if (!c->value) EG_TRY(eg_new(ctx, (size_t)(c->points * face->np), &c->value));
    EG_TRY(eg_element_evaluate(face, c->points, r, c->value));
    EG_TRY(eg_new(ctx, (size_t)(2 * c->points * face->np), &c->slope));
    EG_TRY(eg_element_differentiate(face, c->points, r, c->slope));
done:
    eg_release(ctx, &r);
    return status;
}

/* Adds a cell, unless it looks away. */
static eg_status add_cell(cutter *s, const eg_cell *c)
{
    eg_status status = EG_OK;
    double area = 0, near = 0;
    for (int i = 0, j = c->corners - 1; i < c->corners; j = i++) {
        area += c->p[i][0] * c->p[j][1] - c->p[j][0] * c->p[i][1]; /* y is down */
        near += c->p[i][2] / c->corners;
    }
    if (!(area > 0)) return EG_OK;
    if (s->count == s->capacity) {
        const size_t capacity = 2 * s->capacity + 256;
        EG_TRY(eg_reallocate(s->d->mesh->ctx, capacity * sizeof *s->cells, (void **)&s->cells));
        s->capacity = capacity;
    }
    s->cells[s->count] = *c;
    s->cells[s->count++].near = near;
done:
    return status;
}

/* The cell at points (i, j) of a face, or the triangle that is turned over beside it. */
static eg_status cut_cell(cutter *s, eg_cell *c, bool triangle, int n, int i, int j, bool over,
                          const double (*p)[3], const double *light)
{
    const int corner[2][4][2] = {{{i, j}, {i + 1, j}, {i, j + 1}, {i + 1, j + 1}},
                                 {{i + 1, j}, {i + 1, j + 1}, {i, j + 1}, {0, 0}}};
    static const int around[4] = {0, 1, 3, 2};
    c->corners = triangle ? 3 : 4;
    c->edges = 0;
    for (int k = 0; k < c->corners; k++) {
        const int *at = corner[over][triangle ? k : around[k]];
        const int point = point_of(triangle, n, at[0], at[1]);
        memcpy(c->p[k], p[point], sizeof c->p[k]);
        c->light[k] = light[point];
    }
    if (triangle && !over) c->edges = (uint8_t)((j == 0) | (i + j == n - 1) << 1 | (i == 0) << 2);
    if (!triangle)
        c->edges = (uint8_t)((j == 0) | (i == n - 1) << 1 | (j == n - 1) << 2 | (i == 0) << 3);
    return add_cell(s, c);
}

/* How many times a face is cut, as a level. */
static int level_of(const cutter *s, double size)
{
    const bool curved = s->d->mesh->nodes != NULL, svg = s->d->canvas.format == EG_PICTURE_SVG;
    if (!curved && !svg) return 0;
    const double most = !curved ? STRAIGHT_CELL : svg ? CURVED_CELL_SVG : CURVED_CELL;
    int level = 0;
    while (level < CUT_LEVELS - 1 && size > (1 << level) * most)
        level++;
    return level;
}

/* The longest side of a face and its smallest height, by its vertices on the canvas. */
static void measure_face(const cutter *s, int32_t element, int face, double *size, double *gap)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)s->d->mesh->shape[element]);
    const int count = info->face_vertices;
    double p[EG_MAX_FACE_VERTICES][3], area = 0;
    *size = 0;
    for (int i = 0; i < count; i++)
        eg_space_project(s->view, eg_mesh_vertex(s->d->mesh, element, info->face[face][i]), p[i]);
    for (int i = 0, j = count - 1; i < count; j = i++) {
        *size = fmax(*size, hypot(p[i][0] - p[j][0], p[i][1] - p[j][1]));
        area += p[i][0] * p[j][1] - p[j][0] * p[i][1];
    }
    *gap = *size > 0 ? 0.5 * fabs(area) / *size : 0;
}

static eg_status add_face(cutter *s, int32_t element, int face, int paint)
{
    enum { POINTS_MOST = (CUTS_MOST + 1) * (CUTS_MOST + 1) };
    eg_status status = EG_OK;
    const eg_shape shape = (eg_shape)s->d->mesh->shape[element];
    const eg_element *el = s->shape[shape];
    const bool triangle = el->face->shape == EG_SHAPE_TRI;
    const cut *c = NULL;
    double p[POINTS_MOST][3] = {{0}}, light[POINTS_MOST] = {0}, size;
    eg_cell base = {.paint = paint};
    measure_face(s, element, face, &size, &base.gap);
    const int level = level_of(s, size), n = 1 << level;
    const size_t first = s->count;
    base.face = s->faces++;
    EG_TRY(get_cut(s, shape, level, &c));
    eg_mesh_element_nodes(s->d->mesh, element, s->nodes);
    for (int i = 0; i < c->points; i++) {
        double x[3] = {0}, a[3] = {0}, b[3] = {0};
        for (int k = 0; k < el->face_np; k++) {
            const double *node = &s->nodes[3 * el->face_node[face * el->face_np + k]];
            for (int d = 0; d < 3; d++) {
                x[d] += c->value[i * el->face_np + k] * node[d];
                a[d] += c->slope[i * el->face_np + k] * node[d];
                b[d] += c->slope[(c->points + i) * el->face_np + k] * node[d];
            }
        }
        const double normal[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                                  a[0] * b[1] - a[1] * b[0]};
        eg_space_project(s->view, x, p[i]);
        light[i] = light_on(s->view, normal);
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < (triangle ? n - j : n); i++) {
            const double(*at)[3] = (const double(*)[3])p;
            EG_TRY(cut_cell(s, &base, triangle, n, i, j, false, at, light));
            if (triangle && i + j < n - 1)
                EG_TRY(cut_cell(s, &base, triangle, n, i, j, true, at, light));
        }
    double near = 0;
    for (size_t k = first; k < s->count; k++)
        near += s->cells[k].near / (double)(s->count - first);
    for (size_t k = first; k < s->count; k++)
        s->cells[k].face_near = near;
done:
    return status;
}

static eg_status find_cells(cutter *s, bool by_group)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = s->d->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            const int group = eg_mesh_face_group(mesh, e, f);
            if (group < 0 && group != EG_FACE_PERIODIC) continue;
            int paint = group < 0 ? eg_mesh_periodic_paint(s->d) : group;
            if (by_group) paint = eg_mesh_tint_paint(s->d, eg_mesh_tint_of(s->d, e));
            if (eg_mesh_is_bad(s->d, e)) paint = eg_mesh_bad_paint(s->d);
            EG_TRY(add_face(s, e, f, paint));
        }
    }
done:
    return status;
}

eg_status eg_mesh_find_cells(const eg_mesh_drawing *d, const eg_space_view *view, bool by_group,
                             eg_cell **cells, size_t *count)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = d->mesh;
    cutter s = {.d = d, .view = view};
    int nodes = 0;
    for (int k = 0; k < EG_SHAPE_COUNT; k++) {
        if (d->shapes[k] == 0) continue;
        EG_TRY(
            eg_element_create(mesh->ctx, (eg_shape)k, mesh->order, EG_BASIS_LOBATTO, &s.shape[k]));
        if (s.shape[k]->np > nodes) nodes = s.shape[k]->np;
    }
    EG_TRY(eg_new(mesh->ctx, (size_t)nodes * 3, &s.nodes));
    EG_TRY(find_cells(&s, by_group));
done:
    *cells = s.cells;
    *count = s.count;
    for (int k = 0; k < EG_SHAPE_COUNT; k++) {
        for (int level = 0; level < CUT_LEVELS; level++) {
            eg_release(mesh->ctx, &s.cuts[k][level].slope);
            eg_release(mesh->ctx, &s.cuts[k][level].value);
        }
        eg_element_destroy(&s.shape[k]);
    }
    eg_release(mesh->ctx, &s.nodes);
    return status;
}
