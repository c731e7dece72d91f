/* Cuts one rank's part out of a whole mesh, with ghosts and the lists of what ranks exchange.
 *
 * Every rank derives its lists from the same whole mesh, so that they agree without a message. That
 * it is the same is not taken for granted: other machines may have another libm or METIS, and one bit
 * of a coordinate can change the order of elements. Ranks compare hashes of all of it. */
#include "mesh/build.h"

#include <assert.h>
#include <string.h>

/* A cut while it is made. Elements keep two names: `whole` ones and the part's own. */
typedef struct cut {
    const eg_mesh *whole;
    const int32_t *part;
    int rank;
    int32_t own, interior, ghosts;
    int32_t *element; /* [own + ghosts] the whole mesh's number of each of this part's; owned */
    int32_t *number;  /* [whole elements] 1 + this part's number; 0: neither own nor ghost; owned */
} cut;

static int faces_of(const eg_mesh *mesh, int32_t element)
{
    return eg_shape_get_info((eg_shape)mesh->shape[element])->faces;
}

static bool touches_another(const cut *c, int32_t element)
{
    const int32_t *neighbour = &c->whole->neighbour[(int64_t)element * c->whole->face_stride];
    int faces = faces_of(c->whole, element);
    for (int f = 0; f < faces; f++) {
        if (neighbour[f] >= 0 && c->part[neighbour[f]] != c->rank) return true;
    }
    return false;
}

/* Sorts elements of the whole mesh by rank, then by global number. */
static eg_status sort_by_owner(const cut *c, int32_t count, int32_t *elements)
{
    eg_status status = EG_OK;
    uint64_t *keys = NULL;
    EG_TRY(eg_new(c->whole->ctx, (size_t)count, &keys));
    for (int32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)c->whole->global[elements[i]];
    EG_TRY(eg_sort_keys(c->whole->ctx, (size_t)count, keys, elements));
    for (int32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)c->part[elements[i]];
    EG_TRY(eg_sort_keys(c->whole->ctx, (size_t)count, keys, elements));
done:
    eg_release(c->whole->ctx, &keys);
    return status;
}

/* Finds own elements, those without ghosts first, and ghosts. */
static eg_status choose_elements(cut *c)
{
    eg_status status = EG_OK;
    const eg_mesh *whole = c->whole;
    EG_TRY(eg_new(whole->ctx, (size_t)whole->element_count, &c->number));
    for (int32_t e = 0; e < whole->element_count; e++) {
        if (c->part[e] != c->rank) continue;
        c->own++;
        if (!touches_another(c, e)) {
            c->interior++;
            continue;
        }
        const int32_t *neighbour = &whole->neighbour[(int64_t)e * whole->face_stride];
        int faces = faces_of(whole, e);
        for (int f = 0; f < faces; f++) {
            int32_t n = neighbour[f];
            if (n < 0 || c->part[n] == c->rank || c->number[n]) continue;
            c->number[n] = 1;
            c->ghosts++;
        }
    }
    EG_TRY(eg_new(whole->ctx, (size_t)c->own + (size_t)c->ghosts, &c->element));
    int32_t interior = 0, border = c->interior, ghost = c->own;
    for (int32_t e = 0; e < whole->element_count; e++) {
        if (c->part[e] != c->rank) {
            if (c->number[e]) c->element[ghost++] = e;
        } else {
            c->element[touches_another(c, e) ? border++ : interior++] = e;
        }
    }
    EG_TRY(sort_by_owner(c, c->ghosts, c->element + c->own));
    for (int32_t i = 0; i < c->own + c->ghosts; i++)
        c->number[c->element[i]] = i + 1;
done:
    return status;
}

static void copy_elements(const cut *c, eg_mesh *mesh)
{
    const eg_mesh *whole = c->whole;
    size_t faces = (size_t)whole->face_stride;
    size_t node_values = (size_t)whole->node_stride * (size_t)whole->dim;
    for (int32_t i = 0; i < c->own + c->ghosts; i++) {
        int32_t e = c->element[i];
        mesh->shape[i] = whole->shape[e];
        mesh->global[i] = whole->global[e];
        if (whole->group_of) mesh->group_of[i] = whole->group_of[e];
        if (whole->nodes)
            memcpy(&mesh->nodes[(size_t)i * node_values], &whole->nodes[(size_t)e * node_values],
                   node_values * sizeof *mesh->nodes);
        if (i >= c->own) continue;
        int own_faces = faces_of(whole, e);
        const int32_t *neighbour = &whole->neighbour[(size_t)e * faces];
        for (int f = 0; f < own_faces; f++) {
            int32_t n = neighbour[f];
            mesh->neighbour[(size_t)i * faces + (size_t)f] = n < 0 ? n : c->number[n] - 1;
        }
        memcpy(&mesh->neighbour_face[(size_t)i * faces], &whole->neighbour_face[(size_t)e * faces],
               faces * sizeof *mesh->neighbour_face);
    }
}

/* Vertices are numbered as the part's elements use them: number [whole vertices] 1 + the part's. */
static int64_t number_vertices(const cut *c, int32_t *number)
{
    const eg_mesh *whole = c->whole;
    int32_t used = 0;
    for (int32_t i = 0; i < c->own + c->ghosts; i++) {
        int32_t e = c->element[i];
        const int32_t *v = &whole->vertices[(int64_t)e * whole->vertex_stride];
        int count = eg_shape_get_info((eg_shape)whole->shape[e])->vertices;
        for (int k = 0; k < count; k++) {
            if (!number[v[k]]) number[v[k]] = ++used;
        }
    }
    return used;
}

static void copy_vertices(const cut *c, const int32_t *number, eg_mesh *mesh)
{
    const eg_mesh *whole = c->whole;
    size_t dim = (size_t)whole->dim;
    for (int64_t v = 0; v < whole->vertex_count; v++) {
        if (!number[v]) continue;
        memcpy(&mesh->x[(size_t)(number[v] - 1) * dim], &whole->x[(size_t)v * dim],
               dim * sizeof *mesh->x);
    }
    for (int32_t i = 0; i < c->own + c->ghosts; i++) {
        int32_t e = c->element[i];
        int count = eg_shape_get_info((eg_shape)whole->shape[e])->vertices;
        for (int k = 0; k < count; k++) {
            int32_t v = whole->vertices[(int64_t)e * whole->vertex_stride + k];
            mesh->vertices[(int64_t)i * mesh->vertex_stride + k] = number[v] - 1;
        }
    }
}

/* --- links ------------------------------------------------------------------------------------ */

/* The own elements beside ghosts [first, first + count), ascending by global number. */
static eg_status fill_send(const cut *c, eg_mesh *mesh, eg_mesh_link *link)
{
    eg_status status = EG_OK;
    int32_t *elements = NULL; /* as the whole mesh numbers them */
    int32_t first = link->receive_first, end = first + link->receive_count, count = 0;
    EG_TRY(eg_new(mesh->ctx, (size_t)(c->own - c->interior), &elements));
    for (int32_t e = c->interior; e < c->own; e++) {
        const int32_t *neighbour = &mesh->neighbour[(int64_t)e * mesh->face_stride];
        int faces = faces_of(mesh, e);
        bool beside = false;
        for (int f = 0; f < faces; f++)
            beside = beside || (neighbour[f] >= first && neighbour[f] < end);
        if (beside) elements[count++] = c->element[e];
    }
    EG_TRY(sort_by_owner(c, count, elements));
    EG_TRY(eg_new(mesh->ctx, (size_t)count, &link->send));
    link->send_count = count;
    for (int32_t i = 0; i < count; i++)
        link->send[i] = c->number[elements[i]] - 1;
done:
    eg_release(mesh->ctx, &elements);
    return status;
}

static eg_status link_ranks(const cut *c, eg_mesh *mesh)
{
    eg_status status = EG_OK;
    int count = 0;
    const int32_t *ghost = c->element + c->own;
    for (int32_t g = 0; g < c->ghosts; g++)
        count += g == 0 || c->part[ghost[g]] != c->part[ghost[g - 1]];
    EG_TRY(eg_new(mesh->ctx, (size_t)count, &mesh->links));
    mesh->link_count = count;
    int links = 0;
    for (int32_t g = 0; g < c->ghosts; g++) {
        int rank = c->part[ghost[g]];
        if (g == 0 || rank != mesh->links[links - 1].rank)
            mesh->links[links++] = (eg_mesh_link){.rank = rank, .receive_first = c->own + g};
        mesh->links[links - 1].receive_count++;
    }
    for (int l = 0; l < count; l++)
        EG_TRY(fill_send(c, mesh, &mesh->links[l]));
done:
    return status;
}

/* --- all of it -------------------------------------------------------------------------------- */

static eg_status check_part(const eg_mesh *whole, int size, const int32_t *part)
{
    for (int32_t e = 0; e < whole->element_count; e++) {
        if (part[e] < 0 || part[e] >= size)
            return eg_fail(whole->ctx, EG_ERROR_ARGUMENT,
                           "element %lld belongs to rank %d; there are ranks 0 to %d",
                           (long long)whole->global[e], part[e], size - 1);
    }
    return EG_OK;
}

static eg_status copy_reference(const eg_mesh *whole, eg_mesh *mesh)
{
    eg_status status = EG_OK;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        if (!whole->reference[s]) continue;
        int nodes = eg_mode_count((eg_shape)s, whole->order);
        size_t count = (size_t)nodes * (size_t)whole->dim;
        EG_TRY(eg_new(mesh->ctx, count, &mesh->reference[s]));
        memcpy(mesh->reference[s], whole->reference[s], count * sizeof *mesh->reference[s]);
    }
done:
    return status;
}

eg_status eg_mesh_cut(const eg_mesh *whole, int rank, int size, const int32_t *part, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_context *ctx = whole->ctx;
    cut c = {.whole = whole, .part = part, .rank = rank};
    eg_mesh *mesh = NULL;
    int32_t *vertex_number = NULL;
    *out = NULL;
    assert(whole->ghost_count == 0 && rank >= 0 && rank < size);
    EG_TRY(check_part(whole, size, part));
    EG_TRY(choose_elements(&c));
    EG_TRY(eg_new(ctx, (size_t)whole->vertex_count, &vertex_number));
    eg_mesh sizes = {.ctx = ctx,
                     .dim = whole->dim,
                     .vertex_count = number_vertices(&c, vertex_number),
                     .element_count = c.own,
                     .ghost_count = c.ghosts,
                     .interior_count = c.interior,
                     .global_count = whole->global_count,
                     .vertex_stride = whole->vertex_stride,
                     .face_stride = whole->face_stride,
                     .order = whole->order,
                     .node_stride = whole->node_stride,
                     .group_count = whole->group_count};
    EG_TRY(eg_mesh_allocate(&sizes, &mesh));
    EG_TRY(copy_reference(whole, mesh));
    EG_TRY(eg_mesh_copy_names(whole, mesh));
    copy_elements(&c, mesh);
    copy_vertices(&c, vertex_number, mesh);
    EG_TRY(link_ranks(&c, mesh));
    *out = mesh;
    mesh = NULL;
done:
    eg_release(ctx, &vertex_number);
    eg_mesh_destroy(&mesh);
    eg_release(ctx, &c.number);
    eg_release(ctx, &c.element);
    return status;
}

/* --- agreement -------------------------------------------------------------------------------- */

static uint64_t add_bytes(uint64_t hash, const void *data, size_t bytes)
{
    const unsigned char *from = data;
    for (size_t i = 0; i < bytes; i += sizeof hash) {
        uint64_t word = 0;
        memcpy(&word, from + i, bytes - i < sizeof word ? bytes - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return (hash ^ bytes) * 0x9e3779b97f4a7c15u;
}

static uint64_t add_names(uint64_t hash, int count, char *const *names)
{
    hash = add_bytes(hash, &count, sizeof count);
    for (int i = 0; i < count; i++)
        hash = add_bytes(hash, names[i], strlen(names[i]));
    return hash;
}

eg_mesh_digest eg_mesh_digest_of(const eg_mesh *whole, const int32_t *part)
{
    size_t count = (size_t)whole->element_count, dim = (size_t)whole->dim;
    size_t vertices = count * (size_t)whole->vertex_stride,
           faces = count * (size_t)whole->face_stride;
    uint64_t mesh = 0;
    mesh = add_bytes(mesh, whole->shape, count * sizeof *whole->shape);
    mesh = add_bytes(mesh, whole->global, count * sizeof *whole->global);
    mesh = add_bytes(mesh, whole->vertices, vertices * sizeof *whole->vertices);
    mesh = add_bytes(mesh, whole->neighbour, faces * sizeof *whole->neighbour);
    mesh = add_bytes(mesh, whole->neighbour_face, faces * sizeof *whole->neighbour_face);
    mesh = add_bytes(mesh, whole->x, (size_t)whole->vertex_count * dim * sizeof *whole->x);
    if (whole->nodes)
        mesh = add_bytes(mesh, whole->nodes,
                         count * (size_t)whole->node_stride * dim * sizeof *whole->nodes);
    if (whole->group_of) mesh = add_bytes(mesh, whole->group_of, count * sizeof *whole->group_of);
    mesh = add_names(mesh, whole->boundary_count, whole->boundary);
    mesh = add_names(mesh, whole->group_count, whole->group);
    return (eg_mesh_digest){.mesh = mesh, .part = add_bytes(0, part, count * sizeof *part)};
}

eg_status eg_mesh_compare_digests(eg_context *ctx, int size, const eg_mesh_digest *digests)
{
    for (int r = 1; r < size; r++) {
        if (digests[r].mesh != digests[0].mesh)
            return eg_fail(
                ctx, EG_ERROR_UNSUPPORTED,
                "rank %d has made another mesh than rank 0, if only by a last bit; use "
                "the same eagre, mathematical library and kind of processor on all ranks",
                r);
        if (digests[r].part != digests[0].part)
            return eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                           "rank %d has divided the mesh in another way than rank 0; use the same "
                           "eagre and METIS on all ranks, or mesh.partition = \"hilbert\"",
                           r);
    }
    return EG_OK;
}

eg_status eg_mesh_distribute(const eg_mesh *whole, eg_comm *comm, const int32_t *part,
                             eg_mesh **out)
{
    eg_status status = EG_OK;
    int size = eg_comm_size(comm);
    eg_mesh_digest *digests = NULL; /* [size] */
    eg_mesh_digest mine = eg_mesh_digest_of(whole, part);
    *out = NULL;
    EG_TRY(eg_new(whole->ctx, (size_t)size, &digests));
    EG_TRY(eg_comm_allgather(comm, sizeof mine, &mine, digests));
    EG_TRY(eg_mesh_compare_digests(whole->ctx, size, digests));
    EG_TRY(eg_mesh_cut(whole, eg_comm_rank(comm), size, part, out));
done:
    eg_release(whole->ctx, &digests);
    return status;
}
