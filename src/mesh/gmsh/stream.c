/* The bytes of a Gmsh file: numbers in text and binary, and where they stand.
 *
 * The window is refilled when fewer bytes than a token may have are left in it, so that a token is
 * always seen whole. Lines are counted when they are left behind, or when a message asks. */
#define _GNU_SOURCE
#include "mesh/gmsh/stream.h"

#include "mesh/gmsh/decimal.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#define WINDOW_BYTES ((size_t)1 << 20)
#define TOKEN_BYTES 1024 /* that a token has at most */
static_assert(EG_DECIMAL_BYTES < TOKEN_BYTES, "a number and what follows it are seen together");

/* --- places ----------------------------------------------------------------------------------- */

static void count_lines(eg_gmsh_stream *s)
{
    while (s->counted < s->at) {
        const char *newline = memchr(s->counted, '\n', (size_t)(s->at - s->counted));
        s->line += newline != NULL;
        s->counted = newline ? newline + 1 : s->at;
    }
}

int64_t eg_gmsh_remaining(const eg_gmsh_stream *s)
{
    return (s->end - s->at) + s->left;
}

int64_t eg_gmsh_place(eg_gmsh_stream *s)
{
    if (s->binary) return s->offset + (s->at - s->begin);
    count_lines(s);
    return s->line;
}

static EG_PRINTF(3, 0) eg_status
    fail_with(const eg_gmsh_stream *s, int64_t place, const char *format, va_list arguments)
{
    char message[1024], object[EG_GMSH_OBJECT_BYTES + 32] = "";
    vsnprintf(message, sizeof message, format, arguments);
    if (s->object) snprintf(object, sizeof object, ", %s %lld", s->object, (long long)s->tag);
    return eg_fail(s->ctx, EG_ERROR_INPUT, "%s:%s%lld: %s%s%s%s%s", s->name,
                   s->binary ? " byte " : "", (long long)place, s->section ? "in " : "",
                   s->section ? s->section : "", object, s->section || s->object ? ": " : "",
                   message);
}

eg_status eg_gmsh_fail_at(const eg_gmsh_stream *s, int64_t place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    eg_status status = fail_with(s, place, format, arguments);
    va_end(arguments);
    return status;
}

eg_status eg_gmsh_fail(eg_gmsh_stream *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    eg_status status = fail_with(s, s->raw ? s->value : eg_gmsh_place(s), format, arguments);
    va_end(arguments);
    return status;
}

eg_status eg_gmsh_check_count(eg_gmsh_stream *s, int64_t count, int64_t least_bytes,
                              const char *what)
{
    if (count <= eg_gmsh_remaining(s) / least_bytes) return EG_OK;
    return eg_gmsh_fail(s, "%lld %s are announced, but only %lld bytes follow in the file",
                        (long long)count, what, (long long)eg_gmsh_remaining(s));
}

/* --- the window ------------------------------------------------------------------------------- */

static eg_status file_failed(eg_context *ctx, const char *action, const char *path, int error)
{
    return eg_fail(ctx, EG_ERROR_IO, "cannot %s %s: %s", action, path, strerror(error));
}

void eg_gmsh_stream_of_bytes(eg_context *ctx, const char *name, const char *bytes, size_t length,
                             eg_gmsh_stream *s)
{
    *s = (eg_gmsh_stream){.ctx = ctx, .name = name, .file = -1, .line = 1};
    s->begin = s->at = s->counted = length > 0 ? bytes : "";
    s->end = s->begin + length;
}

eg_status eg_gmsh_stream_open(eg_context *ctx, const char *path, eg_gmsh_stream *s)
{
    eg_status status = EG_OK;
    struct stat info;
    eg_gmsh_stream_of_bytes(ctx, path, "", 0, s);
    /* O_NONBLOCK: a pipe under that name is refused below and must not hang the open. */
    s->file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (s->file < 0) return file_failed(ctx, "open", path, errno);
    if (fstat(s->file, &info) != 0)
        status = file_failed(ctx, "examine", path, errno);
    else if (!S_ISREG(info.st_mode))
        status = eg_fail(ctx, EG_ERROR_IO, "cannot read %s: it is not a regular file", path);
    else
        status = eg_allocate(ctx, WINDOW_BYTES, (void **)&s->window);
    if (status != EG_OK) {
        eg_gmsh_stream_close(s);
        return status;
    }
    s->begin = s->at = s->end = s->counted = s->window;
    s->left = (int64_t)info.st_size;
    return EG_OK;
}

void eg_gmsh_stream_close(eg_gmsh_stream *s)
{
    if (s->file >= 0) close(s->file);
    s->file = -1;
    eg_release(s->ctx, &s->window);
}

/* Moves the window so that it begins with the next byte and is full, or has all that is left. A
 * file that shrinks meanwhile ends earlier; one that grows does not end later. */
static eg_status fill(eg_gmsh_stream *s)
{
    if (!s->binary) count_lines(s);
    size_t kept = (size_t)(s->end - s->at);
    memmove(s->window, s->at, kept);
    s->offset += s->at - s->begin;
    while (kept < WINDOW_BYTES && s->left > 0) {
        size_t wanted = WINDOW_BYTES - kept;
        if ((int64_t)wanted > s->left) wanted = (size_t)s->left;
        const ssize_t got = read(s->file, s->window + kept, wanted);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return file_failed(s->ctx, "read", s->name, errno);
        kept += (size_t)got;
        s->left = got > 0 ? s->left - got : 0;
    }
    s->begin = s->at = s->counted = s->window;
    s->end = s->window + kept;
    return EG_OK;
}

/* Makes the next bytes visible, or all that are left. */
static inline eg_status need(eg_gmsh_stream *s, size_t bytes)
{
    if ((size_t)(s->end - s->at) >= bytes || s->left == 0) return EG_OK;
    return fill(s);
}

eg_status eg_gmsh_peek(eg_gmsh_stream *s, const char *bytes, size_t length, bool *found)
{
    eg_status status = need(s, length);
    *found =
        status == EG_OK && (size_t)(s->end - s->at) >= length && memcmp(s->at, bytes, length) == 0;
    return status;
}

/* --- text ------------------------------------------------------------------------------------- */

static inline bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Goes to the next byte that is no blank, with `lines` also over ends of lines, and makes the token
 * there visible. */
static eg_status skip_blanks(eg_gmsh_stream *s, bool lines)
{
    for (;;) {
        while (s->at < s->end && (is_blank(*s->at) || (lines && *s->at == '\n')))
            s->at++;
        if (s->end - s->at >= TOKEN_BYTES || s->left == 0) return EG_OK;
        eg_status status = fill(s);
        if (status != EG_OK) return status;
    }
}

static inline bool ends_token(const eg_gmsh_stream *s, const char *at)
{
    return at == s->end || is_blank(*at) || *at == '\n';
}

#define QUOTE_BYTES 64

/* The token that is read next, shortened, with '?' for what cannot be printed. */
static const char *quote_token(const eg_gmsh_stream *s, char quote[QUOTE_BYTES])
{
    size_t length = 0;
    for (const char *at = s->at; !ends_token(s, at); at++) {
        if (length == QUOTE_BYTES - 4) {
            memcpy(quote + length, "...", 3);
            length += 3;
            break;
        }
        quote[length++] = *at >= ' ' && *at <= '~' ? *at : '?';
    }
    quote[length] = '\0';
    return quote;
}

static eg_status no_value(eg_gmsh_stream *s, const char *what)
{
    char quote[QUOTE_BYTES];
    if (s->at == s->end) return eg_gmsh_fail(s, "the file ends where %s is expected", what);
    if (*s->at == '\n') return eg_gmsh_fail(s, "the line ends where %s is expected", what);
    return eg_gmsh_fail(s, "\"%s\" stands where %s is expected", quote_token(s, quote), what);
}

static eg_status text_integer(eg_gmsh_stream *s, const char *what, int64_t least, int64_t most,
                              int64_t *out)
{
    eg_status status = skip_blanks(s, false);
    if (status != EG_OK) return status;
    const char *at = s->at;
    const bool negative = at < s->end && *at == '-';
    uint64_t value = 0;
    at += negative || (at < s->end && *at == '+');
    const char *digits = at;
    while (at < s->end && *at >= '0' && *at <= '9' && at - digits < 19)
        value = 10 * value + (uint64_t)(*at++ - '0');
    if (at == digits || !ends_token(s, at)) return no_value(s, what);
    const int64_t result = value > INT64_MAX ? INT64_MAX : (int64_t)value;
    *out = negative ? -result : result;
    if (value > INT64_MAX || *out < least || *out > most) {
        char quote[QUOTE_BYTES];
        return eg_gmsh_fail(s, "%s is %s: it is out of range", what, quote_token(s, quote));
    }
    s->at = at;
    return EG_OK;
}

/* "nan", "-inf" and so on, which printf writes. */
static const char *skip_special(const eg_gmsh_stream *s)
{
    const char *at = s->at;
    at += at < s->end && (*at == '-' || *at == '+');
    if (s->end - at < 3 || (strncasecmp(at, "nan", 3) != 0 && strncasecmp(at, "inf", 3) != 0))
        return NULL;
    return at + 3;
}

static eg_status text_real(eg_gmsh_stream *s, const char *what, bool finite, double *out)
{
    eg_status status = skip_blanks(s, false);
    if (status != EG_OK) return status;
    const char *after = eg_decimal_parse(s->at, s->end, out);
    if (!after && (after = skip_special(s))) *out = INFINITY;
    if (!after || !ends_token(s, after)) return no_value(s, what);
    if (finite && !isfinite(*out)) {
        char quote[QUOTE_BYTES];
        return eg_gmsh_fail(s, "%s is %s: it is not finite", what, quote_token(s, quote));
    }
    s->at = after;
    return EG_OK;
}

eg_status eg_gmsh_begin_record(eg_gmsh_stream *s)
{
    return s->raw ? EG_OK : skip_blanks(s, true);
}

eg_status eg_gmsh_end_record(eg_gmsh_stream *s)
{
    if (s->raw) return EG_OK;
    eg_status status = skip_blanks(s, false);
    if (status != EG_OK || s->at == s->end) return status;
    if (*s->at != '\n') {
        char quote[QUOTE_BYTES];
        return eg_gmsh_fail(s, "\"%s\" stands where the line should end", quote_token(s, quote));
    }
    s->at++;
    return EG_OK;
}

eg_status eg_gmsh_try_word(eg_gmsh_stream *s, const char *word, bool *found)
{
    const size_t length = strlen(word);
    eg_status status = skip_blanks(s, false);
    *found = status == EG_OK && (size_t)(s->end - s->at) >= length &&
             memcmp(s->at, word, length) == 0 && ends_token(s, s->at + length);
    if (*found) s->at += length;
    return status;
}

eg_status eg_gmsh_rest_of_line(eg_gmsh_stream *s, char *text, size_t size)
{
    assert(size <= TOKEN_BYTES);
    eg_status status = skip_blanks(s, false);
    if (status != EG_OK) return status;
    size_t seen = (size_t)(s->end - s->at);
    if (seen > TOKEN_BYTES) seen = TOKEN_BYTES;
    const char *newline = memchr(s->at, '\n', seen);
    size_t length = newline ? (size_t)(newline - s->at) : seen;
    while (length > 0 && is_blank(s->at[length - 1]))
        length--;
    if (length >= size || (!newline && seen == TOKEN_BYTES))
        return eg_gmsh_fail(s, "the line is too long: at most %zu bytes are allowed here",
                            size - 1);
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)s->at[i];
        if ((byte < ' ' && byte != '\t') || byte == 0x7f)
            return eg_gmsh_fail(s, "the line holds the control character 0x%02x", byte);
    }
    memcpy(text, s->at, length);
    text[length] = '\0';
    s->at = newline ? newline + 1 : s->end;
    return EG_OK;
}

/* --- binary ----------------------------------------------------------------------------------- */

/* Copies the next bytes, in this machine's order. */
static inline eg_status take(eg_gmsh_stream *s, const char *what, size_t bytes, void *out)
{
    eg_status status = need(s, bytes);
    if (status != EG_OK) return status;
    s->value = s->offset + (s->at - s->begin);
    if ((size_t)(s->end - s->at) < bytes)
        return eg_gmsh_fail(s, "the file ends where %s is expected", what);
    if (s->swapped) {
        for (size_t i = 0; i < bytes; i++)
            ((char *)out)[i] = s->at[bytes - 1 - i];
    } else {
        memcpy(out, s->at, bytes);
    }
    s->at += bytes;
    return EG_OK;
}

/* --- values ----------------------------------------------------------------------------------- */

eg_status eg_gmsh_int(eg_gmsh_stream *s, const char *what, int *out)
{
    if (s->raw) {
        int32_t value = 0;
        eg_status status = take(s, what, sizeof value, &value);
        *out = value;
        return status;
    }
    int64_t value = 0;
    eg_status status = text_integer(s, what, INT32_MIN, INT32_MAX, &value);
    *out = (int)value;
    return status;
}

eg_status eg_gmsh_size(eg_gmsh_stream *s, const char *what, int64_t *out)
{
    *out = 0;
    if (!s->raw) return text_integer(s, what, 0, INT64_MAX, out);
    uint64_t value = 0;
    uint32_t narrow = 0;
    eg_status status;
    if (s->size_bytes == 4) {
        status = take(s, what, sizeof narrow, &narrow);
        value = narrow;
    } else {
        status = take(s, what, sizeof value, &value);
    }
    if (status != EG_OK) return status;
    if (value > INT64_MAX)
        return eg_gmsh_fail(s, "%s is %llu: it is out of range", what, (unsigned long long)value);
    *out = (int64_t)value;
    return EG_OK;
}

eg_status eg_gmsh_real(eg_gmsh_stream *s, const char *what, double *out)
{
    if (!s->raw) return text_real(s, what, true, out);
    eg_status status = take(s, what, sizeof *out, out);
    if (status != EG_OK) return status;
    if (!isfinite(*out)) return eg_gmsh_fail(s, "%s is %g: it is not finite", what, *out);
    return EG_OK;
}

eg_status eg_gmsh_skip_reals(eg_gmsh_stream *s, int count, const char *what)
{
    eg_status status = EG_OK;
    double value;
    for (int i = 0; i < count && status == EG_OK; i++)
        status = s->raw ? take(s, what, sizeof value, &value) : text_real(s, what, false, &value);
    return status;
}

/* --- sections --------------------------------------------------------------------------------- */

eg_status eg_gmsh_next_section(eg_gmsh_stream *s, char name[EG_GMSH_SECTION_BYTES], int64_t *place)
{
    eg_status status = EG_OK;
    s->section = s->object = NULL;
    s->raw = false;
    name[0] = '\0';
    EG_TRY(skip_blanks(s, true));
    *place = eg_gmsh_place(s);
    if (s->at == s->end) return EG_OK;
    if (*s->at != '$') {
        char quote[QUOTE_BYTES];
        return eg_gmsh_fail(s,
                            "\"%s\" stands outside of all sections, where \"$\" and a name are "
                            "expected",
                            quote_token(s, quote));
    }
    EG_TRY(eg_gmsh_rest_of_line(s, name, EG_GMSH_SECTION_BYTES));
done:
    return status;
}

/* The line that ends a section: "$EndNodes". */
typedef struct end_line {
    char text[EG_GMSH_SECTION_BYTES + 4];
    size_t length;
} end_line;

static end_line end_of(const char *name)
{
    end_line end;
    end.length = (size_t)snprintf(end.text, sizeof end.text, "$End%s", name + 1);
    return end;
}

/* True if it comes next, with nothing more. */
static bool at_end(const eg_gmsh_stream *s, const end_line *end)
{
    return (size_t)(s->end - s->at) >= end->length && memcmp(s->at, end->text, end->length) == 0 &&
           ends_token(s, s->at + end->length);
}

eg_status eg_gmsh_end_section(eg_gmsh_stream *s, const char *name)
{
    eg_status status = EG_OK;
    const end_line end = end_of(name);
    char quote[QUOTE_BYTES];
    s->raw = false;
    s->object = NULL;
    EG_TRY(skip_blanks(s, true));
    if (s->at == s->end) return eg_gmsh_fail(s, "the file ends where %s is expected", end.text);
    if (!at_end(s, &end))
        return eg_gmsh_fail(s, "\"%s\" stands where %s is expected: do the counts agree?",
                            quote_token(s, quote), end.text);
    s->at += end.length;
    EG_TRY(eg_gmsh_end_record(s));
done:
    return status;
}

eg_status eg_gmsh_skip_section(eg_gmsh_stream *s, const char *name, bool *ended)
{
    eg_status status = EG_OK;
    const end_line end = end_of(name);
    *ended = false;
    for (;;) {
        EG_TRY(need(s, TOKEN_BYTES));
        if (at_end(s, &end)) {
            *ended = true;
            return eg_gmsh_end_section(s, name);
        }
        const char *newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
        while (!newline && s->left > 0) {
            s->at = s->end;
            EG_TRY(fill(s));
            newline = memchr(s->at, '\n', (size_t)(s->end - s->at));
        }
        if (!newline) return EG_OK;
        s->at = newline + 1;
    }
done:
    return status;
}
