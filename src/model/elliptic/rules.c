/* Where integrals are taken: a cubature of the element and one of its faces, with points that
 * both sides of a face share. */
#include "model/elliptic/parts.h"

#include <string.h>

/* By how much the degree of the quadrature is above that of the mass matrix: for k and f. */
#define MORE_DEGREES 4

/* The reference element's outward normals: the cross product of a face's tangents. */
static void find_normals(const eg_element *element, double normals[EG_MAX_FACES][3])
{
    /* A face's origin, one step along its first coordinate, one along its second. */
    static const double steps[2][3] = {{0, 1, 0}, {0, 0, 1}};
    const int dim = element->dim;
    for (int f = 0; f < element->faces; f++) {
        double at[3][3] = {{0}}, t[2][3] = {{0}}; /* [dim][3], [2][dim] */
        double placed[9];
        eg_shape_face_points(element->shape, f, 3, &steps[0][0], placed);
        for (int d = 0; d < dim; d++)
            memcpy(at[d], placed + 3 * d, sizeof at[d]);
        for (int d = 0; d < dim; d++) {
            t[0][d] = at[d][1] - at[d][0];
            t[1][d] = at[d][2] - at[d][0];
        }
        if (dim == 2) {
            t[1][0] = t[1][1] = 0; /* the face has one coordinate: the other is that of z */
            t[1][2] = 1;
        }
        for (int d = 0; d < 3; d++) {
            const int e = (d + 1) % 3, g = (d + 2) % 3;
            normals[f][d] = t[0][e] * t[1][g] - t[0][g] * t[1][e];
        }
    }
}

/* The points of all faces. */
static eg_status place_points(const eg_element *element, eg_elliptic_rules *rules)
{
    const size_t dim = (size_t)element->dim, count = (size_t)rules->face->count;
    const size_t all = count * (size_t)element->faces;
    double *one = NULL; /* [dim][count] */
    eg_status status = EG_OK;
    EG_TRY(eg_new(element->ctx, dim * all, &rules->r));
    EG_TRY(eg_new(element->ctx, dim * count, &one));
    for (int f = 0; f < element->faces; f++) {
        eg_shape_face_points(element->shape, f, rules->face->count, rules->face->r, one);
        for (size_t d = 0; d < dim; d++)
            memcpy(rules->r + d * all + (size_t)f * count, one + d * count, count * sizeof *one);
    }
done:
    eg_release(element->ctx, &one);
    return status;
}

eg_status eg_elliptic_rules_create(const eg_mesh *mesh, const eg_element *element,
                                   eg_elliptic_rules *out)
{
    const eg_shape_info *info = eg_shape_get_info(element->shape);
    const int degree =
        2 * element->degree + MORE_DEGREES + eg_mesh_jacobian_degree(element->shape, mesh->order);
    eg_status status = EG_OK;
    *out = (eg_elliptic_rules){0};
    EG_TRY(eg_cubature_create(element->ctx, element->shape, degree, EG_CUBATURE_BEST, &out->inner));
    EG_TRY(
        eg_cubature_create(element->ctx, info->face_shape, degree, EG_CUBATURE_BEST, &out->face));
    EG_TRY(place_points(element, out));
    find_normals(element, out->normals);
    out->columns = (element->dim + 1) * (out->inner->count + element->faces * out->face->count) +
                   element->faces * (element->face_np + out->face->count + 5);
done:
    if (status != EG_OK) eg_elliptic_rules_free(element->ctx, out);
    return status;
}

void eg_elliptic_rules_free(eg_context *ctx, eg_elliptic_rules *rules)
{
    eg_release(ctx, &rules->r);
    eg_cubature_destroy(&rules->face);
    eg_cubature_destroy(&rules->inner);
    *rules = (eg_elliptic_rules){0};
}
