/* `eagre complete`: what may follow on a command line, for the shells. Not in the list of commands. */
#include "cli/cli.h"

#include "device/device.h"

#include <string.h>

#define MOST_OPERANDS 64

static const cli_option options_list[] = {
    {"help", 'h', NULL, "print this", offsetof(cli_options, help)}, {0}};

eg_status cli_complete_case(eg_context *ctx, int count, char *const *words, eg_text *out)
{
    (void)ctx;
    return count == 0 ? eg_text_puts(out, "FILES\n") : cli_list_keys(words[count], "=", out);
}

static eg_status devices(eg_context *ctx, eg_text *out)
{
    eg_status status = EG_OK;
    eg_device_info *list = NULL;
    size_t count = 0;
    EG_TRY(eg_text_puts(out, "auto\n"));
    EG_TRY(eg_device_list(ctx, &list, &count));
    for (size_t i = 0; i < count; i++)
        EG_TRY(eg_text_printf(out, "%s\n", list[i].spec));
done:
    eg_device_list_free(ctx, &list);
    return status;
}

/* The option that `word` is and that still needs a value. */
static const cli_option *waiting_option(const cli_command *command, const char *word)
{
    for (const cli_option *o = command->options; o->name; o++) {
        if (!o->value) continue;
        if (word[0] == '-' && word[1] == '-' && strcmp(word + 2, o->name) == 0) return o;
        if (word[0] == '-' && o->letter && word[1] == o->letter && !word[2]) return o;
    }
    return NULL;
}

/* Names: the words behind `eagre`, the last one not yet complete. Prints a candidate a line, not yet
 * filtered by what was typed; FILES stands for the names of files. */
static eg_status run(eg_context *ctx, const cli_options *options)
{
    eg_status status = EG_OK;
    eg_text text = eg_text_new(ctx);
    char *const *words = options->names;
    const int count = options->name_count;
    const cli_command *command = count > 1 ? cli_find_command(words[0]) : NULL;
    const cli_option *waiting =
        command && count > 2 ? waiting_option(command, words[count - 2]) : NULL;
    if (count <= 1) {
        for (size_t i = 0; cli_commands[i]; i++)
            if (!cli_commands[i]->hidden)
                EG_TRY(eg_text_printf(&text, "%s\n", cli_commands[i]->name));
        EG_TRY(eg_text_puts(&text, "--help\n--version\n"));
    } else if (waiting) {
        if (strcmp(waiting->name, "device") == 0)
            EG_TRY(devices(ctx, &text));
        else if (strcmp(waiting->name, "format") == 0)
            EG_TRY(eg_text_puts(&text, "2.2\n4.1\n"));
        else if (strcmp(waiting->name, "colours") == 0)
            EG_TRY(eg_text_puts(&text, "sea\nfire\ngrey\nbalance\nwheel\n"));
        else if (strcmp(waiting->value, "FILE") == 0)
            EG_TRY(eg_text_puts(&text, "FILES\n"));
    } else if (command) {
        char *operands[MOST_OPERANDS + 1];
        int operand_count = 0;
        for (int i = 1; i < count - 1 && operand_count < MOST_OPERANDS; i++) {
            if (waiting_option(command, words[i]))
                i++;
            else if (words[i][0] != '-')
                operands[operand_count++] = words[i];
        }
        operands[operand_count] = words[count - 1];
        if (command->complete) EG_TRY(command->complete(ctx, operand_count, operands, &text));
        for (const cli_option *o = command->options; o->name; o++)
            EG_TRY(eg_text_printf(&text, "--%s\n", o->name));
    }
    EG_TRY(cli_print(ctx, &text));
done:
    eg_text_free(&text);
    return status;
}

const cli_command cli_command_complete = {
    .name = "complete",
    .summary = "list what may follow on a command line",
    .usage = "-- [WORD …]",
    .about =
        "For the completion of shells: WORDs are those behind \"eagre\", the last one unfinished.\n"
        "Prints one candidate a line; FILES stands for the names of files.\n",
    .example = "  eagre complete -- run my.toml mesh.\n",
    .options = options_list,
    .run = run,
    .hidden = true,
};
