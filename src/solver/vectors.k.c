/* Sums over vectors in an order that depends on sizes alone, and what is done to vectors value
 * by value.
 *
 * Sums: a part has `tiles` tiles of `rows` rows; block t of BLOCKS takes `chunk` tiles of it,
 * whose rows are one list; thread (row, lane) adds every ROWS-th of them in turn; then rows and
 * lanes are added pairwise. Elements of weight 0 (WEIGHTED = 1) count as 0, whatever they hold.
 * `finish` adds the partial sums of all blocks of all parts the same way.
 *
 * All else: buffers are lists of rows of LANES values, of which a launch's tile takes ROWS. */

#include "solver/sums.k.h"

#if K_CUDA
#define SOME_AT_ONCE _Pragma("unroll 4") /* of them are under way at once */
#else
#define SOME_AT_ONCE
#endif

#define ADD_TERM(sum, x, y) \
    K_LANE \
    { \
        const f64 term = (f64)x[first + lane] * (f64)y[first + lane]; \
        K_P(sum) += COUNTS(tile) ? term : 0; \
    }

K_KERNEL(dots, K_VAL(i64, tiles), K_VAL(i64, chunk), K_VAL(i32, rows), K_VAL(i32, count),
         K_VAL(i64, to), K_VAL(i64, stride), K_IN(f64, weight), K_IN(real, x0), K_IN(real, y0),
         K_IN(real, x1), K_IN(real, y1), K_IN(real, x2), K_IN(real, y2), K_IN(real, x3),
         K_IN(real, y3), K_OUT(f64, partial))
{
    K_SHARED(f64, s, 4 * ROWS);
    K_PRIVATE(f64, sum0, ROWS);
    K_PRIVATE(f64, sum1, ROWS);
    K_PRIVATE(f64, sum2, ROWS);
    K_PRIVATE(f64, sum3, ROWS);
    K_TILES(t)
    {
        const i64 begin = K_MIN(t * chunk, tiles), end = K_MIN(begin + chunk, tiles);
        const i32 n = (i32)((end - begin) * rows);
        K_NODES(i, ROWS) K_P(sum0) = 0, K_P(sum1) = 0, K_P(sum2) = 0, K_P(sum3) = 0;
        SOME_AT_ONCE for (i32 j = 0; j < n; j += ROWS) {
            K_ROWS(i, ROWS)
            {
                if (j + i < n) {
                    const i64 tile = begin + (j + i) / rows;
                    const i64 first = (begin * rows + j + i) * LANES;
                    ADD_TERM(sum0, x0, y0)
                    if (count > 1) ADD_TERM(sum1, x1, y1)
                    if (count > 2) ADD_TERM(sum2, x2, y2)
                    if (count > 3) ADD_TERM(sum3, x3, y3)
                }
            }
        }
        K_NODES(i, ROWS)
        {
            s[i][lane] = K_P(sum0);
            s[ROWS + i][lane] = K_P(sum1);
            s[2 * ROWS + i][lane] = K_P(sum2);
            s[3 * ROWS + i][lane] = K_P(sum3);
        }
        TREE(s, count)
        K_ROWS(i, 4)
        {
            if (i < count) K_LANE if (lane == 0) partial[i * stride + to + t] = s[i * ROWS][0];
        }
    }
}

/* x += a p, r -= a q, and the sum of r². */
K_KERNEL(advance, K_VAL(i64, tiles), K_VAL(i64, chunk), K_VAL(i32, rows), K_VAL(i64, to),
         K_VAL(real, a), K_IN(f64, weight), K_IN(real, p), K_IN(real, q), K_INOUT(real, x),
         K_INOUT(real, r), K_OUT(f64, partial))
{
    K_SHARED(f64, s, ROWS);
    K_PRIVATE(f64, sum, ROWS);
    K_TILES(t)
    {
        const i64 begin = K_MIN(t * chunk, tiles), end = K_MIN(begin + chunk, tiles);
        const i32 n = (i32)((end - begin) * rows);
        K_NODES(i, ROWS) K_P(sum) = 0;
        for (i32 j = 0; j < n; j += ROWS) {
            K_ROWS(i, ROWS)
            {
                if (j + i < n) {
                    const i64 tile = begin + (j + i) / rows;
                    const i64 first = (begin * rows + j + i) * LANES;
                    K_LANE
                    {
                        const real rest = r[first + lane] - a * q[first + lane];
                        x[first + lane] += a * p[first + lane];
                        r[first + lane] = rest;
                        K_P(sum) += COUNTS(tile) ? (f64)rest * (f64)rest : 0;
                    }
                }
            }
        }
        K_NODES(i, ROWS) s[i][lane] = K_P(sum);
        TREE(s, 1)
        K_NODES(i, 1) if (lane == 0) partial[to + t] = s[0][0];
    }
}

/* Tile t: result[first + t] = the sum of partial[t][0 … count). */
K_KERNEL(finish, K_VAL(i32, count), K_VAL(i64, first), K_IN(f64, partial), K_OUT(f64, result))
{
    K_SHARED(f64, s, ROWS);
    K_PRIVATE(f64, sum, ROWS);
    K_TILES(t)
    {
        K_NODES(i, ROWS) K_P(sum) = 0;
        for (i32 j = 0; j < count; j += ROWS * LANES)
            K_NODES(i, ROWS)
            if (j + i * LANES + lane < count)
                K_P(sum) += partial[(i64)t * count + j + i * LANES + lane];
        K_NODES(i, ROWS) s[i][lane] = K_P(sum);
        TREE(s, 1)
        K_NODES(i, 1) if (lane == 0) result[first + t] = s[0][0];
    }
}

#if TERMS == 1
#define TERM_SUM(v) (a0 * x0[v])
#elif TERMS == 2
#define TERM_SUM(v) (a0 * x0[v] + a1 * x1[v])
#elif TERMS == 3
#define TERM_SUM(v) (a0 * x0[v] + a1 * x1[v] + a2 * x2[v])
#else
#define TERM_SUM(v) (a0 * x0[v] + a1 * x1[v] + a2 * x2[v] + a3 * x3[v])
#endif

/* y = b y + Σ a x, of TERMS terms. */
K_KERNEL(add, K_VAL(i64, rows), K_VAL(real, b), K_VAL(real, a0), K_VAL(real, a1), K_VAL(real, a2),
         K_VAL(real, a3), K_IN(real, x0), K_IN(real, x1), K_IN(real, x2), K_IN(real, x3),
         K_INOUT(real, y))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 first = ((i64)t * ROWS + i) * LANES;
            if ((i64)t * ROWS + i < rows) {
                if (b == 0) {
                    K_LANE y[first + lane] = TERM_SUM(first + lane);
                } else {
                    K_LANE y[first + lane] = b * y[first + lane] + TERM_SUM(first + lane);
                }
            }
        }
    }
}

/* d = a d + c z and x = keep x + w d in one pass; what is multiplied by 0 is not looked at. */
K_KERNEL(smooth, K_VAL(i64, rows), K_VAL(real, a), K_VAL(real, c), K_VAL(real, keep),
         K_VAL(real, w), K_IN(real, z), K_INOUT(real, d), K_INOUT(real, x))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 first = ((i64)t * ROWS + i) * LANES;
            if ((i64)t * ROWS + i < rows) {
                K_LANE
                {
                    const real before = d[first + lane], old = x[first + lane];
                    const real step = (a != 0 ? a * before : 0) + c * z[first + lane];
                    d[first + lane] = step;
                    x[first + lane] = (keep != 0 ? keep * old : 0) + w * step;
                }
            }
        }
    }
}

K_KERNEL(scale, K_VAL(i64, rows), K_VAL(real, b), K_INOUT(real, y))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 first = ((i64)t * ROWS + i) * LANES;
            if ((i64)t * ROWS + i < rows) K_LANE y[first + lane] *= b;
        }
    }
}

/* y = a x, value by value. */
K_KERNEL(multiply, K_VAL(i64, rows), K_IN(real, a), K_IN(real, x), K_OUT(real, y))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 first = ((i64)t * ROWS + i) * LANES;
            if ((i64)t * ROWS + i < rows)
                K_LANE y[first + lane] = a[first + lane] * x[first + lane];
        }
    }
}

/* From one precision to the other. */
K_KERNEL(narrow, K_VAL(i64, rows), K_IN(f64, x), K_OUT(f32, y))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 first = ((i64)t * ROWS + i) * LANES;
            if ((i64)t * ROWS + i < rows) K_LANE y[first + lane] = (f32)x[first + lane];
        }
    }
}

K_KERNEL(widen, K_VAL(i64, rows), K_IN(f32, x), K_OUT(f64, y))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 first = ((i64)t * ROWS + i) * LANES;
            if ((i64)t * ROWS + i < rows) K_LANE y[first + lane] = (f64)x[first + lane];
        }
    }
}
