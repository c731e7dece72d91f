/* The kernels of model `euler` as a case needs them: its gas and boundaries as functions of the
 * kernel language, and the sizes of a group as defines. */
#include "model/euler/parts.h"

#include <stdio.h>

/* Rows of threads that look at an element's nodes together on a GPU. */
enum { PARTS = 4 };

/* Blocks of `stage` that are to fit on a multiprocessor, by degree: the fastest on an H200, with
 * Gauss-Lobatto and with Gauss points. */
static const int blocks_of[2][EG_EULER_DEGREE_MAX + 1] = {{1, 4, 4, 2, 3, 2, 2, 2, 2},
                                                          {1, 2, 2, 2, 2, 2, 1, 1, 1}};

/* What the case gives at boundaries, as boundary.k.h wants it. */
static eg_status write_boundaries(const eg_euler_options *options, int count, eg_text *source)
{
    static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    const int values = count * EG_EULER_COMPONENTS;
    eg_status status = EG_OK;
    for (int i = 0; i < values; i++) {
        char name[32];
        snprintf(name, sizeof name, "given_%d", i);
        if (options->given[i])
            EG_TRY(eg_expression_emit(options->given[i], name, arguments, EG_COUNT(arguments),
                                      source));
    }
    EG_TRY(eg_text_puts(source, "#define GIVEN(b, c, x, y, z, t) ("));
    for (int i = 0; i < values; i++)
        if (options->given[i])
            EG_TRY(eg_text_printf(source, "(b) * %d + (c) == %d ? given_%d(x, y, z, t) : ",
                                  EG_EULER_COMPONENTS, i, i));
    EG_TRY(eg_text_puts(source, "K_R(1))\n#define BOUNDARY_TYPE(b) ("));
    for (int i = 0; i < count; i++)
        EG_TRY(eg_text_printf(source, "(b) == %d ? %d : ", i, (int)options->types[i]));
    EG_TRY(eg_text_puts(source, "0)\n"));
done:
    return status;
}

eg_status eg_euler_make_kernel(const eg_euler *a, int group, const char *before, const char *name,
                               eg_kernel_options options, eg_kernel **out)
{
    eg_status status = EG_OK;
    eg_text source = eg_text_new(a->space->ctx);
    EG_TRY(eg_text_printf(&source, "#define GAMMA K_R(%.17g)\n%s#include \"model/euler/%s.k.c\"\n",
                          a->gamma, before, name));
    options.source = "euler";
    options.text = eg_text_string(&source);
    options.entry = name;
    EG_TRY(eg_space_kernel(a->space, &a->space->groups[group], options, out));
done:
    eg_text_free(&source);
    return status;
}

/* The kernels of limiter.c. */
static eg_status compile_limiter(eg_euler *a, int group, const eg_euler_limits *limits,
                                 const char *boundaries)
{
    eg_euler_part *p = &a->parts[group];
    const int side = a->degree + 1;
    const eg_define defines[] = {{"M", side},
                                 {"GAUSS", a->gauss},
                                 {"CARTESIAN", p->cartesian},
                                 {"BOUNDARIES", p->outer},
                                 {"LIMITS", limits->method == EG_EULER_MINMOD},
                                 {"POSITIVITY", limits->positivity}};
    eg_status status = EG_OK;
    EG_TRY(eg_euler_make_kernel(
        a, group, "", "means",
        (eg_kernel_options){.defines = defines, .define_count = EG_COUNT(defines)}, &p->means));
    EG_TRY(eg_euler_make_kernel(a, group, boundaries, "limit",
                                (eg_kernel_options){.rows_per_block = side,
                                                    .defines = defines,
                                                    .define_count = EG_COUNT(defines)},
                                &p->limit));
done:
    return status;
}

/* The kernel of blend.c. */
static eg_status compile_indicator(eg_euler *a, int group)
{
    const int side = a->degree + 1;
    const eg_define defines[] = {{"M", side}, {"GAUSS", a->gauss}};
    return eg_euler_make_kernel(a, group, "", "indicator",
                                (eg_kernel_options){.rows_per_block = side,
                                                    .defines = defines,
                                                    .define_count = EG_COUNT(defines)},
                                &a->parts[group].indicator);
}

eg_status eg_euler_compile(eg_euler *a, int group, const eg_euler_options *options)
{
    eg_euler_part *p = &a->parts[group];
    eg_text boundaries = eg_text_new(a->space->ctx);
    const bool is_gpu = eg_device_get_info(a->space->device)->is_gpu;
    const bool passes = p->sweeps && eg_space_passes_caches(a->space, 3 * EG_EULER_COMPONENTS);
    const int side = a->degree + 1;
    enum { SHAPE = 7 }; /* so many of them are of shape.k.h */
    eg_define defines[] = {
        {"M", side},
        {"INNER", eg_euler_inner(a->scheme, a->degree)},
        {"GAUSS", a->gauss},
        {"CARTESIAN", p->cartesian},
        {"CURVED", p->curved},
        {"METRIC_ROWS", eg_euler_metric_rows(a, p)},
        {"ORDER", p->curved ? 1 : a->space->mesh->order},
        {"SCHEME", eg_euler_form_of(a->scheme)},
        {"FLUX", a->flux},
        {"BOUNDARIES", p->outer},
        {"LOW_STORAGE", a->low_storage},
        {"PIECES", !is_gpu},
        {"BLENDS", options->limits.method == EG_EULER_BLEND},
        {"K_MIN_BLOCKS", blocks_of[a->gauss][a->degree]},
        {"RING", p->sweeps ? eg_euler_ring_most(a, group) : 1},
        {"FETCHES", passes || a->wave},
        {"K_STREAMING", passes && !a->wave},
        {"WAVE", a->wave != NULL},
        {"IN_PLACE", 0},
    };
    const eg_define small[] = {{"M", side},
                               {"PARTS", is_gpu ? PARTS : 1},
                               {"BASIS", eg_euler_ends_at(a->scheme, a->degree)}};
    eg_status status = EG_OK;
    if (p->outer) EG_TRY(write_boundaries(options, a->space->mesh->boundary_count, &boundaries));
    if (a->scheme.method == EG_EULER_FV)
        EG_TRY(eg_euler_compile_cells(a, group, eg_text_string(&boundaries)));
    else
        EG_TRY(eg_euler_make_kernel(
            a, group, eg_text_string(&boundaries), p->sweeps ? "sweep" : "stage",
            (eg_kernel_options){
                .rows_per_block = side, .defines = defines, .define_count = EG_COUNT(defines)},
            a->wave ? &a->wave->stage : &p->stage));
    defines[EG_COUNT(defines) - 1].value = 1; /* IN_PLACE */
    if (a->wave)
        EG_TRY(eg_euler_make_kernel(a, group, eg_text_string(&boundaries), "sweep",
                                    (eg_kernel_options){.rows_per_block = side,
                                                        .defines = defines,
                                                        .define_count = EG_COUNT(defines)},
                                    &a->wave->last));
    EG_TRY(eg_euler_make_kernel(
        a, group, "", eg_euler_sweeps_on(a->space->device) ? "fastest" : "speeds",
        (eg_kernel_options){.defines = small, .define_count = EG_COUNT(small)}, &p->speeds));
    EG_TRY(eg_euler_make_kernel(a, group, "", "totals",
                                (eg_kernel_options){.defines = defines, .define_count = SHAPE},
                                &p->totals));
    if (a->traced)
        EG_TRY(eg_euler_make_kernel(
            a, group, "", "traces",
            (eg_kernel_options){.defines = small, .define_count = EG_COUNT(small)}, &p->traces));
    if (options->limits.method == EG_EULER_BLEND) EG_TRY(compile_indicator(a, group));
    if (eg_euler_limits_after(&options->limits))
        EG_TRY(compile_limiter(a, group, &options->limits, eg_text_string(&boundaries)));
done:
    eg_text_free(&boundaries);
    return status;
}
