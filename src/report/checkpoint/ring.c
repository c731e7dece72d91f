/* The ring of checkpoints: their directories, the order in which they were written, removal.
 *
 * The order is that of the sequences in manifests; of damaged ones that in the names of blocks, so that
 * the newest checkpoint is the newest whatever has happened to it. Only files with names of our own are
 * ever removed. The manifest goes first: from then on the checkpoint does not exist, whatever is left of
 * it. */
#define _GNU_SOURCE
#include "report/checkpoint/ring.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/checkpoint/manifest.h"

/* --- names ------------------------------------------------------------------------------------ */

/* Reads at least `least` digits, at most 18; returns what is behind them, NULL if they are not there. */
static const char *read_digits(const char *text, int least, int64_t *out)
{
    int digits = 0;
    *out = 0;
    for (; isdigit((unsigned char)*text); text++, digits++) {
        if (digits == 18) return NULL;
        *out = *out * 10 + (*text - '0');
    }
    return digits >= least ? text : NULL;
}

static const char *skip(const char *text, const char *word)
{
    const size_t length = strlen(word);
    return text && strncmp(text, word, length) == 0 ? text + length : NULL;
}

void eg_block_name(char name[EG_BLOCK_NAME_BYTES], int64_t sequence, int rank, int block)
{
    snprintf(name, EG_BLOCK_NAME_BYTES, "%06" PRId64 "-%04d-%03d.h5", sequence, rank, block);
}

/* What follows the name of a block in a text; NULL if it does not begin with one. */
static const char *behind_block_name(const char *text, int64_t parts[3])
{
    text = read_digits(text, 6, &parts[0]);
    if ((text = skip(text, "-"))) text = read_digits(text, 4, &parts[1]);
    if ((text = skip(text, "-"))) text = read_digits(text, 3, &parts[2]);
    return skip(text, ".h5");
}

bool eg_block_name_read(const char *name, int64_t parts[3])
{
    const char *end = behind_block_name(name, parts);
    return end && !*end;
}

eg_status eg_ring_step_path(eg_context *ctx, const char *directory, int64_t step, char **out)
{
    eg_text text = eg_text_new(ctx);
    const size_t length = strlen(directory);
    const eg_status status =
        eg_text_printf(&text, "%s%s%08" PRId64, directory,
                       length > 0 && directory[length - 1] == '/' ? "" : "/", step);
    if (status != EG_OK) eg_text_free(&text);
    *out = text.data; /* the block is the caller's now */
    return status;
}

/* --- what there is ---------------------------------------------------------------------------- */

/* The sequence of a manifest; 0 if there is something wrong with it. */
static int64_t read_sequence(eg_context *ctx, const char *directory)
{
    char *text = NULL;
    size_t length = 0;
    const bool read = eg_manifest_load(ctx, directory, &text, &length) == EG_OK;
    const int64_t sequence = read ? eg_manifest_sequence(text, length) : 0;
    eg_release(ctx, &text);
    return sequence;
}

/* Finds out about the directory of an entry; one that cannot be read has nothing. */
static void examine(eg_context *ctx, eg_ring_entry *entry)
{
    DIR *folder = opendir(entry->path);
    if (!folder) return;
    for (struct dirent *file; (file = readdir(folder));) {
        int64_t parts[3];
        if (strcmp(file->d_name, EG_MANIFEST_NAME) == 0) entry->finished = true;
        if (eg_block_name_read(file->d_name, parts) && parts[0] > entry->newest)
            entry->newest = parts[0];
    }
    closedir(folder);
    entry->sequence = entry->finished ? read_sequence(ctx, entry->path) : 0;
    entry->readable = entry->sequence > 0;
    if (!entry->readable) entry->sequence = entry->newest;
}

static int compare_entries(const void *a, const void *b)
{
    const eg_ring_entry *x = a, *y = b;
    const bool first = x->finished && x->sequence == 0, second = y->finished && y->sequence == 0;
    if (first != second) return first ? -1 : 1;
    if (x->sequence != y->sequence) return x->sequence > y->sequence ? -1 : 1;
    return x->step > y->step ? -1 : x->step < y->step;
}

static eg_status add_entry(eg_ring *ring, const char *directory, const char *name, int64_t step)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(ring->ctx);
    EG_TRY(eg_reallocate(ring->ctx, (ring->count + 1) * sizeof *ring->entries,
                         (void **)&ring->entries));
    EG_TRY(eg_text_printf(&path, "%s/%s", directory, name));
    ring->entries[ring->count] = (eg_ring_entry){.path = path.data, .step = step};
    path = eg_text_new(ring->ctx);
    examine(ring->ctx, &ring->entries[ring->count++]);
done:
    eg_text_free(&path);
    return status;
}

eg_status eg_ring_open(eg_context *ctx, const char *directory, eg_ring *out)
{
    eg_status status = EG_OK;
    *out = (eg_ring){.ctx = ctx};
    DIR *folder = opendir(directory);
    if (!folder)
        return eg_fail(ctx, EG_ERROR_IO, "cannot list the directory %s: %s", directory,
                       strerror(errno));
    for (struct dirent *file; (file = readdir(folder));) {
        int64_t step;
        const char *end = read_digits(file->d_name, 8, &step);
        if (end && !*end) EG_TRY(add_entry(out, directory, file->d_name, step));
    }
    if (out->count > 0) qsort(out->entries, out->count, sizeof *out->entries, compare_entries);
done:
    closedir(folder);
    if (status != EG_OK) eg_ring_close(out);
    return status;
}

void eg_ring_close(eg_ring *ring)
{
    for (size_t i = 0; i < ring->count; i++)
        eg_release(ring->ctx, &ring->entries[i].path);
    eg_release(ring->ctx, &ring->entries);
    ring->count = 0;
}

int64_t eg_ring_next(const eg_ring *ring)
{
    int64_t last = 0;
    for (size_t i = 0; i < ring->count; i++) {
        const eg_ring_entry *entry = &ring->entries[i];
        if (entry->newest > last) last = entry->newest;
        if (entry->sequence > last) last = entry->sequence;
    }
    return last + 1;
}

/* --- removal ---------------------------------------------------------------------------------- */

/* True for temporary files, and for blocks but those of the sequence `kept`. */
static bool is_left_over(const char *name, int64_t kept)
{
    int64_t parts[3];
    const char *end = behind_block_name(name, parts);
    if (end && !*end) return parts[0] != kept;
    return skip(end ? end : skip(name, EG_MANIFEST_NAME), ".tmp.") != NULL;
}

eg_status eg_ring_sync(eg_context *ctx, const char *directory)
{
    eg_status status = EG_OK;
    const int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* EINVAL: a file system that cannot sync directories. */
    if (folder < 0 || (fsync(folder) != 0 && errno != EINVAL))
        status = eg_fail(ctx, EG_ERROR_IO, "cannot sync the directory %s: %s", directory,
                         strerror(errno));
    if (folder >= 0) close(folder);
    return status;
}

static void remove_file(const eg_ring *ring, const char *directory, const char *name)
{
    eg_text path = eg_text_new(ring->ctx);
    if (eg_text_printf(&path, "%s/%s", directory, name) == EG_OK && unlink(path.data) != 0 &&
        errno != ENOENT)
        eg_log(ring->ctx, EG_LOG_WARNING, "cannot remove %s: %s", path.data, strerror(errno));
    eg_text_free(&path);
}

static void remove_left_over(const eg_ring *ring, const eg_ring_entry *entry, int64_t kept)
{
    DIR *folder = opendir(entry->path);
    if (!folder) return;
    for (struct dirent *file; (file = readdir(folder));)
        if (is_left_over(file->d_name, kept)) remove_file(ring, entry->path, file->d_name);
    closedir(folder);
}

/* Removes what is left of a checkpoint that has no manifest any more. */
static void remove_rest(const eg_ring *ring, const eg_ring_entry *entry)
{
    remove_left_over(ring, entry, 0);
    /* What somebody else has put there stays, and the directory with it. */
    if (rmdir(entry->path) != 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT)
        eg_log(ring->ctx, EG_LOG_WARNING, "cannot remove the directory %s: %s", entry->path,
               strerror(errno));
}

void eg_ring_trim(const eg_ring *ring, int keep)
{
    size_t end = 0; /* of those that stay */
    for (int kept = 0; end < ring->count && kept < keep; end++)
        kept += ring->entries[end].readable;
    for (size_t i = ring->count; i-- > 0;) {
        const eg_ring_entry *entry = &ring->entries[i];
        if (entry->finished && i < end) {
            if (entry->readable) remove_left_over(ring, entry, entry->sequence);
            continue;
        }
        if (entry->finished) remove_file(ring, entry->path, EG_MANIFEST_NAME);
        remove_rest(ring, entry);
    }
}

/* Removes a manifest for good: without it there is no checkpoint. */
static eg_status remove_manifest(const eg_ring *ring, const eg_ring_entry *entry)
{
    eg_status status = EG_OK;
    eg_text path = eg_text_new(ring->ctx);
    EG_TRY(eg_text_printf(&path, "%s/" EG_MANIFEST_NAME, entry->path));
    if (unlink(path.data) != 0 && errno != ENOENT)
        EG_TRY(eg_fail(ring->ctx, EG_ERROR_IO,
                       "cannot remove %s, which was written after the checkpoint that the run goes "
                       "on from: %s",
                       path.data, strerror(errno)));
    EG_TRY(eg_ring_sync(ring->ctx, entry->path));
done:
    eg_text_free(&path);
    return status;
}

eg_status eg_checkpoint_abandon(eg_context *ctx, const char *directory, int64_t sequence)
{
    eg_status status = EG_OK;
    eg_ring ring = {0};
    if (access(directory, F_OK) != 0 && errno == ENOENT) return EG_OK;
    EG_TRY(eg_ring_open(ctx, directory, &ring));
    for (size_t i = 0; i < ring.count; i++) {
        const eg_ring_entry *entry = &ring.entries[i];
        const bool known = entry->sequence > 0 || !entry->finished;
        if (known && entry->sequence <= sequence) continue;
        if (entry->finished) EG_TRY(remove_manifest(&ring, entry));
        remove_rest(&ring, entry);
    }
    EG_TRY(eg_ring_sync(ctx, directory));
done:
    eg_ring_close(&ring);
    return status;
}
