/* What a backend is: one const table of functions. cpu.c, opencl.c and cuda.c each define one.
 *
 * Above the table stand device.c (choosing), buffer.c, kernel.c (source, cache, compile, load),
 * launch.c (checking, binding) and reduce.c; they know no backend by name.
 */
#ifndef EG_BACKEND_H
#define EG_BACKEND_H

#include "device/device.h"

/* A device allocation as the backend sees it. */
typedef union eg_memory {
    void *pointer;    /* cpu, opencl (cl_mem) */
    uint64_t address; /* cuda */
} eg_memory;

/* A binary: what `compile` makes, the cache keeps, and `load` takes. */
typedef struct eg_blob {
    char *data; /* owned, released with eg_release */
    size_t length;
} eg_blob;

/* How threads are laid out in a block; compile-time constants of the kernel. */
typedef struct eg_geometry {
    int lanes;           /* LANES */
    int ty;              /* K_TY */
    int tz;              /* K_TZ: groups per block */
    int in_turn;         /* K_IN_TURN: consecutive tiles of a slot, K_TILES alone */
    int groups_per_tile; /* 1; level 2 on tensor cores: LANES / 16, one warp each */
    int block[3];        /* threads of a block */
    size_t shared_bytes; /* K_SHARED memory of a block */
    int waves;           /* CUDA: most blocks of a grid, as a multiple of what is resident at once;
                            0: as many as there is work for */
} eg_geometry;

/* Blocks that a launch of `tiles` wants: every group once. */
static inline int64_t eg_geometry_blocks(const eg_geometry *g, int64_t tiles)
{
    const int64_t each = (int64_t)g->tz * g->in_turn;
    return (tiles * g->groups_per_tile + each - 1) / each;
}

/* One bound argument: `size` bytes at `data`. For buffers `data` points at `memory` and `offset`
 * is in bytes from its start. */
typedef struct eg_slot {
    bool is_memory;
    eg_memory memory;
    size_t offset;
    const void *data;
    size_t size;
} eg_slot;

/* A launch but for its tiles. */
typedef struct eg_prepared {
    void *function;              /* not owned, … */
    const eg_geometry *geometry; /* … nor is any of these */
    const eg_slot *slots;
    size_t slot_count;
} eg_prepared;

typedef struct eg_backend {
    const char *name;

    /* Appends what there is to list[0 … capacity) and returns how many there are; a missing driver
     * is 0. `index` of the device in open() is its place here. */
    int (*list)(eg_context *ctx, eg_device_info *list, int capacity);

    /* Opens device `index` (cpu: number of threads, 0 for all); fills device->info and
     * device->state. On failure leaves nothing behind. */
    eg_status (*open)(eg_device *device, int index);
    void (*close)(eg_device *device);
    eg_status (*sync)(eg_device *device);

    eg_status (*allocate)(eg_device *device, size_t bytes, eg_memory *out);
    void (*release)(eg_device *device, eg_memory memory);
    eg_status (*upload)(eg_device *device, eg_memory to, size_t offset, size_t bytes,
                        const void *from);
    eg_status (*download)(eg_device *device, eg_memory from, size_t offset, size_t bytes, void *to);
    eg_status (*copy)(eg_device *device, eg_memory to, size_t to_offset, eg_memory from,
                      size_t from_offset, size_t bytes);
    /* Repeats a pattern of 1, 4 or 8 bytes; offset and bytes are multiples of it. */
    eg_status (*fill)(eg_device *device, eg_memory to, size_t offset, size_t bytes,
                      const void *pattern, size_t pattern_bytes);

    /* Adds to `key` whatever a binary depends on besides its source: compiler, flags, device. */
    eg_status (*identify)(eg_device *device, eg_text *key);
    /* Compiles `source` (complete) into a blob. `contract`: a * b + c may be one rounding; the source
     * says so too, in K_CONTRACT. On a failed compilation calls eg_compile_failed. Must fail with
     * EG_ERROR_NO_COMPILER where no compiler is found. */
    eg_status (*compile)(eg_device *device, const char *name, const eg_text *source, bool contract,
                         eg_blob *out);
    /* Loads a blob that passed its checksum, finds `entry` and prepares it for `geometry`. `path` is
     * the file that holds the blob (the CPU maps it). */
    eg_status (*load)(eg_device *device, const eg_blob *blob, const char *path, const char *entry,
                      const eg_geometry *geometry, void **function);
    void (*unload)(eg_device *device, void *function);

    /* Queues tiles [first, first + count). `slots` are the kernel's arguments in declared order;
     * the backend passes first and first + count before them as two 32-bit integers. */
    eg_status (*launch)(eg_device *device, void *function, const eg_geometry *geometry,
                        int64_t first, int64_t count, const eg_slot *slots, size_t slot_count);

    /* Pieces of launches, list by list: see eg_launch_pieces. NULL: by `launch`. */
    eg_status (*launch_pieces)(eg_device *device, const eg_prepared *calls, size_t call_count,
                               const eg_pieces *lists, size_t list_count);

    eg_status (*event_create)(eg_device *device, void **event);
    void (*event_destroy)(eg_device *device, void *event);
    eg_status (*event_record)(eg_device *device, void *event);
    eg_status (*event_elapsed)(eg_device *device, void *start, void *stop, double *seconds);

    bool has_threads; /* blocks of threads (GPU style), not one call per range of tiles */
} eg_backend;

extern const eg_backend eg_backend_cpu;
extern const eg_backend eg_backend_opencl;
extern const eg_backend eg_backend_cuda;

typedef struct eg_profiler eg_profiler;

struct eg_device {
    eg_context *ctx; /* not owned */
    const eg_backend *backend;
    eg_device_info info;
    void *state;           /* the backend's own, owned by it */
    int cuda_arch;         /* 90 for sm_90; 0 elsewhere */
    int live_objects;      /* buffers, kernels, … still open: asserted 0 at close */
    size_t buffer_bytes;   /* of all buffers */
    int keepers;           /* how many have asked for kernels to be kept */
    eg_kernel *kept;       /* a list of kernels that nobody uses at the moment; owned */
    eg_profiler *profiler; /* while it is profiled; owned */
};

/* In check mode every buffer has this many canary bytes before and behind it. */
#define EG_CANARY_BYTES 4096

struct eg_buffer {
    eg_device *device; /* not owned */
    eg_memory memory;  /* owned */
    size_t base;       /* bytes from the start of memory to the first value: 0, or the canary */
    eg_type type;
    size_t count;
};

/* Waits, and fails with EG_ERROR_CHECK if anything was written outside the buffer. Outside of check
 * mode it does nothing. */
eg_status eg_buffer_check_canaries(eg_buffer *buffer);

/* Sets EG_ERROR_COMPILE with the compiler's log and the source lines it names. The log speaks of
 * lines as "NAME:LINE" or "NAME(LINE)". Returns the status. */
eg_status eg_compile_failed(eg_context *ctx, const char *name, const char *compiler,
                            const char *log, const eg_text *source);

/* CUDA without a GPU: compiles for an architecture ("sm_90") with NVRTC. For tests and tools. */
eg_status eg_cuda_compile(eg_context *ctx, const char *arch, const char *name,
                          const eg_text *source, bool contract, eg_blob *out);
/* True if NVRTC was found. */
bool eg_cuda_compiler_present(eg_context *ctx);

/* --- cache.c ------------------------------------------------------------------------------------ */

/* The on-disk cache of binaries; the directory is private, entries carry a checksum. `path` (when
 * not NULL) receives the name of a file whose leading bytes are the blob, fit for dlopen; release
 * with eg_release. A damaged entry is removed and reported as absent. */
eg_status eg_cache_get(eg_context *ctx, const char *key_hex, eg_blob *blob, char **path,
                       bool *found);
/* Stores a blob. If the cache directory cannot be used, it goes to a private file in TMPDIR with
 * one warning per context, so *path is always a file that can be loaded. *temporary says that the
 * caller must unlink it after loading. */
eg_status eg_cache_put(eg_context *ctx, const char *key_hex, const eg_blob *blob, char **path,
                       bool *temporary);

#endif
