/* One stage of u_t + div(b u) = 0 on affine elements with a velocity that does not vary in space, fused:
 * neighbours' traces, rates, update. No quadrature is needed. Along a line let a = b·∇r, w_n =
 * sqrt(2n + 1), so that p_n(1) = w_n / sqrt(2), T = Σ w_n u_n (±1)^n the own trace where it flows out and
 * N the neighbour's where it flows in. Then ∫ a u p_n' - [a û p_n], with the upwind û, is
 *
 *     w_n (S_n + { |a| (N - T) / 2   n even }),    S_0 = 0,  S_1 = a w_0 u_0,  S_{n+1} = S_{n-1} + a w_n u_n
 *                { -a (N + T) / 2    n odd  }
 *
 * and a T is S_M ± S_{M-1}. Modes that a neighbour of lower degree lacks are zero, those that it has
 * beyond mine do not reach my modes: as with the points of the higher degree. Only faces where it flows
 * in need a neighbour, DIM of 2 DIM.
 *
 * Neighbours of a tile's elements mostly stand in a row, too (field/rows.c), and are then read as
 * vectors, from up to three pieces; those in tiles of KIND_MIXED are gathered. The latter are few as a
 * rule and would slow the others down, so they have a launch of their own: with GATHERS `list` says
 * which they are, without it they are left out.
 *
 * If WHOLE an element has so few modes that they are kept in registers, by a thread of a GPU; else
 * threads share its lines. If they CLIMB, too, a thread goes from row to row (K_IN_TURN) and hands on
 * what flows out along direction 1.
 *
 *     v0 v1 v2   wl a along each direction if UNIFORM, the same in all elements; else wl b
 *     backwards  bit d: a < 0, in all elements, if PARALLEL
 *     runs       [DIM][2][5] of a tile, for the faces at -1 and 1 of each direction: in which lanes the
 *                second and the third piece begin, and the place in the group of each piece's first
 *                element
 *     faces      [DIM][2] the faces at -1 and 1 of each direction
 *     sides      [groups] M of each group
 *     rule       points [POINTS], then weight * p_j [POINTS][M] of a line, for boundary values */
#include "model/advection/advection.k.h"

/* The speed along d and its sign: the same in all lanes, or vectors. */
#if UNIFORM
#define SPEED(d) ((d) == 0 ? v0 : (d) == 1 ? v1 : v2)
typedef real speed_type;
#else
#define SPEED(d) K_GET(speed[d])
typedef vreal speed_type;
#endif
#if PARALLEL
#define SIGN(d) (backwards >> (d) & 1 ? K_R(-1) : K_R(1))
#define BACKWARDS(d) (backwards >> (d) & 1)
typedef real sign_type;
#else
#define SIGN(d) K_GET(signs[d])
#define BACKWARDS(d) (signs[d][lane] < 0)
typedef vreal sign_type;
#endif

/* Where the neighbours along d stand, as variables of a tile. */
#define FIND_RUN(d) \
    const i32 second_##d = RUN_OF(d)[0], third_##d = RUN_OF(d)[1]; \
    const i64 one_##d = first_value(RUN_OF(d)[2], begin, ROWS, LANES); \
    const i64 two_##d = first_value(RUN_OF(d)[3], begin, ROWS, LANES) - second_##d; \
    const i64 three_##d = first_value(RUN_OF(d)[4], begin, ROWS, LANES) - third_##d;
#define RUN_OF(d) (runs + ((t * DIM + (d)) * 2 + BACKWARDS(d)) * 5)
/* … as one variable of a thread of a GPU, which has few registers. */
#define FIND_PIECE(d) \
    i64 piece_##d; \
    { \
        FIND_RUN(d) \
        piece_##d = lane < second_##d ? one_##d : lane < third_##d ? two_##d : three_##d; \
    }
#if GATHERS
#define FIND_RUNS
#elif DIM == 2 && WHOLE
#define FIND_RUNS FIND_PIECE(0) FIND_PIECE(1)
#elif DIM == 2
#define FIND_RUNS FIND_RUN(0) FIND_RUN(1)
#elif WHOLE
#define FIND_RUNS FIND_PIECE(0) FIND_PIECE(1) FIND_PIECE(2)
#else
#define FIND_RUNS FIND_RUN(0) FIND_RUN(1) FIND_RUN(2)
#endif

/* Mode n of a line of neighbours along d: all in one piece, or at the seam of pieces. */
#define MODE_AT(place, n) K_GET(u + (place) + (c * NP + start + (n) * step) * LANES)
#define IN_ONE(d, n) MODE_AT(piece_##d, n)
#define AT_SEAM(d, n) \
    K_BELOW(third_##d, K_BELOW(second_##d, MODE_AT(one_##d, n), MODE_AT(two_##d, n)), \
            MODE_AT(three_##d, n))
#define SUM_UP(d, MODE) \
    vreal even = MODE(d, 0), odd = (M > 1 ? root(1) : K_R(0)) * MODE(d, M > 1 ? 1 : 0); \
    K_UNROLL for (int n = 2; n < M; n += 2) even += root(n) * MODE(d, n); \
    K_UNROLL for (int n = 3; n < M; n += 2) odd += root(n) * MODE(d, n); \
    inflow = a * (even + sign * odd);

/* What flows into line j along d. */
#if GATHERS
#define INFLOW(d, j) inflow = a * K_GET(traces[(d) * LINES + (j)]);
#elif WHOLE
#define INFLOW(d, j) SUM_UP(d, IN_ONE)
#else
#define INFLOW(d, j) \
    const i64 piece_##d = lane < second_##d ? one_##d : lane < third_##d ? two_##d : three_##d; \
    if (K_UNCUT(second_##d) && K_UNCUT(third_##d)) { \
        SUM_UP(d, IN_ONE) \
    } else { \
        SUM_UP(d, AT_SEAM) \
    }
#endif
#if CLIMBS
#define INFLOW_1(d, j) \
    if (climbs) { \
        inflow = carried[c * LINES + (j)]; \
    } else { \
        INFLOW(d, j) \
    } \
    carried[c * LINES + (j)] = outflow;
#else
#define INFLOW_1 INFLOW
#endif

/* Line j along d: TAKE(i, w, s) is told that mode i changes by w * s. */
#define OWN(i) K_GET(own + (i) * LANES)
#define LINE(d, j, INFLOW, TAKE) \
    { \
        const int start = LINE_START(d, j), step = STRIDE(d, M); \
        const speed_type a = SPEED(d); \
        const sign_type sign = SIGN(d); \
        vreal s[M + 1], inflow; \
        s[0] = K_R(0) * OWN(start); \
        s[1] = a * OWN(start); \
        if (M > 1) s[2] = a * root(1) * OWN(start + step); \
        K_UNROLL for (int n = 2; n < M; n++) s[n + 1] = s[n - 1] + a * root(n) * OWN(start + n * step); \
        const vreal outflow = s[M % 2 ? M : M - 1] + sign * s[M % 2 ? M - 1 : M]; \
        INFLOW(d, j) \
        const vreal if_even = K_R(0.5) * sign * (inflow - outflow); \
        const vreal if_odd = K_R(-0.5) * (inflow + outflow); \
        TAKE(start, root(0), if_even) \
        K_UNROLL for (int n = 1; n < M; n++) \
            TAKE(start + n * step, root(n), s[n] + (n % 2 ? if_odd : if_even)) \
    }

#if WHOLE
#define ALONG(d, INFLOW, TAKE) K_UNROLL for (int j = 0; j < LINES; j++) LINE(d, j, INFLOW, TAKE)
#define KEEP(i, w, s) r[i] = (s);
#define ADD(i, w, s) r[i] = root((i) / (M * M)) * r[i] + (w) * (s);
#define UPDATE(i, w, s) FINISH(i, BASE(i) + (DIM == 2 ? root((i) / M) : K_R(1)) * r[i] + (w) * (s))
#else
#define ALONG(d, INFLOW, TAKE) \
    K_VECTORS(j, LINES) LINE(d, j, INFLOW, TAKE) \
    K_SYNC;
#define KEEP(i, w, s) K_SET(change[i], (w) * (s));
#define ADD(i, w, s) K_SET(change[i], K_GET(change[i]) + (w) * (s));
#define UPDATE(i, w, s) FINISH(i, BASE(i) + K_GET(change[i]) + (w) * (s))
#endif

/* The direction in which elements of a tile are neighbours comes last: they are in the cache by then. */
#if DIM == 2
#define ALONG_ALL ALONG(1, INFLOW_1, KEEP) ALONG(0, INFLOW, UPDATE)
#else
#define ALONG_ALL ALONG(2, INFLOW, KEEP) ALONG(1, INFLOW_1, ADD) ALONG(0, INFLOW, UPDATE)
#endif

K_KERNEL(modal, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups), K_IN(i32, sides),
         K_IN(i32, neighbour, FACES *LANES), K_IN(u8, neighbour_face, FACES *LANES),
         K_IN(i32, kinds, 1), K_IN(i32, runs, 5 * FACES), K_IN(i32, list), K_IN(i32, faces), K_IN(i32, turns),
         K_IN(f64, factors, FACTORS *LANES), K_IN(f64, nodes, DIM *CORNERS *LANES),
         K_IN(real, legendre), K_IN(real, rule), K_VAL(i64, begin), K_VAL(i32, backwards),
         K_VAL(f64, v0), K_VAL(f64, v1), K_VAL(f64, v2), K_VAL(f64, time), K_VAL(f64, wf),
         K_VAL(f64, wc), K_IN(real, first, COMPONENTS *NP *LANES), K_INOUT(real, k),
         K_OUT(real, out, COMPONENTS *NP *LANES))
{
    K_SHARED(real, change, WHOLE ? 1 : NP);
    K_SHARED(real, traces, GATHERS ? DIM * LINES : 1); /* of what flows in */
    K_SHARED(real, speed, UNIFORM ? 1 : DIM);
    K_SHARED(real, signs, PARALLEL ? 1 : DIM);
    /* Where it flows in along each direction: */
    K_SHARED(i64, where, GATHERS *DIM + 1); /* the neighbour's first value */
    K_SHARED(i32, turn, GATHERS *DIM + 1);  /* … how it is turned */
    K_SHARED(i32, side, GATHERS *DIM + 1);  /* … its modes a side; 0: none, it is boundary -1 - beyond */
    K_SHARED(i32, pitch, GATHERS *DIM + 1); /* … its LANES */
    K_SHARED(i32, beyond, GATHERS *DIM + 1);
#if CLIMBS
    vreal carried[COMPONENTS * LINES];
    i32 last = -2; /* the tile that they are of */
#endif
    K_TILES(listed)
    {
#if GATHERS
        const i32 t = list[listed], kind = kinds[t];
#else
        const i32 t = listed, kind = kinds[t];
        K_LEAVE_OUT(kind & KIND_MIXED)
#endif
#if CLIMBS
        const int climbs = last == t - 1 && kind & KIND_CLIMBS && !BACKWARDS(1);
        last = kind & KIND_MIXED ? -2 : t;
#endif
#if !UNIFORM
        K_NODES(d, DIM)
        {
            K_GLOBAL const f64 *row = K_TILE(factors, t, FACTORS) + (1 + d * DIM) * LANES;
            speed[d][lane] = v0 * row[lane] + v1 * row[LANES + lane] +
                             (DIM == 3 ? v2 * row[(DIM - 1) * LANES + lane] : 0);
#if !PARALLEL
            signs[d][lane] = speed[d][lane] < 0 ? K_R(-1) : K_R(1);
#endif
        }
        K_SYNC;
#endif
#if GATHERS
        K_ROWS(d, DIM)
        {
            const int low = faces[2 * d] * LANES, high = faces[2 * d + 1] * LANES;
            K_GLOBAL const i32 *slots = K_TILE(neighbour, t, FACES);
            K_GLOBAL const u8 *bytes = K_TILE(neighbour_face, t, FACES);
            K_LANEVAR(i32, from_low);
            K_LANEVAR(i32, from_high);
            K_LANE K_L(from_low) = turns[low / LANES * 64 + bytes[low + lane]];
            K_LANE K_L(from_high) = turns[high / LANES * 64 + bytes[high + lane]];
            K_LANE
            {
                const i32 slot = BACKWARDS(d) ? slots[high + lane] : slots[low + lane];
                const i32 inside = K_MAX(slot, 0), group = SLOT_GROUP(block_groups, inside);
                const i32 modes = sides[group];
                where[d][lane] = FIRST_VALUE(layout, group, inside, COMPONENTS);
                turn[d][lane] = BACKWARDS(d) ? K_L(from_high) : K_L(from_low);
                side[d][lane] = slot < 0 ? 0 : modes;
                pitch[d][lane] = GROUP_LANES(layout, group);
                beyond[d][lane] = slot;
            }
        }
        K_SYNC;
#endif
#if CLIMBS
        K_UNROLL
#endif
        for (int c = 0; c < COMPONENTS; c++) {
            K_GLOBAL const real *own = K_TILE(u + begin, t, ROWS) + c * NP * LANES;
#if GATHERS
            K_ROWS(i, DIM * LINES)
            {
                const int d = i / LINES, j1 = i % LINES % M, j2 = i % LINES / M;
                K_LANEVAR(real, trace);
                GATHER_TRACE(d, j1, j2, trace)
                K_LANE traces[i][lane] = K_L(trace);
            }
#endif
#if GATHERS && BOUNDARIES
            if (kind & KIND_OUTER) {
                K_ROWS(i, DIM * LINES)
                {
                    const int d = i / LINES, j1 = i % LINES % M, j2 = i % LINES / M;
                    K_LANEVAR(real, sum);
                    K_LANE K_L(sum) = 0;
                    for (int q = 0; q < (DIM == 3 ? POINTS * POINTS : POINTS); q++) {
                        const real s1 = rule[q % POINTS], s2 = rule[q / POINTS];
                        const real w = rule[POINTS + q % POINTS * M + j1] *
                                       (DIM == 3 ? rule[POINTS + q / POINTS * M + j2] : K_R(1));
                        K_LANE
                        {
                            const real end = BACKWARDS(d) ? K_R(1) : K_R(-1);
                            const real r0 = d == 0 ? end : s1, r1 = d == 0 ? s1 : d == 1 ? end : s2;
                            const real r2 = d == 2 ? end : s2;
                            const real x = PLACE(0, r0, r1, r2), y = PLACE(1, r0, r1, r2);
                            const real z = DIM == 3 ? PLACE(DIM - 1, r0, r1, r2) : 0;
                            const i32 b = -1 - K_MIN(beyond[d][lane], -1);
                            K_L(sum) += w * BOUNDARY_VALUE(b, c, x, y, z, time);
                        }
                    }
                    K_LANE traces[i][lane] =
                        beyond[d][lane] < 0 ? K_L(sum) / ROOT_HALF : traces[i][lane];
                }
            }
#endif
#if GATHERS
            K_SYNC;
#endif
#if WHOLE
            K_VECTORS(element, 1)
            {
                vreal r[NP];
                FIND_RUNS
                ALONG_ALL
            }
            K_SYNC;
#else
            FIND_RUNS
            ALONG_ALL
#endif
        }
    }
}
