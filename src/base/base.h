/* The door of room `base`: status, context, log, memory, strings, files, hashes.
 *
 * A function that can fail returns eg_status and sets the message once, where it is detected, with
 * eg_fail. Callers pass it on with EG_TRY, which jumps to `done:` where everything is released:
 *
 *     eg_status status = EG_OK;
 *     EG_TRY(eg_allocate(ctx, bytes, (void **)&p));
 *     ...
 * done:
 *     eg_release(ctx, &p);
 *     return status;
 */
#ifndef EG_BASE_H
#define EG_BASE_H

#include "eagre/base.h"

#define EG_TRY(call)                                                                               \
    do {                                                                                           \
        status = (call);                                                                           \
        if (status != EG_OK) goto done;                                                            \
    } while (0)

#define EG_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* --- errors and log --------------------------------------------------------------------------- */

/* Sets the context's message and returns `status`. */
eg_status eg_fail(eg_context *ctx, eg_status status, const char *format, ...) EG_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* which cannot see that the status is passed through */
#define eg_fail(ctx, status, ...) ((void)(eg_fail)((ctx), (status), __VA_ARGS__), (status))
#endif

/* Passes one line to the context's log, if its level is wanted. */
void eg_log(eg_context *ctx, eg_log_level level, const char *format, ...) EG_PRINTF(3, 4);
/* The same, but only the first time a context sees this `format` (a string literal). */
void eg_log_once(eg_context *ctx, eg_log_level level, const char *format, ...) EG_PRINTF(3, 4);

/* --- settings (borrowed from the context) ------------------------------------------------------ */

bool eg_context_check(const eg_context *ctx);
const char *
eg_context_cache_dir(const eg_context *ctx); /* NULL: not set by option or environment */
const char *eg_context_kernel_dir(const eg_context *ctx); /* NULL: embedded sources */

/* --- memory ------------------------------------------------------------------------------------ */

/* A zeroed block; bytes may be 0. On failure *out is NULL. */
eg_status eg_allocate(eg_context *ctx, size_t bytes, void **out);
/* Grows or shrinks *block; on failure it is unchanged. New bytes are undefined. */
eg_status eg_reallocate(eg_context *ctx, size_t bytes, void **block);
/* Releases *block and nulls it; NULL is accepted. `block` is the address of any object pointer. */
void eg_release(eg_context *ctx, void *block_address);

/* eg_new(ctx, count, &p): a zeroed array of count objects of *p's type. */
#define eg_new(ctx, count, address)                                                                \
    eg_allocate_array((ctx), (count), sizeof **(address), (void **)(address))
eg_status eg_allocate_array(eg_context *ctx, size_t count, size_t size, void **out);

eg_status eg_copy_string(eg_context *ctx, const char *text, char **out);

/* --- text: a growing string -------------------------------------------------------------------- */

typedef struct eg_text {
    eg_context *ctx; /* not owned */
    char *data;      /* owned; NUL-terminated once anything was added, else NULL */
    size_t length;
    size_t capacity;
} eg_text;

eg_text eg_text_new(eg_context *ctx);
void eg_text_free(eg_text *text);
eg_status eg_text_add(eg_text *text, const char *bytes, size_t length);
eg_status eg_text_puts(eg_text *text, const char *string);
eg_status eg_text_printf(eg_text *text, const char *format, ...) EG_PRINTF(2, 3);
void eg_text_clear(eg_text *text);
const char *eg_text_string(const eg_text *text); /* "" when empty; borrowed */

/* The candidate nearest to `given` by edit distance, NULL if none is near; borrowed. */
const char *eg_nearest(const char *given, const char *const *candidates, size_t count);

/* --- files ------------------------------------------------------------------------------------- */

/* Reads a whole regular file. The block is NUL-terminated beyond *length; release with eg_release. */
eg_status eg_file_read(eg_context *ctx, const char *path, char **data, size_t *length);
/* Writes a file under a temporary name in the same directory, then renames it: nobody ever sees
 * half of it. With `durable` file and directory are fsynced. */
eg_status eg_file_write_atomic(eg_context *ctx, const char *path, const void *data, size_t length,
                               unsigned mode, bool durable);
/* Writes a file of a fresh name that starts with `prefix`, in TMPDIR or /tmp, readable and writable
 * by this user alone. The caller unlinks *path and releases it with eg_release. */
eg_status eg_file_write_temporary(eg_context *ctx, const char *prefix, const void *data,
                                  size_t length, char **path);

/* --- hash: SHA-256 ------------------------------------------------------------------------------ */

typedef struct eg_sha256 {
    uint32_t state[8];
    uint64_t bytes;
    unsigned char block[64];
} eg_sha256;

#define EG_SHA256_BYTES 32
#define EG_SHA256_HEX 65 /* with the NUL */

void eg_sha256_init(eg_sha256 *hash);
void eg_sha256_add(eg_sha256 *hash, const void *data, size_t length);
void eg_sha256_end(eg_sha256 *hash, unsigned char digest[EG_SHA256_BYTES]);
void eg_sha256_hex(const unsigned char digest[EG_SHA256_BYTES], char hex[EG_SHA256_HEX]);

/* --- clocks -------------------------------------------------------------------------------------- */

double eg_wall_seconds(void); /* monotonic */
double eg_cpu_seconds(void);  /* CPU time of the process, all threads */

#endif
