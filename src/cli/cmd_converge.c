/* `eagre converge`: a case on finer and finer meshes, by higher and higher degrees, with smaller and
 * smaller steps, and the orders at which its errors fall.
 *
 * Every run is the case with replacements for what is varied. The order between two runs is
 * log(e1/e2) / log(h1/h2) with h = elements^(-1/dim), or with dt in place of h. */
#include "cli/cli.h"
#include "cli/converge.h"
#include "cli/list.h"
#include "cli/progress.h"

#include "base/comm.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"cells", 0, "LIST", "mesh.cells of the runs: 8,16,32, or 8x4,16x8",
     offsetof(cli_options, cells)},
    {"refine", 0, "LIST", "mesh.refine of the runs, for meshes from a file, too: 0,1,2",
     offsetof(cli_options, refine)},
    {"degrees", 0, "LIST", "space.degree of the runs: 1,2,3", offsetof(cli_options, degrees)},
    {"dt", 0, "LIST", "time.dt of the runs: 0.1,0.05", offsetof(cli_options, dt)},
    {"norm", 0, "NORM", "l1, l2 (the default), linf or nodal_l2: what is shown",
     offsetof(cli_options, norm)},
    {"csv", 0, "FILE", "write every run with all norms, as they end", offsetof(cli_options, csv)},
    {"svg", 0, "FILE", "draw the errors over the mesh size or dt", offsetof(cli_options, svg)},
    {0}};

/* What is varied: the option, the key it stands for, and how a run is called by it. */
typedef struct quantity {
    const char *option, *section, *name, *word;
} quantity;

static const quantity quantities[VARY_COUNT] = {
    [VARY_DEGREE] = {"--degrees", "space", "degree", "degree"},
    [VARY_DT] = {"--dt", "time", "dt", "dt"},
    [VARY_MESH] = {"--cells", "mesh", "cells", "cells"},
};
static const quantity refinement = {"--refine", "mesh", "refine", "refined"};

static const quantity *quantity_of(const converge_sweep *s, int q)
{
    return q == VARY_MESH && s->refined ? &refinement : &quantities[q];
}

/* --- lists -------------------------------------------------------------------------------------- */

/* Reads "8,16,32" into a list; NULL: the list has the case's own value alone. */
static eg_status read_list(eg_context *ctx, converge_sweep *s, int q, const char *given)
{
    static const struct {
        cli_entry *entry;
        const char *wanted;
    } kinds[VARY_COUNT + 1] = {
        [VARY_DEGREE] = {cli_entry_degree, "a degree: 0, 1, 2 and so on"},
        [VARY_DT] = {cli_entry_positive, "a time step: a number above 0, such as 0.01"},
        [VARY_MESH] = {cli_entry_cells,
                       "a number of cells: 1 to 999999999, or one for each axis, such as 8x4"},
        [VARY_COUNT] = {cli_entry_refined, "how often a mesh is refined: 0, 1, 2 and so on"}};
    const quantity *what = quantity_of(s, q);
    const int kind = q == VARY_MESH && s->refined ? VARY_COUNT : q;
    eg_status status = EG_OK;
    cli_list read;
    converge_list *list = &s->lists[q];
    *list = (converge_list){.given = given != NULL, .count = 1};
    if (!given) return EG_OK;
    EG_TRY(cli_read_list(ctx, what->option, given, kinds[kind].entry, kinds[kind].wanted, &read));
    list->count = read.count;
    for (size_t i = 0; i < read.count; i++) {
        memcpy(list->text[i], read.text[i], sizeof list->text[i]);
        snprintf(list->replacement[i], sizeof list->replacement[i], "%s.%s=%s", what->section,
                 what->name, read.value[i]);
    }
done:
    return status;
}

/* What is given as a list cannot be replaced by a single value, too. */
static eg_status check_replacements(eg_context *ctx, const cli_options *options,
                                    const converge_sweep *s)
{
    eg_status status = EG_OK;
    for (int q = 0; q < VARY_COUNT; q++) {
        char key[32];
        if (!s->lists[q].given) continue;
        snprintf(key, sizeof key, "%s.%s", quantity_of(s, q)->section, quantity_of(s, q)->name);
        EG_TRY(cli_check_not_replaced(ctx, options, quantity_of(s, q)->option, key));
    }
done:
    return status;
}

static eg_status read_options(eg_context *ctx, const cli_options *options, converge_sweep *s)
{
    eg_status status = EG_OK;
    s->refined = options->refine != NULL;
    const char *given[VARY_COUNT] = {[VARY_DEGREE] = options->degrees,
                                     [VARY_DT] = options->dt,
                                     [VARY_MESH] = s->refined ? options->refine : options->cells};
    if (options->cells && options->refine)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "--cells and --refine both say what the meshes are: give one");
    s->run_count = 1;
    for (int q = 0; q < VARY_COUNT; q++) {
        EG_TRY(read_list(ctx, s, q, given[q]));
        s->run_count *= s->lists[q].count;
    }
    if (s->run_count == 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "one run has no order: give --cells, --refine, --degrees or --dt several "
                       "values, such as --cells 8,16,32");
    s->along = s->lists[VARY_MESH].count > 1 ? VARY_MESH
               : s->lists[VARY_DT].count > 1 ? VARY_DT
                                             : VARY_DEGREE;
    s->norm = NORM_L2;
    if (options->norm) {
        for (s->norm = 0; s->norm < NORM_COUNT; s->norm++)
            if (strcmp(options->norm, converge_norms[s->norm]) == 0) break;
        if (s->norm == NORM_COUNT)
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "--norm: \"%s\" is none of l1, l2, linf and nodal_l2", options->norm);
    }
    EG_TRY(check_replacements(ctx, options, s));
    if (options->csv && options->svg && strcmp(options->csv, options->svg) == 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--csv and --svg are the same file, %s",
                       options->csv);
    if (cli_rank() > 0) return EG_OK; /* rank 0 writes */
    EG_TRY(cli_check_writable(ctx, options->csv));
    EG_TRY(cli_check_writable(ctx, options->svg));
done:
    return status;
}

/* --- the cases of the runs ---------------------------------------------------------------------- */

/* Opens the case of a run. */
static eg_status open_run(eg_context *ctx, const cli_options *options, const converge_sweep *s,
                          size_t run, const eg_model **model, eg_case **cas)
{
    eg_status status = EG_OK;
    cli_options with = *options;
    with.names = NULL;
    EG_TRY(eg_new(ctx, (size_t)options->name_count + VARY_COUNT, &with.names));
    for (int i = 0; i < options->name_count; i++)
        with.names[i] = options->names[i];
    size_t rest = run;
    for (int q = VARY_COUNT - 1; q >= 0 && options->name_count > 0; q--) {
        const converge_list *list = &s->lists[q];
        if (list->given)
            with.names[with.name_count++] = (char *)list->replacement[rest % list->count];
        rest /= list->count;
    }
    EG_TRY(cli_open_case(ctx, &with, 0, model, cas));
done:
    eg_release(ctx, &with.names);
    return status;
}

/* The case's own value of what is not varied, as it would stand in a list; "": there is none. */
static eg_status describe_own(const eg_model *model, const eg_case *cas, int q,
                              char text[ENTRY_BYTES])
{
    eg_status status = EG_OK;
    size_t used = 0;
    if (q == VARY_DEGREE)
        snprintf(text, ENTRY_BYTES, "%" PRId64, eg_case_integer(cas, "space.degree"));
    if (q == VARY_DT && model->in_time) {
        eg_time_options time;
        EG_TRY(eg_time_options_from_case(cas, &time));
        if (time.dt > 0) snprintf(text, ENTRY_BYTES, "%.9g", time.dt);
    }
    for (size_t i = 0; q == VARY_MESH && i < eg_case_count(cas, "mesh.cells"); i++)
        used += (size_t)snprintf(text + used, ENTRY_BYTES - used, "%s%" PRId64, i > 0 ? "x" : "",
                                 eg_case_integer_at(cas, "mesh.cells", i));
done:
    return status;
}

/* --cells is for boxes: says what to do with a mesh from a file. */
static eg_status check_cells(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    /* A case that is wrong without the option fails with its own message later on. */
    if (cli_open_case(ctx, options, 0, &model, &cas) == EG_OK && eg_case_given(cas, "mesh.file"))
        EG_TRY(eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "--cells: the mesh of the case is read from a file; --refine 0,1,2 makes "
                       "finer ones of it"));
done:
    eg_case_close(&cas);
    return status;
}

/* Opens the cases of all runs, so that a value that is wrong is found before anything has run; the
 * first one stays open. */
static eg_status open_cases(eg_context *ctx, const cli_options *options, converge_sweep *s,
                            eg_case **first)
{
    eg_status status = EG_OK;
    eg_case *cas = NULL;
    if (options->cells) EG_TRY(check_cells(ctx, options));
    status = open_run(ctx, options, s, 0, &s->model, first);
    /* Without the section [time] that has failed, but not with a word of the option. */
    if (s->model && !s->model->in_time && s->lists[VARY_DT].given)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--dt: the model \"%s\" has no time.dt",
                       s->model->name);
    if (status != EG_OK) goto done;
    assert(s->model);
    /* Others are compared with [initial]. */
    if (s->model->in_time && !eg_model_has_exact(s->model, *first))
        EG_TRY(eg_fail(ctx, EG_ERROR_INPUT,
                       "the case has no [exact], so there is no error to take the order of: say "
                       "there what the solution is"));
    for (size_t r = 1; r < s->run_count; r++) {
        const eg_model *model = NULL;
        EG_TRY(open_run(ctx, options, s, r, &model, &cas));
        eg_case_close(&cas);
    }
    for (int q = 0; q < VARY_COUNT; q++)
        if (!s->lists[q].given) EG_TRY(describe_own(s->model, *first, q, s->lists[q].text[0]));
    s->title = eg_case_string(*first, "title");
done:
    return status;
}

/* --- the runs ----------------------------------------------------------------------------------- */

/* "degree 2 cells 16": a run by what is varied. */
static eg_status put_run_name(const converge_sweep *s, size_t run, eg_text *out)
{
    eg_status status = EG_OK;
    const char *gap = "";
    for (int q = 0; q < VARY_COUNT; q++) {
        if (!s->lists[q].given) continue;
        EG_TRY(
            eg_text_printf(out, "%s%s %s", gap, quantity_of(s, q)->word, converge_text(s, run, q)));
        gap = " ";
    }
done:
    return status;
}

/* What orders are taken by. */
static double size_of(const converge_sweep *s, const eg_run_result *result)
{
    if (s->along == VARY_DT) return strtod(converge_text(s, s->done_count, VARY_DT), NULL);
    return pow((double)result->elements, -1.0 / result->dim);
}

/* Copies what a run has found into the sweep. */
static eg_status keep(eg_context *ctx, converge_sweep *s, const eg_run_result *result)
{
    eg_status status = EG_OK;
    converge_run *run = &s->runs[s->done_count];
    assert(result->error_count > 0);
    while (s->field_count < result->error_count && s->done_count == 0) {
        EG_TRY(
            eg_copy_string(ctx, result->errors[s->field_count].name, &s->fields[s->field_count]));
        s->field_count++;
    }
    *run = (converge_run){.elements = result->elements,
                          .dof = result->dof,
                          .size = size_of(s, result),
                          .wall_s = result->wall_s};
    for (int f = 0; f < s->field_count; f++) {
        const eg_norms *e = &result->errors[f].norms;
        run->error[f][NORM_L1] = e->l1;
        run->error[f][NORM_L2] = e->l2;
        run->error[f][NORM_LINF] = e->linf;
        run->error[f][NORM_NODAL_L2] = e->nodal_l2;
    }
    s->ranks = result->ranks;
    s->done_count++;
done:
    return status;
}

/* Writes what there is so far to a file, on rank 0. */
static eg_status write_file(eg_context *ctx, const converge_sweep *s, converge_writer *put,
                            const char *path)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    if (cli_rank() > 0) return EG_OK;
    EG_TRY(put(s, &text));
    EG_TRY(eg_file_write_atomic(ctx, path, text.data, text.length, 0644, false));
done:
    eg_text_free(&text);
    return status;
}

/* Does run number `run`; a failure says which it was. */
static eg_status do_run(eg_context *ctx, const cli_options *options, converge_sweep *s,
                        eg_device *device, size_t run)
{
    eg_status status = EG_OK;
    eg_case *cas = NULL;
    eg_run_result result;
    eg_text name = eg_text_new(ctx), progress = eg_text_new(ctx);
    char *message = NULL;
    EG_TRY(put_run_name(s, run, &name));
    EG_TRY(eg_text_printf(&progress, "%zu/%zu %s", run + 1, s->run_count, eg_text_string(&name)));
    cli_show_progress("%s", eg_text_string(&progress));
    eg_run_options watched = cli_run_options(options, eg_text_string(&progress));
    watched.quiet = true;
    status = open_run(ctx, options, s, run, &s->model, &cas);
    if (status == EG_OK)
        status = eg_model_run(s->model, cas, device, options->comm, &watched, &result);
    if (status == EG_OK) {
        status = keep(ctx, s, &result);
        eg_run_result_free(ctx, &result);
    }
    if (status != EG_OK && eg_copy_string(ctx, eg_context_error(ctx), &message) == EG_OK)
        status = eg_fail(ctx, status, "%s\nin run %zu of %zu: %s", message, run + 1, s->run_count,
                         eg_text_string(&name));
done:
    eg_release(ctx, &message);
    eg_text_free(&progress);
    eg_text_free(&name);
    eg_case_close(&cas);
    return status;
}

static eg_status print(eg_context *ctx, const converge_sweep *s, bool json)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    EG_TRY(json ? converge_put_json(s, &text) : converge_put_table(s, &text));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    converge_sweep *s = NULL;
    eg_case *first = NULL;
    eg_device *device = NULL;
    const double start = eg_wall_seconds();
    EG_TRY(eg_new(ctx, 1, &s));
    EG_TRY(eg_comm_agree(options->comm, read_options(ctx, options, s)));
    EG_TRY(open_cases(ctx, options, s, &first));
    EG_TRY(eg_new(ctx, s->run_count, &s->runs));
    const char *spec = options->device ? options->device : eg_case_string(first, "device.name");
    EG_TRY(eg_comm_agree(options->comm, cli_open_device(ctx, spec, &device)));
    s->device = eg_device_get_info(device);
    while (s->done_count < s->run_count && status == EG_OK) {
        status = do_run(ctx, options, s, device, s->done_count);
        s->wall_s = eg_wall_seconds() - start;
        if (status == EG_OK && options->csv)
            status =
                eg_comm_agree(options->comm, write_file(ctx, s, converge_put_csv, options->csv));
    }
    cli_clear_progress();
    if (status == EG_OK && options->svg)
        status = eg_comm_agree(options->comm, write_file(ctx, s, converge_put_chart, options->svg));
    /* Of a sweep that has failed, what there is; a JSON object then tells of the failure alone. */
    if (s->done_count > 0 && !(status != EG_OK && options->json)) {
        const eg_status printed = print(ctx, s, options->json);
        if (status == EG_OK) status = printed;
    }
done:
    eg_device_close(&device);
    eg_case_close(&first);
    for (int f = 0; s && f < s->field_count; f++)
        eg_release(ctx, &s->fields[f]);
    if (s) eg_release(ctx, &s->runs);
    eg_release(ctx, &s);
    return status;
}

const cli_command cli_command_converge = {
    .name = "converge",
    .summary = "run a case on finer meshes or by higher degrees and print the orders",
    .usage = "CASE.toml [SECTION.KEY=VALUE …] [--cells LIST | --refine LIST] [--degrees LIST] "
             "[--dt LIST] [OPTION …]",
    .about =
        "Runs a case once for every combination of the values in the lists, and prints the errors\n"
        "against [exact] and the orders at which they fall: from one mesh to the next finer one,\n"
        "or, with a single mesh, from one dt to the next. What has no list stays as in the case.\n"
        "Errors at or below 1e-9 have rounding in them and no order.\n"
        "--cells is for boxes; --refine cuts the elements of any mesh, so that each is half as\n"
        "large at the next level.\n"
        "The CSV file is brought up to date after every run.\n",
    .example =
        "  eagre converge cases/project-sine.toml --cells 8,16,32 --degrees 1,2,3\n"
        "  eagre converge cases/project-wave.toml --cells 6,12,24 --norm linf --svg orders.svg\n"
        "  eagre converge cases/project-disc.toml --refine 0,1,2 --degrees 1,2\n"
        "  eagre converge my.toml --cells 64 --dt 0.02,0.01,0.005 --csv orders.csv --json\n",
    .options = options_list,
    .run = run,
    .complete = cli_complete_case,
};
