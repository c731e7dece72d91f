/* How fast elements empty: 1 over the largest step after which the mean of each is within the bounds of
 * its values; limiter.c has the method.
 *
 *     places  [T] points of a line of a face
 *     rate    Σ over directions of the largest b·∇r_d outwards at points of its two faces, over the weight
 *             2/(NL (NL - 1)) of an end; RULES > 1: faces may have different points, and the rates of both
 *             are added */
#include "model/advection/advection.k.h"

K_KERNEL(rates, K_IN(f64, nodes, DIM *CORNERS *LANES), K_IN(real, places), K_VAL(f64, time),
         K_OUT(real, rate, LANES))
{
    K_SHARED(real, fastest, FACES);
    K_TILES(t)
    {
        K_ROWS(e, FACES)
        {
            const int d = e / 2;
            const real end = e % 2 ? K_R(1) : K_R(-1);
            K_LANEVAR(real, outwards);
            K_LANE K_L(outwards) = 0;
            for (int i = 0; i < (DIM == 3 ? T * T : T); i++) {
                const real s1 = places[i % T], s2 = places[i / T];
                const real r0 = d == 0 ? end : s1, r1 = d == 0 ? s1 : d == 1 ? end : s2;
                const real r2 = d == 2 ? end : s2;
                K_LANE
                {
                    const real x = PLACE(0, r0, r1, r2), y = PLACE(1, r0, r1, r2);
                    const real z = DIM == 3 ? PLACE(DIM - 1, r0, r1, r2) : 0;
                    const vector area =
                        area_of(d, TANGENT(0, r0, r1, r2), TANGENT(1, r0, r1, r2), TANGENT(2, r0, r1, r2));
                    const real speed = end * product_of(area, VELOCITY(x, y, z, time)) /
                                       JACOBIAN(r0, r1, r2);
                    K_L(outwards) = speed > K_L(outwards) ? speed : K_L(outwards);
                }
            }
            K_LANE fastest[e][lane] = K_L(outwards);
        }
        K_SYNC;
        K_ROWS(i, 1)
        {
            K_LANEVAR(real, sum);
            K_LANE K_L(sum) = 0;
            for (int d = 0; d < DIM; d++)
                K_LANE
                {
                    const real low = fastest[2 * d][lane], high = fastest[2 * d + 1][lane];
                    K_L(sum) += RULES == 1 ? K_MAX(low, high) : low + high;
                }
            K_LANE K_TILE(rate, t, 1)[i * LANES + lane] = K_R(0.5) * (NL * (NL - 1)) * K_L(sum);
        }
    }
}
