/* Where strips of faces stand, and the launches of what writes and reads them. */
#include "field/strips.h"

bool eg_strips_fit(const eg_space *space)
{
    const eg_mesh *mesh = space->mesh;
    for (int64_t i = 0; i < (int64_t)mesh->element_count * mesh->face_stride; i++)
        if (mesh->neighbour[i] >= 0 && EG_ORIENTATION(mesh->neighbour_face[i]) == 0) return false;
    return true;
}

/* --- tables ----------------------------------------------------------------------------------- */

/* Tables on the host. */
typedef struct tables {
    int32_t *next, *bounded;
} tables;

/* What is behind face f in a lane of own tile t. */
static void look_behind(const eg_space *space, const eg_relay *relay, int values, int64_t t, int f,
                        int lane, tables *out)
{
    const eg_group *g = &space->groups[0];
    const eg_mesh *mesh = space->mesh;
    const int faces = g->element->faces;
    const int64_t face = (int64_t)g->element_of_slot[t * g->lanes + lane] * mesh->face_stride + f;
    const int32_t other = mesh->neighbour[face];
    int64_t slot = t * g->lanes + lane, other_face = f;
    if (other >= 0) {
        slot = space->slot_of_element[other] - g->first_slot;
        other_face = EG_FACE(mesh->neighbour_face[face]);
    } else {
        out->bounded[t] |= 1 << f;
    }
    const int64_t home = relay->home[slot / g->lanes];
    out->next[(t * faces + f) * g->lanes + lane] =
        (int32_t)(((home * faces + other_face) * g->lanes + slot % g->lanes) * values);
}

static eg_status make_tables(const eg_space *space, int values, eg_strips *s)
{
    const eg_group *g = &space->groups[0];
    const int faces = g->element->faces;
    const size_t all = (size_t)(g->own_tiles * faces * g->lanes);
    tables t = {0};
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, all + 1, &t.next));
    EG_TRY(eg_new(space->ctx, (size_t)g->tiles + 1, &t.bounded));
    for (int64_t tile = 0; tile < g->own_tiles; tile++)
        for (int f = 0; f < faces; f++)
            for (int lane = 0; lane < g->lanes; lane++)
                look_behind(space, s->relay, values, tile, f, lane, &t);
    EG_TRY(eg_space_upload(space, EG_I32, all, t.next, &s->next));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->tiles, t.bounded, &s->bounded));
done:
    eg_release(space->ctx, &t.bounded);
    eg_release(space->ctx, &t.next);
    return status;
}

eg_status eg_strips_create(const eg_space *space, int values, eg_strips **out)
{
    const eg_group *g = &space->groups[0];
    const size_t own = (size_t)g->own_tiles;
    eg_strips *s = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(space->ctx, 1, &s));
    EG_TRY(eg_relay_create(space, 0, eg_device_get_info(space->device)->threads, &s->relay));
    s->values = s->relay->homes * g->element->faces * g->lanes * values;
    if (s->values > INT32_MAX)
        EG_TRY(eg_fail(space->ctx, EG_ERROR_ARGUMENT,
                       "%lld values of faces are more than a device can count; use more ranks",
                       (long long)s->values));
    EG_TRY(make_tables(space, values, s));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->tiles, s->relay->first, &s->first));
    EG_TRY(eg_space_upload(space, EG_I32, own + EG_RELAY_MORE, s->relay->second, &s->second));
    EG_TRY(eg_space_upload(space, EG_I32, own, s->relay->soon, &s->soon));
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)g->tiles, s->relay->home, &s->homes));
    *out = s;
    s = NULL;
done:
    eg_strips_destroy(space->ctx, &s);
    return status;
}

void eg_strips_destroy(eg_context *ctx, eg_strips **handle)
{
    eg_strips *s = *handle;
    if (!s) return;
    eg_buffer_destroy(&s->bounded);
    eg_buffer_destroy(&s->next);
    eg_buffer_destroy(&s->homes);
    eg_buffer_destroy(&s->soon);
    eg_buffer_destroy(&s->second);
    eg_buffer_destroy(&s->first);
    eg_relay_destroy(ctx, &s->relay);
    eg_release(ctx, handle);
}

/* --- launches --------------------------------------------------------------------------------- */

static eg_status launch_some(const eg_call *call, int64_t from, int64_t to)
{
    if (from == to) return EG_OK;
    return eg_launch_tiles(call->kernel, from, to - from, call->arguments, call->argument_count);
}

eg_status eg_strips_launch_interior(const eg_strips *s, const eg_call passes[2])
{
    const eg_relay *relay = s->relay;
    const size_t threads = (size_t)relay->threads;
    eg_status status = EG_OK;
    if (!relay->alone) EG_TRY(eg_launch_pieces(passes, 1, relay->lists, threads));
    EG_TRY(eg_launch_pieces(passes, 2, relay->lists + threads, threads));
done:
    return status;
}

eg_status eg_strips_launch_rest(const eg_group *g, const eg_call passes[2])
{
    eg_status status = EG_OK;
    EG_TRY(launch_some(&passes[0], g->own_tiles, g->tiles));
    EG_TRY(launch_some(&passes[1], g->interior_tiles, g->own_tiles));
done:
    return status;
}
