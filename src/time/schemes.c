/* Explicit Runge-Kutta schemes: their stages, ready for a model to compute.
 *
 * Euler and the strong-stability schemes [gottlieb2001] are convex combinations of Euler steps of
 * dt at most, so that they keep what such a step keeps: bounds, total variation, convex entropies.
 * The low-storage scheme [carpenter1994] is the third of its 2N-storage solutions of order four. */
#include "time/time.h"

#include <assert.h>

/* The stages of a step from time 0 by 1. */

static const eg_stage euler[] = {{.time = 0.0, .a = 0.0, .b = 1.0, .c = 1.0}};

static const eg_stage ssp_rk2[] = {{.time = 0.0, .a = 0.0, .b = 1.0, .c = 1.0},
                                   {.time = 1.0, .a = 0.5, .b = 0.5, .c = 0.5}};

/* The last a is 1/3, rounded such that a + b is 1 exactly: the numbers nearest to 1/3 and 2/3 add
 * up to 1 - 2^-54, and the mass of a solution would shrink by that factor in every step. */
static const eg_stage ssp_rk3[] = {
    {.time = 0.0, .a = 0.0, .b = 1.0, .c = 1.0},
    {.time = 1.0, .a = 0.75, .b = 0.25, .c = 0.25},
    {.time = 0.5, .a = 1.0 - 2.0 / 3.0, .b = 2.0 / 3.0, .c = 2.0 / 3.0}};

static const eg_stage low_rk4[] = {
    {.low_storage = true, .time = 0.0, .A = 0.0, .B = 1432997174477.0 / 9575080441755.0},
    {.low_storage = true,
     .time = 1432997174477.0 / 9575080441755.0,
     .A = -567301805773.0 / 1357537059087.0,
     .B = 5161836677717.0 / 13612068292357.0},
    {.low_storage = true,
     .time = 2526269341429.0 / 6820363962896.0,
     .A = -2404267990393.0 / 2016746695238.0,
     .B = 1720146321549.0 / 2090206949498.0},
    {.low_storage = true,
     .time = 2006345519317.0 / 3224310063776.0,
     .A = -3550918686646.0 / 2091501179385.0,
     .B = 3134564353537.0 / 4481467310338.0},
    {.low_storage = true,
     .time = 2802321613138.0 / 2924317926251.0,
     .A = -1275806237668.0 / 842570457699.0,
     .B = 2277821191437.0 / 14882151754819.0}};
_Static_assert(EG_COUNT(low_rk4) <= EG_STAGES_MAX, "the longest scheme has room");

static const struct {
    int order, count;
    const eg_stage *stages; /* [count] */
} schemes[] = {
    [EG_TIME_EULER] = {1, EG_COUNT(euler), euler},
    [EG_TIME_SSP_RK2] = {2, EG_COUNT(ssp_rk2), ssp_rk2},
    [EG_TIME_SSP_RK3] = {3, EG_COUNT(ssp_rk3), ssp_rk3},
    [EG_TIME_LOW_RK4] = {4, EG_COUNT(low_rk4), low_rk4},
};

int eg_time_stages(eg_time_scheme scheme, double t, double dt, eg_stage *out)
{
    assert((size_t)scheme < EG_COUNT(schemes));
    const int count = schemes[scheme].count;
    for (int i = 0; i < count; i++) {
        out[i] = schemes[scheme].stages[i];
        out[i].index = i;
        out[i].count = count;
        out[i].time = t + out[i].time * dt;
        out[i].dt = dt;
    }
    return count;
}

int eg_time_order(eg_time_scheme scheme)
{
    assert((size_t)scheme < EG_COUNT(schemes));
    return schemes[scheme].order;
}
