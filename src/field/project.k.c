/* Pointwise steps of the L2 projection on curved elements; project.c has the method.
 *
 * A launch has a tile for every ROWS rows. */

/* At points, v [tiles][components][count] becomes J (f - v). */
K_KERNEL(residual, K_VAL(i64, rows), K_VAL(i32, components), K_VAL(i32, count), K_IN(f64, jacobian),
         K_IN(f64, f), K_INOUT(f64, v))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) {
                const i64 j = row / ((i64)components * count) * count + row % count;
                K_LANE v[row * LANES + lane] =
                    jacobian[j * LANES + lane] * (f[row * LANES + lane] - v[row * LANES + lane]);
            }
        }
    }
}

/* At points, v becomes v / J. */
K_KERNEL(divide, K_VAL(i64, rows), K_VAL(i32, components), K_VAL(i32, count), K_IN(f64, jacobian),
         K_INOUT(f64, v))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) {
                const i64 j = row / ((i64)components * count) * count + row % count;
                K_LANE v[row * LANES + lane] /= jacobian[j * LANES + lane];
            }
        }
    }
}

/* Of coefficients: d = a d + b z, u = u + d. */
K_KERNEL(advance, K_VAL(i64, rows), K_VAL(f64, a), K_VAL(f64, b), K_IN(f64, z), K_INOUT(f64, d),
         K_INOUT(f64, u))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) K_LANE
                {
                    const i64 at = row * LANES + lane;
                    const f64 next = a * d[at] + b * z[at];
                    d[at] = next;
                    u[at] += next;
                }
        }
    }
}
