/* The command `eagre`: finds the subcommand, parses its options, runs it, and turns its status into
 * an exit code: 0 done, 1 it failed, 2 the input is wrong. */
#include "base/json.h"
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const cli_command *const commands[] = {&cli_command_bench, &cli_command_devices};

static void print_help(FILE *to)
{
    fprintf(to, "eagre %s: high-order discontinuous Galerkin flow simulation on CPUs and GPUs\n\n",
            eg_version());
    fprintf(to, "Usage: eagre COMMAND [OPTION …]\n\nCommands:\n");
    for (size_t i = 0; i < EG_COUNT(commands); i++) {
        fprintf(to, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
    }
    fprintf(to, "\nOptions:\n"
                "  --help     print this\n"
                "  --version  print the version\n"
                "\n\"eagre COMMAND --help\" explains a command, with an example.\n");
}

static void print_command_help(const cli_command *command)
{
    printf("eagre %s: %s\n\nUsage: eagre %s %s\n\n%s\nOptions:\n", command->name, command->summary,
           command->name, command->usage, command->about);
    for (const cli_option *o = command->options; o->name; o++) {
        char left[48], letter[8] = "    ";
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %-22s %s\n", left, o->help);
    }
    printf("\nExample:\n%s", command->example);
}

static void print_log(void *user, eg_log_level level, const char *line)
{
    (void)user;
    fprintf(stderr, "eagre: %s%s\n", level == EG_LOG_WARNING ? "warning: " : "", line);
}

eg_status cli_print(eg_context *ctx, const eg_text *text)
{
    if (fputs(eg_text_string(text), stdout) < 0 || fflush(stdout) != 0) {
        return eg_fail(ctx, EG_ERROR_IO, "cannot write to standard output");
    }
    return EG_OK;
}

/* What --json prints when the command failed. */
static void print_json_error(eg_context *ctx, eg_status failed)
{
    eg_text text = eg_text_new(ctx);
    eg_json json = eg_json_new(&text);
    eg_json_begin_object(&json);
    eg_json_key(&json, "error");
    eg_json_begin_object(&json);
    eg_json_put_string(&json, "status", eg_status_text(failed));
    eg_json_put_string(&json, "message", eg_context_error(ctx));
    eg_json_close(&json);
    eg_json_close(&json);
    if (eg_json_end(&json) == EG_OK) fputs(eg_text_string(&text), stdout);
    eg_text_free(&text);
}

static int run(const cli_command *command, const cli_options *options)
{
    eg_context *ctx = NULL;
    eg_context_options settings = eg_context_defaults();
    settings.log = print_log;
    settings.log_level = options->verbose ? EG_LOG_DEBUG : EG_LOG_WARNING;
    eg_status status = eg_context_create(&settings, &ctx);
    if (status != EG_OK) {
        fprintf(stderr, "eagre: %s\n", eg_status_text(status));
        return CLI_FAILED;
    }
    status = command->run(ctx, options);
    if (status != EG_OK) {
        fprintf(stderr, "eagre %s: %s\n", command->name, eg_context_error(ctx));
        if (options->json) print_json_error(ctx, status);
    }
    eg_context_destroy(&ctx);
    bool wrong_input = status == EG_ERROR_ARGUMENT || status == EG_ERROR_NO_DEVICE;
    return status == EG_OK ? CLI_DONE : wrong_input ? CLI_WRONG_INPUT : CLI_FAILED;
}

static int unknown_command(const char *given)
{
    const char *names[EG_COUNT(commands) + 2];
    size_t count = 0;
    for (size_t i = 0; i < EG_COUNT(commands); i++)
        names[count++] = commands[i]->name;
    names[count++] = "--help";
    names[count++] = "--version";
    const char *nearest = cli_nearest(given, names, count);
    fprintf(stderr, "eagre: unknown %s \"%s\"", given[0] == '-' ? "option" : "command", given);
    if (nearest) fprintf(stderr, "; did you mean \"%s\"?", nearest);
    fprintf(stderr, "\n\"eagre --help\" lists all commands.\n");
    return CLI_WRONG_INPUT;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_WRONG_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return CLI_DONE;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("eagre %s\n", eg_version());
        return CLI_DONE;
    }
    for (size_t i = 0; i < EG_COUNT(commands); i++) {
        if (strcmp(argv[1], commands[i]->name) != 0) continue;
        cli_options options;
        if (!cli_parse(commands[i], argc - 2, argv + 2, &options)) return CLI_WRONG_INPUT;
        if (options.help) {
            print_command_help(commands[i]);
            return CLI_DONE;
        }
        return run(commands[i], &options);
    }
    return unknown_command(argv[1]);
}

int main(int argc, char **argv)
{
    int code = dispatch(argc, argv);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (code == CLI_DONE) fprintf(stderr, "eagre: cannot write to standard output\n");
        return code == CLI_DONE ? CLI_FAILED : code;
    }
    return code;
}
