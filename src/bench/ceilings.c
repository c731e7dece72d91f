/* Measures what the machine can do at best: bandwidths at a given working set with
 * bench/stream.k.c and the vendor's copy, arithmetic and shared-memory rates with bench/peak.k.c.
 *
 * A ceiling is the best of a few ways to do the same thing, since none of them is the best
 * everywhere: ordinary and non-temporal stores, more or fewer independent chains of operations. */
#include "bench/run.h"

#include <math.h>
#include <stdio.h>

#define STREAM_SOURCE "bench/stream.k.c"
#define PEAK_SOURCE "bench/peak.k.c"

/* Everything one body needs: which kernel, how many tiles, on what. */
typedef struct stream_run {
    eg_kernel *kernel;
    int64_t tiles;
    size_t count;
    eg_buffer *a, *b, *c; /* not owned */
} stream_run;

static eg_status run_copy(void *user)
{
    stream_run *r = user;
    return eg_launch(r->kernel, r->tiles, EG_BUFFER("a", r->a), EG_BUFFER("b", r->b));
}

static eg_status run_memcpy(void *user)
{
    stream_run *r = user;
    return eg_buffer_copy(r->b, 0, r->a, 0, r->count);
}

static eg_status run_triad(void *user)
{
    stream_run *r = user;
    return eg_launch(r->kernel, r->tiles, EG_BUFFER("a", r->a), EG_BUFFER("b", r->b),
                     EG_REAL("s", 0.5), EG_BUFFER("c", r->c));
}

static eg_status run_read(void *user)
{
    stream_run *r = user;
    return eg_launch(r->kernel, r->tiles, EG_BUFFER("a", r->a), EG_BUFFER("sums", r->b));
}

static eg_status stream_kernel(eg_bench *bench, const char *entry, int streaming, eg_kernel **out)
{
    const eg_define defines[] = {{"ROWS", EG_BENCH_STREAM_ROWS}, {"STREAMING", streaming}};
    return eg_bench_kernel(bench, STREAM_SOURCE, entry, defines, EG_COUNT(defines), 0, 0, out);
}

/* The best bandwidth of `entry` with ordinary and, on a CPU, with non-temporal stores. */
static eg_status best_of_stores(eg_bench *bench, const char *entry, eg_bench_body *body,
                                stream_run run, double bytes, double gbs[2])
{
    eg_status status = EG_OK;
    gbs[0] = gbs[1] = 0;
    run.kernel = NULL;
    for (int streaming = 0; streaming <= (bench->on_cpu ? 1 : 0); streaming++) {
        double seconds = 0;
        EG_TRY(stream_kernel(bench, entry, streaming, &run.kernel));
        EG_TRY(eg_bench_time(bench, body, &run, &seconds));
        gbs[streaming] = bytes / seconds * 1e-9;
        eg_kernel_destroy(&run.kernel);
    }
done:
    eg_kernel_destroy(&run.kernel);
    return status;
}

eg_status eg_bench_measure_read(eg_bench *bench, eg_buffer *a, size_t count, double *gbs)
{
    eg_status status = EG_OK;
    stream_run run = {.a = a};
    double seconds = 0;
    EG_TRY(stream_kernel(bench, "read", 0, &run.kernel));
    size_t lanes = (size_t)eg_kernel_lanes(run.kernel);
    run.tiles = (int64_t)(count / (EG_BENCH_STREAM_ROWS * lanes));
    if (run.tiles == 0) {
        status = eg_fail(bench->ctx, EG_ERROR_ARGUMENT,
                         "read bandwidth needs at least %zu values, there are %zu",
                         EG_BENCH_STREAM_ROWS * lanes, count);
        goto done;
    }
    EG_TRY(eg_buffer_create(bench->device, EG_F64, (size_t)run.tiles * lanes, &run.b));
    EG_TRY(eg_bench_time(bench, run_read, &run, &seconds));
    *gbs = (double)run.tiles * EG_BENCH_STREAM_ROWS * (double)lanes * 8 / seconds * 1e-9;
done:
    eg_buffer_destroy(&run.b);
    eg_kernel_destroy(&run.kernel);
    return status;
}

eg_status eg_bench_measure_bandwidth(eg_bench *bench, size_t bytes, eg_bench_bandwidth *out)
{
    eg_status status = EG_OK;
    stream_run run = {0};
    size_t tile = EG_BENCH_STREAM_ROWS * (size_t)bench->info->lanes; /* values */
    double tile_bytes = 8 * (double)tile, seconds = 0, gbs[2];
    int64_t read_tiles = eg_bench_tiles(bench, (double)bytes, tile_bytes);
    int64_t copy_tiles = eg_bench_tiles(bench, (double)bytes, 2 * tile_bytes);
    int64_t triad_tiles = eg_bench_tiles(bench, (double)bytes, 3 * tile_bytes);
    *out = (eg_bench_bandwidth){0};
    EG_TRY(eg_bench_random_buffer(bench, 1, (size_t)read_tiles * tile, &run.a));
    EG_TRY(eg_bench_random_buffer(bench, 2, (size_t)copy_tiles * tile, &run.b));
    EG_TRY(eg_bench_poisoned_buffer(bench, (size_t)triad_tiles * tile, &run.c));

    run.tiles = copy_tiles;
    run.count = (size_t)copy_tiles * tile;
    double copy_bytes = 2 * tile_bytes * (double)copy_tiles;
    EG_TRY(best_of_stores(bench, "copy", run_copy, run, copy_bytes, gbs));
    out->kernel_gbs = gbs[0];
    out->streaming_gbs = gbs[1];
    EG_TRY(eg_bench_time(bench, run_memcpy, &run, &seconds));
    out->memcpy_gbs = copy_bytes / seconds * 1e-9;
    out->copy_gbs = fmax(out->memcpy_gbs, fmax(gbs[0], gbs[1]));

    run.tiles = triad_tiles;
    EG_TRY(best_of_stores(bench, "triad", run_triad, run, 3 * tile_bytes * (double)triad_tiles,
                          gbs));
    out->triad_gbs = fmax(gbs[0], gbs[1]);
    EG_TRY(eg_bench_measure_read(bench, run.a, (size_t)read_tiles * tile, &out->read_gbs));
done:
    eg_buffer_destroy(&run.c);
    eg_buffer_destroy(&run.b);
    eg_buffer_destroy(&run.a);
    return status;
}

/* --- rates ----------------------------------------------------------------------------------- */

typedef struct peak_run {
    eg_kernel *kernel;
    int64_t tiles;
    int n;
    bool takes_x;
    eg_buffer *sink;
} peak_run;

static eg_status run_peak(void *user)
{
    peak_run *r = user;
    if (r->takes_x) {
        return eg_launch(r->kernel, r->tiles, EG_INTEGER("n", r->n), EG_REAL("x", 0.999),
                         EG_BUFFER("sink", r->sink));
    }
    return eg_launch(r->kernel, r->tiles, EG_INTEGER("n", r->n), EG_BUFFER("sink", r->sink));
}

/* The rate of one kernel of bench/peak.k.c: `per_lane` operations (or bytes) per lane of a tile and
 * turn of its loop, in giga per second. */
static eg_status measure_peak(eg_bench *bench, const char *entry, int chains, int rows,
                              double per_lane, double *rate, double *work, double *seconds)
{
    eg_status status = EG_OK;
    const eg_define defines[] = {{"CHAINS", chains}, {"ROWS", rows}};
    int units = bench->info->compute_units > 0 ? bench->info->compute_units : 1;
    peak_run run = {.n = 2000, .takes_x = entry[0] == 'f'};
    /* A GPU gets two full waves of blocks, a CPU enough tiles to share among its threads. */
    run.tiles = bench->on_cpu ? 16 * (int64_t)bench->cpu_shares : 16 * (int64_t)units;
    EG_TRY(eg_bench_kernel(bench, PEAK_SOURCE, entry, defines, EG_COUNT(defines),
                           rows > 1 ? rows : 0, 0, &run.kernel));
    size_t lanes = (size_t)eg_kernel_lanes(run.kernel);
    size_t sink = (size_t)run.tiles * (size_t)rows * lanes;
    EG_TRY(eg_buffer_create(bench->device, EG_F64, sink, &run.sink));
    EG_TRY(eg_bench_time(bench, run_peak, &run, seconds));
    *work = per_lane * (double)lanes * (double)run.tiles * run.n;
    *rate = *work / *seconds * 1e-9;
done:
    eg_buffer_destroy(&run.sink);
    eg_kernel_destroy(&run.kernel);
    return status;
}

/* One kind of peak: tries every number of chains and keeps the best rate in *best. */
typedef struct peak_kind {
    const char *name;    /* of the points */
    const char *entry;   /* the kernel */
    const char *unit;    /* what bounds it */
    bool is_bandwidth;   /* the rate is GB/s, not GFLOP/s */
    double per_chain;    /* operations or bytes per chain, row and lane */
    const int *chains;   /* what to try, ended by 0 */
} peak_kind;

/* A chain is one register. FMA takes four cycles twice at a time, so that 8 chains just fill it; 12
 * leave room for 16 registers (AVX2), 16 for 32. */
static const int chains_cpu[] = {8, 12, 16, 0};
static const int chains_gpu[] = {8, 16, 0};

static eg_status measure_kind(eg_bench *bench, const peak_kind *kind, int rows, bool points,
                              double *best)
{
    eg_status status = EG_OK;
    double work[8], seconds[8];
    int tried = 0;
    *best = 0;
    for (; kind->chains[tried] != 0; tried++) {
        double rate = 0, per_lane = kind->per_chain * kind->chains[tried] * rows;
        EG_TRY(measure_peak(bench, kind->entry, kind->chains[tried], rows, per_lane, &rate,
                            &work[tried], &seconds[tried]));
        *best = fmax(*best, rate);
    }
    for (int i = 0; points && i < tried; i++) {
        char size[32];
        snprintf(size, sizeof size, "%d chains", kind->chains[i]);
        eg_bench_work point = {
            .name = kind->name, .size = size, .time_s = seconds[i], .unit = kind->unit};
        if (kind->is_bandwidth) {
            point.bytes = work[i];
            point.ceiling_gbs = *best;
        } else {
            point.flops = work[i];
            point.ceiling_gflops = *best;
        }
        EG_TRY(eg_bench_add(bench, &point));
    }
done:
    return status;
}

eg_status eg_bench_measure_rates(eg_bench *bench, bool points)
{
    eg_status status = EG_OK;
    eg_bench_ceilings *ceilings = &bench->result->ceilings;
    const int *chains = bench->on_cpu ? chains_cpu : chains_gpu;
    int rows = bench->on_cpu ? 1 : 8;
    const peak_kind fma = {"fma", "fma_peak", "fma", false, 2, chains};
    const peak_kind shared = {"shared", "shared_peak", "shared", true, 8, chains};
    /* An m16n8k8 product: 2·16·8·8 operations for every 16 lanes. */
    const peak_kind tensor = {"tensor", "tensor_peak", "tensor", false, 2 * 8 * 8, chains};

    eg_bench_progress(bench, "ceilings: fma");
    EG_TRY(measure_kind(bench, &fma, rows, points, &ceilings->fma_gflops));
    if (bench->info->has_tensor_f64) {
        eg_bench_progress(bench, "ceilings: tensor");
        EG_TRY(measure_kind(bench, &tensor, 1, points, &ceilings->tensor_gflops));
    }
    eg_bench_progress(bench, "ceilings: shared memory");
    EG_TRY(measure_kind(bench, &shared, rows, points, &ceilings->shared_gbs));
done:
    return status;
}

eg_status eg_bench_measure_ceilings(eg_bench *bench, size_t bytes, size_t cache_bytes)
{
    eg_status status = EG_OK;
    eg_bench_ceilings *ceilings = &bench->result->ceilings;
    eg_bench_bandwidth bandwidth;
    eg_bench_progress(bench, "ceilings: bandwidth of %.3g MB", (double)bytes * 1e-6);
    EG_TRY(eg_bench_measure_bandwidth(bench, bytes, &bandwidth));
    ceilings->copy_gbs = bandwidth.copy_gbs;
    ceilings->memcpy_gbs = bandwidth.memcpy_gbs;
    ceilings->triad_gbs = bandwidth.triad_gbs;
    ceilings->read_gbs = bandwidth.read_gbs;
    if (cache_bytes > 0) {
        eg_bench_progress(bench, "ceilings: bandwidth of %.3g MB", (double)cache_bytes * 1e-6);
        EG_TRY(eg_bench_measure_bandwidth(bench, cache_bytes, &bandwidth));
        ceilings->cache_copy_gbs = bandwidth.copy_gbs;
    }
    EG_TRY(eg_bench_measure_rates(bench, false));
done:
    return status;
}
