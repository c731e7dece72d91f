/* Places in a case file or on the command line, and messages that show them with a caret. */
#ifndef EG_PLACE_H
#define EG_PLACE_H

#include "base/base.h"

#include <stdarg.h>

/* A text that messages quote; nothing is owned. */
typedef struct eg_source {
    const char *name; /* of the file; NULL: the text is an argument of the command line */
    const char *text; /* [length], without a byte order mark */
    size_t length;    /* less than 4 GiB */
} eg_source;

/* A piece of a source. */
typedef struct eg_place {
    const eg_source *source; /* NULL: nowhere */
    uint32_t at, length;     /* in bytes */
} eg_place;

/* A file's text as a source: a byte order mark at its start is left out. */
eg_source eg_source_new(const char *name, const char *text, size_t length);

/* Line and column of a place, from 1; columns count code points. */
void eg_place_find(eg_place place, size_t *line, size_t *column);

/* Sets the context's message, with the place and its line, and returns EG_ERROR_INPUT. It allocates
 * nothing. The place must not be nowhere. */
eg_status eg_place_fail(eg_context *ctx, eg_place place, const char *format, ...) EG_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* which cannot see what it returns */
#define eg_place_fail(ctx, place, ...)                                                             \
    ((void)(eg_place_fail)((ctx), (place), __VA_ARGS__), EG_ERROR_INPUT)
#endif
eg_status eg_place_vfail(eg_context *ctx, eg_place place, const char *format, va_list arguments)
    EG_PRINTF(3, 0);

/* A text of the user as a message may quote it: cut to 60 characters, control characters and bytes
 * that are not UTF-8 replaced. Returns `out`. */
#define EG_QUOTE_BYTES 256
const char *eg_quote(char out[EG_QUOTE_BYTES], const char *text, size_t length);

/* The length of the UTF-8 sequence that begins a text of `left` > 0 bytes; 0 if it is none
 * (overlong, a surrogate, beyond U+10FFFF, cut off). */
size_t eg_utf8_length(const char *text, size_t left);

#endif
