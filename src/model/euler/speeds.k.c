/* How fast waves go through each element: the largest |u| + c of its nodes, times `nearness` of it, 1 / Δx.
 * NaN where a node's is. `u` begins with the group. */
#include "model/euler/speeds.k.h"

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
                K_LANE K_L(most) = larger(K_L(most), speed_squared(squares_of(STATE)));
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
