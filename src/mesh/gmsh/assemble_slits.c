/* Faces of the boundary that lie upon each other. Often two parts of a geometry touch there whose
 * nodes should be one; a slit may be meant, too, so that this is said and not refused.
 *
 * Vertices of the boundary at one place get one number; faces lie in a hash table by these, so that
 * two in one place meet there. Of curved faces, which may bulge apart, the means of their nodes are
 * compared as well. Everything takes linear time. */
#include "mesh/gmsh/assemble.h"
#include "mesh/gmsh/near.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct slits {
    const eg_assembly *assembly;
    int64_t faces;       /* of the boundary */
    int32_t point_count; /* vertices of the boundary */
    int32_t *point;      /* [vertex_count] 1 + the number of a vertex, 0: inside; owned */
    double *x;           /* [point_count][dim] owned */
    int32_t *same;       /* [point_count] the first point at its place; owned */

    uint64_t *table; /* [mask + 1] 1 + slot, 0: none; owned */
    uint64_t mask;
    eg_element *element[EG_SHAPE_COUNT]; /* of curved faces, made when they are needed; owned */

    int64_t pairs;       /* that were found */
    int64_t first[2];    /* slots of the first */
    bool within_a_group; /* one of them is */
} slits;

/* --- points ----------------------------------------------------------------------------------- */

/* Numbers the vertices of the boundary and counts its faces. */
static void number_points(slits *s)
{
    const eg_mesh *mesh = s->assembly->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[e]);
        const int32_t *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
        for (int f = 0; f < info->faces; f++) {
            if (mesh->neighbour[(int64_t)e * mesh->face_stride + f] >= 0) continue;
            s->faces++;
            for (int i = 0; i < info->face_vertices; i++) {
                int32_t *point = &s->point[v[info->face[f][i]]];
                if (!*point) *point = ++s->point_count;
            }
        }
    }
}

/* Finds the points at one place; *found is false if there are none. */
static eg_status compare_points(slits *s, bool *found)
{
    eg_status status = EG_OK;
    const eg_assembly *a = s->assembly;
    const eg_mesh *mesh = a->mesh;
    eg_near near = {0};
    double low[3] = {INFINITY, INFINITY, INFINITY};
    const int dim = a->dim;
    assert(dim == 2 || dim == 3);
    *found = false;
    EG_TRY(eg_new(a->ctx, (size_t)s->point_count * (size_t)dim, &s->x));
    EG_TRY(eg_new(a->ctx, (size_t)s->point_count, &s->same));
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        for (int d = 0; s->point[v] && d < dim; d++) {
            const double x = mesh->x[v * dim + d];
            s->x[(int64_t)(s->point[v] - 1) * dim + d] = x;
            low[d] = fmin(low[d], x);
        }
    }
    EG_TRY(eg_near_create(a->ctx, a->dim, s->point_count, s->x, low, eg_assembly_same_place(a),
                          &near));
    for (int32_t i = 0; i < s->point_count; i++) {
        const int32_t other = eg_near_find(&near, i);
        s->same[i] = other < 0 ? i : other;
        if (other < 0) eg_near_add(&near, i);
        *found = *found || other >= 0;
    }
done:
    eg_near_free(&near);
    return status;
}

/* --- faces ------------------------------------------------------------------------------------ */

/* The places of a face's vertices, ascending, beyond the last -1; false if two of them are the
 * same: it is tiny. */
static bool name_face(const slits *s, int64_t slot, int32_t name[EG_MAX_FACE_VERTICES])
{
    const eg_mesh *mesh = s->assembly->mesh;
    const int64_t element = slot / mesh->face_stride;
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[element]);
    memset(name, 0xff, EG_MAX_FACE_VERTICES * sizeof *name);
    for (int i = 0; i < info->face_vertices; i++) {
        const int64_t first = element * mesh->vertex_stride;
        const int32_t v = mesh->vertices[first + info->face[slot % mesh->face_stride][i]];
        const int32_t place = s->same[s->point[v] - 1];
        int j = i;
        for (; j > 0 && name[j - 1] > place; j--)
            name[j] = name[j - 1];
        if (j > 0 && name[j - 1] == place) return false;
        name[j] = place;
    }
    return true;
}

/* The mean of a curved face's nodes, which does not depend on how it is turned. */
static eg_status mean_of_nodes(slits *s, int64_t slot, double mean[3])
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = s->assembly->mesh;
    const int64_t element = slot / mesh->face_stride, face = slot % mesh->face_stride;
    eg_element **shape = &s->element[mesh->shape[element]];
    if (!*shape)
        EG_TRY(eg_element_create(mesh->ctx, (eg_shape)mesh->shape[element], mesh->order,
                                 EG_BASIS_LOBATTO, shape));
    memset(mean, 0, 3 * sizeof *mean);
    for (int i = 0; i < (*shape)->face_np; i++) {
        const int node = (*shape)->face_node[face * (*shape)->face_np + i];
        const double *x = &mesh->nodes[(element * mesh->node_stride + node) * mesh->dim];
        for (int d = 0; d < mesh->dim; d++)
            mean[d] += x[d] / (*shape)->face_np;
    }
done:
    return status;
}

/* Whether two faces with their vertices in the same places have the same form. */
static eg_status compare_faces(slits *s, int64_t slot, int64_t other, bool *same)
{
    eg_status status = EG_OK;
    double mean[2][3];
    *same = true;
    if (!s->assembly->mesh->nodes) return EG_OK;
    EG_TRY(mean_of_nodes(s, slot, mean[0]));
    EG_TRY(mean_of_nodes(s, other, mean[1]));
    for (int d = 0; d < s->assembly->dim; d++)
        *same = *same && fabs(mean[0][d] - mean[1][d]) <= eg_assembly_same_place(s->assembly);
done:
    return status;
}

/* Looks for a face in the place of this one and puts it into the table. */
static eg_status add_face(slits *s, int64_t slot)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = s->assembly->mesh;
    int32_t name[EG_MAX_FACE_VERTICES], other_name[EG_MAX_FACE_VERTICES];
    int64_t cell[EG_MAX_FACE_VERTICES];
    if (!name_face(s, slot, name)) return EG_OK;
    for (int i = 0; i < EG_MAX_FACE_VERTICES; i++)
        cell[i] = name[i];
    uint64_t place = eg_cell_hash(EG_MAX_FACE_VERTICES, cell, s->mask);
    for (; s->table[place]; place = (place + 1) & s->mask) {
        const int64_t other = (int64_t)s->table[place] - 1;
        bool same;
        name_face(s, other, other_name);
        if (memcmp(name, other_name, sizeof name) != 0) continue;
        EG_TRY(compare_faces(s, slot, other, &same));
        if (!same) continue;
        if (s->pairs++ == 0) {
            s->first[0] = other;
            s->first[1] = slot;
        }
        s->within_a_group = s->within_a_group || mesh->neighbour[slot] == mesh->neighbour[other];
        return EG_OK;
    }
    s->table[place] = (uint64_t)slot + 1;
done:
    return status;
}

static eg_status compare_all_faces(slits *s)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = s->assembly->mesh;
    s->mask = 15;
    while (s->mask < 2 * (uint64_t)s->faces)
        s->mask = 2 * s->mask + 1;
    EG_TRY(eg_new(mesh->ctx, (size_t)s->mask + 1, &s->table));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            const int64_t slot = (int64_t)e * mesh->face_stride + f;
            if (mesh->neighbour[slot] < 0) EG_TRY(add_face(s, slot));
        }
    }
done:
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

/* Slits between two groups are meant more often than not. */
static eg_status say(const slits *s)
{
    const eg_mesh *mesh = s->assembly->mesh;
    const int64_t *first = s->first;
    double centre[3];
    char place[EG_PLACE_BYTES];
    eg_mesh_face_centre(mesh, (int32_t)(first[0] / mesh->face_stride),
                        (int)(first[0] % mesh->face_stride), centre);
    return eg_assembly_say(
        s->assembly, s->within_a_group ? EG_LOG_WARNING : EG_LOG_INFO,
        "pairs of faces of the boundary that lie upon each other: %lld, the first at %s (\"%s\" of "
        "element %lld and \"%s\" of element %lld). If there is to be no slit, read the file with "
        "its nodes merged (--merge, mesh.merge = true)",
        (long long)s->pairs, eg_mesh_place(mesh->dim, centre, place),
        mesh->boundary[-1 - mesh->neighbour[first[0]]],
        (long long)mesh->global[first[0] / mesh->face_stride],
        mesh->boundary[-1 - mesh->neighbour[first[1]]],
        (long long)mesh->global[first[1] / mesh->face_stride]);
}

eg_status eg_assembly_find_slits(const eg_assembly *a)
{
    eg_status status = EG_OK;
    slits s = {.assembly = a};
    bool found;
    if (a->merged) return EG_OK;
    EG_TRY(eg_new(a->ctx, (size_t)a->mesh->vertex_count, &s.point));
    number_points(&s);
    EG_TRY(compare_points(&s, &found));
    if (found) EG_TRY(compare_all_faces(&s));
    if (s.pairs > 0) EG_TRY(say(&s));
done:
    for (int i = 0; i < EG_SHAPE_COUNT; i++)
        eg_element_destroy(&s.element[i]);
    eg_release(a->ctx, &s.table);
    eg_release(a->ctx, &s.same);
    eg_release(a->ctx, &s.x);
    eg_release(a->ctx, &s.point);
    return status;
}
