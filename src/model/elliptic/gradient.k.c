/* The gradient of a field at its nodes; geometry is eg_metric's at AT points: the nodes, or 1 of affine
 * elements. */
#include "field/trace.k.h"

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

#if DIM == 2
/* The same on CPUs where AT is 1: one vector of lanes after another. */
#define FACTOR(k) K_GET(K_TILE(geometry, t, 5) + (k) * LANES)

K_KERNEL(gradient_flat, K_IN(real, u, NP *LANES), K_IN(real, geometry, 5 *LANES),
         K_OP(slopes, 2 * NP, NP), K_OUT(real, out, 2 * NP *LANES))
{
    K_TILES(t)
    {
        K_VECTORS(one, 1)
        {
            const vreal rx = FACTOR(1), ry = FACTOR(2), sx = FACTOR(3), sy = FACTOR(4);
            vreal x[NP], du[2 * NP];
            K_UNROLL for (int i = 0; i < NP; i++)
            {
                x[i] = K_GET(K_TILE(u, t, NP) + i * LANES);
                FETCH_SHARE(K_TILE(u, t, NP), NP, i, NP)
                FETCH_SHARE(K_TILE(geometry, t, 5), 5, i, NP)
            }
            K_PRODUCT(2 * NP, NP, slopes, x, du);
            K_UNROLL for (int i = 0; i < NP; i++)
            {
                K_SEND(K_TILE(out, t, 2 * NP) + i * LANES, rx * du[i] + sx * du[NP + i]);
                K_SEND(K_TILE(out, t, 2 * NP) + (NP + i) * LANES, ry * du[i] + sy * du[NP + i]);
            }
        }
    }
}
#endif

/* The same of affine triangles on GPUs, where AT is 1: each direction has PADDED rows of `slopes`. Bytes
 * for an element: 8 (3 NP + 4); flops 4 NP² + 6 NP. */
#define PADDED ((NP + 7) / 8 * 8)

K_KERNEL(gradient_chain, K_IN(real, u, NP *LANES), K_IN(real, geometry, 5 *LANES),
         K_OP(slopes, 2 * PADDED, NP), K_OUT(real, out, 2 * NP *LANES))
{
    K_OPERAND(x, 1, NP);
    K_POINTS(dr, 1);
    K_POINTS(ds, 1);
    K_LANEVAR(real, rx);
    K_LANEVAR(real, ry);
    K_LANEVAR(real, sx);
    K_LANEVAR(real, sy);
    K_WARPS(t)
    {
        K_LOAD(x, 0, 1, NP, u, NP, 0);
        K_LANELOAD(rx, geometry, 5, 1);
        K_LANELOAD(ry, geometry, 5, 2);
        K_LANELOAD(sx, geometry, 5, 3);
        K_LANELOAD(sy, geometry, 5, 4);
        K_CHUNKS(c, NP)
        {
            K_MUL(dr, 1, slopes, 2 * PADDED, NP, c, x);
            K_MUL(ds, 1, slopes, 2 * PADDED, NP, PADDED / K_FN + c, x);
            K_EACH
            {
                const real along_r = K_Y(dr, 0), along_s = K_Y(ds, 0);
                K_Y(dr, 0) = K_L(rx) * along_r + K_L(sx) * along_s;
                K_Y(ds, 0) = K_L(ry) * along_r + K_L(sy) * along_s;
            }
            K_POINTSTORE(dr, 0, c, NP, out, 2 * NP, 0);
            K_POINTSTORE(ds, 0, c, NP, out, 2 * NP, NP);
        }
    }
}
