/* The volume term of advect.k.c by even and odd parts (element/mirror.h), with half the flops in products and more
 * beside them: N = -M⁻¹ (∇φ, a⊗w), by values at points that come in pairs of mirror images.
 *
 * The exchange of r and s turns ∂φ/∂r into ∂φ/∂s, so that with P = -M⁻¹ ∂φ/∂· W
 *
 *     P_r f + P_s g = (P_r + P_s) (f + g)/2 + (P_r - P_s) (f - g)/2,
 *
 * the first of which keeps parts apart and the second exchanges them.
 *
 *     pairs        nodes that are mirror images, EVEN of them, ODD with two nodes
 *     interp_even, interp_odd  values at the first of PAIRS pairs of points, by even and odd parts
 *     even, odd    [P_r + P_s | P_r - P_s of parts of the other kind], halved, to even and odd parts
 *
 * Bytes as there; flops, of NC points in all, (FIELDS + 4) NC NP in products and 46 NC/2 beside them (FIELDS = 4). */
#define CARRIED (FIELDS - 2)
#define PADDED_PAIRS ((PAIRS + 7) / 8 * 8)

K_KERNEL(volume, K_IN(real, au, NP *LANES), K_IN(real, av, NP *LANES), K_IN(real, u, NP *LANES),
         K_IN(real, v, NP *LANES), K_IN(real, geometry, 5 *LANES), K_IN(i32, pairs),
         K_OP(interp_even, PAIRS, EVEN), K_OP(interp_odd, PAIRS, ODD),
         K_OP(even, EVEN, 2 * PADDED_PAIRS), K_OP(odd, ODD, 2 * PADDED_PAIRS),
         K_OUT(real, nu, NP *LANES), K_OUT(real, nv, NP *LANES))
{
    K_OPERAND(xe, FIELDS, EVEN);
    K_OPERAND(xo, FIELDS, ODD);
    K_ACCUM(ze, 2, EVEN);
    K_ACCUM(zo, 2, ODD);
    K_POINTS(ye, FIELDS);
    K_POINTS(yo, FIELDS);
    K_POINTS(sum_e, 2); /* of f + g: even parts, odd ones, */
    K_POINTS(sum_o, 2);
    K_POINTS(difference_e, 2); /* … and of f - g */
    K_POINTS(difference_o, 2);
    K_LANEVAR(real, sum_x); /* ∂(r + s)/∂x, … */
    K_LANEVAR(real, sum_y);
    K_LANEVAR(real, difference_x);
    K_LANEVAR(real, difference_y);
    K_LANEVAR(real, sx);
    K_LANEVAR(real, sy);
    K_WARPS(t)
    {
        K_LOADPAIRS(xe, xo, 0, EVEN, ODD, au, NP, 0, pairs);
        K_LOADPAIRS(xe, xo, 1, EVEN, ODD, av, NP, 0, pairs);
#if FIELDS == 4
        K_LOADPAIRS(xe, xo, 2, EVEN, ODD, u, NP, 0, pairs);
        K_LOADPAIRS(xe, xo, 3, EVEN, ODD, v, NP, 0, pairs);
#endif
        K_LANELOAD(sum_x, geometry, 5, 1);
        K_LANELOAD(sum_y, geometry, 5, 2);
        K_LANELOAD(sx, geometry, 5, 3);
        K_LANELOAD(sy, geometry, 5, 4);
        K_LANE
        {
            K_L(difference_x) = K_L(sum_x) - K_L(sx);
            K_L(difference_y) = K_L(sum_y) - K_L(sy);
            K_L(sum_x) += K_L(sx);
            K_L(sum_y) += K_L(sy);
        }
        K_ZERO(ze, 2, EVEN);
        K_ZERO(zo, 2, ODD);
        K_CHUNKS(c, PAIRS)
        {
            K_MUL(ye, FIELDS, interp_even, PAIRS, EVEN, c, xe);
            K_MUL(yo, FIELDS, interp_odd, PAIRS, ODD, c, xo);
            K_EACH
            {
                const real au1 = K_Y(ye, 0) + K_Y(yo, 0), au2 = K_Y(ye, 0) - K_Y(yo, 0);
                const real av1 = K_Y(ye, 1) + K_Y(yo, 1), av2 = K_Y(ye, 1) - K_Y(yo, 1);
                const real u1 = K_Y(ye, CARRIED) + K_Y(yo, CARRIED);
                const real u2 = K_Y(ye, CARRIED) - K_Y(yo, CARRIED);
                const real v1 = K_Y(ye, CARRIED + 1) + K_Y(yo, CARRIED + 1);
                const real v2 = K_Y(ye, CARRIED + 1) - K_Y(yo, CARRIED + 1);
                const real sum1 = K_L(sum_x) * au1 + K_L(sum_y) * av1;
                const real sum2 = K_L(sum_x) * au2 + K_L(sum_y) * av2;
                const real difference1 = K_L(difference_x) * au1 + K_L(difference_y) * av1;
                const real difference2 = K_L(difference_x) * au2 + K_L(difference_y) * av2;
                K_Y(sum_e, 0) = sum1 * u1 + sum2 * u2;
                K_Y(sum_o, 0) = sum1 * u1 - sum2 * u2;
                K_Y(sum_e, 1) = sum1 * v1 + sum2 * v2;
                K_Y(sum_o, 1) = sum1 * v1 - sum2 * v2;
                K_Y(difference_e, 0) = difference1 * u1 + difference2 * u2;
                K_Y(difference_o, 0) = difference1 * u1 - difference2 * u2;
                K_Y(difference_e, 1) = difference1 * v1 + difference2 * v2;
                K_Y(difference_o, 1) = difference1 * v1 - difference2 * v2;
            }
            K_MULADD(ze, 2, even, EVEN, 2 * PADDED_PAIRS, c, sum_e);
            K_MULADD(ze, 2, even, EVEN, 2 * PADDED_PAIRS, PADDED_PAIRS / K_FN + c, difference_o);
            K_MULADD(zo, 2, odd, ODD, 2 * PADDED_PAIRS, c, sum_o);
            K_MULADD(zo, 2, odd, ODD, 2 * PADDED_PAIRS, PADDED_PAIRS / K_FN + c, difference_e);
        }
        K_STOREPAIRS(ze, zo, 0, EVEN, ODD, nu, NP, 0, pairs);
        K_STOREPAIRS(ze, zo, 1, EVEN, ODD, nv, NP, 0, pairs);
    }
}
