/* Values of elements at their equidistant nodes: the basis there times the values, direction by
 * direction on tensor shapes.
 *
 * A node that is a node of the basis, too, gets that value as it is: elements that meet at a vertex
 * show the same there to the last bit. Elements of cells are split into them: all nodes of a part get
 * the value of its cell. */
#include "report/snapshot_nodes.h"

#include <math.h>

#include "element/basis.h"
#include "element/evaluate.h"
#include "element/nodes.h"

static void release(eg_context *ctx, eg_to_nodes *map)
{
    eg_release(ctx, &map->matrix);
    eg_release(ctx, &map->scratch[0]);
    eg_release(ctx, &map->scratch[1]);
}

void eg_to_nodes_free(eg_to_nodes_list *list)
{
    for (int i = 0; i < list->count; i++)
        release(list->ctx, &list->at[i]);
    eg_release(list->ctx, &list->at);
    list->count = 0;
}

/* The node of a simplex at point q of `points` [dim][count]; -1 if there is none. */
static int node_at(const eg_element *element, int count, const double *points, int q)
{
    for (int i = 0; i < element->np; i++) {
        double apart = 0;
        for (int d = 0; d < element->dim; d++)
            apart = fmax(apart, fabs(element->r[d * element->np + i] - points[d * count + q]));
        if (apart <= 1e-14) return i;
    }
    return -1;
}

/* Rows at nodes of the simplex's own basis become those of a unit matrix; the one value of degree 0
 * is the same everywhere. */
static void copy_own_nodes(const eg_element *element, int count, const double *points,
                           double *matrix)
{
    if (element->basis == EG_BASIS_MODAL) return;
    for (int q = 0; q < count; q++) {
        const int node = element->degree == 0 ? 0 : node_at(element, count, points, q);
        for (int i = 0; i < element->np && node >= 0; i++)
            matrix[q * element->np + i] = i == node;
    }
}

/* Where nodes [count] of a line are in it when it is one of `split` parts; those of cells are all taken
 * to its centre. */
static void go_to_part(int split, int part, bool centre, int count, const double *nodes,
                       double *points)
{
    for (int i = 0; i < count; i++)
        points[i] = (2 * part + 1 - split + (centre ? 0 : nodes[i])) / split;
}

static eg_status fill(eg_context *ctx, eg_to_nodes *map)
{
    eg_status status = EG_OK;
    eg_element *element = NULL;
    double *nodes = NULL, *points = NULL;
    const eg_shape_info *info = eg_shape_get_info(map->shape);
    const eg_shape factor = info->tensor ? EG_SHAPE_LINE : map->shape;
    const int most = map->from > map->to ? map->from : map->to;
    EG_TRY(eg_element_create_bare(ctx, factor, map->from, map->basis, &element));
    map->directions = info->tensor ? info->dim : 1;
    map->rows = eg_mode_count(factor, map->to);
    map->cols = element->np;
    EG_TRY(eg_new(ctx, (size_t)(map->rows * element->dim), &nodes));
    EG_TRY(eg_new(ctx, (size_t)(map->rows * element->dim), &points));
    const size_t size = (size_t)map->rows * (size_t)map->cols;
    EG_TRY(eg_new(ctx, (size_t)map->split * size, &map->matrix));
    for (int i = 0; i < 2; i++)
        EG_TRY(eg_new(ctx, (size_t)eg_mode_count(map->shape, most), &map->scratch[i]));
    EG_TRY(eg_nodes_place(ctx, factor, factor, map->to, EG_BASIS_EQUIDISTANT, nodes));
    for (int part = 0; info->tensor && part < map->split; part++) {
        go_to_part(map->split, part, map->basis == EG_BASIS_CELLS, map->rows, nodes, points);
        EG_TRY(eg_element_evaluate(element, map->rows, points, map->matrix + (size_t)part * size));
    }
    if (!info->tensor) {
        EG_TRY(eg_element_evaluate(element, map->rows, nodes, map->matrix));
        copy_own_nodes(element, map->rows, nodes, map->matrix);
    }
done:
    eg_release(ctx, &points);
    eg_release(ctx, &nodes);
    eg_element_destroy(&element);
    return status;
}

eg_status eg_to_nodes_find(eg_to_nodes_list *list, eg_shape shape, eg_basis basis, int from, int to,
                           int split, const eg_to_nodes **out)
{
    for (int i = 0; i < list->count; i++) {
        const eg_to_nodes *at = &list->at[i];
        if (at->shape == shape && at->basis == basis && at->from == from && at->to == to &&
            at->split == split) {
            *out = at;
            return EG_OK;
        }
    }
    eg_to_nodes map = {.shape = shape, .basis = basis, .from = from, .to = to, .split = split};
    eg_status status = EG_OK;
    EG_TRY(
        eg_reallocate(list->ctx, (size_t)(list->count + 1) * sizeof *list->at, (void **)&list->at));
    EG_TRY(fill(list->ctx, &map));
    list->at[list->count] = map;
    *out = &list->at[list->count++];
    return EG_OK;
done:
    release(list->ctx, &map);
    return status;
}

/* x [outer][cols][inner] → y [outer][rows][inner], by the matrix of a part of the line. */
static void multiply(const eg_to_nodes *map, int part, int outer, int inner, const double *x,
                     double *y)
{
    for (int o = 0; o < outer; o++, x += map->cols * inner, y += map->rows * inner)
        for (int row = 0; row < map->rows; row++) {
            const double *weight = map->matrix + (part * map->rows + row) * map->cols;
            for (int i = 0; i < inner; i++) {
                double sum = 0;
                for (int col = 0; col < map->cols; col++)
                    sum += weight[col] * x[col * inner + i];
                y[row * inner + i] = sum;
            }
        }
}

void eg_to_nodes_apply(const eg_to_nodes *map, int part, int stride, const double *values,
                       double *nodes)
{
    double *x = map->scratch[0], *y = map->scratch[1];
    int count = 1, inner = 1;
    for (int d = 0; d < map->directions; d++)
        count *= map->cols;
    for (int i = 0; i < count; i++)
        x[i] = values[i * stride];
    for (int d = 0; d < map->directions; d++, part /= map->split) {
        double *done = x;
        multiply(map, part % map->split, count / (inner * map->cols), inner, x, y);
        count = count / map->cols * map->rows;
        inner *= map->rows;
        x = y;
        y = done;
    }
    for (int i = 0; i < count; i++)
        nodes[i * stride] = x[i];
}
