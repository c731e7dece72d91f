/* The manifest of a checkpoint: TOML that says what it holds, and ends with a line that holds the
 * SHA-256 of all before it. */
#ifndef EG_REPORT_MANIFEST_H
#define EG_REPORT_MANIFEST_H

#include "report/checkpoint/checkpoint.h"
#include "report/checkpoint/manifest_seal.h"
#include "report/checkpoint/mesh.h"
#include "report/checkpoint/ring.h"

/* What a manifest says. */
typedef struct eg_manifest {
    eg_checkpoint_info info; /* without its path */
    eg_mesh_identity mesh;
} eg_manifest;

/* The most bytes that a block adds to the file: six lines with a name, a sum and four numbers. */
#define EG_MANIFEST_BLOCK_BYTES (6 * 6 + (EG_BLOCK_NAME_BYTES + 2) + (EG_SHA256_HEX + 1) + 4 * 16)

/* Adds the file to `out`. */
eg_status eg_manifest_write(const eg_manifest *manifest, eg_text *out);

/* A manifest that was read, with the memory of what it says. */
typedef struct eg_manifest_file eg_manifest_file;

/* Reads the text of a file of this name: whatever is wrong with it is EG_ERROR_INPUT, and a format that is
 * newer than ours EG_ERROR_UNSUPPORTED. What it says holds together: lists that belong together have one length, names of files are names of blocks, the blocks
 * have as many elements as the mesh. */
eg_status eg_manifest_read(eg_context *ctx, const char *name, const char *text, size_t length,
                           eg_manifest_file **out);
/* The text of the manifest in a directory; release with eg_release. EG_ERROR_INPUT: it is missing or
 * damaged; EG_ERROR_IO: it cannot be read, and may be whole. */
eg_status eg_manifest_load(eg_context *ctx, const char *directory, char **text, size_t *length);
/* Both. */
eg_status eg_manifest_open(eg_context *ctx, const char *directory, eg_manifest_file **out);
void eg_manifest_close(eg_manifest_file **file);
eg_manifest *eg_manifest_get(eg_manifest_file *file);

/* Fails unless fields of a state can have this name: it is part of a path within the blocks. */
eg_status eg_manifest_check_name(eg_context *ctx, const char *name);

#endif
