/* Expressions: formulas of x, y, z, t and named constants in strings, evaluated on the host and
 * emitted as C for kernels.
 *
 *     sum        + -            (left to right)
 *     product    * /
 *     sign       - + !
 *     power      ^              (right to left, binds tighter than a sign on its left: -x^2 = -(x^2))
 *     compare    < <= > >= == !=
 *     logic      && ||          (both sides are evaluated)
 *     choice     c ? a : b      if(c, a, b)
 *     functions  sin cos tan asin acos atan atan2 sinh cosh tanh exp log log10 sqrt abs min max floor
 *                mod pow step
 *     constants  pi, those of the user
 *
 * True is 1, false is 0; any value but 0 is true (NaN too). step(x) is 0 for x < 0, else 1.
 * mod(x, y) = x - y*floor(x/y). min(a, b) and max(a, b) are b < a ? b : a and a < b ? b : a. Whole
 * powers from -8 to 8 are products, in the same order on host and device. What consists of constants
 * alone is computed once, on the host.
 *
 * Kernels of emitted expressions are created with eg_kernel_options.no_contraction: + - * / sqrt then
 * have the host's bits on every device, the other functions differ in the last places. */
#ifndef EG_EXPRESSION_H
#define EG_EXPRESSION_H

#include "base/base.h"

typedef struct eg_expression eg_expression;

/* A name that an expression may use. */
typedef struct eg_symbol {
    const char *name; /* is looked up before pi; functions, before a bracket, are apart */
    int variable;     /* its index among the values given to evaluation; -1: a constant */
    double value;     /* of a constant */
} eg_symbol;

/* Where in the text an expression is wrong. */
typedef struct eg_expression_error {
    size_t offset, length; /* in bytes; length 0 at the end of the text */
    bool unknown_name;     /* a variable or constant that is not among the symbols */
    char message[256];     /* with a suggestion where one is near */
} eg_expression_error;

/* Compiles `text`. A wrong text is EG_ERROR_INPUT with the context's message set and *error filled
 * (error may be NULL). The expression keeps no pointer to its arguments. */
eg_status eg_expression_create(eg_context *ctx, const char *text, const eg_symbol *symbols,
                               size_t symbol_count, eg_expression_error *error,
                               eg_expression **out);
void eg_expression_destroy(eg_expression **expression);

/* variables [variable_count], indexed as the symbols say. Allocates nothing. */
double eg_expression_evaluate(const eg_expression *expression, const double *variables);

/* True if the value depends on variable i. */
bool eg_expression_uses(const eg_expression *expression, int variable);
/* … on x, y or z. */
bool eg_expression_varies(const eg_expression *expression);
const char *eg_expression_text(const eg_expression *expression); /* as given; borrowed */

/* Adds C of the kernel language to `out`:
 *     K_FUNC real NAME(real ARG0, real ARG1, …) { … return …; }
 * with one argument for each of `arguments`, which name the variables in the order of their indices,
 * up to the last that is used at least. Values become literals with 17 digits inside K_R(). On failure
 * `out` is unchanged. */
eg_status eg_expression_emit(const eg_expression *expression, const char *name,
                             const char *const *arguments, size_t argument_count, eg_text *out);

/* The variables of every expression in a case: x, y, z, t. */
enum { EG_VARIABLE_X, EG_VARIABLE_Y, EG_VARIABLE_Z, EG_VARIABLE_T, EG_VARIABLE_COUNT };

#endif
