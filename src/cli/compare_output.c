/* The results of `eagre compare`: a table, one JSON object, and tables as in [zimmerman2018] in
 * Markdown. */
#include "cli/compare.h"

#include "base/comm.h"
#include "base/json.h"
#include "base/table.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static const char *stopped_by(void)
{
    return cli_signalled(NULL) == SIGINT ? "SIGINT" : "SIGTERM";
}

/* How a setting that has no figures is shown. */
static const char *missing(const eg_compare_result *r)
{
    return r->outcome == EG_COMPARE_FAILED ? "failed" : "-";
}

static void cell(eg_table *table, const eg_compare_result *r, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof text, format, value);
    eg_table_cell(table, "%s",
                  r->outcome != EG_COMPARE_DONE ? missing(r)
                  : isfinite(value)             ? text
                                                : "-");
}

/* Three digits, or more of a large number. */
static void figure_cell(eg_table *table, const eg_compare_result *r, double value)
{
    const int places = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
    char format[16];
    snprintf(format, sizeof format, "%%.%d%s", value < 0.1 ? 2 : places, value < 0.1 ? "e" : "f");
    cell(table, r, format, value);
}

static void time_cell(eg_table *table, const eg_compare_result *r, double seconds)
{
    const double scale = seconds < 1e-3 ? 1e6 : seconds < 1 ? 1e3 : 1;
    const double scaled = scale * seconds;
    char format[16];
    snprintf(format, sizeof format, "%%.%df %s",
             scaled < 10    ? 2
             : scaled < 100 ? 1
                            : 0,
             seconds < 1e-3 ? "µs"
             : seconds < 1  ? "ms"
                            : "s");
    cell(table, r, format, scaled);
}

/* --- text --------------------------------------------------------------------------------------- */

static eg_status put_runs(const compare_study *s, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_column columns[] = {{"degree", false},
                                 {"scheme", true},
                                 {"cells", false},
                                 {"points", false},
                                 {"CFL", false},
                                 {"steps", false},
                                 {s->has_exact ? "error" : "norm", false},
                                 {"order", false},
                                 {"step", false},
                                 {"ns/point/stage", false},
                                 {"total", false},
                                 {"work", false}};
    eg_table table = eg_table_new(s->ctx, columns, EG_COUNT(columns));
    for (size_t d = 0; d < s->degrees.count; d++)
        for (size_t k = 0; k < s->schemes.count; k++)
            for (size_t m = 0; m < s->cells.count; m++) {
                const size_t i = compare_index(s, d, m, k);
                const eg_compare_result *r = &s->results[i];
                eg_table_cell(&table, "%s", s->degrees.text[d]);
                eg_table_cell(&table, "%s", s->schemes.text[k]);
                eg_table_cell(&table, "%s", s->cells.text[m][0] ? s->cells.text[m] : "file");
                cell(&table, r, "%.0f", (double)r->points);
                cell(&table, r, "%.4g", r->cfl);
                cell(&table, r, "%.0f", (double)r->steps);
                cell(&table, r, "%.3e", r->nodal_l2);
                cell(&table, r, "%.2f",
                     s->has_exact ? eg_compare_order(&s->plan, s->results, i) : NAN);
                time_cell(&table, r, r->step_s);
                figure_cell(&table, r, r->ns_per_point_stage);
                time_cell(&table, r, r->loop_s);
                figure_cell(&table, r, r->work);
            }
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, out));
done:
    eg_table_free(&table);
    return status;
}

/* What work is measured in; "" if no run was made now. */
static eg_status put_unit(const compare_study *s, eg_text *out)
{
    if (!(s->reference_s > 0)) return EG_OK;
    return eg_text_printf(out, "unit    %.4g ms, of the reference work on one core\n",
                          1e3 * s->reference_s);
}

eg_status compare_put_text(const compare_study *s, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_device_info *device = eg_device_get_info(s->device);
    EG_TRY(eg_text_printf(out, "%s, %zu settings, %zu runs in %.3g s", s->model->name,
                          s->plan.count, s->done.runs, s->wall_s));
    if (s->done.taken > 0)
        EG_TRY(eg_text_printf(out, ", others taken from %s", eg_text_string(&s->directory)));
    EG_TRY(eg_text_printf(out, "\ndevice  %s (%s)%s\n", device->spec, device->name,
                          s->identity.ranks > 1 ? " on rank 0" : ""));
    if (s->identity.ranks > 1) EG_TRY(eg_text_printf(out, "ranks   %d\n", s->identity.ranks));
    EG_TRY(put_unit(s, out));
    EG_TRY(eg_text_printf(out, "results %s\n", eg_text_string(&s->directory)));
    if (s->done.stopped)
        EG_TRY(eg_text_printf(out, "stopped by %s before its end; the same command goes on\n",
                              stopped_by()));
    EG_TRY(eg_text_printf(out, "\nnodal_l2 %s of %s\n", s->has_exact ? "error" : "norm", s->field));
    EG_TRY(put_runs(s, out));
done:
    return status;
}

/* --- JSON --------------------------------------------------------------------------------------- */

static void put_cells(eg_json *json, const char *text)
{
    char *end = NULL;
    eg_json_key(json, "cells");
    eg_json_begin_array(json);
    for (; *text; text = *end == 'x' ? end + 1 : end)
        eg_json_integer(json, strtoll(text, &end, 10));
    eg_json_close(json);
}

static void put_result(eg_json *json, const compare_study *s, size_t i)
{
    static const char *const outcomes[] = {[EG_COMPARE_PENDING] = "pending",
                                           [EG_COMPARE_DONE] = "done",
                                           [EG_COMPARE_FAILED] = "failed"};
    const eg_compare_setting *of = &s->settings[i];
    const eg_compare_result *r = &s->results[i];
    eg_json_begin_object(json);
    eg_json_put_string(json, "scheme", of->scheme);
    eg_json_put_integer(json, "degree", of->degree);
    put_cells(json, of->cells);
    eg_json_put_string(json, "outcome", outcomes[r->outcome]);
    if (r->outcome == EG_COMPARE_DONE) {
        eg_json_put_integer(json, "elements", r->elements);
        eg_json_put_integer(json, "points", r->points);
        eg_json_put_integer(json, "dof", r->points * s->fields);
        eg_json_put_number(json, "cfl", r->cfl);
        eg_json_put_bool(json, "cfl_given", s->cfl[i] > 0);
        eg_json_put_integer(json, "steps", r->steps);
        eg_json_key(json, s->has_exact ? "error" : "norm");
        eg_json_begin_object(json);
        eg_json_put_number(json, "nodal_l2", r->nodal_l2);
        eg_json_put_number(json, "l2", r->l2);
        eg_json_close(json);
        eg_json_put_number(json, "order",
                           s->has_exact ? eg_compare_order(&s->plan, s->results, i) : NAN);
        eg_json_put_number(json, "step_s", r->step_s);
        eg_json_put_number(json, "loop_s", r->loop_s);
        eg_json_put_number(json, "ns_per_point_stage", r->ns_per_point_stage);
        eg_json_put_number(json, "work", r->work);
        eg_json_put_number(json, "step_work", r->step_work);
    }
    eg_json_close(json);
}

eg_status compare_put_json(const compare_study *s, eg_text *out)
{
    const eg_device_info *device = eg_device_get_info(s->device);
    eg_json json = eg_json_new(out);
    eg_json_begin_object(&json);
    eg_json_put_string(&json, "model", s->model->name);
    eg_json_put_string(&json, "device", device->spec);
    eg_json_put_string(&json, "device_name", device->name);
    eg_json_put_integer(&json, "ranks", s->identity.ranks);
    eg_json_put_string(&json, "directory", eg_text_string(&s->directory));
    eg_json_put_string(&json, "field", s->field);
    eg_json_put_number(&json, "tolerance", s->plan.tolerance);
    eg_json_put_integer(&json, "repeat", s->plan.repeat);
    eg_json_put_number(&json, "reference_s", s->reference_s > 0 ? s->reference_s : NAN);
    eg_json_put_number(&json, "reference_drift", s->reference_s > 0 ? s->drift : NAN);
    eg_json_put_integer(&json, "runs_made", (int64_t)s->done.runs);
    eg_json_put_integer(&json, "runs_taken", (int64_t)s->done.taken);
    eg_json_key(&json, "settings");
    eg_json_begin_array(&json);
    for (size_t i = 0; i < s->plan.count; i++)
        put_result(&json, s, i);
    eg_json_close(&json);
    if (s->done.stopped) eg_json_put_string(&json, "stopped_by", stopped_by());
    eg_json_put_number(&json, "wall_s", s->wall_s);
    eg_json_close(&json);
    return eg_json_end(&json);
}

/* --- Markdown ----------------------------------------------------------------------------------- */

/* Of a degree, a table of one figure with a row for each mesh and a column for each scheme. */
typedef void figure_function(eg_table *table, const eg_compare_result *r);

static void put_cfl(eg_table *table, const eg_compare_result *r)
{
    cell(table, r, "%.4g", r->cfl);
}

static void put_step(eg_table *table, const eg_compare_result *r)
{
    figure_cell(table, r, r->step_work);
}

static void put_work(eg_table *table, const eg_compare_result *r)
{
    figure_cell(table, r, r->work);
}

static void put_rate(eg_table *table, const eg_compare_result *r)
{
    figure_cell(table, r, r->ns_per_point_stage);
}

/* The points of a mesh, which all schemes share; 0: no run has told. */
static int64_t points_of(const compare_study *s, size_t degree, size_t mesh)
{
    for (size_t k = 0; k < s->schemes.count; k++) {
        const eg_compare_result *r = &s->results[compare_index(s, degree, mesh, k)];
        if (r->outcome == EG_COMPARE_DONE) return r->points;
    }
    return 0;
}

static void mesh_cells(eg_table *table, const compare_study *s, size_t degree, size_t mesh)
{
    const int64_t points = points_of(s, degree, mesh);
    eg_table_cell(table, "%s", s->cells.text[mesh][0] ? s->cells.text[mesh] : "file");
    if (points > 0)
        eg_table_cell(table, "%" PRId64, points);
    else
        eg_table_cell(table, "-");
}

static eg_status put_figures(const compare_study *s, size_t degree, const char *title,
                             figure_function *put, eg_text *out)
{
    eg_status status = EG_OK;
    eg_column columns[2 + CLI_LIST_MOST] = {{"cells", false}, {"points", false}};
    for (size_t k = 0; k < s->schemes.count; k++)
        columns[2 + k] = (eg_column){s->schemes.text[k], false};
    eg_table table = eg_table_new(s->ctx, columns, 2 + s->schemes.count);
    for (size_t m = 0; m < s->cells.count; m++) {
        mesh_cells(&table, s, degree, m);
        for (size_t k = 0; k < s->schemes.count; k++)
            put(&table, &s->results[compare_index(s, degree, m, k)]);
    }
    EG_TRY(eg_text_printf(out, "\n### %s, degree %s\n\n", title, s->degrees.text[degree]));
    EG_TRY(eg_table_render(&table, EG_TABLE_MARKDOWN, out));
done:
    eg_table_free(&table);
    return status;
}

/* Errors, each with its order behind it. */
static eg_status put_errors(const compare_study *s, size_t degree, eg_text *out)
{
    eg_status status = EG_OK;
    eg_column columns[2 + 2 * CLI_LIST_MOST] = {{"cells", false}, {"points", false}};
    for (size_t k = 0; k < s->schemes.count; k++) {
        columns[2 + 2 * k] = (eg_column){s->schemes.text[k], false};
        columns[3 + 2 * k] = (eg_column){"slope", false};
    }
    eg_table table = eg_table_new(s->ctx, columns, 2 + 2 * s->schemes.count);
    for (size_t m = 0; m < s->cells.count; m++) {
        mesh_cells(&table, s, degree, m);
        for (size_t k = 0; k < s->schemes.count; k++) {
            const size_t i = compare_index(s, degree, m, k);
            cell(&table, &s->results[i], "%.2e", s->results[i].nodal_l2);
            cell(&table, &s->results[i], "%.2f", eg_compare_order(&s->plan, s->results, i));
        }
    }
    EG_TRY(eg_text_printf(out, "\n### Error of %s (nodal_l2), degree %s\n\n", s->field,
                          s->degrees.text[degree]));
    EG_TRY(eg_table_render(&table, EG_TABLE_MARKDOWN, out));
done:
    eg_table_free(&table);
    return status;
}

eg_status compare_put_markdown(const compare_study *s, eg_text *out)
{
    eg_status status = EG_OK;
    const char *title = eg_case_string(s->cas, "title");
    EG_TRY(eg_text_printf(out, "# Schemes of model %s compared%s%s\n\n", s->model->name,
                          title ? ": " : "", title ? title : ""));
    EG_TRY(eg_text_printf(out, "%s%s%s on %s, eagre %s; times are medians of %d run%s.\n",
                          s->options->names[0], s->identity.replacements[0] ? " " : "",
                          s->identity.replacements, s->identity.device, s->identity.version,
                          s->plan.repeat, s->plan.repeat == 1 ? "" : "s"));
    for (size_t d = 0; d < s->degrees.count; d++) {
        EG_TRY(put_figures(s, d, "CFL number", put_cfl, out));
        if (s->has_exact) EG_TRY(put_errors(s, d, out));
        EG_TRY(put_figures(s, d, "Total work, in work units", put_work, out));
        EG_TRY(put_figures(s, d, "Work of a step, in work units", put_step, out));
        EG_TRY(put_figures(s, d, "Nanoseconds per point and stage", put_rate, out));
    }
done:
    return status;
}
