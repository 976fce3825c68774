/* The live view of a script (output/live/server.h), seen from the thread that computes: between two
 * stages it publishes what the run does, when a page asks, and does what the page wants. A run that
 * nobody looks at pays one load from memory a stage. */
#ifndef TZ_CORE_LUA_LIVE_H
#define TZ_CORE_LUA_LIVE_H

#include "lua/handle.h"

/* Open it, if the options want one; else does nothing. */
tz_status tz_live_view_open(tz_context *context, tz_error *error);
/* The script has ended, with that status: pages get the last state. */
void tz_live_view_close(tz_context *context, tz_status status, const tz_error *error);

/* Does a page want something of a run? */
bool tz_live_view_wants(const tz_simulation_handle *handle);
/* Do it, when all stages are waited for. *most: iterations of the next call of the backend, if they
 * are limited. */
tz_status tz_live_view_attend(tz_simulation_handle *handle, int64_t *most, tz_error *error);
/* A call of sim:run begins, and is over. */
void tz_live_view_begin_run(tz_simulation_handle *handle);
void tz_live_view_end_run(tz_simulation_handle *handle);

#endif
