/* The kernel sources and dialect headers that were built into the library by tools/embed.cmake. */
#ifndef EG_EMBEDDED_H
#define EG_EMBEDDED_H

#include <stddef.h>

struct eg_embedded {
    const char *name;          /* relative to src/: "device/reduce.k.c" */
    const unsigned char *data; /* a NUL follows the last byte */
    size_t length;             /* without that NUL */
};

/* Sorted by name; an entry with name NULL follows the last. */
extern const struct eg_embedded eg_embedded_sources[];
extern const size_t eg_embedded_source_count;

#endif
