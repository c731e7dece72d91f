/* What a context holds; private to room `base`. */
#ifndef EG_CONTEXT_H
#define EG_CONTEXT_H

#include "base/base.h"

/* Long enough for a compiler's log of 16 KiB and what is said around it. */
#define EG_MESSAGE_BYTES 20480

struct eg_context {
    eg_allocator allocator;
    eg_log_function *log; /* NULL: silence */
    void *log_user;       /* not owned */
    eg_log_level log_level;
    char *cache_dir;  /* owned; NULL if not set */
    char *kernel_dir; /* owned; NULL if not set */
    bool check;
    const char *said[16]; /* the formats eg_log_once has used; not owned */
    size_t said_count;
    int current; /* which message is the last error */
    char message[2][EG_MESSAGE_BYTES];
};

#endif
