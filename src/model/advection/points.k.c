/* One stage of u_t + div(b u) = s on straight tensor elements, fused: neighbours' traces, rates, update.
 *
 * By quadrature with Q Gauss points a side: interpolate, multiply with J ∇r_d·b, test with derivatives;
 * on faces the upwind value at the points that the higher degree of the two sides has, at most FACE_Q a
 * side. So both sides see one flux, and what leaves one enters the other. Where J varies the mass matrix
 * is inverted by its weight-adjusted approximation [chan2017]: rate = P (1/J) I r with P the L2
 * projection, which keeps ∫ u as J itself is a polynomial that the element has; a constant is divided by
 * the mean of J.
 *
 *     points_of   [Q] of a line
 *     face_rules  [MOST - M + 1][FACE_Q][2 + MOST]: point, weight, p_j there, of faces whose higher
 *                 side has M, M + 1 … modes; filled up with weights of 0
 *     interp      Q x M p_j at the points;  test, slopes  M x Q weight * p_i and weight * p_i'  */
#include "model/advection/advection.k.h"

#define PLACES (DIM == 3 ? Q * Q * Q : Q * Q)
#define FACE_PLACES (DIM == 3 ? FACE_Q * FACE_Q : FACE_Q)
#define OTHER_LINES (DIM == 3 ? MOST * MOST : MOST)
#define HALF_WAY (DIM == 3 ? Q * M * M : Q * M)
#define MORE (DIM == 3 ? Q * Q * M : 1)
#define THIRD (DIM == 3 ? PLACES : 1)

/* From modes to values at the points, and from weighted values to modes. */
#if DIM == 2
#define TO_POINTS(from, to)                                                                        \
    K_GEMM_LINES(Q, M, 1, M, interp, K_S(from), K_S(half_way));                                    \
    K_SYNC;                                                                                        \
    K_GEMM_LINES(Q, M, Q, 1, interp, K_S(half_way), K_S(to));                                      \
    K_SYNC;
#define TO_MODES(from, A0, A1, A2, to)                                                             \
    K_GEMM_LINES(M, Q, Q, 1, A1, K_S(from), K_S(half_way));                                        \
    K_SYNC;                                                                                        \
    K_GEMM_LINES_ADD(M, Q, 1, M, A0, K_S(half_way), K_S(to));                                      \
    K_SYNC;
#else
#define TO_POINTS(from, to)                                                                        \
    K_GEMM_LINES(Q, M, 1, M *M, interp, K_S(from), K_S(half_way));                                 \
    K_SYNC;                                                                                        \
    K_GEMM_LINES(Q, M, Q, M, interp, K_S(half_way), K_S(more));                                    \
    K_SYNC;                                                                                        \
    K_GEMM_LINES(Q, M, Q *Q, 1, interp, K_S(more), K_S(to));                                       \
    K_SYNC;
#define TO_MODES(from, A0, A1, A2, to)                                                             \
    K_GEMM_LINES(M, Q, Q *Q, 1, A2, K_S(from), K_S(more));                                         \
    K_SYNC;                                                                                        \
    K_GEMM_LINES(M, Q, Q, M, A1, K_S(more), K_S(half_way));                                        \
    K_SYNC;                                                                                        \
    K_GEMM_LINES_ADD(M, Q, 1, M *M, A0, K_S(half_way), K_S(to));                                   \
    K_SYNC;
#endif

/* The reference coordinates of point i of the volume. */
#define POINT_R(i) points_of[(i) % Q]
#define POINT_S(i) points_of[(i) / Q % Q]
#define POINT_Q(i) (DIM == 3 ? points_of[(i) / (Q * Q)] : K_R(0))

K_KERNEL(points, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups), K_IN(i32, sides),
         K_IN(i32, neighbour, FACES *LANES), K_IN(u8, neighbour_face, FACES *LANES),
         K_IN(i32, faces), K_IN(i32, turns), K_IN(f64, nodes, DIM *CORNERS *LANES),
         K_IN(real, legendre), K_IN(real, points_of), K_IN(real, face_rules),
         K_OP(interp, Q, M), K_OP(test, M, Q), K_OP(slopes, M, Q), K_VAL(i64, begin),
         K_VAL(f64, time), K_VAL(f64, wf), K_VAL(f64, wc), K_VAL(f64, wl),
         K_IN(real, first, COMPONENTS *NP *LANES), K_INOUT(real, k),
         K_OUT(real, out, COMPONENTS *NP *LANES))
{
    K_SHARED(i64, where, FACES); /* as in `modal`, for all faces */
    K_SHARED(i32, turn, FACES);
    K_SHARED(i32, side, FACES);
    K_SHARED(i32, pitch, FACES);
    K_SHARED(i32, beyond, FACES);
    K_SHARED(real, v, NP);
    K_SHARED(real, rate, NP);
    K_SHARED(real, half_way, HALF_WAY);
    K_SHARED(real, more, MORE);
    K_SHARED(real, value, PLACES);
    K_SHARED(real, flux, PLACES);
    K_SHARED(real, flux1, PLACES);
    K_SHARED(real, flux2, THIRD);
    K_SHARED(real, mine, FACES * LINES);        /* modes of the own trace */
    K_SHARED(real, other, FACES * OTHER_LINES); /* … of the neighbour's */
    K_SHARED(real, through, FACES * FACE_PLACES);
    K_TILES(t)
    {
        K_GLOBAL const real *own = K_TILE(u + begin, t, ROWS);
        K_ROWS(f, FACES)
        {
            K_LANEVAR(i32, byte);
            K_LANE K_L(byte) = K_TILE(neighbour_face, t, FACES)[f * LANES + lane];
            K_LANE
            {
                const i32 slot = K_TILE(neighbour, t, FACES)[f * LANES + lane];
                const i32 inside = K_MAX(slot, 0), group = SLOT_GROUP(block_groups, inside);
                where[f][lane] = FIRST_VALUE(layout, group, inside, COMPONENTS);
                turn[f][lane] = turns[f * 64 + K_L(byte)];
                side[f][lane] = slot < 0 ? 0 : sides[group];
                pitch[f][lane] = GROUP_LANES(layout, group);
                beyond[f][lane] = slot;
            }
        }
        K_SYNC;
        for (int c = 0; c < COMPONENTS; c++) {
            K_NODES(i, NP)
            {
                v[i][lane] = own[(c * NP + i) * LANES + lane];
                rate[i][lane] = 0;
            }
            K_ROWS(i, FACES * OTHER_LINES)
            {
                const int f = i / OTHER_LINES, j1 = i % OTHER_LINES % MOST;
                const int j2 = i % OTHER_LINES / MOST;
                K_LANEVAR(real, trace);
                GATHER_TRACE(f, j1, j2, trace)
                K_LANE other[i][lane] = ROOT_HALF * K_L(trace);
            }
            K_SYNC;
            K_ROWS(i, FACES * LINES)
            {
                const int e = i / LINES, d = e / 2, high = e % 2, f = faces[e], j = i % LINES;
                const int start = LINE_START(d, j), across = STRIDE(d, M);
                K_LANEVAR(real, sum);
                K_LANE K_L(sum) = 0;
                for (int n = 0; n < M; n++) {
                    const real w = (n & 1) && !high ? -legendre[n] : legendre[n];
                    K_LANE K_L(sum) += w * v[start + n * across][lane];
                }
                K_LANE mine[f * LINES + j][lane] = ROOT_HALF * K_L(sum);
            }
            TO_POINTS(v, value)
            /* The volume: J ∇r_d·b u at all points, tested with the derivative along d. */
            K_NODES(i, PLACES)
            {
                const real r = POINT_R(i), s = POINT_S(i), q = POINT_Q(i);
                const real x = PLACE(0, r, s, q), y = PLACE(1, r, s, q);
                const real z = DIM == 3 ? PLACE(DIM - 1, r, s, q) : 0;
                const vector b = VELOCITY(x, y, z, time), t0 = TANGENT(0, r, s, q);
                const vector t1 = TANGENT(1, r, s, q), t2 = TANGENT(2, r, s, q);
                flux[i][lane] = product_of(cross_of(t1, t2), b) * value[i][lane];
                flux1[i][lane] = product_of(cross_of(t2, t0), b) * value[i][lane];
#if DIM == 3
                flux2[i][lane] = product_of(cross_of(t0, t1), b) * value[i][lane];
#endif
            }
            K_SYNC;
            TO_MODES(flux, slopes, test, test, rate)
            TO_MODES(flux1, test, slopes, test, rate)
#if DIM == 3
            TO_MODES(flux2, test, test, slopes, rate)
#endif
#if SOURCES
            K_NODES(i, PLACES)
            {
                const real r = POINT_R(i), s = POINT_S(i), q = POINT_Q(i);
                const real x = PLACE(0, r, s, q), y = PLACE(1, r, s, q);
                const real z = DIM == 3 ? PLACE(DIM - 1, r, s, q) : 0;
                flux[i][lane] = JACOBIAN(r, s, q) * SOURCE(c, x, y, z, time);
            }
            K_SYNC;
            TO_MODES(flux, test, test, test, rate)
#endif
            /* The faces: what goes out through each point. */
            K_ROWS(i, FACES * FACE_PLACES)
            {
                const int e = i / FACE_PLACES, d = e / 2, f = faces[e], place = i % FACE_PLACES;
                const int q1 = place % FACE_Q, q2 = place / FACE_Q;
                const real end = e % 2 ? K_R(1) : K_R(-1);
                K_LANEVAR(i32, row1); /* of the rules */
                K_LANEVAR(i32, row2);
                K_LANEVAR(real, here);
                K_LANEVAR(real, there);
                K_LANE
                {
                    const i32 rule = (K_MAX(side[f][lane], M) - M) * FACE_Q;
                    K_L(row1) = (rule + q1) * (2 + MOST);
                    K_L(row2) = (rule + q2) * (2 + MOST);
                    K_L(here) = K_L(there) = 0;
                }
                for (int j = 0; j < OTHER_LINES; j++) {
                    const int j1 = j % MOST, j2 = j / MOST;
                    const int is_mine = (j1 < M) & (j2 < M), at = is_mine ? j1 + M * j2 : 0;
                    const real part = is_mine ? K_R(1) : K_R(0);
                    K_LANEVAR(real, p);
                    K_LANE K_L(p) = face_rules[K_L(row1) + 2 + j1];
#if DIM == 3
                    K_LANE K_L(p) *= face_rules[K_L(row2) + 2 + j2];
#endif
                    K_LANE
                    {
                        K_L(here) += part * K_L(p) * mine[f * LINES + at][lane];
                        K_L(there) += K_L(p) * other[f * OTHER_LINES + j][lane];
                    }
                }
                K_LANE
                {
                    const real s1 = face_rules[K_L(row1)], s2 = face_rules[K_L(row2)];
                    const real w =
                        face_rules[K_L(row1) + 1] * (DIM == 3 ? face_rules[K_L(row2) + 1] : K_R(1));
                    const real r = d == 0 ? end : s1, s = d == 0 ? s1 : d == 1 ? end : s2;
                    const real q = d == 2 ? end : s2;
                    const real x = PLACE(0, r, s, q), y = PLACE(1, r, s, q);
                    const real z = DIM == 3 ? PLACE(DIM - 1, r, s, q) : 0;
                    const vector normal =
                        area_of(d, TANGENT(0, r, s, q), TANGENT(1, r, s, q), TANGENT(2, r, s, q));
                    const real outward = end * w * product_of(normal, VELOCITY(x, y, z, time));
#if BOUNDARIES
                    const i32 b = -1 - K_MIN(beyond[f][lane], -1);
                    const real outside = BOUNDARY_VALUE(b, c, x, y, z, time);
                    const real behind = beyond[f][lane] < 0 ? outside : K_L(there);
#else
                    const real behind = K_L(there);
#endif
                    through[i][lane] = outward * (outward > 0 ? K_L(here) : behind);
                }
            }
            K_SYNC;
            /* … tested: `mine` now takes modes of what goes out. */
            K_ROWS(i, FACES * LINES)
            {
                const int e = i / LINES, f = faces[e], j1 = i % LINES % M, j2 = i % LINES / M;
                K_LANEVAR(real, sum);
                K_LANE K_L(sum) = 0;
                for (int place = 0; place < FACE_PLACES; place++) {
                    const int q1 = place % FACE_Q, q2 = place / FACE_Q;
                    K_LANE
                    {
                        const i32 rule = (K_MAX(side[f][lane], M) - M) * FACE_Q;
                        const real p1 = face_rules[(rule + q1) * (2 + MOST) + 2 + j1];
                        const real p2 =
                            DIM == 3 ? face_rules[(rule + q2) * (2 + MOST) + 2 + j2] : K_R(1);
                        K_L(sum) += p1 * p2 * through[e * FACE_PLACES + place][lane];
                    }
                }
                K_LANE mine[i][lane] = ROOT_HALF * K_L(sum);
            }
            K_SYNC;
            K_NODES(i, NP)
            {
                const int n0 = i % M, n1 = i / M % M, n2 = i / (M * M);
                const int j0 = i / M, j1 = n0 + n2 * M, j2 = i % (M * M);
                real sum = legendre[n0] *
                           (mine[LINES + j0][lane] + (n0 & 1 ? -mine[j0][lane] : mine[j0][lane]));
                sum += legendre[n1] *
                       (mine[3 * LINES + j1][lane] +
                        (n1 & 1 ? -mine[2 * LINES + j1][lane] : mine[2 * LINES + j1][lane]));
#if DIM == 3
                sum += legendre[n2] *
                       (mine[5 * LINES + j2][lane] +
                        (n2 & 1 ? -mine[4 * LINES + j2][lane] : mine[4 * LINES + j2][lane]));
#endif
                rate[i][lane] -= sum;
            }
            K_SYNC;
            /* The mass matrix. */
#if CURVED
            TO_POINTS(rate, value)
            K_NODES(i, PLACES)
            {
                const real jacobian = JACOBIAN(POINT_R(i), POINT_S(i), POINT_Q(i));
                flux[i][lane] = M == 1 ? jacobian : value[i][lane] / jacobian;
            }
            K_NODES(i, NP) v[i][lane] = 0;
            K_SYNC;
            TO_MODES(flux, test, test, test, v)
#endif
            K_NODES(i, NP)
            {
#if !CURVED
                rate[i][lane] = wl * rate[i][lane] / JACOBIAN(K_R(0), K_R(0), K_R(0));
#elif M == 1 /* v is ∫ J over the root of the reference element's volume */
                rate[i][lane] =
                    wl * rate[i][lane] / v[i][lane] * (DIM == 3 ? K_R(2) / ROOT_HALF : K_R(2));
#else
                rate[i][lane] = wl * v[i][lane];
#endif
            }
            K_VECTORS(i, NP) FINISH(i, BASE(i) + K_GET(rate[i]))
            K_SYNC;
        }
    }
}
