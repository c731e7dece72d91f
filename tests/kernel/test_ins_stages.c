/* A flow whose subcycles are done stage by stage in one kernel, as on GPUs, is the flow whose stages are a product and
 * an update; with each preconditioner of the velocity. */
#include "expression.h"
#include "field.h"
#include "kernel/devices.h"

#include "model/ins/flow.h"

enum { COMPONENTS = 3, STEPS = 4 };

static eg_mesh *make_mesh(eg_context *ctx)
{
    eg_mesh *mesh = NULL;
    TEST_OK(
        ctx,
        eg_mesh_create_box(
            ctx,
            &(eg_box_options){
                .shape = EG_SHAPE_TRI, .cells = {4, 3}, .high = {2, 1}, .perturb = 0.2, .seed = 3},
            &mesh));
    return mesh;
}

/* Values of u, v, p after some steps from rest, past walls, with inflow and outflow; the caller frees them. */
static double *run(eg_device *device, const eg_mesh *mesh, bool by_faces,
                   eg_precondition_kind velocity, size_t *count)
{
    static const eg_ins_boundary boundary[] = {EG_INS_INFLOW, EG_INS_OPEN, EG_INS_FREE,
                                               EG_INS_WALL};
    eg_context *ctx = eg_device_context(device);
    eg_expression *one = expression(ctx, "1 + x*y");
    eg_ins_given data[4] = {{.velocity = {one}}};
    const eg_ins_options options = {.viscosity = 0.05,
                                    .order = 2,
                                    .pressure_order = 1,
                                    .subcycles = 3,
                                    .advection = {.by_faces = by_faces},
                                    .boundary = boundary,
                                    .given = data,
                                    .force = {NULL, one},
                                    .preconditioner =
                                        eg_precondition_defaults(EG_PRECONDITION_PMG_CG_AMG),
                                    .velocity = velocity,
                                    .tolerance = 1e-13,
                                    .iterations = 1000};
    eg_comm *comm = NULL;
    eg_space *space = NULL;
    eg_ins_flow *flow = NULL;
    int lanes = 0;
    TEST_OK(ctx, eg_comm_self(ctx, &comm));
    TEST_OK(ctx, eg_ins_lanes(device, mesh, 3, &lanes));
    TEST_OK(ctx, eg_space_create(
                     device, comm, mesh,
                     &(eg_space_options){.basis = EG_BASIS_LOBATTO, .degree = 3, .lanes = lanes},
                     &space));
    TEST_OK(ctx, eg_ins_flow_create(space, &options, &flow));
    eg_ins_flow_begin(flow, 0);
    for (int i = 0; i < STEPS; i++)
        TEST_OK(ctx, eg_ins_flow_step(flow, 0.05));
    *count = eg_field_host_count(eg_ins_flow_field(flow, 0, 0));
    double *values = calloc(COMPONENTS * *count, sizeof *values);
    assert_non_null(values);
    for (size_t c = 0; c < COMPONENTS; c++)
        TEST_OK(ctx, eg_field_to_host(eg_ins_flow_field(flow, 0, (int)c), values + c * *count));
    eg_ins_flow_destroy(&flow);
    eg_space_destroy(&space);
    eg_comm_destroy(&comm);
    eg_expression_destroy(&one);
    return values;
}

static void compare(eg_device *device)
{
    eg_context *ctx = eg_device_context(device);
    eg_mesh *mesh = make_mesh(ctx);
    size_t count = 0;
    double *plain = run(device, mesh, false, EG_PRECONDITION_MASS, &count), most = 0;
    for (size_t i = 0; i < COMPONENTS * count; i++)
        most = fmax(most, fabs(plain[i]));
    assert_true(most > 0.5);
    for (int k = 0; k < 2; k++) {
        double *staged =
            run(device, mesh, true, k == 0 ? EG_PRECONDITION_MASS : EG_PRECONDITION_BLOCKS, &count);
        for (size_t i = 0; i < COMPONENTS * count; i++)
            assert_near(staged[i], plain[i], 1e-9 * most, "u, v, p", i);
        free(staged);
    }
    free(plain);
    eg_mesh_destroy(&mesh);
}

static void test_ins_stages__flow_is_the_same_with_stages_at_once(void **state)
{
    (void)state;
    on_one_core(compare);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        KERNEL_TEST(test_ins_stages__flow_is_the_same_with_stages_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
