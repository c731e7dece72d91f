/* The kernel language in CUDA C++, compiled by NVRTC.
 *
 * Matrix instructions (K_MMA, from sm_80), of FP64, or of TF32 for single precision: elements are matrix
 * rows, the operator is the right factor. A fragment covers 16 lanes and 8 rows (nodes or points) of a tile; thread (g, q) =
 * (l / 4, l % 4) of the warp holds
 *     v[0] = (lane 2g, row 2q)       v[1] = (lane 2g, row 2q + 1)
 *     v[2] = (lane 2g + 1, row 2q)   v[3] = (lane 2g + 1, row 2q + 1),
 * the accumulator layout of mma.m16n8 with matrix rows g and g + 8 standing for neighbouring lanes, so
 * that every access to a tile is 16 bytes wide. The same registers are the left operand of the next
 * product
 * once the contraction index is permuted (slot q <-> row 2q, slot q + 4 <-> row 2q + 1), so results
 * are operands without any exchange, and m8n8k4 reads the very same packing of operators:
 * [rows / 8][columns / 8][32 threads][2]. */
typedef double f64;
typedef float f32;
typedef long long i64;
typedef int i32;
typedef unsigned int u32;
typedef unsigned char u8;

#define K_INFINITY K_R(__int_as_float(0x7f800000))
#define K_NAN K_R(__int_as_float(0x7fc00000))

#include "device/dialect/common.k.h"

#ifndef K_MIN_BLOCKS
#define K_MIN_BLOCKS 1
#endif
#define K_GLOBAL
#define K_LOCAL
#define K_CONSTANT __constant__
#define K_FUNC __device__ __forceinline__
#define K_LANE_ID ((int)threadIdx.x)
#define K_ROW ((int)threadIdx.y)
#define K_SLOT ((int)threadIdx.z)
#define K_BLOCK ((int)blockIdx.x)
#define K_BLOCKS ((int)gridDim.x)
#if K_LEVEL == 1 && LANES * K_TY == 32 /* a slot is a warp of its own */
#define K_SYNC __syncwarp()
#else
#define K_SYNC __syncthreads()
#endif

/* Asks the second-level cache for a value. */
#define K_SOON(p) asm volatile("prefetch.global.L2 [%0];" ::"l"(p))
#include "device/dialect/gpu.k.h"

#define K_BEGIN(name) \
    extern "C" __global__ void __launch_bounds__(K_THREADS, K_MIN_BLOCKS) \
        name(const int k_t0, const int k_t1
#define K_END )
#define K_ARG_IN(type, x) , const type *__restrict__ x
#define K_ARG_OUT(type, x) , type *__restrict__ x
#define K_ARG_INOUT(type, x) , type *__restrict__ x
#define K_ARG_VAL(type, x) , const type x
#define K_ARG_OP(type, x) , const type *__restrict__ x

/* The library lays out shared memory and defines K_OFFSET_<name>. */
extern __shared__ __align__(16) unsigned char k_shared[];
#define K_SHARED(type, x, n) \
    type(*x)[K_LD] = (type(*)[K_LD])(k_shared + K_OFFSET_##x) + K_SLOT * (n)

#if !K_MMA
#define K_GEMM_BLOCK K_GEMM_PORTABLE
#else
#define K_VALUE(A, m, k, K) k_packed(A, m, k, K)

#if K_REAL == 64
typedef double2 k_pair;
#else
typedef float2 k_pair;
#endif

struct k_fragment {
    real v[4];
};

#if K_REAL == 64
/* A fragment as the left factor of a product, and what a thread has of an operator's as the right. */
typedef k_fragment k_left;
typedef double2 k_right;
__device__ __forceinline__ k_left k_left_of(const k_fragment &a) { return a; }

/* c += a b for 16 lanes, 8 rows of contraction, 8 rows of result. */
__device__ __forceinline__ void k_mma(k_fragment &c, const k_left &a, const k_right b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
        "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+d"(c.v[0]), "+d"(c.v[1]), "+d"(c.v[2]), "+d"(c.v[3])
        : "d"(a.v[0]), "d"(a.v[2]), "d"(a.v[1]), "d"(a.v[3]), "d"(b.x), "d"(b.y));
#else
#pragma unroll
    for (int h = 0; h < 4; h += 2) {
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
            : "+d"(c.v[h]), "+d"(c.v[h + 1]) : "d"(a.v[h]), "d"(b.x));
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{%2},{%3},{%0,%1};"
            : "+d"(c.v[h]), "+d"(c.v[h + 1]) : "d"(a.v[h + 1]), "d"(b.y));
    }
#endif
}
#else
/* Factors have 11 significant bits here; as sums of two, a high and a low part, they have those of single
 * precision but for the last, and three products of parts give its product [ootomo2022]. Operators are
 * packed in parts: high x, high y, low x, low y. */
struct k_left {
    unsigned high[4], low[4];
};
typedef float4 k_right;
__device__ __forceinline__ k_left k_left_of(const k_fragment &a)
{
    k_left left;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        left.high[i] = (__float_as_uint(a.v[i]) + 0x1000u) & 0xffffe000u; /* rounded */
        left.low[i] = __float_as_uint(a.v[i] - __uint_as_float(left.high[i]));
    }
    return left;
}
__device__ __forceinline__ void k_mma_part(k_fragment &c, const unsigned (&a)[4], float b0, float b1)
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
        : "+f"(c.v[0]), "+f"(c.v[1]), "+f"(c.v[2]), "+f"(c.v[3])
        : "r"(a[0]), "r"(a[2]), "r"(a[1]), "r"(a[3]),
          "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
}
__device__ __forceinline__ void k_mma(k_fragment &c, const k_left &a, const k_right b)
{
    k_mma_part(c, a.low, b.x, b.y);
    k_mma_part(c, a.high, b.z, b.w);
    k_mma_part(c, a.high, b.x, b.y);
}
#endif

/* Rows 8k… of a tile with ROWS rows, STRIDE values apart, as a fragment. `corner` is the place of the
 * thread's own first value: row 2q, lane 2g. Rows behind the last are zero. HINT: the tile is in
 * global memory and will not be wanted again soon. */
template <int ROWS, int STRIDE, int HINT>
__device__ __forceinline__ k_fragment k_tile_get(const real *corner, int k, int q)
{
    const k_pair zero = k_pair{}, *p = (const k_pair *)(corner + k * 8 * STRIDE);
    const k_pair a = k * 8 + 2 * q >= ROWS ? zero : HINT ? __ldcs(p) : *p;
    p += STRIDE / 2;
    const k_pair b = k * 8 + 2 * q + 1 >= ROWS ? zero : HINT ? __ldcs(p) : *p;
    return {{a.x, b.x, a.y, b.y}};
}
template <int ROWS, int STRIDE, int HINT>
__device__ __forceinline__ void k_tile_set(real *corner, int k, int q, const k_fragment &x)
{
    k_pair *p = (k_pair *)(corner + k * 8 * STRIDE);
    const k_pair a = {x.v[0], x.v[2]}, b = {x.v[1], x.v[3]};
    if (k * 8 + 2 * q < ROWS) HINT ? __stcs(p, a) : (void)(*p = a);
    p += STRIDE / 2;
    if (k * 8 + 2 * q + 1 < ROWS) HINT ? __stcs(p, b) : (void)(*p = b);
}

/* The operator's fragment for rows 8m… and columns 8k… is, for thread l of the warp, what stands here.
 * Where one of m and k is a constant, it had better be added last: it is then part of the instruction. */
__device__ __forceinline__ const k_right *k_operator(const real *A, int m, int k, int K, int l)
{
    return (const k_right *)A + ((m * ((K + 7) / 8) + k) * 32 + l);
}

/* One value of a packed operator. */
__device__ __forceinline__ real k_packed(const real *A, int m, int k, int K)
{
    const real *at = (const real *)k_operator(A, m / 8, k / 8, K, m % 8 * 4 + k % 8 / 2) + k % 2;
#if K_REAL == 64
    return __ldg(at);
#else
    return __ldg(at) + __ldg(at + 2);
#endif
}

/* Small products are memory-bound: a thread keeps its lane's column in registers. */
#ifndef K_GEMM_SMALL
#define K_GEMM_SMALL 36
#endif

template <int ADD, int M, int K, int S, int L, int XLD, int YLD>
__device__ __forceinline__ void k_gemm_small(const real *A, const real *X, real *Y, int live)
{
    for (int line = K_ROW; line < S * L; line += K_TY) {
        const real *x = X + (line / S * K * S + line % S) * XLD + K_LANE_ID;
        real *y = Y + (line / S * M * S + line % S) * YLD + K_LANE_ID;
        real v[K];
#pragma unroll
        for (int k = 0; k < K; k++) v[k] = x[k * S * XLD];
#pragma unroll
        for (int m = 0; m < M; m++) {
            real sum = ADD ? y[m * S * YLD] : K_R(0);
#pragma unroll
            for (int k = 0; k < K; k++) sum += k_packed(A, m, k, K) * v[k];
            if (live) y[m * S * YLD] = sum;
        }
    }
}

/* Columns (line, lane) in sixteens, one or more warps of the slot each. */
template <int ADD, int M, int K, int S, int L, int XLD, int YLD>
__device__ __forceinline__ void k_gemm_mma(const real *A, const real *X, real *Y, int live)
{
    constexpr int warps = LANES * K_TY / 32, kb = (K + 7) / 8, mb = (M + 7) / 8;
    constexpr int columns = (S * L * LANES + 15) / 16;
    constexpr int split = columns >= warps ? 1 : (warps / columns < mb ? warps / columns : mb);
    const int thread = K_LANE_ID + LANES * K_ROW, l = thread & 31, g = l >> 2, q = l & 3;
    for (int item = thread >> 5; item < columns * split; item += warps) {
        const int column = item % columns * 16 + 2 * g, line = column / LANES;
        const int valid = line < S * L, lane = column % LANES;
        const real *x_at = X + (line / S * K * S + line % S + 2 * q * S) * XLD + lane;
        real *y_at = Y + (line / S * M * S + line % S + 2 * q * S) * YLD + lane;
        k_left x[kb];
#pragma unroll
        for (int k = 0; k < kb; k++)
            x[k] = k_left_of(valid ? k_tile_get<K, S * XLD, 0>(x_at, k, q) : k_fragment{});
        for (int m = item / columns; m < mb; m += split) {
            k_fragment y = ADD && valid ? k_tile_get<M, S * YLD, 0>(y_at, m, q) : k_fragment{};
            const k_right *row = k_operator(A, m, 0, K, l);
#pragma unroll
            for (int k = 0; k < kb; k++) k_mma(y, x[k], row[k * 32]);
            if (live && valid) k_tile_set<M, S * YLD, 0>(y_at, m, q, y);
        }
    }
}

template <int ADD, int M, int K, int S, int L, int XLD, int YLD>
__device__ __forceinline__ void k_gemm(const real *A, const real *X, real *Y, int live)
{
    if constexpr (M * K <= K_GEMM_SMALL || LANES * K_TY % 32 != 0)
        k_gemm_small<ADD, M, K, S, L, XLD, YLD>(A, X, Y, live);
    else
        k_gemm_mma<ADD, M, K, S, L, XLD, YLD>(A, X, Y, live);
}
#define K_GEMM_BLOCK(ADD, M, K, S, L, A, xg, x, yg, y) \
    k_gemm<ADD, M, K, S, L, K_PITCH(xg), K_PITCH(yg)>(A, x, y, k_live)
#endif

/* --- level 2 on tensor cores: a group of 16 lanes is one warp, or K_PARTS of them ---------------- */

#if K_LEVEL == 2 && K_MMA
#if K_FN != 8 && K_FN != 16
#error "K_FN is 8 or 16 on tensor cores"
#endif
#define K_SUB (K_FN / 8) /* fragments of a chunk: more of them share each load of an operand */
#define K_EIGHTS(n) (((n) + 7) / 8)
#define K_GROUPS (LANES / 16)
#define K_GROUP (K_SLOT / K_PARTS) /* of the block */
#define K_PART (K_SLOT % K_PARTS)  /* the warp's place in its group */

#define K_WARPS(t) \
    for (i32 k_w = k_t0 * K_GROUPS + K_BLOCK * K_TZ + K_GROUP; k_w < k_t1 * K_GROUPS; \
         k_w += K_BLOCKS * K_TZ) \
        for (i32 t = k_w / K_GROUPS, k_l0 = k_w % K_GROUPS * 16, k_once = 1; k_once; k_once = 0)
/* The group's first lane in row `row` of an array with `rows` rows per tile. */
#define K_GROUP_AT(u, rows, row) (K_TILE(u, k_w / K_GROUPS, rows) + (row) * LANES + k_l0)

#define K_LANE \
    K_UNROLL for (int k_h = 0; k_h < 2; k_h++) \
        for (int lane = k_l0 + (K_LANE_ID >> 2) * 2 + k_h, k_go = 1; k_go; k_go = 0)
#define K_LANEVAR(type, x) type x[2]
#define K_L(x) x[k_h]
#define K_LANELOAD(x, u, rows, row) k_lane_load(x, K_GROUP_AT(u, rows, row))
__device__ __forceinline__ void k_lane_load(real (&x)[2], const real *row)
{
    const k_pair pair = ((const k_pair *)row)[K_LANE_ID >> 2];
    x[0] = pair.x;
    x[1] = pair.y;
}

__device__ __forceinline__ void k_group_sync()
{
#if K_PARTS == 1
    __syncwarp();
#else
    asm volatile("bar.sync %0, %1;" ::"r"(1 + K_GROUP), "r"(32 * K_PARTS) : "memory");
#endif
}

/* A fragment kept in shared memory: two rows of 16 bytes a thread. */
__device__ __forceinline__ k_fragment k_fragment_get(const k_pair *p)
{
    const k_pair a = p[K_LANE_ID], b = p[32 + K_LANE_ID];
    return {{a.x, a.y, b.x, b.y}};
}
__device__ __forceinline__ void k_fragment_set(k_pair *p, const k_fragment &x)
{
    p[K_LANE_ID] = k_pair{x.v[0], x.v[1]};
    p[32 + K_LANE_ID] = k_pair{x.v[2], x.v[3]};
}

/* The thread's own first value in a tile: row 2q, lane 2g. */
#define K_Q (K_LANE_ID & 3)
#define K_CORNER (2 * K_Q * LANES + (K_LANE_ID >> 2) * 2)

/* An operand in registers. Loads are not staged through shared memory: the scheduler overlaps one
 * warp's loads with another's products, and staging takes first-level cache from the operators. */
template <int F, int ROWS, int STRIDE> struct k_operand;
template <int F, int ROWS> struct k_operand<F, ROWS, 0> {
    enum { N = K_EIGHTS(ROWS), AHEAD = F * N <= 4 && N <= 2 };
    k_left fragments[F][N];
    __device__ __forceinline__ k_operand(unsigned char *) {}
    __device__ __forceinline__ k_left get(int f, int k) const { return fragments[f][k]; }
    __device__ __forceinline__ void begin() {}
    __device__ __forceinline__ bool mine(int) const { return true; }
    __device__ __forceinline__ void put(int f, int k, const k_fragment &x) { fragments[f][k] = k_left_of(x); }
    template <int FIELDS> __device__ __forceinline__ void load(int f, const real *from)
    {
#pragma unroll
        for (int i = 0; i < FIELDS; i++)
#pragma unroll
            for (int k = 0; k < N; k++)
                /* A large operand leaves the cache to the operators. */
                fragments[f + i][k] = k_left_of(k_tile_get<ROWS, LANES, (F * N >= 12)>(
                    from + i * ROWS * LANES + K_CORNER, k, K_Q));
    }
};

/* An operand that stays in shared memory, STRIDE fragments for each group of K_PARTS warps. */
template <int F, int ROWS, int STRIDE> struct k_operand {
    enum { N = K_EIGHTS(ROWS), AHEAD = 0 };
    k_pair *base; /* [F][N][2][32 threads] */
    __device__ __forceinline__ k_operand(unsigned char *shared)
        : base((k_pair *)shared + K_GROUP * (STRIDE * 64))
    {
    }
    __device__ __forceinline__ k_left get(int f, int k) const
    {
        return k_left_of(k_fragment_get(base + (f * N + k) * 64));
    }
    __device__ __forceinline__ void begin() { k_group_sync(); }
    __device__ __forceinline__ bool mine(int k) const { return k % K_PARTS == K_PART; }
    __device__ __forceinline__ void put(int f, int k, const k_fragment &x)
    {
        k_fragment_set(base + (f * N + k) * 64, x);
    }
    template <int FIELDS> __device__ __forceinline__ void load(int f, const real *from)
    {
        k_group_sync();
#pragma unroll
        for (int j = 0; j < FIELDS * N; j++) {
            const int i = j / N, k = j % N;
            if (j % K_PARTS == K_PART)
                k_fragment_set(base + ((f + i) * N + k) * 64,
                               k_tile_get<ROWS, LANES, 0>(from + i * ROWS * LANES + K_CORNER, k, K_Q));
        }
        k_group_sync();
    }
};
#define K_OPERAND(x, F, n) k_operand<F, n, K_IN_SHARED_##x> x(k_shared + K_OFFSET_##x)
#define K_ACCUM(x, F, n) k_fragment x[F][K_EIGHTS(n)]
#define K_POINTS(x, F) k_fragment x[F][K_SUB]

/* Asks the second-level cache for the same rows of a group that will be worked on about one wave of
 * blocks later, so that its loads wait for the cache and not for memory. Worth it where memory is the
 * limit and a wave is small; larger operands would push each other out. */
template <int COUNT, int ROWS, int WANTED>
__device__ __forceinline__ void k_ahead(const real *from, int tile, int tiles)
{
    constexpr int room = (24 << 20) / (ROWS * LANES * (int)sizeof(real)) + 1, ahead = room < 2048 ? room : 2048;
    if (!WANTED || tile + ahead >= tiles) return;
#pragma unroll
    for (int r = K_LANE_ID + 32 * K_PART; r < COUNT; r += 32 * K_PARTS)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(from + ((i64)ahead * ROWS + r) * LANES));
}
#define K_LOAD(x, f, F, n, u, rows, first) \
    do { \
        k_ahead<(F) * (n), rows, decltype(x)::AHEAD>(K_GROUP_AT(u, rows, first), k_w / K_GROUPS, \
                                                     k_t1); \
        x.template load<F>(f, K_GROUP_AT(u, rows, first)); \
    } while (0)

/* The warps of a group have each added up some of the chunks: fragment j is completed, and stored,
 * by warp j % 2; the other passes its share through the operand's memory. */
template <int FIELDS, int ROWS, int F>
__device__ __forceinline__ void k_store(k_fragment (&x)[F][K_EIGHTS(ROWS)], int f, real *p)
{
#if K_PARTS == 2
    k_pair *exchange = (k_pair *)(k_shared + K_EXCHANGE) + K_GROUP * (K_EXCHANGE_STRIDE * 64);
    k_group_sync();
#pragma unroll
    for (int j = 0; j < FIELDS * K_EIGHTS(ROWS); j++)
        if (j % 2 != K_PART)
            k_fragment_set(exchange + j * 64, x[f + j / K_EIGHTS(ROWS)][j % K_EIGHTS(ROWS)]);
    k_group_sync();
#endif
#pragma unroll
    for (int j = 0; j < FIELDS * K_EIGHTS(ROWS); j++) {
        const int i = j / K_EIGHTS(ROWS), k = j % K_EIGHTS(ROWS);
        k_fragment sum = x[f + i][k];
#if K_PARTS == 2
        if (j % 2 != K_PART) continue;
        const k_fragment other = k_fragment_get(exchange + j * 64);
#pragma unroll
        for (int v = 0; v < 4; v++) sum.v[v] += other.v[v];
#endif
        k_tile_set<ROWS, LANES, 1>(p + i * ROWS * LANES + K_CORNER, k, K_Q, sum);
    }
}
#define K_STORE(x, f, F, n, u, rows, first) k_store<F, n>(x, f, K_GROUP_AT(u, rows, first))

/* One warp of a group has what the sums begin with, the other begins with zero. */
template <int FIELDS, int ROWS, int F>
__device__ __forceinline__ void k_sum_load(k_fragment (&x)[F][K_EIGHTS(ROWS)], int f, const real *p)
{
#pragma unroll
    for (int i = 0; i < FIELDS; i++)
#pragma unroll
        for (int k = 0; k < K_EIGHTS(ROWS); k++)
            x[f + i][k] = K_PART == 0 ? k_tile_get<ROWS, LANES, 1>(p + i * ROWS * LANES + K_CORNER, k, K_Q)
                                      : k_fragment{};
}
#define K_SUMLOAD(x, f, F, n, u, rows, first) k_sum_load<F, n>(x, f, K_GROUP_AT(u, rows, first))

#define K_POINTLOAD(y, f, c, n, u, rows, first) \
    K_UNROLL for (int k_s = 0; k_s < K_SUB; k_s++) \
        y[f][k_s] = k_tile_get<n, LANES, 0>(K_GROUP_AT(u, rows, first) + K_CORNER, (c) * K_SUB + k_s, K_Q)
__device__ __forceinline__ void k_point_get(k_fragment &x, int v, const real *row)
{
    const k_pair pair = ((const k_pair *)row)[K_LANE_ID >> 2];
    x.v[v] = pair.x;
    x.v[v + 2] = pair.y;
}
#define K_POINTROWS(y, f, i, c, n, u, rows, row) \
    K_UNROLL for (int k_s = 0; k_s < K_SUB; k_s++) K_UNROLL for (int k_v = 0; k_v < 2; k_v++) \
    { \
        const int i = K_POINT(c, n), k_h = 0; /* the row is the same for both lanes */ \
        (void)i, (void)k_h; \
        k_point_get(y[f][k_s], k_v, K_GROUP_AT(u, rows, row)); \
    }
/* A thread has one quarter of a fragment's rows. */
#define K_QUARTERVAR(type, x) type x[2]
#define K_QUARTERS(f) for (int f = K_Q, k_one = 1; k_one; k_one = 0) K_LANE
#define K_V(x) x[k_h]
#define K_POINTSTORE(y, f, c, n, u, rows, first) \
    K_UNROLL for (int k_s = 0; k_s < K_SUB; k_s++) \
        k_tile_set<n, LANES, 0>(K_GROUP_AT(u, rows, first) + K_CORNER, (c) * K_SUB + k_s, K_Q, y[f][k_s])

/* --- pairs of rows: mirror images, as their sums and differences --- */

/* Pairs 8k + 2q and 8k + 2q + 1 of a table: a, b, a, b. */
__device__ __forceinline__ int4 k_pairs_at(const i32 *pairs, int k)
{
    return __ldg((const int4 *)pairs + k * 4 + K_Q);
}

/* Sums and differences of the rows of pairs 8k … among N, times `scale`; zero behind the last. */
template <int N>
__device__ __forceinline__ void k_pairs_get(const real *from, const i32 *pairs, int k, real scale,
                                            k_fragment &even, k_fragment &odd)
{
    const int4 at = k_pairs_at(pairs, k);
    const real *corner = from + (K_LANE_ID >> 2) * 2;
#pragma unroll
    for (int v = 0; v < 2; v++) {
        const bool valid = k * 8 + 2 * K_Q + v < N;
        const k_pair zero = k_pair{};
        const k_pair a = valid ? *(const k_pair *)(corner + (v ? at.z : at.x) * LANES) : zero;
        const k_pair b = valid ? *(const k_pair *)(corner + (v ? at.w : at.y) * LANES) : zero;
        even.v[v] = scale * (a.x + b.x), even.v[v + 2] = scale * (a.y + b.y);
        odd.v[v] = scale * (a.x - b.x), odd.v[v + 2] = scale * (a.y - b.y);
    }
}

#define K_POINTPAIRS(e, o, f, c, n, u, rows, first, pairs) \
    K_UNROLL for (int k_s = 0; k_s < K_SUB; k_s++) \
        k_pairs_get<n>(K_GROUP_AT(u, rows, first), pairs, (c) * K_SUB + k_s, K_R(1), e[f][k_s], o[f][k_s])

template <int NE, int NO, class Even, class Odd>
__device__ __forceinline__ void k_load_pairs(Even &xe, Odd &xo, int f, const real *from, const i32 *pairs)
{
    xe.begin();
    xo.begin();
#pragma unroll
    for (int k = 0; k < K_EIGHTS(NE); k++) {
        if (!xe.mine(k) && !xo.mine(k)) continue;
        k_fragment even, odd;
        k_pairs_get<NE>(from, pairs, k, K_R(1), even, odd);
        if (xe.mine(k)) xe.put(f, k, even);
        if (xo.mine(k) && k < K_EIGHTS(NO)) xo.put(f, k, odd);
    }
    xe.begin();
    xo.begin();
}
#define K_LOADPAIRS(xe, xo, f, ne, no, u, rows, first, pairs) \
    k_load_pairs<ne, no>(xe, xo, f, K_GROUP_AT(u, rows, first), pairs)

template <int NE, int NO, int F>
__device__ __forceinline__ void k_sum_pairs(k_fragment (&ze)[F][K_EIGHTS(NE)], k_fragment (&zo)[F][K_EIGHTS(NO)],
                                            int f, const real *from, const i32 *pairs)
{
#pragma unroll
    for (int k = 0; k < K_EIGHTS(NE); k++) {
        k_fragment even = {}, odd = {};
        if (K_PART == 0) k_pairs_get<NE>(from, pairs, k, K_R(0.5), even, odd);
        ze[f][k] = even;
        if (k < K_EIGHTS(NO)) zo[f][k] = odd;
    }
}
#define K_SUMPAIRS(ze, zo, f, ne, no, u, rows, first, pairs) \
    k_sum_pairs<ne, no>(ze, zo, f, K_GROUP_AT(u, rows, first), pairs)

/* What the warps of a group have of a sum in all, as in k_store: fragment k is completed by warp k % 2. */
template <int NE, int NO, int F>
__device__ __forceinline__ void k_store_pairs(k_fragment (&ze)[F][K_EIGHTS(NE)],
                                              k_fragment (&zo)[F][K_EIGHTS(NO)], int f, real *to,
                                              const i32 *pairs)
{
#if K_PARTS == 2
    k_pair *exchange = (k_pair *)(k_shared + K_EXCHANGE) + K_GROUP * (K_EXCHANGE_STRIDE * 64);
    k_group_sync();
#pragma unroll
    for (int k = 0; k < K_EIGHTS(NE); k++) {
        if (k % 2 == K_PART) continue;
        k_fragment_set(exchange + k * 64, ze[f][k]);
        if (k < K_EIGHTS(NO)) k_fragment_set(exchange + (K_EIGHTS(NE) + k) * 64, zo[f][k]);
    }
    k_group_sync();
#endif
    real *corner = to + (K_LANE_ID >> 2) * 2;
#pragma unroll
    for (int k = 0; k < K_EIGHTS(NE); k++) {
        k_fragment even = ze[f][k], odd = k < K_EIGHTS(NO) ? zo[f][k] : k_fragment{};
#if K_PARTS == 2
        if (k % 2 != K_PART) continue;
        const k_fragment e = k_fragment_get(exchange + k * 64);
        const k_fragment o = k < K_EIGHTS(NO) ? k_fragment_get(exchange + (K_EIGHTS(NE) + k) * 64)
                                              : k_fragment{};
#pragma unroll
        for (int v = 0; v < 4; v++) even.v[v] += e.v[v], odd.v[v] += o.v[v];
#endif
        const int4 at = k_pairs_at(pairs, k);
#pragma unroll
        for (int v = 0; v < 2; v++) {
            const int row = k * 8 + 2 * K_Q + v;
            const real d = row < NO ? odd.v[v] : K_R(0), h = row < NO ? odd.v[v + 2] : K_R(0);
            if (row >= NE) continue;
            __stcs((k_pair *)(corner + (v ? at.z : at.x) * LANES),
                   k_pair{even.v[v] + d, even.v[v + 2] + h});
            if (row < NO)
                __stcs((k_pair *)(corner + (v ? at.w : at.y) * LANES),
                       k_pair{even.v[v] - d, even.v[v + 2] - h});
        }
    }
}
#define K_STOREPAIRS(ze, zo, f, ne, no, u, rows, first, pairs) \
    k_store_pairs<ne, no>(ze, zo, f, K_GROUP_AT(u, rows, first), pairs)

/* Quarters 0 and 2 exchange what they have of b. */
__device__ __forceinline__ void k_fold(k_fragment &even, k_fragment &odd, const k_fragment &a,
                                       const k_fragment &b)
{
    const int from = K_LANE_ID ^ (K_Q & 1 ? 0 : 2);
#pragma unroll
    for (int v = 0; v < 4; v++) {
        const real x = a.v[v], y = __shfl_sync(0xffffffffu, b.v[v], from);
        even.v[v] = x + y;
        odd.v[v] = x - y;
    }
}
#define K_FOLD(e, o, f, a, b) K_NEEDS_CHUNKS_OF_8, k_fold(e[f][0], o[f][0], a[f][0], b[f][0])

#define K_POINTPUT(y, f, i, c, n, u, rows, condition, row) \
    K_UNROLL for (int k_s = 0; k_s < K_SUB; k_s++) K_UNROLL for (int k_v = 0; k_v < 2; k_v++) \
    { \
        const int i = K_POINT(c, n), k_h = 0; /* the row is the same for both lanes */ \
        (void)i, (void)k_h; \
        k_point_put(y[f][k_s], k_v, K_GROUP_AT(u, rows, row), condition); \
    }
__device__ __forceinline__ void k_point_put(const k_fragment &x, int v, real *row, bool counts)
{
    if (counts) ((k_pair *)row)[K_LANE_ID >> 2] = k_pair{x.v[v], x.v[v + 2]};
}

#define K_TAKE(y, f, c, z, g) \
    K_UNROLL for (int k_s = 0; k_s < K_SUB; k_s++) y[f][k_s] = z[g][(c) * K_SUB + k_s]
#define K_GIVE(z, g, c, y, f) \
    K_UNROLL for (int k_s = 0; k_s < K_SUB; k_s++) z[g][(c) * K_SUB + k_s] = y[f][k_s]

#define K_ZERO(x, F, n) \
    K_UNROLL for (int k_f = 0; k_f < (F); k_f++) \
        K_UNROLL for (int k_k = 0; k_k < K_EIGHTS(n); k_k++) x[k_f][k_k] = k_fragment{}

#if K_UNROLL_CHUNKS
#define K_CHUNKS(c, n) K_UNROLL for (int c = K_PART; c < K_CHUNK_COUNT(n); c += K_PARTS)
#else
#define K_CHUNKS(c, n) \
    _Pragma("unroll 1") for (int c = K_PART; c < K_CHUNK_COUNT(n); c += K_PARTS)
#endif
#define K_EACH \
    K_UNROLL for (int k_s = 0; k_s < K_SUB; k_s++) K_UNROLL for (int k_v = 0; k_v < 4; k_v++) \
        for (int k_h = k_v >> 1, lane = k_l0 + (K_LANE_ID >> 2) * 2 + k_h, k_go = 1; k_go; k_go = 0)
#define K_Y(x, f) x[f][k_s].v[k_v]
#define K_POINT(c, n) K_MIN((c) * K_FN + k_s * 8 + 2 * K_Q + (k_v & 1), (n) - 1)

template <int F, int M, int K, class Operand>
__device__ __forceinline__ void k_mul(k_fragment (&y)[F][K_SUB], const real *A, int c,
                                      const Operand &x)
{
#pragma unroll
    for (int f = 0; f < F; f++)
#pragma unroll
        for (int s = 0; s < K_SUB; s++) y[f][s] = k_fragment{};
    const k_right *row[K_SUB];
#pragma unroll
    for (int s = 0; s < K_SUB; s++) /* the last chunk may have fewer eights: repeat the last */
        row[s] = k_operator(A, K_MIN(c * K_SUB + s, K_EIGHTS(M) - 1), 0, K, K_LANE_ID);
#pragma unroll
    for (int k = 0; k < K_EIGHTS(K); k++) {
        k_right a[K_SUB];
#pragma unroll
        for (int s = 0; s < K_SUB; s++) a[s] = row[s][k * 32];
#pragma unroll
        for (int f = 0; f < F; f++) {
            const k_left v = x.get(f, k);
#pragma unroll
            for (int s = 0; s < K_SUB; s++) k_mma(y[f][s], v, a[s]);
        }
    }
}
#define K_MUL(y, F, A, M, K, c, x) k_mul<F, M, K>(y, A, c, x)

template <int F, int M, int K>
__device__ __forceinline__ void k_muladd(k_fragment (&z)[F][K_EIGHTS(M)], const real *P, int c,
                                         const k_fragment (&y)[F][K_SUB])
{
#pragma unroll
    for (int s = 0; s < K_SUB; s++)
        if (K_EIGHTS(K) % K_SUB == 0 || c * K_SUB + s < K_EIGHTS(K)) {
            const k_right *column = k_operator(P, 0, c * K_SUB + s, K, K_LANE_ID);
            k_left left[F];
#pragma unroll
            for (int f = 0; f < F; f++) left[f] = k_left_of(y[f][s]);
#pragma unroll
            for (int m = 0; m < K_EIGHTS(M); m++) {
                const k_right p = column[m * (K_EIGHTS(K) * 32)];
#pragma unroll
                for (int f = 0; f < F; f++) k_mma(z[f][m], left[f], p);
            }
        }
}
#define K_MULADD(z, F, P, M, K, c, y) k_muladd<F, M, K>(z, P, c, y)
#endif
