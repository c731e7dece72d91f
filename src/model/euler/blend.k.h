/* Finite volumes on subcells, with which stage.k.c blends the rate of elements next to shocks (blend.c has
 * the method). A line has as many subcells as nodes, each as wide as the node's weight; the value of a node
 * is the mean of its subcell. At the ends of the line fluxes are the numerical fluxes of the scheme.
 *
 *     shares   [tile][2][lane] the share of finite volumes in each element, of which MOST is taken in its
 *              rate; and the largest of the tile */
#define MOST K_R(0.5)
#define WEIGHT(i) table[2 * M * INNER + 5 * M + INNER + (i)]
#define SHARE shares[2 * t * LANES + lane]
#define SHARE_OF_RATE K_MIN(SHARE, MOST)
#define SHARES_ARE_LEFT (shares[(2 * t + 1) * LANES] > 0)

/* What changes from the middle of a subcell to its end, from the differences to both sides over their
 * distances; `reach` is half the width. All are of density, velocity and pressure. */
K_FUNC state rise(state low, state at, state high, real to_low, real to_high, real reach)
{
    const real a = reach / to_low, b = reach / to_high;
    return state_of(minmod(a * (at.rho - low.rho), b * (high.rho - at.rho)),
                    minmod(a * (at.mx - low.mx), b * (high.mx - at.mx)),
                    minmod(a * (at.my - low.my), b * (high.my - at.my)),
                    minmod(a * (at.E - low.E), b * (high.E - at.E)));
}

/* The state at an end of a subcell. */
K_FUNC state state_at(state at, real sign, state change)
{
    return conserved(at.rho + sign * change.rho, at.mx + sign * change.mx, at.my + sign * change.my,
                     at.E + sign * change.E);
}

/* The numerical flux through (x, y), which need not have length 1; CARTESIAN: along the line. */
#if CARTESIAN
#define FLUX_BETWEEN(l, r, x, y) numerical_flux(l, r)
#else
#define FLUX_BETWEEN(l, r, x, y) flux_through(l, r, x, y)
#endif
