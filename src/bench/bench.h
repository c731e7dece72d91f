/* The door of room `bench`: measures how close kernels come to the limits of a device.
 *
 * A benchmark measures the ceilings of the machine in the same run and at its own working-set size,
 * then its points. Nothing is printed: results are returned, progress goes through a callback.
 * docs/performance.md defines the figures.
 */
#ifndef EG_BENCH_H
#define EG_BENCH_H

#include "device/device.h"

/* One measured thing. All figures are per run of the whole working set. */
typedef struct eg_bench_point {
    char name[64];           /* the series it belongs to: "gemm", "gemm-cache", … */
    char size[32];           /* "N=4 Np=15" */
    double flops;            /* necessary floating-point operations */
    double bytes;            /* necessary bytes: each input read once, each output written once */
    double time_s;           /* median */
    double gflops, gbs;      /* necessary work over time */
    double bound_s;          /* no run can be faster: the largest of memory and arithmetic bounds */
    double unpadded_bound_s; /* the same with arithmetic not padded to the tensor unit's tiles */
    double fraction;         /* bound_s / time_s; NaN where there is no bound */
    double ceiling_gbs;      /* the bandwidth in the bound; NaN: memory does not bound it */
    double ceiling_gflops;   /* the rate in the bound; NaN: arithmetic does not bound it */
    const char *bound_by;    /* "memory", "fma", "tensor", "shared", "dof" or "" */
    /* The roofline of [karakus2018] section 5.1, in GFLOP/s: what copying the necessary bytes, and
     * moving 4 bytes a flop through shared memory, leave; NaN: the paper has none of it. */
    double paper_gflops;
    /* Of a part of a step of time, NaN otherwise: its part of the step's time, iterations of a solve,
     * and how much sooner than with the first kind of step the same time is reached. */
    double share, iterations, speed_up;
    /* Of a solve, which has iterations, too: unknowns a second, and bytes of the preconditioner for an
     * element; NaN otherwise. */
    double dof_per_s, bytes_per_element;
} eg_bench_point;

/* What the machine can do, measured; NaN where it was not measured or there is no such unit. */
typedef struct eg_bench_ceilings {
    double copy_gbs;       /* bytes read plus written: the best of copy kernels and memcpy */
    double memcpy_gbs;     /* eg_buffer_copy alone */
    double read_gbs;       /* a sum over one array */
    double triad_gbs;      /* c = a + s b */
    double cache_copy_gbs; /* copy_gbs at the working set of the points named "…-cache" */
    double fma_gflops;     /* vector units, double precision */
    double tensor_gflops;  /* FP64 matrix instructions */
    double shared_gbs;     /* shared memory of a GPU, first-level cache of a CPU */
} eg_bench_ceilings;

typedef struct eg_bench_result {
    const char *bench; /* its name in the list of benchmarks */
    eg_device_info device;
    bool quick;
    eg_bench_ceilings ceilings;
    eg_bench_point *points; /* owned */
    size_t count, capacity;
} eg_bench_result;

typedef struct eg_bench_options {
    bool quick;       /* smaller working sets: a first look, not a measurement to quote */
    uint32_t degrees; /* bit N: those by degree measure degree N; 0: all that there are */
    const char *mesh; /* a Gmsh file, for those that need one; NULL: none; not owned */
    int refine;       /* so often */
    /* Told what is measured next; may be NULL. */
    void (*progress)(void *user, const char *bench, const char *what);
    void *user; /* not owned */
} eg_bench_options;

/* What `eagre bench` lists; eg_bench_count() of them. */
size_t eg_bench_count(void);
const char *eg_bench_name(size_t index);
const char *eg_bench_summary(size_t index);
bool eg_bench_on_roofline(size_t index); /* its points have operations and bytes */
int eg_bench_most_degree(size_t index); /* degrees 1 to this are measured; 0: it is not by degree */
bool eg_bench_on_mesh(size_t index);    /* it needs eg_bench_options.mesh */

/* Fails if it is by degree and does not measure one of these (bit N: degree N). */
eg_status eg_bench_check_degrees(eg_context *ctx, size_t index, uint32_t degrees);

/* Runs one benchmark. *result is filled in either way: free it with eg_bench_result_free. */
eg_status eg_bench_run(eg_context *ctx, eg_device *device, const char *name,
                       const eg_bench_options *options, eg_bench_result *result);
void eg_bench_result_free(eg_context *ctx, eg_bench_result *result);

/* The seconds that one core of the CPU takes for the reference work, see reference.c, so many times in a
 * row: times over their median are work units, which can be compared between machines. */
#define EG_BENCH_REFERENCE_SAMPLES 5
eg_status eg_bench_reference(eg_context *ctx, double seconds[EG_BENCH_REFERENCE_SAMPLES]);

/* Appends an SVG picture: the roofline of the device with every point that has flops and bytes. */
eg_status eg_bench_roofline(eg_context *ctx, const eg_bench_result *results, size_t count,
                            eg_text *svg);

#endif
