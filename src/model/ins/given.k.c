/* From values at the points of boundary faces to the polynomials nearest to them, by their nodes:
 * nodes = keep nodes + share P values; with keep = 0 it does not matter what they were. */
K_KERNEL(project, K_IN(f64, values, COMPONENTS *Q *LANES), K_OP(P, NFP, Q), K_VAL(real, keep),
         K_VAL(real, share), K_INOUT(real, nodes, COMPONENTS *NFP *LANES))
{
    K_SHARED(real, x, COMPONENTS *Q);
    K_SHARED(real, y, COMPONENTS *NFP);
    K_TILES(t)
    {
        K_NODES(i, COMPONENTS *Q) x[i][lane] =
            (real)K_TILE(values, t, COMPONENTS * Q)[i * LANES + lane];
        K_SYNC;
        K_GEMM_LINES(NFP, Q, 1, COMPONENTS, P, K_S(x), K_S(y));
        K_SYNC;
        K_NODES(i, COMPONENTS *NFP)
        {
            const real kept = K_TILE(nodes, t, COMPONENTS * NFP)[i * LANES + lane];
            K_TILE(nodes, t, COMPONENTS * NFP)[i * LANES + lane] =
                share * y[i][lane] + (keep == 0 ? K_R(0) : keep * kept);
        }
    }
}
