/* How fast waves go through each element: the largest |u| + c of its nodes, times `nearness` of it, 1 / Δx.
 * NaN where a node's is. `u` begins with the group. A square root less for each node: what is compared is
 * (|u| + c)² = |u|² + c² + 2 sqrt(|u|² c²). */
#include "model/euler/gas.k.h"

#define NP (M * M)
#define VALUE(c) K_TILE(u, t, 4 * NP)[((c) * NP + i) * LANES + lane]

/* Added to |u|², so that a pressure below zero gives NaN at rest, too. */
#define STILL K_R(1e-30)

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
                    const real flow = volume * volume * (q.mx * q.mx + q.my * q.my);
                    const real sound = GAMMA * volume * pressure_of(q, volume);
                    K_L(most) = larger(K_L(most), flow + sound + K_R(2) * K_SQRT((flow + STILL) * sound));
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
            K_LANE K_TILE(rate, t, 1)[i * LANES + lane] = K_SQRT(K_L(most)) * K_TILE(nearness, t, 1)[lane];
        }
        K_SYNC;
    }
}
