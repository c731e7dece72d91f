/* `eagre help`: explains commands, and sections and keys of case files, from the schema. */
#include "cli/cli.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const cli_option options_list[] = {CLI_COMMON_OPTIONS,
                                          {"reference", 0, NULL,
                                           "print all sections and keys as a Markdown page",
                                           offsetof(cli_options, reference)},
                                          {0}};

/* The tables of all models together: what they share once, then what is each model's own. */
static size_t all_tables(const eg_key *tables[EG_TABLES_MAX])
{
    size_t count = eg_model_shared_tables(true, tables);
    for (size_t i = 0; eg_models[i] && count < EG_TABLES_MAX; i++)
        tables[count++] = eg_models[i]->keys;
    return count;
}

static bool is_section(const eg_key *const *tables, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        for (const eg_key *k = tables[i]; k->name; k++)
            if (strcmp(k->section, name) == 0) return true;
    return false;
}

/* What models share, then what each has of its own: sections of the same name differ. */
static eg_status put_reference(eg_context *ctx, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_key *tables[EG_TABLES_MAX];
    EG_TRY(eg_case_reference(ctx, tables, eg_model_shared_tables(true, tables), out));
    for (const eg_model *const *m = eg_models; *m; m++) {
        EG_TRY(eg_text_printf(out, "\n# Model `%s`\n\nIt can %s.\n\n", (*m)->name, (*m)->summary));
        EG_TRY(eg_case_reference(ctx, &(*m)->keys, 1, out));
    }
done:
    return status;
}

/* Explains what tables have of a topic; *found is false if that is nothing. */
static eg_status find_topic(eg_context *ctx, const eg_key *const *tables, size_t count,
                            const char *topic, bool *found, eg_text *out)
{
    eg_status status = eg_case_describe(ctx, tables, count, topic, out);
    *found = status == EG_OK;
    return status == EG_ERROR_INPUT ? EG_OK : status;
}

/* Explains a section or key: as all models have it, and as each of them has it. */
static eg_status describe(eg_context *ctx, const char *topic, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_key *tables[EG_TABLES_MAX];
    eg_text piece = eg_text_new(ctx);
    bool found, any = false;
    EG_TRY(find_topic(ctx, tables, eg_model_shared_tables(true, tables), topic, &any, out));
    for (const eg_model *const *m = eg_models; *m; m++) {
        eg_text_clear(&piece);
        EG_TRY(find_topic(ctx, &(*m)->keys, 1, topic, &found, &piece));
        if (!found) continue;
        EG_TRY(eg_text_printf(out, "%sWith model \"%s\":\n\n%s", any ? "\n" : "", (*m)->name,
                              eg_text_string(&piece)));
        any = true;
    }
    /* What is nowhere fails, with what is near in all of them. */
    if (!any) EG_TRY(eg_case_describe(ctx, tables, all_tables(tables), topic, out));
done:
    eg_text_free(&piece);
    return status;
}

static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    const eg_key *tables[EG_TABLES_MAX];
    size_t count = all_tables(tables);
    eg_text text = eg_text_new(ctx);
    if (options->name_count > 1)
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "one command, section or key at a time, not %d",
                       options->name_count);
    if (options->reference) {
        EG_TRY(put_reference(ctx, &text));
    } else if (options->name_count == 0) {
        EG_TRY(cli_help_text(NULL, &text));
        EG_TRY(eg_text_puts(&text,
                            "\nSections of a case file, explained by \"eagre help SECTION\":\n"));
        EG_TRY(eg_case_describe(ctx, tables, count, "", &text));
    } else {
        /* A word such as "mesh" may be a command and a section. */
        const cli_command *command = cli_find_command(options->names[0]);
        if (command) EG_TRY(cli_help_text(command, &text));
        if (!command || is_section(tables, count, options->names[0])) {
            if (command) EG_TRY(eg_text_puts(&text, "\n"));
            EG_TRY(describe(ctx, options->names[0], &text));
        }
    }
    EG_TRY(cli_print_as(ctx, options->json, "help", &text));
done:
    eg_text_free(&text);
    return status;
}

/* Adds what `word`, "section.key=" and what was typed behind it, may be. */
static eg_status list_choices(const eg_key *key, const char *word, size_t length, eg_text *out)
{
    eg_status status = EG_OK;
    static const char *const booleans[] = {"true", "false", NULL};
    const char *const *choices = key->type == EG_KEY_BOOLEAN ? booleans : key->choices;
    for (; choices && *choices; choices++)
        EG_TRY(eg_text_printf(out, "%.*s=%s\n", (int)length, word, *choices));
done:
    return status;
}

eg_status cli_list_keys(const char *word, const char *ending, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_key *tables[EG_TABLES_MAX];
    const size_t count = all_tables(tables), length = strcspn(word, "=");
    for (size_t i = 0; i < count; i++)
        for (const eg_key *k = tables[i]; k->name; k++) {
            char name[128];
            if (strchr(k->section, '*') || strcmp(k->name, "*") == 0) continue;
            snprintf(name, sizeof name, "%s%s%s", k->section, *k->section ? "." : "", k->name);
            if (word[length] != '=')
                EG_TRY(eg_text_printf(out, "%s%s\n", name, ending));
            else if (strlen(name) == length && strncmp(name, word, length) == 0)
                EG_TRY(list_choices(k, word, length, out));
        }
done:
    return status;
}

static eg_status complete(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    eg_status status = EG_OK;
    const eg_key *tables[EG_TABLES_MAX];
    size_t table_count = all_tables(tables);
    const char *last = "";
    (void)ctx;
    (void)words;
    if (count > 0) return EG_OK;
    for (size_t i = 0; i < table_count; i++)
        for (const eg_key *k = tables[i]; k->name; k++) {
            if (*k->section && strcmp(k->section, last) != 0)
                EG_TRY(eg_text_printf(out, "%s\n", k->section));
            last = k->section;
        }
    EG_TRY(cli_list_keys("", "", out));
done:
    return status;
}

const cli_command cli_command_help = {
    .name = "help",
    .summary = "explain a command, or a section or key of case files",
    .usage = "[COMMAND | SECTION | KEY]",
    .about = "Explains a command, a section of a case file (\"mesh\") or one of its keys\n"
             "(\"mesh.cells\"): type, range, default, and an example. Without a name it lists all\n"
             "commands and sections.\n",
    .example = "  eagre help mesh\n  eagre help mesh.cells\n  eagre help run\n",
    .options = options_list,
    .run = run,
    .complete = complete,
};
