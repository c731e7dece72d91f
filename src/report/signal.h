/* The frequency, mean and amplitude of a signal that repeats itself, with how far to trust them. */
#ifndef EG_REPORT_SIGNAL_H
#define EG_REPORT_SIGNAL_H

#include "base/base.h"

typedef struct eg_signal_options {
    double from;   /* what is before this time is left out; -INFINITY: nothing */
    int periods;   /* the last so many are measured; 0: all */
    double spread; /* amplitudes that differ by no more, over their mean, count as the same */
} eg_signal_options;

/* Of the whole periods that are measured. Where there is none `periods` is 0, mean and rms are of
 * all that is left in, the amplitude is half of what it spans, and what needs a period is NaN. */
typedef struct eg_signal {
    int periods;
    double begin, end;       /* of the first and the last of them */
    double mean;             /* over time */
    double rms;              /* of what the signal is above or below its mean */
    double amplitude;        /* half of largest - least of a period, averaged over periods */
    double amplitude_spread; /* largest - least of the amplitudes of periods, over their mean */
    double frequency;        /* periods in a unit of time */
    double frequency_error;  /* by so much it is uncertain; NaN with one period */
    /* Of all periods behind `from`, measured or not: so many at the end have amplitudes that are
     * the same; 0 if there are fewer than two. */
    int settled;
    double settled_since; /* when the first of these begins; NaN: never */
} eg_signal;

/* Of values y [count] at times t [count], which grow; rows that are not finite are left out, and so
 * are times that do not grow. */
eg_status eg_signal_measure(eg_context *ctx, size_t count, const double *t, const double *y,
                            const eg_signal_options *options, eg_signal *out);

#endif
