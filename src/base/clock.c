/* Clocks in seconds. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double eg_wall_seconds(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double eg_cpu_seconds(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}
