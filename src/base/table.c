/* Lays tables out: column widths are counted in characters, not bytes, of UTF-8. */
#include "base/table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

eg_table eg_table_new(eg_context *ctx, const eg_column *columns, size_t column_count)
{
    return (eg_table){.ctx = ctx,
                      .columns = columns,
                      .column_count = column_count,
                      .cells = eg_text_new(ctx),
                      .status = EG_OK};
}

void eg_table_free(eg_table *table)
{
    eg_text_free(&table->cells);
}

void eg_table_cell(eg_table *table, const char *format, ...)
{
    if (table->status != EG_OK) return;
    char cell[256];
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(cell, sizeof cell, format, arguments);
    va_end(arguments);
    assert(n >= 0 && n < (int)sizeof cell);
    table->status = eg_text_add(&table->cells, cell, strlen(cell) + 1);
    table->cell_count++;
    (void)n;
}

static size_t width_of(const char *s)
{
    size_t width = 0;
    for (; *s; s++)
        width += ((unsigned char)*s & 0xc0) != 0x80;
    return width;
}

static eg_status pad(eg_text *out, size_t count, const char *with)
{
    eg_status status = EG_OK;
    for (size_t i = 0; i < count; i++)
        EG_TRY(eg_text_puts(out, with));
done:
    return status;
}

/* One cell of a row: `last` cells on the left are not padded, so that no line ends in blanks. */
static eg_status put_cell(eg_text *out, const char *cell, size_t width, bool left, bool last)
{
    eg_status status = EG_OK;
    size_t blanks = width - width_of(cell);
    if (!left) EG_TRY(pad(out, blanks, " "));
    EG_TRY(eg_text_puts(out, cell));
    if (left && !last) EG_TRY(pad(out, blanks, " "));
done:
    return status;
}

/* `row` is the first cell of a row, NULL for the titles; *next receives the cell behind it. */
static eg_status put_row(const eg_table *table, const size_t *widths, const char *row,
                         eg_table_style style, eg_text *out, const char **next)
{
    eg_status status = EG_OK;
    bool markdown = style == EG_TABLE_MARKDOWN;
    for (size_t c = 0; c < table->column_count; c++) {
        const char *cell = row ? row : table->columns[c].title;
        bool last = c + 1 == table->column_count && !markdown;
        EG_TRY(eg_text_puts(out, markdown ? "| " : c > 0 ? "  " : ""));
        EG_TRY(put_cell(out, cell, widths[c], table->columns[c].left, last));
        if (markdown) EG_TRY(eg_text_puts(out, " "));
        if (row) row += strlen(row) + 1;
    }
    EG_TRY(eg_text_puts(out, markdown ? "|\n" : "\n"));
    *next = row;
done:
    return status;
}

static eg_status put_rule(const eg_table *table, const size_t *widths, eg_text *out)
{
    eg_status status = EG_OK;
    for (size_t c = 0; c < table->column_count; c++) {
        EG_TRY(eg_text_puts(out, "|"));
        EG_TRY(pad(out, widths[c] + 1, "-"));
        EG_TRY(eg_text_puts(out, table->columns[c].left ? "-" : ":"));
    }
    EG_TRY(eg_text_puts(out, "|\n"));
done:
    return status;
}

eg_status eg_table_render(const eg_table *table, eg_table_style style, eg_text *out)
{
    eg_status status = table->status;
    size_t *widths = NULL;
    if (status != EG_OK) return status;
    assert(table->cell_count % table->column_count == 0);
    EG_TRY(eg_new(table->ctx, table->column_count, &widths));
    for (size_t c = 0; c < table->column_count; c++)
        widths[c] = width_of(table->columns[c].title);
    const char *cell = eg_text_string(&table->cells);
    for (size_t i = 0; i < table->cell_count; i++) {
        size_t width = width_of(cell), c = i % table->column_count;
        if (width > widths[c]) widths[c] = width;
        cell += strlen(cell) + 1;
    }

    const char *next = NULL;
    EG_TRY(put_row(table, widths, NULL, style, out, &next));
    if (style == EG_TABLE_MARKDOWN) EG_TRY(put_rule(table, widths, out));
    next = eg_text_string(&table->cells);
    for (size_t i = 0; i < table->cell_count; i += table->column_count) {
        EG_TRY(put_row(table, widths, next, style, out, &next));
    }
done:
    eg_release(table->ctx, &widths);
    return status;
}
