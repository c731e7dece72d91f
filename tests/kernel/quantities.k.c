/* Quantities as eg_quantity writes them, for the tests that compile kernels without running
 * them. */

K_FUNC real value_0(real x, real y, real z, real t, real nx, real ny, real nz, real u0, real u1)
{
    return x * ny - K_R(2.0) * y * nx + t * u0 / (K_R(1.5) + u1 * u1) + z * nz;
}

K_FUNC real value_1(real x, real y, real z, real t, real nx, real ny, real nz, real u0, real u1,
                    real u0_x, real u0_y, real u0_z, real u1_x)
{
    return u1_x - u0_y;
}

#define VALUES                                                                                     \
    VALUE(0, value_0(X(0), X(1), X(DIM - 1), time, NORMAL(0), NORMAL(1), NORMAL(DIM - 1), U(0),    \
                     U(1)))                                                                        \
    VALUE(1, value_1(K_R(0.0), K_R(0.0), K_R(0.0), K_R(0.0), K_R(0.0), K_R(0.0), K_R(0.0),         \
                     K_R(0.0), K_R(0.0), K_R(0.0), SLOPE(0, 1), K_R(0.0), SLOPE(1, 0)))
#include "field/quantity.k.h"
