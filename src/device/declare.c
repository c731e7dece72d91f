/* Reads what a kernel file declares: the arguments in K_KERNEL's list, the K_SHARED and K_OPERAND
 * arrays at the top of its body, and which loop it runs. No C is parsed beyond brackets. */
#include "device/source.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* A piece of text. */
typedef struct span {
    const char *at;
    size_t length;
} span;

#define ARGUMENTS_MAX (EG_PARAMETERS_MAX + 1)

/* Rows or fields of an array; keeps every product of sizes far from overflow. */
#define ROWS_MOST (1 << 20)

typedef struct reader {
    eg_context *ctx;
    const char *name; /* of the file, for messages */
    const char *text; /* the file as it is */
    char *plain;      /* the same without comments and strings */
    size_t length;
    eg_macros *macros;
    eg_type real;
    eg_text *agreed; /* see eg_declaration */
} reader;

/* The line `at` stands on in its own file: the text carries #line directives. */
static int line_of(const reader *r, const char *at)
{
    int line = 1;
    for (const char *c = r->plain; c < at; c++) {
        if (*c != '\n') continue;
        line++;
        sscanf(c + 1, "#line %d", &line);
    }
    int first = 0; /* the text begins with a directive */
    return sscanf(r->plain, "#line %d", &first) == 1 && line > 1 ? line - 1 : line;
}

static eg_status complain(const reader *r, const char *at, const char *format, span s)
{
    char detail[200];
    snprintf(detail, sizeof detail, format, (int)s.length, s.at);
    return eg_fail(r->ctx, EG_ERROR_COMPILE, "%s:%d: %s", r->name, line_of(r, at), detail);
}

/* Overwrites comments and literals with blanks. */
static void make_plain(char *text, size_t length)
{
    enum { CODE, LINE, BLOCK, STRING, CHARACTER } state = CODE;
    for (size_t i = 0; i < length; i++) {
        char c = text[i], next = i + 1 < length ? text[i + 1] : '\0';
        bool blank = state != CODE;
        size_t skip = 0;
        switch (state) {
        case CODE:
            if (c == '/' && next == '/')
                state = LINE, blank = true;
            else if (c == '/' && next == '*')
                state = BLOCK, blank = true, skip = 1;
            else if (c == '"')
                state = STRING, blank = true;
            else if (c == '\'')
                state = CHARACTER, blank = true;
            break;
        case LINE:
            if (c == '\n') state = CODE;
            break;
        case BLOCK:
            if (c == '*' && next == '/') state = CODE, skip = 1;
            break;
        case STRING:
        case CHARACTER:
            if (c == '\\')
                skip = 1;
            else if (c == (state == STRING ? '"' : '\'') || c == '\n') /* "don't" in a directive */
                state = CODE;
            break;
        }
        for (size_t k = 0; blank && k <= skip && i + k < length; k++)
            if (text[i + k] != '\n') text[i + k] = ' ';
        i += skip;
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The next occurrence of the whole word in [from, end), NULL if none. */
static const char *find_word(const char *from, const char *end, const char *word)
{
    size_t n = strlen(word);
    for (const char *c = from; c + n <= end; c++)
        if (!memcmp(c, word, n) && (c == from || !is_word(c[-1])) &&
            (c + n == end || !is_word(c[n])))
            return c;
    return NULL;
}

static span trim(span s)
{
    while (s.length && isspace((unsigned char)*s.at))
        s.at++, s.length--;
    while (s.length && isspace((unsigned char)s.at[s.length - 1]))
        s.length--;
    return s;
}

static bool equal(span s, const char *word)
{
    return s.length == strlen(word) && !memcmp(s.at, word, s.length);
}

/* +1 for an opening bracket, -1 for a closing one, else 0. */
static int bracket(char c)
{
    return c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
}

/* The bracket that closes the one at `open`, NULL if there is none before `end`. */
static const char *closing(const char *open, const char *end)
{
    int depth = 0;
    for (const char *c = open; c < end; c++) {
        depth += bracket(*c);
        if (depth == 0) return c;
    }
    return NULL;
}

/* Splits "(a, b(c, d), e)" that begins at or after `at` into arguments; *after is what follows. */
static eg_status split_arguments(const reader *r, const char *at, span *arguments, size_t *count,
                                 const char **after)
{
    const char *end = r->plain + r->length, *open = at;
    while (open < end && isspace((unsigned char)*open))
        open++;
    const char *close = open < end && *open == '(' ? closing(open, end) : NULL;
    if (!close) return complain(r, at, "%.*sunbalanced brackets", (span){"", 0});
    *count = 0;
    const char *from = open + 1;
    int depth = 0;
    for (const char *c = open + 1; c <= close; c++) {
        if (c < close) depth += bracket(*c);
        if (c == close || (*c == ',' && depth == 0)) {
            if (*count == ARGUMENTS_MAX)
                return complain(r, at, "%.*stoo many arguments", (span){"", 0});
            arguments[(*count)++] = trim((span){from, (size_t)(c - from)});
            from = c + 1;
        }
    }
    *after = close + 1;
    return EG_OK;
}

static eg_status evaluate(const reader *r, span s, int64_t least, int64_t *value)
{
    char what[160];
    snprintf(what, sizeof what, "%s:%d", r->name, line_of(r, s.at));
    eg_status status = eg_constant_evaluate(r->macros, what, s.at, s.length, value);
    if (status == EG_OK && (*value < least || *value > INT32_MAX))
        return complain(r, s.at, "'%.*s' is out of range", s);
    if (status != EG_OK) return status;
    size_t from = r->agreed->length;
    status = eg_text_printf(r->agreed, "typedef char k_agreed_%zu[(%.*s) == %lld ? 1 : -1]; ", from,
                            (int)s.length, s.at, (long long)*value);
    for (size_t i = from; i < r->agreed->length; i++) /* all on the header's line */
        if (r->agreed->data[i] == '\n') r->agreed->data[i] = ' ';
    return status;
}

static eg_status read_type(const reader *r, span s, eg_type *type)
{
    if (equal(s, "real")) {
        *type = r->real;
        return EG_OK;
    }
    for (int k = 0; k < EG_TYPE_COUNT; k++)
        if (equal(s, eg_type_name((eg_type)k))) {
            *type = (eg_type)k;
            return EG_OK;
        }
    return complain(r, s.at, "unknown type '%.*s'; known are real f64 f32 i64 i32 u32 u8", s);
}

static eg_status read_name(const reader *r, span s, char *name, size_t size)
{
    bool word = s.length > 0 && s.length < size;
    for (size_t i = 0; word && i < s.length; i++)
        word = is_word(s.at[i]);
    if (!word) return complain(r, s.at, "'%.*s' is no short identifier", s);
    memcpy(name, s.at, s.length);
    name[s.length] = '\0';
    return EG_OK;
}

static eg_status read_parameter(const reader *r, span s, eg_parameter *parameter)
{
    static const struct {
        const char *macro;
        eg_parameter_kind kind;
        size_t least, most; /* arguments */
    } kinds[] = {{"K_IN", EG_PARAMETER_IN, 2, 3},
                 {"K_OUT", EG_PARAMETER_OUT, 2, 3},
                 {"K_INOUT", EG_PARAMETER_INOUT, 2, 3},
                 {"K_VAL", EG_PARAMETER_VALUE, 2, 2},
                 {"K_OP", EG_PARAMETER_OPERATOR, 3, 3}};
    span arguments[ARGUMENTS_MAX], word = {s.at, 0};
    size_t count = 0;
    const char *after = NULL;
    eg_status status = EG_OK;
    int64_t value = 0;

    while (word.length < s.length && is_word(word.at[word.length]))
        word.length++;
    for (size_t k = 0; k < EG_COUNT(kinds); k++) {
        if (!equal(word, kinds[k].macro)) continue;
        *parameter = (eg_parameter){.kind = kinds[k].kind, .type = r->real};
        EG_TRY(split_arguments(r, s.at + word.length, arguments, &count, &after));
        if (count < kinds[k].least || count > kinds[k].most)
            return complain(r, s.at, "'%.*s' has a wrong number of arguments", s);
        if (kinds[k].kind == EG_PARAMETER_OPERATOR) {
            EG_TRY(read_name(r, arguments[0], parameter->name, sizeof parameter->name));
            EG_TRY(evaluate(r, arguments[1], 1, &value));
            parameter->rows = (int)value;
            EG_TRY(evaluate(r, arguments[2], 1, &value));
            parameter->cols = (int)value;
        } else {
            EG_TRY(read_type(r, arguments[0], &parameter->type));
            EG_TRY(read_name(r, arguments[1], parameter->name, sizeof parameter->name));
            if (count == 3) EG_TRY(evaluate(r, arguments[2], 1, &parameter->extent));
        }
        return EG_OK;
    }
    return complain(r, s.at, "'%.*s' is none of K_IN K_OUT K_INOUT K_VAL K_OP", s);
done:
    return status;
}

/* Adds the file's own object-like macros. A define inside `#ifndef X … #endif` for X itself is a
 * default: it holds unless X was given. */
static eg_status read_defines(const reader *r)
{
    int depth = 0;
    span guarded = {"", 0};
    int guard_depth = 0;
    for (const char *c = r->plain, *end = r->plain + r->length; c < end;) {
        const char *eol = memchr(c, '\n', (size_t)(end - c));
        if (!eol) eol = end;
        span line = trim((span){c, (size_t)(eol - c)});
        c = eol + 1;
        if (!line.length || *line.at != '#') continue;
        span rest = trim((span){line.at + 1, line.length - 1});
        span word = {rest.at, 0};
        while (word.length < rest.length && is_word(word.at[word.length]))
            word.length++;
        rest = trim((span){rest.at + word.length, rest.length - word.length});
        span name = {rest.at, 0};
        while (name.length < rest.length && is_word(name.at[name.length]))
            name.length++;
        if (equal(word, "if") || equal(word, "ifdef") || equal(word, "ifndef")) {
            depth++;
            if (equal(word, "ifndef") && depth == 1) guarded = name, guard_depth = depth;
        } else if (equal(word, "else") || equal(word, "elif")) {
            if (depth == guard_depth) guarded.length = 0;
        } else if (equal(word, "endif")) {
            if (depth == guard_depth) guarded.length = 0;
            depth--;
        } else if (equal(word, "define") && name.length &&
                   !(name.length < rest.length && rest.at[name.length] == '(')) {
            span body = trim((span){name.at + name.length, rest.length - name.length});
            bool is_default = depth == 1 && guarded.length == name.length &&
                              !memcmp(guarded.at, name.at, name.length);
            if (is_default && eg_macros_find(r->macros, name.at, name.length)) continue;
            eg_status status = eg_macros_define(r->macros, name.at, name.length, body.at,
                                                body.length, depth > 0 && !is_default);
            if (status != EG_OK) return status;
        }
    }
    return EG_OK;
}

static eg_status read_shared(const reader *r, const char *at, const char *end, const char *macro,
                             eg_array_kind kind, eg_declaration *out)
{
    span arguments[ARGUMENTS_MAX];
    size_t count = 0;
    eg_status status = EG_OK;
    while ((at = find_word(at, end, macro))) {
        const char *begin = at;
        bool shared = kind == EG_ARRAY_SHARED || kind == EG_ARRAY_PRIVATE;
        eg_shared_array array = {.kind = kind, .fields = 1, .value_bytes = eg_type_size(r->real)};
        EG_TRY(split_arguments(r, at + strlen(macro), arguments, &count, &at));
        if (count != 3)
            return complain(r, begin, "%.*s takes three arguments", (span){macro, strlen(macro)});
        if (out->shared_count == EG_SHARED_MAX)
            return complain(r, begin, "%.*stoo many shared arrays", (span){"", 0});
        EG_TRY(read_name(r, arguments[shared ? 1 : 0], array.name, sizeof array.name));
        EG_TRY(evaluate(r, arguments[2], 1, &array.rows));
        if (shared) {
            eg_type type = EG_F64;
            EG_TRY(read_type(r, arguments[0], &type));
            array.value_bytes = eg_type_size(type);
        } else {
            EG_TRY(evaluate(r, arguments[1], 1, &array.fields));
        }
        if (array.rows > ROWS_MOST || array.fields > ROWS_MOST)
            return complain(r, begin, "%.*s is larger than any device's memory for it",
                            (span){macro, strlen(macro)});
        out->shared[out->shared_count++] = array;
    }
done:
    return status;
}

/* The largest n of K_NODES(i, n) and K_ROWS(i, n); what cannot be evaluated does not count. */
static eg_status read_rows(const reader *r, const char *at, const char *end, const char *macro,
                           eg_declaration *out)
{
    span arguments[ARGUMENTS_MAX];
    size_t count = 0;
    while ((at = find_word(at, end, macro))) {
        eg_status status = split_arguments(r, at + strlen(macro), arguments, &count, &at);
        int64_t rows = 0;
        if (status != EG_OK) return status;
        if (count == 2 &&
            eg_constant_evaluate(r->macros, NULL, arguments[1].at, arguments[1].length, &rows) ==
                EG_OK &&
            rows > out->most_rows)
            out->most_rows = rows;
    }
    return EG_OK;
}

/* The macros of one level make no sense, and on a GPU no working kernel, in the other. */
static eg_status check_level(const reader *r, const char *body, const char *close, bool warps)
{
    static const char *const tiles_only[] = {
        "K_SHARED",     "K_SYNC",           "K_GEMM", "K_GEMM_ADD", "K_NODES",
        "K_GEMM_LINES", "K_GEMM_LINES_ADD", "K_ROWS", "K_PRIVATE",  "K_PUT"};
    static const char *const warps_only[] = {
        "K_OPERAND",    "K_ACCUM",    "K_POINTS",    "K_LOAD",      "K_STORE",
        "K_MUL",        "K_MULADD",   "K_CHUNKS",    "K_EACH",      "K_LANELOAD",
        "K_ZERO",       "K_SUMLOAD",  "K_POINTLOAD", "K_POINTROWS", "K_POINTSTORE",
        "K_QUARTERVAR", "K_QUARTERS", "K_LOADPAIRS", "K_SUMPAIRS",  "K_POINTPAIRS",
        "K_STOREPAIRS", "K_FOLD",     "K_POINTPUT",  "K_TAKE",      "K_GIVE"};
    const char *const *words = warps ? tiles_only : warps_only;
    size_t count = warps ? EG_COUNT(tiles_only) : EG_COUNT(warps_only);
    for (size_t i = 0; i < count; i++) {
        const char *at = find_word(body, close, words[i]);
        span word = {words[i], strlen(words[i])};
        if (at)
            return complain(r, at,
                            warps ? "%.*s belongs to kernels with K_TILES, this one has K_WARPS"
                                  : "%.*s belongs to kernels with K_WARPS, this one has K_TILES",
                            word);
    }
    return EG_OK;
}

void eg_declaration_free(eg_declaration *declaration)
{
    eg_text_free(&declaration->agreed);
}

eg_status eg_declaration_read(eg_context *ctx, const char *name, char *text, size_t length,
                              const char *entry, eg_type real, eg_macros *macros,
                              eg_declaration *out)
{
    eg_status status = EG_OK;
    reader r = {
        .ctx = ctx, .name = name, .text = text, .length = length, .macros = macros, .real = real};
    span arguments[ARGUMENTS_MAX];
    size_t count = 0;
    bool found = false;

    *out = (eg_declaration){.agreed = eg_text_new(ctx)};
    r.agreed = &out->agreed;
    EG_TRY(eg_allocate(ctx, length + 1, (void **)&r.plain));
    memcpy(r.plain, text, length);
    make_plain(r.plain, length);
    EG_TRY(read_defines(&r));

    for (const char *at = r.plain, *end = r.plain + length;
         (at = find_word(at, end, "K_KERNEL"));) {
        const char *begin = at, *body = NULL;
        EG_TRY(split_arguments(&r, at + strlen("K_KERNEL"), arguments, &count, &body));
        const char *header_end = body;
        while (body < end && isspace((unsigned char)*body))
            body++;
        const char *close = body < end && *body == '{' ? closing(body, end) : NULL;
        if (!close) {
            status = complain(&r, begin, "kernel '%.*s' has no body", arguments[0]);
            goto done;
        }
        at = close + 1;
        if (!equal(arguments[0], entry)) {
            for (const char *c = begin; c <= close; c++)
                if (*c != '\n') text[c - r.plain] = ' ';
            continue;
        }
        if (count < 2) {
            status = complain(&r, begin, "kernel '%.*s' declares no arguments", arguments[0]);
            goto done;
        }
        if (found) {
            status = complain(&r, begin, "kernel '%.*s' is there twice", arguments[0]);
            goto done;
        }
        found = true;
        out->header = (size_t)(begin - r.plain);
        out->header_end = (size_t)(header_end - r.plain);
        for (size_t i = 1; i < count; i++)
            EG_TRY(read_parameter(&r, arguments[i], &out->parameters[out->parameter_count++]));
        EG_TRY(read_shared(&r, body, close, "K_SHARED", EG_ARRAY_SHARED, out));
        EG_TRY(read_shared(&r, body, close, "K_PRIVATE", EG_ARRAY_PRIVATE, out));
        EG_TRY(read_shared(&r, body, close, "K_OPERAND", EG_ARRAY_OPERAND, out));
        EG_TRY(read_shared(&r, body, close, "K_ACCUM", EG_ARRAY_ACCUM, out));
        EG_TRY(read_rows(&r, body, close, "K_NODES", out));
        EG_TRY(read_rows(&r, body, close, "K_ROWS", out));
        out->warps = find_word(body, close, "K_WARPS") != NULL;
        if (out->warps == (find_word(body, close, "K_TILES") != NULL)) {
            status = complain(&r, begin, "kernel '%.*s' needs one loop, K_TILES or K_WARPS",
                              arguments[0]);
            goto done;
        }
        EG_TRY(check_level(&r, body, close, out->warps));
    }
    if (!found)
        status = eg_fail(ctx, EG_ERROR_COMPILE, "%s: there is no kernel '%s' in it", name, entry);
done:
    eg_release(ctx, &r.plain);
    return status;
}
