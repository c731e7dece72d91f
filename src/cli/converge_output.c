/* The results of `eagre converge`: orders, and tables, JSON, CSV and a chart of them. */
#include "cli/converge.h"

#include "base/json.h"
#include "base/table.h"
#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUOTE(x) #x
#define TEXT_OF(x) QUOTE(x)
/* CONVERGE_FLOOR as it is written. */
#define FLOOR_TEXT TEXT_OF(CONVERGE_FLOOR)

const char *const converge_norms[NORM_COUNT + 1] = {"l1", "l2", "linf", "nodal_l2", NULL};

const char *converge_text(const converge_sweep *s, size_t run, int quantity)
{
    for (int q = VARY_COUNT - 1; q > quantity; q--)
        run /= s->lists[q].count;
    return s->lists[quantity].text[run % s->lists[quantity].count];
}

/* --- orders ------------------------------------------------------------------------------------- */

size_t converge_group_size(const converge_sweep *s)
{
    return s->lists[s->along].count;
}

/* The runs of a group that are done. */
static size_t group_end(const converge_sweep *s, size_t group)
{
    const size_t end = (group + 1) * converge_group_size(s);
    return end < s->done_count ? end : s->done_count;
}

/* True if run a is finer than b by more than rounding. */
static bool is_finer(const converge_sweep *s, size_t a, size_t b)
{
    return s->runs[a].size < s->runs[b].size * (1 - 1e-9);
}

static double order_between(const converge_sweep *s, size_t coarse, size_t fine, int field,
                            int norm)
{
    const converge_run *c = &s->runs[coarse], *f = &s->runs[fine];
    const double e_coarse = c->error[field][norm], e_fine = f->error[field][norm];
    if (!(e_coarse > CONVERGE_FLOOR && e_fine > CONVERGE_FLOOR)) return NAN;
    return log(e_coarse / e_fine) / log(c->size / f->size);
}

double converge_order(const converge_sweep *s, size_t run, int field, int norm)
{
    const size_t group = run / converge_group_size(s), none = SIZE_MAX;
    size_t coarser = none;
    if (s->along == VARY_DEGREE) return NAN;
    for (size_t r = group * converge_group_size(s); r < group_end(s, group); r++)
        if (is_finer(s, run, r) && (coarser == none || is_finer(s, r, coarser))) coarser = r;
    return coarser == none ? NAN : order_between(s, coarser, run, field, norm);
}

/* The finest run of a group with an error above the floor that is coarser than `than` (SIZE_MAX: of
 * all); SIZE_MAX: there is none. */
static size_t finest(const converge_sweep *s, size_t group, int field, int norm, size_t than)
{
    size_t found = SIZE_MAX;
    for (size_t r = group * converge_group_size(s); r < group_end(s, group); r++) {
        if (!(s->runs[r].error[field][norm] > CONVERGE_FLOOR)) continue;
        if (than != SIZE_MAX && !is_finer(s, than, r)) continue;
        if (found == SIZE_MAX || is_finer(s, r, found)) found = r;
    }
    return found;
}

double converge_quoted_order(const converge_sweep *s, size_t group, int field, int norm)
{
    if (s->along == VARY_DEGREE) return NAN;
    const size_t fine = finest(s, group, field, norm, SIZE_MAX);
    const size_t coarse = fine == SIZE_MAX ? SIZE_MAX : finest(s, group, field, norm, fine);
    return coarse == SIZE_MAX ? NAN : order_between(s, coarse, fine, field, norm);
}

/* The groups that have any results. */
static size_t group_count(const converge_sweep *s)
{
    return (s->done_count + converge_group_size(s) - 1) / converge_group_size(s);
}

/* --- table -------------------------------------------------------------------------------------- */

static void put_order(eg_table *table, double order)
{
    if (isfinite(order))
        eg_table_cell(table, "%.2f", order);
    else
        eg_table_cell(table, "-");
}

static eg_status put_errors(const converge_sweep *s, int field, eg_text *out)
{
    eg_status status = EG_OK;
    const bool has_dt = s->lists[VARY_DT].given, has_order = s->along != VARY_DEGREE;
    const bool has_mesh = s->lists[VARY_MESH].text[0][0]; /* else it is that of a file */
    eg_column columns[8];
    size_t count = 0;
    columns[count++] = (eg_column){"degree", false};
    if (has_dt) columns[count++] = (eg_column){"dt", false};
    if (has_mesh) columns[count++] = (eg_column){CONVERGE_MESH_NAME(s), false};
    columns[count++] = (eg_column){"elements", false};
    columns[count++] = (eg_column){"dof", false};
    columns[count++] = (eg_column){"error", false};
    if (has_order) columns[count++] = (eg_column){"order", false};
    columns[count++] = (eg_column){"time", false};
    eg_table table = eg_table_new(out->ctx, columns, count);
    for (size_t r = 0; r < s->done_count; r++) {
        const converge_run *run = &s->runs[r];
        const double error = run->error[field][s->norm];
        eg_table_cell(&table, "%s", converge_text(s, r, VARY_DEGREE));
        if (has_dt) eg_table_cell(&table, "%s", converge_text(s, r, VARY_DT));
        if (has_mesh) eg_table_cell(&table, "%s", converge_text(s, r, VARY_MESH));
        eg_table_cell(&table, "%" PRId64, run->elements);
        eg_table_cell(&table, "%" PRId64, run->dof);
        eg_table_cell(&table, "%.4e", error);
        if (has_order && error <= CONVERGE_FLOOR)
            eg_table_cell(&table, "at rounding");
        else if (has_order)
            put_order(&table, converge_order(s, r, field, s->norm));
        eg_table_cell(&table, "%.3f s", run->wall_s);
    }
    EG_TRY(eg_text_printf(out, "\n%s error of %s\n", converge_norms[s->norm], s->fields[field]));
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, out));
done:
    eg_table_free(&table);
    return status;
}

/* The order of every group in all norms. */
static eg_status put_orders(const converge_sweep *s, eg_text *out)
{
    eg_status status = EG_OK;
    const bool has_dt = s->along != VARY_DT && s->lists[VARY_DT].given;
    eg_column columns[3 + NORM_COUNT];
    size_t count = 0;
    columns[count++] = (eg_column){"order of", true};
    columns[count++] = (eg_column){"degree", false};
    if (has_dt) columns[count++] = (eg_column){"dt", false};
    for (int n = 0; n < NORM_COUNT; n++)
        columns[count++] = (eg_column){converge_norms[n], false};
    eg_table table = eg_table_new(out->ctx, columns, count);
    for (int f = 0; f < s->field_count; f++)
        for (size_t g = 0; g < group_count(s); g++) {
            const size_t first = g * converge_group_size(s);
            eg_table_cell(&table, "%s", s->fields[f]);
            eg_table_cell(&table, "%s", converge_text(s, first, VARY_DEGREE));
            if (has_dt) eg_table_cell(&table, "%s", converge_text(s, first, VARY_DT));
            for (int n = 0; n < NORM_COUNT; n++)
                put_order(&table, converge_quoted_order(s, g, f, n));
        }
    EG_TRY(eg_text_printf(out, "\nBetween the two finest levels with an error above %s:\n",
                          FLOOR_TEXT));
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, out));
done:
    eg_table_free(&table);
    return status;
}

eg_status converge_put_table(const converge_sweep *s, eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "%s, %zu runs in %.3g s\ndevice  %s (%s)%s\n", s->model->name,
                          s->done_count, s->wall_s, s->device->spec, s->device->name,
                          s->ranks > 1 ? " on rank 0" : ""));
    if (s->ranks > 1) EG_TRY(eg_text_printf(out, "ranks   %d\n", s->ranks));
    for (int f = 0; f < s->field_count; f++)
        EG_TRY(put_errors(s, f, out));
    if (s->along != VARY_DEGREE) EG_TRY(put_orders(s, out));
done:
    return status;
}

/* --- JSON --------------------------------------------------------------------------------------- */

/* A number; nothing as null. */
static void put_value(eg_json *json, const char *key, const char *text)
{
    eg_json_put_number(json, key, *text ? strtod(text, NULL) : NAN);
}

/* How often the mesh was refined; or its cells, "8x4" as [8, 4]. */
static void put_mesh(eg_json *json, const converge_sweep *s, size_t run)
{
    const char *text = converge_text(s, run, VARY_MESH);
    char *end = NULL;
    if (s->refined) {
        put_value(json, "refined", text);
        return;
    }
    eg_json_key(json, "cells");
    eg_json_begin_array(json);
    for (; *text; text = *end == 'x' ? end + 1 : end)
        eg_json_integer(json, strtoll(text, &end, 10));
    eg_json_close(json);
}

static void put_run(eg_json *json, const converge_sweep *s, size_t r)
{
    const converge_run *run = &s->runs[r];
    eg_json_begin_object(json);
    put_value(json, "degree", converge_text(s, r, VARY_DEGREE));
    put_mesh(json, s, r);
    put_value(json, "dt", converge_text(s, r, VARY_DT));
    eg_json_put_integer(json, "elements", run->elements);
    eg_json_put_integer(json, "dof", run->dof);
    for (int part = 0; part < 2; part++) {
        eg_json_key(json, part == 0 ? "error" : "order");
        eg_json_begin_object(json);
        for (int f = 0; f < s->field_count; f++) {
            eg_json_key(json, s->fields[f]);
            eg_json_begin_object(json);
            for (int n = 0; n < NORM_COUNT; n++)
                eg_json_put_number(json, converge_norms[n],
                                   part == 0 ? run->error[f][n] : converge_order(s, r, f, n));
            eg_json_close(json);
        }
        eg_json_close(json);
    }
    eg_json_put_number(json, "wall_s", run->wall_s);
    eg_json_close(json);
}

static void put_group(eg_json *json, const converge_sweep *s, size_t g, int field)
{
    const size_t first = g * converge_group_size(s);
    eg_json_begin_object(json);
    eg_json_put_string(json, "field", s->fields[field]);
    put_value(json, "degree", converge_text(s, first, VARY_DEGREE));
    if (s->along != VARY_MESH) put_mesh(json, s, first);
    if (s->along != VARY_DT) put_value(json, "dt", converge_text(s, first, VARY_DT));
    for (int n = 0; n < NORM_COUNT; n++)
        eg_json_put_number(json, converge_norms[n], converge_quoted_order(s, g, field, n));
    eg_json_close(json);
}

eg_status converge_put_json(const converge_sweep *s, eg_text *out)
{
    const char *const names[VARY_COUNT] = {"degree", "dt", CONVERGE_MESH_NAME(s)};
    eg_json json = eg_json_new(out);
    eg_json_begin_object(&json);
    eg_json_put_string(&json, "model", s->model->name);
    eg_json_put_string(&json, "device", s->device->spec);
    eg_json_put_string(&json, "device_name", s->device->name);
    eg_json_put_integer(&json, "ranks", s->ranks);
    eg_json_put_string(&json, "along", names[s->along]);
    eg_json_key(&json, "runs");
    eg_json_begin_array(&json);
    for (size_t r = 0; r < s->done_count; r++)
        put_run(&json, s, r);
    eg_json_close(&json);
    eg_json_key(&json, "orders");
    eg_json_begin_array(&json);
    for (int f = 0; f < s->field_count && s->along != VARY_DEGREE; f++)
        for (size_t g = 0; g < group_count(s); g++)
            put_group(&json, s, g, f);
    eg_json_close(&json);
    eg_json_put_number(&json, "wall_s", s->wall_s);
    eg_json_close(&json);
    return eg_json_end(&json);
}

/* --- CSV ---------------------------------------------------------------------------------------- */

/* A text cell, in quotes where it needs them. */
static eg_status put_cell(const char *text, eg_text *out)
{
    eg_status status = EG_OK;
    if (!strpbrk(text, ",\"\n\r")) return eg_text_printf(out, "%s,", text);
    EG_TRY(eg_text_puts(out, "\""));
    for (; *text; text++) {
        if (*text == '"') EG_TRY(eg_text_puts(out, "\""));
        EG_TRY(eg_text_add(out, text, 1));
    }
    EG_TRY(eg_text_puts(out, "\","));
done:
    return status;
}

eg_status converge_put_csv(const converge_sweep *s, eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(out, "field,degree,%s,dt,elements,dof", CONVERGE_MESH_NAME(s)));
    for (int n = 0; n < NORM_COUNT; n++)
        EG_TRY(eg_text_printf(out, ",%s", converge_norms[n]));
    for (int n = 0; n < NORM_COUNT; n++)
        EG_TRY(eg_text_printf(out, ",order_%s", converge_norms[n]));
    EG_TRY(eg_text_puts(out, ",wall_s\n"));
    for (size_t r = 0; r < s->done_count; r++)
        for (int f = 0; f < s->field_count; f++) {
            EG_TRY(put_cell(s->fields[f], out));
            EG_TRY(put_cell(converge_text(s, r, VARY_DEGREE), out));
            EG_TRY(put_cell(converge_text(s, r, VARY_MESH), out));
            EG_TRY(put_cell(converge_text(s, r, VARY_DT), out));
            EG_TRY(
                eg_text_printf(out, "%" PRId64 ",%" PRId64, s->runs[r].elements, s->runs[r].dof));
            for (int n = 0; n < NORM_COUNT; n++)
                EG_TRY(eg_text_printf(out, ",%.16e", s->runs[r].error[f][n]));
            for (int n = 0; n < NORM_COUNT; n++) {
                const double order = converge_order(s, r, f, n);
                EG_TRY(isfinite(order) ? eg_text_printf(out, ",%.4f", order)
                                       : eg_text_puts(out, ","));
            }
            EG_TRY(eg_text_printf(out, ",%.6f\n", s->runs[r].wall_s));
        }
done:
    return status;
}

/* --- chart -------------------------------------------------------------------------------------- */

/* The points of one line, from coarse to fine, and where its order is shown. */
static void fill_series(const converge_sweep *s, size_t g, int field, double *x, double *y,
                        eg_chart_series *out)
{
    out->x = x;
    out->y = y;
    for (size_t r = g * converge_group_size(s); r < group_end(s, g); r++) {
        const converge_run *run = &s->runs[r];
        const double at = s->along == VARY_DEGREE ? (double)run->dof : run->size;
        size_t i = out->count++;
        for (; i > 0 && s->along != VARY_DEGREE && x[i - 1] < at; i--) {
            x[i] = x[i - 1];
            y[i] = y[i - 1];
        }
        x[i] = at;
        y[i] = run->error[field][s->norm];
    }
    for (size_t i = 1; i < out->count && s->along != VARY_DEGREE; i++)
        if (y[i] > CONVERGE_FLOOR && y[i - 1] > CONVERGE_FLOOR) out->slope = i;
}

static eg_status name_series(eg_context *ctx, const converge_sweep *s, size_t g, int field,
                             char **name)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    const size_t first = g * converge_group_size(s);
    const bool one_field = s->field_count == 1;
    if (!one_field || s->along == VARY_DEGREE) EG_TRY(eg_text_puts(&text, s->fields[field]));
    if (s->along != VARY_DEGREE)
        EG_TRY(eg_text_printf(&text, "%sdegree %s", one_field ? "" : ", ",
                              converge_text(s, first, VARY_DEGREE)));
    if (s->along == VARY_MESH && s->lists[VARY_DT].count > 1)
        EG_TRY(eg_text_printf(&text, ", dt %s", converge_text(s, first, VARY_DT)));
    EG_TRY(eg_copy_string(ctx, eg_text_string(&text), name));
done:
    eg_text_free(&text);
    return status;
}

eg_status converge_put_chart(const converge_sweep *s, eg_text *out)
{
    static const char *const x_labels[VARY_COUNT] = {"degrees of freedom", "time step dt",
                                                     "mesh size h = elements^(-1/dim)"};
    eg_status status = EG_OK;
    eg_context *ctx = out->ctx;
    const size_t levels = converge_group_size(s), groups = group_count(s);
    const size_t count = groups * (size_t)s->field_count;
    eg_chart_series *series = NULL;
    char **names = NULL;
    double *values = NULL;
    eg_text y_label = eg_text_new(ctx), subtitle = eg_text_new(ctx);
    EG_TRY(eg_new(ctx, count, &series));
    EG_TRY(eg_new(ctx, count, &names));
    EG_TRY(eg_new(ctx, 2 * count * levels, &values));
    for (size_t k = 0; k < count; k++) {
        const int field = (int)(k / groups);
        double *x = values + 2 * k * levels;
        EG_TRY(name_series(ctx, s, k % groups, field, &names[k]));
        series[k].name = names[k];
        fill_series(s, k % groups, field, x, x + levels, &series[k]);
    }
    EG_TRY(eg_text_printf(&y_label, "%s error", converge_norms[s->norm]));
    if (s->field_count == 1) EG_TRY(eg_text_printf(&y_label, " of %s", s->fields[0]));
    EG_TRY(eg_text_printf(&subtitle, "model %s, %s", s->model->name, s->device->spec));
    const eg_chart chart = {.title = s->title ? s->title : s->model->name,
                            .subtitle = eg_text_string(&subtitle),
                            .x = {.label = x_labels[s->along], .scale = EG_SCALE_LOG},
                            .y = {.label = eg_text_string(&y_label), .scale = EG_SCALE_LOG},
                            .slope_name = "order",
                            .series = series,
                            .count = count,
                            .floor = s->along == VARY_DEGREE ? 0 : CONVERGE_FLOOR,
                            .floor_label = "orders are taken above " FLOOR_TEXT};
    EG_TRY(eg_chart_write(ctx, &chart, out));
done:
    for (size_t k = 0; names && k < count; k++)
        eg_release(ctx, &names[k]);
    eg_release(ctx, &names);
    eg_release(ctx, &values);
    eg_release(ctx, &series);
    eg_text_free(&subtitle);
    eg_text_free(&y_label);
    return status;
}
