/* The gradient of fields at their nodes: what the kernels need, and their launches. */
#include "model/elliptic/gradient.h"

#include "element/mirror.h"

/* From which degree on a CPU works by even and odd parts. */
enum { MIRRORED_FROM = 6 };

typedef struct part {
    eg_metric metric;
    eg_operator *slopes;     /* NULL by parts */
    eg_operator *even, *odd; /* of parts, as are … */
    eg_buffer *pairs;
    eg_kernel *kernel; /* NULL: no elements of this rank */
} part;

struct eg_gradient {
    eg_space *space; /* not owned */
    part *parts;     /* [group_count] */
};

/* Derivatives [dim][rows][np], the rows behind np zero. */
static eg_status make_slopes(const eg_space *space, const eg_element *e, int rows,
                             eg_operator **out)
{
    const size_t np = (size_t)e->np, one = (size_t)rows * np;
    double *D = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)e->dim * one, &D));
    for (size_t d = 0; d < (size_t)e->dim; d++)
        for (size_t i = 0; i < np * np; i++)
            D[d * one + i] = e->D[d * np * np + i];
    EG_TRY(eg_operator_create(space->device, EG_F64, e->dim * rows, e->np, D, out));
done:
    eg_release(space->ctx, &D);
    return status;
}

/* Of `from` parts: the sum of derivatives to parts of their own kind, the difference to those of the other. */
static eg_status make_part_slopes(const eg_space *space, const eg_element *e,
                                  const eg_mirror *nodes, bool from_odd, eg_operator **out)
{
    const int rows = (nodes->even + 7) / 8 * 8, columns = from_odd ? nodes->odd : nodes->even;
    const size_t size = (size_t)e->np * (size_t)e->np;
    double *sum = NULL, *difference = NULL, *matrix = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, size, &sum));
    EG_TRY(eg_new(space->ctx, size, &difference));
    EG_TRY(eg_new(space->ctx, 2 * (size_t)rows * (size_t)columns, &matrix));
    for (size_t i = 0; i < size; i++) {
        sum[i] = e->D[i] + e->D[size + i];
        difference[i] = e->D[i] - e->D[size + i];
    }
    eg_mirror_fold(&(eg_mirror_block){nodes, nodes, from_odd, from_odd}, sum, e->np, columns,
                   matrix);
    eg_mirror_fold(&(eg_mirror_block){nodes, nodes, !from_odd, from_odd}, difference, e->np,
                   columns, matrix + rows * columns);
    EG_TRY(eg_operator_create(space->device, EG_F64, 2 * rows, columns, matrix, out));
done:
    eg_release(space->ctx, &matrix);
    eg_release(space->ctx, &difference);
    eg_release(space->ctx, &sum);
    return status;
}

static eg_status create_mirrored(const eg_space *space, const eg_group *g, part *p)
{
    const eg_element *e = g->element;
    eg_mirror nodes = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_mirror_create(space->ctx, e->np, e->r, &nodes));
    EG_TRY(eg_space_pairs(space, &nodes, &p->pairs));
    EG_TRY(make_part_slopes(space, e, &nodes, false, &p->even));
    EG_TRY(make_part_slopes(space, e, &nodes, true, &p->odd));
    const eg_define defines[] = {
        {"DIM", 2}, {"AT", 1}, {"NP", e->np}, {"EVEN", nodes.even}, {"ODD", nodes.odd}};
    EG_TRY(eg_space_kernel(space, g,
                           (eg_kernel_options){.source = "model/elliptic/gradient.k.c",
                                               .entry = "gradient_mirror",
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines)},
                           &p->kernel));
done:
    eg_mirror_free(space->ctx, &nodes);
    return status;
}

static eg_status create_part(const eg_space *space, int group, part *p)
{
    const eg_group *g = &space->groups[group];
    const eg_element *e = g->element;
    const bool on_gpu = eg_device_get_info(space->device)->is_gpu;
    const bool straight = g->shape == EG_SHAPE_TRI && !g->curved;
    const bool chain = on_gpu && straight && g->lanes % EG_CHAIN_LANES == 0;
    eg_status status = EG_OK;
    EG_TRY(eg_metric_create(space, group, e->np, e->r, EG_METRIC_FACTORS, &p->metric));
    if (straight && !on_gpu && e->degree >= MIRRORED_FROM) {
        status = create_mirrored(space, g, p);
        goto done;
    }
    EG_TRY(make_slopes(space, e, chain ? (e->np + 7) / 8 * 8 : e->np, &p->slopes));
    const bool flat = !on_gpu && e->dim == 2 && p->metric.points == 1;
    /* Blocks of two warps that a multiprocessor should hold, and chunks side by side: as measured on an
     * H200. */
    const eg_define defines[] = {{"DIM", e->dim},
                                 {"NP", e->np},
                                 {"AT", p->metric.points},
                                 {"K_MIN_BLOCKS", !chain || e->degree == 10 ? 1
                                                  : e->degree >= 8          ? 6
                                                                            : 8},
                                 {"K_UNROLL_CHUNKS", chain && e->degree == 4},
                                 {"K_STREAMING", eg_space_passes_caches(space, 3)}};
    EG_TRY(eg_space_kernel(space, g,
                           (eg_kernel_options){.source = "model/elliptic/gradient.k.c",
                                               .entry = chain  ? "gradient_chain"
                                                        : flat ? "gradient_flat"
                                                               : "gradient",
                                               .tiles_per_block = chain && e->degree < 10 ? 2 : 0,
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines)},
                           &p->kernel));
done:
    return status;
}

eg_status eg_gradient_create(eg_space *space, eg_gradient **out)
{
    eg_gradient *gradient = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(space->ctx, 1, &gradient));
    gradient->space = space;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &gradient->parts));
    for (int group = 0; group < space->group_count; group++)
        if (space->groups[group].own_tiles > 0)
            EG_TRY(create_part(space, group, &gradient->parts[group]));
    *out = gradient;
    gradient = NULL;
done:
    eg_gradient_destroy(&gradient);
    return status;
}

void eg_gradient_destroy(eg_gradient **handle)
{
    eg_gradient *gradient = *handle;
    if (!gradient) return;
    for (int i = 0; gradient->parts && i < gradient->space->group_count; i++) {
        part *p = &gradient->parts[i];
        eg_kernel_destroy(&p->kernel);
        eg_buffer_destroy(&p->pairs);
        eg_operator_destroy(&p->odd);
        eg_operator_destroy(&p->even);
        eg_operator_destroy(&p->slopes);
        eg_metric_free(&p->metric);
    }
    eg_context *ctx = gradient->space->ctx;
    eg_release(ctx, &gradient->parts);
    eg_release(ctx, handle);
}

eg_status eg_gradient_apply(eg_gradient *gradient, const eg_field *u, eg_field *out)
{
    const eg_space *space = gradient->space;
    eg_status status = EG_OK;
    for (int group = 0; group < space->group_count; group++) {
        const part *p = &gradient->parts[group];
        if (!p->kernel) continue;
        const int64_t tiles = space->groups[group].own_tiles;
        if (p->pairs)
            EG_TRY(eg_launch(p->kernel, tiles, EG_BUFFER_AT("u", u->data, u->offset[group]),
                             EG_BUFFER("geometry", p->metric.factors), EG_BUFFER("pairs", p->pairs),
                             EG_OPERATOR("even", p->even), EG_OPERATOR("odd", p->odd),
                             EG_BUFFER_AT("out", out->data, out->offset[group])));
        else
            EG_TRY(eg_launch(p->kernel, tiles, EG_BUFFER_AT("u", u->data, u->offset[group]),
                             EG_BUFFER("geometry", p->metric.factors),
                             EG_OPERATOR("slopes", p->slopes),
                             EG_BUFFER_AT("out", out->data, out->offset[group])));
    }
done:
    return status;
}
