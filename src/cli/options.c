/* Parses the options of a command: --name, --name value, --name=value, -n, -n value; "--" ends
 * them. Every mistake is explained with the nearest valid name. */
#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST_OPTIONS 32

/* Rank 0 speaks for all: they were given the same words. */
static void EG_PRINTF(1, 2) complain(const char *format, ...)
{
    va_list arguments;
    if (cli_rank() > 0) return;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

static const cli_option *find_long(const cli_command *command, const char *name, size_t length)
{
    for (const cli_option *o = command->options; o->name; o++) {
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    }
    return NULL;
}

static const cli_option *find_short(const cli_command *command, char letter)
{
    for (const cli_option *o = command->options; o->name; o++) {
        if (o->letter == letter) return o;
    }
    return NULL;
}

static void unknown(const cli_command *command, const char *given, const char *name, size_t length)
{
    const char *names[MOST_OPTIONS];
    size_t count = 0;
    char asked[64];
    snprintf(asked, sizeof asked, "%.*s", (int)length, name);
    for (const cli_option *o = command->options; o->name && count < MOST_OPTIONS; o++) {
        names[count++] = o->name;
    }
    const char *nearest = eg_nearest(asked, names, count);
    complain("eagre %s: unknown option %s", command->name, given);
    if (nearest) complain("; did you mean --%s?", nearest);
    complain("\n\"eagre %s --help\" lists all options.\n", command->name);
}

bool cli_parse(const cli_command *command, int argc, char **argv, cli_options *options)
{
    bool ended = false;
    *options = (cli_options){.names = argv};
    for (int i = 0; i < argc; i++) {
        char *given = argv[i];
        if (ended || given[0] != '-' || given[1] == '\0') {
            options->names[options->name_count++] = given;
            continue;
        }
        if (strcmp(given, "--") == 0) {
            ended = true;
            continue;
        }
        bool is_long = given[1] == '-';
        const char *name = given + (is_long ? 2 : 1);
        size_t length = strcspn(name, "=");
        const cli_option *option = NULL;
        if (is_long) {
            option = find_long(command, name, length);
        } else if (length == 1) {
            option = find_short(command, name[0]);
        }
        if (!option) {
            unknown(command, given, name, length);
            return false;
        }
        const char *value = name[length] == '=' ? name + length + 1 : NULL;
        if (!option->value) {
            if (value) {
                complain("eagre %s: option --%s takes no value, but \"%s\" was given\n",
                         command->name, option->name, value);
                return false;
            }
            *(bool *)((char *)options + option->offset) = true;
            continue;
        }
        if (!value && i + 1 < argc) value = argv[++i];
        if (!value || value[0] == '\0') {
            complain("eagre %s: option --%s needs a value: --%s %s\n", command->name, option->name,
                     option->name, option->value);
            return false;
        }
        *(const char **)((char *)options + option->offset) = value;
    }
    return true;
}
