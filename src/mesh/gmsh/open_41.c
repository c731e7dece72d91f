/* Reads the sections of Gmsh files of version 4.1 [geuzaine2009].
 *
 * Elements and nodes come in blocks of one entity each, and entities say to which physical groups
 * they belong. A part of a partitioned entity is an entity of its own with a parent, and names the
 * parent's groups as its own; where parts touch there are entities whose parent has a higher
 * dimension, and the groups that these name are not theirs. */
#include "mesh/gmsh/reader.h"

/* --- entities --------------------------------------------------------------------------------- */

static eg_status read_counts(eg_gmsh_reader *r, int64_t count[4])
{
    static const char *const what[] = {"the number of points", "the number of curves",
                                       "the number of surfaces", "the number of volumes"};
    eg_status status = EG_OK;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    for (int dim = 0; dim <= EG_GMSH_DIM_MAX; dim++)
        EG_TRY(eg_gmsh_size(&r->in, what[dim], &count[dim]));
    EG_TRY(eg_gmsh_end_record(&r->in));
done:
    return status;
}

/* How many integers follow. */
static eg_status read_list_count(eg_gmsh_reader *r, const char *what, int64_t *count)
{
    eg_status status = eg_gmsh_size(&r->in, what, count);
    if (status != EG_OK) return status;
    return eg_gmsh_check_count(&r->in, *count, r->in.raw ? 4 : 2, "tags");
}

static eg_status skip_list(eg_gmsh_reader *r, const char *what_count, const char *what)
{
    int64_t count = 0;
    int value;
    eg_status status = read_list_count(r, what_count, &count);
    for (int64_t i = 0; i < count && status == EG_OK; i++)
        status = eg_gmsh_int(&r->in, what, &value);
    return status;
}

/* What follows an entity's tag, or its parts: the point itself or a box around it, its groups, and
 * what bounds it. */
static eg_status read_entity_rest(eg_gmsh_reader *r, int entity, bool groups)
{
    eg_status status = EG_OK;
    const int dim = r->file->entities[entity].dim;
    int64_t count = 0;
    EG_TRY(eg_gmsh_skip_reals(&r->in, dim == 0 ? 3 : 6, "a coordinate"));
    EG_TRY(read_list_count(r, "the number of its physical groups", &count));
    for (int64_t i = 0; i < count; i++) {
        int physical = 0;
        EG_TRY(eg_gmsh_int(&r->in, "the tag of a physical group", &physical));
        if (groups) EG_TRY(eg_gmsh_add_physical(r, entity, physical));
    }
    if (dim > 0) EG_TRY(skip_list(r, "the number of entities around it", "an entity around it"));
    EG_TRY(eg_gmsh_end_record(&r->in));
done:
    return status;
}

static eg_status read_entity_tag(eg_gmsh_reader *r, int dim, bool partitioned, int *entity)
{
    int tag = 0;
    eg_status status = eg_gmsh_begin_record(&r->in);
    if (status != EG_OK) return status;
    status = eg_gmsh_int(&r->in, "the tag of an entity", &tag);
    if (status != EG_OK) return status;
    r->in.object = eg_gmsh_entity_name(dim);
    r->in.tag = tag;
    const eg_gmsh_key3 key = {{dim, tag, partitioned}};
    if (eg_gmsh_table_find(&r->entities, key) >= 0)
        return eg_gmsh_fail(&r->in, "the entity is given twice");
    return eg_gmsh_add_entity(r, dim, tag, key, entity);
}

eg_status eg_gmsh_read_entities_41(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    int64_t count[4] = {0};
    EG_TRY(read_counts(r, count));
    for (int dim = 0; dim <= EG_GMSH_DIM_MAX; dim++) {
        for (int64_t i = 0; i < count[dim]; i++) {
            int entity = -1;
            EG_TRY(read_entity_tag(r, dim, false, &entity));
            EG_TRY(read_entity_rest(r, entity, true));
            r->in.object = NULL;
        }
    }
done:
    return status;
}

static eg_status read_partitioned_entity(eg_gmsh_reader *r, int dim)
{
    eg_status status = EG_OK;
    int entity = -1, parent_dim = 0, parent_tag = 0;
    EG_TRY(read_entity_tag(r, dim, true, &entity));
    EG_TRY(eg_gmsh_read_dim(r, "the dimension of its parent", &parent_dim));
    EG_TRY(eg_gmsh_int(&r->in, "the tag of its parent", &parent_tag));
    const int parent =
        eg_gmsh_table_find(&r->entities, (eg_gmsh_key3){{parent_dim, parent_tag, 0}});
    if (parent < 0)
        return eg_gmsh_fail(&r->in, "its parent, %s %d, is not in $Entities",
                            eg_gmsh_entity_name(parent_dim), parent_tag);
    r->file->entities[entity].parent = parent;
    EG_TRY(skip_list(r, "the number of its partitions", "a partition"));
    EG_TRY(read_entity_rest(r, entity, parent_dim == dim));
    if (parent_dim == dim) EG_TRY(eg_gmsh_copy_groups(r, parent, entity));
done:
    return status;
}

eg_status eg_gmsh_read_partitioned_entities_41(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    int64_t partitions = 0, ghosts = 0, count[4] = {0};
    int ignored;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_size(&r->in, "the number of partitions", &partitions));
    EG_TRY(eg_gmsh_end_record(&r->in));
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_size(&r->in, "the number of ghost entities", &ghosts));
    EG_TRY(eg_gmsh_end_record(&r->in));
    for (int64_t i = 0; i < ghosts; i++) {
        EG_TRY(eg_gmsh_begin_record(&r->in));
        EG_TRY(eg_gmsh_int(&r->in, "the tag of a ghost entity", &ignored));
        EG_TRY(eg_gmsh_int(&r->in, "the partition of a ghost entity", &ignored));
        EG_TRY(eg_gmsh_end_record(&r->in));
    }
    EG_TRY(read_counts(r, count));
    for (int dim = 0; dim <= EG_GMSH_DIM_MAX; dim++) {
        for (int64_t i = 0; i < count[dim]; i++) {
            EG_TRY(read_partitioned_entity(r, dim));
            r->in.object = NULL;
        }
    }
done:
    return status;
}

/* --- blocks of nodes and elements ------------------------------------------------------------- */

/* What $Nodes and $Elements begin with; `begin` takes the count. */
typedef struct header {
    int64_t blocks, count, tag_least, tag_most;
    bool warned; /* of tags that are not among these */
} header;

static eg_status read_header(eg_gmsh_reader *r, int64_t least_bytes,
                             eg_status (*begin)(eg_gmsh_reader *, int64_t, int64_t), header *h)
{
    eg_status status = EG_OK;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_size(&r->in, "the number of blocks", &h->blocks));
    EG_TRY(eg_gmsh_check_count(&r->in, h->blocks, r->in.raw ? 12 + r->in.size_bytes : 8, "blocks"));
    EG_TRY(eg_gmsh_size(&r->in, "their number in all", &h->count));
    EG_TRY(begin(r, h->count, least_bytes));
    EG_TRY(eg_gmsh_size(&r->in, "the least tag", &h->tag_least));
    EG_TRY(eg_gmsh_size(&r->in, "the largest tag", &h->tag_most));
    EG_TRY(eg_gmsh_end_record(&r->in));
done:
    return status;
}

/* The number of records in a block, of which `used` came before. */
static eg_status read_block_count(eg_gmsh_reader *r, const header *h, int64_t used, int64_t *count)
{
    eg_status status = EG_OK;
    EG_TRY(eg_gmsh_size(&r->in, "their number in the block", count));
    if (*count > h->count - used)
        return eg_gmsh_fail(&r->in, "the block has %lld, but %lld of the %lld announced are left",
                            (long long)*count, (long long)(h->count - used), (long long)h->count);
    EG_TRY(eg_gmsh_end_record(&r->in));
done:
    return status;
}

static eg_status check_total(eg_gmsh_reader *r, const header *h, int64_t used, const char *what)
{
    r->in.object = NULL;
    if (used == h->count) return EG_OK;
    return eg_gmsh_fail(&r->in, "%lld %s are announced, but the blocks have %lld",
                        (long long)h->count, what, (long long)used);
}

/* Tags beyond the announced range do no harm, but nor are they right. */
static void warn_of_range(eg_gmsh_reader *r, header *h, int64_t count, const int64_t *tags)
{
    for (int64_t i = 0; i < count && !h->warned; i++) {
        if (tags[i] >= h->tag_least && tags[i] <= h->tag_most) continue;
        eg_log(r->file->ctx, EG_LOG_WARNING,
               "%s: %s announces tags from %lld to %lld, but has %lld", r->in.name, r->in.section,
               (long long)h->tag_least, (long long)h->tag_most, (long long)tags[i]);
        h->warned = true;
    }
}

/* First the tags of all nodes of a block, then their coordinates, and parameters if it has them. */
static eg_status read_node_block(eg_gmsh_reader *r, const header *h, int32_t *used)
{
    eg_status status = EG_OK;
    eg_gmsh_file *file = r->file;
    int dim, tag, parametric;
    int64_t count = 0;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_read_dim(r, "the dimension of the entity", &dim));
    EG_TRY(eg_gmsh_int(&r->in, "the tag of the entity", &tag));
    EG_TRY(eg_gmsh_int(&r->in, "whether there are parameters", &parametric));
    if (parametric != 0 && parametric != 1)
        return eg_gmsh_fail(&r->in, "whether there are parameters is %d: it is 0 or 1", parametric);
    EG_TRY(read_block_count(r, h, *used, &count));
    const int32_t first = *used, end = *used + (int32_t)count;
    for (int32_t i = first; i < end; i++) {
        EG_TRY(eg_gmsh_begin_record(&r->in));
        EG_TRY(eg_gmsh_read_tag(r, "the tag of a node", &file->node_tag[i]));
    }
    r->in.object = "node";
    for (int32_t i = first; i < end; i++) {
        r->in.tag = file->node_tag[i];
        EG_TRY(eg_gmsh_begin_record(&r->in));
        EG_TRY(eg_gmsh_read_point(r, i));
        if (parametric) EG_TRY(eg_gmsh_skip_reals(&r->in, dim, "its parameter"));
        EG_TRY(eg_gmsh_end_record(&r->in));
    }
    *used = end;
done:
    return status;
}

eg_status eg_gmsh_read_nodes_41(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    header h = {0};
    int32_t used = 0;
    EG_TRY(read_header(r, r->in.raw ? 24 + r->in.size_bytes : 8, eg_gmsh_begin_nodes, &h));
    for (int64_t b = 0; b < h.blocks; b++) {
        r->in.object = "block";
        r->in.tag = b + 1;
        EG_TRY(read_node_block(r, &h, &used));
    }
    EG_TRY(check_total(r, &h, used, "nodes"));
    warn_of_range(r, &h, r->file->node_count, r->file->node_tag);
    EG_TRY(eg_gmsh_end_nodes(r));
done:
    return status;
}

/* The entity of a block; one that the file does not describe has no groups. */
static eg_status find_entity(eg_gmsh_reader *r, int dim, int tag, int *entity)
{
    for (int partitioned = 1; partitioned >= 0; partitioned--) {
        *entity = eg_gmsh_table_find(&r->entities, (eg_gmsh_key3){{dim, tag, partitioned}});
        if (*entity >= 0) return EG_OK;
    }
    if (r->seen & EG_GMSH_ENTITIES)
        return eg_gmsh_fail(&r->in, "its entity, %s %d, is not in $Entities",
                            eg_gmsh_entity_name(dim), tag);
    return eg_gmsh_add_entity(r, dim, tag, (eg_gmsh_key3){{dim, tag, 0}}, entity);
}

static eg_status read_elements(eg_gmsh_reader *r, eg_gmsh_block *block, int64_t count)
{
    eg_status status = EG_OK;
    for (int64_t i = 0; i < count; i++) {
        r->in.object = "record";
        r->in.tag = i + 1;
        EG_TRY(eg_gmsh_begin_record(&r->in));
        if (i == 0) block->place = eg_gmsh_place(&r->in);
        EG_TRY(eg_gmsh_read_tag(r, "the tag of an element", &block->tag[i]));
        r->in.object = "element";
        r->in.tag = block->tag[i];
        EG_TRY(eg_gmsh_read_nodes(r, block->np, &block->nodes[i * block->np]));
        EG_TRY(eg_gmsh_end_record(&r->in));
    }
    block->count = count;
done:
    return status;
}

static eg_status skip_points(eg_gmsh_reader *r, int64_t count)
{
    eg_status status = EG_OK;
    for (int64_t i = 0; i < count; i++) {
        int32_t node;
        r->in.object = "record";
        r->in.tag = i + 1;
        EG_TRY(eg_gmsh_begin_record(&r->in));
        const int64_t place = eg_gmsh_place(&r->in);
        EG_TRY(eg_gmsh_read_tag(r, "the tag of an element", &r->in.tag));
        r->in.object = "element";
        EG_TRY(eg_gmsh_drop_element(r, r->in.tag, place));
        EG_TRY(eg_gmsh_read_nodes(r, 1, &node));
        EG_TRY(eg_gmsh_end_record(&r->in));
    }
done:
    return status;
}

static eg_status read_element_block(eg_gmsh_reader *r, header *h, int64_t *used)
{
    eg_status status = EG_OK;
    eg_gmsh_type_info info = {0};
    eg_gmsh_block *block = NULL;
    int dim, tag, entity;
    int64_t count = 0;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_read_dim(r, "the dimension of the entity", &dim));
    EG_TRY(eg_gmsh_int(&r->in, "the tag of the entity", &tag));
    EG_TRY(eg_gmsh_read_type(r, &info));
    if (info.dim != dim)
        return eg_gmsh_fail(&r->in, "elements of type %d cannot lie in %s %d", info.type,
                            eg_gmsh_entity_name(dim), tag);
    EG_TRY(find_entity(r, dim, tag, &entity));
    EG_TRY(read_block_count(r, h, *used, &count));
    EG_TRY(eg_gmsh_check_count(&r->in, count, (info.np + 1) * (r->in.raw ? r->in.size_bytes : 2),
                               "elements"));
    *used += count;
    if (dim == 0) return skip_points(r, count);
    if (count == 0) return EG_OK;
    EG_TRY(eg_gmsh_add_block(r, entity, &info, &block));
    EG_TRY(eg_new(r->file->ctx, (size_t)count, &block->tag));
    EG_TRY(eg_new(r->file->ctx, (size_t)count * (size_t)info.np, &block->nodes));
    EG_TRY(read_elements(r, block, count));
    warn_of_range(r, h, count, block->tag);
done:
    return status;
}

eg_status eg_gmsh_read_elements_41(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    header h = {0};
    int64_t used = 0;
    EG_TRY(read_header(r, r->in.raw ? 2 * r->in.size_bytes : 4, eg_gmsh_begin_elements, &h));
    for (int64_t b = 0; b < h.blocks; b++) {
        r->in.object = "block";
        r->in.tag = b + 1;
        EG_TRY(read_element_block(r, &h, &used));
    }
    EG_TRY(check_total(r, &h, used, "elements"));
    EG_TRY(eg_gmsh_end_elements(r));
done:
    return status;
}
