/* Spawns a program in a process group of its own, and collects its output, feeds its input, or
 * talks with it. Called by core/define and core/backend/cuda/compile for compilers, by
 * core/output/format/video.c, and by core/cli for sweeps. */
#include "base/process.h"

#include "base/machine.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OUTPUT_BYTES_MAX = 64 << 10, READS_MAX = 64, PAUSE_MS = 20, ANSWER_MS = 2 };

/* ---- The environment ------------------------------------------------------------------------- */

static bool is_variable(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* This process's environment with LC_ALL=C and TMPDIR; *temporary holds the latter. Release both
 * with free(). NULL without memory. */
static char **environment_of(const tz_process *process, char **temporary)
{
    size_t count = 0, used = 0;
    while (environ[count])
        count++;
    char **entries = calloc(count + 3, sizeof *entries);
    *temporary = NULL;
    if (!entries || (process->folder && asprintf(temporary, "TMPDIR=%s", process->folder) < 0)) {
        free(entries);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        if (!is_variable(environ[i], "LC_ALL") && !is_variable(environ[i], "LANGUAGE") &&
            !(*temporary && is_variable(environ[i], "TMPDIR")))
            entries[used++] = environ[i];
    entries[used++] = (char *)"LC_ALL=C";
    entries[used] = *temporary;
    return entries;
}

/* ---- Starting -------------------------------------------------------------------------------- */

/* Returns an errno. The program reads from `from`, nothing if that is -1; its output goes to `to`,
 * nowhere if that is -1. */
static int spawn(const tz_process *process, char **environment, int from, int to, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0)
        return code;
    code = posix_spawnattr_init(&attributes);
    if (code != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return code;
    }
    sigemptyset(&none);
    sigfillset(&defaults);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                              POSIX_SPAWN_SETSIGDEF);
    code = from < 0 ? posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
                    : posix_spawn_file_actions_adddup2(&actions, from, 0);
    if (code == 0)
        code = to < 0 ? posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
                      : posix_spawn_file_actions_adddup2(&actions, to, 1);
    if (code == 0)
        code = posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (code == 0 && process->folder)
        code = posix_spawn_file_actions_addchdir_np(&actions, process->folder);
    if (code == 0)
        code = posix_spawn(pid, process->program, &actions, &attributes,
                           (char *const *)process->arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

/* ---- The guard --------------------------------------------------------------------------------
 *
 * A process of its own, since after kill -9 there is nobody else. It begins before the program,
 * and reads a line with the program's group, and another one when the program has ended. If it
 * finds the end of its input instead, this process has died: it kills the group. */

typedef struct guard {
    pid_t pid;
    int line;
} guard;

/* Returns an errno. */
static int guard_start(guard *g, const tz_process *process)
{
    int ends[2];
    const char *const arguments[] = {"sh",
                                     "-c",
                                     "if read -r group && [ \"$group\" ]; then\n"
                                     "    read -r line || kill -s KILL -- \"-$group\"\n"
                                     "fi\n"
                                     "[ -z \"$1\" ] || rm -rf -- \"$1\"",
                                     "guard",
                                     process->is_temporary ? process->folder : "",
                                     NULL};
    const tz_process shell = {.program = "/bin/sh", .arguments = arguments};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return errno;
    const int reason = spawn(&shell, environ, ends[1], -1, &g->pid);
    close(ends[1]);
    g->line = ends[0];
    if (reason != 0)
        close(ends[0]);
    return reason;
}

static void guard_watch(const guard *g, pid_t group)
{
    char line[24];
    const int length = snprintf(line, sizeof line, "%ld\n", (long)group);
    send(g->line, line, (size_t)length, MSG_NOSIGNAL);
}

static void guard_end(const guard *g)
{
    int code;
    send(g->line, "\n", 1, MSG_NOSIGNAL);
    close(g->line);
    while (waitpid(g->pid, &code, 0) < 0 && errno == EINTR)
        ;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

/* Take what the pipe holds, or a part if it never ends; what exceeds the output's end is lost.
 * Returns false at its end. */
static bool take(int from, char *output, size_t *used)
{
    char more[4096];
    for (int i = 0; i < READS_MAX; i++) {
        const ssize_t got = read(from, more, sizeof more);
        if (got < 0)
            return errno == EAGAIN || errno == EINTR;
        if (got == 0)
            return false;
        size_t kept = OUTPUT_BYTES_MAX - *used;
        kept = (size_t)got < kept ? (size_t)got : kept;
        memcpy(output + *used, more, kept);
        *used += kept;
    }
    return true;
}

/* A program that it started may hold the pipe open, so the end of the output alone does not count.
 * `from` may be -1: then there is no output. */
static tz_status wait_for(const tz_process *process, pid_t pid, int from, char *output, int *code,
                          tz_error *error)
{
    const double start = tz_machine_clock_s();
    size_t used = 0;
    bool open = from >= 0;
    int ending = 0;
    for (;;) {
        const pid_t ended = waitpid(pid, &ending, WNOHANG);
        if (open)
            open = take(from, output, &used);
        if (ended == pid)
            break;
        const bool late = tz_machine_clock_s() - start > process->limit_s;
        if (late || (tz_cancelled(&process->cancel))) {
            kill(-pid, SIGKILL);
            while (waitpid(pid, &ending, 0) < 0 && errno == EINTR)
                ;
            return late ? tz_error_set(error, TZ_IO, process->program,
                                       "did not end within %.3g s and was killed", process->limit_s)
                        : tz_error_set(error, TZ_INTERRUPTED, process->program, "interrupted");
        }
        struct pollfd wanted = {.fd = open ? from : -1, .events = POLLIN};
        poll(&wanted, 1, open ? PAUSE_MS : 1);
    }
    if (output)
        output[used] = '\0';
    *code = WIFEXITED(ending) ? WEXITSTATUS(ending) : 128 + WTERMSIG(ending);
    return TZ_OK;
}

tz_status tz_process_run(const tz_process *process, char **output, int *code, tz_error *error)
{
    int ends[2] = {-1, -1};
    pid_t pid = 0;
    tz_status status = TZ_OK;
    char *temporary = NULL, **environment = environment_of(process, &temporary);
    *output = malloc(OUTPUT_BYTES_MAX + 1);
    if (!*output || !environment) {
        status = tz_error_set(error, TZ_MEMORY, process->program, "not enough memory to start it");
        goto cleanup;
    }
    guard g = {.line = -1};
    int reason = guard_start(&g, process);
    if (reason != 0) {
        status = tz_error_set_errno(error, reason, "/bin/sh", "cannot be started");
        goto cleanup;
    }
    reason = pipe2(ends, O_CLOEXEC) != 0 ? errno : 0;
    if (reason == 0)
        reason = spawn(process, environment, -1, ends[1], &pid);
    if (reason == 0) {
        guard_watch(&g, pid);
        close(ends[1]);
        ends[1] = -1;
        fcntl(ends[0], F_SETFL, O_NONBLOCK);
        status = wait_for(process, pid, ends[0], *output, code, error);
    } else {
        status = tz_error_set_errno(error, reason, process->program, "cannot be started");
    }
    if (!status && *code == 0 && process->harvest)
        status = process->harvest(process->context, error);
    guard_end(&g);
cleanup:
    for (int i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
    free(environment);
    free(temporary);
    if (status) {
        free(*output);
        *output = NULL;
    }
    return status;
}

/* ---- Programs that read ---------------------------------------------------------------------- */

struct tz_feed {
    tz_process process;
    char program[256]; /* its own copy, for messages */
    pid_t pid;
    int input;  /* a socket: writing to it raises no SIGPIPE */
    int output; /* a file in memory: the program never waits for a reader */
};

tz_status tz_feed_start(tz_feed **out, const tz_process *process, tz_error *error)
{
    int ends[2] = {-1, -1};
    tz_feed *feed = calloc(1, sizeof *feed);
    char *temporary = NULL, **environment = environment_of(process, &temporary);
    int reason = feed && environment ? 0 : ENOMEM;
    *out = NULL;
    if (reason == 0) {
        *feed = (tz_feed){.process = *process, .input = -1};
        snprintf(feed->program, sizeof feed->program, "%s", process->program);
        feed->process.program = feed->program;
        feed->process.arguments = NULL; /* the caller's */
        feed->output = memfd_create("output", MFD_CLOEXEC);
        if (feed->output < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
            reason = errno;
        feed->input = ends[0];
        if (reason == 0)
            reason = spawn(process, environment, ends[1], feed->output, &feed->pid);
        if (ends[1] >= 0)
            close(ends[1]);
    }
    free(environment);
    free(temporary);
    if (reason == 0) {
        *out = feed;
        return TZ_OK;
    }
    if (feed && feed->output >= 0)
        close(feed->output);
    if (feed && feed->input >= 0)
        close(feed->input);
    free(feed);
    return tz_error_set_errno(error, reason, process->program, "cannot be started");
}

/* Send `data`, or receive into it. */
static tz_status move(tz_feed *feed, bool sends, char *data, size_t bytes, const tz_feed_wait *wait,
                      tz_error *error)
{
    while (bytes > 0) {
        const ssize_t moved = sends ? send(feed->input, data, bytes, MSG_NOSIGNAL | MSG_DONTWAIT)
                                    : recv(feed->input, data, bytes, MSG_DONTWAIT);
        if (moved > 0) {
            data += moved;
            bytes -= (size_t)moved;
            continue;
        }
        if (moved == 0 || (errno != EAGAIN && errno != EINTR))
            return tz_error_set(error, TZ_IO, feed->process.program,
                                sends ? "does not read on" : "has ended");
        if (wait && wait->cancel && tz_cancelled(wait->cancel))
            return tz_error_set(error, TZ_INTERRUPTED, feed->process.program, "interrupted");
        if (wait && tz_machine_clock_s() > wait->end_s)
            return tz_error_set(error, TZ_RANGE, feed->process.program, "takes too long");
        struct pollfd wanted = {.fd = feed->input, .events = sends ? POLLOUT : POLLIN};
        poll(&wanted, 1, wait && wait->cancel ? ANSWER_MS : PAUSE_MS);
    }
    return TZ_OK;
}

tz_status tz_feed_send(tz_feed *feed, const void *data, size_t bytes, const tz_feed_wait *wait,
                       tz_error *error)
{
    return move(feed, true, (char *)data, bytes, wait, error);
}

tz_status tz_feed_receive(tz_feed *feed, void *data, size_t bytes, const tz_feed_wait *wait,
                          tz_error *error)
{
    return move(feed, false, data, bytes, wait, error);
}

bool tz_feed_has_ended(const tz_feed *feed)
{
    struct pollfd end = {.fd = feed->input};
    return poll(&end, 1, 0) > 0;
}

/* The last line of what the program wrote, in `text`. */
static void last_line(int output, char *text, size_t size)
{
    const off_t end = lseek(output, 0, SEEK_END);
    const off_t start = end > (off_t)size - 1 ? end - ((off_t)size - 1) : 0;
    const ssize_t got = pread(output, text, size - 1, start);
    size_t length = got > 0 ? (size_t)got : 0;
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        length--;
    text[length] = '\0';
    const char *line = strrchr(text, '\n');
    if (line)
        memmove(text, line + 1, strlen(line));
}

tz_status tz_feed_end(tz_feed *feed, tz_error *error)
{
    if (!feed)
        return TZ_OK;
    int code = 0;
    char line[400], how[64];
    close(feed->input);
    tz_status status = wait_for(&feed->process, feed->pid, -1, NULL, &code, error);
    if (status == TZ_OK && code != 0) {
        last_line(feed->output, line, sizeof line);
        if (code > 128)
            snprintf(how, sizeof how, "was ended by signal %d", code - 128);
        else
            snprintf(how, sizeof how, "failed with exit code %d", code);
        status = tz_error_set(error, TZ_IO, feed->process.program, "%s%s%s", how,
                              line[0] ? ": " : "", line);
    }
    close(feed->output);
    free(feed);
    return status;
}

void tz_feed_kill(tz_feed *feed)
{
    if (!feed)
        return;
    kill(-feed->pid, SIGKILL);
    feed->process.limit_s = 1e9;
    tz_feed_end(feed, NULL);
}
