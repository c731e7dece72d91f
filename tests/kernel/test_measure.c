/* Norms and integrals on every device: closed forms, a plain loop on the host, NaN, padding,
 * batches. */
#include "kernel/boxes.h"

/* A space with a field that is a function, and what measures it. */
typedef struct measured {
    box b;
    eg_field *field;
    eg_measure *measure;
    eg_function *function; /* of the field */
    eg_function *exact;    /* of the measure; NULL: none */
} measured;

static measured measured_new(eg_device *device, eg_type real, const eg_box_options *o,
                             eg_basis basis, int degree, int components, const char *const *texts,
                             const char *const *exact)
{
    measured m = {.b = box_new(device, o, basis, degree)};
    eg_context *ctx = m.b.space->ctx;
    m.function = function_new(m.b.space, components, texts);
    if (exact) m.exact = function_new(m.b.space, components, exact);
    TEST_OK(ctx, eg_field_create(m.b.space, components, real, &m.field));
    TEST_OK(ctx, eg_function_project(m.function, 0, m.field));
    TEST_OK(ctx, eg_measure_create(m.b.space, components, m.exact, &m.measure));
    return m;
}

static void measured_free(measured *m)
{
    eg_measure_destroy(&m->measure);
    eg_field_destroy(&m->field);
    eg_function_destroy(&m->exact);
    eg_function_destroy(&m->function);
    box_free(&m->b);
}

static void assert_norms(const eg_norms *norms, double l1, double l2, double linf, double nodal_l2,
                         double bound)
{
    assert_near(norms->l1, l1, bound, "l1", 0);
    assert_near(norms->l2, l2, bound, "l2", 0);
    assert_near(norms->linf, linf, bound, "linf", 0);
    assert_near(norms->nodal_l2, nodal_l2, bound, "nodal_l2", 0);
}

/* --- closed forms ----------------------------------------------------------------------------- */

/* On the unit box, for one element, a few, and more than a tile: x and 1 - 3 y, alone and against
 * 0 and x - 3 y, from which they differ by x and by 1 - x. */
static void closed_form_body(eg_device *device, eg_type real)
{
    static const char *const texts[] = {"x", "1 - 3 * y"}, *const exact[] = {"0 * t", "t - 3 * y"};
    static const int cells[][3] = {{1, 1, 1}, {7, 1, 1}, {11, 3, 1}};
    const double bound = 60 * epsilon(real);
    if (is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (size_t n = real == EG_F64 ? 0 : 2; n < EG_COUNT(cells); n++) {
            eg_box_options o = box_options(all_shapes[s], cells[n][0], cells[n][1], cells[n][2], 0);
            now_at(device, real, "%s %d", eg_shape_get_info(o.shape)->name, cells[n][0]);
            measured m = measured_new(device, real, &o, EG_BASIS_LOBATTO, 3, 2, texts, NULL);
            eg_context *ctx = m.b.space->ctx;
            eg_norms norms[2];
            double integrals[2];
            TEST_OK(ctx, eg_measure_norms(m.measure, 0, m.field, norms));
            assert_norms(&norms[0], 0.5, sqrt(1 / 3.0), 1, sqrt(1 / 3.0), bound);
            /* |1 - 3 y| has a kink: its integral, 5/6, is not a sum of polynomials. */
            assert_near(norms[1].l1, 5 / 6.0, 0.02, "l1", n);
            assert_norms(&norms[1], norms[1].l1, 1, 2, 1, bound);
            TEST_OK(ctx, eg_measure_integrals(m.measure, m.field, integrals));
            assert_near(integrals[0], 0.5, bound, "∫ x", n);
            assert_near(integrals[1], -0.5, bound, "∫ 1 - 3 y", n);

            eg_measure_destroy(&m.measure);
            m.exact = function_new(m.b.space, 2, exact);
            TEST_OK(ctx, eg_measure_create(m.b.space, 2, m.exact, &m.measure));
            TEST_OK(ctx, eg_measure_norms(m.measure, 0.25, m.field, norms));
            assert_norms(&norms[0], 0.5, sqrt(1 / 3.0), 1, sqrt(1 / 3.0), bound);
            assert_norms(&norms[1], 0.75, 0.75, 0.75, 0.75, bound);
            TEST_OK(ctx, eg_measure_norms(m.measure, 1, m.field, norms));
            assert_norms(&norms[1], 0, 0, 0, 0, bound);
            TEST_OK(ctx, eg_measure_integrals(m.measure, m.field, integrals));
            assert_near(integrals[1], -0.5, bound, "∫ 1 - 3 y", n);
            measured_free(&m);
        }
}

static void test_measure__has_closed_forms_on_a_box(void **state)
{
    (void)state;
    on_every_device(closed_form_body);
}

/* On a box with curved sides, mapped so closely that its geometry is exact to 1e-11. */
static void curved_body(eg_device *device, eg_type real)
{
    static const char *const texts[] = {"1", "y"};
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        const int dim = eg_shape_get_info(all_shapes[s])->dim, order = dim == 2 ? 8 : 6;
        const double a = WAVE, volume = wave_volume(dim);
        /* ∫ y = ∫ Y (1 + a s)² and, in space, times (1 + a s sin πY), with s = sin πX. */
        const double plane = 0.5 * (1 + 4 * a / PI + a * a / 2);
        const double solid = plane + a / PI * (2 / PI + 2 * a * 0.5 + a * a * 4 / (3 * PI));
        eg_box_options o = box_options(all_shapes[s], dim == 2 ? 4 : 3, dim == 2 ? 4 : 3, 1, order);
        now_at(device, real, "%s", eg_shape_get_info(o.shape)->name);
        measured m = measured_new(device, real, &o, EG_BASIS_LOBATTO, order, 2, texts, NULL);
        eg_norms norms[2];
        double integrals[2];
        TEST_OK(m.b.space->ctx, eg_measure_norms(m.measure, 0, m.field, norms));
        TEST_OK(m.b.space->ctx, eg_measure_integrals(m.measure, m.field, integrals));
        const double bound = dim == 2 ? 1e-11 : 1e-7;
        assert_near(m.b.space->volume, volume, bound, "volume", s);
        assert_norms(&norms[0], m.b.space->volume, sqrt(m.b.space->volume), 1, 1, 1e-13);
        assert_near(integrals[0], volume, bound, "∫ 1", s);
        assert_near(integrals[1], dim == 2 ? plane : solid, bound, "∫ y", s);
        assert_near(norms[1].l1, integrals[1], 1e-13, "∫ |y|", s);
        measured_free(&m);
    }
}

static void test_measure__follows_curved_elements(void **state)
{
    (void)state;
    on_every_device(curved_body);
}

/* Bends a single element so that J is a polynomial of the highest degree that it can have. */
static eg_status bend_2d(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 2, x += 2) {
        x[0] = X[0] + 0.15 * sin(3 * X[1]);
        x[1] = X[1] + 0.1 * sin(3 * X[0]);
    }
    return EG_OK;
}

static eg_status bend_3d(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 3, x += 3) {
        x[0] = X[0] + 0.15 * sin(3 * X[1]) * sin(2 * X[2]);
        x[1] = X[1] + 0.1 * sin(3 * X[0] + X[2]);
        x[2] = X[2] + 0.1 * sin(2 * X[0] * X[1]);
    }
    return EG_OK;
}

/* The integral of 1 is the volume to the last digits, whatever the degree of the mapping and
 * however low that of the field. */
static void exact_body(eg_device *device, eg_type real)
{
    static const char *const texts[] = {"1"};
    static const int orders[EG_SHAPE_COUNT] = {
        [EG_SHAPE_TRI] = 9, [EG_SHAPE_QUAD] = 9, [EG_SHAPE_TET] = 5, [EG_SHAPE_HEX] = 4};
    const double one = 1;
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (int degree = 0; degree <= (s < 2); degree++) {
            const eg_shape_info *info = eg_shape_get_info(all_shapes[s]);
            eg_box_options o = box_options(all_shapes[s], 1, 1, 1, orders[all_shapes[s]]);
            o.map = info->dim == 2 ? bend_2d : bend_3d;
            now_at(device, real, "%s degree %d", info->name, degree);
            measured m = measured_new(device, real, &o, EG_BASIS_LOBATTO, degree, 1, texts, NULL);
            eg_context *ctx = m.b.space->ctx;
            const double volume = m.b.space->volume;
            eg_norms norms;
            double integral;
            TEST_OK(ctx, eg_buffer_fill(m.field->data, 0, eg_buffer_count(m.field->data), &one));
            TEST_OK(ctx, eg_measure_norms(m.measure, 0, m.field, &norms));
            TEST_OK(ctx, eg_measure_integrals(m.measure, m.field, &integral));
            assert_near(integral, volume, 1e-13, "∫ 1", s);
            assert_near(norms.l1, volume, 1e-13, "∫ |1|", s);
            assert_near(norms.l2, sqrt(volume), 1e-13, "l2", s);
            measured_free(&m);
        }
}

static void test_measure__is_exact_for_mappings_of_any_degree(void **state)
{
    (void)state;
    on_every_device(exact_body);
}

/* --- the nodes' own quadrature ---------------------------------------------------------------- */

/* Against a plain loop over the nodes (Gauss, Lobatto, …) or over a cubature of degree 2N. */
static void check_nodal(eg_device *device, eg_type real, eg_shape shape, eg_basis basis, int order)
{
    static const char *const texts[] = {"sin(5 * x) * exp(y) + z"};
    enum { DEGREE = 3 };
    eg_box_options o = box_options(shape, 3, 2, 1, order);
    now_at(device, real, "%s %s order %d", eg_basis_name(basis), eg_shape_get_info(shape)->name,
           order);
    measured m = measured_new(device, real, &o, basis, DEGREE, 1, texts, NULL);
    eg_space *space = m.b.space;
    const size_t host_count = eg_field_host_count(m.field);
    double *values = new_values(host_count), sum = 0, largest = 0;
    eg_norms norms;
    eg_cubature *rule = NULL;
    TEST_OK(space->ctx, eg_measure_norms(m.measure, 0, m.field, &norms));
    TEST_OK(space->ctx, eg_field_to_host(m.field, values));
    TEST_OK(space->ctx, eg_cubature_create(space->ctx, shape, 2 * DEGREE, EG_CUBATURE_BEST, &rule));
    const eg_element *element = space->groups[0].element, *geometry = space->groups[0].geometry;
    const int np = element->np, dim = element->dim;
    const bool own = eg_shape_get_info(shape)->tensor && basis != EG_BASIS_MODAL &&
                     basis != EG_BASIS_EQUIDISTANT;
    const int count = own ? np : rule->count;
    const double *r = own ? element->r : rule->r, *w = own ? element->weights : rule->w;
    double *phi = new_values((size_t)count * (size_t)np);
    TEST_OK(space->ctx, eg_element_evaluate(element, count, r, phi));
    for (int32_t e = 0; e < m.b.mesh->element_count; e++)
        for (int q = 0; q < count; q++) {
            double at[3] = {0}, x[3] = {0}, a[3][3] = {{0}}, u = 0;
            for (int d = 0; d < dim; d++)
                at[d] = r[d * count + q];
            map_point(m.b.mesh, geometry, e, at, a, x);
            for (int i = 0; i < np; i++)
                u += phi[q * np + i] * values[e * np + i];
            sum += w[q] * determinant(dim, a) * u * u;
        }
    for (size_t i = 0; i < host_count; i++)
        largest = fmax(largest, fabs(values[i]));
    const double expected = sqrt(sum / space->volume);
    assert_near(norms.nodal_l2, expected, 1e-13 * expected, "nodal_l2", 0);
    /* Nodes count for the largest value; between them a polynomial may be a little larger. */
    if (basis != EG_BASIS_MODAL)
        assert_true(norms.linf >= largest * (1 - 1e-14) && norms.linf < 1.2 * largest);
    free(phi);
    free(values);
    eg_cubature_destroy(&rule);
    measured_free(&m);
}

static void nodal_body(eg_device *device, eg_type real)
{
    if (is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (int basis = 0; basis < EG_BASIS_COUNT; basis++) {
            if (!is_tried(all_shapes[s], (eg_basis)basis)) continue;
            if (real == EG_F32 && basis != EG_BASIS_LOBATTO)
                continue; /* differs only at the start */
            check_nodal(device, real, all_shapes[s], (eg_basis)basis, 2);
        }
    check_nodal(device, real, EG_SHAPE_QUAD, EG_BASIS_GAUSS, 0);
    if (real == EG_F64) check_nodal(device, real, EG_SHAPE_QUAD, EG_BASIS_CELLS, 2);
    check_nodal(device, real, EG_SHAPE_TRI, EG_BASIS_LOBATTO, 0);
}

static void test_measure__nodal_l2_is_the_quadrature_of_the_nodes(void **state)
{
    (void)state;
    on_every_device(nodal_body);
}

/* --- NaN and padding -------------------------------------------------------------------------- */

static void nan_body(eg_device *device, eg_type real)
{
    static const char *const texts[] = {"1 + x", "2 - y"};
    eg_box_options o = box_options(EG_SHAPE_TRI, 3, 3, 1, 2);
    measured m = measured_new(device, real, &o, EG_BASIS_LOBATTO, 2, 2, texts, NULL);
    eg_space *space = m.b.space;
    const eg_group *g = &space->groups[0];
    const int np = g->element->np, lanes = g->lanes;
    eg_norms clean[2], norms[2];
    double integrals[2], clean_integrals[2];
    const uint64_t nan = UINT64_MAX;
    TEST_OK(space->ctx, eg_measure_norms(m.measure, 0, m.field, clean));
    TEST_OK(space->ctx, eg_measure_integrals(m.measure, m.field, clean_integrals));

    /* What stands in padding does not matter. */
    size_t padding = 0;
    for (int64_t slot = 0; slot < g->tiles * lanes; slot++) {
        if (space->slot_of_element[g->element_of_slot[slot]] == g->first_slot + slot) continue;
        padding++;
        for (int i = 0; i < 2 * np; i++) {
            int64_t at = (slot / lanes * 2 * np + i) * lanes + slot % lanes;
            TEST_OK(space->ctx,
                    eg_buffer_fill(m.field->data, m.field->offset[0] + (size_t)at, 1, &nan));
        }
    }
    assert_true(padding > 0);
    TEST_OK(space->ctx, eg_measure_norms(m.measure, 0, m.field, norms));
    TEST_OK(space->ctx, eg_measure_integrals(m.measure, m.field, integrals));
    assert_memory_equal(norms, clean, sizeof norms);
    assert_memory_equal(integrals, clean_integrals, sizeof integrals);

    /* One value of one component of one element does. */
    TEST_OK(space->ctx,
            eg_buffer_fill(m.field->data, m.field->offset[0] + (size_t)(np + 1) * (size_t)lanes + 2,
                           1, &nan));
    TEST_OK(space->ctx, eg_measure_norms(m.measure, 0, m.field, norms));
    TEST_OK(space->ctx, eg_measure_integrals(m.measure, m.field, integrals));
    assert_memory_equal(&norms[0], &clean[0], sizeof norms[0]);
    assert_true(isnan(norms[1].l1) && isnan(norms[1].l2) && isnan(norms[1].linf) &&
                isnan(norms[1].nodal_l2));
    assert_true(integrals[0] == clean_integrals[0] && isnan(integrals[1]));
    measured_free(&m);
}

static void test_measure__nan_shows_in_all_norms_but_not_from_padding(void **state)
{
    (void)state;
    on_every_device(nan_body);
}

/* linf is taken over the cubature and over the nodes: a hump between nodes counts, and so does what
 * a function does at a node alone. */
static void places_body(eg_device *device, eg_type real)
{
    static const char *const zero[] = {"0", "0", "0"};
    static const char *const exact[] = {"4 * x * (1 - x)", "x < 1e-9 ? 3 : 1",
                                        "x < 1e-9 ? log(x - 1) : 1"};
    for (int s = 0; s < 2; s++) {
        eg_box_options o = box_options(all_shapes[s], 1, 1, 1, 0);
        measured m = measured_new(device, real, &o, EG_BASIS_LOBATTO, 1, 3, zero, exact);
        eg_norms norms[3];
        TEST_OK(m.b.space->ctx, eg_measure_norms(m.measure, 0, m.field, norms));
        assert_true(norms[0].linf > 0.9 && norms[0].linf <= 1);
        assert_near(norms[1].linf, 3, 1e-14, "linf", 1);
        assert_near(norms[1].l2, 1, 1e-14, "l2", 1);
        assert_true(isnan(norms[2].linf) && isnan(norms[2].l2));
        measured_free(&m);
    }
}

static void test_measure__linf_sees_cubature_and_nodes(void **state)
{
    (void)state;
    on_every_device(places_body);
}

/* --- batches ---------------------------------------------------------------------------------- */

/* So many points that they do not fit into one batch. */
static void test_measure__batches_add_up(void **state)
{
    (void)state;
    static const char *const texts[] = {"x * y * z"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:2", &device));
    for (int order = 0; order <= 1; order++) {
        eg_box_options o = box_options(EG_SHAPE_HEX, 16, 16, 16, 0);
        o.order = order;
        o.perturb = order ? 0.1 : 0;
        measured m = measured_new(device, EG_F32, &o, EG_BASIS_GAUSS, 3, 1, texts, texts);
        eg_norms norms;
        double integral, again;
        TEST_OK(ctx, eg_measure_norms(m.measure, 0, m.field, &norms));
        assert_near(norms.linf, 0, 2e-7, "linf", 0); /* of a field of f32 */
        assert_true(norms.l2 > 0 && norms.l2 < 1e-7 && norms.l1 <= norms.l2);
        TEST_OK(ctx, eg_measure_integrals(m.measure, m.field, &integral));
        assert_near(integral, 0.125, 1e-8, "∫ xyz", 0);
        /* The same bits each time, and no memory. */
        long calls = test_memory.calls;
        TEST_OK(ctx, eg_measure_integrals(m.measure, m.field, &again));
        assert_memory_equal(&integral, &again, sizeof integral);
        eg_norms norms_again;
        TEST_OK(ctx, eg_measure_norms(m.measure, 0, m.field, &norms_again));
        assert_memory_equal(&norms, &norms_again, sizeof norms);
        assert_int_equal(test_memory.calls, calls);
        measured_free(&m);
    }
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- memory ----------------------------------------------------------------------------------- */

static eg_status create_and_use(eg_space *space, void *user)
{
    eg_field *field = NULL;
    eg_measure *measure = NULL;
    eg_norms norms;
    const double zero = 0;
    eg_status status = EG_OK;
    (void)user;
    EG_TRY(eg_field_create(space, 1, EG_F32, &field));
    EG_TRY(eg_buffer_fill(field->data, 0, eg_buffer_count(field->data), &zero));
    EG_TRY(eg_measure_create(space, 1, NULL, &measure));
    EG_TRY(eg_measure_norms(measure, 0, field, &norms));
done:
    eg_measure_destroy(&measure);
    eg_field_destroy(&field);
    return status;
}

static void test_measure__survives_every_failed_allocation(void **state)
{
    (void)state;
    eg_box_options o = box_options(EG_SHAPE_QUAD, 2, 1, 1, 2);
    box_allocation_sweep(&o, create_and_use, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_measure__has_closed_forms_on_a_box),
        KERNEL_TEST(test_measure__follows_curved_elements),
        KERNEL_TEST(test_measure__is_exact_for_mappings_of_any_degree),
        KERNEL_TEST(test_measure__nodal_l2_is_the_quadrature_of_the_nodes),
        KERNEL_TEST(test_measure__nan_shows_in_all_norms_but_not_from_padding),
        KERNEL_TEST(test_measure__linf_sees_cubature_and_nodes),
        cmocka_unit_test(test_measure__batches_add_up),
        cmocka_unit_test(test_measure__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
