/* What it takes to bound determinants of elements of one shape and order; private to jacobian.c and
 * jacobian_tables.c. */
#ifndef EG_JACOBIAN_TABLES_H
#define EG_JACOBIAN_TABLES_H

#include "mesh/bernstein.h"
#include "mesh/jacobian.h"

#define EG_JACOBIAN_DEPTH 60 /* an element is halved up to so many times in a row */

/* A part of an element. */
typedef struct eg_jacobian_piece {
    double corner[EG_MAX_VERTICES][3]; /* in the element's reference coordinates */
    double least;                      /* a bound of its determinants from below */
    double entry[3];                   /* slopes of each coordinate are known to this */
    int halvings;                      /* that led to it */
    int direction;                     /* in which its slopes are halved next */
} eg_jacobian_piece;

struct eg_jacobian {
    eg_context *ctx; /* not owned */
    const eg_shape_info *info;
    int order, np;
    double conversion; /* rounding of a derivative, as a part of the greatest coefficient */

    eg_bernstein mapping;       /* coefficients of a coordinate */
    double *convert;            /* simplices: [np][np]; tensor shapes: [order + 1][order + 1], along
                                   each axis: coefficients from values at nodes; owned */
    double *net;                /* [dim][np] coefficients of the coordinates; owned */
    double *turned;             /* [np] room for their conversion; owned */
    eg_bernstein derivative[3]; /* along r, s, t */
    int *low[3], *high[3];      /* [derivative's count] it is the difference of these coefficients;
                                   owned */
    int slope_count;            /* coefficients of all derivatives of all coordinates */
    double *
        slopes; /* [EG_JACOBIAN_DEPTH + 2][slope_count]: [along][of coordinate][derivative's count] of the
                       element, then of pieces; owned */
    double *seen; /* [slope_count] those of one piece times the matrix of its view; owned */
    eg_bernstein_direction slope_direction[3][EG_BERNSTEIN_DIRECTIONS];
    int slope_corner[3][EG_MAX_VERTICES]; /* coefficients of derivatives */

    eg_bernstein minor; /* products of derivatives along s and t; three dimensions */
    double *cofactor;   /* [its count] owned */
    eg_bernstein determinant;
    eg_bernstein_direction direction[EG_BERNSTEIN_DIRECTIONS];
    int direction_count;
    int corner[EG_MAX_VERTICES]; /* coefficients of the determinant */
    double *coefficients;        /* [EG_JACOBIAN_DEPTH + 1][determinant's count] of pieces; owned */
    double *line;                /* the longest of a direction; owned */
    eg_jacobian_piece pieces[EG_JACOBIAN_DEPTH + 2];
};

#endif
