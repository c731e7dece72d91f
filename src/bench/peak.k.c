/* Arithmetic and shared-memory ceilings: CHAINS independent chains per thread, in registers. */

/* 2*n*CHAINS*ROWS*LANES flops a tile. */
K_KERNEL(fma_peak, K_VAL(i32, n), K_VAL(real, x), K_OUT(real, sink, ROWS *LANES))
{
    K_TILES(t)
    {
#if K_CPU
        for (int i = 0; i < ROWS; i++)
            for (int l = 0; l < LANES; l += K_VN) {
                k_vector v[CHAINS];
                K_UNROLL for (int c = 0; c < CHAINS; c++) v[c] = k_set(K_R(c));
                for (int k = 0; k < n; k++)
                    K_UNROLL for (int c = 0; c < CHAINS; c++) v[c] = v[c] * x + x;
                K_UNROLL for (int c = 1; c < CHAINS; c++) v[0] += v[c];
                k_store(sink + ((i64)t * ROWS + i) * LANES + l, v[0]);
            }
#else
        K_NODES(i, ROWS)
        {
            real v[CHAINS];
            K_UNROLL for (int c = 0; c < CHAINS; c++) v[c] = K_R(c + lane);
            for (int k = 0; k < n; k++)
                K_UNROLL for (int c = 0; c < CHAINS; c++) v[c] = v[c] * x + x;
            K_UNROLL for (int c = 1; c < CHAINS; c++) v[0] += v[c];
            sink[((i64)t * ROWS + i) * LANES + lane] = v[0];
        }
#endif
    }
}

/* Reads n*CHAINS*ROWS*LANES values of a shared tile. */
K_KERNEL(shared_peak, K_VAL(i32, n), K_OUT(real, sink, ROWS *LANES))
{
    K_SHARED(real, s, CHAINS + 16);
    K_TILES(t)
    {
        K_NODES(i, CHAINS + 16) s[i][lane] = K_R(i + lane);
        K_SYNC;
#if K_CPU
        for (int i = 0; i < ROWS; i++)
            for (int l = 0; l < LANES; l += K_VN) {
                k_vector v[CHAINS];
                K_UNROLL for (int c = 0; c < CHAINS; c++) v[c] = k_set(K_R(0));
                for (int k = 0; k < n; k++)
                    K_UNROLL for (int c = 0; c < CHAINS; c++) v[c] += k_load(&s[(k & 15) + c][l]);
                K_UNROLL for (int c = 1; c < CHAINS; c++) v[0] += v[c];
                k_store(sink + ((i64)t * ROWS + i) * LANES + l, v[0]);
            }
#else
        K_NODES(i, ROWS)
        {
            real v[CHAINS];
            K_UNROLL for (int c = 0; c < CHAINS; c++) v[c] = 0;
            for (int k = 0; k < n; k++)
                K_UNROLL for (int c = 0; c < CHAINS; c++) v[c] += s[(k & 15) + c][lane];
            K_UNROLL for (int c = 1; c < CHAINS; c++) v[0] += v[c];
            sink[((i64)t * ROWS + i) * LANES + lane] = v[0];
        }
#endif
    }
}

#if K_CUDA && K_LEVEL == 2
/* 2*n*CHAINS*16*8*8*(LANES/16) flops a tile on tensor cores, of FP64 or to single precision. */
K_KERNEL(tensor_peak, K_VAL(i32, n), K_OUT(real, sink, LANES))
{
    K_WARPS(t)
    {
        k_fragment c[CHAINS], a;
        k_right b = {K_R(1e-3) * K_LANE_ID, K_R(1e-3)};
        K_UNROLL for (int i = 0; i < 4; i++) a.v[i] = K_R(0.5) + i;
        K_UNROLL for (int i = 0; i < CHAINS; i++) c[i] = a;
        const k_left left = k_left_of(a);
        for (int k = 0; k < n; k++)
            K_UNROLL for (int i = 0; i < CHAINS; i++) k_mma(c[i], left, b);
        K_UNROLL for (int i = 1; i < CHAINS; i++)
            K_UNROLL for (int v = 0; v < 4; v++) c[0].v[v] += c[i].v[v];
        K_LANE sink[(i64)t * LANES + lane] = c[0].v[2 * k_h] + c[0].v[2 * k_h + 1];
    }
}
#endif
