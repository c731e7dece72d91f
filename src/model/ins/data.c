/* Expressions of a case on boundary faces: evaluated at points, without contraction, and then
 * projected onto the polynomials of faces. */
#include "model/ins/faces.h"

#include <stdio.h>
#include <string.h>

struct eg_ins_data {
    const eg_ins_faces *faces; /* not owned */
    int components;
    bool steady;                   /* no expression has a t */
    eg_kernel *evaluate, *project; /* NULL: all is 0 */
    eg_buffer *values, *nodes;
    int count; /* of the times that it is made of, and those */
    double time[EG_INS_TIMES], share[EG_INS_TIMES];
};

/* The source of given.k.h; *steady, *any: whether no expression has a t, whether there is one. */
static eg_status write_source(const eg_ins_data *d, const eg_expression *const *expressions,
                              eg_text *source, bool *steady, bool *any)
{
    static const char *const arguments[EG_VARIABLE_COUNT] = {"x", "y", "z", "t"};
    const int boundaries = d->faces->space->mesh->boundary_count, n = d->components;
    eg_status status = EG_OK;
    *steady = true;
    *any = false;
    for (int i = 0; i < boundaries * n; i++) {
        char name[32];
        if (!expressions[i]) continue;
        snprintf(name, sizeof name, "value_%d", i);
        EG_TRY(eg_expression_emit(expressions[i], name, arguments, EG_COUNT(arguments), source));
        if (eg_expression_uses(expressions[i], EG_VARIABLE_T)) *steady = false;
        *any = true;
    }
    EG_TRY(eg_text_puts(source, "#define VALUES(b, x, y, t)"));
    for (int c = 0; c < n; c++) {
        EG_TRY(eg_text_printf(source, " \\\n    VALUE(%d, ", c));
        for (int b = 0; b < boundaries; b++)
            if (expressions[b * n + c])
                EG_TRY(eg_text_printf(source, "(b) == %d ? value_%d(x, y, 0, t) : ", b, b * n + c));
        EG_TRY(eg_text_puts(source, "K_R(0))"));
    }
    EG_TRY(eg_text_puts(source, "\n#include \"model/ins/given.k.h\"\n"));
done:
    return status;
}

static eg_status compile(eg_ins_data *d, const char *source)
{
    const eg_ins_faces *f = d->faces;
    const eg_group *g = &f->space->groups[0];
    const eg_define defines[] = {
        {"Q", f->points}, {"COMPONENTS", d->components}, {"NFP", f->nodes}};
    eg_status status = EG_OK;
    EG_TRY(eg_space_kernel(f->space, g,
                           (eg_kernel_options){.source = "boundaries",
                                               .text = source,
                                               .entry = "evaluate",
                                               .no_contraction = true,
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines) - 1},
                           &d->evaluate));
    EG_TRY(eg_space_kernel(f->space, g,
                           (eg_kernel_options){.source = "model/ins/given.k.c",
                                               .entry = "project",
                                               .defines = defines,
                                               .define_count = EG_COUNT(defines)},
                           &d->project));
done:
    return status;
}

static eg_status make(eg_ins_data *d, const eg_expression *const *expressions)
{
    const eg_ins_faces *f = d->faces;
    const size_t slots = (size_t)(f->tiles * f->lanes) * (size_t)d->components;
    const size_t nodes = slots * (size_t)f->nodes;
    const double nothing = 0;
    eg_text source = eg_text_new(f->space->ctx);
    bool any;
    eg_status status = EG_OK;
    EG_TRY(eg_buffer_create(f->space->device, EG_F64, nodes, &d->nodes));
    EG_TRY(eg_buffer_fill(d->nodes, 0, nodes, &nothing));
    EG_TRY(write_source(d, expressions, &source, &d->steady, &any));
    if (any && f->count > 0) {
        EG_TRY(compile(d, eg_text_string(&source)));
        EG_TRY(eg_buffer_create(f->space->device, EG_F64, slots * (size_t)f->points, &d->values));
    }
done:
    eg_text_free(&source);
    return status;
}

eg_status eg_ins_data_create(const eg_ins_faces *faces, int components,
                             const eg_expression *const *expressions, eg_ins_data **out)
{
    eg_ins_data *d = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(faces->space->ctx, 1, &d));
    *d = (eg_ins_data){.faces = faces, .components = components};
    EG_TRY(make(d, expressions));
    *out = d;
    d = NULL;
done:
    eg_ins_data_destroy(&d);
    return status;
}

void eg_ins_data_destroy(eg_ins_data **handle)
{
    eg_ins_data *d = *handle;
    if (!d) return;
    eg_buffer_destroy(&d->nodes);
    eg_buffer_destroy(&d->values);
    eg_kernel_destroy(&d->project);
    eg_kernel_destroy(&d->evaluate);
    eg_release(d->faces->space->ctx, handle);
}

/* nodes = keep nodes + share g(time). */
static eg_status add(eg_ins_data *d, double keep, double time, double share)
{
    const eg_ins_faces *f = d->faces;
    eg_status status = EG_OK;
    EG_TRY(eg_launch(d->evaluate, f->tiles, EG_BUFFER("x", f->x),
                     EG_BUFFER("boundaries", f->boundaries), EG_REAL("time", time),
                     EG_BUFFER("values", d->values)));
    EG_TRY(eg_launch(d->project, f->tiles, EG_BUFFER("values", d->values),
                     EG_OPERATOR("P", f->project), EG_REAL("keep", keep), EG_REAL("share", share),
                     EG_BUFFER("nodes", d->nodes)));
done:
    return status;
}

eg_status eg_ins_data_set(eg_ins_data *d, int count, const double *time, const double *share)
{
    double once = 0;
    eg_status status = EG_OK;
    if (!d->evaluate) return EG_OK;
    if (d->steady) { /* what differs is but how much of it */
        for (int k = 0; k < count; k++)
            once += share[k];
        share = &once;
        count = 1;
    }
    const size_t bytes = (size_t)count * sizeof *time;
    if (count == d->count && !memcmp(d->share, share, bytes) &&
        (d->steady || !memcmp(d->time, time, bytes)))
        return EG_OK;
    d->count = 0;
    for (int k = 0; k < count; k++)
        EG_TRY(add(d, k > 0, time[k], share[k]));
    memcpy(d->time, time, bytes);
    memcpy(d->share, share, bytes);
    d->count = count;
done:
    return status;
}

eg_buffer *eg_ins_data_values(const eg_ins_data *d)
{
    return d->nodes;
}

int eg_ins_data_rows(const eg_ins_data *d)
{
    return d->components * d->faces->nodes;
}
