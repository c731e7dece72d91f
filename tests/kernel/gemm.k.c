/* Products of operators and tiles; test_gemm.c has the same in plain C. */

/* One product A (MR x KC) X in all eight forms: stored or added, from and to shared and global. */
K_KERNEL(forms, K_IN(real, x, KC *LANES), K_OP(a, MR, KC), K_OUT(real, stored, 4 * MR *LANES),
         K_INOUT(real, added, 4 * MR *LANES))
{
    K_SHARED(real, sx, KC);
    K_SHARED(real, sy, MR);
    K_SHARED(real, sz, MR);
    K_TILES(t)
    {
        K_GLOBAL const real *gx = K_TILE(x, t, KC);
        K_GLOBAL real *out = K_TILE(stored, t, 4 * MR);
        K_GLOBAL real *sum = K_TILE(added, t, 4 * MR);
        K_NODES(i, KC) sx[i][lane] = gx[i * LANES + lane];
        K_SYNC;
        K_GEMM(MR, KC, a, K_G(gx), K_G(out));
        K_GEMM(MR, KC, a, K_S(sx), K_G(out + MR * LANES));
        K_GEMM(MR, KC, a, K_G(gx), K_S(sy));
        K_GEMM(MR, KC, a, K_S(sx), K_S(sz));
        K_GEMM_ADD(MR, KC, a, K_G(gx), K_G(sum));
        K_GEMM_ADD(MR, KC, a, K_S(sx), K_G(sum + MR * LANES));
        K_SYNC;
        K_PUT(MR, K_S(sy), out + 2 * MR * LANES);
        K_PUT(MR, K_S(sz), out + 3 * MR * LANES);
        K_NODES(i, MR)
        {
            sy[i][lane] = sum[(2 * MR + i) * LANES + lane];
            sz[i][lane] = sum[(3 * MR + i) * LANES + lane];
        }
        K_SYNC;
        K_GEMM_ADD(MR, KC, a, K_G(gx), K_S(sy));
        K_GEMM_ADD(MR, KC, a, K_S(sx), K_S(sz));
        K_SYNC;
        K_PUT(MR, K_S(sy), sum + 2 * MR * LANES);
        K_PUT(MR, K_S(sz), sum + 3 * MR * LANES);
    }
}

/* The same product for one vector of lanes; what is added to is x, again and again. */
K_KERNEL(vectors, K_IN(real, x, KC *LANES), K_OP(a, MR, KC), K_OUT(real, stored, MR *LANES),
         K_OUT(real, added, MR *LANES))
{
    K_TILES(t)
    {
        K_VECTORS(one, 1)
        {
            vreal in[KC], out[MR];
            for (int k = 0; k < KC; k++) in[k] = K_GET(K_TILE(x, t, KC) + k * LANES);
            K_PRODUCT(MR, KC, a, in, out);
            for (int m = 0; m < MR; m++) K_SET(K_TILE(stored, t, MR) + m * LANES, out[m]);
            for (int m = 0; m < MR; m++) out[m] = in[m % KC];
            K_PRODUCT_ADD(MR, KC, a, in, out);
            for (int m = 0; m < MR; m++) K_SET(K_TILE(added, t, MR) + m * LANES, out[m]);
        }
    }
}

/* Ten products of different sizes: Mj x Kj from the first rows of x to rows Oj and on of y. */
#define FROM_GLOBAL(j) \
    K_GEMM(M##j, K##j, a##j, K_G(K_TILE(x, t, KMOST)), K_G(K_TILE(y, t, MSUM) + O##j * LANES))
#define FROM_SHARED(j) \
    K_GEMM(M##j, K##j, a##j, K_S(s), K_G(K_TILE(y, t, MSUM) + O##j * LANES))

K_KERNEL(sizes, K_IN(real, x, KMOST *LANES), K_OP(a0, M0, K0), K_OP(a1, M1, K1), K_OP(a2, M2, K2),
         K_OP(a3, M3, K3), K_OP(a4, M4, K4), K_OP(a5, M5, K5), K_OP(a6, M6, K6), K_OP(a7, M7, K7),
         K_OP(a8, M8, K8), K_OP(a9, M9, K9), K_OUT(real, y, MSUM *LANES))
{
    K_SHARED(real, s, KMOST);
    K_TILES(t)
    {
        K_NODES(i, KMOST) s[i][lane] = K_TILE(x, t, KMOST)[i * LANES + lane];
        K_SYNC;
        FROM_GLOBAL(0);
        FROM_SHARED(1);
        FROM_GLOBAL(2);
        FROM_SHARED(3);
        FROM_GLOBAL(4);
        FROM_SHARED(5);
        FROM_GLOBAL(6);
        FROM_SHARED(7);
        FROM_GLOBAL(8);
        FROM_SHARED(9);
    }
}

/* Along lines: FIELDS fields at once, and the three directions of a hexahedron, which leave MR
 * instead of KC nodes along one of them. */
#define CUBE (KC * KC * KC)
#define SLAB (MR * KC * KC)

K_KERNEL(lines, K_IN(real, u, FIELDS *KC *LANES), K_IN(real, x, CUBE *LANES), K_OP(a, MR, KC),
         K_OUT(real, fields, FIELDS *MR *LANES), K_OUT(real, y, 3 * SLAB *LANES),
         K_INOUT(real, added, 2 * SLAB *LANES))
{
    K_SHARED(real, sx, CUBE);
    K_SHARED(real, sy, SLAB);
    K_TILES(t)
    {
        K_GLOBAL real *out = K_TILE(y, t, 3 * SLAB);
        K_GLOBAL real *sum = K_TILE(added, t, 2 * SLAB);
        K_NODES(i, CUBE) sx[i][lane] = K_TILE(x, t, CUBE)[i * LANES + lane];
        K_NODES(i, SLAB) sy[i][lane] = sum[(SLAB + i) * LANES + lane];
        K_SYNC;
        K_GEMM_LINES(MR, KC, 1, FIELDS, a, K_G(K_TILE(u, t, FIELDS * KC)),
                     K_G(K_TILE(fields, t, FIELDS * MR)));
        K_GEMM_LINES(MR, KC, 1, KC * KC, a, K_G(K_TILE(x, t, CUBE)), K_G(out));
        K_GEMM_LINES(MR, KC, KC, KC, a, K_S(sx), K_G(out + SLAB * LANES));
        K_GEMM_LINES_ADD(MR, KC, KC, KC, a, K_S(sx), K_G(sum));
        K_GEMM_LINES_ADD(MR, KC, KC * KC, 1, a, K_S(sx), K_S(sy));
        K_SYNC;
        K_PUT(SLAB, K_S(sy), sum + SLAB * LANES);
        K_SYNC;
        K_GEMM_LINES(MR, KC, KC * KC, 1, a, K_S(sx), K_S(sy));
        K_SYNC;
        K_PUT(SLAB, K_S(sy), out + 2 * SLAB * LANES);
    }
}

/* What must not be written: no barrier between the product and its use by other threads. */
K_KERNEL(hasty, K_IN(real, x, ROWS *LANES), K_OP(a, ROWS, ROWS), K_OUT(real, y, ROWS *LANES))
{
    K_SHARED(real, s, ROWS);
    K_TILES(t)
    {
        K_GEMM(ROWS, ROWS, a, K_G(K_TILE(x, t, ROWS)), K_S(s));
        K_PUT(ROWS, K_S(s), K_TILE(y, t, ROWS));
    }
}
