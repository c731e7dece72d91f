/* Expressions on the host: creation, evaluation, and the builder of their code. */
#include "case/expression_code.h"

#include <assert.h>
#include <math.h>

/* The kernel language's functions, on the host. */
#define K_R(x) ((double)(x))
#define K_ABS(x) fabs(x)
#define K_FLOOR(x) floor(x)
#define K_SQRT(x) sqrt(x)
#define K_SIN(x) sin(x)
#define K_COS(x) cos(x)
#define K_TAN(x) tan(x)
#define K_ASIN(x) asin(x)
#define K_ACOS(x) acos(x)
#define K_ATAN(x) atan(x)
#define K_ATAN2(y, x) atan2(y, x)
#define K_SINH(x) sinh(x)
#define K_COSH(x) cosh(x)
#define K_TANH(x) tanh(x)
#define K_EXP(x) exp(x)
#define K_LOG(x) log(x)
#define K_LOG10(x) log10(x)
#define K_POW(x, y) pow(x, y)

/* Runs instructions and returns the value of the last. */
static double run(const eg_instruction *code, size_t count, const double *variables)
{
    double slots[EG_EXPRESSION_SLOTS], value = 0;
    slots[0] = 0; /* what loads name as their operands */
    for (const eg_instruction *i = code; i < code + count; i++) {
        const double a = slots[i->a], b = slots[i->b], c = slots[i->c];
        switch (i->operation) {
        case EG_OPERATION_CONSTANT:
            value = i->of.value;
            break;
        case EG_OPERATION_VARIABLE:
            value = variables[i->of.variable];
            break;
#define X(name, operands, result)                                                                  \
    case EG_OPERATION_##name:                                                                      \
        value = result;                                                                            \
        break;
            EG_OPERATIONS(X)
#undef X
        }
        slots[i->to] = value;
    }
    return value;
}

double eg_expression_evaluate(const eg_expression *expression, const double *variables)
{
    return run(expression->code, expression->count, variables);
}

bool eg_expression_uses(const eg_expression *expression, int variable)
{
    for (size_t i = 0; i < expression->count; i++) {
        const eg_instruction *code = &expression->code[i];
        if (code->operation == EG_OPERATION_VARIABLE && code->of.variable == variable) return true;
    }
    return false;
}

bool eg_expression_varies(const eg_expression *expression)
{
    return eg_expression_uses(expression, EG_VARIABLE_X) ||
           eg_expression_uses(expression, EG_VARIABLE_Y) ||
           eg_expression_uses(expression, EG_VARIABLE_Z);
}

const char *eg_expression_text(const eg_expression *expression)
{
    return expression->text;
}

/* --- building ------------------------------------------------------------------------------------ */

static eg_status append(eg_expression *e, eg_instruction instruction)
{
    if (e->count == e->capacity) {
        size_t capacity = e->capacity ? 2 * e->capacity : 16;
        void *code = e->code;
        eg_status status = eg_reallocate(e->ctx, capacity * sizeof *e->code, &code);
        if (status != EG_OK) return status;
        e->code = code;
        e->capacity = capacity;
    }
    e->code[e->count++] = instruction;
    return EG_OK;
}

/* Appends slot[to] = operation(slot[a], slot[b], slot[c]). */
static eg_status add(eg_expression *e, eg_operation operation, size_t to, size_t a, size_t b,
                     size_t c)
{
    assert(to < EG_EXPRESSION_SLOTS && a < EG_EXPRESSION_SLOTS && b < EG_EXPRESSION_SLOTS &&
           c < EG_EXPRESSION_SLOTS);
    return append(e, (eg_instruction){.operation = (uint8_t)operation,
                                      .to = (uint8_t)to,
                                      .a = (uint8_t)a,
                                      .b = (uint8_t)b,
                                      .c = (uint8_t)c});
}

static eg_status push(eg_expression *e, eg_instruction load)
{
    if (e->height == EG_EXPRESSION_SLOTS) return EG_ERROR_UNSUPPORTED;
    load.to = (uint8_t)e->height++;
    return append(e, load);
}

eg_status eg_code_constant(eg_expression *e, double value)
{
    return push(e, (eg_instruction){.of.value = value, .operation = EG_OPERATION_CONSTANT});
}

eg_status eg_code_variable(eg_expression *e, int variable)
{
    return push(e, (eg_instruction){.of.variable = variable, .operation = EG_OPERATION_VARIABLE});
}

/* x - y * floor(x / y) of slots x and x + 1. */
static eg_status add_modulo(eg_expression *e, size_t x)
{
    const size_t y = x + 1, quotient = x + 2;
    eg_status status = EG_OK;
    if (quotient >= EG_EXPRESSION_SLOTS) return EG_ERROR_UNSUPPORTED;
    EG_TRY(add(e, EG_OPERATION_DIVIDE, quotient, x, y, x));
    EG_TRY(add(e, EG_OPERATION_FLOOR, quotient, quotient, quotient, quotient));
    EG_TRY(add(e, EG_OPERATION_MULTIPLY, y, y, quotient, y));
    EG_TRY(add(e, EG_OPERATION_SUBTRACT, x, x, y, x));
done:
    return status;
}

/* x^n of slot x, whose instructions begin at `first`, for whole n from -8 to 8: from the leading bit of
 * |n| on, squared for each further bit and multiplied by x if it is set. */
static eg_status add_whole_power(eg_expression *e, size_t x, int n, size_t first)
{
    const size_t power = x + 1;
    const int size = n < 0 ? -n : n;
    eg_status status = EG_OK;
    if (power >= EG_EXPRESSION_SLOTS) return EG_ERROR_UNSUPPORTED;
    if (n == 0) { /* 1 for every x, also NaN */
        e->count = first;
        e->height = x;
        return eg_code_constant(e, 1.0);
    }
    int bit = 8;
    while (bit > size)
        bit /= 2;
    size_t from = x;
    for (bit /= 2; bit > 0; bit /= 2) {
        EG_TRY(add(e, EG_OPERATION_MULTIPLY, power, from, from, from));
        from = power;
        if (size & bit) EG_TRY(add(e, EG_OPERATION_MULTIPLY, power, power, x, power));
    }
    if (n < 0) {
        const size_t one = x + (from == x ? 1 : 2);
        if (one >= EG_EXPRESSION_SLOTS) return EG_ERROR_UNSUPPORTED;
        e->height = one;
        EG_TRY(eg_code_constant(e, 1.0));
        EG_TRY(add(e, EG_OPERATION_DIVIDE, x, one, from, one));
    } else if (from == power) {
        /* The last product goes to the place of x. */
        e->code[e->count - 1].to = (uint8_t)x;
    }
    e->height = x + 1;
done:
    return status;
}

/* True if the exponent, the uppermost slot, is a whole constant that is done by products. */
static bool is_whole_power(const eg_expression *e, int *n)
{
    const eg_instruction *last = &e->code[e->count - 1];
    if (last->operation != EG_OPERATION_CONSTANT || last->to != e->height - 1) return false;
    double value = last->of.value;
    if (!(value >= -8.0 && value <= 8.0) || floor(value) != value) return false;
    *n = (int)value;
    return true;
}

eg_status eg_code_apply(eg_expression *e, eg_operation operation, size_t operands, size_t first)
{
    const size_t x = e->height - operands;
    bool constant = e->count - first == operands;
    int n = 0;
    eg_status status = EG_OK;
    for (size_t i = first; i < e->count && constant; i++)
        constant = e->code[i].operation == EG_OPERATION_CONSTANT;

    if (operation == EG_OPERATION_MODULO) {
        EG_TRY(add_modulo(e, x));
    } else if (operation == EG_OPERATION_POWER && is_whole_power(e, &n)) {
        e->count--;
        EG_TRY(add_whole_power(e, x, n, first));
    } else {
        if (operation == EG_OPERATION_POWER) operation = EG_OPERATION_POW;
        EG_TRY(add(e, operation, x, x, operands > 1 ? x + 1 : x, operands > 2 ? x + 2 : x));
    }
    e->height = x + 1;
    if (constant) {
        /* Slots of the instructions from `first` on are counted from x: constants fill them anew. */
        double value = run(e->code + first, e->count - first, NULL);
        e->count = first;
        e->height = x;
        EG_TRY(eg_code_constant(e, value));
    }
done:
    return status;
}

/* --- life ---------------------------------------------------------------------------------------- */

eg_status eg_expression_create(eg_context *ctx, const char *text, const eg_symbol *symbols,
                               size_t symbol_count, eg_expression_error *error, eg_expression **out)
{
    eg_status status = EG_OK;
    eg_expression *e = NULL;
    eg_expression_error unwanted;
    if (!error) error = &unwanted;
    *error = (eg_expression_error){0};
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &e));
    e->ctx = ctx;
    EG_TRY(eg_copy_string(ctx, text, &e->text));
    EG_TRY(eg_expression_parse(e, symbols, symbol_count, error));
    assert(e->height == 1);
    *out = e;
    e = NULL;
done:
    eg_expression_destroy(&e);
    return status;
}

void eg_expression_destroy(eg_expression **expression)
{
    if (!expression || !*expression) return;
    eg_context *ctx = (*expression)->ctx;
    eg_release(ctx, &(*expression)->code);
    eg_release(ctx, &(*expression)->text);
    eg_release(ctx, expression);
}
