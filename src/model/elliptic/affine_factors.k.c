/* What affine.k.c needs of triangles and their faces, computed once; geometry is J, ∂r/∂x, ∂r/∂y, ∂s/∂x,
 * ∂s/∂y. */
#include "field/trace.k.h"

/* G of the triangle at value `at` of geometry, and k J |∇r_a n̂_a|² of one of its faces: what (14) is made
 * of. */
#define GEOMETRY(at, row) geometry[(at) + (row) * LANES]
#define GRAM(at, a, b) \
    (k * GEOMETRY(at, 0) * (GEOMETRY(at, 1 + 2 * (a)) * GEOMETRY(at, 1 + 2 * (b)) + \
                            GEOMETRY(at, 2 + 2 * (a)) * GEOMETRY(at, 2 + 2 * (b))))
#define STEEPNESS(at, f) \
    ((f) == 0   ? GRAM(at, 1, 1) \
     : (f) == 1 ? GRAM(at, 0, 0) + 2 * GRAM(at, 0, 1) + GRAM(at, 1, 1) \
                : GRAM(at, 0, 0))

/* factors of affine.k.c but for the penalties: of ghosts, too. */
K_KERNEL(affine_factors, K_IN(f64, geometry, 5 *LANES), K_VAL(f64, k), K_VAL(f64, lambda),
         K_OUT(real, factors, 7 *LANES))
{
    K_TILES(t)
    {
        K_NODES(one, 1)
        {
            const i64 at = (i64)t * (5 * LANES) + lane;
            K_GLOBAL real *to = K_TILE(factors, t, 7) + lane;
            to[0] = (real)GRAM(at, 0, 0);
            to[LANES] = (real)GRAM(at, 0, 1);
            to[2 * LANES] = (real)GRAM(at, 1, 1);
            to[3 * LANES] = (real)(lambda * GEOMETRY(at, 0));
            to[4 * LANES] = to[5 * LANES] = to[6 * LANES] = 0;
        }
    }
}

/* … and those, of own elements; types [boundaries] are 0: Dirichlet, 1: Neumann. */
K_KERNEL(affine_penalties, K_IN(f64, geometry), K_IN(i32, neighbour, 3 *LANES),
         K_IN(u8, neighbour_face, 3 *LANES), K_IN(i32, types), K_VAL(f64, k), K_VAL(f64, scale),
         K_INOUT(real, factors, 7 *LANES))
{
    K_TILES(t)
    {
        K_ROWS(f, 3)
        {
            K_LANEVAR(i32, byte);
            K_LANE K_L(byte) = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
            K_LANE
            {
                const i32 slot = K_TILE(neighbour, t, 3)[f * LANES + lane], face = K_L(byte) & 7;
                const i64 here = (i64)t * (5 * LANES) + lane;
                const i64 there = first_value(K_MAX(slot, 0), 0, 5, LANES);
                const f64 mine = STEEPNESS(here, f), other = STEEPNESS(there, face);
                const i32 type = types[-1 - K_MIN(slot, -1)];
                const f64 T = slot >= 0 ? K_MAX(mine, other) : type == 0 ? 2 * mine : 0;
                K_TILE(factors, t, 7)[(4 + f) * LANES + lane] = (real)(scale * T);
            }
        }
    }
}
