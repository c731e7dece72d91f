/* Which elements of a mesh have mappings that are not valid. Determinants of straight simplices are
 * constant, all others are bounded in jacobian.c. */
#include "mesh/jacobian.h"

#include <math.h>
#include <string.h>

/* The determinant of a straight simplex is the same everywhere: true if it is positive. */
static bool is_simplex_positive(const eg_mesh *mesh, const eg_shape_info *info, int32_t element,
                                double *det)
{
    const int32_t *v = &mesh->vertices[(int64_t)element * mesh->vertex_stride];
    double x[EG_MAX_VERTICES][3] = {{0}}, A[3][3], most[3][3] = {{0}}, entry[3], reach = 0.0;
    for (int i = 0; i < info->vertices; i++) {
        for (int d = 0; d < mesh->dim; d++) {
            x[i][d] = mesh->x[(int64_t)v[i] * mesh->dim + d];
            reach = fabs(x[i][d]) > reach ? fabs(x[i][d]) : reach; /* fmax costs a call */
        }
    }
    eg_mesh_corner(info, 0, (const double(*)[3])x, A);
    for (int d = 0; d < mesh->dim; d++) {
        for (int c = 0; c < mesh->dim; c++) {
            A[d][c] *= 0.5;
            most[d][c] = fabs(A[d][c]);
        }
        entry[d] = eg_mesh_slope_rounding(1, reach);
    }
    *det = eg_mesh_determinant(mesh->dim, (const double(*)[3])A);
    double rounding =
        eg_mesh_determinant_rounding(mesh->dim, EG_ARITHMETIC, (const double(*)[3])most, entry);
    if (*det > rounding) return true;
    if (*det > 0.0) *det = 0.0; /* as rounding cannot tell it from that */
    return false;
}

/* Where the mapping of an element takes the point r. */
static eg_status find_place(const eg_mesh *mesh, int32_t element, const double r[3],
                            double place[3])
{
    eg_status status = EG_OK;
    eg_context *ctx = mesh->ctx;
    eg_element *geometry = NULL;
    double *values = NULL, *nodes = NULL;
    int dim = mesh->dim;
    EG_TRY(eg_element_create_bare(ctx, (eg_shape)mesh->shape[element], mesh->order,
                                  EG_BASIS_LOBATTO, &geometry));
    EG_TRY(eg_new(ctx, (size_t)geometry->np, &values));
    EG_TRY(eg_new(ctx, (size_t)(geometry->np * dim), &nodes));
    EG_TRY(eg_element_evaluate(geometry, 1, r, values));
    eg_mesh_element_nodes(mesh, element, nodes);
    memset(place, 0, 3 * sizeof *place);
    for (int i = 0; i < geometry->np * dim; i++)
        place[i % dim] += values[i / dim] * nodes[i];
done:
    eg_release(ctx, &nodes);
    eg_release(ctx, &values);
    eg_element_destroy(&geometry);
    return status;
}

/* What judges elements of a mesh. */
typedef struct judge {
    const eg_mesh *mesh;
    eg_jacobian *jacobian[EG_SHAPE_COUNT]; /* made when a shape first needs it; owned */
    double *nodes;                         /* [nodes of an element][dim] owned */
} judge;

/* If an element is not valid, `determinant` and r [dim] tell where, for straight simplices at
 * their centre. */
static eg_status judge_element(judge *j, int32_t e, bool *valid, double r[3], double *determinant)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = j->mesh;
    const eg_shape shape = (eg_shape)mesh->shape[e];
    const eg_shape_info *info = eg_shape_get_info(shape);
    if (!mesh->nodes && !info->tensor) {
        *valid = is_simplex_positive(mesh, info, e, determinant);
        for (int d = 0; d < mesh->dim; d++)
            r[d] = -1.0 + 2.0 / (mesh->dim + 1);
        return EG_OK;
    }
    if (!j->jacobian[shape])
        EG_TRY(eg_jacobian_create(mesh->ctx, shape, mesh->order, &j->jacobian[shape]));
    eg_mesh_element_nodes(mesh, e, j->nodes);
    *valid = eg_jacobian_is_positive(j->jacobian[shape], j->nodes, r, determinant);
done:
    return status;
}

eg_status eg_mesh_find_tangled(const eg_mesh *mesh, int32_t *element, double place[3],
                               double *determinant, int32_t *count, bool *bad)
{
    eg_status status = EG_OK;
    judge j = {.mesh = mesh};
    const int most = mesh->nodes ? mesh->node_stride : EG_MAX_VERTICES;
    double first_r[3] = {0};
    *element = -1;
    *count = 0;
    EG_TRY(eg_new(mesh->ctx, (size_t)(most * mesh->dim), &j.nodes));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        double r[3] = {0}, det = 0.0;
        bool valid = true;
        if (bad && bad[e]) continue;
        EG_TRY(judge_element(&j, e, &valid, r, &det));
        if (valid) continue;
        if (bad) bad[e] = true;
        if ((*count)++ > 0) continue;
        *element = e;
        *determinant = det;
        memcpy(first_r, r, sizeof r);
    }
    if (*element >= 0) EG_TRY(find_place(mesh, *element, first_r, place));
done:
    eg_release(mesh->ctx, &j.nodes);
    for (int s = 0; s < EG_SHAPE_COUNT; s++)
        eg_jacobian_destroy(&j.jacobian[s]);
    return status;
}

/* What is wrong with an element whose judge gave this determinant. */
static const char *objection(double determinant)
{
    return determinant > 0.0
               ? "could not be shown to be valid: the least Jacobian found of its mapping is"
               : "is inside out or flat: the Jacobian of its mapping is";
}

eg_status eg_mesh_refuse_tangled(const eg_mesh *mesh, int32_t element, const double place[3],
                                 double determinant, int32_t count)
{
    char text[EG_PLACE_BYTES], note[EG_GROUP_BYTES];
    return eg_fail(
        mesh->ctx, EG_ERROR_INPUT, "element %lld (%s%s) %s %.3g at %s. Such elements: %d of %d",
        (long long)mesh->global[element], eg_shape_get_info((eg_shape)mesh->shape[element])->name,
        eg_mesh_group_note(mesh, element, note), objection(determinant), determinant,
        eg_mesh_place(mesh->dim, place, text), count, mesh->element_count);
}

eg_status eg_mesh_check_mappings(const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    int32_t element, count;
    double place[3], determinant;
    EG_TRY(eg_mesh_find_tangled(mesh, &element, place, &determinant, &count, NULL));
    if (count > 0) EG_TRY(eg_mesh_refuse_tangled(mesh, element, place, determinant, count));
done:
    return status;
}
