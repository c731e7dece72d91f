/* Cuts an expression into tokens, whatever the locale, and says what is wrong with what is none. */
#include "case/expression_token.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What people write that is no token here, and what they may mean; longer ones first. */
static const struct {
    const char *characters, *advice;
} strangers[] = {
    {"**", "a power is written '^'"},
    {"=<", "'less or equal' is written '<='"},
    {"=>", "'greater or equal' is written '>='"},
    {"<>", "'unequal' is written '!='"},
    {"=", "equality is written '=='"},
    {"&", "'and' is written '&&'"},
    {"|", "'or' is written '||'; an absolute value is abs(x)"},
    {"%", "a remainder is written mod(x, y)"},
    {"[", "brackets are round: ( )"},
    {"]", "brackets are round: ( )"},
    {"{", "brackets are round: ( )"},
    {"}", "brackets are round: ( )"},
    {"~", "'not' is written '!'"},
    {"\"", "a formula holds no quotation marks"},
    {"'", "there are no derivatives or quotation marks here"},
    {";", "an expression is one formula; arguments are separated by ','"},
    {"π", "write pi"},
    {"·", "a product is written '*'"},
    {"×", "a product is written '*'"},
    {"÷", "a quotient is written '/'"},
    {"−", "this is a dash; a difference is written '-'"},
    {"–", "this is a dash; a difference is written '-'"},
    {"²", "a square is written '^2'"},
    {"³", "a cube is written '^3'"},
    {"√", "write sqrt(x)"},
    {"≤", "write '<='"},
    {"≥", "write '>='"},
    {"≠", "write '!='"},
};

static const struct {
    eg_token_kind kind;
    const char *characters;
} tokens[] = {
#define X(token, characters) {EG_TOKEN_##token, characters},
    EG_TOKENS(X)
#undef X
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0) == 0x80;
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

eg_status eg_expression_wrong(eg_context *ctx, const char *text, size_t offset, size_t length,
                              eg_expression_error *error, const char *format, ...)
{
    enum { SHOWN = 120 };
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    error->offset = offset;
    error->length = length;

    size_t column = 1, shown = strlen(text);
    for (size_t i = 0; i < offset; i++)
        column += !is_continuation(text[i]);
    bool all = shown <= SHOWN;
    for (shown = all ? shown : SHOWN; !all && shown > 0 && is_continuation(text[shown]);)
        shown--;
    return eg_fail(ctx, EG_ERROR_INPUT, "expression \"%.*s%s\", character %zu: %s", (int)shown,
                   text, all ? "" : "…", column, error->message);
}

/* digits [. digits] [e [sign] digits]; `length` of it, without reading further than digits go. */
static size_t measure_number(const char *s)
{
    size_t n = 0;
    while (is_digit(s[n]))
        n++;
    if (s[n] == '.') n++;
    while (is_digit(s[n]))
        n++;
    if (s[n] != 'e' && s[n] != 'E') return n;
    size_t sign = s[n + 1] == '+' || s[n + 1] == '-';
    if (!is_digit(s[n + 1 + sign])) return n;
    for (n += 1 + sign; is_digit(s[n]);)
        n++;
    return n;
}

static eg_status read_number(eg_context *ctx, const char *text, eg_token *token,
                             eg_expression_error *error)
{
    enum { DIGITS = 200 };
    char number[DIGITS + 16] = "";
    const char *s = text + token->offset;
    const struct lconv *locale = localeconv();
    size_t n = token->length = measure_number(s);
    if (s[n] == '.')
        return eg_expression_wrong(ctx, text, token->offset + n, 1, error,
                                   "a number has one decimal point at most");
    bool exponent = (s[n] == 'e' || s[n] == 'E') && (s[n + 1] == '+' || s[n + 1] == '-');
    if (exponent || ((s[n] == 'e' || s[n] == 'E') && !is_letter(s[n + 1])))
        return eg_expression_wrong(ctx, text, token->offset, n + 1 + exponent, error,
                                   "the exponent of this number has no digits");
    if (n > DIGITS)
        return eg_expression_wrong(ctx, text, token->offset, n, error,
                                   "a number has %d characters at most", DIGITS);
    /* strtod wants the point of the locale that the host program has set. */
    const char *point = memchr(s, '.', n);
    size_t whole = point ? (size_t)(point - s) : n;
    if (point)
        snprintf(number, sizeof number, "%.*s%.8s%.*s", (int)whole, s, locale->decimal_point,
                 (int)(n - whole - 1), point + 1);
    else
        snprintf(number, sizeof number, "%.*s", (int)n, s);
    token->kind = EG_TOKEN_NUMBER;
    token->value = strtod(number, NULL);
    if (isinf(token->value))
        return eg_expression_wrong(ctx, text, token->offset, n, error,
                                   "this number is too large; the largest is about 1.8e308");
    return EG_OK;
}

static eg_status read_stranger(eg_context *ctx, const char *text, size_t offset,
                               eg_expression_error *error)
{
    const char *s = text + offset;
    for (size_t i = 0; i < EG_COUNT(strangers); i++)
        if (begins(s, strangers[i].characters))
            return eg_expression_wrong(ctx, text, offset, strlen(strangers[i].characters), error,
                                       "'%s' means nothing here; %s", strangers[i].characters,
                                       strangers[i].advice);
    size_t length = 1;
    while (length < 4 && (unsigned char)s[0] >= 0xc2 && is_continuation(s[length]))
        length++;
    bool printable =
        (unsigned char)s[0] >= 0x20 && s[0] != 0x7f && ((unsigned char)s[0] < 0x80 || length > 1);
    if (printable)
        return eg_expression_wrong(ctx, text, offset, length, error, "'%.*s' means nothing here",
                                   (int)length, s);
    return eg_expression_wrong(ctx, text, offset, length, error,
                               "the byte 0x%02x means nothing here", (unsigned char)s[0]);
}

eg_status eg_token_read(eg_context *ctx, const char *text, size_t offset,
                        eg_expression_error *error, eg_token *out)
{
    offset += strspn(text + offset, " \t\r\n");
    const char *s = text + offset;
    *out = (eg_token){.kind = EG_TOKEN_END, .offset = offset};
    if (!*s) return EG_OK;
    if (is_digit(s[0]) || (s[0] == '.' && is_digit(s[1])))
        return read_number(ctx, text, out, error);
    if (is_letter(s[0])) {
        out->kind = EG_TOKEN_NAME;
        while (is_letter(s[out->length]) || is_digit(s[out->length]))
            out->length++;
        return EG_OK;
    }
    bool strange = begins(s, "**") || begins(s, "<>"); /* not two tokens */
    for (size_t i = 0; i < EG_COUNT(tokens) && !strange; i++) {
        if (!begins(s, tokens[i].characters)) continue;
        out->kind = tokens[i].kind;
        out->length = strlen(tokens[i].characters);
        return EG_OK;
    }
    return read_stranger(ctx, text, offset, error);
}
