/* Algebraic multigrid for the operator: its matrix, and the way there. */
#include "model/elliptic/coarse.h"

#include "model/elliptic/matrix.h"
#include "model/elliptic/parts.h"
#include "model/elliptic/plain.h"

#include <math.h>
#include <stdlib.h>

struct eg_elliptic_coarse {
    eg_space *space; /* not owned */
    eg_elliptic_coarse_options options;
    eg_plain *plain;
    eg_amg *amg;
    eg_vectors *vectors; /* of AMG */
    eg_buffer *b, *x;    /* its problem and solution */
};

/* What is this rank's own affair. */
static eg_status create_vectors(eg_elliptic_coarse *c, int32_t count)
{
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_create_plain(c->space->device, NULL, c->options.amg.type, (size_t)count,
                                   &c->vectors));
    EG_TRY(eg_vectors_new(c->vectors, &c->b));
    EG_TRY(eg_vectors_new(c->vectors, &c->x));
done:
    return status;
}

/* k jumps over a face where the larger is more than so many times the smaller: what is stiffer is a body of
 * its own, which no other may hold fast where they touch in a vertex. A number that nobody gives, as shares are
 * rounded on both sides. */
#define JUMP 88.62269

/* jumps [elements][face_stride] of own elements, as eg_unknowns_create has them, by the share of the flux that
 * each side gives: much where the other side is stiffer. */
static eg_status mark_jumps(const eg_elliptic *a, int group, int8_t *jumps)
{
    const eg_group *g = &a->space->groups[group];
    const size_t faces = (size_t)a->faces, lanes = (size_t)g->lanes;
    const size_t count = (size_t)g->own_tiles * faces * lanes;
    const double most = JUMP / (1.0 + JUMP);
    void *shares = NULL;
    eg_status status = EG_OK;
    if (count == 0) return EG_OK;
    EG_TRY(eg_allocate_array(a->space->ctx, count, eg_type_size(a->real), &shares));
    EG_TRY(eg_buffer_download(a->parts[group].share, 0, count, shares));
    for (size_t i = 0; i < count; i++) {
        const double share =
            a->real == EG_F32 ? (double)((const float *)shares)[i] : ((const double *)shares)[i];
        const size_t slot = i / (faces * lanes) * lanes + i % lanes, face = i / lanes % faces;
        const size_t at =
            (size_t)g->element_of_slot[slot] * (size_t)a->space->mesh->face_stride + face;
        if (a->space->mesh->neighbour[at] >= 0)
            jumps[at] = (int8_t)((share > most) - (share < 1.0 - most));
    }
done:
    eg_release(a->space->ctx, &shares);
    return status;
}

/* NULL if there are none on any rank. Collective. */
static eg_status find_jumps(const eg_elliptic *a, int8_t **out)
{
    const eg_mesh *mesh = a->space->mesh;
    const size_t faces = (size_t)mesh->element_count * (size_t)mesh->face_stride;
    int8_t *jumps = NULL;
    double any = 0;
    eg_status status = EG_OK;
    if (a->affine) return EG_OK; /* k is constant */
    EG_TRY(eg_comm_new(a->space->comm, mesh->ctx, faces + 1, &jumps));
    for (int group = 0; status == EG_OK && group < a->space->group_count; group++)
        status = mark_jumps(a, group, jumps);
    EG_TRY(eg_comm_agree(a->space->comm, status));
    for (size_t i = 0; i < faces; i++)
        any = fmax(any, abs(jumps[i]));
    EG_TRY(eg_comm_max(a->space->comm, 1, &any));
    if (any > 0) *out = jumps, jumps = NULL;
done:
    eg_release(mesh->ctx, &jumps);
    return status;
}

static eg_status create_parts(eg_elliptic *elliptic, eg_elliptic_coarse *c)
{
    eg_space *space = c->space;
    eg_amg_options amg = c->options.amg;
    eg_unknowns *unknowns = NULL;
    eg_csr *matrix = NULL;
    int8_t *jumps = NULL;
    eg_status status = EG_OK;
    amg.near_null = NULL;
    amg.comm = space->comm;
    if (amg.strength == 0.0 && c->options.continuous) amg.strength = 0.25;
    if (amg.k_levels == 0 && c->options.continuous) amg.k_levels = 1;
    if (elliptic->element->degree == 1) EG_TRY(find_jumps(elliptic, &jumps));
    /* Bodies are held by far less than what holds them together, which single precision cannot tell
     * from nothing. */
    if (jumps) amg.type = c->options.amg.type = EG_F64;
    EG_TRY(eg_unknowns_create(space, c->options.continuous, jumps, &unknowns));
    EG_TRY(eg_plain_create(space, elliptic->real, unknowns, amg.type, &c->plain));
    EG_TRY(eg_comm_agree(space->comm, create_vectors(c, unknowns->count)));
    EG_TRY(eg_elliptic_matrix(elliptic, unknowns, &matrix));
    EG_TRY(eg_amg_create(space->device, matrix, &amg, &c->amg));
done:
    eg_csr_destroy(&matrix);
    eg_unknowns_destroy(&unknowns);
    eg_release(space->ctx, &jumps);
    return status;
}

eg_status eg_elliptic_coarse_create(eg_elliptic *elliptic,
                                    const eg_elliptic_coarse_options *options,
                                    eg_elliptic_coarse **out)
{
    eg_space *space = elliptic->space;
    eg_elliptic_coarse *c = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_comm_new(space->comm, space->ctx, 1, &c));
    *c = (eg_elliptic_coarse){.space = space, .options = *options};
    EG_TRY(create_parts(elliptic, c));
    *out = c;
    c = NULL;
done:
    eg_elliptic_coarse_destroy(&c);
    return status;
}

void eg_elliptic_coarse_destroy(eg_elliptic_coarse **handle)
{
    if (!handle || !*handle) return;
    eg_elliptic_coarse *c = *handle;
    eg_context *ctx = c->space->ctx;
    eg_buffer_destroy(&c->x);
    eg_buffer_destroy(&c->b);
    eg_vectors_destroy(&c->vectors);
    eg_amg_destroy(&c->amg);
    eg_plain_destroy(&c->plain);
    eg_release(ctx, handle);
}

const eg_amg_info *eg_elliptic_coarse_info(const eg_elliptic_coarse *c)
{
    return eg_amg_get_info(c->amg);
}

static eg_status apply(void *user, eg_buffer *b, eg_buffer *x)
{
    eg_elliptic_coarse *c = user;
    eg_status status = EG_OK;
    EG_TRY(eg_plain_gather(c->plain, b, c->b));
    EG_TRY(eg_amg_apply(c->amg, c->b, c->x));
    EG_TRY(eg_plain_scatter(c->plain, c->x, x));
done:
    return status;
}

eg_linear eg_elliptic_coarse_linear(eg_elliptic_coarse *c)
{
    return (eg_linear){.user = c, .apply = apply};
}

static eg_status restrict_residual(void *user, eg_buffer *fine, eg_buffer *coarse)
{
    eg_elliptic_coarse *c = user;
    return eg_plain_gather(c->plain, fine, coarse);
}

static eg_status add_correction(void *user, eg_buffer *coarse, eg_buffer *fine)
{
    eg_elliptic_coarse *c = user;
    return eg_plain_add(c->plain, coarse, fine);
}

eg_transfer eg_elliptic_coarse_transfer(eg_elliptic_coarse *c)
{
    return (eg_transfer){
        .user = c, .restrict_residual = restrict_residual, .add_correction = add_correction};
}

eg_vectors *eg_elliptic_coarse_vectors(eg_elliptic_coarse *c)
{
    return c->vectors;
}

eg_linear eg_elliptic_coarse_solve(eg_elliptic_coarse *c)
{
    return eg_amg_linear(c->amg);
}
