/* Opens a case: file and overrides become a list of entries, each with its row of the schema, its
 * place and its values; then comes what the schema gives or demands besides. */
#include "case/content.h"

#include <assert.h>
#include <string.h>

/* --- paths ------------------------------------------------------------------------------------ */

void eg_path_of(const eg_toml_node *node, eg_path *out)
{
    out->count = node->depth;
    for (; node->parent; node = node->parent)
        if (node->depth <= EG_PATH_MOST) out->parts[node->depth - 1] = node->key;
}

eg_place eg_section_place(const eg_toml_node *table)
{
    return table->form == EG_TOML_HEADER ? table->place : table->key_place;
}

/* The parts with dots between them, as a string of the arena; *last is where the last one
 * begins. */
static eg_status join(eg_case *cas, const eg_path *path, const char **out, size_t *last)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(cas->ctx);
    char *copy = NULL;
    *last = 0;
    for (size_t i = 0; i < path->count; i++) {
        *last = text.length;
        EG_TRY(eg_text_printf(&text, "%s%s", i > 0 ? "." : "", path->parts[i]));
    }
    EG_TRY(eg_arena_copy_string(&cas->arena, eg_text_string(&text), &copy));
    *out = copy;
done:
    eg_text_free(&text);
    return status;
}

/* --- entries and sections --------------------------------------------------------------------- */

/* Room for one more element of an array. */
static eg_status reserve(eg_context *ctx, void **array, size_t count, size_t *capacity, size_t size)
{
    if (count < *capacity) return EG_OK;
    size_t larger = *capacity ? 2 * *capacity : 32;
    eg_status status = eg_reallocate(ctx, larger * size, array);
    if (status == EG_OK) *capacity = larger;
    return status;
}

/* Adds an entry, or gives the one that is there a new value. */
static eg_status set_entry(eg_case *cas, const eg_path *path, const eg_key *row,
                           const eg_toml_node *node, bool given)
{
    eg_status status = EG_OK;
    const char *name;
    size_t section_length;
    EG_TRY(join(cas, path, &name, &section_length));
    eg_entry entry = {.section_length = section_length, .row = row, .node = node, .given = given};
    size_t index = eg_names_find(&cas->entry_names, name);
    if (index == EG_NAMES_NONE) {
        void *entries = cas->entries;
        index = cas->entry_names.count;
        EG_TRY(reserve(cas->ctx, &entries, index, &cas->entry_capacity, sizeof entry));
        cas->entries = entries;
        EG_TRY(eg_names_add(&cas->entry_names, name));
    }
    cas->entries[index] = entry;
done:
    return status;
}

static eg_status add_section(eg_case *cas, const eg_path *path, bool star, const eg_toml_node *node)
{
    eg_status status = EG_OK;
    const char *name;
    size_t parent_length, index = cas->section_names.count;
    EG_TRY(join(cas, path, &name, &parent_length));
    if (eg_names_find(&cas->section_names, name) != EG_NAMES_NONE) return EG_OK;
    void *sections = cas->sections;
    EG_TRY(reserve(cas->ctx, &sections, index, &cas->section_capacity, sizeof cas->sections[0]));
    cas->sections = sections;
    EG_TRY(eg_names_add(&cas->section_names, name));
    cas->sections[index] = (eg_section){.parent_length = parent_length, .star = star, .node = node};
done:
    return status;
}

static eg_status check_key_text(const eg_case *cas, const eg_toml_node *node)
{
    if (node->key_length == 0)
        return eg_place_fail(cas->ctx, node->key_place, "a name cannot be empty");
    if (memchr(node->key, '\0', node->key_length))
        return eg_place_fail(cas->ctx, node->key_place, "a name cannot hold the character U+0000");
    return EG_OK;
}

static eg_status fail_section(const eg_case *cas, const eg_toml_node *node)
{
    bool repeated = node->type == EG_TOML_ARRAY && node->form == EG_TOML_REPEATED;
    return eg_place_fail(cas->ctx, node->key_place,
                         repeated ? "[%s] is a section and is written once, in single brackets"
                                  : "\"%s\" is a section, not a key; its keys stand below [%s]",
                         node->key, node->key);
}

/* Takes all entries and sections of a file or override. */
static eg_status take_document(eg_case *cas, const eg_toml *doc)
{
    eg_status status = EG_OK;
    eg_path path;
    bool inside = true;
    for (const eg_toml_node *node = eg_toml_next(doc->root, true); node;
         node = eg_toml_next(node, inside)) {
        EG_TRY(check_key_text(cas, node));
        eg_path_of(node, &path);
        const eg_key *row = eg_schema_find(&cas->schema, &path);
        eg_section_kind kind = eg_schema_section(&cas->schema, &path);
        inside = node->type == EG_TOML_TABLE;
        if (inside && kind != EG_SECTION_NONE)
            EG_TRY(add_section(cas, &path, kind == EG_SECTION_STAR, node));
        else if (inside && row)
            return eg_fail_type(cas->ctx, row, node);
        else if (row)
            EG_TRY(set_entry(cas, &path, row, node, true));
        else if (kind != EG_SECTION_NONE)
            return fail_section(cas, node);
        else
            return eg_schema_unknown(&cas->schema, &path, inside, node->key_place);
    }
done:
    return status;
}

/* --- fallbacks and required keys -------------------------------------------------------------- */

/* All fallbacks as a text of TOML: "section.name" = value. */
static eg_status parse_fallbacks(eg_case *cas, eg_toml **out)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(cas->ctx);
    void *source = NULL;
    char *copy = NULL;
    for (size_t i = 0; i < cas->schema.count; i++) {
        const eg_key *row = cas->schema.rows[i];
        if (row->fallback)
            EG_TRY(
                eg_text_printf(&text, "\"%s.%s\" = %s\n", row->section, row->name, row->fallback));
    }
    EG_TRY(eg_arena_copy_string(&cas->arena, eg_text_string(&text), &copy));
    EG_TRY(eg_arena_allocate(&cas->arena, sizeof(eg_source), &source));
    *(eg_source *)source = eg_source_new("fallbacks", copy, text.length);
    EG_TRY(eg_toml_create(cas->ctx, source, out));
done:
    eg_text_free(&text);
    return status;
}

/* A key that must be given is not: says what it is for, at the header of its section if it has
 * one. */
static eg_status fail_missing(const eg_case *cas, const eg_path *section, const eg_key *row)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(cas->ctx), name = eg_text_new(cas->ctx);
    for (size_t i = 0; i < section->count; i++)
        EG_TRY(eg_text_printf(&name, "%s%s", i > 0 ? "." : "", section->parts[i]));
    const char *example = row->example ? row->example : row->fallback;
    bool star = strcmp(row->name, "*") == 0;
    EG_TRY(star ? eg_text_puts(&text, "a key is missing ")
                : eg_text_printf(&text, "the key \"%s\" is missing ", row->name));
    EG_TRY(section->count ? eg_text_printf(&text, "in [%s]: ", eg_text_string(&name))
                          : eg_text_puts(&text, "at the top of the case: "));
    EG_TRY(eg_key_put_type(row, true, &text));
    if (example && star)
        EG_TRY(eg_text_printf(&text, ", for example %s", example));
    else if (example)
        EG_TRY(eg_text_printf(&text, ", for example %s = %s", row->name, example));
    if (row->help) EG_TRY(eg_text_printf(&text, ". %s", row->help));
    size_t index = eg_names_find(&cas->section_names, eg_text_string(&name));
    eg_place place = {0};
    if (index != EG_NAMES_NONE) place = eg_section_place(cas->sections[index].node);
    if (place.source == cas->file)
        status = eg_place_fail(cas->ctx, place, "%s", eg_text_string(&text));
    else
        status = eg_fail(cas->ctx, EG_ERROR_INPUT, "%s: error: %s", cas->file->name,
                         eg_text_string(&text));
done:
    eg_text_free(&name);
    eg_text_free(&text);
    return status;
}

/* Completes one row in one section. */
static eg_status complete(eg_case *cas, const eg_toml *fallbacks, const eg_path *section,
                          const eg_key *row)
{
    eg_status status = EG_OK;
    const char *name;
    size_t last;
    eg_text text = eg_text_new(cas->ctx);
    eg_path path = *section;
    assert(path.count < EG_PATH_MOST);
    path.parts[path.count++] = row->name;
    EG_TRY(join(cas, &path, &name, &last));
    if (eg_names_find(&cas->entry_names, name) != EG_NAMES_NONE) goto done;
    if (eg_schema_find(&cas->schema, &path) != row) goto done; /* a star beside a name */
    if (row->fallback) {
        EG_TRY(eg_text_printf(&text, "%s.%s", row->section, row->name));
        const eg_toml_node *node =
            eg_toml_find(fallbacks, fallbacks->root, eg_text_string(&text), text.length);
        assert(node);
        EG_TRY(set_entry(cas, &path, row, node, false));
    } else if (row->required) {
        status = fail_missing(cas, section, row);
    }
done:
    eg_text_free(&text);
    return status;
}

/* The parts of a section of the schema; they live in `text`. */
static void split(char *text, eg_path *out)
{
    out->count = 0;
    for (char *part = *text ? text : NULL; part; out->count++) {
        assert(out->count < EG_PATH_MOST);
        out->parts[out->count] = part;
        part = strchr(part, '.');
        if (part) *part++ = '\0';
    }
}

static bool has_row(const eg_case *cas, const eg_key *row)
{
    for (size_t i = 0; i < cas->entry_names.count; i++)
        if (cas->entries[i].row == row) return true;
    return false;
}

/* Fallbacks and demands of every row, in every section that it applies to. */
static eg_status complete_all(eg_case *cas, const eg_toml *fallbacks)
{
    eg_status status = EG_OK;
    eg_path section;
    char *text = NULL;
    for (size_t i = 0; i < cas->schema.count; i++) {
        const eg_key *row = cas->schema.rows[i];
        bool star = strcmp(row->name, "*") == 0;
        if (!strchr(row->section, '*')) {
            EG_TRY(eg_arena_copy_string(&cas->arena, row->section, &text));
            split(text, &section);
            if (!star)
                EG_TRY(complete(cas, fallbacks, &section, row));
            else if (row->required && !has_row(cas, row))
                return fail_missing(cas, &section, row);
            continue;
        }
        for (size_t k = 0; k < cas->section_names.count && !star; k++) {
            eg_path_of(cas->sections[k].node, &section);
            if (eg_section_matches(row->section, &section))
                EG_TRY(complete(cas, fallbacks, &section, row));
        }
    }
done:
    return status;
}

/* --- doors ------------------------------------------------------------------------------------ */

/* A copy of a text as a source of the arena. */
static eg_status keep_source(eg_arena *arena, const char *name, const char *text, size_t length,
                             const eg_source **out)
{
    eg_status status = EG_OK;
    void *source = NULL, *bytes = NULL;
    char *copied_name = NULL;
    EG_TRY(eg_arena_allocate(arena, sizeof(eg_source), &source));
    EG_TRY(eg_arena_allocate(arena, length + 1, &bytes));
    if (name) EG_TRY(eg_arena_copy_string(arena, name, &copied_name));
    if (length) memcpy(bytes, text, length);
    *(eg_source *)source = eg_source_new(copied_name, bytes, length);
    *out = source;
done:
    return status;
}

static eg_status open_case(eg_case *cas, const char *name, const char *text, size_t length,
                           const eg_case_options *options)
{
    eg_status status = EG_OK;
    const eg_source *source;
    EG_TRY(eg_schema_open(cas->ctx, options->tables, options->table_count, &cas->schema));
    EG_TRY(eg_new(cas->ctx, options->override_count + 2, &cas->docs));
    EG_TRY(eg_new(cas->ctx, options->override_count + 1, &cas->overrides));
    EG_TRY(keep_source(&cas->arena, name, text, length, &cas->file));
    EG_TRY(eg_toml_create(cas->ctx, cas->file, &cas->docs[0]));
    cas->doc_count = 1;
    EG_TRY(take_document(cas, cas->docs[0]));
    for (size_t i = 0; i < options->override_count; i++) {
        const char *argument = options->overrides[i];
        EG_TRY(keep_source(&cas->arena, NULL, argument, strlen(argument), &source));
        cas->overrides[cas->override_count++] = source->text;
        EG_TRY(eg_override_create(&cas->schema, source, &cas->docs[cas->doc_count]));
        EG_TRY(take_document(cas, cas->docs[cas->doc_count++]));
    }
    EG_TRY(parse_fallbacks(cas, &cas->docs[cas->doc_count]));
    EG_TRY(complete_all(cas, cas->docs[cas->doc_count++]));
    for (size_t i = 0; i < cas->entry_names.count; i++)
        EG_TRY(eg_entry_convert(cas, i));
    EG_TRY(eg_case_compile(cas));
done:
    return status;
}

eg_status eg_case_open_text(eg_context *ctx, const char *name, const char *text, size_t length,
                            const eg_case_options *options, eg_case **out)
{
    eg_status status = EG_OK;
    eg_case *cas = NULL;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &cas));
    cas->ctx = ctx;
    cas->arena = eg_arena_new(ctx);
    cas->entry_names = eg_names_new(ctx);
    cas->section_names = eg_names_new(ctx);
    EG_TRY(open_case(cas, name, text, length, options));
    *out = cas;
    cas = NULL;
done:
    eg_case_close(&cas);
    return status;
}

eg_status eg_case_read_file(eg_context *ctx, const char *path, char **data, size_t *length)
{
    eg_status status = eg_file_read(ctx, path, data, length);
    if (status == EG_ERROR_IO) status = eg_fail(ctx, EG_ERROR_INPUT, "%s", eg_context_error(ctx));
    return status;
}

eg_status eg_case_open(eg_context *ctx, const char *path, const eg_case_options *options,
                       eg_case **out)
{
    char *data = NULL;
    size_t length = 0;
    *out = NULL;
    eg_status status = eg_case_read_file(ctx, path, &data, &length);
    if (status == EG_OK) status = eg_case_open_text(ctx, path, data, length, options, out);
    eg_release(ctx, &data);
    return status;
}

void eg_case_close(eg_case **handle)
{
    eg_case *cas = *handle;
    if (!cas) return;
    for (size_t i = 0; i < cas->entry_names.count; i++)
        for (size_t k = 0; k < cas->entries[i].count; k++)
            eg_expression_destroy(&cas->entries[i].values[k].expression);
    for (size_t i = 0; i < cas->doc_count; i++)
        eg_toml_destroy(&cas->docs[i]);
    eg_release(cas->ctx, &cas->docs);
    eg_release(cas->ctx, &cas->overrides);
    eg_release(cas->ctx, &cas->entries);
    eg_release(cas->ctx, &cas->sections);
    eg_names_free(&cas->entry_names);
    eg_names_free(&cas->section_names);
    eg_schema_close(&cas->schema);
    eg_arena_free(&cas->arena);
    eg_release(cas->ctx, handle);
}
