/* Values at points on every device: polynomials come back wherever they are read, and points are
 * found in the elements that hold them. */
#include "kernel/boxes.h"

#include "field/probe.h"
#include "field/space.h"

enum { COMPONENTS = 2 };

/* --- points ----------------------------------------------------------------------------------- */

/* A point of the reference element: inside, on a face, or a vertex. */
static void reference_point(eg_shape shape, int kind, uint64_t *seed, double r[3])
{
    const eg_shape_info *info = eg_shape_get_info(shape);
    const int some = (int)floor(0.5 * (1 + test_random(seed)) * 1000);
    const int8_t *face = info->face[some % info->faces];
    double weight[EG_MAX_VERTICES] = {0}, sum = 0;
    if (kind == 0)
        for (int v = 0; v < info->vertices; v++)
            weight[v] = 0.5 * (1 + test_random(seed));
    for (int i = 0; kind == 1 && i < info->face_vertices; i++)
        weight[face[i]] = 0.5 * (1 + test_random(seed));
    if (kind == 2) weight[some % info->vertices] = 1;
    for (int v = 0; v < info->vertices; v++)
        sum += weight[v];
    for (int d = 0; d < 3; d++) {
        r[d] = 0;
        for (int v = 0; v < info->vertices; v++)
            r[d] += weight[v] / sum * info->r[v][d];
    }
}

/* Points of random elements: x [count][dim]; release with free(). Every third is on a face,
 * every third a vertex. */
static double *points_new(const eg_space *space, int count, uint64_t *seed)
{
    const eg_mesh *mesh = space->mesh;
    double *x = new_values((size_t)(count * mesh->dim));
    for (int i = 0; i < count; i++) {
        const double at = 0.5 * (1 + test_random(seed)) * mesh->element_count;
        const int32_t e = (int32_t)floor(at);
        double r[3], a[3][3];
        reference_point((eg_shape)mesh->shape[e], i % 3, seed, r);
        map_point(mesh, eg_space_group_of(space, e)->geometry, e, r, a, x + i * mesh->dim);
    }
    return x;
}

/* True if x is far from an element: by more than its size from all its nodes. */
static bool is_far(const eg_element *geometry, const double *nodes, const double *x)
{
    const int dim = geometry->dim;
    for (int d = 0; d < dim; d++) {
        double low = nodes[d], high = nodes[d];
        for (int i = 1; i < geometry->np; i++) {
            low = fmin(low, nodes[i * dim + d]);
            high = fmax(high, nodes[i * dim + d]);
        }
        const double size = high - low;
        if (x[d] < low - size || x[d] > high + size) return true;
    }
    return false;
}

/* The element that a point belongs to, by a look at all. */
static int64_t holder(const eg_space *space, const double *x)
{
    const eg_mesh *mesh = space->mesh;
    int64_t least = -1;
    double nodes[3 * 216], r[3];
    for (int32_t e = 0; e < mesh->element_count; e++) {
        const eg_element *geometry = eg_space_group_of(space, e)->geometry;
        if (least >= 0 && mesh->global[e] > least) continue;
        assert_true(geometry->np <= 216);
        eg_mesh_element_nodes(mesh, e, nodes);
        if (!is_far(geometry, nodes, x) && eg_map_invert(geometry, nodes, x, r) &&
            eg_shape_outside((eg_shape)mesh->shape[e], r) <= 1e-10)
            least = mesh->global[e];
    }
    return least;
}

/* --- polynomials ------------------------------------------------------------------------------ */

/* Two polynomials of a total degree, as texts and on the host. */
static void write_polynomials(int degree, int dim, char texts[COMPONENTS][160])
{
    snprintf(texts[0], 160, "1 + pow(0.3 * x - 0.5 * y + %s + 0.1, %d)", dim == 3 ? "0.2 * z" : "0",
             degree);
    snprintf(texts[1], 160, "pow(0.6 - 0.4 * x - 0.2 * y, %d) - %s", degree,
             dim == 3 && degree > 0 ? "z" : "0");
}

static double polynomial(int c, int degree, int dim, const double *x)
{
    const double z = dim == 3 ? x[2] : 0;
    if (c == 0) return 1 + pow(0.3 * x[0] - 0.5 * x[1] + 0.2 * z + 0.1, degree);
    return pow(0.6 - 0.4 * x[0] - 0.2 * x[1], degree) - (degree > 0 ? z : 0);
}

/* A field of the space that is a polynomial. */
static eg_field *polynomial_field(eg_space *space, eg_type type, int degree)
{
    char texts[COMPONENTS][160];
    const char *const list[COMPONENTS] = {texts[0], texts[1]};
    eg_field *field = NULL;
    write_polynomials(degree, space->mesh->dim, texts);
    eg_function *function = function_new(space, COMPONENTS, list);
    TEST_OK(space->ctx, eg_field_create(space, COMPONENTS, type, &field));
    TEST_OK(space->ctx, eg_function_interpolate(function, 0, field));
    eg_function_destroy(&function);
    return field;
}

/* Reads a polynomial at random points; places are checked by a look at all elements. */
static void check_polynomial(eg_space *space, eg_type real, int degree, uint64_t *seed)
{
    enum { POINTS = 30 };
    const int dim = space->mesh->dim;
    eg_field *field = polynomial_field(space, real, degree);
    double *x = points_new(space, POINTS, seed), values[POINTS * COMPONENTS];
    eg_probe *probe = NULL;
    TEST_OK(space->ctx, eg_probe_create(space, POINTS, x, NULL, &probe));
    TEST_OK(space->ctx, eg_probe_read(probe, field, values));
    for (int i = 0; i < POINTS; i++) {
        int64_t global = -1;
        double r[3];
        assert_true(eg_probe_place(probe, i, &global, r));
        assert_int_equal(global, holder(space, x + i * dim));
        for (int c = 0; c < COMPONENTS; c++)
            assert_near(values[i * COMPONENTS + c], polynomial(c, degree, dim, x + i * dim),
                        real == EG_F32 ? 3e-6 : 1e-12, "value", (size_t)i);
    }
    eg_probe_destroy(&probe);
    eg_field_destroy(&field);
    free(x);
}

static void polynomial_body(eg_device *device, eg_type real)
{
    /* Degrees of space and mapping; -1: straight, but moved at random. */
    static const struct {
        eg_basis basis;
        int degree, order;
    } kinds[] = {{EG_BASIS_LOBATTO, 1, 0},  {EG_BASIS_LOBATTO, 4, -1},    {EG_BASIS_LOBATTO, 6, 2},
                 {EG_BASIS_MODAL, 3, 3},    {EG_BASIS_EQUIDISTANT, 5, 5}, {EG_BASIS_GAUSS, 7, 0},
                 {EG_BASIS_LOBATTO, 0, -1}, {EG_BASIS_MODAL, 2, -1}};
    uint64_t seed = 1;
    if (is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (size_t k = 0; k < EG_COUNT(kinds); k++) {
            const bool tensor = eg_shape_get_info(all_shapes[s])->tensor;
            const int order = kinds[k].order, degree = kinds[k].degree;
            if (kinds[k].basis == EG_BASIS_GAUSS && !tensor) continue;
            if (real == EG_F32 && k % 3 != 1) continue;
            eg_box_options o = box_options(all_shapes[s], 4, 2, 1, order < 0 ? 0 : order);
            if (order < 0) o.perturb = 0.25;
            now_at(device, real, "%s %zu", eg_shape_get_info(o.shape)->name, k);
            box b = box_new(device, &o, kinds[k].basis, degree);
            check_polynomial(b.space, real, order > 1 ? degree / order : degree, &seed);
            box_free(&b);
        }
}

static void test_probe__reads_polynomials_exactly(void **state)
{
    (void)state;
    on_every_device(polynomial_body);
}

/* Several groups, and fields of different sizes read in turn by one probe. */
static void mixed_body(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    enum { POINTS = 100 };
    uint8_t degrees[64];
    uint64_t seed = 2;
    eg_comm *comm = NULL;
    eg_mesh *mesh = NULL;
    eg_space *space = NULL;
    eg_probe *probe = NULL;
    eg_field *scalar = NULL;
    eg_box_options o = box_options(EG_SHAPE_TRI, 6, 4, 0, 0);
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_mesh_create_box(ctx, &o, &mesh));
    assert_true(mesh->element_count <= (int32_t)EG_COUNT(degrees));
    for (int32_t e = 0; e < mesh->element_count; e++)
        degrees[e] = (uint8_t)(2 + mesh->global[e] % 3);
    TEST_OK(ctx,
            eg_space_create(device, comm, mesh, &(eg_space_options){.degrees = degrees}, &space));
    assert_int_equal(space->group_count, 3);
    eg_field *field = polynomial_field(space, real, 2);
    TEST_OK(ctx, eg_field_create(space, 1, EG_F32, &scalar));
    const float two = 2;
    TEST_OK(ctx, eg_buffer_fill(scalar->data, 0, eg_buffer_count(scalar->data), &two));
    double *x = points_new(space, POINTS, &seed), values[POINTS * COMPONENTS];
    TEST_OK(ctx, eg_probe_create(space, POINTS, x, NULL, &probe));
    for (int round = 0; round < 2; round++) {
        TEST_OK(ctx, eg_probe_read(probe, scalar, values));
        for (size_t i = 0; i < POINTS; i++)
            assert_near(values[i], 2, 1e-14, "value", i);
        TEST_OK(ctx, eg_probe_read(probe, field, values));
        for (size_t i = 0; i < POINTS * COMPONENTS; i++)
            assert_near(values[i], polynomial((int)(i % 2), 2, 2, x + i / 2 * 2),
                        real == EG_F32 ? 3e-6 : 1e-13, "value", i);
    }
    free(x);
    eg_probe_destroy(&probe);
    eg_field_destroy(&scalar);
    eg_field_destroy(&field);
    eg_space_destroy(&space);
    eg_mesh_destroy(&mesh);
    eg_comm_destroy(&comm);
}

static void test_probe__reads_any_field_of_its_space(void **state)
{
    (void)state;
    on_every_device(mixed_body);
}

/* --- out of the domain ------------------------------------------------------------------------ */

/* What a test on one device of the CPU has. */
typedef struct scene {
    eg_context *ctx;
    eg_device *device;
    box b;
} scene;

static scene scene_new(const eg_box_options *o, int degree)
{
    scene s = {.ctx = test_context()};
    TEST_OK(s.ctx, eg_device_open(s.ctx, "cpu:1", &s.device));
    s.b = box_new(s.device, o, EG_BASIS_LOBATTO, degree);
    return s;
}

static void scene_free(scene *s)
{
    box_free(&s->b);
    eg_device_close(&s->device);
    test_context_free(&s->ctx);
}

static void test_probe__names_a_point_outside_and_how_far(void **state)
{
    (void)state;
    static const struct {
        eg_shape shape;
        double x[6];
        const char *message;
    } cases[] = {
        {EG_SHAPE_TRI,
         {0.5, 0.5, 1.25, 0.3},
         "point 2, (1.25, 0.3), lies in no element: the domain is 0.25 away"},
        {EG_SHAPE_QUAD,
         {-3, -4, 0, 0},
         "point 1, (-3, -4), lies in no element: the domain is 5 away"},
        {EG_SHAPE_TET,
         {0.5, 0.5, 0.5, 0.2, 0.7, 3},
         "point 2, (0.2, 0.7, 3), lies in no element: the domain is 2 away"},
        {EG_SHAPE_HEX, {4, 5, 1.5, 2, 2, 2}, "the domain is 5.02 away (1 more are lost, too)"},
        {EG_SHAPE_TRI, {0.5, 0.5, NAN, 0}, "is not finite"},
    };
    for (size_t i = 0; i < EG_COUNT(cases); i++) {
        eg_box_options o = box_options(cases[i].shape, 4, 3, 2, 0);
        scene s = scene_new(&o, 2);
        eg_probe *probe = NULL;
        TEST_FAILS(s.ctx, EG_ERROR_INPUT, cases[i].message,
                   eg_probe_create(s.b.space, 2, cases[i].x, NULL, &probe));
        assert_null(probe);
        scene_free(&s);
    }
}

/* Above the wavy top of a curved box: the nearest point is not straight below. */
static void test_probe__knows_the_distance_from_curved_elements(void **state)
{
    (void)state;
    eg_box_options o = box_options(EG_SHAPE_QUAD, 4, 4, 0, 4);
    scene s = scene_new(&o, 4);
    const double x[] = {0.8, 1.4};
    double least = INFINITY;
    char expected[64];
    eg_probe *probe = NULL;
    for (int i = 0; i <= 1000000; i++) {
        const double X = i * 1e-6;
        least = fmin(least, hypot(X - x[0], 1 + WAVE * sin(PI * X) - x[1]));
    }
    snprintf(expected, sizeof expected, "the domain is %.3g away", least);
    TEST_FAILS(s.ctx, EG_ERROR_INPUT, expected, eg_probe_create(s.b.space, 1, x, NULL, &probe));
    scene_free(&s);
}

static void test_probe__lost_points_are_nan_if_they_may_be(void **state)
{
    (void)state;
    static const double x[] = {0.25, 0.5, 1.5, 0.5, 0.75, 1, NAN, 0, 1 + 1e-6, 0.5};
    static const bool expected[] = {false, true, false, true, true};
    enum { POINTS = EG_COUNT(expected) };
    eg_box_options o = box_options(EG_SHAPE_QUAD, 4, 4, 0, 0);
    scene s = scene_new(&o, 2);
    eg_field *field = polynomial_field(s.b.space, EG_F64, 1);
    eg_probe *probe = NULL;
    bool lost[POINTS];
    double values[POINTS * COMPONENTS];
    TEST_OK(s.ctx, eg_probe_create(s.b.space, POINTS, x, lost, &probe));
    TEST_OK(s.ctx, eg_probe_read(probe, field, values));
    for (int i = 0; i < POINTS; i++) {
        int64_t global;
        double r[3];
        assert_int_equal(lost[i], expected[i]);
        assert_int_equal(eg_probe_place(probe, i, &global, r), !expected[i]);
        for (int c = 0; c < COMPONENTS; c++)
            if (lost[i])
                assert_true(isnan(values[i * COMPONENTS + c]));
            else
                assert_near(values[i * COMPONENTS + c], polynomial(c, 1, 2, x + 2 * i), 1e-14,
                            "value", (size_t)i);
    }
    eg_probe_destroy(&probe);
    eg_field_destroy(&field);
    scene_free(&s);
}

static void test_probe__takes_in_what_is_out_by_rounding(void **state)
{
    (void)state;
    for (size_t k = 0; k < EG_COUNT(all_shapes); k++) {
        eg_box_options o = box_options(all_shapes[k], 2, 2, 2, 2);
        scene s = scene_new(&o, 2);
        eg_field *field = polynomial_field(s.b.space, EG_F64, 1);
        const int dim = s.b.mesh->dim;
        const double in[] = {-1e-11, 0.3, 0.4}, corner[] = {1 + 1e-12, -1e-12, -1e-12};
        const double out[] = {-1e-9, 0.3, 0.4};
        double values[COMPONENTS];
        eg_probe *probe = NULL;
        bool lost = false;
        const double *const found[] = {in, corner};
        for (size_t i = 0; i < 2; i++) {
            TEST_OK(s.ctx, eg_probe_create(s.b.space, 1, found[i], NULL, &probe));
            TEST_OK(s.ctx, eg_probe_read(probe, field, values));
            assert_near(values[0], polynomial(0, 1, dim, found[i]), 1e-12, "value", i);
            eg_probe_destroy(&probe);
        }
        TEST_OK(s.ctx, eg_probe_create(s.b.space, 1, out, &lost, &probe));
        assert_true(lost);
        eg_probe_destroy(&probe);
        eg_field_destroy(&field);
        scene_free(&s);
    }
}

/* Turns the unit box and makes it small and flat, far from the origin: its coordinates are
 * rounded to 1e-6 of an element. */
static eg_status move_far_away(void *user, size_t count, const double *X, double *x)
{
    const size_t dim = *(const size_t *)user;
    for (size_t i = 0; i < count; i++, X += dim, x += dim) {
        const double a = 1e-2 * X[0], b = 1e-4 * X[1];
        x[0] = 4e5 + 0.8 * a - 0.6 * b;
        x[1] = 3e5 + 0.6 * a + 0.8 * b;
        if (dim == 3) x[2] = 1e-2 * X[2];
    }
    return EG_OK;
}

/* Points on the top of such a box, which coordinates put a little above it or below. */
static void test_probe__finds_points_where_coordinates_are_coarse(void **state)
{
    (void)state;
    enum { POINTS = 101 };
    for (size_t k = 0; k < EG_COUNT(all_shapes); k++) {
        const bool solid = eg_shape_get_info(all_shapes[k])->dim == 3;
        size_t dim = solid ? 3 : 2;
        eg_box_options o = box_options(all_shapes[k], 7, 3, 2, 0);
        o.map = move_far_away;
        o.map_user = &dim;
        o.order = 1;
        scene s = scene_new(&o, 1);
        double X[POINTS * 3], x[POINTS * 3];
        eg_probe *probe = NULL;
        for (size_t i = 0; i < POINTS; i++)
            for (size_t d = 0; d < dim; d++)
                X[i * dim + d] = d == 1 ? 1 : (double)i / (POINTS - 1);
        TEST_OK(s.ctx, move_far_away(&dim, POINTS, X, x));
        TEST_OK(s.ctx, eg_probe_create(s.b.space, POINTS, x, NULL, &probe));
        eg_probe_destroy(&probe);
        scene_free(&s);
    }
}

/* --- many, none, memory ----------------------------------------------------------------------- */

/* Elements of very different sizes, and many points: all are found. */
static void test_probe__finds_many_points_in_a_graded_mesh(void **state)
{
    (void)state;
    enum { POINTS = 20000 };
    eg_box_options o = box_options(EG_SHAPE_TRI, 60, 60, 0, 0);
    o.grading[0] = o.grading[1] = 1e-4;
    scene s = scene_new(&o, 1);
    eg_field *field = polynomial_field(s.b.space, EG_F64, 1);
    double *x = new_values(POINTS * 2), *values = new_values(POINTS * COMPONENTS);
    uint64_t seed = 4;
    eg_probe *probe = NULL;
    for (size_t i = 0; i < POINTS * 2; i++)
        x[i] = 1 - pow(0.5 * (1 + test_random(&seed)), 4);
    TEST_OK(s.ctx, eg_probe_create(s.b.space, POINTS, x, NULL, &probe));
    TEST_OK(s.ctx, eg_probe_read(probe, field, values));
    for (size_t i = 0; i < POINTS * COMPONENTS; i++)
        assert_near(values[i], polynomial((int)(i % 2), 1, 2, x + i / 2 * 2), 1e-13, "value", i);
    eg_probe_destroy(&probe);
    eg_field_destroy(&field);
    free(values);
    free(x);
    scene_free(&s);
}

static void test_probe__may_have_no_points(void **state)
{
    (void)state;
    eg_box_options o = box_options(EG_SHAPE_TRI, 1, 1, 0, 0);
    scene s = scene_new(&o, 1);
    eg_field *field = polynomial_field(s.b.space, EG_F64, 1);
    eg_probe *probe = NULL;
    TEST_OK(s.ctx, eg_probe_create(s.b.space, 0, NULL, NULL, &probe));
    TEST_OK(s.ctx, eg_probe_read(probe, field, NULL));
    eg_probe_destroy(&probe);
    eg_field_destroy(&field);
    scene_free(&s);
}

static eg_status use_all(eg_space *space, void *user)
{
    static const double x[] = {0.2, 0.3, 0.4, 7, 7, 7};
    eg_probe *probe = NULL;
    eg_field *field = NULL;
    double values[2];
    bool lost[2];
    const double one = 1;
    eg_status status = EG_OK;
    (void)user;
    EG_TRY(eg_probe_create(space, 2, x, lost, &probe));
    EG_TRY(eg_field_create(space, 1, EG_F64, &field));
    EG_TRY(eg_buffer_fill(field->data, 0, eg_buffer_count(field->data), &one));
    EG_TRY(eg_probe_read(probe, field, values));
    assert_near(values[0], 1, 1e-14, "value", 0);
    const long calls = test_memory.calls;
    EG_TRY(eg_probe_read(probe, field, values));
    assert_int_equal(test_memory.calls, calls); /* the second time allocates nothing */
done:
    eg_field_destroy(&field);
    eg_probe_destroy(&probe);
    return status;
}

static void test_probe__no_allocation_is_taken_for_granted(void **state)
{
    (void)state;
    eg_box_options o = box_options(EG_SHAPE_TET, 1, 1, 1, 2);
    box_allocation_sweep(&o, use_all, NULL);
}

static void test_probe__refuses_fields_of_other_spaces(void **state)
{
    (void)state;
    eg_box_options o = box_options(EG_SHAPE_TRI, 1, 1, 0, 0);
    scene s = scene_new(&o, 1);
    box other = box_new(s.device, &o, EG_BASIS_LOBATTO, 1);
    eg_field *field = polynomial_field(other.space, EG_F64, 1);
    eg_probe *probe = NULL;
    double values[COMPONENTS];
    TEST_OK(s.ctx, eg_probe_create(s.b.space, 1, (const double[]){0.5, 0.5}, NULL, &probe));
    TEST_FAILS(s.ctx, EG_ERROR_ARGUMENT, "another space", eg_probe_read(probe, field, values));
    eg_probe_destroy(&probe);
    eg_field_destroy(&field);
    box_free(&other);
    scene_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probe__reads_polynomials_exactly),
        cmocka_unit_test(test_probe__reads_any_field_of_its_space),
        cmocka_unit_test(test_probe__names_a_point_outside_and_how_far),
        cmocka_unit_test(test_probe__knows_the_distance_from_curved_elements),
        cmocka_unit_test(test_probe__lost_points_are_nan_if_they_may_be),
        cmocka_unit_test(test_probe__takes_in_what_is_out_by_rounding),
        cmocka_unit_test(test_probe__finds_points_where_coordinates_are_coarse),
        cmocka_unit_test(test_probe__finds_many_points_in_a_graded_mesh),
        cmocka_unit_test(test_probe__may_have_no_points),
        cmocka_unit_test(test_probe__no_allocation_is_taken_for_granted),
        cmocka_unit_test(test_probe__refuses_fields_of_other_spaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
