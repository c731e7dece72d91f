/* What `sweep` (sweep.k.c) must know of a group: where the neighbours of each tile's elements stand. */
#include "model/advection/parts.h"

/* How many places traces are kept of at most: of fewer where an element has more lines than so many. */
enum { RING_MOST = 1024, RING_LEAST = 256, RING_LINES = 36 };
enum { LANES_MOST = 16 };

/* Bits of a run (sweep.k.c). */
#define BESIDE ((int64_t)1 << 56)
#define EDGE ((int64_t)1 << 57)
static int64_t make_run(int64_t place, int loose, int group)
{
    return (int64_t)(uint32_t)place | (int64_t)loose << 32 | (int64_t)group << 48;
}

/* The row that most lanes of a tile have their neighbours in. Vectors of it must lie in the field,
 * unless they come out of the lanes before. */
static int64_t find_run(const eg_space *space, int group, int64_t tile, int end, const int *turns)
{
    const eg_group *g = &space->groups[group];
    const int all = (1 << g->lanes) - 1;
    eg_neighbour of[LANES_MOST];
    int64_t best = make_run(0, all, group);
    int most = 0;
    for (int lane = 0; lane < g->lanes; lane++)
        of[lane] = eg_advection_neighbour(space, g, tile * g->lanes + lane, end, turns);
    for (int lane = 0; lane < g->lanes; lane++) {
        if (of[lane].group < 0) continue;
        const eg_group *other = &space->groups[of[lane].group];
        const int64_t first = of[lane].place - lane;
        const bool beside = end == 0 && of[lane].group == group && first == tile * g->lanes - 1;
        if (!beside && (first < 0 || first + g->lanes > other->tiles * other->lanes)) continue;
        int count = 0, loose = 0, last_loose = 0;
        for (int l = 0; l < g->lanes; l++) {
            if (of[l].group == of[lane].group && of[l].place == first + l)
                count++;
            else
                loose |= 1 << (last_loose = l);
        }
        if (count <= most) continue;
        most = count;
        best = make_run(first, loose, of[lane].group);
        if (!beside) continue;
        const eg_neighbour edge = of[last_loose];
        if (count == g->lanes - 1 && (edge.group == group || edge.group == EG_OUTSIDE))
            best = make_run(edge.place, loose, group) | EDGE;
        best |= BESIDE;
    }
    return best;
}

eg_status eg_advection_find_runs(eg_advection *a, int group, const int *turns)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[group];
    const int ends = 2 * a->dim,
              lines = a->dim == 3 ? (g->degree + 1) * (g->degree + 1) : g->degree + 1;
    eg_advection_part *p = &a->parts[group];
    int64_t *runs = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(space->ctx, (size_t)(ends * g->own_tiles) + 1, &runs));
    p->ring = g->lanes;
    p->ring_most = a->components * lines <= RING_LINES ? RING_MOST : RING_LEAST;
    for (int end = 0; end < ends; end++) {
        for (int64_t tile = 0; tile < g->own_tiles; tile++) {
            const int64_t run = find_run(space, group, tile, end, turns);
            const int64_t back = tile * g->lanes - (int32_t)run; /* along direction 1 */
            runs[end * g->own_tiles + tile] = run;
            while (end == 2 && back > p->ring && back <= p->ring_most)
                p->ring *= 2;
        }
    }
    EG_TRY(eg_space_upload(space, EG_I64, (size_t)(ends * g->own_tiles) + 1, runs, &p->runs));
done:
    eg_release(space->ctx, &runs);
    return status;
}
