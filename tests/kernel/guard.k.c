/* Quantities as eg_guard writes them, for the tests that compile kernels without running them. */

K_FUNC real positive_0(real x, real y, real z, real t, real u0, real u1)
{
    return u0 - u1 * u1 * K_R(0.5);
}

K_FUNC real positive_1(real x, real y, real z, real t, real u0, real u1)
{
    return x < y ? u1 * z + t : u0;
}

#define QUANTITIES(Q) K_LANE { \
    Q(0, positive_0(PX, PY, PZ, (real)time, U(0), U(1))) \
    Q(1, positive_1(PX, PY, PZ, (real)time, U(0), U(1))) }
#include "field/guard.k.c"
