/* `stream`: copy, triad and read bandwidth from the caches to the full memory. */
#include "bench/run.h"

#include <stdio.h>

#define SIZES 4

/* Bytes of all arrays; 0: one fewer. */
static const double sizes_cpu[SIZES] = {128e3, 25e6, 200e6, 800e6};
static const double sizes_cpu_quick[SIZES] = {128e3, 25e6, 64e6, 0};
static const double sizes_gpu[SIZES] = {24e6, 512e6, 4e9, 0};
static const double sizes_gpu_quick[SIZES] = {24e6, 512e6, 0, 0};

static void size_text(double bytes, char *text, size_t length)
{
    const char *unit = bytes >= 1e9 ? "GB" : bytes >= 1e6 ? "MB" : "kB";
    double scale = bytes >= 1e9 ? 1e-9 : bytes >= 1e6 ? 1e-6 : 1e-3;
    snprintf(text, length, "%.3g %s", bytes * scale, unit);
}

/* A bandwidth as a point; the time is that of moving `bytes` once. */
static eg_status add(eg_bench *bench, const char *name, const char *size, double bytes, double gbs,
                     double ceiling_gbs)
{
    if (gbs <= 0) return EG_OK; /* not measured on this device */
    eg_bench_work work = {.name = name,
                          .size = size,
                          .bytes = bytes,
                          .time_s = bytes / gbs * 1e-9,
                          .ceiling_gbs = ceiling_gbs};
    return eg_bench_add(bench, &work);
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    bool quick = bench->options->quick;
    const double *sizes = bench->info->is_gpu ? (quick ? sizes_gpu_quick : sizes_gpu)
                                              : (quick ? sizes_cpu_quick : sizes_cpu);
    eg_bench_ceilings *ceilings = &bench->result->ceilings;
    for (size_t i = 0; i < SIZES && sizes[i] > 0; i++) {
        /* Caches near a core belong to each thread; memory is shared. */
        double bytes = sizes[i] < 1e6 ? sizes[i] * bench->cpu_shares : sizes[i];
        char size[32];
        eg_bench_bandwidth bandwidth;
        /* Three arrays are alive: of the whole, half and a third of it. */
        if (2 * bytes > eg_bench_memory_limit(bench)) continue;
        size_text(bytes, size, sizeof size);
        eg_bench_progress(bench, "%s", size);
        EG_TRY(eg_bench_measure_bandwidth(bench, (size_t)bytes, &bandwidth));
        EG_TRY(add(bench, "copy", size, bytes, bandwidth.kernel_gbs, bandwidth.copy_gbs));
        EG_TRY(
            add(bench, "copy-streaming", size, bytes, bandwidth.streaming_gbs, bandwidth.copy_gbs));
        EG_TRY(add(bench, "memcpy", size, bytes, bandwidth.memcpy_gbs, bandwidth.copy_gbs));
        EG_TRY(add(bench, "triad", size, bytes, bandwidth.triad_gbs, bandwidth.copy_gbs));
        EG_TRY(add(bench, "read", size, bytes, bandwidth.read_gbs, bandwidth.read_gbs));
        ceilings->copy_gbs = bandwidth.copy_gbs;
        ceilings->memcpy_gbs = bandwidth.memcpy_gbs;
        ceilings->triad_gbs = bandwidth.triad_gbs;
        ceilings->read_gbs = bandwidth.read_gbs;
        if (i == 0) ceilings->cache_copy_gbs = bandwidth.copy_gbs;
    }
done:
    return status;
}

const eg_bench_driver eg_bench_stream = {
    .name = "stream",
    .summary = "memory bandwidth: copy, triad and read",
    .run = run,
};
