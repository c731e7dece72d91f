/* What is carried in through boundaries, at the nodes of boundary faces: the velocity w there, where it flows out that
 * of the element, else what is given; and how steep it is, w·∇w of the element.
 *
 * Slopes at a boundary that act back on the flow would make it grow where a step is long: beyond `most`
 * diameters of what the polynomials resolve, |w| dt N²/height, they are cut in proportion.
 *
 *     slots, sides  [tiles of boundary faces][lanes] the element's place and which of its faces it is
 *     slopes        [Dr; Ds]
 *
 * Of each boundary face 2 NP + 2 NFP + 6 `real`s are read, 4 NFP written; 8 NP² flops. */
#include "model/ins/sides.k.h"

#define RESOLVED (K_R(0.5) * (NFP - 1) * (NFP - 1)) /* times sJ/J: N² over the element's height */

K_KERNEL(inflow, K_IN(real, u), K_IN(real, v), K_VAL(i64, begin), K_IN(i32, slots, LANES),
         K_IN(i32, sides, LANES), K_IN(i32, kinds), K_IN(real, given, 2 * NFP *LANES),
         K_IN(real, geometry), K_IN(real, faces), K_IN(i32, own_node), K_OP(slopes, 2 * NP, NP),
         K_VAL(real, dt), K_VAL(real, most), K_OUT(real, values, 2 * NFP *LANES),
         K_OUT(real, steep, 2 * NFP *LANES))
{
    K_SHARED(i64, where, 1); /* the element's geometry */
    K_SHARED(i64, side, 1);  /* as wide as the values they choose */
    K_SHARED(i64, kind, 1);
    K_SHARED(real, resolved, 1); /* N² over the element's height */
    K_SHARED(real, x, 2 * NP);
    K_SHARED(real, d, 4 * NP);
    K_TILES(t)
    {
        K_NODES(i, 1)
        {
            const i32 slot = K_TILE(slots, t, 1)[lane];
            const i64 face = first_value(slot, 0, 9, LANES) + (3 * K_TILE(sides, t, 1)[lane] + 2) * LANES;
            where[i][lane] = first_value(slot, 0, 5, LANES);
            resolved[i][lane] = RESOLVED * faces[face] / geometry[first_value(slot, 0, 5, LANES)];
            side[i][lane] = K_TILE(sides, t, 1)[lane];
            kind[i][lane] = kinds[1 + t * LANES + lane];
        }
        K_NODES(i, NP)
        {
            const i64 at = first_value(K_TILE(slots, t, 1)[lane], begin, NP, LANES) + i * LANES;
            x[i][lane] = u[at];
            x[NP + i][lane] = v[at];
        }
        K_SYNC;
        K_GEMM_LINES(2 * NP, NP, 1, 2, slopes, K_S(x), K_S(d));
        K_SYNC;
        K_NODES(i, NP)
        {
            const i64 at = where[0][lane];
            const real a = x[i][lane], b = x[NP + i][lane];
            const real r = geometry[at + LANES] * a + geometry[at + 2 * LANES] * b;
            const real s = geometry[at + 3 * LANES] * a + geometry[at + 4 * LANES] * b;
            const real passed = K_SQRT(a * a + b * b) * dt * resolved[0][lane];
            const real part = passed > most ? most / passed : K_R(1);
            d[i][lane] = part * (r * d[i][lane] + s * d[NP + i][lane]);
            d[NP + i][lane] = part * (r * d[2 * NP + i][lane] + s * d[3 * NP + i][lane]);
        }
        K_SYNC;
        K_ROWS(i, 2 * NFP)
        {
            const int first = i / NFP * NP, p = i % NFP;
            const int bottom = first + own_node[p], slope = first + own_node[NFP + p];
            const int left = first + own_node[2 * NFP + p];
            K_LANE
            {
                const real a = d[bottom][lane], b = d[slope][lane], c = d[left][lane];
                const i64 which = side[0][lane];
                const real upper = which == 1 ? b : c;
                K_TILE(steep, t, 2 * NFP)[i * LANES + lane] = which == 0 ? a : upper;
            }
            K_LANE
            {
                const real a = x[bottom][lane], b = x[slope][lane], c = x[left][lane];
                const real fixed = K_TILE(given, t, 2 * NFP)[i * LANES + lane];
                const i64 which = side[0][lane];
                const real upper = which == 1 ? b : c, own = which == 0 ? a : upper;
                K_TILE(values, t, 2 * NFP)[i * LANES + lane] = kind[0][lane] == OUTFLOW ? own : fixed;
            }
        }
    }
}
