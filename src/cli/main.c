/* The command `eagre`: finds the subcommand, parses its options, runs it, and turns its status into
 * an exit code: 0 done, 1 it failed, 2 the input is wrong. */
#define _POSIX_C_SOURCE 200809L
#include "base/json.h"
#include "cli/cli.h"
#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const cli_command *const cli_commands[] = {&cli_command_run,      &cli_command_converge,
                                           &cli_command_compare,  &cli_command_check,
                                           &cli_command_new,      &cli_command_help,
                                           &cli_command_plot,     &cli_command_signal,
                                           &cli_command_info,     &cli_command_mesh,
                                           &cli_command_bench,    &cli_command_devices,
                                           &cli_command_complete, NULL};

const cli_command *cli_find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(name, cli_commands[i]->name) == 0) return cli_commands[i];
    return NULL;
}

static eg_status help_of_all(eg_text *out)
{
    eg_status status = EG_OK;
    EG_TRY(eg_text_printf(
        out,
        "eagre %s: high-order discontinuous Galerkin flow simulation on CPUs and GPUs\n\n"
        "Usage: eagre COMMAND [OPTION …]\n\nCommands:\n",
        eg_version()));
    for (size_t i = 0; cli_commands[i]; i++)
        if (!cli_commands[i]->hidden)
            EG_TRY(eg_text_printf(out, "  %-10s %s\n", cli_commands[i]->name,
                                  cli_commands[i]->summary));
    EG_TRY(eg_text_puts(out, "\nOptions:\n"
                             "  --help     print this\n"
                             "  --version  print the version\n"
                             "\n\"eagre COMMAND --help\" explains a command, with an example.\n"));
done:
    return status;
}

eg_status cli_help_text(const cli_command *command, eg_text *out)
{
    eg_status status = EG_OK;
    if (!command) return help_of_all(out);
    EG_TRY(eg_text_printf(out, "eagre %s: %s\n\nUsage: eagre %s %s\n\n%s\nOptions:\n",
                          command->name, command->summary, command->name, command->usage,
                          command->about));
    for (const cli_option *o = command->options; o->name; o++) {
        char left[48], letter[8] = "    ";
        if (o->letter) snprintf(letter, sizeof letter, "-%c, ", o->letter);
        snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        EG_TRY(eg_text_printf(out, "  %-22s %s\n", left, o->help));
    }
    EG_TRY(eg_text_printf(out, "\nExample:\n%s", command->example));
done:
    return status;
}

static void print_log(void *user, eg_log_level level, const char *line)
{
    (void)user;
    if (level == EG_LOG_WARNING && cli_rank() > 0) return; /* all ranks read the same files */
    cli_clear_progress();
    fprintf(stderr, "eagre: %s%s\n", level == EG_LOG_WARNING ? "warning: " : "", line);
}

eg_status cli_print(eg_context *ctx, const eg_text *text)
{
    if (cli_rank() > 0) return EG_OK;
    if (fputs(eg_text_string(text), stdout) < 0 || fflush(stdout) != 0) {
        return eg_fail(ctx, EG_ERROR_IO, "cannot write to standard output");
    }
    return EG_OK;
}

bool cli_ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), tail = strlen(ending);
    return length > tail && strcmp(name + length - tail, ending) == 0;
}

eg_status cli_check_writable(eg_context *ctx, const char *path)
{
    char directory[4096];
    struct stat there;
    const char *slash = path ? strrchr(path, '/') : NULL;
    if (!path) return EG_OK;
    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode))
        return eg_fail(ctx, EG_ERROR_ARGUMENT, "cannot write %s: it is a directory", path);
    int n = slash ? snprintf(directory, sizeof directory, "%.*s/", (int)(slash - path), path)
                  : snprintf(directory, sizeof directory, ".");
    if (n < 0 || n >= (int)sizeof directory || access(directory, W_OK | X_OK) != 0)
        return eg_fail(ctx, EG_ERROR_ARGUMENT,
                       "cannot write %s: there is no directory %s that we may write to", path,
                       directory);
    return EG_OK;
}

eg_status cli_print_as(eg_context *ctx, bool json, const char *key, const eg_text *text)
{
    eg_status status = EG_OK;
    eg_text object = eg_text_new(ctx);
    eg_json writer = eg_json_new(&object);
    if (!json) return cli_print(ctx, text);
    eg_json_begin_object(&writer);
    eg_json_put_string(&writer, key, eg_text_string(text));
    eg_json_close(&writer);
    EG_TRY(eg_json_end(&writer));
    EG_TRY(cli_print(ctx, &object));
done:
    eg_text_free(&object);
    return status;
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

static int exit_code(eg_status status)
{
    bool wrong_input =
        status == EG_ERROR_ARGUMENT || status == EG_ERROR_NO_DEVICE || status == EG_ERROR_INPUT;
    return status == EG_OK ? CLI_DONE : wrong_input ? CLI_WRONG_INPUT : CLI_FAILED;
}

/* Prints what went wrong. Messages about a case begin with the place, as compilers have it. */
static void report_failure(eg_context *ctx, const cli_command *command, const cli_options *options,
                           eg_status status)
{
    const char *message = eg_context_error(ctx);
    const char *located = strstr(message, ": error: "), *line = strchr(message, '\n');
    if (located && (!line || located < line))
        fprintf(stderr, "%s\n", message);
    else if (cli_rank() > 0)
        fprintf(stderr, "eagre %s: rank %d: %s\n", command->name, cli_rank(), message);
    else
        fprintf(stderr, "eagre %s: %s\n", command->name, message);
    if (options->json) print_json_error(ctx, status);
    fflush(stdout);
}

/* Ranks that were started with different words would wait for each other for ever, or worse, not. */
static eg_status check_same_words(eg_context *ctx, const cli_command *command,
                                  const cli_options *options)
{
    eg_status status = EG_OK;
    eg_sha256 hash;
    unsigned char digest[EG_SHA256_BYTES], *all = NULL;
    const size_t ranks = (size_t)eg_comm_size(options->comm);
    const char *const lists[] = {options->cells,   options->degrees,
                                 options->dt,      options->csv,
                                 options->svg,     options->restart,
                                 options->schemes, options->cfl,
                                 options->start,   options->tolerance,
                                 options->digits,  options->repeat,
                                 options->output,  options->fresh ? "fresh" : NULL};
    if (ranks == 1) return EG_OK;
    eg_sha256_init(&hash);
    eg_sha256_add(&hash, command->name, strlen(command->name) + 1);
    for (int i = 0; i < options->name_count; i++)
        eg_sha256_add(&hash, options->names[i], strlen(options->names[i]) + 1);
    for (size_t i = 0; i < EG_COUNT(lists); i++)
        eg_sha256_add(&hash, lists[i] ? lists[i] : "", lists[i] ? strlen(lists[i]) + 1 : 1);
    eg_sha256_end(&hash, digest);
    EG_TRY(eg_new(ctx, ranks * EG_SHA256_BYTES, &all));
    EG_TRY(eg_comm_allgather(options->comm, EG_SHA256_BYTES, digest, all));
    for (size_t r = 1; r < ranks; r++)
        if (memcmp(all, all + r * EG_SHA256_BYTES, EG_SHA256_BYTES) != 0) {
            status = eg_fail(ctx, EG_ERROR_ARGUMENT,
                             "ranks 0 and %zu were started with different arguments", r);
            break;
        }
done:
    eg_release(ctx, &all);
    return status;
}

static int run(const cli_command *command, cli_options *options)
{
    eg_context *ctx = NULL;
    eg_context_options settings = eg_context_defaults();
    settings.log = print_log;
    settings.log_level = options->verbose ? EG_LOG_DEBUG : EG_LOG_WARNING;
    eg_status status = eg_context_create(&settings, &ctx);
    if (status == EG_OK) status = cli_parallel_comm(ctx, &options->comm);
    if (status == EG_OK) status = check_same_words(ctx, command, options);
    if (status == EG_OK) status = command->run(ctx, options);
    int code = exit_code(status);
    if (cli_parallel_speaks(status, &code)) {
        if (ctx)
            report_failure(ctx, command, options, status);
        else
            fprintf(stderr, "eagre: %s\n", eg_status_text(status));
    }
    eg_comm_destroy(&options->comm);
    eg_context_destroy(&ctx);
    return code;
}

static int unknown_command(const char *given)
{
    if (cli_rank() > 0) return CLI_WRONG_INPUT;
    const char *names[EG_COUNT(cli_commands) + 2];
    size_t count = 0;
    for (size_t i = 0; cli_commands[i]; i++)
        if (!cli_commands[i]->hidden) names[count++] = cli_commands[i]->name;
    names[count++] = "--help";
    names[count++] = "--version";
    const char *nearest = eg_nearest(given, names, count);
    fprintf(stderr, "eagre: unknown %s \"%s\"", given[0] == '-' ? "option" : "command", given);
    if (nearest) fprintf(stderr, "; did you mean \"%s\"?", nearest);
    fprintf(stderr, "\n\"eagre --help\" lists all commands.\n");
    return CLI_WRONG_INPUT;
}

static int print_help(const cli_command *command, FILE *to)
{
    eg_context *ctx = NULL;
    if (eg_context_create(NULL, &ctx) != EG_OK) return CLI_FAILED;
    eg_text text = eg_text_new(ctx);
    eg_status status = cli_help_text(command, &text);
    if (cli_rank() == 0) fputs(eg_text_string(&text), to);
    eg_text_free(&text);
    eg_context_destroy(&ctx);
    return exit_code(status);
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        print_help(NULL, stderr);
        return CLI_WRONG_INPUT;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help(NULL, stdout);
    if (strcmp(argv[1], "--version") == 0) {
        if (cli_rank() == 0) printf("eagre %s\n", eg_version());
        return CLI_DONE;
    }
    const cli_command *command = cli_find_command(argv[1]);
    if (!command) return unknown_command(argv[1]);
    cli_options options;
    if (!cli_parse(command, argc - 2, argv + 2, &options)) return CLI_WRONG_INPUT;
    if (options.help) return print_help(command, stdout);
    return run(command, &options);
}

int main(int argc, char **argv)
{
    if (!cli_parallel_start(&argc, &argv)) return CLI_FAILED;
    int code = dispatch(argc, argv);
    cli_parallel_end(code);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (code == CLI_DONE) fprintf(stderr, "eagre: cannot write to standard output\n");
        return code == CLI_DONE ? CLI_FAILED : code;
    }
    return code;
}
