/* Paints the pixels of a field: its colour, above it contour lines and the lines between elements,
 * black where the colours are light, white where they are dark, and grey between, and beyond its
 * edge an outline. */
#include "report/plot/paint.h"

#include <math.h>
#include <string.h>

#define LINE_OPACITY 0.55 /* of lines between elements */
#define CONTOUR_OPACITY 0.85
#define OUTLINE_OPACITY 0.9
#define DARK 80  /* luma up to which lines are white … */
#define LIGHT 92 /* … and from which on they are black */

const eg_rgb eg_plot_undefined = {214, 39, 148};

eg_rgb eg_plot_line_on(eg_rgb colour)
{
    const double luma = 0.299 * colour.r + 0.587 * colour.g + 0.114 * colour.b;
    const double dark = fmin(fmax((luma - DARK) / (LIGHT - DARK), 0), 1);
    return eg_rgb_mix((eg_rgb){255, 255, 255}, (eg_rgb){0, 0, 0}, dark);
}

static eg_rgb colour_of(const eg_plot_paint *p, double value)
{
    const double part = (value - p->low) / (p->high - p->low);
    if (!isfinite(value)) return eg_plot_undefined;
    const int last = p->colour_count - 1;
    return p->colours[part <= 0 ? 0 : part >= 1 ? last : (int)(part * last + 0.5)];
}

/* The colour of a pixel of an element, with lines. */
static eg_rgb paint_pixel(const eg_plot_paint *p, const eg_plot_image *image, size_t pixel)
{
    const eg_rgb colour = colour_of(p, image->value[pixel]);
    const double line = image->line ? LINE_OPACITY * image->line[pixel] : 0;
    double contour = 0;
    if (p->contour)
        contour =
            CONTOUR_OPACITY * fmin(fmax(0.5 * p->contour_width + 0.5 - p->contour[pixel], 0), 1);
    if (line == 0 && contour == 0) return colour;
    const eg_rgb ink = eg_plot_line_on(colour);
    return eg_rgb_mix(eg_rgb_mix(colour, ink, line), ink, contour);
}

void eg_plot_paint_image(const eg_plot_paint *paint, const eg_plot_image *image, eg_raster *raster,
                         int left, int top)
{
    for (int row = 0; row < image->height; row++)
        for (int column = 0; column < image->width; column++) {
            const size_t pixel = (size_t)row * (size_t)image->width + (size_t)column;
            if (image->element[pixel] < 0) continue;
            const size_t at = (size_t)(top + row) * (size_t)raster->width + (size_t)(left + column);
            uint8_t *rgb = &raster->rgb[3 * at];
            eg_rgb colour = paint_pixel(paint, image, pixel);
            if (image->beyond[pixel] > 0) { /* fades out within a pixel, and a line beside it */
                const double far = image->beyond[pixel];
                colour = eg_rgb_mix((eg_rgb){rgb[0], rgb[1], rgb[2]}, colour, fmax(1 - far, 0));
                colour = eg_rgb_mix(colour, paint->outline,
                                    OUTLINE_OPACITY * fmin(fmin(2 * far, EG_PLOT_REACH - far), 1));
            }
            memcpy(rgb, (uint8_t[]){colour.r, colour.g, colour.b}, 3);
        }
}

void eg_plot_paint_bar(const eg_plot_paint *paint, eg_raster *raster, int left, int top, int width,
                       int height, bool upwards)
{
    const int length = upwards ? height : width;
    for (int j = 0; j < height; j++)
        for (int i = 0; i < width; i++) {
            const double part = ((upwards ? height - 1 - j : i) + 0.5) / length;
            const eg_rgb colour = paint->colours[(int)(part * (paint->colour_count - 1) + 0.5)];
            const size_t at = (size_t)(top + j) * (size_t)raster->width + (size_t)(left + i);
            memcpy(&raster->rgb[3 * at], (uint8_t[]){colour.r, colour.g, colour.b}, 3);
        }
}
