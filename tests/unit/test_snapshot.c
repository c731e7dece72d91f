/* Snapshots are the fields they were made of: the same polynomials on the same elements,
 * the same constants on the same cells. */
#include "expression.h"
#include "snapshots.h"

enum { DEGREE_MOST = 6 };

/* An element's coordinates and all components are those of the snapshot at a random point. */
static void check_element(test_elements *elements, const eg_mesh *mesh, int32_t e,
                          const test_source *fields, int count, const eg_snapshot *s, int32_t i,
                          uint64_t *seed)
{
    const eg_shape shape = (eg_shape)mesh->shape[e];
    double r[3];
    assert_int_equal(s->shape[i], shape);
    test_random_point(shape, seed, r);
    for (int d = 0; d < mesh->dim; d++)
        TEST_NEAR(test_evaluate(elements, shape, s->degree[i], EG_BASIS_EQUIDISTANT, s->dim,
                                s->x + s->first_node[i] * s->dim + d, r),
                  test_coordinate_at(elements, mesh, e, d, r), 1e-13);
    for (int f = 0, array = 0; f < count; f++) {
        assert_true(s->degree[i] >= fields[f].degree[e] && s->degree[i] >= mesh->order);
        for (int c = 0; c < fields[f].view.components; c++, array++)
            TEST_NEAR(test_evaluate(elements, shape, s->degree[i], EG_BASIS_EQUIDISTANT, 1,
                                    s->arrays[array].values + s->first_node[i], r),
                      test_source_at(elements, mesh, &fields[f], e, c, r), 1e-12);
    }
}

static void check_snapshot(const eg_mesh *mesh, const test_source *fields, int count,
                           uint64_t *seed)
{
    eg_snapshot_values views[2];
    test_elements elements = {.ctx = mesh->ctx};
    eg_snapshot *s = NULL;
    for (int f = 0; f < count; f++)
        views[f] = fields[f].view;
    TEST_OK(mesh->ctx, eg_snapshot_create_values(mesh, 7, 0.25, views, count, &s));
    assert_int_equal(s->element_count, mesh->element_count);
    assert_int_equal(s->step, 7);
    assert_true(s->time == 0.25 && s->dim == mesh->dim);
    for (int32_t i = 0; i < s->element_count; i++) {
        int32_t e = 0;
        if (i > 0) assert_true(s->global[i] > s->global[i - 1]);
        while (mesh->global[e] != s->global[i])
            e++;
        check_element(&elements, mesh, e, fields, count, s, i, seed);
    }
    test_elements_free(&elements);
    eg_snapshot_destroy(&s);
}

/* Which bases are polynomials on a shape. */
static bool has_basis(eg_shape shape, eg_basis basis)
{
    if (basis == EG_BASIS_CELLS) return false;
    return eg_shape_get_info(shape)->tensor || basis == EG_BASIS_LOBATTO ||
           basis == EG_BASIS_EQUIDISTANT || basis == EG_BASIS_MODAL;
}

static void test_snapshot__is_the_polynomial_of_every_basis_degree_and_mapping(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 3;
    for (size_t i = 0; i < EG_COUNT(test_shapes); i++)
        for (int order = 1; order <= 3; order += 2) {
            eg_mesh *mesh = test_bent_box(ctx, test_shapes[i], order, 2, false);
            for (int b = 0; b < EG_BASIS_COUNT; b++) {
                if (!has_basis(test_shapes[i], (eg_basis)b)) continue;
                for (int degree = 0; degree <= DEGREE_MOST; degree += 2) {
                    test_source field =
                        test_source_new(mesh, (eg_basis)b, degree, (degree + 3) % 7, 2, &seed);
                    check_snapshot(mesh, &field, 1, &seed);
                    test_source_free(&field);
                }
            }
            eg_mesh_destroy(&mesh);
        }
    test_context_free(&ctx);
}

static void test_snapshot__takes_the_largest_degree_of_several_fields_and_mapping(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 4;
    eg_mesh *mesh = test_mixed_mesh(ctx, 2);
    test_source fields[] = {test_source_new(mesh, EG_BASIS_LOBATTO, 1, 4, 2, &seed),
                            test_source_new(mesh, EG_BASIS_MODAL, 3, 0, 1, &seed)};
    eg_snapshot *s = NULL;
    check_snapshot(mesh, fields, 2, &seed);
    TEST_OK(ctx, eg_snapshot_create_values(mesh, 0, 0, &fields[0].view, 1, &s));
    for (int32_t i = 0; i < 3; i++) {
        assert_int_equal(s->degree[i], i % 2 ? 2 : 4);
        assert_int_equal(s->value_degree[i], i % 2 ? 1 : 4);
    }
    eg_snapshot_destroy(&s);
    TEST_OK(ctx, eg_snapshot_create_values(mesh, 0, 0, NULL, 0, &s));
    for (int32_t i = 0; i < 3; i++)
        assert_int_equal(s->degree[i], 2);
    assert_int_equal(s->array_count, 0);
    eg_snapshot_destroy(&s);
    test_source_free(&fields[0]);
    test_source_free(&fields[1]);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* All nodes of a cell have its value, to the bit, and lie where the element's mapping has them; a polynomial
 * beside it is still itself. */
static void check_cells(eg_context *ctx, eg_shape shape, int order, uint64_t *seed)
{
    enum { N = 3 };
    eg_mesh *mesh = test_bent_box(ctx, shape, order, 1, false);
    test_elements elements = {.ctx = ctx};
    test_source fields[] = {test_source_new(mesh, EG_BASIS_CELLS, N - 1, N - 1, 2, seed),
                            test_source_new(mesh, EG_BASIS_GAUSS, 2, 2, 1, seed)};
    const eg_snapshot_values views[] = {fields[0].view, fields[1].view};
    const int parts = mesh->dim == 2 ? N * N : N * N * N;
    eg_snapshot *s = NULL;
    TEST_OK(ctx, eg_snapshot_create_values(mesh, 0, 0, views, 2, &s));
    assert_int_equal(s->element_count, parts * mesh->element_count);
    for (int32_t i = 0; i < s->element_count; i++) {
        const int32_t e = (int32_t)s->global[i]; /* the numbers of a box have no gaps */
        double r[3], inside[3];
        assert_int_equal(e, i / parts);
        assert_int_equal(s->degree[i], order > 2 ? order : 2);
        assert_int_equal(s->value_degree[i], 2);
        test_random_point(shape, seed, r);
        for (int d = 0, part = i % parts; d < mesh->dim; d++, part /= N)
            inside[d] = (2 * (part % N) + 1 - N + r[d]) / N;
        for (int c = 0; c < 2; c++)
            for (int64_t k = s->first_node[i]; k < s->first_node[i + 1]; k++)
                assert_true(s->arrays[c].values[k] ==
                            fields[0].values[fields[0].first[e] + (size_t)(c * parts + i % parts)]);
        for (int d = 0; d < mesh->dim; d++)
            TEST_NEAR(test_evaluate(&elements, shape, s->degree[i], EG_BASIS_EQUIDISTANT, s->dim,
                                    s->x + s->first_node[i] * s->dim + d, r),
                      test_coordinate_at(&elements, mesh, e, d, inside), 1e-13);
        TEST_NEAR(test_evaluate(&elements, shape, s->degree[i], EG_BASIS_EQUIDISTANT, 1,
                                s->arrays[2].values + s->first_node[i], r),
                  test_source_at(&elements, mesh, &fields[1], e, 0, inside), 1e-12);
    }
    eg_snapshot_destroy(&s);
    test_source_free(&fields[0]);
    test_source_free(&fields[1]);
    test_elements_free(&elements);
    eg_mesh_destroy(&mesh);
}

static void test_snapshot__shows_cells_as_constants(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 8;
    check_cells(ctx, EG_SHAPE_QUAD, 1, &seed);
    check_cells(ctx, EG_SHAPE_QUAD, 3, &seed);
    check_cells(ctx, EG_SHAPE_HEX, 1, &seed);
    test_context_free(&ctx);
}

static void test_snapshot__refuses_cells_of_two_sizes(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 9;
    eg_mesh *mesh = test_bent_box(ctx, EG_SHAPE_QUAD, 1, 1, false);
    test_source fields[] = {test_source_new(mesh, EG_BASIS_CELLS, 2, 2, 2, &seed),
                            test_source_new(mesh, EG_BASIS_CELLS, 3, 3, 1, &seed)};
    const eg_snapshot_values views[] = {fields[0].view, fields[1].view};
    eg_snapshot *s = NULL;
    TEST_FAILS(ctx, EG_ERROR_UNSUPPORTED, "3 and with 4 cells",
               eg_snapshot_create_values(mesh, 0, 0, views, 2, &s));
    test_source_free(&fields[0]);
    test_source_free(&fields[1]);
    eg_mesh_destroy(&mesh);
    test_context_free(&ctx);
}

/* Where elements meet, a continuous field shows no rounding: vertices are copied. */
static void test_snapshot__values_at_vertices_are_those_of_the_field_to_the_bit(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    uint64_t seed = 5;
    for (size_t i = 0; i < EG_COUNT(test_shapes); i++) {
        eg_mesh *mesh = test_bent_box(ctx, test_shapes[i], 3, 1, false);
        test_source field = test_source_new(mesh, EG_BASIS_LOBATTO, 3, 5, 1, &seed);
        eg_snapshot *s = NULL;
        TEST_OK(ctx, eg_snapshot_create_values(mesh, 0, 0, &field.view, 1, &s));
        for (int32_t e = 0; e < mesh->element_count; e++) {
            const int32_t at = (int32_t)mesh->global[e]; /* the numbers of a box have no gaps */
            for (int v = 0; v < test_info(mesh, e)->vertices; v++) {
                const int from = eg_mesh_vertex_node(test_shapes[i], field.degree[e], v);
                const int to = eg_mesh_vertex_node(test_shapes[i], s->degree[at], v);
                const int64_t node = s->first_node[at] + to;
                const int64_t vertex = mesh->vertices[(int64_t)e * mesh->vertex_stride + v];
                assert_true(s->arrays[0].values[node] ==
                            field.values[field.first[e] + (size_t)from]);
                assert_memory_equal(s->x + node * s->dim, mesh->x + vertex * s->dim,
                                    (size_t)s->dim * sizeof *s->x);
            }
        }
        eg_snapshot_destroy(&s);
        test_source_free(&field);
        eg_mesh_destroy(&mesh);
    }
    test_context_free(&ctx);
}

static void test_snapshot__is_made_of_a_states_fields_and_expressions_of_them(void **state)
{
    (void)state;
    static const char *const kept_names[] = {"earlier"};
    const eg_symbol symbols[] = {
        {"x", EG_VARIABLE_X, 0}, {"t", EG_VARIABLE_T, 0}, {"momentum", EG_VARIABLE_COUNT + 1, 0}};
    eg_context *ctx = test_context();
    test_elements elements = {.ctx = ctx};
    eg_comm *comm = NULL;
    eg_device *device = NULL;
    eg_space *space = NULL;
    eg_field *kept = NULL, *field = NULL;
    eg_expression *e = NULL;
    eg_snapshot *s = NULL;
    uint64_t seed = 6;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    eg_mesh *mesh = test_bent_box(ctx, EG_SHAPE_TRI, 2, 2, false);
    test_source from = test_source_new(mesh, EG_BASIS_LOBATTO, 3, 3, 2, &seed);
    TEST_OK(ctx, eg_space_create(device, comm, mesh, &(eg_space_options){.degree = 3}, &space));
    TEST_OK(ctx, eg_field_create(space, 1, EG_F64, &kept));
    TEST_OK(ctx, eg_field_create(space, 2, EG_F64, &field));
    TEST_OK(ctx, eg_field_from_host(field, from.values));
    TEST_OK(ctx, eg_expression_create(ctx, "x*momentum + t", symbols, EG_COUNT(symbols), NULL, &e));
    const eg_state given = {
        .step = 3,
        .time = 0.5,
        .field_count = 2,
        .fields = {{.field = kept, .names = kept_names, .kept_only = true},
                   {.field = field, .names = test_pair_names, .units = test_pair_units}}};
    const eg_snapshot_extra extra = {.name = "flux", .expression = e};
    TEST_OK(ctx, eg_snapshot_create(&given, &extra, 1, &s));
    assert_int_equal(s->array_count, 3);
    assert_int_equal(eg_snapshot_find(s, "momentum"), 1);
    assert_int_equal(eg_snapshot_find(s, "earlier"), -1);
    assert_string_equal(s->arrays[0].unit, "kg/m³");
    assert_null(s->arrays[1].unit);
    for (int64_t i = 0; i < s->first_node[s->element_count]; i++)
        assert_true(s->arrays[2].values[i] == s->x[i * s->dim] * s->arrays[1].values[i] + s->time);
    for (int32_t m = 0; m < mesh->element_count; m++)
        check_element(&elements, mesh, m, &from, 1, s, (int32_t)mesh->global[m], &seed);
    TEST_FAILS(ctx, EG_ERROR_INPUT, "two fields called \"flux\"", eg_snapshot_add(s, &extra));
    test_elements_free(&elements);
    eg_snapshot_destroy(&s);
    eg_expression_destroy(&e);
    test_source_free(&from);
    eg_field_destroy(&field);
    eg_field_destroy(&kept);
    eg_space_destroy(&space);
    eg_mesh_destroy(&mesh);
    eg_device_close(&device);
    eg_comm_destroy(&comm);
    test_context_free(&ctx);
}

static eg_status make_one(eg_context *ctx, void *user)
{
    const eg_mesh *mesh = user;
    static const uint8_t degree[2] = {2, 2};
    static const double values[24] = {0};
    const eg_snapshot_values field = {.components = 2,
                                      .names = test_pair_names,
                                      .units = test_pair_units,
                                      .basis = EG_BASIS_LOBATTO,
                                      .degree = degree,
                                      .values = values};
    eg_snapshot *s = NULL;
    eg_mesh copy = *mesh;
    copy.ctx = ctx;
    eg_expression *e = NULL;
    eg_status status = EG_OK;
    EG_TRY(eg_expression_create(ctx, "1", NULL, 0, NULL, &e));
    EG_TRY(eg_snapshot_create_values(&copy, 0, 0, &field, 1, &s));
    EG_TRY(eg_snapshot_add(s, &(eg_snapshot_extra){.name = "one", .expression = e}));
done:
    eg_expression_destroy(&e);
    eg_snapshot_destroy(&s);
    return status;
}

static void test_snapshot__survives_every_failing_allocation(void **state)
{
    (void)state;
    eg_context *ctx = NULL;
    assert_int_equal(eg_context_create(NULL, &ctx), EG_OK);
    eg_mesh *mesh = test_bent_box(ctx, EG_SHAPE_TRI, 1, 1, false);
    test_allocation_sweep(make_one, mesh);
    eg_mesh_destroy(&mesh);
    eg_context_destroy(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_snapshot__is_the_polynomial_of_every_basis_degree_and_mapping),
        cmocka_unit_test(test_snapshot__takes_the_largest_degree_of_several_fields_and_mapping),
        cmocka_unit_test(test_snapshot__shows_cells_as_constants),
        cmocka_unit_test(test_snapshot__refuses_cells_of_two_sizes),
        cmocka_unit_test(test_snapshot__values_at_vertices_are_those_of_the_field_to_the_bit),
        cmocka_unit_test(test_snapshot__is_made_of_a_states_fields_and_expressions_of_them),
        cmocka_unit_test(test_snapshot__survives_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
