/* Chooses and writes the round numbers along a linear axis. */
#include "report/draw/linear.h"

#include <math.h>
#include <stdio.h>

double eg_round_up(double value)
{
    const double power = pow(10, floor(log10(value)));
    for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3)
        if (digit * power >= value * (1 - 1e-9)) return digit * power;
    return 10 * power;
}

void eg_tick_label(double value, double step, char text[32])
{
    const int decade = (int)floor(log10(step) + 1e-9);
    if (fabs(value) < 0.01 * step)
        snprintf(text, 32, "0");
    else if (decade >= -5 && fabs(value) < 1e7)
        snprintf(text, 32, "%.*f", decade < 0 ? -decade : 0, value);
    else
        snprintf(text, 32, "%.*e", (int)fmax(floor(log10(fabs(value)) + 1e-9) - decade, 0), value);
}

int64_t eg_first_tick(double from, double step)
{
    return (int64_t)ceil(from / step);
}
