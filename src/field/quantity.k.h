/* Quantities at points: the kernel of eg_quantity, which puts before this file a K_FUNC for each
 * expression and
 *
 *     #define VALUES VALUE(0, value_0(X(0), K_R(0.0), …, U(0), SLOPE(0, 1))) VALUE(1, …) …
 *
 * of coordinates X(d), outward unit normals NORMAL(d), components U(k) and their derivatives
 * SLOPE(k, d) along coordinate d. x is [tiles][DIM][count][LANES], u and its derivatives u_r, u_s,
 * u_t along the reference coordinates are [tiles][USED][count][LANES], values
 * [tiles][QUANTITIES][count][LANES]. normals [tiles][DIM + 1] (the last is the measure) and metric
 * [tiles][1 + DIM*DIM] (J, ∂r/∂x, ∂r/∂y, …) have `metric_points` points: count, or 1 on affine
 * elements. What no expression uses is not read. A launch has a tile for every ROWS rows, which
 * number tiles and points. */

#define AT_POINT(row, rows) (((tile * (rows) + (row)) * count + q) * LANES + lane)
#define AT_METRIC(row, rows) (((tile * (rows) + (row)) * metric_points + m) * LANES + lane)

#define X(d) (x[AT_POINT(d, DIM)])
#define NORMAL(d) (normals[AT_METRIC(d, DIM + 1)])
#define U(k) (u[AT_POINT(k, USED)])
#define INVERSE(r, d) (metric[AT_METRIC(1 + (r)*DIM + (d), 1 + DIM * DIM)])
#if DIM == 2
#define SLOPE(k, d)                                                                                \
    (INVERSE(0, d) * u_r[AT_POINT(k, USED)] + INVERSE(1, d) * u_s[AT_POINT(k, USED)])
#else
#define SLOPE(k, d)                                                                                \
    (INVERSE(0, d) * u_r[AT_POINT(k, USED)] + INVERSE(1, d) * u_s[AT_POINT(k, USED)] +             \
     INVERSE(2, d) * u_t[AT_POINT(k, USED)])
#endif
#define VALUE(i, value) values[AT_POINT(i, QUANTITIES)] = value;

K_KERNEL(quantities, K_VAL(i64, rows), K_VAL(i32, count), K_VAL(i32, metric_points),
         K_VAL(f64, time), K_IN(f64, x), K_IN(f64, normals), K_IN(f64, metric), K_IN(f64, u),
         K_IN(f64, u_r), K_IN(f64, u_s), K_IN(f64, u_t), K_OUT(f64, values))
{
    K_TILES(k)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)k * ROWS + i;
            if (row < rows) {
                const i64 tile = row / count, q = row % count, m = metric_points > 1 ? q : 0;
                K_LANE
                {
                    VALUES
                }
            }
        }
    }
}
