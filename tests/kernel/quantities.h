/* What tests of quantities share: expressions of fields, and fields with the quantities made of
 * them. */
#ifndef EG_TEST_QUANTITIES_H
#define EG_TEST_QUANTITIES_H

#include "kernel/boxes.h"

#include "field/quantity.h"

#define COMPONENTS_MOST 4
#define VARIABLES_MOST (EG_QUANTITY_FIELDS + 4 * COMPONENTS_MOST)

/* An expression of x, y, z, t, nx, ny, nz, the components a, b, c, d of fields that have `total` of
 * them together, and their derivatives a_x, a_y and so on. */
static inline eg_expression *quantity_expression(eg_context *ctx, int total, const char *text)
{
    static const char *const first[] = {"x", "y", "z", "t", "nx", "ny", "nz"};
    char names[VARIABLES_MOST][4];
    eg_symbol symbols[VARIABLES_MOST];
    eg_expression *expression = NULL;
    const int count = eg_quantity_derivative(total, total, 0);
    assert_true(total <= COMPONENTS_MOST);
    for (int v = 0; v < EG_QUANTITY_FIELDS; v++)
        symbols[v] = (eg_symbol){first[v], v, 0};
    for (int c = 0; c < total; c++) {
        const int v = EG_QUANTITY_FIELDS + c;
        snprintf(names[v], sizeof names[v], "%c", 'a' + c);
        symbols[v] = (eg_symbol){names[v], v, 0};
        for (int d = 0; d < 3; d++) {
            const int w = eg_quantity_derivative(total, c, d);
            snprintf(names[w], sizeof names[w], "%c_%c", 'a' + c, 'x' + d);
            symbols[w] = (eg_symbol){names[w], w, 0};
        }
    }
    TEST_OK(ctx, eg_expression_create(ctx, text, symbols, (size_t)count, NULL, &expression));
    return expression;
}

/* Quantities of the options' fields and boundaries, given as texts. */
static inline eg_quantity *quantity_new(eg_quantity_options options, int count,
                                        const char *const *texts)
{
    enum { MOST = 8 };
    eg_context *ctx = options.fields[0]->space->ctx;
    eg_expression *list[MOST];
    eg_quantity *quantity = NULL;
    int total = 0;
    assert_true(count <= MOST);
    for (int f = 0; f < options.field_count; f++)
        total += options.fields[f]->components;
    for (int i = 0; i < count; i++)
        list[i] = quantity_expression(ctx, total, texts[i]);
    options.expressions = (const eg_expression *const *)list;
    options.count = count;
    TEST_OK(ctx, eg_quantity_create(&options, &quantity));
    for (int i = 0; i < count; i++)
        eg_expression_destroy(&list[i]);
    return quantity;
}

/* The same, measured at time t and thrown away. */
static inline void measure_once(const eg_quantity_options *options, double t, int count,
                                const char *const *texts, eg_quantity_result *out)
{
    eg_quantity *quantity = quantity_new(*options, count, texts);
    TEST_OK(options->fields[0]->space->ctx, eg_quantity_measure(quantity, t, options->fields, out));
    eg_quantity_destroy(&quantity);
}

/* A field that is the L2 projection of functions of x, y, z. */
static inline eg_field *field_new(eg_space *space, eg_type type, int components,
                                  const char *const *texts)
{
    eg_function *function = function_new(space, components, texts);
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, components, type, &field));
    TEST_OK(space->ctx, eg_function_project(function, 0, field));
    eg_function_destroy(&function);
    return field;
}

#endif
