/* The surface term of advect.k.c in two passes, which field/strips.h makes one of on CPUs:
 *
 *     strips   of each face of an element what its neighbour wants: sJ a·n and w at the face's nodes, in a row
 *     surface  N += M⁻¹ (φ, n·F*), by values at Q points of each face
 *
 * sJ n follows from J and the derivatives of r and s, and that of the neighbour is its opposite: fluxes have the
 * factor sJ, and what comes of them is divided by 2 J.
 *
 * Nodes and points of a face are symmetric about its middle, and the triangle under the exchange of r and s: points i
 * and 3 Q - 1 - i of faces are mirror images. Both products are in even and odd parts (element/mirror.h), and so is
 * what stands in strips: neighbours run against faces, for which odd parts change their sign.
 *
 *     order     the tile that is number t;  homes: where what it leaves stands
 *     kept      [homes][3][ROWS][lanes] what the element itself wants of its faces
 *     strip     [homes][3][lanes][PITCH] the same for neighbours, ROWS values in a row
 *     next      where the strip of the neighbour begins; one's own at a boundary
 *     bounded   bit f: whether any face f of the tile is at a boundary
 *     soon      the tile that `strips` comes to soon, for which this asks meanwhile
 *     pairs     [EVEN][2] nodes that are mirror images;  own_node [3][NFP] which node each point of a face is
 *     interp    [(Q + 1)/2][NFP] at the first of two points that are images: of even parts, then of odd ones
 *     even, odd M⁻¹ Eᵀ W, E: values at the points of all faces
 *
 * Bytes for an element, of `real`s, if what is left stays in the caches from one pass to the other: 3 FIELDS N values at
 * nodes of faces, 2 NP that are read and written, 5 that describe it, and 12 bytes besides. Flops: 18 NFP Q at faces, 6 NP Q
 * from there. */
#include "field/trace.k.h"
#include "model/ins/sides.k.h"

#define HALF_Q ((Q + 1) / 2)
#define HALF_NFP ((NFP + 1) / 2)
#define FE (Q + (Q + 1) / 2) /* points of faces in even and in odd parts */
#define FO (Q + Q / 2)

/* Rows of a face: even parts of its nodes, then odd ones, of sJ a·n and of the components of w. */
#define AN 0
#define U 1
#define V 2
#define ROWS (3 * NFP)
#define EVEN_ROW(value, p) ((value) * NFP + (p))
#define ODD_ROW(value, p) ((value) * NFP + HALF_NFP + (p))
#define FOURS ((ROWS + 3) / 4)

#define FACTOR(i) K_GET(K_TILE(geometry, tile, 5) + (i) * LANES)

/* sJ n of face f: -J ∇s, J (∇r + ∇s), -J ∇r. */
#define BY_R(f) ((f) == 0 ? K_R(0) : (f) == 1 ? K_R(1) : K_R(-1))
#define BY_S(f) ((f) == 2 ? K_R(0) : (f) == 1 ? K_R(1) : K_R(-1))

K_KERNEL(strips, K_IN(real, au, NP *LANES), K_IN(real, av, NP *LANES), K_IN(real, u, NP *LANES),
         K_IN(real, v, NP *LANES), K_IN(i32, order, 1), K_IN(i32, homes, 1),
         K_IN(real, geometry, 5 *LANES), K_IN(i32, own_node), K_OUT(real, kept), K_OUT(real, strip))
{
    K_TILES(t)
    {
        const i64 tile = order[t], own = tile * (NP * LANES);
        K_GLOBAL real *mine = kept + homes[tile] * (i64)(3 * ROWS * LANES);
        K_GLOBAL real *home = strip + homes[tile] * (i64)(3 * PITCH * LANES);
        K_VECTORS(f, 3)
        {
            const vreal nx = FACTOR(0) * (BY_R(f) * FACTOR(1) + BY_S(f) * FACTOR(3));
            const vreal ny = FACTOR(0) * (BY_R(f) * FACTOR(2) + BY_S(f) * FACTOR(4));
            vreal x[4 * FOURS];
            K_UNROLL for (int p = 0; p < HALF_NFP; p++)
            {
                const i64 a = own + own_node[f * NFP + p] * LANES;
                const i64 b = own + own_node[f * NFP + NFP - 1 - p] * LANES;
                const vreal an = nx * K_GET(au + a) + ny * K_GET(av + a);
                const vreal bn = nx * K_GET(au + b) + ny * K_GET(av + b);
                x[EVEN_ROW(AN, p)] = an + bn;
                x[EVEN_ROW(U, p)] = K_GET(u + a) + K_GET(u + b);
                x[EVEN_ROW(V, p)] = K_GET(v + a) + K_GET(v + b);
                if (p < NFP / 2) {
                    x[ODD_ROW(AN, p)] = an - bn;
                    x[ODD_ROW(U, p)] = K_GET(u + a) - K_GET(u + b);
                    x[ODD_ROW(V, p)] = K_GET(v + a) - K_GET(v + b);
                }
            }
            K_UNROLL for (int r = ROWS; r < 4 * FOURS; r++) x[r] = K_ALL(K_R(0));
            K_UNROLL for (int r = 0; r < ROWS; r++) K_SET(mine + (f * ROWS + r) * LANES, x[r]);
            K_UNROLL for (int g = 0; g < FOURS; g++)
                K_SPREAD4(home + f * (PITCH * LANES) + 4 * g, PITCH, x + 4 * g);
        }
    }
}

/* On one side of a face: a·n and w. */
typedef struct side {
    real n, u, v;
} side;

/* What is beyond a boundary of kind `what`: a at a given one is `given`, w is `carried`. Where it flows out both are those
 * of the element; where w is carried by another and flows back in, it is that of given boundaries. */
K_FUNC side find_beyond(i64 what, side mine, real gn, real cu, real cv, real nx, real ny)
{
    /* A wall without friction is a mirror. */
    const real mirror = what == SLIP ? K_R(2) : K_R(0);
    const real across = mirror * (nx * mine.u + ny * mine.v);
    const i64 enters = what == (FIELDS == 2 ? GIVEN : OUTFLOW) ? GIVEN : what;
    side there;
    there.n = what == GIVEN ? gn : (K_R(1) - mirror) * mine.n;
    there.u = enters == GIVEN ? cu : mine.u - across * nx;
    there.v = enters == GIVEN ? cv : mine.v - across * ny;
    return there;
}

/* The element's own value at a node, `sign` +, or at its image on the face, -. */
#define MINE(row) mine[(f * ROWS + (row)) * LANES + lane]
#define OWN(value, p, sign) \
    (K_R(0.5) * (MINE(EVEN_ROW(value, p)) sign(p < NFP / 2 ? MINE(ODD_ROW(value, p)) : K_R(0))))

/* Makes a row of what is beyond a boundary the value, given as a neighbour would have left it. */
#define PUT(row, value) more[f * ROWS + (row)][lane] = what < 0 ? K_R(0) : (value) - MINE(row);

/* The flux at a point, `sign` + and `against` -, or at its image: neighbours run against faces, and have normals
 * against mine. Where it flows out and a·n < 0 some of it is let in. */
#define FLUX(sign, against, fu, fv) \
    { \
        const vreal a = even_part[AN] sign odd_part[AN]; \
        const vreal b = even_part[3 + AN] against odd_part[3 + AN]; \
        const vreal wave = K_R(WAVES) * K_VMAX(K_VABS(a), K_VABS(b)), out = b + wave; \
        vreal in = a + wave; \
        if (at_boundary >> f & 1) in += K_GET(damped[f]) * K_VMAX(-a, K_ALL(K_R(0))); \
        fu = in * (even_part[U] sign odd_part[U]) - out * (even_part[3 + U] against odd_part[3 + U]); \
        fv = in * (even_part[V] sign odd_part[V]) - out * (even_part[3 + V] against odd_part[3 + V]); \
    }

/* Asking for values on a face of a tile. */
#if FIELDS == 4
#define FETCH_VALUES(at) K_FETCH(au + (at)), K_FETCH(av + (at)), K_FETCH(u + (at)), K_FETCH(v + (at));
#else
#define FETCH_VALUES(at) K_FETCH(u + (at)), K_FETCH(v + (at));
#endif
#define FETCH_FACE(tile, f, q) \
    for (int p = q; p < NFP - 1; p += HALF_Q) { \
        FETCH_VALUES(((tile) * (i64)NP + own_node[f * NFP + p]) * LANES + lane) \
    }

K_KERNEL(surface, K_IN(real, au, NP *LANES), K_IN(real, av, NP *LANES), K_IN(real, u, NP *LANES),
         K_IN(real, v, NP *LANES), K_IN(i32, order, 1), K_IN(i32, soon, 1), K_IN(i32, homes, 1),
         K_IN(real, kept), K_IN(real, strip), K_IN(i32, next, 3 *LANES), K_IN(i32, bounded, 1),
         K_IN(i32, beyond, 3 *LANES), K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES),
         K_IN(i32, kinds), K_IN(real, given), K_IN(real, carried), K_IN(real, slope),
         K_VAL(real, since), K_VAL(real, damping), K_IN(i32, own_node), K_IN(i32, pairs),
         K_IN(real, interp), K_OP(even, EVEN, FE), K_OP(odd, ODD, FO), K_INOUT(real, nu, NP *LANES),
         K_INOUT(real, nv, NP *LANES))
{
    K_SHARED(i64, data, 3);
    K_SHARED(i64, kind, 3);
    K_SHARED(real, damped, 3); /* twice the damping, where it flows out */
    K_SHARED(real, scale, 1);       /* 1/(2 J) */
    K_SHARED(real, more, 3 * ROWS); /* what is beyond boundaries, less one's own that stands for it */
    K_SHARED(real, e, 2 * FE);      /* fluxes */
    K_SHARED(real, o, 2 * FO);
    K_SHARED(real, y_even, 2 * EVEN);
    K_SHARED(real, y_odd, 2 * ODD);
    K_TILES(t)
    {
        const i64 tile = order[t], then = order[t + TILES_AHEAD], asked = soon[t];
        const int at_boundary = bounded[tile];
        K_GLOBAL const real *mine = kept + homes[tile] * (i64)(3 * ROWS * LANES);
        K_NODES(one, 1) scale[one][lane] = K_R(0.5) / K_TILE(geometry, tile, 5)[lane];
        if (at_boundary) {
            K_ROWS(f, 3)
            {
                K_LANE
                {
                    const i32 number = K_TILE(beyond, tile, 3)[f * LANES + lane];
                    data[f][lane] = first_value(K_MAX(-1 - number, 0), 0, 2 * NFP, LANES);
                    kind[f][lane] = kinds[K_MAX(-number, 0)];
                }
                K_LANE damped[f][lane] = kind[f][lane] == OUTFLOW ? K_R(2) * damping : K_R(0);
            }
        }
        K_SYNC;
        if (at_boundary) {
            K_ROWS(i, 3 * HALF_NFP)
            {
                const int f = i / HALF_NFP, p = i % HALF_NFP;
                if (at_boundary >> f & 1) K_LANE
                {
                    const i64 what = kind[f][lane];
                    const i64 one = data[f][lane] + p * LANES, to_v = NFP * LANES;
                    const i64 two = data[f][lane] + (NFP - 1 - p) * LANES;
                    const real nx = K_TILE(faces, tile, 9)[3 * f * LANES + lane];
                    const real ny = K_TILE(faces, tile, 9)[(3 * f + 1) * LANES + lane];
                    const real size = K_TILE(faces, tile, 9)[(3 * f + 2) * LANES + lane];
                    const side mine_1 = {OWN(AN, p, +), OWN(U, p, +), OWN(V, p, +)};
                    const side mine_2 = {OWN(AN, p, -), OWN(U, p, -), OWN(V, p, -)};
                    const side a = find_beyond(
                        what, mine_1, size * (nx * given[one] + ny * given[one + to_v]),
                        carried[one] + since * slope[one],
                        carried[one + to_v] + since * slope[one + to_v], nx, ny);
                    const side b = find_beyond(
                        what, mine_2, size * (nx * given[two] + ny * given[two + to_v]),
                        carried[two] + since * slope[two],
                        carried[two + to_v] + since * slope[two + to_v], nx, ny);
                    PUT(EVEN_ROW(AN, p), -(a.n + b.n))
                    PUT(EVEN_ROW(U, p), a.u + b.u)
                    PUT(EVEN_ROW(V, p), a.v + b.v)
                    if (p < NFP / 2) {
                        PUT(ODD_ROW(AN, p), a.n - b.n)
                        PUT(ODD_ROW(U, p), b.u - a.u)
                        PUT(ODD_ROW(V, p), b.v - a.v)
                    }
                }
            }
        }
        K_SYNC;
        for (int f = 0; f < 3; f++) {
            K_VECTORS(one, 1)
            {
                K_GLOBAL const real *here = mine + f * (ROWS * LANES);
                vreal x[4 * FOURS];
                K_UNROLL for (int g = 0; g < FOURS; g++)
                    K_GATHER4(strip + 4 * g, K_TILE(next, tile, 3) + f * LANES, x + 4 * g);
                if (at_boundary >> f & 1) {
                    K_UNROLL for (int r = 0; r < ROWS; r++) x[r] += K_GET(more[f * ROWS + r]);
                }
                FETCH_ROWS(K_TILE(next, then, 3), 3, f, 3)
                FETCH_ROWS(K_TILE(geometry, then, 5), 1, f, 3)
                FETCH_ROWS(K_TILE(geometry, asked, 5), 5, f, 3)
                FETCH_ROWS(K_TILE(nu, then, NP), NP, f, 3)
                for (int q = 0; q < HALF_Q; q++) {
                    const int two = q < Q / 2; /* points; the middle is its own image */
                    vreal even_part[6], odd_part[6], u1, v1, u2, v2;
                    K_RENEW(here);
                    K_UNROLL for (int k = 0; k < 3; k++)
                    {
                        even_part[k] = interp[q * NFP] * K_GET(here + EVEN_ROW(k, 0) * LANES);
                        even_part[3 + k] = interp[q * NFP] * x[EVEN_ROW(k, 0)];
                        odd_part[k] = odd_part[3 + k] = K_ALL(K_R(0));
                    }
                    K_UNROLL for (int p = 1; p < HALF_NFP; p++)
                    {
                        const real c = interp[q * NFP + p];
                        K_UNROLL for (int k = 0; k < 3; k++)
                        {
                            even_part[k] += c * K_GET(here + EVEN_ROW(k, p) * LANES);
                            even_part[3 + k] += c * x[EVEN_ROW(k, p)];
                        }
                    }
                    if (two) {
                        K_UNROLL for (int p = 0; p < NFP / 2; p++)
                        {
                            const real c = interp[q * NFP + HALF_NFP + p];
                            K_UNROLL for (int k = 0; k < 3; k++)
                            {
                                odd_part[k] += c * K_GET(here + ODD_ROW(k, p) * LANES);
                                odd_part[3 + k] += c * x[ODD_ROW(k, p)];
                            }
                        }
                    }
                    FLUX(+, -, u1, v1)
                    if (two) FLUX(-, +, u2, v2)
                    else u2 = u1, v2 = v1;
                    const int r = Q - 1 - q;
                    FETCH_FACE(asked, f, q)
                    if (f == 0) {
                        K_SET(e[q], u1);
                        K_SET(e[r], u2);
                        K_SET(e[FE + q], v1);
                        K_SET(e[FE + r], v2);
                    } else if (f == 1) {
                        K_SET(e[Q + q], u1 + u2);
                        K_SET(e[FE + Q + q], v1 + v2);
                        if (q < Q / 2) {
                            K_SET(o[Q + q], u1 - u2);
                            K_SET(o[FO + Q + q], v1 - v2);
                        }
                    } else {
                        const vreal a1 = K_GET(e[r]), a2 = K_GET(e[q]);
                        const vreal b1 = K_GET(e[FE + r]), b2 = K_GET(e[FE + q]);
                        K_SET(e[r], a1 + u1);
                        K_SET(o[r], a1 - u1);
                        K_SET(e[q], a2 + u2);
                        K_SET(o[q], a2 - u2);
                        K_SET(e[FE + r], b1 + v1);
                        K_SET(o[FO + r], b1 - v1);
                        K_SET(e[FE + q], b2 + v2);
                        K_SET(o[FO + q], b2 - v2);
                    }
                }
            }
        }
        K_SYNC;
        K_GEMM_LINES(EVEN, FE, 1, 2, even, K_S(e), K_S(y_even));
        K_GEMM_LINES(ODD, FO, 1, 2, odd, K_S(o), K_S(y_odd));
        K_SYNC;
        K_VECTORS(i, EVEN)
        {
            const i64 row = (tile * NP + pairs[2 * i]) * LANES;
            const i64 image = (tile * NP + pairs[2 * i + 1]) * LANES;
            const vreal size = K_GET(scale[0]);
            FETCH_ROWS(K_TILE(nv, then, NP), NP, i, EVEN)
            const vreal eu = K_GET(y_even[i]), ev = K_GET(y_even[EVEN + i]);
            if (i < ODD) {
                const vreal ou = K_GET(y_odd[i < ODD ? i : 0]);
                const vreal ov = K_GET(y_odd[ODD + (i < ODD ? i : 0)]);
                K_SET(nu + row, K_GET(nu + row) + size * (eu + ou));
                K_SET(nv + row, K_GET(nv + row) + size * (ev + ov));
                K_SET(nu + image, K_GET(nu + image) + size * (eu - ou));
                K_SET(nv + image, K_GET(nv + image) + size * (ev - ov));
            } else {
                K_SET(nu + row, K_GET(nu + row) + size * eu);
                K_SET(nv + row, K_GET(nv + row) + size * ev);
            }
        }
    }
}
