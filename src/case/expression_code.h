/* What an expression is compiled to: a list of instructions on numbered slots, and its builder.
 *
 * Slots are a stack whose heights are known at compile time: an operation takes its operands from the
 * top and leaves its value in the place of the first. The list of operations below is at once what the
 * host computes and, as text, what kernels compute. Each is one rounding or one library function, so
 * that no compiler can contract two of them on the host; x^n and mod are made of several. */
#ifndef EG_EXPRESSION_CODE_H
#define EG_EXPRESSION_CODE_H

#include "case/expression.h"

/* X(operation, operands, value): the value from operands a, b, c in the kernel language. */
#define EG_OPERATIONS(X)                                                                           \
    X(ADD, 2, a + b)                                                                               \
    X(SUBTRACT, 2, a - b)                                                                          \
    X(MULTIPLY, 2, (a * b))                                                                        \
    X(DIVIDE, 2, a / b)                                                                            \
    X(NEGATE, 1, -a)                                                                               \
    X(LESS, 2, a < b ? K_R(1) : K_R(0))                                                            \
    X(LESS_EQUAL, 2, a <= b ? K_R(1) : K_R(0))                                                     \
    X(GREATER, 2, a > b ? K_R(1) : K_R(0))                                                         \
    X(GREATER_EQUAL, 2, a >= b ? K_R(1) : K_R(0))                                                  \
    X(EQUAL, 2, a == b ? K_R(1) : K_R(0))                                                          \
    X(UNEQUAL, 2, a != b ? K_R(1) : K_R(0))                                                        \
    X(NOT, 1, a == K_R(0) ? K_R(1) : K_R(0))                                                       \
    X(AND, 2, ((a != K_R(0)) & (b != K_R(0))) ? K_R(1) : K_R(0))                                   \
    X(OR, 2, ((a != K_R(0)) | (b != K_R(0))) ? K_R(1) : K_R(0))                                    \
    X(CHOOSE, 3, a != K_R(0) ? b : c)                                                              \
    X(MINIMUM, 2, b < a ? b : a)                                                                   \
    X(MAXIMUM, 2, a < b ? b : a)                                                                   \
    X(STEP, 1, a < K_R(0) ? K_R(0) : K_R(1))                                                       \
    X(ABS, 1, K_ABS(a))                                                                            \
    X(FLOOR, 1, K_FLOOR(a))                                                                        \
    X(SQRT, 1, K_SQRT(a))                                                                          \
    X(SIN, 1, K_SIN(a))                                                                            \
    X(COS, 1, K_COS(a))                                                                            \
    X(TAN, 1, K_TAN(a))                                                                            \
    X(ASIN, 1, K_ASIN(a))                                                                          \
    X(ACOS, 1, K_ACOS(a))                                                                          \
    X(ATAN, 1, K_ATAN(a))                                                                          \
    X(ATAN2, 2, K_ATAN2(a, b))                                                                     \
    X(SINH, 1, K_SINH(a))                                                                          \
    X(COSH, 1, K_COSH(a))                                                                          \
    X(TANH, 1, K_TANH(a))                                                                          \
    X(EXP, 1, K_EXP(a))                                                                            \
    X(LOG, 1, K_LOG(a))                                                                            \
    X(LOG10, 1, K_LOG10(a))                                                                        \
    X(POW, 2, K_POW(a, b))

typedef enum eg_operation {
    EG_OPERATION_CONSTANT, /* slot `to` = value */
    EG_OPERATION_VARIABLE, /* slot `to` = variables[variable] */
#define X(operation, operands, value) EG_OPERATION_##operation,
    EG_OPERATIONS(X)
#undef X
    /* Made of several of the above, known to eg_code_apply alone. */
    EG_OPERATION_MODULO,
    EG_OPERATION_POWER
} eg_operation;

/* Text, nesting and slots are bounded, so that evaluation and kernels are. */
enum { EG_EXPRESSION_LENGTH = 1 << 14, EG_EXPRESSION_NESTING = 128, EG_EXPRESSION_SLOTS = 128 };

typedef struct eg_instruction {
    union {
        double value; /* of EG_OPERATION_CONSTANT */
        int variable; /* of EG_OPERATION_VARIABLE */
    } of;
    uint8_t operation;   /* an eg_operation */
    uint8_t to, a, b, c; /* slots; those that an operation does not use hold some value, too */
} eg_instruction;

struct eg_expression {
    eg_context *ctx;      /* not owned */
    char *text;           /* owned */
    eg_instruction *code; /* [count], owned; leaves the value in slot 0 */
    size_t count, capacity;
    size_t height; /* slots in use while the code is built */
};

/* The builder. Each fails with EG_ERROR_MEMORY, or EG_ERROR_UNSUPPORTED if the slots do not suffice
 * (without a message: the parser knows where that is). */
eg_status eg_code_constant(eg_expression *e, double value);
eg_status eg_code_variable(eg_expression *e, int variable);
/* Applies an operation to the uppermost `operands` slots, whose instructions begin at index `first`.
 * An operation on constants becomes a constant. */
eg_status eg_code_apply(eg_expression *e, eg_operation operation, size_t operands, size_t first);

/* Compiles e->text into e->code. */
eg_status eg_expression_parse(eg_expression *e, const eg_symbol *symbols, size_t symbol_count,
                              eg_expression_error *error);

#endif
