/* Values of expressions at points: the kernel of eg_function, which puts before this file a K_FUNC
 * for each expression and
 *
 *     #define VALUES(x, y, z, t) VALUE(0, value_0(x, y, z, t)) VALUE(1, …) …
 *
 * x is [tiles][DIM][count][LANES], values [tiles][COMPONENTS][count][LANES]; z is 0 in the plane. A
 * launch has a tile for every ROWS rows, which number tiles and points. */

#define COORDINATE(d) (x[((tile * DIM + (d)) * count + q) * LANES + lane])
#define VALUE(c, value) values[((tile * COMPONENTS + (c)) * count + q) * LANES + lane] = value;

K_KERNEL(evaluate, K_VAL(i64, rows), K_VAL(i32, count), K_VAL(f64, time), K_IN(f64, x),
         K_OUT(f64, values))
{
    K_TILES(k)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)k * ROWS + i;
            if (row < rows) {
                const i64 tile = row / count, q = row % count;
                K_LANE
                {
                    const f64 px = COORDINATE(0), py = COORDINATE(1);
                    const f64 pz = DIM == 3 ? COORDINATE(DIM - 1) : 0;
                    VALUES(px, py, pz, time)
                }
            }
        }
    }
}
