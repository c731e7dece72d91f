/* `eagre mesh picture`: a mesh as an SVG or PNG file. One with elements that are not valid is
 * drawn, too, for a look at them, but the command fails. */
#include "base/json.h"
#include "cli/mesh.h"
#include "report/report.h"

#include <string.h>

/* What the ending of the file's name asks for. */
static eg_status find_format(eg_context *ctx, const char *path, eg_picture_format *out)
{
    const char *ending = path ? strrchr(path, '.') : NULL;
    if (!path)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "where to? --output FILE.svg or FILE.png names the picture");
    *out = ending && strcmp(ending, ".png") == 0 ? EG_PICTURE_PNG : EG_PICTURE_SVG;
    if (*out == EG_PICTURE_SVG && !(ending && strcmp(ending, ".svg") == 0))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "a picture's name ends with .svg or .png, and \"%s\" does not", path);
    return EG_OK;
}

eg_status cli_mesh_picture(eg_context *ctx, const cli_options *options, const cli_mesh_words *words)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    const char *slash = words->input ? strrchr(words->input, '/') : NULL;
    eg_mesh_picture_options picture = {.title = slash ? slash + 1 : words->input};
    eg_mesh_faults faults = {0};
    cli_mesh_words to_look_at = *words;
    eg_text bytes = eg_text_new(ctx), text = eg_text_new(ctx);
    EG_TRY(find_format(ctx, words->output, &picture.format));
    EG_TRY(cli_mesh_number(ctx, "width", options->width, EG_PICTURE_WIDTH_LEAST,
                           EG_PICTURE_WIDTH_MOST, 0, &picture.width));
    EG_TRY(cli_check_writable(ctx, words->output));
    to_look_at.faults = &faults;
    EG_TRY(cli_mesh_open(ctx, options, &to_look_at, NULL, NULL, &mesh));
    picture.bad = faults.bad;
    if (cli_rank() == 0) {
        EG_TRY(eg_mesh_picture_write(mesh, &picture, &bytes));
        EG_TRY(eg_file_write_atomic(ctx, words->output, bytes.data, bytes.length, 0666, false));
    }
    if (faults.why)
        EG_TRY(eg_fail(ctx, EG_ERROR_INPUT, "%s; they are red in %s", faults.why, words->output));
    EG_TRY(eg_text_puts(&text, words->output));
    if (options->json) {
        EG_TRY(cli_print_as(ctx, true, "file", &text));
    } else {
        EG_TRY(eg_text_puts(&text, "\n"));
        EG_TRY(cli_print(ctx, &text));
    }
done:
    eg_mesh_faults_free(ctx, &faults);
    eg_text_free(&text);
    eg_text_free(&bytes);
    eg_mesh_destroy(&mesh);
    return status;
}
