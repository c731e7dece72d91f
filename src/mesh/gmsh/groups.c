/* The entities of a mesh that is written for Gmsh: its groups of elements, its boundaries, and both
 * sides of faces that are joined periodically.
 *
 * Joined faces that have different vertices are a shift apart. A link is all faces of one shift;
 * of its sides the master is that from which the shift's first component that is not zero is
 * positive. A node belongs to the first boundary or side that has it, else to the first group of
 * elements. */
#include "mesh/gmsh/groups.h"

#include "mesh/build.h"

#include <math.h>
#include <string.h>

#define TOLERANCE 1e-6 /* of its length: shifts that agree so far are one */

/* What face_group says of faces without a group. */
enum { INSIDE = -1, NOT_TRANSLATED = -2 };

int eg_gmsh_group_face_nodes(const eg_gmsh_numbering *numbering, const eg_gmsh_face *face,
                             int64_t *nodes, int64_t *joined)
{
    const eg_mesh *mesh = numbering->mesh;
    const eg_shape shape = eg_shape_get_info((eg_shape)mesh->shape[face->element])->face_shape;
    int32_t vertices[EG_MAX_FACE_VERTICES];
    if (joined) {
        eg_gmsh_joined_vertices(numbering, face, vertices);
        eg_gmsh_face_nodes(numbering, shape, vertices, joined);
    }
    eg_gmsh_face_vertices(numbering, face, vertices);
    return eg_gmsh_face_nodes(numbering, shape, vertices, nodes);
}

/* --- links ------------------------------------------------------------------------------------ */

static double length(const double a[3])
{
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
}

/* The link with that shift, a new one if there is none yet, -1 if there would be too many. */
static int find_link(eg_gmsh_groups *groups, const double shift[3])
{
    for (int i = 0; i < groups->link_count; i++) {
        const double *known = groups->shift[i];
        const double difference[3] = {shift[0] - known[0], shift[1] - known[1],
                                      shift[2] - known[2]};
        if (length(difference) <= TOLERANCE * length(shift)) return i;
    }
    if (groups->link_count == EG_GMSH_LINKS_MAX) return -1;
    memcpy(groups->shift[groups->link_count], shift, sizeof groups->shift[0]);
    return groups->link_count++;
}

/* The group of a face that is joined to one elsewhere. */
static int joined_group(eg_gmsh_groups *groups, const eg_gmsh_numbering *numbering, int n,
                        const int32_t *mine, const int32_t *theirs)
{
    const int dim = groups->mesh->dim;
    int group = NOT_TRANSLATED;
    for (int i = 0; i < n; i++) {
        const double *from = &numbering->x[(int64_t)mine[i] * dim];
        const double *to = &numbering->x[(int64_t)theirs[i] * dim];
        double shift[3] = {0.0};
        for (int d = 0; d < dim; d++)
            shift[d] = to[d] - from[d];
        int first = 0;
        while (first < 2 && fabs(shift[first]) <= TOLERANCE * length(shift))
            first++;
        if (shift[first] == 0.0) return NOT_TRANSLATED; /* here they touch, elsewhere not */
        const bool image = shift[first] < 0.0;
        for (int d = 0; image && d < 3; d++)
            shift[d] = 0.0 - shift[d]; /* never -0 */
        const int link = find_link(groups, shift);
        if (link < 0) return NOT_TRANSLATED;
        const int found = EG_GMSH_MASTER(groups, link) + image;
        if (i > 0 && found != group) return NOT_TRANSLATED;
        group = found;
    }
    return group;
}

static int face_group(eg_gmsh_groups *groups, const eg_gmsh_numbering *numbering,
                      const eg_gmsh_face *face)
{
    const eg_mesh *mesh = groups->mesh;
    const int32_t neighbour =
        mesh->neighbour[(int64_t)face->element * mesh->face_stride + face->face];
    if (neighbour < 0) return groups->element_groups - 1 - neighbour;
    int32_t mine[EG_MAX_FACE_VERTICES] = {0}, theirs[EG_MAX_FACE_VERTICES] = {0};
    const int n = eg_gmsh_face_vertices(numbering, face, mine);
    eg_gmsh_joined_vertices(numbering, face, theirs);
    if (memcmp(mine, theirs, (size_t)n * sizeof mine[0]) == 0) return INSIDE;
    return joined_group(groups, numbering, n, mine, theirs);
}

static bool precedes(const double a[3], const double b[3])
{
    for (int d = 0; d < 3; d++)
        if (a[d] != b[d]) return a[d] > b[d];
    return false;
}

/* Puts the links in order: along x first, then y, then z. */
static void sort_links(eg_gmsh_groups *groups)
{
    for (int i = 1; i < groups->link_count; i++) {
        for (int j = i; j > 0 && precedes(groups->shift[j], groups->shift[j - 1]); j--) {
            double shift[3];
            memcpy(shift, groups->shift[j], sizeof shift);
            memcpy(groups->shift[j], groups->shift[j - 1], sizeof shift);
            memcpy(groups->shift[j - 1], shift, sizeof shift);
        }
    }
}

/* --- elements --------------------------------------------------------------------------------- */

static int element_group(const eg_mesh *mesh, int32_t element)
{
    return mesh->group_of ? mesh->group_of[element] : 0;
}

/* Puts the elements of each group together; they stay in order. */
static eg_status collect_elements(eg_gmsh_groups *groups, const int32_t *by_global)
{
    const eg_mesh *mesh = groups->mesh;
    const eg_status status = eg_new(mesh->ctx, (size_t)mesh->element_count, &groups->elements);
    if (status != EG_OK) return status;
    for (int32_t e = 0; e < mesh->element_count; e++)
        groups->groups[element_group(mesh, e)].count++;
    int64_t first = 0;
    for (int g = 0; g < groups->element_groups; g++) {
        groups->groups[g].first = first;
        first += groups->groups[g].count;
        groups->groups[g].count = 0;
    }
    for (int32_t i = 0; i < mesh->element_count; i++) {
        eg_gmsh_group *group = &groups->groups[element_group(mesh, by_global[i])];
        groups->elements[group->first + group->count++] = by_global[i];
    }
    return EG_OK;
}

/* --- faces ------------------------------------------------------------------------------------ */

/* Passes over all faces in order and counts those of each group; with `fill` it puts them in
 * place as well. Returns how many are joined by no translation. */
static int64_t visit_faces(eg_gmsh_groups *groups, const eg_gmsh_numbering *numbering,
                           const int32_t *by_global, bool fill)
{
    const eg_mesh *mesh = groups->mesh;
    int64_t not_translated = 0;
    for (int g = groups->element_groups; g < groups->group_count; g++)
        groups->groups[g].count = 0;
    for (int32_t i = 0; i < mesh->element_count; i++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[by_global[i]])->faces;
        for (int f = 0; f < faces; f++) {
            const eg_gmsh_face face = {by_global[i], f};
            const int g = face_group(groups, numbering, &face);
            not_translated += g == NOT_TRANSLATED;
            if (g < 0 || g >= groups->group_count) continue;
            eg_gmsh_group *group = &groups->groups[g];
            if (fill) groups->faces[group->first + group->count] = face;
            group->count++;
        }
    }
    return not_translated;
}

/* Finds the links, then counts faces, then fills them in. */
static eg_status collect_faces(eg_gmsh_groups *groups, const eg_gmsh_numbering *numbering,
                               const int32_t *by_global)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = groups->mesh;
    const int64_t not_translated = visit_faces(groups, numbering, by_global, false);
    if (not_translated > 0) {
        eg_log(mesh->ctx, EG_LOG_WARNING,
               "%lld faces are joined to others that are not a translation away: the Gmsh file has "
               "neither them nor other periodic faces",
               (long long)not_translated);
        groups->link_count = 0;
    }
    sort_links(groups);
    const int link_count = groups->link_count;
    groups->group_count = EG_GMSH_MASTER(groups, link_count);
    visit_faces(groups, numbering, by_global, false);
    for (int g = groups->element_groups; g < groups->group_count; g++) {
        groups->groups[g].first = groups->face_count;
        groups->face_count += groups->groups[g].count;
    }
    EG_TRY(eg_new(mesh->ctx, (size_t)groups->face_count, &groups->faces));
    visit_faces(groups, numbering, by_global, true);
    groups->link_count = link_count; /* visits find again what was given up */
done:
    return status;
}

/* Lists which groups of faces bound which groups of elements. */
static eg_status find_bounds(eg_gmsh_groups *groups)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = groups->mesh;
    uint64_t *keys = NULL;
    int32_t *order = NULL;
    size_t count = 0;
    EG_TRY(eg_new(mesh->ctx, (size_t)groups->face_count, &keys));
    EG_TRY(eg_new(mesh->ctx, (size_t)groups->face_count, &order));
    for (int g = groups->element_groups; g < groups->group_count; g++) {
        const eg_gmsh_group *group = &groups->groups[g];
        for (int64_t i = group->first; i < group->first + group->count; i++) {
            const int elements = element_group(mesh, groups->faces[i].element);
            keys[count++] = (uint64_t)elements * (uint64_t)groups->group_count + (uint64_t)g;
        }
    }
    EG_TRY(eg_sort_keys(mesh->ctx, count, keys, order));
    EG_TRY(eg_new(mesh->ctx, count, &groups->bounds));
    for (size_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1])
            groups->bounds[groups->bound_count++] =
                (eg_gmsh_bound){(int)(keys[i] / (uint64_t)groups->group_count),
                                (int)(keys[i] % (uint64_t)groups->group_count)};
done:
    eg_release(mesh->ctx, &order);
    eg_release(mesh->ctx, &keys);
    return status;
}

/* --- nodes ------------------------------------------------------------------------------------ */

static void extend_box(eg_gmsh_group *group, int dim, const double *x)
{
    for (int d = 0; d < dim; d++) {
        group->low[d] = fmin(group->low[d], x[d]);
        group->high[d] = fmax(group->high[d], x[d]);
    }
}

/* Marks nodes of a group as its own, unless another group has them. */
static void claim_nodes(eg_gmsh_groups *groups, int g, const eg_gmsh_numbering *numbering,
                        int count, const int64_t *nodes, int *owner)
{
    const int dim = groups->mesh->dim;
    eg_gmsh_group *group = &groups->groups[g];
    for (int k = 0; k < count; k++) {
        extend_box(group, dim, &numbering->x[nodes[k] * dim]);
        if (owner[nodes[k]] < 0) owner[nodes[k]] = g;
    }
}

/* owner [nodes]: the group of each. */
static void find_owners(eg_gmsh_groups *groups, const eg_gmsh_numbering *numbering, int *owner)
{
    for (int64_t i = 0; i < numbering->count; i++)
        owner[i] = -1;
    for (int g = 0; g < groups->group_count; g++)
        for (int d = 0; groups->groups[g].count > 0 && d < groups->mesh->dim; d++) {
            groups->groups[g].low[d] = INFINITY;
            groups->groups[g].high[d] = -INFINITY;
        }
    for (int g = groups->element_groups; g < groups->group_count; g++) {
        const eg_gmsh_group *group = &groups->groups[g];
        for (int64_t i = group->first; i < group->first + group->count; i++) {
            int64_t nodes[EG_GMSH_FACE_NODES_MAX];
            const int count = eg_gmsh_group_face_nodes(numbering, &groups->faces[i], nodes, NULL);
            claim_nodes(groups, g, numbering, count, nodes, owner);
        }
    }
    for (int g = 0; g < groups->element_groups; g++) {
        const eg_gmsh_group *group = &groups->groups[g];
        for (int64_t i = group->first; i < group->first + group->count; i++) {
            int count;
            const int64_t *nodes = eg_gmsh_element_nodes(numbering, groups->elements[i], &count);
            claim_nodes(groups, g, numbering, count, nodes, owner);
        }
    }
    for (int64_t i = 0; i < numbering->count; i++)
        if (owner[i] < 0) owner[i] = 0; /* no element has it */
}

static eg_status sort_nodes(eg_gmsh_groups *groups, const eg_gmsh_numbering *numbering)
{
    eg_status status = EG_OK;
    eg_context *ctx = groups->mesh->ctx;
    int *owner = NULL; /* [nodes] group */
    EG_TRY(eg_new(ctx, (size_t)numbering->count, &owner));
    EG_TRY(eg_new(ctx, (size_t)numbering->count, &groups->nodes));
    find_owners(groups, numbering, owner);
    for (int64_t i = 0; i < numbering->count; i++)
        groups->groups[owner[i]].node_count++;
    int64_t first = 0;
    for (int g = 0; g < groups->group_count; g++) {
        groups->groups[g].node_first = first;
        first += groups->groups[g].node_count;
        groups->groups[g].node_count = 0;
    }
    for (int64_t i = 0; i < numbering->count; i++) {
        eg_gmsh_group *group = &groups->groups[owner[i]];
        groups->nodes[group->node_first + group->node_count++] = i;
    }
done:
    eg_release(ctx, &owner);
    return status;
}

eg_status eg_gmsh_find_groups(const eg_gmsh_numbering *numbering, const int32_t *by_global,
                              eg_gmsh_groups *groups)
{
    eg_status status = EG_OK;
    const eg_mesh *mesh = numbering->mesh;
    *groups =
        (eg_gmsh_groups){.mesh = mesh, .element_groups = mesh->group_count ? mesh->group_count : 1};
    groups->group_count = EG_GMSH_MASTER(groups, EG_GMSH_LINKS_MAX);
    EG_TRY(eg_new(mesh->ctx, (size_t)groups->group_count, &groups->groups));
    EG_TRY(collect_elements(groups, by_global));
    EG_TRY(collect_faces(groups, numbering, by_global));
    EG_TRY(find_bounds(groups));
    EG_TRY(sort_nodes(groups, numbering));
done:
    if (status != EG_OK) eg_gmsh_groups_free(groups);
    return status;
}

void eg_gmsh_groups_free(eg_gmsh_groups *groups)
{
    if (!groups->mesh) return;
    eg_context *ctx = groups->mesh->ctx;
    eg_release(ctx, &groups->nodes);
    eg_release(ctx, &groups->bounds);
    eg_release(ctx, &groups->faces);
    eg_release(ctx, &groups->elements);
    eg_release(ctx, &groups->groups);
    *groups = (eg_gmsh_groups){0};
}
