/* Charts of lines, markers and bars over linear and logarithmic axes or names, as SVG or PNG. */
#ifndef EG_CHART_H
#define EG_CHART_H

#include "report/draw/axis.h"
#include "report/draw/canvas.h"

typedef enum eg_chart_style {
    EG_CHART_MARKED, /* a line with a marker at each point */
    EG_CHART_LINE,
    EG_CHART_BARS /* a bar for each point, from zero or from the end of a logarithmic axis */
} eg_chart_style;

/* One line of a chart. Nothing is owned. */
typedef struct eg_chart_series {
    const char *name; /* NULL: it has no line in the legend */
    eg_chart_style style;
    size_t count;
    const double *x,
        *y;       /* [count], the line goes from point to point; one that is not finite, or not
                            positive on a logarithmic axis, has no place on the chart: a gap */
    size_t slope; /* the slope from point slope - 1 to point slope is shown; 0: none. Only of
                            two logarithmic axes */
} eg_chart_series;

typedef struct eg_chart_axis {
    const char *label; /* NULL: none */
    eg_scale scale;
    const char *const *names; /* [name_count] of EG_SCALE_NAMES, which only x may have */
    size_t name_count;
} eg_chart_axis;

/* All texts are UTF-8, and shortened where they would make the picture too large. Nothing is owned. */
typedef struct eg_chart {
    const char *title, *subtitle; /* NULL: none */
    eg_chart_axis x, y;
    const char *slope_name; /* what a slope is called: "order" */
    const eg_chart_series *series;
    size_t count;
    double floor;            /* a level of y that is marked if a point is at or below it; 0: none */
    const char *floor_label; /* what is said of it */
    eg_picture_format format;
    bool dark;  /* of a PNG; an SVG is both */
    bool apart; /* no two series of bars have one at the same place: each is as wide as if alone */
    int width;  /* of the picture in pixels; 0: what it takes, and twice that of a PNG */
} eg_chart;

/* Adds the chart as a file to `out`. Every series has a colour, a marker and a line in the legend, with
 * its slope; a triangle at the line shows the slope, too, where there is room. The legend stands
 * beside the plot. Where there are more points than pixels only those are written that show: the
 * first, the last, the lowest and the highest of each column of pixels. */
eg_status eg_chart_write(eg_context *ctx, const eg_chart *chart, eg_text *out);

/* Several charts one below the other, over the same x: its range is that of all, its label and its names
 * are the last one's. Title, subtitle and format are the first one's. */
eg_status eg_chart_write_stack(eg_context *ctx, const eg_chart *charts, size_t count, eg_text *out);

/* The slope that the legend of a series shows; NaN: none. */
double eg_chart_slope(const eg_chart_series *series);

#endif
