/* CSV files in memory: ours or anybody's with one header line (RFC 4180; a byte order mark,
 * lines ended by CR LF and empty lines are no harm). The text is cut into fields in place. */
#include "report/series.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where reading is. */
typedef struct reader {
    eg_context *ctx;  /* not owned */
    const char *path; /* not owned */
    char *at, *end;   /* *end is NUL */
    int64_t line;     /* of `at`, from 1 */
    eg_text number;   /* a field with the decimal point of the locale */
} reader;

/* Takes a field in quotes, *at being the first: it is moved together, with "" become ". False if
 * it has no end, or more behind its end. */
static bool take_quoted(reader *r, char **field)
{
    char *to = r->at++;
    *field = to;
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n') r->line++;
        if (*r->at == '"' && *++r->at != '"') {
            *to = '\0';
            return r->at >= r->end || *r->at == ',' || *r->at == '\n' ||
                   (*r->at == '\r' && r->at[1] == '\n');
        }
        *to++ = *r->at;
    }
    return false;
}

/* Takes a field up to a comma (*last false) or the end of the line. */
static eg_status take_field(reader *r, char **field, bool *last)
{
    const int64_t line = r->line;
    const size_t blanks = strspn(r->at, " \t");
    if (r->at[blanks] == '"') {
        r->at += blanks;
        if (!take_quoted(r, field))
            return eg_fail(r->ctx, EG_ERROR_INPUT,
                           "line %" PRId64 " of %s: a field in quotes does not end with one", line,
                           r->path);
    } else {
        *field = r->at;
        while (r->at < r->end && *r->at != ',' && *r->at != '\n')
            r->at++;
    }
    char *const stop = r->at;
    if (stop < r->end && *stop == '\r') r->at++; /* behind quotes */
    *last = r->at >= r->end || *r->at != ',';
    if (r->at < r->end) r->line += *r->at++ == '\n';
    if (*last && stop > *field && stop[-1] == '\r') stop[-1] = '\0';
    *stop = '\0';
    return EG_OK;
}

static bool skip_empty_lines(reader *r)
{
    while (r->at < r->end && (*r->at == '\n' || (*r->at == '\r' && r->at[1] == '\n')))
        if (*r->at++ == '\n') r->line++;
    return r->at < r->end;
}

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

/* A number, or NaN for what is none. */
static eg_status to_number(reader *r, const char *field, double *value)
{
    eg_status status = EG_OK;
    char *rest = NULL;
    eg_text_clear(&r->number);
    for (const char *c = field; *c; c++)
        EG_TRY(*c == '.' ? eg_text_puts(&r->number, localeconv()->decimal_point)
                         : eg_text_add(&r->number, c, 1));
    const char *text = eg_text_string(&r->number);
    *value = strtod(text, &rest);
    rest += strspn(rest, " \t");
    if (rest == text || *rest != '\0') *value = NAN;
done:
    return status;
}

static eg_status read_header(reader *r, eg_series_data *data)
{
    eg_status status = EG_OK;
    bool last = false;
    if (!skip_empty_lines(r))
        return eg_fail(r->ctx, EG_ERROR_INPUT, "%s is empty: a header is missing", r->path);
    for (int i = 0; !last; i++) {
        char *title = NULL;
        EG_TRY(eg_reallocate(r->ctx, ((size_t)i + 1) * sizeof(char *), (void **)&data->names));
        EG_TRY(eg_reallocate(r->ctx, ((size_t)i + 1) * sizeof(char *), (void **)&data->units));
        data->names[i] = data->units[i] = NULL;
        data->count = i + 1;
        EG_TRY(take_field(r, &title, &last));
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

static eg_status read_row(reader *r, eg_series_data *data)
{
    const int64_t line = r->line;
    eg_status status = EG_OK;
    bool last = false;
    int count = 0;
    for (; !last; count++) {
        char *field = NULL;
        double value = 0;
        EG_TRY(take_field(r, &field, &last));
        EG_TRY(to_number(r, field, &value));
        if (count < data->count) data->columns[count][data->rows] = value;
    }
    if (count != data->count)
        status = eg_fail(r->ctx, EG_ERROR_INPUT,
                         "line %" PRId64 " of %s has %d fields where the header has %d", line,
                         r->path, count, data->count);
    else
        data->rows++;
done:
    return status;
}

eg_status eg_series_read(eg_context *ctx, const char *path, eg_series_data *out)
{
    reader r = {.ctx = ctx, .path = path, .line = 1, .number = eg_text_new(ctx)};
    char *text = NULL;
    size_t length = 0, capacity = 0;
    eg_status status = EG_OK;

    *out = (eg_series_data){.ctx = ctx};
    EG_TRY(eg_file_read(ctx, path, &text, &length));
    r.at = text;
    r.end = text + length;
    if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) r.at += 3;
    EG_TRY(read_header(&r, out));
    while (skip_empty_lines(&r)) {
        EG_TRY(make_room(out, &capacity));
        EG_TRY(read_row(&r, out));
    }
done:
    if (status != EG_OK) eg_series_data_free(out);
    eg_text_free(&r.number);
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
