/* How fast it goes through elements: the largest of Σ_d |b·∇r_d| / 2 over points of each, times `times`.
 *
 *     points  [Q] points of a line; those of an element and its faces are looked at
 *     rate    NaN where b is at a point */
#include "model/advection/advection.k.h"

#define LINE (Q + 2)
#define IS_END(i) ((i) == 0 || (i) == LINE - 1)
#define AT(i) ((i) == 0 ? K_R(-1) : (i) == LINE - 1 ? K_R(1) : points[(i) - 1])

/* The larger of two, or NaN if one is NaN. */
K_FUNC real larger(real a, real b)
{
    return a > b || a != a ? a : b;
}

K_KERNEL(speeds, K_IN(f64, nodes, DIM *CORNERS *LANES), K_IN(real, points), K_VAL(f64, time),
         K_VAL(f64, times), K_OUT(real, rate, LANES))
{
    K_SHARED(real, fastest, PARTS);
    K_TILES(t)
    {
        K_ROWS(part, PARTS)
        {
            K_LANEVAR(real, most);
            K_LANE K_L(most) = 0;
            for (int i = part; i < (DIM == 3 ? LINE * LINE * LINE : LINE * LINE); i += PARTS) {
                const int i0 = i % LINE, i1 = i / LINE % LINE, i2 = DIM == 3 ? i / (LINE * LINE) : 1;
                const real r0 = AT(i0), r1 = AT(i1), r2 = DIM == 3 ? AT(i2) : 0;
                /* Nothing is integrated at corners and edges: b may be infinite there. */
                if (IS_END(i0) + IS_END(i1) + IS_END(i2) > 1) continue;
                K_LANE
                {
                    const real x = PLACE(0, r0, r1, r2), y = PLACE(1, r0, r1, r2);
                    const real z = DIM == 3 ? PLACE(DIM - 1, r0, r1, r2) : 0;
                    const vector e = TANGENT(0, r0, r1, r2), f = TANGENT(1, r0, r1, r2);
                    const vector g = TANGENT(2, r0, r1, r2), b = VELOCITY(x, y, z, time);
                    const real sum = K_ABS(product_of(cross_of(f, g), b)) +
                                     K_ABS(product_of(cross_of(g, e), b)) +
                                     (DIM == 3 ? K_ABS(product_of(cross_of(e, f), b)) : K_R(0));
                    K_L(most) = larger(K_L(most), sum / product_of(e, cross_of(f, g)));
                }
            }
            K_LANE fastest[part][lane] = K_L(most);
        }
        K_SYNC;
        K_ROWS(i, 1)
        {
            K_LANEVAR(real, most);
            K_LANE K_L(most) = 0;
            for (int part = 0; part < PARTS; part++)
                K_LANE K_L(most) = larger(K_L(most), fastest[part][lane]);
            K_LANE K_TILE(rate, t, 1)[i * LANES + lane] = K_R(0.5) * times * K_L(most);
        }
        K_SYNC;
    }
}
