/* What tests share: contexts on an allocator that counts and fails, sweeps over every allocation,
 * a captured log, temporary directories. Include first; it includes cmocka and what cmocka needs.
 *
 *     static eg_status body(eg_context *ctx, void *user) { ... return status; }
 *
 *     eg_context *ctx = test_context();      // counted memory, captured log
 *     TEST_OK(ctx, eg_text_puts(&text, "x"));
 *     test_context_free(&ctx);               // fails if a block is left
 *     test_allocation_sweep(body, NULL);     // body with its 1st, 2nd, … allocation failing
 */
#ifndef EG_TEST_H
#define EG_TEST_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/base.h"

/* Counts calls and live blocks; the call numbered `fail_at` (from 1) returns NULL. */
typedef struct test_allocator {
    long calls;   /* since the last test_allocator_arm */
    long live;    /* blocks not yet released */
    long fail_at; /* 0: never */
    bool persist; /* every call from `fail_at` on fails, not only that one */
} test_allocator;

static test_allocator test_memory;

/* The lines logged through test_context since it was made, each ended by a newline. */
static char test_log[16384];

static inline void *test_reallocate(void *user, void *block, size_t bytes)
{
    test_allocator *a = user;
    a->calls++;
    if (a->fail_at && (a->calls == a->fail_at || (a->persist && a->calls > a->fail_at)))
        return NULL;
    /* Fresh memory is never zero by luck. */
    void *moved = realloc(block, bytes);
    if (moved && !block) {
        memset(moved, 0xa5, bytes);
        a->live++;
    }
    return moved;
}

static inline void test_release(void *user, void *block)
{
    test_allocator *a = user;
    if (block) a->live--;
    free(block);
}

/* Counts calls from 0 again and makes call `fail_at` fail (0: none). */
static inline void test_allocator_arm(long fail_at, bool persist)
{
    test_memory.calls = 0;
    test_memory.fail_at = fail_at;
    test_memory.persist = persist;
}

static inline void test_log_line(void *user, eg_log_level level, const char *line)
{
    (void)user;
    (void)level;
    size_t length = strlen(test_log);
    snprintf(test_log + length, sizeof test_log - length, "%s\n", line);
}

/* Options of test_context, for tests that change one. */
static inline eg_context_options test_context_options(void)
{
    eg_context_options options = eg_context_defaults();
    options.allocator = (eg_allocator){
        .reallocate = test_reallocate, .release = test_release, .user = &test_memory};
    options.log = test_log_line;
    options.log_level = EG_LOG_DEBUG;
    return options;
}

static inline eg_context *test_context_with(const eg_context_options *options)
{
    eg_context *ctx = NULL;
    test_allocator_arm(0, false);
    test_log[0] = '\0';
    assert_int_equal(eg_context_create(options, &ctx), EG_OK);
    return ctx;
}

/* A context with counted memory and a captured log. */
static inline eg_context *test_context(void)
{
    eg_context_options options = test_context_options();
    return test_context_with(&options);
}

/* Destroys it and fails the test if any block of test_memory is still live. */
static inline void test_context_free(eg_context **ctx)
{
    test_allocator_arm(0, false);
    eg_context_destroy(ctx);
    assert_int_equal(test_memory.live, 0);
}

/* Evaluates a call that must succeed, with its message if it does not. */
#define TEST_OK(ctx, call)                                                                         \
    do {                                                                                           \
        eg_status test_status_ = (call);                                                           \
        if (test_status_ != EG_OK)                                                                 \
            fail_msg("%s: %s: %s", #call, eg_status_text(test_status_), eg_context_error(ctx));    \
    } while (0)

/* Evaluates a call that must fail with `expected` and a message that contains `part`. */
#define TEST_FAILS(ctx, expected, part, call)                                                      \
    do {                                                                                           \
        eg_status test_status_ = (call);                                                           \
        if (test_status_ != (expected))                                                            \
            fail_msg("%s: \"%s\", expected \"%s\"", #call, eg_status_text(test_status_),           \
                     eg_status_text(expected));                                                    \
        if (!strstr(eg_context_error(ctx), (part)))                                                \
            fail_msg("%s: the message \"%s\" lacks \"%s\"", #call, eg_context_error(ctx), (part)); \
    } while (0)

/* What a sweep runs: creates, uses and releases everything it needs on `ctx`. */
typedef eg_status test_body(eg_context *ctx, void *user);

/* Runs `body` with its n-th allocation failing, for n = 1, 2, … until none fails; once with that
 * one failure, once with every allocation after it failing too. Each time the body must release all it
 * took and return EG_ERROR_MEMORY, or EG_OK if it can do without the block. */
static inline void test_allocation_sweep_with(const eg_context_options *options, test_body *body,
                                              void *user)
{
    for (int persist = 0; persist < 2; persist++) {
        for (long n = 1;; n++) {
            eg_context *ctx = test_context_with(options);
            long live = test_memory.live;
            test_allocator_arm(n, persist != 0);
            eg_status status = body(ctx, user);
            bool failed = test_memory.calls >= n;
            if (test_memory.live != live)
                fail_msg("allocation %ld failed and %ld blocks were lost", n,
                         test_memory.live - live);
            if (status != EG_OK && status != EG_ERROR_MEMORY)
                fail_msg("allocation %ld failed and the status was \"%s\": %s", n,
                         eg_status_text(status), eg_context_error(ctx));
            if (!failed && status != EG_OK)
                fail_msg("no allocation failed and the status was \"%s\": %s",
                         eg_status_text(status), eg_context_error(ctx));
            test_context_free(&ctx);
            if (!failed) break;
        }
    }
}

static inline void test_allocation_sweep(test_body *body, void *user)
{
    eg_context_options options = test_context_options();
    test_allocation_sweep_with(&options, body, user);
}

/* Makes an empty private directory; remove it with test_directory_remove. */
static inline void test_directory_create(char path[PATH_MAX])
{
    const char *parent = getenv("TMPDIR");
    snprintf(path, PATH_MAX, "%s/eagre-test-XXXXXX", parent && parent[0] ? parent : "/tmp");
    if (!mkdtemp(path)) fail_msg("cannot make the temporary directory %s", path);
}

static inline int test_remove_entry_(const char *path, const struct stat *info, int kind,
                                     struct FTW *walk)
{
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

static inline void test_directory_remove(const char *path)
{
    assert_int_equal(nftw(path, test_remove_entry_, 16, FTW_DEPTH | FTW_PHYS), 0);
}

/* A uniform value in [-1, 1): the same sequence on every machine (splitmix64). */
static inline double test_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1.0;
}

#endif
