/* What series.csv comes to. It is read back from the file, which has all rows, also those of before
 * a restart, to the last bit. */
#include "report/outcome.h"

#include "base/table.h"
#include "report/measures.h"
#include "report/series.h"
#include "report/titles.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

static eg_status take_column(eg_outcome *o, const eg_series_data *data, int column)
{
    eg_status status = EG_OK;
    eg_column_outcome *out = &o->columns[o->column_count++];
    *out = (eg_column_outcome){.last = NAN, .least = NAN, .most = NAN};
    EG_TRY(eg_copy_string(o->ctx, data->names[column], &out->name));
    if (data->units[column]) EG_TRY(eg_copy_string(o->ctx, data->units[column], &out->unit));
    for (size_t i = 0; i < data->rows; i++) {
        out->last = data->columns[column][i];
        out->least = fmin(out->least, out->last); /* of a number and NaN it is the number */
        out->most = fmax(out->most, out->last);
    }
done:
    return status;
}

static double real_or(const eg_case *cas, const char *key, double without)
{
    return eg_case_given(cas, key) ? eg_case_real(cas, key) : without;
}

static eg_status take_signal(eg_outcome *o, const eg_case *cas, const char *name,
                             const eg_series_data *data)
{
    char of[EG_MEASURE_KEY], from[EG_MEASURE_KEY], periods[EG_MEASURE_KEY];
    char spread[EG_MEASURE_KEY], speed[EG_MEASURE_KEY], length[EG_MEASURE_KEY];
    const struct {
        char *key;
        const char *name;
    } keys[] = {{of, "of"},         {from, "from"},   {periods, "periods"},
                {spread, "spread"}, {speed, "speed"}, {length, "length"}};
    eg_status status = EG_OK;
    eg_signal_outcome *out = &o->signals[o->signal_count++];
    int column = 0;
    for (size_t i = 0; i < EG_COUNT(keys); i++)
        snprintf(keys[i].key, EG_MEASURE_KEY, "output.signal.%s.%s", name, keys[i].name);
    EG_TRY(eg_copy_string(o->ctx, name, &out->name));
    while (column < data->count && strcmp(data->names[column], eg_case_string(cas, of)) != 0)
        column++;
    if (column == data->count) EG_TRY(eg_case_fail(cas, of, -1, "series.csv has no such column"));
    const eg_signal_options options = {
        .from = real_or(cas, from, -INFINITY),
        .periods = eg_case_given(cas, periods) ? (int)eg_case_integer(cas, periods) : 0,
        .spread = eg_case_real(cas, spread)};
    EG_TRY(eg_signal_measure(o->ctx, data->rows, data->columns[EG_TITLE_TIME],
                             data->columns[column], &options, &out->signal));
    out->length = real_or(cas, length, 0);
    out->speed = real_or(cas, speed, 0);
done:
    return status;
}

eg_status eg_outcome_read(eg_context *ctx, const eg_case *cas, const char *path, eg_outcome *out)
{
    eg_status status = EG_OK;
    eg_series_data data = {.ctx = ctx};
    size_t signals = 0;
    *out = (eg_outcome){.ctx = ctx};
    EG_TRY(eg_series_read(ctx, path, &data));
    if (data.count < EG_TITLES_BEFORE)
        EG_TRY(eg_fail(ctx, EG_ERROR_INPUT, "%s has lost columns", path));
    while (eg_case_name_at(cas, "output.signal", signals))
        signals++;
    EG_TRY(eg_new(ctx, (size_t)data.count, &out->columns));
    EG_TRY(eg_new(ctx, signals + 1, &out->signals));
    for (int i = EG_TITLES_BEFORE; i < data.count; i++)
        EG_TRY(take_column(out, &data, i));
    for (size_t i = 0; i < signals; i++)
        EG_TRY(take_signal(out, cas, eg_case_name_at(cas, "output.signal", i), &data));
done:
    eg_series_data_free(&data);
    if (status != EG_OK) eg_outcome_free(out);
    return status;
}

void eg_outcome_free(eg_outcome *o)
{
    for (int i = 0; i < o->column_count; i++) {
        eg_release(o->ctx, &o->columns[i].name);
        eg_release(o->ctx, &o->columns[i].unit);
    }
    for (int i = 0; i < o->signal_count; i++)
        eg_release(o->ctx, &o->signals[i].name);
    eg_release(o->ctx, &o->columns);
    eg_release(o->ctx, &o->signals);
    *o = (eg_outcome){0};
}

/* --- telling ---------------------------------------------------------------------------------- */

void eg_signal_put_json(const eg_signal_outcome *o, eg_json *json)
{
    const eg_signal *s = &o->signal;
    eg_json_put_number(json, "mean", s->mean);
    eg_json_put_number(json, "rms", s->rms);
    eg_json_put_number(json, "amplitude", s->amplitude);
    eg_json_put_number(json, "amplitude_spread", s->amplitude_spread);
    eg_json_put_integer(json, "periods", s->periods);
    eg_json_put_number(json, "begin", s->begin);
    eg_json_put_number(json, "end", s->end);
    eg_json_put_number(json, "frequency", s->frequency);
    eg_json_put_number(json, "frequency_error", s->frequency_error);
    eg_json_put_integer(json, "settled_periods", s->settled);
    eg_json_put_number(json, "settled_since", s->settled_since);
    if (o->speed > 0) {
        eg_json_put_number(json, "strouhal", s->frequency * o->length / o->speed);
        eg_json_put_number(json, "strouhal_error", s->frequency_error * o->length / o->speed);
    }
}

void eg_outcome_put_json(const eg_outcome *o, eg_json *json)
{
    if (o->column_count > 0) {
        eg_json_key(json, "series");
        eg_json_begin_object(json);
        for (int i = 0; i < o->column_count; i++) {
            eg_json_key(json, o->columns[i].name);
            eg_json_begin_object(json);
            eg_json_put_number(json, "last", o->columns[i].last);
            eg_json_put_number(json, "least", o->columns[i].least);
            eg_json_put_number(json, "most", o->columns[i].most);
            eg_json_close(json);
        }
        eg_json_close(json);
    }
    if (o->signal_count > 0) {
        eg_json_key(json, "signal");
        eg_json_begin_object(json);
        for (int i = 0; i < o->signal_count; i++) {
            eg_json_key(json, o->signals[i].name);
            eg_json_begin_object(json);
            eg_signal_put_json(&o->signals[i], json);
            eg_json_close(json);
        }
        eg_json_close(json);
    }
}

static eg_status put_columns(const eg_outcome *o, eg_text *out)
{
    static const eg_column columns[] = {
        {"series", true}, {"last", false}, {"least", false}, {"most", false}};
    eg_status status = EG_OK;
    eg_table table = eg_table_new(o->ctx, columns, EG_COUNT(columns));
    for (int i = 0; i < o->column_count; i++) {
        const eg_column_outcome *c = &o->columns[i];
        eg_table_cell(&table, c->unit ? "%s [%s]" : "%s", c->name, c->unit);
        eg_table_cell(&table, "%.6g", c->last);
        eg_table_cell(&table, "%.6g", c->least);
        eg_table_cell(&table, "%.6g", c->most);
    }
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, out));
done:
    eg_table_free(&table);
    return status;
}

/* A value, if there is one, and by how much it is uncertain, if that is known. */
static void put_uncertain(eg_table *table, double value, double error)
{
    if (!isfinite(value))
        eg_table_cell(table, "%s", "");
    else if (isfinite(error))
        eg_table_cell(table, "%.5g +- %.1g", value, error);
    else
        eg_table_cell(table, "%.5g", value);
}

eg_status eg_signal_put_table(eg_context *ctx, const eg_signal_outcome *signals, int count,
                              eg_text *out)
{
    static const eg_column columns[] = {
        {"signal", true},     {"mean", false},      {"rms", false},
        {"amplitude", false}, {"spread", false},    {"periods", false},
        {"settled", false},   {"frequency", false}, {"strouhal", false}};
    eg_status status = EG_OK;
    size_t shown = EG_COUNT(columns) - 1;
    for (int i = 0; i < count; i++)
        if (signals[i].speed > 0) shown = EG_COUNT(columns);
    eg_table table = eg_table_new(ctx, columns, shown);
    for (int i = 0; i < count; i++) {
        const eg_signal *s = &signals[i].signal;
        const double scale = signals[i].speed > 0 ? signals[i].length / signals[i].speed : NAN;
        eg_table_cell(&table, "%s", signals[i].name);
        eg_table_cell(&table, "%.6g", s->mean);
        eg_table_cell(&table, "%.5g", s->rms);
        eg_table_cell(&table, "%.5g", s->amplitude);
        eg_table_cell(&table, "%.2g", s->amplitude_spread);
        eg_table_cell(&table, "%d", s->periods);
        eg_table_cell(&table, "%d", s->settled);
        put_uncertain(&table, s->frequency, s->frequency_error);
        if (shown == EG_COUNT(columns))
            put_uncertain(&table, s->frequency * scale, s->frequency_error * scale);
    }
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, out));
done:
    eg_table_free(&table);
    return status;
}

eg_status eg_outcome_put_text(const eg_outcome *o, eg_text *out)
{
    eg_status status = EG_OK;
    if (o->column_count > 0) {
        EG_TRY(eg_text_puts(out, "\n"));
        EG_TRY(put_columns(o, out));
    }
    if (o->signal_count > 0) {
        EG_TRY(eg_text_puts(out, "\n"));
        EG_TRY(eg_signal_put_table(o->ctx, o->signals, o->signal_count, out));
    }
done:
    return status;
}
