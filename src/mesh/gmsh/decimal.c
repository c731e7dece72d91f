/* Decimal numbers in text, read fast and to the last bit.
 *
 * A number is w * 10^e with an integer w. If w has at most 19 digits it is the exact sum of two
 * doubles, and so is, but for some 2^-104 of it, what a product with a power of ten or a quotient
 * by one leaves of such a sum [dekker1971]. Where that error could matter to the rounding of the
 * sum to one double, which is once in 2^40 numbers, strtod decides; also for longer numbers. */
#include "mesh/gmsh/decimal.h"

#include <assert.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 19 /* of an integer that surely fits into 64 bits */
#define POWER_MAX 22  /* 10^22 is the largest power of ten that is a double */
#define SCALE_MAX 66  /* of what is scaled here, in three steps */
#define EXPONENT_MAX 99999
#define POINT_BYTES 16 /* of a locale's decimal point, with the NUL */

static const double powers[POWER_MAX + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                             1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                             1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/* A number as it was written. */
typedef struct decimal {
    bool negative, exact; /* exact: `digits` holds all of them, else the rest means nothing */
    uint64_t digits;
    int scale; /* of ten */
} decimal;

static bool is_digit(const char *at, const char *end)
{
    return at < end && *at >= '0' && *at <= '9';
}

/* Takes digits into the number, up to the 19th significant one. */
static const char *take_digits(const char *at, const char *end, bool fraction, int *significant,
                               decimal *d)
{
    for (; is_digit(at, end); at++) {
        if (*significant < DIGITS_MAX) {
            d->digits = 10 * d->digits + (uint64_t)(*at - '0');
            *significant += d->digits != 0;
            d->scale -= fraction;
        } else {
            d->exact = false;
        }
    }
    return at;
}

static const char *scan(const char *at, const char *end, decimal *d)
{
    int significant = 0;
    *d = (decimal){.exact = true};
    if (at < end && (*at == '-' || *at == '+')) d->negative = *at++ == '-';
    const char *whole = at;
    at = take_digits(at, end, false, &significant, d);
    bool any = at > whole;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = take_digits(at, end, true, &significant, d);
        any = any || at > fraction;
    }
    if (!any) return NULL;
    if (at < end && (*at == 'e' || *at == 'E')) {
        int exponent = 0;
        bool down = false;
        at++;
        if (at < end && (*at == '-' || *at == '+')) down = *at++ == '-';
        if (!is_digit(at, end)) return NULL;
        for (; is_digit(at, end); at++)
            if (exponent < EXPONENT_MAX) exponent = 10 * exponent + (*at - '0');
        d->scale += down ? -exponent : exponent;
    }
    return at;
}

/* digits * 10^scale; false if its rounding is not certain. */
static bool scale_exactly(const decimal *d, double *value)
{
    double high = (double)d->digits;
    double low = (double)(int64_t)(d->digits - (uint64_t)high);
    int scale = d->scale;
    if (low == 0.0 && abs(scale) <= POWER_MAX) { /* one operation rounds once */
        *value = scale < 0 ? high / powers[-scale] : high * powers[scale];
        return true;
    }
    while (scale != 0) {
        const int step = abs(scale) < POWER_MAX ? abs(scale) : POWER_MAX;
        const double power = powers[step];
        double main, rest;
        if (scale < 0) {
            main = high / power;
            rest = (fma(-main, power, high) + low) / power;
        } else {
            main = high * power;
            rest = fma(high, power, -main) + low * power;
        }
        high = main + rest;
        low = rest - (high - main);
        scale += scale < 0 ? step : -step;
    }
    *value = high;
    return high + low * (1.0 + 0x1p-40) == high;
}

/* strtod, whatever decimal point the host program's locale has. */
static double parse_slowly(const char *at, const char *end)
{
    const char *point = localeconv()->decimal_point;
    const size_t point_bytes = strlen(point);
    char text[EG_DECIMAL_BYTES + POINT_BYTES];
    size_t length = 0;
    assert(end - at <= EG_DECIMAL_BYTES && point_bytes < POINT_BYTES);
    for (; at < end; at++) {
        if (*at == '.') {
            memcpy(text + length, point, point_bytes);
            length += point_bytes;
        } else {
            text[length++] = *at;
        }
    }
    text[length] = '\0';
    return strtod(text, NULL);
}

const char *eg_decimal_parse(const char *at, const char *end, double *value)
{
    decimal d;
    if (end - at > EG_DECIMAL_BYTES) end = at + EG_DECIMAL_BYTES;
    const char *after = scan(at, end, &d);
    if (!after) return NULL;
    if (d.exact && d.digits == 0) {
        *value = d.negative ? -0.0 : 0.0;
        return after;
    }
    if (FLT_EVAL_METHOD == 0 && d.exact && abs(d.scale) <= SCALE_MAX && scale_exactly(&d, value)) {
        if (d.negative) *value = -*value;
        return after;
    }
    *value = parse_slowly(at, after);
    return after;
}
