/* Numbers as a Gmsh file has them: decimal, a space between those of a line; or the machine's own
 * bytes, turned round on request for files as machines of the other kind write them. */
#include "mesh/gmsh/put.h"

#include <stdio.h>
#include <string.h>

static void put_bytes(eg_gmsh_output *out, const void *bytes, size_t length)
{
    if (out->status == EG_OK) out->status = eg_text_add(&out->text, bytes, length);
}

/* The bytes of one number. */
static void put_number(eg_gmsh_output *out, const void *bytes, size_t length)
{
    unsigned char turned[8];
    if (!out->swapped) {
        put_bytes(out, bytes, length);
        return;
    }
    for (size_t i = 0; i < length; i++)
        turned[i] = ((const unsigned char *)bytes)[length - 1 - i];
    put_bytes(out, turned, length);
}

/* A number as text, behind a space unless it begins a line; digits[0] is free for the space. */
static void put_digits(eg_gmsh_output *out, char *digits, size_t length)
{
    const eg_text *text = &out->text;
    digits[0] = ' ';
    if (text->length == 0 || text->data[text->length - 1] == '\n')
        put_bytes(out, digits + 1, length - 1);
    else
        put_bytes(out, digits, length);
}

static void put_decimal(eg_gmsh_output *out, int64_t value)
{
    char digits[24], *end = digits + sizeof digits, *at = end;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    if (value < 0) *--at = '-';
    at--;
    put_digits(out, at, (size_t)(end - at));
}

void eg_gmsh_put_int(eg_gmsh_output *out, int32_t value)
{
    if (out->binary)
        put_number(out, &value, sizeof value);
    else
        put_decimal(out, value);
}

void eg_gmsh_put_size(eg_gmsh_output *out, int64_t value)
{
    if (out->binary)
        put_number(out, &value, sizeof value);
    else
        put_decimal(out, value);
}

void eg_gmsh_put_real(eg_gmsh_output *out, double value)
{
    char digits[40];
    if (out->binary) {
        put_number(out, &value, sizeof value);
        return;
    }
    const int length = snprintf(digits + 1, sizeof digits - 1, "%.17g", value);
    put_digits(out, digits, (size_t)length + 1);
}

void eg_gmsh_put_line(eg_gmsh_output *out)
{
    if (!out->binary) put_bytes(out, "\n", 1);
}

void eg_gmsh_put_begin(eg_gmsh_output *out, const char *section)
{
    eg_gmsh_put_text(out, "$%s\n", section);
}

void eg_gmsh_put_end(eg_gmsh_output *out, const char *section)
{
    /* What reads binary files goes to the end of the line first. */
    eg_gmsh_put_text(out, "%s$End%s\n", out->binary ? "\n" : "", section);
}
