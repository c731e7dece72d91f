/* Limiters of the high-order schemes of model `euler`: what keeps shocks from ringing and states
 * possible. */
#ifndef EG_EULER_LIMITER_H
#define EG_EULER_LIMITER_H

#include "case/case.h"
#include "time/time.h"

/* The choices of limiter.method. */
typedef enum eg_euler_limiting {
    EG_EULER_UNLIMITED,
    EG_EULER_MINMOD,
    EG_EULER_BLEND
} eg_euler_limiting;

/* Of eg_euler_options. */
typedef struct eg_euler_limits {
    eg_euler_limiting method;
    double threshold; /* of EG_EULER_MINMOD */
    bool positivity;
} eg_euler_limits;

/* The section [limiter]; finite volumes limit slopes on their own, not what comes of a stage. */
eg_euler_limits eg_euler_limits_of(const eg_case *cas);
/* Judges what the case says of it. */
eg_status eg_euler_check_limits(const eg_case *cas, const eg_time_options *time);

/* Whether there is something to do after a stage. */
bool eg_euler_limits_after(const eg_euler_limits *limits);

/* What an operator has of it; their functions are in parts.h. */
typedef struct eg_euler_limiter eg_euler_limiter;
typedef struct eg_euler_blend eg_euler_blend;

#endif
