/* Integrals and probes of a run. Expressions are compiled and names judged at once; what lives on a
 * space is made when a row is written and it is not there. */
#include "report/measures_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* In the order of eg_measure_kind. */
const char *const eg_measure_kinds[] = {"integral", "mean",  "l1",   "l2",
                                        "linf",     "least", "most", NULL};

/* --- where probes are ------------------------------------------------------------------------- */

/* Whether a point of each probe lies on this rank: 1 or 0 in found [probe_count]. */
static eg_status find_own(const eg_measures *m, double *found)
{
    eg_status status = EG_OK;
    eg_locator *locator = NULL;
    double r[3];
    EG_TRY(eg_locator_create(m->mesh, &locator));
    for (int i = 0; i < m->probe_count; i++) {
        const probe *p = &m->probes[i];
        for (int k = 0; k < p->points && found[i] == 0; k++)
            found[i] = eg_locator_find(locator, &m->x[(p->first + k) * m->mesh->dim], r) >= 0;
    }
done:
    eg_locator_destroy(&locator);
    return status;
}

/* A point must be in the mesh; of a line one at least. Collective. */
static eg_status check_places(const eg_measures *m, double *found)
{
    eg_status status = EG_OK;
    EG_TRY(eg_comm_max(m->comm, (size_t)m->probe_count, found));
    for (int i = 0; i < m->probe_count; i++) {
        const probe *p = &m->probes[i];
        char key[EG_MEASURE_KEY];
        snprintf(key, sizeof key, "output.probe.%s.%s", p->name, p->line ? "from" : "at");
        if (found[i] == 0)
            EG_TRY(eg_case_fail(m->cas, key, -1,
                                p->line ? "no point of this line lies in the mesh"
                                        : "this point does not lie in the mesh"));
    }
done:
    return status;
}

/* --- series.csv ------------------------------------------------------------------------------- */

eg_status eg_measures_open(eg_measures *m, const char *path, const char *lines,
                           const int64_t *keep_until)
{
    eg_status status = EG_OK;
    eg_series_column *columns = NULL;
    const size_t count = (size_t)m->titles.count;
    EG_TRY(eg_copy_string(m->ctx, lines, &m->lines));
    EG_TRY(eg_new(m->ctx, count, &m->row));
    EG_TRY(eg_new(m->ctx, count, &columns));
    for (size_t i = 0; i < count; i++)
        columns[i] = (eg_series_column){.name = m->titles.list[i].name,
                                        .unit = m->titles.list[i].unit,
                                        .whole = i == EG_TITLE_STEP};
    if (eg_comm_rank(m->comm) == 0)
        EG_TRY(eg_series_open(m->ctx, path, columns, (int)count, keep_until, &m->series));
done:
    eg_release(m->ctx, &columns);
    return status;
}

/* --- on a space ------------------------------------------------------------------------------- */

void eg_measures_forget(eg_measures *m)
{
    for (int i = 0; i < m->domain_count; i++)
        eg_quantity_destroy(&m->domains[i].quantity);
    eg_probe_destroy(&m->locate);
}

/* The fields that are shown: of the space of the first. */
static int shown(const eg_state *state, const eg_field *fields[EG_STATE_FIELDS_MAX])
{
    int count = 0;
    for (int i = 0; i < state->field_count; i++)
        if (!state->fields[i].kept_only) fields[count++] = state->fields[i].field;
    return count;
}

static eg_status make_quantities(eg_measures *m, const eg_state *state)
{
    eg_status status = EG_OK;
    const eg_field *fields[EG_STATE_FIELDS_MAX];
    const eg_expression **expressions = NULL;
    const int field_count = shown(state, fields);
    EG_TRY(eg_new(m->ctx, (size_t)m->integral_count + 1, &expressions));
    for (int d = 0; d < m->domain_count; d++) {
        const domain *over = &m->domains[d];
        int count = 0;
        for (int i = 0; i < m->integral_count; i++)
            if (m->integrals[i].domain == d && m->integrals[i].expression)
                expressions[count++] = m->integrals[i].expression;
        const eg_quantity_options options = {.fields = fields,
                                             .field_count = field_count,
                                             .expressions = expressions,
                                             .count = count,
                                             .boundaries =
                                                 over->boundary_count ? over->boundaries : NULL,
                                             .boundary_count = over->boundary_count,
                                             .groups = over->group_count ? over->groups : NULL,
                                             .group_count = over->group_count};
        EG_TRY(eg_quantity_create(&options, &m->domains[d].quantity));
    }
done:
    eg_release(m->ctx, &expressions);
    return status;
}

/* Points of lines may lie outside of the mesh: what is read there is NaN. */
static eg_status find_points(eg_measures *m, const eg_state *state)
{
    eg_status status = EG_OK;
    const eg_field *fields[EG_STATE_FIELDS_MAX];
    bool *lost = NULL;
    if (shown(state, fields) == 0) return EG_OK;
    EG_TRY(eg_new(m->ctx, (size_t)m->point_count + 1, &lost));
    EG_TRY(eg_probe_create(fields[0]->space, m->point_count, m->x, lost, &m->locate));
done:
    eg_release(m->ctx, &lost);
    return status;
}

eg_status eg_measures_settle(eg_measures *m, const eg_state *state)
{
    eg_status status = EG_OK;
    if (m->domain_count > 0 && !m->domains[0].quantity) EG_TRY(make_quantities(m, state));
    if (m->point_count > 0 && !m->locate) EG_TRY(find_points(m, state));
done:
    if (status != EG_OK) eg_measures_forget(m);
    return status;
}

/* --- a row ------------------------------------------------------------------------------------ */

static double pick(eg_measure_kind kind, const eg_quantity_result *r)
{
    switch (kind) {
    case EG_MEASURE_MEAN:
        return r->integral / r->measure;
    case EG_MEASURE_L1:
        return r->l1;
    case EG_MEASURE_L2:
        return r->l2;
    case EG_MEASURE_LINF:
        return isnan(r->least) ? r->least : fmax(fabs(r->least), fabs(r->most));
    case EG_MEASURE_LEAST:
        return r->least;
    case EG_MEASURE_MOST:
        return r->most;
    default:
        return r->integral;
    }
}

static eg_status measure(eg_measures *m, const eg_state *state)
{
    eg_status status = EG_OK;
    const eg_field *fields[EG_STATE_FIELDS_MAX];
    double *row = m->row + EG_TITLES_BEFORE;
    (void)shown(state, fields);
    for (int d = 0; d < m->domain_count; d++) {
        const eg_quantity_result *result = m->domains[d].results;
        EG_TRY(eg_quantity_measure(m->domains[d].quantity, state->time, fields,
                                   m->domains[d].results));
        for (int i = 0; i < m->integral_count; i++) {
            const integral *in = &m->integrals[i];
            if (in->domain == d && in->expression) row[i] = in->factor * pick(in->kind, result++);
        }
    }
    for (int i = 0; i < m->integral_count; i++)
        if (!m->integrals[i].expression)
            row[i] = m->integrals[i].factor * row[m->integrals[i].same];
done:
    return status;
}

/* The components of all fields at all points. */
static eg_status read_values(eg_measures *m, const eg_state *state)
{
    eg_status status = EG_OK;
    const eg_field *fields[EG_STATE_FIELDS_MAX];
    const int field_count = shown(state, fields);
    int first = 0;
    for (int f = 0; f < field_count && m->point_count > 0; f++) {
        const int components = fields[f]->components;
        EG_TRY(eg_probe_read(m->locate, fields[f], m->read));
        for (int i = 0; i < m->point_count; i++)
            memcpy(&m->values[i * m->name_count + first], &m->read[i * components],
                   (size_t)components * sizeof(double));
        first += components;
    }
done:
    return status;
}

/* What a probe reads at one of its points. */
static double value_at(const eg_measures *m, const probe *p, int point, int which, double t)
{
    const double *values = &m->values[(p->first + point) * m->name_count];
    const double *x = &m->x[(p->first + point) * m->mesh->dim];
    double variables[EG_QUANTITY_FIELDS + EG_STATE_COMPONENTS_MAX] = {0};
    if (!p->expressions[which]) return values[which];
    for (int d = 0; d < m->mesh->dim; d++)
        variables[d] = x[d];
    variables[EG_VARIABLE_T] = t;
    for (int c = 0; c < m->name_count; c++)
        variables[EG_QUANTITY_FIELDS + c] = values[c];
    return eg_expression_evaluate(p->expressions[which], variables);
}

/* The text of a line's file. */
static eg_status put_line(const eg_measures *m, const probe *p, double t, eg_text *text)
{
    static const char axis[] = "xyz";
    eg_status status = EG_OK;
    const int dim = m->mesh->dim;
    const double *first = &m->x[p->first * dim];
    EG_TRY(eg_text_puts(text, "distance"));
    for (int d = 0; d < dim; d++)
        EG_TRY(eg_text_printf(text, ",%c", axis[d]));
    for (int k = 0; k < p->expression_count; k++) {
        EG_TRY(eg_text_puts(text, ","));
        EG_TRY(eg_series_put_title(text, p->labels[k]));
    }
    EG_TRY(eg_text_puts(text, "\n"));
    for (int i = 0; i < p->points; i++) {
        const double *x = &first[i * dim];
        const double z = dim == 3 ? x[2] - first[2] : 0;
        EG_TRY(eg_series_put_value(text, hypot(hypot(x[0] - first[0], x[1] - first[1]), z)));
        for (int d = 0; d < dim; d++) {
            EG_TRY(eg_text_puts(text, ","));
            EG_TRY(eg_series_put_value(text, x[d]));
        }
        for (int k = 0; k < p->expression_count; k++) {
            EG_TRY(eg_text_puts(text, ","));
            EG_TRY(eg_series_put_value(text, value_at(m, p, i, k, t)));
        }
        EG_TRY(eg_text_puts(text, "\n"));
    }
done:
    return status;
}

static eg_status write_line(const eg_measures *m, const probe *p, const eg_state *state)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(m->ctx), path = eg_text_new(m->ctx);
    EG_TRY(put_line(m, p, state->time, &text));
    if (mkdir(m->lines, 0777) != 0 && errno != EEXIST)
        EG_TRY(eg_fail(m->ctx, EG_ERROR_IO, "%s: the directory cannot be made: %s", m->lines,
                       strerror(errno)));
    EG_TRY(eg_text_printf(&path, "%s/%s-%08" PRId64 ".csv", m->lines, p->name, state->step));
    EG_TRY(
        eg_file_write_atomic(m->ctx, eg_text_string(&path), text.data, text.length, 0666, false));
done:
    eg_text_free(&path);
    eg_text_free(&text);
    return status;
}

static eg_status write_row(eg_measures *m, const eg_state *state)
{
    eg_status status = EG_OK;
    int column = EG_TITLES_BEFORE + m->integral_count;
    if (eg_comm_rank(m->comm) != 0) return EG_OK;
    m->row[EG_TITLE_STEP] = (double)state->step;
    m->row[EG_TITLE_TIME] = state->time;
    m->row[EG_TITLE_DT] = state->step > 0 ? state->dt : NAN;
    for (int i = 0; i < m->probe_count; i++) {
        const probe *p = &m->probes[i];
        if (p->line) EG_TRY(write_line(m, p, state));
        for (int k = 0; k < p->expression_count && !p->line; k++)
            m->row[column++] = value_at(m, p, 0, k, state->time);
    }
    EG_TRY(eg_series_add(m->series, m->row));
done:
    return status;
}

/* --- doors ------------------------------------------------------------------------------------ */

/* What this rank does alone: found [probe_count] as of find_own, to be released. */
static eg_status create(eg_context *ctx, const eg_measures_options *options, eg_measures **out,
                        double **found)
{
    eg_status status = EG_OK;
    eg_measures *m = NULL;
    EG_TRY(eg_new(ctx, 1, out));
    m = *out;
    m->ctx = ctx;
    m->comm = options->comm;
    m->cas = options->cas;
    m->mesh = options->mesh;
    m->known = options->known;
    m->name_count = options->name_count;
    if (m->name_count > EG_STATE_COMPONENTS_MAX)
        EG_TRY(eg_fail(ctx, EG_ERROR_UNSUPPORTED, "fields of more than %d components are shown",
                       EG_STATE_COMPONENTS_MAX));
    EG_TRY(eg_measure_symbols_make(ctx, options->names, m->name_count, &m->symbols));
    EG_TRY(eg_titles_make(ctx, m->cas, options->names, m->name_count, m->known, &m->titles));
    EG_TRY(eg_measures_read_case(m));
    EG_TRY(eg_new(ctx, (size_t)m->probe_count + 1, found));
    if (m->probe_count > 0) EG_TRY(find_own(m, *found));
done:
    return status;
}

eg_status eg_measures_create(eg_context *ctx, const eg_measures_options *options, eg_measures **out)
{
    eg_status status = EG_OK;
    double *found = NULL;
    *out = NULL;
    EG_TRY(eg_comm_agree(options->comm, create(ctx, options, out, &found)));
    if ((*out)->probe_count > 0) EG_TRY(check_places(*out, found));
done:
    eg_release(ctx, &found);
    if (status != EG_OK) (void)eg_measures_close(out); /* no file is open yet */
    return status;
}

eg_status eg_measures_write(eg_measures *measures, const eg_state *state)
{
    eg_status status = EG_OK;
    EG_TRY(eg_measures_settle(measures, state));
    EG_TRY(measure(measures, state));
    EG_TRY(read_values(measures, state));
    EG_TRY(eg_comm_agree(measures->comm, write_row(measures, state)));
done:
    return status;
}

eg_status eg_measures_close(eg_measures **measures)
{
    eg_status status = EG_OK;
    eg_measures *m = *measures;
    if (!m) return EG_OK;
    eg_context *ctx = m->ctx;
    eg_measures_forget(m);
    if (m->series) status = eg_series_close(&m->series);
    eg_measures_free_case(m);
    eg_titles_free(&m->titles);
    eg_release(ctx, &m->row);
    eg_measure_symbols_free(&m->symbols);
    eg_release(ctx, &m->lines);
    eg_release(ctx, measures);
    return status;
}
