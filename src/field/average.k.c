/* Means and covariances over time. Fields are [tiles][components][np][LANES]; rows of a launch
 * number tiles and nodes, and a tile of it takes ROWS of them. */

/* Component `component` of a field becomes component `to_component` of another. */
K_KERNEL(take, K_VAL(i64, rows), K_VAL(i32, np), K_VAL(i64, from_row), K_VAL(i32, components),
         K_VAL(i32, component), K_IN(real, from), K_VAL(i64, to_row), K_VAL(i32, to_components),
         K_VAL(i32, to_component), K_INOUT(real, to))
{
    K_TILES(t)
    {
        K_ROWS(k, ROWS)
        {
            const i64 row = (i64)t * ROWS + k;
            if (row < rows) {
                const i64 tile = row / np, i = row % np;
                const i64 a = (from_row + (tile * components + component) * np + i) * LANES;
                const i64 b = (to_row + (tile * to_components + to_component) * np + i) * LANES;
                K_LANE to[b + lane] = from[a + lane];
            }
        }
    }
}

#ifdef COUNT
#define NOW(c) now[(now_row + (tile * COUNT + (c)) * np + i) * LANES + lane]
#define OLD(c) old[(old_row + (tile * ALL + (c)) * np + i) * LANES + lane]
#define TO(c) to[(to_row + (tile * ALL + (c)) * np + i) * LANES + lane]
/* How far component c of the state is from its mean so far. */
#define AWAY(c) (NOW(c) - OLD(c))

/* to = old with the state `now` [tiles][COUNT][np], whose share is `share`. Components 0 … COUNT -
 * 1 of old and to [tiles][ALL][np] are means, the others covariances of pairs of the first VARIED
 * of these. */
K_KERNEL(advance, K_VAL(i64, rows), K_VAL(i32, np), K_VAL(real, share), K_VAL(i64, now_row),
         K_IN(real, now), K_VAL(i64, old_row), K_IN(real, old), K_VAL(i64, to_row),
         K_OUT(real, to))
{
    K_TILES(t)
    {
        K_ROWS(k, ROWS)
        {
            const i64 row = (i64)t * ROWS + k;
            if (row < rows) {
                const i64 tile = row / np, i = row % np;
                for (int a = 0, pair = COUNT; a < VARIED; a++)
                    for (int b = a; b < VARIED; b++, pair++)
                        K_LANE
                        {
                            const real c = (1 - share) * (OLD(pair) + share * AWAY(a) * AWAY(b));
                            TO(pair) = share == 1 ? 0 : c;
                        }
                for (int a = 0; a < COUNT; a++)
                    K_LANE TO(a) = share == 1 ? NOW(a) : OLD(a) + share * AWAY(a);
            }
        }
    }
}
#endif
