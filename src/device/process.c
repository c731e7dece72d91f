/* Running the compiler of kernels.
 *
 * By posix_spawn and never fork: a fork of a process that has MPI, a GPU driver or gigabytes of
 * huge pages open is slow at best and breaks pinned memory at worst.
 */
#define _GNU_SOURCE
#include "device/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_program(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

bool eg_process_find(const char *name, char *path, size_t size)
{
    if (strchr(name, '/')) {
        int n = snprintf(path, size, "%s", name);
        return n > 0 && (size_t)n < size && is_program(path);
    }
    const char *list = getenv("PATH");
    while (list && *list && *name) {
        size_t length = strcspn(list, ":");
        /* An empty entry would mean the working directory: not a place to take a compiler from. */
        if (length > 0 && length < size) {
            int n = snprintf(path, size, "%.*s/%s", (int)length, list, name);
            if (n > 0 && (size_t)n < size && is_program(path)) return true;
        }
        list += length;
        if (*list == ':') list++;
    }
    return false;
}

/* The child starts with default signals and an empty mask, whatever the program around us does,
 * and in a process group of its own: an interrupt from the terminal is for us, who end when the
 * kernel is there, and not for the compiler, whose death would look like a kernel that does not
 * compile. */
static int set_signals(posix_spawnattr_t *attributes)
{
    sigset_t none, reset;
    sigemptyset(&none);
    sigemptyset(&reset);
    static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGALRM, SIGHUP};
    for (size_t i = 0; i < EG_COUNT(signals); i++)
        sigaddset(&reset, signals[i]);
    int error = posix_spawnattr_setsigmask(attributes, &none);
    if (error == 0) error = posix_spawnattr_setsigdefault(attributes, &reset);
    if (error == 0) error = posix_spawnattr_setpgroup(attributes, 0);
    if (error == 0)
        error = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return error;
}

static int spawn(const char *const *argv, const char *log, pid_t *child)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0) return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&files);
        return error;
    }
    error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, log,
                                                 O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (error == 0) error = posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    if (error == 0) error = set_signals(&attributes);
    if (error == 0)
        error = posix_spawn(child, argv[0], &files, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

eg_status eg_process_run(eg_context *ctx, const char *const *argv, const char *log, int *code)
{
    pid_t child = 0;
    int error = spawn(argv, log, &child);
    if (error != 0)
        return eg_fail(ctx, EG_ERROR_IO, "%s could not be started with its output going to %s: %s",
                       argv[0], log, strerror(error));
    int state = 0;
    pid_t ended;
    do
        ended = waitpid(child, &state, 0);
    while (ended < 0 && errno == EINTR);
    if (ended < 0)
        *code = EG_PROCESS_UNKNOWN; /* SIGCHLD is ignored, or a handler of the program was faster */
    else if (WIFEXITED(state))
        *code = WEXITSTATUS(state);
    else
        *code = 128 + WTERMSIG(state);
    return EG_OK;
}

eg_status eg_process_make_directory(eg_context *ctx, char *path, size_t size)
{
    const char *parent = getenv("TMPDIR");
    if (!parent || !*parent) parent = "/tmp";
    int n = snprintf(path, size, "%s/eagre-XXXXXX", parent);
    if (n < 0 || (size_t)n >= size)
        return eg_fail(ctx, EG_ERROR_IO,
                       "the name of the temporary directory %s is too long; "
                       "set TMPDIR to another",
                       parent);
    if (!mkdtemp(path))
        return eg_fail(ctx, EG_ERROR_IO,
                       "no temporary directory could be made in %s: %s; set TMPDIR to a directory "
                       "that can be written",
                       parent, strerror(errno));
    return EG_OK;
}
