/* `eagre compare`: the schemes of a model on the same case, side by side, at the largest CFL
 * number that each allows: errors, times and work [zimmerman2018]. */
#define _POSIX_C_SOURCE 200809L
#include "base/comm.h"
#include "bench/bench.h"
#include "cli/compare.h"
#include "cli/progress.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RESULTS "results.csv"

/* More than so much between two measurements of the reference is worth a warning. */
#define DRIFT_MOST 0.1

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"schemes", 's', "LIST", "what is compared: dg,sd; else all that the model has",
     offsetof(cli_options, schemes)},
    {"degrees", 0, "LIST", "space.degree of the runs: 1,2,3", offsetof(cli_options, degrees)},
    {"cells", 0, "LIST", "mesh.cells of the runs: 20,30,40, or 8x4,16x8",
     offsetof(cli_options, cells)},
    {"cfl", 0, "LIST", "CFL numbers: for all or each degree, 0.24,0.14, or dg=0.2,sd=0.3/0.2",
     offsetof(cli_options, cfl)},
    {"cfl-start", 0, "CFL", "where the search for the largest begins",
     offsetof(cli_options, start)},
    {"cfl-digits", 0, "N", "digits to which it is refined; 0: by halving alone; else 2",
     offsetof(cli_options, digits)},
    {"tolerance", 0, "X", "change of the error by halving that is allowed; else 0.001",
     offsetof(cli_options, tolerance)},
    {"repeat", 0, "N", "timed runs of each setting, of which medians are told; else 3",
     offsetof(cli_options, repeat)},
    {"output", 'o', "DIR", "where results go; else compare-CASE", offsetof(cli_options, output)},
    {"fresh", 0, NULL, "begin anew rather than go on", offsetof(cli_options, fresh)},
    {0}};

/* --- files -------------------------------------------------------------------------------------- */

static eg_status put_path(const compare_study *s, const char *name, eg_text *path)
{
    eg_text_clear(path);
    return eg_text_printf(path, "%s/%s", eg_text_string(&s->directory), name);
}

/* Writes a file of the comparison, on rank 0. */
static eg_status write_file(const compare_study *s, const char *name, const eg_text *text)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(s->ctx);
    if (cli_rank() > 0) return EG_OK;
    EG_TRY(put_path(s, name, &path));
    EG_TRY(
        eg_file_write_atomic(s->ctx, eg_text_string(&path), text->data, text->length, 0644, true));
done:
    eg_text_free(&path);
    return status;
}

/* --output, or "compare-" and the name of the case, without its ending. */
static eg_status name_directory(compare_study *s)
{
    const char *path = s->options->names[0], *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const size_t length = strlen(name) - (cli_ends_with(name, ".toml") ? 5 : 0);
    if (s->options->output) return eg_text_puts(&s->directory, s->options->output);
    return eg_text_printf(&s->directory, "compare-%.*s", (int)length, name);
}

static eg_status make_directory(const compare_study *s)
{
    const char *path = eg_text_string(&s->directory);
    struct stat there;
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return eg_fail(s->ctx, EG_ERROR_ARGUMENT, "cannot make the directory %s: %s", path,
                       strerror(errno));
    if (stat(path, &there) != 0 || !S_ISDIR(there.st_mode) || access(path, W_OK | X_OK) != 0)
        return eg_fail(s->ctx, EG_ERROR_ARGUMENT, "%s is no directory that we may write to", path);
    return EG_OK;
}

/* Gives a file with rows that are not wanted another name, results-1.csv or the next that is
 * free. */
static eg_status move_aside(const compare_study *s, const char *path, const char *why)
{
    eg_status status = EG_OK;
    eg_text aside = eg_text_new(s->ctx);
    struct stat there;
    int number = 1;
    do {
        char name[32];
        snprintf(name, sizeof name, "results-%d.csv", number++);
        EG_TRY(put_path(s, name, &aside));
    } while (stat(eg_text_string(&aside), &there) == 0);
    if (rename(path, eg_text_string(&aside)) != 0)
        EG_TRY(eg_fail(s->ctx, EG_ERROR_IO, "cannot rename %s to %s: %s", path,
                       eg_text_string(&aside), strerror(errno)));
    eg_log(s->ctx, EG_LOG_WARNING, "%s: the old rows are in %s now", why, eg_text_string(&aside));
done:
    eg_text_free(&aside);
    return status;
}

/* Takes the rows that are there, on rank 0; moves aside those of another comparison. */
static eg_status read_rows(compare_study *s)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(s->ctx);
    char *text = NULL;
    size_t length = 0;
    struct stat there;
    eg_compare_left_out left_out = {0};
    EG_TRY(make_directory(s));
    EG_TRY(put_path(s, RESULTS, &path));
    const char *name = eg_text_string(&path);
    if (stat(name, &there) != 0) goto done;
    if (s->options->fresh) {
        EG_TRY(move_aside(s, name, "a fresh start"));
        goto done;
    }
    EG_TRY(eg_file_read(s->ctx, name, &text, &length));
    EG_TRY(eg_compare_rows_read(&s->rows, &s->identity, name, text, length, &left_out));
    if (left_out.cut)
        eg_log(s->ctx, EG_LOG_WARNING, "%s ends in half a line, which is left out", name);
    if (left_out.foreign > 0) {
        char why[128];
        snprintf(why, sizeof why, "%zu of %zu rows are of another comparison, which differs in %s",
                 left_out.foreign, left_out.foreign + s->rows.count, left_out.difference);
        EG_TRY(move_aside(s, name, why));
    }
done:
    eg_release(s->ctx, &text);
    eg_text_free(&path);
    return status;
}

/* The rows of rank 0 are those of all. */
static eg_status share_rows(compare_study *s)
{
    eg_status status = EG_OK;
    eg_comm *comm = s->options->comm;
    eg_compare_row *rows = NULL;
    uint64_t count = s->rows.count;
    EG_TRY(eg_comm_agree(comm, cli_rank() == 0 ? read_rows(s) : EG_OK));
    count = s->rows.count;
    EG_TRY(eg_comm_broadcast(comm, 0, sizeof count, &count));
    EG_TRY(eg_new(s->ctx, (size_t)count, &rows));
    if (cli_rank() == 0 && count > 0) memcpy(rows, s->rows.list, (size_t)count * sizeof rows[0]);
    EG_TRY(eg_comm_broadcast(comm, 0, (size_t)count * sizeof rows[0], rows));
    for (size_t i = 0; cli_rank() > 0 && i < count; i++)
        EG_TRY(eg_compare_rows_add(&s->rows, &rows[i]));
    s->first_row = s->rows.count;
done:
    eg_release(s->ctx, &rows);
    return status;
}

static eg_status write_rows(const compare_study *s)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(s->ctx);
    EG_TRY(eg_compare_rows_put(&s->rows, &s->identity, &text));
    EG_TRY(write_file(s, RESULTS, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status write_charts(const compare_study *s)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(s->ctx);
    for (size_t d = 0; d < s->degrees.count; d++)
        for (int kind = 0; kind < COMPARE_CHARTS; kind++) {
            char name[64];
            bool drawn = false;
            eg_text_clear(&text);
            snprintf(name, sizeof name, "%s-p%s.svg", compare_chart_names[kind],
                     s->degrees.text[d]);
            EG_TRY(compare_put_chart(s, (compare_chart)kind, d, &drawn, &text));
            if (drawn) EG_TRY(write_file(s, name, &text));
        }
done:
    eg_text_free(&text);
    return status;
}

static eg_status write_results(const compare_study *s)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(s->ctx);
    EG_TRY(compare_put_markdown(s, &text));
    EG_TRY(write_file(s, "tables.md", &text));
    EG_TRY(write_charts(s));
done:
    eg_text_free(&text);
    return status;
}

/* --- the reference ------------------------------------------------------------------------------ */

/* Measures the reference work on rank 0; all samples so far give its time. */
static eg_status measure_reference(void *user)
{
    compare_study *s = user;
    eg_status status = EG_OK;
    const size_t more = EG_BENCH_REFERENCE_SAMPLES;
    double sorted[2 * EG_BENCH_REFERENCE_SAMPLES];
    double *samples = s->references + s->reference_count;
    cli_show_progress("reference work");
    EG_TRY(eg_comm_agree(s->options->comm,
                         cli_rank() == 0 ? eg_bench_reference(s->ctx, samples) : EG_OK));
    EG_TRY(eg_comm_broadcast(s->options->comm, 0, more * sizeof samples[0], samples));
    memcpy(sorted, samples, more * sizeof samples[0]);
    const double now = eg_compare_median(sorted, more);
    if (s->reference_count > 0) s->drift = now / s->reference_s - 1;
    s->reference_count += more;
    memcpy(sorted, s->references, s->reference_count * sizeof sorted[0]);
    s->reference_s = eg_compare_median(sorted, s->reference_count);
done:
    return status;
}

/* Measures it once more, and lets the rows of this session have the median. */
static eg_status close_session(compare_study *s)
{
    eg_status status = EG_OK;
    if (s->reference_count == 0) return EG_OK;
    EG_TRY(measure_reference(s));
    if (fabs(s->drift) > DRIFT_MOST)
        eg_log(
            s->ctx, EG_LOG_WARNING,
            "the reference work took %.0f %% %s at the end than at the beginning: the machine is "
            "busy with something else, and times are not to be trusted",
            100 * fabs(s->drift), s->drift > 0 ? "longer" : "less");
    for (size_t i = s->first_row; i < s->rows.count; i++)
        s->rows.list[i].reference_s = s->reference_s;
    EG_TRY(eg_compare_summarise(&s->plan, &s->rows, s->results));
    EG_TRY(eg_comm_agree(s->options->comm, write_rows(s)));
done:
    return status;
}

/* --- runs --------------------------------------------------------------------------------------- */

static bool asked(void *user)
{
    const compare_study *s = user;
    double signalled = cli_signalled(NULL) != 0;
    if (eg_comm_max(s->options->comm, 1, &signalled) != EG_OK) return true;
    return signalled > 0;
}

static void put_row(const compare_study *s, const eg_run_result *result, eg_compare_row *row)
{
    row->stable = true;
    row->elements = result->elements;
    row->points = result->dof / s->fields;
    row->steps = (int64_t)eg_facts_find(&result->facts, "loop", "steps");
    row->h = pow((double)result->elements, -1.0 / result->dim);
    row->nodal_l2 = result->errors[0].norms.nodal_l2;
    row->l2 = result->errors[0].norms.l2;
    row->loop_s = eg_facts_find(&result->facts, "loop", "wall_s");
    row->ns_per_point_stage = eg_facts_find(&result->facts, "", "ns_per_point_stage");
    row->reference_s = s->reference_s;
}

/* A run that is lost on its way is unstable; on one rank, on all. */
static eg_status run_setting(void *user, const eg_compare_setting *of, double cfl,
                             eg_compare_row *row)
{
    eg_status status = EG_OK, ran;
    compare_study *s = user;
    eg_case *cas = NULL;
    eg_run_result result = {0};
    char name[COMPARE_NAME_BYTES];
    compare_name(of, name);
    eg_run_options watched = cli_run_options(s->options, name);
    watched.quiet = true;
    EG_TRY(compare_open_case(s, of, cfl, &cas));
    ran = eg_model_run(s->model, cas, s->device, s->options->comm, &watched, &result);
    double lost = ran == EG_ERROR_NUMERIC;
    if (lost > 0)
        eg_log(s->ctx, EG_LOG_INFO, "%s is unstable at CFL %.6g: %s", name, cfl,
               eg_context_error(s->ctx));
    EG_TRY(eg_comm_max(s->options->comm, 1, &lost));
    row->stable = !(lost > 0);
    if (!row->stable) goto done;
    EG_TRY(ran);
    put_row(s, &result, row);
done:
    eg_run_result_free(s->ctx, &result);
    eg_case_close(&cas);
    return status;
}

static eg_status keep(void *user)
{
    const compare_study *s = user;
    return eg_comm_agree(s->options->comm, write_rows(s));
}

static void show_progress(void *user, const eg_compare_progress *p)
{
    char name[COMPARE_NAME_BYTES], left[64] = "", time[40];
    (void)user;
    if (isfinite(p->left_s))
        snprintf(left, sizeof left, ", %s left", cli_time_text(p->left_s, time));
    cli_show_progress("%zu/%zu %s: %s CFL %.4g%s", p->index + 1, p->count,
                      compare_name(p->setting, name), p->search ? "trying" : "timing", p->cfl,
                      left);
}

/* --- the command -------------------------------------------------------------------------------- */

/* The hash of the case file and of the mesh that it names. */
static eg_status hash_case(const compare_study *s, char hash[EG_COMPARE_HASH])
{
    eg_status status = EG_OK;
    const eg_case_source source = eg_case_get_source(s->cas);
    eg_text all = eg_text_new(s->ctx);
    char *path = NULL, *mesh = NULL;
    size_t length = 0;
    EG_TRY(eg_text_add(&all, source.text, source.length));
    if (eg_case_given(s->cas, "mesh.file")) {
        EG_TRY(eg_case_path(s->cas, "mesh.file", &path));
        EG_TRY(eg_file_read(s->ctx, path, &mesh, &length));
        EG_TRY(eg_text_add(&all, mesh, length));
    }
    eg_compare_hash(all.data, all.length, hash);
done:
    eg_release(s->ctx, &mesh);
    eg_release(s->ctx, &path);
    eg_text_free(&all);
    return status;
}

/* What rows of this comparison have in common. */
static eg_status identify(compare_study *s)
{
    eg_status status = EG_OK;
    const eg_device_info *device = eg_device_get_info(s->device);
    for (int i = 1; i < s->options->name_count; i++)
        EG_TRY(eg_text_printf(&s->replacements, "%s%s", i > 1 ? " " : "", s->options->names[i]));
    EG_TRY(eg_text_printf(&s->device_name, "%s (%s)", device->spec, device->name));
    EG_TRY(eg_comm_agree(s->options->comm, hash_case(s, s->identity.case_hash)));
    s->identity.replacements = eg_text_string(&s->replacements);
    s->identity.device = eg_text_string(&s->device_name);
    s->identity.version = eg_version();
    s->identity.ranks = eg_comm_size(s->options->comm);
    s->identity.exact = s->has_exact;
done:
    return status;
}

static eg_status print(const compare_study *s)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(s->ctx);
    EG_TRY(s->options->json ? compare_put_json(s, &text) : compare_put_text(s, &text));
    EG_TRY(cli_print(s->ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status compare(compare_study *s)
{
    eg_status status = EG_OK;
    const eg_compare_hooks hooks = {.user = s,
                                    .begin = measure_reference,
                                    .run = run_setting,
                                    .keep = keep,
                                    .asked = asked,
                                    .progress = show_progress};
    const double began = eg_wall_seconds();
    EG_TRY(eg_compare(s->ctx, &s->plan, &hooks, &s->rows, s->results, &s->done));
    EG_TRY(close_session(s));
    s->wall_s = eg_wall_seconds() - began;
    cli_clear_progress();
    EG_TRY(eg_comm_agree(s->options->comm, write_results(s)));
    EG_TRY(print(s));
    if (s->done.failed == s->plan.count)
        status = eg_fail(s->ctx, EG_ERROR_NUMERIC,
                         "no setting has a result; --verbose tells how their runs ended");
done:
    cli_clear_progress();
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    compare_study s = {.ctx = ctx,
                       .options = options,
                       .rows = eg_compare_rows_new(ctx),
                       .replacements = eg_text_new(ctx),
                       .device_name = eg_text_new(ctx),
                       .directory = eg_text_new(ctx)};
    EG_TRY(eg_comm_agree(options->comm, compare_make_plan(&s)));
    EG_TRY(eg_new(ctx, 2 * EG_BENCH_REFERENCE_SAMPLES, &s.references));
    EG_TRY(name_directory(&s));
    const char *spec = options->device ? options->device : eg_case_string(s.cas, "device.name");
    EG_TRY(eg_comm_agree(options->comm, cli_open_device(ctx, spec, &s.device)));
    EG_TRY(identify(&s));
    EG_TRY(share_rows(&s));
    cli_catch_signals();
    EG_TRY(compare(&s));
done:
    eg_device_close(&s.device);
    eg_compare_rows_free(&s.rows);
    eg_text_free(&s.directory);
    eg_text_free(&s.device_name);
    eg_text_free(&s.replacements);
    eg_release(ctx, &s.references);
    eg_release(ctx, &s.results);
    eg_release(ctx, &s.start);
    eg_release(ctx, &s.cfl);
    eg_release(ctx, &s.settings);
    eg_case_close(&s.cas);
    return status;
}

const cli_command cli_command_compare = {
    .name = "compare",
    .summary = "run a case by several schemes and print errors, times and work",
    .usage = "CASE.toml [SECTION.KEY=VALUE …] [--schemes LIST] [--degrees LIST] [--cells LIST] "
             "[OPTION …]",
    .about =
        "Runs a case by every scheme, with every degree, on every mesh, with the same physics and\n"
        "number of unknowns. Each setting has the largest CFL number at which halving it changes\n"
        "the error by less than 0.1 % (--tolerance), which is searched by halving and bisection,\n"
        "or the one given by --cfl. Prints errors, orders, times of steps and of the whole, and\n"
        "work units: times over that of a fixed reference work on one core, measured in the same\n"
        "session. Without [exact] the norm of the solution stands for its error, and may change\n"
        "by 0.01 %. fv:scheme.order=2 is a replacement for one scheme alone.\n"
        "\n"
        "The directory gets results.csv, a row for each run, brought up to date after each;\n"
        "tables.md; and charts: error-work, work-points, step-work and bars of each degree.\n"
        "The same command goes on where one was interrupted. SIGTERM or Ctrl-C end it after the\n"
        "run it is in, a second Ctrl-C at once.\n",
    .example =
        "  eagre compare cases/euler-vortex.toml --schemes dg,sd --degrees 1,2 --cells 10,20\n"
        "  eagre compare cases/euler-vortex.toml --cells 20,30,40 --degrees 1,2,3 --output paper\n"
        "  eagre compare cases/euler-vortex.toml --degrees 1,2 --cfl 0.24,0.13 --repeat 5\n"
        "  eagre compare my.toml --schemes cpr,sd --degrees 1,2 --cfl cpr=0.2/0.1,sd=0.3/0.18\n",
    .options = options_list,
    .run = run,
    .complete = cli_complete_case,
};
