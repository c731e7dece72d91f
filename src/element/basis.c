/* Orthonormal modes: Legendre on the line, Proriol-Koornwinder-Dubiner [dubiner1991,
 * karniadakis2005 section 3.2] on simplices.
 *
 * On the tetrahedron, with collapsed coordinates a, b, c,
 *     P_i(a) · ((1-b)/2)^i P_j^(2i+1,0)(b) · ((1-c)/2)^(i+j) P_k^(2i+2j+2,0)(c)
 * times sqrt((2i+1)(i+j+1)(2i+2j+2k+3)/4); on the triangle the last factor is missing and the norm
 * is sqrt((2i+1)(i+j+1)/2). The coordinates a and b are quotients that have no limit where the
 * element collapses, but v^n P_n(u/v) is a polynomial of u and v. Its recurrence
 *     p_{n+1} = (A u + B v) p_n - C v² p_{n-1}
 * is carried along with its gradient, so that no point is special. */
#include "element/basis.h"

#include <assert.h>
#include <math.h>

int eg_mode_count(eg_shape shape, int degree)
{
    int n = degree + 1;
    switch (shape) {
    case EG_SHAPE_LINE:
        return n;
    case EG_SHAPE_TRI:
        return n * (n + 1) / 2;
    case EG_SHAPE_QUAD:
        return n * n;
    case EG_SHAPE_TET:
        return n * (n + 1) * (n + 2) / 6;
    case EG_SHAPE_HEX:
        break;
    }
    return n * n * n;
}

int eg_simplex_mode_degree(eg_shape shape, int mode)
{
    int degree = 0;
    while (mode >= eg_mode_count(shape, degree))
        degree++;
    return degree;
}

void eg_line_modes(int degree, double x, double *values, double *derivatives)
{
    /* n P_n = (2n - 1) x P_{n-1} - (n - 1) P_{n-2};  P_n' = P_{n-2}' + (2n - 1) P_{n-1} */
    double p[2] = {1.0, 0.0}, d[2] = {0.0, 0.0}; /* P_n, P_{n-1} */
    for (int n = 0; n <= degree; n++) {
        if (n > 0) {
            double next = ((2 * n - 1) * x * p[0] - (n - 1) * p[1]) / n;
            double next_derivative = d[1] + (2 * n - 1) * p[0];
            p[1] = p[0];
            d[1] = d[0];
            p[0] = next;
            d[0] = next_derivative;
        }
        double norm = sqrt(n + 0.5);
        values[n] = norm * p[0];
        if (derivatives) derivatives[n] = norm * d[0];
    }
}

/* A value and its gradient. */
typedef struct jet {
    double v, d[3];
} jet;

static jet add(double a, jet x, double b, jet y) /* a x + b y */
{
    jet sum = {.v = a * x.v + b * y.v};
    for (int i = 0; i < 3; i++)
        sum.d[i] = a * x.d[i] + b * y.d[i];
    return sum;
}

static jet multiply(jet x, jet y)
{
    jet product = {.v = x.v * y.v};
    for (int i = 0; i < 3; i++)
        product.d[i] = x.d[i] * y.v + x.v * y.d[i];
    return product;
}

/* v^n P_n^(alpha,0)(u/v) for n = 0 … degree. */
static void scaled_jacobi(int degree, int alpha, jet u, jet v, jet *p)
{
    double a = alpha;
    p[0] = (jet){.v = 1.0};
    if (degree > 0) p[1] = add(0.5 * (a + 2), u, 0.5 * a, v);
    jet v2 = multiply(v, v);
    for (int n = 1; n < degree; n++) {
        double m = 2 * n + a;
        double scale = 2.0 * (n + 1) * (n + a + 1) * m;
        double A = (m + 1) * (m + 2) * m / scale;
        double B = (m + 1) * a * a / scale;
        double C = 2.0 * (n + a) * n * (m + 2) / scale;
        p[n + 1] = add(1.0, multiply(add(A, u, B, v), p[n]), -C, multiply(v2, p[n - 1]));
    }
}

static void put(int np, int dim, int mode, double norm, jet value, double *values, double *gradient)
{
    values[mode] = norm * value.v;
    for (int d = 0; gradient && d < dim; d++)
        gradient[d * np + mode] = norm * value.d[d];
}

void eg_simplex_modes(eg_shape shape, int degree, const double *r, double *values, double *gradient)
{
    assert(shape == EG_SHAPE_TRI || shape == EG_SHAPE_TET);
    const bool tet = shape == EG_SHAPE_TET;
    const int np = eg_mode_count(shape, degree), dim = tet ? 3 : 2;
    const double t = tet ? r[2] : -1.0, dt = tet ? 1.0 : 0.0;
    const jet one = {.v = 1.0};

    /* a = u1/v1, b = u2/v2, c = t; at t = -1 the triangle. */
    jet v1 = {.v = -0.5 * (r[1] + t), .d = {0, -0.5, -0.5 * dt}};
    jet u1 = {.v = 1.0 + r[0] - v1.v, .d = {1, 0.5, 0.5 * dt}};
    jet v2 = {.v = 0.5 * (1.0 - t), .d = {0, 0, -0.5 * dt}};
    jet u2 = {.v = 1.0 + r[1] - v2.v, .d = {0, 1, 0.5 * dt}};
    jet u3 = {.v = t, .d = {0, 0, dt}};

    jet pi[EG_DEGREE_MAX + 1], pj[EG_DEGREE_MAX + 1], pk[EG_DEGREE_MAX + 1];
    assert(degree <= EG_DEGREE_MAX);
    scaled_jacobi(degree, 0, u1, v1, pi);
    for (int i = 0; i <= degree; i++) {
        scaled_jacobi(degree - i, 2 * i + 1, u2, v2, pj);
        for (int j = 0; i + j <= degree; j++) {
            int m = i + j;
            jet pij = multiply(pi[i], pj[j]);
            double norm = (2 * i + 1) * (m + 1);
            if (!tet) {
                put(np, dim, m * (m + 1) / 2 + j, sqrt(norm / 2), pij, values, gradient);
                continue;
            }
            scaled_jacobi(degree - m, 2 * m + 2, u3, one, pk);
            for (int k = 0; m + k <= degree; k++) {
                int n = m + k;
                put(np, dim, n * (n + 1) * (n + 2) / 6 + m * (m + 1) / 2 + j,
                    sqrt(norm * (2 * n + 3) / 4), multiply(pij, pk[k]), values, gradient);
            }
        }
    }
}

void eg_lagrange(int n, const double *nodes, double x, double *values, double *derivatives)
{
    for (int i = 0; i < n; i++) {
        double value = 1.0, derivative = 0.0;
        for (int j = 0; j < n; j++) {
            if (j == i) continue;
            double slope = 1.0 / (nodes[i] - nodes[j]);
            double factor = (x - nodes[j]) / (nodes[i] - nodes[j]);
            derivative = derivative * factor + value * slope;
            value *= factor;
        }
        values[i] = value;
        if (derivatives) derivatives[i] = derivative;
    }
}
