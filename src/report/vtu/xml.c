/* Reads the XML of VTK's files: strict, without recursion, in linear time and memory.
 *
 * Declarations and comments are skipped. There are no document types, CDATA or entities but the five
 * of XML and characters by their numbers. A node's text is the one run of text within it that is not
 * blank. Bytes behind <AppendedData …>_ are not XML: they end where the file does, so they are
 * bounded by looking for </AppendedData></VTKFile> from its end. */
#include "report/vtu/xml.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "case/place.h"

#define DETAIL_MOST 768
#define ATTRIBUTES_MOST 64 /* of an element */

/* --- messages -------------------------------------------------------------------------------- */

static eg_status vfail(const eg_xml *xml, size_t line, const char *format, va_list arguments)
{
    char detail[DETAIL_MOST];
    vsnprintf(detail, sizeof detail, format, arguments);
    return eg_fail(xml->ctx, EG_ERROR_INPUT, "%s:%zu: error: %s", xml->file, line, detail);
}

/* In brackets: the analyzer's macro of this name must not replace it here. */
eg_status(eg_xml_fail)(const eg_xml *xml, int node, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    eg_status status = vfail(xml, xml->nodes[node].line, format, arguments);
    va_end(arguments);
    return status;
}

/* The line of a place that is not before the last one that was asked for. */
static size_t line_at(eg_xml *xml, const char *at)
{
    for (; xml->counted < at; xml->counted++)
        xml->line += *xml->counted == '\n';
    return xml->line;
}

EG_PRINTF(3, 4)
static eg_status fail_at(eg_xml *xml, const char *at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    eg_status status = vfail(xml, line_at(xml, at), format, arguments);
    va_end(arguments);
    return status;
}

#ifdef __clang_analyzer__ /* which cannot see what it returns */
#define fail_at(xml, at, ...) ((void)(fail_at)((xml), (at), __VA_ARGS__), EG_ERROR_INPUT)
#endif

/* --- texts ----------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_name(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && ((c >= '0' && c <= '9') || c == '.' || c == ':' || c == '-'));
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static bool starts_with(const char *at, const char *end, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(end - at) >= length && memcmp(at, text, length) == 0;
}

/* Where `text` is found at or behind `at`; NULL: nowhere. */
static const char *find(const char *at, const char *end, const char *text)
{
    for (; at && at < end; at++) {
        at = memchr(at, text[0], (size_t)(end - at));
        if (!at || starts_with(at, end, text)) return at;
    }
    return NULL;
}

/* Writes a character as UTF-8 and returns behind it; NULL if there is no such character. */
static char *put_character(unsigned long c, char *out)
{
    if (c < 0x20 || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff) return NULL;
    if (c < 0x80) {
        *out++ = (char)c;
        return out;
    }
    const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char lead[] = {0, 0xc0, 0xe0, 0xf0};
    *out++ = (char)(lead[more] | c >> (6 * more));
    for (int i = more - 1; i >= 0; i--)
        *out++ = (char)(0x80 | (c >> (6 * i) & 0x3f));
    return out;
}

/* Replaces the entity from `at`, "&", to `stop`, ";". Its text is never longer than itself. */
static char *put_entity(const char *at, const char *stop, char *out)
{
    static const struct {
        const char *name;
        char means;
    } entities[] = {{"&lt", '<'}, {"&gt", '>'}, {"&amp", '&'}, {"&quot", '"'}, {"&apos", '\''}};
    const size_t length = (size_t)(stop - at);
    for (size_t i = 0; i < EG_COUNT(entities); i++)
        if (strlen(entities[i].name) == length && memcmp(at, entities[i].name, length) == 0) {
            *out = entities[i].means;
            return out + 1;
        }
    const bool hexadecimal = starts_with(at, stop, "&#x");
    const char *digits = at + (hexadecimal ? 3 : 2);
    if (!starts_with(at, stop, "&#") || digits >= stop || stop - digits > 7) return NULL;
    unsigned long c = 0;
    for (; digits < stop; digits++) {
        const char *all = "0123456789abcdefABCDEF", *digit = strchr(all, *digits);
        if (!*digits || !digit || (!hexadecimal && digit - all > 9)) return NULL;
        const long value = digit - all > 15 ? digit - all - 6 : digit - all;
        c = c * (hexadecimal ? 16 : 10) + (unsigned long)value;
    }
    return put_character(c, out);
}

/* Copies [from, to) without its entities; line ends become blanks. */
static eg_status decode(eg_xml *xml, const char *from, const char *to, const char **out)
{
    eg_status status = EG_OK;
    char *copy = NULL, *put;
    EG_TRY(eg_arena_allocate(&xml->arena, (size_t)(to - from) + 1, (void **)&copy));
    put = copy;
    for (const char *at = from; at < to;) {
        const size_t length = eg_utf8_length(at, (size_t)(to - at));
        if (*at == '&') {
            const char *stop = memchr(at, ';', (size_t)(to - at));
            put = stop ? put_entity(at, stop, put) : NULL;
            if (!put) return fail_at(xml, at, "\"&\" begins no entity that XML has; write &amp;");
            at = stop + 1;
        } else if (length == 0 || (!is_blank(*at) && (unsigned char)*at < 0x20)) {
            return fail_at(xml, at, "a byte 0x%02x that is no text", (unsigned char)*at);
        } else {
            memcpy(put, at, length);
            if (is_blank(*at)) *put = ' ';
            put += length;
            at += length;
        }
    }
    *out = copy;
done:
    return status;
}

/* --- parsing --------------------------------------------------------------------------------- */

/* Makes room for one more entry of a list. */
static eg_status grow(eg_xml *xml, int count, int *capacity, size_t size, void **list)
{
    if (count < *capacity) return EG_OK;
    if (count > INT_MAX / 2)
        return eg_fail(xml->ctx, EG_ERROR_MEMORY, "%s is too large", xml->file);
    const int more = count < 16 ? 16 : 2 * count;
    eg_status status = eg_reallocate(xml->ctx, (size_t)more * size, list);
    if (status == EG_OK) *capacity = more;
    return status;
}

/* Reads a name at *at into the arena. */
static eg_status take_name(eg_xml *xml, const char **at, const char *what, const char **out)
{
    const char *from = *at, *to = from;
    while (to < xml->end && is_name(*to, to == from))
        to++;
    if (to == from) return fail_at(xml, from, "%s has no name", what);
    *at = to;
    return decode(xml, from, to, out);
}

/* Reads name="value" at *at. */
static eg_status take_attribute(eg_xml *xml, const char **at)
{
    eg_status status = EG_OK;
    eg_xml_attribute attribute = {0};
    eg_xml_node *node = &xml->nodes[xml->node_count - 1];
    EG_TRY(take_name(xml, at, "an attribute", &attribute.name));
    const char *from = skip_blanks(*at, xml->end);
    if (from < xml->end && *from == '=') from = skip_blanks(from + 1, xml->end);
    if (from == xml->end || (*from != '"' && *from != '\''))
        return fail_at(xml, from, "the attribute %.60s has no value in quotes", attribute.name);
    const char *to = memchr(from + 1, *from, (size_t)(xml->end - from - 1));
    if (!to || memchr(from, '<', (size_t)(to - from)))
        return fail_at(xml, from, "the value of the attribute %.60s does not end", attribute.name);
    if (eg_xml_get(xml, xml->node_count - 1, attribute.name))
        return fail_at(xml, from, "two attributes %.60s", attribute.name);
    if (node->attribute_count == ATTRIBUTES_MOST)
        return fail_at(xml, from, "more than %d attributes", ATTRIBUTES_MOST);
    EG_TRY(decode(xml, from + 1, to, &attribute.value));
    EG_TRY(grow(xml, xml->attribute_count, &xml->attribute_capacity, sizeof attribute,
                (void **)&xml->attributes));
    xml->attributes[xml->attribute_count++] = attribute;
    node->attribute_count++;
    *at = to + 1;
done:
    return status;
}

/* The bytes behind <AppendedData …>, up to the end of the file. */
static eg_status take_appended(eg_xml *xml, const char *at, int node)
{
    static const char *const tail[] = {"</VTKFile>", "</AppendedData>"};
    const char *end = xml->end;
    if (xml->nodes[node].parent != 0)
        return eg_xml_fail(xml, node, "<AppendedData> is not directly within <VTKFile>");
    at = skip_blanks(at, end);
    if (at == end || *at != '_')
        return eg_xml_fail(xml, node, "the bytes of <AppendedData> do not begin with \"_\"");
    at++;
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(tail[i]);
        while (end > at && is_blank(end[-1]))
            end--;
        if ((size_t)(end - at) < length || memcmp(end - length, tail[i], length) != 0)
            return eg_xml_fail(xml, node,
                               "the file does not end with </AppendedData></VTKFile>: it has been "
                               "cut off");
        end -= length;
    }
    xml->appended = at;
    xml->appended_end = end;
    xml->nodes[node].end = xml->nodes[0].end = xml->node_count;
    return EG_OK;
}

/* Reads the tag at *at, "<name …", and makes a node. *open says whether it needs an end. */
static eg_status take_node(eg_xml *xml, int parent, const char **at, bool *open)
{
    eg_status status = EG_OK;
    const char *p = *at + 1;
    eg_xml_node node = {
        .parent = parent, .line = line_at(xml, *at), .first_attribute = xml->attribute_count};
    EG_TRY(take_name(xml, &p, "an element", &node.name));
    if (parent < 0 && strcmp(node.name, "VTKFile") != 0)
        return fail_at(xml, *at,
                       "the file begins with <%.60s>, not with <VTKFile>: it is none of "
                       "VTK's",
                       node.name);
    EG_TRY(grow(xml, xml->node_count, &xml->node_capacity, sizeof node, (void **)&xml->nodes));
    xml->nodes[xml->node_count++] = node;
    for (;;) {
        const char *behind = skip_blanks(p, xml->end);
        *open = starts_with(behind, xml->end, ">");
        if (*open || starts_with(behind, xml->end, "/>")) {
            *at = behind + (*open ? 1 : 2);
            xml->nodes[xml->node_count - 1].end = xml->node_count;
            return EG_OK;
        }
        if (behind == p || behind == xml->end)
            return fail_at(xml, p, "the tag <%.60s> does not end", node.name);
        p = behind;
        EG_TRY(take_attribute(xml, &p));
    }
done:
    return status;
}

/* Reads the end of `node` at *at, "</name>". */
static eg_status take_end(eg_xml *xml, int node, const char **at)
{
    const size_t length = strlen(xml->nodes[node].name);
    const char *p = *at + 2;
    if (!starts_with(p, xml->end, xml->nodes[node].name))
        return fail_at(xml, *at, "<%.60s> of line %zu does not end here", xml->nodes[node].name,
                       xml->nodes[node].line);
    p = skip_blanks(p + length, xml->end);
    if (p == xml->end || *p != '>') return fail_at(xml, *at, "a tag that does not end");
    xml->nodes[node].end = xml->node_count;
    *at = p + 1;
    return EG_OK;
}

/* Text at *at, up to the next tag. */
static eg_status take_text(eg_xml *xml, int node, const char **at)
{
    const char *from = skip_blanks(*at, xml->end);
    const char *to = memchr(*at, '<', (size_t)(xml->end - *at));
    if (!to) to = xml->end;
    *at = to;
    if (from >= to) return EG_OK;
    if (node < 0) return fail_at(xml, from, "text outside of <VTKFile>: the file is none of VTK's");
    if (xml->nodes[node].text)
        return fail_at(xml, from, "a second text within <%.60s>", xml->nodes[node].name);
    while (is_blank(to[-1]))
        to--;
    xml->nodes[node].text = from;
    xml->nodes[node].length = (size_t)(to - from);
    return EG_OK;
}

/* Skips a comment or a declaration at *at. */
static eg_status skip_remark(eg_xml *xml, const char **at)
{
    const bool comment = starts_with(*at, xml->end, "<!--");
    if (!comment && !starts_with(*at, xml->end, "<?"))
        return fail_at(xml, *at, "\"<!\" begins a comment or nothing that is read here");
    const char *stop = find(*at + (comment ? 4 : 2), xml->end, comment ? "-->" : "?>");
    if (!stop) return fail_at(xml, *at, "a %s that does not end", comment ? "comment" : "\"<?\"");
    *at = stop + (comment ? 3 : 2);
    return EG_OK;
}

static eg_status parse(eg_xml *xml)
{
    eg_status status = EG_OK;
    const char *at = xml->data;
    int node = -1; /* the innermost that is open */
    if (starts_with(at, xml->end, "\xef\xbb\xbf")) at += 3;
    while (at < xml->end) {
        if (*at != '<') {
            EG_TRY(take_text(xml, node, &at));
        } else if (starts_with(at, xml->end, "<?") || starts_with(at, xml->end, "<!")) {
            EG_TRY(skip_remark(xml, &at));
        } else if (starts_with(at, xml->end, "</")) {
            if (node < 0) return fail_at(xml, at, "the end of an element that did not begin");
            EG_TRY(take_end(xml, node, &at));
            node = xml->nodes[node].parent;
        } else {
            bool open = false;
            if (node < 0 && xml->node_count > 0)
                return fail_at(xml, at, "an element behind the end of <VTKFile>");
            EG_TRY(take_node(xml, node, &at, &open));
            const int made = xml->node_count - 1;
            if (open && strcmp(xml->nodes[made].name, "AppendedData") == 0)
                return take_appended(xml, at, made);
            if (open) node = made;
        }
    }
    if (node >= 0)
        return fail_at(xml, at, "the file ends within <%.60s> of line %zu", xml->nodes[node].name,
                       xml->nodes[node].line);
    if (xml->node_count == 0) return fail_at(xml, at, "there is no <VTKFile>: it is none of VTK's");
done:
    return status;
}

eg_status eg_xml_parse(eg_context *ctx, const char *file, const char *data, size_t length,
                       eg_xml *out)
{
    *out = (eg_xml){.ctx = ctx,
                    .file = file,
                    .data = data,
                    .end = data + length,
                    .arena = eg_arena_new(ctx),
                    .counted = data,
                    .line = 1};
    return parse(out);
}

void eg_xml_free(eg_xml *xml)
{
    if (!xml->ctx) return;
    eg_release(xml->ctx, &xml->nodes);
    eg_release(xml->ctx, &xml->attributes);
    eg_arena_free(&xml->arena);
    xml->node_count = xml->attribute_count = 0;
}

/* --- questions ------------------------------------------------------------------------------- */

int eg_xml_child(const eg_xml *xml, int parent, int after, const char *name)
{
    int i = after < 0 ? parent + 1 : xml->nodes[after].end;
    for (; i < xml->nodes[parent].end; i = xml->nodes[i].end)
        if (strcmp(xml->nodes[i].name, name) == 0) return i;
    return -1;
}

const char *eg_xml_get(const eg_xml *xml, int node, const char *attribute)
{
    const int first = xml->nodes[node].first_attribute;
    for (int i = first; i < first + xml->nodes[node].attribute_count; i++)
        if (strcmp(xml->attributes[i].name, attribute) == 0) return xml->attributes[i].value;
    return NULL;
}

eg_status eg_xml_need(const eg_xml *xml, int node, const char *attribute, const char **out)
{
    *out = eg_xml_get(xml, node, attribute);
    if (*out) return EG_OK;
    return eg_xml_fail(xml, node, "<%.60s> has no attribute %s", xml->nodes[node].name, attribute);
}

eg_status eg_xml_count(const eg_xml *xml, int node, const char *attribute, const int64_t *fallback,
                       int64_t *out)
{
    const char *text = eg_xml_get(xml, node, attribute);
    char quote[EG_QUOTE_BYTES];
    int64_t value = 0;
    if (!text && fallback) {
        *out = *fallback;
        return EG_OK;
    }
    eg_status status = eg_xml_need(xml, node, attribute, &text);
    if (status != EG_OK) return status;
    for (const char *c = text; *c || c == text; c++) {
        if (*c < '0' || *c > '9' || value > (INT64_MAX - 9) / 10)
            return eg_xml_fail(xml, node, "%s=\"%s\" is no whole number from 0 on", attribute,
                               eg_quote(quote, text, strlen(text)));
        value = 10 * value + (*c - '0');
    }
    *out = value;
    return EG_OK;
}

eg_status eg_xml_text(eg_xml *xml, int node, const char **out)
{
    const eg_xml_node *n = &xml->nodes[node];
    if (!n->text) {
        *out = "";
        return EG_OK;
    }
    xml->counted = xml->data; /* the text is before what was read last */
    xml->line = 1;
    return decode(xml, n->text, n->text + n->length, out);
}

eg_status eg_xml_beside(eg_context *ctx, const char *file, const char *path, char **out)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    const char *slash = strrchr(file, '/');
    *out = NULL;
    if (path[0] != '/' && slash) EG_TRY(eg_text_add(&text, file, (size_t)(slash - file) + 1));
    EG_TRY(eg_text_puts(&text, path));
    EG_TRY(eg_copy_string(ctx, eg_text_string(&text), out));
done:
    eg_text_free(&text);
    return status;
}

/* --- writing --------------------------------------------------------------------------------- */

eg_status eg_xml_put(eg_text *out, const char *text)
{
    eg_status status = EG_OK;
    for (const char *c = text; *c; c++) {
        if (*c == '<')
            EG_TRY(eg_text_puts(out, "&lt;"));
        else if (*c == '>')
            EG_TRY(eg_text_puts(out, "&gt;"));
        else if (*c == '&')
            EG_TRY(eg_text_puts(out, "&amp;"));
        else if (*c == '"')
            EG_TRY(eg_text_puts(out, "&quot;"));
        else
            EG_TRY(eg_text_add(out, c, 1));
    }
done:
    return status;
}

eg_status eg_xml_put_number(eg_text *out, double value)
{
    char number[40];
    if (!isfinite(value))
        return eg_text_puts(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value) break;
    }
    for (char *c = number; *c; c++)
        if (!strchr("+-0123456789e", *c)) *c = '.';
    return eg_text_puts(out, number);
}
