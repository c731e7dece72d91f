/* Values of a field at points: a lane is a point, which gathers the values of its element.
 *
 * table [tiles][np][LANES] holds the basis at the points, slot [tiles][LANES] their elements by
 * slots of the group, whose values begin at value `first` of the field; lanes left over at the
 * end have some slot and zeros. Rows of values number tiles and components, from row `to` on. A
 * launch has a tile for every ROWS rows. */

K_KERNEL(probe, K_VAL(i64, rows), K_VAL(i32, components), K_VAL(i32, np), K_VAL(i64, first),
         K_IN(real, field), K_IN(f64, table), K_IN(i64, slot), K_VAL(i64, to), K_OUT(f64, values))
{
    K_TILES(t)
    {
        K_ROWS(k, ROWS)
        {
            const i64 row = (i64)t * ROWS + k;
            if (row < rows) {
                const i64 tile = row / components, c = row % components;
                K_LANEVAR(f64, sum);
                K_LANE K_L(sum) = 0;
                for (int i = 0; i < np; i++)
                    K_LANE
                    {
                        const i64 s = slot[tile * LANES + lane];
                        const i64 at = ((s / LANES * components + c) * np + i) * LANES + s % LANES;
                        K_L(sum) += table[(tile * np + i) * LANES + lane] * field[first + at];
                    }
                K_LANE values[(to + row) * LANES + lane] = K_L(sum);
            }
        }
    }
}
