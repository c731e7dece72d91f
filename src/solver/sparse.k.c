/* Products with a sparse matrix in slices of LANES rows, and the smoothing that works on its
 * rows.
 *
 * Slice t has entries [start[t], start[t + 1]), LANES of each of its columns side by side; tiles
 * of a launch are slices. Filling has value 0 and some valid column. Per entry a product reads
 * its value, 4 bytes of column and a value of x, which caches hold mostly. */

/* Declares `sum`, one for each lane: A x of this slice. */
#define ROW_SUM(x) \
    K_LANEVAR(real, sum); \
    K_LANE K_L(sum) = 0; \
    for (i64 k = start[t]; k < start[t + 1]; k += LANES) \
        K_LANE K_L(sum) += value[k + lane] * x[column[k + lane]];

K_KERNEL(product, K_IN(i64, start), K_IN(i32, column), K_IN(real, value), K_IN(real, x),
         K_OUT(real, y, LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, 1)
        {
            ROW_SUM(x)
            K_LANE K_TILE(y, t, 1)[lane] = K_L(sum);
        }
    }
}

/* y = b - A x */
K_KERNEL(residual, K_IN(i64, start), K_IN(i32, column), K_IN(real, value), K_IN(real, b, LANES),
         K_IN(real, x), K_OUT(real, y, LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, 1)
        {
            ROW_SUM(x)
            K_LANE K_TILE(y, t, 1)[lane] = K_TILE(b, t, 1)[lane] - K_L(sum);
        }
    }
}

/* y += A x */
K_KERNEL(add_product, K_IN(i64, start), K_IN(i32, column), K_IN(real, value), K_IN(real, x),
         K_INOUT(real, y, LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, 1)
        {
            ROW_SUM(x)
            K_LANE K_TILE(y, t, 1)[lane] += K_L(sum);
        }
    }
}

/* Chebyshev smoothing with the diagonal (inverse: its reciprocals): see chebyshev.c for the
 * steps. The first from x = 0: d = c inverse b, x = w d. */
K_KERNEL(smooth_zero, K_VAL(real, c), K_VAL(real, w), K_IN(real, inverse, LANES),
         K_IN(real, b, LANES), K_OUT(real, d, LANES), K_OUT(real, x, LANES))
{
    K_TILES(t)
    {
        K_NODES(i, 1)
        {
            const real step = c * K_TILE(inverse, t, 1)[lane] * K_TILE(b, t, 1)[lane];
            K_TILE(d, t, 1)[lane] = step;
            K_TILE(x, t, 1)[lane] = w * step;
        }
    }
}

/* The first from x: r = b - A x, d = c inverse r, better = x + w d. */
K_KERNEL(smooth_first, K_VAL(real, c), K_VAL(real, w), K_IN(i64, start), K_IN(i32, column),
         K_IN(real, value), K_IN(real, inverse, LANES), K_IN(real, b, LANES), K_IN(real, x),
         K_OUT(real, r, LANES), K_OUT(real, d, LANES), K_OUT(real, better, LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, 1)
        {
            ROW_SUM(x)
            K_LANE
            {
                const real rest = K_TILE(b, t, 1)[lane] - K_L(sum);
                const real step = c * K_TILE(inverse, t, 1)[lane] * rest;
                K_TILE(r, t, 1)[lane] = rest;
                K_TILE(d, t, 1)[lane] = step;
                K_TILE(better, t, 1)[lane] = K_TILE(x, t, 1)[lane] + w * step;
            }
        }
    }
}

/* The others: next_r = r - A d, next_d = a d + c inverse next_r, x += w next_d. */
K_KERNEL(smooth_next, K_VAL(real, a), K_VAL(real, c), K_VAL(real, w), K_IN(i64, start),
         K_IN(i32, column), K_IN(real, value), K_IN(real, inverse, LANES), K_IN(real, r, LANES),
         K_IN(real, d), K_OUT(real, next_r, LANES), K_OUT(real, next_d, LANES),
         K_INOUT(real, x, LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, 1)
        {
            ROW_SUM(d)
            K_LANE
            {
                const real rest = K_TILE(r, t, 1)[lane] - K_L(sum);
                const real step =
                    a * K_TILE(d, t, 1)[lane] + c * K_TILE(inverse, t, 1)[lane] * rest;
                K_TILE(next_r, t, 1)[lane] = rest;
                K_TILE(next_d, t, 1)[lane] = step;
                K_TILE(x, t, 1)[lane] += w * step;
            }
        }
    }
}
