/* The state that the files of the Lua binding share: one context for a script, which any lua_State
 * reaches. */
#ifndef TZ_CORE_LUA_CONTEXT_H
#define TZ_CORE_LUA_CONTEXT_H

#include "base/machine.h"
#include "base/paths.h"
#include "lua/journal.h"
#include "lua/script.h"
#include "output/run_files.h"
#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

struct tz_simulation_handle;
struct tz_waiting;
struct tz_checkpoints;
struct tz_active_run;
struct tz_defined;
struct tz_live_view;
typedef struct tz_resume tz_resume;

typedef enum tz_recall_mode {
    TZ_RECALL_OFF,     /* the script is only checked */
    TZ_RECALL_RECORDS, /* what calls give */
    TZ_RECALL_REPLAYS, /* up to a checkpoint */
    TZ_RECALL_BROKEN   /* the replay failed: every call does */
} tz_recall_mode;

/* recall.h */
typedef struct tz_recall {
    tz_recall_mode mode;
    tz_journal *journal; /* owned */
    bool in_policy;      /* a policy's function runs: no checkpoint is written now */
    int64_t end;         /* replaying: where the checkpoint's entry ends */
    bool tainted;        /* a call cannot be replayed: no more checkpoints */
    char why[1200];      /* of that, or why a replay failed */
} tz_recall;

typedef struct tz_context {
    const tz_script_options *options;
    tz_script_result *result;
    tz_machine machine;
    char *text; /* the scenario, owned */
    size_t bytes;
    char name[96]; /* of the scenario: its file name without ".lua" */
    char folder_of_script[PATH_MAX];
    tz_run_files files;                /* opened when something is written or run */
    struct tz_simulation_handle *open; /* a list of those that are not closed */
    size_t simulations;                /* how many were made */
    struct tz_defined *defined;        /* stencils of tz.stencil */
    tz_recall recall;
    struct tz_checkpoints *checkpoints; /* checkpoint.h; owned */
    tz_resume *resume;                  /* checkpoint.h; owned, NULL unless a run goes on */
    struct tz_live_view *view;          /* live.h; owned, NULL: there is no live view */
    struct tz_active_run *runs;         /* runs that have not returned, the last first */
    const struct tz_waiting *waiting;   /* threads, the last first: guard.h */
    const char *stack;                  /* where C's stack begins; NULL: not known */
    size_t stack_bytes;                 /* how much of it calls may use */
    bool *sets_read;                    /* which --set names the script has read */
    tz_paths read_names;                /* every name that it has read of tz.args */
    bool expectations_noted;            /* --check has printed that expectations are skipped */
    bool has_said;                      /* the script has called tz.log */
    bool printed;                       /* or print or warn */
    bool told_apart;                    /* that not all processes write their part of files */
    bool asked;   /* it has called what answers (sim:get, tz.predict), tests or writes a file */
    bool ran;     /* a simulation has advanced */
    bool reports; /* it has called tz.report */
    bool sweeps;  /* it has called tz.sweep */
    char *early; /* lines for log.txt from before the run's folder, each with its end; NULL: none */
    size_t early_bytes;
    int64_t early_lost; /* lines for which there was no room */
    char warning[1024]; /* pieces of a line of warn() */
    tz_error fault;     /* of a call that the binding makes: tz_fault */
    char refusal[2600]; /* the last error that the binding itself raised */
    tz_status raised;   /* its status, TZ_USAGE if it has none of its own */
    char traced[2600];  /* the error that result->traceback belongs to */
} tz_context;

/* The context of a state: kept in the state's extra space, which new threads inherit. */
static inline tz_context *tz_context_get(lua_State *L)
{
    return *(tz_context **)lua_getextraspace(L);
}

/* A line of at most 2199 bytes for the log and the sink. */
void tz_context_note(tz_context *context, tz_note note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Write the lines to log.txt that came before the folder was made. */
void tz_context_log_early(tz_context *context);
/* A line of any length for the log and the sink. */
void tz_context_log(tz_context *context, const char *line);
/* Text for the sink alone: print() and the report of --check. */
void tz_context_print(tz_context *context, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Pass on the warnings that the cache of kernels keeps. */
void tz_context_pass_warnings(tz_context *context);

/* Shall the script end: has a signal arrived, or does the program say so? */
bool tz_context_stops(const tz_context *context);

/* A message handler for lua_pcall: makes the error a string and keeps the traceback. */
int tz_context_traceback(lua_State *L);
/* Did tz.expect raise this message? */
bool tz_context_is_expectation(const tz_context *context, const char *message);

#endif
