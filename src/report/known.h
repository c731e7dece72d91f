/* Columns of series.csv that a model knows how to measure: a case asks for them by short names, the
 * model says which formulas these stand for.
 *
 * Formulas are those of [output.integral.NAME]: of the fields, their derivatives, x, y, z, t and,
 * on boundaries, the outward normal. Constants of the case are not known to them: numbers stand in
 * the text. A column may also be another one times a number, which costs nothing. */
#ifndef EG_REPORT_KNOWN_H
#define EG_REPORT_KNOWN_H

#include "base/base.h"

/* The longest name of an integral, probe, signal or force, and room for its keys. */
enum { EG_MEASURE_NAME = 64, EG_MEASURE_KEY = EG_MEASURE_NAME + 32 };

/* In the order of eg_measure_kinds. */
typedef enum eg_measure_kind {
    EG_MEASURE_INTEGRAL,
    EG_MEASURE_MEAN,
    EG_MEASURE_L1,
    EG_MEASURE_L2,
    EG_MEASURE_LINF,
    EG_MEASURE_LEAST,
    EG_MEASURE_MOST
} eg_measure_kind;

typedef struct eg_known_column {
    const char *name;    /* of the column; owned in a list, as all strings here */
    const char *section; /* or key of the case that asks for it */
    const char *of;   /* the formula; NULL: it is `factor` times column number `same` of the list */
    const char *over; /* a key of the case that names boundaries; NULL: it is over the domain */
    eg_measure_kind kind;
    double factor;
    int same;
} eg_known_column;

typedef struct eg_known {
    eg_context *ctx; /* not owned */
    eg_known_column *list;
    int count;
} eg_known;

eg_known eg_known_new(eg_context *ctx);
void eg_known_free(eg_known *known);
/* Adds a column; all strings are copied. */
eg_status eg_known_add(eg_known *known, const eg_known_column *column);

#endif
