/* The right-hand side of an implicit step of model `ins` on affine triangles: what a field f and
 * data on boundaries give, tested with φ, for the operator of model `elliptic` with k = 1:
 *
 *     scale ∫ f φ  +  Dirichlet: ∫ τ g φ - ∂φ/∂n g     Neumann: flux_scale ∫ h φ
 *
 *     types   [1 + boundary faces] -1, then 0: Dirichlet, 1: Neumann
 *     fixed, flux  g and h at nodes of boundary faces, which have so many rows, from row `…_first` on
 *     sum     [mass | Eᵀ M_face | (E Dr)ᵀ M_face | (E Ds)ᵀ M_face], E: values on faces
 *
 * tau is τ J/sJ, the same for all faces. Bytes for an element, of `real`s: reads NP + 14 and 12 bytes of
 * neighbours' numbers, writes NP. Flops: 2 NP (NP + 9 NFP). */
#include "model/ins/sides.k.h"

#define COLUMNS (NP + 3 * POINTS)

K_KERNEL(load, K_IN(real, f, NP *LANES), K_VAL(real, scale), K_IN(i32, beyond, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, types),
         K_IN(real, fixed), K_VAL(i32, fixed_rows), K_VAL(i32, fixed_first), K_IN(real, flux),
         K_VAL(i32, flux_rows), K_VAL(i32, flux_first), K_VAL(real, flux_scale), K_VAL(real, tau),
         K_OP(sum, NP, COLUMNS), K_OUT(real, b, NP *LANES))
{
    K_SHARED(i64, kind, 3); /* -1: a neighbour; as wide as the values it chooses */
    K_SHARED(i64, at_fixed, 3);
    K_SHARED(i64, at_flux, 3);
    K_SHARED(real, x, COLUMNS);
    K_TILES(t)
    {
        K_ROWS(face, 3)
        {
            K_LANE
            {
                const i32 slot = K_TILE(beyond, t, 3)[face * LANES + lane];
                const i32 number = K_MAX(-1 - slot, 0);
                kind[face][lane] = types[K_MAX(-slot, 0)];
                at_fixed[face][lane] =
                    first_value(number, 0, fixed_rows, LANES) + fixed_first * LANES;
                at_flux[face][lane] = first_value(number, 0, flux_rows, LANES) + flux_first * LANES;
            }
        }
        K_NODES(i, NP) x[i][lane] = scale * GEOMETRY(0) * K_TILE(f, t, NP)[i * LANES + lane];
        K_SYNC;
        K_ROWS(i, POINTS)
        {
            const int face = i / NFP, q = i % NFP;
            K_LANE
            {
                const real nx = NORMAL_X(face), ny = NORMAL_Y(face), size = FACE_SIZE(face);
                const real there = fixed[at_fixed[face][lane] + q * LANES];
                const real through = flux[at_flux[face][lane] + q * LANES];
                const real g = kind[face][lane] == 0 ? size * there : K_R(0);
                const real h = kind[face][lane] == 1 ? size * flux_scale * through : K_R(0);
                x[NP + i][lane] = tau * size / GEOMETRY(0) * g + h;
                x[NP + POINTS + i][lane] = -(nx * GEOMETRY(1) + ny * GEOMETRY(2)) * g;
                x[NP + 2 * POINTS + i][lane] = -(nx * GEOMETRY(3) + ny * GEOMETRY(4)) * g;
            }
        }
        K_SYNC;
        K_GEMM(NP, COLUMNS, sum, K_S(x), K_G(K_TILE(b, t, NP)));
    }
}
