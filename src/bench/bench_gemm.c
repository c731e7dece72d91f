/* `gemm`: Y = A X over many tiles, A of the size of an operator on triangles of degree 1 to 10,
 * streaming from memory and again from cache. */
#include "bench/run.h"

#include <stdio.h>

/* How threads are laid out on a GPU, by degree; 0 leaves the choice to the library. */
static const struct {
    int rows_per_block, tiles_per_block;
} layout[EG_BENCH_MAX_DEGREE + 1] = {[1] = {1, 8}, [2] = {1, 4}};

typedef struct gemm_case {
    int np;
    int64_t tiles;
    int lanes;
    eg_kernel *kernel;
    eg_operator *op;
    double *a; /* [np][np] */
    eg_buffer *x, *y;
} gemm_case;

static eg_status body(void *user)
{
    gemm_case *c = user;
    return eg_launch(c->kernel, c->tiles, EG_BUFFER("x", c->x), EG_OPERATOR("a", c->op),
                     EG_BUFFER("y", c->y));
}

/* Compares one tile with a plain loop. x, y, want: [np][lanes], one behind the other. */
static eg_status verify(eg_bench *bench, const gemm_case *c, int64_t tile)
{
    eg_status status = EG_OK;
    double *host = NULL;
    size_t np = (size_t)c->np, lanes = (size_t)c->lanes, count = np * lanes;
    EG_TRY(eg_new(bench->ctx, 3 * count, &host));
    double *x = host, *y = host + count, *want = y + count;
    EG_TRY(eg_buffer_download(c->x, (size_t)tile * count, count, x));
    EG_TRY(eg_buffer_download(c->y, (size_t)tile * count, count, y));
    for (size_t i = 0; i < np; i++) {
        for (size_t j = 0; j < np; j++) {
            double aij = c->a[i * np + j];
            for (size_t l = 0; l < lanes; l++)
                want[i * lanes + l] += aij * x[j * lanes + l];
        }
    }
    EG_TRY(eg_bench_compare(bench, "gemm", tile, y, want, count));
done:
    eg_release(bench->ctx, &host);
    return status;
}

static eg_status measure(eg_bench *bench, eg_bench_roof *roof, int degree, double bytes,
                         bool from_cache)
{
    eg_status status = EG_OK;
    int np = (degree + 1) * (degree + 2) / 2;
    gemm_case c = {.np = np};
    const eg_define defines[] = {{"NP", np}, {"K_STREAMING", bench->on_cpu && !from_cache}};
    char size[32];
    snprintf(size, sizeof size, "N=%d Np=%d", degree, np);
    eg_bench_progress(bench, "%s%s", size, from_cache ? " from cache" : "");

    EG_TRY(eg_bench_kernel(bench, "bench/gemm.k.c", "gemm", defines, EG_COUNT(defines),
                           layout[degree].rows_per_block, layout[degree].tiles_per_block,
                           &c.kernel));
    c.lanes = eg_kernel_lanes(c.kernel);
    c.tiles = eg_bench_tiles(bench, bytes, 16.0 * np * c.lanes);
    size_t count = (size_t)c.tiles * (size_t)np * (size_t)c.lanes;
    EG_TRY(eg_bench_random_operator(bench, 3, np, np, &c.a, &c.op));
    EG_TRY(eg_bench_random_buffer(bench, 4, count, &c.x));
    EG_TRY(eg_bench_poisoned_buffer(bench, count, &c.y));
    EG_TRY(body(&c));
    EG_TRY(verify(bench, &c, 0));
    EG_TRY(verify(bench, &c, c.tiles / 2));
    EG_TRY(verify(bench, &c, c.tiles - 1));

    double elements = (double)c.tiles * c.lanes, padded = (np + 7) / 8 * 8;
    eg_bench_work work = {.name = from_cache ? "gemm-cache" : "gemm",
                          .size = size,
                          .flops = 2.0 * np * np * elements,
                          .bytes = 16.0 * np * elements};
    EG_TRY(eg_bench_roof_add(bench, roof, body, &c, 2 * padded * padded * elements, &work));
done:
    eg_buffer_destroy(&c.y);
    eg_buffer_destroy(&c.x);
    eg_operator_destroy(&c.op);
    eg_release(bench->ctx, &c.a);
    eg_kernel_destroy(&c.kernel);
    return status;
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    bool quick = bench->options->quick;
    double bytes = bench->info->is_gpu ? (quick ? 512e6 : 2e9) : (quick ? 64e6 : 200e6);
    double cache_bytes = bench->info->is_gpu ? 24e6 : 128.0 * 1024 * bench->cpu_shares;
    EG_TRY(eg_bench_measure_ceilings(bench, (size_t)bytes));
    EG_TRY(eg_bench_degrees(bench, bytes, false, measure));
    EG_TRY(eg_bench_degrees(bench, cache_bytes, true, measure));
done:
    return status;
}

const eg_bench_driver eg_bench_gemm = {
    .name = "gemm",
    .summary = "small operator times tile, streaming and from cache",
    .on_roofline = true,
    .most_degree = EG_BENCH_MAX_DEGREE,
    .run = run,
};
