/* What eg_space_estimate tells is what a space and a field then take. */
#include "field.h"

static int64_t add(const eg_buffer *buffer)
{
    return buffer ? (int64_t)eg_buffer_bytes(buffer) : 0;
}

/* Bytes of a space's tables over elements. */
static int64_t space_bytes(const eg_space *space)
{
    int64_t bytes = (int64_t)sizeof(int32_t) * space->mesh->element_count; /* slot_of_element */
    for (int i = 0; i < space->group_count; i++) {
        const eg_group *g = &space->groups[i];
        bytes += (int64_t)sizeof(int32_t) * g->tiles * g->lanes; /* element_of_slot */
        bytes += add(g->weight) + add(g->neighbour) + add(g->neighbour_face) + add(g->nodes);
        bytes += add(g->volume_factors) + add(g->face_factors);
    }
    return bytes;
}

/* The same to a part in a hundred, which covers what fills up tiles. */
static void assert_near(int64_t estimate, int64_t taken)
{
    assert_true(estimate <= taken);
    assert_true((double)(taken - estimate) <= 0.01 * (double)taken);
}

static void
test_space_estimate__tells_what_spaces_and_fields_take_of_every_shape_and_order(void **state)
{
    (void)state;
    eg_context *ctx = test_context();
    eg_device *device = NULL;
    eg_comm *comm = NULL;
    const int degree = 3;
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    for (int s = EG_SHAPE_TRI; s < EG_SHAPE_COUNT; s++) {
        for (int order = 1; order <= 2; order++) {
            const bool flat = eg_shape_get_info((eg_shape)s)->dim == 2;
            const int n = flat ? 48 : 14;
            eg_mesh *mesh = box_with(ctx, &(eg_box_options){.shape = (eg_shape)s,
                                                            .cells = {n, n, n},
                                                            .perturb = order > 1 ? 0.2 : 0.0,
                                                            .order = order});
            eg_space *space = NULL;
            eg_field *field = NULL;
            const eg_space_memory memory = eg_space_estimate(mesh, degree);
            TEST_OK(ctx, eg_space_create(device, comm, mesh, &(eg_space_options){.degree = degree},
                                         &space));
            TEST_OK(ctx, eg_field_create(space, 1, EG_F64, &field));
            assert_int_equal(memory.values, space->dof);
            assert_near(memory.space, space_bytes(space));
            assert_near(memory.field, (int64_t)eg_buffer_bytes(field->data));
            eg_field_destroy(&field);
            eg_space_destroy(&space);
            eg_mesh_destroy(&mesh);
        }
    }
    eg_comm_destroy(&comm);
    eg_device_close(&device);
    test_context_free(&ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(
        test_space_estimate__tells_what_spaces_and_fields_take_of_every_shape_and_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
