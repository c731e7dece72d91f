/* What a run tells besides its errors, as JSON and as text. */
#include "model/facts.h"

#include "base/table.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void eg_facts_section(eg_facts *facts, const char *section, const char *field)
{
    facts->section = section;
    facts->field = field;
}

static void add(eg_facts *facts, const char *name, bool whole, double value)
{
    assert(facts->section && facts->count < EG_FACTS_MAX);
    facts->list[facts->count++] = (eg_fact){facts->section, facts->field, name, whole, value};
}

void eg_facts_integer(eg_facts *facts, const char *name, int64_t value)
{
    add(facts, name, true, (double)value);
}

void eg_facts_number(eg_facts *facts, const char *name, double value)
{
    add(facts, name, false, value);
}

void eg_facts_loop(eg_facts *facts, const eg_time_result *loop, double dof)
{
    const double rate =
        loop->wall_s > 0 ? (double)(loop->steps - loop->steps_before) / loop->wall_s : 0;
    eg_facts_section(facts, "loop", NULL);
    eg_facts_integer(facts, "steps", loop->steps);
    eg_facts_number(facts, "time", loop->time);
    eg_facts_number(facts, "dt_least", loop->dt_least);
    eg_facts_number(facts, "dt_most", loop->dt_most);
    eg_facts_number(facts, "wall_s", loop->wall_s);
    eg_facts_number(facts, "steps_per_s", rate);
    eg_facts_number(facts, "dof_per_s", rate * dof);
}

double eg_facts_find(const eg_facts *facts, const char *section, const char *name)
{
    for (int i = 0; i < facts->count; i++) {
        const eg_fact *fact = &facts->list[i];
        if (!fact->field && strcmp(fact->section, section) == 0 && strcmp(fact->name, name) == 0)
            return fact->value;
    }
    return NAN;
}

/* True if fact i is the first of its section, or of its field within it. */
static bool begins_section(const eg_facts *facts, int i)
{
    return i == 0 || strcmp(facts->list[i].section, facts->list[i - 1].section) != 0;
}

static bool begins_field(const eg_facts *facts, int i)
{
    const char *field = facts->list[i].field, *before = i > 0 ? facts->list[i - 1].field : NULL;
    return field && (begins_section(facts, i) || !before || strcmp(field, before) != 0);
}

/* False for a figure at the top. */
static bool in_section(const eg_fact *fact)
{
    return fact->section[0] != '\0';
}

void eg_facts_put_json(const eg_facts *facts, eg_json *json)
{
    for (int i = 0; i < facts->count; i++) {
        const eg_fact *f = &facts->list[i];
        const bool section = begins_section(facts, i), field = begins_field(facts, i);
        if (i > 0 && facts->list[i - 1].field && (section || field)) eg_json_close(json);
        if (i > 0 && section && in_section(&facts->list[i - 1])) eg_json_close(json);
        if (section && in_section(f)) {
            eg_json_key(json, f->section);
            eg_json_begin_object(json);
        }
        if (field) {
            eg_json_key(json, f->field);
            eg_json_begin_object(json);
        }
        if (f->whole)
            eg_json_put_integer(json, f->name, (int64_t)f->value);
        else
            eg_json_put_number(json, f->name, f->value);
    }
    if (facts->count > 0 && facts->list[facts->count - 1].field) eg_json_close(json);
    if (facts->count > 0 && in_section(&facts->list[facts->count - 1])) eg_json_close(json);
}

eg_status eg_facts_put_lines(const eg_facts *facts, eg_text *out)
{
    eg_status status = EG_OK;
    const char *end = "";
    for (int i = 0; i < facts->count; i++) {
        const eg_fact *f = &facts->list[i];
        if (f->field) continue;
        if (begins_section(facts, i))
            EG_TRY(eg_text_printf(out, "%s%-7s ", end, f->section));
        else
            EG_TRY(eg_text_puts(out, ", "));
        EG_TRY(f->whole ? eg_text_printf(out, "%s %" PRId64, f->name, (int64_t)f->value)
                        : eg_text_printf(out, "%s %.4g", f->name, f->value));
        end = "\n";
    }
    EG_TRY(eg_text_puts(out, end));
done:
    return status;
}

/* The table of the section that begins with fact `first`; *end becomes the first fact behind it. */
static eg_status put_table(eg_context *ctx, const eg_facts *facts, int first, int *end,
                           eg_text *out)
{
    eg_status status = EG_OK;
    eg_column columns[EG_FACTS_MAX + 1];
    char title[64];
    size_t count = 1;
    int i = first;
    snprintf(title, sizeof title, "%s of", facts->list[first].section);
    columns[0] = (eg_column){title, true};
    do
        columns[count++] = (eg_column){facts->list[i++].name, false};
    while (i < facts->count && !begins_section(facts, i) && !begins_field(facts, i));
    eg_table table = eg_table_new(ctx, columns, count);
    i = first;
    do {
        const eg_fact *f = &facts->list[i];
        if (begins_field(facts, i)) eg_table_cell(&table, "%s", f->field);
        if (f->whole)
            eg_table_cell(&table, "%" PRId64, (int64_t)f->value);
        else
            eg_table_cell(&table, "%.6e", f->value);
        i++;
    } while (i < facts->count && !begins_section(facts, i));
    *end = i;
    EG_TRY(eg_text_puts(out, "\n"));
    EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, out));
done:
    eg_table_free(&table);
    return status;
}

eg_status eg_facts_put_tables(eg_context *ctx, const eg_facts *facts, eg_text *out)
{
    eg_status status = EG_OK;
    for (int i = 0; i < facts->count;) {
        if (facts->list[i].field)
            EG_TRY(put_table(ctx, facts, i, &i, out));
        else
            i++;
    }
done:
    return status;
}
