/* The means of elements, by the quadrature of their nodes, in which the schemes conserve. `u` and `out`
 * begin with the group.
 *
 *     rule   the nodes of a line [M], half their weights [M], and what limit.k.c has more */
#include "model/euler/jacobian.k.h"

#define NP (M * M)
#define NODE(i) rule[i]
#define SHARE(i) rule[M + (i)]

K_KERNEL(means, K_IN(real, u, 4 *M *M *LANES), K_IN(f64, nodes, 8 *LANES), K_IN(real, rule),
         K_OUT(real, out, 4 *LANES))
{
    K_TILES(t)
    {
        K_ROWS(c, 4)
        {
            K_GLOBAL const real *values = K_TILE(u, t, 4 * NP) + c * NP * LANES;
            K_LANEVAR(real, sum);
            K_LANEVAR(real, by_r);
            K_LANEVAR(real, by_s);
            K_LANE
            {
                const incline j = INCLINE;
                K_L(by_r) = CARTESIAN ? K_R(0) : j.by_r;
                K_L(by_s) = CARTESIAN ? K_R(0) : j.by_s;
                K_L(sum) = 0;
            }
            K_UNROLL for (int i = 0; i < NP; i++) {
                const real r = NODE(i % M), s = NODE(i / M), share = SHARE(i % M) * SHARE(i / M);
                K_LANE K_L(sum) += share * (K_R(1) + K_L(by_r) * r + K_L(by_s) * s) *
                                   values[i * LANES + lane];
            }
            K_LANE K_TILE(out, t, 4)[c * LANES + lane] = K_L(sum);
        }
    }
}
