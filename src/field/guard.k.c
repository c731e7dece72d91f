/* How bad the values of elements are: the kernels of eg_guard, which puts before this file a
 * K_FUNC for each quantity that must be positive and
 *
 *     #define QUANTITIES(Q)
 *         K_LANE { Q(0, positive_0(PX, PY, PZ, (real)time, U(0), U(1), …)) Q(1, …) … }
 *
 * A field's group has its values from row `first` on: [tiles][COMPONENTS][np][LANES];
 * coordinates x are [tiles][DIM][np][LANES] (COORDINATES = 0: no quantity needs them, and they
 * are not read). limit holds the largest |value| of each component and then what a value is
 * multiplied with to compare those of different components. Elements of weight 0 (padding) are
 * fine, whatever they hold; tile 0 is tile `own` of their group. */

#ifndef QUANTITIES
#define QUANTITIES(Q)
#endif

/* What guard_look.c knows, too. */
#define GROWN_MOST 1e300
#define UNPHYSICAL 1e301
#define NOT_FINITE 1e302

#define U(c) (values[(first + (tile * COMPONENTS + (c)) * np + i) * LANES + lane])
#if COORDINATES
#define COORDINATE(d) ((real)x[((tile * DIM + (d)) * np + i) * LANES + lane])
#else
#define COORDINATE(d) K_R(0.0)
#endif
#define PX COORDINATE(0)
#define PY COORDINATE(1)
#define PZ (DIM == 3 ? COORDINATE(DIM - 1) : K_R(0.0))

K_FUNC f64 absolute(f64 a) { return a < 0 ? -a : a; }
/* The larger of two, or NaN if one is NaN. */
K_FUNC f64 larger(f64 a, f64 b) { return a > b || a != a ? a : b; }
K_FUNC f64 badness(f64 a, f64 limit, f64 scale)
{
    const f64 grown = a * scale < GROWN_MOST ? a * scale : GROWN_MOST;
    return a - a != 0 ? NOT_FINITE : a > limit ? grown : 0;
}
/* True if q is lower than `lowest`; NaN is lowest of all. */
K_FUNC int is_lower(f64 q, f64 lowest) { return lowest == lowest && !(q >= lowest); }

/* The worst of each element, in `parts` parts of its nodes: 0 if all is well, else ordered by
 * gravity. Rows of score number tiles and parts, from row `to` on. */
#define JUDGE(k, value) \
    { \
        const f64 q = (value), bad = q > 0 ? 0 : UNPHYSICAL; \
        K_L(worst) = bad > K_L(worst) ? bad : K_L(worst); \
    }

K_KERNEL(look, K_VAL(i64, rows), K_VAL(i32, parts), K_VAL(i64, own), K_VAL(i32, np),
         K_VAL(f64, time), K_VAL(i64, first), K_IN(real, values), K_IN(f64, x), K_IN(f64, active),
         K_IN(f64, limit), K_VAL(i64, to), K_OUT(f64, score))
{
    K_TILES(t)
    {
        K_ROWS(k, ROWS)
        {
            const i64 row = (i64)t * ROWS + k;
            if (row < rows) {
                const i64 tile = row / parts;
                const int part = (int)(row % parts);
                K_LANEVAR(f64, worst);
                K_LANE K_L(worst) = 0;
                for (int c = 0; c < COMPONENTS; c++) {
                    const f64 most = limit[c], scale = limit[COMPONENTS + c];
                    for (int i = part; i < np; i += parts)
                        K_LANE
                        {
                            const f64 bad = badness(absolute(U(c)), most, scale);
                            K_L(worst) = bad > K_L(worst) ? bad : K_L(worst);
                        }
                }
                for (int i = part; i < np; i += parts) { QUANTITIES(JUDGE) } /* still in a cache */
                K_LANE score[(to + row) * LANES + lane] =
                    active[(own + tile) * LANES + lane] != 0 ? K_L(worst) : 0;
            }
        }
    }
}

/* The largest |value| of one component, in parts as above; NaN are kept. */
K_KERNEL(largest, K_VAL(i64, rows), K_VAL(i32, parts), K_VAL(i64, own), K_VAL(i32, np),
         K_VAL(i64, first), K_VAL(i32, component), K_IN(real, values), K_IN(f64, active),
         K_VAL(i64, to), K_OUT(f64, score))
{
    K_TILES(t)
    {
        K_ROWS(k, ROWS)
        {
            const i64 row = (i64)t * ROWS + k;
            if (row < rows) {
                const i64 tile = row / parts;
                K_LANEVAR(f64, most);
                K_LANE K_L(most) = 0;
                for (int i = (int)(row % parts); i < np; i += parts)
                    K_LANE K_L(most) = larger(absolute(U(component)), K_L(most));
                K_LANE score[(to + row) * LANES + lane] =
                    active[(own + tile) * LANES + lane] != 0 ? K_L(most) : 0;
            }
        }
    }
}

/* The worst of one kind (1: not finite, 2: growth, 3: unphysical, as eg_guard_kind) in each
 * element: found [tiles][3][LANES] is which component or quantity (-1: none), its node, its
 * value. The first of what is not finite; the lowest value of the first quantity that is not
 * positive. */
#define TAKE(condition, k, v) \
    { \
        const int take = (condition); \
        K_L(which) = take ? (f64)(k) : K_L(which); \
        K_L(node) = take ? (f64)i : K_L(node); \
        K_L(value) = take ? (f64)(v) : K_L(value); \
    }
#define IS_FIRST(k) (K_L(which) < 0 || (f64)(k) < K_L(which))
#define FIND(k, v) \
    { \
        const f64 q = (v); \
        TAKE(kind == 3 && !(q > 0) && \
                 (IS_FIRST(k) || ((f64)(k) == K_L(which) && is_lower(q, K_L(value)))), \
             k, q) \
    }

K_KERNEL(detail, K_VAL(i64, rows), K_VAL(i32, kind), K_VAL(i64, own), K_VAL(i32, np),
         K_VAL(f64, time), K_VAL(i64, first), K_IN(real, values), K_IN(f64, x), K_IN(f64, active),
         K_IN(f64, limit), K_OUT(f64, found))
{
    K_TILES(t)
    {
        K_ROWS(k, ROWS)
        {
            const i64 tile = (i64)t * ROWS + k;
            if (tile < rows) {
                K_LANEVAR(f64, which);
                K_LANEVAR(f64, node);
                K_LANEVAR(f64, value);
                K_LANEVAR(f64, grown);
                K_LANE K_L(which) = -1, K_L(node) = 0, K_L(value) = 0, K_L(grown) = 0;
                for (int i = 0; i < np; i++) {
                    for (int c = 0; c < COMPONENTS; c++) {
                        const f64 most = limit[c], scale = limit[COMPONENTS + c];
                        K_LANE
                        {
                            const f64 v = U(c), a = absolute(v);
                            const int more = kind == 2 && a > most && a * scale > K_L(grown);
                            const int lost = kind == 1 && a - a != 0 && K_L(which) < 0;
                            TAKE(more || lost, c, v)
                            K_L(grown) = more ? a * scale : K_L(grown);
                        }
                    }
                    QUANTITIES(FIND)
                }
                K_LANE
                {
                    const int counts = active[(own + tile) * LANES + lane] != 0;
                    found[(tile * 3 + 0) * LANES + lane] = counts ? K_L(which) : -1;
                    found[(tile * 3 + 1) * LANES + lane] = K_L(node);
                    found[(tile * 3 + 2) * LANES + lane] = K_L(value);
                }
            }
        }
    }
}
