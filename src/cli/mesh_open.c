/* The mesh that the words of `eagre mesh` describe: that of a Gmsh file, of a case, or of
 * replacements alone; refined and of another order if they say so. */
#include "cli/mesh.h"
#include "cli/progress.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOTE_BYTES 2048 /* of a line of a report */

eg_status cli_mesh_number(eg_context *ctx, const char *option, const char *given, int least,
                          int most, int fallback, int *out)
{
    char *end = NULL;
    *out = fallback;
    if (!given) return EG_OK;
    errno = 0;
    const long value = strtol(given, &end, 10);
    if (end == given || *end || errno || value < least || value > most)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "--%s takes a number from %d to %d, not \"%s\"",
                       option, least, most, given);
    *out = (int)value;
    return EG_OK;
}

bool cli_has_gmsh_name(const char *path)
{
    static const char *const endings[] = {".msh", ".msh2", ".msh4"};
    const size_t length = strlen(path);
    for (size_t i = 0; i < EG_COUNT(endings); i++) {
        const size_t tail = strlen(endings[i]);
        if (length > tail && strcmp(path + length - tail, endings[i]) == 0) return true;
    }
    return false;
}

eg_status cli_mesh_put_notes(eg_text *out, const eg_text *report)
{
    eg_status status = EG_OK;
    for (const char *line = eg_text_string(report); *line; line += strcspn(line, "\n") + 1)
        EG_TRY(eg_text_printf(out, "note: %.*s\n", (int)strcspn(line, "\n"), line));
done:
    return status;
}

void cli_mesh_json_notes(eg_json *json, const eg_text *report)
{
    eg_json_key(json, "notes");
    eg_json_begin_array(json);
    for (const char *line = eg_text_string(report); *line; line += strcspn(line, "\n") + 1) {
        char note[NOTE_BYTES];
        snprintf(note, sizeof note, "%.*s", (int)strcspn(line, "\n"), line);
        eg_json_string(json, note);
    }
    eg_json_close(json);
}

/* A case that has nothing but a mesh. */
static eg_status open_keys(eg_context *ctx, const char *const *overrides, size_t count,
                           eg_case **cas)
{
    const eg_key *const tables[] = {eg_mesh_keys};
    return eg_case_open_text(ctx, "mesh", "", 0,
                             &(eg_case_options){
                                 .overrides = overrides,
                                 .override_count = count,
                                 .tables = tables,
                                 .table_count = EG_COUNT(tables),
                             },
                             cas);
}

/* A Gmsh file with replacements is a case, too. */
static eg_status open_file_keys(eg_context *ctx, const cli_options *options,
                                const cli_mesh_words *words, eg_case **cas)
{
    eg_status status = EG_OK;
    const char **overrides = NULL;
    size_t count = 0;
    eg_text file = eg_text_new(ctx);
    EG_TRY(eg_new(ctx, (size_t)words->replacement_count + 2, &overrides));
    EG_TRY(eg_text_puts(&file, "mesh.file=\""));
    for (const char *c = words->input; *c; c++) {
        if (*c == '"' || *c == '\\') EG_TRY(eg_text_puts(&file, "\\"));
        EG_TRY(eg_text_add(&file, c, 1));
    }
    EG_TRY(eg_text_puts(&file, "\""));
    overrides[count++] = eg_text_string(&file);
    if (options->merge) overrides[count++] = "mesh.merge=true";
    for (int i = 0; i < words->replacement_count; i++)
        overrides[count++] = words->replacements[i];
    EG_TRY(open_keys(ctx, overrides, count, cas));
done:
    eg_text_free(&file);
    eg_release(ctx, &overrides);
    return status;
}

static eg_status make_mesh(eg_context *ctx, const cli_options *options, const cli_mesh_words *words,
                           eg_text *report, eg_partitioner *partitioner, eg_mesh **out)
{
    eg_status status = EG_OK;
    const eg_model *model = NULL;
    eg_case *cas = NULL;
    const bool file = words->input && cli_is_gmsh_file(words->input);
    if (options->merge && !file)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "--merge is for Gmsh files; a case that has one says mesh.merge=true");
    if (words->replacement_count > 0 && !cli_is_replacement(words->replacements[0]))
        return eg_fail(
            ctx, EG_ERROR_ARGUMENT,
            "\"%s\" is one file too many: replacements, mesh.KEY=VALUE, follow the first",
            words->replacements[0]);
    EG_TRY(cli_check_replacements(ctx, words->replacements, words->replacement_count));
    if (file)
        EG_TRY(open_file_keys(ctx, options, words, &cas));
    else if (words->input)
        EG_TRY(cli_open_case_file(ctx, options->comm, words->input, words->replacements,
                                  words->replacement_count, &model, &cas));
    else
        EG_TRY(open_keys(ctx, (const char *const *)words->replacements,
                         (size_t)words->replacement_count, &cas));
    if (partitioner) *partitioner = (eg_partitioner)eg_case_choice(cas, "mesh.partition");
    EG_TRY(eg_mesh_create_report(ctx, cas, report, out));
done:
    eg_case_close(&cas);
    return status;
}

static eg_status read_mesh(eg_context *ctx, const cli_options *options, const cli_mesh_words *words,
                           eg_text *report, eg_mesh **out)
{
    const bool as_it_is = words->times == 0 && words->order == 0;
    const eg_gmsh_options how = {
        .merge_nodes = options->merge, .report = report, .faults = as_it_is ? words->faults : NULL};
    const eg_status status = eg_mesh_read_gmsh(ctx, words->input, &how, out);
    /* A file that cannot be read is a mistake on the command line. */
    return status == EG_ERROR_IO ? eg_fail(ctx, EG_ERROR_INPUT, "%s", eg_context_error(ctx))
                                 : status;
}

/* Puts what a step has made in the mesh's place. */
static void replace(eg_mesh **mesh, eg_mesh **by)
{
    eg_mesh_destroy(mesh);
    *mesh = *by;
    *by = NULL;
}

eg_status cli_mesh_open(eg_context *ctx, const cli_options *options, const cli_mesh_words *words,
                        eg_text *report, eg_partitioner *partitioner, eg_mesh **out)
{
    eg_status status = EG_OK;
    eg_mesh *mesh = NULL, *changed = NULL;
    const bool draws = cli_draws_progress(options);
    if (!words->input && words->replacement_count == 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "which mesh? Name a FILE, a Gmsh file or a case, or say what it is, as in "
                       "mesh.shape=triangle mesh.cells=[8,8]");
    if (draws) cli_show_progress("%s", words->input ? words->input : "mesh");
    if (words->input && cli_is_gmsh_file(words->input) && words->replacement_count == 0)
        EG_TRY(read_mesh(ctx, options, words, report, &mesh));
    else
        EG_TRY(make_mesh(ctx, options, words, report, partitioner, &mesh));
    EG_TRY(eg_mesh_check_refine(mesh, words->times));
    for (int i = 0; i < words->times; i++) {
        if (draws) cli_show_progress("refining, %d of %d", i + 1, words->times);
        EG_TRY(eg_mesh_refine(mesh, &changed));
        replace(&mesh, &changed);
    }
    if (words->order > 0 && words->order != mesh->order) {
        EG_TRY(eg_mesh_set_order(mesh, words->order, &changed));
        replace(&mesh, &changed);
    }
    *out = mesh;
    mesh = NULL;
done:
    cli_clear_progress();
    eg_mesh_destroy(&mesh);
    return status;
}
