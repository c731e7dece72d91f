/* Progress of commands that take long, on standard error. */
#ifndef EG_CLI_PROGRESS_H
#define EG_CLI_PROGRESS_H

#include "cli/cli.h"

/* A line in place of the one before on a terminal, behind it elsewhere. */
void cli_show_progress(const char *format, ...) EG_PRINTF(1, 2);
/* Erases the line if one was drawn on a terminal. To be called before anything else is printed. */
void cli_clear_progress(void);

/* "40 s", "3 min 20 s", "2 h 5 min"; returns `text`. */
const char *cli_time_text(double seconds, char text[40]);

/* True on a terminal, if not --json was given: for work of seconds, whose progress nobody wants in a
 * log. */
bool cli_draws_progress(const cli_options *options);

/* Options of a run whose time loop draws its progress behind `name` ("": none), which must outlive
 * the run; on a terminal only, and not with --json. */
eg_run_options cli_run_options(const cli_options *options, const char *name);

#endif
