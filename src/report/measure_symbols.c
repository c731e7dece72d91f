/* The names that expressions of [output.integral.NAME], [output.probe.NAME] and [output.quantities]
 * may use. They lie in one list, so that what may be used at a place is a part of it without gaps:
 *
 *     derivatives   x y z t, components   normals
 *     ------------------------------------           in the domain
 *                   ---------------------            at points
 *     ---------------------------------------------  on boundaries */
#include "report/measures.h"

#include <stdio.h>
#include <string.h>

eg_status eg_measure_symbols_make(eg_context *ctx, const char *const *names, int name_count,
                                  eg_measure_symbols *out)
{
    static const char *const variables[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    static const char *const normals[EG_MEASURE_NORMALS] = {"nx", "ny", "nz"};
    static const char axis[] = "xyz";
    eg_status status = EG_OK;
    size_t bytes = 1, at = 0;
    *out = (eg_measure_symbols){.ctx = ctx, .slope_count = 3 * name_count};
    for (int i = 0; i < name_count; i++)
        bytes += 3 * (strlen(names[i]) + 3);
    EG_TRY(
        eg_new(ctx, EG_COUNT(variables) + EG_COUNT(normals) + 4 * (size_t)name_count, &out->list));
    EG_TRY(eg_new(ctx, bytes, &out->text));
    for (int i = 0; i < out->slope_count; i++) {
        char *name = out->text + at;
        at += (size_t)snprintf(name, bytes - at, "%s_%c", names[i / 3], axis[i % 3]) + 1;
        out->list[out->count++] =
            (eg_symbol){.name = name, .variable = eg_quantity_derivative(name_count, i / 3, i % 3)};
    }
    for (int i = 0; i < EG_VARIABLE_COUNT; i++)
        out->list[out->count++] = (eg_symbol){.name = variables[i], .variable = i};
    for (int i = 0; i < name_count; i++)
        out->list[out->count++] = (eg_symbol){.name = names[i], .variable = EG_QUANTITY_FIELDS + i};
    for (int i = 0; i < EG_MEASURE_NORMALS; i++)
        out->list[out->count++] = (eg_symbol){.name = normals[i], .variable = EG_QUANTITY_NX + i};
done:
    if (status != EG_OK) eg_measure_symbols_free(out);
    return status;
}

void eg_measure_symbols_free(eg_measure_symbols *symbols)
{
    eg_release(symbols->ctx, &symbols->list);
    eg_release(symbols->ctx, &symbols->text);
}

/* Whether a name that is found as symbol i of the list [count] could mean something else, too:
 * another symbol, a constant of the case, or pi. */
static bool has_two_meanings(const eg_case *cas, const eg_symbol *list, int count, int i)
{
    const char *constant;
    if (strcmp(list[i].name, "pi") == 0) return true;
    for (int k = i + 1; k < count; k++)
        if (strcmp(list[i].name, list[k].name) == 0) return true;
    for (size_t k = 0; (constant = eg_case_name_at(cas, "constants", k)); k++)
        if (strcmp(list[i].name, constant) == 0) return true;
    return false;
}

eg_status eg_measure_formula(const eg_measure_symbols *symbols, const eg_case *cas, const char *key,
                             int i, eg_measure_place place, eg_expression **out)
{
    const int first = place == EG_MEASURE_AT_POINTS ? symbols->slope_count : 0;
    const int all = symbols->count - first;
    const int count = place == EG_MEASURE_ON_BOUNDARIES ? all : all - EG_MEASURE_NORMALS;
    const eg_symbol *list = symbols->list + first;
    eg_status status = eg_case_formula(cas, key, i, list, (size_t)count, out);
    if (status == EG_ERROR_INPUT && count < all) {
        /* Is it the normals that are missed? */
        status = eg_case_formula(cas, key, i, list, (size_t)all, out);
        if (status == EG_OK)
            status =
                eg_case_fail(cas, key, i,
                             "the normals nx, ny and nz exist on boundaries only: in integrals "
                             "whose `over` names some");
    }
    for (int k = 0; k < count && status == EG_OK; k++)
        if (eg_expression_uses(*out, list[k].variable) && has_two_meanings(cas, list, count, k))
            status =
                eg_case_fail(cas, key, i,
                             "\"%s\" can mean two things here: components of the fields, their "
                             "derivatives, coordinates, normals and constants need names of "
                             "their own",
                             list[k].name);
    if (status != EG_OK) eg_expression_destroy(out);
    return status;
}

eg_status eg_measure_known_formula(const eg_measure_symbols *symbols, const char *formula,
                                   eg_measure_place place, eg_expression **out)
{
    const int first = place == EG_MEASURE_AT_POINTS ? symbols->slope_count : 0;
    const int left_out = place == EG_MEASURE_ON_BOUNDARIES ? 0 : EG_MEASURE_NORMALS;
    return eg_expression_create(symbols->ctx, formula, symbols->list + first,
                                (size_t)(symbols->count - first - left_out), NULL, out);
}
