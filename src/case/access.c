/* The values of an opened case, and failures at their places. */
#include "case/content.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The entry of a key, NULL if it has no value. The schema must have the key. */
static const eg_entry *find(const eg_case *cas, const char *key)
{
    size_t index = eg_names_find(&cas->entry_names, key);
    assert(index != EG_NAMES_NONE || eg_schema_has(&cas->schema, key));
    return index == EG_NAMES_NONE ? NULL : &cas->entries[index];
}

bool eg_case_given(const eg_case *cas, const char *key)
{
    const eg_entry *entry = find(cas, key);
    return entry && entry->given;
}

bool eg_case_replaced(const eg_case *cas, const char *key)
{
    const eg_entry *entry = find(cas, key);
    return entry && entry->given && entry->node->place.source != cas->file;
}

bool eg_case_has(const eg_case *cas, const char *key)
{
    return find(cas, key) != NULL;
}

size_t eg_case_count(const eg_case *cas, const char *key)
{
    const eg_entry *entry = find(cas, key);
    return entry ? entry->count : 0;
}

/* Value i of a key; `type` is that of one value. */
static const eg_value *value_at(const eg_case *cas, const char *key, eg_key_type type, bool array,
                                size_t i)
{
    static const eg_value nothing;
    const eg_entry *entry = find(cas, key);
    assert(!entry || (eg_key_element(entry->row) == type && eg_key_is_array(entry->row) == array));
    assert(!entry || i < entry->count);
    (void)type;
    (void)array;
    return entry ? &entry->values[i] : &nothing;
}

/* The same of a key that must have a value. */
static const eg_value *number_at(const eg_case *cas, const char *key, eg_key_type type, bool array,
                                 size_t i)
{
    assert(eg_case_has(cas, key));
    return value_at(cas, key, type, array, i);
}

bool eg_case_boolean(const eg_case *cas, const char *key)
{
    return number_at(cas, key, EG_KEY_BOOLEAN, false, 0)->boolean;
}

int64_t eg_case_integer(const eg_case *cas, const char *key)
{
    return number_at(cas, key, EG_KEY_INTEGER, false, 0)->integer;
}

double eg_case_real(const eg_case *cas, const char *key)
{
    return number_at(cas, key, EG_KEY_REAL, false, 0)->real;
}

eg_case_source eg_case_get_source(const eg_case *cas)
{
    return (eg_case_source){.path = cas->file->name,
                            .text = cas->file->text,
                            .length = cas->file->length,
                            .overrides = cas->overrides,
                            .override_count = cas->override_count};
}

eg_status eg_case_formula(const eg_case *cas, const char *key, int i, const eg_symbol *symbols,
                          size_t symbol_count, eg_expression **out)
{
    const eg_value *value = value_at(cas, key, EG_KEY_STRING, i >= 0, i < 0 ? 0 : (size_t)i);
    assert(value->node);
    return eg_value_formula(cas, value, symbols, symbol_count, out);
}

eg_status eg_case_path(const eg_case *cas, const char *key, char **out)
{
    const eg_value *value = value_at(cas, key, EG_KEY_STRING, false, 0);
    const char *name = cas->file->name, *end = name ? strrchr(name, '/') : NULL;
    const bool in_file = value->node->place.source == cas->file;
    eg_text path = eg_text_new(cas->ctx);
    eg_status status = EG_OK;
    if (in_file && end && value->string[0] != '/')
        EG_TRY(eg_text_add(&path, name, (size_t)(end - name) + 1));
    EG_TRY(eg_text_puts(&path, value->string));
    EG_TRY(eg_copy_string(cas->ctx, eg_text_string(&path), out));
done:
    eg_text_free(&path);
    return status;
}

int eg_case_choice(const eg_case *cas, const char *key)
{
    return (int)number_at(cas, key, EG_KEY_CHOICE, false, 0)->integer;
}

const char *eg_case_string(const eg_case *cas, const char *key)
{
    const eg_entry *entry = find(cas, key);
    assert(!entry || (!eg_key_is_array(entry->row) && entry->row->type >= EG_KEY_STRING));
    return entry ? entry->values[0].string : NULL;
}

const eg_expression *eg_case_expression(const eg_case *cas, const char *key)
{
    return value_at(cas, key, EG_KEY_EXPRESSION, false, 0)->expression;
}

bool eg_case_boolean_at(const eg_case *cas, const char *key, size_t i)
{
    return number_at(cas, key, EG_KEY_BOOLEAN, true, i)->boolean;
}

int64_t eg_case_integer_at(const eg_case *cas, const char *key, size_t i)
{
    return number_at(cas, key, EG_KEY_INTEGER, true, i)->integer;
}

double eg_case_real_at(const eg_case *cas, const char *key, size_t i)
{
    return number_at(cas, key, EG_KEY_REAL, true, i)->real;
}

int eg_case_choice_at(const eg_case *cas, const char *key, size_t i)
{
    return (int)number_at(cas, key, EG_KEY_CHOICE, true, i)->integer;
}

const char *eg_case_string_at(const eg_case *cas, const char *key, size_t i)
{
    const eg_entry *entry = find(cas, key);
    assert(entry && eg_key_is_array(entry->row) && i < entry->count);
    return entry ? entry->values[i].string : NULL;
}

const eg_expression *eg_case_expression_at(const eg_case *cas, const char *key, size_t i)
{
    return number_at(cas, key, EG_KEY_EXPRESSION, true, i)->expression;
}

/* --- names for stars -------------------------------------------------------------------------- */

/* The last part of a name whose first `length` bytes are `above`; NULL if they are not. */
static const char *part_below(const char *name, size_t length, const char *above)
{
    if (strlen(above) != length || memcmp(name, above, length) != 0) return NULL;
    return name + length + (length > 0);
}

/* The i-th name that stands for a star below a section, and the node that gives it. */
static const char *star_at(const eg_case *cas, const char *section, size_t i,
                           const eg_toml_node **node)
{
    for (size_t k = 0; k < cas->entry_names.count; k++) {
        const eg_entry *entry = &cas->entries[k];
        const char *name = part_below(cas->entry_names.at[k], entry->section_length, section);
        if (!name || strcmp(entry->row->name, "*") != 0 || i-- > 0) continue;
        *node = entry->node;
        return name;
    }
    for (size_t k = 0; k < cas->section_names.count; k++) {
        const eg_section *s = &cas->sections[k];
        const char *name = part_below(cas->section_names.at[k], s->parent_length, section);
        if (!name || !s->star || i-- > 0) continue;
        *node = s->node;
        return name;
    }
    return NULL;
}

const char *eg_case_name_at(const eg_case *cas, const char *section, size_t i)
{
    const eg_toml_node *node;
    return star_at(cas, section, i, &node);
}

/* --- failures --------------------------------------------------------------------------------- */

/* Where a key's value or a section's header stands; nowhere if it is not given. */
static eg_place place_of(const eg_case *cas, const char *key, int i)
{
    size_t index = eg_names_find(&cas->entry_names, key);
    if (index != EG_NAMES_NONE) {
        const eg_entry *entry = &cas->entries[index];
        if (!entry->given) return (eg_place){0};
        bool inside = i >= 0 && (size_t)i < entry->count;
        return inside ? entry->values[i].node->place : entry->node->place;
    }
    index = eg_names_find(&cas->section_names, key);
    if (index == EG_NAMES_NONE) return (eg_place){0};
    return eg_section_place(cas->sections[index].node);
}

eg_status eg_case_fail(const eg_case *cas, const char *key, int i, const char *format, ...)
{
    eg_status status;
    eg_place place = place_of(cas, key, i);
    va_list arguments;
    va_start(arguments, format);
    if (place.source) {
        status = eg_place_vfail(cas->ctx, place, format, arguments);
    } else {
        char detail[2048];
        vsnprintf(detail, sizeof detail, format, arguments);
        status =
            eg_fail(cas->ctx, EG_ERROR_INPUT, "%s: error: %s: %s", cas->file->name, key, detail);
    }
    va_end(arguments);
    return status;
}

eg_status eg_case_check_names(const eg_case *cas, const char *section, const char *what,
                              const char *const *allowed, size_t allowed_count)
{
    eg_status status = EG_OK;
    const eg_toml_node *node;
    const char *name;
    eg_text list = eg_text_new(cas->ctx);
    for (size_t i = 0; (name = star_at(cas, section, i, &node)); i++) {
        bool known = false;
        for (size_t k = 0; k < allowed_count && !known; k++)
            known = strcmp(allowed[k], name) == 0;
        if (known) continue;
        char quote[EG_QUOTE_BYTES];
        const char *nearest = eg_nearest(name, allowed, allowed_count);
        for (size_t k = 0; k < allowed_count && list.length < 1500; k++)
            EG_TRY(eg_text_printf(&list, "%s\"%s\"", k > 0 ? ", " : "", allowed[k]));
        status =
            eg_place_fail(cas->ctx, node->key_place, "there is no %s \"%s\"%s%s%s %s%s", what,
                          eg_quote(quote, name, strlen(name)), nearest ? "; did you mean \"" : ".",
                          nearest ? nearest : "", nearest ? "\"?" : "",
                          allowed_count ? "There are: " : "There are none", eg_text_string(&list));
        goto done;
    }
done:
    eg_text_free(&list);
    return status;
}
