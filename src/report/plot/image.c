/* Finds the element of every pixel and evaluates there.
 *
 * Each element visits the pixels around it and claims those that it holds, to rounding, and that no
 * element before it holds. Then the pixels that are left beside claimed ones go to the element
 * there that is nearest, if it is near: so the edge of the domain can be drawn smoothly, and no
 * rounding tears elements apart.
 *
 * The image is divided into bands of rows. Threads take one band after another, and each band takes
 * the elements in their order, so that the image does not depend on how many threads there are. */
#include "report/plot/image.h"

#include "base/threads.h"
#include "report/plot/visit.h"

#include <math.h>
#include <stdatomic.h>

enum {
    BANDS = 32,
    BAND_LEAST = 16, /* rows */
    THREADS_MOST = 16,
    AROUND = 2, /* pixels */
    AROUND_MOST = (2 * AROUND + 1) * (2 * AROUND + 1)
};

/* A pixel that nobody claimed, and the element that it then goes to; -1: none. */
typedef struct edge_pixel {
    int column, row;
    int32_t element;
} edge_pixel;

typedef struct job {
    eg_plot_scene scene;
    eg_plot_reach *reaches; /* [element_count] owned */
    int bands, rows;        /* of a band */
    int64_t *band_first;    /* [bands + 1] owned */
    int32_t *band_list;     /* [band_first[bands]] the elements of each band; owned */
    double *work;           /* [threads][work_count] owned */
    int work_count;
    atomic_int next_band;
    edge_pixel *edge; /* [edge_count] owned */
    size_t edge_count;
} job;

void eg_plot_view_point(const eg_plot_view *view, int column, int row, double x[3])
{
    x[0] = x[1] = x[2] = 0;
    if (view->normal >= 0) x[view->normal] = view->at;
    x[view->across] = view->left + (column + 0.5) * view->pixel;
    x[view->up] = view->top - (row + 0.5) * view->pixel;
}

/* --- where elements are ----------------------------------------------------------------------- */

static eg_plot_reach find_reach(const job *j, int32_t e)
{
    const eg_snapshot *s = j->scene.field->snapshot;
    double low[3], high[3];
    eg_plot_reach at = {0};
    const eg_mapping_kind kind = eg_plot_mapping_judge((eg_shape)s->shape[e], s->degree[e],
                                                       &s->x[s->first_node[e] * s->dim], low, high);
    if (kind != EG_MAPPING_NONE && eg_plot_find_pixels(j->scene.view, low, high, &at))
        at.kind = (uint8_t)kind;
    return at;
}

static void find_reaches(void *user, int part, int parts)
{
    const job *j = user;
    const int64_t count = j->scene.field->snapshot->element_count;
    for (int32_t e = (int32_t)(count * part / parts); e < count * (part + 1) / parts; e++)
        j->reaches[e] = find_reach(j, e);
}

/* Lists the elements of each band. */
static eg_status sort_bands(job *j)
{
    eg_status status = EG_OK;
    eg_context *ctx = j->scene.image->ctx;
    const int32_t count = j->scene.field->snapshot->element_count;
    int64_t *next = NULL;
    j->rows = (j->scene.view->height + BANDS - 1) / BANDS;
    if (j->rows < BAND_LEAST) j->rows = BAND_LEAST;
    j->bands = (j->scene.view->height + j->rows - 1) / j->rows;
    EG_TRY(eg_new(ctx, (size_t)j->bands + 1, &j->band_first));
    EG_TRY(eg_new(ctx, (size_t)j->bands, &next));
    for (int32_t e = 0; e < count; e++)
        for (int b = j->reaches[e].from[1] / j->rows;
             j->reaches[e].kind != EG_MAPPING_NONE && b * j->rows < j->reaches[e].to[1]; b++)
            j->band_first[b + 1]++;
    for (int b = 0; b < j->bands; b++) {
        next[b] = j->band_first[b];
        j->band_first[b + 1] += j->band_first[b];
    }
    EG_TRY(eg_new(ctx, (size_t)j->band_first[j->bands], &j->band_list));
    for (int32_t e = 0; e < count; e++)
        for (int b = j->reaches[e].from[1] / j->rows;
             j->reaches[e].kind != EG_MAPPING_NONE && b * j->rows < j->reaches[e].to[1]; b++)
            j->band_list[next[b]++] = e;
done:
    eg_release(ctx, &next);
    return status;
}

/* --- pixels ----------------------------------------------------------------------------------- */

static void fill_band(const job *j, int band, double *work)
{
    const int first = band * j->rows, end = first + j->rows;
    const size_t width = (size_t)j->scene.view->width;
    for (int row = first; row < end && row < j->scene.view->height; row++)
        for (size_t i = 0; i < width; i++)
            j->scene.image->element[(size_t)row * width + i] = -1;
    for (int64_t k = j->band_first[band]; k < j->band_first[band + 1]; k++) {
        const int32_t e = j->band_list[k];
        const eg_plot_reach *at = &j->reaches[e];
        eg_plot_visit visit;
        eg_plot_visit_open(&j->scene, e, (eg_mapping_kind)at->kind, work, &visit);
        eg_plot_visit_rows(&visit, at, at->from[1] > first ? at->from[1] : first,
                           at->to[1] < end ? at->to[1] : end);
    }
}

static void fill_bands(void *user, int part, int parts)
{
    job *j = user;
    (void)parts;
    for (int band; (band = atomic_fetch_add(&j->next_band, 1)) < j->bands;)
        fill_band(j, band, &j->work[part * j->work_count]);
}

/* --- pixels beside elements ------------------------------------------------------------------- */

/* The elements of the pixels around one, each once. */
static int find_around(const eg_plot_image *image, int column, int row, int32_t found[AROUND_MOST])
{
    int count = 0;
    for (int j = row - AROUND; j <= row + AROUND; j++)
        for (int i = column - AROUND; i <= column + AROUND; i++) {
            if (i < 0 || j < 0 || i >= image->width || j >= image->height) continue;
            const int32_t e = image->element[(size_t)j * (size_t)image->width + (size_t)i];
            bool known = e < 0;
            for (int k = 0; k < count && !known; k++)
                known = found[k] == e;
            if (!known) found[count++] = e;
        }
    return count;
}

/* Lists the pixels that nobody claimed, beside one that was. */
static eg_status list_edge(job *j)
{
    eg_status status = EG_OK;
    const eg_plot_image *image = j->scene.image;
    int32_t around[AROUND_MOST];
    size_t capacity = 0;
    for (int row = 0; row < image->height; row++)
        for (int column = 0; column < image->width; column++) {
            const size_t pixel = (size_t)row * (size_t)image->width + (size_t)column;
            if (image->element[pixel] >= 0 || find_around(image, column, row, around) == 0)
                continue;
            if (j->edge_count == capacity) {
                capacity = 2 * capacity + 1024;
                EG_TRY(eg_reallocate(image->ctx, capacity * sizeof *j->edge, (void **)&j->edge));
            }
            j->edge[j->edge_count++] = (edge_pixel){.column = column, .row = row, .element = -1};
        }
done:
    return status;
}

/* Gives a pixel to the nearest of the elements around it, if that is near. */
static void settle(const job *j, edge_pixel *edge, double *work)
{
    int32_t around[AROUND_MOST];
    const int count = find_around(j->scene.image, edge->column, edge->row, around);
    double least = EG_PLOT_REACH;
    for (int i = 0; i < count; i++) {
        eg_plot_visit visit;
        eg_plot_visit_open(&j->scene, around[i], (eg_mapping_kind)j->reaches[around[i]].kind, work,
                           &visit);
        const double beyond = eg_plot_visit_edge(&visit, edge->column, edge->row, least);
        if (beyond < least) edge->element = around[i];
        least = beyond;
    }
}

static void settle_edge(void *user, int part, int parts)
{
    const job *j = user;
    for (size_t i = (size_t)part; i < j->edge_count; i += (size_t)parts)
        settle(j, &j->edge[i], &j->work[part * j->work_count]);
}

/* Enters what was settled: no pixel but those claimed before is looked at until all are. */
static void enter_edge(const job *j)
{
    for (size_t i = 0; i < j->edge_count; i++) {
        const edge_pixel *edge = &j->edge[i];
        j->scene.image
            ->element[(size_t)edge->row * (size_t)j->scene.image->width + (size_t)edge->column] =
            edge->element;
    }
}

/* --- the image -------------------------------------------------------------------------------- */

static eg_status check(const eg_snapshot *s)
{
    for (int32_t e = 0; e < s->element_count; e++)
        if (s->degree[e] < 1 || s->degree[e] > EG_PLOT_DEGREE_MOST)
            return eg_fail(s->ctx, EG_ERROR_UNSUPPORTED,
                           "element %d has degree %d; degrees 1 to %d can be drawn", (int)e,
                           (int)s->degree[e], (int)EG_PLOT_DEGREE_MOST);
    return EG_OK;
}

/* Counts the elements that have pixels. */
static eg_status count_elements(eg_plot_image *image, int32_t element_count)
{
    eg_status status = EG_OK;
    bool *seen = NULL;
    EG_TRY(eg_new(image->ctx, (size_t)element_count, &seen));
    for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++) {
        const int32_t e = image->element[i];
        if (e < 0 || image->beyond[i] > 0 || seen[e]) continue;
        seen[e] = true;
        image->element_count++;
    }
done:
    eg_release(image->ctx, &seen);
    return status;
}

eg_status eg_plot_image_create(const eg_plot_field *field, const eg_plot_view *view, double line,
                               eg_plot_image **out)
{
    eg_status status = EG_OK;
    const eg_snapshot *s = field->snapshot;
    eg_context *ctx = s->ctx;
    const size_t pixels = (size_t)view->width * (size_t)view->height;
    const int cpus = eg_threads_cpus(), count = cpus < THREADS_MOST ? cpus : THREADS_MOST;
    eg_plot_image *image = NULL;
    eg_threads *threads = NULL;
    job j = {.scene = {.field = field, .view = view, .line = line},
             .work_count = eg_plot_field_work(field)};
    *out = NULL;
    EG_TRY(check(s));
    EG_TRY(eg_new(ctx, 1, &image));
    image->ctx = ctx;
    image->width = view->width;
    image->height = view->height;
    j.scene.image = image;
    EG_TRY(eg_new(ctx, pixels, &image->element));
    EG_TRY(eg_new(ctx, pixels, &image->beyond));
    if (line > 0) EG_TRY(eg_new(ctx, pixels, &image->line));
    EG_TRY(eg_new(ctx, pixels, &image->value));
    EG_TRY(eg_new(ctx, (size_t)s->element_count, &j.reaches));
    EG_TRY(eg_new(ctx, (size_t)count * (size_t)j.work_count, &j.work));
    EG_TRY(eg_threads_create(ctx, count, &threads));
    eg_threads_run(threads, find_reaches, &j);
    EG_TRY(sort_bands(&j));
    atomic_init(&j.next_band, 0);
    eg_threads_run(threads, fill_bands, &j);
    EG_TRY(list_edge(&j));
    eg_threads_run(threads, settle_edge, &j);
    enter_edge(&j);
    EG_TRY(count_elements(image, s->element_count));
    *out = image;
    image = NULL;
done:
    eg_threads_destroy(ctx, &threads);
    eg_release(ctx, &j.edge);
    eg_release(ctx, &j.work);
    eg_release(ctx, &j.band_list);
    eg_release(ctx, &j.band_first);
    eg_release(ctx, &j.reaches);
    eg_plot_image_destroy(&image);
    return status;
}

void eg_plot_image_destroy(eg_plot_image **handle)
{
    eg_plot_image *image = *handle;
    if (!image) return;
    eg_release(image->ctx, &image->value);
    eg_release(image->ctx, &image->line);
    eg_release(image->ctx, &image->beyond);
    eg_release(image->ctx, &image->element);
    eg_release(image->ctx, handle);
}

eg_plot_extent eg_plot_image_measure(const eg_plot_image *image)
{
    eg_plot_extent extent = {.low = INFINITY, .high = -INFINITY};
    for (size_t i = 0; i < (size_t)image->width * (size_t)image->height; i++) {
        if (image->element[i] < 0 || image->beyond[i] > 0) continue;
        extent.inside++;
        if (!isfinite(image->value[i])) {
            extent.undefined++;
            continue;
        }
        extent.low = fmin(extent.low, image->value[i]);
        extent.high = fmax(extent.high, image->value[i]);
    }
    return extent;
}
