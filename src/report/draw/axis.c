/* Axes of charts. Labels stand at round numbers, as many as help and fit: at multiples of 1, 2 or 5
 * times a power of ten on linear axes, at multiples of powers of ten on logarithmic ones.
 *
 * Where values differ by less than their labels could show, labels tell the differences from a round
 * number, the base, which stands beside the axis. */
#include "report/draw/axis.h"

#include "report/draw/linear.h"
#include "report/draw/svg.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pixels: width of a character of a label, height of a label, air on both sides of it. */
#define CHAR 7.4
#define HEIGHT 20.0
#define BESIDE 5.0

#define MOST_VALUE 1e300  /* beyond it differences of values may overflow */
#define LEAST_SPAN 1e-290 /* below it they lose their digits */
#define TOO_CLOSE 1e-5    /* of values, by which they differ: it takes a base */
#define MINUS "\xe2\x88\x92"
#define DOT "\xc2\xb7"

/* Which multiples of which powers of ten have labels, the densest first. */
static const struct {
    const char *digits;
    int stride; /* of the exponents */
} densities[] = {{"123456789", 1}, {"12357", 1}, {"125", 1}, {"1", 1},  {"1", 2},
                 {"1", 5},         {"1", 10},    {"1", 50},  {"1", 100}};

enum { DECADES = 3 /* its index */, ENOUGH = 4 /* labels */ };

bool eg_scale_has(eg_scale scale, double value)
{
    return scale == EG_SCALE_LOG ? isfinite(value) && value > 0 : fabs(value) <= MOST_VALUE;
}

double eg_scale_position(eg_scale scale, double value)
{
    return scale == EG_SCALE_LOG ? log10(value) : value;
}

/* --- labels ------------------------------------------------------------------------------------- */

double eg_axis_label_width(const char *label)
{
    double width = 0;
    while (*label)
        width += eg_utf8_lowered(eg_utf8_next(&label)) ? 0.8 * CHAR : CHAR;
    return width;
}

/* Adds 10 to the power n, with raised digits. */
static void add_power(char *text, size_t size, int n)
{
    static const char *const raised[] = {
        "\xe2\x81\xb0", "\xc2\xb9",     "\xc2\xb2",     "\xc2\xb3",     "\xe2\x81\xb4",
        "\xe2\x81\xb5", "\xe2\x81\xb6", "\xe2\x81\xb7", "\xe2\x81\xb8", "\xe2\x81\xb9"};
    char digits[16];
    snprintf(digits, sizeof digits, "%d", abs(n));
    snprintf(text + strlen(text), size - strlen(text), "10%s", n < 0 ? "\xe2\x81\xbb" : "");
    for (const char *s = digits; *s; s++)
        snprintf(text + strlen(text), size - strlen(text), "%s", raised[*s - '0']);
}

/* A digit times a power of ten. */
static void label_log(const eg_axis *a, int digit, int decade, char *text, size_t size)
{
    if (!a->scientific) {
        snprintf(text, size, "%.*f", decade < 0 ? -decade : 0, digit * pow(10, decade));
        return;
    }
    text[0] = '\0';
    if (digit > 1) snprintf(text, size, "%d" DOT, digit);
    add_power(text, size, decade);
}

/* The decade of the last digit that tells multiples of the step from each other. */
static int last_decade(double step)
{
    return (int)floor(log10(step) + 1e-9);
}

static void label_linear(const eg_axis *a, int64_t index, char *text, size_t size)
{
    const int last = last_decade(a->step), unit = a->scientific ? a->exponent : 0;
    const char *sign = index < 0 ? MINUS : "";
    const double value = fabs((double)index * a->step);
    if (index == 0) {
        snprintf(text, size, "0");
        return;
    }
    snprintf(text, size, "%s%.*f", sign, last < unit ? unit - last : 0, value / pow(10, unit));
    if (!a->scientific) return;
    snprintf(text + strlen(text), size - strlen(text), DOT);
    add_power(text, size, a->exponent);
}

void eg_axis_base_label(const eg_axis *a, char text[32])
{
    text[0] = '\0';
    if (a->base == 0) return;
    for (int digits = 1; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(text, 32, "%.*g", digits, a->base);
        if (strtod(text, NULL) == a->base) return;
    }
}

/* --- ticks -------------------------------------------------------------------------------------- */

/* On a logarithmic axis ticks are counted by digits, nine a decade. */
static int decade_of(int64_t index)
{
    return (int)(index >= 0 ? index / 9 : -((8 - index) / 9));
}

static int digit_of(int64_t index)
{
    return (int)(index - 9 * (int64_t)decade_of(index)) + 1;
}

static void describe_log(const eg_axis *a, eg_tick *tick, double *position)
{
    const int digit = digit_of(tick->index), decade = decade_of(tick->index);
    *position = decade + log10(digit);
    tick->value = digit * pow(10, decade);
    tick->minor = digit != 1;
    if (strchr(densities[a->density].digits, '0' + digit) &&
        decade % densities[a->density].stride == 0)
        label_log(a, digit, decade, tick->label, sizeof tick->label);
}

/* Fills in a tick from its index; returns its position, of a linear axis less the base. */
static double describe(const eg_axis *a, eg_tick *tick)
{
    double position = (double)tick->index;
    tick->label[0] = '\0';
    tick->minor = false;
    if (a->scale == EG_SCALE_LOG) {
        describe_log(a, tick, &position);
    } else if (a->scale == EG_SCALE_LINEAR) {
        position *= a->step;
        tick->value = a->base + position;
        label_linear(a, tick->index, tick->label, sizeof tick->label);
    } else {
        tick->value = position;
        if (tick->index % a->density == 0)
            snprintf(tick->label, sizeof tick->label, "%s", a->names[tick->index]);
    }
    tick->at = a->at + (position - a->low) * a->pixels;
    return position;
}

eg_tick eg_axis_first(const eg_axis *a)
{
    const double first = a->scale == EG_SCALE_LOG      ? 9 * floor(a->low)
                         : a->scale == EG_SCALE_LINEAR ? ceil(a->low / a->step)
                                                       : 0;
    return (eg_tick){.index = (int64_t)first - 1};
}

bool eg_axis_next(const eg_axis *a, eg_tick *tick)
{
    double position;
    do {
        tick->index++;
        if (a->scale == EG_SCALE_NAMES && tick->index >= (int64_t)a->name_count) return false;
        position = describe(a, tick);
    } while (position < a->low);
    return position <= a->high;
}

/* How many labels there are; -1: they would touch. */
static int count_labels(const eg_axis *a)
{
    eg_tick tick = eg_axis_first(a);
    double end = -INFINITY;
    int count = 0;
    while (eg_axis_next(a, &tick)) {
        if (!tick.label[0]) continue;
        const double half =
            a->horizontal ? eg_axis_label_width(tick.label) / 2 + BESIDE : HEIGHT / 2;
        const double centre = fabs(tick.at - a->at);
        if (centre - half < end) return -1;
        end = centre + half;
        count++;
    }
    return count;
}

/* --- ranges ------------------------------------------------------------------------------------- */

static void set_range(eg_axis *a, double low, double high, double to)
{
    a->low = low;
    a->high = high;
    a->pixels = (to - a->at) / (high - low);
}

static void choose_log(eg_axis *a, double least, double most, double to)
{
    if (least > most) {
        least = -1;
        most = 0;
    }
    const double span = most - least;
    const double air = fmax(0.06 * span, 0.5 * fmax(0.1, 0.5 - span));
    set_range(a, least - air, most + air, to);
    a->scientific = floor(a->low) < -3 || a->high > 5;
    a->density = DECADES;
    if (count_labels(a) >= 0 && count_labels(a) < ENOUGH) a->density = 0;
    while (a->density + 1 < (int)EG_COUNT(densities) && count_labels(a) < 0)
        a->density++;
}

/* A round number near values that differ by `span`, with digits down to the span's. */
static double base_near(double value, double span)
{
    char text[40];
    const int digits = (int)(floor(log10(fabs(value))) - ceil(log10(span)));
    snprintf(text, sizeof text, "%.*e", digits > 0 ? digits : 0, value);
    return strtod(text, NULL);
}

static void choose_linear(eg_axis *a, double least, double most, double to)
{
    if (least > most) {
        least = 0;
        most = 1;
    }
    const double size = fmax(fabs(least), fabs(most)), length = fabs(to - a->at);
    if (most - least <=
        fmax(16 * DBL_EPSILON * size, LEAST_SPAN)) { /* constant, but for rounding */
        const double half = size > LEAST_SPAN ? 0.1 * size : 1;
        least -= half;
        most += half;
    }
    const double span = most - least, air = (a->horizontal ? 0.02 : 0.06) * span;
    if (span < TOO_CLOSE * size) a->base = base_near(0.5 * (least + most), span);
    set_range(a, least - a->base - air, most - a->base + air, to);
    a->step = eg_round_up((a->high - a->low) / fmin(length / (a->horizontal ? 90 : 40), 8));
    for (;; a->step = eg_round_up(1.5 * a->step)) {
        const double largest = fmax(fabs(a->low), fabs(a->high));
        a->exponent = (int)floor(log10(largest));
        a->scientific = last_decade(a->step) < -4 || largest >= 1e6;
        if (count_labels(a) >= 0 || a->step > a->high - a->low) return;
    }
}

eg_axis eg_axis_new(eg_scale scale, double least, double most, double from, double to,
                    bool horizontal)
{
    eg_axis a = {.scale = scale, .at = from, .horizontal = horizontal};
    if (scale == EG_SCALE_LOG)
        choose_log(&a, least, most, to);
    else
        choose_linear(&a, least, most, to);
    return a;
}

eg_axis eg_axis_of_names(const char *const *names, size_t count, double from, double to)
{
    eg_axis a = {.scale = EG_SCALE_NAMES,
                 .at = from,
                 .horizontal = true,
                 .density = 1,
                 .names = names,
                 .name_count = count};
    set_range(&a, -0.5, (double)(count > 0 ? count : 1) - 0.5, to);
    while (a.density < (int)count && count_labels(&a) < 0)
        a.density++;
    return a;
}

double eg_axis_pixel(const eg_axis *a, double value)
{
    const double position = eg_scale_position(a->scale, value) - a->base;
    return a->at + (position - a->low) * a->pixels;
}
