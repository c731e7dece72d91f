/* The surface term of advect.k.c on GPUs, and where faces do not run against each other: a thread has a face of an
 * element, from the values at its nodes to fluxes at its points; products with the lift are of the whole block. A
 * thread waits for who the neighbour is, then for all values of a, then for those of a component of w: many loads are
 * under way at once, which keeps memory busy, and registers last for four or five blocks on a multiprocessor.
 *
 *     interp  [Q][NFP] values at points of a face, as a table;  lift  M⁻¹ Eᵀ W
 *
 * and all else as there. Flops: 36 Q NFP by threads, 12 Q NP padded to eights. */
#include "model/elliptic/affine.k.h"
#include "model/ins/sides.k.h"

#define NODE(way, p) ((way).first + (((p) * ((way).slope + (way).bend * (p))) >> 1))
#define FACE_POINTS (3 * Q)

/* A row of interp times values at nodes. */
K_FUNC real at_point(int q, const real *x)
{
    real sum = interp[q * NFP] * x[0];
    K_UNROLL for (int p = 1; p < NFP; p++) sum += interp[q * NFP + p] * x[p];
    return sum;
}

/* What faces of a tile let through, times sJ / J, at their points: `flux` [component][face][point]. */
#define FIND_FLUXES \
    K_NODES(f, 3) \
    { \
        const i32 slot = K_TILE(beyond, t, 3)[f * LANES + lane]; \
        const i32 byte = slot < 0 ? 0 : K_TILE(neighbour_face, t, 3)[f * LANES + lane]; \
        const i64 own = begin + (i64)t * (NP * LANES) + lane; \
        const i64 there = first_value(K_MAX(slot, 0), begin, NP, LANES); \
        const i64 data = first_value(K_MAX(-1 - slot, 0), 0, 2 * NFP, LANES); \
        const real nx = NORMAL_X(f), ny = NORMAL_Y(f); \
        const real size = K_R(0.5) * FACE_SIZE(f) / GEOMETRY(0); \
        const i32 what = kinds[K_MAX(-slot, 0)]; \
        const walk mine = walk_along(f, 0), other = walk_along(byte & 7, byte >> 3); \
        real in[Q], out[Q]; /* what w and the other's w are multiplied with */ \
        real x[NFP], y[NFP]; /* mine and the other's: a·n, then a component of w */ \
        K_UNROLL for (int p = 0; p < NFP; p++) \
        { \
            const i64 here = own + NODE(mine, p) * LANES, behind = there + NODE(other, p) * LANES; \
            x[p] = nx * au[here] + ny * av[here]; \
            y[p] = nx * au[behind] + ny * av[behind]; \
        } \
        if (what >= 0) \
            K_UNROLL for (int p = 0; p < NFP; p++) \
            { \
                const i64 first = data + p * LANES; \
                y[p] = what == GIVEN ? nx * given[first] + ny * given[first + NFP * LANES] \
                       : what == SLIP ? -x[p] \
                                      : x[p]; \
            } \
        K_UNROLL for (int q = 0; q < Q; q++) \
        { \
            const real a = at_point(q, x), b = at_point(q, y), mine_abs = K_ABS(a), other_abs = K_ABS(b); \
            const real wave = K_R(WAVES) * K_MAX(mine_abs, other_abs); \
            const real damped = what == OUTFLOW ? K_R(2) * damping : K_R(0); \
            in[q] = size * (a + wave - damped * K_MIN(a, K_R(0))); \
            out[q] = size * (b - wave); \
        } \
        K_ROLLED for (int c = 0; c < 2; c++) \
        { \
            K_GLOBAL const real *w = c ? v : u; \
            const real normal = c ? ny : nx; \
            K_UNROLL for (int p = 0; p < NFP; p++) \
            { \
                x[p] = w[own + NODE(mine, p) * LANES]; \
                y[p] = w[there + NODE(other, p) * LANES]; \
            } \
            if (what >= 0) \
                K_UNROLL for (int p = 0; p < NFP; p++) \
                { \
                    const i64 first = data + (c * NFP + p) * LANES, here = own + NODE(mine, p) * LANES; \
                    /* A wall without friction is a mirror. */ \
                    const real across = what == SLIP ? K_R(2) * (nx * u[here] + ny * v[here]) : K_R(0); \
                    const int enters = what == GIVEN || (FIELDS == 4 && what == OUTFLOW); \
                    y[p] = enters ? carried[first] + since * slope[first] : x[p] - across * normal; \
                } \
            K_UNROLL for (int q = 0; q < Q; q++) \
                flux[c * FACE_POINTS + f * Q + q][lane] = in[q] * at_point(q, x) + out[q] * at_point(q, y); \
        } \
    }

/* What is added to in the end is asked for at the beginning. */
#define ASK_FOR(x) K_NODES(i, NP) K_SOON(K_TILE(x, t, NP) + i * LANES + lane);

K_KERNEL(surface, K_IN(real, au), K_IN(real, av), K_IN(real, u), K_IN(real, v), K_VAL(i64, begin),
         K_IN(i32, beyond, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, kinds),
         K_IN(real, given), K_IN(real, carried), K_IN(real, slope), K_VAL(real, since),
         K_VAL(real, damping), K_OP(lift, NP, FACE_POINTS), K_INOUT(real, nu, NP *LANES),
         K_INOUT(real, nv, NP *LANES))
{
    K_SHARED(real, flux, 2 * FACE_POINTS);
    K_TILES(t)
    {
        ASK_FOR(nu)
        ASK_FOR(nv)
        FIND_FLUXES
        K_SYNC;
        K_GEMM_ADD(NP, FACE_POINTS, lift, K_S(flux), K_G(K_TILE(nu, t, NP)));
        K_GEMM_ADD(NP, FACE_POINTS, lift, K_S((flux + FACE_POINTS)), K_G(K_TILE(nv, t, NP)));
    }
}

/* The same, and a stage of a low-storage Runge-Kutta scheme at once: k = A k - dt N, new w = w + B k. Where A is 0 it
 * does not matter what k held. Beside what `surface` reads it reads and writes w and k, but N is not written and
 * read again. */
K_KERNEL(stage, K_IN(real, au), K_IN(real, av), K_IN(real, u), K_IN(real, v), K_VAL(i64, begin),
         K_IN(i32, beyond, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, geometry, 5 *LANES), K_IN(real, faces, 9 *LANES), K_IN(i32, kinds),
         K_IN(real, given), K_IN(real, carried), K_IN(real, slope), K_VAL(real, since),
         K_VAL(real, damping), K_OP(lift, NP, FACE_POINTS), K_IN(real, nu, NP *LANES),
         K_IN(real, nv, NP *LANES), K_VAL(real, A), K_VAL(real, dt), K_VAL(real, B),
         K_INOUT(real, ku, NP *LANES), K_INOUT(real, kv, NP *LANES), K_OUT(real, new_u, NP *LANES),
         K_OUT(real, new_v, NP *LANES))
{
    K_SHARED(real, flux, 2 * FACE_POINTS);
    K_SHARED(real, z, 2 * NP);
    K_TILES(t)
    {
        ASK_FOR(nu)
        ASK_FOR(nv)
        ASK_FOR(ku)
        ASK_FOR(kv)
        FIND_FLUXES
        K_SYNC;
        K_GEMM(NP, FACE_POINTS, lift, K_S(flux), K_S(z));
        K_GEMM(NP, FACE_POINTS, lift, K_S((flux + FACE_POINTS)), K_S((z + NP)));
        K_SYNC;
        K_NODES(i, NP)
        {
            const i64 at = (i64)t * (NP * LANES) + i * LANES + lane;
            const real before_u = A != 0 ? A * ku[at] : 0, before_v = A != 0 ? A * kv[at] : 0;
            const real step_u = before_u - dt * (nu[at] + z[i][lane]);
            const real step_v = before_v - dt * (nv[at] + z[NP + i][lane]);
            ku[at] = step_u;
            kv[at] = step_v;
            new_u[at] = u[begin + at] + B * step_u;
            new_v[at] = v[begin + at] + B * step_v;
        }
    }
}
