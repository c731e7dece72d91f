/* Colour maps: equal steps of a value are equal steps of colour to the eye. */
#ifndef EG_REPORT_COLOUR_MAP_H
#define EG_REPORT_COLOUR_MAP_H

#include "report/draw/raster.h"

typedef enum eg_colour_map {
    EG_COLOURS_SEA,     /* sequential: dark violet, blue, green, yellow */
    EG_COLOURS_FIRE,    /* sequential: black, purple, red, yellow, white */
    EG_COLOURS_GREY,    /* sequential: black to white */
    EG_COLOURS_BALANCE, /* diverging: blue, white, red; both arms darken alike */
    EG_COLOURS_WHEEL    /* cyclic: its ends are one colour */
} eg_colour_map;
#define EG_COLOURS_COUNT 5

const char *eg_colour_map_name(eg_colour_map map); /* "sea", … */

/* Fills colours [count], count ≥ 2, evenly spaced along the map from end to end. */
eg_status eg_colour_map_fill(eg_context *ctx, eg_colour_map map, int count, eg_rgb *colours);

/* The colour in OKLab: lightness from 0 (black) to 1 (white), and two axes of colour, in which
 * distances are as large as they look. */
void eg_rgb_to_oklab(eg_rgb colour, double lab[3]);

#endif
