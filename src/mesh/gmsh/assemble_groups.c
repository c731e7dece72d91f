/* The physical groups of a file by their names, and those of its elements as groups of a mesh.
 *
 * An element of a mesh is in one group: the first that its entity has in the file. Where some
 * elements are in groups, all others are one more. */
#include "mesh/gmsh/assemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_GROUP "no_group" /* the name of elements without one among others */
#define LIST_BYTES 256      /* from there on a list of names is cut off */

/* --- groups of a dimension -------------------------------------------------------------------- */

/* The groups of a block that count; returns how many. */
static int tags_of(const eg_named_groups *groups, const eg_gmsh_file *file,
                   const eg_gmsh_block *block, const int **tags)
{
    if (block->entity < 0) return 0;
    const eg_gmsh_entity *entity = &file->entities[block->entity];
    *tags = entity->physical;
    return entity->physical_count < groups->most ? entity->physical_count : groups->most;
}

static bool has_dim(const eg_gmsh_block *block, int dim)
{
    return block->count > 0 && eg_shape_get_info(block->shape)->dim == dim;
}

/* Every tag once, ascending. */
static eg_status list_tags(const eg_assembly *a, int dim, eg_named_groups *groups)
{
    eg_status status = EG_OK;
    const eg_gmsh_file *file = a->file;
    uint64_t *keys = NULL;
    int32_t *order = NULL;
    size_t count = 0, room = 0;
    const int *tags = NULL;
    for (int b = 0; b < file->block_count; b++)
        if (has_dim(&file->blocks[b], dim))
            room += (size_t)tags_of(groups, file, &file->blocks[b], &tags);
    EG_TRY(eg_new(a->ctx, room, &keys));
    EG_TRY(eg_new(a->ctx, room, &order));
    EG_TRY(eg_new(a->ctx, room, &groups->tag));
    for (int b = 0; b < file->block_count; b++) {
        if (!has_dim(&file->blocks[b], dim)) continue;
        const int found = tags_of(groups, file, &file->blocks[b], &tags);
        for (int i = 0; i < found; i++)
            keys[count++] = (uint64_t)tags[i];
    }
    EG_TRY(eg_sort_keys(a->ctx, count, keys, order));
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1]) groups->tag[groups->tag_count++] = (int)keys[i];
done:
    eg_release(a->ctx, &order);
    eg_release(a->ctx, &keys);
    return status;
}

/* The place of a tag, -1 if there is no such group. */
static int find_tag(const eg_named_groups *groups, int tag)
{
    int first = 0, end = groups->tag_count;
    while (first < end) {
        const int middle = first + (end - first) / 2;
        if (groups->tag[middle] < tag)
            first = middle + 1;
        else
            end = middle;
    }
    return first < groups->tag_count && groups->tag[first] == tag ? first : -1;
}

typedef struct tag_name {
    const char *name;
    char made[24]; /* where the file has none */
    int place;     /* of the tag */
} tag_name;

static int by_name(const void *left, const void *right)
{
    const tag_name *a = left, *b = right;
    const int order = strcmp(a->name ? a->name : a->made, b->name ? b->name : b->made);
    return order ? order : a->place - b->place;
}

static eg_status add_name(eg_named_groups *groups, const char *name)
{
    const eg_status status = eg_copy_string(groups->ctx, name, &groups->name[groups->count]);
    if (status == EG_OK) groups->count++;
    return status;
}

/* Groups are numbered as their names sort. */
static eg_status name_groups(const eg_assembly *a, int dim, const char *kind,
                             eg_named_groups *groups)
{
    eg_status status = EG_OK;
    const size_t count = (size_t)groups->tag_count;
    tag_name *names = NULL;
    EG_TRY(eg_new(a->ctx, count, &names));
    EG_TRY(eg_new(a->ctx, count, &groups->number));
    EG_TRY(eg_new(a->ctx, count + 1, &groups->name));
    for (int i = 0; i < groups->tag_count; i++) {
        names[i].place = i;
        snprintf(names[i].made, sizeof names[i].made, "%s_%d", kind, groups->tag[i]);
    }
    for (int i = 0; i < a->file->name_count; i++) {
        const eg_gmsh_name *name = &a->file->names[i];
        const int place = name->dim == dim ? find_tag(groups, name->tag) : -1;
        if (place >= 0) names[place].name = name->name;
    }
    qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++) {
        const char *name = names[i].name ? names[i].name : names[i].made;
        if (groups->count == 0 || strcmp(groups->name[groups->count - 1], name) != 0)
            EG_TRY(add_name(groups, name));
        groups->number[names[i].place] = groups->count - 1;
    }
done:
    eg_release(a->ctx, &names);
    return status;
}

eg_status eg_named_groups_create(const eg_assembly *a, int dim, int most, const char *kind,
                                 eg_named_groups *groups)
{
    eg_status status = EG_OK;
    *groups = (eg_named_groups){.ctx = a->ctx, .most = most};
    EG_TRY(list_tags(a, dim, groups));
    EG_TRY(name_groups(a, dim, kind, groups));
done:
    return status;
}

void eg_named_groups_free(eg_named_groups *groups)
{
    if (!groups->ctx) return;
    for (int i = 0; i < groups->count; i++)
        eg_release(groups->ctx, &groups->name[i]);
    eg_release(groups->ctx, &groups->name);
    eg_release(groups->ctx, &groups->number);
    eg_release(groups->ctx, &groups->tag);
}

int eg_named_groups_of(const eg_named_groups *groups, const eg_gmsh_file *file,
                       const eg_gmsh_block *block, int32_t *numbers)
{
    const int *tags = NULL;
    const int found = tags_of(groups, file, block, &tags);
    int count = 0;
    for (int i = 0; i < found; i++) {
        const int32_t number = groups->number[find_tag(groups, tags[i])];
        bool known = false;
        for (int k = 0; k < count; k++)
            known = known || numbers[k] == number;
        if (!known) numbers[count++] = number;
    }
    return count;
}

/* --- groups of elements ----------------------------------------------------------------------- */

/* Elements in several groups lose all but the first: says how many, and which groups lose some. */
static eg_status say_lost(const eg_assembly *a)
{
    eg_status status = EG_OK;
    eg_named_groups all = {0};
    bool *lost = NULL;
    int64_t count = 0;
    eg_text list = eg_text_new(a->ctx);
    EG_TRY(eg_named_groups_create(a, a->dim, EG_GMSH_GROUPS_MAX, "group", &all));
    EG_TRY(eg_new(a->ctx, (size_t)all.count, &lost));
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        int32_t numbers[EG_GMSH_GROUPS_MAX];
        if (!eg_assembly_fills(a, block)) continue;
        const int found = eg_named_groups_of(&all, a->file, block, numbers);
        for (int i = 1; i < found; i++)
            lost[numbers[i]] = true;
        if (found > 1) count += block->count;
    }
    for (int g = 0; g < all.count && list.length < LIST_BYTES; g++)
        if (lost[g])
            EG_TRY(eg_text_printf(&list, "%s\"%s\"", list.length ? ", " : "", all.name[g]));
    if (count > 0)
        EG_TRY(eg_assembly_say(a, EG_LOG_INFO,
                               "elements in several groups, which are in the first of them from "
                               "here on: %lld. Groups that lose some: %s%s",
                               (long long)count, eg_text_string(&list),
                               list.length < LIST_BYTES ? "" : " and more"));
done:
    eg_text_free(&list);
    eg_release(a->ctx, &lost);
    eg_named_groups_free(&all);
    return status;
}

/* Gives elements that are in no group one of their own, or that of the name if there is one. */
static eg_status add_no_group(eg_assembly *a)
{
    eg_named_groups *groups = &a->groups;
    int64_t count = 0;
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        int32_t number;
        if (eg_assembly_fills(a, block) && eg_named_groups_of(groups, a->file, block, &number) == 0)
            count += block->count;
    }
    if (count == 0) return EG_OK;
    while (a->no_group < groups->count && strcmp(groups->name[a->no_group], NO_GROUP) != 0)
        a->no_group++;
    const eg_status status = a->no_group == groups->count ? add_name(groups, NO_GROUP) : EG_OK;
    if (status != EG_OK) return status;
    return eg_assembly_say(a, EG_LOG_INFO,
                           "elements in no group, though others are, which are the group \"%s\" "
                           "from here on: %lld",
                           NO_GROUP, (long long)count);
}

eg_status eg_assembly_find_groups(eg_assembly *a)
{
    eg_status status = EG_OK;
    EG_TRY(eg_named_groups_create(a, a->dim, 1, "group", &a->groups));
    if (a->groups.count == 0) goto done;
    EG_TRY(say_lost(a));
    EG_TRY(add_no_group(a));
done:
    return status;
}

int32_t eg_assembly_group_of(const eg_assembly *a, const eg_gmsh_block *block)
{
    int32_t number;
    return eg_named_groups_of(&a->groups, a->file, block, &number) ? number : a->no_group;
}
