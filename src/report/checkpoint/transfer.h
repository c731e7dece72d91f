/* Projections of an element's values from one degree and basis to another. */
#ifndef EG_REPORT_CHECKPOINT_TRANSFER_H
#define EG_REPORT_CHECKPOINT_TRANSFER_H

#include "element/element.h"

/* A matrix [rows][cols]; of tensor shapes its factor in 1D. */
typedef struct eg_projection {
    eg_shape shape;
    int from, to; /* degrees */
    int rows, cols;
    int directions; /* how often the matrix is a factor */
    double *matrix; /* owned */
} eg_projection;

/* All that have been needed so far between two bases. */
typedef struct eg_projections {
    eg_context *ctx; /* not owned */
    eg_basis from, to;
    int count;
    eg_projection *at; /* [count] owned */
    double *scratch;   /* for what is between two directions; owned */
} eg_projections;

void eg_projections_free(eg_projections *list);

/* values [np of the first degree] → out [np of the second]: a copy where degree and basis are the same. */
eg_status eg_projections_apply(eg_projections *list, eg_shape shape, int from, int to,
                               const double *values, double *out);

#endif
