/* Integer constant expressions of kernel sources, evaluated on the host.
 *
 * The library must know sizes that a kernel file writes as expressions (`K_SHARED(real, s, NP + 1)`)
 * before any compiler sees them: to lay out shared memory, choose blocks and check launches. */
#ifndef EG_CONSTANT_H
#define EG_CONSTANT_H

#include "device/device.h"

typedef struct eg_macro {
    char name[64];
    char *body;       /* owned */
    bool conditional; /* defined under an #if: its value is not known here */
} eg_macro;

/* The object-like macros that expressions may use. */
typedef struct eg_macros {
    eg_context *ctx; /* not owned */
    eg_macro *list;  /* owned */
    size_t count;
    size_t capacity;
} eg_macros;

eg_macros eg_macros_new(eg_context *ctx);
void eg_macros_free(eg_macros *macros);
/* Defines or redefines a name; `body` of `length` bytes is copied. */
eg_status eg_macros_define(eg_macros *macros, const char *name, size_t name_length,
                           const char *body, size_t length, bool conditional);
eg_status eg_macros_define_integer(eg_macros *macros, const char *name, int64_t value);
/* NULL if unknown; borrowed. */
const eg_macro *eg_macros_find(const eg_macros *macros, const char *name, size_t length);

/* Evaluates text[0 … length): integers, macros, ( ), unary - + !, * / %, + -, comparisons, && ||,
 * ?:, K_MAX(a, b), K_MIN(a, b). `what` names the expression in messages; NULL: no message. */
eg_status eg_constant_evaluate(const eg_macros *macros, const char *what, const char *text,
                               size_t length, int64_t *value);

#endif
