/* When something is due: every so many steps, every so much time. */
#include "report/schedule.h"

#include <float.h>
#include <math.h>

/* The part of an interval by which a time may be below its end and still count as there: this, and
 * what times between the start and now are rounded by. */
#define NEAR 1e-9
#define ROUNDING (16 * DBL_EPSILON)

static double rounding(double a, double b)
{
    return ROUNDING * fmax(fabs(a), fabs(b));
}

bool eg_schedule_tells_apart(double start, double end, double interval)
{
    return interval > 4 * rounding(start, end);
}

static int64_t intervals(const eg_schedule *s, double time)
{
    if (!(s->time > 0)) return 0;
    return (int64_t)floor((time - s->start) / s->time + NEAR + rounding(time, s->start) / s->time);
}

void eg_schedule_begin(eg_schedule *schedule, double time)
{
    schedule->passed = intervals(schedule, time);
}

bool eg_schedule_due(eg_schedule *schedule, int64_t step, double time)
{
    const int64_t passed = intervals(schedule, time);
    const bool due =
        (schedule->steps > 0 && step % schedule->steps == 0) || passed > schedule->passed;
    schedule->passed = passed;
    return due;
}

double eg_schedule_next(const eg_schedule *schedule, double time)
{
    if (!(schedule->time > 0)) return INFINITY;
    const double count = (double)(intervals(schedule, time) + 1);
    const double inverse = round(1 / schedule->time);
    /* 3/20 is 0.15, and 3·0.05 is not. */
    const bool whole = inverse >= 1 && 1 / inverse == schedule->time;
    return schedule->start + (whole ? count / inverse : count * schedule->time);
}

bool eg_schedule_active(const eg_schedule *schedule)
{
    return schedule->steps > 0 || schedule->time > 0;
}
