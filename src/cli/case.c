/* Opens the case that a command line names. */
#include "base/comm.h"
#include "cli/cli.h"

#include <string.h>

bool cli_is_replacement(const char *word)
{
    const char *equals = strchr(word, '='), *slash = strchr(word, '/');
    return equals && !(slash && slash < equals);
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
    for (int i = 1; i < count; i++)
        if (!cli_is_replacement(names[i]))
            return eg_fail(ctx, EG_ERROR_ARGUMENT,
                           "\"%s\" is not a replacement: they read section.key=value", names[i]);
    return eg_comm_agree(options->comm,
                         eg_model_open_case(ctx, names[0], (const char *const *)names + 1,
                                            (size_t)count - 1, model, cas));
}
