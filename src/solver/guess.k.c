/* First guesses from a basis of MOST vectors v, of which the first `count` count: value (tile, row, lane)
 * of vector k stands at ((tile*MOST + k)*rows + row)*LANES + lane of `basis`.
 *
 * Values that are moved, for each of a vector: combine reads count + 1 and writes 1; project reads
 * count + 2; renew reads count + 1 and writes count, or one more while the basis grows. */
#include "solver/sums.k.h"

#define BASIS(k) basis[((tile * MOST + (k)) * rows + row) * LANES + lane]

/* y = from x + sign Σ c_k v_k; x is not looked at if `from` is 0. */
K_KERNEL(combine, K_VAL(i64, tiles), K_VAL(i32, rows), K_VAL(i32, count), K_VAL(i32, from),
         K_VAL(real, sign), K_IN(f64, c), K_IN(real, basis), K_IN(real, x), K_OUT(real, y))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i32 at = (i32)t * ROWS + i;
            const i64 tile = at / rows, row = at % rows, first = (i64)at * LANES;
            if (tile < tiles) {
                K_LANEVAR(real, sum);
                K_LANE K_L(sum) = 0;
                if (from) K_LANE K_L(sum) = x[first + lane];
                K_UNROLL for (int k = 0; k < MOST; k++)
                {
                    if (k < count) K_LANE K_L(sum) += sign * (real)c[k] * BASIS(k);
                }
                K_LANE y[first + lane] = K_L(sum);
            }
        }
    }
}

/* Sums v_k·y, and last x·y, in blocks as those of vectors.k.c. */
K_KERNEL(project, K_VAL(i64, tiles), K_VAL(i64, chunk), K_VAL(i32, rows), K_VAL(i32, count),
         K_VAL(i64, to), K_VAL(i64, stride), K_IN(f64, weight), K_IN(real, basis), K_IN(real, x),
         K_IN(real, y), K_OUT(f64, partial))
{
    K_SHARED(f64, s, (MOST + 1) * ROWS);
    K_PRIVATE(f64, sum, (MOST + 1) * ROWS);
    K_TILES(t)
    {
        const i64 begin = K_MIN(t * chunk, tiles), end = K_MIN(begin + chunk, tiles);
        const i32 n = (i32)((end - begin) * rows);
        K_NODES(i, (MOST + 1) * ROWS) K_P(sum) = 0;
        for (i32 j = 0; j < n; j += ROWS) {
            K_ROWS(i, (MOST + 1) * ROWS)
            {
                const i32 k = i / ROWS, at = j + i % ROWS;
                if (at < n && (k < count || k == MOST)) {
                    const i64 tile = begin + at / rows, row = at % rows;
                    const i64 first = (begin * rows + at) * LANES;
                    if (k < MOST) {
                        K_LANE
                        {
                            const f64 term = (f64)BASIS(k) * (f64)y[first + lane];
                            K_P(sum) += COUNTS(tile) ? term : 0;
                        }
                    } else {
                        K_LANE
                        {
                            const f64 term = (f64)x[first + lane] * (f64)y[first + lane];
                            K_P(sum) += COUNTS(tile) ? term : 0;
                        }
                    }
                }
            }
        }
        K_NODES(i, (MOST + 1) * ROWS) s[i][lane] = K_P(sum);
        TREE(s, MOST + 1)
        K_ROWS(i, MOST + 1)
        {
            K_LANE if (lane == 0) partial[i * stride + to + t] = s[i * ROWS][0];
        }
    }
}

/* The basis that begins with the solution x, see guess.c: e is what x has beside the last guess, `part`
 * what e has of each v; `norm` is 1/‖x‖. */
K_KERNEL(renew, K_VAL(i64, tiles), K_VAL(i32, rows), K_VAL(i32, count), K_VAL(f64, norm),
         K_IN(f64, part), K_IN(f64, a), K_IN(f64, keep), K_IN(f64, take), K_IN(real, e),
         K_INOUT(real, basis))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i32 at = (i32)t * ROWS + i;
            const i64 tile = at / rows, row = at % rows;
            if (tile < tiles) {
                K_LANEVAR(real, rest);
                K_LANEVAR(real, v);
                K_LANE K_L(rest) = e[(i64)at * LANES + lane];
                K_UNROLL for (int k = 0; k < MOST; k++)
                {
                    if (k < count) K_LANE K_L(rest) -= (real)part[k] * BASIS(k);
                }
                K_UNROLL for (int k = MOST - 1; k >= 0; k--)
                {
                    if (k < count) {
                        K_LANE K_L(v) = BASIS(k);
                        if (k + 1 < MOST)
                            K_LANE BASIS(k + 1) =
                                (real)keep[k] * K_L(v) - (real)take[k] * K_L(rest);
                        K_LANE K_L(rest) += (real)a[k] * K_L(v);
                    }
                }
                K_LANE BASIS(0) = (real)norm * K_L(rest);
            }
        }
    }
}
