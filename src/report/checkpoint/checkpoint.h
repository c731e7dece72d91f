/* Checkpoints: everything that a run needs to go on, in files that survive what happens to it.
 *
 *     DIRECTORY/00000120/000017-0000-000.h5 …   blocks (sequence-rank-block): HDF5, made in memory
 *     DIRECTORY/00000120/manifest.toml          last: a checkpoint without it does not exist
 *
 * Every file is written under a temporary name, fsynced, renamed, and its directory fsynced. The
 * manifest names every block with its size and SHA-256 and ends with that of itself. Elements are
 * stored by their global numbers with their degrees, so that any number of ranks, any degree, basis or
 * device can go on. A block holds at most so many bytes of values as the options say, and only one is
 * in memory at a time.
 *
 * The sequence counts the checkpoints that were written to a directory: the newest is the one written
 * last, whatever its step, and a checkpoint of a step that is there already replaces it at once. */
#ifndef EG_REPORT_CHECKPOINT_H
#define EG_REPORT_CHECKPOINT_H

#include "base/comm.h"
#include "case/case.h"
#include "report/snapshot.h"
#include "report/state.h"

typedef struct eg_checkpoint_options {
    const char
        *directory; /* of all checkpoints of a run; made if it is missing (its parent is there) */
    int keep;       /* so many are kept, the oldest removed behind a new one; 0: 2 */
    size_t block_bytes; /* 0: 64 MiB */
    const char *model;
    const eg_case *cas; /* its text and replacements are kept, see eg_case_get_source; NULL: none */
    const char *device; /* in words */
    const char *version; /* eg_version(), and the state of the source tree where that is known */
} eg_checkpoint_options;

/* Writes the state as a checkpoint named by its step. Collective: what fails on one rank fails on all,
 * with the path and the reason, and earlier checkpoints are as they were. EG_ERROR_UNSUPPORTED: eagre
 * was built without HDF5; EG_ERROR_NUMERIC: time, dt or a number is NaN. *path (NULL: not wanted) is the
 * checkpoint's own directory; release with eg_release. Of a field a block is on the host at a time, and
 * with it the file that it becomes, twice for a moment. */
eg_status eg_checkpoint_write(const eg_checkpoint_options *options, eg_comm *comm,
                              const eg_state *state, char **path);

typedef struct eg_checkpoint eg_checkpoint;

typedef struct eg_checkpoint_field {
    const char *name;
    eg_basis basis;
    int components;
    const char *const *names; /* [components] */
    const char *const *units; /* [components] each may be NULL */
    bool kept_only;
    int degree_least, degree_most;
} eg_checkpoint_field;

/* A file of a checkpoint. */
typedef struct eg_checkpoint_block {
    const char *file;   /* its name in the checkpoint's directory */
    const char *sha256; /* of all its bytes, in hexadecimal digits */
    int rank;           /* that has written it */
    int64_t bytes, elements;
    int64_t first, last; /* the range of its elements' global numbers */
} eg_checkpoint_block;

/* What a checkpoint says of itself; all of it is its own. */
typedef struct eg_checkpoint_info {
    const char *path;                               /* its directory */
    const char *model, *version, *device, *written; /* written: when, "2026-11-16T09:00:00Z" */
    const char *case_path, *case_text;              /* as the run was started; "": not known */
    const char *const *replacements;                /* [replacement_count] "section.key=value" */
    size_t replacement_count;
    int64_t sequence; /* how many were written to its directory, with this one */
    int64_t step;
    double time, dt;
    int ranks, dim;
    int64_t elements, dof, bytes; /* dof: values of all fields that are not kept_only */
    int field_count, number_count, block_count;
    const eg_checkpoint_field *fields;
    const char *const *number_names;
    const double *numbers;
    const eg_checkpoint_block *blocks;
} eg_checkpoint_info;

/* Opens a checkpoint: `path` is its manifest or directory, or a directory of checkpoints (or one that
 * holds such a directory called "checkpoints"): of these the newest. All checksums are verified. A
 * damaged one is EG_ERROR_INPUT that says which file and what is wrong with it, and which earlier one
 * is whole; it is never taken instead. One of a newer eagre, or that must not be read, is EG_ERROR_INPUT
 * that says so. With a communicator all ranks open together and share the blocks
 * that are to be verified; NULL: this process does so alone. */
eg_status eg_checkpoint_open(eg_context *ctx, eg_comm *comm, const char *path, eg_checkpoint **out);
void eg_checkpoint_close(eg_checkpoint **checkpoint);
const eg_checkpoint_info *eg_checkpoint_get_info(const eg_checkpoint *checkpoint);

/* The checkpoints of a directory, or of one that holds it by the name "checkpoints": their paths, newest
 * first, whether they are whole or not. Release each path and the list. */
eg_status eg_checkpoint_list(eg_context *ctx, const char *directory, size_t *count, char ***paths);

/* Removes from a directory of checkpoints those that were written after the one of this sequence, the
 * newest first, and those of which not even a sequence is left: a run that goes on from it leaves them
 * behind, and they must be neither kept nor offered in place of its own. The manifest goes first, and
 * what is gone stays gone after a power failure. One that cannot be removed is EG_ERROR_IO; a directory
 * that is missing has none. Not collective: one rank calls. */
eg_status eg_checkpoint_abandon(eg_context *ctx, const char *directory, int64_t sequence);

/* Fails unless the checkpoint is of this mesh (of which this may be a rank's part): the same elements
 * at the same places, to rounding. Collective. */
eg_status eg_checkpoint_check_mesh(eg_checkpoint *checkpoint, eg_comm *comm, const eg_mesh *mesh);

/* What is read below comes from those blocks that hold elements asked for, one after the other, each
 * verified again. */

/* The degrees of the elements of a field, ghosts too: degrees [elements + ghosts]. */
eg_status eg_checkpoint_read_degrees(eg_checkpoint *checkpoint, const char *field,
                                     const eg_mesh *mesh, uint8_t *degrees);
/* Fills a field, its ghosts and padding too: bit for bit where degree and basis are the same, else by
 * projection on the reference element. Its components are found by their names, wherever they stand in
 * the checkpoint, which may have more of them: names [components]; NULL: they are as many, in this
 * order. Collective. This rank's part of the field is on the host for a while. */
eg_status eg_checkpoint_read_field(eg_checkpoint *checkpoint, const char *name,
                                   const char *const *names, eg_field *field);
/* The number of this name; `fallback` if there is none. */
double eg_checkpoint_number(const eg_checkpoint *checkpoint, const char *name, double fallback);

/* All fields that are not kept_only, on a whole mesh. */
eg_status eg_checkpoint_snapshot(eg_checkpoint *checkpoint, const eg_mesh *whole,
                                 eg_snapshot **out);

#endif
