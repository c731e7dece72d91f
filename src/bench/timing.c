/* Times bodies on a device: warm-up, then the median of eleven samples, each long enough for the
 * clock and for the launches to overlap as they do in a real run. */
#include "bench/run.h"

#include <assert.h>
#include <math.h>

#define SAMPLES 11
#define MAX_REPEATS 100000

static eg_status sample(eg_event *start, eg_event *stop, eg_bench_body *body, void *user,
                        int repeats, double *seconds)
{
    eg_status status = EG_OK;
    EG_TRY(eg_event_record(start));
    for (int i = 0; i < repeats; i++)
        EG_TRY(body(user));
    EG_TRY(eg_event_record(stop));
    EG_TRY(eg_event_elapsed(start, stop, seconds));
done:
    return status;
}

/* How many runs make a sample of one body long enough; also warms it up. */
static eg_status calibrate(eg_event *start, eg_event *stop, const eg_bench_timed *timed,
                           double target, int *repeats)
{
    eg_status status = EG_OK;
    double elapsed = 0;
    *repeats = 1;
    EG_TRY(sample(start, stop, timed->body, timed->user, 1, &elapsed));
    for (;;) {
        EG_TRY(sample(start, stop, timed->body, timed->user, *repeats, &elapsed));
        if (elapsed >= target || *repeats >= MAX_REPEATS) break;
        double wanted = elapsed > 0 ? 1.2 * *repeats * target / elapsed : 100.0 * *repeats;
        *repeats = (int)fmin(MAX_REPEATS, fmin(ceil(wanted), 100.0 * *repeats));
    }
done:
    return status;
}

eg_status eg_bench_time_together(eg_bench *bench, eg_bench_timed *timed, size_t count)
{
    eg_status status = EG_OK;
    eg_event *start = NULL, *stop = NULL;
    double target = bench->info->is_gpu ? 2e-3 : bench->options->quick ? 5e-3 : 20e-3;
    double times[EG_BENCH_TOGETHER][SAMPLES];
    int repeats[EG_BENCH_TOGETHER];
    assert(count <= EG_BENCH_TOGETHER);
    EG_TRY(eg_event_create(bench->device, &start));
    EG_TRY(eg_event_create(bench->device, &stop));
    for (size_t t = 0; t < count; t++) {
        EG_TRY(calibrate(start, stop, &timed[t], target, &repeats[t]));
    }
    for (int i = 0; i < SAMPLES; i++) {
        for (size_t t = 0; t < count; t++) {
            EG_TRY(sample(start, stop, timed[t].body, timed[t].user, repeats[t], &times[t][i]));
        }
    }
    for (size_t t = 0; t < count; t++) {
        timed[t].seconds = eg_bench_median(times[t], SAMPLES) / repeats[t];
        if (timed[t].seconds > 0) continue;
        status = eg_fail(bench->ctx, EG_ERROR_NUMERIC,
                         "the clock of %s measured %g s for %d runs in a row: it is too coarse",
                         bench->info->spec, timed[t].seconds, repeats[t]);
        goto done;
    }
done:
    eg_event_destroy(&stop);
    eg_event_destroy(&start);
    return status;
}

eg_status eg_bench_time(eg_bench *bench, eg_bench_body *body, void *user, double *seconds)
{
    eg_bench_timed timed = {.body = body, .user = user};
    eg_status status = eg_bench_time_together(bench, &timed, 1);
    *seconds = timed.seconds;
    return status;
}
