/* Which parts of a plot are taken by lines, markers and texts, so that others find room. */
#ifndef EG_REPORT_CHART_ROOM_H
#define EG_REPORT_CHART_ROOM_H

#include "base/base.h"

/* In pixels. */
typedef struct eg_spot {
    double x, y;
} eg_spot;

typedef struct eg_room {
    eg_context *ctx; /* not owned */
    eg_spot low, high;
    int columns, rows;
    bool *taken; /* [rows][columns] small squares; owned */
} eg_room;

/* An empty room between two corners. */
eg_status eg_room_open(eg_context *ctx, eg_spot low, eg_spot high, eg_room *out);
void eg_room_close(eg_room *room);

/* What is outside has no effect. */
void eg_room_take_line(eg_room *room, eg_spot a, eg_spot b);
void eg_room_take_box(eg_room *room, eg_spot low, eg_spot high);

/* True if nothing inside is taken and no corner is outside of the room. */
bool eg_room_has_box(const eg_room *room, eg_spot low, eg_spot high);
bool eg_room_has_triangle(const eg_room *room, const eg_spot corners[3]);

#endif
