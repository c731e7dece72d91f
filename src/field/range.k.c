/* The range of values [tiles][components][count][LANES] of one component over each element. `below` is
 * minus the least, so that both are maxima; NaN are kept. A launch has a tile for every ROWS tiles. */

/* The larger of two, or NaN if one is NaN. */
K_FUNC f64 larger(f64 a, f64 b)
{
    return a > b || a != a ? a : b;
}

K_KERNEL(range, K_VAL(i64, rows), K_VAL(i32, components), K_VAL(i32, component), K_VAL(i32, count),
         K_IN(f64, values), K_OUT(f64, below), K_OUT(f64, above))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) {
                const i64 first = (row * components + component) * count;
                K_LANEVAR(f64, low);
                K_LANEVAR(f64, high);
                K_LANE K_L(low) = K_L(high) = values[first * LANES + lane];
                K_LANE K_L(low) = -K_L(low);
                for (int q = 1; q < count; q++)
                    K_LANE
                    {
                        const f64 value = values[(first + q) * LANES + lane];
                        K_L(low) = larger(K_L(low), -value);
                        K_L(high) = larger(K_L(high), value);
                    }
                K_LANE below[row * LANES + lane] = K_L(low);
                K_LANE above[row * LANES + lane] = K_L(high);
            }
        }
    }
}
