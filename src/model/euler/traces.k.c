/* The traces of elements with Gauss points, where stage.k.c wants them: [tile][end][4][M][lane]. `u` begins
 * with the group. */
#define NP (M * M)
#define NODE_OF(d, j, i) ((d) == 0 ? (j) * M + (i) : (i) * M + (j))

/* The basis at -1 and 1 [2][M] stands behind BASIS values of the table. */
#define BASIS_AT(e, i) table[BASIS + (e) * M + (i)]

K_KERNEL(traces, K_IN(real, u, 4 *M *M *LANES), K_IN(real, table), K_OUT(real, out, 16 *M *LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, 16 * M)
        {
            const int end = i / (4 * M), c = i / M % 4, j = i % M;
            K_GLOBAL const real *own = K_TILE(u, t, 4 * NP) + c * NP * LANES;
            K_LANE
            {
                real sum = BASIS_AT(end % 2, 0) * own[NODE_OF(end / 2, j, 0) * LANES + lane];
                K_UNROLL for (int n = 1; n < M; n++)
                    sum += BASIS_AT(end % 2, n) * own[NODE_OF(end / 2, j, n) * LANES + lane];
                K_TILE(out, t, 16 * M)[i * LANES + lane] = sum;
            }
        }
    }
}
