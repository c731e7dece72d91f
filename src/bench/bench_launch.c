/* `launch`: what starting a kernel costs, queued in a row and with a wait after each. */
#include "bench/run.h"

typedef struct launch_case {
    eg_device *device;
    eg_kernel *kernel;
    eg_buffer *sink;
    bool wait;
} launch_case;

static eg_status body(void *user)
{
    launch_case *c = user;
    eg_status status = EG_OK;
    EG_TRY(
        eg_launch(c->kernel, 1, EG_INTEGER("n", 0), EG_REAL("x", 1.0), EG_BUFFER("sink", c->sink)));
    if (c->wait) EG_TRY(eg_device_sync(c->device));
done:
    return status;
}

static eg_status run(eg_bench *bench)
{
    eg_status status = EG_OK;
    launch_case c = {.device = bench->device};
    const eg_define defines[] = {{"CHAINS", 4}, {"ROWS", 1}};
    EG_TRY(eg_bench_kernel(bench, "bench/peak.k.c", "fma_peak", defines, EG_COUNT(defines), 0, 0,
                           &c.kernel));
    EG_TRY(eg_buffer_create(bench->device, EG_F64, (size_t)eg_kernel_lanes(c.kernel), &c.sink));
    for (int wait = 0; wait <= 1; wait++) {
        eg_bench_work work = {.name = "launch", .size = wait ? "waiting each time" : "in a row"};
        eg_bench_progress(bench, "%s", work.size);
        c.wait = wait;
        EG_TRY(eg_bench_time(bench, body, &c, &work.time_s));
        EG_TRY(eg_bench_add(bench, &work));
    }
done:
    eg_buffer_destroy(&c.sink);
    eg_kernel_destroy(&c.kernel);
    return status;
}

const eg_bench_driver eg_bench_launch = {
    .name = "launch",
    .summary = "time to start an empty kernel",
    .run = run,
};
