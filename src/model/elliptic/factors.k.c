/* What general.k.c needs of elements and their faces, computed once.
 *
 * Geometry comes as eg_metric has it, [tiles][1 + DIM²][AT][lanes] J, ∂r_a/∂x_b at AT points; with AT = 1 the
 * element is affine and all points share it. */
#include "field/trace.k.h"

#define SYM (DIM * (DIM + 1) / 2)
#define FQ (FACES * Q)

/* ∂r_a/∂x_b at point i, and J. */
#define SLOPE(a, b) \
    K_TILE(geometry, t, (1 + DIM * DIM) * AT)[((1 + (a) * DIM + (b)) * AT + (AT == 1 ? 0 : i)) * LANES + lane]
#define JACOBIAN K_TILE(geometry, t, (1 + DIM * DIM) * AT)[(AT == 1 ? 0 : i) * LANES + lane]
#if DIM == 2
#define DOT(a, b) (SLOPE(a, 0) * SLOPE(b, 0) + SLOPE(a, 1) * SLOPE(b, 1))
#else
#define DOT(a, b) \
    (SLOPE(a, 0) * SLOPE(b, 0) + SLOPE(a, 1) * SLOPE(b, 1) + SLOPE(a, 2) * SLOPE(b, 2))
#endif

/* `volume` of general.k.c from k at the points. */
K_KERNEL(volume_terms, K_IN(f64, geometry, (1 + DIM * DIM) * AT * LANES), K_IN(f64, k, NC *LANES),
         K_IN(f64, weights), K_VAL(f64, lambda), K_OUT(real, volume, (SYM + MASS) * NC * LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NC)
        {
            const f64 wj = weights[i] * JACOBIAN;
            const f64 wkj = wj * K_TILE(k, t, NC)[i * LANES + lane];
            int row = 0;
            K_UNROLL for (int a = 0; a < DIM; a++) K_UNROLL for (int b = a; b < DIM; b++)
                K_TILE(volume, t, (SYM + MASS) * NC)[(row++ * NC + i) * LANES + lane] =
                    (real)(wkj * DOT(a, b));
#if MASS
            K_TILE(volume, t, (SYM + MASS) * NC)[(SYM * NC + i) * LANES + lane] = (real)(lambda * wj);
#endif
        }
    }
}

/* `metric` of general.k.c from k at the points of faces, and sJ there; normals [FACES][DIM] of the reference
 * element, as long as its face is larger than the face's own reference element. */
K_KERNEL(face_terms, K_IN(f64, geometry, (1 + DIM * DIM) * AT * LANES), K_IN(f64, k, FQ *LANES),
         K_IN(f64, normals), K_OUT(real, metric, DIM *FQ *LANES), K_OUT(f64, sizes, FQ *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, FQ)
        {
            const int f = i / Q;
            const f64 J = JACOBIAN, kj = J * K_TILE(k, t, FQ)[i * LANES + lane];
            f64 square = 0;
            K_UNROLL for (int a = 0; a < DIM; a++)
            {
                f64 along = 0;
                K_UNROLL for (int b = 0; b < DIM; b++) along += normals[f * DIM + b] * DOT(a, b);
                square += normals[f * DIM + a] * along;
                K_TILE(metric, t, DIM * FQ)[(a * FQ + i) * LANES + lane] = (real)(kj * along);
            }
            K_TILE(sizes, t, FQ)[i * LANES + lane] = J * K_SQRT(square);
        }
    }
}

/* The largest sJ/J and the largest k of each face: sides [tiles][2 FACES][lanes], by slots. */
K_KERNEL(face_sides, K_IN(f64, geometry, (1 + DIM * DIM) * AT * LANES), K_IN(f64, k, FQ *LANES),
         K_IN(f64, sizes, FQ *LANES), K_OUT(f64, sides, 2 * FACES *LANES))
{
    K_TILES(t)
    {
        K_ROWS(f, FACES)
        {
            K_LANEVAR(f64, steepest);
            K_LANEVAR(f64, most);
            K_LANE K_L(steepest) = 0, K_L(most) = 0;
            for (int i = f * Q; i < (f + 1) * Q; i++) K_LANE
                {
                    const f64 steep = K_TILE(sizes, t, FQ)[i * LANES + lane] / JACOBIAN;
                    const f64 here = K_TILE(k, t, FQ)[i * LANES + lane];
                    K_L(steepest) = K_MAX(K_L(steepest), steep);
                    K_L(most) = K_MAX(K_L(most), here);
                }
            K_LANE
            {
                K_TILE(sides, t, 2 * FACES)[f * LANES + lane] = K_L(steepest);
                K_TILE(sides, t, 2 * FACES)[(FACES + f) * LANES + lane] = K_L(most);
            }
        }
    }
}

/* `penalty` and `share` of general.k.c, of own elements. sides is the whole array, in which this group begins
 * at value `begin`; types are 0: Dirichlet, 1: Neumann, 2: Robin with the coefficients given. Where k differs
 * on both sides of a face, each side counts as much as the other's k, and the penalty has their harmonic
 * mean [ern2009]. */
K_KERNEL(face_penalties, K_IN(f64, sides), K_VAL(i64, begin), K_IN(f64, sizes, FQ *LANES),
         K_IN(f64, coefficients, FQ *LANES), K_IN(i32, neighbour, FACES *LANES),
         K_IN(u8, neighbour_face, FACES *LANES), K_IN(i32, types), K_VAL(f64, scale),
         K_OUT(real, penalty, FQ *LANES), K_OUT(real, share, FACES *LANES))
{
    K_TILES(t)
    {
        K_ROWS(f, FACES)
        {
            K_LANEVAR(i32, byte);
            K_LANEVAR(i64, kind); /* -1: a neighbour; as wide as what it chooses between */
            K_LANEVAR(i64, there);
            K_LANEVAR(f64, tau);
            K_GLOBAL const f64 *mine = sides + begin + (i64)t * (2 * FACES * LANES) + f * LANES;
            K_LANE K_L(byte) = K_TILE(neighbour_face, t, FACES)[f * LANES + lane];
            K_LANE
            {
                const i32 slot = K_TILE(neighbour, t, FACES)[f * LANES + lane];
                const i32 type = types[-1 - K_MIN(slot, -1)];
                K_L(kind) = slot >= 0 ? -1 : type;
                K_L(there) =
                    first_value(K_MAX(slot, 0), 0, 2 * FACES, LANES) + (K_L(byte) & 7) * LANES;
            }
            K_LANE
            {
                const f64 steep = mine[lane], other_steep = sides[K_L(there)];
                const f64 k = mine[FACES * LANES + lane], other = sides[K_L(there) + FACES * LANES];
                const f64 both = K_MAX(steep, other_steep) * (2 * k * other / (k + other));
                K_L(tau) = scale * (K_L(kind) < 0 ? both : K_L(kind) == 0 ? 2 * steep * k : 0);
                K_TILE(share, t, FACES)[f * LANES + lane] =
                    (real)(K_L(kind) < 0 ? other / (k + other) : K_L(kind) == 0 ? 1 : 0);
            }
            for (int i = f * Q; i < (f + 1) * Q; i++) K_LANE
                {
                    const f64 size = K_TILE(sizes, t, FQ)[i * LANES + lane];
                    const f64 robin = K_TILE(coefficients, t, FQ)[i * LANES + lane];
                    K_TILE(penalty, t, FQ)[i * LANES + lane] =
                        (real)(size * (K_L(kind) == 2 ? robin : K_L(tau)));
                }
        }
    }
}
