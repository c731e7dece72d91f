/* Model `ins` with memory that fails: boundary faces, data and operators; a whole flow with a step of
 * it, where EAGRE_TEST_LONG is set. */
#include "kernel/boxes.h"

#include "model/ins/flow.h"

static const eg_ins_kind kinds[] = {EG_INS_GIVEN, EG_INS_OUTFLOW, EG_INS_SLIP, EG_INS_GIVEN};

/* 1 + t. */
static eg_status make_expression(eg_context *ctx, eg_expression **out)
{
    return eg_expression_create(ctx, "1 + t", &(eg_symbol){"t", EG_VARIABLE_T, 0}, 1, NULL, out);
}

static eg_status create_operators(eg_space *space, void *user)
{
    eg_expression *one = NULL;
    eg_ins_faces *faces = NULL;
    eg_ins_data *data = NULL;
    eg_ins_operator *op = NULL;
    eg_buffer *spread = NULL;
    eg_status status = EG_OK;
    (void)user;
    EG_TRY(make_expression(space->ctx, &one));
    const eg_expression *const given[8] = {one, one, one, one, one, one, one, one};
    EG_TRY(eg_ins_faces_create(space, kinds, &faces));
    EG_TRY(eg_ins_faces_spread(faces, (const int32_t[]){0, 1, 0, 1}, &spread));
    EG_TRY(eg_ins_data_create(faces, 2, given, &data));
    EG_TRY(eg_ins_data_set(data, 1, &(double){0}, &(double){1}));
    EG_TRY(eg_ins_operator_create(space, faces, &(eg_ins_advection_options){0}, &op));
done:
    eg_ins_operator_destroy(&op);
    eg_ins_data_destroy(&data);
    eg_buffer_destroy(&spread);
    eg_ins_faces_destroy(&faces);
    eg_expression_destroy(&one);
    return status;
}

static eg_status create_flow(eg_space *space, void *user)
{
    static const eg_ins_boundary boundary[] = {EG_INS_INFLOW, EG_INS_OPEN, EG_INS_FREE,
                                               EG_INS_WALL};
    eg_expression *one = NULL;
    eg_ins_given data[4] = {{.velocity = {NULL}}};
    eg_ins_flow *flow = NULL;
    eg_ins_options options = {.viscosity = 0.1,
                              .order = 2,
                              .pressure_order = 1,
                              .subcycles = 1,
                              .continuity = 1,
                              .boundary = boundary,
                              .given = data,
                              .advection = {.by_faces = true},
                              .preconditioner = eg_precondition_defaults(EG_PRECONDITION_MASS),
                              .velocity = EG_PRECONDITION_BLOCKS,
                              .tolerance = 1e-6,
                              .iterations = 1000,
                              .guesses = 2};
    eg_status status = EG_OK;
    (void)user;
    EG_TRY(make_expression(space->ctx, &one));
    data[0].velocity[0] = options.force[1] = one;
    EG_TRY(eg_ins_flow_create(space, &options, &flow));
    eg_ins_flow_begin(flow, 0);
    EG_TRY(eg_ins_flow_step(flow, 0.1));
done:
    eg_ins_flow_destroy(&flow);
    eg_expression_destroy(&one);
    return status;
}

static void test_ins_memory__failure_is_an_error_and_leaks_nothing(void **state)
{
    (void)state;
    const eg_box_options options = box_options(EG_SHAPE_TRI, 2, 2, 0, 0);
    box_allocation_sweep(&options, create_operators, NULL);
    if (getenv("EAGRE_TEST_LONG")) box_allocation_sweep(&options, create_flow, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_ins_memory__failure_is_an_error_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
