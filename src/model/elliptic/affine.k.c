/* The operator of model `elliptic` on affine triangles with a constant k: y = A u in two passes.
 *
 * With [u] = u - u⁺ and Q = k sJ n·∇u, n pointing out of the element, tested with φ:
 *
 *     ∫ k ∇φ·∇u + λ φ u  +  Σ_faces ∫ φ (T [u] - c Q + c⁺ Q⁺) - c Q(φ) [u]
 *
 * over the faces' reference elements, Q⁺ being the neighbour's own; c = c⁺ = 1/2 inside, see
 * docs/explanation/numerics/elliptic.md. On a face Q = a ∂u/∂n̂ + b ∂u/∂t with n̂ and t of the reference
 * triangle, and a, b, T and the stiffness follow from G = k J ∇r_a·∇r_b alone.
 *
 *     slopes  Q at the nodes of faces                            (reads u and G, writes Q)
 *     apply   y, one product of a matrix with what the element and its faces give; or b - y
 *
 *     factors    [tiles][FACTORS][lanes] G_rr, G_rs, G_ss, λ J, T of each face
 *     own_node   [3][NFP] which node each point of a face is
 *     other_node [3][2][NFP] the same of a neighbour, by its face and orientation
 *     flux       [slot_count / lanes][3 NFP][lanes] Q, by slots
 *     normal     ∂/∂n̂ at the points of faces;  along  ∂/∂t of values on a face
 *     back       M⁻¹ alongᵀ M, M being the mass matrix of a face
 *     sum        [stiffness rr | rs + sr | ss | mass | Eᵀ M | normalᵀ M], E: values on faces
 *
 * Bytes for an element, of `real`s: slopes reads NP + 3 and writes 3 NFP; apply reads NP + 7, 3 NFP of
 * its own and 6 NFP of its neighbours, 15 bytes of their numbers, and writes NP. Flops: slopes
 * 6 NFP (NP + NFP), apply 2 NP (STIFF NP + 6 NFP) + 6 NFP². */
#include "field/trace.k.h"
#include "model/elliptic/affine.k.h"

#define AHEAD 16  /* so many tiles ahead values are asked for, */
#define SOON 2    /* and those of neighbours, unless they are in between, */
#define BEFORE 64 /* or among so many tiles that came before */
#define LINE 8    /* values in a line of a cache, or fewer */
#define COLUMNS (STIFF * NP + 2 * POINTS)

#define FACTOR(i) K_TILE(factors, t, FACTORS)[(i) * LANES + lane]
#define G_RR FACTOR(0)
#define G_RS FACTOR(1)
#define G_SS FACTOR(2)

K_KERNEL(slopes, K_IN(real, u, NP *LANES), K_IN(real, factors, FACTORS *LANES), K_IN(i32, own_node),
         K_OP(normal, POINTS, NP), K_OP(along, NFP, NFP), K_OUT(real, flux, POINTS *LANES))
{
    K_SHARED(real, trace, POINTS);
    K_SHARED(real, dn, POINTS);
    K_SHARED(real, dt, POINTS);
    K_TILES(t)
    {
        K_NODES(i, POINTS) trace[i][lane] = K_TILE(u, t, NP)[own_node[i] * LANES + lane];
        K_GEMM(POINTS, NP, normal, K_G(K_TILE(u, t, NP)), K_S(dn));
        K_SYNC;
        K_GEMM_LINES(NFP, NFP, 1, 3, along, K_S(trace), K_S(dt));
        K_SYNC;
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP;
            K_LANE dn[i][lane] =
                ACROSS(f, G_RR, G_RS, G_SS) * dn[i][lane] + ASIDE(f, G_RR, G_RS, G_SS) * dt[i][lane];
        }
        K_PUT(POINTS, K_S(dn), K_TILE(flux, t, POINTS));
    }
}

/* What the jump at face f is multiplied with, as part of Q of the test functions. */
#define FIND_SLOPES(f) \
    K_LANE \
    { \
        across[f][lane] = K_R(-0.5) * ACROSS(f, G_RR, G_RS, G_SS); \
        aside[f][lane] = K_R(-0.5) * ASIDE(f, G_RR, G_RS, G_SS); \
    }

/* Tiles of one group that begins at slot 0 and at value `begin` of u. `rest`: y = b - A u; else b is not
 * read.
 *
 * What lies behind a boundary is a mirror image of the element, u⁺ = σ u and Q⁺ = σ Q: σ = -1 with half of
 * its T where u is given, 1 where Q is. */
K_KERNEL(apply, K_IN(real, u), K_VAL(i64, begin), K_IN(real, b, NP *LANES), K_VAL(i32, rest),
         K_IN(real, flux), K_IN(i32, neighbour, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, factors, FACTORS *LANES), K_IN(i32, own_node), K_IN(i32, other_node),
         K_OP(back, NFP, NFP), K_OP(sum, NP, COLUMNS), K_OUT(real, y, NP *LANES))
{
    K_SHARED(i64, where, 3); /* the neighbour's first value in u, */
    K_SHARED(i64, first, 3); /* … and in Q */
    K_SHARED(i32, side, 3);  /* its face and how it is turned: a row of other_node */
    K_SHARED(real, sigma, 3);
    K_SHARED(real, penalty, 3);
    K_SHARED(real, across, 3); /* -a/2, -b/2 */
    K_SHARED(real, aside, 3);
    K_SHARED(real, x, COLUMNS);
    K_SHARED(real, z, POINTS);
    K_SHARED(real, product, NP);
#if K_CPU
    i32 values_at[6][NFP], slopes_at[6][NFP]; /* of a neighbour's points, behind its first values */
    for (int i = 0; i < 6 * NFP; i++) {
        const int face = i / (2 * NFP), p = i % NFP;
        values_at[i / NFP][p] = other_node[i] * LANES;
        slopes_at[i / NFP][p] = (face * NFP + (i / NFP % 2 ? NFP - 1 - p : p)) * LANES;
    }
#endif
    K_TILES(t)
    {
        K_GLOBAL const real *own = K_TILE(u + begin, t, NP);
        K_ROWS(f, 3)
        {
            K_LANEVAR(i32, byte);
            K_LANE K_L(byte) = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
            K_LANE
            {
                const i32 slot = K_TILE(neighbour, t, 3)[f * LANES + lane];
                const i32 there = slot < 0 ? (i32)t * LANES + lane : slot;
                const i32 code = slot < 0 ? f : K_L(byte), face = code & 7, turned = code >> 3;
                where[f][lane] = first_value(there, begin, NP, LANES);
                first[f][lane] = first_value(there, 0, POINTS, LANES);
                side[f][lane] = face * 2 + turned;
            }
            K_LANE
            {
                const i32 slot = K_TILE(neighbour, t, 3)[f * LANES + lane];
                const real T = FACTOR(4 + f), outer = T > 0 ? K_R(-1) : K_R(1);
                sigma[f][lane] = slot < 0 ? outer : K_R(1);
                penalty[f][lane] = slot < 0 ? K_R(0.5) * T : T;
            }
            if (f == 0) FIND_SLOPES(0) /* one loop for each, as compilers want it */
            if (f == 1) FIND_SLOPES(1)
            if (f == 2) FIND_SLOPES(2)
        }
#if K_CPU
        /* What comes next is asked for in time: of the elements themselves, and of neighbours that are
         * neither among them nor among those that came before. */
        for (int i = 0; i < NP * LANES; i += LINE) K_FETCH(own + AHEAD * NP * LANES + i);
        for (int i = 0; i < POINTS * LANES; i += LINE) K_FETCH(K_TILE(flux, t + AHEAD, POINTS) + i);
        const i64 soon = K_MIN(t + SOON, K_STOP - 1);
        for (int i = 0; i < 3 * LANES; i++) {
            const i32 slot = K_TILE(neighbour, soon, 3)[i];
            if (slot >= (t - BEFORE) * LANES && slot < (t + AHEAD) * LANES) continue;
            const i32 inside = K_MAX(slot, 0), byte = K_TILE(neighbour_face, soon, 3)[i];
            const real *values = u + first_value(inside, begin, NP, LANES);
            const real *slopes =
                flux + first_value(inside, 0, POINTS, LANES) + (byte & 7) * NFP * LANES;
            for (int p = 0; p < NFP; p++) {
                K_FETCH(values + own_node[(byte & 7) * NFP + p] * LANES);
                K_FETCH(slopes + p * LANES);
            }
        }
#endif
        K_ROWS(i, NP)
        {
            K_LANE
            {
                const real value = own[i * LANES + lane];
                x[i][lane] = G_RR * value;
                x[NP + i][lane] = G_RS * value;
                x[2 * NP + i][lane] = G_SS * value;
#if STIFF == 4
                x[3 * NP + i][lane] = FACTOR(3) * value;
#endif
            }
        }
        K_SYNC;
#if K_CPU
        /* One value after the other: processors gather vectors no faster, and many slower. What is volatile
         * keeps compilers from doing so. */
        for (int f = 0; f < 3; f++)
            for (int l = 0; l < LANES; l++) {
                const i32 from = *(const volatile i32 *)&side[f][l];
                const real *values = u + where[f][l], *slopes = flux + first[f][l];
                K_UNROLL for (int p = 0; p < NFP; p++)
                {
                    x[STIFF * NP + f * NFP + p][l] = values[values_at[from][p]];
                    z[f * NFP + p][l] = slopes[slopes_at[from][p]];
                }
            }
#endif
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP;
            K_LANE
            {
#if K_CPU
                const real value = x[STIFF * NP + i][lane], slope = z[i][lane];
#else
                const i32 from = side[f][lane], p = i % NFP, q = from & 1 ? NFP - 1 - p : p;
                const real value = u[where[f][lane] + other_node[from * NFP + p] * LANES];
                const real slope = flux[first[f][lane] + (from / 2 * NFP + q) * LANES];
#endif
                const real mine = K_TILE(flux, t, POINTS)[i * LANES + lane];
                const real jump = own[own_node[i] * LANES + lane] - sigma[f][lane] * value;
                x[STIFF * NP + i][lane] =
                    penalty[f][lane] * jump + K_R(0.5) * (sigma[f][lane] * slope - mine);
                x[STIFF * NP + POINTS + i][lane] = across[f][lane] * jump;
                z[i][lane] = aside[f][lane] * jump;
            }
        }
        K_SYNC;
        K_GEMM_LINES_ADD(NFP, NFP, 1, 3, back, K_S(z), K_S(x + STIFF * NP));
        K_SYNC;
        K_GEMM(NP, COLUMNS, sum, K_S(x), K_S(product));
        K_SYNC;
        K_VECTORS(i, NP)
        {
            const i64 row = ((i64)t * NP + i) * LANES;
            if (rest)
                K_SEND(y + row, K_GET(b + row) - K_GET(product[i]));
            else
                K_SEND(y + row, K_GET(product[i]));
        }
    }
}
