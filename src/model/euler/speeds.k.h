/* How fast waves go at a node: what the kernels `speeds` and `fastest` share. */
#include "model/euler/gas.k.h"

#define NP (M * M)
#define VALUE(c) K_TILE(u, t, 4 * NP)[((c) * NP + i) * LANES + lane]
#define STATE state_of(VALUE(0), VALUE(1), VALUE(2), VALUE(3))

/* Added to |u|², so that a pressure below zero gives NaN at rest, too. */
#define STILL K_R(1e-30)

/* The larger of two, or NaN if one is NaN. */
K_FUNC real larger(real a, real b)
{
    return a > b || a != a ? a : b;
}

/* |u|² and c². */
typedef struct squares {
    real flow, sound;
} squares;

K_FUNC squares squares_of(state q)
{
    squares s;
    const real volume = K_R(1) / q.rho;
    s.flow = volume * volume * (q.mx * q.mx + q.my * q.my);
    s.sound = GAMMA * volume * pressure_of(q, volume);
    return s;
}

/* (|u| + c)², which takes a square root less than |u| + c. */
K_FUNC real speed_squared(squares s)
{
    return s.flow + s.sound + K_R(2) * K_SQRT((s.flow + STILL) * s.sound);
}
