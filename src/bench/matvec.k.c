/* y = A x, each element its own dense matrix ([discacciati2017] section 5.1).
 *
 * a has shape [tile][N rows][N columns][LANES]: per element N*N values read once, 2*N*N flops. */

/* Where a row and the vector fill a first-level cache, they push each other out and the processor's
 * own look-ahead falls behind: the rows to come are asked for this many values ahead. */
#define AHEAD 8192
#define FILLS_CACHE (2 * N * LANES * K_REAL / 8 > 24 * 1024)

K_KERNEL(matvec, K_IN(real, a, N *N *LANES), K_IN(real, x, N *LANES), K_OUT(real, y, N *LANES))
{
    K_SHARED(real, v, N);
    K_TILES(t)
    {
        K_NODES(j, N) v[j][lane] = K_TILE(x, t, N)[j * LANES + lane];
        K_SYNC;
        K_ROWS(i, N)
        {
            K_GLOBAL const real *row = a + ((i64)t * N + i) * (N * LANES);
            K_LANEVAR(real, sum);
            K_LANE K_L(sum) = 0;
            for (int j = 0; j < N; j++) {
                if (FILLS_CACHE)
                    for (int l = 0; l < LANES; l += 8) K_FETCH(row + j * LANES + l + AHEAD);
                K_LANE K_L(sum) += row[j * LANES + lane] * v[j][lane];
            }
            K_LANE K_TILE(y, t, N)[i * LANES + lane] = K_L(sum);
        }
    }
}
