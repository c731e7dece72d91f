/* An arena: many blocks taken one by one and released together. */
#ifndef EG_ARENA_H
#define EG_ARENA_H

#include "base/base.h"

typedef struct eg_arena {
    eg_context *ctx;               /* not owned */
    struct eg_arena_chunk *chunks; /* owned; the first is being filled */
} eg_arena;

eg_arena eg_arena_new(eg_context *ctx);
/* Releases every block; the arena can be used again. */
void eg_arena_free(eg_arena *arena);

/* A zeroed block, aligned for any type, that lives until eg_arena_free; bytes may be 0. On failure
 * *out is NULL and the arena is unchanged. */
eg_status eg_arena_allocate(eg_arena *arena, size_t bytes, void **out);
eg_status eg_arena_copy_string(eg_arena *arena, const char *text, char **out);

#endif
