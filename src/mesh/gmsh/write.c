/* Writes meshes as Gmsh files: checks that Gmsh can hold them, numbers what they have, and writes the
 * sections that files of all versions share [geuzaine2009].
 *
 * A physical group of one entity gives each group its name; entity and physical group of group g
 * have the tag g + 1. Node i has the tag i + 1. An element's tag is its global number + 1; the
 * tags of faces follow. */
#include "mesh/gmsh/write.h"

#include <string.h>

#define NAME_BYTES_MAX 127 /* that Gmsh reads */

/* True of "periodic_1", "periodic_1_image" and so on. */
static bool is_side_name(const char *name)
{
    static const char before[] = "periodic_";
    if (strncmp(name, before, strlen(before)) != 0) return false;
    const char *number = name + strlen(before), *after = number + strspn(number, "0123456789");
    return after > number && (!*after || strcmp(after, "_image") == 0);
}

static eg_status check_name(eg_context *ctx, const char *what, const char *name)
{
    const size_t length = strlen(name);
    bool good = length > 0 && length <= NAME_BYTES_MAX;
    for (size_t i = 0; i < length; i++)
        good = good && (unsigned char)name[i] >= ' ' && name[i] != '"';
    if (good) return EG_OK;
    return eg_fail(ctx, EG_ERROR_INPUT,
                   "the %s name \"%s\" cannot stand in a Gmsh file: use 1 to %d bytes without "
                   "quotes and control characters",
                   what, name, NAME_BYTES_MAX);
}

static eg_status check_mesh(const eg_mesh *mesh)
{
    if (mesh->ghost_count > 0 || mesh->element_count != mesh->global_count)
        return eg_fail(mesh->ctx, EG_ERROR_ARGUMENT,
                       "only a whole mesh can be written as a Gmsh file, not a rank's part of one");
    for (int32_t e = 0; mesh->nodes && e < mesh->element_count; e++) {
        const eg_shape shape = (eg_shape)mesh->shape[e];
        if (eg_gmsh_type(shape, mesh->order)) continue;
        int highest = EG_GMSH_ORDER_MAX;
        while (!eg_gmsh_type(shape, highest))
            highest--;
        return eg_fail(mesh->ctx, EG_ERROR_INPUT,
                       "Gmsh has no %s of order %d: write a mesh of order %d or less",
                       eg_shape_get_info(shape)->name, mesh->order, highest);
    }
    eg_status status = EG_OK;
    for (int g = 0; g < mesh->group_count && status == EG_OK; g++)
        status = check_name(mesh->ctx, "group", mesh->group[g]);
    for (int b = 0; b < mesh->boundary_count && status == EG_OK; b++) {
        const char *name = mesh->boundary[b];
        status = check_name(mesh->ctx, "boundary", name);
        if (status == EG_OK && is_side_name(name))
            status = eg_fail(mesh->ctx, EG_ERROR_INPUT,
                             "the boundary name \"%s\" is kept for the sides of periodic boxes in "
                             "a Gmsh file: give the boundary another one",
                             name);
    }
    return status;
}

/* --- elements and faces ----------------------------------------------------------------------- */

static eg_status sort_elements(eg_gmsh_writer *w)
{
    const eg_mesh *mesh = w->mesh;
    eg_status status = eg_new(mesh->ctx, (size_t)mesh->element_count, &w->by_global);
    if (status != EG_OK) return status;
    for (int32_t e = 0; e < mesh->element_count; e++)
        w->by_global[mesh->global[e]] = e;
    return EG_OK;
}

int eg_gmsh_group_dim(const eg_gmsh_writer *w, int group)
{
    return group < w->groups.element_groups ? w->mesh->dim : w->mesh->dim - 1;
}

/* The shape of element or face i of a group. */
static eg_shape shape_of(const eg_gmsh_writer *w, int g, int64_t i)
{
    const int64_t at = w->groups.groups[g].first + i;
    if (g < w->groups.element_groups) return (eg_shape)w->mesh->shape[w->groups.elements[at]];
    const eg_gmsh_face *face = &w->groups.faces[at];
    return eg_shape_get_info((eg_shape)w->mesh->shape[face->element])->face_shape;
}

/* Every group has a block for each shape in it. */
static eg_status find_blocks(eg_gmsh_writer *w)
{
    const size_t most = (size_t)w->groups.group_count * EG_SHAPE_COUNT;
    const eg_status status = eg_new(w->mesh->ctx, most, &w->blocks);
    if (status != EG_OK) return status;
    for (int g = 0; g < w->groups.group_count; g++) {
        int64_t counts[EG_SHAPE_COUNT] = {0};
        for (int64_t i = 0; i < w->groups.groups[g].count; i++)
            counts[shape_of(w, g, i)]++;
        for (int s = 0; s < EG_SHAPE_COUNT; s++)
            if (counts[s] > 0)
                w->blocks[w->block_count++] = (eg_gmsh_members){g, (eg_shape)s, counts[s]};
    }
    return EG_OK;
}

bool eg_gmsh_next(const eg_gmsh_writer *w, const eg_gmsh_members *block, eg_gmsh_cursor *cursor)
{
    const int g = block->group;
    const eg_gmsh_group *group = &w->groups.groups[g];
    while (cursor->next < group->count && shape_of(w, g, cursor->next) != block->shape)
        cursor->next++;
    if (cursor->next == group->count) return false;
    const int64_t at = group->first + cursor->next++;
    if (g < w->groups.element_groups) {
        const int32_t element = w->groups.elements[at];
        cursor->tag = w->mesh->global[element] + 1;
        cursor->nodes = eg_gmsh_element_nodes(&w->nodes, element, &cursor->node_count);
    } else {
        cursor->tag = w->mesh->element_count + at + 1;
        cursor->nodes = cursor->face;
        cursor->node_count =
            eg_gmsh_group_face_nodes(&w->nodes, &w->groups.faces[at], cursor->face, NULL);
    }
    return true;
}

/* --- sections --------------------------------------------------------------------------------- */

void eg_gmsh_put_point(eg_gmsh_output *out, int dim, const double *x)
{
    eg_gmsh_put_real(out, x[0]);
    eg_gmsh_put_real(out, x[1]);
    eg_gmsh_put_real(out, dim > 2 ? x[2] : 0.0);
}

/* The version, and a one by which readers of binary files know the order of bytes. */
static void put_format(eg_gmsh_writer *w, int version)
{
    eg_gmsh_output *out = &w->out;
    eg_gmsh_put_begin(out, "MeshFormat");
    eg_gmsh_put_text(out, "%d.%d %d 8\n", version / 10, version % 10, out->binary);
    if (out->binary) eg_gmsh_put_int(out, 1);
    eg_gmsh_put_end(out, "MeshFormat");
}

static void put_names(eg_gmsh_writer *w)
{
    const eg_mesh *mesh = w->mesh;
    eg_gmsh_put_text(&w->out, "$PhysicalNames\n%d\n", w->groups.group_count);
    for (int b = 0; b < mesh->boundary_count; b++)
        eg_gmsh_put_text(&w->out, "%d %d \"%s\"\n", mesh->dim - 1, w->groups.element_groups + b + 1,
                         mesh->boundary[b]);
    for (int i = 0; i < w->groups.link_count; i++) {
        const int tag = EG_GMSH_MASTER(&w->groups, i) + 1;
        eg_gmsh_put_text(&w->out, "%d %d \"periodic_%d\"\n%d %d \"periodic_%d_image\"\n",
                         mesh->dim - 1, tag, i + 1, mesh->dim - 1, tag + 1, i + 1);
    }
    for (int g = 0; g < w->groups.element_groups; g++)
        eg_gmsh_put_text(&w->out, "%d %d \"%s\"\n", mesh->dim, g + 1,
                         mesh->group_count > 0 ? mesh->group[g] : "domain");
    eg_gmsh_put_text(&w->out, "$EndPhysicalNames\n");
}

/* The image's entity and the master's, the translation as an affine mapping. */
static void put_link_head(eg_gmsh_writer *w, int version, int link)
{
    eg_gmsh_output *out = &w->out;
    const int tag = EG_GMSH_MASTER(&w->groups, link) + 1;
    eg_gmsh_put_int(out, w->mesh->dim - 1);
    eg_gmsh_put_int(out, tag + 1);
    eg_gmsh_put_int(out, tag);
    eg_gmsh_put_line(out);
    if (version == 22)
        eg_gmsh_put_text(out, "Affine");
    else
        eg_gmsh_put_size(out, 16);
    for (int row = 0; row < 4; row++) {
        for (int column = 0; column < 3; column++)
            eg_gmsh_put_real(out, row == column ? 1.0 : 0.0);
        eg_gmsh_put_real(out, row < 3 ? w->groups.shift[link][row] : 1.0);
    }
    eg_gmsh_put_line(out);
}

/* The pairs of a link's nodes; `master` is and will be zero. */
static void put_pairs(eg_gmsh_writer *w, int link, int64_t *master)
{
    const eg_gmsh_group *image = &w->groups.groups[EG_GMSH_MASTER(&w->groups, link) + 1];
    int64_t pairs = 0;
    for (int64_t i = image->first; i < image->first + image->count; i++) {
        int64_t nodes[EG_GMSH_FACE_NODES_MAX], joined[EG_GMSH_FACE_NODES_MAX];
        const int count = eg_gmsh_group_face_nodes(&w->nodes, &w->groups.faces[i], nodes, joined);
        for (int k = 0; k < count; k++) {
            pairs += master[nodes[k]] == 0;
            master[nodes[k]] = joined[k] + 1;
        }
    }
    eg_gmsh_put_size(&w->out, pairs);
    eg_gmsh_put_line(&w->out);
    for (int64_t i = 0; i < w->nodes.count; i++) {
        if (master[i] == 0) continue;
        eg_gmsh_put_size(&w->out, i + 1);
        eg_gmsh_put_size(&w->out, master[i]);
        eg_gmsh_put_line(&w->out);
        master[i] = 0;
    }
}

static eg_status put_periodic(eg_gmsh_writer *w, int version)
{
    eg_status status = EG_OK;
    int64_t *master = NULL; /* [nodes] 1 + the node of which it is the image; 0: none */
    if (w->groups.link_count == 0) return EG_OK;
    EG_TRY(eg_new(w->mesh->ctx, (size_t)w->nodes.count, &master));
    if (version == 22) w->out.binary = false; /* there it is text in any file; it is the last */
    eg_gmsh_put_begin(&w->out, "Periodic");
    eg_gmsh_put_size(&w->out, w->groups.link_count);
    eg_gmsh_put_line(&w->out);
    for (int i = 0; i < w->groups.link_count; i++) {
        put_link_head(w, version, i);
        put_pairs(w, i, master);
    }
    eg_gmsh_put_end(&w->out, "Periodic");
done:
    eg_release(w->mesh->ctx, &master);
    return status;
}

eg_status eg_mesh_write_gmsh(const eg_mesh *mesh, const char *path, const eg_gmsh_format *format)
{
    eg_status status = EG_OK;
    eg_gmsh_writer w = {.mesh = mesh, .out.text = eg_text_new(mesh->ctx)};
    const int version = format && format->version ? format->version : 41;
    if (version != 22 && version != 41)
        return eg_fail(mesh->ctx, EG_ERROR_ARGUMENT,
                       "Gmsh files are written in version 22 or 41, not %d", version);
    w.out.binary = format && format->binary;
    w.out.swapped = format && format->swapped;
    EG_TRY(check_mesh(mesh));
    EG_TRY(sort_elements(&w));
    EG_TRY(eg_gmsh_number(mesh, w.by_global, &w.nodes));
    EG_TRY(eg_gmsh_find_groups(&w.nodes, w.by_global, &w.groups));
    EG_TRY(find_blocks(&w));
    put_format(&w, version);
    put_names(&w);
    version == 22 ? eg_gmsh_write_22(&w) : eg_gmsh_write_41(&w);
    EG_TRY(put_periodic(&w, version));
    EG_TRY(w.out.status);
    EG_TRY(eg_file_write_atomic(mesh->ctx, path, w.out.text.data, w.out.text.length, 0666, false));
done:
    eg_text_free(&w.out.text);
    eg_release(mesh->ctx, &w.blocks);
    eg_gmsh_groups_free(&w.groups);
    eg_gmsh_numbering_free(&w.nodes);
    eg_release(mesh->ctx, &w.by_global);
    return status;
}
