/* The parser of expressions: recursive descent, the levels of binary operators by precedence climbing.
 * Instructions are added as soon as their operands are complete. */
#include "case/expression_code.h"
#include "case/expression_token.h"

#include <stdio.h>
#include <string.h>

typedef struct binary_operator {
    eg_token_kind token;
    int level; /* the higher, the tighter it binds */
    eg_operation operation;
} binary_operator;

enum { LEVEL_OR, LEVEL_AND, LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT };

static const binary_operator binary_operators[] = {
    {EG_TOKEN_OR, LEVEL_OR, EG_OPERATION_OR},
    {EG_TOKEN_AND, LEVEL_AND, EG_OPERATION_AND},
    {EG_TOKEN_LESS, LEVEL_COMPARE, EG_OPERATION_LESS},
    {EG_TOKEN_LESS_EQUAL, LEVEL_COMPARE, EG_OPERATION_LESS_EQUAL},
    {EG_TOKEN_GREATER, LEVEL_COMPARE, EG_OPERATION_GREATER},
    {EG_TOKEN_GREATER_EQUAL, LEVEL_COMPARE, EG_OPERATION_GREATER_EQUAL},
    {EG_TOKEN_EQUAL, LEVEL_COMPARE, EG_OPERATION_EQUAL},
    {EG_TOKEN_UNEQUAL, LEVEL_COMPARE, EG_OPERATION_UNEQUAL},
    {EG_TOKEN_PLUS, LEVEL_SUM, EG_OPERATION_ADD},
    {EG_TOKEN_MINUS, LEVEL_SUM, EG_OPERATION_SUBTRACT},
    {EG_TOKEN_TIMES, LEVEL_PRODUCT, EG_OPERATION_MULTIPLY},
    {EG_TOKEN_DIVIDE, LEVEL_PRODUCT, EG_OPERATION_DIVIDE},
};

typedef struct function {
    const char *name;
    size_t operands;
    eg_operation operation;
} function;

static const function functions[] = {
    {"sin", 1, EG_OPERATION_SIN},     {"cos", 1, EG_OPERATION_COS},
    {"tan", 1, EG_OPERATION_TAN},     {"asin", 1, EG_OPERATION_ASIN},
    {"acos", 1, EG_OPERATION_ACOS},   {"atan", 1, EG_OPERATION_ATAN},
    {"atan2", 2, EG_OPERATION_ATAN2}, {"sinh", 1, EG_OPERATION_SINH},
    {"cosh", 1, EG_OPERATION_COSH},   {"tanh", 1, EG_OPERATION_TANH},
    {"exp", 1, EG_OPERATION_EXP},     {"log", 1, EG_OPERATION_LOG},
    {"log10", 1, EG_OPERATION_LOG10}, {"sqrt", 1, EG_OPERATION_SQRT},
    {"abs", 1, EG_OPERATION_ABS},     {"min", 2, EG_OPERATION_MINIMUM},
    {"max", 2, EG_OPERATION_MAXIMUM}, {"floor", 1, EG_OPERATION_FLOOR},
    {"mod", 2, EG_OPERATION_MODULO},  {"pow", 2, EG_OPERATION_POWER},
    {"step", 1, EG_OPERATION_STEP},   {"if", 3, EG_OPERATION_CHOOSE},
};

/* Names of other languages, and what is written here. */
static const struct {
    const char *name, *here;
} foreign[] = {
    {"ln", "log(x)"},
    {"arcsin", "asin(x)"},
    {"arccos", "acos(x)"},
    {"arctan", "atan(x)"},
    {"arctan2", "atan2(y, x)"},
    {"fabs", "abs(x)"},
    {"fmod", "mod(x, y)"},
    {"fmin", "min(x, y)"},
    {"fmax", "max(x, y)"},
    {"heaviside", "step(x)"},
    {"ceil", "-floor(-x)"},
    {"cbrt", "x^(1/3)"},
    {"sign", "if(x < 0, -1, 1)"},
    {"and", "&&"},
    {"or", "||"},
    {"not", "!"},
    {"e", "exp(1)"},
    {"PI", "pi"},
};

typedef struct parser {
    eg_expression *e;
    eg_expression_error *error;
    const eg_symbol *symbols;
    size_t symbol_count;
    eg_token token, last; /* the one to be parsed next, and the one before it */
    int nesting;
} parser;

static const double pi = 3.14159265358979323846;

static eg_status parse_choice(parser *p);

/* --- errors -------------------------------------------------------------------------------------- */

/* wrong(parser, token, format, …) fails at a token. */
#define wrong(p, token, ...)                                                                       \
    eg_expression_wrong((p)->e->ctx, (p)->e->text, (token)->offset, (token)->length, (p)->error,   \
                        __VA_ARGS__)

/* For "%.*s": a token's text, and no more of it than a message can hold. */
#define SHOWN(p, token)                                                                            \
    (int)((token)->length < 40 ? (token)->length : 40), (p)->e->text + (token)->offset

static eg_status nested_too_deeply(parser *p, const eg_token *token)
{
    return wrong(p, token,
                 "the expression is nested too deeply here; write it with fewer brackets, signs "
                 "and choices inside each other");
}

static bool is_name(const parser *p, const eg_token *token, const char *name)
{
    return strlen(name) == token->length &&
           !memcmp(p->e->text + token->offset, name, token->length);
}

static const function *find_function(const parser *p, const eg_token *name)
{
    for (size_t i = 0; i < EG_COUNT(functions); i++)
        if (is_name(p, name, functions[i].name)) return &functions[i];
    return NULL;
}

static const eg_symbol *find_symbol(const parser *p, const eg_token *name)
{
    for (size_t i = 0; i < p->symbol_count; i++)
        if (is_name(p, name, p->symbols[i].name)) return &p->symbols[i];
    return NULL;
}

/* A name that is neither a symbol nor, if brackets follow, a function: says which is near. */
static eg_status unknown_name(parser *p, const eg_token *name, bool called)
{
    const char *what = called ? "function" : "name";
    const char **candidates = NULL;
    char *given = NULL, known[160] = "";
    size_t count = 0;
    eg_status status = EG_OK;
    p->error->unknown_name = !called;
    for (size_t i = 0; i < EG_COUNT(foreign); i++)
        if (is_name(p, name, foreign[i].name))
            return wrong(p, name, "there is no %s '%s'; write %s", what, foreign[i].name,
                         foreign[i].here);
    EG_TRY(eg_new(p->e->ctx, EG_COUNT(functions) + p->symbol_count + 1, &candidates));
    EG_TRY(eg_new(p->e->ctx, name->length + 1, &given));
    memcpy(given, p->e->text + name->offset, name->length);
    if (called) {
        for (size_t i = 0; i < EG_COUNT(functions); i++) {
            candidates[count++] = functions[i].name;
            snprintf(known + strlen(known), sizeof known - strlen(known), " %s", functions[i].name);
        }
    } else {
        for (size_t i = 0; i < p->symbol_count; i++)
            candidates[count++] = p->symbols[i].name;
        candidates[count++] = "pi";
    }
    const char *nearest = eg_nearest(given, candidates, count);
    if (nearest)
        status = wrong(p, name, "there is no %s '%.*s'; did you mean '%.40s'?", what,
                       SHOWN(p, name), nearest);
    else if (called)
        status =
            wrong(p, name, "there is no function '%.*s'; those known are%s", SHOWN(p, name), known);
    else
        status = wrong(p, name, "there is no name '%.*s'; is it a constant yet to be defined?",
                       SHOWN(p, name));
done:
    eg_release(p->e->ctx, &given);
    eg_release(p->e->ctx, &candidates);
    return status;
}

static bool begins_value(const eg_token *token)
{
    return token->kind == EG_TOKEN_NUMBER || token->kind == EG_TOKEN_NAME ||
           token->kind == EG_TOKEN_OPEN;
}

/* The token to be parsed next cannot follow a complete value. `open` is the bracket or question mark
 * around it, NULL at the top. */
static eg_status cannot_follow(parser *p, const eg_token *open)
{
    const eg_token *token = &p->token;
    bool touching = p->last.offset + p->last.length == token->offset;
    if (begins_value(token) && p->last.kind != EG_TOKEN_CLOSE && token->kind != EG_TOKEN_OPEN &&
        touching)
        return wrong(p, token, "an operator is missing; a product is written %.*s*%.*s",
                     SHOWN(p, &p->last), SHOWN(p, token));
    if (begins_value(token))
        return wrong(p, token,
                     "an operator is missing before '%.*s'; a product is written with '*'",
                     SHOWN(p, token));
    if (token->kind == EG_TOKEN_NOT) return wrong(p, token, "'!' stands before what it negates");
    if (open && open->kind == EG_TOKEN_QUESTION)
        return wrong(p, open, "this choice has no ':'; it is written c ? a : b");
    if (token->kind == EG_TOKEN_COMMA)
        return wrong(p, token,
                     "a ',' separates the arguments of a function, and there is none around it; "
                     "decimals are written with a point");
    if (token->kind == EG_TOKEN_COLON)
        return wrong(p, token, "there is no '?' that this ':' belongs to");
    if (open) return wrong(p, open, "this bracket is never closed");
    return wrong(p, token, "this bracket closes nothing");
}

static eg_status value_expected(parser *p)
{
    const eg_token *token = &p->token;
    if (token->kind != EG_TOKEN_END)
        return wrong(p, token, "a value is expected here, not '%.*s'", SHOWN(p, token));
    if (p->last.length == 0) return wrong(p, token, "the expression is empty");
    return wrong(p, token, "the expression ends where a value is expected");
}

/* --- tokens and instructions --------------------------------------------------------------------- */

static eg_status next(parser *p)
{
    p->last = p->token;
    return eg_token_read(p->e->ctx, p->e->text, p->token.offset + p->token.length, p->error,
                         &p->token);
}

/* Says where the slots ran out. */
static eg_status built(parser *p, eg_status status)
{
    return status == EG_ERROR_UNSUPPORTED ? nested_too_deeply(p, &p->last) : status;
}

static eg_status apply(parser *p, eg_operation operation, size_t operands, size_t first)
{
    return built(p, eg_code_apply(p->e, operation, operands, first));
}

/* --- the grammar --------------------------------------------------------------------------------- */

/* name ( choice , … ) */
static eg_status parse_call(parser *p, const eg_token *name)
{
    const function *f = find_function(p, name);
    const eg_token open = p->token;
    const size_t first = p->e->count;
    size_t given = 0;
    eg_status status = EG_OK;
    if (!f && find_symbol(p, name))
        return wrong(p, name, "'%.*s' is no function; a product is written %.*s*(…)",
                     SHOWN(p, name), SHOWN(p, name));
    if (!f) return unknown_name(p, name, true);
    EG_TRY(next(p));
    while (p->token.kind != EG_TOKEN_CLOSE || given > 0) {
        EG_TRY(parse_choice(p));
        given++;
        if (p->token.kind == EG_TOKEN_CLOSE) break;
        if (p->token.kind != EG_TOKEN_COMMA) return cannot_follow(p, &open);
        EG_TRY(next(p));
    }
    EG_TRY(next(p));
    if (given != f->operands) {
        const eg_token call = {.offset = name->offset,
                               .length = p->last.offset + p->last.length - name->offset};
        return wrong(p, &call, "%s takes %zu argument%s, not %zu", f->name, f->operands,
                     f->operands == 1 ? "" : "s", given);
    }
    EG_TRY(apply(p, f->operation, f->operands, first));
done:
    return status;
}

static eg_status parse_name(parser *p)
{
    const eg_token name = p->token;
    eg_status status = EG_OK;
    EG_TRY(next(p));
    if (p->token.kind == EG_TOKEN_OPEN) return parse_call(p, &name);
    const eg_symbol *symbol = find_symbol(p, &name);
    if (symbol && symbol->variable >= 0)
        EG_TRY(built(p, eg_code_variable(p->e, symbol->variable)));
    else if (symbol)
        EG_TRY(built(p, eg_code_constant(p->e, symbol->value)));
    else if (is_name(p, &name, "pi"))
        EG_TRY(built(p, eg_code_constant(p->e, pi)));
    else if (find_function(p, &name))
        status = wrong(p, &name, "the arguments of a function stand in brackets: %.*s(…)",
                       SHOWN(p, &name));
    else
        status = unknown_name(p, &name, false);
done:
    return status;
}

/* number | name | call | ( choice ) */
static eg_status parse_primary(parser *p)
{
    const eg_token open = p->token;
    eg_status status = EG_OK;
    switch (p->token.kind) {
    case EG_TOKEN_NUMBER:
        EG_TRY(next(p));
        return built(p, eg_code_constant(p->e, open.value));
    case EG_TOKEN_NAME:
        return parse_name(p);
    case EG_TOKEN_OPEN:
        EG_TRY(next(p));
        EG_TRY(parse_choice(p));
        if (p->token.kind != EG_TOKEN_CLOSE) return cannot_follow(p, &open);
        return next(p);
    default:
        return value_expected(p);
    }
done:
    return status;
}

/* - sign | + sign | ! sign | primary [ ^ sign ] */
static eg_status parse_sign(parser *p)
{
    const size_t first = p->e->count;
    const eg_token_kind kind = p->token.kind;
    eg_status status = EG_OK;
    if (p->nesting == EG_EXPRESSION_NESTING) return nested_too_deeply(p, &p->token);
    p->nesting++;
    if (kind == EG_TOKEN_MINUS || kind == EG_TOKEN_PLUS || kind == EG_TOKEN_NOT) {
        EG_TRY(next(p));
        EG_TRY(parse_sign(p));
        if (kind == EG_TOKEN_MINUS) EG_TRY(apply(p, EG_OPERATION_NEGATE, 1, first));
        if (kind == EG_TOKEN_NOT) EG_TRY(apply(p, EG_OPERATION_NOT, 1, first));
    } else {
        EG_TRY(parse_primary(p));
        if (p->token.kind == EG_TOKEN_POWER) {
            EG_TRY(next(p));
            EG_TRY(parse_sign(p));
            EG_TRY(apply(p, EG_OPERATION_POWER, 2, first));
        }
    }
    p->nesting--;
done:
    return status;
}

static const binary_operator *find_binary(const eg_token *token)
{
    for (size_t i = 0; i < EG_COUNT(binary_operators); i++)
        if (binary_operators[i].token == token->kind) return &binary_operators[i];
    return NULL;
}

/* sign { operator sign }, with operators of `level` or tighter. */
static eg_status parse_binary(parser *p, int level)
{
    const size_t first = p->e->count;
    const binary_operator *binary, *then;
    eg_status status = EG_OK;
    EG_TRY(parse_sign(p));
    while ((binary = find_binary(&p->token)) != NULL && binary->level >= level) {
        EG_TRY(next(p));
        EG_TRY(parse_binary(p, binary->level + 1));
        EG_TRY(apply(p, binary->operation, 2, first));
        then = find_binary(&p->token);
        if (binary->level == LEVEL_COMPARE && then && then->level == LEVEL_COMPARE)
            return wrong(p, &p->token,
                         "comparisons cannot be chained; write a < b && b < c, or use brackets");
    }
done:
    return status;
}

/* binary [ ? choice : choice ] */
static eg_status parse_choice(parser *p)
{
    const size_t first = p->e->count;
    eg_status status = EG_OK;
    if (p->nesting == EG_EXPRESSION_NESTING) return nested_too_deeply(p, &p->token);
    p->nesting++;
    EG_TRY(parse_binary(p, LEVEL_OR));
    if (p->token.kind == EG_TOKEN_QUESTION) {
        const eg_token question = p->token;
        EG_TRY(next(p));
        EG_TRY(parse_choice(p));
        if (p->token.kind != EG_TOKEN_COLON) return cannot_follow(p, &question);
        EG_TRY(next(p));
        EG_TRY(parse_choice(p));
        EG_TRY(apply(p, EG_OPERATION_CHOOSE, 3, first));
    }
    p->nesting--;
done:
    return status;
}

eg_status eg_expression_parse(eg_expression *e, const eg_symbol *symbols, size_t symbol_count,
                              eg_expression_error *error)
{
    parser p = {.e = e, .symbols = symbols, .symbol_count = symbol_count, .error = error};
    eg_status status = EG_OK;
    if (strlen(e->text) > EG_EXPRESSION_LENGTH)
        return eg_expression_wrong(e->ctx, e->text, 0, 1, error,
                                   "the expression has %zu characters; %d are the most",
                                   strlen(e->text), EG_EXPRESSION_LENGTH);
    EG_TRY(next(&p));
    EG_TRY(parse_choice(&p));
    if (p.token.kind != EG_TOKEN_END) return cannot_follow(&p, NULL);
done:
    return status;
}
