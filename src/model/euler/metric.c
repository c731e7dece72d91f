/* The metric terms of curved quadrilaterals for model `euler`, made on the host [kopriva2006].
 *
 * The mapping is interpolated at the Gauss-Lobatto points of the scheme's degree N, which changes
 * nothing if the mesh's order is at most N, and leaves edges of neighbours the same if it is more:
 * points on an edge are shared. The terms
 *     J∇r = (y_s, -x_s),    J∇s = (-y_r, x_r),    J = x_r y_s - x_s y_r
 * are those of that polynomial, exactly: of degree N along each coordinate, with
 * ∂_r J∇r + ∂_s J∇s = 0, which is what keeps uniform flow uniform. */
#include "model/euler/parts.h"

#include <inttypes.h>
#include <math.h>

enum {
    SIDE_MAX = EG_EULER_DEGREE_MAX + 1,
    GEOMETRY_MAX = EG_DEGREE_MAX_QUAD + 1, /* nodes of the mapping along a line */
    POINTS_MAX = 2 * SIDE_MAX + 2
};

/* Points of a line: the scheme's nodes, its inner points, then both ends; and what the mapping's
 * nodes along a line make of the coordinate and of its derivative there. */
typedef struct line_points {
    int side, inner, geometry; /* how many nodes, inner points, nodes of the mapping */
    double value[POINTS_MAX][GEOMETRY_MAX], slope[POINTS_MAX][GEOMETRY_MAX];
} line_points;

/* An element along s: coordinates and their derivatives for each point of a line along s and node
 * of the mapping along r. Its first node is the origin: metric terms are to be right to the digits
 * of the element's size, not of its place. */
typedef struct spread {
    double origin[2];
    double x[POINTS_MAX][GEOMETRY_MAX][2], xs[POINTS_MAX][GEOMETRY_MAX][2];
} spread;

/* The mapping at a point. */
typedef struct place {
    double x[2], r[2], s[2]; /* where it is, seen from the origin, ∂x/∂r and ∂x/∂s */
} place;

/* --- tables ----------------------------------------------------------------------------------- */

/* Rows of `own`'s functions at points times values of the mapping's at the nodes of `own`. */
static void compose(int count, int middle, int width, const double *outer, const double *inner,
                    double out[][GEOMETRY_MAX])
{
    for (int i = 0; i < count; i++)
        for (int j = 0; j < width; j++) {
            out[i][j] = 0;
            for (int k = 0; k < middle; k++)
                out[i][j] += outer[i * middle + k] * inner[k * width + j];
        }
}

static eg_status make_points(const eg_euler *a, const eg_group *g, line_points *out)
{
    eg_context *ctx = a->space->ctx;
    const eg_element *nodes = g->element->line;
    const int order = a->space->mesh->order;
    eg_element *own = NULL, *mapping = NULL;
    double at[POINTS_MAX], outer[POINTS_MAX * SIDE_MAX], inner[SIDE_MAX * GEOMETRY_MAX];
    int count = 0;
    eg_status status = EG_OK;
    *out = (line_points){
        .side = nodes->np, .inner = eg_euler_inner(a->scheme, a->degree), .geometry = order + 1};
    EG_TRY(eg_element_create_bare(ctx, EG_SHAPE_LINE, a->degree, EG_BASIS_LOBATTO, &own));
    EG_TRY(eg_element_create_bare(ctx, EG_SHAPE_LINE, order, EG_BASIS_LOBATTO, &mapping));
    for (int i = 0; i < out->side; i++)
        at[count++] = nodes->r[i];
    EG_TRY(eg_euler_inner_points(a->scheme, nodes, at + count));
    count += out->inner;
    at[count++] = -1;
    at[count++] = 1;
    EG_TRY(eg_element_evaluate(mapping, own->np, own->r, inner));
    EG_TRY(eg_element_evaluate(own, count, at, outer));
    compose(count, own->np, out->geometry, outer, inner, out->value);
    EG_TRY(eg_element_differentiate(own, count, at, outer));
    compose(count, own->np, out->geometry, outer, inner, out->slope);
done:
    eg_element_destroy(&mapping);
    eg_element_destroy(&own);
    return status;
}

/* --- elements --------------------------------------------------------------------------------- */

static void spread_element(const line_points *p, const eg_mesh *mesh, int32_t element, spread *out)
{
    const int n = p->geometry, count = p->side + p->inner + 2;
    double nodes[GEOMETRY_MAX * GEOMETRY_MAX][2];
    eg_mesh_element_nodes(mesh, element, nodes[0]);
    *out = (spread){.origin = {nodes[0][0], nodes[0][1]}};
    for (int j = 0; j < count; j++)
        for (int b = 0; b < n; b++)
            for (int i = 0; i < n; i++)
                for (int e = 0; e < 2; e++) {
                    const double x = nodes[b * n + i][e] - out->origin[e];
                    out->x[j][i][e] += p->value[j][b] * x;
                    out->xs[j][i][e] += p->slope[j][b] * x;
                }
}

/* At points i along r and j along s. */
static place place_of(const line_points *p, const spread *element, int i, int j)
{
    place at = {0};
    for (int k = 0; k < p->geometry; k++)
        for (int e = 0; e < 2; e++) {
            at.x[e] += p->value[i][k] * element->x[j][k][e];
            at.r[e] += p->slope[i][k] * element->x[j][k][e];
            at.s[e] += p->value[i][k] * element->xs[j][k][e];
        }
    return at;
}

/* At point i along direction d and j across. */
static place place_along(const line_points *p, const spread *element, int d, int i, int j)
{
    return d == 0 ? place_of(p, element, i, j) : place_of(p, element, j, i);
}

static double jacobian_of(const place *at)
{
    return at->r[0] * at->s[1] - at->r[1] * at->s[0];
}

/* Component e of J∇r_d. */
static double normal_of(const place *at, int d, int e)
{
    const double *along = d == 0 ? at->s : at->r;
    return (d == e ? 1 : -1) * along[1 - e];
}

/* --- a group ---------------------------------------------------------------------------------- */

int eg_euler_metric_rows(const eg_euler *a, const eg_euler_part *p)
{
    const int side = a->degree + 1, faces = 4 * 2 * side;
    if (!p->curved) return 1;
    return 4 * side * eg_euler_inner(a->scheme, a->degree) + side * side + (a->gauss ? faces : 0) +
           (p->outer ? faces : 0);
}

/* The rows of one element, in the order of shape.k.h, a value of `out` every `lanes`. Of its nodes,
 * *least is the least J and *nearness the largest |J∇r_d| / 2J. */
static void fill_element(const eg_euler *a, const eg_euler_part *part, const line_points *p,
                         const spread *element, int lanes, double *out, double *least,
                         double *nearness)
{
    const int ends = p->side + p->inner, faces = 4 * 2 * p->side;
    for (int line = 0; line < 2 * 2 * p->side; line++) {
        const int d = line / (2 * p->side), e = line / p->side % 2, j = line % p->side;
        for (int i = 0; i < p->inner; i++, out += lanes) {
            const place at = place_along(p, element, d, p->side + i, j);
            *out = normal_of(&at, d, e);
        }
    }
    *least = INFINITY;
    *nearness = 0;
    for (int i = 0; i < p->side * p->side; i++, out += lanes) {
        const place at = place_of(p, element, i % p->side, i / p->side);
        const double j = jacobian_of(&at);
        *out = 1 / j;
        *least = fmin(*least, j);
        *nearness =
            fmax(*nearness, fmax(hypot(at.r[0], at.r[1]), hypot(at.s[0], at.s[1])) / (2 * j));
    }
    for (int i = 0; i < (a->gauss + part->outer) * faces; i++, out += lanes) {
        const int end = i % faces / (2 * p->side), e = i / p->side % 2, j = i % p->side;
        const place at = place_along(p, element, end / 2, ends + end % 2, j);
        *out = a->gauss && i < faces ? normal_of(&at, end / 2, e) : element->origin[e] + at.x[e];
    }
}

static eg_status refuse(const eg_euler *a, int32_t element, const spread *of, double jacobian)
{
    const eg_mesh *mesh = a->space->mesh;
    return eg_fail(a->space->ctx, EG_ERROR_INPUT,
                   "element %" PRId64 " of the mesh, with a corner at (%.6g, %.6g), is folded: the "
                   "Jacobian of its mapping of order %d, seen at degree %d, is %.3g at a solution "
                   "point; take more elements, a higher degree or a mesh that is bent less",
                   mesh->global[element], of->origin[0], of->origin[1], mesh->order, a->degree,
                   jacobian);
}

eg_status eg_euler_make_metric(eg_euler *a, int group, double *nearness)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[group];
    eg_euler_part *p = &a->parts[group];
    const int64_t count = g->own_tiles * g->lanes, rows = eg_euler_metric_rows(a, p);
    line_points *points = NULL;
    spread *element = NULL;
    double *metric = NULL, least;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, 1, &points));
    EG_TRY(eg_new(space->ctx, 1, &element));
    EG_TRY(eg_new(space->ctx, (size_t)(count * rows) + 1, &metric));
    EG_TRY(make_points(a, g, points));
    for (int64_t i = 0; i < count; i++) {
        const int64_t tile = i / g->lanes, lane = i % g->lanes;
        spread_element(points, space->mesh, g->element_of_slot[i], element);
        fill_element(a, p, points, element, g->lanes, &metric[tile * rows * g->lanes + lane],
                     &least, &nearness[i]);
        if (!(least > 0)) EG_TRY(refuse(a, g->element_of_slot[i], element, least));
    }
    EG_TRY(eg_space_upload(space, EG_F64, (size_t)(count * rows) + 1, metric, &p->metric));
done:
    eg_release(space->ctx, &metric);
    eg_release(space->ctx, &element);
    eg_release(space->ctx, &points);
    return status;
}
