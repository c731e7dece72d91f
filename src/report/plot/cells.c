/* Cuts elements into cells and finds boxes around them.
 *
 * A cell differs from the multilinear one with its corners by at most an eighth of the second
 * differences of a finer and finer grid; the box around its corners is widened by half of the
 * largest second difference of this grid. */
#include "report/plot/cells.h"

#include <math.h>
#include <string.h>

enum { PIECES_MOST = 16, PIECES_MOST_3D = 8, POINTS_MOST = 729 };

/* The points of a grid with `pieces` along each coordinate. */
typedef struct grid {
    int dim, pieces;
    double x[POINTS_MOST][3];
} grid;

static int grid_index(const grid *g, int i, int j, int k)
{
    return i + (g->pieces + 1) * (j + (g->pieces + 1) * k);
}

static void fill_grid(const eg_plot_mapping *m, grid *g)
{
    const int last = g->pieces, last_k = g->dim > 2 ? last : 0;
    for (int k = 0; k <= last_k; k++)
        for (int j = 0; j <= last; j++)
            for (int i = 0; i <= last; i++) {
                const double r[3] = {-1 + 2.0 * i / last, -1 + 2.0 * j / last, -1 + 2.0 * k / last};
                eg_plot_mapping_at(m, r, g->x[grid_index(g, i, j, k)]);
            }
}

/* The largest second difference of each coordinate of points that are in the element. */
static void bend_of(const grid *g, bool tensor, double bend[3])
{
    const int dim = g->dim == 2 ? 2 : 3, last = g->pieces, last_k = dim > 2 ? last : 0;
    const int step[3] = {1, last + 1, (last + 1) * (last + 1)};
    memset(bend, 0, 3 * sizeof *bend);
    for (int k = 0; k <= last_k; k++)
        for (int j = 0; j <= last; j++)
            for (int i = 0; i <= last; i++) {
                const int at[3] = {i, j, k}, index = grid_index(g, i, j, k);
                for (int a = 0; a < dim; a++) {
                    if (at[a] == 0 || at[a] == last || (!tensor && i + j + k >= last)) continue;
                    const double *before = g->x[index - step[a]], *after = g->x[index + step[a]];
                    for (int d = 0; d < dim; d++)
                        bend[d] = fmax(bend[d], fabs(before[d] - 2 * g->x[index][d] + after[d]));
                }
            }
}

static void fill_cell(const grid *g, const int at[3], const double bend[3], eg_plot_cell *cell)
{
    const int dim = g->dim == 2 ? 2 : 3;
    for (int d = 0; d < dim; d++) {
        cell->low[d] = INFINITY;
        cell->high[d] = -INFINITY;
        cell->r[d] = -1 + (2.0 * at[d] + 1) / g->pieces;
        for (int c = 0; c < 1 << dim; c++) {
            const double x =
                g->x[grid_index(g, at[0] + (c & 1), at[1] + (c >> 1 & 1), at[2] + (c >> 2 & 1))][d];
            cell->low[d] = fmin(cell->low[d], x);
            cell->high[d] = fmax(cell->high[d], x);
        }
        cell->low[d] -= 0.5 * bend[d];
        cell->high[d] += 0.5 * bend[d];
    }
}

int eg_plot_cells_fill(const eg_plot_mapping *m, int pieces, eg_plot_cell *cells)
{
    const bool tensor = eg_shape_get_info(m->shape)->tensor;
    const int limit = m->dim > 2 ? PIECES_MOST_3D : PIECES_MOST;
    const int least = m->degree > 2 ? m->degree : 2, wanted = pieces > least ? pieces : least;
    grid g = {.dim = m->dim, .pieces = wanted < limit ? wanted : limit};
    double bend[3];
    int count = 0;
    fill_grid(m, &g);
    bend_of(&g, tensor, bend);
    for (int k = 0; k < (g.dim > 2 ? g.pieces : 1); k++)
        for (int j = 0; j < g.pieces; j++)
            for (int i = 0; i < g.pieces; i++)
                if (tensor || i + j + k < g.pieces)
                    fill_cell(&g, (const int[]){i, j, k}, bend, &cells[count++]);
    return count;
}
