/* sim:run while a script is replayed: no stage runs, but the functions of the script are called
 * that were called before (recall.h). */
#ifndef TZ_CORE_LUA_RERUN_H
#define TZ_CORE_LUA_RERUN_H

#include "lua/checkpoint.h"
#include "lua/recall.h"

/* An event calls a function of the script: record it. */
void tz_rerun_note_event(tz_binding *binding, int64_t step);
/* A run has ended: record how. */
void tz_rerun_note_end(tz_context *context, const tz_active_run *run, tz_status status,
                       const tz_error *error);

/* Replay the callbacks of a run from the journal; `call` calls an event's function. True: the run
 * ended in the journal; *status and `error` are its result. False: the journal ends within the run,
 * which goes on from run->course; *status is the last callback's. */
bool tz_rerun(lua_State *L, tz_active_run *run,
              tz_status (*call)(tz_binding *binding, tz_error *error), tz_status *status,
              tz_error *error);

#endif
