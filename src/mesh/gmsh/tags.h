/* From the tags of a Gmsh file to our numbers; private to room `mesh`. */
#ifndef EG_GMSH_TAGS_H
#define EG_GMSH_TAGS_H

#include "base/base.h"

/* --- tags of nodes and elements: many, read all at once --------------------------------------- */

/* A table over the range of the tags where they are dense, else the tags in ascending order. */
typedef struct eg_gmsh_index {
    int64_t first, range;
    int32_t *dense; /* [range] the number of each tag from `first` on, -1: none; owned */
    int64_t count;
    uint64_t *tags;   /* [count] ascending; NULL: dense; owned */
    int32_t *numbers; /* [count] of each of them; owned */
} eg_gmsh_index;

/* Number i is that of tags[i] > 0. *twice is the number of one whose tag an earlier one has, -1 if
 * there is none; with one the index can only be freed. */
eg_status eg_gmsh_index_create(eg_context *ctx, int64_t count, const int64_t *tags,
                               eg_gmsh_index *index, int64_t *twice);
void eg_gmsh_index_free(eg_context *ctx, eg_gmsh_index *index);

/* The number of a tag, -1 if there is none. */
static inline int32_t eg_gmsh_index_find(const eg_gmsh_index *index, int64_t tag)
{
    if (index->dense) {
        const uint64_t place = (uint64_t)tag - (uint64_t)index->first;
        return place < (uint64_t)index->range ? index->dense[place] : -1;
    }
    int64_t low = 0, high = index->count; /* the first that is not less lies in [low, high] */
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (index->tags[middle] < (uint64_t)tag)
            low = middle + 1;
        else
            high = middle;
    }
    return low < index->count && index->tags[low] == (uint64_t)tag ? index->numbers[low] : -1;
}

/* --- keys of groups, entities and blocks: found while they are read --------------------------- */

typedef struct eg_gmsh_key3 {
    int32_t part[3];
} eg_gmsh_key3;

typedef struct eg_gmsh_entry {
    eg_gmsh_key3 key;
    int32_t value; /* -1: the slot is free */
} eg_gmsh_entry;

/* A hash table. Its seed is another one in every run, so that no file can make all keys collide. */
typedef struct eg_gmsh_table {
    eg_gmsh_entry *slots; /* [mask + 1] owned */
    uint64_t mask, used, seed;
} eg_gmsh_table;

/* The value of a key, -1 if it has none. */
int32_t eg_gmsh_table_find(const eg_gmsh_table *table, eg_gmsh_key3 key);
/* Gives a key that has none a value ≥ 0. */
eg_status eg_gmsh_table_add(eg_context *ctx, eg_gmsh_table *table, eg_gmsh_key3 key, int32_t value);
void eg_gmsh_table_free(eg_context *ctx, eg_gmsh_table *table);

#endif
