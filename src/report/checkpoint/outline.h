/* What the manifest of a checkpoint says of the run: all that is known before anything is written. */
#ifndef EG_REPORT_CHECKPOINT_OUTLINE_H
#define EG_REPORT_CHECKPOINT_OUTLINE_H

#include "report/checkpoint/manifest.h"

typedef struct eg_outline {
    eg_manifest manifest; /* without sequence, mesh, degrees and blocks */
    eg_checkpoint_field fields[EG_STATE_FIELDS_MAX];
    const char *number_names[EG_STATE_NUMBERS_MAX];
    double numbers[EG_STATE_NUMBERS_MAX];
    char written[32];
    eg_text case_text; /* with an end; owned */
} eg_outline;

/* Fills in an outline, which points to itself and must not be moved. To be closed even if it fails. */
eg_status eg_outline_open(const eg_checkpoint_options *options, const eg_state *state, int ranks,
                          eg_outline *out);
void eg_outline_close(eg_outline *outline);

/* Fails, with advice, if a manifest with so many blocks would be too long to be read again. */
eg_status eg_outline_check(const eg_outline *outline, int64_t blocks);

#endif
