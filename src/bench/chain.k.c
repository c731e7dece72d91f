/* The fused chain interpolate–multiply–project: the volume term of subcycled advection on affine
 * triangles, [karakus2018] algorithm 3, with the fluxes combined with the metric terms before they
 * are projected (16*NC*NP flops an element instead of 24).
 *
 * Fields of u: advecting (ub, vb), advected (ut, vt). With c = interp * field at the cubature points,
 *     A_w = rx*ub*w + ry*vb*w,   B_w = sx*ub*w + sy*vb*w   for w = ut, vt,
 *     out_w = pr A_w + ps B_w. */
K_KERNEL(chain, K_IN(real, u, 4 * NP *LANES), K_IN(real, g, 4 * LANES), K_OP(interp, NC, NP),
         K_OP(pr, NP, NC), K_OP(ps, NP, NC), K_OUT(real, out, 2 * NP *LANES))
{
    K_OPERAND(x, 4, NP);
    K_ACCUM(z, 2, NP);
    K_POINTS(c, 4);
    K_POINTS(a, 2);
    K_POINTS(b, 2);
    K_LANEVAR(real, rx);
    K_LANEVAR(real, sx);
    K_LANEVAR(real, ry);
    K_LANEVAR(real, sy);
    K_WARPS(t)
    {
        K_LOAD(x, 0, 4, NP, K_TILE(u, t, 4 * NP));
        K_LANE
        {
            K_L(rx) = K_TILE(g, t, 4)[lane];
            K_L(sx) = K_TILE(g, t, 4)[LANES + lane];
            K_L(ry) = K_TILE(g, t, 4)[2 * LANES + lane];
            K_L(sy) = K_TILE(g, t, 4)[3 * LANES + lane];
        }
        K_ZERO(z, 2, NP);
        K_CHUNKS(q, NC)
        {
            K_MUL(c, 4, interp, NC, NP, q, x);
            K_EACH
            {
                const real ub = K_Y(c, 0), vb = K_Y(c, 1), ut = K_Y(c, 2), vt = K_Y(c, 3);
                const real along_r = K_L(rx) * ub + K_L(ry) * vb;
                const real along_s = K_L(sx) * ub + K_L(sy) * vb;
                K_Y(a, 0) = along_r * ut;
                K_Y(a, 1) = along_r * vt;
                K_Y(b, 0) = along_s * ut;
                K_Y(b, 1) = along_s * vt;
            }
            K_MULADD(z, 2, pr, NP, NC, q, a);
            K_MULADD(z, 2, ps, NP, NC, q, b);
        }
        K_STORE(z, 0, 2, NP, K_TILE(out, t, 2 * NP));
    }
}
