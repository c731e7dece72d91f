/* What the expressions of a quantity use, and the source of the kernel that evaluates them. */
#ifndef EG_FIELD_QUANTITY_SOURCE_H
#define EG_FIELD_QUANTITY_SOURCE_H

#include "field/quantity.h"

/* A component of one of the fields. */
typedef struct eg_used_component {
    int field, component;
} eg_used_component;

typedef struct eg_usage {
    eg_context *ctx; /* not owned */
    int dim;
    bool on_faces;
    int field_count;
    int *components; /* [field_count] of each field; owned */
    int total;       /* of them all */
    eg_used_component
        *used;      /* [used_count] of which an expression uses the value or a derivative */
    int used_count; /* in the order of the fields; owned */
    bool x, slopes; /* coordinates, derivatives are used */
} eg_usage;

/* The fields' own space is not looked at but for its dimension. */
eg_status eg_usage_find(const eg_quantity_options *options, eg_usage *out);
void eg_usage_free(eg_usage *usage);

/* Adds the kernel `quantities` to `source`; see quantity.k.h. */
eg_status eg_usage_write(const eg_usage *usage, const eg_quantity_options *options,
                         eg_text *source);

#endif
