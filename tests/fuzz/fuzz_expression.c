/* Fuzzes the compiler of expressions: any text is either refused with a place inside it, or compiled
 * to something that can be evaluated and emitted. */
#include "case/expression.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

/* Also where assert means nothing. */
static void require(bool holds)
{
    if (!holds) abort();
}

static void use(eg_context *ctx, const eg_expression *e)
{
    static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    static const double points[][EG_VARIABLE_COUNT] = {{0, 0, 0, 0}, {1, -2, 0.5, 3e300}};
    eg_text text = eg_text_new(ctx);
    for (size_t i = 0; i < EG_COUNT(points); i++) {
        double first = eg_expression_evaluate(e, points[i]);
        double again = eg_expression_evaluate(e, points[i]);
        require(first == again || (first != first && again != again));
    }
    require(eg_expression_emit(e, "f", arguments, EG_VARIABLE_COUNT, &text) == EG_OK);
    require(strstr(eg_text_string(&text), "return"));
    for (int v = 0; v < EG_VARIABLE_COUNT; v++)
        (void)eg_expression_uses(e, v);
    eg_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const eg_symbol symbols[] = {
        {"x", EG_VARIABLE_X, 0}, {"y", EG_VARIABLE_Y, 0}, {"z", EG_VARIABLE_Z, 0},
        {"t", EG_VARIABLE_T, 0}, {"gamma", -1, 1.4},
    };
    eg_context *ctx = NULL;
    eg_expression *e = NULL;
    eg_expression_error error = {0};
    char *text = malloc(size + 1);
    if (!text || eg_context_create(NULL, &ctx) != EG_OK) abort();
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    if (eg_expression_create(ctx, text, symbols, EG_COUNT(symbols), &error, &e) == EG_OK) {
        require(!strcmp(eg_expression_text(e), text));
        use(ctx, e);
    } else {
        require(error.message[0] && strstr(eg_context_error(ctx), error.message));
        require(error.offset + error.length <= strlen(text));
    }
    eg_expression_destroy(&e);
    eg_context_destroy(&ctx);
    free(text);
    return 0;
}
