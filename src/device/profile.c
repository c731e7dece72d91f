/* Events around launches, read in batches, and their sums by kernel. */
#include "device/profile.h"

#include "device/backend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 2048, ROWS_AT_FIRST = 64, EMPTY_PAIRS = 33 };

typedef struct pair {
    void *before, *after; /* the backend's events, owned */
    size_t row;
} pair;

struct eg_profiler {
    eg_profile found;
    size_t capacity; /* of its rows */
    pair pairs[PAIRS];
    size_t used;
    double between; /* seconds from one event to the next with nothing between them */
};

static void destroy(eg_device *device, eg_profiler **handle)
{
    eg_profiler *p = *handle;
    if (!p) return;
    for (size_t i = 0; i < PAIRS; i++) {
        device->backend->event_destroy(device, p->pairs[i].before);
        device->backend->event_destroy(device, p->pairs[i].after);
    }
    eg_profile_free(device->ctx, &p->found);
    eg_release(device->ctx, handle);
}

void eg_profile_free(eg_context *ctx, eg_profile *profile)
{
    eg_release(ctx, &profile->rows);
    *profile = (eg_profile){0};
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of some pairs with nothing between them. */
static eg_status measure_between(eg_device *device, eg_profiler *p)
{
    const eg_backend *backend = device->backend;
    double seconds[EMPTY_PAIRS];
    eg_status status = EG_OK;
    for (int i = 0; i < EMPTY_PAIRS; i++) {
        EG_TRY(backend->event_record(device, p->pairs[i].before));
        EG_TRY(backend->event_record(device, p->pairs[i].after));
    }
    for (int i = 0; i < EMPTY_PAIRS; i++)
        EG_TRY(backend->event_elapsed(device, p->pairs[i].before, p->pairs[i].after, &seconds[i]));
    qsort(seconds, EMPTY_PAIRS, sizeof *seconds, by_value);
    p->between = seconds[EMPTY_PAIRS / 2];
done:
    return status;
}

static eg_status create(eg_device *device, eg_profiler **out)
{
    eg_profiler *p = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(device->ctx, 1, &p));
    for (size_t i = 0; i < PAIRS; i++) {
        EG_TRY(device->backend->event_create(device, &p->pairs[i].before));
        EG_TRY(device->backend->event_create(device, &p->pairs[i].after));
    }
    EG_TRY(measure_between(device, p));
    *out = p;
    p = NULL;
done:
    destroy(device, &p);
    return status;
}

eg_status eg_profile_start(eg_device *device)
{
    if (device->profiler)
        return eg_fail(device->ctx, EG_ERROR_ARGUMENT, "%s is being profiled already",
                       device->info.spec);
    return create(device, &device->profiler);
}

/* Reads all events that were recorded. */
static eg_status drain(eg_device *device, eg_profiler *p)
{
    eg_status status = EG_OK;
    for (size_t i = 0; i < p->used; i++) {
        const pair *at = &p->pairs[i];
        eg_profile_row *row = &p->found.rows[at->row];
        double seconds = 0;
        EG_TRY(device->backend->event_elapsed(device, at->before, at->after, &seconds));
        seconds = fmax(seconds - p->between, 0);
        row->launches++;
        row->seconds += seconds;
        p->found.seconds += seconds;
    }
done:
    p->used = 0;
    return status;
}

static eg_status find_row(eg_device *device, eg_profiler *p, const char *entry, const char *source,
                          size_t *out)
{
    eg_profile *f = &p->found;
    eg_profile_row *more = NULL;
    eg_status status = EG_OK;
    for (*out = 0; *out < f->count; ++*out)
        if (!strcmp(f->rows[*out].entry, entry) && !strcmp(f->rows[*out].source, source))
            return EG_OK;
    if (f->count == p->capacity) {
        const size_t capacity = p->capacity ? 2 * p->capacity : ROWS_AT_FIRST;
        EG_TRY(eg_new(device->ctx, capacity, &more));
        if (f->count > 0) memcpy(more, f->rows, f->count * sizeof *more);
        eg_release(device->ctx, &f->rows);
        f->rows = more;
        p->capacity = capacity;
    }
    eg_profile_row *row = &f->rows[f->count++];
    snprintf(row->entry, sizeof row->entry, "%s", entry);
    snprintf(row->source, sizeof row->source, "%s", source);
done:
    return status;
}

eg_status eg_profile_before(eg_device *device)
{
    eg_profiler *p = device->profiler;
    eg_status status = EG_OK;
    if (!p) return EG_OK;
    if (p->used == PAIRS) EG_TRY(drain(device, p));
    EG_TRY(device->backend->event_record(device, p->pairs[p->used].before));
done:
    return status;
}

eg_status eg_profile_after(eg_device *device, const char *entry, const char *source)
{
    eg_profiler *p = device->profiler;
    eg_status status = EG_OK;
    if (!p) return EG_OK;
    EG_TRY(device->backend->event_record(device, p->pairs[p->used].after));
    EG_TRY(find_row(device, p, entry, source, &p->pairs[p->used].row));
    p->used++;
done:
    return status;
}

static int longest_first(const void *a, const void *b)
{
    const eg_profile_row *x = a, *y = b;
    return (y->seconds > x->seconds) - (y->seconds < x->seconds);
}

eg_status eg_profile_stop(eg_device *device, eg_profile *out)
{
    eg_profiler *p = device->profiler;
    eg_status status = EG_OK;
    *out = (eg_profile){0};
    if (!p) return EG_OK;
    status = drain(device, p);
    *out = p->found;
    p->found = (eg_profile){0};
    if (out->count > 1) qsort(out->rows, out->count, sizeof *out->rows, longest_first);
    destroy(device, &device->profiler);
    return status;
}
