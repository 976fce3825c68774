/* Other programs, run without a shell. */
#ifndef TZ_CORE_BASE_PROCESS_H
#define TZ_CORE_BASE_PROCESS_H

#include "base/cancel.h"
#include "base/error.h"
#include <stdbool.h>

typedef struct tz_process {
    const char *program;          /* its path */
    const char *const *arguments; /* the first is the program's name; NULL ends the list */
    const char *folder;           /* OPTIONAL: where it runs, and has its temporary files */
    /* tz_process_run(): the folder is removed when the program has ended, or this process dies.
     * OPTIONAL: what is called before that, if the exit status is 0. */
    bool is_temporary;
    tz_status (*harvest)(void *context, tz_error *error);
    void *context;
    double limit_s;   /* it is killed after that time */
    tz_cancel cancel; /* asked now and then: the program is killed */
} tz_process;

/* Run a program to its end. It reads nothing, speaks English (LC_ALL=C), and has a process group of
 * its own, which is killed with it, and when this process dies, however that is.
 *
 * *output is what it wrote to stdout and stderr, at most 64 KiB, with a '\0' after it; release it
 * with free(). It is NULL after an error. *code is its exit status, or 128 plus the signal that
 * ended it. Errors, with the program as place: TZ_IO (it cannot be started; it took longer than
 * limit_s), TZ_MEMORY, TZ_INTERRUPTED; those of harvest(). Any thread. */
tz_status tz_process_run(const tz_process *process, char **output, int *code, tz_error *error);

/* A program that reads what this process writes to it. When this process dies, it finds the end of
 * its input. */
typedef struct tz_feed tz_feed;

/* Start it; what `process` points to must stay until tz_feed_end(), which takes `limit_s` at most.
 * Errors as of tz_process_run(). */
tz_status tz_feed_start(tz_feed **out, const tz_process *process, tz_error *error);

/* How long to wait for a program. */
typedef struct tz_feed_wait {
    double end_s;            /* until then, on tz_machine_clock_s() */
    const tz_cancel *cancel; /* OPTIONAL: asked every few milliseconds */
} tz_feed_wait;

/* Its input is a socket, so a program may answer on it: file descriptor 0. Send and receive so many
 * bytes; `wait` NULL: wait while the program does nothing. TZ_IO: it has ended; TZ_RANGE: end_s has
 * come; TZ_INTERRUPTED. */
tz_status tz_feed_send(tz_feed *feed, const void *data, size_t bytes, const tz_feed_wait *wait,
                       tz_error *error);
tz_status tz_feed_receive(tz_feed *feed, void *data, size_t bytes, const tz_feed_wait *wait,
                          tz_error *error);
/* Has it ended, or closed its input? */
bool tz_feed_has_ended(const tz_feed *feed);

/* End its input, wait for its end, and free the feed in any case. NULL is fine. Errors as of
 * tz_process_run(); TZ_IO with the last line that it wrote, if its exit status is not 0. */
tz_status tz_feed_end(tz_feed *feed, tz_error *error);
/* Kill it at once, and free the feed. NULL is fine. */
void tz_feed_kill(tz_feed *feed);

#endif
