/* One stage of the Euler equations on quadrilaterals, fused: neighbours' traces, fluxes, rates,
 * update. All schemes are sums along the lines of an element. Of a line with M values let f be the flux
 * J∇r_d·F at INNER points and f*_-, f*_+ the numerical fluxes at its ends; then the rate is that of
 *
 *     J q_t = - Σ_d (Σ_k diff_ik f_k + low_i f*_- + high_i f*_+)
 *
 *     SCHEME_FLUXES   f_k at the nodes: DG on Gauss points, with diff from the weak form; nodal DG on
 *                     Gauss-Lobatto points, with diff from the strong form and the exact mass matrix
 *     SCHEME_CHAIN    instead of diff f the flux Jacobian at node i times Σ_k diff_ik q_k, and the
 *                     correction is of f* - f: CPR on Gauss-Lobatto points
 *     SCHEME_STAGGER  f_k at points between the nodes, to which the solution is interpolated: SD
 *
 * (lines.c makes the matrices; shape.k.h has J∇r_d of straight and of CURVED elements). If CARTESIAN all
 * elements are the same rectangle along x and y: `scale_x`, `scale_y` are 2 wl over its sides, and the
 * state along d is looked at with momenta swapped.
 *
 * If it BLENDS, rates of elements with a share of finite volumes are mixed with those of blend.k.h; there
 * the chain rule, which does not hold across a shock, gives way to the derivative of fluxes.
 *
 * The direction in which elements of a tile are neighbours, 0, comes last: they are in the cache by
 * then. A thread of a GPU has a line; sums along direction 1 wait in `change`.
 *
 * Traces of neighbours are those of nodes on faces, or with GAUSS points found in `traces`
 * [tile][end][4][M][lane], where the stage before has left them; this one leaves those of its result
 * in `next_traces`. The ends of an element are numbered (-1, 1) of direction 0, then of direction 1, and
 * points of a face in the order of the element's own coordinate.
 *
 *     table   diff [M][INNER], low [M], high [M], the basis at -1 and 1 [2][M], interpolation to
 *             the inner points [INNER][M], the nodes [M], the inner points [INNER], the weights of
 *             the nodes [M]
 *     runs    [4][5] of a tile: neighbours of its elements mostly stand in a row, too (field/rows.c), in
 *             up to three pieces: the lanes in which the second and the third begin, and the place in
 *             the group of each piece's first element. With PIECES they are read as vectors; those of
 *             tiles of KIND_MIXED, and all on a GPU, where it costs nothing, are found by
 *     faces   [4] the face at each end
 *     starts  [4 faces][64] by the byte of neighbour_face: where the first point of the neighbour's
 *             trace is, in rows, and in [4][64] more the rows from one to the next, and in [4][64]
 *             more those from a point to the one further inside */
#include "field/trace.k.h"
#include "model/euler/gas.k.h"
#include "model/euler/boundary.k.h"

#define SCHEME_FLUXES 0
#define SCHEME_CHAIN 1
#define SCHEME_STAGGER 2

#define DIFF(i, k) table[(i) * INNER + (k)]
#define LOW(i) table[M * INNER + (i)]
#define HIGH(i) table[M * INNER + M + (i)]
#define BASIS_AT(e, i) table[M * INNER + 2 * M + (e) * M + (i)]
#define INTERPOLATE(k, i) table[M * INNER + 4 * M + (k) * M + (i)]
#define NODE(i) table[2 * M * INNER + 4 * M + (i)]
#define INNER_POINT(k) table[2 * M * INNER + 5 * M + (k)]

#include "model/euler/shape.k.h"
#include "model/euler/element.k.h"
#if BLENDS
#include "model/euler/blend.k.h"
#define DERIVES_FLUXES (SCHEME != SCHEME_CHAIN || SHARES_ARE_LEFT)
#else
#define DERIVES_FLUXES 1
#endif

K_KERNEL(stage, K_IN(real, u), K_IN(real, traces), K_IN(i64, layout), K_IN(i32, block_groups),
         K_IN(i32, neighbour, 4 *LANES), K_IN(u8, neighbour_face, 4 *LANES), K_IN(i32, kinds, 1),
         K_IN(i32, runs, 20), K_IN(i32, faces), K_IN(i32, starts),
         K_IN(f64, nodes, 2 * (ORDER + 1) * (ORDER + 1) * LANES), K_IN(f64, metric, METRIC_ROWS *LANES),
         K_IN(real, table), K_IN(real, shares),
         K_VAL(i64, begin), K_VAL(i64, traces_begin),
         K_VAL(f64, scale_x), K_VAL(f64, scale_y), K_VAL(f64, time),
         K_VAL(f64, wf), K_VAL(f64, wc), K_VAL(f64, wl), K_IN(real, first, 4 *M *M *LANES),
         K_INOUT(real, k), K_OUT(real, out, 4 *M *M *LANES), K_OUT(real, next_traces))
{
    K_SHARED(real, change, 4 * M * M);
    K_SHARED(i64, where, 4);  /* the first value of the trace behind each end */
    K_SHARED(i32, pitch, 4);  /* from one of its points to the next */
    K_SHARED(i32, beyond, 4); /* the neighbour's slot; -1 - b: boundary b */
    K_TILES(t)
    {
        if (GATHERS) {
            K_ROWS(end, 4)
            {
                const int face = faces[end];
                K_GLOBAL const i32 *slots = K_TILE(neighbour, t, 4) + face * LANES;
                K_GLOBAL const u8 *bytes = K_TILE(neighbour_face, t, 4) + face * LANES;
                K_LANEVAR(i32, byte);
                K_LANE K_L(byte) = bytes[lane];
                K_LANE
                {
                    const i32 slot = slots[lane], inside = K_MAX(slot, 0);
                    where[end][lane] = TRACE_OF(inside) + starts[face * 64 + K_L(byte)] * LANES;
                    pitch[end][lane] = starts[256 + face * 64 + K_L(byte)] * LANES;
                    beyond[end][lane] = slot;
                }
            }
        }
        K_SYNC;
        for (int d = 1; d >= 0; d--) {
            K_ROWS(j, M)
            {
                K_LANEVAR(real, q[4 * M]);
                K_LANEVAR(real, f[4 * INNER]);
                K_LANEVAR(real, mine[4]);
                K_LANEVAR(real, other[4]);
                K_LANEVAR(real, star[8]); /* what the ends add, of the low end and of the high one */
                K_LANEVAR(real, nx[2]);   /* J∇r_d at both ends */
                K_LANEVAR(real, ny[2]);
#if BLENDS
                K_LANEVAR(real, outer[8]);         /* density, velocity and pressure beyond both ends */
                K_LANEVAR(real, cut[4 * (M + 1)]); /* fluxes at the ends of subcells */
                K_LANEVAR(real, top[4]);           /* the state at the high end of one */
#endif
                K_UNROLL for (int c = 0; c < 4; c++) K_UNROLL for (int i = 0; i < M; i++)
                    K_LANE K_L(q[c * M + i]) = AT(u + begin, ALONG(c, d) * NP + NODE_OF(d, j, i));
#if !CARTESIAN
                K_UNROLL for (int e = 0; e < 2; e++) K_LANE
                {
                    K_L(nx[e]) = END_X(d, e, j);
                    K_L(ny[e]) = END_Y(d, e, j);
                }
#endif
                K_UNROLL for (int e = 0; e < 2; e++) {
                    const int end = 2 * d + e;
                    K_UNROLL for (int c = 0; c < 4; c++) {
#if GAUSS
                        K_LANE
                        {
                            real sum = BASIS_AT(e, 0) * K_L(q[c * M]);
                            K_UNROLL for (int i = 1; i < M; i++) sum += BASIS_AT(e, i) * K_L(q[c * M + i]);
#if BLENDS
                            sum += SHARE * (K_L(q[c * M + e * (M - 1)]) - sum);
#endif
                            K_L(mine[c]) = sum;
                        }
#else
                        K_LANE K_L(mine[c]) = K_L(q[c * M + e * (M - 1)]);
#endif
                    }
                    if (GATHERS) {
                        K_UNROLL for (int c = 0; c < 4; c++)
                            K_LANE K_L(other[c]) = TRACES[where[end][lane] + j * pitch[end][lane] +
                                                          ALONG(c, d) * TRACE_STEP * LANES];
                    } else {
                        K_GLOBAL const i32 *run = runs + (t * 4 + end) * 5;
                        const i32 second = run[0], third = run[1];
                        const i32 row = (TRACE_START(d, e) + j * POINT_STEP(d)) * LANES;
                        const i64 one = TRACE_AT(run[2]) + row, two = TRACE_AT(run[3]) + row - second;
                        const i64 three = TRACE_AT(run[4]) + row - third;
                        K_UNROLL for (int c = 0; c < 4; c++) {
                            const int at = ALONG(c, d) * TRACE_STEP * LANES;
                            if (second >= LANES)
                                K_LANE K_L(other[c]) = TRACES[one + lane + at];
                            else
                                K_LANE K_L(other[c]) = lane < second  ? TRACES[one + lane + at]
                                                       : lane < third ? TRACES[two + lane + at]
                                                                      : TRACES[three + lane + at];
                        }
                    }
#if BOUNDARIES
                    if (kinds[t] & KIND_OUTER) {
                        const real out_of = e ? K_R(1) : K_R(-1);
                        K_LANE
                        {
                            const int b = -1 - K_MIN(beyond[end][lane], -1), type = BOUNDARY_TYPE(b);
                            const real x = FACE_AT(0, d, e, j), y = FACE_AT(1, d, e, j);
#if CARTESIAN
                            const real ux = d == 0 ? out_of : K_R(0), uy = d == 0 ? K_R(0) : out_of;
#else
                            const real x0 = K_L(nx[e]), y0 = K_L(ny[e]);
                            const real size = out_of / K_SQRT(x0 * x0 + y0 * y0);
                            const real ux = x0 * size, uy = y0 * size;
#endif
                            const state in = turned(along(STATE(mine, 1, 0), d), ux, uy);
                            const state given = turned(given_state(b, x, y, time), ux, uy);
                            const state behind = turned_back(state_behind(type, in, given), ux, uy);
                            const state at = along(behind, d);
                            if (beyond[end][lane] < 0) {
                                KEEP(other, 1, 0, at)
                                if (type == BOUNDARY_INFLOW) {
                                    KEEP(mine, 1, 0, at)
                                }
                            }
                        }
                    }
#endif
                    K_LANE
                    {
                        const state a = STATE(mine, 1, 0), b = STATE(other, 1, 0);
#if CARTESIAN
                        const state through = e ? numerical_flux(a, b) : numerical_flux(b, a);
#else
                        const state left = e ? a : b, right = e ? b : a;
                        const state through = flux_through(left, right, K_L(nx[e]), K_L(ny[e]));
#endif
#if BLENDS
                        const state far = primitive(b);
                        KEEP(outer, 2, e, far)
                        KEEP(cut, M + 1, e * M, through)
#endif
#if SCHEME == SCHEME_CHAIN
                        const state inside = FLUX_AT(STATE(q, M, e * (M - 1)), K_L(nx[e]), K_L(ny[e]));
                        const state jump = combined(K_R(1), through, K_R(-1), inside);
                        KEEP(star, 2, e, jump)
#else
                        KEEP(star, 2, e, through)
#endif
                    }
                }
#if SCHEME != SCHEME_CHAIN || BLENDS
                if (DERIVES_FLUXES) K_UNROLL for (int p = 0; p < INNER; p++) {
                    K_LANE
                    {
#if SCHEME == SCHEME_STAGGER
                        state at = scaled(INTERPOLATE(p, 0), STATE(q, M, 0));
                        K_UNROLL for (int i = 1; i < M; i++)
                            at = combined(K_R(1), at, INTERPOLATE(p, i), STATE(q, M, i));
#else
                        const state at = STATE(q, M, p);
#endif
                        const state flux = FLUX_AT(at, INNER_X(d, j, p), INNER_Y(d, j, p));
                        KEEP(f, INNER, p, flux)
                    }
                }
#endif
#if BLENDS
                if (SHARES_ARE_LEFT) {
                    real place = -1;
                    K_UNROLL for (int i = 0; i < M; i++) {
                        const real reach = K_R(0.5) * WEIGHT(i);
                        const real to_low = reach + K_R(0.5) * WEIGHT(i > 0 ? i - 1 : 0);
                        const real to_high = reach + K_R(0.5) * WEIGHT(i < M - 1 ? i + 1 : M - 1);
                        K_LANE
                        {
                            const state at = primitive(STATE(q, M, i));
                            const state low = i > 0 ? primitive(STATE(q, M, i - 1)) : STATE(outer, 2, 0);
                            const state high = i < M - 1 ? primitive(STATE(q, M, i + 1)) : STATE(outer, 2, 1);
                            const state change = rise(low, at, high, to_low, to_high, reach);
                            const state above = state_at(at, K_R(1), change);
                            if (i > 0) {
                                const state below = state_at(at, K_R(-1), change);
                                const state flux = FLUX_BETWEEN(STATE(top, 1, 0), below,
                                                                between(K_L(nx[0]), K_L(nx[1]), place),
                                                                between(K_L(ny[0]), K_L(ny[1]), place));
                                KEEP(cut, M + 1, i, flux)
                            }
                            KEEP(top, 1, 0, above)
                        }
                        place += WEIGHT(i);
                    }
                }
#endif
                K_UNROLL for (int i = 0; i < M; i++) {
                    K_LANEVAR(real, sum[4]);
#if SCHEME == SCHEME_CHAIN
                    K_LANE
                    {
                        state slope = scaled(DIFF(i, 0), STATE(q, M, 0));
                        K_UNROLL for (int p = 1; p < M; p++)
                            slope = combined(K_R(1), slope, DIFF(i, p), STATE(q, M, p));
                        const state inner =
                            CHANGE_AT(STATE(q, M, i), slope, INNER_X(d, j, i), INNER_Y(d, j, i));
                        KEEP(sum, 1, 0, inner)
                    }
#if BLENDS
                    if (SHARES_ARE_LEFT)
                        K_LANE
                        {
                            state inner = scaled(DIFF(i, 0), STATE(f, INNER, 0));
                            K_UNROLL for (int p = 1; p < M; p++)
                                inner = combined(K_R(1), inner, DIFF(i, p), STATE(f, INNER, p));
                            const state chained = STATE(sum, 1, 0);
                            const state used = state_of(SHARE > 0 ? inner.rho : chained.rho,
                                                        SHARE > 0 ? inner.mx : chained.mx,
                                                        SHARE > 0 ? inner.my : chained.my,
                                                        SHARE > 0 ? inner.E : chained.E);
                            KEEP(sum, 1, 0, used)
                        }
#endif
#else
                    K_LANE
                    {
                        state inner = scaled(DIFF(i, 0), STATE(f, INNER, 0));
                        K_UNROLL for (int p = 1; p < INNER; p++)
                            inner = combined(K_R(1), inner, DIFF(i, p), STATE(f, INNER, p));
                        KEEP(sum, 1, 0, inner)
                    }
#endif
                    K_UNROLL for (int c = 0; c < 4; c++) {
                        const int at = ALONG(c, d) * NP + NODE_OF(d, j, i);
                        K_LANE K_L(sum[c]) += LOW(i) * K_L(star[2 * c]) + HIGH(i) * K_L(star[2 * c + 1]);
#if BLENDS
                        if (SHARES_ARE_LEFT)
                            K_LANE
                            {
                                const real through = K_L(cut[c * (M + 1) + i + 1]) - K_L(cut[c * (M + 1) + i]);
                                const real mixed = K_L(sum[c]) + SHARE_OF_RATE * (through / WEIGHT(i) - K_L(sum[c]));
                                K_L(sum[c]) = SHARE > 0 ? mixed : K_L(sum[c]);
                            }
#endif
                        if (d == 1)
                            K_LANE change[at][lane] = SCALE_Y * K_L(sum[c]);
                        else
                            K_LANE
                            {
                                const real all = change[at][lane] + SCALE_X * K_L(sum[c]);
                                real next;
                                FINISH(at, -all * DENSITY(i, j), next)
                                AT(out, at) = next;
                                if (GAUSS) change[at][lane] = next;
                            }
                    }
                }
            }
            K_SYNC;
        }
#if GAUSS
        K_ROWS(i, 4 * 4 * M)
        {
            const int end = i / (4 * M), c = i / M % 4, j = i % M;
            const int start = c * NP + NODE_OF(end / 2, j, 0), step = NODE_OF(end / 2, 0, 1);
            K_LANE
            {
                real sum = BASIS_AT(end % 2, 0) * change[start][lane];
                K_UNROLL for (int n = 1; n < M; n++)
                    sum += BASIS_AT(end % 2, n) * change[start + n * step][lane];
                K_TILE(next_traces, t, 16 * M)[i * LANES + lane] = sum;
            }
        }
#endif
    }
}
