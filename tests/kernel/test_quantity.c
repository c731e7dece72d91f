/* Quantities on every device: closed forms, a plain loop on the host, the divergence theorem, NaN,
 * padding, batches. */
#include "kernel/quantities.h"

#include "field/quantity_part.h"

static void assert_result(const eg_quantity_result *r, double integral, double l2, double least,
                          double most, double bound)
{
    assert_near(r->integral, integral, bound, "integral", 0);
    assert_near(r->l2, l2, bound, "l2", 0);
    assert_near(r->least, least, bound, "least", 0);
    assert_near(r->most, most, bound, "most", 0);
}

/* --- closed forms ----------------------------------------------------------------------------- */

/* On the unit box, for one element, a few, and more than a tile: a = x of one field; b = 1 - 3 y
 * and c = 2 - x of another, of the other precision. */
static void closed_form_body(eg_device *device, eg_type real)
{
    static const char *const x[] = {"x"}, *const others[] = {"1 - 3 * y", "2 - x"};
    static const char *const texts[] = {"a * b", "t * c - z", "a - c < -1 ? -1 : 1", "3"};
    static const char *const on_right[] = {"a * b", "nx + 5 * ny + 7 * nz", "t * c", "x * y - y"};
    static const int cells[][3] = {{1, 1, 1}, {7, 1, 1}, {11, 3, 1}};
    const double bound = 60 * epsilon(EG_F32), exact = 60 * epsilon(EG_F64);
    if (is_second_thread(device)) return;
    eg_device_keep_kernels(device, true); /* many spaces need the same */
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (size_t n = real == EG_F64 ? 0 : 2; n < EG_COUNT(cells); n++) {
            eg_box_options o = box_options(all_shapes[s], cells[n][0], cells[n][1], cells[n][2], 0);
            const bool solid = eg_shape_get_info(o.shape)->dim == 3;
            now_at(device, real, "%s %d", eg_shape_get_info(o.shape)->name, cells[n][0]);
            box b = box_new(device, &o, EG_BASIS_LOBATTO, 2);
            eg_field *first = field_new(b.space, real, 1, x);
            eg_field *second = field_new(b.space, real == EG_F64 ? EG_F32 : EG_F64, 2, others);
            const eg_field *const fields[] = {first, second};
            const int right = eg_mesh_find_boundary(b.mesh, "right");
            eg_quantity_result r[4];
            eg_quantity_options options = {.fields = fields, .field_count = 2};

            measure_once(&options, 4, 4, texts, r);
            /* ∫ x (1 - 3 y); ∫ x² (1 - 3 y)² = 1/3. */
            assert_result(&r[0], -0.25, sqrt(1 / 3.0), -2, 1, bound);
            assert_near(r[0].measure, 1, exact, "measure", 0);
            /* 4 (2 - x) - z */
            assert_result(&r[1], solid ? 5.5 : 6, sqrt(solid ? 31.666666666666666 : 112 / 3.0),
                          solid ? 3 : 4, 8, 4 * bound);
            assert_near(r[1].l1, r[1].integral, bound, "l1", 1);
            assert_true(r[2].least == -1 && r[2].most == 1);
            assert_near(r[2].l1, 1, exact, "l1", 2);
            assert_result(&r[3], 3, 3, 3, 3, exact);

            options.boundaries = &right;
            options.boundary_count = 1;
            measure_once(&options, 4, 4, on_right, r);
            assert_result(&r[0], -0.5, 1, r[0].least, r[0].most, bound);
            assert_true(r[0].least > -2 && r[0].least < -1.5 && r[0].most > 0.5 && r[0].most < 1);
            assert_near(r[0].measure, 1, exact, "measure of a side", 0);
            assert_result(&r[1], 1, 1, 1, 1, exact);
            assert_result(&r[2], 4, 4, 4, 4, 4 * bound);
            assert_result(&r[3], 0, 0, 0, 0, exact);
            eg_field_destroy(&second);
            eg_field_destroy(&first);
            box_free(&b);
        }
    eg_device_keep_kernels(device, false);
}

static void test_quantity__has_closed_forms_on_a_box(void **state)
{
    (void)state;
    on_every_device(closed_form_body);
}

/* A mesh of tests/data/gmsh with a space on it. */
static box read_mesh(eg_device *device, const char *name, eg_basis basis, int degree)
{
    eg_context *ctx = eg_device_context(device);
    char path[PATH_MAX];
    box b = {0};
    snprintf(path, sizeof path, "%s/tests/data/gmsh/%s.msh", EG_TEST_SOURCE_DIR, name);
    TEST_OK(ctx, eg_comm_self(ctx, &b.comm));
    TEST_OK(ctx, eg_mesh_read_gmsh(ctx, path, NULL, &b.mesh));
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){.basis = basis, .degree = degree}, &b.space));
    return b;
}

/* The errors of a disc's area and circumference, and of the mean of its normal's radial part. */
static void disc_errors(eg_device *device, const char *name, double errors[3])
{
    static const char *const one[] = {"1"}, *const radial[] = {
                                                "(nx * x + ny * y) / sqrt(x^2 + y^2)"};
    const int wall = 0;
    box b = read_mesh(device, name, EG_BASIS_LOBATTO, 1);
    eg_field *field = field_new(b.space, EG_F64, 1, one);
    const eg_field *const fields[] = {field};
    eg_quantity_options options = {.fields = fields, .field_count = 1};
    eg_quantity_result r;
    measure_once(&options, 0, 1, one, &r);
    errors[0] = fabs(r.integral - PI);
    options.boundaries = &wall;
    options.boundary_count = 1;
    options.degree = 30;
    measure_once(&options, 0, 1, radial, &r);
    errors[1] = fabs(r.measure - 2 * PI);
    errors[2] = fabs(r.integral / r.measure - 1);
    eg_field_destroy(&field);
    box_free(&b);
}

/* Nodes on a circle, elements of half the size: with mappings of degree q these shrink at least
 * like h^(q + 1), and with even q the area like h^(q + 2). */
static void test_quantity__area_and_circumference_of_a_disc_converge(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    for (int order = 1; order <= 4; order++) {
        double coarse[3], fine[3];
        char name[40];
        snprintf(name, sizeof name, "disc-%d-coarse", order);
        disc_errors(device, name, coarse);
        snprintf(name, sizeof name, "disc-%d-fine", order);
        disc_errors(device, name, fine);
        for (int i = 0; i < 3; i++) {
            const double least = i == 2 ? 2 * order : order % 2 ? order + 1 : order + 2;
            if (!(log2(coarse[i] / fine[i]) > least - 0.3))
                fail_msg("order %d, error %d: %.3g becomes %.3g", order, i, coarse[i], fine[i]);
        }
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- a plain loop ----------------------------------------------------------------------------- */

/* What is measured, on the host: the fields' values, and the sums. */
typedef struct host {
    const eg_space *space;
    const double *values; /* [element][components][np] of the only field */
    int components;
    const eg_expression *expression;
    double t;
    eg_quantity_result sums; /* of q, |q|, q², 1 */
} host;

/* The inverse of a, b[k][d] = ∂r_k/∂x_d; returns the determinant. */
static double invert(int dim, double a[3][3], double b[3][3])
{
    const double det = determinant(dim, a);
    for (int k = 0; k < dim; k++)
        for (int d = 0; d < dim; d++) {
            const int k1 = (k + 1) % 3, k2 = (k + 2) % 3, d1 = (d + 1) % 3, d2 = (d + 2) % 3;
            b[k][d] = dim == 2 ? ((k + d) % 2 ? -1 : 1) * a[1 - d][1 - k] / det
                               : (a[d1][k1] * a[d2][k2] - a[d1][k2] * a[d2][k1]) / det;
        }
    return det;
}

/* The outward normal of a face in the reference element, as long as the face is larger than its own
 * reference shape. */
static void reference_normal(eg_shape shape, int face, double normal[3])
{
    static const double steps[] = {0, 1, 0, 0, 0, 1};
    const int dim = eg_shape_get_info(shape)->dim;
    double r[9], t[2][3] = {{0}, {0, 0, 1}};
    eg_shape_face_points(shape, face, 3, steps, r);
    for (int a = 0; a + 1 < dim; a++)
        for (int d = 0; d < dim; d++)
            t[a][d] = r[3 * d + a + 1] - r[3 * d];
    for (int d = 0; d < 3; d++)
        normal[d] = t[0][(d + 1) % 3] * t[1][(d + 2) % 3] - t[0][(d + 2) % 3] * t[1][(d + 1) % 3];
}

/* Adds the point r of an element, or of one of its faces (-1: none), with weight w (0: counts for
 * the extremes alone). */
static void add_point(host *h, int32_t element, int face, const double *r, double w)
{
    const eg_group *g = &h->space->groups[0];
    const eg_element *e = g->element;
    const int dim = e->dim, np = e->np;
    double a[3][3], inverse[3][3], variables[VARIABLES_MOST] = {0};
    double *phi = new_values((size_t)np), *slopes = new_values((size_t)(dim * np));
    map_point(h->space->mesh, g->geometry, element, r, a, variables);
    double measure = invert(dim, a, inverse);
    variables[EG_VARIABLE_T] = h->t;
    if (face >=
        0) { /* n dS is J times the transposed inverse times that of the reference element */
        double of_reference[3], n[3] = {0}, length = 0;
        reference_normal(g->shape, face, of_reference);
        for (int d = 0; d < dim; d++) {
            for (int k = 0; k < dim; k++)
                n[d] += measure * inverse[k][d] * of_reference[k];
            length += n[d] * n[d];
        }
        measure = sqrt(length);
        for (int d = 0; d < dim; d++)
            variables[EG_QUANTITY_NX + d] = n[d] / measure;
    }
    TEST_OK(h->space->ctx, eg_element_evaluate(e, 1, r, phi));
    TEST_OK(h->space->ctx, eg_element_differentiate(e, 1, r, slopes));
    for (int c = 0; c < h->components; c++) {
        const double *u = h->values + ((int64_t)element * h->components + c) * np;
        for (int i = 0; i < np; i++) {
            variables[EG_QUANTITY_FIELDS + c] += phi[i] * u[i];
            for (int d = 0; d < dim; d++)
                for (int k = 0; k < dim; k++)
                    variables[eg_quantity_derivative(h->components, c, d)] +=
                        inverse[k][d] * slopes[k * np + i] * u[i];
        }
    }
    const double q = eg_expression_evaluate(h->expression, variables);
    h->sums.integral += w * measure * q;
    h->sums.l1 += w * measure * fabs(q);
    h->sums.l2 += w * measure * q * q;
    h->sums.measure += w * measure;
    h->sums.least = fmin(h->sums.least, q);
    h->sums.most = fmax(h->sums.most, q);
    free(slopes);
    free(phi);
}

static void add_rule(host *h, int32_t element, int face, int count, const double *r,
                     const double *w)
{
    const int dim = h->space->mesh->dim;
    for (int q = 0; q < count; q++) {
        double at[3] = {0};
        for (int d = 0; d < dim; d++)
            at[d] = r[d * count + q];
        add_point(h, element, face, at, w ? w[q] : 0);
    }
}

/* Over the domain, or over a boundary (-1: none), by cubature of this degree. */
static eg_quantity_result measure_on_host(host *h, int boundary, int degree)
{
    const eg_mesh *mesh = h->space->mesh;
    const eg_group *g = &h->space->groups[0];
    const eg_shape_info *info = eg_shape_get_info(g->shape);
    const eg_shape shape = boundary < 0 ? g->shape : info->face_shape;
    eg_cubature *rule = NULL;
    eg_element *nodal = NULL;
    h->sums = (eg_quantity_result){.least = INFINITY, .most = -INFINITY};
    TEST_OK(mesh->ctx, eg_cubature_create(mesh->ctx, shape, degree, EG_CUBATURE_BEST, &rule));
    if (!g->element->r)
        TEST_OK(mesh->ctx,
                eg_element_create(mesh->ctx, g->shape, g->degree, EG_BASIS_LOBATTO, &nodal));
    double *r = new_values((size_t)(3 * rule->count));
    for (int32_t e = 0; e < mesh->element_count; e++) {
        for (int f = 0; f < info->faces; f++) {
            if (boundary < 0 || mesh->neighbour[e * mesh->face_stride + f] != -1 - boundary)
                continue;
            eg_shape_face_points(g->shape, f, rule->count, rule->r, r);
            add_rule(h, e, f, rule->count, r, rule->w);
        }
        if (boundary < 0) {
            add_rule(h, e, -1, rule->count, rule->r, rule->w);
            add_rule(h, e, -1, g->element->np, nodal ? nodal->r : g->element->r, NULL);
        }
    }
    h->sums.l2 = sqrt(h->sums.l2);
    free(r);
    eg_element_destroy(&nodal);
    eg_cubature_destroy(&rule);
    return h->sums;
}

static void assert_same(const eg_quantity_result *r, const eg_quantity_result *expected,
                        double bound)
{
    assert_near(r->integral, expected->integral, bound * expected->l1, "integral", 0);
    assert_near(r->l1, expected->l1, bound * expected->l1, "l1", 0);
    assert_near(r->l2, expected->l2, bound * expected->l2, "l2", 0);
    const double range = fmax(fabs(expected->least), fabs(expected->most));
    assert_near(r->least, expected->least, bound * range, "least", 0);
    assert_near(r->most, expected->most, bound * range, "most", 0);
    assert_near(r->measure, expected->measure, bound * expected->measure, "measure", 0);
}

/* Random values of two components; everything that an expression can use. */
static void check_loop(eg_device *device, eg_type real, eg_shape shape, eg_basis basis, int order)
{
    static const char *const text[] = {
        "a * (1 + nx - 2 * ny + 3 * nz) + x * b_y - t * y * a_x + b_z * a - z * b + a_y * b_x"};
    enum { DEGREE = 3, RULE = 5 };
    const bool solid = eg_shape_get_info(shape)->dim == 3;
    eg_box_options o = box_options(shape, solid ? 2 : 5, 2, 1, order);
    box b = box_new(device, &o, basis, DEGREE);
    eg_context *ctx = b.space->ctx;
    eg_field *field = NULL;
    uint64_t seed = 11;
    TEST_OK(ctx, eg_field_create(b.space, 2, real, &field));
    double *values = new_values(eg_field_host_count(field));
    for (size_t i = 0; i < eg_field_host_count(field); i++)
        values[i] = rounded(real, test_random(&seed));
    TEST_OK(ctx, eg_field_from_host(field, values));
    eg_expression *e = quantity_expression(ctx, 2, text[0]);
    host h = {.space = b.space, .values = values, .components = 2, .expression = e, .t = 0.7};
    const eg_field *const fields[] = {field};
    for (int boundary = -1; boundary < 3; boundary += 3) {
        eg_quantity_options options = {.fields = fields, .field_count = 1, .degree = RULE};
        eg_quantity_result r;
        now_at(device, real, "%s %s order %d boundary %d", eg_basis_name(basis),
               eg_shape_get_info(shape)->name, order, boundary);
        options.boundaries = boundary < 0 ? NULL : &boundary;
        options.boundary_count = boundary >= 0;
        const eg_quantity_result expected = measure_on_host(&h, boundary, RULE);
        measure_once(&options, 0.7, 1, text, &r);
        assert_same(&r, &expected, 1e-12);
    }
    eg_expression_destroy(&e);
    free(values);
    eg_field_destroy(&field);
    box_free(&b);
}

static void loop_body(eg_device *device, eg_type real)
{
    if (is_second_thread(device)) return;
    eg_device_keep_kernels(device, true);
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        for (int basis = 0; basis < EG_BASIS_COUNT; basis++)
            if (is_tried(all_shapes[s], (eg_basis)basis) &&
                (real == EG_F64 || basis == EG_BASIS_LOBATTO)) /* differs only at the start */
                check_loop(device, real, all_shapes[s], (eg_basis)basis, 2);
        if (real == EG_F64) check_loop(device, real, all_shapes[s], EG_BASIS_LOBATTO, 0);
    }
    eg_device_keep_kernels(device, false);
}

static void test_quantity__is_what_a_plain_loop_finds(void **state)
{
    (void)state;
    on_every_device(loop_body);
}

/* Of a box: in the plane the first four. */
static const int all_boundaries[] = {0, 1, 2, 3, 4, 5};

/* --- derivatives and the divergence theorem --------------------------------------------------- */

/* Coordinates lie in the space also on curved elements, so that their derivatives are 1 and 0. */
static void slopes_body(eg_device *device, eg_type real)
{
    static const char *const field_texts[] = {"x + 2 * y", "x * x - y"};
    static const char *const texts[] = {"a_x", "a_y", "b_x - 2 * x", "b_y", "a_z + b_z"};
    static const double expected[] = {1, 2, 0, -1, 0};
    if (real != EG_F64 || is_second_thread(device)) return;
    eg_device_keep_kernels(device, true);
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (int modal = 0; modal < 2; modal++) {
            const eg_basis basis = modal ? EG_BASIS_MODAL : EG_BASIS_LOBATTO;
            const bool solid = eg_shape_get_info(all_shapes[s])->dim == 3;
            eg_box_options o = box_options(all_shapes[s], 3, 2, 1, 2);
            box b = box_new(device, &o, basis, 4);
            eg_field *field = field_new(b.space, real, 2, field_texts);
            const eg_field *const fields[] = {field};
            for (int on_faces = 0; on_faces < 2; on_faces++) {
                eg_quantity_options options = {.fields = fields, .field_count = 1};
                eg_quantity_result r[EG_COUNT(texts)];
                now_at(device, real, "%s %s on faces %d", eg_basis_name(basis),
                       eg_shape_get_info(o.shape)->name, on_faces);
                options.boundaries = on_faces ? all_boundaries : NULL;
                options.boundary_count = b.mesh->boundary_count;
                measure_once(&options, 0, EG_COUNT(texts), texts, r);
                for (size_t i = 0; i < EG_COUNT(texts); i++) {
                    const double bound = solid ? 1e-10 : 1e-11;
                    assert_near(r[i].least, expected[i], bound, "least", i);
                    assert_near(r[i].most, expected[i], bound, "most", i);
                }
            }
            eg_field_destroy(&field);
            box_free(&b);
        }
    eg_device_keep_kernels(device, false);
}

static void test_quantity__derivatives_of_coordinates_are_exact_on_curved_elements(void **state)
{
    (void)state;
    on_every_device(slopes_body);
}

/* ∫ F·n over all boundaries is ∫ div F to rounding: for polynomials of x, y, z, and for fields that
 * are continuous. */
static void divergence_body(eg_device *device, eg_type real)
{
    static const char *const field_texts[] = {"sin(3 * x + y)", "exp(x - y * z)",
                                              "cos(2 * x * y + z)"};
    static const char *const flux[] = {"nx * x * x * y + ny * (x * y - z) + nz * z * z * x",
                                       "a * nx + b * ny + c * nz"};
    static const char *const divergence[] = {"2 * x * y + x + 2 * z * x", "a_x + b_y + c_z"};
    if (real != EG_F64 || is_second_thread(device)) return;
    eg_device_keep_kernels(device, true);
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        const int dim = eg_shape_get_info(all_shapes[s])->dim;
        eg_box_options o = box_options(all_shapes[s], 3, 2, 2, 2);
        now_at(device, real, "%s", eg_shape_get_info(o.shape)->name);
        box b = box_new(device, &o, EG_BASIS_LOBATTO, 3);
        eg_function *function = function_new(b.space, 3, field_texts);
        eg_field *field = NULL;
        TEST_OK(b.space->ctx, eg_field_create(b.space, 3, real, &field));
        TEST_OK(b.space->ctx, eg_function_interpolate(function, 0, field));
        const eg_field *const fields[] = {field};
        eg_quantity_options options = {.fields = fields, .field_count = 1, .degree = 14};
        eg_quantity_result inside[2], outside[2];
        measure_once(&options, 0, 2, divergence, inside);
        options.boundaries = all_boundaries;
        options.boundary_count = 2 * dim;
        measure_once(&options, 0, 2, flux, outside);
        for (int i = 0; i < 2; i++) {
            assert_true(fabs(inside[i].integral) > 0.1);
            assert_near(outside[i].integral, inside[i].integral, 2e-13, "∫ F·n", (size_t)i);
        }
        eg_field_destroy(&field);
        eg_function_destroy(&function);
        box_free(&b);
    }
    eg_device_keep_kernels(device, false);
}

static void test_quantity__flux_through_the_boundary_is_the_integral_of_the_divergence(void **state)
{
    (void)state;
    on_every_device(divergence_body);
}

/* --- groups ----------------------------------------------------------------------------------- */

/* The degrees 1, 2, 3 in turn, on triangles and quadrilaterals of two squares side by side. */
static void mixed_body(eg_device *device, eg_type real)
{
    static const char *const field_texts[] = {"x - 3 * y"};
    static const char *const texts[] = {"a", "a * a", "a_x"}, *const flux[] = {"a", "nx"};
    if (is_second_thread(device)) return;
    box b = read_mesh(device, "mixed", EG_BASIS_LOBATTO, 1);
    eg_context *ctx = b.space->ctx;
    uint8_t *degrees = malloc((size_t)b.mesh->element_count);
    assert_non_null(degrees);
    for (int32_t e = 0; e < b.mesh->element_count; e++)
        degrees[e] = (uint8_t)(1 + e % 3);
    eg_space_destroy(&b.space);
    TEST_OK(ctx, eg_space_create(device, b.comm, b.mesh,
                                 &(eg_space_options){.basis = EG_BASIS_LOBATTO, .degrees = degrees},
                                 &b.space));
    assert_int_equal(b.space->group_count, 6);
    eg_field *field = field_new(b.space, real, 1, field_texts);
    const eg_field *const fields[] = {field};
    const double bound = 100 * epsilon(real);
    eg_quantity_options options = {.fields = fields, .field_count = 1};
    eg_quantity_result r[3];
    measure_once(&options, 0, 3, texts, r);
    assert_result(&r[0], -1, sqrt(8 / 3.0), -3, 2, bound); /* ∫ (x - 3 y)² on [0, 2] × [0, 1] */
    assert_near(r[1].integral, 8 / 3.0, bound, "∫ a²", 1);
    assert_near(r[1].least, 0, 1, "least", 1);
    assert_result(&r[2], 2, sqrt(2), 1, 1, 20 * bound);
    assert_near(r[0].measure, 2, 1e-14, "measure", 0);

    const int sides[] = {eg_mesh_find_boundary(b.mesh, "right"),
                         eg_mesh_find_boundary(b.mesh, "sides"),
                         eg_mesh_find_boundary(b.mesh, "right")};
    options.boundaries = sides;
    options.boundary_count = 3; /* one of them twice, which changes nothing */
    measure_once(&options, 0, 2, flux, r);
    assert_near(r[0].integral, 2 - 6 + 2 + 2 - 1.5, bound, "∫ a on sides", 0);
    assert_near(r[1].integral, 1, 1e-14, "∫ nx on sides", 0);
    assert_near(r[0].measure, 5, 1e-14, "measure of sides", 0);
    free(degrees);
    eg_field_destroy(&field);
    box_free(&b);
}

static void test_quantity__joins_shapes_and_degrees(void **state)
{
    (void)state;
    on_every_device(mixed_body);
}

/* Two groups of elements, and their shares in a boundary. */
static void test_quantity__can_be_of_some_groups_of_elements(void **state)
{
    (void)state;
    static const char *const field_texts[] = {"x"}, *const texts[] = {"a"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    box b = read_mesh(device, "mixed", EG_BASIS_LOBATTO, 1);
    eg_field *field = field_new(b.space, EG_F64, 1, field_texts);
    const eg_field *const fields[] = {field};
    const int sides = eg_mesh_find_boundary(b.mesh, "sides"), both[] = {0, 1};
    assert_int_equal(b.mesh->group_count, 2);
    for (int group = 0; group < 2; group++) {
        const bool first = !strcmp(b.mesh->group[group], "triangles");
        eg_quantity_options options = {
            .fields = fields, .field_count = 1, .groups = &group, .group_count = 1};
        eg_quantity_result r;
        measure_once(&options, 0, 1, texts, &r);
        assert_result(&r, first ? 0.5 : 1.5, sqrt(first ? 1 / 3.0 : 7 / 3.0), first ? 0 : 1,
                      first ? 1 : 2, 1e-14);
        assert_near(r.measure, 1, 1e-14, "measure", 0);
        options.boundaries = &sides;
        options.boundary_count = 1;
        measure_once(&options, 0, 1, texts, &r);
        assert_near(r.integral, first ? 1 : 3, 1e-14, "∫ a on sides", 0);
        assert_near(r.measure, 2, 1e-14, "measure of sides", 0);
        options.groups = both;
        options.group_count = 2;
        measure_once(&options, 0, 1, texts, &r);
        assert_near(r.measure, 4, 1e-14, "measure of all sides", 0);
    }
    eg_field_destroy(&field);
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* Faces elsewhere are in no list. */
static void test_quantity__only_elements_at_its_boundaries_are_gathered(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_box_options o = box_options(EG_SHAPE_HEX, 5, 4, 3, 0);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 1);
    eg_field *field = NULL;
    TEST_OK(ctx, eg_field_create(b.space, 1, EG_F64, &field));
    const eg_field *const fields[] = {field};
    const int boundaries[] = {eg_mesh_find_boundary(b.mesh, "left"),
                              eg_mesh_find_boundary(b.mesh, "front")};
    for (int i = 0; i < 2; i++) {
        eg_part *parts = NULL;
        int count = 0;
        TEST_OK(ctx, eg_parts_create(&(eg_quantity_options){.fields = fields,
                                                            .field_count = 1,
                                                            .boundaries = &boundaries[i],
                                                            .boundary_count = 1},
                                     &parts, &count));
        assert_int_equal(count, 1); /* all hexahedra of a box lie the same way */
        assert_int_equal(parts[0].count, i == 0 ? 4 * 3 : 5 * 4);
        assert_true(parts[0].face >= 0 && !parts[0].nodes.points);
        eg_parts_destroy(b.space, &parts, count);
    }
    eg_field_destroy(&field);
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- NaN and padding -------------------------------------------------------------------------- */

static bool is_nan(const eg_quantity_result *r)
{
    return isnan(r->integral) && isnan(r->l1) && isnan(r->l2) && isnan(r->least) && isnan(r->most);
}

static void nan_body(eg_device *device, eg_type real)
{
    static const char *const field_texts[] = {"1 + x", "2 - y"};
    static const char *const texts[] = {"a", "b", "a + b_x", "max(a, b) > 0 ? 1 : 2"};
    eg_box_options o = box_options(EG_SHAPE_TRI, 3, 3, 1, 2);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 2);
    eg_field *field = field_new(b.space, real, 2, field_texts);
    const eg_field *const fields[] = {field};
    const eg_group *g = &b.space->groups[0];
    const int np = g->element->np, lanes = g->lanes;
    const uint64_t nan = UINT64_MAX;
    eg_context *ctx = b.space->ctx;
    const int32_t bad = 7; /* the element that is spoilt */
    const int64_t bad_slot = b.space->slot_of_element[bad] - g->first_slot;
    int boundary = -1;
    for (int f = 0; f < 3; f++)
        if (b.mesh->neighbour[bad * b.mesh->face_stride + f] < 0)
            boundary = -1 - b.mesh->neighbour[bad * b.mesh->face_stride + f];
    assert_true(boundary >= 0); /* it lies at one */
    eg_quantity_options options = {.fields = fields, .field_count = 1};
    eg_quantity *inside = quantity_new(options, 4, texts);
    options.boundaries = &boundary;
    options.boundary_count = 1;
    eg_quantity *outside = quantity_new(options, 4, texts);
    eg_quantity_result clean[2][4], r[2][4];
    TEST_OK(ctx, eg_quantity_measure(inside, 0, fields, clean[0]));
    TEST_OK(ctx, eg_quantity_measure(outside, 0, fields, clean[1]));

    /* What stands in padding does not matter. */
    size_t padding = 0;
    for (int64_t slot = 0; slot < g->tiles * lanes; slot++) {
        if (b.space->slot_of_element[g->element_of_slot[slot]] == g->first_slot + slot) continue;
        padding++;
        for (int i = 0; i < 2 * np; i++) {
            int64_t at = (slot / lanes * 2 * np + i) * lanes + slot % lanes;
            TEST_OK(ctx, eg_buffer_fill(field->data, field->offset[0] + (size_t)at, 1, &nan));
        }
    }
    assert_true(padding > 0);
    TEST_OK(ctx, eg_quantity_measure(inside, 0, fields, r[0]));
    TEST_OK(ctx, eg_quantity_measure(outside, 0, fields, r[1]));
    assert_memory_equal(r, clean, sizeof r);

    /* One value of one component of one element does, wherever that component is used. */
    const int64_t at = (bad_slot / lanes * 2 * np + np + 1) * lanes + bad_slot % lanes;
    TEST_OK(ctx, eg_buffer_fill(field->data, field->offset[0] + (size_t)at, 1, &nan));
    TEST_OK(ctx, eg_quantity_measure(inside, 0, fields, r[0]));
    TEST_OK(ctx, eg_quantity_measure(outside, 0, fields, r[1]));
    for (int i = 0; i < 2; i++) {
        assert_memory_equal(&r[i][0], &clean[i][0], sizeof r[i][0]);
        assert_true(is_nan(&r[i][1]) && r[i][1].measure == clean[i][1].measure);
        assert_true(is_nan(&r[i][2]));
    }
    eg_quantity_destroy(&outside);
    eg_quantity_destroy(&inside);
    eg_field_destroy(&field);
    box_free(&b);
}

static void test_quantity__nan_shows_but_not_from_padding(void **state)
{
    (void)state;
    on_every_device(nan_body);
}

/* Extremes are taken over the cubature and over the nodes: a hump between nodes counts, and so does
 * what is at a node alone, also of modal bases. Infinite values are no NaN. */
static void places_body(eg_device *device, eg_type real)
{
    static const char *const zero[] = {"0"};
    static const char *const texts[] = {"a + 4 * x * (1 - x)", "x < 1e-9 ? -3 : 1",
                                        "x < 1e-9 ? log(x - 1) : 1", "1 / max(x - 1e-9, 0)",
                                        "exp(800 * x) * 1e300"};
    for (int s = 0; s < 2; s++)
        for (int modal = 0; modal < 2; modal++) {
            eg_box_options o = box_options(all_shapes[s], 1, 1, 1, 0);
            box b = box_new(device, &o, modal ? EG_BASIS_MODAL : EG_BASIS_LOBATTO, 1);
            eg_field *field = field_new(b.space, real, 1, zero);
            const eg_field *const fields[] = {field};
            eg_quantity_options options = {.fields = fields, .field_count = 1};
            eg_quantity_result r[5];
            measure_once(&options, 0, 5, texts, r);
            assert_true(r[0].most > 0.85 && r[0].most <= 1 && fabs(r[0].least) < 1e-14);
            assert_true(r[1].least == -3 && r[1].most == 1);
            assert_near(r[1].integral, 1, 1e-14, "integral", 1);
            assert_true(is_nan(&r[2]) && r[2].measure > 0.99);
            assert_true(r[3].most == INFINITY && r[3].integral > 1 && r[3].integral < 100);
            assert_near(r[3].least, 1, 1e-8, "least", 3);
            assert_true(r[4].most == INFINITY && r[4].integral == INFINITY && r[4].least > 0.9e300);
            eg_field_destroy(&field);
            box_free(&b);
        }
}

static void test_quantity__extremes_see_cubature_and_nodes(void **state)
{
    (void)state;
    on_every_device(places_body);
}

/* --- batches ---------------------------------------------------------------------------------- */

/* So many points that they do not fit into one batch; the same bits each time, and no memory. */
static void test_quantity__batches_add_up(void **state)
{
    (void)state;
    static const char *const field_texts[] = {"x * y * z", "x + y"};
    static const char *const texts[] = {"a", "a_x * b", "b"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:2", &device));
    for (int order = 0; order <= 1; order++) {
        eg_box_options o = box_options(EG_SHAPE_HEX, 16, 16, 16, 0);
        o.order = order;
        o.perturb = order ? 0.1 : 0;
        box b = box_new(device, &o, EG_BASIS_GAUSS, 3);
        eg_field *field = field_new(b.space, EG_F32, 2, field_texts);
        const eg_field *const fields[] = {field};
        const int top = eg_mesh_find_boundary(b.mesh, "top");
        eg_quantity_options options = {.fields = fields, .field_count = 1};
        eg_quantity *inside = quantity_new(options, 3, texts);
        options.boundaries = &top;
        options.boundary_count = 1;
        eg_quantity *outside = quantity_new(options, 3, texts);
        eg_quantity_result r[2][3], again[2][3];
        TEST_OK(ctx, eg_quantity_measure(inside, 0, fields, r[0]));
        TEST_OK(ctx, eg_quantity_measure(outside, 0, fields, r[1]));
        assert_near(r[0][0].integral, 0.125, 1e-8, "∫ xyz", 0);
        assert_near(r[0][1].integral, 0.125 + 1 / 6.0, 1e-6, "∫ yz (x + y)", 0);
        assert_near(r[1][0].integral, 0.25, 1e-8, "∫ xz", 0);
        assert_near(r[1][1].integral, 0.75, 1e-6, "∫ z (x + 1)", 0);
        assert_result(&r[0][2], 1, sqrt(7 / 6.0), 0, 2, 0.01); /* no node is at a corner */
        assert_near(r[0][0].measure, 1, 1e-13, "measure", 0);
        const long calls = test_memory.calls;
        TEST_OK(ctx, eg_quantity_measure(inside, 0, fields, again[0]));
        TEST_OK(ctx, eg_quantity_measure(outside, 0, fields, again[1]));
        assert_memory_equal(r, again, sizeof r);
        assert_int_equal(test_memory.calls, calls);
        eg_quantity_destroy(&outside);
        eg_quantity_destroy(&inside);
        eg_field_destroy(&field);
        box_free(&b);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- what fails ------------------------------------------------------------------------------- */

static void test_quantity__says_what_is_wrong(void **state)
{
    (void)state;
    static const char *const text[] = {"a"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_box_options o = box_options(EG_SHAPE_QUAD, 2, 1, 1, 0);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 1),
        other = box_new(device, &o, EG_BASIS_LOBATTO, 1);
    eg_field *field = NULL, *single = NULL, *wide = NULL, *elsewhere = NULL;
    TEST_OK(ctx, eg_field_create(b.space, 1, EG_F64, &field));
    TEST_OK(ctx, eg_field_create(b.space, 1, EG_F32, &single));
    TEST_OK(ctx, eg_field_create(b.space, 2, EG_F64, &wide));
    TEST_OK(ctx, eg_field_create(other.space, 1, EG_F64, &elsewhere));
    eg_expression *e = quantity_expression(ctx, 1, text[0]);
    const eg_expression *const expressions[] = {e};
    const eg_field *const fields[] = {field, elsewhere};
    const int none[] = {4}, group = 0;
    const eg_quantity_options good = {
        .fields = fields, .field_count = 1, .expressions = expressions, .count = 1};
    eg_quantity *quantity = NULL;
    eg_quantity_options options = good;
    options.count = 0;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "0 quantities", eg_quantity_create(&options, &quantity));
    options = good;
    options.field_count = 2;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "field 1 of a quantity lives on another space",
               eg_quantity_create(&options, &quantity));
    options = good;
    options.boundaries = none;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "quantities on 0 boundaries",
               eg_quantity_create(&options, &quantity));
    options.boundary_count = 1;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "there is no boundary 4: the mesh has 4",
               eg_quantity_create(&options, &quantity));
    options = good;
    options.groups = &group;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "quantities of 0 groups",
               eg_quantity_create(&options, &quantity));
    options.group_count = 1;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "there is no group of elements 0: the mesh has 0",
               eg_quantity_create(&options, &quantity));
    options = good;
    options.degree = -1;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "cubature is at least 0, not -1",
               eg_quantity_create(&options, &quantity));
    assert_null(quantity);

    eg_quantity_result r;
    TEST_OK(ctx, eg_quantity_create(&good, &quantity));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "another space",
               eg_quantity_measure(quantity, 0, (const eg_field *const[]){elsewhere}, &r));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "2 components instead of 1",
               eg_quantity_measure(quantity, 0, (const eg_field *const[]){wide}, &r));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "of type f32 instead of f64",
               eg_quantity_measure(quantity, 0, (const eg_field *const[]){single}, &r));
    eg_quantity_destroy(&quantity);
    eg_quantity_destroy(&quantity); /* of nothing */
    eg_expression_destroy(&e);
    eg_field_destroy(&elsewhere);
    eg_field_destroy(&wide);
    eg_field_destroy(&single);
    eg_field_destroy(&field);
    box_free(&other);
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* On a boundary if `user` is one. */
static eg_status create_and_use(eg_space *space, void *user)
{
    const eg_symbol symbols[] = {{"x", EG_VARIABLE_X, 0},
                                 {"nx", EG_QUANTITY_NX, 0},
                                 {"a_x", eg_quantity_derivative(1, 0, 0), 0}};
    eg_expression *e = NULL;
    eg_field *field = NULL;
    eg_quantity *quantity = NULL;
    eg_quantity_result r;
    const double zero = 0;
    eg_status status = EG_OK;
    EG_TRY(eg_expression_create(space->ctx, "a_x + x * nx", symbols, EG_COUNT(symbols), NULL, &e));
    EG_TRY(eg_field_create(space, 1, user ? EG_F32 : EG_F64, &field));
    EG_TRY(eg_buffer_fill(field->data, 0, eg_buffer_count(field->data), &zero));
    const eg_field *const fields[] = {field};
    const eg_expression *const expressions[] = {e};
    EG_TRY(eg_quantity_create(&(eg_quantity_options){.fields = fields,
                                                     .field_count = 1,
                                                     .expressions = expressions,
                                                     .count = 1,
                                                     .boundaries = user,
                                                     .boundary_count = user != NULL},
                              &quantity));
    EG_TRY(eg_quantity_measure(quantity, 0, fields, &r));
done:
    eg_quantity_destroy(&quantity);
    eg_field_destroy(&field);
    eg_expression_destroy(&e);
    return status;
}

static void test_quantity__survives_every_failed_allocation(void **state)
{
    (void)state;
    eg_box_options straight = box_options(EG_SHAPE_QUAD, 2, 1, 1, 0);
    eg_box_options curved = box_options(EG_SHAPE_QUAD, 2, 1, 1, 2);
    int boundary = 2;
    box_allocation_sweep(&straight, create_and_use, NULL);
    box_allocation_sweep(&curved, create_and_use, &boundary);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_quantity__has_closed_forms_on_a_box),
        cmocka_unit_test(test_quantity__area_and_circumference_of_a_disc_converge),
        KERNEL_TEST(test_quantity__is_what_a_plain_loop_finds),
        KERNEL_TEST(test_quantity__derivatives_of_coordinates_are_exact_on_curved_elements),
        KERNEL_TEST(test_quantity__flux_through_the_boundary_is_the_integral_of_the_divergence),
        KERNEL_TEST(test_quantity__joins_shapes_and_degrees),
        cmocka_unit_test(test_quantity__can_be_of_some_groups_of_elements),
        cmocka_unit_test(test_quantity__only_elements_at_its_boundaries_are_gathered),
        KERNEL_TEST(test_quantity__nan_shows_but_not_from_padding),
        KERNEL_TEST(test_quantity__extremes_see_cubature_and_nodes),
        cmocka_unit_test(test_quantity__batches_add_up),
        cmocka_unit_test(test_quantity__says_what_is_wrong),
        cmocka_unit_test(test_quantity__survives_every_failed_allocation),
    };
    set_pocl_optimises(false); /* others do, see devices.h */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
