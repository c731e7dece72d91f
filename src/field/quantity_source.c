/* What the expressions of a quantity use, and the source of the kernel that evaluates them: a
 * function for each expression, called with what its variables are at a point in the words of
 * quantity.k.h, or with 0 for those that it does not use. */
#include "field/quantity_source.h"

#include <stdio.h>

/* --- what is used ----------------------------------------------------------------------------- */

static bool is_used(const eg_quantity_options *options, int variable)
{
    for (int i = 0; i < options->count; i++)
        if (eg_expression_uses(options->expressions[i], variable)) return true;
    return false;
}

static eg_status find(const eg_quantity_options *options, eg_usage *usage)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(usage->ctx, (size_t)options->field_count, &usage->components));
    for (int f = 0; f < options->field_count; f++)
        usage->total += usage->components[f] = options->fields[f]->components;
    EG_TRY(eg_new(usage->ctx, (size_t)usage->total, &usage->used));
    for (int d = 0; d < usage->dim; d++)
        usage->x = usage->x || is_used(options, EG_VARIABLE_X + d);
    for (int f = 0, c = 0; f < options->field_count; f++)
        for (int component = 0; component < usage->components[f]; component++, c++) {
            bool slopes = false;
            for (int d = 0; d < usage->dim; d++)
                slopes = slopes || is_used(options, eg_quantity_derivative(usage->total, c, d));
            usage->slopes = usage->slopes || slopes;
            if (slopes || is_used(options, EG_QUANTITY_FIELDS + c))
                usage->used[usage->used_count++] = (eg_used_component){f, component};
        }
done:
    return status;
}

eg_status eg_usage_find(const eg_quantity_options *options, eg_usage *out)
{
    const eg_space *space = options->fields[0]->space;
    *out = (eg_usage){.ctx = space->ctx,
                      .dim = space->mesh->dim,
                      .on_faces = options->boundaries != NULL,
                      .field_count = options->field_count};
    eg_status status = find(options, out);
    if (status != EG_OK) eg_usage_free(out);
    return status;
}

void eg_usage_free(eg_usage *usage)
{
    eg_release(usage->ctx, &usage->used);
    eg_release(usage->ctx, &usage->components);
    *usage = (eg_usage){0};
}

/* --- variables -------------------------------------------------------------------------------- */

/* Where a component, counted through all fields, stands among those used. */
static int find_used(const eg_usage *usage, int c)
{
    int field = 0, k = 0;
    while (c >= usage->components[field])
        c -= usage->components[field++];
    while (usage->used[k].field != field || usage->used[k].component != c)
        k++;
    return k;
}

/* Writes what a variable is at a point. */
static eg_status write_variable(const eg_usage *usage, int variable, eg_text *source)
{
    static const char zero[] = "K_R(0.0)";
    const int of_field = variable - EG_QUANTITY_FIELDS, of_slope = of_field - usage->total;
    const int of_normal = variable - EG_QUANTITY_NX, of_x = variable - EG_VARIABLE_X;
    if (of_slope >= 0 && of_slope % 3 < usage->dim)
        return eg_text_printf(source, "SLOPE(%d, %d)", find_used(usage, of_slope / 3),
                              of_slope % 3);
    if (of_slope >= 0) return eg_text_puts(source, zero);
    if (of_field >= 0) return eg_text_printf(source, "U(%d)", find_used(usage, of_field));
    if (of_normal >= 0)
        return usage->on_faces && of_normal < usage->dim
                   ? eg_text_printf(source, "NORMAL(%d)", of_normal)
                   : eg_text_puts(source, zero);
    if (variable == EG_VARIABLE_T) return eg_text_puts(source, "time");
    return of_x < usage->dim ? eg_text_printf(source, "X(%d)", of_x) : eg_text_puts(source, zero);
}

/* How many variables there are up to the last that an expression uses. */
static int count_variables(const eg_usage *usage, const eg_expression *expression)
{
    int n = eg_quantity_derivative(usage->total, usage->total, 0);
    while (n > 0 && !eg_expression_uses(expression, n - 1))
        n--;
    return n;
}

/* --- the source ------------------------------------------------------------------------------- */

static eg_status write_functions(const eg_usage *usage, const eg_quantity_options *options,
                                 eg_text *source)
{
    enum { NAME_BYTES = 16 };
    const int variables = eg_quantity_derivative(usage->total, usage->total, 0);
    char *names = NULL;
    const char **arguments = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_new(usage->ctx, (size_t)variables * NAME_BYTES, &names));
    EG_TRY(eg_new(usage->ctx, (size_t)variables, &arguments));
    for (int v = 0; v < variables; v++) {
        arguments[v] = names + (size_t)v * NAME_BYTES;
        snprintf(names + (size_t)v * NAME_BYTES, NAME_BYTES, "v%d", v);
    }
    for (int i = 0; i < options->count; i++) {
        const eg_expression *e = options->expressions[i];
        char name[32];
        snprintf(name, sizeof name, "value_%d", i);
        EG_TRY(eg_expression_emit(e, name, arguments, (size_t)count_variables(usage, e), source));
    }
done:
    eg_release(usage->ctx, &arguments);
    eg_release(usage->ctx, &names);
    return status;
}

eg_status eg_usage_write(const eg_usage *usage, const eg_quantity_options *options, eg_text *source)
{
    eg_status status = EG_OK;
    EG_TRY(write_functions(usage, options, source));
    EG_TRY(eg_text_puts(source, "#define VALUES"));
    for (int i = 0; i < options->count; i++) {
        const eg_expression *e = options->expressions[i];
        const int variables = count_variables(usage, e);
        EG_TRY(eg_text_printf(source, " \\\n    VALUE(%d, value_%d(", i, i));
        for (int v = 0; v < variables; v++) {
            if (v > 0) EG_TRY(eg_text_puts(source, ", "));
            EG_TRY(eg_expression_uses(e, v) ? write_variable(usage, v, source)
                                            : eg_text_puts(source, "K_R(0.0)"));
        }
        EG_TRY(eg_text_puts(source, "))"));
    }
    EG_TRY(eg_text_puts(source, "\n#include \"field/quantity.k.h\"\n"));
done:
    return status;
}
