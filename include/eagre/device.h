/* Devices, buffers, kernels and launches: the same on a CPU, through OpenCL and through CUDA.
 *
 *     eg_device *device = NULL;
 *     eg_device_open(ctx, "auto", &device);
 *     eg_buffer_create(device, EG_F64, count, &u);
 *     eg_kernel_create(device, &(eg_kernel_options){.size = sizeof(eg_kernel_options),
 *                      .source = "model/advection/volume.k.c", .entry = "volume", ...}, &volume);
 *     eg_launch(volume, tiles, EG_BUFFER("u", u), EG_REAL("dt", 0.01));
 *     eg_device_sync(device);
 */
#ifndef EAGRE_DEVICE_H
#define EAGRE_DEVICE_H

#include "eagre/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a buffer or an argument holds. `real` in a kernel is EG_F64 or EG_F32, as its instance says. */
typedef enum eg_type { EG_F64, EG_F32, EG_I64, EG_I32, EG_U32, EG_U8 } eg_type;
#define EG_TYPE_COUNT 6

EG_API size_t eg_type_size(eg_type type);
EG_API const char *eg_type_name(eg_type type); /* "f64", … as the kernel language writes it */

typedef struct eg_device eg_device;
typedef struct eg_buffer eg_buffer;
typedef struct eg_kernel eg_kernel;
typedef struct eg_operator eg_operator;
typedef struct eg_event eg_event;

/* --- devices --------------------------------------------------------------------------------- */

typedef struct eg_device_info {
    char spec[32];           /* what --device takes: "cpu", "opencl:0", "cuda:0" */
    char backend[16];        /* "cpu", "opencl", "cuda" */
    char name[128];          /* the vendor's name of it */
    char version[128];       /* driver or platform, with version */
    char features[64];       /* "avx512", "sm_90", … */
    uint64_t memory_bytes;   /* of the whole device */
    int compute_units;       /* cores or multiprocessors */
    int threads;             /* CPU: threads in use; GPU: 0 */
    uint64_t shared_bytes;   /* most K_SHARED memory of one block */
    int max_block_threads;   /* most threads of one block; CPU: 1 */
    int lanes;               /* preferred LANES */
    bool is_gpu;             /* false for a CPU, also behind OpenCL */
    bool has_f64;            /* double precision */
    bool has_tensor_f64;     /* FP64 matrix instructions */
    int max_tiles_in_flight; /* launches with fewer tiles leave the device partly idle */
    uint64_t cache_bytes;    /* CPU: of the last level of caches, 0 if unknown; GPU: 0 */
} eg_device_info;

/* Lists every device that can be opened. Free with eg_device_list_free. */
EG_API eg_status eg_device_list(eg_context *ctx, eg_device_info **out, size_t *count);
EG_API void eg_device_list_free(eg_context *ctx, eg_device_info **list);

/* Opens "cpu", "cpu:THREADS", "opencl:N", "cuda:N" or "auto" (the first GPU, else the CPU). */
EG_API eg_status eg_device_open(eg_context *ctx, const char *spec, eg_device **out);
EG_API void eg_device_close(eg_device **device);
EG_API const eg_device_info *eg_device_get_info(const eg_device *device);
EG_API eg_context *eg_device_context(const eg_device *device);

/* Waits until everything queued is done; reports what failed since the last wait. */
EG_API eg_status eg_device_sync(eg_device *device);

/* --- buffers --------------------------------------------------------------------------------- */

/* Creates a buffer of `count` values, contents undefined (NaN in check mode and debug builds). */
EG_API eg_status eg_buffer_create(eg_device *device, eg_type type, size_t count, eg_buffer **out);
EG_API void eg_buffer_destroy(eg_buffer **buffer);
EG_API size_t eg_buffer_count(const eg_buffer *buffer);
EG_API eg_type eg_buffer_type(const eg_buffer *buffer);

/* Queued in order with launches. `host` may be reused when an upload returns; a download waits. */
EG_API eg_status eg_buffer_upload(eg_buffer *buffer, size_t first, size_t count, const void *host);
EG_API eg_status eg_buffer_download(eg_buffer *buffer, size_t first, size_t count, void *host);
EG_API eg_status eg_buffer_copy(eg_buffer *to, size_t to_first, eg_buffer *from, size_t from_first,
                                size_t count);
/* Sets `count` values to *value, which has the buffer's type. */
EG_API eg_status eg_buffer_fill(eg_buffer *buffer, size_t first, size_t count, const void *value);

/* --- operators: small dense matrices, packed for K_GEMM and the fragment chains ---------------- */

/* `a` has shape [rows][cols]. `type` is the precision of the kernels that will use it. */
EG_API eg_status eg_operator_create(eg_device *device, eg_type type, int rows, int cols,
                                    const double *a, eg_operator **out);
EG_API void eg_operator_destroy(eg_operator **op);

/* --- kernels --------------------------------------------------------------------------------- */

typedef struct eg_define {
    const char *name;
    int64_t value;
} eg_define;

/* Values that stand in the program itself, as an array `name` of `real`: what few lines of a kernel multiply with
 * at places the compiler knows, which then costs no loads. */
typedef struct eg_kernel_table {
    const char *name;
    const double *values;
    size_t count;
} eg_kernel_table;

typedef struct eg_kernel_options {
    size_t size;              /* sizeof(eg_kernel_options) */
    const char *source;       /* name of an embedded source, "room/name.k.c" */
    const char *text;         /* or the source text itself; `source` then only names it */
    const char *entry;        /* which K_KERNEL of it */
    eg_type real;             /* EG_F64 (the default) or EG_F32 */
    int lanes;                /* LANES; 0: the device's preferred */
    int rows_per_block;       /* K_TY: threads side by side in the node direction; 0: chosen */
    int tiles_per_block;      /* K_TZ; 0: chosen for 128 to 256 threads */
    const eg_define *defines; /* compile-time constants */
    size_t define_count;
    bool no_contraction; /* a * b + c is rounded twice on every device, so that sums, products,
                            quotients and square roots have the same bits everywhere; slower */
    int tiles_in_turn; /* so many consecutive tiles are taken one after another by the same threads
                            of a GPU, which may hand results on (K_TILES alone); 0: 1 */
    const eg_kernel_table *tables; /* compile-time arrays */
    size_t table_count;
} eg_kernel_options;

/* Compiles (or takes from the cache) and loads a kernel. */
EG_API eg_status eg_kernel_create(eg_device *device, const eg_kernel_options *options,
                                  eg_kernel **out);
EG_API void eg_kernel_destroy(eg_kernel **kernel);
EG_API int eg_kernel_lanes(const eg_kernel *kernel);

/* True if the binary came from the cache. */
EG_API bool eg_kernel_was_cached(const eg_kernel *kernel);

/* --- launches -------------------------------------------------------------------------------- */

typedef enum eg_argument_kind {
    EG_ARGUMENT_BUFFER,
    EG_ARGUMENT_OPERATOR,
    EG_ARGUMENT_INTEGER,
    EG_ARGUMENT_REAL
} eg_argument_kind;

/* One argument, matched to the kernel's declaration by name. */
typedef struct eg_argument {
    const char *name;
    eg_argument_kind kind;
    union {
        eg_buffer *buffer;
        const eg_operator *op;
        int64_t integer;
        double real;
    } value;
    size_t first; /* buffers: index of the value the kernel sees as its first, a multiple of LANES;
                     OpenCL devices may ask for more (they say so), whole tiles mostly suit them */
} eg_argument;

static inline eg_argument EG_BUFFER_AT(const char *name, eg_buffer *buffer, size_t first)
{
    eg_argument a = {name, EG_ARGUMENT_BUFFER, {NULL}, first};
    a.value.buffer = buffer;
    return a;
}

static inline eg_argument EG_BUFFER(const char *name, eg_buffer *buffer)
{
    return EG_BUFFER_AT(name, buffer, 0);
}

static inline eg_argument EG_OPERATOR(const char *name, const eg_operator *op)
{
    eg_argument a = {name, EG_ARGUMENT_OPERATOR, {NULL}, 0};
    a.value.op = op;
    return a;
}

static inline eg_argument EG_INTEGER(const char *name, int64_t value)
{
    eg_argument a = {name, EG_ARGUMENT_INTEGER, {NULL}, 0};
    a.value.integer = value;
    return a;
}

static inline eg_argument EG_REAL(const char *name, double value)
{
    eg_argument a = {name, EG_ARGUMENT_REAL, {NULL}, 0};
    a.value.real = value;
    return a;
}

/* Queues the kernel on tiles [first, first + count). Every argument is checked against the
 * declaration: missing, unknown, of another type, too short for the tiles it will serve, misaligned,
 * overlapping one that is written. */
EG_API eg_status eg_launch_tiles(eg_kernel *kernel, int64_t first, int64_t count,
                                 const eg_argument *arguments, size_t argument_count);

/* eg_launch(kernel, tiles, EG_BUFFER("u", u), …) on tiles [0, tiles). (C++ has no such literals: give
 * eg_launch_tiles an array.) */
#define eg_launch(kernel, tiles, ...)                                                              \
    eg_launch_tiles((kernel), 0, (tiles), (const eg_argument[]){__VA_ARGS__},                      \
                    sizeof((const eg_argument[]){__VA_ARGS__}) / sizeof(eg_argument))

/* A launch that is run by pieces: the kernel on tiles [0, tiles). */
typedef struct eg_call {
    eg_kernel *kernel;
    int64_t tiles;
    const eg_argument *arguments;
    size_t argument_count;
} eg_call;

/* Tiles [first, first + count) of one of several launches. */
typedef struct eg_piece {
    int call;
    int64_t first, count;
} eg_piece;

typedef struct eg_pieces {
    const eg_piece *pieces;
    size_t count;
} eg_pieces;

/* Queues pieces of at most EG_CALLS_MAX launches on one device: those of a list in its order, lists side
 * by side on the threads of a CPU, one after the other elsewhere. So a thread may go on with the next
 * launch where what the last has left is in its caches. What a piece writes no piece of another list may
 * read or write. */
#define EG_CALLS_MAX 12
EG_API eg_status eg_launch_pieces(const eg_call *calls, size_t call_count, const eg_pieces *lists,
                                  size_t list_count);

/* --- timing ---------------------------------------------------------------------------------- */

EG_API eg_status eg_event_create(eg_device *device, eg_event **out);
EG_API void eg_event_destroy(eg_event **event);
EG_API eg_status eg_event_record(eg_event *event); /* queued in order */
/* Waits for both. GPU: device time; CPU with one thread: the process's CPU time; more: wall time. */
EG_API eg_status eg_event_elapsed(eg_event *start, eg_event *stop, double *seconds);

/* --- reductions ------------------------------------------------------------------------------ */

typedef enum eg_reduction_kind {
    EG_REDUCE_SUM,          /* Σ x */
    EG_REDUCE_DOT,          /* Σ x y */
    EG_REDUCE_WEIGHTED_DOT, /* Σ w x y */
    EG_REDUCE_MAX,          /* max x; NaN if any x is NaN */
    EG_REDUCE_MAX_ABS       /* max |x|; NaN if any x is NaN */
} eg_reduction_kind;

typedef struct eg_reduction {
    eg_reduction_kind kind;
    eg_buffer *x, *y, *w; /* not owned; unused ones NULL; all of the reducer's type */
} eg_reduction;

#define EG_REDUCTIONS_MAX 4

/* A reducer owns what a set of reductions of fixed kinds needs, so that reducing allocates nothing. */
typedef struct eg_reducer eg_reducer;

EG_API eg_status eg_reducer_create(eg_device *device, eg_type type, const eg_reduction_kind *kinds,
                                   size_t kind_count, eg_reducer **out);
EG_API void eg_reducer_destroy(eg_reducer **reducer);

/* Queues reductions over the first `count` values into result[0 … kind_count), an EG_F64 buffer
 * that stays on the device. The order of summation depends on the device and `count` alone (not on
 * threads or timing): the same bits on every run. */
EG_API eg_status eg_reduce(eg_reducer *reducer, size_t count, const eg_reduction *reductions,
                           eg_buffer *result);

#ifdef __cplusplus
}
#endif

#endif
