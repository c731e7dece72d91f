/* Whether neighbours agree where their common face lies.
 *
 * Vertices of neighbours coincide, but nodes of curved elements between them need not: a file may
 * give each of two elements its own. Nodes on faces are compared one by one; joined periodic faces
 * lie a constant shift apart, which a map may have changed. */
#include "mesh/build.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Nodes agree to this part of the face's size, as periodic faces must, and to rounding. */
#define TOLERANCE 1e-6
#define ROUNDING (64.0 * DBL_EPSILON)

#define SAME_POINT 1e-9 /* in reference coordinates */
#define ORIENTATIONS_MAX 8

typedef struct conformity {
    const eg_mesh *mesh;
    eg_element *element[EG_SHAPE_COUNT]; /* of the shapes present; owned */
    /* [face_np] the neighbour's point on its face that each of mine is, by my shape, its shape and
     * how it is turned; NULL: not needed yet; owned */
    int *point[EG_SHAPE_COUNT][EG_SHAPE_COUNT][ORIENTATIONS_MAX];
} conformity;

/* Fills c->point for a pair of shapes whose faces are alike. */
static eg_status match_points(conformity *c, eg_shape mine, eg_shape other, int orientation)
{
    eg_status status = EG_OK;
    eg_context *ctx = c->mesh->ctx;
    const eg_element *a = c->element[mine], *b = c->element[other];
    const int n = a->face_np, dim = a->dim - 1;
    double *s = NULL;
    assert(n == b->face_np);
    EG_TRY(eg_new(ctx, (size_t)(n * dim), &s));
    EG_TRY(eg_new(ctx, (size_t)n, &c->point[mine][other][orientation]));
    eg_orientation_points(eg_shape_get_info(mine)->face_shape, orientation, n, a->face_r, s);
    for (int i = 0; i < n; i++) {
        int found = -1;
        for (int j = 0; j < n && found < 0; j++) {
            bool same = true;
            for (int d = 0; d < dim; d++)
                same = same && fabs(s[d * n + i] - b->face_r[d * n + j]) < SAME_POINT;
            if (same) found = j;
        }
        assert(found >= 0);
        c->point[mine][other][orientation][i] = found;
    }
done:
    eg_release(ctx, &s);
    return status;
}

static const double *face_vertex(const eg_mesh *mesh, int32_t element, int face, int i)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    int64_t v = (int64_t)element * mesh->vertex_stride + info->face[face][i];
    return &mesh->x[(int64_t)mesh->vertices[v] * mesh->dim];
}

/* A node of a face; of straight elements: a vertex. */
static const double *face_node(const conformity *c, int32_t element, int face, int point)
{
    const eg_mesh *mesh = c->mesh;
    if (!mesh->nodes) return face_vertex(mesh, element, face, point);
    const eg_element *shape = c->element[mesh->shape[element]];
    const int node = shape->face_node[face * shape->face_np + point];
    return &mesh->nodes[((int64_t)element * mesh->node_stride + node) * mesh->dim];
}

static eg_status check_face(conformity *c, int32_t e, int f)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = c->mesh;
    const int64_t slot = (int64_t)e * mesh->face_stride + f;
    const int32_t other = mesh->neighbour[slot];
    const int face = EG_FACE(mesh->neighbour_face[slot]);
    const int orientation = EG_ORIENTATION(mesh->neighbour_face[slot]);
    const eg_shape mine = (eg_shape)mesh->shape[e], others = (eg_shape)mesh->shape[other];
    const int n = eg_shape_get_info(mine)->face_vertices;
    const int count = mesh->nodes ? c->element[mine]->face_np : n;
    if (mesh->nodes && !c->point[mine][others][orientation])
        EG_TRY(match_points(c, mine, others, orientation));
    const double *x0 = face_vertex(mesh, e, f, 0);
    const double *y0 = face_vertex(mesh, other, face, eg_orientation_vertex(n, orientation, 0));
    double size = 0.0, reach = 0.0, worst = 0.0;
    int worst_point = 0;
    for (int i = 0; i < count; i++) {
        const int j = mesh->nodes ? c->point[mine][others][orientation][i]
                                  : eg_orientation_vertex(n, orientation, i);
        const double *x = face_node(c, e, f, i), *y = face_node(c, other, face, j);
        double apart = 0.0;
        for (int d = 0; d < mesh->dim; d++) {
            apart = fmax(apart, fabs((y[d] - y0[d]) - (x[d] - x0[d])));
            size = fmax(size, fabs(x[d] - x0[d]));
            reach = fmax(reach, fmax(fabs(x[d]), fabs(y[d])));
        }
        if (apart > worst) worst_point = i;
        worst = fmax(worst, apart);
    }
    if (worst <= TOLERANCE * size + ROUNDING * reach) return EG_OK;
    char place[EG_PLACE_BYTES], note[2][EG_GROUP_BYTES];
    EG_TRY(
        eg_fail(mesh->ctx, EG_ERROR_INPUT,
                "elements %lld (%s%s) and %lld (%s%s) have different forms at the face that joins "
                "them: at %s they are %.3g apart",
                (long long)mesh->global[e], eg_shape_get_info(mine)->name,
                eg_mesh_group_note(mesh, e, note[0]), (long long)mesh->global[other],
                eg_shape_get_info(others)->name, eg_mesh_group_note(mesh, other, note[1]),
                eg_mesh_place(mesh->dim, face_node(c, e, f, worst_point), place), worst));
done:
    return status;
}

eg_status eg_mesh_check_faces(const eg_mesh *mesh)
{
    eg_status status = EG_OK;
    conformity c = {.mesh = mesh};
    bool present[EG_SHAPE_COUNT];
    assert(mesh->ghost_count == 0);
    eg_mesh_shapes_present(mesh, present);
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (present[s] && mesh->nodes)
            EG_TRY(eg_element_create_bare(mesh->ctx, (eg_shape)s, mesh->order, EG_BASIS_LOBATTO,
                                          &c.element[s]));
    }
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            if (mesh->neighbour[(int64_t)e * mesh->face_stride + f] >= e)
                EG_TRY(check_face(&c, e, f));
        }
    }
done:
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        for (int i = 0; i < EG_SHAPE_COUNT * ORIENTATIONS_MAX; i++)
            eg_release(mesh->ctx, &c.point[s][i / ORIENTATIONS_MAX][i % ORIENTATIONS_MAX]);
        eg_element_destroy(&c.element[s]);
    }
    return status;
}
