/* Products of a table with the values of many tiles, and the way between a field's precision and
 * f64.
 *
 * All sizes are arguments, so that one binary serves every degree: these kernels run at set-up and
 * in measurements, where compiling for each size would cost more than it gains. A launch has a tile
 * for every ROWS rows of the result. */

/* Row (o*m + i)*s + l of y is the sum over j of table[i][j] times row (o*k + j)*s + l of x, which
 * starts at its row x_first: a dense product (s = 1, o counts fields), or one direction of a tensor
 * element as in K_GEMM_LINES. */
K_KERNEL(product, K_VAL(i64, rows), K_VAL(i32, m), K_VAL(i32, k), K_VAL(i32, s), K_IN(f64, table),
         K_VAL(i64, x_first), K_IN(f64, x), K_OUT(f64, y))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) {
                const i64 line = row / s, step = (i64)s * LANES;
                const i64 a = line % m * k, first = (x_first + line / m * k * s + row % s) * LANES;
                K_LANEVAR(f64, sum);
                K_LANE K_L(sum) = 0;
                for (int j = 0; j < k; j++)
                    K_LANE K_L(sum) += table[a + j] * x[first + j * step + lane];
                K_LANE y[row * LANES + lane] = K_L(sum);
            }
        }
    }
}

/* Rows of a field, from its row `first` on, as f64. */
K_KERNEL(load, K_VAL(i64, rows), K_VAL(i64, first), K_IN(real, field), K_OUT(f64, values))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) K_LANE values[row * LANES + lane] = field[(first + row) * LANES + lane];
        }
    }
}

/* The reverse: values rounded to the field's precision. */
K_KERNEL(store, K_VAL(i64, rows), K_VAL(i64, first), K_IN(f64, values), K_OUT(real, field))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows)
                K_LANE field[(first + row) * LANES + lane] = (real)values[row * LANES + lane];
        }
    }
}
