/* The on-disk cache of compiled kernels.
 *
 * One file per entry, "KEY.bin": the binary itself, then a trailer that vouches for it. A linker
 * ignores what follows a shared object, so the file can be given to dlopen as it is. An entry is
 * trusted only after every byte of it was verified: a truncated shared object kills the process in
 * dlopen, a bit-flipped one loads silently.
 *
 *     binary       length bytes
 *     magic        8 bytes
 *     version      8 bytes, little-endian, as all numbers here
 *     length       8 bytes
 *     SHA-256      32 bytes, of the binary
 *     key          64 bytes, hexadecimal, as in the name
 *
 * Entries appear by rename and are never changed in place, so processes may race: each sees a whole
 * entry or none, and a mapped entry stays valid when it is replaced. Code is loaded from here, so
 * the directory must be ours and closed to others; if it is not, nothing is read or written there.
 */
#define _GNU_SOURCE
#include "device/backend.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define KEY_LENGTH (EG_SHA256_HEX - 1)
#define FORMAT_VERSION 1
#define TRAILER_BYTES (8 + 8 + 8 + EG_SHA256_BYTES + KEY_LENGTH)
#define STALE_SECONDS 3600

static const char magic[9] = "EGCACHE\n";

static eg_status check_key(eg_context *ctx, const char *key_hex)
{
    /* The key becomes a file name: nothing but hexadecimal digits may pass. */
    if (strlen(key_hex) == KEY_LENGTH && strspn(key_hex, "0123456789abcdef") == KEY_LENGTH)
        return EG_OK;
    return eg_fail(ctx, EG_ERROR_ARGUMENT,
                   "\"%s\" is not a cache key: %d hexadecimal digits are needed", key_hex,
                   KEY_LENGTH);
}

/* Writes the directory's name, without trailing slashes, to `path`. */
static eg_status directory_name(eg_context *ctx, eg_text *path)
{
    const char *set = eg_context_cache_dir(ctx);
    const char *xdg = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    eg_status status;
    if (set && set[0])
        status = eg_text_puts(path, set);
    else if (xdg && xdg[0] == '/')
        status = eg_text_printf(path, "%s/eagre", xdg);
    else if (home && home[0] == '/')
        status = eg_text_printf(path, "%s/.cache/eagre", home);
    else
        return eg_fail(ctx, EG_ERROR_IO, "neither EAGRE_CACHE_DIR, XDG_CACHE_HOME nor HOME is set");

    /* lstat of "link/" would follow the link. */
    while (status == EG_OK && path->length > 1 && path->data[path->length - 1] == '/')
        path->data[--path->length] = '\0';
    return status;
}

/* Makes every missing directory of `path`; what is there already stays as it is. */
static eg_status make_directories(eg_context *ctx, char *path)
{
    for (char *end = path + 1;; end++) {
        if (*end != '/' && *end != '\0') continue;
        char ended_by = *end;
        *end = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            /* The message is set before the slash is put back: it names the part that failed. */
            eg_status status = eg_fail(ctx, EG_ERROR_IO, "the directory %s cannot be made: %s",
                                       path, strerror(errno));
            *end = ended_by;
            return status;
        }
        *end = ended_by;
        if (ended_by == '\0') return EG_OK;
    }
}

/* Finds the directory and says whether it may be trusted: EG_ERROR_IO with the reason if not. */
static eg_status open_directory(eg_context *ctx, bool create, eg_text *path)
{
    eg_status status = directory_name(ctx, path);
    if (status != EG_OK) return status;
    if (create) {
        status = make_directories(ctx, path->data);
        if (status != EG_OK) return status;
    }

    struct stat info;
    if (lstat(path->data, &info) != 0)
        return eg_fail(ctx, EG_ERROR_IO, "%s: %s", path->data, strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return eg_fail(ctx, EG_ERROR_IO, "%s is not a directory%s", path->data,
                       S_ISLNK(info.st_mode) ? " but a symbolic link" : "");
    if (info.st_uid != geteuid())
        return eg_fail(ctx, EG_ERROR_IO, "%s belongs to user %lu, not to you (%lu)", path->data,
                       (unsigned long)info.st_uid, (unsigned long)geteuid());
    if (info.st_mode & 077)
        return eg_fail(ctx, EG_ERROR_IO, "%s is open to other users (mode %03o); chmod 700 it",
                       path->data, (unsigned)info.st_mode & 0777u);
    return EG_OK;
}

static void store_u64(unsigned char bytes[8], uint64_t value)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
}

static void make_trailer(unsigned char trailer[TRAILER_BYTES], const char *key_hex,
                         const void *binary, size_t length)
{
    eg_sha256 hash;
    eg_sha256_init(&hash);
    eg_sha256_add(&hash, binary, length);
    memcpy(trailer, magic, 8);
    store_u64(trailer + 8, FORMAT_VERSION);
    store_u64(trailer + 16, length);
    eg_sha256_end(&hash, trailer + 24);
    memcpy(trailer + 24 + EG_SHA256_BYTES, key_hex, KEY_LENGTH);
}

/* True if the file is exactly what a put of its binary under this key had written. */
static bool is_whole(const char *data, size_t length, const char *key_hex)
{
    unsigned char trailer[TRAILER_BYTES];
    if (length < TRAILER_BYTES) return false;
    make_trailer(trailer, key_hex, data, length - TRAILER_BYTES);
    return memcmp(data + length - TRAILER_BYTES, trailer, TRAILER_BYTES) == 0;
}

eg_status eg_cache_get(eg_context *ctx, const char *key_hex, eg_blob *blob, char **path,
                       bool *found)
{
    eg_status status = EG_OK;
    eg_text name = eg_text_new(ctx);
    char *data = NULL;
    size_t length = 0;
    *blob = (eg_blob){0};
    if (path) *path = NULL;
    *found = false;

    EG_TRY(check_key(ctx, key_hex));
    EG_TRY(open_directory(ctx, false, &name));
    EG_TRY(eg_text_printf(&name, "/%s.bin", key_hex));
    if (access(name.data, F_OK) != 0) goto done;
    EG_TRY(eg_file_read(ctx, name.data, &data, &length));

    if (!is_whole(data, length, key_hex)) {
        eg_log(ctx, EG_LOG_WARNING, "the cached kernel %s is damaged and will be built again",
               name.data);
        unlink(name.data);
        goto done;
    }
    blob->data = data;
    blob->length = length - TRAILER_BYTES;
    data = NULL;
    if (path) {
        *path = name.data; /* the block is the caller's now */
        name = eg_text_new(ctx);
    }
    *found = true;
done:
    eg_release(ctx, &data);
    eg_text_free(&name);
    /* What cannot be read is absent: it is built again, and the put says what is wrong. */
    return status == EG_ERROR_IO ? EG_OK : status;
}

/* Removes temporary files whose writers died long ago; failing to is harmless. */
static void remove_stale(const char *directory)
{
    DIR *list = opendir(directory);
    if (!list) return;
    time_t now = time(NULL);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        struct stat info;
        if (!strstr(entry->d_name, ".bin.tmp.")) continue;
        if (fstatat(dirfd(list), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            now - info.st_mtime > STALE_SECONDS)
            unlinkat(dirfd(list), entry->d_name, 0);
    }
    closedir(list);
}

/* Writes the entry to the cache directory; *path is set on success only. */
static eg_status put_entry(eg_context *ctx, const char *key_hex, const void *data, size_t length,
                           char **path)
{
    eg_status status = EG_OK;
    eg_text name = eg_text_new(ctx);
    EG_TRY(open_directory(ctx, true, &name));
    remove_stale(name.data);
    EG_TRY(eg_text_printf(&name, "/%s.bin", key_hex));
    EG_TRY(eg_file_write_atomic(ctx, name.data, data, length, 0700, false));
    *path = name.data; /* the block is the caller's now */
    name = eg_text_new(ctx);
done:
    eg_text_free(&name);
    return status;
}

eg_status eg_cache_put(eg_context *ctx, const char *key_hex, const eg_blob *blob, char **path,
                       bool *temporary)
{
    eg_status status = EG_OK;
    char *entry = NULL;
    *path = NULL;
    *temporary = false;

    EG_TRY(check_key(ctx, key_hex));
    EG_TRY(eg_new(ctx, blob->length + TRAILER_BYTES, &entry));
    if (blob->length) memcpy(entry, blob->data, blob->length);
    make_trailer((unsigned char *)entry + blob->length, key_hex, blob->data, blob->length);

    status = put_entry(ctx, key_hex, entry, blob->length + TRAILER_BYTES, path);
    if (status == EG_ERROR_IO) {
        eg_log_once(ctx, EG_LOG_WARNING,
                    "compiled kernels are not kept for the next run: %s. Set EAGRE_CACHE_DIR to a "
                    "directory of your own",
                    eg_context_error(ctx));
        status = eg_file_write_temporary(ctx, "eagre-kernel-", entry, blob->length + TRAILER_BYTES,
                                         path);
        *temporary = status == EG_OK;
    }
done:
    eg_release(ctx, &entry);
    return status;
}
