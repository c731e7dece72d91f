/* The operators of model `ins` on a space of affine triangles: advection, gradient, divergence, and
 * the right-hand sides of implicit steps. A velocity is two fields with one component. */
#ifndef EG_INS_OPERATOR_H
#define EG_INS_OPERATOR_H

#include "model/ins/faces.h"

typedef struct eg_ins_operator eg_ins_operator;

/* The lanes of a space on which a tile fits into the shared memory of a GPU, for these kernels and
 * those of model `elliptic`. */
eg_status eg_ins_lanes(const eg_device *device, const eg_mesh *mesh, int degree, int *lanes);

typedef struct eg_ins_advection_options {
    bool collocated; /* fluxes are computed at nodes, not by quadrature of degree 3N */
    double backflow; /* the part of momentum that is not let in at an outflow, 0 to 1 */
    bool by_faces;   /* the surface term has the kernel for GPUs on any device: for tests */
} eg_ins_advection_options;

/* The space has one group, of affine triangles with EG_BASIS_LOBATTO; fields are of EG_F64.
 * Collective. */
eg_status eg_ins_operator_create(eg_space *space, const eg_ins_faces *faces,
                                 const eg_ins_advection_options *options, eg_ins_operator **out);
void eg_ins_operator_destroy(eg_ins_operator **op);

/* In all of these ghosts of what is read are filled, those of what is written are not; nothing is
 * allocated. `given` are the data of the velocity or the pressure at boundaries. */

/* out = ∇·(w⊗w). */
eg_status eg_ins_advect(eg_ins_operator *op, eg_field *const w[2], const eg_ins_data *given,
                        eg_field *const out[2]);

/* What is carried in through boundaries: values + since slopes, laid out like data of a velocity. */
typedef struct eg_ins_inflow {
    eg_buffer *values, *slopes;
    double since;
} eg_ins_inflow;

/* out = ∇·(a⊗w), w carried by a, which is `given` at boundaries. */
eg_status eg_ins_carry(eg_ins_operator *op, eg_field *const a[2], const eg_ins_data *given,
                       eg_field *const w[2], const eg_ins_inflow *inflow, eg_field *const out[2]);
/* The two halves of it: out = what the inside of elements gives, then out += what their faces do. */
eg_status eg_ins_carry_inside(eg_ins_operator *op, eg_field *const a[2], eg_field *const w[2],
                              eg_field *const out[2]);
eg_status eg_ins_carry_faces(eg_ins_operator *op, eg_field *const a[2], const eg_ins_data *given,
                             eg_field *const w[2], const eg_ins_inflow *inflow,
                             eg_field *const out[2]);
/* A stage of a low-storage Runge-Kutta scheme, where that is faster than a carry and what is done with its result:
 * k = A k - dt ∇·(a⊗w) and new w = w + B k. `out` is used meanwhile; new w is none of the others. */
typedef struct eg_ins_stage {
    double A, dt, B;
    eg_field *const *k, *const *next; /* [2]; next: the new w */
} eg_ins_stage;
bool eg_ins_has_stages(const eg_ins_operator *op);
eg_status eg_ins_carry_stage(eg_ins_operator *op, eg_field *const a[2], const eg_ins_data *given,
                             eg_field *const w[2], const eg_ins_inflow *inflow,
                             const eg_ins_stage *stage, eg_field *const out[2]);
/* The points at which it has values: of the element, and of a face. */
void eg_ins_points(const eg_ins_operator *op, int *inner, int *face);
/* What a velocity w brings in through boundaries in a step of dt: its values there, `given` or, where it
 * flows out, its own, and w·∇w; both laid out like data of a velocity. */
eg_status eg_ins_find_inflow(eg_ins_operator *op, eg_field *const w[2], const eg_ins_data *given,
                             double dt, eg_buffer *values, eg_buffer *steep);
/* g = keep g + scale ∇p; with keep = 0 it does not matter what g held. */
eg_status eg_ins_gradient(eg_ins_operator *op, eg_field *p, const eg_ins_data *given, double keep,
                          double scale, eg_field *const g[2]);
/* d = ∇·w. */
eg_status eg_ins_divergence(eg_ins_operator *op, eg_field *const w[2], const eg_ins_data *given,
                            eg_field *d);
/* d = ∂v/∂x - ∂u/∂y, in the same way. */
eg_status eg_ins_vorticity(eg_ins_operator *op, eg_field *const w[2], const eg_ins_data *given,
                           eg_field *d);

/* What an implicit step is given. */
typedef struct eg_ins_load {
    eg_field *f;
    double scale;                    /* of f */
    double tau;                      /* eg_elliptic_penalty of the operator that will be inverted */
    eg_buffer *types;                /* eg_elliptic_boundary, by eg_ins_faces_spread */
    const eg_ins_data *fixed, *flux; /* of Dirichlet and Neumann boundaries … */
    int fixed_component, flux_component;
    double flux_scale;
} eg_ins_load;

/* b such that -Δu + λu = scale f with these data. */
eg_status eg_ins_make_load(eg_ins_operator *op, const eg_ins_load *load, eg_buffer *b);

#endif
