/* The directory of a run's results: one run at a time writes there, a new one moves earlier results aside,
 * one that goes on cuts them back. Used by one rank. */
#ifndef EG_REPORT_DIRECTORY_H
#define EG_REPORT_DIRECTORY_H

#include "base/base.h"

typedef struct eg_directory eg_directory;

/* Makes the directory if it is missing (its parent is there) and takes it for this run until it is closed:
 * another that writes there is EG_ERROR_INPUT. `keep_until` NULL: results that are there are moved to
 * PATH.1 or the next that is free, and nothing else that is there; a warning in the log says so. Else: what
 * was written after this step is removed: fields, lines, the summary. */
eg_status eg_directory_open(eg_context *ctx, const char *path, const int64_t *keep_until,
                            eg_directory **out);
void eg_directory_close(eg_directory **directory);

/* True if both are one directory. */
bool eg_directory_same(const char *a, const char *b);

#endif
