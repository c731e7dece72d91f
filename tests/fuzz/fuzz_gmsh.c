/* Fuzzes Gmsh files: any bytes are refused with a place and a reason, or read; what is read is
 * written in another form and read again the same, and becomes a mesh or is refused.
 *
 * The mutator works on what a file says: it moves and drops nodes, elements, groups and pairs, and
 * writes the result in another form; of files that cannot be read it changes lines and numbers. */
#define _GNU_SOURCE
#include "mesh/gmsh/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/gmsh_emit.h"
#include "fuzz/replay.h"

/* Also where assert means nothing. */
static void require(bool holds)
{
    if (!holds) abort();
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* --- what a file that was read must be -------------------------------------------------------- */

static void check_file(const eg_gmsh_file *file)
{
    for (int32_t i = 0; i < file->node_count; i++) {
        require(file->node_tag[i] > 0);
        for (int d = 0; d < 3; d++)
            require(isfinite(file->x[3 * i + d]));
    }
    for (int i = 0; i < file->entity_count; i++) {
        const eg_gmsh_entity *entity = &file->entities[i];
        require(entity->dim >= 0 && entity->dim <= 3 && entity->parent < file->entity_count);
        for (int k = 0; k < entity->physical_count; k++)
            require(entity->physical[k] > 0);
    }
    for (int b = 0; b < file->block_count; b++) {
        const eg_gmsh_block *block = &file->blocks[b];
        int8_t lattice[EG_GMSH_NODES_MAX][3];
        require(block->count > 0 && block->place > 0);
        require(block->entity >= -1 && block->entity < file->entity_count);
        require(block->np == eg_gmsh_nodes(block->shape, block->order, lattice));
        if (block->entity >= 0)
            require(file->entities[block->entity].dim == eg_shape_get_info(block->shape)->dim);
        for (int64_t i = 0; i < block->count * block->np; i++)
            require(block->nodes[i] >= 0 && block->nodes[i] < file->node_count);
    }
    for (int i = 0; i < file->link_count; i++)
        for (int64_t k = 0; k < 2 * file->links[i].count; k++)
            require(file->links[i].pair[k] >= 0 && file->links[i].pair[k] < file->node_count);
}

/* The same for the same elements in any order. */
static uint64_t hash_elements(const eg_gmsh_file *file)
{
    uint64_t sum = 0;
    for (int b = 0; b < file->block_count; b++) {
        const eg_gmsh_block *block = &file->blocks[b];
        const eg_gmsh_entity *entity = block->entity >= 0 ? &file->entities[block->entity] : NULL;
        for (int64_t i = 0; i < block->count; i++) {
            uint64_t hash = mix((uint64_t)block->tag[i] + 1);
            for (int k = 0; k < block->np; k++)
                hash = mix(hash + (uint64_t)block->nodes[i * block->np + k] + 1);
            for (int k = 0; entity && k < entity->physical_count; k++)
                hash = mix(hash + (uint64_t)entity->physical[k]);
            sum += hash;
        }
    }
    return sum;
}

static void require_same(const eg_gmsh_file *a, const eg_gmsh_file *b)
{
    const size_t nodes = (size_t)a->node_count;
    require(a->node_count == b->node_count && a->name_count == b->name_count);
    require(a->link_count == b->link_count && hash_elements(a) == hash_elements(b));
    require(memcmp(a->x, b->x, 3 * nodes * sizeof *a->x) == 0);
    require(memcmp(a->node_tag, b->node_tag, nodes * sizeof *a->node_tag) == 0);
    for (int i = 0; i < a->name_count; i++)
        require(strcmp(a->names[i].name, b->names[i].name) == 0);
    for (int i = 0; i < a->link_count; i++) {
        const eg_gmsh_link *x = &a->links[i], *y = &b->links[i];
        require(x->count == y->count && !x->affine == !y->affine);
        for (int k = 0; k < 16 && x->affine; k++)
            require(memcmp(&x->affine[k], &y->affine[k], sizeof x->affine[k]) == 0);
        for (int64_t k = 0; k < 2 * x->count; k++)
            require(x->pair[k] == y->pair[k]);
    }
}

static void check_round_trip(eg_context *ctx, const eg_gmsh_file *file, gmsh_form form)
{
    eg_text text = eg_text_new(ctx);
    eg_gmsh_file *again = NULL;
    if (!gmsh_fits(file, form)) return;
    gmsh_emit(file, form, &text);
    if (eg_gmsh_open_bytes(ctx, "again", text.data, text.length, &again) != EG_OK) {
        fprintf(stderr, "%s\n", eg_context_error(ctx));
        abort();
    }
    require_same(file, again);
    eg_gmsh_close(&again);
    eg_text_free(&text);
}

/* --- one input -------------------------------------------------------------------------------- */

static void check_mesh(const eg_mesh *mesh)
{
    const int32_t count = mesh->element_count;
    bool *seen = calloc((size_t)count + (size_t)mesh->group_count, sizeof *seen);
    require(seen && count > 0 && mesh->global_count == count);
    require((mesh->group_count > 0) == (mesh->group_of != NULL));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const int faces = eg_shape_get_info((eg_shape)mesh->shape[e])->faces;
        for (int f = 0; f < faces; f++) {
            const int32_t neighbour = mesh->neighbour[(int64_t)e * mesh->face_stride + f];
            require(neighbour < mesh->element_count && -1 - neighbour < mesh->boundary_count);
        }
        require(mesh->global[e] >= 0 && mesh->global[e] < count && !seen[mesh->global[e]]);
        seen[mesh->global[e]] = true;
        if (!mesh->group_of) continue;
        require(mesh->group_of[e] >= 0 && mesh->group_of[e] < mesh->group_count);
        seen[count + mesh->group_of[e]] = true;
    }
    for (int g = 0; g < mesh->group_count; g++)
        require(seen[count + g]);
    free(seen);
}

/* Where a mesh is read with its faults, these are what refuses it otherwise. */
static void check_faults(eg_context *ctx, const eg_gmsh_file *file, const char *refused)
{
    eg_mesh *mesh = NULL;
    eg_mesh_faults faults = {0};
    const eg_status status = eg_gmsh_assemble(file, &(eg_gmsh_options){.faults = &faults}, &mesh);
    require((status == EG_OK) == (mesh != NULL));
    require(status == EG_OK || strcmp(eg_context_error(ctx), refused) == 0);
    if (mesh) {
        check_mesh(mesh);
        require(strcmp(faults.why ? faults.why : "", refused) == 0);
        int32_t bad = 0;
        for (int32_t e = 0; faults.bad && e < mesh->element_count; e++)
            bad += faults.bad[e];
        require((bad > 0) == (faults.why != NULL));
    }
    eg_mesh_faults_free(ctx, &faults);
    eg_mesh_destroy(&mesh);
}

static void assemble(eg_context *ctx, const eg_gmsh_file *file, bool merge)
{
    eg_mesh *mesh = NULL;
    const eg_gmsh_options options = {.merge_nodes = merge};
    const eg_status status = eg_gmsh_assemble(file, &options, &mesh);
    char refused[4096] = "";
    require((status == EG_OK) == (mesh != NULL));
    if (mesh) check_mesh(mesh);
    eg_mesh_destroy(&mesh);
    if (status != EG_OK) {
        require(status == EG_ERROR_INPUT);
        require(eg_context_error(ctx)[0]);
        snprintf(refused, sizeof refused, "%s", eg_context_error(ctx));
    }
    if (!merge) check_faults(ctx, file, refused);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    eg_context *ctx = NULL;
    eg_gmsh_file *file = NULL;
    uint64_t hash = size;
    for (size_t i = 0; i < size; i++)
        hash = mix(hash + data[i]);
    if (eg_context_create(NULL, &ctx) != EG_OK) abort();
    const eg_status status = eg_gmsh_open_bytes(ctx, "f", (const char *)data, size, &file);
    require((status == EG_OK) == (file != NULL));
    if (status == EG_OK) {
        check_file(file);
        check_round_trip(ctx, file, gmsh_form_of((unsigned)(hash & 7)));
        assemble(ctx, file, hash >> 3 & 1);
    } else {
        require(status == EG_ERROR_INPUT);
        require(strncmp(eg_context_error(ctx), "f:", 2) == 0);
    }
    eg_gmsh_close(&file);
    eg_context_destroy(&ctx);
    return 0;
}

#ifndef EG_FUZZ_REPLAY

/* --- mutations -------------------------------------------------------------------------------- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* A number below `bound` > 0. */
static uint64_t pick(uint64_t *state, uint64_t bound)
{
    return mix(*state += 0x9e3779b97f4a7c15u) % bound;
}

static const double odd_reals[] = {0,    -0.0,  1,     0.5,   1e-300, 5e-324, 1e300,
                                   1e16, -1e16, 1e-16, 1e154, 1e-154, 2,      -1};
static const int64_t odd_integers[] = {
    0, 1, 2, 3, -1, 15, 16, 255, 64, 140, INT32_MAX, (int64_t)INT32_MAX + 1, INT64_MAX, INT32_MIN};

static void change_node(eg_gmsh_file *file, uint64_t *state)
{
    if (file->node_count == 0) return;
    double *x = &file->x[pick(state, 3 * (uint64_t)file->node_count)];
    const double *other = &file->x[pick(state, 3 * (uint64_t)file->node_count)];
    switch (pick(state, 5)) {
    case 0:
        *x = odd_reals[pick(state, EG_COUNT(odd_reals))];
        break;
    case 1:
        *x = *other;
        break;
    case 2:
        *x = -*x;
        break;
    case 3: /* moved a little */
        *x += 1e-3 * (double)pick(state, 100);
        break;
    default:
        file->node_tag[pick(state, (uint64_t)file->node_count)] =
            1 + (int64_t)pick(state, 1u << 30);
    }
}

/* Removes element i of a block, or puts another copy of its nodes there. */
static void change_element(eg_gmsh_file *file, uint64_t *state)
{
    if (file->block_count == 0) return;
    eg_gmsh_block *block = &file->blocks[pick(state, (uint64_t)file->block_count)];
    if (block->count == 0) return;
    const size_t np = (size_t)block->np, last = (size_t)block->count - 1;
    const size_t i = (size_t)pick(state, last + 1), j = (size_t)pick(state, last + 1);
    int32_t *nodes = &block->nodes[i * np];
    const size_t k = (size_t)pick(state, np), m = (size_t)pick(state, np);
    const int32_t saved = nodes[k];
    switch (pick(state, 5)) {
    case 0: /* two of its nodes change places */
        nodes[k] = nodes[m];
        nodes[m] = saved;
        break;
    case 1:
        nodes[k] = (int32_t)pick(state, (uint64_t)file->node_count);
        break;
    case 2:
        memmove(nodes, &block->nodes[last * np], np * sizeof *nodes);
        block->tag[i] = block->tag[last];
        block->count--;
        break;
    case 3:
        memmove(nodes, &block->nodes[j * np], np * sizeof *nodes);
        break;
    default:
        block->tag[i] = 1 + (int64_t)pick(state, 1u << 30);
    }
}

static void change_group(eg_gmsh_file *file, uint64_t *state)
{
    if (file->entity_count > 0 && pick(state, 2)) {
        eg_gmsh_entity *entity = &file->entities[pick(state, (uint64_t)file->entity_count)];
        if (entity->physical_count > 0 && pick(state, 2))
            entity->physical_count--;
        else if (entity->physical_count > 0)
            entity->physical[0] = 1 + (int)pick(state, 12);
    } else if (file->block_count > 0) {
        eg_gmsh_block *block = &file->blocks[pick(state, (uint64_t)file->block_count)];
        const int other = (int)pick(state, (uint64_t)file->entity_count + 1) - 1;
        const int dim = eg_shape_get_info(block->shape)->dim;
        if (other >= 0 && file->entities[other].dim == dim) block->entity = other;
    }
}

static void change_link(eg_gmsh_file *file, uint64_t *state)
{
    if (file->link_count == 0) return;
    eg_gmsh_link *link = &file->links[pick(state, (uint64_t)file->link_count)];
    switch (pick(state, 4)) {
    case 0:
        eg_release(file->ctx, &link->affine);
        break;
    case 1:
        if (link->affine)
            link->affine[pick(state, 16)] = odd_reals[pick(state, EG_COUNT(odd_reals))];
        break;
    case 2:
        if (link->count > 0) link->count--;
        break;
    default:
        if (link->count > 0 && file->node_count > 0)
            link->pair[pick(state, 2 * (uint64_t)link->count)] =
                (int32_t)pick(state, (uint64_t)file->node_count);
    }
}

/* Changes what a file says, and writes it in another form; 0 if it cannot be read or does not
 * fit. */
static size_t mutate_file(uint8_t *data, size_t size, size_t max_size, uint64_t *state)
{
    eg_context *ctx = NULL;
    eg_gmsh_file *file = NULL;
    size_t length = 0;
    if (eg_context_create(NULL, &ctx) != EG_OK) abort();
    eg_text text = eg_text_new(ctx);
    if (eg_gmsh_open_bytes(ctx, "f", (const char *)data, size, &file) == EG_OK) {
        for (uint64_t i = pick(state, 4); i > 0; i--) {
            static void (*const changes[])(eg_gmsh_file *, uint64_t *) = {
                change_node, change_element, change_group, change_link};
            changes[pick(state, EG_COUNT(changes))](file, state);
        }
        const gmsh_form form = gmsh_form_of((unsigned)pick(state, GMSH_FORMS));
        if (gmsh_fits(file, form)) gmsh_emit(file, form, &text);
        if (text.length <= max_size) length = text.length;
        if (length > 0) memcpy(data, text.data, length);
    }
    eg_gmsh_close(&file);
    eg_text_free(&text);
    eg_context_destroy(&ctx);
    return length;
}

/* Replaces data[from, to) by other bytes, if there is room. */
static size_t splice(uint8_t *data, size_t size, size_t max_size, size_t from, size_t to,
                     const void *bytes, size_t length)
{
    if (size - (to - from) + length > max_size) return size;
    memmove(data + from + length, data + to, size - to);
    memcpy(data + from, bytes, length);
    return size - (to - from) + length;
}

/* Another number in place of one of the text's, or of four bytes. */
static size_t mutate_number(uint8_t *data, size_t size, size_t max_size, uint64_t *state)
{
    size_t from = (size_t)pick(state, size), to;
    const int64_t value = odd_integers[pick(state, EG_COUNT(odd_integers))];
    while (from < size && (data[from] < '0' || data[from] > '9'))
        from++;
    for (to = from; to < size && data[to] >= '0' && data[to] <= '9';)
        to++;
    if (from == to || pick(state, 4) == 0) {
        if (size < sizeof value) return size;
        memcpy(data + pick(state, size - sizeof value + 1), &value,
               pick(state, 2) ? sizeof value : sizeof value / 2);
        return size;
    }
    char text[32];
    const int length = snprintf(text, sizeof text, "%lld", (long long)value);
    return splice(data, size, max_size, from, to, text, (size_t)length);
}

/* From `mark` at the start of a line to the next such line; false if there is none. */
static bool find_part(const uint8_t *data, size_t size, const char *mark, uint64_t *state,
                      size_t *from, size_t *to)
{
    const size_t length = strlen(mark), start = (size_t)pick(state, size);
    const uint8_t *first = memmem(data + start, size - start, mark, length);
    if (!first) return false;
    *from = (size_t)(first - data) + 1;
    const uint8_t *next = memmem(data + *from, size - *from, mark, length);
    *to = next ? (size_t)(next - data) + 1 : size;
    return true;
}

/* Drops, doubles or moves a line, or all from one "$" to the next. */
static size_t mutate_lines(uint8_t *data, size_t size, size_t max_size, uint64_t *state)
{
    size_t from, to, other, other_end;
    const char *mark = pick(state, 2) ? "\n" : "\n$";
    if (!find_part(data, size, mark, state, &from, &to)) return size;
    uint8_t *copy = malloc(to - from + 1);
    if (!copy) abort();
    memcpy(copy, data + from, to - from);
    const uint64_t what = pick(state, 3);
    const size_t length = to - from;
    if (what != 1) size = splice(data, size, max_size, from, to, "", 0);
    if (what != 0 && size > 0 && find_part(data, size, mark, state, &other, &other_end))
        size = splice(data, size, max_size, other, other, copy, length);
    free(copy);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint64_t state = seed;
    if (size == 0) return LLVMFuzzerMutate(data, size, max_size);
    switch (pick(&state, 8)) {
    case 0:
    case 1:
    case 2: {
        const size_t length = mutate_file(data, size, max_size, &state);
        return length > 0 ? length : mutate_number(data, size, max_size, &state);
    }
    case 3:
    case 4:
        return mutate_number(data, size, max_size, &state);
    case 5:
        return mutate_lines(data, size, max_size, &state);
    default:
        return LLVMFuzzerMutate(data, size, max_size);
    }
}

#endif
