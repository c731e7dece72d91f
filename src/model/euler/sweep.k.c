/* One stage as in stage.k.c for equal rectangles, for CPUs: a thread sweeps tiles in their order and hands
 * on the fluxes between elements.
 *
 * 1 / rho and the pressure of each node are found once, and the fluxes along x and y from them. The
 * numerical flux is computed at the high ends of elements: elements stand along rows (field/rows.c), so
 * that it is the flux at the low end of the element a lane further and, a row later, of the one above. The
 * first is read a lane before where it was left in `right`, the second from a ring, `kept`, of the
 * tiles of the last rows. So each is computed once, from the traces of neighbours that stand in a row and
 * are read as vectors; where nothing was handed on (a thread begins, rows begin) those at low ends are
 * computed in the same way. Then the sums of all lines along x are made and, on top of them, those along
 * y: the coefficients of a direction stay in registers meanwhile.
 * Traces are nodes of Gauss-Lobatto points; with GAUSS points they are found from the nodes, also of
 * neighbours: 16 M² multiply-adds beside the 8 M³ of the sums, and no memory.
 * With SCHEME_CHAIN the flux Jacobian at a node times the slope of the solution takes the place of the
 * fluxes at nodes, which are taken away from those at the ends.
 *
 *     rows    [4][4] of a tile, for its ends in the order of stage.k.c: neighbours of its elements mostly
 *             stand in a row from lane `shift` of tile `one` of the group on, which goes on in tile
 *             `two`; lanes whose neighbour does not are bits of `loose`
 *     ring    of how many tiles fluxes are kept, a power of two, RING at most
 *     FETCHES whether fields are larger than the caches: asks for what the next tile will read, spread
 *             over the sums of this one
 *     WAVE    whether values of a tile stand in places of their own (wave.c): homes[tile] of u,
 *             out_homes[tile] of out; else in that of the tile
 *     IN_PLACE  whether the result replaces `k`, which takes the place of `first`
 * and the others as there. */
#include "field/trace.k.h"
#include "model/euler/gas.k.h"
#include "model/euler/boundary.k.h"

#define SCHEME_CHAIN 1

#define NP (M * M)
#define ROWS (4 * NP)
#define TRACES (4 * M) /* rows of a trace: [component][point] */

/* Values of a tile in u and in out, and of the element at a slot. */
#if WAVE
#define STATES(tile) K_TILE(u + begin, homes[tile], ROWS)
#define RESULTS K_TILE(out, out_homes[t], ROWS)
#define FIRST_OF(slot) \
    (begin + first_value(((slot) - (i32)layout[0]) % LANES, 0, ROWS, LANES) + \
     (i64)homes[((slot) - (i32)layout[0]) / LANES] * (ROWS * LANES))
#else
#define STATES(tile) K_TILE(u + begin, tile, ROWS)
#define RESULTS K_TILE(out, t, ROWS)
#define FIRST_OF(slot) FIRST_VALUE(layout, SLOT_GROUP(block_groups, slot), slot, 4)
#endif

#define DIFF(i, k) table[(i) * M + (k)]
#define LOW(i) table[NP + (i)]
#define HIGH(i) table[NP + M + (i)]
#define BASIS_AT(e, i) table[NP + 2 * M + (e) * M + (i)]
#define NODE(i) table[2 * NP + 4 * M + (i)]

#define ROW_ONE(end) rows[(t * 4 + (end)) * 4]
#define ROW_TWO(end) rows[(t * 4 + (end)) * 4 + 1]
#define ROW_SHIFT(end) rows[(t * 4 + (end)) * 4 + 2]
#define ROW_LOOSE(end) rows[(t * 4 + (end)) * 4 + 3]

/* In rows of `right` so many places stand before lane 0; the last of them is of the tile before. */
#define BEFORE 8
#define FLUX_PITCH(d) ((d) == 0 ? BEFORE + LANES : LANES)
/* Where fluxes of a tile are kept: vectors that begin before or end behind a row are read from them. */
#define KEPT(tile) (kept + (((tile) & (ring - 1)) * TRACES + 1) * LANES)

/* Node i of line j along d. */
#define NODE_OF(d, j, i) ((d) == 0 ? (j) * M + (i) : (i) * M + (j))
/* Component c of a field is which of the state along d. */
#define ALONG(c, d) ((c) == 1 ? 1 + (d) : (c) == 2 ? 2 - (d) : (c))

K_FUNC state along(state q, int d)
{
    return state_of(q.rho, d == 1 ? q.my : q.mx, d == 1 ? q.mx : q.my, q.E);
}

K_FUNC side side_of(state q)
{
    const real volume = K_R(1) / q.rho;
    return side_with(q, volume, pressure_of(q, volume));
}

#define OWN(c, i) own[((c) * NP + (i)) * LANES + lane]
#define OWN_STATE(d, i) along(state_of(OWN(0, i), OWN(1, i), OWN(2, i), OWN(3, i)), d)
#define OTHER(c, j) other[(c) * M + (j)][lane]
#define OTHER_STATE(d, j) along(state_of(OTHER(0, j), OTHER(1, j), OTHER(2, j), OTHER(3, j)), d)
#define SET_OTHER(j, s) \
    OTHER(0, j) = (s).rho; \
    OTHER(1, j) = (s).mx; \
    OTHER(2, j) = (s).my; \
    OTHER(3, j) = (s).E;

/* The states at end e of direction d: `mine`, or nodes. Sums begin with 0, so that nobody chooses which of
 * two products is rounded, and both elements at a face find the same traces. */
#if GAUSS
#define MINE(c, j) mine[(c) * M + (j)][lane]
#define END_STATE(d, e, j) state_of(MINE(0, j), MINE(1, j), MINE(2, j), MINE(3, j))
#define FIND_MINE(d, e) \
    { \
        vreal basis[M]; \
        K_UNROLL for (int i = 0; i < M; i++) basis[i] = K_ALL(BASIS_AT(e, i)); \
        for (int c = 0; c < 4; c++) \
            K_VECTORS(j, M) \
            { \
                const real *line = own + (c * NP + NODE_OF(d, j, 0)) * LANES; \
                vreal sum = K_ALL(0); \
                K_UNROLL for (int i = 0; i < M; i++) sum += basis[i] * K_GET(line + NODE_OF(d, 0, i) * LANES); \
                K_SET(mine[c * M + j], sum); \
            } \
        K_NODES(j, M) \
        { \
            const side s = side_of(END_STATE(d, e, j)); \
            mine_gas[j][lane] = s.volume; \
            mine_gas[M + j][lane] = s.p; \
        } \
    }
#define MY_TRACE(d, e) {mine[0], mine_gas[0], mine_gas[M], M * LANES, LANES, LANES}
#else
#define END_STATE(d, e, j) OWN_STATE(0, NODE_OF(d, j, (e) * (M - 1)))
#define FIND_MINE(d, e)
#define MY_TRACE(d, e) \
    {own + NODE_OF(d, 0, (e) * (M - 1)) * LANES, \
     gas[NODE_OF(d, 0, (e) * (M - 1))], \
     gas[NP + NODE_OF(d, 0, (e) * (M - 1))], \
     NP * LANES, \
     NODE_OF(d, 1, 0) * LANES, \
     NODE_OF(d, 1, 0) * LANES}
#endif

/* What is behind end e of direction d: `other`, and in lanes at a boundary the state inside. */
#define FIND_OTHERS(d, e) \
    { \
        const int end = 2 * (d) + (e), shift = ROW_SHIFT(end), cut = LANES - shift; \
        K_GLOBAL const real *one = STATES(ROW_ONE(end)) + shift; \
        K_GLOBAL const real *two = STATES(ROW_TWO(end)) - cut; \
        READ_OTHERS(d, e) \
        for (i32 loose = ROW_LOOSE(end), lane = 0; loose != 0; loose >>= 1, lane++) \
            if (loose & 1) GATHER(d, e, end) \
    }

/* … where neighbours stand in rows: from the nodes at the other end, or with GAUSS points from all. */
#define IN_ROWS(at) (shift == 0 ? K_GET(one + (at)) : K_BELOW(cut, K_GET(one + (at)), K_GET(two + (at))))
#if GAUSS
#define READ_OTHERS(d, e) \
    vreal basis[M]; \
    K_UNROLL for (int i = 0; i < M; i++) basis[i] = K_ALL(BASIS_AT(1 - (e), i)); \
    for (int c = 0; c < 4; c++) \
        K_VECTORS(j, M) \
        { \
            vreal sum = K_ALL(0); \
            K_UNROLL for (int i = 0; i < M; i++) sum += basis[i] * IN_ROWS((c * NP + NODE_OF(d, j, i)) * LANES); \
            K_SET(other[c * M + j], sum); \
        }
#else
#define READ_OTHERS(d, e) \
    for (int c = 0; c < 4; c++) \
        K_VECTORS(j, M) K_SET(other[c * M + j], IN_ROWS((c * NP + NODE_OF(d, j, (1 - (e)) * (M - 1))) * LANES));
#endif

/* … in one lane. */
#define GATHER(d, e, end) \
    { \
        const i32 face = faces[end], slot = K_TILE(neighbour, t, 4)[face * LANES + lane]; \
        for (int j = 0; slot < 0 && j < M; j++) { \
            const state in = END_STATE(d, e, j); \
            SET_OTHER(j, in) \
        } \
        if (slot >= 0) GATHER_TRACE(d, e) \
    }
#if GAUSS /* neighbours are not turned */
#define GATHER_TRACE(d, e) \
    { \
        const i32 lanes = GROUP_LANES(layout, SLOT_GROUP(block_groups, slot)); \
        const real *all = u + FIRST_OF(slot); \
        for (int c = 0; c < 4; c++) \
            for (int j = 0; j < M; j++) { \
                real sum = 0; \
                for (int i = 0; i < M; i++) \
                    sum += BASIS_AT(1 - (e), i) * all[(c * NP + NODE_OF(d, j, i)) * lanes]; \
                OTHER(c, j) = sum; \
            } \
    }
#else
#define GATHER_TRACE(d, e) \
    { \
        const i32 byte = K_TILE(neighbour_face, t, 4)[face * LANES + lane]; \
        const i32 lanes = GROUP_LANES(layout, SLOT_GROUP(block_groups, slot)); \
        const i64 first_point = FIRST_OF(slot) + starts[face * 64 + byte] * lanes; \
        for (int j = 0; j < M; j++) \
            for (int c = 0; c < 4; c++) \
                OTHER(c, j) = u[first_point + (starts[256 + face * 64 + byte] * j + c * NP) * lanes]; \
    }
#endif

/* States beside the points of a face, with 1 / rho and the pressure: first rows, and how far it is from
 * one component or point to the next. */
typedef struct trace {
    const real *q, *volume, *p;
    int component, point, gas_point;
} trace;
#define SIDE(b) \
    side_with(state_of(ROW(b, 0), ROW(b, 1 + d), ROW(b, 2 - d), ROW(b, 3)), \
              (b).volume[j * (b).gas_point + lane], (b).p[j * (b).gas_point + lane])
#define ROW(b, c) (b).q[(c) * (b).component + j * (b).point + lane]

#define KEEP_FLUX(d, j, f, to, pitch) \
    (to)[(j) * (pitch) + lane] = (f).rho; \
    (to)[(ALONG(1, d) * M + (j)) * (pitch) + lane] = (f).mx; \
    (to)[(ALONG(2, d) * M + (j)) * (pitch) + lane] = (f).my; \
    (to)[(3 * M + (j)) * (pitch) + lane] = (f).E;

/* The fluxes from states on the left to those on the right, along d: `to`, with `pitch` values from row to
 * row. … */
K_INLINE void find_fluxes(const trace l, const trace r, const int d, real *restrict to, const int pitch)
{
    K_NODES(j, M)
    {
        const state f = flux_between(SIDE(l), SIDE(r));
        KEEP_FLUX(d, j, f, to, pitch)
    }
}

/* … One piece of code for each direction, so that both elements at a face find the same to the bit. */
#define ONE_PIECE static __attribute__((noinline, noclone))
ONE_PIECE void find_fluxes_0(trace l, trace r, real *to) { find_fluxes(l, r, 0, to, FLUX_PITCH(0)); }
ONE_PIECE void find_fluxes_1(trace l, trace r, real *to) { find_fluxes(l, r, 1, to, FLUX_PITCH(1)); }

/* Those through end e of direction d. */
#define FIND_FLUXES(d, e, to) \
    { \
        const trace a = MY_TRACE(d, e); \
        const trace b = {other[0], other_gas[0], other_gas[M], M * LANES, LANES, LANES}; \
        FIND_MINE(d, e) \
        FIND_OTHERS(d, e) \
        K_NODES(j, M) \
        { \
            const side s = side_of(OTHER_STATE(0, j)); \
            other_gas[j][lane] = s.volume; \
            other_gas[M + j][lane] = s.p; \
        } \
        find_fluxes_##d((e) ? a : b, (e) ? b : a, to); \
        BOUNDARY_FLUXES(d, e, to) \
    }

#if BOUNDARIES
#define CORNER(e, i) K_TILE(nodes, t, 8)[((e) * 4 + (i)) * LANES + lane]
/* Coordinate e of a point. */
#define PLACE(e, r, s) \
    (K_R(0.25) * ((K_R(1) - (s)) * ((K_R(1) - (r)) * CORNER(e, 0) + (K_R(1) + (r)) * CORNER(e, 1)) + \
                  (K_R(1) + (s)) * ((K_R(1) - (r)) * CORNER(e, 2) + (K_R(1) + (r)) * CORNER(e, 3))))
#define BOUNDARY_FLUXES(d, e, to) \
    for (i32 loose = ROW_LOOSE(2 * (d) + (e)), lane = 0; loose != 0; loose >>= 1, lane++) { \
        const i32 slot = K_TILE(neighbour, t, 4)[faces[2 * (d) + (e)] * LANES + lane], b = -1 - slot; \
        for (int j = 0; (loose & 1) && slot < 0 && j < M; j++) { \
            const real r = (d) == 0 ? 2 * (e) - 1 : NODE(j), s = (d) == 0 ? NODE(j) : 2 * (e) - 1; \
            const real x = PLACE(0, r, s), y = PLACE(1, r, s), out_of = (e) ? K_R(1) : K_R(-1); \
            const real ux = (d) == 0 ? out_of : K_R(0), uy = (d) == 0 ? K_R(0) : out_of; \
            const state inside = END_STATE(d, e, j); \
            const state given = turned(given_state(b, x, y, time), ux, uy); \
            const state at = turned_back(state_behind(BOUNDARY_TYPE(b), turned(inside, ux, uy), given), ux, uy); \
            const side behind = side_of(along(at, d)); \
            const side in = BOUNDARY_TYPE(b) == BOUNDARY_INFLOW ? behind : side_of(along(inside, d)); \
            const state f = (e) ? flux_between(in, behind) : flux_between(behind, in); \
            KEEP_FLUX(d, j, f, to, FLUX_PITCH(d)) \
        } \
    }
#else
#define BOUNDARY_FLUXES(d, e, to)
#endif

/* Rows of nodes with flux c along d; that of mass is momentum, and the flux of one momentum along the
 * other's direction is the same for both. */
#define FLUX_ROW(c, d) ((c) == 3 ? 3 + (d) : (c) - 1 + (d))
#define INNER_FLUX(c, d) ((c) == 0 ? own + (1 + (d)) * NP * LANES : inner[FLUX_ROW(c, d) * NP])

/* The end of a stage for value i of a tile. */
#define VALUES_OF(p, i) (K_TILE(p, t, ROWS) + (i) * LANES)
#if LOW_STORAGE
#define BASE(i) wf * K_GET(VALUES_OF(k, i)) INNER_RATE(i)
#define FINISH(i, sum) \
    { \
        const vreal next_k = (sum); \
        K_SEND(VALUES_OF(k, i), next_k); \
        K_SEND(VALUES_OF(out, i), K_GET(own + (i) * LANES) + wc * next_k); \
    }
#define KEPT_BASE k
#elif IN_PLACE
#define BASE(i) wf * K_GET(VALUES_OF(k, i)) + wc * K_GET(own + (i) * LANES) INNER_RATE(i)
#define FINISH(i, sum) K_SEND(VALUES_OF(k, i), sum);
#define KEPT_BASE k
#else
#define BASE(i) wf * K_GET(VALUES_OF(first, i)) + wc * K_GET(own + (i) * LANES) INNER_RATE(i)
#define FINISH(i, sum) K_SEND(RESULTS + (i) * LANES, sum);
#define KEPT_BASE first
#endif

/* Sums that are not at their end. */
#define PUT_OFF(i, sum) K_SET(sums[i], sum);
#define TAKE_UP(i) K_GET(sums[i])

#if FETCHES
#define FETCH_LINE(next) \
    K_UNROLL for (int i = 0; i < M; i++) K_FETCH((next) + (c * NP + j * M + i) * LANES + lane);
#else
#define FETCH_LINE(next)
#endif

/* What the lines along d add to all values, with the fluxes at both ends: END(i, BEGIN(i) + …) for each
 * value i. `next` is what is asked for meanwhile: of `u` the upper neighbours of the next tile, which come
 * first and are read whole a row later. */
#define ADD_LINES(d, scale, at_low, at_high, BEGIN, END, next) \
    { \
        vreal diff[NP], low[M], high[M]; \
        K_UNROLL for (int i = 0; i < M; i++) { \
            K_UNROLL for (int p = 0; p < INNER_TERMS; p++) diff[i * M + p] = K_ALL(-(scale) * DIFF(i, p)); \
            low[i] = K_ALL(-(scale) * LOW(i)); \
            high[i] = K_ALL(-(scale) * HIGH(i)); \
        } \
        for (int c = 0; c < 4; c++) \
            K_VECTORS(j, M) \
            { \
                vreal r[M]; \
                K_GLOBAL const real *flux = INNER_FLUX(c, d); \
                vreal f_low = K_GET((at_low) + (c * M + j) * FLUX_PITCH(d)) - AT_END(d, j, 0); \
                vreal f_high = K_GET((at_high) + (c * M + j) * FLUX_PITCH(d)) - AT_END(d, j, 1); \
                K_HOLD(f_low); \
                K_HOLD(f_high); \
                K_UNROLL for (int i = 0; i < M; i++) { \
                    r[i] = BEGIN(c * NP + NODE_OF(d, j, i)); \
                    r[i] += low[i] * f_low; \
                    r[i] += high[i] * f_high; \
                } \
                K_UNROLL for (int p = 0; p < INNER_TERMS; p++) { \
                    vreal f = K_GET(flux + NODE_OF(d, j, p) * LANES); \
                    K_HOLD(f); \
                    K_UNROLL for (int i = 0; i < M; i++) r[i] += diff[i * M + p] * f; \
                } \
                K_UNROLL for (int i = 0; i < M; i++) END(c * NP + NODE_OF(d, j, i), r[i]) \
                FETCH_LINE(next) \
            } \
    }
#if SCHEME == SCHEME_CHAIN
#define INNER_TERMS 0
#define AT_END(d, j, e) K_GET(flux + NODE_OF(d, j, (e) * (M - 1)) * LANES)
#define INNER_RATE(i) +K_GET(chained[i])
#else
#define INNER_TERMS M
#define AT_END(d, j, e) K_R(0)
#define INNER_RATE(i)
#endif

K_KERNEL(sweep, K_IN(real, u), K_IN(i64, layout), K_IN(i32, block_groups), K_IN(i32, neighbour, 4 *LANES),
         K_IN(u8, neighbour_face, 4 *LANES), K_IN(i32, rows, 16), K_IN(i32, faces), K_IN(i32, starts),
         K_IN(f64, nodes, 8 *LANES), K_IN(real, table), K_VAL(i64, begin), K_VAL(i32, ring), K_VAL(f64, scale_x),
         K_VAL(f64, scale_y), K_VAL(f64, time), K_VAL(f64, wf), K_VAL(f64, wc), K_IN(i32, homes),
         K_IN(i32, out_homes), K_IN(real, first), K_INOUT(real, k), K_OUT(real, out))
{
    K_SHARED(real, gas, 2 * M * M);   /* 1 / rho and the pressure at nodes */
    K_SHARED(real, inner, 5 * M * M); /* fluxes at nodes */
    K_SHARED(real, chained, SCHEME == SCHEME_CHAIN ? 4 * M * M : 1); /* what slopes at nodes make of a rate */
    K_SHARED(real, sums, 4 * M * M);  /* of lines along x */
    K_SHARED(real, other, 4 * M);     /* traces of neighbours */
    K_SHARED(real, other_gas, 2 * M);
#if GAUSS
    K_SHARED(real, mine, 4 * M); /* traces of the elements */
    K_SHARED(real, mine_gas, 2 * M);
#endif
    _Alignas(64) real left[TRACES * FLUX_PITCH(0)], right[TRACES * FLUX_PITCH(0)]; /* fluxes at both ends along x */
    _Alignas(64) real below[TRACES * LANES];             /* along y those at low ends … */
    _Alignas(64) real kept[(RING * TRACES + 2) * LANES]; /* … and those at high ends of some tiles */
#if SCHEME == SCHEME_CHAIN
    real diff_x[NP], diff_y[NP];
    for (int i = 0; i < NP; i++) {
        diff_x[i] = -scale_x * table[i];
        diff_y[i] = -scale_y * table[i];
    }
#endif
    i64 start = -1; /* the tile that the thread begins with */
    K_TILES(t)
    {
        K_GLOBAL const real *own = STATES(t);
        if (start < 0) start = t;
        K_NODES(i, NP)
        {
            const side s = side_of(OWN_STATE(0, i));
            const state x = flux_with(s.q, s.volume, s.p), y = flux_with(along(s.q, 1), s.volume, s.p);
            gas[i][lane] = s.volume;
            gas[NP + i][lane] = s.p;
            inner[i][lane] = x.mx;
            inner[NP + i][lane] = x.my;
            inner[2 * NP + i][lane] = y.mx;
            inner[3 * NP + i][lane] = x.E;
            inner[4 * NP + i][lane] = y.E;
#if SCHEME == SCHEME_CHAIN
            state slope_x = scaled(diff_x[i % M * M], OWN_STATE(0, i / M * M));
            state slope_y = scaled(diff_y[i / M * M], OWN_STATE(1, i % M));
            K_UNROLL for (int p = 1; p < M; p++) {
                slope_x = combined(K_R(1), slope_x, diff_x[i % M * M + p], OWN_STATE(0, i / M * M + p));
                slope_y = combined(K_R(1), slope_y, diff_y[i / M * M + p], OWN_STATE(1, p * M + i % M));
            }
            const state along_x = flux_change(s.q, slope_x, K_R(1), K_R(0));
            const state along_y = along(flux_change(along(s.q, 1), slope_y, K_R(1), K_R(0)), 1);
            chained[i][lane] = along_x.rho + along_y.rho;
            chained[NP + i][lane] = along_x.mx + along_y.mx;
            chained[2 * NP + i][lane] = along_x.my + along_y.my;
            chained[3 * NP + i][lane] = along_x.E + along_y.E;
#endif
        }

        for (int i = 0; i < TRACES; i++)
            right[i * FLUX_PITCH(0) + BEFORE - 1] = right[(i + 1) * FLUX_PITCH(0) - 1];
        FIND_FLUXES(0, 1, right + BEFORE)
        const int beside = t > start && ROW_LOOSE(0) == 0 && ROW_ONE(0) == t - 1 && ROW_SHIFT(0) == LANES - 1;
        if (!beside) FIND_FLUXES(0, 0, left + BEFORE)
        const real *at_left = beside ? right + BEFORE - 1 : left + BEFORE;

        real *at_top = KEPT(t);
        const i32 shift = ROW_SHIFT(2), one = ROW_ONE(2), two = shift == 0 ? one : ROW_TWO(2);
        const int handed = ROW_LOOSE(2) == 0 && one >= start && two < t && one > t - ring;
        const real *from_one = KEPT(one);
        const real *from_two = KEPT(two);
        const real *at_bottom = handed && shift == 0 ? from_one : below;
        if (!handed)
            FIND_FLUXES(1, 0, below)
        else if (shift != 0)
            K_VECTORS(i, TRACES)
                K_SET(below + i * LANES, K_BELOW(LANES - shift, K_GET(from_one + i * LANES + shift),
                                                 K_GET(from_two + (i - 1) * LANES + shift)));
        FIND_FLUXES(1, 1, at_top)

        ADD_LINES(0, scale_x, at_left, right + BEFORE, BASE, PUT_OFF, STATES(ROW_TWO(3)))
        ADD_LINES(1, scale_y, at_bottom, at_top, TAKE_UP, FINISH, K_TILE(KEPT_BASE, t + 1, ROWS))
    }
}
