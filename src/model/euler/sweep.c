/* Which groups `sweep` (sweep.k.c) is for, and where it finds the neighbours of each tile's elements. */
#include "model/euler/parts.h"

#include <string.h>

/* Of how many elements fluxes are kept at most: rows of a space are not longer (field/space.c). */
enum { KEPT_MOST = 1024 };
enum { LANES_MOST = 16 };

bool eg_euler_sweeps_on(const eg_device *device)
{
    return strcmp(eg_device_get_info(device)->backend, "cpu") == 0;
}

int eg_euler_ring_most(const eg_euler *a, int group)
{
    return KEPT_MOST / a->space->groups[group].lanes;
}

/* Whether a group has no neighbours that are turned or of another group, which traces of Gauss points
 * cannot be gathered from. */
static bool all_stand_alike(const eg_euler *a, int group)
{
    const eg_group *g = &a->space->groups[group];
    const eg_mesh *mesh = a->space->mesh;
    for (int64_t i = 0; i < g->own_tiles * g->lanes; i++)
        for (int end = 0; end < 4; end++) {
            const int32_t e = g->element_of_slot[i];
            const int face = eg_shape_face_at(EG_SHAPE_QUAD, end / 2, end % 2);
            const size_t at = (size_t)e * (size_t)mesh->face_stride + (size_t)face;
            if (mesh->neighbour[at] >= 0 && eg_euler_neighbour_place(a, group, e, end) < 0)
                return false;
        }
    return true;
}

/* The row in which most elements of a tile have their neighbours behind an end. */
static void find_row(const eg_euler *a, int group, int64_t tile, int end, int32_t row[4])
{
    const eg_group *g = &a->space->groups[group];
    int64_t place[LANES_MOST], first = 0;
    int most = 0;
    for (int lane = 0; lane < g->lanes; lane++)
        place[lane] =
            eg_euler_neighbour_place(a, group, g->element_of_slot[tile * g->lanes + lane], end);
    row[3] = (1 << g->lanes) - 1;
    for (int lane = 0; lane < g->lanes; lane++) {
        int count = 0, loose = 0;
        if (place[lane] < 0) continue;
        for (int l = 0; l < g->lanes; l++) {
            const bool stands = place[l] >= 0 && place[l] - l == place[lane] - lane;
            count += stands;
            if (!stands) loose |= 1 << l;
        }
        if (count <= most) continue;
        most = count;
        first = place[lane] - lane;
        row[3] = loose;
    }
    /* What would be before the first tile or behind the last is loose. */
    const int64_t one = first < 0 ? -1 : first / g->lanes;
    row[0] = (int32_t)(one < 0 ? 0 : one);
    row[1] = (int32_t)(one + 1 < g->tiles ? one + 1 : one);
    row[2] = (int32_t)(first - one * g->lanes);
}

eg_status eg_euler_find_rows(eg_euler *a, int group, const eg_euler_options *options)
{
    const eg_space *space = a->space;
    const eg_group *g = &space->groups[group];
    eg_euler_part *p = &a->parts[group];
    const size_t count = (size_t)g->own_tiles * 4;
    int32_t *rows = NULL;
    eg_status status = EG_OK;
    const bool finds_traces = a->scheme.method == EG_EULER_DG && space->group_count == 1 &&
                              !eg_euler_limits_after(&options->limits);
    p->sweeps = eg_euler_sweeps_on(space->device) && !a->blend && p->cartesian &&
                space->mesh->order == 1 && g->lanes <= LANES_MOST &&
                (eg_euler_basis(a->scheme) == EG_BASIS_LOBATTO ||
                 (finds_traces && all_stand_alike(a, group)));
    if (!p->sweeps) return EG_OK;
    a->traced = false;
    EG_TRY(eg_new(space->ctx, 4 * count + 1, &rows));
    p->ring = 1;
    for (size_t i = 0; i < count; i++) {
        const int64_t tile = (int64_t)(i / 4), end = (int64_t)(i % 4);
        find_row(a, group, tile, (int)end, &rows[4 * i]);
        const int64_t back = tile - rows[4 * i];
        while (end == 2 && back >= p->ring && back < eg_euler_ring_most(a, group))
            p->ring *= 2;
    }
    EG_TRY(eg_space_upload(space, EG_I32, 4 * count + 1, rows, &p->rows));
done:
    eg_release(space->ctx, &rows);
    return status;
}
