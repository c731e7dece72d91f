/* When something is due: every so many steps, every so much time. */
#ifndef EG_REPORT_SCHEDULE_H
#define EG_REPORT_SCHEDULE_H

#include "base/base.h"

typedef struct eg_schedule {
    int64_t steps;  /* every so many; 0: not by steps */
    double time;    /* every so much time, see eg_schedule_tells_apart; 0: not by time */
    double start;   /* from which time is counted */
    int64_t passed; /* how many intervals of time have passed, as far as it has been asked */
} eg_schedule;

/* Whether an interval is longer than times from `start` to `end` are rounded by, so that its
 * multiples can be met and counted. */
bool eg_schedule_tells_apart(double start, double end, double interval);

/* What was due at or before this time is not due again. */
void eg_schedule_begin(eg_schedule *schedule, double time);
/* Whether it is due after this step, which has ended at this time; asked once a step, in order. */
bool eg_schedule_due(eg_schedule *schedule, int64_t step, double time);
/* The first time behind `time` at which eg_schedule_due will be true; INFINITY: none. */
double eg_schedule_next(const eg_schedule *schedule, double time);
/* Whether anything is ever due. */
bool eg_schedule_active(const eg_schedule *schedule);

#endif
