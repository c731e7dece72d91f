/* Two iterations of conjugate gradients on a coarse level, with sums that never leave the device
 * [notay2008]. Tiles are rows of lanes.
 *
 * sums = c·Ac, c·b, e·Ac, e·Ae, e·rest: c solves for b, e for rest = b - (c·b / c·Ac) Ac. Where
 * there is nothing to solve (b = 0) products are 0, and so are the results. */

K_FUNC f64 quotient(f64 a, f64 b)
{
    return b > 0 ? a / b : 0;
}

K_KERNEL(k_rest, K_IN(f64, sums), K_IN(real, b, LANES), K_IN(real, ac, LANES),
         K_OUT(real, rest, LANES))
{
    K_TILES(t)
    {
        const real step = (real)quotient(sums[1], sums[0]);
        K_NODES(i, 1)
        K_TILE(rest, t, 1)[lane] = K_TILE(b, t, 1)[lane] - step * K_TILE(ac, t, 1)[lane];
    }
}

/* x = the combination of c and e that is best in the norm of A. */
K_KERNEL(k_combine, K_IN(f64, sums), K_IN(real, c, LANES), K_IN(real, e, LANES),
         K_OUT(real, x, LANES))
{
    K_TILES(t)
    {
        const f64 mixed = quotient(sums[2], sums[0]);
        const f64 of_e = quotient(sums[4], sums[3] - mixed * sums[2]);
        const real first = (real)(quotient(sums[1], sums[0]) - mixed * of_e);
        const real second = (real)of_e;
        K_NODES(i, 1)
        K_TILE(x, t, 1)[lane] = first * K_TILE(c, t, 1)[lane] + second * K_TILE(e, t, 1)[lane];
    }
}
