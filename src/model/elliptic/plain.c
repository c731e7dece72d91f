/* Between tiles and plain vectors: what the kernels need, and their launches. */
#include "model/elliptic/plain.h"

/* P of a group: the unknowns of its nodes. */
typedef struct plain_part {
    eg_kernel *scatter;
    eg_buffer *number; /* i32 [own_tiles][np][lanes] */
} plain_part;

struct eg_plain {
    eg_space *space; /* not owned */
    eg_type real, plain;
    eg_field *like; /* where groups lie in fields; without values */
    /* Pᵀ, as plain.k.c has it. */
    int64_t slices;
    eg_kernel *gather;
    eg_buffer *start, *place;
    plain_part *parts; /* [group_count] */
};

/* --- Pᵀ --------------------------------------------------------------------------------------- */

/* How the nodes of each unknown stand in slices of `lanes` unknowns. */
typedef struct slicing {
    int lanes;
    int32_t *taken; /* [unknowns] nodes that have their place */
    int64_t *start; /* [slices + 1] */
    int32_t *place; /* [start[slices]] */
} slicing;

static void free_slicing(eg_context *ctx, slicing *s)
{
    eg_release(ctx, &s->place);
    eg_release(ctx, &s->start);
    eg_release(ctx, &s->taken);
}

static eg_status find_slices(const eg_plain *p, const eg_unknowns *u, slicing *s)
{
    const int64_t nodes = p->space->mesh->element_count * (int64_t)u->np;
    eg_status status = EG_OK;
    EG_TRY(eg_new(u->ctx, (size_t)(p->slices * s->lanes), &s->taken));
    EG_TRY(eg_new(u->ctx, (size_t)p->slices + 1, &s->start));
    for (int64_t i = 0; i < nodes; i++)
        s->taken[u->number[i]]++;
    for (int64_t k = 0; k < p->slices; k++) {
        int32_t most = 0;
        for (int i = 0; i < s->lanes; i++) {
            if (s->taken[k * s->lanes + i] > most) most = s->taken[k * s->lanes + i];
            s->taken[k * s->lanes + i] = 0;
        }
        s->start[k + 1] = s->start[k] + most * (int64_t)s->lanes;
    }
    EG_TRY(eg_new(u->ctx, (size_t)s->start[p->slices], &s->place));
    for (int64_t i = 0; i < nodes; i++) {
        const int32_t unknown = u->number[i], before = s->taken[unknown]++;
        s->place[s->start[unknown / s->lanes] + before * (int64_t)s->lanes + unknown % s->lanes] =
            (int32_t)eg_node_place(p->like, (int32_t)(i / u->np), (int)(i % u->np));
    }
done:
    return status;
}

static eg_status make_gather(eg_plain *p, const eg_unknowns *u)
{
    eg_device *device = p->space->device;
    const eg_device_info *info = eg_device_get_info(device);
    slicing s = {.lanes = info->lanes};
    eg_status status = EG_OK;
    p->slices = ((int64_t)u->count + s.lanes - 1) / s.lanes;
    EG_TRY(find_slices(p, u, &s));
    EG_TRY(eg_space_upload(p->space, EG_I64, (size_t)p->slices + 1, s.start, &p->start));
    EG_TRY(eg_space_upload(p->space, EG_I32, (size_t)s.start[p->slices], s.place, &p->place));
    EG_TRY(eg_kernel_create(
        device,
        &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                             .source = "model/elliptic/plain.k.c",
                             .entry = p->plain == EG_F64 ? "gather_f64" : "gather_f32",
                             .real = p->real,
                             .defines = &(eg_define){"NP", u->np},
                             .define_count = 1,
                             .rows_per_block = info->is_gpu ? 1 : 0},
        &p->gather));
done:
    free_slicing(p->space->ctx, &s);
    return status;
}

/* --- P ---------------------------------------------------------------------------------------- */

static eg_status make_scatter(eg_plain *p, const eg_unknowns *u, int group)
{
    const eg_group *g = &p->space->groups[group];
    const int np = u->np;
    const int64_t slots = g->own_tiles * g->lanes;
    int32_t *number = NULL;
    eg_status status = EG_OK;
    if (g->own_tiles == 0) return EG_OK;
    EG_TRY(eg_new(p->space->ctx, (size_t)(slots * np), &number));
    for (int64_t s = 0; s < slots; s++)
        for (int i = 0; i < np; i++)
            number[(s / g->lanes * np + i) * g->lanes + s % g->lanes] =
                u->number[g->element_of_slot[s] * (int64_t)np + i];
    EG_TRY(
        eg_space_upload(p->space, EG_I32, (size_t)(slots * np), number, &p->parts[group].number));
    EG_TRY(eg_kernel_create(
        p->space->device,
        &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                             .source = "model/elliptic/plain.k.c",
                             .entry = p->plain == EG_F64 ? "scatter_f64" : "scatter_f32",
                             .real = p->real,
                             .lanes = g->lanes,
                             .defines = &(eg_define){"NP", np},
                             .define_count = 1},
        &p->parts[group].scatter));
done:
    eg_release(p->space->ctx, &number);
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

/* What is this rank's own affair. */
static eg_status create_own(eg_plain *p, const eg_unknowns *u)
{
    eg_space *space = p->space;
    const size_t values = p->like->offset[space->group_count];
    eg_status status = EG_OK;
    if (values > INT32_MAX)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                       "a matrix for a field of %zu values; there may be %d", values, INT32_MAX);
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count + 1, &p->parts));
    EG_TRY(make_gather(p, u));
    for (int group = 0; group < space->group_count; group++)
        EG_TRY(make_scatter(p, u, group));
done:
    return status;
}

eg_status eg_plain_create(eg_space *space, eg_type real, const eg_unknowns *unknowns, eg_type plain,
                          eg_plain **out)
{
    eg_plain *p = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &p));
    *p = (eg_plain){.space = space, .real = real, .plain = plain};
    EG_TRY(eg_field_create(space, 1, real, &p->like));
    eg_buffer_destroy(&p->like->data);
    EG_TRY(eg_comm_agree(space->comm, create_own(p, unknowns)));
    *out = p;
    p = NULL;
done:
    eg_plain_destroy(&p);
    return status;
}

void eg_plain_destroy(eg_plain **handle)
{
    if (!handle || !*handle) return;
    eg_plain *p = *handle;
    eg_context *ctx = p->space->ctx;
    for (int group = 0; p->parts && group < p->space->group_count; group++) {
        eg_buffer_destroy(&p->parts[group].number);
        eg_kernel_destroy(&p->parts[group].scatter);
    }
    eg_release(ctx, &p->parts);
    eg_buffer_destroy(&p->place);
    eg_buffer_destroy(&p->start);
    eg_kernel_destroy(&p->gather);
    eg_field_destroy(&p->like);
    eg_release(ctx, handle);
}

/* --- products --------------------------------------------------------------------------------- */

eg_status eg_plain_gather(eg_plain *p, eg_buffer *b, eg_buffer *to)
{
    return eg_launch(p->gather, p->slices, EG_BUFFER("start", p->start),
                     EG_BUFFER("place", p->place), EG_BUFFER("b", b), EG_BUFFER("out", to));
}

static eg_status scatter(eg_plain *p, bool add, eg_buffer *from, eg_buffer *x)
{
    eg_status status = EG_OK;
    for (int group = 0; group < p->space->group_count; group++) {
        const eg_group *g = &p->space->groups[group];
        const plain_part *part = &p->parts[group];
        if (g->own_tiles == 0) continue;
        EG_TRY(eg_launch(part->scatter, g->own_tiles, EG_INTEGER("add", add),
                         EG_BUFFER("number", part->number), EG_BUFFER("from", from),
                         EG_BUFFER_AT("x", x, p->like->offset[group])));
    }
done:
    return status;
}

eg_status eg_plain_scatter(eg_plain *p, eg_buffer *from, eg_buffer *x)
{
    return scatter(p, false, from, x);
}

eg_status eg_plain_add(eg_plain *p, eg_buffer *from, eg_buffer *x)
{
    return scatter(p, true, from, x);
}
