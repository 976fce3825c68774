/* sim:every and sim:write: the outputs and functions of a simulation. */
#ifndef TZ_CORE_LUA_BINDING_H
#define TZ_CORE_LUA_BINDING_H

#include "lua/handle.h"

/* Write a bound output, or call a bound function, for the simulation's present step. The simulation
 * is at a stack index. Raises. */
void tz_binding_write(lua_State *L, tz_binding *binding, int handle_index);

/* Let another thread write an output for the snapshot's step. */
tz_status tz_binding_write_later(tz_binding *binding, tz_snapshot *snapshot, tz_error *error);

/* Does it call a function of the script? */
bool tz_binding_calls_lua(const tz_binding *binding);

/* Is the file of that step written? Tables and functions are never done. */
bool tz_binding_is_done(const tz_binding *binding, int64_t step);

#endif
