/* Sums, dot products and maxima in an order that depends on sizes alone.
 *
 * Block t, of at most BLOCKS, takes values [t*chunk, (t+1)*chunk); inside it, thread (row, lane) adds
 * every ROWS*LANES-th value in turn; then rows and lanes are added pairwise. `finish` adds the partial
 * results of all `blocks` the same way. KIND_k: 0 sum, 1 dot, 2 weighted dot, 3 max, 4 max |x|. Maxima keep
 * NaN. */

#define IS_MAX(kind) ((kind) >= 3)
#define FIRST(kind) (IS_MAX(kind) ? -1e308 * 1e10 : 0.0)

/* The larger of two, or NaN if one is NaN. */
K_FUNC f64 larger(f64 a, f64 b) { return a > b || a != a ? a : b; }
K_FUNC f64 join(int kind, f64 a, f64 b) { return IS_MAX(kind) ? larger(a, b) : a + b; }
K_FUNC f64 absolute(f64 a) { return a < 0 ? -a : a; }

#define TERM(kind, x, y, w, i) \
    ((kind) == 0   ? (f64)x[i] \
     : (kind) == 1 ? (f64)x[i] * (f64)y[i] \
     : (kind) == 2 ? (f64)w[i] * (f64)x[i] * (f64)y[i] \
     : (kind) == 3 ? (f64)x[i] \
                   : absolute((f64)x[i]))

/* Adds the rows and then the lanes of s pairwise; the result is in s[0][0]. */
#define TREE(kind, s) \
    for (int h = ROWS / 2; h > 0; h /= 2) { \
        K_NODES(i, ROWS / 2) if (i < h) s[i][lane] = join(kind, s[i][lane], s[i + h][lane]); \
        K_SYNC; \
    } \
    for (int h = LANES / 2; h > 0; h /= 2) { \
        K_NODES(i, 1) if (lane < h) s[i][lane] = join(kind, s[i][lane], s[i][lane + h]); \
        K_SYNC; \
    }

#define PARTIAL(k, kind, x, y, w) \
    K_NODES(i, ROWS) K_P(sum) = FIRST(kind); \
    for (i64 j = begin; j + ROWS * LANES <= end; j += ROWS * LANES) \
        K_NODES(i, ROWS) K_P(sum) = join(kind, K_P(sum), TERM(kind, x, y, w, j + i * LANES + lane)); \
    K_NODES(i, ROWS) \
    { \
        const i64 j = begin + (end - begin) / (ROWS * LANES) * (ROWS * LANES) + i * LANES + lane; \
        if (j < end) K_P(sum) = join(kind, K_P(sum), TERM(kind, x, y, w, j)); \
        s[i][lane] = K_P(sum); \
    } \
    K_SYNC; \
    TREE(kind, s) \
    K_NODES(i, 1) if (lane == 0) partial[(k) * BLOCKS + t] = s[0][0]; \
    K_SYNC;

K_KERNEL(reduce, K_VAL(i64, count), K_VAL(i64, chunk), K_IN(real, x0), K_IN(real, y0), K_IN(real, w0),
         K_IN(real, x1), K_IN(real, y1), K_IN(real, w1), K_IN(real, x2), K_IN(real, y2),
         K_IN(real, w2), K_IN(real, x3), K_IN(real, y3), K_IN(real, w3), K_OUT(f64, partial))
{
    K_SHARED(f64, s, ROWS);
    K_PRIVATE(f64, sum, ROWS);
    K_TILES(t)
    {
        const i64 begin = K_MIN(t * chunk, count), end = K_MIN(begin + chunk, count);
        PARTIAL(0, KIND_0, x0, y0, w0)
#if KINDS > 1
        PARTIAL(1, KIND_1, x1, y1, w1)
#endif
#if KINDS > 2
        PARTIAL(2, KIND_2, x2, y2, w2)
#endif
#if KINDS > 3
        PARTIAL(3, KIND_3, x3, y3, w3)
#endif
    }
}

#define KIND_OF(t) ((t) == 0 ? KIND_0 : (t) == 1 ? KIND_1 : (t) == 2 ? KIND_2 : KIND_3)

K_KERNEL(finish, K_VAL(i32, blocks), K_IN(f64, partial), K_OUT(f64, result))
{
    K_SHARED(f64, s, ROWS);
    K_PRIVATE(f64, sum, ROWS);
    K_TILES(t)
    {
        K_NODES(i, ROWS) K_P(sum) = FIRST(KIND_OF(t));
        for (int j = 0; j < blocks; j += ROWS * LANES)
            K_NODES(i, ROWS)
            if (j + i * LANES + lane < blocks)
                K_P(sum) = join(KIND_OF(t), K_P(sum), partial[(i64)t * BLOCKS + j + i * LANES + lane]);
        K_NODES(i, ROWS) s[i][lane] = K_P(sum);
        K_SYNC;
        TREE(KIND_OF(t), s)
        K_NODES(i, 1) if (lane == 0) result[t] = s[0][0];
    }
}
