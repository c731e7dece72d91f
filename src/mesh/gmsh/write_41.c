/* The entities, nodes and elements of a Gmsh file, format MSH 4.1 [geuzaine2009]. Every group is an
 * entity; nodes and elements stand in blocks, those of an entity together. */
#include "mesh/gmsh/write.h"

/* Tag, box, physical group, and what bounds it: groups of faces those of elements, nothing them.
 * The bounds of the group are the next ones from `bound` on, which goes behind them. */
static void put_entity(eg_gmsh_writer *w, int g, int64_t *bound)
{
    eg_gmsh_output *out = &w->out;
    const eg_gmsh_groups *groups = &w->groups;
    const eg_gmsh_group *group = &groups->groups[g];
    const int64_t first = *bound;
    while (*bound < groups->bound_count && groups->bounds[*bound].elements == g)
        ++*bound;
    eg_gmsh_put_int(out, g + 1);
    eg_gmsh_put_point(out, 3, group->low);
    eg_gmsh_put_point(out, 3, group->high);
    eg_gmsh_put_size(out, 1);
    eg_gmsh_put_int(out, g + 1);
    eg_gmsh_put_size(out, *bound - first);
    for (int64_t i = first; i < *bound; i++)
        eg_gmsh_put_int(out, groups->bounds[i].faces + 1);
    eg_gmsh_put_line(out);
}

static void put_entities(eg_gmsh_writer *w)
{
    int count[4] = {0}; /* by dimension */
    int64_t bound = 0;
    for (int g = 0; g < w->groups.group_count; g++)
        count[eg_gmsh_group_dim(w, g)]++;
    eg_gmsh_put_begin(&w->out, "Entities");
    for (int d = 0; d < 4; d++)
        eg_gmsh_put_size(&w->out, count[d]);
    eg_gmsh_put_line(&w->out);
    for (int g = w->groups.element_groups; g < w->groups.group_count; g++)
        put_entity(w, g, &bound);
    for (int g = 0; g < w->groups.element_groups; g++)
        put_entity(w, g, &bound);
    eg_gmsh_put_end(&w->out, "Entities");
}

/* What $Nodes and $Elements begin with; tags are 1 to the count. */
static void put_counts(eg_gmsh_writer *w, int blocks, int64_t count)
{
    eg_gmsh_put_size(&w->out, blocks);
    eg_gmsh_put_size(&w->out, count);
    eg_gmsh_put_size(&w->out, 1);
    eg_gmsh_put_size(&w->out, count);
    eg_gmsh_put_line(&w->out);
}

/* What a block of either begins with; `kind` is the type of elements, and zero for nodes. */
static void put_block_head(eg_gmsh_writer *w, int group, int kind, int64_t count)
{
    eg_gmsh_put_int(&w->out, eg_gmsh_group_dim(w, group));
    eg_gmsh_put_int(&w->out, group + 1);
    eg_gmsh_put_int(&w->out, kind);
    eg_gmsh_put_size(&w->out, count);
    eg_gmsh_put_line(&w->out);
}

static void put_nodes(eg_gmsh_writer *w)
{
    const int dim = w->mesh->dim;
    int blocks = 0;
    for (int g = 0; g < w->groups.group_count; g++)
        blocks += w->groups.groups[g].node_count > 0;
    eg_gmsh_put_begin(&w->out, "Nodes");
    put_counts(w, blocks, w->nodes.count);
    for (int g = 0; g < w->groups.group_count; g++) {
        const eg_gmsh_group *group = &w->groups.groups[g];
        const int64_t *nodes = &w->groups.nodes[group->node_first];
        if (group->node_count == 0) continue;
        put_block_head(w, g, 0, group->node_count);
        for (int64_t i = 0; i < group->node_count; i++) {
            eg_gmsh_put_size(&w->out, nodes[i] + 1);
            eg_gmsh_put_line(&w->out);
        }
        for (int64_t i = 0; i < group->node_count; i++) {
            eg_gmsh_put_point(&w->out, dim, &w->nodes.x[nodes[i] * dim]);
            eg_gmsh_put_line(&w->out);
        }
    }
    eg_gmsh_put_end(&w->out, "Nodes");
}

static void put_elements(eg_gmsh_writer *w)
{
    eg_gmsh_put_begin(&w->out, "Elements");
    put_counts(w, w->block_count, w->mesh->element_count + w->groups.face_count);
    for (int i = 0; i < w->block_count; i++) {
        const eg_gmsh_members *block = &w->blocks[i];
        eg_gmsh_cursor cursor = {0};
        put_block_head(w, block->group, eg_gmsh_type(block->shape, w->nodes.order), block->count);
        while (eg_gmsh_next(w, block, &cursor)) {
            eg_gmsh_put_size(&w->out, cursor.tag);
            for (int k = 0; k < cursor.node_count; k++)
                eg_gmsh_put_size(&w->out, cursor.nodes[k] + 1);
            eg_gmsh_put_line(&w->out);
        }
    }
    eg_gmsh_put_end(&w->out, "Elements");
}

void eg_gmsh_write_41(eg_gmsh_writer *w)
{
    put_entities(w);
    put_nodes(w);
    put_elements(w);
}
