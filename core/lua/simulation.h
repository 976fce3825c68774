/* tz.simulation and the methods of a simulation. */
#ifndef TZ_CORE_LUA_SIMULATION_H
#define TZ_CORE_LUA_SIMULATION_H

#include <lua.h>

/* Adds its functions to the table on the top of the stack. */
void tz_simulation_register(lua_State *L);

#endif
