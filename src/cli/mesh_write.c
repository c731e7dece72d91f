/* `eagre mesh generate`, `convert` and `refine`: a mesh as a Gmsh file. */
#include "cli/mesh.h"
#include "cli/progress.h"

#include <inttypes.h>
#include <string.h>

/* A name that ends with .msh2 asks for version 2.2, unless --format says otherwise. */
static eg_status read_format(eg_context *ctx, const cli_options *options, const char *path,
                             eg_gmsh_format *out)
{
    const char *ending = strrchr(path, '.');
    const bool old = options->format ? strcmp(options->format, "2.2") == 0
                                     : ending && strcmp(ending, ".msh2") == 0;
    if (options->format && !old && strcmp(options->format, "4.1") != 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--format is 2.2 or 4.1, not \"%s\"",
                       options->format);
    if (options->binary && options->text)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--binary and --text exclude each other");
    *out = (eg_gmsh_format){.version = old ? 22 : 41, .binary = options->binary};
    return EG_OK;
}

static eg_status write_file(const cli_options *options, const eg_mesh *mesh, const char *path,
                            const eg_gmsh_format *format)
{
    if (cli_draws_progress(options)) cli_show_progress("writing %s", path);
    const eg_status status = cli_rank() == 0 ? eg_mesh_write_gmsh(mesh, path, format) : EG_OK;
    cli_clear_progress();
    return status;
}

eg_status cli_mesh_write(eg_context *ctx, const cli_options *options, const cli_mesh_words *words)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL;
    eg_gmsh_format format;
    eg_text text = eg_text_new(ctx), report = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    EG_TRY(read_format(ctx, options, words->output, &format));
    EG_TRY(cli_check_writable(ctx, words->output));
    EG_TRY(cli_mesh_open(ctx, options, words, &report, NULL, &mesh));
    EG_TRY(write_file(options, mesh, words->output, &format));
    if (options->json) {
        eg_json_begin_object(&json);
        eg_json_put_string(&json, "file", words->output);
        eg_json_put_integer(&json, "elements", mesh->global_count);
        eg_json_put_integer(&json, "vertices", mesh->vertex_count);
        cli_mesh_json_notes(&json, &report);
        eg_json_close(&json);
        EG_TRY(eg_json_end(&json));
    } else {
        EG_TRY(cli_mesh_put_notes(&text, &report));
        EG_TRY(eg_text_printf(&text, "%s: %" PRId64 " elements, %" PRId64 " vertices\n",
                              words->output, mesh->global_count, mesh->vertex_count));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&report);
    eg_text_free(&text);
    eg_mesh_destroy(&mesh);
    return status;
}
