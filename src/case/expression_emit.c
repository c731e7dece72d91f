/* Expressions as functions of the kernel language: one statement for each operation, in the order in
 * which the host computes them. */
#include "case/expression_code.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const operation_texts[] = {
#define X(operation, operands, value) [EG_OPERATION_##operation] = #value,
    EG_OPERATIONS(X)
#undef X
};

/* How to write a slot's value: an instruction's result, or what the instruction loads. */
typedef struct emitter {
    const eg_expression *e;
    const char *const *arguments;
    size_t slots[EG_EXPRESSION_SLOTS]; /* the index of the instruction that wrote the slot last */
    eg_text *out;
} emitter;

/* A literal with 17 digits, whatever the locale; -0 keeps its sign. */
static eg_status put_constant(eg_text *out, double value)
{
    char digits[40];
    if (isnan(value)) return eg_text_puts(out, "K_NAN");
    if (isinf(value)) return eg_text_puts(out, value < 0 ? "(-K_INFINITY)" : "K_INFINITY");
    snprintf(digits, sizeof digits, "%.17g", value);
    for (char *c = digits; *c; c++)
        if (!strchr("+-.e0123456789", *c)) *c = '.';
    return eg_text_printf(out, "K_R(%s%s)", digits, strpbrk(digits, ".e") ? "" : ".0");
}

static eg_status put_slot(const emitter *m, size_t slot)
{
    const size_t index = m->slots[slot];
    const eg_instruction *i = &m->e->code[index];
    if (i->operation == EG_OPERATION_CONSTANT) return put_constant(m->out, i->of.value);
    if (i->operation == EG_OPERATION_VARIABLE)
        return eg_text_puts(m->out, m->arguments[i->of.variable]);
    return eg_text_printf(m->out, "k_%zu", index);
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The operation's text with its operands for the words a, b and c. */
static eg_status put_operation(const emitter *m, const eg_instruction *i)
{
    const uint8_t operands[] = {i->a, i->b, i->c};
    eg_status status = EG_OK;
    const char *text = operation_texts[i->operation];
    while (*text) {
        size_t length = 0;
        while (is_word(text[length]))
            length++;
        if (length == 1 && *text >= 'a' && *text <= 'c')
            EG_TRY(put_slot(m, operands[*text - 'a']));
        else
            EG_TRY(eg_text_add(m->out, text, length ? length : 1));
        text += length ? length : 1;
    }
done:
    return status;
}

static eg_status put_function(emitter *m, const char *name, size_t argument_count)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(m->out, "K_FUNC real %s(", name));
    for (size_t i = 0; i < argument_count; i++)
        EG_TRY(eg_text_printf(m->out, "%sreal %s", i ? ", " : "", m->arguments[i]));
    EG_TRY(eg_text_puts(m->out, argument_count ? ")\n{\n" : "void)\n{\n"));
    for (size_t k = 0; k < m->e->count; k++) {
        const eg_instruction *i = &m->e->code[k];
        if (i->operation != EG_OPERATION_CONSTANT && i->operation != EG_OPERATION_VARIABLE) {
            EG_TRY(eg_text_printf(m->out, "    const real k_%zu = ", k));
            EG_TRY(put_operation(m, i));
            EG_TRY(eg_text_puts(m->out, ";\n"));
        }
        m->slots[i->to] = k;
    }
    EG_TRY(eg_text_puts(m->out, "    return "));
    EG_TRY(put_slot(m, 0));
    EG_TRY(eg_text_puts(m->out, ";\n}\n"));
done:
    return status;
}

eg_status eg_expression_emit(const eg_expression *expression, const char *name,
                             const char *const *arguments, size_t argument_count, eg_text *out)
{
    emitter m = {.e = expression, .arguments = arguments, .out = out};
    const size_t length = out->length;
    for (size_t i = 0; i < expression->count; i++) {
        assert(expression->code[i].operation != EG_OPERATION_VARIABLE ||
               (size_t)expression->code[i].of.variable < argument_count);
    }
    eg_status status = put_function(&m, name, argument_count);
    if (status != EG_OK && out->data) {
        out->length = length;
        out->data[length] = '\0';
    }
    return status;
}
