/* How a kernel finds the values of an element, a neighbour say, by its slot.
 *
 * A kernel that does so has among its arguments the whole field and where its groups lie,
 *     K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups)
 * (eg_field.data and .layout, eg_space.block_groups), and for neighbours also
 *     K_IN(i32, neighbour, FACES *LANES), K_IN(u8, neighbour_face, FACES *LANES).
 * Value i of component c of the element at `slot` is then
 *     u[FIRST_VALUE(layout, group, slot, components) + (c * np + i) * lanes]
 * with group = SLOT_GROUP(block_groups, slot), np = GROUP_NP(layout, group) and lanes =
 * GROUP_LANES(layout, group), which may all differ from lane to lane.
 *
 * Bytes are widened in a lane loop of their own: beside them compilers use an eighth of each
 * register for real values, or none of it. */

/* As EG_SLOT_BLOCK. */
#define SLOT_GROUP(block_groups, slot) ((block_groups)[(slot) / 64])

#define GROUP_NP(layout, group) ((i32)(layout)[(group) * 4 + 2])
#define GROUP_LANES(layout, group) ((i32)(layout)[(group) * 4 + 3])
#define FIRST_VALUE(layout, group, slot, components) \
    first_value((slot) - (i32)(layout)[(group) * 4], (layout)[(group) * 4 + 1], \
                (components) * GROUP_NP(layout, group), GROUP_LANES(layout, group))

/* Where place `place` of a group begins that has `rows` rows of `lanes` (a power of two) per
 * tile. */
K_FUNC i64 first_value(i32 place, i64 offset, i32 rows, i32 lanes)
{
    const i32 lane_of_place = place & (lanes - 1);
    return offset + (i64)(place - lane_of_place) * rows + lane_of_place;
}

/* On a CPU what comes next is asked for in time, and a little at a time: of what is asked for all at once processors
 * forget most. Inside K_VECTORS, in a loop over i from 0 to n: rows i, i + n, … of the `rows` that a tile has at p;
 * FETCH_SHARE: of the tile that is TILES_AHEAD behind it. */
#define TILES_AHEAD 2
#define FETCH_ROWS(p, rows, i, n) \
    K_UNROLL for (int turn = 0; turn * (n) < (rows); turn++) \
        if (i + turn * (n) < (rows)) K_FETCH((p) + (i + turn * (n)) * LANES + lane);
#define FETCH_SHARE(p, rows, i, n) FETCH_ROWS((p) + TILES_AHEAD * (rows) * LANES, rows, i, n)
