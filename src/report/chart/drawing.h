/* What the files that draw charts share; private to them. */
#ifndef EG_REPORT_CHART_DRAWING_H
#define EG_REPORT_CHART_DRAWING_H

#include "report/chart/chart.h"
#include "report/chart/room.h"
#include "report/draw/palette.h"

enum {
    EG_CHART_INK_BACK,
    EG_CHART_INK_PLOT,
    EG_CHART_INK_FRAME,
    EG_CHART_INK_TEXT,
    EG_CHART_INK_SUBTITLE,
    EG_CHART_INK_TICK,
    EG_CHART_INK_GRID,
    EG_CHART_INK_MINOR,
    EG_CHART_INK_SERIES,
    EG_CHART_INKS = EG_CHART_INK_SERIES + EG_PALETTE_COUNT
};

#define EG_CHART_SAMPLE 28.0 /* length of a line in the legend, in pixels */

typedef struct eg_chart_drawing {
    const eg_chart *chart; /* not owned */
    eg_canvas *canvas;     /* not owned */
    eg_axis x, y;
    double left, top, right, bottom; /* edges of the plot, in pixels */
    bool lowest;                     /* of a stack: below it are the labels of x */
    eg_room room;                    /* of the plot */
} eg_chart_drawing;

/* The ink of series k. */
int eg_chart_ink(size_t k);

bool eg_chart_has_place(const eg_chart *chart, const eg_chart_series *series, size_t i);
eg_spot eg_chart_place(const eg_chart_drawing *d, const eg_chart_series *series, size_t i);

/* --- chart_series.c ----------------------------------------------------------------------------- */

/* The line or the bars of series k, and its markers. */
eg_status eg_chart_put_series(eg_chart_drawing *d, size_t k);
eg_status eg_chart_put_markers(eg_chart_drawing *d, size_t k);
/* What series k looks like, in the legend, from (x, y) to the right. */
eg_status eg_chart_put_sample(eg_chart_drawing *d, size_t k, double x, double y);

/* The numbers of the points to be drawn, in their order, EG_CHART_GAP where the line has a gap. `which`
 * has room for all points; returns how many there are. */
#define EG_CHART_GAP SIZE_MAX
size_t eg_chart_thin(const eg_chart_drawing *d, const eg_chart_series *series, size_t *which);

/* --- chart_slope.c ------------------------------------------------------------------------------ */

/* True if the chart shows slopes of this series. */
bool eg_chart_has_slope(const eg_chart *chart, const eg_chart_series *series);
/* A triangle that shows the slope of series k, where there is room. */
eg_status eg_chart_put_slope(eg_chart_drawing *d, size_t k);

#endif
