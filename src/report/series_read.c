/* CSV files of numbers in memory: ours or anybody's with one header line. */
#include "report/csv.h"
#include "report/series.h"

#include <inttypes.h>
#include <string.h>

/* "name [unit]" → both, copied. */
static eg_status split_title(eg_context *ctx, char *title, char **name, char **unit)
{
    eg_status status = EG_OK;
    title += strspn(title, " \t");
    size_t length = strlen(title);
    while (length > 0 && strchr(" \t", title[length - 1]))
        title[--length] = '\0';
    char *bracket = length > 0 && title[length - 1] == ']' ? strrchr(title, '[') : NULL;
    if (bracket && bracket > title && bracket[-1] == ' ') {
        title[length - 1] = '\0';
        EG_TRY(eg_copy_string(ctx, bracket + 1, unit));
        while (bracket > title && bracket[-1] == ' ')
            bracket--;
        *bracket = '\0';
    }
    EG_TRY(eg_copy_string(ctx, title, name));
done:
    return status;
}

static eg_status read_header(eg_csv *r, eg_series_data *data)
{
    eg_status status = EG_OK;
    bool last = false;
    if (!eg_csv_next_line(r))
        return eg_fail(r->ctx, EG_ERROR_INPUT, "%s is empty: a header is missing", r->name);
    for (int i = 0; !last; i++) {
        char *title = NULL;
        EG_TRY(eg_reallocate(r->ctx, ((size_t)i + 1) * sizeof(char *), (void **)&data->names));
        EG_TRY(eg_reallocate(r->ctx, ((size_t)i + 1) * sizeof(char *), (void **)&data->units));
        data->names[i] = data->units[i] = NULL;
        data->count = i + 1;
        EG_TRY(eg_csv_take(r, &title, &last));
        EG_TRY(split_title(r->ctx, title, &data->names[i], &data->units[i]));
    }
    EG_TRY(eg_new(r->ctx, (size_t)data->count, &data->columns));
done:
    return status;
}

static eg_status make_room(eg_series_data *data, size_t *capacity)
{
    eg_status status = EG_OK;
    if (data->rows < *capacity) return EG_OK;
    const size_t more = *capacity == 0 ? 64 : 2 * *capacity;
    for (int i = 0; i < data->count; i++)
        EG_TRY(eg_reallocate(data->ctx, more * sizeof(double), (void **)&data->columns[i]));
    *capacity = more;
done:
    return status;
}

static eg_status read_row(eg_csv *r, eg_series_data *data)
{
    const int64_t line = r->line;
    eg_status status = EG_OK;
    bool last = false;
    int count = 0;
    for (; !last; count++) {
        char *field = NULL;
        double value = 0;
        EG_TRY(eg_csv_take(r, &field, &last));
        EG_TRY(eg_csv_number(r, field, &value));
        if (count < data->count) data->columns[count][data->rows] = value;
    }
    if (count != data->count)
        status = eg_fail(r->ctx, EG_ERROR_INPUT,
                         "line %" PRId64 " of %s has %d fields where the header has %d", line,
                         r->name, count, data->count);
    else
        data->rows++;
done:
    return status;
}

eg_status eg_series_read(eg_context *ctx, const char *path, eg_series_data *out)
{
    eg_csv r = {.number = eg_text_new(ctx)};
    char *text = NULL;
    size_t length = 0, capacity = 0;
    eg_status status = EG_OK;

    *out = (eg_series_data){.ctx = ctx};
    EG_TRY(eg_file_read(ctx, path, &text, &length));
    r = eg_csv_new(ctx, path, text, length);
    EG_TRY(read_header(&r, out));
    while (eg_csv_next_line(&r)) {
        EG_TRY(make_room(out, &capacity));
        EG_TRY(read_row(&r, out));
    }
done:
    if (status != EG_OK) eg_series_data_free(out);
    eg_csv_free(&r);
    eg_release(ctx, &text);
    return status;
}

void eg_series_data_free(eg_series_data *data)
{
    for (int i = 0; i < data->count; i++) {
        if (data->columns) eg_release(data->ctx, &data->columns[i]);
        eg_release(data->ctx, &data->names[i]);
        eg_release(data->ctx, &data->units[i]);
    }
    eg_release(data->ctx, &data->columns);
    eg_release(data->ctx, &data->units);
    eg_release(data->ctx, &data->names);
    data->count = 0;
    data->rows = 0;
}
