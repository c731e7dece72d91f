/* Points of a group's reference element: tables, products with them, coordinates and Jacobians
 * there.
 *
 * Interpolation to the points of a tensor product, and projection from them, are products of 1D
 * tables direction by direction (sum factorisation); elsewhere they are one dense table. The
 * mapping has few nodes and is always dense. */
#include "field/points.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The least degree of the cubature in each cell of EG_BASIS_CELLS: means of smooth functions are then
 * far better than any finite volumes with them. */
#define CELL_DEGREE_LEAST 7

int64_t eg_batch_tiles(const eg_group *group, int64_t tiles, size_t rows)
{
    size_t tile_bytes = rows * (size_t)group->lanes * sizeof(double);
    int64_t most = tile_bytes < EG_BATCH_BYTES ? (int64_t)(EG_BATCH_BYTES / tile_bytes) : 1;
    return tiles < most ? tiles : most;
}

int64_t eg_row_launches(int64_t rows)
{
    return (rows + EG_KERNEL_ROWS - 1) / EG_KERNEL_ROWS;
}

eg_status eg_group_kernel(const eg_space *space, const eg_group *group, const char *source,
                          const char *entry, eg_kernel **out)
{
    const eg_define defines[] = {{"DIM", group->element->dim}, {"ROWS", EG_KERNEL_ROWS}};
    const eg_device_info *info = eg_device_get_info(space->device);
    if (!info->has_f64)
        return eg_fail(
            space->ctx, EG_ERROR_UNSUPPORTED,
            "geometry and quadrature are in double precision, which %s (%s) does not have",
            info->spec, info->name);
    return eg_kernel_create(space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = source,
                                                 .entry = entry,
                                                 .real = EG_F64,
                                                 .lanes = group->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

eg_status eg_group_copy_kernel(const eg_space *space, const eg_group *group, const char *entry,
                               eg_type type, eg_kernel **out)
{
    const eg_define defines[] = {{"ROWS", EG_KERNEL_ROWS}};
    return eg_kernel_create(space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "field/points.k.c",
                                                 .entry = entry,
                                                 .real = type,
                                                 .lanes = group->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

int64_t eg_field_row(const eg_field *field, int group, int64_t tile)
{
    const eg_group *g = &field->space->groups[group];
    return (int64_t)field->offset[group] / g->lanes + tile * field->components * g->element->np;
}

eg_status eg_field_copy(eg_kernel *kernel, const eg_field *field, int group, int64_t first,
                        int64_t tiles, eg_buffer *values)
{
    const eg_group *g = &field->space->groups[group];
    int64_t rows = tiles * field->components * g->element->np;
    return eg_launch(kernel, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("first", eg_field_row(field, group, first)),
                     EG_BUFFER("field", field->data), EG_BUFFER("values", values));
}

/* --- products --------------------------------------------------------------------------------- */

void eg_product_free(eg_product *product)
{
    eg_buffer_destroy(&product->table);
    *product = (eg_product){0};
}

static int power(int base, int exponent)
{
    int p = 1;
    for (int i = 0; i < exponent; i++)
        p *= base;
    return p;
}

size_t eg_product_scratch(const eg_product *product)
{
    int larger = product->rows > product->cols ? product->rows : product->cols;
    return product->directions > 1 ? (size_t)power(larger, product->directions) : 0;
}

/* Makes a kernel of the points' group if it is not there yet. */
static eg_status find_kernel(const eg_points *points, const char *source, const char *entry,
                             eg_kernel **kernel)
{
    return *kernel ? EG_OK : eg_group_kernel(points->space, points->group, source, entry, kernel);
}

eg_status eg_points_multiply(eg_points *points, const eg_product *product, int64_t fields,
                             eg_buffer *x, int64_t x_first, eg_buffer *const scratch[2],
                             eg_buffer *y)
{
    const int last = product->directions - 1;
    eg_status status = EG_OK;

    EG_TRY(find_kernel(points, "field/points.k.c", "product", &points->product));
    /* Direction d: the ones before it have their new number of rows, those after it the old one. */
    for (int d = 0; d <= last; d++) {
        int s = power(product->rows, d);
        int64_t lines = fields * power(product->cols, last - d), rows = lines * product->rows * s;
        eg_buffer *to = d == last ? y : scratch[d % 2];
        EG_TRY(eg_launch(points->product, eg_row_launches(rows), EG_INTEGER("rows", rows),
                         EG_INTEGER("m", product->rows), EG_INTEGER("k", product->cols),
                         EG_INTEGER("s", s), EG_BUFFER("table", product->table),
                         EG_INTEGER("x_first", d == 0 ? x_first : 0),
                         EG_BUFFER("x", d == 0 ? x : scratch[(d + 1) % 2]), EG_BUFFER("y", to)));
    }
done:
    return status;
}

/* The element whose functions a product's table holds: the factor along a line, or the whole. */
static const eg_element *factor_of(const eg_points *points)
{
    return points->tensor ? points->group->element->line : points->group->element;
}

/* Makes a product of a table [rows][cols] of the points' factors. */
static eg_status create_product(const eg_points *points, int rows, int cols, const double *table,
                                eg_product *out)
{
    *out = (eg_product){
        .rows = rows, .cols = cols, .directions = points->tensor ? points->group->element->dim : 1};
    return eg_space_upload(points->space, EG_F64, (size_t)rows * (size_t)cols, table, &out->table);
}

eg_status eg_points_interpolation(const eg_points *points, eg_product *out)
{
    const eg_element *element = factor_of(points);
    eg_context *ctx = points->space->ctx;
    int count = points->rule.count;
    double *table = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_new(ctx, (size_t)count * (size_t)element->np, &table));
    EG_TRY(eg_element_evaluate(element, count, points->rule.r, table));
    EG_TRY(create_product(points, count, element->np, table, out));
done:
    eg_release(ctx, &table);
    return status;
}

eg_status eg_points_projection(const eg_points *points, eg_product *out)
{
    const eg_element *element = factor_of(points);
    eg_context *ctx = points->space->ctx;
    int count = points->rule.count;
    double *table = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_new(ctx, (size_t)count * (size_t)element->np, &table));
    EG_TRY(eg_element_project(element, &points->rule, table));
    EG_TRY(create_product(points, element->np, count, table, out));
done:
    eg_release(ctx, &table);
    return status;
}

/* --- points ----------------------------------------------------------------------------------- */

/* Makes what all points have, once `rule`, `count` and `r` are there; w [count] for the device. */
static eg_status finish_points(eg_points *points, const double *w)
{
    const eg_space *space = points->space;
    const eg_element *geometry = points->group->geometry;
    size_t values = (size_t)points->count * (size_t)geometry->np, dim = (size_t)geometry->dim;
    double *table = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_new(space->ctx, dim * values, &table));
    EG_TRY(eg_element_evaluate(geometry, points->count, points->r, table));
    EG_TRY(eg_space_upload(space, EG_F64, values, table, &points->mapping));
    EG_TRY(eg_element_differentiate(geometry, points->count, points->r, table));
    EG_TRY(eg_space_upload(space, EG_F64, dim * values, table, &points->gradient));
    EG_TRY(eg_space_upload(space, EG_F64, (size_t)points->count, w, &points->weights));
done:
    eg_release(space->ctx, &table);
    return status;
}

/* Points with a copy of the rule r [dim][n], w [n] (NULL: 0), of the group's shape or of the
 * line. */
static eg_status start_points(const eg_space *space, int group, bool tensor, int n, const double *r,
                              const double *w, eg_points **out)
{
    const eg_group *g = &space->groups[group];
    eg_points *points = NULL;
    eg_status status = EG_OK;

    *out = NULL;
    EG_TRY(eg_new(space->ctx, 1, &points));
    points->space = space;
    points->group = g;
    points->tensor = tensor;
    points->rule =
        (eg_cubature){.ctx = space->ctx, .shape = tensor ? EG_SHAPE_LINE : g->shape, .count = n};
    size_t coordinates = (size_t)n * (tensor ? 1 : (size_t)g->element->dim);
    EG_TRY(eg_new(space->ctx, coordinates, &points->rule.r));
    EG_TRY(eg_new(space->ctx, (size_t)n, &points->rule.w));
    memcpy(points->rule.r, r, coordinates * sizeof *r);
    if (w) memcpy(points->rule.w, w, (size_t)n * sizeof *w);
    *out = points;
    points = NULL;
done:
    eg_points_destroy(&points);
    return status;
}

eg_status eg_points_create(const eg_space *space, int group, int count, const double *r,
                           const double *w, eg_points **out)
{
    eg_points *points = NULL;
    size_t coordinates = (size_t)count * (size_t)space->groups[group].element->dim;
    eg_status status = EG_OK;

    *out = NULL;
    EG_TRY(start_points(space, group, false, count, r, w, &points));
    points->count = count;
    EG_TRY(eg_new(space->ctx, coordinates, &points->r));
    memcpy(points->r, r, coordinates * sizeof *r);
    EG_TRY(finish_points(points, points->rule.w));
    *out = points;
    points = NULL;
done:
    eg_points_destroy(&points);
    return status;
}

eg_status eg_points_create_tensor(const eg_space *space, int group, int n, const double *r,
                                  const double *w, eg_points **out)
{
    const int dim = space->groups[group].element->dim, count = power(n, dim);
    eg_points *points = NULL;
    double *weights = NULL;
    eg_status status = EG_OK;

    *out = NULL;
    EG_TRY(start_points(space, group, true, n, r, w, &points));
    points->count = count;
    EG_TRY(eg_new(space->ctx, (size_t)count * (size_t)dim, &points->r));
    EG_TRY(eg_new(space->ctx, (size_t)count, &weights));
    for (int i = 0; i < count; i++) {
        weights[i] = 1;
        for (int d = 0, rest = i; d < dim; d++, rest /= n) {
            points->r[d * count + i] = r[rest % n];
            weights[i] *= points->rule.w[rest % n];
        }
    }
    EG_TRY(finish_points(points, weights));
    *out = points;
    points = NULL;
done:
    eg_release(space->ctx, &weights);
    eg_points_destroy(&points);
    return status;
}

eg_status eg_points_create_cubature(const eg_space *space, int group, int degree, eg_points **out)
{
    eg_shape shape = space->groups[group].shape;
    bool tensor = eg_shape_get_info(shape)->tensor;
    eg_cubature *rule = NULL;
    eg_status status = EG_OK;

    *out = NULL;
    EG_TRY(eg_cubature_create(space->ctx, tensor ? EG_SHAPE_LINE : shape, degree, EG_CUBATURE_BEST,
                              &rule));
    EG_TRY((tensor ? eg_points_create_tensor : eg_points_create)(space, group, rule->count, rule->r,
                                                                 rule->w, out));
done:
    eg_cubature_destroy(&rule);
    return status;
}

/* The same Gauss points in each cell. Fields are constants there: of `degree` that of the square of a
 * polynomial is left out. */
static eg_status create_in_cells(const eg_space *space, int group, int degree, eg_points **out)
{
    const eg_group *g = &space->groups[group];
    const int cells = g->degree + 1, more = degree - 2 * g->degree;
    eg_cubature *rule = NULL;
    double *r = NULL, *w = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_cubature_create(space->ctx, EG_SHAPE_LINE,
                              more > CELL_DEGREE_LEAST ? more : CELL_DEGREE_LEAST, EG_CUBATURE_BEST,
                              &rule));
    const int count = cells * rule->count;
    EG_TRY(eg_new(space->ctx, (size_t)count, &r));
    EG_TRY(eg_new(space->ctx, (size_t)count, &w));
    for (int i = 0; i < count; i++) {
        const int q = i % rule->count;
        r[i] = (2 * (i / rule->count) + 1 - cells + rule->r[q]) / cells;
        w[i] = rule->w[q] / cells;
    }
    EG_TRY(eg_points_create_tensor(space, group, count, r, w, out));
done:
    eg_release(space->ctx, &w);
    eg_release(space->ctx, &r);
    eg_cubature_destroy(&rule);
    return status;
}

eg_status eg_points_create_for_fields(const eg_space *space, int group, int degree, eg_points **out)
{
    return (space->basis == EG_BASIS_CELLS ? create_in_cells
                                           : eg_points_create_cubature)(space, group, degree, out);
}

void eg_points_destroy(eg_points **handle)
{
    eg_points *points = *handle;
    if (!points) return;
    eg_context *ctx = points->space->ctx;
    eg_kernel_destroy(&points->summarise);
    eg_kernel_destroy(&points->jacobians);
    eg_kernel_destroy(&points->product);
    eg_buffer_destroy(&points->gradient);
    eg_buffer_destroy(&points->mapping);
    eg_buffer_destroy(&points->weights);
    eg_release(ctx, &points->r);
    eg_release(ctx, &points->rule.r);
    eg_release(ctx, &points->rule.w);
    eg_release(ctx, handle);
}

/* --- the mapping there ------------------------------------------------------------------------ */

eg_status eg_points_coordinates(eg_points *points, int64_t first, int64_t tiles, eg_buffer *x)
{
    const eg_group *group = points->group;
    const eg_product mapping = {.rows = points->count,
                                .cols = group->geometry->np,
                                .directions = 1,
                                .table = points->mapping};
    int64_t dim = group->element->dim;
    return eg_points_multiply(points, &mapping, tiles * dim, group->nodes,
                              first * dim * mapping.cols, NULL, x);
}

eg_status eg_points_jacobians(eg_points *points, int64_t first, int64_t tiles, eg_buffer *jacobian)
{
    const eg_group *group = points->group;
    int64_t rows = tiles * points->count;
    eg_status status = EG_OK;
    EG_TRY(find_kernel(points, "field/metric.k.c", "jacobians", &points->jacobians));
    EG_TRY(eg_launch(points->jacobians, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("first", first), EG_INTEGER("count", points->count),
                     EG_INTEGER("n", group->geometry->np), EG_BUFFER("table", points->gradient),
                     EG_BUFFER("nodes", group->nodes), EG_BUFFER("jacobian", jacobian)));
done:
    return status;
}

/* Fails with the element in slot (tile, lane) of the group, where its J is worst. `jacobian` holds
 * the J of the tiles from `first` on. */
static eg_status complain(const eg_points *points, int64_t first, int64_t tile, int lane,
                          int64_t stride, eg_buffer *jacobian)
{
    const eg_group *group = points->group;
    const eg_element *geometry = group->geometry;
    const eg_mesh *mesh = points->space->mesh;
    eg_context *ctx = points->space->ctx;
    const int lanes = group->lanes, dim = geometry->dim, np = geometry->np, count = points->count;
    double *j = NULL, *nodes = NULL, *values = NULL, x[3] = {0}, r[3] = {0};
    char place[120];
    eg_status status = EG_OK;

    EG_TRY(eg_new(ctx, (size_t)(count * lanes), &j));
    EG_TRY(eg_new(ctx, (size_t)(np * dim), &nodes));
    EG_TRY(eg_new(ctx, (size_t)np, &values));
    EG_TRY(
        eg_buffer_download(jacobian, (size_t)(tile * stride * lanes), (size_t)(count * lanes), j));
    int worst = 0;
    for (int q = 1; q < count && !isnan(j[worst * lanes + lane]); q++)
        if (!(j[q * lanes + lane] >= j[worst * lanes + lane])) worst = q;
    double value = j[worst * lanes + lane];
    for (int d = 0; d < dim; d++)
        r[d] = points->r[d * points->count + worst];
    int32_t element = group->element_of_slot[(first + tile) * lanes + lane];
    eg_mesh_element_nodes(mesh, element, nodes);
    EG_TRY(eg_element_evaluate(geometry, 1, r, values));
    for (int i = 0; i < np; i++)
        for (int d = 0; d < dim; d++)
            x[d] += values[i] * nodes[i * dim + d];
    if (dim == 2)
        snprintf(place, sizeof place, "(%.6g, %.6g)", x[0], x[1]);
    else
        snprintf(place, sizeof place, "(%.6g, %.6g, %.6g)", x[0], x[1], x[2]);
    status = eg_fail(ctx, EG_ERROR_INPUT,
                     "element %" PRId64 " of the mesh (a %s) is %s: the Jacobian of its mapping is "
                     "%.3g at %s; straighten or refine the mesh there",
                     mesh->global[element], eg_shape_get_info(group->shape)->name,
                     isnan(value) ? "no element" : "folded or inside out", value, place);
done:
    eg_release(ctx, &values);
    eg_release(ctx, &nodes);
    eg_release(ctx, &j);
    return status;
}

/* Adds an element's volume, with what rounding cuts off kept apart [neumaier1974]. */
static void add_volume(eg_mapping_summary *summary, double volume)
{
    double sum = summary->volume + volume;
    summary->carry += fabs(summary->volume) >= fabs(volume) ? summary->volume - sum + volume
                                                            : volume - sum + summary->volume;
    summary->volume = sum;
}

eg_status eg_points_summarise(eg_points *points, int64_t first, int64_t tiles, int64_t stride,
                              eg_buffer *jacobian, eg_mapping_summary *summary)
{
    const eg_space *space = points->space;
    const eg_group *group = points->group;
    const size_t lanes = (size_t)group->lanes;
    eg_buffer *result = NULL;
    double *values = NULL; /* [tiles][3][lanes] least, most, volume */
    eg_status status = EG_OK;

    EG_TRY(find_kernel(points, "field/metric.k.c", "summarise", &points->summarise));
    EG_TRY(eg_buffer_create(space->device, EG_F64, (size_t)tiles * 3 * lanes, &result));
    EG_TRY(eg_new(space->ctx, (size_t)tiles * 3 * lanes, &values));
    EG_TRY(eg_launch(points->summarise, eg_row_launches(tiles), EG_INTEGER("rows", tiles),
                     EG_INTEGER("count", points->count), EG_INTEGER("stride", stride),
                     EG_BUFFER("weights", points->weights), EG_BUFFER("jacobian", jacobian),
                     EG_BUFFER("summary", result)));
    EG_TRY(eg_buffer_download(result, 0, (size_t)tiles * 3 * lanes, values));
    for (size_t i = 0; i < (size_t)tiles * lanes; i++) {
        const double *at = values + i / lanes * 3 * lanes + i % lanes;
        int64_t slot = first * group->lanes + (int64_t)i;
        int32_t element = group->element_of_slot[slot];
        bool padding = space->slot_of_element[element] != group->first_slot + slot;
        if (!(at[0] > 0)) {
            status =
                complain(points, first, (int64_t)(i / lanes), (int)(i % lanes), stride, jacobian);
            goto done;
        }
        if (!(at[lanes] / at[0] <= summary->ratio)) summary->ratio = at[lanes] / at[0];
        if (!padding && element < space->mesh->element_count) add_volume(summary, at[2 * lanes]);
    }
done:
    eg_release(space->ctx, &values);
    eg_buffer_destroy(&result);
    return status;
}
