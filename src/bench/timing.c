/* Times a body on a device: warm-up, then the median of eleven samples, each long enough for the
 * clock and for the launches to overlap as they do in a real run. */
#include "bench/run.h"

#include <math.h>
#include <stdlib.h>

#define SAMPLES 11
#define MAX_REPEATS 100000

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static eg_status sample(eg_event *start, eg_event *stop, eg_bench_body *body, void *user,
                        int repeats, double *seconds)
{
    eg_status status = EG_OK;
    EG_TRY(eg_event_record(start));
    for (int i = 0; i < repeats; i++) EG_TRY(body(user));
    EG_TRY(eg_event_record(stop));
    EG_TRY(eg_event_elapsed(start, stop, seconds));
done:
    return status;
}

eg_status eg_bench_time(eg_bench *bench, eg_bench_body *body, void *user, double *seconds)
{
    eg_status status = EG_OK;
    eg_event *start = NULL, *stop = NULL;
    double target = bench->info->is_gpu ? 2e-3 : bench->options->quick ? 5e-3 : 20e-3;
    double times[SAMPLES];
    int repeats = 1;
    EG_TRY(eg_event_create(bench->device, &start));
    EG_TRY(eg_event_create(bench->device, &stop));

    double elapsed = 0;
    EG_TRY(sample(start, stop, body, user, 1, &elapsed));
    for (;;) {
        EG_TRY(sample(start, stop, body, user, repeats, &elapsed));
        if (elapsed >= target || repeats >= MAX_REPEATS) break;
        double wanted = elapsed > 0 ? 1.2 * repeats * target / elapsed : 100.0 * repeats;
        repeats = (int)fmin(MAX_REPEATS, fmin(ceil(wanted), 100.0 * repeats));
    }
    for (int i = 0; i < SAMPLES; i++) {
        EG_TRY(sample(start, stop, body, user, repeats, &times[i]));
        times[i] /= repeats;
    }
    qsort(times, SAMPLES, sizeof times[0], compare_doubles);
    *seconds = times[SAMPLES / 2];
    if (!(*seconds > 0)) {
        status = eg_fail(bench->ctx, EG_ERROR_NUMERIC,
                         "the clock of %s measured %g s for %d runs in a row: it is too coarse",
                         bench->info->spec, *seconds, repeats);
    }
done:
    eg_event_destroy(&stop);
    eg_event_destroy(&start);
    return status;
}
