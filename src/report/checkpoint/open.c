/* Opens checkpoints: finds the one that a path means, verifies all of it, and says of a damaged one which
 * earlier one is whole. */
#define _GNU_SOURCE
#include "report/checkpoint/open.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/checkpoint/ring.h"

#define CHUNK ((size_t)1 << 20)

/* --- which one -------------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
    struct stat what;
    return stat(path, &what) == 0 && S_ISDIR(what.st_mode);
}

/* The text of a path without slashes at its end and, with `up`, without its last part. */
static eg_status put_path(eg_text *out, const char *path, bool up)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (!up) return eg_text_add(out, path, length);
    while (length > 0 && path[length - 1] != '/')
        length--;
    if (length == 0) return eg_text_puts(out, ".");
    while (length > 1 && path[length - 1] == '/')
        length--;
    return eg_text_add(out, path, length);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool exists_in(eg_context *ctx, const char *directory, const char *name)
{
    eg_text path = eg_text_new(ctx);
    struct stat what;
    const bool found =
        eg_text_printf(&path, "%s/%s", directory, name) == EG_OK && stat(path.data, &what) == 0;
    eg_text_free(&path);
    return found;
}

static bool has_finished(const eg_ring *ring)
{
    for (size_t i = 0; i < ring->count; i++)
        if (ring->entries[i].finished) return true;
    return false;
}

/* The ring of a directory, or of "checkpoints" in it if no checkpoint is in the first. */
static eg_status open_ring(eg_context *ctx, const char *directory, eg_ring *ring)
{
    eg_status status = EG_OK;
    eg_text inner = eg_text_new(ctx);
    EG_TRY(eg_ring_open(ctx, directory, ring));
    EG_TRY(eg_text_printf(&inner, "%s/checkpoints", directory));
    if (!has_finished(ring) && is_directory(inner.data)) {
        eg_ring_close(ring);
        EG_TRY(eg_ring_open(ctx, inner.data, ring));
    }
done:
    eg_text_free(&inner);
    return status == EG_ERROR_IO ? EG_ERROR_INPUT : status;
}

/* The newest checkpoint of a directory; nothing is added if there is none. */
static eg_status find_newest(eg_context *ctx, const char *directory, eg_text *out)
{
    eg_status status = EG_OK;
    eg_ring ring = {0};
    EG_TRY(open_ring(ctx, directory, &ring));
    for (size_t i = 0; i < ring.count && out->length == 0; i++)
        if (ring.entries[i].finished) EG_TRY(eg_text_puts(out, ring.entries[i].path));
done:
    eg_ring_close(&ring);
    return status;
}

/* True for the last part of a path that is named by a step. */
static bool is_step(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    return digits >= 8 && name[digits] == '\0';
}

/* The directory of the checkpoint that a path means. */
static eg_status find_checkpoint(eg_context *ctx, const char *path, eg_text *out)
{
    struct stat what;
    eg_status status = EG_OK;
    eg_text directory = eg_text_new(ctx);
    if (stat(path, &what) != 0)
        return eg_fail(ctx, EG_ERROR_INPUT, "cannot open %s: %s", path, strerror(errno));
    if (!S_ISDIR(what.st_mode)) {
        if (strcmp(last_part(path), EG_MANIFEST_NAME) == 0) return put_path(out, path, true);
        return eg_fail(
            ctx, EG_ERROR_INPUT,
            "%s is not a checkpoint: name its directory, or the " EG_MANIFEST_NAME " in it", path);
    }
    EG_TRY(put_path(&directory, path, false));
    if (exists_in(ctx, directory.data, EG_MANIFEST_NAME))
        EG_TRY(eg_text_puts(out, directory.data));
    else
        EG_TRY(find_newest(ctx, directory.data, out));
    /* The writing of one that has no manifest has not ended; opening it says so. */
    if (out->length == 0 && is_step(last_part(directory.data)))
        EG_TRY(eg_text_puts(out, directory.data));
    if (out->length == 0)
        status = eg_fail(ctx, EG_ERROR_INPUT, "there is no checkpoint in %s", path);
done:
    eg_text_free(&directory);
    return status;
}

/* --- whether it is whole ---------------------------------------------------------------------- */

/* Hashes an open file; *length is how much there was. Returns 0 or an errno. */
static int hash_file(int file, unsigned char *chunk, int64_t *length, char hex[EG_SHA256_HEX])
{
    unsigned char digest[EG_SHA256_BYTES];
    eg_sha256 hash;
    eg_sha256_init(&hash);
    *length = 0;
    for (;;) {
        const ssize_t got = read(file, chunk, CHUNK);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return errno;
        if (got == 0) break;
        eg_sha256_add(&hash, chunk, (size_t)got);
        *length += got;
    }
    eg_sha256_end(&hash, digest);
    eg_sha256_hex(digest, hex);
    return 0;
}

static eg_status block_path(const eg_checkpoint *c, int block, eg_text *out)
{
    return eg_text_printf(out, "%s/%s", c->path, c->manifest->info.blocks[block].file);
}

static eg_status wrong_length(eg_context *ctx, const char *path, int64_t length, int64_t expected)
{
    return eg_fail(ctx, EG_ERROR_INPUT,
                   "%s has %" PRId64 " bytes and should have %" PRId64
                   ": it was cut off or changed",
                   path, length, expected);
}

static eg_status wrong_sum(eg_context *ctx, const char *path)
{
    return eg_fail(ctx, EG_ERROR_INPUT,
                   "%s has another checksum than its manifest says: it was changed", path);
}

/* Fails unless the file of a block is what the manifest says. */
static eg_status verify_block(const eg_checkpoint *c, int block, unsigned char *chunk)
{
    const eg_checkpoint_block *expected = &c->manifest->info.blocks[block];
    eg_status status = EG_OK;
    eg_text path = eg_text_new(c->ctx);
    char hex[EG_SHA256_HEX];
    int64_t length = 0;
    struct stat what;
    int file = -1, error = 0;
    EG_TRY(block_path(c, block, &path));
    file = open(path.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 || fstat(file, &what) != 0)
        error = errno;
    else if (what.st_size != expected->bytes)
        status = wrong_length(c->ctx, path.data, what.st_size, expected->bytes);
    else if (!(error = hash_file(file, chunk, &length, hex)) && length != expected->bytes)
        status = wrong_length(c->ctx, path.data, length, expected->bytes);
    else if (!error && strcmp(hex, expected->sha256) != 0)
        status = wrong_sum(c->ctx, path.data);
    if (error)
        status = eg_fail(c->ctx, eg_manifest_lost(error) ? EG_ERROR_INPUT : EG_ERROR_IO,
                         "cannot read %s: %s", path.data, strerror(error));
done:
    if (file >= 0) close(file);
    eg_text_free(&path);
    return status;
}

/* Verifies every `stride`-th block from `first` on. */
static eg_status verify_blocks(const eg_checkpoint *c, int first, int stride)
{
    eg_status status = EG_OK;
    unsigned char *chunk = NULL;
    EG_TRY(eg_allocate(c->ctx, CHUNK, (void **)&chunk));
    for (int i = first; i < c->manifest->info.block_count; i += stride)
        EG_TRY(verify_block(c, i, chunk));
done:
    eg_release(c->ctx, &chunk);
    return status;
}

/* Opens the checkpoint in a directory and verifies a share of it. EG_ERROR_INPUT: it is damaged;
 * EG_ERROR_IO: it cannot be read, and may be whole; EG_ERROR_UNSUPPORTED: its format is a newer one. */
static eg_status open_directory(eg_context *ctx, const char *directory, int rank, int size,
                                eg_checkpoint **out)
{
    eg_status status = EG_OK;
    eg_checkpoint *c = NULL;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &c));
    c->ctx = ctx;
    c->loaded.block = -1;
    EG_TRY(eg_copy_string(ctx, directory, &c->path));
    EG_TRY(eg_manifest_open(ctx, directory, &c->file));
    eg_manifest_get(c->file)->info.path = c->path;
    c->manifest = eg_manifest_get(c->file);
    EG_TRY(verify_blocks(c, rank, size));
    *out = c;
    c = NULL;
done:
    eg_checkpoint_close(&c);
    return status;
}

/* --- what to do with a damaged one ------------------------------------------------------------ */

/* Adds what is to be said of the newest whole checkpoint that is older than the one in `directory`. */
static eg_status offer_earlier(eg_context *ctx, const char *directory, eg_text *out)
{
    eg_status status = EG_OK;
    eg_text parent = eg_text_new(ctx);
    eg_ring ring = {0};
    eg_checkpoint *earlier = NULL;
    size_t i = 0;
    EG_TRY(put_path(&parent, directory, true));
    EG_TRY(eg_ring_open(ctx, parent.data, &ring));
    while (i < ring.count && strcmp(last_part(ring.entries[i].path), last_part(directory)) != 0)
        i++;
    if (i == ring.count) goto done; /* it is not one of a directory of checkpoints */
    for (i++; i < ring.count && !earlier; i++)
        if (ring.entries[i].finished) open_directory(ctx, ring.entries[i].path, 0, 1, &earlier);
    if (earlier)
        EG_TRY(eg_text_printf(
            out, "; the checkpoint before it is whole: %s (step %" PRId64 ", time %.6g)",
            earlier->path, earlier->manifest->info.step, earlier->manifest->info.time));
    else
        EG_TRY(eg_text_puts(out, "; no earlier checkpoint is whole"));
done:
    eg_checkpoint_close(&earlier);
    eg_ring_close(&ring);
    eg_text_free(&parent);
    return status;
}

/* Says of a checkpoint that could not be opened what is known beside it. Only where it is damaged an
 * earlier one is of use. */
static eg_status explain(eg_context *ctx, const char *directory, eg_status status)
{
    eg_text message = eg_text_new(ctx);
    const char *what = status == EG_ERROR_INPUT         ? "is damaged"
                       : status == EG_ERROR_IO          ? "cannot be read"
                       : status == EG_ERROR_UNSUPPORTED ? "was written by a newer eagre"
                                                        : NULL;
    if (!what) return status;
    if (eg_text_printf(&message, "the checkpoint %s %s: %s", directory, what,
                       eg_context_error(ctx)) == EG_OK) {
        /* Where nothing can be found out, that is all there is to say. */
        if (status == EG_ERROR_INPUT) (void)offer_earlier(ctx, directory, &message);
        eg_fail(ctx, EG_ERROR_INPUT, "%s", message.data);
    }
    eg_text_free(&message);
    return EG_ERROR_INPUT;
}

/* --- the door --------------------------------------------------------------------------------- */

eg_status eg_checkpoint_open(eg_context *ctx, eg_comm *comm, const char *path, eg_checkpoint **out)
{
    eg_text directory = eg_text_new(ctx);
    eg_status status;
    *out = NULL;
    status = find_checkpoint(ctx, path, &directory);
    if (status == EG_OK) {
        status = open_directory(ctx, directory.data, comm ? eg_comm_rank(comm) : 0,
                                comm ? eg_comm_size(comm) : 1, out);
        status = explain(ctx, directory.data, status);
    }
    if (comm) status = eg_comm_agree(comm, status);
    if (status != EG_OK) eg_checkpoint_close(out);
    eg_text_free(&directory);
    return status;
}

void eg_checkpoint_close(eg_checkpoint **handle)
{
    eg_checkpoint *c = *handle;
    if (!c) return;
    eg_checkpoint_unload(c);
    eg_manifest_close(&c->file);
    eg_release(c->ctx, &c->path);
    eg_release(c->ctx, handle);
}

const eg_checkpoint_info *eg_checkpoint_get_info(const eg_checkpoint *checkpoint)
{
    return &checkpoint->manifest->info;
}

double eg_checkpoint_number(const eg_checkpoint *checkpoint, const char *name, double fallback)
{
    const eg_checkpoint_info *info = &checkpoint->manifest->info;
    for (int i = 0; i < info->number_count; i++)
        if (strcmp(info->number_names[i], name) == 0) return info->numbers[i];
    return fallback;
}

eg_status eg_checkpoint_list(eg_context *ctx, const char *directory, size_t *count, char ***paths)
{
    eg_status status = EG_OK;
    eg_ring ring = {0};
    *count = 0;
    *paths = NULL;
    EG_TRY(open_ring(ctx, directory, &ring));
    EG_TRY(eg_new(ctx, ring.count, paths));
    for (size_t i = 0; i < ring.count; i++) {
        if (!ring.entries[i].finished) continue;
        (*paths)[(*count)++] = ring.entries[i].path;
        ring.entries[i].path = NULL; /* the caller's now */
    }
done:
    eg_ring_close(&ring);
    return status;
}

/* --- loading a block -------------------------------------------------------------------------- */

void eg_checkpoint_unload(eg_checkpoint *c)
{
    eg_image_close(&c->loaded.image);
    eg_release(c->ctx, &c->loaded.global);
    eg_release(c->ctx, &c->loaded.shape);
    c->loaded.block = -1;
}

/* Reads the file of a block as an image. */
static eg_status open_image(eg_checkpoint *c, int block, eg_image **out)
{
    const eg_checkpoint_block *expected = &c->manifest->info.blocks[block];
    eg_status status = EG_OK;
    eg_text path = eg_text_new(c->ctx);
    char *bytes = NULL, hex[EG_SHA256_HEX];
    size_t length = 0;
    EG_TRY(block_path(c, block, &path));
    status = eg_file_read(c->ctx, path.data, &bytes, &length);
    if (status == EG_ERROR_IO) status = EG_ERROR_INPUT;
    if (status != EG_OK) goto done;
    if ((int64_t)length != expected->bytes) {
        status = wrong_length(c->ctx, path.data, (int64_t)length, expected->bytes);
        goto done;
    }
    eg_manifest_sum(bytes, length, hex);
    if (strcmp(hex, expected->sha256) != 0) {
        status = wrong_sum(c->ctx, path.data);
        goto done;
    }
    EG_TRY(eg_image_open(c->ctx, path.data, bytes, length, out));
done:
    eg_release(c->ctx, &bytes);
    eg_text_free(&path);
    return status;
}

/* Fails unless the elements of a block are what the manifest says of them. */
static eg_status check_elements(const eg_checkpoint *c, int block)
{
    const eg_checkpoint_block *expected = &c->manifest->info.blocks[block];
    for (int64_t i = 0; i < expected->elements; i++) {
        const int64_t global = c->loaded.global[i];
        const int shape = c->loaded.shape[i];
        if (global < expected->first || global > expected->last || shape >= EG_SHAPE_COUNT ||
            eg_shape_get_info((eg_shape)shape)->dim != c->manifest->info.dim)
            return eg_fail(c->ctx, EG_ERROR_INPUT,
                           "%s/%s: its element %" PRId64 " (number %" PRId64
                           ", shape %d) cannot be one of this checkpoint",
                           c->path, expected->file, i, global, shape);
    }
    return EG_OK;
}

eg_status eg_checkpoint_load(eg_checkpoint *c, int block)
{
    const eg_checkpoint_block *expected = &c->manifest->info.blocks[block];
    const size_t count = (size_t)expected->elements;
    eg_status status = EG_OK;
    if (c->loaded.block == block) return EG_OK;
    eg_checkpoint_unload(c);
    if (expected->elements > expected->bytes / (int64_t)sizeof(int64_t))
        return eg_fail(c->ctx, EG_ERROR_INPUT,
                       "%s/%s cannot hold %" PRId64 " elements in %" PRId64 " bytes", c->path,
                       expected->file, expected->elements, expected->bytes);
    EG_TRY(open_image(c, block, &c->loaded.image));
    EG_TRY(eg_new(c->ctx, count, &c->loaded.global));
    EG_TRY(eg_new(c->ctx, count, &c->loaded.shape));
    EG_TRY(eg_image_get(c->loaded.image, "elements", EG_I64, count, c->loaded.global));
    EG_TRY(eg_image_get(c->loaded.image, "shapes", EG_U8, count, c->loaded.shape));
    EG_TRY(check_elements(c, block));
    c->loaded.block = block;
done:
    if (status != EG_OK) eg_checkpoint_unload(c);
    return status;
}
