/* Renumbers a mesh along a Hilbert curve, so that elements near each other in memory are near each
 * other in space. The curve fills the cube around the mesh. */
#include "mesh/build.h"
#include "mesh/hilbert.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void eg_mesh_curve_keys(const eg_mesh *mesh, const double low[3], double extent, uint64_t *keys)
{
    const int dim = mesh->dim, bits = EG_HILBERT_BITS(dim);
    const double cells = (double)((int64_t)1 << bits), scale = extent > 0.0 ? cells / extent : 0.0;
    const eg_hilbert curve = eg_hilbert_new(dim);
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double centre[3];
        uint32_t cell[3];
        eg_mesh_element_centre(mesh, e, centre);
        for (int d = 0; d < dim; d++)
            cell[d] = (uint32_t)fmin((centre[d] - low[d]) * scale, cells - 1.0);
        keys[e] = eg_hilbert_key(&curve, bits, cell);
    }
}

/* order [element_count]: the elements along the curve. */
static eg_status sort_elements(const eg_mesh *mesh, int32_t *order)
{
    eg_status status = EG_OK;
    uint64_t *keys = NULL;
    const int dim = mesh->dim;
    assert(dim == 2 || dim == 3);
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->element_count, &keys));

    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < mesh->vertex_count * dim; i++) {
        int d = (int)(i % dim);
        if (!isfinite(mesh->x[i]))
            EG_TRY(eg_fail(mesh->ctx, EG_ERROR_INPUT, "coordinate %c of vertex %lld is not finite",
                           "xyz"[d], (long long)(i / dim)));
        low[d] = fmin(low[d], mesh->x[i]);
        high[d] = fmax(high[d], mesh->x[i]);
    }
    double extent = 0.0;
    for (int d = 0; d < dim; d++)
        extent = fmax(extent, high[d] - low[d]);

    eg_mesh_curve_keys(mesh, low, extent, keys);
    for (int32_t e = 0; e < mesh->element_count; e++)
        order[e] = e;
    EG_TRY(eg_sort_keys(mesh->ctx, (size_t)mesh->element_count, keys, order));
done:
    eg_release(mesh->ctx, &keys);
    return status;
}

/* Row i of *array becomes row order[i]. */
static eg_status permute(eg_context *ctx, size_t count, size_t row_bytes, const int32_t *order,
                         void *array_address)
{
    char *from, *to = NULL;
    memcpy(&from, array_address, sizeof from);
    eg_status status = eg_new(ctx, count * row_bytes, &to);
    if (status != EG_OK) return status;
    for (size_t i = 0; i < count; i++)
        memcpy(&to[i * row_bytes], &from[(size_t)order[i] * row_bytes], row_bytes);
    memcpy(array_address, &to, sizeof to);
    eg_release(ctx, &from);
    return EG_OK;
}

static eg_status renumber_elements(eg_mesh *mesh, const int32_t *order)
{
    eg_status status = EG_OK;
    eg_context *ctx = mesh->ctx;
    int32_t *number = NULL; /* [element_count] what each element is called now */
    size_t count = (size_t)mesh->element_count, faces = (size_t)mesh->face_stride;
    EG_TRY(eg_new(ctx, count, &number));
    for (int32_t i = 0; i < mesh->element_count; i++)
        number[order[i]] = i;
    EG_TRY(permute(ctx, count, sizeof *mesh->shape, order, &mesh->shape));
    EG_TRY(permute(ctx, count, sizeof *mesh->global, order, &mesh->global));
    if (mesh->group_of) EG_TRY(permute(ctx, count, sizeof *mesh->group_of, order, &mesh->group_of));
    EG_TRY(permute(ctx, count, (size_t)mesh->vertex_stride * sizeof *mesh->vertices, order,
                   &mesh->vertices));
    EG_TRY(permute(ctx, count, faces * sizeof *mesh->neighbour, order, &mesh->neighbour));
    EG_TRY(permute(ctx, count, faces * sizeof *mesh->neighbour_face, order, &mesh->neighbour_face));
    if (mesh->nodes) {
        size_t row = (size_t)mesh->node_stride * (size_t)mesh->dim * sizeof *mesh->nodes;
        EG_TRY(permute(ctx, count, row, order, &mesh->nodes));
    }
    for (size_t i = 0; i < count * faces; i++) {
        if (mesh->neighbour[i] >= 0) mesh->neighbour[i] = number[mesh->neighbour[i]];
    }
done:
    eg_release(ctx, &number);
    return status;
}

static eg_status renumber_vertices(eg_mesh *mesh)
{
    eg_status status = EG_OK;
    eg_context *ctx = mesh->ctx;
    size_t dim = (size_t)mesh->dim;
    int32_t *number =
        NULL; /* [vertex_count] 1 + what each vertex is called now; 0: nobody uses it */
    double *x = NULL;
    EG_TRY(eg_new(ctx, (size_t)mesh->vertex_count, &number));
    EG_TRY(eg_new(ctx, (size_t)mesh->vertex_count * dim, &x));
    int32_t used = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int count = eg_shape_get_info((eg_shape)mesh->shape[e])->vertices;
        int32_t *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
        for (int i = 0; i < count; i++) {
            if (!number[v[i]]) {
                memcpy(&x[(size_t)used * dim], &mesh->x[(size_t)v[i] * dim], dim * sizeof *x);
                number[v[i]] = ++used;
            }
            v[i] = number[v[i]] - 1;
        }
    }
    mesh->vertex_count = used;
    eg_release(ctx, &mesh->x);
    mesh->x = x;
    x = NULL;
done:
    eg_release(ctx, &x);
    eg_release(ctx, &number);
    return status;
}

eg_status eg_mesh_order(eg_mesh *mesh)
{
    eg_status status = EG_OK;
    int32_t *order = NULL;
    assert(mesh->ghost_count == 0);
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->element_count, &order));
    EG_TRY(sort_elements(mesh, order));
    EG_TRY(renumber_elements(mesh, order));
    EG_TRY(renumber_vertices(mesh));
done:
    eg_release(mesh->ctx, &order);
    return status;
}
