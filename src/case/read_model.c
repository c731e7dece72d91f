/* Reads the model of a case before its schema is known. */
#include "case/content.h"

#include <string.h>

/* Checks the model that a document gives and copies its name; *out stays NULL if it gives none. */
static eg_status take_model(eg_context *ctx, const eg_toml *doc, const char *const *names,
                            char **out)
{
    const eg_toml_node *node = eg_toml_find(doc, doc->root, "model", 5);
    if (!node) return EG_OK;
    if (node->type != EG_TOML_STRING) return eg_fail_type(ctx, &eg_case_keys[0], node);
    const char *name = node->is.string.text;
    size_t count = 0;
    for (; names[count]; count++)
        if (strcmp(names[count], name) == 0) return eg_copy_string(ctx, name, out);

    char quote[EG_QUOTE_BYTES];
    eg_text list = eg_text_new(ctx);
    eg_status status = EG_OK;
    const char *nearest = eg_nearest(name, names, count);
    for (size_t i = 0; i < count; i++)
        EG_TRY(eg_text_printf(&list, "%s\"%s\"", i > 0 ? ", " : "", names[i]));
    status = eg_place_fail(ctx, node->place, "there is no model \"%s\"%s%s%s There %s %s",
                           eg_quote(quote, name, node->is.string.length),
                           nearest ? "; did you mean \"" : ".", nearest ? nearest : "",
                           nearest ? "\"?" : "", count == 1 ? "is" : "are", eg_text_string(&list));
done:
    eg_text_free(&list);
    return status;
}

eg_status eg_case_read_model(eg_context *ctx, const char *name, const char *text, size_t length,
                             const eg_case_options *options, const char *const *names, char **model)
{
    eg_status status = EG_OK;
    const eg_key *const tables[] = {eg_case_keys};
    eg_schema schema = {.ctx = ctx};
    eg_toml *doc = NULL;
    *model = NULL;
    EG_TRY(eg_schema_open(ctx, tables, 1, &schema));
    /* The last one counts. */
    for (size_t i = options->override_count; i-- > 0;) {
        const char *argument = options->overrides[i];
        eg_source source = {NULL, argument, strlen(argument)};
        EG_TRY(eg_override_create(&schema, &source, &doc));
        if (!*model) EG_TRY(take_model(ctx, doc, names, model));
        eg_toml_destroy(&doc);
    }
    eg_source source = eg_source_new(name, text, length);
    EG_TRY(eg_toml_create(ctx, &source, &doc));
    if (!*model) EG_TRY(take_model(ctx, doc, names, model));
    if (!*model)
        status = eg_fail(ctx, EG_ERROR_INPUT,
                         "%s: error: the key \"model\" is missing at the top of the case, for "
                         "example model = \"%s\"",
                         name, names[0] ? names[0] : "");
done:
    if (status != EG_OK) eg_release(ctx, model);
    eg_toml_destroy(&doc);
    eg_schema_close(&schema);
    return status;
}
