/* The way between spaces of two degrees: their slots are the same, as both have the same mesh and
 * lanes, so that a tile of one is the same elements as that tile of the other. */
#include "model/elliptic/degrees.h"

#include "base/dense.h"

typedef struct degrees_part {
    eg_kernel *lower, *raise;
    size_t fine, coarse; /* where the group begins in vectors */
} degrees_part;

struct eg_degrees {
    eg_space *higher, *lower; /* not owned */
    eg_operator *P, *Pt;
    degrees_part *parts; /* [group_count] */
};

static eg_status check(const eg_space *higher, const eg_space *lower)
{
    bool fits = higher->mesh == lower->mesh && higher->group_count == lower->group_count;
    for (int i = 0; fits && i < higher->group_count; i++) {
        const eg_group *g = &higher->groups[i], *l = &lower->groups[i];
        fits = g->lanes == l->lanes && g->tiles == l->tiles && g->first_slot == l->first_slot &&
               g->shape == l->shape && g->element == higher->groups[0].element &&
               l->element == lower->groups[0].element;
    }
    if (fits) return EG_OK;
    return eg_fail(higher->ctx, EG_ERROR_ARGUMENT,
                   "two spaces of one degree each, with the same mesh and lanes, are needed");
}

static eg_status make_operators(eg_degrees *d, eg_type real)
{
    const eg_element *fine = d->higher->groups[0].element, *coarse = d->lower->groups[0].element;
    eg_context *ctx = d->higher->ctx;
    double *P = NULL, *Pt = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, (size_t)(fine->np * coarse->np), &P));
    EG_TRY(eg_new(ctx, (size_t)(fine->np * coarse->np), &Pt));
    EG_TRY(eg_element_transfer(coarse, fine, P));
    eg_dense_transpose(fine->np, coarse->np, P, Pt);
    EG_TRY(eg_operator_create(d->higher->device, real, fine->np, coarse->np, P, &d->P));
    EG_TRY(eg_operator_create(d->higher->device, real, coarse->np, fine->np, Pt, &d->Pt));
done:
    eg_release(ctx, &Pt);
    eg_release(ctx, &P);
    return status;
}

static eg_status compile(const eg_degrees *d, eg_type real, int group, const char *entry,
                         eg_kernel **out)
{
    const eg_define defines[] = {{"NP", d->higher->groups[group].element->np},
                                 {"NL", d->lower->groups[group].element->np}};
    return eg_kernel_create(d->higher->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = "model/elliptic/degrees.k.c",
                                                 .entry = entry,
                                                 .real = real,
                                                 .lanes = d->higher->groups[group].lanes,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            out);
}

static eg_status make_parts(eg_degrees *d, eg_type real)
{
    const int count = d->higher->group_count;
    eg_context *ctx = d->higher->ctx;
    size_t *fine = NULL, *coarse = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, (size_t)count + 1, &d->parts));
    EG_TRY(eg_new(ctx, (size_t)count + 1, &fine));
    EG_TRY(eg_new(ctx, (size_t)count + 1, &coarse));
    eg_space_offsets(d->higher, 1, fine);
    eg_space_offsets(d->lower, 1, coarse);
    for (int i = 0; i < count; i++) {
        degrees_part *p = &d->parts[i];
        p->fine = fine[i];
        p->coarse = coarse[i];
        EG_TRY(compile(d, real, i, "lower_degree", &p->lower));
        EG_TRY(compile(d, real, i, "raise_degree", &p->raise));
    }
done:
    eg_release(ctx, &coarse);
    eg_release(ctx, &fine);
    return status;
}

static eg_status create(eg_space *higher, eg_space *lower, eg_type real, eg_degrees **out)
{
    eg_degrees *d = NULL;
    eg_status status = EG_OK;
    EG_TRY(check(higher, lower));
    EG_TRY(eg_new(higher->ctx, 1, &d));
    *d = (eg_degrees){.higher = higher, .lower = lower};
    EG_TRY(make_operators(d, real));
    EG_TRY(make_parts(d, real));
    *out = d;
    d = NULL;
done:
    eg_degrees_destroy(&d);
    return status;
}

eg_status eg_degrees_create(eg_space *higher, eg_space *lower, eg_type real, eg_degrees **out)
{
    *out = NULL;
    eg_status status = eg_comm_agree(higher->comm, create(higher, lower, real, out));
    if (status != EG_OK) eg_degrees_destroy(out);
    return status;
}

void eg_degrees_destroy(eg_degrees **handle)
{
    if (!handle || !*handle) return;
    eg_degrees *d = *handle;
    eg_context *ctx = d->higher->ctx;
    for (int i = 0; d->parts && i < d->higher->group_count; i++) {
        eg_kernel_destroy(&d->parts[i].raise);
        eg_kernel_destroy(&d->parts[i].lower);
    }
    eg_release(ctx, &d->parts);
    eg_operator_destroy(&d->Pt);
    eg_operator_destroy(&d->P);
    eg_release(ctx, handle);
}

static eg_status restrict_residual(void *user, eg_buffer *fine, eg_buffer *coarse)
{
    eg_degrees *d = user;
    eg_status status = EG_OK;
    for (int i = 0; i < d->higher->group_count; i++)
        EG_TRY(eg_launch(d->parts[i].lower, d->higher->groups[i].own_tiles,
                         EG_BUFFER_AT("fine", fine, d->parts[i].fine), EG_OPERATOR("Pt", d->Pt),
                         EG_BUFFER_AT("coarse", coarse, d->parts[i].coarse)));
done:
    return status;
}

static eg_status add_correction(void *user, eg_buffer *coarse, eg_buffer *fine)
{
    eg_degrees *d = user;
    eg_status status = EG_OK;
    for (int i = 0; i < d->higher->group_count; i++)
        EG_TRY(eg_launch(d->parts[i].raise, d->higher->groups[i].own_tiles,
                         EG_BUFFER_AT("coarse", coarse, d->parts[i].coarse), EG_OPERATOR("P", d->P),
                         EG_BUFFER_AT("fine", fine, d->parts[i].fine)));
done:
    return status;
}

eg_transfer eg_degrees_transfer(eg_degrees *degrees)
{
    return (eg_transfer){degrees, restrict_residual, add_correction};
}
