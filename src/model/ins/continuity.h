/* Penalties on what discontinuous elements leave of the divergence of a velocity, and on jumps of its
 * normal component: after the projection, the cure of under-resolved flows of [krank2017, fehn2018]. */
#ifndef EG_INS_CONTINUITY_H
#define EG_INS_CONTINUITY_H

#include "model/ins/faces.h"
#include "solver/solver.h"

typedef struct eg_ins_continuity_options {
    double strength;  /* ζ > 0: of both penalties */
    double tolerance; /* of the residual, as part of the right-hand side */
    int iterations;   /* at most */
} eg_ins_continuity_options;

typedef struct eg_ins_continuity eg_ins_continuity;

/* On a space as eg_ins_operator_create wants it; faces must outlive it. Collective, as all that follows. */
eg_status eg_ins_continuity_create(eg_space *space, const eg_ins_faces *faces,
                                   const eg_ins_continuity_options *options,
                                   eg_ins_continuity **out);
void eg_ins_continuity_destroy(eg_ins_continuity **continuity);

/* The penalties' coefficients for a velocity w, times dt. Ghosts of w need not be filled. */
eg_status eg_ins_continuity_prepare(eg_ins_continuity *continuity, eg_field *const w[2], double dt);
/* y = A x of continuity.k.c, both the data of a field with two components. */
eg_status eg_ins_continuity_apply(eg_ins_continuity *continuity, eg_buffer *x, eg_buffer *y);
/* Prepares, and replaces w by the solution; `given` is the velocity at boundaries. A solve that does not
 * converge is EG_ERROR_NUMERIC. Allocates nothing. */
eg_status eg_ins_continuity_run(eg_ins_continuity *continuity, const eg_ins_data *given, double dt,
                                eg_field *const w[2], int *iterations);

/* Rows of shared memory that its kernels take, for eg_ins_lanes. */
int eg_ins_continuity_rows(int np, int face_np);

#endif
