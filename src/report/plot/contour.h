/* Contour lines through the pixels of an image. */
#ifndef EG_REPORT_PLOT_CONTOUR_H
#define EG_REPORT_PLOT_CONTOUR_H

#include "report/plot/image.h"

/* The distance, in pixels, of the centre of each pixel from the nearest line along which the value
 * is one of levels [count], which ascend; `far` where it is not less: *out [height][width], which
 * the caller releases with eg_release. */
eg_status eg_plot_contour(const eg_plot_image *image, int count, const double *levels, double far,
                          float **out);

#endif
