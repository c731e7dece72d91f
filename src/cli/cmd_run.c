/* `eagre run`: a case file from its text to its results. */
#include "base/comm.h"
#include "cli/cli.h"
#include "cli/progress.h"
#include "model/model.h"

#include <string.h>

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"restart", 'r', "DIR", "go on from a checkpoint: its directory, or that of a run's results",
     offsetof(cli_options, restart)},
    {"profile", 'p', NULL, "tell how long the device was in each of its kernels",
     offsetof(cli_options, profile)},
    {0}};

/* --- the case --------------------------------------------------------------------------------- */

/* The case that a checkpoint was made with, its replacements followed by those given now. */
static eg_status open_kept_case(eg_context *ctx, const cli_options *options,
                                const eg_checkpoint_info *info, const eg_model **model,
                                eg_case **cas)
{
    eg_status status = EG_OK;
    const size_t kept = info->replacement_count, given = (size_t)options->name_count;
    const char **all = NULL;
    EG_TRY(cli_check_replacements(ctx, options->names, options->name_count));
    EG_TRY(eg_new(ctx, kept + given + 1, &all));
    for (size_t i = 0; i < kept + given; i++)
        all[i] = i < kept ? info->replacements[i] : options->names[i - kept];
    EG_TRY(eg_comm_agree(options->comm, eg_model_open_text(ctx, info->case_path, info->case_text,
                                                           strlen(info->case_text), all,
                                                           kept + given, model, cas)));
done:
    eg_release(ctx, &all);
    return status;
}

static eg_status open_case(eg_context *ctx, const cli_options *options,
                           const eg_checkpoint *restart, const eg_model **model, eg_case **cas)
{
    const bool named = options->name_count > 0 && !cli_is_replacement(options->names[0]);
    if (!restart || named) return cli_open_case(ctx, options, 0, model, cas);
    return open_kept_case(ctx, options, eg_checkpoint_get_info(restart), model, cas);
}

/* --- the run ---------------------------------------------------------------------------------- */

static eg_status print(eg_context *ctx, const cli_options *options, const eg_run_result *result,
                       const eg_device_info *device)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    if (options->json)
        EG_TRY(eg_run_put_json(result, device, &text));
    else
        EG_TRY(eg_run_put_text(ctx, result, device, &text));
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    eg_device *device = NULL;
    eg_checkpoint *restart = NULL;
    eg_run_result result = {0};
    if (options->restart)
        EG_TRY(eg_checkpoint_open(ctx, options->comm, options->restart, &restart));
    EG_TRY(open_case(ctx, options, restart, &model, &cas));
    if (restart && !model->in_time)
        EG_TRY(eg_fail(ctx, EG_ERROR_ARGUMENT, "the model \"%s\" has no time to go on in",
                       model->name));
    const char *spec = options->device ? options->device : eg_case_string(cas, "device.name");
    EG_TRY(eg_comm_agree(options->comm, cli_open_device(ctx, spec, &device)));
    eg_run_options watched = cli_run_options(options, "");
    watched.restart = restart;
    watched.profile = options->profile;
    for (int i = 0; i < options->name_count; i++)
        if (strncmp(options->names[i], "output.directory=", strlen("output.directory=")) == 0)
            watched.directory_given = true;
    if (model->in_time) {
        cli_catch_signals();
        watched.asked = cli_signalled;
    }
    status = eg_model_run(model, cas, device, options->comm, &watched, &result);
    cli_clear_progress();
    if (status != EG_OK) goto done;
    EG_TRY(print(ctx, options, &result, eg_device_get_info(device)));
done:
    eg_run_result_free(ctx, &result);
    eg_device_close(&device);
    eg_case_close(&cas);
    eg_checkpoint_close(&restart);
    return status;
}

const cli_command cli_command_run = {
    .name = "run",
    .summary = "run a case",
    .usage = "[CASE.toml] [SECTION.KEY=VALUE …] [--restart DIR] [--profile] [--device D] [--json]",
    .about =
        "Runs a case file. What follows the file replaces values in it: any value that the key\n"
        "takes in the file, strings also without quotes. \"eagre help KEY\" explains a key.\n"
        "Under mpirun the mesh is divided among the ranks. A run in time shows on a terminal how\n"
        "far it is.\n"
        "\n"
        "What is written, and when, is said in [output]; results go to CASE.out if it names no\n"
        "directory. SIGTERM, Ctrl-C or a file called \"stop\" in that directory end a run in time\n"
        "after the step it is in, behind a checkpoint; --restart goes on from there, on any "
        "number\n"
        "of ranks, any device, with any degree. Without CASE.toml it is the case that the\n"
        "checkpoint was made with.\n",
    .example = "  eagre run cases/project-sine.toml\n"
               "  eagre run cases/advection-bell.toml space.degree=4 time.scheme=rk4\n"
               "  eagre run cases/project-sine.toml mesh.cells=[16,16] space.degree=4 --json\n"
               "  eagre run --restart advection-bell.out time.end=2\n"
               "  eagre run cases/ins-taylor.toml --profile\n"
               "  mpirun -n 4 eagre run cases/project-sine.toml mesh.shape=triangle\n",
    .options = options_list,
    .run = run,
    .complete = cli_complete_case,
};
