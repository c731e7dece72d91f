/* `matvec`: y = A x with a matrix of its own for each of 200×200 elements, n = M³ unknowns an
 * element, M = 2 to 5: a block-diagonal operator that is read once and bounded by reading it. */
#include "bench/run.h"

#include <math.h>
#include <stdio.h>

#define ELEMENTS 40000

typedef struct matvec_case {
    size_t n, lanes;
    int64_t tiles;
    eg_kernel *kernel;
    eg_buffer *a;     /* [tile][n rows][n cols][lanes] */
    eg_buffer *x, *y; /* [tile][n][lanes] */
} matvec_case;

static eg_status body(void *user)
{
    matvec_case *c = user;
    return eg_launch(c->kernel, c->tiles, EG_BUFFER("a", c->a), EG_BUFFER("x", c->x),
                     EG_BUFFER("y", c->y));
}

static eg_status verify(eg_bench *bench, const matvec_case *c, int64_t tile)
{
    eg_status status = EG_OK;
    double *host = NULL;
    size_t n = c->n, lanes = c->lanes, count = n * lanes;
    EG_TRY(eg_new(bench->ctx, (n + 3) * count, &host));
    double *a = host, *x = a + n * count, *y = x + count, *want = y + count;
    EG_TRY(eg_buffer_download(c->a, (size_t)tile * n * count, n * count, a));
    EG_TRY(eg_buffer_download(c->x, (size_t)tile * count, count, x));
    EG_TRY(eg_buffer_download(c->y, (size_t)tile * count, count, y));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            for (size_t l = 0; l < lanes; l++) {
                want[i * lanes + l] += a[(i * n + j) * lanes + l] * x[j * lanes + l];
            }
        }
    }
    EG_TRY(eg_bench_compare(bench, "matvec", tile, y, want, count));
done:
    eg_release(bench->ctx, &host);
    return status;
}

static eg_status measure(eg_bench *bench, int m)
{
    eg_status status = EG_OK;
    size_t n = (size_t)m * (size_t)m * (size_t)m;
    matvec_case c = {.n = n};
    eg_bench_reader reader = {0};
    const eg_define defines[] = {{"N", (int64_t)n}};
    char size[32];
    snprintf(size, sizeof size, "M=%d n=%zu", m, n);
    eg_bench_progress(bench, "%s", size);

    EG_TRY(eg_bench_kernel(bench, "bench/matvec.k.c", "matvec", defines, EG_COUNT(defines), 0, 0,
                           &c.kernel));
    c.lanes = (size_t)eg_kernel_lanes(c.kernel);
    double element_bytes = (double)(n * n + 2 * n) * 8;
    double limit = eg_bench_memory_limit(bench);
    if (bench->options->quick) limit = fmin(limit, bench->info->is_gpu ? 1e9 : 256e6);
    int64_t all = (ELEMENTS + (int64_t)c.lanes - 1) / (int64_t)c.lanes;
    int64_t fitting = eg_bench_tiles(bench, limit, element_bytes * (double)c.lanes);
    c.tiles = fitting < all ? fitting : all;
    if (c.tiles < all) {
        snprintf(size, sizeof size, "M=%d n=%zu (%lld elements)", m, n,
                 (long long)c.tiles * (long long)c.lanes);
    }

    size_t count = (size_t)c.tiles * n * c.lanes;
    double elements = (double)c.tiles * (double)c.lanes;
    EG_TRY(eg_bench_random_buffer(bench, 10, count * n, &c.a));
    EG_TRY(eg_bench_random_buffer(bench, 11, count, &c.x));
    EG_TRY(eg_bench_poisoned_buffer(bench, count, &c.y));
    EG_TRY(body(&c));
    EG_TRY(verify(bench, &c, 0));
    EG_TRY(verify(bench, &c, c.tiles - 1));

    /* The ceiling is that of reading these very matrices. */
    eg_bench_work work = {.name = "matvec",
                          .size = size,
                          .flops = 2.0 * (double)(n * n) * elements,
                          .bytes = element_bytes * elements,
                          .unit = "fma",
                          .ceiling_gflops = bench->result->ceilings.fma_gflops};
    EG_TRY(eg_bench_reader_create(bench, c.a, count * n, &reader));
    eg_bench_timed timed[] = {{.body = body, .user = &c}, {.body = eg_bench_read, .user = &reader}};
    EG_TRY(eg_bench_time_together(bench, timed, EG_COUNT(timed)));
    work.time_s = timed[0].seconds;
    work.ceiling_gbs = reader.bytes / timed[1].seconds * 1e-9;
    bench->result->ceilings.read_gbs = work.ceiling_gbs;
    EG_TRY(eg_bench_add(bench, &work));
done:
    eg_bench_reader_destroy(&reader);
    eg_buffer_destroy(&c.y);
    eg_buffer_destroy(&c.x);
    eg_buffer_destroy(&c.a);
    eg_kernel_destroy(&c.kernel);
    return status;
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    /* The copy ceiling is for the picture; it is measured at the size of M = 3. */
    EG_TRY(eg_bench_measure_ceilings(bench, (size_t)233e6));
    for (int m = 2; m <= 5; m++)
        EG_TRY(measure(bench, m));
done:
    return status;
}

const eg_bench_driver eg_bench_matvec = {
    .name = "matvec",
    .summary = "a dense matrix for each of 200x200 elements, against read bandwidth",
    .on_roofline = true,
    .run = run,
};
