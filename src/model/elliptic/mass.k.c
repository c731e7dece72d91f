/* The inverse of the mass matrix of every element times a vector, z = M⁻¹ r.
 *
 * Affine elements: M = J M̂, and inverse is M̂⁻¹. Else the weight-adjusted one [chan2017]: with I the values
 * at the points and W their weights z = M̂⁻¹ Iᵀ (W/J) I M̂⁻¹ r, symmetric and positive, too; `spread` is
 * I M̂⁻¹ and `gather` its transpose. scale is W/J [tiles][NC][lanes].
 *
 * Bytes for an element, of `real`s: 2 NP + 1 and 2 NP + NC; flops 2 NP² and 4 NC NP. */

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
