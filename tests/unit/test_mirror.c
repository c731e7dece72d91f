/* Even and odd parts under the exchange of r and s: pairs of nodes and of cubature points, and products by
 * blocks against whole ones. */
#include "test.h"

#include "base/dense.h"
#include "element/element.h"

#include <math.h>

static double *numbers(int count)
{
    double *block = calloc((size_t)count, sizeof *block);
    assert_non_null(block);
    return block;
}

static void check_pairs(const eg_mirror *mirror, int count, const double *r)
{
    int seen[256] = {0};
    assert_true(count <= 256 && mirror->even + mirror->odd == count);
    for (int k = 0; k < mirror->even; k++) {
        const int a = mirror->pair[k][0], b = mirror->pair[k][1];
        assert_true(fabs(r[a] - r[count + b]) < 1e-10 && fabs(r[b] - r[count + a]) < 1e-10);
        assert_true((a == b) == (k >= mirror->odd));
        seen[a]++;
        if (a != b) seen[b]++;
    }
    for (int i = 0; i < count; i++)
        assert_int_equal(seen[i], 1);
}

static void test_mirror__nodes_and_points_have_one_image_each(void **state)
{
    eg_context *ctx = test_context();
    (void)state;
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++) {
        eg_element *e = NULL;
        eg_cubature *rule = NULL;
        eg_mirror mirror;
        TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_TRI, degree, EG_BASIS_LOBATTO, &e));
        TEST_OK(ctx, eg_mirror_create(ctx, e->np, e->r, &mirror));
        check_pairs(&mirror, e->np, e->r);
        assert_int_equal(mirror.even, (e->np + degree / 2 + 1) / 2);
        eg_mirror_free(ctx, &mirror);
        TEST_OK(ctx, eg_cubature_create(ctx, EG_SHAPE_TRI, 3 * degree, EG_CUBATURE_BEST, &rule));
        assert_true(rule->symmetric);
        TEST_OK(ctx, eg_mirror_create(ctx, rule->count, rule->r, &mirror));
        check_pairs(&mirror, rule->count, rule->r);
        eg_mirror_free(ctx, &mirror);
        eg_cubature_destroy(&rule);
        eg_element_destroy(&e);
    }
    test_context_free(&ctx);
}

static void test_mirror__points_without_an_image_are_refused(void **state)
{
    static const double r[4] = {-1, 0.5, -1, -1}; /* (-1, -1), (0.5, -1) */
    eg_context *ctx = test_context();
    eg_mirror mirror;
    (void)state;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "point 1 at (0.5, -1)",
               eg_mirror_create(ctx, 2, r, &mirror));
    assert_null(mirror.pair);
    test_context_free(&ctx);
}

/* y = A x by even and odd parts; `turns`: A turns the one into the other. */
static void check_product(const eg_element *e, const eg_mirror *m, const double *A, bool turns)
{
    const int np = e->np;
    double *x = numbers(np), *block = numbers(m->even * m->even);
    double *part[2] = {numbers(np), numbers(np)};
    double *image[2] = {numbers(np), numbers(np)};
    for (int i = 0; i < np; i++)
        x[i] = cos(3.0 * i + 1);
    for (int k = 0; k < m->even; k++)
        for (int odd = 0; odd < 2; odd++)
            part[odd][k] = x[m->pair[k][0]] + (odd ? -1 : 1) * x[m->pair[k][1]];
    for (int odd = 0; odd < 2; odd++) {
        const bool from = turns ? !odd : odd;
        const int rows = odd ? m->odd : m->even, columns = from ? m->odd : m->even;
        eg_mirror_fold(&(eg_mirror_block){m, m, odd, from}, A, np, columns, block);
        eg_dense_multiply(rows, columns, 1, block, part[from], image[odd]);
    }
    for (int k = 0; k < m->even; k++)
        for (int other = 0; other < 2; other++) {
            const int i = m->pair[k][other];
            const double o = k < m->odd ? image[1][k] : 0, got = image[0][k] + (other ? -o : o);
            double want = 0, size = 1;
            for (int j = 0; j < np; j++) {
                want += A[i * np + j] * x[j];
                size += fabs(A[i * np + j] * x[j]);
            }
            /* Matrices are their own images but for what rounding, N = 10, leaves of them. */
            assert_true(fabs(got - want) <= 1e-13 * size);
        }
    for (int odd = 0; odd < 2; odd++) {
        free(image[odd]);
        free(part[odd]);
    }
    free(block);
    free(x);
}

static void test_mirror__products_by_parts_are_products(void **state)
{
    eg_context *ctx = test_context();
    (void)state;
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree += 3) {
        eg_element *e = NULL;
        eg_mirror mirror;
        TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_TRI, degree, EG_BASIS_LOBATTO, &e));
        TEST_OK(ctx, eg_mirror_create(ctx, e->np, e->r, &mirror));
        const int size = e->np * e->np;
        double *sum = numbers(size), *difference = numbers(size);
        for (int i = 0; i < size; i++) {
            sum[i] = e->D[i] + e->D[size + i];
            difference[i] = e->D[i] - e->D[size + i];
        }
        check_product(e, &mirror, e->mass, false);
        check_product(e, &mirror, sum, false);
        check_product(e, &mirror, difference, true);
        free(difference);
        free(sum);
        eg_mirror_free(ctx, &mirror);
        eg_element_destroy(&e);
    }
    test_context_free(&ctx);
}

/* A place that is left free has nothing, in rows and in columns. */
static void test_mirror__free_places_are_zero(void **state)
{
    static const double A[4] = {1, 2, 3, 4};
    eg_context *ctx = test_context();
    eg_mirror rows, columns;
    double out[4] = {NAN, NAN, NAN, NAN};
    (void)state;
    TEST_OK(ctx, eg_mirror_new(ctx, 2, 2, &rows));
    TEST_OK(ctx, eg_mirror_new(ctx, 2, 2, &columns));
    rows.pair[0][0] = 0, rows.pair[0][1] = 1, rows.pair[1][0] = rows.pair[1][1] = -1;
    columns.pair[0][0] = columns.pair[0][1] = -1, columns.pair[1][0] = 0, columns.pair[1][1] = 1;
    eg_mirror_fold(&(eg_mirror_block){&rows, &columns, false, false}, A, 2, 2, out);
    assert_true(out[0] == 0 && out[1] == 0.25 * (1 + 2 + 3 + 4) && out[2] == 0 && out[3] == 0);
    eg_mirror_free(ctx, &columns);
    eg_mirror_free(ctx, &rows);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mirror__nodes_and_points_have_one_image_each),
        cmocka_unit_test(test_mirror__points_without_an_image_are_refused),
        cmocka_unit_test(test_mirror__products_by_parts_are_products),
        cmocka_unit_test(test_mirror__free_places_are_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
