/* Kills a process 200 times at random moments while it writes one checkpoint after another: the newest is
 * whole every time, and the next process goes on from it.
 *
 * Each process reads the newest checkpoint, checks its values, and writes on from its step; on the way it
 * jumps back now and then, so that checkpoints of the same step are replaced, too. */
#include "checkpoint.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#define KILLS 200
#define MOMENT_S 0.012 /* within which a process is killed */

static const checkpoint_case a_case = {
    EG_SHAPE_TRI, {4, 4, 0}, EG_BASIS_LOBATTO, EG_BASIS_MODAL, 2, 3, false};

/* Writes checkpoints for ever, or (steps > 0) so many; tells by a byte that it begins. */
static void work(const char *directory, int ready, int steps)
{
    eg_context *ctx = test_context();
    eg_comm *comm = NULL;
    eg_device *device = NULL;
    eg_checkpoint *checkpoint = NULL;
    checkpoint_setting s;
    int64_t step = 0;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    checkpoint_setting_open(ctx, comm, device, &a_case, EG_PARTITION_HILBERT, &s);
    if (eg_checkpoint_open(ctx, comm, directory, &checkpoint) == EG_OK) {
        TEST_OK(ctx, eg_checkpoint_read_field(checkpoint, "solution", NULL, s.solution));
        s.number = eg_checkpoint_number(checkpoint, "last dt", 0);
        assert_true(checkpoint_distance(s.solution, (int64_t)s.number) == 0.0);
        step = eg_checkpoint_get_info(checkpoint)->step;
        eg_checkpoint_close(&checkpoint);
    } else {
        s.number = 0; /* counts all that were written */
    }
    assert_int_equal(write(ready, "", 1), 1);
    for (int i = 0; steps == 0 || i < steps; i++) {
        s.number += 1;
        step = (int64_t)s.number % 10 == 0 && step > 2 ? step - 2 : step + 1;
        checkpoint_fill(s.solution, (int64_t)s.number);
        TEST_OK(ctx, checkpoint_write(&s, directory, step, 2));
    }
    checkpoint_setting_close(&s);
    eg_device_close(&device);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

static void sleep_seconds(double seconds)
{
    struct timespec rest = {.tv_nsec = (long)(seconds * 1e9)};
    while (nanosleep(&rest, &rest) != 0)
        ;
}

/* Lets a process work and kills it at a random moment. */
static void work_and_die(const char *directory, double seconds)
{
    int pipes[2], how = 0;
    char byte;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pipes[0]);
        work(directory, pipes[1], 0);
        _exit(0); /* not reached */
    }
    close(pipes[1]);
    assert_int_equal(read(pipes[0], &byte, 1), 1); /* else it has failed before it began */
    close(pipes[0]);
    sleep_seconds(seconds);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
}

static void test_kill__the_newest_checkpoint_is_whole_after_every_kill(void **state)
{
    (void)state;
    char directory[PATH_MAX];
    uint64_t seed = (uint64_t)time(NULL);
    double count = 0;
    test_directory_create(directory);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (int i = 0; i < KILLS; i++) {
        work_and_die(directory, MOMENT_S * (1.0 + test_random(&seed)) / 2);
        eg_context *ctx = test_context();
        eg_checkpoint *checkpoint = NULL;
        eg_status status = eg_checkpoint_open(ctx, NULL, directory, &checkpoint);
        /* The first processes may have had no time for one. */
        if (status != EG_OK && (count > 0 || !strstr(eg_context_error(ctx), "there is no ")))
            fail_msg("kill %d: %s", i, eg_context_error(ctx));
        if (status == EG_OK) {
            double now = eg_checkpoint_number(checkpoint, "last dt", 0);
            assert_true(now >= count); /* nothing that was finished is ever lost */
            count = now;
        }
        eg_checkpoint_close(&checkpoint);
        test_context_free(&ctx);
    }
    assert_true(count > KILLS / 10.0);

    /* A process that is let live cleans up. */
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    work(directory, pipes[1], 3);
    close(pipes[0]);
    close(pipes[1]);
    assert_int_equal(checkpoint_entries(directory), 2);
    print_message("%g checkpoints were written\n", count);
    test_directory_remove(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kill__the_newest_checkpoint_is_whole_after_every_kill),
    };
#ifdef EG_HAVE_HDF5
    /* A kill is not a power failure: no disk is needed, which would make it slow. */
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    (void)tests;
    return 77;
#endif
}
