/* The cache of compiled kernels: nothing damaged, foreign or half-written is ever returned. */
#include "test.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "device/backend.h"

#define TRAILER 120 /* bytes that an entry adds to its blob */

/* A fresh directory per test; the cache is its subdirectory "cache", TMPDIR its "tmp". */
typedef struct room {
    char root[PATH_MAX], cache[PATH_MAX + 8], tmp[PATH_MAX + 8];
    char *tmpdir_before;
    eg_context_options options;
    eg_context *ctx;
} room;

static int set_up(void **state)
{
    room *r = calloc(1, sizeof *r);
    const char *before = getenv("TMPDIR");
    r->tmpdir_before = before ? strdup(before) : NULL;
    test_directory_create(r->root);
    snprintf(r->cache, sizeof r->cache, "%s/cache", r->root);
    snprintf(r->tmp, sizeof r->tmp, "%s/tmp", r->root);
    assert_int_equal(mkdir(r->tmp, 0700), 0);
    setenv("TMPDIR", r->tmp, 1);
    r->options = test_context_options();
    r->options.cache_dir = r->cache;
    r->ctx = test_context_with(&r->options);
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    room *r = *state;
    test_context_free(&r->ctx);
    if (r->tmpdir_before)
        setenv("TMPDIR", r->tmpdir_before, 1);
    else
        unsetenv("TMPDIR");
    test_directory_remove(r->root);
    free(r->tmpdir_before);
    free(r);
    return 0;
}

static void make_key(unsigned number, char key[EG_SHA256_HEX])
{
    unsigned char digest[EG_SHA256_BYTES];
    eg_sha256 hash;
    eg_sha256_init(&hash);
    eg_sha256_add(&hash, &number, sizeof number);
    eg_sha256_end(&hash, digest);
    eg_sha256_hex(digest, key);
}

/* Puts `bytes` and checks that they went to the cache proper. */
static void put(room *r, const char *key, const char *bytes, size_t length)
{
    char *path = NULL;
    bool temporary = true;
    char *copy = malloc(length + 1);
    memcpy(copy, bytes, length);
    TEST_OK(r->ctx, eg_cache_put(r->ctx, key, &(eg_blob){copy, length}, &path, &temporary));
    free(copy);
    assert_false(temporary);
    assert_int_equal(access(path, R_OK), 0);
    eg_release(r->ctx, &path);
}

static bool get_equals(eg_context *ctx, const char *key, const char *bytes, size_t length)
{
    eg_blob blob;
    bool found = false;
    TEST_OK(ctx, eg_cache_get(ctx, key, &blob, NULL, &found));
    if (!found) {
        assert_null(blob.data);
        return false;
    }
    assert_int_equal(blob.length, length);
    assert_memory_equal(blob.data, bytes, length);
    eg_release(ctx, &blob.data);
    return true;
}

static int count_files(const char *directory)
{
    int count = 0;
    DIR *list = opendir(directory);
    if (!list) return 0;
    for (struct dirent *e; (e = readdir(list)) != NULL;)
        count += e->d_name[0] != '.';
    closedir(list);
    return count;
}

static void entry_path(const room *r, const char *key, char *path, size_t size)
{
    snprintf(path, size, "%s/%s.bin", r->cache, key);
}

/* Writes raw bytes, as damage does. */
static void overwrite(const char *path, const char *bytes, size_t length)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void test_cache__get_returns_what_put_stored(void **state)
{
    room *r = *state;
    char key[EG_SHA256_HEX], other[EG_SHA256_HEX];
    make_key(1, key);
    make_key(2, other);
    assert_false(get_equals(r->ctx, key, NULL, 0));
    put(r, key, "bin\0ary", 7);
    put(r, other, "", 0);
    assert_true(get_equals(r->ctx, key, "bin\0ary", 7));
    assert_true(get_equals(r->ctx, other, "", 0));
    put(r, key, "newer", 5);
    assert_true(get_equals(r->ctx, key, "newer", 5));
    assert_string_equal(test_log, "");
    struct stat info;
    assert_int_equal(stat(r->cache, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);

    eg_blob blob;
    bool found, temporary;
    char *path = NULL;
    TEST_FAILS(r->ctx, EG_ERROR_ARGUMENT, "../x",
               eg_cache_get(r->ctx, "../x", &blob, &path, &found));
    TEST_FAILS(r->ctx, EG_ERROR_ARGUMENT, "../x",
               eg_cache_put(r->ctx, "../x", &(eg_blob){0}, &path, &temporary));
}

static int find_cmocka(struct dl_phdr_info *info, size_t size, void *name)
{
    (void)size;
    if (!strstr(info->dlpi_name, "libcmocka")) return 0;
    snprintf(name, PATH_MAX, "%s", info->dlpi_name);
    return 1;
}

static void test_cache__a_shared_object_loads_from_its_entry(void **state)
{
    room *r = *state;
    char library[PATH_MAX] = "", key[EG_SHA256_HEX];
    make_key(1, key);
    dl_iterate_phdr(find_cmocka, library);
    if (!library[0]) skip(); /* linked statically: no shared object at hand */
    char *data = NULL, *path = NULL;
    size_t length = 0;
    eg_blob blob;
    bool found = false;
    TEST_OK(r->ctx, eg_file_read(r->ctx, library, &data, &length));
    put(r, key, data, length);
    eg_release(r->ctx, &data);
    TEST_OK(r->ctx, eg_cache_get(r->ctx, key, &blob, &path, &found));
    assert_true(found);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) fail_msg("%s", dlerror());
    assert_non_null(dlsym(handle, "_cmocka_run_group_tests"));
    assert_ptr_not_equal(dlsym(handle, "_cmocka_run_group_tests"), _cmocka_run_group_tests);
    dlclose(handle);
    eg_release(r->ctx, &path);
    eg_release(r->ctx, &blob.data);
}

static void test_cache__truncated_entry_is_removed_and_rebuilt(void **state)
{
    room *r = *state;
    char key[EG_SHA256_HEX], path[2 * PATH_MAX], *data = NULL;
    size_t length = 0;
    make_key(1, key);
    entry_path(r, key, path, sizeof path);
    put(r, key, "a small binary", 14);
    TEST_OK(r->ctx, eg_file_read(r->ctx, path, &data, &length));
    assert_int_equal(length, 14 + TRAILER);
    for (size_t cut = 0; cut < length; cut++) {
        overwrite(path, data, cut);
        test_log[0] = '\0';
        assert_false(get_equals(r->ctx, key, NULL, 0));
        assert_non_null(strstr(test_log, "damaged"));
        assert_int_equal(access(path, F_OK), -1);
    }
    put(r, key, "a small binary", 14);
    assert_true(get_equals(r->ctx, key, "a small binary", 14));
    eg_release(r->ctx, &data);
}

static void test_cache__any_flipped_bit_is_found(void **state)
{
    room *r = *state;
    char key[EG_SHA256_HEX], path[2 * PATH_MAX], *data = NULL;
    size_t length = 0;
    make_key(1, key);
    entry_path(r, key, path, sizeof path);
    put(r, key, "a small binary", 14);
    TEST_OK(r->ctx, eg_file_read(r->ctx, path, &data, &length));
    for (size_t bit = 0; bit < 8 * length; bit++) {
        data[bit / 8] = (char)(data[bit / 8] ^ 1 << bit % 8);
        overwrite(path, data, length);
        if (get_equals(r->ctx, key, "a small binary", 14)) fail_msg("bit %zu passed", bit);
        assert_int_equal(access(path, F_OK), -1);
        data[bit / 8] = (char)(data[bit / 8] ^ 1 << bit % 8);
    }
    overwrite(path, data, length);
    assert_true(get_equals(r->ctx, key, "a small binary", 14));
    eg_release(r->ctx, &data);
}

static void test_cache__entry_of_another_key_or_with_bytes_added_is_damaged(void **state)
{
    room *r = *state;
    char key[EG_SHA256_HEX], other[EG_SHA256_HEX], path[2 * PATH_MAX], to[2 * PATH_MAX];
    make_key(1, key);
    make_key(2, other);
    entry_path(r, key, path, sizeof path);
    entry_path(r, other, to, sizeof to);
    put(r, key, "binary", 6);
    assert_int_equal(rename(path, to), 0);
    assert_false(get_equals(r->ctx, other, NULL, 0));

    put(r, key, "binary", 6);
    FILE *file = fopen(path, "ab");
    assert_non_null(file);
    fputc('x', file);
    fclose(file);
    assert_false(get_equals(r->ctx, key, NULL, 0));
}

/* What a directory that may not be used must lead to: a private file elsewhere, one warning. */
static void expect_fallback(room *r, const char *cache_dir, const char *reason)
{
    eg_context_options options = r->options;
    options.cache_dir = cache_dir;
    eg_context *ctx = NULL;
    test_log[0] = '\0';
    assert_int_equal(eg_context_create(&options, &ctx), EG_OK);
    for (unsigned i = 0; i < 3; i++) {
        char key[EG_SHA256_HEX], *path = NULL, bytes[] = "binary";
        bool temporary = false;
        struct stat info;
        make_key(i, key);
        assert_false(get_equals(ctx, key, NULL, 0));
        TEST_OK(ctx, eg_cache_put(ctx, key, &(eg_blob){bytes, 6}, &path, &temporary));
        assert_true(temporary);
        assert_int_equal(strncmp(path, r->tmp, strlen(r->tmp)), 0);
        assert_int_equal(stat(path, &info), 0);
        assert_int_equal(info.st_mode & 077, 0);
        assert_int_equal(info.st_size, 6 + TRAILER);
        assert_int_equal(unlink(path), 0);
        assert_false(get_equals(ctx, key, NULL, 0));
        eg_release(ctx, &path);
    }
    if (!strstr(test_log, reason)) fail_msg("\"%s\" does not say \"%s\"", test_log, reason);
    assert_ptr_equal(strchr(test_log, '\n'), test_log + strlen(test_log) - 1);
    assert_int_equal(count_files(r->tmp), 0);
    eg_context_destroy(&ctx);
}

static void test_cache__unusable_directory_falls_back_with_one_warning(void **state)
{
    room *r = *state;
    char path[2 * PATH_MAX], target[2 * PATH_MAX], key[EG_SHA256_HEX];
    /* Not creatable, whoever asks: the parent is a regular file. */
    snprintf(path, sizeof path, "%s/file", r->root);
    overwrite(path, "", 0);
    expect_fallback(r, path, "not a directory");
    snprintf(path, sizeof path, "%s/file/cache", r->root);
    expect_fallback(r, path, "cannot be made");

    /* There is a good entry in each of these directories: it must not be read. */
    make_key(1, key);
    put(r, key, "binary", 6);
    assert_int_equal(chmod(r->cache, 0777), 0);
    expect_fallback(r, r->cache, "mode 777");
    assert_int_equal(chmod(r->cache, 0750), 0);
    expect_fallback(r, r->cache, "open to other users");
    assert_int_equal(chmod(r->cache, 0700), 0);
    assert_true(get_equals(r->ctx, key, "binary", 6));
    snprintf(target, sizeof target, "%s/link", r->root);
    assert_int_equal(symlink(r->cache, target), 0);
    expect_fallback(r, target, "symbolic link");
    strcat(target, "/");
    expect_fallback(r, target, "symbolic link");

    if (geteuid() == 0) {
        assert_int_equal(chown(r->cache, 65534, (gid_t)-1), 0);
        expect_fallback(r, r->cache, "belongs to user 65534");
        assert_int_equal(chown(r->cache, 0, (gid_t)-1), 0);
    } else {
        assert_int_equal(chmod(r->cache, 0500), 0);
        make_key(7, key);
        char *where = NULL, bytes[] = "binary";
        bool temporary = false;
        TEST_OK(r->ctx, eg_cache_put(r->ctx, key, &(eg_blob){bytes, 6}, &where, &temporary));
        assert_true(temporary);
        unlink(where);
        eg_release(r->ctx, &where);
        assert_int_equal(chmod(r->cache, 0700), 0);
    }
}

static void test_cache__directory_follows_xdg_then_home_and_parents_are_made(void **state)
{
    room *r = *state;
    char xdg[2 * PATH_MAX], home[2 * PATH_MAX], path[3 * PATH_MAX], key[EG_SHA256_HEX];
    char *xdg_before = getenv("XDG_CACHE_HOME"), *home_before = getenv("HOME");
    if (xdg_before) xdg_before = strdup(xdg_before);
    if (home_before) home_before = strdup(home_before);
    snprintf(xdg, sizeof xdg, "%s/xdg/deep", r->root);
    snprintf(home, sizeof home, "%s/home", r->root);
    make_key(1, key);
    assert_int_equal(mkdir(home, 0755), 0);

    unsetenv("EAGRE_CACHE_DIR");
    r->options.cache_dir = NULL;
    test_context_free(&r->ctx);
    r->ctx = test_context_with(&r->options);
    setenv("HOME", home, 1);
    setenv("XDG_CACHE_HOME", xdg, 1);
    put(r, key, "x", 1);
    snprintf(path, sizeof path, "%s/eagre/%s.bin", xdg, key);
    assert_int_equal(access(path, F_OK), 0);
    setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
    put(r, key, "x", 1);
    snprintf(path, sizeof path, "%s/.cache/eagre/%s.bin", home, key);
    assert_int_equal(access(path, F_OK), 0);
    struct stat info;
    assert_int_equal(stat(home, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0755); /* what was there is not touched */
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    expect_fallback(r, NULL, "HOME is set");

    if (xdg_before) setenv("XDG_CACHE_HOME", xdg_before, 1);
    if (home_before) setenv("HOME", home_before, 1);
    free(xdg_before);
    free(home_before);
}

static void test_cache__full_disk_leaves_nothing(void **state)
{
    room *r = *state;
    char key[EG_SHA256_HEX], *path = NULL, *large = calloc(1, 100000);
    bool temporary = true;
    make_key(1, key);
    struct rlimit before, limited;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limited = before;
    limited.rlim_cur = 5000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
    eg_status status = eg_cache_put(r->ctx, key, &(eg_blob){large, 100000}, &path, &temporary);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    free(large);
    assert_int_equal(status, EG_ERROR_IO);
    assert_null(path);
    assert_false(temporary);
    assert_int_equal(count_files(r->cache), 0);
    assert_int_equal(count_files(r->tmp), 0);
}

static void test_cache__only_old_temporary_files_are_removed(void **state)
{
    room *r = *state;
    char key[EG_SHA256_HEX], old[2 * PATH_MAX], fresh[2 * PATH_MAX], foreign[2 * PATH_MAX];
    make_key(1, key);
    put(r, key, "x", 1);
    snprintf(old, sizeof old, "%s/%s.bin.tmp.12.3", r->cache, key);
    snprintf(fresh, sizeof fresh, "%s/%s.bin.tmp.12.4", r->cache, key);
    snprintf(foreign, sizeof foreign, "%s/notes.txt", r->cache);
    overwrite(old, "x", 1);
    overwrite(fresh, "x", 1);
    overwrite(foreign, "x", 1);
    struct timespec times[2] = {{.tv_sec = time(NULL) - 7200}, {.tv_sec = time(NULL) - 7200}};
    assert_int_equal(utimensat(AT_FDCWD, old, times, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, foreign, times, 0), 0);
    put(r, key, "x", 1);
    assert_int_equal(access(old, F_OK), -1);
    assert_int_equal(access(fresh, F_OK), 0);
    assert_int_equal(access(foreign, F_OK), 0);
}

/* The binary that belongs to entry `number`, or another version of it. */
static void make_binary(unsigned number, unsigned version, char *bytes, size_t length)
{
    uint64_t seed = number * 16 + version;
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(128 * test_random(&seed));
}

#define RACE_BYTES 20000
#define RACE_KEYS 3

/* One of two racing processes: writes its own version of each entry; what it reads must be one of
 * the two, whole. Exits with 0 if that held. */
static void race(const room *r, unsigned version)
{
    static char binary[2][RACE_KEYS][RACE_BYTES];
    eg_context *ctx = NULL;
    eg_context_options options = r->options;
    options.allocator = (eg_allocator){0};
    if (eg_context_create(&options, &ctx) != EG_OK) _exit(2);
    for (unsigned v = 0; v < 2; v++)
        for (unsigned k = 0; k < RACE_KEYS; k++)
            make_binary(k, v, binary[v][k], RACE_BYTES);

    for (unsigned step = 0; step < 300; step++) {
        unsigned k = step % RACE_KEYS;
        char key[EG_SHA256_HEX], *path = NULL;
        bool temporary = true, found = false;
        eg_blob blob;
        make_key(k, key);
        if (eg_cache_put(ctx, key, &(eg_blob){binary[version][k], RACE_BYTES}, &path, &temporary) ||
            temporary)
            _exit(3);
        eg_release(ctx, &path);
        if (eg_cache_get(ctx, key, &blob, NULL, &found) != EG_OK || !found) _exit(4);
        if (blob.length != RACE_BYTES) _exit(5);
        if (memcmp(blob.data, binary[0][k], RACE_BYTES) != 0 &&
            memcmp(blob.data, binary[1][k], RACE_BYTES) != 0)
            _exit(6);
        eg_release(ctx, &blob.data);
    }
    _exit(test_log[0] ? 7 : 0);
}

static void test_cache__two_processes_may_race(void **state)
{
    room *r = *state;
    pid_t child[2];
    test_log[0] = '\0';
    for (unsigned i = 0; i < 2; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i] == 0) race(r, i);
    }
    for (int i = 0; i < 2; i++) {
        int result = -1;
        assert_int_equal(waitpid(child[i], &result, 0), child[i]);
        assert_true(WIFEXITED(result));
        assert_int_equal(WEXITSTATUS(result), 0);
    }
    assert_int_equal(count_files(r->cache), RACE_KEYS);
}

#define KILL_BYTES 2000000
#define KILL_KEYS 4

static char kill_binary[KILL_BYTES]; /* of entry k once its first byte is k */

static void write_for_ever(const room *r)
{
    eg_context *ctx = NULL;
    eg_context_options options = r->options;
    options.allocator = (eg_allocator){0};
    if (eg_context_create(&options, &ctx) != EG_OK) _exit(2);
    for (unsigned k = 0;; k = (k + 1) % KILL_KEYS) {
        char key[EG_SHA256_HEX], *path = NULL;
        bool temporary;
        make_key(k, key);
        kill_binary[0] = (char)k;
        if (eg_cache_put(ctx, key, &(eg_blob){kill_binary, KILL_BYTES}, &path, &temporary))
            _exit(3);
        eg_release(ctx, &path);
    }
}

static int count_temporaries(const char *directory)
{
    int count = 0;
    DIR *list = opendir(directory);
    if (!list) return 0;
    for (struct dirent *e; (e = readdir(list)) != NULL;)
        count += strstr(e->d_name, ".tmp.") != NULL;
    closedir(list);
    return count;
}

static void test_cache__entries_are_whole_after_kill_9_during_writes(void **state)
{
    room *r = *state;
    double start = eg_wall_seconds();
    make_binary(0, 0, kill_binary, KILL_BYTES);
    /* A file that a killed writer left behind shows that the signal came in the middle of a put. */
    int left = 0;
    while (left < 10 && eg_wall_seconds() - start < 20.0) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) write_for_ever(r);
        double forked = eg_wall_seconds();
        while (count_temporaries(r->cache) <= left && eg_wall_seconds() - forked < 1.0)
            continue;
        assert_int_equal(kill(child, SIGKILL), 0);
        int result = 0;
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_true(WIFSIGNALED(result)); /* else it had failed by itself */
        left = count_temporaries(r->cache);
        for (unsigned k = 0; k < KILL_KEYS; k++) {
            char key[EG_SHA256_HEX];
            make_key(k, key);
            kill_binary[0] = (char)k;
            get_equals(r->ctx, key, kill_binary, KILL_BYTES);
        }
    }
    assert_true(left > 0);
    assert_string_equal(test_log, ""); /* no entry was ever damaged */
}

static eg_status put_and_get(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    char key[EG_SHA256_HEX], *path = NULL, *got = NULL, bytes[] = "binary";
    eg_blob blob = {0};
    bool temporary = false, found = false;
    make_key(1, key);
    EG_TRY(eg_cache_put(ctx, key, &(eg_blob){bytes, 6}, &path, &temporary));
    assert_true(temporary == *(bool *)user);
    EG_TRY(eg_cache_get(ctx, key, &blob, &got, &found));
    assert_true(found == !temporary);
    if (found) assert_string_equal(path, got);
done:
    if (temporary) unlink(path);
    eg_release(ctx, &blob.data);
    eg_release(ctx, &got);
    eg_release(ctx, &path);
    return status;
}

static void test_cache__survives_any_failed_allocation(void **state)
{
    room *r = *state;
    char path[2 * PATH_MAX];
    bool temporary = false;
    test_context_free(&r->ctx);
    test_allocation_sweep_with(&r->options, put_and_get, &temporary);
    assert_int_equal(count_files(r->cache), 1);

    eg_context_options options = r->options;
    snprintf(path, sizeof path, "%s/file", r->root);
    overwrite(path, "", 0);
    options.cache_dir = path;
    temporary = true;
    test_allocation_sweep_with(&options, put_and_get, &temporary);
    assert_int_equal(count_files(r->tmp), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_cache__get_returns_what_put_stored),
        TEST(test_cache__a_shared_object_loads_from_its_entry),
        TEST(test_cache__truncated_entry_is_removed_and_rebuilt),
        TEST(test_cache__any_flipped_bit_is_found),
        TEST(test_cache__entry_of_another_key_or_with_bytes_added_is_damaged),
        TEST(test_cache__unusable_directory_falls_back_with_one_warning),
        TEST(test_cache__directory_follows_xdg_then_home_and_parents_are_made),
        TEST(test_cache__full_disk_leaves_nothing),
        TEST(test_cache__only_old_temporary_files_are_removed),
        TEST(test_cache__two_processes_may_race),
        TEST(test_cache__entries_are_whole_after_kill_9_during_writes),
        TEST(test_cache__survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
