/* The orthonormal modes of all shapes, and Lagrange polynomials in one dimension. */
#ifndef EG_ELEMENT_BASIS_H
#define EG_ELEMENT_BASIS_H

#include "element/element.h"

#define EG_LINE_NP_MAX (EG_DEGREE_MAX_QUAD + 1)
#define EG_SIMPLEX_NP_MAX ((EG_DEGREE_MAX + 1) * (EG_DEGREE_MAX + 2) * (EG_DEGREE_MAX + 3) / 6)

/* The polynomial degree of mode `mode` of a simplex, whose modes are numbered by it. */
int eg_simplex_mode_degree(eg_shape shape, int mode);

/* Orthonormal Legendre polynomials of degree 0 … degree at x, and their derivatives (may be
 * NULL). */
void eg_line_modes(int degree, double x, double *values, double *derivatives);

/* All modes of a triangle or tetrahedron at one point r [dim]: values [np], gradient [dim][np] (may
 * be NULL). Any point will do, collapsed vertices and edges too. */
void eg_simplex_modes(eg_shape shape, int degree, const double *r, double *values,
                      double *gradient);

/* The Lagrange polynomials of nodes [n] at x, and their derivatives (may be NULL). At a node the
 * values are exactly 0 and 1. */
void eg_lagrange(int n, const double *nodes, double x, double *values, double *derivatives);

#endif
