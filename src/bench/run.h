/* What the benchmark drivers share: the running benchmark, timing, ceilings, data and checks. */
#ifndef EG_BENCH_RUN_H
#define EG_BENCH_RUN_H

#include "bench/bench.h"
#include "field/field.h"

/* Most points of one series. */
#define EG_BENCH_POINTS_MAX 32

/* A benchmark while it runs. Nothing in it is owned. */
typedef struct eg_bench {
    eg_context *ctx;
    eg_device *device;
    const eg_device_info *info;
    const eg_bench_options *options;
    eg_bench_result *result;
    bool on_cpu;       /* the cpu backend */
    int cpu_shares;    /* how many caches work side by side: CPU threads, at least 1 */
    int fma_chains;    /* what eg_bench_measure_rates found best */
    int tensor_chains; /* likewise */
} eg_bench;

typedef struct eg_bench_driver {
    const char *name;
    const char *summary;
    bool on_roofline;
    eg_status (*run)(eg_bench *bench);
    int most_degree; /* its points are of degrees 1 to this; 0: of none */
    bool on_mesh;    /* takes eg_bench_options.mesh and cannot do without */
} eg_bench_driver;

extern const eg_bench_driver eg_bench_stream, eg_bench_fma, eg_bench_gemm, eg_bench_chain,
    eg_bench_matvec, eg_bench_dot, eg_bench_launch, eg_bench_advection, eg_bench_euler,
    eg_bench_elliptic, eg_bench_elliptic_solve, eg_bench_ins, eg_bench_ins_steps;

/* Whether points of this degree are wanted. */
bool eg_bench_wants(const eg_bench *bench, int degree);
void eg_bench_progress(eg_bench *bench, const char *format, ...) EG_PRINTF(2, 3);

/* --- bench.c: points ---------------------------------------------------------------------------- */

/* A point as its driver knows it; what is 0 does not bound it. */
typedef struct eg_bench_work {
    const char *name;
    const char *size;
    double time_s;
    double flops;
    double padded_flops; /* on the tensor unit, with its tiles filled up; 0: flops */
    double bytes;        /* from memory */
    double ceiling_gbs;
    double ceiling_gflops; /* of the unit named `unit` */
    const char *unit;      /* "fma", "tensor"; NULL: none */
    double bound_s;        /* a bound of another kind … */
    const char *bound_by;  /* … and what it is called */
    bool in_paper;         /* [karakus2018] has a figure of it, with a roofline */
    /* What eg_bench_point says of parts of a step: */
    double share, iterations, speed_up;
    /* … and of solves: */
    double dof_per_s, bytes_per_element;
} eg_bench_work;

eg_status eg_bench_add(eg_bench *bench, const eg_bench_work *work);

/* --- timing.c ------------------------------------------------------------------------------------ */

/* Queues one run of what is measured. */
typedef eg_status eg_bench_body(void *user);

typedef struct eg_bench_timed {
    eg_bench_body *body;
    void *user;     /* not owned */
    double seconds; /* the median of one run, filled in */
} eg_bench_timed;

#define EG_BENCH_TOGETHER 8

/* The median times of up to EG_BENCH_TOGETHER things: warm, eleven samples of each, each of as many
 * runs as make it long. Samples take turns, so that what slows the machine down for a while slows a
 * benchmark and its ceilings alike. */
eg_status eg_bench_time_together(eg_bench *bench, eg_bench_timed *timed, size_t count);

/* The same for one thing. */
eg_status eg_bench_time(eg_bench *bench, eg_bench_body *body, void *user, double *seconds);

/* --- ceilings.c ---------------------------------------------------------------------------------- */

/* Rows of LANES values that a tile of bench/stream.k.c holds. */
#define EG_BENCH_STREAM_ROWS 64
#define EG_BENCH_READ_ROWS 256 /* more, so that the sums it writes do not count */

/* copy, memcpy, triad (unless NULL) and read bandwidth with arrays of `bytes` in all. */
typedef struct eg_bench_bandwidth {
    double copy_gbs, memcpy_gbs, triad_gbs, read_gbs;
    double kernel_gbs;    /* copy by kernel with ordinary stores */
    double streaming_gbs; /* copy by kernel with non-temporal stores; 0 on GPUs */
} eg_bench_bandwidth;
eg_status eg_bench_measure_bandwidth(eg_bench *bench, size_t bytes, eg_bench_bandwidth *out);

/* Prepares reading the first `count` values of a buffer of doubles, to be timed with others:
 * `timed` receives what to time, `bytes` what one run reads. */
typedef struct eg_bench_reader {
    eg_kernel *kernel;
    eg_buffer *a, *sums; /* a is not owned */
    int64_t tiles;
    double bytes;
} eg_bench_reader;
eg_status eg_bench_reader_create(eg_bench *bench, eg_buffer *a, size_t count,
                                 eg_bench_reader *reader);
void eg_bench_reader_destroy(eg_bench_reader *reader);
eg_status eg_bench_read(void *reader);

/* A kernel of bench/peak.k.c, ready to run. */
typedef struct eg_bench_peak {
    eg_kernel *kernel;
    eg_buffer *sink;
    int64_t tiles;
    int n;
    bool takes_x;
    double work; /* operations or bytes of one run */
} eg_bench_peak;
/* The entry "fma_peak", "tensor_peak" or "shared_peak" with so many independent chains. */
eg_status eg_bench_peak_create(eg_bench *bench, const char *entry, eg_type real, int chains,
                               eg_bench_peak *peak);
void eg_bench_peak_destroy(eg_bench_peak *peak);
eg_status eg_bench_peak_run(void *peak);

/* FMA, tensor and shared-memory rates into the result's ceilings; with `points` each variant that
 * was tried becomes a point. The numbers of chains that were best are kept for roofs. */
eg_status eg_bench_measure_rates(eg_bench *bench, bool points);

eg_status eg_bench_copy_kernel(eg_bench *bench, int streaming, eg_kernel **out);

/* Bandwidths with arrays of `bytes` in all, and rates, into the result's ceilings. */
eg_status eg_bench_measure_ceilings(eg_bench *bench, size_t bytes);

/* --- roof.c: ceilings that are timed together with every point under them ------------------------ */

/* Copying at one working set, and the unit that small operators run on. */
typedef struct eg_bench_roof {
    eg_kernel *copy[2]; /* with ordinary and non-temporal stores */
    eg_buffer *a, *b;
    int64_t tiles;
    size_t count;
    double copy_bytes;
    bool tensor; /* the unit is the tensor unit, else FMA */
    eg_bench_peak peak;
    double copy_gbs[EG_BENCH_POINTS_MAX], peak_gflops[EG_BENCH_POINTS_MAX];
    size_t points; /* so far */
} eg_bench_roof;

/* After eg_bench_measure_ceilings; `bytes` in all arrays; `tensor`: points run on the tensor unit; `real`: in
 * this precision. */
eg_status eg_bench_roof_create(eg_bench *bench, size_t bytes, bool tensor, eg_type real,
                               eg_bench_roof *roof);
void eg_bench_roof_destroy(eg_bench_roof *roof);
/* Times a body and the roof together; adds the point with time and ceilings filled in. */
eg_status eg_bench_roof_add(eg_bench *bench, eg_bench_roof *roof, eg_bench_body *body, void *user,
                            double padded_flops, eg_bench_work *work);
/* The medians over all points become the result's ceilings. */
void eg_bench_roof_report(eg_bench *bench, eg_bench_roof *roof, bool from_cache);

#define EG_BENCH_MAX_DEGREE 10

/* Adds the point of one degree, with arrays of `bytes` in all. */
typedef eg_status eg_bench_measure(eg_bench *bench, eg_bench_roof *roof, int degree, double bytes,
                                   bool from_cache);
/* Measures degrees 1 to EG_BENCH_MAX_DEGREE under one roof. */
eg_status eg_bench_degrees(eg_bench *bench, double bytes, bool from_cache,
                           eg_bench_measure *measure);

/* --- triangles.c --------------------------------------------------------------------------------- */

typedef struct eg_bench_triangles {
    eg_mesh *mesh;
    eg_comm *comm;
    eg_space *space;
} eg_bench_triangles;

/* eg_elliptic_lanes and its like. */
typedef eg_status eg_bench_lanes_of(const eg_device *device, const eg_mesh *mesh, int degree,
                                    int *lanes);

/* 2 cells² perturbed triangles of a degree on a square. On failure destroy what there is, too. */
eg_status eg_bench_triangles_create(eg_bench *bench, int cells, int degree,
                                    eg_bench_lanes_of *lanes_of, eg_bench_triangles *out);
void eg_bench_triangles_destroy(eg_bench_triangles *triangles);

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
/* The same with another part of max|want|. */
eg_status eg_bench_compare_within(eg_bench *bench, const char *what, int64_t tile, double tolerance,
                                  const double *got, const double *want, size_t count);

double eg_bench_median(double *values, size_t count); /* sorts them */

/* Creates a kernel of doubles from bench/FILE.k.c. */
eg_status eg_bench_kernel(eg_bench *bench, const char *source, const char *entry,
                          const eg_define *defines, size_t define_count, int rows_per_block,
                          int tiles_per_block, eg_kernel **out);

/* As many tiles as fit into `bytes`, at least one per CPU thread and a multiple of them. */
int64_t eg_bench_tiles(const eg_bench *bench, double bytes, double tile_bytes);

/* The most bytes a benchmark may allocate: 40 % of the device. */
double eg_bench_memory_limit(const eg_bench *bench);

#endif
