/* Polynomials that are given at equidistant nodes, as those of a snapshot, evaluated at points. */
#ifndef EG_REPORT_PLOT_POLYNOMIAL_H
#define EG_REPORT_PLOT_POLYNOMIAL_H

#include "element/element.h"

enum { EG_PLOT_DEGREE_MOST = EG_DEGREE_MAX_QUAD };

/* All basis polynomials of an element at one point, as factors: of quadrilaterals and hexahedra one
 * for each of r, s, t; of simplices one for each barycentric coordinate, the last that of vertex
 * 0. */
typedef struct eg_factors {
    int dim, degree;
    bool tensor;
    double value[4][EG_PLOT_DEGREE_MOST + 1];
    double slope[4][EG_PLOT_DEGREE_MOST + 1]; /* by r, s, t or by the barycentric coordinate */
} eg_factors;

/* Fills the factors of an element of dimension 2 or 3 and degree 1 to EG_PLOT_DEGREE_MOST at r
 * [dim], and the slopes if they are wanted. */
void eg_factors_fill(eg_shape shape, int degree, const double *r, bool slopes, eg_factors *out);

/* The polynomial with these values at the nodes [np]. */
double eg_factors_sum(const eg_factors *factors, const double *nodes);
/* The mapping with these nodes [np][dim]: x [dim] and its derivatives by r, s, t. */
void eg_factors_map(const eg_factors *factors, const double *nodes, double *x,
                    double jacobian[3][3]);

/* Barycentric coordinates of a simplex, or (1 ± r)/2 … of a tensor shape: one for each face, 0
 * there and negative beyond; with slopes by r, s, t [faces][dim]. Returns how many there are. */
int eg_face_coordinates(eg_shape shape, const double *r, double *value, double (*slope)[3]);

#endif
