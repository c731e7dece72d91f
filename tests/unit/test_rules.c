/* The fully symmetric cubature rules: exact, positive, interior, symmetric, with few points. */
#include "test.h"

#include <math.h>

#include "element/rules.h"

#define MAX_POINTS 600
#define MAX_MODES 32 /* along each coordinate */

static const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_TET};

/* What is asked of the tables: a rule for every degree up to this one. */
static int last_degree(eg_shape shape)
{
    return shape == EG_SHAPE_TRI ? 30 : 20;
}

static double points[3 * MAX_POINTS], weights[MAX_POINTS];

/* Expands rule i of the shape into `points` and `weights`. */
static const eg_rule *expand(eg_shape shape, int i)
{
    int count;
    const eg_rule *rule = &eg_rule_table(shape, &count)[i];
    assert_true(i < count && rule->count <= MAX_POINTS);
    eg_rule_expand(rule, points, weights);
    return rule;
}

static int table_length(eg_shape shape)
{
    int count;
    (void)eg_rule_table(shape, &count);
    return count;
}

/* Barycentric coordinates of a point, the one of vertex 0 last. */
static void barycentric(const eg_rule *rule, int point, double *l)
{
    int dim = eg_shape_get_info(rule->shape)->dim;
    l[dim] = 1.0;
    for (int d = 0; d < dim; d++) {
        l[d] = 0.5 * (points[d * rule->count + point] + 1.0);
        l[dim] -= l[d];
    }
}

/* The mean of x^a y^b z^c over the unit simplex with one vertex at the origin:
 * dim! a! b! c! / (a + b + c + dim)!, as a product of factors no greater than 1. */
static double exact_mean(int dim, const int *power)
{
    double mean = 1.0;
    int n = dim;
    for (int d = 0; d < dim; d++)
        for (int i = 1; i <= power[d]; i++)
            mean *= (double)i / ++n;
    return mean;
}

/* The greatest error of the rule on monomials of one total degree, relative to the volume. */
static double error_at(const eg_rule *rule, int degree)
{
    const eg_shape_info *info = eg_shape_get_info(rule->shape);
    double worst = 0.0;
    for (int a = 0; a <= degree; a++) {
        for (int b = 0; b <= degree - a; b++) {
            int power[3] = {a, b, degree - a - b};
            if (info->dim == 2) {
                if (a + b != degree) continue;
                power[2] = 0;
            }
            double sum = 0.0;
            for (int i = 0; i < rule->count; i++) {
                double term = weights[i];
                for (int d = 0; d < info->dim; d++)
                    term *= pow(0.5 * (points[d * rule->count + i] + 1.0), power[d]);
                sum += term;
            }
            worst = fmax(worst, fabs(sum / info->volume - exact_mean(info->dim, power)));
        }
    }
    return worst;
}

static void test_rules__are_exact_on_all_monomials_to_their_degree(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(shapes); s++) {
        double worst = 0.0;
        for (int i = 0; i < table_length(shapes[s]); i++) {
            const eg_rule *rule = expand(shapes[s], i);
            for (int degree = 0; degree <= rule->degree; degree++) {
                double error = error_at(rule, degree);
                if (!(error < 1e-13))
                    fail_msg("%s, degree %d: monomials of degree %d are wrong by %.1e",
                             eg_shape_get_info(shapes[s])->name, rule->degree, degree, error);
                worst = fmax(worst, error);
            }
        }
        print_message("%s: greatest error on a monomial %.1e\n", eg_shape_get_info(shapes[s])->name,
                      worst);
    }
}

/* Integrals of the orthonormal modes (i, j, k) of Dubiner and Koornwinder; on triangles k is 0. */
static double integrals[MAX_MODES][MAX_MODES][MAX_MODES];

static void integrate_modes(const eg_rule *rule, int degree)
{
    static double A[MAX_MODES], B[MAX_MODES][MAX_MODES], C[MAX_MODES][MAX_MODES];
    bool solid = rule->shape == EG_SHAPE_TET;
    assert_true(degree < MAX_MODES);
    memset(integrals, 0, sizeof integrals);
    for (int p = 0; p < rule->count; p++) {
        double r = points[p], s = points[rule->count + p];
        double t = solid ? points[2 * rule->count + p] : -1.0;
        double a = -2.0 * (1.0 + r) / (s + t) - 1.0, b = 2.0 * (1.0 + s) / (1.0 - t) - 1.0;
        for (int i = 0; i <= degree; i++) {
            A[i] = weights[p] * M_SQRT2 * eg_jacobi(i, 0, 0, a);
            for (int j = 0; j <= degree - i; j++) {
                B[i][j] = eg_jacobi(j, 2 * i + 1, 0, b) * pow(1.0 - b, i);
                C[i][j] = solid ? 2.0 * eg_jacobi(j, 2 * i + 2, 0, t) * pow(1.0 - t, i) : 1.0;
            }
        }
        for (int i = 0; i <= degree; i++)
            for (int j = 0; j <= degree - i; j++)
                for (int k = 0; k <= (solid ? degree - i - j : 0); k++)
                    integrals[i][j][k] += A[i] * B[i][j] * C[i + j][k];
    }
}

/* The greatest integral of a mode of this degree; all but that of degree 0 should vanish. */
static double mode_error(int degree)
{
    double worst = 0.0;
    for (int i = 0; i <= degree; i++)
        for (int j = 0; j <= degree - i; j++)
            worst = fmax(worst, fabs(integrals[i][j][degree - i - j]));
    return worst;
}

/* Monomials of high degree have such small integrals that a rule of a lower degree would pass. The
 * orthonormal modes tell them apart. */
static void test_rules__are_exact_on_orthonormal_modes_to_their_degree_and_no_further(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(shapes); s++) {
        double worst = 0.0, least = 1.0;
        for (int i = 0; i < table_length(shapes[s]); i++) {
            const eg_rule *rule = expand(shapes[s], i);
            integrate_modes(rule, rule->degree + 1);
            for (int degree = 1; degree <= rule->degree; degree++)
                worst = fmax(worst, mode_error(degree));
            least = fmin(least, mode_error(rule->degree + 1));
        }
        print_message("%s: greatest error on a mode %.1e; past the degree at least %.1e\n",
                      eg_shape_get_info(shapes[s])->name, worst, least);
        assert_true(worst < 1e-13);
        assert_true(least > 1e-3);
    }
}

static void test_rules__have_positive_weights_that_sum_to_the_volume(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(shapes); s++)
        for (int i = 0; i < table_length(shapes[s]); i++) {
            const eg_rule *rule = expand(shapes[s], i);
            double sum = 0.0;
            for (int p = 0; p < rule->count; p++) {
                assert_true(weights[p] > 0.0);
                sum += weights[p];
            }
            assert_true(fabs(sum - eg_shape_get_info(shapes[s])->volume) < 1e-14);
        }
}

static void test_rules__have_all_points_strictly_inside(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(shapes); s++)
        for (int i = 0; i < table_length(shapes[s]); i++) {
            const eg_rule *rule = expand(shapes[s], i);
            for (int p = 0; p < rule->count; p++) {
                double l[4];
                barycentric(rule, p, l);
                for (int v = 0; v < eg_shape_get_info(shapes[s])->vertices; v++)
                    assert_true(l[v] > 1e-5);
            }
        }
}

/* Whether the rule has a point at the barycentric coordinates l with this weight. */
static bool has_point(const eg_rule *rule, const double *l, double weight)
{
    int vertices = eg_shape_get_info(rule->shape)->vertices;
    for (int p = 0; p < rule->count; p++) {
        double other[4], distance = 0.0;
        barycentric(rule, p, other);
        for (int v = 0; v < vertices; v++)
            distance = fmax(distance, fabs(other[v] - l[v]));
        if (distance < 1e-14 && weights[p] == weight) return true;
    }
    return false;
}

/* Exchanges of neighbours generate all permutations. */
static void test_rules__are_invariant_under_every_exchange_of_vertices(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(shapes); s++)
        for (int i = 0; i < table_length(shapes[s]); i++) {
            const eg_rule *rule = expand(shapes[s], i);
            for (int p = 0; p < rule->count; p++)
                for (int v = 0; v + 1 < eg_shape_get_info(shapes[s])->vertices; v++) {
                    double l[4];
                    barycentric(rule, p, l);
                    double swap = l[v];
                    l[v] = l[v + 1];
                    l[v + 1] = swap;
                    assert_true(has_point(rule, l, weights[p]));
                }
        }
}

static void test_rules__have_distinct_points(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(shapes); s++)
        for (int i = 0; i < table_length(shapes[s]); i++) {
            const eg_rule *rule = expand(shapes[s], i);
            for (int p = 0; p < rule->count; p++)
                for (int q = 0; q < p; q++) {
                    double distance = 0.0;
                    for (int d = 0; d < eg_shape_get_info(shapes[s])->dim; d++)
                        distance = fmax(distance, fabs(points[d * rule->count + p] -
                                                       points[d * rule->count + q]));
                    assert_true(distance > 1e-4);
                }
        }
}

static void test_rules__are_found_for_every_degree_with_the_fewest_points(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(shapes); s++) {
        int count;
        const eg_rule *table = eg_rule_table(shapes[s], &count);
        for (int i = 1; i < count; i++) {
            assert_true(table[i].degree > table[i - 1].degree);
            assert_true(table[i].count > table[i - 1].count);
        }
        for (int degree = 0; degree <= last_degree(shapes[s]); degree++) {
            eg_rule rule;
            assert_true(eg_rule_find(shapes[s], degree, &rule));
            assert_int_equal(rule.shape, shapes[s]);
            assert_true(rule.degree >= degree);
            for (int i = 0; i < count; i++)
                assert_true(table[i].degree < degree || table[i].count >= rule.count);
            /* A collapsed Gauss rule has n points along each coordinate. On the triangle that of
             * degree 3 has 4 points and no symmetry; the fully symmetric one has 6. */
            int n = degree / 2 + 1;
            if (!(shapes[s] == EG_SHAPE_TRI && degree == 3))
                assert_true(rule.count <= (shapes[s] == EG_SHAPE_TRI ? n * n : n * n * n));
        }
    }
}

static void test_rules__are_not_found_past_the_last_degree_nor_on_other_shapes(void **state)
{
    (void)state;
    eg_rule rule;
    assert_false(eg_rule_find(EG_SHAPE_TRI, last_degree(EG_SHAPE_TRI) + 1, &rule));
    assert_false(eg_rule_find(EG_SHAPE_TET, last_degree(EG_SHAPE_TET) + 1, &rule));
    assert_false(eg_rule_find(EG_SHAPE_LINE, 1, &rule));
    assert_false(eg_rule_find(EG_SHAPE_QUAD, 1, &rule));
    assert_false(eg_rule_find(EG_SHAPE_HEX, 1, &rule));
}

static void test_rules__have_no_more_points_than_published_ones(void **state)
{
    (void)state;
    static const struct {
        eg_shape shape;
        int degree, published;
    } counts[] = {
        {EG_SHAPE_TRI, 6, 12},   {EG_SHAPE_TRI, 12, 33},  {EG_SHAPE_TRI, 18, 67},
        {EG_SHAPE_TRI, 24, 112}, {EG_SHAPE_TRI, 30, 175}, {EG_SHAPE_TET, 2, 4},
        {EG_SHAPE_TET, 3, 8},    {EG_SHAPE_TET, 5, 14},   {EG_SHAPE_TET, 6, 24},
        {EG_SHAPE_TET, 8, 46},   {EG_SHAPE_TET, 10, 81},  {EG_SHAPE_TET, 12, 145},
    };
    print_message("%-12s %6s %6s %9s\n", "shape", "degree", "points", "published");
    for (size_t i = 0; i < EG_COUNT(counts); i++) {
        eg_rule rule;
        assert_true(eg_rule_find(counts[i].shape, counts[i].degree, &rule));
        print_message("%-12s %6d %6d %9d\n", eg_shape_get_info(counts[i].shape)->name,
                      counts[i].degree, rule.count, counts[i].published);
        assert_true(rule.count <= counts[i].published);
    }
}

/* The page of the manual has a row "| degree | points | …" for every rule, and no other. */
static void test_rules__are_listed_in_the_manual(void **state)
{
    (void)state;
    FILE *page = fopen(EG_TEST_SOURCE_DIR "/docs/reference/cubature.md", "r");
    assert_non_null(page);
    char line[256];
    int shape = -1, row = 0, rows = 0;
    while (fgets(line, sizeof line, page)) {
        int degree, count;
        if (strncmp(line, "## ", 3) == 0) {
            shape++;
            row = 0;
        } else if (sscanf(line, "| %d | %d |", &degree, &count) == 2) {
            const eg_rule *rule = expand(shapes[shape], row++);
            assert_int_equal(degree, rule->degree);
            assert_int_equal(count, rule->count);
            assert_non_null(strstr(line, rule->source));
            rows++;
        }
    }
    (void)fclose(page);
    assert_int_equal(rows, table_length(EG_SHAPE_TRI) + table_length(EG_SHAPE_TET));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules__are_exact_on_all_monomials_to_their_degree),
        cmocka_unit_test(test_rules__are_exact_on_orthonormal_modes_to_their_degree_and_no_further),
        cmocka_unit_test(test_rules__have_positive_weights_that_sum_to_the_volume),
        cmocka_unit_test(test_rules__have_all_points_strictly_inside),
        cmocka_unit_test(test_rules__are_invariant_under_every_exchange_of_vertices),
        cmocka_unit_test(test_rules__have_distinct_points),
        cmocka_unit_test(test_rules__are_found_for_every_degree_with_the_fewest_points),
        cmocka_unit_test(test_rules__are_not_found_past_the_last_degree_nor_on_other_shapes),
        cmocka_unit_test(test_rules__have_no_more_points_than_published_ones),
        cmocka_unit_test(test_rules__are_listed_in_the_manual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
