/* Values: checks what a case gives against types, ranges and choices, and compiles its
 * expressions. */
#include "case/content.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONSTANTS_MOST 1000

static const char *type_name(const eg_toml_node *node)
{
    switch (node->type) {
    case EG_TOML_BOOLEAN:
        return "a boolean";
    case EG_TOML_INTEGER:
        return "an integer";
    case EG_TOML_REAL:
        return "a real number";
    case EG_TOML_STRING:
        return "a string";
    case EG_TOML_ARRAY:
        return node->form == EG_TOML_REPEATED ? "an array of tables" : "an array";
    default:
        return "a table";
    }
}

/* True for a string of what would be a number or a boolean without its quotes. */
static bool is_bare_value(const eg_toml_node *node)
{
    const char *text = node->is.string.text;
    return strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
           strspn(text, "+-.0123456789") > 0;
}

/* A value may stand alone for an array of one, but what is wrong in it is named as it stands. */
eg_status eg_fail_type(eg_context *ctx, const eg_key *row, const eg_toml_node *node)
{
    eg_status status = EG_OK;
    eg_text expected = eg_text_new(ctx);
    const char *hint = "";
    bool element = !node->key, scalar = node->type < EG_TOML_ARRAY;
    eg_key one = *row;
    char quote[EG_QUOTE_BYTES];
    if (element) one.type = eg_key_element(row);
    EG_TRY(eg_key_put_type(&one, true, &expected));
    const char *key = element ? node->parent->key : node->key;
    eg_quote(quote, key, strlen(key));
    eg_key_type type = eg_key_element(row);
    if (type == EG_KEY_INTEGER && node->type == EG_TOML_REAL)
        hint = "; write it without a decimal point or exponent";
    else if ((type == EG_KEY_STRING || type == EG_KEY_CHOICE) && scalar)
        hint = "; write it in quotes";
    else if (type < EG_KEY_STRING && node->type == EG_TOML_STRING && is_bare_value(node))
        hint = "; write it without quotes";
    status = eg_place_fail(ctx, node->type == EG_TOML_TABLE ? node->key_place : node->place,
                           "%s%s: expected %s, got %s%s", element ? "a value of " : "", quote,
                           eg_text_string(&expected), type_name(node), hint);
done:
    eg_text_free(&expected);
    return status;
}

/* "cells" or "value 2 of cells". */
static const char *describe(const eg_entry *entry, size_t i, char out[EG_QUOTE_BYTES + 40])
{
    char quote[EG_QUOTE_BYTES];
    bool element = entry->node->type == EG_TOML_ARRAY;
    const char *name = entry->given ? entry->node->key : entry->row->name;
    eg_quote(quote, name, strlen(name));
    if (element)
        snprintf(out, EG_QUOTE_BYTES + 40, "value %zu of %s", i + 1, quote);
    else
        snprintf(out, EG_QUOTE_BYTES + 40, "%s", quote);
    return out;
}

/* Fails unless the number lies in the range of its row; NaN lies in none. */
static eg_status check_range(const eg_case *cas, const eg_entry *entry, size_t i, double number,
                             const eg_toml_node *node)
{
    const eg_key *row = entry->row;
    bool ranged = row->least != 0 || row->most != 0;
    if (!isnan(number) && (!ranged || (number >= row->least && number <= row->most))) return EG_OK;
    eg_status status = EG_OK;
    eg_text range = eg_text_new(cas->ctx);
    char name[EG_QUOTE_BYTES + 40], value[EG_QUOTE_BYTES];
    eg_quote(value, node->place.source->text + node->place.at, node->place.length);
    EG_TRY(ranged ? eg_key_put_range(row, &range) : eg_text_puts(&range, "a number"));
    status = eg_place_fail(cas->ctx, node->place, "%s is %s, must be %s%s%s",
                           describe(entry, i, name), value, eg_text_string(&range),
                           row->unit ? " " : "", row->unit ? row->unit : "");
done:
    eg_text_free(&range);
    return status;
}

static eg_status convert_choice(const eg_case *cas, const eg_entry *entry, size_t i,
                                const eg_toml_node *node, eg_value *out)
{
    eg_status status = EG_OK;
    const char *const *choices = entry->row->choices;
    size_t count = 0;
    assert(choices);
    for (; choices[count]; count++)
        if (strcmp(choices[count], node->is.string.text) == 0) {
            out->integer = (int64_t)count;
            return EG_OK;
        }
    eg_text list = eg_text_new(cas->ctx);
    char name[EG_QUOTE_BYTES + 40], quote[EG_QUOTE_BYTES];
    const char *nearest = eg_nearest(node->is.string.text, choices, count);
    EG_TRY(eg_key_put_choices(entry->row, &list));
    status = eg_place_fail(
        cas->ctx, node->place, "%s is \"%s\", must be one of %s%s%s%s", describe(entry, i, name),
        eg_quote(quote, node->is.string.text, node->is.string.length), eg_text_string(&list),
        nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
done:
    eg_text_free(&list);
    return status;
}

/* The text of a number as an expression: as it stands, but for underscores and other bases. */
static eg_status number_text(eg_case *cas, const eg_toml_node *node, const char **out)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(cas->ctx);
    char *copy = NULL;
    const char *number = node->place.source->text + node->place.at;
    if (node->type == EG_TOML_REAL && !isfinite(node->is.real))
        return eg_place_fail(cas->ctx, node->place, "a number in an expression must be finite");
    bool based = node->place.length > 1 && strchr("xob", number[1]);
    if (based) EG_TRY(eg_text_printf(&text, "%lld", (long long)node->is.integer));
    for (size_t i = 0; i < node->place.length && !based; i++)
        if (number[i] != '_') EG_TRY(eg_text_add(&text, &number[i], 1));
    EG_TRY(eg_arena_copy_string(&cas->arena, eg_text_string(&text), &copy));
    *out = copy;
done:
    eg_text_free(&text);
    return status;
}

static eg_status convert_string(const eg_case *cas, const eg_toml_node *node, eg_value *out)
{
    out->string = node->is.string.text;
    if (memchr(out->string, '\0', node->is.string.length))
        return eg_place_fail(cas->ctx, node->place, "a string cannot hold the character U+0000");
    return EG_OK;
}

static eg_status convert_value(eg_case *cas, const eg_entry *entry, size_t i,
                               const eg_toml_node *node, eg_value *out)
{
    eg_status status = EG_OK;
    eg_key_type type = eg_key_element(entry->row);
    bool integer = node->type == EG_TOML_INTEGER, real = node->type == EG_TOML_REAL;
    bool string = node->type == EG_TOML_STRING;
    bool fits = type == EG_KEY_BOOLEAN      ? node->type == EG_TOML_BOOLEAN
                : type == EG_KEY_INTEGER    ? integer
                : type == EG_KEY_REAL       ? integer || real
                : type == EG_KEY_EXPRESSION ? integer || real || string
                                            : string;
    if (!fits) return eg_fail_type(cas->ctx, entry->row, node);
    out->node = node;
    if (string) EG_TRY(convert_string(cas, node, out));
    switch (type) {
    case EG_KEY_BOOLEAN:
        out->boolean = node->is.boolean;
        break;
    case EG_KEY_INTEGER:
        out->integer = node->is.integer;
        EG_TRY(check_range(cas, entry, i, (double)out->integer, node));
        break;
    case EG_KEY_REAL:
        out->real = integer ? (double)node->is.integer : node->is.real;
        EG_TRY(check_range(cas, entry, i, out->real, node));
        break;
    case EG_KEY_CHOICE:
        EG_TRY(convert_choice(cas, entry, i, node, out));
        break;
    case EG_KEY_EXPRESSION:
        if (!string) EG_TRY(number_text(cas, node, &out->string));
        break;
    default:
        break;
    }
done:
    return status;
}

static eg_status check_count(const eg_case *cas, const eg_entry *entry)
{
    eg_status status = EG_OK;
    const eg_key *row = entry->row;
    size_t least = (size_t)row->least_count, most = (size_t)row->most_count;
    if (entry->count >= least && (most == 0 || entry->count <= most)) return EG_OK;
    eg_text text = eg_text_new(cas->ctx);
    char quote[EG_QUOTE_BYTES];
    const char *name = entry->given ? entry->node->key : row->name;
    EG_TRY(eg_key_put_count(row, &text));
    status = eg_place_fail(cas->ctx, entry->node->place, "%s has %zu value%s, must have %s",
                           eg_quote(quote, name, strlen(name)), entry->count,
                           entry->count == 1 ? "" : "s", eg_text_string(&text));
done:
    eg_text_free(&text);
    return status;
}

eg_status eg_entry_convert(eg_case *cas, size_t index)
{
    eg_status status = EG_OK;
    eg_entry *entry = &cas->entries[index];
    const eg_toml_node *node = entry->node;
    void *values = NULL;
    bool array = node->type == EG_TOML_ARRAY;
    if (array && (!eg_key_is_array(entry->row) || node->form == EG_TOML_REPEATED))
        return eg_fail_type(cas->ctx, entry->row, node);
    size_t count = array ? node->is.children.count : 1;
    EG_TRY(eg_arena_allocate(&cas->arena, count * sizeof(eg_value), &values));
    entry->values = values;
    entry->count = count;
    if (eg_key_is_array(entry->row)) EG_TRY(check_count(cas, entry));
    if (array) node = node->is.children.first;
    for (size_t i = 0; i < count; i++, node = node->next)
        EG_TRY(convert_value(cas, entry, i, node, &entry->values[i]));
done:
    return status;
}

/* --- expressions ------------------------------------------------------------------------------ */

/* A piece of a string where it stands in the source. Behind an escape that cannot be said: then it
 * is the whole string. */
static eg_place place_inside(const eg_toml_node *node, size_t offset, size_t length)
{
    const eg_source *s = node->place.source;
    size_t end = offset + length;
    bool verbatim = node->type == EG_TOML_STRING && end <= node->is.string.length &&
                    end <= s->length - node->content &&
                    memcmp(s->text + node->content, node->is.string.text, end) == 0;
    if (!verbatim) return node->place;
    return (eg_place){s, (uint32_t)(node->content + offset), (uint32_t)length};
}

/* The constant of a name at or behind `from`; NULL if there is none. */
static const eg_entry *constant_named(const eg_case *cas, size_t from, const char *name,
                                      size_t length)
{
    for (size_t i = from; i < cas->entry_names.count; i++) {
        const eg_entry *entry = &cas->entries[i];
        const char *own = cas->entry_names.at[i] + strlen("constants.");
        if (strcmp(entry->row->section, "constants") == 0 && strlen(own) == length &&
            memcmp(own, name, length) == 0)
            return entry;
    }
    return NULL;
}

/* Compiles one value of an entry with the symbols known so far. */
static eg_status compile(eg_case *cas, size_t index, eg_value *value, const eg_symbol *symbols,
                         size_t symbol_count)
{
    eg_expression_error error = {0};
    eg_status status = eg_expression_create(cas->ctx, value->string, symbols, symbol_count, &error,
                                            &value->expression);
    if (status != EG_ERROR_INPUT) return status;
    eg_place place = place_inside(value->node, error.offset, error.length);
    const char *name = value->string + error.offset;
    bool constant =
        error.unknown_name && strcmp(cas->entries[index].row->section, "constants") == 0;
    if (constant && error.length == 1 && strchr("xyzt", *name))
        return eg_place_fail(cas->ctx, place, "a constant cannot depend on x, y, z or t");
    if (constant && constant_named(cas, index, name, error.length))
        return eg_place_fail(cas->ctx, place,
                             "the constant \"%.*s\" is not known yet; a constant can use those "
                             "above it",
                             (int)error.length, name);
    return eg_place_fail(cas->ctx, place, "%s", error.message);
}

static bool is_identifier(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char more[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    return *name && strchr(letters, *name) && name[strspn(name, more)] == '\0';
}

/* What a name stands for in every expression; NULL if nothing. */
static const char *meaning_of(const char *name)
{
    static const char *const functions[] = {
        "sin", "cos",   "tan",  "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "exp",
        "log", "log10", "sqrt", "abs",  "min",  "max",  "floor", "mod",  "pow",  "step", "if",
    };
    for (size_t i = 0; i < EG_COUNT(functions); i++)
        if (strcmp(name, functions[i]) == 0) return "a function";
    if (strcmp(name, "pi") == 0) return "the number pi";
    return strlen(name) == 1 && strchr("xyzt", *name) ? "a coordinate or the time" : NULL;
}

static eg_status check_constant_name(const eg_case *cas, const eg_entry *entry, const char *name)
{
    char quote[EG_QUOTE_BYTES];
    const char *meaning = meaning_of(name);
    eg_place place = entry->node->key_place;
    if (!is_identifier(name))
        return eg_place_fail(cas->ctx, place,
                             "\"%s\" cannot name a constant: names are of letters, digits and "
                             "\"_\", and do not begin with a digit",
                             eg_quote(quote, name, strlen(name)));
    if (meaning)
        return eg_place_fail(cas->ctx, place,
                             "\"%s\" cannot name a constant: in expressions it is %s", name,
                             meaning);
    return EG_OK;
}

/* Compiles and evaluates the constants in the order they are given; each becomes a symbol. */
static eg_status compile_constants(eg_case *cas, eg_symbol *symbols, size_t *count)
{
    eg_status status = EG_OK;
    const double nothing[EG_VARIABLE_COUNT] = {0};
    size_t first = *count;
    for (size_t i = 0; i < cas->entry_names.count; i++) {
        eg_entry *entry = &cas->entries[i];
        if (strcmp(entry->row->section, "constants") != 0) continue;
        const char *name = cas->entry_names.at[i] + strlen("constants.");
        EG_TRY(check_constant_name(cas, entry, name));
        if (*count - first == CONSTANTS_MOST)
            return eg_place_fail(cas->ctx, entry->node->key_place,
                                 "there are more than %d constants", CONSTANTS_MOST);
        /* The variables are no symbols yet: a constant cannot depend on them. */
        EG_TRY(compile(cas, i, &entry->values[0], symbols + first, *count - first));
        double value = eg_expression_evaluate(entry->values[0].expression, nothing);
        if (!isfinite(value))
            return eg_place_fail(cas->ctx, entry->node->place,
                                 "the value of \"%s\" is %g; a constant must be finite", name,
                                 value);
        symbols[(*count)++] = (eg_symbol){.name = name, .variable = -1, .value = value};
    }
done:
    return status;
}

/* Compiles `text` as an expression of `symbols` and the case's constants. */
static eg_status compile_text(const eg_case *cas, const char *text, const eg_symbol *symbols,
                              size_t symbol_count, eg_expression_error *error, eg_expression **out)
{
    const double nothing[EG_VARIABLE_COUNT] = {0};
    eg_symbol *all = NULL;
    size_t count = symbol_count;
    eg_status status = EG_OK;
    EG_TRY(eg_new(cas->ctx, symbol_count + CONSTANTS_MOST, &all));
    if (symbol_count) memcpy(all, symbols, symbol_count * sizeof *all);
    for (size_t i = 0; i < cas->entry_names.count; i++) {
        const eg_entry *entry = &cas->entries[i];
        if (strcmp(entry->row->section, "constants") != 0) continue;
        all[count++] =
            (eg_symbol){.name = cas->entry_names.at[i] + strlen("constants."),
                        .variable = -1,
                        .value = eg_expression_evaluate(entry->values[0].expression, nothing)};
    }
    EG_TRY(eg_expression_create(cas->ctx, text, all, count, error, out));
done:
    eg_release(cas->ctx, &all);
    return status;
}

/* In the order of their numbers. */
static const char *const variables[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};

eg_status eg_case_compose(const eg_case *cas, const char *text, eg_expression **out)
{
    eg_symbol symbols[EG_VARIABLE_COUNT];
    for (int i = 0; i < EG_VARIABLE_COUNT; i++)
        symbols[i] = (eg_symbol){.name = variables[i], .variable = i};
    return compile_text(cas, text, symbols, EG_COUNT(symbols), NULL, out);
}

eg_status eg_value_formula(const eg_case *cas, const eg_value *value, const eg_symbol *symbols,
                           size_t symbol_count, eg_expression **out)
{
    eg_expression_error error = {0};
    eg_status status = compile_text(cas, value->string, symbols, symbol_count, &error, out);
    if (status == EG_ERROR_INPUT)
        status = eg_place_fail(cas->ctx, place_inside(value->node, error.offset, error.length),
                               "%s", error.message);
    return status;
}

eg_status eg_case_compile(eg_case *cas)
{
    eg_status status = EG_OK;
    eg_symbol *symbols = NULL;
    size_t count = 0;
    EG_TRY(eg_new(cas->ctx, EG_VARIABLE_COUNT + CONSTANTS_MOST, &symbols));
    for (; count < EG_VARIABLE_COUNT; count++)
        symbols[count] = (eg_symbol){.name = variables[count], .variable = (int)count};
    EG_TRY(compile_constants(cas, symbols, &count));
    for (size_t i = 0; i < cas->entry_names.count; i++) {
        eg_entry *entry = &cas->entries[i];
        bool compiled = strcmp(entry->row->section, "constants") == 0;
        if (eg_key_element(entry->row) != EG_KEY_EXPRESSION || compiled) continue;
        for (size_t k = 0; k < entry->count; k++)
            EG_TRY(compile(cas, i, &entry->values[k], symbols, count));
    }
done:
    eg_release(cas->ctx, &symbols);
    return status;
}
