/* Reference elements against what defines them: polynomials are reproduced, differentiated and
 * integrated exactly, faces match, and Gauss' theorem holds for the matrices. */
#include "test.h"

#include <math.h>

#include "base/dense.h"
#include "element/element.h"

/* What tests go through: every basis of every shape, at a few degrees. */
typedef struct kind {
    eg_shape shape;
    eg_basis basis;
    int most; /* the highest degree tried */
} kind;

static const kind kinds[] = {
    {EG_SHAPE_LINE, EG_BASIS_LOBATTO, 15},     {EG_SHAPE_LINE, EG_BASIS_GAUSS, 15},
    {EG_SHAPE_LINE, EG_BASIS_RADAU, 15},       {EG_SHAPE_LINE, EG_BASIS_CHEBYSHEV, 15},
    {EG_SHAPE_LINE, EG_BASIS_EQUIDISTANT, 15}, {EG_SHAPE_LINE, EG_BASIS_MODAL, 15},
    {EG_SHAPE_TRI, EG_BASIS_LOBATTO, 10},      {EG_SHAPE_TRI, EG_BASIS_EQUIDISTANT, 10},
    {EG_SHAPE_TRI, EG_BASIS_MODAL, 10},        {EG_SHAPE_QUAD, EG_BASIS_LOBATTO, 15},
    {EG_SHAPE_QUAD, EG_BASIS_GAUSS, 15},       {EG_SHAPE_QUAD, EG_BASIS_RADAU, 10},
    {EG_SHAPE_QUAD, EG_BASIS_CHEBYSHEV, 10},   {EG_SHAPE_QUAD, EG_BASIS_EQUIDISTANT, 15},
    {EG_SHAPE_QUAD, EG_BASIS_MODAL, 10},       {EG_SHAPE_TET, EG_BASIS_LOBATTO, 10},
    {EG_SHAPE_TET, EG_BASIS_EQUIDISTANT, 5},   {EG_SHAPE_TET, EG_BASIS_MODAL, 10},
    {EG_SHAPE_HEX, EG_BASIS_LOBATTO, 5},       {EG_SHAPE_HEX, EG_BASIS_GAUSS, 5},
    {EG_SHAPE_HEX, EG_BASIS_RADAU, 2},         {EG_SHAPE_HEX, EG_BASIS_CHEBYSHEV, 2},
    {EG_SHAPE_HEX, EG_BASIS_EQUIDISTANT, 2},   {EG_SHAPE_HEX, EG_BASIS_MODAL, 5},
};
static const int degrees[] = {0, 1, 2, 5, 10, 15};

typedef void element_test(eg_context *ctx, const eg_element *e);

static void for_each_element(element_test *test)
{
    for (size_t k = 0; k < EG_COUNT(kinds); k++)
        for (size_t d = 0; d < EG_COUNT(degrees) && degrees[d] <= kinds[k].most; d++) {
            eg_context *ctx = test_context();
            eg_element *e = NULL;
            TEST_OK(ctx, eg_element_create(ctx, kinds[k].shape, degrees[d], kinds[k].basis, &e));
            test(ctx, e);
            eg_element_destroy(&e);
            test_context_free(&ctx);
        }
}

/* Fails with the element's name if `error` is not below `bound`. Equidistant nodes amplify rounding. */
static void expect_small(const eg_element *e, const char *what, double error, double bound)
{
    if (e->basis == EG_BASIS_EQUIDISTANT) bound *= 1.0 + exp2(e->degree - 4);
    if (!(error < bound))
        fail_msg("%s of degree %d, basis %s: %s: %g, not below %g",
                 eg_shape_get_info(e->shape)->name, e->degree, eg_basis_name(e->basis), what, error,
                 bound);
}

static double *allocate(size_t count)
{
    double *block = malloc((count ? count : 1) * sizeof *block);
    assert_non_null(block);
    for (size_t i = 0; i < count; i++)
        block[i] = NAN;
    return block;
}

/* max |a - b|, NaN if there is one */
static double distance(const double *a, const double *b, size_t count)
{
    double worst = 0.0;
    for (size_t i = 0; i < count; i++) {
        double d = fabs(a[i] - b[i]);
        if (!(d <= worst)) worst = d;
    }
    return worst;
}

static double largest(const double *a, size_t count)
{
    double worst = 0.0;
    for (size_t i = 0; i < count; i++)
        worst = fmax(worst, fabs(a[i]));
    return worst;
}

/* max |a - identity| */
static double distance_to_identity(const double *a, int n)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double d = fabs(a[(size_t)i * (size_t)n + (size_t)j] - (i == j));
            if (!(d <= worst)) worst = d;
        }
    return worst;
}

/* A polynomial of the element's full degree with values of size 1: a power of a linear function on
 * simplices, a product of powers on tensor shapes. Many directions c span all polynomials. */
static double polynomial(const eg_element *e, const double c[4], const double *r, double *gradient)
{
    double value = 1.0, sum = c[3];
    const int n = e->degree;
    if (!eg_shape_get_info(e->shape)->tensor) {
        for (int d = 0; d < e->dim; d++)
            sum += c[d] * r[d];
        for (int d = 0; d < e->dim; d++)
            gradient[d] = n ? n * c[d] * pow(sum, n - 1) : 0.0;
        return pow(sum, n);
    }
    for (int d = 0; d < e->dim; d++) {
        gradient[d] = 1.0;
        for (int k = 0; k < e->dim; k++) {
            double base = 0.5 * (r[k] + c[k]);
            gradient[d] *= k != d ? pow(base, n) : n ? 0.5 * n * pow(base, n - 1) : 0.0;
        }
        value *= pow(0.5 * (r[d] + c[d]), n);
    }
    return value;
}

static void random_direction(const eg_element *e, uint64_t *seed, double c[4])
{
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        c[i] = test_random(seed);
        if (i < e->dim || i == 3) sum += fabs(c[i]);
    }
    if (!eg_shape_get_info(e->shape)->tensor)
        for (int i = 0; i < 4; i++)
            c[i] /= sum;
}

/* Points inside and, first, all vertices: [dim][POINTS]. */
#define POINTS 24

static void fill_points(const eg_element *e, double *points)
{
    const eg_shape_info *info = eg_shape_get_info(e->shape);
    uint64_t seed = 5;
    for (int i = 0; i < POINTS; i++) {
        double weight[EG_MAX_VERTICES], sum = 0.0;
        for (int v = 0; v < info->vertices; v++) {
            weight[v] = i < info->vertices ? (double)(i == v) : 1.0 + test_random(&seed);
            sum += weight[v];
        }
        for (int d = 0; d < e->dim; d++) {
            points[d * POINTS + i] = 0.0;
            for (int v = 0; v < info->vertices; v++)
                points[d * POINTS + i] += weight[v] / sum * info->r[v][d];
        }
    }
}

/* The polynomial in the element's basis: its values at the nodes, or its projection. */
static void set_polynomial(eg_context *ctx, const eg_element *e, const double c[4], double *u)
{
    double unused[3];
    eg_cubature *cubature = NULL;
    if (e->basis != EG_BASIS_MODAL) {
        for (int i = 0; i < e->np; i++) {
            double r[3] = {0};
            for (int d = 0; d < e->dim; d++)
                r[d] = e->r[d * e->np + i];
            u[i] = polynomial(e, c, r, unused);
        }
        return;
    }
    TEST_OK(ctx, eg_cubature_create(ctx, e->shape, 2 * e->degree, EG_CUBATURE_BEST, &cubature));
    double *projection = allocate((size_t)e->np * (size_t)cubature->count);
    double *values = allocate((size_t)cubature->count);
    for (int q = 0; q < cubature->count; q++) {
        double r[3] = {0};
        for (int d = 0; d < e->dim; d++)
            r[d] = cubature->r[d * cubature->count + q];
        values[q] = polynomial(e, c, r, unused);
    }
    TEST_OK(ctx, eg_element_project(e, cubature, projection));
    eg_dense_multiply(e->np, cubature->count, 1, projection, values, u);
    free(values);
    free(projection);
    eg_cubature_destroy(&cubature);
}

/* --- values and derivatives ---------------------------------------------------------------------- */

static void check_polynomials(eg_context *ctx, const eg_element *e)
{
    double points[3 * POINTS];
    const size_t np = (size_t)e->np;
    double *at = allocate(POINTS * np), *slope = allocate(3 * POINTS * np);
    double *u = allocate(np), *du = allocate(np);
    fill_points(e, points);
    TEST_OK(ctx, eg_element_evaluate(e, POINTS, points, at));
    TEST_OK(ctx, eg_element_differentiate(e, POINTS, points, slope));
    uint64_t seed = 11;
    for (int trial = 0; trial < 6; trial++) {
        double c[4], value[POINTS], gradient[3][POINTS];
        random_direction(e, &seed, c);
        set_polynomial(ctx, e, c, u);
        eg_dense_multiply(POINTS, e->np, 1, at, u, value);
        for (int d = 0; d < e->dim; d++)
            eg_dense_multiply(POINTS, e->np, 1, slope + (size_t)d * POINTS * np, u, gradient[d]);
        for (int i = 0; i < POINTS; i++) {
            double r[3] = {0}, exact_gradient[3];
            for (int d = 0; d < e->dim; d++)
                r[d] = points[d * POINTS + i];
            double exact = polynomial(e, c, r, exact_gradient);
            expect_small(e, "error of a value", fabs(value[i] - exact), 2e-13);
            for (int d = 0; d < e->dim; d++)
                expect_small(e, "error of a derivative", fabs(gradient[d][i] - exact_gradient[d]),
                             1e-12 * (1 + e->degree * e->degree));
        }
        /* D gives the derivative in the same basis: at the points again. */
        for (int d = 0; d < e->dim; d++) {
            double again[POINTS];
            eg_dense_multiply(e->np, e->np, 1, e->D + (size_t)d * np * np, u, du);
            eg_dense_multiply(POINTS, e->np, 1, at, du, again);
            expect_small(e, "error of D", distance(again, gradient[d], POINTS),
                         1e-12 * (1 + e->degree * e->degree));
        }
    }
    free(du);
    free(u);
    free(slope);
    free(at);
}

static void test_element__polynomials_are_reproduced_and_differentiated_exactly(void **state)
{
    (void)state;
    for_each_element(check_polynomials);
}

static void check_nodes(eg_context *ctx, const eg_element *e)
{
    const size_t np = (size_t)e->np;
    double *a = allocate(np * np);
    if (e->basis == EG_BASIS_MODAL) {
        assert_null(e->r);
        assert_true(distance_to_identity(e->V, e->np) == 0.0);
    } else {
        TEST_OK(ctx, eg_element_evaluate(e, e->np, e->r, a));
        bool tensor = eg_shape_get_info(e->shape)->tensor;
        expect_small(e, "basis at nodes", distance_to_identity(a, e->np), tensor ? 1e-300 : 1e-13);
        /* Constants have no derivative. */
        for (size_t row = 0; row < (size_t)e->dim * np; row++) {
            double sum = 0.0, size = 0.0;
            for (size_t j = 0; j < np; j++) {
                sum += e->D[row * np + j];
                size = fmax(size, fabs(e->D[row * np + j]));
            }
            expect_small(e, "derivative of 1", fabs(sum), 1e-14 * (size + 1));
        }
    }
    eg_dense_multiply(e->np, e->np, e->np, e->V, e->V_inverse, a);
    expect_small(e, "V V⁻¹", distance_to_identity(a, e->np), 1e-12);
    free(a);
}

static void test_element__the_basis_is_1_at_its_node_and_0_at_the_others(void **state)
{
    (void)state;
    for_each_element(check_nodes);
}

/* --- integrals ------------------------------------------------------------------------------------ */

static void check_integrals(eg_context *ctx, const eg_element *e)
{
    eg_cubature *c = NULL;
    const eg_shape_info *info = eg_shape_get_info(e->shape);
    const size_t np = (size_t)e->np;
    TEST_OK(ctx, eg_cubature_create(ctx, e->shape, 2 * e->degree,
                                    info->tensor ? EG_CUBATURE_BEST : EG_CUBATURE_COLLAPSED, &c));
    const size_t nq = (size_t)c->count;
    double *at = allocate(nq * np), *weighted = allocate(np * nq), *mass = allocate(np * np);
    TEST_OK(ctx, eg_element_evaluate(e, c->count, c->r, at));
    eg_dense_transpose(c->count, e->np, at, weighted);
    for (size_t i = 0; i < np; i++) {
        double integral = 0.0;
        for (size_t q = 0; q < nq; q++)
            integral += weighted[i * nq + q] *= c->w[q];
        expect_small(e, "error of a weight", fabs(integral - e->weights[i]), 1e-13);
    }
    eg_dense_multiply(e->np, c->count, e->np, weighted, at, mass);
    expect_small(e, "error of the mass matrix", distance(mass, e->mass, np * np),
                 1e-13 * (1 + largest(e->mass, np * np)));
    if (e->basis == EG_BASIS_MODAL) {
        expect_small(e, "modes that are not orthonormal", distance_to_identity(mass, e->np), 3e-14);
        assert_true(distance_to_identity(e->mass, e->np) == 0.0);
    }
    eg_dense_multiply(e->np, e->np, e->np, e->mass, e->mass_inverse, mass);
    expect_small(e, "M M⁻¹", distance_to_identity(mass, e->np),
                 1e-14 * (1 + largest(e->mass_inverse, np * np)));

    /* Projection is exact for what the element holds: P I = identity. */
    TEST_OK(ctx, eg_element_project(e, c, weighted));
    eg_dense_multiply(e->np, c->count, e->np, weighted, at, mass);
    expect_small(e, "projection of the basis", distance_to_identity(mass, e->np), 1e-12);
    free(mass);
    free(weighted);
    free(at);
    eg_cubature_destroy(&c);
}

static void test_element__mass_weights_and_projection_are_what_cubature_says(void **state)
{
    (void)state;
    for_each_element(check_integrals);
}

static void test_element__weights_of_quadrature_nodes_are_those_of_the_quadrature(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    for (int degree = 1; degree <= EG_DEGREE_MAX_QUAD; degree++) {
        double x[16], w[16];
        eg_element *e = NULL;
        TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_LINE, degree, EG_BASIS_LOBATTO, &e));
        TEST_OK(ctx, eg_gauss_lobatto(ctx, degree + 1, x, w));
        assert_true(distance(x, e->r, (size_t)degree + 1) == 0.0);
        assert_true(distance(w, e->weights, (size_t)degree + 1) < 1e-14);
        eg_element_destroy(&e);
        TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_LINE, degree, EG_BASIS_GAUSS, &e));
        TEST_OK(ctx, eg_gauss_legendre(ctx, degree + 1, x, w));
        assert_true(distance(x, e->r, (size_t)degree + 1) == 0.0);
        assert_true(distance(w, e->weights, (size_t)degree + 1) < 1e-14);
        eg_element_destroy(&e);
    }
    test_context_free(&ctx);
}

static void test_element__bare_ones_have_the_same_nodes_and_values(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_shape shapes[] = {EG_SHAPE_LINE, EG_SHAPE_TRI, EG_SHAPE_QUAD, EG_SHAPE_TET,
                               EG_SHAPE_HEX};
    for (size_t s = 0; s < EG_COUNT(shapes); s++) {
        eg_element *e = NULL, *bare = NULL;
        double points[3 * 2] = {-0.3, -0.8, -0.9, -0.2, -0.6, -0.7}, a[3 * 2 * 125], b[3 * 2 * 125];
        TEST_OK(ctx, eg_element_create(ctx, shapes[s], 4, EG_BASIS_LOBATTO, &e));
        TEST_OK(ctx, eg_element_create_bare(ctx, shapes[s], 4, EG_BASIS_LOBATTO, &bare));
        const size_t np = (size_t)e->np, dim = (size_t)e->dim;
        assert_memory_equal(bare->r, e->r, dim * np * sizeof *e->r);
        assert_memory_equal(bare->face_node, e->face_node,
                            (size_t)(e->faces * e->face_np) * sizeof *e->face_node);
        TEST_OK(ctx, eg_element_evaluate(e, 2, points, a));
        TEST_OK(ctx, eg_element_evaluate(bare, 2, points, b));
        assert_memory_equal(b, a, 2 * np * sizeof *a);
        TEST_OK(ctx, eg_element_differentiate(e, 2, points, a));
        TEST_OK(ctx, eg_element_differentiate(bare, 2, points, b));
        assert_memory_equal(b, a, dim * 2 * np * sizeof *a);
        eg_element_destroy(&bare);
        eg_element_destroy(&e);
    }
    test_context_free(&ctx);
}

/* --- faces ------------------------------------------------------------------------------------------ */

/* Outward normal, as long as the face in the element is over its own reference shape. */
static void face_normal(const eg_element *e, int face, double n[3])
{
    const eg_shape_info *info = eg_shape_get_info(e->shape);
    const double *a = info->r[info->face[face][0]];
    n[0] = n[1] = n[2] = 0.0;
    if (e->dim == 1) {
        n[0] = a[0];
        return;
    }
    const double *b = info->r[info->face[face][1]];
    const double *c = info->r[info->face[face][info->face_vertices - 1]];
    if (e->dim == 2) {
        n[0] = (b[1] - a[1]) / 2;
        n[1] = -(b[0] - a[0]) / 2;
        return;
    }
    for (int d = 0; d < 3; d++) {
        int i = (d + 1) % 3, j = (d + 2) % 3;
        n[d] = ((b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i])) / 4;
    }
}

/* ∫ φ_i ∂φ_j + ∫ ∂φ_i φ_j = ∮ φ_i φ_j n: D and M inside, interpolation, lift and the face element's mass
 * outside. */
static void check_gauss_theorem(eg_context *ctx, const eg_element *e)
{
    (void)ctx;
    const size_t np = (size_t)e->np, nf = (size_t)e->face_np;
    double *stiffness = allocate(np * np), *sum = allocate(np * np), *edge = allocate(np * np);
    double *one_lift = allocate(np * nf), *load = allocate(np * nf),
           *load_again = allocate(np * nf);
    double *transposed = allocate(np * nf);
    const double point_mass = 1.0;
    for (int d = 0; d < e->dim; d++) {
        eg_dense_multiply(e->np, e->np, e->np, e->mass, e->D + (size_t)d * np * np, stiffness);
        for (size_t i = 0; i < np; i++)
            for (size_t j = 0; j < np; j++)
                sum[i * np + j] = stiffness[i * np + j] + stiffness[j * np + i];
        for (int f = 0; f < e->faces; f++) {
            double n[3];
            face_normal(e, f, n);
            const double *interp = e->face_interp + (size_t)f * nf * np;
            for (size_t i = 0; i < np; i++)
                memcpy(one_lift + i * nf, e->lift + (i * (size_t)e->faces + (size_t)f) * nf,
                       nf * sizeof *one_lift);
            eg_dense_multiply(e->np, e->np, e->face_np, e->mass, one_lift, load);
            eg_dense_transpose(e->face_np, e->np, interp, transposed);
            eg_dense_multiply(e->np, e->face_np, e->face_np, transposed,
                              e->face ? e->face->mass : &point_mass, load_again);
            /* Of what is summed, which nearly cancels where nodes are equidistant. */
            const double summed = largest(e->mass, np * np) * largest(one_lift, np * nf);
            expect_small(e, "lift", distance(load, load_again, np * nf),
                         1e-12 * (1 + largest(load, np * nf)) + 1e-15 * summed);
            eg_dense_multiply(e->np, e->face_np, e->np, load, interp, edge);
            for (size_t i = 0; i < np * np; i++)
                sum[i] -= n[d] * edge[i];
        }
        expect_small(e, "Gauss' theorem", largest(sum, np * np),
                     1e-13 * (1 + largest(stiffness, np * np)));
    }
    free(transposed);
    free(load_again);
    free(load);
    free(one_lift);
    free(edge);
    free(sum);
    free(stiffness);
}

static void test_element__gauss_theorem_holds_for_the_matrices(void **state)
{
    (void)state;
    for_each_element(check_gauss_theorem);
}

static void check_lift_of_one(eg_context *ctx, const eg_element *e)
{
    (void)ctx;
    const eg_shape_info *info = eg_shape_get_info(e->shape);
    double measure = e->dim > 1 ? eg_shape_get_info(info->face_shape)->volume : 1.0;
    for (int f = 0; f < e->faces; f++) {
        double integral = 0.0; /* ∫ lift of 1 over the element = ∫ of 1 over the face */
        for (int i = 0; i < e->np; i++)
            for (int j = 0; j < e->face_np; j++)
                integral += e->weights[i] * e->lift[(i * e->faces + f) * e->face_np + j];
        expect_small(e, "integral of a lifted 1", fabs(integral - measure), 1e-12);
    }
}

static void test_element__a_lifted_constant_has_the_integral_of_the_face(void **state)
{
    (void)state;
    for_each_element(check_lift_of_one);
}

static void check_faces(eg_context *ctx, const eg_element *e)
{
    const size_t np = (size_t)e->np, nf = (size_t)e->face_np;
    double *points = allocate((size_t)e->dim * nf), *at = allocate(nf * np);
    bool on_faces =
        e->degree > 0 && (e->basis == EG_BASIS_LOBATTO || e->basis == EG_BASIS_CHEBYSHEV ||
                          e->basis == EG_BASIS_EQUIDISTANT);
    assert_true(on_faces == (e->face_node != NULL));
    if (e->dim == 1) {
        assert_null(e->face);
        assert_int_equal(e->face_np, 1);
    } else {
        assert_int_equal(e->face->np, e->face_np);
        assert_true(distance(e->face->r, e->face_r, (size_t)(e->dim - 1) * nf) == 0.0);
    }
    for (int f = 0; f < e->faces; f++) {
        eg_shape_face_points(e->shape, f, e->face_np, e->face_r, points);
        TEST_OK(ctx, eg_element_evaluate(e, e->face_np, points, at));
        expect_small(e, "face interpolation",
                     distance(at, e->face_interp + (size_t)f * nf * np, nf * np), 1e-12);
        for (size_t i = 0; i < nf && e->face_node; i++)
            for (int d = 0; d < e->dim; d++) {
                int node = e->face_node[(size_t)f * nf + i];
                double r = e->r[d * e->np + node], s = points[(size_t)d * nf + i];
                expect_small(e, "a face point from its node", fabs(r - s), 1e-15);
                /* Where a face fixes a coordinate the nodes lie on it exactly. */
                if (s == -1.0 || s == 1.0) assert_true(r == s);
            }
    }
    free(at);
    free(points);
}

static void test_element__face_points_are_where_the_nodes_and_interpolation_say(void **state)
{
    (void)state;
    for_each_element(check_faces);
}

/* A neighbour that sees the face in any orientation has its points in the same places. */
static void check_face_symmetry(eg_context *ctx, const eg_element *e)
{
    (void)ctx;
    if (e->dim == 1) return;
    const eg_shape face = eg_shape_get_info(e->shape)->face_shape;
    const size_t nf = (size_t)e->face_np, dim = (size_t)e->dim - 1;
    double *moved = allocate(dim * nf);
    for (int o = 0; o < eg_orientation_count(face); o++) {
        eg_orientation_points(face, o, e->face_np, e->face_r, moved);
        for (size_t i = 0; i < nf; i++) {
            double nearest = INFINITY;
            for (size_t j = 0; j < nf; j++) {
                double d = 0.0;
                for (size_t k = 0; k < dim; k++)
                    d = fmax(d, fabs(moved[k * nf + i] - e->face_r[k * nf + j]));
                nearest = fmin(nearest, d);
            }
            expect_small(e, "a face point of the other side", nearest, 1e-15);
        }
    }
    free(moved);
}

static void test_element__face_points_coincide_in_every_orientation(void **state)
{
    (void)state;
    for_each_element(check_face_symmetry);
}

/* --- transfer --------------------------------------------------------------------------------------- */

static void test_transfer__up_and_down_again_is_the_identity_and_keeps_the_mean(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const struct {
        eg_shape shape;
        int low, high;
        eg_basis from, to;
    } cases[] = {
        {EG_SHAPE_LINE, 3, 15, EG_BASIS_LOBATTO, EG_BASIS_GAUSS},
        {EG_SHAPE_TRI, 4, 9, EG_BASIS_LOBATTO, EG_BASIS_LOBATTO},
        {EG_SHAPE_TRI, 0, 3, EG_BASIS_EQUIDISTANT, EG_BASIS_MODAL},
        {EG_SHAPE_QUAD, 2, 11, EG_BASIS_RADAU, EG_BASIS_LOBATTO},
        {EG_SHAPE_QUAD, 3, 3, EG_BASIS_GAUSS, EG_BASIS_LOBATTO},
        {EG_SHAPE_TET, 2, 6, EG_BASIS_MODAL, EG_BASIS_LOBATTO},
        {EG_SHAPE_HEX, 1, 4, EG_BASIS_LOBATTO, EG_BASIS_MODAL},
    };
    for (size_t k = 0; k < EG_COUNT(cases); k++) {
        eg_element *low = NULL, *high = NULL;
        TEST_OK(ctx, eg_element_create(ctx, cases[k].shape, cases[k].low, cases[k].from, &low));
        TEST_OK(ctx, eg_element_create(ctx, cases[k].shape, cases[k].high, cases[k].to, &high));
        const size_t n = (size_t)low->np, m = (size_t)high->np;
        double *up = allocate(m * n), *down = allocate(n * m), *both = allocate(n * n);
        TEST_OK(ctx, eg_element_transfer(low, high, up));
        TEST_OK(ctx, eg_element_transfer(high, low, down));
        eg_dense_multiply(low->np, high->np, low->np, down, up, both);
        assert_true(distance_to_identity(both, low->np) < 1e-13);

        uint64_t seed = k + 1;
        double *u = allocate(m), *v = allocate(n), before = 0.0, after = 0.0;
        for (size_t i = 0; i < m; i++)
            u[i] = test_random(&seed);
        eg_dense_multiply(low->np, high->np, 1, down, u, v);
        for (size_t i = 0; i < m; i++)
            before += high->weights[i] * u[i];
        for (size_t i = 0; i < n; i++)
            after += low->weights[i] * v[i];
        assert_true(fabs(before - after) < 1e-13);

        /* Up is exact: the same polynomial at any point. */
        double points[3 * POINTS], *at = allocate(POINTS * m), *at_low = allocate(POINTS * n);
        double *through = allocate(POINTS * n);
        fill_points(low, points);
        TEST_OK(ctx, eg_element_evaluate(high, POINTS, points, at));
        TEST_OK(ctx, eg_element_evaluate(low, POINTS, points, at_low));
        eg_dense_multiply(POINTS, high->np, low->np, at, up, through);
        assert_true(distance(through, at_low, POINTS * n) < 1e-12);

        /* Down is orthogonal: what it leaves out has no part in the lower space,
         * M_low down = ∫ φ_low φ_high = upᵀ M_high. */
        double *left = allocate(n * m), *right = allocate(n * m), *upt = allocate(n * m);
        eg_dense_multiply(low->np, low->np, high->np, low->mass, down, left);
        eg_dense_transpose(high->np, low->np, up, upt);
        eg_dense_multiply(low->np, high->np, high->np, upt, high->mass, right);
        assert_true(distance(left, right, n * m) < 1e-13);
        double *blocks[] = {up, down, both, u, v, at, at_low, through, left, right, upt};
        for (size_t i = 0; i < EG_COUNT(blocks); i++)
            free(blocks[i]);
        eg_element_destroy(&high);
        eg_element_destroy(&low);
    }
    test_context_free(&ctx);
}

/* --- the rest ------------------------------------------------------------------------------------------ */

static void test_modes__of_a_simplex_are_numbered_by_degree(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    const eg_shape shapes[] = {EG_SHAPE_TRI, EG_SHAPE_TET};
    for (size_t s = 0; s < EG_COUNT(shapes); s++) {
        /* The modes of degree 3 are the first ones of degree 6. */
        eg_element *low = NULL, *high = NULL;
        double points[3 * POINTS];
        TEST_OK(ctx, eg_element_create(ctx, shapes[s], 3, EG_BASIS_MODAL, &low));
        TEST_OK(ctx, eg_element_create(ctx, shapes[s], 6, EG_BASIS_MODAL, &high));
        double *a = allocate(POINTS * (size_t)low->np), *b = allocate(POINTS * (size_t)high->np);
        fill_points(low, points);
        TEST_OK(ctx, eg_element_evaluate(low, POINTS, points, a));
        TEST_OK(ctx, eg_element_evaluate(high, POINTS, points, b));
        for (int i = 0; i < POINTS; i++)
            for (int j = 0; j < low->np; j++)
                assert_true(fabs(a[i * low->np + j] - b[i * high->np + j]) < 1e-14);
        free(b);
        free(a);
        eg_element_destroy(&high);
        eg_element_destroy(&low);
    }
    test_context_free(&ctx);
}

static void test_tensor_elements__matrices_are_products_of_the_lines(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_element *e = NULL;
    TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_HEX, 3, EG_BASIS_CHEBYSHEV, &e));
    const int n = 4;
    assert_int_equal(e->line->np, n);
    for (int i = 0; i < e->np; i++)
        for (int j = 0; j < e->np; j++) {
            const int a[3] = {i % n, i / n % n, i / n / n}, b[3] = {j % n, j / n % n, j / n / n};
            double mass = 1.0,
                   Ds = a[0] == b[0] && a[2] == b[2] ? e->line->D[a[1] * n + b[1]] : 0.0;
            for (int d = 0; d < 3; d++)
                mass *= e->line->mass[a[d] * n + b[d]];
            assert_true(fabs(e->mass[i * e->np + j] - mass) < 1e-16);
            assert_true(e->D[(e->np + i) * e->np + j] == Ds);
        }
    eg_element_destroy(&e);
    test_context_free(&ctx);
}

static void test_element__the_largest_ones_are_accurate(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_element *e = NULL;
    TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_HEX, EG_DEGREE_MAX, EG_BASIS_LOBATTO, &e));
    assert_int_equal(e->np, 1331);
    check_polynomials(ctx, e);
    check_lift_of_one(ctx, e);
    check_faces(ctx, e);
    eg_element_destroy(&e);
    test_context_free(&ctx);
}

static void test_element__refuses_what_does_not_exist(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_element *e = NULL, *tri = NULL, *quad = NULL;
    eg_cubature *c = NULL;
    double out[64];
    TEST_FAILS(ctx, EG_ERROR_INPUT, "a triangle has degrees 0 to 10, not 11",
               eg_element_create(ctx, EG_SHAPE_TRI, 11, EG_BASIS_LOBATTO, &e));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "a quadrilateral has degrees 0 to 15, not 16",
               eg_element_create(ctx, EG_SHAPE_QUAD, 16, EG_BASIS_GAUSS, &e));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "not -1",
               eg_element_create(ctx, EG_SHAPE_LINE, -1, EG_BASIS_MODAL, &e));
    TEST_FAILS(ctx, EG_ERROR_INPUT, "\"gauss\" does not exist on a tetrahedron",
               eg_element_create(ctx, EG_SHAPE_TET, 2, EG_BASIS_GAUSS, &e));
    assert_null(e);
    eg_element_destroy(&e);
    TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_TRI, 1, EG_BASIS_LOBATTO, &tri));
    TEST_OK(ctx, eg_element_create(ctx, EG_SHAPE_QUAD, 1, EG_BASIS_LOBATTO, &quad));
    TEST_OK(ctx, eg_cubature_create(ctx, EG_SHAPE_QUAD, 1, EG_CUBATURE_BEST, &c));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "values of a quadrilateral cannot go to a triangle",
               eg_element_transfer(quad, tri, out));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "cubature of a quadrilateral",
               eg_element_project(tri, c, out));
    eg_cubature_destroy(&c);
    eg_element_destroy(&quad);
    eg_element_destroy(&tri);
    test_context_free(&ctx);
}

static eg_status use_element(eg_context *ctx, void *user)
{
    const kind *k = user;
    eg_status status = EG_OK;
    eg_element *e = NULL, *higher = NULL;
    eg_cubature *c = NULL;
    const double point[3] = {-0.5, -0.5, -0.5};
    double out[3 * 64];
    EG_TRY(eg_element_create(ctx, k->shape, k->most, k->basis, &e));
    EG_TRY(eg_element_create(ctx, k->shape, k->most + 1, k->basis, &higher));
    EG_TRY(eg_cubature_create(ctx, k->shape, 1, EG_CUBATURE_BEST, &c));
    EG_TRY(eg_element_evaluate(e, 1, point, out));
    EG_TRY(eg_element_differentiate(e, 1, point, out));
    EG_TRY(eg_element_project(e, c, out));
    EG_TRY(eg_element_transfer(e, higher, out));
done:
    eg_cubature_destroy(&c);
    eg_element_destroy(&higher);
    eg_element_destroy(&e);
    return status;
}

static void test_element__survives_any_failed_allocation(void **state)
{
    (void)state;
    kind few[] = {{EG_SHAPE_LINE, EG_BASIS_GAUSS, 2},
                  {EG_SHAPE_TRI, EG_BASIS_MODAL, 1},
                  {EG_SHAPE_QUAD, EG_BASIS_RADAU, 1},
                  {EG_SHAPE_TET, EG_BASIS_LOBATTO, 1}};
    for (size_t k = 0; k < EG_COUNT(few); k++)
        test_allocation_sweep(use_element, &few[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_element__polynomials_are_reproduced_and_differentiated_exactly),
        cmocka_unit_test(test_element__the_basis_is_1_at_its_node_and_0_at_the_others),
        cmocka_unit_test(test_element__mass_weights_and_projection_are_what_cubature_says),
        cmocka_unit_test(test_element__bare_ones_have_the_same_nodes_and_values),
        cmocka_unit_test(test_element__weights_of_quadrature_nodes_are_those_of_the_quadrature),
        cmocka_unit_test(test_element__gauss_theorem_holds_for_the_matrices),
        cmocka_unit_test(test_element__a_lifted_constant_has_the_integral_of_the_face),
        cmocka_unit_test(test_element__face_points_are_where_the_nodes_and_interpolation_say),
        cmocka_unit_test(test_element__face_points_coincide_in_every_orientation),
        cmocka_unit_test(test_transfer__up_and_down_again_is_the_identity_and_keeps_the_mean),
        cmocka_unit_test(test_modes__of_a_simplex_are_numbered_by_degree),
        cmocka_unit_test(test_tensor_elements__matrices_are_products_of_the_lines),
        cmocka_unit_test(test_element__the_largest_ones_are_accurate),
        cmocka_unit_test(test_element__refuses_what_does_not_exist),
        cmocka_unit_test(test_element__survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
