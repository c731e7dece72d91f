/* Mappings inverted: the reference coordinates of points, for all shapes, nodes and degrees. */
#include "test.h"

#include <math.h>

#include "field/locate.h"
#include "field/probe.h"

static const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_QUAD, EG_SHAPE_TET, EG_SHAPE_HEX};

/* Where the vertices of a skew element lie, off the origin and flat: none of its angles is
 * right. */
static void skew(int dim, const double *r, double *x)
{
    static const double A[3][3] = {{0.8, 0.3, -0.1}, {0.05, 0.09, 0.02}, {-0.2, 0.1, 0.4}};
    for (int c = 0; c < dim; c++) {
        x[c] = 0.3 * (c + 1);
        for (int d = 0; d < dim; d++)
            x[c] += A[c][d] * r[d];
    }
}

/* The same, bent: `bend` is how far from straight. Tensor elements of degree 1 become
 * trapezoidal. */
static void bent(int dim, double bend, const double *r, double *x)
{
    double moved[3];
    for (int d = 0; d < dim; d++)
        moved[d] = r[d] + bend * (r[(d + 1) % dim] * r[d] + 0.6 * cos(2 * r[(d + 1) % dim] + d));
    skew(dim, moved, x);
}

static eg_element *geometry_new(eg_context *ctx, eg_shape shape, int degree, eg_basis basis)
{
    eg_element *element = NULL;
    TEST_OK(ctx, eg_element_create_bare(ctx, shape, degree, basis, &element));
    return element;
}

static double *bent_nodes(const eg_element *geometry, double bend)
{
    const int dim = geometry->dim, np = geometry->np;
    double *nodes = malloc((size_t)(np * dim) * sizeof *nodes), r[3] = {0};
    assert_non_null(nodes);
    for (int i = 0; i < np; i++) {
        for (int d = 0; d < dim; d++)
            r[d] = geometry->r[d * np + i];
        bent(dim, bend, r, nodes + i * dim);
    }
    return nodes;
}

/* x of reference coordinates r. */
static void map(const eg_element *geometry, const double *nodes, const double *r, double *x)
{
    double *value = malloc((size_t)geometry->np * sizeof *value);
    assert_non_null(value);
    TEST_OK(geometry->ctx, eg_element_evaluate(geometry, 1, r, value));
    for (int c = 0; c < geometry->dim; c++) {
        x[c] = 0;
        for (int i = 0; i < geometry->np; i++)
            x[c] += value[i] * nodes[i * geometry->dim + c];
    }
    free(value);
}

/* A point of a shape: at random, on a random face, or a vertex. */
static void point_in(eg_shape shape, int kind, uint64_t *seed, double r[3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    double weight[EG_MAX_VERTICES] = {0}, sum = 0;
    const int some = (int)floor(0.5 * (test_random(seed) + 1) * info->vertices);
    for (int v = 0; v < info->vertices; v++)
        weight[v] = 0.5 * (test_random(seed) + 1);
    if (kind == 1) { /* on a face: no weight on the vertices off it */
        const int face = some % info->faces;
        for (int v = 0; v < info->vertices; v++) {
            bool on = false;
            for (int i = 0; i < info->face_vertices; i++)
                on = on || info->face[face][i] == v;
            if (!on) weight[v] = 0;
        }
    }
    for (int v = 0; v < info->vertices; v++) {
        if (kind == 2) weight[v] = v == some;
        sum += weight[v];
    }
    for (int d = 0; d < info->dim; d++) {
        r[d] = 0;
        for (int v = 0; v < info->vertices; v++)
            r[d] += weight[v] / sum * info->r[v][d];
    }
}

static void check_inverse(eg_context *ctx, eg_shape shape, int degree, eg_basis basis, double bend)
{
    eg_element *geometry = geometry_new(ctx, shape, degree, basis);
    double *nodes = bent_nodes(geometry, bend);
    uint64_t seed = 7;
    for (int i = 0; i < 60; i++) {
        double r[3] = {0}, x[3] = {0}, found[3] = {NAN, NAN, NAN}, back[3];
        point_in(shape, i % 3, &seed, r);
        map(geometry, nodes, r, x);
        assert_true(eg_map_invert(geometry, nodes, x, found));
        assert_true(eg_shape_outside(shape, found) <= 1e-12);
        map(geometry, nodes, found, back);
        for (int d = 0; d < geometry->dim; d++) {
            if (!(fabs(found[d] - r[d]) <= 1e-12))
                fail_msg("%s of degree %d, bent by %g: r[%d] is %.17g instead of %.17g",
                         eg_shape_get_info(shape)->name, degree, bend, d, found[d], r[d]);
            assert_true(fabs(back[d] - x[d]) <= 1e-13);
        }
    }
    free(nodes);
    eg_element_destroy(&geometry);
}

static void test_map_invert__finds_points_inside_on_faces_and_vertices(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(shapes); s++)
        for (int degree = 1; degree <= 5; degree++)
            for (int bend = 0; bend < 3; bend++) {
                check_inverse(ctx, shapes[s], degree, EG_BASIS_LOBATTO, 0.1 * bend);
                check_inverse(ctx, shapes[s], degree, EG_BASIS_EQUIDISTANT, 0.1 * bend);
            }
    check_inverse(ctx, EG_SHAPE_QUAD, EG_DEGREE_MAX_QUAD, EG_BASIS_GAUSS, 0.1);
    check_inverse(ctx, EG_SHAPE_HEX, EG_DEGREE_MAX, EG_BASIS_LOBATTO, 0.1);
    check_inverse(ctx, EG_SHAPE_TET, EG_DEGREE_MAX, EG_BASIS_LOBATTO, 0.1);
    test_context_free(&ctx);
}

/* The mapping of a quadrilateral has two roots: the sides of this one meet at (0, 3), and beyond
 * that point it is mapped upside down. */
static void test_map_invert__prefers_the_root_inside(void **state)
{
    (void)state;
    static const double nodes[] = {-1, 0, 1, 0, -0.02, 2.94, 0.02, 2.94};
    eg_context *ctx = test_context();
    eg_element *geometry = geometry_new(ctx, EG_SHAPE_QUAD, 1, EG_BASIS_LOBATTO);
    uint64_t seed = 3;
    for (int i = 0; i < 1000; i++) {
        double r[3] = {0}, x[3], found[3];
        point_in(EG_SHAPE_QUAD, i % 3, &seed, r);
        map(geometry, nodes, r, x);
        assert_true(eg_map_invert(geometry, nodes, x, found));
        assert_true(fabs(found[0] - r[0]) <= 1e-12 && fabs(found[1] - r[1]) <= 1e-12);
    }
    eg_element_destroy(&geometry);
    test_context_free(&ctx);
}

/* Bent so much that Newton's method leaves the element from its centre, or from the nearest
 * node, too. */
static void test_map_invert__finds_points_of_badly_bent_elements(void **state)
{
    (void)state;
    static const struct {
        bool thorough;
        double nodes[12], r[2];
    } cases[] = {
        {false,
         {-0.429, -0.675, 0.039, -1.005, 1.029, -0.993, -0.449, 0.543, 0.299, 0.12, -0.992, 1.511},
         {-1, 0.64}},
        {true,
         {-0.846, -0.927, -0.078, -1.131, 0.418, -1.881, -1.439, -0.233, -0.348, -0.23, -1.491,
          0.66},
         {0.53, -1}},
    };
    eg_context *ctx = test_context();
    eg_element *geometry = geometry_new(ctx, EG_SHAPE_TRI, 2, EG_BASIS_LOBATTO);
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        double x[3], found[3];
        map(geometry, cases[i].nodes, cases[i].r, x);
        assert_true(eg_map_search(geometry, cases[i].nodes, x, NULL, cases[i].thorough, found));
        for (int d = 0; d < 2; d++)
            assert_true(fabs(found[d] - cases[i].r[d]) <= 1e-12);
    }
    eg_element_destroy(&geometry);
    test_context_free(&ctx);
}

static void test_map_invert__goes_on_outside_of_the_element(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(shapes); s++) {
        eg_element *geometry = geometry_new(ctx, shapes[s], 2, EG_BASIS_LOBATTO);
        double *nodes = bent_nodes(geometry, 0.05);
        const double r[3] = {1.1, 0.2, -0.3};
        double x[3], found[3];
        map(geometry, nodes, r, x);
        assert_true(eg_map_invert(geometry, nodes, x, found));
        for (int d = 0; d < geometry->dim; d++)
            assert_true(fabs(found[d] - r[d]) <= 1e-12);
        free(nodes);
        eg_element_destroy(&geometry);
    }
    test_context_free(&ctx);
}

/* Coordinates that are large against the element: what they do not resolve is lost, and no more. */
static void test_map_invert__loses_only_what_coordinates_do_not_resolve(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_element *geometry = geometry_new(ctx, EG_SHAPE_HEX, 3, EG_BASIS_LOBATTO);
    double *nodes = bent_nodes(geometry, 0.1);
    for (int i = 0; i < geometry->np * 3; i++)
        nodes[i] = 4096 + nodes[i] / 1024;
    uint64_t seed = 9;
    for (int i = 0; i < 100; i++) {
        double r[3], x[3], found[3];
        point_in(EG_SHAPE_HEX, i % 3, &seed, r);
        map(geometry, nodes, r, x);
        assert_true(eg_map_invert(geometry, nodes, x, found));
        for (int d = 0; d < 3; d++)
            assert_true(fabs(found[d] - r[d]) <= 1e-6);
    }
    free(nodes);
    eg_element_destroy(&geometry);
    test_context_free(&ctx);
}

static void test_map_invert__says_so_if_there_is_no_root(void **state)
{
    (void)state;
    static const double flat[] = {0, 0, 1, 1, 2, 2};
    eg_context *ctx = test_context();
    eg_element *geometry = geometry_new(ctx, EG_SHAPE_TRI, 1, EG_BASIS_LOBATTO);
    double r[3];
    assert_false(eg_map_invert(geometry, flat, (const double[]){1, 0}, r));
    assert_false(eg_map_invert(geometry, flat, (const double[]){NAN, 0}, r));
    eg_element_destroy(&geometry);
    test_context_free(&ctx);
}

static void test_shape_outside__is_zero_on_faces_and_vertices(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (size_t s = 0; s < EG_COUNT(shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(shapes[s]);
        for (int i = 0; i < 200; i++) {
            double r[3] = {0}, out[3] = {0};
            point_in(shapes[s], i % 3, &seed, r);
            const double outside = eg_shape_outside(shapes[s], r);
            if (i % 3 == 0)
                assert_true(outside < 0);
            else
                assert_true(fabs(outside) <= 1e-15);
            /* Away from the centre by a tenth: out of the element if r was on its faces. */
            for (int d = 0; d < info->dim; d++) {
                const double centre = info->tensor ? 0 : 2.0 / (info->dim + 1) - 1;
                out[d] = centre + 1.1 * (r[d] - centre);
            }
            if (i % 3 != 0) assert_true(eg_shape_outside(shapes[s], out) > 0.03);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_map_invert__finds_points_inside_on_faces_and_vertices),
        cmocka_unit_test(test_map_invert__prefers_the_root_inside),
        cmocka_unit_test(test_map_invert__finds_points_of_badly_bent_elements),
        cmocka_unit_test(test_map_invert__goes_on_outside_of_the_element),
        cmocka_unit_test(test_map_invert__loses_only_what_coordinates_do_not_resolve),
        cmocka_unit_test(test_map_invert__says_so_if_there_is_no_root),
        cmocka_unit_test(test_shape_outside__is_zero_on_faces_and_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
