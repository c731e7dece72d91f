/* The structure of TOML: headers, keys, arrays and inline tables, and the rules of what may be
 * given twice. The parser keeps the open arrays and inline tables of a value in a stack of fixed
 * depth. */
#include "case/toml_parse.h"

#include <assert.h>
#include <string.h>

/* --- the tree --------------------------------------------------------------------------------- */

/* FNV-1a over the key, begun with its table. */
static size_t hash(const eg_toml_node *table, const char *key, size_t length)
{
    uint64_t h = 0xcbf29ce484222325u ^ table->serial;
    for (size_t i = 0; i < length; i++)
        h = (h ^ (unsigned char)key[i]) * 0x100000001b3u;
    h ^= h >> 32;
    return (size_t)(h * 0x9e3779b97f4a7c15u >> 32);
}

/* The slot of a key: where it is, or where it would go. */
static size_t find_slot(const eg_toml *doc, const eg_toml_node *table, const char *key,
                        size_t length)
{
    size_t mask = doc->slot_count - 1, i = hash(table, key, length) & mask;
    for (;; i = (i + 1) & mask) {
        const eg_toml_node *n = doc->slots[i];
        if (!n) return i;
        if (n->parent == table && n->key_length == length && memcmp(n->key, key, length) == 0)
            return i;
    }
}

eg_toml_node *eg_toml_find(const eg_toml *doc, const eg_toml_node *table, const char *key,
                           size_t length)
{
    return doc->slot_count ? doc->slots[find_slot(doc, table, key, length)] : NULL;
}

/* At most half of the slots are in use. */
static eg_status reserve_slot(eg_toml *doc)
{
    eg_status status = EG_OK;
    eg_toml larger = *doc;
    if (doc->slots_used < doc->slot_count / 2) return EG_OK;
    larger.slots = NULL;
    larger.slot_count = doc->slot_count ? 2 * doc->slot_count : 64;
    EG_TRY(eg_new(doc->ctx, larger.slot_count, &larger.slots));
    for (size_t i = 0; i < doc->slot_count; i++) {
        eg_toml_node *n = doc->slots[i];
        if (n) larger.slots[find_slot(&larger, n->parent, n->key, n->key_length)] = n;
    }
    eg_release(doc->ctx, &doc->slots);
    doc->slots = larger.slots;
    doc->slot_count = larger.slot_count;
done:
    return status;
}

static eg_status copy(eg_toml *doc, const char *text, size_t length, const char **out)
{
    void *bytes = NULL;
    eg_status status = eg_arena_allocate(&doc->arena, length + 1, &bytes);
    if (status == EG_OK && length) memcpy(bytes, text, length);
    *out = bytes;
    return status;
}

static eg_status new_node(eg_toml *doc, eg_toml_node *parent, eg_place place, eg_toml_node **out)
{
    void *block = NULL;
    eg_status status = eg_arena_allocate(&doc->arena, sizeof **out, &block);
    if (status != EG_OK) return status;
    eg_toml_node *node = block;
    *node = (eg_toml_node){.serial = doc->serial++, .parent = parent};
    node->place = node->key_place = place;
    node->depth = parent ? parent->depth + 1 : 0;
    *out = node;
    return EG_OK;
}

static void append(eg_toml_node *parent, eg_toml_node *node)
{
    if (parent->is.children.last)
        parent->is.children.last->next = node;
    else
        parent->is.children.first = node;
    parent->is.children.last = node;
    parent->is.children.count++;
}

eg_status eg_toml_add_element(eg_toml *doc, eg_toml_node *array, eg_place place, eg_toml_node **out)
{
    eg_status status = new_node(doc, array, place, out);
    if (status == EG_OK) append(array, *out);
    return status;
}

/* Adds a key to a table that lacks it. */
static eg_status add_entry(eg_toml *doc, eg_toml_node *table, const char *key, size_t length,
                           eg_place place, eg_toml_node **out)
{
    eg_status status = EG_OK;
    EG_TRY(reserve_slot(doc));
    EG_TRY(new_node(doc, table, place, out));
    EG_TRY(copy(doc, key, length, &(*out)->key));
    (*out)->key_length = length;
    append(table, *out);
    doc->slots[find_slot(doc, table, key, length)] = *out;
    doc->slots_used++;
done:
    return status;
}

eg_status eg_toml_set_string(eg_toml *doc, eg_toml_node *node, const char *text, size_t length)
{
    const char *bytes = NULL;
    eg_status status = copy(doc, text, length, &bytes);
    if (status != EG_OK) return status;
    node->type = EG_TOML_STRING;
    node->is.string.text = bytes;
    node->is.string.length = length;
    return EG_OK;
}

const eg_toml_node *eg_toml_next(const eg_toml_node *node, bool inside)
{
    bool container = node->type == EG_TOML_TABLE || node->type == EG_TOML_ARRAY;
    if (inside && container && node->is.children.first) return node->is.children.first;
    while (node && !node->next)
        node = node->parent;
    return node ? node->next : NULL;
}

/* --- blanks ----------------------------------------------------------------------------------- */

static void skip_blanks(eg_toml_parser *p)
{
    while (eg_toml_peek(p, 0) == ' ' || eg_toml_peek(p, 0) == '\t')
        p->at++;
}

/* Blanks and a comment, up to the end of the line. */
static void skip_comment(eg_toml_parser *p)
{
    skip_blanks(p);
    if (eg_toml_peek(p, 0) != '#') return;
    while (p->at < p->length && p->text[p->at] != '\n')
        p->at++;
}

/* All that may stand between two values of an array, or two statements. */
static void skip_lines(eg_toml_parser *p)
{
    for (;;) {
        skip_comment(p);
        char c = eg_toml_peek(p, 0);
        if (c != '\n' && c != '\r') return;
        p->at++;
    }
}

static eg_status expect_line_end(eg_toml_parser *p, const char *after)
{
    skip_comment(p);
    char c = eg_toml_peek(p, 0);
    if (c == '\r') p->at++; /* a line feed follows */
    if (p->at == p->length || c == '\n' || c == '\r') return EG_OK;
    return eg_place_fail(p->ctx, eg_toml_here(p), "expected the end of the line behind %s", after);
}

/* --- keys ------------------------------------------------------------------------------------- */

static bool is_bare(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

/* Reads one part of a key into scratch. */
static eg_status read_key(eg_toml_parser *p, eg_place *place)
{
    eg_status status = EG_OK;
    size_t from = p->at;
    uint32_t content;
    char c = eg_toml_peek(p, 0);
    if (c == '"' || c == '\'') {
        EG_TRY(eg_toml_read_string(p, false, &content));
    } else {
        while (is_bare(eg_toml_peek(p, 0)))
            p->at++;
        if (p->at == from)
            return eg_place_fail(p->ctx, eg_toml_here(p),
                                 (unsigned char)c >= 0x80
                                     ? "expected a key; keys of other letters than A to Z stand in "
                                       "quotes"
                                     : "expected a key: letters, digits, \"_\" and \"-\", or any "
                                       "text in quotes");
        eg_text_clear(&p->scratch);
        EG_TRY(eg_text_add(&p->scratch, p->text + from, p->at - from));
    }
    *place = eg_toml_since(p, from);
done:
    return status;
}

static eg_status fail_twice(const eg_toml_parser *p, eg_place place, const eg_toml_node *node,
                            const char *why)
{
    char quote[EG_QUOTE_BYTES];
    size_t line, column;
    eg_place_find(node->key_place, &line, &column);
    return eg_place_fail(p->ctx, place, "\"%s\" %s; the first is in line %zu, column %zu",
                         eg_quote(quote, node->key, node->key_length), why, line, column);
}

/* Why nothing can be added to a node by the ways of headers or dotted keys. */
static const char *closed_because(const eg_toml_node *node)
{
    if (node->type == EG_TOML_TABLE) switch (node->form) {
        case EG_TOML_CLOSED:
            return "is an inline table, to which nothing can be added";
        case EG_TOML_DOTTED:
            return "is a table made by dotted keys, which has no header and can only be extended "
                   "where it was made";
        default:
            return "is a table with a header of its own, under which its keys belong";
        }
    if (node->type == EG_TOML_ARRAY)
        return node->form == EG_TOML_REPEATED ? "is an array of tables, made by [[...]]"
                                              : "is an array, to which nothing can be added";
    return "has a value already and cannot be a table as well";
}

static eg_status check_depth(const eg_toml_parser *p, const eg_toml_node *parent, eg_place place)
{
    if (parent->depth < EG_TOML_DEPTH) return EG_OK;
    return eg_place_fail(p->ctx, place, "arrays and tables are nested too deeply; the limit is %d",
                         EG_TOML_DEPTH);
}

/* Goes from a table to the one of the key in scratch, which is made if it is not there: in a header
 * ([a.b]: from the root to a) or in a dotted key (a.b = 1). */
static eg_status descend(eg_toml_parser *p, eg_toml_node **table, eg_place place, bool header)
{
    eg_status status = EG_OK;
    const char *key = eg_text_string(&p->scratch);
    eg_toml_node *node = eg_toml_find(p->doc, *table, key, p->scratch.length);
    if (!node) {
        EG_TRY(check_depth(p, *table, place));
        EG_TRY(add_entry(p->doc, *table, key, p->scratch.length, place, &node));
        node->type = EG_TOML_TABLE;
        node->form = header ? EG_TOML_IMPLICIT : EG_TOML_DOTTED;
    } else if (header && node->type == EG_TOML_ARRAY && node->form == EG_TOML_REPEATED) {
        node = node->is.children.last;
    } else {
        /* A table made by dotted keys is reached by others only from where it was made. */
        bool open = node->form == EG_TOML_IMPLICIT || node->form == EG_TOML_DOTTED;
        bool closed = node->type != EG_TOML_TABLE || node->form == EG_TOML_CLOSED;
        if (closed || !(header || open)) return fail_twice(p, place, node, closed_because(node));
        if (!header) node->form = EG_TOML_DOTTED;
    }
    *table = node;
done:
    return status;
}

/* Reads a key with its dots and goes down to the table of its last part, which stays in scratch. */
static eg_status read_path(eg_toml_parser *p, eg_toml_node **table, eg_place *place, bool header)
{
    eg_status status = EG_OK;
    for (;;) {
        EG_TRY(read_key(p, place));
        skip_blanks(p);
        if (eg_toml_peek(p, 0) != '.') return EG_OK;
        p->at++;
        skip_blanks(p);
        EG_TRY(descend(p, table, *place, header));
    }
done:
    return status;
}

/* Reads `key =` in a table and adds the key. */
static eg_status read_entry_key(eg_toml_parser *p, eg_toml_node *table, eg_toml_node **out)
{
    eg_status status = EG_OK;
    eg_place place;
    EG_TRY(read_path(p, &table, &place, false));
    const char *key = eg_text_string(&p->scratch);
    const eg_toml_node *there = eg_toml_find(p->doc, table, key, p->scratch.length);
    if (there) {
        bool plain = there->type != EG_TOML_TABLE && there->form == EG_TOML_CLOSED;
        return fail_twice(p, place, there,
                          plain ? "is given twice"
                                : "is given as a key and as a table or array of tables");
    }
    EG_TRY(check_depth(p, table, place));
    EG_TRY(add_entry(p->doc, table, key, p->scratch.length, place, out));
    if (eg_toml_peek(p, 0) != '=') {
        char quote[EG_QUOTE_BYTES];
        return eg_place_fail(p->ctx, eg_toml_here(p), "expected \"=\" behind the key \"%s\"",
                             eg_quote(quote, (*out)->key, (*out)->key_length));
    }
    p->at++;
    skip_blanks(p);
done:
    return status;
}

/* --- values ----------------------------------------------------------------------------------- */

/* A scalar, or the opening bracket of an array or inline table. */
static eg_status begin_value(eg_toml_parser *p, eg_toml_node *node)
{
    char c = eg_toml_peek(p, 0);
    if (c != '[' && c != '{') return eg_toml_read_scalar(p, node);
    node->place = eg_toml_here(p);
    eg_status status = check_depth(p, node, node->place);
    if (status != EG_OK) return status;
    p->at++;
    node->type = c == '[' ? EG_TOML_ARRAY : EG_TOML_TABLE;
    node->form = EG_TOML_CLOSED;
    return EG_OK;
}

static eg_status fail_open(const eg_toml_parser *p, const eg_toml_node *open)
{
    bool array = open->type == EG_TOML_ARRAY;
    if (p->at == p->length)
        return eg_place_fail(p->ctx, open->place, "the %s that begins here is not closed by \"%c\"",
                             array ? "array" : "inline table", array ? ']' : '}');
    char c = eg_toml_peek(p, 0);
    if (!array && (c == '\n' || c == '\r' || c == '#'))
        return eg_place_fail(p->ctx, open->place,
                             "the inline table that begins here does not end on its line; use a "
                             "[table] for several lines");
    return eg_place_fail(p->ctx, eg_toml_here(p), "expected \",\" or \"%c\"", array ? ']' : '}');
}

/* The next element of an open array or inline table, or NULL and behind its closing bracket. */
static eg_status next_element(eg_toml_parser *p, eg_toml_node *open, eg_toml_node **out)
{
    eg_status status = EG_OK;
    bool array = open->type == EG_TOML_ARRAY, opened = open->is.children.count == 0;
    char closer = array ? ']' : '}';
    *out = NULL;
    array ? skip_lines(p) : skip_blanks(p);
    if (!opened && eg_toml_peek(p, 0) != closer) {
        if (eg_toml_peek(p, 0) != ',') return fail_open(p, open);
        p->at++;
        array ? skip_lines(p) : skip_blanks(p);
        if (!array && eg_toml_peek(p, 0) == closer)
            return eg_place_fail(p->ctx, eg_toml_here(p),
                                 "an inline table has no comma behind its last value");
    }
    if (p->at == p->length) return fail_open(p, open);
    if (eg_toml_peek(p, 0) == closer) {
        p->at++;
        open->place = eg_toml_since(p, open->place.at);
    } else if (array) {
        EG_TRY(eg_toml_add_element(p->doc, open, eg_toml_here(p), out));
    } else {
        char c = eg_toml_peek(p, 0);
        if (c == '\n' || c == '\r' || c == '#') return fail_open(p, open);
        EG_TRY(read_entry_key(p, open, out));
    }
done:
    return status;
}

static eg_status read_value(eg_toml_parser *p, eg_toml_node *node)
{
    eg_status status = EG_OK;
    eg_toml_node *open[EG_TOML_DEPTH + 1]; /* innermost last */
    size_t count = 0;
    for (;;) {
        EG_TRY(begin_value(p, node));
        if (node->type == EG_TOML_ARRAY || node->type == EG_TOML_TABLE) {
            assert(count < EG_COUNT(open)); /* each is deeper than the one before */
            open[count++] = node;
        }
        for (node = NULL; count > 0 && !node;) {
            EG_TRY(next_element(p, open[count - 1], &node));
            if (!node) count--;
        }
        if (!node) return EG_OK;
    }
done:
    return status;
}

/* --- statements ------------------------------------------------------------------------------- */

/* The table of [header], whose last key is in scratch. */
static eg_status open_table(eg_toml_parser *p, eg_toml_node *parent, eg_place place,
                            eg_toml_node **out)
{
    eg_status status = EG_OK;
    const char *key = eg_text_string(&p->scratch);
    eg_toml_node *node = eg_toml_find(p->doc, parent, key, p->scratch.length);
    if (!node) {
        EG_TRY(check_depth(p, parent, place));
        EG_TRY(add_entry(p->doc, parent, key, p->scratch.length, place, &node));
        node->type = EG_TOML_TABLE;
    } else if (node->type == EG_TOML_TABLE && node->form == EG_TOML_IMPLICIT) {
        node->key_place = place;
    } else {
        bool twice = node->type == EG_TOML_TABLE && node->form == EG_TOML_HEADER;
        return fail_twice(p, place, node, twice ? "has two headers" : closed_because(node));
    }
    node->form = EG_TOML_HEADER;
    *out = node;
done:
    return status;
}

/* A new table of the array [[header]], whose last key is in scratch. */
static eg_status open_repeated(eg_toml_parser *p, eg_toml_node *parent, eg_place place,
                               eg_toml_node **out)
{
    eg_status status = EG_OK;
    const char *key = eg_text_string(&p->scratch);
    eg_toml_node *node = eg_toml_find(p->doc, parent, key, p->scratch.length);
    if (!node) {
        EG_TRY(check_depth(p, parent, place));
        EG_TRY(add_entry(p->doc, parent, key, p->scratch.length, place, &node));
        node->type = EG_TOML_ARRAY;
        node->form = EG_TOML_REPEATED;
    } else if (node->type != EG_TOML_ARRAY || node->form != EG_TOML_REPEATED) {
        return fail_twice(p, place, node, closed_because(node));
    }
    EG_TRY(check_depth(p, node, place));
    EG_TRY(eg_toml_add_element(p->doc, node, place, out));
    (*out)->type = EG_TOML_TABLE;
    (*out)->form = EG_TOML_HEADER;
done:
    return status;
}

/* [a.b] or [[a.b]]. */
static eg_status read_header(eg_toml_parser *p)
{
    eg_status status = EG_OK;
    size_t from = p->at;
    bool repeated = eg_toml_peek(p, 1) == '[';
    eg_toml_node *table = p->doc->root;
    eg_place place;
    p->at += repeated ? 2 : 1;
    skip_blanks(p);
    EG_TRY(read_path(p, &table, &place, true));
    if (eg_toml_peek(p, 0) != ']' || (repeated && eg_toml_peek(p, 1) != ']'))
        return eg_place_fail(p->ctx, eg_toml_here(p), "expected \"%s\" at the end of the header",
                             repeated ? "]]" : "]");
    p->at += repeated ? 2 : 1;
    EG_TRY(repeated ? open_repeated(p, table, place, &p->table)
                    : open_table(p, table, place, &p->table));
    p->table->place = eg_toml_since(p, from);
    EG_TRY(expect_line_end(p, "the header"));
done:
    return status;
}

static eg_status read_document(eg_toml_parser *p)
{
    eg_status status = EG_OK;
    eg_toml_node *node;
    for (skip_lines(p); p->at < p->length; skip_lines(p)) {
        if (eg_toml_peek(p, 0) == '[') {
            EG_TRY(read_header(p));
        } else {
            EG_TRY(read_entry_key(p, p->table, &node));
            EG_TRY(read_value(p, node));
            EG_TRY(expect_line_end(p, "the value"));
        }
    }
done:
    return status;
}

/* --- doors ------------------------------------------------------------------------------------ */

static eg_status open_document(eg_context *ctx, const eg_source *source, eg_toml_parser *p,
                               eg_toml **out)
{
    eg_status status = EG_OK;
    eg_toml *doc = NULL;
    if (source->length > EG_TOML_BYTES)
        return eg_fail(ctx, EG_ERROR_INPUT,
                       "%s has %zu bytes, but a case file at most %zu; is it a file of another "
                       "kind?",
                       source->name ? source->name : "an argument", source->length, EG_TOML_BYTES);
    EG_TRY(eg_toml_check_text(ctx, source));
    EG_TRY(eg_new(ctx, 1, &doc));
    *doc = (eg_toml){.ctx = ctx, .source = source, .arena = eg_arena_new(ctx)};
    EG_TRY(new_node(doc, NULL, (eg_place){source, 0, 0}, &doc->root));
    doc->root->type = EG_TOML_TABLE;
    doc->root->form = EG_TOML_HEADER;
    *p = (eg_toml_parser){.ctx = ctx,
                          .doc = doc,
                          .source = source,
                          .text = source->text,
                          .length = source->length,
                          .scratch = eg_text_new(ctx),
                          .table = doc->root};
    *out = doc;
    doc = NULL;
done:
    eg_toml_destroy(&doc);
    return status;
}

void eg_toml_destroy(eg_toml **handle)
{
    eg_toml *doc = *handle;
    if (!doc) return;
    eg_arena_free(&doc->arena);
    eg_release(doc->ctx, &doc->slots);
    eg_release(doc->ctx, handle);
}

eg_status eg_toml_create(eg_context *ctx, const eg_source *source, eg_toml **out)
{
    eg_toml_parser p;
    *out = NULL;
    eg_status status = open_document(ctx, source, &p, out);
    if (status != EG_OK) return status;
    status = read_document(&p);
    eg_text_free(&p.scratch);
    if (status != EG_OK) eg_toml_destroy(out);
    return status;
}

/* A value and nothing behind it. */
static eg_status read_last_value(eg_toml_parser *p, eg_toml_node *node)
{
    eg_status status = EG_OK;
    EG_TRY(read_value(p, node));
    skip_lines(p);
    if (p->at < p->length)
        status = eg_place_fail(p->ctx, eg_toml_here(p), "expected nothing behind the value");
done:
    return status;
}

eg_status eg_toml_create_assignment(eg_context *ctx, const eg_source *source, eg_toml **out,
                                    eg_toml_node **leaf, eg_status *value_error)
{
    eg_toml_parser p;
    *out = NULL;
    *leaf = NULL;
    *value_error = EG_OK;
    eg_status status = open_document(ctx, source, &p, out);
    if (status != EG_OK) return status;
    skip_blanks(&p);
    EG_TRY(read_entry_key(&p, p.table, leaf));
    size_t from = p.at;
    *value_error = read_last_value(&p, *leaf);
    if (*value_error != EG_OK && *value_error != EG_ERROR_INPUT) EG_TRY(*value_error);
    if (*value_error != EG_OK) {
        p.at = p.length;
        (*leaf)->type = EG_TOML_NONE;
        (*leaf)->place = eg_toml_since(&p, from);
    }
done:
    eg_text_free(&p.scratch);
    if (status != EG_OK) eg_toml_destroy(out);
    return status;
}
