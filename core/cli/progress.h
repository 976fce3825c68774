/* Progress of a run on stderr: one line, redrawn, on a terminal; else a new line every 3 s. */
#ifndef TZ_CORE_CLI_PROGRESS_H
#define TZ_CORE_CLI_PROGRESS_H

#include "lua/script.h"
#include <time.h>

typedef struct tz_progress {
    bool quiet, terminal;
    bool drawn;            /* an unfinished line is on the terminal */
    struct timespec begin; /* of the present call of run() */
    struct timespec last;  /* when something was shown */
    bool running;
} tz_progress;

void tz_progress_begin(tz_progress *progress, bool quiet);
void tz_progress_show(tz_progress *progress, const tz_script_progress *now);
/* Erase the unfinished line. Call it before anything else is printed. */
void tz_progress_clear(tz_progress *progress);

#endif
