/* From the tables of a Gmsh file to a mesh.
 *
 * Elements are those of the highest dimension; those of one less name its boundaries. Whatever
 * can be repaired without a doubt is repaired and said; everything else that is no mesh is an error
 * that names the file's element, its group and where it lies. */
#include "mesh/gmsh/assemble.h"

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

eg_status eg_assembly_refuse(const eg_assembly *a, int32_t element, const char *format, ...)
{
    const eg_mesh *mesh = a->mesh;
    char why[MESSAGE_BYTES], note[EG_GROUP_BYTES], place[EG_PLACE_BYTES];
    double centre[3];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    eg_mesh_element_centre(mesh, element, centre);
    return eg_fail(
        a->ctx, EG_ERROR_INPUT, "element %lld (%s%s) with its centre at %s %s",
        (long long)mesh->global[element], eg_shape_get_info((eg_shape)mesh->shape[element])->name,
        eg_mesh_group_note(mesh, element, note), eg_mesh_place(mesh->dim, centre, place), why);
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
        const int32_t group = mesh->group_of ? eg_assembly_group_of(a, block) : 0;
        for (int64_t i = 0; i < block->count; i++, element++) {
            int32_t *v = &mesh->vertices[(int64_t)element * mesh->vertex_stride];
            mesh->shape[element] = (uint8_t)block->shape;
            mesh->global[element] = block->tag[i];
            if (mesh->group_of) mesh->group_of[element] = group;
            for (int k = 0; k < info->vertices; k++)
                v[k] = a->vertex[eg_assembly_node(a, block->nodes[i * block->np + k])];
            EG_TRY(check_vertices(a, element, info->vertices));
        }
    }
done:
    return status;
}

/* Numbers the elements as their tags ascend, which they do already in most files. */
static eg_status number_elements(eg_assembly *a)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = a->mesh;
    uint64_t *tags = NULL;
    int32_t *order = NULL;
    bool ascending = true;
    for (int32_t e = 1; e < mesh->element_count; e++)
        ascending = ascending && mesh->global[e - 1] < mesh->global[e];
    if (!ascending) {
        EG_TRY(eg_new(a->ctx, (size_t)mesh->element_count, &tags));
        EG_TRY(eg_new(a->ctx, (size_t)mesh->element_count, &order));
        for (int32_t e = 0; e < mesh->element_count; e++) {
            tags[e] = (uint64_t)mesh->global[e];
            order[e] = e;
        }
        EG_TRY(eg_sort_keys(a->ctx, (size_t)mesh->element_count, tags, order));
    }
    for (int32_t i = 0; i < mesh->element_count; i++)
        mesh->global[ascending ? i : order[i]] = i;
done:
    eg_release(a->ctx, &order);
    eg_release(a->ctx, &tags);
    return status;
}

/* --- faults ----------------------------------------------------------------------------------- */

eg_status eg_assembly_excuse(const eg_assembly *a, eg_status status)
{
    if (!a->bad || status != EG_ERROR_INPUT) return status;
    eg_mesh_faults *faults = a->options.faults;
    if (faults->why) return EG_OK;
    eg_text why = eg_text_new(a->ctx);
    status = eg_text_printf(&why, "%s: %s", a->file->path, eg_context_error(a->ctx));
    if (status == EG_OK) status = eg_copy_string(a->ctx, eg_text_string(&why), &faults->why);
    eg_text_free(&why);
    return status;
}

eg_status eg_assembly_overlook(const eg_assembly *a, eg_status status)
{
    const bool faulty = a->options.faults && a->options.faults->why;
    return faulty && status == EG_ERROR_INPUT ? EG_OK : status;
}

static eg_status check_mappings(eg_assembly *a)
{
    eg_status status = EG_OK;
    int32_t element, count;
    double place[3], determinant;
    EG_TRY(eg_mesh_find_tangled(a->mesh, &element, place, &determinant, &count, a->bad));
    if (count > 0)
        EG_TRY(eg_assembly_excuse(
            a, eg_mesh_refuse_tangled(a->mesh, element, place, determinant, count)));
done:
    return status;
}

/* Tells the caller of elements that are bad, by the numbers that they have got. */
static eg_status give_faults(eg_assembly *a)
{
    eg_mesh_faults *faults = a->options.faults;
    const eg_mesh *mesh = a->mesh;
    if (!faults || !faults->why) return EG_OK;
    const eg_status status = eg_new(a->ctx, (size_t)mesh->element_count, &faults->bad);
    for (int32_t e = 0; status == EG_OK && e < mesh->element_count; e++)
        faults->bad[mesh->global[e]] = a->bad[e];
    return status;
}

void eg_mesh_faults_free(eg_context *ctx, eg_mesh_faults *faults)
{
    eg_release(ctx, &faults->why);
    eg_release(ctx, &faults->bad);
}

/* --- all of it -------------------------------------------------------------------------------- */

static eg_status assemble(eg_assembly *a)
{
    eg_status status = EG_OK;
    eg_mesh sizes;
    int32_t vertex_count;
    EG_TRY(find_sizes(a, &sizes));
    EG_TRY(eg_assembly_place(a, &vertex_count));
    EG_TRY(eg_assembly_find_groups(a));
    sizes.vertex_count = vertex_count;
    sizes.group_count = a->groups.count;
    EG_TRY(eg_mesh_allocate(&sizes, &a->mesh));
    if (a->groups.count > 0)
        EG_TRY(eg_mesh_copy_groups(a->mesh, a->groups.count, (const char *const *)a->groups.name));
    if (a->options.faults) EG_TRY(eg_new(a->ctx, (size_t)sizes.element_count, &a->bad));
    EG_TRY(fill_elements(a));
    if (a->order > 1) EG_TRY(eg_assembly_curve(a));
    EG_TRY(eg_assembly_orient(a));
    EG_TRY(eg_assembly_connect(a));
    EG_TRY(eg_assembly_join(a));
    EG_TRY(eg_assembly_overlook(a, eg_assembly_check_unnamed(a)));
    EG_TRY(eg_assembly_find_slits(a));
    if (a->order > 1) EG_TRY(eg_assembly_overlook(a, eg_mesh_check_faces(a->mesh)));
    EG_TRY(check_mappings(a));
    EG_TRY(eg_mesh_drop_empty_boundaries(a->mesh));
    EG_TRY(number_elements(a));
    EG_TRY(give_faults(a));
    EG_TRY(eg_mesh_order(a->mesh));
done:
    return status;
}

eg_status eg_gmsh_assemble(const eg_gmsh_file *file, const eg_gmsh_options *options, eg_mesh **out)
{
    eg_assembly a = {.ctx = file->ctx, .file = file};
    *out = NULL;
    if (options) a.options = *options;
    if (a.options.faults) *a.options.faults = (eg_mesh_faults){0};
    eg_status status = assemble(&a);
    if (status == EG_OK) {
        *out = a.mesh;
        a.mesh = NULL;
    } else if (a.options.faults && a.options.faults->why && status == EG_ERROR_INPUT) {
        status = eg_fail(a.ctx, status, "%s", a.options.faults->why); /* it came first */
    } else if (status != EG_ERROR_MEMORY) {
        char message[2 * MESSAGE_BYTES];
        snprintf(message, sizeof message, "%s", eg_context_error(a.ctx));
        status = eg_fail(a.ctx, status, "%s: %s", file->path, message);
    }
    eg_mesh_destroy(&a.mesh);
    eg_named_groups_free(&a.groups);
    eg_release(a.ctx, &a.bad);
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
