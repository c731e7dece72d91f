/* Functions: expressions compiled for a space's device, and their values at the nodes of a field.
 *
 * The expressions of all components become one kernel for each group, compiled without contraction,
 * so that sums and products round alike on every device. Coordinates and values are f64; a field of
 * lower precision is rounded at the end. Ghosts and padding have coordinates of their own, so they
 * are filled like any other element, with the same bits as where they are owned. */
#include "field/function.h"

#include <stdio.h>

/* --- compiling -------------------------------------------------------------------------------- */

/* The kernel's source: a function for each expression, the list of them, the loop. */
static eg_status write_source(const eg_expression *const *expressions, int components,
                              eg_text *source)
{
    static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    eg_status status = EG_OK;
    for (int c = 0; c < components; c++) {
        char name[32];
        snprintf(name, sizeof name, "value_%d", c);
        EG_TRY(eg_expression_emit(expressions[c], name, arguments, EG_COUNT(arguments), source));
    }
    EG_TRY(eg_text_puts(source, "#define VALUES(x, y, z, t)"));
    for (int c = 0; c < components; c++)
        EG_TRY(eg_text_printf(source, " \\\n    VALUE(%d, value_%d(x, y, z, t))", c, c));
    EG_TRY(eg_text_puts(source, "\n#include \"field/function.k.h\"\n"));
done:
    return status;
}

static eg_status compile(const eg_function *function, const char *source, int group,
                         eg_kernel **out)
{
    const eg_group *g = &function->space->groups[group];
    const eg_define defines[] = {{"DIM", function->space->mesh->dim},
                                 {"COMPONENTS", function->components},
                                 {"ROWS", EG_KERNEL_ROWS}};
    return eg_space_kernel(function->space, g,
                           (eg_kernel_options){.source = "expressions",
                                               .text = source,
                                               .entry = "evaluate",
                                               .no_contraction = true,
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines)},
                           out);
}

/* All that needs no other rank. */
static eg_status create(eg_space *space, const eg_expression *const *expressions, int components,
                        eg_function **out)
{
    eg_context *ctx = space->ctx;
    eg_function *function = NULL;
    eg_text source = eg_text_new(ctx);
    eg_status status = EG_OK;

    *out = NULL;
    if (components < 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "a function of %d components", components);
    EG_TRY(eg_new(ctx, 1, &function));
    function->space = space;
    function->components = components;
    EG_TRY(eg_new(ctx, (size_t)space->group_count, &function->evaluate));
    EG_TRY(eg_new(ctx, 2 * (size_t)space->group_count, &function->store));
    EG_TRY(eg_new(ctx, (size_t)space->group_count, &function->nodes));
    EG_TRY(write_source(expressions, components, &source));
    for (int group = 0; group < space->group_count; group++)
        EG_TRY(compile(function, eg_text_string(&source), group, &function->evaluate[group]));
    *out = function;
    function = NULL;
done:
    eg_text_free(&source);
    eg_function_destroy(&function);
    return status;
}

eg_status eg_function_create(eg_space *space, const eg_expression *const *expressions,
                             int components, eg_function **out)
{
    eg_status status = eg_comm_agree(space->comm, create(space, expressions, components, out));
    if (status != EG_OK) eg_function_destroy(out);
    return status;
}

void eg_function_destroy(eg_function **handle)
{
    eg_function *function = *handle;
    if (!function) return;
    eg_context *ctx = function->space->ctx;
    eg_projection_destroy(&function->projection);
    eg_buffer_destroy(&function->values);
    eg_buffer_destroy(&function->x);
    for (int group = 0; group < function->space->group_count; group++) {
        if (function->nodes) eg_points_destroy(&function->nodes[group]);
        for (int type = 0; function->store && type < 2; type++)
            eg_kernel_destroy(&function->store[2 * group + type]);
        if (function->evaluate) eg_kernel_destroy(&function->evaluate[group]);
    }
    eg_release(ctx, &function->nodes);
    eg_release(ctx, &function->store);
    eg_release(ctx, &function->evaluate);
    eg_release(ctx, handle);
}

/* --- evaluating ------------------------------------------------------------------------------- */

eg_status eg_function_evaluate(const eg_function *function, int group, double t, int64_t tiles,
                               int count, eg_buffer *x, eg_buffer *values)
{
    int64_t rows = tiles * count;
    return eg_launch(function->evaluate[group], eg_row_launches(rows), EG_INTEGER("rows", rows),
                     EG_INTEGER("count", count), EG_REAL("time", t), EG_BUFFER("x", x),
                     EG_BUFFER("values", values));
}

eg_status eg_field_check(const eg_field *field, const eg_space *space, int components)
{
    if (field->space != space)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT, "the field lives on another space");
    if (field->components != components)
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT, "the field has %d components instead of %d",
                       field->components, components);
    return EG_OK;
}

eg_status eg_function_store(eg_function *function, eg_field *field, int group, int64_t first,
                            int64_t tiles, eg_buffer *values)
{
    const eg_group *g = &function->space->groups[group];
    eg_kernel **store = &function->store[2 * group + (field->type == EG_F32)];
    eg_status status = EG_OK;
    if (!*store) EG_TRY(eg_group_copy_kernel(function->space, g, "store", field->type, store));
    EG_TRY(eg_field_copy(*store, field, group, first, tiles, values));
done:
    return status;
}

/* --- at the nodes ----------------------------------------------------------------------------- */

/* Tiles of a batch at the nodes of a group. */
static int64_t node_batch(const eg_function *function, const eg_group *g)
{
    size_t fields = (size_t)function->space->mesh->dim + (size_t)function->components;
    return eg_batch_tiles(g, g->tiles, fields * (size_t)g->element->np);
}

/* Makes what interpolation keeps for the next time. */
static eg_status prepare_nodes(eg_function *function)
{
    const eg_space *space = function->space;
    size_t rows = 0; /* of one field at the nodes of a batch, times lanes */
    eg_status status = EG_OK;
    if (function->values) return EG_OK;
    for (int group = 0; group < space->group_count; group++) {
        const eg_group *g = &space->groups[group];
        size_t needed = (size_t)(node_batch(function, g) * g->element->np * g->lanes);
        if (needed > rows) rows = needed;
        if (!function->nodes[group])
            EG_TRY(eg_points_create(space, group, g->element->np, g->element->r, NULL,
                                    &function->nodes[group]));
    }
    if (!function->x)
        EG_TRY(
            eg_buffer_create(space->device, EG_F64, rows * (size_t)space->mesh->dim, &function->x));
    EG_TRY(eg_buffer_create(space->device, EG_F64, rows * (size_t)function->components,
                            &function->values));
done:
    return status;
}

static eg_status interpolate(eg_function *function, double t, eg_field *field)
{
    const eg_space *space = function->space;
    eg_status status = EG_OK;
    EG_TRY(eg_field_check(field, space, function->components));
    EG_TRY(prepare_nodes(function));
    for (int group = 0; group < space->group_count; group++) {
        const eg_group *g = &space->groups[group];
        int64_t batch = node_batch(function, g);
        for (int64_t first = 0; first < g->tiles; first += batch) {
            int64_t tiles = first + batch <= g->tiles ? batch : g->tiles - first;
            EG_TRY(eg_points_coordinates(function->nodes[group], first, tiles, function->x));
            EG_TRY(eg_function_evaluate(function, group, t, tiles, g->element->np, function->x,
                                        function->values));
            EG_TRY(eg_function_store(function, field, group, first, tiles, function->values));
        }
    }
done:
    return status;
}

eg_status eg_function_interpolate(eg_function *function, double t, eg_field *field)
{
    const eg_space *space = function->space;
    return space->basis == EG_BASIS_MODAL || space->basis == EG_BASIS_CELLS
               ? eg_function_project(function, t, field)
               : eg_comm_agree(space->comm, interpolate(function, t, field));
}

eg_status eg_function_project(eg_function *function, double t, eg_field *field)
{
    eg_status status = EG_OK;
    if (!function->projection)
        EG_TRY(eg_projection_create(function->space, function->components, &function->projection));
    EG_TRY(eg_projection_run(function->projection, function, t, field));
done:
    return status;
}
