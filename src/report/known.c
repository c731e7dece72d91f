/* Columns that a model knows how to measure: a list that owns its strings. */
#include "report/known.h"

eg_known eg_known_new(eg_context *ctx)
{
    return (eg_known){.ctx = ctx};
}

static void column_free(eg_context *ctx, eg_known_column *column)
{
    eg_release(ctx, &column->name);
    eg_release(ctx, &column->section);
    eg_release(ctx, &column->of);
    eg_release(ctx, &column->over);
}

void eg_known_free(eg_known *known)
{
    for (int i = 0; i < known->count; i++)
        column_free(known->ctx, &known->list[i]);
    eg_release(known->ctx, &known->list);
    known->count = 0;
}

/* NULL stays NULL. */
static eg_status copy(eg_context *ctx, const char *text, const char **out)
{
    char *own = NULL;
    eg_status status = EG_OK;
    if (text) EG_TRY(eg_copy_string(ctx, text, &own));
    *out = own;
done:
    return status;
}

eg_status eg_known_add(eg_known *known, const eg_known_column *column)
{
    eg_context *ctx = known->ctx;
    const size_t count = (size_t)known->count;
    eg_known_column own = {.kind = column->kind, .factor = column->factor, .same = column->same};
    eg_status status = EG_OK;
    EG_TRY(copy(ctx, column->name, &own.name));
    EG_TRY(copy(ctx, column->section, &own.section));
    EG_TRY(copy(ctx, column->of, &own.of));
    EG_TRY(copy(ctx, column->over, &own.over));
    EG_TRY(eg_reallocate(ctx, (count + 1) * sizeof *known->list, (void **)&known->list));
    known->list[known->count++] = own;
    own = (eg_known_column){0};
done:
    column_free(ctx, &own);
    return status;
}
