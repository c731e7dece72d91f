/* Fuzzes VTU files: any bytes are refused with a place and a reason, or read; what is read is a whole
 * snapshot, and comes back the same when it is written and read again.
 *
 * The mutator changes numbers, drops, doubles and moves elements, and puts one form of encoding for
 * another; the rest is libFuzzer's. */
#define _GNU_SOURCE
#include "report/vtu/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/replay.h"

/* Also where assert means nothing. */
static void require(bool holds)
{
    if (!holds) abort();
}

/* --- what a snapshot that was read must be --------------------------------------------------- */

static void check_snapshot(const eg_snapshot *s)
{
    require(s->dim == 2 || s->dim == 3);
    require(s->element_count >= 0 && s->first_node[0] == 0);
    for (int32_t e = 0; e < s->element_count; e++) {
        require(s->shape[e] < EG_SHAPE_COUNT);
        require(eg_shape_get_info((eg_shape)s->shape[e])->dim == s->dim);
        require(s->degree[e] >= 1 && s->global[e] >= 0);
        require(s->first_node[e + 1] - s->first_node[e] ==
                eg_mode_count((eg_shape)s->shape[e], s->degree[e]));
        if (s->value_degree) require(s->value_degree[e] <= s->degree[e]);
    }
    for (int64_t i = 0; i < s->first_node[s->element_count] * s->dim; i++)
        require(isfinite(s->x[i]));
    for (int a = 0; a < s->array_count; a++)
        require(eg_snapshot_find(s, s->arrays[a].name) == a);
}

static void require_same(const eg_snapshot *a, const eg_snapshot *b)
{
    const size_t elements = (size_t)a->element_count, nodes = (size_t)a->first_node[elements];
    require(a->element_count == b->element_count && a->array_count == b->array_count);
    require(a->dim == b->dim && a->step == b->step);
    require(memcmp(&a->time, &b->time, sizeof a->time) == 0);
    require(memcmp(a->shape, b->shape, elements) == 0);
    require(memcmp(a->degree, b->degree, elements) == 0);
    require(memcmp(a->global, b->global, elements * sizeof *a->global) == 0);
    require(memcmp(a->x, b->x, nodes * (size_t)a->dim * sizeof *a->x) == 0);
    for (int i = 0; i < a->array_count; i++) {
        const eg_snapshot_array *x = &a->arrays[i], *y = &b->arrays[i];
        require(strcmp(x->name, y->name) == 0 && !x->unit == !y->unit);
        if (x->unit) require(strcmp(x->unit, y->unit) == 0);
        require(memcmp(x->values, y->values, nodes * sizeof *x->values) == 0);
    }
}

static eg_status read_bytes(eg_context *ctx, const char *data, size_t size, eg_snapshot **out)
{
    eg_vtu_file file;
    eg_status status = eg_vtu_open(ctx, "f", data, size, &file);
    if (status == EG_OK && file.type == EG_VTU_GRID) status = eg_vtu_read_grid(&file, out);
    eg_vtu_close(&file);
    return status;
}

/* Empty snapshots forget their dimension. */
static void check_round_trip(eg_context *ctx, const eg_snapshot *s)
{
    eg_text text = eg_text_new(ctx);
    eg_snapshot *again = NULL;
    if (s->element_count == 0 || s->first_node[s->element_count] * (1 + s->array_count) > 200000)
        return;
    const eg_status written = eg_vtu_put(s, 0, &text);
    if (written == EG_ERROR_UNSUPPORTED) return; /* without zlib */
    require(written == EG_OK);
    if (read_bytes(ctx, text.data, text.length, &again) != EG_OK) {
        fprintf(stderr, "%s\n", eg_context_error(ctx));
        abort();
    }
    require_same(s, again);
    eg_snapshot_destroy(&again);
    eg_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    eg_context *ctx = NULL;
    eg_snapshot *s = NULL;
    if (eg_context_create(NULL, &ctx) != EG_OK) abort();
    const eg_status status = read_bytes(ctx, (const char *)data, size, &s);
    if (status == EG_OK && s) {
        check_snapshot(s);
        check_round_trip(ctx, s);
    } else if (status != EG_OK) {
        require(!s && (status == EG_ERROR_INPUT || status == EG_ERROR_UNSUPPORTED));
        if (status == EG_ERROR_INPUT) require(strncmp(eg_context_error(ctx), "f:", 2) == 0);
    }
    eg_snapshot_destroy(&s);
    eg_context_destroy(&ctx);
    return 0;
}

#ifndef EG_FUZZ_REPLAY

/* --- mutations ------------------------------------------------------------------------------- */

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A number below `bound` > 0. */
static uint64_t pick(uint64_t *state, uint64_t bound)
{
    return mix(*state += 0x9e3779b97f4a7c15u) % bound;
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

/* Another number in place of one of the text's, or of eight bytes. */
static size_t mutate_number(uint8_t *data, size_t size, size_t max_size, uint64_t *state)
{
    static const char *const numbers[] = {
        "0",    "1",     "2",    "3",   "4",          "5",          "6",
        "9",    "10",    "12",   "69",  "70",         "71",         "72",
        "-1",   "27",    "8",    "64",  "15",         "1331",       "nan",
        "-inf", "1e308", "-0.0", "0.5", "2147483648", "4294967296", "9223372036854775807"};
    static const uint64_t odd[] = {
        0, 1, 2, 3, 8, 16, 24, 255, 65536, 1u << 31, UINT64_MAX / 8, INT64_MAX, UINT64_MAX};
    size_t from = (size_t)pick(state, size), to;
    while (from < size && (data[from] < '0' || data[from] > '9'))
        from++;
    for (to = from; to < size && data[to] >= '0' && data[to] <= '9';)
        to++;
    if (from == to || pick(state, 4) == 0) {
        const uint64_t value = odd[pick(state, EG_COUNT(odd))];
        if (size < sizeof value) return size;
        memcpy(data + pick(state, size - sizeof value + 1), &value,
               pick(state, 2) ? sizeof value : sizeof value / 2);
        return size;
    }
    const char *number = numbers[pick(state, EG_COUNT(numbers))];
    return splice(data, size, max_size, from, to, number, strlen(number));
}

/* From a "<" to the next but `more`. */
static bool find_elements(const uint8_t *data, size_t size, uint64_t more, uint64_t *state,
                          size_t *from, size_t *to)
{
    const size_t start = (size_t)pick(state, size);
    const uint8_t *first = memchr(data + start, '<', size - start);
    if (!first) return false;
    const uint8_t *end = data + size, *next = first;
    for (uint64_t i = 0; i <= more && next < end; i++) {
        next = memchr(next + 1, '<', (size_t)(end - next - 1));
        if (!next) next = end;
    }
    *from = (size_t)(first - data);
    *to = (size_t)(next - data);
    return true;
}

/* Drops, doubles or moves some elements. */
static size_t mutate_elements(uint8_t *data, size_t size, size_t max_size, uint64_t *state)
{
    size_t from, to, other, other_end;
    if (!find_elements(data, size, pick(state, 6), state, &from, &to)) return size;
    const size_t length = to - from;
    uint8_t *copy = malloc(length + 1);
    if (!copy) abort();
    memcpy(copy, data + from, length);
    const uint64_t what = pick(state, 3);
    if (what != 1) size = splice(data, size, max_size, from, to, "", 0);
    if (what != 0 && size > 0 && find_elements(data, size, 0, state, &other, &other_end))
        size = splice(data, size, max_size, other, other, copy, length);
    free(copy);
    return size;
}

/* Puts one word of a kind for another. */
static size_t mutate_word(uint8_t *data, size_t size, size_t max_size, uint64_t *state)
{
    static const char *const kinds[][6] = {
        {"\"ascii\"", "\"binary\"", "\"appended\" offset=\"0\"", NULL},
        {"Float64", "Float32", "Int64", "Int32", "UInt8", NULL},
        {"UInt64", "UInt32", "Int8", NULL},
        {"\"raw\"", "\"base64\"", NULL},
        {"connectivity", "offsets", "types", "element", "degree", NULL},
        {"PointData", "CellData", "FieldData", "Points", "Cells", NULL},
        {"vtkZLibDataCompressor", "vtkLZ4DataCompressor", "", NULL}};
    const char *const *kind = kinds[pick(state, EG_COUNT(kinds))];
    uint64_t count = 0;
    while (kind[count])
        count++;
    const char *old = kind[pick(state, count)], *new = kind[pick(state, count)];
    const size_t start = (size_t)pick(state, size);
    const uint8_t *at = old[0] ? memmem(data + start, size - start, old, strlen(old)) : NULL;
    if (!at) return size;
    const size_t from = (size_t)(at - data);
    return splice(data, size, max_size, from, from + strlen(old), new, strlen(new));
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint64_t state = seed;
    if (size == 0) return LLVMFuzzerMutate(data, size, max_size);
    switch (pick(&state, 8)) {
    case 0:
    case 1:
    case 2:
        return mutate_number(data, size, max_size, &state);
    case 3:
        return mutate_elements(data, size, max_size, &state);
    case 4:
        return mutate_word(data, size, max_size, &state);
    default:
        return LLVMFuzzerMutate(data, size, max_size);
    }
}

#endif
