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

/* The same by even and odd parts (element/mirror.h), in half the flops, for CPUs at high degrees: with S = ∂/∂r + ∂/∂s, which keeps parts apart,
 * and F = ∂/∂r - ∂/∂s, which exchanges them, ∂u/∂x = (r_x + s_x)/2 S u + (r_x - s_x)/2 F u.
 *
 *     pairs  nodes that are mirror images, EVEN of them, ODD with two nodes
 *     even   [S to even parts | F to odd parts] of even parts, PAIRS rows each;  odd: likewise of odd parts, F to even */
#define PAIRS ((EVEN + 7) / 8 * 8)

K_KERNEL(gradient_mirror, K_IN(real, u, NP *LANES), K_IN(real, geometry, 5 *LANES), K_IN(i32, pairs),
         K_OP(even, 2 * PAIRS, EVEN), K_OP(odd, 2 * PAIRS, ODD), K_OUT(real, out, 2 * NP *LANES))
{
    K_OPERAND(xe, 1, EVEN);
    K_OPERAND(xo, 1, ODD);
    K_POINTS(se, 1); /* S u and F u in parts; then the gradient at both nodes of a pair */
    K_POINTS(so, 1);
    K_POINTS(fe, 1);
    K_POINTS(fo, 1);
    K_LANEVAR(real, sum_x); /* (r_x + s_x)/2, … */
    K_LANEVAR(real, sum_y);
    K_LANEVAR(real, difference_x);
    K_LANEVAR(real, difference_y);
    K_LANEVAR(real, rx);
    K_LANEVAR(real, ry);
    K_LANEVAR(real, sx);
    K_LANEVAR(real, sy);
    K_WARPS(t)
    {
        K_LOADPAIRS(xe, xo, 0, EVEN, ODD, u, NP, 0, pairs);
        K_LANELOAD(rx, geometry, 5, 1);
        K_LANELOAD(ry, geometry, 5, 2);
        K_LANELOAD(sx, geometry, 5, 3);
        K_LANELOAD(sy, geometry, 5, 4);
        K_LANE
        {
            K_L(sum_x) = K_R(0.5) * (K_L(rx) + K_L(sx));
            K_L(sum_y) = K_R(0.5) * (K_L(ry) + K_L(sy));
            K_L(difference_x) = K_R(0.5) * (K_L(rx) - K_L(sx));
            K_L(difference_y) = K_R(0.5) * (K_L(ry) - K_L(sy));
        }
        K_CHUNKS(c, PAIRS)
        {
            K_MUL(se, 1, even, 2 * PAIRS, EVEN, c, xe);
            K_MUL(fo, 1, even, 2 * PAIRS, EVEN, PAIRS / K_FN + c, xe);
            K_MUL(so, 1, odd, 2 * PAIRS, ODD, c, xo);
            K_MUL(fe, 1, odd, 2 * PAIRS, ODD, PAIRS / K_FN + c, xo);
            K_EACH
            {
                const real sum1 = K_Y(se, 0) + K_Y(so, 0), sum2 = K_Y(se, 0) - K_Y(so, 0);
                const real difference1 = K_Y(fe, 0) + K_Y(fo, 0), difference2 = K_Y(fe, 0) - K_Y(fo, 0);
                K_Y(se, 0) = K_L(sum_x) * sum1 + K_L(difference_x) * difference1;
                K_Y(so, 0) = K_L(sum_x) * sum2 + K_L(difference_x) * difference2;
                K_Y(fe, 0) = K_L(sum_y) * sum1 + K_L(difference_y) * difference1;
                K_Y(fo, 0) = K_L(sum_y) * sum2 + K_L(difference_y) * difference2;
            }
            K_POINTPUT(se, 0, i, c, PAIRS, out, 2 * NP, i < EVEN, pairs[2 * i]);
            K_POINTPUT(so, 0, i, c, PAIRS, out, 2 * NP, i < ODD, pairs[2 * i + 1]);
            K_POINTPUT(fe, 0, i, c, PAIRS, out, 2 * NP, i < EVEN, NP + pairs[2 * i]);
            K_POINTPUT(fo, 0, i, c, PAIRS, out, 2 * NP, i < ODD, NP + pairs[2 * i + 1]);
        }
    }
}
