/* Draws one picture as SVG or into pixels.
 *
 * In an SVG each path is one element, its coordinates whole numbers of a unit and relative to the
 * point before, so that large drawings stay small files; inks are classes of a style sheet that
 * follows the reader's light or dark scheme. */
#include "report/draw/canvas.h"

#include "report/draw/font.h"
#include "report/draw/palette.h"
#include "report/draw/png.h"
#include "report/draw/svg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FLAT 0.05 /* pixels by which a line may miss a curve */
#define WIDE 1.17 /* how much wider than ours the fonts of readers may be */
#define WIDE_BOLD 1.3

static eg_status put_inks(eg_canvas *c, bool dark)
{
    eg_status status = EG_OK;
    for (int i = 0; i < c->ink_count; i++) {
        const eg_rgb k = dark ? c->inks[i].dark : c->inks[i].light;
        EG_TRY(eg_text_printf(&c->svg, ".f%d{fill:#%02x%02x%02x}.t%d{stroke:#%02x%02x%02x}%s", i,
                              k.r, k.g, k.b, i, k.r, k.g, k.b, i % 2 ? "\n" : ""));
    }
done:
    return status;
}

static long long in_units(const eg_canvas *c, double pixels)
{
    return llround(pixels / c->unit);
}

/* Pixels of the picture per pixel of coordinates. */
static double scale_of(const eg_canvas *c)
{
    return c->scale > 0 ? c->scale : 1;
}

static eg_status open_svg(eg_canvas *c, const char *title)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(&c->svg,
                          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %lld %lld\" "
                          "width=\"%d\" height=\"%d\" role=\"img\">\n<title>",
                          in_units(c, c->width), in_units(c, c->height),
                          (int)lround(scale_of(c) * c->width),
                          (int)lround(scale_of(c) * c->height)));
    EG_TRY(eg_svg_put_escaped(&c->svg, title));
    EG_TRY(eg_text_puts(&c->svg, "</title>\n<style>\ntext{" EG_STYLE_FONT "}\n"
                                 ".line{fill:none;stroke-linejoin:round}\n"));
    EG_TRY(put_inks(c, false));
    /* Not on paper. */
    EG_TRY(eg_text_puts(&c->svg, "@media screen and (prefers-color-scheme: dark){\n"));
    EG_TRY(put_inks(c, true));
    EG_TRY(eg_text_puts(&c->svg, "}\n</style>\n<rect class=\"f0\" width=\"100%\" "
                                 "height=\"100%\"/>\n"));
done:
    return status;
}

eg_status eg_canvas_open(eg_canvas *canvas, const char *title)
{
    canvas->svg = eg_text_new(canvas->ctx);
    if (canvas->format == EG_PICTURE_SVG) return open_svg(canvas, title);
    return eg_raster_create(canvas->ctx, (int)lround(scale_of(canvas) * canvas->width),
                            (int)lround(scale_of(canvas) * canvas->height),
                            eg_canvas_colour(canvas, 0), &canvas->raster);
}

void eg_canvas_close(eg_canvas *canvas)
{
    eg_release(canvas->ctx, &canvas->points);
    eg_raster_destroy(&canvas->raster);
    eg_text_free(&canvas->svg);
}

eg_status eg_canvas_write(eg_canvas *canvas, eg_text *out)
{
    eg_status status = EG_OK;
    if (canvas->format == EG_PICTURE_PNG) return eg_png_write(canvas->raster, out);
    EG_TRY(eg_text_add(out, canvas->svg.data, canvas->svg.length));
    EG_TRY(eg_text_puts(out, "</svg>\n"));
done:
    return status;
}

eg_rgb eg_canvas_colour(const eg_canvas *canvas, int ink)
{
    return canvas->dark ? canvas->inks[ink].dark : canvas->inks[ink].light;
}

/* --- paths in SVG ----------------------------------------------------------------------------- */

static eg_status begin_svg(eg_canvas *c)
{
    eg_status status = EG_OK;
    const eg_pen *pen = &c->pen;
    const bool line = pen->width > 0;
    const double width = line ? pen->width : pen->border;
    char classes[96], colour[8];
    int length = line ? snprintf(classes, sizeof classes, "line ") : 0;
    classes[length] = '\0';
    if (pen->ink != EG_INK_NONE)
        length += snprintf(classes + length, sizeof classes - (size_t)length, "%c%d ",
                           line ? 't' : 'f', pen->ink);
    if (pen->border > 0 && pen->border_ink != EG_INK_NONE)
        length +=
            snprintf(classes + length, sizeof classes - (size_t)length, "t%d ", pen->border_ink);
    snprintf(classes + length, sizeof classes - (size_t)length, "%s", pen->class ? pen->class : "");
    snprintf(colour, sizeof colour, "#%02x%02x%02x", pen->colour.r, pen->colour.g, pen->colour.b);
    EG_TRY(eg_text_puts(&c->svg, "<path"));
    if (classes[0]) EG_TRY(eg_text_printf(&c->svg, " class=\"%s\"", classes));
    if (pen->ink == EG_INK_NONE)
        EG_TRY(eg_text_printf(&c->svg, " %s=\"%s\"", line ? "stroke" : "fill", colour));
    if (pen->border > 0 && pen->border_ink == EG_INK_NONE)
        EG_TRY(eg_text_printf(&c->svg, " stroke=\"%s\"", colour));
    if (width > 0) EG_TRY(eg_text_printf(&c->svg, " stroke-width=\"%.3g\"", width / c->unit));
    if (line && pen->round) EG_TRY(eg_text_puts(&c->svg, " stroke-linecap=\"round\""));
    if (line && pen->dash > 0)
        EG_TRY(eg_text_printf(&c->svg, " stroke-dasharray=\"%.3g\"", pen->dash / c->unit));
    if (pen->opacity > 0 && pen->opacity < 1)
        EG_TRY(eg_text_printf(&c->svg, " opacity=\"%.3g\"", pen->opacity));
    EG_TRY(eg_text_puts(&c->svg, " d=\""));
done:
    return status;
}

/* Adds a letter and the way to `count` points from the last one, which moves to the last of
 * them. */
static eg_status put_way(eg_canvas *c, char letter, int count, const double (*p)[2])
{
    char text[128];
    int length = 1;
    long long to[2] = {0};
    text[0] = letter;
    for (int i = 0; i < 2 * count; i++) {
        to[i % 2] = in_units(c, p[i / 2][i % 2]);
        const long long step = to[i % 2] - c->at[i % 2];
        length += snprintf(text + length, sizeof text - (size_t)length,
                           i > 0 && step >= 0 ? " %lld" : "%lld", step);
    }
    c->at[0] = to[0];
    c->at[1] = to[1];
    return eg_text_add(&c->svg, text, (size_t)length);
}

/* --- paths in pixels -------------------------------------------------------------------------- */

static eg_status add_point(eg_canvas *c, double x, double y)
{
    eg_status status = EG_OK;
    if (c->point_count == c->point_capacity) {
        const size_t capacity = 2 * c->point_capacity + 64;
        EG_TRY(eg_reallocate(c->ctx, capacity * sizeof *c->points, (void **)&c->points));
        c->point_capacity = capacity;
    }
    c->points[c->point_count][0] = scale_of(c) * x;
    c->points[c->point_count++][1] = scale_of(c) * y;
done:
    return status;
}

/* A line as dashes, which run on through its points. */
static void stroke_dashes(eg_canvas *c)
{
    const double dash = scale_of(c) * c->pen.dash, width = scale_of(c) * c->pen.width;
    double gone = 0; /* since the dash or the gap began */
    bool on = true;
    for (size_t i = 0; i + 1 < c->point_count; i++) {
        const double *a = c->points[i], *b = c->points[i + 1];
        const double length = hypot(b[0] - a[0], b[1] - a[1]);
        double at = 0;
        while (at < length) {
            const double to = fmin(length, at + dash - gone);
            const double s = at / length, t = to / length;
            const double piece[2][2] = {{a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])},
                                        {a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])}};
            if (on) eg_raster_stroke(c->raster, 2, piece, width, c->pen.round);
            gone = to < length ? 0 : gone + (to - at);
            if (to < length) on = !on;
            at = to;
        }
    }
}

/* Gives the piece that is complete to the raster. */
static void flush_piece(eg_canvas *c)
{
    const double(*p)[2] = (const double(*)[2])c->points;
    if (c->pen.width > 0 && c->pen.dash > 0)
        stroke_dashes(c);
    else if (c->pen.width > 0)
        eg_raster_stroke(c->raster, c->point_count, p, scale_of(c) * c->pen.width, c->pen.round);
    else
        for (size_t i = 0, j = c->point_count - 1; i < c->point_count; j = i++)
            eg_raster_edge(c->raster, p[j][0], p[j][1], p[i][0], p[i][1]);
    c->point_count = 0;
}

static eg_status add_curve(eg_canvas *c, const double (*p)[2])
{
    eg_status status = EG_OK;
    double a[2], bend = 0;
    for (int d = 0; d < 2; d++)
        a[d] = c->points[c->point_count - 1][d] / scale_of(c);
    for (int i = 0; i < 2; i++) {
        const double *before = i ? p[0] : a;
        bend = fmax(bend, hypot(before[0] - 2 * p[i][0] + p[i + 1][0],
                                before[1] - 2 * p[i][1] + p[i + 1][1]));
    }
    const int pieces = 1 + (int)sqrt(fmin(0.75 * scale_of(c) * bend / FLAT, 1e4));
    for (int k = 1; k <= pieces; k++) {
        const double t = (double)k / pieces, s = 1 - t;
        double x[2];
        for (int d = 0; d < 2; d++)
            x[d] = s * s * s * a[d] + 3 * s * s * t * p[0][d] + 3 * s * t * t * p[1][d] +
                   t * t * t * p[2][d];
        EG_TRY(add_point(c, x[0], x[1]));
    }
done:
    return status;
}

/* --- paths ------------------------------------------------------------------------------------ */

eg_status eg_canvas_begin(eg_canvas *canvas, const eg_pen *pen)
{
    canvas->pen = *pen;
    canvas->at[0] = canvas->at[1] = 0;
    canvas->point_count = 0;
    canvas->piece = false;
    return canvas->format == EG_PICTURE_SVG ? begin_svg(canvas) : EG_OK;
}

/* Ends a piece, if there is one. */
static eg_status end_piece(eg_canvas *c)
{
    if (!c->piece) return EG_OK;
    c->piece = false;
    if (c->format == EG_PICTURE_PNG) {
        flush_piece(c);
    } else if (!(c->pen.width > 0)) {
        memcpy(c->at, c->start, sizeof c->at);
        return eg_text_puts(&c->svg, "z");
    }
    return EG_OK;
}

eg_status eg_canvas_move(eg_canvas *canvas, double x, double y)
{
    const double p[1][2] = {{x, y}};
    eg_status status = end_piece(canvas);
    if (status != EG_OK) return status;
    canvas->piece = true;
    if (canvas->format == EG_PICTURE_PNG) return add_point(canvas, x, y);
    status = put_way(canvas, 'm', 1, p);
    memcpy(canvas->start, canvas->at, sizeof canvas->at);
    return status;
}

eg_status eg_canvas_line(eg_canvas *canvas, double x, double y)
{
    const double p[1][2] = {{x, y}};
    return canvas->format == EG_PICTURE_PNG ? add_point(canvas, x, y) : put_way(canvas, 'l', 1, p);
}

eg_status eg_canvas_curve(eg_canvas *canvas, const double p[3][2])
{
    return canvas->format == EG_PICTURE_PNG ? add_curve(canvas, p) : put_way(canvas, 'c', 3, p);
}

eg_status eg_canvas_end(eg_canvas *canvas)
{
    eg_status status = EG_OK;
    EG_TRY(end_piece(canvas));
    const eg_pen *pen = &canvas->pen;
    if (canvas->format == EG_PICTURE_SVG && pen->tip) {
        EG_TRY(eg_text_puts(&canvas->svg, "\"><title>"));
        EG_TRY(eg_svg_put_escaped(&canvas->svg, pen->tip));
        return eg_text_puts(&canvas->svg, "</title></path>\n");
    }
    if (canvas->format == EG_PICTURE_SVG) return eg_text_puts(&canvas->svg, "\"/>\n");
    eg_raster_paint(canvas->raster,
                    pen->ink == EG_INK_NONE ? pen->colour : eg_canvas_colour(canvas, pen->ink),
                    pen->opacity > 0 ? pen->opacity : 1);
done:
    return status;
}

eg_status eg_canvas_clip(eg_canvas *canvas, double x, double y, double width, double height)
{
    if (canvas->format == EG_PICTURE_PNG) {
        const double s = scale_of(canvas);
        eg_raster_clip(canvas->raster,
                       (const int[]){(int)(s * x), (int)(s * y), (int)(s * (x + width)),
                                     (int)(s * (y + height))});
        return EG_OK;
    }
    canvas->clips++;
    return eg_text_printf(&canvas->svg,
                          "<clipPath id=\"clip%d\"><rect x=\"%lld\" y=\"%lld\" width=\"%lld\" "
                          "height=\"%lld\"/></clipPath>\n<g clip-path=\"url(#clip%d)\">\n",
                          canvas->clips, in_units(canvas, x), in_units(canvas, y),
                          in_units(canvas, width), in_units(canvas, height), canvas->clips);
}

eg_status eg_canvas_clip_end(eg_canvas *canvas)
{
    if (canvas->format == EG_PICTURE_SVG) return eg_text_puts(&canvas->svg, "</g>\n");
    eg_raster_clip(canvas->raster, NULL);
    return EG_OK;
}

eg_status eg_canvas_rectangle(eg_canvas *canvas, const eg_pen *pen, double x, double y,
                              double width, double height)
{
    eg_status status = EG_OK;
    EG_TRY(eg_canvas_begin(canvas, pen));
    EG_TRY(eg_canvas_move(canvas, x, y));
    EG_TRY(eg_canvas_line(canvas, x + width, y));
    EG_TRY(eg_canvas_line(canvas, x + width, y + height));
    EG_TRY(eg_canvas_line(canvas, x, y + height));
    EG_TRY(eg_canvas_line(canvas, x, y));
    EG_TRY(eg_canvas_end(canvas));
done:
    return status;
}

eg_status eg_canvas_squares(eg_canvas *canvas, double x, double y, double size, int columns,
                            int rows, const uint8_t *kind, int pen_count, const eg_pen *pens)
{
    eg_status status = EG_OK;
    for (int k = 1; k <= pen_count; k++) {
        eg_pen pen = pens[k - 1];
        bool begun = false;
        pen.width = size;
        for (int j = 0; j < rows; j++)
            for (int i = 0, end = 0; i < columns; i = end) {
                const uint8_t *row = &kind[(size_t)j * (size_t)columns];
                const double middle = y + (j + 0.5) * size;
                for (end = i + 1; end < columns && row[end] == row[i];)
                    end++;
                if (row[i] != k) continue;
                if (!begun) EG_TRY(eg_canvas_begin(canvas, &pen));
                begun = true;
                EG_TRY(eg_canvas_move(canvas, x + i * size, middle));
                EG_TRY(eg_canvas_line(canvas, x + end * size, middle));
            }
        if (begun) EG_TRY(eg_canvas_end(canvas));
    }
done:
    return status;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Copies the bytes of the next character, which it returns. */
static uint32_t next_letter(const char **text, char letter[8])
{
    const char *from = *text;
    const uint32_t code = eg_utf8_next(text);
    const size_t length = (size_t)(*text - from);
    memcpy(letter, from, length);
    letter[length] = '\0';
    return code;
}

double eg_canvas_text_width(const eg_canvas *canvas, const eg_font *font, const char *text)
{
    double width = 0;
    if (canvas->format == EG_PICTURE_PNG) return eg_font_width(text, font->size);
    while (*text) { /* which may be the wide letters of other scripts */
        char letter[8];
        const uint32_t code = next_letter(&text, letter);
        width += eg_font_has(code) ? eg_font_advance(letter, font->size) : 0.9 * font->size;
    }
    return (font->bold ? WIDE_BOLD : WIDE) * width;
}

const char *eg_canvas_fit(const eg_canvas *canvas, const eg_font *font, const char *text,
                          double most, char *out, size_t size)
{
    size_t length = strlen(text);
    if (length < size && eg_canvas_text_width(canvas, font, text) <= most) return text;
    if (length > size - 4) length = size - 4;
    do {
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
        snprintf(out, size, "%.*s...", (int)length, text);
    } while (eg_canvas_text_width(canvas, font, out) > most && length-- > 0);
    return out;
}

/* The letters of a text, raised ones as a part of their own. */
static eg_status put_letters(eg_canvas *c, const eg_font *font, const char *text)
{
    eg_status status = EG_OK;
    const long long rise = in_units(c, 0.38 * font->size), size = in_units(c, 0.77 * font->size);
    bool raised = false, lowered = false; /* inside of a raised part, and of one behind it */
    while (*text) {
        char letter[8];
        const uint32_t low = eg_utf8_lowered(next_letter(&text, letter));
        if ((low != 0) != raised) {
            if (raised || lowered) EG_TRY(eg_text_puts(&c->svg, "</tspan>"));
            lowered = raised;
            raised = !raised;
            EG_TRY(raised ? eg_text_printf(&c->svg, "<tspan font-size=\"%lld\" dy=\"%lld\">", size,
                                           -rise)
                          : eg_text_printf(&c->svg, "<tspan dy=\"%lld\">", rise));
        }
        EG_TRY(low == 0         ? eg_svg_put_escaped(&c->svg, letter)
               : low == 0x2212u ? eg_text_puts(&c->svg, "\xe2\x88\x92")
                                : eg_text_add(&c->svg, &(char){(char)low}, 1));
    }
    if (raised || lowered) EG_TRY(eg_text_puts(&c->svg, "</tspan>"));
done:
    return status;
}

eg_status eg_canvas_text(eg_canvas *canvas, const eg_font *font, double x, double y,
                         const char *text)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    eg_status status = EG_OK;
    if (canvas->format == EG_PICTURE_PNG) {
        const double width = eg_font_width(text, font->size);
        const double back = font->anchor == EG_ANCHOR_START ? 0
                            : font->anchor == EG_ANCHOR_END ? width
                                                            : 0.5 * width;
        const double s = scale_of(canvas);
        if (font->upwards)
            eg_font_draw_upwards(canvas->raster, s * x, s * (y + back), s * font->size, font->bold,
                                 text);
        else
            eg_font_draw(canvas->raster, s * (x - back), s * y, s * font->size, font->bold, text);
        eg_raster_paint(canvas->raster, eg_canvas_colour(canvas, font->ink), 1);
        return EG_OK;
    }
    EG_TRY(eg_text_printf(&canvas->svg, "<text class=\"f%d\"", font->ink));
    EG_TRY(eg_text_printf(&canvas->svg,
                          font->upwards ? " transform=\"translate(%lld %lld) rotate(-90)\""
                                        : " x=\"%lld\" y=\"%lld\"",
                          in_units(canvas, x), in_units(canvas, y)));
    EG_TRY(eg_text_printf(&canvas->svg, " font-size=\"%lld\"%s%s>", in_units(canvas, font->size),
                          font->bold ? " font-weight=\"600\"" : "", anchors[font->anchor]));
    EG_TRY(put_letters(canvas, font, text));
    EG_TRY(eg_text_puts(&canvas->svg, "</text>\n"));
done:
    return status;
}
