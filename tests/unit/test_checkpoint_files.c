/* Checkpoints and the directory they are written to: how many are kept, what dead writers have left, disks
 * that are full or gone. */
#define _GNU_SOURCE
#include "checkpoint.h"

#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <time.h>

#include "report/checkpoint/manifest.h"

static const checkpoint_case a_case = {
    EG_SHAPE_QUAD, {6, 5, 0}, EG_BASIS_LOBATTO, EG_BASIS_GAUSS, 3, 4, false};

/* A state and a directory. */
typedef struct run {
    eg_context *ctx;
    eg_comm *comm;
    eg_device *device;
    checkpoint_setting s;
    char directory[PATH_MAX];
} run;

static void run_open(run *r)
{
    r->ctx = test_context();
    test_directory_create(r->directory);
    TEST_OK(r->ctx, eg_comm_self(r->ctx, &r->comm));
    TEST_OK(r->ctx, eg_device_open(r->ctx, "cpu:1", &r->device));
    checkpoint_setting_open(r->ctx, r->comm, r->device, &a_case, EG_PARTITION_HILBERT, &r->s);
}

static void run_close(run *r)
{
    checkpoint_setting_close(&r->s);
    eg_device_close(&r->device);
    eg_comm_destroy(&r->comm);
    test_context_free(&r->ctx);
    test_directory_remove(r->directory);
}

/* The step of the newest checkpoint, which must be whole and hold the state with this salt. */
static int64_t newest(run *r, const char *directory, int64_t salt)
{
    eg_checkpoint *checkpoint = NULL;
    TEST_OK(r->ctx, eg_checkpoint_open(r->ctx, NULL, directory, &checkpoint));
    const int64_t step = eg_checkpoint_get_info(checkpoint)->step;
    TEST_OK(r->ctx, eg_checkpoint_read_field(checkpoint, "solution", NULL, r->s.solution));
    assert_true(checkpoint_distance(r->s.solution, salt) == 0.0);
    eg_checkpoint_close(&checkpoint);
    return step;
}

static bool exists(const char *directory, const char *name)
{
    char path[2 * PATH_MAX];
    struct stat what;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return stat(path, &what) == 0;
}

static void touch(const char *directory, const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void make_folder(const char *directory, const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* --- which are kept --------------------------------------------------------------------------- */

static void test_ring__the_last_ones_are_kept(void **state)
{
    (void)state;
    run r;
    char **paths = NULL;
    size_t count = 0;
    run_open(&r);
    for (int64_t step = 1; step <= 5; step++)
        TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, step, 3));
    assert_int_equal(checkpoint_entries(r.directory), 3);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 6, 0)); /* two, if nothing is said */
    assert_int_equal(checkpoint_entries(r.directory), 2);
    assert_true(exists(r.directory, "00000006") && exists(r.directory, "00000005"));
    assert_int_equal(newest(&r, r.directory, 1), 6);
    TEST_OK(r.ctx, eg_checkpoint_list(r.ctx, r.directory, &count, &paths));
    assert_int_equal(count, 2);
    assert_non_null(strstr(paths[0], "/00000006"));
    assert_non_null(strstr(paths[1], "/00000005"));
    for (size_t i = 0; i < count; i++)
        eg_release(r.ctx, &paths[i]);
    eg_release(r.ctx, &paths);
    run_close(&r);
}

static void test_ring__the_newest_is_the_one_written_last_whatever_its_step(void **state)
{
    (void)state;
    run r;
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 100, 3));
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 200, 3));
    /* A run that goes on from an earlier time. */
    checkpoint_fill(r.s.solution, 7);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 150, 3));
    assert_int_equal(newest(&r, r.directory, 7), 150);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 160, 2));
    assert_true(exists(r.directory, "00000150") && exists(r.directory, "00000160"));
    assert_int_equal(checkpoint_entries(r.directory), 2);
    run_close(&r);
}

static void test_ring__a_checkpoint_of_the_same_step_is_replaced(void **state)
{
    (void)state;
    run r;
    char folder[PATH_MAX + 16];
    run_open(&r);
    snprintf(folder, sizeof folder, "%s/00000100", r.directory);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 100, 1));
    assert_true(exists(folder, "000001-0000-000.h5"));
    checkpoint_fill(r.s.solution, 7);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 100, 1));
    assert_int_equal(newest(&r, r.directory, 7), 100);
    assert_int_equal(checkpoint_entries(folder), 2);
    assert_true(exists(folder, "000002-0000-000.h5"));
    run_close(&r);
}

static void test_ring__a_writer_that_died_over_the_same_step_has_done_no_harm(void **state)
{
    (void)state;
    run r;
    char folder[PATH_MAX + 16];
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 100, 3));
    checkpoint_fill(r.s.solution, 7);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 90, 3));
    /* It has left a block, and half of another. */
    snprintf(folder, sizeof folder, "%s/00000100", r.directory);
    touch(folder, "000003-0000-000.h5");
    touch(folder, "000003-0000-001.h5.tmp.123.4");
    assert_int_equal(newest(&r, r.directory, 7), 90);
    assert_int_equal(newest(&r, folder, 1), 100);
    checkpoint_fill(r.s.solution, 8);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 95, 3));
    assert_int_equal(newest(&r, r.directory, 8), 95);
    assert_int_equal(newest(&r, folder, 1), 100);
    assert_int_equal(checkpoint_entries(folder), 2);
    run_close(&r);
}

static void test_ring__what_dead_writers_have_left_is_removed_and_nothing_else(void **state)
{
    (void)state;
    run r;
    char folder[PATH_MAX + 16];
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 1, 2));
    make_folder(r.directory, "00000002"); /* died early */
    make_folder(r.directory, "00000003"); /* died late */
    snprintf(folder, sizeof folder, "%s/00000003", r.directory);
    touch(folder, "000002-0000-000.h5");
    touch(folder, "000002-0001-000.h5.tmp.77.0");
    touch(folder, "manifest.toml.tmp.77.1");
    make_folder(r.directory, "00000004"); /* somebody has put a file there */
    snprintf(folder, sizeof folder, "%s/00000004", r.directory);
    touch(folder, "000003-0000-000.h5");
    touch(folder, "notes.txt");
    touch(r.directory, "readme");
    make_folder(r.directory, "1234");
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 5, 2));
    assert_int_equal(newest(&r, r.directory, 1), 5);
    assert_false(exists(r.directory, "00000002") || exists(r.directory, "00000003"));
    assert_true(exists(r.directory, "00000001") && exists(r.directory, "00000004/notes.txt") &&
                exists(r.directory, "readme") && exists(r.directory, "1234"));
    assert_int_equal(checkpoint_entries(folder), 1);
    run_close(&r);
}

static void test_ring__results_may_be_named_like_a_step(void **state)
{
    (void)state;
    run r;
    char folder[PATH_MAX + 16];
    eg_checkpoint *checkpoint = NULL;
    run_open(&r);
    make_folder(r.directory, "20261116");
    snprintf(folder, sizeof folder, "%s/20261116", r.directory);
    TEST_FAILS(r.ctx, EG_ERROR_INPUT, "20261116/manifest.toml: No such file",
               eg_checkpoint_open(r.ctx, NULL, folder, &checkpoint));
    TEST_OK(r.ctx, checkpoint_write(&r.s, folder, 7, 2));
    assert_int_equal(newest(&r, folder, 1), 7);
    run_close(&r);
}

static void test_ring__a_damaged_checkpoint_does_not_push_out_a_whole_one(void **state)
{
    (void)state;
    run r;
    char path[PATH_MAX + 64];
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 1, 2));
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 2, 2));
    snprintf(path, sizeof path, "%s/00000002/manifest.toml", r.directory);
    assert_int_equal(truncate(path, 100), 0);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 3, 2));
    assert_true(exists(r.directory, "00000001/manifest.toml"));
    /* Behind two whole ones it goes. */
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 4, 2));
    assert_int_equal(checkpoint_entries(r.directory), 2);
    run_close(&r);
}

/* --- what a run that goes on leaves behind ---------------------------------------------------- */

static void test_abandon__what_was_written_later_is_gone(void **state)
{
    (void)state;
    run r;
    char path[PATH_MAX + 64];
    run_open(&r);
    for (int64_t step = 10; step <= 50; step += 10) /* of sequences 1 to 5 */
        TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, step, 9));
    snprintf(path, sizeof path, "%s/00000040/manifest.toml", r.directory); /* one is damaged */
    assert_int_equal(truncate(path, 100), 0);
    make_folder(r.directory, "00000060"); /* of one nothing but an empty manifest is left */
    touch(r.directory, "00000060/manifest.toml");
    make_folder(r.directory, "00000070"); /* one was not finished */
    touch(r.directory, "00000070/000006-0000-000.h5");
    touch(r.directory, "00000050/notes.txt");
    TEST_OK(r.ctx, eg_checkpoint_abandon(r.ctx, r.directory, 2));
    assert_int_equal(newest(&r, r.directory, 1), 20);
    assert_true(exists(r.directory, "00000010/manifest.toml"));
    snprintf(path, sizeof path, "%s/00000050", r.directory);
    assert_int_equal(checkpoint_entries(path), 1); /* what is not ours stays */
    assert_int_equal(checkpoint_entries(r.directory), 3);
    /* Again there is nothing to do, as there is where no checkpoint ever was. */
    TEST_OK(r.ctx, eg_checkpoint_abandon(r.ctx, r.directory, 2));
    assert_int_equal(checkpoint_entries(r.directory), 3);
    snprintf(path, sizeof path, "%s/nowhere", r.directory);
    TEST_OK(r.ctx, eg_checkpoint_abandon(r.ctx, path, 2));
    run_close(&r);
}

static void test_abandon__the_run_that_goes_on_keeps_its_own(void **state)
{
    (void)state;
    run r;
    char path[PATH_MAX + 64], offer[PATH_MAX + 64];
    eg_checkpoint *checkpoint = NULL;
    run_open(&r);
    for (int64_t step = 10; step <= 50; step += 10)
        TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, step, 9));
    TEST_OK(r.ctx, eg_checkpoint_abandon(r.ctx, r.directory, 1));
    checkpoint_fill(r.s.solution, 7);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 15, 9));
    assert_int_equal(newest(&r, r.directory, 7), 15);
    /* The one before it is where the run went on from. */
    snprintf(path, sizeof path, "%s/00000015/manifest.toml", r.directory);
    snprintf(offer, sizeof offer, "is whole: %s/00000010 (", r.directory);
    assert_int_equal(truncate(path, 100), 0);
    TEST_FAILS(r.ctx, EG_ERROR_INPUT, offer,
               eg_checkpoint_open(r.ctx, NULL, r.directory, &checkpoint));
    run_close(&r);
}

static void test_abandon__what_cannot_be_removed_is_an_error(void **state)
{
    (void)state;
    run r;
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 1, 9));
    make_folder(r.directory, "00000002");
    make_folder(r.directory, "00000002/manifest.toml"); /* a directory is not unlinked */
    touch(r.directory, "00000002/manifest.toml/file");
    TEST_FAILS(r.ctx, EG_ERROR_IO, "/00000002/manifest.toml, which was written after",
               eg_checkpoint_abandon(r.ctx, r.directory, 1));
    assert_true(exists(r.directory, "00000001/manifest.toml"));
    run_close(&r);
}

/* --- what is in them -------------------------------------------------------------------------- */

/* What another program reads in a block. */
static void test_block__h5dump_shows_the_same_numbers(void **state)
{
    (void)state;
    run r;
    char command[2 * PATH_MAX];
    if (system("h5dump --version >/dev/null 2>&1") != 0) skip();
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 1, 2));
    const size_t count = eg_field_host_count(r.s.solution);
    double *values = calloc(count, sizeof *values);
    assert_non_null(values);
    TEST_OK(r.ctx, eg_field_to_host(r.s.solution, values));
    snprintf(command, sizeof command,
             "h5dump -m %%.17g -y -w 1 -d fields/solution/values %s/00000001/000001-0000-000.h5",
             r.directory);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    char line[256];
    size_t shown = 0;
    while (fgets(line, sizeof line, pipe)) {
        char *end;
        const double value = strtod(line, &end);
        if (end == line) continue;
        assert_true(shown < count && value == values[shown]);
        shown++;
    }
    assert_int_equal(pclose(pipe), 0);
    assert_int_equal(shown, count);
    free(values);
    run_close(&r);
}

static void test_snapshot__of_a_checkpoint_is_that_of_the_state(void **state)
{
    (void)state;
    run r;
    eg_checkpoint *checkpoint = NULL;
    eg_snapshot *a = NULL, *b = NULL;
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 3, 2));
    TEST_OK(r.ctx, eg_snapshot_create(&r.s.state, NULL, 0, &a));
    TEST_OK(r.ctx, eg_checkpoint_open(r.ctx, NULL, r.directory, &checkpoint));
    TEST_OK(r.ctx, eg_checkpoint_snapshot(checkpoint, r.s.mesh, &b));
    assert_true(b->step == 3 && b->time == 0.1 && b->array_count == 2);
    assert_int_equal(a->element_count, b->element_count);
    const size_t nodes = (size_t)a->first_node[a->element_count];
    assert_int_equal(b->first_node[b->element_count], nodes);
    assert_memory_equal(a->x, b->x, nodes * 2 * sizeof *a->x);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(a->arrays[i].name, b->arrays[i].name);
        assert_memory_equal(a->arrays[i].values, b->arrays[i].values, nodes * sizeof *a->x);
    }
    assert_string_equal(b->arrays[0].unit, "m/s");
    assert_null(b->arrays[1].unit);
    eg_snapshot_destroy(&b);
    eg_snapshot_destroy(&a);
    eg_checkpoint_close(&checkpoint);
    run_close(&r);
}

static void test_write__the_same_state_gives_the_same_blocks(void **state)
{
    (void)state;
    run r;
    char path[PATH_MAX + 64], *first = NULL, *second = NULL;
    size_t length = 0, other = 0;
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 1, 2));
    for (const time_t then = time(NULL); time(NULL) == then;) /* the time is not in them */
        usleep(10000);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 2, 2));
    snprintf(path, sizeof path, "%s/00000001/000001-0000-000.h5", r.directory);
    TEST_OK(r.ctx, eg_file_read(r.ctx, path, &first, &length));
    snprintf(path, sizeof path, "%s/00000002/000002-0000-000.h5", r.directory);
    TEST_OK(r.ctx, eg_file_read(r.ctx, path, &second, &other));
    assert_int_equal(length, other);
    assert_memory_equal(first, second, length);
    eg_release(r.ctx, &first);
    eg_release(r.ctx, &second);
    run_close(&r);
}

static void test_write__what_is_not_a_number_is_not_written(void **state)
{
    (void)state;
    run r;
    run_open(&r);
    r.s.number = NAN;
    TEST_FAILS(r.ctx, EG_ERROR_NUMERIC, "last dt is NaN",
               checkpoint_write(&r.s, r.directory, 1, 2));
    r.s.number = 1;
    r.s.state.time = NAN;
    TEST_FAILS(r.ctx, EG_ERROR_NUMERIC, "time is NaN", checkpoint_write(&r.s, r.directory, 1, 2));
    r.s.state.time = 0;
    r.s.state.fields[0].name = "a/b";
    TEST_FAILS(r.ctx, EG_ERROR_ARGUMENT, "no slash", checkpoint_write(&r.s, r.directory, 1, 2));
    assert_int_equal(checkpoint_entries(r.directory), 0);
    run_close(&r);
}

static void test_write__more_blocks_than_a_manifest_can_name_are_refused(void **state)
{
    (void)state;
    const checkpoint_case many = {
        EG_SHAPE_QUAD, {280, 270, 0}, EG_BASIS_LOBATTO, EG_BASIS_GAUSS, 0, 0, false};
    run r;
    run_open(&r);
    checkpoint_setting_close(&r.s);
    checkpoint_setting_open(r.ctx, r.comm, r.device, &many, EG_PARTITION_HILBERT, &r.s);
    TEST_FAILS(
        r.ctx, EG_ERROR_INPUT, "with 75600 blocks its manifest may have",
        eg_checkpoint_write(
            &(eg_checkpoint_options){.directory = r.directory, .block_bytes = 1, .model = "test"},
            r.comm, &r.s.state, NULL));
    assert_non_null(strstr(eg_context_error(r.ctx), "a larger output.checkpoint.block_mib"));
    assert_int_equal(checkpoint_entries(r.directory), 0);
    run_close(&r);
}

/* --- disks ------------------------------------------------------------------------------------ */

static void test_write__a_directory_is_made_but_not_its_parent(void **state)
{
    (void)state;
    run r;
    char inner[PATH_MAX + 16], deeper[PATH_MAX + 32];
    run_open(&r);
    snprintf(inner, sizeof inner, "%s/checkpoints", r.directory);
    snprintf(deeper, sizeof deeper, "%s/more", inner);
    TEST_FAILS(r.ctx, EG_ERROR_IO, deeper, checkpoint_write(&r.s, deeper, 1, 2));
    assert_non_null(strstr(eg_context_error(r.ctx), "No such file or directory"));
    TEST_OK(r.ctx, checkpoint_write(&r.s, inner, 1, 2));
    assert_int_equal(newest(&r, r.directory, 1), 1); /* found in the directory above, too */
    make_folder(r.directory, "20261116");            /* whatever else is there */
    assert_int_equal(newest(&r, r.directory, 1), 1);
    touch(r.directory, "file");
    snprintf(inner, sizeof inner, "%s/file", r.directory);
    TEST_FAILS(r.ctx, EG_ERROR_IO, "a file has this name", checkpoint_write(&r.s, inner, 1, 2));
    run_close(&r);
}

static void test_write__into_a_directory_that_was_removed_fails_cleanly(void **state)
{
    (void)state;
    run r;
    char inner[PATH_MAX + 16], deeper[PATH_MAX + 32];
    run_open(&r);
    snprintf(inner, sizeof inner, "%s/run", r.directory);
    snprintf(deeper, sizeof deeper, "%s/checkpoints", inner);
    make_folder(r.directory, "run");
    TEST_OK(r.ctx, checkpoint_write(&r.s, deeper, 1, 2));
    test_directory_remove(deeper);
    TEST_OK(r.ctx, checkpoint_write(&r.s, deeper, 2, 2)); /* it is made again */
    test_directory_remove(inner);
    TEST_FAILS(r.ctx, EG_ERROR_IO, deeper, checkpoint_write(&r.s, deeper, 3, 2));
    assert_non_null(strstr(eg_context_error(r.ctx), "No such file or directory"));
    assert_int_equal(checkpoint_entries(r.directory), 0);
    run_close(&r);
}

/* Writes until it fails, as it must, with this reason: the checkpoint before is whole, and nothing of the
 * one that failed is left. */
static void write_until_full(run *r, const char *directory, const char *reason)
{
    int64_t step = 0;
    eg_status status = EG_OK;
    while (step < 100000 && status == EG_OK) {
        step++;
        checkpoint_fill(r->s.solution, step);
        status = checkpoint_write(&r->s, directory, step, 1000000);
    }
    assert_int_equal(status, EG_ERROR_IO);
    if (!strstr(eg_context_error(r->ctx), reason) || !strstr(eg_context_error(r->ctx), directory))
        fail_msg("\"%s\" lacks \"%s\" or the path", eg_context_error(r->ctx), reason);
    assert_true(step > 1);
    assert_int_equal(checkpoint_entries(directory), step - 1);
    assert_int_equal(newest(r, directory, step - 1), step - 1);
}

static void test_write__a_limit_on_the_size_of_files_fails_cleanly(void **state)
{
    (void)state;
    run r;
    struct rlimit before, limit;
    run_open(&r);
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 1, 2));
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 4096; /* a block is longer, and is cut off in the middle */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    eg_status status = checkpoint_write(&r.s, r.directory, 2, 2);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, EG_ERROR_IO);
    assert_non_null(strstr(eg_context_error(r.ctx), "File too large"));
    assert_non_null(strstr(eg_context_error(r.ctx), "/00000002/000002-0000-000.h5"));
    assert_false(exists(r.directory, "00000002"));
    assert_int_equal(newest(&r, r.directory, 1), 1);
    run_close(&r);
}

/* A disk of 20 MB, mounted where no other process sees it; false where that is not possible. */
static bool mount_disk(const char *path)
{
    return unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mount("none", path, "tmpfs", 0, "size=20m") == 0;
}

static void test_write__a_full_disk_fails_cleanly(void **state)
{
    (void)state;
    run r;
    char filler[PATH_MAX + 16];
    run_open(&r);
    if (!mount_disk(r.directory)) {
        run_close(&r);
        skip();
    }
    snprintf(filler, sizeof filler, "%s/filler", r.directory);
    touch(r.directory, "filler");
    make_folder(r.directory, "checkpoints");
    FILE *file = fopen(filler, "w");
    assert_non_null(file);
    for (int i = 0; i < 19 << 10; i++)
        assert_int_equal(fwrite(filler, 1, 1024, file), 1024);
    fclose(file);
    snprintf(filler, sizeof filler, "%s/checkpoints", r.directory);
    write_until_full(&r, filler, "No space left on device; free some space there");
    assert_int_equal(umount(r.directory), 0);
    run_close(&r);
}

static void test_write__a_read_only_directory_fails_cleanly(void **state)
{
    (void)state;
    run r;
    run_open(&r);
    const bool root = geteuid() == 0;
    if (root && !mount_disk(r.directory)) {
        run_close(&r);
        skip();
    }
    TEST_OK(r.ctx, checkpoint_write(&r.s, r.directory, 1, 2));
    if (root)
        assert_int_equal(mount(NULL, r.directory, NULL, MS_REMOUNT | MS_RDONLY, NULL), 0);
    else
        assert_int_equal(chmod(r.directory, 0500), 0);
    TEST_FAILS(r.ctx, EG_ERROR_IO, r.directory, checkpoint_write(&r.s, r.directory, 2, 2));
    assert_non_null(strstr(eg_context_error(r.ctx), root ? "Read-only" : "Permission denied"));
    assert_int_equal(newest(&r, r.directory, 1), 1);
    if (root)
        assert_int_equal(umount(r.directory), 0);
    else
        assert_int_equal(chmod(r.directory, 0700), 0);
    run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring__the_last_ones_are_kept),
        cmocka_unit_test(test_ring__the_newest_is_the_one_written_last_whatever_its_step),
        cmocka_unit_test(test_ring__a_checkpoint_of_the_same_step_is_replaced),
        cmocka_unit_test(test_ring__a_writer_that_died_over_the_same_step_has_done_no_harm),
        cmocka_unit_test(test_ring__what_dead_writers_have_left_is_removed_and_nothing_else),
        cmocka_unit_test(test_ring__results_may_be_named_like_a_step),
        cmocka_unit_test(test_ring__a_damaged_checkpoint_does_not_push_out_a_whole_one),
        cmocka_unit_test(test_abandon__what_was_written_later_is_gone),
        cmocka_unit_test(test_abandon__the_run_that_goes_on_keeps_its_own),
        cmocka_unit_test(test_abandon__what_cannot_be_removed_is_an_error),
        cmocka_unit_test(test_block__h5dump_shows_the_same_numbers),
        cmocka_unit_test(test_snapshot__of_a_checkpoint_is_that_of_the_state),
        cmocka_unit_test(test_write__the_same_state_gives_the_same_blocks),
        cmocka_unit_test(test_write__what_is_not_a_number_is_not_written),
        cmocka_unit_test(test_write__more_blocks_than_a_manifest_can_name_are_refused),
        cmocka_unit_test(test_write__a_directory_is_made_but_not_its_parent),
        cmocka_unit_test(test_write__into_a_directory_that_was_removed_fails_cleanly),
        cmocka_unit_test(test_write__a_limit_on_the_size_of_files_fails_cleanly),
        cmocka_unit_test(test_write__a_full_disk_fails_cleanly),
        cmocka_unit_test(test_write__a_read_only_directory_fails_cleanly),
    };
#ifdef EG_HAVE_HDF5
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    (void)tests;
    return 77;
#endif
}
