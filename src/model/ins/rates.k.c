/* How fast it goes through triangles: the largest of |n·w|/height over nodes, and what is given at boundaries, of
 * each element, and over its faces with their normals n and the heights of the element over them.
 *
 *     rate   NaN where w is at a node
 *
 * Bytes for an element, of `real`s: reads 2 NP + 10 and 12 bytes of neighbours' numbers, writes 1. */
#include "model/ins/sides.k.h"

/* Half of sJ/J: a height is twice the area over the length of a face. */
#define THROUGH(f, a, b) \
    K_ABS(NORMAL_X(f) * (a) + NORMAL_Y(f) * (b)) * (K_R(0.5) * FACE_SIZE(f) / GEOMETRY(0))

/* The larger of two, or NaN if one is NaN. */
K_FUNC real larger(real a, real b)
{
    return a > b || a != a ? a : b;
}

#define ANY_FACE(a, b) larger(larger(THROUGH(0, a, b), THROUGH(1, a, b)), THROUGH(2, a, b))

K_KERNEL(rates, K_IN(real, u, NP *LANES), K_IN(real, v, NP *LANES), K_IN(i32, beyond, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, kinds),
         K_IN(real, given), K_OUT(real, rate, LANES))
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
                    const real a = K_TILE(u, t, NP)[i * LANES + lane];
                    const real b = K_TILE(v, t, NP)[i * LANES + lane];
                    K_L(most) = larger(K_L(most), ANY_FACE(a, b));
                }
            for (int i = part; i < POINTS; i += PARTS)
                K_LANE
                {
                    const i32 slot = K_TILE(beyond, t, 3)[i / NFP * LANES + lane];
                    const i64 at = first_value(K_MAX(-1 - slot, 0), 0, 2 * NFP, LANES) + i % NFP * LANES;
                    const i64 what = kinds[K_MAX(-slot, 0)];
                    const real a = given[at], b = given[at + NFP * LANES];
                    const real here = ANY_FACE(a, b);
                    K_L(most) = larger(K_L(most), what == GIVEN ? here : K_R(0));
                }
            K_LANE fastest[part][lane] = K_L(most);
        }
        K_SYNC;
        K_ROWS(one, 1)
        {
            K_LANEVAR(real, most);
            K_LANE K_L(most) = 0;
            for (int part = 0; part < PARTS; part++)
                K_LANE K_L(most) = larger(K_L(most), fastest[part][lane]);
            K_LANE K_TILE(rate, t, 1)[one * LANES + lane] = K_L(most);
        }
        K_SYNC;
    }
}
