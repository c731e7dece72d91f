/* What the files of AMG share. */
#ifndef EG_SOLVER_AMG_PARTS_H
#define EG_SOLVER_AMG_PARTS_H

#include "solver/amg.h"

/* --- set-up on the host ----------------------------------------------------------------------- */

/* Groups of rows that are strongly connected, as seen by near_null [rows]: aggregate [rows], -1 for
 * rows that are left to smoothing. */
eg_status eg_amg_aggregate(const eg_csr *a, double strength, const double *near_null,
                           int32_t *aggregate, int32_t *count);
/* The prolongation that has near_null [rows] in its range, with columns of length 1, and what
 * near_null becomes: coarse [count]. */
eg_status eg_amg_tentative(const eg_csr *a, const int32_t *aggregate, int32_t count,
                           const double *near_null, double *coarse, eg_csr **out);
/* (I - ω D⁻¹ A') T, where weak connections of A' are moved to its diagonal. */
eg_status eg_amg_smooth_prolongation(const eg_csr *a, double strength, const double *near_null,
                                     double omega, const eg_csr *tentative, eg_csr **out);
/* A generalised inverse of a small matrix, as a sparse one that is full. */
eg_status eg_amg_invert(const eg_csr *a, eg_csr **out);
/* 1 / diagonal: out [rows]. */
eg_status eg_amg_invert_diagonal(const eg_csr *a, double *out);

/* --- levels on the device --------------------------------------------------------------------- */

typedef struct eg_amg_level {
    eg_vectors *vectors;
    eg_sparse *a;
    eg_sparse *prolongation, *restriction; /* to and from the next level; the last has none */
    eg_sparse *inverse;                    /* of `a`: the last level, if it is small */
    eg_buffer *diagonal;                   /* reciprocals */
    int degree;
    eg_chebyshev_step steps[EG_CHEBYSHEV_DEGREE_MOST];
    eg_buffer *b, *x;       /* this level's problem, as the one above sees it */
    eg_buffer *before;      /* the solution before the coarse correction */
    eg_buffer *r[2], *d[2]; /* of smoothing */
    /* Two iterations [notay2008]: solutions c and e, their images, and the residual between. */
    eg_buffer *c, *e, *ac, *ae, *rest;
    eg_buffer *sums; /* f64 [5], see amg.k.c */
} eg_amg_level;

struct eg_amg {
    eg_context *ctx;   /* not owned */
    eg_device *device; /* not owned */
    eg_amg_options options;
    eg_amg_info info;
    eg_amg_level levels[EG_AMG_LEVELS_MOST];
    eg_kernel *smooth_zero, *smooth_first, *smooth_next, *k_rest, *k_combine;
    eg_buffer *whole;
    double *stage; /* [rows] on the way between ranks */
    float *stage_single;
};

#endif
