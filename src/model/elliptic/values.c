/* Expressions of a case at points of elements: those of boundaries at points of faces. */
#include "model/elliptic/parts.h"

#include <stdio.h>

static eg_status emit(const eg_expression *expression, const char *name, eg_text *source)
{
    static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    return eg_expression_emit(expression, name, arguments, EG_COUNT(arguments), source);
}

/* The source of values.k.c with one expression for all points, or one for each of `count`
 * boundaries. */
static eg_status write_source(const eg_expression *const *expressions, int count, bool boundaries,
                              eg_text *source)
{
    eg_status status = EG_OK;
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "value_%d", i);
        if (expressions[i]) EG_TRY(emit(expressions[i], name, source));
    }
    EG_TRY(eg_text_puts(source, "#define VALUE(b, x, y, z, t) ("));
    for (int i = 0; i < count; i++)
        if (expressions[i])
            EG_TRY(eg_text_printf(source,
                                  "(b) == %d ? value_%d(x, y, z, t) : ", boundaries ? i : -1, i));
    EG_TRY(eg_text_printf(source, "K_R(%d))\n#include \"model/elliptic/values.k.c\"\n",
                          boundaries ? 0 : 1));
done:
    return status;
}

static eg_status compile(const eg_elliptic *a, int group, const eg_expression *const *expressions,
                         int expression_count, bool boundaries, int count, eg_kernel **out)
{
    const eg_define defines[] = {{"DIM", a->dim}, {"COUNT", count}, {"FACES", a->faces}};
    eg_text source = eg_text_new(a->space->ctx);
    eg_status status = EG_OK;
    EG_TRY(write_source(expressions, expression_count, boundaries, &source));
    EG_TRY(eg_space_kernel(a->space, &a->space->groups[group],
                           (eg_kernel_options){.source = "elliptic",
                                               .text = eg_text_string(&source),
                                               .entry = boundaries ? "on_boundaries" : "everywhere",
                                               .no_contraction = true,
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines)},
                           out));
done:
    eg_text_free(&source);
    return status;
}

eg_status eg_elliptic_evaluate(const eg_elliptic *a, int group, const eg_expression *expression,
                               double time, int count, const double *r, eg_buffer **values)
{
    const eg_group *g = &a->space->groups[group];
    eg_kernel *kernel = NULL;
    eg_metric places = {0};
    eg_status status = EG_OK;
    EG_TRY(compile(a, group, &expression, 1, false, count, &kernel));
    EG_TRY(eg_metric_create(a->space, group, count, r, EG_METRIC_X, &places));
    EG_TRY(
        eg_buffer_create(a->space->device, EG_F64, (size_t)(g->tiles * count * g->lanes), values));
    EG_TRY(eg_launch(kernel, g->tiles, EG_BUFFER("x", places.x), EG_REAL("time", time),
                     EG_BUFFER("values", *values)));
done:
    eg_metric_free(&places);
    eg_kernel_destroy(&kernel);
    return status;
}

eg_status eg_elliptic_evaluate_boundaries(const eg_elliptic *a, int group,
                                          const eg_expression *const *expressions, double time,
                                          int count, const double *r, eg_buffer **values)
{
    const eg_group *g = &a->space->groups[group];
    const size_t all = (size_t)(g->own_tiles * count * g->lanes);
    const double nothing = 0;
    eg_kernel *kernel = NULL;
    eg_metric places = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(a->space->device, EG_F64, all, values));
    if (!expressions || a->space->mesh->boundary_count == 0) {
        EG_TRY(eg_buffer_fill(*values, 0, all, &nothing));
        goto done;
    }
    EG_TRY(compile(a, group, expressions, a->space->mesh->boundary_count, true, count, &kernel));
    EG_TRY(eg_metric_create(a->space, group, count, r, EG_METRIC_X, &places));
    EG_TRY(eg_launch(kernel, g->own_tiles, EG_BUFFER("x", places.x),
                     EG_BUFFER("neighbour", g->neighbour), EG_REAL("time", time),
                     EG_BUFFER("values", *values)));
done:
    eg_metric_free(&places);
    eg_kernel_destroy(&kernel);
    return status;
}
