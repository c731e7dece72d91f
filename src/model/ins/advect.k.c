/* Advection of model `ins` on affine triangles, [karakus2018] eq. (21): a velocity w = (u, v) that is
 * carried by another, a = (au, av), or by itself, tested with φ:
 *
 *     (φ, N) = -(∇φ, a⊗w) + (φ, n·F*),   n·F* = ½ (a·n w + a⁺·n w⁺) + ½ Λ (w - w⁺)
 *
 * n points outwards; Λ = WAVES max(|a·n|, |a⁺·n|), WAVES being 1, or 2 where w carries itself: the
 * largest eigenvalue of what n·F is differentiated by w. Where it should flow out and a·n < 0, `damping`
 * times a·n w is taken from n·F*. What the geometry does is done to a before
 * products, once for both components.
 *
 *     volume   N = -M⁻¹ (∇φ, a⊗w), by values at NC points of the element
 *     surface  N += M⁻¹ (φ, n·F*), by values at Q points of each face
 *
 *     interp   values at points, of the element or of a face;  project  -M⁻¹ ∂φ/∂r W, r then s
 *     lift     M⁻¹ Eᵀ W, E: values at the points of all faces
 *
 * The collocated form has nodes as points.
 *
 * Bytes for an element, of `real`s: volume reads FIELDS NP + 4 and writes 2 NP; surface reads FIELDS
 * (6 NFP), 14 and 15 bytes of neighbours' numbers, reads and writes 2 NP. Flops: volume 2 (FIELDS + 4)
 * NC NP (FIELDS = 4: 16 NC NP); surface 36 Q NFP + 12 Q NP. */
#include "model/elliptic/affine.k.h"
#include "model/ins/sides.k.h"

#define CARRIED (FIELDS - 2)
#define FACE_POINTS (3 * Q)

K_KERNEL(volume, K_IN(real, au, NP *LANES), K_IN(real, av, NP *LANES), K_IN(real, u, NP *LANES),
         K_IN(real, v, NP *LANES), K_IN(real, geometry, 5 *LANES), K_OP(interp, NC, NP),
         K_OP(project_r, NP, NC), K_OP(project_s, NP, NC), K_OUT(real, nu, NP *LANES),
         K_OUT(real, nv, NP *LANES))
{
    K_OPERAND(x, FIELDS, NP);
    K_ACCUM(z, 2, NP);
    K_POINTS(y, FIELDS);
    K_POINTS(along_r, 2);
    K_POINTS(along_s, 2);
    K_LANEVAR(real, rx);
    K_LANEVAR(real, ry);
    K_LANEVAR(real, sx);
    K_LANEVAR(real, sy);
    K_WARPS(t)
    {
        K_LOAD(x, 0, 1, NP, au, NP, 0);
        K_LOAD(x, 1, 1, NP, av, NP, 0);
#if FIELDS == 4
        K_LOAD(x, 2, 1, NP, u, NP, 0);
        K_LOAD(x, 3, 1, NP, v, NP, 0);
#endif
        K_LANELOAD(rx, geometry, 5, 1);
        K_LANELOAD(ry, geometry, 5, 2);
        K_LANELOAD(sx, geometry, 5, 3);
        K_LANELOAD(sy, geometry, 5, 4);
        K_ZERO(z, 2, NP);
        K_CHUNKS(c, NC)
        {
            K_MUL(y, FIELDS, interp, NC, NP, c, x);
            K_EACH
            {
                const real r = K_L(rx) * K_Y(y, 0) + K_L(ry) * K_Y(y, 1);
                const real s = K_L(sx) * K_Y(y, 0) + K_L(sy) * K_Y(y, 1);
                K_Y(along_r, 0) = r * K_Y(y, CARRIED);
                K_Y(along_r, 1) = r * K_Y(y, CARRIED + 1);
                K_Y(along_s, 0) = s * K_Y(y, CARRIED);
                K_Y(along_s, 1) = s * K_Y(y, CARRIED + 1);
            }
            K_MULADD(z, 2, project_r, NP, NC, c, along_r);
            K_MULADD(z, 2, project_s, NP, NC, c, along_s);
        }
        K_STORE(z, 0, 1, NP, nu, NP, 0);
        K_STORE(z, 1, 1, NP, nv, NP, 0);
    }
}

/* Rows of x and y: a·n and the components of w at the points of all faces, mine and the other's. */
#define AN 0
#define OTHER_AN 1
#define U 2
#define OTHER_U 3
#define V 4
#define OTHER_V 5
#define VALUES 6
#define NODES(value) x[(value) * POINTS + i]
#define AT_NODE(value) NODES(value)[lane]
#define AT_POINT(value) y[(value) * FACE_POINTS + i][lane]

#if K_CPU
/* Whether a face of the tile is at a boundary, which few are. */
K_FUNC int has_boundary(const i64 *kind)
{
    i64 most = -1;
    for (int i = 0; i < 3 * LANES; i++) most = K_MAX(most, kind[i]);
    return most >= 0;
}
#define HAS_BOUNDARY has_boundary(&kind[0][0])

/* Asks for what neighbours of the next tile have on their faces, if it is far. */
#define FETCH(at) K_FETCH(au + (at)), K_FETCH(av + (at)), K_FETCH(u + (at)), K_FETCH(v + (at))
#define FETCH_NEIGHBOURS \
    for (int f = 0; f < 3; f++) { \
        const i64 row = 3 * K_MIN(t + 1, K_STOP - 1) + f; \
        for (u64 far = find_far(beyond + row * LANES, t); far; far &= far - 1) { \
            const i64 at = row * LANES + K_LOWEST(far); \
            const i32 slot = beyond[at], face = neighbour_face[at] & 7; \
            const i64 first = first_value(slot, begin, NP, LANES); \
            for (int p = 0; p < NFP; p++) FETCH(first + own_node[face * NFP + p] * LANES); \
        } \
    }
#else
#define HAS_BOUNDARY 1
#define FETCH_NEIGHBOURS
#endif

/* a at a given boundary is `given`, w is `carried` + since `slope`. Where it flows out both are those of
 * the element; where w is carried by another and flows back in, it is that of given boundaries. */
K_KERNEL(surface, K_IN(real, au), K_IN(real, av), K_IN(real, u), K_IN(real, v), K_VAL(i64, begin),
         K_IN(i32, beyond, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, kinds),
         K_IN(real, given), K_IN(real, carried), K_IN(real, slope), K_VAL(real, since),
         K_VAL(real, damping), K_IN(i32, own_node), K_OP(interp, Q, NFP),
         K_OP(lift, NP, FACE_POINTS), K_INOUT(real, nu, NP *LANES), K_INOUT(real, nv, NP *LANES))
{
    K_SHARED(i64, where, 3);
    K_SHARED(i64, data, 3);
    K_SHARED(i64, kind, 3);
    K_SHARED(i32, way_first, 3); /* how the neighbour's nodes follow one another */
    K_SHARED(i32, way_slope, 3);
    K_SHARED(i32, way_bend, 3);
    K_SHARED(i64, there, POINTS); /* the neighbour's values */
    K_SHARED(real, size, 3);      /* sJ / (2 J) */
    K_SHARED(real, damped, 3);    /* twice the damping, where it flows out */
    K_SHARED(real, x, VALUES *POINTS);
    K_SHARED(real, y, VALUES *FACE_POINTS);
    K_TILES(t)
    {
        const i64 own = begin + (i64)t * (NP * LANES);
        FETCH_NEIGHBOURS
        K_ROWS(f, 3)
        {
            K_LANEVAR(i32, byte);
            FIND_BEYOND(f, 2 * NFP)
            K_LANE K_L(byte) = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
            K_LANE
            {
                const walk way = walk_along(K_L(byte) & 7, K_L(byte) >> 3);
                way_first[f][lane] = way.first;
                way_slope[f][lane] = way.slope;
                way_bend[f][lane] = way.bend;
            }
            K_LANE size[f][lane] = FACE_SIZE(f) * (K_R(0.5) / GEOMETRY(0));
            K_LANE damped[f][lane] = kind[f][lane] == OUTFLOW ? K_R(2) * damping : K_R(0);
        }
        K_SYNC;
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP, p = i % NFP;
            K_LANE there[i][lane] =
                where[f][lane] + LANES * NODE_OF_WALK(way_first[f][lane], way_slope[f][lane],
                                                      way_bend[f][lane], p);
        }
        K_SYNC;
        K_VECTORS(i, POINTS)
        {
            const int f = i / NFP;
            const i64 here = own + own_node[i] * LANES;
            const vreal nx = K_GET(K_TILE(faces, t, 9) + 3 * f * LANES);
            const vreal ny = K_GET(K_TILE(faces, t, 9) + (3 * f + 1) * LANES);
            const vreal other_au = K_GATHER(au, there[i]), other_av = K_GATHER(av, there[i]);
            K_SET(NODES(AN), nx * K_GET(au + here) + ny * K_GET(av + here));
            K_SET(NODES(OTHER_AN), nx * other_au + ny * other_av);
            K_SET(NODES(U), K_GET(u + here));
            K_SET(NODES(V), K_GET(v + here));
#if FIELDS == 4
            K_SET(NODES(OTHER_U), K_GATHER(u, there[i]));
            K_SET(NODES(OTHER_V), K_GATHER(v, there[i]));
#else
            K_SET(NODES(OTHER_U), other_au);
            K_SET(NODES(OTHER_V), other_av);
#endif
            FETCH_SHARE(au + own, NP, i, POINTS)
            FETCH_SHARE(av + own, NP, i, POINTS)
#if FIELDS == 4
            FETCH_SHARE(u + own, NP, i, POINTS)
            FETCH_SHARE(v + own, NP, i, POINTS)
#endif
            FETCH_SHARE(K_TILE(nu, t, NP), NP, i, POINTS)
            FETCH_SHARE(K_TILE(nv, t, NP), NP, i, POINTS)
            FETCH_SHARE(K_TILE(faces, t, 9), 9, i, POINTS)
            FETCH_SHARE(K_TILE(beyond, t, 3), 3, i, POINTS)
            FETCH_SHARE(K_TILE(neighbour_face, t, 3), 3, i, POINTS)
            if (i == 0) K_FETCH(K_TILE(geometry, t + TILES_AHEAD, 5) + lane);
        }
        K_SYNC;
        if (HAS_BOUNDARY)
            K_ROWS(i, POINTS)
            {
                const int f = i / NFP, p = i % NFP;
                K_LANE
                {
                    const i64 what = kind[f][lane];
                    const i64 first = data[f][lane] + p * LANES, second = first + NFP * LANES;
                    const real nx = NORMAL_X(f), ny = NORMAL_Y(f);
                    const real cu = carried[first] + since * slope[first];
                    const real cv = carried[second] + since * slope[second];
                    const real gn = nx * given[first] + ny * given[second];
                    /* A wall without friction is a mirror. */
                    const real mirror = what == SLIP ? K_R(2) : K_R(0);
                    const real across = mirror * (nx * AT_NODE(U) + ny * AT_NODE(V));
                    const real on = (K_R(1) - mirror) * AT_NODE(AN);
                    const real ou = AT_NODE(U) - across * nx, ov = AT_NODE(V) - across * ny;
                    const i64 enters = what == (FIELDS == 2 ? GIVEN : OUTFLOW) ? GIVEN : what;
                    AT_NODE(OTHER_AN) = what < 0 ? AT_NODE(OTHER_AN) : what == GIVEN ? gn : on;
                    AT_NODE(OTHER_U) = what < 0 ? AT_NODE(OTHER_U) : enters == GIVEN ? cu : ou;
                    AT_NODE(OTHER_V) = what < 0 ? AT_NODE(OTHER_V) : enters == GIVEN ? cv : ov;
                }
            }
        K_SYNC;
        K_GEMM_LINES(Q, NFP, 1, 3 * VALUES, interp, K_S(x), K_S(y));
        K_SYNC;
        K_ROWS(i, FACE_POINTS)
        {
            const int f = i / Q;
            K_LANE
            {
                const real a = AT_POINT(AN), b = AT_POINT(OTHER_AN);
                const real mine = K_ABS(a), other = K_ABS(b);
                const real wave = K_R(WAVES) * K_MAX(mine, other);
                const real in = size[f][lane] * (a + wave - damped[f][lane] * K_MIN(a, K_R(0)));
                const real out = size[f][lane] * (b - wave);
                const real flux_u = in * AT_POINT(U) + out * AT_POINT(OTHER_U);
                const real flux_v = in * AT_POINT(V) + out * AT_POINT(OTHER_V);
                y[i][lane] = flux_u;
                y[FACE_POINTS + i][lane] = flux_v;
            }
        }
        K_SYNC;
        K_GEMM_ADD(NP, FACE_POINTS, lift, K_S(y), K_G(K_TILE(nu, t, NP)));
        K_GEMM_ADD(NP, FACE_POINTS, lift, K_S(y + FACE_POINTS), K_G(K_TILE(nv, t, NP)));
    }
}
