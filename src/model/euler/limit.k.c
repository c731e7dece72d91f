/* What happens to the solution after a stage, in place; limiter.c has the method.
 *
 *     LIMITS       the slope limiter: an element is troubled if one of its traces differs by more than
 *                  `threshold` from what the means of the neighbours allow, and then becomes linear
 *     POSITIVITY   density and pressure of nodes and traces are at least LEAST times those of the mean
 *
 * With GAUSS points the traces are those that stage.k.c has left, [tile][end][4][M][lane], and are kept
 * in step; else traces are values of nodes. `u`, `traces` and `reach` begin with the group, its `means` at
 * `begin`.
 *
 *     means   [slot][4]
 *     reach   [4] of each end, by which a difference to the mean behind it is multiplied to be one along
 *             the element's own coordinate
 *     rule    the nodes of a line [M], half their weights [M], the basis at -1 and 1 [2][M], and the mean
 *             of r² by the weights */
#include "field/trace.k.h"
#include "model/euler/gas.k.h"
#include "model/euler/boundary.k.h"
#include "model/euler/jacobian.k.h"

#define LEAST K_R(1e-6)

#define KIND_OUTER 1 /* as in stage.k.c */

#define NP (M * M)
#define NODE(i) rule[i]
#define MOMENT rule[4 * M]
#define MEAN(c) K_TILE(means + begin, t, 4)[(c) * LANES + lane]
#define BEHIND(end, c) behind[(end) * 4 + (c)][lane]
#define MEAN_STATE state_of(MEAN(0), MEAN(1), MEAN(2), MEAN(3))

/* Node j of the face at an end. */
#define NODE_AT(end, j) ((end) < 2 ? (j) * M + (end) * (M - 1) : ((end) - 2) * (M - 1) * M + (j))
#if GAUSS
#define TRACE(end, c, j) K_TILE(traces, t, 16 * M)[(((end) * 4 + (c)) * M + (j)) * LANES + lane]
#else
#define TRACE(end, c, j) VALUE(c, NODE_AT(end, j))
#endif
#define VALUE(c, i) K_TILE(u, t, 4 * NP)[((c) * NP + (i)) * LANES + lane]

/* The points of row j: nodes, then with GAUSS the traces j of all ends. */
#define POINTS (M + 4 * GAUSS)
#define POINT_R(p, j) ((p) < M ? NODE(p) : (p) < M + 2 ? K_R(2) * ((p) - M) - K_R(1) : NODE(j))
#define POINT_S(p, j) ((p) < M + 2 ? NODE(j) : K_R(2) * ((p) - M - 2) - K_R(1))
#if GAUSS
#define AT_POINT(c, p, j) (*((p) < M ? &VALUE(c, (j) * M + (p)) : &TRACE((p) - M, c, j)))
#else
#define AT_POINT(c, p, j) VALUE(c, (j) * M + (p))
#endif
#define STATE_AT(p, j) state_of(AT_POINT(0, p, j), AT_POINT(1, p, j), AT_POINT(2, p, j), AT_POINT(3, p, j))

/* The smaller one; a that is no number is not. */
K_FUNC real smaller(real a, real b)
{
    return a < b ? a : b;
}

/* By how much what lies around a mean is scaled so that nothing is less than LEAST times it. */
K_FUNC real scale_of(real mean, real lowest)
{
    const real least = LEAST * mean;
    const real inside = mean > 0 ? (mean - least) / (mean - lowest) : K_R(0);
    return lowest < least ? inside : K_R(1);
}

K_KERNEL(limit, K_IN(real, means), K_IN(i64, layout), K_IN(i32, block_groups),
         K_IN(i32, neighbour, 4 *LANES), K_IN(i32, kinds, 1), K_IN(i32, faces),
         K_IN(f64, nodes, 8 *LANES), K_IN(f64, reach, 4 *LANES), K_IN(real, rule), K_VAL(i64, begin),
         K_VAL(f64, time), K_VAL(f64, threshold), K_INOUT(real, u, 4 *M *M *LANES),
         K_INOUT(real, traces))
{
    K_SHARED(real, behind, 16);   /* [end][4] the mean behind each end */
    K_SHARED(real, troubled, M);  /* whether a trace of row j is */
    K_SHARED(real, density, M);   /* the lowest of row j */
    K_SHARED(real, share, M);     /* what is left of differences of row j for its pressures */
    K_TILES(t)
    {
#if LIMITS
        K_ROWS(end, 4)
        {
            K_GLOBAL const i32 *slots = K_TILE(neighbour, t, 4) + faces[end] * LANES;
            K_LANEVAR(i64, first);
            K_LANE
            {
                const i32 slot = K_MAX(slots[lane], 0);
                K_L(first) = FIRST_VALUE(layout, SLOT_GROUP(block_groups, slot), slot, 4);
            }
            K_UNROLL for (int c = 0; c < 4; c++)
                K_LANE BEHIND(end, c) = means[K_L(first) + c * LANES];
#if BOUNDARIES
            if (kinds[t] & KIND_OUTER) {
                const int d = end / 2, e = end % 2, from = d == 0 ? e : 2 * e, to = d == 0 ? e + 2 : 2 * e + 1;
                const real out_of = d == e ? K_R(-1) : K_R(1); /* the side turned by a quarter */
                K_LANE
                {
                    const int b = -1 - K_MIN(slots[lane], -1), type = BOUNDARY_TYPE(b);
                    const real dx = CORNER(0, to) - CORNER(0, from), dy = CORNER(1, to) - CORNER(1, from);
                    const real x = K_R(0.5) * (CORNER(0, to) + CORNER(0, from));
                    const real y = K_R(0.5) * (CORNER(1, to) + CORNER(1, from));
                    const real size = out_of / K_SQRT(dx * dx + dy * dy), nx = dy * size, ny = -dx * size;
                    const state given = turned(given_state(b, x, y, time), nx, ny);
                    const state in = turned(MEAN_STATE, nx, ny);
                    const state out = turned_back(state_behind(type, in, given), nx, ny);
                    if (slots[lane] < 0) {
                        BEHIND(end, 0) = out.rho;
                        BEHIND(end, 1) = out.mx;
                        BEHIND(end, 2) = out.my;
                        BEHIND(end, 3) = out.E;
                    }
                }
            }
#endif
        }
        K_SYNC;
        K_ROWS(j, M)
        {
            K_LANEVAR(real, found);
            K_LANE K_L(found) = 0;
            K_UNROLL for (int end = 0; end < 4; end++) K_UNROLL for (int c = 0; c < 4; c++)
                K_LANE
                {
                    const real mean = MEAN(c), own = TRACE(end, c, j) - mean;
                    const real ahead = BEHIND(end, c) - mean, back = mean - BEHIND(end ^ 1, c);
                    const real beyond = K_ABS(own - minmod(own, minmod(ahead, back)));
                    K_L(found) = beyond > threshold ? K_R(1) : K_L(found);
                }
            K_LANE troubled[j][lane] = K_L(found);
        }
        K_SYNC;
        K_ROWS(j, M)
        {
            K_LANEVAR(real, found);
            K_LANEVAR(real, r0); /* where the linear function is the mean */
            K_LANEVAR(real, s0);
            K_LANE K_L(found) = troubled[0][lane];
            K_UNROLL for (int i = 1; i < M; i++) K_LANE K_L(found) += troubled[i][lane];
            K_LANE
            {
                const incline of = INCLINE;
                K_L(r0) = CARTESIAN ? K_R(0) : MOMENT * of.by_r;
                K_L(s0) = CARTESIAN ? K_R(0) : MOMENT * of.by_s;
            }
            K_UNROLL for (int c = 0; c < 4; c++) {
                K_LANEVAR(real, by_r);
                K_LANEVAR(real, by_s);
                K_LANE
                {
                    K_GLOBAL const f64 *near = K_TILE(reach, t, 4) + lane;
                    const real mean = MEAN(c);
                    K_L(by_r) = minmod(near[LANES] * (BEHIND(1, c) - mean), near[0] * (mean - BEHIND(0, c)));
                    K_L(by_s) = minmod(near[3 * LANES] * (BEHIND(3, c) - mean),
                                       near[2 * LANES] * (mean - BEHIND(2, c)));
                }
                K_UNROLL for (int p = 0; p < POINTS; p++) {
                    const real r = POINT_R(p, j), s = POINT_S(p, j);
                    K_LANE
                    {
                        const real line = MEAN(c) + (r - K_L(r0)) * K_L(by_r) + (s - K_L(s0)) * K_L(by_s);
                        if (K_L(found) > 0) AT_POINT(c, p, j) = line;
                    }
                }
            }
        }
#endif
#if POSITIVITY
        K_ROWS(j, M)
        {
            K_LANEVAR(real, lowest);
            K_LANE K_L(lowest) = AT_POINT(0, 0, j);
            K_UNROLL for (int p = 1; p < POINTS; p++)
                K_LANE K_L(lowest) = smaller(K_L(lowest), AT_POINT(0, p, j));
            K_LANE density[j][lane] = K_L(lowest);
        }
        K_SYNC;
        K_ROWS(j, M)
        {
            K_LANEVAR(real, by);
            K_LANEVAR(real, least);
            K_LANE K_L(by) = density[0][lane];
            K_UNROLL for (int i = 1; i < M; i++) K_LANE K_L(by) = smaller(K_L(by), density[i][lane]);
            K_LANE K_L(by) = scale_of(MEAN(0), K_L(by));
            K_LANE K_L(least) = K_INFINITY;
            K_UNROLL for (int p = 0; p < POINTS; p++)
                K_LANE
                {
                    state q = STATE_AT(p, j);
                    q.rho = MEAN(0) + K_L(by) * (q.rho - MEAN(0));
                    if (K_L(by) < 1) AT_POINT(0, p, j) = q.rho;
                    K_L(least) = smaller(pressure_of(q, K_R(1) / q.rho), K_L(least));
                }
            K_LANE
            {
                const real mean = pressure_of(MEAN_STATE, K_R(1) / MEAN(0));
                share[j][lane] = scale_of(mean, K_L(least));
            }
        }
        K_SYNC;
        K_ROWS(j, M)
        {
            K_LANEVAR(real, by);
            K_LANE K_L(by) = share[0][lane];
            K_UNROLL for (int i = 1; i < M; i++) K_LANE K_L(by) = smaller(K_L(by), share[i][lane]);
            K_UNROLL for (int c = 0; c < 4; c++) K_UNROLL for (int p = 0; p < POINTS; p++)
                K_LANE
                {
                    const real next = MEAN(c) + K_L(by) * (AT_POINT(c, p, j) - MEAN(c));
                    if (K_L(by) < 1) AT_POINT(c, p, j) = next;
                }
        }
#endif
    }
}
