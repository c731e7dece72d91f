/* Joins the faces of two boundaries that are a shift apart.
 *
 * Faces are matched, not vertices, so that an element may be its own neighbour and a direction may
 * have one cell only. The centres of the second boundary's faces lie in a hash table of cells as
 * wide as the thinnest face; a face of the first looks where its shifted centre may be. Expected
 * time is linear. */
#include "mesh/build.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Partners agree to this part of the thinnest face's width, and to the rounding of coordinates, which
 * is more for the thinnest faces. */
#define TOLERANCE 1e-6

typedef struct boundary_face {
    int32_t element;
    int face;
    double centre[3]; /* shifted for the first boundary */
    int32_t next;     /* in the same place of the table, -1: none */
} boundary_face;

typedef struct matching {
    eg_mesh *mesh;
    int side[2]; /* the boundaries' numbers */
    const double *shift;
    boundary_face *faces[2]; /* owned */
    int32_t count;           /* of each */
    double low[3];           /* of all centres */
    double reach;            /* the largest coordinate of all centres */
    double width;            /* of the thinnest face, then of a cell of the table */
    double tolerance;        /* a length */
    int32_t *table; /* [table_mask + 1] first face of the second boundary, -1: none; owned */
    uint64_t table_mask;
} matching;

static int32_t count_faces(const eg_mesh *mesh, int boundary)
{
    int32_t count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++)
            count += mesh->neighbour[(int64_t)e * mesh->face_stride + f] == -1 - boundary;
    }
    return count;
}

static const double *face_vertex(const eg_mesh *mesh, const boundary_face *face, int i)
{
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[face->element]);
    int64_t v = (int64_t)face->element * mesh->vertex_stride + info->face[face->face][i];
    return &mesh->x[(int64_t)mesh->vertices[v] * mesh->dim];
}

static double distance(int dim, const double *a, const double *b, const double *shift)
{
    double sum = 0.0;
    for (int d = 0; d < dim; d++) {
        double difference = b[d] - a[d] - (shift ? shift[d] : 0.0);
        sum += difference * difference;
    }
    return sqrt(sum);
}

/* The least distance of two vertices: that of its neighbours, too, if a face is long and thin. */
static double least_width(const eg_mesh *mesh, const boundary_face *face)
{
    int n = eg_shape_get_info((eg_shape)mesh->shape[face->element])->face_vertices;
    double least = INFINITY;
    for (int i = 1; i < n; i++) {
        for (int j = 0; j < i; j++) {
            const double *a = face_vertex(mesh, face, i), *b = face_vertex(mesh, face, j);
            least = fmin(least, distance(mesh->dim, a, b, NULL));
        }
    }
    return least;
}

static void collect(matching *m, int which)
{
    const eg_mesh *mesh = m->mesh;
    boundary_face *face = m->faces[which];
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            if (mesh->neighbour[(int64_t)e * mesh->face_stride + f] != -1 - m->side[which])
                continue;
            *face = (boundary_face){.element = e, .face = f};
            eg_mesh_face_centre(mesh, e, f, face->centre);
            for (int d = 0; d < mesh->dim; d++) {
                m->reach = fmax(m->reach, fabs(face->centre[d]));
                if (which == 0) face->centre[d] += m->shift[d];
                m->low[d] = fmin(m->low[d], face->centre[d]);
                m->reach = fmax(m->reach, fabs(face->centre[d]));
            }
            m->width = fmin(m->width, least_width(mesh, face));
            face++;
        }
    }
}

/* Cell numbers of places below `low` wrap around, which a hash does not mind. */
static int64_t cell_of(const matching *m, double x, int d)
{
    return (int64_t)floor((x - m->low[d]) / m->width);
}

static uint64_t place_of(const matching *m, const int64_t cell[3])
{
    uint64_t hash = 0;
    for (int d = 0; d < m->mesh->dim; d++) {
        hash = (hash ^ (uint64_t)cell[d]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash & m->table_mask;
}

static eg_status fill_table(matching *m)
{
    uint64_t size = 16;
    while (size < 2 * (uint64_t)m->count)
        size *= 2;
    m->table_mask = size - 1;
    eg_status status = eg_new(m->mesh->ctx, (size_t)size, &m->table);
    if (status != EG_OK) return status;
    memset(m->table, 0xff, (size_t)size * sizeof *m->table);
    for (int32_t i = 0; i < m->count; i++) {
        boundary_face *face = &m->faces[1][i];
        int64_t cell[3];
        for (int d = 0; d < m->mesh->dim; d++)
            cell[d] = cell_of(m, face->centre[d], d);
        uint64_t place = place_of(m, cell);
        face->next = m->table[place];
        m->table[place] = i;
    }
    return EG_OK;
}

/* The face of the second boundary whose centre is that of `face`, NULL if there is none. */
static const boundary_face *partner_of(const matching *m, const boundary_face *face)
{
    int dim = m->mesh->dim;
    int64_t first[3] = {0}, last[3] = {0}, cell[3];
    for (int d = 0; d < dim; d++) {
        first[d] = cell_of(m, face->centre[d] - m->tolerance, d);
        last[d] = cell_of(m, face->centre[d] + m->tolerance, d);
    }
    for (cell[2] = first[2]; cell[2] <= last[2]; cell[2]++) {
        for (cell[1] = first[1]; cell[1] <= last[1]; cell[1]++) {
            for (cell[0] = first[0]; cell[0] <= last[0]; cell[0]++) {
                for (int32_t i = m->table[place_of(m, cell)]; i >= 0; i = m->faces[1][i].next) {
                    const boundary_face *other = &m->faces[1][i];
                    if (distance(dim, face->centre, other->centre, NULL) <= m->tolerance)
                        return other;
                }
            }
        }
    }
    return NULL;
}

/* Which vertex of the partner each vertex of the face is; false if one has none. */
static bool match_vertices(const matching *m, const boundary_face *face, const boundary_face *other,
                           int *match)
{
    const eg_mesh *mesh = m->mesh;
    int n = eg_shape_get_info((eg_shape)mesh->shape[face->element])->face_vertices;
    if (eg_shape_get_info((eg_shape)mesh->shape[other->element])->face_vertices != n) return false;
    for (int i = 0; i < n; i++) {
        const double *x = face_vertex(mesh, face, i);
        match[i] = 0;
        while (match[i] < n &&
               distance(mesh->dim, x, face_vertex(mesh, other, match[i]), m->shift) > m->tolerance)
            match[i]++;
        if (match[i] == n) return false;
    }
    return true;
}

static eg_status refuse(const matching *m, const boundary_face *face, const char *why)
{
    const eg_mesh *mesh = m->mesh;
    double centre[3];
    char place[EG_PLACE_BYTES], shifted[EG_PLACE_BYTES], note[EG_GROUP_BYTES];
    eg_mesh_face_centre(mesh, face->element, face->face, centre);
    return eg_fail(mesh->ctx, EG_ERROR_INPUT,
                   "boundary \"%s\" is not periodic with \"%s\": the face of element %lld (%s%s) "
                   "with its centre at %s %s at %s",
                   mesh->boundary[m->side[0]], mesh->boundary[m->side[1]],
                   (long long)mesh->global[face->element],
                   eg_shape_get_info((eg_shape)mesh->shape[face->element])->name,
                   eg_mesh_group_note(mesh, face->element, note),
                   eg_mesh_place(mesh->dim, centre, place), why,
                   eg_mesh_place(mesh->dim, face->centre, shifted));
}

static eg_status join_all(matching *m)
{
    eg_mesh *mesh = m->mesh;
    for (int32_t i = 0; i < m->count; i++) {
        const boundary_face *face = &m->faces[0][i], *other = partner_of(m, face);
        int match[EG_MAX_FACE_VERTICES];
        if (!other) return refuse(m, face, "has no partner");
        int64_t slot = (int64_t)other->element * mesh->face_stride + other->face;
        if (mesh->neighbour[slot] >= 0)
            return refuse(m, face, "has a partner that another face has already,");
        if (!match_vertices(m, face, other, match) ||
            !eg_mesh_join_faces(mesh, face->element, face->face, other->element, other->face,
                                match))
            return refuse(m, face, "has other vertices than its partner");
    }
    return EG_OK;
}

eg_status eg_mesh_join_periodic(eg_mesh *mesh, int a, int b, const double *shift)
{
    eg_status status = EG_OK;
    matching m = {.mesh = mesh,
                  .side = {a, b},
                  .shift = shift,
                  .low = {INFINITY, INFINITY, INFINITY},
                  .width = INFINITY};
    assert(mesh->ghost_count == 0);
    assert(a >= 0 && a < mesh->boundary_count && b >= 0 && b < mesh->boundary_count && a != b);
    m.count = count_faces(mesh, a);
    int32_t other_count = count_faces(mesh, b);
    if (m.count != other_count) {
        EG_TRY(eg_fail(mesh->ctx, EG_ERROR_INPUT,
                       "boundary \"%s\" has %d faces and \"%s\" has %d: they cannot be periodic",
                       mesh->boundary[a], m.count, mesh->boundary[b], other_count));
    }
    for (int which = 0; which < 2; which++) {
        EG_TRY(eg_new(mesh->ctx, (size_t)m.count, &m.faces[which]));
        collect(&m, which);
    }
    m.tolerance = TOLERANCE * m.width + EG_ROUNDING * m.reach;
    m.width = fmax(m.width, fmax(m.tolerance, DBL_MIN));
    EG_TRY(fill_table(&m));
    EG_TRY(join_all(&m));
done:
    eg_release(mesh->ctx, &m.table);
    eg_release(mesh->ctx, &m.faces[1]);
    eg_release(mesh->ctx, &m.faces[0]);
    return status;
}

eg_status eg_mesh_drop_empty_boundaries(eg_mesh *mesh)
{
    eg_status status = EG_OK;
    int32_t *number = NULL; /* [boundary_count] 1 + the new number of each; 0: it has no faces */
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->boundary_count, &number));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        const int32_t *neighbour = &mesh->neighbour[(int64_t)e * mesh->face_stride];
        for (int f = 0; f < faces; f++) {
            if (neighbour[f] < 0) number[-1 - neighbour[f]] = 1;
        }
    }
    int kept = 0;
    for (int b = 0; b < mesh->boundary_count; b++) {
        if (number[b])
            number[b] = ++kept;
        else
            eg_release(mesh->ctx, &mesh->boundary[b]);
    }
    for (int b = 0; b < mesh->boundary_count; b++) {
        if (number[b]) mesh->boundary[number[b] - 1] = mesh->boundary[b];
    }
    mesh->boundary_count = kept;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        int32_t *neighbour = &mesh->neighbour[(int64_t)e * mesh->face_stride];
        for (int f = 0; f < faces; f++) {
            if (neighbour[f] < 0) neighbour[f] = -number[-1 - neighbour[f]];
        }
    }
done:
    eg_release(mesh->ctx, &number);
    return status;
}
