/* Guards: the worst that a field holds, found on the device; how they are made. Looking is
 * guard_look.c's.
 *
 * The quantities that must be positive become functions of the kernels, which are compiled
 * without contraction, so that sums and products round alike on every device. */
#include "field/guard_parts.h"

#include <stdio.h>

/* Values of an element that are worth a part of their own. */
#define PART_LEAST 32

/* --- kernels ---------------------------------------------------------------------------------- */

/* A function for each quantity, the list of them, the loops. */
static eg_status write_source(const eg_expression *const *positive, int count, eg_guard *guard)
{
    eg_context *ctx = guard->space->ctx;
    const size_t arguments = EG_VARIABLE_COUNT + (size_t)guard->components;
    eg_text *source = &guard->source;
    char(*texts)[24] = NULL;
    const char **names = NULL;
    eg_status status = EG_OK;

    EG_TRY(eg_new(ctx, arguments, &texts));
    EG_TRY(eg_new(ctx, arguments, &names));
    for (size_t i = 0; i < arguments; i++) {
        if (i < EG_VARIABLE_COUNT)
            snprintf(texts[i], sizeof texts[i], "%c", "xyzt"[i]);
        else
            snprintf(texts[i], sizeof texts[i], "u%zu", i - EG_VARIABLE_COUNT);
        names[i] = texts[i];
    }
    for (int k = 0; k < count; k++) {
        char name[32];
        snprintf(name, sizeof name, "positive_%d", k);
        EG_TRY(eg_expression_emit(positive[k], name, names, arguments, source));
    }
    if (count > 0) EG_TRY(eg_text_puts(source, "#define QUANTITIES(Q) K_LANE {"));
    for (int k = 0; k < count; k++) {
        EG_TRY(eg_text_printf(source, " \\\n    Q(%d, positive_%d(PX, PY, PZ, (real)time", k, k));
        for (int c = 0; c < guard->components; c++)
            EG_TRY(eg_text_printf(source, ", U(%d)", c));
        EG_TRY(eg_text_puts(source, "))"));
    }
    EG_TRY(eg_text_printf(source, "%s\n#include \"field/guard.k.c\"\n", count > 0 ? " }" : ""));
done:
    eg_release(ctx, &names);
    eg_release(ctx, &texts);
    return status;
}

eg_status eg_guard_find_kernel(const eg_guard *guard, int group, const char *entry, eg_kernel **out)
{
    const eg_define defines[] = {{"DIM", guard->space->mesh->dim},
                                 {"COMPONENTS", guard->components},
                                 {"COORDINATES", guard->needs_x},
                                 {"ROWS", EG_KERNEL_ROWS}};
    if (*out) return EG_OK;
    return eg_kernel_create(guard->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "guard",
                                                 .text = eg_text_string(&guard->source),
                                                 .entry = entry,
                                                 .real = guard->modal ? EG_F64 : guard->type,
                                                 .lanes = guard->space->groups[group].lanes,
                                                 .no_contraction = true,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

/* --- set-up ----------------------------------------------------------------------------------- */

/* The nodes at which values are looked at; those of modal bases are others'. */
static eg_status create_nodes(const eg_guard *guard, int group, eg_points **out)
{
    const eg_group *g = &guard->space->groups[group];
    eg_element *nodal = NULL;
    eg_status status = EG_OK;
    if (!guard->modal)
        return eg_points_create(guard->space, group, g->element->np, g->element->r, NULL, out);
    EG_TRY(
        eg_element_create_bare(guard->space->ctx, g->shape, g->degree, EG_BASIS_LOBATTO, &nodal));
    if (nodal->line)
        EG_TRY(eg_points_create_tensor(guard->space, group, nodal->line->np, nodal->line->r, NULL,
                                       out));
    else
        EG_TRY(eg_points_create(guard->space, group, nodal->np, nodal->r, NULL, out));
done:
    eg_element_destroy(&nodal);
    return status;
}

/* Values that the buffers of a batch must hold. */
typedef struct needs {
    size_t x, values, scratch, found;
} needs;

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* As many parts as keep the device busy, of not too few values. */
static int choose_parts(const eg_guard *guard, const eg_group *g)
{
    const int64_t busy = eg_device_get_info(guard->space->device)->max_tiles_in_flight;
    const int64_t tiles = g->own_tiles > 0 ? g->own_tiles : 1, np = g->element->np;
    int64_t parts = (busy * EG_KERNEL_ROWS + tiles - 1) / tiles;
    if (parts > np * guard->components / PART_LEAST) parts = np * guard->components / PART_LEAST;
    if (parts > np) parts = np;
    return parts > 1 ? (int)parts : 1;
}

static eg_status prepare_group(eg_guard *guard, int group, needs *most)
{
    const eg_space *space = guard->space;
    const eg_group *g = &space->groups[group];
    eg_guard_group *m = &guard->groups[group];
    const size_t np = (size_t)g->element->np, fields = (size_t)guard->components;
    const size_t x = guard->needs_x ? np * (size_t)space->mesh->dim : 0;
    const size_t values = guard->modal ? np * fields : 0;
    size_t scratch = 0;
    eg_status status = EG_OK;

    EG_TRY(eg_guard_find_kernel(guard, group, "look", &m->look));
    m->batch = g->own_tiles;
    if (guard->modal || guard->needs_x) {
        EG_TRY(create_nodes(guard, group, &m->nodes));
        if (guard->modal) EG_TRY(eg_points_interpolation(m->nodes, &m->interpolation));
        scratch = fields * eg_product_scratch(&m->interpolation);
        m->batch = eg_batch_tiles(g, g->own_tiles, x + 2 * values + 2 * scratch);
    }
    const size_t lanes = (size_t)(m->batch * g->lanes);
    most->x = larger(most->x, x * lanes);
    most->values = larger(most->values, values * lanes);
    most->scratch = larger(most->scratch, scratch * lanes);
    most->found = larger(most->found, 3 * EG_GUARD_DETAIL_TILES * (size_t)g->lanes);
    m->parts = choose_parts(guard, g);
    /* Rows are of this group's lanes: a group may begin only at a multiple of them. */
    m->first_row = (int64_t)guard->scores / g->lanes;
    guard->scores += ((size_t)(g->own_tiles * m->parts * g->lanes) + EG_SLOT_BLOCK - 1) /
                     EG_SLOT_BLOCK * EG_SLOT_BLOCK;
done:
    return status;
}

static eg_status create_buffers(eg_guard *guard, const needs *most)
{
    eg_context *ctx = guard->space->ctx;
    const eg_reduction_kind kind = EG_REDUCE_MAX;
    const double zero = 0;
    const struct {
        eg_buffer **buffer;
        size_t count;
    } list[] = {{&guard->score, guard->scores},
                {&guard->result, 1},
                {&guard->limit, 2 * (size_t)guard->components},
                {&guard->found, most->found},
                {&guard->x, most->x},
                {&guard->values, most->values},
                {&guard->scratch[0], most->scratch},
                {&guard->scratch[1], most->scratch},
                {&guard->u, guard->type == EG_F32 ? most->values : 0}};
    eg_status status = EG_OK;
    for (size_t i = 0; i < EG_COUNT(list); i++)
        if (list[i].count > 0)
            EG_TRY(eg_buffer_create(guard->space->device, EG_F64, list[i].count, list[i].buffer));
    /* Between groups some scores are never written. */
    EG_TRY(eg_buffer_fill(guard->score, 0, guard->scores, &zero));
    EG_TRY(eg_reducer_create(guard->space->device, EG_F64, &kind, 1, &guard->reducer));
    EG_TRY(eg_new(ctx, 2 * (size_t)guard->components, &guard->limits));
    EG_TRY(eg_new(ctx, most->found, &guard->host));
    EG_TRY(eg_new(ctx, (size_t)eg_comm_size(guard->space->comm), &guard->ranks));
done:
    return status;
}

/* All that needs no other rank. */
static eg_status create(eg_space *space, int components, eg_type type,
                        const eg_expression *const *positive, int positive_count, eg_guard **out)
{
    eg_guard *guard = NULL;
    needs most = {0};
    eg_status status = EG_OK;

    *out = NULL;
    if (components < 1 || (type != EG_F64 && type != EG_F32))
        return eg_fail(space->ctx, EG_ERROR_ARGUMENT, "a guard of %d components of type %s",
                       components, eg_type_name(type));
    EG_TRY(eg_new(space->ctx, 1, &guard));
    guard->space = space;
    guard->components = components;
    guard->type = type;
    guard->modal = space->basis == EG_BASIS_MODAL;
    guard->source = eg_text_new(space->ctx);
    for (int k = 0; k < positive_count; k++)
        guard->needs_x = guard->needs_x || eg_expression_varies(positive[k]);
    EG_TRY(write_source(positive, positive_count, guard));
    EG_TRY(eg_new(space->ctx, (size_t)space->group_count, &guard->groups));
    for (int group = 0; group < space->group_count; group++)
        EG_TRY(prepare_group(guard, group, &most));
    EG_TRY(create_buffers(guard, &most));
    *out = guard;
    guard = NULL;
done:
    eg_guard_destroy(&guard);
    return status;
}

eg_status eg_guard_create(eg_space *space, int components, eg_type type,
                          const eg_expression *const *positive, int positive_count, eg_guard **out)
{
    eg_status status =
        eg_comm_agree(space->comm, create(space, components, type, positive, positive_count, out));
    if (status != EG_OK) eg_guard_destroy(out);
    return status;
}

void eg_guard_destroy(eg_guard **handle)
{
    eg_guard *guard = *handle;
    if (!guard) return;
    eg_context *ctx = guard->space->ctx;
    eg_release(ctx, &guard->ranks);
    eg_release(ctx, &guard->host);
    eg_release(ctx, &guard->limits);
    eg_reducer_destroy(&guard->reducer);
    eg_buffer *const buffers[] = {guard->score,      guard->result,     guard->limit,
                                  guard->found,      guard->x,          guard->values,
                                  guard->scratch[0], guard->scratch[1], guard->u};
    for (size_t i = 0; i < EG_COUNT(buffers); i++)
        eg_buffer_destroy(&(eg_buffer *){buffers[i]});
    for (int group = 0; guard->groups && group < guard->space->group_count; group++) {
        eg_guard_group *m = &guard->groups[group];
        eg_product_free(&m->interpolation);
        eg_points_destroy(&m->nodes);
        eg_kernel_destroy(&m->load);
        eg_kernel_destroy(&m->detail);
        eg_kernel_destroy(&m->largest);
        eg_kernel_destroy(&m->look);
    }
    eg_release(ctx, &guard->groups);
    eg_text_free(&guard->source);
    eg_release(ctx, handle);
}
