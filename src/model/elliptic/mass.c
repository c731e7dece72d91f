/* The inverse mass matrix as a preconditioner: what its kernels need, and their launches. */
#include "model/elliptic/mass.h"

#include "base/dense.h"

typedef struct mass_part {
    eg_kernel *apply;
    eg_operator *inverse;         /* affine groups */
    eg_operator *spread, *gather; /* curved ones */
    eg_buffer *scale;
} mass_part;

struct eg_mass {
    eg_space *space; /* not owned */
    eg_type real;
    eg_field *like;   /* where groups lie in fields; without values */
    mass_part *parts; /* [group_count] */
};

static eg_status compile(const eg_mass *m, int group, const char *entry, int points,
                         eg_kernel **out)
{
    const eg_group *g = &m->space->groups[group];
    const eg_define defines[] = {
        {"NP", g->element->np}, {"NC", points}, {"FACTORS", 1 + g->element->dim * g->element->dim}};
    return eg_kernel_create(m->space->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "model/elliptic/mass.k.c",
                                                 .entry = entry,
                                                 .real = m->real,
                                                 .lanes = g->lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

/* The matrices of a curved group: I M̂⁻¹ and its transpose. */
static eg_status make_matrices(const eg_mass *m, int group, const eg_cubature *rule)
{
    const eg_element *e = m->space->groups[group].element;
    mass_part *p = &m->parts[group];
    eg_device *device = m->space->device;
    const size_t size = (size_t)rule->count * (size_t)e->np;
    double *values = NULL, *spread = NULL, *gather = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(e->ctx, size, &values));
    EG_TRY(eg_new(e->ctx, size, &spread));
    EG_TRY(eg_new(e->ctx, size, &gather));
    EG_TRY(eg_element_evaluate(e, rule->count, rule->r, values));
    eg_dense_multiply(rule->count, e->np, e->np, values, e->mass_inverse, spread);
    eg_dense_transpose(rule->count, e->np, spread, gather);
    EG_TRY(eg_operator_create(device, m->real, rule->count, e->np, spread, &p->spread));
    EG_TRY(eg_operator_create(device, m->real, e->np, rule->count, gather, &p->gather));
done:
    eg_release(e->ctx, &gather);
    eg_release(e->ctx, &spread);
    eg_release(e->ctx, &values);
    return status;
}

/* W/J at the points of a curved group. */
static eg_status make_scale(const eg_mass *m, int group, const eg_cubature *rule)
{
    const eg_group *g = &m->space->groups[group];
    mass_part *p = &m->parts[group];
    eg_metric metric = {0};
    eg_buffer *weights = NULL;
    eg_kernel *kernel = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_space_upload(m->space, EG_F64, (size_t)rule->count, rule->w, &weights));
    EG_TRY(eg_metric_create(m->space, group, rule->count, rule->r, EG_METRIC_FACTORS, &metric));
    EG_TRY(compile(m, group, "mass_scale", rule->count, &kernel));
    EG_TRY(eg_buffer_create(m->space->device, m->real,
                            (size_t)(g->own_tiles * rule->count * g->lanes), &p->scale));
    EG_TRY(eg_launch(kernel, g->own_tiles, EG_BUFFER("geometry", metric.factors),
                     EG_BUFFER("weights", weights), EG_BUFFER("scale", p->scale)));
done:
    eg_kernel_destroy(&kernel);
    eg_metric_free(&metric);
    eg_buffer_destroy(&weights);
    return status;
}

static eg_status make_part(const eg_mass *m, int group)
{
    const eg_group *g = &m->space->groups[group];
    const eg_element *e = g->element;
    mass_part *p = &m->parts[group];
    eg_cubature *rule = NULL;
    eg_status status = EG_OK;
    if (g->own_tiles == 0) return EG_OK;
    if (!g->curved) {
        EG_TRY(eg_operator_create(m->space->device, m->real, e->np, e->np, e->mass_inverse,
                                  &p->inverse));
        EG_TRY(compile(m, group, "affine_mass", 1, &p->apply));
    } else {
        EG_TRY(eg_cubature_create(e->ctx, e->shape, 2 * e->degree, EG_CUBATURE_BEST, &rule));
        EG_TRY(make_matrices(m, group, rule));
        EG_TRY(make_scale(m, group, rule));
        EG_TRY(compile(m, group, "curved_mass", rule->count, &p->apply));
    }
done:
    eg_cubature_destroy(&rule);
    return status;
}

/* What is this rank's own affair. */
static eg_status create_own(eg_mass *m)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(m->space->ctx, (size_t)m->space->group_count + 1, &m->parts));
    for (int group = 0; group < m->space->group_count; group++)
        EG_TRY(make_part(m, group));
done:
    return status;
}

eg_status eg_mass_create(eg_space *space, eg_type real, eg_mass **out)
{
    eg_mass *m = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &m));
    *m = (eg_mass){.space = space, .real = real};
    EG_TRY(eg_field_create(space, 1, real, &m->like));
    eg_buffer_destroy(&m->like->data);
    EG_TRY(eg_comm_agree(space->comm, create_own(m)));
    *out = m;
    m = NULL;
done:
    eg_mass_destroy(&m);
    return status;
}

void eg_mass_destroy(eg_mass **handle)
{
    eg_mass *m = *handle;
    if (!m) return;
    eg_context *ctx = m->space->ctx;
    for (int group = 0; m->parts && group < m->space->group_count; group++) {
        mass_part *p = &m->parts[group];
        eg_buffer_destroy(&p->scale);
        eg_operator_destroy(&p->gather);
        eg_operator_destroy(&p->spread);
        eg_operator_destroy(&p->inverse);
        eg_kernel_destroy(&p->apply);
    }
    eg_release(ctx, &m->parts);
    eg_field_destroy(&m->like);
    eg_release(ctx, handle);
}

eg_status eg_mass_apply(eg_mass *m, eg_buffer *r, eg_buffer *z)
{
    eg_status status = EG_OK;
    for (int group = 0; group < m->space->group_count; group++) {
        const eg_group *g = &m->space->groups[group];
        const mass_part *p = &m->parts[group];
        const size_t first = m->like->offset[group];
        if (g->own_tiles == 0) continue;
        EG_TRY(g->curved
                   ? eg_launch(p->apply, g->own_tiles, EG_BUFFER_AT("r", r, first),
                               EG_BUFFER("scale", p->scale), EG_OPERATOR("spread", p->spread),
                               EG_OPERATOR("gather", p->gather), EG_BUFFER_AT("z", z, first))
                   : eg_launch(p->apply, g->own_tiles, EG_BUFFER_AT("r", r, first),
                               EG_BUFFER("geometry", g->volume_factors),
                               EG_OPERATOR("inverse", p->inverse), EG_BUFFER_AT("z", z, first)));
    }
done:
    return status;
}

static eg_status apply(void *user, eg_buffer *r, eg_buffer *z)
{
    return eg_mass_apply(user, r, z);
}

eg_linear eg_mass_linear(eg_mass *m)
{
    return (eg_linear){.user = m, .apply = apply};
}
