/* `dot`: the reductions of the library over 10⁸ values against read bandwidth. */
#include "bench/run.h"

#include <math.h>
#include <stdio.h>

typedef struct dot_case {
    size_t count;
    eg_reducer *reducer;
    eg_reduction reduction;
    eg_buffer *value;
} dot_case;

static eg_status body(void *user)
{
    dot_case *c = user;
    return eg_reduce(c->reducer, c->count, &c->reduction, c->value);
}

static eg_status measure(eg_bench *bench, const char *name, eg_reduction reduction, size_t count)
{
    eg_status status = EG_OK;
    eg_bench_reader reader = {0};
    dot_case c = {.count = count, .reduction = reduction};
    char size[32];
    double arrays = reduction.y ? 2 : 1;
    int exponent = (int)floor(log10((double)count));
    snprintf(size, sizeof size, "%.3ge%d values", (double)count / pow(10, exponent), exponent);
    eg_bench_progress(bench, "%s of %s", name, size);
    EG_TRY(eg_buffer_create(bench->device, EG_F64, 1, &c.value));
    EG_TRY(eg_reducer_create(bench->device, EG_F64, &reduction.kind, 1, &c.reducer));
    eg_bench_work work = {.name = name,
                          .size = size,
                          .flops = arrays * (double)count,
                          .bytes = arrays * 8 * (double)count};
    EG_TRY(eg_bench_reader_create(bench, reduction.x, count, &reader));
    eg_bench_timed timed[] = {{.body = body, .user = &c}, {.body = eg_bench_read, .user = &reader}};
    EG_TRY(eg_bench_time_together(bench, timed, EG_COUNT(timed)));
    work.time_s = timed[0].seconds;
    work.ceiling_gbs = reader.bytes / timed[1].seconds * 1e-9;
    bench->result->ceilings.read_gbs = work.ceiling_gbs;
    EG_TRY(eg_bench_add(bench, &work));
done:
    eg_bench_reader_destroy(&reader);
    eg_reducer_destroy(&c.reducer);
    eg_buffer_destroy(&c.value);
    return status;
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    eg_buffer *x = NULL, *y = NULL;
    double wanted = bench->options->quick ? 1e7 : 1e8;
    size_t count = (size_t)fmin(wanted, eg_bench_memory_limit(bench) / 16);
    EG_TRY(eg_bench_random_buffer(bench, 12, count, &x));
    EG_TRY(eg_bench_random_buffer(bench, 13, count, &y));
    EG_TRY(measure(bench, "dot", (eg_reduction){.kind = EG_REDUCE_DOT, .x = x, .y = y}, count));
    EG_TRY(measure(bench, "sum", (eg_reduction){.kind = EG_REDUCE_SUM, .x = x}, count));
done:
    eg_buffer_destroy(&y);
    eg_buffer_destroy(&x);
    return status;
}

const eg_bench_driver eg_bench_dot = {
    .name = "dot",
    .summary = "reductions of 1e8 values against read bandwidth",
    .on_roofline = true,
    .run = run,
};
