/* Charts of the columns of a CSV file. */
#ifndef EG_REPORT_CHART_COLUMNS_H
#define EG_REPORT_CHART_COLUMNS_H

#include "report/chart/chart.h"
#include "report/series.h"

/* What is drawn of a file. Nothing is owned. */
typedef struct eg_chart_columns {
    int x;        /* number of a column */
    const int *y; /* [count] numbers of columns */
    size_t count; /* at least 1 */
    bool
        together; /* all in one plot; else columns of another unit, or so much larger or smaller that
                      they would be flat lines, are in plots of their own */
    eg_scale x_scale, y_scale;
    const char *title; /* NULL: none */
    eg_picture_format format;
    bool dark; /* as of eg_chart */
    int width; /* likewise */
} eg_chart_columns;

/* Adds the chart as a file to `out`. Files with few rows have markers, and slopes between two
 * logarithmic axes. */
eg_status eg_chart_columns_write(eg_context *ctx, const eg_series_data *data,
                                 const eg_chart_columns *wanted, eg_text *out);

#endif
