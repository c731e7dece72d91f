/* What the commands share: their table entry, options, and how they end. */
#ifndef EG_CLI_H
#define EG_CLI_H

#include "base/base.h"
#include "case/case.h"
#include "device/device.h"
#include "eagre/comm.h"
#include "model/model.h"

/* How the command ends; the numbers are part of its interface. */
enum { CLI_DONE = 0, CLI_FAILED = 1, CLI_WRONG_INPUT = 2 };

/* What was given on the command line. Nothing is owned: all strings are argv's. */
typedef struct cli_options {
    const char *device;    /* --device; NULL: not given */
    const char *svg;       /* --svg */
    const char *markdown;  /* --markdown */
    const char *output;    /* --output */
    const char *count;     /* --parts, --times */
    const char *degree;    /* --degree */
    const char *format;    /* --format */
    const char *refine;    /* --refine */
    const char *order;     /* --order */
    const char *width;     /* --width */
    const char *cells;     /* --cells */
    const char *degrees;   /* --degrees */
    const char *dt;        /* --dt */
    const char *norm;      /* --norm */
    const char *csv;       /* --csv */
    const char *schemes;   /* --schemes */
    const char *cfl;       /* --cfl */
    const char *start;     /* --cfl-start */
    const char *digits;    /* --cfl-digits */
    const char *repeat;    /* --repeat */
    const char *tolerance; /* --tolerance */
    const char *chart;     /* --chart */
    const char *x, *y;     /* --x, --y */
    const char *log;       /* --log */
    const char *title;     /* --title */
    const char *restart;   /* --restart */
    const char *field;     /* --field */
    const char *colours;   /* --colours */
    const char *range;     /* --range */
    const char *zoom;      /* --zoom */
    const char *slice;     /* --slice */
    const char *height;    /* --height */
    const char *contours;  /* --contours */
    const char *levels;    /* --levels */
    const char *mesh_file; /* --mesh FILE */
    const char *frame;     /* --frame */
    const char *from;      /* --from */
    const char *periods;   /* --periods */
    const char *spread;    /* --spread */
    const char *length;    /* --length */
    const char *speed;     /* --speed */
    bool mesh, dark;       /* --mesh, --dark */
    bool fresh;            /* --fresh */
    bool profile;          /* --profile */
    bool json, quick, help, verbose, reference, binary, text, merge;
    char **names; /* what is not an option */
    int name_count;
    eg_comm *comm; /* the ranks that run this command together */
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
    /* Adds what words[count] may become behind `count` operands, a line each ("FILES": names of
     * files); NULL: nothing. */
    eg_status (*complete)(eg_context *ctx, int count, char *const *words, eg_text *out);
    bool hidden; /* from the list of commands */
} cli_command;

extern const cli_command cli_command_bench, cli_command_check, cli_command_compare,
    cli_command_complete, cli_command_converge, cli_command_devices, cli_command_help,
    cli_command_info, cli_command_mesh, cli_command_new, cli_command_plot, cli_command_run,
    cli_command_signal;

/* main.c */
extern const cli_command *const cli_commands[]; /* ended by NULL */
const cli_command *cli_find_command(const char *name);
/* The help of a command, or (NULL) of eagre itself. */
eg_status cli_help_text(const cli_command *command, eg_text *out);

/* options.c: reads what follows the command's name into *options; false after a message on standard
 * error. Reorders argv so that the names stand together. */
bool cli_parse(const cli_command *command, int argc, char **argv, cli_options *options);

/* parallel.c: MPI, where several ranks run the command together. */
bool cli_parallel_start(int *argc, char ***argv); /* false after a message */
/* Every rank comes here with how it ended. True on the one rank that says what failed, with *code
 * made the same on all ranks. */
bool cli_parallel_speaks(eg_status status, int *code);
void cli_parallel_end(int code);
eg_status cli_parallel_comm(eg_context *ctx, eg_comm **out);
int cli_rank(void);
int cli_rank_count(void);
/* Opens the device that --device or a case asks for, this rank's share of the machine. */
eg_status cli_open_device(eg_context *ctx, const char *spec, eg_device **out);

/* signals.c: SIGTERM and SIGINT are noted from now on, so that what is being done can come to its end; a
 * second Ctrl-C ends at once. */
void cli_catch_signals(void);
int cli_signalled(void *unused); /* the number of the first of them; 0: there was none */

/* case.c: opens the case that operand `first` names, with the replacements behind it. */
eg_status cli_open_case(eg_context *ctx, const cli_options *options, int first,
                        const eg_model **model, eg_case **cas);
/* The same of a case file and replacements [count] that stand anywhere. */
eg_status cli_open_case_file(eg_context *ctx, eg_comm *comm, const char *path,
                             char *const *replacements, int count, const eg_model **model,
                             eg_case **cas);
/* True for a file of Gmsh, by its name or its first bytes: of a mesh, or of a geometry to be
 * meshed. */
bool cli_is_gmsh_file(const char *path);
/* Fails at a word that is not a replacement. */
eg_status cli_check_replacements(eg_context *ctx, char *const *words, int count);

/* cmd_help.c: adds "section.key" and an ending, a line each; `word` = "section.key=" adds its choices
 * instead. */
eg_status cli_list_keys(const char *word, const char *ending, eg_text *out);
/* cmd_complete.c: a case file first, then replacements. */
eg_status cli_complete_case(eg_context *ctx, int count, char *const *words, eg_text *out);

/* plot_csv.c: draws columns of a CSV file as the options x, y, log, title, width and output ask. */
eg_status cli_plot_csv(eg_context *ctx, const cli_options *options, const char *path);

/* The same file: fails with what is near and what there is. */
eg_status cli_unknown_column(const eg_series_data *data, const char *path, const char *given);

/* info_checkpoint.c: `eagre info` of what is a checkpoint, or a directory of them. */
eg_status cli_info_checkpoint(eg_context *ctx, const cli_options *options, const char *path);

/* mesh_info.c: "3.4 MiB"; returns `text`. */
const char *cli_memory_text(int64_t bytes, char text[32]);

/* Fails unless a file of this name could be made: minutes of work must not end in a file that cannot
 * be written. NULL is accepted. */
eg_status cli_check_writable(eg_context *ctx, const char *path);

/* True for a name with this ending, ".png", and something before it. */
bool cli_ends_with(const char *name, const char *ending);

/* True for "section.key=value", false for the name of a file. */
bool cli_is_replacement(const char *word);

/* A text as it is, or as the one member `key` of a JSON object. */
eg_status cli_print_as(eg_context *ctx, bool json, const char *key, const eg_text *text);

/* Writes a text to standard output, on rank 0. */
eg_status cli_print(eg_context *ctx, const eg_text *text);

#endif
