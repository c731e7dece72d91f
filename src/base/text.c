/* A string that grows: doubling, always NUL-terminated; on failure it is unchanged. */
#include "base/base.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

eg_text eg_text_new(eg_context *ctx)
{
    return (eg_text){.ctx = ctx};
}

void eg_text_free(eg_text *text)
{
    eg_release(text->ctx, &text->data);
    text->length = text->capacity = 0;
}

/* Makes room for `extra` bytes and the NUL. */
static eg_status reserve(eg_text *text, size_t extra)
{
    if (extra > SIZE_MAX / 2 - text->length - 1)
        return eg_fail(text->ctx, EG_ERROR_MEMORY,
                       "out of memory: a text of %zu bytes cannot grow by %zu", text->length,
                       extra);
    size_t needed = text->length + extra + 1;
    if (needed <= text->capacity) return EG_OK;

    size_t capacity = text->capacity ? text->capacity : 64;
    while (capacity < needed)
        capacity *= 2;
    void *data = text->data;
    eg_status status = eg_reallocate(text->ctx, capacity, &data);
    if (status != EG_OK) return status;
    text->data = data;
    text->capacity = capacity;
    text->data[text->length] = '\0';
    return EG_OK;
}

eg_status eg_text_add(eg_text *text, const char *bytes, size_t length)
{
    eg_status status = reserve(text, length);
    if (status != EG_OK) return status;
    if (length) memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
    return EG_OK;
}

eg_status eg_text_puts(eg_text *text, const char *string)
{
    return eg_text_add(text, string, strlen(string));
}

eg_status eg_text_printf(eg_text *text, const char *format, ...)
{
    eg_status status = EG_OK;
    va_list measured, written;
    va_start(measured, format);
    va_copy(written, measured);

    int length = vsnprintf(NULL, 0, format, measured);
    if (length < 0) {
        status =
            eg_fail(text->ctx, EG_ERROR_ARGUMENT, "the format \"%s\" cannot be printed", format);
        goto done;
    }
    EG_TRY(reserve(text, (size_t)length));
    vsnprintf(text->data + text->length, (size_t)length + 1, format, written);
    text->length += (size_t)length;
done:
    va_end(written);
    va_end(measured);
    return status;
}

void eg_text_clear(eg_text *text)
{
    text->length = 0;
    if (text->data) text->data[0] = '\0';
}

const char *eg_text_string(const eg_text *text)
{
    return text->data ? text->data : "";
}
