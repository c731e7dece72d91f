/* What a velocity w lacks in continuity is taken out of it by
 *
 *     (φ, w) + Σ_elements a (∇·φ, ∇·w) + Σ_faces b (n·(φ - φ⁺), n·(w - w⁺))  =  (φ, ŵ) + boundaries
 *
 * for all φ of an element, a and b being numbers of an element and of a face [krank2017, fehn2018]: at
 * boundaries φ⁺ = 0, and w⁺ = 0 on the left, what is given on the right; nothing where it flows out.
 *
 *     speeds      s = sqrt(∫|w|² / |element|), at all nodes of a field
 *     strengths   [tiles][4][lanes] a = scale s h/(N + 1), h² = |element|, and b = scale ½ (s + s⁺) of three faces
 *     join        a field x of two components from two, and its right-hand side
 *     continuity  y = A x, the left-hand side
 *     invert      z = M⁻¹ r, of both components
 *     split       two fields from one with two components
 *
 *     across   [Dr | Ds];  sum  [M | Drᵀ M | Dsᵀ M | Eᵀ M_face], E: values on faces;  inverse  M⁻¹
 *
 * Bytes for an element of `continuity`, of `real`s: reads 2 (NP + 3 NFP), 18 and 15 bytes of neighbours'
 * numbers, and writes 2 NP. Flops: 4 NP² + 4 NP (3 NP + 3 NFP). */
#define ROWS_OF_FIELD (2 * NP)
#include "model/ins/sides.k.h"

#define COLUMNS (3 * NP + POINTS)
#define ELEMENT_STRENGTH K_TILE(strengths, t, 4)[lane]
#define FACE_STRENGTH(f) K_TILE(strengths, t, 4)[(1 + (f)) * LANES + lane]

K_KERNEL(speeds, K_IN(real, u, NP *LANES), K_IN(real, v, NP *LANES), K_OP(mass, NP, NP),
         K_OUT(real, speed, NP *LANES))
{
    K_SHARED(real, mu, NP);
    K_SHARED(real, mv, NP);
    K_TILES(t)
    {
        K_GEMM(NP, NP, mass, K_G(K_TILE(u, t, NP)), K_S(mu));
        K_GEMM(NP, NP, mass, K_G(K_TILE(v, t, NP)), K_S(mv));
        K_SYNC;
        K_ROWS(one, 1)
        {
            K_LANEVAR(real, sum);
            K_LANE K_L(sum) = 0;
            for (int i = 0; i < NP; i++)
                K_LANE K_L(sum) += K_TILE(u, t, NP)[i * LANES + lane] * mu[i][lane] +
                                   K_TILE(v, t, NP)[i * LANES + lane] * mv[i][lane];
            /* The reference triangle has the area 2; rounding may put 0 below it. */
            K_LANE mu[one][lane] = K_SQRT(K_R(0.5) * K_MAX(K_L(sum), K_R(0)));
        }
        K_SYNC;
        K_NODES(i, NP) K_TILE(speed, t, NP)[i * LANES + lane] = mu[0][lane];
    }
}

K_KERNEL(strengths, K_IN(real, speed), K_VAL(i64, begin), K_IN(i32, beyond, 3 *LANES),
         K_IN(u8, neighbour_face, 3 *LANES), K_IN(real, geometry, 5 *LANES), K_IN(i32, kinds),
         K_IN(i32, other_node), K_VAL(real, scale), K_OUT(real, strengths, 4 *LANES))
{
    K_TILES(t)
    {
        const i64 own = begin + (i64)t * (NP * LANES);
        K_ROWS(f, 3)
        {
            K_LANEVAR(i32, byte);
            K_LANE K_L(byte) = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
            K_LANE
            {
                const i32 slot = K_TILE(beyond, t, 3)[f * LANES + lane];
                const i32 nodes = ((K_L(byte) & 7) * 2 + (K_L(byte) >> 3)) * NFP;
                const i64 what = kinds[K_MAX(-slot, 0)];
                const real mine = speed[own + lane];
                const real other = speed[first_value(K_MAX(slot, 0), begin, NP, LANES) +
                                         (i64)other_node[nodes] * LANES];
                const real mean = K_R(0.5) * (mine + (what < 0 ? other : mine));
                FACE_STRENGTH(f) = what == OUTFLOW ? K_R(0) : scale * mean;
            }
        }
        K_NODES(one, 1)
        {
            const real size = K_SQRT(K_R(2) * GEOMETRY(0));
            K_TILE(strengths, t, 4)[one * LANES + lane] = scale * speed[own + lane] * size / NFP;
        }
    }
}

K_KERNEL(join, K_IN(real, u, NP *LANES), K_IN(real, v, NP *LANES), K_IN(i32, beyond, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, kinds),
         K_IN(real, given), K_IN(real, strengths, 4 *LANES), K_OP(sum, NP, COLUMNS),
         K_OUT(real, x, 2 * NP *LANES), K_OUT(real, b, 2 * NP *LANES))
{
    K_SHARED(real, through, POINTS);
    K_SHARED(real, c, COLUMNS);
    K_TILES(t)
    {
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP, p = i % NFP;
            K_LANE
            {
                const i32 slot = K_TILE(beyond, t, 3)[f * LANES + lane];
                const i64 at = first_value(K_MAX(-1 - slot, 0), 0, 2 * NFP, LANES) + p * LANES;
                const real gn = NORMAL_X(f) * given[at] + NORMAL_Y(f) * given[at + NFP * LANES];
                const i64 what = kinds[K_MAX(-slot, 0)];
                through[i][lane] = what == GIVEN ? FACE_STRENGTH(f) * FACE_SIZE(f) * gn : K_R(0);
            }
        }
        K_NODES(i, NP)
        {
            const real value = K_TILE(u, t, NP)[i * LANES + lane];
            K_TILE(x, t, 2 * NP)[i * LANES + lane] = value;
            c[i][lane] = GEOMETRY(0) * value;
        }
        K_NODES(i, 2 * NP) c[NP + i][lane] = 0;
        K_SYNC;
        K_NODES(i, POINTS) c[3 * NP + i][lane] = NORMAL_X(i / NFP) * through[i][lane];
        K_SYNC;
        K_GEMM(NP, COLUMNS, sum, K_S(c), K_G(K_TILE(b, t, 2 * NP)));
        K_SYNC;
        K_NODES(i, NP)
        {
            const real value = K_TILE(v, t, NP)[i * LANES + lane];
            K_TILE(x, t, 2 * NP)[(NP + i) * LANES + lane] = value;
            c[i][lane] = GEOMETRY(0) * value;
        }
        K_NODES(i, POINTS) c[3 * NP + i][lane] = NORMAL_Y(i / NFP) * through[i][lane];
        K_SYNC;
        K_GEMM(NP, COLUMNS, sum, K_S(c), K_G(K_TILE(b, t, 2 * NP) + NP * LANES));
    }
}

/* Component k, of which the normal is n, from x, d and jump: rx and sx are ∂r/∂x_k and ∂s/∂x_k. */
#define PUT_COMPONENT(k, rx, sx, n)                                                             \
    K_NODES(i, NP)                                                                              \
    {                                                                                           \
        const real pull = GEOMETRY(0) * ELEMENT_STRENGTH * d[i][lane];                          \
        c[i][lane] = GEOMETRY(0) * x[own + ((k) * NP + i) * LANES + lane];                      \
        c[NP + i][lane] = (rx) * pull;                                                          \
        c[2 * NP + i][lane] = (sx) * pull;                                                      \
    }                                                                                           \
    K_NODES(i, POINTS) c[3 * NP + i][lane] = n(i / NFP) * jump[i][lane];                        \
    K_SYNC;                                                                                     \
    K_GEMM(NP, COLUMNS, sum, K_S(c), K_G(K_TILE(y, t, 2 * NP) + (k) * NP * LANES));

K_KERNEL(continuity, K_IN(real, x), K_VAL(i64, begin), K_IN(i32, beyond, 3 *LANES),
         K_IN(u8, neighbour_face, 3 *LANES), K_IN(real, geometry, 5 *LANES),
         K_IN(real, faces, 9 *LANES), K_IN(i32, kinds), K_IN(real, strengths, 4 *LANES),
         K_IN(i32, own_node), K_IN(i32, other_node), K_OP(across, NP, 2 * NP),
         K_OP(sum, NP, COLUMNS), K_OUT(real, y, 2 * NP *LANES))
{
    K_SHARED(i64, where, 3);
    K_SHARED(i64, data, 3);
    K_SHARED(i64, kind, 3);
    K_SHARED(i32, nodes, 3);
    K_SHARED(real, jump, POINTS);
    K_SHARED(real, d, NP);
    K_SHARED(real, c, COLUMNS);
    K_TILES(t)
    {
        const i64 own = begin + (i64)t * (2 * NP * LANES);
        FIND_SIDES(2 * NFP)
        K_NODES(i, NP)
        {
            const real u = x[own + i * LANES + lane], v = x[own + (NP + i) * LANES + lane];
            c[i][lane] = GEOMETRY(1) * u + GEOMETRY(2) * v;
            c[NP + i][lane] = GEOMETRY(3) * u + GEOMETRY(4) * v;
        }
        K_SYNC;
        K_GEMM(NP, 2 * NP, across, K_S(c), K_S(d));
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP, p = i % NFP;
            K_LANE
            {
                const real nx = NORMAL_X(f), ny = NORMAL_Y(f);
                const i64 here = own + own_node[i] * LANES + lane;
                const i64 there = where[f][lane] + other_node[nodes[f][lane] + p] * LANES;
                const real mine = nx * x[here] + ny * x[here + NP * LANES];
                const real other = nx * x[there] + ny * x[there + NP * LANES];
                const i64 what = kind[f][lane];
                jump[i][lane] = FACE_STRENGTH(f) * FACE_SIZE(f) * (mine - (what < 0 ? other : K_R(0)));
            }
        }
        K_SYNC;
        PUT_COMPONENT(0, GEOMETRY(1), GEOMETRY(3), NORMAL_X)
        K_SYNC;
        PUT_COMPONENT(1, GEOMETRY(2), GEOMETRY(4), NORMAL_Y)
    }
}

K_KERNEL(invert, K_IN(real, r, 2 * NP *LANES), K_IN(real, geometry, 5 *LANES),
         K_OP(inverse, NP, NP), K_OUT(real, z, 2 * NP *LANES))
{
    K_SHARED(real, c, 2 * NP);
    K_TILES(t)
    {
        K_NODES(i, 2 * NP) c[i][lane] = K_TILE(r, t, 2 * NP)[i * LANES + lane] / GEOMETRY(0);
        K_SYNC;
        K_GEMM_LINES(NP, NP, 1, 2, inverse, K_S(c), K_G(K_TILE(z, t, 2 * NP)));
    }
}

K_KERNEL(split, K_IN(real, x, 2 * NP *LANES), K_OUT(real, u, NP *LANES), K_OUT(real, v, NP *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NP)
        {
            K_TILE(u, t, NP)[i * LANES + lane] = K_TILE(x, t, 2 * NP)[i * LANES + lane];
            K_TILE(v, t, NP)[i * LANES + lane] = K_TILE(x, t, 2 * NP)[(NP + i) * LANES + lane];
        }
    }
}
