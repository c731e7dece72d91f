/* Warp & blend nodes on simplices: symmetric, Gauss-Lobatto on edges, good for interpolation. */
#include "test.h"

#include <math.h>

#include "element/element.h"

/* All permutations of the vertices take nodes to nodes. */
static void test_simplex_nodes__are_invariant_under_all_symmetries(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int dim = 2; dim <= 3; dim++)
        for (int degree = 0; degree <= EG_DEGREE_MAX; degree++) {
            eg_element *e = NULL;
            TEST_OK(ctx, eg_element_create(ctx, dim == 2 ? EG_SHAPE_TRI : EG_SHAPE_TET, degree,
                                           EG_BASIS_LOBATTO, &e));
            for (int code = 0; code < 256; code++) {
                int p[4] = {code & 3, code >> 2 & 3, code >> 4 & 3, code >> 6};
                int seen = 1 << p[0] | 1 << p[1] | 1 << p[2] | 1 << p[3];
                if (seen != 15 || (dim == 2 && p[3] != 3)) continue;
                for (int i = 0; i < e->np; i++) {
                    double L[4], nearest = INFINITY;
                    L[0] = 1.0;
                    for (int d = 0; d < dim; d++)
                        L[0] -= L[d + 1] = 0.5 * (1.0 + e->r[d * e->np + i]);
                    for (int j = 0; j < e->np; j++) {
                        double away = 0.0;
                        for (int d = 0; d < dim; d++)
                            away =
                                fmax(away, fabs(0.5 * (1.0 + e->r[d * e->np + j]) - L[p[d + 1]]));
                        nearest = fmin(nearest, away);
                    }
                    assert_true(nearest < 5e-16);
                }
            }
            eg_element_destroy(&e);
        }
    test_context_free(&ctx);
}

static void test_simplex_nodes__on_edges_are_gauss_lobatto_points(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_TET};
    for (size_t s = 0; s < EG_COUNT(shapes); s++)
        for (int degree = 1; degree <= EG_DEGREE_MAX; degree++) {
            double x[EG_DEGREE_MAX + 1];
            eg_element *e = NULL;
            TEST_OK(ctx, eg_gauss_lobatto(ctx, degree + 1, x, NULL));
            TEST_OK(ctx, eg_element_create(ctx, shapes[s], degree, EG_BASIS_LOBATTO, &e));
            /* Nodes are numbered with r fastest: the first lie on the edge s = t = -1. */
            for (int i = 0; i <= degree; i++) {
                assert_true(fabs(e->r[i] - x[i]) < 2e-16);
                for (int d = 1; d < e->dim; d++)
                    assert_true(e->r[d * e->np + i] == -1.0);
            }
            eg_element_destroy(&e);
        }
    test_context_free(&ctx);
}

/* The largest Σ |φ_i| over a lattice of points. */
static double lebesgue_constant(eg_context *ctx, const eg_element *e, int intervals)
{
    const bool tet = e->shape == EG_SHAPE_TET;
    const int n = intervals;
    const size_t count = (size_t)(tet ? (n + 1) * (n + 2) * (n + 3) / 6 : (n + 1) * (n + 2) / 2);
    double *points = malloc(count * (size_t)e->dim * sizeof *points);
    double *at = malloc(count * (size_t)e->np * sizeof *at);
    assert_true(points && at);
    size_t q = 0;
    for (int k = 0; k <= (tet ? n : 0); k++)
        for (int j = 0; j <= n - k; j++)
            for (int i = 0; i <= n - k - j; i++, q++) {
                points[q] = 2.0 * i / n - 1.0;
                points[count + q] = 2.0 * j / n - 1.0;
                if (tet) points[2 * count + q] = 2.0 * k / n - 1.0;
            }
    TEST_OK(ctx, eg_element_evaluate(e, (int)count, points, at));
    double worst = 0.0;
    for (q = 0; q < count; q++) {
        double sum = 0.0;
        for (size_t i = 0; i < (size_t)e->np; i++)
            sum += fabs(at[q * (size_t)e->np + i]);
        worst = fmax(worst, sum);
    }
    free(at);
    free(points);
    return worst;
}

/* The parameters are chosen for the least Lebesgue constant [warburton2006]: on the triangle its own do
 * better than those of the tetrahedron, which its faces have, and far better than none of it. */
static void test_simplex_nodes__have_small_lebesgue_constants(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double most[EG_DEGREE_MAX + 1] = {1,    1,    1.67, 2.12, 2.67, 3.13,
                                            3.71, 4.28, 4.97, 5.75, 6.68};
    const double most_tet[EG_DEGREE_MAX + 1] = {1,    1,    2,    2.94, 4.08, 5.32,
                                                7.01, 9.21, 12.6, 17.1, 24.6};
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++) {
        eg_element *tri = NULL, *tet = NULL, *even = NULL;
        TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_TRI, degree, EG_BASIS_LOBATTO, &tri));
        TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_TET, degree, EG_BASIS_LOBATTO, &tet));
        TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_TRI, degree, EG_BASIS_EQUIDISTANT, &even));
        double own = lebesgue_constant(ctx, tri, 60);
        double as_face = lebesgue_constant(ctx, tet->face, 60);
        assert_true(own > 0.98 * most[degree] && own < most[degree] + 1e-12);
        assert_true(own <= as_face * (1 + 1e-4));
        if (degree > 6) assert_true(own < 0.7 * lebesgue_constant(ctx, even, 60));
        double solid = lebesgue_constant(ctx, tet, 24);
        assert_true(solid > 0.85 * most_tet[degree] && solid < most_tet[degree] + 1e-12);
        eg_element_destroy(&even);
        eg_element_destroy(&tet);
        eg_element_destroy(&tri);
    }
    test_context_free(&ctx);
}

/* The construction once more as the book has it, with x and y of the equilateral triangle. */
static double warp_of(int degree, const double *lobatto, double x)
{
    double sum = 0.0;
    for (int i = 0; i <= degree; i++) {
        double xi = -1.0 + 2.0 * i / degree, term = lobatto[i] - xi;
        for (int j = 0; j <= degree; j++) {
            double xj = -1.0 + 2.0 * j / degree;
            if (j != i) term *= (x - xj) / (xi - xj);
        }
        sum += term;
    }
    return fabs(x) < 1.0 - 1e-10 ? sum / (1.0 - x * x) : 0.0;
}

static void test_triangle_nodes__agree_with_the_equilateral_construction(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const double alpha[EG_DEGREE_MAX + 1] = {0,    0,      0,      1.4152, 0.1001, 0.2751,
                                             0.98, 1.0999, 1.2832, 1.3648, 1.4773};
    const double third = 2.0 * acos(-1.0) / 3.0;
    for (int degree = 1; degree <= EG_DEGREE_MAX; degree++) {
        double lobatto[EG_DEGREE_MAX + 1];
        eg_element *e = NULL;
        TEST_OK(ctx, eg_gauss_lobatto(ctx, degree + 1, lobatto, NULL));
        TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_TRI, degree, EG_BASIS_LOBATTO, &e));
        int node = 0;
        for (int n = 0; n <= degree; n++)
            for (int m = 0; m <= degree - n; m++, node++) {
                double L1 = (double)n / degree, L3 = (double)m / degree, L2 = 1.0 - L1 - L3;
                double x = -L2 + L3, y = (-L2 - L3 + 2 * L1) / sqrt(3.0);
                const double opposite[3] = {L1, L2, L3}, from[3] = {L2, L3, L1},
                             to[3] = {L3, L1, L2};
                for (int k = 0; k < 3; k++) {
                    double far = alpha[degree] * opposite[k];
                    double warp = 4 * from[k] * to[k] * (1 + far * far) *
                                  warp_of(degree, lobatto, to[k] - from[k]);
                    x += cos(k * third) * warp;
                    y += sin(k * third) * warp;
                }
                double top = (sqrt(3.0) * y + 1.0) / 3.0, right = (3 * x - sqrt(3.0) * y + 2) / 6;
                assert_true(fabs(e->r[node] - (2 * right - 1)) < 1e-13);
                assert_true(fabs(e->r[e->np + node] - (2 * top - 1)) < 1e-13);
            }
        eg_element_destroy(&e);
    }
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simplex_nodes__are_invariant_under_all_symmetries),
        cmocka_unit_test(test_simplex_nodes__on_edges_are_gauss_lobatto_points),
        cmocka_unit_test(test_simplex_nodes__have_small_lebesgue_constants),
        cmocka_unit_test(test_triangle_nodes__agree_with_the_equilateral_construction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
