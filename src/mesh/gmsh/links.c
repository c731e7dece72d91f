/* Reads the section $Periodic of Gmsh files [geuzaine2009]: which entity is a copy of which, by
 * what mapping, and node by node. In files of version 2.2 all of it is text. */
#include "mesh/gmsh/reader.h"

#include <stdio.h>

/* A record that begins with a count. */
static eg_status read_count(eg_gmsh_reader *r, const char *what, int64_t *count)
{
    eg_status status = EG_OK;
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_size(&r->in, what, count));
done:
    return status;
}

/* In version 2.2 the mapping is a line that begins with a word, or not there. */
static eg_status read_affine(eg_gmsh_reader *r, eg_gmsh_link *link)
{
    eg_status status = EG_OK;
    bool given = false;
    if (r->file->version == 22) {
        EG_TRY(eg_gmsh_begin_record(&r->in));
        EG_TRY(eg_gmsh_try_word(&r->in, "Affine", &given));
        if (!given) return EG_OK;
    } else {
        int64_t count = 0;
        EG_TRY(read_count(r, "the number of values of the affine mapping", &count));
        if (count != 0 && count != 16)
            return eg_gmsh_fail(&r->in, "the affine mapping has %lld values: it has none or 16",
                                (long long)count);
        given = count > 0;
    }
    if (given) EG_TRY(eg_new(r->file->ctx, 16, &link->affine));
    for (int i = 0; given && i < 16; i++)
        EG_TRY(eg_gmsh_real(&r->in, "a value of the affine mapping", &link->affine[i]));
    EG_TRY(eg_gmsh_end_record(&r->in));
done:
    return status;
}

/* The number of a node, -1 if the file does not have it. */
static eg_status read_node(eg_gmsh_reader *r, int32_t *number)
{
    int64_t tag = 0;
    eg_status status = eg_gmsh_read_tag(r, "the tag of a node", &tag);
    if (status == EG_OK) *number = eg_gmsh_index_find(&r->nodes, tag);
    return status;
}

/* Gmsh also writes pairs of nodes that it has not saved; these are left out. */
static eg_status read_pairs(eg_gmsh_reader *r, eg_gmsh_link *link)
{
    eg_status status = EG_OK;
    int64_t count = 0;
    EG_TRY(read_count(r, "the number of pairs of nodes", &count));
    EG_TRY(eg_gmsh_end_record(&r->in));
    EG_TRY(
        eg_gmsh_check_count(&r->in, count, r->in.raw ? 2 * r->in.size_bytes : 4, "pairs of nodes"));
    if (count > 0) EG_TRY(eg_new(r->file->ctx, 2 * (size_t)count, &link->pair));
    for (int64_t i = 0; i < count; i++) {
        int32_t *pair = &link->pair[2 * link->count];
        EG_TRY(eg_gmsh_begin_record(&r->in));
        EG_TRY(read_node(r, &pair[0]));
        EG_TRY(read_node(r, &pair[1]));
        EG_TRY(eg_gmsh_end_record(&r->in));
        link->count += pair[0] >= 0 && pair[1] >= 0;
    }
done:
    return status;
}

/* Messages name both entities from here on. */
static void name_link(eg_gmsh_reader *r, const eg_gmsh_link *link)
{
    const char *kind = eg_gmsh_entity_name(link->dim);
    snprintf(r->link_name, sizeof r->link_name, "%s %d and its master %s", kind, link->entity_tag,
             kind);
    r->in.object = r->link_name;
    r->in.tag = link->master_tag;
}

static eg_status read_link(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    eg_gmsh_file *file = r->file;
    EG_TRY(eg_gmsh_grow(file->ctx, file->link_count, &r->link_capacity, sizeof *file->links,
                        (void **)&file->links));
    eg_gmsh_link *link = &file->links[file->link_count++];
    *link = (eg_gmsh_link){0};
    EG_TRY(eg_gmsh_begin_record(&r->in));
    EG_TRY(eg_gmsh_read_dim(r, "the dimension of a periodic entity", &link->dim));
    EG_TRY(eg_gmsh_int(&r->in, "the tag of a periodic entity", &link->entity_tag));
    EG_TRY(eg_gmsh_int(&r->in, "the tag of its master", &link->master_tag));
    name_link(r, link);
    if (link->entity_tag == link->master_tag)
        return eg_gmsh_fail(&r->in, "an entity cannot be a copy of itself");
    EG_TRY(eg_gmsh_end_record(&r->in));
    EG_TRY(read_affine(r, link));
    EG_TRY(read_pairs(r, link));
done:
    return status;
}

eg_status eg_gmsh_read_periodic(eg_gmsh_reader *r)
{
    eg_status status = EG_OK;
    int64_t count = 0;
    if (r->file->version == 22) r->in.raw = false;
    EG_TRY(read_count(r, "the number of periodic entities", &count));
    EG_TRY(eg_gmsh_end_record(&r->in));
    for (int64_t i = 0; i < count; i++) {
        r->in.object = "link";
        r->in.tag = i + 1;
        EG_TRY(read_link(r));
    }
done:
    return status;
}
