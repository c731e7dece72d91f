/* Overrides: `section.key=value` on the command line, where the shell has eaten the quotes.
 *
 * The value is TOML. Where that fails and the key takes strings, it is taken as it stands, so that
 * initial.u=sin(x) and space.basis=gauss work; arrays of such are split at their commas. */
#include "case/content.h"

#include <string.h>

static bool takes_text(eg_key_type type)
{
    return type == EG_KEY_STRING || type == EG_KEY_CHOICE || type == EG_KEY_EXPRESSION;
}

/* True if a scalar can stay what TOML takes it for. */
static bool fits(eg_key_type type, const eg_toml_node *node)
{
    bool number = node->type == EG_TOML_INTEGER || node->type == EG_TOML_REAL;
    return node->type == EG_TOML_STRING || (type == EG_KEY_EXPRESSION && number);
}

/* The value stays as TOML reads it: what is wrong with tables is said when types are checked. */
static bool stays(const eg_key *row, const eg_toml_node *node)
{
    eg_key_type type = eg_key_element(row);
    if (node->type == EG_TOML_TABLE) return true;
    if (node->type != EG_TOML_ARRAY) return fits(type, node);
    if (!eg_key_is_array(row)) return true;
    for (const eg_toml_node *n = node->is.children.first; n; n = n->next)
        if (!fits(type, n)) return false;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static eg_place trim(eg_place place)
{
    const char *text = place.source->text;
    while (place.length > 0 && is_blank(text[place.at]))
        place.at++, place.length--;
    while (place.length > 0 && is_blank(text[place.at + place.length - 1]))
        place.length--;
    return place;
}

static bool is_word(eg_place place)
{
    for (uint32_t i = 0; i < place.length; i++) {
        char c = place.source->text[place.at + i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_')) return false;
    }
    return place.length > 0;
}

/* Makes a node the string that stands at a place, without the quotes around it. */
static eg_status set_bare(eg_toml *doc, eg_toml_node *node, eg_place place)
{
    const char *text = place.source->text;
    char first = place.length > 1 ? text[place.at] : '\0';
    bool quoted = (first == '"' || first == '\'') && text[place.at + place.length - 1] == first;
    node->place = place;
    node->content = place.at + (quoted ? 1u : 0u);
    return eg_toml_set_string(doc, node, text + node->content, place.length - (quoted ? 2u : 0u));
}

/* Splits "[a, f(b, c)]" at the commas that stand in no bracket and no quotes. */
static eg_status set_bare_array(eg_toml *doc, eg_toml_node *node, eg_place place)
{
    eg_status status = EG_OK;
    const char *text = place.source->text;
    uint32_t from = place.at + 1, end = place.at + place.length - 1;
    int depth = 0;
    char quote = '\0';
    node->type = EG_TOML_ARRAY;
    node->form = EG_TOML_CLOSED;
    node->place = place;
    memset(&node->is.children, 0, sizeof node->is.children);
    for (uint32_t i = from; i <= end; i++) {
        char c = text[i];
        if (quote && i < end) {
            if (c == quote) quote = '\0';
        } else if (i == end || (c == ',' && depth == 0)) {
            eg_place part = trim((eg_place){place.source, from, i - from});
            bool last_blank = i == end && part.length == 0; /* "[]" or "[a,]" */
            eg_toml_node *element;
            if (!last_blank) {
                EG_TRY(eg_toml_add_element(doc, node, part, &element));
                EG_TRY(set_bare(doc, element, part));
            }
            from = i + 1;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else {
            depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
        }
    }
done:
    return status;
}

eg_status eg_override_create(const eg_schema *schema, const eg_source *source, eg_toml **out)
{
    eg_status status = EG_OK, value_error = EG_OK;
    eg_toml_node *leaf = NULL;
    eg_path path;
    const eg_place all = {source, 0, (uint32_t)source->length};
    *out = NULL;
    if (!memchr(source->text, '=', source->length))
        return eg_place_fail(schema->ctx, all, "expected section.key=value");
    EG_TRY(eg_toml_create_assignment(schema->ctx, source, out, &leaf, &value_error));
    eg_path_of(leaf, &path);
    const eg_key *row = eg_schema_find(schema, &path);
    if (!row) return EG_OK; /* said when the key is looked up */
    if (!takes_text(eg_key_element(row))) {
        /* A word is taken as a text, so that its type is what is complained of. */
        if (value_error != EG_OK && is_word(trim(leaf->place)))
            EG_TRY(set_bare(*out, leaf, trim(leaf->place)));
        else
            EG_TRY(value_error);
    } else if (value_error != EG_OK || !stays(row, leaf)) {
        eg_place place = trim(leaf->place);
        const char *value = source->text + place.at;
        char first = place.length ? value[0] : '\0';
        char last = place.length > 1 ? value[place.length - 1] : '\0';
        if (eg_key_is_array(row) && first == '[' && last == ']') {
            EG_TRY(set_bare_array(*out, leaf, place));
        } else {
            /* A quote or bracket that is not closed is a slip, not a text. */
            if (first == '"' || first == '\'' || (eg_key_is_array(row) && first == '['))
                EG_TRY(value_error);
            EG_TRY(set_bare(*out, leaf, place));
        }
    }
done:
    if (status != EG_OK) eg_toml_destroy(out);
    return status;
}
