/* Greedy placement: the candidates around a point are tried in order of preference, and the first
 * one that covers nothing wins; failing that, the one that covers least of the lines. */
#include "bench/label.h"

#include <math.h>

eg_label_map eg_label_map_new(eg_context *ctx, eg_box frame)
{
    return (eg_label_map){.ctx = ctx, .frame = frame};
}

void eg_label_map_free(eg_label_map *map)
{
    eg_release(map->ctx, &map->boxes);
    eg_release(map->ctx, &map->lines);
    map->box_count = map->line_count = 0;
}

static eg_status append(eg_context *ctx, eg_box **list, size_t *count, size_t *capacity, eg_box box)
{
    if (*count == *capacity) {
        size_t more = *capacity ? 2 * *capacity : 64;
        eg_status status = eg_reallocate(ctx, more * sizeof **list, (void **)list);
        if (status != EG_OK) return status;
        *capacity = more;
    }
    (*list)[(*count)++] = box;
    return EG_OK;
}

eg_status eg_label_map_add_box(eg_label_map *map, eg_box box)
{
    return append(map->ctx, &map->boxes, &map->box_count, &map->box_capacity, box);
}

/* A straight line is represented by boxes every few pixels; this is number `i` of `pieces`. */
static int pieces_of(double x0, double y0, double x1, double y1)
{
    return 1 + (int)(hypot(x1 - x0, y1 - y0) / 3);
}

static eg_box piece(double x0, double y0, double x1, double y1, double thickness, int i, int pieces)
{
    double s = (double)i / pieces, x = x0 + s * (x1 - x0), y = y0 + s * (y1 - y0);
    return (eg_box){x - thickness, y - thickness, x + thickness, y + thickness};
}

eg_status eg_label_map_add_line(eg_label_map *map, double x0, double y0, double x1, double y1,
                                double thickness, bool may_be_covered)
{
    eg_status status = EG_OK;
    int pieces = pieces_of(x0, y0, x1, y1);
    for (int i = 0; i <= pieces; i++) {
        eg_box box = piece(x0, y0, x1, y1, thickness, i, pieces);
        if (may_be_covered) {
            EG_TRY(append(map->ctx, &map->lines, &map->line_count, &map->line_capacity, box));
        } else {
            EG_TRY(eg_label_map_add_box(map, box));
        }
    }
done:
    return status;
}

static int overlaps(const eg_box *boxes, size_t count, eg_box box)
{
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        found += boxes[i].left < box.right && box.left < boxes[i].right &&
                 boxes[i].top < box.bottom && box.top < boxes[i].bottom;
    }
    return found;
}

bool eg_label_map_is_free(const eg_label_map *map, double x0, double y0, double x1, double y1,
                          double thickness)
{
    int pieces = pieces_of(x0, y0, x1, y1);
    for (int i = 0; i <= pieces; i++) {
        eg_box box = piece(x0, y0, x1, y1, thickness, i, pieces);
        if (overlaps(map->boxes, map->box_count, box) > 0) return false;
    }
    return true;
}

eg_status eg_label_map_place(eg_label_map *map, double x, double y, double width, double height,
                             double distance, eg_box *box, bool *placed)
{
    /* Centre of the label relative to the point, in units of (half width + distance, half height +
     * distance): below, above, right, left, the corners. */
    static const double around[][2] = {{0, 1},  {0, -1},  {1, 0},   {-1, 0},
                                       {.8, 1}, {-.8, 1}, {.8, -1}, {-.8, -1}};
    int least = 1 << 30;
    *placed = false;
    for (int ring = 0; ring < 3; ring++) {
        for (size_t i = 0; i < EG_COUNT(around); i++) {
            double far = distance * (1 + 0.9 * ring);
            double cx = x + around[i][0] * (width / 2 + far);
            double cy = y + around[i][1] * (height / 2 + far);
            eg_box trial = {cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2};
            if (trial.left < map->frame.left || trial.right > map->frame.right ||
                trial.top < map->frame.top || trial.bottom > map->frame.bottom ||
                overlaps(map->boxes, map->box_count, trial) > 0) {
                continue;
            }
            int covered = overlaps(map->lines, map->line_count, trial);
            if (covered >= least) continue;
            least = covered;
            *box = trial;
            *placed = true;
            if (covered == 0) return eg_label_map_add_box(map, trial);
        }
    }
    return *placed ? eg_label_map_add_box(map, *box) : EG_OK;
}
