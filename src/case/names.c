/* A list of names with a hash table of open addressing, at most half full. */
#include "case/names.h"

#include <string.h>

eg_names eg_names_new(eg_context *ctx)
{
    return (eg_names){.ctx = ctx};
}

void eg_names_free(eg_names *names)
{
    if (!names->ctx) return;
    eg_release(names->ctx, &names->at);
    eg_release(names->ctx, &names->slots);
    names->count = names->capacity = names->slot_count = 0;
}

/* FNV-1a. */
static size_t hash(const char *name)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * 0x100000001b3u;
    return (size_t)(h ^ h >> 32);
}

/* The slot of a name: where it is, or where it would go. */
static size_t find_slot(const eg_names *names, const char *name)
{
    size_t mask = names->slot_count - 1, i = hash(name) & mask;
    while (names->slots[i] && strcmp(names->at[names->slots[i] - 1], name) != 0)
        i = (i + 1) & mask;
    return i;
}

size_t eg_names_find(const eg_names *names, const char *name)
{
    if (!names->slot_count) return EG_NAMES_NONE;
    uint32_t slot = names->slots[find_slot(names, name)];
    return slot ? slot - 1 : EG_NAMES_NONE;
}

static eg_status grow(eg_names *names)
{
    eg_status status = EG_OK;
    eg_names larger = *names;
    void *at = (void *)names->at;
    larger.slots = NULL;
    larger.capacity = names->capacity ? 2 * names->capacity : 32;
    larger.slot_count = 2 * larger.capacity;
    EG_TRY(eg_new(names->ctx, larger.slot_count, &larger.slots));
    EG_TRY(eg_reallocate(names->ctx, larger.capacity * sizeof names->at[0], &at));
    names->at = larger.at = at;
    for (size_t i = 0; i < names->count; i++)
        larger.slots[find_slot(&larger, larger.at[i])] = (uint32_t)(i + 1);
    eg_release(names->ctx, &names->slots);
    *names = larger;
    larger.slots = NULL;
done:
    eg_release(names->ctx, &larger.slots);
    return status;
}

eg_status eg_names_add(eg_names *names, const char *name)
{
    eg_status status = names->count == names->capacity ? grow(names) : EG_OK;
    if (status != EG_OK) return status;
    size_t slot = find_slot(names, name);
    names->at[names->count++] = name;
    names->slots[slot] = (uint32_t)names->count;
    return EG_OK;
}
