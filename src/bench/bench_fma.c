/* `fma`: the rates of the vector units, of the FP64 tensor units and of shared memory, each with
 * several numbers of independent chains; the best one is the ceiling of all other benchmarks. */
#include "bench/run.h"

static eg_status run(eg_bench *bench)
{
    return eg_bench_measure_rates(bench, true);
}

const eg_bench_driver eg_bench_fma = {
    .name = "fma",
    .summary = "peak rates: vector FMA, FP64 tensor units, shared memory",
    .run = run,
};
