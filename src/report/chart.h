/* Line charts with two logarithmic axes, as SVG. */
#ifndef EG_CHART_H
#define EG_CHART_H

#include "base/base.h"

/* One line of a chart. Nothing is owned. */
typedef struct eg_chart_series {
    const char *name;
    size_t count;
    const double *x, *y; /* [count], the line goes from point to point; a point that is not positive
                            and finite has no place on the chart and is left out */
    size_t slope;        /* the slope from point slope - 1 to point slope is shown; 0: none */
} eg_chart_series;

/* All texts are UTF-8 and are escaped where they are written. Nothing is owned. */
typedef struct eg_chart {
    const char *title, *subtitle, *x_label, *y_label;
    const char *slope_name; /* what a slope is called: "order" */
    const eg_chart_series *series;
    size_t count;
    double floor;            /* a level of y that is marked if a point is at or below it; 0: none */
    const char *floor_label; /* what is said of it */
} eg_chart;

/* Adds the chart to `svg`. Every series has a colour, a marker and a line in the legend, with its
 * slope; a triangle at the line shows the slope, too, where there is room. */
eg_status eg_chart_write(eg_context *ctx, const eg_chart *chart, eg_text *svg);

/* The slope that the legend of a series shows; NaN: none. */
double eg_chart_slope(const eg_chart_series *series);

#endif
