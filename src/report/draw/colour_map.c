/* Makes colour maps as curves in OKLab [ottosson2020], a space in which distances are as large as
 * they look.
 *
 * A map is a cubic B-spline of a few colours, given by lightness, chroma and hue; so it is smooth,
 * and lightness grows along it as it does along the colours. Its colours are then placed along it
 * by arc length. The arms of a diverging map are measured apart, so that its middle is the
 * middle. */
#include "report/draw/colour_map.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { POINTS_MOST = 12, SAMPLES = 2048 };

typedef struct curve {
    const char *name;
    bool closed, diverges;
    int count;
    double points[POINTS_MOST][3]; /* lightness, chroma, hue in degrees */
} curve;

static const curve curves[EG_COLOURS_COUNT] = {
    [EG_COLOURS_SEA] = {.name = "sea",
                        .count = 8,
                        .points = {{0.22, 0.10, 298},
                                   {0.30, 0.135, 284},
                                   {0.42, 0.115, 258},
                                   {0.53, 0.085, 215},
                                   {0.65, 0.115, 165},
                                   {0.77, 0.165, 135},
                                   {0.87, 0.18, 118},
                                   {0.95, 0.15, 107}}},
    [EG_COLOURS_FIRE] = {.name = "fire",
                         .count = 9,
                         .points = {{0.13, 0.04, 295},
                                    {0.24, 0.11, 305},
                                    {0.36, 0.155, 335},
                                    {0.50, 0.185, 10},
                                    {0.62, 0.185, 35},
                                    {0.74, 0.15, 60},
                                    {0.85, 0.13, 85},
                                    {0.93, 0.10, 98},
                                    {0.975, 0.03, 105}}},
    [EG_COLOURS_GREY] = {.name = "grey", .count = 2, .points = {{0.10, 0, 0}, {0.985, 0, 0}}},
    [EG_COLOURS_BALANCE] = {.name = "balance",
                            .diverges = true,
                            .count = 9,
                            .points = {{0.30, 0.10, 262},
                                       {0.42, 0.15, 258},
                                       {0.60, 0.135, 250},
                                       {0.80, 0.08, 240},
                                       {0.965, 0, 0},
                                       {0.80, 0.085, 50},
                                       {0.60, 0.17, 32},
                                       {0.42, 0.155, 26},
                                       {0.30, 0.105, 20}}},
    /* A circle, tilted so that yellow is light and violet dark. */
    [EG_COLOURS_WHEEL] = {.name = "wheel",
                          .closed = true,
                          .count = 12,
                          .points = {{0.43, 0.105, 290},
                                     {0.457, 0.105, 320},
                                     {0.53, 0.105, 350},
                                     {0.63, 0.105, 20},
                                     {0.73, 0.105, 50},
                                     {0.803, 0.105, 80},
                                     {0.83, 0.105, 110},
                                     {0.803, 0.105, 140},
                                     {0.73, 0.105, 170},
                                     {0.63, 0.105, 200},
                                     {0.53, 0.105, 230},
                                     {0.457, 0.105, 260}}},
};

const char *eg_colour_map_name(eg_colour_map map)
{
    assert((unsigned)map < EG_COLOURS_COUNT);
    return curves[map].name;
}

/* --- OKLab ------------------------------------------------------------------------------------ */

static uint8_t encode(double linear)
{
    const double c = fmin(fmax(linear, 0), 1);
    const double coded = c <= 0.0031308 ? 12.92 * c : 1.055 * pow(c, 1 / 2.4) - 0.055;
    return (uint8_t)(255 * coded + 0.5);
}

static double decode(uint8_t byte)
{
    const double c = byte / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static eg_rgb to_rgb(const double lab[3])
{
    const double l = pow(lab[0] + 0.3963377774 * lab[1] + 0.2158037573 * lab[2], 3);
    const double m = pow(lab[0] - 0.1055613458 * lab[1] - 0.0638541728 * lab[2], 3);
    const double s = pow(lab[0] - 0.0894841775 * lab[1] - 1.2914855480 * lab[2], 3);
    return (eg_rgb){encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
                    encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
                    encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s)};
}

void eg_rgb_to_oklab(eg_rgb colour, double lab[3])
{
    const double r = decode(colour.r), g = decode(colour.g), b = decode(colour.b);
    const double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
    const double m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    const double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    lab[0] = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
    lab[1] = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s;
    lab[2] = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s;
}

/* --- curves ----------------------------------------------------------------------------------- */

/* Point i of the spline; beyond the ends of an open curve its end. */
static void control(const curve *c, int i, double lab[3])
{
    const int last = c->count - 1;
    const double *p = c->points[c->closed  ? (i + c->count) % c->count
                                : i < 0    ? 0
                                : i > last ? last
                                           : i];
    const double hue = p[2] * acos(-1) / 180;
    lab[0] = p[0];
    lab[1] = p[1] * cos(hue);
    lab[2] = p[1] * sin(hue);
}

/* The curve at t from 0 to 1. Repeated three times, the ends of an open curve are its first and
 * last point. */
static void curve_at(const curve *c, double t, double lab[3])
{
    const int pieces = c->closed ? c->count : c->count + 1, first = c->closed ? -1 : -2;
    const int piece = (int)fmin(t * pieces, pieces - 1);
    const double u = t * pieces - piece, v = 1 - u;
    const double weights[4] = {v * v * v / 6, (3 * u * u * u - 6 * u * u + 4) / 6,
                               (3 * v * v * v - 6 * v * v + 4) / 6, u * u * u / 6};
    memset(lab, 0, 3 * sizeof *lab);
    for (int k = 0; k < 4; k++) {
        double p[3];
        control(c, first + piece + k, p);
        for (int d = 0; d < 3; d++)
            lab[d] += weights[k] * p[d];
    }
}

static double distance(const double *a, const double *b)
{
    return sqrt(pow(a[0] - b[0], 2) + pow(a[1] - b[1], 2) + pow(a[2] - b[2], 2));
}

/* Where along [from, to] samples a part of their length has passed, in samples. */
static double find_length(const double *length, int from, int to, double part)
{
    const double wanted = length[from] + part * (length[to] - length[from]);
    int low = from, high = to;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (length[middle] > wanted)
            high = middle;
        else
            low = middle;
    }
    return low + (wanted - length[low]) / (length[high] - length[low]);
}

eg_status eg_colour_map_fill(eg_context *ctx, eg_colour_map map, int count, eg_rgb *colours)
{
    eg_status status = EG_OK;
    const curve *c = &curves[map];
    double *length = NULL, last[3], lab[3];
    EG_TRY(eg_new(ctx, SAMPLES + 1, &length));
    curve_at(c, 0, last);
    for (int i = 1; i <= SAMPLES; i++) {
        curve_at(c, (double)i / SAMPLES, lab);
        length[i] = length[i - 1] + distance(lab, last);
        memcpy(last, lab, sizeof last);
    }
    for (int i = 0; i < count; i++) {
        const double part = (double)i / (count - 1);
        double at = 0;
        if (!c->diverges)
            at = find_length(length, 0, SAMPLES, part);
        else if (part < 0.5)
            at = find_length(length, 0, SAMPLES / 2, 2 * part);
        else
            at = find_length(length, SAMPLES / 2, SAMPLES, 2 * part - 1);
        curve_at(c, at / SAMPLES, lab);
        colours[i] = to_rgb(lab);
    }
done:
    eg_release(ctx, &length);
    return status;
}
