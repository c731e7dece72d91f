/* How much of finite volumes the rate of each element needs (blend.c): a share that grows from 0 to 1 with
 * the part of the energy of density times pressure that is in its highest modes [persson2006,
 * hennemann2021]. With GAUSS points traces go from the polynomial's to the values of the outermost nodes by
 * the same share. `u` begins with the group, as do `shares` and `traces`.
 *
 *     modes    [M][M] from values at nodes to coefficients of orthonormal Legendre polynomials */
#include "model/euler/gas.k.h"

#define NP (M * M)
#define VALUE(c, i) K_TILE(u, t, 4 * NP)[((c) * NP + (i)) * LANES + lane]
#define NODE_OF(d, j, i) ((d) == 0 ? (j) * M + (i) : (i) * M + (j))

/* Shares below this are none. */
#define NONE K_R(0.001)

/* The share for a part of the energy, where `middle` of it gives a half. */
K_FUNC real share_of(real part, real middle)
{
    const real share = K_R(1) / (K_R(1) + K_EXP(K_R(9.210240366975849) * (K_R(1) - part / middle)));
    return share < NONE ? K_R(0) : share;
}

K_KERNEL(indicator, K_IN(real, u, 4 *M *M *LANES), K_IN(real, modes), K_VAL(f64, middle),
         K_OUT(real, shares, 2 *LANES), K_INOUT(real, traces))
{
    K_SHARED(real, along, M * M);     /* coefficients along direction 0 */
    K_SHARED(real, energy, 3 * M);    /* of row j: all, but for the highest mode, but for the two highest */
    K_SHARED(real, share, 1);
    K_TILES(t)
    {
        K_ROWS(j, M)
        {
            K_LANEVAR(real, sum[M]);
            K_UNROLL for (int m = 0; m < M; m++) K_LANE K_L(sum[m]) = 0;
            K_UNROLL for (int i = 0; i < M; i++)
                K_LANE
                {
                    const int n = j * M + i;
                    const state q = state_of(VALUE(0, n), VALUE(1, n), VALUE(2, n), VALUE(3, n));
                    const real of = q.rho * pressure_of(q, K_R(1) / q.rho);
                    K_UNROLL for (int m = 0; m < M; m++) K_L(sum[m]) += modes[m * M + i] * of;
                }
            K_UNROLL for (int m = 0; m < M; m++) K_LANE along[j * M + m][lane] = K_L(sum[m]);
        }
        K_SYNC;
        K_ROWS(m, M) /* the mode along direction 1 */
        {
            K_LANEVAR(real, all);
            K_LANEVAR(real, fewer);
            K_LANEVAR(real, fewest);
            K_LANE K_L(all) = K_L(fewer) = K_L(fewest) = 0;
            K_UNROLL for (int i = 0; i < M; i++)
                K_LANE
                {
                    real of = modes[m * M] * along[i][lane];
                    K_UNROLL for (int j = 1; j < M; j++) of += modes[m * M + j] * along[j * M + i][lane];
                    const real square = of * of;
                    K_L(all) += square;
                    K_L(fewer) += i < M - 1 && m < M - 1 ? square : K_R(0);
                    K_L(fewest) += i < M - 2 && m < M - 2 ? square : K_R(0);
                }
            K_LANE energy[m][lane] = K_L(all);
            K_LANE energy[M + m][lane] = K_L(fewer);
            K_LANE energy[2 * M + m][lane] = K_L(fewest);
        }
        K_SYNC;
        K_ROWS(one, 1)
        {
            K_LANEVAR(real, of[3]);
            K_UNROLL for (int k = 0; k < 3; k++) {
                K_LANE K_L(of[k]) = energy[k * M][lane];
                K_UNROLL for (int m = 1; m < M; m++) K_LANE K_L(of[k]) += energy[k * M + m][lane];
            }
            K_LANE
            {
                const real top = (K_L(of[0]) - K_L(of[1])) / K_L(of[0]);
                const real next = M > 2 ? (K_L(of[1]) - K_L(of[2])) / K_L(of[1]) : K_R(0);
                share[one][lane] = share_of(K_MAX(top, next), middle);
            }
        }
        K_SYNC;
        K_ROWS(one, 1)
        {
            K_LANEVAR(real, most);
            K_LANE K_L(most) = share[one][0];
            for (int l = 1; l < LANES; l++) K_LANE K_L(most) = K_MAX(K_L(most), share[one][l]);
            K_LANE K_TILE(shares, t, 2)[lane] = share[one][lane];
            K_LANE K_TILE(shares, t, 2)[LANES + lane] = K_L(most);
        }
#if GAUSS
        K_ROWS(i, 16 * M)
        {
            const int end = i / (4 * M), c = i / M % 4, j = i % M;
            const int node = NODE_OF(end / 2, j, end % 2 * (M - 1));
            K_LANE
            {
                const real trace = K_TILE(traces, t, 16 * M)[i * LANES + lane];
                K_TILE(traces, t, 16 * M)[i * LANES + lane] = trace + share[0][lane] * (VALUE(c, node) - trace);
            }
        }
#endif
    }
}
