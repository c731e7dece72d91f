/* Writes a TOML tree as JSON on one line, for comparison with other parsers. */
#include "case/case.h"
#include "case/toml.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static eg_status put_string(eg_text *out, const char *text, size_t length)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, "\""));
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            EG_TRY(eg_text_printf(out, "\\%c", c));
        else if (c < 0x20 || c == 0x7f)
            EG_TRY(eg_text_printf(out, "\\u%04x", c));
        else
            EG_TRY(eg_text_add(out, text + i, 1));
    }
    EG_TRY(eg_text_puts(out, "\""));
done:
    return status;
}

static eg_status put_real(eg_text *out, double value)
{
    char number[40];
    if (isnan(value)) return eg_text_puts(out, "\"nan\"");
    if (isinf(value)) return eg_text_puts(out, value > 0 ? "\"inf\"" : "\"-inf\"");
    snprintf(number, sizeof number, "%.17g", value);
    bool whole = true;
    for (char *c = number; *c; c++) {
        if (!strchr("+-0123456789e", *c)) *c = '.'; /* the host program's decimal separator */
        if (*c == '.' || *c == 'e') whole = false;
    }
    return eg_text_printf(out, "%s%s", number, whole ? ".0" : "");
}

static eg_status put_scalar(eg_text *out, const eg_toml_node *node)
{
    switch (node->type) {
    case EG_TOML_BOOLEAN:
        return eg_text_puts(out, node->is.boolean ? "true" : "false");
    case EG_TOML_INTEGER:
        return eg_text_printf(out, "%lld", (long long)node->is.integer);
    case EG_TOML_REAL:
        return put_real(out, node->is.real);
    default:
        return put_string(out, node->is.string.text, node->is.string.length);
    }
}

static bool is_container(const eg_toml_node *node)
{
    return node->type == EG_TOML_TABLE || node->type == EG_TOML_ARRAY;
}

eg_status eg_toml_to_json(eg_context *ctx, const char *name, const char *text, size_t length,
                          eg_text *out)
{
    eg_status status = EG_OK;
    eg_toml *doc = NULL;
    eg_source source = eg_source_new(name, text, length);
    EG_TRY(eg_toml_create(ctx, &source, &doc));
    for (const eg_toml_node *node = doc->root, *next; node; node = next) {
        const eg_toml_node *parent = node->parent;
        if (parent && parent->is.children.first != node) EG_TRY(eg_text_puts(out, ", "));
        if (node->key) {
            EG_TRY(put_string(out, node->key, node->key_length));
            EG_TRY(eg_text_puts(out, ": "));
        }
        next = eg_toml_next(node, true);
        if (!is_container(node))
            EG_TRY(put_scalar(out, node));
        else if (node->is.children.count > 0)
            EG_TRY(eg_text_puts(out, node->type == EG_TOML_TABLE ? "{" : "["));
        else
            EG_TRY(eg_text_puts(out, node->type == EG_TOML_TABLE ? "{}" : "[]"));
        /* What ends here: all containers up to the one that holds the next node. */
        bool entered = is_container(node) && node->is.children.count > 0;
        const eg_toml_node *until = next ? next->parent : NULL;
        for (const eg_toml_node *n = entered ? node : parent; n && n != until; n = n->parent)
            EG_TRY(eg_text_puts(out, n->type == EG_TOML_TABLE ? "}" : "]"));
    }
    EG_TRY(eg_text_puts(out, "\n"));
done:
    eg_toml_destroy(&doc);
    return status;
}
