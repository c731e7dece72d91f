/* Tensor and collapsed cubature: exactness on every monomial, points inside, positive weights. The
 * tabulated symmetric rules have a test of their own. */
#include "test.h"

#include <math.h>

#include "element/element.h"

static double factorial(int n)
{
    return tgamma(n + 1.0);
}

/* ∫ Π ((1 + r_d)/2)^p_d over the reference shape. */
static double exact_integral(const eg_shape_info *info, const int p[3])
{
    double value = info->tensor ? 1.0 : ldexp(1.0, info->dim);
    for (int d = 0; d < info->dim; d++)
        value *= info->tensor ? 2.0 / (p[d] + 1) : factorial(p[d]);
    return info->tensor ? value : value / factorial(p[0] + p[1] + p[2] + info->dim);
}

/* The largest error over all monomials up to the degree of the rule, relative to the volume. */
static double worst_error(const eg_cubature *c, int degree)
{
    const eg_shape_info *info = eg_shape_get_info(c->shape);
    double worst = 0.0;
    int p[3] = {0};
    for (p[2] = 0; p[2] <= (info->dim > 2 ? degree : 0); p[2]++)
        for (p[1] = 0; p[1] <= (info->dim > 1 ? degree : 0); p[1]++)
            for (p[0] = 0; p[0] <= degree; p[0]++) {
                if (!info->tensor && p[0] + p[1] + p[2] > degree) continue;
                double sum = 0.0;
                for (int i = 0; i < c->count; i++) {
                    double value = c->w[i];
                    for (int d = 0; d < info->dim; d++)
                        value *= pow(0.5 * (1.0 + c->r[d * c->count + i]), p[d]);
                    sum += value;
                }
                worst = fmax(worst, fabs(sum - exact_integral(info, p)) / info->volume);
            }
    return worst;
}

static bool is_inside(const eg_cubature *c, int i)
{
    const eg_shape_info *info = eg_shape_get_info(c->shape);
    double sum = 0.0;
    for (int d = 0; d < info->dim; d++) {
        double r = c->r[d * c->count + i];
        if (r < -1.0 || r > 1.0) return false;
        sum += 0.5 * (1.0 + r);
    }
    return info->tensor || sum < 1.0;
}

static void check(eg_shape shape, eg_cubature_kind kind, int most)
{
    eg_context *ctx = test_context();
    const eg_shape_info *info = eg_shape_get_info(shape);
    for (int degree = 0; degree <= most; degree++) {
        eg_cubature *c = NULL;
        TEST_OK(ctx, eg_cubature_create(ctx, shape, degree, kind, &c));
        assert_true(c->degree >= degree && c->degree <= degree + 1);
        int n = kind == EG_CUBATURE_LOBATTO ? degree / 2 + 2 : degree / 2 + 1;
        assert_int_equal(c->count, (int)lround(pow(n, info->dim)));
        for (int i = 0; i < c->count; i++)
            assert_true(c->w[i] > 0.0 && is_inside(c, i));
        assert_true(worst_error(c, c->degree) < 4e-15);
        eg_cubature_destroy(&c);
        assert_null(c);
    }
    test_context_free(&ctx);
}

static void test_tensor_rules__are_exact_on_every_monomial(void **state)
{
    (void)state;
    check(EG_SHAPE_LINE, EG_CUBATURE_BEST, 40);
    check(EG_SHAPE_QUAD, EG_CUBATURE_BEST, 20);
    check(EG_SHAPE_HEX, EG_CUBATURE_BEST, 8);
    check(EG_SHAPE_LINE, EG_CUBATURE_LOBATTO, 40);
    check(EG_SHAPE_QUAD, EG_CUBATURE_LOBATTO, 20);
    check(EG_SHAPE_HEX, EG_CUBATURE_LOBATTO, 8);
}

static void test_collapsed_rules__are_exact_on_every_monomial(void **state)
{
    (void)state;
    check(EG_SHAPE_TRI, EG_CUBATURE_COLLAPSED, 40);
    check(EG_SHAPE_TET, EG_CUBATURE_COLLAPSED, 16);
}

static void test_cubature__points_of_products_run_with_r_fastest(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_cubature *c = NULL;
    double x[3];
    TEST_OK(ctx, eg_gauss_legendre(ctx, 3, x, NULL));
    TEST_OK(ctx, eg_cubature_create(ctx, EG_SHAPE_HEX, 5, EG_CUBATURE_BEST, &c));
    assert_true(c->symmetric);
    for (int i = 0; i < 27; i++) {
        assert_true(c->r[i] == x[i % 3]);
        assert_true(c->r[27 + i] == x[i / 3 % 3]);
        assert_true(c->r[54 + i] == x[i / 9]);
    }
    eg_cubature_destroy(&c);
    test_context_free(&ctx);
}

static void test_cubature__the_best_rule_of_a_simplex_exists_for_every_degree(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_TET};
    const int degrees[] = {0, 1, 4, 13, 31};
    for (size_t s = 0; s < EG_COUNT(shapes); s++)
        for (size_t k = 0; k < EG_COUNT(degrees); k++) {
            if (shapes[s] == EG_SHAPE_TET && degrees[k] > 13) continue;
            eg_cubature *best = NULL, *collapsed = NULL;
            TEST_OK(ctx, eg_cubature_create(ctx, shapes[s], degrees[k], EG_CUBATURE_BEST, &best));
            TEST_OK(ctx, eg_cubature_create(ctx, shapes[s], degrees[k], EG_CUBATURE_COLLAPSED,
                                            &collapsed));
            assert_true(best->degree >= degrees[k] && best->count <= collapsed->count);
            assert_true(worst_error(best, degrees[k]) < 1e-14);
            eg_cubature_destroy(&collapsed);
            eg_cubature_destroy(&best);
        }
    test_context_free(&ctx);
}

static void test_cubature__refuses_what_does_not_exist(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_cubature *c = NULL;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "not -1",
               eg_cubature_create(ctx, EG_SHAPE_TRI, -1, EG_CUBATURE_BEST, &c));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "triangle has no Gauss-Lobatto",
               eg_cubature_create(ctx, EG_SHAPE_TRI, 2, EG_CUBATURE_LOBATTO, &c));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "hexahedron has no collapsed",
               eg_cubature_create(ctx, EG_SHAPE_HEX, 2, EG_CUBATURE_COLLAPSED, &c));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "at most 512",
               eg_cubature_create(ctx, EG_SHAPE_HEX, 2000, EG_CUBATURE_BEST, &c));
    assert_null(c);
    eg_cubature_destroy(&c);
    test_context_free(&ctx);
}

static eg_status create_one(eg_context *ctx, void *user)
{
    const eg_shape *shape = user;
    eg_cubature *c = NULL;
    eg_status status = eg_cubature_create(
        ctx, *shape, 3, *shape == EG_SHAPE_TET ? EG_CUBATURE_COLLAPSED : EG_CUBATURE_BEST, &c);
    eg_cubature_destroy(&c);
    return status;
}

static void test_cubature__survives_any_failed_allocation(void **state)
{
    (void)state;
    for (int s = 0; s < EG_SHAPE_COUNT; s++) {
        eg_shape shape = (eg_shape)s;
        test_allocation_sweep(create_one, &shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor_rules__are_exact_on_every_monomial),
        cmocka_unit_test(test_collapsed_rules__are_exact_on_every_monomial),
        cmocka_unit_test(test_cubature__points_of_products_run_with_r_fastest),
        cmocka_unit_test(test_cubature__the_best_rule_of_a_simplex_exists_for_every_degree),
        cmocka_unit_test(test_cubature__refuses_what_does_not_exist),
        cmocka_unit_test(test_cubature__survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
