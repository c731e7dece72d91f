/* One stage of finite volumes on the cells of straight quadrilaterals, fused: MUSCL reconstruction
 * [vanleer1979] along the lines of an element, numerical fluxes, update. An element has M x M cells,
 * equal in its reference square; values are means.
 *
 * A cell's area is (2/M)² times J at its centre, as J of a straight element is linear, and the normal of a
 * face, times its length, is 2/M times J∇r_d, which is linear along a line and does not vary across
 * it: the rate is
 *
 *     J q_t = - M/2 Σ_d (f_+ - f_-),    f = J∇r_d·F
 *
 * At a face the state of the cell behind it is, with the differences to the cells before and behind
 * that one,
 *
 *     q + ((1 - κ) a + (1 + κ) b)/4
 *
 * where a, b are the differences themselves, of conserved quantities, whose means these are; or if
 * LIMITED those of density, velocity and pressure, and a = minmod(back, β ahead), b = minmod(ahead, β
 * back), β = (3 - κ)/(1 - κ): no state is then beyond a neighbour's, and density and pressure at
 * faces are positive. RECONSTRUCTION 2 has κ = 0; 3 has κ = 1/3, exact for quadratic functions of one
 * direction. Cells are counted, not measured: where elements differ in size the order is less.
 *
 * With FACE_POINTS 2 all of this is done at both Gauss points of a face: means along the line at
 * ± 1/√12 cells across it are q ± slope/√12, which is exact for quadratic functions, as their second
 * derivative adds nothing there. `slopes` are those of slopes.k.c. */
#include "field/trace.k.h"
#include "model/euler/gas.k.h"
#include "model/euler/boundary.k.h"
#include "model/euler/cells.k.h"

#if RECONSTRUCTION == 3
#define KAPPA K_R(0.33333333333333333)
#else
#define KAPPA K_R(0)
#endif
#define STEEPEST ((K_R(3) - KAPPA) / (K_R(1) - KAPPA))

/* Cells of neighbours at each end of a line, and of the line with them. */
#define DEEP 2
#define ALL (M + 2 * DEEP)

#if FACE_POINTS == 2
/* 1/√12 */
#define ASIDE(p) ((p) == 0 ? K_R(-0.28867513459481288) : K_R(0.28867513459481288))
#else
#define ASIDE(p) K_R(0)
#endif

/* The value at the face between cells `at` and `ahead`, on the side of the first. */
K_FUNC real at_face(real back, real at, real ahead)
{
    const real a = at - back, b = ahead - at;
#if LIMITED
    return at + K_R(0.25) * ((K_R(1) - KAPPA) * minmod(a, STEEPEST * b) +
                             (K_R(1) + KAPPA) * minmod(b, STEEPEST * a));
#else
    return at + K_R(0.25) * ((K_R(1) - KAPPA) * a + (K_R(1) + KAPPA) * b);
#endif
}

K_FUNC state state_at_face(state back, state at, state ahead)
{
    const state w = state_of(at_face(back.rho, at.rho, ahead.rho), at_face(back.mx, at.mx, ahead.mx),
                             at_face(back.my, at.my, ahead.my), at_face(back.E, at.E, ahead.E));
#if LIMITED
    return conserved(w.rho, w.mx, w.my, w.E);
#else
    return w;
#endif
}

/* The slope across a line along d of a neighbour's cells behind an end: it is one of the neighbour's
 * direction 1 if the line goes on along its direction 0, and of the other sign if it is turned. */
#define SLOPES_OF(slot) FIRST_VALUE(slope_layout, SLOT_GROUP(block_groups, slot), slot, 8)
#define ACROSS(end) (inward[end][lane] == LANES || inward[end][lane] == -LANES)

K_KERNEL(cells, K_IN(real, u), K_IN(real, slopes), K_IN(i64, layout), K_IN(i64, slope_layout),
         K_IN(i32, block_groups), K_IN(i32, neighbour, 4 * LANES),
         K_IN(u8, neighbour_face, 4 * LANES), K_IN(i32, kinds, 1), K_IN(i32, runs, 20),
         K_IN(i32, faces), K_IN(i32, starts), K_IN(f64, nodes, 8 * LANES), K_VAL(i64, begin),
         K_VAL(i64, slopes_begin), K_VAL(f64, scale_x), K_VAL(f64, scale_y), K_VAL(f64, time),
         K_VAL(f64, wf), K_VAL(f64, wc), K_VAL(f64, wl), K_IN(real, first, 4 * M * M * LANES),
         K_INOUT(real, k), K_OUT(real, out, 4 * M * M * LANES))
{
    K_SHARED(real, change, 4 * M * M);
    K_SHARED(i64, where, 4);  /* the value of the cell behind the first line at each end */
    K_SHARED(i32, pitch, 4);  /* to the one behind the next line */
    K_SHARED(i32, inward, 4); /* to the one behind that */
    K_SHARED(i32, beyond, 4); /* the neighbour's slot; -1 - b: boundary b */
    K_TILES(t)
    {
        FIND_CELLS
        for (int d = 1; d >= 0; d--) {
            K_ROWS(j, M)
            {
                K_LANEVAR(real, q[4 * ALL]);
                K_LANEVAR(real, f[4 * (M + 1)]); /* fluxes through the faces */
                K_LANEVAR(real, nx[2]);          /* J∇r_d at both ends */
                K_LANEVAR(real, ny[2]);
                FIND_NORMALS(d)
                for (int p = 0; p < FACE_POINTS; p++) {
                    LOAD_CELLS(q, DEEP, d, j)
#if FACE_POINTS == 2
                    K_UNROLL for (int c = 0; c < 4; c++)
                    {
                        const int row = (4 * (1 - d) + ALONG(c, d)) * NP;
                        K_UNROLL for (int i = 0; i < M; i++) K_LANE K_L(q[c * ALL + DEEP + i]) +=
                            ASIDE(p) * K_TILE(slopes + slopes_begin, t,
                                              2 * ROWS)[(row + NODE_OF(d, j, i)) * LANES + lane];
                    }
                    K_UNROLL for (int e = 0; e < 2; e++)
                    {
                        const int end = 2 * d + e;
                        K_UNROLL for (int c = 0; c < 4; c++) K_UNROLL for (int i = 0; i < DEEP; i++)
                            K_LANE
                        {
                            const i32 slot = K_MAX(beyond[end][lane], 0);
                            const i64 row = SLOPES_OF(slot) + where[end][lane] - TRACE_OF(slot) +
                                            j * pitch[end][lane] + i * inward[end][lane];
                            const real slope =
                                slopes[row + (4 * ACROSS(end) + ALONG(c, d)) * NP * LANES];
                            K_L(q[OUTER_CELL(DEEP, c, e, i)]) +=
                                (pitch[end][lane] < 0 ? -ASIDE(p) : ASIDE(p)) * slope;
                        }
                    }
#endif
                    LOAD_BOUNDARIES(q, DEEP, d, NODE(j) + K_R(2) / M * ASIDE(p))
#if LIMITED
                    K_UNROLL for (int i = 0; i < ALL; i++) K_LANE
                    {
                        const state inner = primitive(STATE(q, ALL, i));
                        KEEP(q, ALL, i, inner)
                    }
#endif
                    K_UNROLL for (int i = 0; i <= M; i++)
                    {
                        K_LANEVAR(real, l[4]);
                        K_LANEVAR(real, r[4]);
                        K_LANE
                        {
                            const state back = STATE(q, ALL, i), low = STATE(q, ALL, i + 1);
                            const state high = STATE(q, ALL, i + 2), ahead = STATE(q, ALL, i + 3);
                            const state left = state_at_face(back, low, high);
                            const state right = state_at_face(ahead, high, low);
                            KEEP(l, 1, 0, left)
                            KEEP(r, 1, 0, right)
                        }
#if BOUNDARIES
                        if ((i == 0 || i == M) && (kinds[t] & KIND_OUTER)) {
                            const int e = i == M;
                            K_LANE
                            {
                                const int b = -1 - K_MIN(beyond[2 * d + e][lane], -1);
                                const int type = BOUNDARY_TYPE(b);
                                state in = STATE(r, 1, 0), behind;
                                if (e) in = STATE(l, 1, 0);
                                FIND_BEHIND(d, e, NODE(j) + K_R(2) / M * ASIDE(p), b, type, in,
                                            behind)
                                if (beyond[2 * d + e][lane] < 0) {
                                    if (e || type == BOUNDARY_INFLOW) {
                                        KEEP(r, 1, 0, behind)
                                    }
                                    if (!e || type == BOUNDARY_INFLOW) {
                                        KEEP(l, 1, 0, behind)
                                    }
                                }
                            }
                        }
#endif
                        K_LANE
                        {
                            const state left = STATE(l, 1, 0), right = STATE(r, 1, 0);
#if CARTESIAN
                            const state flux = numerical_flux(left, right);
#else
                            const real place = K_R(2) / M * i - K_R(1);
                            const real x = between(K_L(nx[0]), K_L(nx[1]), place);
                            const real y = between(K_L(ny[0]), K_L(ny[1]), place);
                            const state flux = flux_through(left, right, x, y);
#endif
                            const state through = scaled(K_R(1) / FACE_POINTS, flux);
                            if (p == 0) {
                                KEEP(f, M + 1, i, through)
                            } else {
                                const state sum =
                                    combined(K_R(1), STATE(f, M + 1, i), K_R(1), through);
                                KEEP(f, M + 1, i, sum)
                            }
                        }
                    }
                }
                K_UNROLL for (int i = 0; i < M; i++)
                {
                    K_UNROLL for (int c = 0; c < 4; c++)
                    {
                        const int at = ALONG(c, d) * NP + NODE_OF(d, j, i);
                        K_LANE
                        {
                            const real sum =
                                K_R(0.5) * M *
                                (K_L(f[c * (M + 1) + i + 1]) - K_L(f[c * (M + 1) + i]));
                            if (d == 1) {
                                change[at][lane] = SCALE_Y * sum;
                            } else {
                                const real all = change[at][lane] + SCALE_X * sum;
                                real next;
                                FINISH(at, -all * DENSITY(i, j), next)
                                AT(out, at) = next;
                            }
                        }
                    }
                }
            }
            K_SYNC;
        }
    }
}
