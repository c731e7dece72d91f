/* Integrals and probes as a case asks for them, and columns that its model knows by name. */
#include "report/measures_parts.h"

#include <stdio.h>
#include <string.h>

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

/* The number of the domain that is like `over`, which is added if there is none and is empty
 * afterwards; `integrals` there are in all. */
static eg_status place_domain(eg_measures *m, domain *over, size_t integrals, int *number)
{
    eg_status status = EG_OK;
    for (*number = 0; *number < m->domain_count; (*number)++) {
        const domain *d = &m->domains[*number];
        if (same_numbers(d->boundaries, d->boundary_count, over->boundaries,
                         over->boundary_count) &&
            same_numbers(d->groups, d->group_count, over->groups, over->group_count))
            return EG_OK;
    }
    EG_TRY(eg_new(m->ctx, integrals, &over->results));
    m->domains[m->domain_count++] = *over;
    *over = (domain){0};
done:
    return status;
}

static eg_measure_place place_of(const eg_measures *m, const integral *in)
{
    return m->domains[in->domain].boundary_count > 0 ? EG_MEASURE_ON_BOUNDARIES
                                                     : EG_MEASURE_IN_DOMAIN;
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
    in->kind = (eg_measure_kind)eg_case_choice(m->cas, key);
    in->factor = 1;
    EG_TRY(place_domain(m, &over, integrals, &in->domain));
    snprintf(key, sizeof key, "output.integral.%s.of", name);
    EG_TRY(eg_measure_formula(&m->symbols, m->cas, key, -1, place_of(m, in), &in->expression));
    m->integral_count++;
done:
    domain_free(m->ctx, &over);
    return status;
}

/* A column that the model knows; `first` is the number of the first of them. */
static eg_status read_known(eg_measures *m, const eg_known_column *column, int first,
                            size_t integrals)
{
    eg_status status = EG_OK;
    integral *in = &m->integrals[m->integral_count];
    domain over = {0};
    *in = (integral){.kind = column->kind, .factor = column->factor};
    if (!column->of) {
        in->same = first + column->same;
        in->domain = m->integrals[in->same].domain;
        m->integral_count++;
        return EG_OK;
    }
    if (column->over) EG_TRY(read_over(m, column->over, &over));
    if (column->over && over.boundary_count == 0)
        EG_TRY(eg_case_fail(m->cas, column->over, 0, "it must name boundaries of the mesh"));
    EG_TRY(place_domain(m, &over, integrals, &in->domain));
    EG_TRY(eg_measure_known_formula(&m->symbols, column->of, place_of(m, in), &in->expression));
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

eg_status eg_measures_read_case(eg_measures *m)
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
    const size_t own = integrals;
    if (m->known) integrals += (size_t)m->known->count;
    EG_TRY(eg_new(m->ctx, integrals + 1, &m->integrals));
    EG_TRY(eg_new(m->ctx, integrals + 1, &m->domains));
    EG_TRY(eg_new(m->ctx, probes + 1, &m->probes));
    EG_TRY(eg_new(m->ctx, points * (size_t)m->mesh->dim + 1, &m->x));
    EG_TRY(eg_new(m->ctx, points * (size_t)m->name_count + 1, &m->values));
    EG_TRY(eg_new(m->ctx, points * (size_t)m->name_count + 1, &m->read));
    for (size_t i = 0; i < own; i++)
        EG_TRY(read_integral(m, eg_case_name_at(m->cas, "output.integral", i), integrals));
    for (int i = 0; m->known && i < m->known->count; i++)
        EG_TRY(read_known(m, &m->known->list[i], (int)own, integrals));
    for (size_t i = 0; i < probes; i++)
        EG_TRY(read_probe(m, eg_case_name_at(m->cas, "output.probe", i)));
done:
    return status;
}

void eg_measures_free_case(eg_measures *m)
{
    for (int i = 0; i < m->integral_count; i++)
        eg_expression_destroy(&m->integrals[i].expression);
    for (int i = 0; i < m->domain_count; i++)
        domain_free(m->ctx, &m->domains[i]);
    for (int i = 0; i < m->probe_count; i++) {
        probe *p = &m->probes[i];
        for (int k = 0; k < p->expression_count; k++) {
            eg_expression_destroy(&p->expressions[k]);
            eg_release(m->ctx, &p->labels[k]);
        }
        eg_release(m->ctx, &p->expressions);
        eg_release(m->ctx, &p->labels);
    }
    eg_release(m->ctx, &m->integrals);
    eg_release(m->ctx, &m->domains);
    eg_release(m->ctx, &m->probes);
    eg_release(m->ctx, &m->x);
    eg_release(m->ctx, &m->values);
    eg_release(m->ctx, &m->read);
}
