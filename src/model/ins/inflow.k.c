/* How steep the velocity is where it enters: w·∇w of the elements at boundary faces, at the faces' nodes.
 *
 *     slots, sides  [tiles of boundary faces][lanes] the element's place and which of its faces it is
 *     slopes        [Dr; Ds]
 *
 * Of each boundary face 2 NP + 4 `real`s are read, 2 NFP written; 8 NP² flops. */
#include "field/trace.k.h"

K_KERNEL(trace_slopes, K_IN(real, u), K_IN(real, v), K_VAL(i64, begin), K_IN(i32, slots, LANES),
         K_IN(i32, sides, LANES), K_IN(real, geometry), K_IN(i32, own_node), K_OP(slopes, 2 * NP, NP),
         K_OUT(real, out, 2 * NFP *LANES))
{
    K_SHARED(i64, where, 1); /* the element's geometry */
    K_SHARED(i64, side, 1);  /* as wide as the values it chooses */
    K_SHARED(real, x, 2 * NP);
    K_SHARED(real, d, 4 * NP);
    K_TILES(t)
    {
        K_NODES(i, 1)
        {
            where[i][lane] = first_value(K_TILE(slots, t, 1)[lane], 0, 5, LANES);
            side[i][lane] = K_TILE(sides, t, 1)[lane];
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
            x[i][lane] = r * d[i][lane] + s * d[NP + i][lane];
            x[NP + i][lane] = r * d[2 * NP + i][lane] + s * d[3 * NP + i][lane];
        }
        K_SYNC;
        K_ROWS(i, 2 * NFP)
        {
            const int first = i / NFP * NP, p = i % NFP;
            const int bottom = first + own_node[p], slope = first + own_node[NFP + p];
            const int left = first + own_node[2 * NFP + p];
            K_LANE
            {
                const real a = x[bottom][lane], b = x[slope][lane], c = x[left][lane];
                const i64 which = side[0][lane];
                const real upper = which == 1 ? b : c;
                K_TILE(out, t, 2 * NFP)[i * LANES + lane] = which == 0 ? a : upper;
            }
        }
    }
}
