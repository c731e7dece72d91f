/* `eagre plot FILE.csv`: columns of a table of numbers over one of them, as a chart. */
#include "cli/cli.h"
#include "cli/mesh.h"
#include "report/chart/columns.h"
#include "report/draw/png.h"
#include "report/report.h"

#include <string.h>

/* More than that nobody can tell apart. */
enum { COLUMNS_MOST = 64 };

/* What is drawn, and where to. */
typedef struct request {
    eg_context *ctx;
    const cli_options *options;
    const char *path;
    eg_series_data data;
    int *columns; /* [wanted.count], room for data.count; owned */
    eg_chart_columns wanted;
    char *output; /* owned */
} request;

/* --- columns ------------------------------------------------------------------------------------ */

/* The column whose name starts the words, which end there or at a comma; -1: there is none. Names may
 * hold commas, so the longest counts. */
static int match_column(const eg_series_data *data, const char *words)
{
    int found = -1;
    for (int i = 0; i < data->count; i++) {
        const size_t length = strlen(data->names[i]);
        if (length == 0 || strncmp(words, data->names[i], length) != 0) continue;
        if (words[length] != '\0' && words[length] != ',') continue;
        if (found < 0 || length > strlen(data->names[found])) found = i;
    }
    return found;
}

eg_status cli_unknown_column(const eg_series_data *data, const char *path, const char *given)
{
    eg_status status = EG_OK;
    const char *nearest = eg_nearest(given, (const char *const *)data->names, (size_t)data->count);
    eg_text all = eg_text_new(data->ctx);
    for (int i = 0; i < data->count; i++)
        EG_TRY(eg_text_printf(&all, "%s%s", i ? ", " : "", data->names[i]));
    status =
        eg_fail(data->ctx, EG_ERROR_ARGUMENT, "%s has no column \"%s\"%s%s%s\nIts columns are %s.",
                path, given, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                nearest ? "\"?" : "", eg_text_string(&all));
done:
    eg_text_free(&all);
    return status;
}

/* How many rows have a place on the chart. */
static size_t count_points(const request *r, int column)
{
    size_t count = 0;
    for (size_t i = 0; i < r->data.rows; i++)
        count += eg_scale_has(r->wanted.x_scale, r->data.columns[r->wanted.x][i]) &&
                 eg_scale_has(r->wanted.y_scale, r->data.columns[column][i]);
    return count;
}

/* A column that cannot be drawn: why. */
static eg_status no_points(const request *r, int column, eg_scale scale, const char *axis)
{
    const char *name = r->data.names[column];
    return scale == EG_SCALE_LOG
               ? eg_fail(r->ctx, EG_ERROR_INPUT,
                         "column \"%s\" of %s has no positive numbers, which --log %s needs", name,
                         r->path, axis)
               : eg_fail(r->ctx, EG_ERROR_INPUT, "column \"%s\" of %s has no numbers", name,
                         r->path);
}

/* True if any number of a column has a place on an axis. */
static bool has_place(const request *r, int column, eg_scale scale)
{
    for (size_t i = 0; i < r->data.rows; i++)
        if (eg_scale_has(scale, r->data.columns[column][i])) return true;
    return false;
}

/* The column that is asked for, or time, or the first one with numbers. */
static eg_status choose_x(request *r)
{
    const char *given = r->options->x;
    int x = match_column(&r->data, given ? given : "time");
    if (given && (x < 0 || strcmp(given, r->data.names[x]) != 0))
        return cli_unknown_column(&r->data, r->path, given);
    if (x < 0)
        for (x = 0; x + 1 < r->data.count && !has_place(r, x, EG_SCALE_LINEAR);)
            x++;
    r->wanted.x = x;
    return has_place(r, x, r->wanted.x_scale) ? EG_OK : no_points(r, x, r->wanted.x_scale, "x");
}

/* The columns that --y names. */
static eg_status choose_named(request *r, const char *words)
{
    eg_status status = EG_OK;
    r->wanted.together = true;
    for (;;) {
        const int column = match_column(&r->data, words);
        if (column < 0) {
            eg_text word = eg_text_new(r->ctx);
            status = eg_text_add(&word, words, strcspn(words, ","));
            if (status == EG_OK)
                status = cli_unknown_column(&r->data, r->path, eg_text_string(&word));
            eg_text_free(&word);
            return status;
        }
        for (size_t k = 0; k < r->wanted.count; k++)
            if (r->columns[k] == column)
                return eg_fail(r->ctx, EG_ERROR_ARGUMENT, "--y names the column \"%s\" twice",
                               r->data.names[column]);
        if (count_points(r, column) == 0) return no_points(r, column, r->wanted.y_scale, "y");
        r->columns[r->wanted.count++] = column;
        words += strlen(r->data.names[column]);
        if (*words++ == '\0') return EG_OK;
    }
}

/* All columns with something to show, but the count of steps. */
static eg_status choose_all(request *r)
{
    for (int i = 0; i < r->data.count; i++) {
        if (i == r->wanted.x || strcmp(r->data.names[i], "step") == 0) continue;
        if (count_points(r, i) > 0) r->columns[r->wanted.count++] = i;
    }
    if (r->wanted.count > 0) return EG_OK;
    return eg_fail(r->ctx, EG_ERROR_INPUT, "no column of %s has %snumbers to be drawn over \"%s\"",
                   r->path, r->wanted.y_scale == EG_SCALE_LOG ? "positive " : "",
                   r->data.names[r->wanted.x]);
}

/* --- options ------------------------------------------------------------------------------------ */

static eg_status read_log(request *r)
{
    static const char *const words[] = {"x", "y", "xy"};
    const char *given = r->options->log;
    size_t i = 0;
    if (!given) return EG_OK;
    while (i < EG_COUNT(words) && strcmp(given, words[i]) != 0)
        i++;
    if (i == EG_COUNT(words))
        return eg_fail(r->ctx, EG_ERROR_ARGUMENT, "--log takes x, y or xy, not \"%s\"", given);
    if (strchr(given, 'x')) r->wanted.x_scale = EG_SCALE_LOG;
    if (strchr(given, 'y')) r->wanted.y_scale = EG_SCALE_LOG;
    return EG_OK;
}

/* --output, or the file's own name with another ending. */
static eg_status choose_output(request *r)
{
    eg_status status = EG_OK;
    const char *given = r->options->output;
    eg_text name = eg_text_new(r->ctx);
    if (given && !cli_ends_with(given, ".svg") && !cli_ends_with(given, ".png"))
        return eg_fail(r->ctx, EG_ERROR_ARGUMENT,
                       "a chart's name ends with .svg or .png, and \"%s\" does not", given);
    if (given)
        EG_TRY(eg_text_puts(&name, given));
    else
        EG_TRY(eg_text_printf(&name, "%.*s.svg",
                              (int)(strlen(r->path) - (cli_ends_with(r->path, ".csv") ? 4 : 0)),
                              r->path));
    EG_TRY(eg_copy_string(r->ctx, eg_text_string(&name), &r->output));
    if (cli_ends_with(r->output, ".png")) {
        r->wanted.format = EG_PICTURE_PNG;
        EG_TRY(eg_png_check(r->ctx));
    }
    if (r->options->dark && r->wanted.format == EG_PICTURE_SVG) {
        status = eg_fail(r->ctx, EG_ERROR_ARGUMENT,
                         "an SVG is dark where its reader prefers that; --dark goes with "
                         "--output FILE.png");
        goto done;
    }
    r->wanted.dark = r->options->dark;
    EG_TRY(cli_check_writable(r->ctx, r->output));
done:
    eg_text_free(&name);
    return status;
}

static eg_status read_request(request *r)
{
    eg_status status = EG_OK;
    const char *slash = strrchr(r->path, '/');
    r->wanted.title = r->options->title ? r->options->title : slash ? slash + 1 : r->path;
    EG_TRY(read_log(r));
    EG_TRY(cli_mesh_number(r->ctx, "width", r->options->width, EG_PICTURE_WIDTH_LEAST,
                           EG_PICTURE_WIDTH_MOST, 0, &r->wanted.width));
    EG_TRY(choose_output(r));
    EG_TRY(eg_series_read(r->ctx, r->path, &r->data));
    if (r->data.rows == 0) {
        status = eg_fail(r->ctx, EG_ERROR_INPUT, "%s has a header and no rows", r->path);
        goto done;
    }
    EG_TRY(eg_new(r->ctx, (size_t)r->data.count, &r->columns));
    EG_TRY(choose_x(r));
    EG_TRY(r->options->y ? choose_named(r, r->options->y) : choose_all(r));
    if (r->wanted.count > COLUMNS_MOST) {
        status = eg_fail(r->ctx, EG_ERROR_ARGUMENT,
                         "%zu columns of %s are too many for a chart; --y chooses up to %d",
                         r->wanted.count, r->path, COLUMNS_MOST);
        goto done;
    }
    r->wanted.y = r->columns;
done:
    return status;
}

eg_status cli_plot_csv(eg_context *ctx, const cli_options *options, const char *path)
{
    eg_status status = EG_OK;
    request r = {.ctx = ctx, .options = options, .path = path, .data = {.ctx = ctx}};
    eg_text bytes = eg_text_new(ctx), text = eg_text_new(ctx);
    EG_TRY(read_request(&r));
    if (cli_rank() == 0) {
        EG_TRY(eg_chart_columns_write(ctx, &r.data, &r.wanted, &bytes));
        EG_TRY(eg_file_write_atomic(ctx, r.output, bytes.data, bytes.length, 0666, false));
    }
    EG_TRY(eg_text_printf(&text, options->json ? "%s" : "%s\n", r.output));
    EG_TRY(cli_print_as(ctx, options->json, "file", &text));
done:
    eg_text_free(&text);
    eg_text_free(&bytes);
    eg_release(ctx, &r.output);
    eg_release(ctx, &r.columns);
    eg_series_data_free(&r.data);
    return status;
}
