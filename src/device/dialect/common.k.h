/* The kernel language, part common to all backends. docs/explanation/kernel-dialect.md teaches it.
 *
 * The library defines before this file: LANES, K_TY, K_TZ, K_REAL (64 or 32), K_LEVEL (1: K_TILES,
 * 2: K_WARPS), K_FN, K_PARTS, K_STREAMING, K_SCRAMBLE and the backend's K_CPU / K_OPENCL / K_CUDA; the
 * kernel's own constants stand behind it. A backend's header defines the types f64 f32 i64 i32 u32 u8
 * and the loops. */

#if K_REAL == 64
typedef f64 real;
#else
typedef f32 real;
#endif

#define K_R(x) ((real)(x))
#define K_MAX(a, b) ((a) > (b) ? (a) : (b))
#define K_MIN(a, b) ((a) < (b) ? (a) : (b))

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
