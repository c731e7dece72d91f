/* Nodes of Lagrange bases: products of one-dimensional families on tensor shapes, warp & blend
 * [warburton2006] with the parameters of [hesthaven2008] or equidistant points on simplices.
 *
 * Warp & blend moves the equidistant points so that those of an edge become Gauss-Lobatto points.
 * All is done in barycentric coordinates L: along an edge from vertex a to vertex b of the
 * equilateral simplex with edges of length 2, a displacement d adds d/2 to L_b and takes it from
 * L_a. This treats all vertices alike, and the coordinate that is 0 on a face stays exactly 0.
 * Simplex nodes are numbered with r fastest: L_1 = i/N, L_2 = j/N, L_3 = k/N; i, then j, then k
 * grow. */
#include "element/nodes.h"

#include <assert.h>

#include "element/basis.h"

/* [hesthaven2008] section 6.1 and 10.1, by degree */
static const double alpha_tri[EG_DEGREE_MAX + 1] = {0,      0,      0,      1.4152, 0.1001, 0.2751,
                                                    0.9800, 1.0999, 1.2832, 1.3648, 1.4773};
static const double alpha_tet[EG_DEGREE_MAX + 1] = {0,      0,      0,      0,      0.1002, 1.1332,
                                                    1.5608, 1.3413, 1.2577, 1.1603, 1.10153};

/* The n nodes of a family on the line. */
static eg_status place_on_line(eg_context *ctx, int n, eg_basis basis, double *x)
{
    if (n == 1) {
        x[0] = 0.0;
        return EG_OK;
    }
    switch (basis) {
    case EG_BASIS_LOBATTO:
        return eg_gauss_lobatto(ctx, n, x, NULL);
    case EG_BASIS_GAUSS:
        return eg_gauss_legendre(ctx, n, x, NULL);
    case EG_BASIS_RADAU:
        return eg_gauss_radau(ctx, n, x, NULL);
    case EG_BASIS_CHEBYSHEV:
        return eg_chebyshev_lobatto(ctx, n, x, NULL);
    case EG_BASIS_CELLS:
        for (int i = 0; i < n; i++)
            x[i] = (double)(2 * i + 1 - n) / n;
        return EG_OK;
    case EG_BASIS_EQUIDISTANT:
    case EG_BASIS_MODAL:
        break;
    }
    assert(basis == EG_BASIS_EQUIDISTANT);
    for (int i = 0; i < n; i++)
        x[i] = (double)(2 * i - (n - 1)) / (n - 1);
    return EG_OK;
}

/* How far Gauss-Lobatto points are from equidistant ones, as a function on an edge. */
typedef struct warp {
    int degree;
    double alpha;
    long double x[EG_DEGREE_MAX + 1]; /* equidistant points */
    long double
        move[EG_DEGREE_MAX + 1]; /* (Gauss-Lobatto - equidistant) / (1 - x²); 0 at the ends */
} warp;

static eg_status prepare_warp(eg_context *ctx, int degree, double alpha, warp *out)
{
    double lobatto[EG_DEGREE_MAX + 1];
    eg_status status = eg_gauss_lobatto(ctx, degree + 1, lobatto, NULL);
    if (status != EG_OK) return status;
    *out = (warp){.degree = degree, .alpha = alpha};
    for (int i = 0; i <= degree; i++)
        out->x[i] = (long double)(2 * i - degree) / degree;
    for (int i = 1; i < degree; i++)
        out->move[i] = (lobatto[i] - out->x[i]) / (1 - out->x[i] * out->x[i]);
    return EG_OK;
}

/* The warp at x over 1 - x²: a polynomial of degree N - 2 through the inner points. */
static long double warp_at(const warp *w, long double x)
{
    long double sum = 0;
    for (int i = 1; i < w->degree; i++) {
        long double term = w->move[i];
        for (int j = 1; j < w->degree; j++)
            if (j != i) term *= (x - w->x[j]) / (w->x[i] - w->x[j]);
        sum += term;
    }
    return sum;
}

/* Adds `blend` times the displacement within the triangle of vertices v[0..2] to shift. */
static void warp_triangle(const warp *w, const int *v, const long double *L, long double blend,
                          long double *shift)
{
    for (int edge = 0; edge < 3; edge++) {
        int a = v[(edge + 1) % 3], b = v[(edge + 2) % 3], opposite = v[edge];
        long double far = w->alpha * L[opposite];
        long double d = 4 * L[a] * L[b] * warp_at(w, L[b] - L[a]) * (1 + far * far);
        shift[b] += blend * d / 2;
        shift[a] -= blend * d / 2;
    }
}

/* The face opposite to each vertex. */
static const int opposite_face[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};

static void warp_tetrahedron(const warp *w, const long double *L, long double *shift)
{
    /* A point on faces moves as any one of them says; on edges they agree. */
    for (int v = 0; v < 4; v++)
        if (L[v] == 0) {
            warp_triangle(w, opposite_face[v], L, 1, shift);
            return;
        }
    for (int v = 0; v < 4; v++) {
        const int *f = opposite_face[v];
        long double far = w->alpha * L[v], blend = 1 + far * far;
        for (int i = 0; i < 3; i++)
            blend *= L[f[i]] / (L[f[i]] + L[v] / 2);
        warp_triangle(w, f, L, blend, shift);
    }
}

static eg_status place_on_simplex(eg_context *ctx, eg_shape shape, eg_shape host, int degree,
                                  bool warped, double *r)
{
    static const int triangle[3] = {0, 1, 2};
    const int dim = shape == EG_SHAPE_TET ? 3 : 2, np = eg_mode_count(shape, degree);
    if (degree == 0) {
        for (int d = 0; d < dim; d++)
            r[d] = (double)(1 - dim) / (1 + dim);
        return EG_OK;
    }
    warp w;
    const double *alpha = host == EG_SHAPE_TET ? alpha_tet : alpha_tri;
    eg_status status = prepare_warp(ctx, degree, alpha[degree], &w);
    if (status != EG_OK) return status;
    int node = 0;
    for (int k = 0; k <= (dim == 3 ? degree : 0); k++)
        for (int j = 0; j <= degree - k; j++)
            for (int i = 0; i <= degree - k - j; i++, node++) {
                const int index[4] = {degree - i - j - k, i, j, k};
                long double L[4], shift[4] = {0};
                for (int v = 0; v < 4; v++)
                    L[v] = (long double)index[v] / degree;
                if (warped && dim == 2) warp_triangle(&w, triangle, L, 1, shift);
                if (warped && dim == 3) warp_tetrahedron(&w, L, shift);
                for (int d = 0; d < dim; d++)
                    r[d * np + node] = (double)(2 * (L[d + 1] + shift[d + 1]) - 1);
            }
    return EG_OK;
}

eg_status eg_nodes_place(eg_context *ctx, eg_shape shape, eg_shape host, int degree, eg_basis basis,
                         double *r)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    if (!info->tensor)
        return place_on_simplex(ctx, shape, host, degree, basis == EG_BASIS_LOBATTO, r);

    double x[EG_LINE_NP_MAX] = {0};
    const int n = degree + 1, np = eg_mode_count(shape, degree);
    eg_status status = place_on_line(ctx, n, basis, x);
    if (status != EG_OK) return status;
    for (int d = 0, stride = 1; d < info->dim; d++, stride *= n)
        for (int i = 0; i < np; i++)
            r[d * np + i] = x[i / stride % n];
    return EG_OK;
}
