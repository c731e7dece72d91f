/* Values that a solution begins with are moved to the means of `projected` (start.c), component by
 * component, and scaled towards them so that none is beyond the least and the most of them before, or the
 * mean. Means are by the quadrature of the nodes. Both fields begin with the group. */
#define NODE(i) line[i]
#define WEIGHT(i) line[M + (i)]
#include "model/euler/shape.k.h"

#define NP (M * M)

/* `room` over `reach`, at most 1: what is left of differences to a mean that have room on one side. */
K_FUNC real part_of(real room, real reach)
{
    return reach > room ? room / reach : K_R(1);
}

K_KERNEL(start, K_IN(f64, projected, 4 *M *M *LANES),
         K_IN(f64, nodes, 2 * (ORDER + 1) * (ORDER + 1) * LANES), K_IN(f64, metric, METRIC_ROWS *LANES),
         K_IN(f64, line), K_INOUT(f64, u, 4 *M *M *LANES))
{
    K_TILES(t)
    {
        K_ROWS(c, 4)
        {
            K_GLOBAL f64 *values = K_TILE(u, t, 4 * NP) + c * NP * LANES;
            K_GLOBAL const f64 *others = K_TILE(projected, t, 4 * NP) + c * NP * LANES;
            K_LANEVAR(f64, all);
            K_LANEVAR(f64, mean);
            K_LANEVAR(f64, other);
            K_LANEVAR(f64, least);
            K_LANEVAR(f64, most);
            K_LANEVAR(f64, part);
            K_LANE K_L(all) = K_L(mean) = K_L(other) = 0;
            K_LANE K_L(least) = K_L(most) = values[lane];
            for (int j = 0; j < M; j++)
                for (int i = 0; i < M; i++) {
                    const int at = (j * M + i) * LANES;
                    K_LANE
                    {
                        const f64 share = WEIGHT(i) * WEIGHT(j) / INVERSE(i, j);
                        K_L(all) += share;
                        K_L(mean) += share * values[at + lane];
                        K_L(other) += share * others[at + lane];
                        K_L(least) = K_MIN(K_L(least), values[at + lane]);
                        K_L(most) = K_MAX(K_L(most), values[at + lane]);
                    }
                }
            K_LANE
            {
                K_L(mean) /= K_L(all);
                K_L(other) /= K_L(all);
                const f64 above = part_of(K_MAX(K_L(most) - K_L(other), 0), K_L(most) - K_L(mean));
                const f64 below = part_of(K_MAX(K_L(other) - K_L(least), 0), K_L(mean) - K_L(least));
                K_L(part) = K_MIN(above, below);
            }
            for (int i = 0; i < NP; i++)
                K_LANE values[i * LANES + lane] =
                    K_L(other) + K_L(part) * (values[i * LANES + lane] - K_L(mean));
        }
    }
}
