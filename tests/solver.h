/* What tests of solvers share: vectors with a host copy, and dense matrices as linear maps. */
#ifndef EG_TEST_SOLVER_H
#define EG_TEST_SOLVER_H

#include "test.h"

#include <math.h>

#include "base/dense.h"
#include "solver/solver.h"

static inline double *host_values(size_t count)
{
    double *v = calloc(count ? count : 1, sizeof *v);
    assert_non_null(v);
    return v;
}

static inline double *random_values(size_t count, uint64_t seed)
{
    double *v = host_values(count);
    for (size_t i = 0; i < count; i++)
        v[i] = test_random(&seed);
    return v;
}

/* The first `count` values of a vector, from and to the host, whatever its type. */
static inline void put_values(eg_buffer *x, size_t count, const double *values)
{
    const bool twice = eg_buffer_type(x) == EG_F64;
    float *single = calloc(count ? count : 1, sizeof *single);
    assert_non_null(single);
    for (size_t i = 0; i < count; i++)
        single[i] = (float)values[i];
    if (eg_buffer_upload(x, 0, count, twice ? (const void *)values : single) != EG_OK)
        fail_msg("cannot upload");
    free(single);
}

static inline void get_values(eg_buffer *x, size_t count, double *values)
{
    if (eg_buffer_type(x) == EG_F64) {
        if (eg_buffer_download(x, 0, count, values) != EG_OK) fail_msg("cannot download");
        return;
    }
    float *single = calloc(count ? count : 1, sizeof *single);
    assert_non_null(single);
    if (eg_buffer_download(x, 0, count, single) != EG_OK) fail_msg("cannot download");
    for (size_t i = 0; i < count; i++)
        values[i] = (double)single[i];
    free(single);
}

/* A device, plain f64 vectors of this rank alone, and whatever buffers a test asks for. */
typedef struct plain {
    eg_context *ctx;
    eg_device *device;
    eg_vectors *vectors;
    int n;
    eg_buffer *buffers[16];
    int buffer_count;
} plain;

static inline plain plain_new(const char *spec, int n)
{
    plain p = {.ctx = test_context(), .n = n};
    TEST_OK(p.ctx, eg_device_open(p.ctx, spec, &p.device));
    TEST_OK(p.ctx, eg_vectors_create_plain(p.device, NULL, EG_F64, (size_t)n, &p.vectors));
    return p;
}

static inline void plain_free(plain *p)
{
    while (p->buffer_count)
        eg_buffer_destroy(&p->buffers[--p->buffer_count]);
    eg_vectors_destroy(&p->vectors);
    eg_device_close(&p->device);
    test_context_free(&p->ctx);
}

/* A vector with these values (NULL: zeros), which lives as long as `p`. */
static inline eg_buffer *plain_vector(plain *p, const double *values)
{
    assert_true(p->buffer_count < (int)EG_COUNT(p->buffers));
    eg_buffer **x = &p->buffers[p->buffer_count++];
    TEST_OK(p->ctx, eg_vectors_new(p->vectors, x));
    if (values) TEST_OK(p->ctx, eg_buffer_upload(*x, 0, (size_t)p->n, values));
    return *x;
}

/* A dense matrix a [n][n], applied on the host. */
typedef struct dense_map {
    int n;
    const double *a;
    double *x, *y; /* [n] */
    int applied;   /* how often */
    double noise;  /* what its products are wrong by, relative to them, another way each time */
} dense_map;

static inline dense_map dense_map_new(int n, const double *a)
{
    return (dense_map){.n = n, .a = a, .x = host_values((size_t)n), .y = host_values((size_t)n)};
}

static inline void dense_map_free(dense_map *map)
{
    free(map->x);
    free(map->y);
}

static inline eg_status dense_apply(void *user, eg_buffer *x, eg_buffer *y)
{
    dense_map *map = user;
    map->applied++;
    eg_status status = eg_buffer_download(x, 0, (size_t)map->n, map->x);
    eg_dense_multiply(map->n, map->n, 1, map->a, map->x, map->y);
    for (int i = 0; i < map->n; i++)
        map->y[i] *= 1.0 + map->noise * sin((double)(i + 7 * map->applied));
    return status == EG_OK ? eg_buffer_upload(y, 0, (size_t)map->n, map->y) : status;
}

static inline eg_linear dense_linear(dense_map *map)
{
    return (eg_linear){.user = map, .apply = dense_apply};
}

/* A diagonal matrix on the device. */
typedef struct diagonal_map {
    eg_vectors *vectors;
    eg_buffer *d;
} diagonal_map;

static inline eg_status diagonal_apply(void *user, eg_buffer *x, eg_buffer *y)
{
    diagonal_map *map = user;
    return eg_vectors_multiply(map->vectors, map->d, x, y);
}

static inline eg_linear diagonal_linear(diagonal_map *map)
{
    return (eg_linear){.user = map, .apply = diagonal_apply};
}

/* A random symmetric matrix with these eigenvalues: Q diag(values) Qᵀ, Q made of reflections. */
static inline double *symmetric_with(int n, const double *values, uint64_t seed)
{
    double *a = host_values((size_t)n * (size_t)n), *v = host_values((size_t)n);
    double *w = host_values((size_t)n);
    for (int i = 0; i < n; i++)
        a[i * n + i] = values[i];
    for (int k = 0; k < 5; k++) {
        double square = 0.0, vw = 0.0;
        for (int i = 0; i < n; i++) {
            v[i] = test_random(&seed);
            square += v[i] * v[i];
        }
        for (int i = 0; i < n; i++) {
            v[i] *= sqrt(2.0 / square); /* H = I - v vᵀ */
        }
        for (int i = 0; i < n; i++) {
            w[i] = 0.0;
            for (int j = 0; j < n; j++)
                w[i] += a[i * n + j] * v[j];
            vw += v[i] * w[i];
        }
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                a[i * n + j] += vw * v[i] * v[j] - v[i] * w[j] - w[i] * v[j];
    }
    free(w);
    free(v);
    return a;
}

static inline double distance(int n, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static inline double length_of(int n, const double *a)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

/* What a sweep runs on a device that is there already. */
typedef eg_status device_body(eg_device *device);

/* The same as test_allocation_sweep, with kernels that stay loaded, for every `stride`-th
 * allocation. */
static inline void device_allocation_sweep(device_body *body, long stride)
{
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_device_keep_kernels(device, true);
    TEST_OK(ctx, body(device));
    for (int persist = 0; persist < 2; persist++) {
        bool failed = true;
        for (long n = 1; failed; n += stride) {
            const long live = test_memory.live;
            test_allocator_arm(n, persist != 0);
            const eg_status status = body(device);
            failed = test_memory.calls >= n;
            test_allocator_arm(0, false);
            if (test_memory.live != live)
                fail_msg("allocation %ld failed and %ld blocks were lost", n,
                         test_memory.live - live);
            if (status != EG_ERROR_MEMORY && status != EG_ERROR_DEVICE_MEMORY && status != EG_OK)
                fail_msg("allocation %ld failed and the status was \"%s\": %s", n,
                         eg_status_text(status), eg_context_error(ctx));
            if (!failed) assert_int_equal(status, EG_OK);
        }
    }
    eg_device_keep_kernels(device, false);
    eg_device_close(&device);
    test_context_free(&ctx);
}

#endif
