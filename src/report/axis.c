/* Logarithmic axes. Labels stand at the multiples of powers of ten, as many as help and fit. */
#include "report/axis.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Which multiples of which powers of ten have labels, the densest first. */
static const struct {
    const char *digits;
    int stride; /* of the exponents */
} densities[] = {{"123456789", 1}, {"12357", 1}, {"125", 1}, {"1", 1},
                 {"1", 2},         {"1", 5},     {"1", 10},  {"1", 50}};

enum { DECADES = 3 /* its index */, ENOUGH = 4 /* labels */ };

/* The text of a tick with its mark-up; returns its width. */
static double put_label(const eg_axis *a, int digit, int decade, char *text, size_t length)
{
    char front[16] = "", power[16];
    const int size = decade < 0 ? -decade : decade;
    if (!a->scientific)
        return EG_TICK_CHAR *
               snprintf(text, length, "%.*f", decade < 0 ? size : 0, digit * pow(10, decade));
    if (digit > 1) snprintf(front, sizeof front, "%d\xc2\xb7", digit); /* a dot */
    const int digits = snprintf(power, sizeof power, "%d", size);
    snprintf(text, length, "%s10<tspan class=\"power\" dy=\"-5\">%s%s</tspan>", front,
             decade < 0 ? "\xe2\x88\x92" : "", power); /* a minus */
    return EG_TICK_CHAR * ((digit > 1 ? 4 : 2) + 0.8 * (digits + (decade < 0)));
}

eg_tick eg_axis_first(const eg_axis *a)
{
    return (eg_tick){.decade = (int)floor(a->low)};
}

bool eg_axis_next(const eg_axis *a, eg_tick *tick)
{
    double value;
    do {
        if (++tick->digit == 10) {
            tick->digit = 1;
            tick->decade++;
        }
        value = tick->decade + log10(tick->digit);
    } while (value < a->low);
    tick->at = a->at + (value - a->low) * a->scale;
    tick->label[0] = '\0';
    if (strchr(densities[a->density].digits, '0' + tick->digit) &&
        tick->decade % densities[a->density].stride == 0)
        put_label(a, tick->digit, tick->decade, tick->label, sizeof tick->label);
    return value <= a->high;
}

/* How many labels there are; -1: they would touch. */
static int count_labels(const eg_axis *a)
{
    eg_tick tick = eg_axis_first(a);
    double end = -INFINITY;
    int count = 0;
    while (eg_axis_next(a, &tick)) {
        if (!tick.label[0]) continue;
        char text[sizeof tick.label];
        const double width = put_label(a, tick.digit, tick.decade, text, sizeof text);
        const double centre = fabs(tick.at - a->at), half = a->horizontal ? width / 2 + 5 : 10;
        if (centre - half < end) return -1;
        end = centre + half;
        count++;
    }
    return count;
}

eg_axis eg_axis_new(double least, double most, double from, double to, bool horizontal)
{
    if (least > most) {
        least = -1;
        most = 0;
    }
    const double span = most - least;
    const double air = fmax(0.06 * span, 0.5 * fmax(0.1, 0.5 - span));
    eg_axis a = {.low = least - air, .high = most + air, .at = from, .horizontal = horizontal};
    a.scale = (to - from) / (a.high - a.low);
    a.scientific = floor(a.low) < -3 || a.high > 5;
    a.density = DECADES;
    if (count_labels(&a) >= 0 && count_labels(&a) < ENOUGH) a.density = 0;
    while (a.density + 1 < (int)EG_COUNT(densities) && count_labels(&a) < 0)
        a.density++;
    return a;
}

double eg_axis_pixel(const eg_axis *a, double value)
{
    return a->at + (log10(value) - a->low) * a->scale;
}
