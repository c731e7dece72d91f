/* The schema: finds the row of a key, suggests names for unknown ones, and puts rows into words. */
#include "case/schema.h"

#include <float.h>
#include <math.h>
#include <string.h>

const eg_key eg_case_keys[] = {
    {.section = "",
     .name = "model",
     .type = EG_KEY_STRING,
     .required = true,
     .help = "What is computed. \"eagre new MODEL\" writes a commented case of a model.",
     .example = "\"project\""},
    {.section = "",
     .name = "title",
     .type = EG_KEY_STRING,
     .help = "What the case is about, for people and for the titles of pictures and reports.",
     .example = "\"Sine wave on a square\""},
    {.section = "constants",
     .name = "*",
     .type = EG_KEY_EXPRESSION,
     .help = "A number with a name, for use in every expression of the case: a value, or an "
             "expression of pi and the constants above it.",
     .example = "k = \"2*pi\""},
    {0}};

/* True if the schema has a row of the same section and name. */
static bool is_there(const eg_schema *schema, const eg_key *row)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->rows[i]->section, row->section) == 0 &&
            strcmp(schema->rows[i]->name, row->name) == 0)
            return true;
    return false;
}

eg_status eg_schema_join(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                         eg_schema *out)
{
    eg_status status = EG_OK;
    size_t count = 1; /* for [constants], too */
    *out = (eg_schema){.ctx = ctx};
    for (size_t i = 0; i < table_count; i++)
        for (const eg_key *row = tables[i]; row->name; row++)
            count++;
    EG_TRY(eg_new(ctx, count, &out->rows));
    for (size_t i = 0; i < table_count; i++)
        for (const eg_key *row = tables[i]; row->name; row++)
            if (!is_there(out, row)) out->rows[out->count++] = row;
done:
    return status;
}

eg_status eg_schema_open(eg_context *ctx, const eg_key *const *tables, size_t table_count,
                         eg_schema *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_schema_join(ctx, tables, table_count, out));
    for (const eg_key *row = eg_case_keys; row->name; row++)
        if (strcmp(row->section, "constants") == 0 && !is_there(out, row))
            out->rows[out->count++] = row;
done:
    return status;
}

void eg_schema_close(eg_schema *schema)
{
    if (schema->ctx) eg_release(schema->ctx, &schema->rows);
    schema->count = 0;
}

/* --- matching --------------------------------------------------------------------------------- */

/* How a pattern's first parts compare with those of a path. */
typedef struct match {
    bool matches;   /* part by part, as far as both go */
    size_t stars;   /* parts of the path that stand for a star */
    bool last_star; /* the last part of the path does */
    size_t parts;   /* of the whole pattern */
} match;

static match compare(const char *pattern, const eg_path *path)
{
    match m = {.matches = true};
    while (*pattern) {
        size_t length = strcspn(pattern, ".");
        bool star = length == 1 && pattern[0] == '*';
        if (m.parts < path->count && m.parts < EG_PATH_MOST) {
            const char *part = path->parts[m.parts];
            m.matches &= star || (strlen(part) == length && memcmp(part, pattern, length) == 0);
            m.stars += star;
            m.last_star = star;
        }
        m.parts++;
        pattern += length;
        if (*pattern == '.') pattern++;
    }
    return m;
}

bool eg_section_matches(const char *pattern, const eg_path *section)
{
    match m = compare(pattern, section);
    return m.matches && m.parts == section->count;
}

const eg_key *eg_schema_find(const eg_schema *schema, const eg_path *path)
{
    const eg_key *best = NULL;
    size_t least = SIZE_MAX;
    if (path->count == 0 || path->count > EG_PATH_MOST) return NULL;
    eg_path section = *path;
    const char *name = path->parts[--section.count];
    for (size_t i = 0; i < schema->count; i++) {
        const eg_key *row = schema->rows[i];
        bool star = strcmp(row->name, "*") == 0;
        match m = compare(row->section, &section);
        if (!m.matches || m.parts != section.count || !(star || strcmp(row->name, name) == 0))
            continue;
        if (m.stars + star < least) {
            least = m.stars + star;
            best = row;
        }
    }
    return best;
}

eg_section_kind eg_schema_section(const eg_schema *schema, const eg_path *path)
{
    eg_section_kind kind = EG_SECTION_NONE;
    if (path->count > EG_PATH_MOST) return EG_SECTION_NONE;
    for (size_t i = 0; i < schema->count; i++) {
        match m = compare(schema->rows[i]->section, path);
        if (!m.matches || m.parts < path->count) continue;
        if (!m.last_star) return EG_SECTION_NAMED;
        kind = EG_SECTION_STAR;
    }
    return kind;
}

/* A star stands for one character or more. */
static bool glob(const char *pattern, const char *text)
{
    for (; *pattern && *pattern != '*'; pattern++, text++)
        if (*pattern != *text) return false;
    if (!*pattern) return !*text;
    for (text++; text[-1]; text++)
        if (glob(pattern + 1, text)) return true;
    return false;
}

bool eg_schema_has(const eg_schema *schema, const char *key)
{
    for (size_t i = 0; i < schema->count; i++) {
        const eg_key *row = schema->rows[i];
        char pattern[256];
        size_t n = strlen(row->section), m = strlen(row->name);
        if (n + m + 2 > sizeof pattern) continue;
        memcpy(pattern, row->section, n);
        if (n) pattern[n++] = '.';
        memcpy(pattern + n, row->name, m + 1);
        if (glob(pattern, key)) return true;
    }
    return false;
}

/* --- suggestions ------------------------------------------------------------------------------ */

/* A list of names that does not repeat any. */
typedef struct names {
    char (*at)[64]; /* [capacity] owned */
    const char **list;
    size_t count;
} names;

static void add_name(names *n, const char *name, size_t length)
{
    if (length >= sizeof n->at[0] || (length == 1 && *name == '*')) return;
    for (size_t i = 0; i < n->count; i++)
        if (strlen(n->at[i]) == length && memcmp(n->at[i], name, length) == 0) return;
    memcpy(n->at[n->count], name, length);
    n->at[n->count][length] = '\0';
    n->list[n->count] = n->at[n->count];
    n->count++;
}

/* The names that the last part of a path could have: subsections, or keys of its section. */
static void collect(const eg_schema *schema, const eg_path *parent, bool sections, names *out)
{
    for (size_t i = 0; i < schema->count; i++) {
        const eg_key *row = schema->rows[i];
        match m = compare(row->section, parent);
        if (!m.matches) continue;
        if (!sections && m.parts == parent->count) {
            add_name(out, row->name, strlen(row->name));
        } else if (sections && m.parts > parent->count) {
            const char *part = row->section;
            for (size_t k = 0; k < parent->count; k++)
                part += strcspn(part, ".") + 1;
            add_name(out, part, strcspn(part, "."));
        }
    }
}

/* The first section that has a key of this name; NULL if none. */
static const char *home_of(const eg_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->rows[i]->name, name) == 0) return schema->rows[i]->section;
    return NULL;
}

static eg_status put_path(const eg_path *path, eg_text *out)
{
    eg_status status = EG_OK;
    char quote[EG_QUOTE_BYTES];
    for (size_t i = 0; i < path->count && i < EG_PATH_MOST; i++)
        EG_TRY(eg_text_printf(out, "%s%s", i > 0 ? "." : "",
                              eg_quote(quote, path->parts[i], strlen(path->parts[i]))));
done:
    return status;
}

static eg_status put_names(const names *n, const char *before, const char *after, eg_text *out)
{
    eg_status status = EG_OK;
    for (size_t i = 0; i < n->count; i++) {
        if (out->length > 1500) {
            EG_TRY(eg_text_puts(out, ", …"));
            break;
        }
        EG_TRY(eg_text_printf(out, "%s%s%s%s", i > 0 ? ", " : "", before, n->list[i], after));
    }
done:
    return status;
}

eg_status eg_schema_unknown(const eg_schema *schema, const eg_path *path, bool section,
                            eg_place place)
{
    eg_status status = EG_OK;
    eg_context *ctx = schema->ctx;
    eg_text text = eg_text_new(ctx);
    names near = {.count = 0};
    char quote[EG_QUOTE_BYTES];
    if (path->count > EG_PATH_MOST)
        return eg_place_fail(ctx, place, "no section of a case is nested as deeply as this");
    eg_path parent = *path;
    const char *name = path->parts[--parent.count], *nearest, *home;
    EG_TRY(eg_new(ctx, schema->count + 1, &near.at));
    EG_TRY(eg_new(ctx, schema->count + 1, &near.list));
    collect(schema, &parent, section, &near);
    nearest = eg_nearest(name, near.list, near.count);
    home = section ? NULL : home_of(schema, name);

    EG_TRY(eg_text_puts(&text, section ? "unknown section [" : "unknown key \""));
    if (section)
        EG_TRY(put_path(path, &text));
    else
        EG_TRY(eg_text_puts(&text, eg_quote(quote, name, strlen(name))));
    EG_TRY(eg_text_puts(&text, section             ? "]"
                               : parent.count == 0 ? "\" at the top of the case"
                                                   : "\" in ["));
    if (!section && parent.count > 0) {
        EG_TRY(put_path(&parent, &text));
        EG_TRY(eg_text_puts(&text, "]"));
    }
    if (home && *home) {
        EG_TRY(eg_text_printf(&text, "; it belongs to [%s]", home));
    } else if (home) {
        EG_TRY(eg_text_puts(&text, "; it belongs to the top of the case"));
    } else if (nearest && section) {
        EG_TRY(eg_text_puts(&text, "; did you mean ["));
        EG_TRY(put_path(&parent, &text));
        EG_TRY(eg_text_printf(&text, "%s%s]?", parent.count > 0 ? "." : "", nearest));
    } else if (nearest) {
        EG_TRY(eg_text_printf(&text, "; did you mean \"%s\"?", nearest));
    } else if (near.count > 0) {
        EG_TRY(eg_text_puts(&text, section ? "; there are " : "; its keys are "));
        EG_TRY(section && parent.count == 0 ? put_names(&near, "[", "]", &text)
                                            : put_names(&near, "\"", "\"", &text));
    }
    status = eg_place_fail(ctx, place, "%s", eg_text_string(&text));
done:
    eg_release(ctx, &near.list);
    eg_release(ctx, &near.at);
    eg_text_free(&text);
    return status;
}

/* --- words about a row ------------------------------------------------------------------------ */

static const struct {
    const char *one, *several;
} type_names[] = {
    [EG_KEY_BOOLEAN] = {"boolean", "booleans"},
    [EG_KEY_INTEGER] = {"integer", "integers"},
    [EG_KEY_REAL] = {"real number", "real numbers"},
    [EG_KEY_STRING] = {"string", "strings"},
    [EG_KEY_CHOICE] = {"string", "strings"},
    [EG_KEY_EXPRESSION] = {"number or expression", "numbers or expressions"},
};

bool eg_key_is_array(const eg_key *row)
{
    return row->type >= EG_KEY_INTEGERS;
}

eg_key_type eg_key_element(const eg_key *row)
{
    switch (row->type) {
    case EG_KEY_INTEGERS:
        return EG_KEY_INTEGER;
    case EG_KEY_REALS:
        return EG_KEY_REAL;
    case EG_KEY_BOOLEANS:
        return EG_KEY_BOOLEAN;
    case EG_KEY_STRINGS:
        return EG_KEY_STRING;
    case EG_KEY_CHOICES:
        return EG_KEY_CHOICE;
    case EG_KEY_EXPRESSIONS:
        return EG_KEY_EXPRESSION;
    default:
        return row->type;
    }
}

eg_status eg_key_put_count(const eg_key *row, eg_text *out)
{
    int least = row->least_count, most = row->most_count;
    if (least == 0 && most == 0) return EG_OK;
    if (least == most) return eg_text_printf(out, "%d", most);
    if (most == 0) return eg_text_printf(out, "at least %d", least);
    if (least == 0) return eg_text_printf(out, "at most %d", most);
    return eg_text_printf(out, "%d to %d", least, most);
}

eg_status eg_key_put_type(const eg_key *row, bool article, eg_text *out)
{
    eg_status status = EG_OK;
    eg_key_type type = eg_key_element(row);
    if (eg_key_is_array(row)) {
        bool one = row->least_count == 1 && row->most_count == 1;
        EG_TRY(eg_text_printf(out, "%sarray of ", article ? "an " : ""));
        EG_TRY(eg_key_put_count(row, out));
        EG_TRY(eg_text_printf(out, "%s%s", row->least_count || row->most_count ? " " : "",
                              one ? type_names[type].one : type_names[type].several));
    } else {
        const char *a = !article ? "" : type == EG_KEY_INTEGER ? "an " : "a ";
        EG_TRY(eg_text_printf(out, "%s%s", a, type_names[type].one));
    }
done:
    return status;
}

/* A number, and whole ones with all their digits. */
static eg_status put_number(double value, eg_text *out)
{
    bool whole = fabs(value) < 1e16 && value == floor(value);
    return eg_text_printf(out, whole ? "%.0f" : "%.15g", value);
}

eg_status eg_key_put_range(const eg_key *row, eg_text *out)
{
    eg_status status = EG_OK;
    double least = row->least, most = row->most;
    if (least == 0 && most == 0) return EG_OK;
    bool positive = least > 0 && least <= DBL_MIN;
    bool below = isfinite(least), above = isfinite(most);
    if (positive) EG_TRY(eg_text_puts(out, "greater than 0"));
    if (below && !positive) {
        EG_TRY(eg_text_puts(out, above ? "from " : "at least "));
        EG_TRY(put_number(least, out));
    }
    if (above) {
        EG_TRY(eg_text_puts(out, positive ? " and at most " : below ? " to " : "at most "));
        EG_TRY(put_number(most, out));
    }
done:
    return status;
}

eg_status eg_key_put_choices(const eg_key *row, eg_text *out)
{
    eg_status status = EG_OK;
    for (const char *const *choice = row->choices; choice && *choice; choice++)
        EG_TRY(eg_text_printf(out, "%s\"%s\"", choice > row->choices ? ", " : "", *choice));
done:
    return status;
}
