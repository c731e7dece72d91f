/* Opens the case that a command line names. */
#include "base/comm.h"
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

bool cli_is_replacement(const char *word)
{
    const char *equals = strchr(word, '='), *slash = strchr(word, '/');
    return equals && !(slash && slash < equals);
}

static bool has_ending(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    return length > tail && strcmp(path + length - tail, ending) == 0;
}

bool cli_is_gmsh_file(const char *path)
{
    static const char *const endings[] = {".geo", ".msh", ".msh2", ".msh4"};
    char first = '\0';
    for (size_t i = 0; i < EG_COUNT(endings); i++)
        if (has_ending(path, endings[i])) return true;
    /* A mesh starts with $MeshFormat or $NOD, and no case does with a dollar. */
    struct stat what;
    FILE *file = stat(path, &what) == 0 && S_ISREG(what.st_mode) ? fopen(path, "rb") : NULL;
    if (!file) return false;
    if (fscanf(file, " %c", &first) != 1) first = '\0';
    fclose(file);
    return first == '$';
}

eg_status cli_check_replacements(eg_context *ctx, char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!cli_is_replacement(words[i]))
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "\"%s\" is not a replacement: they read section.key=value", words[i]);
    return EG_OK;
}

eg_status cli_open_case_file(eg_context *ctx, eg_comm *comm, const char *path,
                             char *const *replacements, int count, const eg_model **model,
                             eg_case **cas)
{
    const eg_status status = cli_check_replacements(ctx, replacements, count);
    if (status != EG_OK) return status;
    if (has_ending(path, ".geo"))
        return eg_fail(
            ctx, EG_ERROR_ARGUMENT,
            "%s is a geometry, not a case: mesh it first with \"gmsh -2 %s -o FILE.msh\" "
            "(-3 in three dimensions); a case names the mesh by mesh.file",
            path, path);
    if (cli_is_gmsh_file(path))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "%s is a mesh, not a case: a case names it in its section [mesh], file = "
                       "\"%s\", or by mesh.file=%s behind it",
                       path, path, path);
    return eg_comm_agree(comm, eg_model_open_case(ctx, path, (const char *const *)replacements,
                                                  (size_t)count, model, cas));
}

eg_status cli_open_case(eg_context *ctx, const cli_options *options, int first,
                        const eg_model **model, eg_case **cas)
{
    char *const *names = options->names + first;
    const int count = options->name_count - first;
    if (count < 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "which case? Name a file; \"eagre new MODEL\" writes one to start from");
    if (cli_is_replacement(names[0]))
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "the case file comes first, then replacements such as \"%s\"", names[0]);
    return cli_open_case_file(ctx, options->comm, names[0], names + 1, count - 1, model, cas);
}
