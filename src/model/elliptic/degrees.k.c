/* Between polynomials of a higher degree, of NP nodes, and a lower one, of NL nodes, on the same
 * elements.
 *
 *     lower_degree  coarse = Pᵀ fine
 *     raise_degree  fine += P coarse
 *
 *     P    [NP][NL] values of the lower degree at the nodes of the higher;  Pt  its transpose
 *
 * Bytes for an element, of `real`s: NP + NL, and 2 NP + NL; flops 2 NP NL. */
K_KERNEL(lower_degree, K_IN(real, fine, NP *LANES), K_OP(Pt, NL, NP), K_OUT(real, coarse, NL *LANES))
{
    K_TILES(t)
    {
        K_GEMM(NL, NP, Pt, K_G(K_TILE(fine, t, NP)), K_G(K_TILE(coarse, t, NL)));
    }
}

K_KERNEL(raise_degree, K_IN(real, coarse, NL *LANES), K_OP(P, NP, NL), K_INOUT(real, fine, NP *LANES))
{
    K_TILES(t)
    {
        K_GEMM_ADD(NP, NL, P, K_G(K_TILE(coarse, t, NL)), K_G(K_TILE(fine, t, NP)));
    }
}
