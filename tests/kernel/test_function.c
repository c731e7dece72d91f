/* Expressions on the device: interpolation at the nodes and the L2 projection, against what they
 * must reproduce, against a plain loop on the host, and where they must complain. */
#include "kernel/boxes.h"

/* --- looking at a field on the host ----------------------------------------------------------- */

/* A field's values with everything in it, ghosts and padding too. */
typedef struct contents {
    const eg_field *field;
    double *v;
} contents;

static contents contents_new(const eg_field *field)
{
    size_t count = eg_buffer_count(field->data);
    contents c = {field, new_values(count)};
    void *raw = malloc(count * sizeof(double));
    assert_non_null(raw);
    TEST_OK(field->space->ctx, eg_buffer_download(field->data, 0, count, raw));
    for (size_t i = 0; i < count; i++)
        c.v[i] = raw_value(field->type, raw, i);
    free(raw);
    return c;
}

/* Value i of a component of the element in a slot of a group. */
static double content(const contents *c, int group, int64_t slot, int component, int i)
{
    const eg_group *g = &c->field->space->groups[group];
    int64_t tile = slot / g->lanes, lane = slot % g->lanes;
    int64_t row = (tile * c->field->components + component) * g->element->np + i;
    return c->v[(int64_t)c->field->offset[group] + row * g->lanes + lane];
}

/* The basis of a group at points r [dim][count]: [count][np]. */
static double *basis_at(const eg_group *g, int count, const double *r)
{
    double *values = new_values((size_t)count * (size_t)g->element->np);
    TEST_OK(g->element->ctx, eg_element_evaluate(g->element, count, r, values));
    return values;
}

static double evaluate(const eg_expression *e, int dim, const double *x, double t)
{
    return eg_expression_evaluate(e, (double[]){x[0], x[1], dim == 3 ? x[2] : 0, t});
}

static eg_field *poisoned_field(eg_space *space, int components, eg_type type)
{
    static const uint64_t ones = UINT64_MAX;
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, components, type, &field));
    for (int group = 0; group < space->group_count; group++) {
        size_t first = field->offset[group], count = field->offset[group + 1] - first;
        TEST_OK(space->ctx, eg_buffer_fill(field->data, first, count, &ones));
    }
    return field;
}

/* --- at the nodes ----------------------------------------------------------------------------- */

/* Values at the nodes are the expressions' there, in every slot: one element, a few, more than a
 * tile; two components, one of time, one with a jump that no node is near. */
static void interpolation_body(eg_device *device, eg_type real)
{
    static const char *const texts[] = {"exp(x) * y - 2 * z + t^2",
                                        "x + y + z < 1.2345 ? 1 : 1 / (2 + x)"};
    static const int cells[][3] = {{1, 1, 1}, {7, 1, 1}, {11, 3, 1}};
    if (is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++)
        for (size_t n = 0; n < EG_COUNT(cells); n++) {
            eg_box_options o =
                box_options(all_shapes[s], cells[n][0], cells[n][1], cells[n][2], n == 1 ? 2 : 0);
            now_at(device, real, "%s %d", eg_shape_get_info(o.shape)->name, cells[n][0]);
            box b = box_new(device, &o, EG_BASIS_LOBATTO, 3);
            eg_function *function = function_new(b.space, 2, texts);
            eg_field *field = poisoned_field(b.space, 2, real);
            TEST_OK(b.space->ctx, eg_function_interpolate(function, 1.5, field));
            contents v = contents_new(field);
            for (int group = 0; group < b.space->group_count; group++) {
                const eg_group *g = &b.space->groups[group];
                for (int c = 0; c < 2; c++) {
                    eg_expression *e = expression(b.space->ctx, texts[c]);
                    for (int64_t slot = 0; slot < g->tiles * g->lanes; slot++)
                        for (int i = 0; i < g->element->np && is_looked_at(g, slot); i++) {
                            double r[3] = {0}, x[3] = {0}, a[3][3] = {{0}};
                            for (int d = 0; d < g->element->dim; d++)
                                r[d] = g->element->r[d * g->element->np + i];
                            map_point(b.mesh, g->geometry, g->element_of_slot[slot], r, a, x);
                            assert_near(content(&v, group, slot, c, i),
                                        evaluate(e, b.mesh->dim, x, 1.5), 30 * epsilon(real),
                                        texts[c], (size_t)slot);
                        }
                    eg_expression_destroy(&e);
                }
            }
            free(v.v);
            eg_field_destroy(&field);
            eg_function_destroy(&function);
            box_free(&b);
        }
}

static void test_interpolation__values_are_those_of_the_expressions_at_the_nodes(void **state)
{
    (void)state;
    on_every_device(interpolation_body);
}

/* --- projection ------------------------------------------------------------------------------- */

/* What belongs to the space comes back as it is: polynomials of x on straight elements, of degree N
 * in every basis; on curved ones the mapping itself, where the space is as rich. */
static void reproduce(eg_device *device, eg_type real, eg_shape shape, int order, eg_basis basis,
                      int degree)
{
    static const char *const straight[] = {"1", "x^3 - 2 * x * y^2 + z^3 + t", "x + 2 * y - z"};
    static const char *const curved[] = {"1", "x + t", "y - 2 * z"};
    const char *const *texts = order ? curved : straight;
    eg_box_options o = box_options(shape, 3, 2, 2, order);
    now_at(device, real, "%s %s degree %d order %d", eg_basis_name(basis),
           eg_shape_get_info(shape)->name, degree, order);
    box b = box_new(device, &o, basis, degree);
    eg_function *function = function_new(b.space, 3, texts);
    eg_field *field = poisoned_field(b.space, 3, real);
    TEST_OK(b.space->ctx, eg_function_project(function, 0.5, field));
    contents v = contents_new(field);
    for (int group = 0; group < b.space->group_count; group++) {
        const eg_group *g = &b.space->groups[group];
        double r[3] = {-0.3, -0.5, -0.9}, x[3] = {0}, a[3][3] = {{0}};
        double *phi = basis_at(g, 1, r);
        for (int c = 0; c < 3; c++) {
            eg_expression *e = expression(b.space->ctx, texts[c]);
            for (int64_t slot = 0; slot < g->tiles * g->lanes; slot++) {
                double u = 0, size = 0;
                if (!is_looked_at(g, slot)) continue;
                for (int i = 0; i < g->element->np; i++) {
                    u += phi[i] * content(&v, group, slot, c, i);
                    size += fabs(phi[i] * content(&v, group, slot, c, i));
                }
                map_point(b.mesh, g->geometry, g->element_of_slot[slot], r, a, x);
                assert_near(u, evaluate(e, b.mesh->dim, x, 0.5), 50 * epsilon(real) * (1 + size),
                            texts[c], (size_t)slot);
            }
            eg_expression_destroy(&e);
        }
        free(phi);
    }
    free(v.v);
    eg_field_destroy(&field);
    eg_function_destroy(&function);
    box_free(&b);
}

static void reproduction_body(eg_device *device, eg_type real)
{
    if (is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        for (int basis = 0; basis < EG_BASIS_COUNT; basis++) {
            if (!is_tried(all_shapes[s], (eg_basis)basis)) continue;
            if (real == EG_F32 && basis != EG_BASIS_LOBATTO) continue; /* differs only at the end */
            reproduce(device, real, all_shapes[s], 0, (eg_basis)basis, 3);
            reproduce(device, real, all_shapes[s], 2, (eg_basis)basis, 2);
        }
        reproduce(device, real, all_shapes[s], 3, EG_BASIS_LOBATTO, 8);
    }
}

static void test_projection__reproduces_what_the_space_holds(void **state)
{
    (void)state;
    on_every_device(reproduction_body);
}

/* Stretches cells in the plane so that J varies by a factor of nine within the first ones. */
static eg_status stretch(void *user, size_t count, const double *X, double *x)
{
    const size_t dim = (size_t) * (const int *)user;
    for (size_t i = 0; i < count * dim; i++)
        x[i] = i % dim == 0 ? X[i] * (0.25 + X[i]) : X[i] + 0.1 * X[i / dim * dim] * X[i];
    return EG_OK;
}

/* On strongly curved elements the error is orthogonal to the space: Σ w J (f - u) φ = 0 for every
 * φ, by a plain loop with the same cubature. */
static void check_orthogonal(eg_device *device, eg_shape shape, int degree)
{
    static const char *const text[] = {"sin(3 * x + 2 * y - z) + (x > 0.4)"};
    int dim = eg_shape_get_info(shape)->dim;
    eg_box_options o = box_options(shape, 2, 1, 1, 3);
    o.map = stretch;
    o.map_user = &dim;
    now_at(device, EG_F64, "%s degree %d", eg_shape_get_info(shape)->name, degree);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, degree);
    eg_function *function = function_new(b.space, 1, text);
    eg_field *field = poisoned_field(b.space, 1, EG_F64);
    TEST_OK(b.space->ctx, eg_function_project(function, 0, field));
    contents v = contents_new(field);
    eg_expression *e = expression(b.space->ctx, text[0]);
    for (int group = 0; group < b.space->group_count; group++) {
        const eg_group *g = &b.space->groups[group];
        const int np = g->element->np;
        eg_cubature *rule = NULL;
        TEST_OK(b.space->ctx,
                eg_cubature_create(b.space->ctx, shape, 2 * degree + 4, EG_CUBATURE_BEST, &rule));
        double *phi = basis_at(g, rule->count, rule->r), *sum = new_values((size_t)np);
        double least = INFINITY, most = 0;
        for (int64_t slot = 0; slot < g->tiles * g->lanes; slot++) {
            if (slot >= 3 && slot + 3 < g->tiles * g->lanes) continue;
            double size = 0;
            memset(sum, 0, (size_t)np * sizeof *sum);
            for (int q = 0; q < rule->count; q++) {
                double r[3] = {0}, x[3] = {0}, a[3][3] = {{0}}, u = 0;
                for (int d = 0; d < dim; d++)
                    r[d] = rule->r[d * rule->count + q];
                map_point(b.mesh, g->geometry, g->element_of_slot[slot], r, a, x);
                const double J = determinant(dim, a);
                least = fmin(least, J), most = fmax(most, J);
                for (int i = 0; i < np; i++)
                    u += phi[q * np + i] * content(&v, group, slot, 0, i);
                for (int i = 0; i < np; i++)
                    sum[i] += rule->w[q] * J * (evaluate(e, dim, x, 0) - u) * phi[q * np + i];
                size += rule->w[q] * J;
            }
            for (int i = 0; i < np; i++)
                assert_near(sum[i], 0, 2e-14 * size, "∫ (f - u) φ", (size_t)i);
        }
        assert_true(!g->curved || most > 4 * least); /* else this would test little */
        free(sum);
        free(phi);
        eg_cubature_destroy(&rule);
    }
    eg_expression_destroy(&e);
    free(v.v);
    eg_field_destroy(&field);
    eg_function_destroy(&function);
    box_free(&b);
}

static void orthogonality_body(eg_device *device, eg_type real)
{
    if (real != EG_F64 || is_second_thread(device)) return;
    for (size_t s = 0; s < EG_COUNT(all_shapes); s++) {
        check_orthogonal(device, all_shapes[s], 1);
        check_orthogonal(device, all_shapes[s], 4);
    }
}

static void test_projection__error_is_orthogonal_on_curved_elements(void **state)
{
    (void)state;
    on_every_device(orthogonality_body);
}

/* --- several groups, several batches ---------------------------------------------------------- */

/* Leaves the left half as it is. */
static eg_status bend_right_half(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 2, x += 2) {
        x[0] = X[0];
        x[1] = X[1] + (X[0] > 0.5 ? 0.1 * sin(5 * X[0]) * X[1] : 0);
    }
    return EG_OK;
}

/* Degrees that differ from element to element, affine and bilinear ones: a linear function belongs
 * to all of them. */
static void mixed_body(eg_device *device, eg_type real)
{
    static const char *const text[] = {"2 * x - y + 1"};
    eg_context *ctx = eg_device_context(device);
    if (is_second_thread(device)) return;
    eg_box_options o = box_options(EG_SHAPE_QUAD, 7, 5, 1, 0);
    o.order = 1;
    o.map = bend_right_half;
    uint8_t degrees[35];
    eg_comm *comm = NULL;
    eg_mesh *mesh = NULL;
    eg_space *space = NULL;
    for (size_t i = 0; i < EG_COUNT(degrees); i++)
        degrees[i] = (uint8_t)(1 + i % 4);
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_mesh_create_box(ctx, &o, &mesh));
    TEST_OK(ctx,
            eg_space_create(device, comm, mesh, &(eg_space_options){.degrees = degrees}, &space));
    assert_true(space->group_count == 8);
    eg_function *function = function_new(space, 1, text);
    eg_field *field = poisoned_field(space, 1, real);
    eg_measure *measure = NULL;
    TEST_OK(ctx, eg_measure_create(space, 1, function, &measure));
    for (int interpolate = 0; interpolate < 2; interpolate++) {
        eg_norms norms;
        TEST_OK(ctx,
                (interpolate ? eg_function_interpolate : eg_function_project)(function, 0, field));
        TEST_OK(ctx, eg_measure_norms(measure, 0, field, &norms));
        assert_near(norms.linf, 0, 40 * epsilon(real), "linf", 0);
        assert_near(norms.l2, 0, 20 * epsilon(real), "l2", 0);
    }
    eg_measure_destroy(&measure);
    eg_field_destroy(&field);
    eg_function_destroy(&function);
    eg_space_destroy(&space);
    eg_mesh_destroy(&mesh);
    eg_comm_destroy(&comm);
}

static void test_function__serves_every_group_of_a_space(void **state)
{
    (void)state;
    on_every_device(mixed_body);
}

/* --- what is wrong ---------------------------------------------------------------------------- */

/* x = X³: J nearly vanishes at one side. */
static eg_status vanish(void *user, size_t count, const double *X, double *x)
{
    (void)user;
    for (size_t i = 0; i < count; i++, X += 2, x += 2) {
        x[0] = X[0] * X[0] * X[0] + 1e-7 * X[0];
        x[1] = X[1];
    }
    return EG_OK;
}

static void test_function__says_what_does_not_fit(void **state)
{
    (void)state;
    static const char *const texts[] = {"x", "log(x - 2)"};
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_box_options o = box_options(EG_SHAPE_QUAD, 2, 2, 1, 2);
    box b = box_new(device, &o, EG_BASIS_LOBATTO, 2), other = box_new(device, &o, 0, 1);
    eg_function *function = function_new(b.space, 2, texts), *one = function_new(b.space, 1, texts);
    eg_field *field = NULL, *elsewhere = NULL;
    eg_measure *measure = NULL;
    TEST_OK(ctx, eg_field_create(b.space, 2, EG_F64, &field));
    TEST_OK(ctx, eg_field_create(other.space, 2, EG_F64, &elsewhere));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "2 components instead of 1",
               eg_function_project(one, 0, field));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "2 components instead of 1",
               eg_function_interpolate(one, 0, field));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "another space",
               eg_function_project(function, 0, elsewhere));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "0 components",
               eg_function_create(b.space, NULL, 0, &(eg_function *){NULL}));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "2 components instead of 1",
               eg_measure_create(b.space, 1, function, &measure));
    assert_null(measure);

    /* NaN is an honest value: it ends in the field, not in an endless iteration. */
    TEST_OK(ctx, eg_function_project(function, 0, field));
    contents v = contents_new(field);
    for (int i = 0; i < b.space->groups[0].element->np; i++) {
        assert_true(isfinite(content(&v, 0, 0, 0, i)));
        assert_true(isnan(content(&v, 0, 0, 1, i)));
    }
    free(v.v);
    eg_field_destroy(&elsewhere);
    eg_field_destroy(&field);
    eg_function_destroy(&one);
    eg_function_destroy(&function);
    box_free(&other);
    box_free(&b);

    o = box_options(EG_SHAPE_QUAD, 1, 1, 1, 3);
    o.map = vanish;
    b = box_new(device, &o, EG_BASIS_LOBATTO, 10);
    function = function_new(b.space, 1, texts);
    TEST_OK(ctx, eg_field_create(b.space, 1, EG_F64, &field));
    TEST_FAILS(ctx, EG_ERROR_NUMERIC, "varies by a factor of",
               eg_function_project(function, 0, field));
    eg_field_destroy(&field);
    eg_function_destroy(&function);
    box_free(&b);
    eg_device_close(&device);
    test_context_free(&ctx);
}

/* --- memory ----------------------------------------------------------------------------------- */

static eg_status create_and_use(eg_space *space, void *user)
{
    eg_function *function = NULL;
    eg_field *field = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_function_create(space, (const eg_expression *[]){user}, 1, &function));
    EG_TRY(eg_field_create(space, 1, EG_F64, &field));
    EG_TRY(eg_function_interpolate(function, 0, field));
    EG_TRY(eg_function_project(function, 0, field));
    /* The second time nothing is allocated any more. */
    long calls = test_memory.calls;
    EG_TRY(eg_function_interpolate(function, 1, field));
    EG_TRY(eg_function_project(function, 1, field));
    assert_int_equal(test_memory.calls, calls);
done:
    eg_field_destroy(&field);
    eg_function_destroy(&function);
    return status;
}

static void test_function__survives_every_failed_allocation(void **state)
{
    (void)state;
    eg_context *ctx = NULL; /* of the expression alone, which outlives the others */
    TEST_OK(ctx, eg_context_create(NULL, &ctx));
    eg_expression *e = expression(ctx, "x + t");
    eg_box_options o = box_options(EG_SHAPE_QUAD, 2, 1, 1, 2);
    box_allocation_sweep(&o, create_and_use, e);
    eg_expression_destroy(&e);
    eg_context_destroy(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_interpolation__values_are_those_of_the_expressions_at_the_nodes),
        KERNEL_TEST(test_projection__reproduces_what_the_space_holds),
        KERNEL_TEST(test_projection__error_is_orthogonal_on_curved_elements),
        KERNEL_TEST(test_function__serves_every_group_of_a_space),
        cmocka_unit_test(test_function__says_what_does_not_fit),
        cmocka_unit_test(test_function__survives_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
