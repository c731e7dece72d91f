/* Solutions of the Euler equations that nothing in the library has computed: the exact solution of a
 * Riemann problem [toro2009, chapter 4], and flow with circular symmetry by a finite volume scheme of
 * its own on many cells along the radius. γ = 1.4. */
#ifndef EG_TEST_GAS_REFERENCES_H
#define EG_TEST_GAS_REFERENCES_H

#include "test.h"

#include <math.h>
#include <stdlib.h>

#define REFERENCE_GAMMA 1.4

/* Density, velocity, pressure. */
typedef struct gas {
    double rho, u, p;
} gas;

static inline double gas_sound(gas q)
{
    return sqrt(REFERENCE_GAMMA * q.p / q.rho);
}

/* --- the Riemann problem ----------------------------------------------------------------------- */

/* By how much the velocity changes through the wave on one side, to pressure p, and its slope. */
static inline double wave_jump(gas q, double p, double *slope)
{
    const double g = REFERENCE_GAMMA, c = gas_sound(q);
    if (p > q.p) {
        const double a = 2 / ((g + 1) * q.rho), b = (g - 1) / (g + 1) * q.p,
                     root = sqrt(a / (p + b));
        *slope = root * (1 - 0.5 * (p - q.p) / (p + b));
        return (p - q.p) * root;
    }
    *slope = 1 / (q.rho * c) * pow(p / q.p, -(g + 1) / (2 * g));
    return 2 * c / (g - 1) * (pow(p / q.p, (g - 1) / (2 * g)) - 1);
}

/* Pressure and velocity between the waves, by Newton's method. */
static inline gas riemann_star(gas l, gas r)
{
    double p = 0.5 * (l.p + r.p), u = 0;
    for (int i = 0; i < 60; i++) {
        double slope_l, slope_r;
        const double f = wave_jump(l, p, &slope_l) + wave_jump(r, p, &slope_r) + r.u - l.u;
        u = 0.5 * (l.u + r.u) + 0.5 * (wave_jump(r, p, &slope_r) - wave_jump(l, p, &slope_l));
        p = fmax(p - f / (slope_l + slope_r), 1e-3 * p);
    }
    return (gas){.u = u, .p = p};
}

/* The state at x/t = s, left of the contact; the other side is this one's mirror image. */
static inline gas riemann_left(gas q, gas star, double s)
{
    const double g = REFERENCE_GAMMA, c = gas_sound(q), ratio = star.p / q.p;
    if (star.p > q.p) {
        const double slow = (g - 1) / (g + 1);
        if (s < q.u - c * sqrt((g + 1) / (2 * g) * ratio + (g - 1) / (2 * g))) return q;
        return (gas){q.rho * (ratio + slow) / (slow * ratio + 1), star.u, star.p};
    }
    if (s < q.u - c) return q;
    if (s > star.u - c * pow(ratio, (g - 1) / (2 * g)))
        return (gas){q.rho * pow(ratio, 1 / g), star.u, star.p};
    const double inside = 2 / (g + 1) * (c + 0.5 * (g - 1) * (q.u - s)), part = inside / c;
    return (gas){q.rho * pow(part, 2 / (g - 1)), 2 / (g + 1) * (c + 0.5 * (g - 1) * q.u + s),
                 q.p * pow(part, 2 * g / (g - 1))};
}

static inline gas riemann(gas l, gas r, double s)
{
    const gas star = riemann_star(l, r);
    if (s <= star.u) return riemann_left(l, star, s);
    gas mirrored = riemann_left((gas){r.rho, -r.u, r.p}, (gas){.u = -star.u, .p = star.p}, -s);
    mirrored.u = -mirrored.u;
    return mirrored;
}

/* --- flow with circular symmetry ----------------------------------------------------------------- */

/* Cells of width h from r = 0 on: density, radial momentum, energy per volume. */
typedef struct radial {
    int cells;
    double h;
    double (*q)[3], (*first)[3], (*rate)[3];
} radial;

static inline gas radial_gas(const double *q)
{
    const double u = q[1] / q[0];
    return (gas){q[0], u, (REFERENCE_GAMMA - 1) * (q[2] - 0.5 * q[1] * u)};
}

static inline double minmod(double a, double b)
{
    return a * b <= 0 ? 0 : fabs(a) < fabs(b) ? a : b;
}

/* The flux of the Riemann problem's two outer waves and the contact [toro1994]. */
static inline void radial_flux(gas l, gas r, double f[3])
{
    const double cl = gas_sound(l), cr = gas_sound(r), g = REFERENCE_GAMMA;
    const double sl = fmin(l.u - cl, r.u - cr), sr = fmax(l.u + cl, r.u + cr);
    const double ml = l.rho * (sl - l.u), mr = r.rho * (sr - r.u);
    const double middle = (r.p - l.p + ml * l.u - mr * r.u) / (ml - mr);
    const gas q = middle >= 0 ? l : r;
    const double s = middle >= 0 ? sl : sr, reach = middle >= 0 ? fmin(sl, 0) : fmax(sr, 0);
    const double E = q.p / (g - 1) + 0.5 * q.rho * q.u * q.u,
                 denser = q.rho * (s - q.u) / (s - middle);
    const double star[3] = {
        denser, denser * middle,
        denser * (E / q.rho + (middle - q.u) * (middle + q.p / (q.rho * (s - q.u))))};
    const double own[3] = {q.rho, q.rho * q.u, E};
    f[0] = q.rho * q.u;
    f[1] = q.rho * q.u * q.u + q.p;
    f[2] = (E + q.p) * q.u;
    for (int c = 0; c < 3; c++)
        f[c] += reach * (star[c] - own[c]);
}

/* The state at the face of cell i towards the centre (-1) or away from it (1). */
static inline gas radial_face(const radial *a, int i, int side)
{
    const gas q = radial_gas(a->q[i]);
    gas below = i > 0 ? radial_gas(a->q[i - 1]) : q;
    if (i == 0) below.u = -q.u; /* the mirror image at the centre */
    const gas above = i + 1 < a->cells ? radial_gas(a->q[i + 1]) : q;
    return (gas){q.rho + 0.5 * side * minmod(q.rho - below.rho, above.rho - q.rho),
                 q.u + 0.5 * side * minmod(q.u - below.u, above.u - q.u),
                 q.p + 0.5 * side * minmod(q.p - below.p, above.p - q.p)};
}

/* r q_t + (r f)_r = (0, p, 0), in cells. */
static inline void radial_find_rates(radial *a)
{
    double low[3] = {0};
    gas inner = radial_face(a, 0, 1);
    for (int i = 0; i < a->cells; i++) {
        const bool last = i + 1 == a->cells;
        const double r = (i + 1) * a->h, volume = (i + 0.5) * a->h * a->h;
        const gas outer = last ? inner : radial_face(a, i + 1, -1);
        double high[3];
        radial_flux(inner, outer, high);
        for (int c = 0; c < 3; c++) {
            high[c] *= r;
            a->rate[i][c] = (low[c] - high[c]) / volume;
            low[c] = high[c];
        }
        a->rate[i][1] += radial_gas(a->q[i]).p * a->h / volume;
        if (!last) inner = radial_face(a, i + 1, 1);
    }
}

static inline double radial_fastest(const radial *a)
{
    double fastest = 0;
    for (int i = 0; i < a->cells; i++) {
        const gas q = radial_gas(a->q[i]);
        fastest = fmax(fastest, fabs(q.u) + gas_sound(q));
    }
    return fastest;
}

/* A circle of radius `radius` with the state `inside`, after time `end`, seen to r = 1: Heun's method. */
static inline radial radial_explode(int cells, gas inside, gas outside, double radius, double end)
{
    radial a = {.cells = cells, .h = 1.0 / cells};
    a.q = calloc((size_t)cells, sizeof *a.q);
    a.first = calloc((size_t)cells, sizeof *a.first);
    a.rate = calloc((size_t)cells, sizeof *a.rate);
    assert_true(a.q && a.first && a.rate);
    for (int i = 0; i < cells; i++) {
        const gas g = (i + 0.5) * a.h < radius ? inside : outside;
        a.q[i][0] = g.rho;
        a.q[i][2] = g.p / (REFERENCE_GAMMA - 1);
    }
    for (double t = 0, dt; t < end; t += dt) {
        dt = fmin(0.45 * a.h / radial_fastest(&a), end - t);
        memcpy(a.first, a.q, (size_t)cells * sizeof *a.q);
        for (int stage = 0; stage < 2; stage++) {
            radial_find_rates(&a);
            for (int i = 0; i < cells; i++)
                for (int c = 0; c < 3; c++) {
                    const double next = a.q[i][c] + dt * a.rate[i][c];
                    a.q[i][c] = stage == 0 ? next : 0.5 * (a.first[i][c] + next);
                }
        }
        if (end - t - dt < 1e-14) break;
    }
    return a;
}

static inline void radial_free(radial *a)
{
    free(a->q);
    free(a->first);
    free(a->rate);
}

/* The density at r < 1, linear between centres of cells. */
static inline double radial_density(const radial *a, double r)
{
    const double at = fmax(r / a->h - 0.5, 0);
    const int i = (int)fmin(at, a->cells - 2);
    const double part = fmin(at - i, 1);
    return (1 - part) * a->q[i][0] + part * a->q[i + 1][0];
}

#endif
