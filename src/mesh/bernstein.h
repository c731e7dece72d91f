/* Polynomials in Bernstein form on simplices and tensor shapes; private to room `mesh`.
 *
 * A polynomial is the sum of its coefficients times the Bernstein polynomials, which are positive
 * and sum to one: its values lie between the least and the greatest coefficient, and those at the
 * corners are coefficients themselves. Halving the domain [farin2002] brings coefficients nearer to
 * values by a factor of four.
 *
 * Coefficients are numbered by exponents (a, b, c) with a fastest, as the nodes of elements are: on
 * tensor shapes up to the degree of each coordinate, on simplices those of the barycentric
 * coordinates of vertices 1, 2, 3, while that of vertex 0 makes up the degree. */
#ifndef EG_BERNSTEIN_H
#define EG_BERNSTEIN_H

#include "element/element.h"

/* Where a domain can be halved: along an axis of a tensor shape, or at an edge of a simplex. The
 * coefficients fall into lines along it, each of which is a polynomial of one variable. */
typedef struct eg_bernstein_direction {
    int *length; /* [line_count] coefficients of each line; owned */
    int *index;  /* [count] the coefficients, line after line; owned */
    int line_count;
    int pair_count; /* of corners that are ends of an edge along it */
    int pair[4][2]; /* from the low end to the high one */
} eg_bernstein_direction;

#define EG_BERNSTEIN_DIRECTIONS 6

typedef struct eg_bernstein {
    eg_context *ctx; /* not owned */
    eg_shape shape;
    int dim, degree[3]; /* simplices: the same three times; axes that are not there: 0 */
    int count;          /* coefficients */
    int *row;       /* [degree[2] + 1][degree[1] + 1] coefficient of exponents (0, b, c); owned */
    double *weight; /* [count] the multinomials that Bernstein polynomials have before their powers;
                       owned */
} eg_bernstein;

eg_status eg_bernstein_create(eg_context *ctx, eg_shape shape, const int degree[3],
                              eg_bernstein *space);
void eg_bernstein_destroy(eg_bernstein *space);

/* The number of the coefficient of exponents (e[0], e[1], e[2]), and whether there is one. */
int eg_bernstein_index(const eg_bernstein *space, const int e[3]);
bool eg_bernstein_has(const eg_bernstein *space, const int e[3]);
/* The coefficient that is the value at a vertex of the shape. */
int eg_bernstein_corner(const eg_bernstein *space, int vertex);

/* The values of all Bernstein polynomials at the point r [dim]: values [count]. */
void eg_bernstein_evaluate(const eg_bernstein *space, const double *r, double *values);

/* c += sign a b, where all three are coefficients times weights, and the degrees of c are the sums
 * of those of a and b. */
void eg_bernstein_multiply(const eg_bernstein *space_a, const double *a,
                           const eg_bernstein *space_b, const double *b, double sign,
                           const eg_bernstein *space_c, double *c);

/* All directions of a space: fills directions [EG_BERNSTEIN_DIRECTIONS] and says how many. */
eg_status eg_bernstein_find_directions(const eg_bernstein *space,
                                       eg_bernstein_direction *directions, int *count);
void eg_bernstein_free_directions(eg_context *ctx, eg_bernstein_direction *directions);

/* The greatest second difference of coefficients along a direction: how far they may be from
 * values. */
double eg_bernstein_bend(const eg_bernstein_direction *direction, const double *coefficients);

/* The greatest difference of two coefficients of a line along a direction. */
double eg_bernstein_variation(const eg_bernstein_direction *direction, const double *coefficients);

/* Halves the domain along a direction: coefficients become those of the low half, `high` [count]
 * those of the other. `line` has room for the longest line. */
void eg_bernstein_halve(const eg_bernstein_direction *direction, double *coefficients, double *high,
                        double *line);

#endif
