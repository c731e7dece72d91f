/* The scalars of TOML: strings of four kinds with their escapes, integers in four bases, floats,
 * booleans; and what the bytes of a text must be at all. */
#include "case/toml_parse.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

eg_place eg_toml_here(const eg_toml_parser *p)
{
    size_t left = p->length - p->at;
    bool ends = left == 0 || p->text[p->at] == '\n' || p->text[p->at] == '\r';
    size_t length = ends ? 0 : eg_utf8_length(p->text + p->at, left);
    return (eg_place){p->source, (uint32_t)p->at, (uint32_t)length};
}

eg_status eg_toml_check_text(eg_context *ctx, const eg_source *source)
{
    const char *text = source->text;
    size_t length = source->length;
    for (size_t i = 0; i < length;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = eg_utf8_length(text + i, length - i);
        eg_place place = {source, (uint32_t)i, 1};
        if (n == 0)
            return eg_place_fail(ctx, place, "the byte 0x%02x is not UTF-8; save the file as UTF-8",
                                 c);
        if (c == '\r' && (i + 1 == length || text[i + 1] != '\n'))
            return eg_place_fail(ctx, place,
                                 "a carriage return without a line feed; lines end in LF or CR LF");
        if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f)
            return eg_place_fail(ctx, place,
                                 "the control character U+%04X cannot stand here; in a string in "
                                 "double quotes write \\u%04X",
                                 c, c);
        i += n;
    }
    return EG_OK;
}

/* --- strings ---------------------------------------------------------------------------------- */

static eg_status add(eg_toml_parser *p, const char *bytes, size_t length)
{
    return eg_text_add(&p->scratch, bytes, length);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static eg_status add_code_point(eg_toml_parser *p, uint32_t code)
{
    char bytes[4];
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = n; i-- > 1; code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(lead[n] | code);
    return add(p, bytes, n);
}

/* \uXXXX or \UXXXXXXXX at `at`. */
static eg_status read_code_point(eg_toml_parser *p)
{
    size_t from = p->at, digits = eg_toml_peek(p, 1) == 'u' ? 4 : 8;
    uint32_t code = 0;
    p->at += 2;
    for (size_t i = 0; i < digits; i++, p->at++) {
        int digit = hex_digit(eg_toml_peek(p, 0));
        if (digit < 0)
            return eg_place_fail(p->ctx, eg_toml_since(p, from),
                                 "\\%c needs %zu hexadecimal digits", p->text[from + 1], digits);
        code = code << 4 | (uint32_t)digit;
    }
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return eg_place_fail(p->ctx, eg_toml_since(p, from), "U+%04X is no character",
                             (unsigned)code);
    return add_code_point(p, code);
}

/* The length of the line end at `at` + ahead: 0 if there is none. */
static size_t line_end(const eg_toml_parser *p, size_t ahead)
{
    return eg_toml_peek(p, ahead) == '\n' ? 1 : eg_toml_peek(p, ahead) == '\r' ? 2 : 0;
}

/* A backslash at the end of a line: skips it with all blanks and line ends behind it. */
static bool skip_line_continuation(eg_toml_parser *p)
{
    size_t ahead = 1;
    while (eg_toml_peek(p, ahead) == ' ' || eg_toml_peek(p, ahead) == '\t')
        ahead++;
    if (!line_end(p, ahead)) return false;
    p->at += ahead;
    while (p->at < p->length && strchr(" \t\r\n", p->text[p->at]))
        p->at++;
    return true;
}

static eg_status read_escape(eg_toml_parser *p, bool multiline)
{
    static const char escapes[] = "btnfr\"\\", values[] = "\b\t\n\f\r\"\\";
    char c = eg_toml_peek(p, 1);
    if (c == 'u' || c == 'U') return read_code_point(p);
    if (multiline && skip_line_continuation(p)) return EG_OK;
    const char *known = c ? strchr(escapes, c) : NULL;
    if (known) {
        p->at += 2;
        return add(p, &values[known - escapes], 1);
    }
    eg_place place = eg_toml_since(p, p->at);
    place.length = 2;
    return eg_place_fail(p->ctx, place,
                         "unknown escape in a string; known are \\b \\t \\n \\f \\r \\\" \\\\ "
                         "\\uXXXX \\UXXXXXXXX, and in '...' nothing is escaped");
}

static bool begins(const eg_toml_parser *p, const char *word)
{
    size_t n = strlen(word);
    return p->length - p->at >= n && memcmp(p->text + p->at, word, n) == 0;
}

/* The text behind the opening quotes, up to and with the closing ones. */
static eg_status read_multiline(eg_toml_parser *p, char quote, size_t from)
{
    eg_status status = EG_OK;
    const char *closer = quote == '"' ? "\"\"\"" : "'''";
    for (;;) {
        if (p->at == p->length) {
            p->at = from + 3;
            return eg_place_fail(p->ctx, eg_toml_since(p, from),
                                 "the string that begins here is not closed by %s", closer);
        }
        if (begins(p, closer)) {
            p->at += 3;
            /* One or two more quotes belong to the text. */
            for (int more = 0; more < 2 && eg_toml_peek(p, 0) == quote; more++, p->at++)
                EG_TRY(add(p, &quote, 1));
            return EG_OK;
        }
        char c = p->text[p->at];
        if (c == '\\' && quote == '"') {
            EG_TRY(read_escape(p, true));
            continue;
        }
        p->at++;
        if (c != '\r') EG_TRY(add(p, &c, 1)); /* line ends are LF */
    }
done:
    return status;
}

static eg_status read_line(eg_toml_parser *p, char quote, size_t from)
{
    eg_status status = EG_OK;
    for (;;) {
        if (p->at == p->length || line_end(p, 0))
            return eg_place_fail(p->ctx, eg_toml_since(p, from),
                                 "the string that begins here is not closed by %c on its line",
                                 quote);
        char c = p->text[p->at];
        if (c == '\\' && quote == '"') {
            EG_TRY(read_escape(p, false));
            continue;
        }
        p->at++;
        if (c == quote) return EG_OK;
        EG_TRY(add(p, &c, 1));
    }
done:
    return status;
}

eg_status eg_toml_read_string(eg_toml_parser *p, bool multiline, uint32_t *content)
{
    char quote = eg_toml_peek(p, 0);
    size_t from = p->at;
    bool triple = eg_toml_peek(p, 1) == quote && eg_toml_peek(p, 2) == quote;
    eg_text_clear(&p->scratch);
    if (triple && !multiline) {
        p->at += 3;
        return eg_place_fail(p->ctx, eg_toml_since(p, from),
                             "a key cannot be a string of several lines");
    }
    p->at += triple ? 3 : 1;
    if (triple) p->at += line_end(p, 0);
    *content = (uint32_t)p->at;
    return triple ? read_multiline(p, quote, from) : read_line(p, quote, from);
}

/* --- numbers and words ------------------------------------------------------------------------ */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What a scalar without quotes can be made of; ":" only in times. */
static bool is_word(char c)
{
    return is_digit(c) || is_letter(c) || (c && strchr("+-_.:", c));
}

/* A piece of a number being checked. */
typedef struct cursor {
    const char *at, *end;
} cursor;

static char first(const cursor *c)
{
    return c->at < c->end ? *c->at : '\0';
}

/* Adds digits of a base to scratch, without the underscores, each of which must stand between
 * two. */
static eg_status take_digits(eg_toml_parser *p, cursor *c, int base, bool *valid)
{
    eg_status status = EG_OK;
    bool after_digit = false;
    *valid = true;
    for (; c->at < c->end; c->at++) {
        int digit = hex_digit(*c->at);
        if (*c->at == '_' && after_digit) {
            after_digit = false;
        } else if (digit >= 0 && digit < base) {
            after_digit = true;
            EG_TRY(add(p, c->at, 1));
        } else {
            break;
        }
    }
    *valid = after_digit;
done:
    return status;
}

static bool parse_integer(const char *digits, unsigned base, bool negative, int64_t *out)
{
    uint64_t most = (uint64_t)INT64_MAX + negative, value = 0;
    for (; *digits; digits++) {
        unsigned digit = (unsigned)hex_digit(*digits);
        if (value > (most - digit) / base) return false;
        value = value * base + digit;
    }
    *out = !negative ? (int64_t)value : value > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)value;
    return true;
}

/* strtod, whatever decimal separator the host program's locale has. */
static eg_status parse_real(eg_toml_parser *p, double *out)
{
    const char *point = localeconv()->decimal_point, *text = eg_text_string(&p->scratch);
    const char *dot = strchr(text, '.');
    if (!dot || strcmp(point, ".") == 0) {
        *out = strtod(text, NULL);
        return EG_OK;
    }
    eg_text local = eg_text_new(p->ctx);
    eg_status status = eg_text_printf(&local, "%.*s%s%s", (int)(dot - text), text, point, dot + 1);
    if (status == EG_OK) *out = strtod(eg_text_string(&local), NULL);
    eg_text_free(&local);
    return status;
}

/* The wrong number at `from`, and what numbers look like. */
static eg_status no_number(eg_toml_parser *p, size_t from, const char *why)
{
    char quote[EG_QUOTE_BYTES];
    return eg_place_fail(p->ctx, eg_toml_since(p, from), "%s is no number: %s",
                         eg_quote(quote, p->text + from, p->at - from), why);
}

static eg_status read_based(eg_toml_parser *p, size_t from, int base, eg_toml_node *node)
{
    eg_status status = EG_OK;
    cursor c = {p->text + from + 2, p->text + p->at};
    bool valid;
    eg_text_clear(&p->scratch);
    EG_TRY(take_digits(p, &c, base, &valid));
    if (!valid || c.at < c.end)
        return no_number(p, from,
                         base == 16  ? "behind 0x stand hexadecimal digits"
                         : base == 8 ? "behind 0o stand octal digits"
                                     : "behind 0b stand the digits 0 and 1");
    if (!parse_integer(eg_text_string(&p->scratch), (unsigned)base, false, &node->is.integer))
        return no_number(p, from, "it is beyond the range of 64-bit integers");
    node->type = EG_TOML_INTEGER;
done:
    return status;
}

/* Checks [sign] digits [. digits] [e [sign] digits] and reads it. */
static eg_status read_decimal(eg_toml_parser *p, size_t from, eg_toml_node *node)
{
    eg_status status = EG_OK;
    cursor c = {p->text + from, p->text + p->at};
    bool negative = *c.at == '-', real = false, valid;
    eg_text_clear(&p->scratch);
    if (*c.at == '-' || *c.at == '+') c.at++;
    const char *digits = c.at;
    if (first(&c) == '.') return no_number(p, from, "write a digit before the point, as in 0.5");
    EG_TRY(take_digits(p, &c, 10, &valid));
    if (!valid) return no_number(p, from, "an underscore stands between two digits");
    if (*digits == '0' && c.at - digits > 1)
        return no_number(p, from, "it begins with a superfluous 0");
    if (first(&c) == '.') {
        real = true;
        EG_TRY(add(p, c.at++, 1));
        if (!is_digit(first(&c)))
            return no_number(p, from, "write a digit behind the point, as in 2.0");
        EG_TRY(take_digits(p, &c, 10, &valid));
        if (!valid) return no_number(p, from, "an underscore stands between two digits");
    }
    if (first(&c) == 'e' || first(&c) == 'E') {
        real = true;
        EG_TRY(add(p, c.at++, 1));
        if (first(&c) == '-' || first(&c) == '+') EG_TRY(add(p, c.at++, 1));
        EG_TRY(take_digits(p, &c, 10, &valid));
        if (!valid) return no_number(p, from, "its exponent lacks a digit");
    }
    if (c.at < c.end) return no_number(p, from, "something stands behind its digits");
    if (!real) {
        node->type = EG_TOML_INTEGER;
        if (!parse_integer(eg_text_string(&p->scratch), 10, negative, &node->is.integer))
            return no_number(p, from,
                             "it is beyond the range of 64-bit integers; write it as a "
                             "real number with \".0\" behind it");
        return EG_OK;
    }
    node->type = EG_TOML_REAL;
    EG_TRY(parse_real(p, &node->is.real));
    if (isinf(node->is.real))
        return no_number(p, from, "it is beyond the range of double precision");
    if (negative) node->is.real = -node->is.real;
done:
    return status;
}

static bool word_is(const eg_toml_parser *p, size_t from, const char *word)
{
    return p->at - from == strlen(word) && memcmp(p->text + from, word, p->at - from) == 0;
}

/* inf and nan, with or without a sign. */
static bool read_special(const eg_toml_parser *p, size_t from, eg_toml_node *node)
{
    bool negative = p->text[from] == '-';
    if (p->text[from] == '-' || p->text[from] == '+') from++;
    bool infinite = word_is(p, from, "inf");
    if (!infinite && !word_is(p, from, "nan")) return false;
    node->type = EG_TOML_REAL;
    node->is.real = copysign(infinite ? (double)INFINITY : (double)NAN, negative ? -1.0 : 1.0);
    return true;
}

/* 1979-05-27… or 07:32… */
static bool is_date(const eg_toml_parser *p, size_t from)
{
    const char *s = p->text + from;
    size_t n = p->at - from, digits = 0;
    while (digits < n && is_digit(s[digits]))
        digits++;
    if (digits == 2) return n >= 5 && s[2] == ':' && is_digit(s[3]) && is_digit(s[4]);
    return digits == 4 && n >= 7 && s[4] == '-' && is_digit(s[5]) && is_digit(s[6]) &&
           (n == 7 || s[7] == '-');
}

static eg_status no_value(eg_toml_parser *p, size_t from)
{
    char quote[EG_QUOTE_BYTES];
    if (p->at == from) {
        char c = eg_toml_peek(p, 0);
        bool missing = p->at == p->length || strchr("\r\n#,]}", c);
        return eg_place_fail(p->ctx, eg_toml_here(p),
                             missing ? "a value is missing here"
                                     : "no value begins with this character; strings stand in "
                                       "quotes");
    }
    eg_quote(quote, p->text + from, p->at - from);
    eg_place place = eg_toml_since(p, from);
    static const char *const words[][2] = {
        {"True", "true"},   {"TRUE", "true"}, {"yes", "true"},  {"on", "true"}, {"False", "false"},
        {"FALSE", "false"}, {"no", "false"},  {"off", "false"}, {"Inf", "inf"}, {"NaN", "nan"},
    };
    for (size_t i = 0; i < EG_COUNT(words); i++)
        if (word_is(p, from, words[i][0]))
            return eg_place_fail(p->ctx, place, "%s is no value; did you mean %s?", quote,
                                 words[i][1]);
    return eg_place_fail(p->ctx, place, "%s is no value; strings stand in quotes: \"%s\"", quote,
                         quote);
}

/* Reads a word: a boolean or a number. */
static eg_status read_word(eg_toml_parser *p, eg_toml_node *node)
{
    size_t from = p->at;
    while (p->at < p->length && is_word(p->text[p->at]))
        p->at++;
    char c = p->at > from ? p->text[from] : '\0';
    char c1 = p->at - from > 1 ? p->text[from + 1] : '\0';
    if (word_is(p, from, "true") || word_is(p, from, "false")) {
        node->type = EG_TOML_BOOLEAN;
        node->is.boolean = c == 't';
        return EG_OK;
    }
    if (c && read_special(p, from, node)) return EG_OK;
    if (is_date(p, from))
        return eg_place_fail(p->ctx, eg_toml_since(p, from),
                             "dates and times are not supported; write it as a string, in quotes");
    if (c == '0' && (c1 == 'x' || c1 == 'o' || c1 == 'b'))
        return read_based(p, from, c1 == 'x' ? 16 : c1 == 'o' ? 8 : 2, node);
    bool sign = c == '-' || c == '+';
    if (is_digit(c) || ((sign || c == '.') && (is_digit(c1) || c1 == '.')))
        return read_decimal(p, from, node);
    return no_value(p, from);
}

eg_status eg_toml_read_scalar(eg_toml_parser *p, eg_toml_node *node)
{
    eg_status status = EG_OK;
    size_t from = p->at;
    char c = eg_toml_peek(p, 0);
    if (c == '"' || c == '\'') {
        EG_TRY(eg_toml_read_string(p, true, &node->content));
        EG_TRY(eg_toml_set_string(p->doc, node, eg_text_string(&p->scratch), p->scratch.length));
    } else {
        EG_TRY(read_word(p, node));
    }
    node->place = eg_toml_since(p, from);
done:
    return status;
}
