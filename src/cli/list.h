/* Lists of values in options, "8,16,32", and what their entries may be. */
#ifndef EG_CLI_LIST_H
#define EG_CLI_LIST_H

#include "cli/cli.h"

#define CLI_LIST_MOST 32
#define CLI_ENTRY_BYTES 40
#define CLI_VALUE_BYTES (CLI_ENTRY_BYTES + 2)

typedef struct cli_list {
    size_t count;
    char text[CLI_LIST_MOST][CLI_ENTRY_BYTES];  /* as on the command line */
    char value[CLI_LIST_MOST][CLI_VALUE_BYTES]; /* as TOML */
} cli_list;

/* Makes TOML of an entry; false: it is none. */
typedef bool cli_entry(const char *text, char value[CLI_VALUE_BYTES]);
cli_entry cli_entry_cells;    /* "8" or "8x4" */
cli_entry cli_entry_degree;   /* a whole number of at most four digits */
cli_entry cli_entry_refined;  /* of at most two */
cli_entry cli_entry_positive; /* a number above 0 */

/* Reads what was given for `option`: entries between commas, none twice. `wanted` says what an
 * entry is, "a degree: 0, 1, 2 and so on". */
eg_status cli_read_list(eg_context *ctx, const char *option, const char *given, cli_entry *entry,
                        const char *wanted, cli_list *out);

/* What an option says cannot be replaced by "section.key=value", too. */
eg_status cli_check_not_replaced(eg_context *ctx, const cli_options *options, const char *option,
                                 const char *key);

#endif
