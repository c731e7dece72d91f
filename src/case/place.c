/* Messages that show a place: name, line and column, then the line itself with a caret under it.
 *
 *     flow.toml:7:1: error: unknown key "degre" in [space]; did you mean "degree"?
 *       7 | degre = 4
 *         | ^~~~~
 *
 * The caret stands right on a terminal whatever the line holds: tabs become blanks, control
 * characters and broken bytes U+FFFD, and wide characters count twice. Long lines are cut around
 * the place. */
#include "case/place.h"

#include <stdio.h>
#include <string.h>

#define WIDTH_MOST 76  /* columns of a quoted line */
#define BYTES_MOST 640 /* of it: combining characters take no column */
#define QUOTE_MOST 60  /* characters of a quoted name */
#define DETAIL_MOST 4096

static const char replacement[] = "\xef\xbf\xbd", ellipsis[] = "\xe2\x80\xa6";

size_t eg_utf8_length(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    if (s[0] > 0xf4 || length > left) return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    bool outside = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                   (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return outside ? 0 : length;
}

eg_source eg_source_new(const char *name, const char *text, size_t length)
{
    size_t mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    return (eg_source){name, text + mark, length - mark};
}

/* One character as it is printed. */
typedef struct glyph {
    const char *bytes;
    size_t length;
    size_t taken; /* bytes of the text it stands for */
    int columns;  /* on a terminal: 0 if it combines with the one before, 2 if it is wide */
} glyph;

/* Characters that do not take one column [uax11], in coarse blocks. */
static const struct {
    uint32_t first, last;
    int columns;
} widths[] = {
    {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0},   {0x20d0, 0x20ff, 0},
    {0x2e80, 0x303e, 2},   {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2},
    {0xfe00, 0xfe0f, 0},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2},
    {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2}, {0x1f900, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
};

static uint32_t decode(const char *text, size_t length)
{
    const unsigned char *s = (const unsigned char *)text;
    uint32_t code = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (s[i] & 0x3f);
    return code;
}

static glyph next_glyph(const char *text, size_t left)
{
    size_t length = eg_utf8_length(text, left);
    if (length == 0) return (glyph){replacement, 3, 1, 1};
    uint32_t code = decode(text, length);
    if (code == '\t') return (glyph){" ", 1, 1, 1};
    /* Controls, and marks that would turn the direction of the text around. */
    if (code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x202a && code <= 0x202e) ||
        (code >= 0x2066 && code <= 0x2069))
        return (glyph){replacement, 3, length, 1};
    int columns = 1;
    for (size_t i = 0; i < EG_COUNT(widths); i++)
        if (code >= widths[i].first && code <= widths[i].last) columns = widths[i].columns;
    return (glyph){text, length, length, columns};
}

const char *eg_quote(char out[EG_QUOTE_BYTES], const char *text, size_t length)
{
    size_t used = 0, i = 0;
    for (int count = 0; i < length && count < QUOTE_MOST; count++) {
        glyph g = next_glyph(text + i, length - i);
        if (used + g.length + sizeof ellipsis > EG_QUOTE_BYTES) break;
        memcpy(out + used, g.bytes, g.length);
        used += g.length;
        i += g.taken;
    }
    memcpy(out + used, i < length ? ellipsis : "", i < length ? sizeof ellipsis : 1);
    return out;
}

/* The first byte of the line that holds `at`. */
static size_t line_start(const eg_source *source, size_t at)
{
    while (at > 0 && source->text[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const eg_source *source, size_t at)
{
    while (at < source->length && source->text[at] != '\n')
        at++;
    if (at > 0 && at < source->length && source->text[at - 1] == '\r') at--;
    return at;
}

void eg_place_find(eg_place place, size_t *line, size_t *column)
{
    const eg_source *s = place.source;
    size_t start = line_start(s, place.at);
    *line = *column = 1;
    for (size_t i = 0; i < start; i++)
        *line += s->text[i] == '\n';
    for (size_t i = start; i < place.at; i += next_glyph(s->text + i, place.at - i).taken)
        (*column)++;
}

/* Text of a fixed size; what does not fit is left out. */
typedef struct page {
    char text[1024];
    size_t used;
} page;

static void put(page *p, const char *bytes, size_t length)
{
    if (length >= sizeof p->text - p->used) return;
    memcpy(p->text + p->used, bytes, length);
    p->used += length;
    p->text[p->used] = '\0';
}

static void repeat(page *p, char c, int count)
{
    for (int i = 0; i < count; i++)
        put(p, &c, 1);
}

/* Columns that text[from, to) takes on a terminal. */
static int columns_of(const eg_source *s, size_t from, size_t to)
{
    int columns = 0;
    while (from < to) {
        glyph g = next_glyph(s->text + from, to - from);
        columns += g.columns;
        from += g.taken;
    }
    return columns;
}

/* Adds the line of the place behind `gutter`, and the caret below it. */
static void show_line(page *p, eg_place place, const char *gutter)
{
    const eg_source *s = place.source;
    size_t start = line_start(s, place.at), end = line_end(s, place.at);
    if (end < place.at) end = place.at; /* between the bytes of a line end */
    int before = columns_of(s, start, place.at), total = before + columns_of(s, place.at, end);
    size_t stop = place.length < end - place.at ? place.at + place.length : end;
    int marked = columns_of(s, place.at, stop);

    /* A long line is shown from the column `first` on. */
    int first = before - WIDTH_MOST / 2, blanks = (int)strlen(gutter);
    if (first > total - WIDTH_MOST) first = total - WIDTH_MOST;
    if (first < 0) first = 0;
    put(p, "\n  ", 3);
    put(p, gutter, strlen(gutter));
    put(p, " | ", 3);
    int column = 0, caret = before - first;
    if (first > 0) {
        put(p, ellipsis, 3);
        caret++;
    }
    bool cut = false;
    for (size_t i = start; i < end && !cut;) {
        glyph g = next_glyph(s->text + i, end - i);
        cut = column + g.columns > first + WIDTH_MOST || p->used > BYTES_MOST;
        if (column >= first && !cut)
            put(p, g.bytes, g.length);
        else if (column < first && column + g.columns > first)
            put(p, " ", 1); /* the right half of a wide character */
        column += g.columns;
        i += g.taken;
    }
    if (cut) put(p, ellipsis, 3);
    put(p, "\n  ", 3);
    repeat(p, ' ', blanks);
    put(p, " | ", 3);
    repeat(p, ' ', caret);
    put(p, "^", 1);
    int room = first + WIDTH_MOST - before;
    repeat(p, '~', (marked < room ? marked : room) - 1);
}

eg_status eg_place_vfail(eg_context *ctx, eg_place place, const char *format, va_list arguments)
{
    char detail[DETAIL_MOST], quote[EG_QUOTE_BYTES], where[EG_QUOTE_BYTES + 64], gutter[32];
    const eg_source *s = place.source;
    page p = {.used = 0};
    size_t line, column;
    eg_place_find(place, &line, &column);
    vsnprintf(detail, sizeof detail, format, arguments);
    if (s->name) {
        snprintf(gutter, sizeof gutter, "%zu", line);
        snprintf(where, sizeof where, "%zu:%zu", line, column);
    } else {
        snprintf(gutter, sizeof gutter, "command line");
        snprintf(where, sizeof where, "%s", eg_quote(quote, s->text, s->length));
    }
    show_line(&p, place, gutter);
    return eg_fail(ctx, EG_ERROR_INPUT, "%s%s%s: error: %s%s", s->name ? s->name : "",
                   s->name ? ":" : "", where, detail, p.text);
}

/* In brackets: the analyzer's macro of this name must not replace it here. */
eg_status(eg_place_fail)(eg_context *ctx, eg_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    eg_status status = eg_place_vfail(ctx, place, format, arguments);
    va_end(arguments);
    return status;
}
