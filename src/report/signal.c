/* Frequency, mean and amplitude of a signal that repeats itself.
 *
 * A period begins where the signal passes its middle upwards, having been well below and going to
 * be well above: small wiggles about the middle begin none. The middle and "well" are those of the
 * last half of the signal, which is settled if any part is. The time between rows at which it
 * passes is that of a straight line, whose error is of order dt² and the same in every period.
 *
 * A passage that follows another within half of the median of all lengths between them is a false
 * one, and dropped. With n periods that then begin at c_0 … c_n the length of one is the median of
 * (c_{k+m} - c_k)/m, m = ⌈n/2⌉, and it is uncertain by half of what these span: noise is divided by
 * m, and a frequency that drifts shows. */
#include "report/signal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How far from the middle is "well below", as part of the amplitude. */
#define WELL 0.2

typedef struct work {
    eg_context *ctx; /* not owned */
    size_t count;
    double *t, *y; /* [count] owned, as all that follows */
    size_t passages;
    double *passage;   /* [passages] times */
    double *amplitude; /* [passages - 1] of the periods between them */
    double *sorted;    /* [passages] */
} work;

/* --- rows ------------------------------------------------------------------------------------- */

static eg_status take_rows(work *w, size_t count, const double *t, const double *y, double from)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(w->ctx, count + 1, &w->t));
    EG_TRY(eg_new(w->ctx, count + 1, &w->y));
    EG_TRY(eg_new(w->ctx, count + 1, &w->passage));
    EG_TRY(eg_new(w->ctx, count + 1, &w->amplitude));
    EG_TRY(eg_new(w->ctx, count + 1, &w->sorted));
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(t[i]) || !isfinite(y[i]) || t[i] < from) continue;
        if (w->count > 0 && t[i] <= w->t[w->count - 1]) continue;
        w->t[w->count] = t[i];
        w->y[w->count++] = y[i];
    }
done:
    return status;
}

/* The signal at a time between row i and the next. */
static double value_at(const work *w, size_t i, double t)
{
    const double part = (t - w->t[i]) / (w->t[i + 1] - w->t[i]);
    return w->y[i] + part * (w->y[i + 1] - w->y[i]);
}

/* ∫ (y - shift)^power from a to b, of straight lines between rows; exact for power 1 and, by
 * Simpson's rule, 2. */
static double integrate(const work *w, double a, double b, double shift, int power)
{
    double sum = 0;
    for (size_t i = 0; i + 1 < w->count; i++) {
        const double from = fmax(a, w->t[i]), to = fmin(b, w->t[i + 1]);
        if (!(to > from)) continue;
        const double p = value_at(w, i, from) - shift, q = value_at(w, i, to) - shift;
        sum += (to - from) * (power == 1 ? (p + q) / 2 : (p * p + p * q + q * q) / 3);
    }
    return sum;
}

/* --- passages --------------------------------------------------------------------------------- */

/* The least and the largest value from row `first` on. */
static void find_range(const work *w, size_t first, double *least, double *most)
{
    *least = *most = w->y[first];
    for (size_t i = first + 1; i < w->count; i++) {
        *least = fmin(*least, w->y[i]);
        *most = fmax(*most, w->y[i]);
    }
}

static void find_passages(work *w)
{
    double least, most;
    bool below = false; /* it has been well below since the last passage */
    double last = 0;    /* where it has passed the middle last */
    size_t half = 0;
    while (half + 1 < w->count && w->t[half] < (w->t[0] + w->t[w->count - 1]) / 2)
        half++;
    find_range(w, half, &least, &most);
    const double middle = (least + most) / 2, well = WELL * (most - least) / 2;
    if (!(most > least)) return;
    for (size_t i = 0; i < w->count; i++) {
        const double y = w->y[i];
        if (y < middle - well) below = true;
        if (i > 0 && w->y[i - 1] < middle && y >= middle)
            last =
                w->t[i - 1] + (middle - w->y[i - 1]) / (y - w->y[i - 1]) * (w->t[i] - w->t[i - 1]);
        if (below && y > middle + well) {
            w->passage[w->passages++] = last;
            below = false;
        }
    }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of sorted[0 … count), which are put in order. */
static double median(work *w, size_t count)
{
    qsort(w->sorted, count, sizeof *w->sorted, compare);
    return (w->sorted[(count - 1) / 2] + w->sorted[count / 2]) / 2;
}

static void drop_false_passages(work *w)
{
    size_t kept = 1;
    if (w->passages < 3) return;
    for (size_t k = 0; k + 1 < w->passages; k++)
        w->sorted[k] = w->passage[k + 1] - w->passage[k];
    const double length = median(w, w->passages - 1);
    for (size_t k = 1; k < w->passages; k++)
        if (w->passage[k] - w->passage[kept - 1] > length / 2) w->passage[kept++] = w->passage[k];
    w->passages = kept;
}

/* --- amplitudes ------------------------------------------------------------------------------- */

/* The extreme of the parabola through rows i - 1, i, i + 1, of which i is the largest (sign 1) or
 * the least (-1). */
static double peak(const work *w, size_t i, double sign)
{
    if (i == 0 || i + 1 == w->count) return w->y[i];
    const double a = w->t[i] - w->t[i - 1], b = w->t[i + 1] - w->t[i];
    const double left = (w->y[i] - w->y[i - 1]) / a, right = (w->y[i + 1] - w->y[i]) / b;
    const double bend = (right - left) / (a + b), slope = (left * b + right * a) / (a + b);
    return sign * bend < 0 ? w->y[i] - slope * slope / (4 * bend) : w->y[i];
}

/* Half of largest - least of every period. */
static void find_amplitudes(work *w)
{
    size_t i = 0;
    for (size_t k = 0; k + 1 < w->passages; k++) {
        while (w->t[i] < w->passage[k])
            i++;
        size_t low = i, high = i;
        for (; i < w->count && w->t[i] < w->passage[k + 1]; i++) {
            if (w->y[i] < w->y[low]) low = i;
            if (w->y[i] > w->y[high]) high = i;
        }
        w->amplitude[k] = (peak(w, high, 1) - peak(w, low, -1)) / 2;
    }
}

/* largest - least of amplitudes [first, end), over their mean; *mean may be NULL. */
static double spread_of(const work *w, size_t first, size_t end, double *mean)
{
    double least = INFINITY, most = -INFINITY, sum = 0;
    for (size_t k = first; k < end; k++) {
        least = fmin(least, w->amplitude[k]);
        most = fmax(most, w->amplitude[k]);
        sum += w->amplitude[k];
    }
    sum /= (double)(end - first);
    if (mean) *mean = sum;
    return (most - least) / sum;
}

static void find_settled(const work *w, double spread, eg_signal *out)
{
    const size_t periods = w->passages - 1;
    size_t first = periods - 1;
    if (periods < 2) return;
    while (first > 0 && spread_of(w, first - 1, periods, NULL) <= spread)
        first--;
    if (periods - first < 2) return;
    out->settled = (int)(periods - first);
    out->settled_since = w->passage[first];
}

/* --- frequency -------------------------------------------------------------------------------- */

/* Of the periods from passage `first` on. */
static void find_frequency(work *w, size_t first, eg_signal *out)
{
    const size_t n = w->passages - 1 - first, m = (n + 1) / 2, count = n - m + 1;
    for (size_t k = 0; k < count; k++)
        w->sorted[k] = (w->passage[first + k + m] - w->passage[first + k]) / (double)m;
    const double length = median(w, count), span = w->sorted[count - 1] - w->sorted[0];
    out->frequency = 1 / length;
    if (n > 1) out->frequency_error = span / 2 / (length * length);
}

/* --- all of it -------------------------------------------------------------------------------- */

/* What can be said without a period. */
static eg_signal without_periods(const work *w)
{
    eg_signal out = {.begin = NAN,
                     .end = NAN,
                     .mean = NAN,
                     .rms = NAN,
                     .amplitude = NAN,
                     .amplitude_spread = NAN,
                     .frequency = NAN,
                     .frequency_error = NAN,
                     .settled_since = NAN};
    double least, most;
    if (w->count == 0) return out;
    const double a = w->t[0], b = w->t[w->count - 1];
    find_range(w, 0, &least, &most);
    out.amplitude = (most - least) / 2;
    out.mean = b > a ? integrate(w, a, b, 0, 1) / (b - a) : w->y[0];
    out.rms = b > a ? sqrt(integrate(w, a, b, out.mean, 2) / (b - a)) : 0;
    return out;
}

static void measure(work *w, const eg_signal_options *options, eg_signal *out)
{
    *out = without_periods(w);
    if (w->count > 0) find_passages(w);
    drop_false_passages(w);
    if (w->passages < 2) return;
    find_amplitudes(w);
    const size_t periods = w->passages - 1, wanted = (size_t)options->periods;
    const size_t first = wanted > 0 && wanted < periods ? periods - wanted : 0;
    out->periods = (int)(periods - first);
    out->begin = w->passage[first];
    out->end = w->passage[periods];
    const double length = out->end - out->begin;
    out->mean = integrate(w, out->begin, out->end, 0, 1) / length;
    out->rms = sqrt(integrate(w, out->begin, out->end, out->mean, 2) / length);
    out->amplitude_spread = spread_of(w, first, periods, &out->amplitude);
    find_settled(w, options->spread, out);
    find_frequency(w, first, out);
}

eg_status eg_signal_measure(eg_context *ctx, size_t count, const double *t, const double *y,
                            const eg_signal_options *options, eg_signal *out)
{
    work w = {.ctx = ctx};
    eg_status status = EG_OK;
    EG_TRY(take_rows(&w, count, t, y, options->from));
    measure(&w, options, out);
done:
    eg_release(ctx, &w.sorted);
    eg_release(ctx, &w.amplitude);
    eg_release(ctx, &w.passage);
    eg_release(ctx, &w.y);
    eg_release(ctx, &w.t);
    return status;
}
