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
        eg_json_put_number(json, "paper_gflops", p->paper_gflops);
        eg_json_put_number(json, "share", p->share);
        eg_json_put_number(json, "iterations", p->iterations);
        eg_json_put_number(json, "speed_up", p->speed_up);
        eg_json_put_number(json, "dof_per_s", p->dof_per_s);
        eg_json_put_number(json, "bytes_per_element", p->bytes_per_element);
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

static void ratio_cell(eg_table *table, double value)
{
    if (isfinite(value)) {
        eg_table_cell(table, "%.2f", value);
    } else {
        eg_table_cell(table, "–");
    }
}

/* Columns of points: those of kernels, of parts of a step, and of solves. */
typedef enum cell_kind {
    CELL_TEXT,
    CELL_NUMBER,
    CELL_COUNT,
    CELL_TIME,
    CELL_RATIO,
    CELL_BY
} cell_kind;
typedef enum cell_where {
    EVERYWHERE,
    OF_KERNELS,
    IF_PADDED,
    IF_IN_PAPER,
    OF_STEPS,
    ITERATED,
    OF_SOLVES
} cell_where;
static const struct {
    eg_column column;
    cell_kind kind;
    cell_where where;
    size_t offset; /* in eg_bench_point */
} point_columns[] = {
    {{"name", true}, CELL_TEXT, EVERYWHERE, offsetof(eg_bench_point, name)},
    {{"size", true}, CELL_TEXT, EVERYWHERE, offsetof(eg_bench_point, size)},
    {{"time", false}, CELL_TIME, EVERYWHERE, offsetof(eg_bench_point, time_s)},
    {{"GFLOP/s", false}, CELL_NUMBER, OF_KERNELS, offsetof(eg_bench_point, gflops)},
    {{"GB/s", false}, CELL_NUMBER, OF_KERNELS, offsetof(eg_bench_point, gbs)},
    {{"bound", false}, CELL_TIME, OF_KERNELS, offsetof(eg_bench_point, bound_s)},
    {{"by", true}, CELL_BY, OF_KERNELS, 0},
    {{"fraction", false}, CELL_RATIO, OF_KERNELS, offsetof(eg_bench_point, fraction)},
    /* It matters only where operations are padded to the tensor unit's tiles. */
    {{"unpadded", false}, CELL_TIME, IF_PADDED, offsetof(eg_bench_point, unpadded_bound_s)},
    {{"paper GFLOP/s", false}, CELL_NUMBER, IF_IN_PAPER, offsetof(eg_bench_point, paper_gflops)},
    {{"share", false}, CELL_RATIO, OF_STEPS, offsetof(eg_bench_point, share)},
    {{"iterations", false}, CELL_NUMBER, ITERATED, offsetof(eg_bench_point, iterations)},
    {{"speed-up", false}, CELL_RATIO, OF_STEPS, offsetof(eg_bench_point, speed_up)},
    {{"dof/s", false}, CELL_COUNT, OF_SOLVES, offsetof(eg_bench_point, dof_per_s)},
    {{"bytes/element", false}, CELL_NUMBER, OF_SOLVES, offsetof(eg_bench_point, bytes_per_element)},
};

static void point_cell(eg_table *table, const eg_bench_point *p, size_t column)
{
    const char *at = (const char *)p + point_columns[column].offset;
    double value = NAN;
    if (point_columns[column].kind == CELL_TEXT) {
        eg_table_cell(table, "%s", at);
        return;
    }
    if (point_columns[column].kind == CELL_BY) {
        eg_table_cell(table, "%s", p->bound_by[0] ? p->bound_by : "–");
        return;
    }
    memcpy(&value, at, sizeof value);
    if (point_columns[column].kind == CELL_NUMBER) number_cell(table, value);
    if (point_columns[column].kind == CELL_COUNT) eg_table_cell(table, "%.3e", value);
    if (point_columns[column].kind == CELL_TIME) time_cell(table, value);
    if (point_columns[column].kind == CELL_RATIO) ratio_cell(table, value);
}

static eg_status put_points(eg_context *ctx, const eg_bench_result *result, eg_table_style style,
                            eg_text *out)
{
    eg_column columns[EG_COUNT(point_columns)];
    size_t shown[EG_COUNT(point_columns)], count = 0;
    bool in_paper = false, steps = false, solves = false;
    for (size_t i = 0; i < result->count; i++) {
        in_paper = in_paper || isfinite(result->points[i].paper_gflops);
        steps = steps || isfinite(result->points[i].share);
        solves = solves || isfinite(result->points[i].dof_per_s);
    }
    const bool show[] = {[EVERYWHERE] = true,
                         [OF_KERNELS] = !steps && !solves,
                         [IF_PADDED] = !steps && !solves && result->device.has_tensor_f64,
                         [IF_IN_PAPER] = in_paper,
                         [OF_STEPS] = steps,
                         [ITERATED] = steps || solves,
                         [OF_SOLVES] = solves};
    for (size_t c = 0; c < EG_COUNT(point_columns); c++) {
        if (!show[point_columns[c].where]) continue;
        columns[count] = point_columns[c].column;
        shown[count++] = c;
    }
    eg_table table = eg_table_new(ctx, columns, count);
    for (size_t i = 0; i < result->count; i++)
        for (size_t c = 0; c < count; c++)
            point_cell(&table, &result->points[i], shown[c]);
    eg_status status = eg_table_render(&table, style, out);
    eg_table_free(&table);
    return status;
}

/* Ceilings in the order in which they are shown. */
static const struct {
    const char *name, *unit;
    size_t offset;
} ceiling_rows[] = {{"copy", "GB/s", offsetof(eg_bench_ceilings, copy_gbs)},
                    {"memcpy", "GB/s", offsetof(eg_bench_ceilings, memcpy_gbs)},
                    {"read", "GB/s", offsetof(eg_bench_ceilings, read_gbs)},
                    {"triad", "GB/s", offsetof(eg_bench_ceilings, triad_gbs)},
                    {"copy in cache", "GB/s", offsetof(eg_bench_ceilings, cache_copy_gbs)},
                    {"FMA", "GFLOP/s", offsetof(eg_bench_ceilings, fma_gflops)},
                    {"FP64 tensor", "GFLOP/s", offsetof(eg_bench_ceilings, tensor_gflops)},
                    {"shared", "GB/s", offsetof(eg_bench_ceilings, shared_gbs)}};

static double ceiling(const eg_bench_result *result, size_t row)
{
    double value;
    memcpy(&value, (const char *)&result->ceilings + ceiling_rows[row].offset, sizeof value);
    return value;
}

/* One line with what was measured, nothing if nothing was. */
static eg_status put_ceilings_line(const eg_bench_result *result, eg_text *out)
{
    eg_status status = EG_OK;
    const char *before = "ceilings: ";
    for (size_t i = 0; i < EG_COUNT(ceiling_rows); i++) {
        double value = ceiling(result, i);
        if (!isfinite(value)) continue;
        EG_TRY(eg_text_printf(out, "%s%s %.4g %s", before, ceiling_rows[i].name, value,
                              ceiling_rows[i].unit));
        before = ", ";
    }
    if (before[0] == ',') EG_TRY(eg_text_puts(out, "\n"));
done:
    return status;
}

/* A table with a row per ceiling and a column per benchmark that measured any. */
static eg_status put_ceilings_table(eg_context *ctx, const eg_bench_result *results, size_t count,
                                    eg_text *out)
{
    eg_status status = EG_OK;
    eg_column *columns = NULL;
    eg_table table = {0};
    EG_TRY(eg_new(ctx, count + 2, &columns));
    columns[0] = (eg_column){"ceiling", true};
    columns[1] = (eg_column){"unit", true};
    for (size_t i = 0; i < count; i++)
        columns[i + 2] = (eg_column){results[i].bench, false};
    table = eg_table_new(ctx, columns, count + 2);
    for (size_t row = 0; row < EG_COUNT(ceiling_rows); row++) {
        bool any = false;
        for (size_t i = 0; i < count; i++)
            any = any || isfinite(ceiling(&results[i], row));
        if (!any) continue;
        eg_table_cell(&table, "%s", ceiling_rows[row].name);
        eg_table_cell(&table, "%s", ceiling_rows[row].unit);
        for (size_t i = 0; i < count; i++)
            number_cell(&table, ceiling(&results[i], row));
    }
    if (table.cell_count > 0) {
        EG_TRY(eg_table_render(&table, EG_TABLE_MARKDOWN, out));
        EG_TRY(eg_text_puts(out, "\n"));
    }
done:
    eg_table_free(&table);
    eg_release(ctx, &columns);
    return status;
}

eg_status cli_bench_table(eg_context *ctx, const eg_bench_result *result, eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "%s on %s: %s%s\n", result->bench, result->device.spec,
                          result->device.name, result->quick ? " (quick: not to be quoted)" : ""));
    EG_TRY(put_ceilings_line(result, out));
    EG_TRY(eg_text_puts(out, "\n"));
    EG_TRY(put_points(ctx, result, EG_TABLE_PLAIN, out));
done:
    return status;
}

/* "NAME (spec)", without what would end an HTML comment. */
static void section_title(const eg_device_info *device, char *title, size_t length)
{
    snprintf(title, length, "%s (%s)", device->name, device->spec);
    for (char *s = strstr(title, "--"); s; s = strstr(s, "--"))
        s[1] = ' ';
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
    if (device->threads > 0) {
        EG_TRY(eg_text_printf(out, ", %d thread%s in use", device->threads,
                              device->threads > 1 ? "s" : ""));
    }
    EG_TRY(
        eg_text_printf(out, ". Measured on %s by eagre %s with\n`eagre bench", date, eg_version()));
    bool all = count == eg_bench_count();
    for (size_t i = 0; i < count && !all; i++)
        EG_TRY(eg_text_printf(out, " %s", results[i].bench));
    if (all) EG_TRY(eg_text_puts(out, " all"));
    EG_TRY(eg_text_printf(out, "%s --device %s`.\n\n", results[0].quick ? " --quick" : "",
                          device->spec));
    EG_TRY(put_ceilings_table(ctx, results, count, out));
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
