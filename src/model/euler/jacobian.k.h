/* J of a straight quadrilateral, which is linear: J = mean (1 + by_r r_0 + by_s r_1).
 *
 * Who includes this has `nodes` [tile][2][4][lane], the corners (-,-), (+,-), (-,+), (+,+). */
#define CORNER(e, i) K_TILE(nodes, t, 8)[((e) * 4 + (i)) * LANES + lane]

typedef struct incline {
    real by_r, by_s;
} incline;

/* From the coordinates of the corners. */
K_FUNC incline incline_of(real x0, real x1, real x2, real x3, real y0, real y1, real y2, real y3)
{
    incline of;
    const real xr = x1 - x0 + x3 - x2, yr = y1 - y0 + y3 - y2; /* ∂x/∂r_0 at the centre, times 4 */
    const real xs = x2 - x0 + x3 - x1, ys = y2 - y0 + y3 - y1;
    const real xt = x3 - x2 - x1 + x0, yt = y3 - y2 - y1 + y0; /* of r_0 r_1 */
    const real inverse = K_R(1) / (xr * ys - xs * yr);
    of.by_r = (xr * yt - xt * yr) * inverse;
    of.by_s = (xt * ys - xs * yt) * inverse;
    return of;
}

#define INCLINE \
    incline_of(CORNER(0, 0), CORNER(0, 1), CORNER(0, 2), CORNER(0, 3), CORNER(1, 0), CORNER(1, 1), \
               CORNER(1, 2), CORNER(1, 3))
