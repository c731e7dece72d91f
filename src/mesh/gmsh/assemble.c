/* From the tables of a Gmsh file to a mesh.
 *
 * Elements are those of the highest dimension; those of one less name its boundaries. Whatever
 * can be repaired without a doubt is repaired and said; everything else that is no mesh is an error
 * that names the file's element, its group and where it lies. */
#include "mesh/gmsh/assemble.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_BYTES 1024

/* --- words ------------------------------------------------------------------------------------ */

eg_status eg_assembly_say(const eg_assembly *a, eg_log_level level, const char *format, ...)
{
    char line[MESSAGE_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (a->options.report) return eg_text_printf(a->options.report, "%s\n", line);
    eg_log(a->ctx, level, "%s: %s", a->file->path, line);
    return EG_OK;
}

const char *eg_assembly_group(const eg_assembly *a, const eg_gmsh_block *block,
                              char text[EG_GROUP_BYTES])
{
    static const char *const kinds[] = {"point", "curve", "surface", "volume"};
    const eg_gmsh_entity *grouped = eg_gmsh_grouped_entity(a->file, block);
    if (grouped) {
        const int tag = grouped->physical[0];
        snprintf(text, EG_GROUP_BYTES, "group %d", tag);
        for (int i = 0; i < a->file->name_count; i++) {
            const eg_gmsh_name *name = &a->file->names[i];
            if (name->dim == grouped->dim && name->tag == tag)
                snprintf(text, EG_GROUP_BYTES, "group \"%s\"", name->name);
        }
    } else if (block->entity >= 0) {
        const eg_gmsh_entity *entity = &a->file->entities[block->entity];
        snprintf(text, EG_GROUP_BYTES, "%s %d", kinds[entity->dim], entity->tag);
    } else {
        snprintf(text, EG_GROUP_BYTES, "no group");
    }
    return text;
}

/* The block that an element of the mesh is in. */
static const eg_gmsh_block *block_of(const eg_assembly *a, int32_t element)
{
    int64_t first = 0;
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        if (!eg_assembly_fills(a, block)) continue;
        if (element < first + block->count) return block;
        first += block->count;
    }
    assert(false);
    return NULL;
}

/* What messages about the mesh add to an element, see eg_mesh_group_note. */
static const char *describe_group(const void *user, int32_t element, char text[EG_GROUP_BYTES])
{
    const eg_assembly *a = user;
    return eg_assembly_group(a, block_of(a, element), text);
}

eg_status eg_assembly_refuse(const eg_assembly *a, int32_t element, const char *format, ...)
{
    const eg_mesh *mesh = a->mesh;
    char why[MESSAGE_BYTES], group[EG_GROUP_BYTES], place[EG_PLACE_BYTES];
    double centre[3];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    eg_mesh_element_centre(mesh, element, centre);
    return eg_fail(a->ctx, EG_ERROR_INPUT, "element %lld (%s, %s) with its centre at %s %s",
                   (long long)mesh->global[element],
                   eg_shape_get_info((eg_shape)mesh->shape[element])->name,
                   describe_group(a, element, group), eg_mesh_place(mesh->dim, centre, place), why);
}

/* --- elements --------------------------------------------------------------------------------- */

/* The sizes of the mesh, but for the number of its vertices. */
static eg_status find_sizes(eg_assembly *a, eg_mesh *sizes)
{
    const eg_gmsh_file *file = a->file;
    bool present[EG_SHAPE_COUNT] = {false};
    int64_t count = 0;
    int lowest = EG_GMSH_ORDER_MAX;
    for (int b = 0; b < file->block_count; b++) {
        int dim = eg_shape_get_info(file->blocks[b].shape)->dim;
        if (file->blocks[b].count > 0 && dim > a->dim) a->dim = dim;
    }
    if (a->dim < 2)
        return eg_fail(a->ctx, EG_ERROR_INPUT,
                       "it has no triangles, quadrilaterals, tetrahedra or hexahedra%s",
                       a->dim == 1
                           ? ", only lines: was the surface meshed, and is it in a physical "
                             "group?"
                           : "");
    for (int b = 0; b < file->block_count; b++) {
        const eg_gmsh_block *block = &file->blocks[b];
        if (!eg_assembly_fills(a, block)) continue;
        present[block->shape] = true;
        count += block->count;
        if (block->order > a->order) a->order = block->order;
        if (block->order < lowest) lowest = block->order;
    }
    if (count > INT32_MAX)
        return eg_fail(a->ctx, EG_ERROR_UNSUPPORTED,
                       "it has %lld elements; one process can read %d", (long long)count,
                       INT32_MAX);
    if (present[EG_SHAPE_TET] && present[EG_SHAPE_HEX])
        return eg_fail(a->ctx, EG_ERROR_INPUT,
                       "it has tetrahedra and hexahedra, which share no faces: only triangles and "
                       "quadrilaterals can be mixed");
    *sizes = (eg_mesh){.ctx = a->ctx,
                       .dim = a->dim,
                       .element_count = (int32_t)count,
                       .interior_count = (int32_t)count,
                       .global_count = count,
                       .order = a->order};
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)s);
        if (!present[s]) continue;
        int np = eg_mode_count((eg_shape)s, a->order);
        if (info->vertices > sizes->vertex_stride) sizes->vertex_stride = info->vertices;
        if (info->faces > sizes->face_stride) sizes->face_stride = info->faces;
        if (np > sizes->node_stride) sizes->node_stride = np;
    }
    if (lowest == a->order) return EG_OK;
    return eg_assembly_say(a, EG_LOG_INFO, "elements of order %d and more were raised to order %d",
                           lowest, a->order);
}

static eg_status check_vertices(const eg_assembly *a, int32_t element, int count)
{
    const int32_t *v = &a->mesh->vertices[(int64_t)element * a->mesh->vertex_stride];
    for (int i = 1; i < count; i++) {
        for (int j = 0; j < i; j++) {
            if (v[i] != v[j]) continue;
            char place[EG_PLACE_BYTES];
            return eg_assembly_refuse(
                a, element, "has the vertex at %s twice%s",
                eg_mesh_place(a->dim, &a->mesh->x[(int64_t)v[i] * a->dim], place),
                a->merged ? " (nodes near each other were merged)" : "");
        }
    }
    return EG_OK;
}

static eg_status fill_elements(eg_assembly *a)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = a->mesh;
    int32_t element = 0;
    for (int32_t n = 0; n < a->file->node_count; n++) {
        if (a->vertex[n] >= 0)
            eg_assembly_coordinates(a, n, &mesh->x[(int64_t)a->vertex[n] * a->dim]);
    }
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        const eg_shape_info *info = eg_shape_get_info(block->shape);
        if (!eg_assembly_fills(a, block)) continue;
        for (int64_t i = 0; i < block->count; i++, element++) {
            int32_t *v = &mesh->vertices[(int64_t)element * mesh->vertex_stride];
            mesh->shape[element] = (uint8_t)block->shape;
            mesh->global[element] = block->tag[i];
            for (int k = 0; k < info->vertices; k++)
                v[k] = a->vertex[eg_assembly_node(a, block->nodes[i * block->np + k])];
            EG_TRY(check_vertices(a, element, info->vertices));
        }
    }
done:
    return status;
}

/* True if a list "a, b" has an item. */
static bool has_item(const char *list, const char *item)
{
    const size_t length = strlen(item);
    for (const char *at = list; (at = strstr(at, item)); at++)
        if ((at == list || at[-1] == ' ') && (at[length] == ',' || !at[length])) return true;
    return false;
}

/* A mesh knows no groups of elements: says so where a file has several. */
static eg_status say_groups(const eg_assembly *a)
{
    eg_status status = EG_OK;
    char text[EG_GROUP_BYTES];
    int count = 0;
    eg_text list = eg_text_new(a->ctx);
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        if (!eg_assembly_fills(a, block) || !eg_gmsh_grouped_entity(a->file, block)) continue;
        eg_assembly_group(a, block, text);
        if (has_item(eg_text_string(&list), text)) continue;
        if (list.length > MESSAGE_BYTES / 2) {
            EG_TRY(eg_text_puts(&list, " and more"));
            break;
        }
        EG_TRY(eg_text_printf(&list, "%s%s", count++ ? ", " : "", text));
    }
    if (count > 1)
        EG_TRY(eg_assembly_say(a, EG_LOG_INFO,
                               "groups of elements that are one \"domain\" from here on: %s",
                               eg_text_string(&list)));
done:
    eg_text_free(&list);
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static eg_status assemble(eg_assembly *a)
{
    eg_status status = EG_OK;
    eg_mesh sizes;
    int32_t vertex_count;
    EG_TRY(find_sizes(a, &sizes));
    EG_TRY(eg_assembly_place(a, &vertex_count));
    sizes.vertex_count = vertex_count;
    EG_TRY(eg_mesh_allocate(&sizes, &a->mesh));
    a->mesh->describe_group = describe_group;
    a->mesh->describe_user = a;
    EG_TRY(fill_elements(a));
    EG_TRY(say_groups(a));
    if (a->order > 1) EG_TRY(eg_assembly_curve(a));
    EG_TRY(eg_assembly_orient(a));
    EG_TRY(eg_assembly_connect(a));
    EG_TRY(eg_assembly_join(a));
    EG_TRY(eg_assembly_check_unnamed(a));
    EG_TRY(eg_assembly_find_slits(a));
    if (a->order > 1) EG_TRY(eg_mesh_check_faces(a->mesh));
    EG_TRY(eg_mesh_check_mappings(a->mesh));
    EG_TRY(eg_mesh_drop_empty_boundaries(a->mesh));
    for (int32_t e = 0; e < a->mesh->element_count; e++)
        a->mesh->global[e] = e;
    a->mesh->describe_group = NULL;
    a->mesh->describe_user = NULL;
    EG_TRY(eg_mesh_order(a->mesh));
done:
    return status;
}

eg_status eg_gmsh_assemble(const eg_gmsh_file *file, const eg_gmsh_options *options, eg_mesh **out)
{
    eg_assembly a = {.ctx = file->ctx, .file = file};
    *out = NULL;
    if (options) a.options = *options;
    eg_status status = assemble(&a);
    if (status == EG_OK) {
        *out = a.mesh;
        a.mesh = NULL;
    } else if (status != EG_ERROR_MEMORY) {
        char message[2 * MESSAGE_BYTES];
        snprintf(message, sizeof message, "%s", eg_context_error(a.ctx));
        status = eg_fail(a.ctx, status, "%s: %s", file->path, message);
    }
    eg_mesh_destroy(&a.mesh);
    eg_release(a.ctx, &a.face_table);
    eg_release(a.ctx, &a.faces);
    eg_release(a.ctx, &a.vertex);
    eg_release(a.ctx, &a.merged);
    return status;
}

eg_status eg_mesh_read_gmsh(eg_context *ctx, const char *path, const eg_gmsh_options *options,
                            eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_gmsh_file *file = NULL;
    *out = NULL;
    EG_TRY(eg_gmsh_open(ctx, path, &file));
    EG_TRY(eg_gmsh_assemble(file, options, out));
done:
    eg_gmsh_close(&file);
    return status;
}
