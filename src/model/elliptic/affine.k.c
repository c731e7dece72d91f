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
 *     in even, odd of `strips`: M/2 ∂/∂n̂ at the first of two points;  along: M/2 D
 *     in even, odd of `apply`: [S_rr + S_ss | S_rs | S_rr - S_ss of the other part | mass | (∂/∂n̂)ᵀ M/2]
 *     lines    [M | Dᵀ M/2]
 *
 * All is done for one vector of lanes after another, so that values of low degrees stay in registers.
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

#define TABLE_AHEAD 32 /* so far ahead tables with one number for a tile are asked for */

#define FACTOR(i) K_GET(K_TILE(factors, tile, FACTORS) + (i) * LANES)
/* All but λ J where there is none. */
#define FETCH_FACTORS(tile, i) \
    FETCH_ROWS(K_TILE(factors, tile, FACTORS), STIFF, i, EVEN) \
    FETCH_ROWS(K_TILE(factors, tile, FACTORS) + 4 * LANES, 3, i, EVEN)
#define U(node) K_GET(own + (node) * LANES)
/* What faces give node i of row j. */
#define FACES_AT(i, j) \
    (((j) == 0 ? on_face[i] : K_ALL(K_R(0))) + \
     ((i) + (j) == NFP - 1 ? on_face[NFP + (j)] : K_ALL(K_R(0))) + \
     ((i) == 0 ? on_face[3 * NFP - 1 - (j)] : K_ALL(K_R(0))))

/* `bounded` numbers tiles at boundaries from 1 on, others have 0; `image` [number - 1][3][lanes] has σ, 0 inside. */
K_KERNEL(strips, K_IN(real, u, NP *LANES), K_IN(i32, order, 1), K_IN(i32, homes, 1),
         K_IN(real, factors, FACTORS *LANES), K_IN(real, image), K_IN(i32, bounded, 1),
         K_OP(even, FE, EVEN), K_OP(odd, FO, ODD), K_OP(along, NFP, NFP), K_OUT(real, strip))
{
    K_TILES(t)
    {
        const i64 tile = order[t];
        K_GLOBAL const real *own = K_TILE(u, tile, NP);
        K_GLOBAL real *home = strip + homes[tile] * (i64)(3 * PITCH * LANES);
        K_FETCH(order + t + TABLE_AHEAD);
        K_FETCH(homes + tile + TABLE_AHEAD);
        K_FETCH(bounded + tile + TABLE_AHEAD);
        K_VECTORS(one, 1)
        {
            const vreal rr = FACTOR(0), rs = FACTOR(1), ss = FACTOR(2);
            vreal e[EVEN], o[ODD], qe[FE], qo[FO]; /* u, M/2 ∂u/∂n̂ */
            K_UNROLL for (int i = 0; i < EVEN; i++)
            {
                const vreal a = U(PAIR_FIRST(i)), b = U(PAIR_SECOND(i));
                e[i] = a + b;
                if (i < ODD) o[i < ODD ? i : 0] = a - b;
                FETCH_SHARE(own, NP, i, EVEN)
                FETCH_FACTORS(tile + TILES_AHEAD, i)
            }
            K_PRODUCT(FE, EVEN, even, e, qe);
            K_PRODUCT(FO, ODD, odd, o, qo);
            K_UNROLL for (int f = 0; f < 3; f++)
            {
                const vreal a = ACROSS(f, rr, rs, ss), b = ASIDE(f, rr, rs, ss);
                vreal row[PITCH], slope[NFP]; /* u, q; M/2 ∂u/∂t */
                K_UNROLL for (int p = 0; p < NFP; p++) row[p] = U(NODE_ON(f, p));
                K_PRODUCT(NFP, NFP, along, row, slope);
                K_UNROLL for (int p = 0; p < NFP; p++)
                {
                    const int i = f * NFP + p, k = i < FE ? i : IMAGE(i);
                    const vreal parts = i < FO ? qe[k] + qo[k < FO ? k : 0]
                                        : i < FE ? qe[k]
                                                 : qe[k] - qo[k < FO ? k : 0];
                    row[NFP + p] = a * parts + b * slope[p];
                }
                K_UNROLL for (int i = 2 * NFP; i < PITCH; i++) row[i] = K_ALL(K_R(0));
                if (bounded[tile]) {
                    const vreal sigma = K_GET(K_TILE(image, bounded[tile] - 1, 3) + f * LANES);
                    const vreal inside = K_R(1) - sigma * sigma;
                    K_UNROLL for (int i = 0; i < 2 * ((NFP + 1) / 2); i++)
                    {
                        const int first = i / 2 + i % 2 * NFP, last = NFP - 1 - i / 2 + i % 2 * NFP;
                        const vreal x = row[first], y = row[last];
                        row[first] = inside * x + sigma * y;
                        row[last] = inside * y + sigma * x;
                    }
                }
                K_UNROLL for (int g = 0; g < FOURS; g++)
                    K_SPREAD4(home + f * (PITCH * LANES) + 4 * g, PITCH, row + 4 * g);
            }
        }
    }
}

/* `beyond` says where in `strip` the neighbours' rows begin, `soon` which tile `strips` will want. `order` goes on for four more
 * than there are. `rest`: y = b - A u; else b is not read. */
K_KERNEL(apply, K_IN(real, u, NP *LANES), K_IN(real, b, NP *LANES), K_VAL(i32, rest),
         K_IN(i32, order, 1), K_IN(i32, soon, 1), K_IN(real, strip), K_IN(i32, beyond, 3 *LANES),
         K_IN(real, factors, FACTORS *LANES), K_OP(lines, NFP, 2 * NFP),
         K_OP(even, EVEN, EVEN_COLUMNS), K_OP(odd, ODD, ODD_COLUMNS), K_OUT(real, y, NP *LANES))
{
    K_TILES(t)
    {
        const i64 tile = order[t];
        K_GLOBAL const real *own = K_TILE(u, tile, NP);
        K_FETCH(order + t + TABLE_AHEAD);
        K_FETCH(soon + t + TABLE_AHEAD);
        K_VECTORS(one, 1)
        {
            const vreal rr = FACTOR(0), rs = FACTOR(1), ss = FACTOR(2);
            vreal e[EVEN_COLUMNS], o[ODD_COLUMNS], y_even[EVEN], y_odd[ODD];
            vreal through[POINTS], on_face[POINTS]; /* a u⁺; what is tested with φ */
            K_UNROLL for (int f = 0; f < 3; f++)
            {
                const vreal T = FACTOR(4 + f);
                const vreal across = ACROSS(f, rr, rs, ss), aside = ASIDE(f, rr, rs, ss);
                vreal row[PITCH], jump[2 * NFP]; /* the neighbour's; T [u], b u⁺ */
                K_UNROLL for (int g = 0; g < FOURS; g++)
                    K_GATHER4(strip + 4 * g, K_TILE(beyond, tile, 3) + f * LANES, row + 4 * g);
                K_UNROLL for (int p = 0; p < NFP; p++)
                {
                    const vreal there = row[NFP - 1 - p]; /* neighbours run against faces */
                    jump[p] = T * (U(NODE_ON(f, p)) - there);
                    jump[NFP + p] = aside * there;
                    through[f * NFP + p] = across * there;
                    on_face[f * NFP + p] = row[2 * NFP - 1 - p];
                }
                K_PRODUCT_ADD(NFP, 2 * NFP, lines, jump, on_face + f * NFP);
            }
            K_UNROLL for (int i = 0; i < EVEN; i++)
            {
                const vreal p = K_R(0.5) * (rr + ss), m = K_R(0.5) * (rr - ss);
                const vreal x = U(PAIR_FIRST(i)), z = U(PAIR_SECOND(i));
                const int k = i < ODD ? i : 0;
                FETCH_ROWS(K_TILE(u, soon[t], NP), NP, i, EVEN)
                FETCH_FACTORS(soon[t], i)
                FETCH_ROWS(K_TILE(beyond, order[t + 4], 3), 3, i, EVEN)
                if (rest) { FETCH_ROWS(K_TILE(b, order[t + 4], NP), NP, i, EVEN) }
                e[i] = p * (x + z);
                e[EVEN + i] = rs * (x + z);
                o[2 * ODD + i] = m * (x + z);
                if (i < ODD) {
                    o[k] = p * (x - z);
                    o[ODD + k] = rs * (x - z);
                    e[2 * EVEN + k] = m * (x - z);
                }
#if STIFF == 4
                e[EVEN_MASS + i] = FACTOR(3) * (x + z);
                if (i < ODD) o[ODD_MASS + k] = FACTOR(3) * (x - z);
#endif
            }
            K_UNROLL for (int i = 0; i < FE; i++)
            {
                e[EVEN_FACES + i] = through[i] + through[IMAGE(i)];
                if (i < FO) o[ODD_FACES + (i < FO ? i : 0)] = through[i] - through[IMAGE(i)];
            }
            K_PRODUCT(EVEN, EVEN_COLUMNS, even, e, y_even);
            K_PRODUCT(ODD, ODD_COLUMNS, odd, o, y_odd);
            K_UNROLL for (int i = 0; i < EVEN; i++)
            {
                const vreal part = i < ODD ? y_odd[i < ODD ? i : 0] : K_ALL(K_R(0));
                const i64 row = (tile * NP + PAIR_FIRST(i)) * LANES;
                const i64 other = (tile * NP + PAIR_SECOND(i)) * LANES;
                vreal here = y_even[i] + part + FACES_AT(PAIR_COLUMN(i), PAIR_ROW(i));
                vreal there = y_even[i] - part + FACES_AT(PAIR_ROW(i), PAIR_COLUMN(i));
                if (rest) here = K_GET(b + row) - here;
                K_SEND(y + row, here);
                if (i < ODD) {
                    if (rest) there = K_GET(b + other) - there;
                    K_SEND(y + other, there);
                }
            }
        }
    }
}
