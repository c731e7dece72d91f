/* The range of polynomials over the points at which model `advection` needs their bounds, and the scaling
 * that takes it into them; limiter.c has the method.
 *
 * For each direction d the points are those of `lobatto` along d times those of `across` along the
 * others; with VOLUME also those of `interp` along all.
 *
 *     lobatto  NL x M p_j at Gauss-Lobatto points, ends included;  across  T x M at points of faces, which
 *              are symmetric;  pairs  [PAIRS][M] at those of them that are not negative
 *     interp   Q x M at points of the volume;  rule  [2][Q] these points and their weights
 *     bounds   [COMPONENTS][2] the least and the largest value that each tracer may have
 *
 * Points are looked at in PARTS parts, each by a row of threads. */
#include "model/advection/advection.k.h"

/* Values at points, and modes on the way there. */
#define WORK_IN_3D (K_MAX(NL * M * M, VOLUME * Q * K_MAX(M * M, Q * Q)))
#define WORK (DIM == 3 ? WORK_IN_3D : M * K_MAX(NL, VOLUME * Q))
#define MORE (DIM == 3 ? K_MAX(NL * T * M, VOLUME * Q * Q * M) : K_MAX(1, VOLUME * Q * Q))
/* A constant's only mode times this is its value. */
#define UNIT (DIM == 3 ? K_R(0.5) * ROOT_HALF : K_R(0.5))

/* From modes to lines of modes across the last direction, each at a point of all others. */
#if DIM == 2
#define TO_LINES_0 \
    K_GEMM_LINES(NL, M, 1, M, lobatto, K_G(modes), K_S(work)); \
    K_SYNC;
#define TO_LINES_1 \
    K_GEMM_LINES(NL, M, M, 1, lobatto, K_G(modes), K_S(work)); \
    K_SYNC;
#define TO_VALUES \
    K_GEMM_LINES(Q, M, 1, M, interp, K_G(modes), K_S(work)); \
    K_SYNC; \
    K_GEMM_LINES(Q, M, Q, 1, interp, K_S(work), K_S(more)); \
    K_SYNC;
#define lines work
#define values more
#else
#define TO_LINES_0 \
    K_GEMM_LINES(NL, M, 1, M * M, lobatto, K_G(modes), K_S(work)); \
    K_SYNC; \
    K_GEMM_LINES(T, M, NL, M, across, K_S(work), K_S(more)); \
    K_SYNC;
#define TO_LINES_1 \
    K_GEMM_LINES(NL, M, M, M, lobatto, K_G(modes), K_S(work)); \
    K_SYNC; \
    K_GEMM_LINES(T, M, 1, M * NL, across, K_S(work), K_S(more)); \
    K_SYNC;
#define TO_LINES_2 \
    K_GEMM_LINES(NL, M, M * M, 1, lobatto, K_G(modes), K_S(work)); \
    K_SYNC; \
    K_GEMM_LINES(T, M, M, NL, across, K_S(work), K_S(more)); \
    K_SYNC;
#define TO_VALUES \
    K_GEMM_LINES(Q, M, 1, M * M, interp, K_G(modes), K_S(work)); \
    K_SYNC; \
    K_GEMM_LINES(Q, M, Q, M, interp, K_S(work), K_S(more)); \
    K_SYNC; \
    K_GEMM_LINES(Q, M, Q * Q, 1, interp, K_S(more), K_S(work)); \
    K_SYNC;
#define lines more
#define values work
#endif
#define LINES_OF_POINTS (DIM == 3 ? NL * T : NL)
#define IN_VOLUME (DIM == 3 ? Q * Q * Q : Q * Q)

K_FUNC real smaller_of(real a, real b)
{
    return a < b ? a : b;
}

K_FUNC real larger_of(real a, real b)
{
    return a > b ? a : b;
}

K_FUNC real sum_of(real a, real b)
{
    return a + b;
}

/* Joins all parts of x in the first. */
#if PARTS > 1
#define JOIN(x, with) \
    for (int part = 1; part < PARTS; part++) K_LANE x[0][lane] = with(x[0][lane], x[part][lane]);
#else
#define JOIN(x, with)
#endif

/* Widens the range of each part by what BODY finds for its share of `count`, i. */
#define WIDEN(i, count, BODY) \
    K_ROWS(part, PARTS) \
    { \
        K_LANEVAR(real, low); \
        K_LANEVAR(real, high); \
        K_LANE K_L(low) = least[part][lane]; \
        K_LANE K_L(high) = most[part][lane]; \
        for (int i = part; i < (count); i += PARTS) \
            BODY \
        K_LANE least[part][lane] = K_L(low); \
        K_LANE most[part][lane] = K_L(high); \
    } \
    K_SYNC;

/* Line i, whose modes begin at row i * each and are `pace` rows apart, at points ±s: even and odd modes
 * apart, so that its values there are even + odd and even - odd. */
#define LINE(i, each, pace) \
    for (int p = 0; p < PAIRS; p++) { \
        K_LANEVAR(real, even); \
        K_LANEVAR(real, odd); \
        K_LANE K_L(even) = K_L(odd) = 0; \
        K_UNROLL for (int j = 0; j < M; j += 2) \
            K_LANE K_L(even) += pairs[p * M + j] * lines[i * (each) + j * (pace)][lane]; \
        K_UNROLL for (int j = 1; j < M; j += 2) \
            K_LANE K_L(odd) += pairs[p * M + j] * lines[i * (each) + j * (pace)][lane]; \
        K_LANE \
        { \
            const real swing = K_ABS(K_L(odd)), down = K_L(even) - swing, up = K_L(even) + swing; \
            K_L(low) = smaller_of(K_L(low), down); \
            K_L(high) = larger_of(K_L(high), up); \
        } \
    }

/* Value i. */
#define POINT(i) \
    K_LANE \
    { \
        K_L(low) = smaller_of(K_L(low), values[i][lane]); \
        K_L(high) = larger_of(K_L(high), values[i][lane]); \
    }

#if DIM == 3
#define WIDEN_ALONG_2 TO_LINES_2 WIDEN(i, LINES_OF_POINTS, LINE(i, M, 1))
#else
#define WIDEN_ALONG_2
#endif
#if VOLUME
#define WIDEN_INSIDE TO_VALUES WIDEN(i, IN_VOLUME, POINT(i))
#else
#define WIDEN_INSIDE
#endif

/* From the modes of a tracer to its range, in parts; `values` are then those inside, with VOLUME. */
#define FIND_RANGE \
    K_NODES(i, PARTS) \
    { \
        least[i][lane] = K_INFINITY; \
        most[i][lane] = -K_INFINITY; \
    } \
    K_SYNC; \
    TO_LINES_0 \
    WIDEN(i, LINES_OF_POINTS, LINE(i, 1, LINES_OF_POINTS)) \
    TO_LINES_1 \
    WIDEN(i, LINES_OF_POINTS, LINE(i, DIM == 3 ? 1 : M, DIM == 3 ? LINES_OF_POINTS : 1)) \
    WIDEN_ALONG_2 \
    WIDEN_INSIDE

K_KERNEL(limit, K_OP(lobatto, NL, M), K_OP(across, T, M), K_IN(real, pairs), K_OP(interp, Q, M),
         K_IN(real, rule), K_IN(f64, nodes, DIM *CORNERS *LANES), K_IN(real, bounds),
         K_INOUT(real, u, COMPONENTS *NP *LANES))
{
    K_SHARED(real, work, WORK);
    K_SHARED(real, more, MORE);
    K_SHARED(real, least, PARTS);
    K_SHARED(real, most, PARTS);
    K_SHARED(real, mass, PARTS); /* ∫ J u and ∫ J, in parts */
    K_SHARED(real, volume, PARTS);
    K_SHARED(real, centre, 1); /* the mode of the mean */
    K_SHARED(real, scale, 1);
    K_TILES(t)
    {
        for (int c = 0; c < COMPONENTS; c++) {
            K_GLOBAL real *modes = K_TILE(u, t, ROWS) + c * NP * LANES;
            FIND_RANGE
#if CURVED /* then VOLUME, too */
            K_ROWS(part, PARTS)
            {
                K_LANEVAR(real, sum);
                K_LANEVAR(real, weights);
                K_LANE K_L(sum) = 0;
                K_LANE K_L(weights) = 0;
                for (int i = part; i < IN_VOLUME; i += PARTS) {
                    const int i0 = i % Q, i1 = i / Q % Q, i2 = DIM == 3 ? i / (Q * Q) : 0;
                    const real r0 = rule[i0], r1 = rule[i1], r2 = DIM == 3 ? rule[i2] : K_R(0);
                    const real w =
                        rule[Q + i0] * rule[Q + i1] * (DIM == 3 ? rule[Q + i2] : K_R(1));
                    K_LANE
                    {
                        const real weight = w * JACOBIAN(r0, r1, r2);
                        K_L(sum) += weight * values[i][lane];
                        K_L(weights) += weight;
                    }
                }
                K_LANE mass[part][lane] = K_L(sum);
                K_LANE volume[part][lane] = K_L(weights);
            }
            K_SYNC;
#endif
            K_ROWS(i, 1)
            {
                const real from = bounds[2 * c], to = bounds[2 * c + 1];
                JOIN(least, smaller_of)
                JOIN(most, larger_of)
#if CURVED
                JOIN(mass, sum_of)
                JOIN(volume, sum_of)
                K_LANE centre[i][lane] = mass[i][lane] / volume[i][lane] / UNIT;
#else
                K_LANE centre[i][lane] = modes[i * LANES + lane];
#endif
                K_LANE
                {
                    const real low = least[i][lane], high = most[i][lane];
                    const real mean = UNIT * centre[i][lane];
                    const real down = mean < to ? (to - mean) / (high - mean) : K_R(0);
                    const real up = mean > from ? (mean - from) / (mean - low) : K_R(0);
                    scale[i][lane] =
                        smaller_of(high > to ? down : K_R(1), low < from ? up : K_R(1));
                }
            }
            K_SYNC;
            /* Elements within the bounds keep their bits. */
            K_ROWS(i, NP)
            {
                const real share = i == 0 ? K_R(1) : K_R(0);
                K_LANE
                {
                    const real kept = share * centre[0][lane], mode = modes[i * LANES + lane];
                    const real next = kept + scale[0][lane] * (mode - kept);
                    modes[i * LANES + lane] = scale[0][lane] < 1 ? next : mode;
                }
            }
            K_SYNC;
        }
    }
}

/* The least and the largest value of tracer `c` in each element. `below` is minus the least, so that
 * both are maxima. */
K_KERNEL(range, K_OP(lobatto, NL, M), K_OP(across, T, M), K_IN(real, pairs), K_OP(interp, Q, M),
         K_VAL(i32, c), K_IN(real, u, COMPONENTS *NP *LANES), K_OUT(real, below, LANES),
         K_OUT(real, above, LANES))
{
    K_SHARED(real, work, WORK);
    K_SHARED(real, more, MORE);
    K_SHARED(real, least, PARTS);
    K_SHARED(real, most, PARTS);
    K_TILES(t)
    {
        K_GLOBAL const real *modes = K_TILE(u, t, ROWS) + c * NP * LANES;
        FIND_RANGE
        K_ROWS(i, 1)
        {
            JOIN(least, smaller_of)
            JOIN(most, larger_of)
            K_LANE K_TILE(below, t, 1)[i * LANES + lane] = -least[i][lane];
            K_LANE K_TILE(above, t, 1)[i * LANES + lane] = most[i][lane];
        }
    }
}
