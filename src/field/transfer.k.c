/* Values of one space from those of another on the same mesh: each output row of lanes is a row of
 * a matrix times the values of the elements, wherever they lie in the other field.
 *
 * A "tile" of this kernel is one row: t = (tile * components + c) * np + i. Lanes whose element
 * lies in a group of the other field that does not take part keep what they had. */
#include "field/trace.k.h"

K_KERNEL(transfer, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups), K_IN(i32, takes_part),
         K_IN(i32, slot), K_IN(f64, matrix), K_VAL(i32, np), K_VAL(i32, np_from),
         K_VAL(i32, components), K_INOUT(real, out, LANES))
{
    K_TILES(t)
    {
        const i64 tile = t / (components * np);
        const i32 c = (i32)(t / np % components), i = (i32)(t % np);
        K_ROWS(row, 1)
        {
            K_LANEVAR(i32, known);
            K_LANEVAR(i32, lanes);
            K_LANEVAR(i64, first);
            K_LANEVAR(real, sum);
            K_LANE
            {
                const i32 s = slot[tile * LANES + lane], group = SLOT_GROUP(block_groups, s);
                K_L(known) = takes_part[group] != 0;
                K_L(lanes) = K_L(known) ? GROUP_LANES(layout, group) : 0;
                K_L(first) = K_L(known) ? FIRST_VALUE(layout, group, s, components) : 0;
                K_L(sum) = 0;
            }
            for (int j = 0; j < np_from; j++) {
                const real a = (real)matrix[i * np_from + j];
                K_LANE K_L(sum) += a * u[K_L(first) + (i64)(c * np_from + j) * K_L(lanes)];
            }
            K_LANE
            {
                const real kept = K_TILE(out, t, 1)[lane];
                K_TILE(out, t, 1)[lane] = K_L(known) ? K_L(sum) : kept;
            }
        }
    }
}
