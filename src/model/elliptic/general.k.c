/* The operator of model `elliptic` by quadrature: curved elements of any shape, k that varies, Robin's
 * condition. y = A u in two passes, with the terms of affine.k.c.
 *
 * Each side of a face computes Q = k sJ n·∇u from its own k and geometry, and tests with the same Q(φ), so
 * that the matrix is symmetric to rounding whatever the quadrature misses.
 *
 *     fluxes  Q at the Q points of each face                    (reads u and metric, writes flux)
 *     apply   y, one product of a matrix with what the points of the element and of its faces give
 *
 *     metric   [tiles][DIM][FQ][lanes] k sJ n·∇r_a at the points of faces, FQ = FACES Q
 *     volume   [tiles][SYM + MASS][NC][lanes] w k J ∇r_a·∇r_b (rr rs ss; rr rs rt ss st tt), w λ J
 *     penalty  [tiles][FQ][lanes] T;  share [tiles][FACES][lanes] c
 *     weights  [Q] of the points of a face
 *     own_node [FACES][NFP], other_node [FACES][WAYS][NFP] nodes on faces, a neighbour's by its face and
 *              orientation; other_point [WAYS][Q] which of its points mine are
 *     flux     [slot_count / lanes][FQ][lanes] Q, by slots
 *     slopes   derivatives at the points of faces;  inner  … at those of the element, and values if MASS
 *     interp   from nodes of a face to its points
 *     sum      [innerᵀ | Eᵀ | slopesᵀ], E: values at the points of faces
 *
 * Bytes for an element, of `real`s: fluxes reads NP + DIM FQ and writes FQ; apply reads NP + (SYM + MASS) NC
 * + (DIM + 1) FQ + FACES, FQ of its own Q, FQ + FACES NFP of its neighbours, and writes NP. Flops: fluxes
 * 2 DIM FQ NP; apply 4 (DIM + MASS) NC NP + 2 (1 + DIM) FQ NP + 2 FQ NFP. */
#include "field/trace.k.h"

#define FQ (FACES * Q)
#define SYM (DIM * (DIM + 1) / 2)
#define INNER ((DIM + MASS) * NC)
#define COLUMNS (INNER + (1 + DIM) * FQ)

#define METRIC(a, i) K_TILE(metric, t, DIM *FQ)[((a) * FQ + (i)) * LANES + lane]
#define VOLUME(a) K_TILE(volume, t, (SYM + MASS) * NC)[((a) * NC + i) * LANES + lane]

K_KERNEL(fluxes, K_IN(real, u, NP *LANES), K_IN(real, metric, DIM *FQ *LANES),
         K_OP(slopes, DIM *FQ, NP), K_OUT(real, flux, FQ *LANES))
{
    K_SHARED(real, du, DIM *FQ);
    K_TILES(t)
    {
        K_GEMM(DIM * FQ, NP, slopes, K_G(K_TILE(u, t, NP)), K_S(du));
        K_SYNC;
        K_NODES(i, FQ)
        {
            real sum = METRIC(0, i) * du[i][lane] + METRIC(1, i) * du[FQ + i][lane];
#if DIM == 3
            sum += METRIC(2, i) * du[2 * FQ + i][lane];
#endif
            K_TILE(flux, t, FQ)[i * LANES + lane] = sum;
        }
    }
}

/* `rest`: y = b - A u; else b is not read. */
K_KERNEL(apply, K_IN(real, u), K_VAL(i64, begin), K_IN(i64, layout), K_IN(i32, block_groups),
         K_IN(real, b, NP *LANES), K_VAL(i32, rest),
         K_IN(real, flux), K_VAL(i64, flux_begin), K_IN(i32, neighbour, FACES *LANES),
         K_IN(u8, neighbour_face, FACES *LANES), K_IN(real, metric, DIM *FQ *LANES),
         K_IN(real, volume, (SYM + MASS) * NC * LANES), K_IN(real, penalty, FQ *LANES),
         K_IN(real, share, FACES *LANES), K_IN(real, weights), K_IN(i32, own_node),
         K_IN(i32, other_node), K_IN(i32, other_point), K_OP(inner, INNER, NP), K_OP(interp, Q, NFP),
         K_OP(sum, NP, COLUMNS), K_INOUT(real, y, NP *LANES))
{
    K_SHARED(i64, where, FACES); /* the neighbour's first value in u */
    K_SHARED(i64, first, FACES); /* … and its face's first in flux */
    K_SHARED(i32, side, FACES);  /* its face * WAYS + orientation; -1: a boundary */
    K_SHARED(real, x, COLUMNS);
    K_SHARED(real, jump, FACES *NFP);
    K_SHARED(real, at, FQ); /* the jump at points */
    K_TILES(t)
    {
        K_GLOBAL const real *own = K_TILE(u + begin, t, NP);
        K_GLOBAL const real *own_flux = K_TILE(flux + flux_begin, t, FQ);
        K_ROWS(f, FACES)
        {
            K_LANEVAR(i32, byte);
            K_LANE K_L(byte) = K_TILE(neighbour_face, t, FACES)[f * LANES + lane];
            K_LANE
            {
                const i32 slot = K_TILE(neighbour, t, FACES)[f * LANES + lane];
                const i32 inside = K_MAX(slot, 0), face = K_L(byte) & 7, way = K_L(byte) >> 3;
                where[f][lane] =
                    FIRST_VALUE(layout, SLOT_GROUP(block_groups, inside), inside, 1);
                first[f][lane] = first_value(inside, 0, FQ, LANES) + face * Q * LANES;
                side[f][lane] = slot < 0 ? -1 : face * WAYS + way;
            }
        }
        K_GEMM(INNER, NP, inner, K_G(own), K_S(x));
        K_SYNC;
        K_ROWS(i, FACES * NFP)
        {
            const int f = i / NFP, p = i % NFP;
            K_LANE
            {
                const i32 from = side[f][lane], node = other_node[K_MAX(from, 0) * NFP + p];
                const real value = u[where[f][lane] + node * LANES];
                jump[i][lane] = own[own_node[i] * LANES + lane] - (from < 0 ? K_R(0) : value);
            }
        }
        K_NODES(i, NC)
        {
            const real r = x[i][lane], s = x[NC + i][lane];
#if DIM == 2
            x[i][lane] = VOLUME(0) * r + VOLUME(1) * s;
            x[NC + i][lane] = VOLUME(1) * r + VOLUME(2) * s;
#else
            const real q = x[2 * NC + i][lane];
            x[i][lane] = VOLUME(0) * r + VOLUME(1) * s + VOLUME(2) * q;
            x[NC + i][lane] = VOLUME(1) * r + VOLUME(3) * s + VOLUME(4) * q;
            x[2 * NC + i][lane] = VOLUME(2) * r + VOLUME(4) * s + VOLUME(5) * q;
#endif
#if MASS
            x[DIM * NC + i][lane] *= VOLUME(SYM);
#endif
        }
        K_SYNC;
        K_GEMM_LINES(Q, NFP, 1, FACES, interp, K_S(jump), K_S(at));
        K_SYNC;
        K_ROWS(i, FQ)
        {
            const int f = i / Q, p = i % Q;
            K_LANE
            {
                const i32 from = side[f][lane], way = K_MAX(from, 0) % WAYS;
                const real slope = flux[first[f][lane] + other_point[way * Q + p] * LANES];
                const real c = K_TILE(share, t, FACES)[f * LANES + lane];
                const real beyond = from < 0 ? K_R(0) : (K_R(1) - c) * slope;
                const real T = K_TILE(penalty, t, FQ)[i * LANES + lane];
                const real w = weights[p], back = -c * w * at[i][lane];
                x[INNER + i][lane] =
                    w * (T * at[i][lane] - c * own_flux[i * LANES + lane] + beyond);
                x[INNER + FQ + i][lane] = back * METRIC(0, i);
                x[INNER + 2 * FQ + i][lane] = back * METRIC(1, i);
#if DIM == 3
                x[INNER + 3 * FQ + i][lane] = back * METRIC(2, i);
#endif
            }
        }
        K_SYNC;
        K_GEMM(NP, COLUMNS, sum, K_S(x), K_G(K_TILE(y, t, NP)));
        K_SYNC;
        if (rest) {
            K_NODES(i, NP)
            {
                const i64 at = ((i64)t * NP + i) * LANES + lane;
                y[at] = b[at] - y[at];
            }
        }
    }
}
