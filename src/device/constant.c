/* Integer constant expressions of kernel sources: a recursive-descent evaluator over macro bodies. */
#include "device/constant.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

eg_macros eg_macros_new(eg_context *ctx)
{
    return (eg_macros){.ctx = ctx};
}

void eg_macros_free(eg_macros *macros)
{
    for (size_t i = 0; i < macros->count; i++)
        eg_release(macros->ctx, &macros->list[i].body);
    eg_release(macros->ctx, &macros->list);
    macros->count = macros->capacity = 0;
}

const eg_macro *eg_macros_find(const eg_macros *macros, const char *name, size_t length)
{
    for (size_t i = 0; i < macros->count; i++)
        if (strlen(macros->list[i].name) == length && !memcmp(macros->list[i].name, name, length))
            return &macros->list[i];
    return NULL;
}

eg_status eg_macros_define(eg_macros *macros, const char *name, size_t name_length,
                           const char *body, size_t length, bool conditional)
{
    eg_status status = EG_OK;
    char *copy = NULL;
    eg_macro *macro = NULL;

    if (name_length >= sizeof macro->name)
        return eg_fail(macros->ctx, EG_ERROR_ARGUMENT, "the macro name '%.*s' is too long",
                       (int)name_length, name);
    EG_TRY(eg_allocate(macros->ctx, length + 1, (void **)&copy));
    memcpy(copy, body, length);
    for (size_t i = 0; i < macros->count && !macro; i++)
        if (strlen(macros->list[i].name) == name_length &&
            !memcmp(macros->list[i].name, name, name_length))
            macro = &macros->list[i];
    if (!macro) {
        if (macros->count == macros->capacity) {
            size_t capacity = macros->capacity ? 2 * macros->capacity : 32;
            EG_TRY(eg_reallocate(macros->ctx, capacity * sizeof *macros->list,
                                 (void **)&macros->list));
            macros->capacity = capacity;
        }
        macro = &macros->list[macros->count++];
        *macro = (eg_macro){0};
        memcpy(macro->name, name, name_length);
    }
    eg_release(macros->ctx, &macro->body);
    macro->body = copy;
    macro->conditional = conditional;
    copy = NULL;
done:
    eg_release(macros->ctx, &copy);
    return status;
}

eg_status eg_macros_define_integer(eg_macros *macros, const char *name, int64_t value)
{
    char text[32];
    int length = snprintf(text, sizeof text, "(%" PRId64 ")", value);
    return eg_macros_define(macros, name, strlen(name), text, (size_t)length, false);
}

/* What an expression may take: brackets within brackets, macros within macros, names in all. */
#define NESTING_MOST 200
#define MACROS_MOST 32
#define NAMES_MOST 100000

typedef struct parser {
    const eg_macros *macros;
    const char *what;
    const char *whole; /* the expression as written, for messages */
    int whole_length;
    const char *begin, *at, *end;
    int nesting; /* of brackets, signs and conditions */
    int depth;   /* of macros within macros */
    int *names;  /* looked up so far, in all macros together */
    eg_status status;
} parser;

static int64_t conditional(parser *p);
static int64_t primary(parser *p);

static int64_t complain(parser *p, const char *format, const char *name, int length)
{
    if (p->status == EG_OK) {
        char detail[160];
        snprintf(detail, sizeof detail, format, length, name);
        p->status = EG_ERROR_COMPILE;
        if (p->what)
            eg_fail(p->macros->ctx, EG_ERROR_COMPILE,
                    "%s: cannot evaluate '%.*s': %s; sizes may use numbers, -D constants and "
                    "plain #defines outside #if",
                    p->what, p->whole_length, p->whole, detail);
    }
    p->at = p->end;
    return 1;
}

static void skip_blanks(parser *p)
{
    while (p->at < p->end && isspace((unsigned char)*p->at))
        p->at++;
}

/* Takes the operator `op` if it is next; a longer operator that begins with it is not taken. */
static bool take(parser *p, const char *op)
{
    size_t n = strlen(op);
    skip_blanks(p);
    if ((size_t)(p->end - p->at) < n || memcmp(p->at, op, n)) return false;
    if (n == 1 && strchr("<>!=", *op) && p->end - p->at > 1 && p->at[1] == '=') return false;
    p->at += n;
    return true;
}

static int64_t pair(parser *p, bool maximum)
{
    if (!take(p, "(")) return complain(p, "%.*s expected", "(", 1);
    int64_t a = conditional(p);
    if (!take(p, ",")) return complain(p, "%.*s expected", ",", 1);
    int64_t b = conditional(p);
    if (!take(p, ")")) return complain(p, "%.*s expected", ")", 1);
    return maximum ? (a > b ? a : b) : (a < b ? a : b);
}

/* The value of a macro. C would put its text in place, so a body of more than one term must be
 * bracketed where it is part of a larger expression: the compiler would read it otherwise. */
static int64_t macro_value(parser *p, const eg_macro *macro, const char *name, size_t length)
{
    parser inner = *p;
    inner.begin = inner.at = macro->body;
    inner.end = macro->body + strlen(macro->body);
    inner.depth++;
    skip_blanks(p);
    bool alone = name == p->begin && p->at == p->end;
    int64_t value = primary(&inner);
    skip_blanks(&inner);
    if (inner.status == EG_OK && inner.at != inner.end) {
        inner.at = inner.begin;
        value = conditional(&inner);
        skip_blanks(&inner);
        if (inner.status == EG_OK && inner.at != inner.end)
            complain(&inner, "'%.*s' is no integer", name, (int)length);
        if (inner.status == EG_OK && !alone)
            complain(&inner, "the value of '%.*s' needs brackets around it", name, (int)length);
    }
    p->status = inner.status;
    return value;
}

static int64_t name_value(parser *p)
{
    const char *name = p->at;
    while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
        p->at++;
    size_t length = (size_t)(p->at - name);
    if (length == 5 && !memcmp(name, "K_MAX", 5)) return pair(p, true);
    if (length == 5 && !memcmp(name, "K_MIN", 5)) return pair(p, false);
    const eg_macro *macro = eg_macros_find(p->macros, name, length);
    if (!macro) return complain(p, "'%.*s' is not a known constant", name, (int)length);
    if (macro->conditional) return complain(p, "'%.*s' is defined under an #if", name, (int)length);
    if (p->depth == MACROS_MOST) return complain(p, "'%.*s' refers to itself", name, (int)length);
    if (++*p->names > NAMES_MOST) return complain(p, "%.*s", "it is too long", 14);
    return macro_value(p, macro, name, length);
}

static int64_t negated(parser *p, int64_t value)
{
    if (__builtin_sub_overflow(0, value, &value)) return complain(p, "%.*s", "it overflows", 12);
    return value;
}

static int64_t number(parser *p)
{
    int64_t value = 0;
    if (p->end - p->at > 1 && p->at[0] == '0' && isalnum((unsigned char)p->at[1]))
        return complain(p, "%.*s", "octal and hexadecimal numbers are not read", 42);
    while (p->at < p->end && isdigit((unsigned char)*p->at)) {
        if (value > INT64_MAX / 10 - 1) return complain(p, "%.*s", "a number is too large", 21);
        value = 10 * value + (*p->at++ - '0');
    }
    return value;
}

static int64_t bracketed(parser *p)
{
    int64_t value = conditional(p);
    if (!take(p, ")")) return complain(p, "%.*s expected", ")", 1);
    return value;
}

static int64_t primary(parser *p)
{
    int64_t value = 0;
    skip_blanks(p);
    if (p->at == p->end) return complain(p, "%.*s", "it ends too early", 17);
    if (p->nesting == NESTING_MOST) return complain(p, "%.*s", "it is nested too deeply", 23);
    p->nesting++;
    if (take(p, "("))
        value = bracketed(p);
    else if (take(p, "-"))
        value = negated(p, primary(p));
    else if (take(p, "+"))
        value = primary(p);
    else if (take(p, "!"))
        value = !primary(p);
    else if (isdigit((unsigned char)*p->at))
        value = number(p);
    else if (isalpha((unsigned char)*p->at) || *p->at == '_')
        value = name_value(p);
    else
        value = complain(p, "'%.*s' was not expected", p->at, 1);
    p->nesting--;
    return value;
}

static int64_t product(parser *p)
{
    int64_t value = primary(p);
    while (p->status == EG_OK) {
        char op = take(p, "*") ? '*' : take(p, "/") ? '/' : take(p, "%") ? '%' : 0;
        if (!op) break;
        int64_t right = primary(p);
        if (op == '*') {
            if (__builtin_mul_overflow(value, right, &value))
                return complain(p, "%.*s", "it overflows", 12);
        } else if (right == 0) {
            return complain(p, "%.*s", "it divides by zero", 18);
        } else if (right == -1) {
            value = op == '/' ? negated(p, value) : 0;
        } else {
            value = op == '/' ? value / right : value % right;
        }
    }
    return value;
}

static int64_t sum(parser *p)
{
    int64_t value = product(p);
    while (p->status == EG_OK) {
        bool plus = take(p, "+");
        if (!plus && !take(p, "-")) break;
        int64_t right = product(p);
        if (plus ? __builtin_add_overflow(value, right, &value)
                 : __builtin_sub_overflow(value, right, &value))
            return complain(p, "%.*s", "it overflows", 12);
    }
    return value;
}

static int64_t relation(parser *p)
{
    int64_t value = sum(p);
    while (p->status == EG_OK) {
        if (take(p, "<="))
            value = value <= sum(p);
        else if (take(p, ">="))
            value = value >= sum(p);
        else if (take(p, "<"))
            value = value < sum(p);
        else if (take(p, ">"))
            value = value > sum(p);
        else
            break;
    }
    return value;
}

static int64_t equality(parser *p)
{
    int64_t value = relation(p);
    while (p->status == EG_OK) {
        if (take(p, "=="))
            value = value == relation(p);
        else if (take(p, "!="))
            value = value != relation(p);
        else
            break;
    }
    return value;
}

static int64_t conjunction(parser *p)
{
    int64_t value = equality(p);
    while (p->status == EG_OK && take(p, "&&")) {
        int64_t right = equality(p);
        value = value && right;
    }
    return value;
}

static int64_t disjunction(parser *p)
{
    int64_t value = conjunction(p);
    while (p->status == EG_OK && take(p, "||")) {
        int64_t right = conjunction(p);
        value = value || right;
    }
    return value;
}

static int64_t conditional(parser *p)
{
    if (p->nesting == NESTING_MOST) return complain(p, "%.*s", "it is nested too deeply", 23);
    p->nesting++;
    int64_t value = disjunction(p);
    if (p->status == EG_OK && take(p, "?")) {
        int64_t yes = conditional(p);
        if (!take(p, ":")) return complain(p, "%.*s expected", ":", 1);
        int64_t no = conditional(p);
        value = value ? yes : no;
    }
    p->nesting--;
    return value;
}

eg_status eg_constant_evaluate(const eg_macros *macros, const char *what, const char *text,
                               size_t length, int64_t *value)
{
    int names = 0;
    parser p = {.macros = macros,
                .what = what,
                .whole = text,
                .whole_length = (int)length,
                .begin = text,
                .names = &names,
                .at = text,
                .end = text + length};
    int64_t result = conditional(&p);
    skip_blanks(&p);
    if (p.status == EG_OK && p.at != p.end) complain(&p, "'%.*s' was not expected", p.at, 1);
    if (p.status == EG_OK) *value = result;
    return p.status;
}
