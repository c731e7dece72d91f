/* How fast it goes through triangles: the largest of |n·w|/height over nodes, and what is given at boundaries, of
 * each element, and over its faces with their normals n and the heights of the element over them.
 *
 *     rate   NaN where w is not finite at a node: a maximum passes over NaN, and what is `lost` does not
 *
 * Bytes for an element, of `real`s: reads 2 NP + 10 and 12 bytes of neighbours' numbers, writes 1. */
#include "model/ins/sides.k.h"

/* `across`: n/height of each face, x and y. A height is twice the area over the length of a face: half of
 * sJ/J is one over it. */
#define THROUGH(f, a, b) K_ABS(across[2 * (f)][lane] * (a) + across[2 * (f) + 1][lane] * (b))

K_FUNC real larger(real a, real b)
{
    return a > b ? a : b;
}

#define ANY_FACE(a, b) larger(larger(THROUGH(0, a, b), THROUGH(1, a, b)), THROUGH(2, a, b))

K_KERNEL(rates, K_IN(real, u, NP *LANES), K_IN(real, v, NP *LANES), K_IN(i32, beyond, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, kinds),
         K_IN(real, given), K_OUT(real, rate, LANES))
{
    K_SHARED(real, across, 6);
    K_SHARED(i64, data, 3);
    K_SHARED(i64, kind, 3);
    K_SHARED(real, fastest, PARTS);
    K_TILES(t)
    {
        K_NODES(f, 3)
        {
            const i32 slot = K_TILE(beyond, t, 3)[f * LANES + lane];
            const real over_height = K_R(0.5) * FACE_SIZE(f) / GEOMETRY(0);
            across[2 * f][lane] = NORMAL_X(f) * over_height;
            across[2 * f + 1][lane] = NORMAL_Y(f) * over_height;
            data[f][lane] = first_value(K_MAX(-1 - slot, 0), 0, 2 * NFP, LANES);
            kind[f][lane] = kinds[K_MAX(-slot, 0)];
        }
        K_SYNC;
        K_ROWS(part, PARTS)
        {
            K_LANEVAR(real, most);
            K_LANEVAR(real, lost);
            K_LANE K_L(most) = K_L(lost) = 0;
            for (int i = part; i < NP; i += PARTS)
                K_LANE
                {
                    const real a = K_TILE(u, t, NP)[i * LANES + lane];
                    const real b = K_TILE(v, t, NP)[i * LANES + lane];
                    const real here = ANY_FACE(a, b);
                    K_L(most) = larger(here, K_L(most));
                    K_L(lost) += K_R(0) * here;
                }
            for (int i = part; i < POINTS; i += PARTS)
                K_LANE
                {
                    const i64 at = data[i / NFP][lane] + i % NFP * LANES;
                    const real a = given[at], b = given[at + NFP * LANES];
                    const real here = kind[i / NFP][lane] == GIVEN ? ANY_FACE(a, b) : K_R(0);
                    K_L(most) = larger(here, K_L(most));
                    K_L(lost) += K_R(0) * here;
                }
            K_LANE fastest[part][lane] = K_L(most) + K_L(lost);
        }
        K_SYNC;
        K_ROWS(one, 1)
        {
            K_LANEVAR(real, most);
            K_LANEVAR(real, lost);
            K_LANE K_L(most) = K_L(lost) = 0;
            for (int part = 0; part < PARTS; part++)
                K_LANE
                {
                    K_L(most) = larger(fastest[part][lane], K_L(most));
                    K_L(lost) += K_R(0) * fastest[part][lane];
                }
            K_LANE K_TILE(rate, t, 1)[one * LANES + lane] = K_L(most) + K_L(lost);
        }
        K_SYNC;
    }
}
