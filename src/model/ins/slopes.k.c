/* The gradient of the pressure and the divergence of the velocity on affine triangles, [karakus2018]
 * eqs. (11) and (12), with n pointing outwards:
 *
 *     (φ, G p) = (φ, ∇p) + (φ, n (p* - p))       p* = ½ (p + p⁺); given where it flows out, else p
 *     (φ, D w) = (φ, ∇·w) + (φ, n·(w* - w))      w* = ½ (w + w⁺); given where it is, w where it flows out,
 *                                                w - (n·w) n at a wall without friction
 *
 * With CURL = 1 the divergence is that of (v, -u): the vorticity of w.
 *
 *     slopes   [Dr; Ds];  lift  M⁻¹ Eᵀ M_face;  sum  [Dr | Ds | lift]
 *
 * Bytes for an element, of `real`s: gradient reads NP + 6 NFP, 14 and 15 bytes of neighbours' numbers,
 * reads and writes 2 NP; divergence reads 2 (NP + 3 NFP), 14, 15 bytes, and writes NP. Flops: gradient 4 NP²
 * + 12 NFP NP, divergence 4 NP² + 6 NFP NP. */
#include "model/elliptic/affine.k.h"
#include "model/ins/sides.k.h"

#define COLUMNS (2 * NP + POINTS)

/* Who is beyond the faces, boundary faces having `rows` rows; on a CPU also where each of the values stands, as they are
 * gathered lane by lane there. */
#if K_CPU
#define FIND_OTHERS(rows)                                                                       \
    K_ROWS(f, 3)                                                                                \
    {                                                                                           \
        K_LANEVAR(i32, turn);                                                                   \
        FIND_BEYOND(f, rows)                                                                    \
        K_LANE K_L(turn) = K_TILE(neighbour_face, t, 3)[f * LANES + lane];                      \
        FIND_WAY(f, turn)                                                                       \
        FIND_ACROSS(f)                                                                          \
    }                                                                                           \
    K_ROWS(i, POINTS)                                                                           \
    {                                                                                           \
        const int f = i / NFP, q = i % NFP;                                                     \
        FIND_THERE(i, f, q)                                                                     \
    }
#else
#define FIND_OTHERS(rows) FIND_SIDES(rows)
#endif

/* g = keep g + scale G p; with keep = 0 it does not matter what g held. */
K_KERNEL(gradient, K_IN(real, p), K_VAL(i64, begin), K_IN(i32, beyond, 3 *LANES),
         K_IN(u8, neighbour_face, 3 *LANES), K_IN(real, geometry, 5 *LANES),
         K_IN(real, faces, 9 *LANES), K_IN(i32, kinds), K_IN(real, given), K_IN(i32, own_node),
         K_IN(i32, other_node), K_OP(slopes, 2 * NP, NP), K_OP(lift, NP, POINTS), K_VAL(real, keep),
         K_VAL(real, scale), K_INOUT(real, gx, NP *LANES), K_INOUT(real, gy, NP *LANES))
{
    K_SHARED(i64, where, 3);
    K_SHARED(i64, data, 3);
    K_SHARED(i64, kind, 3);
#if K_CPU
    K_SHARED(i32, way, 9);
    K_SHARED(i64, there, POINTS);
    K_SHARED(real, across, 6);
#else
    K_SHARED(i32, nodes, 3);
#endif
    K_SHARED(real, jumps, 2 * POINTS);
    K_SHARED(real, inner, 2 * NP);
    K_SHARED(real, lifted, 2 * NP);
    K_TILES(t)
    {
        const i64 own = begin + (i64)t * (NP * LANES);
        FIND_OTHERS(NFP)
        K_GEMM(2 * NP, NP, slopes, K_G(p + own), K_S(inner));
        K_SYNC;
#if K_CPU
        K_VECTORS(i, POINTS)
        {
            const int f = i / NFP;
            const vreal mine = K_GET(p + own + own_node[i] * LANES);
            const vreal jump = K_R(0.5) * (K_GATHER(p, there[i]) - mine);
            K_SET(jumps[i], jump * K_GET(across[2 * f]));
            K_SET(jumps[POINTS + i], jump * K_GET(across[2 * f + 1]));
            FETCH_SHARE(p + own, NP, i, POINTS)
            FETCH_SHARE(K_TILE(gx, t, NP), NP, i, POINTS)
            FETCH_SHARE(K_TILE(gy, t, NP), NP, i, POINTS)
            FETCH_SHARE(K_TILE(faces, t, 9), 9, i, POINTS)
            FETCH_SHARE(K_TILE(geometry, t, 5), 5, i, POINTS)
        }
        if (has_boundary(&kind[0][0]))
            K_ROWS(i, POINTS)
            {
                const int f = i / NFP, q = i % NFP;
                K_LANE
                {
                    const i64 what = kind[f][lane];
                    const real mine = p[own + own_node[i] * LANES + lane];
                    const real outer = given[data[f][lane] + q * LANES];
                    const real jump = what == OUTFLOW ? outer - mine : K_R(0);
                    const real x = jump * across[2 * f][lane], y = jump * across[2 * f + 1][lane];
                    jumps[i][lane] = what < 0 ? jumps[i][lane] : x;
                    jumps[POINTS + i][lane] = what < 0 ? jumps[POINTS + i][lane] : y;
                }
            }
#else
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP, q = i % NFP;
            K_LANE
            {
                const real mine = p[own + own_node[i] * LANES + lane];
                const real other = p[where[f][lane] + other_node[nodes[f][lane] + q] * LANES];
                const real outer = given[data[f][lane] + q * LANES];
                const i64 what = kind[f][lane];
                const real jump = what < 0          ? K_R(0.5) * (other - mine)
                                  : what == OUTFLOW ? outer - mine
                                                    : K_R(0);
                const real sized = jump * FACE_SIZE(f) / GEOMETRY(0);
                jumps[i][lane] = sized * NORMAL_X(f);
                jumps[POINTS + i][lane] = sized * NORMAL_Y(f);
            }
        }
#endif
        K_SYNC;
        K_GEMM_LINES(NP, POINTS, 1, 2, lift, K_S(jumps), K_S(lifted));
        K_SYNC;
        K_NODES(i, NP)
        {
            const real r = inner[i][lane], s = inner[NP + i][lane];
            const real x = GEOMETRY(1) * r + GEOMETRY(3) * s + lifted[i][lane];
            const real y = GEOMETRY(2) * r + GEOMETRY(4) * s + lifted[NP + i][lane];
            const real kept_x = K_TILE(gx, t, NP)[i * LANES + lane];
            const real kept_y = K_TILE(gy, t, NP)[i * LANES + lane];
            K_TILE(gx, t, NP)[i * LANES + lane] = scale * x + (keep == 0 ? K_R(0) : keep * kept_x);
            K_TILE(gy, t, NP)[i * LANES + lane] = scale * y + (keep == 0 ? K_R(0) : keep * kept_y);
        }
    }
}

#define FIRST(a, b) (CURL ? (b) : (a))
#define SECOND(a, b) (CURL ? -(a) : (b))
#define ACROSS(a, b) (nx * FIRST(a, b) + ny * SECOND(a, b))

/* d = D w. */
K_KERNEL(divergence, K_IN(real, u), K_IN(real, v), K_VAL(i64, begin), K_IN(i32, beyond, 3 *LANES),
         K_IN(u8, neighbour_face, 3 *LANES), K_IN(real, geometry, 5 *LANES),
         K_IN(real, faces, 9 *LANES), K_IN(i32, kinds), K_IN(real, given), K_IN(i32, own_node),
         K_IN(i32, other_node), K_OP(sum, NP, COLUMNS), K_OUT(real, d, NP *LANES))
{
    K_SHARED(i64, where, 3);
    K_SHARED(i64, data, 3);
    K_SHARED(i64, kind, 3);
#if K_CPU
    K_SHARED(i32, way, 9);
    K_SHARED(i64, there, POINTS);
    K_SHARED(real, across, 6);
#else
    K_SHARED(i32, nodes, 3);
#endif
    K_SHARED(real, x, COLUMNS);
    K_TILES(t)
    {
        const i64 own = begin + (i64)t * (NP * LANES);
        FIND_OTHERS(2 * NFP)
        K_NODES(i, NP)
        {
            const real a = u[own + i * LANES + lane], b = v[own + i * LANES + lane];
            x[i][lane] = GEOMETRY(1) * FIRST(a, b) + GEOMETRY(2) * SECOND(a, b);
            x[NP + i][lane] = GEOMETRY(3) * FIRST(a, b) + GEOMETRY(4) * SECOND(a, b);
        }
        K_SYNC;
#if K_CPU
        K_VECTORS(i, POINTS)
        {
            const int f = i / NFP;
            const i64 here = own + own_node[i] * LANES;
            const vreal nx = K_GET(across[2 * f]), ny = K_GET(across[2 * f + 1]);
            const vreal du = K_GATHER(u, there[i]) - K_GET(u + here);
            const vreal dv = K_GATHER(v, there[i]) - K_GET(v + here);
            K_SET(x[2 * NP + i], K_R(0.5) * ACROSS(du, dv));
            FETCH_SHARE(u + own, NP, i, POINTS)
            FETCH_SHARE(v + own, NP, i, POINTS)
            FETCH_SHARE(K_TILE(faces, t, 9), 9, i, POINTS)
            FETCH_SHARE(K_TILE(geometry, t, 5), 5, i, POINTS)
        }
        if (has_boundary(&kind[0][0]))
            K_ROWS(i, POINTS)
            {
                const int f = i / NFP, q = i % NFP;
                K_LANE
                {
                    const i64 what = kind[f][lane], here = own + own_node[i] * LANES + lane;
                    const real nx = across[2 * f][lane], ny = across[2 * f + 1][lane];
                    const real gu = given[data[f][lane] + q * LANES];
                    const real gv = given[data[f][lane] + (NFP + q) * LANES];
                    const real mine = ACROSS(u[here], v[here]), outer = ACROSS(gu, gv);
                    const real still = CURL ? K_R(0) : -mine;
                    const real fixed = what == GIVEN ? outer - mine : what == SLIP ? still : K_R(0);
                    x[2 * NP + i][lane] = what < 0 ? x[2 * NP + i][lane] : fixed;
                }
            }
#else
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP, q = i % NFP;
            K_LANE
            {
                const real nx = NORMAL_X(f), ny = NORMAL_Y(f);
                const i64 here = own + own_node[i] * LANES + lane;
                const i64 there = where[f][lane] + other_node[nodes[f][lane] + q] * LANES;
                const real gu = given[data[f][lane] + q * LANES];
                const real gv = given[data[f][lane] + (NFP + q) * LANES];
                const real mine = ACROSS(u[here], v[here]), other = ACROSS(u[there], v[there]);
                const real outer = ACROSS(gu, gv), still = CURL ? K_R(0) : -mine;
                const i64 what = kind[f][lane];
                const real fixed = what == GIVEN ? outer - mine : what == SLIP ? still : K_R(0);
                const real jump = what < 0 ? K_R(0.5) * (other - mine) : fixed;
                x[2 * NP + i][lane] = jump * FACE_SIZE(f) / GEOMETRY(0);
            }
        }
#endif
        K_SYNC;
        K_GEMM(NP, COLUMNS, sum, K_S(x), K_G(K_TILE(d, t, NP)));
    }
}
