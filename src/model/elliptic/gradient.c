/* The gradient of fields at their nodes: what the kernels need, and their launches. */
#include "model/elliptic/gradient.h"

typedef struct part {
    eg_metric metric;
    eg_operator *slopes;
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

static eg_status create_part(const eg_space *space, int group, part *p)
{
    const eg_group *g = &space->groups[group];
    const eg_element *e = g->element;
    const bool gpu = eg_device_get_info(space->device)->is_gpu;
    const bool chain =
        gpu && g->shape == EG_SHAPE_TRI && !g->curved && g->lanes % EG_CHAIN_LANES == 0;
    eg_status status = EG_OK;
    EG_TRY(eg_metric_create(space, group, e->np, e->r, EG_METRIC_FACTORS, &p->metric));
    EG_TRY(make_slopes(space, e, chain ? (e->np + 7) / 8 * 8 : e->np, &p->slopes));
    const bool flat = !gpu && e->dim == 2 && p->metric.points == 1;
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
        EG_TRY(eg_launch(p->kernel, space->groups[group].own_tiles,
                         EG_BUFFER_AT("u", u->data, u->offset[group]),
                         EG_BUFFER("geometry", p->metric.factors), EG_OPERATOR("slopes", p->slopes),
                         EG_BUFFER_AT("out", out->data, out->offset[group])));
    }
done:
    return status;
}
