/* Modes of a field between two spaces, and their sizes, by degree.
 *
 * A mode of an element is a product of orthonormal Legendre polynomials, M in each of DIM directions, the
 * first fastest. Its degree is the largest of its DIM indices. */
#include "field/trace.k.h"

/* The size sqrt(Σ u²) of the modes of each degree, but of the mean, the only one of degree 0, itself:
 * out [tiles][COMPONENTS][M][lane]. The largest is found first, so that no square is too large or too
 * small. */
K_KERNEL(sizes, K_IN(real, u, COMPONENTS *NP *LANES), K_OUT(f64, out, COMPONENTS *M *LANES))
{
    K_TILES(t)
    {
        K_ROWS(row, COMPONENTS * M)
        {
            const int n = row % M;
            K_GLOBAL const real *modes = K_TILE(u, t, COMPONENTS * NP) + row / M * (NP * LANES);
            K_LANEVAR(f64, most);
            K_LANEVAR(f64, scale);
            K_LANEVAR(f64, sum);
            K_LANE
            {
                K_L(most) = 0;
                K_L(sum) = 0;
            }
            for (int again = 0; again < 2; again++) {
                K_LANE K_L(scale) = K_L(most) > 1e-300 ? 1 / K_L(most) : 0;
                for (int k = 0; k <= (DIM == 3 ? n : 0); k++)
                    for (int j = 0; j <= n; j++) {
                        /* A line on which only the last mode is of degree n, unless all are. */
                        const int all = j == n || (DIM == 3 && k == n);
                        for (int i = all ? 0 : n; i <= n; i++) {
                            const int at = ((k * M + j) * M + i) * LANES;
                            if (again)
                                K_LANE
                                {
                                    const f64 value = K_L(scale) * modes[at + lane];
                                    K_L(sum) += value * value;
                                }
                            else
                                K_LANE
                                {
                                    const f64 value = K_ABS(modes[at + lane]);
                                    K_L(most) = K_MAX(K_L(most), value);
                                }
                        }
                    }
            }
            if (n == 0)
                K_LANE K_TILE(out, t, COMPONENTS * M)[row * LANES + lane] = modes[lane];
            else
                K_LANE K_TILE(out, t, COMPONENTS * M)
                [row * LANES + lane] = K_L(most) * K_SQRT(K_L(sum));
        }
    }
}

/* The modes of elements of another space, wherever they lie in its field u: those that both have are
 * copied, those that it lacks are 0.
 *
 *     slot    [tiles][lane] where each element is in the other space
 *     sides   [its groups] modes a side */
K_KERNEL(move, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups), K_IN(i32, sides),
         K_IN(i32, slot, LANES), K_OUT(real, out, COMPONENTS *NP *LANES))
{
    K_SHARED(i64, where, 1);
    K_SHARED(i32, side, 1);
    K_SHARED(i32, pitch, 1);
    K_TILES(t)
    {
        K_ROWS(i, 1)
        {
            K_LANE
            {
                const i32 s = K_TILE(slot, t, 1)[lane], group = SLOT_GROUP(block_groups, s);
                where[i][lane] = FIRST_VALUE(layout, group, s, COMPONENTS);
                side[i][lane] = sides[group];
                pitch[i][lane] = GROUP_LANES(layout, group);
            }
        }
        K_SYNC;
        K_ROWS(row, COMPONENTS * NP)
        {
            const int c = row / NP, i = row % M, j = row / M % M, k = row % NP / (M * M);
            const int highest = K_MAX(K_MAX(i, j), k);
            K_LANE
            {
                const i32 m = side[0][lane], has = highest < m, np = DIM == 3 ? m * m * m : m * m;
                const i64 at = (i64)(c * np + (k * m + j) * m + i) * pitch[0][lane];
                const real value = u[where[0][lane] + (has ? at : 0)];
                K_TILE(out, t, COMPONENTS * NP)[row * LANES + lane] = has ? value : K_R(0);
            }
        }
        K_SYNC;
    }
}
