/* Reads lists of values in options. */
#include "cli/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static bool is_number(const char *text, size_t digits)
{
    return is_digits(text) && strlen(text) <= digits && (text[0] != '0' || text[1] == '\0');
}

bool cli_entry_cells(const char *text, char value[CLI_VALUE_BYTES])
{
    char rest[CLI_ENTRY_BYTES];
    int axes = 0;
    snprintf(rest, sizeof rest, "%s", text);
    snprintf(value, CLI_VALUE_BYTES, "[%s]", text);
    for (char *c = value; *c; c++)
        if (*c == 'x') *c = ',';
    for (char *axis = rest, *next; axis; axis = next, axes++) {
        next = strchr(axis, 'x');
        if (next) *next++ = '\0';
        if (!is_digits(axis) || axis[0] == '0' || strlen(axis) > 9) return false;
    }
    return axes <= 3;
}

bool cli_entry_degree(const char *text, char value[CLI_VALUE_BYTES])
{
    snprintf(value, CLI_VALUE_BYTES, "%s", text);
    return is_number(text, 4);
}

bool cli_entry_refined(const char *text, char value[CLI_VALUE_BYTES])
{
    snprintf(value, CLI_VALUE_BYTES, "%s", text);
    return is_number(text, 2);
}

bool cli_entry_positive(const char *text, char value[CLI_VALUE_BYTES])
{
    char *end = NULL;
    const bool decimal = text[strspn(text, "0123456789.eE+-")] == '\0';
    const double number = strtod(text, &end);
    snprintf(value, CLI_VALUE_BYTES, "%.17g", number);
    return decimal && end != text && *end == '\0' && isfinite(number) && number > 0;
}

eg_status cli_read_list(eg_context *ctx, const char *option, const char *given, cli_entry *entry,
                        const char *wanted, cli_list *out)
{
    *out = (cli_list){0};
    for (const char *from = given;; from++) {
        const size_t length = strcspn(from, ","), i = out->count;
        char text[2 * CLI_ENTRY_BYTES], value[CLI_VALUE_BYTES];
        snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text),
                 from);
        if (i == CLI_LIST_MOST)
            return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: \"%s\" is one too many: at most %d values",
                           option, text, CLI_LIST_MOST);
        if (length == 0)
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "%s %s: there is nothing between two commas or at an end", option,
                           given);
        if (length >= CLI_ENTRY_BYTES || !entry(text, value))
            return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: \"%s\" is not %s", option, text, wanted);
        for (size_t k = 0; k < i; k++)
            if (strcmp(out->value[k], value) == 0)
                return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s: \"%s\" is there twice", option, text);
        memcpy(out->text[i], text, length + 1);
        memcpy(out->value[i], value, sizeof value);
        out->count++;
        from += length;
        if (*from == '\0') return EG_OK;
    }
}

eg_status cli_check_not_replaced(eg_context *ctx, const cli_options *options, const char *option,
                                 const char *key)
{
    const size_t length = strlen(key);
    for (int i = 1; i < options->name_count; i++) {
        const char *word = options->names[i];
        if (strncmp(word, key, length) == 0 && strchr("= ", word[length]))
            return eg_fail(ctx, EG_ERROR_ARGUMENT, "\"%s\" and %s both say what %s is: give one",
                           word, option, key);
    }
    return EG_OK;
}
