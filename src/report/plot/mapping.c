/* Judges and inverts mappings. Affine ones are inverted in closed form, all others by Newton's
 * method. */
#include "report/plot/mapping.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS_MOST = 16 };
#define NEAR 0.03  /* a step of Newton's method that may be the last … */
#define LEFT 1e-15 /* … if it leaves no more than this … */
#define TINY 1e-8  /* … or is this short … */
#define SURE 4.0   /* … or is so many times shorter than the way to the element */
#define AROUND 1.7 /* the inverse is sought for -AROUND ≤ r, s, t ≤ AROUND */
#define AIR 2.0    /* deviations between nodes over those at nodes, at most */

/* The node of an element that is node `corner` of the one of degree 1. */
static int corner_node(eg_shape shape, int degree, int corner)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    if (info->tensor) {
        int node = 0;
        for (int d = info->dim - 1; d >= 0; d--)
            node = node * (degree + 1) + (corner >> d & 1 ? degree : 0);
        return node;
    }
    if (corner < 2) return corner * degree;
    return eg_mode_count(corner == 2 ? EG_SHAPE_TRI : EG_SHAPE_TET, degree) - 1;
}

/* --- judging ---------------------------------------------------------------------------------- */

/* corners [vertices][dim] in the order of the nodes of degree 1. */
static void get_corners(eg_shape shape, int degree, const double *nodes, double *corners)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    for (int c = 0; c < info->vertices; c++)
        memcpy(&corners[c * info->dim], &nodes[corner_node(shape, degree, c) * info->dim],
               (size_t)info->dim * sizeof *nodes);
}

/* How far the nodes are from where the corners alone would have them: deviation [dim]. */
static void deviate(eg_shape shape, int degree, const double *nodes, const double *corners,
                    double *deviation)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    const int dim = info->dim, n = degree;
    for (int k = 0; k <= (dim > 2 ? n : 0); k++)
        for (int j = 0; j <= (info->tensor ? n : n - k); j++) {
            const int last = info->tensor ? n : n - j - k;
            const double v = (double)j / n, w = (double)k / n, u = (double)last / n;
            double from[3], step[3]; /* of this row of nodes */
            for (int d = 0; d < dim; d++) {
                const double *c = &corners[d];
                double to = 0;
                if (info->tensor) {
                    const double *t = dim > 2 ? c + 4 * dim : c;
                    const double a = (1 - v) * c[0] + v * c[2 * dim];
                    const double b = (1 - v) * c[dim] + v * c[3 * dim];
                    from[d] = (1 - w) * a + w * ((1 - v) * t[0] + v * t[2 * dim]);
                    to = (1 - w) * b + w * ((1 - v) * t[dim] + v * t[3 * dim]);
                } else {
                    from[d] = c[0] + v * (c[2 * dim] - c[0]);
                    if (dim > 2) from[d] += w * (c[3 * dim] - c[0]);
                    to = from[d] + u * (c[dim] - c[0]);
                }
                step[d] = last > 0 ? (to - from[d]) / last : 0;
            }
            for (int i = 0; i <= last; i++)
                for (int d = 0; d < dim; d++, nodes++)
                    deviation[d] = fmax(deviation[d], fabs(*nodes - (from[d] + i * step[d])));
        }
}

/* How far the corners of a tensor shape are from those of a parallelepiped. */
static double bend(const eg_shape_info *info, const double *corners)
{
    double most = 0;
    for (int c = 0; info->tensor && c < info->vertices; c++)
        for (int d = 0; d < info->dim; d++) {
            double flat = corners[d];
            for (int k = 0; k < info->dim; k++)
                if (c >> k & 1) flat += corners[(1 << k) * info->dim + d] - corners[d];
            most = fmax(most, fabs(corners[c * info->dim + d] - flat));
        }
    return most;
}

eg_mapping_kind eg_plot_mapping_judge(eg_shape shape, int degree, const double *nodes,
                                      double low[3], double high[3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    double corners[8 * 3], deviation[3] = {0}, size = 0, far = 0, most = 0;
    get_corners(shape, degree, nodes, corners);
    for (int i = 0; i < eg_mode_count(shape, degree) * info->dim; i++)
        if (!isfinite(nodes[i])) return EG_MAPPING_NONE;
    deviate(shape, degree, nodes, corners, deviation);
    for (int d = 0; d < info->dim; d++) {
        low[d] = INFINITY;
        high[d] = -INFINITY;
        for (int c = 0; c < info->vertices; c++) {
            low[d] = fmin(low[d], corners[c * info->dim + d]);
            high[d] = fmax(high[d], corners[c * info->dim + d]);
        }
        size = fmax(size, high[d] - low[d]);
        far = fmax(far, fmax(fabs(low[d]), fabs(high[d])));
        most = fmax(most, deviation[d]);
    }
    const double rounding = 1e-13 * size + 4 * DBL_EPSILON * far;
    if (most > rounding) {
        for (int d = 0; d < info->dim; d++) {
            low[d] -= AIR * deviation[d];
            high[d] += AIR * deviation[d];
        }
        return EG_MAPPING_CURVED;
    }
    return bend(info, corners) > rounding ? EG_MAPPING_MULTILINEAR : EG_MAPPING_AFFINE;
}

/* --- inverting -------------------------------------------------------------------------------- */

/* The inverse of a [dim][dim]; false: it is singular. */
static bool invert_matrix(int dim, double a[3][3], double out[3][3])
{
    if (dim == 2) {
        const double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
        if (!isnormal(det)) return false;
        out[0][0] = a[1][1] / det;
        out[0][1] = -a[0][1] / det;
        out[1][0] = -a[1][0] / det;
        out[1][1] = a[0][0] / det;
        return true;
    }
    double cofactor[3][3], det = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cofactor[i][j] = a[i1][j1] * a[i2][j2] - a[i1][j2] * a[i2][j1];
        }
    for (int j = 0; j < 3; j++)
        det += a[0][j] * cofactor[0][j];
    if (!isnormal(det)) return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[j][i] = cofactor[i][j] / det;
    return true;
}

void eg_plot_mapping_open(eg_mapping_kind kind, eg_shape shape, int degree, const double *nodes,
                          eg_plot_mapping *out)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    const int dim = info->dim;
    out->kind = kind;
    out->shape = shape;
    out->dim = dim;
    out->degree = kind == EG_MAPPING_CURVED ? degree : 1;
    out->nodes = nodes;
    get_corners(shape, degree, nodes, out->corners);
    if (kind != EG_MAPPING_AFFINE) return;
    double jacobian[3][3];
    for (int k = 0; k < dim; k++)
        for (int d = 0; d < dim; d++) {
            const int corner = info->tensor ? 1 << k : 1 + k;
            jacobian[d][k] = 0.5 * (out->corners[corner * dim + d] - out->corners[d]);
        }
    if (!invert_matrix(dim, jacobian, out->inverse)) out->kind = EG_MAPPING_NONE;
}

static const double *mapping_nodes(const eg_plot_mapping *m)
{
    return m->kind == EG_MAPPING_CURVED ? m->nodes : m->corners;
}

/* How far r is outside of the reference element, along a coordinate. */
static double excess(const eg_plot_mapping *m, const double *r)
{
    double most = 0, sum = m->dim - 2;
    const bool tensor = eg_shape_get_info(m->shape)->tensor;
    for (int d = 0; d < m->dim; d++) {
        most = fmax(most, tensor ? fabs(r[d]) - 1 : -1 - r[d]);
        sum += r[d];
    }
    return tensor ? most : fmax(most, sum);
}

/* Newton's method. It converges by squares: a step leaves about its size squared times a factor,
 * which is the ratio of this step to the square of the one before; or, if it was tiny, rounding.
 * Points that leave the neighbourhood of the element are put back once, and points that are outside
 * for sure need no more steps. */
static bool improve(const eg_plot_mapping *m, const double *x, double *r, double inverse[3][3])
{
    const double *nodes = mapping_nodes(m);
    double last = 0;
    int left = 0;
    for (int step = 0; step < STEPS_MOST; step++) {
        eg_factors factors;
        double jacobian[3][3], at[3], moved = 0;
        bool outside = false;
        eg_factors_fill(m->shape, m->degree, r, true, &factors);
        eg_factors_map(&factors, nodes, at, jacobian);
        if (!invert_matrix(m->dim, jacobian, inverse)) return false;
        for (int k = 0; k < m->dim; k++) {
            double change = 0;
            for (int d = 0; d < m->dim; d++)
                change += inverse[k][d] * (x[d] - at[d]);
            if (!isfinite(change)) return false;
            r[k] += change;
            moved = fmax(moved, fabs(change));
            outside = outside || fabs(r[k]) > AROUND;
            r[k] = fmin(fmax(r[k], -AROUND), AROUND);
        }
        if (outside && ++left > 1) return false;
        const double factor = step > 0 ? moved / (last * last) : 1;
        if (!outside && moved < NEAR &&
            (moved < TINY || factor * moved * moved < LEFT || excess(m, r) > SURE * moved))
            return true;
        last = moved;
    }
    return false;
}

void eg_plot_mapping_guess(const eg_plot_mapping *m, const double *x, double *r)
{
    const bool tensor = eg_shape_get_info(m->shape)->tensor;
    const double *node = mapping_nodes(m);
    const int n = m->degree;
    double least = INFINITY;
    for (int k = 0; k <= (m->dim > 2 ? n : 0); k++)
        for (int j = 0; j <= (tensor ? n : n - k); j++)
            for (int i = 0; i <= (tensor ? n : n - j - k); i++, node += m->dim) {
                double distance = 0;
                for (int d = 0; d < m->dim; d++)
                    distance += (node[d] - x[d]) * (node[d] - x[d]);
                if (!(distance < least)) continue;
                const int at[3] = {i, j, k};
                least = distance;
                for (int d = 0; d < m->dim; d++)
                    r[d] = -1 + 2.0 * at[d] / n;
            }
}

bool eg_plot_mapping_invert(const eg_plot_mapping *m, const double *x, double *r,
                            double inverse[3][3])
{
    if (m->kind == EG_MAPPING_AFFINE) {
        for (int k = 0; k < m->dim; k++) {
            r[k] = -1;
            for (int d = 0; d < m->dim; d++)
                r[k] += m->inverse[k][d] * (x[d] - m->corners[d]);
        }
        memcpy(inverse, m->inverse, sizeof m->inverse);
        return true;
    }
    return improve(m, x, r, inverse);
}

void eg_plot_mapping_at(const eg_plot_mapping *m, const double *r, double *x)
{
    eg_factors factors;
    double jacobian[3][3];
    eg_factors_fill(m->shape, m->degree, r, true, &factors);
    eg_factors_map(&factors, mapping_nodes(m), x, jacobian);
}
