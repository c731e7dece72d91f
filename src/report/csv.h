/* Fields of CSV files in memory: ours or anybody's (RFC 4180; a byte order mark, lines ended by
 * CR LF and empty lines are no harm). */
#ifndef EG_REPORT_CSV_H
#define EG_REPORT_CSV_H

#include "base/base.h"

/* Where reading is. The text is cut into fields in place. */
typedef struct eg_csv {
    eg_context *ctx;  /* not owned */
    const char *name; /* of the file, in messages; not owned */
    char *at, *end;   /* *end is NUL; not owned */
    int64_t line;     /* of `at`, from 1 */
    eg_text number;   /* a field with the decimal point of the locale */
} eg_csv;

eg_csv eg_csv_new(eg_context *ctx, const char *name, char *text, size_t length);
void eg_csv_free(eg_csv *csv);

/* Skips empty lines; false at the end. */
bool eg_csv_next_line(eg_csv *csv);
/* Takes a field up to a comma (*last false) or the end of the line. */
eg_status eg_csv_take(eg_csv *csv, char **field, bool *last);
/* A number, or NaN for what is none. */
eg_status eg_csv_number(eg_csv *csv, const char *field, double *value);

#endif
