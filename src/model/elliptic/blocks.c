/* Inverses of diagonal blocks, of elements or nodes: the operator is multiplied with unit vectors, one for each node and
 * colour of elements that do not touch, the columns that come out are collected, and all blocks are
 * inverted at once. */
#include "model/elliptic/blocks.h"

#include "model/elliptic/colours.h"
#include "model/elliptic/parts.h"

#include <string.h>

/* The most registers for the values of an element that products by a thread alone have, those of vectors of double
 * precision, and how many leave room for twice as many threads. */
enum { ALONE_MOST = 66, WIDE_MOST = 90, ALONE_FEW = 45 };

typedef struct blocks_part {
    eg_kernel *multiply, *wide, *smooth; /* wide: NULL, if it was not asked for */
    eg_buffer *inverse;                  /* as blocks.k.c says; NULL: no own elements */
    size_t offset;                       /* where the group begins in vectors */
} blocks_part;

struct eg_blocks {
    eg_space *space; /* not owned */
    eg_type real;
    eg_blocks_kind kind;
    blocks_part *parts; /* [group_count] */
};

/* What set-up needs of a group. */
typedef struct setup_part {
    eg_kernel *mark, *take, *invert;
    eg_buffer *colour, *blocks, *least;
} setup_part;

typedef struct setup {
    int colours;
    uint8_t *colour; /* [elements + ghosts] */
    eg_buffer *u, *y;
    setup_part *parts; /* [group_count] */
} setup;

static void setup_free(const eg_blocks *b, setup *s)
{
    eg_context *ctx = b->space->ctx;
    for (int i = 0; s->parts && i < b->space->group_count; i++) {
        setup_part *p = &s->parts[i];
        eg_buffer_destroy(&p->least);
        eg_buffer_destroy(&p->blocks);
        eg_buffer_destroy(&p->colour);
        eg_kernel_destroy(&p->invert);
        eg_kernel_destroy(&p->take);
        eg_kernel_destroy(&p->mark);
    }
    eg_release(ctx, &s->parts);
    eg_buffer_destroy(&s->y);
    eg_buffer_destroy(&s->u);
    eg_release(ctx, &s->colour);
}

/* What differs between kinds: entries of blocks.k.c. */
static const struct {
    const char *take, *invert, *multiply, *smooth;
} entries[] = {
    [EG_BLOCKS_WHOLE] = {"take_column", "invert_blocks", "multiply_blocks", "smooth_blocks"},
    [EG_BLOCKS_DIAGONAL] = {"take_entry", "invert_entries", "multiply_diagonal",
                            "smooth_diagonal"}};

/* How many values of an element are kept. */
static size_t values_of(const eg_blocks *b, const eg_group *g)
{
    const int np = g->element->np;
    return (size_t)(b->kind == EG_BLOCKS_WHOLE ? np * (np + 1) / 2 : np);
}

/* A kernel for vectors of some type. In products with whole blocks an element may have a thread of its own, which then
 * keeps all its values in registers. */
static eg_status compile(const eg_blocks *b, int group, const char *entry, bool product,
                         eg_type vectors, eg_kernel **out)
{
    const eg_group *g = &b->space->groups[group];
    const bool lanes_are_threads =
        strcmp(eg_device_get_info(b->space->device)->backend, "cpu") != 0;
    const int registers = vectors == EG_F32 ? g->element->np : 2 * g->element->np;
    const int most = vectors == b->real ? ALONE_MOST : WIDE_MOST;
    const int blocks = registers <= ALONE_FEW ? 4 : 2;
    const bool alone =
        product && b->kind == EG_BLOCKS_WHOLE && lanes_are_threads && registers <= most;
    const eg_define defines[] = {
        {"NP", g->element->np}, {"ALONE", alone}, {"K_MIN_BLOCKS", alone ? blocks : 1}};
    return eg_kernel_create(b->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "model/elliptic/blocks.k.c",
                                                 .entry = entry,
                                                 .real = b->real,
                                                 .lanes = g->lanes,
                                                 .rows_per_block = alone ? 1 : 0,
                                                 .tiles_per_block = alone ? 128 / g->lanes : 0,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

/* The colours of a group's own slots, on the device. */
static eg_status upload_colours(const eg_blocks *b, const setup *s, int group, eg_buffer **out)
{
    const eg_group *g = &b->space->groups[group];
    const size_t slots = (size_t)(g->own_tiles * g->lanes);
    int32_t *host = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(b->space->ctx, slots, &host));
    for (size_t i = 0; i < slots; i++)
        host[i] = s->colour[g->element_of_slot[i]];
    EG_TRY(eg_space_upload(b->space, EG_I32, slots, host, out));
done:
    eg_release(b->space->ctx, &host);
    return status;
}

static eg_status make_part(eg_blocks *b, setup *s, int group)
{
    const eg_group *g = &b->space->groups[group];
    const size_t slots = (size_t)(g->own_tiles * g->lanes), count = slots * values_of(b, g);
    blocks_part *p = &b->parts[group];
    setup_part *q = &s->parts[group];
    eg_status status = EG_OK;
    if (slots == 0) return EG_OK;
    EG_TRY(compile(b, group, entries[b->kind].multiply, true, b->real, &p->multiply));
    EG_TRY(compile(b, group, entries[b->kind].smooth, true, b->real, &p->smooth));
    EG_TRY(compile(b, group, "mark_node", false, b->real, &q->mark));
    EG_TRY(compile(b, group, entries[b->kind].take, false, b->real, &q->take));
    EG_TRY(compile(b, group, entries[b->kind].invert, false, b->real, &q->invert));
    EG_TRY(upload_colours(b, s, group, &q->colour));
    EG_TRY(eg_buffer_create(b->space->device, b->real, count, &p->inverse));
    EG_TRY(eg_buffer_create(b->space->device, EG_F64, count, &q->blocks));
    EG_TRY(eg_buffer_create(b->space->device, EG_F64, slots, &q->least));
done:
    return status;
}

/* What is this rank's own affair before the operator is asked. */
static eg_status prepare(eg_blocks *b, setup *s, eg_vectors *vectors)
{
    const int count = b->space->group_count;
    size_t *offset = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(b->space->ctx, (size_t)count + 1, &b->parts));
    EG_TRY(eg_new(b->space->ctx, (size_t)count + 1, &s->parts));
    EG_TRY(eg_new(b->space->ctx, (size_t)count + 1, &offset));
    EG_TRY(eg_vectors_new(vectors, &s->u));
    EG_TRY(eg_vectors_new(vectors, &s->y));
    eg_space_offsets(b->space, 1, offset);
    for (int i = 0; i < count; i++) {
        b->parts[i].offset = offset[i];
        EG_TRY(make_part(b, s, i));
    }
done:
    eg_release(b->space->ctx, &offset);
    return status;
}

/* Column `node` of the blocks of a colour's elements, or what of it is on the diagonal. */
static eg_status find_column(const eg_blocks *b, setup *s, eg_elliptic *op, int colour, int node)
{
    const eg_space *space = b->space;
    eg_status status = EG_OK;
    for (int i = 0; i < space->group_count; i++)
        if (s->parts[i].mark)
            EG_TRY(eg_launch(s->parts[i].mark, space->groups[i].own_tiles,
                             EG_BUFFER("colour", s->parts[i].colour), EG_INTEGER("which", colour),
                             EG_INTEGER("node", node),
                             EG_BUFFER_AT("u", s->u, b->parts[i].offset)));
    EG_TRY(eg_elliptic_apply(op, s->u, s->y));
    for (int i = 0; i < space->group_count; i++)
        if (s->parts[i].take)
            EG_TRY(eg_launch(s->parts[i].take, space->groups[i].own_tiles,
                             EG_BUFFER("colour", s->parts[i].colour), EG_INTEGER("which", colour),
                             EG_INTEGER("node", node), EG_BUFFER_AT("y", s->y, b->parts[i].offset),
                             EG_BUFFER("blocks", s->parts[i].blocks)));
done:
    return status;
}

/* Fails if a block of a group was not positive definite. */
static eg_status check_pivots(const eg_blocks *b, const setup *s, int group)
{
    const eg_group *g = &b->space->groups[group];
    const size_t slots = (size_t)(g->own_tiles * g->lanes);
    double *least = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(b->space->ctx, slots, &least));
    EG_TRY(eg_buffer_download(s->parts[group].least, 0, slots, least));
    for (size_t i = 0; i < slots; i++)
        if (!(least[i] > 0))
            EG_TRY(eg_fail(b->space->ctx, EG_ERROR_NUMERIC,
                           "the operator on element %lld alone, of degree %d, is not positive "
                           "definite in %s precision: %s is %.3g; try solver.precision = "
                           "\"double\", or a larger penalty",
                           (long long)b->space->mesh->global[g->element_of_slot[i]], g->degree,
                           b->real == EG_F32 ? "single" : "double",
                           b->kind == EG_BLOCKS_WHOLE ? "a pivot" : "an entry of its diagonal",
                           least[i]));
done:
    eg_release(b->space->ctx, &least);
    return status;
}

static eg_status invert(const eg_blocks *b, const setup *s)
{
    eg_status status = EG_OK;
    for (int i = 0; i < b->space->group_count; i++) {
        const setup_part *q = &s->parts[i];
        if (!q->invert) continue;
        EG_TRY(eg_launch(q->invert, b->space->groups[i].own_tiles, EG_BUFFER("blocks", q->blocks),
                         EG_BUFFER("inverse", b->parts[i].inverse), EG_BUFFER("least", q->least)));
        EG_TRY(check_pivots(b, s, i));
    }
done:
    return status;
}

eg_status eg_blocks_create(eg_elliptic *op, eg_vectors *vectors, eg_blocks_kind kind,
                           eg_blocks **out)
{
    eg_space *space = op->space;
    const int np = op->element->np;
    const size_t elements = (size_t)space->mesh->element_count + (size_t)space->mesh->ghost_count;
    eg_blocks *b = NULL;
    setup s = {0};
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &b));
    *b = (eg_blocks){.space = space, .real = op->real, .kind = kind};
    EG_TRY(eg_comm_new(space->comm, space->ctx, elements + 1, &s.colour));
    EG_TRY(eg_colour_elements(space->mesh, space->comm, 1, s.colour, &s.colours));
    EG_TRY(eg_comm_agree(space->comm, prepare(b, &s, vectors)));
    for (int colour = 0; colour < s.colours; colour++)
        for (int node = 0; node < np; node++)
            EG_TRY(find_column(b, &s, op, colour, node));
    EG_TRY(eg_comm_agree(space->comm, invert(b, &s)));
    *out = b;
done:
    if (b) setup_free(b, &s);
    if (status != EG_OK) eg_blocks_destroy(&b);
    return status;
}

void eg_blocks_destroy(eg_blocks **handle)
{
    if (!handle || !*handle) return;
    eg_blocks *b = *handle;
    eg_context *ctx = b->space->ctx;
    for (int i = 0; b->parts && i < b->space->group_count; i++) {
        eg_buffer_destroy(&b->parts[i].inverse);
        eg_kernel_destroy(&b->parts[i].smooth);
        eg_kernel_destroy(&b->parts[i].wide);
        eg_kernel_destroy(&b->parts[i].multiply);
    }
    eg_release(ctx, &b->parts);
    eg_release(ctx, handle);
}

static eg_status multiply(const eg_blocks *b, bool wide, eg_buffer *r, eg_buffer *z)
{
    eg_status status = EG_OK;
    for (int i = 0; i < b->space->group_count; i++) {
        const blocks_part *p = &b->parts[i];
        if (!p->inverse) continue;
        EG_TRY(eg_launch(wide ? p->wide : p->multiply, b->space->groups[i].own_tiles,
                         EG_BUFFER("inverse", p->inverse), EG_BUFFER_AT("r", r, p->offset),
                         EG_BUFFER_AT("z", z, p->offset)));
    }
done:
    return status;
}

static eg_status apply(void *user, eg_buffer *r, eg_buffer *z)
{
    return multiply(user, false, r, z);
}

static eg_status apply_wide(void *user, eg_buffer *r, eg_buffer *z)
{
    return multiply(user, true, r, z);
}

static eg_status smooth(void *user, double a, double c, eg_buffer *r, eg_buffer *d, double keep,
                        double w, eg_buffer *x)
{
    const eg_blocks *b = user;
    eg_status status = EG_OK;
    for (int i = 0; i < b->space->group_count; i++) {
        const blocks_part *p = &b->parts[i];
        if (!p->inverse) continue;
        EG_TRY(eg_launch(p->smooth, b->space->groups[i].own_tiles, EG_BUFFER("inverse", p->inverse),
                         EG_REAL("a", a), EG_REAL("c", c), EG_REAL("keep", keep), EG_REAL("w", w),
                         EG_BUFFER_AT("r", r, p->offset), EG_BUFFER_AT("d", d, p->offset),
                         EG_BUFFER_AT("x", x, p->offset)));
    }
done:
    return status;
}

eg_linear eg_blocks_linear(eg_blocks *blocks)
{
    return (eg_linear){.user = blocks, .apply = apply, .smooth = smooth};
}

static eg_status compile_wide(eg_blocks *b)
{
    eg_status status = EG_OK;
    for (int i = 0; i < b->space->group_count; i++)
        if (b->parts[i].inverse)
            EG_TRY(compile(b, i, "multiply_wide", true, EG_F64, &b->parts[i].wide));
done:
    return status;
}

eg_status eg_blocks_widen(eg_blocks *b, eg_linear *out)
{
    *out = (eg_linear){.user = b, .apply = apply_wide};
    return eg_comm_agree(b->space->comm, compile_wide(b));
}
