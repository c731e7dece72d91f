/* Where everything stands in the picture of a field; private to the files that draw it. */
#ifndef EG_REPORT_PLOT_LAYOUT_H
#define EG_REPORT_PLOT_LAYOUT_H

#include "report/draw/axis.h"
#include "report/plot/image.h"
#include "report/plot/plot.h"

/* In units of the layout. */
#define EG_PLOT_EDGE 20.0 /* around everything */
#define EG_PLOT_TICK 5.0
#define EG_PLOT_NUMBER 13.0 /* size of the numbers of axes */

typedef struct eg_plot_box {
    int left, top, width, height;
} eg_plot_box;

/* In pixels. */
typedef struct eg_plot_layout {
    int width, height;      /* of the picture */
    double unit;            /* 1 of usual pictures; texts and lines of large ones are larger */
    double low[2], high[2]; /* coordinates that are seen, across and upwards */
    eg_plot_view view;      /* the pixels of the plot */
    eg_plot_box plot, bar;
    bool bar_below;
    double numbers; /* room for the numbers of the bar */
} eg_plot_layout;

/* Chooses what is seen of a snapshot, as the options ask. */
eg_status eg_plot_layout_look(const eg_snapshot *snapshot, const eg_plot_options *options,
                              eg_plot_layout *layout);
/* Places plot and bar; layout->numbers 0: room for usual numbers. */
eg_status eg_plot_layout_place(eg_context *ctx, const eg_plot_options *options,
                               eg_plot_layout *layout);

/* The axes of the plot, and of a bar for values from low to high. Their numbers are at the pixels
 * of the ticks. */
eg_axis eg_plot_layout_axis(const eg_plot_layout *layout, bool horizontal);
eg_axis eg_plot_layout_bar_axis(const eg_plot_layout *layout, double low, double high);

/* The width of the widest number of an axis, in pixels. */
double eg_plot_layout_widest(const eg_plot_layout *layout, const eg_axis *axis);

/* "x", "y" or "z". */
const char *eg_plot_coordinate(int d);

#endif
