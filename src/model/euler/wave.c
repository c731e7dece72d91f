/* All stages of a step in one go, for CPUs and fields that are larger than their caches: a thread computes
 * some of its tiles, then of the next stage what can be computed with these, and so on, while what it needs
 * is in the caches. A step then reads and writes memory once, where stages do so three times.
 *
 * A tile can be computed once the stage before is there on all tiles that have neighbours of its elements.
 * A thread can do so without asking others in a range that shrinks from stage to stage, by a row of elements
 * at both ends of its tiles; what is left there follows when all threads have come so far:
 *
 *     stage 0   ├──────────────────┤├──────────────────┤     the tiles of two threads
 *     stage 1   ░░├──────────────┤░░░░├──────────────┤░░     ░ after all of stage 0
 *     stage 2   ░░░░├──────────┤░░░░░░░░├──────────┤░░░░     ░ after all of stage 1
 *
 * The last stage replaces the solution, which nobody needs there any more: neighbours are neighbours
 * mutually, so that all who do are in the ranges of the stages before. The others leave their results in
 * windows, which are written again and again and so stay in the caches: `homes` says where in it a tile is.
 * Tiles that are needed after the wave has passed have homes of their own.
 *
 * What a sweep finds does not depend on where it begins, to the bit, and so neither on all this. */
#include "model/euler/parts.h"

#include <stdlib.h>
#include <string.h>

/* The part of the caches that threads share in which what is under way has room. */
#define PART_OF_CACHE 0.25
/* Rows are computed so many at a time at least: each beginning finds the fluxes of a row once more. */
enum { ROWS_LEAST = 3 };
enum { CALLS_MOST = EG_EULER_WAVE_STAGES_MOST + 1 };

/* The first and the last tile that have neighbours of a tile's elements, or are it. */
typedef struct reach {
    int64_t low, high;
} reach;

typedef struct range {
    int64_t begin, end;
} range;

/* What is known while pieces are found. */
typedef struct plan {
    int64_t tiles;
    reach *reach;               /* [tiles] owned */
    int64_t row;                /* tiles that are neighbours are no further apart, … */
    int threads, stages, calls; /* calls: one more where speeds are found, too */
    int64_t chunk;              /* tiles at a time */
    int64_t
        held[EG_EULER_WAVE_STAGES_MOST]; /* tiles of a stage's result that are needed at a time */
    eg_piece *next;                      /* where the next piece goes */
} plan;

/* --- ranges ----------------------------------------------------------------------------------- */

static void find_reach(const eg_space *space, const eg_group *g, int64_t tile, reach *out)
{
    const eg_mesh *mesh = space->mesh;
    *out = (reach){tile, tile};
    for (int lane = 0; lane < g->lanes; lane++) {
        const size_t element = (size_t)g->element_of_slot[tile * g->lanes + lane];
        for (int f = 0; f < 4; f++) {
            const int32_t other = mesh->neighbour[element * (size_t)mesh->face_stride + (size_t)f];
            if (other < 0) continue;
            const int64_t there = (space->slot_of_element[other] - g->first_slot) / g->lanes;
            if (there < out->low) out->low = there;
            if (there > out->high) out->high = there;
        }
    }
}

static int64_t extent(const plan *p, int64_t tile)
{
    const int64_t down = tile - p->reach[tile].low, up = p->reach[tile].high - tile;
    return down > up ? down : up;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* … but for those that a periodic mesh joins across all of it: a little more than most are. */
static eg_status find_row(eg_context *ctx, plan *p)
{
    int64_t *all = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, (size_t)p->tiles, &all));
    for (int64_t t = 0; t < p->tiles; t++)
        all[t] = extent(p, t);
    qsort(all, (size_t)p->tiles, sizeof *all, compare);
    p->row = all[p->tiles / 2] + 1;
done:
    eg_release(ctx, &all);
    return status;
}

/* Whether a tile can be computed with what is known on a range. */
static bool is_within(const plan *p, int64_t tile, range known)
{
    const reach *r = &p->reach[tile];
    return r->low >= known.begin && r->high < known.end && extent(p, tile) <= p->row;
}

/* Those around the middle of a range that can. */
static range within(const plan *p, range known)
{
    const int64_t middle = (known.begin + known.end) / 2;
    range r = {middle, middle};
    while (r.begin > known.begin && is_within(p, r.begin - 1, known))
        r.begin--;
    while (r.end < known.end && is_within(p, r.end, known))
        r.end++;
    return r;
}

/* The tiles of a thread, as launches share them out. */
static range tiles_of(const plan *p, int thread)
{
    const int64_t share = p->tiles / p->threads, rest = p->tiles % p->threads;
    const int64_t begin = thread * share + (thread < rest ? thread : rest);
    return (range){begin, begin + share + (thread < rest)};
}

/* What a thread can do by itself, call by call. */
typedef struct ranges {
    range of[CALLS_MOST];
} ranges;

static ranges find_ranges(const plan *p, int thread)
{
    ranges r = {{tiles_of(p, thread)}};
    for (int s = 1; s < p->calls; s++)
        r.of[s] = s < p->stages ? within(p, r.of[s - 1]) : r.of[s - 1];
    return r;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static void add(plan *p, int call, int64_t begin, int64_t end)
{
    if (begin < end) *p->next++ = (eg_piece){.call = call, .first = begin, .count = end - begin};
}

/* What a thread does by itself, and how much of each result it needs at a time. */
static void add_wave(plan *p, const range *of)
{
    const int last = p->calls - 1;
    int64_t done[CALLS_MOST] = {0};
    for (int s = 0; s < p->calls; s++)
        done[s] = of[s].begin;
    while (done[0] < of[0].end || done[last] < of[last].end)
        for (int s = 0; s < p->calls; s++) {
            const bool all = s > 0 && done[s - 1] == of[s - 1].end;
            int64_t to = s == 0 ? done[0] + p->chunk : done[s];
            if (all || to > of[s].end) to = of[s].end;
            while (s > 0 && to < of[s].end &&
                   (s < p->stages ? p->reach[to].high : to) < done[s - 1])
                to++;
            add(p, s, done[s], to);
            done[s] = to;
            if (s >= p->stages - 1) continue;
            const int64_t held = to - done[s + 1] + p->row;
            if (held > p->held[s]) p->held[s] = held;
        }
}

/* … and what is left of a stage when all have done so. */
static void add_rest(plan *p, int stage, const range *of)
{
    const int last = stage == p->stages - 1 ? p->calls - 1 : stage;
    for (int s = stage; s <= last; s++) {
        add(p, s, of[0].begin, of[s].begin);
        add(p, s, of[s].end, of[0].end);
    }
}

static eg_status find_pieces(eg_context *ctx, plan *p, eg_euler_wave *w)
{
    /* Of a thread no more than chunks and then what waits for them. */
    const size_t most = (size_t)p->calls * (size_t)(p->tiles / p->chunk + p->calls + 4);
    eg_status status = EG_OK;
    EG_TRY(eg_new(ctx, most * (size_t)p->threads, &w->pieces));
    EG_TRY(eg_new(ctx, (size_t)(p->stages * p->threads), &w->lists));
    p->next = w->pieces;
    for (int s = 0; s < p->stages; s++)
        for (int i = 0; i < p->threads; i++) {
            const eg_piece *first = p->next;
            const ranges r = find_ranges(p, i);
            if (s == 0)
                add_wave(p, r.of);
            else
                add_rest(p, s, r.of);
            w->lists[s * p->threads + i] = (eg_pieces){first, (size_t)(p->next - first)};
        }
done:
    return status;
}

/* --- homes ------------------------------------------------------------------------------------ */

/* Where results of a stage stand: homes [tiles]; returns how many there are. Tiles that what is left of the
 * next stage reads have their own. */
static int64_t find_homes(const plan *p, int stage, int32_t *homes)
{
    int64_t next = 0;
    for (int i = 0; i < p->threads; i++) {
        const ranges r = find_ranges(p, i);
        const range mine = r.of[0], known = r.of[stage + 1];
        const int64_t begin = known.begin + p->row, end = known.end - p->row;
        const int64_t held = p->held[stage] < end - begin ? p->held[stage] : end - begin;
        const int64_t window = next;
        if (begin < end) next += held;
        for (int64_t t = mine.begin; t < mine.end; t++)
            homes[t] = (int32_t)(t >= begin && t < end ? window + (t - begin) % held : next++);
    }
    return next;
}

static eg_status make_windows(eg_euler *a, const plan *p, eg_euler_wave *w)
{
    const eg_space *space = a->space;
    const size_t rows = (size_t)EG_EULER_COMPONENTS * (size_t)space->groups[0].element->np;
    const double nothing = 0;
    int32_t *homes = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)p->tiles, &homes));
    for (int64_t t = 0; t < p->tiles; t++)
        homes[t] = (int32_t)t;
    EG_TRY(eg_space_upload(space, EG_I32, (size_t)p->tiles, homes, &w->homes[0]));
    for (int s = 0; s < p->stages - 1; s++) {
        const size_t count =
            (size_t)find_homes(p, s, homes) * rows * (size_t)space->groups[0].lanes;
        EG_TRY(eg_space_upload(space, EG_I32, (size_t)p->tiles, homes, &w->homes[s + 1]));
        EG_TRY(eg_buffer_create(space->device, EG_F64, count, &w->window[s + 1]));
        EG_TRY(eg_buffer_fill(w->window[s + 1], 0, count, &nothing));
    }
done:
    eg_release(space->ctx, &homes);
    return status;
}

/* --- plans ------------------------------------------------------------------------------------ */

/* How many tiles a thread computes at a time: as many as caches hold with what else is under way; 0 if that
 * is too little, or if threads can do little by themselves. */
static int64_t choose_chunk(const eg_euler *a, const plan *p)
{
    const eg_group *g = &a->space->groups[0];
    const double cache = (double)eg_device_get_info(a->space->device)->cache_bytes;
    const double bytes = 8.0 * EG_EULER_COMPONENTS * g->element->np * g->lanes;
    const int64_t room = (int64_t)(PART_OF_CACHE * cache / (p->stages * p->threads * bytes));
    int64_t alone = 0;
    for (int i = 0; i < p->threads; i++) {
        const ranges r = find_ranges(p, i);
        alone += r.of[p->stages - 1].end - r.of[p->stages - 1].begin;
    }
    return room >= ROWS_LEAST * p->row && 2 * alone > p->tiles ? room : 0;
}

/* What a step can be made of, and whether it is worth it. */
static bool suits(const eg_euler *a, const eg_euler_options *options)
{
    const eg_space *space = a->space;
    return options->stages > 1 && options->stages <= EG_EULER_WAVE_STAGES_MOST &&
           !options->low_storage && eg_comm_size(space->comm) == 1 && space->group_count == 1 &&
           a->parts[0].sweeps && !eg_euler_limits_after(&options->limits) &&
           (options->chunk > 0 || eg_space_passes_caches(space, 3 * EG_EULER_COMPONENTS));
}

eg_status eg_euler_plan_wave(eg_euler *a, const eg_euler_options *options)
{
    const eg_space *space = a->space;
    eg_context *ctx = space->ctx;
    plan p = {.threads = eg_device_get_info(space->device)->threads,
              .stages = options->stages,
              .calls = options->stages + options->rates,
              .chunk = options->chunk};
    eg_euler_wave *w = NULL;
    eg_status status = EG_OK;
    if (!suits(a, options)) return EG_OK;
    p.tiles = space->groups[0].tiles;
    EG_TRY(eg_new(ctx, (size_t)p.tiles, &p.reach));
    for (int64_t t = 0; t < p.tiles; t++)
        find_reach(space, &space->groups[0], t, &p.reach[t]);
    EG_TRY(find_row(ctx, &p));
    if (p.chunk == 0) p.chunk = choose_chunk(a, &p);
    if (p.chunk == 0) goto done;
    EG_TRY(eg_new(ctx, 1, &w));
    a->wave = w;
    *w = (eg_euler_wave){.threads = p.threads, .stages = p.stages, .calls = p.calls};
    EG_TRY(find_pieces(ctx, &p, w));
    EG_TRY(make_windows(a, &p, w));
done:
    eg_release(ctx, &p.reach);
    return status;
}

void eg_euler_wave_destroy(eg_euler *a)
{
    eg_euler_wave *w = a->wave;
    if (!w) return;
    for (int s = 0; s < EG_EULER_WAVE_STAGES_MOST; s++) {
        eg_buffer_destroy(&w->window[s]);
        eg_buffer_destroy(&w->homes[s]);
    }
    eg_kernel_destroy(&w->last);
    eg_kernel_destroy(&w->stage);
    eg_release(a->space->ctx, &w->lists);
    eg_release(a->space->ctx, &w->pieces);
    eg_release(a->space->ctx, &a->wave);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void set(eg_argument *list, size_t count, eg_argument a)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(list[i].name, a.name)) list[i] = a;
}

/* The arguments of stage s; returns their number. */
static size_t arguments_of(const eg_euler *a, const eg_stage *stage, int s, eg_field *u,
                           eg_argument *list)
{
    const eg_euler_wave *w = a->wave;
    const bool last = s == w->stages - 1;
    const eg_euler_work work = {stage, u, u, NULL, u};
    const size_t n = eg_euler_sweep_arguments(a, 0, &work, list);
    set(list, n, EG_BUFFER("homes", w->homes[s]));
    set(list, n, EG_BUFFER("out_homes", w->homes[last ? 0 : s + 1]));
    if (s > 0) {
        set(list, n, EG_BUFFER("u", w->window[s]));
        set(list, n, EG_INTEGER("begin", 0));
    }
    set(list, n, EG_BUFFER("out", last ? a->no_register : w->window[s + 1]));
    if (last) {
        set(list, n, EG_BUFFER("first", w->window[s]));
        set(list, n, EG_BUFFER_AT("k", u->data, u->offset[0]));
    }
    return n;
}

eg_status eg_euler_run_wave(eg_euler *a, const eg_stage *stages, eg_field *u)
{
    const eg_euler_wave *w = a->wave;
    const int64_t tiles = a->space->groups[0].tiles;
    eg_argument arguments[CALLS_MOST][EG_EULER_ARGUMENTS_MAX];
    eg_call calls[CALLS_MOST];
    eg_status status = EG_OK;
    for (int s = 0; s < w->calls; s++) {
        const bool is_stage = s < w->stages;
        const size_t count = is_stage ? arguments_of(a, &stages[s], s, u, arguments[s])
                                      : eg_euler_speed_arguments(a, 0, u, arguments[s]);
        eg_kernel *kernel =
            is_stage ? (s < w->stages - 1 ? w->stage : w->last) : a->parts[0].speeds;
        calls[s] = (eg_call){kernel, tiles, arguments[s], count};
    }
    a->rated = NULL;
    for (int s = 0; s < w->stages; s++)
        EG_TRY(eg_launch_pieces(calls, (size_t)w->calls, w->lists + s * w->threads,
                                (size_t)w->threads));
    if (w->calls > w->stages) a->rated = u;
done:
    return status;
}
