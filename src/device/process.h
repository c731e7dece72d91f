/* Running another program and waiting for it. */
#ifndef EG_PROCESS_H
#define EG_PROCESS_H

#include "base/base.h"

/* Finds the executable file `name` on the PATH; a name with a slash is taken as it is. Writes its
 * path, and returns false if there is none or it does not fit. */
bool eg_process_find(const char *name, char *path, size_t size);

/* The exit code of a child that was reaped by somebody else. */
#define EG_PROCESS_UNKNOWN (-1)

/* Runs argv[0], a path, with no input and with both outputs going to the file `log`; waits for it.
 * *code is its exit code, 128 + N if signal N ended it, or EG_PROCESS_UNKNOWN. */
eg_status eg_process_run(eg_context *ctx, const char *const *argv, const char *log, int *code);

/* Makes an empty directory that only this user may enter, under TMPDIR or /tmp. */
eg_status eg_process_make_directory(eg_context *ctx, char *path, size_t size);

#endif
