/* The basis of cells against what defines it: its functions are 1 in a cell and 0 in the others, and what
 * goes to and from it is a projection. */
#include "test.h"

#include <math.h>

#include "element/element.h"

enum { MOST = EG_DEGREE_MAX_QUAD + 1 };

static eg_element *element_new(eg_context *ctx, eg_shape shape, int degree, eg_basis basis)
{
    eg_element *e = NULL;
    TEST_OK(ctx, eg_element_create(ctx, shape, degree, basis, &e));
    return e;
}

/* Row q of values of the basis at place x of a line. */
static void values_at(const eg_element *line, double x, double *values)
{
    TEST_OK(line->ctx, eg_element_evaluate(line, 1, &x, values));
}

static void test_cells__the_basis_is_1_in_its_cell_and_0_in_the_others(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int degree = 0; degree <= EG_DEGREE_MAX_QUAD; degree++) {
        eg_element *line = element_new(ctx, EG_SHAPE_LINE, degree, EG_BASIS_CELLS);
        const int n = degree + 1;
        double values[MOST];
        for (int i = 0; i < 7 * n; i++) {
            values_at(line, -1 + 2 * (i + 0.5) / (7 * n), values);
            for (int k = 0; k < n; k++)
                assert_true(values[k] == (k == i / 7));
        }
        for (int i = 0; i < n; i++) {
            assert_true(fabs(line->r[i] - (-1 + (2 * i + 1.0) / n)) < 1e-15);
            assert_true(fabs(line->weights[i] - 2.0 / n) < 1e-14);
        }
        eg_element_destroy(&line);
    }
    test_context_free(&ctx);
}

/* On the line and beyond its ends. */
static void test_cells__where_two_meet_the_upper_one_counts(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_element *line = element_new(ctx, EG_SHAPE_LINE, 3, EG_BASIS_CELLS);
    const struct {
        double x;
        int cell;
    } places[] = {{-1.5, 0}, {-1, 0}, {-0.5, 1}, {0, 2}, {0.5, 3}, {1, 3}, {1.5, 3}};
    for (size_t i = 0; i < EG_COUNT(places); i++) {
        double values[4];
        values_at(line, places[i].x, values);
        for (int k = 0; k < 4; k++)
            assert_true(values[k] == (k == places[i].cell));
    }
    eg_element_destroy(&line);
    test_context_free(&ctx);
}

/* With r fastest, and a derivative of 0 inside cells. */
static void test_cells__of_squares_and_cubes_are_products(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int dim = 2; dim <= 3; dim++) {
        eg_element *e =
            element_new(ctx, dim == 2 ? EG_SHAPE_QUAD : EG_SHAPE_HEX, 2, EG_BASIS_CELLS);
        const double r[3] = {-0.9, 0.1, 0.8};
        double values[27], gradient[81];
        const double each = pow(2.0 / 3, dim);
        TEST_OK(ctx, eg_element_evaluate(e, 1, r, values));
        TEST_OK(ctx, eg_element_differentiate(e, 1, r, gradient));
        for (int i = 0; i < e->np; i++) {
            assert_true(values[i] == (i == (dim == 2 ? 3 : 21)));
            assert_true(fabs(e->weights[i] - each) < 1e-14);
            for (int k = 0; k < e->np; k++) {
                assert_true(fabs(e->mass[i * e->np + k] - (i == k ? each : 0)) < 1e-14);
                assert_true(fabs(e->mass_inverse[i * e->np + k] - (i == k ? 1 / each : 0)) < 1e-12);
            }
        }
        for (int i = 0; i < dim * e->np; i++)
            assert_true(gradient[i] == 0);
        for (int i = 0; i < dim * e->np * e->np; i++)
            assert_true(e->D[i] == 0);
        eg_element_destroy(&e);
    }
    test_context_free(&ctx);
}

/* Which is cell by cell: each point counts for its own. */
static void test_cells__are_projected_to_from_points_of_their_own(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_element *line = element_new(ctx, EG_SHAPE_LINE, 2, EG_BASIS_CELLS);
    double r[6], w[6], table[18];
    for (int q = 0; q < 6; q++) {
        r[q] = (2 * (q / 2) - 2 + (q % 2 ? 1 : -1) / sqrt(3.0)) / 3;
        w[q] = 1.0 / 3;
    }
    const eg_cubature rule = {.ctx = ctx, .shape = EG_SHAPE_LINE, .count = 6, .r = r, .w = w};
    TEST_OK(ctx, eg_element_project(line, &rule, table));
    for (int i = 0; i < 3; i++)
        for (int q = 0; q < 6; q++)
            assert_true(fabs(table[i * 6 + q] - (q / 2 == i ? 0.5 : 0)) < 1e-14);
    eg_element_destroy(&line);
    test_context_free(&ctx);
}

/* Σ over the points of [a, b], exact for what is in use here, of a function of both. */
static double integral_of_product(const eg_element *e, int i, const eg_element *f, int k, double a,
                                  double b)
{
    double x[16], w[16], sum = 0;
    TEST_OK(e->ctx, eg_gauss_legendre(e->ctx, 16, x, w));
    for (int q = 0; q < 16; q++) {
        double u[MOST], v[MOST];
        values_at(e, 0.5 * ((1 - x[q]) * a + (1 + x[q]) * b), u);
        values_at(f, 0.5 * ((1 - x[q]) * a + (1 + x[q]) * b), v);
        sum += 0.5 * (b - a) * w[q] * u[i] * v[k];
    }
    return sum;
}

/* ∫ (what it becomes - what it was) φ = 0 for every φ of the space it goes to, by quadrature between
 * all ends of cells. */
static void check_projection(eg_context *ctx, eg_basis a, int from_degree, eg_basis b,
                             int to_degree)
{
    eg_element *from = element_new(ctx, EG_SHAPE_LINE, from_degree, a);
    eg_element *to = element_new(ctx, EG_SHAPE_LINE, to_degree, b);
    const int n = from->np, m = to->np, parts = n * m;
    double table[MOST * MOST];
    TEST_OK(ctx, eg_element_transfer(from, to, table));
    for (int k = 0; k < n; k++)
        for (int i = 0; i < m; i++) {
            double left = 0;
            for (int part = 0; part < parts; part++) {
                const double low = -1 + 2.0 * part / parts, high = -1 + 2.0 * (part + 1) / parts;
                left -= integral_of_product(from, k, to, i, low, high);
                for (int l = 0; l < m; l++)
                    left += table[l * n + k] * integral_of_product(to, l, to, i, low, high);
            }
            if (!(fabs(left) < 1e-12))
                fail_msg("%s %d to %s %d: %g", eg_basis_name(a), from_degree, eg_basis_name(b),
                         to_degree, left);
        }
    eg_element_destroy(&to);
    eg_element_destroy(&from);
}

static void test_cells__transfer_is_the_projection(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static const int degrees[] = {0, 1, 2, 4};
    for (size_t i = 0; i < EG_COUNT(degrees); i++)
        for (size_t k = 0; k < EG_COUNT(degrees); k++) {
            check_projection(ctx, EG_BASIS_CELLS, degrees[i], EG_BASIS_CELLS, degrees[k]);
            check_projection(ctx, EG_BASIS_CELLS, degrees[i], EG_BASIS_GAUSS, degrees[k]);
            check_projection(ctx, EG_BASIS_LOBATTO, degrees[i], EG_BASIS_CELLS, degrees[k]);
            check_projection(ctx, EG_BASIS_MODAL, degrees[i], EG_BASIS_CELLS, degrees[k]);
        }
    test_context_free(&ctx);
}

/* A matrix of a square is the product of those of lines. */
static void test_cells__transfer_of_squares_keeps_the_mean(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_element *cells = element_new(ctx, EG_SHAPE_QUAD, 3, EG_BASIS_CELLS);
    eg_element *gauss = element_new(ctx, EG_SHAPE_QUAD, 2, EG_BASIS_GAUSS);
    double table[16 * 16];
    for (int way = 0; way < 2; way++) {
        const eg_element *from = way ? gauss : cells, *to = way ? cells : gauss;
        TEST_OK(ctx, eg_element_transfer(from, to, table));
        for (int k = 0; k < from->np; k++) {
            double sum = 0;
            for (int i = 0; i < to->np; i++)
                sum += to->weights[i] * table[i * from->np + k];
            assert_true(fabs(sum - from->weights[k]) < 1e-13);
        }
    }
    eg_element_destroy(&gauss);
    eg_element_destroy(&cells);
    test_context_free(&ctx);
}

static void test_cells__are_of_lines_squares_and_cubes_alone(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_element *e = NULL;
    TEST_FAILS(ctx, EG_ERROR_INPUT, "\"cells\" does not exist on a triangle",
               eg_element_create(ctx, EG_SHAPE_TRI, 2, EG_BASIS_CELLS, &e));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "\"cells\" does not exist on a tetrahedron",
               eg_element_create_bare(ctx, EG_SHAPE_TET, 2, EG_BASIS_CELLS, &e));
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells__the_basis_is_1_in_its_cell_and_0_in_the_others),
        cmocka_unit_test(test_cells__where_two_meet_the_upper_one_counts),
        cmocka_unit_test(test_cells__of_squares_and_cubes_are_products),
        cmocka_unit_test(test_cells__are_projected_to_from_points_of_their_own),
        cmocka_unit_test(test_cells__transfer_is_the_projection),
        cmocka_unit_test(test_cells__transfer_of_squares_keeps_the_mean),
        cmocka_unit_test(test_cells__are_of_lines_squares_and_cubes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
