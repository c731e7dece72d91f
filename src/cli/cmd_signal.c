/* `eagre signal`: frequency, mean and amplitude of columns of a table of numbers over time. */
#include "cli/cli.h"
#include "cli/mesh.h"
#include "report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OPTION(name) offsetof(cli_options, name)

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"x", 0, "COLUMN", "the column of times (time)", OPTION(x)},
    {"from", 0, "TIME", "leave out what is before", OPTION(from)},
    {"periods", 'n', "N", "measure the last N periods only", OPTION(periods)},
    {"spread", 0, "PART",
     "by how much amplitudes may differ where it has settled, over their mean (0.01)",
     OPTION(spread)},
    {"length", 0, "L", "a length for the Strouhal number, frequency L/U", OPTION(length)},
    {"speed", 0, "U", "the speed for the Strouhal number", OPTION(speed)},
    {0}};

typedef struct request {
    eg_context *ctx;            /* not owned */
    const cli_options *options; /* not owned */
    const char *path;
    eg_series_data data;
    eg_signal_options how;
    double length, speed;
    int times;                  /* the column */
    eg_signal_outcome *signals; /* [count] owned; their names are the data's */
    int count;
} request;

/* --- options ---------------------------------------------------------------------------------- */

/* NULL: it stays as it is. */
static eg_status read_number(eg_context *ctx, const char *option, const char *given, double least,
                             double *out)
{
    char *end = NULL;
    if (!given) return EG_OK;
    const double value = strtod(given, &end);
    if (end == given || *end || !isfinite(value) || value < least)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--%s takes a number%s, not \"%s\"", option,
                       least == 0  ? " from 0 on"
                       : least > 0 ? " greater than 0"
                                   : "",
                       given);
    *out = value;
    return EG_OK;
}

static eg_status read_options(request *r)
{
    const cli_options *o = r->options;
    eg_status status = EG_OK;
    r->how = (eg_signal_options){.from = -INFINITY, .spread = 0.01};
    EG_TRY(read_number(r->ctx, "from", o->from, -INFINITY, &r->how.from));
    EG_TRY(read_number(r->ctx, "spread", o->spread, 0, &r->how.spread));
    EG_TRY(read_number(r->ctx, "length", o->length, 1e-300, &r->length));
    EG_TRY(read_number(r->ctx, "speed", o->speed, 1e-300, &r->speed));
    EG_TRY(cli_mesh_number(r->ctx, "periods", o->periods, 1, 1000000000, 0, &r->how.periods));
    if (!o->length != !o->speed)
        EG_TRY(eg_fail(r->ctx, EG_ERROR_ARGUMENT,
                       "a Strouhal number needs both --length and --speed"));
done:
    return status;
}

/* --- columns ---------------------------------------------------------------------------------- */

static int find_column(const eg_series_data *data, const char *name)
{
    for (int i = 0; i < data->count; i++)
        if (strcmp(data->names[i], name) == 0) return i;
    return -1;
}

/* Names are keys of the JSON object: each is there once. */
static eg_status check_name(const request *r, const char *name)
{
    for (int i = 0; i < r->count; i++) {
        if (strcmp(r->signals[i].name, name) != 0) continue;
        if (r->options->name_count > 1)
            return eg_fail(r->ctx, EG_ERROR_ARGUMENT, "the column \"%s\" is named twice", name);
        return eg_fail(
            r->ctx, EG_ERROR_INPUT,
            "%s has several columns \"%s\": name columns to be measured, or rename these", r->path,
            name);
    }
    return EG_OK;
}

static eg_status add_signal(request *r, int column)
{
    eg_status status = EG_OK;
    eg_signal_outcome *s = &r->signals[r->count];
    EG_TRY(check_name(r, r->data.names[column]));
    *s = (eg_signal_outcome){.name = r->data.names[column], .length = r->length, .speed = r->speed};
    EG_TRY(eg_signal_measure(r->ctx, r->data.rows, r->data.columns[r->times],
                             r->data.columns[column], &r->how, &s->signal));
    r->count++;
done:
    return status;
}

/* The columns that are named, or all but steps and times. */
static eg_status measure(request *r)
{
    static const char *const no_signals[] = {"step", "dt"};
    const cli_options *o = r->options;
    const char *times = o->x ? o->x : "time";
    eg_status status = EG_OK;
    EG_TRY(eg_series_read(r->ctx, r->path, &r->data));
    r->times = find_column(&r->data, times);
    if (r->times < 0) EG_TRY(cli_unknown_column(&r->data, r->path, times));
    EG_TRY(eg_new(r->ctx, (size_t)(r->data.count + o->name_count), &r->signals));
    for (int i = 1; i < o->name_count; i++) {
        const int column = find_column(&r->data, o->names[i]);
        if (column < 0) EG_TRY(cli_unknown_column(&r->data, r->path, o->names[i]));
        EG_TRY(add_signal(r, column));
    }
    for (int i = 0; i < r->data.count && o->name_count == 1; i++) {
        bool signal = i != r->times;
        for (size_t k = 0; k < EG_COUNT(no_signals); k++)
            signal = signal && strcmp(r->data.names[i], no_signals[k]) != 0;
        if (signal) EG_TRY(add_signal(r, i));
    }
    if (r->count == 0)
        EG_TRY(eg_fail(r->ctx, EG_ERROR_INPUT, "%s has no column beside its times", r->path));
done:
    return status;
}

static eg_status print(const request *r)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(r->ctx);
    eg_json json = eg_json_new(&text);
    if (r->options->json) {
        eg_json_begin_object(&json);
        eg_json_key(&json, "signal");
        eg_json_begin_object(&json);
        for (int i = 0; i < r->count; i++) {
            eg_json_key(&json, r->signals[i].name);
            eg_json_begin_object(&json);
            eg_signal_put_json(&r->signals[i], &json);
            eg_json_close(&json);
        }
        eg_json_close(&json);
        eg_json_close(&json);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(eg_signal_put_table(r->ctx, r->signals, r->count, &text));
    }
    EG_TRY(cli_print(r->ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    request r = {.ctx = ctx, .options = options, .data = {.ctx = ctx}};
    eg_status status = EG_OK;
    if (options->name_count == 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "of what? Name a .csv file, and perhaps columns of it");
    r.path = options->names[0];
    EG_TRY(read_options(&r));
    EG_TRY(measure(&r));
    EG_TRY(print(&r));
done:
    eg_release(ctx, &r.signals);
    eg_series_data_free(&r.data);
    return status;
}

static eg_status complete(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    (void)ctx;
    (void)words;
    return count == 0 ? eg_text_puts(out, "FILES\n") : EG_OK;
}

const cli_command cli_command_signal = {
    .name = "signal",
    .summary = "measure frequency, mean and amplitude of a column over time",
    .usage = "FILE.csv [COLUMN …] [--from TIME] [--periods N] …",
    .about =
        "Measures columns of a table of numbers over time, as runs leave it in series.csv; "
        "without\n"
        "COLUMN all of them. A period begins where a column passes its middle upwards. All "
        "figures\n"
        "are of whole periods: the mean over time, rms and amplitude of what is above and below,\n"
        "the spread of the amplitudes of periods over their mean, how many periods were measured\n"
        "and how many at the end have settled, and the frequency with what it is uncertain by.\n"
        "A case asks for the same at the end of a run in [output.signal.NAME].\n",
    .example = "  eagre signal flow.out/series.csv body.cl --periods 10 --length 1 --speed 1\n"
               "  eagre signal flow.out/series.csv body.cd body.cl --from 80 --json\n",
    .options = options_list,
    .run = run,
    .complete = complete,
};
