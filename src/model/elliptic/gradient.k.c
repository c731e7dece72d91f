/* The gradient of a field at its nodes; geometry is eg_metric's at AT points: the nodes, or 1 of affine
 * elements. */
#define SLOPE(a, b) \
    K_TILE(geometry, t, (1 + DIM * DIM) * AT)[((1 + (a) * DIM + (b)) * AT + (AT == 1 ? 0 : i)) * LANES + lane]

K_KERNEL(gradient, K_IN(real, u, NP *LANES), K_IN(f64, geometry, (1 + DIM * DIM) * AT * LANES),
         K_OP(slopes, DIM *NP, NP), K_OUT(real, out, DIM *NP *LANES))
{
    K_SHARED(real, du, DIM *NP);
    K_TILES(t)
    {
        K_GEMM(DIM * NP, NP, slopes, K_G(K_TILE(u, t, NP)), K_S(du));
        K_SYNC;
        K_NODES(i, NP)
        {
            K_UNROLL for (int b = 0; b < DIM; b++)
            {
                real sum = (real)SLOPE(0, b) * du[i][lane] + (real)SLOPE(1, b) * du[NP + i][lane];
#if DIM == 3
                sum += (real)SLOPE(2, b) * du[2 * NP + i][lane];
#endif
                K_TILE(out, t, DIM * NP)[(b * NP + i) * LANES + lane] = sum;
            }
        }
    }
}
