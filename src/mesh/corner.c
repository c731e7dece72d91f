/* Jacobians at the corners of straight elements, and the rounding of their determinants. */
#include "mesh/build.h"

#include <float.h>

void eg_mesh_corner(const eg_shape_info *info, int corner, const double (*x)[3], double A[3][3])
{
    for (int d = 0; d < info->dim; d++) {
        int first = 0, last = d + 1;
        if (info->tensor) {
            /* The edge along axis d at this corner. */
            for (int v = 0; v < info->vertices; v++) {
                bool beside = true;
                for (int c = 0; c < info->dim; c++)
                    beside = beside && (c == d || info->r[v][c] == info->r[corner][c]);
                if (beside && info->r[v][d] < 0.0) first = v;
                if (beside && info->r[v][d] > 0.0) last = v;
            }
        }
        for (int c = 0; c < info->dim; c++)
            A[d][c] = x[last][c] - x[first][c];
    }
}

double eg_mesh_determinant(int dim, const double (*A)[3])
{
    if (dim == 2) return A[0][0] * A[1][1] - A[0][1] * A[1][0];
    return A[0][0] * (A[1][1] * A[2][2] - A[1][2] * A[2][1]) -
           A[0][1] * (A[1][0] * A[2][2] - A[1][2] * A[2][0]) +
           A[0][2] * (A[1][0] * A[2][1] - A[1][1] * A[2][0]);
}

double eg_mesh_permanent(int dim, const double (*A)[3])
{
    if (dim == 2) return A[0][0] * A[1][1] + A[0][1] * A[1][0];
    return A[0][0] * (A[1][1] * A[2][2] + A[1][2] * A[2][1]) +
           A[0][1] * (A[1][0] * A[2][2] + A[1][2] * A[2][0]) +
           A[0][2] * (A[1][0] * A[2][1] + A[1][1] * A[2][0]);
}

double eg_mesh_determinant_rounding(int dim, double arithmetic, const double (*most)[3],
                                    const double entry[3])
{
    double size = eg_mesh_permanent(dim, most), larger[3][3] = {{0}};
    for (int d = 0; d < dim; d++) {
        for (int c = 0; c < dim; c++)
            larger[d][c] = most[d][c] + entry[c];
    }
    return arithmetic * size + (eg_mesh_permanent(dim, (const double(*)[3])larger) - size);
}

double eg_mesh_slope_rounding(int order, double reach)
{
    return 2.0 * DBL_EPSILON * order * order * reach;
}
