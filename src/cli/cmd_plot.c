/* `eagre plot`: fields as PNG files, a series of them as frames of an animation, and the columns of
 * CSV files as charts. */
#include "base/json.h"
#include "cli/mesh.h"
#include "cli/plot.h"
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OPTION(member) offsetof(cli_options, member)

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"field", 'f', "FIELD", "its name, or an expression of fields, x, y, z and t (the first field)",
     OPTION(field)},
    {"output", 'o', "FILE", "the picture (FILE.png, of a .csv FILE.svg; of a series frame.png)",
     OPTION(output)},
    {"range", 0, "A,B", "values of the first and the last colour (all that there are)",
     OPTION(range)},
    {"colours", 0, "MAP", "sea (default), fire, grey, balance (diverging) or wheel (cyclic)",
     OPTION(colours)},
    {"contours", 0, "N", "draw about N contour lines, at round numbers", OPTION(contours)},
    {"levels", 0, "A,B", "draw contour lines at these values, one or more", OPTION(levels)},
    {"mesh", 0, NULL, "draw the edges of elements", OPTION(mesh)},
    {"zoom", 0, "A,B,C,D", "draw from A to B across and from C to D upwards", OPTION(zoom)},
    {"slice", 0, "z=A", "in space: the plane x, y or z = A (the middle of the shortest extent)",
     OPTION(slice)},
    {"frame", 0, "N", "of a series: draw this one alone, counted from 0, or \"last\"",
     OPTION(frame)},
    {"width", 0, "PIXELS", "how wide the picture is (1000)", OPTION(width)},
    {"height", 0, "PIXELS", "how high it is (what the width leads to)", OPTION(height)},
    {"title", 0, "TEXT", "above the picture (the file's name)", OPTION(title)},
    {"dark", 0, NULL, "draw on black", OPTION(dark)},
    {"x", 0, "COLUMN", "of a .csv: what is drawn to the right (time, else the first column)",
     OPTION(x)},
    {"y", 0, "COLUMNS", "of a .csv: what is drawn upwards, separated by commas (all others)",
     OPTION(y)},
    {"log", 0, "AXES", "of a .csv: x, y or xy: axes that are logarithmic", OPTION(log)},
    {0}};

/* --- options ---------------------------------------------------------------------------------- */

/* Reads numbers [*count] that are separated by commas: at least `least`, at most `most` of them. */
static eg_status read_numbers(eg_context *ctx, const char *option, const char *text, int least,
                              int most, double *numbers, int *count)
{
    const char *at = text;
    bool right = false;
    for (*count = 0; *count < most && !right;) {
        char *end = NULL;
        const double value = strtod(at, &end);
        if (end == at || !isfinite(value) || (*end && *end != ',')) break;
        numbers[(*count)++] = value;
        right = !*end && *count >= least;
        if (!*end) break;
        at = end + 1;
    }
    if (right) return EG_OK;
    return eg_fail(ctx, EG_ERROR_ARGUMENT,
                   "--%s takes %s%d numbers, separated by commas, not \"%s\"", option,
                   least < most ? "up to " : "", most, text);
}

static eg_status read_colours(eg_context *ctx, const char *given, eg_colour_map *map)
{
    const char *names[EG_COLOURS_COUNT];
    if (!given) return EG_OK;
    for (int i = 0; i < EG_COLOURS_COUNT; i++) {
        names[i] = eg_colour_map_name((eg_colour_map)i);
        if (strcmp(given, names[i]) != 0) continue;
        *map = (eg_colour_map)i;
        return EG_OK;
    }
    const char *nearest = eg_nearest(given, names, EG_COLOURS_COUNT);
    return eg_fail(ctx, EG_ERROR_ARGUMENT,
                   "there is no colour map \"%s\"%s%s%s; there are sea, fire, grey, balance and "
                   "wheel",
                   given, nearest ? " (did you mean \"" : "", nearest ? nearest : "",
                   nearest ? "\"?)" : "");
}

static eg_status read_slice(eg_context *ctx, const char *given, eg_plot_options *plot)
{
    char *end = NULL;
    if (!given) return EG_OK;
    plot->slice = given[0] >= 'x' && given[0] <= 'z' && given[1] == '=' ? given[0] - 'x' + 1 : 0;
    if (plot->slice) plot->slice_at = strtod(given + 2, &end);
    if (!plot->slice || end == given + 2 || *end || !isfinite(plot->slice_at))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--slice takes a plane such as z=0.5, not \"%s\"",
                       given);
    return EG_OK;
}

/* What was asked for. */
typedef struct request {
    eg_context *ctx;
    const cli_options *options;
    const char *path;
    cli_frames frames;
    eg_plot_options plot;
    double levels[EG_PLOT_CONTOURS_MOST];
    size_t first, end; /* frames that are drawn */
    eg_text base;      /* the output's name without .png */
} request;

static eg_status read_options(request *r)
{
    eg_status status = EG_OK;
    const cli_options *o = r->options;
    eg_plot_options *p = &r->plot;
    const char *slash = strrchr(r->path, '/');
    int count;
    p->title = o->title ? o->title : slash && slash[1] ? slash + 1 : r->path;
    p->mesh = o->mesh;
    p->dark = o->dark;
    p->has_range = o->range != NULL;
    p->has_zoom = o->zoom != NULL;
    if (o->range) EG_TRY(read_numbers(r->ctx, "range", o->range, 2, 2, p->range, &count));
    if (o->zoom) EG_TRY(read_numbers(r->ctx, "zoom", o->zoom, 4, 4, p->zoom, &count));
    if (o->levels)
        EG_TRY(read_numbers(r->ctx, "levels", o->levels, 1, EG_PLOT_CONTOURS_MOST, r->levels,
                            &p->level_count));
    p->levels = r->levels;
    EG_TRY(read_colours(r->ctx, o->colours, &p->map));
    EG_TRY(read_slice(r->ctx, o->slice, p));
    EG_TRY(cli_mesh_number(r->ctx, "contours", o->contours, 1, EG_PLOT_CONTOURS_MOST, 0,
                           &p->contours));
    EG_TRY(cli_mesh_number(r->ctx, "width", o->width, EG_PLOT_SIZE_LEAST, EG_PLOT_SIZE_MOST, 0,
                           &p->width));
    EG_TRY(cli_mesh_number(r->ctx, "height", o->height, EG_PLOT_SIZE_LEAST, EG_PLOT_SIZE_MOST, 0,
                           &p->height));
done:
    return status;
}

/* The name of the picture without its ending: given, or that of the file; of a series "frame". */
static eg_status choose_base(request *r)
{
    eg_status status = EG_OK;
    const char *given = r->options->output, *slash = strrchr(r->path, '/');
    if (given && !cli_ends_with(given, ".png"))
        return eg_fail(r->ctx, EG_ERROR_ARGUMENT,
                       "a picture's name ends with .png, and \"%s\" does not", given);
    if (given) return eg_text_add(&r->base, given, strlen(given) - strlen(".png"));
    if (r->frames.series) {
        if (slash) EG_TRY(eg_text_add(&r->base, r->path, (size_t)(slash + 1 - r->path)));
        return eg_text_puts(&r->base, "frame");
    }
    size_t length = strlen(r->path);
    while (length > 1 && r->path[length - 1] == '/')
        length--;
    const char *dot = strrchr(slash ? slash : r->path, '.');
    if (dot && dot > r->path && dot[-1] != '/' && dot[-1] != '.') length = (size_t)(dot - r->path);
    EG_TRY(eg_text_add(&r->base, r->path, length));
done:
    return status;
}

static eg_status choose_frames(request *r)
{
    eg_status status = EG_OK;
    const char *given = r->options->frame;
    int frame = 0;
    r->end = r->frames.count;
    if (!given) return EG_OK;
    if (!r->frames.series)
        return eg_fail(r->ctx, EG_ERROR_ARGUMENT, "--frame takes one of a series, a .pvd file");
    if (strcmp(given, "last") == 0)
        frame = (int)r->frames.count - 1;
    else
        EG_TRY(cli_mesh_number(r->ctx, "frame", given, 0, (int)r->frames.count - 1, 0, &frame));
    r->first = (size_t)frame;
    r->end = r->first + 1;
done:
    return status;
}

/* Options of charts are none of fields', and the reverse. */
static eg_status check_options(eg_context *ctx, const cli_options *options, bool chart)
{
    static const size_t of_charts[] = {OPTION(x), OPTION(y), OPTION(log)};
    static const size_t of_fields[] = {OPTION(field),    OPTION(range),  OPTION(colours),
                                       OPTION(contours), OPTION(levels), OPTION(zoom),
                                       OPTION(slice),    OPTION(frame),  OPTION(height)};
    const size_t *none = chart ? of_fields : of_charts;
    const size_t count = chart ? EG_COUNT(of_fields) : EG_COUNT(of_charts);
    for (const cli_option *o = options_list; o->name; o++)
        for (size_t i = 0; i < count; i++)
            if (o->value && o->offset == none[i] &&
                *(const char *const *)((const char *)options + o->offset))
                return eg_fail(ctx, EG_ERROR_ARGUMENT, "--%s is no option of %s", o->name,
                               chart ? "charts, which .csv files become" : "pictures of fields");
    if (chart && options->mesh)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "--mesh is no option of charts, which .csv files become");
    return EG_OK;
}

/* --- pictures --------------------------------------------------------------------------------- */

/* Reads a frame and draws it into `png`, or (NULL) looks at it. */
static eg_status draw(const request *r, size_t frame, eg_text *png, eg_plot_result *result,
                      double *time, eg_text *label)
{
    eg_status status = EG_OK;
    eg_snapshot *snapshot = NULL;
    eg_plot_field field = {0};
    EG_TRY(cli_frames_read(&r->frames, frame, &snapshot));
    EG_TRY(eg_plot_field_open(snapshot, r->options->field, &field));
    if (png)
        EG_TRY(eg_plot_write(&field, &r->plot, png, result));
    else
        EG_TRY(eg_plot_measure(&field, &r->plot, result));
    *time = snapshot->time;
    eg_text_clear(label);
    EG_TRY(eg_text_puts(label, field.label));
done:
    eg_plot_field_close(&field);
    eg_snapshot_destroy(&snapshot);
    return status;
}

/* The range that all frames of a series share. */
static eg_status find_range(request *r)
{
    eg_status status = EG_OK;
    double low = INFINITY, high = -INFINITY, time;
    eg_text label = eg_text_new(r->ctx);
    for (size_t i = r->first; i < r->end; i++) {
        eg_plot_result result;
        if (cli_draws_progress(r->options))
            cli_show_progress("range: frame %zu of %zu", i + 1 - r->first, r->end - r->first);
        EG_TRY(draw(r, i, NULL, &result, &time, &label));
        low = fmin(low, result.low);
        high = fmax(high, result.high);
    }
    if (low < high) {
        const bool diverges = r->plot.map == EG_COLOURS_BALANCE;
        const double most = fmax(fabs(low), fabs(high));
        r->plot.range[0] = diverges ? -most : low;
        r->plot.range[1] = diverges ? most : high;
        r->plot.has_range = true;
    }
done:
    eg_text_free(&label);
    return status;
}

static void put_json(eg_json *json, const char *file, double time, const eg_plot_result *result)
{
    eg_json_begin_object(json);
    eg_json_put_string(json, "file", file);
    eg_json_put_number(json, "time", time);
    eg_json_put_number(json, "least", result->low);
    eg_json_put_number(json, "most", result->high);
    eg_json_put_integer(json, "width", result->width);
    eg_json_put_integer(json, "height", result->height);
    eg_json_put_integer(json, "pixels", result->inside);
    eg_json_put_integer(json, "undefined", result->undefined);
    eg_json_put_integer(json, "elements", result->elements);
    if (result->slice) {
        const char name[] = {(char)('x' + result->slice - 1), '\0'};
        eg_json_put_number(json, name, result->slice_at);
    }
    eg_json_close(json);
}

/* Draws a frame, writes it and tells of it in `out`. */
static eg_status draw_frame(const request *r, size_t frame, eg_json *json, eg_plot_result *result,
                            eg_text *label, eg_text *out)
{
    eg_status status = EG_OK;
    eg_text png = eg_text_new(r->ctx), file = eg_text_new(r->ctx);
    double time;
    EG_TRY(eg_text_puts(&file, eg_text_string(&r->base)));
    if (r->frames.series && !(r->options->output && r->options->frame))
        EG_TRY(eg_text_printf(&file, "_%04zu", frame));
    EG_TRY(eg_text_puts(&file, ".png"));
    EG_TRY(cli_check_writable(r->ctx, eg_text_string(&file)));
    EG_TRY(draw(r, frame, &png, result, &time, label));
    EG_TRY(eg_file_write_atomic(r->ctx, eg_text_string(&file), png.data, png.length, 0666, false));
    if (r->options->json)
        put_json(json, eg_text_string(&file), time, result);
    else
        EG_TRY(eg_text_printf(out, "%s\n", eg_text_string(&file)));
done:
    eg_text_free(&file);
    eg_text_free(&png);
    return status;
}

static eg_status draw_frames(request *r)
{
    eg_status status = EG_OK;
    eg_text out = eg_text_new(r->ctx), label = eg_text_new(r->ctx);
    eg_json json = eg_json_new(&out);
    eg_plot_result result = {0};
    if (r->options->json) {
        eg_json_begin_object(&json);
        eg_json_key(&json, "pictures");
        eg_json_begin_array(&json);
    }
    for (size_t i = r->first; i < r->end; i++) {
        if (r->end - r->first > 1 && cli_draws_progress(r->options))
            cli_show_progress("frame %zu of %zu", i + 1 - r->first, r->end - r->first);
        EG_TRY(draw_frame(r, i, &json, &result, &label, &out));
    }
    cli_clear_progress();
    if (r->options->json) {
        eg_json_close(&json);
        eg_json_put_string(&json, "field", eg_text_string(&label));
        eg_json_key(&json, "range");
        eg_json_begin_array(&json);
        eg_json_number(&json, result.range[0]);
        eg_json_number(&json, result.range[1]);
        eg_json_close(&json);
        eg_json_close(&json);
        EG_TRY(eg_json_end(&json));
    }
    EG_TRY(cli_print(r->ctx, &out));
done:
    eg_text_free(&label);
    eg_text_free(&out);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    request r = {.ctx = ctx, .options = options, .base = eg_text_new(ctx), .frames.ctx = ctx};
    if (options->name_count != 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       options->name_count ? "one file at a time, not %d"
                                           : "what of? Name a .vtu, .pvtu, .pvd or .csv file, or "
                                             "a checkpoint",
                       options->name_count);
    r.path = options->names[0];
    const bool chart = cli_ends_with(r.path, ".csv");
    EG_TRY(check_options(ctx, options, chart));
    if (chart) return cli_plot_csv(ctx, options, r.path);
    EG_TRY(eg_png_check(ctx));
    EG_TRY(read_options(&r));
    if (cli_rank() > 0) goto done; /* one rank draws */
    EG_TRY(cli_frames_list(ctx, r.path, &r.frames));
    EG_TRY(choose_base(&r));
    EG_TRY(choose_frames(&r));
    if (r.end - r.first > 1 && !options->range) EG_TRY(find_range(&r));
    EG_TRY(draw_frames(&r));
done:
    cli_clear_progress();
    cli_frames_free(&r.frames);
    eg_text_free(&r.base);
    return status;
}

static eg_status complete(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    (void)ctx;
    (void)words;
    return count == 0 ? eg_text_puts(out, "FILES\n") : EG_OK;
}

const cli_command cli_command_plot = {
    .name = "plot",
    .summary = "draw a field, or the columns of a table",
    .usage = "FILE [--field FIELD] [--output FILE.png] …",
    .about =
        "Draws a field of a .vtu or .pvtu file or of a checkpoint as a PNG file: the polynomials\n"
        "themselves, evaluated at every pixel, and not lines between their nodes. Of a series, a\n"
        ".pvd file, every frame becomes a picture, frame_0000.png and so on, with one range.\n"
        "\n"
        "FIELD is the name of a field or an expression of fields, x, y, z and t, which is\n"
        "evaluated at every pixel, too. Of fields in space a plane is drawn.\n"
        "\n"
        "Of a .csv file columns are drawn over one of them, as an SVG or PNG file.\n",
    .example = "  eagre plot run.out/fields/00000400.vtu --field u --mesh\n"
               "  eagre plot flow.vtu --field 'sqrt(u^2 + v^2)' --contours 10 --colours fire\n"
               "  eagre plot flow.vtu --zoom 0,1,-0.5,0.5 --range -1,1 --colours balance\n"
               "  eagre plot space.pvtu --slice z=0.5 --width 1920 --height 1080 --dark\n"
               "  eagre plot run.out/fields.pvd --output frames/u.png\n"
               "  eagre plot run.out/checkpoints/00000120 --output last.png\n"
               "  eagre plot run.out/series.csv --y mass --log y\n",
    .options = options_list,
    .run = run,
    .complete = complete,
};
