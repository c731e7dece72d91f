/* A mesh's memory, and questions about its elements. */
#include "mesh/build.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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
    *out = mesh;
    mesh = NULL;
done:
    eg_mesh_destroy(&mesh);
    return status;
}

eg_status eg_mesh_copy_boundaries(eg_mesh *mesh, int count, const char *const *names)
{
    eg_status status = EG_OK;
    assert(!mesh->boundary);
    EG_TRY(eg_new(mesh->ctx, (size_t)count, &mesh->boundary));
    for (int b = 0; b < count; b++) {
        EG_TRY(eg_copy_string(mesh->ctx, names[b], &mesh->boundary[b]));
        mesh->boundary_count++;
    }
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

int eg_mesh_node_count(eg_shape shape, int order)
{
    int n = order + 1;
    switch (shape) {
    case EG_SHAPE_LINE:
        return n;
    case EG_SHAPE_TRI:
        return n * (n + 1) / 2;
    case EG_SHAPE_QUAD:
        return n * n;
    case EG_SHAPE_TET:
        return n * (n + 1) * (n + 2) / 6;
    case EG_SHAPE_HEX:
        return n * n * n;
    }
    assert(false);
    return 0;
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

/* The vertices of tensor shapes in the order of the nodes of degree 1, r fastest. Those of
 * simplices are in that order already. */
static const int tensor_vertex[8] = {0, 1, 3, 2, 4, 5, 7, 6};

int eg_mesh_element_nodes(const eg_mesh *mesh, int32_t element, double *x)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    size_t dim = (size_t)mesh->dim;
    if (mesh->nodes) {
        int count = eg_mesh_node_count((eg_shape)mesh->shape[element], mesh->order);
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

bool eg_mesh_is_affine(const eg_mesh *mesh, int32_t element)
{
    eg_shape shape = (eg_shape)mesh->shape[element];
    const eg_shape_info *info = eg_shape_get_info(shape);
    if (!mesh->nodes && !info->tensor) return true;

    /* The affine mapping through the first vertex and its neighbours along r, s, t. */
    int dim = mesh->dim;
    const double *x0 = vertex_of(mesh, element, 0), *axis[3];
    for (int d = 0; d < dim; d++)
        axis[d] = vertex_of(mesh, element, !info->tensor || d == 0 ? d + 1 : d + 2);
    double size = 0.0, largest = 0.0;
    for (int v = 0; v < info->vertices; v++) {
        const double *x = vertex_of(mesh, element, v);
        for (int c = 0; c < dim; c++) {
            size = fmax(size, fabs(x[c] - x0[c]));
            largest = fmax(largest, fabs(x[c]));
        }
    }
    double tolerance = 3e-13 * size + 8.0 * DBL_EPSILON * largest;

    int count = mesh->nodes ? eg_mesh_node_count(shape, mesh->order) : info->vertices;
    for (int i = 0; i < count; i++) {
        const double *x = mesh->nodes
                              ? &mesh->nodes[((int64_t)element * mesh->node_stride + i) * dim]
                              : vertex_of(mesh, element, i);
        for (int c = 0; c < dim; c++) {
            double affine = x0[c];
            for (int d = 0; d < dim; d++)
                affine +=
                    0.5 * (1.0 + reference_of(mesh, shape, count, i, d)) * (axis[d][c] - x0[c]);
            if (!(fabs(x[c] - affine) <= tolerance)) return false;
        }
    }
    return true;
}
