/* Which faces of a mesh's elements a file's elements of one dimension less are.
 *
 * Face elements lie in a hash table by their vertices. Every face of an element all of whose
 * vertices belong to face elements looks there: a face element is found once at the boundary, twice
 * inside the mesh, where it bounds nothing. */
#include "mesh/gmsh/assemble.h"

#include <string.h>

#define GROUPS_OF_FACE 2 /* that count: one too many */

static void sort_vertices(int count, int32_t *v)
{
    for (int i = 1; i < count; i++) {
        int32_t moving = v[i];
        int j = i;
        for (; j > 0 && v[j - 1] > moving; j--)
            v[j] = v[j - 1];
        v[j] = moving;
    }
}

/* Where the search for a face with these vertices starts. */
static uint64_t place_of(const eg_assembly *a, const int32_t *vertex)
{
    uint64_t hash = 0;
    for (int i = 0; i < EG_MAX_FACE_VERTICES; i++) {
        hash = (hash ^ (uint64_t)(uint32_t)vertex[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash & a->face_mask;
}

/* The place of the table that has the face with these vertices, or that it would have. */
static uint64_t find_place(const eg_assembly *a, const int32_t *vertex)
{
    uint64_t place = place_of(a, vertex);
    while (a->face_table[place] >= 0 &&
           memcmp(a->faces[a->face_table[place]].vertex, vertex, sizeof a->faces->vertex) != 0)
        place = (place + 1) & a->face_mask;
    return place;
}

/* The face element with these vertices [count], which it sorts; NULL: none. */
static eg_face_element *find_face(const eg_assembly *a, int count, int32_t *vertices)
{
    int32_t vertex[EG_MAX_FACE_VERTICES] = {-1, -1, -1, -1};
    if (a->face_count == 0) return NULL;
    sort_vertices(count, vertices);
    memcpy(vertex, vertices, (size_t)count * sizeof *vertex);
    int32_t found = a->face_table[find_place(a, vertex)];
    return found < 0 ? NULL : &a->faces[found];
}

/* --- names ------------------------------------------------------------------------------------ */

eg_status eg_assembly_add_boundary(eg_assembly *a, const char *name)
{
    eg_mesh *mesh = a->mesh;
    eg_status status = eg_copy_string(mesh->ctx, name, &mesh->boundary[mesh->boundary_count]);
    if (status == EG_OK) mesh->boundary_count++;
    return status;
}

/* Boundaries are the groups of faces, and after them one for all other faces. */
static eg_status name_boundaries(eg_assembly *a, const eg_named_groups *groups)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(a->ctx, (size_t)groups->count + 1 + 2 * EG_PERIODS_MAX, &a->mesh->boundary));
    for (int g = 0; g < groups->count; g++)
        EG_TRY(eg_assembly_add_boundary(a, groups->name[g]));
    a->named = groups->count;
    EG_TRY(eg_assembly_add_boundary(a, "boundary"));
done:
    return status;
}

/* --- the table -------------------------------------------------------------------------------- */

static eg_status make_table(eg_assembly *a)
{
    eg_status status = EG_OK;
    int64_t room = 0;
    for (int b = 0; b < a->file->block_count; b++) {
        const eg_gmsh_block *block = &a->file->blocks[b];
        if (eg_assembly_bounds(a, block)) room += block->count;
    }
    if (room > INT32_MAX)
        return eg_fail(a->ctx, EG_ERROR_UNSUPPORTED,
                       "it has %lld elements of dimension %d; %d are the most that one process can "
                       "match with the faces of others",
                       (long long)room, a->dim - 1, INT32_MAX);
    a->face_mask = 15;
    while (a->face_mask < 2 * (uint64_t)room)
        a->face_mask = 2 * a->face_mask + 1;
    EG_TRY(eg_new(a->ctx, (size_t)room, &a->faces));
    EG_TRY(eg_new(a->ctx, (size_t)a->face_mask + 1, &a->face_table));
    memset(a->face_table, 0xff, ((size_t)a->face_mask + 1) * sizeof *a->face_table);
done:
    return status;
}

/* A face element of a group that cannot be used. */
static eg_status refuse_face(const eg_assembly *a, const eg_face_element *face, const char *why)
{
    const eg_gmsh_block *block = &a->file->blocks[face->block];
    const eg_shape_info *info = eg_shape_get_info(block->shape);
    double centre[3] = {0};
    char place[EG_PLACE_BYTES];
    for (int i = 0; i < info->vertices; i++) {
        const double *x =
            &a->file->x[3 * (int64_t)block->nodes[(int64_t)face->place * block->np + i]];
        for (int d = 0; d < 3; d++)
            centre[d] += x[d] / info->vertices;
    }
    return eg_fail(a->ctx, EG_ERROR_INPUT,
                   "element %lld (%s, group \"%s\") with its centre at %s %s",
                   (long long)block->tag[face->place], info->name,
                   a->mesh->boundary[face->boundary], eg_mesh_place(3, centre, place), why);
}

/* Adds a face element; one that is there already gets the other's group, too. */
static void add_face(eg_assembly *a, const eg_face_element *face)
{
    uint64_t place = find_place(a, face->vertex);
    if (a->face_table[place] < 0) {
        a->faces[a->face_count] = *face;
        a->face_table[place] = a->face_count++;
        return;
    }
    eg_face_element *there = &a->faces[a->face_table[place]];
    if (there->boundary < 0) {
        there->boundary = face->boundary;
        there->other = face->other;
    } else if (face->boundary >= 0 && face->boundary != there->boundary) {
        there->other = face->boundary;
    }
}

/* Vertices of face elements are marked in `marked` [vertex_count]. */
static eg_status add_block(eg_assembly *a, int b, const eg_named_groups *groups, bool *marked)
{
    eg_status status = EG_OK;
    const eg_gmsh_block *block = &a->file->blocks[b];
    const eg_shape_info *info = eg_shape_get_info(block->shape);
    int32_t numbers[GROUPS_OF_FACE];
    const int found = eg_named_groups_of(groups, a->file, block, numbers);
    eg_face_element face = {
        .block = b, .boundary = found > 0 ? numbers[0] : -1, .other = found > 1 ? numbers[1] : -1};
    for (int64_t i = 0; i < block->count; i++) {
        bool of_mesh = true;
        face.place = (int32_t)i;
        memset(face.vertex, 0xff, sizeof face.vertex);
        for (int v = 0; v < info->vertices; v++) {
            face.vertex[v] = a->vertex[eg_assembly_node(a, block->nodes[i * block->np + v])];
            of_mesh = of_mesh && face.vertex[v] >= 0;
        }
        if (!of_mesh && face.boundary >= 0)
            EG_TRY(refuse_face(
                a, &face,
                a->dim == 2 ? "has a node that is no vertex of the mesh's elements: was a surface "
                              "left out of the Physical Surfaces?"
                            : "has a node that is no vertex of the mesh's elements: was a volume "
                              "left out of the Physical Volumes?"));
        if (!of_mesh) continue;
        for (int v = 0; v < info->vertices; v++)
            marked[face.vertex[v]] = true;
        sort_vertices(info->vertices, face.vertex);
        add_face(a, &face);
    }
done:
    return status;
}

/* --- faces of elements ------------------------------------------------------------------------ */

/* The boundary of every face, as far as the file's elements say. */
static void match_faces(eg_assembly *a, const bool *marked, int32_t *face_boundary)
{
    const eg_mesh *mesh = a->mesh;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[e]);
        const int32_t *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
        for (int f = 0; f < info->faces; f++) {
            int64_t slot = (int64_t)e * mesh->face_stride + f;
            int32_t vertices[EG_MAX_FACE_VERTICES];
            bool all = true;
            for (int i = 0; i < info->face_vertices; i++) {
                vertices[i] = v[info->face[f][i]];
                all = all && marked[vertices[i]];
            }
            eg_face_element *face = all ? find_face(a, info->face_vertices, vertices) : NULL;
            face_boundary[slot] = face && face->boundary >= 0 ? face->boundary : a->named;
            if (!face) continue;
            face->matches++;
            face->slot = (uint32_t)slot;
        }
    }
}

/* Objects to face elements that are no faces, or of two boundaries; counts those inside. */
static eg_status judge_faces(const eg_assembly *a, int64_t *inside)
{
    eg_status status = EG_OK;
    for (int32_t i = 0; i < a->face_count; i++) {
        const eg_face_element *face = &a->faces[i];
        if (face->boundary < 0) continue;
        if (face->matches == 0) EG_TRY(refuse_face(a, face, "is no face of the mesh's elements"));
        if (face->matches > 1) inside[face->boundary]++;
        if (face->matches == 1 && face->other >= 0) {
            eg_text why = eg_text_new(a->ctx);
            status =
                eg_text_printf(&why,
                               "belongs to the groups \"%s\" and \"%s\"; a face of the "
                               "boundary can be in one group only",
                               a->mesh->boundary[face->boundary], a->mesh->boundary[face->other]);
            if (status == EG_OK) status = refuse_face(a, face, eg_text_string(&why));
            eg_text_free(&why);
            EG_TRY(status);
        }
    }
    for (int b = 0; b < a->named; b++) {
        if (inside[b] > 0)
            EG_TRY(eg_assembly_say(a, EG_LOG_WARNING,
                                   "faces of the group \"%s\" that lie inside the mesh, bound "
                                   "nothing and were ignored: %lld",
                                   a->mesh->boundary[b], (long long)inside[b]));
    }
done:
    return status;
}

eg_status eg_assembly_connect(eg_assembly *a)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = a->mesh;
    eg_named_groups groups = {0};
    bool *marked = NULL;
    int32_t *face_boundary = NULL;
    int64_t *inside = NULL;
    EG_TRY(eg_named_groups_create(a, a->dim - 1, GROUPS_OF_FACE, "boundary", &groups));
    EG_TRY(name_boundaries(a, &groups));
    EG_TRY(make_table(a));
    EG_TRY(eg_new(a->ctx, (size_t)mesh->vertex_count, &marked));
    EG_TRY(eg_new(a->ctx, (size_t)mesh->element_count * (size_t)mesh->face_stride, &face_boundary));
    EG_TRY(eg_new(a->ctx, (size_t)a->named, &inside));
    for (int b = 0; b < a->file->block_count; b++) {
        if (eg_assembly_bounds(a, &a->file->blocks[b])) EG_TRY(add_block(a, b, &groups, marked));
    }
    match_faces(a, marked, face_boundary);
    EG_TRY(eg_mesh_connect(a->mesh, face_boundary));
    EG_TRY(eg_assembly_overlook(a, judge_faces(a, inside)));
    EG_TRY(eg_assembly_excuse(a, eg_assembly_check_sides(a)));
done:
    eg_release(a->ctx, &inside);
    eg_release(a->ctx, &face_boundary);
    eg_release(a->ctx, &marked);
    eg_named_groups_free(&groups);
    return status;
}
