/* What trapeze run and trapeze resume share: their options, and running a scenario. */
#ifndef TZ_CORE_CLI_RUN_OPTIONS_H
#define TZ_CORE_CLI_RUN_OPTIONS_H

#include "cli/options.h"
#include "lua/script.h"
#include <time.h>

enum { EXIT_WALLTIME = 3 /* --walltime has stopped the run */ };

/* Progress of a run on stderr: one line, redrawn, on a terminal; else a new line every 3 s. */
typedef struct tz_progress {
    bool quiet, terminal;
    bool drawn;            /* an unfinished line is on the terminal */
    struct timespec begin; /* of the present call of run() */
    struct timespec last;  /* when something was shown */
    bool running;
} tz_progress;

/* Begin with zeros. */
typedef struct tz_run_settings {
    tz_script_options script;
    tz_paths sets;
    tz_plugins plugins;
    tz_progress progress;
    bool quiet, verbose;
    int compile_threads;   /* 0: half of the processors */
    struct json_t *record; /* owned: the content of run.json at the end; NULL until then */
} tz_run_settings;

/* Read the options of trapeze run; later ones replace what is there. TZ_OPTIONS_GO_ON, with the
 * arguments from argv[optind] on, or what to exit with. */
int tz_run_options_read(const tz_command *command, int argc, char **argv,
                        tz_run_settings *settings);

/* Where mpirun started this process as one of several: TZ_OPTIONS_GO_ON in the first rank, with
 * *ranks; the others serve it until it closes them, and get what to exit with. *ranks is NULL
 * without mpirun. */
int tz_run_open(const tz_ranks **ranks);
/* Ends the others, too. NULL is fine. Returns the code. */
int tz_run_close(const tz_ranks *ranks, int code);

/* Run the scenario. Returns what to exit with. */
int tz_run_execute(tz_run_settings *settings);

#endif
