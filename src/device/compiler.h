/* The system's C compiler, which compiles kernels for the CPU device. */
#ifndef EG_COMPILER_H
#define EG_COMPILER_H

#include "device/backend.h"

#include <limits.h>

#define EG_COMPILER_WORDS 16

typedef struct eg_compiler {
    char path[PATH_MAX];                  /* words[0] points here */
    char text[1024];                      /* holds the other words */
    const char *words[EG_COMPILER_WORDS]; /* the command: CC may hold "ccache gcc" */
    int count;                            /* 0: there is no compiler */
} eg_compiler;

/* Looks for $CC, else cc, gcc and clang on the PATH; starts nothing. */
void eg_compiler_find(eg_compiler *compiler);

/* Adds to `key` which compiler it is (path, size and time of the file) and its flags. */
eg_status eg_compiler_identify(const eg_compiler *compiler, bool avx512, eg_text *key);

/* Compiles `source` into a shared object. `avx512`: the processor has it, so use all of it.
 * `contract`: products and sums may become one rounding. */
eg_status eg_compiler_run(eg_context *ctx, const eg_compiler *compiler, bool avx512, bool contract,
                          const char *name, const eg_text *source, eg_blob *out);

#endif
