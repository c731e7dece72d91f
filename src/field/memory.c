/* What a space and its fields take, told from the mesh alone. */
#include "field/space.h"

/* What eg_space keeps of one element: its slot and back, its weight, neighbours and nodes, and if it
 * is affine its factors. */
static int64_t element_bytes(const eg_mesh *mesh, int32_t element)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    const int64_t dim = mesh->dim, real = sizeof(double), integer = sizeof(int32_t);
    const int64_t nodes = eg_mode_count((eg_shape)mesh->shape[element], mesh->order);
    int64_t bytes = 2 * integer + real + info->faces * (integer + 1) + nodes * dim * real;
    if (eg_mesh_is_affine(mesh, element)) bytes += (1 + dim * dim + info->faces * (dim + 1)) * real;
    return bytes;
}

eg_space_memory eg_space_estimate(const eg_mesh *mesh, int degree)
{
    eg_space_memory memory = {0};
    for (int32_t e = 0; e < mesh->element_count; e++) {
        memory.values += eg_mode_count((eg_shape)mesh->shape[e], degree);
        memory.space += element_bytes(mesh, e);
    }
    memory.field = memory.values * (int64_t)sizeof(double);
    return memory;
}
