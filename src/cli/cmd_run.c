/* `eagre run`: a case file from its text to its results. */
#include "base/comm.h"
#include "base/json.h"
#include "base/table.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "model/model.h"

#include <inttypes.h>

static const cli_option options_list[] = {CLI_COMMON_OPTIONS, {0}};

static eg_status put_json(eg_context *ctx, const eg_run_result *r, const eg_device_info *device)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    eg_json_begin_object(&json);
    eg_json_put_string(&json, "model", r->model->name);
    eg_json_put_string(&json, "device", device->spec);
    eg_json_put_string(&json, "device_name", device->name);
    eg_json_put_integer(&json, "ranks", r->ranks);
    eg_json_put_integer(&json, "elements", r->elements);
    eg_json_put_integer(&json, "dof", r->dof);
    eg_json_key(&json, "error");
    eg_json_begin_object(&json);
    for (int i = 0; i < r->error_count; i++) {
        const eg_norms *e = &r->errors[i].norms;
        eg_json_key(&json, r->errors[i].name);
        eg_json_begin_object(&json);
        eg_json_put_number(&json, "l1", e->l1);
        eg_json_put_number(&json, "l2", e->l2);
        eg_json_put_number(&json, "linf", e->linf);
        eg_json_put_number(&json, "nodal_l2", e->nodal_l2);
        eg_json_close(&json);
    }
    eg_json_close(&json);
    eg_facts_put_json(&r->facts, &json);
    eg_json_put_integer(&json, "kernels_compiled", r->kernels_compiled);
    eg_json_put_number(&json, "setup_s", r->setup_s);
    eg_json_put_number(&json, "wall_s", r->wall_s);
    eg_json_close(&json);
    EG_TRY(eg_json_end(&json));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status put_summary(eg_context *ctx, const eg_run_result *r, const eg_device_info *device)
{
    static const eg_column columns[] = {
        {"error of", true}, {"l1", false}, {"l2", false}, {"linf", false}, {"nodal_l2", false}};
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    eg_table table = eg_table_new(ctx, columns, EG_COUNT(columns));
    EG_TRY(eg_text_printf(&text, "%s on %" PRId64 " elements, %" PRId64 " degrees of freedom\n",
                          r->model->name, r->elements, r->dof));
    EG_TRY(eg_text_printf(&text, "device  %s (%s)%s\n", device->spec, device->name,
                          r->ranks > 1 ? " on rank 0" : ""));
    if (r->ranks > 1) EG_TRY(eg_text_printf(&text, "ranks   %d\n", r->ranks));
    EG_TRY(eg_text_printf(&text, "time    %.3g s, of which set-up %.3g s", r->wall_s, r->setup_s));
    if (r->kernels_compiled > 0)
        EG_TRY(eg_text_printf(&text, " (%d kernel%s compiled)", r->kernels_compiled,
                              r->kernels_compiled == 1 ? "" : "s"));
    EG_TRY(eg_text_puts(&text, "\n"));
    EG_TRY(eg_facts_put_lines(&r->facts, &text));
    for (int i = 0; i < r->error_count; i++) {
        const eg_norms *e = &r->errors[i].norms;
        eg_table_cell(&table, "%s", r->errors[i].name);
        eg_table_cell(&table, "%.6e", e->l1);
        eg_table_cell(&table, "%.6e", e->l2);
        eg_table_cell(&table, "%.6e", e->linf);
        eg_table_cell(&table, "%.6e", e->nodal_l2);
    }
    if (r->error_count > 0) {
        EG_TRY(eg_text_puts(&text, "\n"));
        EG_TRY(eg_table_render(&table, EG_TABLE_PLAIN, &text));
    }
    EG_TRY(eg_facts_put_tables(ctx, &r->facts, &text));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_table_free(&table);
    eg_text_free(&text);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    eg_device *device = NULL;
    eg_run_result result;
    EG_TRY(cli_open_case(ctx, options, 0, &model, &cas));
    const char *spec = options->device ? options->device : eg_case_string(cas, "device.name");
    EG_TRY(eg_comm_agree(options->comm, cli_open_device(ctx, spec, &device)));
    const eg_run_options watched = cli_run_options(options, "");
    status = eg_model_run(model, cas, device, options->comm, &watched, &result);
    cli_clear_progress();
    if (status != EG_OK) goto done;
    EG_TRY(options->json ? put_json(ctx, &result, eg_device_get_info(device))
                         : put_summary(ctx, &result, eg_device_get_info(device)));
done:
    eg_device_close(&device);
    eg_case_close(&cas);
    return status;
}

const cli_command cli_command_run = {
    .name = "run",
    .summary = "run a case",
    .usage = "CASE.toml [SECTION.KEY=VALUE …] [--device D] [--json]",
    .about =
        "Runs a case file. What follows the file replaces values in it: any value that the key\n"
        "takes in the file, strings also without quotes. \"eagre help KEY\" explains a key.\n"
        "Under mpirun the mesh is divided among the ranks. A run in time shows on a terminal how\n"
        "far it is.\n",
    .example = "  eagre run cases/project-sine.toml\n"
               "  eagre run cases/advection-bell.toml space.degree=4 time.scheme=rk4\n"
               "  eagre run cases/project-sine.toml mesh.cells=[16,16] space.degree=4 --json\n"
               "  mpirun -n 4 eagre run cases/project-sine.toml mesh.shape=triangle\n",
    .options = options_list,
    .run = run,
    .complete = cli_complete_case,
};
