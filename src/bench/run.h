/* What the benchmark drivers share: the running benchmark, timing, ceilings, data and checks. */
#ifndef EG_BENCH_RUN_H
#define EG_BENCH_RUN_H

#include "bench/bench.h"

/* A benchmark while it runs. Nothing in it is owned. */
typedef struct eg_bench {
    eg_context *ctx;
    eg_device *device;
    const eg_device_info *info;
    const eg_bench_options *options;
    eg_bench_result *result;
    bool on_cpu;    /* the cpu backend */
    int cpu_shares; /* how many caches work side by side: CPU threads, at least 1 */
} eg_bench;

typedef struct eg_bench_driver {
    const char *name;
    const char *summary;
    bool on_roofline;
    eg_status (*run)(eg_bench *bench);
} eg_bench_driver;

extern const eg_bench_driver eg_bench_stream, eg_bench_fma, eg_bench_gemm, eg_bench_chain,
    eg_bench_matvec, eg_bench_dot, eg_bench_launch;

void eg_bench_progress(eg_bench *bench, const char *format, ...) EG_PRINTF(2, 3);

/* --- bench.c: points ---------------------------------------------------------------------------- */

/* A point as its driver knows it; what is 0 does not bound it. */
typedef struct eg_bench_work {
    const char *name;
    const char *size;
    double time_s;
    double flops;
    double padded_flops;   /* on the tensor unit, with its tiles filled up; 0: flops */
    double bytes;          /* from memory */
    double ceiling_gbs;
    double ceiling_gflops; /* of the unit named `unit` */
    const char *unit;      /* "fma", "tensor"; NULL: none */
} eg_bench_work;

eg_status eg_bench_add(eg_bench *bench, const eg_bench_work *work);

/* Sets the unit that small operators run on, and its ceiling: tensor where there is one. */
void eg_bench_use_matrix_unit(const eg_bench *bench, eg_bench_work *work, double padded_flops);

/* --- timing.c ------------------------------------------------------------------------------------ */

/* Queues one run of what is measured. */
typedef eg_status eg_bench_body(void *user);

/* The median time of one run: warm, eleven samples, each of as many runs as make it long. */
eg_status eg_bench_time(eg_bench *bench, eg_bench_body *body, void *user, double *seconds);

/* --- ceilings.c ---------------------------------------------------------------------------------- */

/* Rows of LANES values that a tile of bench/stream.k.c holds. */
#define EG_BENCH_STREAM_ROWS 64

/* copy, memcpy, triad (unless NULL) and read bandwidth with arrays of `bytes` in all. */
typedef struct eg_bench_bandwidth {
    double copy_gbs, memcpy_gbs, triad_gbs, read_gbs;
    double kernel_gbs;    /* copy by kernel with ordinary stores */
    double streaming_gbs; /* copy by kernel with non-temporal stores; 0 on GPUs */
} eg_bench_bandwidth;
eg_status eg_bench_measure_bandwidth(eg_bench *bench, size_t bytes, eg_bench_bandwidth *out);

/* Read bandwidth over the first `count` values of a buffer of doubles. */
eg_status eg_bench_measure_read(eg_bench *bench, eg_buffer *a, size_t count, double *gbs);

/* FMA, tensor and shared-memory rates into the result's ceilings; with `points` each variant that
 * was tried becomes a point. */
eg_status eg_bench_measure_rates(eg_bench *bench, bool points);

/* Bandwidths at the working set of the streaming and (unless 0) of the cache points, and rates, into
 * the result's ceilings. */
eg_status eg_bench_measure_ceilings(eg_bench *bench, size_t bytes, size_t cache_bytes);

/* --- data.c: arrays of doubles, filled and checked ------------------------------------------------ */

/* Uniform in [-1/2, 1/2), the same for the same seed. */
void eg_bench_random(uint64_t seed, size_t count, double *values);

/* A device array of `count` random doubles: one block from the host, doubled on the device. */
eg_status eg_bench_random_buffer(eg_bench *bench, uint64_t seed, size_t count, eg_buffer **out);
/* A device array of `count` NaN, so that a value nobody wrote is found. */
eg_status eg_bench_poisoned_buffer(eg_bench *bench, size_t count, eg_buffer **out);
eg_status eg_bench_random_operator(eg_bench *bench, uint64_t seed, int rows, int cols,
                                   double **values, eg_operator **op);

/* Fails unless |got - want| <= 1e-12 max|want| everywhere. */
eg_status eg_bench_compare(eg_bench *bench, const char *what, int64_t tile, const double *got,
                           const double *want, size_t count);

/* Creates a kernel of doubles from bench/FILE.k.c. */
eg_status eg_bench_kernel(eg_bench *bench, const char *source, const char *entry,
                          const eg_define *defines, size_t define_count, int rows_per_block,
                          int tiles_per_block, eg_kernel **out);

/* As many tiles as fit into `bytes`, at least one per CPU thread and a multiple of them. */
int64_t eg_bench_tiles(const eg_bench *bench, double bytes, double tile_bytes);

/* The most bytes a benchmark may allocate: 40 % of the device. */
double eg_bench_memory_limit(const eg_bench *bench);

#endif
