/* A pool of threads that all run one function at a time, each its own part. */
#ifndef EG_THREADS_H
#define EG_THREADS_H

#include "base/base.h"

typedef struct eg_threads eg_threads;

/* Runs part `part` of `parts`. */
typedef void eg_threads_body(void *user, int part, int parts);

/* A pool of `count` threads, the caller being one of them: it starts count - 1 workers. */
eg_status eg_threads_create(eg_context *ctx, int count, eg_threads **out);
/* Ends and joins the workers; NULL is accepted. */
void eg_threads_destroy(eg_context *ctx, eg_threads **threads);

/* Calls body(user, part, count) once for every part, part 0 on the calling thread, and returns when
 * all have returned. Allocates nothing. One thread at a time may call it, and no body may. */
void eg_threads_run(eg_threads *threads, eg_threads_body *body, void *user);

int eg_threads_count(const eg_threads *threads);

/* CPUs this process may run on; at least 1. */
int eg_threads_cpus(void);

#endif
