/* What the files of `eagre plot` share. */
#ifndef EG_CLI_PLOT_H
#define EG_CLI_PLOT_H

#include "cli/cli.h"
#include "report/report.h"

/* Fields at one time or several: the files that hold them. */
typedef struct cli_frames {
    eg_context *ctx; /* not owned */
    size_t count;
    char **files;  /* [count] owned, as is each */
    double *times; /* [count] owned; NULL: they are in the files */
    bool series;   /* from a .pvd file */
} cli_frames;

/* plot_open.c: lists what `path` names, a .vtu, .pvtu or .pvd file or a checkpoint. Free it also
 * after a failure. */
eg_status cli_frames_list(eg_context *ctx, const char *path, cli_frames *frames);
void cli_frames_free(cli_frames *frames);
eg_status cli_frames_read(const cli_frames *frames, size_t index, eg_snapshot **out);

#endif
