/* The passes of affine.k.c, one following the other closely (field/strips.h). */
#include "model/elliptic/parts.h"

/* σ, as affine.k.c has it. */
static eg_status make_image(eg_elliptic *a)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[0];
    const eg_mesh *mesh = space->mesh;
    const size_t faces = (size_t)(g->tiles * 3 * g->lanes);
    double *image = NULL;
    float *single = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, faces + 1, &image));
    EG_TRY(eg_new(space->ctx, faces + 1, &single));
    for (int64_t i = 0; i < g->own_tiles * 3 * g->lanes; i++) {
        const int64_t slot = i / (3 * g->lanes) * g->lanes + i % g->lanes, f = i / g->lanes % 3;
        const int32_t other =
            mesh->neighbour[(int64_t)g->element_of_slot[slot] * mesh->face_stride + f];
        if (other < 0) image[i] = a->types[-1 - other] == EG_ELLIPTIC_DIRICHLET ? -1 : 1;
        single[i] = (float)image[i];
    }
    EG_TRY(eg_space_upload(space, a->real, faces, a->real == EG_F64 ? (const void *)image : single,
                           &a->image));
done:
    eg_release(space->ctx, &single);
    eg_release(space->ctx, &image);
    return status;
}

eg_status eg_elliptic_make_strips(eg_elliptic *a)
{
    eg_status status = EG_OK;
    EG_TRY(eg_strips_create(a->space, (2 * a->element->face_np + 3) / 4 * 4, &a->strips));
    EG_TRY(make_image(a));
    EG_TRY(eg_buffer_create(a->space->device, a->real, (size_t)a->strips->values, &a->flux));
done:
    return status;
}

/* --- products --------------------------------------------------------------------------------- */

eg_status eg_elliptic_multiply_strips(eg_elliptic *a, eg_buffer *b, eg_buffer *u, eg_buffer *y)
{
    const eg_group *g = &a->space->groups[0];
    const eg_elliptic_part *p = &a->parts[0];
    const eg_strips *s = a->strips;
    const size_t begin = a->like->offset[0];
    const eg_argument leave[] = {
        EG_BUFFER_AT("u", u, begin),    EG_BUFFER("order", s->first),
        EG_BUFFER("homes", s->homes),   EG_BUFFER("factors", p->factors),
        EG_BUFFER("image", a->image),   EG_BUFFER("bounded", s->bounded),
        EG_BUFFER("pairs", a->pairs),   EG_BUFFER("own_node", a->trace.own.node),
        EG_OPERATOR("even", a->slopes), EG_OPERATOR("odd", a->odd_slopes),
        EG_OPERATOR("along", a->along), EG_BUFFER("strip", a->flux),
    };
    const eg_argument pick_up[] = {
        EG_BUFFER_AT("u", u, begin),
        EG_BUFFER_AT("b", b ? b : u, begin),
        EG_INTEGER("rest", b != NULL),
        EG_BUFFER("order", s->second),
        EG_BUFFER("strip", a->flux),
        EG_BUFFER("beyond", s->next),
        EG_BUFFER("factors", p->factors),
        EG_BUFFER("pairs", a->pairs),
        EG_BUFFER("own_node", a->trace.own.node),
        EG_BUFFER("at_node", a->at_node),
        EG_OPERATOR("lines", a->lines),
        EG_OPERATOR("even", a->sum),
        EG_OPERATOR("odd", a->odd_sum),
        EG_BUFFER_AT("y", y, begin),
    };
    const eg_call passes[] = {{p->flux, g->own_tiles, leave, EG_COUNT(leave)},
                              {p->apply, g->own_tiles, pick_up, EG_COUNT(pick_up)}};
    eg_field field = *a->like;
    eg_status status = EG_OK;
    field.data = u;
    EG_TRY(eg_halo_start(a->halo, &field));
    EG_TRY(eg_strips_launch_interior(s, passes));
    EG_TRY(eg_halo_wait(a->halo, &field));
    EG_TRY(eg_strips_launch_rest(g, passes));
done:
    return status;
}
