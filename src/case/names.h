/* A list of different names, each found by its text in constant time. */
#ifndef EG_NAMES_H
#define EG_NAMES_H

#include "base/base.h"

#define EG_NAMES_NONE SIZE_MAX

typedef struct eg_names {
    eg_context *ctx; /* not owned */
    const char **at; /* [count] owned; the names themselves are not */
    size_t count, capacity;
    uint32_t *slots; /* [slot_count] owned: index + 1, hashed by name; 0: free */
    size_t slot_count;
} eg_names;

eg_names eg_names_new(eg_context *ctx);
void eg_names_free(eg_names *names);

/* The index of a name; EG_NAMES_NONE if it is not in the list. */
size_t eg_names_find(const eg_names *names, const char *name);
/* Adds a name that is not in the list; its index is the count before. */
eg_status eg_names_add(eg_names *names, const char *name);

#endif
