/* The directory of a run's results. Whose it is, a lock on a file of it tells, which ends with the process
 * whatever ends that. */
#define _DEFAULT_SOURCE
#include "report/directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ASIDE_MOST = 9999 };

/* What a run writes, and what it is together with: a folder of that name alone may be anybody's. */
static const struct {
    const char *name, *with;
} results[] = {{"fields.pvd", NULL},    {"fields", "fields.pvd"}, {"series.csv", NULL},
               {"lines", "series.csv"}, {"checkpoints", NULL},    {"summary.json", NULL}};

struct eg_directory {
    eg_context *ctx; /* not owned */
    char *path;
    int lock; /* < 0: not held */
};

static eg_status fail(eg_context *ctx, const char *path, const char *what)
{
    return eg_fail(ctx, EG_ERROR_IO, "%s: %s: %s", path, what, strerror(errno));
}

/* "DIRECTORY/name" in a buffer; a path that is too long is an error of its own. */
static eg_status join(const eg_directory *d, const char *name, char path[PATH_MAX])
{
    const int length = snprintf(path, PATH_MAX, "%s/%s", d->path, name);
    if (length >= 0 && length < PATH_MAX) return EG_OK;
    return eg_fail(d->ctx, EG_ERROR_IO, "%s/%s: the path is too long", d->path, name);
}

bool eg_directory_same(const char *a, const char *b)
{
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && one.st_dev == two.st_dev &&
           one.st_ino == two.st_ino;
}

/* --- making and taking ------------------------------------------------------------------------ */

/* Makes the entry of a new directory durable. */
static eg_status sync_parent(eg_context *ctx, const char *path)
{
    char parent[PATH_MAX];
    const char *slash = strrchr(path, '/');
    snprintf(parent, sizeof parent, "%.*s", slash ? (int)(slash - path) + 1 : 1,
             slash ? path : ".");
    const int file = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0) return fail(ctx, parent, "the directory cannot be opened");
    const int synced = fsync(file);
    close(file);
    return synced == 0 || errno == EINVAL ? EG_OK : fail(ctx, parent, "it cannot be synchronised");
}

static eg_status make(eg_context *ctx, const char *path)
{
    struct stat what;
    if (mkdir(path, 0777) == 0) return sync_parent(ctx, path);
    const int error = errno;
    if (error == EEXIST && stat(path, &what) == 0 && S_ISDIR(what.st_mode)) return EG_OK;
    errno = error;
    return fail(ctx, path, "the directory cannot be made");
}

/* Locks the file ".lock", and makes sure that it is still the one of that name. */
static eg_status take(eg_directory *d)
{
    eg_status status = EG_OK;
    char path[PATH_MAX];
    struct stat held, there;
    EG_TRY(join(d, ".lock", path));
    for (;;) {
        d->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (d->lock < 0) return fail(d->ctx, d->path, "nothing can be written there");
        if (flock(d->lock, LOCK_EX | LOCK_NB) != 0) {
            if (errno == EWOULDBLOCK)
                return eg_fail(
                    d->ctx, EG_ERROR_INPUT,
                    "another run is writing to %s: wait for it, or give this one another "
                    "output.directory",
                    d->path);
            if (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS) return EG_OK;
            return fail(d->ctx, path, "it cannot be locked");
        }
        if (fstat(d->lock, &held) == 0 && stat(path, &there) == 0 && held.st_ino == there.st_ino)
            return EG_OK;
        close(d->lock);
    }
done:
    return status;
}

/* --- moving aside ----------------------------------------------------------------------------- */

static eg_status is_there(const eg_directory *d, const char *name, bool *out)
{
    char path[PATH_MAX];
    const eg_status status = join(d, name, path);
    *out = status == EG_OK && access(path, F_OK) == 0;
    return status;
}

/* A free name beside the directory itself, wherever links lead to it; within it if it is "." or "..". */
static eg_status find_aside(const eg_directory *d, char aside[PATH_MAX])
{
    char resolved[PATH_MAX];
    const char *slash = strrchr(d->path, '/'), *last = slash ? slash + 1 : d->path;
    const bool within = strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
    if (!realpath(d->path, resolved)) return fail(d->ctx, d->path, "it cannot be found");
    for (int number = 1; number <= ASIDE_MOST; number++) {
        const int length = snprintf(aside, PATH_MAX, "%s%s.%d", within ? d->path : resolved,
                                    within ? "/earlier" : "", number);
        if (length < 0 || length >= PATH_MAX) break;
        if (mkdir(aside, 0777) == 0) return EG_OK;
        if (errno != EEXIST) return fail(d->ctx, aside, "earlier results cannot be moved there");
    }
    return eg_fail(d->ctx, EG_ERROR_IO, "%s: there is no free name for earlier results", d->path);
}

static eg_status move_aside(const eg_directory *d)
{
    eg_status status = EG_OK;
    bool moves[EG_COUNT(results)], any = false;
    char aside[PATH_MAX], from[PATH_MAX], to[PATH_MAX];
    for (size_t i = 0; i < EG_COUNT(results); i++) {
        EG_TRY(is_there(d, results[i].name, &moves[i]));
        if (moves[i] && results[i].with) EG_TRY(is_there(d, results[i].with, &moves[i]));
        any = any || moves[i];
    }
    if (!any) return EG_OK;
    EG_TRY(find_aside(d, aside));
    for (size_t i = 0; i < EG_COUNT(results); i++) {
        if (!moves[i]) continue;
        EG_TRY(join(d, results[i].name, from));
        if (snprintf(to, sizeof to, "%s/%s", aside, results[i].name) >= (int)sizeof to)
            EG_TRY(eg_fail(d->ctx, EG_ERROR_IO, "%s: the path is too long", aside));
        if (rename(from, to) != 0)
            EG_TRY(eg_fail(d->ctx, EG_ERROR_IO, "%s cannot be moved to %s: %s", from, aside,
                           strerror(errno)));
    }
    eg_log(d->ctx, EG_LOG_WARNING, "earlier results in %s are in %s now", d->path, aside);
done:
    return status;
}

/* --- cutting back ----------------------------------------------------------------------------- */

/* The step that is part of a file's name: its first number, or (lines) the one behind the last "-". -1:
 * it is not ours. */
static long long step_of(const char *name, bool line)
{
    const char *digits = line ? strrchr(name, '-') : name;
    if (!digits) return -1;
    if (line) digits++;
    const size_t count = strspn(digits, "0123456789");
    if (count < 8 || (digits[count] != '.' && digits[count] != '_')) return -1;
    return strtoll(digits, NULL, 10);
}

static eg_status cut_folder(const eg_directory *d, const char *name, bool lines, int64_t until)
{
    eg_status status = EG_OK;
    char folder[PATH_MAX], path[PATH_MAX];
    EG_TRY(join(d, name, folder));
    DIR *entries = opendir(folder);
    if (!entries) return errno == ENOENT ? EG_OK : fail(d->ctx, folder, "it cannot be read");
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (step_of(entry->d_name, lines) <= until) continue;
        if (snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path)
            continue;
        if (unlink(path) != 0 && errno != ENOENT) {
            status =
                fail(d->ctx, path, "it was written after the checkpoint and cannot be removed");
            break;
        }
    }
    closedir(entries);
done:
    return status;
}

static eg_status cut_back(const eg_directory *d, int64_t until)
{
    eg_status status = EG_OK;
    char path[PATH_MAX];
    EG_TRY(cut_folder(d, "fields", false, until));
    EG_TRY(cut_folder(d, "lines", true, until));
    EG_TRY(join(d, "summary.json", path));
    if (unlink(path) != 0 && errno != ENOENT)
        EG_TRY(fail(d->ctx, path, "it is out of date and cannot be removed"));
done:
    return status;
}

/* --- doors ------------------------------------------------------------------------------------ */

eg_status eg_directory_open(eg_context *ctx, const char *path, const int64_t *keep_until,
                            eg_directory **out)
{
    eg_status status = EG_OK;
    eg_directory *d = NULL;
    *out = NULL;
    EG_TRY(eg_new(ctx, 1, &d));
    d->ctx = ctx;
    d->lock = -1;
    EG_TRY(eg_copy_string(ctx, path, &d->path));
    EG_TRY(make(ctx, path));
    EG_TRY(take(d));
    EG_TRY(keep_until ? cut_back(d, *keep_until) : move_aside(d));
    *out = d;
    d = NULL;
done:
    eg_directory_close(&d);
    return status;
}

void eg_directory_close(eg_directory **directory)
{
    eg_directory *d = *directory;
    char path[PATH_MAX];
    if (!d) return;
    eg_context *ctx = d->ctx;
    /* Removed while it is held: whoever waits for it notices that it is another file now. */
    if (d->lock >= 0 && d->path && snprintf(path, sizeof path, "%s/.lock", d->path) < PATH_MAX &&
        flock(d->lock, LOCK_EX | LOCK_NB) == 0)
        (void)unlink(path);
    if (d->lock >= 0) close(d->lock);
    eg_release(ctx, &d->path);
    eg_release(ctx, directory);
}
