/* Tables of text: the same cells as aligned columns for a terminal or as Markdown.
 *
 * Cells are added one after another and fill the rows; the first failure sticks and
 * eg_table_render reports it.
 */
#ifndef EG_TABLE_H
#define EG_TABLE_H

#include "base/base.h"

typedef struct eg_column {
    const char *title; /* not owned */
    bool left;         /* text; numbers stand right */
} eg_column;

typedef enum eg_table_style { EG_TABLE_PLAIN, EG_TABLE_MARKDOWN } eg_table_style;

typedef struct eg_table {
    eg_context *ctx;          /* not owned */
    const eg_column *columns; /* not owned */
    size_t column_count;
    eg_text cells; /* one NUL-terminated string after another, row by row */
    size_t cell_count;
    eg_status status;
} eg_table;

eg_table eg_table_new(eg_context *ctx, const eg_column *columns, size_t column_count);
void eg_table_free(eg_table *table);
void eg_table_cell(eg_table *table, const char *format, ...) EG_PRINTF(2, 3);
/* Appends the table to `out`; the last row must be complete. */
eg_status eg_table_render(const eg_table *table, eg_table_style style, eg_text *out);

#endif
