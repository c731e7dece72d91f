/* From values of an element in any basis to values at its equidistant nodes of another degree, or at
 * those of the equal parts that it is split into. */
#ifndef EG_REPORT_SNAPSHOT_NODES_H
#define EG_REPORT_SNAPSHOT_NODES_H

#include "element/element.h"

/* Matrices [split][rows][cols] from values to values at nodes, of tensor shapes their factors in 1D:
 * one for each part along a line. */
typedef struct eg_to_nodes {
    eg_shape shape;
    eg_basis basis;
    int from, to; /* degrees: of the values, and of the nodes (≥ 1; of polynomials ≥ from) */
    int split;    /* parts along each direction; 1 on simplices */
    int rows, cols;
    int directions;     /* how often the matrix is a factor */
    double *matrix;     /* owned */
    double *scratch[2]; /* owned */
} eg_to_nodes;

/* A growing list of them: each is made when it is first needed. */
typedef struct eg_to_nodes_list {
    eg_context *ctx; /* not owned */
    int count;
    eg_to_nodes *at; /* [count] owned */
} eg_to_nodes_list;

void eg_to_nodes_free(eg_to_nodes_list *list);

/* *out is borrowed until the next call. */
eg_status eg_to_nodes_find(eg_to_nodes_list *list, eg_shape shape, eg_basis basis, int from, int to,
                           int split, const eg_to_nodes **out);

/* Values of one component, `stride` numbers apart, become values at the nodes of a part (numbered with r
 * fastest), `stride` apart, too. */
void eg_to_nodes_apply(const eg_to_nodes *map, int part, int stride, const double *values,
                       double *nodes);

#endif
