/* Y = A X on every tile: the first level's work horse at the sizes of triangles.
 *
 * Per element: 2*NP*NP flops; NP values read, NP written. */
K_KERNEL(gemm, K_IN(real, x, NP *LANES), K_OP(a, NP, NP), K_OUT(real, y, NP *LANES))
{
    K_TILES(t) { K_GEMM(NP, NP, a, K_G(K_TILE(x, t, NP)), K_G(K_TILE(y, t, NP))); }
}
