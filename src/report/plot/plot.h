/* Pictures of fields as PNG files: the polynomials themselves, pixel by pixel, with axes and a bar
 * that tells which colour is which value. */
#ifndef EG_REPORT_PLOT_H
#define EG_REPORT_PLOT_H

#include "report/draw/colour_map.h"
#include "report/plot/field.h"

enum { EG_PLOT_SIZE_LEAST = 240, EG_PLOT_SIZE_MOST = 16384, EG_PLOT_CONTOURS_MOST = 200 };

/* Zero means the default. */
typedef struct eg_plot_options {
    const char *title; /* UTF-8, not owned; NULL: none */
    eg_colour_map map;
    int width, height; /* pixels; 0: 1000, or less if that suffices; as much as the width takes */
    bool dark;         /* on black */
    bool mesh;         /* lines between elements */
    bool has_range;
    double range[2]; /* values of the first and the last colour; default: all there are, from -a to
                        a if the map diverges */
    bool has_zoom;
    double zoom[4];       /* low and high of the coordinate across, then of the one upwards */
    int slice;            /* space: 1, 2, 3: the plane across x, y, z … */
    double slice_at;      /* … at this coordinate; 0: the middle of the shortest extent */
    int contours;         /* about so many lines, at round numbers */
    const double *levels; /* [level_count] lines at these values, ascending, instead; not owned */
    int level_count;
} eg_plot_options;

/* What was drawn. */
typedef struct eg_plot_result {
    int width, height; /* of the picture, in pixels */
    double range[2];   /* of the colours */
    double low, high;  /* the least and the greatest value of pixels; low > high: no value */
    int64_t inside, undefined; /* pixels of elements; of these, without a finite value */
    int32_t elements;          /* that have pixels */
    int slice;                 /* 0: in the plane */
    double slice_at;
} eg_plot_result;

/* Adds the picture to `png`. Wrong options are EG_ERROR_INPUT; EG_ERROR_UNSUPPORTED: eagre was
 * built without libpng. */
eg_status eg_plot_write(const eg_plot_field *field, const eg_plot_options *options, eg_text *png,
                        eg_plot_result *result);

/* The same without the picture, for a range that several share. */
eg_status eg_plot_measure(const eg_plot_field *field, const eg_plot_options *options,
                          eg_plot_result *result);

#endif
