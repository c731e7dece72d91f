/* A mesh's memory, and questions about its elements. */
#include "mesh/build.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

double eg_mesh_physical_memory(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    return pages > 0 && page > 0 ? (double)pages * (double)page : (double)INFINITY;
}

size_t eg_mesh_bytes(const eg_mesh *sizes)
{
    const eg_mesh *mesh = sizes;
    size_t dim = (size_t)mesh->dim, own = (size_t)mesh->element_count;
    size_t all = own + (size_t)mesh->ghost_count;
    size_t bytes = sizeof *mesh + (size_t)mesh->vertex_count * dim * sizeof *mesh->x;
    bytes += all * (sizeof *mesh->shape + sizeof *mesh->global);
    bytes += all * (size_t)mesh->vertex_stride * sizeof *mesh->vertices;
    bytes +=
        own * (size_t)mesh->face_stride * (sizeof *mesh->neighbour + sizeof *mesh->neighbour_face);
    if (mesh->order > 1) bytes += all * (size_t)mesh->node_stride * dim * sizeof *mesh->nodes;
    if (mesh->group_count > 0) bytes += all * sizeof *mesh->group_of;
    return bytes;
}

eg_status eg_mesh_allocate(const eg_mesh *sizes, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = sizes->ctx;
    eg_mesh *mesh = NULL;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &mesh));
    mesh->ctx = ctx;
    mesh->dim = sizes->dim;
    mesh->vertex_count = sizes->vertex_count;
    mesh->element_count = sizes->element_count;
    mesh->ghost_count = sizes->ghost_count;
    mesh->interior_count = sizes->interior_count;
    mesh->global_count = sizes->global_count;
    mesh->vertex_stride = sizes->vertex_stride;
    mesh->face_stride = sizes->face_stride;
    mesh->order = sizes->order;
    mesh->node_stride = sizes->node_stride;

    size_t dim = (size_t)mesh->dim, own = (size_t)mesh->element_count;
    size_t all = own + (size_t)mesh->ghost_count;
    size_t face_stride = (size_t)mesh->face_stride;
    EG_TRY(eg_new(ctx, (size_t)mesh->vertex_count * dim, &mesh->x));
    EG_TRY(eg_new(ctx, all, &mesh->shape));
    EG_TRY(eg_new(ctx, all, &mesh->global));
    EG_TRY(eg_new(ctx, all * (size_t)mesh->vertex_stride, &mesh->vertices));
    EG_TRY(eg_new(ctx, own * face_stride, &mesh->neighbour));
    EG_TRY(eg_new(ctx, own * face_stride, &mesh->neighbour_face));
    if (mesh->order > 1) EG_TRY(eg_new(ctx, all * (size_t)mesh->node_stride * dim, &mesh->nodes));
    if (sizes->group_count > 0) EG_TRY(eg_new(ctx, all, &mesh->group_of));
    *out = mesh;
    mesh = NULL;
done:
    eg_mesh_destroy(&mesh);
    return status;
}

static eg_status copy_names(eg_context *ctx, int count, const char *const *names, char ***out,
                            int *out_count)
{
    eg_status status = EG_OK;
    assert(!*out);
    EG_TRY(eg_new(ctx, (size_t)count, out));
    for (; *out_count < count; ++*out_count)
        EG_TRY(eg_copy_string(ctx, names[*out_count], &(*out)[*out_count]));
done:
    return status;
}

eg_status eg_mesh_copy_boundaries(eg_mesh *mesh, int count, const char *const *names)
{
    return copy_names(mesh->ctx, count, names, &mesh->boundary, &mesh->boundary_count);
}

eg_status eg_mesh_copy_groups(eg_mesh *mesh, int count, const char *const *names)
{
    assert(mesh->group_of);
    return copy_names(mesh->ctx, count, names, &mesh->group, &mesh->group_count);
}

eg_status eg_mesh_copy_names(const eg_mesh *from, eg_mesh *mesh)
{
    eg_status status = EG_OK;
    EG_TRY(
        eg_mesh_copy_boundaries(mesh, from->boundary_count, (const char *const *)from->boundary));
    if (from->group_of)
        EG_TRY(eg_mesh_copy_groups(mesh, from->group_count, (const char *const *)from->group));
done:
    return status;
}

void eg_mesh_destroy(eg_mesh **handle)
{
    eg_mesh *mesh = *handle;
    if (!mesh) return;
    eg_context *ctx = mesh->ctx;
    for (int l = 0; l < mesh->link_count; l++)
        eg_release(ctx, &mesh->links[l].send);
    eg_release(ctx, &mesh->links);
    for (int g = 0; g < mesh->group_count; g++)
        eg_release(ctx, &mesh->group[g]);
    eg_release(ctx, &mesh->group);
    eg_release(ctx, &mesh->group_of);
    for (int b = 0; b < mesh->boundary_count; b++)
        eg_release(ctx, &mesh->boundary[b]);
    eg_release(ctx, &mesh->boundary);
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        eg_release(ctx, &mesh->reference[s]);
    eg_release(ctx, &mesh->nodes);
    eg_release(ctx, &mesh->neighbour_face);
    eg_release(ctx, &mesh->neighbour);
    eg_release(ctx, &mesh->vertices);
    eg_release(ctx, &mesh->global);
    eg_release(ctx, &mesh->shape);
    eg_release(ctx, &mesh->x);
    eg_release(ctx, handle);
}

int eg_mesh_find_boundary(const eg_mesh *mesh, const char *name)
{
    for (int b = 0; b < mesh->boundary_count; b++) {
        if (strcmp(mesh->boundary[b], name) == 0) return b;
    }
    return -1;
}

void eg_mesh_shapes_present(const eg_mesh *mesh, bool present[EG_SHAPE_COUNT])
{
    memset(present, 0, EG_SHAPE_COUNT * sizeof *present);
    for (int32_t e = 0; e < mesh->element_count; e++)
        present[mesh->shape[e]] = true;
}

int eg_mesh_order_max(eg_shape shape)
{
    return shape == EG_SHAPE_QUAD ? EG_DEGREE_MAX_QUAD : EG_DEGREE_MAX;
}

static const double *vertex_of(const eg_mesh *mesh, int32_t element, int v)
{
    int64_t i = (int64_t)element * mesh->vertex_stride + v;
    return &mesh->x[(int64_t)mesh->vertices[i] * mesh->dim];
}

void eg_mesh_face_centre(const eg_mesh *mesh, int32_t element, int face, double centre[3])
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    for (int d = 0; d < mesh->dim; d++) {
        centre[d] = 0.0;
        for (int i = 0; i < info->face_vertices; i++)
            centre[d] += vertex_of(mesh, element, info->face[face][i])[d];
        centre[d] /= info->face_vertices;
    }
}

void eg_mesh_element_centre(const eg_mesh *mesh, int32_t element, double centre[3])
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    for (int d = 0; d < mesh->dim; d++) {
        centre[d] = 0.0;
        for (int v = 0; v < info->vertices; v++)
            centre[d] += vertex_of(mesh, element, v)[d];
        centre[d] /= info->vertices;
    }
}

const char *eg_mesh_place(int dim, const double *x, char text[EG_PLACE_BYTES])
{
    if (dim == 2)
        snprintf(text, EG_PLACE_BYTES, "(%.6g, %.6g)", x[0], x[1]);
    else
        snprintf(text, EG_PLACE_BYTES, "(%.6g, %.6g, %.6g)", x[0], x[1], x[2]);
    return text;
}

const char *eg_mesh_group_note(const eg_mesh *mesh, int32_t element, char text[EG_GROUP_BYTES])
{
    static const char before[] = ", group \"", after[] = "\"";
    text[0] = '\0';
    if (mesh->group_of)
        snprintf(text, EG_GROUP_BYTES, "%s%.*s%s", before,
                 (int)(EG_GROUP_BYTES - sizeof before - sizeof after + 1),
                 mesh->group[mesh->group_of[element]], after);
    return text;
}

/* The vertices of tensor shapes in the order of the nodes of degree 1, r fastest. Those of
 * simplices are in that order already. */
static const int tensor_vertex[8] = {0, 1, 3, 2, 4, 5, 7, 6};

int eg_mesh_element_nodes(const eg_mesh *mesh, int32_t element, double *x)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    size_t dim = (size_t)mesh->dim;
    if (mesh->nodes) {
        int count = eg_mode_count((eg_shape)mesh->shape[element], mesh->order);
        size_t first = (size_t)element * (size_t)mesh->node_stride * dim;
        memcpy(x, &mesh->nodes[first], (size_t)count * dim * sizeof *x);
        return count;
    }
    for (int i = 0; i < info->vertices; i++) {
        int v = info->tensor ? tensor_vertex[i] : i;
        memcpy(&x[(size_t)i * dim], vertex_of(mesh, element, v), dim * sizeof *x);
    }
    return info->vertices;
}

/* The reference coordinate along axis d of node i of an element. */
static double reference_of(const eg_mesh *mesh, eg_shape shape, int count, int i, int d)
{
    if (mesh->nodes) return mesh->reference[shape][d * count + i];
    return eg_shape_get_info(shape)->r[i][d];
}

/* The least distance between opposite faces of the parallelepiped with edges A. */
static double least_height(int dim, const double (*A)[3])
{
    double largest = 0.0; /* face */
    for (int d = 0; d < dim; d++) {
        const double *u = A[d], *v = A[(d + 1) % dim];
        double face = dim == 2 ? hypot(u[0], u[1])
                               : hypot(hypot(u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2]),
                                       u[0] * v[1] - u[1] * v[0]);
        largest = fmax(largest, face);
    }
    return fabs(eg_mesh_determinant(dim, A)) / largest;
}

bool eg_mesh_is_affine(const eg_mesh *mesh, int32_t element)
{
    eg_shape shape = (eg_shape)mesh->shape[element];
    const eg_shape_info *info = eg_shape_get_info(shape);
    if (!mesh->nodes && !info->tensor) return true;

    /* The affine mapping through the first vertex and its neighbours along r, s, t. */
    int dim = mesh->dim;
    double vertex[EG_MAX_VERTICES][3] = {{0}}, axis[3][3], largest = 0.0;
    for (int v = 0; v < info->vertices; v++) {
        memcpy(vertex[v], vertex_of(mesh, element, v), (size_t)dim * sizeof vertex[v][0]);
        for (int c = 0; c < dim; c++)
            largest = fmax(largest, fabs(vertex[v][c]));
    }
    eg_mesh_corner(info, 0, (const double(*)[3])vertex, axis);
    double tolerance =
        3e-13 * least_height(dim, (const double(*)[3])axis) + 8.0 * DBL_EPSILON * largest;

    int count = mesh->nodes ? eg_mode_count(shape, mesh->order) : info->vertices;
    for (int i = 0; i < count; i++) {
        const double *x = mesh->nodes
                              ? &mesh->nodes[((int64_t)element * mesh->node_stride + i) * dim]
                              : vertex_of(mesh, element, i);
        for (int c = 0; c < dim; c++) {
            double affine = vertex[0][c];
            for (int d = 0; d < dim; d++)
                affine += 0.5 * (1.0 + reference_of(mesh, shape, count, i, d)) * axis[d][c];
            if (!(fabs(x[c] - affine) <= tolerance)) return false;
        }
    }
    return true;
}
