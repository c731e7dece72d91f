/* How fast waves go through each element: the largest |u| + c of its nodes, times `nearness` of it, 1 / Δx.
 * NaN where a node's is. `u` begins with the group. */
#include "model/euler/gas.k.h"

#define NP (M * M)
#define VALUE(c) K_TILE(u, t, 4 * NP)[((c) * NP + i) * LANES + lane]

/* The larger of two, or NaN if one is NaN. */
K_FUNC real larger(real a, real b)
{
    return a > b || a != a ? a : b;
}

K_KERNEL(speeds, K_IN(real, u, 4 *M *M *LANES), K_IN(f64, nearness, LANES), K_OUT(real, rate, LANES))
{
    K_SHARED(real, fastest, PARTS);
    K_TILES(t)
    {
        K_ROWS(part, PARTS)
        {
            K_LANEVAR(real, most);
            K_LANE K_L(most) = 0;
            for (int i = part; i < NP; i += PARTS)
                K_LANE
                {
                    const state q = state_of(VALUE(0), VALUE(1), VALUE(2), VALUE(3));
                    const real volume = K_R(1) / q.rho;
                    const real speed = volume * K_SQRT(q.mx * q.mx + q.my * q.my) +
                                       sound_of(pressure_of(q, volume), volume);
                    K_L(most) = larger(K_L(most), speed);
                }
            K_LANE fastest[part][lane] = K_L(most);
        }
        K_SYNC;
        K_ROWS(i, 1)
        {
            K_LANEVAR(real, most);
            K_LANE K_L(most) = fastest[0][lane];
            for (int part = 1; part < PARTS; part++)
                K_LANE K_L(most) = larger(K_L(most), fastest[part][lane]);
            K_LANE K_TILE(rate, t, 1)[i * LANES + lane] = K_L(most) * K_TILE(nearness, t, 1)[lane];
        }
        K_SYNC;
    }
}
