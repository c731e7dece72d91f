/* The discontinuous Galerkin operator of u_t + div(b u) = s on a modal space of quadrilaterals or
 * hexahedra, and stages of explicit schemes with it: a fused kernel for each group of elements. */
#ifndef EG_ADVECTION_OPERATOR_H
#define EG_ADVECTION_OPERATOR_H

#include "field/field.h"
#include "time/time.h"

/* How integrals are computed: with N + 1 + extra points a side of an element of degree N. */
typedef struct eg_advection_quadrature {
    bool lobatto; /* Gauss-Lobatto points, else Gauss points */
    int extra;
} eg_advection_quadrature;

#define EG_ADVECTION_EXTRA_MOST 4
/* The least `extra` with which a rule is exact for products of an element's polynomials. */
int eg_advection_least_extra(bool lobatto);
/* One more than that. */
eg_advection_quadrature eg_advection_default_quadrature(bool lobatto);

/* advection.quadrature and advection.extra_points; *chosen: one of them is given. */
eg_status eg_advection_quadrature_from_case(const eg_case *cas, eg_advection_quadrature *out,
                                            bool *chosen);

/* The expressions live as long as the operator's creation. */
typedef struct eg_advection_options {
    int components;                     /* tracers, all with the same velocity */
    const eg_expression *velocity[3];   /* [dim] */
    const eg_expression *const *source; /* [components] NULL: none; entries, too */
    const eg_expression *const
        *boundary;    /* [boundaries of the mesh][components] what flows in; NULL
                                             (entries, too): 0 */
    bool low_storage; /* stages of the scheme are */
    bool one_stage;   /* the scheme has one: `first` is `current` */
    /* NULL: Gauss points, where points are needed; else all elements have these. */
    const eg_advection_quadrature *quadrature;
    /* Other operators will follow, on spaces whose degrees go up to this: kernels are made to fit those,
     * too. 0: they fit this space alone. */
    int degree_most;
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

/* The least over all elements of 2 / ((2N + 1) Σ_d |b·∇r_d|) at time t; on squares of size h along an
 * axis h / ((2N + 1) |b|). Infinite where b is 0 everywhere. A b that varies is looked at in the
 * points of integration of elements and faces; one that is not finite is EG_ERROR_NUMERIC. Collective. */
eg_status eg_advection_stable_dt(eg_advection *advection, double t, double *dt);
/* The same for degree 0: what is carried crosses less than an element in that time. */
eg_status eg_advection_crossing_time(eg_advection *advection, double t, double *time);

#endif
