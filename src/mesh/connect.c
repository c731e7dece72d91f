/* Which elements share a face, in linear time.
 *
 * Every face is named by its vertices in ascending order. Counting sorts by the last vertex, then
 * by the one before, …, bring equal names together: two of them are neighbours, one alone is a
 * boundary, three are a mistake. The time does not depend on how many faces meet at a vertex. */
#include "mesh/build.h"

#include <assert.h>
#include <string.h>

int eg_orientation_find(int face_vertices, const int *match)
{
    int n = face_vertices, first = match[0];
    bool turned = true, reflected = n > 2;
    for (int i = 1; i < n; i++) {
        turned = turned && match[i] == (first + i) % n;
        reflected = reflected && match[i] == (first - i + n) % n;
    }
    return turned ? first : reflected ? n + first : -1;
}

int eg_orientation_inverse(int face_vertices, int orientation)
{
    int n = face_vertices;
    return orientation < n ? (n - orientation) % n : orientation;
}

bool eg_mesh_join_faces(eg_mesh *mesh, int32_t element_a, int face_a, int32_t element_b, int face_b,
                        const int *match)
{
    int n = eg_shape_get_info((eg_shape)mesh->shape[element_a])->face_vertices;
    int orientation = eg_orientation_find(n, match);
    if (orientation < 0) return false;
    int inverse = eg_orientation_inverse(n, orientation);
    int64_t a = (int64_t)element_a * mesh->face_stride + face_a;
    int64_t b = (int64_t)element_b * mesh->face_stride + face_b;
    mesh->neighbour[a] = element_b;
    mesh->neighbour_face[a] = (uint8_t)(face_b | orientation << 3);
    mesh->neighbour[b] = element_a;
    mesh->neighbour_face[b] = (uint8_t)(face_a | inverse << 3);
    return true;
}

/* All faces of a mesh with their names. A slot is element*face_stride + face. */
typedef struct face_list {
    int width;      /* vertices in a name: the most that a face has */
    int32_t count;  /* faces */
    uint32_t *slot; /* [count] owned */
    int32_t *name;  /* [count][width] ascending; beyond the last vertex: vertex_count; owned */
    int32_t *order; /* [count] faces, equal names side by side, in the order of slots; owned */
} face_list;

static eg_status refuse_element(const eg_mesh *mesh, int32_t element, const char *why,
                                int32_t vertex)
{
    char note[EG_GROUP_BYTES];
    return eg_fail(
        mesh->ctx, EG_ERROR_INPUT, "element %lld (%s%s) %s %d; the mesh has vertices 0 to %lld",
        (long long)mesh->global[element], eg_shape_get_info((eg_shape)mesh->shape[element])->name,
        eg_mesh_group_note(mesh, element, note), why, vertex, (long long)mesh->vertex_count - 1);
}

static eg_status check_vertices(const eg_mesh *mesh)
{
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int32_t *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
        int count = eg_shape_get_info((eg_shape)mesh->shape[e])->vertices;
        for (int i = 0; i < count; i++) {
            if (v[i] < 0 || v[i] >= mesh->vertex_count)
                return refuse_element(mesh, e, "has a vertex", v[i]);
            for (int j = 0; j < i; j++) {
                if (v[i] == v[j]) return refuse_element(mesh, e, "has twice the vertex", v[i]);
            }
        }
    }
    return EG_OK;
}

static void sort_name(int count, int32_t *name)
{
    for (int i = 1; i < count; i++) {
        int32_t moving = name[i];
        int j = i;
        for (; j > 0 && name[j - 1] > moving; j--)
            name[j] = name[j - 1];
        name[j] = moving;
    }
}

static eg_status list_faces(const eg_mesh *mesh, face_list *list)
{
    eg_status status = EG_OK;
    int64_t count = 0;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[e]);
        count += info->faces;
        if (info->face_vertices > list->width) list->width = info->face_vertices;
    }
    if (count > INT32_MAX || (int64_t)mesh->element_count * mesh->face_stride > UINT32_MAX ||
        mesh->vertex_count > INT32_MAX - 1) {
        EG_TRY(
            eg_fail(mesh->ctx, EG_ERROR_UNSUPPORTED,
                    "a mesh of %d elements and %lld vertices is too large to be connected by one "
                    "process; it may have 2147483647 faces of elements and as many vertices",
                    mesh->element_count, (long long)mesh->vertex_count));
    }
    list->count = (int32_t)count;
    EG_TRY(eg_new(mesh->ctx, (size_t)count, &list->slot));
    EG_TRY(eg_new(mesh->ctx, (size_t)count, &list->order));
    EG_TRY(eg_new(mesh->ctx, (size_t)count * (size_t)list->width, &list->name));
    int32_t *name = list->name;
    uint32_t *slot = list->slot;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[e]);
        const int32_t *v = &mesh->vertices[(int64_t)e * mesh->vertex_stride];
        for (int f = 0; f < info->faces; f++) {
            for (int i = 0; i < list->width; i++)
                name[i] =
                    i < info->face_vertices ? v[info->face[f][i]] : (int32_t)mesh->vertex_count;
            sort_name(info->face_vertices, name);
            name += list->width;
            *slot++ = (uint32_t)((int64_t)e * mesh->face_stride + f);
        }
    }
done:
    return status;
}

/* One counting sort of `from` by vertex `which` of the names. */
static void sort_by(const face_list *list, int which, size_t key_count, int32_t *next,
                    const int32_t *from, int32_t *to)
{
    memset(next, 0, key_count * sizeof *next);
    for (int32_t i = 0; i < list->count; i++)
        next[list->name[(int64_t)i * list->width + which]]++;
    int32_t sum = 0;
    for (size_t k = 0; k < key_count; k++) {
        int32_t here = next[k];
        next[k] = sum;
        sum += here;
    }
    for (int32_t i = 0; i < list->count; i++) {
        int32_t face = from ? from[i] : i;
        to[next[list->name[(int64_t)face * list->width + which]]++] = face;
    }
}

static eg_status sort_faces(const eg_mesh *mesh, face_list *list)
{
    eg_status status = EG_OK;
    int32_t *next = NULL, *other = NULL;
    size_t key_count = (size_t)mesh->vertex_count + 1;
    EG_TRY(eg_new(mesh->ctx, key_count, &next));
    EG_TRY(eg_new(mesh->ctx, (size_t)list->count, &other));
    for (int w = list->width - 1; w >= 0; w--) {
        sort_by(list, w, key_count, next, w == list->width - 1 ? NULL : list->order, other);
        int32_t *swap = list->order;
        list->order = other;
        other = swap;
    }
done:
    eg_release(mesh->ctx, &other);
    eg_release(mesh->ctx, &next);
    return status;
}

/* True if two elements have the same vertices in any order. */
static bool same_vertices(const eg_mesh *mesh, int32_t a, int32_t b)
{
    const int32_t *v = &mesh->vertices[(int64_t)a * mesh->vertex_stride];
    const int32_t *w = &mesh->vertices[(int64_t)b * mesh->vertex_stride];
    const int count = eg_shape_get_info((eg_shape)mesh->shape[a])->vertices;
    if (mesh->shape[a] != mesh->shape[b]) return false;
    for (int i = count - 1; i >= 0; i--) {
        int j = 0;
        while (j < count && w[j] != v[i])
            j++;
        if (j == count) return false;
    }
    return true;
}

static eg_status refuse_twins(const eg_mesh *mesh, int32_t a, int32_t b)
{
    double centre[3];
    char place[EG_PLACE_BYTES], note[EG_GROUP_BYTES];
    eg_mesh_element_centre(mesh, a, centre);
    return eg_fail(mesh->ctx, EG_ERROR_INPUT,
                   "elements %lld and %lld (%s%s) have the same vertices; their centre is at %s",
                   (long long)mesh->global[a], (long long)mesh->global[b],
                   eg_shape_get_info((eg_shape)mesh->shape[a])->name,
                   eg_mesh_group_note(mesh, a, note), eg_mesh_place(mesh->dim, centre, place));
}

/* What is wrong at a face that cannot be joined. */
static eg_status refuse_face(const eg_mesh *mesh, const uint32_t *slots, int count)
{
    int32_t element[3];
    for (int i = 0; i < count; i++)
        element[i] = (int32_t)(slots[i] / (uint32_t)mesh->face_stride);
    double centre[3];
    char place[EG_PLACE_BYTES], note[EG_GROUP_BYTES];
    eg_mesh_face_centre(mesh, element[0], (int)(slots[0] % (uint32_t)mesh->face_stride), centre);
    eg_mesh_place(mesh->dim, centre, place);
    eg_mesh_group_note(mesh, element[0], note);
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++) {
            if (same_vertices(mesh, element[j], element[i]))
                return refuse_twins(mesh, element[j], element[i]);
        }
    }
    if (count == 3)
        return eg_fail(
            mesh->ctx, EG_ERROR_INPUT,
            "elements %lld, %lld and %lld share one face, with its centre at %s%s; at most "
            "two may",
            (long long)mesh->global[element[0]], (long long)mesh->global[element[1]],
            (long long)mesh->global[element[2]], place, note);
    return eg_fail(
        mesh->ctx, EG_ERROR_INPUT,
        "elements %lld and %lld have the same vertices at the face with its centre at %s%s, "
        "but not in the same order around it",
        (long long)mesh->global[element[0]], (long long)mesh->global[element[1]], place, note);
}

static eg_status join_pair(eg_mesh *mesh, const uint32_t *slots)
{
    const eg_shape_info *info[2];
    const int32_t *v[2];
    int32_t element[2];
    int face[2];
    for (int k = 0; k < 2; k++) {
        element[k] = (int32_t)(slots[k] / (uint32_t)mesh->face_stride);
        face[k] = (int)(slots[k] % (uint32_t)mesh->face_stride);
        info[k] = eg_shape_get_info((eg_shape)mesh->shape[element[k]]);
        v[k] = &mesh->vertices[(int64_t)element[k] * mesh->vertex_stride];
    }
    int match[EG_MAX_FACE_VERTICES] = {0};
    for (int i = 0; i < info[0]->face_vertices; i++) {
        while (v[1][info[1]->face[face[1]][match[i]]] != v[0][info[0]->face[face[0]][i]])
            match[i]++;
    }
    if (same_vertices(mesh, element[0], element[1]) ||
        !eg_mesh_join_faces(mesh, element[0], face[0], element[1], face[1], match))
        return refuse_face(mesh, slots, 2);
    return EG_OK;
}

static eg_status set_boundary(eg_mesh *mesh, uint32_t slot, const int32_t *face_boundary)
{
    int32_t boundary = face_boundary ? face_boundary[slot] : 0;
    if (boundary < 0 || boundary >= mesh->boundary_count) {
        int32_t element = (int32_t)(slot / (uint32_t)mesh->face_stride);
        double centre[3];
        char place[EG_PLACE_BYTES];
        eg_mesh_face_centre(mesh, element, (int)(slot % (uint32_t)mesh->face_stride), centre);
        return eg_fail(
            mesh->ctx, EG_ERROR_INPUT,
            "the face of element %lld with its centre at %s has no neighbour and belongs "
            "to none of the %d boundaries",
            (long long)mesh->global[element], eg_mesh_place(mesh->dim, centre, place),
            mesh->boundary_count);
    }
    mesh->neighbour[slot] = -1 - boundary;
    mesh->neighbour_face[slot] = 0;
    return EG_OK;
}

size_t eg_mesh_connect_bytes(const eg_mesh *sizes, int face_vertices)
{
    const face_list *list = NULL;
    size_t faces = (size_t)sizes->element_count * (size_t)sizes->face_stride;
    size_t face_bytes = sizeof *list->slot + (size_t)face_vertices * sizeof *list->name +
                        2 * sizeof *list->order; /* sorted from one to another */
    return faces * face_bytes + ((size_t)sizes->vertex_count + 1) * sizeof(int32_t);
}

eg_status eg_mesh_connect(eg_mesh *mesh, const int32_t *face_boundary)
{
    eg_status status = EG_OK;
    face_list list = {0};
    assert(mesh->ghost_count == 0);
    EG_TRY(check_vertices(mesh));
    EG_TRY(list_faces(mesh, &list));
    EG_TRY(sort_faces(mesh, &list));
    size_t name_bytes = (size_t)list.width * sizeof *list.name;
    for (int32_t i = 0; i < list.count;) {
        const int32_t *name = &list.name[(int64_t)list.order[i] * list.width];
        uint32_t slots[3] = {list.slot[list.order[i]]};
        int same = 1;
        while (same < 3 && i + same < list.count &&
               memcmp(name, &list.name[(int64_t)list.order[i + same] * list.width], name_bytes) ==
                   0) {
            slots[same] = list.slot[list.order[i + same]];
            same++;
        }
        if (same == 1) EG_TRY(set_boundary(mesh, slots[0], face_boundary));
        if (same == 2) EG_TRY(join_pair(mesh, slots));
        if (same == 3) EG_TRY(refuse_face(mesh, slots, 3));
        i += same;
    }
done:
    eg_release(mesh->ctx, &list.order);
    eg_release(mesh->ctx, &list.name);
    eg_release(mesh->ctx, &list.slot);
    return status;
}
