/* Lines of cells of model `euler`: what slopes.k.c and cells.k.c share.
 *
 * A line has M cells of its own and DEEP cells of the neighbour at each end. Neighbours' cells are
 * found as stage.k.c finds traces, and the next one inwards in [4][64] more of `starts`: the rows
 * from one cell to it.
 *
 * Behind a boundary there is one cell. A wall mirrors the first cell and an outflow repeats it; where
 * a state is given it is the one that would make the boundary's state (state_behind of the first
 * cell) the mean of both. It is used for slopes alone: at the face itself the state behind is that
 * of the reconstructed state inside, as for all schemes. */
#define GAUSS 0
#define NODE(i) ((K_R(2) * (i) + K_R(1) - M) * (K_R(1) / M))
#define CURVED 0
#define ORDER 1
#include "model/euler/shape.k.h"
#include "model/euler/element.k.h"

/* Rows from a cell to the next along d. */
#define CELL_STEP(d) ((d) == 0 ? 1 : M)

/* Finds the neighbours of an element. */
#define FIND_CELLS \
    if (GATHERS) { \
        K_ROWS(end, 4) \
        { \
            const int face = faces[end]; \
            K_GLOBAL const i32 *slots = K_TILE(neighbour, t, 4) + face * LANES; \
            K_GLOBAL const u8 *bytes = K_TILE(neighbour_face, t, 4) + face * LANES; \
            K_LANEVAR(i32, byte); \
            K_LANE K_L(byte) = bytes[lane]; \
            K_LANE \
            { \
                const i32 slot = slots[lane], inside = K_MAX(slot, 0); \
                where[end][lane] = TRACE_OF(inside) + starts[face * 64 + K_L(byte)] * LANES; \
                pitch[end][lane] = starts[256 + face * 64 + K_L(byte)] * LANES; \
                inward[end][lane] = starts[512 + face * 64 + K_L(byte)] * LANES; \
                beyond[end][lane] = slot; \
            } \
        } \
    } \
    K_SYNC;

/* Cells of line j along d: q [4][M + 2 * deep], those of neighbours included. */
#define LOAD_CELLS(q, deep, d, j) \
    K_UNROLL for (int c = 0; c < 4; c++) K_UNROLL for (int i = 0; i < M; i++) \
        K_LANE K_L(q[c * (M + 2 * (deep)) + (deep) + i]) = \
            AT(u + begin, ALONG(c, d) * NP + NODE_OF(d, j, i)); \
    K_UNROLL for (int e = 0; e < 2; e++) \
    { \
        const int end = 2 * (d) + e; \
        if (GATHERS) { \
            K_UNROLL for (int c = 0; c < 4; c++) K_UNROLL for (int i = 0; i < (deep); i++) \
                K_LANE K_L(q[OUTER_CELL(deep, c, e, i)]) = \
                    u[where[end][lane] + (j)*pitch[end][lane] + i * inward[end][lane] + \
                      ALONG(c, d) * NP * LANES]; \
        } else { \
            K_GLOBAL const i32 *run = runs + (t * 4 + end) * 5; \
            const i32 second = run[0], third = run[1]; \
            const i32 row = (TRACE_START(d, e) + (j)*POINT_STEP(d)) * LANES; \
            const i64 one = TRACE_AT(run[2]) + row, two = TRACE_AT(run[3]) + row - second; \
            const i64 three = TRACE_AT(run[4]) + row - third; \
            K_UNROLL for (int c = 0; c < 4; c++) K_UNROLL for (int i = 0; i < (deep); i++) \
            { \
                const int at = (ALONG(c, d) * NP + (e ? i : -i) * CELL_STEP(d)) * LANES; \
                if (second >= LANES) \
                    K_LANE K_L(q[OUTER_CELL(deep, c, e, i)]) = u[one + lane + at]; \
                else \
                    K_LANE K_L(q[OUTER_CELL(deep, c, e, i)]) = lane < second ? u[one + lane + at] \
                                                               : lane < third \
                                                                   ? u[two + lane + at] \
                                                                   : u[three + lane + at]; \
            } \
        } \
    }
/* Where component c of the cell i of the neighbour behind end e stands in such a line. */
#define OUTER_CELL(deep, c, e, i) \
    ((c) * (M + 2 * (deep)) + ((e) ? M + (deep) + (i) : (deep)-1 - (i)))

/* J∇r_d at the ends of lines along d. */
#if CARTESIAN
#define FIND_NORMALS(d)
#else
#define FIND_NORMALS(d) \
    K_UNROLL for (int e = 0; e < 2; e++) K_LANE \
    { \
        K_L(nx[e]) = END_X(d, e, 0); \
        K_L(ny[e]) = END_Y(d, e, 0); \
    }
#endif

/* The state behind boundary b, of this type, at end e of a line along d, where `in` is inside: `to`.
 * The line is at `s` between -1 and 1. */
#if CARTESIAN
#define OUTWARD(d, e) const real ux = (d) == 0 ? out_of : K_R(0), uy = (d) == 0 ? K_R(0) : out_of;
#else
#define OUTWARD(d, e) \
    const real x0 = K_L(nx[e]), y0 = K_L(ny[e]), size = out_of / K_SQRT(x0 * x0 + y0 * y0); \
    const real ux = x0 * size, uy = y0 * size;
#endif
#define FIND_BEHIND(d, e, s, b, type, in, to) \
    { \
        const real out_of = (e) ? K_R(1) : K_R(-1); \
        const real px = between(CORNER(0, FIRST_CORNER(d, e)), CORNER(0, SECOND_CORNER(d, e)), s); \
        const real py = between(CORNER(1, FIRST_CORNER(d, e)), CORNER(1, SECOND_CORNER(d, e)), s); \
        OUTWARD(d, e) \
        const state inner = turned(along(in, d), ux, uy); \
        const state given = turned(given_state(b, px, py, time), ux, uy); \
        to = along(turned_back(state_behind(type, inner, given), ux, uy), d); \
    }

/* The cell behind a boundary, from the first cell and the state behind it. */
K_FUNC state cell_behind(int type, state in, state behind)
{
    const int open = type == BOUNDARY_WALL || type == BOUNDARY_OUTFLOW;
    return combined(open ? K_R(1) : K_R(2), behind, open ? K_R(0) : K_R(-1), in);
}

/* Puts it where neighbours' first cells stand in a line q [4][M + 2 * deep] along d at `s`. */
#if BOUNDARIES
#define LOAD_BOUNDARIES(q, deep, d, s) \
    if (kinds[t] & KIND_OUTER) { \
        K_UNROLL for (int e = 0; e < 2; e++) \
        { \
            const int end = 2 * (d) + e; \
            K_LANE \
            { \
                const int b = -1 - K_MIN(beyond[end][lane], -1), type = BOUNDARY_TYPE(b); \
                const state in = STATE(q, M + 2 * (deep), e ? M - 1 + (deep) : (deep)); \
                state behind; \
                FIND_BEHIND(d, e, s, b, type, in, behind) \
                const state ghost = cell_behind(type, in, behind); \
                if (beyond[end][lane] < 0) { \
                    KEEP(q, M + 2 * (deep), e ? M + (deep) : (deep)-1, ghost) \
                } \
            } \
        } \
    }
#else
#define LOAD_BOUNDARIES(q, deep, d, s)
#endif
