/* The surface term of advect.k.c for GPUs, in a chain without shared memory and barriers: from the values at the nodes of
 * a face to those at its points, to fluxes, which are kept for all faces, and from there to N, a component at a time.
 *
 *     interp   values at points of a face;  lift  M⁻¹ Eᵀ W, PADDED columns for each face
 *
 * Bytes for an element, of `real`s: FIELDS (6 NFP), 14 and 15 bytes of neighbours' numbers are read, 2 NP read and
 * written. Flops: 36 Q NFP + 12 Q NP, padded to eights. */
#include "model/elliptic/affine.k.h"
#include "model/ins/sides.k.h"

#define PADDED ((Q + 7) / 8 * 8)
#define CHUNKS (PADDED / K_FN) /* of a face's points */
#define NODE(way, p) ((way).first + (((p) * ((way).slope + (way).bend * (p))) >> 1))

/* On both sides of a face: a·n, then the components of w; first mine, then the other's. */
#define VALUES 6

K_KERNEL(surface, K_IN(real, au), K_IN(real, av), K_IN(real, u), K_IN(real, v), K_VAL(i64, begin),
         K_IN(i32, beyond, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, kinds),
         K_IN(real, given), K_IN(real, carried), K_IN(real, slope), K_VAL(real, since),
         K_VAL(real, damping), K_OP(interp, Q, NFP), K_OP(lift, NP, 3 * PADDED),
         K_INOUT(real, nu, NP *LANES), K_INOUT(real, nv, NP *LANES))
{
    K_ACCUM(y, VALUES, Q);
    K_ACCUM(flux, 6, Q); /* [face][component] */
    K_ACCUM(z, 1, NP);
    K_POINTS(x, VALUES);
    K_POINTS(through, 1);
    K_LANEVAR(real, nx);
    K_LANEVAR(real, ny);
    K_LANEVAR(real, size);
    K_LANEVAR(i32, kind);
    K_LANEVAR(i64, where); /* the neighbour's first value */
    K_LANEVAR(i64, data);  /* the first given at a boundary face */
    K_LANEVAR(walk, other);
    K_WARPS(t)
    {
        K_UNROLL for (int f = 0; f < 3; f++)
        {
            const walk mine = walk_along(f, 0);
            K_LANELOAD(nx, faces, 9, 3 * f);
            K_LANELOAD(ny, faces, 9, 3 * f + 1);
            K_LANE
            {
                const i32 slot = K_TILE(beyond, t, 3)[f * LANES + lane];
                const i32 byte = K_TILE(neighbour_face, t, 3)[f * LANES + lane];
                K_L(size) = K_R(0.5) * FACE_SIZE(f) / GEOMETRY(0);
                K_L(where) = first_value(K_MAX(slot, 0), begin, NP, LANES);
                K_L(data) = first_value(K_MAX(-1 - slot, 0), 0, 2 * NFP, LANES);
                K_L(kind) = kinds[K_MAX(-slot, 0)];
                K_L(other) = walk_along(slot < 0 ? 0 : byte & 7, slot < 0 ? 0 : byte >> 3);
            }
            K_ZERO(y, VALUES, Q);
            K_CHUNKS(c, NFP)
            {
                K_POINTROWS(x, 0, i, c, NFP, au + begin, NP, NODE(mine, i));
                K_POINTROWS(x, 1, i, c, NFP, av + begin, NP, NODE(mine, i));
                K_POINTROWS(x, 2, i, c, NFP, u + begin, NP, NODE(mine, i));
                K_POINTROWS(x, 4, i, c, NFP, v + begin, NP, NODE(mine, i));
                K_EACH
                {
                    const i32 p = K_POINT(c, NFP), what = K_L(kind);
                    const real across = K_L(nx), up = K_L(ny);
                    const real an = across * K_Y(x, 0) + up * K_Y(x, 1);
                    const real un = across * K_Y(x, 2) + up * K_Y(x, 4);
                    real bn = an, bu = K_Y(x, 2), bv = K_Y(x, 4);
                    if (what < 0) {
                        const i64 there = K_L(where) + NODE(K_L(other), p) * LANES;
                        bn = across * au[there] + up * av[there];
                        bu = u[there];
                        bv = v[there];
                    } else if (what == SLIP) { /* a mirror */
                        bn = -an;
                        bu -= K_R(2) * un * across;
                        bv -= K_R(2) * un * up;
                    } else {
                        const i64 first = K_L(data) + p * LANES, second = first + NFP * LANES;
                        if (what == GIVEN) bn = across * given[first] + up * given[second];
                        if (what == GIVEN || FIELDS == 4) {
                            bu = carried[first] + since * slope[first];
                            bv = carried[second] + since * slope[second];
                        }
                    }
                    K_Y(x, 0) = an;
                    K_Y(x, 1) = bn;
                    K_Y(x, 3) = bu;
                    K_Y(x, 5) = bv;
                }
                K_MULADD(y, VALUES, interp, Q, NFP, c, x);
            }
            K_CHUNKS(c, Q)
            {
                K_UNROLL for (int i = 0; i < VALUES; i++) K_TAKE(x, i, c, y, i);
                K_EACH
                {
                    const real a = K_Y(x, 0), b = K_Y(x, 1), here = K_ABS(a), there = K_ABS(b);
                    const real wave = K_R(WAVES) * K_MAX(here, there);
                    const real damped = K_L(kind) == OUTFLOW ? K_R(2) * damping : K_R(0);
                    const real in = a + wave - damped * K_MIN(a, K_R(0)), out = b - wave;
                    K_Y(x, 0) = K_L(size) * (in * K_Y(x, 2) + out * K_Y(x, 3));
                    K_Y(x, 1) = K_L(size) * (in * K_Y(x, 4) + out * K_Y(x, 5));
                }
                K_GIVE(flux, 2 * f, c, x, 0);
                K_GIVE(flux, 2 * f + 1, c, x, 1);
            }
        }
        K_SUMLOAD(z, 0, 1, NP, nu, NP, 0);
        K_UNROLL for (int f = 0; f < 3; f++) K_CHUNKS(c, Q)
        {
            K_TAKE(through, 0, c, flux, 2 * f);
            K_MULADD(z, 1, lift, NP, 3 * PADDED, f * CHUNKS + c, through);
        }
        K_STORE(z, 0, 1, NP, nu, NP, 0);
        K_SUMLOAD(z, 0, 1, NP, nv, NP, 0);
        K_UNROLL for (int f = 0; f < 3; f++) K_CHUNKS(c, Q)
        {
            K_TAKE(through, 0, c, flux, 2 * f + 1);
            K_MULADD(z, 1, lift, NP, 3 * PADDED, f * CHUNKS + c, through);
        }
        K_STORE(z, 0, 1, NP, nv, NP, 0);
    }
}
