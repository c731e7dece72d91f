/* What series.csv comes to at the end of a run: the last, least and largest value of every column,
 * and the frequencies that [output.signal.NAME] asks for. */
#ifndef EG_REPORT_OUTCOME_H
#define EG_REPORT_OUTCOME_H

#include "base/json.h"
#include "case/case.h"
#include "report/signal.h"

typedef struct eg_column_outcome {
    char *name, *unit;        /* owned; a unit may be NULL */
    double last, least, most; /* NaN: the column has no numbers */
} eg_column_outcome;

typedef struct eg_signal_outcome {
    char *name; /* owned */
    eg_signal signal;
    double length, speed; /* for the Strouhal number; 0: there is none */
} eg_signal_outcome;

/* All zero: nothing has been measured. */
typedef struct eg_outcome {
    eg_context *ctx; /* not owned */
    int column_count, signal_count;
    eg_column_outcome *columns; /* owned */
    eg_signal_outcome *signals; /* owned */
} eg_outcome;

/* Of the file, whose columns are those of the case. */
eg_status eg_outcome_read(eg_context *ctx, const eg_case *cas, const char *path, eg_outcome *out);
void eg_outcome_free(eg_outcome *outcome);

/* Members "series" and "signal" of the object that is open; a table for each. */
void eg_outcome_put_json(const eg_outcome *outcome, eg_json *json);
eg_status eg_outcome_put_text(const eg_outcome *outcome, eg_text *out);

/* The figures of a signal as members of the object that is open; with a length the Strouhal number,
 * too. */
void eg_signal_put_json(const eg_signal_outcome *signal, eg_json *json);
/* Of all signals, as a table. */
eg_status eg_signal_put_table(eg_context *ctx, const eg_signal_outcome *signals, int count,
                              eg_text *out);

#endif
