/* The load of model `elliptic`: what a source and data on boundaries give, tested with φ.
 *
 *     ∫ f φ  +  Dirichlet: ∫ T g φ - c Q(φ) g     Neumann, Robin: ∫ sJ g φ
 *
 * with the terms of general.k.c. geometry is eg_metric's at AT points; source and given hold f and g at
 * points, given 0 where a face is no boundary; sum is [Iᵀ | Eᵀ | slopesᵀ]. */
#define FQ (FACES * Q)
#define COLUMNS (NC + (1 + DIM) * FQ)

K_KERNEL(load, K_IN(f64, geometry, (1 + DIM * DIM) * AT * LANES), K_IN(f64, source, NC *LANES),
         K_IN(f64, given, FQ *LANES), K_IN(f64, inner_weights), K_IN(f64, face_weights),
         K_IN(f64, sizes, FQ *LANES), K_IN(real, metric, DIM *FQ *LANES),
         K_IN(real, penalty, FQ *LANES), K_IN(real, share, FACES *LANES),
         K_OP(sum, NP, COLUMNS), K_OUT(real, b, NP *LANES))
{
    K_SHARED(real, x, COLUMNS);
    K_TILES(t)
    {
        K_NODES(i, NC)
        {
            const f64 J =
                K_TILE(geometry, t, (1 + DIM * DIM) * AT)[(AT == 1 ? 0 : i) * LANES + lane];
            x[i][lane] = (real)(inner_weights[i] * J * K_TILE(source, t, NC)[i * LANES + lane]);
        }
        K_ROWS(i, FQ)
        {
            const int f = i / Q, p = i % Q;
            K_LANE
            {
                const real c = K_TILE(share, t, FACES)[f * LANES + lane];
                const real T = K_TILE(penalty, t, FQ)[i * LANES + lane];
                const real w = (real)(face_weights[p] * K_TILE(given, t, FQ)[i * LANES + lane]);
                x[NC + i][lane] = w * (c > 0 ? T : (real)K_TILE(sizes, t, FQ)[i * LANES + lane]);
                K_UNROLL for (int a = 0; a < DIM; a++) x[NC + (1 + a) * FQ + i][lane] =
                    -c * w * K_TILE(metric, t, DIM * FQ)[(a * FQ + i) * LANES + lane];
            }
        }
        K_SYNC;
        K_GEMM(NP, COLUMNS, sum, K_S(x), K_G(K_TILE(b, t, NP)));
    }
}
