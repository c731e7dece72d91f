/* Keeps account of what is taken in small squares: enough for texts that keep their distance. */
#include "report/chart/room.h"

#include <math.h>

#define SIDE 2.0 /* of a square, in pixels */

eg_status eg_room_open(eg_context *ctx, eg_spot low, eg_spot high, eg_room *out)
{
    *out = (eg_room){.ctx = ctx, .low = low, .high = high};
    out->columns = 1 + (int)((high.x - low.x) / SIDE);
    out->rows = 1 + (int)((high.y - low.y) / SIDE);
    return eg_new(ctx, (size_t)out->columns * (size_t)out->rows, &out->taken);
}

void eg_room_close(eg_room *room)
{
    eg_release(room->ctx, &room->taken);
}

static bool is_inside(const eg_room *room, eg_spot p)
{
    return p.x >= room->low.x && p.x <= room->high.x && p.y >= room->low.y && p.y <= room->high.y;
}

static bool *square_at(const eg_room *room, eg_spot p)
{
    const int i = (int)((p.x - room->low.x) / SIDE), j = (int)((p.y - room->low.y) / SIDE);
    return &room->taken[(size_t)j * (size_t)room->columns + (size_t)i];
}

void eg_room_take_line(eg_room *room, eg_spot a, eg_spot b)
{
    const int pieces = 1 + (int)(hypot(b.x - a.x, b.y - a.y) / (0.7 * SIDE));
    for (int i = 0; i <= pieces; i++) {
        const double t = (double)i / pieces;
        const eg_spot p = {a.x + t * (b.x - a.x), a.y + t * (b.y - a.y)};
        if (is_inside(room, p)) *square_at(room, p) = true;
    }
}

/* A box, as lines from its left to its right edge. */
void eg_room_take_box(eg_room *room, eg_spot low, eg_spot high)
{
    const int rows = 1 + (int)((high.y - low.y) / SIDE);
    for (int i = 0; i <= rows; i++) {
        const double y = low.y + (double)i / rows * (high.y - low.y);
        eg_room_take_line(room, (eg_spot){low.x, y}, (eg_spot){high.x, y});
    }
}

static double turn(eg_spot a, eg_spot b, eg_spot c)
{
    return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

static bool in_triangle(eg_spot p, const eg_spot t[3])
{
    const double a = turn(t[0], t[1], p), b = turn(t[1], t[2], p), c = turn(t[2], t[0], p);
    return (a >= 0 && b >= 0 && c >= 0) || (a <= 0 && b <= 0 && c <= 0);
}

/* Whether squares whose centre is in the box, and in the triangle if there is one, are all free. */
static bool is_free(const eg_room *room, eg_spot low, eg_spot high, const eg_spot *triangle)
{
    if (!is_inside(room, low) || !is_inside(room, high)) return false;
    const int first[2] = {(int)((low.x - room->low.x) / SIDE), (int)((low.y - room->low.y) / SIDE)};
    const int last[2] = {(int)((high.x - room->low.x) / SIDE),
                         (int)((high.y - room->low.y) / SIDE)};
    for (int j = first[1]; j <= last[1]; j++)
        for (int i = first[0]; i <= last[0]; i++) {
            const eg_spot p = {room->low.x + (i + 0.5) * SIDE, room->low.y + (j + 0.5) * SIDE};
            if (triangle && !in_triangle(p, triangle)) continue;
            if (room->taken[(size_t)j * (size_t)room->columns + (size_t)i]) return false;
        }
    return true;
}

bool eg_room_has_box(const eg_room *room, eg_spot low, eg_spot high)
{
    return is_free(room, low, high, NULL);
}

bool eg_room_has_triangle(const eg_room *room, const eg_spot t[3])
{
    eg_spot low = t[0], high = t[0];
    for (int i = 1; i < 3; i++) {
        low = (eg_spot){fmin(low.x, t[i].x), fmin(low.y, t[i].y)};
        high = (eg_spot){fmax(high.x, t[i].x), fmax(high.y, t[i].y)};
    }
    return is_free(room, low, high, t);
}
