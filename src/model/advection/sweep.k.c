/* One stage as in modal.k.c, for CPUs: a thread sweeps tiles in their order and hands on what flows out.
 *
 * Elements stand along rows (field/rows.c). What flows out of an element flows into the one after it and,
 * a row later, into the one above: the first goes from lane to lane in registers, the second through a
 * ring of the last few rows' traces. So every value is read once and every trace is summed up once.
 * Sums are those of modal.k.c without the factor a:
 *
 *     rate of mode n = a w_n (S_n + { ± (N - T) / 2  n even; -(N + T) / 2  n odd }),  ± the sign of a
 *
 * Where nothing was handed on (a thread begins, rows next to another degree, a flow backwards) neighbours
 * that stand in a row are read as vectors; those that do not are gathered lane by lane.
 *
 *     runs    [DIM][2][stride] for the faces at -1 and 1 of each direction and every tile: the place in
 *             its group of lane 0's neighbour, the others following it; RUN_LOOSE: the lanes whose
 *             neighbour is not there; RUN_GROUP: the number of the group; RUN_BESIDE: it is the lane before;
 *             RUN_EDGE: so it is but for one lane, whose neighbour the place is that of, in the same group,
 *             or -1 - b if it is boundary b
 *     group   the number of this one
 *     ring    of how many places traces are kept, a power of two, RING at most
 * and the others as in modal.k.c. */
#include "model/advection/advection.k.h"

#define BACKWARDS(d) (backwards >> (d) & 1)
#define SIGN(d) (BACKWARDS(d) ? K_R(-1) : K_R(1))
#if UNIFORM
#define SPEED(d) ((d) == 0 ? v0 : (d) == 1 ? v1 : v2)
typedef real speed_type;
#else
#define SPEED(d) K_GET(speed[d])
typedef vreal speed_type;
#endif

#define RUN(d) runs[((d) * 2 + BACKWARDS(d)) * stride + t]
#define RUN_PLACE(run) ((i32)(run))
#define RUN_LOOSE(run) ((i32)((run) >> 32) & 0xffff)
#define RUN_GROUP(run) ((i32)((run) >> 48) & 0xff)
#define RUN_BESIDE(run) ((run) >> 56 & 1)
#define RUN_EDGE(run) ((run) >> 57 & 1)
#define BESIDE_ALL(place, group) ((i64)(place) | (i64)(group) << 48 | (i64)1 << 56)

/* Keeps compilers from doing in advance what only one of two ways needs. */
#if K_PLAIN
#define APART
#else
#define APART __asm__ volatile("" ::: "memory");
#endif

/* The trace of a line of the elements that stand in a row from place `place` of a group on: its modes,
 * m of them, are rows `start`, `start` + `step` … of each tile. */
K_FUNC vreal trace_of_row(const real *u, i64 offset, i32 rows, i32 place, int lane, int start, int step,
                          int m, real sign)
{
    const real *one = u + first_value(place, offset, rows, LANES);
    const real *two = one + (rows - 1) * LANES;
    const i32 cut = LANES - (place & (LANES - 1)); /* the lane that the next tile begins with */
    vreal even = K_ALL(K_R(0)), odd = even;
    K_UNROLL for (int n = 0; n < m; n++) {
        const i32 at = (start + n * step) * LANES;
        const vreal value =
            cut == LANES ? K_GET(one + at) : K_BELOW(cut, K_GET(one + at), K_GET(two + at));
        if (n % 2)
            odd += root(n) * value;
        else
            even += root(n) * value;
    }
    return even + sign * odd;
}

/* Line j along d: TAKE(i, w, s) is told that mode i changes by w * s. */
#define LINE(d, j, SIGN, INFLOW, TAKE) \
    { \
        const int start = LINE_START(d, j), step = STRIDE(d, M); \
        const speed_type a = SPEED(d); \
        vreal s[M + 1]; \
        s[0] = K_ALL(K_R(0)); \
        s[1] = OWN(start); \
        if (M > 1) s[2] = root(1) * OWN(start + step); \
        K_UNROLL for (int n = 2; n < M; n++) s[n + 1] = s[n - 1] + root(n) * OWN(start + n * step); \
        const vreal outflow = s[M % 2 ? M : M - 1] + SIGN(d) * s[M % 2 ? M - 1 : M]; \
        INFLOW(d, j) \
        const vreal if_even = K_R(0.5) * SIGN(d) * (inflow - outflow); \
        const vreal if_odd = if_even - (SIGN(d) < 0 ? outflow : inflow); \
        TAKE(start, a, if_even) \
        K_UNROLL for (int n = 1; n < M; n++) \
            TAKE(start + n * step, a * root(n), s[n] + (n % 2 ? if_odd : if_even)) \
    }
#define OWN(i) K_GET(own + (i) * LANES)
#define ALONG(d, SIGN, INFLOW, TAKE) \
    K_UNROLL for (int j = 0; j < LINES; j++) LINE(d, j, SIGN, INFLOW, TAKE)
#define BEGIN(i, w, s) r[i] = BASE(i) + (w) * (s);
#define ADD(i, w, s) r[i] += (w) * (s);
#define END(i, w, s) FINISH(i, r[i] + (w) * (s))
/* All of a tile's elements, given how to find what flows in along each direction. */
#if DIM == 2
#define ALL_LINES(SIGN, IN_0, IN_1, IN_2) ALONG(0, SIGN, IN_0, BEGIN) ALONG(1, SIGN, IN_1, END)
#else
#define ALL_LINES(SIGN, IN_0, IN_1, IN_2) \
    ALONG(0, SIGN, IN_0, BEGIN) ALONG(1, SIGN, IN_1, ADD) ALONG(2, SIGN, IN_2, END)
#endif
#define ALL_ELEMENTS(SIGN, IN_0, IN_1, IN_2) \
    APART \
    K_VECTORS(element, 1) \
    { \
        const k_mask loose = K_LANES(loose_0); \
        vreal r[NP]; \
        ALL_LINES(SIGN, IN_0, IN_1, IN_2) \
    }

#define FORWARDS(d) K_R(1)
#define FROM_LANE(d, j) \
    const vreal inflow = K_UP(outflow, CARRIED(j)); \
    CARRIED(j) = outflow;
#define FROM_LANE_OR_EDGE(d, j) \
    const vreal inflow = K_PICK(loose, K_ALL(edge[j]), K_UP(outflow, CARRIED(j))); \
    CARRIED(j) = outflow;
#define FROM_LANE_OR_TRACES(d, j) \
    const vreal inflow = K_PICK(loose, K_GET(traces[j]), K_UP(outflow, CARRIED(j))); \
    CARRIED(j) = outflow;
#define FROM_RING(d, j) \
    const vreal inflow = K_GET(KEPT(j) + from); \
    K_SET(KEPT(j) + to, outflow);
#define FROM_ROW(d, j) \
    const vreal inflow = \
        trace_of_row(u + c * NP * LANES, begin, ROWS, RUN_PLACE(run_2), lane, start, step, M, K_R(1));
#define FROM_TRACES(d, j) \
    const vreal inflow = K_GET(traces[(d) * LINES + (j)]); \
    if ((d) == 1) K_SET(KEPT(j) + to, outflow);
#define CARRIED(j) carried[c * LINES + (j)]
#define KEPT(j) kept[c * LINES + (j)]

/* The first places of the ring stand behind the last, too, for vectors that begin there. */
#define REPEAT_FIRST \
    if (to == 0) K_VECTORS(j, LINES) K_SET(KEPT(j) + ring, K_GET(KEPT(j)));

#if UNIFORM
#define FIND_SPEEDS
#else
#define FIND_SPEEDS \
    K_NODES(d, DIM) \
    { \
        K_GLOBAL const f64 *row = K_TILE(factors, t, FACTORS) + (1 + d * DIM) * LANES; \
        speed[d][lane] = v0 * row[lane] + v1 * row[LANES + lane] + \
                         (DIM == 3 ? v2 * row[(DIM - 1) * LANES + lane] : 0); \
    }
#endif

/* What flows in along d where neighbours stand in a row, in all lanes. */
#define READ_ROW(d, run) \
    { \
        const i32 in = RUN_GROUP(run), m = sides[in], rows = COMPONENTS * GROUP_NP(layout, in); \
        const i64 offset = layout[in * 4 + 1] + c * GROUP_NP(layout, in) * LANES; \
        K_VECTORS(j, LINES) \
        { \
            const int j1 = j % M, j2 = j / M, line = j2 * m + j1; \
            const int at = (d) == 0 ? line * m : (d) == 1 ? j2 * m * m + j1 : line; \
            vreal trace = K_ALL(K_R(0)); \
            if (m == M) \
                trace = trace_of_row(u, offset, rows, RUN_PLACE(run), lane, LINE_START(d, j), \
                                     STRIDE(d, M), M, SIGN(d)); \
            else if (j1 < m && j2 < m) \
                trace = trace_of_row(u, offset, rows, RUN_PLACE(run), lane, at, STRIDE(d, m), m, SIGN(d)); \
            K_SET(traces[(d) * LINES + j], trace); \
        } \
    }

/* The trace of line j along direction 0, at 1, of an element of this group whose values begin at `from`. */
#define SUM_LINE(from, trace) \
    { \
        real even = 0, odd = 0; \
        K_UNROLL for (int n = 0; n < M; n += 2) even += root(n) * (from)[(j * M + n) * LANES]; \
        K_UNROLL for (int n = 1; n < M; n += 2) odd += root(n) * (from)[(j * M + n) * LANES]; \
        trace = even + odd; \
    }

/* TRACE(j), j = 0 … LINES - 1: what flows in along d from behind boundary b, into lane `lane`. */
#define GATHER_BOUNDARY(d, b, TRACE) \
    for (int j = 0; j < LINES; j++) TRACE(d, j) = 0; \
    for (int q = 0; q < (BOUNDARIES ? DIM == 3 ? POINTS * POINTS : POINTS : 0); q++) { \
        const real s1 = rule[q % POINTS], s2 = rule[q / POINTS], end = -SIGN(d); \
        const real r0 = (d) == 0 ? end : s1, r1 = (d) == 0 ? s1 : (d) == 1 ? end : s2; \
        const real r2 = (d) == 2 ? end : s2; \
        const real x = PLACE(0, r0, r1, r2), y = PLACE(1, r0, r1, r2); \
        const real z = DIM == 3 ? PLACE(DIM - 1, r0, r1, r2) : 0; \
        const real value = BOUNDARY_VALUE(b, c, x, y, z, time) / ROOT_HALF; \
        for (int j = 0; j < LINES; j++) \
            TRACE(d, j) += value * rule[POINTS + q % POINTS * M + j % M] * \
                           (DIM == 3 ? rule[POINTS + q / POINTS * M + j / M] : K_R(1)); \
    }
#define IN_EDGE(d, j) edge[j]
#define IN_TRACES(d, j) traces[(d) * LINES + (j)][lane]

/* … from any neighbour. */
#define GATHER(d) \
    { \
        const i32 face = faces[2 * (d) + BACKWARDS(d)]; \
        const i32 slot = K_TILE(neighbour, t, FACES)[face * LANES + lane]; \
        const u8 byte = K_TILE(neighbour_face, t, FACES)[face * LANES + lane]; \
        const i32 in = SLOT_GROUP(block_groups, K_MAX(slot, 0)), turn = turns[face * 64 + byte]; \
        const i32 m = sides[in], lanes = GROUP_LANES(layout, in); \
        const i32 first_pace = STRIDE(TURN_FIRST(turn), m) * lanes; \
        const i32 second_pace = DIM == 3 ? STRIDE(TURN_SECOND(turn), m) * lanes : 0; \
        const i32 pace = STRIDE(TURN_ACROSS(turn), m) * lanes; \
        K_GLOBAL const real *from = u + FIRST_VALUE(layout, in, K_MAX(slot, 0), COMPONENTS) + \
                                    c * GROUP_NP(layout, in) * lanes; \
        if (slot < 0) { \
            GATHER_BOUNDARY(d, -1 - slot, IN_TRACES) \
        } else { \
            for (int j = 0; j < LINES; j++) { \
                const int j1 = j % M, j2 = j / M, has = j1 < m && j2 < m; \
                const int back = (TURN_FIRST_BACK(turn) & j1) ^ (TURN_SECOND_BACK(turn) & j2); \
                real sum = 0; \
                for (int n = 0; has && n < m; n++) \
                    sum += (n & TURN_LOW(turn) ? -legendre[n] : legendre[n]) * \
                           from[j1 * first_pace + j2 * second_pace + n * pace]; \
                IN_TRACES(d, j) = back & 1 ? -sum : sum; \
            } \
        } \
    }

K_KERNEL(sweep, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups), K_IN(i32, sides),
         K_IN(i32, neighbour, FACES *LANES), K_IN(u8, neighbour_face, FACES *LANES), K_IN(i64, runs),
         K_IN(i32, faces), K_IN(i32, turns), K_IN(f64, factors, FACTORS *LANES),
         K_IN(f64, nodes, DIM *CORNERS *LANES), K_IN(real, legendre), K_IN(real, rule), K_VAL(i64, begin),
         K_VAL(i64, stride), K_VAL(i32, group), K_VAL(i32, ring), K_VAL(i32, backwards), K_VAL(f64, v0),
         K_VAL(f64, v1), K_VAL(f64, v2), K_VAL(f64, time), K_VAL(f64, wf), K_VAL(f64, wc),
         K_IN(real, first, COMPONENTS *NP *LANES), K_INOUT(real, k), K_OUT(real, out, COMPONENTS *NP *LANES))
{
    K_SHARED(real, traces, DIM * LINES); /* of what flows in, where it was not handed on */
    K_SHARED(real, speed, UNIFORM ? 1 : DIM);
    _Alignas(64) real kept[COMPONENTS * LINES][RING + LANES]; /* what flows out along direction 1 … */
    vreal carried[COMPONENTS * LINES];                        /* … along 0, of the tile before */
    i64 start = -1; /* the tile that the thread begins with */
    i64 next_0 = -1, next_1 = -1, next_2 = -1; /* runs of the next tile if it is as plain as this one */
    K_TILES(t)
    {
        /* Most of them: what flows in was handed on, as in the tile before. */
        for (; t < K_STOP && RUN(0) == next_0 && RUN(1) == next_1 && RUN(DIM - 1) == next_2; t++) {
            const i64 run_2 = next_2;
            const i32 loose_0 = 0, from = next_1 & (ring - 1), to = t * LANES & (ring - 1);
            FIND_SPEEDS
            for (int c = 0; c < COMPONENTS; c++) {
                K_GLOBAL const real *own = K_TILE(u + begin, t, ROWS) + c * NP * LANES;
                ALL_ELEMENTS(FORWARDS, FROM_LANE, FROM_RING, FROM_ROW)
                REPEAT_FIRST
            }
            next_0 += LANES;
            next_1 += LANES;
            next_2 += LANES;
        }
        if (t == K_STOP) break;

        const i64 run_0 = RUN(0), run_1 = RUN(1), run_2 = RUN(DIM - 1), here = t * LANES;
        const i32 from = RUN_PLACE(run_1) & (ring - 1), to = here & (ring - 1);
        const i32 loose_0 = RUN_LOOSE(run_0);
        if (start < 0) start = t;
        const int handed = !BACKWARDS(1) && RUN_GROUP(run_1) == group && RUN_PLACE(run_1) >= start * LANES &&
                           RUN_PLACE(run_1) + LANES <= here && here - RUN_PLACE(run_1) <= ring;
        const int plain = RUN_BESIDE(run_0) && (loose_0 == 0 || RUN_EDGE(run_0)) && handed &&
                          RUN_LOOSE(run_1) == 0 && (DIM == 2 || !BACKWARDS(2)) &&
                          RUN_GROUP(run_2) == group && RUN_LOOSE(run_2) == 0;
        next_0 = BESIDE_ALL(here + LANES - 1, group);
        next_1 = plain ? run_1 + LANES : -1;
        next_2 = run_2 + LANES;
        FIND_SPEEDS
        for (int c = 0; c < COMPONENTS; c++) {
            K_GLOBAL const real *own = K_TILE(u + begin, t, ROWS) + c * NP * LANES;
            if (t == start && RUN_BESIDE(run_0) && !(loose_0 & 1)) { /* what lane 0 gets */
                K_GLOBAL const real *before = u + first_value(here - 1, begin, ROWS, LANES) + c * NP * LANES;
                for (int j = 0; j < LINES; j++) {
                    real trace;
                    SUM_LINE(before, trace)
                    CARRIED(j) = K_ALL(trace);
                }
            }
            if (plain) {
                real edge[LINES] = {0};
                if (loose_0 != 0 && RUN_PLACE(run_0) >= 0) {
                    const i32 place = RUN_PLACE(run_0);
                    K_GLOBAL const real *end = u + first_value(place, begin, ROWS, LANES) + c * NP * LANES;
                    K_UNROLL for (int j = 0; j < LINES; j++) SUM_LINE(end, edge[j])
                } else if (loose_0 != 0) {
                    int lane = 0;
                    while (!(loose_0 >> lane & 1)) lane++;
                    GATHER_BOUNDARY(0, -1 - RUN_PLACE(run_0), IN_EDGE)
                }
                ALL_ELEMENTS(FORWARDS, FROM_LANE_OR_EDGE, FROM_RING, FROM_ROW)
            } else {
                for (int d = 0; d < DIM; d++) {
                    const i64 run = d == 0 ? run_0 : d == 1 ? run_1 : run_2;
                    if (d == 1 && handed)
                        K_VECTORS(j, LINES) K_SET(traces[LINES + j], K_GET(KEPT(j) + from));
                    else if (!RUN_BESIDE(run) && RUN_LOOSE(run) != (1 << LANES) - 1)
                        READ_ROW(d, run)
                    for (int lane = 0; lane < LANES; lane++)
                        if (RUN_LOOSE(run) >> lane & 1) GATHER(d)
                }
                const i32 loose_0 = RUN_BESIDE(run_0) ? RUN_LOOSE(run_0) : (1 << LANES) - 1;
                ALL_ELEMENTS(SIGN, FROM_LANE_OR_TRACES, FROM_TRACES, FROM_TRACES)
            }
            REPEAT_FIRST
        }
    }
}
