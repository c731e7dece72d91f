/* What the files that read Gmsh's sections share: values that both versions have, and tables that
 * grow with what is read, never with what a file announces. */
#include "mesh/gmsh/reader.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

/* --- values ----------------------------------------------------------------------------------- */

const char *eg_gmsh_entity_name(int dim)
{
    static const char *const names[] = {"point", "curve", "surface", "volume"};
    return names[dim];
}

eg_status eg_gmsh_read_dim(eg_gmsh_reader *r, const char *what, int *dim)
{
    eg_status status = eg_gmsh_int(&r->in, what, dim);
    if (status == EG_OK && (*dim < 0 || *dim > EG_GMSH_DIM_MAX))
        return eg_gmsh_fail(&r->in, "%s is %d: it is one of 0 to 3", what, *dim);
    return status;
}

eg_status eg_gmsh_read_tag(eg_gmsh_reader *r, const char *what, int64_t *tag)
{
    eg_status status;
    if (r->file->version == 22) {
        int value = 0;
        status = eg_gmsh_int(&r->in, what, &value);
        *tag = value;
    } else {
        status = eg_gmsh_size(&r->in, what, tag);
    }
    if (status == EG_OK && *tag <= 0)
        return eg_gmsh_fail(&r->in, "%s is %lld: tags are positive", what, (long long)*tag);
    return status;
}

eg_status eg_gmsh_read_nodes(eg_gmsh_reader *r, int count, int32_t *numbers)
{
    for (int i = 0; i < count; i++) {
        int64_t tag = 0;
        eg_status status = eg_gmsh_read_tag(r, "the tag of a node", &tag);
        if (status != EG_OK) return status;
        numbers[i] = eg_gmsh_index_find(&r->nodes, tag);
        if (numbers[i] < 0)
            return eg_gmsh_fail(&r->in, "its node %lld is not in $Nodes", (long long)tag);
    }
    return EG_OK;
}

eg_status eg_gmsh_read_type(eg_gmsh_reader *r, eg_gmsh_type_info *info)
{
    int type = 0;
    eg_status status = eg_gmsh_int(&r->in, "the type of an element", &type);
    if (status != EG_OK || (info->np > 0 && type == info->type)) return status;
    if (eg_gmsh_find_type(type, info)) return EG_OK;
    const char *advice, *name = eg_gmsh_type_name(type, &advice);
    return eg_gmsh_fail(&r->in, "elements of type %d (%s) cannot be read: %s", type,
                        name ? name : "unknown to Gmsh", advice);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static eg_status check_total(eg_gmsh_reader *r, int64_t count, int64_t least_bytes,
                             const char *what)
{
    eg_status status = eg_gmsh_check_count(&r->in, count, least_bytes, what);
    if (status == EG_OK && count >= INT32_MAX)
        return eg_gmsh_fail(&r->in, "%lld %s are more than %d", (long long)count, what,
                            INT32_MAX - 1);
    return status;
}

eg_status eg_gmsh_begin_nodes(eg_gmsh_reader *r, int64_t count, int64_t least_bytes)
{
    eg_status status = EG_OK;
    eg_gmsh_file *file = r->file;
    EG_TRY(check_total(r, count, least_bytes, "nodes"));
    EG_TRY(eg_new(file->ctx, 3 * (size_t)count, &file->x));
    EG_TRY(eg_new(file->ctx, (size_t)count, &file->node_tag));
    file->node_count = (int32_t)count;
done:
    return status;
}

eg_status eg_gmsh_read_point(eg_gmsh_reader *r, int32_t node)
{
    static const char *const what[] = {"its x", "its y", "its z"};
    for (int d = 0; d < 3; d++) {
        eg_status status = eg_gmsh_real(&r->in, what[d], &r->file->x[3 * (int64_t)node + d]);
        if (status != EG_OK) return status;
    }
    return EG_OK;
}

eg_status eg_gmsh_end_nodes(eg_gmsh_reader *r)
{
    eg_gmsh_file *file = r->file;
    int64_t twice = -1;
    eg_status status =
        eg_gmsh_index_create(file->ctx, file->node_count, file->node_tag, &r->nodes, &twice);
    if (status != EG_OK || twice < 0) return status;
    r->in.object = "node";
    r->in.tag = file->node_tag[twice];
    const double *first = &file->x[3 * (int64_t)eg_gmsh_index_find(&r->nodes, r->in.tag)];
    const double *second = &file->x[3 * twice];
    return eg_gmsh_fail_at(&r->in, r->section_place,
                           "the tag is given twice, at (%g, %g, %g) and at (%g, %g, %g)", first[0],
                           first[1], first[2], second[0], second[1], second[2]);
}

/* --- tables ----------------------------------------------------------------------------------- */

eg_status eg_gmsh_grow(eg_context *ctx, int count, int *capacity, size_t size, void **rows)
{
    if (count < *capacity) return EG_OK;
    if (count > INT_MAX / 2)
        return eg_fail(ctx, EG_ERROR_MEMORY, "out of memory: a table has more than %d rows", count);
    const int wanted = count ? 2 * count : 16;
    eg_status status = eg_reallocate(ctx, (size_t)wanted * size, rows);
    if (status == EG_OK) *capacity = wanted;
    return status;
}

eg_status eg_gmsh_add_name(eg_gmsh_reader *r, int dim, int tag, const char *name)
{
    eg_status status = EG_OK;
    eg_gmsh_file *file = r->file;
    char *copy = NULL;
    EG_TRY(eg_gmsh_grow(file->ctx, file->name_count, &r->name_capacity, sizeof *file->names,
                        (void **)&file->names));
    EG_TRY(eg_copy_string(file->ctx, name, &copy));
    file->names[file->name_count++] = (eg_gmsh_name){.dim = dim, .tag = tag, .name = copy};
    EG_TRY(eg_gmsh_table_add(file->ctx, &r->names, (eg_gmsh_key3){{dim, tag, 0}},
                             file->name_count - 1));
done:
    return status;
}

eg_status eg_gmsh_add_entity(eg_gmsh_reader *r, int dim, int tag, eg_gmsh_key3 key, int *entity)
{
    eg_status status = EG_OK;
    eg_gmsh_file *file = r->file;
    EG_TRY(eg_gmsh_grow(file->ctx, file->entity_count, &r->entity_capacity, sizeof *file->entities,
                        (void **)&file->entities));
    EG_TRY(eg_gmsh_table_add(file->ctx, &r->entities, key, file->entity_count));
    *entity = file->entity_count++;
    file->entities[*entity] = (eg_gmsh_entity){.dim = dim, .tag = tag, .parent = -1};
done:
    return status;
}

eg_status eg_gmsh_add_physical(eg_gmsh_reader *r, int entity, int tag)
{
    eg_gmsh_entity *e = &r->file->entities[entity];
    if (tag == 0 || tag == INT_MIN)
        return eg_gmsh_fail(&r->in, "%d cannot be the tag of a physical group", tag);
    tag = tag < 0 ? -tag : tag;
    for (int i = 0; i < e->physical_count; i++)
        if (e->physical[i] == tag) return EG_OK;
    if (e->physical_count == EG_GMSH_GROUPS_MAX)
        return eg_gmsh_fail(&r->in, "it belongs to more than %d physical groups",
                            EG_GMSH_GROUPS_MAX);
    eg_status status = eg_reallocate(
        r->file->ctx, ((size_t)e->physical_count + 1) * sizeof *e->physical, (void **)&e->physical);
    if (status == EG_OK) e->physical[e->physical_count++] = tag;
    return status;
}

eg_status eg_gmsh_copy_groups(eg_gmsh_reader *r, int from, int to)
{
    eg_status status = EG_OK;
    for (int i = 0; i < r->file->entities[from].physical_count && status == EG_OK; i++)
        status = eg_gmsh_add_physical(r, to, r->file->entities[from].physical[i]);
    return status;
}

eg_status eg_gmsh_add_block(eg_gmsh_reader *r, int entity, const eg_gmsh_type_info *info,
                            eg_gmsh_block **block)
{
    eg_gmsh_file *file = r->file;
    eg_status status = eg_gmsh_grow(file->ctx, file->block_count, &r->block_capacity,
                                    sizeof *file->blocks, (void **)&file->blocks);
    if (status != EG_OK) return status;
    *block = &file->blocks[file->block_count++];
    **block = (eg_gmsh_block){
        .entity = entity, .shape = info->shape, .order = info->order, .np = info->np};
    return EG_OK;
}

eg_status eg_gmsh_begin_elements(eg_gmsh_reader *r, int64_t count, int64_t least_bytes)
{
    return check_total(r, count, least_bytes, "elements");
}

eg_status eg_gmsh_drop_element(eg_gmsh_reader *r, int64_t tag, int64_t place)
{
    eg_status status = eg_gmsh_grow(r->file->ctx, r->dropped_count, &r->dropped_capacity,
                                    sizeof *r->dropped, (void **)&r->dropped);
    if (status == EG_OK) r->dropped[r->dropped_count++] = (eg_gmsh_dropped){tag, place};
    return status;
}

/* Number `twice` of the elements, those in blocks first, has the tag of one before it. */
static eg_status refuse_twice(eg_gmsh_reader *r, int64_t tag, int64_t twice)
{
    const eg_gmsh_file *file = r->file;
    r->in.object = "element";
    r->in.tag = tag;
    for (int b = 0; b < file->block_count; b++) {
        if (twice < file->blocks[b].count)
            return eg_gmsh_fail_at(&r->in, file->blocks[b].place,
                                   "the tag is given twice, once among the elements from here on");
        twice -= file->blocks[b].count;
    }
    return eg_gmsh_fail_at(&r->in, r->dropped[twice].place,
                           "the tag is given twice, here and to another element");
}

eg_status eg_gmsh_end_elements(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    const eg_gmsh_file *file = r->file;
    eg_gmsh_index index = {0};
    int64_t *tags = NULL, count = r->dropped_count, twice = -1;
    for (int b = 0; b < file->block_count; b++)
        count += file->blocks[b].count;
    EG_TRY(eg_new(file->ctx, (size_t)count, &tags));
    count = 0;
    for (int b = 0; b < file->block_count; b++) {
        const eg_gmsh_block *block = &file->blocks[b];
        memcpy(tags + count, block->tag, (size_t)block->count * sizeof *tags);
        count += block->count;
    }
    for (int i = 0; i < r->dropped_count; i++)
        tags[count++] = r->dropped[i].tag;
    EG_TRY(eg_gmsh_index_create(file->ctx, count, tags, &index, &twice));
    if (twice >= 0) status = refuse_twice(r, tags[twice], twice);
done:
    eg_gmsh_index_free(file->ctx, &index);
    eg_release(file->ctx, &tags);
    return status;
}
