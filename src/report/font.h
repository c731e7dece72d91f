/* Texts drawn with lines: the letters of ASCII; every other character is an empty box. */
#ifndef EG_REPORT_FONT_H
#define EG_REPORT_FONT_H

#include "report/raster.h"

/* How far a text in UTF-8 goes; its height, as that of other fonts, is about 0.72 of the size. */
double eg_font_width(const char *text, double size);

/* How far the next text starts behind it. */
double eg_font_advance(const char *text, double size);

/* Adds a text that starts at (x, y), y the line it stands on, to what will be painted. */
void eg_font_draw(eg_raster *raster, double x, double y, double size, bool bold, const char *text);

#endif
