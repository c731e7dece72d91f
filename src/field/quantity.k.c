/* How a quantity is gathered and added up.
 *
 * A part of a group is a list of its elements, by their places from the group's first slot on;
 * tiles of a part hold these one after the other, and its last tile repeats the last of them. A
 * launch has a tile for every ROWS rows of the result. */

/* The larger of two, or NaN if one is NaN. */
K_FUNC f64 larger(f64 a, f64 b)
{
    return a > b || a != a ? a : b;
}
K_FUNC f64 absolute(f64 a)
{
    return a < 0 ? -a : a;
}

/* n rows of every element of the list's tiles from `first` on: of an array that has `from_rows`
 * rows per tile, those from row `from_first` on; they become the rows from `to_first` on of the
 * `to_rows` that a tile of the result has. */
K_KERNEL(gather, K_VAL(i64, rows), K_VAL(i32, n), K_VAL(i64, first), K_IN(i32, places),
         K_IN(real, from), K_VAL(i64, from_first), K_VAL(i32, from_rows), K_VAL(i32, to_first),
         K_VAL(i32, to_rows), K_OUT(f64, to))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) {
                const i64 tile = row / n, j = row % n;
                const i64 source = (from_first + j) * LANES;
                const i64 result = (tile * to_rows + to_first + j) * LANES;
                K_LANE
                {
                    const i32 place = places[(first + tile) * LANES + lane];
                    const i32 within = place & (LANES - 1);
                    to[result + lane] = from[source + (i64)(place - within) * from_rows + within];
                }
            }
        }
    }
}

/* Adds values [tiles][quantities][count] of one quantity to what is kept for each element of a
 * tile: Σ w f q, Σ w f |q|, Σ w f q², the largest -q and the largest q. f, the measure at a point,
 * is row `factor_row` of the `factor_rows` rows that a tile has of it, each with `factor_points`
 * points (1: f is constant). Points of weight 0 count for the largest only. Only the first `active`
 * elements count. */
K_KERNEL(accumulate, K_VAL(i64, rows), K_VAL(i64, active), K_VAL(i32, quantities),
         K_VAL(i32, quantity), K_VAL(i32, count), K_IN(f64, weights), K_IN(f64, factor),
         K_VAL(i32, factor_row), K_VAL(i32, factor_rows), K_VAL(i32, factor_points),
         K_IN(f64, values), K_INOUT(f64, sum), K_INOUT(f64, sum_1), K_INOUT(f64, sum_2),
         K_INOUT(f64, below), K_INOUT(f64, above))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) {
                const i64 v = (row * quantities + quantity) * count;
                const i64 f = (row * factor_rows + factor_row) * factor_points;
                const int step = factor_points > 1;
                K_LANEVAR(f64, s);
                K_LANEVAR(f64, s1);
                K_LANEVAR(f64, s2);
                K_LANEVAR(f64, low);
                K_LANEVAR(f64, high);
                K_LANE
                {
                    const f64 value = values[v * LANES + lane];
                    K_L(s) = 0, K_L(s1) = 0, K_L(s2) = 0;
                    K_L(low) = -value, K_L(high) = value;
                }
                for (int q = 0; q < count; q++) {
                    const f64 w = weights[q];
                    if (w != 0) K_LANE
                        {
                            const f64 value = values[(v + q) * LANES + lane];
                            const f64 measure = w * factor[(f + q * step) * LANES + lane];
                            const f64 term = measure * value;
                            K_L(s) += term;
                            K_L(s1) += absolute(term);
                            K_L(s2) += term * value;
                        }
                    K_LANE
                    {
                        const f64 value = values[(v + q) * LANES + lane];
                        K_L(low) = larger(K_L(low), -value);
                        K_L(high) = larger(K_L(high), value);
                    }
                }
                K_LANE
                {
                    const i64 at = row * LANES + lane;
                    const int counts = at < active;
                    sum[at] += counts ? K_L(s) : 0;
                    sum_1[at] += counts ? K_L(s1) : 0;
                    sum_2[at] += counts ? K_L(s2) : 0;
                    below[at] = counts ? larger(K_L(low), below[at]) : below[at];
                    above[at] = counts ? larger(K_L(high), above[at]) : above[at];
                }
            }
        }
    }
}
