/* Writes the results of benchmarks. The keys of the JSON object are stable; figures that were not
 * measured are null there and a dash in tables. */
#define _POSIX_C_SOURCE 200809L
#include "cli/bench_output.h"
#include "base/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void cli_bench_json(eg_json *json, const eg_bench_result *result)
{
    const eg_bench_ceilings *c = &result->ceilings;
    eg_json_begin_object(json);
    eg_json_put_string(json, "bench", result->bench);
    eg_json_put_string(json, "device", result->device.spec);
    eg_json_put_string(json, "device_name", result->device.name);
    eg_json_put_integer(json, "threads", result->device.threads);
    eg_json_put_bool(json, "quick", result->quick);
    eg_json_put_integer(json, "kernels_compiled", eg_kernel_compilations());
    eg_json_key(json, "ceilings");
    eg_json_begin_object(json);
    eg_json_put_number(json, "copy_gbs", c->copy_gbs);
    eg_json_put_number(json, "memcpy_gbs", c->memcpy_gbs);
    eg_json_put_number(json, "read_gbs", c->read_gbs);
    eg_json_put_number(json, "triad_gbs", c->triad_gbs);
    eg_json_put_number(json, "cache_copy_gbs", c->cache_copy_gbs);
    eg_json_put_number(json, "fma_gflops", c->fma_gflops);
    eg_json_put_number(json, "tensor_gflops", c->tensor_gflops);
    eg_json_put_number(json, "shared_gbs", c->shared_gbs);
    eg_json_close(json);
    eg_json_key(json, "points");
    eg_json_begin_array(json);
    for (size_t i = 0; i < result->count; i++) {
        const eg_bench_point *p = &result->points[i];
        eg_json_begin_object(json);
        eg_json_put_string(json, "name", p->name);
        eg_json_put_string(json, "size", p->size);
        eg_json_put_number(json, "gflops", p->gflops);
        eg_json_put_number(json, "gbs", p->gbs);
        eg_json_put_number(json, "bound_s", p->bound_s);
        eg_json_put_number(json, "unpadded_bound_s", p->unpadded_bound_s);
        eg_json_put_string(json, "bound_by", p->bound_by);
        eg_json_put_number(json, "time_s", p->time_s);
        eg_json_put_number(json, "fraction", p->fraction);
        eg_json_put_number(json, "flops", p->flops);
        eg_json_put_number(json, "bytes", p->bytes);
        eg_json_put_number(json, "ceiling_gbs", p->ceiling_gbs);
        eg_json_put_number(json, "ceiling_gflops", p->ceiling_gflops);
        eg_json_close(json);
    }
    eg_json_close(json);
    eg_json_close(json);
}

/* A figure with four digits, or a dash where there is none. */
static void number_cell(eg_table *table, double value)
{
    if (!isfinite(value) || value <= 0) {
        eg_table_cell(table, "–");
    } else if (value >= 1000) {
        eg_table_cell(table, "%.0f", value);
    } else {
        eg_table_cell(table, "%.*f", value < 10 ? 3 : value < 100 ? 2 : 1, value);
    }
}

static void time_cell(eg_table *table, double seconds)
{
    if (!isfinite(seconds)) {
        eg_table_cell(table, "–");
        return;
    }
    const char *unit = seconds < 1e-6 ? "ns" : seconds < 1e-3 ? "µs" : seconds < 1 ? "ms" : "s";
    double scaled = seconds * (seconds < 1e-6 ? 1e9 : seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1);
    eg_table_cell(table, "%.*f %s", scaled < 10 ? 3 : scaled < 100 ? 2 : 1, scaled, unit);
}

static eg_status put_points(eg_context *ctx, const eg_bench_result *result, eg_table_style style,
                            eg_text *out)
{
    static const eg_column columns[] = {{"name", true},   {"size", true},   {"time", false},
                                        {"GFLOP/s", false}, {"GB/s", false}, {"bound", false},
                                        {"by", true},     {"unpadded", false}, {"fraction", false}};
    eg_table table = eg_table_new(ctx, columns, EG_COUNT(columns));
    for (size_t i = 0; i < result->count; i++) {
        const eg_bench_point *p = &result->points[i];
        eg_table_cell(&table, "%s", p->name);
        eg_table_cell(&table, "%s", p->size);
        time_cell(&table, p->time_s);
        number_cell(&table, p->gflops);
        number_cell(&table, p->gbs);
        time_cell(&table, p->bound_s);
        eg_table_cell(&table, "%s", p->bound_by[0] ? p->bound_by : "–");
        time_cell(&table, p->unpadded_bound_s);
        if (isfinite(p->fraction)) {
            eg_table_cell(&table, "%.2f", p->fraction);
        } else {
            eg_table_cell(&table, "–");
        }
    }
    eg_status status = eg_table_render(&table, style, out);
    eg_table_free(&table);
    return status;
}

static eg_status put_ceilings(eg_context *ctx, const eg_bench_result *results, size_t count,
                              eg_table_style style, eg_text *out)
{
    static const eg_column columns[] = {
        {"ceilings of", true},    {"copy", false},         {"memcpy", false},
        {"read", false},          {"triad", false},        {"cache copy GB/s", false},
        {"FMA", false},           {"tensor GFLOP/s", false}, {"shared GB/s", false}};
    eg_table table = eg_table_new(ctx, columns, EG_COUNT(columns));
    for (size_t i = 0; i < count; i++) {
        const eg_bench_ceilings *c = &results[i].ceilings;
        const double values[] = {c->copy_gbs,       c->memcpy_gbs, c->read_gbs,      c->triad_gbs,
                                 c->cache_copy_gbs, c->fma_gflops, c->tensor_gflops, c->shared_gbs};
        bool any = false;
        for (size_t k = 0; k < EG_COUNT(values); k++) any = any || isfinite(values[k]);
        if (!any) continue;
        eg_table_cell(&table, "%s", results[i].bench);
        for (size_t k = 0; k < EG_COUNT(values); k++) number_cell(&table, values[k]);
    }
    eg_status status = table.cell_count > 0 ? eg_table_render(&table, style, out) : EG_OK;
    if (status == EG_OK && table.cell_count > 0) status = eg_text_puts(out, "\n");
    eg_table_free(&table);
    return status;
}

eg_status cli_bench_table(eg_context *ctx, const eg_bench_result *result, eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "%s on %s: %s%s\n\n", result->bench, result->device.spec,
                          result->device.name, result->quick ? " (quick: not to be quoted)" : ""));
    EG_TRY(put_ceilings(ctx, result, 1, EG_TABLE_PLAIN, out));
    EG_TRY(put_points(ctx, result, EG_TABLE_PLAIN, out));
done:
    return status;
}

/* "NAME (spec)", without what would end an HTML comment. */
static void section_title(const eg_device_info *device, char *title, size_t length)
{
    snprintf(title, length, "%s (%s)", device->name, device->spec);
    for (char *s = strstr(title, "--"); s; s = strstr(s, "--")) s[1] = ' ';
}

static eg_status put_section(eg_context *ctx, const eg_bench_result *results, size_t count,
                             const char *title, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_device_info *device = &results[0].device;
    char date[32] = "";
    time_t now = time(NULL);
    struct tm day;
    if (gmtime_r(&now, &day)) strftime(date, sizeof date, "%Y-%m-%d", &day);
    EG_TRY(eg_text_printf(out, "## %s\n\n%s, %s", title, device->version, device->features));
    if (device->threads > 0) EG_TRY(eg_text_printf(out, ", %d threads in use", device->threads));
    EG_TRY(eg_text_printf(out, ". Measured on %s by eagre %s with\n`eagre bench", date,
                          eg_version()));
    for (size_t i = 0; i < count; i++) EG_TRY(eg_text_printf(out, " %s", results[i].bench));
    EG_TRY(eg_text_printf(out, "%s --device %s`.\n\n", results[0].quick ? " --quick" : "",
                          device->spec));
    EG_TRY(put_ceilings(ctx, results, count, EG_TABLE_MARKDOWN, out));
    for (size_t i = 0; i < count; i++) {
        EG_TRY(eg_text_printf(out, "### %s\n\n", results[i].bench));
        EG_TRY(put_points(ctx, &results[i], EG_TABLE_MARKDOWN, out));
        EG_TRY(eg_text_puts(out, "\n"));
    }
done:
    return status;
}

eg_status cli_bench_markdown(eg_context *ctx, const eg_bench_result *results, size_t count,
                             const char *path)
{
    eg_status status = EG_OK;
    eg_text begin = eg_text_new(ctx), end = eg_text_new(ctx), text = eg_text_new(ctx);
    char *old = NULL, title[192];
    size_t length = 0;
    section_title(&results[0].device, title, sizeof title);
    EG_TRY(eg_text_printf(&begin, "<!-- device: %s begin -->\n", title));
    EG_TRY(eg_text_printf(&end, "<!-- device: %s end -->\n", title));
    if (access(path, F_OK) == 0) {
        EG_TRY(eg_file_read(ctx, path, &old, &length));
    } else {
        EG_TRY(eg_copy_string(ctx, "# Performance\n", &old));
    }

    char *first = strstr(old, eg_text_string(&begin));
    char *last = first ? strstr(first, eg_text_string(&end)) : NULL;
    if (first && !last) {
        status = eg_fail(ctx, EG_ERROR_ARGUMENT,
                         "%s begins a section for \"%s\" but does not end it; add the line\n%s"
                         "behind it",
                         path, title, eg_text_string(&end));
        goto done;
    }
    const char *behind = last ? last + end.length : "";
    if (first) {
        EG_TRY(eg_text_add(&text, old, (size_t)(first - old)));
    } else {
        EG_TRY(eg_text_printf(&text, "%s\n", old));
    }
    EG_TRY(eg_text_printf(&text, "%s\n", eg_text_string(&begin)));
    EG_TRY(put_section(ctx, results, count, title, &text));
    EG_TRY(eg_text_printf(&text, "%s%s", eg_text_string(&end), behind));
    EG_TRY(eg_file_write_atomic(ctx, path, text.data, text.length, 0644, false));
done:
    eg_release(ctx, &old);
    eg_text_free(&text);
    eg_text_free(&end);
    eg_text_free(&begin);
    return status;
}
