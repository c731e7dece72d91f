/* What the kernels of model `advection` share: rows of tensor modes, where a neighbour's modes lie,
 * points of the multilinear mapping, and how a stage ends.
 *
 * A mode of an element is a product of orthonormal Legendre polynomials p_i, M in each of DIM
 * directions, the first fastest. A line along direction d is what varies in d alone; lines, like the
 * modes of a face across d, are numbered by the other directions in ascending order.
 *
 *     p_i(1) = sqrt(2 i + 1) / sqrt(2) = legendre[i] / sqrt(2),    p_i(-1) = (-1)^i p_i(1)
 *
 * Fields are [tile][COMPONENTS][NP][lane]; u is the whole field, in which a group begins at value
 * `begin`; first, k and out begin with the group. A stage ends with
 *     strong stability   out = wf first + wc u + wl rate
 *     low storage        k = wf k + wl rate, out = u + wc k
 *
 * The host puts before this file the K_FUNCs that the case's expressions give and
 *     BOUNDARY_VALUE(b, c, x, y, z, t)   tracer c behind boundary b, where it flows in
 *     VELOCITY_0(x, y, z, t) … VELOCITY_2, SOURCE(c, x, y, z, t)   for the kernel with points. */
#include "field/trace.k.h"

#ifndef BOUNDARY_VALUE
#define BOUNDARY_VALUE(b, c, x, y, z, t) K_R(0)
#endif

/* Defaults, for what a case does not say. */
#ifndef VELOCITY_0
#define VELOCITY_0(x, y, z, t) K_R(1)
#define VELOCITY_1(x, y, z, t) K_R(1)
#define VELOCITY_2(x, y, z, t) K_R(1)
#endif
#ifndef SOURCE
#define SOURCE(c, x, y, z, t) K_R(0)
#endif

#define ROWS (COMPONENTS * NP)
#define ROOT_HALF K_R(0.70710678118654752440)

/* Values from one mode to the next along direction d of an element with m modes a side. */
#define STRIDE(d, m) ((d) == 0 ? 1 : (d) == 1 ? (m) : (m) * (m))
/* The first mode of line j along d. */
#define LINE_START(d, j) ((d) == 0 ? (j) * M : (d) == 1 ? (j) / M * M * M + (j) % M : (j))

/* What kind of tile it is: bits of `kinds`. */
#define KIND_OUTER 1 /* some face is on a boundary of the domain */
#define KIND_MIXED 2  /* some neighbour is of another group, or turned, or stands nowhere near the others */
#define KIND_CLIMBS 4 /* neighbours at -1 of direction 1 are in the tile before, lane by lane */

/* How a neighbour's face is turned against mine, as `turns` says for my face and the byte of
 * neighbour_face: its direction across the face, those along it that are my first and second, and
 * whether they run backwards. */
#define TURN_ACROSS(turn) ((turn) & 3)
#define TURN_FIRST(turn) ((turn) >> 2 & 3)
#define TURN_SECOND(turn) ((turn) >> 4 & 3)
#define TURN_LOW(turn) ((turn) >> 6 & 1) /* its face is where its own coordinate is -1 */
#define TURN_FIRST_BACK(turn) ((turn) >> 7 & 1)
#define TURN_SECOND_BACK(turn) ((turn) >> 8 & 1)

/* The mode (j1, j2) of the trace of the neighbour behind `to`, times sqrt(2), in K_ROWS: where[to] is its
 * first value, turn[to] how it is turned, side[to] its modes a side (0: there is none), pitch[to] its LANES.
 * Modes that it lacks are 0. */
#define GATHER_TRACE(to, j1, j2, trace) \
    K_LANEVAR(i64, at); \
    K_LANEVAR(i32, pace); \
    K_LANEVAR(i32, count); \
    K_LANEVAR(real, sign); \
    K_LANE \
    { \
        const i32 m = side[to][lane], how = turn[to][lane], lanes = pitch[to][lane]; \
        const i32 np = DIM == 3 ? m * m * m : m * m; \
        const i32 to_first = STRIDE(TURN_FIRST(how), m); \
        const i32 to_second = DIM == 3 ? STRIDE(TURN_SECOND(how), m) : 0; \
        const i32 has = ((j1) < m) & ((j2) < K_MAX(m, 1)); \
        const i32 back = (TURN_FIRST_BACK(how) & (j1)) ^ (TURN_SECOND_BACK(how) & (j2)); \
        K_L(count) = has ? m : 0; \
        K_L(at) = where[to][lane] + \
                  (has ? (i64)(c * np + (j1) * to_first + (j2) * to_second) * lanes : 0); \
        K_L(pace) = STRIDE(TURN_ACROSS(how), m) * lanes; \
        K_L(sign) = back & 1 ? K_R(-1) : K_R(1); \
        K_L(trace) = 0; \
    } \
    for (int n = 0; n < MOST; n++) { \
        const real weight = legendre[n]; \
        K_LANE \
        { \
            const i32 has = n < K_L(count); \
            const real w = has ? weight : K_R(0); \
            const real odd = (n & TURN_LOW(turn[to][lane])) ? -w : w; \
            K_L(trace) += odd * u[K_L(at) + (has ? n * K_L(pace) : 0)]; \
        } \
    } \
    K_LANE K_L(trace) *= K_L(sign);

/* Coordinate e of the point (r, s, q) of an element whose corners are a tile of `nodes`. */
#define CORNER(e, i) K_TILE(nodes, t, DIM * CORNERS)[((e) * CORNERS + (i)) * LANES + lane]
#if DIM == 2
#define PLACE(e, r, s, q) bilinear(CORNER(e, 0), CORNER(e, 1), CORNER(e, 2), CORNER(e, 3), r, s)
#else
#define PLACE(e, r, s, q) \
    ((K_R(1) - (q)) * K_R(0.5) * \
         bilinear(CORNER(e, 0), CORNER(e, 1), CORNER(e, 2), CORNER(e, 3), r, s) + \
     (K_R(1) + (q)) * K_R(0.5) * \
         bilinear(CORNER(e, 4), CORNER(e, 5), CORNER(e, 6), CORNER(e, 7), r, s))
#endif

K_FUNC real bilinear(real a, real b, real c, real d, real r, real s)
{
    return K_R(0.25) * ((K_R(1) - s) * ((K_R(1) - r) * a + (K_R(1) + r) * b) +
                        (K_R(1) + s) * ((K_R(1) - r) * c + (K_R(1) + r) * d));
}

/* ∂x_e/∂r_k, k = 0, 1, 2, at such a point. */
#if DIM == 2
#define SLOPE(e, k, r, s, q) \
    ((k) == 0 ? slope(CORNER(e, 0), CORNER(e, 1), CORNER(e, 2), CORNER(e, 3), s) \
              : slope(CORNER(e, 0), CORNER(e, 2), CORNER(e, 1), CORNER(e, 3), r))
#else
#define SLOPE(e, k, r, s, q) \
    ((k) == 2 ? K_R(0.5) * (bilinear(CORNER(e, 4), CORNER(e, 5), CORNER(e, 6), CORNER(e, 7), r, s) - \
                            bilinear(CORNER(e, 0), CORNER(e, 1), CORNER(e, 2), CORNER(e, 3), r, s)) \
     : (k) == 0 \
         ? (K_R(1) - (q)) * K_R(0.5) * \
                   slope(CORNER(e, 0), CORNER(e, 1), CORNER(e, 2), CORNER(e, 3), s) + \
               (K_R(1) + (q)) * K_R(0.5) * \
                   slope(CORNER(e, 4), CORNER(e, 5), CORNER(e, 6), CORNER(e, 7), s) \
         : (K_R(1) - (q)) * K_R(0.5) * \
                   slope(CORNER(e, 0), CORNER(e, 2), CORNER(e, 1), CORNER(e, 3), r) + \
               (K_R(1) + (q)) * K_R(0.5) * \
                   slope(CORNER(e, 4), CORNER(e, 6), CORNER(e, 5), CORNER(e, 7), r))
#endif

/* The slope along one direction at place s of the other, from values at (-1, -1), (1, -1), (-1, 1),
 * (1, 1). */
K_FUNC real slope(real a, real b, real c, real d, real s)
{
    return K_R(0.25) * ((K_R(1) - s) * (b - a) + (K_R(1) + s) * (d - c));
}

/* A vector in space. */
typedef struct vector {
    real x, y, z;
} vector;

K_FUNC vector make_vector(real x, real y, real z)
{
    vector v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}

K_FUNC real product_of(vector a, vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

K_FUNC vector cross_of(vector a, vector b)
{
    return make_vector(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

/* ∂x/∂r_k at a point; in the plane the third direction is that of z. */
#if DIM == 2
#define TANGENT(k, r, s, q) \
    ((k) == 2 ? make_vector(0, 0, 1) \
              : make_vector(SLOPE(0, k, r, s, q), SLOPE(1, k, r, s, q), 0))
#else
#define TANGENT(k, r, s, q) \
    make_vector(SLOPE(0, k, r, s, q), SLOPE(1, k, r, s, q), SLOPE(2, k, r, s, q))
#endif

/* J ∇r_d of the tangents a, b, c along the three directions. */
K_FUNC vector area_of(int d, vector a, vector b, vector c)
{
    const vector e = make_vector(d == 0 ? b.x : d == 1 ? c.x : a.x, d == 0 ? b.y : d == 1 ? c.y : a.y,
                                 d == 0 ? b.z : d == 1 ? c.z : a.z);
    const vector f = make_vector(d == 0 ? c.x : d == 1 ? a.x : b.x, d == 0 ? c.y : d == 1 ? a.y : b.y,
                                 d == 0 ? c.z : d == 1 ? a.z : b.z);
    return cross_of(e, f);
}

#define JACOBIAN(r, s, q) \
    product_of(TANGENT(0, r, s, q), cross_of(TANGENT(1, r, s, q), TANGENT(2, r, s, q)))

/* The velocity at a place. */
#if DIM == 2
#define VELOCITY(x, y, z, t) make_vector(VELOCITY_0(x, y, z, t), VELOCITY_1(x, y, z, t), 0)
#else
#define VELOCITY(x, y, z, t) \
    make_vector(VELOCITY_0(x, y, z, t), VELOCITY_1(x, y, z, t), VELOCITY_2(x, y, z, t))
#endif

/* The end of a stage for value i of component c, in K_VECTORS: FINISH(i, BASE(i) + wl rate). */
#define VALUES_OF(p, i) (K_TILE(p, t, ROWS) + (c * NP + (i)) * LANES)
#define NOW(i) K_GET(VALUES_OF(u + begin, i))
#if LOW_STORAGE
#define BASE(i) wf * K_GET(VALUES_OF(k, i))
#define FINISH(i, sum) \
    { \
        const vreal next_k = (sum); \
        K_SEND(VALUES_OF(k, i), next_k); \
        K_SEND(VALUES_OF(out, i), NOW(i) + wc * next_k); \
    }
#else
#if FIRST
#define BASE(i) wf * K_GET(VALUES_OF(first, i)) + wc * NOW(i)
#else /* one stage: wf is 0 and wc is 1 */
#define BASE(i) NOW(i)
#endif
#define FINISH(i, sum) K_SEND(VALUES_OF(out, i), sum);
#endif

/* sqrt(2 n + 1) for the n of all degrees, folded where n is a constant. */
K_FUNC real root(int n)
{
    return n == 0    ? K_R(1)
           : n == 1  ? K_R(1.73205080756887729352)
           : n == 2  ? K_R(2.23606797749978969640)
           : n == 3  ? K_R(2.64575131106459059050)
           : n == 4  ? K_R(3)
           : n == 5  ? K_R(3.31662479035539984911)
           : n == 6  ? K_R(3.60555127546398929311)
           : n == 7  ? K_R(3.87298334620741688517)
           : n == 8  ? K_R(4.12310562561766054982)
           : n == 9  ? K_R(4.35889894354067355223)
           : n == 10 ? K_R(4.58257569495584000658)
           : n == 11 ? K_R(4.79583152331271954159)
           : n == 12 ? K_R(5)
           : n == 13 ? K_R(5.19615242270663188058)
           : n == 14 ? K_R(5.38516480713450403125)
                      : K_R(5.56776436283002192211);
}
