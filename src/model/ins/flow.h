/* An incompressible flow in time: the splitting of [karakus2018], eqs. (17a) to (17d), with
 * backward differentiation and extrapolation of order 1 to 3, or subcycled advection, section 2.3. */
#ifndef EG_INS_FLOW_H
#define EG_INS_FLOW_H

#include "model/ins/operator.h"
#include "model/ins/solve.h"
#include "time/bdf.h"

/* What holds at a boundary. */
typedef enum eg_ins_boundary {
    EG_INS_INFLOW, /* the velocity is given */
    EG_INS_WALL,   /* it is 0 */
    EG_INS_OPEN,   /* pressure p and viscous traction ν ∂w/∂n are given */
    EG_INS_FREE    /* a wall along x or y without friction */
} eg_ins_boundary;

/* What a boundary is given; NULL ones are 0. */
typedef struct eg_ins_given {
    const eg_expression *velocity[2], *pressure, *traction[2];
} eg_ins_given;

/* Expressions live as long as the flow; arrays are copied. */
typedef struct eg_ins_options {
    double viscosity;   /* > 0 */
    int order;          /* of backward differentiation, 1 to 3 */
    int pressure_order; /* of the pressure that the velocity is predicted with, 0 to 2 */
    int subcycles;      /* steps of advection in each step; 0: extrapolation instead */
    eg_ins_advection_options advection;
    double penalty;                         /* as that of eg_elliptic_options */
    double continuity;                      /* eg_ins_continuity_options.strength; 0: none */
    const eg_ins_boundary *boundary;        /* [boundaries] */
    const eg_ins_given *given;              /* [boundaries] */
    const eg_expression *force[2];          /* NULL: 0 */
    eg_precondition_options preconditioner; /* of the pressure */
    eg_precondition_kind
        velocity; /* that of the velocity, MASS or BLOCKS: it is made anew whenever the
                                               length of steps changes */
    double tolerance;
    int iterations;
    int guesses; /* solutions that first guesses are made of, up to EG_GUESS_MOST; 0: none */
} eg_ins_options;

/* Parts of a step, by which its time is told. */
typedef enum eg_ins_part {
    EG_INS_ADVECTION,
    EG_INS_VELOCITY,
    EG_INS_PRESSURE,
    EG_INS_UPDATE,
    EG_INS_CONTINUITY,
    EG_INS_PREPARATION, /* of solves, when the length of steps or the order changes */
    EG_INS_PARTS
} eg_ins_part;

typedef struct eg_ins_counts {
    int64_t steps;
    int64_t velocity_iterations, pressure_iterations; /* of both components; in all */
    int64_t continuity_iterations;
    double seconds[EG_INS_PARTS];
} eg_ins_counts;

typedef struct eg_ins_flow eg_ins_flow;

/* On a space as eg_ins_operator_create wants it. Collective, as all that follows. */
eg_status eg_ins_flow_create(eg_space *space, const eg_ins_options *options, eg_ins_flow **out);
void eg_ins_flow_destroy(eg_ins_flow **flow);

/* Fields u, v, p of where the flow is (state 0), or was before (up to eg_ins_flow_history() - 1); borrowed,
 * and others after each call of the functions below. */
eg_field *eg_ins_flow_field(const eg_ins_flow *flow, int state, int component);

/* Makes room for the state at time t, to be filled in by the caller; what was there is history. A flow
 * begins with one state, or with up to eg_ins_flow_history(), the oldest first: with fewer its first
 * steps are of lower order. */
void eg_ins_flow_begin(eg_ins_flow *flow, double t);
int eg_ins_flow_history(const eg_ins_flow *flow);

/* Besides its fields, all that a flow needs to go on, bit for bit. */
typedef struct eg_ins_memory {
    double states;                  /* known */
    double times[EG_BDF_ORDER_MAX]; /* of each, the last first */
    double lambda;                  /* of the solves for the velocity; 0: there were none yet */
    double guesses[3];              /* solutions for u, v, p that guesses are made of … */
    double systems[3];              /* … and numbers that tell whose solutions they are */
} eg_ins_memory;
eg_ins_memory eg_ins_flow_remember(const eg_ins_flow *flow);
/* In place of eg_ins_flow_begin; the caller fills in the fields of as many states as memory tells, or
 * the flow has room for: returns how many. */
int eg_ins_flow_resume(eg_ins_flow *flow, const eg_ins_memory *memory);
/* What guesses for a component are made of, as many components as it has room for; borrowed. NULL: nothing.
 * A flow that goes on wants it filled in unless it is of no use to it, for its system is another. */
eg_field *eg_ins_flow_basis(const eg_ins_flow *flow, int component);
bool eg_ins_flow_wants_basis(const eg_ins_flow *flow, const eg_ins_memory *memory, int component);
/* It is filled in. */
void eg_ins_flow_resume_basis(eg_ins_flow *flow, const eg_ins_memory *memory, int component);

/* The vorticity and the divergence of where it is. */
eg_status eg_ins_flow_derive(eg_ins_flow *flow, eg_field *vorticity, eg_field *divergence);

/* The largest step from where it is that advection is stable with; infinite where nothing moves. */
eg_status eg_ins_flow_stable_dt(eg_ins_flow *flow, double *dt);
/* The length of the step that led to where it is; infinite if there is none. */
double eg_ins_flow_last_dt(const eg_ins_flow *flow);
/* A step from where it is by dt. After a failure the flow can only be destroyed. */
eg_status eg_ins_flow_step(eg_ins_flow *flow, double dt);
const eg_ins_counts *eg_ins_flow_counts(const eg_ins_flow *flow);

#endif
