/* Writes meshes as Gmsh files, format MSH 4.1 in text [geuzaine2009].
 *
 * A physical group of one entity gives each group its name; entity and physical group of group g
 * have the tag g + 1. Node i has the tag i + 1. An element's tag is its global number + 1; the
 * tags of faces follow. */
#include "mesh/gmsh/groups.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_BYTES_MAX 127 /* that Gmsh reads */

typedef struct writer {
    const eg_mesh *mesh; /* not owned */
    int32_t *elements;   /* [element_count] ascending by global number; owned */
    eg_gmsh_numbering nodes;
    eg_gmsh_groups groups;
    eg_text text;
} writer;

/* True of "periodic_1", "periodic_1_image" and so on. */
static bool is_side_name(const char *name)
{
    static const char before[] = "periodic_";
    if (strncmp(name, before, strlen(before)) != 0) return false;
    const char *number = name + strlen(before), *after = number + strspn(number, "0123456789");
    return after > number && (!*after || strcmp(after, "_image") == 0);
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
    for (int b = 0; b < mesh->boundary_count; b++) {
        const char *name = mesh->boundary[b];
        const size_t length = strlen(name);
        bool good = length > 0 && length <= NAME_BYTES_MAX;
        for (size_t i = 0; i < length; i++)
            good = good && (unsigned char)name[i] >= ' ' && name[i] != '"';
        if (!good)
            return eg_fail(
                mesh->ctx, EG_ERROR_INPUT,
                "the boundary name \"%s\" cannot stand in a Gmsh file: use 1 to %d bytes "
                "without quotes and control characters",
                name, NAME_BYTES_MAX);
        if (is_side_name(name))
            return eg_fail(mesh->ctx, EG_ERROR_INPUT,
                           "the boundary name \"%s\" is kept for the sides of periodic boxes in a "
                           "Gmsh file: give the boundary another one",
                           name);
    }
    return EG_OK;
}

static eg_status sort_elements(writer *w)
{
    const eg_mesh *mesh = w->mesh;
    eg_status status = eg_new(mesh->ctx, (size_t)mesh->element_count, &w->elements);
    if (status != EG_OK) return status;
    for (int32_t e = 0; e < mesh->element_count; e++)
        w->elements[mesh->global[e]] = e;
    return EG_OK;
}

/* The dimension of a group's entity. */
static int group_dim(const writer *w, int group)
{
    return group == 0 ? w->mesh->dim : w->mesh->dim - 1;
}

/* A line of integers: the tag first, if not 0, then numbers counted from 0 as tags from 1. */
static eg_status put_tags(eg_text *text, int64_t tag, int count, const int64_t *numbers)
{
    char line[20 * (EG_GMSH_NODES_MAX + 1)];
    char *end = line + sizeof line, *at = end;
    *--at = '\n';
    for (int i = count - 1; i >= -1; i--) {
        int64_t value = i < 0 ? tag : numbers[i] + 1;
        if (value == 0) break;
        if (at[0] != '\n') *--at = ' ';
        for (; value > 0; value /= 10)
            *--at = (char)('0' + value % 10);
    }
    return eg_text_add(text, at, (size_t)(end - at));
}

/* Three coordinates; z is zero in the plane. */
static eg_status put_point(eg_text *text, int dim, const double *x, const char *after)
{
    char line[96];
    const int length =
        snprintf(line, sizeof line, "%.17g %.17g %.17g%s", x[0], x[1], dim > 2 ? x[2] : 0.0, after);
    return eg_text_add(text, line, (size_t)length);
}

/* --- sections --------------------------------------------------------------------------------- */

static eg_status put_names(writer *w)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = w->mesh;
    EG_TRY(eg_text_printf(&w->text, "$PhysicalNames\n%d\n", w->groups.group_count));
    for (int g = 1; g <= mesh->boundary_count; g++)
        EG_TRY(eg_text_printf(&w->text, "%d %d \"%s\"\n", mesh->dim - 1, g + 1,
                              mesh->boundary[g - 1]));
    for (int i = 0; i < w->groups.link_count; i++) {
        const int tag = EG_GMSH_MASTER(&w->groups, i) + 1;
        EG_TRY(eg_text_printf(&w->text, "%d %d \"periodic_%d\"\n%d %d \"periodic_%d_image\"\n",
                              mesh->dim - 1, tag, i + 1, mesh->dim - 1, tag + 1, i + 1));
    }
    EG_TRY(eg_text_printf(&w->text, "%d 1 \"domain\"\n$EndPhysicalNames\n", mesh->dim));
done:
    return status;
}

/* Tag, box, physical group, and what bounds it: nothing that a group has; the domain all others. */
static eg_status put_entity(writer *w, int g)
{
    eg_status status = EG_OK;
    const eg_gmsh_group *group = &w->groups.groups[g];
    const int bounding = g == 0 ? w->groups.group_count - 1 : 0;
    EG_TRY(eg_text_printf(&w->text, "%d ", g + 1));
    EG_TRY(put_point(&w->text, 3, group->low, " "));
    EG_TRY(put_point(&w->text, 3, group->high, " "));
    EG_TRY(eg_text_printf(&w->text, "1 %d %d", g + 1, bounding));
    for (int i = 1; i <= bounding; i++)
        EG_TRY(eg_text_printf(&w->text, " %d", i + 1));
    EG_TRY(eg_text_puts(&w->text, "\n"));
done:
    return status;
}

static eg_status put_entities(writer *w)
{
    eg_status status = EG_OK;
    int count[4] = {0}; /* by dimension */
    for (int g = 0; g < w->groups.group_count; g++)
        count[group_dim(w, g)]++;
    EG_TRY(eg_text_printf(&w->text, "$Entities\n%d %d %d %d\n", count[0], count[1], count[2],
                          count[3]));
    for (int g = 1; g < w->groups.group_count; g++)
        EG_TRY(put_entity(w, g));
    EG_TRY(put_entity(w, 0));
    EG_TRY(eg_text_puts(&w->text, "$EndEntities\n"));
done:
    return status;
}

static eg_status put_nodes(writer *w)
{
    eg_status status = EG_OK;
    const int dim = w->mesh->dim;
    int blocks = 0;
    for (int g = 0; g < w->groups.group_count; g++)
        blocks += w->groups.groups[g].node_count > 0;
    EG_TRY(eg_text_printf(&w->text, "$Nodes\n%d %" PRId64 " 1 %" PRId64 "\n", blocks,
                          w->nodes.count, w->nodes.count));
    for (int g = 0; g < w->groups.group_count; g++) {
        const eg_gmsh_group *group = &w->groups.groups[g];
        const int64_t *nodes = &w->groups.nodes[group->node_first];
        if (group->node_count == 0) continue;
        EG_TRY(eg_text_printf(&w->text, "%d %d 0 %" PRId64 "\n", group_dim(w, g), g + 1,
                              group->node_count));
        for (int64_t i = 0; i < group->node_count; i++)
            EG_TRY(put_tags(&w->text, 0, 1, &nodes[i]));
        for (int64_t i = 0; i < group->node_count; i++)
            EG_TRY(put_point(&w->text, dim, &w->nodes.x[nodes[i] * dim], "\n"));
    }
    EG_TRY(eg_text_puts(&w->text, "$EndNodes\n"));
done:
    return status;
}

/* Elements of the domain, faces of another group. */
static int64_t member_count(const writer *w, int g)
{
    return g == 0 ? w->mesh->element_count : w->groups.groups[g].face_count;
}

/* The shape of element i of the domain, or of face i of another group. */
static eg_shape shape_of(const writer *w, int g, int64_t i)
{
    if (g == 0) return (eg_shape)w->mesh->shape[w->elements[i]];
    const eg_gmsh_face *face = &w->groups.faces[w->groups.groups[g].face_first + i];
    return eg_shape_get_info((eg_shape)w->mesh->shape[face->element])->face_shape;
}

static eg_status put_element(writer *w, int g, int64_t i)
{
    int count = 0;
    if (g == 0) {
        const int64_t *nodes = eg_gmsh_element_nodes(&w->nodes, w->elements[i], &count);
        return put_tags(&w->text, i + 1, count, nodes);
    }
    const int64_t face = w->groups.groups[g].face_first + i;
    int64_t nodes[EG_GMSH_FACE_NODES_MAX];
    count = eg_gmsh_group_face_nodes(&w->nodes, &w->groups.faces[face], nodes, NULL);
    return put_tags(&w->text, w->mesh->element_count + face + 1, count, nodes);
}

/* Every group has a block for each shape in it. */
static eg_status put_elements(writer *w)
{
    eg_status status = EG_OK;
    const int group_count = w->groups.group_count;
    const int64_t total = w->mesh->element_count + w->groups.face_count;
    int64_t(*shapes)[EG_SHAPE_COUNT] = NULL; /* [group_count] elements or faces of each shape */
    int blocks = 0;
    EG_TRY(eg_new(w->mesh->ctx, (size_t)group_count, &shapes));
    for (int g = 0; g < group_count; g++) {
        for (int64_t i = 0; i < member_count(w, g); i++)
            blocks += shapes[g][shape_of(w, g, i)]++ == 0;
    }
    EG_TRY(eg_text_printf(&w->text, "$Elements\n%d %" PRId64 " 1 %" PRId64 "\n", blocks, total,
                          total));
    for (int g = 0; g < group_count; g++) {
        for (int s = 0; s < EG_SHAPE_COUNT; s++) {
            if (shapes[g][s] == 0) continue;
            EG_TRY(eg_text_printf(&w->text, "%d %d %d %" PRId64 "\n", group_dim(w, g), g + 1,
                                  eg_gmsh_type((eg_shape)s, w->nodes.order), shapes[g][s]));
            for (int64_t i = 0; i < member_count(w, g); i++)
                if (shape_of(w, g, i) == (eg_shape)s) EG_TRY(put_element(w, g, i));
        }
    }
    EG_TRY(eg_text_puts(&w->text, "$EndElements\n"));
done:
    eg_release(w->mesh->ctx, &shapes);
    return status;
}

/* One link: its image's entity, its master's, the translation as an affine mapping, pairs of
 * nodes. */
static eg_status put_link(writer *w, int link, int64_t *master)
{
    eg_status status = EG_OK;
    const int tag = EG_GMSH_MASTER(&w->groups, link) + 1;
    const double *shift = w->groups.shift[link];
    const eg_gmsh_group *image = &w->groups.groups[tag];
    int64_t pairs = 0;
    for (int64_t i = 0; i < image->face_count; i++) {
        int64_t nodes[EG_GMSH_FACE_NODES_MAX], joined[EG_GMSH_FACE_NODES_MAX];
        const int count = eg_gmsh_group_face_nodes(
            &w->nodes, &w->groups.faces[image->face_first + i], nodes, joined);
        for (int k = 0; k < count; k++) {
            pairs += master[nodes[k]] == 0;
            master[nodes[k]] = joined[k] + 1;
        }
    }
    EG_TRY(eg_text_printf(&w->text,
                          "%d %d %d\n16 1 0 0 %.17g 0 1 0 %.17g 0 0 1 %.17g 0 0 0 1\n%" PRId64 "\n",
                          w->mesh->dim - 1, tag + 1, tag, shift[0], shift[1], shift[2], pairs));
    for (int64_t i = 0; i < w->nodes.count; i++) {
        if (master[i] == 0) continue;
        EG_TRY(put_tags(&w->text, i + 1, 1, &(int64_t){master[i] - 1}));
        master[i] = 0;
    }
done:
    return status;
}

static eg_status put_periodic(writer *w)
{
    eg_status status = EG_OK;
    int64_t *master = NULL; /* [nodes] 1 + the node of which it is the image; 0: none */
    if (w->groups.link_count == 0) return EG_OK;
    EG_TRY(eg_new(w->mesh->ctx, (size_t)w->nodes.count, &master));
    EG_TRY(eg_text_printf(&w->text, "$Periodic\n%d\n", w->groups.link_count));
    for (int i = 0; i < w->groups.link_count; i++)
        EG_TRY(put_link(w, i, master));
    EG_TRY(eg_text_puts(&w->text, "$EndPeriodic\n"));
done:
    eg_release(w->mesh->ctx, &master);
    return status;
}

eg_status eg_mesh_write_gmsh(const eg_mesh *mesh, const char *path)
{
    eg_status status = EG_OK;
    writer w = {.mesh = mesh, .text = eg_text_new(mesh->ctx)};
    EG_TRY(check_mesh(mesh));
    EG_TRY(sort_elements(&w));
    EG_TRY(eg_gmsh_number(mesh, w.elements, &w.nodes));
    EG_TRY(eg_gmsh_find_groups(&w.nodes, w.elements, &w.groups));
    EG_TRY(eg_text_puts(&w.text, "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n"));
    EG_TRY(put_names(&w));
    EG_TRY(put_entities(&w));
    EG_TRY(put_nodes(&w));
    EG_TRY(put_elements(&w));
    EG_TRY(put_periodic(&w));
    EG_TRY(eg_file_write_atomic(mesh->ctx, path, w.text.data, w.text.length, 0666, false));
done:
    eg_text_free(&w.text);
    eg_gmsh_groups_free(&w.groups);
    eg_gmsh_numbering_free(&w.nodes);
    eg_release(mesh->ctx, &w.elements);
    return status;
}
