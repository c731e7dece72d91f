/* Texts drawn with lines: the letters of ASCII and of Greek, some signs, and raised digits; every other
 * character is an empty box. */
#ifndef EG_REPORT_FONT_H
#define EG_REPORT_FONT_H

#include "report/draw/raster.h"

/* True unless a character is an empty box. */
bool eg_font_has(uint32_t code);

/* How far a text in UTF-8 goes; its height, as that of other fonts, is about 0.72 of the size. */
double eg_font_width(const char *text, double size);

/* How far the next text starts behind it. */
double eg_font_advance(const char *text, double size);

/* Adds a text that starts at (x, y), y the line it stands on, to what will be painted. */
void eg_font_draw(eg_raster *raster, double x, double y, double size, bool bold, const char *text);
/* The same of a text that is turned and goes up from there; letters stand on the line x. */
void eg_font_draw_upwards(eg_raster *raster, double x, double y, double size, bool bold,
                          const char *text);

#endif
