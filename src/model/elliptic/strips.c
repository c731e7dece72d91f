/* The passes of affine.k.c, one following the other closely (field/relay.h): where the strips of faces stand, and who
 * wants which. */
#include "model/elliptic/parts.h"

#include <string.h>

/* Values of a strip, and of all those of a tile. */
static int64_t strip_values(const eg_elliptic *a)
{
    return (2 * a->element->face_np + 3) / 4 * 4;
}

static int64_t tile_values(const eg_elliptic *a)
{
    return 3 * strip_values(a) * a->space->groups[0].lanes;
}

bool eg_elliptic_has_strips(const eg_space *space)
{
    const eg_mesh *mesh = space->mesh;
    for (int64_t i = 0; i < (int64_t)mesh->element_count * mesh->face_stride; i++)
        if (mesh->neighbour[i] >= 0 && EG_ORIENTATION(mesh->neighbour_face[i]) == 0) return false;
    return true;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Tables on the host: as affine.k.c has them. */
typedef struct tables {
    int32_t *beyond, *bounded;
    int32_t bounded_count;
    double *image;
    float *single;
} tables;

/* What is behind face f in a lane of own tile t. */
static void look_behind(const eg_elliptic *a, int64_t t, int f, int lane, tables *out)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[0];
    const eg_mesh *mesh = space->mesh;
    const int64_t face = (int64_t)g->element_of_slot[t * g->lanes + lane] * mesh->face_stride + f;
    const int64_t here = (t * 3 + f) * g->lanes + lane;
    int64_t slot = t * g->lanes + lane, other_face = f;
    const int32_t other = mesh->neighbour[face];
    if (other >= 0) {
        slot = space->slot_of_element[other] - g->first_slot;
        other_face = EG_FACE(mesh->neighbour_face[face]);
    } else {
        if (out->bounded[t] == 0) out->bounded[t] = ++out->bounded_count;
        out->image[((out->bounded[t] - 1) * 3 + f) * g->lanes + lane] =
            a->types[-1 - other] == EG_ELLIPTIC_DIRICHLET ? -1 : 1;
    }
    const int64_t home = a->strips.relay->home[slot / g->lanes];
    out->beyond[here] = (int32_t)(home * tile_values(a) +
                                  (other_face * g->lanes + slot % g->lanes) * strip_values(a));
}

static eg_status make_tables(eg_elliptic *a, tables *t)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[0];
    const size_t faces = (size_t)(g->tiles * 3 * g->lanes);
    eg_elliptic_strips *s = &a->strips;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, faces + 1, &t->beyond));
    EG_TRY(eg_new(space->ctx, faces + 1, &t->image));
    EG_TRY(eg_new(space->ctx, faces + 1, &t->single));
    EG_TRY(eg_new(space->ctx, (size_t)g->tiles + 1, &t->bounded));
    for (int64_t tile = 0; tile < g->own_tiles; tile++)
        for (int f = 0; f < 3; f++)
            for (int lane = 0; lane < g->lanes; lane++)
                look_behind(a, tile, f, lane, t);
    const size_t images = (size_t)(t->bounded_count * 3 * g->lanes) + 1;
    for (size_t i = 0; i < images; i++)
        t->single[i] = (float)t->image[i];
    const size_t own = (size_t)(g->own_tiles * 3 * g->lanes);
    EG_TRY(eg_space_upload(space, EG_I32, own, t->beyond, &s->beyond));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->tiles, t->bounded, &s->bounded));
    EG_TRY(eg_space_upload(space, a->real, images,
                           a->real == EG_F64 ? (const void *)t->image : t->single, &s->image));
done:
    return status;
}

eg_status eg_elliptic_make_strips(eg_elliptic *a)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[0];
    eg_elliptic_strips *s = &a->strips;
    tables t = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_relay_create(space, 0, eg_device_get_info(space->device)->threads, &s->relay));
    const int64_t values = s->relay->homes * tile_values(a);
    if (values > INT32_MAX)
        EG_TRY(eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                       "%lld values of faces are more than a device can count; use more ranks",
                       (long long)values));
    EG_TRY(make_tables(a, &t));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->tiles, s->relay->first, &s->first));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->own_tiles + EG_RELAY_MORE, s->relay->second,
                           &s->second));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->own_tiles, s->relay->soon, &s->soon));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->tiles, s->relay->home, &s->homes));
    EG_TRY(eg_buffer_create(space->device, a->real, (size_t)values, &a->flux));
done:
    eg_release(space->ctx, &t.single);
    eg_release(space->ctx, &t.image);
    eg_release(space->ctx, &t.bounded);
    eg_release(space->ctx, &t.beyond);
    return status;
}

void eg_elliptic_free_strips(eg_elliptic *a)
{
    eg_elliptic_strips *s = &a->strips;
    eg_buffer_destroy(&s->bounded);
    eg_buffer_destroy(&s->image);
    eg_buffer_destroy(&s->beyond);
    eg_buffer_destroy(&s->homes);
    eg_buffer_destroy(&s->soon);
    eg_buffer_destroy(&s->second);
    eg_buffer_destroy(&s->first);
    eg_relay_destroy(a->space->ctx, &s->relay);
}

/* --- products --------------------------------------------------------------------------------- */

eg_status eg_elliptic_multiply_strips(eg_elliptic *a, eg_buffer *b, eg_buffer *u, eg_buffer *y)
{
    const eg_group *g = &a->space->groups[0];
    const eg_elliptic_part *p = &a->parts[0];
    const eg_elliptic_strips *s = &a->strips;
    const eg_relay *relay = s->relay;
    const size_t begin = a->like->offset[0], threads = (size_t)relay->threads;
    const int64_t own = g->own_tiles, interior = g->interior_tiles;
    const eg_argument leave[] = {
        EG_BUFFER_AT("u", u, begin),    EG_BUFFER("order", s->first),
        EG_BUFFER("homes", s->homes),   EG_BUFFER("factors", p->factors),
        EG_BUFFER("image", s->image),   EG_BUFFER("bounded", s->bounded),
        EG_OPERATOR("even", a->slopes), EG_OPERATOR("odd", a->odd_slopes),
        EG_OPERATOR("along", a->along), EG_BUFFER("strip", a->flux),
    };
    const eg_argument pick_up[] = {
        EG_BUFFER_AT("u", u, begin),    EG_BUFFER_AT("b", b ? b : u, begin),
        EG_INTEGER("rest", b != NULL),  EG_BUFFER("order", s->second),
        EG_BUFFER("soon", s->soon),     EG_BUFFER("strip", a->flux),
        EG_BUFFER("beyond", s->beyond), EG_BUFFER("factors", p->factors),
        EG_OPERATOR("lines", a->lines), EG_OPERATOR("even", a->sum),
        EG_OPERATOR("odd", a->odd_sum), EG_BUFFER_AT("y", y, begin),
    };
    const eg_call calls[] = {{p->flux, own, leave, EG_COUNT(leave)},
                             {p->apply, own, pick_up, EG_COUNT(pick_up)}};
    eg_field field = *a->like;
    eg_status status = EG_OK;
    field.data = u;
    EG_TRY(eg_halo_start(a->halo, &field));
    if (!relay->alone) EG_TRY(eg_launch_pieces(calls, 1, relay->lists, threads));
    EG_TRY(eg_launch_pieces(calls, 2, relay->lists + threads, threads));
    EG_TRY(eg_halo_wait(a->halo, &field));
    if (g->tiles > own)
        EG_TRY(eg_launch_tiles(p->flux, own, g->tiles - own, leave, EG_COUNT(leave)));
    if (own > interior)
        EG_TRY(eg_launch_tiles(p->apply, interior, own - interior, pick_up, EG_COUNT(pick_up)));
done:
    return status;
}
