/* Documentation from the schema: what `eagre help KEY` prints, a commented template of a case, and
 * the reference page. */
#include "base/arena.h"
#include "case/schema.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 96 /* columns of wrapped text */

static bool is_star(const char *name)
{
    return strcmp(name, "*") == 0;
}

/* A section or name with NAME for its star. */
static eg_status put_pattern(const char *pattern, eg_text *out)
{
    eg_status status = EG_OK;
    for (; *pattern; pattern++)
        EG_TRY(*pattern == '*' ? eg_text_puts(out, "NAME") : eg_text_add(out, pattern, 1));
done:
    return status;
}

/* "section.name". */
static eg_status put_key(const eg_key *row, eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(put_pattern(row->section, out));
    if (*row->section) EG_TRY(eg_text_puts(out, "."));
    EG_TRY(put_pattern(row->name, out));
done:
    return status;
}

/* A value as an example; NULL if the row has none. */
static const char *example_of(const eg_key *row)
{
    return row->example ? row->example : row->fallback;
}

/* True if the example of a star is a whole line, `u = "x"`. */
static bool is_line(const char *example)
{
    size_t name =
        strspn(example, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789-");
    return name > 0 && strncmp(example + name, " = ", 3) == 0;
}

/* `name = value`. */
static eg_status put_line(const eg_key *row, const char *value, eg_text *out)
{
    if (!value) value = "...";
    if (is_star(row->name) && is_line(value)) return eg_text_puts(out, value);
    return eg_text_printf(out, "%s = %s", is_star(row->name) ? "NAME" : row->name, value);
}

/* Words on lines of at most WIDTH columns, each begun with `indent`. */
static eg_status put_wrapped(const char *indent, const char *words, eg_text *out)
{
    eg_status status = EG_OK;
    size_t column = 0;
    for (words += strspn(words, " "); *words;) {
        size_t length = strcspn(words, " ");
        if (column > 0 && column + 1 + length > WIDTH) {
            EG_TRY(eg_text_puts(out, "\n"));
            column = 0;
        }
        EG_TRY(eg_text_puts(out, column == 0 ? indent : " "));
        column += column == 0 ? strlen(indent) : 1;
        EG_TRY(eg_text_add(out, words, length));
        column += length;
        words += length;
        words += strspn(words, " ");
    }
    if (column > 0) EG_TRY(eg_text_puts(out, "\n"));
done:
    return status;
}

/* "array of 2 integers, from 1 to 9, in m; one of …": all that limits a value. */
static eg_status put_limits(const eg_key *row, eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_key_put_type(row, false, out));
    if (row->least != 0 || row->most != 0) {
        EG_TRY(eg_text_puts(out, eg_key_is_array(row) ? ", each " : ", "));
        EG_TRY(eg_key_put_range(row, out));
    }
    if (row->unit) EG_TRY(eg_text_printf(out, ", in %s", row->unit));
    if (row->choices) {
        EG_TRY(eg_text_puts(out, eg_key_is_array(row) ? ", each one of " : ", one of "));
        EG_TRY(eg_key_put_choices(row, out));
    }
done:
    return status;
}

static bool same_section(const eg_key *a, const eg_key *b)
{
    return strcmp(a->section, b->section) == 0;
}

/* True if row i is the first of its section. */
static bool begins_section(const eg_schema *schema, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_section(schema->rows[k], schema->rows[i])) return false;
    return true;
}

/* --- help ------------------------------------------------------------------------------------- */

static eg_status put_field(const char *title, const char *value, eg_text *out)
{
    return *value ? eg_text_printf(out, "  %-9s %s\n", title, value) : EG_OK;
}

static eg_status describe_key(eg_context *ctx, const eg_key *row, eg_text *out)
{
    eg_status status = EG_OK;
    eg_text piece = eg_text_new(ctx);
    const char *example = example_of(row);
    EG_TRY(put_key(row, out));
    EG_TRY(eg_text_puts(out, "\n"));
    if (row->help) EG_TRY(put_wrapped("  ", row->help, out));
    EG_TRY(eg_text_puts(out, "\n"));
    EG_TRY(eg_key_put_type(row, false, &piece));
    EG_TRY(put_field("type", eg_text_string(&piece), out));
    eg_text_clear(&piece);
    EG_TRY(eg_key_put_range(row, &piece));
    EG_TRY(put_field("range", eg_text_string(&piece), out));
    eg_text_clear(&piece);
    EG_TRY(eg_key_put_choices(row, &piece));
    EG_TRY(put_field("one of", eg_text_string(&piece), out));
    EG_TRY(put_field("unit", row->unit ? row->unit : "", out));
    EG_TRY(put_field("default",
                     row->required   ? "none: it must be given"
                     : row->fallback ? row->fallback
                                     : "none",
                     out));
    if (example) {
        eg_text_clear(&piece);
        EG_TRY(put_line(row, example, &piece));
        if (*row->section) {
            EG_TRY(eg_text_puts(out, "\n  [")); /* as it stands in a file */
            EG_TRY(put_pattern(row->section, out));
            EG_TRY(eg_text_printf(out, "]\n  %s\n", eg_text_string(&piece)));
        } else {
            EG_TRY(eg_text_printf(out, "\n  %s\n", eg_text_string(&piece)));
        }
    }
done:
    eg_text_free(&piece);
    return status;
}

/* One line: the name, padded, and the first sentence of its help. */
static eg_status put_summary(const char *name, size_t width, const char *help, eg_text *out)
{
    eg_status status = EG_OK;
    size_t length = 0;
    while (help && help[length] && !(help[length] == '.' && strchr(" ", help[length + 1])))
        length++;
    EG_TRY(eg_text_printf(out, length ? "  %-*s  %.*s\n" : "  %-*s%.*s\n", length ? (int)width : 0,
                          name, (int)length, help ? help : ""));
done:
    return status;
}

static eg_status describe_section(const eg_schema *schema, const eg_path *path, eg_text *out)
{
    eg_status status = EG_OK;
    size_t width = 0;
    const eg_key *first = NULL;
    eg_text name = eg_text_new(schema->ctx);
    for (size_t i = 0; i < schema->count; i++)
        if (eg_section_matches(schema->rows[i]->section, path)) {
            const char *own = schema->rows[i]->name;
            size_t length = strlen(is_star(own) ? "NAME" : own);
            if (length > width) width = length;
        }
    for (size_t i = 0; i < schema->count; i++) {
        const eg_key *row = schema->rows[i];
        if (!eg_section_matches(row->section, path)) continue;
        if (!first && *row->section) {
            EG_TRY(eg_text_puts(out, "["));
            EG_TRY(put_pattern(row->section, out));
            EG_TRY(eg_text_puts(out, "]\n"));
        }
        first = row;
        eg_text_clear(&name);
        EG_TRY(put_pattern(row->name, &name));
        EG_TRY(put_summary(eg_text_string(&name), width, row->help, out));
    }
done:
    eg_text_free(&name);
    return status;
}

/* True if a section's name begins with the parts of a path, and goes on. */
static bool is_below(const char *section, const eg_path *above)
{
    for (size_t i = 0; i < above->count && i < EG_PATH_MOST; i++) {
        const size_t length = strlen(above->parts[i]);
        if (strncmp(section, above->parts[i], length) != 0 || section[length] != '.') return false;
        section += length + 1;
    }
    return true;
}

/* All sections below a path, each with the names of its keys. */
static eg_status list_sections(const eg_schema *schema, const eg_path *above, eg_text *out)
{
    eg_status status = EG_OK;
    eg_text line = eg_text_new(schema->ctx);
    for (size_t i = 0; i < schema->count; i++) {
        const char *section = schema->rows[i]->section;
        if (!*section || !is_below(section, above) || !begins_section(schema, i)) continue;
        eg_text_clear(&line);
        EG_TRY(eg_text_puts(&line, "["));
        EG_TRY(put_pattern(section, &line));
        EG_TRY(eg_text_puts(&line, "]"));
        EG_TRY(eg_text_printf(out, "  %-18s", eg_text_string(&line)));
        for (size_t k = i; k < schema->count; k++) {
            if (!same_section(schema->rows[i], schema->rows[k])) continue;
            EG_TRY(eg_text_puts(out, " "));
            EG_TRY(put_pattern(schema->rows[k]->name, out));
        }
        EG_TRY(eg_text_puts(out, "\n"));
    }
done:
    eg_text_free(&line);
    return status;
}

/* All rows of a name, whatever their section; *found says whether there are any. */
static eg_status describe_name(const eg_schema *schema, const char *name, bool *found, eg_text *out)
{
    eg_status status = EG_OK;
    *found = false;
    for (size_t i = 0; i < schema->count; i++) {
        if (strcmp(schema->rows[i]->name, name) != 0) continue;
        if (*found) EG_TRY(eg_text_puts(out, "\n"));
        EG_TRY(describe_key(schema->ctx, schema->rows[i], out));
        *found = true;
    }
done:
    return status;
}

/* Suggests a section, a key, or the name of a key alone. */
static eg_status unknown_topic(const eg_schema *schema, const char *topic)
{
    eg_status status = EG_OK;
    eg_context *ctx = schema->ctx;
    eg_arena arena = eg_arena_new(ctx);
    eg_text text = eg_text_new(ctx);
    const char **topics = NULL;
    size_t count = 0;
    char *copy = NULL, quote[EG_QUOTE_BYTES];
    EG_TRY(eg_new(ctx, 3 * schema->count + 1, &topics));
    for (size_t i = 0; i < schema->count; i++) {
        const eg_key *row = schema->rows[i];
        eg_text_clear(&text);
        EG_TRY(put_key(row, &text));
        EG_TRY(eg_arena_copy_string(&arena, eg_text_string(&text), &copy));
        topics[count++] = copy;
        if (!strchr(row->section, '*')) topics[count++] = row->section;
        if (!is_star(row->name)) topics[count++] = row->name;
    }
    const char *nearest = eg_nearest(topic, topics, count);
    status = eg_fail(ctx, EG_ERROR_INPUT, "there is no section or key \"%s\"%s%s%s",
                     eg_quote(quote, topic, strlen(topic)), nearest ? "; did you mean \"" : "",
                     nearest ? nearest : "", nearest ? "\"?" : "");
done:
    eg_release(ctx, &topics);
    eg_text_free(&text);
    eg_arena_free(&arena);
    return status;
}

eg_status eg_case_describe(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                           const char *key, eg_text *out)
{
    eg_status status = EG_OK;
    eg_schema schema = {.ctx = ctx};
    eg_path path = {.count = 0};
    char *text = NULL;
    bool found = false;
    const char *inner = key;
    size_t length = strlen(key);
    /* "[mesh]" means "mesh". */
    if (length > 2 && key[0] == '[' && key[length - 1] == ']') inner = key + 1;
    EG_TRY(eg_schema_join(ctx, tables, table_count, &schema));
    EG_TRY(eg_copy_string(ctx, inner, &text));
    if (inner != key) text[length - 2] = '\0';
    for (char *part = *text ? text : NULL; part; path.count++) {
        char *dot = strchr(part, '.');
        if (path.count < EG_PATH_MOST) path.parts[path.count] = part;
        if (dot) *dot++ = '\0';
        part = dot;
    }
    const eg_key *row = eg_schema_find(&schema, &path);
    if (path.count == 0 || eg_schema_section(&schema, &path) != EG_SECTION_NONE) {
        EG_TRY(describe_section(&schema, &path, out));
        EG_TRY(list_sections(&schema, &path, out));
    } else if (row) {
        EG_TRY(describe_key(ctx, row, out));
    } else {
        if (path.count == 1) EG_TRY(describe_name(&schema, text, &found, out));
        if (!found) status = unknown_topic(&schema, key);
    }
done:
    eg_release(ctx, &text);
    eg_schema_close(&schema);
    return status;
}

/* --- the template ----------------------------------------------------------------------------- */

/* True if a replacement, "section.name=value", is one of this row's; *name and *value are then where
 * these begin in it. */
static bool is_of_row(const eg_schema *schema, const eg_key *row, const char *replacement,
                      const char **name, const char **value)
{
    char section[64], own[64];
    const size_t length = strcspn(replacement, ".");
    const eg_path path = {.parts = {section, own}, .count = 2};
    *name = replacement + length + 1;
    *value = strchr(*name, '=') + 1;
    snprintf(section, sizeof section, "%.*s", (int)length, replacement);
    snprintf(own, sizeof own, "%.*s", (int)(*value - 1 - *name), *name);
    return eg_schema_find(schema, &path) == row;
}

static eg_status put_template_key(const eg_schema *schema, const eg_key *row, bool commented,
                                  const char *model, const char *const *sample, eg_text *out)
{
    eg_status status = EG_OK;
    eg_text piece = eg_text_new(schema->ctx);
    bool sampled = false, is_model = !*row->section && strcmp(row->name, "model") == 0;
    if (is_model) {
        EG_TRY(eg_text_printf(out, "model = \"%s\"\n", model));
        goto done;
    }
    if (row->help) EG_TRY(eg_text_puts(&piece, row->help));
    EG_TRY(eg_text_puts(&piece, " ("));
    EG_TRY(put_limits(row, &piece));
    EG_TRY(eg_text_puts(&piece, ")"));
    EG_TRY(put_wrapped("# ", eg_text_string(&piece), out));
    eg_text_clear(&piece);
    for (; sample && *sample; sample++) {
        const char *name, *value;
        if (!is_of_row(schema, row, *sample, &name, &value)) continue;
        EG_TRY(eg_text_printf(out, "%.*s = %s\n", (int)(value - 1 - name), name, value));
        sampled = true;
    }
    if (sampled) goto done;
    /* What holds if the line is left out, or else an example of what may stand there. */
    bool active = row->required && !commented;
    EG_TRY(put_line(row, !active && row->fallback ? row->fallback : example_of(row), &piece));
    EG_TRY(eg_text_printf(out, "%s%s\n", active ? "" : "# ", eg_text_string(&piece)));
done:
    eg_text_free(&piece);
    return status;
}

eg_status eg_case_template(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                           const char *model, const char *about, const char *const *sample,
                           eg_text *out)
{
    eg_status status = EG_OK;
    eg_schema schema = {.ctx = ctx};
    EG_TRY(eg_schema_join(ctx, tables, table_count, &schema));
    EG_TRY(put_wrapped("# ", about, out));
    EG_TRY(eg_text_puts(out, "#\n# Lines behind \"#\" are comments; keys among them are shown with "
                             "their defaults or an example.\n\n"));
    for (size_t i = 0; i < schema.count; i++) {
        const char *section = schema.rows[i]->section;
        if (!begins_section(&schema, i)) continue;
        bool star = strchr(section, '*') != NULL;
        if (*section) {
            EG_TRY(eg_text_puts(out, star ? "\n# [" : "\n["));
            EG_TRY(put_pattern(section, out));
            EG_TRY(eg_text_puts(out, "]\n"));
        }
        bool first = true;
        for (size_t k = i; k < schema.count; k++) {
            if (!same_section(schema.rows[i], schema.rows[k])) continue;
            if (!first) EG_TRY(eg_text_puts(out, "\n"));
            EG_TRY(put_template_key(&schema, schema.rows[k], star, model, sample, out));
            first = false;
        }
    }
done:
    eg_schema_close(&schema);
    return status;
}

/* --- the reference ---------------------------------------------------------------------------- */

/* Text for a cell of a Markdown table. */
static eg_status put_cell(const char *text, eg_text *out)
{
    eg_status status = EG_OK;
    for (; *text; text++)
        EG_TRY(*text == '|' ? eg_text_puts(out, "\\|") : eg_text_add(out, text, 1));
done:
    return status;
}

static eg_status put_row(eg_context *ctx, const eg_key *row, eg_text *out)
{
    eg_status status = EG_OK;
    eg_text piece = eg_text_new(ctx);
    EG_TRY(eg_text_puts(out, "| `"));
    EG_TRY(put_pattern(row->name, out));
    EG_TRY(eg_text_puts(out, "` | "));
    EG_TRY(put_limits(row, &piece));
    EG_TRY(put_cell(eg_text_string(&piece), out));
    EG_TRY(eg_text_puts(out, row->required ? " | required | " : row->fallback ? " | `" : " | | "));
    if (!row->required && row->fallback) {
        EG_TRY(put_cell(row->fallback, out));
        EG_TRY(eg_text_puts(out, "` | "));
    }
    EG_TRY(put_cell(row->help ? row->help : "", out));
    if (row->example) {
        eg_text_clear(&piece);
        EG_TRY(put_line(row, row->example, &piece));
        EG_TRY(eg_text_puts(out, " Example: `"));
        EG_TRY(put_cell(eg_text_string(&piece), out));
        EG_TRY(eg_text_puts(out, "`"));
    }
    EG_TRY(eg_text_puts(out, " |\n"));
done:
    eg_text_free(&piece);
    return status;
}

eg_status eg_case_reference(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                            eg_text *out)
{
    eg_status status = EG_OK;
    eg_schema schema = {.ctx = ctx};
    EG_TRY(eg_schema_join(ctx, tables, table_count, &schema));
    for (size_t i = 0; i < schema.count; i++) {
        const eg_key *row = schema.rows[i];
        if (!begins_section(&schema, i)) continue;
        EG_TRY(eg_text_puts(out, i > 0 ? "\n## " : "## "));
        EG_TRY(eg_text_puts(out, *row->section ? "`[" : "Top of the file"));
        EG_TRY(put_pattern(row->section, out));
        EG_TRY(eg_text_puts(out, *row->section ? "]`\n\n" : "\n\n"));
        EG_TRY(eg_text_puts(out, "| key | value | default | meaning |\n|---|---|---|---|\n"));
        for (size_t k = i; k < schema.count; k++)
            if (same_section(row, schema.rows[k])) EG_TRY(put_row(ctx, schema.rows[k], out));
    }
done:
    eg_schema_close(&schema);
    return status;
}
