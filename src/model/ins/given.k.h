/* Values that a case gives on boundaries, at the points of boundary faces: the kernel of eg_ins_data,
 * which puts before this file K_FUNCs and
 *
 *     #define VALUES(b, x, y, t) VALUE(0, …) VALUE(1, …) …   of the component's expression at boundary b
 *
 * x is [tiles][2][Q][LANES], boundaries [tiles][LANES], values [tiles][COMPONENTS][Q][LANES]. */

#define VALUE(c, value) K_TILE(values, tile, COMPONENTS *Q)[((c) * Q + i) * LANES + lane] = value;

K_KERNEL(evaluate, K_IN(f64, x, 2 * Q *LANES), K_IN(i32, boundaries, LANES), K_VAL(f64, time),
         K_OUT(f64, values, COMPONENTS *Q *LANES))
{
    K_TILES(tile)
    {
        K_NODES(i, Q)
        {
            const f64 px = K_TILE(x, tile, 2 * Q)[i * LANES + lane];
            const f64 py = K_TILE(x, tile, 2 * Q)[(Q + i) * LANES + lane];
            const i32 b = K_TILE(boundaries, tile, 1)[lane];
            VALUES(b, px, py, time)
        }
    }
}
