/* Functions as eg_function writes them, for the tests that compile kernels without running them. */

K_FUNC real value_0(real x, real y, real z, real t)
{
    return x * y - K_R(2.0) * z + t;
}

K_FUNC real value_1(real x, real y, real z, real t)
{
    const real k_0 = x < y ? z : t;
    return k_0 * k_0 / (K_R(1.5) + x * x);
}

#define VALUES(x, y, z, t) VALUE(0, value_0(x, y, z, t)) VALUE(1, value_1(x, y, z, t))
#include "field/function.k.h"
