/* Room `base`: status, context, memory, text, files, hashes, arena. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdalign.h>
#include <sys/resource.h>

#include "base/arena.h"

static void test_status__every_code_has_its_own_text(void **state)
{
    (void)state;
    for (int a = 0; a <= EG_ERROR_INPUT; a++) {
        assert_true(strlen(eg_status_text((eg_status)a)) > 0);
        assert_string_not_equal(eg_status_text((eg_status)a), "unknown status");
        for (int b = 0; b < a; b++)
            assert_string_not_equal(eg_status_text((eg_status)a), eg_status_text((eg_status)b));
    }
    assert_string_equal(eg_status_text((eg_status)-1), "unknown status");
    assert_string_equal(eg_status_text((eg_status)(EG_ERROR_INPUT + 1)), "unknown status");
}

static void test_version__has_three_numbers(void **state)
{
    (void)state;
    int major, minor, patch, used = 0;
    assert_int_equal(sscanf(eg_version(), "%d.%d.%d%n", &major, &minor, &patch, &used), 3);
    assert_int_equal(strlen(eg_version()), used);
}

static void test_context__settings_come_from_options_then_environment(void **state)
{
    (void)state;
    setenv("EAGRE_CACHE_DIR", "/from/environment", 1);
    setenv("EAGRE_KERNEL_DIR", "", 1);
    setenv("EAGRE_CHECK", "1", 1);
    eg_context *ctx = test_context();
    assert_string_equal(eg_context_cache_dir(ctx), "/from/environment");
    assert_null(eg_context_kernel_dir(ctx));
    assert_true(eg_context_check(ctx));
    test_context_free(&ctx);

    eg_context_options options = test_context_options();
    char cache[] = "/from/options";
    options.cache_dir = cache;
    options.check = EG_CHECK_OFF;
    setenv("EAGRE_KERNEL_DIR", "/kernels", 1);
    ctx = test_context_with(&options);
    cache[1] = 'X'; /* the context has its own copy */
    assert_string_equal(eg_context_cache_dir(ctx), "/from/options");
    assert_string_equal(eg_context_kernel_dir(ctx), "/kernels");
    assert_false(eg_context_check(ctx));
    test_context_free(&ctx);

    setenv("EAGRE_CHECK", "0", 1);
    ctx = test_context();
    assert_false(eg_context_check(ctx));
    test_context_free(&ctx);
    unsetenv("EAGRE_CACHE_DIR");
    unsetenv("EAGRE_KERNEL_DIR");
    unsetenv("EAGRE_CHECK");
}

static void test_context__fields_beyond_a_shorter_options_struct_keep_their_defaults(void **state)
{
    (void)state;
    eg_context_options options = test_context_options();
    options.size = offsetof(eg_context_options, cache_dir);
    options.cache_dir = "/not/read";
    options.check = EG_CHECK_ON;
    eg_context *ctx = test_context_with(&options);
    assert_null(eg_context_cache_dir(ctx));
    assert_false(eg_context_check(ctx));
    test_context_free(&ctx);
}

static void test_context__nonsense_options_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = (eg_context *)(uintptr_t)1;
    eg_context_options options = test_context_options();
    options.size = 0;
    assert_int_equal(eg_context_create(&options, &ctx), EG_ERROR_ARGUMENT);
    assert_null(ctx);
    options = test_context_options();
    options.allocator.release = NULL;
    assert_int_equal(eg_context_create(&options, &ctx), EG_ERROR_ARGUMENT);
    assert_null(ctx);
    eg_context_destroy(&ctx);

    assert_int_equal(eg_context_create(NULL, &ctx), EG_OK);
    assert_string_equal(eg_context_error(ctx), "");
    eg_context_destroy(&ctx);
    assert_null(ctx);
}

static void test_context__creation_survives_any_failed_allocation(void **state)
{
    (void)state;
    eg_context_options options = test_context_options();
    options.cache_dir = "/cache";
    options.kernel_dir = "/kernels";
    long n;
    for (n = 1; n < 10; n++) {
        eg_context *ctx = NULL;
        test_allocator_arm(n, false);
        eg_status status = eg_context_create(&options, &ctx);
        if (test_memory.calls < n) {
            assert_int_equal(status, EG_OK);
            eg_context_destroy(&ctx);
            break;
        }
        assert_int_equal(status, EG_ERROR_MEMORY);
        assert_null(ctx);
        assert_int_equal(test_memory.live, 0);
    }
    assert_int_equal(n, 4);
    test_allocator_arm(0, false);
}

static void test_fail__a_message_of_16_kib_fits_and_a_longer_one_says_it_was_cut(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    char *text = malloc(100001);
    memset(text, 'x', 100000);
    text[16384] = '\0';
    assert_int_equal(eg_fail(ctx, EG_ERROR_IO, "<%s>", text), EG_ERROR_IO);
    assert_int_equal(strlen(eg_context_error(ctx)), 16386);
    assert_int_equal(eg_context_error(ctx)[16385], '>');

    /* Two-byte characters: the cut is between two of them, whichever way they fall. */
    for (size_t shift = 0; shift < 2; shift++) {
        for (size_t i = 0; i < 50000; i++)
            memcpy(text + 2 * i, "é", 2);
        text[100000] = '\0';
        eg_fail(ctx, EG_ERROR_IO, "%s%s", shift ? "x" : "", text);
        const char *end = strstr(eg_context_error(ctx), " … [the rest is cut off]");
        assert_non_null(end);
        assert_true(strlen(eg_context_error(ctx)) > 16384);
        assert_int_equal((size_t)(end - eg_context_error(ctx) - (ptrdiff_t)shift) % 2, 0);
    }
    free(text);
    test_context_free(&ctx);
}

static void test_fail__a_message_may_quote_the_one_before(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_fail(ctx, EG_ERROR_IO, "inner");
    eg_fail(ctx, EG_ERROR_IO, "outer (%s)", eg_context_error(ctx));
    assert_string_equal(eg_context_error(ctx), "outer (inner)");
    test_context_free(&ctx);
}

static void test_log__lines_below_the_level_are_dropped(void **state)
{
    (void)state;
    eg_context_options options = test_context_options();
    options.log_level = EG_LOG_WARNING;
    eg_context *ctx = test_context_with(&options);
    eg_log(ctx, EG_LOG_INFO, "quiet");
    eg_log(ctx, EG_LOG_WARNING, "value %d", 3);
    assert_string_equal(test_log, "value 3\n");
    test_context_free(&ctx);
}

static void test_log__once_is_once_for_each_place(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int i = 0; i < 3; i++) {
        eg_log_once(ctx, EG_LOG_WARNING, "first %d", i);
        eg_log_once(ctx, EG_LOG_WARNING, "second %d", i);
    }
    assert_string_equal(test_log, "first 0\nsecond 0\n");
    test_context_free(&ctx);
}

static void test_memory__blocks_are_zeroed_and_overflow_is_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    double *values = NULL;
    TEST_OK(ctx, eg_new(ctx, 100, &values));
    for (int i = 0; i < 100; i++)
        assert_true(values[i] == 0.0);
    eg_release(ctx, &values);
    assert_null(values);
    eg_release(ctx, &values);

    TEST_OK(ctx, eg_new(ctx, 0, &values));
    assert_non_null(values);
    eg_release(ctx, &values);
    TEST_FAILS(ctx, EG_ERROR_MEMORY, "2305843009213693952 objects",
               eg_new(ctx, SIZE_MAX / 8 + 1, &values));
    assert_null(values);
    test_context_free(&ctx);
}

static void test_memory__a_failed_reallocation_leaves_the_block(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    char *text = NULL;
    TEST_OK(ctx, eg_copy_string(ctx, "kept", &text));
    void *block = text;
    test_allocator_arm(1, false);
    TEST_FAILS(ctx, EG_ERROR_MEMORY, "1000 bytes", eg_reallocate(ctx, 1000, &block));
    assert_ptr_equal(block, text);
    assert_string_equal(text, "kept");
    eg_release(ctx, &text);
    test_context_free(&ctx);
}

static eg_status grow_text(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    for (int i = 0; i < 100; i++)
        EG_TRY(eg_text_printf(&text, "%d,", i));
    assert_int_equal(text.length, 290);
done:
    /* Whatever failed, what is there is a string of the length it says. */
    assert_int_equal(strlen(eg_text_string(&text)), text.length);
    eg_text_free(&text);
    return status;
}

static void test_text__grows_and_stays_a_string(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_text text = eg_text_new(ctx);
    assert_string_equal(eg_text_string(&text), "");
    TEST_OK(ctx, eg_text_puts(&text, ""));
    assert_string_equal(text.data, "");
    TEST_OK(ctx, eg_text_puts(&text, "one"));
    TEST_OK(ctx, eg_text_add(&text, " two", 4));
    TEST_OK(ctx, eg_text_printf(&text, " %s %d", "three", 4));
    assert_string_equal(eg_text_string(&text), "one two three 4");
    assert_int_equal(text.length, 15);
    TEST_OK(ctx, eg_text_add(&text, "\0x", 2));
    assert_int_equal(text.length, 17);
    assert_memory_equal(text.data, "one two three 4\0x", 18);
    eg_text_clear(&text);
    assert_string_equal(eg_text_string(&text), "");
    TEST_OK(ctx, eg_text_printf(&text, "%01000d", 7));
    assert_int_equal(text.length, 1000);
    assert_int_equal(text.data[999], '7');
    eg_text_free(&text);
    test_context_free(&ctx);
    test_allocation_sweep(grow_text, NULL);
}

static int count_entries(const char *directory)
{
    char command[PATH_MAX + 32];
    int count = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%d", &count), 1);
    pclose(pipe);
    return count;
}

static eg_status write_and_read(eg_context *ctx, void *path)
{
    eg_status status = EG_OK;
    char *data = NULL;
    size_t length = 0;
    EG_TRY(eg_file_write_atomic(ctx, path, "con\0tent", 8, 0600, true));
    EG_TRY(eg_file_read(ctx, path, &data, &length));
    assert_int_equal(length, 8);
    assert_memory_equal(data, "con\0tent", 9);
done:
    eg_release(ctx, &data);
    return status;
}

static void test_file__what_is_written_is_read(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX + 16];
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/file", directory);
    eg_context *ctx = test_context();
    TEST_OK(ctx, write_and_read(ctx, path));
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);

    char *data = NULL;
    size_t length = 1;
    TEST_OK(ctx, eg_file_write_atomic(ctx, path, NULL, 0, 0600, false));
    TEST_OK(ctx, eg_file_read(ctx, path, &data, &length));
    assert_int_equal(length, 0);
    assert_string_equal(data, "");
    eg_release(ctx, &data);
    test_context_free(&ctx);

    test_allocation_sweep(write_and_read, path);
    assert_int_equal(count_entries(directory), 1);
    test_directory_remove(directory);
}

static void test_file__size_zero_files_of_proc_are_read_to_their_end(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    char *data = NULL;
    size_t length = 0;
    TEST_OK(ctx, eg_file_read(ctx, "/proc/self/status", &data, &length));
    assert_true(length > 100);
    assert_int_equal(strlen(data), length);
    eg_release(ctx, &data);
    test_context_free(&ctx);
}

static void test_file__what_is_no_regular_file_is_refused(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX + 16];
    char *data = NULL;
    size_t length;
    test_directory_create(directory);
    eg_context *ctx = test_context();
    TEST_FAILS(ctx, EG_ERROR_IO, directory, eg_file_read(ctx, directory, &data, &length));
    snprintf(path, sizeof path, "%s/absent", directory);
    TEST_FAILS(ctx, EG_ERROR_IO, "No such file", eg_file_read(ctx, path, &data, &length));
    snprintf(path, sizeof path, "%s/pipe", directory);
    assert_int_equal(mkfifo(path, 0600), 0);
    TEST_FAILS(ctx, EG_ERROR_IO, "not a regular file", eg_file_read(ctx, path, &data, &length));
    assert_null(data);
    test_context_free(&ctx);
    test_directory_remove(directory);
}

static void test_file__a_failed_write_leaves_the_old_file_and_nothing_else(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX + 16];
    test_directory_create(directory);
    snprintf(path, sizeof path, "%s/file", directory);
    eg_context *ctx = test_context();
    TEST_OK(ctx, eg_file_write_atomic(ctx, path, "old", 3, 0600, false));

    /* A file-size limit stops the write in the middle, as a full disk does. */
    struct rlimit before, limited;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limited = before;
    limited.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    char *large = calloc(1, 100000);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
    eg_status status = eg_file_write_atomic(ctx, path, large, 100000, 0600, false);
    char *temporary = NULL;
    eg_status status2 = eg_file_write_temporary(ctx, "eagre-test-full-", large, 100000, &temporary);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    free(large);
    assert_int_equal(status, EG_ERROR_IO);
    assert_int_equal(status2, EG_ERROR_IO);
    assert_null(temporary);
    assert_non_null(strstr(eg_context_error(ctx), "100000 bytes"));

    char *data = NULL;
    size_t length;
    TEST_OK(ctx, eg_file_read(ctx, path, &data, &length));
    assert_string_equal(data, "old");
    eg_release(ctx, &data);
    assert_int_equal(count_entries(directory), 1);

    TEST_FAILS(ctx, EG_ERROR_IO, directory,
               eg_file_write_atomic(ctx, directory, "x", 1, 0600, false));
    snprintf(path, sizeof path, "%s/no/file", directory);
    TEST_FAILS(ctx, EG_ERROR_IO, "No such file",
               eg_file_write_atomic(ctx, path, "x", 1, 0600, true));
    assert_int_equal(count_entries(directory), 1);
    test_context_free(&ctx);
    test_directory_remove(directory);
}

static void test_file__temporary_files_are_private_and_distinct(void **state)
{
    (void)state;
    char directory[PATH_MAX];
    test_directory_create(directory);
    const char *before = getenv("TMPDIR");
    char *saved = before ? strdup(before) : NULL;
    setenv("TMPDIR", directory, 1);
    eg_context *ctx = test_context();
    char *a = NULL, *b = NULL;
    TEST_OK(ctx, eg_file_write_temporary(ctx, "eagre-", "one", 3, &a));
    TEST_OK(ctx, eg_file_write_temporary(ctx, "eagre-", "two", 3, &b));
    assert_string_not_equal(a, b);
    assert_int_equal(strncmp(a, directory, strlen(directory)), 0);
    struct stat info;
    assert_int_equal(stat(a, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(info.st_size, 3);
    eg_release(ctx, &a);
    eg_release(ctx, &b);
    test_directory_remove(directory);
    TEST_FAILS(ctx, EG_ERROR_IO, "TMPDIR", eg_file_write_temporary(ctx, "eagre-", "x", 1, &a));
    test_context_free(&ctx);
    if (saved)
        setenv("TMPDIR", saved, 1);
    else
        unsetenv("TMPDIR");
    free(saved);
}

static void hash_hex(const char *data, size_t length, size_t piece, char hex[EG_SHA256_HEX])
{
    eg_sha256 hash;
    unsigned char digest[EG_SHA256_BYTES];
    eg_sha256_init(&hash);
    for (size_t at = 0; at < length; at += piece)
        eg_sha256_add(&hash, data + at, piece < length - at ? piece : length - at);
    eg_sha256_end(&hash, digest);
    eg_sha256_hex(digest, hex);
}

static void test_sha256__reproduces_the_vectors_of_fips_180(void **state)
{
    (void)state;
    static const struct {
        const char *message, *digest;
    } vectors[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
        {"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqr"
         "lmnopqrsmnopqrstnopqrstu",
         "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
    };
    char hex[EG_SHA256_HEX];
    for (size_t i = 0; i < EG_COUNT(vectors); i++) {
        hash_hex(vectors[i].message, strlen(vectors[i].message), 1000, hex);
        assert_string_equal(hex, vectors[i].digest);
    }
    char *million = malloc(1000000);
    memset(million, 'a', 1000000);
    hash_hex(million, 1000000, 999, hex);
    assert_string_equal(hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

static void test_sha256__does_not_depend_on_how_the_message_is_cut(void **state)
{
    (void)state;
    char message[200], whole[EG_SHA256_HEX], cut[EG_SHA256_HEX];
    for (size_t i = 0; i < sizeof message; i++)
        message[i] = (char)(i * 7);
    for (size_t length = 0; length <= sizeof message; length++) {
        hash_hex(message, length, sizeof message, whole);
        for (size_t piece = 1; piece < 130; piece += 9) {
            hash_hex(message, length, piece, cut);
            assert_string_equal(whole, cut);
        }
    }
}

static eg_status fill_arena(eg_context *ctx, void *user)
{
    (void)user;
    eg_status status = EG_OK;
    eg_arena arena = eg_arena_new(ctx);
    unsigned char *blocks[200];
    for (size_t i = 0; i < 200; i++) {
        void *block = NULL;
        EG_TRY(eg_arena_allocate(&arena, i * i, &block));
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignof(max_align_t), 0);
        blocks[i] = block;
        for (size_t k = 0; k < i * i; k++)
            assert_int_equal(blocks[i][k], 0);
        memset(block, (int)i, i * i);
    }
    /* No block overlaps another. */
    for (size_t i = 0; i < 200; i++)
        for (size_t k = 0; k < i * i; k++)
            assert_int_equal(blocks[i][k], i);
    char *copy = NULL;
    EG_TRY(eg_arena_copy_string(&arena, "text", &copy));
    assert_string_equal(copy, "text");
done:
    eg_arena_free(&arena);
    return status;
}

static void test_arena__blocks_are_zeroed_aligned_and_apart(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    TEST_OK(ctx, fill_arena(ctx, NULL));
    assert_true(test_memory.calls < 30);
    eg_arena arena = eg_arena_new(ctx);
    void *block = NULL;
    TEST_FAILS(ctx, EG_ERROR_MEMORY, "addressed", eg_arena_allocate(&arena, SIZE_MAX, &block));
    eg_arena_free(&arena);
    test_context_free(&ctx);
    test_allocation_sweep(fill_arena, NULL);
}

static void test_clock__runs_forward(void **state)
{
    (void)state;
    double wall = eg_wall_seconds(), cpu = eg_cpu_seconds();
    while (eg_cpu_seconds() - cpu < 0.01)
        continue;
    assert_true(eg_wall_seconds() - wall > 0.005);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status__every_code_has_its_own_text),
        cmocka_unit_test(test_version__has_three_numbers),
        cmocka_unit_test(test_context__settings_come_from_options_then_environment),
        cmocka_unit_test(test_context__fields_beyond_a_shorter_options_struct_keep_their_defaults),
        cmocka_unit_test(test_context__nonsense_options_are_refused),
        cmocka_unit_test(test_context__creation_survives_any_failed_allocation),
        cmocka_unit_test(test_fail__a_message_of_16_kib_fits_and_a_longer_one_says_it_was_cut),
        cmocka_unit_test(test_fail__a_message_may_quote_the_one_before),
        cmocka_unit_test(test_log__lines_below_the_level_are_dropped),
        cmocka_unit_test(test_log__once_is_once_for_each_place),
        cmocka_unit_test(test_memory__blocks_are_zeroed_and_overflow_is_refused),
        cmocka_unit_test(test_memory__a_failed_reallocation_leaves_the_block),
        cmocka_unit_test(test_text__grows_and_stays_a_string),
        cmocka_unit_test(test_file__what_is_written_is_read),
        cmocka_unit_test(test_file__size_zero_files_of_proc_are_read_to_their_end),
        cmocka_unit_test(test_file__what_is_no_regular_file_is_refused),
        cmocka_unit_test(test_file__a_failed_write_leaves_the_old_file_and_nothing_else),
        cmocka_unit_test(test_file__temporary_files_are_private_and_distinct),
        cmocka_unit_test(test_sha256__reproduces_the_vectors_of_fips_180),
        cmocka_unit_test(test_sha256__does_not_depend_on_how_the_message_is_cut),
        cmocka_unit_test(test_arena__blocks_are_zeroed_aligned_and_apart),
        cmocka_unit_test(test_clock__runs_forward),
    };
    unsetenv("EAGRE_CACHE_DIR");
    unsetenv("EAGRE_KERNEL_DIR");
    unsetenv("EAGRE_CHECK");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
