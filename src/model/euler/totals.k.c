/* ∫ of one component over each element by the quadrature of its nodes, in which the schemes conserve it
 * (totals.c): Σ w_i w_j J_ij q_ij. Padding, whose `active` is 0, has none. `u` begins with the group;
 * of rectangles J is `jacobian`. */
#define NODE(i) line[i]
#define WEIGHT(i) line[M + (i)]
#include "model/euler/shape.k.h"

K_KERNEL(totals, K_IN(f64, u, 4 *M *M *LANES), K_IN(f64, active, LANES),
         K_IN(f64, nodes, 2 * (ORDER + 1) * (ORDER + 1) * LANES), K_IN(f64, metric, METRIC_ROWS *LANES),
         K_IN(f64, line), K_VAL(f64, jacobian), K_VAL(i32, component), K_OUT(f64, sum, LANES))
{
    K_TILES(t)
    {
        K_ROWS(one, 1)
        {
            K_LANEVAR(f64, all);
            K_LANE K_L(all) = 0;
            for (int j = 0; j < M; j++)
                for (int i = 0; i < M; i++) {
                    K_GLOBAL const f64 *row =
                        K_TILE(u, t, 4 * M * M) + (component * M * M + j * M + i) * LANES;
                    K_LANE K_L(all) += WEIGHT(i) * WEIGHT(j) * row[lane] / INVERSE(i, j);
                }
            K_LANE K_TILE(sum, t, 1)[one * LANES + lane] =
                K_TILE(active, t, 1)[lane] != 0 ? jacobian * K_L(all) : 0;
        }
    }
}
