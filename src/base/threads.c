/* The thread pool of the CPU device.
 *
 * A run is announced by a generation counter that the workers watch. They spin on it for a moment,
 * because launches follow each other within microseconds, and then sleep. Whoever is about to sleep
 * says so first (`sleepers`, `caller_sleeps`) and looks once more; whoever changes the counter
 * looks at that flag afterwards. Both orders being sequentially consistent, one of the two sees the
 * other, and a run between awake threads takes no lock.
 */
#define _GNU_SOURCE
#include "base/threads.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

#define SPIN_SECONDS 40e-6
#define SPINS_PER_LOOK 32 /* pauses between two looks at the clock */

/* Kernels keep K_SHARED and K_PRIVATE tiles on the stack. */
#define STACK_BYTES ((size_t)8 << 20)

#define CACHE_LINE 64

typedef struct worker {
    eg_threads *pool;
    int part;
    pthread_t thread;
} worker;

struct eg_threads {
    int count;    /* threads, the caller included */
    int started;  /* workers that run, and must be joined */
    bool spins;   /* every thread has a CPU of its own to wait on */
    bool closing; /* written before, read after a change of `generation`, as are body and user */
    eg_threads_body *body;
    void *user;
    pthread_mutex_t mutex;
    pthread_cond_t work; /* `generation` has changed */
    pthread_cond_t done; /* `remaining` is 0 */
    char pad0[CACHE_LINE];
    atomic_uint generation;
    atomic_int sleepers; /* workers in, or on the way into, a wait for `work` */
    char pad1[CACHE_LINE];
    atomic_int remaining; /* workers that have not finished the current run */
    atomic_bool caller_sleeps;
    char pad2[CACHE_LINE];
    worker workers[]; /* [count - 1] */
};

int eg_threads_cpus(void)
{
    cpu_set_t sets[16]; /* room for 16384 CPUs: one set may be smaller than the kernel's */
    memset(sets, 0, sizeof sets);
    if (sched_getaffinity(0, sizeof sets, sets) != 0) return 1;
    int cpus = CPU_COUNT_S(sizeof sets, sets);
    return cpus > 0 ? cpus : 1;
}

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static unsigned wait_for_work(eg_threads *pool, unsigned seen)
{
    unsigned now = atomic_load_explicit(&pool->generation, memory_order_acquire);
    double end = pool->spins ? eg_wall_seconds() + SPIN_SECONDS : 0;
    while (now == seen && pool->spins && eg_wall_seconds() < end)
        for (int i = 0; now == seen && i < SPINS_PER_LOOK; i++) {
            pause_briefly();
            now = atomic_load_explicit(&pool->generation, memory_order_acquire);
        }
    if (now != seen) return now;

    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleepers, 1);
    while ((now = atomic_load(&pool->generation)) == seen)
        pthread_cond_wait(&pool->work, &pool->mutex);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->mutex);
    return now;
}

static void *worker_main(void *argument)
{
    const worker *self = argument;
    eg_threads *pool = self->pool;
    unsigned seen = 0;
    for (;;) {
        seen = wait_for_work(pool, seen);
        if (pool->closing) return NULL;
        pool->body(pool->user, self->part, pool->count);
        if (atomic_fetch_sub(&pool->remaining, 1) == 1 && atomic_load(&pool->caller_sleeps)) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->done);
            pthread_mutex_unlock(&pool->mutex);
        }
    }
}

static void announce(eg_threads *pool)
{
    atomic_fetch_add(&pool->generation, 1);
    if (atomic_load(&pool->sleepers) == 0) return;
    pthread_mutex_lock(&pool->mutex);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
}

static void wait_for_workers(eg_threads *pool)
{
    double end = pool->spins ? eg_wall_seconds() + SPIN_SECONDS : 0;
    do {
        for (int i = 0; i < SPINS_PER_LOOK; i++) {
            if (atomic_load_explicit(&pool->remaining, memory_order_acquire) == 0) return;
            pause_briefly();
        }
    } while (pool->spins && eg_wall_seconds() < end);

    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->remaining) != 0)
        pthread_cond_wait(&pool->done, &pool->mutex);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->mutex);
}

void eg_threads_run(eg_threads *threads, eg_threads_body *body, void *user)
{
    if (threads->count > 1) {
        threads->body = body;
        threads->user = user;
        atomic_store_explicit(&threads->remaining, threads->count - 1, memory_order_relaxed);
        announce(threads);
    }
    body(user, 0, threads->count);
    if (threads->count > 1) wait_for_workers(threads);
}

int eg_threads_count(const eg_threads *threads)
{
    return threads->count;
}

/* Starts the workers with all signals blocked, for they belong to the program's own threads; but for
 * those a thread raises itself, whose handlers must run where the fault is. */
static int start_workers(eg_threads *pool)
{
    pthread_attr_t attributes;
    int error = pthread_attr_init(&attributes);
    if (error != 0) return error;

    size_t stack = 0;
    error = pthread_attr_getstacksize(&attributes, &stack);
    if (error == 0 && stack < STACK_BYTES)
        error = pthread_attr_setstacksize(&attributes, STACK_BYTES);

    sigset_t all, before;
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS, SIGPROF};
    sigfillset(&all);
    for (size_t i = 0; i < EG_COUNT(own); i++)
        sigdelset(&all, own[i]);
    if (error == 0) error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error == 0) {
        while (error == 0 && pool->started < pool->count - 1) {
            worker *w = &pool->workers[pool->started];
            *w = (worker){.pool = pool, .part = pool->started + 1};
            error = pthread_create(&w->thread, &attributes, worker_main, w);
            if (error == 0) pool->started++;
        }
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&attributes);
    return error;
}

eg_status eg_threads_create(eg_context *ctx, int count, eg_threads **out)
{
    eg_status status = EG_OK;
    eg_threads *pool = NULL;
    *out = NULL;
    EG_TRY(eg_allocate(ctx, sizeof *pool + (size_t)(count - 1) * sizeof(worker), (void **)&pool));
    pool->count = count;
    pool->spins = count <= eg_threads_cpus();
    pthread_mutex_init(&pool->mutex, NULL); /* the default kinds cannot fail on Linux */
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    atomic_init(&pool->generation, 0);
    atomic_init(&pool->sleepers, 0);
    atomic_init(&pool->remaining, 0);
    atomic_init(&pool->caller_sleeps, false);

    int error = start_workers(pool);
    if (error != 0) {
        int started = pool->started + 1;
        eg_threads_destroy(ctx, &pool);
        return eg_fail(
            ctx, EG_ERROR_MEMORY,
            "only %d of %d threads could be started: %s; ask for fewer, as in cpu:%d, or "
            "raise the limits on processes and memory (ulimit -u, ulimit -v)",
            started, count, strerror(error), started);
    }
    *out = pool;
done:
    return status;
}

void eg_threads_destroy(eg_context *ctx, eg_threads **threads)
{
    eg_threads *pool = *threads;
    if (!pool) return;
    pool->closing = true;
    announce(pool);
    for (int i = 0; i < pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    eg_release(ctx, threads);
}
