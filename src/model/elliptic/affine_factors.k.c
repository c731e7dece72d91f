/* What affine.k.c needs of triangles and their faces, computed once; geometry is J, ∂r/∂x, ∂r/∂y, ∂s/∂x,
 * ∂s/∂y. */
#include "field/trace.k.h"

/* G of the triangle at value `at` of geometry. */
#define GEOMETRY(at, row) geometry[(at) + (row) * LANES]
#define GRAM(at, a, b) \
    (k * GEOMETRY(at, 0) * (GEOMETRY(at, 1 + 2 * (a)) * GEOMETRY(at, 1 + 2 * (b)) + \
                            GEOMETRY(at, 2 + 2 * (a)) * GEOMETRY(at, 2 + 2 * (b))))
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

/* … and those, of own elements: by n̂ᵀG n̂ of both sides of a face, `outer` times that where there is one side;
 * types [boundaries] are 0: Dirichlet, 1: Neumann. */
K_KERNEL(affine_penalties, K_IN(f64, geometry), K_IN(i32, neighbour, 3 *LANES),
         K_IN(u8, neighbour_face, 3 *LANES), K_IN(i32, types), K_VAL(f64, k), K_VAL(f64, scale),
         K_VAL(f64, outer), K_INOUT(real, factors, 7 *LANES))
{
    K_TILES(t)
    {
        K_ROWS(f, 3)
        {
            const f64 of_rr = f == 0 ? 0 : 1, of_rs = f == 1 ? 2 : 0, of_ss = f == 2 ? 0 : 1;
            K_LANEVAR(i32, byte);
            K_LANEVAR(i64, face); /* the neighbour's */
            K_LANEVAR(i64, there);
            K_LANEVAR(i64, kind); /* -1: a neighbour; all as wide as what they choose between */
            K_LANEVAR(f64, mine);
            K_LANEVAR(f64, rr); /* G of the neighbour; then T */
            K_LANEVAR(f64, rs);
            K_LANEVAR(f64, ss);
            K_LANE K_L(byte) = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
            K_LANE
            {
                const i32 slot = K_TILE(neighbour, t, 3)[f * LANES + lane];
                const i32 type = types[-1 - K_MIN(slot, -1)];
                K_L(kind) = slot >= 0 ? -1 : type;
                K_L(face) = K_L(byte) & 7;
                K_L(there) = first_value(K_MAX(slot, 0), 0, 5, LANES);
            }
            K_LANE
            {
                K_L(rr) = GRAM(K_L(there), 0, 0);
                K_L(rs) = GRAM(K_L(there), 0, 1);
                K_L(ss) = GRAM(K_L(there), 1, 1);
            }
            K_LANE
            {
                const i64 here = (i64)t * (5 * LANES) + lane;
                const f64 a = GRAM(here, 0, 0), b = GRAM(here, 0, 1), c = GRAM(here, 1, 1);
                K_L(mine) = of_rr * a + of_rs * b + of_ss * c;
            }
            K_LANE
            {
                const f64 sloped = K_L(rr) + 2 * K_L(rs) + K_L(ss);
                const f64 upright = K_L(face) == 0 ? K_L(ss) : K_L(rr);
                const f64 other = K_L(face) == 1 ? sloped : upright;
                const f64 alone = K_L(kind) == 0 ? outer * K_L(mine) : 0;
                K_L(rr) = scale * (K_L(kind) < 0 ? K_MAX(K_L(mine), other) : alone);
            }
            K_LANE K_TILE(factors, t, 7)[(4 + f) * LANES + lane] = (real)K_L(rr);
        }
    }
}
