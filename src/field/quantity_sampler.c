/* Values of expressions of fields at points.
 *
 * The elements of a batch are gathered, as f64, from the fields and from the geometry's nodes
 * (affine elements: from the factors that their group has); coefficients are interpolated to
 * points, where one kernel, compiled without contraction, evaluates the expressions of all
 * quantities.
 *
 * Derivatives are those of the polynomial: coefficients are differentiated along the reference
 * coordinates (which leads to no other space), interpolated like the field itself, and turned to x,
 * y and z by the inverse of the mapping's derivative at the points. */
#include "field/quantity_sampler.h"

#include "field/function.h"

struct eg_sampler_tools {
    eg_kernel *quantities;
    eg_kernel *gather[2];     /* from f64 and, if there is such a field, from f32 */
    eg_kernel *volume, *face; /* curved groups: of metric.k.c */
    eg_kernel *product;       /* of points.k.c, if derivatives are used, with … */
    eg_buffer *derivative[3]; /* … the tables along r, s, t; of tensor elements: in 1D, one */
};

/* --- set-up ----------------------------------------------------------------------------------- */

static eg_status check_options(const eg_quantity_options *options)
{
    eg_context *ctx = options->fields[0]->space->ctx;
    if (options->count < 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%d quantities to measure", options->count);
    if (options->boundaries && options->boundary_count < 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "quantities on %d boundaries",
                       options->boundary_count);
    if (options->groups && options->group_count < 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "quantities of %d groups", options->group_count);
    for (int f = 1; f < options->field_count; f++)
        if (options->fields[f]->space != options->fields[0]->space)
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "field %d of a quantity lives on another space than the first", f);
    return EG_OK;
}

static eg_status create_quantities(const eg_sampler *sampler, const eg_group *g, const char *source,
                                   eg_kernel **out)
{
    const eg_define defines[] = {{"DIM", sampler->usage.dim},
                                 {"USED", sampler->usage.used_count},
                                 {"QUANTITIES", sampler->quantities},
                                 {"ROWS", EG_KERNEL_ROWS}};
    return eg_space_kernel(sampler->space, g,
                           (eg_kernel_options){.source = "quantities",
                                               .text = source,
                                               .entry = "quantities",
                                               .no_contraction = true,
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines)},
                           out);
}

/* From fields of this type. */
static eg_status create_gather(const eg_sampler *sampler, const eg_group *g, eg_type type,
                               eg_kernel **out)
{
    const eg_define defines[] = {{"ROWS", EG_KERNEL_ROWS}};
    return eg_kernel_create(sampler->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "field/quantity.k.c",
                                                 .entry = "gather",
                                                 .real = type,
                                                 .lanes = g->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

static eg_status create_derivatives(const eg_sampler *sampler, const eg_group *g,
                                    eg_sampler_tools *tools)
{
    const eg_element *factor = g->element->line ? g->element->line : g->element;
    const size_t size = (size_t)factor->np * (size_t)factor->np;
    eg_status status = EG_OK;
    for (int d = 0; d < factor->dim; d++)
        EG_TRY(eg_space_upload(sampler->space, EG_F64, size, factor->D + (size_t)d * size,
                               &tools->derivative[d]));
    EG_TRY(eg_group_kernel(sampler->space, g, "field/points.k.c", "product", &tools->product));
done:
    return status;
}

static eg_status create_tools(const eg_sampler *sampler, const eg_group *g, const char *source,
                              eg_sampler_tools *tools)
{
    const eg_space *space = sampler->space;
    const char *volume = sampler->usage.slopes ? "volume_metric" : "jacobians";
    eg_status status = EG_OK;
    EG_TRY(create_gather(sampler, g, EG_F64, &tools->gather[0]));
    for (int f = 0; f < sampler->usage.field_count; f++)
        if (sampler->types[f] == EG_F32 && !tools->gather[1])
            EG_TRY(create_gather(sampler, g, EG_F32, &tools->gather[1]));
    if (g->curved) {
        EG_TRY(eg_group_kernel(space, g, "field/metric.k.c", volume, &tools->volume));
        EG_TRY(eg_group_kernel(space, g, "field/metric.k.c", "face_metric", &tools->face));
    }
    if (sampler->usage.slopes) EG_TRY(create_derivatives(sampler, g, tools));
    EG_TRY(create_quantities(sampler, g, source, &tools->quantities));
done:
    return status;
}

static eg_status create_all_tools(eg_sampler *sampler, const eg_quantity_options *options)
{
    const eg_space *space = sampler->space;
    eg_text source = eg_text_new(space->ctx);
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &sampler->tools));
    EG_TRY(eg_usage_write(&sampler->usage, options, &source));
    for (int i = 0; i < sampler->part_count; i++) {
        const int group = sampler->parts[i].group;
        if (!sampler->tools[group].quantities) /* no other part has made them */
            EG_TRY(create_tools(sampler, &space->groups[group], eg_text_string(&source),
                                &sampler->tools[group]));
    }
done:
    eg_text_free(&source);
    return status;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Rows that a tile of the part needs in each buffer. */
static void count_rows(const eg_sampler *sampler, const eg_part *part,
                       size_t rows[EG_SAMPLE_BUFFERS])
{
    const eg_group *g = &sampler->space->groups[part->group];
    const size_t dim = (size_t)sampler->usage.dim, used = (size_t)sampler->usage.used_count;
    const size_t nodes = part->nodes.points ? (size_t)part->nodes.points->count : 0;
    const size_t points = larger((size_t)part->cubature.points->count, nodes);
    const size_t metric_points = g->curved ? points : 1;
    rows[EG_SAMPLE_NODES] = dim * (size_t)g->geometry->np;
    rows[EG_SAMPLE_X] = dim * points;
    rows[EG_SAMPLE_METRIC] = (1 + dim * dim) * metric_points;
    rows[EG_SAMPLE_NORMALS] = (dim + 1) * metric_points;
    for (size_t d = 0; d < 4; d++) {
        const bool needed = d == 0 || (sampler->usage.slopes && d <= dim);
        rows[EG_SAMPLE_U + d] = needed ? used * (size_t)g->element->np : 0;
        rows[EG_SAMPLE_AT_POINTS + d] = needed ? used * points : 0;
    }
    rows[EG_SAMPLE_SCRATCH] = used * larger(eg_product_scratch(&part->cubature.interpolation),
                                            eg_product_scratch(&part->nodes.interpolation));
    rows[EG_SAMPLE_SCRATCH + 1] = rows[EG_SAMPLE_SCRATCH];
    rows[EG_SAMPLE_VALUES] = (size_t)sampler->quantities * points;
}

/* Decides on batches and makes their buffers; one that nobody needs has a single value. */
static eg_status create_buffers(eg_sampler *sampler)
{
    const eg_space *space = sampler->space;
    size_t most[EG_SAMPLE_BUFFERS] = {0};
    eg_status status = EG_OK;

    EG_TRY(eg_new(space->ctx, (size_t)sampler->part_count, &sampler->batch));
    sampler->slots = 1;
    for (int i = 0; i < sampler->part_count; i++) {
        const eg_part *part = &sampler->parts[i];
        const eg_group *g = &space->groups[part->group];
        size_t rows[EG_SAMPLE_BUFFERS], sum = 0;
        count_rows(sampler, part, rows);
        for (int b = 0; b < EG_SAMPLE_BUFFERS; b++)
            sum += rows[b];
        sampler->batch[i] = eg_batch_tiles(g, part->tiles, sum);
        const size_t slots = (size_t)(sampler->batch[i] * g->lanes);
        for (int b = 0; b < EG_SAMPLE_BUFFERS; b++)
            most[b] = larger(most[b], rows[b] * slots);
        sampler->slots = larger(sampler->slots, slots);
    }
    for (int b = 0; b < EG_SAMPLE_BUFFERS; b++)
        EG_TRY(eg_buffer_create(space->device, EG_F64, larger(most[b], 1), &sampler->buffers[b]));
done:
    return status;
}

eg_status eg_sampler_create(const eg_quantity_options *options, eg_sampler *out)
{
    eg_space *space = options->fields[0]->space;
    eg_status status = EG_OK;

    *out = (eg_sampler){.space = space, .quantities = options->count};
    EG_TRY(check_options(options));
    EG_TRY(eg_usage_find(options, &out->usage));
    EG_TRY(eg_new(space->ctx, (size_t)options->field_count, &out->types));
    for (int f = 0; f < options->field_count; f++)
        out->types[f] = options->fields[f]->type;
    EG_TRY(eg_parts_create(options, &out->parts, &out->part_count));
    EG_TRY(create_all_tools(out, options));
    EG_TRY(create_buffers(out));
done:
    if (status != EG_OK) eg_sampler_free(out);
    return status;
}

static void free_tools(eg_sampler_tools *tools)
{
    for (int d = 0; d < 3; d++)
        eg_buffer_destroy(&tools->derivative[d]);
    eg_kernel_destroy(&tools->product);
    eg_kernel_destroy(&tools->face);
    eg_kernel_destroy(&tools->volume);
    eg_kernel_destroy(&tools->gather[1]);
    eg_kernel_destroy(&tools->gather[0]);
    eg_kernel_destroy(&tools->quantities);
}

void eg_sampler_free(eg_sampler *sampler)
{
    const eg_space *space = sampler->space;
    if (!space) return;
    for (int b = 0; b < EG_SAMPLE_BUFFERS; b++)
        eg_buffer_destroy(&sampler->buffers[b]);
    eg_release(space->ctx, &sampler->batch);
    for (int group = 0; sampler->tools && group < space->group_count; group++)
        free_tools(&sampler->tools[group]);
    eg_release(space->ctx, &sampler->tools);
    eg_parts_destroy(space, &sampler->parts, sampler->part_count);
    eg_release(space->ctx, &sampler->types);
    if (sampler->usage.ctx) eg_usage_free(&sampler->usage);
    *sampler = (eg_sampler){0};
}

eg_status eg_sampler_check(const eg_sampler *sampler, const eg_field *const *fields)
{
    eg_status status = EG_OK;
    for (int f = 0; f < sampler->usage.field_count; f++) {
        EG_TRY(eg_field_check(fields[f], sampler->space, sampler->usage.components[f]));
        if (fields[f]->type != sampler->types[f])
            return eg_fail(sampler->space->ctx, EG_ERROR_ARGUMENT,
                           "field %d of a quantity is of type %s instead of %s", f,
                           eg_type_name(fields[f]->type), eg_type_name(sampler->types[f]));
    }
done:
    return status;
}

/* --- batches ---------------------------------------------------------------------------------- */

bool eg_sampler_next(const eg_sampler *sampler, eg_sample_batch *batch)
{
    batch->first += batch->tiles;
    if (batch->part < sampler->part_count && batch->first == sampler->parts[batch->part].tiles) {
        batch->part++;
        batch->first = 0;
    }
    if (batch->part >= sampler->part_count) return false;
    const eg_part *part = &sampler->parts[batch->part];
    const int lanes = sampler->space->groups[part->group].lanes;
    const int64_t left = part->tiles - batch->first, most = sampler->batch[batch->part];
    batch->tiles = left < most ? left : most;
    batch->elements = part->count - batch->first * lanes;
    if (batch->elements > batch->tiles * lanes) batch->elements = batch->tiles * lanes;
    return true;
}

/* What the steps of a batch start from. */
typedef struct place {
    const eg_part *part;
    const eg_group *g;
    const eg_sampler_tools *tools;
} place;

static place find_place(const eg_sampler *sampler, const eg_sample_batch *batch)
{
    const eg_part *part = &sampler->parts[batch->part];
    return (place){part, &sampler->space->groups[part->group], &sampler->tools[part->group]};
}

/* Rows of an array in tiles of a group, and the rows of a batch's buffer that they become: n of
 * them for every element, from row `first` of the `rows` that a tile has. `first` of the array is
 * that in the group's first tile. */
typedef struct tile_rows {
    eg_buffer *buffer;
    int64_t first;
    int rows;
} tile_rows;

static eg_status gather(const eg_sampler *sampler, const eg_sample_batch *batch, int n,
                        tile_rows from, tile_rows to)
{
    const place at = find_place(sampler, batch);
    const int64_t rows = batch->tiles * n;
    eg_kernel *kernel = at.tools->gather[eg_buffer_type(from.buffer) == EG_F32];
    return eg_launch(kernel, eg_row_launches(rows), EG_INTEGER("rows", rows), EG_INTEGER("n", n),
                     EG_INTEGER("first", batch->first), EG_BUFFER("places", at.part->places),
                     EG_BUFFER("from", from.buffer), EG_INTEGER("from_first", from.first),
                     EG_INTEGER("from_rows", from.rows), EG_INTEGER("to_first", to.first),
                     EG_INTEGER("to_rows", to.rows), EG_BUFFER("to", to.buffer));
}

/* --- geometry --------------------------------------------------------------------------------- */

eg_status eg_sampler_load_geometry(eg_sampler *sampler, const eg_sample_batch *batch)
{
    const place at = find_place(sampler, batch);
    const int dim = sampler->usage.dim, n = dim * at.g->geometry->np;
    const int volume_rows = 1 + dim * dim, face_rows = dim + 1;
    eg_buffer *const *buffers = sampler->buffers;
    eg_status status = EG_OK;

    if (at.g->curved || sampler->usage.x)
        EG_TRY(gather(sampler, batch, n, (tile_rows){at.g->nodes, 0, n},
                      (tile_rows){buffers[EG_SAMPLE_NODES], 0, n}));
    if (at.g->curved) return EG_OK;
    EG_TRY(gather(sampler, batch, volume_rows, (tile_rows){at.g->volume_factors, 0, volume_rows},
                  (tile_rows){buffers[EG_SAMPLE_METRIC], 0, volume_rows}));
    if (at.part->face >= 0)
        EG_TRY(gather(sampler, batch, face_rows,
                      (tile_rows){at.g->face_factors, at.part->face * face_rows,
                                  at.g->element->faces * face_rows},
                      (tile_rows){buffers[EG_SAMPLE_NORMALS], 0, face_rows}));
done:
    return status;
}

/* J, and with derivatives the inverse matrix, at points of curved elements. */
static eg_status find_metric(const eg_sampler *sampler, const eg_sample_batch *batch,
                             const eg_points *points)
{
    const place at = find_place(sampler, batch);
    const int64_t rows = batch->tiles * points->count;
    const int n = at.g->geometry->np;
    eg_buffer *nodes = sampler->buffers[EG_SAMPLE_NODES];
    eg_buffer *metric = sampler->buffers[EG_SAMPLE_METRIC];
    if (!sampler->usage.slopes)
        return eg_launch(at.tools->volume, eg_row_launches(rows), EG_INTEGER("rows", rows),
                         EG_INTEGER("first", 0), EG_INTEGER("count", points->count),
                         EG_INTEGER("n", n), EG_BUFFER("table", points->gradient),
                         EG_BUFFER("nodes", nodes), EG_BUFFER("jacobian", metric));
    return eg_launch(at.tools->volume, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("count", points->count), EG_INTEGER("n", n),
                     EG_BUFFER("table", points->gradient), EG_BUFFER("nodes", nodes),
                     EG_BUFFER("factors", metric));
}

/* Normals and the measure at points of a face of curved elements: one face for the kernel. */
static eg_status find_normals(const eg_sampler *sampler, const eg_sample_batch *batch,
                              const eg_part_points *set)
{
    const place at = find_place(sampler, batch);
    const int64_t rows = batch->tiles * set->points->count;
    return eg_launch(at.tools->face, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("faces", 1), EG_INTEGER("count", set->points->count),
                     EG_INTEGER("n", at.g->geometry->np), EG_BUFFER("table", set->face_slopes),
                     EG_BUFFER("nodes", sampler->buffers[EG_SAMPLE_NODES]),
                     EG_BUFFER("factors", sampler->buffers[EG_SAMPLE_NORMALS]));
}

eg_status eg_sampler_find_geometry(eg_sampler *sampler, const eg_sample_batch *batch,
                                   const eg_part_points *set)
{
    const place at = find_place(sampler, batch);
    const bool on_face = at.part->face >= 0, weighted = set == &at.part->cubature;
    eg_buffer *const *buffers = sampler->buffers;
    eg_status status = EG_OK;

    if (sampler->usage.x) {
        const eg_product mapping = {.rows = set->points->count,
                                    .cols = at.g->geometry->np,
                                    .directions = 1,
                                    .table = set->points->mapping};
        EG_TRY(eg_points_multiply(set->points, &mapping, batch->tiles * sampler->usage.dim,
                                  buffers[EG_SAMPLE_NODES], 0, NULL, buffers[EG_SAMPLE_X]));
    }
    if (!at.g->curved) return EG_OK;
    if (sampler->usage.slopes || (weighted && !on_face))
        EG_TRY(find_metric(sampler, batch, set->points));
    if (on_face) EG_TRY(find_normals(sampler, batch, set));
done:
    return status;
}

eg_sample_measure eg_sampler_measure(const eg_sampler *sampler, const eg_sample_batch *batch,
                                     const eg_part_points *set)
{
    const place at = find_place(sampler, batch);
    const int dim = sampler->usage.dim, points = at.g->curved ? set->points->count : 1;
    if (at.part->face >= 0)
        return (eg_sample_measure){sampler->buffers[EG_SAMPLE_NORMALS], dim, dim + 1, points};
    const bool alone = at.g->curved && !sampler->usage.slopes;
    return (eg_sample_measure){sampler->buffers[EG_SAMPLE_METRIC], 0, alone ? 1 : 1 + dim * dim,
                               points};
}

/* --- fields ----------------------------------------------------------------------------------- */

/* The coefficients of all derivatives along reference coordinate d. On tensor elements they are
 * products with the table in 1D, along lines of this direction. */
static eg_status differentiate(const eg_sampler *sampler, const eg_sample_batch *batch, int d)
{
    const place at = find_place(sampler, batch);
    const eg_element *element = at.g->element, *line = element->line;
    const int64_t rows = batch->tiles * sampler->usage.used_count * element->np;
    const int m = line ? line->np : element->np;
    int s = 1;
    for (int k = 0; line && k < d; k++)
        s *= m;
    return eg_launch(at.tools->product, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("m", m), EG_INTEGER("k", m), EG_INTEGER("s", s),
                     EG_BUFFER("table", at.tools->derivative[line ? 0 : d]),
                     EG_INTEGER("x_first", 0), EG_BUFFER("x", sampler->buffers[EG_SAMPLE_U]),
                     EG_BUFFER("y", sampler->buffers[EG_SAMPLE_U + 1 + d]));
}

eg_status eg_sampler_load_fields(eg_sampler *sampler, const eg_sample_batch *batch,
                                 const eg_field *const *fields)
{
    const place at = find_place(sampler, batch);
    const int np = at.g->element->np, used = sampler->usage.used_count;
    eg_status status = EG_OK;
    for (int k = 0; k < used; k++) {
        const eg_field *field = fields[sampler->usage.used[k].field];
        const int64_t first = eg_field_row(field, at.part->group, 0);
        EG_TRY(
            gather(sampler, batch, np,
                   (tile_rows){field->data, first + (int64_t)sampler->usage.used[k].component * np,
                               field->components * np},
                   (tile_rows){sampler->buffers[EG_SAMPLE_U], (int64_t)k * np, used * np}));
    }
    for (int d = 0; sampler->usage.slopes && d < sampler->usage.dim; d++)
        EG_TRY(differentiate(sampler, batch, d));
done:
    return status;
}

eg_status eg_sampler_evaluate(eg_sampler *sampler, const eg_sample_batch *batch,
                              const eg_part_points *set, double t)
{
    const place at = find_place(sampler, batch);
    const int64_t fields = batch->tiles * sampler->usage.used_count;
    const int64_t rows = batch->tiles * set->points->count;
    const int arrays = fields == 0 ? 0 : sampler->usage.slopes ? 1 + sampler->usage.dim : 1;
    eg_buffer *const *buffers = sampler->buffers;
    const bool interpolates = set->interpolation.table != NULL;
    eg_buffer *const *u = buffers + (interpolates ? EG_SAMPLE_AT_POINTS : EG_SAMPLE_U);
    eg_status status = EG_OK;

    for (int d = 0; interpolates && d < arrays; d++)
        EG_TRY(eg_points_multiply(set->points, &set->interpolation, fields,
                                  buffers[EG_SAMPLE_U + d], 0, buffers + EG_SAMPLE_SCRATCH, u[d]));
    EG_TRY(eg_launch(at.tools->quantities, eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("count", set->points->count),
                     EG_INTEGER("metric_points", at.g->curved ? set->points->count : 1),
                     EG_REAL("time", t), EG_BUFFER("x", buffers[EG_SAMPLE_X]),
                     EG_BUFFER("normals", buffers[EG_SAMPLE_NORMALS]),
                     EG_BUFFER("metric", buffers[EG_SAMPLE_METRIC]), EG_BUFFER("u", u[0]),
                     EG_BUFFER("u_r", u[1]), EG_BUFFER("u_s", u[2]), EG_BUFFER("u_t", u[3]),
                     EG_BUFFER("values", buffers[EG_SAMPLE_VALUES])));
done:
    return status;
}
