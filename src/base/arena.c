/* An arena: a list of chunks, each filled from its start. A chunk is at least twice as large as the
 * one before it, so n bytes cost O(log n) allocations. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#define FIRST_CHUNK 4096

struct eg_arena_chunk {
    struct eg_arena_chunk *next; /* owned */
    size_t used, capacity;       /* bytes of `data` */
    alignas(max_align_t) unsigned char data[];
};

eg_arena eg_arena_new(eg_context *ctx)
{
    return (eg_arena){.ctx = ctx};
}

void eg_arena_free(eg_arena *arena)
{
    while (arena->chunks) {
        struct eg_arena_chunk *next = arena->chunks->next;
        eg_release(arena->ctx, &arena->chunks);
        arena->chunks = next;
    }
}

static eg_status add_chunk(eg_arena *arena, size_t bytes)
{
    size_t capacity = FIRST_CHUNK;
    if (arena->chunks && arena->chunks->capacity <= SIZE_MAX / 4)
        capacity = 2 * arena->chunks->capacity;
    if (capacity < bytes) capacity = bytes;

    void *block = NULL;
    eg_status status =
        eg_allocate(arena->ctx, offsetof(struct eg_arena_chunk, data) + capacity, &block);
    if (status != EG_OK) return status;
    struct eg_arena_chunk *chunk = block;
    chunk->next = arena->chunks;
    chunk->capacity = capacity;
    arena->chunks = chunk;
    return EG_OK;
}

eg_status eg_arena_allocate(eg_arena *arena, size_t bytes, void **out)
{
    const size_t step = alignof(max_align_t);
    *out = NULL;
    if (bytes > SIZE_MAX / 2)
        return eg_fail(arena->ctx, EG_ERROR_MEMORY,
                       "out of memory: %zu bytes are more than can be addressed", bytes);
    /* Also an empty block has an address of its own. */
    size_t taken = bytes ? (bytes + step - 1) / step * step : step;

    struct eg_arena_chunk *chunk = arena->chunks;
    if (!chunk || chunk->capacity - chunk->used < taken) {
        eg_status status = add_chunk(arena, taken);
        if (status != EG_OK) return status;
        chunk = arena->chunks;
    }
    *out = chunk->data + chunk->used; /* zero since the chunk was allocated */
    chunk->used += taken;
    return EG_OK;
}

eg_status eg_arena_copy_string(eg_arena *arena, const char *text, char **out)
{
    size_t bytes = strlen(text) + 1;
    void *copy = NULL;
    eg_status status = eg_arena_allocate(arena, bytes, &copy);
    if (status == EG_OK) memcpy(copy, text, bytes);
    *out = copy;
    return status;
}
