/* The flow as adaptation sees it: through which faces it comes into elements, where sources are, and how
 * much of an element it has crossed since the last decision. */
#ifndef EG_ADVECTION_FLOW_H
#define EG_ADVECTION_FLOW_H

#include "model/advection/operator.h"

typedef struct eg_flow {
    const eg_mesh *mesh;                /* not owned */
    const eg_expression *const *source; /* [components] see eg_advection_options; not owned */
    int components;
    uint8_t *
        inflow; /* [elements] bit f: it flows in through face f, somewhere; owned, like `sources` */
    bool *sources; /* [elements] a source acts there, of any tracer */
    double *size;  /* [elements] how large it is; scratch, owned */
    bool known;    /* `inflow` and `rate` are, and do not change */
    bool sources_known;
    /* What a restart needs, the same on all ranks. */
    double rate;    /* elements that are crossed in a unit of time, when it was last asked */
    double crossed; /* elements that are crossed since the last decision, at most */
    double steps;   /* … steps since then */
} eg_flow;

eg_status eg_flow_create(eg_context *ctx, const eg_mesh *mesh, int components,
                         const eg_expression *const *source, eg_flow *out);
void eg_flow_destroy(eg_context *ctx, eg_flow *flow);

/* Looks at a time at which a decision is made: `inflow`, `sources`, `rate`. Collective. */
eg_status eg_flow_look(eg_flow *flow, eg_advection *advection, double t);

/* After a step of dt that has ended at time t; *due: with another like it the degrees of the last decision
 * may no longer be enough. Collective. */
eg_status eg_flow_step(eg_flow *flow, eg_advection *advection, double t, double dt, bool *due);

#endif
