/* What kernels of model `euler` share that work along the lines of quadrilaterals: where an element's
 * neighbours are found, and the end of a stage; described in stage.k.c.
 *
 * Who includes it has defined M, the points of a line, NODE(i), their places between -1 and 1, GAUSS,
 * PIECES, CARTESIAN and LOW_STORAGE, includes shape.k.h, and names the arguments of its kernel as stage.k.c does. */
#define NP (M * M)
#define ROWS (4 * NP)

/* What kind of tile it is. */
#define KIND_OUTER 1 /* some face is on a boundary of the domain */
#define KIND_MIXED 2 /* … or some neighbour is of another group, turned, or nowhere near the others */

/* Where neighbours' traces are found: the first value of the element at a slot, or at a place of this
 * group, the rows from one component to the next, and for neighbours that are not turned the first row
 * behind end e of direction d and the rows from one point to the next. */
#if GAUSS
#define TRACES traces
#define TRACE_OF(slot) first_value(slot, 0, 16 * M, LANES)
#define TRACE_AT(place) first_value(place, traces_begin, 16 * M, LANES)
#define TRACE_STEP M
#define TRACE_START(d, e) ((2 * (d) + 1 - (e)) * 4 * M)
#define POINT_STEP(d) 1
#else
#define TRACES u
#define TRACE_OF(slot) FIRST_VALUE(layout, SLOT_GROUP(block_groups, slot), slot, 4)
#define TRACE_AT(place) first_value(place, begin, ROWS, LANES)
#define TRACE_STEP NP
#define TRACE_START(d, e) ((e) ? 0 : (M - 1) * ((d) == 0 ? 1 : M))
#define POINT_STEP(d) ((d) == 0 ? M : 1)
#endif

/* Whether neighbours of this tile are found one by one. */
#define GATHERS (!PIECES || (kinds[t] & KIND_MIXED))

/* Component c of a field is which of the state along d. */
#if CARTESIAN
#define ALONG(c, d) ((c) == 1 ? 1 + (d) : (c) == 2 ? 2 - (d) : (c))
#define FLUX_AT(q, x, y) flux_of(q)
#define CHANGE_AT(q, dq, x, y) flux_change(q, dq, K_R(1), K_R(0))
#define SCALE_X scale_x
#define SCALE_Y scale_y
#define DENSITY(i, j) K_R(1)
#else
#define ALONG(c, d) (c)
#define FLUX_AT(q, x, y) flux_along(q, x, y)
#define CHANGE_AT(q, dq, x, y) flux_change(q, dq, x, y)
#define SCALE_X K_R(1)
#define SCALE_Y K_R(1)
/* wl / J at node i of line j along direction 0. */
#define DENSITY(i, j) (wl * INVERSE(i, j))
#endif

/* A state of space as it is looked at along d, and back. */
K_FUNC state along(state q, int d)
{
    const int swaps = CARTESIAN && d == 1;
    return state_of(q.rho, swaps ? q.my : q.mx, swaps ? q.mx : q.my, q.E);
}

/* Node i of line j along d. */
#define NODE_OF(d, j, i) ((d) == 0 ? (j) * M + (i) : (i) * M + (j))
#define STATE(x, n, i) state_of(K_L(x[i]), K_L(x[(n) + (i)]), K_L(x[2 * (n) + (i)]), K_L(x[3 * (n) + (i)]))
#define KEEP(x, n, i, q) \
    K_L(x[i]) = (q).rho; \
    K_L(x[(n) + (i)]) = (q).mx; \
    K_L(x[2 * (n) + (i)]) = (q).my; \
    K_L(x[3 * (n) + (i)]) = (q).E;

/* The end of a stage for value i of a tile. */
#define AT(p, i) K_TILE(p, t, ROWS)[(i) * LANES + lane]
#if LOW_STORAGE
#define FINISH(i, rate, to) \
    { \
        const real next_k = wf * AT(k, i) + (rate); \
        AT(k, i) = next_k; \
        (to) = AT(u + begin, i) + wc * next_k; \
    }
#else
#define FINISH(i, rate, to) (to) = wf * AT(first, i) + wc * AT(u + begin, i) + (rate);
#endif
