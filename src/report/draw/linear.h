/* The round numbers along a linear axis. */
#ifndef EG_REPORT_LINEAR_H
#define EG_REPORT_LINEAR_H

#include <stdint.h>

/* The round number, a digit 1, 2 or 5 and zeros, that is not less than a positive value. */
double eg_round_up(double value);

/* The number of the first multiple of a step at or above `from`. */
int64_t eg_first_tick(double from, double step);

/* A multiple of a step that is a round number, with as many digits as it takes to tell it from
 * others. */
void eg_tick_label(double value, double step, char text[32]);

#endif
