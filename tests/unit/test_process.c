/* Programs that are started, as compilers are. */
#define _GNU_SOURCE
#include "test.h"

#include "device/process.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static int run_shell(eg_context *ctx, const char *script)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    int code = -1;
    TEST_OK(ctx, eg_process_run(ctx, argv, "/dev/null", &code));
    return code;
}

static void test_process__codes_and_signals_are_told(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    assert_int_equal(run_shell(ctx, "exit 7"), 7);
    assert_int_equal(run_shell(ctx, "kill -TERM $$"), 128 + SIGTERM);
    test_context_free(&ctx);
}

static void test_process__signals_to_our_group_are_not_for_it(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    char script[80];
    /* A group of our own, so that nobody else is interrupted; a leader has one. */
    (void)setpgid(0, 0);
    assert_int_equal(getpgrp(), getpid());
    void (*const before)(int) = signal(SIGINT, SIG_IGN);
    snprintf(script, sizeof script, "kill -INT -%ld && exit 7", (long)getpgrp());
    const int code = run_shell(ctx, script);
    signal(SIGINT, before);
    assert_int_equal(code, 7);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process__codes_and_signals_are_told),
        cmocka_unit_test(test_process__signals_to_our_group_are_not_for_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
