/* What a model shows of itself: the fields that are written, drawn, measured and kept, and the
 * numbers that a run needs to go on. Nothing is owned; all of it holds until the next step. */
#ifndef EG_REPORT_STATE_H
#define EG_REPORT_STATE_H

#include "field/field.h"

#define EG_STATE_FIELDS_MAX 32
#define EG_STATE_NUMBERS_MAX 96
#define EG_STATE_COMPONENTS_MAX 64 /* of all fields that are shown, together */

/* A field with a name for each of its components: files, expressions and messages call them so. */
typedef struct eg_state_field {
    const char *name; /* of the whole, in checkpoints: "solution" */
    eg_field *field;
    const char *const *names; /* [components] */
    const char *const *units; /* [components] each may be NULL; NULL: no component has one */
    bool kept_only;           /* of earlier steps: in checkpoints, and nowhere else */
    bool derived;             /* from the others: not guarded */
} eg_state_field;

typedef struct eg_state_number {
    const char *name;
    double *value; /* a restart writes it; whole numbers up to 2^53 are exact */
} eg_state_number;

/* Fields may be of several spaces on one mesh. */
typedef struct eg_state {
    int64_t step;    /* so many have been made */
    double time, dt; /* now, and how long the last step was */
    int field_count, number_count;
    eg_state_field fields[EG_STATE_FIELDS_MAX];
    eg_state_number numbers[EG_STATE_NUMBERS_MAX];
} eg_state;

#endif
