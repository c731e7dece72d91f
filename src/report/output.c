/* What a run leaves behind, and when: fields, series, checkpoints in one directory. */
#define _POSIX_C_SOURCE 200809L
#include "report/output.h"

#include "report/directory.h"
#include "report/measures.h"
#include "report/schedule.h"
#include "report/vtu/vtu.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The most quantities beside the fields. */
enum { EXTRAS_MOST = 64 };

struct eg_output {
    eg_context *ctx;           /* not owned */
    eg_output_options options; /* nothing of it is owned */
    bool used;                 /* something is written at all */
    bool ready;                /* the directory is there, and this run's */
    bool in_place;             /* it goes on where the checkpoint is … */
    int there;                 /* … and finds these of that step, as bits */
    char *path, *stop_file;    /* of the directory, and in it */
    eg_directory *directory;   /* rank 0; NULL: not taken yet */
    char *checkpoint;          /* NULL: none yet */
    eg_schedule fields, series, checkpoints;
    double wall_interval; /* of checkpoints; 0: none */
    double wall_last;     /* when one was written, since the run was started */
    bool fields_at_end;
    int last;          /* what was written after the step before, as bits … */
    int64_t last_step; /* … which was this */
    eg_pvd *pvd;       /* rank 0; NULL: not open */
    eg_measures *measures;
    int extra_count;
    eg_snapshot_extra extras[EXTRAS_MOST]; /* expressions are owned */
    eg_checkpoint_options kept;
};

/* --- paths ------------------------------------------------------------------------------------ */

/* DIRECTORY/name, to be released. */
static eg_status path_in(const eg_output *o, const char *name, char **out)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(o->ctx);
    EG_TRY(eg_text_printf(&path, "%s/%s", o->path, name));
    EG_TRY(eg_copy_string(o->ctx, eg_text_string(&path), out));
done:
    eg_text_free(&path);
    return status;
}

/* The case's name without its ending, with ".out", in the working directory. */
static eg_status default_directory(const eg_output *o, char **out)
{
    eg_status status = EG_OK;
    const char *path = eg_case_get_source(o->options.cas).path, *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    eg_text text = eg_text_new(o->ctx);
    EG_TRY(eg_text_add(&text, name, dot && dot > name ? (size_t)(dot - name) : strlen(name)));
    EG_TRY(eg_text_puts(&text, ".out"));
    EG_TRY(eg_copy_string(o->ctx, eg_text_string(&text), out));
done:
    eg_text_free(&text);
    return status;
}

/* The checkpoints that were written after the one that the run goes on from are of a run that is none. */
static eg_status abandon_later(const eg_output *o)
{
    eg_status status = EG_OK;
    char *path = NULL;
    EG_TRY(path_in(o, "checkpoints", &path));
    EG_TRY(eg_checkpoint_abandon(o->ctx, path, o->options.resumed->sequence));
done:
    eg_release(o->ctx, &path);
    return status;
}

static eg_status make_folder(eg_context *ctx, const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST) return EG_OK;
    return eg_fail(ctx, EG_ERROR_IO, "%s: the directory cannot be made: %s", path, strerror(errno));
}

/* What rank 0 does before anything is written. */
static eg_status prepare(eg_output *o)
{
    eg_status status = EG_OK;
    char *path = NULL;
    if (eg_comm_rank(o->options.comm) != 0) return EG_OK;
    EG_TRY(eg_directory_open(o->ctx, o->path, o->in_place ? &o->options.resumed->step : NULL,
                             &o->directory));
    if (o->in_place) EG_TRY(abandon_later(o));
    if (eg_schedule_active(&o->fields) || o->fields_at_end) {
        EG_TRY(path_in(o, "fields", &path));
        EG_TRY(make_folder(o->ctx, path));
        eg_release(o->ctx, &path);
        EG_TRY(path_in(o, "fields.pvd", &path));
        EG_TRY(eg_pvd_open(o->ctx, path, o->in_place ? &o->options.resumed->time : NULL, &o->pvd));
    }
done:
    eg_release(o->ctx, &path);
    return status;
}

/* --- what the case asks for ------------------------------------------------------------------- */

static eg_schedule schedule_of(const eg_output *o, const char *section)
{
    const eg_case *cas = o->options.cas;
    eg_schedule out = {.start = o->options.start};
    char key[64];
    snprintf(key, sizeof key, "output.%s.steps", section);
    if (eg_case_given(cas, key)) out.steps = eg_case_integer(cas, key);
    snprintf(key, sizeof key, "output.%s.time", section);
    if (eg_case_given(cas, key)) out.time = eg_case_real(cas, key);
    eg_schedule_begin(&out, o->options.resumed ? o->options.resumed->time : o->options.start);
    return out;
}

static eg_status read_extras(eg_output *o)
{
    static const char *const before[] = {"x", "y", "z", "t"};
    eg_status status = EG_OK;
    const eg_output_options *options = &o->options;
    const char *name;
    eg_symbol *symbols = NULL;
    size_t count = 0;
    EG_TRY(eg_new(o->ctx, EG_COUNT(before) + (size_t)options->name_count, &symbols));
    for (; count < EG_COUNT(before); count++)
        symbols[count] = (eg_symbol){.name = before[count], .variable = (int)count};
    for (int i = 0; i < options->name_count; i++, count++)
        symbols[count] = (eg_symbol){.name = options->names[i], .variable = (int)count};
    while ((name = eg_case_name_at(options->cas, "output.quantities", (size_t)o->extra_count))) {
        eg_expression *expression = NULL;
        eg_text key = eg_text_new(o->ctx);
        if (o->extra_count == EXTRAS_MOST)
            EG_TRY(eg_case_fail(options->cas, "output.quantities", -1,
                                "there are more than %d quantities", EXTRAS_MOST));
        status = eg_text_printf(&key, "output.quantities.%s", name);
        if (status == EG_OK)
            status = eg_case_formula(options->cas, eg_text_string(&key), -1, symbols, count,
                                     &expression);
        eg_text_free(&key);
        if (status != EG_OK) goto done;
        o->extras[o->extra_count++] = (eg_snapshot_extra){name, expression};
    }
done:
    eg_release(o->ctx, &symbols);
    return status;
}

/* The directory of the results that a checkpoint is among; NULL: it is among none. Release it. */
static eg_status directory_of(const eg_output *o, const eg_checkpoint_info *info, char **out)
{
    static const char folder[] = "checkpoints/";
    const char *last = strrchr(info->path, '/');
    size_t length = last ? (size_t)(last - info->path) + 1 : 0;
    eg_status status = EG_OK;
    eg_text text = eg_text_new(o->ctx);
    *out = NULL;
    if (length < sizeof folder - 1) return EG_OK;
    length -= sizeof folder - 1;
    if (strncmp(info->path + length, folder, sizeof folder - 1) != 0) return EG_OK;
    if (length > 0 && info->path[length - 1] != '/') return EG_OK;
    EG_TRY(length == 0 ? eg_text_puts(&text, ".") : eg_text_add(&text, info->path, length - 1));
    EG_TRY(eg_copy_string(o->ctx, eg_text_string(&text), out));
done:
    eg_text_free(&text);
    return status;
}

/* A run that goes on does so where its checkpoint is, unless it was told otherwise just now. */
static eg_status choose_directory(eg_output *o)
{
    eg_status status = EG_OK;
    const eg_output_options *options = &o->options;
    const char *given = eg_case_string(options->cas, "output.directory");
    char *home = NULL;
    if (given && !*given)
        EG_TRY(eg_case_fail(options->cas, "output.directory", -1,
                            "a directory has a name; \".\" is the working directory"));
    if (options->resumed) EG_TRY(directory_of(o, options->resumed, &home));
    if (home && !options->directory_given)
        EG_TRY(eg_copy_string(o->ctx, home, &o->path));
    else if (given)
        EG_TRY(eg_copy_string(o->ctx, given, &o->path));
    else
        EG_TRY(default_directory(o, &o->path));
    for (size_t end = strlen(o->path); end > 1 && o->path[end - 1] == '/'; end--)
        o->path[end - 1] = '\0';
    o->in_place = home && eg_directory_same(home, o->path);
done:
    eg_release(o->ctx, &home);
    return status;
}

static eg_status read_case(eg_output *o)
{
    eg_status status = EG_OK;
    const eg_case *cas = o->options.cas;
    EG_TRY(choose_directory(o));
    EG_TRY(path_in(o, "stop", &o->stop_file));
    if (o->options.quiet) return EG_OK;
    o->fields_at_end = eg_case_boolean(cas, "output.fields.end");
    EG_TRY(read_extras(o));
    o->used = o->fields_at_end;
    if (!o->options.in_time) return EG_OK;
    o->fields = schedule_of(o, "fields");
    o->series = schedule_of(o, "series");
    o->checkpoints = schedule_of(o, "checkpoint");
    if (eg_case_given(cas, "output.checkpoint.wall_s"))
        o->wall_interval = eg_case_real(cas, "output.checkpoint.wall_s");
    o->kept = (eg_checkpoint_options){
        .keep = (int)eg_case_integer(cas, "output.checkpoint.keep"),
        .block_bytes = (size_t)eg_case_integer(cas, "output.checkpoint.block_mib") << 20,
        .model = o->options.model,
        .cas = cas,
        .device = o->options.device,
        .version = EG_SOURCE_VERSION};
    o->used = o->used || eg_schedule_active(&o->fields) || eg_schedule_active(&o->series) ||
              eg_output_keeps(o);
done:
    return status;
}

/* Judges what is measured before anything is written. */
static eg_status make_measures(eg_output *o)
{
    const eg_output_options *options = &o->options;
    const eg_measures_options measures = {.comm = options->comm,
                                          .cas = options->cas,
                                          .mesh = options->mesh,
                                          .names = options->names,
                                          .name_count = options->name_count,
                                          .known = options->known};
    if (!eg_schedule_active(&o->series)) return EG_OK;
    return eg_measures_create(o->ctx, &measures, &o->measures);
}

static eg_status open_measures(eg_output *o)
{
    eg_status status = EG_OK;
    char *path = NULL, *lines = NULL;
    const eg_checkpoint_info *resumed = o->in_place ? o->options.resumed : NULL;
    if (!o->measures) return EG_OK;
    EG_TRY(path_in(o, "series.csv", &path));
    EG_TRY(path_in(o, "lines", &lines));
    EG_TRY(eg_measures_open(o->measures, path, lines, resumed ? &resumed->step : NULL));
done:
    eg_release(o->ctx, &lines);
    eg_release(o->ctx, &path);
    return status;
}

/* What the checkpoint's step has left there; before series.csv is opened. */
static eg_status find_there(eg_output *o)
{
    static const struct {
        const char *ending; /* of a file of fields; NULL: series.csv */
        int bit;
    } files[] = {{".vtu", EG_OUTPUT_FIELDS}, {".pvtu", EG_OUTPUT_FIELDS}, {NULL, EG_OUTPUT_SERIES}};
    eg_status status = EG_OK;
    if (!o->in_place || eg_comm_rank(o->options.comm) != 0) return EG_OK;
    for (size_t i = 0; i < EG_COUNT(files); i++) {
        char name[64] = "series.csv", *path = NULL;
        if (files[i].ending)
            snprintf(name, sizeof name, "fields/%08" PRId64 "%s", o->options.resumed->step,
                     files[i].ending);
        EG_TRY(path_in(o, name, &path));
        if (access(path, F_OK) == 0) o->there |= files[i].bit;
        eg_release(o->ctx, &path);
    }
done:
    return status;
}

eg_status eg_output_create(eg_context *ctx, const eg_output_options *options, eg_output **out)
{
    eg_status status = EG_OK;
    eg_output *o = NULL;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &o));
    o->ctx = ctx;
    o->options = *options;
    o->last_step = -1;
    EG_TRY(eg_comm_agree(options->comm, read_case(o)));
    EG_TRY(eg_comm_agree(options->comm, make_measures(o)));
    if (options->resumed) EG_TRY(eg_copy_string(ctx, options->resumed->path, &o->checkpoint));
    if (o->used) {
        EG_TRY(eg_comm_agree(options->comm, prepare(o)));
        o->ready = true;
        EG_TRY(eg_comm_agree(options->comm, find_there(o)));
        EG_TRY(eg_comm_broadcast(options->comm, 0, sizeof o->there, &o->there));
        EG_TRY(eg_comm_agree(options->comm, open_measures(o)));
    }
    *out = o;
    o = NULL;
done:
    if (o) (void)eg_output_close(&o);
    return status;
}

/* --- when ------------------------------------------------------------------------------------- */

int eg_output_due(eg_output *o, int64_t step, double time, double wall_s)
{
    /* What was due there is there; a run that was at its end may be asked for more. */
    const bool again = o->in_place && step == o->options.resumed->step;
    const bool first = step == 0 || (o->options.resumed && step == o->options.resumed->step),
               last = time >= o->options.end;
    int due = 0;
    /* Asked of all, as each keeps count of what has passed. */
    if (eg_schedule_due(&o->fields, step, time)) due |= EG_OUTPUT_FIELDS;
    if (eg_schedule_due(&o->series, step, time)) due |= EG_OUTPUT_SERIES;
    if (eg_schedule_due(&o->checkpoints, step, time) && !first) due |= EG_OUTPUT_CHECKPOINT;
    if (o->wall_interval > 0 && wall_s - o->wall_last >= o->wall_interval) {
        o->wall_last = wall_s;
        due |= EG_OUTPUT_CHECKPOINT;
    }
    if (first || last) {
        if (eg_schedule_active(&o->fields)) due |= EG_OUTPUT_FIELDS;
        if (eg_schedule_active(&o->series)) due |= EG_OUTPUT_SERIES;
    }
    if (last && o->fields_at_end) due |= EG_OUTPUT_FIELDS;
    if (last && eg_output_keeps(o)) due |= EG_OUTPUT_CHECKPOINT;
    if (!again) return due;
    return last ? due & ~(o->there | EG_OUTPUT_CHECKPOINT) : 0;
}

double eg_output_next_stop(const eg_output *o, double t)
{
    return fmin(eg_schedule_next(&o->fields, t),
                fmin(eg_schedule_next(&o->series, t), eg_schedule_next(&o->checkpoints, t)));
}

/* --- writing ---------------------------------------------------------------------------------- */

static eg_status write_fields(eg_output *o, const eg_state *state)
{
    eg_status status = EG_OK, mine;
    eg_snapshot *snapshot = NULL;
    char name[64], *base = NULL, *path = NULL;
    snprintf(name, sizeof name, "fields/%08" PRId64, state->step);
    mine = eg_snapshot_create(state, o->extras, o->extra_count, &snapshot);
    if (mine == EG_OK) mine = path_in(o, name, &base);
    EG_TRY(eg_comm_agree(o->options.comm, mine));
    EG_TRY(eg_vtu_write(snapshot, o->options.comm, base, &path));
    mine = EG_OK;
    if (o->pvd) mine = eg_pvd_add(o->pvd, state->time, path + strlen(o->path) + 1);
    EG_TRY(eg_comm_agree(o->options.comm, mine));
done:
    eg_release(o->ctx, &path);
    eg_release(o->ctx, &base);
    eg_snapshot_destroy(&snapshot);
    return status;
}

static eg_status write_checkpoint(eg_output *o, const eg_state *state)
{
    eg_status status = EG_OK;
    char *path = NULL, *directory = NULL;
    EG_TRY(path_in(o, "checkpoints", &directory));
    o->kept.directory = directory;
    EG_TRY(eg_checkpoint_write(&o->kept, o->options.comm, state, &path));
    eg_release(o->ctx, &o->checkpoint);
    o->checkpoint = path;
    path = NULL;
done:
    o->kept.directory = NULL;
    eg_release(o->ctx, &directory);
    eg_release(o->ctx, &path);
    return status;
}

eg_status eg_output_write(eg_output *o, const eg_state *state, int what)
{
    eg_status status = EG_OK;
    if (state->step == o->last_step) what &= ~o->last;
    if (what == 0) return EG_OK;
    if (!o->ready) EG_TRY(eg_comm_agree(o->options.comm, prepare(o)));
    o->ready = true;
    if (what & EG_OUTPUT_FIELDS) EG_TRY(write_fields(o, state));
    if (what & EG_OUTPUT_SERIES) EG_TRY(eg_measures_write(o->measures, state));
    if (what & EG_OUTPUT_CHECKPOINT) EG_TRY(write_checkpoint(o, state));
    o->last = state->step == o->last_step ? o->last | what : what;
    o->last_step = state->step;
done:
    return status;
}

eg_status eg_output_write_file(eg_output *o, const char *name, const eg_text *text)
{
    eg_status status = EG_OK;
    char *path = NULL;
    if (eg_comm_rank(o->options.comm) != 0) return EG_OK;
    EG_TRY(path_in(o, name, &path));
    EG_TRY(eg_file_write_atomic(o->ctx, path, text->data, text->length, 0666, false));
done:
    eg_release(o->ctx, &path);
    return status;
}

void eg_output_outcome(const eg_output *o, eg_outcome *out)
{
    eg_status status = EG_OK;
    char *path = NULL;
    *out = (eg_outcome){.ctx = o->ctx};
    if (!o->measures || eg_comm_rank(o->options.comm) != 0) return;
    EG_TRY(path_in(o, "series.csv", &path));
    EG_TRY(eg_outcome_read(o->ctx, o->options.cas, path, out));
done:
    if (status != EG_OK)
        eg_log(o->ctx, EG_LOG_WARNING,
               "what columns and signals have come to is not told: %s. `eagre signal` tells it "
               "of a series.csv that is mended",
               eg_context_error(o->ctx));
    eg_release(o->ctx, &path);
}

/* --- questions -------------------------------------------------------------------------------- */

const char *eg_output_checkpoint(const eg_output *o)
{
    return o->checkpoint;
}

const char *eg_output_directory(const eg_output *o)
{
    return o->ready ? o->path : NULL;
}

const char *eg_output_stop_file(const eg_output *o)
{
    return o->stop_file;
}

eg_status eg_output_settle(eg_output *o, const eg_state *state)
{
    return o->measures ? eg_measures_settle(o->measures, state) : EG_OK;
}

bool eg_output_keeps(const eg_output *o)
{
    return eg_schedule_active(&o->checkpoints) || o->wall_interval > 0;
}

void eg_output_forget(eg_output *o)
{
    if (o->measures) eg_measures_forget(o->measures);
}

eg_status eg_output_close(eg_output **output)
{
    eg_output *o = *output;
    if (!o) return EG_OK;
    eg_context *ctx = o->ctx;
    const eg_status status = eg_measures_close(&o->measures);
    eg_pvd_close(&o->pvd);
    for (int i = 0; i < o->extra_count; i++)
        eg_expression_destroy((eg_expression **)&o->extras[i].expression);
    eg_release(ctx, &o->checkpoint);
    eg_release(ctx, &o->stop_file);
    eg_release(ctx, &o->path);
    eg_directory_close(&o->directory);
    eg_release(ctx, output);
    return status;
}
