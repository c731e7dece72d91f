/* The gradient of a solution at its nodes, element by element. */
#include "model/elliptic/gradient.h"

static eg_status differentiate_group(const eg_field *u, int group, eg_field *out)
{
    const eg_space *space = u->space;
    const eg_group *g = &space->groups[group];
    const eg_element *e = g->element;
    eg_metric metric = {0};
    eg_operator *slopes = NULL;
    eg_kernel *kernel = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_metric_create(space, group, e->np, e->r, EG_METRIC_FACTORS, &metric));
    EG_TRY(eg_operator_create(space->device, EG_F64, e->dim * e->np, e->np, e->D, &slopes));
    const eg_define defines[] = {{"DIM", e->dim}, {"NP", e->np}, {"AT", metric.points}};
    EG_TRY(eg_space_kernel(space, g,
                           (eg_kernel_options){.source = "model/elliptic/gradient.k.c",
                                               .entry = "gradient",
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines)},
                           &kernel));
    EG_TRY(eg_launch(kernel, g->own_tiles, EG_BUFFER_AT("u", u->data, u->offset[group]),
                     EG_BUFFER("geometry", metric.factors), EG_OPERATOR("slopes", slopes),
                     EG_BUFFER_AT("out", out->data, out->offset[group])));
    EG_TRY(eg_device_sync(space->device));
done:
    eg_kernel_destroy(&kernel);
    eg_operator_destroy(&slopes);
    eg_metric_free(&metric);
    return status;
}

eg_status eg_elliptic_gradient(const eg_field *u, eg_field *out)
{
    eg_status status = EG_OK;
    for (int group = 0; group < u->space->group_count; group++)
        if (u->space->groups[group].own_tiles > 0) EG_TRY(differentiate_group(u, group, out));
done:
    return status;
}
