/* Checkpoints of a script's run. They hold all open simulations, where their runs are, and
 * how far the journal goes. */
#ifndef TZ_CORE_LUA_CHECKPOINT_H
#define TZ_CORE_LUA_CHECKPOINT_H

#include "lua/handle.h"
#include "sim/checkpoint.h"

/* A call of sim:run that has not returned. */
typedef struct tz_active_run {
    tz_simulation_handle *handle;
    tz_course course;
    bool unsettled;             /* other threads may still write outputs or a checkpoint */
    bool refused;               /* no snapshots in this run */
    struct tz_active_run *next; /* the run around it */
} tz_active_run;

/* The run of a simulation that has not returned. */
static inline tz_active_run *tz_active_run_of(const tz_simulation_handle *handle)
{
    tz_active_run *run = handle->context->runs;
    while (run && run->handle != handle)
        run = run->next;
    return run;
}

typedef struct tz_checkpoints tz_checkpoints;

/* Set up context->checkpoints from the options. TZ_MEMORY. */
tz_status tz_checkpoints_begin(tz_context *context, tz_error *error);
void tz_checkpoints_end(tz_context *context);

/* Are there to be checkpoints? */
bool tz_checkpoints_on(const tz_context *context);
/* There are, from now on: every so many seconds, and after a signal. 0: only after a signal. */
void tz_checkpoints_every(tz_context *context, double interval_s);

/* Write one now; `wait`: until it is on the disk. Other threads may write it while the run goes on.
 * A checkpoint that fails is a warning. Returns errors of outputs alone. */
tz_status tz_checkpoint_now(tz_context *context, bool wait, tz_error *error);

/* The run that the script called, context->runs, has ended well; a checkpoint may be written of
 * this place when the script ends. */
void tz_checkpoint_run_ends(tz_context *context);
/* The script changes a simulation, so that place is over. */
void tz_checkpoint_forget_end(tz_context *context);
/* The script has ended well: write the last one, which stays. Returns errors of outputs alone. */
tz_status tz_checkpoint_last(tz_context *context, tz_error *error);

/* At TZ_STOP_PAUSE: write one if it is time. TZ_INTERRUPTED after a signal, for which one is
 * written. */
tz_status tz_checkpoint_pause(tz_context *context, tz_simulation *simulation, tz_error *error);
/* Between two calls, after a signal: write one and raise. Does nothing if there are no
 * checkpoints. */
void tz_checkpoint_at_signal(lua_State *L);

/* Has this run written one, or begun with one? */
bool tz_checkpoints_written(const tz_context *context);

/* ---- Going on from one ----------------------------------------------------------------------- */

/* Open the run folder context->options->resume and its newest whole checkpoint, and let the script
 * be replayed up to it. Nothing in the folder changes before that. TZ_IO (no checkpoint, or the run
 * still goes on), TZ_FORMAT (both are damaged), TZ_RANGE (another version or script). */
tz_status tz_resume_open(tz_context *context, tz_error *error);
void tz_resume_close(tz_context *context);

/* The replay has come to the checkpoint: load it, and record from now on. Raises when the script
 * has made other simulations, runs or outputs than before. */
void tz_resume_here(lua_State *L);
/* The same without raising. */
tz_status tz_resume_load(lua_State *L, tz_error *error);
/* The same at the end of the script: TZ_SCRIPT if it ended before it came to the checkpoint. */
tz_status tz_resume_at_end(lua_State *L, tz_error *error);

/* ---- Beginning with the fields of another run: from.c ---------------------------------------- */

/* Before the first run of a simulation: take its fields, step and time from the folder
 * context->options->from. Of a replay or a check step and time alone. TZ_IO: there are none, with
 * how there would be some; others of tz_simulation_begin_with(). */
tz_status tz_from_begin(tz_simulation_handle *handle, tz_error *error);

/* A checkpoint with these facts is restored: with context->options->until its run, which has ended,
 * gets a later end. TZ_UNSUPPORTED (the script does more), TZ_RANGE, TZ_FORMAT, TZ_UNKNOWN. */
tz_status tz_resume_extend(tz_context *context, const struct json_t *facts, tz_error *error);

#endif
