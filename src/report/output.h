/* The section [output] of a case: what a run leaves behind, and when.
 *
 *     DIRECTORY/fields.pvd, fields/00000120.vtu     fields for ParaView and `eagre plot`
 *     DIRECTORY/series.csv                          integrals and probes over time
 *     DIRECTORY/lines/NAME-00000120.csv             probes along lines
 *     DIRECTORY/checkpoints/00000120/               see checkpoint.h
 *     DIRECTORY/summary.json                        what the run has told at its end
 *
 * A new run moves results that are there aside, to DIRECTORY.1 and so on; one that goes on from a
 * checkpoint cuts them back to it. All functions are collective, and ranks agree on whether they have
 * worked. */
#ifndef EG_REPORT_OUTPUT_H
#define EG_REPORT_OUTPUT_H

#include "base/comm.h"
#include "case/case.h"
#include "report/checkpoint/checkpoint.h"
#include "report/known.h"
#include "report/outcome.h"
#include "report/state.h"

extern const eg_key eg_output_keys[];      /* of all models */
extern const eg_key eg_output_time_keys[]; /* of models in time, too */
/* Fails at keys that do not go together and at expressions that are wrong; `names` [name_count] are
 * those of the components of fields, `known` (NULL: nothing) what the model measures by name. Needs no
 * mesh. */
eg_status eg_output_check_case(eg_context *ctx, const eg_case *cas, bool in_time,
                               const char *const *names, int name_count, const eg_known *known);

typedef struct eg_output_options {
    eg_comm *comm;
    const eg_case *cas;
    const eg_mesh *mesh;
    const char *model, *device;        /* for checkpoints */
    const eg_checkpoint_info *resumed; /* where the run goes on from; NULL: it is a new one */
    bool
        directory_given; /* output.directory is of this command line: a run that goes on follows it */
    bool in_time;
    double start, end; /* of the run */
    /* The components of the fields that will be shown, all names in their order, so that expressions
     * can be judged before the run. */
    const char *const *names;
    int name_count;
    const eg_known
        *known; /* columns that the model knows; lives as long as the output; NULL: none */
    bool quiet; /* nothing is ever due */
} eg_output_options;

typedef struct eg_output eg_output;

eg_status eg_output_create(eg_context *ctx, const eg_output_options *options, eg_output **out);

/* What is due, as bits. */
enum { EG_OUTPUT_FIELDS = 1, EG_OUTPUT_SERIES = 2, EG_OUTPUT_CHECKPOINT = 4 };
/* After a step, or (step 0) at the start; `wall_s`: since the run was started, the same on all ranks. To
 * be asked once a step, in order. */
int eg_output_due(eg_output *output, int64_t step, double time, double wall_s);
/* The first time behind t at which something is due; INFINITY: none. */
double eg_output_next_stop(const eg_output *output, double t);

eg_status eg_output_write(eg_output *output, const eg_state *state, int what);

/* What series.csv has come to, on rank 0; on others, and where there is none, *out is empty. A file
 * that cannot be read any more is no failure of a run that has ended: a warning says so, and *out is
 * empty, too. */
void eg_output_outcome(const eg_output *output, eg_outcome *out);

/* Where the newest checkpoint is, which this run has written or gone on from; NULL: there is none. */
const char *eg_output_checkpoint(const eg_output *output);
/* Where everything is; NULL if nothing is written at all. */
const char *eg_output_directory(const eg_output *output);
/* The file whose presence asks a run to stop. */
const char *eg_output_stop_file(const eg_output *output);
/* Writes a text to a file of the directory, on rank 0. */
eg_status eg_output_write_file(eg_output *output, const char *name, const eg_text *text);

/* Makes what writing needs on the fields' spaces, before time is taken. */
eg_status eg_output_settle(eg_output *output, const eg_state *state);
/* Whether checkpoints are asked for. */
bool eg_output_keeps(const eg_output *output);
/* Lets go of the fields' spaces, before they are destroyed. */
void eg_output_forget(eg_output *output);

/* Closes the files; a failure that is found only then is told. NULL is accepted. */
eg_status eg_output_close(eg_output **output);

#endif
