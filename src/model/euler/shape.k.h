/* The shape of elements of model `euler`, for kernels that have `nodes`, `metric`, `table` and, at the ends
 * of a line, J∇r_d in K_LANEVARs nx[2], ny[2]. There are three kinds:
 *
 *     CARTESIAN  all elements are the same rectangle along x and y, and there is nothing to know of one
 *     straight   J∇r_d is linear along lines of direction d and does not vary across them: it follows
 *                from the corners, which stand among `nodes` [2][ORDER + 1][ORDER + 1]
 *     CURVED     rows of `metric`, which metric.c makes: J∇r_d at the inner points of lines
 *                [direction d][x, y][line][INNER], 1 / J at the nodes [M][M]; with GAUSS points J∇r_d at
 *                the ends [end][x, y][M]; and with BOUNDARIES where the points of faces are
 *                [end][x, y][M]
 *
 * It defines, for inner point p or node i of line j along direction d and its end e,
 *     END_X(d, e, j)         J∇r_d at an end, and END_Y; neither if CARTESIAN
 *     INNER_X(d, j, p)       J∇r_d at an inner point from that at the ends, and INNER_Y
 *     INVERSE(i, j)          1 / J at node i of line j along direction 0; 1 if CARTESIAN
 *     FACE_AT(c, d, e, j)    coordinate c of point j of the face at end e of direction d */

/* Corner i of an element: (-, -), (+, -), (-, +), (+, +). */
#define CORNER(c, i) \
    K_TILE(nodes, t, 2 * (ORDER + 1) * (ORDER + 1)) \
    [((c) * (ORDER + 1) * (ORDER + 1) + (i) % 2 * ORDER + (i) / 2 * ORDER * (ORDER + 1)) * LANES + lane]
/* Half the vector from corner a to corner b, turned so that it is J∇r_d there. */
#define NORMAL_X(d, a, b) (((d) == 0 ? K_R(0.5) : K_R(-0.5)) * (CORNER(1, b) - CORNER(1, a)))
#define NORMAL_Y(d, a, b) (((d) == 0 ? K_R(-0.5) : K_R(0.5)) * (CORNER(0, b) - CORNER(0, a)))

/* The mean of a and b at place r between -1 and 1. */
K_FUNC real between(real a, real b, real r)
{
    return K_R(0.5) * ((K_R(1) - r) * a + (K_R(1) + r) * b);
}

#if CURVED
#define METRIC(i) K_TILE(metric, t, METRIC_ROWS)[(i) * LANES + lane]
#define METRIC_FACES (4 * M * INNER + M * M)
#define INNER_X(d, j, p) METRIC((2 * (d) * M + (j)) * INNER + (p))
#define INNER_Y(d, j, p) METRIC(((2 * (d) + 1) * M + (j)) * INNER + (p))
#if GAUSS
#define END_X(d, e, j) METRIC(METRIC_FACES + (2 * (d) + (e)) * 2 * M + (j))
#define END_Y(d, e, j) METRIC(METRIC_FACES + (2 * (d) + (e)) * 2 * M + M + (j))
#else
#define END_X(d, e, j) INNER_X(d, j, (e) * (M - 1))
#define END_Y(d, e, j) INNER_Y(d, j, (e) * (M - 1))
#endif
#define INVERSE(i, j) METRIC(4 * M * INNER + (j) * M + (i))
#define FACE_AT(c, d, e, j) METRIC(METRIC_FACES + GAUSS * 8 * M + ((2 * (d) + (e)) * 2 + (c)) * M + (j))
#else
/* The corners at end e of direction d are FIRST and, further along the other direction, SECOND. */
#define FIRST_CORNER(d, e) ((e) * (1 + (d)))
#define SECOND_CORNER(d, e) (FIRST_CORNER(d, e) + 2 - (d))
#define END_X(d, e, j) NORMAL_X(d, FIRST_CORNER(d, e), SECOND_CORNER(d, e))
#define END_Y(d, e, j) NORMAL_Y(d, FIRST_CORNER(d, e), SECOND_CORNER(d, e))
#define INNER_X(d, j, p) between(K_L(nx[0]), K_L(nx[1]), INNER_POINT(p))
#define INNER_Y(d, j, p) between(K_L(ny[0]), K_L(ny[1]), INNER_POINT(p))
#define FACE_AT(c, d, e, j) between(CORNER(c, FIRST_CORNER(d, e)), CORNER(c, SECOND_CORNER(d, e)), NODE(j))
#if CARTESIAN
#define INVERSE(i, j) K_R(1)
#else
#define INVERSE(i, j) \
    (K_R(1) / (between(NORMAL_X(0, 0, 2), NORMAL_X(0, 1, 3), NODE(i)) * \
                   between(NORMAL_Y(1, 0, 1), NORMAL_Y(1, 2, 3), NODE(j)) - \
               between(NORMAL_Y(0, 0, 2), NORMAL_Y(0, 1, 3), NODE(i)) * \
                   between(NORMAL_X(1, 0, 1), NORMAL_X(1, 2, 3), NODE(j))))
#endif
#endif
