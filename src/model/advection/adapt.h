/* Adaptation of degrees during a run: how resolved the solution is, and the degrees that suffice. */
#ifndef EG_ADVECTION_ADAPT_H
#define EG_ADVECTION_ADAPT_H

#include "model/advection/operator.h"
#include "report/report.h"

typedef struct eg_adapt_options {
    bool on;
    int64_t every; /* steps between two decisions; 0: as many as it takes to cross an element */
    int least, most;
    double raise, lower; /* see adapt.c */
    /* What comes in, as in eg_advection_options; the caller's. */
    const eg_expression *const *boundary, *const *source;
} eg_adapt_options;

/* The section [adapt]. */
eg_status eg_adapt_options_from_case(const eg_case *cas, eg_adapt_options *out);
/* Judges the least degree on elements that are not affine. `mesh` may be a part. */
eg_status eg_adapt_check_mesh(const eg_case *cas, const eg_mesh *mesh);

typedef struct eg_adapt eg_adapt;

#define EG_ADAPT_COMPONENTS_MAX 16

/* For fields of so many components on spaces with this mesh. Collective. */
eg_status eg_adapt_create(eg_device *device, eg_comm *comm, const eg_mesh *mesh, int components,
                          const eg_adapt_options *options, eg_adapt **out);
void eg_adapt_destroy(eg_adapt **adapt);

/* Makes degrees [elements + ghosts] such as decisions make: within least and most, those of neighbours
 * differing by at most one, ghosts as where they are owned. Collective. */
eg_status eg_adapt_even_out(eg_adapt *adapt, uint8_t *degrees);

/* What is decided at a time. */
typedef struct eg_adapt_decision {
    const uint8_t *degrees; /* [elements + ghosts] borrowed until the next decision */
    bool changed;           /* on any rank they are others than those of the field's space */
} eg_adapt_decision;

/* The degrees that a field needs in what follows time t. Collective. */
eg_status eg_adapt_decide(eg_adapt *adapt, eg_advection *advection, double t, const eg_field *field,
                          eg_adapt_decision *out);

/* After step number `step`, of dt, that has ended at time t; *due: a decision is, before another like it.
 * Collective. */
eg_status eg_adapt_step(eg_adapt *adapt, eg_advection *advection, int64_t step, double t, double dt,
                        bool *due);

/* Adds the numbers that a restart needs. */
void eg_adapt_show(eg_adapt *adapt, eg_state *out);

/* move.c: a kernel of adapt.k.c for a group of a field's space. */
eg_status eg_adapt_make_kernel(const eg_field *field, const eg_group *group, const char *entry,
                               eg_kernel **out);

/* move.c: the same modes on another space of the mesh: those that it lacks are dropped, those that it adds are
 * 0. Ghosts are left as they are. */
eg_status eg_adapt_move(const eg_field *from, eg_field *to);

#endif
