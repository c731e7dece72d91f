/* Finds out what is to be drawn, and evaluates it at points. */
#include "report/plot/field.h"

#include <string.h>

/* Adds the names of all arrays: "u, v, p". */
static eg_status list_arrays(const eg_snapshot *s, eg_text *out)
{
    eg_status status = EG_OK;
    for (int a = 0; a < s->array_count; a++)
        EG_TRY(eg_text_printf(out, "%s%s", a ? ", " : "", s->arrays[a].name));
done:
    return status;
}

/* A text that is neither a name nor an expression. One without a sign of being an expression was
 * meant as a name. */
static eg_status unknown_field(const eg_snapshot *s, const char *text,
                               const eg_expression_error *error)
{
    eg_status status = EG_OK;
    eg_text names = eg_text_new(s->ctx);
    const char **candidates = NULL;
    const char *nearest = NULL;
    EG_TRY(list_arrays(s, &names));
    EG_TRY(eg_new(s->ctx, (size_t)s->array_count, &candidates));
    for (int a = 0; a < s->array_count; a++)
        candidates[a] = s->arrays[a].name;
    nearest = eg_nearest(text, candidates, (size_t)s->array_count);
    if (!strpbrk(text, "+-*/^()<>=?&|!"))
        status =
            eg_fail(s->ctx, EG_ERROR_INPUT, "there is no field \"%s\"%s%s%s; the fields are %s",
                    text, nearest ? " (did you mean \"" : "", nearest ? nearest : "",
                    nearest ? "\"?)" : "", eg_text_string(&names));
    else
        status = eg_fail(s->ctx, EG_ERROR_INPUT,
                         "\"%s\" is not an expression of the fields: %s; the fields are %s", text,
                         error->message, eg_text_string(&names));
done:
    eg_release(s->ctx, &candidates);
    eg_text_free(&names);
    return status;
}

static eg_status parse(eg_plot_field *f, const char *text)
{
    static const char *const variables[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    const eg_snapshot *s = f->snapshot;
    const int count = EG_VARIABLE_COUNT + s->array_count;
    eg_status status = EG_OK;
    eg_symbol *symbols = NULL;
    eg_expression_error error = {0};
    EG_TRY(eg_new(s->ctx, (size_t)count, &symbols));
    for (int i = 0; i < count; i++)
        symbols[i] = (eg_symbol){
            .name = i < EG_VARIABLE_COUNT ? variables[i] : s->arrays[i - EG_VARIABLE_COUNT].name,
            .variable = i};
    status = eg_expression_create(s->ctx, text, symbols, (size_t)count, &error, &f->expression);
    if (status == EG_ERROR_INPUT) status = unknown_field(s, text, &error);
done:
    eg_release(s->ctx, &symbols);
    return status;
}

eg_status eg_plot_field_open(const eg_snapshot *snapshot, const char *text, eg_plot_field *field)
{
    eg_status status = EG_OK;
    eg_context *ctx = snapshot->ctx;
    eg_text label = eg_text_new(ctx);
    const int array = text ? eg_snapshot_find(snapshot, text) : 0;
    *field = (eg_plot_field){.snapshot = snapshot};
    if (snapshot->array_count == 0)
        return eg_fail(ctx, EG_ERROR_INPUT, "there is no field to draw in it");
    EG_TRY(eg_new(ctx, (size_t)snapshot->array_count, &field->arrays));
    if (array >= 0) {
        const eg_snapshot_array *a = &snapshot->arrays[array];
        field->arrays[field->array_count++] = array;
        EG_TRY(eg_text_puts(&label, a->name));
        if (a->unit) EG_TRY(eg_text_printf(&label, " [%s]", a->unit));
    } else {
        EG_TRY(parse(field, text));
        for (int a = 0; a < snapshot->array_count; a++)
            if (eg_expression_uses(field->expression, EG_VARIABLE_COUNT + a))
                field->arrays[field->array_count++] = a;
        EG_TRY(eg_text_puts(&label, text));
    }
    EG_TRY(eg_copy_string(ctx, eg_text_string(&label), &field->label));
done:
    eg_text_free(&label);
    return status;
}

void eg_plot_field_close(eg_plot_field *field)
{
    if (!field->snapshot) return;
    eg_release(field->snapshot->ctx, &field->arrays);
    eg_release(field->snapshot->ctx, &field->label);
    eg_expression_destroy(&field->expression);
}

int eg_plot_field_work(const eg_plot_field *field)
{
    return EG_VARIABLE_COUNT + field->snapshot->array_count;
}

double eg_plot_field_evaluate(const eg_plot_field *field, int32_t element,
                              const eg_factors *factors, const double *x, double *work)
{
    const eg_snapshot *s = field->snapshot;
    double value = 0;
    for (int i = 0; i < field->array_count; i++) {
        const int array = field->arrays[i];
        value = eg_factors_sum(factors, &s->arrays[array].values[s->first_node[element]]);
        work[EG_VARIABLE_COUNT + array] = value;
    }
    if (!field->expression) return value;
    memcpy(work, x, 3 * sizeof *work);
    work[EG_VARIABLE_T] = s->time;
    return eg_expression_evaluate(field->expression, work);
}
