/* Reads the sections of Gmsh files of version 2.2 [geuzaine2009].
 *
 * Counts are lines of text even in binary files, $PhysicalNames and $Periodic wholly so. An element
 * carries tags: its physical group (0: none), its elementary entity, and the parts of a partition
 * that it belongs to. An element of an entity with several groups stands there once for each of
 * them, one after another, under different tags, or under the same one if Gmsh was told to preserve
 * its numbers; it is read once. Blocks are made of what has the same type, entity and groups,
 * wherever it stands. */
#include "mesh/gmsh/reader.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_LEAST 4 /* elements; blocks grow by doubling */

/* A line with a count, which `begin` takes, then whatever the file holds. */
static eg_status read_count(eg_gmsh_reader *r, const char *what, int64_t least_bytes,
                            eg_status (*begin)(eg_gmsh_reader *, int64_t, int64_t), int64_t *count)
{
    eg_status status = EG_OK;
    r->in.raw = false;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_size(&r->in, what, count));
    EG_TRY(begin(r, *count, least_bytes));
    EG_TRY(eg_gmsh_end_record(&r->in));
    r->in.raw = r->in.binary;
done:
    return status;
}

/* --- nodes ------------------------------------------------------------------------------------ */

/* Behind the coordinates of a node: its entity, and as many parameters as that has dimensions, if
 * it is no volume. */
static eg_status skip_parameters(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    int dim, tag;
    EG_TRY(eg_gmsh_read_dim(r, "the dimension of its entity", &dim));
    EG_TRY(eg_gmsh_int(&r->in, "the tag of its entity", &tag));
    EG_TRY(eg_gmsh_skip_reals(&r->in, dim < EG_GMSH_DIM_MAX ? dim : 0, "its parameter"));
done:
    return status;
}

static eg_status read_nodes(eg_gmsh_reader *r, bool parametric)
{
    eg_status status = EG_OK;
    int64_t count = 0;
    EG_TRY(
        read_count(r, "the number of nodes", r->in.binary ? 28 : 8, eg_gmsh_begin_nodes, &count));
    for (int32_t i = 0; i < r->file->node_count; i++) {
        r->in.object = "record";
        r->in.tag = i + 1;
        EG_TRY(eg_gmsh_begin_record(&r->in));
        EG_TRY(eg_gmsh_read_tag(r, "the tag of a node", &r->file->node_tag[i]));
        r->in.object = "node";
        r->in.tag = r->file->node_tag[i];
        EG_TRY(eg_gmsh_read_point(r, i));
        if (parametric) EG_TRY(skip_parameters(r));
        EG_TRY(eg_gmsh_end_record(&r->in));
    }
    EG_TRY(eg_gmsh_end_nodes(r));
done:
    return status;
}

eg_status eg_gmsh_read_nodes_22(eg_gmsh_reader *r)
{
    return read_nodes(r, false);
}

eg_status eg_gmsh_read_parametric_nodes_22(eg_gmsh_reader *r)
{
    return read_nodes(r, true);
}

/* --- elements --------------------------------------------------------------------------------- */

/* An element that is read; the next one may be the same in another group. */
typedef struct element {
    bool present;
    eg_gmsh_type_info info;
    int64_t tag, place;
    int elementary, physical;
    int entity;
    int32_t nodes[EG_GMSH_NODES_MAX];
} element;

typedef struct elements {
    element store[2];
    element *last, *next; /* the one that was read before, and that which is read */
    int64_t point_tag;    /* of the last point, and its node */
    int32_t point_node;
} elements;

static int compare_numbers(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* True if an edge joins two vertices of a shape. */
static bool are_joined(const eg_shape_info *info, int i, int j)
{
    int differences = 0;
    for (int d = 0; d < info->dim; d++)
        differences += info->r[i][d] != info->r[j][d];
    return info->tensor ? differences == 1 : i != j;
}

/* True if one's vertices are the other's, turned or reflected: then both have the same edges. */
static bool have_same_edges(const element *a, const element *b)
{
    const eg_shape_info *info = eg_shape_get_info(a->info.shape);
    int place[EG_MAX_VERTICES]; /* of a's vertices among b's */
    for (int i = 0; i < info->vertices; i++) {
        place[i] = 0;
        while (place[i] < info->vertices && b->nodes[place[i]] != a->nodes[i])
            place[i]++;
        if (place[i] == info->vertices) return false;
        for (int j = 0; j < i; j++)
            if (are_joined(info, i, j) != are_joined(info, place[i], place[j])) return false;
    }
    return true;
}

/* True if both have the same nodes, and form: a group may see an element from behind. */
static bool have_same_nodes(const element *a, const element *b)
{
    const size_t np = (size_t)a->info.np, bytes = np * sizeof a->nodes[0];
    int64_t difference = 0;
    if (memcmp(a->nodes, b->nodes, bytes) == 0) return true;
    for (size_t i = 0; i < np; i++)
        difference += (int64_t)a->nodes[i] - b->nodes[i];
    if (difference != 0) return false;
    int32_t x[EG_GMSH_NODES_MAX], y[EG_GMSH_NODES_MAX];
    memcpy(x, a->nodes, bytes);
    memcpy(y, b->nodes, bytes);
    qsort(x, np, sizeof x[0], compare_numbers);
    qsort(y, np, sizeof y[0], compare_numbers);
    return memcmp(x, y, bytes) == 0 && have_same_edges(a, b);
}

static bool has_group(const eg_gmsh_entity *entity, int physical)
{
    for (int i = 0; i < entity->physical_count; i++)
        if (entity->physical[i] == physical) return true;
    return false;
}

/* True if `next` is `e` once more, in another group. */
static bool is_same_element(const eg_gmsh_reader *r, const element *e, const element *next)
{
    return e->present && e->info.type == next->info.type && e->elementary == next->elementary &&
           e->physical != 0 && next->physical != 0 && e->entity >= 0 &&
           !has_group(&r->file->entities[e->entity], next->physical) && have_same_nodes(e, next);
}

/* The entity of an elementary tag and a group. */
static eg_status find_entity(eg_gmsh_reader *r, element *e)
{
    const eg_gmsh_key3 key = {{e->info.dim, e->elementary, e->physical}};
    e->entity = eg_gmsh_table_find(&r->entities, key);
    if (e->entity >= 0) return EG_OK;
    eg_status status = eg_gmsh_add_entity(r, e->info.dim, e->elementary, key, &e->entity);
    if (status == EG_OK && e->physical != 0)
        status = eg_gmsh_add_physical(r, e->entity, e->physical);
    return status;
}

/* The entity that has one group more than that of the element. */
static eg_status add_group(eg_gmsh_reader *r, element *e, int physical)
{
    eg_status status = EG_OK;
    const int from = e->entity;
    const eg_gmsh_key3 key = {{EG_GMSH_DIM_MAX + 1 + from, physical, 0}};
    e->entity = eg_gmsh_table_find(&r->entities, key);
    if (e->entity >= 0) return EG_OK;
    EG_TRY(eg_gmsh_add_entity(r, e->info.dim, e->elementary, key, &e->entity));
    EG_TRY(eg_gmsh_copy_groups(r, from, e->entity));
    EG_TRY(eg_gmsh_add_physical(r, e->entity, physical));
done:
    return status;
}

/* Puts an element into the block of its entity and type. */
static eg_status put_element(eg_gmsh_reader *r, const element *e)
{
    eg_status status = EG_OK;
    eg_context *ctx = r->file->ctx;
    const eg_gmsh_key3 key = {{e->entity, e->info.type, 0}};
    if (!e->present) return EG_OK;
    const int found = eg_gmsh_table_find(&r->blocks, key);
    eg_gmsh_block *block = found >= 0 ? &r->file->blocks[found] : NULL;
    if (!block) {
        EG_TRY(eg_gmsh_table_add(ctx, &r->blocks, key, r->file->block_count));
        EG_TRY(eg_gmsh_add_block(r, e->entity, &e->info, &block));
        block->place = e->place;
    }
    const size_t count = (size_t)block->count, np = (size_t)block->np;
    if (count == 0 || (count >= CAPACITY_LEAST && (count & (count - 1)) == 0)) {
        const size_t capacity = count ? 2 * count : CAPACITY_LEAST;
        EG_TRY(eg_reallocate(ctx, capacity * sizeof *block->tag, (void **)&block->tag));
        EG_TRY(eg_reallocate(ctx, capacity * np * sizeof *block->nodes, (void **)&block->nodes));
    }
    block->tag[count] = e->tag;
    memcpy(block->nodes + count * np, e->nodes, np * sizeof *block->nodes);
    block->count++;
done:
    return status;
}

/* The tags of an element, of which the first two are told; the sign of a group, which tells how it
 * sees the element, is dropped. */
static eg_status read_element_tags(eg_gmsh_reader *r, int count, element *e)
{
    int other;
    e->physical = e->elementary = 0;
    for (int i = 0; i < count; i++) {
        int *out = i == 0 ? &e->physical : i == 1 ? &e->elementary : &other;
        eg_status status = eg_gmsh_int(&r->in, "a tag of the element", out);
        if (status != EG_OK) return status;
    }
    if (e->physical == INT_MIN)
        return eg_gmsh_fail(&r->in, "%d cannot be the tag of a physical group", e->physical);
    e->physical = abs(e->physical);
    return EG_OK;
}

/* A point, which may stand there once for each of its groups, too. */
static eg_status drop_point(eg_gmsh_reader *r, elements *all)
{
    const element *point = all->next;
    if (point->tag == all->point_tag && point->nodes[0] == all->point_node) return EG_OK;
    all->point_tag = point->tag;
    all->point_node = point->nodes[0];
    return eg_gmsh_drop_element(r, point->tag, point->place);
}

/* What follows an element's tag, or its tag, type and number of tags in text. What was read before
 * goes into its block, unless both are one. */
static eg_status read_element(eg_gmsh_reader *r, int tag_count, elements *all)
{
    eg_status status = EG_OK;
    element *next = all->next;
    EG_TRY(read_element_tags(r, tag_count, next));
    EG_TRY(eg_gmsh_read_nodes(r, next->info.np, next->nodes));
    EG_TRY(eg_gmsh_end_record(&r->in));
    if (next->info.dim == 0) return drop_point(r, all);
    if (is_same_element(r, all->last, next)) {
        if (next->tag != all->last->tag) EG_TRY(eg_gmsh_drop_element(r, next->tag, next->place));
        return add_group(r, all->last, next->physical);
    }
    EG_TRY(put_element(r, all->last));
    next->present = true;
    next->entity = -1;
    if (tag_count > 0) EG_TRY(find_entity(r, next));
    all->next = all->last;
    all->last = next;
done:
    return status;
}

static eg_status read_tag_count(eg_gmsh_reader *r, int *count)
{
    eg_status status = eg_gmsh_int(&r->in, "the number of its tags", count);
    if (status != EG_OK) return status;
    if (*count < 0)
        return eg_gmsh_fail(&r->in, "the number of its tags is %d: it is negative", *count);
    return eg_gmsh_check_count(&r->in, *count, r->in.raw ? 4 : 2, "tags");
}

static eg_status read_element_tag(eg_gmsh_reader *r, int64_t number, element *next)
{
    r->in.object = "record";
    r->in.tag = number + 1;
    eg_status status = eg_gmsh_begin_record(&r->in);
    if (status != EG_OK) return status;
    next->place = eg_gmsh_place(&r->in);
    status = eg_gmsh_read_tag(r, "the tag of an element", &next->tag);
    if (status != EG_OK) return status;
    r->in.object = "element";
    r->in.tag = next->tag;
    return EG_OK;
}

static eg_status read_text(eg_gmsh_reader *r, int64_t count, elements *all)
{
    eg_status status = EG_OK;
    for (int64_t i = 0; i < count; i++) {
        int tag_count = 0;
        EG_TRY(read_element_tag(r, i, all->next));
        EG_TRY(eg_gmsh_read_type(r, &all->next->info));
        EG_TRY(read_tag_count(r, &tag_count));
        EG_TRY(read_element(r, tag_count, all));
    }
done:
    return status;
}

/* Elements in groups of one type and number of tags. */
static eg_status read_binary(eg_gmsh_reader *r, int64_t count, elements *all)
{
    eg_status status = EG_OK;
    eg_gmsh_type_info info = {0};
    for (int64_t used = 0; used < count;) {
        int group = 0, tag_count = 0;
        r->in.object = "record";
        r->in.tag = used + 1;
        EG_TRY(eg_gmsh_read_type(r, &info));
        EG_TRY(eg_gmsh_int(&r->in, "the number of elements of a type", &group));
        if (group <= 0 || group > count - used)
            return eg_gmsh_fail(&r->in, "%d elements of a type follow, but %lld of %lld are left",
                                group, (long long)(count - used), (long long)count);
        EG_TRY(read_tag_count(r, &tag_count));
        for (int i = 0; i < group; i++) {
            EG_TRY(read_element_tag(r, used++, all->next));
            all->next->info = info;
            EG_TRY(read_element(r, tag_count, all));
        }
    }
done:
    return status;
}

/* Gives back the room for elements that did not come. */
static eg_status fit_blocks(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    eg_context *ctx = r->file->ctx;
    for (int b = 0; b < r->file->block_count; b++) {
        eg_gmsh_block *block = &r->file->blocks[b];
        const size_t count = (size_t)block->count, np = (size_t)block->np;
        EG_TRY(eg_reallocate(ctx, count * sizeof *block->tag, (void **)&block->tag));
        EG_TRY(eg_reallocate(ctx, count * np * sizeof *block->nodes, (void **)&block->nodes));
    }
done:
    return status;
}

eg_status eg_gmsh_read_elements_22(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    int64_t count = 0;
    elements all = {0};
    all.last = &all.store[0];
    all.next = &all.store[1];
    EG_TRY(read_count(r, "the number of elements", 8, eg_gmsh_begin_elements, &count));
    EG_TRY(r->in.raw ? read_binary(r, count, &all) : read_text(r, count, &all));
    EG_TRY(put_element(r, all.last));
    EG_TRY(fit_blocks(r));
    EG_TRY(eg_gmsh_end_elements(r));
done:
    return status;
}
