/* An axis of a chart, linear, logarithmic or of names: its range, where values lie on it, its round
 * numbers. */
#ifndef EG_REPORT_AXIS_H
#define EG_REPORT_AXIS_H

#include "base/base.h"

typedef enum eg_scale {
    EG_SCALE_LINEAR,
    EG_SCALE_LOG,
    EG_SCALE_NAMES /* the values 0, 1, 2, … have names */
} eg_scale;

/* A position is a value, or log10 of it on a logarithmic axis. Values that have none are left out of
 * charts. */
bool eg_scale_has(eg_scale scale, double value);
double eg_scale_position(eg_scale scale, double value);

typedef struct eg_axis {
    eg_scale scale;
    double base;       /* what labels of a linear axis do not say: they are differences from it */
    double low, high;  /* positions of the ends, of a linear axis less the base */
    double at, pixels; /* pixel of `low`; pixels for a step of 1, negative upwards */
    bool horizontal;
    bool scientific;          /* labels read 10ⁿ */
    int density;              /* logarithmic: which ticks have labels; names: each how-manieth */
    double step;              /* linear: between ticks */
    int exponent;             /* linear and scientific: of all labels */
    const char *const *names; /* [name_count] not owned */
    size_t name_count;
} eg_axis;

/* An axis for positions from `least` to `most`, with some air, between two pixels. It is never so
 * short that it has fewer than two round numbers, and its labels never touch. With least > most it is
 * any axis. */
eg_axis eg_axis_new(eg_scale scale, double least, double most, double from, double to,
                    bool horizontal);
eg_axis eg_axis_of_names(const char *const *names, size_t count, double from, double to);

double eg_axis_pixel(const eg_axis *axis, double value);

/* The base as a text with all its digits; "" if there is none. */
void eg_axis_base_label(const eg_axis *axis, char text[32]);

typedef struct eg_tick {
    int64_t index;
    double value;
    double at;      /* pixel */
    bool minor;     /* no power of ten on a logarithmic axis */
    char label[64]; /* UTF-8; "": none */
} eg_tick;

/* The ticks one after another: the first after eg_axis_first. False: there are no more. */
eg_tick eg_axis_first(const eg_axis *axis);
bool eg_axis_next(const eg_axis *axis, eg_tick *tick);

/* Room for the label of a tick, in pixels: an estimate on the safe side. */
double eg_axis_label_width(const char *label);

#endif
