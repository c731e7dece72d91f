/* The kernels of model `advection` as a case needs them: its expressions as functions of the kernel
 * language, and the sizes of a group as defines. */
#include "model/advection/parts.h"

#include <stdio.h>

/* Elements with so many modes are kept in registers as a whole (modal.k.c), a thread of a GPU for each. */
#define WHOLE_MOST 36
/* … which then goes through so many rows (modal.k.c). More would read less, but leave too little to do
 * side by side: two are the fastest on an H200. */
#define CLIMB 2
#define CARRIED_MOST 12 /* traces that it may carry */

/* Adds a function NAME(x, y, z, t). */
static eg_status emit(const eg_expression *expression, const char *name, eg_text *source)
{
    static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    return eg_expression_emit(expression, name, arguments, EG_COUNT(arguments), source);
}

/* What flows in at boundary b, tracer c: a chain of choices, 0 where nothing is given. */
static eg_status write_boundary(const eg_advection *a, const eg_advection_options *options,
                                eg_text *source)
{
    const int count = a->space->mesh->boundary_count;
    eg_status status = EG_OK;
    for (int i = 0; i < count * a->components; i++) {
        char name[32];
        snprintf(name, sizeof name, "inflow_%d", i);
        if (options->boundary && options->boundary[i])
            EG_TRY(emit(options->boundary[i], name, source));
    }
    EG_TRY(eg_text_puts(source, "#define BOUNDARY_VALUE(b, c, x, y, z, t) ("));
    for (int i = 0; i < count * a->components; i++)
        if (options->boundary && options->boundary[i])
            EG_TRY(eg_text_printf(
                source, "(b) * %d + (c) == %d ? inflow_%d(x, y, z, t) : ", a->components, i, i));
    EG_TRY(eg_text_puts(source, "K_R(0))\n"));
done:
    return status;
}

eg_status eg_advection_write_velocity(const eg_advection *a, eg_text *source)
{
    eg_status status = EG_OK;
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "velocity_%d", i);
        if (i < a->dim) EG_TRY(emit(a->velocity[i], name, source));
        EG_TRY(eg_text_printf(source, "#define VELOCITY_%d(x, y, z, t) ", i));
        EG_TRY(i < a->dim ? eg_text_printf(source, "%s(x, y, z, t)\n", name)
                          : eg_text_puts(source, "K_R(0)\n"));
    }
done:
    return status;
}

/* The tracers' sources. */
static eg_status write_sources(const eg_advection *a, const eg_advection_options *options,
                               eg_text *source)
{
    eg_status status = EG_OK;
    for (int c = 0; a->has_source && c < a->components; c++) {
        char name[32];
        snprintf(name, sizeof name, "source_%d", c);
        if (options->source[c]) EG_TRY(emit(options->source[c], name, source));
    }
    EG_TRY(eg_text_puts(source, "#define SOURCE(c, x, y, z, t) ("));
    for (int c = 0; a->has_source && c < a->components; c++)
        if (options->source[c])
            EG_TRY(eg_text_printf(source, "(c) == %d ? source_%d(x, y, z, t) : ", c, c));
    EG_TRY(eg_text_puts(source, "K_R(0))\n"));
done:
    return status;
}

eg_status eg_advection_write_functions(const eg_advection *a, const eg_advection_options *options,
                                       eg_text *source)
{
    eg_status status = EG_OK;
    EG_TRY(write_boundary(a, options, source));
    EG_TRY(eg_advection_write_velocity(a, source));
    EG_TRY(write_sources(a, options, source));
done:
    return status;
}

eg_status eg_advection_make_kernel(const eg_advection *a, int group, const char *functions,
                                   const char *file, const char *entry, eg_kernel_options options,
                                   eg_kernel **out)
{
    eg_status status = EG_OK;
    eg_text source = eg_text_new(a->space->ctx);
    EG_TRY(eg_text_printf(&source, "%s#include \"model/advection/%s.k.c\"\n", functions, file));
    options.source = "advection";
    options.text = eg_text_string(&source);
    options.entry = entry;
    EG_TRY(eg_space_kernel(a->space, &a->space->groups[group], options, out));
done:
    eg_text_free(&source);
    return status;
}

/* How many tiles a block of a GPU takes side by side where an element is kept in registers as a whole:
 * few, as each is a warp that runs on its own, and so many as fit into shared memory (modal.k.c). */
static int whole_tiles(const eg_advection *a, const eg_group *group, int lines)
{
    const eg_device_info *info = eg_device_get_info(a->space->device);
    const int64_t rows = a->dim * lines + 7 * (a->dim + 1) + 1;
    const int64_t bytes = rows * (group->lanes + 2) * (int64_t)sizeof(double);
    int tiles = group->element->np > 25 ? 4 : 2;
    while (tiles > 1 && tiles * bytes > (int64_t)info->shared_bytes)
        tiles /= 2;
    return tiles;
}

static eg_status compile(eg_advection *a, int group, const char *functions, bool gathers,
                         eg_kernel **out)
{
    const eg_group *g = &a->space->groups[group];
    eg_advection_part *p = &a->parts[group];
    const int side = g->degree + 1, lines = a->dim == 3 ? side * side : side;
    const char *entry = p->sweep ? "sweep" : p->modal ? "modal" : "points";
    const bool whole = p->modal && lines * side <= WHOLE_MOST;
    const bool climbs = whole && p->uniform && a->components * lines <= CARRIED_MOST && !gathers;
    const eg_define defines[] = {
        {"DIM", a->dim},
        {"M", side},
        {"LINES", lines},
        {"NP", lines * side},
        {"FACES", 2 * a->dim},
        {"FACTORS", 1 + a->dim * a->dim},
        {"CORNERS", 1 << a->dim},
        {"COMPONENTS", a->components},
        {"POINTS", eg_advection_point_count(a, side)},
        {"MOST", p->most},
        {"UNIFORM", p->uniform},
        {"PARALLEL", p->parallel},
        {"GATHERS", gathers},
        {"CLIMBS", climbs},
        {"RING", p->ring_most},
        {"WHOLE", whole},
        {"FIRST", !a->one_stage},
        {"CURVED", g->curved},
        {"Q", p->points},
        {"FACE_Q", p->face_points},
        {"SOURCES", a->has_source},
        {"BOUNDARIES",
         p->sweep ? a->space->mesh->boundary_count > 0 : (p->kinds_present & KIND_OUTER) != 0},
        {"LOW_STORAGE", a->low_storage},
        {"K_STREAMING",
         p->sweep && eg_space_passes_caches(a->space, (a->one_stage ? 2 : 3) * a->components)},
    };
    return eg_advection_make_kernel(
        a, group, functions, entry, entry,
        (eg_kernel_options){.rows_per_block = whole ? 1 : 0,
                            .tiles_per_block = whole ? whole_tiles(a, g, lines) : 0,
                            .tiles_in_turn = climbs ? CLIMB : 1,
                            .defines = defines,
                            .define_count = EG_COUNT(defines)},
        out);
}

eg_status eg_advection_compile(eg_advection *a, int group, const char *functions)
{
    eg_advection_part *p = &a->parts[group];
    eg_status status = EG_OK;
    const bool apart = p->modal && !p->sweep;
    if (!apart || p->parallel) EG_TRY(compile(a, group, functions, false, &p->kernel));
    if (apart && p->kinds_present & KIND_MIXED)
        EG_TRY(compile(a, group, functions, true, &p->gathers));
done:
    return status;
}
