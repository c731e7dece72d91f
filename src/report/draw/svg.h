/* Texts in SVG files. */
#ifndef EG_REPORT_SVG_H
#define EG_REPORT_SVG_H

#include "base/base.h"

/* The character (code point) that starts at *s, which moves on to the next one. Where there is no
 * UTF-8 it is U+FFFD, once for every byte. */
uint32_t eg_utf8_next(const char **s);

double eg_svg_characters(const char *text);

/* What a raised character (U+00B2 "²" and its like: digits, plus and minus) is on the line; 0: it is
 * not raised. */
uint32_t eg_utf8_lowered(uint32_t code);

/* Adds a text as XML, which has no place for control characters: they are left out. */
eg_status eg_svg_put_escaped(eg_text *svg, const char *text);

#endif
