/* The kernel language in blocks of threads (lane, row, slot): shared by OpenCL and CUDA.
 *
 * A block has LANES x K_TY x K_TZ threads; slot z works on a tile of its own. The backend defines
 * K_LANE_ID, K_ROW, K_SLOT (the thread's place), K_BLOCK, K_BLOCKS (the block's), K_SYNC. */

#define K_LD (LANES + 2) /* fragments, read two rows and two lanes apart, then hit every bank */
#define K_UNROLL _Pragma("unroll")
#define K_ROLLED _Pragma("unroll 1")
#define K_LEAVE() ((void)0)
#define K_FETCH(p) ((void)0)
#ifndef K_SOON
#define K_SOON(p) ((void)0)
#endif
#define K_HOLD(x) ((void)0)
#define K_RENEW(p) ((void)0)

/* Slots behind the last tile repeat it without storing, so that every thread meets every barrier. */
#define K_TILES(t) \
    for (i32 k_b = k_t0 + K_BLOCK * K_TZ * K_IN_TURN; k_b < k_t1; k_b += K_BLOCKS * K_TZ * K_IN_TURN) \
        for (i32 k_n = k_b + K_SLOT * K_IN_TURN, k_stop = k_n + K_IN_TURN; k_n < k_stop; k_n++) \
            for (i32 t = K_MIN(k_n, k_t1 - 1), k_live = k_n < k_t1, k_once = 1; k_once; \
                 k_once = 0, K_SYNC)
#define K_LEAVE_OUT(condition) k_live = k_live && !(condition);
#define K_ROWS(i, n) \
    K_UNROLL for (int k_i = 0; k_i < ((n) + K_TY - 1) / K_TY; k_i++) \
        for (int i = k_i * K_TY + K_ROW, k_go = k_live && i < (n); k_go; k_go = 0)
#define K_NODES(i, n) K_ROWS(i, n) K_LANE
#define K_VECTORS(i, n) K_NODES(i, n)
typedef real vreal;
#define K_UNCUT(bound) 1
#define K_GET(p) ((p)[lane])
#define K_SET(p, x) ((p)[lane] = (x))
#define K_SEND(p, x) K_SET(p, x)
#define K_GATHER(p, at) ((p)[(at)[lane]])
#define K_GATHER4(p, at, x) \
    K_UNROLL for (int k_j = 0; k_j < 4; k_j++) (x)[k_j] = (p)[(at)[lane] + k_j]
#define K_SPREAD4(p, pitch, x) \
    K_UNROLL for (int k_j = 0; k_j < 4; k_j++) (p)[lane * (pitch) + k_j] = (x)[k_j]
#define K_ALL(x) (x)
#define K_VMAX(x, y) K_MAX(x, y)
#define K_VABS(x) K_ABS(x)
#define K_BELOW(bound, a, b) (lane < (bound) ? (a) : (b))
#define K_PRIVATE(type, x, n) type x[((n) + K_TY - 1) / K_TY]
#define K_P(x) x[k_i]

#define K_PUT(n, X, p) K_PUT_BLOCK(n, X, p)
#define K_PUT_BLOCK(n, xg, x, p) \
    K_NODES(k_r, n) (p)[k_r * LANES + lane] = (x)[k_r * K_PITCH(xg) + lane]

/* Eight rows of one lane in a thread. K_SCRAMBLE gives the work to other threads than K_NODES does
 * (mirrored lanes and rows), so that a missing K_SYNC shows. */
#define K_GEMM_PORTABLE(ADD, M, K, S, L, A, xg, x, yg, y) \
    do { \
        const int k_gl = K_SCRAMBLE ? LANES - 1 - K_LANE_ID : K_LANE_ID; \
        for (int k_j = K_SCRAMBLE ? K_TY - 1 - K_ROW : K_ROW; k_j < (S) * (L) * (((M) + 7) / 8); \
             k_j += K_TY) { \
            const int k_line = k_j % ((S) * (L)), k_m = k_j / ((S) * (L)) * 8; \
            const int k_x = k_line / (S) * (K) * (S) + k_line % (S); \
            const int k_y = (k_line / (S) * (M) + k_m) * (S) + k_line % (S); \
            real k_sum[8]; \
            K_UNROLL for (int k_r = 0; k_r < 8; k_r++) \
                k_sum[k_r] = (ADD) && k_m + k_r < (M) ? (y)[(k_y + k_r * (S)) * K_PITCH(yg) + k_gl] \
                                                      : K_R(0); \
            for (int k_k = 0; k_k < (K); k_k++) { \
                const real k_v = (x)[(k_x + k_k * (S)) * K_PITCH(xg) + k_gl]; \
                K_UNROLL for (int k_r = 0; k_r < 8; k_r++) \
                    k_sum[k_r] += (A)[K_PACKED(k_m + k_r, k_k, K)] * k_v; \
            } \
            K_UNROLL for (int k_r = 0; k_r < 8; k_r++) \
                if (k_live && k_m + k_r < (M)) \
                    (y)[(k_y + k_r * (S)) * K_PITCH(yg) + k_gl] = k_sum[k_r]; \
        } \
    } while (0)

/* Products of one lane in a thread. */
#ifndef K_VALUE
#define K_VALUE(A, m, k, K) (A)[K_PACKED(m, k, K)]
#endif
#define K_PRODUCT(M, K, A, x, y) K_PRODUCT_BLOCK(0, M, K, A, x, y)
#define K_PRODUCT_ADD(M, K, A, x, y) K_PRODUCT_BLOCK(1, M, K, A, x, y)
#define K_PRODUCT_BLOCK(ADD, M, K, A, x, y) \
    for (int k_m = 0; k_m < (M); k_m++) { \
        real k_sum = (ADD) ? (y)[k_m] : K_R(0); \
        for (int k_k = 0; k_k < (K); k_k++) k_sum += K_VALUE(A, k_m, k_k, K) * (x)[k_k]; \
        (y)[k_m] = k_sum; \
    }

/* --- level 1, and level 2 without tensor cores: a thread is a lane ------------------------------ */

#if K_LEVEL == 1 || !K_MMA
#define K_LANE for (int lane = K_LANE_ID, k_h = 0; k_h < 1; k_h++)
#define K_LANEVAR(type, x) type x[1]
#define K_L(x) x[k_h]
#endif

#if K_LEVEL == 2 && !K_MMA
#if K_FN != 4 && K_FN != 8
#error K_FN is 4 or 8 here: operators are packed by 4 rows and padded to 8
#endif
#define K_WARPS(t) \
    for (i32 t = k_t0 + K_BLOCK * K_TZ + K_SLOT, k_t = t; t < k_t1; k_t = t += K_BLOCKS * K_TZ)
#define K_OPERAND(x, F, n) real x[F][n]
#define K_ACCUM(x, F, n) real x[F][n]
#define K_POINTS(x, F) real x[F][K_FN]
#define K_CHUNKS(c, n) for (int c = 0; c < K_CHUNK_COUNT(n); c++)
#define K_EACH K_UNROLL for (int k_q = 0; k_q < K_FN; k_q++) K_LANE
#define K_Y(x, f) x[f][k_q]
#define K_POINT(c, n) K_MIN((c) * K_FN + k_q, (n) - 1)
#define K_LOAD(x, f, F, n, u, rows, first) \
    K_UNROLL for (int k_f = 0; k_f < (F); k_f++) K_UNROLL for (int k_r = 0; k_r < (n); k_r++) \
        x[(f) + k_f][k_r] = K_TILE(u, k_t, rows)[((first) + k_f * (n) + k_r) * LANES + K_LANE_ID]
#define K_STORE(x, f, F, n, u, rows, first) \
    K_UNROLL for (int k_f = 0; k_f < (F); k_f++) K_UNROLL for (int k_r = 0; k_r < (n); k_r++) \
        K_TILE(u, k_t, rows)[((first) + k_f * (n) + k_r) * LANES + K_LANE_ID] = x[(f) + k_f][k_r]
#define K_SUMLOAD(x, f, F, n, u, rows, first) K_LOAD(x, f, F, n, u, rows, first)
#define K_POINTLOAD(y, f, c, n, u, rows, first) \
    K_UNROLL for (int k_r = 0; k_r < K_FN; k_r++) \
        y[f][k_r] = (c) * K_FN + k_r < (n) \
                        ? K_TILE(u, k_t, rows)[((first) + (c) * K_FN + k_r) * LANES + K_LANE_ID] \
                        : K_R(0)
#define K_POINTROWS(y, f, i, c, n, u, rows, row) \
    K_UNROLL for (int k_q = 0; k_q < K_FN; k_q++) \
    { \
        const int i = K_POINT(c, n); \
        (void)i; \
        y[f][k_q] = K_TILE(u, k_t, rows)[(row) * LANES + K_LANE_ID]; \
    }
#define K_QUARTERVAR(type, x) type x[4]
#define K_QUARTERS(f) \
    K_UNROLL for (int k_q = 0; k_q < 8; k_q += 2) \
        for (int f = k_q / 2, k_one = 1; k_one; k_one = 0) K_LANE
#define K_V(x) x[k_q / 2 % 4]
#define K_POINTSTORE(y, f, c, n, u, rows, first) \
    K_UNROLL for (int k_r = 0; k_r < K_FN; k_r++) \
        if ((c) * K_FN + k_r < (n)) \
    K_TILE(u, k_t, rows)[((first) + (c) * K_FN + k_r) * LANES + K_LANE_ID] = y[f][k_r]
#define K_PAIR_AT(u, rows, first, pairs, i) \
    (K_TILE(u, k_t, rows)[((first) + (pairs)[i]) * LANES + K_LANE_ID])
#define K_POINTPAIRS(e, o, f, c, n, u, rows, first, pairs) \
    K_UNROLL for (int k_r = 0; k_r < K_FN; k_r++) \
    { \
        const int k_at = 2 * K_MIN((c) * K_FN + k_r, (n) - 1); \
        const real k_a = K_PAIR_AT(u, rows, first, pairs, k_at); \
        const real k_b = K_PAIR_AT(u, rows, first, pairs, k_at + 1); \
        e[f][k_r] = (c) * K_FN + k_r < (n) ? k_a + k_b : K_R(0); \
        o[f][k_r] = (c) * K_FN + k_r < (n) ? k_a - k_b : K_R(0); \
    }
#define K_LOADPAIRS(xe, xo, f, ne, no, u, rows, first, pairs) \
    K_TAKE_PAIRS(xe, xo, f, K_R(1), ne, no, u, rows, first, pairs)
#define K_SUMPAIRS(ze, zo, f, ne, no, u, rows, first, pairs) \
    K_TAKE_PAIRS(ze, zo, f, K_R(0.5), ne, no, u, rows, first, pairs)
#define K_TAKE_PAIRS(e, o, f, scale, ne, no, u, rows, first, pairs) \
    K_UNROLL for (int k_r = 0; k_r < (ne); k_r++) \
    { \
        const real k_a = K_PAIR_AT(u, rows, first, pairs, 2 * k_r); \
        const real k_b = K_PAIR_AT(u, rows, first, pairs, 2 * k_r + 1); \
        e[f][k_r] = scale * (k_a + k_b); \
        if (k_r < (no)) o[f][K_MIN(k_r, (no) - 1)] = scale * (k_a - k_b); \
    }
#define K_STOREPAIRS(ze, zo, f, ne, no, u, rows, first, pairs) \
    K_UNROLL for (int k_r = 0; k_r < (ne); k_r++) \
    { \
        const real k_d = k_r < (no) ? zo[f][K_MIN(k_r, (no) - 1)] : K_R(0); \
        K_PAIR_AT(u, rows, first, pairs, 2 * k_r) = ze[f][k_r] + k_d; \
        K_PAIR_AT(u, rows, first, pairs, 2 * k_r + 1) = ze[f][k_r] - k_d; \
    }
#define K_FOLD(e, o, f, a, b) \
    K_UNROLL for (int k_r = 0; k_r < 8; k_r++) \
    { \
        K_NEEDS_CHUNKS_OF_8; \
        const real k_x = a[f][k_r], k_y = b[f][K_OPPOSITE(k_r)]; \
        e[f][k_r] = k_x + k_y; \
        o[f][k_r] = k_x - k_y; \
    }
#define K_POINTPUT(y, f, i, c, n, u, rows, condition, row) \
    K_UNROLL for (int k_q = 0; k_q < K_FN; k_q++) \
    { \
        const int i = K_POINT(c, n); \
        (void)i; \
        if (condition) K_TILE(u, k_t, rows)[(row) * LANES + K_LANE_ID] = y[f][k_q]; \
    }
#define K_TAKE(y, f, c, z, g) \
    K_UNROLL for (int k_r = 0; k_r < K_FN; k_r++) y[f][k_r] = z[g][K_ROW_OF(z, (c) * K_FN + k_r)]
#define K_GIVE(z, g, c, y, f) \
    K_UNROLL for (int k_r = 0; k_r < K_FN; k_r++) \
        if ((c) * K_FN + k_r <= K_LAST_ROW(z)) z[g][K_ROW_OF(z, (c) * K_FN + k_r)] = y[f][k_r]
#define K_LAST_ROW(z) ((int)(sizeof z[0] / sizeof z[0][0]) - 1)
#define K_ROW_OF(z, row) K_MIN(row, K_LAST_ROW(z))
#define K_LANELOAD(x, u, rows, row) x[0] = K_TILE(u, k_t, rows)[(row) * LANES + K_LANE_ID]
#define K_ZERO(x, F, n) \
    K_UNROLL for (int k_f = 0; k_f < (F); k_f++) K_UNROLL for (int k_r = 0; k_r < (n); k_r++) \
        x[k_f][k_r] = K_R(0)
#define K_MUL(y, F, A, M, K, c, x) \
    do { \
        K_UNROLL for (int k_f = 0; k_f < (F); k_f++) K_UNROLL for (int k_r = 0; k_r < K_FN; k_r++) \
            y[k_f][k_r] = K_R(0); \
        K_UNROLL for (int k_k = 0; k_k < (K); k_k++) K_UNROLL for (int k_r = 0; k_r < K_FN; k_r++) { \
            const real k_a = (A)[K_PACKED((c) * K_FN + k_r, k_k, K)]; \
            K_UNROLL for (int k_f = 0; k_f < (F); k_f++) y[k_f][k_r] += k_a * x[k_f][k_k]; \
        } \
    } while (0)
#define K_MULADD(z, F, P, M, K, c, y) \
    K_UNROLL for (int k_m = 0; k_m < (M); k_m++) K_UNROLL for (int k_r = 0; k_r < K_FN; k_r++) { \
        const real k_a = (P)[K_PACKED(k_m, (c) * K_FN + k_r, K)]; \
        K_UNROLL for (int k_f = 0; k_f < (F); k_f++) z[k_f][k_m] += k_a * y[k_f][k_r]; \
    }
#endif
