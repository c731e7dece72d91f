/* The operator of model `elliptic` on affine triangles with a constant k, for GPUs: what affine.k.c
 * computes, in chains without shared memory and barriers.
 *
 *     slopes  Q at the nodes of faces: one operand, two products a chunk of points
 *     apply   y: sums of NP rows in registers, to which every chunk of nodes and of points of faces adds
 *             products with its columns of `sum`; or b - y
 *
 *     derivatives  [∂/∂n̂ at the points of faces; ∂/∂t], PADDED_POINTS rows each
 *     sum  [stiffness rr | rs + sr | ss | mass | Eᵀ M | normalᵀ M | alongᵀ M], PADDED_NODES or
 *             PADDED_POINTS columns each; E: values on faces
 *
 * and all else as in affine.k.c. Bytes are the same; flops: slopes 12 NFP NP, apply
 * 2 NP (STIFF NP + 9 NFP). */
#include "field/trace.k.h"
#include "model/elliptic/affine.k.h"

#define PADDED_NODES ((NP + 7) / 8 * 8)
#define PADDED_POINTS ((POINTS + 7) / 8 * 8)
#define COLUMNS (STIFF * PADDED_NODES + 3 * PADDED_POINTS)
#define NODE_CHUNKS (PADDED_NODES / K_FN)
#define POINT_CHUNKS (PADDED_POINTS / K_FN)
#define FACE_CHUNK (STIFF * NODE_CHUNKS) /* the first of faces in `sum` */

K_KERNEL(slopes, K_IN(real, u, NP *LANES), K_IN(real, factors, FACTORS *LANES),
         K_OP(derivatives, 2 * PADDED_POINTS, NP), K_OUT(real, flux, POINTS *LANES))
{
    K_OPERAND(x, 1, NP);
    K_POINTS(dn, 1);
    K_POINTS(dt, 1);
    K_LANEVAR(real, rr);
    K_LANEVAR(real, rs);
    K_LANEVAR(real, ss);
    K_WARPS(t)
    {
        K_LOAD(x, 0, 1, NP, u, NP, 0);
        K_LANELOAD(rr, factors, FACTORS, 0);
        K_LANELOAD(rs, factors, FACTORS, 1);
        K_LANELOAD(ss, factors, FACTORS, 2);
        K_CHUNKS(c, POINTS)
        {
            K_MUL(dn, 1, derivatives, 2 * PADDED_POINTS, NP, c, x);
            K_MUL(dt, 1, derivatives, 2 * PADDED_POINTS, NP, POINT_CHUNKS + c, x);
            K_EACH
            {
                const int f = K_POINT(c, POINTS) / NFP;
                K_Y(dn, 0) = ACROSS(f, K_L(rr), K_L(rs), K_L(ss)) * K_Y(dn, 0) +
                             ASIDE(f, K_L(rr), K_L(rs), K_L(ss)) * K_Y(dt, 0);
            }
            K_POINTSTORE(dn, 0, c, POINTS, flux, POINTS, 0);
        }
    }
}

/* Tiles of one group that begins at slot 0 and at value `begin` of u. `rest`: y = b - A u; else b is not
 * read. */
K_KERNEL(apply, K_IN(real, u), K_VAL(i64, begin), K_IN(real, b, NP *LANES), K_VAL(i32, rest),
         K_IN(real, flux), K_IN(i32, neighbour, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, factors, FACTORS *LANES), K_IN(i32, own_node), K_OP(sum, NP, COLUMNS),
         K_OUT(real, y, NP *LANES))
{
    K_ACCUM(z, 1, NP);
    K_POINTS(v, 1);
    K_POINTS(w, 1);
    K_POINTS(q, 1);
    K_LANEVAR(real, rr);
    K_LANEVAR(real, rs);
    K_LANEVAR(real, ss);
#if STIFF == 4
    K_LANEVAR(real, mass);
#endif
    K_WARPS(t)
    {
        K_GLOBAL const real *own = K_TILE(u + begin, t, NP);
        const real sign = rest ? K_R(-1) : K_R(1);
        K_LANELOAD(rr, factors, FACTORS, 0);
        K_LANELOAD(rs, factors, FACTORS, 1);
        K_LANELOAD(ss, factors, FACTORS, 2);
        K_LANE
        {
            K_L(rr) *= sign;
            K_L(rs) *= sign;
            K_L(ss) *= sign;
        }
#if STIFF == 4
        K_LANELOAD(mass, factors, FACTORS, 3);
        K_LANE K_L(mass) *= sign;
#endif
        if (rest)
            K_SUMLOAD(z, 0, 1, NP, b, NP, 0);
        else
            K_ZERO(z, 1, NP);
        K_CHUNKS(c, POINTS)
        {
            K_POINTLOAD(q, 0, c, POINTS, flux, POINTS, 0);
            K_EACH
            {
                const int i = K_POINT(c, POINTS), f = i / NFP, p = i - f * NFP;
                const i32 slot = K_TILE(neighbour, t, 3)[f * LANES + lane];
                const i32 byte = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
                const real T = sign * K_TILE(factors, t, FACTORS)[(4 + f) * LANES + lane];
                const i32 there = (byte & 7) * NFP + (byte >> 3 ? NFP - 1 - p : p);
                const i32 inside = K_MAX(slot, 0);
                const real value = u[first_value(inside, begin, NP, LANES) + own_node[there] * LANES];
                const real slope = flux[first_value(inside, 0, POINTS, LANES) + there * LANES];
                const real half = slot < 0 ? K_R(0) : K_R(0.5);
                const real jump = own[own_node[i] * LANES + lane] - (slot < 0 ? K_R(0) : value);
                const real share = slot < 0 && T != K_R(0) ? K_R(1) : half;
                K_Y(v, 0) = T * jump + sign * (half * slope - share * K_Y(q, 0));
                K_Y(w, 0) = -share * ACROSS(f, K_L(rr), K_L(rs), K_L(ss)) * jump;
                K_Y(q, 0) = -share * ASIDE(f, K_L(rr), K_L(rs), K_L(ss)) * jump;
            }
            K_MULADD(z, 1, sum, NP, COLUMNS, FACE_CHUNK + c, v);
            K_MULADD(z, 1, sum, NP, COLUMNS, FACE_CHUNK + POINT_CHUNKS + c, w);
            K_MULADD(z, 1, sum, NP, COLUMNS, FACE_CHUNK + 2 * POINT_CHUNKS + c, q);
        }
        K_CHUNKS(c, NP)
        {
            K_POINTLOAD(v, 0, c, NP, u + begin, NP, 0);
#if STIFF == 4
            K_EACH K_Y(w, 0) = K_L(mass) * K_Y(v, 0);
            K_MULADD(z, 1, sum, NP, COLUMNS, 3 * NODE_CHUNKS + c, w);
#endif
            K_EACH
            {
                K_Y(w, 0) = K_L(rs) * K_Y(v, 0);
                K_Y(q, 0) = K_L(ss) * K_Y(v, 0);
                K_Y(v, 0) *= K_L(rr);
            }
            K_MULADD(z, 1, sum, NP, COLUMNS, c, v);
            K_MULADD(z, 1, sum, NP, COLUMNS, NODE_CHUNKS + c, w);
            K_MULADD(z, 1, sum, NP, COLUMNS, 2 * NODE_CHUNKS + c, q);
        }
        K_STORE(z, 0, 1, NP, y, NP, 0);
    }
}
