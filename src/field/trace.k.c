/* Values on both sides of every face of a group's elements, at the points of an eg_trace.
 *
 * Results are [tile][COMPONENTS][FACES][COUNT][lane], points numbered as my face has them. `node`
 * and `weight` are a table of the trace, of TERMS terms; without WEIGHTED the weights are not read.
 *
 * A group's neighbours may be of several kinds, each with a trace of its own. `neighbour_trace`
 * fills in what lies next to the groups whose `takes_part` is not 0, and leaves the rest, and
 * boundary faces, as they are. */
#include "field/trace.k.h"

#define POINTS (FACES * COUNT)

K_KERNEL(neighbour_trace, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups),
         K_IN(i32, takes_part), K_IN(i32, neighbour, FACES *LANES),
         K_IN(u8, neighbour_face, FACES *LANES), K_IN(i32, node), K_IN(f64, weight),
         K_INOUT(real, trace, COMPONENTS *FACES *COUNT *LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, POINTS)
        {
            const int f = i / COUNT, point = i % COUNT;
            K_LANEVAR(i32, side);
            K_LANEVAR(i32, known); /* does the neighbour take part? */
            K_LANEVAR(i32, lanes);
            K_LANEVAR(i32, np);
            K_LANEVAR(i64, first);
            K_LANE
            {
                const i32 byte = K_TILE(neighbour_face, t, FACES)[f * LANES + lane];
                K_L(side) = (byte & 7) * ORIENTATIONS + (byte >> 3);
            }
            K_LANE
            {
                const i32 slot = K_TILE(neighbour, t, FACES)[f * LANES + lane];
                const i32 inside = K_MAX(slot, 0), group = SLOT_GROUP(block_groups, inside);
                const i64 begin = FIRST_VALUE(layout, group, inside, COMPONENTS);
                const i32 rows = GROUP_NP(layout, group), row = GROUP_LANES(layout, group);
                const i32 takes = takes_part[group];
                K_L(known) = (slot >= 0) & (takes != 0);
                K_L(side) = K_L(known) ? K_L(side) : 0;
                K_L(np) = K_L(known) ? rows : 0;
                K_L(lanes) = K_L(known) ? row : 0; /* unknown ones read value 0 and drop it */
                K_L(first) = K_L(known) ? begin : 0;
            }
            for (int c = 0; c < COMPONENTS; c++) {
                K_LANEVAR(real, sum);
                K_LANE K_L(sum) = 0;
                for (int j = 0; j < TERMS; j++)
                    K_LANE
                    {
                        const i32 at = (K_L(side) * COUNT + point) * TERMS + j;
                        const real value =
                            u[K_L(first) + (i64)(c * K_L(np) + node[at]) * K_L(lanes)];
#if WEIGHTED
                        K_L(sum) += (real)weight[at] * value;
#else
                        K_L(sum) += value;
#endif
                    }
                K_LANE
                {
                    const i64 at = (c * POINTS + i) * LANES + lane;
                    const real kept = K_TILE(trace, t, COMPONENTS * POINTS)[at];
                    K_TILE(trace, t, COMPONENTS * POINTS)[at] = K_L(known) ? K_L(sum) : kept;
                }
            }
        }
    }
}

/* u is this group's part of the field. */
K_KERNEL(own_trace, K_IN(real, u, COMPONENTS *NP *LANES), K_IN(i32, node), K_IN(f64, weight),
         K_OUT(real, trace, COMPONENTS *FACES *COUNT *LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, POINTS)
        for (int c = 0; c < COMPONENTS; c++) {
            K_LANEVAR(real, sum);
            K_LANE K_L(sum) = 0;
            for (int j = 0; j < TERMS; j++) {
                const int row = c * NP + node[i * TERMS + j];
#if WEIGHTED
                const real w = (real)weight[i * TERMS + j];
#else
                const real w = 1;
#endif
                K_LANE K_L(sum) += w * K_TILE(u, t, COMPONENTS * NP)[row * LANES + lane];
            }
            K_LANE K_TILE(trace, t, COMPONENTS * POINTS)[(c * POINTS + i) * LANES + lane] =
                K_L(sum);
        }
    }
}
