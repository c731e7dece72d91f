/* Values that other ranks need, gathered into one contiguous array, and those of the ghosts,
 * scattered from one. Lists are filled up to whole tiles of ROWS rows. */

/* packed[k] = u[from[k]] */
K_KERNEL(pack, K_IN(real, u), K_IN(i64, from, ROWS *LANES), K_OUT(real, packed, ROWS *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, ROWS)
        {
            const i64 k = ((i64)t * ROWS + i) * LANES + lane;
            packed[k] = u[from[k]];
        }
    }
}

/* u[to[k]] = packed[from[k]] for k < count; no two to[k] are the same. */
K_KERNEL(unpack, K_IN(real, packed), K_IN(i64, from, ROWS *LANES), K_IN(i64, to, ROWS *LANES),
         K_VAL(i64, count), K_INOUT(real, u))
{
    K_TILES(t)
    {
        K_NODES(i, ROWS)
        {
            const i64 k = ((i64)t * ROWS + i) * LANES + lane;
            if (k < count) u[to[k]] = packed[from[k]];
        }
    }
}
