/* Integrals of a field over each element, and of its difference from a function (EXACT = 1).
 *
 * values and exact are [tiles][components][count][LANES], tile 0 being tile `first` of its group; J
 * of a tile starts at row `jacobian_first` + tile*jacobian_stride and goes on by `jacobian_step`
 * rows from point to point: 0 on affine elements. Elements of weight 0 (padding) count as 0,
 * whatever they hold. Results are rows of one value for each element, from row `to` on. A launch
 * has a tile for every ROWS tiles. */

/* The larger of two, or NaN if one is NaN. */
K_FUNC f64 larger(f64 a, f64 b)
{
    return a > b || a != a ? a : b;
}
K_FUNC f64 absolute(f64 a)
{
    return a < 0 ? -a : a;
}

#define AT(row) ((row)*LANES + lane)
#define WEIGHT_J (weights[q] * jacobian[AT(j + (i64)q * jacobian_step)])
#if EXACT
#define VALUE(q) (values[AT(v + (q))] - exact[AT(v + (q))])
#else
#define VALUE(q) (values[AT(v + (q))])
#endif

/* ∫|e|, ∫e² and the largest |e|; `more`: the last joins what stands there. Points of weight 0 count
 * for the largest only. */
K_KERNEL(norms, K_VAL(i64, rows), K_VAL(i64, first), K_VAL(i32, components), K_VAL(i32, component),
         K_VAL(i32, count), K_IN(f64, weights), K_IN(f64, active), K_IN(f64, jacobian),
         K_VAL(i64, jacobian_first), K_VAL(i64, jacobian_stride), K_VAL(i32, jacobian_step),
         K_IN(f64, values), K_IN(f64, exact), K_VAL(i64, to), K_VAL(i32, more), K_OUT(f64, sum_1),
         K_OUT(f64, sum_2), K_INOUT(f64, most))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) {
                const i64 v = (row * components + component) * count;
                const i64 j = jacobian_first + row * jacobian_stride;
                K_LANEVAR(f64, s1);
                K_LANEVAR(f64, s2);
                K_LANEVAR(f64, m);
                K_LANE K_L(s1) = 0, K_L(s2) = 0, K_L(m) = 0;
                for (int q = 0; q < count; q++) {
                    if (weights[q] != 0) K_LANE
                        {
                            const f64 e = VALUE(q), we = WEIGHT_J * absolute(e);
                            K_L(s1) += we;
                            K_L(s2) += we * absolute(e);
                            K_L(m) = larger(K_L(m), absolute(e));
                        }
                    else
                        K_LANE K_L(m) = larger(K_L(m), absolute(VALUE(q)));
                }
                K_LANE
                {
                    const int counts = active[AT(first + row)] != 0;
                    const f64 old = more ? most[AT(to + row)] : 0;
                    sum_1[AT(to + row)] = counts ? K_L(s1) : 0;
                    sum_2[AT(to + row)] = counts ? K_L(s2) : 0;
                    most[AT(to + row)] = counts ? larger(K_L(m), old) : 0;
                }
            }
        }
    }
}

/* ∫ of one component. */
K_KERNEL(integral, K_VAL(i64, rows), K_VAL(i64, first), K_VAL(i32, components),
         K_VAL(i32, component), K_VAL(i32, count), K_IN(f64, weights), K_IN(f64, active),
         K_IN(f64, jacobian), K_VAL(i64, jacobian_first), K_VAL(i64, jacobian_stride),
         K_VAL(i32, jacobian_step), K_IN(f64, values), K_VAL(i64, to), K_OUT(f64, sum))
{
    K_TILES(t)
    {
        K_ROWS(i, ROWS)
        {
            const i64 row = (i64)t * ROWS + i;
            if (row < rows) {
                const i64 v = (row * components + component) * count;
                const i64 j = jacobian_first + row * jacobian_stride;
                K_LANEVAR(f64, s);
                K_LANE K_L(s) = 0;
                for (int q = 0; q < count; q++)
                    K_LANE K_L(s) += WEIGHT_J * values[AT(v + q)];
                K_LANE sum[AT(to + row)] = active[AT(first + row)] != 0 ? K_L(s) : 0;
            }
        }
    }
}
