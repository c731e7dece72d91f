/* The kernel language on a CPU: a tile at a time, a vector loop over its lanes. */
#include <math.h>
#include <stdint.h>

typedef double f64;
typedef float f32;
typedef int64_t i64;
typedef int32_t i32;
typedef uint32_t u32;
typedef uint64_t u64;
typedef uint8_t u8;

#define K_INFINITY K_R(INFINITY)
#define K_NAN K_R(NAN)

#include "device/dialect/common.k.h"

#define K_LD LANES
#define K_GLOBAL
#define K_LOCAL
#define K_FUNC static inline __attribute__((always_inline))
#define K_CONSTANT static const
#define K_INLINE static inline __attribute__((always_inline))
/* clang unrolls a loop of so few rounds before it thinks of vectors, unless it is told all of it. */
#ifdef __clang__
#define K_PRAGMA(x) _Pragma(#x)
#define K_PRAGMA_WITH(x) K_PRAGMA(x)
#define K_SIMD(vectors) \
    K_PRAGMA_WITH(clang loop vectorize(assume_safety) vectorize_width(K_VN) \
                      interleave_count(vectors) unroll(disable))
#define K_UNROLL _Pragma("clang loop unroll(full)")
#define K_ROLLED _Pragma("clang loop unroll(disable)")
#elif defined(__GNUC__)
#define K_SIMD(vectors) _Pragma("omp simd")
#define K_UNROLL _Pragma("GCC unroll 64")
#define K_ROLLED _Pragma("GCC unroll 1")
#else
#define K_SIMD(vectors)
#define K_UNROLL
#define K_ROLLED
#endif

#define K_BEGIN(name) static void name(const i64 k_t0, const i64 k_t1
#define K_END )
#define K_ARG_IN(type, x) , const type *restrict const x
#define K_ARG_OUT(type, x) , type *restrict const x
#define K_ARG_INOUT(type, x) , type *restrict const x
#define K_ARG_VAL(type, x) , const type x
#define K_ARG_OP(type, x) , const type *restrict const x

#define K_TILES(t) for (i64 t = k_t0; t < k_t1; t++)
#define K_STOP k_t1
#define K_LEAVE_OUT(condition) \
    if (condition) continue;
#define K_ROWS(i, n) for (int i = 0, k_i = 0; i < (n); i++, k_i++)
#define K_NODES(i, n) K_ROWS(i, n) K_LANE
#define K_SHARED(type, x, n) _Alignas(64) type x[n][K_LD]
#define K_PRIVATE(type, x, n) _Alignas(64) type x[n][LANES]
#define K_P(x) x[k_i][lane]
#define K_SYNC ((void)0)

/* --- vectors of exactly the register width, or less where a tile is narrower -------------------- */

#if defined(__AVX512F__)
#define K_REGISTER_BYTES 64
#define K_ROW_BLOCK 12
#elif defined(__AVX__)
#define K_REGISTER_BYTES 32
#define K_ROW_BLOCK 6
#else
#define K_REGISTER_BYTES 16
#define K_ROW_BLOCK 6
#endif
#define K_LANE_BYTES (LANES * K_REAL / 8)
#if !defined(__GNUC__) /* no vector types: the same code in scalars */
#define K_PLAIN 1
#endif
#if K_PLAIN
#define K_VECTOR_BYTES (K_REAL / 8)
#else
#define K_VECTOR_BYTES (K_LANE_BYTES < K_REGISTER_BYTES ? K_LANE_BYTES : K_REGISTER_BYTES)
#endif
#define K_VN (K_VECTOR_BYTES * 8 / K_REAL)
#define K_LINE (64 * 8 / K_REAL) /* values in a cache line */

#if K_PLAIN
typedef real k_vector;
#define k_prefetch(p, level) ((void)0)
#else
typedef real k_vector __attribute__((vector_size(K_VECTOR_BYTES), may_alias));
#define k_prefetch(p, level) __builtin_prefetch(p, 0, level)
#endif
#define k_set(x) ((x) - (k_vector){0})
K_INLINE k_vector k_load(const real *p) { return *(const k_vector *)p; }
K_INLINE void k_store(real *p, k_vector v) { *(k_vector *)p = v; }

/* Vectors of lanes as values: K_VECTORS is K_NODES with `lane` the first of K_VN lanes. */
#define K_VECTORS(i, n) K_ROWS(i, n) for (int lane = 0; lane < LANES; lane += K_VN)
#define K_UNCUT(bound) ((bound) <= lane || lane + K_VN <= (bound))
#if K_PLAIN
typedef real vreal;
#define K_GET(p) ((p)[lane])
#define K_SET(p, x) ((p)[lane] = (x))
#define K_GATHER(p, at) ((p)[(at)[lane]])
#define K_BELOW(bound, a, b) (lane < (bound) ? (a) : (b))
#define K_UP(x, before) (before)
#define K_ALL(x) (x)
#define K_VMAX(x, y) K_MAX(x, y)
#define K_VABS(x) K_ABS(x)
typedef int k_mask;
#define K_LANES(bits) ((bits) >> lane & 1)
#define K_PICK(lanes, a, b) ((lanes) ? (a) : (b))
#else
typedef real vreal __attribute__((vector_size(K_VECTOR_BYTES)));
typedef real k_any_vector __attribute__((vector_size(K_VECTOR_BYTES), may_alias, aligned(K_REAL / 8)));
#if K_REAL == 64
typedef i64 k_mask __attribute__((vector_size(K_VECTOR_BYTES)));
#define K_ALL_BUT_SIGN INT64_MAX
#else
typedef i32 k_mask __attribute__((vector_size(K_VECTOR_BYTES)));
#define K_ALL_BUT_SIGN INT32_MAX
#endif
#define K_GET(p) ((vreal)*(const k_any_vector *)((p) + lane))
#define K_SET(p, x) (*(k_any_vector *)((p) + lane) = (x))
K_INLINE vreal k_pick(k_mask is, vreal a, vreal b)
{
    return (vreal)((is & (k_mask)a) | (~is & (k_mask)b));
}
K_INLINE vreal k_below(int bound, vreal a, vreal b)
{
    k_mask number;
    for (int i = 0; i < K_VN; i++) number[i] = i;
    return k_pick(number < (k_mask){0} + bound, a, b);
}
K_INLINE k_mask k_lanes(int bits)
{
    k_mask bit;
    for (int i = 0; i < K_VN; i++) bit[i] = 1 << i;
    return ((k_mask){0} + bits & bit) == bit;
}
#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector)
#define K_SHUFFLES 1
#endif
#endif
K_INLINE vreal k_up(vreal x, vreal before)
{
#if !K_SHUFFLES /* older compilers */
    vreal y;
    y[0] = before[K_VN - 1];
    for (int i = 1; i < K_VN; i++) y[i] = x[i - 1];
    return y;
#elif K_VN == 8
    return __builtin_shufflevector(before, x, 7, 8, 9, 10, 11, 12, 13, 14);
#elif K_VN == 4
    return __builtin_shufflevector(before, x, 3, 4, 5, 6);
#elif K_VN == 2
    return __builtin_shufflevector(before, x, 1, 2);
#elif K_VN == 16
    return __builtin_shufflevector(before, x, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
                                   29, 30);
#else /* one lane */
    (void)x;
    return before;
#endif
}
/* One value after the other: processors gather vectors no faster, and many slower. */
K_INLINE vreal k_gather(const real *p, const i64 *at)
{
#if K_VN == 16
    return (vreal){p[at[0]],  p[at[1]],  p[at[2]],  p[at[3]], p[at[4]],  p[at[5]],
                   p[at[6]],  p[at[7]],  p[at[8]],  p[at[9]], p[at[10]], p[at[11]],
                   p[at[12]], p[at[13]], p[at[14]], p[at[15]]};
#elif K_VN == 8
    return (vreal){p[at[0]], p[at[1]], p[at[2]], p[at[3]], p[at[4]], p[at[5]], p[at[6]], p[at[7]]};
#elif K_VN == 4
    return (vreal){p[at[0]], p[at[1]], p[at[2]], p[at[3]]};
#else
    vreal x;
    for (int i = 0; i < K_VN; i++) x[i] = p[at[i]];
    return x;
#endif
}
/* Compilers take vectors apart for it, or compare and choose. */
K_INLINE vreal k_vmax(vreal a, vreal b)
{
#if defined(__AVX__) && K_REAL == 64 && K_VN > 1
    vreal y;
    __asm__("vmaxpd %2, %1, %0" : "=v"(y) : "v"(a), "vm"(b));
    return y;
#elif defined(__AVX__) && K_REAL == 32 && K_VN > 3
    vreal y;
    __asm__("vmaxps %2, %1, %0" : "=v"(y) : "v"(a), "vm"(b));
    return y;
#else
    return k_pick(a > b, a, b);
#endif
}
K_INLINE vreal k_vabs(vreal x) { return (vreal)((k_mask)x & ((k_mask){0} + K_ALL_BUT_SIGN)); }
#define K_VMAX(x, y) k_vmax(x, y)
#define K_VABS(x) k_vabs(x)
#define K_GATHER(p, at) k_gather(p, (at) + lane)
#define K_BELOW(bound, a, b) k_below((bound) - lane, a, b)
#define K_UP(x, before) k_up(x, before)
#define K_ALL(x) ((vreal){0} + (x))
#define K_LANES(bits) k_lanes((bits) >> lane)
#define K_PICK(lanes, a, b) k_pick(lanes, a, b)
#endif

/* Four values in a row of each lane as four vectors, x[j] = p[at[lane] + j], and back: lanes stand `pitch`
 * values apart. By shuffles of vectors that hold the fours of several lanes. */
#if K_PLAIN
#define K_GATHER4(p, at, x) \
    for (int k_j = 0; k_j < 4; k_j++) (x)[k_j] = (p)[(at)[lane] + k_j]
#define K_SPREAD4(p, pitch, x) \
    for (int k_j = 0; k_j < 4; k_j++) (p)[lane * (pitch) + k_j] = (x)[k_j]
#else
#define K_GATHER4(p, at, x) k_gather4(p, (at) + lane, x)
#define K_SPREAD4(p, pitch, x) k_spread4((p) + lane * (pitch), pitch, x)
typedef real k_four __attribute__((vector_size(4 * K_REAL / 8), may_alias, aligned(K_REAL / 8)));
#define k_four_at(p) (*(const k_four *)(p))
#define k_put_four(p, x, ...) (*(k_four *)(p) = __builtin_shufflevector(x, x, __VA_ARGS__))
#define k_mix __builtin_shufflevector

#if K_SHUFFLES && K_REAL == 64 && K_VN == 8
#define K_FOURS 1
#define K_LOW(a, b) k_mix(a, b, 0, 8, 2, 10, 4, 12, 6, 14)
#define K_HIGH(a, b) k_mix(a, b, 1, 9, 3, 11, 5, 13, 7, 15)
#ifdef __clang__
#define k_two_fours(i, j) \
    k_mix(k_four_at(p + at[i]), k_four_at(p + at[j]), 0, 1, 2, 3, 4, 5, 6, 7)
#else /* gcc knows no other way to bring the second from memory to its place at once */
#define k_two_fours(i, j) \
    ((vreal)__builtin_ia32_insertf64x4_mask( \
        __builtin_ia32_pd512_256pd(k_four_at(p + at[i])), k_four_at(p + at[j]), 1, (vreal){0}, 255))
#endif
K_INLINE void k_gather4(const real *p, const i32 *at, vreal x[4])
{
    const vreal a = k_two_fours(0, 2), b = k_two_fours(1, 3);
    const vreal c = k_two_fours(4, 6), d = k_two_fours(5, 7);
    x[0] = k_mix(K_LOW(a, b), K_LOW(c, d), 0, 1, 4, 5, 8, 9, 12, 13);
    x[1] = k_mix(K_HIGH(a, b), K_HIGH(c, d), 0, 1, 4, 5, 8, 9, 12, 13);
    x[2] = k_mix(K_LOW(a, b), K_LOW(c, d), 2, 3, 6, 7, 10, 11, 14, 15);
    x[3] = k_mix(K_HIGH(a, b), K_HIGH(c, d), 2, 3, 6, 7, 10, 11, 14, 15);
}
K_INLINE void k_spread_fours(real *p, const i64 pitch, vreal a, vreal b)
{
    const vreal c = k_mix(a, b, 0, 1, 8, 9, 2, 3, 10, 11), d = k_mix(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
    k_put_four(p, c, 0, 1, 2, 3);
    k_put_four(p + 2 * pitch, c, 4, 5, 6, 7);
    k_put_four(p + 4 * pitch, d, 0, 1, 2, 3);
    k_put_four(p + 6 * pitch, d, 4, 5, 6, 7);
}
K_INLINE void k_spread4(real *p, const i64 pitch, const vreal x[4])
{
    k_spread_fours(p, pitch, K_LOW(x[0], x[1]), K_LOW(x[2], x[3]));
    k_spread_fours(p + pitch, pitch, K_HIGH(x[0], x[1]), K_HIGH(x[2], x[3]));
}

#elif K_SHUFFLES && K_REAL == 64 && K_VN == 4
#define K_FOURS 1
#define K_LOW(a, b) k_mix(a, b, 0, 4, 2, 6)
#define K_HIGH(a, b) k_mix(a, b, 1, 5, 3, 7)
K_INLINE void k_turn4(vreal a, vreal b, vreal c, vreal d, vreal x[4])
{
    x[0] = k_mix(K_LOW(a, b), K_LOW(c, d), 0, 1, 4, 5);
    x[1] = k_mix(K_HIGH(a, b), K_HIGH(c, d), 0, 1, 4, 5);
    x[2] = k_mix(K_LOW(a, b), K_LOW(c, d), 2, 3, 6, 7);
    x[3] = k_mix(K_HIGH(a, b), K_HIGH(c, d), 2, 3, 6, 7);
}
K_INLINE void k_gather4(const real *p, const i32 *at, vreal x[4])
{
    k_turn4(k_four_at(p + at[0]), k_four_at(p + at[1]), k_four_at(p + at[2]), k_four_at(p + at[3]), x);
}
K_INLINE void k_spread4(real *p, const i64 pitch, const vreal x[4])
{
    vreal y[4];
    k_turn4(x[0], x[1], x[2], x[3], y);
    for (int i = 0; i < 4; i++) *(k_four *)(p + i * pitch) = y[i];
}

#elif K_SHUFFLES && K_REAL == 32 && (K_VN == 16 || K_VN == 8 || K_VN == 4)
#define K_FOURS 1
/* Fours of lanes 4 i + j stand in vector j, which is four by four as many times as it is long. */
#if K_VN == 16
#define K_LOW(a, b) k_mix(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)
#define K_HIGH(a, b) k_mix(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31)
#define K_LOW2(a, b) k_mix(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29)
#define K_HIGH2(a, b) k_mix(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)
#define k_two_fours(i) \
    k_mix(k_four_at(p + at[i]), k_four_at(p + at[(i) + 4]), 0, 1, 2, 3, 4, 5, 6, 7)
#define k_fours_of(i) \
    k_mix(k_two_fours(i), k_two_fours((i) + 8), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#elif K_VN == 8
#define K_LOW(a, b) k_mix(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define K_HIGH(a, b) k_mix(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define K_LOW2(a, b) k_mix(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define K_HIGH2(a, b) k_mix(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define k_fours_of(i) \
    k_mix(k_four_at(p + at[i]), k_four_at(p + at[(i) + 4]), 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define K_LOW(a, b) k_mix(a, b, 0, 4, 1, 5)
#define K_HIGH(a, b) k_mix(a, b, 2, 6, 3, 7)
#define K_LOW2(a, b) k_mix(a, b, 0, 1, 4, 5)
#define K_HIGH2(a, b) k_mix(a, b, 2, 3, 6, 7)
#define k_fours_of(i) k_four_at(p + at[i])
#endif
K_INLINE void k_turn4(vreal a, vreal b, vreal c, vreal d, vreal x[4])
{
    x[0] = K_LOW2(K_LOW(a, b), K_LOW(c, d));
    x[1] = K_HIGH2(K_LOW(a, b), K_LOW(c, d));
    x[2] = K_LOW2(K_HIGH(a, b), K_HIGH(c, d));
    x[3] = K_HIGH2(K_HIGH(a, b), K_HIGH(c, d));
}
K_INLINE void k_gather4(const real *p, const i32 *at, vreal x[4])
{
    k_turn4(k_fours_of(0), k_fours_of(1), k_fours_of(2), k_fours_of(3), x);
}
K_INLINE void k_spread4(real *p, const i64 pitch, const vreal x[4])
{
    vreal y[4];
    k_turn4(x[0], x[1], x[2], x[3], y);
    for (int i = 0; i < 4; i++) {
        k_put_four(p + i * pitch, y[i], 0, 1, 2, 3);
#if K_VN >= 8
        k_put_four(p + (i + 4) * pitch, y[i], 4, 5, 6, 7);
#endif
#if K_VN == 16
        k_put_four(p + (i + 8) * pitch, y[i], 8, 9, 10, 11);
        k_put_four(p + (i + 12) * pitch, y[i], 12, 13, 14, 15);
#endif
    }
}
#endif

#if !K_FOURS /* other widths, older compilers */
K_INLINE void k_gather4(const real *p, const i32 *at, vreal x[4])
{
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < K_VN; i++) x[j][i] = p[at[i] + j];
}
K_INLINE void k_spread4(real *p, const i64 pitch, const vreal x[4])
{
    for (int i = 0; i < K_VN; i++)
        for (int j = 0; j < 4; j++) p[i * pitch + j] = x[j][i];
}
#endif
#endif

/* Keeps a vector that several sums need in a register; compilers would read it again for each of them. */
#if K_PLAIN || K_VECTOR_BYTES < 16
#define K_HOLD(x) ((void)0)
#elif defined(__x86_64__)
#define K_HOLD(x) __asm__("" : "+v"(x))
#elif defined(__aarch64__)
#define K_HOLD(x) __asm__("" : "+w"(x))
#else
#define K_HOLD(x) ((void)0)
#endif

/* Lets what is read through pointer p in a loop be read in each round, where compilers would copy more of it to the
 * stack than registers hold. */
#ifdef __GNUC__
#define K_RENEW(p) __asm__("" : "+r"(p))
#else
#define K_RENEW(p) ((void)0)
#endif

/* Stores past the cache, for output larger than it that is not read again soon. */
#if K_PLAIN || !K_STREAMING
K_INLINE void k_stream(real *p, k_vector v) { k_store(p, v); }
#elif defined(__clang__)
K_INLINE void k_stream(real *p, k_vector v) { __builtin_nontemporal_store(v, (k_vector *)p); }
#elif defined(__AVX512F__) && K_LANE_BYTES >= 64 && K_REAL == 64
typedef double k_stream_vector __attribute__((vector_size(64)));
K_INLINE void k_stream(real *p, k_vector v) { __builtin_ia32_movntpd512(p, (k_stream_vector)v); }
#elif defined(__AVX512F__) && K_LANE_BYTES >= 64
typedef float k_stream_vector __attribute__((vector_size(64)));
K_INLINE void k_stream(real *p, k_vector v) { __builtin_ia32_movntps512(p, (k_stream_vector)v); }
#elif defined(__AVX__) && K_LANE_BYTES >= 32 && K_REGISTER_BYTES == 32 && K_REAL == 64
typedef double k_stream_vector __attribute__((vector_size(32)));
K_INLINE void k_stream(real *p, k_vector v) { __builtin_ia32_movntpd256(p, (k_stream_vector)v); }
#elif defined(__AVX__) && K_LANE_BYTES >= 32 && K_REGISTER_BYTES == 32
typedef float k_stream_vector __attribute__((vector_size(32)));
K_INLINE void k_stream(real *p, k_vector v) { __builtin_ia32_movntps256(p, (k_stream_vector)v); }
#else
K_INLINE void k_stream(real *p, k_vector v) { k_store(p, v); }
#endif
#define K_SEND(p, x) k_stream((p) + lane, (k_vector)(x))
#if K_STREAMING && !K_PLAIN && defined(__SSE2__)
#define K_LEAVE() __builtin_ia32_sfence()
#else
#define K_LEAVE() ((void)0)
#endif

/* The number of the lowest bit of x, of which one is set. */
#ifdef __GNUC__
#define K_LOWEST(x) __builtin_ctzll(x)
#else
K_INLINE int k_lowest(u64 x)
{
    int i = 0;
    while (!(x >> i & 1)) i++;
    return i;
}
#define K_LOWEST(x) k_lowest(x)
#endif

/* A hint that the cache line at p will be wanted in a while. */
#define K_SOON(p) ((void)0)
#define K_FETCH(p) k_prefetch(p, 2)

/* Copies n rows of a tile to global memory. */
#define K_PUT(n, X, p) K_PUT_BLOCK(n, X, p)
#define K_PUT_BLOCK(n, xg, x, p) k_put(n, x, p)
K_INLINE void k_put(const int n, const real *x, real *p)
{
    for (int i = 0; i < n * LANES; i += K_VN) k_stream(p + i, k_load(x + i));
}

/* --- K_GEMM: rows blocked in registers, at most two vectors of lanes at a time ------------------ */

/* Rows [r0, r0 + R) of A times V vectors of lanes; X and Y have `stride` values from row to row.
 * Fetches K cache lines from `ahead` on the way, if it is given. */
K_INLINE void k_gemm_rows(const int r0, const int R, const int V, const int K, const real *restrict A,
                          const real *X, real *Y, const int stride, const real *ahead,
                          const int add, const int stream)
{
    k_vector sum[12][2];
    K_UNROLL for (int r = 0; r < R; r++) K_UNROLL for (int v = 0; v < V; v++)
        sum[r][v] = add ? k_load(Y + r * stride + v * K_VN) : (k_vector){0};
    for (int k = 0; k < K; k++) {
        k_vector x[2];
        if (ahead) k_prefetch(ahead + k * K_LINE, 3);
        K_UNROLL for (int v = 0; v < V; v++) x[v] = k_load(X + k * stride + v * K_VN);
        K_UNROLL for (int r = 0; r < R; r++) {
            const real a = A[K_PACKED(r0 + r, k, K)];
            K_UNROLL for (int v = 0; v < V; v++) sum[r][v] += a * x[v];
        }
    }
    K_UNROLL for (int r = 0; r < R; r++) K_UNROLL for (int v = 0; v < V; v++)
    {
        if (stream) k_stream(Y + r * stride + v * K_VN, sum[r][v]);
        else k_store(Y + r * stride + v * K_VN, sum[r][v]);
    }
}

/* Steps of at most 12 rows, equal and multiples of 4 but for the last; a step is one block of rows
 * with 32 registers, two with 16. */
#define K_STEPS(M) (((M) + 11) / 12)
#define K_STEP(M) ((((M) + K_STEPS(M) - 1) / K_STEPS(M) + 3) / 4 * 4)

K_INLINE void k_gemm_step(const int R, const int V, const int K, const real *restrict A,
                          const real *x, real *y, const int stride, const real *ahead,
                          const int add, const int stream)
{
    if (R <= K_ROW_BLOCK) {
        k_gemm_rows(0, R, V, K, A, x, y, stride, ahead, add, stream);
    } else {
        const int half = (R + 1) / 2;
        k_gemm_rows(0, half, V, K, A, x, y, stride, ahead, add, stream);
        k_gemm_rows(half, R - half, V, K, A, x, y + half * stride, stride, ahead ? x : 0, add,
                    stream);
    }
}

/* `stream`: Y goes to memory; `fetch`: X comes from there. Large products then fetch the next tile
 * while they work on this one, a line of it with each row, or memory would rest but for the first
 * block of rows; for small ones the processor's own look-ahead is better. */
K_INLINE void k_gemm(const int add, const int M, const int K, const int S, const int L,
                     const real *restrict A, const real *X, real *Y, const int stream,
                     const int fetch)
{
    const int R = K_STEP(M), V = LANES / K_VN >= 2 ? 2 : 1, tail = M % R, stride = S * LANES;
    for (int o = 0; o < L; o++)
        for (int s = 0; s < S; s++)
            for (int lane = 0; lane < LANES; lane += V * K_VN) {
                const real *x = X + (o * K * S + s) * LANES + lane;
                real *y = Y + (o * M * S + s) * LANES + lane;
                const real *next = fetch && M > 32 ? X + K * S * L * LANES : 0;
                for (int m = 0; m + R <= M; m += R)
                    k_gemm_step(R, V, K, A + m * K_PADDED(K), x, y + m * stride, stride,
                                !next       ? 0
                                : m < 2 * R ? next + m / R * K * K_LINE
                                            : x,
                                add, stream);
                if (tail)
                    k_gemm_step(tail, V, K, A + (M - tail) * K_PADDED(K), x,
                                y + (M - tail) * stride, stride,
                                next ? x : 0, add, stream);
            }
}

#define K_GEMM_BLOCK(ADD, M, K, S, L, A, xg, x, yg, y) \
    k_gemm(ADD, M, K, S, L, A, x, y, (yg) && !(ADD), K_STREAMING && (xg))

/* --- K_PRODUCT: the same for one vector of lanes ------------------------------------------------- */

#define K_PRODUCT(M, K, A, x, y) k_product(0, M, K, A, x, y)
#define K_PRODUCT_ADD(M, K, A, x, y) k_product(1, M, K, A, x, y)
/* Rows in registers at a time. */
#define K_PRODUCT_ROWS (K_REGISTER_BYTES == 64 ? 24 : 12)
/* Products with so many values of A or less have no loops. */
#define K_PRODUCT_SMALL 300

/* Operators are read where they are used: compilers would bring all values that small products need into registers
 * before the loop over tiles, more than there are, and put them aside again. */
#ifdef __GNUC__
#define k_reread(A) __asm__ volatile("" : "+r"(A))
#else
#define k_reread(A) ((void)0)
#endif

/* Each row has two sums where there are few rows, as additions that wait for one another take longer than all else. */
K_INLINE void k_product_rows(const int R, const int K, const int small, const int add,
                             const real *restrict A, const vreal *x, vreal *y)
{
    const int sums = small && R <= 4 && K >= 6 ? 2 : 1;
    vreal sum[2][24];
    K_UNROLL for (int s = 0; s < sums; s++) K_UNROLL for (int r = 0; r < R; r++)
        sum[s][r] = A[K_PACKED(r, s, K)] * x[s];
    if (add) K_UNROLL for (int r = 0; r < R; r++) sum[0][r] += y[r];
    if (small) {
        K_UNROLL for (int k = sums; k < K; k++) K_UNROLL for (int r = 0; r < R; r++)
            sum[k % sums][r] += A[K_PACKED(r, k, K)] * x[k];
    } else {
        for (int k = 1; k < K; k++) K_UNROLL for (int r = 0; r < R; r++)
            sum[0][r] += A[K_PACKED(r, k, K)] * x[k];
    }
    K_UNROLL for (int r = 0; r < R; r++) y[r] = sums == 2 ? sum[0][r] + sum[1][r] : sum[0][r];
}

K_INLINE void k_product(const int add, const int M, const int K, const real *restrict A, const vreal *x,
                        vreal *y)
{
    const int steps = (M + K_PRODUCT_ROWS - 1) / K_PRODUCT_ROWS;
    const int R = ((M + steps - 1) / steps + 3) / 4 * 4, small = M * K <= K_PRODUCT_SMALL;
    k_reread(A);
    for (int m = 0; m + R <= M; m += R)
        k_product_rows(R, K, small, add, A + m * K_PADDED(K), x, y + m);
    if (M % R)
        k_product_rows(M % R, K, small, add, A + M / R * R * K_PADDED(K), x, y + M / R * R);
}

/* --- level 1: K_LANE is all lanes; level 2: one register of lanes ------------------------------- */

#if K_LEVEL == 1
#define K_LANE K_SIMD(LANES / K_VN) for (int lane = 0; lane < LANES; lane++)
#define K_LANEVAR(type, x) _Alignas(64) type x[LANES]
#define K_L(x) x[lane]
#else
#if K_FN != 4 && K_FN != 8
#error K_FN is 4 or 8 here: operators are packed by 4 rows and padded to 8
#endif
#define K_FL K_VN
#define K_LANE K_SIMD(1) for (int k_h = 0; k_h < K_FL; k_h++)
#define lane (k_l0 + k_h)
#define K_LANEVAR(type, x) _Alignas(64) type x[K_FL]
#define K_L(x) x[k_h]

#define K_WARPS(t) \
    for (i64 t = k_t0, k_t = t; t < k_t1; k_t = ++t) \
        for (int k_l0 = 0; k_l0 < LANES; k_l0 += K_FL)
#define K_OPERAND(x, F, n) _Alignas(64) real x[F][K_PADDED(n)][K_FL]
#define K_ACCUM(x, F, n) _Alignas(64) real x[F][K_PADDED(n)][K_FL]
#define K_POINTS(x, F) _Alignas(64) real x[F][K_FN][K_FL]
#define K_CHUNKS(c, n) for (int c = 0; c < K_CHUNK_COUNT(n); c++)
#define K_EACH for (int k_q = 0; k_q < K_FN; k_q++) K_LANE
#define K_Y(x, f) x[f][k_q][k_h]
#define K_POINT(c, n) K_MIN((c) * K_FN + k_q, (n) - 1)

/* So far ahead of what is loaded what will be wanted is asked for: whole tiles, 1024 bytes or more. */
#define K_NEXT(rows) \
    ((1023 + (rows) * K_LANE_BYTES) / ((rows) * K_LANE_BYTES) * ((rows) * LANES))

K_INLINE k_vector k_load_next(const real *p, const int next)
{
    k_prefetch(p + next, 2);
    return k_load(p);
}

#define K_LOAD(x, f, F, n, u, rows, first) \
    k_load_rows((F) * (n), n, K_PADDED(n), K_TILE(u, k_t, rows) + (first) * LANES + k_l0, \
                K_NEXT(rows), x[f][0])
K_INLINE void k_load_rows(const int count, const int n, const int padded, const real *p,
                          const int next, real *x)
{
    for (int f = 0; f < count / n; f++)
        for (int r = 0; r < n; r++) {
            const real *row = p + (f * n + r) * LANES;
            k_store(x + (f * padded + r) * K_FL, k_load_next(row, next));
        }
}
#define K_STORE(x, f, F, n, u, rows, first) \
    k_store_rows((F) * (n), n, K_PADDED(n), x[f][0], K_TILE(u, k_t, rows) + (first) * LANES + k_l0)
K_INLINE void k_store_rows(const int count, const int n, const int padded, const real *x, real *p)
{
    for (int f = 0; f < count / n; f++)
        for (int r = 0; r < n; r++)
            k_stream(p + (f * n + r) * LANES, k_load(x + (f * padded + r) * K_FL));
}
#define K_SUMLOAD(x, f, F, n, u, rows, first) K_LOAD(x, f, F, n, u, rows, first)
#define K_POINTLOAD(y, f, c, n, u, rows, first) \
    for (int k_q = 0; k_q < K_FN; k_q++) \
        k_store(y[f][k_q], (c) * K_FN + k_q < (n) ? k_load(K_POINT_ROW(c, k_q, u, rows, first)) \
                                                  : (k_vector){0})
#define K_POINTROWS(y, f, i, c, n, u, rows, row) \
    for (int k_q = 0; k_q < K_FN; k_q++) { \
        const int i = K_POINT(c, n), k_h = 0; /* the row is the same for all lanes */ \
        (void)i, (void)k_h; \
        k_store(y[f][k_q], k_load(K_TILE(u, k_t, rows) + (row) * LANES + k_l0)); \
    }
#define K_QUARTERVAR(type, x) _Alignas(64) type x[4][K_FL]
#define K_QUARTERS(f) \
    for (int k_q = 0; k_q < 8; k_q += 2) \
        for (int f = k_q / 2, k_one = 1; k_one; k_one = 0) K_LANE
#define K_V(x) x[k_q / 2 % 4][k_h]
#define K_POINTSTORE(y, f, c, n, u, rows, first) \
    for (int k_q = 0; k_q < K_FN; k_q++) \
        if ((c) * K_FN + k_q < (n)) k_stream(K_POINT_ROW(c, k_q, u, rows, first), k_load(y[f][k_q]))
#define K_POINT_ROW(c, q, u, rows, first) \
    (K_TILE(u, k_t, rows) + ((first) + (c) * K_FN + (q)) * LANES + k_l0)
#define K_TAKE(y, f, c, z, g) k_copy_rows(z[g][(c) * K_FN], y[f][0])
#define K_GIVE(z, g, c, y, f) k_copy_rows(y[f][0], z[g][(c) * K_FN])
K_INLINE void k_copy_rows(const real *from, real *to)
{
    for (int q = 0; q < K_FN; q++) k_store(to + q * K_FL, k_load(from + q * K_FL));
}

/* Sums and differences of rows that are mirror images, times `scale`: pairs [n][2]. */
K_INLINE void k_take_pairs(const real scale, const int n, const int no, const real *p, const int next,
                           const i32 *pairs, real *e, real *o)
{
    for (int r = 0; r < n; r++) {
        const real *first = p + pairs[2 * r] * LANES, *second = p + pairs[2 * r + 1] * LANES;
        const k_vector a = k_load_next(first, next), b = k_load_next(second, next);
        k_store(e + r * K_FL, scale * (a + b));
        if (r < no) k_store(o + r * K_FL, scale * (a - b));
    }
}
#define K_LOADPAIRS(xe, xo, f, ne, no, u, rows, first, pairs) \
    k_take_pairs(K_R(1), ne, no, K_TILE(u, k_t, rows) + (first) * LANES + k_l0, K_NEXT(rows), pairs, \
                 xe[f][0], xo[f][0])
#define K_SUMPAIRS(ze, zo, f, ne, no, u, rows, first, pairs) \
    k_take_pairs(K_R(0.5), ne, no, K_TILE(u, k_t, rows) + (first) * LANES + k_l0, K_NEXT(rows), pairs, \
                 ze[f][0], zo[f][0])
#define K_POINTPAIRS(e, o, f, c, n, u, rows, first, pairs) \
    k_point_pairs((n) - (c) * K_FN, K_TILE(u, k_t, rows) + (first) * LANES + k_l0, K_NEXT(rows), \
                  (pairs) + 2 * (c) * K_FN, e[f][0], o[f][0])
K_INLINE void k_point_pairs(const int n, const real *p, const int next, const i32 *pairs, real *e, real *o)
{
    const int some = K_MIN(n, K_FN);
    k_take_pairs(K_R(1), some, some, p, next, pairs, e, o);
    for (int r = some; r < K_FN; r++) {
        k_store(e + r * K_FL, (k_vector){0});
        k_store(o + r * K_FL, (k_vector){0});
    }
}
#define K_STOREPAIRS(ze, zo, f, ne, no, u, rows, first, pairs) \
    k_store_pairs(ne, no, ze[f][0], zo[f][0], K_TILE(u, k_t, rows) + (first) * LANES + k_l0, pairs)
static const _Alignas(64) real k_nothing[K_FL];
K_INLINE void k_store_pairs(const int n, const int no, const real *e, const real *o, real *p,
                            const i32 *pairs)
{
    for (int r = 0; r < n; r++) {
        const k_vector sum = k_load(e + r * K_FL);
        const k_vector part = k_load(r < no ? o + r * K_FL : (const real *)k_nothing);
        k_stream(p + pairs[2 * r] * LANES, sum + part);
        if (r < no) k_stream(p + pairs[2 * r + 1] * LANES, sum - part);
    }
}
#define K_FOLD(e, o, f, a, b) K_NEEDS_CHUNKS_OF_8, k_fold(a[f][0], b[f][0], e[f][0], o[f][0])
K_INLINE void k_fold(const real *a, const real *b, real *e, real *o)
{
    for (int r = 0; r < 8; r++) {
        const k_vector x = k_load(a + r * K_FL), y = k_load(b + K_OPPOSITE(r) * K_FL);
        k_store(e + r * K_FL, x + y);
        k_store(o + r * K_FL, x - y);
    }
}
#define K_POINTPUT(y, f, i, c, n, u, rows, condition, row) \
    for (int k_q = 0; k_q < K_FN; k_q++) { \
        const int i = K_POINT(c, n), k_h = 0; /* the row is the same for all lanes */ \
        (void)i, (void)k_h; \
        if (condition) k_stream(K_TILE(u, k_t, rows) + (row) * LANES + k_l0, k_load(y[f][k_q])); \
    }
#define K_LANELOAD(x, u, rows, row) \
    k_store(x, k_load_next(K_TILE(u, k_t, rows) + (row) * LANES + k_l0, K_NEXT(rows)))
#define K_ZERO(x, F, n) \
    for (int k_f = 0; k_f < (F); k_f++) \
        for (int k_r = 0; k_r < K_PADDED(n); k_r++) k_store(x[k_f][k_r], (k_vector){0})

/* Fields that are multiplied side by side share each operator value: F*4 sums in registers. */
#define K_FIELD_BLOCK (K_REGISTER_BYTES == 64 ? 4 : 2)

K_INLINE void k_mul_fields(const int F, const int K, const real *restrict A, const real *x,
                           const int x_rows, real *y)
{
    k_vector sum[4][K_FN];
    K_UNROLL for (int f = 0; f < F; f++) K_UNROLL for (int q = 0; q < K_FN; q++)
        sum[f][q] = (k_vector){0};
    for (int k = 0; k < K; k++)
        K_UNROLL for (int f = 0; f < F; f++) {
            const k_vector v = k_load(x + (f * x_rows + k) * K_FL);
            K_UNROLL for (int q = 0; q < K_FN; q++) sum[f][q] += A[K_PACKED(q, k, K)] * v;
        }
    K_UNROLL for (int f = 0; f < F; f++) K_UNROLL for (int q = 0; q < K_FN; q++)
        k_store(y + (f * K_FN + q) * K_FL, sum[f][q]);
}

/* y = rows [c*K_FN, (c+1)*K_FN) of A x, for F fields. */
#define K_MUL(y, F, A, M, K, c, x) k_mul(F, K, (A) + (c) * K_FN * K_PADDED(K), &(x)[0][0][0], &(y)[0][0][0])
K_INLINE void k_mul(const int F, const int K, const real *A, const real *x, real *y)
{
    const int B = K_FIELD_BLOCK, tail = F % B, rows = K_PADDED(K);
    for (int f = 0; f + B <= F; f += B)
        k_mul_fields(B, K, A, x + f * rows * K_FL, rows, y + f * K_FN * K_FL);
    if (tail)
        k_mul_fields(tail, K, A, x + (F - tail) * rows * K_FL, rows, y + (F - tail) * K_FN * K_FL);
}

K_INLINE void k_muladd_rows(const int F, const int R, const int z_rows, const real *restrict P,
                            real *z, const real *y)
{
    k_vector sum[4][4];
    K_UNROLL for (int f = 0; f < F; f++) K_UNROLL for (int r = 0; r < R; r++)
        sum[f][r] = k_load(z + (f * z_rows + r) * K_FL);
    K_UNROLL for (int q = 0; q < K_FN; q++) K_UNROLL for (int f = 0; f < F; f++)
    {
        const k_vector v = k_load(y + (f * K_FN + q) * K_FL);
        K_UNROLL for (int r = 0; r < R; r++) sum[f][r] += P[q * 4 + r] * v;
    }
    K_UNROLL for (int f = 0; f < F; f++) K_UNROLL for (int r = 0; r < R; r++)
        k_store(z + (f * z_rows + r) * K_FL, sum[f][r]);
}

/* z += columns [c*K_FN, (c+1)*K_FN) of P times y, for F fields. */
#define K_MULADD(z, F, P, M, K, c, y) \
    k_muladd(F, M, K, (P) + (c) * K_FN * 4, &(z)[0][0][0], &(y)[0][0][0])
K_INLINE void k_muladd(const int F, const int M, const int K, const real *restrict P, real *restrict z,
                       const real *restrict y)
{
    const int B = K_FIELD_BLOCK, rows = K_PADDED(M);
    for (int f = 0; f < F; f += B) {
        real *zf = z + f * rows * K_FL;
        const real *yf = y + f * K_FN * K_FL;
        for (int m = 0; m + 4 <= M; m += 4)
            k_muladd_rows(F - f < B ? F - f : B, 4, rows, P + m * K_PADDED(K), zf + m * K_FL, yf);
        if (M % 4)
            k_muladd_rows(F - f < B ? F - f : B, M % 4, rows, P + M / 4 * 4 * K_PADDED(K),
                          zf + M / 4 * 4 * K_FL, yf);
    }
}
#endif
