/* The slopes of the means of cells.k.c along both directions, per cell: [tile][2][4][M*M][lane], half the
 * difference of the cells before and behind, or if LIMITED the smaller difference to them (minmod).
 * Momenta are those of space, whichever way a neighbour is turned. */
#include "field/trace.k.h"
#include "model/euler/gas.k.h"
#include "model/euler/boundary.k.h"
#include "model/euler/cells.k.h"

#define DEEP 1
#define ALL (M + 2 * DEEP)

K_FUNC real slope_of(real back, real at, real ahead)
{
#if LIMITED
    return minmod(at - back, ahead - at);
#else
    return K_R(0.5) * (ahead - back);
#endif
}

K_KERNEL(slopes, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups),
         K_IN(i32, neighbour, 4 * LANES), K_IN(u8, neighbour_face, 4 * LANES), K_IN(i32, kinds, 1),
         K_IN(i32, runs, 20), K_IN(i32, faces), K_IN(i32, starts), K_IN(f64, nodes, 8 * LANES),
         K_VAL(i64, begin), K_VAL(f64, time), K_OUT(real, out, 8 * M * M * LANES))
{
    K_SHARED(i64, where, 4);
    K_SHARED(i32, pitch, 4);
    K_SHARED(i32, inward, 4);
    K_SHARED(i32, beyond, 4);
    K_TILES(t)
    {
        FIND_CELLS
        for (int d = 0; d < 2; d++) {
            K_ROWS(j, M)
            {
                K_LANEVAR(real, q[4 * ALL]);
                K_LANEVAR(real, nx[2]);
                K_LANEVAR(real, ny[2]);
                FIND_NORMALS(d)
                LOAD_CELLS(q, DEEP, d, j)
                LOAD_BOUNDARIES(q, DEEP, d, NODE(j))
                K_UNROLL for (int c = 0; c < 4; c++) K_UNROLL for (int i = 0; i < M; i++)
                    K_LANE K_TILE(
                        out, t,
                        8 * NP)[((4 * d + ALONG(c, d)) * NP + NODE_OF(d, j, i)) * LANES + lane] =
                        slope_of(K_L(q[c * ALL + i]), K_L(q[c * ALL + i + 1]),
                                 K_L(q[c * ALL + i + 2]));
            }
        }
        K_SYNC;
    }
}
