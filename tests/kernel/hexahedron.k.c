/* The gradient on hexahedra of SIDE nodes a side: nodal values are read once into shared memory,
 * and each direction is a product along lines from there.
 *
 *     u    [tile][node (z, y, x)][lane]
 *     out  [tile][direction x, y, z][node][lane] */
#define NODES (SIDE * SIDE * SIDE)

K_KERNEL(gradient, K_IN(real, u, NODES *LANES), K_OP(d, SIDE, SIDE),
         K_OUT(real, out, 3 * NODES *LANES))
{
    K_SHARED(real, s, NODES);
    K_TILES(t)
    {
        K_GLOBAL real *to = K_TILE(out, t, 3 * NODES);
        K_NODES(i, NODES) s[i][lane] = K_TILE(u, t, NODES)[i * LANES + lane];
        K_SYNC;
        K_GEMM_LINES(SIDE, SIDE, 1, SIDE * SIDE, d, K_S(s), K_G(to));
        K_GEMM_LINES(SIDE, SIDE, SIDE, SIDE, d, K_S(s), K_G(to + NODES * LANES));
        K_GEMM_LINES(SIDE, SIDE, SIDE * SIDE, 1, d, K_S(s), K_G(to + 2 * NODES * LANES));
    }
}
