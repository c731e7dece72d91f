/* The tokens of expressions, and how a wrong expression is reported. */
#ifndef EG_EXPRESSION_TOKEN_H
#define EG_EXPRESSION_TOKEN_H

#include "case/expression.h"

/* X(token, characters) */
#define EG_TOKENS(X)                                                                               \
    X(LESS_EQUAL, "<=")                                                                            \
    X(GREATER_EQUAL, ">=")                                                                         \
    X(EQUAL, "==")                                                                                 \
    X(UNEQUAL, "!=")                                                                               \
    X(AND, "&&")                                                                                   \
    X(OR, "||")                                                                                    \
    X(LESS, "<")                                                                                   \
    X(GREATER, ">")                                                                                \
    X(NOT, "!")                                                                                    \
    X(PLUS, "+")                                                                                   \
    X(MINUS, "-")                                                                                  \
    X(TIMES, "*")                                                                                  \
    X(DIVIDE, "/")                                                                                 \
    X(POWER, "^")                                                                                  \
    X(QUESTION, "?")                                                                               \
    X(COLON, ":")                                                                                  \
    X(COMMA, ",")                                                                                  \
    X(OPEN, "(")                                                                                   \
    X(CLOSE, ")")

typedef enum eg_token_kind {
    EG_TOKEN_END,
    EG_TOKEN_NUMBER,
    EG_TOKEN_NAME,
#define X(token, characters) EG_TOKEN_##token,
    EG_TOKENS(X)
#undef X
} eg_token_kind;

typedef struct eg_token {
    eg_token_kind kind;
    size_t offset, length; /* its place in the text, in bytes */
    double value;          /* of a number */
} eg_token;

/* Reads the token at or behind `offset` of `text`. */
eg_status eg_token_read(eg_context *ctx, const char *text, size_t offset,
                        eg_expression_error *error, eg_token *out);

/* Fills *error and sets the context's message, which shows the text, too. Returns EG_ERROR_INPUT. */
eg_status eg_expression_wrong(eg_context *ctx, const char *text, size_t offset, size_t length,
                              eg_expression_error *error, const char *format, ...) EG_PRINTF(6, 7);

#endif
