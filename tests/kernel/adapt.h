/* What tests of adaptation share: a bench with all that adapts on a mesh, spaces and fields on it. */
#ifndef EG_TEST_ADAPT_H
#define EG_TEST_ADAPT_H

#include "kernel/devices.h"

#include "field.h"
#include "model/advection/adapt.h"

#include <math.h>

/* The options of what adapts. */
#define LEAST 1
#define MOST 4
#define RAISE 0.2
#define LOWER 0.05

/* A mesh with a space on it, an operator, and what adapts. */
typedef struct bench {
    eg_context *ctx;
    eg_device *device;
    eg_comm *comm;
    eg_mesh *mesh;
    eg_space *space;
    eg_expression *velocity[3];
    eg_advection *op;
    eg_adapt *adapt;
    int components, lanes;
} bench;

static inline eg_space *space_with(const bench *b, const uint8_t *degrees)
{
    eg_space *space = NULL;
    TEST_OK(b->ctx, eg_space_create(b->device, b->comm, b->mesh,
                                    &(eg_space_options){.basis = EG_BASIS_MODAL,
                                                        .degrees = degrees,
                                                        .lanes = b->lanes,
                                                        .like = b->space},
                                    &space));
    return space;
}

static inline eg_advection_options operator_options(const bench *b)
{
    return (eg_advection_options){.components = b->components,
                                  .velocity = {b->velocity[0], b->velocity[1], b->velocity[2]},
                                  .degree_most = MOST};
}

static inline eg_advection *operator_on(const bench *b, eg_space *space)
{
    eg_advection *op = NULL;
    const eg_advection_options options = operator_options(b);
    TEST_OK(b->ctx, eg_advection_create(space, &options, &op));
    return op;
}

static inline bench bench_new(eg_device *device, const eg_box_options *o, int components,
                              const char *x, const char *y, const char *z,
                              const eg_expression *const *boundary)
{
    bench b = {.ctx = eg_device_context(device), .device = device, .components = components};
    const eg_adapt_options options = {.on = true,
                                      .least =
                                          o->perturb > 0 && o->shape == EG_SHAPE_HEX ? 2 : LEAST,
                                      .most = MOST,
                                      .raise = RAISE,
                                      .lower = LOWER,
                                      .boundary = boundary};
    TEST_OK(b.ctx, eg_comm_self(b.ctx, &b.comm));
    b.mesh = box_with(b.ctx, o);
    b.velocity[0] = expression(b.ctx, x);
    b.velocity[1] = expression(b.ctx, y);
    b.velocity[2] = expression(b.ctx, z);
    const eg_advection_options of_operators = operator_options(&b);
    b.lanes = eg_advection_lanes(device, b.mesh, &of_operators, MOST);
    TEST_OK(b.ctx, eg_space_create(device, b.comm, b.mesh,
                                   &(eg_space_options){
                                       .basis = EG_BASIS_MODAL, .degree = MOST, .lanes = b.lanes},
                                   &b.space));
    b.op = operator_on(&b, b.space);
    TEST_OK(b.ctx, eg_adapt_create(device, b.comm, b.mesh, components, &options, &b.adapt));
    return b;
}

static inline void bench_free(bench *b)
{
    eg_adapt_destroy(&b->adapt);
    eg_advection_destroy(&b->op);
    eg_space_destroy(&b->space);
    for (int d = 0; d < 3; d++)
        eg_expression_destroy(&b->velocity[d]);
    eg_mesh_destroy(&b->mesh);
    eg_comm_destroy(&b->comm);
}

static inline eg_field *field_on(eg_space *space, int components, const double *values)
{
    eg_field *field = NULL;
    TEST_OK(space->ctx, eg_field_create(space, components, EG_F64, &field));
    if (values) TEST_OK(space->ctx, eg_field_from_host(field, values));
    return field;
}

/* Values of a bump, as modes; what they are exactly does not matter. */
static inline eg_field *bump_on(eg_space *space)
{
    eg_context *ctx = space->ctx;
    eg_function *function = NULL;
    eg_expression *bump = expression(ctx, "1 + exp(-200*((x - 0.4)^2 + (y - 0.5)^2))");
    const eg_expression *const list[] = {bump};
    eg_field *field = field_on(space, 1, NULL);
    TEST_OK(ctx, eg_function_create(space, list, 1, &function));
    TEST_OK(ctx, eg_function_project(function, 0.0, field));
    eg_function_destroy(&function);
    eg_expression_destroy(&bump);
    return field;
}

static const eg_box_options square = {
    .shape = EG_SHAPE_QUAD, .cells = {9, 7}, .periodic = {true, true}};

/* Opens a CPU for what does not depend on the device. */
static inline eg_device *open_cpu(void)
{
    eg_device *device = NULL;
    eg_context *ctx = test_context();
    TEST_OK(ctx, eg_device_open(ctx, "cpu:1", &device));
    return device;
}

static inline void close_cpu(eg_device **device)
{
    eg_context *ctx = eg_device_context(*device);
    eg_device_close(device);
    test_context_free(&ctx);
}

#endif
