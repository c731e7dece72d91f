/* What is drawn of a snapshot: one of its arrays, or an expression of them. */
#ifndef EG_REPORT_PLOT_FIELD_H
#define EG_REPORT_PLOT_FIELD_H

#include "report/plot/polynomial.h"
#include "report/snapshot.h"

typedef struct eg_plot_field {
    const eg_snapshot *snapshot; /* not owned */
    char *label;                 /* its name or expression, with its unit in brackets; owned */
    eg_expression *expression;   /* of x, y, z, t and all arrays; NULL: an array as it is; owned */
    int *arrays;                 /* [array_count] those that it takes; owned */
    int array_count;
} eg_plot_field;

/* `text` is the name of an array, or else an expression; NULL: the first array. What is neither is
 * EG_ERROR_INPUT with the names there are. Close it also after a failure. */
eg_status eg_plot_field_open(const eg_snapshot *snapshot, const char *text, eg_plot_field *field);
void eg_plot_field_close(eg_plot_field *field);

/* How many numbers eg_plot_field_evaluate needs to work with. */
int eg_plot_field_work(const eg_plot_field *field);

/* The value in an element at the point x [3]: arrays are evaluated there, and then the
 * expression. */
double eg_plot_field_evaluate(const eg_plot_field *field, int32_t element,
                              const eg_factors *factors, const double *x, double *work);

#endif
