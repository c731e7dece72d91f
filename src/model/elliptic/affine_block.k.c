/* The operator of model `elliptic` on affine triangles with a constant k, for GPUs with tensor cores: what affine.k.c
 * computes, with the same matrices. A block works on one tile; a warp has all of its 32 lanes, so that what is loaded of an
 * operator serves 32 elements.
 *
 *     slopes  q = M Q/2 at the nodes of faces: a warp has both parts of u as operands
 *     apply   two warps, one for the even part of y, one for the odd one. First a thread has a face of an element, two of
 *             them in the odd warp, and finds with all loads under way at once what is tested there, M T[u] + q⁺ + Dᵀ M/2 b u⁺ and
 *             a u⁺; parts of both go to shared memory. Then each warp adds up products with its operator, exchanges half of its
 *             sums with the other's, and stores half of the nodes.
 *
 * Pairs of nodes come in this order: those of face 0 without its first node, those of face 1 without its ends, others inside;
 * then nodes that are their own images: the first of face 0, the middle of face 1 if there is one, others. The parts of what is
 * tested with φ stand in the rows of shared memory in this order, too, and behind them what face 1 adds at its end.
 *
 *     even, odd  of `slopes`: [M/2 ∂/∂n̂ to the same part | M/2 ∂/∂t to the other one], by rows;
 *                of `apply`: as in affine.k.c, parts of columns filled up to eights
 *     lines      [H][H][4] M from even to even values along a face, Dᵀ M/2 from odd to even ones, M from odd to odd ones,
 *                Dᵀ M/2 from even to odd ones
 *
 * and all else as in affine_mirror.k.c. Bytes are those of affine_mirror.k.c; flops: those of products, padded to eights, and
 * 12 NFP² along faces. */
#include "field/trace.k.h"
#include "model/elliptic/affine.k.h"

#if !(K_CUDA && K_MMA) || LANES != 32
#error tiles have 32 lanes here, and there are tensor cores
#endif

#define EVENS ((EVEN + 7) / 8) /* in eights */
#define ODDS ((ODD + 7) / 8)
#define FE (NFP + (NFP + 1) / 2) /* points of faces in even and in odd parts */
#define FO (NFP + NFP / 2)
#define FES ((FE + 7) / 8)
#define FOS ((FO + 7) / 8)
#define FLUX_ROWS (3 * NFP)
#define IMAGE(i) (FLUX_ROWS - 1 - (i))
#define H ((NFP + 1) / 2)
/* The parts of what `apply` multiplies, in eights. */
#define EVEN_MASS (2 * EVENS + ODDS)
#define ODD_MASS (2 * ODDS + EVENS)
#define EVEN_FACES (EVEN_MASS + (STIFF == 4 ? EVENS : 0))
#define ODD_FACES (ODD_MASS + (STIFF == 4 ? ODDS : 0))
#define EVEN_COLUMNS (8 * EVEN_FACES + FE)
#define ODD_COLUMNS (8 * ODD_FACES + FO)
/* Pairs of nodes on faces, and nodes there that are their own images. */
#define PAIRS (NFP - 1 + NFP / 2 - 1)
#define SINGLE (1 + NFP % 2)
#define TESTED_EVEN (PAIRS + SINGLE + 1)
#define TESTED_ODD (PAIRS + 1)
/* Fragments that warps exchange of a group of 16 lanes. */
#define EXCHANGED (EVENS / 2 + (ODDS + 1) / 2)

#define Q4 (K_LANE_ID & 3)
#define PAIR_OF_LANES ((K_LANE_ID >> 2) * 2)

/* Asks the second-level cache for what a tile has, `bytes` from a multiple of 16 on. */
K_FUNC void ask_for(const void *from, i32 bytes)
{
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(bytes));
#else
    (void)from, (void)bytes;
#endif
}
#define ASK_FOR(x, tile, rows) ask_for(K_TILE(x, tile, rows), (rows) * LANES * (i32)sizeof *(x))

/* A row of lanes 2g and 2g + 1 of group h. */
K_FUNC k_pair lanes_of(const real *row, i32 h)
{
    return *(const k_pair *)(row + 16 * h + PAIR_OF_LANES);
}

/* The rows of pairs 8k …, those behind the last being copies of it, and their parts. */
template <int G> struct pair_rows {
    k_pair a[2][G], b[2][G];
};
template <int G> K_FUNC pair_rows<G> load_pairs(const real *from, const i32 *pairs, i32 k)
{
    const int4 at = __ldg((const int4 *)pairs + k * 4 + Q4);
    pair_rows<G> x;
    K_UNROLL for (int v = 0; v < 2; v++) K_UNROLL for (int h = 0; h < G; h++)
    {
        x.a[v][h] = lanes_of(from + (v ? at.z : at.x) * LANES, h);
        x.b[v][h] = lanes_of(from + (v ? at.w : at.y) * LANES, h);
    }
    return x;
}
template <int G>
K_FUNC void take_parts(const pair_rows<G> &x, k_fragment (&e)[G], k_fragment (&o)[G])
{
    K_UNROLL for (int v = 0; v < 2; v++) K_UNROLL for (int h = 0; h < G; h++)
    {
        const k_pair a = x.a[v][h], b = x.b[v][h];
        e[h].v[v] = a.x + b.x, e[h].v[v + 2] = a.y + b.y;
        o[h].v[v] = a.x - b.x, o[h].v[v + 2] = a.y - b.y;
    }
}

/* Factors of the lanes that a thread has in fragments. */
template <int G> struct lane_factors {
    k_pair of[G];
};
template <int G> K_FUNC lane_factors<G> load_factors(const real *row)
{
    lane_factors<G> x;
    K_UNROLL for (int h = 0; h < G; h++) x.of[h] = lanes_of(row, h);
    return x;
}
template <int G> K_FUNC lane_factors<G> combine(const lane_factors<G> &x, real a, const lane_factors<G> &y, real b)
{
    lane_factors<G> z;
    K_UNROLL for (int h = 0; h < G; h++)
    {
        z.of[h].x = a * x.of[h].x + b * y.of[h].x;
        z.of[h].y = a * x.of[h].y + b * y.of[h].y;
    }
    return z;
}

/* Adds to N eights of sums what eights `column` of an operator with COLUMNS columns make of x times factors. */
template <int N, int COLUMNS, int G>
K_FUNC void add_eight(k_fragment (&z)[N][G], const real *A, i32 column, const k_fragment (&x)[G],
                      const lane_factors<G> &f)
{
    k_left left[G];
    K_UNROLL for (int h = 0; h < G; h++)
        left[h] = k_left_of(k_fragment{{f.of[h].x * x[h].v[0], f.of[h].x * x[h].v[1],
                                        f.of[h].y * x[h].v[2], f.of[h].y * x[h].v[3]}});
    const k_right *from = k_operator(A, 0, column, COLUMNS, K_LANE_ID);
    K_UNROLL for (int m = 0; m < N; m++)
    {
        const k_right p = from[m * ((COLUMNS + 7) / 8 * 32)];
        K_UNROLL for (int h = 0; h < G; h++) k_mma(z[m][h], left[h], p);
    }
}

/* --- q --------------------------------------------------------------------------------------------- */

/* Eights m … of the product of an operator with COLUMNS columns. */
template <int N, int G>
K_FUNC void product(k_fragment (&y)[G], const real *A, i32 m, const k_left (&x)[N][G])
{
    const k_right *row = k_operator(A, m, 0, 8 * N, K_LANE_ID);
    K_UNROLL for (int k = 0; k < N; k++)
    {
        const k_right p = row[k * 32];
        K_UNROLL for (int h = 0; h < G; h++) k_mma(y[h], x[k][h], p);
    }
}

#define WARP_GROUPS (LANES / 16 / K_TY) /* groups of 16 lanes that a warp of `slopes` has */

K_KERNEL(slopes, K_IN(real, u, NP *LANES), K_IN(real, factors, FACTORS *LANES), K_IN(i32, pairs),
         K_OP(even, 8 * (FES + FOS), EVEN), K_OP(odd, 8 * (FES + FOS), ODD),
         K_OUT(real, flux, FLUX_ROWS *LANES))
{
    constexpr int G = WARP_GROUPS;
    K_TILES(t)
    {
        const int first = K_ROW * (16 * G);
        const real *own = K_TILE(u, t, NP) + first, *factor = K_TILE(factors, t, FACTORS) + first;
        real *to = K_TILE(flux, t, FLUX_ROWS) + first;
        k_left xe[EVENS][G], xo[ODDS][G];
        K_UNROLL for (int k = 0; k < EVENS; k++)
        {
            k_fragment e[G], o[G];
            take_parts<G>(load_pairs<G>(own, pairs, k), e, o);
            K_UNROLL for (int h = 0; h < G; h++)
            {
                xe[k][h] = k_left_of(e[h]);
                if (k < ODDS) xo[k < ODDS ? k : 0][h] = k_left_of(o[h]);
            }
        }
        const lane_factors<G> rr = load_factors<G>(factor), rs = load_factors<G>(factor + LANES),
                              ss = load_factors<G>(factor + 2 * LANES);
        K_ROLLED for (int k = 0; k < FES; k++)
        {
            k_fragment ne[G] = {}, no[G] = {}, te[G] = {}, to_odd[G] = {};
            product<EVENS, G>(ne, even, k, xe);
            product<ODDS, G>(te, odd, FOS + k, xo);
            if (k < FOS) {
                product<ODDS, G>(no, odd, k, xo);
                product<EVENS, G>(to_odd, even, FES + k, xe);
            }
            K_UNROLL for (int v = 0; v < 2; v++)
            {
                const int i = 8 * k + 2 * Q4 + v, f = i < NFP ? 0 : 1;
                if (i >= FE) continue;
                K_UNROLL for (int h = 0; h < G; h++)
                {
                    k_pair here, there;
#define FIND_Q(x, w) \
    do { \
        const real a = ACROSS(f, rr.of[h].x, rs.of[h].x, ss.of[h].x); \
        const real b = ASIDE(f, rr.of[h].x, rs.of[h].x, ss.of[h].x); \
        const real c = ACROSS(2 - f, rr.of[h].x, rs.of[h].x, ss.of[h].x); \
        const real d = ASIDE(2 - f, rr.of[h].x, rs.of[h].x, ss.of[h].x); \
        here.x = a * (ne[h].v[w] + no[h].v[w]) + b * (te[h].v[w] + to_odd[h].v[w]); \
        there.x = c * (ne[h].v[w] - no[h].v[w]) + d * (te[h].v[w] - to_odd[h].v[w]); \
    } while (0)
                    FIND_Q(x, v);
                    FIND_Q(y, v + 2);
                    *(k_pair *)(to + i * LANES + 16 * h + PAIR_OF_LANES) = here;
                    *(k_pair *)(to + IMAGE(i) * LANES + 16 * h + PAIR_OF_LANES) = there;
                }
            }
        }
    }
}

/* --- y --------------------------------------------------------------------------------------------- */

/* What lies behind face f of the thread's lane, as in affine_mirror.k.c. */
struct beyond {
    const real *mine, *there, *flux_there;
    walk own, other;
    i32 pitch;
    real sigma, T, across, aside;
};

#define FIND_BEYOND(x, f) \
    do { \
        const i32 lane = K_LANE_ID, slot = K_TILE(neighbour, t, 3)[(f) * LANES + lane]; \
        const i32 byte = K_TILE(neighbour_face, t, 3)[(f) * LANES + lane]; \
        const real *factor = K_TILE(factors, t, FACTORS) + lane; \
        const real rr = factor[0], rs = factor[LANES], ss = factor[2 * LANES]; \
        const i32 behind = slot < 0 ? t * LANES + lane : slot; \
        const i32 face = slot < 0 ? (f) : byte & 7, turned = slot < 0 ? 0 : byte >> 3; \
        (x).T = factor[(4 + (f)) * LANES]; \
        (x).own = walk_along(f, 0); \
        (x).other = walk_along(face, turned); \
        (x).mine = K_TILE(u + begin, t, NP) + lane; \
        (x).there = u + first_value(behind, begin, NP, LANES); \
        (x).flux_there = flux + first_value(behind, 0, FLUX_ROWS, LANES) + \
                         (face * NFP + (turned ? NFP - 1 : 0)) * LANES; \
        (x).pitch = turned ? -LANES : LANES; \
        (x).sigma = slot < 0 && (x).T != K_R(0) ? K_R(-1) : K_R(1); \
        (x).across = ACROSS(f, rr, rs, ss); \
        (x).aside = ASIDE(f, rr, rs, ss); \
    } while (0)

#define NODE(way, p) ((way).first + (((p) * ((way).slope + (way).bend * (p))) >> 1))

/* Values at the nodes of a face: u, u⁺ and q⁺. */
struct face_values {
    real mine[NFP], other[NFP], q[NFP];
};
K_FUNC void load_face(const beyond &x, face_values &v)
{
    K_UNROLL for (int p = 0; p < NFP; p++)
    {
        v.mine[p] = x.mine[NODE(x.own, p) * LANES];
        v.other[p] = x.there[NODE(x.other, p) * LANES];
        v.q[p] = x.flux_there[p * x.pitch];
    }
}

/* Of values along a face sums and differences of both ends: of T[u], and of b u⁺ (`aside_…`). */
struct face_parts {
    real even[H], odd[H], aside_even[H], aside_odd[H];
};
/* … and in place of u⁺ and q⁺ a u⁺, and half sums of q⁺ at p < H, half differences at the other end. */
K_FUNC void take_face(const beyond &x, face_values &v, face_parts &parts)
{
    K_UNROLL for (int p = 0; p < H; p++)
    {
        const int i = NFP - 1 - p;
        const real a = x.sigma * v.other[p], b = x.sigma * v.other[i];
        const real first = x.T * (v.mine[p] - a), last = x.T * (v.mine[i] - b);
        const real qa = x.sigma * v.q[p], qb = x.sigma * v.q[i];
        parts.even[p] = p == i ? first : first + last;
        parts.odd[p] = first - last;
        parts.aside_even[p] = x.aside * (p == i ? a : a + b);
        parts.aside_odd[p] = x.aside * (a - b);
        v.other[p] = x.across * a;
        v.other[i] = x.across * b;
        v.q[i] = K_R(0.5) * (qa - qb);
        v.q[p] = K_R(0.5) * (qa + qb);
    }
}

/* The parts at p and at the other end of what is tested with φ, of F faces. */
template <int F> struct tested_parts {
    real even[F], odd[F];
};
template <int F>
K_FUNC tested_parts<F> test_faces(int p, const real *lines, const face_values (&v)[F], const face_parts (&x)[F])
{
    tested_parts<F> sum;
    K_UNROLL for (int f = 0; f < F; f++)
    {
        sum.even[f] = v[f].q[p];
        sum.odd[f] = p == NFP - 1 - p ? K_R(0) : v[f].q[NFP - 1 - p];
    }
    K_UNROLL for (int j = 0; j < H; j++)
    {
        const k_pair to_even = __ldg((const k_pair *)lines + 2 * (p * H + j));
        const k_pair to_odd = __ldg((const k_pair *)lines + 2 * (p * H + j) + 1);
        K_UNROLL for (int f = 0; f < F; f++)
        {
            sum.even[f] += to_even.x * x[f].even[j];
            sum.even[f] += to_even.y * x[f].aside_odd[j];
            sum.odd[f] += to_odd.x * x[f].odd[j];
            sum.odd[f] += to_odd.y * x[f].aside_even[j];
        }
    }
    return sum;
}

typedef real (*rows)[K_LD];

/* The parts of what face 1 has, which are those along it. */
K_FUNC void put_slanting(const beyond &x, face_values (&v)[1], const real *lines, rows through, rows tested)
{
    const int lane = K_LANE_ID;
    face_parts parts[1];
    take_face(x, v[0], parts[0]);
    K_UNROLL for (int p = 0; p < H; p++)
    {
        const int i = NFP - 1 - p;
        through[NFP + p][lane] = v[0].other[p] + v[0].other[i];
        if (p != i) through[FE + NFP + p][lane] = v[0].other[p] - v[0].other[i];
    }
    K_UNROLL for (int p = 0; p < H; p++)
    {
        const int i = NFP - 1 - p, pair = NFP - 1 + p - 1;
        const tested_parts<1> sum = test_faces<1>(p, lines, v, parts);
        tested[p == 0 ? TESTED_EVEN - 1 : p == i ? PAIRS + 1 : pair][lane] = sum.even[0];
        if (p != i) tested[TESTED_EVEN + (p == 0 ? TESTED_ODD - 1 : pair)][lane] = sum.odd[0];
    }
}

/* What is tested at point p of face 0, and at its image. */
K_FUNC void put_pair(int p, real here, real there, rows tested)
{
    const int lane = K_LANE_ID;
    if (p == 0) {
        tested[PAIRS][lane] = here + there;
    } else {
        tested[p - 1][lane] = K_R(0.5) * (here + there);
        tested[TESTED_EVEN + p - 1][lane] = K_R(0.5) * (here - there);
    }
}

/* The parts of what faces 0 and 2 have, which are each other's images. */
K_FUNC void put_legs(const beyond &x, const beyond &y, face_values (&v)[2], const real *lines, rows through,
                     rows tested)
{
    const int lane = K_LANE_ID;
    face_parts parts[2];
    take_face(x, v[0], parts[0]);
    take_face(y, v[1], parts[1]);
    K_UNROLL for (int p = 0; p < NFP; p++)
    {
        const real here = v[0].other[p], there = v[1].other[NFP - 1 - p];
        through[p][lane] = here + there;
        through[FE + p][lane] = here - there;
    }
    K_UNROLL for (int p = 0; p < H; p++)
    {
        const int i = NFP - 1 - p;
        const tested_parts<2> sum = test_faces<2>(p, lines, v, parts);
        put_pair(p, sum.even[0] + sum.odd[0], sum.even[1] - sum.odd[1], tested);
        if (p != i) put_pair(i, sum.even[0] - sum.odd[0], sum.even[1] + sum.odd[1], tested);
    }
}

/* One part of y for all lanes: sums, to which those of faces are added last. */
template <int ODD_PART> struct part {
    enum {
        G = LANES / 16,
        N = ODD_PART ? ODDS : EVENS,
        COLUMNS = ODD_PART ? ODD_COLUMNS : EVEN_COLUMNS,
        FACES = ODD_PART ? ODD_FACES : EVEN_FACES,
        POINTS_OF_PART = ODD_PART ? FO : FE
    };
    k_fragment z[N][G];

    K_FUNC void begin(const real *b, const i32 *pairs, i32 rest)
    {
        K_UNROLL for (int k = 0; k < N; k++) K_UNROLL for (int h = 0; h < G; h++) z[k][h] = k_fragment{};
        if (!rest) return;
        K_UNROLL for (int k = 0; k < N; k++)
        {
            k_fragment e[G], o[G];
            take_parts<G>(load_pairs<G>(b, pairs, k), e, o);
            K_UNROLL for (int h = 0; h < G; h++) K_UNROLL for (int v = 0; v < 4; v++)
                z[k][h].v[v] = K_R(-0.5) * (ODD_PART ? o[h].v[v] : e[h].v[v]);
        }
    }

    K_FUNC void add_nodes(const real *own, const i32 *pairs, const real *factor, const real *A)
    {
        const lane_factors<G> rr = load_factors<G>(factor), rs = load_factors<G>(factor + LANES),
                              ss = load_factors<G>(factor + 2 * LANES);
        const lane_factors<G> p = combine<G>(rr, K_R(0.5), ss, K_R(0.5));
        const lane_factors<G> m = combine<G>(rr, K_R(0.5), ss, K_R(-0.5));
#if STIFF == 4
        const lane_factors<G> mass = load_factors<G>(factor + 3 * LANES);
#endif
        K_ROLLED for (int k = 0; k < EVENS; k++)
        {
            k_fragment e[G], o[G];
            take_parts<G>(load_pairs<G>(own, pairs, k), e, o);
            if (!ODD_PART || k < ODDS) {
                add_eight<N, COLUMNS, G>(z, A, k, ODD_PART ? o : e, p);
                add_eight<N, COLUMNS, G>(z, A, N + k, ODD_PART ? o : e, rs);
#if STIFF == 4
                add_eight<N, COLUMNS, G>(z, A, (ODD_PART ? ODD_MASS : EVEN_MASS) + k, ODD_PART ? o : e, mass);
#endif
            }
            if (ODD_PART || k < ODDS)
                add_eight<N, COLUMNS, G>(z, A, 2 * N + k, ODD_PART ? e : o, m);
        }
    }

    K_FUNC void add_faces(rows through, rows tested, const real *A)
    {
        rows mine = through + (ODD_PART ? FE : 0), mine_tested = tested + (ODD_PART ? TESTED_EVEN : 0);
        lane_factors<G> one;
        K_UNROLL for (int h = 0; h < G; h++) one.of[h].x = one.of[h].y = K_R(1);
        K_UNROLL for (int k = 0; k < (POINTS_OF_PART + 7) / 8; k++)
        {
            k_fragment x[G];
            K_UNROLL for (int v = 0; v < 2; v++) K_UNROLL for (int h = 0; h < G; h++)
            {
                const k_pair a = lanes_of(mine[K_MIN(8 * k + 2 * Q4 + v, POINTS_OF_PART - 1)], h);
                x[h].v[v] = a.x, x[h].v[v + 2] = a.y;
            }
            add_eight<N, COLUMNS, G>(z, A, FACES + k, x, one);
        }
        K_UNROLL for (int k = 0; k < N; k++) K_UNROLL for (int v = 0; v < 2; v++)
        {
            const int i = 8 * k + 2 * Q4 + v;
            if (8 * k + v < PAIRS && i < PAIRS) add_row(k, v, mine_tested[i]);
            if (!ODD_PART && 8 * k + 7 >= ODD && 8 * k < ODD + SINGLE && i >= ODD && i < ODD + SINGLE)
                add_row(k, v, mine_tested[PAIRS + i - ODD]);
            /* Where face 1 ends. */
            if (k == (NFP - 2) / 8 && v == NFP % 2 && i == NFP - 2)
                add_row(k, v, mine_tested[(ODD_PART ? TESTED_ODD : TESTED_EVEN) - 1]);
        }
    }

    K_FUNC void add_row(int k, int v, const real *row)
    {
        K_UNROLL for (int h = 0; h < G; h++)
        {
            const k_pair a = lanes_of(row, h);
            z[k][h].v[v] += a.x;
            z[k][h].v[v + 2] += a.y;
        }
    }

    /* The other warp gets the eights that it stores: the even one those with even numbers. */
    K_FUNC void hand_over(k_pair *exchange) const
    {
        K_UNROLL for (int k = !ODD_PART; k < N; k += 2) K_UNROLL for (int h = 0; h < G; h++)
        {
            k_pair *to = exchange + (((ODD_PART ? EVENS / 2 : 0) + k / 2) * G + h) * 64 + K_LANE_ID;
            to[0] = k_pair{z[k][h].v[0], z[k][h].v[1]};
            to[32] = k_pair{z[k][h].v[2], z[k][h].v[3]};
        }
    }

    K_FUNC void store(const k_pair *exchange, const i32 *pairs, i32 rest, real *y) const
    {
        const real sign = rest ? K_R(-1) : K_R(1);
        K_UNROLL for (int k = ODD_PART; k < EVENS; k += 2)
        {
            const int4 at = __ldg((const int4 *)pairs + k * 4 + Q4);
            K_UNROLL for (int h = 0; h < G; h++)
            {
                k_fragment e = {}, o = {};
                if (k < N) (ODD_PART ? o : e) = z[k < N ? k : 0][h];
                if (ODD_PART || k < ODDS) {
                    const k_pair *from =
                        exchange + (((ODD_PART ? 0 : EVENS / 2) + k / 2) * G + h) * 64 + K_LANE_ID;
                    const k_pair a = from[0], b = from[32];
                    (ODD_PART ? e : o) = k_fragment{{a.x, a.y, b.x, b.y}};
                }
                K_UNROLL for (int v = 0; v < 2; v++)
                {
                    const int i = 8 * k + 2 * Q4 + v;
                    const real d = i < ODD ? o.v[v] : K_R(0), f = i < ODD ? o.v[v + 2] : K_R(0);
                    real *corner = y + 16 * h + PAIR_OF_LANES;
                    if (i < EVEN)
                        __stcs((k_pair *)(corner + (v ? at.z : at.x) * LANES),
                               k_pair{sign * (e.v[v] + d), sign * (e.v[v + 2] + f)});
                    if (i < ODD)
                        __stcs((k_pair *)(corner + (v ? at.w : at.y) * LANES),
                               k_pair{sign * (e.v[v] - d), sign * (e.v[v + 2] - f)});
                }
            }
        }
    }
};

K_KERNEL(apply, K_IN(real, u), K_VAL(i64, begin), K_IN(real, b, NP *LANES), K_VAL(i32, rest),
         K_IN(real, flux), K_IN(i32, neighbour, 3 *LANES), K_IN(u8, neighbour_face, 3 *LANES),
         K_IN(real, factors, FACTORS *LANES), K_IN(i32, pairs), K_IN(real, lines),
         K_OP(even, EVEN, EVEN_COLUMNS), K_OP(odd, ODD, ODD_COLUMNS), K_OUT(real, y, NP *LANES))
{
    K_SHARED(real, through, FE + FO); /* parts of a u⁺ */
    K_SHARED(real, tested, TESTED_EVEN + TESTED_ODD); /* … and of what is tested with φ */
    K_SHARED(real, exchange, 8 * EXCHANGED);
    K_TILES(place)
    {
        /* From the last tile to the first: what `slopes` has read and written last is still in the cache. */
        const i32 t = k_t0 + k_t1 - 1 - place;
        const real *own = K_TILE(u + begin, t, NP), *factor = K_TILE(factors, t, FACTORS);
        const int odd_warp = (K_ROW ^ place) & 1; /* so that each part of a multiprocessor has both kinds */
        if (K_LANE_ID == 0) {
            if (K_ROW == 0) {
                ASK_FOR(u + begin, t, NP);
                if (rest) ASK_FOR(b, t, NP);
            } else {
                ASK_FOR(flux, t, FLUX_ROWS);
            }
        }
        if (odd_warp) {
            part<1> mine;
            beyond x, z;
            face_values v[2];
            FIND_BEYOND(x, 0);
            FIND_BEYOND(z, 2);
            load_face(x, v[0]);
            load_face(z, v[1]);
            put_legs(x, z, v, lines, through, tested);
            mine.begin(K_TILE(b, t, NP), pairs, rest);
            mine.add_nodes(own, pairs, factor, odd);
            K_SYNC;
            mine.add_faces(through, tested, odd);
            mine.hand_over((k_pair *)exchange);
            K_SYNC;
            mine.store((const k_pair *)exchange, pairs, rest, K_TILE(y, t, NP));
        } else {
            part<0> mine;
            beyond x;
            face_values v[1];
            FIND_BEYOND(x, 1);
            load_face(x, v[0]);
            put_slanting(x, v, lines, through, tested);
            mine.begin(K_TILE(b, t, NP), pairs, rest);
            mine.add_nodes(own, pairs, factor, even);
            K_SYNC;
            mine.add_faces(through, tested, even);
            mine.hand_over((k_pair *)exchange);
            K_SYNC;
            mine.store((const k_pair *)exchange, pairs, rest, K_TILE(y, t, NP));
        }
    }
}
