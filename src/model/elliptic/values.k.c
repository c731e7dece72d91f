/* Expressions of a case at points, for model `elliptic`. The host puts before this file K_FUNCs and
 *     VALUE(b, x, y, z, t)   at boundary b, or anywhere if b < 0.
 * x is [tiles][DIM][COUNT][LANES]. */
#ifndef VALUE
#define VALUE(b, x, y, z, t) K_R(0)
#endif

#define PLACE(d) K_TILE(x, tile, DIM *COUNT)[((d) * COUNT + i) * LANES + lane]

K_KERNEL(everywhere, K_IN(f64, x, DIM *COUNT *LANES), K_VAL(f64, time),
         K_OUT(f64, values, COUNT *LANES))
{
    K_TILES(tile)
    {
        K_NODES(i, COUNT)
        {
            const f64 px = PLACE(0), py = PLACE(1), pz = DIM == 3 ? PLACE(DIM - 1) : 0;
            K_TILE(values, tile, COUNT)[i * LANES + lane] = VALUE(-1, px, py, pz, time);
        }
    }
}

/* Points of faces, COUNT / FACES of each; 0 where a face is no boundary. */
K_KERNEL(on_boundaries, K_IN(f64, x, DIM *COUNT *LANES), K_IN(i32, neighbour, FACES *LANES),
         K_VAL(f64, time), K_OUT(f64, values, COUNT *LANES))
{
    K_TILES(tile)
    {
        K_ROWS(i, COUNT)
        {
            const int f = i / (COUNT / FACES);
            K_LANE
            {
                const f64 px = PLACE(0), py = PLACE(1), pz = DIM == 3 ? PLACE(DIM - 1) : 0;
                const i32 b = -1 - K_TILE(neighbour, tile, FACES)[f * LANES + lane];
                const f64 value = b < 0 ? 0 : VALUE(b, px, py, pz, time);
                K_TILE(values, tile, COUNT)[i * LANES + lane] = value;
            }
        }
    }
}
