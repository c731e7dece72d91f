/* `eagre new`: a commented case file to start from, made from the schema. */
#include "cli/cli.h"
#include "model/model.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const cli_option options_list[] = {
    CLI_COMMON_OPTIONS,
    {"output", 'o', "FILE", "write to FILE, which must not exist", offsetof(cli_options, output)},
    {0}};

static eg_status no_such_model(eg_context *ctx, const char *given)
{
    eg_status status = EG_OK;
    eg_text list = eg_text_new(ctx);
    const char *names[EG_TABLES_MAX];
    size_t count = 0;
    for (; eg_models[count]; count++) {
        names[count] = eg_models[count]->name;
        EG_TRY(eg_text_printf(&list, "\n  %-12s %s", names[count], eg_models[count]->summary));
    }
    const char *nearest = given ? eg_nearest(given, names, count) : NULL;
    if (!given)
        status =
            eg_fail(ctx, EG_ERROR_ARGUMENT, "which model? There are:%s", eg_text_string(&list));
    else
        status = eg_fail(ctx, EG_ERROR_ARGUMENT, "there is no model \"%s\"%s%s%s. There are:%s",
                         given, nearest ? "; did you mean \"" : "", nearest ? nearest : "",
                         nearest ? "\"?" : "", eg_text_string(&list));
done:
    eg_text_free(&list);
    return status;
}

/* Writes a file that must not exist. */
static eg_status write_new(eg_context *ctx, const char *path, const eg_text *text)
{
    FILE *file = fopen(path, "wx");
    if (!file && errno == EEXIST)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "%s is there already; choose another name", path);
    bool written = file && fwrite(text->data, 1, text->length, file) == text->length;
    if (file) written = fclose(file) == 0 && written;
    if (written) return EG_OK;
    eg_status status = eg_fail(ctx, EG_ERROR_IO, "cannot write %s: %s", path, strerror(errno));
    if (file) remove(path);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    const eg_key *tables[EG_TABLES_MAX];
    eg_text text = eg_text_new(ctx);
    if (options->name_count > 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "one model at a time, not %d", options->name_count);
    const eg_model *model = options->name_count ? eg_model_find(options->names[0]) : NULL;
    if (!model) return no_such_model(ctx, options->name_count ? options->names[0] : NULL);
    EG_TRY(eg_case_template(ctx, tables, eg_model_tables(model, tables), model->name,
                            model->summary, model->sample, &text));
    if (options->output && cli_rank() == 0) EG_TRY(write_new(ctx, options->output, &text));
    if (!options->output || options->json) EG_TRY(cli_print_as(ctx, options->json, "case", &text));
done:
    eg_text_free(&text);
    return status;
}

static eg_status complete(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    eg_status status = EG_OK;
    (void)ctx;
    (void)words;
    for (size_t i = 0; eg_models[i] && count == 0; i++)
        EG_TRY(eg_text_printf(out, "%s\n", eg_models[i]->name));
done:
    return status;
}

const cli_command cli_command_new = {
    .name = "new",
    .summary = "write a commented case file to start from",
    .usage = "MODEL [--output FILE]",
    .about =
        "Writes a case file for a model with every key there is, explained, to standard output\n"
        "or to a new file. Without a model it lists them.\n",
    .example = "  eagre new project --output my.toml\n",
    .options = options_list,
    .run = run,
    .complete = complete,
};
