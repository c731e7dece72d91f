/* The mapping of an element of a snapshot, and its inverse: where in the reference element a point
 * lies. */
#ifndef EG_REPORT_PLOT_MAPPING_H
#define EG_REPORT_PLOT_MAPPING_H

#include "report/plot/polynomial.h"

typedef enum eg_mapping_kind {
    EG_MAPPING_NONE,        /* not finite, or flat: there is no inverse */
    EG_MAPPING_AFFINE,      /* to rounding */
    EG_MAPPING_MULTILINEAR, /* a straight quadrilateral or hexahedron */
    EG_MAPPING_CURVED
} eg_mapping_kind;

typedef struct eg_plot_mapping {
    eg_mapping_kind kind;
    eg_shape shape;
    int dim, degree;       /* the degree is 1 unless it is curved */
    const double *nodes;   /* [np][dim] of a curved one; not owned */
    double corners[8 * 3]; /* [np][dim] of one that is not */
    double inverse[3][3];  /* affine: ∂r/∂x */
} eg_plot_mapping;

/* What kind the mapping with these nodes [np][dim] is, and a box that holds the element. */
eg_mapping_kind eg_plot_mapping_judge(eg_shape shape, int degree, const double *nodes,
                                      double low[3], double high[3]);

/* The mapping of a kind that was judged; kind becomes EG_MAPPING_NONE if it is flat. */
void eg_plot_mapping_open(eg_mapping_kind kind, eg_shape shape, int degree, const double *nodes,
                          eg_plot_mapping *out);

/* The point x [dim] at r [dim]. */
void eg_plot_mapping_at(const eg_plot_mapping *mapping, const double *r, double *x);

/* Finds r [dim] of the point x [dim], to rounding if it is inside, about if it is outside but near,
 * and ∂r/∂x there. r holds a guess. False: it was not found from there. */
bool eg_plot_mapping_invert(const eg_plot_mapping *mapping, const double *x, double *r,
                            double inverse[3][3]);

/* The guess that is the node nearest to x. */
void eg_plot_mapping_guess(const eg_plot_mapping *mapping, const double *x, double *r);

#endif
