/* What a solution with jumps begins with.
 *
 * Values at solution points know the place of a jump to the distance of two points, and each scheme has
 * points of its own: a curved front becomes steps, and in flow that is not stable, as behind a
 * shock that has gone through a corrugated front, they grow. So values v are moved to the means q of the L2
 * projection, which has more points, and scaled towards them:
 *
 *     q + θ (v - v̄),   θ the largest, up to 1, for which none of them is beyond the v of the element, or q.
 *
 * Where a function is smooth both means differ by as little as a projection does from it, and so do the
 * values from it [zhang2010]. */
#include "model/euler/parts.h"

/* On the tiles of one group. */
static eg_status start_group(eg_euler *a, int group, const eg_field *projected, eg_field *values)
{
    const eg_group *g = &a->space->groups[group];
    const eg_euler_part *p = &a->parts[group];
    const eg_define defines[] = {{"M", a->degree + 1},
                                 {"INNER", eg_euler_inner(a->scheme, a->degree)},
                                 {"GAUSS", a->gauss},
                                 {"CARTESIAN", p->cartesian},
                                 {"CURVED", p->curved},
                                 {"METRIC_ROWS", eg_euler_metric_rows(a, p)},
                                 {"ORDER", p->curved ? 1 : a->space->mesh->order}};
    const eg_kernel_options options = {.defines = defines, .define_count = EG_COUNT(defines)};
    eg_kernel *kernel = NULL;
    eg_status status = EG_OK;
    if (g->own_tiles == 0) return EG_OK;
    EG_TRY(eg_euler_make_kernel(a, group, "", "start", options, &kernel));
    EG_TRY(eg_launch(
        kernel, g->own_tiles, EG_BUFFER_AT("projected", projected->data, projected->offset[group]),
        EG_BUFFER("nodes", g->nodes), EG_BUFFER("metric", p->curved ? p->metric : g->nodes),
        EG_BUFFER("line", a->sums.line), EG_BUFFER_AT("u", values->data, values->offset[group])));
done:
    eg_kernel_destroy(&kernel);
    return status;
}

static eg_status start_all(eg_euler *a, const eg_field *projected, eg_field *values)
{
    eg_status status = EG_OK;
    for (int i = 0; i < a->space->group_count; i++)
        EG_TRY(start_group(a, i, projected, values));
done:
    return status;
}

eg_status eg_euler_start(eg_euler *a, const eg_field *projected, eg_field *values)
{
    return eg_comm_agree(a->space->comm, start_all(a, projected, values));
}
