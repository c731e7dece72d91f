/* The reference work: what a work unit is. Half of it is arithmetic, half of it memory, as in flow
 * solvers and in TauBench, whose part it plays [wang2013]: on one core of the CPU, whatever device
 * the work in question is done on,
 *     2^30 operations of bench/peak.k.c, "fma_peak", 8 chains in registers, and
 *     10 passes of bench/stream.k.c, "triad", c = a + s b, over arrays of 2^20 doubles, 24 MiB in all. */
#include "bench/run.h"

#include <string.h>

enum {
    VALUES = 1 << 20, /* of each array */
    PASSES = 10,
    CHAINS = 8,
    COLUMNS = 256,  /* chains side by side, in tiles of LANES */
    LINKS = 1 << 18 /* 2 · CHAINS · COLUMNS · LINKS operations */
};

typedef struct work {
    eg_device *device;
    eg_kernel *fma, *triad;
    eg_buffer *sink, *a, *b, *c;
    int64_t fma_tiles, triad_tiles;
} work;

static void destroy(work *w)
{
    eg_buffer_destroy(&w->c);
    eg_buffer_destroy(&w->b);
    eg_buffer_destroy(&w->a);
    eg_buffer_destroy(&w->sink);
    eg_kernel_destroy(&w->triad);
    eg_kernel_destroy(&w->fma);
    eg_device_close(&w->device);
}

static eg_status create(eg_context *ctx, work *w)
{
    const eg_define fma[] = {{"CHAINS", CHAINS}, {"ROWS", 1}};
    const eg_define triad[] = {{"ROWS", EG_BENCH_STREAM_ROWS}, {"K_STREAMING", 0}};
    const double zero = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_device_open(ctx, "cpu:1", &w->device));
    eg_bench bench = {
        .ctx = ctx, .device = w->device, .info = eg_device_get_info(w->device), .cpu_shares = 1};
    const int64_t lanes = bench.info->lanes;
    w->fma_tiles = COLUMNS / lanes;
    w->triad_tiles = VALUES / (EG_BENCH_STREAM_ROWS * lanes);
    EG_TRY(
        eg_bench_kernel(&bench, "bench/peak.k.c", "fma_peak", fma, EG_COUNT(fma), 0, 0, &w->fma));
    EG_TRY(eg_bench_kernel(&bench, "bench/stream.k.c", "triad", triad, EG_COUNT(triad), 0, 0,
                           &w->triad));
    EG_TRY(eg_buffer_create(w->device, EG_F64, COLUMNS, &w->sink));
    EG_TRY(eg_bench_random_buffer(&bench, 1, VALUES, &w->a));
    EG_TRY(eg_bench_random_buffer(&bench, 2, VALUES, &w->b));
    EG_TRY(eg_buffer_create(w->device, EG_F64, VALUES, &w->c));
    EG_TRY(eg_buffer_fill(w->c, 0, VALUES, &zero));
done:
    return status;
}

static eg_status run(work *w)
{
    eg_status status = EG_OK;
    EG_TRY(eg_launch(w->fma, w->fma_tiles, EG_INTEGER("n", LINKS), EG_REAL("x", 0.999),
                     EG_BUFFER("sink", w->sink)));
    for (int i = 0; i < PASSES; i++)
        EG_TRY(eg_launch(w->triad, w->triad_tiles, EG_BUFFER("a", w->a), EG_BUFFER("b", w->b),
                         EG_REAL("s", 0.5), EG_BUFFER("c", w->c)));
    EG_TRY(eg_device_sync(w->device));
done:
    return status;
}

eg_status eg_bench_reference(eg_context *ctx, double seconds[EG_BENCH_REFERENCE_SAMPLES])
{
    eg_status status = EG_OK;
    work w = {0};
    EG_TRY(create(ctx, &w));
    EG_TRY(run(&w));
    for (int i = 0; i < EG_BENCH_REFERENCE_SAMPLES; i++) {
        const double start = eg_wall_seconds();
        EG_TRY(run(&w));
        seconds[i] = eg_wall_seconds() - start;
    }
done:
    destroy(&w);
    return status;
}
