/* The section [output.average] of a case: means over time and covariances of what a model shows, as
 * fields beside its own, of any model in time.
 *
 * States count by the trapezoidal rule: each for half of the step that led to it and half of the
 * one that leads away. Before averages begin, and at their first state, they are that state. */
#ifndef EG_MODEL_AVERAGE_H
#define EG_MODEL_AVERAGE_H

#include "report/report.h"

/* The rows of the section, for a table of keys. */
extern const eg_key eg_average_keys[];

/* What a case asks for, by what the names of components tell. */
typedef struct eg_average_plan {
    eg_context *ctx; /* not owned */
    double from;     /* when they begin */
    int count;       /* components that are averaged; 0: none are … */
    int varied;      /* … and of how many of these, the first, there are covariances */
    int total;       /* means and covariances together */
    int *component;  /* [count] numbers among the names given; owned */
    char **names;    /* [total + 1] mean_u, …, cov_u_u, cov_u_v, …, NULL; owned */
} eg_average_plan;

/* `names` [name_count] are the components of the model's fields; wrong ones fail at their place. */
eg_status eg_average_plan_read(eg_context *ctx, const eg_case *cas, const char *const *names,
                               int name_count, eg_average_plan *out);
void eg_average_plan_free(eg_average_plan *plan);

typedef struct eg_averages eg_averages;

/* Takes the plan over, which is empty then. `shown` is what the model shows: components are counted
 * through its fields that are not kept_only. Collective, as all that moves fields. */
eg_status eg_averages_create(const eg_case *cas, const eg_state *shown, eg_average_plan *plan,
                             eg_averages **out);
void eg_averages_destroy(eg_averages **averages);
/* What its fields are called, ended by NULL; borrowed. */
const char *const *eg_averages_names(const eg_averages *averages);
/* True if a component that is averaged belongs to a derived field. */
bool eg_averages_need_derived(const eg_averages *averages);

/* Adds what is shown, what checkpoints keep, and the numbers that go with it. */
void eg_averages_show(eg_averages *averages, eg_state *state);
/* Before a step of dt from the state: it is counted, if averages have begun. */
eg_status eg_averages_step(eg_averages *averages, const eg_state *state, double dt);
/* Makes the fields shown those of the state. */
eg_status eg_averages_update(eg_averages *averages, const eg_state *state);
/* Takes what a checkpoint has, if the averages have begun there; numbers are restored already. */
eg_status eg_averages_resume(eg_averages *averages, eg_checkpoint *from);
/* The first time behind t at which a step must end; INFINITY: none. */
double eg_averages_next_stop(const eg_averages *averages, double t);
/* When the first state was that counts; NaN: there is none yet. */
double eg_averages_begin(const eg_averages *averages);

#endif
