/* The CPU backend below the kernel layer: the thread pool, the compiler, loading and launching. */
#include "test.h"

#include "base/threads.h"
#include "device/backend.h"
#include "device/process.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

/* --- the pool --------------------------------------------------------------------------------- */

typedef struct pool_run {
    int calls[4]; /* by part: each is written by one thread, and read after the run */
    int parts;
    bool caller_took_part_0;
    pthread_t caller;
} pool_run;

static void count_part(void *user, int part, int parts)
{
    pool_run *run = user;
    run->calls[part]++;
    if (part != 0) return;
    run->parts = parts;
    run->caller_took_part_0 = pthread_equal(pthread_self(), run->caller) != 0;
}

static void test_threads__every_part_runs_once_per_run_and_the_caller_takes_the_first(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int count = 1; count <= 4; count++) {
        eg_threads *threads = NULL;
        TEST_OK(ctx, eg_threads_create(ctx, count, &threads));
        assert_int_equal(eg_threads_count(threads), count);
        pool_run run = {.caller = pthread_self()};
        for (int turn = 1; turn <= 3000; turn++) {
            /* Now and then the workers have gone to sleep when the next run comes. */
            if (turn % 500 == 0) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
            eg_threads_run(threads, count_part, &run);
            assert_int_equal(run.parts, count);
            assert_true(run.caller_took_part_0);
            for (int part = 0; part < count; part++)
                assert_int_equal(run.calls[part], turn);
        }
        eg_threads_destroy(ctx, &threads);
        assert_null(threads);
    }
    test_context_free(&ctx);
}

static void sleep_in_one_part(void *user, int part, int parts)
{
    int *finished = user;
    if (part == parts - 1) nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    finished[part] = 1;
}

static void test_threads__a_run_waits_for_a_part_that_takes_long(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_threads *threads = NULL;
    TEST_OK(ctx, eg_threads_create(ctx, 2, &threads));
    for (int turn = 0; turn < 20; turn++) {
        int finished[2] = {0, 0};
        eg_threads_run(threads, sleep_in_one_part, finished);
        assert_true(finished[0] && finished[1]);
    }
    eg_threads_destroy(ctx, &threads);
    test_context_free(&ctx);
}

static void use_much_stack(void *user, int part, int parts)
{
    (void)parts;
    volatile char tile[6 << 20];
    for (size_t i = 0; i < sizeof tile; i += 4096)
        tile[i] = (char)part;
    ((int *)user)[part] = tile[0] + 1;
}

static void test_threads__workers_have_room_for_tiles_on_their_stacks(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_threads *threads = NULL;
    int seen[2] = {0};
    TEST_OK(ctx, eg_threads_create(ctx, 2, &threads));
    eg_threads_run(threads, use_much_stack, seen);
    assert_int_equal(seen[0], 1);
    assert_int_equal(seen[1], 2);
    eg_threads_destroy(ctx, &threads);
    test_context_free(&ctx);
}

#define CAUGHT 42

static void leave(int number)
{
    (void)number;
    _exit(CAUGHT);
}

static void touch_in_a_worker(void *user, int part, int parts)
{
    (void)parts;
    if (part > 0) *(volatile char *)user = 1;
}

/* Debuggers and crash reporters live on it. */
static void test_threads__the_programs_handler_sees_a_fault_in_a_worker(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    void *forbidden = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(forbidden != MAP_FAILED);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        eg_threads *threads = NULL;
        struct sigaction action = {.sa_handler = leave};
        if (sigaction(SIGSEGV, &action, NULL) != 0 || eg_threads_create(ctx, 2, &threads) != EG_OK)
            _exit(1);
        eg_threads_run(threads, touch_in_a_worker, forbidden);
        _exit(2);
    }
    int ended = 0;
    assert_int_equal(waitpid(child, &ended, 0), child);
    if (!WIFEXITED(ended)) fail_msg("it was ended by signal %d", WTERMSIG(ended));
    assert_int_equal(WEXITSTATUS(ended), CAUGHT);
    assert_int_equal(munmap(forbidden, 4096), 0);
    test_context_free(&ctx);
}

/* --- compiling and launching ------------------------------------------------------------------ */

/* An entry as the dialect makes it: (t0, t1, args), each args[i] the address of a value. */
static const char visit_source[] =
    "#include <stdint.h>\n"
    "#include <math.h>\n"
    "void eg_entry_visit(int64_t t0, int64_t t1, void **args)\n"
    "{\n"
    "    int32_t *visits = *(int32_t **)args[0];\n"
    "    double scale = *(const double *)args[1];\n"
    "    for (int64_t t = t0; t < t1; t++) visits[t] += (int32_t)(sin(scale) * 0 + scale);\n"
    "}\n";

static eg_text text_of(eg_context *ctx, const char *string)
{
    eg_text text = eg_text_new(ctx);
    TEST_OK(ctx, eg_text_puts(&text, string));
    return text;
}

/* Compiles visit_source and leaves it in a file of `directory`. */
static void compile_visit(eg_device *device, const char *directory, char path[PATH_MAX])
{
    eg_context *ctx = eg_device_context(device);
    eg_text source = text_of(ctx, visit_source);
    eg_blob blob = {0};
    TEST_OK(ctx, device->backend->compile(device, "tests/visit.k.c", &source, true, &blob));
    assert_true(blob.length > 1000);
    snprintf(path, PATH_MAX, "%.4000s/visit.so", directory);
    TEST_OK(ctx, eg_file_write_atomic(ctx, path, blob.data, blob.length, 0600, false));
    eg_release(ctx, &blob.data);
    eg_text_free(&source);
}

static void test_cpu__a_launch_visits_every_tile_of_its_range_once(void **state)
{
    (void)state;
    enum { ROOM = 1100, FIRST = 40 };
    static const int64_t counts[] = {0, 1, 2, 7, 1000};
    char directory[PATH_MAX], path[PATH_MAX];
    test_directory_create(directory);
    eg_context *ctx = test_context();
    for (int threads = 1; threads <= 3; threads++) {
        char spec[16];
        eg_device *device = NULL;
        void *visit = NULL;
        snprintf(spec, sizeof spec, "cpu:%d", threads);
        TEST_OK(ctx, eg_device_open(ctx, spec, &device));
        if (threads == 1) compile_visit(device, directory, path);
        eg_geometry geometry = {.lanes = 1, .ty = 1, .tz = 1, .in_turn = 1, .groups_per_tile = 1};
        TEST_OK(ctx, device->backend->load(device, NULL, path, "visit", &geometry, &visit));

        double weight = 1;
        eg_buffer *visits = NULL;
        TEST_OK(ctx, eg_buffer_create(device, EG_I32, ROOM, &visits));
        eg_slot slots[2] = {{.is_memory = true, .memory = visits->memory, .offset = visits->base},
                            {.data = &weight, .size = sizeof weight}};
        for (size_t c = 0; c < EG_COUNT(counts); c++) {
            TEST_OK(ctx, eg_buffer_fill(visits, 0, ROOM, &(int32_t){0}));
            enum { TURNS = 200 };
            long allocations = test_memory.calls;
            for (int turn = 0; turn < TURNS; turn++)
                TEST_OK(ctx, device->backend->launch(device, visit, &geometry, FIRST, counts[c],
                                                     slots, EG_COUNT(slots)));
            assert_int_equal(test_memory.calls, allocations);
            int32_t host[ROOM];
            TEST_OK(ctx, eg_buffer_download(visits, 0, ROOM, host));
            for (int64_t t = 0; t < ROOM; t++)
                assert_int_equal(host[t], t >= FIRST && t < FIRST + counts[c] ? TURNS : 0);
        }
        eg_buffer_destroy(&visits);
        device->backend->unload(device, visit);
        eg_device_close(&device);
    }
    test_context_free(&ctx);
    test_directory_remove(directory);
}

static void test_cpu__a_missing_entry_or_file_fails_to_load(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX];
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    void *function = NULL;
    test_directory_create(directory);
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    compile_visit(device, directory, path);
    eg_geometry geometry = {.lanes = 1, .ty = 1, .tz = 1, .in_turn = 1, .groups_per_tile = 1};
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "\"absent\"",
               device->backend->load(device, NULL, path, "absent", &geometry, &function));
    TEST_FAILS(ctx, EG_ERROR_IO, "EAGRE_CACHE_DIR",
               device->backend->load(device, NULL, "/nowhere/x.so", "visit", &geometry, &function));
    assert_null(function);
    eg_device_close(&device);
    test_context_free(&ctx);
    test_directory_remove(directory);
}

/* --- the compiler ----------------------------------------------------------------------------- */

/* Sets a variable for one test; restore_variable puts the old value back. */
static char *replace_variable(const char *name, const char *value)
{
    const char *before = getenv(name);
    char *copy = before ? strdup(before) : NULL;
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
    return copy;
}

static void restore_variable(const char *name, char *before)
{
    if (before)
        setenv(name, before, 1);
    else
        unsetenv(name);
    free(before);
}

static int entries_of(const char *directory)
{
    DIR *d = opendir(directory);
    assert_non_null(d);
    int count = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        count += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return count;
}

static void test_cpu__without_a_compiler_it_opens_and_says_what_to_install(void **state)
{
    (void)state;
    char empty[PATH_MAX];
    test_directory_create(empty);
    eg_context *ctx = test_context();
    eg_text source = text_of(ctx, visit_source), key = eg_text_new(ctx);
    eg_blob blob = {0};
    char *cc = replace_variable("CC", NULL), *path = replace_variable("PATH", "");
    const char *const paths[] = {"", ":", "/nowhere", empty};
    for (size_t i = 0; i < EG_COUNT(paths); i++) {
        eg_device *device = NULL;
        setenv("PATH", paths[i], 1);
        TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
        assert_non_null(strstr(eg_device_get_info(device)->version, "none found"));
        TEST_OK(ctx, device->backend->identify(device, &key));
        TEST_FAILS(ctx, EG_ERROR_NO_COMPILER, "cc, gcc and clang",
                   device->backend->compile(device, "visit.k.c", &source, true, &blob));
        assert_non_null(strstr(eg_context_error(ctx), "apt install gcc"));
        setenv("CC", "no-such-compiler -m64", 1);
        TEST_FAILS(ctx, EG_ERROR_NO_COMPILER, "CC is \"no-such-compiler -m64\"",
                   device->backend->compile(device, "visit.k.c", &source, true, &blob));
        unsetenv("CC");
        assert_null(blob.data);
        eg_device_close(&device);
    }
    restore_variable("PATH", path);
    restore_variable("CC", cc);
    eg_text_free(&key);
    eg_text_free(&source);
    test_context_free(&ctx);
    test_directory_remove(empty);
}

static void test_cpu__cc_may_hold_arguments_and_belongs_to_the_identity(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    char found[PATH_MAX], setting[PATH_MAX + 32];
    char *cc = replace_variable("CC", NULL);
    assert_true(eg_process_find("cc", found, sizeof found));
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_text source = text_of(ctx, "int eg_entry_x(void) { return ANSWER; }\n");
    eg_text keys[2] = {eg_text_new(ctx), eg_text_new(ctx)};
    eg_blob blob = {0};
    TEST_OK(ctx, device->backend->identify(device, &keys[0]));
    snprintf(setting, sizeof setting, "  %s\t-DANSWER=42 ", found);
    setenv("CC", setting, 1);
    TEST_OK(ctx, device->backend->identify(device, &keys[1]));
    assert_string_not_equal(eg_text_string(&keys[0]), eg_text_string(&keys[1]));
    TEST_OK(ctx, device->backend->compile(device, "x.k.c", &source, true, &blob));
    eg_release(ctx, &blob.data);
    eg_text_free(&keys[0]);
    eg_text_free(&keys[1]);
    eg_text_free(&source);
    eg_device_close(&device);
    restore_variable("CC", cc);
    test_context_free(&ctx);
}

static void test_cpu__a_failed_compilation_tells_the_line_and_leaves_no_files(void **state)
{
    (void)state;
    char directory[PATH_MAX];
    test_directory_create(directory);
    char *before = replace_variable("TMPDIR", directory);
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_text wrong = text_of(ctx, "#line 7 \"room/wrong.k.c\"\nint broken = nonsense;\n");
    eg_text right = text_of(ctx, visit_source);
    eg_blob blob = {0};
    TEST_FAILS(ctx, EG_ERROR_COMPILE, "nonsense",
               device->backend->compile(device, "room/wrong.k.c", &wrong, true, &blob));
    assert_non_null(strstr(eg_context_error(ctx), "wrong.k.c:7"));
    assert_null(blob.data);
    assert_int_equal(entries_of(directory), 0);
    TEST_OK(ctx, device->backend->compile(device, "room/right.k.c", &right, true, &blob));
    assert_int_equal(entries_of(directory), 0);
    eg_release(ctx, &blob.data);

    /* A program that ignores its children takes the exit code away from waitpid. */
    void (*handler)(int) = signal(SIGCHLD, SIG_IGN);
    eg_status ignored = device->backend->compile(device, "room/right.k.c", &right, true, &blob);
    signal(SIGCHLD, handler);
    assert_int_equal(ignored, EG_ERROR_COMPILE);
    assert_non_null(strstr(eg_context_error(ctx), "SIGCHLD"));
    assert_null(blob.data);
    assert_int_equal(entries_of(directory), 0);

    setenv("TMPDIR", "/nowhere", 1);
    TEST_FAILS(ctx, EG_ERROR_IO, "TMPDIR",
               device->backend->compile(device, "room/right.k.c", &right, true, &blob));
    restore_variable("TMPDIR", before);
    eg_text_free(&wrong);
    eg_text_free(&right);
    eg_device_close(&device);
    test_context_free(&ctx);
    test_directory_remove(directory);
}

static eg_status identify_compile_and_load(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_device *device = NULL;
    eg_blob blob = {0};
    void *function = NULL;
    eg_text source = eg_text_new(ctx), key = eg_text_new(ctx);
    eg_geometry geometry = {.lanes = 1, .ty = 1, .tz = 1, .in_turn = 1, .groups_per_tile = 1};
    EG_TRY(eg_text_puts(&source, "int eg_entry_x(void) { return 1; }\n"));
    EG_TRY(eg_device_open(ctx, "cpu:1", &device));
    EG_TRY(device->backend->identify(device, &key));
    EG_TRY(device->backend->compile(device, "x.k.c", &source, true, &blob));
    EG_TRY(device->backend->load(device, &blob, user, "visit", &geometry, &function));
done:
    if (function) device->backend->unload(device, function);
    eg_release(ctx, &blob.data);
    eg_text_free(&key);
    eg_text_free(&source);
    eg_device_close(&device);
    return status;
}

static void test_cpu__every_allocation_of_compiling_and_loading_may_fail(void **state)
{
    (void)state;
    char directory[PATH_MAX], path[PATH_MAX];
    test_directory_create(directory);
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    compile_visit(device, directory, path);
    eg_device_close(&device);
    test_context_free(&ctx);
    test_allocation_sweep(identify_compile_and_load, path);
    test_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads__every_part_runs_once_per_run_and_the_caller_takes_the_first),
        cmocka_unit_test(test_threads__a_run_waits_for_a_part_that_takes_long),
        cmocka_unit_test(test_threads__workers_have_room_for_tiles_on_their_stacks),
        cmocka_unit_test(test_threads__the_programs_handler_sees_a_fault_in_a_worker),
        cmocka_unit_test(test_cpu__a_launch_visits_every_tile_of_its_range_once),
        cmocka_unit_test(test_cpu__a_missing_entry_or_file_fails_to_load),
        cmocka_unit_test(test_cpu__without_a_compiler_it_opens_and_says_what_to_install),
        cmocka_unit_test(test_cpu__cc_may_hold_arguments_and_belongs_to_the_identity),
        cmocka_unit_test(test_cpu__a_failed_compilation_tells_the_line_and_leaves_no_files),
        cmocka_unit_test(test_cpu__every_allocation_of_compiling_and_loading_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
