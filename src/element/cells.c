/* The basis of finite volumes: the indicator functions of equal cells, whose coefficients are means.
 *
 * The integral of a Legendre polynomial is one, too: (2k + 1) ∫ P_k = P_{k+1} - P_{k-1}, so the means
 * of the modes over cells need no quadrature. */
#include "element/cells.h"

#include <math.h>

#include "element/basis.h"

void eg_cells_at(int n, double x, double *values, double *derivatives)
{
    const double place = floor(0.5 * (x + 1) * n);
    const int cell = place <= 0 ? 0 : place >= n ? n - 1 : (int)place;
    for (int i = 0; i < n; i++) {
        values[i] = i == cell;
        if (derivatives) derivatives[i] = 0;
    }
}

/* An antiderivative of the orthonormal mode k; `modes` are those at the place. */
static double integral_of(int k, double x, const double *modes)
{
    if (k == 0) return sqrt(0.5) * x;
    /* Modes are sqrt(k + 1/2) P_k. */
    const double above = modes[k + 1] / sqrt(k + 1.5), below = modes[k - 1] / sqrt(k - 0.5);
    return (above - below) / (2 * sqrt(k + 0.5));
}

void eg_cells_means(int n, int degree, double *out)
{
    double low[EG_LINE_NP_MAX + 1], high[EG_LINE_NP_MAX + 1];
    for (int i = 0; i < n; i++) {
        const double a = (double)(2 * i - n) / n, b = (double)(2 * (i + 1) - n) / n;
        eg_line_modes(degree + 1, a, low, NULL);
        eg_line_modes(degree + 1, b, high, NULL);
        for (int k = 0; k <= degree; k++)
            out[i * (degree + 1) + k] =
                0.5 * n * (integral_of(k, b, high) - integral_of(k, a, low));
    }
}

void eg_cells_overlap(int m, int n, double *out)
{
    /* Lengths in units of a part of 1 / (m n). */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            const int from = i * m > j * n ? i * m : j * n;
            const int to = (i + 1) * m < (j + 1) * n ? (i + 1) * m : (j + 1) * n;
            out[i * m + j] = to > from ? (double)(to - from) / m : 0.0;
        }
}
