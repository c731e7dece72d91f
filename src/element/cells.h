/* The basis EG_BASIS_CELLS along a line: [-1, 1] in n equal cells, each with a constant. */
#ifndef EG_ELEMENT_CELLS_H
#define EG_ELEMENT_CELLS_H

/* 1 for the cell that x is in, 0 for the others: values [n], and derivatives [n] (may be NULL), which
 * are 0. Where two cells meet it is the upper one; what is outside of the line belongs to the cell
 * at that end. */
void eg_cells_at(int n, double x, double *values, double *derivatives);

/* The means of orthonormal Legendre polynomials over the cells: out [n][degree + 1]. */
void eg_cells_means(int n, int degree, double *out);

/* The part of each of n cells that lies in each of m: out [n][m], rows add up to 1. */
void eg_cells_overlap(int m, int n, double *out);

#endif
