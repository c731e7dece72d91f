/* Creating kernels on every device: options that make no sense are refused, a failed compilation shows
 * the line, a directory may take the place of the library, and what was compiled once is not compiled
 * again, also where there is no compiler any more. */
#include "kernel/devices.h"

#include <dirent.h>
#include <signal.h>

#define TILES 5
#define LANES TEXT_LANES
#define SOURCE "kernel/creation.k.c"

static const char copy_text[] =
    "K_KERNEL(copy, K_IN(real, x, 4 * LANES), K_OUT(real, y, 4 * LANES))\n"
    "{\n"
    "    K_TILES(t) { K_PUT(4, K_G(K_TILE(x, t, 4)), K_TILE(y, t, 4)); }\n"
    "}\n";

/* --- options and compilation --------------------------------------------------------------------------- */

static const char broken_text[] = "/* A kernel with a mistake in its sixth line. */\n"
                                  "K_KERNEL(broken, K_OUT(real, y,\n"
                                  "                       LANES))\n"
                                  "{\n"
                                  "    K_TILES(t)\n"
                                  "    K_NODES(i, 1) y[lane] = misspelled + 1;\n"
                                  "}\n";

static void broken(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel_options options = text_options(SOURCE, broken_text, "broken", real);
    eg_kernel *kernel = NULL;
    int before = eg_kernel_compilations();
    eg_status status = eg_kernel_create(device, &options, &kernel);
    const char *message = eg_context_error(ctx);
    assert_int_equal(status, EG_ERROR_COMPILE);
    assert_null(kernel);
    assert_int_equal(eg_kernel_compilations(), before);
    /* The compiler's own words, then the line. */
    assert_non_null(strstr(message, "kernel/creation.k.c did not compile with"));
    const char *own = strstr(message, "misspelled"), *lines = strstr(message, "the lines it names");
    assert_true(own && lines && own < lines);
    assert_non_null(
        strstr(lines, "kernel/creation.k.c:6 |     K_NODES(i, 1) y[lane] = misspelled"));
}

static void test_kernel__a_failed_compilation_shows_the_compilers_log_and_the_line(void **state)
{
    (void)state;
    on_every_device(broken);
}

static void nonsense(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = NULL;
    eg_kernel_options good = text_options(SOURCE, copy_text, "copy", real), o = good;
    o.size = 7;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "size", eg_kernel_create(device, &o, &kernel));
    o = good, o.entry = "other";
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "no kernel 'other'", eg_kernel_create(device, &o, &kernel));
    o = good, o.entry = NULL;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "entry", eg_kernel_create(device, &o, &kernel));
    o = good, o.text = NULL;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "no kernel source 'kernel/creation.k.c'",
               eg_kernel_create(device, &o, &kernel));
    o = good, o.real = EG_I32;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "i32", eg_kernel_create(device, &o, &kernel));
    static const int lanes[] = {3, 12, 128};
    for (size_t i = 0; i < EG_COUNT(lanes); i++) {
        o = good, o.lanes = lanes[i];
        TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "power of two", eg_kernel_create(device, &o, &kernel));
    }
    o = good, o.lanes = -16;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "-16", eg_kernel_create(device, &o, &kernel));
    o = good, o.rows_per_block = -1;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "per_block", eg_kernel_create(device, &o, &kernel));
    o = good, o.tiles_per_block = -2;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "per_block", eg_kernel_create(device, &o, &kernel));
    assert_null(kernel);
}

static void test_kernel__options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    on_every_device(nonsense);
}

/* A program that was built against an older header. */
static void shorter(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = NULL;
    eg_kernel_options options = text_options(SOURCE, copy_text, "copy", real);
    options.size = offsetof(eg_kernel_options, rows_per_block);
    options.rows_per_block = options.tiles_per_block = -1;
    options.define_count = SIZE_MAX;
    TEST_OK(ctx, eg_kernel_create(device, &options, &kernel));
    assert_int_equal(eg_kernel_lanes(kernel), LANES);
    eg_kernel_destroy(&kernel);
}

static void test_kernel__fields_beyond_a_shorter_options_struct_keep_their_defaults(void **state)
{
    (void)state;
    on_every_device(shorter);
}

/* N is 4 where the first kernel stands and 2 at the end of the file, which the library has read. */
static const char redefined_text[] =
    "#define N 4\n"
    "K_KERNEL(first, K_OUT(real, y, N * LANES))\n"
    "{\n"
    "    K_TILES(t) { K_NODES(i, N) K_TILE(y, t, N)[i * LANES + lane] = K_R(1); }\n"
    "}\n"
    "K_KERNEL(first_shared, K_OUT(real, y, LANES))\n"
    "{\n"
    "    K_SHARED(real, s, N + 1);\n"
    "    K_TILES(t) { K_NODES(i, N) s[i][lane] = y[lane] = K_R(1); }\n"
    "}\n"
    "#undef N\n"
    "#define N 2\n"
    "K_KERNEL(second, K_OUT(real, y, N * LANES))\n"
    "{\n"
    "    K_TILES(t) { K_NODES(i, N) K_TILE(y, t, N)[i * LANES + lane] = K_R(1); }\n"
    "}\n";

static void redefined(eg_device *device, eg_type real)
{
    static const char *const disagree[] = {"first", "first_shared"};
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = NULL;
    for (size_t i = 0; i < EG_COUNT(disagree); i++) {
        eg_kernel_options options = text_options(SOURCE, redefined_text, disagree[i], real);
        TEST_FAILS(ctx, EG_ERROR_COMPILE, "k_agreed_", eg_kernel_create(device, &options, &kernel));
        assert_null(kernel);
    }
    kernel = text_kernel(device, SOURCE, redefined_text, "second", real);
    array y = array_poisoned(device, real, TILES * 2 * LANES);
    TEST_OK(ctx, eg_launch(kernel, TILES, EG_BUFFER("y", y.buffer)));
    array_download(&y);
    for (size_t i = 0; i < y.count; i++)
        assert_true(y.v[i] == 1.0);
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void test_kernel__one_whose_sizes_the_compiler_finds_different_is_refused(void **state)
{
    (void)state;
    on_every_device(redefined);
}

static void test_kernel__arrays_larger_than_the_cpus_stack_are_refused(void **state)
{
    (void)state;
    static const char *const macros[] = {"K_SHARED", "K_PRIVATE"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_kernel *kernel = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    uint64_t most = eg_device_get_info(device)->shared_bytes;
    for (size_t i = 0; i < EG_COUNT(macros); i++) {
        char text[256];
        snprintf(text, sizeof text,
                 "K_KERNEL(large, K_OUT(real, y, LANES)) { %s(real, s, %d); K_TILES(t) { } }\n",
                 macros[i], (int)(most / (LANES * sizeof(double))) + 1);
        eg_kernel_options options = text_options(SOURCE, text, "large", EG_F64);
        TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "kernel 'large' needs",
                   eg_kernel_create(device, &options, &kernel));
        assert_null(kernel);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- the kernel directory ------------------------------------------------------------------------------ */

static void write_file(const char *directory, const char *name, const char *text)
{
    char path[PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* A device that `path` of the source tree is copied for. */
static void copy_file(const char *directory, const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/src/%s", EG_TEST_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t capacity = 0;
    assert_non_null(file);
    assert_true(getdelim(&text, &capacity, '\0', file) > 0);
    fclose(file);
    write_file(directory, name, text);
    free(text);
}

static void overridden(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel *kernel = NULL;
    eg_kernel_options options = text_options(SOURCE, NULL, "ten", real);
    options.source = "room/ten.k.c";
    TEST_OK(ctx, eg_kernel_create(device, &options, &kernel));
    array y = array_poisoned(device, real, LANES);
    TEST_OK(ctx, eg_launch(kernel, 1, EG_BUFFER("y", y.buffer)));
    array_download(&y);
    for (size_t i = 0; i < LANES; i++)
        assert_true(y.v[i] == 10.0);
    array_free(&y);
    eg_kernel_destroy(&kernel);
    options.source = "room/eleven.k.c";
    TEST_FAILS(ctx, EG_ERROR_IO, "room/eleven.k.c", eg_kernel_create(device, &options, &kernel));
}

static void test_kernel__a_kernel_directory_takes_the_place_of_the_library(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX + 32];
    static const char *const made[] = {"room", "device", "device/dialect"};
    static const char *const headers[] = {"common", "cpu", "gpu", "opencl", "cuda"};
    test_directory_create(directory);
    for (size_t i = 0; i < EG_COUNT(made); i++) {
        snprintf(path, sizeof path, "%s/%s", directory, made[i]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t i = 0; i < EG_COUNT(headers); i++) {
        char name[64];
        snprintf(name, sizeof name, "device/dialect/%s.k.h", headers[i]);
        copy_file(directory, name);
    }
    write_file(directory, "room/five.k.h", "#define FIVE 5\n");
    write_file(directory, "room/ten.k.c",
               "#include \"room/five.k.h\"\n"
               "K_KERNEL(ten, K_OUT(real, y, (FIVE - 4) * LANES))\n"
               "{\n"
               "    K_TILES(t) { K_NODES(i, 1) K_TILE(y, t, 1)[lane] = K_R(2 * FIVE); }\n"
               "}\n");
    eg_context_options options = test_context_options();
    options.kernel_dir = directory;
    on_every_device_with(&options, overridden);
    test_directory_remove(directory);
}

/* --- the cache --------------------------------------------------------------------------------------------- */

/* Calls `change` on every entry of the cache and returns how many there are. */
static int each_entry(const char *directory, void change(const char *path))
{
    DIR *list = opendir(directory);
    int count = 0;
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list)) != NULL;) {
        char path[PATH_MAX + 300];
        if (!strstr(entry->d_name, ".bin")) continue;
        snprintf(path, sizeof path, "%s/%s", directory, entry->d_name);
        change(path);
        count++;
    }
    closedir(list);
    return count;
}

static void cut(const char *path)
{
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(truncate(path, info.st_size / 2), 0);
}

static void flip(const char *path)
{
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 100, SEEK_SET), 0);
    int byte = fgetc(file);
    assert_int_equal(fseek(file, 100, SEEK_SET), 0);
    assert_int_equal(fputc(byte ^ 0x10, file), byte ^ 0x10);
    assert_int_equal(fclose(file), 0);
}

static void discard(const char *path)
{
    assert_int_equal(unlink(path), 0);
}

static char cache_directory[PATH_MAX];

static void create_and_run(eg_device *device, eg_type real, bool cached)
{
    int before = eg_kernel_compilations();
    eg_kernel *kernel = text_kernel(device, SOURCE, copy_text, "copy", real);
    uint64_t seed = 3;
    array x = array_random(device, real, 4 * LANES, -1, 1, &seed);
    array y = array_poisoned(device, real, 4 * LANES);
    assert_int_equal(eg_kernel_was_cached(kernel), cached);
    assert_int_equal(eg_kernel_compilations() - before, cached ? 0 : 1);
    TEST_OK(eg_device_context(device),
            eg_launch(kernel, 1, EG_BUFFER("x", x.buffer), EG_BUFFER("y", y.buffer)));
    array_download(&y);
    assert_memory_equal(y.v, x.v, y.count * sizeof(double));
    array_free(&x);
    array_free(&y);
    eg_kernel_destroy(&kernel);
}

static void cached(eg_device *device, eg_type real)
{
    create_and_run(device, real, false);
    create_and_run(device, real, true);
    assert_int_equal(each_entry(cache_directory, cut), 1);
    create_and_run(device, real, false);
    create_and_run(device, real, true);
    assert_int_equal(each_entry(cache_directory, flip), 1);
    create_and_run(device, real, false);
    create_and_run(device, real, true);
    assert_int_equal(each_entry(cache_directory, discard), 1);
}

static void test_kernel__is_compiled_once_and_again_when_its_entry_is_damaged(void **state)
{
    (void)state;
    eg_context_options options = test_context_options();
    test_directory_create(cache_directory);
    options.cache_dir = cache_directory;
    on_every_device_with(&options, cached);
    test_directory_remove(cache_directory);
}

/* One that is kept needs no entry of the cache; another kernel, or another copy of it, does. */
static void kept(eg_device *device, eg_type real)
{
    eg_kernel_options options = text_options(SOURCE, copy_text, "copy", real), other = options;
    eg_kernel *first = NULL, *second = NULL;
    const eg_define define = {"UNUSED", 1};
    eg_context *ctx = eg_device_context(device);
    other.defines = &define;
    other.define_count = 1;
    eg_device_keep_kernels(device, true);
    eg_device_keep_kernels(device, true);
    create_and_run(device, real, false);
    assert_int_equal(each_entry(cache_directory, discard), 1);
    create_and_run(device, real, true);
    TEST_OK(ctx, eg_kernel_create(device, &options, &first));
    assert_true(eg_kernel_was_cached(first));
    TEST_OK(ctx, eg_kernel_create(device, &options, &second));
    assert_false(eg_kernel_was_cached(second));
    assert_ptr_not_equal(first, second);
    eg_kernel_destroy(&first);
    eg_kernel_destroy(&second);
    TEST_OK(ctx, eg_kernel_create(device, &other, &first));
    assert_false(eg_kernel_was_cached(first));
    eg_kernel_destroy(&first);
    assert_int_equal(each_entry(cache_directory, discard), 2);
    eg_device_keep_kernels(device, false);
    create_and_run(device, real, true);
    /* Nobody wants them any more. */
    eg_device_keep_kernels(device, false);
    create_and_run(device, real, false);
    assert_int_equal(each_entry(cache_directory, discard), 1);
}

static void test_kernel__is_kept_for_those_who_make_it_again_and_again(void **state)
{
    (void)state;
    eg_context_options options = test_context_options();
    test_directory_create(cache_directory);
    options.cache_dir = cache_directory;
    on_every_device_with(&options, kept);
    test_directory_remove(cache_directory);
}

/* --- without a compiler --------------------------------------------------------------------------------------- */

static char *saved(const char *name)
{
    const char *value = getenv(name);
    return value ? strdup(value) : NULL;
}

static void restore(const char *name, char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    free(value);
}

static void test_kernel__without_a_compiler_says_so(void **state)
{
    (void)state;
    char empty[PATH_MAX];
    char *path = saved("PATH"), *cc = saved("CC");
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_kernel *kernel = NULL;
    eg_kernel_options options = text_options(SOURCE, copy_text, "copy", EG_F64);
    test_directory_create(empty);
    setenv("PATH", empty, 1);
    unsetenv("CC");
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    TEST_FAILS(ctx, EG_ERROR_NO_COMPILER, "install one",
               eg_kernel_create(device, &options, &kernel));
    assert_null(kernel);
    eg_device_close(&device);
    restore("PATH", path);
    restore("CC", cc);
    test_directory_remove(empty);
    test_context_free(&ctx);
}

/* A compiler that has stopped working is not missed by what was compiled before. */
static void test_kernel__a_cached_kernel_needs_no_compiler(void **state)
{
    (void)state;
    char directory[PATH_MAX], compiler[PATH_MAX + 8], script[2 * PATH_MAX];
    char *cc = saved("CC");
    test_directory_create(cache_directory);
    test_directory_create(directory);
    snprintf(script, sizeof script, "#!/bin/sh\n[ -e '%s/broken' ] && exit 1\nexec cc \"$@\"\n",
             directory);
    write_file(directory, "cc", script);
    snprintf(compiler, sizeof compiler, "%s/cc", directory);
    assert_int_equal(chmod(compiler, 0700), 0);
    setenv("CC", compiler, 1);

    eg_context_options options = test_context_options();
    options.cache_dir = cache_directory;
    eg_context *ctx = test_context_with(&options);
    eg_device *device = NULL;
    eg_kernel *kernel = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    create_and_run(device, EG_F64, false);
    write_file(directory, "broken", "");
    create_and_run(device, EG_F64, true);
    eg_kernel_options other = text_options(SOURCE, copy_text, "copy", EG_F32);
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "code 1", eg_kernel_create(device, &other, &kernel));
    eg_device_close(&device);
    test_context_free(&ctx);
    restore("CC", cc);
    test_directory_remove(directory);
    test_directory_remove(cache_directory);
}

/* A compiler whose exit code is lost may have been killed halfway. */
static void test_kernel__nothing_is_taken_from_a_compiler_whose_exit_code_is_lost(void **state)
{
    (void)state;
    eg_context_options context_options = test_context_options();
    test_directory_create(cache_directory);
    context_options.cache_dir = cache_directory;
    eg_context *ctx = test_context_with(&context_options);
    eg_device *device = NULL;
    eg_kernel *kernel = NULL;
    eg_kernel_options options = text_options(SOURCE, copy_text, "copy", EG_F64);
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    void (*handler)(int) = signal(SIGCHLD, SIG_IGN);
    eg_status status = eg_kernel_create(device, &options, &kernel);
    signal(SIGCHLD, handler);
    assert_int_equal(status, EG_ERROR_COMPILE);
    assert_non_null(strstr(eg_context_error(ctx), "SIGCHLD"));
    assert_null(kernel);
    assert_int_equal(each_entry(cache_directory, discard), 0);
    create_and_run(device, EG_F64, false);
    eg_device_close(&device);
    test_context_free(&ctx);
    test_directory_remove(cache_directory);
}

/* --- memory ------------------------------------------------------------------------------------------------------ */

static const char multiply_text[] =
    "#define ROWS (WIDTH + 1)\n"
    "K_KERNEL(multiply, K_IN(real, x, WIDTH * LANES), K_OP(a, ROWS, WIDTH),\n"
    "         K_OUT(real, y, ROWS * LANES))\n"
    "{\n"
    "    K_TILES(t) { K_GEMM(ROWS, WIDTH, a, K_G(K_TILE(x, t, WIDTH)), K_G(K_TILE(y, t, ROWS))); "
    "}\n"
    "}\n";

/* A kernel, an operator, a launch and a reduction, all of which may fail at any allocation. */
static eg_status use_everything(eg_context *ctx, void *user)
{
    enum { WIDTH = 3, ROWS = WIDTH + 1 };
    static const double values[ROWS * WIDTH] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    static const eg_reduction_kind kinds[] = {EG_REDUCE_SUM, EG_REDUCE_MAX};
    const eg_define defines[] = {{"WIDTH", WIDTH}};
    eg_kernel_options options = text_options(SOURCE, multiply_text, "multiply", EG_F64);
    eg_status status = EG_OK;
    eg_device *device = NULL;
    eg_kernel *kernel = NULL;
    eg_operator *op = NULL;
    eg_buffer *x = NULL, *y = NULL, *result = NULL;
    eg_reducer *reducer = NULL;
    double one = 1, results[2];
    (void)user;
    options.defines = defines;
    options.define_count = EG_COUNT(defines);

    EG_TRY(eg_device_open(ctx, "cpu:2", &device));
    EG_TRY(eg_kernel_create(device, &options, &kernel));
    EG_TRY(eg_operator_create(device, EG_F64, ROWS, WIDTH, values, &op));
    EG_TRY(eg_buffer_create(device, EG_F64, TILES * WIDTH * LANES, &x));
    EG_TRY(eg_buffer_create(device, EG_F64, TILES * ROWS * LANES, &y));
    EG_TRY(eg_buffer_create(device, EG_F64, EG_COUNT(kinds), &result));
    EG_TRY(eg_reducer_create(device, EG_F64, kinds, EG_COUNT(kinds), &reducer));
    EG_TRY(eg_buffer_fill(x, 0, TILES * WIDTH * LANES, &one));
    EG_TRY(eg_launch(kernel, TILES, EG_BUFFER("x", x), EG_OPERATOR("a", op), EG_BUFFER("y", y)));
    EG_TRY(eg_reduce(
        reducer, TILES * ROWS * LANES,
        (const eg_reduction[]){{.kind = EG_REDUCE_SUM, .x = y}, {.kind = EG_REDUCE_MAX, .x = y}},
        result));
    EG_TRY(eg_buffer_download(result, 0, EG_COUNT(kinds), results));
    assert_true(results[0] == 6.0 * TILES * LANES && results[1] == 3.0);
done:
    eg_reducer_destroy(&reducer);
    eg_buffer_destroy(&x);
    eg_buffer_destroy(&y);
    eg_buffer_destroy(&result);
    eg_operator_destroy(&op);
    eg_kernel_destroy(&kernel);
    eg_device_close(&device);
    return status == EG_ERROR_DEVICE_MEMORY ? EG_ERROR_MEMORY : status;
}

static void test_kernel__every_allocation_of_creating_and_launching_may_fail(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    TEST_OK(ctx, use_everything(ctx, NULL));
    test_context_free(&ctx);
    int before = eg_kernel_compilations();
    test_allocation_sweep(use_everything, NULL);
    assert_int_equal(eg_kernel_compilations(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_kernel__a_failed_compilation_shows_the_compilers_log_and_the_line),
        KERNEL_TEST(test_kernel__options_that_make_no_sense_are_refused),
        KERNEL_TEST(test_kernel__fields_beyond_a_shorter_options_struct_keep_their_defaults),
        KERNEL_TEST(test_kernel__one_whose_sizes_the_compiler_finds_different_is_refused),
        KERNEL_TEST(test_kernel__arrays_larger_than_the_cpus_stack_are_refused),
        KERNEL_TEST(test_kernel__a_kernel_directory_takes_the_place_of_the_library),
        KERNEL_TEST(test_kernel__is_compiled_once_and_again_when_its_entry_is_damaged),
        KERNEL_TEST(test_kernel__is_kept_for_those_who_make_it_again_and_again),
        KERNEL_TEST(test_kernel__without_a_compiler_says_so),
        KERNEL_TEST(test_kernel__a_cached_kernel_needs_no_compiler),
        KERNEL_TEST(test_kernel__nothing_is_taken_from_a_compiler_whose_exit_code_is_lost),
        KERNEL_TEST(test_kernel__every_allocation_of_creating_and_launching_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
