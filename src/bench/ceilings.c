/* Measures what the machine can do at best: bandwidths at a given working set with
 * bench/stream.k.c and the vendor's copy, arithmetic and shared-memory rates with bench/peak.k.c.
 *
 * A ceiling is the best of a few ways to do the same thing, since none of them is the best
 * everywhere: ordinary and non-temporal stores, more or fewer independent chains of operations. */
#include "bench/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

static eg_status stream_kernel(eg_bench *bench, const char *entry, int streaming, eg_kernel **out)
{
    int rows = strcmp(entry, "read") == 0 ? EG_BENCH_READ_ROWS : EG_BENCH_STREAM_ROWS;
    const eg_define defines[] = {{"ROWS", rows}, {"K_STREAMING", streaming}};
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

eg_status eg_bench_copy_kernel(eg_bench *bench, int streaming, eg_kernel **out)
{
    return stream_kernel(bench, "copy", streaming, out);
}

eg_status eg_bench_read(void *reader)
{
    eg_bench_reader *r = reader;
    return eg_launch(r->kernel, r->tiles, EG_BUFFER("a", r->a), EG_BUFFER("sums", r->sums));
}

void eg_bench_reader_destroy(eg_bench_reader *reader)
{
    eg_buffer_destroy(&reader->sums);
    eg_kernel_destroy(&reader->kernel);
}

eg_status eg_bench_reader_create(eg_bench *bench, eg_buffer *a, size_t count,
                                 eg_bench_reader *reader)
{
    eg_status status = EG_OK;
    *reader = (eg_bench_reader){.a = a};
    EG_TRY(stream_kernel(bench, "read", 0, &reader->kernel));
    size_t lanes = (size_t)eg_kernel_lanes(reader->kernel), tile = EG_BENCH_READ_ROWS * lanes;
    reader->tiles = (int64_t)(count / tile);
    reader->bytes = (double)reader->tiles * (double)tile * 8;
    if (reader->tiles == 0) {
        status = eg_fail(bench->ctx, EG_ERROR_ARGUMENT,
                         "read bandwidth needs at least %zu values, there are %zu", tile, count);
        goto done;
    }
    EG_TRY(eg_buffer_create(bench->device, EG_F64, (size_t)reader->tiles * lanes, &reader->sums));
done:
    if (status != EG_OK) eg_bench_reader_destroy(reader);
    return status;
}

eg_status eg_bench_measure_bandwidth(eg_bench *bench, size_t bytes, eg_bench_bandwidth *out)
{
    eg_status status = EG_OK;
    stream_run run = {0};
    eg_bench_reader reader = {0};
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
    EG_TRY(
        best_of_stores(bench, "triad", run_triad, run, 3 * tile_bytes * (double)triad_tiles, gbs));
    out->triad_gbs = fmax(gbs[0], gbs[1]);
    EG_TRY(eg_bench_reader_create(bench, run.a, (size_t)read_tiles * tile, &reader));
    EG_TRY(eg_bench_time(bench, eg_bench_read, &reader, &seconds));
    out->read_gbs = reader.bytes / seconds * 1e-9;
done:
    eg_bench_reader_destroy(&reader);
    eg_buffer_destroy(&run.c);
    eg_buffer_destroy(&run.b);
    eg_buffer_destroy(&run.a);
    return status;
}

/* --- rates ----------------------------------------------------------------------------------- */

eg_status eg_bench_peak_run(void *peak)
{
    eg_bench_peak *p = peak;
    if (p->takes_x) {
        return eg_launch(p->kernel, p->tiles, EG_INTEGER("n", p->n), EG_REAL("x", 0.999),
                         EG_BUFFER("sink", p->sink));
    }
    return eg_launch(p->kernel, p->tiles, EG_INTEGER("n", p->n), EG_BUFFER("sink", p->sink));
}

void eg_bench_peak_destroy(eg_bench_peak *peak)
{
    eg_buffer_destroy(&peak->sink);
    eg_kernel_destroy(&peak->kernel);
}

eg_status eg_bench_peak_create(eg_bench *bench, const char *entry, eg_type real, int chains,
                               eg_bench_peak *peak)
{
    eg_status status = EG_OK;
    bool is_tensor = strcmp(entry, "tensor_peak") == 0, is_fma = strcmp(entry, "fma_peak") == 0;
    int rows = bench->on_cpu || is_tensor ? 1 : 8;
    const eg_define defines[] = {{"CHAINS", chains}, {"ROWS", rows}};
    int units = bench->info->compute_units > 0 ? bench->info->compute_units : 1;
    /* A GPU gets two full waves of blocks, a CPU enough tiles to share among its threads. */
    *peak = (eg_bench_peak){
        .n = 2000, .takes_x = is_fma, .tiles = 16 * (bench->on_cpu ? bench->cpu_shares : units)};
    EG_TRY(eg_kernel_create(bench->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = PEAK_SOURCE,
                                                 .entry = entry,
                                                 .real = real,
                                                 .rows_per_block = rows > 1 ? rows : 0,
                                                 .defines = defines,
                                                 .define_count = EG_COUNT(defines)},
                            &peak->kernel));
    size_t lanes = (size_t)eg_kernel_lanes(peak->kernel);
    EG_TRY(eg_buffer_create(bench->device, real, (size_t)peak->tiles * (size_t)rows * lanes,
                            &peak->sink));
    /* Per chain and lane: an FMA is 2 operations, an m16n8k8 product 2·16·8·8 for 16 lanes, a value
     * of shared memory (f64) 8 bytes. */
    double per_chain = is_fma ? 2 : is_tensor ? 2 * 8 * 8 : 8;
    peak->work = per_chain * chains * rows * (double)lanes * (double)peak->tiles * peak->n;
done:
    if (status != EG_OK) eg_bench_peak_destroy(peak);
    return status;
}

/* One kind of peak: tries every number of chains and keeps the best rate in *best. */
typedef struct peak_kind {
    const char *name;  /* of the points and of what bounds them */
    const char *entry; /* the kernel */
    bool is_bandwidth; /* the rate is GB/s, not GFLOP/s */
    const int *chains; /* what to try, ended by 0 */
} peak_kind;

/* A chain is one register. FMA takes four cycles twice at a time, so that 8 chains just fill it; 12
 * leave room for 16 registers (AVX2), 16 for 32. */
static const int chains_cpu[] = {8, 12, 16, 0};
static const int chains_gpu[] = {8, 16, 0};

static eg_status measure_kind(eg_bench *bench, const peak_kind *kind, bool points, double *best,
                              int *best_chains)
{
    eg_status status = EG_OK;
    eg_bench_peak peaks[EG_BENCH_TOGETHER] = {{0}};
    eg_bench_timed timed[EG_BENCH_TOGETHER] = {{0}};
    size_t tried = 0;
    eg_bench_progress(bench, "ceilings: %s", kind->name);
    *best = 0;
    for (; kind->chains[tried] != 0; tried++) {
        EG_TRY(
            eg_bench_peak_create(bench, kind->entry, EG_F64, kind->chains[tried], &peaks[tried]));
        timed[tried] = (eg_bench_timed){.body = eg_bench_peak_run, .user = &peaks[tried]};
    }
    EG_TRY(eg_bench_time_together(bench, timed, tried));
    for (size_t i = 0; i < tried; i++) {
        double rate = peaks[i].work / timed[i].seconds * 1e-9;
        if (rate <= *best) continue;
        *best = rate;
        *best_chains = kind->chains[i];
    }
    for (size_t i = 0; points && i < tried; i++) {
        char size[32];
        snprintf(size, sizeof size, "%d chains", kind->chains[i]);
        eg_bench_work point = {
            .name = kind->name, .size = size, .time_s = timed[i].seconds, .unit = kind->name};
        if (kind->is_bandwidth) {
            point.bytes = peaks[i].work;
            point.ceiling_gbs = *best;
        } else {
            point.flops = peaks[i].work;
            point.ceiling_gflops = *best;
        }
        EG_TRY(eg_bench_add(bench, &point));
    }
done:
    for (size_t i = 0; i < EG_BENCH_TOGETHER; i++)
        eg_bench_peak_destroy(&peaks[i]);
    return status;
}

eg_status eg_bench_measure_rates(eg_bench *bench, bool points)
{
    eg_status status = EG_OK;
    eg_bench_ceilings *ceilings = &bench->result->ceilings;
    const int *chains = bench->on_cpu ? chains_cpu : chains_gpu;
    const peak_kind fma = {"fma", "fma_peak", false, chains};
    const peak_kind tensor = {"tensor", "tensor_peak", false, chains};
    const peak_kind shared = {"shared", "shared_peak", true, chains};
    int unused = 0;
    EG_TRY(measure_kind(bench, &fma, points, &ceilings->fma_gflops, &bench->fma_chains));
    if (bench->info->has_tensor_f64) {
        EG_TRY(
            measure_kind(bench, &tensor, points, &ceilings->tensor_gflops, &bench->tensor_chains));
    }
    EG_TRY(measure_kind(bench, &shared, points, &ceilings->shared_gbs, &unused));
done:
    return status;
}

eg_status eg_bench_measure_ceilings(eg_bench *bench, size_t bytes)
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
    EG_TRY(eg_bench_measure_rates(bench, false));
done:
    return status;
}
