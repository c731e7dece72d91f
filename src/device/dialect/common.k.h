/* The kernel language, part common to all backends. docs/explanation/kernel-dialect.md teaches it.
 *
 * The library defines before this file: LANES, K_TY, K_TZ, K_IN_TURN, K_REAL (64 or 32), K_CONTRACT (1: a * b + c
 * may be one rounding), K_LEVEL (1: K_TILES, 2: K_WARPS), K_FN, K_PARTS, K_STREAMING, K_SCRAMBLE and
 * the backend's K_CPU / K_OPENCL / K_CUDA; the kernel's own constants stand behind it. A backend's
 * header defines the types f64 f32 i64 i32 u32 u8, K_INFINITY, K_NAN and the loops. */

#if K_REAL == 64
typedef f64 real;
#else
typedef f32 real;
#endif

#define K_R(x) ((real)(x))
#define K_MAX(a, b) ((a) > (b) ? (a) : (b))
#define K_MIN(a, b) ((a) < (b) ? (a) : (b))

/* Functions of `real`: OpenCL chooses by the argument's type, the others by the name. */
#if K_REAL == 64 || K_OPENCL
#define K_MATH(name) name
#else
#define K_MATH(name) name##f
#endif
#define K_ABS(x) K_MATH(fabs)(x)
#define K_FLOOR(x) K_MATH(floor)(x)
#define K_SQRT(x) K_MATH(sqrt)(x)
#define K_SIN(x) K_MATH(sin)(x)
#define K_COS(x) K_MATH(cos)(x)
#define K_TAN(x) K_MATH(tan)(x)
#define K_ASIN(x) K_MATH(asin)(x)
#define K_ACOS(x) K_MATH(acos)(x)
#define K_ATAN(x) K_MATH(atan)(x)
#define K_ATAN2(y, x) K_MATH(atan2)(y, x)
#define K_SINH(x) K_MATH(sinh)(x)
#define K_COSH(x) K_MATH(cosh)(x)
#define K_TANH(x) K_MATH(tanh)(x)
#define K_EXP(x) K_MATH(exp)(x)
#define K_LOG(x) K_MATH(log)(x)
#define K_LOG10(x) K_MATH(log10)(x)
#define K_POW(x, y) K_MATH(pow)(x, y)

/* Pointer to tile t of an array with n rows of LANES values per tile. */
#define K_TILE(p, t, n) ((p) + (i64)(t) * ((n) * LANES))

/* A tile operand of K_GEMM: (is it global, pointer). */
#define K_S(x) 0, (&(x)[0][0])
#define K_G(p) 1, (p)
#define K_PITCH(global) ((global) ? LANES : K_LD)

/* Y = A X on a tile, A of M rows and K columns; X has K rows, Y has M. The whole block works on it:
 * never inside K_NODES, K_SYNC before and after.
 * K_GEMM_LINES applies A along lines: row (o*K + k)*S + s of X gives row (o*M + m)*S + s of Y for
 * o < L, s < S. (S, L) = (1, fields) multiplies several fields; (1, n*n), (n, n), (n*n, 1) are the
 * three directions of a hexahedron with n nodes a side. */
#define K_GEMM(M, K, A, X, Y) K_GEMM_BLOCK(0, M, K, 1, 1, A, X, Y)
#define K_GEMM_ADD(M, K, A, X, Y) K_GEMM_BLOCK(1, M, K, 1, 1, A, X, Y)
#define K_GEMM_LINES(M, K, S, L, A, X, Y) K_GEMM_BLOCK(0, M, K, S, L, A, X, Y)
#define K_GEMM_LINES_ADD(M, K, S, L, A, X, Y) K_GEMM_BLOCK(1, M, K, S, L, A, X, Y)

/* Packed operators: rows in chunks of 4, [rows padded to 8 / 4][columns padded to 8][4]; padding
 * rows repeat the last row, padding columns are zero. */
#define K_PADDED(n) (((n) + 7) / 8 * 8)
#define K_PACKED(m, k, K) (((m) / 4 * K_PADDED(K) + (k)) * 4 + (m) % 4)

/* Fragments cover K_FN rows; a padded point repeats the last valid one. */
#define K_CHUNK_COUNT(n) (((n) + K_FN - 1) / K_FN)

/* Points 2k and 2k + 1 of a chunk belong to side k; the mirror exchanges sides 0 and 2. */
#define K_OPPOSITE(point) ((point) / 2 % 2 ? (point) : (point) ^ 4)
/* Does not compile with chunks of another size, in any of the languages. */
#define K_NEEDS_CHUNKS_OF_8 ((void)sizeof(char[K_FN == 8 ? 1 : -1]))
