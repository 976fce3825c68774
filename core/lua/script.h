/* Run a Lua scenario: everything between the command line and the simulation. */
#ifndef TZ_CORE_LUA_SCRIPT_H
#define TZ_CORE_LUA_SCRIPT_H

#include "base/ranks.h"
#include "define/definition.h"
#include "policy/wish.h"
#include "stencil/registry.h"
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>

typedef struct tz_script_progress {
    const char *name;    /* of the simulation */
    int64_t done, total; /* iterations of this call of run(); total -1: not known */
    int64_t step, cells;
    double seconds; /* spent in stages by this call */
    bool last;      /* the call is over */
} tz_script_progress;

struct tz_record;     /* output/run_record.h */
struct tz_sweep_grid; /* output/sweep/grid.h */

typedef enum tz_note { TZ_NOTE_LOG, TZ_NOTE_WARNING } tz_note;

/* Where a script's output goes; every member may be NULL. */
typedef struct tz_script_sink {
    void *context;
    /* print() and the report of --check; the text may hold zero bytes. */
    void (*print)(void *context, const char *text, size_t bytes);
    void (*note)(void *context, tz_note note, const char *line);
    void (*progress)(void *context, const tz_script_progress *progress);
    /* A plan is compiled that a policy waits for. By any thread, one at a time. */
    void (*compiled)(void *context);
    /* At the end of a run, also of one that writes no file: what run.json says. */
    void (*record)(void *context, const struct tz_record *record);
    /* The address of the live view, which is open. */
    void (*serves)(void *context, const char *url, const char *look_url);
    /* A stencil that tz.stencil has defined; not again for an equal one. */
    void (*stencil)(void *context, const tz_definition *definition);
    /* A file that it has read: a module, an array, a floorplan. */
    void (*input)(void *context, const char *path);
    /* What tz.sweep was given; an error ends the script. */
    tz_status (*sweep)(void *context, const struct tz_sweep_grid *grid, tz_error *error);
} tz_script_sink;

typedef struct tz_script_options {
    const char *path;
    tz_registry *registry; /* tz.stencil adds to it */
    const char *backend;   /* NULL: the script's choice */
    tz_plan_wish policy;   /* before the script's */
    int threads;           /* 0: the script's choice */
    int device;            /* ordinal of the GPU */
    const char *devices;   /* as in tz_simulation_config; NULL: the script's choice */
    bool sync;             /* wait for every stage and check it */
    /* true: it ends as after a signal; NULL: never */
    const atomic_bool *cancelled;
    /* No script, but a program makes the calls: there is no folder of a run, and no record. */
    bool library;
    const char *out;    /* NULL: runs/NAME-NNN */
    const char *resume; /* the folder of a run that goes on; NULL: a new run */
    /* "5000" or "200 s": the run that has ended goes on to this step or time; NULL: it does not */
    const char *until;
    const char *from;    /* the folder of a run with whose fields simulations begin; NULL: none */
    int64_t from_step;   /* of that run; -1: the last */
    double checkpoint_s; /* of the clock, between two checkpoints; 0: the script's choice */
    /* the run stops, with a checkpoint, before it has taken so long; 0: no limit */
    double walltime_s;
    size_t sets_count; /* NAME=VALUE, each */
    const char *const *sets;
    bool report;           /* write report.html at the end */
    bool check;            /* validate and report; write nothing */
    bool define;           /* with `check`: only its stencils are wanted, so nothing is predicted */
    bool unsafe;           /* all of Lua's libraries */
    const tz_ranks *ranks; /* that serve it, of which this is the first; NULL: alone */
    bool serve;            /* a live view */
    const char *serve_address; /* NULL: 127.0.0.1 */
    int serve_port;            /* 0: a free one */
    bool serve_paused;         /* runs begin paused */
    int arguments_count;       /* the command line, for run.json */
    const char *const *arguments;
    tz_script_sink sink;
} tz_script_options;

typedef struct tz_script_result {
    char folder[PATH_MAX]; /* of the run; "" if none was made */
    int64_t steps;         /* iterations by all simulations */
    double updates;        /* useful cell updates */
    double seconds;        /* in stages */
    int ran;               /* simulations that advanced */
    char policy[256];      /* of the last of them, as a sentence */
    char ending[240];      /* of the last run with a limit: "converged: residual 1e-05"; or "" */
    bool stagnated;        /* a run did, and the script does not accept it */
    int signal;            /* the one that stopped the run; 0: none. SIGALRM: the wall time */
    bool can_go_on;        /* the folder has a checkpoint */
    char unread[1024];     /* the first --set that the script has not read, as a warning; or "" */
    char traceback[4096];  /* "" unless a function of the script failed; lines, each indented */
} tz_script_result;

/* Run the script at options->path to its end. TZ_INTERRUPTED (a signal), TZ_EXPECT (tz.expect
 * failed), TZ_SCRIPT (any other error of the script); the message of both begins with the script's
 * line. Otherwise the error that kept the run from starting or its files from being written. Fills
 * `result` in any case. One script at a time. */
tz_status tz_script_run(const tz_script_options *options, tz_script_result *result,
                        tz_error *error);

/* ---- The reference of scenarios: manual.c --------------------------------------------------- */

/* Write the reference as Markdown, or the section of the function `name` ("tz.png", "sim:run";
 * NULL: all). Errors: TZ_MEMORY; TZ_UNKNOWN: no such function, with the nearest; TZ_FORMAT names a
 * function or option without documentation. Errors of `out` are the caller's to check. */
tz_status tz_manual_write(FILE *out, const char *name, tz_error *error);

#endif
