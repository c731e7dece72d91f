/* Spaces: the elements of a rank grouped by shape, degree and geometry, ordered, and laid out in
 * tiles of lanes on a device, with what kernels must know of them.
 *
 * An element's key says its group; groups are in the order of their keys, so that every rank agrees
 * on what a group is, but not on how many there are. Within a group each of three parts (interior,
 * next to another rank, ghosts) begins at a new tile and is ordered as rows.c says. */
#include "field/space.h"
#include "field/points.h"

#include <assert.h>
#include <inttypes.h>

#define DEGREES (EG_DEGREE_MAX_QUAD + 1)
#define KEYS (EG_SHAPE_COUNT * DEGREES * 2)
_Static_assert(KEYS <= UINT8_MAX, "a group's number is a byte");

/* Lanes per tile that every device has vectors or threads for. */
#define LANES_LEAST 4
#define LANES_MOST 64
_Static_assert(EG_SLOT_BLOCK % LANES_MOST == 0, "a block of slots is in one group");

/* About as many bytes are staged on the host at a time. */
#define STAGE_BYTES (1 << 22)

typedef enum part { INTERIOR, BOUNDARY, GHOST } part;
#define PARTS 3

/* How the elements fall into groups. */
typedef struct grouping {
    uint8_t *key;               /* [elements + ghosts] owned */
    int32_t count[KEYS][PARTS]; /* elements of each group and part */
    int group[KEYS];            /* the number of a key's group, -1: no element has it */
    int64_t next[KEYS][PARTS];  /* the slot that its next element takes */
    int64_t stop[KEYS][PARTS];  /* one behind the last slot of the part, padding included */
} grouping;

static uint8_t key_of(eg_shape shape, int degree, bool curved)
{
    return (uint8_t)(((int)shape * DEGREES + degree) * 2 + curved);
}

static eg_shape key_shape(int key)
{
    return (eg_shape)(key / (DEGREES * 2));
}

static int key_degree(int key)
{
    return key / 2 % DEGREES;
}

static bool key_curved(int key)
{
    return key % 2;
}

static part part_of(const eg_mesh *mesh, int32_t element)
{
    if (element >= mesh->element_count) return GHOST;
    return mesh->ghost_count == 0 || element < mesh->interior_count ? INTERIOR : BOUNDARY;
}

static int32_t all_elements(const eg_mesh *mesh)
{
    return mesh->element_count + mesh->ghost_count;
}

/* Finds the key of every element and counts. */
static eg_status classify(eg_space *space, const eg_space_options *options, grouping *g)
{
    const eg_mesh *mesh = space->mesh;
    for (int32_t e = 0; e < all_elements(mesh); e++) {
        int degree = options->degrees ? options->degrees[e] : options->degree;
        if (degree < 0 || degree >= DEGREES)
            return eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                           "element %" PRId64 " has degree %d; degrees are 0 to %d",
                           mesh->global[e], degree, DEGREES - 1);
        const bool curved = options->like ? eg_space_group_of(options->like, e)->curved
                                          : !eg_mesh_is_affine(mesh, e);
        g->key[e] = key_of((eg_shape)mesh->shape[e], degree, curved);
        g->count[g->key[e]][part_of(mesh, e)]++;
    }
    return EG_OK;
}

/* The element of that kind, made if the space has none yet. */
static eg_status find_element(eg_space *space, eg_shape shape, int degree, eg_basis basis,
                              const eg_element **out)
{
    for (int k = 0; k < space->element_kinds; k++) {
        const eg_element *e = space->elements[k];
        if (e->shape == shape && e->degree == degree && e->basis == basis) {
            *out = e;
            return EG_OK;
        }
    }
    eg_status status =
        eg_element_create(space->ctx, shape, degree, basis, &space->elements[space->element_kinds]);
    if (status != EG_OK) return status;
    *out = space->elements[space->element_kinds++];
    return EG_OK;
}

/* What the caller or the device prefers; on a GPU fewer where the values of one field on a tile
 * would not fit into the shared memory of a block. */
static int choose_lanes(const eg_space *space, const eg_space_options *options, int np)
{
    const eg_device_info *info = eg_device_get_info(space->device);
    if (options->lanes) return options->lanes;
    int lanes = info->lanes;
    while (info->is_gpu && lanes > LANES_LEAST &&
           (uint64_t)np * (uint64_t)lanes * sizeof(double) > info->shared_bytes)
        lanes /= 2;
    return lanes;
}

static int64_t round_up(int64_t n, int64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Makes the groups and gives each of their parts a range of slots. */
static eg_status make_groups(eg_space *space, const eg_space_options *options, grouping *g)
{
    eg_status status = EG_OK;
    for (int key = 0; key < KEYS; key++) {
        bool used = g->count[key][INTERIOR] || g->count[key][BOUNDARY] || g->count[key][GHOST];
        g->group[key] = used ? space->group_count++ : -1;
    }
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &space->groups));
    EG_TRY(eg_new(space->ctx, 2 * (size_t)space->group_count, &space->elements));
    for (int key = 0; key < KEYS; key++) {
        if (g->group[key] < 0) continue;
        const int32_t *count = g->count[key];
        eg_group *group = &space->groups[g->group[key]];
        group->shape = key_shape(key);
        group->degree = key_degree(key);
        group->curved = key_curved(key);
        EG_TRY(find_element(space, group->shape, group->degree, space->basis, &group->element));
        EG_TRY(find_element(space, group->shape, space->mesh->order, EG_BASIS_LOBATTO,
                            &group->geometry));
        group->lanes = choose_lanes(space, options, group->element->np);
        group->element_count = count[INTERIOR] + count[BOUNDARY];
        group->ghost_count = count[GHOST];
        group->first_slot = space->slot_count;
        int64_t slot = group->first_slot;
        for (int p = 0; p < PARTS; p++) {
            g->next[key][p] = slot;
            slot = g->stop[key][p] = slot + round_up(count[p], group->lanes);
        }
        group->interior_tiles = (g->stop[key][INTERIOR] - group->first_slot) / group->lanes;
        group->own_tiles = (g->stop[key][BOUNDARY] - group->first_slot) / group->lanes;
        group->tiles = (g->stop[key][GHOST] - group->first_slot) / group->lanes;
        space->slot_count = round_up(slot, EG_SLOT_BLOCK);
    }
    if (space->slot_count > INT32_MAX)
        status = eg_fail(space->ctx, EG_ERROR_UNSUPPORTED,
                         "the elements of this rank need %" PRId64 " places; at most %d can be "
                         "numbered: use more ranks",
                         space->slot_count, INT32_MAX);
done:
    return status;
}

/* How many elements a row may have: on a GPU the lanes of a tile, so that tiles that run side by side
 * are neighbours, too; on a CPU as many as caches hold of what the next row is a neighbour of. */
static int row_most(const eg_space *space)
{
    const eg_device_info *info = eg_device_get_info(space->device);
    return info->is_gpu ? info->lanes : 512;
}

/* Gives every element its slot, and what is left of each part's last tile to its last element. */
static eg_status assign_slots(eg_space *space, grouping *g)
{
    eg_context *ctx = space->ctx;
    const eg_mesh *mesh = space->mesh;
    eg_status status = EG_OK;
    uint16_t *kind = NULL; /* [elements + ghosts]: group and part */
    int32_t *order = NULL;
    EG_TRY(eg_new(ctx, (size_t)all_elements(mesh) + 1, &kind));
    EG_TRY(eg_new(ctx, (size_t)all_elements(mesh) + 1, &order));
    EG_TRY(eg_new(ctx, (size_t)all_elements(mesh), &space->slot_of_element));
    EG_TRY(eg_new(ctx, (size_t)(space->slot_count / EG_SLOT_BLOCK), &space->group_of_block));
    for (int i = 0; i < space->group_count; i++) {
        eg_group *group = &space->groups[i];
        int64_t slots = group->tiles * group->lanes;
        EG_TRY(eg_new(ctx, (size_t)slots, &group->element_of_slot));
        for (int64_t b = 0; b < round_up(slots, EG_SLOT_BLOCK); b += EG_SLOT_BLOCK)
            space->group_of_block[(group->first_slot + b) / EG_SLOT_BLOCK] = (uint8_t)i;
    }
    for (int32_t e = 0; e < all_elements(mesh); e++)
        kind[e] = (uint16_t)(g->group[g->key[e]] * PARTS + (int)part_of(mesh, e));
    EG_TRY(eg_space_order(mesh, kind, row_most(space), order));
    for (int32_t i = 0; i < all_elements(mesh); i++) {
        const int32_t e = order[i];
        int key = g->key[e];
        part p = part_of(mesh, e);
        eg_group *group = &space->groups[g->group[key]];
        int64_t slot = g->next[key][p]++;
        space->slot_of_element[e] = (int32_t)slot;
        group->element_of_slot[slot - group->first_slot] = e;
    }
    for (int key = 0; key < KEYS; key++)
        for (int p = 0; g->group[key] >= 0 && p < PARTS; p++) {
            eg_group *group = &space->groups[g->group[key]];
            int32_t *element = group->element_of_slot - group->first_slot;
            for (int64_t s = g->next[key][p]; s < g->stop[key][p]; s++)
                element[s] = element[s - 1];
        }
done:
    eg_release(ctx, &order);
    eg_release(ctx, &kind);
    return status;
}

/* --- what a group keeps on the device --------------------------------------------------------- */

/* Tiles [first, first + count) of one of a group's tables, written to `host`. */
typedef void fill_tiles(const eg_space *space, const eg_group *group, int64_t first, int64_t count,
                        void *host, double *scratch);

static void fill_weight(const eg_space *space, const eg_group *group, int64_t first, int64_t count,
                        void *host, double *scratch)
{
    (void)scratch;
    double *weight = host;
    for (int64_t k = 0; k < count * group->lanes; k++) {
        int64_t slot = first * group->lanes + k;
        int32_t element = group->element_of_slot[slot];
        bool counts = element < space->mesh->element_count &&
                      space->slot_of_element[element] == group->first_slot + slot;
        weight[k] = counts ? 1.0 : 0.0;
    }
}

/* Where the mesh's tables [elements][face_stride] have entry k of tiles [tile][face][lane]. */
static size_t place_in_mesh(const eg_space *space, const eg_group *group, int64_t k)
{
    const int faces = group->element->faces, lanes = group->lanes;
    int64_t tile = k / (faces * lanes), face = k / lanes % faces, lane = k % lanes;
    size_t element = (size_t)group->element_of_slot[tile * lanes + lane];
    return element * (size_t)space->mesh->face_stride + (size_t)face;
}

static void fill_neighbour(const eg_space *space, const eg_group *group, int64_t first,
                           int64_t count, void *host, double *scratch)
{
    (void)scratch;
    int32_t *neighbour = host;
    const int64_t rows = group->element->faces * group->lanes;
    for (int64_t k = 0; k < count * rows; k++) {
        int32_t element = space->mesh->neighbour[place_in_mesh(space, group, first * rows + k)];
        neighbour[k] = element < 0 ? element : space->slot_of_element[element];
    }
}

static void fill_neighbour_face(const eg_space *space, const eg_group *group, int64_t first,
                                int64_t count, void *host, double *scratch)
{
    (void)scratch;
    uint8_t *face = host;
    const int64_t rows = group->element->faces * group->lanes;
    for (int64_t k = 0; k < count * rows; k++)
        face[k] = space->mesh->neighbour_face[place_in_mesh(space, group, first * rows + k)];
}

/* `scratch` holds the nodes of one element, [np][dim]. */
static void fill_nodes(const eg_space *space, const eg_group *group, int64_t first, int64_t count,
                       void *host, double *scratch)
{
    double *nodes = host;
    const int dim = space->mesh->dim, np = group->geometry->np, lanes = group->lanes;
    for (int64_t k = 0; k < count * lanes; k++) {
        int32_t element = group->element_of_slot[first * lanes + k];
        int found = eg_mesh_element_nodes(space->mesh, element, scratch);
        assert(found == np);
        (void)found;
        double *tile = nodes + k / lanes * (dim * np * lanes) + k % lanes;
        for (int i = 0; i < np; i++)
            for (int d = 0; d < dim; d++)
                tile[(d * np + i) * lanes] = scratch[i * dim + d];
    }
}

/* Makes a buffer of `tiles` tiles with `rows` rows each and fills it piece by piece. */
static eg_status make_table(const eg_space *space, const eg_group *group, eg_type type,
                            int64_t tiles, int rows, fill_tiles *fill, eg_buffer **out)
{
    eg_status status = EG_OK;
    void *host = NULL;
    double *scratch = NULL;
    size_t values = (size_t)rows * (size_t)group->lanes; /* of a tile */
    int64_t piece = (int64_t)(STAGE_BYTES / (values * eg_type_size(type)));
    if (piece < 1) piece = 1;
    if (piece > tiles) piece = tiles;
    EG_TRY(eg_buffer_create(space->device, type, (size_t)tiles * values, out));
    EG_TRY(eg_allocate(space->ctx, (size_t)piece * values * eg_type_size(type), &host));
    EG_TRY(eg_new(space->ctx, (size_t)(group->geometry->np * space->mesh->dim), &scratch));
    for (int64_t first = 0; first < tiles; first += piece) {
        int64_t count = tiles - first < piece ? tiles - first : piece;
        fill(space, group, first, count, host, scratch);
        EG_TRY(eg_buffer_upload(*out, (size_t)first * values, (size_t)count * values, host));
    }
done:
    eg_release(space->ctx, &scratch);
    eg_release(space->ctx, &host);
    return status;
}

static eg_status make_block_groups(eg_space *space)
{
    eg_status status = EG_OK;
    size_t blocks = (size_t)(space->slot_count / EG_SLOT_BLOCK);
    int32_t *host = NULL;
    EG_TRY(eg_new(space->ctx, blocks, &host));
    for (size_t b = 0; b < blocks; b++)
        host[b] = space->group_of_block[b];
    EG_TRY(eg_buffer_create(space->device, EG_I32, blocks, &space->block_groups));
    EG_TRY(eg_buffer_upload(space->block_groups, 0, blocks, host));
done:
    eg_release(space->ctx, &host);
    return status;
}

static eg_status make_tables(eg_space *space)
{
    eg_status status = EG_OK;
    for (int i = 0; i < space->group_count; i++) {
        eg_group *g = &space->groups[i];
        const int faces = g->element->faces;
        EG_TRY(make_table(space, g, EG_F64, g->tiles, 1, fill_weight, &g->weight));
        EG_TRY(make_table(space, g, EG_I32, g->own_tiles, faces, fill_neighbour, &g->neighbour));
        EG_TRY(make_table(space, g, EG_U8, g->own_tiles, faces, fill_neighbour_face,
                          &g->neighbour_face));
        EG_TRY(make_table(space, g, EG_F64, g->tiles, space->mesh->dim * g->geometry->np,
                          fill_nodes, &g->nodes));
        if (!g->curved) EG_TRY(eg_group_fill_factors(space, i));
    }
    EG_TRY(make_block_groups(space));
done:
    return status;
}

/* --- spaces ----------------------------------------------------------------------------------- */

static eg_status check_options(eg_context *ctx, const eg_mesh *mesh,
                               const eg_space_options *options)
{
    int lanes = options->lanes;
    assert(!options->like || options->like->mesh == mesh);
    (void)mesh;
    if (lanes && (lanes < LANES_LEAST || lanes > LANES_MOST || (lanes & (lanes - 1))))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a space of %d lanes; possible are powers of two from %d to %d, and 0 for "
                       "what suits the device",
                       lanes, LANES_LEAST, LANES_MOST);
    return EG_OK;
}

static eg_status set_up(eg_space *space, const eg_space_options *options)
{
    eg_status status = EG_OK;
    grouping *g = NULL;
    EG_TRY(eg_new(space->ctx, 1, &g));
    EG_TRY(eg_new(space->ctx, (size_t)all_elements(space->mesh), &g->key));
    EG_TRY(classify(space, options, g));
    EG_TRY(make_groups(space, options, g));
    EG_TRY(assign_slots(space, g));
    EG_TRY(make_tables(space));
done:
    if (g) eg_release(space->ctx, &g->key);
    eg_release(space->ctx, &g);
    return status;
}

/* Degrees of freedom of this rank. */
static double count_dof(const eg_space *space)
{
    double dof = 0.0;
    for (int i = 0; i < space->group_count; i++)
        dof += (double)space->groups[i].element_count * space->groups[i].element->np;
    return dof;
}

/* All that needs no other rank: everything but the sums over ranks. */
static eg_status create(eg_device *device, eg_comm *comm, const eg_mesh *mesh,
                        const eg_space_options *options, eg_space **out)
{
    eg_context *ctx = eg_device_context(device);
    eg_status status = EG_OK;
    eg_space *space = NULL;
    *out = NULL;
    EG_TRY(check_options(ctx, mesh, options));
    EG_TRY(eg_new(ctx, 1, &space));
    *space = (eg_space){
        .ctx = ctx, .device = device, .comm = comm, .mesh = mesh, .basis = options->basis};
    EG_TRY(set_up(space, options));
    *out = space;
    space = NULL;
done:
    eg_space_destroy(&space);
    return status;
}

eg_status eg_space_create(eg_device *device, eg_comm *comm, const eg_mesh *mesh,
                          const eg_space_options *options, eg_space **out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(comm, create(device, comm, mesh, options, out)));
    double dof = count_dof(*out);
    EG_TRY(eg_comm_sum(comm, 1, &dof));
    (*out)->dof = (int64_t)dof;
    if (options->like)
        (*out)->volume = options->like->volume;
    else
        EG_TRY(eg_space_measure_volume(*out));
done:
    if (status != EG_OK) eg_space_destroy(out);
    return status;
}

eg_status eg_space_upload(const eg_space *space, eg_type type, size_t count, const void *values,
                          eg_buffer **out)
{
    eg_status status = eg_buffer_create(space->device, type, count, out);
    if (status == EG_OK) status = eg_buffer_upload(*out, 0, count, values);
    if (status != EG_OK) eg_buffer_destroy(out);
    return status;
}

eg_status eg_space_pairs(const eg_space *space, const eg_mirror *mirror, eg_buffer **out)
{
    const int count = 2 * ((mirror->even + 7) / 8 * 8);
    int32_t *list = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)count, &list));
    for (int i = 0; i < count; i++)
        list[i] = mirror->pair[i / 2 < mirror->even ? i / 2 : mirror->even - 1][i % 2];
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)count, list, out));
done:
    eg_release(space->ctx, &list);
    return status;
}

eg_status eg_space_kernel(const eg_space *space, const eg_group *group, eg_kernel_options options,
                          eg_kernel **out)
{
    options.size = sizeof options;
    options.real = EG_F64;
    options.lanes = group->lanes;
    return eg_kernel_create(space->device, &options, out);
}

bool eg_space_passes_caches(const eg_space *space, int components)
{
    const uint64_t cache = eg_device_get_info(space->device)->cache_bytes;
    const uint64_t values = (uint64_t)space->dof * (uint64_t)components;
    return cache > 0 && values * sizeof(double) > cache / 2;
}

int eg_device_fit_lanes(const eg_device *device, int64_t rows)
{
    const eg_device_info *info = eg_device_get_info(device);
    int lanes = info->lanes;
    /* Rows have up to 4 values more on a GPU. */
    while (info->is_gpu && lanes > LANES_LEAST &&
           (uint64_t)rows * (uint64_t)(lanes + 4) * sizeof(double) > info->shared_bytes)
        lanes /= 2;
    return lanes;
}

void eg_space_destroy(eg_space **space)
{
    if (!space || !*space) return;
    eg_space *s = *space;
    eg_context *ctx = s->ctx;
    for (int i = 0; s->groups && i < s->group_count; i++) {
        eg_group *g = &s->groups[i];
        eg_buffer_destroy(&g->face_factors);
        eg_buffer_destroy(&g->volume_factors);
        eg_buffer_destroy(&g->nodes);
        eg_buffer_destroy(&g->neighbour_face);
        eg_buffer_destroy(&g->neighbour);
        eg_buffer_destroy(&g->weight);
        eg_release(ctx, &g->element_of_slot);
    }
    for (int k = 0; k < s->element_kinds; k++)
        eg_element_destroy(&s->elements[k]);
    eg_buffer_destroy(&s->block_groups);
    eg_release(ctx, &s->elements);
    eg_release(ctx, &s->group_of_block);
    eg_release(ctx, &s->slot_of_element);
    eg_release(ctx, &s->groups);
    eg_release(ctx, space);
}
