/* Places labels on a picture so that none covers another label, a marker or more of a line than
 * need be. Coordinates are in pixels, y downwards. */
#ifndef EG_BENCH_LABEL_H
#define EG_BENCH_LABEL_H

#include "base/base.h"

typedef struct eg_box {
    double left, top, right, bottom;
} eg_box;

/* What is already taken. */
typedef struct eg_label_map {
    eg_context *ctx; /* not owned */
    eg_box frame;    /* labels stay inside it */
    eg_box *boxes;   /* owned: labels and markers, never covered */
    size_t box_count, box_capacity;
    eg_box *lines; /* owned: bits of lines, covered if nothing better is left */
    size_t line_count, line_capacity;
} eg_label_map;

eg_label_map eg_label_map_new(eg_context *ctx, eg_box frame);
void eg_label_map_free(eg_label_map *map);
eg_status eg_label_map_add_box(eg_label_map *map, eg_box box);
/* A straight line, as small boxes along it; `thickness` to both sides. */
eg_status eg_label_map_add_line(eg_label_map *map, double x0, double y0, double x1, double y1,
                                double thickness, bool may_be_covered);

/* True if no label or marker stands in the way of such a line. */
bool eg_label_map_is_free(const eg_label_map *map, double x0, double y0, double x1, double y1,
                          double thickness);

/* Finds a place for a label of `width` by `height` next to (x, y) and takes it: *box is where.
 * *placed is false if there is none. */
eg_status eg_label_map_place(eg_label_map *map, double x, double y, double width, double height,
                             double distance, eg_box *box, bool *placed);

#endif
