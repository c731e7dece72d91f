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

/* On both sides of a face: a·n, then the components of w; first mine, then the other's. */
#define VALUES 6

/* a at a given boundary is `given`, w is `carried` + since `slope`. Where it flows out both are those of
 * the element; where w is carried by another and flows back in, it is that of given boundaries. */
K_KERNEL(surface, K_IN(real, au), K_IN(real, av), K_IN(real, u), K_IN(real, v), K_VAL(i64, begin),
         K_IN(i32, beyond, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, kinds),
         K_IN(real, given), K_IN(real, carried), K_IN(real, slope), K_VAL(real, since),
         K_VAL(real, damping),
         K_IN(i32, own_node), K_IN(i32, other_node),
         K_OP(interp, Q, NFP), K_OP(lift, NP, FACE_POINTS), K_INOUT(real, nu, NP *LANES),
         K_INOUT(real, nv, NP *LANES))
{
    K_SHARED(i64, where, 3);
    K_SHARED(i64, data, 3);
    K_SHARED(i64, kind, 3);
    K_SHARED(i32, nodes, 3);
    K_SHARED(real, x, VALUES *POINTS);
    K_SHARED(real, y, VALUES *FACE_POINTS);
    K_TILES(t)
    {
        const i64 own = begin + (i64)t * (NP * LANES);
        FIND_SIDES(2 * NFP)
        K_SYNC;
        K_ROWS(i, POINTS)
        {
            const int f = i / NFP, p = i % NFP;
            K_LANE
            {
                const real nx = NORMAL_X(f), ny = NORMAL_Y(f);
                const i64 here = own + own_node[i] * LANES + lane;
                const i64 there = where[f][lane] + other_node[nodes[f][lane] + p] * LANES;
                const i64 first = data[f][lane] + p * LANES, second = first + NFP * LANES;
                const real cu = carried[first] + since * slope[first];
                const real cv = carried[second] + since * slope[second];
                const real bu = u[there], bv = v[there];
                const real an = nx * au[here] + ny * av[here], bn = nx * au[there] + ny * av[there];
                const real un = nx * u[here] + ny * v[here];
                const i64 what = kind[f][lane];
                /* A wall without friction is a mirror. */
                const real mirror = what == SLIP ? K_R(2) : K_R(0);
                const real ou = u[here] - mirror * un * nx, ov = v[here] - mirror * un * ny;
                const real on = (K_R(1) - mirror) * an, gn = nx * given[first] + ny * given[second];
                x[i][lane] = an;
                x[POINTS + i][lane] = what < 0 ? bn : what == GIVEN ? gn : on;
                x[2 * POINTS + i][lane] = u[here];
                const i64 enters = what == (FIELDS == 2 ? GIVEN : OUTFLOW) ? GIVEN : what;
                x[3 * POINTS + i][lane] = what < 0 ? bu : enters == GIVEN ? cu : ou;
                x[4 * POINTS + i][lane] = v[here];
                x[5 * POINTS + i][lane] = what < 0 ? bv : enters == GIVEN ? cv : ov;
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
                const real size = K_R(0.5) * FACE_SIZE(f) / GEOMETRY(0);
                const real a = y[i][lane], b = y[FACE_POINTS + i][lane];
                const real mine = K_ABS(a), other = K_ABS(b);
                const real wave = K_R(WAVES) * K_MAX(mine, other);
                const real damped = kind[f][lane] == OUTFLOW ? K_R(2) * damping : K_R(0);
                const real in = a + wave - damped * K_MIN(a, K_R(0)), out = b - wave;
                y[i][lane] = size * (in * y[2 * FACE_POINTS + i][lane] +
                                     out * y[3 * FACE_POINTS + i][lane]);
                y[FACE_POINTS + i][lane] = size * (in * y[4 * FACE_POINTS + i][lane] +
                                                   out * y[5 * FACE_POINTS + i][lane]);
            }
        }
        K_SYNC;
        K_GEMM_ADD(NP, FACE_POINTS, lift, K_S(y), K_G(K_TILE(nu, t, NP)));
        K_GEMM_ADD(NP, FACE_POINTS, lift, K_S(y + FACE_POINTS), K_G(K_TILE(nv, t, NP)));
    }
}
