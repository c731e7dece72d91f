/* The inverses of the operator's diagonal blocks, one for each element, or of its diagonal: how they are found, and
 * their product with a vector, alone or in a step of smoothing.
 *
 * A block is symmetric: its lower triangle is kept, row by row, entry (i, j ≤ i) at i (i + 1)/2 + j.
 *
 *     colour  i32 [own tiles][lanes] of elements
 *     blocks  f64 [own tiles][PACKED][lanes], inverse the same of `real`s
 *
 * `invert_blocks` sweeps every row [goodnight1979]: with the pivot d = a_kk
 *
 *     a_ij -= a_ik a_jk / d,  a_ik /= d,  a_kk = -1/d
 *
 * after which there is minus the inverse; all pivots are positive if and only if the block is positive
 * definite. `least` is the smallest.
 *
 * Of the diagonal (take_entry, invert_entries, multiply_diagonal, smooth_diagonal) there are NP entries in place of
 * PACKED.
 *
 * With ALONE = 1 each element has a thread of its own in products.
 *
 * Bytes for an element, of `real`s: PACKED + 2 NP, and in a step of smoothing up to PACKED + 5 NP; flops
 * 2 NP². With the diagonal 3 NP and up to 6 NP. */
#define PACKED (NP * (NP + 1) / 2)

/* Where entry (i, j) stands. */
#define ENTRY(i, j) ((i) >= (j) ? (i) * ((i) + 1) / 2 + (j) : (j) * ((j) + 1) / 2 + (i))

/* u = 1 at a node of the elements of a colour, 0 elsewhere. */
K_KERNEL(mark_node, K_IN(i32, colour, LANES), K_VAL(i32, which), K_VAL(i32, node),
         K_OUT(real, u, NP *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NP)
        {
            const real one = i == node ? K_R(1) : K_R(0);
            K_TILE(u, t, NP)[i * LANES + lane] = K_TILE(colour, t, 1)[lane] == which ? one : K_R(0);
        }
    }
}

/* Column `node` of the blocks of a colour. */
K_KERNEL(take_column, K_IN(i32, colour, LANES), K_VAL(i32, which), K_VAL(i32, node),
         K_IN(real, y, NP *LANES), K_INOUT(f64, blocks, PACKED *LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, NP)
        {
            if (i >= node) {
                K_LANE
                {
                    const int at = (i * (i + 1) / 2 + node) * LANES + lane;
                    const f64 old = K_TILE(blocks, t, PACKED)[at];
                    const f64 fresh = (f64)K_TILE(y, t, NP)[i * LANES + lane];
                    K_TILE(blocks, t, PACKED)[at] =
                        K_TILE(colour, t, 1)[lane] == which ? fresh : old;
                }
            }
        }
    }
}

K_KERNEL(invert_blocks, K_INOUT(f64, blocks, PACKED *LANES), K_OUT(real, inverse, PACKED *LANES),
         K_OUT(f64, least, LANES))
{
    K_SHARED(f64, column, NP);
    K_SHARED(f64, smallest, 1);
    K_TILES(t)
    {
        K_NODES(i, 1) smallest[0][lane] = K_INFINITY;
        for (int k = 0; k < NP; k++) {
            K_NODES(i, NP) column[i][lane] = K_TILE(blocks, t, PACKED)[ENTRY(i, k) * LANES + lane];
            K_SYNC;
            K_NODES(i, 1) smallest[0][lane] = K_MIN(smallest[0][lane], column[k][lane]);
            for (int i = 0; i < NP; i++) {
                K_ROWS(j, NP)
                {
                    if (j <= i) {
                        const int at = (i * (i + 1) / 2 + j) * LANES;
                        K_LANE
                        {
                            const f64 pivot = column[k][lane];
                            const f64 old = K_TILE(blocks, t, PACKED)[at + lane];
                            const f64 off = i == k ? column[j][lane] : column[i][lane];
                            const f64 swept = old - column[i][lane] * column[j][lane] / pivot;
                            const f64 on = i == j ? -1 / pivot : off / pivot;
                            K_TILE(blocks, t, PACKED)[at + lane] = i == k || j == k ? on : swept;
                        }
                    }
                }
            }
            K_SYNC;
        }
        for (int i = 0; i < NP; i++) {
            K_ROWS(j, NP)
            {
                if (j <= i) {
                    const int at = (i * (i + 1) / 2 + j) * LANES;
                    K_LANE K_TILE(inverse, t, PACKED)[at + lane] =
                        -(real)K_TILE(blocks, t, PACKED)[at + lane];
                }
            }
        }
        K_NODES(i, 1) K_TILE(least, t, 1)[lane] = smallest[0][lane];
    }
}

/* y = B r for an element alone, by a thread of its own: every entry is read once, all sums stay in
 * registers. */
#define ALONE_TIMES(number, y) \
    number y[NP], k_x[NP]; \
    K_UNROLL for (int i = 0; i < NP; i++) k_x[i] = K_TILE(r, t, NP)[i * LANES + lane], y[i] = 0; \
    K_UNROLL for (int i = 0; i < NP; i++) \
    { \
        K_UNROLL for (int j = 0; j < i; j++) \
        { \
            const number k_a = K_TILE(inverse, t, PACKED)[(i * (i + 1) / 2 + j) * LANES + lane]; \
            y[i] += k_a * k_x[j]; \
            y[j] += k_a * k_x[i]; \
        } \
        y[i] += K_TILE(inverse, t, PACKED)[(i * (i + 3) / 2) * LANES + lane] * k_x[i]; \
    }

/* sum = row i of B times x, a K_SHARED array: entries off the diagonal are read twice. */
#define ROW_TIMES(sum, x) \
    K_LANE K_L(sum) = 0; \
    for (int j = 0; j < i; j++) \
        K_LANE K_L(sum) += \
            K_TILE(inverse, t, PACKED)[(i * (i + 1) / 2 + j) * LANES + lane] * x[j][lane]; \
    for (int j = i; j < NP; j++) \
        K_LANE K_L(sum) += \
            K_TILE(inverse, t, PACKED)[(j * (j + 1) / 2 + i) * LANES + lane] * x[j][lane];

/* z = B r, in numbers of a type. */
#if ALONE
#define MULTIPLY(number) \
    K_NODES(row, 1) \
    { \
        ALONE_TIMES(number, y) \
        K_UNROLL for (int i = 0; i < NP; i++) K_TILE(z, t, NP)[i * LANES + lane] = y[i]; \
    }
#else
#define MULTIPLY(number) \
    K_NODES(i, NP) x[i][lane] = K_TILE(r, t, NP)[i * LANES + lane]; \
    K_SYNC; \
    K_ROWS(i, NP) \
    { \
        K_LANEVAR(number, sum); \
        ROW_TIMES(sum, x) \
        K_LANE K_TILE(z, t, NP)[i * LANES + lane] = K_L(sum); \
    }
#endif

K_KERNEL(multiply_blocks, K_IN(real, inverse, PACKED *LANES), K_IN(real, r, NP *LANES),
         K_OUT(real, z, NP *LANES))
{
    K_SHARED(real, x, ALONE ? 1 : NP);
    K_TILES(t)
    {
        MULTIPLY(real)
    }
}

/* The same for vectors of double precision, whatever that of B. */
K_KERNEL(multiply_wide, K_IN(real, inverse, PACKED *LANES), K_IN(f64, r, NP *LANES),
         K_OUT(f64, z, NP *LANES))
{
    K_SHARED(f64, x, ALONE ? 1 : NP);
    K_TILES(t)
    {
        MULTIPLY(f64)
    }
}

/* d = a d + c B r, x = keep x + w d; what is multiplied by 0 is not read. */
K_KERNEL(smooth_blocks, K_IN(real, inverse, PACKED *LANES), K_VAL(real, a), K_VAL(real, c),
         K_VAL(real, keep), K_VAL(real, w), K_IN(real, r, NP *LANES), K_INOUT(real, d, NP *LANES),
         K_INOUT(real, x, NP *LANES))
{
    K_SHARED(real, rest, ALONE ? 1 : NP);
    K_TILES(t)
    {
#if ALONE
        K_NODES(row, 1)
        {
            ALONE_TIMES(real, y)
            K_UNROLL for (int i = 0; i < NP; i++)
            {
                const int at = i * LANES + lane;
                const real before = a != 0 ? a * K_TILE(d, t, NP)[at] : 0;
                const real old = keep != 0 ? keep * K_TILE(x, t, NP)[at] : 0;
                const real fresh = before + c * y[i];
                K_TILE(d, t, NP)[at] = fresh;
                K_TILE(x, t, NP)[at] = old + w * fresh;
            }
        }
#else
        K_NODES(i, NP) rest[i][lane] = K_TILE(r, t, NP)[i * LANES + lane];
        K_SYNC;
        K_ROWS(i, NP)
        {
            K_LANEVAR(real, sum);
            ROW_TIMES(sum, rest)
            K_LANE K_L(sum) *= c;
            if (a != 0) K_LANE K_L(sum) += a * K_TILE(d, t, NP)[i * LANES + lane];
            K_LANE K_TILE(d, t, NP)[i * LANES + lane] = K_L(sum);
            K_LANE K_L(sum) *= w;
            if (keep != 0) K_LANE K_L(sum) += keep * K_TILE(x, t, NP)[i * LANES + lane];
            K_LANE K_TILE(x, t, NP)[i * LANES + lane] = K_L(sum);
        }
#endif
    }
}

/* Entry `node` of the diagonals of a colour. */
K_KERNEL(take_entry, K_IN(i32, colour, LANES), K_VAL(i32, which), K_VAL(i32, node),
         K_IN(real, y, NP *LANES), K_INOUT(f64, blocks, NP *LANES))
{
    K_TILES(t)
    {
        K_NODES(row, 1)
        {
            const int at = node * LANES + lane;
            const f64 old = K_TILE(blocks, t, NP)[at];
            const f64 fresh = (f64)K_TILE(y, t, NP)[at];
            K_TILE(blocks, t, NP)[at] = K_TILE(colour, t, 1)[lane] == which ? fresh : old;
        }
    }
}

K_KERNEL(invert_entries, K_IN(f64, blocks, NP *LANES), K_OUT(real, inverse, NP *LANES),
         K_OUT(f64, least, LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NP)
        K_TILE(inverse, t, NP)[i * LANES + lane] =
            (real)(1 / K_TILE(blocks, t, NP)[i * LANES + lane]);
        K_ROWS(row, 1)
        {
            K_LANEVAR(f64, smallest);
            K_LANE K_L(smallest) = K_TILE(blocks, t, NP)[lane];
            for (int i = 1; i < NP; i++)
                K_LANE
                {
                    const f64 x = K_TILE(blocks, t, NP)[i * LANES + lane], s = K_L(smallest);
                    K_L(smallest) = (s != s) | (s <= x) ? s : x; /* NaN is not passed over */
                }
            K_LANE K_TILE(least, t, 1)[lane] = K_L(smallest);
        }
    }
}

/* z = B r */
K_KERNEL(multiply_diagonal, K_IN(real, inverse, NP *LANES), K_IN(real, r, NP *LANES),
         K_OUT(real, z, NP *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NP)
        K_TILE(z, t, NP)[i * LANES + lane] =
            K_TILE(inverse, t, NP)[i * LANES + lane] * K_TILE(r, t, NP)[i * LANES + lane];
    }
}

/* d = a d + c B r, x = keep x + w d; what is multiplied by 0 is not read. */
K_KERNEL(smooth_diagonal, K_IN(real, inverse, NP *LANES), K_VAL(real, a), K_VAL(real, c),
         K_VAL(real, keep), K_VAL(real, w), K_IN(real, r, NP *LANES), K_INOUT(real, d, NP *LANES),
         K_INOUT(real, x, NP *LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, NP)
        {
            K_LANEVAR(real, sum);
            K_LANE K_L(sum) =
                c * K_TILE(inverse, t, NP)[i * LANES + lane] * K_TILE(r, t, NP)[i * LANES + lane];
            if (a != 0) K_LANE K_L(sum) += a * K_TILE(d, t, NP)[i * LANES + lane];
            K_LANE K_TILE(d, t, NP)[i * LANES + lane] = K_L(sum);
            K_LANE K_L(sum) *= w;
            if (keep != 0) K_LANE K_L(sum) += keep * K_TILE(x, t, NP)[i * LANES + lane];
            K_LANE K_TILE(x, t, NP)[i * LANES + lane] = K_L(sum);
        }
    }
}
