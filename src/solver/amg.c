/* AMG: its levels, made on the host from one matrix, kept on the device. */
#include "solver/amg_parts.h"

#include <math.h>
#include <string.h>

/* Steps of the estimate of a level's largest eigenvalue. */
enum { LANCZOS_STEPS = 12 };

/* A last level of more rows than this is only smoothed. */
enum { DIRECT_MOST = 2048 };

/* Of levels that shrink by less, nothing is gained. */
#define SHRINKS 0.8

/* --- a level ---------------------------------------------------------------------------------- */

static eg_status upload_diagonal(eg_amg_level *level, const eg_csr *a)
{
    double *inverse = NULL;
    float *single = NULL;
    const size_t n = (size_t)a->rows;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_new(level->vectors, &level->diagonal));
    EG_TRY(eg_new(a->ctx, n, &inverse));
    EG_TRY(eg_amg_invert_diagonal(a, inverse));
    if (level->vectors->type == EG_F64) {
        EG_TRY(eg_buffer_upload(level->diagonal, 0, n, inverse));
        goto done;
    }
    EG_TRY(eg_new(a->ctx, n, &single));
    for (size_t i = 0; i < n; i++)
        single[i] = (float)inverse[i];
    EG_TRY(eg_buffer_upload(level->diagonal, 0, n, single));
done:
    eg_release(a->ctx, &single);
    eg_release(a->ctx, &inverse);
    return status;
}

static eg_status apply_diagonal(void *user, eg_buffer *x, eg_buffer *y)
{
    eg_amg_level *level = user;
    return eg_vectors_multiply(level->vectors, level->diagonal, x, y);
}

/* All of a level but for what it needs to speak with the next; *largest: eigenvalue of D⁻¹ A. */
static eg_status create_level(eg_amg *amg, const eg_csr *a, int number, double *largest)
{
    eg_amg_level *level = &amg->levels[number];
    eg_chebyshev_options smoother = amg->options.smoother;
    eg_spectrum spectrum;
    eg_status status = EG_OK;
    if (number == 0) {
        EG_TRY(eg_vectors_create_plain(amg->device, NULL, amg->options.type, (size_t)a->rows,
                                       &level->vectors));
        EG_TRY(eg_sparse_create(amg->device, amg->options.type, a, &level->a));
    } else { /* the first level's kernels serve all */
        EG_TRY(eg_vectors_create_like(amg->levels[0].vectors, (size_t)a->rows, &level->vectors));
        EG_TRY(eg_sparse_create_like(amg->levels[0].a, a, &level->a));
    }
    EG_TRY(upload_diagonal(level, a));
    const eg_linear B = {.user = level, .apply = apply_diagonal};
    EG_TRY(eg_lanczos(level->vectors, eg_sparse_linear(level->a), &B, LANCZOS_STEPS, &spectrum));
    *largest = smoother.largest = spectrum.largest;
    EG_TRY(eg_chebyshev_plan(amg->ctx, &smoother, level->steps));
    level->degree = smoother.degree;
    eg_buffer **const buffers[] = {&level->b,    &level->x,    &level->before, &level->r[0],
                                   &level->r[1], &level->d[0], &level->d[1]};
    for (size_t i = 0; i < EG_COUNT(buffers); i++)
        EG_TRY(eg_vectors_new(level->vectors, buffers[i]));
    amg->info.rows[number] = a->rows;
    amg->info.entries[number] = a->offset[a->rows];
    amg->info.bytes +=
        eg_sparse_bytes(level->a) + (EG_COUNT(buffers) + 1) * eg_buffer_bytes(level->diagonal);
done:
    return status;
}

static void free_level(eg_amg_level *level)
{
    eg_buffer **const buffers[] = {&level->sums, &level->rest,    &level->ae,     &level->ac,
                                   &level->e,    &level->c,       &level->d[1],   &level->d[0],
                                   &level->r[1], &level->r[0],    &level->before, &level->x,
                                   &level->b,    &level->diagonal};
    for (size_t i = 0; i < EG_COUNT(buffers); i++)
        eg_buffer_destroy(buffers[i]);
    eg_sparse_destroy(&level->inverse);
    eg_sparse_destroy(&level->restriction);
    eg_sparse_destroy(&level->prolongation);
    eg_sparse_destroy(&level->a);
    eg_vectors_destroy(&level->vectors);
}

/* Solved by two iterations, which need more vectors. */
static eg_status prepare_iterations(eg_amg *amg, eg_amg_level *level)
{
    eg_buffer **const buffers[] = {&level->c, &level->e, &level->ac, &level->ae, &level->rest};
    eg_status status = EG_OK;
    for (size_t i = 0; i < EG_COUNT(buffers); i++)
        EG_TRY(eg_vectors_new(level->vectors, buffers[i]));
    EG_TRY(eg_buffer_create(amg->device, EG_F64, 5, &level->sums));
    amg->info.bytes += EG_COUNT(buffers) * eg_buffer_bytes(level->c);
done:
    return status;
}

/* --- from level to level ---------------------------------------------------------------------- */

/* What the host has of the level at hand. */
typedef struct host_level {
    eg_csr *a;         /* owned */
    double *near_null; /* [rows] owned */
} host_level;

static void free_host(eg_context *ctx, host_level *host)
{
    eg_release(ctx, &host->near_null);
    eg_csr_destroy(&host->a);
}

/* Makes the level below `number`; *shrinks is false, and nothing is made, if there is no good
 * one. */
static eg_status coarsen(eg_amg *amg, int number, double strength, double largest,
                         const host_level *fine, host_level *coarse, bool *shrinks)
{
    eg_amg_level *level = &amg->levels[number];
    int32_t *aggregate = NULL, count;
    eg_csr *p = NULL, *smooth = NULL, *pt = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_new(amg->ctx, (size_t)fine->a->rows, &aggregate));
    EG_TRY(eg_amg_aggregate(fine->a, strength, fine->near_null, aggregate, &count));
    *shrinks = count > 0 && count < SHRINKS * fine->a->rows;
    if (!*shrinks) goto done;
    EG_TRY(eg_new(amg->ctx, (size_t)count, &coarse->near_null));
    EG_TRY(eg_amg_tentative(fine->a, aggregate, count, fine->near_null, coarse->near_null, &p));
    if (amg->options.kind == EG_AMG_SMOOTHED) {
        EG_TRY(eg_amg_smooth_prolongation(fine->a, strength, fine->near_null, 4.0 / (3.0 * largest),
                                          p, &smooth));
        eg_csr_destroy(&p);
        p = smooth;
    }
    EG_TRY(eg_csr_transpose(p, &pt));
    EG_TRY(eg_csr_galerkin(fine->a, p, pt, &coarse->a));
    EG_TRY(eg_sparse_create_like(amg->levels[0].a, p, &level->prolongation));
    EG_TRY(eg_sparse_create_like(amg->levels[0].a, pt, &level->restriction));
    amg->info.bytes += eg_sparse_bytes(level->prolongation) + eg_sparse_bytes(level->restriction);
done:
    eg_csr_destroy(&pt);
    eg_csr_destroy(&p);
    eg_release(amg->ctx, &aggregate);
    return status;
}

/* The last level. */
static eg_status finish_levels(eg_amg *amg, int number, const eg_csr *a)
{
    eg_csr *inverse = NULL;
    eg_status status = EG_OK;
    amg->info.levels = number + 1;
    if (a->rows > DIRECT_MOST) return EG_OK;
    EG_TRY(eg_amg_invert(a, &inverse));
    EG_TRY(eg_sparse_create_like(amg->levels[0].a, inverse, &amg->levels[number].inverse));
    amg->info.bytes += eg_sparse_bytes(amg->levels[number].inverse);
    amg->info.direct = true;
done:
    eg_csr_destroy(&inverse);
    return status;
}

static eg_status copy_matrix(const eg_csr *a, const double *near_null, host_level *out)
{
    const size_t entries = (size_t)a->offset[a->rows];
    eg_status status = EG_OK;
    EG_TRY(eg_csr_create(a->ctx, a->rows, a->columns, (int64_t)entries, &out->a));
    memcpy(out->a->offset, a->offset, ((size_t)a->rows + 1) * sizeof *a->offset);
    memcpy(out->a->column, a->column, entries * sizeof *a->column);
    memcpy(out->a->value, a->value, entries * sizeof *a->value);
    EG_TRY(eg_new(a->ctx, (size_t)a->rows, &out->near_null));
    for (int32_t i = 0; i < a->rows; i++)
        out->near_null[i] = near_null ? near_null[i] : 1.0;
done:
    return status;
}

static eg_status create_levels(eg_amg *amg, const eg_csr *matrix)
{
    const eg_amg_options *o = &amg->options;
    host_level host = {0}, coarse = {0};
    double strength = o->strength, largest;
    eg_status status = EG_OK;
    EG_TRY(copy_matrix(matrix, o->near_null, &host));
    for (int number = 0;; number++, strength *= 0.5) {
        bool shrinks = false;
        EG_TRY(create_level(amg, host.a, number, &largest));
        if (host.a->rows > o->coarsest && number + 1 < EG_AMG_LEVELS_MOST)
            EG_TRY(coarsen(amg, number, strength, largest, &host, &coarse, &shrinks));
        if (!shrinks) {
            EG_TRY(finish_levels(amg, number, host.a));
            break;
        }
        free_host(amg->ctx, &host);
        host = coarse;
        coarse = (host_level){0};
    }
    for (int i = 1; i < amg->info.levels - 1 && i <= o->k_levels; i++)
        EG_TRY(prepare_iterations(amg, &amg->levels[i]));
    int64_t entries = 0;
    for (int i = 0; i < amg->info.levels; i++)
        entries += amg->info.entries[i];
    amg->info.complexity = (double)entries / (double)amg->info.entries[0];
done:
    free_host(amg->ctx, &coarse);
    free_host(amg->ctx, &host);
    return status;
}

/* --- the whole -------------------------------------------------------------------------------- */

static eg_status create_kernel(const eg_amg *amg, const char *source, const char *entry,
                               eg_kernel **out)
{
    const eg_device_info *info = eg_device_get_info(amg->device);
    return eg_kernel_create(amg->device,
                            &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                 .source = source,
                                                 .entry = entry,
                                                 .real = amg->options.type,
                                                 .rows_per_block = info->is_gpu ? 1 : 0},
                            out);
}

static eg_status create_tools(eg_amg *amg, const eg_csr *matrix)
{
    const size_t rows = (size_t)matrix->rows;
    eg_status status = EG_OK;
    EG_TRY(create_kernel(amg, "solver/sparse.k.c", "smooth_zero", &amg->smooth_zero));
    EG_TRY(create_kernel(amg, "solver/sparse.k.c", "smooth_first", &amg->smooth_first));
    EG_TRY(create_kernel(amg, "solver/sparse.k.c", "smooth_next", &amg->smooth_next));
    EG_TRY(create_kernel(amg, "solver/amg.k.c", "k_rest", &amg->k_rest));
    EG_TRY(create_kernel(amg, "solver/amg.k.c", "k_combine", &amg->k_combine));
    if (amg->options.comm && eg_comm_size(amg->options.comm) > 1) {
        EG_TRY(eg_vectors_new(amg->levels[0].vectors, &amg->whole));
        EG_TRY(eg_new(amg->ctx, rows, &amg->stage));
        if (amg->options.type == EG_F32) EG_TRY(eg_new(amg->ctx, rows, &amg->stage_single));
    }
done:
    return status;
}

static eg_status create(eg_device *device, const eg_csr *matrix, const eg_amg_options *options,
                        eg_amg **out)
{
    eg_context *ctx = eg_device_context(device);
    eg_amg *amg = NULL;
    eg_status status = EG_OK;
    if (matrix->rows != matrix->columns || matrix->rows < 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "algebraic multigrid for a matrix of %d x %d",
                       matrix->rows, matrix->columns);
    EG_TRY(eg_new(ctx, 1, &amg));
    *amg = (eg_amg){.ctx = ctx, .device = device, .options = *options};
    eg_amg_options *o = &amg->options;
    if (o->strength == 0.0) o->strength = 0.08;
    if (o->k_levels == 0 && o->kind == EG_AMG_UNSMOOTHED) o->k_levels = 2;
    if (o->k_levels < 0) o->k_levels = 0;
    if (o->coarsest == 0) o->coarsest = 256;
    EG_TRY(create_levels(amg, matrix));
    EG_TRY(create_tools(amg, matrix));
    o->near_null = NULL; /* not kept */
    *out = amg;
    amg = NULL;
done:
    eg_amg_destroy(&amg);
    return status;
}

eg_status eg_amg_create(eg_device *device, const eg_csr *matrix, const eg_amg_options *options,
                        eg_amg **out)
{
    *out = NULL;
    eg_status status = create(device, matrix, options, out);
    if (options->comm) status = eg_comm_agree(options->comm, status);
    if (status != EG_OK) eg_amg_destroy(out);
    return status;
}

void eg_amg_destroy(eg_amg **handle)
{
    if (!handle || !*handle) return;
    eg_amg *amg = *handle;
    eg_context *ctx = amg->ctx;
    eg_release(ctx, &amg->stage_single);
    eg_release(ctx, &amg->stage);
    eg_buffer_destroy(&amg->whole);
    eg_kernel **const kernels[] = {&amg->k_combine, &amg->k_rest, &amg->smooth_next,
                                   &amg->smooth_first, &amg->smooth_zero};
    for (size_t i = 0; i < EG_COUNT(kernels); i++)
        eg_kernel_destroy(kernels[i]);
    for (int i = EG_AMG_LEVELS_MOST - 1; i >= 0; i--)
        free_level(&amg->levels[i]);
    eg_release(ctx, handle);
}

const eg_amg_info *eg_amg_get_info(const eg_amg *amg)
{
    return &amg->info;
}
