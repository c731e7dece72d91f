/* A single-precision smoother inside a double-precision iteration: residual, smoothing, correction.
 * All three read neighbours through the same map, [tile][node][lane] of indices into any field,
 * since LANES is the same for both precisions. */

/* r = b - (u + u[map]) / 2, rounded to single precision. */
K_KERNEL(residual, K_IN(f64, u, NP *LANES), K_IN(f64, b, NP *LANES), K_IN(i32, map, NP *LANES),
         K_OUT(f32, r, NP *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NP)
        {
            const i64 j = ((i64)t * NP + i) * LANES + lane;
            r[j] = (f32)(b[j] - 0.5 * (u[j] + u[map[j]]));
        }
    }
}

/* c = r + a (a (r + r[map] / 4)): two products, the second in place of the first's input. */
K_KERNEL(smooth, K_IN(real, r, NP *LANES), K_IN(i32, map, NP *LANES), K_OP(a, NP, NP),
         K_OUT(real, c, NP *LANES))
{
    K_SHARED(real, s, NP);
    K_SHARED(real, v, NP);
    K_PRIVATE(real, own, NP);
    K_TILES(t)
    {
        K_NODES(i, NP)
        {
            const i64 j = ((i64)t * NP + i) * LANES + lane;
            K_P(own) = r[j];
            s[i][lane] = r[j] + K_R(0.25) * r[map[j]];
        }
        K_SYNC;
        K_GEMM(NP, NP, a, K_S(s), K_S(v));
        K_SYNC;
        K_GEMM(NP, NP, a, K_S(v), K_S(s));
        K_SYNC;
        K_NODES(i, NP) K_TILE(c, t, NP)[i * LANES + lane] = K_P(own) + s[i][lane];
    }
}

/* u += c[map] in double precision. */
K_KERNEL(correct, K_INOUT(f64, u, NP *LANES), K_IN(f32, c, NP *LANES), K_IN(i32, map, NP *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NP)
        {
            const i64 j = ((i64)t * NP + i) * LANES + lane;
            u[j] += (f64)c[map[j]];
        }
    }
}
