/* Progress of a run on stderr: one redrawn line on a terminal, else a plain line now and then. */
#ifndef TZ_CORE_CLI_PROGRESS_H
#define TZ_CORE_CLI_PROGRESS_H

#include "lua/script.h"
#include <time.h>

typedef struct tz_progress {
    bool quiet, terminal;
    bool drawn;            /* an unfinished line is on the terminal */
    struct timespec begin; /* of the present call of run() */
    struct timespec last;  /* when something was shown */
    int64_t last_done;     /* to notice the next call of run() */
    bool running;
} tz_progress;

void tz_progress_begin(tz_progress *progress, bool quiet);
void tz_progress_show(tz_progress *progress, const tz_script_progress *now);
/* Take an unfinished line away, before anything else is printed. */
void tz_progress_clear(tz_progress *progress);

#endif
