/* In which order tiles are done, and where what they leave stands: found by doing so on the host, once. */
#include "field/relay.h"

#include <string.h>

/* What is known while a relay is planned. */
typedef struct plan {
    const eg_space *space;
    const eg_group *g;
    eg_relay *r;
    int64_t chunk;
    int64_t *begin; /* [own_tiles + 1] where a tile's neighbours begin … */
    int32_t
        *touched; /* … among these: own tiles that have neighbours of its elements, and itself */
    int32_t *missing; /* [own_tiles] of those that the first pass has not been to … */
    int32_t *waiting; /* [own_tiles] … and of those that still need what it has left */
    bool *early, *lasting;
    int32_t *vacant; /* [tiles] homes that may be taken again, the last first */
    int64_t vacant_count;
    int64_t done[2]; /* tiles that have a number in either pass */
    eg_piece *next;
} plan;

/* --- neighbours ------------------------------------------------------------------------------- */

/* The tile of the neighbour behind face f in a lane; -1: a boundary. */
static int64_t tile_behind(const plan *p, int64_t tile, int lane, int f)
{
    const eg_mesh *mesh = p->space->mesh;
    const int32_t element = p->g->element_of_slot[tile * p->g->lanes + lane];
    const int32_t other = mesh->neighbour[(int64_t)element * mesh->face_stride + f];
    if (other < 0) return -1;
    return (p->space->slot_of_element[other] - p->g->first_slot) / p->g->lanes;
}

/* Own tiles that touch one, each once, and itself: to `out`, if that is not NULL; returns how many. */
static int64_t list_touched(const plan *p, int64_t tile, int64_t *seen, int32_t *out)
{
    int64_t count = 1;
    seen[tile] = tile;
    if (out) out[0] = (int32_t)tile;
    for (int lane = 0; lane < p->g->lanes; lane++)
        for (int f = 0; f < p->g->element->faces; f++) {
            const int64_t there = tile_behind(p, tile, lane, f);
            if (there < 0 || there >= p->g->own_tiles || seen[there] == tile) continue;
            seen[there] = tile;
            if (out) out[count] = (int32_t)there;
            count++;
        }
    return count;
}

static eg_status find_touched(plan *p)
{
    const int64_t own = p->g->own_tiles;
    int64_t *seen = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(p->space->ctx, (size_t)own + 1, &seen));
    EG_TRY(eg_new(p->space->ctx, (size_t)own + 1, &p->begin));
    for (int64_t t = 0; t < own; t++)
        seen[t] = -1;
    for (int64_t t = 0; t < own; t++)
        p->begin[t + 1] = p->begin[t] + list_touched(p, t, seen, NULL);
    EG_TRY(eg_new(p->space->ctx, (size_t)p->begin[own] + 1, &p->touched));
    for (int64_t t = 0; t < own; t++)
        seen[t] = -1;
    for (int64_t t = 0; t < own; t++)
        list_touched(p, t, seen, p->touched + p->begin[t]);
done:
    eg_release(p->space->ctx, &seen);
    return status;
}

#define EACH_TOUCHED(p, tile, other)                                                               \
    for (int64_t k_ = (p)->begin[tile], other;                                                     \
         k_ < (p)->begin[(tile) + 1] && (other = (p)->touched[k_], true); k_++)

/* The tiles of a thread, as launches share them out. */
static int64_t part_begin(const plan *p, int thread)
{
    const int64_t share = p->g->own_tiles / p->r->threads, rest = p->g->own_tiles % p->r->threads;
    return thread * share + (thread < rest ? thread : rest);
}

/* Which tiles are early, and which have homes of their own. */
static void mark(plan *p)
{
    for (int i = 0; i < p->r->threads; i++) {
        const int64_t begin = part_begin(p, i), end = part_begin(p, i + 1);
        for (int64_t t = begin; t < end; t++) {
            p->missing[t] = p->waiting[t] = (int32_t)(p->begin[t + 1] - p->begin[t]);
            EACH_TOUCHED(p, t, other)
            {
                if (other < begin || other >= end) p->early[t] = p->lasting[t] = true;
                if (other >= p->g->interior_tiles) p->lasting[t] = true;
            }
        }
    }
}

/* --- a thread's part -------------------------------------------------------------------------- */

static void add(plan *p, int call, int64_t from)
{
    if (from < p->done[call])
        *p->next++ = (eg_piece){.call = call, .first = from, .count = p->done[call] - from};
}

static void settle(plan *p, int64_t tile)
{
    const bool used = !p->lasting[tile] && p->vacant_count > 0;
    p->r->home[tile] = used ? p->vacant[--p->vacant_count] : (int32_t)p->r->homes++;
}

/* The second pass over a tile, after which some homes are vacant. */
static void pick_up(plan *p, int64_t tile)
{
    p->r->second[p->done[1]++] = (int32_t)tile;
    EACH_TOUCHED(p, tile, other)
    if (--p->waiting[other] == 0 && !p->lasting[other])
        p->vacant[p->vacant_count++] = p->r->home[other];
}

/* Notes that the first pass has been to a tile; interior ones that wait for no other any more go to `ready`.
 * Returns how many. */
static int64_t leave(plan *p, int64_t tile, int32_t *ready)
{
    int64_t count = 0;
    EACH_TOUCHED(p, tile, other)
    if (--p->missing[other] == 0 && other < p->g->interior_tiles) ready[count++] = (int32_t)other;
    return count;
}

static void plan_early(plan *p, int thread)
{
    const int64_t begin = part_begin(p, thread), end = part_begin(p, thread + 1);
    const int64_t from = p->done[0];
    for (int64_t t = begin; t < end; t++) {
        if (!p->early[t]) continue;
        settle(p, t);
        p->r->first[p->done[0]++] = (int32_t)t;
    }
    add(p, 0, from);
}

/* What early tiles of all threads leave is there. Those that wait for nothing else are ready at once. */
static int64_t see_early(plan *p, int64_t begin, int64_t end, int32_t *ready)
{
    int64_t count = 0;
    for (int64_t t = begin; t < end; t++) {
        EACH_TOUCHED(p, t, other) p->missing[t] -= p->early[other];
        if (p->missing[t] == 0 && t < p->g->interior_tiles) ready[count++] = (int32_t)t;
    }
    return count;
}

static void plan_main(plan *p, int thread, int32_t *ready)
{
    const int64_t begin = part_begin(p, thread), end = part_begin(p, thread + 1);
    int64_t t = begin, count = see_early(p, begin, end, ready);
    p->vacant_count = 0; /* of other threads */
    while (t < end || count > 0) {
        const int64_t from[2] = {p->done[0], p->done[1]};
        for (int64_t some = 0; t < end && some < p->chunk; t++) {
            if (p->early[t]) continue;
            settle(p, t);
            p->r->first[p->done[0]++] = (int32_t)t;
            count += leave(p, t, ready + count);
            some++;
        }
        for (int64_t i = 0; i < count; i++)
            pick_up(p, ready[i]);
        count = 0;
        add(p, 0, from[0]);
        add(p, 1, from[1]);
    }
}

/* Tiles that the first pass comes to soon, for those of the second, in the order in which it does. */
static void find_soon(const eg_relay *r, const eg_pieces *list)
{
    int64_t asked = -1, reached = 0, last = 0;
    for (size_t k = 0; k < list->count; k++) {
        const eg_piece *p = &list->pieces[k];
        if (p->call == 0 && asked < 0) asked = p->first;
        if (p->call == 0) last = p->first + p->count;
    }
    for (size_t k = 0; k < list->count; k++) {
        const eg_piece *p = &list->pieces[k];
        if (p->call == 0) reached = p->first + p->count;
        if (asked < reached) asked = reached;
        for (int64_t t = p->first; p->call == 1 && t < p->first + p->count; t++)
            for (int i = 0; i < 2; i++)
                if (asked < last && asked < reached + (i == 0 ? EG_RELAY_FAR : EG_RELAY_NEAR))
                    r->soon[2 * t + i] = r->first[asked++];
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static eg_status find_lists(plan *p)
{
    eg_context *ctx = p->space->ctx;
    eg_relay *r = p->r;
    /* Two pieces for each chunk, and what a thread has besides. */
    const size_t most = 2 * (size_t)(p->g->own_tiles / p->chunk) + 6 * (size_t)r->threads;
    int32_t *ready = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, (size_t)p->g->own_tiles + 1, &ready));
    EG_TRY(eg_new(ctx, most, &r->pieces));
    EG_TRY(eg_new(ctx, 2 * (size_t)r->threads, &r->lists));
    p->next = r->pieces;
    for (int part = 0; part < 2; part++)
        for (int i = 0; i < r->threads; i++) {
            const eg_piece *from = p->next;
            if (part == 0)
                plan_early(p, i);
            else
                plan_main(p, i, ready);
            r->lists[part * r->threads + i] = (eg_pieces){from, (size_t)(p->next - from)};
        }
    for (int64_t t = p->g->interior_tiles; t < p->g->own_tiles; t++)
        r->second[t] = (int32_t)t;
    for (int64_t i = 0; i < 2 * p->g->own_tiles; i++)
        r->soon[i] = -1;
    for (int i = 0; i < r->threads; i++)
        find_soon(r, &r->lists[r->threads + i]);
    for (int64_t t = p->g->own_tiles; t < p->g->tiles; t++) {
        r->first[t] = (int32_t)t;
        r->home[t] = (int32_t)r->homes++;
    }
done:
    eg_release(ctx, &ready);
    return status;
}

static void plan_free(plan *p)
{
    eg_context *ctx = p->space->ctx;
    eg_release(ctx, &p->vacant);
    eg_release(ctx, &p->lasting);
    eg_release(ctx, &p->early);
    eg_release(ctx, &p->waiting);
    eg_release(ctx, &p->missing);
    eg_release(ctx, &p->touched);
    eg_release(ctx, &p->begin);
}

eg_status eg_relay_create(const eg_space *space, int64_t chunk, int threads, eg_relay **out)
{
    const eg_group *g = &space->groups[0];
    const size_t own = (size_t)g->own_tiles;
    plan p = {.space = space, .g = g, .chunk = chunk};
    eg_relay *r = NULL;
    eg_status status = EG_OK;
    *out = NULL;
    EG_TRY(eg_new(space->ctx, 1, &r));
    *r = (eg_relay){.threads = threads > 0 ? threads : 1, .alone = threads <= 1};
    p.r = r;
    if (p.chunk == 0)
        p.chunk =
            eg_device_get_info(space->device)->threads > 0 ? EG_RELAY_CHUNK : g->own_tiles + 1;
    EG_TRY(eg_new(space->ctx, (size_t)g->tiles + 1, &r->home));
    EG_TRY(eg_new(space->ctx, (size_t)g->tiles + 1, &r->first));
    EG_TRY(eg_new(space->ctx, own + 1, &r->second));
    EG_TRY(eg_new(space->ctx, 2 * own + 1, &r->soon));
    EG_TRY(eg_new(space->ctx, own + 1, &p.missing));
    EG_TRY(eg_new(space->ctx, own + 1, &p.waiting));
    EG_TRY(eg_new(space->ctx, own + 1, &p.early));
    EG_TRY(eg_new(space->ctx, own + 1, &p.lasting));
    EG_TRY(eg_new(space->ctx, own + 1, &p.vacant));
    EG_TRY(find_touched(&p));
    mark(&p);
    EG_TRY(find_lists(&p));
    *out = r;
    r = NULL;
done:
    plan_free(&p);
    eg_relay_destroy(space->ctx, &r);
    return status;
}

void eg_relay_destroy(eg_context *ctx, eg_relay **relay)
{
    eg_relay *r = *relay;
    if (!r) return;
    eg_release(ctx, &r->lists);
    eg_release(ctx, &r->pieces);
    eg_release(ctx, &r->soon);
    eg_release(ctx, &r->second);
    eg_release(ctx, &r->first);
    eg_release(ctx, &r->home);
    eg_release(ctx, relay);
}
