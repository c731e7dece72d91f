/* Progress on standard error: one line that changes on a terminal, plain lines elsewhere. Rank 0
 * speaks for all. */
#define _POSIX_C_SOURCE 200809L
#include "cli/progress.h"

#include "cli/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Goes to the start of the line and empties it. */
#define ERASE "\r\033[K"
/* A line that is longer than the terminal is wide is cut off there: of a wrapped one the beginning
 * could not be erased. */
#define NO_WRAP "\033[?7l"
#define WRAP "\033[?7h"

static bool drawn; /* there is a line to erase */

static bool on_terminal(void)
{
    return cli_rank() == 0 && isatty(STDERR_FILENO);
}

void cli_show_progress(const char *format, ...)
{
    char line[256];
    va_list arguments;
    if (cli_rank() > 0) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    drawn = on_terminal();
    fprintf(stderr, drawn ? ERASE NO_WRAP "%s" WRAP : "%s\n", line);
    fflush(stderr);
}

void cli_clear_progress(void)
{
    if (drawn) fprintf(stderr, ERASE);
    drawn = false;
}

const char *cli_time_text(double seconds, char text[40])
{
    const long long s = seconds < 1e15 ? (long long)(seconds + 0.5) : 0;
    if (s < 60)
        snprintf(text, 40, "%lld s", s);
    else if (s < 3600)
        snprintf(text, 40, "%lld min %lld s", s / 60, s % 60);
    else
        snprintf(text, 40, "%lld h %lld min", s / 3600, s % 3600 / 60);
    return text;
}

static void show_loop(void *user, const eg_progress *p)
{
    const char *name = user;
    char rest[64] = "";
    if (p->steps > p->step) {
        char time[40];
        snprintf(rest, sizeof rest, ", %s left", cli_time_text(p->left_s, time));
    }
    cli_show_progress("%s%sstep %lld of %lld, time %.4g of %.4g, dt %.3g, %.3g steps/s%s", name,
                      *name ? ": " : "", (long long)p->step, (long long)p->steps, p->time, p->end,
                      p->dt, p->rate, rest);
}

bool cli_draws_progress(const cli_options *options)
{
    return !options->json && on_terminal();
}

eg_run_options cli_run_options(const cli_options *options, const char *name)
{
    if (!cli_draws_progress(options)) return (eg_run_options){0};
    return (eg_run_options){.progress = show_loop, .progress_user = (void *)name};
}
