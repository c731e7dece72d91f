/* The operator of model `elliptic` on affine triangles with a constant k: y = A u in two passes.
 *
 * With [u] = u - u⁺ and Q = k sJ n·∇u, n pointing out of the element, tested with φ:
 *
 *     ∫ k ∇φ·∇u + λ φ u  +  Σ_faces ∫ φ (T [u] - Q/2 + Q⁺/2) - Q(φ)/2 [u]
 *
 * over the faces' reference elements, Q⁺ being the neighbour's own; see docs/explanation/numerics/elliptic.md.
 * On a face Q = a ∂u/∂n̂ + b ∂u/∂t with n̂ and t of the reference triangle, and a, b, T and the stiffness
 * follow from G = k J ∇r_a·∇r_b alone. M being the mass matrix of a face, E values on faces, D = ∂/∂t on one:
 *
 *     strips  of each face of an element what its neighbour wants: [u | q = M Q/2] at the face's nodes, in a row
 *     apply   y = S u + Eᵀ (M T [u] + q⁺ + Dᵀ M/2 b u⁺) + (∂/∂n̂)ᵀ M/2 a u⁺; or b - y
 *
 * S, the stiffness and what the element's own Q gives, is made of three matrices times G, and one times λJ. All but
 * what works along faces is in even and odd parts (element/mirror.h), which halves the work: the exchange of r
 * and s turns S_rr into S_ss, and with p = (G_rr + G_ss)/2, m = (G_rr - G_ss)/2
 *
 *     G_rr S_rr + G_ss S_ss = p (S_rr + S_ss) + m (S_rr - S_ss),
 *
 * the first of which keeps parts apart, as S_rs does, the second exchanges them. Points i and 3 NFP - 1 - i of faces are
 * mirror images.
 *
 *     factors  [tiles][FACTORS][lanes] G_rr, G_rs, G_ss, λ J, T of each face, half of it where u is given
 *     order    the tile that is number t; homes: where its strips stand
 *     strip    [homes][3][lanes][PITCH]; of an element a row of each face
 *     pairs    [EVEN][2] nodes that are mirror images;  own_node [3][NFP] which node each point of a face is;
 *     at_node  [NP][2] which points each node is; 3 NFP where there are less than two
 *     in even, odd of `strips`: M/2 ∂/∂n̂ at the first of two points;  along: M/2 D
 *     in even, odd of `apply`: [S_rr + S_ss | S_rs | S_rr - S_ss of the other part | mass | (∂/∂n̂)ᵀ M/2]
 *     lines    [M | Dᵀ M/2]
 *
 * What lies behind a boundary is a mirror image of the element, u⁺ = σ u and Q⁺ = σ Q, σ = -1 where u is given and 1
 * where Q is: its strip is what it finds there itself, from the other end.
 *
 * Bytes for an element, of `real`s, if strips stay in the caches from one pass to the other: NP + 7 are read and NP
 * written, and 20 bytes besides. Flops: those of products, for even parts 2 EVEN EVEN_COLUMNS + 2 FE EVEN, for odd ones
 * likewise; 18 NFP² along faces. */
#include "field/trace.k.h"
#include "model/elliptic/affine.k.h"

#define FOURS ((2 * NFP + 3) / 4)
#define PITCH (4 * FOURS)
#define FE (NFP + (NFP + 1) / 2) /* points of faces in even and in odd parts */
#define FO (NFP + NFP / 2)
#define IMAGE(i) (POINTS - 1 - (i))
/* The parts of what `apply` multiplies. */
#define EVEN_MASS (2 * EVEN + ODD)
#define ODD_MASS (2 * ODD + EVEN)
#define EVEN_FACES (EVEN_MASS + (STIFF == 4 ? EVEN : 0))
#define ODD_FACES (ODD_MASS + (STIFF == 4 ? ODD : 0))
#define EVEN_COLUMNS (EVEN_FACES + FE)
#define ODD_COLUMNS (ODD_FACES + FO)

#define FACTOR(i) K_TILE(factors, tile, FACTORS)[(i) * LANES + lane]
#define G_RR FACTOR(0)
#define G_RS FACTOR(1)
#define G_SS FACTOR(2)

/* a and b of face f. */
#define FIND_SLOPES(f) \
    K_LANE \
    { \
        across[f][lane] = ACROSS(f, G_RR, G_RS, G_SS); \
        aside[f][lane] = ASIDE(f, G_RR, G_RS, G_SS); \
    }

/* `image` [tiles][3][lanes] has σ, 0 inside; `bounded` says whether a tile has any but 0. */
K_KERNEL(strips, K_IN(real, u, NP *LANES), K_IN(i32, order, 1), K_IN(i32, homes, 1),
         K_IN(real, factors, FACTORS *LANES), K_IN(real, image, 3 *LANES), K_IN(i32, bounded, 1),
         K_IN(i32, pairs), K_IN(i32, own_node), K_OP(even, FE, EVEN), K_OP(odd, FO, ODD),
         K_OP(along, NFP, NFP), K_OUT(real, strip))
{
    K_SHARED(real, e, EVEN); /* u */
    K_SHARED(real, o, ODD);
    K_SHARED(real, trace, POINTS);
    K_SHARED(real, qe, FE); /* M/2 ∂u/∂n̂ … */
    K_SHARED(real, qo, FO);
    K_SHARED(real, qt, POINTS); /* … and ∂u/∂t; then q */
    K_SHARED(real, across, 3);
    K_SHARED(real, aside, 3);
    K_TILES(t)
    {
        const i64 tile = order[t];
        K_GLOBAL const real *own = K_TILE(u, tile, NP);
        K_GLOBAL real *home = strip + homes[tile] * (i64)(3 * PITCH * LANES);
        K_ROWS(f, 3)
        {
            if (f == 0) FIND_SLOPES(0) /* one loop for each, as compilers want it */
            if (f == 1) FIND_SLOPES(1)
            if (f == 2) FIND_SLOPES(2)
        }
        K_VECTORS(i, EVEN)
        {
            const vreal a = K_GET(own + pairs[2 * i] * LANES);
            const vreal b = K_GET(own + pairs[2 * i + 1] * LANES);
            K_SET(e[i], a + b);
            if (i < ODD) K_SET(o[i], a - b);
            FETCH_SHARE(own, NP, i, EVEN)
            FETCH_SHARE(K_TILE(factors, tile, FACTORS), FACTORS, i, EVEN)
        }
        K_VECTORS(i, POINTS) K_SET(trace[i], K_GET(own + own_node[i] * LANES));
        K_SYNC;
        K_GEMM(FE, EVEN, even, K_S(e), K_S(qe));
        K_GEMM(FO, ODD, odd, K_S(o), K_S(qo));
        K_GEMM_LINES(NFP, NFP, 1, 3, along, K_S(trace), K_S(qt));
        K_SYNC;
        K_VECTORS(i, FE)
        {
            const int f = i / NFP, g = IMAGE(i) / NFP;
            const vreal even_part = K_GET(qe[i]);
            const vreal odd_part = i < FO ? K_GET(qo[i < FO ? i : 0]) : K_ALL(K_R(0));
            K_SET(qt[i], K_GET(across[f]) * (even_part + odd_part) + K_GET(aside[f]) * K_GET(qt[i]));
            if (i < FO)
                K_SET(qt[IMAGE(i)], K_GET(across[g]) * (even_part - odd_part) +
                                        K_GET(aside[g]) * K_GET(qt[IMAGE(i)]));
        }
        K_SYNC;
        if (bounded[tile]) {
            K_ROWS(i, 3 * ((NFP + 1) / 2))
            {
                const int f = i % 3, a = f * NFP + i / 3, b = f * NFP + NFP - 1 - i / 3;
                K_LANE
                {
                    const real sigma = K_TILE(image, tile, 3)[f * LANES + lane];
                    const real u_a = trace[a][lane], u_b = trace[b][lane];
                    const real q_a = qt[a][lane], q_b = qt[b][lane];
                    trace[a][lane] = sigma != 0 ? sigma * u_b : u_a;
                    trace[b][lane] = sigma != 0 ? sigma * u_a : u_b;
                    qt[a][lane] = sigma != 0 ? sigma * q_b : q_a;
                    qt[b][lane] = sigma != 0 ? sigma * q_a : q_b;
                }
            }
        }
        K_SYNC;
        K_VECTORS(f, 3)
        {
            K_UNROLL for (int g = 0; g < FOURS; g++)
            {
                vreal x[4];
                K_UNROLL for (int j = 0; j < 4; j++)
                {
                    const int r = 4 * g + j;
                    x[j] = r < NFP       ? K_GET(trace[f * NFP + (r < NFP ? r : 0)])
                           : r < 2 * NFP ? K_GET(qt[f * NFP + (r < 2 * NFP && r >= NFP ? r - NFP : 0)])
                                         : K_ALL(K_R(0));
                }
                K_SPREAD4(home + f * (PITCH * LANES) + 4 * g, PITCH, x);
            }
        }
    }
}

/* `beyond` says where in `strip` the neighbours' rows begin. `rest`: y = b - A u; else b is not read. */
K_KERNEL(apply, K_IN(real, u, NP *LANES), K_IN(real, b, NP *LANES), K_VAL(i32, rest),
         K_IN(i32, order, 1), K_IN(real, strip), K_IN(i32, beyond, 3 *LANES),
         K_IN(real, factors, FACTORS *LANES), K_IN(i32, pairs), K_IN(i32, own_node),
         K_IN(i32, at_node), K_OP(lines, NFP, 2 * NFP), K_OP(even, EVEN, EVEN_COLUMNS),
         K_OP(odd, ODD, ODD_COLUMNS), K_OUT(real, y, NP *LANES))
{
    K_SHARED(real, across, 3);
    K_SHARED(real, aside, 3);
    K_SHARED(real, scale, 2); /* p, m */
    K_SHARED(real, jump, 2 * POINTS); /* T [u], b u⁺ of each face */
    K_SHARED(real, through, POINTS); /* a u⁺ */
    K_SHARED(real, on_face, POINTS + 1); /* what is tested with φ; 0 */
    K_SHARED(real, e, EVEN_COLUMNS);
    K_SHARED(real, o, ODD_COLUMNS);
    K_SHARED(real, y_even, EVEN);
    K_SHARED(real, y_odd, ODD);
    K_TILES(t)
    {
        const i64 tile = order[t];
        K_GLOBAL const real *own = K_TILE(u, tile, NP);
        K_ROWS(f, 3)
        {
            if (f == 0) FIND_SLOPES(0)
            if (f == 1) FIND_SLOPES(1)
            if (f == 2) FIND_SLOPES(2)
        }
        K_NODES(one, 1)
        {
            scale[0][lane] = K_R(0.5) * (G_RR + G_SS);
            scale[1][lane] = K_R(0.5) * (G_RR - G_SS);
            on_face[POINTS][lane] = 0;
        }
        K_SYNC;
        K_VECTORS(f, 3)
        {
            const vreal T = K_GET(K_TILE(factors, tile, FACTORS) + (4 + f) * LANES);
            K_UNROLL for (int g = 0; g < FOURS; g++)
            {
                vreal x[4];
                K_GATHER4(strip + 4 * g, K_TILE(beyond, tile, 3) + f * LANES, x);
                K_UNROLL for (int j = 0; j < 4; j++)
                {
                    const int r = 4 * g + j, p = NFP - 1 - r % NFP; /* neighbours run against faces */
                    if (r < NFP) {
                        const vreal mine = K_GET(own + own_node[f * NFP + p] * LANES);
                        K_SET(jump[f * 2 * NFP + p], T * (mine - x[j]));
                        K_SET(jump[f * 2 * NFP + NFP + p], K_GET(aside[f]) * x[j]);
                        K_SET(through[f * NFP + p], K_GET(across[f]) * x[j]);
                    } else if (r < 2 * NFP) {
                        K_SET(on_face[f * NFP + p], x[j]);
                    }
                }
            }
        }
        K_VECTORS(i, EVEN)
        {
            const vreal a = K_GET(own + pairs[2 * i] * LANES);
            const vreal b = K_GET(own + pairs[2 * i + 1] * LANES);
            const vreal p = K_GET(scale[0]), m = K_GET(scale[1]);
            const vreal rs = K_GET(K_TILE(factors, tile, FACTORS) + LANES);
            K_SET(e[i], p * (a + b));
            K_SET(e[EVEN + i], rs * (a + b));
            K_SET(o[2 * ODD + i], m * (a + b));
            if (i < ODD) {
                K_SET(o[i], p * (a - b));
                K_SET(o[ODD + i], rs * (a - b));
                K_SET(e[2 * EVEN + i], m * (a - b));
            }
#if STIFF == 4
            const vreal mass = K_GET(K_TILE(factors, tile, FACTORS) + 3 * LANES);
            K_SET(e[EVEN_MASS + i], mass * (a + b));
            if (i < ODD) K_SET(o[ODD_MASS + i], mass * (a - b));
#endif
        }
        K_SYNC;
        K_VECTORS(i, FE)
        {
            const vreal a = K_GET(through[i]), b = K_GET(through[IMAGE(i)]);
            K_SET(e[EVEN_FACES + i], a + b);
            if (i < FO) K_SET(o[ODD_FACES + i], a - b);
        }
        K_GEMM_LINES_ADD(NFP, 2 * NFP, 1, 3, lines, K_S(jump), K_S(on_face));
        K_SYNC;
        K_GEMM(EVEN, EVEN_COLUMNS, even, K_S(e), K_S(y_even));
        K_GEMM(ODD, ODD_COLUMNS, odd, K_S(o), K_S(y_odd));
        K_SYNC;
        K_VECTORS(i, EVEN)
        {
            const int first = pairs[2 * i], second = pairs[2 * i + 1];
            const vreal here = K_GET(on_face[at_node[2 * first]]) + K_GET(on_face[at_node[2 * first + 1]]);
            const vreal there = K_GET(on_face[at_node[2 * second]]) + K_GET(on_face[at_node[2 * second + 1]]);
            const vreal even_part = K_GET(y_even[i]);
            const vreal odd_part = i < ODD ? K_GET(y_odd[i < ODD ? i : 0]) : K_ALL(K_R(0));
            const i64 row = (tile * NP + first) * LANES, other = (tile * NP + second) * LANES;
            const vreal here_all = even_part + odd_part + here;
            const vreal there_all = even_part - odd_part + there;
            if (rest) {
                K_SEND(y + row, K_GET(b + row) - here_all);
                if (i < ODD) K_SEND(y + other, K_GET(b + other) - there_all);
            } else {
                K_SEND(y + row, here_all);
                if (i < ODD) K_SEND(y + other, there_all);
            }
        }
    }
}
