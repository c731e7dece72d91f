/* Looks for solutions that are lost: NaN, infinity, runaway growth and states that nature does
 * not have, found on the device with the worst element and its place. */
#ifndef EG_FIELD_GUARD_H
#define EG_FIELD_GUARD_H

#include "case/expression.h"
#include "field/field.h"

typedef enum eg_guard_kind {
    EG_GUARD_FINE,
    EG_GUARD_NOT_FINITE,
    EG_GUARD_GROWTH,    /* |value| above its limit */
    EG_GUARD_UNPHYSICAL /* a quantity that must be positive is not */
} eg_guard_kind;

typedef struct eg_guard_finding {
    eg_guard_kind
        kind;       /* the gravest that was found, in the order NOT_FINITE, UNPHYSICAL, GROWTH */
    int which;      /* the component, or the number of the quantity */
    double value;   /* the worst there; NaN for what is not a number */
    int64_t global; /* its element */
    double x[3];    /* the node */
} eg_guard_finding;

typedef struct eg_guard eg_guard;

/* For fields of this space, components and type. `positive` [positive_count] are expressions of
 * x, y, z, t and then the components (variable EG_VARIABLE_COUNT + c), which must be > 0 at all
 * nodes; they are not kept. Values of modal bases are looked at, for all kinds, at the
 * Gauss-Lobatto or warp & blend nodes of their degree. Collective, as are the others. */
eg_status eg_guard_create(eg_space *space, int components, eg_type type,
                          const eg_expression *const *positive, int positive_count, eg_guard **out);
void eg_guard_destroy(eg_guard **guard);

/* limit [components]: the largest |value| that is not runaway growth (INFINITY: any finite one).
 * The worst is the first in what is not finite; of the first quantity that is not positive the
 * lowest value, NaN below all; else the largest |value| over its limit; of equals that with the
 * lowest global number. The same finding on all ranks. Allocates nothing while all is well
 * (modal bases: after the first call). Reads the field once, and of each element 24 bytes more. */
eg_status eg_guard_look(eg_guard *guard, double t, const eg_field *field, const double *limit,
                        eg_guard_finding *out);
/* The largest |value| of each component: most [components], the same on all ranks; NaN if one
 * is. */
eg_status eg_guard_most(eg_guard *guard, const eg_field *field, double *most);

#endif
