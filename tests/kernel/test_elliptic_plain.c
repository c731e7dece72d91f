/* Between nodes in tiles and unknowns in plain vectors, on every device, against loops on the host. */
#include "field.h"
#include "kernel/devices.h"

#include "model/elliptic/plain.h"
#include "solver/vectors.h"

/* Vectors of single and of double precision on either side. */
typedef struct setting {
    eg_context *ctx;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_unknowns *unknowns;
    eg_plain *plain;
    eg_field *field;
    eg_vectors *vectors;
    eg_buffer *vector;
    size_t nodes, count;
    double *at_nodes, *at_unknowns, *found;
} setting;

static setting setting_new(eg_device *device, eg_type real, eg_type plain, bool continuous)
{
    eg_context *ctx = eg_device_context(device);
    setting s = {.ctx = ctx, .mesh = box(ctx, EG_SHAPE_TRI, 9, 5, 0, 0.1, true)};
    uint64_t seed = 3;
    TEST_OK(ctx, eg_comm_self(ctx, &s.comm));
    TEST_OK(ctx,
            eg_space_create(device, s.comm, s.mesh,
                            &(eg_space_options){.basis = EG_BASIS_LOBATTO, .degree = 1}, &s.space));
    TEST_OK(ctx, eg_unknowns_create(s.space, continuous, NULL, &s.unknowns));
    TEST_OK(ctx, eg_plain_create(s.space, real, s.unknowns, plain, &s.plain));
    TEST_OK(ctx, eg_field_create(s.space, 1, real, &s.field));
    s.nodes = eg_field_host_count(s.field);
    s.count = (size_t)s.unknowns->count;
    TEST_OK(ctx, eg_vectors_create_plain(device, NULL, plain, s.count, &s.vectors));
    TEST_OK(ctx, eg_vectors_new(s.vectors, &s.vector));
    s.at_nodes = calloc(s.nodes, sizeof(double));
    s.at_unknowns = calloc(s.count, sizeof(double));
    s.found = calloc(s.nodes, sizeof(double));
    assert_true(s.at_nodes && s.at_unknowns && s.found);
    for (size_t i = 0; i < s.nodes; i++) /* whose sums are exact, in single precision, too */
        s.at_nodes[i] = floor(100 * test_random(&seed));
    for (size_t i = 0; i < s.count; i++)
        s.at_unknowns[i] = floor(100 * test_random(&seed));
    return s;
}

static void setting_free(setting *s)
{
    free(s->found);
    free(s->at_unknowns);
    free(s->at_nodes);
    eg_buffer_destroy(&s->vector);
    eg_vectors_destroy(&s->vectors);
    eg_field_destroy(&s->field);
    eg_plain_destroy(&s->plain);
    eg_unknowns_destroy(&s->unknowns);
    eg_space_destroy(&s->space);
    eg_mesh_destroy(&s->mesh);
    eg_comm_destroy(&s->comm);
}

static void check_gather(setting *s)
{
    double *expected = calloc(s->count, sizeof *expected);
    assert_non_null(expected);
    for (size_t i = 0; i < s->nodes; i++)
        expected[s->unknowns->number[i]] += s->at_nodes[i];
    TEST_OK(s->ctx, eg_field_from_host(s->field, s->at_nodes));
    TEST_OK(s->ctx, eg_vectors_fill(s->vectors, NAN, s->vector));
    TEST_OK(s->ctx, eg_plain_gather(s->plain, s->field->data, s->vector));
    for (size_t i = 0; i < s->count; i++) {
        double value;
        float single;
        if (s->vectors->type == EG_F64) {
            TEST_OK(s->ctx, eg_buffer_download(s->vector, i, 1, &value));
        } else {
            TEST_OK(s->ctx, eg_buffer_download(s->vector, i, 1, &single));
            value = (double)single;
        }
        assert_true(value == expected[i]);
    }
    free(expected);
}

static void check_nodes(setting *s, double times)
{
    TEST_OK(s->ctx, eg_field_to_host(s->field, s->found));
    for (size_t i = 0; i < s->nodes; i++)
        assert_true(s->found[i] == times * s->at_unknowns[s->unknowns->number[i]]);
}

static void check_scatter(setting *s)
{
    for (size_t i = 0; i < s->nodes; i++)
        s->found[i] = NAN;
    TEST_OK(s->ctx, eg_field_from_host(s->field, s->found));
    for (size_t i = 0; i < s->count; i++) {
        const float single = (float)s->at_unknowns[i];
        TEST_OK(s->ctx,
                eg_buffer_upload(s->vector, i, 1,
                                 s->vectors->type == EG_F64 ? (const void *)&s->at_unknowns[i]
                                                            : &single));
    }
    TEST_OK(s->ctx, eg_plain_scatter(s->plain, s->vector, s->field->data));
    check_nodes(s, 1);
    TEST_OK(s->ctx, eg_plain_add(s->plain, s->vector, s->field->data));
    check_nodes(s, 2);
}

/* The other precision on the other side. */
static void check_on(eg_device *device, eg_type real)
{
    const eg_type plain = real == EG_F64 ? EG_F32 : EG_F64;
    setting s = setting_new(device, real, plain, real == EG_F64);
    check_gather(&s);
    check_scatter(&s);
    setting_free(&s);
}

static void test_elliptic_plain__unknowns_get_sums_and_nodes_get_values(void **state)
{
    (void)state;
    set_pocl_optimises(false);
    on_every_device(check_on);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_elliptic_plain__unknowns_get_sums_and_nodes_get_values,
                                  tell_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
