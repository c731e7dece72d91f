/* Whole files: read at once, and written so that nobody ever sees half of one.
 *
 * A file is written under a temporary name "PATH.tmp.PID.COUNTER" that only its writer can create
 * (O_EXCL), then renamed. Whatever fails on the way, the temporary file is removed and an older
 * file of the final name stays as it was. A process that is killed leaves the temporary one behind.
 */
#define _GNU_SOURCE
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static eg_status file_failed(eg_context *ctx, const char *action, const char *path, int error)
{
    return eg_fail(ctx, EG_ERROR_IO, "cannot %s %s: %s", action, path, strerror(error));
}

eg_status eg_file_read(eg_context *ctx, const char *path, char **data, size_t *length)
{
    eg_status status = EG_OK;
    void *block = NULL;
    int file = -1;
    *data = NULL;
    *length = 0;

    /* O_NONBLOCK: a pipe under that name is refused below and must not hang the open. */
    file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        status = file_failed(ctx, "open", path, errno);
        goto done;
    }
    struct stat info;
    if (fstat(file, &info) != 0) {
        status = file_failed(ctx, "examine", path, errno);
        goto done;
    }
    if (!S_ISREG(info.st_mode)) {
        status = eg_fail(ctx, EG_ERROR_IO, "cannot read %s: it is not a regular file", path);
        goto done;
    }

    /* Read to the end rather than to st_size: the file may grow or shrink meanwhile. */
    size_t capacity = (size_t)info.st_size + 1, used = 0;
    EG_TRY(eg_reallocate(ctx, capacity, &block));
    for (;;) {
        if (used == capacity) {
            if (capacity > SIZE_MAX / 2) {
                status = eg_fail(ctx, EG_ERROR_IO, "cannot read %s: it is too large", path);
                goto done;
            }
            EG_TRY(eg_reallocate(ctx, 2 * capacity, &block));
            capacity *= 2;
        }
        ssize_t got = read(file, (char *)block + used, capacity - used);
        if (got == 0) break;
        if (got > 0)
            used += (size_t)got;
        else if (errno != EINTR) {
            status = file_failed(ctx, "read", path, errno);
            goto done;
        }
    }
    ((char *)block)[used] = '\0'; /* used < capacity, else the loop had gone on */
    *data = block;
    *length = used;
    block = NULL;
done:
    if (file >= 0) close(file);
    eg_release(ctx, &block);
    return status;
}

/* Creates a file that is not there yet, beside `path`; its name is left in `name`. Returns the
 * descriptor, or -1 with the message set in *status. */
static int create_temporary(eg_context *ctx, const char *path, unsigned mode, eg_text *name,
                            eg_status *status)
{
    static atomic_uint counter;
    /* A name can be taken by a dead writer of the same process id, or by another machine. */
    for (int attempt = 0; attempt < 1000; attempt++) {
        eg_text_clear(name);
        *status = eg_text_printf(name, "%s.tmp.%ld.%u", path, (long)getpid(),
                                 atomic_fetch_add(&counter, 1u));
        if (*status != EG_OK) return -1;
        int file = open(name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, (mode_t)mode);
        if (file >= 0) return file;
        if (errno != EEXIST && errno != EINTR) break;
    }
    *status = file_failed(ctx, "create", name->data, errno);
    return -1;
}

static int write_all(int file, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t put = write(file, data, length);
        if (put < 0) {
            if (errno == EINTR) continue;
            return errno;
        }
        data += put;
        length -= (size_t)put;
    }
    return 0;
}

/* Makes a rename in the directory of `path` survive a power failure. */
static eg_status sync_directory(eg_context *ctx, const char *path)
{
    eg_status status = EG_OK;
    eg_text name = eg_text_new(ctx);
    int directory = -1;
    const char *slash = strrchr(path, '/');
    if (!slash)
        EG_TRY(eg_text_puts(&name, "."));
    else
        EG_TRY(eg_text_add(&name, path, slash == path ? 1 : (size_t)(slash - path)));

    directory = open(name.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    /* EINVAL: a file system that cannot sync directories; then there is nothing to wait for. */
    if (directory < 0 || (fsync(directory) != 0 && errno != EINVAL))
        status = file_failed(ctx, "sync the directory", name.data, errno);
done:
    if (directory >= 0) close(directory);
    eg_text_free(&name);
    return status;
}

static eg_status write_failed(eg_context *ctx, const char *path, size_t length, int error)
{
    return eg_fail(ctx, EG_ERROR_IO, "cannot write %zu bytes to %s: %s%s", length, path,
                   strerror(error),
                   error == ENOSPC || error == EDQUOT ? "; free some space there" : "");
}

/* Writes everything and closes the file in any case. Returns 0 or an errno. */
static int write_and_close(int file, const void *data, size_t length, bool durable)
{
    int error = write_all(file, data, length);
    if (!error && durable && fsync(file) != 0) error = errno;
    /* A network file system may report a full disk only here. */
    if (close(file) != 0 && !error && errno != EINTR) error = errno;
    return error;
}

eg_status eg_file_write_atomic(eg_context *ctx, const char *path, const void *data, size_t length,
                               unsigned mode, bool durable)
{
    eg_status status = EG_OK;
    eg_text name = eg_text_new(ctx);
    bool created = false;

    int file = create_temporary(ctx, path, mode, &name, &status);
    if (file < 0) goto done;
    created = true;

    int error = write_and_close(file, data, length, durable);
    if (error) {
        status = write_failed(ctx, path, length, error);
        goto done;
    }
    if (rename(name.data, path) != 0) {
        status = file_failed(ctx, "rename the finished file to", path, errno);
        goto done;
    }
    created = false;
    if (durable) EG_TRY(sync_directory(ctx, path));
done:
    if (created) unlink(name.data);
    eg_text_free(&name);
    return status;
}

eg_status eg_file_write_temporary(eg_context *ctx, const char *prefix, const void *data,
                                  size_t length, char **path)
{
    eg_status status = EG_OK;
    eg_text name = eg_text_new(ctx);
    const char *directory = getenv("TMPDIR");
    *path = NULL;

    EG_TRY(eg_text_printf(&name, "%s/%sXXXXXX", directory && directory[0] ? directory : "/tmp",
                          prefix));
    int file = mkostemp(name.data, O_CLOEXEC);
    if (file < 0) {
        status = eg_fail(ctx, EG_ERROR_IO,
                         "cannot create a temporary file %s: %s; set TMPDIR to a directory where "
                         "you may write",
                         name.data, strerror(errno));
        goto done;
    }
    int error = write_and_close(file, data, length, false);
    if (error) {
        status = write_failed(ctx, name.data, length, error);
        unlink(name.data);
        goto done;
    }
    *path = name.data; /* the block is the caller's now */
    name = eg_text_new(ctx);
done:
    eg_text_free(&name);
    return status;
}
