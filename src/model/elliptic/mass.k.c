/* The inverse of the mass matrix of every element times a vector, z = M⁻¹ r.
 *
 * Affine elements: M = J M̂, and inverse is M̂⁻¹. Else the weight-adjusted one [chan2017]: with I the values
 * at the points and W their weights z = M̂⁻¹ Iᵀ (W/J) I M̂⁻¹ r, symmetric and positive, too; `spread` is
 * I M̂⁻¹ and `gather` its transpose. scale is W/J [tiles][NC][lanes].
 *
 * Alone (affine_mass, curved_mass), or in a step of smoothing, d = a d + c M⁻¹ r and x = keep x + w d
 * (smooth_affine, smooth_curved), where what is multiplied by 0 is not read.
 *
 * Bytes for an element, of `real`s: 2 NP + 1 and 2 NP + NC, in smoothing up to 3 NP more; flops 2 NP² and
 * 4 NC NP. */

/* d and x from z = M⁻¹ r, a K_SHARED array. */
#define TAKE_STEP(z) \
    K_ROWS(i, NP) \
    { \
        K_LANEVAR(real, sum); \
        K_LANE K_L(sum) = c * z[i][lane]; \
        if (a != 0) K_LANE K_L(sum) += a * K_TILE(d, t, NP)[i * LANES + lane]; \
        K_LANE K_TILE(d, t, NP)[i * LANES + lane] = K_L(sum); \
        K_LANE K_L(sum) *= w; \
        if (keep != 0) K_LANE K_L(sum) += keep * K_TILE(x, t, NP)[i * LANES + lane]; \
        K_LANE K_TILE(x, t, NP)[i * LANES + lane] = K_L(sum); \
    }

K_KERNEL(affine_mass, K_IN(real, r, NP *LANES), K_IN(f64, geometry, FACTORS *LANES),
         K_OP(inverse, NP, NP), K_OUT(real, z, NP *LANES))
{
    K_SHARED(real, x, NP);
    K_TILES(t)
    {
        K_NODES(i, NP)
        x[i][lane] =
            K_TILE(r, t, NP)[i * LANES + lane] / (real)K_TILE(geometry, t, FACTORS)[lane];
        K_SYNC;
        K_GEMM(NP, NP, inverse, K_S(x), K_G(K_TILE(z, t, NP)));
    }
}

K_KERNEL(curved_mass, K_IN(real, r, NP *LANES), K_IN(real, scale, NC *LANES),
         K_OP(spread, NC, NP), K_OP(gather, NP, NC), K_OUT(real, z, NP *LANES))
{
    K_SHARED(real, x, NC);
    K_TILES(t)
    {
        K_GEMM(NC, NP, spread, K_G(K_TILE(r, t, NP)), K_S(x));
        K_SYNC;
        K_NODES(i, NC) x[i][lane] *= K_TILE(scale, t, NC)[i * LANES + lane];
        K_SYNC;
        K_GEMM(NP, NC, gather, K_S(x), K_G(K_TILE(z, t, NP)));
    }
}

K_KERNEL(smooth_affine, K_VAL(real, a), K_VAL(real, c), K_VAL(real, keep), K_VAL(real, w),
         K_IN(real, r, NP *LANES), K_IN(f64, geometry, FACTORS *LANES), K_OP(inverse, NP, NP),
         K_INOUT(real, d, NP *LANES), K_INOUT(real, x, NP *LANES))
{
    K_SHARED(real, rest, NP);
    K_SHARED(real, z, NP);
    K_TILES(t)
    {
        K_NODES(i, NP)
        rest[i][lane] =
            K_TILE(r, t, NP)[i * LANES + lane] / (real)K_TILE(geometry, t, FACTORS)[lane];
        K_SYNC;
        K_GEMM(NP, NP, inverse, K_S(rest), K_S(z));
        K_SYNC;
        TAKE_STEP(z)
    }
}

K_KERNEL(smooth_curved, K_VAL(real, a), K_VAL(real, c), K_VAL(real, keep), K_VAL(real, w),
         K_IN(real, r, NP *LANES), K_IN(real, scale, NC *LANES), K_OP(spread, NC, NP),
         K_OP(gather, NP, NC), K_INOUT(real, d, NP *LANES), K_INOUT(real, x, NP *LANES))
{
    K_SHARED(real, points, NC);
    K_SHARED(real, z, NP);
    K_TILES(t)
    {
        K_GEMM(NC, NP, spread, K_G(K_TILE(r, t, NP)), K_S(points));
        K_SYNC;
        K_NODES(i, NC) points[i][lane] *= K_TILE(scale, t, NC)[i * LANES + lane];
        K_SYNC;
        K_GEMM(NP, NC, gather, K_S(points), K_S(z));
        K_SYNC;
        TAKE_STEP(z)
    }
}

/* scale from J, which eg_metric has in front of its other factors. */
K_KERNEL(mass_scale, K_IN(f64, geometry, FACTORS *NC *LANES), K_IN(f64, weights),
         K_OUT(real, scale, NC *LANES))
{
    K_TILES(t)
    {
        K_NODES(i, NC)
        K_TILE(scale, t, NC)[i * LANES + lane] =
            (real)(weights[i] / K_TILE(geometry, t, FACTORS * NC)[i * LANES + lane]);
    }
}
