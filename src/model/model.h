/* The door of room `model`: what a model is, the table of all models, and the way of a run from an
 * opened case to its results. A model knows its physics; mesh, space, time and output come from the
 * rooms below. */
#ifndef EG_MODEL_H
#define EG_MODEL_H

#include "base/comm.h"
#include "base/json.h"
#include "case/case.h"
#include "device/device.h"
#include "field/field.h"
#include "mesh/mesh.h"
#include "model/facts.h"
#include "model/watch.h"
#include "time/time.h"

/* How a run is started and watched. */
typedef struct eg_run_options {
    eg_progress_function *progress; /* of a time loop, see eg_time_options; NULL: none */
    void *progress_user;            /* not owned */
    eg_checkpoint *restart;         /* to go on from; not owned; NULL: a new run */
    bool directory_given; /* output.directory was given just now: a run that goes on follows it */
    int (*asked)(void *user); /* to stop: see eg_watch_options; NULL: never */
    void *asked_user;         /* not owned */
    bool quiet;               /* nothing is written: neither results nor checkpoints */
    bool profile;             /* the time of the device's kernels is told, see eg_profile_start */
} eg_run_options;

/* What a model is created from; nothing is owned by it. */
typedef struct eg_problem {
    eg_context *ctx;
    eg_device *device;
    eg_comm *comm;
    const eg_case *cas;
    const eg_mesh *mesh;    /* this rank's part */
    eg_checkpoint *restart; /* of this model and mesh; NULL: the run is a new one */
} eg_problem;

/* The errors of one field against [exact]. */
typedef struct eg_field_error {
    const char *name; /* the model's */
    eg_norms norms;
} eg_field_error;

#define EG_MODEL_FIELDS_MAX 16

typedef struct eg_model {
    const char *name;
    const char *summary;
    const eg_key *keys; /* of the model's own sections */
    bool in_time;       /* it has the section [time], too */
    /* What `eagre new` writes into a case besides the required keys, as replacements
     * ("time.cfl=0.5", ended by NULL), so that the case runs as it stands; NULL: nothing. */
    const char *const *sample;
    /* Judges what the schema cannot: needs neither mesh nor device. */
    eg_status (*check)(eg_context *ctx, const eg_case *cas);
    /* Judges what only the mesh tells: shapes, names of boundaries. `mesh` may be this rank's part
     * of it: what is wrong on one rank fails on all. NULL: nothing. */
    eg_status (*check_mesh)(const eg_case *cas, const eg_mesh *mesh);
    /* The names of the components of the fields that `show` shows, as the case alone tells; returns
     * their number. */
    int (*names)(const eg_case *cas, const char *names[EG_MODEL_FIELDS_MAX]);
    /* Adds the columns of series.csv that the case asks for by names that the model knows, as the case
     * alone tells. NULL: none. */
    eg_status (*columns)(const eg_case *cas, eg_known *out);
    eg_status (*create)(const eg_problem *problem, void **state);
    /* What there is to be written, measured, kept; from the creation on. */
    eg_show_function *show;
    eg_derive_function *derive; /* NULL: nothing of it is derived */
    /* Quantities that must be positive; returns their number. NULL: none. */
    int (*guarded)(void *state, eg_guarded out[EG_GUARDED_MAX]);
    /* Does the work of the run; a loop in time by eg_watch_run. */
    eg_status (*run)(void *state, eg_watch *watch);
    /* Errors at the end of the run; *count is 0 without [exact]. */
    eg_status (*errors)(void *state, eg_field_error *errors, int *count);
    /* Adds what else is worth telling of the run, see facts.h: steps, averages, ranges. Called after
     * `errors` on all ranks, with the same figures on all; NULL: nothing. */
    eg_status (*details)(void *state, eg_facts *facts);
    /* The space of the model's unknowns; borrowed. */
    const eg_space *(*space)(void *state);
    int (*fields)(void *state); /* how many unknowns each of its points has */
    void (*destroy)(void *state);
} eg_model;

/* All models, ended by NULL. */
extern const eg_model *const eg_models[];
const eg_model *eg_model_find(const char *name); /* NULL: none */

#define EG_TABLES_MAX 16
/* The tables of keys that models share, [time] among them or not; returns their number. */
size_t eg_model_shared_tables(bool in_time, const eg_key *tables[EG_TABLES_MAX]);
/* The tables of keys of a case of this model; returns their number. */
size_t eg_model_tables(const eg_model *model, const eg_key *tables[EG_TABLES_MAX]);

/* True if the case says in [exact] what the solution is. */
bool eg_model_has_exact(const eg_model *model, const eg_case *cas);

/* The `names` of models whose fields are those that [initial] names. */
int eg_model_initial_names(const eg_case *cas, const char *names[EG_MODEL_FIELDS_MAX]);

/* For `check_mesh`: what a model says of each shape in the mesh. */
typedef eg_status eg_model_shape_check(const eg_case *cas, eg_shape shape, int order);
eg_status eg_model_check_shapes(const eg_case *cas, const eg_mesh *mesh,
                                eg_model_shape_check *check);

/* For `check_mesh` of models to whose cases every boundary of the mesh needs a section [boundary.NAME]. */
eg_status eg_model_check_boundaries(const eg_case *cas, const eg_mesh *mesh);

/* Opens a case: finds its model, joins the tables, checks everything that needs no mesh. */
eg_status eg_model_open_case(eg_context *ctx, const char *path, const char *const *overrides,
                             size_t override_count, const eg_model **model, eg_case **cas);
/* The same of a text; `name` stands for the file's path. */
eg_status eg_model_open_text(eg_context *ctx, const char *name, const char *text, size_t length,
                             const char *const *overrides, size_t override_count,
                             const eg_model **model, eg_case **cas);

/* Makes the mesh of a case, or this rank's part of it. */
eg_status eg_model_make_mesh(const eg_case *cas, eg_context *ctx, eg_comm *comm, eg_mesh **out);

typedef struct eg_run_result {
    const eg_model *model;
    int dim;               /* of the mesh */
    int64_t dof, elements; /* of all ranks */
    int ranks;
    eg_field_error errors[EG_MODEL_FIELDS_MAX];
    int error_count;
    eg_facts facts;     /* what the model's `details` have told */
    eg_outcome outcome; /* what series.csv has come to, on rank 0; owned */
    double wall_s;      /* everything after the case was opened */
    double setup_s;     /* mesh, space, compilation */
    int kernels_compiled;
    /* Owned, see eg_run_result_free; NULL: there is none. */
    int64_t restart_step; /* from which it went on; 0: it is a new run */
    double restart_time;
    char *stopped_by;   /* what has stopped it before its end: "SIGTERM", or a file */
    char *directory;    /* of what was written */
    char *checkpoint;   /* the newest */
    double run_s;       /* after set-up, until all was computed */
    eg_profile profile; /* of that, on this rank; without rows if it was not asked for; owned */
} eg_run_result;

/* Makes mesh, parts and model, runs it, and measures; `options` may be NULL. Collective. On failure the
 * result is empty. */
eg_status eg_model_run(const eg_model *model, const eg_case *cas, eg_device *device, eg_comm *comm,
                       const eg_run_options *options, eg_run_result *out);
void eg_run_result_free(eg_context *ctx, eg_run_result *result);

/* What a run tells at its end: one JSON object, or a text. */
eg_status eg_run_put_json(const eg_run_result *result, const eg_device_info *device, eg_text *out);
eg_status eg_run_put_text(eg_context *ctx, const eg_run_result *result,
                          const eg_device_info *device, eg_text *out);

#endif
