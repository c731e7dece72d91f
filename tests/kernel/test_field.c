/* Fields on every device: the way from the host and back, padding that weighs nothing, and the
 * transfer between degrees and bases. */
#include "kernel/devices.h"

#include "field.h"

/* A space of a mesh on one rank, with all that belongs to it. */
typedef struct setting {
    eg_mesh *mesh;
    eg_comm *comm;
    eg_space *space;
} setting;

static setting setting_new(eg_device *device, eg_mesh *mesh, const eg_space_options *options)
{
    eg_context *ctx = eg_device_context(device);
    setting s = {.mesh = mesh};
    TEST_OK(ctx, eg_comm_self(ctx, &s.comm));
    TEST_OK(ctx, eg_space_create(device, s.comm, mesh, options, &s.space));
    return s;
}

static void setting_free(setting *s)
{
    eg_space_destroy(&s->space);
    eg_comm_destroy(&s->comm);
    eg_mesh_destroy(&s->mesh);
}

static double *random_values(const eg_field *field, uint64_t seed)
{
    size_t count = eg_field_host_count(field);
    double *values = new_values(count);
    for (size_t i = 0; i < count; i++)
        values[i] = rounded(field->type, test_random(&seed));
    return values;
}

/* Poisons the values of a field, but not the gaps between its groups. */
static void poison(eg_field *field)
{
    static const uint64_t ones = UINT64_MAX; /* a NaN */
    for (int i = 0; i < field->space->group_count; i++) {
        const eg_group *g = &field->space->groups[i];
        size_t count = (size_t)g->tiles * eg_group_tile_values(g, field->components);
        TEST_OK(field->space->ctx, eg_buffer_fill(field->data, field->offset[i], count, &ones));
    }
}

/* All values on the device. */
static array download_all(const eg_field *field)
{
    array a = {.buffer = field->data,
               .count = eg_buffer_count(field->data),
               .type = field->type,
               .v = new_values(eg_buffer_count(field->data))};
    array_download(&a);
    return a;
}

/* --- the host --------------------------------------------------------------------------------- */

/* Every value is where the layout says, padding repeats the last element, gaps and the slack at
 * both ends are zero. */
static void check_layout(const eg_field *field, const double *values)
{
    const eg_space *space = field->space;
    const eg_mesh *mesh = space->mesh;
    array a = download_all(field);
    size_t *first = calloc((size_t)mesh->element_count + 1, sizeof *first);
    assert_non_null(first);
    for (int32_t e = 0; e < mesh->element_count; e++)
        first[e + 1] =
            first[e] + (size_t)(eg_space_group_of(space, e)->element->np * field->components);
    assert_int_equal(first[mesh->element_count], eg_field_host_count(field));
    assert_int_equal(field->offset[0], EG_OFFSET_BLOCK);
    assert_int_equal(field->offset[space->group_count] + EG_OFFSET_BLOCK, a.count);
    for (size_t k = 0; k < EG_OFFSET_BLOCK; k++)
        assert_true(a.v[k] == 0.0 && a.v[a.count - 1 - k] == 0.0);
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        const int n = field->components * g->element->np;
        assert_int_equal(field->offset[i] % EG_OFFSET_BLOCK, 0);
        for (int64_t tile = 0; tile < g->own_tiles; tile++)
            for (int lane = 0; lane < g->lanes; lane++) {
                int32_t e = g->element_of_slot[tile * g->lanes + lane];
                for (int k = 0; k < n; k++)
                    assert_true(
                        a.v[field->offset[i] + (size_t)((tile * n + k) * g->lanes + lane)] ==
                        values[first[e] + (size_t)k]);
            }
        for (size_t k = field->offset[i] + (size_t)(g->tiles * n * g->lanes);
             k < field->offset[i + 1]; k++)
            assert_true(a.v[k] == 0.0);
    }
    free(first);
    free(a.v);
}

static void round_trip(eg_device *device, eg_type real, eg_mesh *mesh,
                       const eg_space_options *options)
{
    eg_context *ctx = eg_device_context(device);
    setting s = setting_new(device, mesh, options);
    eg_field *field = NULL;
    TEST_OK(ctx, eg_field_create(s.space, 3, real, &field));
    double *values = random_values(field, 3), *back = random_values(field, 4);
    TEST_OK(ctx, eg_field_from_host(field, values));
    check_layout(field, values);
    TEST_OK(ctx, eg_field_to_host(field, back));
    assert_memory_equal(back, values, eg_field_host_count(field) * sizeof *values);
    /* In parts of 1, 3, 5 … elements it is the same. */
    size_t at = 0;
    for (int32_t first = 0, part = 1; first < mesh->element_count; first += part, part += 2) {
        size_t count = 0;
        if (part > mesh->element_count - first) part = mesh->element_count - first;
        for (int32_t e = first; e < first + part; e++)
            count += (size_t)(3 * eg_space_group_of(s.space, e)->element->np);
        memset(back, 0xff, count * sizeof *back);
        TEST_OK(ctx, eg_field_to_host_part(field, first, part, back));
        assert_memory_equal(back, values + at, count * sizeof *values);
        at += count;
    }
    free(back);
    free(values);
    eg_field_destroy(&field);
    setting_free(&s);
}

/* Strips of quadrilaterals with any number of elements. */
static const int counts[] = {1, 7, 33};

static void host_and_back(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    for (size_t i = 0; i < EG_COUNT(counts); i++)
        round_trip(device, real, box(ctx, EG_SHAPE_QUAD, counts[i], 1, 0, 0.0, false),
                   &(eg_space_options){.degree = 2});
    eg_mesh *mesh = box(ctx, EG_SHAPE_HEX, 3, 3, 3, 0.1, false);
    uint8_t *degrees = mixed_degrees(mesh, 1, 3);
    round_trip(device, real, mesh, &(eg_space_options){.degrees = degrees});
    free(degrees);
    /* Long enough for several pieces. */
    round_trip(device, real, box(ctx, EG_SHAPE_TRI, 70, 50, 0, 0.0, false),
               &(eg_space_options){.degree = 6});
}

static void test_field__values_go_to_the_device_and_come_back_unchanged(void **state)
{
    (void)state;
    on_every_device(host_and_back);
}

/* With degree 0 the values of a field's group lie like the weights. */
static void padding_weighs_nothing(eg_device *device, eg_type real)
{
    static const eg_reduction_kind kinds[] = {EG_REDUCE_WEIGHTED_DOT};
    if (real != EG_F64) return;
    eg_context *ctx = eg_device_context(device);
    eg_reducer *reducer = NULL;
    TEST_OK(ctx, eg_reducer_create(device, EG_F64, kinds, 1, &reducer));
    array result = array_poisoned(device, EG_F64, 1);
    for (size_t i = 0; i < EG_COUNT(counts); i++) {
        setting s = setting_new(device, box(ctx, EG_SHAPE_QUAD, counts[i], 1, 0, 0.0, false),
                                &(eg_space_options){.degree = 0});
        eg_field *field = NULL, *one = NULL;
        double sum = 0.0, values[33], ones[33];
        TEST_OK(ctx, eg_field_create(s.space, 1, EG_F64, &field));
        TEST_OK(ctx, eg_field_create(s.space, 1, EG_F64, &one));
        for (int e = 0; e < counts[i]; e++) {
            sum += values[e] = 1.0 + e * e;
            ones[e] = 1.0;
        }
        TEST_OK(ctx, eg_field_from_host(field, values));
        TEST_OK(ctx, eg_field_from_host(one, ones));
        const eg_group *g = &s.space->groups[0];
        const size_t count = (size_t)(g->tiles * g->lanes);
        eg_buffer *x = NULL, *y = NULL;
        TEST_OK(ctx, eg_buffer_create(device, EG_F64, count, &x));
        TEST_OK(ctx, eg_buffer_create(device, EG_F64, count, &y));
        TEST_OK(ctx, eg_buffer_copy(x, 0, field->data, field->offset[0], count));
        TEST_OK(ctx, eg_buffer_copy(y, 0, one->data, one->offset[0], count));
        const eg_reduction reduction = {.kind = kinds[0], .x = x, .y = y, .w = g->weight};
        TEST_OK(ctx, eg_reduce(reducer, count, &reduction, result.buffer));
        array_download(&result);
        assert_true(result.v[0] == sum);
        eg_buffer_destroy(&y);
        eg_buffer_destroy(&x);
        eg_field_destroy(&one);
        eg_field_destroy(&field);
        setting_free(&s);
    }
    array_free(&result);
    eg_reducer_destroy(&reducer);
}

static void test_field__padding_weighs_nothing_in_a_sum_over_1_7_and_33_elements(void **state)
{
    (void)state;
    on_every_device(padding_weighs_nothing);
}

/* --- transfer --------------------------------------------------------------------------------- */

/* Two spaces on one mesh. */
typedef struct two {
    setting a;
    eg_space *b;
    eg_field *u, *v;
} two;

static two two_new(eg_device *device, eg_type real, eg_mesh *mesh, const eg_space_options *a,
                   const eg_space_options *b)
{
    eg_context *ctx = eg_device_context(device);
    two t = {.a = setting_new(device, mesh, a)};
    TEST_OK(ctx, eg_space_create(device, t.a.comm, mesh, b, &t.b));
    TEST_OK(ctx, eg_field_create(t.a.space, 2, real, &t.u));
    TEST_OK(ctx, eg_field_create(t.b, 2, real, &t.v));
    return t;
}

static void two_free(two *t)
{
    eg_field_destroy(&t->v);
    eg_field_destroy(&t->u);
    eg_space_destroy(&t->b);
    setting_free(&t->a);
}

/* Compares with the matrix times the values of each element, one after the other. */
static void check_transfer(const two *t, const double *from, const double *to)
{
    const double bound = 200 * epsilon(t->u->type);
    for (int32_t e = 0; e < t->a.mesh->element_count; e++) {
        const eg_element *a = eg_space_group_of(t->a.space, e)->element;
        const eg_element *b = eg_space_group_of(t->b, e)->element;
        double *m = new_values((size_t)(a->np * b->np));
        TEST_OK(t->b->ctx, eg_element_transfer(a, b, m));
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < b->np; i++) {
                double sum = 0.0;
                for (int j = 0; j < a->np; j++)
                    sum += m[i * a->np + j] * from[c * a->np + j];
                assert_near(to[c * b->np + i], sum, bound, "value", (size_t)e);
            }
        free(m);
        from += 2 * a->np;
        to += 2 * b->np;
    }
}

static void transfer_between(eg_device *device, eg_type real, eg_mesh *mesh,
                             const eg_space_options *a, const eg_space_options *b)
{
    eg_context *ctx = eg_device_context(device);
    two t = two_new(device, real, mesh, a, b);
    double *from = random_values(t.u, 8), *to = random_values(t.v, 9);
    TEST_OK(ctx, eg_field_from_host(t.u, from));
    poison(t.v);
    TEST_OK(ctx, eg_field_transfer(t.u, t.v));
    TEST_OK(ctx, eg_field_to_host(t.v, to));
    check_transfer(&t, from, to);
    check_layout(t.v, to);
    free(to);
    free(from);
    two_free(&t);
}

static void transfers(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    set_pocl_optimises(false);
    transfer_between(device, real, box(ctx, EG_SHAPE_TRI, 5, 3, 0, 0.0, false),
                     &(eg_space_options){.degree = 2}, &(eg_space_options){.degree = 5});
    transfer_between(device, real, box(ctx, EG_SHAPE_TET, 2, 2, 1, 0.0, false),
                     &(eg_space_options){.degree = 4},
                     &(eg_space_options){.degree = 2, .basis = EG_BASIS_MODAL});
    transfer_between(device, real, box(ctx, EG_SHAPE_QUAD, 5, 5, 0, 0.0, false),
                     &(eg_space_options){.degree = 3, .lanes = 8},
                     &(eg_space_options){.degree = 3, .lanes = 32, .basis = EG_BASIS_GAUSS});
    /* Every element changes its group. */
    eg_mesh *mesh = box(ctx, EG_SHAPE_HEX, 3, 3, 2, 0.1, false);
    uint8_t *a = mixed_degrees(mesh, 1, 3), *b = mixed_degrees(mesh, 4, 2);
    for (int32_t e = 0; e < mesh->element_count; e += 3)
        b[e] = 5;
    transfer_between(device, real, mesh, &(eg_space_options){.degrees = a},
                     &(eg_space_options){.degrees = b});
    free(a);
    free(b);
}

static void test_transfer__agrees_with_the_matrix_on_every_element(void **state)
{
    (void)state;
    on_every_device(transfers);
}

static void up_and_down(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    two t = two_new(device, real, box(ctx, EG_SHAPE_HEX, 3, 2, 2, 0.1, false),
                    &(eg_space_options){.degree = 2}, &(eg_space_options){.degree = 4});
    double *values = random_values(t.u, 5), *back = random_values(t.u, 6);
    TEST_OK(ctx, eg_field_from_host(t.u, values));
    TEST_OK(ctx, eg_field_transfer(t.u, t.v));
    poison(t.u);
    TEST_OK(ctx, eg_field_transfer(t.v, t.u));
    TEST_OK(ctx, eg_field_to_host(t.u, back));
    for (size_t i = 0; i < eg_field_host_count(t.u); i++)
        assert_near(back[i], values[i], 200 * epsilon(real), "value", i);
    free(back);
    free(values);
    two_free(&t);
}

static void test_transfer__to_a_higher_degree_and_back_loses_nothing(void **state)
{
    (void)state;
    on_every_device(up_and_down);
}

/* --- the kernels of the halo ------------------------------------------------------------------ */

#define HALO_ROWS 8

static eg_kernel *halo_kernel(eg_device *device, eg_type real, const char *entry)
{
    eg_kernel *kernel = NULL;
    const eg_define defines[] = {{"ROWS", HALO_ROWS}};
    TEST_OK(eg_device_context(device),
            eg_kernel_create(device,
                             &(eg_kernel_options){.size = sizeof(eg_kernel_options),
                                                  .source = "field/halo.k.c",
                                                  .entry = entry,
                                                  .real = real,
                                                  .defines = defines,
                                                  .define_count = EG_COUNT(defines)},
                             &kernel));
    return kernel;
}

/* Gathers every third value, backwards, and scatters them to another array, but for the last
 * few. */
static void gather_and_scatter(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    eg_kernel *pack = halo_kernel(device, real, "pack"),
              *unpack = halo_kernel(device, real, "unpack");
    const size_t tiles = 7, count = tiles * HALO_ROWS * (size_t)eg_kernel_lanes(pack);
    const size_t used = count - 5;
    uint64_t seed = 12;
    array u = array_random(device, real, 3 * count, -1, 1, &seed);
    array packed = array_poisoned(device, real, count);
    array v = array_poisoned(device, real, 2 * count);
    array from = array_new(device, EG_I64, count), back = array_new(device, EG_I64, count);
    array to = array_new(device, EG_I64, count);
    for (size_t k = 0; k < count; k++) {
        from.v[k] = (double)(3 * (count - 1 - k) + 1);
        back.v[k] = (double)(k / 2);
        to.v[k] = (double)(2 * k + 1);
    }
    array_upload(&from);
    array_upload(&back);
    array_upload(&to);
    TEST_OK(ctx, eg_launch(pack, (int64_t)tiles, EG_BUFFER("u", u.buffer),
                           EG_BUFFER("from", from.buffer), EG_BUFFER("packed", packed.buffer)));
    TEST_OK(ctx, eg_launch(unpack, (int64_t)tiles, EG_BUFFER("packed", packed.buffer),
                           EG_BUFFER("from", back.buffer), EG_BUFFER("to", to.buffer),
                           EG_INTEGER("count", (int64_t)used), EG_BUFFER("u", v.buffer)));
    array_download(&packed);
    array_download(&v);
    for (size_t k = 0; k < count; k++)
        assert_true(packed.v[k] == u.v[3 * (count - 1 - k) + 1]);
    for (size_t k = 0; k < 2 * count; k++)
        if (k % 2 && k / 2 < used)
            assert_true(v.v[k] == packed.v[k / 4]);
        else
            assert_true(isnan(v.v[k]));
    array *all[] = {&u, &packed, &v, &from, &back, &to};
    for (size_t i = 0; i < EG_COUNT(all); i++)
        array_free(all[i]);
    eg_kernel_destroy(&unpack);
    eg_kernel_destroy(&pack);
}

static void test_halo__values_are_gathered_and_scattered_as_listed(void **state)
{
    (void)state;
    on_every_device(gather_and_scatter);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void refusals(eg_device *device, eg_type real)
{
    eg_context *ctx = eg_device_context(device);
    two t = two_new(device, real, box(ctx, EG_SHAPE_TRI, 2, 2, 0, 0.0, false),
                    &(eg_space_options){.degree = 1}, &(eg_space_options){.degree = 2});
    eg_field *field = NULL;
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "0 components", eg_field_create(t.b, 0, real, &field));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "1 to 4096 are", eg_field_create(t.b, 4097, real, &field));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "not i32", eg_field_create(t.b, 1, EG_I32, &field));
    assert_null(field);
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "two fields", eg_field_transfer(t.u, t.u));
    TEST_OK(ctx, eg_field_create(t.b, 1, real, &field));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "2 components", eg_field_transfer(t.u, field));
    eg_field_destroy(&field);
    setting other = setting_new(device, box(ctx, EG_SHAPE_TRI, 2, 2, 0, 0.0, false),
                                &(eg_space_options){.degree = 1});
    TEST_OK(ctx, eg_field_create(other.space, 2, real, &field));
    TEST_FAILS(ctx, EG_ERROR_ARGUMENT, "same mesh", eg_field_transfer(t.u, field));
    eg_field_destroy(&field);
    setting_free(&other);
    two_free(&t);
}

static void test_field__what_does_not_fit_is_refused(void **state)
{
    (void)state;
    on_every_device(refusals);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_field__values_go_to_the_device_and_come_back_unchanged),
        KERNEL_TEST(test_field__padding_weighs_nothing_in_a_sum_over_1_7_and_33_elements),
        KERNEL_TEST(test_transfer__agrees_with_the_matrix_on_every_element),
        KERNEL_TEST(test_transfer__to_a_higher_degree_and_back_loses_nothing),
        KERNEL_TEST(test_halo__values_are_gathered_and_scattered_as_listed),
        KERNEL_TEST(test_field__what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
