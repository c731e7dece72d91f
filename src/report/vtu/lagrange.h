/* The nodes of VTK's Lagrange cells: their numbers and their order. */
#ifndef EG_REPORT_LAGRANGE_H
#define EG_REPORT_LAGRANGE_H

#include "element/element.h"

/* VTK's number of the Lagrange cell of a shape, which is not a line. */
int eg_lagrange_cell(eg_shape shape);
/* The shape of a cell, linear or Lagrange; false if it is none of ours. */
bool eg_lagrange_shape(int64_t cell, bool *linear, eg_shape *shape);
/* The degree of an element with so many nodes, 0 if there is none. */
int eg_lagrange_degree(eg_shape shape, int64_t nodes);

/* Files before version 2.1 number the edges 10 and 11 of hexahedra the other way round. */
typedef enum eg_lagrange_version { EG_LAGRANGE_OLD, EG_LAGRANGE_21 } eg_lagrange_version;

/* order [nodes]: the node of EG_BASIS_EQUIDISTANT in this library's order that is node i of a
 * Lagrange cell. Degree at least 1. */
void eg_lagrange_order(eg_shape shape, int degree, eg_lagrange_version version, int *order);

/* The orders of all elements of a file, each made when it is first needed. */
typedef struct eg_lagrange_orders {
    eg_context *ctx; /* not owned */
    eg_lagrange_version version;
    int *at[EG_SHAPE_COUNT][EG_DEGREE_MAX_QUAD + 1]; /* owned */
} eg_lagrange_orders;

eg_status eg_lagrange_find(eg_lagrange_orders *orders, eg_shape shape, int degree, const int **out);
void eg_lagrange_free(eg_lagrange_orders *orders);

#endif
