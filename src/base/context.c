/* The context: settings from options and environment, the allocator, the log, the last error.
 *
 * The message lives in the context itself, so that reporting a failure can never fail. There are
 * two buffers, written in turn: a message may quote the one before it.
 */
#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *default_reallocate(void *user, void *block, size_t bytes)
{
    (void)user;
    return realloc(block, bytes);
}

static void default_release(void *user, void *block)
{
    (void)user;
    free(block);
}

/* An empty variable counts as unset. */
static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value && value[0] ? value : NULL;
}

static bool environment_check(void)
{
    const char *value = environment("EAGRE_CHECK");
    return value && strcmp(value, "0") != 0;
}

eg_context_options eg_context_defaults(void)
{
    return (eg_context_options){
        .size = sizeof(eg_context_options),
        .log_level = EG_LOG_INFO,
        .check = EG_CHECK_DEFAULT,
    };
}

eg_status eg_context_create(const eg_context_options *options, eg_context **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = NULL;
    *out = NULL;

    /* A caller built against an older header has a shorter struct: the rest keeps its defaults. */
    eg_context_options o = eg_context_defaults();
    if (options) {
        if (options->size < sizeof options->size) return EG_ERROR_ARGUMENT;
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    }
    if (!o.allocator.reallocate != !o.allocator.release) return EG_ERROR_ARGUMENT;
    if (!o.allocator.reallocate)
        o.allocator = (eg_allocator){.reallocate = default_reallocate, .release = default_release};

    ctx = o.allocator.reallocate(o.allocator.user, NULL, sizeof *ctx);
    if (!ctx) return EG_ERROR_MEMORY;
    *ctx = (eg_context){
        .allocator = o.allocator,
        .log = o.log,
        .log_user = o.log_user,
        .log_level = o.log_level,
        .check = o.check == EG_CHECK_DEFAULT ? environment_check() : o.check == EG_CHECK_ON,
    };

    const char *cache_dir = o.cache_dir ? o.cache_dir : environment("EAGRE_CACHE_DIR");
    const char *kernel_dir = o.kernel_dir ? o.kernel_dir : environment("EAGRE_KERNEL_DIR");
    if (cache_dir) EG_TRY(eg_copy_string(ctx, cache_dir, &ctx->cache_dir));
    if (kernel_dir) EG_TRY(eg_copy_string(ctx, kernel_dir, &ctx->kernel_dir));
    *out = ctx;
    ctx = NULL;
done:
    eg_context_destroy(&ctx);
    return status;
}

void eg_context_destroy(eg_context **handle)
{
    eg_context *ctx = *handle;
    if (!ctx) return;
    eg_release(ctx, &ctx->cache_dir);
    eg_release(ctx, &ctx->kernel_dir);
    ctx->allocator.release(ctx->allocator.user, ctx);
    *handle = NULL;
}

const char *eg_context_error(const eg_context *ctx)
{
    return ctx->message[ctx->current];
}

bool eg_context_check(const eg_context *ctx)
{
    return ctx->check;
}

const char *eg_context_cache_dir(const eg_context *ctx)
{
    return ctx->cache_dir;
}

const char *eg_context_kernel_dir(const eg_context *ctx)
{
    return ctx->kernel_dir;
}

/* Formats into buffer[0 … size); what does not fit is replaced by a note at the end. */
static EG_PRINTF(3, 0) void format_bounded(char *buffer, size_t size, const char *format,
                                           va_list arguments)
{
    static const char note[] = " … [the rest is cut off]";
    int length = vsnprintf(buffer, size, format, arguments);
    if (length < 0)
        snprintf(buffer, size, "%s", format);
    else if ((size_t)length >= size) {
        /* Cut before a character, not inside one: step back over UTF-8 continuation bytes. */
        size_t at = size - sizeof note;
        while (at > 0 && ((unsigned char)buffer[at] & 0xc0) == 0x80)
            at--;
        memcpy(buffer + at, note, sizeof note);
    }
}

eg_status(eg_fail)(eg_context *ctx, eg_status status, const char *format, ...)
{
    int next = 1 - ctx->current;
    va_list arguments;
    va_start(arguments, format);
    format_bounded(ctx->message[next], sizeof ctx->message[next], format, arguments);
    va_end(arguments);
    ctx->current = next;
    return status;
}

static EG_PRINTF(3, 0) void log_line(eg_context *ctx, eg_log_level level, const char *format,
                                     va_list arguments)
{
    char line[2048];
    if (!ctx->log || level < ctx->log_level) return;
    format_bounded(line, sizeof line, format, arguments);
    ctx->log(ctx->log_user, level, line);
}

void eg_log(eg_context *ctx, eg_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_line(ctx, level, format, arguments);
    va_end(arguments);
}

void eg_log_once(eg_context *ctx, eg_log_level level, const char *format, ...)
{
    for (size_t i = 0; i < ctx->said_count; i++)
        if (ctx->said[i] == format) return;
    if (ctx->said_count < EG_COUNT(ctx->said)) ctx->said[ctx->said_count++] = format;

    va_list arguments;
    va_start(arguments, format);
    log_line(ctx, level, format, arguments);
    va_end(arguments);
}
