/* Series: rows of numbers over time in a CSV file (RFC 4180, lines ended by a newline alone).
 *
 * A row is one write to the file, so that nobody reads half of it and nothing waits in a buffer
 * when the process is killed. A row for which the disk has no room is taken back. Cutting a file
 * back shortens it in place: that needs no room, either happens or does not, and whoever follows
 * the file keeps it. */
#define _GNU_SOURCE
#include "report/series.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct eg_series {
    eg_context *ctx; /* not owned */
    char *path;      /* owned */
    int count;
    bool *whole;  /* [count] owned */
    int file;     /* -1: none */
    off_t length; /* of the file, with all rows so far */
    eg_text row;
};

static eg_status failed(const eg_series *series, const char *action, int error)
{
    return eg_fail(series->ctx, EG_ERROR_IO, "cannot %s %s: %s%s", action, series->path,
                   strerror(error),
                   error == ENOSPC || error == EDQUOT ? "; free some space there" : "");
}

static void release(eg_series **handle)
{
    eg_series *series = *handle;
    if (!series) return;
    eg_context *ctx = series->ctx;
    eg_text_free(&series->row);
    eg_release(ctx, &series->whole);
    eg_release(ctx, &series->path);
    eg_release(ctx, handle);
}

/* --- text ------------------------------------------------------------------------------------- */

eg_status eg_series_put_title(eg_text *text, const char *title)
{
    eg_status status = EG_OK;
    if (!strpbrk(title, ",\"\r\n")) return eg_text_puts(text, title);
    EG_TRY(eg_text_puts(text, "\""));
    for (; *title; title++)
        EG_TRY(*title == '"' ? eg_text_puts(text, "\"\"") : eg_text_add(text, title, 1));
    EG_TRY(eg_text_puts(text, "\""));
done:
    return status;
}

static eg_status put_header(const eg_series_column *columns, int count, eg_text *text)
{
    eg_text title = eg_text_new(text->ctx);
    eg_status status = EG_OK;
    for (int i = 0; i < count; i++) {
        eg_text_clear(&title);
        EG_TRY(eg_text_puts(&title, columns[i].name));
        if (columns[i].unit) EG_TRY(eg_text_printf(&title, " [%s]", columns[i].unit));
        if (i > 0) EG_TRY(eg_text_puts(text, ","));
        EG_TRY(eg_series_put_title(text, eg_text_string(&title)));
    }
    EG_TRY(eg_text_puts(text, "\n"));
done:
    eg_text_free(&title);
    return status;
}

eg_status eg_series_put_value(eg_text *text, double value)
{
    char number[40];
    if (isnan(value)) return eg_text_puts(text, "nan"); /* without the sign that some print */
    if (isinf(value)) return eg_text_puts(text, value < 0 ? "-inf" : "inf");
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(number, sizeof number, "%.*g", digits, value);
        if (strtod(number, NULL) == value) break;
    }
    /* The host program may have set a locale with another decimal separator. */
    for (char *c = number; *c; c++)
        if (!strchr("+-0123456789e", *c)) *c = '.';
    return eg_text_puts(text, number);
}

/* --- opening ---------------------------------------------------------------------------------- */

/* The step of a complete row [at, end), end being its newline; false if it is none. */
static bool read_step(const char *at, const char *end, int count, int64_t *step)
{
    char *rest = NULL;
    int commas = 0;
    for (const char *c = at; c < end; c++)
        commas += *c == ',';
    errno = 0;
    const long long number = strtoll(at, &rest, 10);
    *step = number;
    return commas == count - 1 && rest > at && errno == 0 && (rest == end || *rest == ',');
}

/* How much of a file's text, behind its header, is kept: rows up to step `until`. A line that is
 * no row and has more of them behind it is an error. */
static eg_status find_cut(const eg_series *series, const char *data, size_t length, size_t header,
                          int64_t until, size_t *cut)
{
    int64_t line = 1, bad_line = 0, step;
    const char *const end = data + length;
    *cut = header;
    for (const char *at = data + header, *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop) break;
        line++;
        if (!read_step(at, stop, series->count, &step)) {
            if (bad_line == 0) bad_line = line;
            continue;
        }
        if (step > until) break;
        if (bad_line > 0)
            return eg_fail(series->ctx, EG_ERROR_INPUT,
                           "line %" PRId64 " of %s is no row of %d numbers that begins with a "
                           "step, but rows follow it; repair it, or move the file away",
                           bad_line, series->path, series->count);
        *cut = (size_t)(stop + 1 - data);
    }
    return EG_OK;
}

/* Opens the file at its end, `length` bytes from its beginning; what is behind is cut off. */
static eg_status open_at(eg_series *series, size_t length)
{
    series->length = (off_t)length;
    series->file = open(series->path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (series->file < 0) return failed(series, "open", errno);
    struct stat info;
    if (fstat(series->file, &info) != 0) return failed(series, "examine", errno);
    if (info.st_size != series->length && ftruncate(series->file, series->length) != 0)
        return failed(series, "cut back", errno);
    return EG_OK;
}

/* A file with a header alone, in the place of what is there. */
static eg_status begin_file(eg_series *series, const eg_text *header)
{
    struct stat info;
    eg_status status = EG_OK;
    if (stat(series->path, &info) == 0 && !S_ISREG(info.st_mode))
        return eg_fail(series->ctx, EG_ERROR_IO, "cannot write %s: it is not a regular file",
                       series->path);
    EG_TRY(
        eg_file_write_atomic(series->ctx, series->path, header->data, header->length, 0666, false));
    EG_TRY(open_at(series, header->length));
done:
    return status;
}

/* Goes on with a file that is there. */
static eg_status continue_file(eg_series *series, const eg_text *header, int64_t until)
{
    char *data = NULL;
    size_t length = 0, cut = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_file_read(series->ctx, series->path, &data, &length));
    if (length < header->length && memcmp(data, header->data, length) == 0) {
        EG_TRY(begin_file(series, header)); /* it was left before its header was complete */
        goto done;
    }
    if (length < header->length || memcmp(data, header->data, header->length) != 0) {
        const char *newline = memchr(data, '\n', length);
        const size_t shown = newline ? (size_t)(newline - data) : length;
        status = eg_fail(series->ctx, EG_ERROR_INPUT,
                         "%s has other columns: \"%.*s\" instead of \"%.*s\"; move it away, or "
                         "write the series under another name",
                         series->path, (int)(shown < 400 ? shown : 400), data,
                         (int)header->length - 1, header->data);
        goto done;
    }
    EG_TRY(find_cut(series, data, length, header->length, until, &cut));
    EG_TRY(open_at(series, cut));
done:
    eg_release(series->ctx, &data);
    return status;
}

eg_status eg_series_open(eg_context *ctx, const char *path, const eg_series_column *columns,
                         int count, const int64_t *keep_until, eg_series **out)
{
    eg_series *series = NULL;
    eg_text header = eg_text_new(ctx);
    eg_status status = EG_OK;

    *out = NULL;
    if (count < 1 || strcmp(columns[0].name, "step") != 0 || !columns[0].whole)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "the first column of a series is \"step\", in whole numbers");
    EG_TRY(eg_new(ctx, 1, &series));
    series->ctx = ctx;
    series->file = -1;
    series->count = count;
    series->row = eg_text_new(ctx);
    EG_TRY(eg_copy_string(ctx, path, &series->path));
    EG_TRY(eg_new(ctx, (size_t)count, &series->whole));
    for (int i = 0; i < count; i++)
        series->whole[i] = columns[i].whole;
    EG_TRY(put_header(columns, count, &header));
    if (keep_until && access(path, F_OK) == 0)
        EG_TRY(continue_file(series, &header, *keep_until));
    else
        EG_TRY(begin_file(series, &header));
    *out = series;
    series = NULL;
done:
    if (series && series->file >= 0) close(series->file);
    release(&series);
    eg_text_free(&header);
    return status;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* A file whose name or directory was removed still takes what is written, for nobody to read. */
static eg_status check_is_there(const eg_series *series)
{
    struct stat info;
    if (fstat(series->file, &info) != 0) return failed(series, "examine", errno);
    if (info.st_nlink == 0)
        return eg_fail(series->ctx, EG_ERROR_IO,
                       "cannot write to %s: the file was removed while the run was writing it",
                       series->path);
    return EG_OK;
}

eg_status eg_series_add(eg_series *series, const double *values)
{
    eg_text *row = &series->row;
    eg_status status = EG_OK;
    eg_text_clear(row);
    for (int i = 0; i < series->count; i++) {
        if (i > 0) EG_TRY(eg_text_puts(row, ","));
        if (series->whole[i] && fabs(values[i]) < 0x1p63)
            EG_TRY(eg_text_printf(row, "%" PRId64, (int64_t)values[i]));
        else
            EG_TRY(eg_series_put_value(row, values[i]));
    }
    EG_TRY(eg_text_puts(row, "\n"));
    EG_TRY(check_is_there(series));
    for (size_t done = 0; done < row->length;) {
        const ssize_t put = write(series->file, row->data + done, row->length - done);
        if (put >= 0) {
            done += (size_t)put;
        } else if (errno != EINTR) {
            const int error = errno;
            if (done > 0) (void)!ftruncate(series->file, series->length); /* else it stays half */
            status = failed(series, "write to", error);
            goto done;
        }
    }
    series->length += (off_t)row->length;
done:
    return status;
}

eg_status eg_series_close(eg_series **handle)
{
    eg_series *series = *handle;
    if (!series) return EG_OK;
    eg_status status = check_is_there(series);
    /* Network file systems may tell of a full disk only now. */
    if (fsync(series->file) != 0 && errno != EINVAL && status == EG_OK)
        status = failed(series, "write to", errno);
    if (close(series->file) != 0 && errno != EINTR && status == EG_OK)
        status = failed(series, "close", errno);
    release(handle);
    return status;
}
