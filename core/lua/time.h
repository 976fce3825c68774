/* Simulated times as arguments, and sim:time. */
#ifndef TZ_CORE_LUA_TIME_H
#define TZ_CORE_LUA_TIME_H

#include "lua/handle.h"

/* The time at a stack index, in the unit of the simulation's time step: a number in that unit, or a
 * text with a unit of its own, "2 ms". It is finite and not negative. Raises "what: 'name' …", also
 * if the stencil has no time step. */
double tz_time_check(lua_State *L, int index, const tz_simulation_handle *handle, const char *what,
                     const char *name);

#endif
