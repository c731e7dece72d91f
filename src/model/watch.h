/* A run seen from outside, the same for every model: what [output] asks for is written, [guard] looks
 * whether the solution is lost, a signal or a file stops it behind a checkpoint, and a run goes on from
 * one.
 *
 * A model in time hands its loop over:
 *
 *     eg_watch_run(problem->watch, &time_options, &system, &result);
 *
 * with `show` of its table entry telling what there is to see. */
#ifndef EG_WATCH_H
#define EG_WATCH_H

#include "model/average.h"
#include "model/facts.h"
#include "report/report.h"
#include "time/time.h"

typedef struct eg_watch eg_watch;

/* What a model shows: it fills in the fields and numbers of *out, which is empty; step, time and dt are
 * the watch's. Called between two steps; the names are the same whenever it is called. */
typedef void eg_show_function(void *model, eg_state *out);
/* Computes those fields of it that are derived from the others, before somebody looks at them. */
typedef eg_status eg_derive_function(void *model);

#define EG_GUARDED_MAX 4
/* A quantity that must be positive: an expression of x, y, z, t and the components of the first field
 * (variable EG_VARIABLE_COUNT + c). */
typedef struct eg_guarded {
    const char *name;
    const eg_expression *expression;
} eg_guarded;

typedef struct eg_watch_options {
    eg_comm *comm;
    const char *device; /* in words */
    const eg_case *cas;
    const eg_mesh *mesh;
    const char *model;
    bool in_time;
    double start, end;          /* of models in time */
    eg_checkpoint *restart;     /* not owned; NULL: a new run */
    bool directory_given;       /* see eg_output_options */
    const eg_known *known;      /* columns that the model knows; not owned; NULL: none */
    eg_derive_function *derive; /* NULL: nothing is derived */
    /* The number of a signal that asks the run to stop, 0: none; on this rank. NULL: never. */
    int (*asked)(void *user);
    void *asked_user;
    eg_progress_function *progress; /* NULL: none */
    void *progress_user;
    bool quiet; /* nothing is written */
} eg_watch_options;

extern const eg_key eg_watch_keys[]; /* the section [guard] */

/* Makes what [output] asks for, and its directory; `show` tells of `model`. Collective, as all that
 * follows. `guarded` [guarded_count] is copied. */
eg_status eg_watch_create(eg_context *ctx, const eg_watch_options *options, void *model,
                          eg_show_function *show, const eg_guarded *guarded, int guarded_count,
                          eg_watch **out);
/* What could not be written at the end is told. */
eg_status eg_watch_close(eg_watch **watch);

/* As eg_time_run, with everything above. */
eg_status eg_watch_run(eg_watch *watch, const eg_time_options *options,
                       const eg_time_system *system, eg_time_result *out);
/* Lets go of the spaces of the fields that are shown: a model that moves them to others calls it before
 * these are destroyed. */
void eg_watch_forget(eg_watch *watch);
/* For models without time, when their work is done: writes what is asked for at the end. */
eg_status eg_watch_end(eg_watch *watch);

/* How it ended: "SIGTERM" or the stop file's name if it was stopped, else NULL; the directory of
 * results and the newest checkpoint, NULL if there is none. */
const char *eg_watch_stopped_by(const eg_watch *watch);
const char *eg_watch_directory(const eg_watch *watch);
const char *eg_watch_checkpoint(const eg_watch *watch);
/* Adds when averages began and end, if there are any. */
void eg_watch_put_facts(const eg_watch *watch, eg_facts *facts);
/* See eg_output_outcome. */
void eg_watch_outcome(const eg_watch *watch, eg_outcome *out);
eg_status eg_watch_write_file(eg_watch *watch, const char *name, const eg_text *text);

#endif
