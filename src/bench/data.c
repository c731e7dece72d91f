/* Arrays of doubles for benchmarks: random contents without a large upload, comparison with what
 * the host computes. */
#include "bench/run.h"

#include <math.h>
#include <stdlib.h>

/* Values of one random block: small enough to make quickly, and of no regular length, so that
 * neighbouring tiles differ. */
#define BLOCK 262139

void eg_bench_random(uint64_t seed, size_t count, double *values)
{
    uint64_t x = seed * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
    for (size_t i = 0; i < count; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        values[i] = (double)(x >> 11) * 0x1p-53 - 0.5;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double eg_bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof values[0], compare_doubles);
    return values[count / 2];
}

eg_status eg_bench_random_buffer(eg_bench *bench, uint64_t seed, size_t count, eg_buffer **out)
{
    eg_status status = EG_OK;
    double *block = NULL;
    size_t have = count < BLOCK ? count : BLOCK;
    *out = NULL;
    EG_TRY(eg_buffer_create(bench->device, EG_F64, count, out));
    EG_TRY(eg_new(bench->ctx, have, &block));
    eg_bench_random(seed, have, block);
    EG_TRY(eg_buffer_upload(*out, 0, have, block));
    while (have < count) {
        size_t more = count - have < have ? count - have : have;
        EG_TRY(eg_buffer_copy(*out, have, *out, 0, more));
        have += more;
    }
done:
    eg_release(bench->ctx, &block);
    if (status != EG_OK) eg_buffer_destroy(out);
    return status;
}

eg_status eg_bench_poisoned_buffer(eg_bench *bench, size_t count, eg_buffer **out)
{
    eg_status status = EG_OK;
    double poison = NAN;
    *out = NULL;
    EG_TRY(eg_buffer_create(bench->device, EG_F64, count, out));
    EG_TRY(eg_buffer_fill(*out, 0, count, &poison));
done:
    if (status != EG_OK) eg_buffer_destroy(out);
    return status;
}

eg_status eg_bench_random_operator(eg_bench *bench, uint64_t seed, int rows, int cols,
                                   double **values, eg_operator **op)
{
    eg_status status = EG_OK;
    size_t count = (size_t)rows * (size_t)cols;
    *values = NULL;
    *op = NULL;
    EG_TRY(eg_new(bench->ctx, count, values));
    eg_bench_random(seed, count, *values);
    EG_TRY(eg_operator_create(bench->device, EG_F64, rows, cols, *values, op));
done:
    if (status != EG_OK) eg_release(bench->ctx, values);
    return status;
}

eg_status eg_bench_compare(eg_bench *bench, const char *what, int64_t tile, const double *got,
                           const double *want, size_t count)
{
    return eg_bench_compare_within(bench, what, tile, 1e-12, got, want, count);
}

eg_status eg_bench_compare_within(eg_bench *bench, const char *what, int64_t tile, double tolerance,
                                  const double *got, const double *want, size_t count)
{
    double scale = 0;
    for (size_t i = 0; i < count; i++)
        scale = fmax(scale, fabs(want[i]));
    for (size_t i = 0; i < count; i++) {
        if (fabs(got[i] - want[i]) <= tolerance * scale) continue; /* false for NaN */
        return eg_fail(bench->ctx, EG_ERROR_NUMERIC,
                       "%s on %s is wrong: value %zu of tile %lld is %.17g where the host computes "
                       "%.17g. Nothing was measured; run the kernel tests on this device.",
                       what, bench->info->spec, i, (long long)tile, got[i], want[i]);
    }
    return EG_OK;
}

eg_status eg_bench_kernel(eg_bench *bench, const char *source, const char *entry,
                          const eg_define *defines, size_t define_count, int rows_per_block,
                          int tiles_per_block, eg_kernel **out)
{
    return eg_kernel_create(bench->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = source,
                                                 .entry = entry,
                                                 .real = EG_F64,
                                                 .rows_per_block = rows_per_block,
                                                 .tiles_per_block = tiles_per_block,
                                                 .defines = defines,
                                                 .define_count = define_count},
                            out);
}

int64_t eg_bench_tiles(const eg_bench *bench, double bytes, double tile_bytes)
{
    int64_t shares = bench->cpu_shares;
    int64_t tiles = (int64_t)(bytes / tile_bytes) / shares * shares;
    return tiles > shares ? tiles : shares;
}

double eg_bench_memory_limit(const eg_bench *bench)
{
    return 0.4 * (double)bench->info->memory_bytes;
}
