/* An element cut into small cells, so that only pixels near it are looked at. */
#ifndef EG_REPORT_PLOT_CELLS_H
#define EG_REPORT_PLOT_CELLS_H

#include "report/plot/mapping.h"

enum { EG_PLOT_CELLS_MOST = 512 };

typedef struct eg_plot_cell {
    double low[3], high[3]; /* a box around it */
    double r[3];            /* its centre */
} eg_plot_cell;

/* Cuts an element into about `pieces` along each coordinate, as many as its degree at least: cells
 * [EG_PLOT_CELLS_MOST]. Returns how many cells there are. */
int eg_plot_cells_fill(const eg_plot_mapping *mapping, int pieces, eg_plot_cell *cells);

#endif
