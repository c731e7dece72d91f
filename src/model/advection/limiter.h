/* The limiter of model `advection`, which keeps tracers within bounds, and their ranges. */
#ifndef EG_ADVECTION_LIMITER_H
#define EG_ADVECTION_LIMITER_H

#include "model/advection/operator.h"

/* What a tracer may be, or is; the ends may be infinite. */
typedef struct eg_advection_range {
    double least, most;
} eg_advection_range;

typedef struct eg_advection_limiter eg_advection_limiter;

/* For fields of the operator's space, bounds [components]. Makes some small tables; kernels are compiled
 * when first needed. Lives no longer than the operator. */
eg_status eg_advection_limiter_create(eg_advection *advection, const eg_advection_range *bounds,
                                      eg_advection_limiter **out);
void eg_advection_limiter_destroy(eg_advection_limiter **limiter);

/* Brings the own elements of a field into the bounds, at all points at which eg_advection_range_of looks.
 * Keeps the mean of every element, up to rounding; elements within the bounds keep their bits. A mean that
 * is out of bounds stays, and its element becomes constant. */
eg_status eg_advection_limit(eg_advection_limiter *limiter, eg_field *field);

/* The largest step of explicit Euler after which means are within the bounds if values were, at time t;
 * infinite where nothing moves. Collective. */
eg_status eg_advection_bounds_dt(eg_advection_limiter *limiter, double t, double *dt);
/* Whether a step is that short, but for the part by which the loop over steps may stretch it, and by which
 * a bound is rounded where it is shown. */
bool eg_advection_keeps_bounds(double dt, double bounds_dt);

/* The range of each tracer over the points of all elements: out [components]. Collective. */
eg_status eg_advection_range_of(eg_advection_limiter *limiter, const eg_field *field,
                                eg_advection_range *out);

/* --- the section [limiter] ------------------------------------------------------------------------ */

/* The choices of limiter.bounds. */
typedef enum eg_limiter_kind {
    EG_LIMITER_NONE,
    EG_LIMITER_INITIAL, /* the range of the initial expressions */
    EG_LIMITER_GIVEN    /* limiter.low and limiter.high */
} eg_limiter_kind;

eg_limiter_kind eg_limiter_kind_of(const eg_case *cas);

/* Judges what the case alone tells. */
eg_status eg_limiter_check(const eg_case *cas, const eg_time_options *time, int fields);

/* The bounds of each tracer, within which it begins: out [fields]; infinite without a limiter. Collective. */
eg_status eg_limiter_bounds(const eg_case *cas, eg_function *initial, double t, int fields,
                            const char *const *names, eg_advection_range *out);
/* That what comes in at boundaries of this rank at time t is within bounds [components of options]. */
eg_status eg_limiter_check_inflow(const eg_case *cas, const eg_advection *advection,
                                  const eg_advection_options *options, double t,
                                  const char *const *names, const eg_advection_range *bounds);

/* --- for eg_advection_lanes ----------------------------------------------------------------------- */

/* Rows of K_SHARED memory of its kernels where neighbours have the same degree, for elements with so many
 * modes a side and `extra` points more. */
int64_t eg_advection_limiter_rows(int dim, int side, int extra, bool modal);

#endif
