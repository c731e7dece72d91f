/* Cuts CSV files in memory into fields. */
#include "report/csv.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

eg_csv eg_csv_new(eg_context *ctx, const char *name, char *text, size_t length)
{
    const bool marked = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    return (eg_csv){.ctx = ctx,
                    .name = name,
                    .at = marked ? text + 3 : text,
                    .end = text + length,
                    .line = 1,
                    .number = eg_text_new(ctx)};
}

void eg_csv_free(eg_csv *csv)
{
    eg_text_free(&csv->number);
}

/* Takes a field in quotes, *at being the first: it is moved together, with "" become ". False if
 * it has no end, or more behind its end. */
static bool take_quoted(eg_csv *r, char **field)
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

eg_status eg_csv_take(eg_csv *r, char **field, bool *last)
{
    const int64_t line = r->line;
    const size_t blanks = strspn(r->at, " \t");
    if (r->at[blanks] == '"') {
        r->at += blanks;
        if (!take_quoted(r, field))
            return eg_fail(r->ctx, EG_ERROR_INPUT,
                           "line %" PRId64 " of %s: a field in quotes does not end with one", line,
                           r->name);
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

bool eg_csv_next_line(eg_csv *r)
{
    while (r->at < r->end && (*r->at == '\n' || (*r->at == '\r' && r->at[1] == '\n')))
        if (*r->at++ == '\n') r->line++;
    return r->at < r->end;
}

eg_status eg_csv_number(eg_csv *r, const char *field, double *value)
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
