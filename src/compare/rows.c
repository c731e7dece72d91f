/* Runs as rows, kept in a CSV file: one that ends in half a line, or has rows of another
 * comparison, is read as far as it goes. */
#include "compare/compare.h"

#include "report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    SCHEME,
    DEGREE,
    CELLS,
    CFL,
    REPEAT,
    OUTCOME,
    ELEMENTS,
    POINTS,
    STEPS,
    H,
    NODAL_L2,
    L2,
    LOOP_S,
    STEP_S,
    NS_PER_POINT_STAGE,
    REFERENCE_S,
    WORK,
    STEP_WORK,
    OF,
    REPLACEMENTS,
    DEVICE,
    RANKS,
    VERSION,
    CASE,
    COLUMNS
};

static const char *const titles[COLUMNS] = {
    [SCHEME] = "scheme",
    [DEGREE] = "degree",
    [CELLS] = "cells",
    [CFL] = "cfl",
    [REPEAT] = "repeat",
    [OUTCOME] = "outcome",
    [ELEMENTS] = "elements",
    [POINTS] = "points",
    [STEPS] = "steps",
    [H] = "h",
    [NODAL_L2] = "nodal_l2",
    [L2] = "l2",
    [LOOP_S] = "loop_s",
    [STEP_S] = "step_s",
    [NS_PER_POINT_STAGE] = "ns_per_point_stage",
    [REFERENCE_S] = "reference_s",
    [WORK] = "work",
    [STEP_WORK] = "step_work",
    [OF] = "norms_of",
    [REPLACEMENTS] = "replacements",
    [DEVICE] = "device",
    [RANKS] = "ranks",
    [VERSION] = "version",
    [CASE] = "case_hash",
};

/* --- the list ----------------------------------------------------------------------------------- */

eg_compare_rows eg_compare_rows_new(eg_context *ctx)
{
    return (eg_compare_rows){.ctx = ctx};
}

void eg_compare_rows_free(eg_compare_rows *rows)
{
    eg_release(rows->ctx, &rows->list);
    rows->count = rows->capacity = 0;
}

eg_status eg_compare_rows_add(eg_compare_rows *rows, const eg_compare_row *row)
{
    eg_status status = EG_OK;
    if (rows->count == rows->capacity) {
        const size_t more = rows->capacity ? 2 * rows->capacity : 64;
        EG_TRY(eg_reallocate(rows->ctx, more * sizeof rows->list[0], (void **)&rows->list));
        rows->capacity = more;
    }
    rows->list[rows->count++] = *row;
done:
    return status;
}

const eg_compare_row *eg_compare_rows_find(const eg_compare_rows *rows,
                                           const eg_compare_setting *of, double cfl, int repeat)
{
    for (size_t i = 0; i < rows->count; i++) {
        const eg_compare_row *r = &rows->list[i];
        if (r->cfl == cfl && r->repeat == repeat && r->of.degree == of->degree &&
            strcmp(r->of.scheme, of->scheme) == 0 && strcmp(r->of.cells, of->cells) == 0)
            return r;
    }
    return NULL;
}

void eg_compare_hash(const char *text, size_t length, char hash[EG_COMPARE_HASH])
{
    eg_sha256 sha;
    unsigned char digest[EG_SHA256_BYTES];
    char hex[EG_SHA256_HEX];
    eg_sha256_init(&sha);
    eg_sha256_add(&sha, text, length);
    eg_sha256_end(&sha, digest);
    eg_sha256_hex(digest, hex);
    memcpy(hash, hex, EG_COMPARE_HASH - 1);
    hash[EG_COMPARE_HASH - 1] = '\0';
}

/* --- writing ------------------------------------------------------------------------------------ */

static const char *norms_of(const eg_compare_identity *identity)
{
    return identity->exact ? "error" : "solution";
}

/* A number and what goes before it; nothing of one that there is not. */
static eg_status put_number(double value, eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, ","));
    if (isfinite(value)) EG_TRY(eg_series_put_value(out, value));
done:
    return status;
}

static eg_status put_text(const char *text, eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_puts(out, ","));
    EG_TRY(eg_series_put_title(out, text));
done:
    return status;
}

static eg_status put_row(const eg_compare_row *r, const eg_compare_identity *identity, eg_text *out)
{
    eg_status status = EG_OK;
    const double figures[] = {
        r->h,
        r->nodal_l2,
        r->l2,
        r->loop_s,
        r->loop_s / (double)r->steps,
        r->ns_per_point_stage,
        r->reference_s,
        r->loop_s / r->reference_s,
        r->loop_s / (double)r->steps / r->reference_s,
    };
    EG_TRY(eg_series_put_title(out, r->of.scheme));
    EG_TRY(eg_text_printf(out, ",%d,%s", r->of.degree, r->of.cells));
    EG_TRY(put_number(r->cfl, out));
    EG_TRY(eg_text_printf(out, ",%d,%s", r->repeat, r->stable ? "done" : "unstable"));
    if (r->stable)
        EG_TRY(eg_text_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64, r->elements, r->points,
                              r->steps));
    else
        EG_TRY(eg_text_puts(out, ",,,"));
    for (size_t i = 0; i < EG_COUNT(figures); i++)
        EG_TRY(put_number(r->stable ? figures[i] : NAN, out));
    EG_TRY(put_text(norms_of(identity), out));
    EG_TRY(put_text(identity->replacements, out));
    EG_TRY(put_text(identity->device, out));
    EG_TRY(eg_text_printf(out, ",%d", identity->ranks));
    EG_TRY(put_text(identity->version, out));
    EG_TRY(eg_text_printf(out, ",%s\n", identity->case_hash));
done:
    return status;
}

eg_status eg_compare_rows_put(const eg_compare_rows *rows, const eg_compare_identity *identity,
                              eg_text *out)
{
    eg_status status = EG_OK;
    for (int c = 0; c < COLUMNS; c++)
        EG_TRY(eg_text_printf(out, "%s%s", c > 0 ? "," : "", titles[c]));
    EG_TRY(eg_text_puts(out, "\n"));
    for (size_t i = 0; i < rows->count; i++)
        EG_TRY(put_row(&rows->list[i], identity, out));
done:
    return status;
}

/* --- reading ------------------------------------------------------------------------------------ */

/* Takes a line apart; *count: its fields, of which the first COLUMNS are in `fields`. */
static eg_status take_line(eg_csv *csv, char *fields[COLUMNS], int *count)
{
    eg_status status = EG_OK;
    bool last = false;
    for (*count = 0; !last; ++*count) {
        char *field = NULL;
        EG_TRY(eg_csv_take(csv, &field, &last));
        if (*count < COLUMNS) fields[*count] = field;
    }
done:
    return status;
}

static eg_status read_header(eg_csv *csv)
{
    eg_status status = EG_OK;
    char *fields[COLUMNS] = {NULL};
    int count = 0;
    bool same;
    if (eg_csv_next_line(csv)) EG_TRY(take_line(csv, fields, &count));
    same = count == COLUMNS;
    for (int c = 0; same && c < COLUMNS; c++)
        same = strcmp(fields[c], titles[c]) == 0;
    if (!same)
        status =
            eg_fail(csv->ctx, EG_ERROR_INPUT,
                    "%s has other columns than a comparison writes: move it away, choose another "
                    "directory by --output, or begin anew with --fresh",
                    csv->name);
done:
    return status;
}

/* In what a row differs from the comparison; NULL: it belongs to it. */
static const char *difference(char *const fields[COLUMNS], const eg_compare_identity *identity)
{
    char ranks[16];
    snprintf(ranks, sizeof ranks, "%d", identity->ranks);
    const struct {
        int column;
        const char *wanted, *what;
    } parts[] = {{CASE, identity->case_hash, "the case or its mesh"},
                 {REPLACEMENTS, identity->replacements, "the replacements on the command line"},
                 {DEVICE, identity->device, "the device"},
                 {RANKS, ranks, "the number of ranks"},
                 {VERSION, identity->version, "the version of eagre"},
                 {OF, norms_of(identity), "what norms are of"}};
    for (size_t i = 0; i < EG_COUNT(parts); i++)
        if (strcmp(fields[parts[i].column], parts[i].wanted) != 0) return parts[i].what;
    return NULL;
}

/* False for fields that no row has. */
static eg_status parse_row(eg_csv *csv, char *const fields[COLUMNS], eg_compare_row *row, bool *ok)
{
    static const int numbers[] = {DEGREE,   CFL, REPEAT, ELEMENTS,           POINTS,     STEPS, H,
                                  NODAL_L2, L2,  LOOP_S, NS_PER_POINT_STAGE, REFERENCE_S};
    eg_status status = EG_OK;
    double value[COLUMNS];
    for (size_t i = 0; i < EG_COUNT(numbers); i++)
        EG_TRY(eg_csv_number(csv, fields[numbers[i]], &value[numbers[i]]));
    const bool stable = strcmp(fields[OUTCOME], "done") == 0;
    *ok = (stable || strcmp(fields[OUTCOME], "unstable") == 0) &&
          strlen(fields[SCHEME]) < EG_COMPARE_NAME && strlen(fields[CELLS]) < EG_COMPARE_CELLS &&
          value[DEGREE] >= 0 && value[DEGREE] < 1e4 && value[REPEAT] >= 1 && value[REPEAT] < 1e6 &&
          value[CFL] > 0;
    if (stable)
        *ok = *ok && value[ELEMENTS] >= 1 && value[POINTS] >= 1 && value[STEPS] >= 1 &&
              value[H] > 0 && isfinite(value[NODAL_L2]) && isfinite(value[L2]) &&
              value[LOOP_S] >= 0 && value[REFERENCE_S] > 0;
    if (!*ok) goto done;
    *row = (eg_compare_row){.of.degree = (int)value[DEGREE],
                            .cfl = value[CFL],
                            .repeat = (int)value[REPEAT],
                            .stable = stable};
    memcpy(row->of.scheme, fields[SCHEME], strlen(fields[SCHEME]) + 1);
    memcpy(row->of.cells, fields[CELLS], strlen(fields[CELLS]) + 1);
    if (!stable) goto done;
    row->elements = (int64_t)value[ELEMENTS];
    row->points = (int64_t)value[POINTS];
    row->steps = (int64_t)value[STEPS];
    row->h = value[H];
    row->nodal_l2 = value[NODAL_L2];
    row->l2 = value[L2];
    row->loop_s = value[LOOP_S];
    row->ns_per_point_stage = value[NS_PER_POINT_STAGE];
    row->reference_s = value[REFERENCE_S];
done:
    return status;
}

static eg_status read_row(eg_compare_rows *rows, const eg_compare_identity *identity, eg_csv *csv,
                          eg_compare_left_out *left_out)
{
    eg_status status = EG_OK;
    const int64_t line = csv->line;
    char *fields[COLUMNS] = {NULL};
    int count = 0;
    bool ok = false;
    eg_compare_row row;
    EG_TRY(take_line(csv, fields, &count));
    if (count == COLUMNS) EG_TRY(parse_row(csv, fields, &row, &ok));
    if (!ok)
        EG_TRY(eg_fail(csv->ctx, EG_ERROR_INPUT,
                       "line %" PRId64 " of %s is no row of a comparison: remove it, or begin anew "
                       "with --fresh",
                       line, csv->name));
    const char *what = difference(fields, identity);
    if (!what) EG_TRY(eg_compare_rows_add(rows, &row));
    if (what && left_out->foreign++ == 0) left_out->difference = what;
done:
    return status;
}

eg_status eg_compare_rows_read(eg_compare_rows *rows, const eg_compare_identity *identity,
                               const char *name, char *text, size_t length,
                               eg_compare_left_out *left_out)
{
    eg_status status = EG_OK;
    size_t whole = length;
    *left_out = (eg_compare_left_out){0};
    /* A line that does not end may be half of one. */
    while (whole > 0 && text[whole - 1] != '\n')
        whole--;
    left_out->cut = whole < length;
    text[whole] = '\0';
    eg_csv csv = eg_csv_new(rows->ctx, name, text, whole);
    if (whole == 0) goto done;
    EG_TRY(read_header(&csv));
    while (eg_csv_next_line(&csv))
        EG_TRY(read_row(rows, identity, &csv, left_out));
done:
    eg_csv_free(&csv);
    return status;
}
