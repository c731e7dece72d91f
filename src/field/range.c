/* The range of a function over the points at which it is projected, and over those of nodes that include
 * the corners of elements. The mean of a projection is an average over the first, so that no element's is
 * out of this range. */
#include "field/function.h"

#include <math.h>

typedef struct ranger {
    eg_function *function; /* not owned */
    double t;
    double *least, *most; /* not owned: [components] */
} ranger;

/* Joins the range over tiles of values [tiles][components][count][lanes]. */
static eg_status join(const ranger *r, const eg_group *g, eg_kernel *kernel, eg_reducer *reducer,
                      int64_t tiles, int count, eg_buffer *values, eg_buffer *const extremes[3])
{
    const int components = r->function->components;
    eg_status status = EG_OK;
    for (int c = 0; c < components; c++) {
        double found[2];
        const eg_reduction reductions[] = {{.kind = EG_REDUCE_MAX, .x = extremes[0]},
                                           {.kind = EG_REDUCE_MAX, .x = extremes[1]}};
        EG_TRY(eg_launch(kernel, eg_row_launches(tiles), EG_INTEGER("rows", tiles),
                         EG_INTEGER("components", components), EG_INTEGER("component", c),
                         EG_INTEGER("count", count), EG_BUFFER("values", values),
                         EG_BUFFER("below", extremes[0]), EG_BUFFER("above", extremes[1])));
        EG_TRY(eg_reduce(reducer, (size_t)(tiles * g->lanes), reductions, extremes[2]));
        EG_TRY(eg_buffer_download(extremes[2], 0, 2, found));
        /* NaN stay. */
        if (!isnan(r->least[c]) && !(r->least[c] <= -found[0])) r->least[c] = -found[0];
        if (!isnan(r->most[c]) && !(r->most[c] >= found[1])) r->most[c] = found[1];
    }
done:
    return status;
}

/* The range over some points of a group. */
static eg_status look_at(const ranger *r, int group, eg_points *points)
{
    const eg_space *space = r->function->space;
    const eg_group *g = &space->groups[group];
    const size_t dim = (size_t)space->mesh->dim, components = (size_t)r->function->components;
    const size_t count = (size_t)points->count;
    const int64_t batch = eg_batch_tiles(g, g->tiles, (dim + components) * count + 2);
    const size_t lanes = (size_t)(batch * g->lanes);
    const eg_reduction_kind kinds[] = {EG_REDUCE_MAX, EG_REDUCE_MAX};
    eg_buffer *x = NULL, *values = NULL, *extremes[3] = {NULL};
    eg_kernel *kernel = NULL;
    eg_reducer *reducer = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(space->device, EG_F64, dim * count * lanes, &x));
    EG_TRY(eg_buffer_create(space->device, EG_F64, components * count * lanes, &values));
    EG_TRY(eg_buffer_create(space->device, EG_F64, lanes, &extremes[0]));
    EG_TRY(eg_buffer_create(space->device, EG_F64, lanes, &extremes[1]));
    EG_TRY(eg_buffer_create(space->device, EG_F64, 2, &extremes[2]));
    EG_TRY(eg_group_kernel(space, g, "field/range.k.c", "range", &kernel));
    EG_TRY(eg_reducer_create(space->device, EG_F64, kinds, EG_COUNT(kinds), &reducer));
    for (int64_t first = 0; first < g->tiles; first += batch) {
        const int64_t tiles = first + batch <= g->tiles ? batch : g->tiles - first;
        EG_TRY(eg_points_coordinates(points, first, tiles, x));
        EG_TRY(eg_function_evaluate(r->function, group, r->t, tiles, points->count, x, values));
        EG_TRY(join(r, g, kernel, reducer, tiles, points->count, values, extremes));
    }
done:
    eg_reducer_destroy(&reducer);
    eg_kernel_destroy(&kernel);
    for (int i = 2; i >= 0; i--)
        eg_buffer_destroy(&extremes[i]);
    eg_buffer_destroy(&values);
    eg_buffer_destroy(&x);
    return status;
}

/* The range over the elements of this rank. */
static eg_status find(const ranger *r)
{
    const eg_space *space = r->function->space;
    eg_points *points = NULL;
    eg_element *element = NULL;
    eg_status status = EG_OK;
    for (int group = 0; group < space->group_count; group++) {
        const eg_group *g = &space->groups[group];
        EG_TRY(eg_points_create_for_fields(space, group, 2 * g->degree + 4, &points));
        EG_TRY(look_at(r, group, points));
        eg_points_destroy(&points);
        EG_TRY(eg_element_create(space->ctx, g->shape, g->degree > 1 ? g->degree : 2,
                                 EG_BASIS_LOBATTO, &element));
        EG_TRY(eg_points_create(space, group, element->np, element->r, NULL, &points));
        EG_TRY(look_at(r, group, points));
        eg_points_destroy(&points);
        eg_element_destroy(&element);
    }
done:
    eg_element_destroy(&element);
    eg_points_destroy(&points);
    return status;
}

eg_status eg_function_range(eg_function *function, double t, double *least, double *most)
{
    eg_comm *comm = function->space->comm;
    eg_status status = EG_OK;
    for (int c = 0; c < function->components; c++) {
        least[c] = INFINITY;
        most[c] = -INFINITY;
    }
    EG_TRY(eg_comm_agree(comm, find(&(ranger){function, t, least, most})));
    EG_TRY(eg_comm_max(comm, (size_t)function->components, most));
    for (int c = 0; c < function->components; c++)
        least[c] = -least[c];
    EG_TRY(eg_comm_max(comm, (size_t)function->components, least));
    for (int c = 0; c < function->components; c++)
        least[c] = -least[c];
done:
    return status;
}
