/* The list of benchmarks, running one, and turning times into points. */
#include "bench/run.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* [karakus2018] section 5.1; it prints 4 flops a byte, and means the reverse: the 7.9 TB/s of its GPU
 * make a roof of 2 TFLOP/s. */
#define SHARED_BYTES_A_FLOP 4

static const eg_bench_driver *const drivers[] = {
    &eg_bench_stream,    &eg_bench_fma,      &eg_bench_gemm,           &eg_bench_chain,
    &eg_bench_matvec,    &eg_bench_dot,      &eg_bench_launch,         &eg_bench_advection,
    &eg_bench_euler,     &eg_bench_elliptic, &eg_bench_elliptic_solve, &eg_bench_ins,
    &eg_bench_ins_steps,
};

size_t eg_bench_count(void)
{
    return EG_COUNT(drivers);
}

const char *eg_bench_name(size_t index)
{
    assert(index < EG_COUNT(drivers));
    return drivers[index]->name;
}

const char *eg_bench_summary(size_t index)
{
    assert(index < EG_COUNT(drivers));
    return drivers[index]->summary;
}

bool eg_bench_on_roofline(size_t index)
{
    assert(index < EG_COUNT(drivers));
    return drivers[index]->on_roofline;
}

int eg_bench_most_degree(size_t index)
{
    assert(index < EG_COUNT(drivers));
    return drivers[index]->most_degree;
}

bool eg_bench_on_mesh(size_t index)
{
    assert(index < EG_COUNT(drivers));
    return drivers[index]->on_mesh;
}

eg_status eg_bench_check_degrees(eg_context *ctx, size_t index, uint32_t degrees)
{
    const int most = eg_bench_most_degree(index);
    for (int degree = 0; most > 0 && degree < 32; degree++)
        if ((degrees >> degree & 1) && (degree < 1 || degree > most))
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "benchmark \"%s\" measures degrees 1 to %d, not %d",
                           drivers[index]->name, most, degree);
    return EG_OK;
}

bool eg_bench_wants(const eg_bench *bench, int degree)
{
    const uint32_t chosen = bench->options->degrees;
    return chosen == 0 || (chosen >> degree & 1);
}

void eg_bench_progress(eg_bench *bench, const char *format, ...)
{
    if (!bench->options->progress) return;
    char what[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    bench->options->progress(bench->options->user, bench->result->bench, what);
}

eg_status eg_bench_run(eg_context *ctx, eg_device *device, const char *name,
                       const eg_bench_options *options, eg_bench_result *result)
{
    const eg_device_info *info = eg_device_get_info(device);
    const eg_bench_options defaults = {0};
    if (!options) options = &defaults;
    *result = (eg_bench_result){.bench = "",
                                .device = *info,
                                .quick = options->quick,
                                .ceilings = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN}};
    eg_status status = EG_OK;
    size_t index = 0;
    while (index < EG_COUNT(drivers) && strcmp(drivers[index]->name, name) != 0)
        index++;
    if (index == EG_COUNT(drivers))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "there is no benchmark \"%s\"", name);
    const eg_bench_driver *driver = drivers[index];
    if (!info->has_f64) {
        return eg_fail(ctx, EG_ERROR_UNSUPPORTED,
                       "%s (%s) has no double precision, which the benchmarks measure", info->spec,
                       info->name);
    }
    if (driver->on_mesh && !options->mesh)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "benchmark \"%s\" needs a mesh", name);
    EG_TRY(eg_bench_check_degrees(ctx, index, options->degrees));
    result->bench = driver->name;
    bool on_cpu = strcmp(info->backend, "cpu") == 0;
    eg_bench bench = {.ctx = ctx,
                      .device = device,
                      .info = info,
                      .options = options,
                      .result = result,
                      .on_cpu = on_cpu,
                      .cpu_shares = on_cpu && info->threads > 1 ? info->threads : 1};
    EG_TRY(driver->run(&bench));
done:
    return status;
}

void eg_bench_result_free(eg_context *ctx, eg_bench_result *result)
{
    eg_release(ctx, &result->points);
    result->count = result->capacity = 0;
}

static void add_bound(const char *by, double seconds, eg_bench_point *point)
{
    if (seconds <= point->bound_s) return;
    point->bound_s = seconds;
    point->bound_by = by;
}

eg_status eg_bench_add(eg_bench *bench, const eg_bench_work *work)
{
    eg_bench_result *result = bench->result;
    if (result->count == result->capacity) {
        size_t capacity = result->capacity ? 2 * result->capacity : 32;
        eg_status status = eg_reallocate(bench->ctx, capacity * sizeof result->points[0],
                                         (void **)&result->points);
        if (status != EG_OK) return status;
        result->capacity = capacity;
    }
    eg_bench_point *point = &result->points[result->count++];
    *point = (eg_bench_point){.flops = work->flops,
                              .bytes = work->bytes,
                              .time_s = work->time_s,
                              .gflops = work->flops / work->time_s * 1e-9,
                              .gbs = work->bytes / work->time_s * 1e-9,
                              .ceiling_gbs = NAN,
                              .ceiling_gflops = NAN,
                              .bound_by = "",
                              .paper_gflops = NAN,
                              .share = work->share > 0 ? work->share : NAN,
                              .iterations = work->iterations > 0 ? work->iterations : NAN,
                              .speed_up = work->speed_up > 0 ? work->speed_up : NAN,
                              .dof_per_s = work->dof_per_s > 0 ? work->dof_per_s : NAN,
                              .bytes_per_element =
                                  work->bytes_per_element > 0 ? work->bytes_per_element : NAN};
    snprintf(point->name, sizeof point->name, "%s", work->name);
    snprintf(point->size, sizeof point->size, "%s", work->size);
    double unpadded = 0;
    if (work->ceiling_gbs > 0) {
        bool is_shared = work->unit && strcmp(work->unit, "shared") == 0;
        point->ceiling_gbs = work->ceiling_gbs;
        unpadded = work->bytes / work->ceiling_gbs * 1e-9;
        add_bound(is_shared ? "shared" : "memory", unpadded, point);
    }
    if (work->ceiling_gflops > 0) {
        double padded = work->padded_flops > 0 ? work->padded_flops : work->flops;
        point->ceiling_gflops = work->ceiling_gflops;
        unpadded = fmax(unpadded, work->flops / work->ceiling_gflops * 1e-9);
        add_bound(work->unit, padded / work->ceiling_gflops * 1e-9, point);
    }
    if (work->bound_s > 0) {
        unpadded = fmax(unpadded, work->bound_s);
        add_bound(work->bound_by, work->bound_s, point);
    }
    if (work->in_paper)
        point->paper_gflops = fmin(work->flops / work->bytes * work->ceiling_gbs,
                                   result->ceilings.shared_gbs / SHARED_BYTES_A_FLOP);
    bool bounded = point->bound_s > 0;
    point->fraction = bounded ? point->bound_s / work->time_s : NAN;
    point->unpadded_bound_s = bounded ? unpadded : NAN;
    if (!bounded) point->bound_s = NAN;
    return EG_OK;
}
