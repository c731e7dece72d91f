/* The physical groups of a file's faces become the boundaries of a mesh. */
#include "mesh/gmsh/assemble.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only the first groups of an entity count: two are one too many for a face. */
#define GROUPS_OF_FACE 2

const eg_gmsh_entity *eg_gmsh_grouped_entity(const eg_gmsh_file *file, const eg_gmsh_block *block)
{
    if (block->entity < 0) return NULL;
    const eg_gmsh_entity *entity = &file->entities[block->entity];
    return entity->physical_count > 0 ? entity : NULL;
}

/* The groups of a block that count; returns how many. */
static int tags_of(const eg_gmsh_file *file, const eg_gmsh_block *block, int *tags)
{
    const eg_gmsh_entity *entity = eg_gmsh_grouped_entity(file, block);
    int count = 0;
    for (int i = 0; entity && i < entity->physical_count && count < GROUPS_OF_FACE; i++) {
        if (count == 0 || tags[0] != entity->physical[i]) tags[count++] = entity->physical[i];
    }
    return count;
}

/* Every tag once, ascending. */
static eg_status list_tags(const eg_assembly *a, eg_face_groups *groups)
{
    eg_status status = EG_OK;
    const eg_gmsh_file *file = a->file;
    uint64_t *keys = NULL;
    int32_t *order = NULL;
    size_t count = 0, room = GROUPS_OF_FACE * (size_t)file->block_count;
    EG_TRY(eg_new(a->ctx, room, &keys));
    EG_TRY(eg_new(a->ctx, room, &order));
    EG_TRY(eg_new(a->ctx, room, &groups->tag));
    for (int b = 0; b < file->block_count; b++) {
        int tags[GROUPS_OF_FACE];
        if (!eg_assembly_bounds(a, &file->blocks[b])) continue;
        int found = tags_of(file, &file->blocks[b], tags);
        for (int i = 0; i < found; i++)
            keys[count++] = (uint64_t)tags[i];
    }
    EG_TRY(eg_sort_keys(a->ctx, count, keys, order));
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || keys[i] != keys[i - 1]) groups->tag[groups->count++] = (int)keys[i];
    }
done:
    eg_release(a->ctx, &order);
    eg_release(a->ctx, &keys);
    return status;
}

/* The place of a tag, -1 if there is no such group. */
static int find_tag(const eg_face_groups *groups, int tag)
{
    int first = 0, end = groups->count;
    while (first < end) {
        int middle = first + (end - first) / 2;
        if (groups->tag[middle] < tag)
            first = middle + 1;
        else
            end = middle;
    }
    return first < groups->count && groups->tag[first] == tag ? first : -1;
}

/* --- names ------------------------------------------------------------------------------------ */

typedef struct group_name {
    const char *name;
    char made[24]; /* where the file has none */
    int group;
} group_name;

static int by_name(const void *left, const void *right)
{
    const group_name *a = left, *b = right;
    int order = strcmp(a->name ? a->name : a->made, b->name ? b->name : b->made);
    return order ? order : a->group - b->group;
}

eg_status eg_assembly_add_boundary(eg_assembly *a, const char *name)
{
    eg_mesh *mesh = a->mesh;
    eg_status status = eg_copy_string(mesh->ctx, name, &mesh->boundary[mesh->boundary_count]);
    if (status == EG_OK) mesh->boundary_count++;
    return status;
}

/* Boundaries are numbered as their names sort. */
static eg_status name_boundaries(eg_assembly *a, eg_face_groups *groups)
{
    eg_status status = EG_OK;
    group_name *names = NULL;
    EG_TRY(eg_new(a->ctx, (size_t)groups->count, &names));
    EG_TRY(eg_new(a->ctx, (size_t)groups->count, &groups->boundary));
    EG_TRY(eg_new(a->ctx, (size_t)groups->count + 1 + 2 * EG_PERIODS_MAX, &a->mesh->boundary));
    for (int g = 0; g < groups->count; g++) {
        names[g].group = g;
        snprintf(names[g].made, sizeof names[g].made, "boundary_%d", groups->tag[g]);
    }
    for (int i = 0; i < a->file->name_count; i++) {
        const eg_gmsh_name *name = &a->file->names[i];
        int g = name->dim == a->dim - 1 ? find_tag(groups, name->tag) : -1;
        if (g >= 0 && name->name[0]) names[g].name = name->name;
    }
    qsort(names, (size_t)groups->count, sizeof *names, by_name);
    for (int i = 0; i < groups->count; i++) {
        const char *name = names[i].name ? names[i].name : names[i].made;
        const int last = a->mesh->boundary_count - 1;
        if (last < 0 || strcmp(a->mesh->boundary[last], name) != 0)
            EG_TRY(eg_assembly_add_boundary(a, name));
        groups->boundary[names[i].group] = a->mesh->boundary_count - 1;
    }
    a->named = a->mesh->boundary_count;
    EG_TRY(eg_assembly_add_boundary(a, "boundary"));
done:
    eg_release(a->ctx, &names);
    return status;
}

eg_status eg_face_groups_create(eg_assembly *a, eg_face_groups *groups)
{
    eg_status status = EG_OK;
    *groups = (eg_face_groups){.ctx = a->ctx};
    EG_TRY(list_tags(a, groups));
    EG_TRY(name_boundaries(a, groups));
done:
    return status;
}

void eg_face_groups_free(eg_face_groups *groups)
{
    if (!groups->ctx) return;
    eg_release(groups->ctx, &groups->boundary);
    eg_release(groups->ctx, &groups->tag);
}

void eg_face_groups_find(const eg_face_groups *groups, const eg_gmsh_file *file,
                         const eg_gmsh_block *block, int32_t *boundary, int32_t *other)
{
    int tags[GROUPS_OF_FACE];
    int count = tags_of(file, block, tags);
    *boundary = count > 0 ? groups->boundary[find_tag(groups, tags[0])] : -1;
    *other = count > 1 ? groups->boundary[find_tag(groups, tags[1])] : -1;
    if (*other == *boundary) *other = -1;
}
