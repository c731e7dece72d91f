/* The Euler equations of an ideal gas on a space of quadrilaterals, and stages of
 * explicit schemes with them: a fused kernel for each group of elements. */
#ifndef EG_EULER_OPERATOR_H
#define EG_EULER_OPERATOR_H

#include "field/field.h"
#include "model/euler/limiter.h"
#include "model/euler/lines.h"
#include "time/time.h"

/* Density, two momenta and energy per volume; or density, velocity and pressure. */
#define EG_EULER_COMPONENTS 4

/* The choices of boundary.*.type, as in boundary.k.h. */
typedef enum eg_euler_boundary {
    EG_EULER_WALL,
    EG_EULER_OUTFLOW,
    EG_EULER_INFLOW,
    EG_EULER_FARFIELD,
    EG_EULER_STATE
} eg_euler_boundary;

/* The expressions live as long as the operator's creation. */
typedef struct eg_euler_options {
    eg_euler_scheme scheme;
    int flux; /* FLUX_… of gas.k.h */
    double gamma;
    bool low_storage; /* stages of the time scheme are */
    int stages;       /* of a step, for eg_euler_step; 0: that is not called */
    bool rates;       /* eg_euler_stable_dt is called after each step */
    int64_t chunk;    /* tiles that a thread computes at a time in a step; 0: as caches want it */
    eg_euler_limits limits;
    const eg_euler_boundary *types; /* [boundaries of the mesh] */
    /* [boundaries][4] density, velocity, pressure; NULL: of types that need none */
    const eg_expression *const *given;
} eg_euler_options;

typedef struct eg_euler eg_euler;

/* The lanes of a space on which the kernel's tiles fit into the shared memory of a GPU. */
int eg_euler_lanes(const eg_device *device, int degree);

/* The space has basis eg_euler_basis. Collective. */
eg_status eg_euler_create(eg_space *space, const eg_euler_options *options, eg_euler **out);
void eg_euler_destroy(eg_euler **euler);

/* Moves values at solution points to the means of a projection of the same function, without going beyond
 * them (start.c). Collective. */
eg_status eg_euler_start(eg_euler *euler, const eg_field *projected, eg_field *values);
/* To be called when `current` has come from elsewhere than the last stage. */
eg_status eg_euler_begin(eg_euler *euler, const eg_field *current);
/* One stage: see time.h. `first` is not read by low-storage schemes, `k` by the others: it may
 * be NULL there. `current` is the `out` of the last stage, or what eg_euler_begin was told of;
 * `out` is none of the others. Ghosts of `current` are filled. */
eg_status eg_euler_stage(eg_euler *euler, const eg_stage *stage, const eg_field *first,
                         eg_field *current, eg_field *k, eg_field *out);
/* Whether the operator makes whole steps, and no single stages: on CPUs, for fields larger than their caches,
 * of schemes that strongly preserve stability, on one rank and without a limiter. */
bool eg_euler_has_steps(const eg_euler *euler);
/* All stages of a step, in place: to the bit what single ones come to, with a third of the memory traffic. */
eg_status eg_euler_step(eg_euler *euler, const eg_stage *stages, int count, eg_field *current);
/* Limits what the last stage gave, or eg_euler_begin was told of, in place; without a limiter it
 * does nothing. `time` is that of what boundaries give. Collective. */
eg_status eg_euler_limit(eg_euler *euler, double time, eg_field *field);

/* The least over all elements of Δx / (|u| + c), where Δx is an element's area over its longest
 * side: of a rectangle the shorter side; of a curved element, the least over its points of that of
 * the parallelogram which the element is there; of finite volumes that of a cell, as many times
 * smaller. NaN if a state has no |u| + c. Collective. */
eg_status eg_euler_stable_dt(eg_euler *euler, const eg_field *current, double *dt);

/* ∫ of each component by the quadrature of the solution points, which is what stages conserve to
 * rounding: out [4]. Collective. */
eg_status eg_euler_totals(eg_euler *euler, const eg_field *current, double *out);

#endif
