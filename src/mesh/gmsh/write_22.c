/* The nodes and elements of a Gmsh file, format MSH 2.2 [geuzaine2009]. There are no entities: each
 * element has two tags, its physical group and its entity, which are the same number here. */
#include "mesh/gmsh/write.h"

#include <inttypes.h>

static void put_nodes(eg_gmsh_writer *w)
{
    const int dim = w->mesh->dim;
    eg_gmsh_put_begin(&w->out, "Nodes");
    eg_gmsh_put_text(&w->out, "%" PRId64 "\n", w->nodes.count);
    for (int64_t i = 0; i < w->nodes.count; i++) {
        eg_gmsh_put_int(&w->out, (int32_t)(i + 1));
        eg_gmsh_put_point(&w->out, dim, &w->nodes.x[i * dim]);
        eg_gmsh_put_line(&w->out);
    }
    eg_gmsh_put_end(&w->out, "Nodes");
}

/* In text every element says its type and how many tags it has, in binary a block of them does. */
static void put_block(eg_gmsh_writer *w, const eg_gmsh_members *block)
{
    eg_gmsh_output *out = &w->out;
    eg_gmsh_cursor cursor = {0};
    const int type = eg_gmsh_type(block->shape, w->nodes.order), tags = 2, group = block->group + 1;
    if (out->binary) {
        eg_gmsh_put_int(out, type);
        eg_gmsh_put_int(out, (int32_t)block->count);
        eg_gmsh_put_int(out, tags);
    }
    while (eg_gmsh_next(w, block, &cursor)) {
        eg_gmsh_put_int(out, (int32_t)cursor.tag);
        if (!out->binary) {
            eg_gmsh_put_int(out, type);
            eg_gmsh_put_int(out, tags);
        }
        eg_gmsh_put_int(out, group);
        eg_gmsh_put_int(out, group);
        for (int i = 0; i < cursor.node_count; i++)
            eg_gmsh_put_int(out, (int32_t)(cursor.nodes[i] + 1));
        eg_gmsh_put_line(out);
    }
}

void eg_gmsh_write_22(eg_gmsh_writer *w)
{
    const int64_t elements = w->mesh->element_count + w->groups.face_count;
    if (w->nodes.count > INT32_MAX || elements > INT32_MAX) {
        w->out.status =
            eg_fail(w->mesh->ctx, EG_ERROR_INPUT,
                    "Gmsh files of version 2.2 number at most %d nodes and elements, and this mesh "
                    "has %" PRId64 " and %" PRId64 ": write version 4.1",
                    INT32_MAX, w->nodes.count, elements);
        return;
    }
    put_nodes(w);
    eg_gmsh_put_begin(&w->out, "Elements");
    eg_gmsh_put_text(&w->out, "%" PRId64 "\n", elements);
    for (int i = 0; i < w->block_count; i++)
        put_block(w, &w->blocks[i]);
    eg_gmsh_put_end(&w->out, "Elements");
}
