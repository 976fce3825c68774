/* Going on with a run from its last checkpoint. */
#ifndef TZ_CORE_LUA_RESUME_H
#define TZ_CORE_LUA_RESUME_H

#include "lua/handle.h"

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

#endif
