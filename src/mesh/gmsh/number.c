/* One number for every node of a mesh that is written for Gmsh.
 *
 * A node on an edge or a face is known by the vertices of that edge or face and the weights that
 * a (multi)linear mapping would give them, whichever way round an element sees the face. A hash
 * table of these keys finds the nodes that elements share; the time is linear. Coordinates of
 * curved elements are those of their polynomial at the equidistant nodes. */
#include "mesh/gmsh/number.h"

#include "mesh/build.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Points that are nearer than this part of the element's or face's size are one. */
#define TOLERANCE 1e-6

/* What holds a node of an element: `count` of its vertices. */
typedef struct support {
    int count;
    int8_t vertex[EG_MAX_VERTICES];
    uint16_t weight[EG_MAX_VERTICES];
} support;

struct eg_gmsh_layout {
    int count;
    support at[EG_GMSH_NODES_MAX]; /* [count] */
    double *interp; /* [count][count] Lobatto → equidistant; NULL: straight; owned */
};

/* The weights of the shape's vertices at a point of the lattice. They sum to order³ in every
 * shape, so that all elements around an edge agree. */
static support find_support(eg_shape shape, int order, const int8_t point[3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    support found = {0};
    for (int v = 0; v < info->vertices; v++) {
        int weight = order * order * order;
        if (info->tensor) {
            for (int d = 0; d < info->dim; d++)
                weight = weight / order * (info->r[v][d] > 0.0 ? point[d] : order - point[d]);
        } else {
            weight =
                weight / order * (v == 0 ? order - point[0] - point[1] - point[2] : point[v - 1]);
        }
        if (weight == 0) continue;
        found.vertex[found.count] = (int8_t)v;
        found.weight[found.count++] = (uint16_t)weight;
    }
    return found;
}

/* Interpolation from the nodes of a curved element to Gmsh's. Where two nodes coincide, values
 * are kept to the last bit: what rounding alone keeps from 0 or 1 is put there. */
static eg_status create_interp(eg_context *ctx, eg_shape shape, int order, int count,
                               int8_t lattice[][3], double **out)
{
    eg_status status = EG_OK;
    eg_element *element = NULL;
    double *points = NULL; /* [dim][count] */
    double *interp = NULL;
    const int dim = eg_shape_get_info(shape)->dim;
    EG_TRY(eg_element_create(ctx, shape, order, EG_BASIS_LOBATTO, &element));
    assert(element->np == count);
    EG_TRY(eg_new(ctx, (size_t)(dim * count), &points));
    EG_TRY(eg_new(ctx, (size_t)count * (size_t)count, &interp));
    for (int d = 0; d < dim; d++)
        for (int i = 0; i < count; i++)
            points[d * count + i] = (2.0 * lattice[i][d] - order) / order;
    EG_TRY(eg_element_evaluate(element, count, points, interp));
    for (int i = 0; i < count * count; i++) {
        const double nearest = round(interp[i]);
        if (fabs(interp[i] - nearest) < 1e-12) interp[i] = nearest;
    }
    *out = interp;
    interp = NULL;
done:
    eg_release(ctx, &interp);
    eg_release(ctx, &points);
    eg_element_destroy(&element);
    return status;
}

static eg_status create_layout(eg_gmsh_numbering *numbering, eg_shape shape, bool interpolate)
{
    eg_status status = EG_OK;
    eg_context *ctx = numbering->mesh->ctx;
    const int order = numbering->order;
    int8_t lattice[EG_GMSH_NODES_MAX][3];
    if (numbering->layouts[shape]) return EG_OK; /* two shapes have faces of this one */
    EG_TRY(eg_new(ctx, 1, &numbering->layouts[shape]));
    eg_gmsh_layout *layout = numbering->layouts[shape];
    layout->count = eg_gmsh_nodes(shape, order, lattice);
    for (int i = 0; i < layout->count; i++)
        layout->at[i] = find_support(shape, order, lattice[i]);
    if (interpolate)
        EG_TRY(create_interp(ctx, shape, order, layout->count, lattice, &layout->interp));
done:
    return status;
}

static eg_status create_layouts(eg_gmsh_numbering *numbering)
{
    eg_status status = EG_OK;
    bool present[EG_SHAPE_COUNT];
    eg_mesh_shapes_present(numbering->mesh, present);
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (!present[s]) continue;
        EG_TRY(create_layout(numbering, eg_shape_get_info((eg_shape)s)->face_shape, false));
        EG_TRY(create_layout(numbering, (eg_shape)s, numbering->order > 1));
        if (numbering->layouts[s]->count > numbering->stride)
            numbering->stride = numbering->layouts[s]->count;
    }
done:
    return status;
}

/* --- vertices --------------------------------------------------------------------------------- */

int eg_gmsh_face_vertices(const eg_gmsh_numbering *numbering, const eg_gmsh_face *face,
                          int32_t *vertices)
{
    const eg_mesh *mesh = numbering->mesh;
    const eg_shape_info *info = eg_shape_get_info((eg_shape)mesh->shape[face->element]);
    const int32_t *all = &mesh->vertices[(int64_t)face->element * mesh->vertex_stride];
    for (int i = 0; i < info->face_vertices; i++)
        vertices[i] = numbering->vertex[all[info->face[face->face][i]]];
    return info->face_vertices;
}

int eg_gmsh_joined_vertices(const eg_gmsh_numbering *numbering, const eg_gmsh_face *face,
                            int32_t *vertices)
{
    const eg_mesh *mesh = numbering->mesh;
    const int64_t slot = (int64_t)face->element * mesh->face_stride + face->face;
    const uint8_t byte = mesh->neighbour_face[slot];
    const eg_gmsh_face neighbour = {mesh->neighbour[slot], EG_FACE(byte)};
    int32_t theirs[EG_MAX_FACE_VERTICES];
    const int n = eg_gmsh_face_vertices(numbering, &neighbour, theirs);
    for (int i = 0; i < n; i++)
        vertices[i] = theirs[eg_orientation_vertex(n, EG_ORIENTATION(byte), i)];
    return n;
}

/* The vertex that stands for v and all that lie upon it: the lowest. */
static int32_t find_vertex(int32_t *vertex, int32_t v)
{
    while (vertex[v] != v)
        v = vertex[v] = vertex[vertex[v]];
    return v;
}

/* True if each vertex of the one face lies upon that of the other. */
static bool lie_together(const eg_mesh *mesh, int n, const int32_t *mine, const int32_t *theirs)
{
    double size = 0.0, apart = 0.0;
    for (int i = 0; i < n; i++) {
        for (int d = 0; d < mesh->dim; d++) {
            const double x = mesh->x[(int64_t)mine[i] * mesh->dim + d];
            size = fmax(size, fabs(x - mesh->x[(int64_t)mine[0] * mesh->dim + d]));
            apart = fmax(apart, fabs(x - mesh->x[(int64_t)theirs[i] * mesh->dim + d]));
        }
    }
    return apart <= TOLERANCE * size;
}

/* Gives each vertex its node; those of joined faces that lie upon each other have one. Until
 * they are numbered, `vertex` says of each another one that it lies upon, or itself. */
static eg_status number_vertices(eg_gmsh_numbering *numbering)
{
    const eg_mesh *mesh = numbering->mesh;
    eg_status status = eg_new(mesh->ctx, (size_t)mesh->vertex_count, &numbering->vertex);
    if (status != EG_OK) return status;
    int32_t *vertex = numbering->vertex;
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        vertex[v] = v;
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            const eg_gmsh_face face = {e, f};
            int32_t mine[EG_MAX_FACE_VERTICES] = {0}, theirs[EG_MAX_FACE_VERTICES] = {0};
            if (mesh->neighbour[(int64_t)e * mesh->face_stride + f] < 0) continue;
            const int n = eg_gmsh_face_vertices(numbering, &face, mine);
            eg_gmsh_joined_vertices(numbering, &face, theirs);
            if (memcmp(mine, theirs, (size_t)n * sizeof mine[0]) == 0) continue;
            if (!lie_together(mesh, n, mine, theirs)) continue;
            for (int i = 0; i < n; i++) {
                const int32_t a = find_vertex(vertex, mine[i]), b = find_vertex(vertex, theirs[i]);
                vertex[a > b ? a : b] = a > b ? b : a;
            }
        }
    }
    /* What stands for v is v itself or lower, and has its number by now. */
    for (int32_t v = 0; v < mesh->vertex_count; v++)
        vertex[v] = vertex[v] == v ? (int32_t)numbering->count++ : vertex[vertex[v]];
    return EG_OK;
}

/* --- shared nodes ----------------------------------------------------------------------------- */

/* `vertices` are the nodes at the vertices. */
static eg_gmsh_key make_key(const support *at, const int32_t *vertices)
{
    eg_gmsh_key key = {.vertex = {-1, -1, -1, -1}};
    assert(at->count <= EG_MAX_FACE_VERTICES);
    for (int i = 0; i < at->count; i++) {
        const int32_t vertex = vertices[at->vertex[i]];
        int place = i;
        for (; place > 0 && key.vertex[place - 1] > vertex; place--) {
            key.vertex[place] = key.vertex[place - 1];
            key.weight[place] = key.weight[place - 1];
        }
        key.vertex[place] = vertex;
        key.weight[place] = at->weight[i];
    }
    return key;
}

static bool equal_keys(const eg_gmsh_key *a, const eg_gmsh_key *b)
{
    return memcmp(a->vertex, b->vertex, sizeof a->vertex) == 0 &&
           memcmp(a->weight, b->weight, sizeof a->weight) == 0;
}

static uint64_t hash_key(const eg_gmsh_key *key)
{
    uint64_t hash = 0;
    for (int i = 0; i < EG_MAX_FACE_VERTICES; i++) {
        hash ^= (uint64_t)(uint32_t)key->vertex[i] << 16 | key->weight[i];
        hash *= 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* The slot of a key, or the free one where it belongs. */
static eg_gmsh_slot *find_slot(const eg_gmsh_numbering *numbering, const eg_gmsh_key *key)
{
    uint64_t place = hash_key(key) & numbering->slot_mask;
    while (numbering->slots[place].node && !equal_keys(&numbering->slots[place].key, key))
        place = (place + 1) & numbering->slot_mask;
    return &numbering->slots[place];
}

/* Makes room for `extra` more keys: at most half of the slots are ever taken. */
static eg_status reserve_slots(eg_gmsh_numbering *numbering, uint64_t extra)
{
    uint64_t size = numbering->slots ? numbering->slot_mask + 1 : 1024;
    while (size < 2 * (numbering->slots_used + extra))
        size *= 2;
    if (numbering->slots && size == numbering->slot_mask + 1) return EG_OK;

    eg_gmsh_slot *old = numbering->slots, *fresh = NULL;
    const uint64_t old_size = old ? numbering->slot_mask + 1 : 0;
    eg_status status = eg_new(numbering->mesh->ctx, (size_t)size, &fresh);
    if (status != EG_OK) return status;
    numbering->slots = fresh;
    numbering->slot_mask = size - 1;
    for (uint64_t i = 0; i < old_size; i++)
        if (old[i].node) *find_slot(numbering, &old[i].key) = old[i];
    eg_release(numbering->mesh->ctx, &old);
    return EG_OK;
}

/* --- elements --------------------------------------------------------------------------------- */

/* Numbers the nodes of an element that are not yet numbered. A node that all vertices hold is
 * its own. */
static eg_status number_element(eg_gmsh_numbering *numbering, int32_t element)
{
    const eg_mesh *mesh = numbering->mesh;
    const eg_shape shape = (eg_shape)mesh->shape[element];
    const eg_gmsh_layout *layout = numbering->layouts[shape];
    const int vertex_count = eg_shape_get_info(shape)->vertices;
    int32_t vertices[EG_MAX_VERTICES];
    int64_t *nodes = &numbering->nodes[(int64_t)element * numbering->stride];
    eg_status status = reserve_slots(numbering, (uint64_t)layout->count);
    if (status != EG_OK) return status;
    for (int v = 0; v < vertex_count; v++)
        vertices[v] = numbering->vertex[mesh->vertices[(int64_t)element * mesh->vertex_stride + v]];
    for (int i = 0; i < layout->count; i++) {
        const support *at = &layout->at[i];
        if (at->count == 1) {
            nodes[i] = vertices[at->vertex[0]];
        } else if (at->count == vertex_count) {
            nodes[i] = numbering->count++;
        } else {
            const eg_gmsh_key key = make_key(at, vertices);
            eg_gmsh_slot *slot = find_slot(numbering, &key);
            if (!slot->node) {
                *slot = (eg_gmsh_slot){.key = key, .node = ++numbering->count};
                numbering->slots_used++;
            }
            nodes[i] = slot->node - 1;
        }
    }
    return EG_OK;
}

/* Places the nodes of a curved element. Those at vertices are there, and those that another element
 * has placed must lie where this one sees them. */
static eg_status place_nodes(eg_gmsh_numbering *numbering, int32_t element)
{
    const eg_mesh *mesh = numbering->mesh;
    const int dim = mesh->dim;
    const eg_gmsh_layout *layout = numbering->layouts[mesh->shape[element]];
    const int64_t *nodes = &numbering->nodes[(int64_t)element * numbering->stride];
    const double *from = &mesh->nodes[(int64_t)element * mesh->node_stride * dim];
    double size = 0.0, apart = 0.0;
    for (int i = 0; i < layout->count; i++) {
        const double *row = &layout->interp[(int64_t)i * layout->count];
        double *at = &numbering->x[nodes[i] * dim];
        for (int d = 0; d < dim; d++) {
            double x = 0.0;
            for (int j = 0; j < layout->count; j++)
                x += row[j] * from[j * dim + d];
            if (isnan(at[d])) at[d] = x;
            apart = fmax(apart, fabs(x - at[d]));
            size = fmax(size, fabs(x - from[d]));
        }
    }
    if (apart > TOLERANCE * size)
        return eg_fail(mesh->ctx, EG_ERROR_INPUT,
                       "an edge or a face of element %lld has the same vertices as another that is "
                       "%.3g away: divide the mesh more finely there",
                       (long long)mesh->global[element], apart);
    return EG_OK;
}

eg_status eg_gmsh_number(const eg_mesh *mesh, const int32_t *elements, eg_gmsh_numbering *numbering)
{
    eg_status status = EG_OK;
    const int dim = mesh->dim;
    *numbering = (eg_gmsh_numbering){.mesh = mesh, .order = mesh->nodes ? mesh->order : 1};
    EG_TRY(create_layouts(numbering));
    EG_TRY(number_vertices(numbering));
    EG_TRY(eg_new(mesh->ctx, (size_t)mesh->element_count * (size_t)numbering->stride,
                  &numbering->nodes));
    for (int32_t i = 0; i < mesh->element_count; i++)
        EG_TRY(number_element(numbering, elements[i]));

    EG_TRY(eg_new(mesh->ctx, (size_t)(numbering->count * dim), &numbering->x));
    for (int64_t i = 0; i < numbering->count * dim; i++)
        numbering->x[i] = NAN;
    for (int64_t v = mesh->vertex_count - 1; v >= 0; v--)
        memcpy(&numbering->x[(int64_t)numbering->vertex[v] * dim], &mesh->x[v * dim],
               (size_t)dim * sizeof *mesh->x);
    if (numbering->order > 1)
        for (int32_t i = 0; i < mesh->element_count; i++)
            EG_TRY(place_nodes(numbering, elements[i]));
done:
    if (status != EG_OK) eg_gmsh_numbering_free(numbering);
    return status;
}

void eg_gmsh_numbering_free(eg_gmsh_numbering *numbering)
{
    if (!numbering->mesh) return;
    eg_context *ctx = numbering->mesh->ctx;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (numbering->layouts[s]) eg_release(ctx, &numbering->layouts[s]->interp);
        eg_release(ctx, &numbering->layouts[s]);
    }
    eg_release(ctx, &numbering->slots);
    eg_release(ctx, &numbering->nodes);
    eg_release(ctx, &numbering->x);
    eg_release(ctx, &numbering->vertex);
    *numbering = (eg_gmsh_numbering){0};
}

const int64_t *eg_gmsh_element_nodes(const eg_gmsh_numbering *numbering, int32_t element,
                                     int *count)
{
    *count = numbering->layouts[numbering->mesh->shape[element]]->count;
    return &numbering->nodes[(int64_t)element * numbering->stride];
}

int eg_gmsh_face_nodes(const eg_gmsh_numbering *numbering, eg_shape face_shape,
                       const int32_t *vertices, int64_t *nodes)
{
    const eg_gmsh_layout *layout = numbering->layouts[face_shape];
    for (int i = 0; i < layout->count; i++) {
        const support *at = &layout->at[i];
        const eg_gmsh_key key = make_key(at, vertices);
        if (at->count == 1) {
            nodes[i] = key.vertex[0];
        } else {
            nodes[i] = find_slot(numbering, &key)->node - 1;
            assert(nodes[i] >= 0);
        }
    }
    return layout->count;
}
