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

static eg_status make_watch(const eg_model *model, const eg_problem *problem, void *state,
                            const eg_run_options *options, const eg_known *known, eg_watch **out)
{
    const eg_case *cas = problem->cas;
    eg_guarded guarded[EG_GUARDED_MAX];
    eg_watch_options watched = {.comm = problem->comm,
                                .device = eg_device_get_info(problem->device)->name,
                                .cas = cas,
                                .mesh = problem->mesh,
                                .model = model->name,
                                .in_time = model->in_time,
                                .restart = problem->restart,
                                .directory_given = options->directory_given,
                                .known = known,
                                .derive = model->derive,
                                .asked = options->asked,
                                .asked_user = options->asked_user,
                                .progress = options->progress,
                                .progress_user = options->progress_user,
                                .quiet = options->quiet};
    if (model->in_time) {
        watched.start = eg_case_real(cas, "time.start");
        watched.end = eg_case_real(cas, "time.end");
    }
    const int count = model->guarded ? model->guarded(state, guarded) : 0;
    return eg_watch_create(problem->ctx, &watched, state, model->show, guarded, count, out);
}

/* Errors, facts and counts of a run that has ended. */
static eg_status measure(const eg_problem *problem, const eg_watch *watch, void *state,
                         eg_run_result *out)
{
    eg_status status = EG_OK;
    const eg_model *model = out->model;
    EG_TRY(model->errors(state, out->errors, &out->error_count));
    EG_TRY(check_finite(problem->ctx, out));
    if (model->details) EG_TRY(model->details(state, &out->facts));
    eg_watch_put_facts(watch, &out->facts);
    out->dim = problem->mesh->dim;
    out->elements = problem->mesh->global_count;
    out->dof = model->space(state)->dof * model->fields(state);
done:
    return status;
}

/* What the watch knows at the end, and the summary that it keeps. */
static eg_status finish(const eg_problem *problem, eg_watch *watch, eg_run_result *out)
{
    eg_status status = EG_OK;
    eg_context *ctx = problem->ctx;
    eg_text text = eg_text_new(ctx);
    const struct {
        const char *from;
        char **to;
    } texts[] = {{eg_watch_stopped_by(watch), &out->stopped_by},
                 {eg_watch_directory(watch), &out->directory},
                 {eg_watch_checkpoint(watch), &out->checkpoint}};
    for (size_t i = 0; i < EG_COUNT(texts); i++)
        if (texts[i].from) EG_TRY(eg_copy_string(ctx, texts[i].from, texts[i].to));
    eg_watch_outcome(watch, &out->outcome);
    if (out->directory) {
        EG_TRY(eg_run_put_json(out, eg_device_get_info(problem->device), &text));
        EG_TRY(eg_comm_agree(problem->comm, eg_watch_write_file(watch, "summary.json", &text)));
    }
done:
    eg_text_free(&text);
    return status;
}

/* Runs the model, and tells what its kernels take if that is asked for. */
static eg_status run_profiled(const eg_model *model, void *state, eg_watch *watch,
                              const eg_run_options *options, eg_device *device, eg_comm *comm,
                              eg_run_result *out)
{
    const double start = eg_wall_seconds();
    eg_status status = EG_OK;
    EG_TRY(eg_comm_agree(comm, options->profile ? eg_profile_start(device) : EG_OK));
    status = model->run(state, watch);
    const eg_status stopped = eg_profile_stop(device, &out->profile);
    if (status == EG_OK) status = eg_comm_agree(comm, stopped);
done:
    out->run_s = eg_wall_seconds() - start;
    return status;
}

eg_status eg_model_run(const eg_model *model, const eg_case *cas, eg_device *device, eg_comm *comm,
                       const eg_run_options *options, eg_run_result *out)
{
    eg_status status = EG_OK, closed;
    eg_context *ctx = eg_device_context(device);
    const eg_run_options defaults = {0};
    eg_mesh *mesh = NULL;
    eg_watch *watch = NULL;
    void *state = NULL;
    eg_known known = eg_known_new(ctx);
    const double start = eg_wall_seconds();
    const int compiled = eg_kernel_compilations();
    if (!options) options = &defaults;
    *out = (eg_run_result){.model = model, .ranks = eg_comm_size(comm)};
    EG_TRY(eg_model_make_mesh(cas, ctx, comm, &mesh));
    if (model->check_mesh) EG_TRY(eg_comm_agree(comm, model->check_mesh(cas, mesh)));
    if (options->restart) EG_TRY(eg_checkpoint_check_mesh(options->restart, comm, mesh));
    const eg_problem problem = {.ctx = ctx,
                                .device = device,
                                .comm = comm,
                                .cas = cas,
                                .mesh = mesh,
                                .restart = options->restart};
    EG_TRY(model->create(&problem, &state));
    if (model->columns) EG_TRY(eg_comm_agree(comm, model->columns(cas, &known)));
    EG_TRY(make_watch(model, &problem, state, options, &known, &watch));
    out->setup_s = eg_wall_seconds() - start;
    EG_TRY(run_profiled(model, state, watch, options, device, comm, out));
    if (!model->in_time) EG_TRY(eg_watch_end(watch));
    EG_TRY(measure(&problem, watch, state, out));
    if (options->restart) {
        out->restart_step = eg_checkpoint_get_info(options->restart)->step;
        out->restart_time = eg_checkpoint_get_info(options->restart)->time;
    }
    out->kernels_compiled = eg_kernel_compilations() - compiled;
    out->wall_s = eg_wall_seconds() - start;
    EG_TRY(finish(&problem, watch, out));
done:
    closed = eg_watch_close(&watch);
    if (status == EG_OK) status = closed;
    if (state) model->destroy(state);
    eg_known_free(&known);
    eg_mesh_destroy(&mesh);
    if (status != EG_OK) eg_run_result_free(ctx, out);
    return status;
}

void eg_run_result_free(eg_context *ctx, eg_run_result *result)
{
    eg_outcome_free(&result->outcome);
    eg_profile_free(ctx, &result->profile);
    eg_release(ctx, &result->stopped_by);
    eg_release(ctx, &result->directory);
    eg_release(ctx, &result->checkpoint);
    *result = (eg_run_result){0};
}
