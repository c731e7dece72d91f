/* An element that visits pixels, claims those it holds and evaluates there; private to
 * plot_image.c. */
#ifndef EG_REPORT_PLOT_VISIT_H
#define EG_REPORT_PLOT_VISIT_H

#include "report/plot/image.h"
#include "report/plot/mapping.h"

/* The pixels that an element may hold: columns [from[0], to[0]), rows [from[1], to[1]). */
typedef struct eg_plot_reach {
    int from[2], to[2];
    uint8_t kind; /* eg_mapping_kind; EG_MAPPING_NONE: it holds none */
} eg_plot_reach;

/* What elements visit; nothing is owned. */
typedef struct eg_plot_scene {
    const eg_plot_field *field;
    const eg_plot_view *view;
    eg_plot_image *image;
    double line; /* width of lines between elements */
} eg_plot_scene;

typedef struct eg_plot_visit {
    const eg_plot_scene *scene;
    int32_t element;
    eg_plot_mapping mapping;
    double r[3], inverse[3][3]; /* of a pixel, and ∂r/∂x there */
    double *work;               /* [eg_plot_field_work] not owned */
} eg_plot_visit;

/* The pixels of a box low … high in space; false: there are none. */
bool eg_plot_find_pixels(const eg_plot_view *view, const double *low, const double *high,
                         eg_plot_reach *out);

void eg_plot_visit_open(const eg_plot_scene *scene, int32_t element, eg_mapping_kind kind,
                        double *work, eg_plot_visit *visit);

/* Claims the pixels of rows [top, bottom) that the element holds, to rounding, and that no element
 * holds yet. */
void eg_plot_visit_rows(eg_plot_visit *visit, const eg_plot_reach *reach, int top, int bottom);

/* Evaluates at the edge of the element for a pixel outside, if it is nearer than `least` pixels.
 * Returns how far it is, or `least`. The image's `element` is not changed. */
double eg_plot_visit_edge(eg_plot_visit *visit, int column, int row, double least);

#endif
