/* Status codes, the context, logging: what every call of eagre shares. */
#ifndef EAGRE_BASE_H
#define EAGRE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define EG_API __attribute__((visibility("default")))
#define EG_PRINTF(string, first) __attribute__((__format__(__printf__, string, first)))
#else
#define EG_API
#define EG_PRINTF(string, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* One list pairs every status with its text. */
#define EG_STATUS_LIST(X)                                                                          \
    X(EG_OK, "done")                                                                               \
    X(EG_ERROR_ARGUMENT, "an argument is wrong")                                                   \
    X(EG_ERROR_MEMORY, "the host is out of memory")                                                \
    X(EG_ERROR_IO, "a file could not be read or written")                                          \
    X(EG_ERROR_NO_DEVICE, "there is no such device")                                               \
    X(EG_ERROR_DEVICE_MEMORY, "the device is out of memory")                                       \
    X(EG_ERROR_DEVICE_LOST, "the device failed or was lost")                                       \
    X(EG_ERROR_NO_COMPILER, "no compiler for kernels was found")                                   \
    X(EG_ERROR_COMPILE, "a kernel did not compile")                                                \
    X(EG_ERROR_LAUNCH, "a launch does not match its kernel")                                       \
    X(EG_ERROR_CHECK, "check mode found a violation")                                              \
    X(EG_ERROR_UNSUPPORTED, "not supported here")                                                  \
    X(EG_ERROR_NUMERIC, "a computation failed")                                                    \
    X(EG_ERROR_COMM, "communication failed")                                                       \
    X(EG_ERROR_INPUT, "the input is wrong")

typedef enum eg_status {
#define X(code, text) code,
    EG_STATUS_LIST(X)
#undef X
} eg_status;

/* The text of a status, never NULL. */
EG_API const char *eg_status_text(eg_status status);

/* "MAJOR.MINOR.PATCH". */
EG_API const char *eg_version(void);

typedef enum eg_log_level { EG_LOG_DEBUG = -1, EG_LOG_INFO = 0, EG_LOG_WARNING = 1 } eg_log_level;

/* Receives one line without its newline. The library itself never prints. */
typedef void eg_log_function(void *user, eg_log_level level, const char *line);

/* Where the library takes its host memory from. `reallocate` is given NULL for a fresh block;
 * blocks are aligned as malloc aligns them. */
typedef struct eg_allocator {
    void *(*reallocate)(void *user, void *block, size_t bytes);
    void (*release)(void *user, void *block);
    void *user; /* not owned */
} eg_allocator;

/* A context carries the log, the allocator, the settings and the last error message. Every other
 * object belongs to one. One thread uses a context at a time. */
typedef struct eg_context eg_context;

/* Check mode: every launch's buffers are guarded, fresh ones hold NaN. */
typedef enum eg_check {
    EG_CHECK_DEFAULT, /* as EAGRE_CHECK says */
    EG_CHECK_ON,
    EG_CHECK_OFF
} eg_check;

typedef struct eg_context_options {
    size_t size;            /* sizeof(eg_context_options) */
    eg_allocator allocator; /* all NULL: malloc */
    eg_log_function *log;   /* NULL: silence */
    void *log_user;         /* not owned */
    eg_log_level log_level; /* lines below it are dropped; 0: EG_LOG_INFO */
    const char *cache_dir;  /* NULL: EAGRE_CACHE_DIR, else the XDG cache directory; copied */
    const char *kernel_dir; /* NULL: EAGRE_KERNEL_DIR, else the embedded sources; copied */
    eg_check check;         /* check mode */
} eg_context_options;

/* Options with every default filled in; all zero but for `size` means the same. */
EG_API eg_context_options eg_context_defaults(void);

/* Creates a context; `options` may be NULL. On failure *out is NULL. */
EG_API eg_status eg_context_create(const eg_context_options *options, eg_context **out);

/* Destroys it and nulls the handle; NULL is accepted. All other objects must be gone. */
EG_API void eg_context_destroy(eg_context **ctx);

/* The message of the last failed call: what went wrong, where, and what to do. Borrowed, valid
 * until the next failure; "" if nothing failed. */
EG_API const char *eg_context_error(const eg_context *ctx);

#ifdef __cplusplus
}
#endif

#endif
