/* Finds the edges of a mesh in the plane, curved as the mappings of its elements are.
 *
 * An edge is cut into 1, 2, 4, … pieces and each drawn as the cubic Bézier curve that has the
 * mapping's points and derivatives at its ends, until the curves are right to a small part of a
 * pixel. One is exact up to order 3. */
#include "report/mesh/edges.h"

#include <math.h>
#include <string.h>

enum {
    PIECES_MOST = 16,
    SAMPLES = 4 * PIECES_MOST /* intervals at whose ends a curve is known */
};
#define TOLERANCE 0.1 /* pixels by which a curve may miss the mapping */
#define STRAIGHT 0.01 /* and a line */
#define AROUND 4.0    /* pixels around the view in which lines that are wide may still be seen */

/* A line, or curves: the first point and three for each curve. */
typedef struct edge_path {
    int curves; /* 0: a line to points[1] */
    double points[1 + 3 * PIECES_MOST][2];
} edge_path;

static eg_status create_basis(const eg_mesh *mesh, eg_shape shape, eg_edge_basis *b)
{
    eg_status status = EG_OK;
    double s[SAMPLES + 1];
    for (int i = 0; i <= SAMPLES; i++)
        s[i] = -1 + 2.0 * i / SAMPLES;
    EG_TRY(eg_element_create(mesh->ctx, shape, mesh->order, EG_BASIS_LOBATTO, &b->shape));
    b->count = b->shape->face_np;
    EG_TRY(eg_new(mesh->ctx, (size_t)((SAMPLES + 1) * b->count), &b->value));
    EG_TRY(eg_new(mesh->ctx, (size_t)((SAMPLES + 1) * b->count), &b->slope));
    EG_TRY(eg_element_evaluate(b->shape->face, SAMPLES + 1, s, b->value));
    EG_TRY(eg_element_differentiate(b->shape->face, SAMPLES + 1, s, b->slope));
done:
    return status;
}

eg_status eg_edges_create(const eg_mesh *mesh, eg_edges *edges)
{
    eg_status status = EG_OK;
    *edges = (eg_edges){.mesh = mesh};
    if (!mesh->nodes) return EG_OK;
    for (int32_t i = 0; i < mesh->element_count; i++) {
        eg_edge_basis *basis = &edges->basis[mesh->shape[i]];
        if (!basis->shape) EG_TRY(create_basis(mesh, (eg_shape)mesh->shape[i], basis));
    }
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->node_stride * 2, &edges->nodes));
done:
    return status;
}

void eg_edges_free(eg_edges *edges)
{
    eg_context *ctx = edges->mesh->ctx;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        eg_release(ctx, &edges->basis[s].slope);
        eg_release(ctx, &edges->basis[s].value);
        eg_element_destroy(&edges->basis[s].shape);
    }
    eg_release(ctx, &edges->nodes);
}

static void place(const eg_plane_view *view, const double *X, double out[2])
{
    out[0] = view->x + view->scale * X[0];
    out[1] = view->y - view->scale * X[1];
}

/* The piece from sample i to sample j, p[0] to p[3]. */
static void fit_piece(const double (*x)[2], const double (*dx)[2], int i, int j, double (*p)[2])
{
    const double third = 2.0 * (j - i) / SAMPLES / 3;
    for (int d = 0; d < 2; d++) {
        p[0][d] = x[i][d];
        p[1][d] = x[i][d] + third * dx[i][d];
        p[2][d] = x[j][d] - third * dx[j][d];
        p[3][d] = x[j][d];
    }
}

/* How far the piece is from the samples between its ends. */
static double piece_error(const double (*x)[2], int i, int j, const double (*p)[2])
{
    double error = 0;
    const int step = (j - i) / 4;
    for (int k = i + step; k < j; k += step) {
        const double t = (double)(k - i) / (j - i), s = 1 - t;
        double miss[2];
        for (int d = 0; d < 2; d++)
            miss[d] = s * s * s * p[0][d] + 3 * s * s * t * p[1][d] + 3 * s * t * t * p[2][d] +
                      t * t * t * p[3][d] - x[k][d];
        error = fmax(error, hypot(miss[0], miss[1]));
    }
    return error;
}

/* How far the inner points of a curve lie from the line between its ends. */
static double bend_of(const double (*p)[2])
{
    const double dx = p[3][0] - p[0][0], dy = p[3][1] - p[0][1], length = hypot(dx, dy);
    double bend = 0;
    for (int i = 1; i < 3; i++) {
        const double ax = p[i][0] - p[0][0], ay = p[i][1] - p[0][1];
        const double along = (ax * dx + ay * dy) / length;
        bend = fmax(bend,
                    along > 0 && along < length ? fabs(ax * dy - ay * dx) / length : hypot(ax, ay));
    }
    return bend;
}

static void curve_of(const eg_edges *edges, const eg_plane_view *view, int32_t element, int face,
                     edge_path *path)
{
    const eg_edge_basis *b = &edges->basis[edges->mesh->shape[element]];
    const bool exact = edges->mesh->order <= 3;
    double x[SAMPLES + 1][2] = {{0}}, dx[SAMPLES + 1][2] = {{0}};
    eg_mesh_element_nodes(edges->mesh, element, edges->nodes);
    for (int i = 0; i <= SAMPLES; i += exact ? SAMPLES : 1) {
        double X[2] = {0}, slope[2] = {0};
        for (int k = 0; k < b->count; k++) {
            const double *node = &edges->nodes[2 * b->shape->face_node[face * b->count + k]];
            for (int d = 0; d < 2; d++) {
                X[d] += b->value[i * b->count + k] * node[d];
                slope[d] += b->slope[i * b->count + k] * node[d];
            }
        }
        place(view, X, x[i]);
        dx[i][0] = view->scale * slope[0];
        dx[i][1] = -view->scale * slope[1];
    }
    const double(*at)[2] = (const double(*)[2])x, (*along)[2] = (const double(*)[2])dx;
    for (int pieces = 1; pieces <= PIECES_MOST; pieces *= 2) {
        const int step = SAMPLES / pieces;
        double error = 0;
        for (int i = 0; i < pieces; i++) {
            double(*p)[2] = &path->points[3 * i];
            fit_piece(at, along, i * step, (i + 1) * step, p);
            if (exact) continue;
            error = fmax(error, piece_error(at, i * step, (i + 1) * step, (const double(*)[2])p));
        }
        path->curves = pieces;
        if (error < TOLERANCE) break;
    }
    if (path->curves == 1 && bend_of((const double(*)[2])path->points) < STRAIGHT) {
        memcpy(path->points[1], path->points[3], sizeof path->points[1]);
        path->curves = 0;
    }
}

static void edge_of(const eg_edges *edges, const eg_plane_view *view, int32_t element, int face,
                    edge_path *path)
{
    const eg_mesh *mesh = edges->mesh;
    if (mesh->nodes) {
        curve_of(edges, view, element, face, path);
        return;
    }
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    path->curves = 0;
    for (int i = 0; i < 2; i++)
        place(view, eg_mesh_vertex(mesh, element, info->face[face][i]), path->points[i]);
}

eg_status eg_edges_draw(const eg_edges *edges, eg_canvas *canvas, const eg_plane_view *view,
                        int32_t element, int face, bool move)
{
    eg_status status = EG_OK;
    edge_path path;
    edge_of(edges, view, element, face, &path);
    const double(*p)[2] = (const double(*)[2])path.points;
    if (move) EG_TRY(eg_canvas_move(canvas, p[0][0], p[0][1]));
    if (path.curves == 0) EG_TRY(eg_canvas_line(canvas, p[1][0], p[1][1]));
    for (int i = 0; i < path.curves; i++)
        EG_TRY(eg_canvas_curve(canvas, &p[3 * i + 1]));
done:
    return status;
}

bool eg_edges_in_view(const eg_edges *edges, const eg_plane_view *view, int32_t element, int face)
{
    const eg_mesh *mesh = edges->mesh;
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    double a[2], b[2];
    place(view, eg_mesh_vertex(mesh, element, info->face[face][0]), a);
    place(view, eg_mesh_vertex(mesh, element, info->face[face][1]), b);
    const double reach = hypot(b[0] - a[0], b[1] - a[1]) + AROUND;
    return fmax(a[0], b[0]) + reach > view->left && fmax(a[1], b[1]) + reach > view->top &&
           fmin(a[0], b[0]) - reach < view->left + view->width &&
           fmin(a[1], b[1]) - reach < view->top + view->height;
}
