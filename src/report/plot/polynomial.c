/* Evaluates polynomials at points as sums of products of factors in one variable.
 *
 * On tensor shapes the factors are the Lagrange polynomials of 0, 1, …, N at u = N (1 + r)/2, each
 * the product of what is left and what is right of its own node. On simplices they are those of
 * [silvester1969]: the node at i/N, j/N, … has P_i(N L_1) P_j(N L_2) …, P_i(u) = u (u - 1) … (u - i
 * + 1)/i!. No form has less rounding for values at these nodes. */
#include "report/plot/polynomial.h"

#include <assert.h>

/* 1/i! */
static const double inverse_factorial[EG_PLOT_DEGREE_MOST + 1] = {
    1.0,
    1.0,
    1.0 / 2,
    1.0 / 6,
    1.0 / 24,
    1.0 / 120,
    1.0 / 720,
    1.0 / 5040,
    1.0 / 40320,
    1.0 / 362880,
    1.0 / 3628800,
    1.0 / 39916800,
    1.0 / 479001600,
    1.0 / 6227020800,
    1.0 / 87178291200,
    1.0 / 1307674368000,
};

/* The Lagrange polynomials of 0, 1, …, n at u. */
static void fill_lagrange(int n, double u, double *value)
{
    double product = 1;
    for (int i = 0; i <= n; i++) {
        value[i] = product * inverse_factorial[i] * inverse_factorial[n - i];
        product *= u - i;
    }
    product = 1;
    for (int i = n; i >= 0; i--) {
        value[i] *= product;
        product *= i - u;
    }
}

/* The same with derivatives by x where du/dx = rate. */
static void fill_lagrange_slopes(int n, double u, double rate, double *value, double *slope)
{
    double product = 1, change = 0;
    for (int i = 0; i <= n; i++) {
        const double weight = inverse_factorial[i] * inverse_factorial[n - i];
        value[i] = weight * product;
        slope[i] = weight * change;
        change = change * (u - i) + rate * product;
        product *= u - i;
    }
    product = 1;
    change = 0;
    for (int i = n; i >= 0; i--) {
        slope[i] = slope[i] * product + value[i] * change;
        value[i] *= product;
        change = change * (i - u) - rate * product;
        product *= i - u;
    }
}

/* u (u - 1) … (u - i + 1)/i! for i = 0 … n, with derivatives by x where du/dx = rate. */
static void fill_binomials(int n, double u, double rate, bool slopes, double *value, double *slope)
{
    double product = 1, change = 0;
    for (int i = 0; i <= n; i++) {
        value[i] = product * inverse_factorial[i];
        if (slopes) slope[i] = change * inverse_factorial[i];
        change = change * (u - i) + rate * product;
        product *= u - i;
    }
}

void eg_factors_fill(eg_shape shape, int degree, const double *r, bool slopes, eg_factors *out)
{
    const int n = degree, dim = shape == EG_SHAPE_TRI || shape == EG_SHAPE_QUAD ? 2 : 3;
    const bool tensor = shape == EG_SHAPE_QUAD || shape == EG_SHAPE_HEX;
    double rest = 1;
    assert(degree >= 1 && degree <= EG_PLOT_DEGREE_MOST);
    out->dim = dim;
    out->tensor = tensor;
    out->degree = degree;
    for (int d = 0; d < dim; d++) {
        const double part = 0.5 * (1 + r[d]);
        if (!tensor)
            fill_binomials(n, n * part, n, slopes, out->value[d], out->slope[d]);
        else if (slopes)
            fill_lagrange_slopes(n, n * part, 0.5 * n, out->value[d], out->slope[d]);
        else
            fill_lagrange(n, n * part, out->value[d]);
        rest -= part;
    }
    if (!tensor) fill_binomials(n, n * rest, n, slopes, out->value[3], out->slope[3]);
}

/* --- sums ------------------------------------------------------------------------------------- */

static double sum_tensor(const eg_factors *f, const double *nodes)
{
    const int n = f->degree, dim = f->dim;
    double sum = 0;
    for (int k = 0; k <= (dim > 2 ? n : 0); k++) {
        double layer = 0;
        for (int j = 0; j <= n; j++) {
            double row = 0;
            for (int i = 0; i <= n; i++, nodes++)
                row += f->value[0][i] * *nodes;
            layer += f->value[1][j] * row;
        }
        sum += dim > 2 ? f->value[2][k] * layer : layer;
    }
    return sum;
}

static double sum_simplex(const eg_factors *f, const double *nodes)
{
    const int n = f->degree, dim = f->dim;
    double sum = 0;
    for (int k = 0; k <= (dim > 2 ? n : 0); k++) {
        double layer = 0;
        for (int j = 0; j <= n - k; j++) {
            const double *rest = &f->value[3][n - j - k];
            double row = 0;
            for (int i = 0; i <= n - j - k; i++, nodes++)
                row += f->value[0][i] * rest[-i] * *nodes;
            layer += f->value[1][j] * row;
        }
        sum += dim > 2 ? f->value[2][k] * layer : layer;
    }
    return sum;
}

double eg_factors_sum(const eg_factors *f, const double *nodes)
{
    return f->tensor ? sum_tensor(f, nodes) : sum_simplex(f, nodes);
}

/* What a row of nodes adds to a sum: its values, and their derivatives by the first and, on
 * simplices, the last factor. */
typedef struct row {
    double sum[3], slope[3], rest[3];
} row;

/* Adds a row's part: vs, vt are the factors of its place, ds, dt their slopes. */
static void add_row(int dim, const row *a, double vs, double ds, double vt, double dt, double *x,
                    double jacobian[3][3])
{
    for (int d = 0; d < dim; d++) {
        x[d] += vs * vt * a->sum[d];
        jacobian[d][0] += vs * vt * a->slope[d];
        jacobian[d][1] += ds * vt * a->sum[d];
        if (dim > 2) jacobian[d][2] += vs * dt * a->sum[d];
    }
}

static void map_tensor(const eg_factors *f, const double *nodes, double *x, double jacobian[3][3])
{
    const int n = f->degree, dim = f->dim;
    for (int k = 0; k <= (dim > 2 ? n : 0); k++)
        for (int j = 0; j <= n; j++) {
            row a = {.sum = {0}};
            for (int i = 0; i <= n; i++, nodes += dim)
                for (int d = 0; d < dim; d++) {
                    a.sum[d] += f->value[0][i] * nodes[d];
                    a.slope[d] += f->slope[0][i] * nodes[d];
                }
            add_row(dim, &a, f->value[1][j], f->slope[1][j], dim > 2 ? f->value[2][k] : 1,
                    dim > 2 ? f->slope[2][k] : 0, x, jacobian);
        }
}

static void map_simplex(const eg_factors *f, const double *nodes, double *x, double jacobian[3][3])
{
    const int n = f->degree, dim = f->dim;
    double rest[3] = {0};
    for (int k = 0; k <= (dim > 2 ? n : 0); k++)
        for (int j = 0; j <= n - k; j++) {
            const double vt = dim > 2 ? f->value[2][k] : 1, vs = f->value[1][j];
            row a = {.sum = {0}};
            for (int i = 0; i <= n - j - k; i++, nodes += dim) {
                const double last = f->value[3][n - i - j - k];
                const double value = f->value[0][i] * last, slope = f->slope[0][i] * last;
                const double by_last = f->value[0][i] * f->slope[3][n - i - j - k];
                for (int d = 0; d < dim; d++) {
                    a.sum[d] += value * nodes[d];
                    a.slope[d] += slope * nodes[d];
                    a.rest[d] += by_last * nodes[d];
                }
            }
            add_row(dim, &a, vs, f->slope[1][j], vt, dim > 2 ? f->slope[2][k] : 0, x, jacobian);
            for (int d = 0; d < dim; d++)
                rest[d] += vs * vt * a.rest[d];
        }
    for (int d = 0; d < dim; d++) /* a coordinate grows at the cost of that of vertex 0 */
        for (int k = 0; k < dim; k++)
            jacobian[d][k] = 0.5 * (jacobian[d][k] - rest[d]);
}

void eg_factors_map(const eg_factors *f, const double *nodes, double *x, double jacobian[3][3])
{
    for (int d = 0; d < f->dim; d++) {
        x[d] = 0;
        for (int k = 0; k < f->dim; k++)
            jacobian[d][k] = 0;
    }
    if (f->tensor)
        map_tensor(f, nodes, x, jacobian);
    else
        map_simplex(f, nodes, x, jacobian);
}

/* --- places ----------------------------------------------------------------------------------- */

int eg_face_coordinates(eg_shape shape, const double *r, double *value, double (*slope)[3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    const int dim = info->dim;
    int count = 0;
    double rest = 1;
    for (int d = 0; d < dim; d++) {
        for (int end = 0; end < (info->tensor ? 2 : 1); end++, count++) {
            value[count] = 0.5 * (end ? 1 - r[d] : 1 + r[d]);
            for (int k = 0; k < dim; k++)
                slope[count][k] = k != d ? 0 : end ? -0.5 : 0.5;
        }
        rest -= 0.5 * (1 + r[d]);
    }
    if (info->tensor) return count;
    value[count] = rest;
    for (int k = 0; k < dim; k++)
        slope[count][k] = -0.5;
    return count + 1;
}
