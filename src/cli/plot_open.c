/* Opens what `eagre plot` draws: VTU files and series of them, and checkpoints. */
#include "cli/plot.h"

#include <string.h>
#include <sys/stat.h>

static bool is_vtu(const char *path)
{
    return cli_ends_with(path, ".vtu") || cli_ends_with(path, ".pvtu");
}

/* A directory, or the manifest in it. */
static bool is_checkpoint(const char *path)
{
    struct stat what;
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, "manifest.toml") == 0 ||
           (stat(path, &what) == 0 && S_ISDIR(what.st_mode));
}

eg_status cli_frames_list(eg_context *ctx, const char *path, cli_frames *frames)
{
    eg_status status = EG_OK;
    *frames = (cli_frames){.ctx = ctx, .series = cli_ends_with(path, ".pvd")};
    if (frames->series) {
        EG_TRY(eg_pvd_read(ctx, path, &frames->count, &frames->files, &frames->times));
        if (frames->count == 0) status = eg_fail(ctx, EG_ERROR_INPUT, "%s: it is empty", path);
        goto done;
    }
    if (!is_vtu(path) && !is_checkpoint(path)) {
        status = eg_fail(ctx, EG_ERROR_INPUT,
                         "%s: what is it? Its name ends with .vtu, .pvtu, .pvd or .csv, or it is "
                         "the directory of a checkpoint",
                         path);
        goto done;
    }
    EG_TRY(eg_new(ctx, 1, &frames->files));
    frames->count = 1;
    EG_TRY(eg_copy_string(ctx, path, &frames->files[0]));
done:
    return status;
}

void cli_frames_free(cli_frames *frames)
{
    for (size_t i = 0; frames->files && i < frames->count; i++)
        eg_release(frames->ctx, &frames->files[i]);
    eg_release(frames->ctx, &frames->files);
    eg_release(frames->ctx, &frames->times);
}

/* The fields of a checkpoint, on the mesh of the case that it holds. */
static eg_status read_checkpoint(eg_context *ctx, const char *path, eg_snapshot **out)
{
    eg_status status = EG_OK;
    eg_checkpoint *checkpoint = NULL;
    eg_comm *alone = NULL;
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    eg_mesh *mesh = NULL;
    EG_TRY(eg_checkpoint_open(ctx, NULL, path, &checkpoint));
    const eg_checkpoint_info *info = eg_checkpoint_get_info(checkpoint);
    EG_TRY(eg_model_open_text(ctx, info->case_path, info->case_text, strlen(info->case_text),
                              info->replacements, info->replacement_count, &model, &cas));
    EG_TRY(eg_comm_self(ctx, &alone));
    EG_TRY(eg_model_make_mesh(cas, ctx, alone, &mesh));
    EG_TRY(eg_checkpoint_check_mesh(checkpoint, alone, mesh));
    EG_TRY(eg_checkpoint_snapshot(checkpoint, mesh, out));
done:
    eg_mesh_destroy(&mesh);
    eg_case_close(&cas);
    eg_comm_destroy(&alone);
    eg_checkpoint_close(&checkpoint);
    return status;
}

eg_status cli_frames_read(const cli_frames *frames, size_t index, eg_snapshot **out)
{
    eg_status status = EG_OK;
    const char *file = frames->files[index];
    if (frames->series || is_vtu(file))
        EG_TRY(eg_vtu_read(frames->ctx, file, out));
    else
        EG_TRY(read_checkpoint(frames->ctx, file, out));
    if (frames->times) (*out)->time = frames->times[index];
done:
    return status;
}
