/* From the tags of a Gmsh file to our numbers. */
#include "mesh/gmsh/tags.h"

#include "mesh/build.h"

#include <assert.h>
#include <string.h>
#include <time.h>

#define DENSE_MAX 8 /* entries a tag that a table over their range may have */

/* --- nodes and elements ----------------------------------------------------------------------- */

static eg_status create_dense(eg_context *ctx, int64_t count, const int64_t *tags,
                              eg_gmsh_index *index, int64_t *twice)
{
    eg_status status = eg_new(ctx, (size_t)index->range, &index->dense);
    if (status != EG_OK) return status;
    memset(index->dense, 0xff, (size_t)index->range * sizeof *index->dense); /* all -1 */
    for (int64_t i = 0; i < count; i++) {
        int32_t *number = &index->dense[tags[i] - index->first];
        if (*number >= 0) {
            *twice = i;
            break;
        }
        *number = (int32_t)i;
    }
    return EG_OK;
}

static eg_status create_sorted(eg_context *ctx, int64_t count, const int64_t *tags,
                               eg_gmsh_index *index, int64_t *twice)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, (size_t)count, &index->tags));
    EG_TRY(eg_new(ctx, (size_t)count, &index->numbers));
    index->count = count;
    for (int64_t i = 0; i < count; i++) {
        index->tags[i] = (uint64_t)tags[i];
        index->numbers[i] = (int32_t)i;
    }
    EG_TRY(eg_sort_keys(ctx, (size_t)count, index->tags, index->numbers));
    for (int64_t i = 1; i < count && *twice < 0; i++)
        if (index->tags[i] == index->tags[i - 1]) *twice = index->numbers[i];
done:
    return status;
}

eg_status eg_gmsh_index_create(eg_context *ctx, int64_t count, const int64_t *tags,
                               eg_gmsh_index *index, int64_t *twice)
{
    assert(count <= INT32_MAX);
    int64_t first = count > 0 ? tags[0] : 1, last = first;
    for (int64_t i = 0; i < count; i++) {
        assert(tags[i] > 0);
        first = tags[i] < first ? tags[i] : first;
        last = tags[i] > last ? tags[i] : last;
    }
    *index = (eg_gmsh_index){.first = first, .range = last - first + 1};
    *twice = -1;
    if (index->range / DENSE_MAX <= count) return create_dense(ctx, count, tags, index, twice);
    return create_sorted(ctx, count, tags, index, twice);
}

void eg_gmsh_index_free(eg_context *ctx, eg_gmsh_index *index)
{
    eg_release(ctx, &index->dense);
    eg_release(ctx, &index->tags);
    eg_release(ctx, &index->numbers);
    *index = (eg_gmsh_index){0};
}

/* --- groups, entities and blocks -------------------------------------------------------------- */

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* The slot of a key, or the free one where it belongs. */
static eg_gmsh_entry *find_slot(const eg_gmsh_table *table, eg_gmsh_key3 key)
{
    uint64_t hash = table->seed;
    for (int i = 0; i < 3; i++)
        hash = mix(hash + 0x9e3779b97f4a7c15u * (uint32_t)key.part[i]);
    uint64_t place = hash & table->mask;
    while (table->slots[place].value >= 0 &&
           memcmp(&table->slots[place].key, &key, sizeof key) != 0)
        place = (place + 1) & table->mask;
    return &table->slots[place];
}

int32_t eg_gmsh_table_find(const eg_gmsh_table *table, eg_gmsh_key3 key)
{
    return table->slots ? find_slot(table, key)->value : -1;
}

/* Makes room for one more key: at most half of the slots are ever taken. */
static eg_status grow(eg_context *ctx, eg_gmsh_table *table)
{
    const uint64_t old_size = table->slots ? table->mask + 1 : 0;
    const uint64_t size = old_size ? 2 * old_size : 64;
    if (2 * (table->used + 1) <= old_size) return EG_OK;
    eg_gmsh_entry *old = table->slots, *fresh = NULL;
    eg_status status = eg_new(ctx, (size_t)size, &fresh);
    if (status != EG_OK) return status;
    for (uint64_t i = 0; i < size; i++)
        fresh[i].value = -1;
    if (!old) {
        struct timespec now = {0};
        timespec_get(&now, TIME_UTC);
        table->seed = mix((uint64_t)(uintptr_t)fresh ^ mix((uint64_t)now.tv_nsec));
    }
    table->slots = fresh;
    table->mask = size - 1;
    for (uint64_t i = 0; i < old_size; i++)
        if (old[i].value >= 0) *find_slot(table, old[i].key) = old[i];
    eg_release(ctx, &old);
    return EG_OK;
}

eg_status eg_gmsh_table_add(eg_context *ctx, eg_gmsh_table *table, eg_gmsh_key3 key, int32_t value)
{
    eg_status status = grow(ctx, table);
    if (status != EG_OK) return status;
    assert(value >= 0);
    *find_slot(table, key) = (eg_gmsh_entry){key, value};
    table->used++;
    return EG_OK;
}

void eg_gmsh_table_free(eg_context *ctx, eg_gmsh_table *table)
{
    eg_release(ctx, &table->slots);
    *table = (eg_gmsh_table){0};
}
