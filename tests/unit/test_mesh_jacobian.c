/* Jacobians bounded everywhere in an element: against elements that fool samples, against dense
 * samples of random elements, and at the limits of rounding. */
#include "meshes.h"

#include "mesh/bernstein.h"
#include "mesh/jacobian.h"

#define MOST_NODES 1000

/* --- samples ---------------------------------------------------------------------------------- */

/* The Jacobians of elements of one shape and order at some points. */
typedef struct sampler {
    int dim, np, points;
    double *r; /* [dim][points] */
    double *D; /* [dim][points][np] */
} sampler;

static sampler sampler_of(eg_context *ctx, const eg_element *element, int points, const double *r)
{
    sampler s = {.dim = element->dim, .np = element->np, .points = points};
    s.r = malloc((size_t)(s.dim * points) * sizeof *s.r);
    s.D = malloc((size_t)(s.dim * points * s.np) * sizeof *s.D);
    memcpy(s.r, r, (size_t)(s.dim * points) * sizeof *s.r);
    TEST_OK(ctx, eg_element_differentiate(element, points, r, s.D));
    return s;
}

static sampler sampler_at(eg_context *ctx, eg_shape shape, int order, int points, const double *r)
{
    eg_element *element = NULL;
    TEST_OK(ctx, eg_element_create_bare(ctx, shape, order, EG_BASIS_LOBATTO, &element));
    sampler s = sampler_of(ctx, element, points, r);
    eg_element_destroy(&element);
    return s;
}

/* At the equidistant nodes of a high degree. */
static sampler sampler_dense(eg_context *ctx, eg_shape shape, int order, int degree)
{
    eg_element *element = NULL;
    TEST_OK(ctx, eg_element_create_bare(ctx, shape, degree, EG_BASIS_EQUIDISTANT, &element));
    sampler s = sampler_at(ctx, shape, order, element->np, element->r);
    eg_element_destroy(&element);
    return s;
}

static void sampler_free(sampler *s)
{
    free(s->r);
    free(s->D);
}

static double sample(const sampler *s, const double *nodes, int point)
{
    double J[3][3] = {{0}};
    for (int d = 0; d < s->dim; d++) {
        for (int c = 0; c < s->dim; c++) {
            for (int i = 0; i < s->np; i++)
                J[d][c] += s->D[(d * s->points + point) * s->np + i] * nodes[i * s->dim + c];
        }
    }
    return eg_mesh_determinant(s->dim, (const double(*)[3])J);
}

static double sampled_least(const sampler *s, const double *nodes)
{
    double least = INFINITY;
    for (int p = 0; p < s->points; p++)
        least = fmin(least, sample(s, nodes, p));
    return least;
}

static double determinant_at(eg_context *ctx, eg_shape shape, int order, const double *nodes,
                             const double *r)
{
    sampler s = sampler_at(ctx, shape, order, 1, r);
    double det = sample(&s, nodes, 0);
    sampler_free(&s);
    return det;
}

/* The nodes of the reference element itself: nodes [np][dim]. */
static int reference_nodes(eg_context *ctx, eg_shape shape, int order, double *nodes)
{
    eg_element *element = NULL;
    TEST_OK(ctx, eg_element_create_bare(ctx, shape, order, EG_BASIS_LOBATTO, &element));
    int np = element->np;
    for (int i = 0; i < np * element->dim; i++)
        nodes[i] = element->r[i % element->dim * np + i / element->dim];
    eg_element_destroy(&element);
    return np;
}

/* --- Bernstein polynomials -------------------------------------------------------------------- */

static double bernstein_value(const eg_bernstein *space, const double *coefficients,
                              const double *r)
{
    double values[1000], sum = 0.0;
    assert_true(space->count <= 1000);
    eg_bernstein_evaluate(space, r, values);
    for (int i = 0; i < space->count; i++)
        sum += coefficients[i] * values[i];
    return sum;
}

/* A point inside a shape. */
static void random_point(eg_shape shape, uint64_t *seed, double r[3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    double sum;
    do {
        sum = 0.0;
        for (int d = 0; d < info->dim; d++) {
            r[d] = test_random(seed);
            sum += 0.5 * (1.0 + r[d]);
        }
    } while (!info->tensor && sum > 1.0);
}

static void test_bernstein__products_of_coefficients_are_products_of_values(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 3;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        bool tensor = eg_shape_get_info(test_shapes[s])->tensor;
        eg_bernstein a, b, c;
        TEST_OK(ctx, eg_bernstein_create(ctx, test_shapes[s],
                                         tensor ? (int[]){1, 3, 2} : (int[]){2, 2, 2}, &a));
        TEST_OK(ctx, eg_bernstein_create(ctx, test_shapes[s],
                                         tensor ? (int[]){2, 0, 4} : (int[]){3, 3, 3}, &b));
        TEST_OK(ctx, eg_bernstein_create(ctx, test_shapes[s],
                                         tensor ? (int[]){3, 3, 6} : (int[]){5, 5, 5}, &c));
        double fa[100], fb[100], fc[200], wa[100], wb[100], wc[200] = {0}, r[3];
        for (int i = 0; i < a.count; i++)
            wa[i] = a.weight[i] * (fa[i] = test_random(&seed));
        for (int i = 0; i < b.count; i++)
            wb[i] = b.weight[i] * (fb[i] = test_random(&seed));
        eg_bernstein_multiply(&a, wa, &b, wb, -2.0, &c, wc);
        for (int i = 0; i < c.count; i++)
            fc[i] = wc[i] / c.weight[i];
        for (int k = 0; k < 20; k++) {
            random_point(test_shapes[s], &seed, r);
            TEST_NEAR(bernstein_value(&c, fc, r),
                      -2.0 * bernstein_value(&a, fa, r) * bernstein_value(&b, fb, r), 1e-14);
        }
        eg_bernstein_destroy(&a);
        eg_bernstein_destroy(&b);
        eg_bernstein_destroy(&c);
    }
    test_context_free(&ctx);
}

/* Where the point r of a half lies in the whole: the half's corners are those of the reference
 * element, but for one end of each pair. */
static void into_half(eg_shape shape, const eg_bernstein_direction *direction, int half,
                      const double *r, double *whole)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    double corner[EG_MAX_VERTICES][3];
    memcpy(corner, info->r, sizeof corner);
    for (int k = 0; k < direction->pair_count; k++) {
        const int *pair = direction->pair[k];
        for (int d = 0; d < info->dim; d++)
            corner[pair[!half]][d] = 0.5 * (info->r[pair[0]][d] + info->r[pair[1]][d]);
    }
    for (int d = 0; d < info->dim; d++) {
        whole[d] = 0.0;
        for (int v = 0; v < info->vertices; v++) {
            double weight = 1.0;
            for (int c = 0; info->tensor && c < info->dim; c++)
                weight *= 0.5 * (1.0 + info->r[v][c] * r[c]);
            if (!info->tensor) weight = v > 0 ? 0.5 * (1.0 + r[v - 1]) : 1.0;
            for (int c = 0; !info->tensor && v == 0 && c < info->dim; c++)
                weight -= 0.5 * (1.0 + r[c]);
            whole[d] += weight * corner[v][d];
        }
    }
}

static void test_bernstein__halves_are_the_same_polynomial_and_corners_its_values(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 4;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_shape shape = test_shapes[s];
        const eg_shape_info *info = eg_shape_get_info(shape);
        eg_bernstein space;
        eg_bernstein_direction directions[EG_BERNSTEIN_DIRECTIONS] = {{0}};
        int count;
        TEST_OK(ctx, eg_bernstein_create(
                         ctx, shape, info->tensor ? (int[]){2, 4, 3} : (int[]){4, 4, 4}, &space));
        TEST_OK(ctx, eg_bernstein_find_directions(&space, directions, &count));
        assert_int_equal(count, info->tensor ? info->dim : info->dim * (info->dim + 1) / 2);
        for (int k = 0; k < count; k++) {
            double whole[100], half[2][100], line[8], r[3], at[3];
            for (int i = 0; i < space.count; i++)
                whole[i] = half[0][i] = test_random(&seed);
            eg_bernstein_halve(&directions[k], half[0], half[1], line);
            for (int h = 0; h < 2; h++) {
                for (int v = 0; v < info->vertices; v++) {
                    into_half(shape, &directions[k], h, info->r[v], at);
                    TEST_NEAR(half[h][eg_bernstein_corner(&space, v)],
                              bernstein_value(&space, whole, at), 1e-14);
                }
                for (int i = 0; i < 10; i++) {
                    random_point(shape, &seed, r);
                    into_half(shape, &directions[k], h, r, at);
                    TEST_NEAR(bernstein_value(&space, half[h], r),
                              bernstein_value(&space, whole, at), 1e-14);
                }
            }
        }
        eg_bernstein_free_directions(ctx, directions);
        eg_bernstein_destroy(&space);
    }
    test_context_free(&ctx);
}

/* --- elements that fool samples --------------------------------------------------------------- */

/* Elements whose determinant is positive at all nodes of some degree, and negative elsewhere. */
typedef struct fooling {
    eg_shape shape;
    int order, sample_degree;
    double nodes[64];
} fooling;

static const fooling foolings[] = {
    {EG_SHAPE_TRI, 2, 2, {-2, 2, 7, -4, 10, 2, 3, 7, 0, 5, 0, 6}},
    {EG_SHAPE_QUAD, 2, 3, {3, 4, 1, 4, 11, -2, -3, 1, 0, 5, 11, 4, -2, 7, 4, 12, 8, 11}},
    {EG_SHAPE_TET, 2, 3, {-4, -3, -1, 6, 0,  -4, 12, 3, 1, 3,  1, 4, 1, 7, 3,
                          -3, 9,  -2, 1, -2, 3,  8,  3, 3, -4, 3, 8, 4, 4, 10}},
    {EG_SHAPE_HEX, 1, 1, {1, 4, -2, 4, -2, 4, -1, 8,  1,  12, 4,  3,
                          0, 1, 10, 9, 4,  4, 0,  11, 10, 4,  12, 11}},
};

static void test_jacobian__elements_positive_at_all_nodes_but_not_between_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t k = 0; k < EG_COUNT(foolings); k++) {
        const fooling *f = &foolings[k];
        eg_element *nodes = NULL;
        eg_jacobian *jacobian = NULL;
        TEST_OK(ctx,
                eg_element_create_bare(ctx, f->shape, f->sample_degree, EG_BASIS_LOBATTO, &nodes));
        sampler s = sampler_at(ctx, f->shape, f->order, nodes->np, nodes->r);
        assert_true(sampled_least(&s, f->nodes) > 1.0);
        TEST_OK(ctx, eg_jacobian_create(ctx, f->shape, f->order, &jacobian));
        double r[3], det = 0.0;
        assert_false(eg_jacobian_is_positive(jacobian, f->nodes, r, &det));
        assert_true(det < -1.0);
        TEST_NEAR(det, determinant_at(ctx, f->shape, f->order, f->nodes, r), 1e-9);
        assert_true(eg_jacobian_least_over_mean(jacobian, f->nodes) < 0.0);
        sampler_free(&s);
        eg_jacobian_destroy(&jacobian);
        eg_element_destroy(&nodes);
    }
    test_context_free(&ctx);
}

/* --- random elements -------------------------------------------------------------------------- */

/* Refused elements are refused for a point that everybody can look at, accepted ones are positive
 * at many. Both kinds occur often. */
static void check_random(eg_context *ctx, eg_shape shape, int order, int count)
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    eg_jacobian *jacobian = NULL;
    TEST_OK(ctx, eg_jacobian_create(ctx, shape, order, &jacobian));
    sampler dense = sampler_dense(ctx, shape, order, info->dim == 2 ? 10 : 7);
    double straight[3 * MOST_NODES], nodes[3 * MOST_NODES];
    int np = reference_nodes(ctx, shape, order, straight);
    assert_true(np <= MOST_NODES);
    uint64_t seed = 100u + (uint64_t)shape * 10u + (uint64_t)order;
    int accepted = 0, refused = 0;
    for (int k = 0; k < count; k++) {
        double size = 2.0 * (1.0 + k % 8) / (8.0 * order * order), r[3], det;
        for (int i = 0; i < np * info->dim; i++)
            nodes[i] = 3.0 + straight[i] + size * test_random(&seed);
        double least = sampled_least(&dense, nodes);
        if (eg_jacobian_is_positive(jacobian, nodes, r, &det)) {
            assert_true(least > 0.0);
            accepted++;
        } else {
            double there = determinant_at(ctx, shape, order, nodes, r);
            TEST_NEAR(det, there, 1e-10);
            assert_true(there < 1e-10);
            refused++;
        }
        double ratio = eg_jacobian_least_over_mean(jacobian, nodes), mean = 0.0;
        if (least > 0.0) {
            for (int p = 0; p < dense.points; p++)
                mean += sample(&dense, nodes, p) / dense.points;
            assert_true(ratio <= 1.0);
            /* Sampled means are rough, within bounds. */
            assert_true(ratio * mean < 2.0 * least + 0.05 * mean);
        }
    }
    assert_true(accepted > count / 20);
    assert_true(refused > count / 20);
    sampler_free(&dense);
    eg_jacobian_destroy(&jacobian);
}

static void test_jacobian__agrees_with_dense_samples_of_random_elements(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        int dim = eg_shape_get_info(test_shapes[s])->dim;
        for (int order = 1; order <= (dim == 2 ? 4 : 3); order++)
            check_random(ctx, test_shapes[s], order, dim == 2 ? 1000 : 200);
    }
    test_context_free(&ctx);
}

/* The coefficients of mappings of high order are thousands of times larger than their values: bounds
 * are of no use in large pieces, and rounding must not be judged by them. */
static void test_jacobian__hexahedra_of_high_order_are_decided(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static double nodes[3 * MOST_NODES];
    uint64_t seed = 5;
    for (int order = 7; order <= 9; order++) {
        eg_element *element = NULL;
        eg_jacobian *jacobian = NULL;
        TEST_OK(ctx, eg_element_create_bare(ctx, EG_SHAPE_HEX, order, EG_BASIS_LOBATTO, &element));
        TEST_OK(ctx, eg_jacobian_create(ctx, EG_SHAPE_HEX, order, &jacobian));
        sampler dense = sampler_dense(ctx, EG_SHAPE_HEX, order, 6);
        int accepted = 0, refused = 0, np = element->np;
        for (int k = 0; k < 6; k++) {
            /* The second half of the sizes tangles. */
            double size = (k < 3 ? 0.1 : 1.2) * (1.0 + k % 3) / (order * order), r[3], det;
            for (int i = 0; i < 3 * np; i++)
                nodes[i] = element->r[i % 3 * np + i / 3] + size * test_random(&seed);
            double least = sampled_least(&dense, nodes);
            bool positive = eg_jacobian_is_positive(jacobian, nodes, r, &det);
            if (least > 0.4) assert_true(positive);
            accepted += least > 0.4;
            if (least < 0.0) {
                assert_false(positive);
                assert_true(det <= 0.0);
                sampler there = sampler_of(ctx, element, 1, r);
                TEST_NEAR(det, sample(&there, nodes, 0), 1e-9);
                sampler_free(&there);
                refused++;
            }
        }
        assert_true(accepted >= 2 && refused >= 2);
        sampler_free(&dense);
        eg_jacobian_destroy(&jacobian);
        eg_element_destroy(&element);
    }
    test_context_free(&ctx);
}

/* --- near zero -------------------------------------------------------------------------------- */

/* x with ∂x/∂r = (r - 0.3)² + least, y = s, z = t: its determinant touches `least` along a line or
 * plane. */
static void touch(int dim, int np, const double *reference, double least, double *nodes)
{
    for (int i = 0; i < np; i++) {
        memcpy(&nodes[i * dim], &reference[i * dim], (size_t)dim * sizeof *nodes);
        double r = reference[i * dim] - 0.3;
        nodes[i * dim] = r * r * r / 3.0 + least * r;
    }
}

static void test_jacobian__decides_however_near_to_zero(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static double reference[3 * MOST_NODES], nodes[3 * MOST_NODES];
    for (size_t k = 0; k < 2 * EG_COUNT(test_shapes); k++) {
        eg_shape shape = test_shapes[k / 2];
        const eg_shape_info *info = eg_shape_get_info(shape);
        const int order = 3 * (int)(k % 2 + 1);
        eg_jacobian *jacobian = NULL;
        double r[3], det;
        int np = reference_nodes(ctx, shape, order, reference);
        TEST_OK(ctx, eg_jacobian_create(ctx, shape, order, &jacobian));
        touch(info->dim, np, reference, 1e-6, nodes);
        assert_true(eg_jacobian_is_positive(jacobian, nodes, r, &det));
        touch(info->dim, np, reference, 0.0, nodes);
        assert_false(eg_jacobian_is_positive(jacobian, nodes, r, &det));
        touch(info->dim, np, reference, -1e-6, nodes);
        assert_false(eg_jacobian_is_positive(jacobian, nodes, r, &det));
        assert_true(det <= 1e-12);
        TEST_NEAR(r[0], 0.3, 2e-3);
        eg_jacobian_destroy(&jacobian);
    }
    test_context_free(&ctx);
}

/* x with ∂x/∂r = |r - 0.3|² + least: touches `least` at a point, in a mesh of one hexahedron. */
static eg_mesh *touching_hexahedron(eg_context *ctx, double least)
{
    eg_mesh *mesh =
        test_box(ctx, &(eg_box_options){.shape = EG_SHAPE_HEX, .cells = {1, 1, 1}, .order = 3});
    for (int i = 0; i < mesh->node_stride; i++) {
        double *x = &mesh->nodes[3 * i], a = x[0] - 0.3, b = x[1] - 0.3, c = x[2] - 0.3;
        x[0] = a * (a * a / 3.0 + b * b + c * c + least);
    }
    return mesh;
}

static void test_check_mappings__says_what_it_could_not_decide(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_mesh *valid = touching_hexahedron(ctx, 1e-6), *near = touching_hexahedron(ctx, 1e-12),
            *wrong = touching_hexahedron(ctx, -1e-3);
    TEST_OK(ctx, eg_mesh_check_mappings(valid));
    TEST_FAILS(ctx, EG_ERROR_INPUT,
               "element 0 (hexahedron) could not be shown to be valid: the least Jacobian found of "
               "its mapping is ",
               eg_mesh_check_mappings(near));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "is inside out or flat: the Jacobian of its mapping is -",
               eg_mesh_check_mappings(wrong));
    eg_mesh_destroy(&wrong);
    eg_mesh_destroy(&near);
    eg_mesh_destroy(&valid);
    test_context_free(&ctx);
}

/* Long, thin and turned: height 1e-6 of the length, bent a little. */
static void test_jacobian__thin_turned_elements_are_valid_and_flat_ones_are_not(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(test_shapes[s]);
        for (int order = 1; order <= 4; order++) {
            eg_jacobian *jacobian = NULL;
            double nodes[3 * MOST_NODES], x[3 * MOST_NODES], r[3], det;
            int np = reference_nodes(ctx, test_shapes[s], order, nodes);
            TEST_OK(ctx, eg_jacobian_create(ctx, test_shapes[s], order, &jacobian));
            for (int flat = 0; flat < 3; flat++) {
                double thin = flat == 0 ? 1e-6 : flat == 1 ? 0.0 : -1e-6;
                for (int i = 0; i < np; i++) {
                    const double *at = &nodes[i * info->dim];
                    double along = at[0], across = thin * at[1];
                    if (order > 1) across += 0.1 * along * along;
                    memcpy(&x[i * info->dim], at, (size_t)info->dim * sizeof *x);
                    x[i * info->dim] = 0.8 * along - 0.6 * across;
                    x[i * info->dim + 1] = 0.6 * along + 0.8 * across;
                }
                assert_int_equal(eg_jacobian_is_positive(jacobian, x, r, &det), flat == 0);
            }
            eg_jacobian_destroy(&jacobian);
        }
    }
    test_context_free(&ctx);
}

/* Elements of size 1 far away, turned: flat ones get some height by rounding of coordinates. */
static void test_jacobian__flat_elements_far_away_are_refused_whatever_rounding_made(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 12;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(test_shapes[s]);
        for (int order = 1; order <= 4; order++) {
            eg_jacobian *jacobian = NULL;
            double nodes[3 * MOST_NODES], x[3 * MOST_NODES], r[3], det;
            int np = reference_nodes(ctx, test_shapes[s], order, nodes);
            TEST_OK(ctx, eg_jacobian_create(ctx, test_shapes[s], order, &jacobian));
            for (int k = 0; k < 200; k++) {
                double angle = 3.0 * test_random(&seed), height = k % 2 ? 1e-5 : 0.0;
                for (int i = 0; i < np; i++) {
                    const double *at = &nodes[i * info->dim];
                    double along = at[0] + 0.5 * at[1], across = height * at[1];
                    memcpy(&x[i * info->dim], at, (size_t)info->dim * sizeof *x);
                    x[i * info->dim] = 1e6 + cos(angle) * along - sin(angle) * across;
                    x[i * info->dim + 1] = 2e6 + sin(angle) * along + cos(angle) * across;
                }
                assert_int_equal(eg_jacobian_is_positive(jacobian, x, r, &det), height > 0.0);
            }
            eg_jacobian_destroy(&jacobian);
        }
    }
    test_context_free(&ctx);
}

static void test_jacobian__nodes_that_are_not_finite_are_refused(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_jacobian *jacobian = NULL;
        double nodes[3 * MOST_NODES], r[3], det;
        int np = reference_nodes(ctx, test_shapes[s], 2, nodes);
        TEST_OK(ctx, eg_jacobian_create(ctx, test_shapes[s], 2, &jacobian));
        for (size_t k = 0; k < EG_COUNT(bad); k++) {
            for (int i = 0; i < np * eg_shape_get_info(test_shapes[s])->dim; i++) {
                double good = nodes[i];
                nodes[i] = bad[k];
                assert_false(eg_jacobian_is_positive(jacobian, nodes, r, &det));
                assert_true(isnan(det));
                nodes[i] = good;
            }
        }
        assert_true(eg_jacobian_is_positive(jacobian, nodes, r, &det));
        eg_jacobian_destroy(&jacobian);
    }
    test_context_free(&ctx);
}

/* With x = r + a r²/2 the determinant is 1 + a r; the mean of r is known. */
static void test_jacobian__least_over_mean_is_known_of_stretched_elements(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        const eg_shape_info *info = eg_shape_get_info(test_shapes[s]);
        double mean_r = info->tensor ? 0.0 : 2.0 / (info->dim + 1) - 1.0;
        for (int order = 2; order <= 4; order++) {
            eg_jacobian *jacobian = NULL;
            double nodes[3 * MOST_NODES], x[3 * MOST_NODES];
            int np = reference_nodes(ctx, test_shapes[s], order, nodes);
            TEST_OK(ctx, eg_jacobian_create(ctx, test_shapes[s], order, &jacobian));
            for (int step = 0; step <= 5; step++) {
                double a = 0.25 * step;
                memcpy(x, nodes, sizeof x);
                for (int i = 0; i < np; i++)
                    x[i * info->dim] += 0.5 * a * nodes[i * info->dim] * nodes[i * info->dim];
                TEST_NEAR(eg_jacobian_least_over_mean(jacobian, x), (1.0 - a) / (1.0 + a * mean_r),
                          0.011);
            }
            eg_jacobian_destroy(&jacobian);
        }
    }
    test_context_free(&ctx);
}

/* --- meshes ----------------------------------------------------------------------------------- */

static void test_find_tangled__names_the_first_element_and_a_place_in_it(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        for (int order = 1; order <= 3; order++) {
            eg_mesh *mesh = test_box(
                ctx,
                &(eg_box_options){.shape = test_shapes[s], .cells = {3, 3, 3}, .order = order});
            const eg_shape_info *info = eg_shape_get_info(test_shapes[s]);
            int32_t element = 7, bad[] = {mesh->element_count - 1, mesh->element_count / 2};
            int32_t count = 7;
            double place[3], det;
            TEST_OK(ctx, eg_mesh_find_tangled(mesh, &element, place, &det, &count, NULL));
            assert_int_equal(element, -1);
            assert_int_equal(count, 0);
            TEST_OK(ctx, eg_mesh_check_mappings(mesh));
            for (int k = 0; k < 2; k++) { /* the whole element becomes its mirror image */
                int32_t *v = &mesh->vertices[(int64_t)bad[k] * mesh->vertex_stride];
                double centre[3];
                eg_mesh_element_centre(mesh, bad[k], centre);
                if (order == 1 && !info->tensor) {
                    int32_t swap = v[0];
                    v[0] = v[1];
                    v[1] = swap;
                } else if (order == 1) {
                    for (int i = 0; i < info->vertices; i += 2) {
                        int32_t swap = v[i];
                        v[i] = v[i + 1];
                        v[i + 1] = swap;
                    }
                } else {
                    double *x = &mesh->nodes[(int64_t)bad[k] * mesh->node_stride * mesh->dim];
                    for (int i = 0; i < mesh->node_stride; i++)
                        x[i * mesh->dim] = 2.0 * centre[0] - x[i * mesh->dim];
                }
                TEST_OK(ctx, eg_mesh_find_tangled(mesh, &element, place, &det, &count, NULL));
                assert_int_equal(element, bad[k]);
                assert_int_equal(count, k + 1);
                assert_true(det < 0.0);
                for (int d = 0; d < mesh->dim; d++)
                    assert_true(fabs(place[d] - centre[d]) < 0.34);
            }
            char name[64];
            snprintf(name, sizeof name, "element %lld (%s) is inside out or flat",
                     (long long)mesh->global[bad[1]], info->name);
            TEST_FAILS(ctx, EG_ERROR_INPUT, name, eg_mesh_check_mappings(mesh));
            eg_mesh_destroy(&mesh);
        }
    }
    test_context_free(&ctx);
}

static void test_summary__quality_does_not_depend_on_the_order_of_straight_elements(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_mesh *straight =
            test_box(ctx, &(eg_box_options){.shape = test_shapes[s], .cells = {3, 3, 3}});
        eg_mesh_summary a, b;
        uint64_t seed = 8;
        for (int64_t i = 0; i < (int64_t)straight->vertex_count * straight->dim; i++)
            straight->x[i] += 0.05 * test_random(&seed);
        TEST_OK(ctx, eg_mesh_summarise(straight, &a));
        for (int order = 2; order <= 3; order++) {
            eg_mesh *mesh = NULL;
            TEST_OK(ctx, eg_mesh_set_order(straight, order, &mesh));
            TEST_OK(ctx, eg_mesh_summarise(mesh, &b));
            TEST_NEAR(b.quality_mean, a.quality_mean, 0.011);
            TEST_NEAR(b.quality_least, a.quality_least, 0.011);
            eg_mesh_summary_free(ctx, &b);
            eg_mesh_destroy(&mesh);
        }
        eg_mesh_summary_free(ctx, &a);
        eg_mesh_destroy(&straight);
    }
    test_context_free(&ctx);
}

static eg_status check_box(eg_context *ctx, void *user)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    const eg_shape *shape = user;
    EG_TRY(eg_mesh_create_box(
        ctx, &(eg_box_options){.shape = *shape, .cells = {1, 1, 1}, .order = 2}, &mesh));
    EG_TRY(eg_mesh_check_mappings(mesh));
done:
    eg_mesh_destroy(&mesh);
    return status;
}

static void test_check_mappings__every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t s = 0; s < EG_COUNT(test_shapes); s++) {
        eg_shape shape = test_shapes[s];
        test_allocation_sweep(check_box, &shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bernstein__products_of_coefficients_are_products_of_values),
        cmocka_unit_test(test_bernstein__halves_are_the_same_polynomial_and_corners_its_values),
        cmocka_unit_test(test_jacobian__elements_positive_at_all_nodes_but_not_between_are_refused),
        cmocka_unit_test(test_jacobian__agrees_with_dense_samples_of_random_elements),
        cmocka_unit_test(test_jacobian__hexahedra_of_high_order_are_decided),
        cmocka_unit_test(test_jacobian__decides_however_near_to_zero),
        cmocka_unit_test(test_check_mappings__says_what_it_could_not_decide),
        cmocka_unit_test(test_jacobian__thin_turned_elements_are_valid_and_flat_ones_are_not),
        cmocka_unit_test(test_jacobian__flat_elements_far_away_are_refused_whatever_rounding_made),
        cmocka_unit_test(test_jacobian__nodes_that_are_not_finite_are_refused),
        cmocka_unit_test(test_jacobian__least_over_mean_is_known_of_stretched_elements),
        cmocka_unit_test(test_find_tangled__names_the_first_element_and_a_place_in_it),
        cmocka_unit_test(test_summary__quality_does_not_depend_on_the_order_of_straight_elements),
        cmocka_unit_test(test_check_mappings__every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
