/* What the commands share: their table entry, options, and how they end. */
#ifndef EG_CLI_H
#define EG_CLI_H

#include "base/base.h"

/* How the command ends; the numbers are part of its interface. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_WRONG_INPUT = 2 };

/* What was given on the command line. Nothing is owned: all strings are argv's. */
typedef struct cli_options {
    const char *device;   /* --device; NULL: not given */
    const char *svg;      /* --svg */
    const char *markdown; /* --markdown */
    bool json, quick, help, verbose;
    char **names; /* what is not an option */
    int name_count;
} cli_options;

/* One option of a command; a list of them ends with a NULL name. */
typedef struct cli_option {
    const char *name;  /* without the dashes */
    char letter;       /* short form; 0: none */
    const char *value; /* what the value is called; NULL: a flag */
    const char *help;
    size_t offset; /* in cli_options: of a bool, or of a const char * */
} cli_option;

/* The options that every command has, to start its list with. */
#define CLI_COMMON_OPTIONS                                                                         \
    {"device", 'd', "D", "cpu, cpu:THREADS, cuda:N, opencl:N or auto",                             \
     offsetof(cli_options, device)},                                                               \
        {"json", 0, NULL, "print one JSON object instead of text", offsetof(cli_options, json)},   \
        {"verbose", 'v', NULL, "log what the library does to standard error",                      \
         offsetof(cli_options, verbose)},                                                          \
    {                                                                                              \
        "help", 'h', NULL, "print this", offsetof(cli_options, help)                               \
    }

/* A command may fail with a message of its own for what is wrong on the command line, by
 * eg_fail(ctx, EG_ERROR_ARGUMENT, …); main prints it and chooses the exit code. */
typedef struct cli_command {
    const char *name;
    const char *summary; /* one line for `eagre --help` */
    const char *usage;   /* what follows the name */
    const char *about;   /* paragraphs of the help, ended by a newline */
    const char *example; /* lines, ended by a newline */
    const cli_option *options;
    eg_status (*run)(eg_context *ctx, const cli_options *options);
} cli_command;

extern const cli_command cli_command_bench, cli_command_devices;

/* options.c: reads what follows the command's name into *options; false after a message on standard
 * error. Reorders argv so that the names stand together. */
bool cli_parse(const cli_command *command, int argc, char **argv, cli_options *options);

/* suggest.c: the candidate nearest to `given` by edit distance, NULL if none is near. */
const char *cli_nearest(const char *given, const char *const *candidates, size_t count);

/* Writes a text to standard output. */
eg_status cli_print(eg_context *ctx, const eg_text *text);

#endif
