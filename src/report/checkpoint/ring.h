/* The directory of a run's checkpoints: which there are, and in which order they were written. */
#ifndef EG_REPORT_CHECKPOINT_RING_H
#define EG_REPORT_CHECKPOINT_RING_H

#include "base/base.h"

/* A directory in it that is named by a step. */
typedef struct eg_ring_entry {
    char *path; /* owned */
    int64_t step;
    int64_t
        sequence;   /* of its manifest, or, if that cannot be read, of its newest block; 0: none */
    int64_t newest; /* of its blocks' sequences, also of a writer that died */
    bool finished;  /* it has a manifest … */
    bool readable;  /* … which is not damaged */
} eg_ring_entry;

typedef struct eg_ring {
    eg_context *ctx; /* not owned */
    size_t count;
    eg_ring_entry *entries; /* [count] owned; the newest first: finished ones of which not even a
                               sequence is left, then by sequence, then by step */
} eg_ring;

/* Lists a directory; what is none, or cannot be read, is EG_ERROR_IO. Where it succeeds the context's
 * message may have changed. */
eg_status eg_ring_open(eg_context *ctx, const char *directory, eg_ring *out);
void eg_ring_close(eg_ring *ring);

/* The sequence of the next checkpoint. */
int64_t eg_ring_next(const eg_ring *ring);

/* Keeps the newest `keep` checkpoints with a readable manifest, and what is newer than the last of them;
 * removes all others, the oldest first, and what writers that died have left: directories without a
 * manifest, temporary files, blocks that no manifest names. What cannot be removed is logged. */
void eg_ring_trim(const eg_ring *ring, int keep);

/* Lets what was made or removed in a directory survive a power failure. */
eg_status eg_ring_sync(eg_context *ctx, const char *directory);

/* Names. */
#define EG_BLOCK_NAME_BYTES 64
void eg_block_name(char name[EG_BLOCK_NAME_BYTES], int64_t sequence, int rank, int block);
/* What the name of a block says: sequence, rank, block. False if it is none. */
bool eg_block_name_read(const char *name, int64_t parts[3]);
eg_status eg_ring_step_path(eg_context *ctx, const char *directory, int64_t step, char **out);

#endif
