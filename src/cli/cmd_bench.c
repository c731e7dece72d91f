/* `eagre bench`: how close the kernels come to the limits of the machine. */
#include "bench/bench.h"
#include "cli/bench_output.h"
#include "cli/list.h"
#include "cli/mesh.h"
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"quick", 'q', NULL, "small working sets: a first look in seconds",
     offsetof(cli_options, quick)},
    {"degrees", 0, "LIST", "measure these degrees only: 1,2,3", offsetof(cli_options, degrees)},
    {"mesh", 0, "FILE", "ins-steps: the Gmsh file of the mesh", offsetof(cli_options, mesh_file)},
    {"refine", 0, "N", "ins-steps: divide every element of the mesh N times",
     offsetof(cli_options, refine)},
    {"svg", 0, "FILE", "draw the roofline with the points on it", offsetof(cli_options, svg)},
    {"chart", 0, "FILE", "draw the fractions over the sizes, as .svg or .png",
     offsetof(cli_options, chart)},
    {"markdown", 0, "FILE", "rewrite this device's section of a Markdown file",
     offsetof(cli_options, markdown)},
    {0}};

/* --- which benchmarks ------------------------------------------------------------------------ */

#define MOST_BENCHES 32

typedef struct selection {
    size_t index[MOST_BENCHES]; /* in the list of benchmarks */
    size_t count;
} selection;

static eg_status unknown_bench(eg_context *ctx, const char *given)
{
    const char *names[MOST_BENCHES + 1];
    size_t count = 0;
    char all[256] = "";
    for (; count < eg_bench_count(); count++) {
        names[count] = eg_bench_name(count);
        size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s, ", names[count]);
    }
    names[count++] = "all";
    const char *nearest = eg_nearest(given, names, count);
    return eg_fail(ctx, EG_ERROR_ARGUMENT, "unknown benchmark \"%s\"%s%s%s\nThere are %sall.",
                   given, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?" : "", all);
}

static eg_status select_benches(eg_context *ctx, const cli_options *options, selection *chosen)
{
    bool wanted[MOST_BENCHES] = {false};
    for (int i = 0; i < options->name_count; i++) {
        bool known = false;
        for (size_t b = 0; b < eg_bench_count(); b++) {
            const bool all = strcmp(options->names[i], "all") == 0;
            const bool matches = (all && (options->mesh_file || !eg_bench_on_mesh(b))) ||
                                 strcmp(options->names[i], eg_bench_name(b)) == 0;
            wanted[b] = wanted[b] || matches;
            known = known || matches;
        }
        if (!known) return unknown_bench(ctx, options->names[i]);
    }
    chosen->count = 0;
    for (size_t b = 0; b < eg_bench_count(); b++) {
        if (wanted[b]) chosen->index[chosen->count++] = b;
    }
    return EG_OK;
}

/* What chooses among the points of benchmarks must have something to choose from. */
static eg_status read_settings(eg_context *ctx, const cli_options *options, const selection *chosen,
                               eg_bench_options *out)
{
    eg_status status = EG_OK;
    cli_list degrees = {0};
    bool by_degree = false, on_mesh = false;
    for (size_t i = 0; i < chosen->count; i++) {
        by_degree = by_degree || eg_bench_most_degree(chosen->index[i]) > 0;
        on_mesh = on_mesh || eg_bench_on_mesh(chosen->index[i]);
    }
    if (options->degrees && !by_degree)
        return eg_fail(
            ctx, EG_ERROR_ARGUMENT,
            "--degrees chooses among the points of gemm, chain, euler, elliptic, ins and "
            "ins-steps; name one of them");
    if ((options->mesh_file || options->refine) && !on_mesh)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--mesh and --refine are for ins-steps");
    if (on_mesh && !options->mesh_file)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "ins-steps needs a mesh: --mesh cases/geo/square-cylinder.msh");
    if (options->degrees)
        EG_TRY(cli_read_list(ctx, "--degrees", options->degrees, cli_entry_degree,
                             "a degree: 1, 2 and so on", &degrees));
    for (size_t i = 0; i < degrees.count; i++) {
        const int degree = atoi(degrees.value[i]);
        if (degree < 1 || degree > EG_DEGREE_MAX)
            return eg_fail(ctx, EG_ERROR_ARGUMENT, "--degrees: %d is not from 1 to %d", degree,
                           EG_DEGREE_MAX);
        out->degrees |= 1u << degree;
    }
    for (size_t i = 0; i < chosen->count; i++)
        EG_TRY(eg_bench_check_degrees(ctx, chosen->index[i], out->degrees));
    out->mesh = options->mesh_file;
    EG_TRY(cli_mesh_number(ctx, "refine", options->refine, 0, 10, 0, &out->refine));
done:
    return status;
}

static eg_status check_pictures(eg_context *ctx, const cli_options *options,
                                const selection *chosen)
{
    eg_status status = EG_OK;
    bool any = false;
    if (!options->svg && !options->chart) return EG_OK;
    for (size_t i = 0; i < chosen->count; i++)
        any = any || eg_bench_on_roofline(chosen->index[i]);
    if (!any)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "--%s draws points with operations and bytes; name one of gemm, chain, "
                       "matvec, dot or advection",
                       options->svg ? "svg" : "chart");
    if (options->chart && !cli_ends_with(options->chart, ".svg") &&
        !cli_ends_with(options->chart, ".png"))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a chart's name ends with .svg or .png, and \"%s\" does not",
                       options->chart);
    EG_TRY(cli_check_writable(ctx, options->svg));
    EG_TRY(cli_check_writable(ctx, options->chart));
done:
    return status;
}

static void show_progress(void *user, const char *bench, const char *what)
{
    (void)user;
    cli_show_progress("%s: %s", bench, what);
}

/* --- output ------------------------------------------------------------------------------------- */

static eg_status print_list(eg_context *ctx, bool as_json)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    if (as_json) {
        eg_json_begin_object(&json);
        eg_json_key(&json, "available");
        eg_json_begin_array(&json);
        for (size_t i = 0; i < eg_bench_count(); i++) {
            eg_json_begin_object(&json);
            eg_json_put_string(&json, "name", eg_bench_name(i));
            eg_json_put_string(&json, "summary", eg_bench_summary(i));
            eg_json_close(&json);
        }
        eg_json_close(&json);
        eg_json_close(&json);
        EG_TRY(eg_json_end(&json));
    } else {
        for (size_t i = 0; i < eg_bench_count(); i++) {
            EG_TRY(eg_text_printf(&text, "%-9s %s\n", eg_bench_name(i), eg_bench_summary(i)));
        }
        EG_TRY(eg_text_puts(&text, "all       every one of them; ins-steps only with --mesh\n"));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status print_json(eg_context *ctx, const eg_bench_result *results, size_t count)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    if (count == 1) {
        cli_bench_json(&json, &results[0]);
    } else {
        eg_json_begin_object(&json);
        eg_json_key(&json, "benches");
        eg_json_begin_array(&json);
        for (size_t i = 0; i < count; i++)
            cli_bench_json(&json, &results[i]);
        eg_json_close(&json);
        eg_json_close(&json);
    }
    EG_TRY(eg_json_end(&json));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status print_table(eg_context *ctx, const eg_bench_result *result, bool first)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    if (!first) EG_TRY(eg_text_puts(&text, "\n"));
    EG_TRY(cli_bench_table(ctx, result, &text));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status write_svg(eg_context *ctx, const eg_bench_result *results, size_t count,
                           const char *path)
{
    eg_status status = EG_OK;
    eg_text svg = eg_text_new(ctx);
    EG_TRY(eg_bench_roofline(ctx, results, count, &svg));
    EG_TRY(eg_file_write_atomic(ctx, path, svg.data, svg.length, 0644, false));
done:
    eg_text_free(&svg);
    return status;
}

static eg_status write_chart(eg_context *ctx, const eg_bench_result *results, size_t count,
                             const char *path)
{
    eg_status status = EG_OK;
    const bool png = cli_ends_with(path, ".png");
    eg_text file = eg_text_new(ctx);
    EG_TRY(cli_bench_chart(ctx, results, count, png ? EG_PICTURE_PNG : EG_PICTURE_SVG, &file));
    EG_TRY(eg_file_write_atomic(ctx, path, file.data, file.length, 0644, false));
done:
    eg_text_free(&file);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    eg_device *device = NULL;
    eg_bench_result results[MOST_BENCHES];
    size_t done_count = 0;
    selection chosen = {0};
    eg_bench_options settings = {.quick = options->quick, .progress = show_progress};
    EG_TRY(select_benches(ctx, options, &chosen));
    if (chosen.count == 0) return print_list(ctx, options->json);
    EG_TRY(read_settings(ctx, options, &chosen, &settings));
    EG_TRY(check_pictures(ctx, options, &chosen));
    EG_TRY(cli_check_writable(ctx, options->markdown));
    EG_TRY(eg_device_open(ctx, options->device ? options->device : "auto", &device));
    for (size_t i = 0; i < chosen.count; i++) {
        eg_bench_result *result = &results[done_count++];
        status = eg_bench_run(ctx, device, eg_bench_name(chosen.index[i]), &settings, result);
        cli_clear_progress();
        if (status != EG_OK) goto done;
        if (!options->json) EG_TRY(print_table(ctx, result, i == 0));
    }
    eg_log(ctx, EG_LOG_INFO, "kernels compiled: %d", eg_kernel_compilations());
    if (options->svg) EG_TRY(write_svg(ctx, results, done_count, options->svg));
    if (options->chart) EG_TRY(write_chart(ctx, results, done_count, options->chart));
    if (options->markdown) EG_TRY(cli_bench_markdown(ctx, results, done_count, options->markdown));
    if (options->json) EG_TRY(print_json(ctx, results, done_count));
done:
    for (size_t i = 0; i < done_count; i++)
        eg_bench_result_free(ctx, &results[i]);
    eg_device_close(&device);
    return status;
}

static eg_status complete(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    eg_status status = EG_OK;
    (void)ctx;
    (void)count;
    (void)words;
    EG_TRY(eg_text_puts(out, "all\n"));
    for (size_t i = 0; i < eg_bench_count(); i++)
        EG_TRY(eg_text_printf(out, "%s\n", eg_bench_name(i)));
done:
    return status;
}

const cli_command cli_command_bench = {
    .name = "bench",
    .summary = "measure how close kernels come to the limits of a device",
    .usage = "[NAME …] [--device D] [--quick] [--degrees LIST] [--json] [--svg FILE] "
             "[--chart FILE] [--markdown FILE] [--mesh FILE [--refine N]]",
    .about =
        "Runs the named benchmarks; none lists them, \"all\" runs every one of them, ins-steps\n"
        "only if --mesh gives the mesh that it needs. Each measures the ceilings of the machine\n"
        "in the same run and prints, for every point, the time, the bound that the ceilings\n"
        "set, what sets it, and the fraction bound/time.\n"
        "With --json one benchmark is one object; several are {\"benches\": [...]}.\n",
    .example = "  eagre bench gemm --device cpu:1\n"
               "  eagre bench gemm chain --device cuda:0 --svg roofline.svg\n"
               "  eagre bench ins --device cpu:1 --degrees 2,4,6\n"
               "  eagre bench ins-steps --mesh cases/geo/square-cylinder.msh --degrees 5\n",
    .options = options_list,
    .run = run,
    .complete = complete,
};
