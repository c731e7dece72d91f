/* The discontinuous Galerkin operator of u_t + div(b u) = s on a modal space of quadrilaterals or
 * hexahedra, and stages of explicit schemes with it: a fused kernel for each group of elements. */
#ifndef EG_ADVECTION_OPERATOR_H
#define EG_ADVECTION_OPERATOR_H

#include "field/field.h"
#include "time/time.h"

/* The expressions live as long as the operator's creation. */
typedef struct eg_advection_options {
    int components;                     /* tracers, all with the same velocity */
    const eg_expression *velocity[3];   /* [dim] */
    const eg_expression *const *source; /* [components] NULL: none; entries, too */
    const eg_expression *const
        *boundary;    /* [boundaries of the mesh][components] what flows in; NULL
                                             (entries, too): 0 */
    bool low_storage; /* stages of the scheme are */
} eg_advection_options;

typedef struct eg_advection eg_advection;

/* The lanes of a space on which the kernels' tiles fit into the shared memory of a GPU, up to this
 * degree; 0: those that the device prefers. */
int eg_advection_lanes(const eg_device *device, const eg_mesh *mesh,
                       const eg_advection_options *options, int degree);

/* The space has basis EG_BASIS_MODAL and a mesh of order 1; hexahedra that are not parallelepipeds need
 * degree 0, or 2 and more. Collective. */
eg_status eg_advection_create(eg_space *space, const eg_advection_options *options,
                              eg_advection **out);
void eg_advection_destroy(eg_advection **advection);

/* One stage: see time.h. `first` is not read by low-storage schemes, `k` by the others: it may be NULL
 * there. `out` is none of the others; ghosts of `current` are filled, those of `out` are not. */
eg_status eg_advection_stage(eg_advection *advection, const eg_stage *stage, const eg_field *first,
                             eg_field *current, eg_field *k, eg_field *out);

/* The least over all elements of 2 / ((2N + 1) Σ_d |b·∇r_d|), with b at corners and centres, at time t;
 * on squares of size h along an axis h / ((2N + 1) |b|). Infinite where b is 0 everywhere. */
eg_status eg_advection_stable_dt(eg_advection *advection, double t, double *dt);

#endif
