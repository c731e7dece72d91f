/* The way of a run: mesh, this rank's part of it, the model, its work, its errors. */
#include "model/model.h"

#include "device/device.h"

#include <math.h>

eg_status eg_model_make_mesh(const eg_case *cas, eg_context *ctx, eg_comm *comm, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_mesh *whole = NULL;
    int32_t *part = NULL;
    *out = NULL;
    EG_TRY(eg_comm_agree(comm, eg_mesh_create(ctx, cas, &whole)));
    if (eg_comm_size(comm) == 1) {
        *out = whole;
        whole = NULL;
        goto done;
    }
    EG_TRY(eg_new(ctx, (size_t)whole->element_count, &part));
    EG_TRY(eg_comm_agree(
        comm, eg_mesh_partition(whole, eg_comm_size(comm),
                                (eg_partitioner)eg_case_choice(cas, "mesh.partition"), part)));
    EG_TRY(eg_mesh_distribute(whole, comm, part, out));
done:
    eg_release(ctx, &part);
    eg_mesh_destroy(&whole);
    return status;
}

/* NaN and infinity are failures, not results. */
static eg_status check_finite(eg_context *ctx, const eg_run_result *result)
{
    for (int i = 0; i < result->error_count; i++) {
        const eg_field_error *e = &result->errors[i];
        if (isfinite(e->norms.linf) && isfinite(e->norms.l2)) continue;
        return eg_fail(
            ctx, EG_ERROR_NUMERIC,
            "%s or what it is compared with is not finite everywhere%s: look for divisions by "
            "zero, overflow, and roots and logarithms of negative numbers in the case's "
            "expressions",
            e->name,
            result->model->in_time
                ? ", or too large to be squared. Try smaller steps (time.dt, time.cfl); if it is "
                  "not the steps"
                : "");
    }
    return EG_OK;
}

eg_status eg_model_run(const eg_model *model, const eg_case *cas, eg_device *device, eg_comm *comm,
                       const eg_run_options *options, eg_run_result *out)
{
    eg_status status = EG_OK;
    eg_context *ctx = eg_device_context(device);
    eg_mesh *mesh = NULL;
    void *state = NULL;
    const double start = eg_wall_seconds();
    const int compiled = eg_kernel_compilations();
    *out = (eg_run_result){.model = model, .ranks = eg_comm_size(comm)};
    EG_TRY(eg_model_make_mesh(cas, ctx, comm, &mesh));
    if (model->check_mesh) EG_TRY(eg_comm_agree(comm, model->check_mesh(cas, mesh)));
    eg_problem problem = {.ctx = ctx, .device = device, .comm = comm, .cas = cas, .mesh = mesh};
    if (options) problem.options = *options;
    EG_TRY(model->create(&problem, &state));
    out->setup_s = eg_wall_seconds() - start;
    EG_TRY(model->run(state));
    EG_TRY(model->errors(state, out->errors, &out->error_count));
    EG_TRY(check_finite(ctx, out));
    if (model->details) EG_TRY(model->details(state, &out->facts));
    out->dim = mesh->dim;
    out->elements = mesh->global_count;
    out->dof = model->space(state)->dof * model->fields(state);
    out->kernels_compiled = eg_kernel_compilations() - compiled;
    out->wall_s = eg_wall_seconds() - start;
done:
    if (state) model->destroy(state);
    eg_mesh_destroy(&mesh);
    return status;
}
