/* Signals that ask a command to stop, and that it looks for where it can. */
#define _POSIX_C_SOURCE 200809L
#include "cli/cli.h"

#include <signal.h>

static volatile sig_atomic_t signalled; /* the number of the first signal that asked to stop */

static void note_signal(int number)
{
    if (signalled == 0) signalled = number;
}

int cli_signalled(void *user)
{
    (void)user;
    return (int)signalled;
}

void cli_catch_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGTERM, &action, NULL);
    action.sa_flags = (int)SA_RESETHAND;
    sigaction(SIGINT, &action, NULL);
}
