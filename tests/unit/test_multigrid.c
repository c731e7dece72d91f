/* Multigrid on given levels: five-point differences on squares with bilinear interpolation between them
 * converge in as many iterations on every one. */
#include "solver.h"

/* Points (2^k - 1)² of a square, with Dirichlet conditions around. */
enum { LEVELS_MOST = 8 };

typedef struct grid {
    int n;
    eg_csr *csr;
    eg_vectors *vectors;
    eg_sparse *a, *p, *pt; /* p from the next */
    eg_buffer *inverse;    /* of the diagonal */
    diagonal_map diagonal;
    eg_chebyshev *smoother;
} grid;

typedef struct hierarchy {
    eg_context *ctx;
    eg_device *device;
    int count;
    grid grids[LEVELS_MOST];
    eg_amg *amg; /* on the last */
    eg_multigrid *multigrid;
} hierarchy;

static eg_csr *differences(eg_context *ctx, int n)
{
    eg_csr *a = NULL;
    TEST_OK(ctx, eg_csr_create(ctx, n * n, n * n, 5 * (int64_t)n * n, &a));
    for (int32_t i = 0; i < n * n; i++) {
        static const int dx[] = {-1, 0, 0, 0, 1}, dy[] = {0, -1, 0, 1, 0};
        int64_t at = a->offset[i];
        for (int s = 0; s < 5; s++) {
            const int x = i / n + dx[s], y = i % n + dy[s];
            if (x < 0 || y < 0 || x >= n || y >= n) continue;
            a->column[at] = x * n + y;
            a->value[at++] = s == 2 ? 4.0 : -1.0;
        }
        a->offset[i + 1] = at;
    }
    return a;
}

/* From n points a side to 2n + 1; coarse point i is fine point 2i + 1. */
static eg_csr *interpolation(eg_context *ctx, int n)
{
    const int fine = 2 * n + 1;
    eg_csr *p = NULL;
    TEST_OK(ctx, eg_csr_create(ctx, fine * fine, n * n, 4 * (int64_t)fine * fine, &p));
    for (int32_t i = 0; i < fine * fine; i++) {
        int64_t at = p->offset[i];
        for (int x = 0; x < n; x++)
            for (int y = 0; y < n; y++) {
                const int dx = abs(i / fine - 2 * x - 1), dy = abs(i % fine - 2 * y - 1);
                if (dx > 1 || dy > 1) continue;
                p->column[at] = x * n + y;
                p->value[at++] = (dx ? 0.5 : 1.0) * (dy ? 0.5 : 1.0);
            }
        p->offset[i + 1] = at;
    }
    return p;
}

static eg_status restrict_residual(void *user, eg_buffer *fine, eg_buffer *coarse)
{
    return eg_sparse_apply(((grid *)user)->pt, fine, coarse);
}

static eg_status add_correction(void *user, eg_buffer *coarse, eg_buffer *fine)
{
    return eg_sparse_add(((grid *)user)->p, coarse, fine);
}

static void make_grid(hierarchy *h, int number, int n)
{
    grid *g = &h->grids[number];
    eg_spectrum spectrum;
    *g = (grid){.n = n, .csr = differences(h->ctx, n)};
    const size_t size = (size_t)(n * n);
    TEST_OK(h->ctx, eg_vectors_create_plain(h->device, NULL, EG_F64, size, &g->vectors));
    TEST_OK(h->ctx, eg_sparse_create(h->device, EG_F64, g->csr, &g->a));
    TEST_OK(h->ctx, eg_vectors_new(g->vectors, &g->inverse));
    TEST_OK(h->ctx, eg_vectors_fill(g->vectors, 0.25, g->inverse));
    g->diagonal = (diagonal_map){g->vectors, g->inverse};
    const eg_linear B = diagonal_linear(&g->diagonal);
    TEST_OK(h->ctx, eg_lanczos(g->vectors, eg_sparse_linear(g->a), &B, 10, &spectrum));
    TEST_OK(h->ctx, eg_chebyshev_create(g->vectors, eg_sparse_linear(g->a), &B,
                                        &(eg_chebyshev_options){.kind = EG_CHEBYSHEV_FOURTH,
                                                                .degree = 2,
                                                                .largest = spectrum.largest},
                                        &g->smoother));
    if (number + 1 == h->count) return;
    eg_csr *p = interpolation(h->ctx, n / 2), *pt = NULL;
    TEST_OK(h->ctx, eg_csr_transpose(p, &pt));
    TEST_OK(h->ctx, eg_sparse_create(h->device, EG_F64, p, &g->p));
    TEST_OK(h->ctx, eg_sparse_create(h->device, EG_F64, pt, &g->pt));
    eg_csr_destroy(&pt);
    eg_csr_destroy(&p);
}

/* `count` grids from n = 2^finest - 1 on, of which AMG solves the last. */
static hierarchy *hierarchy_new(int finest, int count)
{
    hierarchy *h = calloc(1, sizeof *h);
    eg_multigrid_level levels[LEVELS_MOST];
    assert_non_null(h);
    h->ctx = test_context();
    h->count = count;
    TEST_OK(h->ctx, eg_device_open(h->ctx, "cpu:1", &h->device));
    for (int i = 0; i < count; i++) {
        grid *g = &h->grids[i];
        make_grid(h, i, (1 << (finest - i)) - 1);
        levels[i] = (eg_multigrid_level){.vectors = g->vectors,
                                         .A = eg_sparse_linear(g->a),
                                         .smoother = g->smoother,
                                         .transfer = {g, restrict_residual, add_correction}};
    }
    const grid *last = &h->grids[count - 1];
    TEST_OK(h->ctx, eg_amg_create(h->device, last->csr, &(eg_amg_options){0}, &h->amg));
    TEST_OK(h->ctx, eg_multigrid_create(levels, count - 1, last->vectors, eg_amg_linear(h->amg),
                                        &h->multigrid));
    return h;
}

static void hierarchy_free(hierarchy *h)
{
    eg_multigrid_destroy(&h->multigrid);
    eg_amg_destroy(&h->amg);
    for (int i = 0; i < h->count; i++) {
        grid *g = &h->grids[i];
        eg_chebyshev_destroy(&g->smoother);
        eg_buffer_destroy(&g->inverse);
        eg_sparse_destroy(&g->pt);
        eg_sparse_destroy(&g->p);
        eg_sparse_destroy(&g->a);
        eg_vectors_destroy(&g->vectors);
        eg_csr_destroy(&g->csr);
    }
    eg_device_close(&h->device);
    test_context_free(&h->ctx);
    free(h);
}

static void test_multigrid__iterations_do_not_grow_with_the_levels(void **state)
{
    (void)state;
    for (int finest = 4; finest <= 7; finest++)
        for (int count = 1; count < finest; count++) {
            hierarchy *h = hierarchy_new(finest, count);
            grid *g = &h->grids[0];
            eg_buffer *u = NULL, *b = NULL, *x = NULL;
            eg_pcg *pcg = NULL;
            eg_krylov_result result;
            const eg_linear B = eg_multigrid_linear(h->multigrid);
            TEST_OK(h->ctx, eg_vectors_new(g->vectors, &u));
            TEST_OK(h->ctx, eg_vectors_new(g->vectors, &b));
            TEST_OK(h->ctx, eg_vectors_new(g->vectors, &x));
            TEST_OK(h->ctx, eg_vectors_fill_random(g->vectors, 3, u));
            TEST_OK(h->ctx, eg_sparse_apply(g->a, u, b));
            TEST_OK(h->ctx, eg_pcg_create(g->vectors, eg_sparse_linear(g->a), &B, NULL, &pcg));
            const long before = test_memory.calls;
            TEST_OK(h->ctx, eg_pcg_solve(pcg, b, x, &result));
            assert_int_equal(test_memory.calls, before);
            assert_int_equal(result.outcome, EG_KRYLOV_CONVERGED);
            /* Alone AMG solves small grids directly. */
            assert_in_range(result.iterations, 1, count > 1 ? 7 : 8);
            eg_pcg_destroy(&pcg);
            eg_buffer_destroy(&x);
            eg_buffer_destroy(&b);
            eg_buffer_destroy(&u);
            hierarchy_free(h);
        }
}

static void test_multigrid__a_cycle_is_symmetric(void **state)
{
    (void)state;
    hierarchy *h = hierarchy_new(5, 3);
    grid *g = &h->grids[0];
    eg_buffer *x = NULL, *y = NULL, *bx = NULL, *by = NULL;
    double sums[3];
    eg_buffer **const buffers[] = {&x, &y, &bx, &by};
    for (size_t i = 0; i < EG_COUNT(buffers); i++) {
        TEST_OK(h->ctx, eg_vectors_new(g->vectors, buffers[i]));
        TEST_OK(h->ctx, eg_vectors_fill_random(g->vectors, i, *buffers[i]));
    }
    TEST_OK(h->ctx, eg_multigrid_apply(h->multigrid, x, bx));
    TEST_OK(h->ctx, eg_multigrid_apply(h->multigrid, y, by));
    TEST_OK(h->ctx,
            eg_vectors_dots(g->vectors, 3, (eg_vector_pair[]){{x, by}, {y, bx}, {x, bx}}, sums));
    assert_true(fabs(sums[0] - sums[1]) < 1e-13 * sums[2] && sums[2] > 0.0);
    for (size_t i = 0; i < EG_COUNT(buffers); i++)
        eg_buffer_destroy(buffers[i]);
    hierarchy_free(h);
}

static eg_status create_only(eg_device *device)
{
    eg_vectors *vectors = NULL;
    eg_multigrid *multigrid = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_vectors_create_plain(device, NULL, EG_F64, 9, &vectors));
    const eg_multigrid_level levels[2] = {{.vectors = vectors}, {.vectors = vectors}};
    EG_TRY(eg_multigrid_create(levels, 2, vectors, (eg_linear){0}, &multigrid));
done:
    eg_multigrid_destroy(&multigrid);
    eg_vectors_destroy(&vectors);
    return status;
}

static void test_multigrid__failed_allocations_lose_nothing(void **state)
{
    (void)state;
    device_allocation_sweep(create_only, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_multigrid__iterations_do_not_grow_with_the_levels),
        cmocka_unit_test(test_multigrid__a_cycle_is_symmetric),
        cmocka_unit_test(test_multigrid__failed_allocations_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
