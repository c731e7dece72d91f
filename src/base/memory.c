/* Host memory, all of it through the context's allocator. */
#include "base/context.h"

#include <stdint.h>
#include <string.h>

/* realloc to 0 bytes may release the block: no request is smaller than one byte. */
static void *request(eg_context *ctx, void *block, size_t bytes)
{
    return ctx->allocator.reallocate(ctx->allocator.user, block, bytes ? bytes : 1);
}

static eg_status out_of_memory(eg_context *ctx, size_t bytes)
{
    return eg_fail(ctx, EG_ERROR_MEMORY,
                   "out of memory: %zu bytes could not be allocated; use a smaller problem, fewer "
                   "processes per machine, or a machine with more memory",
                   bytes);
}

eg_status eg_allocate(eg_context *ctx, size_t bytes, void **out)
{
    *out = request(ctx, NULL, bytes);
    if (!*out) return out_of_memory(ctx, bytes);
    memset(*out, 0, bytes);
    return EG_OK;
}

eg_status eg_allocate_array(eg_context *ctx, size_t count, size_t size, void **out)
{
    *out = NULL;
    if (size && count > SIZE_MAX / size)
        return eg_fail(ctx, EG_ERROR_MEMORY,
                       "out of memory: %zu objects of %zu bytes are more than can be addressed",
                       count, size);
    return eg_allocate(ctx, count * size, out);
}

eg_status eg_reallocate(eg_context *ctx, size_t bytes, void **block)
{
    void *moved = request(ctx, *block, bytes);
    if (!moved) return out_of_memory(ctx, bytes);
    *block = moved;
    return EG_OK;
}

void eg_release(eg_context *ctx, void *block_address)
{
    /* The address is of any object pointer; its bytes are copied because its type is not known. */
    void *block;
    void *null = NULL;
    memcpy(&block, block_address, sizeof block);
    if (!block) return;
    ctx->allocator.release(ctx->allocator.user, block);
    memcpy(block_address, &null, sizeof null);
}

eg_status eg_copy_string(eg_context *ctx, const char *text, char **out)
{
    size_t bytes = strlen(text) + 1;
    void *copy = NULL;
    eg_status status = eg_allocate(ctx, bytes, &copy);
    if (status == EG_OK) memcpy(copy, text, bytes);
    *out = copy;
    return status;
}
