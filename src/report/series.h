/* Rows of numbers over time as CSV: a header with units, a row at a time, each flushed to the
 * file, and cut back to where a run goes on from. */
#ifndef EG_REPORT_SERIES_H
#define EG_REPORT_SERIES_H

#include "base/base.h"

typedef struct eg_series_column {
    const char *name; /* UTF-8, not owned */
    const char *unit; /* not owned; NULL: none. The header has "name [unit]" */
    bool whole;       /* whole numbers */
} eg_series_column;

typedef struct eg_series eg_series;

/* Opens a file of these columns, the first of which must be "step" and whole. `keep_until` NULL:
 * the file is new, and replaces one that is there; else: its rows up to this step are kept and
 * the rest is cut off (also half a row at its end); a file with other columns is EG_ERROR_INPUT,
 * a missing one is made. Used by one rank. */
eg_status eg_series_open(eg_context *ctx, const char *path, const eg_series_column *columns,
                         int count, const int64_t *keep_until, eg_series **out);
eg_status eg_series_add(eg_series *series, const double *values); /* [count] */
/* Closing tells whether everything has been written. */
eg_status eg_series_close(eg_series **series);

/* For other CSV files: a title of a column, in quotes if it needs them, and a value with as few
 * digits as bring it back to the last bit, "nan", "inf" or "-inf". */
eg_status eg_series_put_title(eg_text *text, const char *title);
eg_status eg_series_put_value(eg_text *text, double value);

/* A CSV file in memory, ours or anybody's with one header line: names without units, and columns
 * [count][rows]; what is no number is NaN. A row of another length is EG_ERROR_INPUT with its
 * line. */
typedef struct eg_series_data {
    eg_context *ctx; /* not owned */
    int count;
    size_t rows;
    char **names, **units; /* [count] owned; a unit may be NULL */
    double **columns;      /* [count][rows] owned */
} eg_series_data;

eg_status eg_series_read(eg_context *ctx, const char *path, eg_series_data *out);
void eg_series_data_free(eg_series_data *data);

#endif
