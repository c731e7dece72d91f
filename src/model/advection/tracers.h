/* A run of model `advection`: the tracers, what lives on their space, and the steps. advection.c reads the
 * case and tells the results. */
#ifndef EG_ADVECTION_TRACERS_H
#define EG_ADVECTION_TRACERS_H

#include "model/advection/adapt.h"
#include "model/advection/limiter.h"
#include "model/advection/operator.h"
#include "model/model.h"

/* The longest name of a tracer. */
enum { EG_TRACER_NAME = 64 };

/* What lives on a space, and is made anew when degrees change. Functions, the measure and the limiter are
 * made when they are needed. */
typedef struct eg_tracers_space {
    eg_space *space;
    eg_function *initial, *exact;
    eg_measure *measure;
    eg_advection *op;
    eg_advection_limiter *limiter; /* also finds ranges where nothing is limited */
    /* The solution, what it was at the beginning of the step, and what a stage writes; low-storage
     * schemes have the register k instead of the second. */
    eg_field *current, *first, *next, *k;
} eg_tracers_space;

/* advection.c fills in what the case says. */
typedef struct eg_tracers {
    eg_context *ctx; /* not owned */
    int fields;
    const char *names[EG_MODEL_FIELDS_MAX]; /* the case's */
    const eg_expression *initial_of[EG_MODEL_FIELDS_MAX];
    const eg_expression *exact_of[EG_MODEL_FIELDS_MAX]; /* NULL: none */
    eg_time_options time;
    eg_adapt_options adapting;
    eg_problem problem;           /* nothing of it is owned */
    eg_advection_options options; /* of operators */
    eg_advection_quadrature quadrature;
    const eg_expression **boundary,
        *source[EG_MODEL_FIELDS_MAX]; /* of options; the first is owned */
    eg_space_options space_options;
    bool limited;
    eg_advection_range bounds[EG_MODEL_FIELDS_MAX];
    eg_adapt *adapt; /* NULL: degrees stay as they are */
    eg_watch *watch; /* while it runs; not owned */
    /* What a restart needs, the same on all ranks. */
    double decisions, adaptations;
    double degree_least, degree_most; /* that elements have had */
    double mass[EG_MODEL_FIELDS_MAX]; /* ∫ of each tracer at the start */
    double dof_time;                  /* ∫ of the degrees of freedom over time */
    char mass_names[EG_MODEL_FIELDS_MAX][EG_TRACER_NAME + 8];
    char least_names[EG_MODEL_FIELDS_MAX][EG_TRACER_NAME + 8]; /* of bounds */
    char most_names[EG_MODEL_FIELDS_MAX][EG_TRACER_NAME + 8];
    double adapt_s; /* seconds spent on decisions and adaptations */
    eg_tracers_space on;
    eg_time_result result;
} eg_tracers;

/* Makes a space with these degrees (NULL: the same everywhere), the operator and fields on it, where there
 * are none; `like` is another space on the mesh, if there is one. Collective. */
eg_status eg_tracers_make_space(eg_tracers *a, const uint8_t *degrees, const eg_space *like);
/* Makes the measure and what it compares with, if they are not there yet. */
eg_status eg_tracers_make_measure(eg_tracers *a);
/* … the limiter, by `bounds`. */
eg_status eg_tracers_make_limiter(eg_tracers *a);
/* Releases what lives on a space, and the space. */
void eg_tracers_space_destroy(eg_tracers_space *on);

/* From `on.initial` at the start to `on.current` at the end, and what the results tell of the way there.
 * Collective. */
eg_status eg_tracers_run(eg_tracers *a, eg_watch *watch);

/* What there is to be seen, and the numbers that a restart needs; a model's `show`. */
void eg_tracers_show(void *tracers, eg_state *out);
/* Takes the bounds of the checkpoint, if there is one: those of the run's start. */
void eg_tracers_restart_bounds(eg_tracers *a);
/* The degrees that the checkpoint has, within those that the case allows. */
eg_status eg_tracers_restart_degrees(eg_tracers *a, uint8_t **degrees);

#endif
