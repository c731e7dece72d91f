/* The fraction of its bound that each point of a benchmark reaches, as a chart over the sizes. */
#include "cli/bench_output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A point with its bound. */
typedef struct entry {
    const eg_bench_point *point; /* not owned */
    char size[32];               /* what stands below it */
} entry;

typedef struct table {
    eg_context *ctx;
    entry *entries; /* [count] owned */
    size_t count;
    const char **sizes,
        **names; /* [size_count], [name_count] those that differ, as they come; owned */
    size_t size_count, name_count;
    double *x;               /* [size_count] 0, 1, …; owned */
    double *fractions;       /* [name_count][size_count] NaN where there is no point; owned */
    eg_chart_series *series; /* [name_count] owned */
} table;

/* Sizes are short, "N=4" of "N=4 Np=15", unless points of one name then had the same. */
static void name_sizes(table *t)
{
    bool differ = true;
    for (size_t i = 0; i < t->count; i++) {
        const char *size = t->entries[i].point->size;
        snprintf(t->entries[i].size, sizeof t->entries[i].size, "%.*s", (int)strcspn(size, " "),
                 size);
        for (size_t j = 0; j < i; j++)
            differ = differ && (strcmp(t->entries[i].size, t->entries[j].size) != 0 ||
                                strcmp(t->entries[i].point->name, t->entries[j].point->name) != 0);
    }
    for (size_t i = 0; i < t->count && !differ; i++)
        memcpy(t->entries[i].size, t->entries[i].point->size, sizeof t->entries[i].size);
}

/* The place of a text in a list, to which it is added if it is new. */
static size_t place_in(const char **list, size_t *count, const char *text)
{
    size_t i = 0;
    while (i < *count && strcmp(list[i], text) != 0)
        i++;
    if (i == *count) list[(*count)++] = text;
    return i;
}

/* Comparisons of two runs have no operations. */
static bool has_bound(const eg_bench_point *p)
{
    return isfinite(p->fraction) && p->flops > 0;
}

static eg_status collect(table *t, const eg_bench_result *results, size_t count)
{
    eg_status status = EG_OK;
    size_t most = 0;
    for (size_t r = 0; r < count; r++)
        most += results[r].count;
    EG_TRY(eg_new(t->ctx, most, &t->entries));
    for (size_t r = 0; r < count; r++)
        for (size_t i = 0; i < results[r].count; i++)
            if (has_bound(&results[r].points[i]))
                t->entries[t->count++].point = &results[r].points[i];
    name_sizes(t);
    EG_TRY(eg_new(t->ctx, t->count, &t->sizes));
    EG_TRY(eg_new(t->ctx, t->count, &t->names));
    for (size_t i = 0; i < t->count; i++) {
        place_in(t->sizes, &t->size_count, t->entries[i].size);
        place_in(t->names, &t->name_count, t->entries[i].point->name);
    }
done:
    return status;
}

static eg_status fill(table *t)
{
    eg_status status = EG_OK;
    EG_TRY(eg_new(t->ctx, t->size_count, &t->x));
    EG_TRY(eg_new(t->ctx, t->name_count * t->size_count, &t->fractions));
    EG_TRY(eg_new(t->ctx, t->name_count, &t->series));
    for (size_t i = 0; i < t->size_count; i++)
        t->x[i] = (double)i;
    for (size_t i = 0; i < t->name_count * t->size_count; i++)
        t->fractions[i] = NAN;
    for (size_t i = 0; i < t->count; i++) {
        const size_t size = place_in(t->sizes, &t->size_count, t->entries[i].size);
        const size_t name = place_in(t->names, &t->name_count, t->entries[i].point->name);
        t->fractions[name * t->size_count + size] = t->entries[i].point->fraction;
    }
    for (size_t k = 0; k < t->name_count; k++)
        t->series[k] = (eg_chart_series){.name = t->names[k],
                                         .count = t->size_count,
                                         .x = t->x,
                                         .y = &t->fractions[k * t->size_count]};
done:
    return status;
}

eg_status cli_bench_chart(eg_context *ctx, const eg_bench_result *results, size_t count,
                          eg_picture_format format, eg_text *out)
{
    eg_status status = EG_OK;
    table t = {.ctx = ctx};
    const eg_device_info *device = &results[0].device;
    char subtitle[512];
    snprintf(subtitle, sizeof subtitle, "%s (%s)%s", device->name, device->spec,
             results[0].quick ? ", quick: not to be quoted" : "");
    EG_TRY(collect(&t, results, count));
    EG_TRY(fill(&t));
    const eg_chart chart = {.title = "How close kernels come to the limits of the device",
                            .subtitle = subtitle,
                            .x = {.label = "size",
                                  .scale = EG_SCALE_NAMES,
                                  .names = (const char *const *)t.sizes,
                                  .name_count = t.size_count},
                            .y = {.label = "fraction = bound / time"},
                            .series = t.series,
                            .count = t.name_count,
                            .format = format};
    EG_TRY(eg_chart_write(ctx, &chart, out));
done:
    eg_release(ctx, &t.series);
    eg_release(ctx, &t.fractions);
    eg_release(ctx, &t.x);
    eg_release(ctx, &t.names);
    eg_release(ctx, &t.sizes);
    eg_release(ctx, &t.entries);
    return status;
}
