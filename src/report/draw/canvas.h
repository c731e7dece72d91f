/* A drawing that becomes an SVG or a PNG file: lines and areas in inks, and texts.
 *
 *     eg_canvas_open(&canvas, "title");
 *     eg_canvas_begin(&canvas, &(eg_pen){.ink = 2, .width = 3});
 *     eg_canvas_move(&canvas, x, y);  eg_canvas_line(...);  eg_canvas_curve(...);
 *     eg_canvas_end(&canvas);
 *     eg_canvas_write(&canvas, out);
 *     eg_canvas_close(&canvas);
 *
 * Coordinates are in pixels, y down. */
#ifndef EG_REPORT_CANVAS_H
#define EG_REPORT_CANVAS_H

#include "report/draw/raster.h"

typedef enum eg_picture_format { EG_PICTURE_SVG, EG_PICTURE_PNG } eg_picture_format;

/* A colour on white and its like on black. */
typedef struct eg_ink {
    eg_rgb light, dark;
} eg_ink;

typedef struct eg_pen {
    const char *class; /* SVG: says what it is; NULL: nothing */
    const char *tip;   /* SVG: shown where the reader points at it; NULL: nothing */
    double width;      /* of a line; 0: the area is filled */
    double opacity;    /* 0: 1 */
    double border;     /* SVG: width of a line around a filled area */
    int ink;           /* EG_INK_NONE: the same `colour` on white and black */
    int border_ink;    /* EG_INK_NONE: the area's colour, so that no seam shows between areas */
    eg_rgb colour;
    bool round;  /* ends of lines */
    double dash; /* length of the dashes of a line and of the gaps between them; 0: none */
} eg_pen;
#define EG_INK_NONE (-1)

typedef enum eg_anchor { EG_ANCHOR_START, EG_ANCHOR_MIDDLE, EG_ANCHOR_END } eg_anchor;

typedef struct eg_font {
    int ink;
    double size;
    bool bold;
    eg_anchor anchor;
    bool upwards; /* turned, so that it reads from below to above */
} eg_font;

typedef struct eg_canvas {
    eg_context *ctx; /* not owned */
    eg_picture_format format;
    bool dark; /* of a PNG */
    int width, height;
    double scale;       /* pixels of the picture per pixel of coordinates; 0: 1 */
    const eg_ink *inks; /* [ink_count] not owned */
    int ink_count;
    double unit;               /* SVG: in pixels; coordinates are whole numbers of it */
    eg_text svg;               /* SVG: what is drawn so far; owned */
    eg_raster *raster;         /* PNG: the same; owned */
    eg_pen pen;                /* of the path that is drawn */
    int clips;                 /* SVG: how many there have been, for their names */
    bool piece;                /* of which there is a piece that has not ended */
    long long start[2], at[2]; /* SVG: where the piece's first and last point are, in units */
    double (*points)[2];       /* PNG: [point_count] of the path's last piece; owned */
    size_t point_count, point_capacity;
} eg_canvas;

/* Opens an empty canvas, all in the first ink; the caller has filled in ctx, format, dark, width,
 * height, inks, ink_count and unit, the rest is zero. The title of an SVG is shown by browsers. */
eg_status eg_canvas_open(eg_canvas *canvas, const char *title);
void eg_canvas_close(eg_canvas *canvas);

/* Adds the file to `out`. */
eg_status eg_canvas_write(eg_canvas *canvas, eg_text *out);

/* A path: pieces that each start with a move. Areas are closed by themselves. */
eg_status eg_canvas_begin(eg_canvas *canvas, const eg_pen *pen);
eg_status eg_canvas_move(eg_canvas *canvas, double x, double y);
eg_status eg_canvas_line(eg_canvas *canvas, double x, double y);
/* A cubic Bézier curve to p[2] with the control points p[0] and p[1]. */
eg_status eg_canvas_curve(eg_canvas *canvas, const double p[3][2]);
eg_status eg_canvas_end(eg_canvas *canvas);

/* What is drawn until the clip ends is cut off at a rectangle. */
eg_status eg_canvas_clip(eg_canvas *canvas, double x, double y, double width, double height);
eg_status eg_canvas_clip_end(eg_canvas *canvas);

eg_status eg_canvas_rectangle(eg_canvas *canvas, const eg_pen *pen, double x, double y,
                              double width, double height);

/* Raised characters, as in "10⁻³", are small ones above the line in every font. */
eg_status eg_canvas_text(eg_canvas *canvas, const eg_font *font, double x, double y,
                         const char *text);
/* The width of a text; of an SVG it is an estimate on the safe side. */
double eg_canvas_text_width(const eg_canvas *canvas, const eg_font *font, const char *text);

/* The text, or in out[size] what is left of it, and dots, with at most this width. */
const char *eg_canvas_fit(const eg_canvas *canvas, const eg_font *font, const char *text,
                          double most, char *out, size_t size);

/* The colour that an ink has in a PNG. */
eg_rgb eg_canvas_colour(const eg_canvas *canvas, int ink);

/* Draws a grid of squares of the given size whose corner is (x, y): kind [rows][columns] is the
 * number of the square's pen, counted from 1; 0: none. */
eg_status eg_canvas_squares(eg_canvas *canvas, double x, double y, double size, int columns,
                            int rows, const uint8_t *kind, int pen_count, const eg_pen *pens);

#endif
