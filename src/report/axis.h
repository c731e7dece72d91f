/* A logarithmic axis: its range, where values lie on it, its round numbers. */
#ifndef EG_REPORT_AXIS_H
#define EG_REPORT_AXIS_H

#include "base/base.h"

/* Width of a character of a tick's label, in pixels. */
#define EG_TICK_CHAR 7.4

typedef struct eg_axis {
    double low, high; /* log10 of the range */
    double at, scale; /* pixel of `low`; pixels a decade, negative upwards */
    bool horizontal;
    bool scientific; /* labels read 10^n */
    int density;     /* which ticks have labels */
} eg_axis;

/* An axis for values from 10^least to 10^most, with some air, between two pixels. It is never so
 * short that it has fewer than two round numbers. With least > most it is any axis. */
eg_axis eg_axis_new(double least, double most, double from, double to, bool horizontal);

double eg_axis_pixel(const eg_axis *axis, double value);

/* A digit times a power of ten. */
typedef struct eg_tick {
    int digit, decade;
    double at;      /* pixel */
    char label[96]; /* SVG text; "": none */
} eg_tick;

/* The ticks one after another: the first after eg_axis_first. False: there are no more. */
eg_tick eg_axis_first(const eg_axis *axis);
bool eg_axis_next(const eg_axis *axis, eg_tick *tick);

#endif
