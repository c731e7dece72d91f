/* The operator of model `elliptic` on affine triangles with a constant k, for GPUs: what affine.k.c
 * computes, in chains without shared memory and barriers.
 *
 *     slopes  Q at the nodes of faces: one operand, two products a chunk of points
 *     apply   y: sums of NP rows in registers, to which every chunk of nodes and of points of faces adds
 *             products with its columns of `sum`; or b - y
 *
 *     derivatives  [∂/∂n̂ at the points of faces; ∂/∂t], PADDED_FLUX rows each
 *     sum          [stiffness rr | rs + sr | ss | mass | Eᵀ M | normalᵀ M | alongᵀ M], PADDED_NODES or
 *                  FACE_ROWS columns each; E: values on faces
 *
 * and all else as in affine.k.c. A chunk of `apply` has rows 2f and 2f + 1 for two points of face f: on
 * tensor cores a thread then meets one face of two elements, of which it finds the neighbour once. Bytes
 * are the same; flops: slopes 12 NFP NP, apply 2 NP (STIFF NP + 9 NFP), all padded to eights. */
#include "field/trace.k.h"
#include "model/elliptic/affine.k.h"

#define PADDED_NODES ((NP + 7) / 8 * 8)
#define NODE_CHUNKS (PADDED_NODES / 8)
#define SLOPES (NFP == 2 ? 1 : NFP) /* values of Q on a face: of degree 1 it is constant there */
#define FLUX_ROWS (3 * SLOPES)
#define PADDED_FLUX ((FLUX_ROWS + 7) / 8 * 8)
#define FACE_CHUNKS ((NFP + 1) / 2)
#define FACE_ROWS (8 * FACE_CHUNKS)
#define COLUMNS (STIFF * PADDED_NODES + 3 * FACE_ROWS)
#define FACE_CHUNK (STIFF * NODE_CHUNKS) /* the first of faces in `sum` */
#if K_FN != 8
#error chunks have 8 points: two of each face, and two that do not count
#endif
#define NODE(way, p) ((way).first + (((p) * ((way).slope + (way).bend * (p))) >> 1))
#define PLACE(i) K_MIN((i) / 8 * 2 + ((i) & 1), NFP - 1)

K_KERNEL(slopes, K_IN(real, u, NP *LANES), K_IN(real, factors, FACTORS *LANES),
         K_OP(derivatives, 2 * PADDED_FLUX, NP), K_OUT(real, flux, FLUX_ROWS *LANES))
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
        K_CHUNKS(c, FLUX_ROWS)
        {
            K_MUL(dn, 1, derivatives, 2 * PADDED_FLUX, NP, c, x);
            K_MUL(dt, 1, derivatives, 2 * PADDED_FLUX, NP, PADDED_FLUX / 8 + c, x);
            K_EACH
            {
                const int f = K_POINT(c, FLUX_ROWS) / SLOPES;
                K_Y(dn, 0) = ACROSS(f, K_L(rr), K_L(rs), K_L(ss)) * K_Y(dn, 0) +
                             ASIDE(f, K_L(rr), K_L(rs), K_L(ss)) * K_Y(dt, 0);
            }
            K_POINTSTORE(dn, 0, c, FLUX_ROWS, flux, FLUX_ROWS, 0);
        }
    }
}

/* Tiles of one group that begins at slot 0 and at value `begin` of u. `rest`: y = b - A u; else b is not
 * read.
 *
 * What lies behind a boundary is a mirror image of the element, u⁺ = σ u and Q⁺ = σ Q: σ = -1 with half of
 * its T where u is given, 1 where Q is. */
K_KERNEL(apply, K_IN(real, u), K_VAL(i64, begin), K_IN(real, b, NP *LANES), K_VAL(i32, rest),
         K_IN(real, flux), K_IN(i32, neighbour, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, factors, FACTORS *LANES), K_OP(sum, NP, COLUMNS), K_OUT(real, y, NP *LANES))
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
    /* Of the face that a quarter has: */
    K_QUARTERVAR(walk, mine);
    K_QUARTERVAR(walk, other);
    K_QUARTERVAR(i64, where); /* the neighbour's first value in u */
    K_QUARTERVAR(i64, first); /* … and its value of Q at my first point, */
    K_QUARTERVAR(i32, pitch); /* from there to the next */
    K_QUARTERVAR(real, sigma);
    K_QUARTERVAR(real, T);
    K_QUARTERVAR(real, across); /* -a/2, -b/2 */
    K_QUARTERVAR(real, aside);
    K_WARPS(t)
    {
        const real sign = rest ? K_R(-1) : K_R(1);
        K_LANELOAD(rr, factors, FACTORS, 0);
        K_LANELOAD(rs, factors, FACTORS, 1);
        K_LANELOAD(ss, factors, FACTORS, 2);
#if STIFF == 4
        K_LANELOAD(mass, factors, FACTORS, 3);
        K_LANE K_L(mass) *= sign;
#endif
        K_QUARTERS(quarter)
        {
            const i32 f = K_MIN(quarter, 2);
            const i32 slot = K_TILE(neighbour, t, 3)[f * LANES + lane];
            const i32 byte = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
            const real penalty = sign * K_TILE(factors, t, FACTORS)[(4 + f) * LANES + lane];
            const i32 there = slot < 0 ? t * LANES + lane : slot;
            const i32 face = slot < 0 ? f : byte & 7, turned = slot < 0 ? 0 : byte >> 3;
            K_V(mine) = walk_along(f, 0);
            K_V(other) = walk_along(face, turned);
            K_V(where) = first_value(there, begin, NP, LANES);
            K_V(first) = first_value(there, 0, FLUX_ROWS, LANES) +
                         (face * SLOPES + (turned ? SLOPES - 1 : 0)) * LANES;
            K_V(pitch) = SLOPES == 1 ? 0 : turned ? -LANES : LANES;
            K_V(sigma) = slot < 0 && penalty != K_R(0) ? K_R(-1) : K_R(1);
            K_V(T) = slot < 0 ? K_R(0.5) * penalty : penalty;
            K_V(across) = K_R(-0.5) * sign * ACROSS(f, K_L(rr), K_L(rs), K_L(ss));
            K_V(aside) = K_R(-0.5) * sign * ASIDE(f, K_L(rr), K_L(rs), K_L(ss));
        }
        if (rest)
            K_SUMLOAD(z, 0, 1, NP, b, NP, 0);
        else
            K_ZERO(z, 1, NP);
        K_CHUNKS(c, FACE_ROWS)
        {
            K_POINTROWS(v, 0, i, c, FACE_ROWS, u + begin, NP, NODE(K_V(mine), PLACE(i)));
            K_POINTROWS(q, 0, i, c, FACE_ROWS, flux, FLUX_ROWS,
                        K_MIN((i & 7) / 2, 2) * SLOPES + K_MIN(PLACE(i), SLOPES - 1));
            K_EACH
            {
                const i32 p = PLACE(K_POINT(c, FACE_ROWS));
                const real value = u[K_V(where) + NODE(K_V(other), p) * LANES];
                const real slope = flux[K_V(first) + p * K_V(pitch)];
                const real jump = K_Y(v, 0) - K_V(sigma) * value;
                K_Y(v, 0) = K_V(T) * jump +
                            K_R(0.5) * sign * (K_V(sigma) * slope - K_Y(q, 0));
                K_Y(w, 0) = K_V(across) * jump;
                K_Y(q, 0) = K_V(aside) * jump;
            }
            K_MULADD(z, 1, sum, NP, COLUMNS, FACE_CHUNK + c, v);
            K_MULADD(z, 1, sum, NP, COLUMNS, FACE_CHUNK + FACE_CHUNKS + c, w);
            K_MULADD(z, 1, sum, NP, COLUMNS, FACE_CHUNK + 2 * FACE_CHUNKS + c, q);
        }
        K_LANE
        {
            K_L(rr) *= sign;
            K_L(rs) *= sign;
            K_L(ss) *= sign;
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
