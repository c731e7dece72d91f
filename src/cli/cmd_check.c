/* `eagre check`: everything that can be wrong with a case, found without running it. */
#include "base/json.h"
#include "cli/cli.h"
#include "model/model.h"

#include <inttypes.h>

static const cli_option options_list[] = {CLI_COMMON_OPTIONS, {0}};

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    eg_mesh *mesh = NULL;
    eg_space_options space;
    eg_text text = eg_text_new(ctx);
    EG_TRY(cli_open_case(ctx, options, 0, &model, &cas));
    EG_TRY(eg_mesh_create(ctx, cas, &mesh));
    EG_TRY(eg_space_options_from_case(cas, mesh, &space));
    if (model->check_mesh) EG_TRY(model->check_mesh(cas, mesh));
    if (options->json) {
        eg_json json = eg_json_new(&text);
        eg_json_begin_object(&json);
        eg_json_put_string(&json, "case", options->names[0]);
        eg_json_put_string(&json, "model", model->name);
        eg_json_put_integer(&json, "elements", mesh->global_count);
        eg_json_put_bool(&json, "valid", true);
        eg_json_close(&json);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(eg_text_printf(&text, "%s is a valid case: %s on %" PRId64 " elements\n",
                              options->names[0], model->name, mesh->global_count));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    eg_mesh_destroy(&mesh);
    eg_case_close(&cas);
    return status;
}

const cli_command cli_command_check = {
    .name = "check",
    .summary = "find what is wrong with a case without running it",
    .usage = "CASE.toml [SECTION.KEY=VALUE …] [--json]",
    .about =
        "Reads a case file as \"eagre run\" would, with the same replacements, checks every key,\n"
        "value and expression, and makes the mesh. A mistake is shown where it stands, with\n"
        "what was probably meant; the exit code is then 2.\n",
    .example = "  eagre check cases/project-sine.toml\n"
               "  eagre check cases/project-sine.toml space.degree=12\n",
    .options = options_list,
    .run = run,
    .complete = cli_complete_case,
};
