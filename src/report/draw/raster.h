/* Pixels, and shapes drawn into them with soft edges.
 *
 *     eg_raster_polygon(raster, 3, triangle);
 *     eg_raster_stroke(raster, count, points, 1.5, false);
 *     eg_raster_paint(raster, colour, 1.0);
 *
 * What has been added since the last paint is painted together: where shapes overlap nothing is
 * painted twice, and shapes that share an edge leave no seam. Coordinates are in pixels, x to the
 * right and y down; pixel (i, j) is the square from (i, j) to (i + 1, j + 1). What lies outside is
 * cut off. */
#ifndef EG_REPORT_RASTER_H
#define EG_REPORT_RASTER_H

#include "base/base.h"

typedef struct eg_rgb {
    uint8_t r, g, b;
} eg_rgb;

/* The colour of six hexadecimal digits; part of the way from one colour to another. */
eg_rgb eg_rgb_parse(const char *digits);
eg_rgb eg_rgb_mix(eg_rgb from, eg_rgb to, double part);

typedef struct eg_raster {
    eg_context *ctx; /* not owned */
    int width, height;
    uint8_t *rgb;    /* [height][width][3] owned */
    float *cover;    /* [height][width + 2] how the winding number times the covered part of a pixel
                     differs from that of the pixel to the left; owned */
    int clip[4];     /* columns [clip[0], clip[2]) and rows [clip[1], clip[3]) are painted */
    int top, bottom; /* rows [top, bottom) of `cover` are not all zero */
} eg_raster;

/* Filled with one colour. */
eg_status eg_raster_create(eg_context *ctx, int width, int height, eg_rgb back, eg_raster **out);
void eg_raster_destroy(eg_raster **raster);

/* Adds a directed edge of a contour. What contours enclose is inside where the winding number is
 * not zero; the edges added until the next paint must be closed contours. */
void eg_raster_edge(eg_raster *raster, double x0, double y0, double x1, double y1);
/* Adds a polygon, turned if need be so that polygons that overlap never cancel. */
void eg_raster_polygon(eg_raster *raster, size_t count, const double (*points)[2]);
void eg_raster_disc(eg_raster *raster, double x, double y, double radius);
/* Adds a line through the points. Lines wide enough for it to show have round joints, and round
 * ends if wanted. */
void eg_raster_stroke(eg_raster *raster, size_t count, const double (*points)[2], double width,
                      bool round_ends);
/* Paints what was added with a colour and an opacity of 0 to 1. */
void eg_raster_paint(eg_raster *raster, eg_rgb colour, double opacity);

/* From now on nothing is painted outside of a rectangle, or anywhere: NULL. */
void eg_raster_clip(eg_raster *raster, const int clip[4]);

eg_rgb eg_raster_get(const eg_raster *raster, int x, int y);

#endif
