/* Between values at the nodes of elements (of `real`) and at the unknowns of a matrix (plain vectors,
 * of the type that a kernel's name says).
 *
 * Pᵀ: unknown i is the sum of its nodes' values, whose places in the field stand as columns of a sparse
 * matrix do (sparse.k.c), filled up with place 0, where fields have a zero. Tiles are slices of unknowns. */
#define SUM_OF_NODES \
    K_LANEVAR(real, sum); \
    K_LANE K_L(sum) = 0; \
    for (i64 k = start[t]; k < start[t + 1]; k += LANES) K_LANE K_L(sum) += b[place[k + lane]];

K_KERNEL(gather_f64, K_IN(i64, start), K_IN(i32, place), K_IN(real, b), K_OUT(f64, out, LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, 1)
        {
            SUM_OF_NODES
            K_LANE K_TILE(out, t, 1)[lane] = (f64)K_L(sum);
        }
    }
}

K_KERNEL(gather_f32, K_IN(i64, start), K_IN(i32, place), K_IN(real, b), K_OUT(f32, out, LANES))
{
    K_TILES(t)
    {
        K_ROWS(i, 1)
        {
            SUM_OF_NODES
            K_LANE K_TILE(out, t, 1)[lane] = (f32)K_L(sum);
        }
    }
}

/* P: number [tiles][NP][lanes] are the unknowns of nodes. x keeps what it has if `add`. */
#define VALUE_OF_UNKNOWN \
    const real value = (real)from[K_TILE(number, t, NP)[i * LANES + lane]]; \
    const real before = add ? K_TILE(x, t, NP)[i * LANES + lane] : 0; \
    K_TILE(x, t, NP)[i * LANES + lane] = before + value;

K_KERNEL(scatter_f64, K_VAL(i32, add), K_IN(i32, number, NP *LANES), K_IN(f64, from),
         K_INOUT(real, x, NP *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NP) { VALUE_OF_UNKNOWN }
    }
}

K_KERNEL(scatter_f32, K_VAL(i32, add), K_IN(i32, number, NP *LANES), K_IN(f32, from),
         K_INOUT(real, x, NP *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NP) { VALUE_OF_UNKNOWN }
    }
}
