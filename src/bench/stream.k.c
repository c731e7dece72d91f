/* Memory ceilings: copy, triad and read over tiles of ROWS rows, a multiple of PARTS. */
#define PARTS 16

K_KERNEL(copy, K_IN(real, a, ROWS *LANES), K_OUT(real, b, ROWS *LANES))
{
    K_TILES(t) { K_PUT(ROWS, K_G(K_TILE(a, t, ROWS)), K_TILE(b, t, ROWS)); }
}

/* c = a + s b */
K_KERNEL(triad, K_IN(real, a, ROWS *LANES), K_IN(real, b, ROWS *LANES), K_VAL(real, s),
         K_OUT(real, c, ROWS *LANES))
{
    K_SHARED(real, sum, 1);
    K_TILES(t)
    {
#if K_CPU /* a row at a time through the cache, so that stores can go past it */
        for (int r = 0; r < ROWS; r++) {
            K_NODES(i, 1)
            sum[i][lane] = K_TILE(a, t, ROWS)[r * LANES + lane] +
                           s * K_TILE(b, t, ROWS)[r * LANES + lane];
            K_PUT(1, K_S(sum), K_TILE(c, t, ROWS) + r * LANES);
        }
#else
        K_NODES(i, ROWS)
        K_TILE(c, t, ROWS)[i * LANES + lane] = K_TILE(a, t, ROWS)[i * LANES + lane] +
                                               s * K_TILE(b, t, ROWS)[i * LANES + lane];
#endif
    }
}

/* Sums each lane of a tile, so that no load can be left out. */
K_KERNEL(read, K_IN(real, a, ROWS *LANES), K_OUT(real, sums, LANES))
{
    K_SHARED(real, part, PARTS);
    K_TILES(t)
    {
        K_ROWS(i, PARTS)
        {
            K_LANEVAR(real, sum);
            K_LANE K_L(sum) = 0;
            for (int r = 0; r < ROWS / PARTS; r++)
                K_LANE K_L(sum) += K_TILE(a, t, ROWS)[(i * (ROWS / PARTS) + r) * LANES + lane];
            K_LANE part[i][lane] = K_L(sum);
        }
        K_SYNC;
        K_NODES(i, 1)
        {
            real sum = 0;
            for (int p = 0; p < PARTS; p++) sum += part[p][lane];
            sums[(i64)t * LANES + lane] = sum;
        }
    }
}
