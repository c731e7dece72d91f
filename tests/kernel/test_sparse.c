/* Sparse matrices against dense ones: on the host their algebra, on every device their products. */
#include "kernel/devices.h"

#include "base/dense.h"
#include "solver/solver.h"

/* A random matrix with about `density` of its entries, some rows of which are empty and one full;
 * and the same as a dense one. Entries are given out of order and partly twice. */
typedef struct pair {
    eg_csr *csr;
    double *dense; /* [rows][columns] */
} pair;

static pair pair_new(eg_context *ctx, int rows, int columns, double density, uint64_t seed)
{
    const size_t all = (size_t)rows * (size_t)columns;
    int32_t *row = calloc(2 * all + 1, sizeof *row), *column = calloc(2 * all + 1, sizeof *row);
    double *value = calloc(2 * all + 1, sizeof *value);
    pair p = {.dense = calloc(all + 1, sizeof *p.dense)};
    int64_t count = 0;
    assert_true(row && column && value && p.dense);
    for (int j = columns - 1; j >= 0; j--)
        for (int i = 0; i < rows; i++) {
            const bool is_full = i == rows / 2;
            if ((i % 5 == 3 && !is_full) ||
                (0.5 * (1.0 + test_random(&seed)) > density && !is_full))
                continue;
            for (int twice = 0; twice < 1 + (i + j) % 2; twice++) {
                row[count] = i, column[count] = j;
                value[count] = test_random(&seed);
                p.dense[i * columns + j] += value[count++];
            }
        }
    TEST_OK(ctx, eg_csr_from_entries(ctx, rows, columns, count, row, column, value, &p.csr));
    free(value);
    free(column);
    free(row);
    return p;
}

static void pair_free(pair *p)
{
    eg_csr_destroy(&p->csr);
    free(p->dense);
}

/* Sorted, without doubles, and with the values of a dense matrix. */
static void assert_is(const eg_csr *csr, const double *dense)
{
    double *found = calloc((size_t)csr->rows * (size_t)csr->columns + 1, sizeof *found);
    assert_non_null(found);
    for (int32_t i = 0; i < csr->rows; i++)
        for (int64_t k = csr->offset[i]; k < csr->offset[i + 1]; k++) {
            assert_in_range(csr->column[k], 0, csr->columns - 1);
            if (k > csr->offset[i]) assert_true(csr->column[k] > csr->column[k - 1]);
            found[i * csr->columns + csr->column[k]] = csr->value[k];
        }
    for (int i = 0; i < csr->rows * csr->columns; i++)
        assert_near(found[i], dense[i], 1e-13, "entry", (size_t)i);
    free(found);
}

static void test_csr__algebra_agrees_with_dense_matrices(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 1, 1}, {7, 5, 9}, {40, 33, 21}};
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(sizes); s++) {
        const int m = sizes[s][0], k = sizes[s][1], n = sizes[s][2];
        pair a = pair_new(ctx, m, k, 0.2, 3), b = pair_new(ctx, k, n, 0.3, 4);
        pair square = pair_new(ctx, k, k, 0.2, 5);
        eg_csr *t = NULL, *c = NULL, *g = NULL, *with = NULL, *bt = NULL;
        double *dense = calloc((size_t)(m + k + n) * (size_t)(m + k + n), sizeof *dense);
        double *other = calloc((size_t)(m + k + n) * (size_t)(m + k + n), sizeof *other);
        assert_true(dense && other);
        assert_is(a.csr, a.dense);
        TEST_OK(ctx, eg_csr_transpose(a.csr, &t));
        eg_dense_transpose(m, k, a.dense, dense);
        assert_is(t, dense);
        TEST_OK(ctx, eg_csr_multiply(a.csr, b.csr, &c));
        eg_dense_multiply(m, k, n, a.dense, b.dense, dense);
        assert_is(c, dense);
        TEST_OK(ctx, eg_csr_transpose(b.csr, &bt));
        TEST_OK(ctx, eg_csr_galerkin(square.csr, b.csr, NULL, &g));
        TEST_OK(ctx, eg_csr_galerkin(square.csr, b.csr, bt, &with));
        double *bt_dense = calloc((size_t)(n * k), sizeof *bt_dense);
        assert_non_null(bt_dense);
        eg_dense_multiply(k, k, n, square.dense, b.dense, other);
        eg_dense_transpose(k, n, b.dense, bt_dense);
        eg_dense_multiply(n, k, n, bt_dense, other, dense);
        assert_is(g, dense);
        assert_is(with, dense);
        free(bt_dense);
        free(other);
        free(dense);
        eg_csr *const made[] = {t, c, g, with, bt};
        for (size_t i = 0; i < EG_COUNT(made); i++) {
            eg_csr *one = made[i];
            eg_csr_destroy(&one);
        }
        pair_free(&square);
        pair_free(&b);
        pair_free(&a);
    }
    test_context_free(&ctx);
}

static void test_csr__what_does_not_fit_is_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_csr *a = NULL, *c = NULL;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "row 2, column 1 of a matrix of 2 x 3",
               eg_csr_from_entries(ctx, 2, 3, 2, (int32_t[]){0, 2}, (int32_t[]){0, 1},
                                   (double[]){1.0, 1.0}, &a));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "-1 x 3", eg_csr_create(ctx, -1, 3, 0, &a));
    TEST_OK(ctx, eg_csr_create(ctx, 2, 3, 0, &a));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "2 x 3 and 2 x 3", eg_csr_multiply(a, a, &c));
    assert_null(c);
    eg_csr_destroy(&a);
    test_context_free(&ctx);
}

/* --- on devices
 * ------------------------------------------------------------------------------------- */

static void products(eg_device *device, eg_type real)
{
    static const int sizes[][2] = {{1, 1}, {7, 40}, {33, 33}, {200, 65}, {130, 128}};
    eg_context *ctx = eg_device_context(device);
    for (size_t s = 0; s < EG_COUNT(sizes); s++) {
        const int m = sizes[s][0], n = sizes[s][1];
        now_at(device, real, "%d x %d", m, n);
        pair a = pair_new(ctx, m, n, 0.1, 7);
        eg_sparse *sparse = NULL;
        eg_vectors *rows = NULL, *columns = NULL;
        uint64_t seed = 3;
        TEST_OK(ctx, eg_sparse_create(device, real, a.csr, &sparse));
        TEST_OK(ctx, eg_vectors_create_plain(device, NULL, real, (size_t)m, &rows));
        TEST_OK(ctx, eg_vectors_create_plain(device, NULL, real, (size_t)n, &columns));
        array x = array_random(device, real, columns->count, -1, 1, &seed);
        array b = array_random(device, real, rows->count, -1, 1, &seed);
        array y = array_poisoned(device, real, rows->count);
        array r = array_poisoned(device, real, rows->count);
        array sum = array_new(device, real, rows->count);
        memcpy(sum.v, b.v, rows->count * sizeof *b.v);
        array_upload(&sum);
        TEST_OK(ctx, eg_sparse_apply(sparse, x.buffer, y.buffer));
        TEST_OK(ctx, eg_sparse_residual(sparse, b.buffer, x.buffer, r.buffer));
        TEST_OK(ctx, eg_sparse_add(sparse, x.buffer, sum.buffer));
        array_download(&y);
        array_download(&r);
        array_download(&sum);
        for (int i = 0; i < m; i++) {
            double exact = 0.0, size = 1.0;
            for (int j = 0; j < n; j++) {
                exact += a.dense[i * n + j] * x.v[j];
                size += fabs(a.dense[i * n + j] * x.v[j]);
            }
            const double bound = 10 * epsilon(real) * size;
            assert_near(y.v[i], exact, bound, "product", (size_t)i);
            assert_near(r.v[i], b.v[i] - exact, bound, "residual", (size_t)i);
            assert_near(sum.v[i], b.v[i] + exact, bound, "sum", (size_t)i);
        }
        array *const arrays[] = {&x, &b, &y, &r, &sum};
        for (size_t i = 0; i < EG_COUNT(arrays); i++)
            array_free(arrays[i]);
        eg_vectors_destroy(&columns);
        eg_vectors_destroy(&rows);
        eg_sparse_destroy(&sparse);
        pair_free(&a);
    }
}

static void test_sparse__products_agree_with_dense_ones(void **state)
{
    (void)state;
    on_every_device(products);
}

/* --- kernels of multigrid --------------------------------------------------------------------------- */

static eg_kernel *kernel_of(eg_device *device, eg_type real, const char *source, const char *entry)
{
    eg_kernel *kernel = NULL;
    TEST_OK(eg_device_context(device),
            eg_kernel_create(device,
                             &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                  .source = source,
                                                  .entry = entry,
                                                  .real = real},
                             &kernel));
    return kernel;
}

/* (A x)_i of a dense square matrix. */
static double row_product(const pair *p, int i, const double *x)
{
    double sum = 0.0;
    for (int j = 0; j < p->csr->columns; j++)
        sum += p->dense[i * p->csr->columns + j] * x[j];
    return sum;
}

/* The three kinds of steps, against their formulas. */
static void smoothing(eg_device *device, eg_type real)
{
    enum { SIZE = 100 };
    const double a = 0.375, c = 0.75, w = 1.25, bound = 100 * epsilon(real);
    eg_context *ctx = eg_device_context(device);
    pair p = pair_new(ctx, SIZE, SIZE, 0.05, 7);
    eg_sparse *m = NULL;
    eg_vectors *vectors = NULL;
    uint64_t seed = 5;
    TEST_OK(ctx, eg_sparse_create(device, real, p.csr, &m));
    TEST_OK(ctx, eg_vectors_create_plain(device, NULL, real, SIZE, &vectors));
    enum { INVERSE, B, X, D, NEXT_R, NEXT_D, BETTER, ARRAYS };
    array v[ARRAYS];
    double before[SIZE];
    for (int k = 0; k < ARRAYS; k++)
        v[k] = k < NEXT_R ? array_random(device, real, vectors->count, -1, 1, &seed)
                          : array_poisoned(device, real, vectors->count);
    eg_kernel *zero = kernel_of(device, real, "solver/sparse.k.c", "smooth_zero");
    eg_kernel *first = kernel_of(device, real, "solver/sparse.k.c", "smooth_first");
    eg_kernel *next = kernel_of(device, real, "solver/sparse.k.c", "smooth_next");

    TEST_OK(ctx, eg_launch(zero, m->slices, EG_REAL("c", c), EG_REAL("w", w),
                           EG_BUFFER("inverse", v[INVERSE].buffer), EG_BUFFER("b", v[B].buffer),
                           EG_BUFFER("d", v[NEXT_D].buffer), EG_BUFFER("x", v[BETTER].buffer)));
    array_download(&v[NEXT_D]);
    array_download(&v[BETTER]);
    for (size_t i = 0; i < SIZE; i++) {
        const double step = c * v[INVERSE].v[i] * v[B].v[i];
        assert_near(v[NEXT_D].v[i], step, bound, "d from 0", i);
        assert_near(v[BETTER].v[i], w * step, bound, "x from 0", i);
    }
    TEST_OK(ctx, eg_launch(first, m->slices, EG_REAL("c", c), EG_REAL("w", w),
                           EG_BUFFER("start", m->start), EG_BUFFER("column", m->column),
                           EG_BUFFER("value", m->value), EG_BUFFER("inverse", v[INVERSE].buffer),
                           EG_BUFFER("b", v[B].buffer), EG_BUFFER("x", v[X].buffer),
                           EG_BUFFER("r", v[NEXT_R].buffer), EG_BUFFER("d", v[NEXT_D].buffer),
                           EG_BUFFER("better", v[BETTER].buffer)));
    for (int k = NEXT_R; k < ARRAYS; k++)
        array_download(&v[k]);
    for (int i = 0; i < SIZE; i++) {
        const double r = v[B].v[i] - row_product(&p, i, v[X].v), step = c * v[INVERSE].v[i] * r;
        assert_near(v[NEXT_R].v[i], r, bound, "r from x", (size_t)i);
        assert_near(v[NEXT_D].v[i], step, bound, "d from x", (size_t)i);
        assert_near(v[BETTER].v[i], v[X].v[i] + w * step, bound, "x from x", (size_t)i);
    }
    memcpy(before, v[X].v, sizeof before);
    TEST_OK(ctx, eg_launch(next, m->slices, EG_REAL("a", a), EG_REAL("c", c), EG_REAL("w", w),
                           EG_BUFFER("start", m->start), EG_BUFFER("column", m->column),
                           EG_BUFFER("value", m->value), EG_BUFFER("inverse", v[INVERSE].buffer),
                           EG_BUFFER("r", v[B].buffer), EG_BUFFER("d", v[D].buffer),
                           EG_BUFFER("next_r", v[NEXT_R].buffer),
                           EG_BUFFER("next_d", v[NEXT_D].buffer), EG_BUFFER("x", v[X].buffer)));
    array_download(&v[NEXT_R]);
    array_download(&v[NEXT_D]);
    array_download(&v[X]);
    for (int i = 0; i < SIZE; i++) {
        const double r = v[B].v[i] - row_product(&p, i, v[D].v);
        const double step = a * v[D].v[i] + c * v[INVERSE].v[i] * r;
        assert_near(v[NEXT_R].v[i], r, bound, "next r", (size_t)i);
        assert_near(v[NEXT_D].v[i], step, bound, "next d", (size_t)i);
        assert_near(v[X].v[i], before[i] + w * step, bound, "next x", (size_t)i);
    }
    eg_kernel_destroy(&next);
    eg_kernel_destroy(&first);
    eg_kernel_destroy(&zero);
    for (int k = 0; k < ARRAYS; k++)
        array_free(&v[k]);
    eg_vectors_destroy(&vectors);
    eg_sparse_destroy(&m);
    pair_free(&p);
}

static void test_smoothing__steps_agree_with_their_formulas(void **state)
{
    (void)state;
    on_every_device(smoothing);
}

/* The combination of c and e that minimises x·A x - 2 x·b is a solution of two equations; without
 * anything to solve both kernels give zeros. */
static void iterations(eg_device *device, eg_type real)
{
    enum { SIZE = 70 };
    const double ac_c = 2.0, c_b = 3.0, e_ac = 0.5, e_ae = 1.5, bound = 40 * epsilon(real);
    const double e_rest = 0.7; /* e·b - (c·b / c·Ac) e·Ac */
    eg_context *ctx = eg_device_context(device);
    const size_t lanes = (size_t)eg_device_get_info(device)->lanes;
    const size_t rows = (SIZE + lanes - 1) / lanes;
    uint64_t seed = 5;
    eg_kernel *rest = kernel_of(device, real, "solver/amg.k.c", "k_rest");
    eg_kernel *combine = kernel_of(device, real, "solver/amg.k.c", "k_combine");
    array c = array_random(device, real, rows * lanes, -1, 1, &seed);
    array e = array_random(device, real, rows * lanes, -1, 1, &seed);
    array out = array_poisoned(device, real, rows * lanes), sums = array_new(device, EG_F64, 5);
    for (int nothing = 0; nothing < 2; nothing++) {
        const double given[5] = {ac_c, c_b, e_ac, e_ae, e_rest};
        for (int k = 0; k < 5; k++)
            sums.v[k] = nothing ? 0.0 : given[k];
        array_upload(&sums);
        TEST_OK(ctx, eg_launch(rest, (int64_t)rows, EG_BUFFER("sums", sums.buffer),
                               EG_BUFFER("b", c.buffer), EG_BUFFER("ac", e.buffer),
                               EG_BUFFER("rest", out.buffer)));
        array_download(&out);
        for (size_t i = 0; i < rows * lanes; i++)
            assert_near(out.v[i], c.v[i] - (nothing ? 0.0 : c_b / ac_c) * e.v[i], bound, "rest", i);
        /* [c·Ac c·Ae; e·Ac e·Ae] (first, second) = (c·b, e·b) */
        const double e_b = e_rest + c_b / ac_c * e_ac, determinant = ac_c * e_ae - e_ac * e_ac;
        const double first = nothing ? 0.0 : (c_b * e_ae - e_ac * e_b) / determinant;
        const double second = nothing ? 0.0 : (ac_c * e_b - e_ac * c_b) / determinant;
        TEST_OK(ctx, eg_launch(combine, (int64_t)rows, EG_BUFFER("sums", sums.buffer),
                               EG_BUFFER("c", c.buffer), EG_BUFFER("e", e.buffer),
                               EG_BUFFER("x", out.buffer)));
        array_download(&out);
        for (size_t i = 0; i < rows * lanes; i++)
            assert_near(out.v[i], first * c.v[i] + second * e.v[i], bound, "x", i);
    }
    array *const arrays[] = {&c, &e, &out, &sums};
    for (size_t i = 0; i < EG_COUNT(arrays); i++)
        array_free(arrays[i]);
    eg_kernel_destroy(&combine);
    eg_kernel_destroy(&rest);
}

static void test_k_cycle__two_iterations_find_the_best_combination(void **state)
{
    (void)state;
    on_every_device(iterations);
}

/* A matrix without entries is the zero matrix; what is behind the last row's slice stays. */
static void empty(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_csr *csr = NULL;
    eg_sparse *sparse = NULL;
    uint64_t seed = 3;
    array x = array_random(device, real, 128, -1, 1, &seed);
    array y = array_poisoned(device, real, 128);
    const size_t lanes = (size_t)eg_device_get_info(device)->lanes;
    TEST_OK(ctx, eg_csr_create(ctx, 5, 6, 0, &csr));
    TEST_OK(ctx, eg_sparse_create(device, real, csr, &sparse));
    TEST_OK(ctx, eg_sparse_apply(sparse, x.buffer, y.buffer));
    assert_untouched_outside(&y, 0, lanes);
    array_download(&y);
    for (size_t i = 0; i < lanes; i++)
        assert_true(y.v[i] == 0.0);
    eg_sparse_destroy(&sparse);
    eg_csr_destroy(&csr);
    array_free(&y);
    array_free(&x);
}

static void test_sparse__a_matrix_without_entries_is_zero(void **state)
{
    (void)state;
    on_every_device(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_csr__algebra_agrees_with_dense_matrices),
        KERNEL_TEST(test_csr__what_does_not_fit_is_refused),
        KERNEL_TEST(test_sparse__products_agree_with_dense_ones),
        KERNEL_TEST(test_smoothing__steps_agree_with_their_formulas),
        KERNEL_TEST(test_k_cycle__two_iterations_find_the_best_combination),
        KERNEL_TEST(test_sparse__a_matrix_without_entries_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
