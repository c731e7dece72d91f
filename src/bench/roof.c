/* Ceilings that are timed together with every point under them.
 *
 * On a shared machine bandwidth changes by half from one second to the next; a fraction means
 * something only if the bound and the time were measured side by side. */
#include "bench/run.h"

#include <assert.h>
#include <math.h>

/* One copy of the roof's arrays, by kernel or (variant 2) by the device's own routine. */
typedef struct copy_run {
    eg_bench_roof *roof;
    int variant;
} copy_run;

static eg_status run_copy(void *user)
{
    copy_run *run = user;
    eg_bench_roof *roof = run->roof;
    if (run->variant == 2) return eg_buffer_copy(roof->b, 0, roof->a, 0, roof->count);
    return eg_launch(roof->copy[run->variant], roof->tiles, EG_BUFFER("a", roof->a),
                     EG_BUFFER("b", roof->b));
}

eg_status eg_bench_roof_create(eg_bench *bench, size_t bytes, bool tensor, eg_type real,
                               eg_bench_roof *roof)
{
    eg_status status = EG_OK;
    *roof = (eg_bench_roof){.tensor = tensor};
    EG_TRY(eg_bench_copy_kernel(bench, 0, &roof->copy[0]));
    if (bench->on_cpu) EG_TRY(eg_bench_copy_kernel(bench, 1, &roof->copy[1]));
    size_t tile = EG_BENCH_STREAM_ROWS * (size_t)eg_kernel_lanes(roof->copy[0]);
    roof->tiles = eg_bench_tiles(bench, (double)bytes, 16 * (double)tile);
    roof->count = (size_t)roof->tiles * tile;
    roof->copy_bytes = 16 * (double)roof->count;
    EG_TRY(eg_bench_random_buffer(bench, 1, roof->count, &roof->a));
    EG_TRY(eg_bench_poisoned_buffer(bench, roof->count, &roof->b));
    EG_TRY(eg_bench_peak_create(bench, tensor ? "tensor_peak" : "fma_peak", real,
                                tensor ? bench->tensor_chains : bench->fma_chains, &roof->peak));
done:
    if (status != EG_OK) eg_bench_roof_destroy(roof);
    return status;
}

void eg_bench_roof_destroy(eg_bench_roof *roof)
{
    eg_bench_peak_destroy(&roof->peak);
    eg_buffer_destroy(&roof->b);
    eg_buffer_destroy(&roof->a);
    eg_kernel_destroy(&roof->copy[1]);
    eg_kernel_destroy(&roof->copy[0]);
}

eg_status eg_bench_roof_add(eg_bench *bench, eg_bench_roof *roof, eg_bench_body *body, void *user,
                            double padded_flops, eg_bench_work *work)
{
    eg_status status = EG_OK;
    copy_run copies[3] = {{roof, 0}, {roof, 1}, {roof, 2}};
    eg_bench_timed timed[5] = {{.body = body, .user = user},
                               {.body = eg_bench_peak_run, .user = &roof->peak},
                               {.body = run_copy, .user = &copies[2]},
                               {.body = run_copy, .user = &copies[0]},
                               {.body = run_copy, .user = &copies[1]}};
    size_t count = roof->copy[1] ? 5 : 4;
    assert(roof->points < EG_BENCH_POINTS_MAX);
    EG_TRY(eg_bench_time_together(bench, timed, count));
    double fastest_copy = INFINITY;
    for (size_t i = 2; i < count; i++)
        fastest_copy = fmin(fastest_copy, timed[i].seconds);

    work->time_s = timed[0].seconds;
    work->unit = roof->tensor ? "tensor" : "fma";
    work->padded_flops = roof->tensor ? padded_flops : work->flops;
    work->ceiling_gflops = roof->peak.work / timed[1].seconds * 1e-9;
    work->ceiling_gbs = roof->copy_bytes / fastest_copy * 1e-9;
    roof->peak_gflops[roof->points] = work->ceiling_gflops;
    roof->copy_gbs[roof->points] = work->ceiling_gbs;
    roof->points++;
    EG_TRY(eg_bench_add(bench, work));
done:
    return status;
}

void eg_bench_roof_report(eg_bench *bench, eg_bench_roof *roof, bool from_cache)
{
    eg_bench_ceilings *ceilings = &bench->result->ceilings;
    if (roof->points == 0) return;
    double copy = eg_bench_median(roof->copy_gbs, roof->points);
    double peak = eg_bench_median(roof->peak_gflops, roof->points);
    *(from_cache ? &ceilings->cache_copy_gbs : &ceilings->copy_gbs) = copy;
    *(roof->tensor ? &ceilings->tensor_gflops : &ceilings->fma_gflops) = peak;
}

eg_status eg_bench_degrees(eg_bench *bench, double bytes, bool from_cache,
                           eg_bench_measure *measure)
{
    eg_status status = EG_OK;
    eg_bench_roof roof = {0};
    EG_TRY(eg_bench_roof_create(bench, (size_t)bytes, bench->info->has_tensor_f64, EG_F64, &roof));
    for (int degree = 1; degree <= EG_BENCH_MAX_DEGREE; degree++)
        if (eg_bench_wants(bench, degree)) EG_TRY(measure(bench, &roof, degree, bytes, from_cache));
    eg_bench_roof_report(bench, &roof, from_cache);
done:
    eg_bench_roof_destroy(&roof);
    return status;
}
