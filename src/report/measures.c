/* Integrals and probes of a run. Expressions are compiled and names judged at once; what lives on a
 * space is made when a row is written and it is not there. */
#include "report/measures.h"

#include "field/locate.h"
#include "report/series.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* In the order of eg_measure_kinds. */
enum { KIND_INTEGRAL, KIND_MEAN, KIND_L1, KIND_L2, KIND_LINF, KIND_LEAST, KIND_MOST };
const char *const eg_measure_kinds[] = {"integral", "mean",  "l1",   "l2",
                                        "linf",     "least", "most", NULL};

/* In the order of eg_measure_columns. */
enum { COLUMN_STEP, COLUMN_TIME, COLUMN_DT, COLUMNS_BEFORE };
const char *const eg_measure_columns[] = {"step", "time", "dt", NULL};

typedef struct integral {
    int kind;
    int domain; /* of eg_measures.domains */
    eg_expression *expression;
} integral;

/* What integrals are taken over: those over the same share a kernel. */
typedef struct domain {
    int *boundaries, *groups; /* of elements; neither: the domain; owned */
    int boundary_count, group_count;
    eg_quantity *quantity;       /* NULL: not made yet */
    eg_quantity_result *results; /* [integral_count] of its own integrals, in their order; owned */
} domain;

typedef struct probe {
    char name[EG_MEASURE_NAME + 1];
    bool line;
    int first, points;           /* of eg_measures.x */
    eg_expression **expressions; /* [expression_count] owned */
    char **labels;               /* [expression_count] owned */
    int expression_count;
} probe;

struct eg_measures {
    eg_context *ctx;     /* not owned */
    eg_comm *comm;       /* not owned */
    const eg_case *cas;  /* not owned */
    const eg_mesh *mesh; /* not owned */
    char *lines;         /* the directory of lines */
    int name_count;      /* components of all fields */
    eg_measure_symbols symbols;
    integral *integrals;
    int integral_count;
    domain *domains; /* [domain_count] */
    int domain_count;
    probe *probes;
    int probe_count;
    int point_count;
    double *x;         /* [point_count][dim] */
    double *values;    /* [point_count][name_count] */
    double *read;      /* [point_count][components] of one field */
    eg_probe *locate;  /* NULL: not made yet */
    eg_series *series; /* rank 0 */
    int column_count;
    char **columns; /* [column_count] names; owned */
    double *row;    /* [column_count] */
};

/* --- what the case asks for ------------------------------------------------------------------- */

static bool same_numbers(const int *a, int a_count, const int *b, int b_count)
{
    return a_count == b_count && (a_count == 0 || memcmp(a, b, (size_t)a_count * sizeof(int)) == 0);
}

/* The number of a group of elements, -1 if there is none of that name. */
static int find_group(const eg_mesh *mesh, const char *name)
{
    for (int i = 0; i < mesh->group_count; i++)
        if (strcmp(mesh->group[i], name) == 0) return i;
    return -1;
}

static eg_status fail_over(const eg_measures *m, const char *key, int i, const char *name)
{
    const eg_mesh *mesh = m->mesh;
    const char *near =
        eg_nearest(name, (const char *const *)mesh->boundary, (size_t)mesh->boundary_count);
    if (!near) near = eg_nearest(name, (const char *const *)mesh->group, (size_t)mesh->group_count);
    return eg_case_fail(m->cas, key, i,
                        "the mesh has no boundary or group of elements \"%s\"%s%s%s", name,
                        near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
}

/* What `over` names: boundaries, groups of elements, or the domain, which is neither. */
static eg_status read_over(const eg_measures *m, const char *key, domain *out)
{
    eg_status status = EG_OK;
    const int given = (int)eg_case_count(m->cas, key);
    if (given == 1 && strcmp(eg_case_string_at(m->cas, key, 0), "domain") == 0) return EG_OK;
    if (given == 0) EG_TRY(eg_case_fail(m->cas, key, -1, "it names nothing"));
    EG_TRY(eg_new(m->ctx, (size_t)given, &out->boundaries));
    EG_TRY(eg_new(m->ctx, (size_t)given, &out->groups));
    for (int i = 0; i < given; i++) {
        const char *name = eg_case_string_at(m->cas, key, (size_t)i);
        const int boundary = eg_mesh_find_boundary(m->mesh, name);
        const int group = boundary < 0 ? find_group(m->mesh, name) : -1;
        if (boundary < 0 && group < 0) EG_TRY(fail_over(m, key, i, name));
        if (boundary >= 0)
            out->boundaries[out->boundary_count++] = boundary;
        else
            out->groups[out->group_count++] = group;
    }
    if (out->boundary_count > 0 && out->group_count > 0)
        EG_TRY(eg_case_fail(m->cas, key, -1,
                            "boundaries and groups of elements cannot be added up: one is an "
                            "integral over faces, the other over volumes"));
done:
    return status;
}

static void domain_free(eg_context *ctx, domain *d)
{
    eg_quantity_destroy(&d->quantity);
    eg_release(ctx, &d->boundaries);
    eg_release(ctx, &d->groups);
    eg_release(ctx, &d->results);
}

static eg_status read_integral(eg_measures *m, const char *name, size_t integrals)
{
    eg_status status = EG_OK;
    integral *in = &m->integrals[m->integral_count];
    domain over = {0};
    char key[EG_MEASURE_KEY];
    snprintf(key, sizeof key, "output.integral.%s.over", name);
    EG_TRY(read_over(m, key, &over));
    snprintf(key, sizeof key, "output.integral.%s.kind", name);
    in->kind = eg_case_choice(m->cas, key);
    for (in->domain = 0; in->domain < m->domain_count; in->domain++) {
        const domain *d = &m->domains[in->domain];
        if (same_numbers(d->boundaries, d->boundary_count, over.boundaries, over.boundary_count) &&
            same_numbers(d->groups, d->group_count, over.groups, over.group_count))
            break;
    }
    if (in->domain == m->domain_count) {
        EG_TRY(eg_new(m->ctx, integrals, &over.results));
        m->domains[m->domain_count++] = over;
        over = (domain){0};
    }
    snprintf(key, sizeof key, "output.integral.%s.of", name);
    EG_TRY(eg_measure_formula(&m->symbols, m->cas, key, -1,
                              m->domains[in->domain].boundary_count > 0 ? EG_MEASURE_ON_BOUNDARIES
                                                                        : EG_MEASURE_IN_DOMAIN,
                              &in->expression));
    m->integral_count++;
done:
    domain_free(m->ctx, &over);
    return status;
}

/* Points of a probe: x NULL only counts them. */
static eg_status read_points(const eg_measures *m, const char *name, bool *line, int *count,
                             double *x)
{
    eg_status status = EG_OK;
    const int dim = m->mesh->dim;
    char keys[2][EG_MEASURE_KEY], key[EG_MEASURE_KEY];
    snprintf(key, sizeof key, "output.probe.%s.at", name);
    *line = !eg_case_given(m->cas, key);
    snprintf(keys[0], sizeof keys[0], "output.probe.%s.%s", name, *line ? "from" : "at");
    snprintf(keys[1], sizeof keys[1], "output.probe.%s.%s", name, *line ? "to" : "at");
    for (int k = 0; k < 2; k++)
        if (eg_case_count(m->cas, keys[k]) != (size_t)dim)
            EG_TRY(
                eg_case_fail(m->cas, keys[k], -1, "a point has %d coordinates on this mesh", dim));
    snprintf(key, sizeof key, "output.probe.%s.points", name);
    *count = *line ? (int)eg_case_integer(m->cas, key) : 1;
    for (int i = 0; x && i < *count; i++) {
        const double part = *line ? (double)i / (*count - 1) : 0;
        for (int d = 0; d < dim; d++)
            x[i * dim + d] = (1 - part) * eg_case_real_at(m->cas, keys[0], (size_t)d) +
                             part * eg_case_real_at(m->cas, keys[1], (size_t)d);
    }
done:
    return status;
}

/* What a probe reads: what `of` says, or all fields. */
static eg_status read_expressions(eg_measures *m, probe *p)
{
    eg_status status = EG_OK;
    const eg_symbol *fields = &m->symbols.list[m->symbols.slope_count + EG_VARIABLE_COUNT];
    char key[EG_MEASURE_KEY];
    snprintf(key, sizeof key, "output.probe.%s.of", p->name);
    const int given = (int)eg_case_count(m->cas, key);
    const int count = given > 0 ? given : m->name_count;
    EG_TRY(eg_new(m->ctx, (size_t)count, &p->expressions));
    EG_TRY(eg_new(m->ctx, (size_t)count, &p->labels));
    for (int i = 0; i < count; i++) {
        p->expression_count = i + 1;
        const char *label = given > 0 ? eg_case_string_at(m->cas, key, (size_t)i) : fields[i].name;
        EG_TRY(eg_copy_string(m->ctx, label, &p->labels[i]));
        /* A name that is no identifier can be a field, but not an expression. */
        if (given == 0) continue;
        EG_TRY(eg_measure_formula(&m->symbols, m->cas, key, i, EG_MEASURE_AT_POINTS,
                                  &p->expressions[i]));
    }
done:
    return status;
}

static eg_status read_probe(eg_measures *m, const char *name)
{
    eg_status status = EG_OK;
    probe *p = &m->probes[m->probe_count++];
    snprintf(p->name, sizeof p->name, "%s", name);
    p->first = m->point_count;
    EG_TRY(read_points(m, name, &p->line, &p->points, m->x + m->point_count * m->mesh->dim));
    m->point_count += p->points;
    EG_TRY(read_expressions(m, p));
done:
    return status;
}

static eg_status read_all(eg_measures *m)
{
    eg_status status = EG_OK;
    const char *name;
    size_t integrals = 0, probes = 0, points = 0;
    while (eg_case_name_at(m->cas, "output.integral", integrals))
        integrals++;
    for (; (name = eg_case_name_at(m->cas, "output.probe", probes)); probes++) {
        bool line;
        int count;
        EG_TRY(read_points(m, name, &line, &count, NULL));
        points += (size_t)count;
    }
    EG_TRY(eg_new(m->ctx, integrals + 1, &m->integrals));
    EG_TRY(eg_new(m->ctx, integrals + 1, &m->domains));
    EG_TRY(eg_new(m->ctx, probes + 1, &m->probes));
    EG_TRY(eg_new(m->ctx, points * (size_t)m->mesh->dim + 1, &m->x));
    EG_TRY(eg_new(m->ctx, points * (size_t)m->name_count + 1, &m->values));
    EG_TRY(eg_new(m->ctx, points * (size_t)m->name_count + 1, &m->read));
    for (size_t i = 0; i < integrals; i++)
        EG_TRY(read_integral(m, eg_case_name_at(m->cas, "output.integral", i), integrals));
    for (size_t i = 0; i < probes; i++)
        EG_TRY(read_probe(m, eg_case_name_at(m->cas, "output.probe", i)));
done:
    return status;
}

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

/* Adds a column; the name is copied. */
static eg_status add_column(eg_measures *m, eg_series_column *columns, const char *name,
                            const char *unit)
{
    eg_status status = eg_copy_string(m->ctx, name, &m->columns[m->column_count]);
    if (status != EG_OK) return status;
    columns[m->column_count] = (eg_series_column){
        .name = m->columns[m->column_count], .unit = unit, .whole = m->column_count == COLUMN_STEP};
    m->column_count++;
    return EG_OK;
}

eg_status eg_measures_open(eg_measures *m, const char *path, const char *lines,
                           const int64_t *keep_until)
{
    eg_status status = EG_OK;
    eg_series_column *columns = NULL;
    eg_text label = eg_text_new(m->ctx);
    size_t count = (size_t)COLUMNS_BEFORE + (size_t)m->integral_count;
    for (int i = 0; i < m->probe_count; i++)
        count += m->probes[i].line ? 0 : (size_t)m->probes[i].expression_count;
    EG_TRY(eg_copy_string(m->ctx, lines, &m->lines));
    EG_TRY(eg_new(m->ctx, count, &m->columns));
    EG_TRY(eg_new(m->ctx, count, &m->row));
    EG_TRY(eg_new(m->ctx, count, &columns));
    for (int i = 0; i < COLUMNS_BEFORE; i++)
        EG_TRY(add_column(m, columns, eg_measure_columns[i], NULL));
    for (int i = 0; i < m->integral_count; i++) {
        char key[EG_MEASURE_KEY];
        const char *name = eg_case_name_at(m->cas, "output.integral", (size_t)i);
        snprintf(key, sizeof key, "output.integral.%s.unit", name);
        EG_TRY(add_column(m, columns, name, eg_case_string(m->cas, key)));
    }
    for (int i = 0; i < m->probe_count; i++) {
        const probe *p = &m->probes[i];
        for (int k = 0; k < p->expression_count && !p->line; k++) {
            eg_text_clear(&label);
            EG_TRY(eg_text_printf(&label, "%s.%s", p->name, p->labels[k]));
            EG_TRY(add_column(m, columns, eg_text_string(&label), NULL));
        }
    }
    if (eg_comm_rank(m->comm) == 0)
        EG_TRY(eg_series_open(m->ctx, path, columns, m->column_count, keep_until, &m->series));
done:
    eg_text_free(&label);
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
            if (m->integrals[i].domain == d) expressions[count++] = m->integrals[i].expression;
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

static double pick(int kind, const eg_quantity_result *r)
{
    switch (kind) {
    case KIND_MEAN:
        return r->integral / r->measure;
    case KIND_L1:
        return r->l1;
    case KIND_L2:
        return r->l2;
    case KIND_LINF:
        return isnan(r->least) ? r->least : fmax(fabs(r->least), fabs(r->most));
    case KIND_LEAST:
        return r->least;
    case KIND_MOST:
        return r->most;
    default:
        return r->integral;
    }
}

static eg_status measure(eg_measures *m, const eg_state *state)
{
    eg_status status = EG_OK;
    const eg_field *fields[EG_STATE_FIELDS_MAX];
    (void)shown(state, fields);
    for (int d = 0; d < m->domain_count; d++) {
        const eg_quantity_result *result = m->domains[d].results;
        EG_TRY(eg_quantity_measure(m->domains[d].quantity, state->time, fields,
                                   m->domains[d].results));
        for (int i = 0; i < m->integral_count; i++)
            if (m->integrals[i].domain == d)
                m->row[COLUMNS_BEFORE + i] = pick(m->integrals[i].kind, result++);
    }
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
    double variables[EG_QUANTITY_FIELDS + EG_MEASURE_FIELDS] = {0};
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
    int column = COLUMNS_BEFORE + m->integral_count;
    if (eg_comm_rank(m->comm) != 0) return EG_OK;
    m->row[COLUMN_STEP] = (double)state->step;
    m->row[COLUMN_TIME] = state->time;
    m->row[COLUMN_DT] = state->step > 0 ? state->dt : NAN;
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
    m->name_count = options->name_count;
    if (m->name_count > EG_MEASURE_FIELDS)
        EG_TRY(eg_fail(ctx, EG_ERROR_UNSUPPORTED, "fields of more than %d components are shown",
                       EG_MEASURE_FIELDS));
    EG_TRY(eg_measure_symbols_make(ctx, options->names, m->name_count, &m->symbols));
    EG_TRY(read_all(m));
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
    for (int i = 0; i < m->integral_count; i++)
        eg_expression_destroy(&m->integrals[i].expression);
    for (int i = 0; i < m->domain_count; i++)
        domain_free(ctx, &m->domains[i]);
    for (int i = 0; i < m->probe_count; i++) {
        probe *p = &m->probes[i];
        for (int k = 0; k < p->expression_count; k++) {
            eg_expression_destroy(&p->expressions[k]);
            eg_release(ctx, &p->labels[k]);
        }
        eg_release(ctx, &p->expressions);
        eg_release(ctx, &p->labels);
    }
    for (int i = 0; i < m->column_count; i++)
        eg_release(ctx, &m->columns[i]);
    eg_release(ctx, &m->columns);
    eg_release(ctx, &m->row);
    eg_release(ctx, &m->integrals);
    eg_release(ctx, &m->domains);
    eg_release(ctx, &m->probes);
    eg_release(ctx, &m->x);
    eg_release(ctx, &m->values);
    eg_release(ctx, &m->read);
    eg_measure_symbols_free(&m->symbols);
    eg_release(ctx, &m->lines);
    eg_release(ctx, measures);
    return status;
}
