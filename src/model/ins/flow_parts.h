/* What the files of a flow share. */
#ifndef EG_INS_FLOW_PARTS_H
#define EG_INS_FLOW_PARTS_H

#include "model/ins/continuity.h"
#include "model/ins/flow.h"
#include "model/ins/speed.h"

enum { STATES = EG_BDF_ORDER_MAX }; /* that are kept at most */

struct eg_ins_flow {
    eg_space *space; /* not owned */
    eg_ins_options options;
    eg_elliptic_boundary *types[3]; /* of u, v, p: [boundaries + 1] owned, as all that follows */
    eg_buffer *face_types[3];       /* the same for each face */
    eg_ins_faces *faces;
    eg_ins_data *velocity, *pressure, *traction; /* on boundaries */
    eg_ins_operator *op;
    eg_vectors *vectors;
    eg_function *force[2];

    int states;             /* known, the last first … */
    double times[STATES];   /* … and when they were */
    eg_field *w[STATES][2]; /* velocities */
    eg_field *p[STATES];
    eg_field *n[STATES][2]; /* what advection made of them, */
    bool advected[STATES];  /* … where it is known */

    eg_field *hat[2];  /* (17a), with what is added to it */
    eg_field *next[2]; /* (17b), (17d) */
    eg_field *guess;   /* the pressure that the velocity is predicted with */
    eg_field *change;  /* from there to the pressure */
    eg_field *scalar;  /* a force; a divergence */
    eg_buffer *load;

    /* Of subcycles: what carries, a register of the Runge-Kutta scheme, */
    eg_field *carrier[2], *register_k[2];
    eg_field *other_hat[2]; /* where the result of a stage goes that is done at once */
    /* … and on boundary faces, of each state: the velocity and w·∇w; of their sum: the values that
     * are carried in, and how fast they change. */
    eg_vectors *on_faces;
    eg_buffer *given[STATES], *steep[STATES], *inflow, *inflow_slope;

    eg_field *basis[3];            /* of guesses for u, v, p; NULL: there are none */
    eg_guess *guesses[3];          /* the same */
    double lambda;                 /* of a flow that goes on: of its solves; else 0 */
    eg_ins_solve *solve[3];        /* u, v, p; that of v is that of u where it can be */
    eg_ins_continuity *continuity; /* NULL: none */
    eg_ins_speed *speed;           /* when first needed */
    eg_ins_counts counts;
    double marked_s; /* when the part of the step began */
};

/* flow.c: a field of zeros. */
eg_status eg_ins_new_field(eg_ins_flow *flow, eg_field **out);

/* guesses.c: first guesses for all solves. */
eg_status eg_ins_guesses_create(eg_ins_flow *flow);
void eg_ins_guesses_destroy(eg_ins_flow *flow);

/* subcycle.c: what subcycles need. */
eg_status eg_ins_cycles_create(eg_ins_flow *flow);
void eg_ins_cycles_destroy(eg_ins_flow *flow);
/* subcycle.c: hat = Σ beta_i (w_i, carried from its time to t). */
eg_status eg_ins_subcycle(eg_ins_flow *flow, int order, const double *beta, double t);

#endif
