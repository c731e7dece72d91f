/* The legend of a picture of a mesh: what has which colour, and how much of it there is. Entries
 * stand in one row if that holds them, else in columns. */
#include "report/mesh/legend.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* In pixels. */
#define ROW 23.0
#define SAMPLE 22.0  /* of a line or an area */
#define BETWEEN 26.0 /* entries */

static const eg_font name_font = {.ink = EG_MESH_INK_TEXT, .size = 14};
static const eg_font count_font = {.ink = EG_MESH_INK_SUBTITLE, .size = 14};

static double entry_width(const eg_mesh_drawing *d, const eg_legend_entry *e)
{
    return SAMPLE + 8 + eg_canvas_text_width(&d->canvas, &name_font, e->name) + 7 +
           eg_canvas_text_width(&d->canvas, &count_font, e->count);
}

static bool is_area(const eg_mesh_drawing *d, int paint)
{
    return paint > eg_mesh_periodic_paint(d);
}

/* Shapes are their own plurals, and say what is counted. */
static void add_entry(const eg_mesh_drawing *d, int paint, eg_legend *legend)
{
    eg_legend_entry *e = &legend->entries[legend->count++];
    const int64_t count = d->count[paint];
    const bool is_shape = is_area(d, paint) && paint != eg_mesh_bad_paint(d) && !d->by_group;
    char cut[EG_MESH_TEXT_BYTES];
    *e = (eg_legend_entry){.paint = paint};
    snprintf(e->count, sizeof e->count, "%" PRId64 "%s%s%s", count, is_shape ? "" : " ",
             is_shape            ? ""
             : is_area(d, paint) ? "element"
                                 : "face",
             is_shape || count == 1 ? "" : "s");
    const double rest = d->canvas.width - 2 * EG_MESH_EDGE - entry_width(d, e);
    snprintf(
        e->name, sizeof e->name, "%s",
        eg_canvas_fit(&d->canvas, &name_font, eg_mesh_paint_name(d, paint), rest, cut, sizeof cut));
}

eg_status eg_legend_create(const eg_mesh_drawing *d, double left, double top, eg_legend *legend)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(d->mesh->ctx, (size_t)d->paints, &legend->entries));
    for (int paint = 0; paint < d->paints; paint++) {
        const bool is_more = paint >= eg_mesh_tint_paint(d, EG_LEGEND_TINTS);
        if (is_more && paint != eg_mesh_bad_paint(d))
            legend->left_out++;
        else if (d->count[paint] > 0 || paint < d->mesh->boundary_count)
            add_entry(d, paint, legend);
    }
    double sum = 0, widest = 0;
    for (int i = 0; i < legend->count; i++) {
        sum += entry_width(d, &legend->entries[i]) + BETWEEN;
        widest = fmax(widest, entry_width(d, &legend->entries[i]) + BETWEEN);
    }
    /* A row of its own width, or columns. */
    const double room = d->canvas.width - EG_MESH_EDGE - left + BETWEEN;
    const int columns = sum <= room ? legend->count : (int)fmax(floor(room / widest), 1);
    double x = widest > room ? EG_MESH_EDGE : left, y = top + 0.5 * ROW;
    const double start = x;
    for (int i = 0; i < legend->count; i++) {
        eg_legend_entry *e = &legend->entries[i];
        if (i > 0 && i % columns == 0) {
            x = start;
            y += ROW;
        }
        e->x = x;
        e->y = y;
        x += sum <= room ? entry_width(d, e) + BETWEEN : widest;
    }
    legend->bottom = legend->count ? y + 0.5 * ROW : top;
done:
    return status;
}

void eg_legend_free(eg_context *ctx, eg_legend *legend)
{
    eg_release(ctx, &legend->entries);
}

static eg_status put_sample(eg_mesh_drawing *d, const eg_legend_entry *e)
{
    eg_status status = EG_OK;
    eg_canvas *canvas = &d->canvas;
    eg_pen pen = {.ink = eg_mesh_paint_ink(d, e->paint)};
    if (d->mesh->dim == 3) {
        pen.ink = EG_INK_NONE;
        pen.colour = eg_mesh_surface_colour(d, e->paint);
    }
    if (d->mesh->dim == 3 || is_area(d, e->paint)) {
        EG_TRY(eg_canvas_rectangle(canvas, &pen, e->x + 3, e->y - 7, 16, 14));
        if (is_area(d, e->paint))
            EG_TRY(eg_canvas_rectangle(canvas, &(eg_pen){.ink = EG_MESH_INK_EDGE, .width = 0.8},
                                       e->x + 3, e->y - 7, 16, 14));
        goto done;
    }
    pen.width = e->paint == eg_mesh_periodic_paint(d) ? 2.4 : 3.4;
    pen.round = true;
    EG_TRY(eg_canvas_begin(canvas, &pen));
    EG_TRY(eg_canvas_move(canvas, e->x + 2, e->y));
    EG_TRY(eg_canvas_line(canvas, e->x + SAMPLE - 2, e->y));
    EG_TRY(eg_canvas_end(canvas));
done:
    return status;
}

eg_status eg_legend_draw(eg_mesh_drawing *d, const eg_legend *legend)
{
    eg_status status = EG_OK;
    eg_canvas *canvas = &d->canvas;
    for (int i = 0; i < legend->count; i++) {
        const eg_legend_entry *e = &legend->entries[i];
        const double x = e->x + SAMPLE + 8;
        const double next = x + eg_canvas_text_width(canvas, &name_font, e->name) + 7;
        EG_TRY(put_sample(d, e));
        EG_TRY(eg_canvas_text(canvas, &name_font, x, e->y + 5, e->name));
        EG_TRY(eg_canvas_text(canvas, &count_font, next, e->y + 5, e->count));
    }
done:
    return status;
}
