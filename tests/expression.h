/* Expressions of x, y, z, t and pi. */
#ifndef EG_TEST_EXPRESSION_H
#define EG_TEST_EXPRESSION_H

#include "test.h"

#include "case/expression.h"

/* NULL without a text. */
static inline eg_expression *expression(eg_context *ctx, const char *text)
{
    static const eg_symbol symbols[] = {{"x", EG_VARIABLE_X, 0},
                                        {"y", EG_VARIABLE_Y, 0},
                                        {"z", EG_VARIABLE_Z, 0},
                                        {"t", EG_VARIABLE_T, 0},
                                        {"pi", -1, 3.14159265358979323846}};
    eg_expression *e = NULL;
    if (text) TEST_OK(ctx, eg_expression_create(ctx, text, symbols, EG_COUNT(symbols), NULL, &e));
    return e;
}

#endif
