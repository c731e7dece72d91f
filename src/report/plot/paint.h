/* From values to colours. */
#ifndef EG_REPORT_PLOT_PAINT_H
#define EG_REPORT_PLOT_PAINT_H

#include "report/draw/colour_map.h"
#include "report/plot/image.h"

/* How an image becomes a picture. Nothing is owned. */
typedef struct eg_plot_paint {
    const eg_rgb *colours; /* [colour_count] along the range */
    int colour_count;
    double low, high;     /* the range; what is beyond has the colours of the ends */
    eg_rgb outline;       /* of the domain */
    const float *contour; /* [height][width] distances from lines; NULL: none */
    double contour_width;
} eg_plot_paint;

/* What has no value. */
extern const eg_rgb eg_plot_undefined;

/* Paints an image over the pixels of a raster whose corner is (left, top). */
void eg_plot_paint_image(const eg_plot_paint *paint, const eg_plot_image *image, eg_raster *raster,
                         int left, int top);
/* Paints the colours along the range, to the right or upwards. */
void eg_plot_paint_bar(const eg_plot_paint *paint, eg_raster *raster, int left, int top, int width,
                       int height, bool upwards);

/* The colour of lines: black on light colours, white on dark ones. */
eg_rgb eg_plot_line_on(eg_rgb colour);

#endif
