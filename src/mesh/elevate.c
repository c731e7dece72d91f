/* Changes the degree of elements' mappings: raised ones are the same functions, lowered ones agree
 * with them at the nodes of the lower degree. Nodes on faces are placed by those on the same face
 * alone, so that neighbours stay together. */
#include "mesh/build.h"

#include <assert.h>
#include <string.h>

static eg_status check_order(const eg_mesh *whole, const bool present[EG_SHAPE_COUNT], int order)
{
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (!present[s] || (order >= 1 && order <= eg_mesh_order_max((eg_shape)s))) continue;
        return eg_fail(whole->ctx, EG_ERROR_ARGUMENT,
                       "the order of a mesh with elements of shape %s is 1 to %d, not %d",
                       eg_shape_get_info((eg_shape)s)->name, eg_mesh_order_max((eg_shape)s), order);
    }
    return EG_OK;
}

/* All of a mesh but its nodes, with room for those of degree `order`. */
static eg_status copy(const eg_mesh *whole, int order, int node_stride, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_mesh sizes = *whole;
    sizes.order = order;
    sizes.node_stride = node_stride;
    EG_TRY(eg_mesh_allocate(&sizes, out));
    eg_mesh *mesh = *out;
    size_t count = (size_t)whole->element_count;
    size_t vertices = count * (size_t)whole->vertex_stride;
    size_t faces = count * (size_t)whole->face_stride;
    memcpy(mesh->x, whole->x, (size_t)(whole->vertex_count * whole->dim) * sizeof *mesh->x);
    memcpy(mesh->shape, whole->shape, count * sizeof *mesh->shape);
    memcpy(mesh->global, whole->global, count * sizeof *mesh->global);
    memcpy(mesh->vertices, whole->vertices, vertices * sizeof *mesh->vertices);
    memcpy(mesh->neighbour, whole->neighbour, faces * sizeof *mesh->neighbour);
    memcpy(mesh->neighbour_face, whole->neighbour_face, faces * sizeof *mesh->neighbour_face);
    if (whole->group_of) memcpy(mesh->group_of, whole->group_of, count * sizeof *mesh->group_of);
    EG_TRY(eg_mesh_copy_names(whole, mesh));
done:
    return status;
}

/* The nodes of all elements of a shape. */
static eg_status place_nodes(const eg_mesh *whole, eg_shape shape, eg_mesh *mesh)
{
    eg_status status = EG_OK;
    eg_straight straight = {0};
    eg_element *element = NULL;
    double *matrix = NULL;
    EG_TRY(eg_straight_create(whole->ctx, shape, mesh->order, &straight));
    EG_TRY(eg_element_create(whole->ctx, shape, whole->order, EG_BASIS_LOBATTO, &element));
    EG_TRY(eg_new(whole->ctx, (size_t)straight.np * (size_t)element->np, &matrix));
    EG_TRY(eg_element_evaluate(element, straight.np, straight.r, matrix));
    EG_TRY(eg_mesh_interpolate_nodes(
        whole, &(eg_node_map){.shape = shape, .rows = straight.np, .matrix = matrix, .children = 1},
        mesh));
    mesh->reference[shape] = straight.r;
    straight.r = NULL;
done:
    eg_release(whole->ctx, &matrix);
    eg_element_destroy(&element);
    eg_straight_destroy(&straight);
    return status;
}

static eg_status check_mappings(const eg_mesh *mesh, int old_order)
{
    eg_status status = EG_OK;
    int32_t element, count;
    double x[3], determinant;
    char place[EG_PLACE_BYTES], note[EG_GROUP_BYTES];
    EG_TRY(eg_mesh_find_tangled(mesh, &element, x, &determinant, &count, NULL));
    if (element >= 0)
        EG_TRY(
            eg_fail(mesh->ctx, EG_ERROR_INPUT,
                    "element %lld (%s%s) of order %d %s with order %d: the "
                    "Jacobian of its mapping is then %.3g at %s. Such elements: %d of %d; "
                    "refine the mesh before, or take a higher order",
                    (long long)mesh->global[element],
                    eg_shape_get_info((eg_shape)mesh->shape[element])->name,
                    eg_mesh_group_note(mesh, element, note), old_order,
                    determinant > 0.0 ? "could not be shown to be valid" : "is inside out or flat",
                    mesh->order, determinant, eg_mesh_place(mesh->dim, x, place), count,
                    mesh->element_count));
done:
    return status;
}

eg_status eg_mesh_set_order(const eg_mesh *whole, int order, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    bool present[EG_SHAPE_COUNT];
    int stride = 0;
    assert(whole->ghost_count == 0);
    *out = NULL;
    eg_mesh_shapes_present(whole, present);
    EG_TRY(check_order(whole, present, order));
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        int nodes = present[s] ? eg_mode_count((eg_shape)s, order) : 0;
        if (nodes > stride) stride = nodes;
    }
    EG_TRY(copy(whole, order, stride, &mesh));
    for (int s = 0; order > 1 && s < EG_SHAPE_COUNT; s++) {
        if (present[s]) EG_TRY(place_nodes(whole, (eg_shape)s, mesh));
    }
    if (mesh->nodes) eg_mesh_snap_nodes(mesh);
    if (order < whole->order) EG_TRY(check_mappings(mesh, whole->order));
    *out = mesh;
    mesh = NULL;
done:
    eg_mesh_destroy(&mesh);
    return status;
}
