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
    K_POINTS(flux, 2);
    K_LANEVAR(real, rx);
    K_LANEVAR(real, sx);
    K_LANEVAR(real, ry);
    K_LANEVAR(real, sy);
    K_WARPS(t)
    {
        K_LOAD(x, 0, 4, NP, u, 4 * NP, 0);
        K_LANELOAD(rx, g, 4, 0);
        K_LANELOAD(sx, g, 4, 1);
        K_LANELOAD(ry, g, 4, 2);
        K_LANELOAD(sy, g, 4, 3);
        K_ZERO(z, 2, NP);
        K_CHUNKS(q, NC)
        {
            K_MUL(c, 4, interp, NC, NP, q, x);
            /* One of the two at a time: fewer values are alive at once. */
            K_EACH
            {
                const real along_r = K_L(rx) * K_Y(c, 0) + K_L(ry) * K_Y(c, 1);
                K_Y(flux, 0) = along_r * K_Y(c, 2);
                K_Y(flux, 1) = along_r * K_Y(c, 3);
            }
            K_MULADD(z, 2, pr, NP, NC, q, flux);
            K_EACH
            {
                const real along_s = K_L(sx) * K_Y(c, 0) + K_L(sy) * K_Y(c, 1);
                K_Y(flux, 0) = along_s * K_Y(c, 2);
                K_Y(flux, 1) = along_s * K_Y(c, 3);
            }
            K_MULADD(z, 2, ps, NP, NC, q, flux);
        }
        K_STORE(z, 0, 2, NP, out, 2 * NP, 0);
    }
}
