/* The values of a field at the centres of pixels: the polynomials themselves, each pixel by the
 * element that it lies in. */
#ifndef EG_REPORT_PLOT_IMAGE_H
#define EG_REPORT_PLOT_IMAGE_H

#include "report/plot/field.h"

/* Pixels in the plane, or in a plane of space. */
typedef struct eg_plot_view {
    int across, up; /* the coordinates that grow to the right and upwards */
    int normal;     /* the coordinate that is `at` everywhere; -1: there is none */
    double at;
    double left, top;  /* coordinates of the upper left corner */
    double pixel;      /* width and height of a pixel */
    int width, height; /* in pixels */
} eg_plot_view;

/* The point x [3] at the centre of a pixel. */
void eg_plot_view_point(const eg_plot_view *view, int column, int row, double x[3]);

/* Pixels whose centre is at most so far outside of all elements belong to the nearest. */
#define EG_PLOT_REACH 1.5

typedef struct eg_plot_image {
    eg_context *ctx; /* not owned */
    int width, height;
    int32_t *element; /* [height][width] the element of each pixel, -1: none; owned */
    float *beyond;    /* [height][width] pixels from its centre to that element; 0: inside; owned */
    float *line;      /* [height][width] the part that lines between elements cover; NULL: they were
                          not asked for; owned */
    double *value;    /* [height][width] at its centre; of one outside, at the edge; owned */
    int32_t element_count; /* that have pixels */
} eg_plot_image;

/* `line`: the full width of lines between elements, in pixels; 0: none. */
eg_status eg_plot_image_create(const eg_plot_field *field, const eg_plot_view *view, double line,
                               eg_plot_image **out);
void eg_plot_image_destroy(eg_plot_image **image);

/* The least and the greatest finite value of the pixels inside, and how many of them have a value
 * that is not finite. Without a finite value low is greater than high. */
typedef struct eg_plot_extent {
    double low, high;
    int64_t inside, undefined; /* pixels */
} eg_plot_extent;
eg_plot_extent eg_plot_image_measure(const eg_plot_image *image);

#endif
